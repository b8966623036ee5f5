"""The search index of a store: one SQLite file with FTS5 trigrams, derived and rebuildable; it knows frames and a path only.

`look` says what stands at a path, `sync` brings it up to date with the files, `find` asks it. A reader that gets an
`Unreadable` scans the files instead: the answer is the same.
"""

from memkit.fts.body import bodies, folded_bodies, plain_scores
from memkit.fts.fill import EntriesOf, Seen, Synced
from memkit.fts.find import Asked, asking, check_limit, find
from memkit.fts.rows import bodies_in
from memkit.fts.state import Look, Stamp, Unreadable, has_trigram, look, reading
from memkit.fts.sync import sync
from memkit.fts.write import writing

__all__ = [
    "Asked",
    "EntriesOf",
    "Look",
    "Seen",
    "Stamp",
    "Synced",
    "Unreadable",
    "asking",
    "bodies",
    "bodies_in",
    "check_limit",
    "find",
    "folded_bodies",
    "has_trigram",
    "look",
    "plain_scores",
    "reading",
    "sync",
    "writing",
]
