"""Bytes to text and text to one line: encodings as real files have them, folding, truncation, where front matter ends."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memkit.model import clean
from memkit.text import decode, front_matter, norm_tag, norm_text, truncate

property_test = settings(max_examples=300, deadline=None)
BOM8, LE, BE = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


def wide(text, codec="utf-16-le"):
    """Return a text as PowerShell's `>>` writes it."""
    return text.encode(codec)


def reading(data):
    return decode(data)[1]


def rules(data):
    return [(problem.rule, problem.line) for problem in decode(data)[2]]


# ---- one line ----


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb", "a b"),
        ("  a \t b\r\n c ", "a b c"),
        ("", ""),
        (" \n", ""),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("a\u3000\u00a0\u2028\u2029\u0085b", "a b"),
        ("a\ufeff\u200b\x1c\x1d\x1e\x1f\x0b\x0cb", "a b"),
        ("a\0b", "ab"),
        ("a\ud800b", "a\ufffdb"),
        ("一\r二", "一 二"),
    ],
)
def test_a_text_becomes_one_line(text, line):
    assert norm_text(text) == line
    assert norm_text(line) == line


@pytest.mark.parametrize(
    ("tag", "norm"),
    [
        (None, "-"),
        (" ", "-"),
        ("", "-"),
        ("[计划]", "计划"),
        ("[]", "-"),
        (" my  tag ", "my tag"),
        ("Tag\nX", "Tag X"),
        ("[[a]b]", "ab"),
        ("-", "-"),
    ],
)
def test_a_tag_becomes_one_line_without_brackets(tag, norm):
    assert norm_tag(tag) == norm
    assert norm_tag(norm) == norm


@property_test
@given(st.text())
def test_folding_twice_is_folding_once(text):
    once = norm_text(text)
    assert norm_text(once) == once
    assert once == once.strip()
    assert not set(once) & set("\n\r\t\0\ufeff\u200b\u2028\u2029\u0085\x1c\x1d\x1e\x1f")


@pytest.mark.parametrize(("length", "limit", "out"), [(80, 80, 80), (81, 80, 81), (99, 100, 99), (150, 100, 101), (0, 5, 0)])
def test_truncation_counts_code_points_and_adds_one(length, limit, out):
    assert len(truncate("茶" * length, limit)) == out


def test_truncation_neither_doubles_the_mark_nor_splits_a_character():
    assert truncate("ab…", 3) == "ab…"
    assert truncate(truncate("🍵" * 200, 120), 100) == "🍵" * 100 + "…"
    assert truncate("ab  cd", 3) == "ab …"


# ---- bytes ----


@pytest.mark.parametrize("text", ["", "a", "- 茶\n", "a\u2028b\x0cc\u0085d\n", "e\u0301\n", "🍵\n"])
def test_plain_utf8_is_itself(text):
    assert decode(text.encode()) == (text, text, ())


@pytest.mark.parametrize(
    ("data", "text"), [(b"a\r\nb\r\n", "a\nb\n"), (b"a\rb\n", "a b\n"), (b"a\r\r\nb", "a \nb"), (b"a\r", "a"), (b"\r", "")]
)
def test_lines_end_at_lf_and_a_lone_cr_is_a_blank(data, text):
    assert reading(data) == text
    assert rules(data) == []


def test_a_bom_is_taken_off_and_told():
    assert decode(BOM8 + b"---\n")[:2] == ("\ufeff---\n", "---\n")
    assert rules(BOM8 + b"---\n") == [("bom", 1)]
    assert reading(BOM8 + BOM8 + b"a") == "\ufeffa"
    assert reading(b"a" + BOM8 + b"b") == "a\ufeffb"


