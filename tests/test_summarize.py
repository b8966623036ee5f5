"""summarize and summarize_all: which periods are written and why, where, and what stops, breaks or races them."""

from __future__ import annotations

import errno
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import date, datetime, timedelta
from itertools import count, product
from pathlib import Path

import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memkit import batch as batch_module
from memkit import progress
from memkit.dates import PERIODS
from memkit.edits import summaries as summary_edits
from memkit.errors import BadArgument, ConflictError, DiskError, MemkitError, PathError
from memkit.files import write as writer
from memkit.store import Store
from memkit.summaries import LIMITS

LAYOUTS = ("archive", "workspace", "layers")
D3, D4, D11 = "2025-02-03", "2025-02-04", "2025-02-11"
PLACE = {"day": f"summaries/day/{D3}.md", "week": "summaries/week/2025-W06.md", "month": "summaries/month/2025-02.md"}
CURRENT, OLD = "it says what its sources say", "out of date; force=True makes it afresh"
SECRET = "柜子密码是 4711，写在红水壶的壶底"


def entry(day: str, text: str = "茶", hour: int = 2, tag: str = "家庭") -> str:
    return f"- [{day}T{hour:02d}:00:00.000Z] [{tag}] {text}\n"


def day_path(layout: str, day: str) -> str:
    return {"archive": f"archive/{day[:4]}/{day}.md", "workspace": f"memory/{day}.md", "layers": f"cold/{day[:7]}/{day}.md"}[
        layout
    ]


def day_text(layout: str, day: str, *texts: str) -> str:
    if layout == "layers":
        return "".join(entry(day, text, hour) for hour, text in enumerate(texts))
    head = f"---\ndate: {day}\nindex: '{'；'.join(texts)}'\n---\n\n## {day}\n\n" if layout == "archive" else f"# {day}\n"
    return head + "".join(f"- {text}\n" for text in texts)


def put(root: Path, path: str, text: str | bytes) -> Path:
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(text if isinstance(text, bytes) else text.encode())
    return full


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def stamps(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.stat().st_mtime_ns for path in root.rglob("*")}


def rows(plan) -> list[tuple[str, str, str]]:
    return list(plan.rows.itertuples(index=False, name=None))


def actions(plan) -> dict[str, str]:
    return {path.rpartition("/")[2].removesuffix(".md"): action for path, action, _ in rows(plan)}


def header(mem: Store, path: str) -> str:
    """Return the sources that a stored summary names."""
    return (mem.root / path).read_text().split("来源：")[1].partition("（")[0]


def shown(text: str) -> list[str]:
    return [line.partition("] ")[2].partition("] ")[2] for line in text.split("\n") if line.startswith("- [")]


def findings(mem: Store) -> list[tuple[str, str]]:
    return list(mem.audit().frame[["rule", "path"]].itertuples(index=False, name=None))


@pytest.fixture
def made(tmp_path):
    """Return a function that opens a store made of days, each with its texts (layers: or with its whole text)."""

    def make(days: dict[str, list[str] | str], layout: str = "layers", name: str = "store", **options) -> Store:
        root = tmp_path / name
        root.mkdir()
        for day, texts in days.items():
            text = texts if isinstance(texts, str) else day_text(layout, day, *texts)
            put(root, day_path(layout, day), text)
        return open_at(root, layout=layout, **options)

    return make


@pytest.fixture
def mem(made):
    return made({D3: ["一", "二"], D4: ["三"], D11: ["四"]})


def ticking() -> Callable[[], datetime]:
    """Return a clock that is a second later each time it is read, so that no two summaries are alike by its leave."""
    seconds = count()
    start = datetime.fromisoformat("2025-03-31T12:00+00:00")
    return lambda: start + timedelta(seconds=next(seconds))


def spread(number: int, *, size: int = 20, each: int = 2, end: date = date(2025, 2, 27)) -> dict[str, list[str]]:
    days = [str(end - timedelta(n)) for n in range(number)]
    return {day: [f"{day} 第{n}条" + "字" * size for n in range(each)] for day in days}


