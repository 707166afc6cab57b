"""Conclusions from made-up answers: each standing, and the right models behind each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.lab.papers.artifacts import of_debiasing, of_models, standing
from goldassay.lab.papers.artifacts.protocol import EASY, FULL, HARD, Accuracies, Trained
from tests.stated import says

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.lab.papers.recipe import Conclusion
    from tests.lab.papers.artifacts.conftest import Made

_N = 2000
_MASKS = {FULL: np.ones(_N, bool), EASY: np.arange(_N) < 500, HARD: np.arange(_N) >= _N - 500}
PLAIN, DEBIASED, RANDOM = (
    Trained("InferSent"),
    Trained("InferSent", "0.8", "debias"),
    Trained("InferSent", "0.8", "rand"),
)


def answers(easy: float, other: float, hard: float, seed: int) -> NDArray[np.float64]:
    """Three runs alike, so that it is examples alone that vary, right at these rates."""
    rates = np.where(_MASKS[EASY], easy, np.where(_MASKS[HARD], hard, other))
    return np.tile(np.where(np.random.default_rng(seed).random(_N) < rates, 1.0, 0.0), (3, 1))


def found(rates: dict[Trained, tuple[float, float, float]], *, apart: bool = False) -> dict[str, Conclusion]:
    """Conclusions from models that find the same examples hard, or each others of its own."""
    accuracies = Accuracies(
        {model: answers(*rate, seed if apart else 0) for seed, (model, rate) in enumerate(rates.items())}, _MASKS
    )
    every = [*of_models(accuracies), *of_debiasing(accuracies)]
    return {each.name: each for each in every}


@pytest.mark.parametrize(
    ("low", "high", "than", "expected"),
    [
        (0.1, 0.2, 0, "held"),
        (-0.2, -0.1, 0, "did not hold"),
        (-0.1, 0.1, 0, "not shown"),
        (0.1, 0.2, 0.3, "did not hold"),
        (0.1, 0.4, 0.3, "not shown"),
    ],
)
def test_standings(low: float, high: float, than: float, expected: str):
    assert standing(low, high, than) == expected


def test_a_paper_that_is_right():
    said = found(
        {
            PLAIN: (0.97, 0.8, 0.5),
            DEBIASED: (0.8, 0.75, 0.6),
            RANDOM: (0.97, 0.8, 0.45),
            Trained("dInferSent"): (0.9, 0.78, 0.6),
            Trained("InferSent+Guidance"): (0.95, 0.8, 0.62),
            Trained("dInferSent+Guidance"): (0.85, 0.75, 0.7),
            Trained("dInferSent+Guidance+Reweight"): (0.75, 0.72, 0.8),
        }
    )
    assert {name: each.standing for name, each in said.items()} == dict.fromkeys(
        ("Easy and hard", "Without patterns", "Hard without patterns", "Price of removal", "Adversary",
         "Guided weights", "Guided adversary", "Reweighting"),
        "held",
    )  # fmt: skip
    assert said["Adversary"].value == pytest.approx(0.1, abs=0.05)
    assert said["Guided adversary"].value == pytest.approx(0.1, abs=0.05)
    assert said["Without patterns"].value == pytest.approx(-0.32, abs=0.05)
    assert said["Price of removal"].value < 0
    assert all(each.low < each.value < each.high for each in said.values())


def test_a_paper_that_is_wrong():
    said = found(
        {
            PLAIN: (0.5, 0.8, 0.9),
            DEBIASED: (0.97, 0.95, 0.4),
            RANDOM: (0.7, 0.8, 0.6),
            Trained("dInferSent"): (0.5, 0.8, 0.7),
            Trained("InferSent+Guidance"): (0.5, 0.8, 0.7),
            Trained("dInferSent+Guidance"): (0.5, 0.8, 0.5),
            Trained("dInferSent+Guidance+Reweight"): (0.5, 0.8, 0.3),
        }
    )
    assert {each.standing for each in said.values()} == {"did not hold"}


def test_what_cannot_be_told():
    same = (0.8, 0.8, 0.8)
    models = (PLAIN, DEBIASED, RANDOM, *(Trained(name) for name in ("dInferSent", "InferSent+Guidance")))
    said = found(dict.fromkeys(models, same), apart=True)
    shown = {name: each.standing for name, each in said.items()}
    assert {shown[name] for name in ("Without patterns", "Adversary", "Guided weights")} == {"not shown"}
    assert shown["Guided adversary"] == shown["Reweighting"] == "not measured"
    assert said["Reweighting"].value is None


@pytest.mark.parametrize(("n_hard", "standing"), [(9, "not measured"), (10, "held")])
def test_a_handful_of_hard_examples_says_nothing(n_hard: int, standing: str):
    masks = _MASKS | {HARD: np.arange(_N) >= _N - n_hard}
    right = np.where(masks[HARD], 0.0, 1.0)
    accuracies = Accuracies({PLAIN: np.tile(right, (3, 1))}, masks)
    (gap,) = of_models(accuracies)
    assert (gap.name, gap.standing) == ("Easy and hard", standing)
    (adversary, *_) = of_debiasing(Accuracies({PLAIN: right[None], Trained("dInferSent"): right[None]}, masks))
    assert (adversary.standing == "not measured") == (n_hard < 10)
    if n_hard < 10:
        assert gap.evidence == says("500 are easy", "9 hard", "10 of each")


def test_no_runs_at_all():
    said = found({})
    assert {each.standing for each in said.values()} == {"not measured"}
    assert "Without patterns" not in said


def test_easy_and_hard_leaves_out_what_was_debiased():
    rates = {PLAIN: (0.9, 0.8, 0.5), Trained("dInferSent"): (0.5, 0.8, 0.9), Trained("DAM"): (0.9, 0.8, 0.7)}
    said = found(rates)["Easy and hard"]
    rows = [answers(*rates[model], 0) for model in (PLAIN, Trained("DAM"))]
    assert said.value == pytest.approx(
        np.mean([each[:, _MASKS[EASY]] for each in rows]) - np.mean([each[:, _MASKS[HARD]] for each in rows])
    )
    assert "dInferSent" not in said.evidence


def test_on_the_specimen_patterns_tell(made: Made):
    """Its flaws are certified: patterns that go with a label."""
    said = {each.name: each for each in made.findings.conclusions}
    assert said["SNLI: Patterns"].standing == "held"
    assert said["SNLI: Patterns"].value > 0.6
    assert said["SNLI: Hypothesis alone"].value > 0
