"""Writing from several processes, and writers that are killed: SIGKILL before each call to the system, four processes at once.

Each child is a real process. A kill "after" a call is the kill before the next one, and halves of writes are killed too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memkit
from memkit import files
from memkit.errors import LockTimeout
from memkit.files import folders, lock, write
from memkit.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no SIGKILL and no forkserver there")

SAMPLES = Path(__file__).parent.parent / "data-samples"
CLOCK = "2025-02-28T22:00+08:00"
ZONE = "Asia/Shanghai"
LAYOUT_NAMES = ("archive", "workspace", "layers")
PATIENCE = 300  # seconds after which a child can only hang

if os.name != "nt":
    CONTEXT = multiprocessing.get_context("forkserver")
    CONTEXT.set_forkserver_preload(["pytest", "memkit.store"])


def opened(layout: str, vault: Path) -> Store:
    """Return a copy of a layout's sample as a store, two hours before midnight."""
    shutil.copytree(SAMPLES / layout, vault)
    return reopened(vault, layout)


def reopened(vault: Path, layout: str, **options: Any) -> Store:
    return memkit.open(vault, layout=layout, **{"now": CLOCK, "tz": ZONE, **options})


def content(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def temps(root: Path) -> list[Path]:
    return list(root.rglob(".*.tmp"))


def within(here: str, work: Callable[..., None], *given: Any) -> None:
    """Run in the child what the parent asked for, with the parent's memkit."""
    assert memkit.__file__ == here
    work(*given)


# ---- kills ----


class Deadly:
    """`os` as files sees it; the process kills itself before the n-th call, or (`half`) in the middle of the n-th write."""

    def __init__(self, at: int, half: bool):
        self.left, self.half = at, half

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if not callable(real) or name in ("fsencode", "walk"):
            return real

        def call(*args: Any, **options: Any) -> Any:
            self.left -= name == "write" or not self.half
            if self.left == 0:
                if self.half:
                    real(args[0], args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **options)

        return call


VERBS: dict[str, Callable[[Store], Any]] = {
    "append": lambda mem: mem.append("写到一半停电", **({"important": True} if mem.layout == "layers" else {})),
    "forget": lambda mem: mem.forget(mem.entries()["text"].iloc[0]).apply(),
    "store": lambda mem: mem.store("写到一半停电") if mem.layout == "workspace" else mem.append("写到一半停电"),
}


def dying(vault: Path, layout: str, verb: str, at: int, half: bool) -> None:
    mem = reopened(vault, layout)
    mem.entries()
    deadly = Deadly(at, half)
    for module in (write, folders, lock):
        module.os = deadly  # type: ignore[attr-defined]
    VERBS[verb](mem)


def prepared(layout: str, vault: Path) -> Store:
    """Return a store in which a write has more than one file to change, where the layout has such."""
    mem = opened(layout, vault)
    if layout == "archive":
        catalog = mem.root / "catalog/2025.tsv"
        catalog.write_bytes(catalog.read_bytes().partition(b"2025-02-26")[0])
    return mem


def outcome(root: Path, old: dict[str, bytes], new: dict[str, bytes]) -> str:
    """Return whether the files are all old, all new, or each one of both; anything else is a failure."""
    found = {path: data for path, data in content(root).items() if not path.endswith(".tmp")}
    for path in old.keys() | new.keys() | found.keys():
        assert found.get(path) in (old.get(path), new.get(path)), path
    return "old" if found == old else "new" if found == new else "between"


@pytest.mark.parametrize(
    ("layout", "verb"),
    [*((name, "append") for name in LAYOUT_NAMES), ("workspace", "store"), ("archive", "forget"), ("layers", "forget")],
)
def test_a_kill_at_any_call_leaves_each_file_old_or_new_and_no_lock(tmp_path: Path, layout: str, verb: str) -> None:
    mem = prepared(layout, tmp_path / "new")
    VERBS[verb](mem)
    old, new = content(prepared(layout, tmp_path / "old").root), content(mem.root)
    assert old != new

    def begin(at: int, half: bool) -> tuple[Store, Any]:
        mem = prepared(layout, tmp_path / f"{at} {half}")
        process = CONTEXT.Process(target=within, args=(memkit.__file__, dying, mem.vault, layout, verb, at, half))
        process.start()
        return mem, process

    def end(mem: Store, process: Any) -> str:
        process.join(PATIENCE)
        assert process.exitcode in (0, -signal.SIGKILL)
        found = outcome(mem.root, old, new)
        left = temps(mem.root)
        assert len(left) <= 1
        for path in left:
            os.utime(path, (time.time() - 601,) * 2)
        plan = reopened(mem.vault, layout, lock_timeout=0).append("下一个马上能写")
        assert (plan.added, plan.warnings) == (1, [])
        assert temps(mem.root) == []
        return "done" if process.exitcode == 0 else found

    def killed(*, half: bool) -> list[str]:
        seen: list[str] = []
        while "done" not in seen:
            running = [begin(at, half) for at in range(len(seen) + 1, len(seen) + 5)]
            seen += [end(*one) for one in running]
        return seen[: seen.index("done")]

    seen = killed(half=False)
    assert len(seen) > 15
    assert {"old", "new"} <= set(seen)
    halves = killed(half=True)
    assert halves[0] == "old"
    assert len(halves) == sum(old.get(path) != data for path, data in new.items())


# ---- several processes ----

EACH = 500


def clock_of(readings: Any, step: int) -> Callable[[], datetime]:
    """Return a clock that goes on by seven minutes with each entry, whoever writes it: all processes cross ten midnights."""

    def now() -> datetime:
        with readings.get_lock():
            readings.value += step
            return datetime.fromisoformat(CLOCK) + timedelta(minutes=7 * readings.value)

    return now


def appending(vault: Path, layout: str, who: int, home: Path, readings: Any, troubles: Any) -> None:
    os.environ["HOME"], os.environ["XDG_CACHE_HOME"] = str(home), str(home / "cache")
    mem = reopened(vault, layout, now=clock_of(readings, 1))
    for number in range(EACH):
        try:
            plan = mem.append(f"进程 {who} 的第 {number} 条，水壶响到降 B 为止", tag="并发")
            if plan.added != 1 or plan.warnings:
                troubles.put(f"{who}/{number}: added {plan.added}, {plan.warnings}")
        except Exception as error:
            troubles.put(f"{who}/{number}: {error!r}")


def beside(vault: Path, layout: str, readings: Any, troubles: Any, over: Any) -> None:
    """Do what else changes the store, again and again, until the entries are written."""
    mem = reopened(vault, layout, now=clock_of(readings, 0))
    number = 0
    while not over.is_set():
        number += 1
        try:
            if layout == "archive":
                mem.rebuild_catalog()
            elif layout == "layers":
                mem.hot_set(f"第 {number} 版正文")
                mem.topics_add("并发", "2025-03")
            else:
                mem.store(f"长期的第 {number} 条")
        except Exception as error:
            troubles.put(f"beside {number}: {error!r}")
        time.sleep(0.05)


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_four_processes_lose_nothing_while_others_rebuild_and_rewrite(tmp_path: Path, layout: str) -> None:
    vault = tmp_path / "vault"
    mem = opened(layout, vault)
    old = content(mem.root)
    readings, troubles, over = CONTEXT.Value("q", 0), CONTEXT.Queue(), CONTEXT.Event()
    other = CONTEXT.Process(target=within, args=(memkit.__file__, beside, vault, layout, readings, troubles, over))
    writers = [
        CONTEXT.Process(
            target=within, args=(memkit.__file__, appending, vault, layout, who, tmp_path / f"home {who}", readings, troubles)
        )
        for who in range(4)
    ]
    for process in (other, *writers):
        process.start()
    for process in writers:
        process.join(PATIENCE)
    over.set()
    other.join(PATIENCE)
    assert [process.exitcode for process in (other, *writers)] == [0] * 5
    assert troubles.empty(), troubles.get()
    assert readings.value == 4 * EACH

    entries = mem.entries()
    written = entries[entries["tag"] == "并发"]
    wanted = {f"进程 {who} 的第 {number} 条，水壶响到降 B 为止" for who in range(4) for number in range(EACH)}
    assert len(written) == len(wanted) == 4 * EACH
    assert set(written["text"]) == wanted
    assert written["date"].nunique() == 10 + 1
    whole = re.compile(r"- (\S+Z )?(\[\S+Z\] )?\[并发\] 进程 [0-3] 的第 [0-9]{1,3} 条，水壶响到降 B 为止")
    for path in written["path"].unique():
        rows = (mem.root / path).read_text("utf-8").split("\n")
        before = old.get(path, b"").decode().split("\n")
        torn = [
            row
            for row in rows
            if not whole.fullmatch(row) and row not in before and not row.startswith(("index: ", "date: ", "---", "#"))
        ]
        assert torn in ([], [""])
    assert temps(mem.root) == []
    assert not any(path.is_dir() and path.name.startswith(".") for path in mem.root.iterdir() if path.name != ".dreams")
    assert not list(tmp_path.glob("home */*"))
    beside_is_whole(mem, old)


def beside_is_whole(mem: Store, old: dict[str, bytes]) -> None:
    """Hold that what the other process wrote stands there whole."""
    if mem.layout == "archive":
        caught = reopened(mem.vault, "archive", now="2025-03-11T12:00+08:00")
        caught.catch_up()
        held = content(mem.root)
        caught.rebuild_catalog()
        assert content(mem.root) == held
        assert len(caught.catalog()) == len(caught.days()) - (caught.days()["date"].iloc[-1].date() == date(2025, 3, 11))
    elif mem.layout == "layers":
        hot = mem.hot()
        assert re.fullmatch(r"第 [0-9]+ 版正文", hot.content)
        assert len(hot.candidates) == 3
        assert hot.topics["topic"].tolist().count("并发") == 1
    else:
        text = (mem.root / "MEMORY.md").read_text("utf-8")
        stored = [int(number) for number in re.findall(r"^- \S+Z 长期的第 ([0-9]+) 条$", text, re.MULTILINE)]
        assert stored == list(range(1, len(stored) + 1))
        rows = iter(text.split("\n"))
        assert all(row in rows for row in old["MEMORY.md"].decode().split("\n") if row)


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
@pytest.mark.parametrize("shared", [True, False])
def test_threads_lose_nothing_with_one_store_or_each_its_own(tmp_path: Path, layout: str, shared: bool) -> None:
    mem = opened(layout, tmp_path / "vault")

    def append(who: int) -> int:
        own = mem if shared else reopened(tmp_path / "vault", layout)
        return sum(own.append(f"线程 {who} 的第 {number} 条").added for number in range(25))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(append, range(8))) == [25] * 8
    texts = mem.entries()["text"]
    assert set(texts[texts.str.startswith("线程")]) == {
        f"线程 {who} 的第 {number} 条" for who in range(8) for number in range(25)
    }
    assert texts.str.startswith("线程").sum() == 200


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_first_entries_of_four_processes_make_one_store(tmp_path: Path, layout: str) -> None:
    troubles = CONTEXT.Queue()
    writers = [
        CONTEXT.Process(target=within, args=(memkit.__file__, beginning, tmp_path / "a/new", layout, who, troubles))
        for who in range(4)
    ]
    for process in writers:
        process.start()
    for process in writers:
        process.join(PATIENCE)
    assert troubles.empty(), troubles.get()
    mem = reopened(tmp_path / "a/new", layout)
    assert sorted(mem.entries()["text"]) == [f"进程 {who} 的第 {number} 条" for who in range(4) for number in range(5)]