class TestWhere:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("period", PERIODS)
    def test_out_works_for_every_layout_and_leaves_the_store_alone(self, made, tmp_path, layout, period):
        mem = made({D3: ["一", "二"], D11: ["四"]}, layout)
        before, at = tree(mem.root), stamps(mem.root)
        plan = mem.summarize_all(period, until="2025-02-28", out=tmp_path / "o")
        assert set(plan.rows["action"]) == {"create"}
        assert set(tree(tmp_path / "o")) == {f"{period}/{key}.md" for key in actions(plan)}
        assert (tree(mem.root), stamps(mem.root)) == (before, at)
        again, at = mem.summarize_all(period, until="2025-02-28", out=tmp_path / "o"), stamps(tmp_path / "o")
        assert (set(again.rows["action"]), len(again.edits)) == ({"unchanged"}, 0)
        assert stamps(tmp_path / "o") == at

    @pytest.mark.parametrize("layout", ["archive", "workspace"])
    def test_a_layout_without_a_place_says_what_to_pass(self, made, layout):
        mem = made({D3: ["一"]}, layout)
        for call in (mem.summarize, mem.summarize_all):
            for dry_run in (False, True):
                with pytest.raises(BadArgument, match=r"^out: .*pass out="):
                    call("day", dry_run=dry_run)

    @pytest.mark.parametrize("place", ["", "x/y", "summaries", "../store/x", "link", "link/x"])
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_out_inside_the_store_is_refused(self, made, tmp_path, layout, place):
        mem = made({D3: ["一"]}, layout)
        (tmp_path / "link").symlink_to(mem.root)
        out = tmp_path / place if place.startswith("link") else mem.root / place
        before = tree(tmp_path)
        for call in (mem.summarize, mem.summarize_all):
            with pytest.raises(PathError, match="inside the memory store"):
                call("day", out=out)
        assert tree(tmp_path) == before

    @pytest.mark.parametrize("what", ["folder", "file"])
    def test_a_link_below_out_that_leads_into_the_store_is_refused(self, mem, tmp_path, what):
        out = tmp_path / "o"
        out.mkdir()
        if what == "folder":
            (out / "day").symlink_to(mem.root / "cold/2025-02")
        else:
            (out / "day").mkdir()
            (out / f"day/{D3}.md").symlink_to(mem.root / f"cold/2025-02/{D3}.md")
        before = tree(mem.root)
        with pytest.raises(PathError):
            mem.summarize("day", D3, out=out, force=True)
        assert tree(mem.root) == before

    def test_a_tilde_is_the_home_folder(self, mem, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        mem.summarize("day", D3, out="~/o")
        assert [*tree(tmp_path / "o")] == [f"day/{D3}.md"]

    def test_only_md_files_in_out_are_summaries(self, mem, tmp_path):
        (tmp_path / "o/day/2024-12-24").mkdir(parents=True)
        put(tmp_path, "o/day/2024-12-25", "x")
        put(tmp_path, "o/day/2024-12-26.txt", "x")
        assert list(actions(mem.summarize_all("day", out=tmp_path / "o"))) == [D3, D4, D11]

    def test_the_folder_around_the_store_is_outside_of_it(self, mem, tmp_path):
        mem.summarize("day", D3, out=tmp_path)
        assert (tmp_path / f"day/{D3}.md").is_file()

    @pytest.mark.parametrize("call", ["summarize", "summarize_all"])
    @pytest.mark.parametrize("in_the_way", ["o", "o/day", f"o/day/{D3}.md/"])
    def test_what_lies_in_outs_way_is_a_readable_error(self, mem, tmp_path, call, in_the_way):
        if in_the_way.endswith("/"):
            (tmp_path / in_the_way).mkdir(parents=True)
        else:
            put(tmp_path, in_the_way, "x")
        arguments = ("day", D3) if call == "summarize" else ("day",)
        with pytest.raises(MemkitError, match=r"/o"):
            getattr(mem, call)(*arguments, out=tmp_path / "o")

    @pytest.mark.parametrize("out", [7, b"x", "a\0b", "~nobody-of-this-name/x"])
    def test_an_out_that_is_no_folder_is_a_readable_error(self, mem, out):
        with pytest.raises(MemkitError):
            mem.summarize("day", D3, out=out)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_an_out_that_may_not_be_written_is_a_readable_error(self, mem, tmp_path):
        (tmp_path / "o").mkdir(mode=0o500)
        with pytest.raises(MemkitError):
            mem.summarize("day", D3, out=tmp_path / "o")

    @pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC, errno.EROFS])
    def test_a_disk_that_takes_nothing_is_a_readable_error_for_out_too(self, mem, tmp_path, monkeypatch, number):
        def refuse(*given, **options):
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", refuse)
            with pytest.raises(MemkitError, match=D3):
                mem.summarize("day", D3, out=tmp_path / "o")
        assert tree(tmp_path / "o") == {}

    def test_two_threads_that_write_the_same_file_do_not_take_each_others(self, mem, tmp_path, monkeypatch):
        real, other = Path.replace, open_at(mem.root)

        def meanwhile(temp, target):
            monkeypatch.setattr(Path, "replace", real)
            other.summarize("day", D3, out=tmp_path / "o")
            return real(temp, target)

        monkeypatch.setattr(Path, "replace", meanwhile)
        with suppress(MemkitError):
            mem.summarize("day", D3, out=tmp_path / "o")
        assert [*tree(tmp_path / "o")] == [f"day/{D3}.md"]

    @pytest.mark.parametrize("path", ["summaries", "summaries/day"])
    def test_a_file_in_place_of_a_folder_of_the_store_is_named_and_kept(self, mem, path):
        put(mem.root, path, "x")
        before = tree(mem.root)
        with pytest.raises(DiskError, match=r"summaries/day/2025-02-03\.md.*stands in its way"):
            mem.summarize_all("day")
        assert tree(mem.root) == before
        assert findings(mem) == []

    def test_a_folder_in_place_of_a_summary_is_named_and_kept(self, mem):
        (mem.root / PLACE["week"]).mkdir(parents=True)
        with pytest.raises(DiskError, match=PLACE["week"]):
            mem.summarize_all("week")
        assert (mem.root / PLACE["week"]).is_dir()


