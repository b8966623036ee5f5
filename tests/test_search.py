"""Search over a workspace: the index and the files give one answer, in every state of the index, and it is shown safely."""

import html
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import unicodedata
import uuid
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from conftest import open_at
from hypothesis import given, settings
from hypothesis import strategies as st

from memkit import files, fts, hits, match
from memkit.errors import BadArgument, MemkitError, UnsupportedError
from memkit.hits import FOUND, SCORED, snippet
from memkit.wanted import wanted

FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇨🇳"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
CLUSTERS = ["a", "茶", "é", "e\u0301\u0323", FAMILY, FLAG, "👍🏽", "☕\ufe0f", "1\ufe0f\u20e3", "ก็", "नि"]


def write(root, path, text):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return target


def workspace(root, contents=None):
    for path, text in (contents or {"MEMORY.md": "- 坚果云 note\n"}).items():
        write(root, path, text)
    return root


def opened(root, **options):
    return open_at(root, **{"layout": "workspace", **options})


def unindexed(root, **options):
    """Return the store as one that has no index anywhere."""
    return opened(root, index=root.parent / f"none-{uuid.uuid4().hex}.sqlite", **options)


def places(result):
    return sorted(zip(result.frame["path"], result.frame["line"], strict=True))


def texts(result):
    return result.frame["text"].tolist()


def fold(text):
    """Say what folding is, without memkit."""
    return unicodedata.normalize("NFKC", text).casefold()


def content(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


# ---- one answer, whoever gives it

PIECES = (
    "坚果云 同步 目录 重建 喝茶 茶 的 計劃 修好了 决定先修 Tea with Ann C++ 100% snake_case o'clock 5\" AND OR NOT NEAR * ^ "
    "( ) { } : - + . , ; ！ ？ 。 、 《书》 （注） ｆｕｌｌ ＷＩＤＴＨ ｶﾞ ① ㎏ ﬁsh Straße STRASSE İstanbul ΣΊΣΥΦΟΣ ǅ "
    f"e\u0301 cafe\u0301 café n\u0303 ệ e\u0323\u0302 한글 \u1112\u1161\u11ab नि ก็ {FAMILY} {FLAG}{FLAG} 👍🏽 ☕\ufe0f ☕ "
    "𠮷野家 𝐛𝐨𝐥𝐝 https://example.org/a?b=c#d a@b.org 2025-02-03 10:30 \\ / | ~ ` \ufffd ﷺ ½ … ß µ Å"
).split(" ")
TAGS = ("计划", "生活", "Work", "ＦＷ", "café", "c++")


def written_text(rng):
    words = [rng.choice(PIECES) for _ in range(rng.randint(1, 9))]
    text = rng.choice(["k", "甲", "Zed", "末"]) + "".join(rng.choice([" ", " ", "", "　"]) + word for word in words)
    return text.rstrip(" 　").replace("<", "").replace("`", "'")


def written_store(root, rng):
    """Write a store and return (path, line, what is searched) of each of its entries."""
    held = []
    names = [
        "MEMORY.md",
        "memory/笔记.md",
        "memory/sub/2025-01-09.md",
        *(f"memory/2025-01-{day:02d}.md" for day in range(1, 5)),
    ]
    for path in names:
        lines = ["# Heading 坚果云 Tea", ""]
        for _ in range(rng.randint(2, 9)):
            text = written_text(rng)
            tag = rng.choice(TAGS) if rng.random() < 0.4 else None
            body = f"[{tag}] {text}" if tag else text
            lines.append(f"- {body}")
            held.append((path, len(lines), body))
        write(root, path, "\n".join(lines) + "\n")
    return held


def asked(rng, bodies):
    """Return a query and its terms: pieces of what is there, changed in form, and some that are nowhere."""
    parts, terms = [], []
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4])):
        body = rng.choice(bodies)
        size = rng.choice([1, 1, 2, 2, 3, 3, 4, 6, 12])
        at = rng.randrange(len(body))
        piece = rng.choice(PIECES) if rng.random() < 0.2 else body[at : at + size]
        piece = rng.choice([str, str, str, str.upper, str.casefold, wide, decomposed])(piece)
        piece = " ".join(piece.replace('"', "").split())
        if not piece:
            continue
        if rng.random() < 0.25:
            parts.append(rng.choice(['"{}"', "“{}”"]).format(piece))
            terms.append(piece)
        else:
            parts.append(piece)
            terms += piece.split(" ")
    if rng.random() < 0.05:
        parts.append('"')  # a lone quote is literal
        terms.append('"')
    return rng.choice([" ", "  ", "\t", "　"]).join(parts), terms


def wide(text):
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" and sign != '"' else sign for sign in text)


def decomposed(text):
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize("seed", range(5))
def test_index_and_files_find_just_what_a_plain_look_finds(root, seed):
    rng = random.Random(seed)
    held = written_store(root, rng)
    bodies = [body for _, _, body in held]
    folded = [fold(body) for body in bodies]
    mem, bare = opened(root), unindexed(root)
    mem.sync()
    assert [(path, line) for path, line, _ in sorted(held)] == sorted(
        places(mem.search("e", limit=None) if not held else _all(bare))
    )
    hit = 0
    for _ in range(200):
        query, terms = asked(rng, bodies)
        if not terms:
            continue
        wanted = sorted(
            (path, line) for (path, line, _), body in zip(held, folded, strict=True) if all(fold(t) in body for t in terms)
        )
        by_index, by_files = mem.search(query, limit=None), bare.search(query, limit=None)
        assert (by_index.provider, by_files.provider) == ("fts5", "file-keyword")
        assert places(by_index) == wanted, (query, terms)
        assert places(by_files) == wanted, (query, terms)
        hit += bool(wanted)
    assert hit > 80


@pytest.mark.parametrize("seed", range(100, 102))
def test_the_index_finds_just_what_a_plain_look_finds(root, seed):
    rng = random.Random(seed)
    held = written_store(root, rng)
    bodies = [body for _, _, body in held]
    folded = [fold(body) for body in bodies]
    opened(root).sync()
    with fts.asking(index_of(root)) as index:
        for _ in range(900):
            query, terms = asked(rng, bodies)
            if not terms:
                continue
            frame = index.find(match.split_query(query))
            wanted = sorted(
                (path, line) for (path, line, _), body in zip(held, folded, strict=True) if all(fold(t) in body for t in terms)
            )
            assert sorted(zip(frame["path"], frame["line"], strict=True)) == wanted, (query, terms)


