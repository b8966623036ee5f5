"""Nothing is invisible: whatever a file holds, in every layout each line is taken for one thing, and no text is lost."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memkit.layouts import LAYOUTS, cold, detect, index_line, layers, named, stored, transcript
from memkit.layouts.catalog import unquoted
from memkit.layouts.index_line import recovered
from memkit.marks import instant
from memkit.model import BLOCKS, SPANS, Document, Reading
from memkit.text import decode, decode_bytes

property_test = settings(max_examples=200, deadline=None)
SAMPLES = Path(__file__).parent.parent / "data-samples"
PLACES = [
    ("archive", "archive/2025/2025-02-03.md"),
    ("archive", "catalog/2025.tsv"),
    ("workspace", "MEMORY.md"),
    ("workspace", "memory/2025-02-03.md"),
    ("workspace", "memory/2025-02-03-0930.md"),
    ("workspace", "memory/notes/tea.md"),
    ("layers", "cold/2025-02/2025-02-03.md"),
    ("layers", "hot.md"),
    ("layers", "summaries/day/2025-02-03.md"),
    ("layers", "summaries/week/2025-W06.md"),
]


def parsed(layout, path, data):
    """Return document and records of some bytes."""
    text, reading, problems = decode(data if isinstance(data, bytes) else data.encode())
    doc = Document(path, LAYOUTS[layout].role(path), text, reading, problems)
    return doc, LAYOUTS[layout].parse(doc, spans=True)


def check(layout, path, data):
    """Assert all that holds for whatever bytes a file may have."""
    doc, records = parsed(layout, path, data)
    lines = doc.reading.split("\n")
    assert doc.text.encode("utf-8", "surrogateescape") == (data if isinstance(data, bytes) else data.encode())
    assert len(records.spans) == len(lines)
    for line, span in zip(lines, records.spans, strict=True):
        assert span in SPANS
        assert (span == "blank") == (not line.strip())
    entries = records.entries
    size = len(entries)
    ends = entries.end_line or entries.line
    covered = [n for start, end in zip(entries.line, ends, strict=True) for n in range(start, end + 1)]
    assert len(covered) == len(set(covered))
    for number, span in enumerate(records.spans, 1):
        assert span in ("blank", "entry") if number in covered else span != "entry"
    for name in ("line", "end_line", "text", "tag", "section", "clock", "stamp", "label", "task", "block", "day"):
        column = getattr(entries, name)
        assert column is None or len(column) == size
    for n in range(size):
        check_entry(records, lines, n)
    for problem in records.problems:
        assert 1 <= problem.line <= len(lines), problem
        assert re.fullmatch("[a-z0-9-]+", problem.rule)
        assert problem.message
    for line, tag in records.tags:
        assert line in entries.line
        assert readable(tag)
    check_others(records, lines)


def check_entry(records, lines, n):
    entries = records.entries
    text = entries.text[n]
    assert text.strip()
    assert readable(text)
    assert records.role.kind is not None
    start, end = entries.line[n], (entries.end_line or entries.line)[n]
    words = re.findall(r"\w+", without_sign("\n".join(lines[start - 1 : end])))
    taken = [entries.stamp[n] if entries.stamp else None, entries.tag[n] if entries.tag else None]
    taken.append(entries.task[n] if entries.task else None)
    prefix = set(re.findall(r"\w+", " ".join(filter(None, taken)))) | set("xX")
    assert [word for word in words if word not in text and word not in prefix] == []
    for column in (entries.tag, entries.section, entries.label, entries.task):
        assert column is None or column[n] is None or (column[n] and readable(column[n]))
    if entries.clock and entries.clock[n]:
        assert re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?", entries.clock[n])
    if entries.stamp and entries.stamp[n]:
        assert instant(entries.stamp[n])
    assert (entries.block or ["item"] * (n + 1))[n] in BLOCKS


def without_sign(text):
    return re.sub(r"^\s*(?:[0-9]+[.)、]|[①-⑳])", "", text)


def readable(text):
    return not re.search("[\0\r\ud800-\udfff]", text)


def check_others(records, lines):
    for row in records.rows:
        assert readable(row.index)
        assert lines[row.line - 1]
    if records.index and records.index.text is not None:
        assert readable(records.index.text)
        assert records.index.text.strip()
        assert not re.search("[\t\n]", records.index.text)
        assert 1 <= records.index.line <= len(lines)
    if records.hot:
        body, candidates = records.hot.body, records.hot.candidates
        assert readable(body)
        assert body == body.strip()
        assert all(map(readable, candidates.text))
        words = re.findall(r"\w+", "\n".join(line for line in lines if not re.match(r"\s*<!--|[<>|]{7}", line)))
        held = body + "\n".join([*candidates.text, *map(str, candidates.tag or []), *map(str, records.hot.topics)])
        reported = {lines[problem.line - 1] for problem in records.problems}
        assert all(w in held or any(w in line for line in reported | set(map(str, candidates.stamp or []))) for w in words)
    if records.summary:
        assert all(line in lines for line in records.summary.lines)


# ---- what may stand in a file ----

FRAGMENTS = """
# tea¦## 14:30 UTC¦### [09:15] cup¦## 2025-02-03¦# 2025年2月3日 星期一¦#tag¦plain words¦第一句。第二句！¦a  ¦  b¦    code¦\ttab
- tea¦- [ ] todo¦- [x] done¦- [→] moved¦- [ ]¦- [x]¦- [计划] 买票¦- [a] [b] c¦- [x](u.md) link¦- #tea #绿茶 b¦- **Label:** text
- 14:30 tea¦- 2025-02-03T02:10:00.000Z tea¦- [2025-02-03T02:10:00.000Z] [tag] words¦- [2025-02-03T02:10Z] [-] x
- [2025-02-30T02:10Z] [a] no day¦- [bad] [a] x¦* star¦+ plus¦1. one¦2. two¦10) ten¦1、甲¦①乙¦• dot¦·点¦- ¦-¦*¦1.
  - nested¦   - three¦ - one¦    - four¦  wrapped¦- - twice¦-     code¦      deep
