"""Near to far: each step, what a hit must hold, the catalog against the files, healing, contexts; and the seed's own grep."""

import multiprocessing
import random
import re
import shutil
import subprocess
import sys
import unicodedata

import pandas as pd
import pytest
from conftest import open_at

from memkit import nearfar
from memkit.errors import BadArgument, UnsupportedError
from memkit.hits import FOUND, SCORED

TODAY = "2025-02-28"
CATALOG = "catalog/{}.tsv"


def day_file(day, index, *entries):
    quoted = index.replace("'", "''")
    return f"---\ndate: {day}\nindex: '{quoted}'\n---\n## {day}\n" + "".join(f"- {entry}\n" for entry in entries)


def path_of(day):
    return f"archive/{day[:4]}/{day}.md"


def plant(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


class Vault:
    """An archive in a vault: days as {day: (index, entries…)}, the catalog made from them unless told otherwise."""

    def __init__(self, top, days, rows=None, files=None):
        self.top, self.root = top, top / ".agents/nutstore-sync/memory"
        plant(self.root, {path_of(day): day_file(day, *told) for day, told in days.items()})
        told = {day: index for day, (index, *_) in days.items() if day < TODAY} | (rows or {})
        years = {}
        for day, index in sorted(told.items()):
            if index is not None:
                years.setdefault(day[:4], []).append(f"{day}\t{index}\n")
        plant(self.root, {CATALOG.format(year): "".join(lines) for year, lines in years.items()} | (files or {}))

    def open(self, **options):
        return open_at(self.top, layout="archive", **options)

    def search(self, *terms, **options):
        return self.open().search(*terms, **options)

    def rows(self, year=2024):
        return (self.root / CATALOG.format(year)).read_text(encoding="utf-8")


DAYS = {
    "2023-05-01": ("zebra 去了动物园", "去动物园看 zebra", "晚饭吃面"),
    "2024-06-02": ("lion 的事", "看了 lion", "也有 Heron，没写进索引"),
    "2025-02-01": ("坚果云 装好了", "装了坚果云", "同步 三台"),
    TODAY: ("今天 zebu", "今天说到 zebu", "还说到 otter"),
}


@pytest.fixture
def make(tmp_path):
    return lambda days=None, **more: Vault(tmp_path / "vault", DAYS if days is None else days, **more)


def days_of(result):
    return [str(day.date()) for day in result.frame["date"]]


def texts(result):
    return result.frame["text"].tolist()


def tree(folder):
    held = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        info = path.stat()
        held[str(path)] = (path.read_bytes() if path.is_file() else None, info.st_mtime_ns, info.st_ino, info.st_mode)
    return held


# ---- which step answers


@pytest.mark.parametrize(
    ("term", "step", "day", "text"),
    [
        ("坚果云", "recent", "2025-02-01", "装了坚果云"),
        ("三台", "recent", "2025-02-01", "同步 三台"),
        ("otter", "recent", TODAY, "还说到 otter"),
        ("lion", "catalog", "2024-06-02", "看了 lion"),
        ("zebra", "catalog", "2023-05-01", "去动物园看 zebra"),
        ("Heron", "body", "2024-06-02", "也有 Heron，没写进索引"),
    ],
)
def test_the_first_step_that_answers_is_the_last(make, term, step, day, text):
    result = make().search(term)
    assert (result.step, days_of(result), texts(result)) == (step, [day], [text])
    assert result.frame["step"].tolist() == [step]
    assert (result.complete, result.stale, result.warnings, result.provider) == (True, (), (), "near-to-far")


def test_index_lines_are_looked_at_where_the_catalog_lacks_a_row(make):
    result = make(rows={"2024-06-02": None}).search("lion")
    assert (result.step, days_of(result)) == ("frontmatter", ["2024-06-02"])
    assert result.warnings == ("the catalog has no row of 2024-06-02; rebuild_catalog() or heal=True adds it",)
    assert result.stale == ()


def test_a_near_answer_hides_a_far_one_and_says_its_step(make):
    days = {**DAYS, "2025-02-20": ("zebra again", "zebra again")}
    near = make(days)
    assert (near.search("zebra").step, days_of(near.search("zebra"))) == ("recent", ["2025-02-20"])
    assert len(near.open().matching("zebra")) == 2


def test_nothing_found_has_no_step_and_no_rows(make):
    result = make().search("nowhere")
    assert (result.step, len(result), result.complete) == ("", 0, True)
    assert {name: result.frame[name].dtype for name in result.frame} == FOUND
    assert {name: result.entries[name].dtype for name in result.entries} == SCORED
    assert repr(result) == "0 hits for nowhere (near-to-far)"


def test_the_window_is_of_local_days_today_among_them(make):
    mem = make({"2025-01-30": ("edge", "edge one"), "2025-01-29": ("edge", "edge two"), TODAY: ("t", "t")})
    assert days_of(mem.search("edge")) == ["2025-01-30"]
    assert days_of(mem.search("edge", days=31)) == ["2025-01-30", "2025-01-29"]
    early = mem.open(now="2025-03-01T00:30+08:00")  # 16:30 UTC of the day before
    assert [early.search("edge").step, early.search("edge", days=31).step] == ["catalog", "recent"]


def test_todays_file_is_found_before_eight_in_the_morning_of_utc_plus_eight(make):
    mem = make().open(now=f"{TODAY}T06:00+08:00")
    assert mem.search("otter").step == "recent"
    assert f"memory:{TODAY}" in mem.context(1)["key"].tolist()


@pytest.mark.parametrize("days", [0, -1, 2.5, True, "30"])
def test_days_that_are_none_are_refused(make, days):
    for ask in (make().open().search, lambda _, days: make().open().context(days)):
        with pytest.raises(BadArgument, match=r"^days: "):
            ask("x", days=days)


@pytest.mark.parametrize("limit", [-1, True, "5", 2.5])
def test_a_limit_that_is_none_is_refused(make, limit):
    with pytest.raises(BadArgument, match=r"^limit: "):
        make().search("lion", limit=limit)


def test_hits_come_newest_first_and_a_limit_takes_the_newest(make):
    mem = make({f"2024-0{month}-01": ("bee", "bee one", "bee two") for month in (3, 1, 2)})
    every = mem.search("bee")
    assert texts(every) == ["bee two", "bee one"] * 3
    assert days_of(every) == ["2024-03-01"] * 2 + ["2024-02-01"] * 2 + ["2024-01-01"] * 2
    assert mem.search("bee", limit=3).frame.equals(every.frame.head(3))
    assert len(mem.search("bee", limit=0)) == 0
    assert len(mem.search("bee", limit=None)) == 6


# ---- what a hit holds


def test_terms_are_or_and_the_unit_of_narrowing_is_the_day(make):
    mem = make(
        {
            "2024-01-01": ("cat 一", "cat 一", "dog 二"),
            "2024-01-02": ("cat 三", "cat 三"),
            "2024-01-03": ("dog 四", "dog 四", "emu"),
        }
    )
    assert days_of(mem.search("cat", "dog")) == ["2024-01-03", "2024-01-02", "2024-01-01", "2024-01-01"]
    assert set(days_of(mem.search("cat dog"))) == {"2024-01-01"}
    assert texts(mem.search("cat dog")) == ["dog 二", "cat 一"]
    assert texts(mem.search("cat", all_of="dog")) == ["cat 一"]
    assert texts(mem.search("cat", all_of=["dog", "二"])) == ["cat 一"]
    assert set(days_of(mem.search("cat", "dog", any_of=["三", "四"]))) == {"2024-01-02", "2024-01-03"}
    assert texts(mem.search('"dog 四"')) == ["dog 四"]
    assert not len(mem.search('"cat dog"'))


def test_words_may_stand_in_the_index_and_in_the_entries_of_one_day(make):
    mem = make({"2024-01-01": ("alpha", "beta"), "2025-02-20": ("gamma", "delta")})
    assert (mem.search("alpha beta").step, texts(mem.search("alpha beta"))) == ("body", ["beta"])
    assert (mem.search("gamma", all_of="delta").step, texts(mem.search("gamma delta"))) == ("recent", ["delta"])


def test_a_day_that_only_its_index_finds_is_shown_by_it(make):
    mem = make({"2024-01-01": ("quokka 的讨论", "跳来跳去的那只")})
    result = mem.search("quokka")
    assert (texts(result), result.frame["index"].tolist()) == (["quokka 的讨论"], ["quokka 的讨论"])
    assert (result.frame["path"].iloc[0], result.frame["line"].iloc[0]) == (path_of("2024-01-01"), 3)
    assert len(result.entries) == 0
    bundle = result._repr_mimebundle_()
    assert "<mark>quokka</mark>" in bundle["text/html"]
    assert "2024-01-01  archive/2024/2024-01-01.md:3" in bundle["text/plain"]


def test_a_hit_outside_entries_is_shown_as_its_line(make):
    mem = make({})
    text = day_file("2024-01-01", "x", "tea") + "\n### Ibis 会议\n- kept\n\n<!-- heron -->\n"
    plant(mem.root, {path_of("2024-01-01"): text})
    for term, line in (("ibis", 8), ("heron", 11)):
        result = mem.search(term)
        assert (result.step, result.frame["line"].tolist(), len(result.entries)) == ("body", [line], 0)
        assert text.split("\n")[line - 1] == texts(result)[0]


def test_the_tag_is_searched_and_shown_and_entries_have_every_column(make):
    result = make({"2024-01-01": ("x", "[旅行] 火车票", "[ ] [家] 洗碗 #周末")}).search("旅行", "周末")
    assert texts(result) == ["洗碗 #周末", "火车票"]
    assert result.entries["tag"].tolist() == ["家", "旅行"]
    assert "[旅行] 火车票" in repr(result)
    assert result.frame["terms"].tolist() == ["周末", "旅行"]
    assert result.entries["path"].equals(result.frame["path"])


def test_date_heading_path_front_matter_and_other_keys_are_no_text(make):
    mem = make()
    plant(mem.root, {path_of("2024-01-01"): "---\ndate: 2024-01-01\nmood: zorilla\nindex: 'x'\n---\n## 2024-01-01\n- y\n"})
    for term in ("2024-01-01", "2024", "archive", "index", "date", "zorilla", "md", "##"):
        assert not len(mem.search(term)), term
    plant(mem.root, {path_of("2024-01-02"): day_file("2024-01-02", "x", "见 2024-01-01 那天")})
    assert texts(mem.search("2024-01-01")) == ["见 2024-01-01 那天"]


@pytest.mark.parametrize("term", ["C++", "(USD", "-x", ".*", "'", "a|b", "[^", "\\d", "$1", "*", "50%"])
def test_terms_are_literal_in_every_step(make, term):
    plain = {f"2024-01-0{n}": (f"plain {n}", f"plain {n}") for n in range(1, 4)}
    for step, days in (
        ("recent", {"2025-02-20": (f"i {term} j", f"e {term} f")}),
        ("catalog", {"2023-01-01": (f"i {term} j", "e")}),
        ("body", {"2023-01-01": ("i", f"e {term} f")}),
    ):
        mem = make({**plain, **days})
        result = mem.search(f'"{term}"' if " " in term else term)
        assert (result.step, days_of(result)) == (step, list(days)), term
        shutil.rmtree(mem.top)


@pytest.mark.parametrize(
    ("term", "held"), [("茶", "喝茶"), ("的", "我的"), ("ｆｕｌｌ", "FULL"), ("straße", "STRASSE"), ("é", "cafe\u0301")]
)
def test_one_character_is_enough_and_case_and_width_do_not_matter(make, term, held):
    days = {"2024-01-01": (held, "x"), "2024-01-02": ("x", held), "2025-02-20": ("x", held)}
    for day, step in zip(days, ("catalog", "body", "recent"), strict=True):
        mem = make({day: days[day]})
        assert (mem.search(term).step, len(mem.search(term))) == (step, 1)
        (mem.root / CATALOG.format(day[:4])).unlink()
        if step == "catalog":
            assert mem.search(term).step == "frontmatter"  # where the seed's own command told case
        shutil.rmtree(mem.top)


@pytest.mark.parametrize(("term", "name"), [("", "terms"), (" ", "terms"), ("\u200b", "terms")])
def test_a_search_for_nothing_names_what_is_empty(make, term, name):
    with pytest.raises(BadArgument, match=f"^{name}: "):
        make().search(term)
    with pytest.raises(BadArgument, match=r"^terms: none given"):
        make().search()
    with pytest.raises(BadArgument, match=r"^all_of: "):
        make().search("x", all_of=" ")


def test_a_hit_that_was_corrected_says_when_and_the_newest_correction_counts(make):
    mem = make(
        {
            "2024-01-01": ("开业日期定在三月", "开业日期定在三月八日", "开业前先试"),
            "2024-01-05": ("更正", "更正 2024-01-01：开业日期 → 三月十日"),
            "2024-02-05": ("更正", "更正 2024-01-01：开业日期 → 三月十五日"),
            "2024-03-01": ("开业日期贴在门上", "开业日期贴在门上"),
        }
    )
    told = {row.text: row.corrected_by for row in mem.search("开业").frame.itertuples()}
    assert str(told["开业日期定在三月八日"].date()) == "2024-02-05"
    assert [day is pd.NaT for text, day in told.items() if "三月八日" not in text] == [True] * (len(told) - 1)
    assert "(corrected 2024-02-05)" in repr(mem.search("三月八日"))


@pytest.mark.parametrize("narrow", ["2024", "archive", "catalog", "memory", "md", "tsv", "2024-06-02"])
def test_narrowing_never_matches_path_or_date(make, narrow):
    mem = make()
    for group in ("any_of", "all_of"):
        assert not len(mem.search("lion", **{group: narrow}))
        assert not len(mem.search("坚果云", **{group: narrow}))


# ---- the front matter as it really is


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\ndate: {day}\nindex: 'Okapi'\n---\n- x\n",
        "--- \ndate: {day}\nindex: 'Okapi'\n--- \n- x\n",
        "\n---\ndate: {day}\nindex: 'Okapi'\n---\n- x\n",
        "---\ndate: {day}\nindex: 'Okapi'\n...\n- x\n",
        "---\ndate: {day}\nbad: [\nindex: 'Okapi'\n---\n- x\n",
        "---\r\ndate: {day}\r\nindex: 'Okapi'\r\n---\r\n- x\r\n",
        '---\ndate: 2020-01-01\nindex: "Okapi"\n---\n- x\n',
        "---\nindex: Okapi: 三\n---\n- x\n",
        "---\ndate: {day}\nindex: |\n  Okapi\n---\n- x\n",
    ],
)
def test_an_index_is_found_however_it_is_written(make, text):
    mem = make({})
    plant(mem.root, {path_of("2024-01-01"): text.format(day="2024-01-01")})
    assert (mem.search("okapi").step, days_of(mem.search("okapi"))) == ("frontmatter", ["2024-01-01"])


