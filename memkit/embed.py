"""Embeddings: vectors asked of a service over its `/embeddings` call; what becomes of them is no matter here.

Only `embed` connects, and it wants Settings, which exist only where somebody switched embeddings on.
A vector is a row of float32, waits are seconds.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from email.utils import parsedate_to_datetime
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memkit.errors import BadArgument, EmbedError

if TYPE_CHECKING:
    import httpx

Vectors = NDArray[np.float32]

MOST_BYTES = 8_000  # of a text are sent: a token has at least one, and OpenAI's models take 8,191 tokens
_MISFIT = "check that the url and the model belong together"
_FIRST_WAIT = 0.5  # each next wait is twice as long
_TEXTS = {
    "key": (r"[!-~]+", "expected the key as the service gave it, ASCII without blanks"),
    "url": (
        r"(?i:https?)://(\[[0-9a-fA-F:.]+\]|[^\s/?#@:\\\[\]]+)(:\d{1,5})?(/[^\s?#]*)?",
        "expected an address like https://api.openai.com/v1, without user, password, ? and #",
    ),
    "model": (r"\S(.*\S)?", "expected the name of a model, such as text-embedding-3-small"),
}
_VARIABLES = {
    "url": "EMBEDDING_BASE_URL",
    "model": "EMBEDDING_MODEL",
    "vector_weight": "MEMORY_VECTOR_WEIGHT",
    "text_weight": "MEMORY_TEXT_WEIGHT",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Embeddings switched on: whom to ask, and what a vector and a text score weigh (0 to 1). The key is never shown.

    Raises: BadArgument, naming the field, for a value that cannot be meant.
    """

    key: str = field(repr=False)
    url: str = "https://api.openai.com/v1"
    model: str = "text-embedding-3-small"
    vector_weight: float = 0.7
    text_weight: float = 0.3

    def __post_init__(self) -> None:
        for one in fields(self):
            object.__setattr__(self, one.name, _checked(one.name, getattr(self, one.name), named=one.name))


def _checked(name: str, value: Any, *, named: str) -> str | float:
    """Return the value of a field; what is bad is not repeated in the error, as it may be the key in the wrong place."""
    if name in _TEXTS:
        pattern, cure = _TEXTS[name]
        if isinstance(value, str) and re.fullmatch(pattern, value):
            return value
        raise BadArgument(f"{named}: {'missing' if value == '' else 'cannot be meant'}; {cure}")
    if isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= 1:
        return float(value)
    raise BadArgument(f"{named}: cannot be meant; expected a number from 0 to 1")


def settings_of(given: Mapping[str, Any] | Settings) -> Settings:
    """Return what `open(embed={"key", "url", "model", "vector_weight", "text_weight"})` means; only the key is required.

    Raises: BadArgument, naming what is unknown, missing or bad.
    """
    if isinstance(given, Settings):
        return given
    names = ("key", *_VARIABLES)
    if not isinstance(given, Mapping):
        raise BadArgument(f"embed: {type(given).__name__} is no dict; expected one with {', '.join(names)}")
    if unknown := [str(name)[:40] for name in given if name not in names]:
        raise BadArgument(f"embed: {unknown[0]!r} is no part of it; expected {', '.join(names)}")
    return Settings(**{"key": "", **given})


def from_environment(env: Mapping[str, str]) -> Settings | None:
    """Return what the seed's environment variables switch on, or None: a key alone switches nothing on.

    On is `1` or `true` in MEMORY_EMBEDDING_ENABLED together with a key. A weight that is no number is warned of.

    Raises: BadArgument, naming the variable, for another value that cannot be meant.
    """
    held = {name: value.strip() for name, value in env.items() if value.strip()}
    key = "EMBEDDING_API_KEY" if "EMBEDDING_API_KEY" in held else "OPENAI_API_KEY"
    if held.get("MEMORY_EMBEDDING_ENABLED", "").lower() not in ("1", "true") or key not in held:
        return None
    given: dict[str, Any] = {"key": _checked("key", held[key], named=key)}
    for name, variable in _VARIABLES.items():
        if variable in held and name in _TEXTS:
            given[name] = _checked(name, held[variable], named=variable)
        elif variable in held:
            try:
                given[name] = _checked(name, float(held[variable]), named=variable)
            except ValueError:  # a BadArgument is one
                warnings.warn(f"{variable}: no number from 0 to 1; the default is used", stacklevel=2)
    return Settings(**given)


class _Trouble(NamedTuple):
    """Why a call gave no vectors and what to do; whether to ask again, not before `wait`; what the call itself waited."""

    reason: str
    cure: str
    again: bool = False
    wait: float = 0.0
    spent: float = 0.0


