"""The block scanner: the same top-level blocks as CommonMark finds, and each difference that is meant by its name."""

from __future__ import annotations

import bisect
import re
from pathlib import Path

import pyromark
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memkit.blocks import scan
from memkit.lines import MERGE, RULE
from memkit.model import BLOCKS, SPANS
from memkit.text import decode, front_matter

property_test = settings(max_examples=300, deadline=None)
SAMPLES = Path(__file__).parent.parent / "data-samples"
PEER = pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES)
PEER_KINDS = {
    "Paragraph": "paragraph",
    "Heading": "heading",
    "CodeBlock": "code",
    "BlockQuote": "quote",
    "Table": "table",
    "HtmlBlock": "html",
    "Item": "item",
}


def peer_blocks(text):
    """Return (kind, first line, last line) of the top-level blocks that a CommonMark parser finds."""
    data = text.encode()
    starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    found, depth = [], []
    for event, place in PEER.events_with_range(text):
        name = None
        if event == "Rule" and not depth:
            name = "rule"
        elif isinstance(event, dict) and "Start" in event:
            tag = event["Start"] if isinstance(event["Start"], str) else next(iter(event["Start"]))
            if tag != "List" and not set(depth) - {"List"} and len(depth) < 2:
                name = PEER_KINDS[tag]
            depth.append(tag)
        elif isinstance(event, dict) and "End" in event:
            depth.pop()
        if name:
            body = data[place["start"] : place["end"]].rstrip(b"\n \t")
            last = bisect.bisect_right(starts, place["start"] + max(0, len(body) - 1))
            found.append((name, bisect.bisect_right(starts, place["start"]), last))
    return found


def our_blocks(text):
    """Return the same of our scanner, its headings and rules among the blocks."""
    lines = text.split("\n")
    found = scan(lines)
    blocks = [(block.kind, block.line, block.end_line) for block in found.blocks]
    own = {heading.line for heading in found.headings}
    for heading in found.headings:
        end = heading.line
        while end < len(lines) and found.spans[end] == "heading" and end + 1 not in own:
            end += 1
        blocks.append(("heading", heading.line, end))
    layout = [n for n, span in enumerate(found.spans, 1) if span == "layout" and RULE.match(lines[n - 1])]
    return sorted(blocks + [("rule", n, n) for n in layout], key=lambda block: block[1])


def scanned(markdown):
    return scan(markdown.split("\n"))


def texts(markdown):
    return [block.text for block in scanned(markdown).blocks]


def kinds(markdown):
    return [block.kind for block in scanned(markdown).blocks]


# Lines of which both make the same by definition: no rule of dashes, no bare list sign, no list item at a column
# between its parent's sign and text, no HTML, no table. A fence gets a blank line above it (see _apart).
LINES = """
a|b c|\\# a|#x|茶|a  | a|  b|   c|    d|      e|=|===| ===|1|-a|1.a|+++|a - b
- a|* a|+ a|1. a|2. a|10) a|1) a|-  a|-   a|-     code|1.  a|- - a|- 1. a|- # h|- > q|- ***|- ===|- - - a|- ```|- a `b`
    - n|     - n|    1. n|    * n|        - deep
# h|## h| # h|   ### h|    # x|#|##|# #|# a #|# C#|####### x
> q|>q|>| > q|  > q|> > q|>> q|> - a|> 1. a|> # h|> ```|> ***|>     code|>     - x|> a
```|```py|````|~~~|~~~ x|  ```|   ```|    ```|``a``|``` `|```a```
***|___|* * *| _ _ _|    ***|**a**|*a*|__
""".replace("\n", "|").split("|")
FENCE = re.compile(r" {0,3}(```|~~~)")
TABLE_LINES = """
|a|;a | b;| a | b |;|-|;|---|---|;-|-;:-:|--;| 1 | 2 |;  | a | b |;||;|||;a\\|b;\\|a|
a;# h;***;2. a;- a;> q;===
""".replace("\n", ";").split(";")


def _apart(lines):
    """Return the lines with a blank one above each fence, so that no fence stands right under a block."""
    out = []
    for line in lines:
        if FENCE.match(line) and out and out[-1].strip():
            out.append("")
        out.append(line)
    return out


markdown = st.lists(st.one_of(st.sampled_from(LINES), st.just("")), max_size=12).map(_apart).map("\n".join)


