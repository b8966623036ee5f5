"""The matcher: how a query splits, what is literal, and where hits lie in the text as written."""

import subprocess
import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memkit import match
from memkit.errors import BadArgument

TRICKY = st.text(alphabet=st.sampled_from("aAbBßẞſﬁ①Ａ，。…茶海がｶﾞé\u0301\u0308eE한ᄒ\u1161\u11ab❤\ufe0f🍵 ½ÅÅİ"), max_size=12)
ANY = st.one_of(TRICKY, st.text(max_size=12))


def test_importing_the_matcher_loads_neither_pandas_nor_pyarrow_nor_numpy():
    code = "import sys, memkit.match; print(sorted({'pandas', 'pyarrow', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("one", "other"),
    [("ＡＢＣ", "abc"), ("Straße", "STRASSE"), ("ﬁne", "FINE"), ("e\u0301", "É"), ("ｶﾞ", "ガ"), ("①", "1"), ("Σς", "σσ")],
)
def test_fold_makes_equal_what_differs_in_case_width_or_composition(one, other):
    assert match.fold(one) == match.fold(other)


@given(ANY)
def test_fold_is_nfkc_then_casefold(text):
    assert match.fold(text) == unicodedata.normalize("NFKC", text).casefold()


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("坚果云 同步", ("坚果云", "同步")),
        ("坚果云\u3000同步\t\n x", ("坚果云", "同步", "x")),
        ("\ufeff海\u200b", ("海",)),
        ('"the old plan" 茶', ("the old plan", "茶")),
        ("“周末 看海” 计划", ("周末 看海", "计划")),
        ("“say “a b” now”", ("“say", "a b", "now”")),
        ('"  padded  phrase "', ("padded  phrase",)),
        ('"', ('"',)),
        ('""', ('""',)),
        ('" "', ('"', '"')),
        ('"lone word', ('"lone', "word")),
        ("”backwards“ x", ("”backwards“", "x")),
        ('5" and 3" disks', ('5"', "and", '3"', "disks")),
        ('"a b"c d', ('"a', 'b"c', "d")),
        ('say"a b"now', ('say"a', 'b"now')),
        (
            "C++ ( .* -x don't | 2026-03-14 TODO: 38.101",
            ("C++", "(", ".*", "-x", "don't", "|", "2026-03-14", "TODO:", "38.101"),
        ),
        ("a\0b \udcff", ("ab", "\ufffd")),
    ],
)
def test_a_query_splits_into_words_and_quoted_phrases(query, terms):
    assert match.split_query(query) == terms


@pytest.mark.parametrize(
    ("query", "terms"), [('"a b" c', ('"a', 'b"', "c")), ("“山丘\u3000翻唱”", ("“山丘", "翻唱”")), (" x ", ("x",))]
)
def test_words_take_every_quote_literally(query, terms):
    assert match.words(query) == terms
    assert match.split_query(query, quotes=False) == terms


@pytest.mark.parametrize("query", ["", " \t\n\u3000", "\u200b\ufeff", "\0", None, 7])
def test_a_query_without_a_word_is_refused_by_name(query):
    with pytest.raises(BadArgument, match=r"^query: "):
        match.split_query(query)
    with pytest.raises(BadArgument, match=r"^keyword: "):
        match.words(query, name="keyword")


@given(st.text(max_size=30))
def test_splitting_loses_no_character_but_blanks_and_the_quotes_of_a_phrase(query):
    try:
        terms = match.split_query(query)
    except BadArgument:
        terms = ()
    kept = "".join("".join(term.split()) for term in terms)
    plain = "".join(query.replace("\0", "").replace("\ufeff", "").replace("\u200b", "").split())
    assert kept.translate({ord(c): None for c in '"“”'}) == plain.translate({ord(c): None for c in '"“”'})


@pytest.mark.parametrize("mode", ["xor", "", "an", None, ["and"]])
def test_another_mode_is_refused_and_both_are_named(mode):
    with pytest.raises(BadArgument, match=r"^mode: .*and, or"):
        match.matches(["a"], ["a"], mode)


def test_mode_is_taken_in_any_case():
    assert match.check_mode("AND") == "and"
    assert match.check_mode("Or") == "or"


@pytest.mark.parametrize("fields", ["date", ("text", "path"), (), [1]])
def test_another_field_is_refused_and_both_are_named(fields):
    with pytest.raises(BadArgument, match=r"^fields: .*text.* tag"):
        match.check_fields(fields)


def test_one_field_may_be_given_as_its_name():
    assert match.check_fields("tag") == ("tag",)
    assert match.check_fields(["tag", "text", "tag"]) == ("tag", "text")


def test_and_takes_terms_from_different_fields_but_no_term_from_two():
    assert match.matches(["海", "计划"], ["周末看海", "计划"])
    assert not match.matches(["海计"], ["周末看海", "计划"])
    assert not match.matches(["海", "茶"], ["周末看海", "计划"])
    assert match.matches(["海", "茶"], ["周末看海", "计划"], "or")


def test_a_missing_field_matches_nothing():
    assert not match.matches(["-"], ["周末看海", None])
    assert not match.matches(["nan"], [None, None], "or")


@pytest.mark.parametrize(
    ("text", "terms", "hit"),
    [
        ("周末看海", ["海"], ["海"]),
        ("ＡＰＩ key", ["api"], ["ＡＰＩ"]),
        ("a ﬁne day", ["i"], ["ﬁ"]),
        ("Straße", ["ss"], ["ß"]),
        ("Straße", ["as"], ["aß"]),
        ("cafe\u0301 x", ["é"], ["e\u0301"]),
        ("ｶﾞｽ", ["ガ"], ["ｶﾞ"]),
        ("等等……好", ["."], ["…", "…"]),
        ("①茶", ["1茶"], ["①茶"]),
        ("aaaa", ["aa"], ["aaaa"]),
        ("abcd", ["bc", "CD"], ["bcd"]),
        ("C++ (x) .*", ["c++", "(", ".*"], ["C++", "(", ".*"]),
        ("❤️ tea", ["TEA"], ["tea"]),
        ("tea", ["cup"], []),
        ("", ["x"], []),
        ("tea", [], []),
    ],
)
def test_spans_mark_the_text_as_written(text, terms, hit):
    assert [text[start:end] for start, end in match.spans(text, terms)] == hit


@given(st.lists(ANY, max_size=4), st.lists(TRICKY, min_size=1, max_size=3))
@example(["e", "\u0301"], ["é"])
@example(["한", "ᄒ\u1161\u11ab"], ["한"])
def test_spans_are_found_exactly_when_a_term_matches_and_each_holds_one(parts, terms):
    text = "".join(parts)
    terms = [term for term in terms if term]
    found = match.spans(text, terms)
    folded = [match.fold(term) for term in terms]
    assert bool(found) == any(term in match.fold(text) for term in folded)
    assert all(any(term in match.fold(text[start:end]) for term in folded) for start, end in found)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(found))


@given(st.text(max_size=6), st.characters(exclude_categories=["Cs"]), st.text(max_size=6))
@example("e", "\u0301", "")
@example("각", "\u11a8", "")
def test_a_character_that_joins_nothing_folds_the_same_wherever_it_stands(before, character, after):
    if not match.joins(character):
        assert match.fold(before + character + after) == match.fold(before) + match.fold(character + after)


def test_marks_join_and_variation_selectors_do_not():
    assert match.joins("\u0301")
    assert match.joins("ﾞ")
    assert not match.joins("\ufe0f")
    assert not match.joins("é")