@pytest.mark.parametrize(
    "block",
    ["index: 'one\n  Okapi", "index: 'Okapi'\nindex: 'two'", "<<<<<<< ours\nindex: 'Okapi'\n=======\nindex: 'b'\n>>>>>>> x"],
)
def test_words_of_a_broken_front_matter_are_not_lost(make, block):
    mem = make({})
    plant(mem.root, {path_of("2024-01-01"): f"---\ndate: 2024-01-01\n{block}\n---\n## 2024-01-01\n- x\n"})
    assert days_of(mem.search("okapi")) == ["2024-01-01"]


def test_a_file_in_another_years_folder_is_found_by_its_own_date(make):
    mem = make({})
    plant(mem.root, {"archive/2024/2023-01-01.md": day_file("2023-01-01", "x", "Okapi")})
    result = mem.search("okapi")
    assert (days_of(result), result.frame["path"].tolist()) == (["2023-01-01"], ["archive/2024/2023-01-01.md"])


def test_of_two_files_of_one_day_both_are_searched_and_that_in_its_own_folder_counts(make):
    mem = make({"2023-01-01": ("Okapi", "one")})
    plant(mem.root, {"archive/2024/2023-01-01.md": day_file("2023-01-01", "Okapi b", "two Heron")})
    assert mem.search("okapi").stale == ()
    assert texts(mem.search("heron")) == ["two Heron"]
    assert texts(mem.search("one heron")) == ["two Heron", "one"]