@pytest.mark.parametrize(
    ("data", "text", "line", "offset"),
    [
        (b"- \xff\n", "- \ufffd\n", 1, 2),
        ("- 茶".encode()[:-1], "- \ufffd\ufffd", 1, 2),
        ("- 茶\n- 杯".encode("gb18030"), "- \ufffd\ufffd\n- \ufffd\ufffd", 1, 2),
        (b"ok\n\xed\xa0\x80\n", "ok\n\ufffd\ufffd\ufffd\n", 2, 3),
        (b"ok\n\xc0\xaf", "ok\n\ufffd\ufffd", 2, 3),
    ],
)
def test_bytes_that_are_not_utf8_are_marked_and_told_with_their_place(data, text, line, offset):
    kept, seen, problems = decode(data)
    assert seen == text
    assert [(problem.rule, problem.line) for problem in problems] == [("not-utf8", line)]
    assert problems[0].message.endswith(f"at byte {offset}")
    assert kept.encode("utf-8", "surrogateescape") == data


@pytest.mark.parametrize(
    ("data", "text", "line"),
    [
        (b"a\nb\x1b[0m\n", "a\nb\x1b[0m\n", 2),
        (b"a\x07", "a\x07", 1),
        (b"a\x7f", "a\x7f", 1),
        (b"a\0b\n", "ab\n", 1),
        (b"a\n" + b"\0" * 512, "a\n", 2),
        (b"\0" * 512 + b"a\n", "a\n", 1),
        (b"- a\n\0\n- c\n", "- a\n\n- c\n", 2),
        (b"- a" + b"\0" * 9 + b"b\n- c\n", "- ab\n- c\n", 1),
        (b"- a\0\n- b\n", "- a\n- b\n", 1),
    ],
)
def test_control_characters_are_told_and_a_nul_is_never_text(data, text, line):
    assert reading(data) == text
    assert rules(data) == [("control-character", line)]


@pytest.mark.parametrize("data", [b"a\tb\n", b"a\x0bb\n", b"a\x0cb\n", "a\u0085b\n".encode(), "a\u200bb".encode()])
def test_tabs_and_odd_breaks_are_no_fault(data):
    assert rules(data) == []


WHOLE = "# 2025-02-03\n- red kettle\n- 红色水壶\n\n- 🍵\n"


@pytest.mark.parametrize(
    "data",
    [
        LE + wide(WHOLE),
        BE + wide(WHOLE, "utf-16-be"),
        wide(WHOLE),
        wide(WHOLE, "utf-16-be"),
        LE + wide(WHOLE.replace("\n", "\r\n")),
        wide(WHOLE.replace("\n", "\r\n")),
    ],
)
def test_a_whole_file_in_utf16_is_read_and_told_once(data):
    assert reading(data) == WHOLE
    assert rules(data) == [("not-utf8", 1)]
    assert "UTF-16-" in decode(data)[2][0].message


def test_a_file_in_utf16_may_start_with_chinese_and_end_without_a_break():
    for data in (LE + wide("水壶"), wide("水壶 b\n杯"), wide("红茶\r\n- 杯"), BE + wide("水壶", "utf-16-be"), LE, BE):
        assert reading(data) == data.removeprefix(LE).removeprefix(BE).decode(
            "utf-16-be" if data[:2] == BE else "utf-16-le"
        ).replace("\r\n", "\n")
        assert rules(data) == [("not-utf8", 1)]


