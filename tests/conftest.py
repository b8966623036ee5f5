"""What tests share: the sample stores, copies of them, and the one clock."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import memkit

CLOCK = "2025-02-28T21:30+08:00"
ZONE = "Asia/Shanghai"
SAMPLES = Path(__file__).parent.parent / "data-samples"


def open_at(path, **options):
    """Return the store at a path, on the evening of the samples."""
    return memkit.open(path, **{"now": CLOCK, "tz": ZONE, **options})


@pytest.fixture
def samples():
    return SAMPLES


@pytest.fixture
def copied(tmp_path):
    """Return a function that copies a sample, so that nothing is ever written to the original."""

    def copy(name):
        return Path(shutil.copytree(SAMPLES / name, tmp_path / name))

    return copy