# ---- files that cannot be read whole


@pytest.mark.parametrize("seed", range(8))
def test_a_bad_byte_hides_nothing_and_is_told(make, seed):
    rng = random.Random(seed)
    mem = make({})
    text = day_file("2024-01-01", "Okapi 目录", "第一 heron", "第二 ibis").encode()
    at = rng.choice([at for at in range(len(text) + 1) if text[at : at + 1] in (b"\n", b" ", b"-", b"")])
    plant(mem.root, {path_of("2024-01-01"): text[:at] + b"\xff\x80" + text[at:]})
    result = mem.search("heron")
    assert (days_of(result), result.complete) == (["2024-01-01"], False)
    assert "a byte that is not UTF-8" in result.warnings[0]
    assert "warning: archive/2024/2024-01-01.md: a byte" in repr(result)


def test_only_what_was_looked_at_can_make_an_answer_incomplete(make):
    mem = make(files={path_of("2024-07-01"): day_file("2024-07-01", "x", "y").encode() + b"- \xff\n"})
    assert [mem.search(term).complete for term in ("坚果云", "lion", "Heron", "nowhere")] == [True, True, False, False]
    with (mem.root / CATALOG.format(2023)).open("ab") as rows:
        rows.write(b"\xff")
    assert [mem.search(term).complete for term in ("坚果云", "lion")] == [True, False]


