"""Text that is given to a command: as an argument, at stdin or in a file; bytes that are not UTF-8 are refused, not mended."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from io import TextIOBase

from memkit.errors import BadArgument

STDIN = "-"
_CURE = "save it as UTF-8"


def said(text: str) -> str:
    """Return the text of an argument, or what stdin says for `-`.

    Raises: BadArgument if stdin is closed, or not UTF-8.
    """
    return _of_stdin() if text == STDIN else text


def lines(file: str) -> list[str]:
    """Return the lines of a text file, or of stdin for `-`, that are not blank.

    Raises: BadArgument if there is no such file, or it is not UTF-8; DiskError.
    """
    from pathlib import Path

    from memkit import files

    if file == STDIN:
        text = _of_stdin()
    else:
        held = files.text_of_output(Path(file).expanduser())
        if held is None:
            raise BadArgument(f"file: no file {file}; name a text file, or - for stdin")
        text = _decoded(held.encode("utf-8", "surrogateescape"), f"file: {file}")
    return [line for line in text.split("\n") if line.strip()]


def _of_stdin() -> str:
    stream: TextIOBase | None = sys.stdin  # type: ignore[assignment]
    if stream is None or stream.closed:
        raise BadArgument("stdin: it is closed; give the text itself in place of -, or pipe it in")
    raw = getattr(stream, "buffer", None)
    return _decoded(raw.read(), "stdin") if raw is not None else stream.read()


def _decoded(data: bytes, name: str) -> str:
    """Return bytes as text, without a BOM.

    Raises: BadArgument.
    """
    plain = data.removeprefix(BOM_UTF8)
    try:
        return plain.decode()
    except UnicodeDecodeError as error:
        line = plain.count(b"\n", 0, error.start) + 1
        at = error.start - plain.rfind(b"\n", 0, error.start)
        raise BadArgument(f"{name}: not UTF-8 in line {line:,}, at its byte {at:,}; {_CURE}") from error
