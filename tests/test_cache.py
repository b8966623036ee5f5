"""The cache of loaded stores: it changes no answer, vouches for what it can know, stays private, goes with forget."""

from __future__ import annotations

import dataclasses
import importlib
import io
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import memkit
from memkit import cache, files, loading, schema, tables
from memkit.cache import pack, shelf
from memkit.cli import run
from memkit.model import CatalogRow, Entries, FileFact, Hot, IndexLine, Problem, Records, Role, StoredSummary
from memkit.text import decode

HOUR = 3600
STORES = ["archive", "layers", "workspace", *(f"broken/{path.name}" for path in sorted((SAMPLES / "broken").iterdir()))]


@pytest.fixture(autouse=True)
def usual(tmp_path, monkeypatch):
    """Keep the usual cache folder in tmp_path, and have even the smallest store cached."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "user" / name))
    monkeypatch.setattr(cache, "MANY_FILES", 1)
    return tmp_path / "user/memkit/loaded"


@pytest.fixture
def vault(copied):
    """Return a copied archive, the memory folder itself, whose files are an hour old."""
    return aged(copied("archive")) / ".agents/nutstore-sync/memory"


def aged(root, seconds=HOUR):
    """Set the time of every file back, so that the cache can vouch for it."""
    then = time.time() - seconds
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (then, then))
    return root


def cached(root, **options):
    return open_at(root, cache=True, **options)


def kept(folder):
    return sorted(folder.glob("*.memkit")) if folder.is_dir() else []


def answers(mem):
    """Return what a store answers to most of its questions, as frames and texts."""
    frames = {name: getattr(mem, name)() for name in ("days", "catalog", "summaries", "topics", "tags", "files", "manifest")}
    hot = mem.hot()
    frames |= {"entries": mem.entries(dreams=True, editable=True), "overview": mem.overview(), "audit": mem.audit().frame}
    frames |= {"found": mem.matching("的 是 茶", "or"), "tagged": mem.tagged("-"), "volume": mem.volume("tag")}
    frames |= {"candidates": hot.candidates, "hot topics": hot.topics, "search": mem.search("茶").frame}
    return frames, [repr(mem), hot.content, mem.summary("week"), mem.summary("month", "2025-02")]


def assert_alike(mem, other):
    """Hold that two stores give the same answers, and hold the same of every file."""
    (frames, texts), (same, alike) = answers(mem), answers(other)
    assert texts == alike
    for name, frame in frames.items():
        assert_frame_equal(frame, same[name], obj=name)
    here, there = mem._loaded.refresh(), other._loaded.refresh()
    assert here.records == there.records
    assert {path: fact for path, fact in here.facts.items() if fact.size} == {
        path: fact for path, fact in there.facts.items() if fact.size
    }
    assert_frame_equal(here.entries, there.entries)


def unread(mem, monkeypatch):
    """Return how many files a store's first look reads."""
    read = []
    with monkeypatch.context() as patch:
        for name in ("read", "read_plain"):
            real = getattr(files, name)
            patch.setattr(files, name, lambda *given, real=real: read.append(given[1].path) or real(*given))
        mem._loaded.refresh()
    return read


