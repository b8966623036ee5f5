"""The marks at the head of an entry, a heading or a file name: read rightly or not at all."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memkit.marks import clock_at_start, clock_in_heading, clock_in_name, day_in_heading, hash_tags, instant, read_marks

property_test = settings(max_examples=300, deadline=None)


def marks(text):
    return read_marks(text, item=True)


# ---- clocks ----

STYLES = {  # the eleven of real headings and what people write beside them
    "14:30 UTC": "14:30",
    "09:05 CST": "09:05",
    "Tea at noon 14:30": "14:30",
    "Tea (14:30)": "14:30",
    "[14:30] Tea": "14:30",
    "14:30-15:10": "14:30",
    "14:30 – 15:10 Tea": "14:30",
    "14:30~15:10": "14:30",
    "14:30 Tea": "14:30",
    "14:30 - Tea": "14:30",
    "14:30: Tea": "14:30",
    "14:30，茶": "14:30",
    "🍵 14:30:05": "14:30:05",
    "14:30:05.250": "14:30:05",
    "1:02:03": "01:02:03",
    "2025-02-03T14:30:05Z": "14:30:05",
    "2025-02-03T14:30+08:00 tea": "14:30",
    "2025-02-03 14:30 CST (flush)": "14:30",
    "Session: 2025-02-03 09:00:00 UTC": "09:00:00",
    "2:30 PM": "14:30",
    "2:30pm tea": "14:30",
    "2:05 a.m.": "02:05",
    "12:00 AM": "00:00",
    "12:15 PM": "12:15",
    "12 AM": "00:00",
    "3 PM": "15:00",
    "Feb 3, 2025 at 3:04 PM": "15:04",
    "2-3 PM": "14:00",
    "2:30-3:10 PM": "14:30",
    "2:30 PM - 3:10 PM": "14:30",
    "11:30-1:00 PM": "11:30",
    "11:30 – 12:30 pm": "11:30",
    "9 to 5pm": "09:00",
    "~14：30 茶": "14:30",
    "下午2点 茶": "14:00",
    "下午2点半": "14:30",
    "下午2:30": "14:30",
    "上午9:30": "09:30",
    "早上八点一刻": "08:15",
    "晚上8点10": "20:10",
    "中午12点": "12:00",
    "中午一点": "13:00",
    "凌晨十二点": "00:00",
    "凌晨零点": "00:00",
    "14点30分": "14:30",
    "09点05": "09:05",
    "22时半 收工": "22:30",
    "99:30 and 10:20": "10:20",
}
NO_CLOCK = [
    "3:1 ratio", "16:9", "7:60", "25:00", "24:00", "a14:30", "v1.2:30", "localhost:80:80", "http://h:8080/x", "1/12:30",
    "UTC+08:00", "GMT-05:00", "晚上12点", "9点", "13点建议", "十点", "14.30", "1430", "2025-02-03", "2025-12 AM",
    "Room 12-14 pm", "5 AMPs", "12:34:56:78", "", "tea",
]  # fmt: skip


@pytest.mark.parametrize("text", STYLES)
def test_a_heading_has_its_first_clock_of_a_range_the_start(text):
    assert clock_in_heading(text) == STYLES[text]


@pytest.mark.parametrize("text", NO_CLOCK)
def test_what_only_looks_like_a_time_is_none(text):
    assert clock_in_heading(text) is None


PREFIXES = {
    "14:30 tea": "14:30",
    "**14:30** - tea": "14:30",
    "**14:30:** tea": "14:30",
    "[14:30] tea": "14:30",
    "(14:30) tea": "14:30",
    "`14:30` tea": "14:30",
    "~14:30 tea": "14:30",
    "— 14:30 tea": "14:30",
    "🍵 14:30 tea": "14:30",
    "14:30-14:40 tea": "14:30",
    "2:30-2:40 PM tea": "14:30",
    "14:30:05 tea": "14:30:05",
    "2025-02-03 14:30 tea": "14:30",
    "2025-02-03T14:30 tea": "14:30",
    "下午2点 茶": "14:00",
    "2:30 PM tea": "14:30",
    "tea at 14:30": None,
    "3:1 ratio": None,
    "15 cups": None,
    "2 pots": None,
}


@pytest.mark.parametrize("text", PREFIXES)
def test_an_item_has_the_clock_it_starts_with(text):
    assert clock_at_start(text) == PREFIXES[text]
    assert marks(text).clock == PREFIXES[text]
    assert marks(text).text == text
    assert marks(text).tags == ()


@pytest.mark.parametrize("head", ["[ ] ", "[x] ", "[tag] ", "[a] [b] ", "2025-02-03T14:30Z ", "[x] 2025-02-03T14:30Z [tag] "])
def test_a_clock_stands_behind_the_other_marks(head):
    assert marks(f"{head}09:15 tea").clock == "09:15"


@property_test
@given(st.text(st.sampled_from("0123456789:：-–— APMapm.下午上晚点半T[]()*~茶Z+"), max_size=24))
def test_a_clock_is_a_time_of_day_or_none(text):
    for clock in (clock_in_heading(text), clock_at_start(text)):
        assert clock is None or re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?", clock)


@property_test
@given(
    st.times(), st.sampled_from(["{} UTC", "tea {}", "tea ({})", "[{}] tea", "{} - tea", "{}–23:59", "🍵 {}", "2025-02-03 {}"])
)
def test_any_time_of_day_is_read_in_any_style(time, style):
    assert clock_in_heading(style.format(f"{time:%H:%M}")) == f"{time:%H:%M}"
    assert clock_in_heading(style.format(f"{time:%H:%M:%S}")) == f"{time:%H:%M:%S}"


@property_test
@given(st.times(), st.times())
def test_an_english_range_has_the_start_it_was_written_for(start, end):
    both = f"{start:%I:%M} {start:%p} - {end:%I:%M} {end:%p}"
    assert clock_in_heading(both) == f"{start:%H:%M}"
    if f"{start:%p}" == f"{end:%p}" and (start.hour, start.minute) < (end.hour, end.minute):
        assert clock_in_heading(f"{start:%I:%M}-{end:%I:%M %p}") == f"{start:%H:%M}"


# ---- file names ----

DAY = date(2025, 2, 3)


@pytest.mark.parametrize(
    ("rest", "clock"),
    [
        ("-0930", "09:30"),
        ("_0930", "09:30"),
        ("T0930-tea", "09:30"),
        ("-0930-tea-plan", "09:30"),
        ("-093015", "09:30:15"),
        ("T093015Z", "09:30:15"),
        ("-09-30", "09:30"),
        (" 0930", "09:30"),
        ("-2359", "23:59"),
        ("", None),
        ("-tea", None),
        ("-2025", None),
        ("-2024-review", None),
        ("-2026-plan", None),
        ("-2460", None),
        ("-0960", None),
        ("-0930a1b2", None),
        ("-12345", None),
        ("-1234567", None),
        ("0930", None),
        (".bak", None),
    ],
)
def test_a_name_has_the_time_behind_its_day(rest, clock):
    assert clock_in_name(rest, DAY) == clock


# ---- days in headings ----


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2025-02-03", DAY),
        ("Log 2025-02-03 (Mon)", DAY),
        ("2025/2/3", DAY),
        ("2025.02.03", DAY),
        ("2025年2月3日 星期一", DAY),
        ("2025 年 2 月 3 号", DAY),
        ("Monday, February 3, 2025", DAY),
        ("Feb 3rd, 2025", DAY),
        ("3 Feb 2025", DAY),
        ("Feb. 3 2025", DAY),
        ("3rd of February", None),
        ("Marvel 3, 2025", None),
        ("Maybe 3 2025", None),
        ("2025-02-30", None),
        ("2025-02-30, then 2025-02-03", DAY),
        ("Feb 3, 2025 (moved from 2025-03-01)", DAY),
        ("2025-02/03", None),
        ("12025-02-03", None),
        ("2025-02-031", None),
        ("02-03-2025", None),
        ("2025-02", None),
        ("2月3日", None),
        ("", None),
    ],
)
def test_a_heading_has_the_first_full_date_in_it(text, day):
    assert day_in_heading(text) == day


# ---- checkbox, instant, tags, label ----


@pytest.mark.parametrize(
    ("text", "task", "rest"),
    [
        ("[ ] a", " ", "a"),
        ("[x] a", "x", "a"),
        ("[X] a", "X", "a"),
        ("[~] a", "~", "a"),
        ("[→] a", "→", "a"),
        ("[!] a", "!", "a"),
        ("[?]  a", "?", "a"),
        ("[-] a", "-", "a"),
        ("[/] a", "/", "a"),
        ("[✅] a", "✅", "a"),
        ("[✔️] a", "✔", "a"),
        ("[ ]\n- nested", " ", "- nested"),
        ("[x](u.md) g", None, "[x](u.md) g"),
        ("[x]done", None, "[x]done"),
        ("[]", None, "[]"),
        ("[\n] a", None, "[\n] a"),
        ("✅ f", None, "✅ f"),
    ],
)
def test_a_checkbox_is_its_sign(text, task, rest):
    found = marks(text)
    assert (found.task, found.text, found.tags) == (task, rest, ())


def test_a_paragraph_has_no_checkbox():
    assert read_marks("[x] a", item=False).task is None
    assert read_marks("[x] a", item=False).text == "[x] a"


@pytest.mark.parametrize(
    ("text", "stamp", "rest"),
    [
        ("2025-02-03T14:30Z tea", "2025-02-03T14:30Z", "tea"),
        ("2025-02-03T14:30:00.000Z tea", "2025-02-03T14:30:00.000Z", "tea"),
        ("2025-02-03T14:30:00+08:00 tea", "2025-02-03T14:30:00+08:00", "tea"),
        ("[2025-02-03T14:30Z] tea", "2025-02-03T14:30Z", "tea"),
        ("2025-02-03T14:30Z\ntea", "2025-02-03T14:30Z", "tea"),
        ("2025-02-03T14:30 tea", None, "2025-02-03T14:30 tea"),
        ("2025-02-03 tea", None, "2025-02-03 tea"),
        ("2025-02-30T14:30Z tea", None, "2025-02-30T14:30Z tea"),
        ("2025-02-03T24:00Z tea", None, "2025-02-03T24:00Z tea"),
        ("2025-02-03T14:30Ztea", None, "2025-02-03T14:30Ztea"),
        ("2025-02-03T14:30Z", None, "2025-02-03T14:30Z"),
        ("2025-02-03T14:30Z ", None, "2025-02-03T14:30Z "),
    ],
)
def test_only_a_full_real_instant_with_zone_is_taken_off(text, stamp, rest):
    found = marks(text)
    assert (found.stamp, found.text) == (stamp, rest)


@pytest.mark.parametrize(
    ("stamp", "real"),
    [
        ("2025-02-03T14:30Z", True),
        ("2024-02-29T23:59:59.999999+14:00", True),
        ("2025-02-29T14:30Z", False),
        ("2025-13-01T14:30Z", False),
        ("0000-01-01T14:30Z", False),
        ("2025-02-03T24:30Z", False),
        ("2025-02-03T14:60Z", False),
        ("2025-02-03T14:30:60Z", False),
        ("2025-02-03T14:30+24:00", False),
        ("2025-02-03T14:30+08:60", False),
        ("2025-02-03T14:30", False),
        ("２０２５-02-03T14:30Z", False),
    ],
)
def test_an_instant_is_a_real_one(stamp, real):
    assert instant(stamp) is real


@pytest.mark.parametrize(
    ("text", "tags", "rest"),
    [
        ("[tag] a", ("tag",), "a"),
        ("[计划]买票", ("计划",), "买票"),
        ("[ my tag ] a", ("my tag",), "a"),
        ("[a] [b] c", ("a", "b"), "[b] c"),
        ("[a] [b] c #d", ("a", "b", "d"), "[b] c #d"),
        ("[a] c #a", ("a",), "c #a"),
        ("[P1] a", ("P1",), "a"),
        ("[May] a", ("May",), "a"),
        ("[tag]\n- nested", ("tag",), "- nested"),
        ("[ ] [tag] a", ("tag",), "a"),
        ("2025-02-03T14:30Z [tag] a", ("tag",), "a"),
        ("[a](b.md) c", (), "[a](b.md) c"),
        ("[a]: b", (), "[a]: b"),
        ("[a][b] c", (), "[a][b] c"),
        ("[[note]] c", (), "[[note]] c"),
        ("![a](b.png)", (), "![a](b.png)"),
        ("[^1] a", (), "[^1] a"),
        ("[1] a", (), "[1] a"),
        ("[12/30] a", (), "[12/30] a"),
        ("[2025-02-03] a", (), "[2025-02-03] a"),
        ("[Mon 2025-02-03 14:30 UTC] a", (), "[Mon 2025-02-03 14:30 UTC] a"),
        ("[2月3日] a", (), "[2月3日] a"),
        ("[2025年2月3日] a", (), "[2025年2月3日] a"),
        ("[Feb 3] a", (), "[Feb 3] a"),
        ("[3 Feb 2025] a", (), "[3 Feb 2025] a"),
        ("[14:30] a", (), "[14:30] a"),
        ("[2:30 PM] a", (), "[2:30 PM] a"),
        ("[下午2点] a", (), "[下午2点] a"),
        ("[https://x.org] a", (), "[https://x.org] a"),
        ("[tag]", (), "[tag]"),
        ("[tag] ", (), "[tag] "),
        ("[ta\ng] a", (), "[ta\ng] a"),
        ("a [tag] b", (), "a [tag] b"),
    ],
)
def test_leading_brackets_are_tags_and_the_first_is_taken_off(text, tags, rest):
    found = marks(text)
    assert (found.tags, found.text) == (tags, rest)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("a #tea #绿茶 b", ["tea", "绿茶"]),
        ("#tea b", ["tea"]),
        ("[#tea] b", ["tea"]),
        ("(#tea)，#绿茶。【#红茶】、#白茶", ["tea", "绿茶", "红茶", "白茶"]),
        ("#a,#b;#c", ["a", "b", "c"]),
        ("#a/b #c-d #e_f", ["a/b", "c-d", "e_f"]),
        ("#a/ #b-", ["a", "b"]),
        ("- #nested", ["nested"]),
        ("#v2 #2nd", ["v2", "2nd"]),
        ("fix #12 and #2025/2 on #2025-02-03", []),
        ("colour #ff0000 #abc #ABCD #11223344", []),
        ("commit #1a2b3c4 #a1b2c3d4e5", []),
        ("C# F# x#y", []),
        ("http://h/#frag http://h/x#frag /#x", []),
        ("`#code` ``#a`b`` ```#c```", []),
        ("```\n#a x #b\n```", []),
        ("~~~ #a\n #b\n", []),
        ("a\n#NotHeading", []),
        ("# heading", []),
        ("## #", []),
        ("`open #tea", ["tea"]),
        ("`a` #tea `b`", ["tea"]),
        ("`a\n\n#x` y #tea", ["tea"]),
        ("```sh\nx\n```\n #tea", ["tea"]),
        ("``` not a fence ``` #tea", ["tea"]),
    ],
)
def test_hash_tags_are_words_outside_code(text, tags):
    assert hash_tags(text, item=True) == tags


def test_a_paragraph_that_starts_with_a_hash_word_has_no_tag_there():
    assert hash_tags("#tea is hot #cup", item=False) == ["cup"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**Tea:** a", "Tea"),
        ("**Tea**: a", "Tea"),
        ("**茶**：a", "茶"),
        ("**茶：** a", "茶"),
        ("**Tea** - a", "Tea"),
        ("**Tea** – a", "Tea"),
        ("**Tea Time:** a", "Tea Time"),
        ("[ ] **Tea:** a", "Tea"),
        ("[tag] **Tea:** a", "Tea"),
        ("[a] [b] **Tea:** a", "Tea"),
        ("**Tea:**\n- nested", "Tea"),
        ("**bold** start only", None),
        ("**unclosed a", None),
        ("a **Tea:** b", None),
        ("**14:30:** tea", None),
        ("****: a", None),
        ("** :** a", None),
        ("**" + "long " * 20 + ":** a", None),
    ],
)
def test_a_label_is_read_and_never_taken_off(text, label):
    found = marks(text)
    assert found.label == label
    assert found.text.endswith(text[text.index("**") :])


@property_test
@given(st.text(st.sampled_from("[]() xX~ab#`*:：1-茶\n2T03Z,^!/。"), max_size=30) | st.text(max_size=30), st.booleans())
def test_no_word_of_an_entry_is_lost(text, item):
    found = read_marks(text, item=item)
    kept = " ".join([found.text, found.task or "", found.stamp or "", *found.tags])
    assert set(re.findall(r"\w+", text)) <= set(re.findall(r"\w+", kept)) | {"x", "X"}
    assert all(tag.strip() and not set(tag) & set("[]\n") for tag in found.tags)
    assert len(set(found.tags)) == len(found.tags)


@property_test
@given(
    st.from_regex(
        r"[0-2][0-9]:[0-6][0-9](:[0-9]{2}|\.5)?( ?[-–—~] ?| |点|\Z)([0-9]{1,2}(:30)?)?( ?[ap]m)?.{0,3}", fullmatch=True
    )
)
def test_a_time_that_begins_a_heading_is_read_as_one_behind_a_sign(text):
    assert clock_in_heading(text) == clock_in_heading(f"· {text}")