@property_test
@given(markdown)
@example("1. one\n2. two\n3. three")
@example("- a\n1. b\n2. c")
@example("> q\n2. b")
@example("- # h\nlazy")
@example("-     code\nlazy")
@example("> # h\nlazy")
@example("> ```\nlazy")
@example("- ```\n b")
@example("1. a\n\n  b")
@example("-\ta\n\n  b")
@example("-\ta\n\n    b")
@example("- - a\n\n      b\n  c\nlazy")
@example("-     c\n    1. a\n      e\n ===")
@example("- - ```\n    code\n- b")
def test_blocks_are_those_of_commonmark(text):
    assert our_blocks(text) == peer_blocks(text)


@property_test
@given(st.lists(st.sampled_from(TABLE_LINES), max_size=8).filter(lambda lines: not _in_container(lines)).map("\n".join))
@example("| a | b |\n|---|---|\n| 1 | 2 |\nno pipe\n\nnext")
@example("|a|\n|-|\n2. a")
@example("text\n| a | b |\n|---|---|")
@example("text\na | b\n-|-")
@example("x\n    a|b\n-|-")
@example("a|b\n    -|-")
@example("\\|a\n|-|")
@example("|\n|-|")
@example("|||\n|-|-|")
def test_tables_are_those_of_gfm(text):
    assert our_blocks(text) == peer_blocks(text)


def _in_container(lines):
    """Return whether a row may be taken for text of a list item or quote, where tables are not looked for."""
    pairs = zip(lines, ["", *lines], strict=False)
    return any(line and before.startswith(("2.", "- ", ">")) for line, before in pairs) or "|" in lines


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.md")), ids=lambda path: str(path.relative_to(SAMPLES)))
def test_blocks_of_the_samples_are_those_of_commonmark(path):
    lines = decode(path.read_bytes())[1].split("\n")
    cut = front_matter(lines)
    lines[: cut.last if cut else 0] = [""] * (cut.last if cut else 0)
    for n, span in enumerate(scan(lines).spans):
        if span in ("front matter", "marker", "problem"):
            lines[n] = ""
    text = "\n".join(re.sub("^(?:[•●·]|[①-⑳]|[0-9]+、) *", "- ", line) for line in lines)
    assert our_blocks(text) == peer_blocks(text)


# ---- where real memory files differ from CommonMark, by name ----


@pytest.mark.parametrize("sign", ["•", "• ", "● ", "·", "①", "② ", "1、", "12、 "])
def test_signs_of_other_scripts_and_editors_are_list_signs(sign):
    assert kinds(f"{sign}tea\n{sign}cup") == ["item", "item"]
    wrapped, cup = texts(f"{sign}tea\n  with milk\n{sign}cup")
    assert (wrapped.split(), cup) == (["tea", "with", "milk"], "cup")


def test_a_year_before_an_enumeration_comma_is_no_list_sign():
    assert kinds("2025、2026 两年") == ["paragraph"]


def test_dots_in_a_row_are_no_list_sign():
    assert kinds("··· later") == ["paragraph"]


def test_a_dash_of_prose_starts_a_paragraph_of_its_own():
    assert texts("- tea\n— said the potter\n– and left") == ["tea", "— said the potter\n– and left"]


@pytest.mark.parametrize("below", [" - cup", "  - cup", "   - cup", "\t- cup", " 1. cup", " • cup"])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize("above", ["- tea", "1. tea", "10. tea", "-\ttea", "• tea"])
def test_an_indented_item_belongs_to_the_item_above(above, gap, below):
    found = scanned(f"{above}{gap}{below}\n- pot").blocks
    assert [block.kind for block in found] == ["item", "item"]
    assert "cup" in found[0].text
    assert found[1].text == "pot"


def test_prose_above_dashes_is_prose_and_a_rule():
    assert texts("tea\n---\ncup") == ["tea", "cup"]
    assert our_blocks("tea\n---\ncup") == [("paragraph", 1, 1), ("rule", 2, 2), ("paragraph", 3, 3)]
    assert our_blocks("tea\n===\ncup") == [("heading", 1, 2), ("paragraph", 3, 3)]


@pytest.mark.parametrize("above", ["tea", "- tea", "1. tea", "- tea\n  more", "- tea\n  - cup"])
def test_a_fence_right_under_text_belongs_to_it(above):
    found = scanned(f"{above}\n```sh\n# no heading\n- no item\n---\n\nmore\n```\ncup")
    assert [block.kind for block in found.blocks][1:] == ["paragraph"]
    assert found.blocks[0].text.endswith("```sh\n# no heading\n- no item\n---\n\nmore\n```")
    assert not found.headings


