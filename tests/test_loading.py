"""What a store holds in memory: shared by threads, brought up to date, and right about links, names and times."""

from __future__ import annotations

import json
import shutil
import threading

import pandas as pd
import pyromark
import pytest
from conftest import SAMPLES, open_at

import memkit
from memkit import dates, loading, upkeep


@pytest.fixture
def workspace(tmp_path):
    """Return a function that writes files of a workspace and opens it."""

    def write(files, **options):
        for path, text in files.items():
            (tmp_path / "w" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "w" / path).write_text(text, encoding="utf-8")
        return open_at(tmp_path / "w", **options)

    return write


class TestThreads:
    def test_many_readers_see_each_entry_once(self, workspace):
        mem = workspace({f"memory/2025-01-{day:02d}.md": "- 壶响了\n- 猫睡了\n" for day in range(1, 29)})
        counts = []
        threads = [threading.Thread(target=lambda: counts.append(len(mem.entries()))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts == [56] * 8
        assert len(mem.entries()) == 56

    def test_readers_survive_a_writer_that_deletes_and_rewrites(self, workspace):
        mem = workspace({f"memory/2025-01-{day:02d}.md": "- 壶响了\n" for day in range(1, 29)})
        troubles = []

        def read():
            try:
                for _ in range(30):
                    mem.days(), mem.matching("壶"), mem.files()
            except Exception as error:
                troubles.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for turn in range(60):
            path = mem.root / f"memory/2025-01-{turn % 28 + 1:02d}.md"
            path.unlink()
            path.write_text(f"- 壶又响了 {turn}\n", encoding="utf-8")
        for thread in threads:
            thread.join()
        assert troubles == []
        assert len(mem.matching("又响了")) == 28

    def test_an_interrupt_between_records_and_rows_leaves_the_state_before(self, workspace, monkeypatch):
        mem = workspace({"memory/2025-01-01.md": "- 壶\n"})
        before = mem.entries()
        (mem.root / "memory/2025-01-02.md").write_text("- 猫\n", encoding="utf-8")

        def interrupted(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(loading, "_spliced", interrupted)
            with pytest.raises(KeyboardInterrupt):
                mem.entries()
        assert len(mem.entries()) == len(before) + 1


class TestLinksAndNames:
    def test_an_extra_folder_does_not_lead_out_of_itself(self, workspace, tmp_path):
        (tmp_path / "secret.md").write_text("- 保密\n", encoding="utf-8")
        workspace({"MEMORY.md": "- 一\n", "notes/茶.md": "- 茶\n", "notes/n (conflicted copy).md": "- 副本\n"})
        (tmp_path / "w/notes/leak.md").symlink_to(tmp_path / "secret.md")
        mem = open_at(tmp_path / "w", extra=["notes"])
        assert mem.entries()["text"].tolist() == ["一", "茶"]
        assert mem.audit().frame[["rule", "path"]].to_numpy().tolist() == [
            ["link-outside", "notes/leak.md"],
            ["conflict-copy", "notes/n (conflicted copy).md"],
        ]

    @pytest.mark.parametrize("extra", ["x" * 5000, "~nobody-of-this-name/x", "none"])
    def test_an_extra_path_that_leads_nowhere_is_said_so(self, workspace, extra):
        mem = workspace({"MEMORY.md": "- 一\n"}, extra=[extra])
        assert len(mem.entries()) == 1
        assert mem.files()["skipped"].str.startswith("unreadable").sum() == 1

    def test_extra_may_be_a_generator(self, workspace, tmp_path):
        workspace({"MEMORY.md": "- 一\n", "b.md": "- 二\n"})
        assert len(open_at(tmp_path / "w", extra=(name for name in ["b.md"])).entries()) == 2

    def test_a_path_with_nul_is_refused(self, workspace):
        with pytest.raises(memkit.BadArgument, match="no NUL"):
            workspace({"MEMORY.md": "- 一\n"}, extra=["a\0b"])

    def test_what_a_sync_program_leaves_beside_memory_md_is_found(self, workspace):
        names = [
            "MEMORY (conflicted copy 2026-02-01).md",
            "MEMORY.sync-conflict-20260201-101010-ABC.md",
            ".MEMORY.md.x1y2z3w4.tmp",
        ]
        mem = workspace({"MEMORY.md": "- 一\n", **dict.fromkeys(names, "- 副本\n")})
        assert mem.entries()["text"].tolist() == ["一"]
        assert dict(mem.audit().frame[["path", "rule"]].to_numpy().tolist()) == {
            names[0]: "conflict-copy",
            names[1]: "conflict-copy",
            names[2]: "stray-temp",
        }

    @pytest.mark.parametrize("slug", ["-merge-conflict", "-conflict", "-解决冲突", " conflict notes", "-conflict-with-the-cat"])
    def test_a_slug_may_speak_of_conflicts(self, workspace, slug):
        mem = workspace({f"memory/2025-02-01{slug}.md": "- 和好了\n"})
        assert mem.entries()["text"].tolist() == ["和好了"]
        assert mem.audit().ok

    def test_a_root_that_cannot_be_looked_at_is_a_finding(self, workspace, monkeypatch):
        mem = workspace({"MEMORY.md": "- 一\n"})

        def refused(path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("os.listdir", refused)
        assert mem.audit().frame["rule"].tolist() == ["unreadable"]


class TestOddContent:
    def test_an_escaped_emoji_in_an_index_is_one_character(self, tmp_path):
        (tmp_path / "archive/2025").mkdir(parents=True)
        for day, index in (("01", r'"\ud83c\udf75 茶"'), ("02", r'"\ud83c 半个"')):
            text = f"---\ndate: 2025-02-{day}\nindex: {index}\n---\n- 茶\n"
            (tmp_path / f"archive/2025/2025-02-{day}.md").write_text(text, encoding="utf-8")
        mem = open_at(tmp_path)
        assert mem.days()["index"].tolist() == ["🍵 茶", "\ufffd 半个"]
        mem.export(tmp_path.parent / "out", "csv")

    def test_a_merge_marker_in_a_summary_is_found(self, copied):
        mem = open_at(copied("layers"))
        path = mem.root / "summaries/week/2025-W08.md"
        path.write_text("<<<<<<< A\n" + path.read_text("utf-8") + "=======\n>>>>>>> B\n", encoding="utf-8")
        assert mem.audit().frame[["rule", "path", "line"]].to_numpy().tolist() == [
            ["merge-marker", "summaries/week/2025-W08.md", 1]
        ]

    def test_an_instant_outside_the_years_is_missing_and_exports(self, tmp_path):
        (tmp_path / "MEMORY.md").write_text("- 9999-12-31T23:59:59-12:00 远\n- 2025-02-01T00:00:00Z 近\n", encoding="utf-8")
        mem = open_at(tmp_path)
        assert mem.entries()["written_at"].isna().tolist() == [False, True]
        for format in ("csv", "json", "parquet"):
            mem.export(tmp_path.parent / format, format)

    @pytest.mark.parametrize("said", ["now", "today", "2026-10-25", "2026-10-25T10:00", "昨天"])
    def test_a_summary_made_at_no_instant_has_no_time(self, copied, said):
        mem = open_at(copied("layers"))
        path = mem.root / "summaries/week/2025-W08.md"
        old = path.read_text("utf-8")
        stamp = old.split("生成时间：")[1].split("\n")[0]
        path.write_text(old.replace(stamp, said), encoding="utf-8")
        assert mem.summaries().set_index("key")["generated_at"].isna()["2025-W08"]


class TestShown:
    @pytest.mark.parametrize(
        "body",
        [
            "```\ncode\n````\n<img src=x>\n",
            "- a\n  ```\n  code\n\nb <img src=x>\n",
            "~~~\n```\n~~~\n![x](https://example.org/x.png)\n",
        ],
    )
    def test_markdown_that_is_shown_has_no_live_image(self, workspace, body):
        mem = workspace({"memory/2025-02-01.md": body})
        shown = pyromark.html(mem.day("2025-02-01")._repr_markdown_())
        assert "<img" not in shown

    def test_tags_come_in_the_order_of_their_files_after_a_change(self, workspace):
        mem = workspace({f"memory/2025-02-0{day}.md": f"- [标签{day}] 茶\n" for day in range(1, 6)})
        mem.tags()
        (mem.root / "memory/2025-02-02.md").write_text("- [新标签] 茶\n", encoding="utf-8")
        assert mem.tags()["tag"].tolist() == ["标签1", "新标签", "标签3", "标签4", "标签5"]

    def test_one_answer_looks_at_the_folder_once(self, workspace, monkeypatch):
        mem = workspace({"memory/2025-02-01.md": "- 茶\n"})
        looks = []
        real = mem._loaded.refresh
        monkeypatch.setattr(mem._loaded, "refresh", lambda: looks.append(1) or real())
        for ask in (mem.overview, mem.audit, mem.summaries, mem.hot, lambda: repr(mem), lambda: upkeep._frames(mem)):
            looks.clear()
            ask()
            assert len(looks) == 1


class TestTheMachine:
    @pytest.mark.parametrize("name", ["CST-8", "UTC0", "<+08>-8", "Not/AZone"])
    def test_a_zone_without_a_name_is_no_error(self, name, monkeypatch):
        monkeypatch.setenv("TZ", name)
        assert dates.zone(None).utcoffset(pd.Timestamp("2025-01-01").to_pydatetime()) is not None

    @pytest.mark.parametrize("now", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00"])
    def test_a_clock_outside_the_years_is_refused(self, now):
        with pytest.raises(memkit.BadArgument, match=r"^now: "):
            memkit.open(SAMPLES / "archive", now=now, tz="UTC").recent(1)


@pytest.mark.parametrize(
    "spoilt", ["", "{}", "[]", '{"format": "xml", "frames": []}', '{"format": "csv", "frames": [{"frame": "x"}]}']
)
def test_a_damaged_manifest_of_an_export_is_said_so(tmp_path, spoilt):
    (tmp_path / "memkit-export.json").write_text(spoilt)
    with pytest.raises(memkit.ExportError, match="no manifest of a memkit export"):
        memkit.read_export(tmp_path)


def test_a_manifest_that_names_a_gone_file_is_said_so(tmp_path):
    open_at(SAMPLES / "archive").export(tmp_path / "out", "json")
    held = json.loads((tmp_path / "out/memkit-export.json").read_text())
    shutil.move(tmp_path / "out" / held["frames"][0]["file"], tmp_path / "elsewhere")
    with pytest.raises(memkit.ExportError, match="no such file"):
        memkit.read_export(tmp_path / "out")