def test_files_in_another_encoding_are_searched_whole(make):
    mem = make({})
    plant(mem.root, {path_of("2024-01-01"): day_file("2024-01-01", "x", "Okapi").encode("utf-16")})
    assert (len(mem.search("okapi")), mem.search("okapi").complete) == (1, True)


def test_a_day_that_cannot_be_read_is_still_told_by_its_row(make, monkeypatch):
    mem = make()
    monkeypatch.setattr(sys.modules["memkit.files.scan"], "TOO_LARGE", 10)
    monkeypatch.setattr(sys.modules["memkit.files.scan"], "_fact_of", _large(mem.root))
    result = mem.search("lion")
    assert (result.step, texts(result), result.complete, result.stale) == ("catalog", ["lion 的事"], False, ())
    assert "too large" in result.warnings[0]
    assert not len(mem.search("坚果云").frame.query("step == 'recent'"))


def _large(root):
    """Return a stat that takes day files, and no catalog, for too large."""
    scan = sys.modules["memkit.files.scan"]
    real = scan._fact_of

    def fact_of(info, path, role, known):
        limit = scan.TOO_LARGE
        scan.TOO_LARGE = limit if path.startswith("archive") else 10**9
        try:
            return real(info, path, role, known)
        finally:
            scan.TOO_LARGE = limit

    return fact_of