def _all(store):
    """Return all entries in the shape of a result."""
    frame = store.entries().assign(score=0.0)
    return hits.SearchResult(frame, frame, (), "", "")


ODD = (
    "- a\u200bb zero\n- cafe\u0301\n- ＦＵＬＬ width\n- \ufffd bad\n- ﬁsh ß İ ǆ\n- 한글 \u1112\u1161\u11ab\n"
    '- x\u0345\u0301y\n- Σίσυφος ς\n- a "quoted phrase" and 5" of it\n- 100% _ * C++ [x] (y) {z} ^ ~ \\ | AND OR NEAR("a")\n'
    f"- {FAMILY} {FLAG}🇩🇪 👍🏽\n- ㎏ ½ … ﷺ\n- many\n  lines of\n  one 条目\n- [计划] 修目录 #tag\n"
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair") / "vault"
    workspace(folder, {"memory/2025-02-03.md": ODD, "MEMORY.md": "- plain\n" + ODD})
    mem = opened(folder)
    mem.sync()
    return mem, unindexed(folder)


_PARTS = [ODD[at : at + size] for at in range(0, len(ODD), 3) for size in (1, 3)]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=3), st.sampled_from(_PARTS), st.sampled_from('"“” \u200b\ufeff')), max_size=6).map(
        "".join
    )
)
def test_any_query_at_all_has_one_answer(pair, query):
    def answer(store):
        try:
            return places(store.search(query, limit=None))
        except BadArgument:
            return "no word"

    assert answer(pair[0]) == answer(pair[1])


def test_all_columns_come_from_either_side_alike(pair):
    _, bare = pair
    entries = bare.entries().set_index(["path", "line"])
    for store in pair:
        result = store.search("a", limit=None)
        assert {name: result.frame[name].dtype for name in result.frame} == FOUND
        frame = result.entries
        assert {name: frame[name].dtype for name in frame} == SCORED
        same = ["date", "text", "score", "path", "line"]
        assert result.frame[same].equals(frame[same])
        assert frame["score"].between(0, 1, inclusive="left").all()
        own = entries.loc[list(zip(frame["path"], frame["line"], strict=True))].reset_index()[list(frame.columns[:-1])]
        assert (
            own.astype(object)
            .where(own.notna(), None)
            .equals(frame.drop(columns="score").astype(object).where(frame.drop(columns="score").notna(), None))
        )
        empty = store.search("nowhere-to-be-found", limit=None)
        assert not len(empty)
        assert {name: empty.frame[name].dtype for name in empty.frame} == FOUND
        assert {name: empty.entries[name].dtype for name in empty.entries} == SCORED


def test_the_block_is_searched_as_it_is_written(root):
    workspace(root, {"memory/2025-02-03.md": "- [计划] 修目录\n"})
    for store in (opened(root), unindexed(root)):
        assert texts(store.search("[计划]", limit=None)) == texts(store.search('"[计划] 修"', limit=None)) == ["修目录"]
    opened(root).sync()
    assert texts(opened(root).search('"[计划] 修"', limit=None)) == ["修目录"]


def test_path_heading_and_line_number_are_no_text(root):
    workspace(root, {"memory/zebra.md": "# zebra\n\n- lion\n"})
    mem = opened(root)
    assert not len(mem.search("zebra", limit=None))
    mem.sync()
    assert not len(mem.search("zebra", limit=None))


@pytest.mark.parametrize("query", ["", " ", "\u200b", "\0", "　"])
def test_a_query_without_a_word_is_refused(root, query):
    with pytest.raises(BadArgument, match=r"^terms: no word"):
        opened(workspace(root)).search(query, limit=None)


@pytest.mark.parametrize("limit", [-1, True, "5", 2.5])
@pytest.mark.parametrize("indexed", [False, True])
def test_a_limit_that_is_no_count_is_refused(root, limit, indexed):
    mem = opened(workspace(root))
    if indexed:
        mem.sync()
    with pytest.raises(BadArgument, match="limit"):
        mem.search("坚果云", limit=limit)


def test_what_a_workspace_cannot_mean_is_refused(root):
    mem = opened(workspace(root))
    with pytest.raises(UnsupportedError, match=r"^days: a workspace is searched as a whole"):
        mem.search("坚果云", days=3)
    with pytest.raises(UnsupportedError, match=r"^context: only a search of an archive takes it"):
        mem.search("坚果云", context=[])


def test_healing_refreshes_an_index_that_is_there_and_makes_none(root):
    mem = opened(workspace(root))
    assert mem.search("坚果云", heal=True).provider == "file-keyword"
    assert not (root / "memory/index.sqlite").exists()
    mem.sync()
    write(root, "memory/a.md", "- 坚果云 too\n")
    before = (root / "memory/index.sqlite").read_bytes()
    assert len(mem.search("坚果云")) == 2
    assert (root / "memory/index.sqlite").read_bytes() == before
    assert len(mem.search("坚果云", heal=True)) == 2
    assert (root / "memory/index.sqlite").read_bytes() != before


def test_enormous_queries_are_answered(root):
    mem = opened(workspace(root, {"MEMORY.md": f"- {'zebra lion ' * 900}\n- zebra\n"}))
    mem.sync()
    queries = ["zebra lion " * 300, f'"{"zebra lion " * 300}zebra"', " ".join(f"w{n}" for n in range(3000)), "a" * 50_000]
    assert [places(mem.search(query, limit=None)) for query in queries] == [
        places(unindexed(root).search(query, limit=None)) for query in queries
    ]


# ---- in every state of the index


def build(root):
    workspace(
        root,
        {
            "MEMORY.md": "## Store\n- 坚果云 longterm\n\n## Forgotten\n- 坚果云 secret\n",
            "memory/2025-02-03.md": "- 坚果云 one\n- [计划] 坚果云 two\n- 坚果云 secret\n",
            "memory/2025-02-04.md": "- 坚果云 three\n- other\n",
            "memory/note.md": "坚果云 paragraph\n",
        },
    )
    return opened(root)


def index_of(root):
    return root / "memory/index.sqlite"


