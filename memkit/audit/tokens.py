"""What looks like a secret in a text: keys by the prefix their makers give them, private keys, passwords in addresses; pure.

Precision comes first: what follows a prefix must look random, and examples and placeholders are none. A secret leaves this
module only to be compared; people are told its kind and a mask.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

SHOWN = 4  # characters of a secret that its mask shows
_LEAST_BITS = 3.0  # of entropy a character: hex has 4 at most, words and repeats have less
_LEAST_KINDS = 8  # different characters


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret: what kind it is, where it starts in its text, and itself, which is never printed."""

    kind: str
    start: int
    value: str = field(repr=False)

    @property
    def mask(self) -> str:
        """Return its first characters and how long it is."""
        return f"{self.value[:SHOWN]}…, {len(self.value)} characters"


# Kind, what RE2 looks for among all texts at once, and the whole of it, whose last group must look random.
_KINDS = (
    ("an API key", r"sk-[A-Za-z0-9_-]{20}", r"sk-[A-Za-z0-9_-]*?([A-Za-z0-9_-]{20,})"),
    ("a Stripe key", r"[rs]k_live_[A-Za-z0-9]{16}", r"[rs]k_live_([A-Za-z0-9]{16,})"),
    ("a GitHub token", r"gh[opsur]_[A-Za-z0-9]{36}", r"gh[opsur]_([A-Za-z0-9]{36,})"),
    ("a GitHub token", r"github_pat_[A-Za-z0-9_]{22}", r"github_pat_([A-Za-z0-9_]{22,})"),
    ("a GitLab token", r"glpat-[A-Za-z0-9_-]{20}", r"glpat-([A-Za-z0-9_-]{20,})"),
    ("a Slack token", r"xox[abeoprs]-[0-9A-Za-z-]{16}", r"xox[abeoprs]-(?=[A-Za-z-]*[0-9])([0-9A-Za-z-]{16,})"),
    (
        "a Slack webhook",
        r"hooks\.slack\.com/services/T",
        r"https://hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/([A-Za-z0-9]{20,})",
    ),
    ("an AWS key", r"A[KS]IA[0-9A-Z]{16}", r"A[KS]IA([0-9A-Z]{16})(?![0-9A-Z])"),
    ("a Google key", r"AIza[0-9A-Za-z_-]{35}", r"AIza([0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])"),
    ("a Google secret", r"GOCSPX-[0-9A-Za-z_-]{28}", r"GOCSPX-([0-9A-Za-z_-]{28})"),
    ("an Alibaba Cloud key", r"LTAI5t[A-Za-z0-9]{18}", r"LTAI5t([A-Za-z0-9]{18})(?![A-Za-z0-9])"),
    ("a Hugging Face token", r"hf_[A-Za-z0-9]{30}", r"hf_([A-Za-z0-9]{30,})"),
    ("an npm token", r"npm_[A-Za-z0-9]{36}", r"npm_([A-Za-z0-9]{36})(?![A-Za-z0-9])"),
    ("a PyPI token", r"pypi-AgE[A-Za-z0-9_-]{40}", r"pypi-AgE([A-Za-z0-9_-]{40,})"),
    ("a SendGrid key", r"SG\.[A-Za-z0-9_-]{22}\.", r"SG\.[A-Za-z0-9_-]{22}\.([A-Za-z0-9_-]{43})"),
    ("a Groq key", r"gsk_[A-Za-z0-9]{40}", r"gsk_([A-Za-z0-9]{40,})"),
    ("a DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}", r"do[opr]_v1_([a-f0-9]{64})"),
    ("a Telegram bot token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", r"[0-9]{8,10}:AA([A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    (
        "a JSON web token",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.([A-Za-z0-9_-]{20,})",
    ),
    (
        "a private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s|[A-Z][A-Za-z-]+: [^\n]*\n)*"
        r"((?:[A-Za-z0-9+/=]{16,}(?:\\n|\s)*)+)",
    ),
    (
        "a password in an address",
        r"://[^\s:/@]*:[^\s/@]{6,}@",
        r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@]*:([^\s/@]{6,64})@(?=[^\s/@:.]+[.:/])",
    ),
)
ANYWHERE = "|".join(f"(?:{anchor})" for _, anchor, _ in _KINDS)  # for RE2: no boundary, nothing looked ahead
_WHOLE = [(kind, re.compile(rf"(?<![A-Za-z0-9_-]){pattern}")) for kind, _, pattern in _KINDS]
_PASSWORD = "a password in an address"
# What examples hold, in whatever case.
_PLACEHOLDER = re.compile(
    r"example|placeholder|xxxx|\.\.\.|…|\*\*\*|0000000|your|dummy|fake|sample|redacted|changeme|change_me|insert|replace"
    r"|0123456789|1234567890|12345678|abcdefgh|eyjzdwiioiixmjm0nty3odkw",
    re.IGNORECASE,
)
_BLANKED = re.compile(
    r"[<${\[(%]|^(?:user|admin|root|test|guest|postgres|mysql|pass|passwd|password|secret|token|hunter2)\w{0,3}$", re.I
)
_EXAMPLE_HOST = re.compile(r"(?:[^\s/@:]+\.)?(?:example|test|invalid)(?:\.[a-z]+)?(?=[:/\s]|$)", re.IGNORECASE)


def secrets_in(text: str) -> Iterator[Secret]:
    """Yield the secrets of a text, those of one kind in their order."""
    for kind, pattern in _WHOLE:
        for match in pattern.finditer(text):
            if _is_real(kind, match, text):
                yield Secret(kind, match.start(), match[0].rstrip())


def _is_real(kind: str, match: re.Match[str], text: str) -> bool:
    """Return whether what a pattern found is more than an example of it."""
    own = match[match.lastindex or 0]
    if kind == _PASSWORD:
        user = match[0].partition("://")[2].partition(":")[0]
        asked = own.casefold() == user.casefold() or bool(_BLANKED.search(own)) or bool(_EXAMPLE_HOST.match(text, match.end()))
        return not (asked or _PLACEHOLDER.search(own) or len(set(own)) < 4)
    if _PLACEHOLDER.search(match[0]) or len(set(own)) < _LEAST_KINDS or _bits(own) < _LEAST_BITS:
        return False
    return kind in ("a private key", "a JSON web token") or _is_random(own)


def _is_random(own: str) -> bool:
    """Return whether a key has letters and digits mixed in one long run, which no name made of words has."""
    longest = max(re.split("[_-]", own), key=len)
    return len(longest) >= 10 and sum(map(str.isdigit, longest)) >= 1 and sum(map(str.isalpha, longest)) >= 2


def _bits(text: str) -> float:
    """Return the entropy of a text in bits a character, by how often its characters come."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)