> quote¦>¦> - item¦---¦***¦___¦===¦=======¦...¦```¦```sh¦~~~¦````¦  ```¦- ```¦<!-- comment -->¦<!--¦-->¦--> rest
| a | b |¦|---|---|¦| 1 | 2 |¦|¦a|b
date: 2025-02-03¦index: 'tea'¦index: it's¦index: [a, b]¦index: |¦tags: [a]¦index: "a\\tb"¦date: 2025-02-30¦key: value: x
<<<<<<< HEAD¦||||||| base¦>>>>>>> 0a1b¦2025-02-03\ttea¦2025-02-03\t'it''s'¦2025-02-30\tx¦\t¦NA
<!-- candidates:start -->¦<!-- candidates:end -->¦<!-- topics:start -->¦<!-- topics:end -->
tea|2025-02¦a|b|2025-01¦x|2025-13¦|2025-02¦茶|2025-01
# 日摘要 2025-02-03¦> 来源：cold/2025-02/2025-02-03.md（3 条，sha256:ab12cd34ef56）¦> 生成时间：2025-02-04T01:00:00.000Z
> 另有 4 条因字数预算省略。¦a\u2028b¦a\u0085b¦a\x0cb¦\ufeff¦\u200b¦\u3000¦a\0b¦a\rb¦\x1b[0m¦\u2060
""".replace("\n", "¦").split("¦")
lines_of = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=12)), max_size=16)
some_markdown = st.tuples(lines_of, st.sampled_from(["\n", "\r\n", "\n\n"])).map(lambda pair: pair[1].join(pair[0]))
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-16", "gb18030", "latin-1", "utf-32"])
some_bytes = st.one_of(
    st.binary(max_size=200),
    st.tuples(some_markdown, encodings).map(lambda pair: pair[0].encode(pair[1], "replace")),
    st.lists(st.tuples(some_markdown, encodings), max_size=4).map(
        lambda all_: b"\n".join(t.encode(e, "replace") for t, e in all_)
    ),
    st.tuples(some_markdown, st.integers(0, 99)).map(lambda pair: pair[0].encode()[pair[1] :][: -1 - pair[1] % 3]),
    st.tuples(some_markdown, st.integers(1, 70)).map(lambda pair: pair[0].encode() + b"\0" * pair[1] + pair[0].encode()),
)


@pytest.mark.parametrize(("layout", "path"), PLACES)
@property_test
@given(text=some_markdown)
@example(text="- [ ]\n- [x]\n- [ ] tea")
@example(text="- [x]\n  - nested")
@example(text="---\nindex: 'a\n---\n- b")
@example(text="---\n---\n---\n- b")
@example(text="\ufeff\n---\ndate: 2025-02-03\n...\n- b")
def test_no_line_and_no_word_of_a_file_is_lost(layout, path, text):
    check(layout, path, text)


@pytest.mark.parametrize(("layout", "path"), PLACES)
@property_test
@given(data=some_bytes)
@example(data=b"\xff\xfe")
@example(data=b"\xfe\xff\0")
@example(data=b"\0" * 99)
@example(data=b"\xef\xbb\xbf")
@example(data=b"- \xe8\x8c")
@example(data=b"- a\n\xff\xfe-\0 \0b\0\n\0- c\n")
def test_no_bytes_break_the_reading(layout, path, data):
    check(layout, path, data)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_is_invisible_in_the_samples(layout):
    for path in sorted((SAMPLES / layout).rglob("*.*")):
        name = path.relative_to(SAMPLES / layout).as_posix()
        name = re.sub(r"^(\.agents/[^/]+/memory|dsh-memory-layers)/", "", name)
        role = LAYOUTS[layout].role(name)
        if path.is_file() and role.kind and not role.skipped:
            check(layout, name, path.read_bytes())


@pytest.mark.parametrize("path", sorted((SAMPLES / "broken").rglob("*.md")), ids=str)
def test_nothing_is_invisible_in_broken_samples(path):
    for layout, name in PLACES:
        check(layout, name, path.read_bytes())


# ---- what a path is ----


@pytest.mark.parametrize(
    ("layout", "path", "kind", "day"),
    [
        ("archive", "archive/2025/2025-02-03.md", "daily", "2025-02-03"),
        ("archive", "archive/2024/2025-02-03.md", "daily", "2025-02-03"),
        ("archive", "catalog/2025.tsv", "catalog", None),
        ("workspace", "MEMORY.md", "longterm", None),
        ("workspace", "memory.md", "longterm", None),
        ("workspace", "memory/2025-02-03.md", "daily", "2025-02-03"),
        ("workspace", "memory/2025-02-03.MD", "daily", "2025-02-03"),
        ("workspace", "memory/a/b/2025-02-03.md", "daily", "2025-02-03"),
        ("workspace", "memory/2025-02-03-tea.md", "daily-slug", "2025-02-03"),
        ("workspace", "memory/dreaming/rem/2025-02-03.md", "dream", "2025-02-03"),
        ("workspace", "memory/dreaming.md", "note", None),
        ("workspace", ".dreams/x.md", "dream", None),
        ("workspace", "DREAMS.md", "dream", None),
        ("workspace", "memory/tea.md", "note", None),
        ("workspace", "session/transcript.md", "session", None),
        ("layers", "hot.md", "hot", None),
        ("layers", "cold/2025-02/2025-02-03.md", "daily", "2025-02-03"),
        ("layers", "cold/2025-01/2025-02-03.md", "daily", "2025-02-03"),
        ("layers", "summaries/day/2025-02-03.md", "summary", "2025-02-03"),
        ("layers", "summaries/week/2025-W01.md", "summary", "2024-12-30"),
        ("layers", "summaries/month/2025-02.md", "summary", "2025-02-01"),
    ],
)
def test_a_path_has_its_kind_and_day(layout, path, kind, day):
    role = LAYOUTS[layout].role(path)
    assert (role.kind, str(role.day) if role.day else None, role.skipped) == (kind, day, "")


@pytest.mark.parametrize(
    ("layout", "path", "problem"),
    [
        ("archive", "archive/2025/2025-02-30.md", "impossible-date"),
        ("archive", "archive/2025/notes.md", "not-a-day"),
        ("archive", "archive/2025/02/2025-02-03.md", "not-a-day"),
        ("archive", "archive/2025-02-03.md", "not-a-day"),
        ("archive", "archive/2025/2025-02-03. md", "not-a-day"),
        ("archive", "archive/２０２５/2025-02-03.md", "not-a-day"),
        ("archive", "archive/2025/20250203.md", "not-a-day"),
        ("archive", "catalog/25.tsv", "not-a-day"),
        ("archive", "archive/2025/2025-02-03 (conflict).md", "conflict-copy"),
        ("archive", "archive/2025/.2025-02-03.md.abcdefgh.tmp", "stray-temp"),
        ("archive", "archive/2025/2025-02-03.md.tmp", "conflict-copy"),
        ("archive", "archive/.DS_Store", ""),
        ("workspace", "memory/x.json", ""),
        ("workspace", "notes/x.md", ""),
        ("layers", "cold/2025-02/2025-02-30.md", "impossible-date"),
        ("layers", "cold/2025-02/notes.md", "not-a-day"),
        ("layers", "cold/2025-02-03.md", "not-a-day"),
        ("layers", "summaries/week/2025-W53.md", "bad-week"),
        ("layers", "summaries/day/2025-02-30.md", "not-a-day"),
        ("layers", "summaries/year/2025.md", ""),
        ("layers", "notes.md", ""),
    ],
)
def test_a_path_that_is_not_read_has_a_reason(layout, path, problem):
    role = LAYOUTS[layout].role(path)
    assert role.skipped
    assert role.problem == problem


@property_test
@given(
    st.sampled_from(sorted(LAYOUTS)), st.text(st.sampled_from("archivecoldmemory/.-_0123456789 md（冲突)YWT\n"), max_size=40)
)
def test_any_path_has_a_role(layout, path):
    role = LAYOUTS[layout].role(path)
    assert role.kind or role.skipped


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_path_of_a_day_is_read_as_that_day(layout):
    for day in (date(2025, 2, 3), date(1, 1, 1), date(9999, 12, 31)):
        role = named(layout).role(LAYOUTS[layout].day_path(day))
        assert (role.kind, role.day, role.problem) == ("daily", day, "")


def test_a_folder_may_be_claimed_by_none_one_or_several():
    assert detect(frozenset(), "") == []
    assert detect(frozenset({"readme.md", "notes/x.md"}), "") == []
    assert detect(frozenset({"MEMORY.md", "cold/2025-02/"}), "") == ["workspace", "layers"]
    assert detect(frozenset({"memory/archive/2025/2025-02-03.md"}), "") == []
    assert detect(frozenset({"memory/archive/2025/2025-02-03.md", "MEMORY.md"}), "") == ["workspace"]
    assert detect(frozenset({"hot.md"}), "text\n  <!-- topics:end -->  \n") == ["layers"]
    assert detect(frozenset({"hot.md"}), "text <!-- topics:end -->\n") == []


# ---- the layered store ----


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("- [2026-10-21T03:10:00.000Z] [tag] 正文", ("2026-10-21T03:10:00.000Z", "tag", "正文")),
        ("- [2026-10-21T03:10Z] [t] x", ("2026-10-21T03:10Z", "t", "x")),
        ("- [2026-10-21T11:10:00+08:00] [t] x\r", ("2026-10-21T11:10:00+08:00", "t", "x")),
        ("- [2026-10-21T03:10Z] [-] [x] y", ("2026-10-21T03:10Z", None, "[x] y")),
        ("- [2026-10-21T03:10Z] [] x", ("2026-10-21T03:10Z", None, "x")),
        ("- [2026-10-21T03:10Z] [ a  b ] x", ("2026-10-21T03:10Z", "a b", "x")),
        ("- [2026-10-21T03:10Z] [t] x\u2028- y", ("2026-10-21T03:10Z", "t", "x\u2028- y")),
        ("- [bad] [t] x", None),
        ("- [2026-13-40T00:00:00Z] [t] x", None),
        ("- [2026-02-30T00:00:00Z] [t] x", None),
        ("- [2026-10-21T24:00Z] [t] x", None),
        ("- [2026-10-21T03:10:60Z] [t] x", None),
        ("- [2026-10-21T03:10] [t] x", None),
        ("- [2026-10-21] [t] x", None),
        ("- [2026-10-21T03:10:00.000Z] [t]", None),
        ("- [2026-10-21T03:10:00.000Z] [t] ", None),
        ("- [2026-10-21T03:10:00.000Z] [t]  x", None),
        (" - [2026-10-21T03:10:00.000Z] [t] x", None),
        ("* [2026-10-21T03:10:00.000Z] [t] x", None),
        ("# 2026-10-21", None),
        ("- [2026-10-21T03:10:00.000Z]  [t] x", None),
        ("- [2026-10-21T03:10:00.000Z] [[t]] x", None),
    ],
)
def test_an_entry_line_is_exact(line, parts):
    _, records = parsed("layers", "cold/2026-10/2026-10-21.md", line)
    entries = records.entries
    found = (entries.stamp[0], entries.tag[0], entries.text[0]) if len(entries) else None
    assert found == parts
    told = parts is None and line.startswith(("- ", " - ", "* "))
    assert [problem.rule for problem in records.problems] == (["entry-invisible"] if told else [])


def test_equal_instants_of_different_forms_are_equal():
    stamps = ["2026-10-21T03:10:00.000Z", "2026-10-21T03:10Z", "2026-10-21T11:10:00+08:00", "2026-10-21T03:10:00Z"]
    _, records = parsed("layers", "cold/2026-10/2026-10-21.md", "".join(f"- [{stamp}] [t] x\n" for stamp in stamps))
    assert records.entries.stamp == stamps
    assert {stored.instant_of(stamp).timestamp() * 1000 for stamp in stamps} == {1792552200000}


@property_test
@given(some_bytes)
def test_cold_files_read_at_once_give_what_each_alone_gives(data):
    role = layers.role("cold/2025-02/2025-02-03.md")
    seen, problems = decode_bytes(data)
    records, columns = cold.read([Reading("cold/2025-02/2025-02-03.md", role, seen, problems)])
    _, alone = parsed("layers", "cold/2025-02/2025-02-03.md", data)
    assert columns.text.to_pylist() == alone.entries.text
    assert columns.line.tolist() == alone.entries.line
    assert columns.stamp.to_pylist() == (alone.entries.stamp or [])
    assert columns.tag.to_pylist() == (alone.entries.tag or [])
    assert records[0].problems == alone.problems


# ---- hot.md ----

CANDIDATE = "- [2025-02-03T02:10:00.000Z] [tag] mug"
START, END = "<!-- candidates:start -->", "<!-- candidates:end -->"
TOPICS_START, TOPICS_END = "<!-- topics:start -->", "<!-- topics:end -->"


def hot_of(text):
    return parsed("layers", "hot.md", text)[1]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (f"jug\n\n{START}\n{END}\n\n{TOPICS_START}\n{TOPICS_END}\n", "jug"),
        (f"{START}\n{END}\n", ""),
        ("", ""),
        ("\n\n jug \r\nmug\n\n", "jug \nmug"),
        (f"a\n{START}\n{END}\nb", "a\nb"),
        (f"a\n\n{START}\n{END}\n\nb", "a\n\nb"),
        (f"a\n\n\n\n{START}\n{END}\n\n\nb", "a\n\nb"),
        (f"a\n{START}\n{END}\n\n\nb", "a\n\nb"),
        (f"a\n\n{START}\n{END}\nb", "a\n\nb"),
        (f"a\n\n\nb\n\n{START}\n{END}", "a\n\n\nb"),
        (f"{TOPICS_START}\n{TOPICS_END}\na\n{START}\n{END}\nb", "a\nb"),
        (f"a {START}\n<!-- other -->\n- item", f"a {START}\n<!-- other -->\n- item"),
        (f"a\n{END}\nb", "a\nb"),
    ],
)
def test_the_body_is_the_file_without_its_blocks(text, body):
    assert hot_of(text).hot.body == body


def test_blocks_of_one_kind_are_put_together_wherever_they_stand():
    topics = f"{TOPICS_START}\ntea|2025-02\n a|b |2025-01 \n{TOPICS_END}"
    more = f"{TOPICS_START}\ntea|2025-03\n{TOPICS_END}\n{START}\n{CANDIDATE}x\n{END}"
    hot = hot_of(f"{topics}\nbody\n  {START}  \n{CANDIDATE}\n{END}\n{more}").hot
    assert [topic[:2] for topic in hot.topics] == [("tea", "2025-02"), ("a|b", "2025-01"), ("tea", "2025-03")]
    assert hot.candidates.text == ["mug", "mugx"]
    assert hot.body == "body"


@pytest.mark.parametrize(
    "line", ["tea|2025-13", "tea|2025-00", "tea｜2025-02", "|2025-02", " |2025-02", "tea", "tea|2025-2", "- x"]
)
def test_a_topic_line_of_another_shape_is_ignored_and_told(line):
    records = hot_of(f"{TOPICS_START}\n{line}\n{TOPICS_END}\n")
    assert records.hot.topics == ()
    assert [(problem.rule, problem.line) for problem in records.problems] == [("topic-ignored", 2)]


def test_a_candidate_of_another_shape_is_told():
    records = hot_of(f"{START}\n- mug\n{END}\n")
    assert len(records.hot.candidates) == 0
    assert [(problem.rule, problem.line) for problem in records.problems] == [("entry-invisible", 2)]


@pytest.mark.parametrize(
    ("text", "line", "candidates", "topics"),
    [
        (f"a\n{START}\n{CANDIDATE}", 2, 1, 0),
        (f"{START}\n{CANDIDATE}\n{TOPICS_START}\ntea|2025-02\n{TOPICS_END}\n", 1, 1, 1),
        (f"{END}\n{START}\n{CANDIDATE}\n{END}", 1, 1, 0),
        (f"{START}\n{CANDIDATE}\n{TOPICS_END}\n", 3, 1, 0),
    ],
)
def test_a_broken_block_is_told_and_runs_to_the_next_marker(text, line, candidates, topics):
    records = hot_of(text)
    assert (len(records.hot.candidates), len(records.hot.topics)) == (candidates, topics)
    assert [(problem.rule, problem.line) for problem in records.problems] == [("hot-broken", line)]


# ---- catalog and front matter of the archive ----


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("tea", "tea"),
        ("'it''s'", "it's"),
        ('"say \\"hi\\""', 'say "hi"'),
        ("'open", "'open"),
        ("it's", "it's"),
        ('"a" and "b"', '"a" and "b"'),
        ("''", ""),
        ("'", "'"),
        ("", ""),
    ],
)
def test_a_quoted_dialect_is_undone(written, text):
    assert unquoted(written) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("index: a: b", "a: b"),
        ("index: 'a: b", "a: b"),
        ("index: 'a' b'", "a' b"),
        ('index: "a', "a"),
        ("index: a\tb", "a b"),
        ("index:", None),
        ("index: '", None),
        ("index: ''", None),
    ],
)
def test_an_index_is_recovered_from_its_own_line(line, text):
    assert recovered(line) == text


plain_index = st.text(st.characters(exclude_characters="\0\n\r", exclude_categories=["Cs"]), max_size=20)


@property_test
@given(plain_index, st.dates())
@example("it's", date(2025, 2, 3))
@example("\ufeff", date(2025, 2, 3))
@example(" ", date(2025, 2, 3))
@example("\x80", date(2025, 2, 3))
@example("\uffff", date(2025, 2, 3))
def test_the_fast_reading_of_a_plain_block_equals_yaml(index, day):
    block = f"date: {day}\nindex: '{index.replace(chr(39), chr(39) * 2)}'\n"
    _, fast = parsed("archive", "archive/2025/2025-02-03.md", f"---\n{block}---\n- a\n")
    _, slow = parsed("archive", "archive/2025/2025-02-03.md", f"---\n{block}more: x\n---\n- a\n")
    assert fast.index == slow.index
    head = index_line.plain(f"---\n{block}---\n- a\n".encode())
    assert head is None or head == slow.index.text
    assert sorted(fast.problems, key=rule_of) == sorted(slow.problems, key=rule_of)
    assert fast.entries == moved(slow.entries, -1)


def rule_of(problem):
    return problem.rule


def moved(entries, shift):
    entries.line = [line + shift for line in entries.line]
    entries.end_line = [line + shift for line in entries.end_line]
    return entries


# ---- a transcript ----


def transcript_of(text):
    doc = Document("session/transcript.md", LAYOUTS["workspace"].role("session/transcript.md"), text, transcript.render(text))
    return doc, LAYOUTS["workspace"].parse(doc, spans=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"role": "user", "content": "jug?"}, {"role": "assistant", "content": "yes"}]', ["user: jug?", "assistant: yes"]),
        ('{"role": "user", "content": "jug?"}\n\n{"role": "assistant", "content": "yes"}\n', ["user: jug?", "assistant: yes"]),
        ('{"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "jug"}]}}', ["user: jug"]),
        ('{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"]}', ["user: a\nb"]),
        ('{"role": null, "content": "a"}\n{"role": {"x": 1}, "content": "b"}', ["unknown: a", "unknown: b"]),
        ('{"role": "user", "content": ""}\n{"role": "user"}\n{"type": "session"}', []),
        ('\ufeff{"role": "user", "content": "a\\r\\nb\\u0000c\\ud800"}', ["user: a\nbc\ufffd"]),
        ("[]", []),
        ("", []),
    ],
)
def test_a_transcript_is_its_messages(text, said):
    doc, records = transcript_of(text)
    assert records.entries.text == said
    assert records.problems == []
    lines = doc.reading.split("\n")
    for start, end, entry in zip(records.entries.line, records.entries.end_line, said, strict=True):
        assert "\n".join(lines[start - 1 : end]) == entry


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"role": "user", "content": "a"}\nbroken\n{"role": "user", "content": "b"}', [2]),
        ('["just text"]', [1]),
        ('{"role": "user", "content": "a"}\n{"x": 1}\n3', [2, 3]),
        ("[{]", [1]),
        ("[" * 5000, [1]),
        ("{" * 5000, [1]),
    ],
)
def test_a_bad_record_costs_one_problem_and_no_other_record(text, lines):
    _, records = transcript_of(text)
    assert [(problem.rule, problem.line) for problem in records.problems] == [("transcript-bad", line) for line in lines]


@pytest.mark.parametrize(
    ("value", "stamp"),
    [
        ('"2025-02-03T02:10:00Z"', "2025-02-03T02:10:00.000Z"),
        ('"2025-02-03T10:10:00+08:00"', "2025-02-03T02:10:00.000Z"),
        ("1738548600000", "2025-02-03T02:10:00.000Z"),
        ("1738548600", "2025-02-03T02:10:00.000Z"),
        ('"2025-02-03T02:10:00"', None),
        ('"soon"', None),
        ("true", None),
        ("1e300", None),
        ("NaN", None),
        ("null", None),
    ],
)
def test_a_message_has_its_instant_or_none(value, stamp):
    _, records = transcript_of(f'{{"role": "user", "content": "a", "timestamp": {value}}}')
    assert records.entries.stamp == [stamp]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "text", "message", "ts"]), inner)
    ),
    max_leaves=12,
)


@property_test
@given(st.lists(json_values, max_size=4).map(lambda rows: "\n".join(json.dumps(row) for row in rows)) | st.text(max_size=40))
def test_any_transcript_is_read(text):
    doc, records = transcript_of(text)
    lines = doc.reading.split("\n")
    assert len(records.spans) == len(lines)
    for start, end, entry in zip(records.entries.line, records.entries.end_line, records.entries.text, strict=True):
        assert readable(entry)
        assert "\n".join(lines[start - 1 : end]) == entry


# ---- size: each of these took minutes with one regex that is not linear ----

HUGE = [
    "{*}", "{`}", "{[}", "{#}", "{ }", "# a{ }b", "a|b\n-{ }x", "{|}", "{-}", "{0}", "{<!--}", "{12:30 }", "{\n}", "{①}",
    "{1、}", "{> }", "- {[a] }", "- #a {`}x{a}", "- {#a }", "{- a\n}", "- **{a}", "{\t}x", "[{a}", "# {2025-02-03}", "{\0}",
    "{\x1b}", "{- [}", "---\nindex: '{''}", "---\nindex: {[}\n---", "---\n{a: b\n}---", "{<<<<<<< a\n}", "{```\n}",
    "> 来源：{（}", "<!-- topics:start -->\n{a|}",
]  # fmt: skip


@pytest.mark.parametrize("shape", HUGE)
def test_lines_of_200_000_characters_are_read(shape):
    data = re.sub(r"\{(.+?)\}", lambda match: match[1] * (200_000 // len(match[1])), shape, flags=re.DOTALL)
    for layout, path in [PLACES[0], PLACES[1], PLACES[2], PLACES[6], PLACES[7], PLACES[8]]:
        _, records = parsed(layout, path, data)
        assert len(records.spans) == data.count("\n") + 1


@pytest.mark.parametrize("second", ["index : b", '"index": b', "'index' : b"])
def test_an_index_key_that_stands_twice_is_found_however_it_is_written(second):
    _, records = parsed("archive", "archive/2025/2025-02-03.md", f"---\nindex: 'a'\n{second}\n---\n- 茶\n")
    assert [problem.rule for problem in records.problems] == ["index-duplicate-key"]