# ---- the catalog against the files, and healing


def test_a_row_whose_file_is_gone_is_not_returned_but_told(make):
    mem = make(rows={"2022-03-03": "zebra of old"})
    result = mem.search("zebra")
    assert (days_of(result), result.stale) == (["2023-05-01"], ("2022-03-03",))
    assert mem.search("old").stale == ("2022-03-03",)
    assert not len(mem.search("old"))
    assert "the catalog is out of date for 2022-03-03" in repr(result)


def test_a_row_that_differs_is_told_and_the_file_is_what_counts(make):
    mem = make(rows={"2024-06-02": "lion 与 Heron 旧的说法"})
    for term in ("lion", "Heron"):
        result = mem.search(term)
        assert (result.step, result.stale) == ("catalog", ("2024-06-02",))
        assert result.frame["index"].tolist() == ["lion 的事"]
    result = mem.search("旧的说法")
    assert (len(result), result.step, result.stale) == (0, "", ("2024-06-02",))


def test_a_row_that_is_wrong_does_not_keep_the_search_from_the_right_day(make):
    mem = make({"2024-01-01": ("x", "y"), "2024-01-02": ("z", "the real Okapi")}, rows={"2024-01-01": "okapi, they say"})
    result = mem.search("okapi")
    assert (result.step, days_of(result), result.stale) == ("body", ["2024-01-02"], ("2024-01-01",))


@pytest.mark.parametrize("written", ["'lion 的事'", '"lion 的事"', "lion 的事\r", "\ufefflion 的事"])
def test_dialects_of_a_catalog_are_no_difference(make, written):
    text = f"2024-06-02\t{written}\n"
    mem = make(files={CATALOG.format(2024): f"\ufeff{text[:11]}{written[1:]}\n" if written[0] == "\ufeff" else text})
    assert (mem.search("lion").step, mem.search("lion").stale) == ("catalog", ())


def test_without_heal_nothing_is_written(make):
    mem = make(rows={"2024-06-02": "lion 旧", "2022-03-03": "lion 没了", "2023-05-01": None})
    before = tree(mem.top)
    for term in ("lion", "zebra", "Heron", "坚果云", "nowhere"):
        mem.search(term)
        mem.search(term, context=mem.open().context())
    mem.open().context()
    assert tree(mem.top) == before


@pytest.mark.parametrize(
    ("rows", "term"),
    [
        ({"2024-06-02": "lion 旧"}, "lion"),
        ({"2024-07-07": "lion 没了"}, "没了"),
        ({"2024-06-02": None}, "lion"),
        ({"2024-06-02": None}, "Heron"),
        ({"2024-06-02": "别的"}, "lion"),
    ],
)
def test_healing_rebuilds_the_year_and_writes_nothing_else(make, rows, term):
    whole = make().rows()
    shutil.rmtree(make().top)
    mem = make({**DAYS, "2024-12-31": ("later", "later")}, rows=rows)
    whole += "2024-12-31\tlater\n"
    before = tree(mem.root)
    result = mem.search(term, heal=True)
    assert (mem.rows(), result.healed) == (whole, ("catalog/2024.tsv",))
    after = tree(mem.root)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == {str(mem.root / "catalog"), str(mem.root / CATALOG.format(2024))}
    again = mem.search(term, heal=True)
    assert (again.stale, again.healed, again.warnings) == ((), (), ())
    assert tree(mem.root) == after


def test_healing_catches_up_first_and_today_never_enters(make):
    days = {**DAYS, "2025-02-27": ("yesterday", "yesterday")}
    mem = make(days, rows={"2025-02-27": None})
    mem.search("zebu", heal=True)
    assert mem.rows(2025) == "2025-02-01\t坚果云 装好了\n2025-02-27\tyesterday\n"
    (mem.root / CATALOG.format(2025)).unlink()
    mem.open(now="2025-06-01T12:00+08:00").search("otter", heal=True)
    assert mem.rows(2025).count("\n") == 3


