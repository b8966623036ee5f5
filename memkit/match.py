"""The one matcher: how a query splits, what folding is, whether terms match and where; it knows no frame and no file.

Folding is NFKC + casefold. A term is literal text of any length and script, and a hit is a substring after folding.
Positions are code points of the text as written, counted from 0.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from memkit.errors import BadArgument
from memkit.model import clean
from memkit.text import norm_text

MODES = ("and", "or")
FIELDS = ("text", "tag")

# A pair of quotes counts only around whole words, so that 5" and 3" stay inches; an empty pair quotes nothing.
_TERM = re.compile(r'(?<!\S)"(?=[^"]*[^"\s])([^"]*)"(?!\S)|(?<!\S)“(?=[^“”]*[^“”\s])([^“”]*)”(?!\S)|(\S+)')
_BLANK = re.compile("[\ufeff\u200b]")  # blanks by the house's rule (text.norm_text), though not to Python


def fold(text: str) -> str:
    """Return the text as it is compared: compatibility forms made plain (NFKC), then case folded."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def split_query(query: str, *, quotes: bool = True, name: str = "query") -> tuple[str, ...]:
    """Return the terms of a query as written: its words, and each "quoted phrase" (ASCII or curly) as one term.

    Blanks of any script part words. A lone quote, an empty pair and a pair inside a word are literal text;
    with `quotes=False` all are.

    Raises: BadArgument, naming the argument, if there is no word.
    """
    if not isinstance(query, str):
        raise BadArgument(f"{name}: {str(query)[:40]!r} is no text; expected the words to look for")
    if not quotes:
        found = norm_text(query).split(" ")
    else:
        found = ["".join(groups).strip() for groups in _TERM.findall(_BLANK.sub(" ", clean(query)))]
    terms = tuple(filter(None, found))
    if not terms:
        raise BadArgument(f"{name}: no word in it; expected at least one word to look for")
    return terms


def words(query: str, *, name: str = "query") -> tuple[str, ...]:
    """Return the words of a query with every quote literal, as mem_recall wants them.

    Raises: BadArgument, naming the argument, if there is no word.
    """
    return split_query(query, quotes=False, name=name)


def check_mode(mode: str) -> str:
    """Return the mode in lower case: `and` (every term must hit) or `or` (one is enough).

    Raises: BadArgument for another word.
    """
    folded = mode.casefold() if isinstance(mode, str) else ""
    if folded not in MODES:
        raise BadArgument(f"mode: {str(mode)[:40]!r}; expected and, or")
    return folded


def check_fields(fields: str | Iterable[str]) -> tuple[str, ...]:
    """Return the fields to look in, each once; a single name will do.

    Raises: BadArgument for a name other than text and tag, and for none.
    """
    named = (fields,) if isinstance(fields, str) or not isinstance(fields, Iterable) else tuple(fields)
    for field in named:
        if not isinstance(field, str) or field not in FIELDS:
            raise BadArgument(f"fields: {str(field)[:40]!r}; expected text, tag")
    if not named:
        raise BadArgument("fields: none given; expected text, tag or both")
    return tuple(dict.fromkeys(named))


def matches(terms: Sequence[str], fields: Iterable[str | None], mode: str = "and") -> bool:
    """Return whether every term (and) or any term (or) lies in one of the fields; all are folded already.

    Different terms may lie in different fields, no term spans two, and a missing field never matches.

    Raises: BadArgument for another mode.
    """
    held = [field for field in fields if field]
    found = (any(term in field for field in held) for term in terms)
    return all(found) if check_mode(mode) == "and" else any(found)


def spans(text: str, terms: Iterable[str]) -> list[tuple[int, int]]:
    """Return where terms (not folded yet) hit a text: (start, end) in the text as written, ascending.

    Hits that overlap are one span. A character that folds to several, such as ﬁ, is inside when one of them is.
    """
    folded = fold(text)
    wanted = [term for term in dict.fromkeys(map(fold, terms)) if term and term in folded]
    if not wanted:
        return []
    owners = _owners(text)
    hits = (hit for term in wanted for hit in _occurrences(term, folded))
    return _merged(sorted((owners[start][0], owners[end - 1][1]) for start, end in hits))


def _occurrences(term: str, folded: str) -> Iterable[tuple[int, int]]:
    """Return every place of a term, those that overlap among them."""
    at = folded.find(term)
    while at >= 0:
        yield at, at + len(term)
        at = folded.find(term, at + 1)


def _merged(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in found:
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _owners(text: str) -> list[tuple[int, int]]:
    """Return, for each character of the folded text, the (start, end) in the text that it was made of."""
    if text.isascii():
        return [(at, at + 1) for at in range(len(text))]
    starts = [at for at, character in enumerate(text) if at == 0 or not joins(character)]
    out: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        out.extend([(start, end)] * len(fold(text[start:end])))
    return out


def joins(character: str) -> bool:
    """Return whether a character may combine with what stands before it, so that it cannot be folded alone.

    These are marks (variation selectors, common behind emoji, are none) and the vowels and finals of Hangul.
    """
    if character < "\u0300":
        return False
    first = unicodedata.normalize("NFKD", character)[0]
    if "\ufe00" <= first <= "\ufe0f":
        return False
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"