class TestWhich:
    @pytest.mark.parametrize(("missing", "stale", "force"), list(product((True, False), repeat=3)))
    def test_the_flags_choose_and_every_row_says_why(self, mem, missing, stale, force):
        for day in (D3, D4):
            mem.summarize("day", day)
        cold = mem.root / day_path("layers", D4)
        cold.write_text(cold.read_text() + entry(D4, "五", 9))
        plan = mem.summarize_all("day", missing=missing, stale=stale, force=force)
        fresh = ("rebuild", "2 entries; forced") if force else ("unchanged", CURRENT)
        old = ("rebuild", "2 entries; out of date") if force or stale else ("unchanged", OLD)
        new = ("create", "1 entry") if force or missing else ("skip", "it has none, and missing=False")
        assert [row[1:] for row in rows(plan)] == [fresh, old, new]
        assert [path for path, action, _ in rows(plan) if action in ("create", "rebuild")] == [edit.path for edit in plan.edits]
        assert mem.summaries()["stale"].tolist() == [False, not (force or stale)] + [False] * (force or missing)

    def test_twice_writes_once_however_late_it_is(self, made):
        mem = made({D3: ["一", "二"], D4: ["三"], D11: ["四"]}, now=ticking())
        for period in PERIODS:
            mem.summarize_all(period, until="2025-02-28")
        at = stamps(mem.root)
        for period in PERIODS:
            plan = mem.summarize_all(period, until="2025-02-28")
            assert {row[1:] for row in rows(plan)} == {("unchanged", CURRENT)}
            assert (plan.applied, len(plan.edits), plan.diff()) == (True, 0, "")
        assert stamps(mem.root) == at

    def test_twice_writes_once_above_a_summary_that_is_out_of_date(self, made):
        mem = made({D3: ["一", "二"], D4: ["三"]}, now=ticking())
        mem.summarize_all("day")
        mem.summarize_all("week")
        cold = mem.root / day_path("layers", D3)
        cold.write_text(cold.read_text() + entry(D3, "五", 9))
        mem.summarize_all("week")
        at = stamps(mem.root)
        mem.summarize_all("week")
        assert stamps(mem.root) == at

    def test_summarize_leaves_one_that_is_there_even_if_it_is_out_of_date(self, mem):
        assert rows(mem.summarize("day", D3)) == [(PLACE["day"], "create", "2 entries")]
        cold = mem.root / day_path("layers", D3)
        cold.write_text(cold.read_text() + entry(D3, "五", 9))
        plan = mem.summarize("day", D3)
        assert rows(plan) == [(PLACE["day"], "unchanged", OLD)]
        assert (plan.facts.created, plan.facts.existed, plan.facts.stale) == (False, True, True)
        assert plan.facts.content == (mem.root / PLACE["day"]).read_text()
        plan = mem.summarize("day", D3, force=True)
        assert rows(plan) == [(PLACE["day"], "rebuild", "3 entries; out of date")]
        assert (plan.facts.created, plan.facts.existed, plan.facts.stale) == (True, True, False)

    @pytest.mark.parametrize(
        ("since", "until", "days"),
        [
            (None, None, [D3, D4, D11, "2025-02-27"]),
            (None, "2025-02-28", [D3, D4, D11, "2025-02-27", "2025-02-28"]),
            (None, "2025-12-31", [D3, D4, D11, "2025-02-27", "2025-02-28", "2025-03-05"]),
            (D4, D4, [D4]),
            (D4, D11, [D4, D11]),
            ("2025-02-05", "2025-02-10", []),
            ("2025-02-28", None, []),
            ("2025-02-28", "2025-02-28", ["2025-02-28"]),
            ("2026-01-01", None, []),
        ],
    )
    def test_windows_are_closed_and_only_until_reaches_today_and_beyond(self, made, since, until, days):
        mem = made({day: ["一"] for day in (D3, D4, D11, "2025-02-27", "2025-02-28", "2025-03-05")})
        assert list(actions(mem.summarize_all("day", since=since, until=until))) == days

    @pytest.mark.parametrize(
        ("period", "since", "until", "keys"),
        [
            ("week", "2025-02-09", None, ["2025-W06", "2025-W07"]),
            ("week", "2025-02-10", None, ["2025-W07"]),
            ("week", None, "2025-02-10", ["2025-W06", "2025-W07"]),
            ("week", None, "2025-02-09", ["2025-W06"]),
            ("week", None, "2025-02-24", ["2025-W06", "2025-W07", "2025-W09"]),
            ("month", None, None, []),
            ("month", None, "2025-02-01", ["2025-02"]),
            ("month", "2025-02-28", "2025-12-31", ["2025-02"]),
        ],
    )
    def test_a_period_that_touches_the_window_counts(self, made, period, since, until, keys):
        mem = made({D3: ["一"], D11: ["二"], "2025-02-28": ["三"]})
        assert list(actions(mem.summarize_all(period, since=since, until=until))) == keys

    @pytest.mark.parametrize(
        ("call", "names"),
        [
            (lambda mem: mem.summarize("year"), "period"),
            (lambda mem: mem.summarize(None), "period"),
            (lambda mem: mem.summarize("day", "x"), "date"),
            (lambda mem: mem.summarize("day", 7), "date"),
            (lambda mem: mem.summarize("day", "2025-W06"), "date"),
            (lambda mem: mem.summarize_all("year"), "period"),
            (lambda mem: mem.summarize_all("day", since="x"), "since"),
            (lambda mem: mem.summarize_all("day", until="2025-02-30"), "until"),
            (lambda mem: mem.summarize("day", "2025-02-30"), "date"),
            (lambda mem: mem.summarize("week", "2025-W53"), "date"),
            (lambda mem: mem.summarize_all("day", since="2025-02-05", until="2025-02-04"), "since"),
        ],
    )
    def test_a_wrong_argument_is_named(self, mem, call, names):
        before = tree(mem.root)
        with pytest.raises(BadArgument, match=f"^{names}: "):
            call(mem)
        assert tree(mem.root) == before

    @pytest.mark.parametrize("date_", [D3, date(2025, 2, 5), "2025-W06"])
    def test_any_day_of_a_period_and_its_key_select_it(self, mem, date_):
        assert rows(mem.summarize("WEEK", date_, dry_run=True)) == [(PLACE["week"], "create", "3 entries")]

    def test_an_empty_store_and_an_empty_period_write_nothing(self, made):
        mem = made({})
        plan = mem.summarize("day")
        assert rows(plan) == [("summaries/day/2025-02-28.md", "empty", "no entry to make it from")]
        assert (plan.facts.content, plan.facts.created, plan.facts.existed) == ("", False, False)
        assert rows(mem.summarize_all("day", until="9999-12-31", force=True)) == []
        assert list(mem.root.iterdir()) == []

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_a_store_that_does_not_exist_yet_stays_usable(self, tmp_path, layout):
        mem = open_at(tmp_path / "none", layout=layout)
        out = None if layout == "layers" else tmp_path / "o"
        for period in PERIODS:
            mem.summarize(period, out=out)
            mem.summarize_all(period, out=out)
        assert not len(mem.entries())
        assert list(tmp_path.iterdir()) == []

    def test_undated_entries_have_no_period(self, tmp_path):
        put(tmp_path, "store/MEMORY.md", "# M\n- 没有日期\n")
        mem = open_at(tmp_path / "store")
        assert len(mem.entries()) == 1
        assert rows(mem.summarize_all("month", until="9999-12-31", out=tmp_path / "o")) == []
        assert not (tmp_path / "o").exists()

    def test_what_lost_all_its_entries_is_left_and_said(self, mem):
        mem.summarize_all("day")
        (mem.root / day_path("layers", D3)).unlink()
        for force in (False, True):
            assert rows(mem.summarize_all("day", until=D3, force=force)) == [
                (PLACE["day"], "unchanged", "no entry is left in it")
            ]

    @pytest.mark.parametrize("period", PERIODS)
    def test_the_first_and_the_last_day_there_are(self, made, period):
        mem = made({"0001-01-01": ["一"], "9999-12-31": ["末"]}, now="9999-12-31T23:00+00:00", tz="UTC")
        keys = {"day": ["0001-01-01", "9999-12-31"], "week": ["0001-W01", "9999-W52"], "month": ["0001-01", "9999-12"]}[period]
        assert actions(mem.summarize_all(period, until="9999-12-31")) == dict.fromkeys(keys, "create")
        assert actions(mem.summarize_all(period, until="9999-12-31")) == dict.fromkeys(keys, "unchanged")
        assert findings(mem) == []

    @pytest.mark.parametrize(
        ("day", "week"),
        [("2027-01-01", "2026-W53"), ("2024-12-30", "2025-W01"), ("2021-01-03", "2020-W53"), ("2020-12-31", "2020-W53")],
    )
    def test_a_week_at_the_turn_of_the_year_is_one_file(self, made, day, week):
        mem = made({day: ["一"]}, now="2030-01-01T00:00Z")
        assert actions(mem.summarize_all("week")) == {week: "create"}
        assert rows(mem.summarize("week", day))[0][:2] == (f"summaries/week/{week}.md", "unchanged")


