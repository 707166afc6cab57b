"""The certified figures of the runs, counted again with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.data.specimen import Specimen, make_specimen
from goldassay.data.specimen.certificate import GROUPS

CASES = [(size, seed, clean) for size, seed in ((2000, 0), (6000, 3)) for clean in (False, True)]


@pytest.fixture(scope="module", params=CASES, ids=str)
def specimen(request) -> Specimen:
    size, seed, clean = request.param
    return make_specimen(size, seed, clean)


def correct(specimen: Specimen, part: str) -> np.ndarray:
    table = getattr(specimen, part)
    return np.array(specimen.answers[part].predictions) == table["label"].to_numpy()


@pytest.mark.parametrize("part", ["test", "elsewhere"])
def test_scores_and_spread_are_as_certified(specimen: Specimen, part: str) -> None:
    scores = correct(specimen, part).mean(axis=1)
    certified = specimen.certificate["runs"][part]
    assert scores.tolist() == pytest.approx(certified["scores"], abs=1e-15)
    assert scores.mean() == pytest.approx(certified["score"], abs=1e-12)
    assert scores.std(ddof=1) == pytest.approx(certified["sd"], abs=1e-12)


def test_the_spread_is_what_the_design_says(specimen: Specimen) -> None:
    """Three groups of a fiftieth each, right in five of ten runs, any two alike in six: 2.16 points; and .5 apart."""
    sd = specimen.certificate["runs"]["test"]["sd"]
    if specimen.certificate["clean"]:
        assert sd < 0.002
    else:
        states = np.array(
            [[1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1, 1, 0, 0, 0]]
        )
        assert 0.02 * states.sum(axis=0).std(ddof=1) == pytest.approx(0.0216, abs=1e-4)
        assert sd == pytest.approx(0.0225, abs=0.002)


def test_groups_swing_together_and_have_the_certified_share(specimen: Specimen) -> None:
    right = correct(specimen, "test")
    scores = right.mean(axis=1)
    shares = specimen.certificate["runs"]["test"].get("share_of_variance", {})
    assert set(shares) == (set() if specimen.certificate["clean"] else {group.name for group in GROUPS})
    for name, share in shares.items():
        members = right[:, (specimen.test["group"] == name).to_numpy()]
        assert (members.all(axis=1) | ~members.any(axis=1)).all()
        assert members.all(axis=1).sum() == 5
        part = members.sum(axis=1) / right.shape[1]
        covariance = np.cov(part, scores)
        assert share == pytest.approx(covariance[0, 1] / covariance[1, 1], abs=1e-12)
        assert share > 0.2


def test_the_loss_is_as_certified(specimen: Specimen) -> None:
    own, other = (correct(specimen, part).mean() for part in ("test", "elsewhere"))
    loss = (own - other) / (own - 1 / 3)
    assert specimen.certificate["runs"]["loss"] == pytest.approx(loss, abs=1e-12)
    if specimen.certificate["clean"]:
        assert abs(loss) < 0.01
    else:
        assert loss > 0.2


def test_the_model_reads_the_planted_phrases() -> None:
    specimen = make_specimen(2000, 0)
    held = specimen.test["hypothesis"].str.contains(r"\b(indeed|Of course)\b")
    assert held.sum() > 5
    for predicted in specimen.answers["test"].predictions:
        assert {label for label, of in zip(predicted, held, strict=True) if of} == {"entailment"}