def foreign(target):
    with closing(sqlite3.connect(target)) as conn, conn:
        conn.execute("CREATE TABLE theirs (x)")


def overwrite(target, data, at=0):
    raw = bytearray(target.read_bytes())
    raw[at : at + len(data)] = data
    target.write_bytes(raw)


def pragma(target, statement):
    with closing(sqlite3.connect(target)) as conn, conn:
        conn.execute(f"PRAGMA {statement}")


def instead(make):
    def change(root):
        index_of(root).unlink()
        make(index_of(root))

    return change


def touched(root):
    os.utime(root / "memory/2025-02-03.md", ns=(1, 1))


def appended(root):
    with (root / "memory/2025-02-03.md").open("a") as out:
        out.write("- 坚果云 appended\n")


def all_changed(root):
    for path in root.rglob("*.md"):
        path.write_text(path.read_text() + "\n- 坚果云 more\n")


def forgets_more(root):
    (root / "MEMORY.md").write_text((root / "MEMORY.md").read_text() + "- 坚果云 one\n")


STALE = {
    "fresh": lambda root: None,
    "touched": touched,
    "appended": appended,
    "cut": lambda root: write(root, "memory/2025-02-03.md", "- 坚果云 two\n"),
    "emptied": lambda root: write(root, "memory/2025-02-03.md", ""),
    "deleted": lambda root: (root / "memory/2025-02-03.md").unlink(),
    "new": lambda root: write(root, "memory/2025-02-27.md", "- 坚果云 new\n"),
    "renamed": lambda root: (root / "memory/2025-02-03.md").rename(root / "memory/2025-02-02.md"),
    "swapped": lambda root: (
        (root / "memory/2025-02-03.md").rename(root / "memory/x"),
        (root / "memory/2025-02-04.md").rename(root / "memory/2025-02-03.md"),
        (root / "memory/x").rename(root / "memory/2025-02-04.md"),
    ),
    "folder moved": lambda root: (
        write(root, "memory/sub/a.md", "- 坚果云\n"),
        (root / "memory/sub").rename(root / "memory/s2"),
    ),
    "all changed": all_changed,
    "all gone": lambda root: [path.unlink() for path in list(root.rglob("*.md"))],
    "forgotten since": forgets_more,
    "no longer forgotten": lambda root: write(root, "MEMORY.md", "- 坚果云 longterm\n"),
    "a dream now": lambda root: (
        (root / "memory/dreaming").mkdir(),
        (root / "memory/note.md").rename(root / "memory/dreaming/n.md"),
    ),
}
UNUSED = {
    "empty": instead(lambda target: target.touch()),
    "a folder": instead(lambda target: target.mkdir()),
    "foreign": instead(foreign),
    "text": instead(lambda target: target.write_text("no database, " * 100)),
    "a pipe": instead(os.mkfifo) if hasattr(os, "mkfifo") else None,
    "no tables": instead(lambda target: pragma(target, "application_id=5")),
    "another version": lambda root: pragma(index_of(root), "user_version=1"),
    "cut short": lambda root: os.truncate(index_of(root), index_of(root).stat().st_size // 2),
    "cut to a page": lambda root: os.truncate(index_of(root), 4096),
    "cut to a bit": lambda root: os.truncate(index_of(root), 50),
    "without its head": lambda root: overwrite(index_of(root), b"\0" * 100),
    "damaged all over": lambda root: overwrite(index_of(root), b"\xa5" * (index_of(root).stat().st_size - 4096), 4096),
    "in WAL mode": lambda root: pragma(index_of(root), "journal_mode=WAL"),
    "with a hot journal": lambda root: hot_journal(index_of(root)),
}


def hot_journal(target):
    """Leave the file and its journal as a writer that was killed does."""
    with closing(sqlite3.connect(target, isolation_level=None)) as conn:
        conn.execute("PRAGMA cache_spill=1")
        conn.execute("PRAGMA cache_size=1")
        conn.execute("BEGIN IMMEDIATE")
        conn.execute("CREATE TABLE junk (x)")
        conn.executemany("INSERT INTO junk VALUES (?)", [("x" * 500,)] * 500)
        shutil.copy(target, target.with_name("copy"))
        shutil.copy(target.with_name(target.name + "-journal"), target.with_name("copy-journal"))
        conn.execute("ROLLBACK")
    target.with_name("copy").replace(target)
    target.with_name("copy-journal").replace(target.with_name(target.name + "-journal"))


QUERIES = ["坚果云", "坚", "坚果云 two", "[计划]", "e"]


def answers(store):
    return [
        (places(store.search(query, limit=None)), places(store.search(query, include_forgotten=True, limit=None)))
        for query in QUERIES
    ]


@pytest.mark.parametrize("state", STALE)
def test_an_index_that_is_behind_the_files_still_answers_as_they_do(root, state):
    build(root).sync()
    known = opened(root)
    known.search("坚果云", limit=None)
    STALE[state](root)
    before = content(root)
    wanted = answers(unindexed(root))
    assert answers(known) == wanted
    for mem in (known, opened(root)):
        result = mem.search("坚果云", limit=None)
        assert places(result) == wanted[0][0]
        assert (result.provider, result.step, result.warnings, result.complete) == ("fts5", "index", (), True)
    assert content(root) == before
    known.sync()
    assert answers(opened(root)) == wanted


@pytest.mark.parametrize("state", [name for name, change in UNUSED.items() if change])
def test_an_index_that_cannot_be_used_is_told_and_the_files_are_read(root, state):
    build(root).sync()
    UNUSED[state](root)
    appended(root)
    names = sorted(path.name for path in root.rglob("*"))
    mem = opened(root)
    assert answers(mem) == answers(unindexed(root))
    result = mem.search("坚果云", limit=None)
    assert (result.provider, result.step) == ("file-keyword", "files")
    assert len(result.warnings) == 1
    assert "memory/index.sqlite" in result.warnings[0]
    assert "the files were read instead" in result.warnings[0]
    assert result.warnings[0] in repr(result)
    assert "\n" not in result.warnings[0]
    assert sorted(path.name for path in root.rglob("*")) == names


def test_a_missing_index_is_no_news_and_is_not_made(root):
    mem = build(root)
    result = mem.search("坚果云", limit=None)
    assert (result.provider, result.warnings) == ("file-keyword", ())
    assert not index_of(root).exists()


def test_an_index_that_another_process_holds_is_told(root, monkeypatch):
    build(root).sync()
    appended(root)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout=0.0, **options: connect(path, min(timeout, 0.05), **options))
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN EXCLUSIVE');"
        " print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, index_of(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        mem = opened(root)
        result = mem.search("坚果云", limit=None)
        assert places(result) == places(unindexed(root).search("坚果云", limit=None))
        assert result.provider == "file-keyword"
        assert "another program is writing it" in result.warnings[0]
        other.stdin.close()
    assert mem.search("坚果云", limit=None).provider == "fts5"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_store_is_searched(root):
    build(root).sync()
    appended(root)
    index_of(root).chmod(0o400)
    index_of(root).parent.chmod(0o500)
    try:
        result = opened(root).search("坚果云", limit=None)
        assert (result.provider, result.warnings) == ("fts5", ())
        assert places(result) == places(unindexed(root).search("坚果云", limit=None))
    finally:
        index_of(root).parent.chmod(0o700)