class TestFromWhat:
    @pytest.mark.parametrize(("lower", "middle"), list(product(("", D3, "all"), ("", "2025-W06", "all"))))
    def test_a_month_falls_back_level_by_level(self, mem, lower, middle):
        for period, which in (("day", lower), ("week", middle)):
            if which:
                mem.summarize_all(period) if which == "all" else mem.summarize(period, which)
        mem.summarize("month", "2025-02")
        days = {day: f"summaries/day/{day}.md" if lower in (day, "all") else day_path("layers", day) for day in (D3, D4, D11)}
        weeks = {"2025-W06": [days[D3], days[D4]], "2025-W07": [days[D11]]}
        names = [name for week in weeks for name in ([f"summaries/week/{week}.md"] if middle in (week, "all") else weeks[week])]
        assert header(mem, PLACE["month"]) == "、".join(names)
        assert shown((mem.root / PLACE["month"]).read_text()) == ["一", "二", "三", "四"]

    @pytest.mark.parametrize("weekly", [False, True])
    def test_a_straddling_week_gives_each_month_its_own_days(self, made, weekly):
        days = {"2025-01-31": ["正"], "2025-02-01": ["二"], "2025-02-28": ["末"], "2025-03-01": ["三"]}
        mem = made(days, now="2025-06-01T00:00Z")
        if weekly:
            mem.summarize_all("week")
        mem.summarize_all("month")
        texts = {path.stem: shown(path.read_text()) for path in mem.root.glob("summaries/month/*.md")}
        assert texts == {"2025-01": ["正"], "2025-02": ["二", "末"], "2025-03": ["三"]}

    @pytest.mark.parametrize(
        ("zone", "day", "stamp"),
        [
            ("Europe/Berlin", "2025-04-01", "2025-03-31T22:30:00.000Z"),
            ("America/New_York", "2025-04-01", "2025-04-01T04:10:00.000Z"),
            ("America/New_York", "2025-10-31", "2025-11-01T03:50:00.000Z"),
            ("Pacific/Kiritimati", "2025-04-01", "2025-03-31T10:00:00.000Z"),
        ],
    )
    def test_the_local_day_of_a_line_decides_its_month_across_summer_time(self, made, zone, day, stamp):
        mem = made({day: f"- [{stamp}] [-] 夜\n"}, tz=zone, now="2026-01-01T00:00Z")
        for period in PERIODS:
            assert len(mem.summarize_all(period).edits) == 1
        assert [path.stem for path in mem.root.glob("summaries/month/*.md")] == [day[:7]]
        assert findings(mem) == []

    def test_no_month_loses_an_entry_whose_stamp_is_of_the_day_before(self, made):
        text = "- [2025-08-31T10:00:00.000Z] [-] 路上\n- [2025-09-01T10:00:00.000Z] [-] 到家\n"
        mem = made({"2025-08-20": ["夏"], "2025-09-01": text}, tz="UTC", now="2025-12-01T00:00Z")
        for period in PERIODS:
            mem.summarize_all(period)
        texts = [text for path in mem.root.glob("summaries/month/*.md") for text in shown(path.read_text())]
        assert sorted(texts) == sorted(["夏", "路上", "到家"])

    def test_a_month_of_such_an_entry_alone_is_not_missing_for_ever(self, made):
        mem = made(
            {"2025-08-20": ["夏"], "2025-09-01": "- [2025-08-31T10:00:00.000Z] [-] 路上\n"}, tz="UTC", now="2025-12-01T00:00Z"
        )
        for period in PERIODS:
            mem.summarize_all(period)
        assert findings(mem) == []

    def test_a_stamp_of_another_day_of_the_same_week_is_kept_everywhere(self, made):
        mem = made({"2025-02-05": "- [2025-02-03T01:00:00.000Z] [-] 晚写\n"})
        for period in PERIODS:
            mem.summarize_all(period, until="2025-02-28")
        assert [
            shown((mem.root / path).read_text()) for path in ("summaries/day/2025-02-05.md", PLACE["week"], PLACE["month"])
        ] == [["晚写"]] * 3
        assert [rule for rule, *_ in mem.audit().frame[["rule"]].itertuples(index=False)] == ["partition-mismatch"]


