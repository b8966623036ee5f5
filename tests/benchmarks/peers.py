"""What each figure is held against: the least that reading the same files can cost, and what people do without memkit.

A peer is asked only for what it can do, and says what of the work it leaves out. Where it finds the same things, the rows
hold that it finds as many. Other packages are imported inside the functions: none of them has to be there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

UTF8 = {**os.environ, "LC_ALL": "C.UTF-8"}
# An entry as one line: an instant, a label, the text.
LINE = r"^- (?:\[(\d{4}-\d{2}-\d{2}T[0-9:.]+Z)\] )?(?:\[([^\]]*)\] )?(.*)$"


def floor(root: Path) -> int:
    """Return how many characters the files have: scandir + stat + read + UTF-8 decode, and nothing is kept."""
    characters = 0
    for entry in _entries(root):
        entry.stat()
        with open(entry.path, "rb") as handle:  # noqa: PTH123  (a Path a file would be no floor)
            characters += len(handle.read().decode())
    return characters


def look(root: Path) -> int:
    """Return how many bytes the files have: scandir + stat."""
    return sum(entry.stat().st_size for entry in _entries(root))


def replace(path: Path, text: str) -> None:
    """Add a text to a file so that a crash leaves it old or new: read, write beside it, fsync, replace, fsync the folder."""
    beside = path.with_name(f".{path.name}.tmp")
    data = path.read_bytes() + text.encode()
    with beside.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(beside, path)  # noqa: PTH105
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _entries(root: Path):
    todo = [str(root)]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    todo.append(entry.path)
                else:
                    yield entry


# ---- commands ----


def grep(root: Path, pattern: str, *, how: str = "-rniE") -> int:
    """Return how many lines match. The output is read: grep stops at the first hit when it goes to /dev/null."""
    return _output("grep", how, "-e", pattern, str(root)).count(b"\n")


def rg(root: Path, pattern: str) -> int:
    """Return how many lines match, by ripgrep: the same as grep -rniE, in as many threads as it likes."""
    return _output("rg", "-uu", "-ni", "-e", pattern, str(root)).count(b"\n")


def near_to_far(root: Path, term: str) -> tuple[str, list[str]]:
    """Return what of the archive skill's three commands finds a term (catalog, else index lines, else all text), and the days.

    They do not look at the last 30 days first, nor whether a row of the catalog is true.
    """
    archive = str(root / "archive")
    told = _output("grep", "-hniE", term, *map(str, sorted((root / "catalog").glob("*.tsv"))))
    if told:
        return "catalog", sorted({line.split(":", 1)[1][:10] for line in told.decode().splitlines()})
    step, told = "frontmatter", _output("grep", "-RlE", f"^index:.*({term})", archive)
    if not told:
        step, told = "body", _output("grep", "-RliE", term, archive)
    return step, sorted(Path(line).stem for line in told.decode().splitlines())


def awk(root: Path, year: int, target: Path) -> int:
    """Write a year's catalog as the shell makes it from the front matter, with the quotes that it has there; count its rows."""
    rows = '/^date: /{d=substr($0,7)} /^index: /{print d "\\t" substr($0,8)}'
    command = f"find '{root}/archive/{year}' -name '*.md' | sort | xargs awk '{rows}' | tee '{target}' | wc -l"
    return int(subprocess.run(command, shell=True, check=True, capture_output=True).stdout)


def months(root: Path) -> list[int]:
    """Return how many entries each month of a `layers` store has, by grep | sort | uniq -c."""
    command = f"grep -rhoE '^- .[0-9]{{4}}-[0-9]{{2}}' '{root}' | sort | uniq -c"
    told = subprocess.run(command, shell=True, check=True, capture_output=True, env=UTF8).stdout
    return [int(line.split()[0]) for line in told.splitlines()]


def newest(root: Path, pattern: str) -> int:
    """Return how many entries match, by grep | sort -r: the newest first, as `recent` lists them."""
    command = f"grep -rhE '{pattern}' '{root}' | sort -r"
    return subprocess.run(command, shell=True, check=True, capture_output=True, env=UTF8).stdout.count(b"\n")


