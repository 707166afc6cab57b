"""Where the logs of each tool lie: `make foreign` writes them before it runs these tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

WRITTEN = Path(os.environ.get("GOLDASSAY_FOREIGN", Path(__file__).parents[2] / "build" / "foreign" / "written"))


@pytest.fixture(scope="module")
def written(request: pytest.FixtureRequest) -> Path:
    """The folder of the tool that the test's module is named after; skips where it was not written."""
    folder = WRITTEN / request.module.__name__.rpartition("test_")[2]
    if not folder.is_dir():
        pytest.skip(f"make foreign has not written {folder.name}")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these need what other tools wrote."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.foreign)