class TestThePlan:
    def test_edits_are_a_lazy_sequence(self, mem):
        edits = mem.summarize_all("day", dry_run=True).edits
        paths = [f"summaries/day/{day}.md" for day in (D3, D4, D11)]
        assert (len(edits), bool(edits), [edit.path for edit in edits], [edit.path for edit in edits]) == (
            3,
            True,
            paths,
            paths,
        )
        assert (edits[-1].path, edits[0], [edit.path for edit in edits[1:]]) == (paths[2], edits[-3], paths[1:])
        assert [edit.path for edit in reversed(edits)] == [edit.path for edit in edits[::-1]] == paths[::-1]
        assert edits[1] in edits
        assert edits.index(edits[1]) == 1
        assert not edits[3:]
        for place in (3, -4):
            with pytest.raises(IndexError):
                edits[place]

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("period", PERIODS)
    @pytest.mark.parametrize("force", [False, True])
    def test_a_dry_run_writes_nothing_and_its_apply_exactly_its_diff(self, made, tmp_path, layout, period, force):
        mem = made({D3: ["一", "二"], D11: ["四"]}, layout)
        out = tmp_path / "o" if layout != "layers" else None
        options = {"until": "2025-02-28", "out": out, "force": force}
        if force:
            mem.summarize_all(period, **options)
        before, at = tree(tmp_path), stamps(tmp_path)
        dry = mem.summarize_all(period, dry_run=True, **options)
        assert (dry.applied, tree(tmp_path), stamps(tmp_path)) == (False, before, at)
        told, planned = dry.diff(), {edit.path: edit.after for edit in dry.edits}
        assert dry.apply() is dry
        assert dry.applied
        base = tmp_path if out else mem.root
        changed = {path: data.decode() for path, data in tree(base).items() if not path.startswith("store/")}
        changed = {path: text for path, text in changed.items() if path.startswith(("o/", "summaries/"))}
        assert changed == {path.removeprefix(f"{tmp_path}/"): text for path, text in planned.items()}
        assert dry.diff() == told
        at = stamps(tmp_path)
        dry.apply()
        assert stamps(tmp_path) == at

    def test_a_done_plan_says_the_same_as_its_dry_run(self, mem):
        dry = mem.summarize_all("week", dry_run=True)
        done = mem.summarize_all("week")
        assert (done.diff(), rows(done), list(done.edits)) == (dry.diff(), rows(dry), list(dry.edits))

    @pytest.mark.parametrize("where", ["store", "out"])
    def test_sources_that_changed_since_are_a_conflict(self, mem, tmp_path, where):
        out = tmp_path / "o" if where == "out" else None
        base = out or mem.root / "summaries"
        plan = mem.summarize_all("day", dry_run=True, out=out)
        cold = mem.root / day_path("layers", D4)
        cold.write_text(cold.read_text() + entry(D4, "五", 9))
        with pytest.raises(ConflictError, match=f"{D4}.*plan again"):
            plan.apply()
        assert not plan.applied
        assert not (base / f"day/{D4}.md").exists()
        assert rows(mem.summarize_all("day", out=out))[1][1:] == ("create", "2 entries")

    @pytest.mark.parametrize("where", ["store", "out"])
    def test_a_file_that_somebody_wrote_since_is_a_conflict(self, mem, tmp_path, where):
        out = tmp_path / "o" if where == "out" else None
        base = out or mem.root / "summaries"
        plan = mem.summarize_all("day", dry_run=True, out=out)
        put(base, f"day/{D4}.md", "手写\n")
        with pytest.raises(ConflictError, match=f"{D4}.*plan again"):
            plan.apply()
        assert (base / f"day/{D4}.md").read_text() == "手写\n"
        assert not (base / f"day/{D11}.md").exists()

    @pytest.mark.parametrize("where", ["store", "out"])
    def test_a_plan_that_was_stopped_half_way_goes_on_from_there(self, mem, tmp_path, where):
        out = tmp_path / "o" if where == "out" else None
        base = out or mem.root / "summaries"
        plan = mem.summarize_all("day", dry_run=True, out=out)
        put(base, f"day/{D4}.md", "手写\n")
        with pytest.raises(ConflictError):
            plan.apply()
        (base / f"day/{D4}.md").unlink()
        plan.apply()
        assert set(tree(base)) == {f"day/{day}.md" for day in (D3, D4, D11)}

    def test_a_lower_summary_that_appeared_since_is_a_conflict(self, mem):
        plan = mem.summarize_all("week", dry_run=True)
        mem.summarize("day", D3)
        with pytest.raises(ConflictError):
            plan.apply()
        assert not (mem.root / "summaries/week").exists()

    def test_showing_a_plan_of_a_thousand_periods_makes_few_of_them(self, made, monkeypatch):
        plan = made(spread(1000)).summarize_all("day", dry_run=True)
        calls, real = [], summary_edits.extract
        monkeypatch.setattr(summary_edits, "extract", lambda *a, **k: calls.append(1) or real(*a, **k))
        shown = plan._repr_mimebundle_()
        assert len(shown["text/html"]) < 100_000
        assert len(shown["text/plain"]) < 100_000
        assert "1,000 files to change" in shown["text/plain"]
        assert "20 of 1,000 rows" in shown["text/plain"]
        assert len(calls) < 300


class TestForget:
    @pytest.mark.parametrize("order", [PERIODS, PERIODS[::-1]])
    def test_leaves_nothing_in_any_summary(self, made, order):
        mem = made({D3: [SECRET, "二"], D4: ["三"], "2025-02-01": [SECRET]})
        for period in order:
            mem.summarize_all(period, until="2025-02-28")
        assert sum(SECRET.encode() in data for data in tree(mem.root).values()) >= 6
        mem.forget(SECRET).apply()
        assert [path for path, data in tree(mem.root).items() if b"4711" in data] == []
        assert not mem.summaries()["stale"].any()
        assert findings(mem) == []

    @pytest.mark.parametrize("period", PERIODS)
    @pytest.mark.parametrize("existing", [(), ("day",), PERIODS])
    @pytest.mark.parametrize("where", ["store", "out"])
    def test_a_plan_kept_from_before_does_not_bring_it_back(self, made, tmp_path, period, existing, where):
        mem = made({D3: [SECRET, "二"], D4: ["三"]})
        out = tmp_path / "o" if where == "out" else None
        for lower in existing:
            mem.summarize_all(lower, until="2025-02-28")
        plan = mem.summarize_all(period, dry_run=True, force=True, until="2025-02-28", out=out)
        mem.forget(SECRET).apply()
        with pytest.raises(ConflictError):
            plan.apply()
        assert [path for path, data in tree(tmp_path).items() if b"4711" in data] == []