@pytest.mark.parametrize(
    "name", ["索引.sqlite", "a b.db", "what?.db", "a#b.db", "50%25.db", "x'y\"z.db", "a&mode=rw.db", "数 据/😀?#%.db"]
)
def test_the_index_may_lie_anywhere(root, tmp_path, name):
    build(root)
    target = tmp_path / "elsewhere" / name
    mem = opened(root, index=target)
    assert mem.sync().path == str(target)
    assert target.is_file()
    assert not index_of(root).exists()
    appended(root)
    assert answers(mem) == answers(unindexed(root))
    assert mem.search("坚果云", limit=None).provider == "fts5"
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_an_index_elsewhere_leaves_the_other_alone(root, tmp_path):
    build(root).sync()
    before = content(root)
    opened(root, index=tmp_path / "x.db").sync()
    assert content(root) == before


def test_refreshing_syncs_only_an_index_that_is_there(root):
    mem = build(root)
    assert mem._finder.search(wanted(["坚果云"]), refresh=True).provider == "file-keyword"
    assert not index_of(root).exists()
    mem.sync()
    appended(root)
    assert "坚果云 appended" in texts(mem._finder.search(wanted(["坚果云"]), refresh=True))
    assert mem.sync().changed == 0


def test_refreshing_what_cannot_be_refreshed_is_told_and_answered(root):
    mem = build(root)
    foreign(index_of(root))
    before = content(root)
    result = mem._finder.search(wanted(["坚果云"]), refresh=True)
    assert result.provider == "file-keyword"
    assert result.warnings
    assert content(root) == before


def test_the_days_of_a_hit_are_those_of_the_store_that_asks(root):
    workspace(root, {"MEMORY.md": "## Store\n- 2025-02-03T20:00:00.000Z zebra\n"})
    opened(root, tz="Asia/Shanghai").sync()
    mem = opened(root, tz="UTC")
    assert mem.search("zebra", limit=None).frame["date"].tolist() == mem.entries()["date"].tolist()


@pytest.mark.parametrize("tz", ["Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati"])
@pytest.mark.parametrize(
    "stamp", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1900-01-01T00:00:00Z", "2025-03-09T10:00:00Z"]
)
def test_any_instant_is_dated_as_entries_does(root, tz, stamp):
    workspace(root, {"MEMORY.md": f"## Store\n- {stamp} zebra\n- zebra undated\n"})
    opened(root, tz="UTC").sync()
    mem = opened(root, tz=tz)
    frame = mem.search("zebra", limit=None).frame.sort_values("line", ignore_index=True)
    assert frame["date"].equals(mem.entries().sort_values("line", ignore_index=True)["date"])
    assert mem.search("zebra", limit=None).provider == "fts5"


# ---- found the moment it is stored


@pytest.mark.parametrize("indexed", [False, True])
def test_a_note_is_found_the_moment_it_is_stored(root, indexed):
    mem, other = build(root), opened(root)
    if indexed:
        mem.sync()
    other.search("zebra", limit=None)
    mem.append("zebra by append", tag="计划")
    assert texts(other.search("zebra", limit=None)) == ["zebra by append"]
    mem.store("zebra by store")
    mem.store("zebra by store daily", "daily")
    mem.append_many(["zebra of many", ("zebra of many 2", "t")])
    mem.correct("2025-02-03", "zebra", "by correction")
    frame = mem.entries(editable=True)
    frame.loc[len(frame), "text"] = "zebra by push"
    mem.push(frame).apply()
    for store in (mem, other, opened(root)):
        assert len(store.search("zebra", limit=None)) == 7
        assert store.search("zebra", limit=None).provider == ("fts5" if indexed else "file-keyword")
    assert texts(mem.search("[计划] zebra", limit=None)) == ["zebra by append"]


@pytest.mark.parametrize("indexed", [False, True])
def test_dreams_are_not_found(root, indexed):
    mem = opened(
        workspace(
            root,
            {
                "MEMORY.md": "- zebra\n",
                "DREAMS.md": "- zebra\n",
                "memory/dreaming/2025-02-01.md": "- zebra\n",
                ".dreams/x.md": "- zebra\n",
            },
        )
    )
    if indexed:
        mem.sync()
    assert places(mem.search("zebra", limit=None)) == [("MEMORY.md", 1)]


SESSIONS = {
    "array": json.dumps(
        [
            {"role": "user", "content": "zebra one"},
            {"role": "assistant", "content": None},
            {"role": "assistant", "content": [{"type": "text", "text": "zebra\n\ntwo"}, {"type": "image"}, "zebra three"]},
            {"role": "user", "content": "zebra \ud83d half"},
            "junk",
        ]
    ),
    "lines": '{"role": "user", "content": "zebra one"}\n\nno json\n{"type": "message", "message": {"role": "user", '
    '"content": [{"text": "zebra two"}]}}\n'
    '{"role": "tool", "content": null}\n{"role": "user", "content": {"text": "zebra dict"}}\n',
}