def beginning(root: Path, layout: str, who: int, troubles: Any) -> None:
    for number in range(5):
        try:
            with contextlib.suppress(memkit.BadArgument):
                reopened(root, layout).append("")  # takes back the folder it made, under the others' feet
            reopened(root, layout).append(f"进程 {who} 的第 {number} 条")
        except Exception as error:
            troubles.put(repr(error))


# ---- the lock ----


def holding(root: Path, ready: Any) -> None:
    with files.Lock(root, 5.0).held():
        ready.set()
        time.sleep(PATIENCE)


@contextlib.contextmanager
def held_by_another(root: Path) -> Iterator[Any]:
    ready = CONTEXT.Event()
    process = CONTEXT.Process(target=within, args=(memkit.__file__, holding, root, ready))
    process.start()
    assert ready.wait(PATIENCE)
    try:
        yield process
    finally:
        process.kill()
        process.join(PATIENCE)


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_who_waits_too_long_is_told_so_and_writes_once_the_holder_is_killed(tmp_path: Path, layout: str) -> None:
    mem = opened(layout, tmp_path / "vault")
    hasty = reopened(tmp_path / "vault", layout, lock_timeout=0.2)
    old = content(mem.root)
    with held_by_another(mem.root) as holder:
        plan = hasty.append("只看一眼", dry_run=True)
        with pytest.raises(LockTimeout, match=r"another writer holds it for over 0\.2 seconds; try again") as caught:
            hasty.append("等不及了")
        assert str(mem.root) in str(caught.value)
        with pytest.raises(LockTimeout):
            plan.apply()
        assert not plan.applied
        assert len(hasty.entries()) > 0
        assert content(mem.root) == old
        holder.kill()
        holder.join(PATIENCE)
        assert reopened(tmp_path / "vault", layout, lock_timeout=0).append("轮到我了").added == 1