def test_a_fence_behind_a_blank_line_heading_or_rule_stands_alone():
    for above in ("tea\n", "- tea\n", "# tea", "***"):
        assert kinds(f"{above}\n```\nx\n```")[-1] == "code"


@pytest.mark.parametrize("sign", ["-", "- ", "* ", "1.", "•", "①", "1、", " -"])
def test_an_empty_item_is_dropped(sign):
    assert kinds(f"- tea\n{sign}\n- cup" if sign != " -" else f"{sign}\n\n- cup")[-1:] == ["item"]
    assert "tea" not in texts(f"{sign}\n")
    assert scan([sign]).spans == ["layout"]


def test_html_is_prose():
    assert texts("<div>\ntea\n\n</div>") == ["<div>\ntea", "</div>"]
    assert texts("<details><summary>tea</summary>\n- cup") == ["<details><summary>tea</summary>", "cup"]


def test_a_link_definition_is_prose():
    assert texts("[tea]: http://example.org") == ["[tea]: http://example.org"]


@pytest.mark.parametrize(
    ("comment", "marked"),
    [("<!-- note -->", 1), ("  <!-- a:start -->", 1), ("<!-- many\n- no item\n\nlines -->", 4), ("<!---->", 1)],
)
def test_a_comment_is_nobodys_text(comment, marked):
    found = scanned(f"tea\n{comment}\n- cup")
    assert [block.text for block in found.blocks] == ["tea", "cup"]
    assert found.spans.count("marker") + found.spans.count("blank") == marked


def test_text_behind_a_comment_is_text():
    assert texts("<!-- note --> tea") == ["<!-- note --> tea"]
    assert texts("<!-- note\nmore --> tea") == ["more --> tea"]


def test_text_under_a_table_inside_an_item_or_quote_stays_with_it():
    assert kinds("- | a |\n  |---|\nlazy") == ["item"]
    assert kinds("> | a |\n> |---|\nlazy") == ["quote"]


def test_a_second_front_matter_is_no_entry():
    found = scanned("# tea\n\n---\ndate: 2025-02-03\nindex: 'cup'\n---\n- pot")
    assert [block.text for block in found.blocks] == ["pot"]
    assert [(problem.rule, problem.line) for problem in found.problems] == [("double-frontmatter", 3)]


@pytest.mark.parametrize("body", ["- **tea** green", "tea: is a drink we all like\nand so on", "## cup", "Tea: warm"])
def test_text_between_two_rules_is_text(body):
    found = scanned(f"# a\n---\n{body}\n---\n- pot")
    assert found.spans.count("front matter") == 0
    assert found.blocks[-1].text == "pot"


def test_merge_markers_are_nobodys_text_and_keep_both_sides():
    found = scanned("- a\n<<<<<<< HEAD\n- b\n||||||| base\n- o\n=======\n- c\n>>>>>>> 0a1b2c3\n- d")
    assert [block.text for block in found.blocks] == ["a", "b", "o", "c", "d"]
    assert [(problem.rule, problem.line) for problem in found.problems] == [("merge-marker", 2)]
    assert [n for n, span in enumerate(found.spans, 1) if span == "problem"] == [2, 4, 6, 8]


def test_a_heading_underline_alone_is_no_merge_marker():
    found = scanned("tea\n=======\n- cup")
    assert [heading.text for heading in found.headings] == ["tea"]
    assert not found.problems


def test_an_unfinished_merge_region_is_text():
    assert texts("- a\n<<<<<<< HEAD\n- b") == ["a\n<<<<<<< HEAD", "b"]


def test_a_merge_marker_inside_a_fence_is_code():
    assert kinds("```\n<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n```") == ["code"]


# ---- fences and comments that never end ----


@pytest.mark.parametrize("text", ["- a\n```\n- lost?", "```\n- a\n\n# b", "a\n~~~\n```\n", "- b\n\n~~~~\n~~~\nx"])
def test_an_unclosed_fence_ends_with_the_file_and_is_reported(text):
    found = scanned(text)
    opener = next(n for n, line in enumerate(text.split("\n"), 1) if line[:3] in ("```", "~~~"))
    assert [(problem.rule, problem.line) for problem in found.problems] == [("unclosed-fence", opener)]
    assert all(span in ("entry", "blank") for span in found.spans)


def test_an_unclosed_comment_ends_with_the_file_and_is_reported():
    found = scanned("- a\n<!-- b\n- c")
    assert [block.text for block in found.blocks] == ["a"]
    assert [(problem.rule, problem.line) for problem in found.problems] == [("unclosed-fence", 2)]


