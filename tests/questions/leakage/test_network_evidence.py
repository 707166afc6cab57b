"""Evidence from networks trained here: what is said of how they came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.core.settings import TrainingSettings
from goldassay.questions.networks import train_evidence
from tests.lab.training.in_place import in_place
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["in_place"]

SMALL = {"vectors": 8, "hidden": 8, "min_count": 1, "epochs": 1, "batch_size": 16}


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        ({}, "on 64 rows."),
        ({"rows": 20}, "on 20 of the 64 rows."),
        ({"rows": 20, "bootstrap": True}, "on 20 of the 64 rows, drawn with replacement."),
    ],
)
def test_it_is_said_how_many_rows_were_seen(
    in_place: None, tmp_path: Path, drawn: dict[str, int | bool], said: str
) -> None:
    settings = TrainingSettings(changes=SMALL, workers=1, **drawn)
    evidence = train_evidence(
        made_pairs(64), made_pairs(32, 1, "other"), ("paired",), "ngram_average", (0,), tmp_path, settings
    )
    assert evidence.about == f"ngram_average was trained {said}"
