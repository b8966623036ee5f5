"""What each of the agents' tools does to a store beside answering; a client that asks people before a call goes by it.

"Lost" is said of what was remembered. The catalog, the search index and the summaries are made from the files, so that to
make them again loses nothing. What writes an entry keeps it once a day: the same call on another day adds it again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effect:
    """What a tool does: `reads` alone, `heals` derived files while it reads, `loses` something, `settles` with one call.

    Of one that settles, the same call again changes no memory, on whatever day; only a catalog gets the rows of days that
    have ended since. One that `sends` gives texts to a service for vectors, where one is switched on.
    """

    reads: bool = False
    heals: bool = False
    loses: bool = False
    settles: bool = False
    sends: bool = False

    @property
    def quiet(self) -> bool:
        """Return whether it leaves every byte alone once healing is switched off."""
        return self.reads or self.heals


READS = Effect(reads=True, settles=True)
HEALS = Effect(heals=True, settles=True)
ASKS = Effect(heals=True, settles=True, sends=True)
ADDS = Effect()
ADDS_ONCE = Effect(settles=True)
LOSES = Effect(loses=True, settles=True)

EFFECTS = {
    "mem_hot_get": READS,
    "mem_hot_set": LOSES,  # it replaces a text
    "mem_write": ADDS,
    "mem_recall": READS,
    "mem_recent": READS,
    "mem_by_tag": READS,
    "mem_by_date": READS,
    "mem_summarize": ADDS,  # with force, each summary says when it was made
    "mem_stats": READS,
    "mem_topics_add": ADDS_ONCE,
    "memory_search": ASKS,  # an index that is there is brought up to date
    "memory_get": READS,
    "memory_store": ADDS,
    "memory_recall": ASKS,
    "memory_forget": ADDS,  # a mark; nothing is deleted
    "memory_sync": Effect(settles=True, sends=True),
    "archive_append": ADDS,
    "archive_search": HEALS,  # finished days get their rows in the catalog
    "archive_read": READS,
    "archive_recent": HEALS,
    "archive_correct": ADDS,
    "archive_forget": LOSES,
    "archive_rebuild": ADDS_ONCE,
}