RUNS = {
    "ASCII": (b"- a\n" + wide("- b\r\n"), "- a\n- b\n", 2),
    "Chinese": (b"- a\n" + wide("- 茶\r\n"), "- a\n- 茶\n", 2),
    "Chinese first": (b"- a\n" + wide("茶 b\r\n"), "- a\n茶 b\n", 2),
    "a Chinese line alone": (b"- a\n" + wide("今天买了一个红色的水壶\r\n"), "- a\n今天买了一个红色的水壶\n", 2),
    "a Chinese line alone, LF": (b"- a\n" + wide("茶杯\n- x\n"), "- a\n茶杯\n- x\n", 2),
    "a character that looks like ASCII": (b"- a\n" + wide("水\r\n"), "- a\n水\n", 2),
    "a character with the byte of a break": (b"- a\n" + wide("上海 b\r\n- 上上\r\n"), "- a\n上海 b\n- 上上\n", 2),
    "a character with a NUL byte": (b"- a\n" + wide("一 b\r\n"), "- a\n一 b\n", 2),
    "full width": (b"- a\n" + wide("－　茶\r\n"), "- a\n－　茶\n", 2),
    "Japanese": (b"- a\n" + wide("お茶です\r\n"), "- a\nお茶です\n", 2),
    "Korean": (b"- a\n" + wide("- 안녕\r\n"), "- a\n- 안녕\n", 2),
    "an emoji": (b"- a\n" + wide("- 🍵 tea\r\n"), "- a\n- 🍵 tea\n", 2),
    "a mark": (b"- a\n" + LE + wide("- b\r\n"), "- a\n- b\n", 2),
    "a mark before Chinese": (b"- a\n" + LE + wide("茶\r\n"), "- a\n茶\n", 2),
    "no break at the end": (b"- a\n" + wide("- b"), "- a\n- b", 2),
    "no break at the end, Chinese": (b"- a\n" + wide("- 茶杯"), "- a\n- 茶杯", 2),
    "no break before it": (b"- a" + wide("- b\r\n"), "- a- b\n", 1),
    "no break before it, Chinese": ("- 茶".encode() + wide("- 杯\r\n"), "- 茶- 杯\n", 1),
    "no break before its mark": (b"- a" + LE + wide("- b\r\n"), "- a- b\n", 1),
    "a blank line first": (b"- a\n" + wide("\r\n- b\r\n"), "- a\n\n- b\n", 2),
    "several lines": (b"# x\n" + wide("- 一\r\n\r\n- two\r\n- 三 3\r\n"), "# x\n- 一\n\n- two\n- 三 3\n", 2),
    "CRLF before it": (b"- a\r\n- b\r\n" + wide("- c\r\n"), "- a\n- b\n- c\n", 3),
    "UTF-8 after it": (b"- a\n" + wide("- b\r\n") + b"- c\n- d\n", "- a\n- b\n- c\n- d\n", 2),
    "Chinese UTF-8 after it": (b"- a\n" + wide("- 茶\r\n") + "- 杯\n".encode(), "- a\n- 茶\n- 杯\n", 2),
    "two runs": (b"- a\n" + wide("- b\r\n") + b"- c\n" + wide("- d\r\n"), "- a\n- b\n- c\n- d\n", 2),
    "two Chinese runs": (
        b"- a\n" + wide("- 茶\r\n") + "- 杯\n".encode() + wide("- 水\r\n") + b"- z\n",
        "- a\n- 茶\n- 杯\n- 水\n- z\n",
        2,
    ),
    "two runs with marks": (b"- a\n" + LE + wide("- b\r\n") + b"- c\n" + LE + wide("- d\r\n"), "- a\n- b\n- c\n- d\n", 2),
    "at the start": (wide("- b\r\n- 茶\r\n") + b"- c\n", "- b\n- 茶\n- c\n", 1),
    "at the start with its mark": (LE + wide("- b\r\n") + "- 杯\n- c\n".encode(), "- b\n- 杯\n- c\n", 1),
    "big-endian at the start": (BE + wide("- b\n- 茶\n", "utf-16-be") + b"- c\n- d\n", "- b\n- 茶\n- c\n- d\n", 1),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_of_utf16_in_a_utf8_file_is_read_and_told_once(name):
    data, text, line = RUNS[name]
    assert reading(data) == text
    assert rules(data) == [("mixed-encoding", line)]


def test_the_message_names_the_byte_where_utf16_starts():
    problem = decode(b"# a\n- red\n" + wide("- b\r\n"))[2][0]
    assert problem.message == "UTF-16 text inside a UTF-8 file, from byte 10"


def test_many_runs_are_all_read():
    data = b"".join(f"- a{n}\n".encode() + wide(f"- 茶{n}\r\n") for n in range(300))
    assert reading(data) == "".join(f"- a{n}\n- 茶{n}\n" for n in range(300))


words = st.text(st.sampled_from("abc 茶杯水壶上一-#，。🍵"), max_size=9)
plain_lines = st.lists(words.map(lambda text: f"- {text}"), min_size=1, max_size=4)


@property_test
@given(st.lists(st.tuples(plain_lines, st.booleans(), st.booleans()), min_size=1, max_size=5))
def test_items_written_in_turn_as_utf8_and_utf16_are_all_read(parts):
    data = b"".join(
        (LE if mark else b"") + wide("\r\n".join(lines) + "\r\n") if run else ("\n".join(lines) + "\n").encode()
        for lines, run, mark in parts
    )
    assert reading(data) == "".join("\n".join(lines) + "\n" for lines, _, _ in parts)


@property_test
@given(st.binary(max_size=300))
def test_the_text_for_splicing_keeps_every_byte_and_the_reading_is_clean(data):
    text, seen, problems = decode(data)
    assert text.encode("utf-8", "surrogateescape") == data
    assert seen == clean(seen)
    assert not set(seen) & set("\0\r")
    seen.encode()
    assert all(1 <= problem.line <= seen.count("\n") + 1 for problem in problems)


@property_test
@given(st.text())
def test_clean_is_idempotent_and_leaves_plain_text_alone(text):
    once = clean(text)
    assert clean(once) == once
    if text.isprintable():
        assert once == text


# ---- front matter ----


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("---\ndate: 2025-02-03\nindex: 'tea'\n---\n- a", 4),
        ("---\ntags: [a]\n---\n", 3),
        ("---\ntags:\n- a\n- b\n---\n", 5),
        ("---\nmeta:\n  node: x\n  list:\n    - y\n---\n", 6),
        ("---\n# note\nTitle: tea\n---", None),
        ("---\nTitle: tea\n# note\n\nmore: x\n---", 6),
        ("---\n标题: 茶\n---", 3),
        ("---\ntext: |\n  - a\n  b\n---", 5),
        ("---\na-b.c_d: 1\n---", 3),
        ("---\ndate: 2025-02-03\n...\n- a", 3),
        ("--- \ndate: 2025-02-03\n---\t\n- a", 3),
        ("---\n## 2025-02-03\n- **tea** green\n---\n- cup", None),
        ("---\n# Report\n- tea", None),
        ("---\nwords\n---\n- a", None),
        ("---\n- a\n---\n- b", None),
        ("---\n**bold**: x\n---", None),
        ("---\nNote: this is said\nand goes on\n---", None),
        ("---\n标题：茶\n---", None),
        ("---\nhttp://example.org\n---", None),
        ("---\n12:30 tea\n---", None),
        ("---\n\n---\n- a", None),
        ("---\ndate: 2025-02-03\n- a", None),
        ("----\ndate: 2025-02-03\n----", None),
        (" ---\ndate: 2025-02-03\n---", None),
        ("- a\n---\ndate: 2025-02-03\n---", None),
        ("---", None),
        ("", None),
    ],
)
def test_front_matter_is_what_looks_like_a_mapping_between_its_fences(text, last, strict):
    lines = text.split("\n")
    if text.startswith("---\n# note") and not strict:
        last = None
    cut = front_matter(lines, strict=strict)
    assert (cut.last if cut else None) == last
    if cut:
        assert cut.lines == lines[cut.first : cut.last - 1]


def test_only_an_archive_looks_below_blank_lines_and_takes_an_empty_block():
    assert front_matter(["", " ", "---", "date: x", "---"]).first == 3
    assert front_matter(["", "---", "date: x", "---"], strict=True) is None
    assert front_matter(["---", "---", "- a"]).last == 2
    assert front_matter(["---", "---", "- a"], strict=True) is None


def test_a_stray_line_loses_no_day_that_names_its_index():
    lines = ["---", "index: 'tea'", "stray", "---", "- a"]
    assert front_matter(lines).last == 4
    assert front_matter(lines, strict=True) is None
    assert front_matter(["---", "index: 'tea'", "## heading", "---", "- a"]) is None
    assert front_matter(["---", "index: 'tea'", "- item", "---", "- a"]) is None
