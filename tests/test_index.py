"""The index of a store: how it is kept, what forgetting leaves in it, and the vectors beside it; the service is a real one."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import threading
import unicodedata
import urllib.request
import uuid
from contextlib import closing
from pathlib import Path

import pytest
from conftest import open_at

from memkit import embed, files, fts
from memkit.errors import ConflictError, DiskError, EmbedError, LockTimeout, MemkitError, UnsupportedError
from memkit.vectors import hash_of
from memkit.wanted import wanted

ROOT = Path(__file__).parents[1]
SECRET = "Qxzjkvwy秘密口令甲乙"
BODY = f"{SECRET} is the pass phrase"
PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]


def write(root, path, text):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def opened(root, **options):
    return open_at(root, **{"layout": "workspace", **options})


def unindexed(root):
    return opened(root, index=root.parent / f"none-{uuid.uuid4().hex}.sqlite")


def index_of(root):
    return root / "memory/index.sqlite"


def places(result):
    return sorted(zip(result.frame["path"], result.frame["line"], strict=True))


def content(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def trigrams(target):
    """Return the terms of the index as FTS5 holds them."""
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro", uri=True)) as conn:
        conn.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, search, row)")
        return {row[0] for row in conn.execute("SELECT term FROM temp.terms")}


def left_of(target, text=SECRET):
    """Return what of a text is still in the file of an index."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    raw = target.read_bytes()
    found = [form for form in (text, folded) if form.encode() in raw]
    return found + [form for form in (folded[n : n + 3] for n in range(len(folded) - 2)) if form in trigrams(target)]


def query_of(target, sql):
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro", uri=True)) as conn:
        return conn.execute(sql).fetchall()


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "vault"
    write(folder, "MEMORY.md", "## Store\n- 坚果云 longterm\n")
    write(folder, "memory/2025-02-03.md", f"- 坚果云 one\n- [计划] {BODY}\n- 坚果云 two\n")
    write(folder, "memory/2025-02-28.md", f"- {BODY}\n- tea\n")
    return folder


@pytest.fixture
def impatient(monkeypatch):
    """Wait for no lock of SQLite's."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout=0.0, **options: connect(path, min(timeout, 0.05), **options))


@pytest.fixture
def locked(root):
    """Return a function that makes another connection hold the index for itself; the test's end lets go."""
    held = []

    def lock(target, how="EXCLUSIVE"):
        conn = sqlite3.connect(target, isolation_level=None)
        held.append(conn)
        conn.execute(f"BEGIN {how}")
        conn.execute("SELECT count(*) FROM files").fetchall()
        return conn

    yield lock
    for conn in held:
        conn.close()


# ---- sync


def test_a_sync_says_what_it_came_to(root):
    mem = opened(root)
    done = mem.sync()
    assert (done.path, done.files, done.chunks, done.changed, done.vectors, done.warning) == (
        str(index_of(root)),
        3,
        6,
        3,
        0,
        "",
    )
    assert 0 <= done.seconds < 60
    mem.append("new")
    assert (mem.sync().chunks, mem.sync().changed) == (7, 0)
    (root / "memory/2025-02-03.md").unlink()
    again = mem.sync()
    assert (again.files, again.chunks, again.changed) == (2, 4, 1)
    rebuilt = mem.sync(rebuild=True)
    assert (rebuilt.files, rebuilt.chunks) == (2, 4)


def test_the_index_holds_what_entries_says(root, tmp_path):
    write(root, "memory/dreaming/x.md", "- a dream\n")
    write(root, "memory/notes/x.md", "# Heading\n\ntext\n\n```\ncode\n```\n")
    write(root, "memory/empty.md", "")
    transcript = write(tmp_path, "s.jsonl", '{"role": "user", "content": "said"}\n')
    extra = write(tmp_path, "e.txt", "extra\n")
    mem = opened(root, session=transcript, extra=[str(extra)])
    done = mem.sync()
    held = fts.find(index_of(root), []).drop(columns="score").sort_values(["path", "line"], ignore_index=True)
    own = mem.entries().sort_values(["path", "line"], ignore_index=True)
    assert held.equals(own)
    assert done.chunks == len(own)
    assert set(fts.look(index_of(root)).files) == {*own["path"], "memory/empty.md"}


def test_a_second_sync_writes_nothing(root):
    mem = opened(root)
    mem.sync()
    before = content(root)
    for store in (mem, opened(root), opened(root, tz="UTC")):
        assert store.sync().changed == 0
    assert content(root) == before


