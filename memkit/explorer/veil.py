"""What looks like a secret in a text that is to be shown: the lines that hold it, and the text with it put out of sight; pure.

It looks at texts as files have them, so it also finds what a list or a quotation mark breaks into lines.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from memkit.audit import tokens

_MARGIN = re.compile("(?m)^[ \t>]+")
_END = "-----END"
_NEAR = 200  # characters after a private key in which its end is looked for


def spans(text: str) -> list[tuple[int, int]]:
    """Return where the secrets of a text start and end."""
    if not _may_hold(text):
        return []
    flat = _MARGIN.sub(lambda margin: " " * len(margin[0]), text)
    found = []
    for secret in tokens.secrets_in(flat):
        end = secret.start + len(secret.value)
        last = flat.find(_END, end, end + _NEAR) if secret.value.startswith("-----BEGIN") else -1
        found.append((secret.start, max(end, last)))
    return sorted(found)


def _may_hold(text: str) -> bool:
    """Return whether it is worth to look closely; one pass over the whole text."""
    held = pa.array([text.encode("utf-8", "surrogatepass")], pa.large_binary())
    return bool(pc.match_substring_regex(held, tokens.ANYWHERE)[0].as_py())


def lines(text: str) -> frozenset[int]:
    """Return the numbers of the lines (from 1) that a secret touches."""
    touched: set[int] = set()
    first, at = 1, 0
    for start, end in spans(text):  # in order, so that each line break is counted once
        first, at = first + text.count("\n", at, start), start
        touched.update(range(first, first + text.count("\n", start, end) + 1))
    return frozenset(touched)


def masked(text: str) -> str:
    """Return a text with a few first characters in place of each secret; it has as many lines as before."""
    parts, at = [], 0
    for start, end in spans(text):
        if end > at:
            start = max(start, at)
            parts += [text[at:start], text[start : start + tokens.SHOWN], "…", "\n" * text.count("\n", start, end)]
            at = end
    return "".join([*parts, text[at:]])
