"""The seven tools of an archive: what they answer, how much of it, what they mend, and that they are told as JSON schema."""

import json
import shutil
from contextlib import suppress

import pytest
from conftest import CLOCK, SAMPLES, ZONE
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memkit import tools
from memkit.errors import BadArgument, BadIndexError, MemkitError
from memkit.tools import archive

PREFIX = ".agents/nutstore-sync/memory/"
TODAY = "2025-02-28"
TAKES = {
    "archive_append": ["text", "tag", "index"],
    "archive_search": ["terms", "allOf", "anyOf", "days", "limit", "offset"],
    "archive_read": ["date", "limit", "offset"],
    "archive_recent": ["days", "limit", "offset"],
    "archive_correct": ["date", "subject", "text"],
    "archive_forget": ["text", "date", "newIndex", "confirm"],
    "archive_rebuild": ["year"],
}
READ_ONLY = {"archive_search": {"terms": ["茶"]}, "archive_read": {"date": "2025-01-02"}, "archive_recent": {}}


@pytest.fixture
def vault(copied):
    return copied("archive")


@pytest.fixture
def ask(vault):
    """Return a function that calls a tool on the store, opened anew each time, and holds that the answer is plain JSON."""

    def ask(name, now=CLOCK, **arguments):
        store = archive.open_store(vault, now=now, tz=ZONE)
        answer = tools.call(store, f"archive_{name}", arguments)
        assert str(vault) not in json.dumps(answer, ensure_ascii=False, allow_nan=False)
        return answer

    return ask