def test_a_touched_file_is_not_read_again(root):
    mem = opened(root)
    mem.sync()
    os.utime(root / "MEMORY.md", ns=(5, 5))
    assert mem.sync().changed == 0
    assert fts.look(index_of(root)).files["MEMORY.md"][:2] == ((root / "MEMORY.md").stat().st_size, 5)


def test_a_sync_changes_no_memory_file(root):
    before = content(root)
    opened(root).sync()
    opened(root).sync(rebuild=True)
    after = content(root)
    assert {path: after.pop(path) for path in before} == before
    assert list(after) == [index_of(root)]


def test_a_store_that_is_not_there_yet_gets_its_folder(tmp_path):
    mem = opened(tmp_path / "none")
    assert (mem.sync().files, mem.sync().chunks) == (0, 0)
    assert not len(mem.search("x"))
    mem.append("zebra")
    assert len(mem.search("zebra")) == 1
    write(tmp_path / "flat", "MEMORY.md", "- zebra\n")
    assert opened(tmp_path / "flat").sync().chunks == 1
    assert opened(tmp_path / "flat").search("zebra").provider == "fts5"


@pytest.mark.parametrize("layout", ["archive", "layers"])
def test_other_layouts_have_no_index(copied, layout):
    store = copied(layout)
    before = content(store)
    with pytest.raises(UnsupportedError, match="workspace"):
        open_at(store).sync()
    with pytest.raises(UnsupportedError):
        open_at(store, index=store / "x.db")
    assert content(store) == before


@pytest.mark.parametrize("rebuild", [False, True])
def test_another_programs_file_is_refused_and_the_way_out_named(root, rebuild):
    with closing(sqlite3.connect(index_of(root))) as conn, conn:
        conn.execute("CREATE TABLE theirs (x)")
    before = content(root)
    with pytest.raises(ConflictError, match="MEMORY_INDEX_PATH"):
        opened(root).sync(rebuild=rebuild)
    assert content(root) == before


@pytest.mark.parametrize("name", ["memory/2025-02-27.md", "MEMORY.md", "memory/note.md"])
def test_an_index_is_not_put_where_a_memory_belongs(tmp_path, name):
    with pytest.raises(MemkitError):
        opened(tmp_path / "vault", index=tmp_path / "vault" / name).sync()
    assert not (tmp_path / "vault" / name).exists()


def test_a_file_that_could_not_be_read_for_a_moment_is_found_later(root, monkeypatch):
    mem = opened(root)
    reading = files.read
    with monkeypatch.context() as patch:
        patch.setattr(
            files, "read", lambda r, f, s=None: "unreadable: denied" if f.path == "memory/2025-02-03.md" else reading(r, f, s)
        )
        mem.sync()
    assert places(opened(root).search("坚果云")) == places(unindexed(root).search("坚果云"))
    mem.sync()
    assert places(opened(root).search("坚果云")) == places(unindexed(root).search("坚果云"))


def test_a_file_that_changes_while_it_is_synced_is_found_as_it_is(root, monkeypatch):
    reading = files.read

    def late(folder, fact, session=None):
        doc = reading(folder, fact, session)
        if fact.path == "MEMORY.md":
            write(root, "MEMORY.md", "- 坚果云 changed meanwhile\n")
        return doc

    with monkeypatch.context() as patch:
        patch.setattr(files, "read", late)
        opened(root).sync()
    assert places(opened(root).search("meanwhile")) == [("MEMORY.md", 1)]
    assert not len(opened(root).search("longterm"))


def test_a_file_that_changes_back_after_its_hash_was_taken_is_found_as_it_is(root, monkeypatch):
    hashing, first = files.sha256, (root / "MEMORY.md").read_text()

    def early(folder, fact):
        digest = hashing(folder, fact)
        write(root, "MEMORY.md", "- lion meanwhile, and longer than before\n")
        return digest

    with monkeypatch.context() as patch:
        patch.setattr(files, "sha256", early)
        opened(root).sync()
    write(root, "MEMORY.md", first)
    os.utime(root / "MEMORY.md", ns=(1, 10**18))
    opened(root).sync()
    assert not len(opened(root).search("lion"))
    assert len(opened(root).search("longterm")) == 1


def test_writers_need_not_wait_for_a_reader_of_the_index(root, locked):
    mem = opened(root)
    mem.sync()
    locked(index_of(root), "DEFERRED")
    mem.append("zebra")
    assert len(mem.search("zebra")) == 1


