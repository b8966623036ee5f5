"""What writing promises when something else goes wrong: full disks, other editors, midnight, links; for all three layouts.

Faults are injected into the calls to the system that files.write makes. Kills and processes: test_write_processes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import memkit
from memkit import files
from memkit.errors import BadArgument, ConflictError, DiskError, FrozenError, LockTimeout, MemkitError, PathError
from memkit.files import folders, lock, write
from memkit.layouts import LAYOUTS
from memkit.model import Edit
from memkit.store import Store

SAMPLES = Path(__file__).parent.parent / "data-samples"
CLOCK = "2025-02-28T22:00+08:00"
ZONE = "Asia/Shanghai"
TODAY = date(2025, 2, 28)
LAYOUT_NAMES = ("archive", "workspace", "layers")
TODAYS = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}

Act = Callable[[str, tuple[Any, ...]], None]


@pytest.fixture(params=LAYOUT_NAMES)
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def mem(layout: str, tmp_path: Path) -> Store:
    return opened(layout, tmp_path / "vault")


def opened(layout: str, vault: Path, **options: Any) -> Store:
    """Return a copy of a layout's sample as a store, an hour before midnight."""
    shutil.copytree(SAMPLES / layout, vault)
    return memkit.open(vault, **{"now": CLOCK, "tz": ZONE, **options})


