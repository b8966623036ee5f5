"""How the typed signature of a tool becomes its arguments: one declaration gives what is read, its default and its schema.

An argument's kind stands in its annotation and its default behind that; null means the default. Agents know it under its
Python name in camel case, so that `max_results` is maxResults, and `from_`, a word that Python keeps for itself, is from.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from memkit.dates import as_day
from memkit.errors import BadArgument, UnsupportedError

if TYPE_CHECKING:
    from memkit.store import Store

Answer = dict[str, Any]
F = TypeVar("F", bound=Callable[..., Answer])

WORDS = 64  # different ones, of one search or of one of its terms
REQUIRED = inspect.Parameter.empty
_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_WHOLE = re.compile(r"\s*\+?[0-9]{1,4000}\s*")  # no longer one than Python reads


class Kind(Protocol):
    """What an argument may be. `read` gives the value to work with, None for one that cannot be meant."""

    @property
    def about(self) -> str:
        """Return what the argument is for, as an agent is told it."""

    @property
    def expected(self) -> str:
        """Return what is expected, as an error names it."""

    def read(self, value: object) -> Any:
        """Return what a value means, or None."""

    def schema(self) -> dict[str, Any]:
        """Return the type and the bounds as JSON schema."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, taken as it is; one of more than `most` characters is refused."""

    about: str
    expected: str = "a text"
    most: int | None = None

    def read(self, value: object) -> str | None:
        """Return the text."""
        return value if isinstance(value, str) and (self.most is None or len(value) <= self.most) else None

    def schema(self) -> dict[str, Any]:
        """Return that it is a string, and how long."""
        return {"type": "string"} if self.most is None else {"type": "string", "maxLength": self.most}