class TestSameAnswers:
    @pytest.mark.parametrize("name", STORES)
    def test_a_store_from_the_cache_answers_as_one_that_was_read(self, name, copied, usual, monkeypatch):
        root = aged(copied(name))
        cached(root).entries()
        assert len(kept(usual)) == 1
        mem = cached(root)
        assert unread(mem, monkeypatch) == []
        assert_alike(mem, open_at(root))

    @pytest.mark.parametrize("layout", ["archive", "layers", "workspace"])
    def test_what_changed_since_is_read_and_what_is_gone_is_dropped(self, layout, copied, monkeypatch):
        root = aged(copied(layout))
        cached(root).entries()
        held = sorted(path for path in root.rglob("2025-02-*.md"))
        with held[0].open("ab") as file:
            file.write("- [茶] 又记一条\n".encode())
        held[1].unlink()
        new = held[2].with_name("2025-02-27.md")
        held[2].rename(new)
        mem = cached(root)
        assert sorted(unread(mem, monkeypatch)) == sorted(path.relative_to(mem.root).as_posix() for path in (held[0], new))
        assert_alike(mem, open_at(root))

    def test_an_append_is_seen_by_who_loads_the_cache(self, vault):
        cached(vault).append("壶响了", "茶")
        cached(vault).append("猫睡了")
        assert cached(vault).entries()["text"].tolist()[-2:] == ["壶响了", "猫睡了"]

    def test_frames_from_the_cache_are_the_callers_own(self, vault):
        cached(vault).entries()
        mem = cached(vault)
        frame = mem.entries()
        before = frame.copy(deep=True)
        for name in ("chars", "line", "date", "written_at"):
            frame.loc[0, name] = frame[name].iloc[-1]
        frame.loc[0, "text"] = "x"
        assert_frame_equal(mem.entries(), before)

    def test_extra_paths_zone_and_transcript_have_a_cache_of_their_own(self, copied, tmp_path, usual):
        root = aged(copied("workspace"))
        (tmp_path / "more.md").write_text("- 山外\n", encoding="utf-8")
        (tmp_path / "talk.json").write_text('[{"role": "user", "content": "说过"}]', encoding="utf-8")
        aged(tmp_path)
        options = [{}, {"extra": ["../more.md"]}, {"session": tmp_path / "talk.json"}, {"tz": "America/New_York"}]
        for option in options:
            cached(root, **option).entries()
        assert len(kept(usual)) == 4
        for option in options:
            assert_alike(cached(root, **option), open_at(root, **option))

    def test_a_link_to_a_store_shares_its_cache(self, vault, tmp_path, usual, monkeypatch):
        cached(vault).entries()
        (tmp_path / "link").symlink_to(vault)
        mem = cached(tmp_path / "link")
        assert unread(mem, monkeypatch) == []
        assert len(kept(usual)) == 1
        assert_frame_equal(mem.entries(), open_at(vault).entries())

    def test_a_store_that_was_moved_is_read_and_another_in_its_place_too(self, vault, tmp_path, copied):
        cached(vault).entries()
        vault.rename(tmp_path / "moved")
        assert_alike(cached(tmp_path / "moved"), open_at(tmp_path / "moved"))
        (vault / "archive/2025").mkdir(parents=True)
        (vault / "archive/2025/2025-02-01.md").write_text("---\ndate: 2025-02-01\nindex: 茶\n---\n- 茶\n", encoding="utf-8")
        assert cached(vault).entries()["text"].tolist() == ["茶"]

    def test_a_store_that_is_gone_is_empty(self, vault):
        cached(vault).entries()
        shutil.rmtree(vault)
        assert len(cached(vault, layout="archive").entries()) == 0

    def test_threads_that_ask_first_get_the_same(self, vault):
        cached(vault).entries()
        mem, counts = cached(vault), []
        threads = [threading.Thread(target=lambda: counts.append((len(mem.entries()), len(mem.days())))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        plain = open_at(vault)
        assert counts == [(len(plain.entries()), len(plain.days()))] * 8


LINES = st.sampled_from(
    [
        "- [茶] 壶响了", "- 平常的一行 #标签", "[计划] 去看海", "- [2025-02-01T08:00:00.000Z] [想法] 一只猫",
        "## 09:30", "# 2025-02-03",
        "- [ ] 做 [[链接]]", "> 引用", "| a | b |", "```", "---", "", "  接着说", "<<<<<<< A",
        "2025-02-01\t茶；猫", "index: \"茶：猫\"",
        "<!-- candidates:start -->", "<!-- candidates:end -->", "<!-- topics:start -->",
        "翻唱|2025-02", "- [决定] **粗** 体\x00", "尾\r",
    ]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=12).map(lambda lines: "\n".join(lines).encode())
BYTES = (
    TEXTS | TEXTS.map(lambda data: b"\xef\xbb\xbf" + data) | TEXTS.map(lambda data: data.replace(b"\n", b"\r\n") + b"\xff\xfe")
)
DAYS = st.integers(1, 9).map(lambda day: f"2025-02-0{day}")
PATHS = {
    "archive": st.builds("archive/2025/{}.md".format, DAYS) | st.just("catalog/2025.tsv") | st.just("archive/2025/x.md"),
    "layers": st.builds("cold/2025-02/{}.md".format, DAYS)
    | st.sampled_from(["hot.md", "summaries/week/2025-W06.md", "summaries/day/2025-02-01.md"]),
    "workspace": st.builds("memory/{}.md".format, DAYS)
    | st.sampled_from(["MEMORY.md", "memory/茶.md", "memory/2025-02-01-茶.md", "memory/.dreams/x.md"]),
}


@st.composite
def changed_stores(draw):
    """Return a layout, the files of a store, and what becomes of some of them: other bytes, None, or another name."""
    layout = draw(st.sampled_from(sorted(PATHS)))
    held = draw(st.dictionaries(PATHS[layout], BYTES, min_size=1, max_size=8))
    after = draw(st.dictionaries(PATHS[layout], BYTES | st.none() | PATHS[layout], max_size=4))
    return layout, held, after


class TestRandomStores:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=changed_stores())
    def test_any_store_answers_alike_before_and_after_any_change(self, case, tmp_path_factory):
        layout, held, after = case
        root = tmp_path_factory.mktemp("random") / "store"
        for path, data in held.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        aged(root)
        cached(root, layout=layout).entries()
        assert_alike(cached(root, layout=layout), open_at(root, layout=layout))
        for path, what in after.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(what, bytes):
                target.write_bytes(what)
            elif target.exists():
                (root / (what or path)).parent.mkdir(parents=True, exist_ok=True)
                target.replace(root / what) if what else target.unlink()
        assert_alike(cached(root, layout=layout), open_at(root, layout=layout))
        shutil.rmtree(root.parent)


def test_a_file_without_entries_gives_the_same_record_with_and_without_the_cache(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store/MEMORY.md").write_bytes(b"")
    aged(tmp_path / "store")
    cached(tmp_path / "store", layout="workspace").entries()
    mem = open_at(tmp_path / "store", layout="workspace")
    assert mem._loaded.refresh().records["MEMORY.md"].entries == Entries()
    assert_alike(cached(tmp_path / "store", layout="workspace"), mem)


class TestPacked:
    def test_every_field_of_every_record_comes_back(self):
        role = Role("daily", date(2025, 2, 1), True, "a reason", "not-a-day")
        fact = FileFact("a\u2028.md", role, 1, 2**62, 2**64 - 1, "trouble", 2**61)
        whole = Entries(
            [1], [2], ["茶"], ["标签"], [None], ["09:30"], ["2025-02-01T00:00:00Z"], ["l"], ["x"], ["quote"], [None]
        )
        whole.day = [date(2025, 2, 1)]
        row = CatalogRow(date(2025, 2, 1), "茶", 3, '"茶"')
        summary = StoredSummary("week", "2025-W05", ("- 茶",), 1, 2, ("a.md",), "d", "now", 9, (4,))
        record = Records(
            fact.path,
            role,
            index=IndexLine(None, 3),
            rows=[row, CatalogRow(date(2025, 2, 2), "猫", 4, "猫")],
            summary=summary,
            hot=Hot("body", whole, (("翻唱", "2025-02", 7),)),
            problems=[Problem("bom", 1, "a message", "the line")],
        )
        bare = FileFact("b.md", Role("daily", date(2025, 2, 2)), 5, 6, 7)
        records = {bare.path: Records(bare.path, bare.role), fact.path: record}
        facts = {fact.path: fact, bare.path: bare}
        given = pack.Kept(facts, records, schema.frame(schema.HELD), schema.frame(schema.TAGS))
        found = pack.unpacked(*pack.packed(given, lambda _: True))
        assert found.facts == facts
        assert found.records() == records
        assert list(found.records()) == list(records)
        for value in (
            role,
            fact,
            row,
            summary,
            record.index,
            record.hot,
            record.problems[0],
            whole,
        ):  # a new field is set here too
            for field in dataclasses.fields(value):
                assert getattr(value, field.name) != field.default
        assert {field.name for field in dataclasses.fields(Records)} == {
            "path", "role", "entries", "tags", "index", "rows", "summary", "hot", "problems", "spans",
        }  # fmt: skip

    def test_frames_come_back_with_their_dtypes_in_one_piece(self, vault):
        state = open_at(vault)._loaded.refresh()
        _, _, entries, tags = pack.unpacked(*pack.packed(pack.Kept({}, {}, state.entries, state.listed_tags), lambda _: True))
        assert_frame_equal(entries, state.entries)
        assert_frame_equal(tags, state.listed_tags)
        assert entries.dtypes.to_dict() == schema.HELD
        assert state.entries["text"].array._pa_array.num_chunks == entries["text"].array._pa_array.num_chunks == 1

    def test_a_record_of_another_shape_is_not_packed(self):
        fact = FileFact("a.md", Role("daily"), 1, 2, 3)
        odd = Records("a.md", fact.role, entries=Entries([1], text=["茶"]))
        empty = tables.entries([], None), tables.tags([])
        with pytest.raises(ValueError, match=r"a\.md"):
            pack.packed(pack.Kept({"a.md": fact}, {"a.md": odd}, *empty), lambda _: True)


class TestWhatIsVouchedFor:
    """A file is as the cache says if size, mtime, ctime and inode are, unless it may have changed without changing them."""

    def swapped(self, path):
        """Put another entry of the same size in a file's place, in the same inode and with the same mtime."""
        before, old = path.stat(), path.read_bytes()
        new = old.replace("的".encode(), "地".encode())
        assert new != old
        with path.open("r+b") as file:
            file.write(new)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = path.stat()
        assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)

    def day(self, root):
        return next(path for path in sorted(root.rglob("2025-*.md")) if "的" in path.read_text("utf-8"))

    @pytest.mark.parametrize("ahead", [0, 3600, -1])
    def test_a_file_as_new_as_the_cache_or_newer_is_read_again(self, vault, ahead, monkeypatch):
        path = self.day(vault)
        os.utime(path, (time.time() + ahead,) * 2)
        cached(vault).entries()
        self.swapped(path)
        mem = cached(vault)
        assert unread(mem, monkeypatch) == [path.relative_to(vault).as_posix()]
        assert_alike(mem, open_at(vault))

    def test_what_was_read_while_it_was_new_is_not_vouched_for_later(self, vault, monkeypatch):
        monkeypatch.setattr(cache, "MANY_FILES", 10**6)
        path, mem = self.day(vault), cached(vault)
        os.utime(path)
        mem.entries()
        real = time.time_ns
        monkeypatch.setattr("time.time_ns", lambda: real() + 60 * 10**9)
        monkeypatch.setattr(cache, "MANY_FILES", 1)
        with (vault / "archive/2025/2025-02-27.md").open("a", encoding="utf-8") as file:
            file.write("- 又一条\n")
        aged(vault / "archive/2025/2025-02-27.md")
        mem.entries()
        self.swapped(path)
        assert path.relative_to(vault).as_posix() in unread(cached(vault), monkeypatch)

    def test_a_store_of_new_files_is_cached_when_they_are_older(self, copied, usual):
        root = copied("archive")
        for path in root.rglob("*.*"):
            os.utime(path)
        cached(root).entries()
        assert kept(usual) == []
        cached(aged(root)).entries()
        assert len(kept(usual)) == 1

    @pytest.mark.skipif(os.name == "nt", reason="there, a ctime is the time of birth")
    def test_a_change_that_keeps_size_mtime_and_inode_is_noticed_with_and_without_the_cache(self, vault):
        plain, path = open_at(vault), self.day(vault)
        before = cached(vault).entries()
        plain.entries()
        self.swapped(path)
        after = open_at(vault).entries()
        assert not after.equals(before)
        assert_frame_equal(cached(vault).entries(), after)
        assert_frame_equal(plain.entries(), after)

    @pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
    def test_a_file_that_may_no_longer_be_read_is_no_longer_shown(self, vault, monkeypatch):
        path, plain = self.day(vault), open_at(vault)
        cached(vault).entries(), plain.entries()
        path.chmod(0)
        real = os.open

        def refused(name, *given, **more):
            if os.fspath(name) == str(path):
                raise PermissionError(13, "Permission denied", str(name))
            return real(name, *given, **more)

        monkeypatch.setattr(os, "open", refused)  # root may read everything
        for mem in (cached(vault), plain):
            assert path.relative_to(vault).as_posix() not in set(mem.entries()["path"])
            assert "unreadable" in set(mem.audit().frame["rule"])

    def test_a_file_replaced_by_one_of_the_same_size_and_time_is_noticed_by_its_inode(self, vault, monkeypatch):
        path = self.day(vault)
        cached(vault).entries()
        info, twin = path.stat(), path.with_name("twin")
        twin.write_bytes(path.read_bytes().replace("的".encode(), "地".encode()))
        os.utime(twin, ns=(info.st_atime_ns, info.st_mtime_ns))
        twin.replace(path)
        assert unread(cached(vault), monkeypatch) == [path.relative_to(vault).as_posix()]

    def test_a_clock_that_was_set_back_vouches_for_nothing(self, vault, monkeypatch):
        cached(vault).entries()
        real = time.time_ns
        monkeypatch.setattr("time.time_ns", lambda: real() - 10**9 * HOUR * 24)
        mem = cached(vault)
        assert len(unread(mem, monkeypatch)) == len(mem._loaded.refresh().records)

    def test_a_clock_set_back_while_a_store_is_open_stops_its_writing(self, vault, usual, monkeypatch):
        monkeypatch.setattr(cache, "MANY_FILES", 10**6)
        mem = cached(vault)
        mem.entries()
        real = time.time_ns
        monkeypatch.setattr("time.time_ns", lambda: real() - 10**9 * HOUR)
        monkeypatch.setattr(cache, "MANY_FILES", 1)
        mem.append("壶")
        mem.entries()
        assert kept(usual) == []

    def test_a_file_that_changes_while_the_cache_is_written_keeps_it_from_being_written(self, vault, usual, monkeypatch):
        real = pack.packed

        def slow(*given):
            with self.day(vault).open("a", encoding="utf-8") as file:
                file.write("- 又一条\n")
            return real(*given)

        monkeypatch.setattr(cache, "packed", slow)
        cached(vault).entries()
        assert kept(usual) == []
        assert list(usual.iterdir()) == []


class TestWriting:
    def test_one_changed_file_does_not_write_it_anew_and_many_do(self, vault, usual, monkeypatch):
        cached(vault).entries()
        monkeypatch.setattr(cache, "MANY_FILES", 3)
        (path,) = kept(usual)
        first = path.stat().st_ino, path.read_bytes()
        cached(vault).append("壶")
        cached(vault).entries()
        assert (path.stat().st_ino, path.read_bytes()) == first
        for day in sorted(vault.rglob("2025-02-*.md"))[:3]:
            day.write_bytes(day.read_bytes() + b"\n")
        aged(vault)
        cached(vault).entries()
        assert path.read_bytes() != first[1]

    def test_a_small_store_is_not_cached(self, vault, usual, monkeypatch):
        monkeypatch.setattr(cache, "MANY_FILES", 64)
        cached(vault).entries()
        assert not usual.exists()

    def test_a_store_without_a_cache_leaves_none(self, vault, usual):
        open_at(vault).entries()
        assert not usual.exists()

    @pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
    def test_only_the_owner_can_read_it(self, vault, usual):
        cached(vault).entries()
        (path,) = kept(usual)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(usual.stat().st_mode) == 0o700

    @pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users are POSIX's")
    def test_what_another_user_wrote_is_not_read(self, vault, usual, monkeypatch):
        cached(vault).entries()
        other = os.geteuid() + 1
        monkeypatch.setattr("os.geteuid", lambda: other)
        assert cached(vault)._loaded._cache.recall() is None

    def test_a_link_in_its_place_is_not_followed(self, vault, usual, tmp_path):
        cached(vault).entries()
        (path,) = kept(usual)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        assert cached(vault)._loaded._cache.recall() is None
        before = (tmp_path / "elsewhere").read_bytes()
        cached(vault).entries()
        assert not path.is_symlink()
        assert (tmp_path / "elsewhere").read_bytes() == before

    @pytest.mark.parametrize("where", ["file", "file/below"])
    def test_a_folder_that_cannot_be_costs_nothing_but_the_cache(self, vault, tmp_path, where):
        (tmp_path / "file").write_text("")
        assert_alike(open_at(vault, cache=tmp_path / where), open_at(vault))

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("no"), MemoryError()])
    def test_a_full_disk_costs_nothing_but_the_cache_and_is_tried_once(self, vault, usual, monkeypatch, error):
        tries = []

        def full(*_):
            tries.append(1)
            yield b"half"
            raise error

        monkeypatch.setattr(shelf, "_framed", full)
        mem = cached(vault)
        assert_alike(mem, open_at(vault))
        mem.append("壶")
        mem.entries()
        assert tries == [1]
        assert list(usual.iterdir()) == []

    def test_the_store_used_longest_ago_is_dropped_first(self, copied, usual, monkeypatch):
        roots = {name: aged(copied(name)) for name in ("archive", "layers", "workspace")}
        names = {}
        for name in ("archive", "layers"):
            before = kept(usual)
            cached(roots[name]).entries()
            (names[name],) = set(kept(usual)) - set(before)
        for age, name in enumerate(("archive", "layers")):
            os.utime(names[name], (time.time() - HOUR * (2 - age),) * 2)
        cached(roots["archive"]).entries()  # used now
        monkeypatch.setattr(shelf, "LIMIT", sum(path.stat().st_size for path in kept(usual)))
        cached(roots["workspace"]).entries()
        assert names["archive"] in kept(usual)
        assert names["layers"] not in kept(usual)
        assert len(kept(usual)) == 2

    def test_a_store_that_is_too_large_is_not_cached(self, vault, usual, monkeypatch):
        monkeypatch.setattr(cache, "LARGEST", 10)
        cached(vault).entries()
        assert not usual.exists()

    def test_a_cache_in_the_store_or_around_it_is_refused(self, vault, tmp_path):
        (tmp_path / "link").symlink_to(vault)
        for folder in (vault, vault / "cache", vault / "archive/2025", vault.parent, tmp_path, tmp_path / "link/cache"):
            with pytest.raises(memkit.PathError, match=r"^cache: "):
                open_at(vault, cache=folder)
        assert not (vault / "cache").exists()

    @pytest.mark.parametrize("wrong", ["", 3, 2.5, [], "a\0b"])
    def test_what_is_no_folder_is_refused(self, vault, wrong):
        with pytest.raises(memkit.BadArgument, match=r"^cache: "):
            open_at(vault, cache=wrong)


