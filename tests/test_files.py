"""The disk: where a store is found, which files are seen, why one is not read, and that reading leaves no trace."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest

import memkit
from memkit import files
from memkit.errors import AmbiguousStore, BadArgument, PathError, StoreNotFound
from memkit.files import find_store

SAMPLES = Path(__file__).parent.parent / "data-samples"
SCAN = importlib.import_module("memkit.files.scan")  # memkit.files.scan is the function of that name
CLOCK = {"now": "2025-02-28T21:30+08:00", "tz": "Asia/Shanghai"}


def lay(root, contents):
    """Write files given as {path: text or bytes} below a folder and return the folder."""
    for path, content in contents.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def opened(root, **options):
    return memkit.open(root, **CLOCK, **options)


def reasons(mem):
    """Return {path: reason} of all files that are not read."""
    frame = mem.files()
    return dict(frame.loc[frame["skipped"].notna(), ["path", "skipped"]].itertuples(index=False))


def rules(mem):
    return mem.audit().frame["rule"].tolist()


def texts(mem):
    return mem.entries()["text"].tolist()


@pytest.fixture
def notes(tmp_path):
    """Return a workspace of two days."""
    return lay(tmp_path / "notes", {"memory/2025-02-03.md": "- tea\n", "memory/2025-02-04.md": "- cup\n"})


# ---- where a store is found ----

ARCHIVE = {"archive/2025/2025-02-03.md": "---\ndate: 2025-02-03\nindex: 'tea'\n---\n- tea\n"}
LAYERS = {"cold/2025-02/2025-02-03.md": "- [2025-02-03T02:10:00.000Z] [-] tea\n"}
HOT = {"hot.md": "tea\n\n<!-- candidates:start -->\n<!-- candidates:end -->\n"}
DAY = {"memory/2025-02-03.md": "- tea\n"}


def below(folder, contents):
    return {f"{folder}/{path}": content for path, content in contents.items()}


@pytest.mark.parametrize(
    ("contents", "layout", "root"),
    [
        (ARCHIVE, "archive", "."),
        ({"catalog/2025.tsv": "2025-02-03\ttea\n"}, "archive", "."),
        (LAYERS, "layers", "."),
        (HOT, "layers", "."),
        (DAY, "workspace", "."),
        ({"MEMORY.md": "- tea\n"}, "workspace", "."),
        ({"memory.md": "- tea\n"}, "workspace", "."),
        ({"memory/notes/tea.md": "tea"}, "workspace", "."),
        ({"memory/a/b/tea.md": "tea"}, "workspace", "."),
        ({"MEMORY.md": "", "hot.md": "no marker, just a file of that name"}, "workspace", "."),
        (below("memory", ARCHIVE), "archive", "memory"),
        ({**below("memory", ARCHIVE), "MEMORY.md": "- tea\n"}, "workspace", "."),
        ({"memory/archive/2025-02-03.md": "- tea\n"}, "workspace", "."),
        (below(".agents/nutstore-sync/memory", ARCHIVE), "archive", ".agents/nutstore-sync/memory"),
        (below(".agents/omni-sync/memory", ARCHIVE), "archive", ".agents/omni-sync/memory"),
        (below(".agents/x/memory", LAYERS), "layers", ".agents/x/memory"),
        (below(".first_paramecium", DAY), "workspace", ".first_paramecium"),
        (below("dsh-memory-layers", LAYERS), "layers", "dsh-memory-layers"),
        ({**DAY, **below(".agents/x/memory", ARCHIVE), **below("dsh-memory-layers", LAYERS)}, "workspace", "."),
        ({**below(".agents/x/memory", ARCHIVE), **below("dsh-memory-layers", LAYERS)}, "archive", ".agents/x/memory"),
        ({**below(".agents/x/memory", ARCHIVE), ".agents/y/memory/x.json": "{}"}, "archive", ".agents/x/memory"),
        ({**LAYERS, "archive/readme.txt": ""}, "layers", "."),
        ({**DAY, "archive/2025/notes.md": "", "cold/x.md": ""}, "workspace", "."),
    ],
)
def test_a_store_is_found_by_the_shape_of_its_folder(tmp_path, contents, layout, root):
    found = find_store(lay(tmp_path, contents))
    assert (found.layout.NAME, found.root) == (layout, tmp_path / root)


def test_a_layers_store_is_found_by_an_empty_month_folder(tmp_path):
    (tmp_path / "cold/2025-02").mkdir(parents=True)
    assert find_store(tmp_path).layout.NAME == "layers"


def test_a_huge_folder_of_other_files_hides_no_store(tmp_path):
    lay(tmp_path, {f"memory/a{n}.json": "{}" for n in range(2100)})
    assert find_store(lay(tmp_path, {"memory/z.md": "tea"})).layout.NAME == "workspace"


@pytest.mark.parametrize("name", ["vault", "金库", "my vault", "a'b\"c", "[x]*", "x.md"])
def test_a_folder_of_any_name_is_opened(tmp_path, name):
    assert texts(opened(lay(tmp_path / name, DAY))) == ["tea"]
    assert texts(opened(lay(tmp_path / name, DAY), layout="workspace")) == ["tea"]


def test_the_path_may_be_text_a_path_or_relative(notes, monkeypatch):
    monkeypatch.chdir(notes.parent)
    for path in (str(notes), notes, "notes", Path("notes"), "./notes/", "notes/../notes"):
        assert opened(path).root == notes
    monkeypatch.chdir(notes)
    assert opened(None).root == notes


@pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
def test_two_layouts_at_one_place_are_told_apart_by_name(tmp_path, layout):
    lay(tmp_path, {**ARCHIVE, **LAYERS, **DAY})
    with pytest.raises(AmbiguousStore) as error:
        find_store(tmp_path)
    assert (
        str(error.value) == f"{tmp_path}: it looks like archive and like workspace and like layers; pass layout= to choose one"
    )
    assert layout == find_store(tmp_path, layout).layout.NAME


def test_two_plugin_folders_are_both_named(tmp_path):
    one, other = ".agents/nutstore-sync/memory", ".agents/omni-sync/memory"
    lay(tmp_path, {**below(one, ARCHIVE), **below(other, ARCHIVE)})
    with pytest.raises(AmbiguousStore, match="name one of them") as error:
        find_store(tmp_path)
    assert f"{tmp_path / one} and in {tmp_path / other}" in str(error.value)
    assert find_store(tmp_path / other).root == tmp_path / other


def test_plugin_folders_of_another_layout_do_not_matter_to_one_that_is_named(tmp_path):
    lay(
        tmp_path,
        {**below(".agents/a/memory", ARCHIVE), **below(".agents/b/memory", ARCHIVE), **below("dsh-memory-layers", LAYERS)},
    )
    assert find_store(tmp_path, "layers").root == tmp_path / "dsh-memory-layers"


def test_nothing_found_says_what_was_seen_and_what_to_do(tmp_path):
    lay(tmp_path, {f"{name}.txt": "" for name in "abcdefg"})
    with pytest.raises(StoreNotFound) as error:
        find_store(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}: no memory store in it (seen: a.txt, b.txt, c.txt, d.txt, e.txt and 2 more); "
        "pass layout= to start a new store there"
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreNotFound, match=r"seen: nothing\)"):
        find_store(tmp_path / "empty")


def test_a_folder_inside_a_store_points_to_its_parent(notes):
    with pytest.raises(StoreNotFound, match=f"open its parent {notes}, or pass layout="):
        find_store(notes / "memory")


def test_a_missing_folder_names_the_nearest_that_exists(tmp_path):
    with pytest.raises(StoreNotFound) as error:
        find_store(tmp_path / "not" / "here")
    assert str(error.value) == (
        f"{tmp_path / 'not' / 'here'}: no such folder (the nearest that exists is {tmp_path}); "
        "correct the path, or pass layout= to start there"
    )


def test_a_file_is_no_store(notes):
    with pytest.raises(StoreNotFound, match="a file, and not a folder; name the folder that holds the memory"):
        find_store(notes / "memory/2025-02-03.md")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "path: it is empty; name a folder"),
        ("  ", "path: it is empty; name a folder"),
        ("a\0b", "name is not UTF-8 text"),
        ("v\udcff", r"v\\xff: its name is not UTF-8 text; rename the folder, or name another"),
        ("x" * 300, "file name too long; name another folder"),
        ("~nobody-of-this-name/x", "home directory.*; name another folder"),
    ],
)
def test_a_path_that_cannot_be_is_refused_readably(path, message):
    for layout in (None, "workspace"):
        with pytest.raises(StoreNotFound, match=message) as error:
            find_store(path, layout)
        assert "\udcff" not in str(error.value)


def test_an_unknown_layout_is_refused_by_name(tmp_path):
    with pytest.raises(BadArgument, match="layout: 'obsidian'; expected archive, workspace or layers"):
        find_store(tmp_path, "obsidian")


@pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
def test_a_missing_folder_with_a_layout_is_an_empty_store_and_stays_missing(tmp_path, layout):
    mem = opened(tmp_path / "new", layout=layout)
    for ask in (mem.entries, mem.days, mem.files, mem.catalog, mem.topics, mem.tags, mem.summaries, mem.overview, mem.audit):
        ask()
    assert len(mem.entries()) == len(mem.files()) == 0
    assert rules(mem) == []
    assert not (tmp_path / "new").exists()


def test_a_new_archive_in_an_obsidian_vault_lies_in_the_plugins_folder(tmp_path):
    (tmp_path / ".obsidian").mkdir()
    assert find_store(tmp_path, "archive").root == tmp_path / ".agents/nutstore-sync/memory"
    assert find_store(tmp_path, "workspace").root == tmp_path


# ---- which files are seen, and why one is not read ----


def test_every_neighbour_is_counted_with_its_reason(notes):
    neighbours = {
        "memory/state.json": "not Markdown (.json)",
        "memory/2025-02-03.md.bak": "not Markdown (.bak)",
        "memory/agent.pid": "not Markdown (.pid)",
        "memory/noise": "not Markdown (no suffix)",
        "memory/.dreams/x.txt": "not Markdown (.txt)",
        "memory/YYYY-MM-DD.md": "a template",
        "memory/_template_daily.md": "a template",
        "memory/2025-02-05. md": "not Markdown (. md)",
        "memory/ x.md": "a blank around its name",
        "memory/.DS_Store": "a system file",
        "memory/index.sqlite": "the search index, made from the files",
        "memory/2025-02-03 (conflicted copy 2025-02-04).md": "a conflict copy or temp file of a sync program",
        "memory/2025-02-03.sync-conflict-20250204-101010-ABCDEFG.md": "a conflict copy or temp file of a sync program",
        "memory/2025-02-03(冲突).md": "a conflict copy or temp file of a sync program",
        "memory/~$2025-02-03.md": "a conflict copy or temp file of a sync program",
        "memory/.2025-02-03.md.x1y2z3w4.tmp": "a temp file that a killed write left",
    }
    lay(notes, dict.fromkeys([*neighbours, "memory/.git/HEAD", "memory/node_modules/a/b.md", "elsewhere/x.md"], "- x\n"))
    folders = dict.fromkeys(["memory/.git/", "memory/node_modules/"], "a folder that holds no memory")
    mem = opened(notes)
    assert reasons(mem) == neighbours | folders
    assert texts(mem) == ["tea", "cup"]


def test_a_name_that_is_not_utf8_is_spelled_out_and_not_read(notes):
    folder = os.fsencode(notes / "memory")
    Path(os.fsdecode(folder + b"/2025-02-05 \xff.md")).write_text("- lost\n")
    Path(os.fsdecode(folder + b"/\xe8\x8c")).mkdir()
    mem = opened(notes)
    assert reasons(mem) == {
        "memory/2025-02-05 \\xff.md": "its name is not UTF-8",
        "memory/\\xe8\\x8c": "its name is not UTF-8",
    }
    assert texts(mem) == ["tea", "cup"]
    assert repr(mem)
    mem.audit()


def test_a_name_that_is_not_utf8_does_not_hide_the_folder_from_sight(tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("")
    with pytest.raises(StoreNotFound, match=r"seen: \\xff"):
        find_store(tmp_path)


def test_an_extra_path_that_is_not_utf8_is_counted(notes, tmp_path):
    folder = tmp_path / "extra"
    lay(folder, {"a.md": "- extra\n"})
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_text("- lost\n")
    mem = opened(notes, extra=[str(folder)])
    assert texts(mem) == ["tea", "cup", "extra"]
    assert list(reasons(mem).values()) == ["its name is not UTF-8"]


@pytest.mark.parametrize("name", ["memory/2025-02-05.md", "MEMORY.md", "memory/x.md"])
def test_a_folder_named_like_a_file_is_a_folder(notes, name):
    lay(notes, {f"{name}/inner.md": "- inner\n"})
    mem = opened(notes)
    assert texts(mem)[:2] == ["tea", "cup"]
    seen = mem.files()["path"].tolist()
    assert f"{name}/inner.md" in seen
    assert name not in seen


def test_a_fifo_is_never_opened(notes):
    os.mkfifo(notes / "memory/2025-02-05.md")
    os.mkfifo(notes / "memory/x.md")
    mem = opened(notes)
    assert texts(mem) == ["tea", "cup"]
    assert reasons(mem) == dict.fromkeys(["memory/2025-02-05.md", "memory/x.md"], "no regular file")
    assert rules(mem) == ["unreadable"] * 2


def test_a_fifo_as_hot_layer_is_no_layers_store(tmp_path):
    os.mkfifo(tmp_path / "hot.md")
    with pytest.raises(StoreNotFound):
        find_store(tmp_path)


def test_an_unreadable_file_costs_one_finding_and_is_read_as_soon_as_it_can_be(notes, monkeypatch):
    real = SCAN._bytes

    def refuse(full, size):
        if str(full).endswith("2025-02-03.md"):
            raise PermissionError(13, "Permission denied", full)
        return real(full, size)

    monkeypatch.setattr(SCAN, "_bytes", refuse)
    mem = opened(notes)
    for _ in range(2):
        assert texts(mem) == ["cup"]
        assert reasons(mem) == {"memory/2025-02-03.md": "unreadable: permission denied"}
        assert rules(mem) == ["unreadable"]
    assert "1 file could not be read" in repr(mem)
    monkeypatch.setattr(SCAN, "_bytes", real)
    assert texts(mem) == ["tea", "cup"]
    assert rules(mem) == []


def test_a_folder_that_cannot_be_listed_is_named(notes, monkeypatch):
    real = os.scandir

    def refuse(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    lay(notes, {"memory/secret/x.md": "- x\n"})
    monkeypatch.setattr(os, "scandir", refuse)
    mem = opened(notes)
    assert reasons(mem) == {"memory/secret/": "unreadable: permission denied"}
    assert texts(mem) == ["tea", "cup"]


def test_a_file_that_vanishes_between_looking_and_reading_is_no_error(notes, monkeypatch):
    mem = opened(notes)
    scan = files.scan

    def scan_then_delete(*args, **options):
        facts = scan(*args, **options)
        (notes / "memory/2025-02-03.md").unlink(missing_ok=True)
        return facts

    monkeypatch.setattr(files, "scan", scan_then_delete)
    assert texts(mem) == ["cup"]


def test_a_file_over_the_limit_is_reported_and_not_read(notes, monkeypatch):
    monkeypatch.setattr(SCAN, "TOO_LARGE", 10)
    lay(notes, {"memory/2025-02-05.md": "- much too long\n"})
    mem = opened(notes)
    assert reasons(mem) == {"memory/2025-02-05.md": "too large: 16 bytes of at most 10"}
    assert rules(mem) == ["too-large"]


def test_names_that_differ_in_case_alone_are_two_files(notes):
    lay(notes, {"memory/Tea.md": "- upper\n", "memory/tea.md": "- lower\n"})
    if len(list((notes / "memory").iterdir())) < 4:
        pytest.skip("this file system does not tell case")
    assert sorted(texts(opened(notes))) == ["cup", "lower", "tea", "upper"]


def test_a_deep_folder_does_not_end_the_walk(notes, monkeypatch):
    monkeypatch.chdir(notes / "memory")
    for _ in range(1100):  # deeper than Python may recurse, and than a path may be long
        os.mkdir("d")  # noqa: PTH102
        os.chdir("d")
    try:
        assert texts(opened(notes)) == ["tea", "cup"]
    finally:
        for _ in range(1100):
            os.chdir("..")
            os.rmdir("d")  # noqa: PTH106


# ---- links ----


def test_links_outside_are_reported_and_not_followed(notes, tmp_path):
    lay(tmp_path / "away", {"x.md": "- secret\n", "sub/2025-02-09.md": "- secret\n"})
    (notes / "memory/2025-02-09.md").symlink_to(tmp_path / "away/x.md")
    (notes / "memory/linked").symlink_to(tmp_path / "away/sub")
    (notes / "MEMORY.md").symlink_to("../away/x.md")
    (notes / "memory/2025-02-10.md").symlink_to("linked/2025-02-09.md")
    mem = opened(notes)
    paths = ["MEMORY.md", "memory/2025-02-09.md", "memory/2025-02-10.md", "memory/linked"]
    assert reasons(mem) == dict.fromkeys(paths, "a link that leaves the store")
    assert rules(mem) == ["link-outside"] * 4
    assert texts(mem) == ["tea", "cup"]


def test_a_folder_of_memory_that_leads_outside_is_reported(notes, tmp_path):
    shutil.move(notes / "memory", tmp_path / "away")
    (notes / "memory").symlink_to(tmp_path / "away")
    mem = opened(notes)
    assert texts(mem) == []
    assert reasons(mem) == {"memory": "a link that leaves the store"}
    assert rules(mem) == ["link-outside"]


def test_links_that_stay_inside_are_followed(notes):
    lay(notes, {"store/2025-02-05.md": "- pot\n", "store/x/2025-02-06.md": "- jug\n"})
    (notes / "memory/2025-02-05.md").symlink_to("../store/2025-02-05.md")
    (notes / "memory/x").symlink_to("../store/x")
    mem = opened(notes)
    assert texts(mem) == ["tea", "cup", "pot", "jug"]
    assert mem.entries()["path"].tolist()[2:] == ["memory/2025-02-05.md", "memory/x/2025-02-06.md"]
    assert rules(mem) == []


def test_loops_end_and_are_counted(notes):
    (notes / "memory/loop").symlink_to(".")
    (notes / "memory/up").symlink_to("..")
    (notes / "memory/self.md").symlink_to("self.md")
    (notes / "memory/a.md").symlink_to("b.md")
    (notes / "memory/b.md").symlink_to("a.md")
    mem = opened(notes)
    assert texts(mem) == ["tea", "cup"]
    found = reasons(mem)
    assert found["memory/loop/"] == "a link to memory, which is looked at by itself"
    assert {found[f"memory/{name}.md"] for name in ("self", "a", "b")} == {"unreadable: too many levels of symbolic links"}
    assert "memory/up/memory/" not in found
    assert find_store(notes).layout.NAME == "workspace"


@pytest.mark.parametrize("name", ["0.md", "zz.md"])
def test_a_file_reached_by_two_names_is_read_by_its_own(notes, name):
    (notes / "memory" / name).symlink_to("2025-02-03.md")
    (notes / "memory/sub").mkdir()
    (notes / "memory/sub/again").symlink_to("../../memory")
    mem = opened(notes)
    assert mem.entries()["path"].tolist() == ["memory/2025-02-03.md", "memory/2025-02-04.md"]
    assert reasons(mem)[f"memory/{name}"] == "a link to memory/2025-02-03.md, which is read by itself"


def test_a_link_to_nowhere_is_unreadable(notes):
    (notes / "memory/gone.md").symlink_to("nowhere.md")
    mem = opened(notes)
    assert reasons(mem) == {"memory/gone.md": "unreadable: no such file or directory"}
    assert rules(mem) == ["unreadable"]


def test_memory_under_both_names_is_one_file(notes):
    lay(notes, {"MEMORY.md": "- once\n"})
    if (notes / "memory.md").exists():
        pytest.skip("this file system does not tell case")
    os.link(notes / "MEMORY.md", notes / "memory.md")
    assert texts(opened(notes)).count("once") == 1
    (notes / "memory.md").unlink()
    (notes / "memory.md").symlink_to("MEMORY.md")
    assert texts(opened(notes)).count("once") == 1


def test_a_root_that_is_a_link_is_followed(notes, tmp_path):
    (tmp_path / "alias").symlink_to(notes)
    mem = opened(tmp_path / "alias")
    assert texts(mem) == ["tea", "cup"]
    assert reasons(mem) == {}
    assert rules(mem) == []


# ---- reading leaves no trace ----

QUESTIONS = {
    "entries": lambda mem: mem.entries(dreams=True, editable=True),
    "days": lambda mem: mem.days(),
    "catalog": lambda mem: mem.catalog(),
    "summaries": lambda mem: mem.summaries(),
    "topics": lambda mem: mem.topics(),
    "tags": lambda mem: mem.tags(),
    "files": lambda mem: mem.files(),
    "hot": lambda mem: mem.hot(),
    "day": lambda mem: mem.day(mem.days()["date"].iloc[0].date()),
    "recent": lambda mem: mem.recent(30),
    "between": lambda mem: mem.between("2025-01-01", "2025-02-28"),
    "tagged": lambda mem: mem.tagged("-"),
    "matching": lambda mem: mem.matching("茶"),
    "explore": lambda mem: mem.explore(write=True).act({"do": "browse.settle"}),
    "plot": lambda mem: [
        getattr(mem.plot, name)()._repr_mimebundle_() for name in ("volume", "calendar", "budget", "coverage")
    ],
    "search": lambda mem: [mem.search(word) for word in ("茶", "水仙", "nowhere")],
    "context": lambda mem: mem.context() if mem.layout == "archive" else None,
    "volume": lambda mem: mem.volume("week"),
    "gaps": lambda mem: mem.gaps(),
    "duplicates": lambda mem: mem.duplicates(),
    "overview": lambda mem: mem.overview(),
    "summary": lambda mem: mem.summary("month"),
    "trace": lambda mem: mem.trace(mem.summary("week")),
    "audit": lambda mem: mem.audit(),
    "repr": repr,
    "html": lambda mem: mem._repr_mimebundle_(),
}


def traces(folder):
    """Return name, bytes, mode and times of everything below a folder, itself included."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        info = path.lstat()
        found[str(path)] = (digest, info.st_mtime_ns, info.st_ctime_ns, info.st_mode, info.st_ino)
    return found


@pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_reading_changes_no_byte_no_time_and_no_name(tmp_path, layout, question):
    shutil.copytree(SAMPLES / layout, tmp_path / "vault")
    before = traces(tmp_path)
    mem = opened(tmp_path / "vault")
    QUESTIONS[question](mem)
    QUESTIONS[question](mem)
    assert traces(tmp_path) == before


def test_each_public_noun_and_filter_is_among_the_questions():
    verbs = {"export", "manifest", "root", "vault", "layout", "tz", "append", "append_many", "correct", "forget", "push"}
    verbs |= {
        "catch_up",
        "rebuild_catalog",
        "hot_set",
        "topics_add",
        "store",
        "summarize",
        "summarize_all",
        "sync",
        "mark_forgotten",
    }
    public = {name for name in vars(memkit.Store) if not name.startswith("_")} - verbs
    assert public - set(QUESTIONS) == set()


def test_an_export_goes_nowhere_inside_the_store(notes):
    before = traces(notes)
    with pytest.raises(PathError):
        opened(notes).export(notes / "memory/out")
    assert traces(notes) == before


# ---- asking again ----


@pytest.fixture
def reads(monkeypatch):
    """Return the list of paths that are read from now on."""
    seen = []
    for name in ("read", "read_plain"):
        real = getattr(files, name)

        def noted(root, fact, *rest, real=real):
            seen.append(fact.path)
            return real(root, fact, *rest)

        monkeypatch.setattr(files, name, noted)
    return seen