def embed(
    texts: Sequence[str],
    settings: Settings,
    *,
    batch: int = 64,
    progress: Callable[[int, int], object] = lambda done, total: None,
    tries: int = 5,
    patience: float = 60.0,
    timeout: float = 30.0,
    sleep: Callable[[float], object] = time.sleep,
) -> Vectors:
    """Return one row a text, in their order. A text is cut to 8,000 bytes; `progress` is told (done, total) after each batch.

    A call that may yet succeed is tried up to `tries` times, after growing waits and not before the service wants it.
    `timeout` is for one call; the waits of all calls, timeouts among them, come to at most `patience`.

    Raises: BadArgument for an empty text; EmbedError if the service gives no usable answer.
    """
    if batch < 1 or tries < 1 or not all(isinstance(text, str) and text for text in texts):
        raise BadArgument("embed: expected texts that are not empty, and at least 1 for batch and tries")
    sent = [text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore") for text in texts]
    parts: list[Vectors] = []
    if not sent:
        return np.empty((0, 0), np.float32)
    with _client(settings, timeout) as client:
        for start in range(0, len(sent), batch):
            some = sent[start : start + batch]
            answer, patience = _answer(client, some, settings, tries=tries, patience=patience, sleep=sleep)
            parts.append(_rows(answer, len(some), settings))
            if parts[-1].shape[1] != parts[0].shape[1]:
                raise _failed(settings, "its vectors differ in length", _MISFIT)
            progress(start + len(some), len(sent))
    return np.concatenate(parts)


def _client(settings: Settings, timeout: float) -> httpx.Client:
    try:
        import httpx

        return httpx.Client(headers={"Authorization": f"Bearer {settings.key}"}, timeout=timeout)
    except ImportError as error:
        cure = "pip install 'agent-memkit[embed]'" if error.name == "httpx" else "check the proxy that is set"
        raise EmbedError(f"embeddings need httpx, which is not fully installed; {cure}") from None
    except (OSError, ValueError, httpx.InvalidURL) as error:
        raise _failed(settings, f"no way out ({type(error).__name__})", "check the proxy and the certificates set") from None


def _answer(
    client: httpx.Client, texts: list[str], settings: Settings, *, tries: int, patience: float, sleep: Callable[[float], object]
) -> tuple[Any, float]:
    """Return the answer to one batch, and the patience that is left."""
    for more in reversed(range(tries)):
        found = _call(client, texts, settings)
        if not isinstance(found, _Trouble):
            break
        wait = max(found.wait, _FIRST_WAIT * 2 ** (tries - 1 - more))
        if not (found.again and more and found.spent + wait <= patience):
            raise _failed(settings, found.reason, found.cure)
        sleep(wait)
        patience -= found.spent + wait
    return found, patience


def _call(client: httpx.Client, texts: list[str], settings: Settings) -> Any:
    """Return the JSON that the service answers, or the trouble; an exception of httpx goes no further, as it holds the key."""
    import httpx

    try:
        url = f"{settings.url.rstrip('/')}/embeddings"
        response = client.post(url, json={"model": settings.model, "input": texts})
        return response.json() if response.is_success else _refusal(response, settings)
    except httpx.TimeoutException:
        spent = client.timeout.read or 0.0
        return _Trouble(f"no answer within {spent:g} seconds", "try again later", again=True, spent=spent)
    except (httpx.RequestError, httpx.InvalidURL) as error:
        seen = str(error)[:120] if isinstance(error, httpx.ConnectError) else type(error).__name__
        again = isinstance(error, httpx.TransportError)
        return _Trouble(f"the call failed ({seen})", "check the url and the network", again=again)
    except (ValueError, RecursionError):
        return _Trouble("the answer is no JSON", "check that the url is the root under which /embeddings lies")


def _refusal(response: httpx.Response, settings: Settings) -> _Trouble:
    """Return why the service refuses: its status and its word for it, no sentence, as those quote keys and texts."""
    status = response.status_code
    word = re.search(rb'"code"\s*:\s*"([a-z_]{3,40})"', response.content)
    said = f"{status} {word[1].decode()}" if word and word[1].decode() not in settings.key else str(status)
    if status == 429 or status >= 500:
        reason = f"too many calls ({said})" if status == 429 else f"the service fails ({said})"
        return _Trouble(reason, "try again later", again=True, wait=_wanted_wait(response.headers))
    if status in (401, 403):
        return _Trouble(f"the key is refused ({said})", "check the key and what it is allowed to do")
    return _Trouble(f"the call is refused ({said})", "check the url, the model and the account")


def _wanted_wait(headers: Mapping[str, str]) -> float:
    """Return the seconds of Retry-After: a number, or a date, counted from the service's own clock; 0 if it is neither."""
    wanted = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", wanted):
        return float(wanted)
    try:
        return (parsedate_to_datetime(wanted) - parsedate_to_datetime(headers["Date"])).total_seconds()
    except (ValueError, TypeError, KeyError):
        return 0.0


def _rows(answer: Any, count: int, settings: Settings) -> Vectors:
    """Return the vectors of an answer in the order of its `index`."""
    try:
        placed = {row["index"]: np.asarray(row["embedding"], np.float64) for row in answer["data"]}
        if len(answer["data"]) == len(placed) == count:
            found = np.stack([placed[number] for number in range(count)])
            if found.ndim == 2 and found.shape[1] and (np.abs(found) <= np.finfo(np.float32).max).all():
                return found.astype(np.float32)
    except (LookupError, TypeError, ValueError, OverflowError):
        pass
    raise _failed(settings, f"the answer does not have {count} vectors of one length", _MISFIT) from None


def _failed(settings: Settings, reason: str, cure: str) -> EmbedError:
    host = settings.url.split("/")[2]  # a path may hold a token
    return EmbedError(f"embeddings from {host}: {reason}; {cure}")