class TestSpoilt:
    """Whatever lies in a cache file's place, the store loads and the file is written anew."""

    def spoil(self, usual, change):
        (path,) = kept(usual)
        path.write_bytes(change(path.read_bytes()))
        return path

    @pytest.mark.parametrize("share", [0, 0.001, 0.01, 0.3, 0.7, 0.999])
    def test_a_file_that_was_cut_off_is_not_read(self, vault, usual, share):
        cached(vault).entries()
        whole = kept(usual)[0].read_bytes()
        path = self.spoil(usual, lambda data: data[: int(len(data) * share)])
        assert_alike(cached(vault), open_at(vault))
        assert len(path.read_bytes()) == len(whole)

    def test_a_flipped_bit_anywhere_is_noticed(self, vault, usual):
        cached(vault).entries()
        (path,) = kept(usual)
        whole = path.read_bytes()
        own = cached(vault)._loaded._cache
        for place in [*range(300), *range(300, len(whole), len(whole) // 400)]:
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
            assert own.recall() is None, place
        path.write_bytes(whole)
        assert own.recall() is not None

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\n",
            b"\0" * 5000,
            b"memkit-cache 2 zzzzzzzz zzzzzzzz\n",
            b"memkit-cache 2 00000000 000f0000\n" + b"[" * 0xF0000,  # deeper than Python reads
            b'memkit-cache 2 00000000 0000000a\n{"key": 1}',
            b"\x80\x04N.",
        ],
        ids=range(7),
    )
    def test_a_foreign_file_is_not_read_and_is_replaced(self, vault, usual, data):
        cached(vault).entries()
        path = self.spoil(usual, lambda _: data)
        assert cache.held(usual)["store"].isna().all()
        assert_alike(cached(vault), open_at(vault))
        assert cache.held(usual)["store"].notna().all()
        self.spoil(usual, lambda _: data)
        open_at(vault).forget("no such text").apply()  # it may hold anything
        assert not path.exists()

    @pytest.mark.parametrize("key", ["key", "by", "taken"])
    def test_the_file_of_another_store_or_version_is_not_read_and_is_replaced(self, vault, usual, key, monkeypatch):
        other = {"key": {}, "by": "0.1.0", "taken": 2**63}
        with monkeypatch.context() as patch:
            real = shelf._framed
            patch.setattr(shelf, "_framed", lambda head, parts: real({**head, key: other[key]}, parts))
            cached(vault).entries()
        mem = cached(vault)
        assert mem._loaded._cache.recall() is None
        mem.entries()
        assert cached(vault)._loaded._cache.recall() is not None

    @pytest.mark.parametrize("parts", [[], [b"{}"], [b"{}", b"{}", b"", b""], [b"[]", b"", b"", b""], [b"\xff"] * 4])
    def test_whole_files_of_other_parts_are_not_read(self, vault, monkeypatch, parts):
        with monkeypatch.context() as patch:
            patch.setattr(cache, "packed", lambda *_: parts)
            cached(vault).entries()
        assert cached(vault)._loaded._cache.recall() is None
        assert_alike(cached(vault), open_at(vault))

    def test_a_whole_file_whose_frame_is_cut_off_is_not_read(self, vault, monkeypatch):
        real = pack.packed
        with monkeypatch.context() as patch:
            patch.setattr(
                cache, "packed", lambda *given: [bytes(part)[:-600] if n == 2 else part for n, part in enumerate(real(*given))]
            )
            cached(vault).entries()
        held = cached(vault)._loaded._cache
        _, parts = shelf.take(held.folder, held._name)
        with pytest.raises(OSError, match="message body"):
            pack.unpacked(*parts)
        assert held.recall() is None
        assert_alike(cached(vault), open_at(vault))

    def test_a_folder_in_the_place_of_a_file_stops_neither_clearing_nor_forgetting(self, vault, usual, capsys):
        cached(vault).entries()
        (path,) = kept(usual)
        size = path.stat().st_size
        for name in (f"{'0' * 24}.memkit", f".{'0' * 24}.memkit.{'0' * 12}.tmp"):
            (usual / name / "mine").mkdir(parents=True)
        assert cache.clear(usual) == size
        cached(vault).entries()
        open_at(vault).forget("no such text").apply()
        assert not path.exists()
        path.mkdir()
        assert_alike(cached(vault), open_at(vault))
        assert len(list(usual.glob("*/mine"))) == 2


