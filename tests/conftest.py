"""What all tests share: where real data may lie, and quick settings."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Where a red run stops others, the same examples are tried each time; elsewhere new ones are sought.
settings.register_profile("default", deadline=None, max_examples=60, derandomize=bool(os.environ.get("CI")))
settings.load_profile("default")

# Threads that wait by spinning slow tests that run side by side, and the commands they start, as much as twentyfold.
# Read when torch or NumPy is loaded, which is after this file.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# A shell that runs tests in the background has them ignore interrupts, and the commands they start would do the same.
signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real datasets; tests that need it skip where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA}: set GOLDASSAY_DATA to the folder that holds it")
    return DATA