def test_a_fence_inside_a_longer_one_does_not_close_it():
    assert texts("- a\n````md\n```\n- no\n```\n````\n- b") == ["a\n````md\n```\n- no\n```\n````", "b"]
    assert texts("```\n~~~\n```sh\n```\nb") == ["```\n~~~\n```sh\n```", "b"]


def test_an_unclosed_fence_inside_an_item_ends_with_the_item():
    found = scanned("- a\n  ```\n  x\n- b")
    assert [block.text for block in found.blocks] == ["a\n```\nx", "b"]


# ---- headings, texts, spans ----


@pytest.mark.parametrize(
    ("line", "title"),
    [("# tea", "tea"), ("##  tea  ", "tea"), ("## tea ##", "tea"), ("# C#", "C#"), ("# tea # cup", "tea # cup"), ("#", "")],
)
def test_a_heading_has_its_text_without_signs(line, title):
    assert scan([line]).headings[0].text == title


@pytest.mark.parametrize("line", ["#tea", "#Tag", "####### tea", "    # tea"])
def test_what_only_looks_like_a_heading_is_text(line):
    assert not scan([line]).headings
    assert len(scan([line]).blocks) == 1


def test_a_heading_knows_the_heading_above_it():
    found = scanned("# a\n### b\n## c\n### d\n# e\n\nend")
    assert [found.headings[n].parent for n in range(5)] == [-1, 0, 0, 2, -1]
    assert found.blocks[0].heading == 4


def test_wrapped_lines_belong_to_their_item():
    assert texts("- tea is\n  green\n- cup is\nblue\n\n- pot\n\n  still pot") == [
        "tea is\ngreen",
        "cup is\nblue",
        "pot\n\nstill pot",
    ]


def test_nested_items_keep_their_shape():
    assert texts("- **Tea:**\n  - green\n    - Sencha\n   - black\n - none") == [
        "**Tea:**\n- green\n  - Sencha\n - black\n- none"
    ]


def test_a_table_is_one_entry_without_its_separator_line():
    found = scanned("| pot | n |\n|:---|---:|\n| tea \\| green | 2 |\n\nend").blocks
    assert found[0].text == "| pot | n |\n| tea \\| green | 2 |"
    assert (found[0].line, found[0].end_line) == (1, 3)


anything = st.lists(
    st.one_of(st.sampled_from([*LINES, *TABLE_LINES, "---", "- ", " - b", "<!--", "-->", "<<<<<<< a", "=======", ">>>>>>> b"])),
    max_size=14,
).map("\n".join) | st.text(st.sampled_from("\n\t -*#>|`~=<!1.、•①a茶:[]\u2028\u00a0"), max_size=60)


@property_test
@given(anything)
def test_each_line_is_taken_for_one_thing_and_each_entry_line_lies_in_one_block(text):
    lines = text.split("\n")
    found = scan(lines)
    assert len(found.spans) == len(lines)
    assert set(found.spans) <= set(SPANS)
    covered = [n for block in found.blocks for n in range(block.line, block.end_line + 1)]
    assert len(covered) == len(set(covered))
    for number, (line, span) in enumerate(zip(lines, found.spans, strict=True), 1):
        assert (span == "blank") == (not line.strip())
        assert span in ("blank", "entry") if number in covered else span != "entry"
    for block in found.blocks:
        assert block.kind in BLOCKS
        assert block.text.strip()
        assert lines[block.line - 1].strip()
        assert lines[block.end_line - 1].strip()
        assert -1 <= block.heading < len(found.headings)


@property_test
@given(anything)
def test_no_word_of_a_block_is_lost(text):
    lines = text.split("\n")
    for block in scan(lines).blocks:
        first = lines[block.line - 1]
        if block.kind == "item":
            first = re.sub(r"^\s*(?:[0-9]+[.)、]|[①-⑳])", "", first)
        words = re.findall(r"\w+", "\n".join([first, *lines[block.line : block.end_line]]))
        assert [word for word in words if word not in block.text] == []


@property_test
@given(anything, st.lists(st.sampled_from(["a", "- b", ""]), min_size=1, max_size=3))
def test_scanning_from_a_later_line_counts_lines_from_the_top(text, above):
    lines = text.split("\n")
    alone, below = scan(lines), scan([*above, *lines], len(above))
    assert [(b.kind, b.line + len(above), b.text) for b in alone.blocks] == [(b.kind, b.line, b.text) for b in below.blocks]
    assert below.spans[len(above) :] == alone.spans
    assert all(MERGE.match(lines[problem.line - 1]) for problem in alone.problems if problem.rule == "merge-marker")
