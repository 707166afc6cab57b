"""Jobs on made data, quick enough to be killed many times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.lab.training.job import Job
from goldassay.lab.training.snapshots import take_snapshot
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def make_job(tmp_path: Path) -> Callable[..., Job]:
    """A small job in a folder of its own."""

    def make(out: str | Path | None = None, **options: Any) -> Job:
        folder = tmp_path / "runs" if out is None else Path(out)
        sizes = {"vectors": 8, "hidden": 8, "min_count": 1, "epochs": 3, "batch_size": 8}
        return Job(
            **{
                "model": "ngram_average",
                "train": take_snapshot(made_pairs(), folder, ("weight",)),
                "tests": (take_snapshot(made_pairs(30, 1, "test"), folder),),
                "out": str(folder),
                "changes": sizes | options.pop("more", {}),
                **options,
            }
        )

    return make
