"""Every error that memkit raises on purpose, and nothing else.

MemkitError
├── StoreNotFound        no memory store at the path, or none of the asked layout
├── AmbiguousStore       more than one store at one place
├── BadArgument          an argument cannot be meant (also a ValueError)
├── UnsupportedError     the layout has no such thing
├── PathError            a target outside the place it may be in
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
