"""What has no flaw is called sound: a doubt about every set would be as wrong as none.

Pairs and judgments without a flaw are in `tests/end_to_end`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.data.specimen import make_specimen
from goldassay.data.specimen.item_kinds import make_item_specimen

if TYPE_CHECKING:
    from goldassay.report.report import Report


def texts() -> Report:
    rows = make_specimen(size=8000, seed=0, clean=True, test_size=500).train
    labels = pl.Series("label", np.random.default_rng(0).choice(["a", "b"], rows.height))
    return goldassay.audit(rows.select(text="hypothesis").with_columns(labels))


def items() -> Report:
    return goldassay.measure_leakage(make_item_specimen("choices", 1500, 0, clean=True).table)


def preferences() -> Report:
    return goldassay.measure_leakage(make_item_specimen("preferences", 3000, 0, clean=True).table)


def answers(shares: dict[str, float], **named: Any) -> pl.DataFrame:
    """Scores of 2,000 answers by each model."""
    rng = np.random.default_rng(0)
    ids = [f"i{number}" for number in range(2000)]
    scored = [{"model": model, "score": (rng.random(2000) < share).astype(int)} for model, share in shares.items()]
    return pl.concat([pl.DataFrame({"item": ids, **each, **named}) for each in scored])


def board() -> Report:
    return goldassay.audit(answers({"a": 0.3, "b": 0.5, "c": 0.7, "d": 0.9}))


def runs() -> Report:
    rng = np.random.default_rng(0)
    gold, is_right = rng.integers(0, 2, 3000), rng.random(3000) < 0.8
    said = [np.where(is_right ^ (rng.random(3000) < 0.01), gold, 1 - gold) for _ in range(6)]
    own = {"model": "m", "dataset": "d", "example_id": [f"i{number}" for number in range(3000)], "label": gold}
    return goldassay.audit(pl.concat([pl.DataFrame({**own, "seed": n, "prediction": e}) for n, e in enumerate(said)]))


CLEAN = {
    texts: {"artifacts"},
    items: {"leakage"},
    preferences: {"leakage"},
    board: {"answered"},
    runs: {"instability", "answered"},
}


@pytest.mark.parametrize("kind", CLEAN, ids=[kind.__name__ for kind in CLEAN])
def test_a_clean_set_is_called_sound(kind: Any) -> None:
    verdicts = kind().verdicts
    assert {name for name, each in verdicts.items() if each["verdict"] == "sound"} == CLEAN[kind]
    assert not {each["verdict"] for each in verdicts.values()} & {"caution", "unsound"}
