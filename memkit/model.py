"""The plain values that travel through the house: Document, Role, Records, Problem, Snapshot, Edit; and clean().

Nothing here reads a file or computes an answer. Characters are code points, lines count from 1,
paths are POSIX and relative to the store's root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, TypeVar

KINDS = ("daily", "daily-slug", "longterm", "note", "extra", "session", "dream")
DERIVED_KINDS = ("catalog", "summary", "hot", "index")
BLOCKS = ("item", "paragraph", "table", "code", "quote")

# What a line of a document can be taken for (Records.spans).
SPANS = ("blank", "entry", "heading", "front matter", "marker", "layout", "problem")

_Known = TypeVar("_Known")

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the text as people read it: bytes that did not decode as U+FFFD, no NUL, LF line ends, a lone CR a blank."""
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    if "\0" in text:
        text = text.replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r").replace("\r", " ")
    return text


@dataclass(frozen=True, slots=True)
class Problem:
    """A bad place in one document, found while reading; the audit turns it into a finding of the same rule.

    `text` is the line itself, filled in once the document has been read; only a fingerprint is ever made of it.
    """

    rule: str
    line: int
    message: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """What a path is to its layout: its kind, its day, whether it is derived; or not ours, with the reason.

    `skipped` is empty for a file that is read. `problem` names the audit rule that the path alone trips.
    """

    kind: str | None = None
    day: date | None = None
    derived: bool = False
    skipped: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read once. `text` is for splicing, `reading` for everything else.

    `text` is the bytes as UTF-8 with surrogateescape, so that encoding it again gives the same bytes.
    `reading` is the clean text: no BOM, no CR, no NUL, other encodings decoded; its line numbers are those of `grep -n`.
    """

    path: str
    role: Role
    text: str
    reading: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, read once, of a kind of which many are read together: `data` is its clean text, in UTF-8."""

    path: str
    role: Role
    data: bytes
    problems: tuple[Problem, ...] = ()

    @property
    def reading(self) -> str:
        """Return the clean text, as Document.reading."""
        return self.data.decode()


@dataclass(frozen=True, slots=True)
class Columns:
    """The entries of many dated documents as arrays of equal length, in the documents' order; the columns are as in Entries.

    `counts` says how many of them each document has, `block` names their kind by its place in BLOCKS. `tags` are all
    tags, as (place of the entry in the columns, tag) in two arrays; None if no entry has another than that of `tag`.
    """

    counts: Any
    line: Any
    text: Any
    end_line: Any = None
    block: Any = None
    tag: Any = None
    section: Any = None
    clock: Any = None
    stamp: Any = None
    label: Any = None
    task: Any = None
    tags: Any = None


@dataclass(slots=True)
class Entries:
    """The entries of one document as columns of equal length; a column that is None is missing in every row.

    `stamp` is a full ISO instant with zone as written (written_at is made of it), `day` the full date of the
    nearest heading (used only in undated files), `block` None means that every entry is an item.
    """

    line: list[int] = field(default_factory=list)
    end_line: list[int] | None = None
    text: list[str] = field(default_factory=list)
    tag: list[str | None] | None = None
    section: list[str | None] | None = None
    clock: list[str | None] | None = None
    stamp: list[str | None] | None = None
    label: list[str | None] | None = None
    task: list[str | None] | None = None
    block: list[str] | None = None
    day: list[date | None] | None = None

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.line)


@dataclass(frozen=True, slots=True)
class IndexLine:
    """The `index:` of an archive day file: its decoded text (None if missing) and its line (0 if missing)."""

    text: str | None
    line: int


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One row of a catalog: its day, its index with a quoted dialect undone, its line, and the index as written."""

    day: date
    index: str
    line: int
    written: str


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """One summary file: its period and key, its entry lines, and what its header says it was made from.

    `at` are the numbers of the entry lines in the file.
    """

    period: str
    key: str
    lines: tuple[str, ...]
    omitted: int
    omitted_below: int
    sources: tuple[str, ...]
    digest: str | None
    generated_at: str | None
    chars: int
    at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Hot:
    """The hot layer of `layers`: its body, candidate entries and topics (topic, month, line)."""

    body: str
    candidates: Entries
    topics: tuple[tuple[str, str, int], ...]


@dataclass(slots=True)
class Records:
    """Everything one document holds. What only one layout has is its own kind of record here, never a special column.

    `tags` are (line of the entry, tag), in order of appearance. `spans` says for each line what it was taken for,
    when asked for.
    """

    path: str
    role: Role
    entries: Entries = field(default_factory=Entries)
    tags: list[tuple[int, str]] = field(default_factory=list)
    index: IndexLine | None = None
    rows: list[CatalogRow] = field(default_factory=list)
    summary: StoredSummary | None = None
    hot: Hot | None = None
    problems: list[Problem] = field(default_factory=list)
    spans: list[str] | None = None


@dataclass(frozen=True, slots=True)
class FileFact:
    """What a directory scan says of one file, and the role its layout gave it.

    `ctime_ns` is when anything of it changed, its mtime and who may read it among that; on Windows, when it was made.
    """

    path: str
    role: Role
    size: int
    mtime_ns: int
    inode: int
    trouble: str = ""
    ctime_ns: int = 0


@dataclass(frozen=True, slots=True)
class IndexFact:
    """What is known of a workspace's search index: its name, its state and the reason for it (as fts.Look says them).

    `behind` are the files that it does not hold as they are: newer, missing in it, or gone since.
    """

    path: str
    state: str
    reason: str
    behind: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A store at one moment, as the audit sees it: facts of every file, records of each file read, the clock.

    `entries` is the frame of all entries (schema.HELD; a DataFrame, which this module does not know), since the
    records of a loaded store no longer hold their own. `against` and `present` are manifests (DataFrames): of then,
    and of the same files now; None when nothing is to be compared. `sources` says what summaries are made from, `index`
    what is known of a search index, and `hot_limit` how many characters the hot body may have.
    """

    layout: str
    files: Mapping[str, FileFact]
    records: Mapping[str, Records]
    entries: Any
    now: datetime
    against: Any = None
    present: Any = None
    sources: Any = None
    index: IndexFact | None = None
    hot_limit: int = 600
    _known: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def today(self) -> date:
        """Return the local day of the clock."""
        return self.now.date()

    def once(self, name: str, make: Callable[[], _Known]) -> _Known:
        """Return what `make` gives; rules that need the same of one snapshot work it out once."""
        if name not in self._known:
            self._known[name] = make()
        known: _Known = self._known[name]
        return known


@dataclass(frozen=True, slots=True)
class Edit:
    """One planned change of one file: the text it was planned from (None: no file) and the text it gets (None: deleted).

    Both are `Document.text`, so that bytes which are not UTF-8 survive. `free` names what the user asked to change, and
    the write rule therefore lets pass: "all" of the file, or a region of hot.md (body, candidates, topics). "begin" is for the
    files of a store that the plan itself creates.
    """

    path: str
    before: str | None
    after: str | None
    free: tuple[str, ...] = ()