@pytest.mark.parametrize("kind", SESSIONS)
@pytest.mark.parametrize("indexed", [False, True])
def test_transcripts_and_extra_files_are_found_under_the_paths_of_entries(root, tmp_path, kind, indexed):
    workspace(root, {"MEMORY.md": "- lion\n", "docs/inside.md": "- zebra inside\n"})
    transcript = write(tmp_path, "s/会话.json", SESSIONS[kind])
    write(tmp_path, "ex tra/a.md", "- zebra outside\n")
    write(tmp_path, "ex tra/sub/b.txt", "zebra text\n")
    write(tmp_path, "ex tra/c.json", "zebra json\n")
    mem = opened(root, session=transcript, extra=["docs", str(tmp_path / "ex tra"), "missing.md"])
    if indexed:
        mem.sync()
    held = mem.entries()
    held = held[held["text"].str.contains("zebra")]
    result = mem.search("zebra", limit=None)
    assert places(result) == sorted(zip(held["path"], held["line"], strict=True))
    assert set(result.entries["kind"]) == {"session", "extra"}
    assert len(result) == 6
    assert result.provider == ("fts5" if indexed else "file-keyword")
    transcript.write_text(SESSIONS[kind].replace("one", "changed", 1))
    assert len(mem.search("zebra changed", limit=None)) == 1
    assert not len(opened(root).search("zebra", limit=None))  # neither was asked for
    transcript.unlink()
    assert set(mem.search("zebra", limit=None).entries["kind"]) == {"extra"}


def change(root, mem, rng):
    """Change a store in one of the ways in which people, agents and sync programs do."""
    paths = sorted(root.rglob("*.md"))
    note = f"zebra {rng.randrange(9)}"
    kind = rng.randrange(10)
    if kind == 0:
        mem.append(note, tag=rng.choice([None, "t"]))
    elif kind == 1:
        mem.store(note)
    elif kind == 2:
        mem.sync(rebuild=rng.random() < 0.3)
    elif kind == 3:
        mem.mark_forgotten(note)
    elif kind == 4 and len(mem.entries()):
        mem.forget(mem.entries().sample(1, random_state=rng.randrange(99))).apply()
    elif kind == 5:
        write(root, f"memory/n{rng.randrange(3)}.md", f"- {note}\n- [t] {note}\n")
    elif kind == 6 and paths:
        rng.choice(paths).unlink()
    elif kind == 7 and paths:
        os.utime(rng.choice(paths), ns=(1, rng.randrange(5)))
    elif kind == 8 and paths:
        path = rng.choice(paths)
        path.rename(path.with_name(f"m{rng.randrange(3)}.md"))
    elif kind == 9:
        frame = mem.entries(editable=True)
        mem.push(frame.sample(frac=0.7, random_state=rng.randrange(99)), forget_missing=True).apply()


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_the_answers_are_those_of_the_files(root, seed):
    rng = random.Random(seed)
    mem, other = opened(workspace(root, {"MEMORY.md": "## Store\n- zebra a\n"})), opened(root)
    mem.sync()
    for _ in range(12):
        change(root, rng.choice([mem, other]), rng)
        bare = unindexed(root)
        for query in ("zebra", "zebra 1", "[t]"):
            wanted = places(bare.search(query, limit=None)), places(bare.search(query, include_forgotten=True, limit=None))
            for store in (mem, other):
                assert (
                    places(store.search(query, limit=None)),
                    places(store.search(query, include_forgotten=True, limit=None)),
                ) == wanted


# ---- the order


@pytest.mark.parametrize("indexed", [False, True])
def test_the_phrase_comes_first_then_the_score_then_the_newest(root, indexed):
    mem = opened(
        workspace(
            root,
            {
                "memory/2025-02-03.md": "- tea zebra tea zebra tea zebra tea, zebra\n- zebra\n- 10:00 lion x\n- 11:00 lion x\n",
                "memory/2025-02-04.md": f"- a zebra tea {'and many more words ' * 20}\n- zebra, tea\n- 09:00 lion x\n",
                "MEMORY.md": "- lion x xxxxxx\n- 2025-02-05T00:00:00Z lion xyz 11:00\n",
            },
        )
    )
    if indexed:
        mem.sync()
    assert places(mem.search("zebra tea", limit=None)) == [
        ("memory/2025-02-03.md", 1),
        ("memory/2025-02-04.md", 1),
        ("memory/2025-02-04.md", 2),
    ]
    order = [(row.path, row.line) for row in mem.search("zebra tea", limit=None).frame.itertuples()]
    assert order[-1] == ("memory/2025-02-04.md", 2)  # no phrase, though short
    assert order[0] == ("memory/2025-02-03.md", 1)  # the phrase, and the better score
    same = [(row.path, row.line) for row in mem.search('"lion x"', limit=None).frame.itertuples() if row.path != "MEMORY.md"]
    assert same == [("memory/2025-02-04.md", 3), ("memory/2025-02-03.md", 4), ("memory/2025-02-03.md", 3)]


def test_a_file_scan_scores_hits_over_the_root_of_the_length(root):
    mem = opened(workspace(root, {"MEMORY.md": f"- zebra\n- zebra zebra {'x' * 389}\n"}))
    scores = dict(
        zip(mem.search("zebra", limit=None).frame["line"], mem.search("zebra", limit=None).frame["score"], strict=True)
    )
    s = {1: 1 / (5 / 100) ** 0.5, 2: 2 / (401 / 100) ** 0.5}
    assert scores == pytest.approx({line: value / (1 + value) for line, value in s.items()})


@pytest.mark.parametrize("limit", [0, 1, 2, 7, 64, 70, 1000])
@pytest.mark.parametrize("query", ["zebra", "ze", "zebra note", '"zebra note"'])
def test_a_limit_gives_the_head_of_the_whole_answer(root, limit, query):
    day = "".join(f"- {n // 60 % 24:02d}:{n % 60:02d} zebra note\n" for n in range(1200, 0, -9))
    mem = opened(workspace(root, {"memory/2025-02-03.md": day, "memory/2025-02-04.md": day}))
    mem.sync()
    whole, part = mem.search(query, limit=None).frame, mem.search(query, limit=limit).frame
    assert part.equals(whole.head(limit))
    files_only = unindexed(root)
    assert files_only.search(query, limit=limit).frame.equals(files_only.search(query, limit=None).frame.head(limit))


# ---- snippets


def test_a_short_text_is_its_own_snippet():
    assert snippet("茶" * 500, ["茶"]) == "茶" * 500