def test_who_waits_writes_as_soon_as_the_holder_is_killed(tmp_path: Path) -> None:
    mem = opened("workspace", tmp_path / "vault")
    with held_by_another(mem.root) as holder:
        killer = threading.Timer(0.3, holder.kill)
        killer.start()
        assert reopened(tmp_path / "vault", "workspace", lock_timeout=PATIENCE).append("等到了").added == 1
        killer.join()


def test_a_program_started_meanwhile_does_not_hold_the_lock_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handles = []

    class Seen(Deadly):
        def open(self, *args: Any) -> int:
            handles.append(os.open(*args))
            return handles[-1]

    monkeypatch.setattr(lock, "os", Seen(0, False))
    with files.Lock(tmp_path, 0).held():
        heir = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=handles)
    try:
        with files.Lock(tmp_path, 0).held():
            assert heir.poll() is None
    finally:
        heir.communicate(b"\n")


def test_stamps_of_a_store_written_by_many_are_in_order(tmp_path: Path) -> None:
    """The clock is read under the lock, so the order of entries is that of their times."""
    mem = memkit.open(tmp_path / "new", layout="layers", tz=ZONE)

    def append(who: int) -> None:
        own = memkit.open(tmp_path / "new", layout="layers", tz=ZONE)
        for number in range(20):
            own.append(f"{who} 之 {number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(4)))
    for path in mem.days()["path"]:
        stamps = re.findall(r"^- \[(\S+)\]", (mem.root / path).read_text("utf-8"), re.MULTILINE)
        assert stamps == sorted(stamps)
        assert all(datetime.fromisoformat(stamp).tzinfo == UTC for stamp in stamps)
