"""The arrows of the house: who may import whom, who touches the disk, how large a room is; read from the source with ast."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "memkit"

# From left to right: a module imports from groups to its left and, without cycles, from its own.
# `x.*` stands for x and all that lies in it. `memkit` itself (the lazy front door) may name any module.
GROUPS = [
    ["errors", "model", "dates", "text", "lines", "blocks", "match", "marks", "cells", "style", "progress"],
    ["layouts.*", "schema", "tables", "display", "diffs"],
    [
        "query",
        "hits",
        "wanted",
        "corrections",
        "nearfar",
        "stats",
        "entry_lines",
        "summaries",
        "sources",
        "tracing",
        "overview",
        "views",
        "report_page",
        "manifest",
        "indexing",
        "audit.*",
        "edits.*",
    ],
    ["files.*", "fts.*", "embed", "vectors", "cache.*"],
    [
        "loading",
        "card",
        "export",
        "index",
        "finder",
        "gate",
        "desk",
        "batch",
        "mending",
        "upkeep",
        "recall",
        "verbs",
        "store",
        "opening",
        "migrating",
    ],
    ["accessor", "explorer.*", "magics", "plots.*", "reporting"],
    ["fleet.*"],
    ["tools.*"],
    ["serve.*"],
    ["cli.*", "__main__"],
]

# What reads, writes or leaves the machine; only files.*, fts.*, cache.* and LEAVES may (a Path to name a place is fine).
DISK_NAMES = {"open"}
DISK_METHODS = {
    "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "makedirs", "unlink", "rmdir", "rename", "touch",
    "iterdir", "glob", "rglob", "walk", "scandir", "listdir", "stat", "lstat", "exists", "is_file", "is_dir", "is_symlink",
    "symlink_to", "hardlink_to", "chmod", "chown", "utime", "readlink", "samefile", "fdopen", "fsync",
}  # fmt: skip
OUTSIDE = {"socket", "sqlite3", "urllib", "http", "ssl", "ftplib", "smtplib", "subprocess", "multiprocessing", "shutil"}
OUTSIDE |= {"tempfile", "requests", "httpx", "aiohttp", "asyncio", "fcntl", "mmap", "glob", "fileinput", "webbrowser"}
LEAVES = {
    "embed": {"httpx"},
    "vectors": {"sqlite3"},
    "index": {"sqlite3"},
    "fleet.pool": {"multiprocessing"},
    "serve.web": {"socket"},
    "cli.doctor": {"sqlite3"},  # its version
}  # the one service it asks, and its table in the index


METHODS = {"store": {"explorer", "explorer.widget", "plots"}}  # what a method imports when it is called


def name_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
HOUSE = sorted(name for name in MODULES if name)  # all but the front door


def group_of(module):
    hits = [
        number for number, names in enumerate(GROUPS) for name in names
        if module == name.removesuffix(".*") or (name.endswith(".*") and module.startswith(name[:-1]))
    ]  # fmt: skip
    assert len(hits) == 1, f"{module} is in {len(hits)} groups; give it one in tests/test_imports.py and DESIGN 2"
    return hits[0]


def imported(tree, *, typing=False):
    """Yield the memkit modules that a module imports, anywhere in it; with `typing`, also those for the type checker alone."""
    for node in nodes(tree, typing=typing):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name == "memkit" or name.startswith("memkit."):
                inner = name.removeprefix("memkit").removeprefix(".")
                yield inner if inner in MODULES else inner.rpartition(".")[0]


def nodes(tree, *, typing=False):
    for node in ast.iter_child_nodes(tree):
        checker_only = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        if typing or not checker_only:
            yield node
            yield from nodes(node, typing=typing)


def outer_imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("module", HOUSE)
def test_imports_come_from_the_left(module):
    own = group_of(module)
    wrong = [name for name in imported(TREES[module], typing=True) if name and group_of(name) > own]
    wrong = [name for name in wrong if name not in METHODS.get(module, set())]
    assert not wrong, f"{module} (group {own}) imports {wrong} from its right"


def test_no_module_imports_itself_over_others():
    graph = {module: {name for name in imported(TREES[module]) if name} for module in HOUSE}
    while graph:
        free = {module for module, needs in graph.items() if not needs & set(graph) - {module}}
        assert free, f"a cycle runs through {sorted(graph)}"
        graph = {module: needs for module, needs in graph.items() if module not in free}


def test_only_the_front_door_is_imported_as_memkit_itself():
    allowed = {
        name: {"__version__"} for name in ("export", "fleet.dataset", "cli.commands", "cli.doctor", "cache", "serve.server")
    }
    allowed["cli.place"] = {"memkit"}
    for module in HOUSE:
        found = set()
        for node in ast.walk(TREES[module]):
            if isinstance(node, ast.ImportFrom) and node.module == "memkit":
                found |= {alias.name for alias in node.names if alias.name not in MODULES}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name == "memkit"}
        assert found <= allowed.get(module, set()), module


def test_the_search_index_needs_the_disk_and_sqlite_alone():
    for module in (name for name in HOUSE if name.startswith("fts")):
        assert OUTSIDE & set(outer_imports(TREES[module])) <= {"sqlite3"}, module


@pytest.mark.parametrize("module", [name for name in HOUSE if not name.startswith(("files", "fts", "cache"))])
def test_only_files_touches_the_disk_or_the_network(module):
    found = []
    for node in ast.walk(TREES[module]):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in DISK_NAMES:
            found.append((node.lineno, called.id))
        if isinstance(called, ast.Attribute) and called.attr in DISK_METHODS:
            found.append((node.lineno, called.attr))
    assert not found
    assert OUTSIDE & set(outer_imports(TREES[module])) <= LEAVES.get(module, set())


@pytest.mark.parametrize("module", [name for name in HOUSE if not name.startswith(("cli", "tools.place"))])
def test_only_the_place_of_the_tools_and_the_command_line_read_the_environment(module):
    assert not re.search(r"\b(environ|getenv)\b", MODULES[module].read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", MODULES)
def test_rooms_and_functions_stay_small(module):
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= 345
    long = {node.name: node.end_lineno - node.lineno + 1 for node in functions(TREES[module])}
    assert not {name: lines for name, lines in long.items() if lines > 45}


@pytest.mark.parametrize("module", MODULES)
def test_every_module_class_and_public_function_says_what_it_is(module):
    tree = TREES[module]
    assert ast.get_docstring(tree)
    assert list(undocumented(tree.body)) == []


def undocumented(body):
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                yield node.name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node.body)


def loaded_by(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


LIST = "\nimport sys; print(*sys.modules, file=sys.stdout)"
HEAVY = {"pandas", "pyarrow", "numpy", "ipywidgets", "anywidget", "rich", "tqdm", "yaml", "frontmatter", "httpx", "IPython"}


def test_importing_memkit_imports_nothing_heavy():
    loaded = loaded_by("import memkit; memkit.MemkitError; dir(memkit)" + LIST)
    assert not HEAVY & loaded
    assert "click" not in loaded


def test_the_tools_import_nothing_heavy_before_one_is_asked_for():
    assert not HEAVY & loaded_by("import memkit.tools, memkit.tools.place" + LIST)


def test_a_frame_can_be_asked_as_soon_as_there_is_a_store():
    assert "memkit.accessor" in loaded_by("import memkit; memkit.open" + LIST)
    assert "memkit.accessor" in loaded_by("import memkit; memkit.read_export" + LIST)


def test_every_public_name_is_there():
    import memkit

    assert set(memkit.__all__) == set(memkit._NAMES) | {"__version__"}
    assert all(getattr(memkit, name) is not None for name in memkit.__all__)
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        memkit.opne  # noqa: B018