def tree(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def memory(vault):
    return vault / PREFIX


def texts(answer):
    return [item["text"] for item in answer["results"]]


class TestSchemas:
    def test_there_are_seven_with_their_arguments(self):
        store = archive.open_store(SAMPLES / "archive", now=CLOCK)
        held = tools.schemas(store)
        assert {schema["name"]: list(schema["inputSchema"]["properties"]) for schema in held} == TAKES
        for schema in held:
            Draft202012Validator.check_schema(schema["inputSchema"])
            assert any("\u4e00" <= character <= "\u9fff" for character in schema["description"])
            assert schema["description"].count("\n\n") == 1
            for argument in schema["inputSchema"]["properties"].values():
                assert argument["description"].endswith(".")
                assert "default" not in argument or Draft202012Validator(argument).is_valid(argument["default"])

    def test_terms_are_a_list_or_a_single_text(self, ask):
        for terms in (["红水壶"], "红水壶"):
            assert ask("search", terms=terms)["matched"] == 7
        for terms in ([], [5], {"a": 1}, 5, None):
            with pytest.raises(BadArgument, match=r"^terms: .*expected a list of 1 to 64 texts$"):
                ask("search", terms=terms)
        with pytest.raises(BadArgument, match=r"^terms: no word"):
            ask("search", terms=[" "])


class TestAppend:
    def test_the_entry_and_the_index_of_the_day_are_told(self, ask, vault):
        before = tree(vault)
        answer = ask("append", text="挂钟修好了", tag="茶室")
        path = f"{PREFIX}archive/2025/{TODAY}.md"
        assert (answer["added"], answer["date"], answer["path"]) == (True, TODAY, path)
        assert answer["index"].endswith("挂钟修好了")
        after = tree(vault)
        assert {name for name in after if after[name] != before.get(name)} == {path}
        assert after[path].endswith("- [茶室] 挂钟修好了\n".encode())
        assert ask("append", text="挂钟修好了", tag="茶室")["added"] is False
        assert tree(vault) == after

    def test_an_index_takes_the_place_of_the_extracted_one(self, ask):
        assert ask("append", text="x y", index="我写的")["index"] == "我写的"
        with pytest.raises(BadIndexError):
            ask("append", text="z", index="a\tb")

    def test_the_days_before_get_their_rows(self, ask, vault):
        ask("append", now="2025-03-02T09:00+08:00", text="开门")
        assert (memory(vault) / "catalog/2025.tsv").read_text().split("\n")[-2].startswith(TODAY)

    def test_in_an_empty_obsidian_vault_the_archive_lies_where_the_plugin_has_it(self, tmp_path, monkeypatch):
        (tmp_path / ".obsidian").mkdir()
        monkeypatch.chdir(tmp_path)
        store = archive.open_store(now=CLOCK, tz=ZONE)
        answer = tools.call(store, "archive_append", {"text": "第一条"})
        assert answer["path"] == f"{PREFIX}archive/2025/{TODAY}.md"
        assert (tmp_path / answer["path"]).is_file()


class TestSearch:
    def test_near_to_far_with_the_step_and_paths_from_the_vault(self, ask):
        answer = ask("search", terms=["红水壶"], limit=2)
        assert {name: answer[name] for name in ("step", "complete", "matched", "returned", "leftOut", "nextOffset")} == {
            "step": "recent", "complete": True, "matched": 7, "returned": 2, "leftOut": 5, "nextOffset": 2,
        }  # fmt: skip
        assert answer["results"][0]["path"] == f"{PREFIX}archive/2025/2025-02-26.md"
        assert "红水壶" in answer["results"][0]["text"]
        assert ask("search", terms=["水仙"])["step"] == "catalog"

    def test_pages_make_up_the_whole(self, ask):
        whole = texts(ask("search", terms=["的"], limit=100))
        paged, offset = [], 0
        while True:
            answer = ask("search", terms=["的"], limit=7, offset=offset)
            paged += texts(answer)
            if not answer["leftOut"]:
                break
            offset = answer["nextOffset"]
        assert paged == whole
        assert ask("search", terms=["的"], offset=5000)["returned"] == 0

    def test_groups_narrow_by_the_day(self, ask):
        assert texts(ask("search", terms=["红水壶"], allOf=["哨片"]))[0].startswith("红水壶修好了")
        assert ask("search", terms=["红水壶", "坚果云"], anyOf=["降 B"], days=60)["matched"] > 1

    def test_an_answer_has_a_cap_on_characters_and_says_what_it_leaves_out(self, ask, vault):
        (memory(vault) / "archive/2025/2025-02-27.md").write_text(
            "---\ndate: 2025-02-27\nindex: 'long'\n---\n## 2025-02-27\n"
            + "".join(f"- Okapi {n} {'啊' * 900}\n" for n in range(60)),
            encoding="utf-8",
        )
        answer = ask("search", terms=["okapi"], limit=100)
        assert answer["matched"] == 60
        assert answer["leftOut"] == 60 - answer["returned"] > 0
        assert sum(map(len, texts(answer))) <= archive.MOST
        assert {item["chars"] for item in answer["results"]} <= {908, 909}
        again = ask("search", terms=["okapi"], limit=100, offset=answer["nextOffset"])
        assert "Okapi" in texts(again)[0]
        assert texts(again)[0] not in texts(answer)

    def test_what_was_corrected_says_when(self, ask):
        ask("correct", date="2025-01-02", subject="墙漆", text="四桶 756 元")
        assert ask("search", terms=["墙漆"])["results"][0]["text"] == "更正 2025-01-02：墙漆 → 四桶 756 元"
        old = ask("search", terms=["苔痕"])["results"][0]
        assert (old["date"], old["correctedBy"]) == ("2025-01-02", TODAY)

    def test_it_heals_and_catches_up_and_says_so(self, ask, vault):
        catalog = memory(vault) / "catalog/2025.tsv"
        whole = catalog.read_bytes()
        rows = whole.split(b"\n")
        catalog.write_bytes(b"\n".join([rows[0] + b" zebra", *rows[1:-2], b""]))
        answer = ask("search", terms=["zebra"])
        assert (answer["matched"], answer["stale"], answer["healed"]) == (
            0,
            [rows[0][:10].decode()],
            [f"{PREFIX}catalog/2025.tsv"],
        )
        assert catalog.read_bytes() == whole
        assert not {"stale", "healed", "warning"} & ask("search", terms=["zebra"]).keys()

    def test_a_bad_byte_is_told(self, ask, vault):
        with (memory(vault) / "archive/2025/2025-02-27.md").open("ab") as file:
            file.write(b"- okapi \xff\n")
        answer = ask("search", terms=["okapi"])
        assert (answer["complete"], answer["matched"]) == (False, 1)
        assert answer["warning"].startswith(f"{PREFIX}archive/2025/2025-02-27.md: a byte that is not UTF-8")


class TestRead:
    def test_a_day_comes_as_it_is_written_in_parts_if_it_is_long(self, ask, vault):
        whole = (memory(vault) / "archive/2025/2025-01-02.md").read_text(encoding="utf-8")
        answer = ask("read", date="2025-01-02")
        assert answer == {
            "date": "2025-01-02", "path": f"{PREFIX}archive/2025/2025-01-02.md", "text": whole,
            "chars": len(whole), "leftOut": 0,
        }  # fmt: skip
        first = ask("read", date="2025-01-02", limit=50)
        assert (first["text"], first["leftOut"], first["nextOffset"]) == (whole[:50], len(whole) - 50, 50)
        assert first["text"] + ask("read", date="2025-01-02", offset=50)["text"] == whole
        assert ask("read", date="2025-01-02", offset=10**6)["leftOut"] == 0

    def test_a_day_without_a_file_names_the_nearest(self, ask):
        with pytest.raises(BadArgument, match=r"2025-01-03 has no file here; the nearest day that has one is 2025-01-0"):
            ask("read", date="2025-01-03")
        with pytest.raises(BadArgument, match=r"^date: '2025-02-30'; expected a real date"):
            ask("read", date="2025-02-30")


class TestRecent:
    def test_the_indexes_come_newest_first(self, ask, vault):
        answer = ask("recent", days=3, limit=2)
        assert [item["date"] for item in answer["results"]] == [TODAY, "2025-02-27"]
        assert (answer["days"], answer["matched"], answer["leftOut"], answer["nextOffset"]) == (3, 3, 1, 2)
        assert set(answer["results"][0]) == {"date", "path", "index"}
        assert ask("recent", days=3, offset=2)["results"][0]["date"] == "2025-02-26"

    def test_a_flood_is_cut_and_counted(self, ask, vault):
        long = f"---\ndate: 2025-02-27\nindex: '{'长' * 20_000}'\n---\n- x\n"
        (memory(vault) / "archive/2025/2025-02-27.md").write_text(long, encoding="utf-8")
        answer = ask("recent")
        assert (answer["returned"], answer["leftOut"]) == (1, answer["matched"] - 1)
        answer = ask("recent", offset=1)
        assert len(answer["results"][0]["index"]) == archive.MOST
        assert answer["results"][0]["leftOut"] == 20_000 - archive.MOST


class TestForget:
    def test_first_the_diff_and_only_with_confirm_the_deed(self, ask, vault):
        ask("append", text="门禁 code zorilla 1234")
        before = tree(vault)
        answer = ask("forget", text="门禁 code zorilla 1234")
        assert (answer["applied"], tree(vault)) == (False, before)
        assert answer["rows"][0]["row"].startswith(f"{PREFIX}archive/2025/{TODAY}.md:")
        assert f"--- a/{PREFIX}archive/2025/{TODAY}.md\n" in answer["diff"]
        assert "-- 门禁 code zorilla 1234\n" in answer["diff"]
        assert ask("forget", text="门禁 code zorilla 1234", confirm=False)["diff"] == answer["diff"]
        done = ask("forget", text="门禁 code zorilla 1234", confirm=True)
        assert (done["applied"], "diff" in done) == (True, False)
        assert not any(b"zorilla" in data for data in tree(vault).values())
        assert ask("search", terms=["zorilla"])["matched"] == 0

    def test_a_day_narrows_it_and_a_new_index_is_taken(self, ask, vault):
        text = "老顾送来第一层书架，松木的，边角磨得像肥皂。他不收钱，收了一杯咖啡，嫌淡。"
        for confirm in (False, True):
            answer = ask("forget", text=text, date="2025-01-06", confirm=confirm)
            assert (answer["applied"], answer["rows"]) == (False, [])
            assert answer["warning"].startswith("no entry has exactly this text; the words stand in other text too")
            assert answer["warning"].endswith(f": {PREFIX}archive/2025/2025-01-05.md")
        ask("forget", text=text, date="2025-01-05", newIndex="只剩同步", confirm=True)
        assert "\t只剩同步\n" in (memory(vault) / "catalog/2025.tsv").read_text(encoding="utf-8")
        assert "松木" not in (memory(vault) / "archive/2025/2025-01-05.md").read_text(encoding="utf-8")


class TestRebuild:
    def test_one_year_or_all_are_made_afresh(self, ask, vault):
        catalogs = memory(vault) / "catalog"
        before = tree(catalogs)
        shutil.rmtree(catalogs)
        answer = ask("rebuild", year=2024)
        assert answer["changed"] >= 1
        assert answer["catalogs"][0]["path"] == f"{PREFIX}catalog/2024.tsv"
        ask("rebuild")
        assert tree(catalogs) == before
        assert ask("rebuild")["changed"] == 0


class TestAll:
    def test_reading_a_clean_store_changes_nothing(self, ask, vault):
        before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in vault.rglob("*")}
        for name, arguments in READ_ONLY.items():
            ask(name.removeprefix("archive_"), **arguments)
        assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in vault.rglob("*")} == before

    @settings(max_examples=120, deadline=None)
    @given(data=st.data())
    def test_whatever_json_is_given_only_errors_that_are_meant_are_raised(self, tmp_path_factory, data):
        name = data.draw(st.sampled_from(sorted(TAKES)))
        word = st.sampled_from([TODAY, "2025-02-01", "true", "\ud800", "---", "index: 'x'", "- ", "茶"])
        json_like = st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | word,
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
            max_leaves=3,
        )
        asked = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(TAKES[name], json_like)))
        root = tmp_path_factory.getbasetemp() / "whatever-archive"
        with suppress(MemkitError):
            answer = tools.call(archive.open_store(root, now=CLOCK, tz=ZONE), name, asked)
            json.dumps(answer, ensure_ascii=False, allow_nan=False).encode("utf-8")


@pytest.mark.parametrize("year", [0, -3, 10_000, 2025.5, "x", True])
def test_a_year_that_is_none_is_refused(ask, vault, year):
    before = tree(vault)
    with pytest.raises(BadArgument, match=r"^year: .*; expected a whole number from 1 to 9999$"):
        ask("rebuild", year=year)
    assert tree(vault) == before
    assert ask("rebuild", year="2025") == ask("rebuild", year=2025)


def test_a_tag_that_is_no_word_is_refused(ask, vault):
    before = tree(vault)
    with pytest.raises(BadArgument, match=r"^tag: '签{40}'; expected a word of at most 200 characters$"):
        ask("append", text="红水壶", tag="签" * 201)
    assert tree(vault) == before
    assert ask("append", text="红水壶", tag="签" * 200)["added"]