def holds(folder, text):
    """Return whether any file of a folder holds a text."""
    return any(text.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else False


class TestForgotten:
    SAID = "红水壶放在窗台，哨片单独收好"

    @pytest.fixture
    def said(self, copied):
        root = copied("archive") / ".agents/nutstore-sync/memory"
        open_at(root).append(self.SAID)
        return aged(root)

    @pytest.mark.parametrize("option", [True, False])
    def test_a_forgotten_text_is_in_no_cache_file(self, said, usual, option):
        cached(said).entries()
        cached(said, tz="UTC").entries()
        assert holds(usual, self.SAID)
        assert len(kept(usual)) == 2
        plan = open_at(said, cache=option).forget(self.SAID)
        assert holds(usual, self.SAID)
        plan.apply()
        assert not holds(usual, self.SAID)
        assert kept(usual) == []
        cached(said).entries()
        assert not holds(usual, self.SAID)

    def test_a_folder_of_ones_own_is_purged_by_who_opened_the_store_with_it(self, said, tmp_path):
        own, other = tmp_path / "own", tmp_path / "other"
        for folder in (own, other):
            open_at(said, cache=folder).entries()
        open_at(said, cache=own).forget(self.SAID).apply()
        assert not holds(own, self.SAID)
        assert holds(other, self.SAID)  # nobody can know of it

    def test_a_push_that_forgets_purges_too(self, said, usual):
        mem = cached(said)
        frame = mem.entries(editable=True)
        assert holds(usual, self.SAID)
        mem.push(frame[frame["text"] != self.SAID], forget_missing=True).apply()
        assert not holds(usual, self.SAID)

    def test_stores_that_hold_its_files_lose_their_cache_and_others_keep_theirs(self, copied, tmp_path, usual):
        (tmp_path / "notes").mkdir()
        shutil.move(copied("workspace"), tmp_path / "notes/w")
        around, other = tmp_path / "around", copied("layers")
        shutil.copytree(SAMPLES / "workspace", around)
        inner = tmp_path / "notes/w"
        (inner / "memory/2025-02-27.md").write_text(f"- {self.SAID}\n", encoding="utf-8")
        aged(tmp_path)
        cached(other).entries()
        theirs = kept(usual)
        cached(around, extra=[str(tmp_path / "notes")]).entries()
        assert holds(usual, self.SAID)
        open_at(inner).forget(self.SAID).apply()
        assert kept(usual) == theirs

    def test_a_writer_that_read_before_does_not_bring_it_back(self, said, usual, monkeypatch):
        real = pack.packed

        def slow(*given):
            parts = real(*given)
            open_at(said).forget(self.SAID).apply()
            return parts

        monkeypatch.setattr(cache, "packed", slow)
        mem = cached(said)
        assert self.SAID in mem.entries()["text"].tolist()
        assert not holds(usual, self.SAID)

    def test_what_a_killed_writer_left_goes_too(self, said, usual):
        usual.mkdir(parents=True)
        (usual / f".{'0' * 24}.memkit.{'0' * 12}.tmp").write_text(self.SAID, encoding="utf-8")
        (usual / f"{'0' * 24}.memkit").write_text(self.SAID, encoding="utf-8")
        open_at(said).forget(self.SAID).apply()
        assert not holds(usual, self.SAID)

    def test_that_it_could_not_be_purged_is_said(self, said, usual, monkeypatch):
        cached(said).entries()
        plan = open_at(said).forget(self.SAID)

        def refused(*_, **__):
            raise PermissionError(13, "Permission denied")

        with monkeypatch.context() as patch:
            patch.setattr(shelf, "items", refused)
            with pytest.raises(memkit.DiskError, match="the files are done; the cache may still hold it: memkit cache clear"):
                plan.apply()
        assert plan.applied
        assert self.SAID not in open_at(said).entries()["text"].tolist()


PROCESS = f"""
import sys, time
from pathlib import Path
import memkit
from memkit import cache
cache.MANY_FILES = 1
mode, root, folder, start = sys.argv[1:]
if mode == "killed":
    import os, signal
    from memkit.cache import shelf
    real = shelf._framed
    def _framed(*given):
        pieces = list(real(*given))
        yield pieces[0]
        yield pieces[1]
        yield bytes(memoryview(pieces[2]))[:100]
        os.kill(os.getpid(), signal.SIGKILL)
    shelf._framed = _framed
while time.time() < float(start):
    time.sleep(0.001)
for turn in range(1 if mode == "killed" else 8):
    if mode == "writes":
        for path in Path(folder).glob("*.memkit"):
            path.unlink(missing_ok=True)
    mem = memkit.open(root, cache=folder, now={CLOCK!r}, tz={ZONE!r})
    print(len(mem.entries()), len(mem.days()))
"""


class TestProcesses:
    def start(self, mode, root, folder, start=0.0):
        return subprocess.Popen(
            [sys.executable, "-c", PROCESS, mode, str(root), str(folder), str(start)], stdout=subprocess.PIPE, text=True
        )

    def test_many_that_write_and_read_at_once_all_get_the_whole_store(self, vault, tmp_path):
        folder, start = tmp_path / "shared", time.time() + 2.5
        folder.mkdir()
        running = [self.start(mode, vault, folder, start) for mode in ("writes", "writes", "reads", "reads")]
        plain = open_at(vault)
        wanted = f"{len(plain.entries())} {len(plain.days())}\n" * 8
        assert [process.communicate(timeout=120)[0] for process in running] == [wanted] * 4
        assert [path.suffix for path in folder.iterdir()] in ([], [".memkit"])

    @pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
    def test_a_writer_killed_half_way_leaves_the_file_before_and_a_temp_that_is_swept(self, vault, tmp_path, monkeypatch):
        folder = tmp_path / "shared"
        for there in (False, True):
            before = [path.read_bytes() for path in kept(folder)]
            if there:
                for path in sorted(vault.rglob("2025-*.md")):
                    path.write_bytes(path.read_bytes() + b"\n")
                aged(vault)
            process = self.start("killed", vault, folder)
            assert process.wait(timeout=60) == -9
            process.stdout.close()
            assert [path.read_bytes() for path in kept(folder)] == before
            (temp,) = folder.glob(".*.tmp")
            assert_alike(open_at(vault, cache=folder), open_at(vault))
            os.utime(temp, (time.time() - HOUR,) * 2)
            assert len(kept(folder)) == 1
            shelf._trim(folder)
            assert not list(folder.glob(".*.tmp"))


class TestCommandLine:
    def say(self, capsys, *words):
        code = run([str(word) for word in words])
        return code, *capsys.readouterr()

    @pytest.mark.parametrize(
        ("said", "folder"),
        [
            *((said, None) for said in ("1", "true", "yes", "ON", " on ")),
            ("own", "own"),
            *((said, "") for said in ("0", "", "false", "no", "OFF", " ")),
        ],
    )
    def test_the_environment_switches_it_on(self, vault, usual, tmp_path, monkeypatch, capsys, said, folder):
        monkeypatch.setenv("MEMKIT_CACHE", str(tmp_path / said) if folder else said)
        assert self.say(capsys, "days", vault, "--now", CLOCK, "--tz", ZONE)[0] == 0
        assert len(kept(usual)) == (folder is None)
        assert len(kept(tmp_path / "own")) == (folder == "own")

    @pytest.mark.parametrize("said", ["nope", "disabled", "2", "own", "."])
    def test_a_word_that_is_no_switch_is_no_folder_either(self, vault, tmp_path, monkeypatch, capsys, said):
        monkeypatch.chdir(tmp_path)
        before = sorted(tmp_path.iterdir())
        monkeypatch.setenv("MEMKIT_CACHE", said)
        code, _, err = self.say(capsys, "days", vault)
        assert code == 2
        assert err.startswith(f"memkit: MEMKIT_CACHE: {said!r} is neither a switch nor a path; set it to 1 or 0")
        assert sorted(tmp_path.iterdir()) == before

    @pytest.mark.parametrize("said", ["./own", "~/own"])
    def test_a_path_of_the_current_folder_or_of_home_is_a_folder(self, vault, tmp_path, monkeypatch, capsys, said):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        monkeypatch.setenv("MEMKIT_CACHE", said)
        assert self.say(capsys, "days", vault)[0] == 0
        assert len(kept(tmp_path / "own")) == 1

    @pytest.mark.parametrize("layout", ["archive", "layers", "workspace"])
    def test_the_agents_tools_heed_it_too(self, layout, copied, usual, monkeypatch):
        module = importlib.import_module(f"memkit.tools.{layout}")
        root = aged(copied(layout))
        module.open_store(root).entries()
        assert kept(usual) == []
        monkeypatch.setenv("MEMKIT_CACHE", "1")
        module.open_store(root).entries()
        assert len(kept(usual)) == 1

    def test_python_does_not_heed_it(self, vault, usual, monkeypatch):
        monkeypatch.setenv("MEMKIT_CACHE", "1")
        open_at(vault).entries()
        assert kept(usual) == []

    def test_a_folder_in_the_store_is_a_bad_request(self, vault, monkeypatch, capsys):
        monkeypatch.setenv("MEMKIT_CACHE", str(vault / "cache"))
        code, _, err = self.say(capsys, "days", vault)
        assert code == 2
        assert err.startswith("memkit: cache: ")

    def test_it_is_listed_and_cleared(self, vault, usual, capsys):
        cached(vault).entries()
        (path,) = kept(usual)
        code, out, err = self.say(capsys, "cache", "--format", "json")
        (row,) = pd.read_json(io.StringIO(out)).to_dict("records")
        assert code == 0
        assert (row["store"], row["layout"], row["bytes"]) == (str(vault.resolve()), "archive", path.stat().st_size)
        assert f"memkit: {usual}: {path.stat().st_size:,} bytes of at most 536,870,912" in err
        assert "archive" in self.say(capsys, "cache")[1]
        assert self.say(capsys, "cache", "clear")[:2] == (0, f"{row['bytes']:,} bytes removed from {usual}\n")
        assert kept(usual) == []
        assert self.say(capsys, "cache", "--format", "json")[:2] == (0, "[]\n")

    def test_a_folder_of_ones_own_is_listed_when_the_environment_names_it(self, vault, tmp_path, monkeypatch, capsys):
        open_at(vault, cache=tmp_path / "own").entries()
        for name in ("mine.memkit", "mine.txt"):
            (tmp_path / "own" / name).write_text("stays")
        monkeypatch.setenv("MEMKIT_CACHE", str(tmp_path / "own"))
        assert "archive" in self.say(capsys, "cache", "--format", "csv")[1]
        assert self.say(capsys, "cache", "clear")[0] == 0
        assert sorted(path.name for path in (tmp_path / "own").iterdir()) == ["mine.memkit", "mine.txt"]
        assert self.say(capsys, "cache", "nonsense")[0] == 2


@pytest.mark.parametrize("extra", ["x" * 5000, "~nobody-of-this-name/x", "none"])
def test_an_extra_path_that_leads_nowhere_is_no_more_trouble_than_without(extra, copied):
    root = aged(copied("workspace"))
    cached(root, extra=[extra]).entries()
    assert_alike(cached(root, extra=[extra]), open_at(root, extra=[extra]))


def test_what_is_cached_holds_no_byte_that_is_not_text(vault, usual):
    (vault / "archive/2025/2025-02-26.md").write_bytes(b"---\ndate: 2025-02-26\nindex: x\n---\n- \xff\xfe bad\n")
    aged(vault)
    cached(vault).entries()
    assert len(kept(usual)) == 1
    assert decode(b"\xff\xfe bad")[1]
    assert_alike(cached(vault), open_at(vault))


def test_loading_sees_no_cache_unless_it_is_asked_to(vault):
    assert loading.Loaded(vault, files.find_store(vault).layout, None)._cache is None
    assert Path(cache.usual_folder()).name == "loaded"