def _output(*command: str) -> bytes:
    done = subprocess.run(command, stdout=subprocess.PIPE, env=UTF8, check=False)
    assert done.returncode < 2, f"{command[0]} failed"  # 1 is no match
    return done.stdout


# ---- packages ----


def has(name: str) -> bool:
    """Return whether a command or a package is there."""
    return bool(shutil.which(name)) if name in ("grep", "rg", "awk") else find_spec(name) is not None


def ready(name: str) -> None:
    """Do what a process pays once for a package: its imports, and what DuckDB loads with its first frame."""
    if name == "frontmatter":
        import frontmatter  # noqa: F401
    elif name == "foam":
        import foamwiki  # noqa: F401
    elif name == "duckdb":
        import duckdb

        duckdb.connect().execute("select 1").df()


def frontmatter_frame(root: Path) -> int:
    """Return how many rows the usual script makes: frontmatter.load of each file, its `- ` lines with date and index.

    It leaves out clocks, kinds, sections, line numbers, paragraphs, tables, quotes and what stands under an item.
    """
    import frontmatter
    import pandas as pd

    rows = []
    for path in sorted(root.rglob("*.md")):
        post = frontmatter.load(str(path))
        lines = (line for line in post.content.split("\n") if line.startswith("- "))
        rows += [(path.stem, post.get("index"), line[2:]) for line in lines]
    frame = pd.DataFrame(rows, columns=["date", "index", "text"])
    frame["date"] = pd.to_datetime(frame["date"], format="%Y-%m-%d", errors="coerce")
    return len(frame)


def duckdb_frame(root: Path) -> int:
    """Return how many rows DuckDB makes of the `- ` lines with read_text and one regular expression: at, tag, text, file.

    It leaves out what the script with frontmatter does, and uses all cores.
    """
    frame = _duckdb(
        root,
        f"select filename, unnest(regexp_extract(line, '{LINE}', ['at', 'tag', 'text'])) "
        "from lines where starts_with(line, '- ')",
    ).df()
    return len(frame)


def duckdb_grep(root: Path, pattern: str) -> int:
    """Return how many lines match, by DuckDB's read_text and regexp_matches, in all cores."""
    quoted = pattern.replace("'", "''")
    return _duckdb(root, f"select count(*) from lines where regexp_matches(line, '{quoted}', 'i')").fetchone()[0]


def _duckdb(root: Path, query: str):
    import duckdb

    lines = f"select filename, unnest(string_split(content, chr(10))) as line from read_text('{root}/**/*.md')"
    return duckdb.connect().execute(f"with lines as ({lines}) {query}")


def foam(root: Path):
    """Return what foam-wiki holds of the files, parsed in all cores; a note is a file, so that no entry has a row.

    It wants a folder `.foam`: give it links(root).
    """
    import foamwiki

    workspace = foamwiki.load(str(root))
    assert len(workspace.notes.to_df()) == sum(1 for _ in root.rglob("*.md"))
    return workspace


def links(root: Path) -> tempfile.TemporaryDirectory:
    """Return a folder beside a store with hard links to its files and a folder `.foam`."""
    folder = tempfile.TemporaryDirectory(prefix="memkit-benchmark-", dir=root.parent)
    shutil.copytree(root, folder.name, dirs_exist_ok=True, copy_function=os.link)
    (Path(folder.name) / ".foam").mkdir()
    return folder


def read_csv(root: Path) -> int:
    """Return how many rows pandas reads of the catalogs; its defaults would make one of nine (quotes, NA)."""
    import pandas as pd

    names = ["date", "index"]
    found = [
        pd.read_csv(path, sep="\t", quoting=3, header=None, names=names, keep_default_na=False, parse_dates=["date"])
        for path in sorted((root / "catalog").glob("*.tsv"))
    ]
    return len(pd.concat(found, ignore_index=True))
