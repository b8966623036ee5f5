"""The search index: it answers as a plain scan would, follows the files, is never half written, and touches nothing else's."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memkit import fts, match, query, schema
from memkit.errors import BadArgument, ConflictError, DiskError, LockTimeout, MemkitError, UnsupportedError
from memkit.fts import build as build_room
from memkit.fts import fill as fill_room
from memkit.fts import rows, state
from memkit.fts import write as write_room

ROOT = Path(__file__).parents[1]
SECRET = "Zqxjkvwpz秘密口令"


def entries(*texts, tags=(), path="memory/2025-02-03.md", day="2025-02-03", **columns):
    """Return an ENTRIES frame of some texts in one file."""
    n = len(texts)
    given = {
        "date": [pd.Timestamp(day) if day else None] * n,
        "tag": [*tags, *[None] * (n - len(tags))],
        "text": list(texts),
        "kind": ["daily"] * n,
        "block": ["item"] * n,
        "chars": [len(text) for text in texts],
        "path": [path] * n,
        "line": range(1, n + 1),
        "end_line": range(1, n + 1),
        **columns,
    }
    missing = {name: [None] * n for name in schema.ENTRIES if name not in given}
    return schema.frame(schema.ENTRIES, {name: {**given, **missing}[name] for name in schema.ENTRIES})


def together(*frames):
    return pd.concat(frames, ignore_index=True) if frames else schema.frame(schema.ENTRIES)


def seen_of(frame, mtime=1):
    """Return the files of a frame as if they had just been looked at, with a hash that follows their entries."""
    out = {}
    for path, part in frame.groupby("path", sort=False):
        digest = str(hash(tuple(map(str, part.astype(object).to_numpy().ravel()))))
        out[path] = (int(part["chars"].sum()), mtime, digest)
    return out


def sync(target, frame, *, mtime=1, **options):
    return fts.sync(target, seen_of(frame, mtime), lambda paths: frame[frame["path"].isin(paths)], **options)


def found(target, *terms, **options):
    """Return path and line of what is found, in no order."""
    frame = fts.find(target, terms, **options)
    return sorted(zip(frame["path"], frame["line"], strict=True))


def body_of(tag, text):
    """Say what is searched of an entry in the plainest way; here no text holds a #tag."""
    return text if pd.isna(tag) else f"[{tag}] {text}"


def brute(frame, terms):
    """Return what a scan finds."""
    folded = [match.fold(term) for term in terms]
    bodies = [match.fold(body_of(tag, text)) for tag, text in zip(frame["tag"], frame["text"], strict=True)]
    hits = [all(term in body for term in folded) for body in bodies]
    return sorted(zip(frame["path"][hits], frame["line"][hits], strict=True))


def held(target):
    """Return all entries of an index in reading order."""
    frame = fts.find(target, []).drop(columns="score")
    return frame.sort_values(["path", "line"], ignore_index=True)


