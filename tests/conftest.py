"""What tests share: the sample stores, copies of them, the one clock; the bytes of a folder, the words of a page."""

from __future__ import annotations

import html
import os
import re
import shutil
from pathlib import Path

import browser
import hypothesis
import pytest

import memkit

# A busy machine is no failure; where CI is set, hypothesis has a profile of its own.
if "CI" not in os.environ:
    hypothesis.settings.register_profile("memkit", deadline=None)
    hypothesis.settings.load_profile("memkit")

CLOCK = "2025-02-28T21:30+08:00"
ZONE = "Asia/Shanghai"
SAMPLES = Path(__file__).parent.parent / "data-samples"


def open_at(path, **options):
    """Return the store at a path, on the evening of the samples."""
    return memkit.open(path, **{"now": CLOCK, "tz": ZONE, **options})


def tree(root):
    """Return the bytes of all files under a folder, by path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def said(markup):
    """Return what a person reads of HTML, blanks folded."""
    plain = re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", markup))
    return " ".join(html.unescape(plain).split())


@pytest.fixture
def samples():
    return SAMPLES


@pytest.fixture
def copied(tmp_path):
    """Return a function that copies a sample, so that nothing is ever written to the original."""

    def copy(name):
        return Path(shutil.copytree(SAMPLES / name, tmp_path / name))

    return copy


@pytest.fixture(scope="session")
def chromium():
    """Give one browser for all tests that need one."""
    if not browser.CHROMIUM.exists():
        pytest.skip(f"no Chromium at {browser.CHROMIUM}")
    with browser.chromium() as one:
        yield one


@pytest.fixture
def open_page(chromium):
    """Return a function that opens pages; at the end nothing outside may have been asked for, no script have failed."""
    pages = browser.Pages(chromium)
    yield pages
    pages.close()
    pages.seen.check()


def pytest_collection_modifyitems(items):
    """Put tests that need the browser last: while it runs, an event loop does too, and no test may start its own."""
    items.sort(key=lambda item: "chromium" in getattr(item, "fixturenames", ()))