def test_a_locked_index_is_told_and_left(root, locked, impatient):
    mem = opened(root)
    mem.sync()
    mem.append("zebra")
    conn = locked(index_of(root))
    for rebuild in (False, True):
        with pytest.raises(LockTimeout, match=r"index\.sqlite: another program (holds|is writing) it.*try again"):
            mem.sync(rebuild=rebuild)
    conn.execute("ROLLBACK")
    assert mem.sync().changed == 1


def test_a_full_disk_is_told_and_leaves_the_old_index(root, monkeypatch):
    mem = opened(root)
    mem.sync()
    before = index_of(root).read_bytes()
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(DiskError, match="make room"):
        mem.sync(rebuild=True)
    assert index_of(root).read_bytes() == before
    assert [path.name for path in index_of(root).parent.iterdir() if path.suffix not in (".md", ".sqlite")] == []


DYING = """
import os, signal, sys
from memkit.fts import fill
import memkit

add, after = fill._add, int(sys.argv[2])
fill._FILES = 1

def dying(*args):
    global after
    add(*args)
    after -= 1
    if not after:
        os.kill(os.getpid(), signal.SIGKILL)

fill._add = dying
memkit.open(sys.argv[1], layout="workspace", tz="Asia/Shanghai").sync(rebuild=sys.argv[3] == "rebuild")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("after", [2])
@pytest.mark.parametrize("how", ["first", "next", "rebuild"])
def test_a_kill_leaves_the_index_old_or_new(root, after, how):
    if how != "first":
        opened(root).sync()
    old = fts.look(index_of(root)).files if how != "first" else {}
    for path in list(root.rglob("*.md")):
        path.write_text(path.read_text() + "\n- 坚果云 more\n")
    child = [sys.executable, "-c", DYING, root, str(after), how]
    done = subprocess.run(child, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    wanted = places(unindexed(root).search("坚果云"))
    assert places(opened(root).search("坚果云")) == wanted
    look = fts.look(index_of(root))
    assert (look.state, look.files) == (("ok", old) if how != "first" else ("missing", {})) or "stopped halfway" in look.reason
    assert opened(root).sync().files == 3
    assert places(opened(root).search("坚果云")) == wanted
    assert opened(root).search("坚果云").provider == "fts5"


SYNCING = """
import sys, memkit
mem = memkit.open(sys.argv[1], layout="workspace", tz="Asia/Shanghai")
for n in range(6):
    mem.append(f"zebra of{sys.argv[2]} n{n}")
    mem.sync(rebuild=n % 3 == int(sys.argv[2]))
    assert len(mem.search(f"zebra of{sys.argv[2]}")) == n + 1