class TestWhatLiesThere:
    @pytest.fixture
    def good(self, made):
        return str(made({D3: ["一", "二"]}, name="other").summary("day", D3))

    @pytest.fixture
    def kinds(self, good):
        mark = "，sha256:" + good.split("sha256:")[1][:12]
        return {
            "empty": b"",
            "UTF-16": good.encode("utf-16"),
            "BOM": b"\xef\xbb\xbf" + good.encode(),
            "CRLF": good.replace("\n", "\r\n").encode(),
            "no header": (entry(D3, "一", 0)).encode(),
            "no hash": good.replace(mark, "").encode(),
            "made at no time": good.replace("2025-02-28T13:30:00.000Z", "昨天").encode(),
            "made at no time, no hash": good.replace("2025-02-28T13:30:00.000Z", "昨天").replace(mark, "").encode(),
            "made in month 99": good.replace("2025-02-28T13", "9999-99-99T13").replace(mark, "").encode(),
            "junk": b"\xff\xfe\xff\x00\x80\x00" + good.encode(),
            "NUL": good.encode() + b"\0\0",
        }

    @pytest.mark.parametrize(
        "kind",
        [
            *("empty", "UTF-16", "BOM", "CRLF", "no header", "no hash", "made at no time"),
            *("made at no time, no hash", "made in month 99", "junk", "NUL"),
        ],
    )
    def test_is_read_without_a_crash_and_force_makes_it_good(self, mem, good, kinds, kind):
        path = put(mem.root, PLACE["day"], kinds[kind])
        at = path.stat().st_mtime_ns
        assert len(mem.summaries()) == 1
        mem.audit()
        for plan in (mem.summarize("day", D3), mem.summarize_all("day", until=D3, dry_run=kind == "empty")):
            assert rows(plan)[0][1] == ("rebuild" if kind == "empty" and not plan.applied else "unchanged")
        assert path.stat().st_mtime_ns == at
        why = "out of date" if kind == "empty" else "forced"
        assert rows(mem.summarize("day", D3, force=True)) == [(PLACE["day"], "rebuild", f"2 entries; {why}")]
        assert path.read_text() == good
        mem.summarize_all("day")
        assert findings(mem) == []

    @pytest.mark.parametrize("kind", ["UTF-16", "BOM", "CRLF", "no hash", "made at no time"])
    def test_out_reads_it_the_same(self, mem, good, kinds, kind, tmp_path):
        path = put(tmp_path, f"o/day/{D3}.md", kinds[kind])
        assert rows(mem.summarize_all("day", until=D3, out=tmp_path / "o"))[0][1] == "unchanged"
        mem.summarize("day", D3, force=True, out=tmp_path / "o")
        assert path.read_text() == good

    def test_dshs_own_is_out_of_date_when_an_entry_is_newer(self, mem, kinds):
        path = put(mem.root, PLACE["day"], kinds["no hash"].replace(b"2025-02-28T13:30", b"2025-02-03T00:30"))
        assert mem.summaries()["stale"].tolist() == [True]
        assert rows(mem.summarize("day", D3))[0][2] == OLD
        assert rows(mem.summarize_all("day", until=D3))[0][1:] == ("rebuild", "2 entries; out of date")
        assert b"sha256" in path.read_bytes()

    def test_a_file_that_is_read_only_is_replaced_and_keeps_its_mode(self, mem):
        mem.summarize("day", D3)
        path = mem.root / PLACE["day"]
        path.chmod(0o444)
        mem.summarize("day", D3, force=True)
        assert path.stat().st_mode & 0o777 == 0o444

    def test_a_foreign_name_among_the_summaries_is_left_alone(self, mem):
        kept = {
            "summaries/week/2025-W53.md": b"x\n",
            "summaries/week/notes.md": b"y\n",
            "summaries/week/2025-W06.md.bak": b"z\n",
        }
        for path, data in kept.items():
            put(mem.root, path, data)
        assert list(actions(mem.summarize_all("week", force=True))) == ["2025-W06", "2025-W07"]
        assert {path: tree(mem.root)[path] for path in kept} == kept

    @pytest.mark.parametrize("force", [False, True])
    @pytest.mark.parametrize("day", [D3, "2025-02-28"])
    def test_a_link_to_a_day_file_never_has_it_overwritten(self, made, force, day):
        mem = made({D3: ["一"], "2025-02-28": ["二"]})
        link = mem.root / f"summaries/day/{day}.md"
        link.parent.mkdir(parents=True)
        link.symlink_to(mem.root / day_path("layers", day))
        before = tree(mem.root)
        with suppress(MemkitError):
            mem.summarize("day", day, force=force)
        assert tree(mem.root) == before


class TestInterrupted:
    def test_what_is_finished_stays_and_the_rest_follows(self, made, monkeypatch):
        mem = made(spread(12))
        real, count = os.replace, []

        def stop(*paths):
            count.append(1)
            if len(count) == 5:
                raise KeyboardInterrupt
            real(*paths)

        with monkeypatch.context() as patch:
            patch.setattr(writer.os, "replace", stop)
            with pytest.raises(KeyboardInterrupt):
                mem.summarize_all("day")
        done = {path.name: path.read_text() for path in mem.root.rglob("summaries/*/*")}
        assert len(done) == 4
        assert all(text.startswith("# 日摘要") for text in done.values())
        plan = mem.summarize_all("day")
        assert list(plan.rows["action"]) == ["unchanged"] * 4 + ["create"] * 8
        assert findings(mem) == []

    def test_out_goes_on_too(self, made, tmp_path, monkeypatch):
        mem = made(spread(6), "workspace")
        real, count = batch_module.files.write_output, []

        def stop(*given, **options):
            count.append(1)
            if len(count) == 4:
                raise KeyboardInterrupt
            real(*given, **options)

        with monkeypatch.context() as patch:
            patch.setattr(batch_module.files, "write_output", stop)
            with pytest.raises(KeyboardInterrupt):
                mem.summarize_all("day", out=tmp_path / "o")
        assert list(mem.summarize_all("day", out=tmp_path / "o").rows["action"]) == ["unchanged"] * 3 + ["create"] * 3

    def test_a_full_disk_is_named_and_a_rerun_goes_on(self, made, monkeypatch):
        mem = made(spread(6))
        real, count = os.write, []

        def full(*given):
            count.append(1)
            if len(count) == 3:
                raise OSError(28, "No space left on device")
            return real(*given)

        with monkeypatch.context() as patch:
            patch.setattr(writer.os, "write", full)
            with pytest.raises(DiskError, match="make room"):
                mem.summarize_all("day")
        assert list(mem.summarize_all("day").rows["action"]) == ["unchanged"] * 2 + ["create"] * 4
        assert findings(mem) == []

    def test_the_lock_is_let_go_between_chunks_and_what_comes_in_meanwhile_is_seen(self, made, monkeypatch):
        mem = made(spread(4))
        monkeypatch.setattr(batch_module, "CHUNK", 1)
        real, other, day = batch_module.Shelf.write, open_at(mem.root, lock_timeout=0.5), "2025-02-27"

        def held(shelf, edit, today):
            real(shelf, edit, today)
            if edit.path.endswith("2025-02-24.md"):
                cold = mem.root / day_path("layers", day)
                cold.write_text(cold.read_text() + entry(day, "后来", 9))
                put(mem.root, "summaries/day/2025-02-26.md", "手写\n")

        monkeypatch.setattr(batch_module.Shelf, "write", held)
        plan = mem.summarize_all("day")
        assert other.append("锁是放开的").added == 1
        assert [row[1:] for row in rows(plan)][2:] == [("unchanged", CURRENT), ("create", "3 entries")]
        assert "后来" in (mem.root / f"summaries/day/{day}.md").read_text()
        assert len(plan.edits) == 3
        assert "后来" in plan.diff()


CHILD = """
import os, sys, time
import memkit
from memkit import batch
from memkit.files import write
batch.CHUNK = 7
mem = memkit.open(sys.argv[1], layout="layers", now={clock!r}, tz={zone!r}, lock_timeout=60)
print("ready", flush=True)
sys.stdin.readline()
{work}
"""
APPENDS = 40


