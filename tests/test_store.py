"""The same promises for all three layouts: one conformance class, run over a copy of each sample."""

from __future__ import annotations

import hashlib
import os
import shutil
from datetime import UTC, date, datetime
from pathlib import Path

import pandas as pd
import pytest

import memkit
from memkit import files, schema
from memkit.store import Store

SAMPLES = Path(__file__).parent.parent / "data-samples"
CLOCK = "2025-02-28T21:30+08:00"
ZONE = "Asia/Shanghai"
TODAY = date(2025, 2, 28)
NOUNS = {
    "entries": schema.ENTRIES,
    "days": schema.DAYS,
    "catalog": schema.CATALOG,
    "summaries": schema.SUMMARIES,
    "topics": schema.TOPICS,
    "tags": schema.TAGS,
    "files": schema.FILES,
}


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """Return hash and mtime of everything below a folder, folders included."""
    found = {}
    for path in sorted(folder.rglob("*")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (digest, path.lstat().st_mtime_ns)
    return found


def dtypes(frame: pd.DataFrame) -> dict[str, object]:
    return dict(frame.dtypes)


@pytest.fixture(params=["archive", "workspace", "layers"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    shutil.copytree(SAMPLES / request.param, tmp_path / "vault")
    return memkit.open(tmp_path / "vault", now=CLOCK, tz=ZONE)


@pytest.fixture(params=["archive", "workspace", "layers"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return memkit.open(tmp_path / "nothing here", layout=request.param, now=CLOCK, tz=ZONE)


def first_day_file(mem: Store) -> Path:
    return mem.root / mem.days()["path"].iloc[0]


def append_bytes(path: Path, data: bytes) -> None:
    with path.open("ab") as handle:
        handle.write(data)


NEW_ENTRY = {
    "archive": "- [测试] 新来的一条\n",
    "workspace": "\n- [测试] 新来的一条\n",
    "layers": "- [2024-12-16T09:00:00.000Z] [测试] 新来的一条\n",
}


class TestEveryLayout:
    @pytest.mark.parametrize("noun", NOUNS)
    def test_a_noun_has_its_columns_and_dtypes_in_order(self, mem: Store, noun: str) -> None:
        assert dtypes(getattr(mem, noun)()) == NOUNS[noun]
        assert list(getattr(mem, noun)()) == list(NOUNS[noun])

    @pytest.mark.parametrize("noun", NOUNS)
    def test_an_empty_store_has_the_same_columns_and_dtypes(self, empty: Store, noun: str) -> None:
        frame = getattr(empty, noun)()
        assert len(frame) == 0
        assert dtypes(frame) == NOUNS[noun]
        assert not empty.root.exists()

    def test_entries_come_by_date_path_and_line_with_undated_last(self, mem: Store) -> None:
        frame = mem.entries()
        expected = frame.sort_values(["date", "path", "line"], na_position="last", ignore_index=True)
        pd.testing.assert_frame_equal(frame, expected)

    def test_chars_are_code_points_and_no_text_is_empty(self, mem: Store) -> None:
        frame = mem.entries()
        assert frame["chars"].tolist() == [len(text) for text in frame["text"]]
        for name, dtype in schema.ENTRIES.items():
            if dtype == schema.STR:
                assert not (frame[name] == "").any()

    def test_each_line_range_lies_in_its_file(self, mem: Store) -> None:
        for path, rows in mem.entries(dreams=True).groupby("path"):
            count = (mem.root / path).read_bytes().count(b"\n") + 1
            assert rows["line"].min() >= 1
            assert (rows["line"] <= rows["end_line"]).all()
            assert rows["end_line"].max() <= count

    def test_dreams_are_left_out_unless_asked_for(self, mem: Store) -> None:
        dreams = mem.entries(dreams=True)
        assert "dream" not in set(mem.entries()["kind"])
        assert (len(dreams) > len(mem.entries())) == (mem.layout == "workspace")

    def test_editable_entries_have_a_digest_of_tag_and_text(self, mem: Store) -> None:
        frame = mem.entries(editable=True)
        assert frame["digest"].dtype == "Int64"
        assert frame["digest"].max() < 2**53
        again = memkit.open(mem.vault, now=CLOCK, tz=ZONE).entries(editable=True)
        assert frame["digest"].tolist() == again["digest"].tolist()
        assert frame["digest"].nunique() == len(frame.drop_duplicates(["tag", "text"]))

    def test_a_frame_handed_out_is_the_callers_own(self, mem: Store) -> None:
        before = mem.entries()
        spoilt = mem.entries()
        spoilt["text"] = "x"
        spoilt.loc[:, "tag"] = "y"
        pd.testing.assert_frame_equal(mem.entries(), before)

    def test_the_sample_audits_clean(self, mem: Store) -> None:
        report = mem.audit()
        assert report.frame.to_dict("records") == []
        assert report.ok
        assert report.checked == mem.files()["skipped"].isna().sum()

    def test_recent_is_closed_and_counts_today(self, mem: Store) -> None:
        days = mem.recent(5)["date"].dt.date
        assert days.max() == TODAY
        assert days.min() >= date(2025, 2, 24)
        pd.testing.assert_frame_equal(mem.recent(5), mem.between("2025-02-24", "2025-02-28"))
        assert set(mem.recent(1)["date"].dt.date) == {TODAY}

    def test_matching_agrees_with_a_plain_scan(self, mem: Store) -> None:
        frame = mem.entries()
        for word in ("壶", "火锅", "C++", "坚果云", "《", "PANDAS"):
            held = frame["text"].str.casefold() + "\0" + frame["tag"].fillna("").str.casefold()
            expected = {(p, n) for p, n, t in zip(frame["path"], frame["line"], held, strict=True) if word.casefold() in t}
            found = mem.matching(word)
            assert set(zip(found["path"], found["line"], strict=True)) == expected, word

    def test_answers_come_newest_first(self, mem: Store) -> None:
        dates = mem.matching("的")["date"].dropna()
        assert len(dates) > 10
        assert dates.is_monotonic_decreasing

    def test_tagged_finds_each_tag_of_an_entry(self, mem: Store) -> None:
        tags = mem.tags()
        for tag in tags["tag"].unique():
            rows = tags[tags["tag"].str.casefold() == tag.casefold()]
            assert len(mem.tagged(f"[{tag}]")) == len(rows.drop_duplicates(["path", "line"]))
        assert len(mem.tagged("-")) == mem.entries()["tag"].isna().sum()

    @pytest.mark.parametrize("by", ["day", "week", "month", "year", "weekday", "hour", "tag", "label", "kind", "path"])
    def test_volume_adds_up(self, mem: Store, by: str) -> None:
        frame, volume = mem.entries(), mem.volume(by)
        assert next(iter(volume)) == by
        if by != "tag":
            assert volume["entries"].sum() == len(frame)
            assert volume["chars"].sum() == frame["chars"].sum() == volume["cumulative_chars"].iloc[-1]
            assert volume["bytes"].sum() == sum(len(text.encode()) for text in frame["text"])
            assert volume["share"].sum() == pytest.approx(1)

    def test_volume_by_day_has_zeros_between_first_and_last(self, mem: Store) -> None:
        volume = mem.volume("day").dropna(subset="day")
        assert len(volume) == 75
        gone = mem.gaps()["days"].sum()
        assert (volume["entries"] == 0).sum() == gone > 0

    def test_days_agree_with_the_entries_of_day_files(self, mem: Store) -> None:
        days, frame = mem.days(), mem.entries()
        daily = frame[frame["kind"].isin(["daily", "daily-slug"])]
        assert days["entries"].tolist() == daily.groupby("date").size().tolist()
        assert days["chars"].tolist() == daily.groupby("date")["chars"].sum().tolist()
        assert days["frozen"].tolist() == [day.date() < TODAY for day in days["date"]]

    def test_overview_has_the_facts_of_mem_stats(self, mem: Store) -> None:
        facts = mem.overview()["value"]
        assert facts["layout"] == mem.layout
        assert facts["entries"] == len(mem.entries())
        assert facts["cold.files"] == mem.days()["files"].sum()
        assert facts["cold.latest"] == "2025-02-28"
        assert facts["cold.months.2025-02.latest"] == "2025-02-28"
        months = [name for name in facts.index if name.startswith("cold.months.") and name.endswith(".files")]
        assert months == [f"cold.months.{month}.files" for month in ("2025-02", "2025-01", "2024-12")]
        assert facts["summaries.week.files"] == (mem.summaries()["period"] == "week").sum()
        assert facts["hot.chars"] == len(mem.hot().content)

    def test_a_summary_only_repeats_what_the_entries_say(self, mem: Store) -> None:
        for period in ("day", "week", "month"):
            text = mem.summary(period)
            lines = [line for line in text.split("\n") if line.startswith("- [")]
            assert lines
            folded = {" ".join(entry.split()) for entry in mem.entries()["text"]}
            for line in lines:
                said = line.split("] ", 2)[2].removesuffix("…")
                assert any(entry.startswith(said) for entry in folded), line

    def test_a_summary_names_each_source_once_and_takes_a_key(self, mem: Store) -> None:
        text = mem.summary("week", "2025-02-26")
        names = text.split("来源：")[1].split("（")[0].split("、")
        assert len(names) == len(set(names)) >= 5
        assert mem.summary("week", "2025-W09") == text
        assert mem.summary("month", "2025-02") == mem.summary("month", date(2025, 2, 1))
        with pytest.raises(memkit.BadArgument, match=r"^date: "):
            mem.summary("week", "2025-W53")

    def test_a_summary_of_nothing_says_so(self, mem: Store) -> None:
        assert "没有条目" in mem.summary("week", "2025-01-29")

    def test_a_day_gives_its_text_entries_and_index(self, mem: Store) -> None:
        day = mem.day("2025-02-28")
        assert day.text == (mem.root / day.path).read_text("utf-8")
        assert len(day.entries) == (mem.entries()["date"] == "2025-02-28").sum()
        assert (day.index is not None) == (mem.layout == "archive")
        assert day.path in repr(day)

    def test_a_day_without_file_names_the_nearest(self, mem: Store) -> None:
        with pytest.raises(memkit.BadArgument, match=r"2025-01-29 has no file here; the nearest day that has one is 20"):
            mem.day("2025-01-29")

    @pytest.mark.parametrize(
        ("call", "named"),
        [
            (lambda mem: mem.recent(0), "days"),
            (lambda mem: mem.recent("3"), "days"),
            (lambda mem: mem.between("2025-02-30", "2025-03-01"), "start"),
            (lambda mem: mem.between("2025-02-02", "2025-02-01"), "start"),
            (lambda mem: mem.between("2025-02-02", None), "end"),
            (lambda mem: mem.matching("   "), "query"),
            (lambda mem: mem.matching("x", mode="xor"), "mode"),
            (lambda mem: mem.matching("x", fields=("path",)), "fields"),
            (lambda mem: mem.tagged(" "), "tag"),
            (lambda mem: mem.volume("moon"), "by"),
            (lambda mem: mem.summary("year"), "period"),
            (lambda mem: mem.summary("day", "tomorrow"), "date"),
            (lambda mem: mem.export("/nowhere", format="xlsx"), "format"),
        ],
    )
    def test_a_bad_argument_is_named(self, mem: Store, call: object, named: str) -> None:
        with pytest.raises(memkit.BadArgument, match=f"^{named}: "):
            call(mem)  # type: ignore[operator]

    def test_reading_changes_no_byte_no_time_and_leaves_no_file(self, mem: Store) -> None:
        before = tree(mem.vault)
        for noun in NOUNS:
            getattr(mem, noun)()
        mem.hot(), mem.day("2025-02-28"), mem.overview(), mem.gaps(), mem.duplicates(), mem.audit(), repr(mem)
        mem.recent(30), mem.tagged("计划"), mem.matching("火锅"), mem.volume("tag"), mem.summary("month")
        mem.export(mem.vault.parent / "out")
        assert tree(mem.vault) == before

    def test_asking_again_reads_nothing(self, mem: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        mem.entries()
        read: list[str] = []
        for name in ("read", "read_plain"):
            real = getattr(files, name)
            monkeypatch.setattr(
                files, name, lambda root, fact, *rest, real=real: read.append(fact.path) or real(root, fact, *rest)
            )
        mem.entries(), mem.days(), mem.volume("month"), mem.recent(3), repr(mem)
        assert read == []
        path = first_day_file(mem)
        append_bytes(path, NEW_ENTRY[mem.layout].encode())
        mem.entries(), mem.matching("新来的")
        assert read == [path.relative_to(mem.root).as_posix()]

    def test_a_changed_a_new_and_a_deleted_file_are_noticed(self, mem: Store) -> None:
        before = mem.entries()
        path = first_day_file(mem)
        append_bytes(path, NEW_ENTRY[mem.layout].encode())
        assert mem.matching("新来的一条")["date"].dt.date.tolist() == [date(2024, 12, 16)]
        assert len(mem.entries()) == len(before) + 1
        assert mem.tagged("测试")["text"].tolist() == ["新来的一条"]
        path.unlink()
        assert len(mem.entries()) == len(before) - (before["path"] == before["path"].iloc[0]).sum()
        assert len(mem.tagged("测试")) == 0

    def test_a_file_replaced_with_same_size_and_time_is_noticed(self, mem: Store) -> None:
        path = first_day_file(mem)
        mem.entries()
        old = path.stat()
        other = path.with_suffix(".new")
        text = path.read_text("utf-8")
        other.write_text(text[:-6] + "卍" + text[-5:], encoding="utf-8")
        os.utime(other, ns=(old.st_atime_ns, old.st_mtime_ns))
        other.replace(path)
        assert len(mem.matching("卍")) == 1

    def test_the_incremental_frame_equals_a_fresh_one(self, mem: Store) -> None:
        mem.entries()
        for path in mem.days()["path"].iloc[[0, 3, -1]]:
            append_bytes(mem.root / path, NEW_ENTRY[mem.layout].encode())
        (mem.root / mem.days()["path"].iloc[1]).unlink()
        fresh = memkit.open(mem.vault, now=CLOCK, tz=ZONE)
        for noun in NOUNS:
            ours, theirs = getattr(mem, noun)(), getattr(fresh, noun)()
            if noun == "tags":
                ours, theirs = (frame.sort_values(["path", "line", "tag"], ignore_index=True) for frame in (ours, theirs))
            pd.testing.assert_frame_equal(ours, theirs)

    def test_an_interrupted_reading_is_taken_up_again(self, mem: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        mem.entries()
        append_bytes(first_day_file(mem), NEW_ENTRY[mem.layout].encode())

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(files, "read", interrupted)
            patch.setattr(files, "read_plain", interrupted)
            with pytest.raises(KeyboardInterrupt):
                mem.entries()
        assert len(mem.matching("新来的一条")) == 1

    def test_the_card_says_the_same_as_html_and_text(self, mem: Store) -> None:
        bundle = mem._repr_mimebundle_()
        for fact in (mem.layout, f"{len(mem.entries())}", "2024-12-16", "2025-02-28", "no findings", "2025-01"):
            assert fact in bundle["text/plain"]
            assert fact in bundle["text/html"]
        assert len(bundle["text/html"].encode()) <= 8 * 1024
        assert repr(mem) == bundle["text/plain"]

    def test_an_empty_store_answers_everything(self, empty: Store) -> None:
        assert empty.audit().ok
        assert len(empty.volume("month")) == len(empty.gaps()) == len(empty.duplicates()) == len(empty.recent(3)) == 0
        assert empty.overview().loc["entries", "value"] == 0
        assert empty.hot().content == ""
        assert "Nothing is remembered here yet" in repr(empty)

    @pytest.mark.parametrize("format", ["parquet", "csv", "json"])
    def test_an_export_gives_every_frame_back_exactly(self, mem: Store, tmp_path: Path, format: str) -> None:
        written = mem.export(tmp_path / "out", format)
        frames = memkit.read_export(tmp_path / "out")
        assert written["frame"].tolist() == list(frames) == list(schema.SCHEMAS)
        for name, frame in frames.items():
            expected = mem.entries(dreams=True) if name == "entries" else getattr(mem, name)()
            pd.testing.assert_frame_equal(frame, expected)

    def test_an_export_into_the_store_is_refused(self, mem: Store) -> None:
        with pytest.raises(memkit.PathError, match="inside the memory store"):
            mem.export(mem.root / "out")
        assert not (mem.root / "out").exists()


class TestExport:
    def test_odd_texts_stay_texts_in_every_format(self, tmp_path: Path) -> None:
        odd = [
            "None",
            "NA",
            "nan",
            "null",
            "=1+1",
            "+2",
            "@x",
            '"quoted',
            "a\tb",
            "1.10",
            "0123",
            "True",
            "，",
            "a\u2028b",
            "-",
        ]
        (tmp_path / "vault" / "memory").mkdir(parents=True)
        body = "".join(f"- {text}\n" for text in odd) + "- two\n  lines\n"
        (tmp_path / "vault" / "memory" / "2025-02-03.md").write_text(body, encoding="utf-8")
        mem = memkit.open(tmp_path / "vault", now=CLOCK, tz=ZONE)
        assert mem.entries()["text"].tolist() == [*odd, "two\nlines"]
        for format in ("parquet", "csv", "json"):
            mem.export(tmp_path / format, format)
            pd.testing.assert_frame_equal(memkit.read_export(tmp_path / format)["entries"], mem.entries())

    def test_a_changed_or_missing_file_is_an_error(self, tmp_path: Path) -> None:
        mem = memkit.open(SAMPLES / "archive", now=CLOCK, tz=ZONE)
        mem.export(tmp_path, "csv")
        with (tmp_path / "tags.csv").open("a") as handle:
            handle.write("x")
        with pytest.raises(memkit.ExportError, match="changed since it was exported"):
            memkit.read_export(tmp_path)
        (tmp_path / "tags.csv").unlink()
        with pytest.raises(memkit.ExportError, match=r"tags\.csv: no such file"):
            memkit.read_export(tmp_path)
        with pytest.raises(memkit.ExportError, match="name the folder of a memkit export"):
            memkit.read_export(tmp_path / "elsewhere")

    def test_a_file_that_no_export_wrote_is_never_written_over(self, tmp_path: Path) -> None:
        mem = memkit.open(SAMPLES / "archive", now=CLOCK, tz=ZONE)
        (tmp_path / "tags.csv").write_text("mine")
        with pytest.raises(memkit.ExportError, match=r"tags\.csv which no export wrote"):
            mem.export(tmp_path, "csv")
        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("tags.csv", "mine")]
        with pytest.raises(memkit.PathError, match="not a folder"):
            mem.export(tmp_path / "tags.csv", "csv")
        mem.export(tmp_path / "out", "csv")
        assert len(mem.export(tmp_path / "out", "csv")) == len(schema.SCHEMAS)


class TestShownAsMarkdown:
    def test_a_day_and_a_summary_load_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "archive" / "2025").mkdir(parents=True)
        head = "---\ndate: 2025-02-28\nindex: '图'\n---\n"
        body = "- 看 ![图](https://example.org/a.png) 和 <img src=x onerror=alert(1)>\n\n```\n<b>代码</b>\n```\n"
        (tmp_path / "archive" / "2025" / "2025-02-28.md").write_text(head + body, encoding="utf-8")
        mem = memkit.open(tmp_path, now=CLOCK, tz=ZONE)
        for shown in (mem.day("2025-02-28")._repr_markdown_(), mem.summary("day")._repr_markdown_()):
            assert "](https://example.org/a.png)" in shown
            assert "![" not in shown
            assert "<img" not in shown
        assert mem.day("2025-02-28")._repr_markdown_().startswith("    date: 2025-02-28\n")
        assert "<b>代码</b>" in mem.day("2025-02-28")._repr_markdown_()
        assert mem.day("2025-02-28").text == head + body


class TestTheClock:
    def test_tz_decides_what_today_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "America/New_York")
        (tmp_path / "memory").mkdir()
        for day in ("2026-04-11", "2026-04-12"):
            (tmp_path / "memory" / f"{day}.md").write_text(f"- {day} 的一条\n", encoding="utf-8")
        now = datetime(2026, 4, 11, 19, 53, tzinfo=UTC)
        ahead, behind = (memkit.open(tmp_path, now=now, tz=tz) for tz in ("Asia/Shanghai", "UTC"))
        assert ahead.recent(1)["text"].tolist() == ["2026-04-12 的一条"]
        assert behind.recent(1)["text"].tolist() == ["2026-04-11 的一条"]
        assert ahead.days()["frozen"].tolist() == [True, False]
        assert behind.audit().frame["rule"].tolist() == ["future-date"]

    def test_an_undated_entry_takes_the_local_day_of_its_instant(self, tmp_path: Path) -> None:
        (tmp_path / "MEMORY.md").write_text("## 2024-01-01\n- 2025-02-03T18:30:00.000Z 半夜\n- 没有时间\n", encoding="utf-8")
        for tz, day in (("Asia/Shanghai", "2025-02-04"), ("UTC", "2025-02-03")):
            frame = memkit.open(tmp_path, now=CLOCK, tz=tz).entries()
            assert frame.set_index("text")["date"].dt.strftime("%Y-%m-%d").to_dict() == {"半夜": day, "没有时间": "2024-01-01"}

    def test_a_clock_without_zone_or_a_wrong_zone_is_refused(self) -> None:
        with pytest.raises(memkit.BadArgument, match=r"^now: "):
            memkit.open(SAMPLES / "archive", now="2025-02-28T21:30")
        with pytest.raises(memkit.BadArgument, match=r"^now: "):
            memkit.open(SAMPLES / "archive", now="soon")
        with pytest.raises(memkit.BadArgument, match=r"^tz: "):
            memkit.open(SAMPLES / "archive", tz="Mars/Olympus")


class TestLayersOnly:
    def test_the_hot_layer_is_told_apart(self) -> None:
        hot = memkit.open(SAMPLES / "layers", now=CLOCK, tz=ZONE).hot()
        assert hot.chars == len(hot.content) == 428
        assert hot.limit == 600
        assert not hot.over_limit
        assert hot.hint == ""
        assert hot.candidates["index"].tolist() == [1, 2, 3]
        assert len(hot.topics) == 13
        assert "<!--" not in hot.content

    def test_a_body_over_its_limit_is_shown_whole_with_a_hint(self) -> None:
        hot = memkit.open(SAMPLES / "layers", now=CLOCK, tz=ZONE, hot_limit=427).hot()
        assert hot.over_limit
        assert "1 character over" in hot.hint
        assert hot.chars == 428

    @pytest.mark.parametrize("limit", [99, 20_001, "600", 600.5, True, None])
    def test_a_bad_limit_falls_back_with_one_warning(self, limit: object) -> None:
        with pytest.warns(UserWarning, match="600 is used") as caught:
            mem = memkit.open(SAMPLES / "layers", hot_limit=limit)  # type: ignore[arg-type]
        assert len(caught) == 1
        assert mem.hot().limit == 600

    def test_a_summary_is_stale_once_its_day_has_grown(self, tmp_path: Path) -> None:
        shutil.copytree(SAMPLES / "layers", tmp_path / "s")
        mem = memkit.open(tmp_path / "s", now=CLOCK, tz=ZONE)
        assert not mem.summaries()["stale"].any()
        append_bytes(mem.root / "cold/2025-01/2025-01-07.md", "- [2025-01-07T15:00:00.000Z] [-] 又想起一件\n".encode())
        stale = mem.summaries().query("stale")
        assert stale["key"].tolist() == ["2025-01-07", "2025-W02", "2025-01"]


class TestWorkspaceOnly:
    def test_extra_files_and_folders_are_entries(self, tmp_path: Path) -> None:
        shutil.copytree(SAMPLES / "workspace", tmp_path / "w")
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "tea.md").write_text("- 额外的茶\n", encoding="utf-8")
        (tmp_path / "w" / "agents.md").write_text("- 额外的规矩\n", encoding="utf-8")
        mem = memkit.open(tmp_path / "w", now=CLOCK, tz=ZONE, extra=[str(tmp_path / "notes"), "agents.md"])
        found = mem.matching("额外的")
        assert set(found["path"]) == {"agents.md", (tmp_path / "notes" / "tea.md").as_posix()}
        assert set(found["kind"]) == {"extra"}

    def test_a_transcript_is_a_virtual_file(self, tmp_path: Path) -> None:
        shutil.copytree(SAMPLES / "workspace", tmp_path / "w")
        lines = [
            '{"role": "user", "content": "壶在哪？", "timestamp": 1740735000000}',
            "not json",
            '{"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "在窗台，\\n红的"}]}}',
            '{"role": "user", "content": null}',
        ]
        (tmp_path / "chat.jsonl").write_text("\n".join(lines), encoding="utf-8")
        mem = memkit.open(tmp_path / "w", now=CLOCK, tz=ZONE, session=tmp_path / "chat.jsonl")
        rows = mem.entries().query("kind == 'session'")
        assert rows["text"].tolist() == ["user: 壶在哪？", "assistant: 在窗台，\n红的"]
        assert rows[["line", "end_line"]].to_numpy().tolist() == [[1, 1], [3, 4]]
        assert rows["date"].dt.strftime("%Y-%m-%d").tolist()[0] == "2025-02-28"
        assert mem.audit().frame[["rule", "line"]].to_numpy().tolist() == [["transcript-bad", 2]]

    def test_other_layouts_refuse_extra_and_session(self) -> None:
        with pytest.raises(memkit.UnsupportedError, match="archive"):
            memkit.open(SAMPLES / "archive", extra=["x"])


class TestAFolderThatIsGone:
    """A store that was there is never begun anew: what is written would lie beneath a mount point, or hide what is lost."""

    def test_is_not_written_to_and_not_made_again(self, mem: Store) -> None:
        mem.root.rename(mem.root.with_name("moved"))
        old = tree(mem.root.parent)
        with pytest.raises(memkit.StoreNotFound, match="the folder is gone; open the store where it is now, or bring it back"):
            mem.append("不能写到别处")
        with pytest.raises(memkit.StoreNotFound, match="the folder is gone"):
            mem.append_many(["不能写到别处"])
        assert tree(mem.root.parent) == old
        mem.root.with_name("moved").rename(mem.root)
        assert mem.append("回来了").applied

    def test_is_not_written_to_if_it_goes_while_the_lock_is_waited_for(
        self, mem: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = files.Lock._step_aside

        def going(lock: files.Lock) -> None:
            mem.root.rename(mem.root.with_name("moved"))
            real(lock)

        monkeypatch.setattr(files.Lock, "_step_aside", going)
        with pytest.raises(memkit.StoreNotFound, match="the folder is gone"):
            mem.append("不能写到别处")
        assert not mem.root.exists()

    def test_is_not_what_lies_beneath_it_once_it_is_unmounted(self, mem: Store) -> None:
        mem.root.rename(mem.root.with_name("moved"))
        mem.root.mkdir()
        words = "the folder is gone, and another without memory is in its place"
        with pytest.raises(memkit.StoreNotFound, match=words):
            mem.append("不能写到别处")
        with pytest.raises(memkit.StoreNotFound, match=words):
            mem.entries()
        assert not list(mem.root.iterdir())

    def test_may_be_another_one_with_memory(self, mem: Store) -> None:
        mem.root.rename(mem.root.with_name("moved"))
        shutil.copytree(mem.root.with_name("moved"), mem.root)
        assert mem.append("从备份恢复").applied
        assert "从备份恢复" in list(mem.entries()["text"])

    @pytest.mark.parametrize("above", [False, True])
    def test_is_gone_too_if_a_file_is_in_its_way(self, mem: Store, above: bool) -> None:
        place = mem.root.parent if above else mem.root
        place.rename(place.with_name("moved"))
        place.write_text("一个文件", "utf-8")
        for ask in (mem.recent, mem.overview, mem.days, lambda: mem.append("不能写")):
            with pytest.raises(memkit.StoreNotFound, match=r"the folder is gone.*\(a file is"):
                ask()
        assert place.read_text("utf-8") == "一个文件"

    def test_is_one_that_was_begun_since(self, empty: Store) -> None:
        assert empty.append("开始").applied
        shutil.rmtree(empty.root)
        with pytest.raises(memkit.StoreNotFound, match="the folder is gone"):
            empty.append("不能再开始")
        assert not empty.root.exists()

    def test_is_none_that_was_never_begun(self, empty: Store) -> None:
        assert empty.entries().empty
        empty.root.mkdir()
        assert empty.entries().empty
        empty.root.rmdir()
        assert empty.append("现在开始").applied
        assert list(empty.entries()["text"]) == ["现在开始"]


class TestAFolderOfAnotherLayout:
    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_is_read_as_empty_and_never_written_to(self, mem: Store, layout: str) -> None:
        if layout == mem.layout:
            return
        other = memkit.open(mem.root, layout=layout, now=CLOCK, tz=ZONE)
        old = tree(mem.root)
        if layout != "workspace":  # which reads any Markdown that lies at the root
            assert other.entries().empty
        with pytest.raises(
            memkit.BadArgument, match=f"is a store of the layout {mem.layout}, and holds no {layout}; leave layout="
        ):
            other.append("会弄坏它")
        assert tree(mem.root) == old
        assert memkit.open(mem.root).layout == mem.layout

    def test_is_one_whose_memory_folder_is_a_store(self, tmp_path: Path) -> None:
        shutil.copytree(files.find_store(SAMPLES / "archive").root, tmp_path / "top/memory")
        with pytest.raises(memkit.BadArgument, match="memory is a store of the layout archive"):
            memkit.open(tmp_path / "top", layout="workspace", now=CLOCK, tz=ZONE).append("会弄坏它")

    def test_may_hold_both(self, tmp_path: Path) -> None:
        shutil.copytree(SAMPLES / "workspace", tmp_path / "both")
        shutil.copytree(files.find_store(SAMPLES / "archive").root, tmp_path / "both", dirs_exist_ok=True)
        with pytest.raises(memkit.AmbiguousStore):
            memkit.open(tmp_path / "both")
        for layout in ("archive", "workspace"):
            assert memkit.open(tmp_path / "both", layout=layout, now=CLOCK, tz=ZONE).append("两个都在").applied
