"""What each size of the study trains, counted by hand from the paper's protocol."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from goldassay.core.settings import TrainingSettings
from goldassay.lab.papers import artifacts
from goldassay.lab.papers.artifacts.protocol import BESIDE, OF_THE_PAPER, RANDOM
from goldassay.lab.papers.recipe import PRETRAINED
from goldassay.lab.papers.sources import known_sources
from goldassay.lab.training.configured import settings_of
from goldassay.lab.training.objectives import load_objective


def runs(size: str) -> Counter[tuple[str, str]]:
    """Runs by training set, samples taken together, and model."""
    found: Counter[tuple[str, str]] = Counter()
    for training in artifacts.SCALES[size].trainings:
        part = training.train.rsplit(" ", 1)[0] if RANDOM in training.train else training.train
        seeds = training.seeds if isinstance(training.seeds, int) else len(training.seeds)
        for model in training.models:
            found[part, model] += seeds
    return found


def test_the_printed_protocol():
    found = runs("paper")
    networks = ("InferSent", "DAM", "ESIM")
    for corpus, threshold, model in product(("SNLI", "MultiNLI"), (0.5, 0.6, 0.7, 0.8), networks):
        assert found.pop((f"{corpus} train debias {threshold}", model)) == 5
        assert found.pop((f"{corpus} train rand {threshold}", model)) == 5 * 3
    for corpus in ("SNLI", "MultiNLI"):
        for model in (*networks, "BERT", "XLNet", "RoBERTa", *OF_THE_PAPER, *BESIDE):
            assert found.pop((f"{corpus} train", model)) == 5
    assert not found


def test_the_desk_has_three_of_each():
    found = runs("desk")
    assert set(found.values()) == {3}
    parts = {part for part, _ in found}
    assert parts == {
        "SNLI train", "SNLI train debias 0.6", "SNLI train debias 0.8", "SNLI train rand 0.6", "SNLI train rand 0.8",
        "MultiNLI train", "MultiNLI train debias 0.7", "MultiNLI train rand 0.7",
    }  # fmt: skip
    assert found["SNLI train", PRETRAINED] == 3


def test_no_seed_stands_for_two_runs():
    for size in artifacts.SCALES:
        seen = set()
        for training in artifacts.SCALES[size].trainings:
            seeds = range(training.seeds) if isinstance(training.seeds, int) else training.seeds
            for key in product((training.train,), training.models, seeds):
                assert key not in seen
                seen.add(key)


@pytest.mark.parametrize("size", ["smoke", "desk", "paper"])
def test_every_setting_is_known(size: str):
    scale = artifacts.SCALES[size]
    for training in scale.trainings:
        for model in training.models:
            given = TrainingSettings.model_validate({**training.options, **training.of.get(model, {})})
            if given.objective is not None:
                changes = given.objective_changes or {}
                settings_of(given.objective, changes)
                assert given.bias is not None or not changes.keys() & load_objective(given.objective).of_bias
            assert given.dev is None or given.dev in scale.sets
            assert given.vectors is None or given.vectors in scale.files
    assert all(place in known_sources() for place in scale.files.values())


def test_adversaries_are_as_printed():
    by_corpus = {}
    for training in artifacts.SCALES["paper"].trainings:
        if "dInferSent+Guidance+Reweight" in training.models:
            by_corpus[training.train] = settings_of(
                "adversarial", training.of["dInferSent+Guidance+Reweight"]["objective_changes"]
            )
    for corpus, gamma, phi in (("SNLI", 3, 0.15), ("MultiNLI", 1, 0.1)):
        found = by_corpus[f"{corpus} train"]
        assert (found.gamma, found.phi, found.step, found.alpha1, found.alpha2) == (gamma, phi, 0.5, 5, 5)
        assert (found.threshold, found.discriminators, found.reweight, found.cap) == (0.7, 2, True, float("inf"))