def touch(path, text):
    """Write a text with a time that differs from the one before."""
    before = path.stat().st_mtime_ns
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


@pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
def test_asking_again_reads_nothing_twice(layout, reads):
    mem = opened(SAMPLES / layout)
    mem.entries()
    first = list(reads)
    assert len(first) == len(set(first)) == mem.files()["skipped"].isna().sum()
    for name in set(QUESTIONS) - {"day", "search"}:
        QUESTIONS[name](mem)
    assert reads == first


def test_asking_again_reads_only_what_changed(notes, reads):
    mem = opened(notes)
    mem.entries()
    reads.clear()
    touch(notes / "memory/2025-02-04.md", "- cup\n- jug\n")
    assert texts(mem) == ["tea", "cup", "jug"]
    assert reads == ["memory/2025-02-04.md"]


def test_new_and_deleted_files_are_noticed(notes, reads):
    mem = opened(notes)
    mem.entries()
    reads.clear()
    lay(notes, {"memory/2025-02-02.md": "- new\n", "memory/deep/er/x.md": "- note #deep\n"})
    assert texts(mem) == ["new", "tea", "cup", "note #deep"]
    assert sorted(reads) == ["memory/2025-02-02.md", "memory/deep/er/x.md"]
    (notes / "memory/2025-02-03.md").unlink()
    shutil.rmtree(notes / "memory/deep")
    reads.clear()
    assert texts(mem) == ["new", "cup"]
    assert mem.tags().empty
    assert mem.days()["date"].dt.strftime("%m-%d").tolist() == ["02-02", "02-04"]
    assert reads == []


