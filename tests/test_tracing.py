"""trace: each line of a summary has the entry it was copied from, and a line of nobody has none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from conftest import SAMPLES, open_at

from memkit import schema
from memkit.dates import PERIODS
from memkit.errors import BadArgument
from memkit.tracing import TRACE, titled

LAYOUTS = ("archive", "workspace", "layers")
D3, D4 = "2025-02-03", "2025-02-04"
LONG = "长" * 120


def entry(day: str, text: str, tag: str = "家庭", hour: int = 2) -> str:
    return f"- [{day}T{hour:02d}:00:00.000Z] [{tag}] {text}\n"


def put(root: Path, path: str, text: str) -> Path:
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text)
    return full


def places(frame: pd.DataFrame) -> list[tuple[str | None, int]]:
    return [(None if pd.isna(path) else path, line) for path, line in zip(frame["path"], frame["line"], strict=True)]


def said(text: str) -> list[tuple[int, str]]:
    """Return the entry lines of a summary by number."""
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.startswith("- [")]


@pytest.fixture
def made(tmp_path):
    """Return a function that opens a layered store made of day files."""

    def make(days: dict[str, list[str]], **options):
        root = tmp_path / f"store{len(list(tmp_path.iterdir()))}"
        root.mkdir()
        for day, lines in days.items():
            put(root, f"cold/{day[:7]}/{day}.md", "".join(lines))
        return open_at(root, layout="layers", **options)

    return make


class TestSamples:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("period", PERIODS)
    def test_every_line_of_every_summary_has_its_own_entry(self, tmp_path, layout, period):
        mem = open_at(shutil.copytree(SAMPLES / layout, tmp_path / "store"))
        mem.summarize_all(period, until="2025-02-28", out=tmp_path / "o")
        paths = [*(tmp_path / "o").rglob("*.md"), *mem.root.glob(f"summaries/{period}/*.md")]
        assert len(paths) > 2
        entries = mem.entries().set_index(["path", "line"])
        for path in paths:
            frame, lines = mem.trace(path), said(path.read_text())
            assert frame["summary_line"].tolist() == [number for number, _ in lines]
            assert frame["path"].notna().all()
            assert not frame.duplicated(["path", "line"]).any()
            for row, (_, line) in zip(frame.itertuples(), lines, strict=True):
                assert line.endswith(f"] {row.shown}")
                whole = " ".join(entries.loc[(row.path, row.line), "text"].split())
                assert row.shown == whole or (row.shown.endswith("…") and whole.startswith(row.shown[:-1]))

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("period", PERIODS)
    def test_what_summary_gives_is_traced_without_a_file(self, layout, period):
        mem = open_at(SAMPLES / layout)
        days = mem.entries()["date"].dropna()
        for date in (days.min(), days.iloc[len(days) // 2], days.max()):
            text = mem.summary(period, date)
            frame = mem.trace(text)
            assert len(frame) == len(said(text)) > 0
            assert frame["path"].notna().all()
            pd.testing.assert_frame_equal(mem.trace(str(text)), frame)


class TestShape:
    def test_columns_and_dtypes_are_those_of_the_schema(self, made):
        mem = made({D3: [entry(D3, "一")]})
        for summary in (mem.summary("day", D3), f"# 日摘要 {D3}\n", f"# 日摘要 {D3}\n\n{entry(D3, '没人说过')}"):
            frame = mem.trace(summary)
            assert list(frame.columns) == ["summary_line", "shown", *schema.ENTRIES]
            expected = schema.frame(TRACE)
            assert frame.dtypes.astype(str).to_dict() == expected.dtypes.astype(str).to_dict()

    def test_a_summary_without_lines_has_no_rows(self, made):
        assert len(made({}).trace(f"# 周摘要 2025-W06（{D3} – 2025-02-09）\n")) == 0

    def test_the_row_is_the_entry(self, made):
        mem = made({D3: ["# 题\n", "\n", entry(D3, LONG + "尾", hour=3)]})
        (row,) = mem.trace(mem.summary("day", D3)).itertuples(index=False)
        assert (row.summary_line, row.shown, row.text, row.line) == (6, LONG + "…", LONG + "尾", 3)
        assert (str(row.date.date()), row.tag, row.kind, row.chars) == (D3, "家庭", "daily", 121)
        assert row.written_at == pd.Timestamp(f"{D3}T03:00Z")

    def test_reading_a_trace_writes_nothing(self, made):
        mem = made({D3: [entry(D3, "一")]})
        mem.summarize("day", D3)
        at = {path: path.stat().st_mtime_ns for path in mem.root.rglob("*")}
        mem.trace("summaries/day/2025-02-03.md")
        assert {path: path.stat().st_mtime_ns for path in mem.root.rglob("*")} == at


class TestWhichEntry:
    def test_duplicates_are_given_different_entries(self, made):
        mem = made({D3: [entry(D3, "一"), entry(D3, "一")], D4: [entry(D3, "一")]})
        assert places(mem.trace(mem.summary("week", D3))) == [
            ("cold/2025-02/2025-02-03.md", 1),
            ("cold/2025-02/2025-02-03.md", 2),
            ("cold/2025-02/2025-02-04.md", 1),
        ]

    def test_more_equal_lines_than_entries_share_them(self, made):
        mem = made({D3: [entry(D3, "一")]})
        assert len(set(places(mem.trace(f"# 日摘要 {D3}\n\n{entry(D3, '一') * 3}")))) == 1

    @pytest.mark.parametrize("tails", [("一", "二"), ("一", "…"), ("…", "一"), ("", "一"), ("一", "")])
    def test_texts_that_are_alike_as_far_as_they_are_shown_are_given_in_order(self, made, tails):
        mem = made({D3: [entry(D3, LONG + tail) for tail in tails]})
        assert [line for _, line in places(mem.trace(mem.summary("day", D3)))] == [1, 2]

    def test_a_line_written_by_hand_has_no_path(self, made):
        mem = made({D3: [entry(D3, "一")], D4: [entry(D4, "二")]})
        lines = [
            entry(D3, "没人说过"),
            entry(D3, "一", tag="别的"),
            entry(D3, "一", hour=5),
            entry(D4, "二"),
            entry(D3, "一二…"),
        ]
        frame = mem.trace(f"# 日摘要 {D3}\n\n{''.join(lines)}")
        assert places(frame) == [(None, 0)] * 5
        assert frame["shown"].tolist() == ["没人说过", "一", "一", "二", "一二…"]
        assert frame["date"].isna().all()

    def test_lines_that_are_no_entries_are_passed_over(self, made):
        mem = made({D3: [entry(D3, "一")]})
        text = f"# 日摘要 {D3}\n\n> 引\n- 无时间\n  {entry(D3, '一')}* x\n{entry(D3, '一')}> 另有 4 条因字数预算省略。\n"
        assert mem.trace(text)["summary_line"].tolist() == [7]

    def test_a_month_made_of_weeks_is_traced_to_the_days(self, made):
        days = {day: [entry(day, f"{day}{LONG}")] for day in ("2025-01-30", "2025-02-01", D3, "2025-02-24")}
        mem = made(days, now="2025-06-01T00:00Z")
        for period in PERIODS:
            mem.summarize_all(period)
        for path in mem.root.glob("summaries/month/*.md"):
            frame = mem.trace(path)
            assert "summaries/week/" in path.read_text()
            assert frame["shown"].str.endswith("…").all()
            assert frame["path"].tolist() == [f"cold/{day[:7]}/{day}.md" for day in days if day.startswith(path.stem)]

    def test_an_entry_whose_stamp_is_of_another_day_is_found_in_its_file(self, made):
        mem = made({"2025-02-05": ["- [2025-02-03T01:00:00.000Z] [-] 晚写\n"]})
        for period in PERIODS:
            assert places(mem.trace(mem.summary(period, "2025-02-05"))) == [("cold/2025-02/2025-02-05.md", 1)]

    def test_a_summary_of_another_store_has_no_entry_here(self, made):
        text = made({D3: [entry(D3, "一")]}).summary("day", D3)
        assert places(made({}).trace(text)) == [(None, 0)]


class TestGiven:
    @pytest.fixture
    def mem(self, made):
        mem = made({D3: [entry(D3, "一")], D4: [entry(D4, "二")]})
        mem.summarize("day", D3)
        return mem

    def test_a_path_of_the_store_as_text_and_as_path_absolute_and_relative(self, mem):
        path = f"summaries/day/{D3}.md"
        for given in (path, Path(path), mem.root / path, str(mem.root / path)):
            assert places(mem.trace(given)) == [("cold/2025-02/2025-02-03.md", 1)]

    @pytest.mark.parametrize("out", ["o", "./o", "../o", "~/o", "deep/er/o"])
    def test_the_path_of_what_was_written_with_out_as_the_plan_names_it(self, mem, tmp_path, monkeypatch, out):
        (tmp_path / "cwd").mkdir()
        monkeypatch.chdir(tmp_path / "cwd")
        monkeypatch.setenv("HOME", str(tmp_path))
        plan = mem.summarize("day", D3, out=out)
        for given in (plan.rows["row"][0], plan.edits[0].path, f"{out}/day/{D3}.md"):
            assert places(mem.trace(given)) == [("cold/2025-02/2025-02-03.md", 1)]

    @pytest.mark.parametrize(
        "given",
        [
            7,
            None,
            b"x",
            "",
            "x" * 5000,
            "a\0b",
            "/",
            "cold",
            "../../none",
            "~nobody-of-this-name/x",
            "none.md",
            "a\nb",
            "\n",
            Path("/"),
        ],
        ids=lambda given: repr(given)[:20],
    )
    def test_what_is_neither_a_summary_nor_its_path_is_refused(self, mem, given):
        with pytest.raises(BadArgument):
            mem.trace(given)

    @pytest.mark.parametrize("key", ["2025-W99", "2025-13", "2025-02-30", "0000-01"])
    def test_a_title_of_no_period_is_refused(self, mem, key):
        with pytest.raises(BadArgument, match=key):
            mem.trace(f"# 摘要 {key}\n\n{entry(D3, '一')}")

    def test_a_summary_in_utf_16_or_with_crlf_is_read(self, mem, tmp_path):
        text = str(mem.summary("day", D3))
        for n, data in enumerate((text.encode("utf-16"), text.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + text.encode())):
            path = tmp_path / f"{n}.md"
            path.write_bytes(data)
            assert places(mem.trace(path)) == [("cold/2025-02/2025-02-03.md", 1)]

    def test_a_title_quoted_by_an_entry_is_no_title(self, made):
        mem = made({D3: [entry(D3, "看 # 日摘要 2025-01-01 去")]})
        assert titled(entry(D3, "看 # 日摘要 2025-01-01 去")).key == ""
        assert places(mem.trace(entry(D3, "看 # 日摘要 2025-01-01 去"))) == [("cold/2025-02/2025-02-03.md", 1)]

    @pytest.mark.parametrize("title", ["", f"# 日摘要 {D4}\n\n"])
    def test_a_stored_summary_is_of_the_period_that_its_path_names(self, mem, title):
        path = put(mem.root, f"summaries/day/{D3}.md", title + entry(D3, "一") + entry(D4, "二"))
        assert [place for place, _ in places(mem.trace(path))] == ["cold/2025-02/2025-02-03.md", None]
        faults = mem.audit().frame
        assert faults.loc[faults["rule"] == "summary-line-not-in-source", "line"].tolist() == [4 if title else 2]