def content(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def target(tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder / "index.sqlite"


TEA = entries("今天把坚果云同步修好了", "Tea with Ann, C++ and 100%", "喝茶", tags=("计划", None, "生活"))
LATER = entries("坚果云又坏了", 'snake_case * glob "quoted" o\'clock', path="memory/2025-02-04.md", day="2025-02-04")
BOTH = together(TEA, LATER)


# ---- what is searched


def test_the_tag_is_searched_in_brackets_before_the_text():
    assert list(fts.bodies(entries("修目录", "喝茶", tags=("计划",)))) == ["[计划] 修目录", "喝茶"]


def test_a_tag_that_stands_in_the_text_is_not_said_twice():
    frame = entries("修目录 #计划", "修目录 #计划表", "`#计划` 是标签", "#计划 在前", tags=("计划",) * 4)
    assert list(fts.bodies(frame)) == ["修目录 #计划", "[计划] 修目录 #计划表", "[计划] `#计划` 是标签", "#计划 在前"]


def test_bodies_of_an_empty_frame_are_text():
    assert fts.bodies(schema.frame(schema.ENTRIES)).dtype == schema.STR
    assert fts.folded_bodies(schema.frame(schema.ENTRIES)) == []


# ---- finding


def test_a_one_letter_chinese_query_finds_every_entry(target):
    sync(target, BOTH)
    assert found(target, "坚") == found(target, "坚果云") == [("memory/2025-02-03.md", 1), ("memory/2025-02-04.md", 1)]


@pytest.mark.parametrize(
    "term",
    ["c++", "100%", "%", "_case", "_", "*", '"', '"quoted"', "o'c", "[计划]", "】", "TEA", "ｔｅａ", "AND", "tea AND ann"],
)
def test_every_term_is_literal(target, term):
    sync(target, BOTH)
    assert found(target, term) == brute(BOTH, [term])


def test_all_terms_must_stand_in_an_entry(target):
    sync(target, BOTH)
    assert found(target, "坚果云", "修好") == [("memory/2025-02-03.md", 1)]
    assert found(target, "坚果云", "云", "坏") == [("memory/2025-02-04.md", 1)]
    assert found(target, "坚果云", "茶") == []
    assert found(target, "坚果云") == found(target, "坚果云", "坚果云", "")


def test_the_words_of_syntax_are_words(target):
    frame = entries("NEAR(a b) OR body: NOT", "x")
    sync(target, frame)
    for term in ("NEAR(a", "OR body:", "NOT", "body:", "^near", "{body}", "-x", "a b)"):
        assert found(target, term) == brute(frame, [term])


ODD = (
    "a\0b坚", "ab坚", "a\ufffdb坚", "e\u0301te\u0301", "été", "각각각", "\u1100\u1161\u11a8", "ﬁne ﬂow", "ＡＢＣ１２３",
    "Straße", "İstanbul", "👩\u200d👩\u200d👧\u200d👦 family", "👩 alone", "☕\ufe0f tea", "☕ tea", "\ufffd\ufffd\ufffd",
    "\ufffe\uffffx", "…… 等", "Ⅷ ㎏ ①", "\U00020000\U0002a6df𠮷",
)  # fmt: skip


@pytest.mark.parametrize(
    "term", [*ODD, "\0", "\ufffd", "a\0b", "\u200d", "\u0301", "ss", "i", "i\u0307", "fi", "👩", "\ufe0f", "\U00020000"]
)
def test_odd_characters_are_found_as_a_scan_finds_them(target, term):
    frame = entries(*ODD)
    sync(target, frame)
    assert found(target, term) == brute(frame, [term])
    assert found(target, term, "e") == brute(frame, [term, "e"])


def test_half_a_character_is_nowhere(target):
    sync(target, BOTH)
    assert found(target, "\ud83d") == []


def test_any_number_and_length_of_terms_will_do(target):
    frame = entries("word " * 3000, *(f"w{n:04}" for n in range(300)), " ".join(f"w{n:04}" for n in range(300)))
    sync(target, frame)
    many = [f"w{n:04}" for n in range(300)]
    assert found(target, *many) == brute(frame, many) == [("memory/2025-02-03.md", 302)]
    assert found(target, *many, "0", "x") == []
    assert found(target, "word " * 2000) == [("memory/2025-02-03.md", 1)]
    assert list(fts.find(target, ["0", *many])["score"]) == pytest.approx(
        fts.plain_scores(fts.folded_bodies(frame)[-1:], ["0", *many])
    )


def test_one_text_is_one_term(target):
    sync(target, BOTH)
    assert len(fts.find(target, "坚果云")) == 2


def test_without_a_term_every_entry_is_found(target):
    sync(target, BOTH)
    assert len(fts.find(target, [])) == len(BOTH)
    assert (fts.find(target, [])["score"] == 0).all()


def test_files_that_are_skipped_are_not_in_the_answer(target):
    sync(target, BOTH)
    skipped = ["memory/2025-02-03.md", "memory/none.md"]
    assert found(target, "坚果云", skip=skipped) == found(target, "云", skip=iter(skipped)) == [("memory/2025-02-04.md", 1)]


@pytest.mark.parametrize("terms", [["坚果云"], ["云"], ["云", "坚果云"], ["\ufffd"]])
def test_a_limit_keeps_the_first_of_the_whole_answer(target, terms):
    frame = together(
        *(entries(*["坚果云\ufffd" * n + "。" * m for m in range(4)], path=f"memory/2025-02-0{n}.md") for n in (1, 2, 3))
    )
    sync(target, frame)
    whole = fts.find(target, terms)
    assert whole["score"].is_monotonic_decreasing
    for limit in (0, 1, 5, 12, 99):
        pd.testing.assert_frame_equal(fts.find(target, terms, limit=limit), whole.head(limit))


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_a_limit_that_is_no_count_is_refused(target, limit):
    with pytest.raises(BadArgument, match="limit"):
        fts.find(target, ["x"], limit=limit)


def test_equal_scores_come_newest_first_and_undated_last(target):
    days = ("2024-01-01", None, "2025-01-01")
    sync(target, together(*(entries("坚果", "坚果", path=f"{day}.md", day=day) for day in days)))
    told = fts.find(target, ["坚果"])
    assert list(zip(told["path"], told["line"], strict=True)) == [
        (f"{day}.md", n) for day in (days[2], days[0], days[1]) for n in (2, 1)
    ]


def test_short_terms_are_scored_by_hits_over_the_root_of_the_length(target):
    sync(target, entries("云" * 4 + "。" * 96, "云"))
    assert list(fts.find(target, ["云"])["score"]) == pytest.approx([10 / 11, 4 / 5])
    assert list(fts.plain_scores(["云" * 4 + "。" * 96, "云", ""], ["云"])) == pytest.approx([4 / 5, 10 / 11, 0])


def test_long_terms_are_scored_by_bm25(target):
    sync(target, BOTH)
    with fts.reading(target, 1) as conn:
        best = conn.execute("SELECT -bm25(search) FROM search WHERE search MATCH '\"坚果云\"' ORDER BY 1 DESC").fetchall()
    assert list(fts.find(target, ["坚果云"])["score"]) == pytest.approx([s / (1 + s) for (s,) in best])


# ---- the differential test

LETTERS = st.sampled_from("aAbBcC 云坚果同步ß。İ🍵👩\u200d\u0301é…\ufffd\0\"'*%_+#-")
TEXT = st.text(LETTERS, min_size=1, max_size=12) | st.text(min_size=1, max_size=8)
STORE = st.lists(
    st.tuples(st.sampled_from(["memory/a.md", "memory/b.md", "c.md"]), st.none() | st.sampled_from(["计划", "A b", "ﬁ"]), TEXT),
    max_size=12,
).map(lambda found: sorted(found, key=lambda row: row[0]))


def frame_of(store):
    paths, tags, texts = zip(*store, strict=True) if store else ((), (), ())
    texts = [text.replace("#", "＃") for text in texts]
    return entries(*texts, tags=tags, path="x").assign(path=pd.Series(paths, dtype=schema.STR))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STORE, st.lists(TEXT, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_the_index_answers_as_a_scan_does(store, terms, chance):
    frame = frame_of(store)
    parts = [term[: chance.randint(1, 5)] for term in terms]
    inner = [text[chance.randrange(len(text)) :][: chance.randint(1, 5)] for text in frame["text"]]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "index.sqlite"
        sync(target, frame)
        for asked in (terms, parts, inner[:1], inner[-2:], [*inner[:1], *parts[:1]]):
            assert found(target, *asked) == brute(frame, asked), asked


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STORE, min_size=2, max_size=4))
def test_syncing_step_by_step_comes_to_what_one_build_does(stores):
    with tempfile.TemporaryDirectory() as folder:
        stepwise, whole = Path(folder) / "a.sqlite", Path(folder) / "b.sqlite"
        for mtime, store in enumerate(stores):
            sync(stepwise, frame_of(store), mtime=mtime)
        sync(whole, frame_of(stores[-1]), mtime=len(stores) - 1)
        pd.testing.assert_frame_equal(held(stepwise), held(whole))
        assert fts.look(stepwise).files == fts.look(whole).files
        with closing(sqlite3.connect(stepwise)) as conn:
            conn.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
            assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# ---- the frame that comes back


def test_the_entries_come_back_as_they_went_in(target):
    full = entries(
        "一",
        "None",
        "=1+1",
        "NA",
        tags=("计划", "nan", None, ""),
        kind=["daily", "session", None, "longterm"],
        section=["Notes › Tea", None, "x", None],
        clock=["09:30", None, "23:59:59", None],
        written_at=["2025-02-03T01:02:03.456Z", None, "0001-01-02T00:00:00Z", "9999-12-31T00:00:00+00:00"],
        label=[None, "L", None, None],
        task=["x", " ", None, None],
        block=["item", "table", None, "quote"],
        chars=[2**31 - 1, 0, 1, 2],
        date=[pd.Timestamp("2025-02-03"), None, pd.Timestamp("0001-01-01"), pd.Timestamp("9999-12-31")],
    )
    sync(target, full)
    back = held(target)
    pd.testing.assert_frame_equal(back, full)
    assert list(back.dtypes) == list(schema.ENTRIES.values())


def test_an_empty_answer_has_the_same_columns_and_dtypes(target):
    sync(target, BOTH)
    assert list(fts.find(target, ["nowhere"]).dtypes) == list(fts.find(target, ["云"]).dtypes)
    assert list(fts.find(target, ["nowhere"]).dtypes) == [*schema.ENTRIES.values(), np.dtype("float64")]


def test_more_columns_than_those_of_entries_are_left_out(target):
    sync(target, TEA.assign(stamp="2025"))
    pd.testing.assert_frame_equal(held(target), TEA)


# ---- following the files


def test_a_sync_says_what_it_holds_and_what_changed(target):
    assert sync(target, BOTH) == fts.Synced(files=2, chunks=5, changed=2)
    assert sync(target, BOTH) == fts.Synced(files=2, chunks=5, changed=0)
    assert sync(target, TEA) == fts.Synced(files=1, chunks=3, changed=1)
    assert sync(target, entries()) == fts.Synced(files=0, chunks=0, changed=1)
    found_there = fts.look(target)
    assert (found_there.state, found_there.files, found_there.chunks) == ("ok", {}, 0)


def test_a_look_tells_the_files_and_their_stamps(target):
    sync(target, BOTH, mtime=2**62)
    assert fts.look(target).files == seen_of(BOTH, 2**62)
    assert fts.look(target).chunks == 5


def test_nothing_is_written_when_nothing_changed(target):
    sync(target, BOTH)
    before = content(target.parent)
    sync(target, BOTH)
    assert content(target.parent) == before


def test_an_index_is_changed_where_it_is(target):
    sync(target, BOTH)
    before = target.stat().st_ino
    sync(target, together(TEA.iloc[:2], LATER), mtime=2)
    assert target.stat().st_ino == before
    assert sync(target, BOTH, rebuild=True).changed == 2
    assert target.stat().st_ino != before


def test_only_what_changed_is_asked_for(target):
    sync(target, BOTH)
    asked = []
    grown = together(TEA, LATER, entries("新的", path="n.md"))
    seen = {path: (size, mtime if "03" in path else 9, digest) for path, (size, mtime, digest) in seen_of(grown).items()}
    seen["memory/2025-02-03.md"] = (*seen["memory/2025-02-03.md"][:2], lambda: pytest.fail("the stamp is the same"))
    told = fts.sync(target, seen, lambda paths: asked.extend(paths) or grown[grown["path"].isin(paths)])
    assert asked == ["n.md"]
    assert told.changed == 1
    assert fts.look(target).files["memory/2025-02-04.md"] == seen["memory/2025-02-04.md"]


def test_a_file_of_unknown_hash_is_read_again_when_its_stamp_changed(target):
    frame = entries("旧", path="a.md")
    fts.sync(target, {"a.md": (1, 1, None)}, lambda paths: frame)
    assert fts.sync(target, {"a.md": (1, 2, lambda: None)}, lambda paths: entries("新", path="a.md")).changed == 1
    assert len(fts.find(target, "新")) == 1


def test_the_hash_is_taken_before_the_entries_are_read(target):
    told = []
    fts.sync(target, {"a.md": (1, 1, lambda: told.append("hash") or "x")}, lambda paths: told.append("entries") or TEA.iloc[:0])
    assert told == ["hash", "entries"]


def test_entries_are_asked_for_in_batches_and_may_come_in_pieces(target, monkeypatch):
    monkeypatch.setattr(fill_room, "_FILES", 3)
    frames = {f"{n}.md": entries(f"记录{n}", f"又{n}", path=f"{n}.md") for n in range(8)}
    sizes = []

    def entries_of(paths):
        sizes.append(len(paths))
        return (frames[path] for path in paths)

    fts.sync(target, {path: (1, 1, path) for path in frames}, entries_of)
    assert sizes == [3, 3, 2]
    pd.testing.assert_frame_equal(held(target), together(*frames.values()))


def test_large_files_make_small_batches(target):
    sizes = []
    seen = {f"{n}.md": (5 << 20, 1, "x") for n in range(5)}
    fts.sync(target, seen, lambda paths: sizes.append(len(paths)) or TEA.iloc[:0])
    assert sizes == [2, 2, 1]


def test_an_error_of_the_entries_leaves_the_index_as_it_was(target):
    def fail(paths):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fts.sync(target, seen_of(BOTH), fail)
    assert not list(target.parent.iterdir())
    sync(target, BOTH)
    for rebuild in (False, True):
        with pytest.raises(ZeroDivisionError):
            fts.sync(target, {"new.md": (1, 1, "x")}, fail, rebuild=rebuild)
        assert [path.name for path in target.parent.iterdir()] == ["index.sqlite"]
        pd.testing.assert_frame_equal(held(target), BOTH)


def test_missing_folders_are_made_and_taken_back_after_a_failure(tmp_path):
    target = tmp_path / "a" / "b" / "index.sqlite"
    with pytest.raises(KeyError):
        fts.sync(target, {"new.md": (1, 1, "x")}, lambda paths: BOTH)
    assert not list(tmp_path.iterdir())
    sync(target, BOTH)
    assert fts.look(target).state == "ok"


@pytest.mark.parametrize("name", ["a?b#c%20 d.sqlite", "索引 🍵.sqlite", "%2e.db", "file:x?mode=rwc", "'\"", "x" * 200])
def test_any_name_will_do(tmp_path, name):
    target = tmp_path / name
    sync(target, TEA)
    sync(target, BOTH, mtime=2)
    assert len(fts.find(str(target), ["坚果云"])) == 2
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_relative_path_is_one_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sync("index.sqlite", BOTH)
    assert (tmp_path / "index.sqlite").is_file()
    assert fts.look("index.sqlite").state == "ok"


@pytest.mark.skipif(os.name == "nt", reason="modes and links are POSIX")
def test_a_rebuild_keeps_the_mode_and_follows_a_link(target, tmp_path):
    sync(target, BOTH)
    target.chmod(0o600)
    link = tmp_path / "link.sqlite"
    link.symlink_to(target)
    sync(link, BOTH, rebuild=True)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600


def test_the_file_says_whose_it_is(target):
    sync(target, BOTH)
    with closing(sqlite3.connect(target)) as conn:
        told = [conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version", "journal_mode")]
    assert told == [rows.APPLICATION_ID, rows.USER_VERSION, "delete"]


def test_another_part_can_write_its_own_table_in_the_index(target):
    sync(target, BOTH)
    with fts.writing(target) as conn:
        conn.execute("CREATE TABLE vectors (x)")

    def stopped():
        with fts.writing(target) as conn:
            conn.execute("INSERT INTO vectors VALUES (1)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stopped()
    with fts.reading(target, 1) as conn:
        assert conn.execute("SELECT count(*) FROM vectors").fetchone() == (0,)


# ---- what stands in the way


def database(path, *statements):
    with closing(sqlite3.connect(path)) as conn:
        for statement in statements:
            conn.execute(statement)
        conn.commit()


def spoiled(target, kind):
    """Put something that is no index in order at the path."""
    sync(target, BOTH)
    size = target.stat().st_size
    if kind == "truncated":
        os.truncate(target, size // 2)
    elif kind == "empty":
        target.write_bytes(b"")
    elif kind == "malformed":
        data = bytearray(target.read_bytes())
        data[100:4096] = os.urandom(3996)
        target.write_bytes(data)
    elif kind == "outdated":
        database(target, "PRAGMA user_version=7")
    elif kind == "without tables":
        database(target, "DROP TABLE files")
    elif kind == "wal":
        database(target, "PRAGMA journal_mode=WAL")
    elif kind == "no tables at all":
        target.unlink()
        database(target, "PRAGMA user_version=3")


OURS = ["truncated", "empty", "malformed", "outdated", "without tables", "wal", "no tables at all"]


@pytest.mark.parametrize("kind", OURS)
def test_an_index_of_ours_that_is_not_in_order_is_told_and_built_anew(target, kind):
    spoiled(target, kind)
    before = content(target.parent)
    told = fts.look(target)
    assert told.state == ("outdated" if kind == "outdated" else "broken")
    assert told.ours
    assert told.reason
    with pytest.raises(fts.Unreadable, match=r"index\.sqlite") as caught:
        fts.find(target, ["坚果云"])
    assert caught.value.state == told.state
    assert content(target.parent) == before
    assert sync(target, BOTH).chunks == 5
    pd.testing.assert_frame_equal(held(target), BOTH)
    assert [path.name for path in target.parent.iterdir()] == ["index.sqlite"]


def foreign(target, kind):
    if kind == "another application":
        database(target, "PRAGMA application_id=77", "CREATE TABLE files (path, size, mtime_ns, sha256)")
    elif kind == "no application":
        database(target, "CREATE TABLE files (path, size, mtime_ns, sha256)")
    elif kind == "in WAL mode":
        database(target, "PRAGMA journal_mode=WAL", "CREATE TABLE chunks (id, text)")
    elif kind == "notes":
        target.write_text("# 我的笔记\n" * 400, encoding="utf-8")
    elif kind == "folder":
        target.mkdir()
    elif kind == "pipe":
        os.mkfifo(target)


@pytest.mark.parametrize("kind", ["another application", "no application", "in WAL mode", "notes", "folder", "pipe"])
@pytest.mark.parametrize("rebuild", [False, True])
def test_what_is_not_ours_is_never_written(target, kind, rebuild):
    if kind == "pipe" and os.name == "nt":
        pytest.skip("no named pipes")
    foreign(target, kind)
    before = content(target.parent)
    told = fts.look(target)
    assert told.state == ("broken" if kind in ("notes", "folder", "pipe") else "foreign")
    assert not told.ours
    with pytest.raises(ConflictError, match=r"index\.sqlite: .*MEMORY_INDEX_PATH, index="):
        sync(target, BOTH, rebuild=rebuild)
    with pytest.raises(ConflictError, match="MEMORY_INDEX_PATH"), fts.writing(target):
        pass
    with pytest.raises(fts.Unreadable):
        fts.find(target, ["x"])
    assert content(target.parent) == before
    assert [path.name for path in target.parent.iterdir()] == ["index.sqlite"]


def test_a_missing_index_is_told_and_not_made(tmp_path):
    target = tmp_path / "none" / "index.sqlite"
    assert fts.look(target).state == "missing"
    with pytest.raises(fts.Unreadable) as caught:
        fts.find(target, ["x"])
    assert caught.value.state == "missing"
    assert isinstance(caught.value, MemkitError)
    assert not list(tmp_path.iterdir())


def test_a_path_through_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    assert fts.look(tmp_path / "file" / "index.sqlite").state == "broken"
    with pytest.raises(ConflictError, match="cannot be read"):
        sync(tmp_path / "file" / "index.sqlite", BOTH)


def test_reading_changes_no_byte_and_no_time(target):
    sync(target, BOTH)
    before = content(target.parent)
    fts.look(target)
    fts.find(target, ["坚果云"], skip=["x"])
    fts.find(target, ["云"], limit=1)
    assert content(target.parent) == before


def test_damage_that_only_a_query_meets_is_told(target):
    sync(target, together(*(entries(*[f"坚果云 {n} {m} " + "长" * 300 for m in range(20)], path=f"{n}.md") for n in range(20))))
    data = bytearray(target.read_bytes())
    data[len(data) // 4 :] = b"\xff" * (len(data) - len(data) // 4)
    target.write_bytes(data)
    with pytest.raises(fts.Unreadable) as caught:
        fts.find(target, ["长"])
    assert caught.value.state == "broken"


def test_values_of_another_type_are_told_as_damage(target):
    sync(target, BOTH)
    database(target, "UPDATE blocks SET kind = 'elsewhere'")
    with pytest.raises(fts.Unreadable, match="damaged"):
        fts.find(target, ["坚果云"])
    database(target, "UPDATE blocks SET kind = 'daily', line = 'x'")
    with pytest.raises(fts.Unreadable, match="damaged"):
        fts.find(target, ["坚果云"])


def test_sqlite_without_trigrams_is_told(target, monkeypatch):
    sync(target, BOTH)
    assert fts.has_trigram()
    real_connect = sqlite3.connect
    # such a SQLite knows FTS5, but not the tokenizer that the table names
    definition = "UPDATE sqlite_master SET sql = replace(sql, 'trigram', 'unheard_of') WHERE name = 'search'"
    database(target, "PRAGMA writable_schema=ON", definition)

    class Old(sqlite3.Connection):
        def execute(self, sql, *more):
            return super().execute(sql.replace("trigram", "unheard_of"), *more)

    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: real_connect(*args, factory=Old, **options))
    assert not fts.has_trigram()
    assert fts.look(target).state == "unsupported"
    with pytest.raises(fts.Unreadable) as caught:
        fts.find(target, ["坚果云"])
    assert caught.value.state == "unsupported"
    with pytest.raises(UnsupportedError, match=r"FTS5 trigrams.*3\.34"):
        sync(target, BOTH)


def test_an_index_of_another_unicode_version_is_outdated(target, monkeypatch):
    sync(target, BOTH)
    monkeypatch.setattr(rows, "USER_VERSION", rows.USER_VERSION + 1)
    assert fts.look(target).state == "outdated"


# ---- locks and disks


def test_a_locked_index_is_told_and_waited_for(target):
    sync(target, TEA)
    with closing(sqlite3.connect(target, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert fts.look(target, timeout=0).state == "locked"
        with pytest.raises(fts.Unreadable) as caught:
            fts.find(target, ["茶"], timeout=0)
        assert caught.value.state == "locked"
        for rebuild in (False, True):
            with pytest.raises(LockTimeout, match=r"index\.sqlite: another program holds it for over 0\.05 seconds"):
                sync(target, BOTH, mtime=2, timeout=0.05, rebuild=rebuild)
        other.execute("ROLLBACK")
    assert sync(target, BOTH, mtime=2).chunks == 5
    assert [path.name for path in target.parent.iterdir()] == ["index.sqlite"]


def test_a_look_takes_no_lock_from_another_thread(target):
    sync(target, BOTH)
    with fts.writing(target) as conn:
        conn.execute("UPDATE files SET size = 5")
        fts.look(target)
        fts.find(target, ["坚果云"])
        code = f"import sqlite3; sqlite3.connect({str(target)!r}, 0, isolation_level=None).execute('BEGIN IMMEDIATE')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "database is locked" in done.stderr


def test_an_index_that_is_replaced_while_it_is_written_is_synced_again(target):
    sync(target, TEA)
    copy = target.with_name("copy")
    shutil.copy(target, copy)
    seen = seen_of(BOTH, 2)
    path = next(iter(seen))
    seen[path] = (*seen[path][:2], lambda: copy.exists() and copy.replace(target) and None)
    assert fts.sync(target, seen, lambda paths: BOTH[BOTH["path"].isin(paths)]).chunks == 5
    pd.testing.assert_frame_equal(held(target), BOTH)


def test_an_index_that_is_replaced_all_the_time_is_given_up(target):
    sync(target, TEA)

    def replaced():
        shutil.copy(target, target.with_name("copy")).replace(target)

    with pytest.raises(ConflictError, match="try again"):
        fts.sync(target, {"memory/2025-02-03.md": (0, 5, replaced)}, lambda paths: TEA)


def test_a_full_disk_is_told_and_changes_nothing(target, monkeypatch):
    monkeypatch.setattr(build_room, "_PRAGMAS", (*build_room._PRAGMAS, "max_page_count=12"))
    with pytest.raises(DiskError, match=r"index\.sqlite: .*full; make room"):
        sync(target, big(1))
    assert not list(target.parent.iterdir())
    monkeypatch.undo()
    sync(target, TEA)
    monkeypatch.setattr(write_room, "_PRAGMAS", (*write_room._PRAGMAS, "max_page_count=1"))
    with pytest.raises(DiskError, match="full; make room"):
        sync(target, together(TEA, entries(*["很长" * 2000] * 20, path="x.md")))
    pd.testing.assert_frame_equal(held(target), TEA)


def test_a_file_that_may_not_be_written_is_told(target, monkeypatch):
    sync(target, TEA)
    connected = state.connected
    monkeypatch.setattr(write_room, "connected", lambda path, mode, timeout: connected(path, "ro", timeout))
    with pytest.raises(DiskError, match="readonly database; allow writing there"):
        sync(target, BOTH)
    pd.testing.assert_frame_equal(held(target), TEA)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nobody can be kept out")
def test_a_read_only_folder_is_told(target):
    target.parent.chmod(0o500)
    try:
        with pytest.raises(DiskError, match="allow writing"):
            sync(target, BOTH)
    finally:
        target.parent.chmod(0o700)


def test_a_refused_temp_file_is_told(target, monkeypatch):
    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(build_room, "_create", refuse)
    with pytest.raises(DiskError, match=r"index\.sqlite: .*permission denied"):
        sync(target, BOTH)


def test_a_file_system_without_hard_links_will_do(target, monkeypatch):
    monkeypatch.setattr(Path, "hardlink_to", lambda self, other: (_ for _ in ()).throw(OSError(1, "no links")))
    sync(target, BOTH)
    assert [path.name for path in target.parent.iterdir()] == ["index.sqlite"]
    assert fts.look(target).state == "ok"


def test_two_builders_of_a_missing_index_both_succeed(target):
    other = []
    first = lambda paths: other or other.append(sync(target, BOTH)) or BOTH[BOTH["path"].isin(paths)]  # noqa: E731
    assert fts.sync(target, seen_of(BOTH), first).chunks == 5
    assert other[0].chunks == 5
    pd.testing.assert_frame_equal(held(target), BOTH)


# ---- processes

CHILD = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import test_fts as t
from memkit import fts
from memkit.fts import build, fill, write
target, frame = t.Path({target!r}), t.big({seed})
"""


def big(seed):
    chance = random.Random(seed)
    words = ["坚果云", "同步", "coffee", "茶", "目录", "rebuild"]
    return together(
        *(
            entries(*[" ".join(chance.choices(words, k=8)) + f" {seed}" for _ in range(30)], path=f"memory/{n:02}.md")
            for n in range(25)
        )
    )


def child(target, seed, code, **options):
    head = CHILD.format(tests=str(ROOT / "tests"), target=str(target), seed=seed)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(code)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


KILL = "os.kill(os.getpid(), signal.SIGKILL)"
# Where a child dies: while the temp file is filled, before and after the replace; with pages of the transaction in the file.
DEATHS = {
    "while building": "fill.rows.put = lambda *a: {kill}\nt.sync(target, frame)",
    "before the replace": "build._install = lambda *a: {kill}\nt.sync(target, frame, rebuild=True)",
    "after the replace": "sys.modules['memkit.fts.sync'].build = lambda *a: (build.build(*a), {kill})\n"
    "t.sync(target, frame, rebuild=True)",
    "in the transaction": "write._PRAGMAS = (*write._PRAGMAS[:2], 'cache_size=5')\nseen = t.seen_of(frame, 2)\n"
    "def late(paths):\n    yield frame[frame['path'].isin(paths[:-1])]\n    {kill}\n"
    "fts.sync(target, seen, late)",
}


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("death", DEATHS)
def test_a_kill_leaves_the_old_index_or_the_new(target, death, there):
    if there:
        sync(target, big(1))
    done = child(target, 2, DEATHS[death].format(kill=KILL))
    _, errors = done.communicate(timeout=60)
    assert done.returncode == -signal.SIGKILL, errors.decode()
    left = 2 if death == "after the replace" else 1 if there else None
    told = fts.look(target)
    if left and told.state != "ok":  # a part of the transaction is in the file, its journal beside it
        assert (death, told.state, told.ours) == ("in the transaction", "broken", True)
        assert "stopped halfway" in told.reason
        assert sync(target, big(1)).changed == 0
    if left:
        pd.testing.assert_frame_equal(held(target), big(left))
    else:
        assert told.state == "missing"
    assert sync(target, big(3), mtime=3).chunks == 750
    pd.testing.assert_frame_equal(held(target), big(3))


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
def test_the_journal_of_a_dead_writer_never_gets_into_a_new_index(target):
    for missing in (False, True):
        sync(target, big(1), rebuild=True)
        done = child(target, 2, DEATHS["in the transaction"].format(kill=KILL))
        done.communicate(timeout=60)
        assert target.with_name("index.sqlite-journal").exists()
        if missing:
            target.unlink()
        sync(target, big(3), rebuild=True)
        assert [path.name for path in target.parent.iterdir()] == ["index.sqlite"]
        pd.testing.assert_frame_equal(held(target), big(3))


def test_several_processes_may_sync_at_once(target):
    code = """
    for n in range(6):
        t.sync(target, t.big({seed} + n % 2), mtime=100 * {seed} + n, rebuild=n == {seed}, timeout=60)
        fts.find(target, ["坚果云"], timeout=60)
    """
    running = [child(target, seed, code.format(seed=seed)) for seed in (1, 2, 3)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert fts.look(target).state == "ok"
    assert [path.name for path in target.parent.iterdir()] == ["index.sqlite"]
    sync(target, big(9), mtime=9)
    pd.testing.assert_frame_equal(held(target), big(9))
    with closing(sqlite3.connect(target)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_threads_may_read_while_one_syncs(target):
    frames = [big(1), big(2)]
    sync(target, frames[0])
    wrong = []

    def read():
        for _ in range(15):
            told = fts.find(target, ["坚果云"], timeout=60)
            if found_in := {text.rpartition(" ")[2] for text in told["text"]} - {"1", "2"}:
                wrong.append(found_in)
            if fts.look(target, timeout=60).state != "ok":
                wrong.append("look")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(6):
        sync(target, frames[n % 2], mtime=n + 2, timeout=60)
    for reader in readers:
        reader.join()
    assert not wrong


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only there can handles be counted")
def test_no_handle_is_left_open(target):
    spoiled(target, "truncated")
    before = len(list(Path("/proc/self/fd").iterdir()))
    fts.look(target)
    sync(target, BOTH)
    sync(target, TEA, mtime=2)
    fts.find(target, ["坚果云"])
    foreign(target.with_name("other"), "notes")
    with pytest.raises(ConflictError):
        sync(target.with_name("other"), BOTH)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# ---- what is deleted is gone


def test_deleted_text_is_not_in_the_file_after_a_rebuild(target):
    sync(target, together(BOTH, entries(SECRET, path="s.md")))
    assert SECRET.casefold().encode() in target.read_bytes()
    sync(target, BOTH, rebuild=True)
    data = target.read_bytes()
    for start in range(len(SECRET) - 2):
        assert SECRET.casefold()[start : start + 3].encode() not in data


def test_deleted_text_is_not_in_the_file_after_a_sync(target):
    # FTS5 may keep its three-letter pieces in an old segment (before 3.42): forgetting rebuilds
    padding = together(*(entries(*[f"坚果云 {n} {m}" for m in range(50)], path=f"{n}.md") for n in range(40)))
    sync(target, together(padding, entries(SECRET, path="s.md")))
    sync(target, padding)
    data = target.read_bytes()
    assert SECRET.encode() not in data
    assert SECRET.casefold().encode() not in data
    assert not list(target.parent.glob("*-journal"))
    assert query.fold_column(fts.bodies(held(target))) == fts.folded_bodies(held(target))