def test_a_year_without_days_loses_its_catalog_and_a_day_ahead_heals_nothing(make):
    mem = make(rows={"2022-03-03": "Okapi"})
    assert mem.search("okapi", heal=True).healed == ("catalog/2022.tsv",)
    assert not (mem.root / CATALOG.format(2022)).exists()
    plant(mem.root, {path_of("2025-03-05"): day_file("2025-03-05", "Okapi", "x")})
    before = tree(mem.top)
    result = mem.search("okapi", heal=True)
    assert (result.step, result.warnings, result.healed) == ("frontmatter", (), ())
    assert tree(mem.top) == before


def test_a_row_in_the_catalog_of_another_year_is_put_right(make):
    mem = make(rows={"2024-06-02": None}, files={CATALOG.format(2023): "2024-06-02\tlion 旧\n2023-05-01\tzebra 去了动物园\n"})
    result = mem.search("lion", heal=True)
    assert set(result.healed) == {"catalog/2023.tsv", "catalog/2024.tsv"}
    assert (mem.rows(2023), mem.rows(2024)) == ("2023-05-01\tzebra 去了动物园\n", "2024-06-02\tlion 的事\n")


def test_a_healed_row_has_the_date_of_the_files_name(make):
    mem = make({})
    plant(
        mem.root, {path_of("2024-01-01"): day_file("2024-01-01", "Okapi", "x").replace("date: 2024-01-01", "date: 2020-09-09")}
    )
    assert mem.search("okapi", heal=True).healed == ()  # catching up has seen to it
    assert mem.rows() == "2024-01-01\tOkapi\n"
    assert (mem.search("okapi").step, days_of(mem.search("okapi")), mem.search("okapi").stale) == (
        "catalog",
        ["2024-01-01"],
        (),
    )


def test_healing_that_cannot_write_still_answers_and_says_so(make, monkeypatch):
    mem = make(rows={"2024-06-02": "lion 旧"}).open()

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied", "catalog/2024.tsv")

    monkeypatch.setattr(sys.modules["memkit.files"], "apply", refused)
    result = mem.search("lion", heal=True)
    assert (days_of(result), result.healed) == (["2024-06-02"], ())
    assert "the catalog was not mended" in result.warnings[-1]


def _heal(top, gate):
    gate.wait(30)
    mem = open_at(top, layout="archive")
    for term in ("lion", "zebra", "没了"):
        mem.search(term, heal=True)


