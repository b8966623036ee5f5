"""Many Markdown day files read at once give what the scanner gives of each alone, whatever is written in them."""

import sys
from datetime import date, timedelta

import pandas.testing as pdt
import pyarrow as pa
import pytest
from conftest import SAMPLES
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memkit import dates, schema, tables
from memkit.layouts import archive, many, workspace
from memkit.marks import clock_at_start, is_plain_start, read_marks
from memkit.model import Document, FileFact, Reading, Role
from memkit.text import decode, decode_bytes

UTC = dates.zone("UTC")
SIGNS = st.sampled_from(
    ["- ", "* ", "+ ", "-  ", "-\t", "1. ", "2) ", "3、", "① ", "• ", "·", "-", "", "", "", "## ", "# ", "### ", "#", "> "]
) | st.sampled_from(["  ", "    ", " ", "\t", "   ", "  - ", "    * ", "\u3000", "\xa0", "| ", "— ", ": ", "\ufeff"])
HEADS = st.sampled_from(
    ["", "", "[ ] ", "[x] ", "[X]", "[✓] ", "[x]  ", "[计划] ", "[ a ] ", "[12:30] ",
     "[2026-10-21T03:10:00Z] ", "[1a] ",
     "2026-10-21T03:10:00+08:00 ", "[a](b) ", "[^1] ", "[a]: ", "[a] [b] ", "[]", "[-] ", "[#a] ", "［全角］",
     "【角】",
     "**Label**：", "**标签:** ", "**10:30**：", "**a** - ", "**a", "**", "*a* ", "_a_ ", "`a` ", "``` ",
     "~~~", "<b> ",
     "<!-- ", "10:30 ", "上午九点", "下午3:15 ", "早上好", "中 ", "9am ", "09点半", "✅ ", "👍🏽",
     "（10:20）", "“引", "2026 ", "12. ", "3、"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["茶", "text", "看海 #海", "a#b", "# x", " #x", "`#no` #yes", "（#括", "#12", "#fff", "#a/b-", "a | b",
     "|---|", "", " ", "\u3000", "x\u2028y",
     "\x0b", "\x1cfs", "末  ", "末\u3000", "尾\xa0", "-->", "```", "~~~", "---", "===", "- -", "-:|", "* * *",
     "<!-- c -->", "A" * 61 + "**：", "**："]
)  # fmt: skip
LINE = st.builds("{}{}{}{}".format, SIGNS, HEADS, WORDS, WORDS | st.just("")) | st.text(max_size=6)
ODD = st.sampled_from(
    ["", "", "", " ", "\u3000", "\t", "```", "```py", "  ```", "~~~~", "---", "***", "- - -", "===",
     "| a | b |", "|---|---|", "- |", ":-:|:-:",
     "> 引", ">", "<!-- 记", "-->", "<!-- x --> y", "<<<<<<< a", "=======", ">>>>>>> b", "date: x",
     "tags: [a]", "...", "    code", "\tcode",
     "- a", "  b", "a", "b", "- [计划] 茶", "## 09:30 - 茶", "# 2026-01-01", "## 2026-01-02", "######", "# #",
     "## a ##", "####### x"]
)  # fmt: skip
HEAD = st.sampled_from(
    [[], [], ["---", "date: 2026-01-01", "index: '茶'", "---"], ["---", "date: 2026-01-02", "index: 'it''s'", "---"],
     ["---", "index: ''", "---"], ["", "---", "date: 2026-01-01", "index: a: b", "---"], ["---", "---"],
     ["---", "title: x", "...", ""],
     ["---", "date: 2026-01-01", "index: 'a", "---"], ["---", "not yaml", "---"], ["---", "a: [", "---"]]
)  # fmt: skip
FILES = st.lists(
    st.tuples(HEAD, st.lists(LINE | ODD, max_size=12), st.sampled_from(["\n", "\n", "\r\n"]),
     st.sampled_from([b"", b"", b"\xef\xbb\xbf"]),
              st.sampled_from([b"\n", b"", b"\n\n", b"\0", b"\xff"])),
    max_size=4,
)  # fmt: skip
PATHS = {
    archive: lambda day, n: archive.day_path(day),
    workspace: lambda day, n: workspace.day_path(day) if n % 2 else f"memory/{day}-0930.md",
}


def check(layout, named):
    """Assert that documents read at once, and in any number of parts,
    give the records and frames that each alone gives."""
    alone = [layout.parse(Document(path, layout.role(path), *decode(data))) for path, data in named]
    docs = [Reading(path, layout.role(path), *decode_bytes(data)) for path, data in named]
    for size in {len(docs), 1}:
        parts = [layout.read(docs[at : at + size]) for at in range(0, len(docs), size or 1)]
        together = [record for records, _ in parts for record in records]
        columns = [part for _, part in parts]
        facts = [[(r.path, r.role, r.problems, r.index, r.spans) for r in records] for records in (together, alone)]
        assert facts[0] == facts[1]
        pdt.assert_frame_equal(tables.entries_of_columns(together, columns), tables.entries(alone, UTC))
        pdt.assert_frame_equal(tables.tags_of_columns(together, columns), tables.tags(alone))


@pytest.mark.parametrize("layout", PATHS, ids=lambda layout: layout.NAME)
@settings(max_examples=300, deadline=None)
@given(files=FILES)
@example(files=[([], ["a | b", "- |"], "\n", b"", b"\n")])
@example(files=[([], ["- a", "", "  b", "", "- ```", "", "c"], "\n", b"", b"\n")])
@example(files=[([], ["> a", "lazy", "- b"], "\n", b"", b""), ([], ["  c"], "\n", b"", b"")])
def test_many_at_once_read_as_each_alone(layout, files):
    named = []
    for n, (head, lines, end, start, tail) in enumerate(files):
        data = start + end.join([*head, *lines]).encode("utf-8", "replace") + tail
        named.append((PATHS[layout](date(2026, 1, 1) + timedelta(days=n), n), data))
    check(layout, named)


@pytest.mark.parametrize("layout", PATHS, ids=lambda layout: layout.NAME)
def test_every_sample_reads_at_once_as_each_alone(layout):
    texts = [path.read_bytes() for path in sorted(SAMPLES.rglob("*.md"))]
    assert len(texts) > 50
    check(layout, [(PATHS[layout](date(2000, 1, 1) + timedelta(days=n), n), data) for n, data in enumerate(texts)])


@given(st.text(max_size=4), st.text(max_size=8))
def test_what_starts_plainly_has_no_mark_at_its_head(start, rest):
    text = start + rest.replace("#", "")
    if text and is_plain_start(text[0]):
        assert clock_at_start(text) is None
        assert read_marks(text, item=True) == (text, None, None, (), None, None)


def test_the_blanks_that_end_a_text_are_those_of_python():
    characters = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF]
    assert set(many.SPACES) == set(filter(str.isspace, characters))


@given(
    st.lists(st.binary(max_size=6) | st.text(max_size=6).map(lambda text: text.encode("utf-8", "surrogatepass")), max_size=4)
)
@example([b"\xe4", b"\xb8\x8a"])
@example([b"\t\x0b\x1f", b"\x0e"])
def test_files_read_together_are_cleaned_as_each_alone(held):
    facts = [FileFact(f"{n}.md", Role("daily"), len(data), 0, 0) for n, data in enumerate(held)]
    together = many.readings(list(zip(facts, held, strict=True)))
    assert [(doc.path, doc.data, doc.problems) for doc in together] == [
        (fact.path, *decode_bytes(data)) for fact, data in zip(facts, held, strict=True)
    ]


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=4), st.integers(0, 8))
def test_texts_that_are_added_stay_as_they_are_whatever_room_was_expected(parts, size):
    texts = schema.Texts(size)
    for part in parts:
        texts.add(pa.array(["", *part], pa.large_string()).slice(1))
    column = texts.column()
    column.validate(full=True)
    assert column.to_pylist() == [text for part in parts for text in part]
