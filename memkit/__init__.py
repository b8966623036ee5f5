"""memkit: the long-term memory of AI agents, kept as Markdown, as pandas DataFrames.

`memkit.open(path)` gives a Store; its nouns are frames, its participles filter, its audit proves the folder consistent.
Names are imported when they are first used, so that `import memkit` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.4.0"

_NAMES = {
    "open": ("memkit.opening", "open_store"),
    "open_many": ("memkit.fleet", "open_many"),
    "Store": ("memkit.store", "Store"),
    "Fleet": ("memkit.fleet", "Fleet"),
    "migrate": ("memkit.migrating", "migrate"),
    "read_export": ("memkit.export", "read_export"),
    "MemkitError": ("memkit.errors", "MemkitError"),
    "StoreNotFound": ("memkit.errors", "StoreNotFound"),
    "AmbiguousStore": ("memkit.errors", "AmbiguousStore"),
    "BadArgument": ("memkit.errors", "BadArgument"),
    "UnsupportedError": ("memkit.errors", "UnsupportedError"),
    "PathError": ("memkit.errors", "PathError"),
    "ExportError": ("memkit.errors", "ExportError"),
    "BadIndexError": ("memkit.errors", "BadIndexError"),
    "FrozenError": ("memkit.errors", "FrozenError"),
    "LostTextError": ("memkit.errors", "LostTextError"),
    "ConflictError": ("memkit.errors", "ConflictError"),
    "LockTimeout": ("memkit.errors", "LockTimeout"),
    "DiskError": ("memkit.errors", "DiskError"),
    "EmbedError": ("memkit.errors", "EmbedError"),
}
__all__ = [
    "AmbiguousStore",
    "BadArgument",
    "BadIndexError",
    "ConflictError",
    "DiskError",
    "EmbedError",
    "ExportError",
    "Fleet",
    "FrozenError",
    "LockTimeout",
    "LostTextError",
    "MemkitError",
    "PathError",
    "Store",
    "StoreNotFound",
    "UnsupportedError",
    "__version__",
    "migrate",
    "open",
    "open_many",
    "read_export",
]

if TYPE_CHECKING:
    from memkit.errors import (
        AmbiguousStore,
        BadArgument,
        BadIndexError,
        ConflictError,
        DiskError,
        EmbedError,
        ExportError,
        FrozenError,
        LockTimeout,
        LostTextError,
        MemkitError,
        PathError,
        StoreNotFound,
        UnsupportedError,
    )
    from memkit.export import read_export
    from memkit.fleet import Fleet, open_many
    from memkit.migrating import migrate
    from memkit.opening import open_store as open
    from memkit.store import Store


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _NAMES:
        raise AttributeError(f"module 'memkit' has no attribute {name!r}")
    module, attribute = _NAMES[name]
    if module != "memkit.errors":
        import_module("memkit.accessor")  # whoever gets frames can ask them: it registers df.memory
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """Return the public names, for Tab."""
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Make `%memory` and `%%remember` known to IPython; `%load_ext memkit` calls it."""
    import_module("memkit.magics").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take them away; `%unload_ext memkit` calls it."""
    import_module("memkit.magics").unload(shell)