def tree(folder: Path) -> dict[str, str]:
    """Return everything below a folder: a file by the hash of its bytes, a link by what it says."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        told = f"-> {path.readlink()}" if path.is_symlink() else "folder" if path.is_dir() else ""
        found[name] = told or hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return found


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def today_file(mem: Store) -> Path:
    return mem.root / TODAYS[mem.layout]


def by_hand(path: Path, text: str) -> bytes:
    """Change a file as an editor does; return what it holds then."""
    path.write_bytes(path.read_bytes() + text.encode())
    return path.read_bytes()


class System:
    """`os` as files.write sees it: every call is logged, and `act` may do something before it."""

    def __init__(self, act: Act):
        self.act = act
        self.log: list[str] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if not callable(real) or name in ("fsencode", "walk"):
            return real

        def call(*args: Any, **options: Any) -> Any:
            self.log.append(name)
            if name == "close":
                real(*args)
                self.act(name, args)
                return None
            self.act(name, args)
            return real(*args, **options)

        return call


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Callable[[Act], System]:
    """Return a function that puts something between memkit and the system."""

    def put(act: Act) -> System:
        between = System(act)
        monkeypatch.setattr(write, "os", between)
        monkeypatch.setattr(folders, "os", between)
        return between

    yield put
    monkeypatch.undo()


def failing(name: str, number: int, at: int = 1, within: str = "") -> Act:
    """Return what makes the n-th call of a name (on a path with `within` in it) fail."""
    seen = iter(range(1, 1_000_000))

    def act(called: str, args: tuple[Any, ...]) -> None:
        if called == name and within in str(args[:1]) and next(seen) == at:
            raise OSError(number, os.strerror(number), *args[:1])

    return act


ERRNOS = (errno.ENOSPC, errno.EIO, errno.EACCES)


class TestAFailingDisk:
    @staticmethod
    def trouble(work: Callable[[], object]) -> DiskError | None:
        try:
            work()
        except DiskError as error:
            return error
        return None

    @pytest.mark.parametrize("number", ERRNOS)
    def test_leaves_each_file_old_or_new_whichever_call_fails(
        self, mem: Store, system: Callable[[Act], System], number: int
    ) -> None:
        old, held = tree(mem.root), today_file(mem).read_bytes()
        refused = 0
        for at in range(1, 100):
            calls = iter(range(1, 1000))

            def act(name: str, args: tuple[Any, ...], at: int = at, calls: Any = calls) -> None:
                if next(calls) == at:
                    raise OSError(number, os.strerror(number))

            between = system(act)
            error = self.trouble(lambda: mem.append("磁盘满了也要记"))
            if error is not None:
                refused += 1
                assert tree(mem.root) == old
                assert str(error).startswith(f"{TODAYS[mem.layout]}: it could not be ")
                assert os.strerror(number).lower() in str(error)
                assert error.errno == number
            else:
                assert changed(old, tree(mem.root)) == {TODAYS[mem.layout]}
                today_file(mem).write_bytes(held)
            if len(between.log) < at:
                break
        assert refused >= 8  # open, read, write, fsync, replace among them

    @pytest.mark.parametrize("number", ERRNOS)
    @pytest.mark.parametrize(
        ("name", "within"), [("open", ".tmp"), ("write", ""), ("fsync", ""), ("chmod", ""), ("replace", ""), ("mkdir", "")]
    )
    def test_refuses_with_path_reason_and_cure(
        self, layout: str, tmp_path: Path, system: Callable[[Act], System], name: str, within: str, number: int
    ) -> None:
        mem = opened(layout, tmp_path / "vault", now="2026-03-01T22:00+08:00" if name == "mkdir" else CLOCK)
        path = mem._desk.layout.day_path(date(2026, 3, 1) if name == "mkdir" else TODAY)
        if name == "mkdir" and layout == "workspace":
            shutil.rmtree(mem.root / "memory")
        elif name == "chmod":
            today_file(mem).chmod(0o666)
        if layout == "archive":
            mem.catch_up()
        old = tree(mem.root)
        between = system(failing(name, number, within=within))
        with pytest.raises(DiskError, match=path.replace(".", r"\.")) as caught:
            mem.append("记不下来")
        assert name in between.log
        assert tree(mem.root) == old
        cure = {errno.ENOSPC: "make room", errno.EIO: "look after the disk", errno.EACCES: "allow writing there"}[number]
        assert str(caught.value).partition("; ")[2].startswith(cure)
        assert isinstance(caught.value, (MemkitError, OSError))
        assert caught.value.errno == number
        assert "\n" not in str(caught.value)
        system(lambda name, args: None)
        assert mem.append("记不下来").added == 1

    def test_a_write_in_small_pieces_is_finished(self, mem: Store, system: Callable[[Act], System]) -> None:
        between = system(lambda name, args: None)
        between.write = lambda handle, data: os.write(handle, data[:7])  # type: ignore[attr-defined]
        old = today_file(mem).read_bytes()
        mem.append("一次只写七个字节")
        new = today_file(mem).read_bytes()
        assert new.endswith("一次只写七个字节\n".encode())
        assert new.partition(b"\n---\n")[2].startswith(old.partition(b"\n---\n")[2])

    def test_a_folder_that_cannot_be_synced_stops_nothing(self, mem: Store, system: Callable[[Act], System]) -> None:
        system(failing("fsync", errno.EINVAL, at=2))
        assert mem.append("有的系统不肯同步文件夹").applied
        assert "有的系统不肯同步文件夹" in today_file(mem).read_text("utf-8")

    def test_modes_are_not_even_set_where_they_are_right(self, mem: Store, system: Callable[[Act], System]) -> None:
        today_file(mem).chmod(0o600)
        between = system(failing("chmod", errno.EPERM))
        assert mem.append("FAT 上没有权限位").applied
        assert "chmod" not in between.log

    def test_a_later_file_that_fails_is_told_apart_and_the_plan_goes_on_from_there(
        self, tmp_path: Path, system: Callable[[Act], System]
    ) -> None:
        mem = opened("layers", tmp_path / "vault")
        plan = mem.append("要紧的事", important=True, dry_run=True)
        hot = (mem.root / "hot.md").read_bytes()
        system(failing("replace", errno.ENOSPC, at=2))
        with pytest.raises(DiskError, match=r"^hot\.md: .*no space left.*\(already done: cold/2025-02/2025-02-28\.md\)$"):
            plan.apply()
        assert not plan.applied
        assert "要紧的事" in today_file(mem).read_text("utf-8")
        assert (mem.root / "hot.md").read_bytes() == hot
        assert plan.apply().applied
        assert today_file(mem).read_text("utf-8").count("要紧的事") == 1
        assert (mem.root / "hot.md").read_text("utf-8").count("要紧的事") == 1

    def test_a_plan_of_many_files_goes_on_from_wherever_it_was_stopped(
        self, layout: str, tmp_path: Path, system: Callable[[Act], System]
    ) -> None:
        mem = opened(layout, tmp_path / "clean")
        text = mem.entries()["text"].iloc[0]
        mem.forget(text).apply()
        old, new = tree(opened(layout, tmp_path / "old").root), tree(mem.root)
        for at in range(1, 200):
            mem = opened(layout, tmp_path / str(at))
            plan = mem.forget(text)
            calls = iter(range(1, 1000))

            def act(name: str, args: tuple[Any, ...], at: int = at, calls: Any = calls) -> None:
                if next(calls) == at:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))

            between = system(act)
            self.trouble(plan.apply)
            found = tree(mem.root)
            assert all(found.get(path) in (old.get(path), new.get(path)) for path in {*old, *new, *found})
            system(lambda name, args: None)
            plan.apply()
            assert tree(mem.root) == new
            if len(between.log) < at:
                break
        assert at > 15

    def test_a_catalog_that_cannot_be_written_is_a_warning_and_the_entry_stands(self, tmp_path: Path) -> None:
        mem = opened("archive", tmp_path / "vault")
        shutil.rmtree(mem.root / "catalog")
        (mem.root / "catalog").write_text("挡路的文件", "utf-8")
        plan = mem.append("目录坏了也要记")
        assert plan.applied
        assert plan.added == 1
        assert len(plan.warnings) == 1
        assert plan.warnings[0].startswith("the catalog was not brought up to date: catalog/2025.tsv: ")
        assert "目录坏了也要记" in today_file(mem).read_text("utf-8")
        assert (mem.root / "catalog").read_text("utf-8") == "挡路的文件"

    def test_what_is_no_regular_file_is_refused_and_holds_nobody_up(self, mem: Store) -> None:
        today_file(mem).unlink()
        if hasattr(os, "mkfifo"):
            os.mkfifo(today_file(mem))
            with pytest.raises(DiskError, match="it is no regular file"):
                mem.append("管道里记不住东西")
            today_file(mem).unlink()
        today_file(mem).mkdir()
        with pytest.raises(DiskError, match=TODAYS[mem.layout]):
            mem.append("文件夹里也不行")


class TestAnotherEditor:
    def test_a_change_between_plan_and_apply_is_a_conflict(self, mem: Store) -> None:
        plan = mem.append("计划里的一条", dry_run=True)
        held = by_hand(today_file(mem), "- 手写的一条\n")
        old = tree(mem.root)
        with pytest.raises(ConflictError, match=rf"^{TODAYS[mem.layout]}: it changed on disk since it was read"):
            plan.apply()
        assert tree(mem.root) == old
        assert today_file(mem).read_bytes() == held
        assert not plan.applied

    @pytest.mark.parametrize("what", ["changed", "deleted", "replaced"])
    def test_a_change_up_to_the_last_compare_is_a_conflict(
        self, mem: Store, system: Callable[[Act], System], what: str
    ) -> None:
        path = today_file(mem)

        def act(name: str, args: tuple[Any, ...]) -> None:
            if name == "open" and args[0] == str(path) and "fsync" in between.log:
                if what == "deleted":
                    path.unlink()
                else:
                    by_hand(path, "- 抢先一步\n")
                if what == "replaced":
                    shutil.copy(path, path.with_suffix(".new"))
                    path.with_suffix(".new").replace(path)

        between = system(act)
        with pytest.raises(ConflictError, match="it changed on disk"):
            mem.append("慢了一步")
        assert "replace" not in between.log
        assert path.exists() == (what != "deleted")
        if path.exists():
            assert path.read_text("utf-8").endswith("- 抢先一步\n")
        assert not list(mem.root.rglob("*.tmp"))

    def test_the_compare_is_the_last_call_before_the_replace(self, mem: Store, system: Callable[[Act], System]) -> None:
        between = system(lambda name, args: None)
        mem.append("先比再换")
        at = between.log.index("replace")
        assert between.log[at - 5 : at] == ["open", "fstat", "read", "read", "close"]
        assert "write" not in between.log[between.log.index("fsync") : at]

    def test_a_file_that_appeared_meanwhile_is_not_overwritten(self, layout: str, tmp_path: Path) -> None:
        mem = memkit.open(tmp_path / "new", layout=layout, now=CLOCK, tz=ZONE)
        plan = mem.append("第一条", dry_run=True)
        today_file(mem).parent.mkdir(parents=True)
        today_file(mem).write_text("- 别人先写了\n", "utf-8")
        with pytest.raises(ConflictError):
            plan.apply()
        assert today_file(mem).read_text("utf-8") == "- 别人先写了\n"

    def test_a_file_that_went_away_meanwhile_is_not_brought_back(self, mem: Store) -> None:
        plan = mem.append("计划里的一条", dry_run=True)
        today_file(mem).unlink()
        with pytest.raises(ConflictError):
            plan.apply()
        assert not today_file(mem).exists()

    def test_no_file_of_a_plan_is_written_if_one_conflicts(self, tmp_path: Path) -> None:
        mem = opened("layers", tmp_path / "vault")
        plan = mem.append("要紧的事", important=True, dry_run=True)
        by_hand(mem.root / "hot.md", "手写\n")
        old = tree(mem.root)
        with pytest.raises(ConflictError, match=r"hot\.md"):
            plan.apply()
        assert tree(mem.root) == old

    def test_two_edits_of_one_file_under_two_names_are_refused(self, tmp_path: Path) -> None:
        mem = opened("workspace", tmp_path / "vault")
        (mem.root / "memory" / "alias.md").symlink_to("notes/song.md")
        text = (mem.root / "memory/notes/song.md").read_text("utf-8")
        twins = [
            Edit(path, text, text + more) for path, more in (("memory/alias.md", "- a\n"), ("memory/notes/song.md", "- b\n"))
        ]
        with pytest.raises(ConflictError, match="the same file"):
            files.apply(mem.root, LAYOUTS["workspace"], twins, TODAY)
        assert (mem.root / "memory/notes/song.md").read_text("utf-8") == text
        files.apply(mem.root, LAYOUTS["workspace"], [Edit(edit.path, text, text + "- 同\n") for edit in twins], TODAY)
        assert (mem.root / "memory/notes/song.md").read_text("utf-8") == text + "- 同\n"
        assert (mem.root / "memory/alias.md").is_symlink()


class TestAPlan:
    def test_applied_twice_does_nothing_more(self, mem: Store) -> None:
        plan = mem.append("只写一次", dry_run=True)
        plan.apply()
        by_hand(today_file(mem), "- 之后手写的\n")
        old = tree(mem.root)
        assert plan.apply() is plan
        assert tree(mem.root) == old

    def test_whose_result_is_there_already_is_done(self, mem: Store) -> None:
        first, second = (mem.append("两份计划，一件事", dry_run=True) for _ in range(2))
        first.apply()
        old = tree(mem.root)
        facts = today_file(mem).stat()
        assert second.apply().applied
        assert tree(mem.root) == old
        assert (today_file(mem).stat().st_ino, today_file(mem).stat().st_mtime_ns) == (facts.st_ino, facts.st_mtime_ns)

    def test_that_changes_nothing_writes_nothing(self, mem: Store, system: Callable[[Act], System]) -> None:
        mem.append("说过了")
        facts = today_file(mem).stat()
        between = system(lambda name, args: None)
        plan = mem.append("说过了")
        assert (plan.added, plan.edits) == (0, ())
        assert (today_file(mem).stat().st_ino, today_file(mem).stat().st_mtime_ns) == (facts.st_ino, facts.st_mtime_ns)
        assert not {"write", "replace", "mkdir"} & set(between.log)

    def test_of_an_older_state_in_edits_that_equal_each_other_is_a_no_op(self, mem: Store) -> None:
        text = today_file(mem).read_text("utf-8")
        facts = today_file(mem).stat()
        files.apply(mem.root, mem._desk.layout, [Edit(TODAYS[mem.layout], text, text)], TODAY)
        assert today_file(mem).stat().st_mtime_ns == facts.st_mtime_ns

    def test_with_half_a_character_is_refused_before_anything_is_written(self, mem: Store) -> None:
        text = today_file(mem).read_text("utf-8")
        old = tree(mem.root)
        with pytest.raises(BadArgument, match=r"U\+D83D"):
            files.apply(mem.root, mem._desk.layout, [Edit(TODAYS[mem.layout], text, text + "- \ud83d\n")], TODAY)
        assert tree(mem.root) == old

    def test_that_is_dry_writes_nothing(self, mem: Store) -> None:
        old = tree(mem.root)
        plan = mem.append("只是看看", dry_run=True)
        assert plan.edits
        assert not plan.applied
        assert tree(mem.root) == old


class Ticking:
    """A clock that gives the times it was given, one a reading, and counts them; the last one stands still."""

    def __init__(self, *times: datetime):
        self.times = list(times)
        self.readings = 0

    def __call__(self) -> datetime:
        self.readings += 1
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


MIDNIGHTS = [
    ("Asia/Shanghai", date(2025, 3, 1)),
    ("Asia/Shanghai", date(2025, 1, 1)),
    ("Etc/GMT+8", date(2025, 3, 1)),
    ("America/Los_Angeles", date(2024, 2, 29)),
    ("Europe/Berlin", date(2025, 3, 30)),
    ("Europe/Berlin", date(2025, 3, 31)),
    ("Europe/Berlin", date(2025, 10, 26)),
    ("Europe/Berlin", date(2025, 10, 27)),
    ("America/New_York", date(2025, 3, 9)),
    ("America/New_York", date(2025, 3, 10)),
    ("America/New_York", date(2025, 11, 2)),
    ("America/New_York", date(2025, 11, 3)),
    ("Asia/Beirut", date(2025, 3, 30)),  # where this day begins at one o'clock
    ("Pacific/Kiritimati", date(2025, 1, 1)),
]


def around(zone: str, day: date) -> tuple[datetime, datetime]:
    """Return the last millisecond before a day and the first one of it, as instants in UTC."""
    first = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
    return first - timedelta(milliseconds=1), first


class TestMidnight:
    @pytest.mark.parametrize(("zone", "day"), MIDNIGHTS)
    def test_each_entry_lies_in_the_file_of_its_local_day(self, layout: str, tmp_path: Path, zone: str, day: date) -> None:
        clock = Ticking(*around(zone, day))
        mem = memkit.open(tmp_path / "new", layout=layout, now=clock, tz=zone)
        clock.readings = 0
        mem.append("昨天最后一刻")
        mem.append("今天第一刻")
        assert clock.readings == 2
        paths = [mem.root / mem._desk.layout.day_path(there) for there in (day - timedelta(days=1), day)]
        texts = [path.read_text("utf-8") for path in paths]
        assert ["昨天最后一刻" in text for text in texts] == [True, False]
        assert ["今天第一刻" in text for text in texts] == [False, True]
        if layout != "archive":
            assert "59.999Z" in texts[0]
            assert "00.000Z" in texts[1]

    @pytest.mark.parametrize(("zone", "day"), MIDNIGHTS)
    def test_a_plan_made_before_it_is_refused_after_it(self, layout: str, tmp_path: Path, zone: str, day: date) -> None:
        clock = Ticking(*around(zone, day))
        mem = memkit.open(tmp_path / "new", layout=layout, now=clock, tz=zone)
        plan = mem.append("来不及了", dry_run=True)
        with pytest.raises(FrozenError, match=f"{day - timedelta(days=1)} is before today, {day}"):
            plan.apply()
        assert not mem.root.exists()

    def test_the_day_before_is_frozen_from_then_on(self, mem: Store) -> None:
        later = memkit.open(mem.root, layout=mem.layout, now="2025-03-01T00:00+08:00", tz=ZONE)
        plan = mem.append("写在昨天", dry_run=True)
        frozen = memkit.open(
            mem.root, layout=mem.layout, now=Ticking(datetime.fromisoformat(CLOCK), around(ZONE, date(2025, 3, 1))[1]), tz=ZONE
        )
        old = tree(mem.root)
        with pytest.raises(FrozenError):
            frozen.append("写在昨天", dry_run=True).apply()
        assert tree(mem.root) == old
        later.append("写在今天")
        assert "写在今天" not in today_file(mem).read_text("utf-8")
        plan.apply()  # its own clock still says yesterday

    @pytest.mark.parametrize(
        "verb",
        [
            "append('一')",
            "append('一', tag='计划')",
            "append_many(['一', '二', '三'])",
            "correct('2025-02-03', '旧', '新')",
            "forget('没有这一条')",
            "push(mem.entries(editable=True))",
            "append('一', dry_run=True)",
            "catch_up()",
            "rebuild_catalog()",
            "rebuild_catalog(2025, dry_run=True)",
            "append('一', index='一')",
            "hot_set('新的正文')",
            "topics_add('看海', '2025-02')",
            "append('一', important=True)",
            "store('一')",
            "store('一', 'daily')",
        ],
    )
    def test_each_verb_reads_the_clock_once(self, layout: str, tmp_path: Path, verb: str) -> None:
        clock = Ticking(datetime.fromisoformat(CLOCK))
        mem = opened(layout, tmp_path / "vault", now=clock)
        clock.readings = 0
        try:
            plan = eval(f"mem.{verb}", {"mem": mem})
        except memkit.UnsupportedError:
            assert clock.readings == 0
            return
        assert clock.readings == 1
        if not plan.applied:
            plan.apply()
            assert clock.readings == 2


def archive_at(root: Path, when: str) -> Store:
    return memkit.open(root, layout="archive", now=when, tz=ZONE)


def rows(mem: Store) -> list[str]:
    return [
        line.partition("\t")[0]
        for path in sorted(mem.root.glob("catalog/*.tsv"))
        for line in path.read_text("utf-8").splitlines()
    ]


class TestCatchingUp:
    def test_a_day_gets_its_row_when_it_is_over(self, tmp_path: Path) -> None:
        archive_at(tmp_path, "2025-02-27T23:59:59.999+08:00").append("甲")
        assert rows(archive_at(tmp_path, "2025-02-27T23:59:59.999+08:00")) == []
        plan = archive_at(tmp_path, "2025-02-28T00:00+08:00").append("乙")
        assert {edit.path for edit in plan.edits} == {"catalog/2025.tsv", "archive/2025/2025-02-28.md"}
        assert (tmp_path / "catalog/2025.tsv").read_text("utf-8") == "2025-02-27\t甲\n"

    @pytest.mark.parametrize("idle", [1, 31, 366, 400, 800, 4000])
    def test_after_idle_days_and_over_year_ends_no_row_is_missing(self, tmp_path: Path, idle: int) -> None:
        days = [date(2023, 12, 30), date(2023, 12, 31)]
        days += [days[-1] + timedelta(days=idle), days[-1] + timedelta(days=idle + 1), days[-1] + timedelta(days=2 * idle + 1)]
        for day in days:
            assert archive_at(tmp_path, f"{day}T12:00+08:00").append("开门").warnings == []
        mem = archive_at(tmp_path, f"{days[-1]}T12:00+08:00")
        assert rows(mem) == [str(day) for day in days[:-1]]
        caught = tree(tmp_path)
        mem.rebuild_catalog()
        assert tree(tmp_path) == caught

    def test_changes_nothing_when_there_is_nothing_to_do(self, tmp_path: Path) -> None:
        mem = opened("archive", tmp_path / "vault")
        old = tree(mem.root)
        assert mem.catch_up().edits == ()
        assert tree(mem.root) == old

    def test_of_a_broken_catalog_is_a_rebuild(self, tmp_path: Path) -> None:
        mem = opened("archive", tmp_path / "vault")
        good = (mem.root / "catalog/2025.tsv").read_bytes()
        for bad in (good[:-20], good + b"2025-02-28\tx\n", b"", good[40:], b"\xff\xfe" + good):
            (mem.root / "catalog/2025.tsv").write_bytes(bad)
            assert mem.append(f"目录坏了 {len(bad)}").warnings == []
            assert (mem.root / "catalog/2025.tsv").read_bytes() == good

    def test_a_misfiled_day_has_no_row_in_the_wrong_year(self, tmp_path: Path) -> None:
        mem = opened("archive", tmp_path / "vault")
        good = (mem.root / "catalog/2025.tsv").read_bytes()
        shutil.copy(mem.root / "archive/2024/2024-12-16.md", mem.root / "archive/2025/2024-12-16.md")
        mem.rebuild_catalog()
        assert (mem.root / "catalog/2025.tsv").read_bytes() == good


OUTSIDE = ["../outside.md", "memory/../../outside.md", "./MEMORY.md", "memory//x.md", "", ".", "..", "memory/", "a\0b.md"]


class TestPaths:
    @pytest.mark.parametrize("path", OUTSIDE)
    def test_that_lead_out_of_the_store_are_refused(self, mem: Store, path: str) -> None:
        old = tree(mem.root.parent)
        for edit in (Edit(path, None, "x\n"), Edit(path, None, "x\n", ("all",))):
            with pytest.raises(PathError, match="it leads out of the store"):
                files.apply(mem.root, mem._desk.layout, [edit], TODAY)
        assert tree(mem.root.parent) == old

    def test_that_are_absolute_are_refused_even_inside(self, mem: Store, tmp_path: Path) -> None:
        for path in (today_file(mem), tmp_path / "outside.md"):
            with pytest.raises(PathError):
                files.apply(mem.root, mem._desk.layout, [Edit(str(path), None, "x\n")], TODAY)
        assert not (tmp_path / "outside.md").exists()

    def test_a_day_file_that_is_a_link_to_outside_is_refused(self, mem: Store, tmp_path: Path) -> None:
        outside = tmp_path / "outside.md"
        shutil.move(today_file(mem), outside)
        today_file(mem).symlink_to(outside)
        old = tree(tmp_path)
        with pytest.raises(PathError, match=TODAYS[mem.layout]):
            mem.append("不许出去")
        assert tree(tmp_path) == old

    def test_a_link_to_a_missing_file_outside_makes_none(self, mem: Store, tmp_path: Path) -> None:
        today_file(mem).unlink()
        today_file(mem).symlink_to(tmp_path / "not yet.md")
        with pytest.raises(PathError):
            mem.append("不许出去")
        assert not (tmp_path / "not yet.md").exists()

    def test_a_folder_that_is_a_link_to_outside_is_refused(self, mem: Store, tmp_path: Path) -> None:
        folder = today_file(mem).parent
        shutil.move(folder, tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
        old = tree(tmp_path)
        with pytest.raises(PathError, match=TODAYS[mem.layout]):
            mem.append("不许出去")
        assert tree(tmp_path) == old

    def test_a_link_put_in_between_plan_and_apply_is_refused(self, mem: Store, tmp_path: Path) -> None:
        plan = mem.append("半路被换", dry_run=True)
        folder = today_file(mem).parent
        shutil.move(folder, tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
        old = tree(tmp_path)
        with pytest.raises(PathError):
            plan.apply()
        assert tree(tmp_path) == old

    @pytest.mark.parametrize("moment", ["scandir", "fsync"])
    def test_a_folder_exchanged_for_a_link_while_it_is_written_takes_nothing_in(
        self, mem: Store, tmp_path: Path, system: Callable[[Act], System], moment: str
    ) -> None:
        folder = today_file(mem).parent
        shutil.copytree(folder, tmp_path / "elsewhere")
        held = tree(tmp_path / "elsewhere")

        def act(name: str, args: tuple[Any, ...]) -> None:
            if name == moment and not folder.is_symlink():
                folder.rename(tmp_path / "moved")
                folder.symlink_to(tmp_path / "elsewhere")

        system(act)
        with pytest.raises(PathError):
            mem.append("半路被换")
        assert tree(tmp_path / "elsewhere") == held

    def test_a_folder_exchanged_for_a_link_loses_nothing_that_a_plan_removes(
        self, tmp_path: Path, system: Callable[[Act], System]
    ) -> None:
        mem = opened("layers", tmp_path / "vault")
        folder = mem.root / "summaries"
        shutil.copytree(folder, tmp_path / "elsewhere")
        held = tree(tmp_path / "elsewhere")
        today = today_file(mem).read_text("utf-8")
        summary = next(path.relative_to(mem.root).as_posix() for path in sorted(folder.rglob("*.md")))
        gone = Edit(summary, (mem.root / summary).read_text("utf-8"), None)
        edits = [gone, Edit(TODAYS["layers"], today, today + "- 一行\n")]

        def act(name: str, args: tuple[Any, ...]) -> None:
            if name == "replace" and not folder.is_symlink():
                folder.rename(tmp_path / "moved")
                folder.symlink_to(tmp_path / "elsewhere")

        system(act)
        with pytest.raises(PathError, match=r"summaries/.*already done: cold/"):
            files.apply(mem.root, LAYOUTS["layers"], edits, TODAY)
        assert tree(tmp_path / "elsewhere") == held

    @pytest.mark.parametrize("moment", ["scandir", "fsync"])
    def test_a_link_put_in_while_it_is_written_is_refused(
        self, mem: Store, tmp_path: Path, system: Callable[[Act], System], moment: str
    ) -> None:
        path = today_file(mem)
        bait = tmp_path / "bait.md"
        shutil.copy(path, bait)
        held = bait.read_bytes()

        def act(name: str, args: tuple[Any, ...]) -> None:
            if name == moment and not path.is_symlink():
                path.unlink()
                path.symlink_to(bait)

        system(act)
        with pytest.raises((PathError, ConflictError)):
            mem.append("半路被换")
        assert bait.read_bytes() == held
        assert sorted(tmp_path.iterdir()) == [bait, tmp_path / "vault"]

    def test_a_link_inside_the_store_is_followed_and_stays(self, mem: Store) -> None:
        real = today_file(mem).with_name("real.md")
        today_file(mem).rename(real)
        today_file(mem).symlink_to("real.md")
        mem.append("从链接进来")
        assert today_file(mem).is_symlink()
        assert "从链接进来" in real.read_text("utf-8")

    def test_a_link_to_a_frozen_day_does_not_unfreeze_it(self, mem: Store) -> None:
        frozen = mem.root / mem.days()["path"].iloc[0]
        today_file(mem).unlink()
        today_file(mem).symlink_to(frozen)
        held = frozen.read_bytes()
        with pytest.raises(FrozenError):
            mem.append("绕道改从前")
        assert frozen.read_bytes() == held

    def test_a_derived_name_that_links_to_an_authority_gets_no_licence(self, tmp_path: Path) -> None:
        mem = opened("archive", tmp_path / "vault")
        frozen = mem.root / "archive/2025/2025-02-03.md"
        (mem.root / "catalog/2025.tsv").unlink()
        (mem.root / "catalog/2025.tsv").symlink_to(frozen)
        held = frozen.read_bytes()
        with pytest.raises(FrozenError):
            mem.rebuild_catalog(2025)
        assert frozen.read_bytes() == held

    def test_a_root_that_is_a_link_works(self, mem: Store, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(mem.root)
        linked = memkit.open(tmp_path / "link", layout=mem.layout, now=CLOCK, tz=ZONE)
        old = tree(mem.root)
        assert linked.append("从门口的链接进来").added == 1
        assert changed(old, tree(mem.root)) == {TODAYS[mem.layout]}
        assert (tmp_path / "link").is_symlink()
        assert linked.append("从门口的链接进来").added == 0


class TestWhatIsLeftBehind:
    def test_no_file_but_the_target_changes(self, mem: Store) -> None:
        for path in mem.root.rglob("*"):
            os.utime(path, ns=(10**18, 10**18))
        old = tree(mem.root)
        mem.append("只动一个文件")
        assert changed(old, tree(mem.root)) == {TODAYS[mem.layout]}
        touched = {path for path in mem.root.rglob("*") if path.stat().st_mtime_ns != 10**18}
        assert touched == {today_file(mem), today_file(mem).parent}

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o666, 0o755, 0o400])
    def test_a_file_keeps_its_mode(self, mem: Store, mode: int) -> None:
        today_file(mem).chmod(mode)
        mem.append("权限照旧")
        assert stat.S_IMODE(today_file(mem).stat().st_mode) == mode

    def test_the_temp_file_is_never_more_open_than_the_old_one(self, mem: Store, system: Callable[[Act], System]) -> None:
        today_file(mem).chmod(0o600)
        seen = set()

        def act(name: str, args: tuple[Any, ...]) -> None:
            seen.update(stat.S_IMODE(path.stat().st_mode) for path in mem.root.rglob(".*.tmp"))

        system(act)
        mem.append("不给别人看")
        assert seen == {0o600}

    @pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
    def test_a_new_file_has_the_default_mode(self, layout: str, tmp_path: Path, mask: int) -> None:
        mem = memkit.open(tmp_path / "new", layout=layout, now=CLOCK, tz=ZONE)
        before = os.umask(mask)
        try:
            mem.append("新的一天")
        finally:
            os.umask(before)
        assert stat.S_IMODE(today_file(mem).stat().st_mode) == 0o666 & ~mask
        assert stat.S_IMODE(today_file(mem).parent.stat().st_mode) == 0o777 & ~mask

    def test_owner_and_group_are_kept_where_that_is_allowed(self, mem: Store, system: Callable[[Act], System]) -> None:
        asked = []
        between = system(lambda name, args: None)
        real = today_file(mem).stat()

        def stat_of(path: Any) -> Any:
            return SimpleNamespace(st_mode=real.st_mode, st_uid=12345, st_gid=54321)

        def chown(path: str, uid: int, gid: int) -> None:
            asked.append((uid, gid))
            raise PermissionError(errno.EPERM, "no")

        between.stat, between.chown = stat_of, chown  # type: ignore[attr-defined]
        assert mem.append("不是我的文件").applied
        assert asked == [(12345, 54321), (-1, 54321)]

    def test_a_missing_root_is_made_by_the_first_entry_alone(self, layout: str, tmp_path: Path) -> None:
        root = tmp_path / "a" / "b"
        mem = memkit.open(root, layout=layout, now=CLOCK, tz=ZONE)
        mem.entries(), mem.audit(), mem.days(), mem.append("看看", dry_run=True)
        for refused in ("", " ", " \n "):
            with pytest.raises(BadArgument):
                mem.append(refused)
        if layout == "archive":
            mem.catch_up()
            mem.rebuild_catalog()
        assert mem.append_many([]).applied
        assert not (tmp_path / "a").exists()
        mem.append("第一条")
        assert {path for path, data in tree(root).items() if data != "folder"} == {TODAYS[layout]}

    def test_a_failed_first_entry_leaves_no_folder(self, layout: str, tmp_path: Path, system: Callable[[Act], System]) -> None:
        mem = memkit.open(tmp_path / "a" / "b", layout=layout, now=CLOCK, tz=ZONE)
        system(failing("write", errno.ENOSPC))
        with pytest.raises(DiskError):
            mem.append("第一条")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("place", ["", "folder", "elsewhere"])
    def test_temps_go_once_they_are_ten_minutes_old(self, mem: Store, place: str) -> None:
        first_day = mem.root / mem.days()["path"].iloc[0]
        folder = {"": mem.root, "folder": today_file(mem).parent, "elsewhere": first_day.parent}[place]
        dead, alive = folder / ".2025-02-28.md.0123456789ab.tmp", folder / ".2025-02-27.md.0123456789ab.tmp"
        foreign = folder / ".sync.part.0123456789.tmp"
        for path, age in ((dead, 601), (alive, 590), (foreign, 99999)):
            path.write_text("半截", "utf-8")
            os.utime(path, (time.time() - age,) * 2)
        memkit.open(mem.root, layout=mem.layout, now=CLOCK, tz=ZONE).append("打扫一下")
        assert (dead.exists(), alive.exists(), foreign.exists()) == (False, True, True)

    def test_the_sweep_goes_by_the_clock_it_is_given(self, tmp_path: Path) -> None:
        temp = tmp_path / ".MEMORY.md.0123456789ab.tmp"
        temp.write_text("半截", "utf-8")
        files.sweep(tmp_path, LAYOUTS["workspace"], now=lambda: temp.stat().st_mtime + 600)
        assert temp.exists()
        files.sweep(tmp_path, LAYOUTS["workspace"], now=lambda: temp.stat().st_mtime + 601)
        assert not temp.exists()

    def test_a_sweep_that_cannot_look_stops_nothing(self, mem: Store, system: Callable[[Act], System]) -> None:
        system(failing("scandir", errno.EACCES))
        assert mem.append("扫不了也要记").applied

    def test_a_long_name_can_still_be_replaced(self, tmp_path: Path) -> None:
        mem = opened("workspace", tmp_path / "vault")
        name = f"memory/{'壶' * 82}.md"
        (mem.root / name).write_text("- 一\n", "utf-8")
        files.apply(mem.root, LAYOUTS["workspace"], [Edit(name, "- 一\n", "- 一\n- 二\n")], TODAY)
        assert (mem.root / name).read_text("utf-8") == "- 一\n- 二\n"


class TestTheLock:
    def test_leaves_nothing_in_the_store_nor_holds_on(self, mem: Store) -> None:
        old = tree(mem.root)
        with files.Lock(mem.root, 0.0).held():
            assert tree(mem.root) == old
        with files.Lock(mem.root, 0.0).held():
            pass
        assert tree(mem.root) == old

    def test_is_given_back_when_the_work_fails(self, mem: Store) -> None:
        with pytest.raises(RuntimeError), files.Lock(mem.root, 0.0).held():
            raise RuntimeError
        assert mem.append("锁已经还了").applied

    def test_holds_between_two_ways_to_the_same_folder(self, mem: Store, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(mem.root)
        with (
            files.Lock(tmp_path / "link", 0.0).held(),
            pytest.raises(LockTimeout, match="another writer holds it"),
            files.Lock(mem.root, 0.0).held(),
        ):
            pass

    @pytest.mark.parametrize("number", [errno.EBADF, errno.EOPNOTSUPP, errno.ENOLCK])
    def test_is_a_file_in_the_cache_where_the_folder_cannot_be_locked(
        self, mem: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        real = lock.fcntl.flock

        def flock(handle: int, how: int) -> None:
            if how & lock.fcntl.LOCK_EX and stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(number, os.strerror(number))
            real(handle, how)

        monkeypatch.setattr(lock.fcntl, "flock", flock)
        old = tree(mem.root)
        with files.Lock(mem.root, 0.0).held(), pytest.raises(LockTimeout), files.Lock(mem.root, 0.0).held():
            pass
        assert tree(mem.root) == old
        assert mem.append("网盘上也能记").applied
        assert (tmp_path / "cache").is_dir()

    def test_a_folder_that_may_not_be_opened_is_a_readable_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", "utf-8")
        words = "could not be locked for writing: not a directory"
        with pytest.raises(DiskError, match=words), files.Lock(tmp_path / "file", 0.0).held():
            pass

    def test_a_root_that_was_exchanged_while_it_was_taken_is_taken_anew(
        self, mem: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = lock.fcntl.flock

        def flock(handle: int, how: int) -> None:
            if how & lock.fcntl.LOCK_EX and not (tmp_path / "old").exists():
                mem.root.rename(tmp_path / "old")
                shutil.copytree(tmp_path / "old", mem.root)
            real(handle, how)

        monkeypatch.setattr(lock.fcntl, "flock", flock)
        with files.Lock(mem.root, 1.0).held():
            monkeypatch.undo()
            with pytest.raises(LockTimeout), files.Lock(mem.root, 0.0).held():
                pass