def test_a_file_put_in_place_with_equal_size_and_time_is_noticed(notes, reads):
    mem = opened(notes)
    mem.entries()
    old = notes / "memory/2025-02-03.md"
    fresh = lay(notes.parent, {"fresh": "- TEA\n"}) / "fresh"
    os.utime(fresh, ns=(old.stat().st_atime_ns, old.stat().st_mtime_ns))
    fresh.replace(old)
    reads.clear()
    assert texts(mem) == ["TEA", "cup"]
    assert reads == ["memory/2025-02-03.md"]


def test_a_store_that_goes_away_is_told_and_one_that_comes_back_is_read(notes):
    mem = opened(notes)
    assert len(mem.entries()) == 2
    notes.rename(notes.with_name("moved"))
    with pytest.raises(StoreNotFound, match="the folder is gone; open the store where it is now"):
        mem.entries()
    notes.with_name("moved").rename(notes)
    assert texts(mem) == ["tea", "cup"]


def test_a_frame_handed_out_is_the_callers(notes):
    mem = opened(notes)
    frame = mem.entries()
    frame["text"] = "mine"
    frame.loc[0, "line"] = 99
    assert texts(mem) == ["tea", "cup"]
    pd.testing.assert_frame_equal(mem.entries(), opened(notes).entries())
