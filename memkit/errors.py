"""Every error that memkit raises on purpose, and nothing else.

MemkitError
├── StoreNotFound        no memory store at the path, or none of the asked layout
├── AmbiguousStore       more than one store at one place
├── BadArgument          an argument cannot be meant (also a ValueError)
├── UnsupportedError     the layout has no such thing
├── PathError            a target outside the place it may be in
├── BadIndexError        an index line that the catalog cannot hold (a BadArgument)
├── FrozenError          a day before today would change
├── LostTextError        an old line would be lost or altered
├── ConflictError        a file changed since it was read
├── LockTimeout          another writer holds the store for too long
├── DiskError            the system refused to read or write a memory file (also an OSError)
├── EmbedError           the embedding service gave no usable answer
└── ExportError          an export folder is incomplete or was changed

A message says path, reason and cure, starts in lower case, and never holds an entry's whole text.
"""


class MemkitError(Exception):
    """Base of all errors raised on purpose: catch this one to catch them all."""


class StoreNotFound(MemkitError):
    """No memory store was found at the path."""


class AmbiguousStore(MemkitError):
    """Two stores lie at one place; the message names both."""


class BadArgument(MemkitError, ValueError):
    """An argument has a value that cannot be meant; the message names the argument."""


class UnsupportedError(MemkitError):
    """The layout of this store has no such thing."""


class PathError(MemkitError):
    """A path lies outside the place in which it is allowed."""


class ExportError(MemkitError):
    """An export folder is incomplete or does not hold what its manifest says."""


class BadIndexError(BadArgument):
    """An index line is blank, or has a tab, a line break or a control character."""


class FrozenError(MemkitError):
    """A day before today would change; only `forget` may do that."""


class LostTextError(MemkitError):
    """An old line would be lost or altered."""


class ConflictError(MemkitError):
    """A file changed on disk since it was read; nothing was written."""


class DiskError(MemkitError, OSError):
    """The system refused to read or write a memory file: no space, no permission, a failing disk."""


class LockTimeout(MemkitError):
    """Another writer holds the store's lock for longer than `lock_timeout` seconds; try again."""


class EmbedError(MemkitError):
    """The embedding service gave no usable answer; the message holds neither the key nor a text."""
