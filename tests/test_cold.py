"""Many cold files read at once give what layers.parse gives of each, whatever is written in them."""

import re
import sys
from datetime import date, timedelta

import pandas.testing as pdt
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from memkit import dates, tables
from memkit.layouts import cold, layers, many
from memkit.model import Document, Reading
from memkit.text import decode, decode_bytes

UTC = dates.zone("UTC")
STAMPS = st.sampled_from(
    [
        "2026-10-21T03:10:00.000Z", "2026-10-21T03:10Z", "2026-10-21T03:10:00.123456+08:00", "9999-12-31T23:59:59.999Z",
        "2024-02-29T00:00Z", "2025-02-29T00:00Z", "2026-04-31T00:00Z", "0000-01-01T00:00Z",
        "2026-10-21", "2026-13-01T00:00Z", "2026-10-21T24:00Z",
    ]
)  # fmt: skip
TAGS = st.sampled_from(["-", "", " ", "计划", "[x", "a  b", "\u200b", "ｔａｇ", "\u3000", "👍🏽"]) | st.text(max_size=4)
TEXTS = st.sampled_from(["看海", "[x] y", "\u3000wide", "\x85nel", "\xa0nbsp", "a\u2028b", "", " ", "\x1cfs"]) | st.text(
    max_size=8
)
ENTRY = st.builds("- [{}] [{}] {}".format, STAMPS, TAGS, TEXTS)
OTHER = st.sampled_from(
    [
        "", "  ", "# 2026-10-21", " # h", "* star", "- no entry", "1. one", "•\u3000bullet", "\t- tab",
        "<<<<<<< a", "=======", ">>>>>>> b", "<!-- c -->", "plain",
    ]
)  # fmt: skip
LINES = st.lists(ENTRY | OTHER | st.text(max_size=12), max_size=8)
FILES = st.lists(
    st.tuples(LINES, st.sampled_from(["\n", "\r\n"]), st.sampled_from([b"", b"\xef\xbb\xbf"]), st.binary(max_size=2)),
    max_size=4,
)


@given(FILES)
def test_many_at_once_read_as_each_alone(files):
    day = date(2026, 1, 1)
    named = []
    for n, (lines, end, start, tail) in enumerate(files):
        path = layers.day_path(day + timedelta(days=n))
        named.append((path, start + end.join(lines).encode("utf-8", "replace") + tail))
    alone = [layers.parse(Document(path, layers.role(path), *decode(data))) for path, data in named]
    together, columns = cold.read([Reading(path, layers.role(path), *decode_bytes(data)) for path, data in named])
    assert [(r.path, r.role, r.problems) for r in together] == [(r.path, r.role, r.problems) for r in alone]
    pdt.assert_frame_equal(tables.entries_of_columns(together, [columns]), tables.entries(alone, UTC))


def test_the_two_engines_mean_the_same_by_a_blank():
    characters = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF]
    found = pc.match_substring_regex(pa.array(characters, pa.large_string()), f"^[{many.BLANK}]$").to_pylist()
    assert [c for c, hit in zip(characters, found, strict=True) if hit] == re.findall(r"\s", "".join(characters))


@given(st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_bytes_for_reading_are_the_text_for_reading(data):
    _, text, problems = decode(data)
    assert decode_bytes(data) == (text.encode(), problems)