@pytest.mark.parametrize("before", [0, 10, 249, 251, 1000, 5000])
@pytest.mark.parametrize("after", [0, 10, 249, 251, 5000])
def test_the_snippet_has_the_first_hit_in_its_middle(before, after):
    piece = snippet("茶" * before + "zebra" + "茶" * after, ["ZEBRA"])
    assert "zebra" in piece
    assert len(piece) == min(500, before + after + 5)
    if min(before, after) > 250:
        assert abs(piece.index("zebra") - 248) <= 2


def test_a_snippet_of_a_text_without_a_hit_is_its_beginning():
    assert snippet("abc" * 1000, ["zebra"]) == ("abc" * 1000)[:500]
    assert snippet("abc" * 1000, []) == ("abc" * 1000)[:500]


def test_a_hit_longer_than_the_room_begins_the_snippet():
    piece = snippet("x" * 900 + "zebra" * 300, ["zebra" * 300])
    assert piece == ("zebra" * 100)


@pytest.mark.parametrize("seed", range(30))
def test_a_snippet_cuts_no_character_in_two(seed):
    rng = random.Random(seed)
    clusters = [rng.choice(CLUSTERS) for _ in range(rng.randint(200, 700))]
    clusters.insert(rng.randrange(len(clusters)), "ZEBRA")
    room = rng.choice([20, 160, 500])
    _whole(clusters, snippet("".join(clusters), ["zebra"], room), room)


@pytest.mark.parametrize("character", [*CLUSTERS, ENGLAND, "\u1112\u1161\u11ab", "क्\u200dष"])
@pytest.mark.parametrize("shift", range(7))
def test_a_row_of_one_character_is_cut_between_two(character, shift):
    clusters = ["x"] * shift + [character] * 300 + ["ZEBRA"] + [character] * 300
    _whole(clusters, snippet("".join(clusters), ["zebra"]), 500)


def _whole(clusters, piece, room):
    assert len(piece) <= room
    assert "ZEBRA" in piece
    text = "".join(clusters)
    at, edges = 0, {0}
    for cluster in clusters:
        at += len(cluster)
        edges.add(at)
    starts = [n for n in range(len(text)) if text.startswith(piece, n)]
    assert any(start in edges and start + len(piece) in edges for start in starts), ascii(piece[:12] + piece[-12:])


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.text(min_size=1, max_size=4), st.integers(1, 40))
def test_a_snippet_is_a_piece_of_the_text(text, term, room):
    piece = snippet(text, [term], room)
    assert piece in text
    assert len(piece) <= room


# ---- how it is shown

NASTY = "<script>alert('x')</script> & \"q\" <img src=x onerror=y>"


def shown(result):
    bundle = result._repr_mimebundle_()
    return bundle["text/html"], bundle["text/plain"]


def test_nothing_of_a_note_is_markup(root):
    mem = opened(workspace(root, {"memory/2025-02-03.md": f"- zebra {NASTY}\n", "memory/a&<b>.md": "- zebra\n"}))
    for query in ("zebra", "<script>", "</script> &", "<", "amp", '"'):
        page, _ = shown(mem.search(query, limit=None))
        assert not re.search(r"<(script|img|b)\b", page)
        assert page.count("<mark>") == page.count("</mark>")
    page, _ = shown(mem.search("<script>", limit=None))
    assert "<mark>&lt;script&gt;</mark>alert" in page
    assert "memory/a&amp;&lt;b&gt;.md:1" in shown(mem.search("zebra", limit=None))[0]


def test_the_marks_are_where_the_hits_are(root):
    mem = opened(workspace(root, {"memory/2025-02-03.md": "- a ＺＥＢＲＡ and zebras, cafe\u0301\n"}))
    page, _ = shown(mem.search("zebra CAFÉ", limit=None))
    assert re.findall("<mark>(.*?)</mark>", page) == ["ＺＥＢＲＡ", "zebra", "cafe\u0301"]


def test_the_tag_by_which_an_entry_was_found_is_shown(root):
    mem = opened(workspace(root, {"memory/2025-02-03.md": "- [计划] 修目录 #计划表\n"}))
    page, text = shown(mem.search("[计划]", limit=None))
    assert "[计划] 修目录" in text
    assert "<mark>[计划]</mark>" in page


def test_both_twins_say_the_same_facts(root):
    mem = build(root)
    index_of(root).touch()
    result = mem.search("坚果云", limit=None)
    page, text = shown(result)
    plain = html.unescape(re.sub("<[^>]+>", "", page.partition("</style>")[2] or page))
    for fact in ("5 hits for 坚果云 (file-keyword)", *result.warnings, *(f"{path}:{line}" for path, line in places(result))):
        assert fact in plain
        assert fact in "".join(line.strip() + " " for line in text.split("\n")).replace("  ", " ") or fact in text
    assert str(result) == text


def test_a_result_is_bounded(root):
    lines = "".join(f"- zebra {'<&>' * 300}\n" for _ in range(300))
    result = opened(workspace(root, {"memory/2025-02-03.md": lines})).search("zebra", "<", "&", ">", "<", limit=None)
    page, text = shown(result)
    assert len(page) < 50_000
    assert len(text) < 5_000
    for twin in (page, text):
        assert "300 hits" in twin
        assert "showing 10" in twin


def test_a_long_query_hides_no_fact(root):
    lines = "".join(f"- zebra {n}\n" for n in range(20))
    result = opened(workspace(root, {"memory/2025-02-03.md": lines})).search(*["zebra"] * 500)
    for twin in shown(result):
        assert "20 hits" in twin
        assert "file-keyword" in twin
        assert "showing 10" in twin
        assert len(twin) < 20_000


def test_no_hits_are_shown_as_such(root):
    page, text = shown(opened(workspace(root)).search("nowhere", limit=None))
    assert "0 hits for nowhere" in page
    assert text == "0 hits for nowhere (file-keyword)"


def test_control_characters_do_not_reach_the_screen(root):
    mem = opened(workspace(root, {"memory/2025-02-03.md": "- zebra \x1b[31m red \x07 \u202e turned\n"}))
    for twin in shown(mem.search("zebra", limit=None)):
        assert "\x1b" not in twin
        assert "\x07" not in twin


# ---- what was forgotten