@dataclass(frozen=True, slots=True)
class Texts:
    """A list of texts, each counted once; a single text stands for a list of it."""

    about: str
    most: int = WORDS

    @property
    def expected(self) -> str:
        """Return how many texts."""
        return f"a list of 1 to {self.most} texts"

    def read(self, value: object) -> list[str] | None:
        """Return the texts."""
        held = [value] if isinstance(value, str) else value
        if not isinstance(held, list) or not all(isinstance(text, str) for text in held):
            return None
        found = list(dict.fromkeys(held))
        return found if 1 <= len(found) <= self.most else None

    def schema(self) -> dict[str, Any]:
        """Return that it is an array of strings, and how many."""
        return {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number: finite ones and texts of one are rounded down, then brought into the range."""

    about: str
    least: int
    most: int

    @property
    def expected(self) -> str:
        """Return the range."""
        return f"a number from {self.least:,} to {self.most:,}"

    def read(self, value: object) -> int | None:
        """Return the number nearest to it within the range."""
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, Real):
            return None
        try:
            whole = value if isinstance(value, int) else math.floor(float(value))
        except (OverflowError, ValueError):  # an infinity, or NaN
            return None
        return min(max(whole, self.least), self.most)

    def schema(self) -> dict[str, Any]:
        """Return that it is an integer, and its range."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number, or a text of one, that is taken as it is: nothing is rounded, none is brought into the range."""

    about: str
    least: int
    most: int | None = None

    @property
    def expected(self) -> str:
        """Return from where it counts, and how far."""
        end = f"of at least {self.least}" if self.most is None else f"from {self.least} to {self.most}"
        return f"a whole number {end}"

    def read(self, value: object) -> int | None:
        """Return the number; that of 2.0 is 2, as in JSON."""
        if (isinstance(value, str) and _WHOLE.fullmatch(value)) or (isinstance(value, float) and value.is_integer()):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.least:
            return None
        return int(value) if self.most is None or value <= self.most else None

    def schema(self) -> dict[str, Any]:
        """Return that it is an integer, and its bounds."""
        held = {"type": "integer", "minimum": self.least}
        return held if self.most is None else {**held, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no: only true, or the text "true", is a yes."""

    about: str
    expected: str = "true or false"

    def read(self, value: object) -> bool:
        """Return whether it is a yes."""
        return value is True or (isinstance(value, str) and value == "true")

    def schema(self) -> dict[str, Any]:
        """Return that it is a boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words, whatever its case."""

    about: str
    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """Return all the words."""
        return ", ".join(self.words)

    def read(self, value: object) -> str | None:
        """Return the word in lower case."""
        word = value.casefold() if isinstance(value, str) else ""
        return word if word in self.words else None

    def schema(self) -> dict[str, Any]:
        """Return that it is one of the words."""
        return {"type": "string", "enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Day:
    """A local day as YYYY-MM-DD."""

    about: str
    expected: str = "a real date as YYYY-MM-DD"

    def read(self, value: object) -> str | None:
        """Return the day as text."""
        try:
            return as_day(value, "day").isoformat()
        except ValueError:
            return None

    def schema(self) -> dict[str, Any]:
        """Return that it is a string of that form."""
        return {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool: its name as agents know it, its kind, and its default (REQUIRED for none)."""

    name: str
    kind: Kind
    default: Any

    def read(self, value: object) -> Any:
        """Return the value to work with.

        Raises: BadArgument, naming the argument and what is expected.
        """
        if self.default is not REQUIRED and (value is None or (value in ([], "") and isinstance(self.kind, Texts))):
            return self.default
        found = self.kind.read(value)
        if found is None:
            told = _listed(value) if isinstance(value, list) and isinstance(self.kind, Texts) else shown(value)
            raise BadArgument(f"{self.name}: {told}; expected {self.kind.expected}")
        return found

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema; an argument with a default may be null, a list with one empty."""
        held = {**self.kind.schema(), "description": self.kind.about}
        if self.default is REQUIRED:
            return held
        held.pop("minItems", None)
        held["type"] = [held["type"], "null"]
        if "enum" in held:
            held["enum"] = [*held["enum"], None]
        return {**held, "default": self.default}


def few(words: Iterable[str], name: str) -> tuple[str, ...]:
    """Return the words of a search, each once.

    Raises: BadArgument, naming the argument, for more than a search takes.
    """
    found = tuple(dict.fromkeys(words))
    if len(found) > WORDS:
        raise BadArgument(f"{name}: {len(found):,} different words; expected at most {WORDS}, the most telling ones")
    return found


def _listed(value: list[object]) -> str:
    return f"a list of {len(value):,}" if value else "an empty list"


def shown(value: object) -> str:
    """Return a value as an error shows it: a text cut short, of anything else that is long its type."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return repr(value[:40])
    short = isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**12)
    return repr(value) if short else f"a value of type {type(value).__name__}"


def declared(function: Callable[..., Answer]) -> dict[str, Argument]:
    """Return the arguments that a tool's signature declares, each under its Python name."""
    held = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        for kind in getattr(parameter.annotation, "__metadata__", ()):
            held[name] = Argument(_camel(name), kind, parameter.default)
    return held


def _camel(name: str) -> str:
    """Return a Python name as agents know it: inner underscores become camel case, one at the end is dropped."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(map(str.capitalize, rest))


def tool(layout: str) -> Callable[[F], F]:
    """Return a decorator for the tools of a layout: however one is called, its arguments are read as they are declared.

    A parameter that declares no kind is none of the agents' business: it is passed on as it is.

    A tool raises UnsupportedError on a store of another layout, and BadArgument for what cannot be meant.
    """

    def decorate(function: F) -> F:
        signature, held = inspect.signature(function), declared(function)
        ours = [name for name in list(signature.parameters)[1:] if name not in held]

        @wraps(function)
        def called(store: Store, *args: Any, **kwargs: Any) -> Answer:
            given = signature.bind_partial(store, *args, **kwargs).arguments
            if store.layout != layout:
                raise UnsupportedError(f"{function.__name__}: it is for the layout {layout}; this store is {store.layout}")
            read = {name: argument.read(given.get(name)) for name, argument in held.items()}
            return function(store, **read, **{name: given[name] for name in ours if name in given})

        return cast("F", called)

    return decorate


def named(function: Callable[..., Answer], arguments: object) -> dict[str, Any]:
    """Return arguments, given under the names that agents know, under those of Python; None stands for no argument.

    Raises: BadArgument for what is no mapping, or a name that the tool does not know.
    """
    given = {} if arguments is None else arguments
    if not isinstance(given, Mapping):
        raise BadArgument(f"arguments: {shown(given)}; expected an object of names and values")
    known = {argument.name: name for name, argument in declared(function).items()}
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise BadArgument(f"{function.__name__}: no argument is named {shown(name)}; {takes}")
    return {known[name]: value for name, value in given.items()}


def described(function: Callable[..., Answer]) -> dict[str, Any]:
    """Return a tool as agents are told of it: name, description, inputSchema."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    held = declared(function).values()
    schema = {
        "type": "object",
        "properties": {argument.name: argument.schema() for argument in held},
        "required": [argument.name for argument in held if argument.default is REQUIRED],
        "additionalProperties": False,
    }
    description = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return {"name": function.__name__, "description": description, "inputSchema": schema}