"""


def test_two_processes_may_append_and_sync_at_once(root):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", SYNCING, root]
    both = [subprocess.Popen([*command, str(n)], env=environment, stderr=subprocess.PIPE) for n in range(2)]
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in both]
    assert [code for _, code in ends] == [0, 0], ends
    mem = opened(root)
    assert mem.sync().changed == 0
    assert len(mem.search("zebra")) == 12
    assert [path.name for path in index_of(root).parent.iterdir() if path.suffix != ".md"] == ["index.sqlite"]


def test_an_index_is_no_finding(root):
    mem = opened(root)
    before = mem.audit().frame.drop(columns="fingerprint")
    mem.sync()
    assert mem.audit().frame.drop(columns="fingerprint").equals(before)
    assert "memory/index.sqlite" not in set(mem.entries()["path"])


# ---- forgetting for good


def test_forgetting_leaves_nothing_in_the_index(root):
    mem = opened(root)
    mem.sync()
    assert left_of(index_of(root))
    plan = mem.forget(BODY)
    assert "memory/index.sqlite" in plan.rows["row"].tolist()
    assert "index.sqlite" in repr(plan)
    assert left_of(index_of(root))  # it is a plan
    plan.apply()
    assert left_of(index_of(root)) == []
    assert not len(mem.search(SECRET))
    assert len(mem.search("坚果云")) == 3
    assert mem.search("坚果云").provider == "fts5"
    assert mem.sync().changed == 0
    assert [path.name for path in index_of(root).parent.iterdir() if path.suffix != ".md"] == ["index.sqlite"]


def test_a_plan_does_not_warn_of_the_index_that_it_rebuilds(root):
    mem = opened(root)
    mem.sync()
    assert not [warning for warning in mem.forget(BODY).warnings if "index.sqlite" in warning]


def test_without_an_index_none_is_named_nor_made(root):
    plan = opened(root).forget(BODY)
    assert not plan.rows["row"].str.contains("sqlite").any()
    plan.apply()
    assert not index_of(root).exists()


def test_an_index_that_came_after_the_plan_is_cleared_too(root):
    mem = opened(root)
    plan = mem.forget(BODY)
    opened(root).sync()
    plan.apply()
    assert left_of(index_of(root)) == []


def test_replacing_clears_the_index_too(root):
    mem = opened(root)
    mem.sync()
    mem.forget(BODY, replacement="harmless").apply()
    assert left_of(index_of(root)) == []
    assert len(mem.search("harmless")) == 2


def test_a_plan_without_some_rows_clears_the_index_too(root):
    mem = opened(root)
    mem.sync()
    rows = mem.entries()
    rows = rows[rows["text"].isin([BODY, "tea"])]
    plan = mem.forget(rows).without(2)
    assert plan.rows["row"].tolist()[-1] == "memory/index.sqlite"
    plan.apply()
    assert len(mem.search("tea")) == 1
    assert left_of(index_of(root)) == []


def test_forgetting_another_entry_leaves_this_one(root):
    mem = opened(root)
    mem.sync()
    mem.forget("tea").apply()
    assert left_of(index_of(root))
    assert len(mem.search(SECRET)) == 2


def test_pushing_with_forget_missing_leaves_nothing_in_the_index(root):
    mem = opened(root)
    mem.sync()
    frame = mem.entries(editable=True)
    plan = mem.push(frame[~frame["text"].str.contains(SECRET)], forget_missing=True)
    assert "memory/index.sqlite" in plan.rows["row"].tolist()
    plan.apply()
    assert left_of(index_of(root)) == []
    assert not len(mem.search(SECRET))


def test_a_text_that_only_the_index_still_holds_can_be_forgotten(root):
    mem = opened(root)
    mem.sync()
    for path in root.rglob("*.md"):
        path.write_text(path.read_text().replace(BODY, "-"))
    plan = mem.forget(BODY)
    assert "memory/index.sqlite" in plan.rows["row"].tolist()
    plan.apply()
    assert left_of(index_of(root)) == []


def spoiled(target, kind):
    raw = bytearray(target.read_bytes())
    if kind == "without its head":
        raw[:100] = b"\0" * 100
    elif kind == "cut short":
        del raw[len(raw) // 2 :]
    elif kind == "damaged inside":
        raw[4096:8192] = b"\xa5" * 4096
    elif kind == "of another version":
        raw[60:64] = b"\0\0\0\1"
    target.write_bytes(raw)


@pytest.mark.parametrize("kind", ["cut short", "damaged inside", "of another version"])
def test_a_spoiled_index_of_ours_is_cleared(root, kind):
    mem = opened(root)
    mem.sync()
    spoiled(index_of(root), kind)
    mem.forget(BODY).apply()
    assert left_of(index_of(root)) == []
    assert mem.search("坚果云").provider == "fts5"


@pytest.mark.parametrize("elsewhere", [False, True])
def test_an_index_that_cannot_be_told_to_be_ours_is_named(root, tmp_path, elsewhere):
    target = tmp_path / "x/index.db" if elsewhere else index_of(root)
    mem = opened(root, index=target)
    mem.sync()
    spoiled(target, "without its head")
    before = target.read_bytes()
    plan = mem.forget(BODY)
    assert [warning for warning in plan.warnings if target.name in warning]
    assert target.name in repr(plan)
    plan.apply()
    assert target.read_bytes() == before


def test_another_programs_file_is_left_and_named(root):
    with closing(sqlite3.connect(index_of(root))) as conn, conn:
        conn.execute("CREATE TABLE theirs (x)")
        conn.execute("INSERT INTO theirs VALUES (?)", (BODY,))
    before = index_of(root).read_bytes()
    plan = opened(root).forget(BODY)
    assert [warning for warning in plan.warnings if "index.sqlite" in warning]
    plan.apply()
    assert index_of(root).read_bytes() == before
    assert SECRET not in (root / "memory/2025-02-03.md").read_text()


@pytest.mark.parametrize("how", ["EXCLUSIVE", "DEFERRED"])
@pytest.mark.parametrize("verb", ["forget", "push"])
def test_a_locked_index_is_an_error_that_says_what_is_left(root, locked, impatient, how, verb):
    mem = opened(root)
    mem.sync()
    frame = mem.entries(editable=True)
    missing = frame[~frame["text"].str.contains(SECRET)]
    plan = mem.forget(BODY) if verb == "forget" else mem.push(missing, forget_missing=True)
    conn = locked(index_of(root), how)
    with pytest.raises(LockTimeout, match=r"the files are done.*index still holds it.*sync\(rebuild=True\)"):
        plan.apply()
    assert SECRET not in (root / "memory/2025-02-03.md").read_text()
    conn.close()
    assert left_of(index_of(root))
    mem.sync(rebuild=True)
    assert left_of(index_of(root)) == []


def test_a_manifest_is_kept_though_the_index_was_locked(root, tmp_path, locked, impatient):
    mem = opened(root)
    mem.sync()
    mem.manifest(tmp_path / "m.parquet")
    plan = mem.forget(BODY, manifest=tmp_path / "m.parquet")
    conn = locked(index_of(root))
    with pytest.raises(LockTimeout):
        plan.apply()
    conn.close()
    assert mem.audit(against=tmp_path / "m.parquet").ok


def test_what_a_killed_writer_left_beside_the_index_goes_too(root):
    mem = opened(root)
    mem.sync()
    journal = index_of(root).with_name("index.sqlite-journal")
    shutil.copy(index_of(root), journal)
    mem.forget(BODY).apply()
    assert not journal.exists()


# ---- vectors


class Service:
    """One room of the service, its options for open(), and what was asked in it."""

    def __init__(self, port, mode="normal"):
        self.root = f"http://127.0.0.1:{port}/{mode}/{uuid.uuid4().hex}"

    def options(self, **more):
        return {"embed": {"key": "sk-test", "url": f"{self.root}/v1", "model": "test-model", **more}}

    def asked(self):
        """Return the texts of each call."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.root}/requests") as answer:
            return [call["input"] for call in json.load(answer)]