def test_two_processes_may_heal_at_once(make):
    clean = make().rows(2023), make().rows(2024)
    shutil.rmtree(make().top)
    mem = make(rows={"2024-06-02": "lion 旧", "2022-03-03": "没了", "2023-05-01": None})
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(2)
    both = [context.Process(target=_heal, args=(mem.top, gate)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
    assert [one.exitcode for one in both] == [0, 0]
    assert (mem.rows(2023), mem.rows(2024)) == clean
    assert sorted(path.name for path in (mem.root / "catalog").iterdir()) == ["2023.tsv", "2024.tsv", "2025.tsv"]


# ---- contexts


def test_a_context_has_a_row_for_each_day_of_the_window_ascending(make):
    mem = make({**DAYS, "2025-03-05": ("ahead", "x"), "2025-01-30": ("edge", "x"), "2025-01-29": ("out", "x")}).open()
    frame = mem.context()
    assert {name: frame[name].dtype for name in frame} == nearfar.CONTEXT
    days = ["2025-01-30", "2025-02-01", TODAY]
    assert frame["key"].tolist() == [f"memory:{day}" for day in days]
    assert frame["path"].tolist() == [f".agents/nutstore-sync/memory/{path_of(day)}" for day in days]
    assert frame["index"].tolist() == ["edge", "坚果云 装好了", "今天 zebu"]
    assert frame["removed"].tolist() == [False] * 3
    assert [str(day.date()) for day in frame["date"]] == days
    assert mem.context(1)["key"].tolist() == [f"memory:{TODAY}"]


@pytest.mark.parametrize("given", ["frame", "dicts", "keys"])
def test_days_that_are_no_more_are_withdrawn_once(make, given):
    mem = make({**DAYS, "2025-02-27": ("gone", "x")})
    then = mem.open().context()
    (mem.root / path_of("2025-02-27")).unlink()
    previous = {"frame": then, "dicts": then.to_dict("records"), "keys": then[["key", "path", "index"]].to_dict("records")}[
        given
    ]
    now = mem.open().context(previous=previous)
    assert now["removed"].tolist() == [False, True, False]
    assert now["key"].tolist()[1] == "memory:2025-02-27"
    assert now[["path", "index"]].iloc[1].isna().all()
    assert not mem.open().context(previous=now)["removed"].any()


def test_days_that_the_window_has_passed_are_withdrawn_too(make):
    mem = make()
    then = mem.open().context()
    now = mem.open(now="2025-03-03T12:00+08:00").context(previous=then)
    assert dict(zip(now["key"], now["removed"], strict=True)) == {"memory:2025-02-01": True, f"memory:{TODAY}": False}


@pytest.mark.parametrize(
    "previous", ["memory:2025-02-01", 5, [5], [{}], [{"date": "2025-02-30"}], [{"key": "memory:x"}], {"date": "2025-02-01"}]
)
def test_what_is_no_context_is_refused(make, previous):
    mem = make().open()
    with pytest.raises(BadArgument, match=r"^previous: "):
        mem.context(previous=previous)
    with pytest.raises(BadArgument, match=r"^context: "):
        mem.search("x", context=previous)


def test_rows_that_the_caller_holds_answer_first_if_their_file_still_says_so(make):
    mem = make()
    held = mem.open().context(1000)
    result = mem.search("lion", context=held)
    assert (result.step, texts(result)) == ("context", ["看了 lion"])
    assert mem.search("Heron", context=held).step == "body"
    (mem.root / path_of("2024-06-02")).unlink()
    result = mem.search("lion", context=held)
    assert (len(result), result.stale) == (0, ("2024-06-02",))
    assert mem.search("lion", context=mem.open().context(1000, previous=held)).step == ""
    assert mem.search("坚果云", context=[]).step == "recent"


@pytest.mark.parametrize("layout", ["layers", "workspace"])
def test_only_an_archive_has_a_context(copied, layout):
    mem = open_at(copied(layout))
    with pytest.raises(UnsupportedError, match=r"^context: only a store of the layout archive has it"):
        mem.context()
    with pytest.raises(UnsupportedError, match=r"^context: only a search of an archive"):
        mem.search("x", context=[])


# ---- how it is shown


def test_hits_are_marked_and_nothing_is_markup(make):
    result = make({"2024-01-01": ("<b>Okapi</b>", "x")}).search("okapi")
    page = result._repr_mimebundle_()["text/html"]
    assert "&lt;b&gt;<mark>Okapi</mark>&lt;/b&gt;" in page
    assert "step catalog" in page


# ---- layers


@pytest.fixture
def layers(tmp_path):
    def make(topics=("旅行|2024-12", "旅行|2025-01")):
        files = {
            f"cold/{day[:7]}/{day}.md": f"# {day}\n\n- [{day}T04:00:00.000Z] [{tag}] {text}\n"
            for day, tag, text in (
                ("2024-11-30", "旅行", "火车票"), ("2024-12-31", "旅行", "火车票订好了"), ("2025-01-31", "家", "海鲜涨价"),
                ("2025-02-25", "家", "火锅"), ("2025-02-26", "家", "旅行箱修好"),
            )
        }  # fmt: skip
        block = "".join(f"{topic}\n" for topic in topics)
        files["hot.md"] = (
            f"x\n\n<!-- candidates:start -->\n<!-- candidates:end -->\n\n<!-- topics:start -->\n{block}<!-- topics:end -->\n"
        )
        plant(tmp_path / "dsh", files)
        return open_at(tmp_path / "dsh", layout="layers")

    return make


@pytest.mark.parametrize(
    ("terms", "step", "found"),
    [
        (["箱"], "recent", ["旅行箱修好"]),
        (["火锅"], "recall", ["火锅"]),
        (["旅行 火车"], "topics", ["火车票订好了"]),
        (["旅行计划", "火车"], "topics", ["火车票订好了"]),
        (["火车"], "recall", ["火车票订好了", "火车票"]),
        (["海鲜"], "recall", ["海鲜涨价"]),
        (["nowhere"], "", []),
    ],
)
def test_layers_look_at_recent_days_then_at_months_of_topics_then_at_all(layers, terms, step, found):
    result = layers().search(*terms)
    assert (result.step, texts(result), result.complete) == (step, found, True)
    assert {name: result.frame[name].dtype for name in result.frame} == FOUND
    assert {name: result.entries[name].dtype for name in result.entries} == SCORED
    assert result.frame["score"].isna().all()
    assert "hit" in repr(result)


def test_layers_take_another_window_a_limit_and_the_groups(layers):
    mem = layers()
    assert mem.search("火锅", days=4).step == "recent"
    assert texts(mem.search("火车", limit=1)) == ["火车票订好了"]
    assert texts(mem.search("火车", all_of="订")) == ["火车票订好了"]
    assert texts(mem.search("火车", any_of=["x", "订"])) == ["火车票订好了"]
    assert texts(mem.search("火车", heal=True, include_forgotten=True)) == ["火车票订好了", "火车票"]


def test_layers_say_what_was_corrected_and_what_could_not_be_read(layers):
    mem = layers()
    mem.correct("2024-12-31", "火车票", "改坐船")
    frame = mem.search("订好").frame
    assert str(frame["corrected_by"].iloc[0].date()) == TODAY
    with (mem.root / "cold/2024-11/2024-11-30.md").open("ab") as file:
        file.write(b"- \xff\n")
    assert [mem.search(term).complete for term in ("箱", "旅行 订", "海鲜")] == [True, True, False]


# ---- the seed's own commands

PLAIN = ("坚果云", "同步", "红水壶", "茶", "的", "tea", "zebra", "heron", "开业", "决定", "三月", "计划", "obsidian", "排风扇")
WORDS = (*PLAIN, "ＦＵＬＬ", "café", "it's", "C++", "(USD)", "100%", "ß", "Ω", "e-mail", "3.5", "Tea", "full", "usd")


def fold(text):
    return unicodedata.normalize("NFKC", text).casefold()


def grep(words, paths, *, cased=False, anchor=""):
    """Return the days of the lines that the seed's grep finds; words are escaped as an agent would have to."""
    pattern = anchor + "(" + "|".join(re.sub(r"([\\.^$*+?()\[\]{}|])", r"\\\1", word) for word in words) + ")"
    command = ["grep", "-HnE" if cased else "-HniE", "-e", pattern, *map(str, paths)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    )
    return [line.split(":", 2) for line in done.stdout.splitlines()]


def invented(make, rng, words, *, cased):
    """Return a vault of invented days, all behind the window, and what each of them says."""
    forms = [str, str.upper, str.lower] if cased else [str]

    def said(count):
        return " ".join(rng.choice(forms)(rng.choice(words)) for _ in range(count))

    days = {
        f"{rng.choice((2022, 2023, 2024))}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}": (
            said(rng.randint(1, 2)), *(said(rng.randint(1, 4)) for _ in range(rng.randint(1, 3)))
        )
        for _ in range(14)
    }  # fmt: skip
    return make(days), days


def by_grep(mem, words, narrow):
    """Return the step at which the seed's commands find something, and the days."""
    tsv, md = sorted(mem.root.glob("catalog/*.tsv")), sorted(mem.root.glob("archive/*/*.md"))
    rows = [row[2].split("\t", 1) for row in grep(words, tsv)]
    kept = {day for day, index in rows if not narrow or fold(narrow[0]) in fold(index)}
    if kept or narrow:
        return ("catalog" if kept else ""), kept
    for step, found in (("frontmatter", grep(words, md, cased=True, anchor="^index:.*")), ("body", grep(words, md))):
        if found:
            return step, {row[0][-13:-3] for row in found}
    return "", set()


needs_grep = pytest.mark.skipif(shutil.which("grep") is None, reason="the seed's commands need grep")


@needs_grep
@pytest.mark.parametrize("seed", range(4))
def test_plain_words_find_just_what_the_seeds_grep_finds_at_the_same_step(make, seed):
    rng = random.Random(seed)
    mem, _ = invented(make, rng, PLAIN[seed:], cased=False)
    (mem.root / CATALOG.format(2023)).unlink(missing_ok=True)  # so that the later steps have something to do
    store, seen = mem.open(), set()
    for _ in range(50):
        words = rng.sample(PLAIN, rng.randint(1, 3)) if seed else [rng.choice(PLAIN)]
        step, theirs = by_grep(mem, words, [])
        result = store.search(*words, limit=None)
        assert (result.step, set(days_of(result))) == (step, theirs), words
        seen.add(step)
    assert len(seen) >= 2 - bool(seed)


@needs_grep
@pytest.mark.parametrize("seed", range(4))
def test_no_day_that_the_seeds_grep_finds_is_missed_and_more_are_explained(make, seed):
    rng = random.Random(seed)
    mem, days = invented(make, rng, WORDS, cased=True)
    store, more = mem.open(), 0
    for _ in range(60):
        words, narrow = rng.sample(WORDS, rng.randint(1, 3)), rng.sample(WORDS, rng.choice([0, 0, 1]))
        step, theirs = by_grep(mem, words, narrow)
        result = store.search(*words, any_of=narrow, limit=None)
        ours = set(days_of(result))
        order = [*nearfar.STEPS, ""]
        assert order.index(result.step) <= order.index(step)
        assert theirs <= ours or result.step != step, (words, narrow)
        for day in ours - theirs:
            assert _explained(words, narrow, day, days, result.step), (words, narrow, day)
        more += len(ours - theirs)
    assert more


def _explained(words, narrow, day, days, step):
    """Return whether a day beyond grep's is one by case, width or escaping, or because narrowing goes by the day."""
    index, *entries = days[day]
    where = index if step in ("catalog", "frontmatter") else "\n".join([index, *entries])
    told = [word for word in words if fold(word) in fold(where)]
    assert told
    return bool(narrow) or any(word not in where or "'" in word for word in told)
