"""The worlds of the benchmarks on preferences and judges hold the flaw that they are said to hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from benchmarks.verdicts.items import shuffled
from benchmarks.verdicts.judges import judged
from benchmarks.verdicts.preferences import made_pairs, rule_word
from goldassay.readers.preference_rules import measure_preference_rules


def test_the_longer_response_gains_the_share_that_was_planted() -> None:
    items = made_pairs(3000, "longer", 0.24, 0)
    effects = {each.rule: each.effect for each in measure_preference_rules(items)[0]}
    # Three standard errors.
    assert effects["more words"] == pytest.approx(0.24, abs=0.05)
    assert rule_word(items, 0) == "unsound"
    assert rule_word(shuffled(items, 0, None), 0) == "sound"


@pytest.mark.parametrize("flaw", ["none", "words"])
def test_no_rule_gains_without_a_flaw_that_rules_see(flaw: str) -> None:
    items = made_pairs(3000, flaw, 0.24, 1)
    assert max(abs(each.effect) for each in measure_preference_rules(items)[0]) < 0.05
    told = items.texts.str.contains(r"\bm\d+\b").to_numpy()
    assert told[~items.right].sum() == 0
    assert told[items.right].mean() == pytest.approx(0.24 if flaw == "words" else 0.0, abs=0.03)


@pytest.mark.parametrize("added", [0.0, 0.1, -0.2])
def test_the_seat_adds_what_was_planted(added: float) -> None:
    frame = judged(4000, added, 2, 0).with_columns(won=(pl.col("winner") == "x").cast(pl.Int64))
    by_order = frame.group_by("judge", "order").agg(pl.col("won").mean()).sort("judge", "order")["won"].to_numpy()
    first = by_order[::2] - by_order[1::2]
    assert first == pytest.approx(np.array([0.0, added]), abs=0.02)