@contextmanager
def children(root: Path, *works: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Start a process for each work, have all begin at once, and leave none behind."""
    with ExitStack() as stack:
        started = []
        for work in works:
            source = CHILD.format(clock=CLOCK, zone=ZONE, work=textwrap.dedent(work))
            pipe = subprocess.PIPE
            command = [sys.executable, "-c", source, str(root)]
            each = stack.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
            stack.callback(each.kill)
            started.append(each)
        for each in started:
            assert each.stdout.readline() == "ready\n", each.communicate()
        for each in started:
            each.stdin.write("\n")
            each.stdin.flush()
        yield started


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
class TestProcesses:
    def test_two_batches_and_an_appender_at_once_leave_every_file_whole(self, made):
        mem = made(spread(150))
        work = "for period in ('day', 'week', 'month'): mem.summarize_all(period, until='2025-02-28')"
        append = f"for n in range({APPENDS}): mem.append(f'第{{n}}条')"
        with children(mem.root, work, work, append) as started:
            errors = [each.communicate(timeout=100)[1] for each in started]
        assert errors == ["", "", ""]
        texts = [data.decode() for path, data in tree(mem.root).items() if path.startswith("summaries/")]
        assert all(text.startswith("# ") and text.endswith("\n") and "sha256" in text for text in texts)
        assert len(mem.between("2025-02-28", "2025-02-28")) == APPENDS
        for period in PERIODS:
            mem.summarize_all(period, until="2025-02-28")
        assert not mem.summaries()["stale"].any()
        assert findings(mem) == []
        assert not list(mem.root.rglob(".*.tmp"))

    def test_a_kill_in_the_middle_leaves_whole_files_and_a_rerun_completes(self, made):
        mem = made(spread(60))
        work = """
        real, count = os.replace, []
        def stop(*paths):
            count.append(1)
            if len(count) == 20:
                print("now", flush=True)
                time.sleep(100)
            real(*paths)
        write.os.replace = stop
        mem.summarize_all("day")
        """
        with children(mem.root, work) as (victim,):
            assert victim.stdout.readline() == "now\n"
            victim.send_signal(signal.SIGKILL)
            victim.communicate(timeout=100)
        texts = [path.read_text() for path in mem.root.rglob("summaries/day/*.md")]
        assert len(texts) == 19
        assert all(text.startswith("# 日摘要") and text.endswith("\n") for text in texts)
        plan = mem.summarize_all("day")
        assert list(plan.rows["action"]) == ["unchanged"] * 19 + ["create"] * 41
        assert {rule for rule, _ in findings(mem)} <= {"stray-temp"}


class TestMemory:
    @staticmethod
    def kept(made, count, **options):
        """Return how many bytes more than the loaded store a plan takes, and at most took, over so many days."""
        mem = made(spread(count, size=300), name=f"store{count}")
        if options.get("force"):
            mem.summarize_all("day")
        mem.summarize_all("day", dry_run=True, **options)
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            plan = mem.summarize_all("day", dry_run=True, **options)
            after, peak = tracemalloc.get_traced_memory()
            assert len(plan.edits) == count
            return after - before, peak - before
        finally:
            tracemalloc.stop()

    def test_a_dry_run_keeps_a_row_for_each_period_and_not_its_text(self, made):
        small, large = (self.kept(made, count)[0] for count in (150, 900))
        assert (large - small) / 750 < 700  # bytes a period; its text takes over 700


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestProgress:
    @staticmethod
    def terminal(monkeypatch, slow: float) -> Terminal:
        """Put a terminal in the place of stderr, for as long as the test goes on."""
        monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
        monkeypatch.setattr(progress, "SLOW", slow)
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    def test_says_nothing_in_a_pipe(self, made, monkeypatch, capfd):
        monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
        monkeypatch.setattr(progress, "SLOW", 0.0)
        made(spread(150, each=1)).summarize_all("day")
        assert capfd.readouterr() == ("", "")

    def test_shows_slow_work_on_a_terminal(self, made, monkeypatch):
        mem = made(spread(150, each=1))
        mem.entries()
        screen = self.terminal(monkeypatch, 0.0)
        mem.summarize_all("day")
        assert "memkit: summaries" in screen.getvalue()

    @pytest.mark.parametrize(("slow", "days", "asked"), [(3600.0, 150, True), (0.0, 150, False), (0.0, 99, True)])
    def test_says_nothing_of_quick_few_or_unasked(self, made, monkeypatch, slow, days, asked):
        mem = made(spread(days, each=1))
        mem.entries()
        screen = self.terminal(monkeypatch, slow)
        mem.summarize_all("day", progress=asked)
        assert screen.getvalue() == ""


def planted(kind: str, mem: Store) -> tuple[str, str]:
    """Put one fault into a store whose summaries are all good; return the rule and the path of its finding."""
    day = mem.root / PLACE["day"]
    text = day.read_text()
    if kind == "stale":
        cold = mem.root / day_path("layers", D3)
        cold.write_text(cold.read_text() + entry(D3, "五", 9))
        return "summary-stale", PLACE["day"]
    if kind == "invented":
        day.write_text(text + entry(D3, "没人说过", 9))
        return "summary-line-not-in-source", PLACE["day"]
    if kind == "foreign":
        week = mem.root / PLACE["week"]
        week.write_text(week.read_text() + entry(D11, "四", 0))
        return "summary-line-not-in-source", PLACE["week"]
    if kind == "retagged":
        day.write_text(text.replace("[家庭] 一", "[别的] 一"))
        return "summary-line-not-in-source", PLACE["day"]
    if kind == "over":
        day.write_text(text + text[text.index("- [") :] * 40)
        return "summary-over-budget", PLACE["day"]
    if kind == "missing day":
        day.unlink()
        return "summary-missing", PLACE["day"]
    if kind == "missing week":
        (mem.root / PLACE["week"]).unlink()
        return "summary-missing", PLACE["week"]
    raise AssertionError(kind)


class TestAudit:
    @pytest.mark.parametrize("kind", ["stale", "invented", "foreign", "retagged", "over", "missing day", "missing week"])
    def test_one_fault_is_one_finding(self, mem, kind):
        for period in PERIODS:
            mem.summarize_all(period, until="2025-02-28")
        assert findings(mem) == []
        assert [planted(kind, mem)] == findings(mem)

    @pytest.mark.parametrize("kind", ["stale", "invented", "retagged", "over", "missing day", "missing week"])
    def test_making_all_afresh_mends_it(self, mem, kind):
        for period in PERIODS:
            mem.summarize_all(period, until="2025-02-28")
        planted(kind, mem)
        for period in PERIODS:
            mem.summarize_all(period, until="2025-02-28", force=True)
        assert findings(mem) == []

    def test_unfinished_periods_and_stores_without_summaries_lack_none(self, made):
        mem = made({D3: ["一"], "2025-02-28": ["二"]})
        assert findings(mem) == []
        mem.summarize_all("day")
        mem.summarize_all("week")
        assert findings(mem) == []

    @pytest.mark.parametrize("kind", ["an empty day summary", "a tag longer than the budget", "an instant before year 1"])
    def test_a_summary_that_cannot_be_made_is_not_missing(self, made, kind):
        days: dict[str, list[str] | str] = {D3: ["一"], D11: ["四"]}
        if kind == "a tag longer than the budget":
            days[D3] = entry(D3, tag="长" * 1600)
        if kind == "an instant before year 1":
            days["0001-01-01"] = "- [0001-01-01T00:00:00+14:00] [-] 太初\n"
        mem = made(days)
        if kind == "an empty day summary":
            put(mem.root, PLACE["day"], "")
        for period in ("day", "week", "day", "week"):
            mem.summarize_all(period)
        assert "summary-missing" not in {rule for rule, _ in findings(mem)}

    def test_a_summary_whose_entries_are_all_gone_stays_and_is_told_without_advice(self, mem):
        mem.summarize_all("day")
        (mem.root / day_path("layers", D11)).unlink()  # as somebody does who keeps old days elsewhere
        mem.summarize("day", D11, force=True)
        assert (mem.root / f"summaries/day/{D11}.md").is_file()
        found = mem.audit().frame
        assert found[["rule", "fix"]].isna().to_numpy().tolist() == [[False, True]]


DAYS = [date(2024, 12, 23) + timedelta(n) for n in range(67)]
NASTY = [
    "茶",
    "🫖👨‍👩‍👧",
    "a\u2028b",
    "x" * 79,
    "x" * 80,
    "x" * 81,
    "字" * 121,
    "e\u0301" * 130,
    "…",
    "[x] y",
    "# 题",
    "> 引",
    "  双  空 ",
    "<!-- a",
    "\ufeff头",
]
TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(
        st.characters(exclude_categories=("Cs", "Cc"), include_characters="\t\u0085\u2028…「」字🙂"), min_size=1, max_size=200
    ),
)
TAGS = st.sampled_from(["-", "家庭", "计划", "a b", "🙂", "长" * 300])
ENTRIES = st.tuples(st.integers(0, 23), TAGS, TEXTS)
STORES = st.dictionaries(st.sampled_from(DAYS), st.lists(ENTRIES, min_size=1, max_size=12), min_size=1, max_size=12)


MARKDOWN = st.lists(
    st.one_of(
        TEXTS.map("- {}".format),
        TEXTS,
        st.sampled_from(
            ["", "## 14:30 茶", "- 14:30 茶 #绿", "- [ ] 做", "- 茶", "- 茶", "| a | b |", "|---|---|", "```", "---"]
        ),
        st.sampled_from(["  - 里面", "  接着", "> 引", "- [家庭] 茶", "- **记**：茶", "- ] [x] y", "- […] …", "<!-- 注 -->"]),
    ),
    max_size=15,
).map("\n".join)


def whole(text: str) -> str:
    return text if text.strip() and not text[0].isspace() else f"x{text}"


class TestAnyStore:
    @given(STORES, st.permutations([*PERIODS, *PERIODS]), st.integers(0, 5))
    @example({DAYS[0]: [(1, "-", "x" * 121)] * 12}, [*PERIODS, *PERIODS], 0)
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_summaries_made_in_any_order_are_within_budget_traced_and_without_a_finding(self, days, order, kept):
        with tempfile.TemporaryDirectory() as folder:
            for day, entries in days.items():
                lines = [entry(str(day), whole(text), hour, tag) for hour, tag, text in entries]
                put(Path(folder), day_path("layers", str(day)), "".join(lines + lines[:kept]))
            mem = open_at(folder, layout="layers", tz="UTC", now=ticking())
            for period in order:
                mem.summarize_all(period, progress=False)
            late = mem.root / day_path("layers", str(max(days)))
            late.write_bytes(late.read_bytes() + entry(str(max(days)), "后来", 23).encode())
            for period in PERIODS:
                mem.summarize_all(period, progress=False)
            assert {rule for rule, _ in findings(mem) if rule.startswith("summary")} == set()
            at = stamps(mem.root)
            for period in PERIODS:
                assert not mem.summarize_all(period, progress=False).edits
            assert stamps(mem.root) == at
            for path in mem.root.rglob("summaries/*/*.md"):
                lines = [line for line in path.read_bytes().decode().split("\n") if line.startswith("- [")]
                assert sum(len(line) + 1 for line in lines) <= LIMITS[path.parent.name].budget
                traced = mem.trace(path)
                assert len(traced) == len(lines)
                assert traced["path"].notna().all()
                assert not traced.duplicated(["path", "line"]).any()

    @given(st.sampled_from(["archive", "workspace"]), st.dictionaries(st.sampled_from(DAYS), MARKDOWN, min_size=1, max_size=4))
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_any_markdown_is_summed_up_within_budget_and_traced(self, layout, days):
        with tempfile.TemporaryDirectory() as folder:
            for day, text in days.items():
                put(Path(folder), f"store/{day_path(layout, str(day))}", text)
            mem, out = open_at(f"{folder}/store", layout=layout, tz="UTC", now=ticking()), Path(folder) / "o"
            for period in PERIODS:
                mem.summarize_all(period, out=out)
                assert not mem.summarize_all(period, out=out).edits
            for path in out.rglob("*.md"):
                lines = [line for line in path.read_bytes().decode().split("\n") if line.startswith("- [")]
                assert sum(len(line) + 1 for line in lines) <= LIMITS[path.parent.name].budget
                traced = mem.trace(path)
                assert len(traced) == len(lines)
                assert traced["path"].notna().all()
                assert not traced.duplicated(["path", "line"]).any()


def test_the_samples_are_idempotent_in_every_layout(tmp_path):
    for layout in LAYOUTS:
        mem = open_at(shutil.copytree(SAMPLES / layout, tmp_path / layout))
        out = None if layout == "layers" else tmp_path / f"{layout}-out"
        for period in PERIODS:
            mem.summarize_all(period, until="2025-02-28", out=out)
            plan = mem.summarize_all(period, until="2025-02-28", out=out)
            assert {row[1:] for row in rows(plan)} == {("unchanged", CURRENT)}
        assert findings(mem) == []