@pytest.fixture(scope="module")
def port():
    script = Path(__file__).parent / "embedding_server.py"
    process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        try:
            process.wait(30)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture
def service(port, monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(embed.embed.__kwdefaults__, "sleep", lambda seconds: None)
    return lambda mode="normal": Service(port, mode)


@pytest.fixture
def offline(monkeypatch):
    """Make every way to the network fail with what no code of ours catches."""

    class Connected(BaseException):
        pass

    def refuse(*args, **options):
        raise Connected

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return Connected


def vectors(root):
    return query_of(index_of(root), "SELECT hash, model, dim FROM vectors")


def hashes(*texts):
    return {hash_of(text) for text in texts}


def test_nothing_connects_without_the_switch(root, offline, monkeypatch):
    for name in ("OPENAI_API_KEY", "EMBEDDING_API_KEY"):
        monkeypatch.setenv(name, "sk-test")
    monkeypatch.setenv("MEMORY_EMBEDDING_ENABLED", "1")  # the environment is the tools' and the CLI's
    mem = opened(root)
    mem.search("坚果云")
    mem.sync()
    assert mem.search("坚果云").provider == "fts5"
    mem.append("x")
    mem.entries(), mem.audit(), repr(mem), mem.forget(BODY).apply(), mem.sync(rebuild=True)
    assert len(mem.search("坚果云")) == 3


def test_with_the_switch_only_search_and_sync_connect(root, offline, service):
    opened(root).sync()
    mem = opened(root, **service().options())
    mem.entries(), mem.audit(), repr(mem), mem.append("x"), mem.mark_forgotten("y"), mem.files()
    with pytest.raises(offline):
        mem.sync()
    with pytest.raises(offline):
        mem.search("坚果云")
    index_of(root).unlink()
    assert mem.search("坚果云").provider == "file-keyword"


def test_a_weight_of_zero_asks_for_nothing(root, offline, service):
    mem = opened(root, **service().options(vector_weight=0))
    assert mem.sync().vectors == 0
    result = mem.search("坚果云")
    assert (result.provider, result.warnings, len(result)) == ("fts5", (), 3)


@pytest.mark.parametrize(
    ("weights", "provider"),
    [
        ({}, "hybrid"),
        ({"text_weight": 0}, "vector"),
        ({"vector_weight": 1, "text_weight": 0}, "vector"),
        ({"vector_weight": 0}, "fts5"),
        ({"vector_weight": 0, "text_weight": 0}, "fts5"),
    ],
)
def test_the_weights_say_who_answers(root, service, weights, provider):
    mem = opened(root, **service().options(**weights))
    mem.sync()
    result = mem.search("坚果云")
    assert (result.provider, result.step, result.warnings) == (provider, "index", ())
    assert set(places(unindexed(root).search("坚果云"))) <= set(places(result))


def test_what_is_near_is_found_without_the_word(root, service):
    mem = opened(root, **service().options())
    mem.sync()
    result = mem.search("果坚云 two")
    assert ("memory/2025-02-03.md", 3) in places(result)
    assert (result.frame["score"].iloc[0], result.frame["text"].iloc[0]) == (pytest.approx(0.7), "坚果云 two")
    assert not len(opened(root).search("果坚云 two"))
    assert result.frame["score"].is_monotonic_decreasing
    assert len(mem.search("果坚云 two", limit=1)) == 1


def test_only_changed_entries_are_sent(root, service):
    room = service()
    mem = opened(root, **room.options())
    assert mem.sync().vectors == 6
    first = [text for call in room.asked() for text in call]
    assert len(first) == len(set(first))
    mem.append("something new", tag="t")
    mem.sync()
    mem.sync()
    os.utime(root / "MEMORY.md", ns=(1, 1))
    mem.sync()
    assert room.asked()[1:] == [["[t] something new"]]


def test_a_sync_with_nothing_new_sends_and_writes_nothing(root, service):
    room = service()
    mem = opened(root, **room.options())
    mem.sync()
    before = content(root)
    assert mem.sync().vectors == mem.sync().vectors
    assert content(root) == before
    assert len(room.asked()) == 1


def test_a_rebuild_keeps_the_vectors_and_sends_nothing(root, service):
    room = service()
    mem = opened(root, **room.options())
    mem.sync()
    before = sorted(vectors(root))
    opened(root).sync(rebuild=True)  # also with embeddings off
    mem.sync(rebuild=True)
    assert sorted(vectors(root)) == before
    assert len(room.asked()) == 1
    assert mem.search("坚果云").warnings == ()


def test_a_rebuild_beside_a_busy_writer_keeps_the_vectors(root, service, monkeypatch):
    room = service()
    mem = opened(root, **room.options())
    mem.sync()
    conn = sqlite3.connect(index_of(root), isolation_level=None, check_same_thread=False)
    conn.execute("BEGIN EXCLUSIVE")
    timer = threading.Timer(1.6, lambda: (conn.execute("ROLLBACK"), conn.close()))
    timer.start()
    mem.sync(rebuild=True)
    timer.join()
    assert len(room.asked()) == 1


def test_an_index_of_another_version_keeps_its_vectors(root, service):
    room = service()
    mem = opened(root, **room.options())
    mem.sync()
    with closing(sqlite3.connect(index_of(root))) as conn, conn:
        conn.execute("PRAGMA user_version=1")
    mem.sync()
    assert len(room.asked()) == 1


def test_after_forgetting_no_vector_of_it_is_left(root, service):
    room = service()
    mem = opened(root, **room.options())
    mem.sync()
    gone = hashes(f"[计划] {BODY}", BODY)
    assert gone <= {key for key, _, _ in vectors(root)}
    mem.forget(mem.search(SECRET).frame[lambda frame: frame["text"].str.contains(SECRET)]).apply()
    assert not gone & {key for key, _, _ in vectors(root)}
    assert len(vectors(root)) == 4
    assert len(room.asked()) == 2  # the sync and the search
    assert left_of(index_of(root)) == []
    raw = index_of(root).read_bytes()
    assert not [key for key in gone if key in raw]


def test_after_forgetting_with_embeddings_off_no_vector_is_left(root, service):
    opened(root, **service().options()).sync()
    mem = opened(root)
    mem.forget(mem.search(SECRET).frame).apply()
    assert {key for key, _, _ in vectors(root)} == hashes("坚果云 longterm", "坚果云 one", "坚果云 two", "tea")


def test_vectors_of_what_is_no_longer_there_go_with_a_plain_sync_too(root, service):
    opened(root, **service().options()).sync()
    (root / "memory/2025-02-03.md").unlink()
    opened(root).sync()
    assert not hashes(f"[计划] {BODY}", "坚果云 one") & {key for key, _, _ in vectors(root)}


@pytest.mark.parametrize("mode", ["failing", "greedy", "badkey", "notjson", "short", "dropping"])
def test_a_service_that_fails_leaves_the_words(root, service, mode):
    good = opened(root, **service().options())
    good.sync()
    bad = opened(root, **service(mode).options())
    result = bad.search("坚果云")
    assert (result.provider, places(result)) == ("fts5", places(unindexed(root).search("坚果云")))
    assert result.warnings[0].startswith("embeddings from 127.0.0.1:")
    assert "sk-test" not in repr(result)
    bad.append("something new")
    done = bad.sync()
    assert done.warning.startswith("embeddings from 127.0.0.1:")
    assert (done.chunks, done.changed) == (7, 1)
    assert len(opened(root).search("something new")) == 1
    assert done.vectors == len(vectors(root))


def test_a_dead_service_leaves_the_words(root, service):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    mem = opened(root, embed={"key": "sk-test", "url": url})
    done = mem.sync()
    assert done.chunks == 6
    assert "embeddings from" in done.warning
    result = mem.search("坚果云")
    assert (result.provider, len(result.warnings), len(result)) == ("fts5", 1, 3)


def test_a_silent_service_leaves_the_words(root, service, monkeypatch):
    opened(root, **service().options()).sync()
    making = embed._client
    monkeypatch.setattr(embed, "_client", lambda settings, timeout: making(settings, 0.2))
    result = opened(root, **service("hanging").options()).search("坚果云")
    assert (result.provider, places(result)) == ("fts5", places(unindexed(root).search("坚果云")))
    assert "no answer within" in result.warnings[0]


def test_a_failing_part_keeps_the_parts_before(root, service, monkeypatch):
    monkeypatch.setattr(sys.modules["memkit.index"], "_PART", 2)
    asking, calls = embed.embed, []

    def failing(texts, settings, **options):
        calls.append(len(texts))
        if len(calls) == 2:
            raise EmbedError("embeddings from x: no")
        return asking(texts, settings, **options)

    room = service()
    mem = opened(root, **room.options())
    monkeypatch.setattr(embed, "embed", failing)
    assert mem.sync().warning == "embeddings from x: no"
    assert len(vectors(root)) == 2
    done = mem.sync()
    assert (done.warning, done.vectors) == ("", len(vectors(root)))
    sent = [text for call in room.asked() for text in call]
    assert len(sent) == len(set(sent)) == done.vectors


def test_entries_without_a_vector_are_found_and_counted(root, service):
    mem = opened(root, **service().options())
    mem.sync()
    mem.append("坚果云 new")
    result = mem.search("坚果云")
    assert len(result) >= 4
    assert result.warnings == ("1 entries have no vector of this service yet; sync() asks for them",)
    mem.sync()
    assert mem.search("坚果云").warnings == ()


def shorten(root):
    with closing(sqlite3.connect(index_of(root))) as conn, conn:
        conn.execute("UPDATE vectors SET dim = dim - 1, data = substr(data, 1, 4 * (dim - 1))")


def test_a_service_that_changes_its_dimension_is_asked_again(root, service):
    room = service()
    mem = opened(root, **room.options())
    mem.sync()
    shorten(root)
    assert "have no vector" in mem.search("坚果云").warnings[0]
    mem.append("something new")
    for _ in range(2):
        assert mem.sync().vectors == len(vectors(root))
    assert mem.search("坚果云").warnings == ()


def test_vectors_of_another_dimension_do_not_break_a_search(root, service):
    mem = opened(root, **service().options())
    mem.sync()
    shorten(root)
    assert set(places(unindexed(root).search("坚果云"))) <= set(places(mem.search("坚果云")))


def test_each_model_has_its_own_vectors(root, service):
    one, other = service(), service()
    opened(root, **one.options()).sync()
    opened(root, **other.options(model="another")).sync()
    opened(root, **one.options()).sync()
    assert [len(room.asked()) for room in (one, other)] == [1, 1]
    assert {model for _, model, _ in vectors(root)} == {"test-model", "another"}
    opened(root).forget(BODY, date="2025-02-03").apply()
    assert hash_of(f"[计划] {BODY}") not in {key for key, _, _ in vectors(root)}


def test_what_was_forgotten_is_not_near_either(root, service):
    mem = opened(root, **service().options())
    mem.mark_forgotten("坚果云 two")
    mem.sync()
    assert "坚果云 two" not in set(mem.search("果坚云 two").frame["text"])
    assert "坚果云 two" in set(mem.search("果坚云 two", include_forgotten=True).frame["text"])


def test_writers_need_not_wait_while_the_service_is_asked(root, service, monkeypatch):
    asked, go_on = threading.Event(), threading.Event()
    asking = embed.embed

    def slow(texts, settings, **options):
        asked.set()
        go_on.wait(30)
        return asking(texts, settings, **options)

    monkeypatch.setattr(embed, "embed", slow)
    mem, writer = opened(root, **service().options()), opened(root, lock_timeout=0.2)
    thread = threading.Thread(target=mem.sync)
    thread.start()
    try:
        assert asked.wait(30)
        writer.append("while it waits")
    finally:
        go_on.set()
        thread.join(60)
    assert len(writer.search("while it waits")) == 1


KILLED = """
import os, signal, sys
import memkit
from memkit import embed, fts, index
from memkit.wanted import wanted

building = fts.sync

def dying(*args, **options):
    building(*args, **options)
    os.kill(os.getpid(), signal.SIGKILL)

fts.sync = dying
memkit.open(sys.argv[1], layout="workspace", embed={"key": "sk-test", "model": "test-model"}).sync(rebuild=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_kill_during_a_rebuild_loses_no_vectors(root, service):
    room = service()
    mem = opened(root, **room.options())
    mem.sync()
    child = [sys.executable, "-c", textwrap.dedent(KILLED), root]
    done = subprocess.run(child, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    mem.sync()
    assert len(room.asked()) == 1


def test_a_vector_asked_for_before_forgetting_is_not_kept(root, service, monkeypatch):
    asking = embed.embed

    def meanwhile(texts, settings, **options):
        opened(root).forget(BODY).apply()
        return asking(texts, settings, **options)

    monkeypatch.setattr(embed, "embed", meanwhile)
    opened(root, **service().options()).sync()
    assert not hashes(BODY, f"[计划] {BODY}") & {key for key, _, _ in vectors(root)}
    assert left_of(index_of(root)) == []


def test_a_plain_sync_reads_no_vectors(root, service, monkeypatch):
    opened(root, **service().options()).sync()
    monkeypatch.setattr(sys.modules["memkit.vectors"], "unpacked", None)
    assert opened(root).sync().changed == 0


def test_what_could_not_be_read_is_not_counted_as_held(root, monkeypatch):
    reading = files.read_plain  # a day's file
    lost = "memory/2025-02-03.md"
    monkeypatch.setattr(files, "read_plain", lambda r, f: "unreadable: denied" if f.path == lost else reading(r, f))
    done = opened(root).sync()
    assert (done.files, done.chunks) == (2, 3)
    assert done.changed >= 2
    assert set(fts.look(index_of(root)).files) == {"MEMORY.md", "memory/2025-02-28.md"}


@pytest.mark.parametrize("mode", ["failing", "busy"])
def test_a_refreshing_search_waits_little_for_a_service(root, service, monkeypatch, mode):
    opened(root).sync()
    waits = []
    mem = opened(root, **service(mode).options())
    monkeypatch.setitem(embed.embed.__kwdefaults__, "sleep", waits.append)
    result = mem._finder.search(wanted(["坚果云"]), refresh=True)
    assert set(places(unindexed(root).search("坚果云"))) <= set(places(result))
    assert sum(waits) <= 6


def test_a_refreshing_search_does_not_wait_for_other_writers(root):
    mem, other = opened(root, lock_timeout=3.0), opened(root)
    mem.sync()
    mem.append("坚果云 new")
    release = threading.Event()
    held = threading.Event()

    def writing():
        with other._desk.writing():
            held.set()
            release.wait(30)

    writer = threading.Thread(target=writing)
    writer.start()
    assert held.wait(30)
    timer = threading.Timer(2.0, release.set)
    timer.start()
    result = mem._finder.search(wanted(["坚果云"]), refresh=True)
    early = not release.is_set()
    release.set()
    timer.cancel()
    writer.join(30)
    assert len(result) == 4
    assert early


def test_vectors_of_an_empty_store(tmp_path, service):
    mem = opened(tmp_path / "none", **service().options())
    assert mem.sync().vectors == 0
    assert not len(mem.search("x"))
    mem.append("zebra")
    assert len(mem.search("zebra")) == 1
    assert mem.sync().vectors == 1
    assert mem.search("zebra").frame["score"].tolist()[0] >= 0.7
    assert mem.search("zebra", limit=0).frame.empty