@pytest.mark.parametrize("indexed", [False, True])
def test_forgotten_entries_are_left_out_by_equality(root, indexed):
    workspace(
        root,
        {
            "MEMORY.md": "## Store\n- 2025-02-03T10:00:00.000Z Zebra Ｏne\n- zebra one more\n\n"
            "## Forgotten\n- 2025-02-04T10:00:00.000Z zebra one\n- zebra two\n\n"
            "### still below\n- zebra three\n\n## After\n- zebra four\n",
            "memory/2025-02-03.md": "- zebra one\n- [tag] zebra  ONE\n- zebra two and more\n- zebra three\n- a zebra one\n",
            "memory/x.md": "```\n## Forgotten\n- zebra five\n```\n\n## Forgotten\n- zebra six\n",
        },
    )
    mem = opened(root)
    if indexed:
        mem.sync()
    left = set(texts(mem.search("zebra", limit=None)))
    assert left == {
        "zebra one more",
        "zebra four",
        "zebra two and more",
        "a zebra one",
        "zebra six",
        "```\n## Forgotten\n- zebra five\n```",
    }
    assert len(mem.search("zebra", include_forgotten=True, limit=None)) == 13


@pytest.mark.parametrize(
    "heading", ["### Forgotten", "## Forgotten things", "# Forgotten", "Forgotten", "## forgotten", "```\n## Forgotten"]
)
def test_only_the_exact_heading_forgets(root, heading):
    mem = opened(workspace(root, {"MEMORY.md": f"## Store\n- zebra\n\n{heading}\n- zebra\n"}))
    assert len(mem.search("zebra", limit=None)) >= 1
    assert places(mem.search("zebra", limit=None)) == places(mem.search("zebra", include_forgotten=True, limit=None))


@pytest.mark.parametrize("name", ["MEMORY.md", "memory.md"])
@pytest.mark.parametrize("indexed", [False, True])
def test_marking_takes_effect_at_once(root, name, indexed):
    mem = opened(workspace(root, {name: "- lion\n", "memory/2025-02-03.md": "- 坚果云 note\n"}))
    if indexed:
        mem.sync()
    assert len(mem.search("坚果云", limit=None)) == 1
    mem.mark_forgotten("坚果云 NOTE")
    assert not len(mem.search("坚果云", limit=None))
    assert len(mem.search("坚果云", include_forgotten=True, limit=None)) == 2
    assert (root / "memory/2025-02-03.md").read_text() == "- 坚果云 note\n"


WRITTEN = """- [a] [b] zebra one
- [x] zebra two
- [计划] zebra three
> zebra quote

| zebra | t |
|---|---|
| 1 | 2 |

1. zebra four

- 2025-02-03T10:00:00Z zebra five
- **L:** zebra six
- zebra seven
  - nested
  - more

```
zebra code
```

- ~~zebra~~ eight #t
- 10:30 zebra nine
- [c] 2025-02-03T10:00:00Z zebra ten
- zebra <!-- eleven -->
"""


@pytest.mark.parametrize("indexed", [False, True])
def test_any_entry_can_be_marked_by_its_text(root, indexed):
    mem = opened(workspace(root, {"memory/2025-02-03.md": WRITTEN}))
    if indexed:
        mem.sync()
    still = []
    for text in mem.entries()["text"].tolist():
        mem.mark_forgotten(text)
        still += [left for left in texts(mem.search("zebra", limit=None)) if left == text]
    assert still == []


@pytest.mark.parametrize("indexed", [False, True])
def test_two_sections_forget_both(root, indexed):
    mem = opened(
        workspace(
            root,
            {
                "MEMORY.md": "## Forgotten\n- lion\n\n## Store\n- a\n\n## Forgotten\n- tiger\n",
                "memory/a.md": "- lion\n- tiger\n",
            },
        )
    )
    if indexed:
        mem.sync()
    assert not len(mem.search("lion", limit=None))
    assert not len(mem.search("tiger", limit=None))


def test_a_long_term_file_in_utf16_forgets_too(root):
    mem = opened(workspace(root, {"MEMORY.md": "- lion\n## Forgotten\n- zebra\n".encode("utf-16"), "memory/a.md": "- zebra\n"}))
    assert len(mem.search("lion", limit=None)) == 1
    assert not len(mem.search("zebra", limit=None))


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("query", ["zebra", "zebra note"])
def test_a_limit_counts_what_is_left(root, indexed, query):
    workspace(root, {"MEMORY.md": "## Forgotten\n- zebra note\n"})
    write(root, "memory/2025-02-03.md", "- zebra note\n" * 200 + f"- zebra note {'and something else ' * 10}\n- zebra notes\n")
    mem = opened(root)
    if indexed:
        mem.sync()
    assert len(mem.search(query, limit=None)) == 2
    assert mem.search(query, limit=1).frame.equals(mem.search(query, limit=None).frame.head(1))
    assert len(mem.search(query, limit=1, include_forgotten=True)) == 1
    assert len(mem.search(query, limit=500, include_forgotten=True)) == 203


# ---- odd files


@pytest.mark.parametrize("indexed", [False, True])
def test_what_is_no_memory_file_stops_nothing(root, tmp_path, monkeypatch, indexed):
    workspace(
        root,
        {"MEMORY.md": "- zebra\n", "memory/large.md": "- zebra " + "x" * 3000, "memory/bytes.md": b"- zebra \xff\xfe \x80\n"},
    )
    write(tmp_path, "out/x.md", "- zebra outside\n")
    (root / "memory/2025-02-03.md").mkdir()
    write(root, "memory/2025-02-03.md/deep.md", "- zebra deep\n")
    (root / "memory/link.md").symlink_to(tmp_path / "out/x.md")
    (root / "memory/folder").symlink_to(tmp_path / "out")
    (root / "memory/broken.md").symlink_to(root / "none.md")
    if hasattr(os, "mkfifo"):
        os.mkfifo(root / "memory/pipe.md")
    if sys.platform == "linux":
        Path(os.fsdecode(os.fsencode(root / "memory") + b"/\xff\xfe.md")).write_text("- zebra undecodable\n")
    mem = opened(root)
    if indexed:
        mem.sync()
    found = [("MEMORY.md", 1), ("memory/2025-02-03.md/deep.md", 1), ("memory/bytes.md", 1), ("memory/large.md", 1)]
    assert places(mem.search("zebra", limit=None)) == found
    monkeypatch.setattr(sys.modules["memkit.files.scan"], "TOO_LARGE", 2000)
    assert places(opened(root).search("zebra", limit=None)) == found[:-1]


