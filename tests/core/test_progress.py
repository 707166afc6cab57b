"""Steps: seconds of each, and the end of those of other threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from goldassay.core.progress import Steps


def two_parts(steps: Steps) -> None:
    with steps.step("counting") as progress:
        progress(1, 2)
        progress(2, 2)


def test_seconds_add_up() -> None:
    steps = Steps()
    two_parts(steps)
    first = steps.seconds["counting"]
    two_parts(steps)
    assert list(steps.seconds) == ["counting"]
    assert steps.seconds["counting"] > first > 0


def test_stopped_steps_of_other_threads_end() -> None:
    steps = Steps()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(two_parts, steps).result()
        steps.stop()
        two_parts(steps)
        with pytest.raises(KeyboardInterrupt):
            pool.submit(two_parts, steps).result()
