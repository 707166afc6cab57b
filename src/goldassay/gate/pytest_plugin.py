"""For pytest, which finds it where the package is installed: `def test_data(assert_sound): ...`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def assert_sound() -> Callable[..., None]:
    """`goldassay.assert_sound`: fails unless a question of a report is sound."""
    import goldassay

    return goldassay.assert_sound