@pytest.mark.parametrize("indexed", [False, True])
def test_a_file_that_vanishes_before_it_is_read_is_not_found(root, monkeypatch, indexed):
    mem = opened(workspace(root, {"MEMORY.md": "- zebra\n", "memory/a.md": "- zebra\n"}))
    if indexed:
        mem.sync()
        touch = root / "memory/a.md"
        os.utime(touch, ns=(1, 1))
    reading = files.read

    def late(store, fact, session=None):
        if fact.path == "memory/a.md":
            (store / fact.path).unlink(missing_ok=True)
        return reading(store, fact, session)

    monkeypatch.setattr(files, "read", late)
    assert places(opened(root).search("zebra", limit=None)) == [("MEMORY.md", 1)]


@pytest.mark.parametrize("indexed", [False, True])
def test_a_long_term_file_that_cannot_be_read_stops_nothing(root, monkeypatch, indexed):
    mem = opened(workspace(root, {"MEMORY.md": "- lion\n", "memory/a.md": "- zebra\n"}))
    if indexed:
        mem.sync()
    opening = os.open

    def refused(path, *args, **options):
        if str(path).endswith("MEMORY.md"):
            raise PermissionError(13, "Permission denied", str(path))
        return opening(path, *args, **options)

    monkeypatch.setattr(os, "open", refused)
    assert places(mem.search("zebra", limit=None)) == [("memory/a.md", 1)]


def test_a_long_term_file_behind_a_link_inside_is_searched(root):
    workspace(root, {"docs/M.md": "- zebra\n## Forgotten\n- lion\n", "memory/a.md": "- lion\n"})
    (root / "MEMORY.md").symlink_to("docs/M.md")
    mem = opened(root)
    for _ in range(2):
        assert places(mem.search("zebra", limit=None)) == [("MEMORY.md", 1)]
        assert not len(mem.search("lion", limit=None))
        mem.sync()


def test_a_folder_that_is_gone_is_told(root):
    mem = build(root)
    mem.search("坚果云", limit=None)
    shutil.rmtree(root)
    with pytest.raises(MemkitError, match="gone"):
        mem.search("坚果云", limit=None)


# ---- threads


def test_threads_may_search_while_one_appends_and_one_syncs(root):
    workspace(root, {f"memory/2025-01-{day:02d}.md": "- zebra note\n" * 5 for day in range(1, 21)})
    mem, writer = opened(root), opened(root)
    mem.sync()
    added, wrong, done = [0], [], threading.Event()

    def searching(limit):
        while not done.is_set():
            try:
                least = 100 + added[0]
                result = mem.search("zebra", limit=limit)
                if limit is None and not least <= len(result) <= 100 + added[0] + 1:
                    wrong.append((least, len(result), result.provider))
            except BaseException as error:
                wrong.append(repr(error))
                return

    def appending():
        for n in range(15):
            writer.append(f"zebra {n}")
            added[0] += 1

    def syncing():
        for n in range(8):
            mem.sync(rebuild=n % 3 == 2)

    searchers = [threading.Thread(target=searching, args=(None if n else 3,)) for n in range(8)]
    workers = [threading.Thread(target=appending), threading.Thread(target=syncing)]
    for thread in (*searchers, *workers):
        thread.start()
    for thread in workers:
        thread.join(60)
    done.set()
    for thread in searchers:
        thread.join(60)
    assert not wrong
    assert added == [15]
    assert len(mem.search("zebra", limit=None)) == 115


# ---- terms, groups, corrections


@pytest.fixture(params=["fts5", "file-keyword"])
def either(root, request):
    """Return a function from files to a store that answers by its index, or by the files."""

    def make(files):
        mem = opened(workspace(root, files))
        if request.param == "fts5":
            mem.sync()
        return mem

    return make


def test_terms_are_or_and_the_words_of_each_and(either):
    mem = either({"memory/2025-02-03.md": "- 红茶 一壶\n- 绿茶 一杯\n- 白水 一壶\n- 咖啡\n"})
    assert sorted(texts(mem.search("红茶", "绿茶"))) == ["红茶 一壶", "绿茶 一杯"]
    assert texts(mem.search("红茶 壶", "绿茶 壶")) == ["红茶 一壶"]
    assert sorted(texts(mem.search("壶", "红茶"))) == ["白水 一壶", "红茶 一壶"]


def test_a_second_group_and_what_must_be_there_narrow_the_first(either):
    mem = either({"memory/2025-02-03.md": "- 红茶 一壶 早\n- 绿茶 一杯 早\n- 红茶 一杯 晚\n- 咖啡 一杯\n"})
    assert sorted(texts(mem.search("红茶", "绿茶", any_of=["杯", "碗"]))) == ["红茶 一杯 晚", "绿茶 一杯 早"]
    assert texts(mem.search("红茶", "绿茶", any_of="杯", all_of=["早"])) == ["绿茶 一杯 早"]
    assert texts(mem.search("茶", all_of=["早", "壶"])) == ["红茶 一壶 早"]
    assert mem.search("红茶", "绿茶", all_of="早").frame["terms"].tolist().count("红茶") == 1


def test_a_search_for_nothing_names_what_is_empty(either):
    mem = either({})
    for ask, name in (
        (lambda: mem.search(), "terms"),
        (lambda: mem.search("a", any_of=[" "]), "any_of"),
        (lambda: mem.search("a", all_of=""), "all_of"),
    ):
        with pytest.raises(BadArgument, match=f"^{name}: "):
            ask()


def test_a_hit_that_was_corrected_says_when(either):
    mem = either(
        {
            "memory/2025-02-03.md": "- 开业日期定在 3 月 8 日\n- 开业前先试\n",
            "memory/2025-02-10.md": "- 更正 2025-02-03：开业日期 → 3 月 12 日\n",
            "memory/2025-02-20.md": "- 更正 2025-02-03：开业日期 → 3 月 15 日\n",
            "memory/2025-02-21.md": "- 开业日期在门上贴好了\n",
        }
    )
    frame = mem.search("开业", limit=None).frame
    told = {row.text: row.corrected_by for row in frame.itertuples()}
    assert str(told["开业日期定在 3 月 8 日"].date()) == "2025-02-20"
    assert [text for text, day in told.items() if day is not pd.NaT] == ["开业日期定在 3 月 8 日"]
