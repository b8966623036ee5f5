"""What each figure is held against: the least that reading the same files can cost, and grep over them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

UTF8 = {**os.environ, "LC_ALL": "C.UTF-8"}


def floor(root: Path) -> int:
    """Return how many characters the files have: scandir + stat + read + UTF-8 decode, and nothing is kept."""
    characters = 0
    for entry in _entries(root):
        entry.stat()
        with open(entry.path, "rb") as handle:  # noqa: PTH123  (a Path a file would be no floor)
            characters += len(handle.read().decode())
    return characters


def look(root: Path) -> int:
    """Return how many bytes the files have: scandir + stat."""
    return sum(entry.stat().st_size for entry in _entries(root))


def _entries(root: Path):
    todo = [str(root)]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    todo.append(entry.path)
                else:
                    yield entry


def grep(root: Path, pattern: str, *, how: str = "-rniE") -> int:
    """Return how many lines match. The output is read: grep stops at the first hit when it goes to /dev/null."""
    done = subprocess.run(["grep", how, "-e", pattern, str(root)], stdout=subprocess.PIPE, env=UTF8, check=False)
    return done.stdout.count(b"\n")


def awk(root: Path, year: int) -> bytes:
    """Return a year's catalog as the shell makes it from the front matter of the day files."""
    rows = '/^date: /{d=substr($0,7)} /^index: /{print d "\\t" substr($0,8)}'
    command = f"find '{root}/archive/{year}' -name '*.md' | sort | xargs awk '{rows}'"
    return subprocess.run(command, shell=True, check=True, capture_output=True).stdout
