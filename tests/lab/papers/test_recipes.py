"""What every study declares can be trained: its networks and the settings that it gives them are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from goldassay.core.progress import Steps
from goldassay.core.settings import TrainingSettings
from goldassay.lab.models import load_network
from goldassay.lab.models.question_answering import Network as QuestionAnswering
from goldassay.lab.papers.recipe import PRETRAINED, Workplace, runnable
from goldassay.lab.papers.running import find_recipe, list_recipes
from goldassay.lab.papers.shift.sets import TRANSFORMERS
from goldassay.lab.training.many_seeds import full_name

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.lab.models.configuration import Kind
    from goldassay.lab.papers.recipe import Training

CHECKPOINT = "google-bert/bert-base-uncased"


def kind_of(train: str) -> Kind:
    return "span" if train.startswith(("SQuAD", "ReCoRD")) else "label"


def test_the_reader_of_the_shift_study_learns_records_passages_whole():
    for size in ("desk", "paper"):
        trainings = [each for each in find_recipe("shift").SCALES[size].trainings if "DocQA" in each.models]
        assert {each.train for each in trainings} == {"ReCoRD CNN train", "ReCoRD Daily Mail train"}
        for training in trainings:
            assert not {"average", "GloVe average"} & set(training.models)
            for label in training.models:
                given = {**training.options, **training.of.get(label, {})}
                assert "max_tokens" not in (given["changes"] or {})


@pytest.mark.parametrize("study", list_recipes())
@pytest.mark.parametrize("size", ["smoke", "desk", "paper"])
def test_trainings_are_of_known_networks_and_settings(study: str, size: str):
    recipe = find_recipe(study)
    if size not in recipe.SCALES:
        pytest.skip(f"{study} has no {size} scale")
    for training in (*recipe.SCALES[size].trainings, *recipe.SCALES[size].grid):
        for label, network in training.models.items():
            given = TrainingSettings.model_validate({**training.options, **training.of.get(label, {})})
            model = load_network(CHECKPOINT if network == PRETRAINED else full_name(network), kind_of(training.train))
            settings = model.configurations[given.configuration or "desk"]
            changed = settings.replaced(given.changes or {})
            if issubclass(model, QuestionAnswering):
                room = changed.sizes.max_tokens - changed.sizes.max_question - 3
                assert room > changed.sizes.stride, f"{label} of {training.train} cannot move its window"
            assert changed.recipe.epochs >= 1
            stops = changed.recipe.patience or changed.recipe.schedule == "dev_drops"
            assert given.dev is not None or not stops, f"{label} of {training.train} is stopped by no dev set"
            assert given.vectors is None or (given.vectors in recipe.SCALES[size].files and model.takes_vectors)


@pytest.mark.parametrize(
    ("study", "checkpoints"),
    [("instability", {"BiLSTM": 20, "DAM": 20, "ESIM": 20, PRETRAINED: 4}), ("crossing", {"plain": 10})],
)
def test_a_desk_has_as_many_checkpoints_as_it_says(study: str, checkpoints: dict[str, int]):
    found = {}
    for training in find_recipe(study).SCALES["desk"].trainings:
        for label, network in training.models.items():
            given = TrainingSettings.model_validate({**training.options, **training.of.get(label, {})})
            if given.checkpoint_every is not None:
                model = load_network(CHECKPOINT if network == PRETRAINED else full_name(network))
                recipe = model.configurations["desk"].replaced(given.changes or {}).recipe
                assert given.rows is not None
                steps = -(-given.rows // recipe.batch_size) * recipe.epochs
                # What comes after the last of them belongs to it.
                found[label] = round(steps / given.checkpoint_every)
    assert found == checkpoints


def test_the_printed_protocol_has_as_many_checkpoints_as_the_paper():
    """About 117 of each network, whatever its batch and epochs: 500 steps of an ESIM would be 3,768."""
    from goldassay.lab.papers.running import checkpoint_steps

    rows = 942_069
    (training,) = [each for each in find_recipe("instability").SCALES["paper"].trainings if each.checkpoint_epochs]
    assert set(training.checkpoint_epochs) == set(training.models)
    for label, network in training.models.items():
        given = TrainingSettings.model_validate({**training.options, **training.of.get(label, {})})
        assert given.checkpoint_every is None
        recipe = load_network(full_name(network)).configurations["published"].replaced(given.changes or {}).recipe
        every = checkpoint_steps(network, given, rows, training.checkpoint_epochs[label])
        assert 100 <= -(-rows // recipe.batch_size) * recipe.epochs / every <= 180, label


def test_esim_of_the_printed_protocol_starts_from_glove():
    scale = find_recipe("instability").SCALES["paper"]
    (training,) = [each for each in scale.trainings if "ESIM" in each.models]
    assert training.of["ESIM"]["vectors"] in scale.files


def changes_of_training(training: Training, label: str) -> dict[str, Any]:
    given = {**training.options, **training.of.get(label, {})}
    return {**(given.get("changes") or {})}


def changes_of(study: str, label: str, train: str, size: str = "paper") -> dict[str, Any]:
    (training,) = [
        each for each in find_recipe(study).SCALES[size].trainings if each.train == train and label in each.models
    ]
    return changes_of_training(training, label)


@pytest.mark.parametrize(
    ("train", "tokens"),
    [("SST-2", 512), ("IMDb", 512), ("Yelp American", 512), ("Amazon Clothes", 512), ("STS-B Images", 128),
     ("MNLI Telephone", 128)],
)  # fmt: skip
def test_reviews_are_read_as_far_as_a_checkpoint_goes(train: str, tokens: int):
    """At 128 tokens 74 % of IMDb's reviews lose their end; a model of SST-2 is shown them, too."""
    for label in TRANSFORMERS:
        assert changes_of("shift", label, f"{train} train")["max_tokens"] == tokens
    words = changes_of("shift", "GloVe ConvNet", f"{train} train")
    assert ("cosine" in words) == (tokens == 128)
    assert words["hidden"] == 300
    assert "hidden" not in changes_of("shift", "GloVe average", f"{train} train")


def test_an_adversary_of_the_paper_has_an_encoder_for_each_sentence():
    for corpus in ("SNLI", "MultiNLI"):
        for label in ("dInferSent", "dInferSent+Guidance", "dInferSent+Guidance+Reweight"):
            assert changes_of("artifacts", label, f"{corpus} train") == {"separate": True}
        for label in ("InferSent", "InferSent+Guidance"):
            assert changes_of("artifacts", label, f"{corpus} train") == {}
    # Other sizes keep their own changes.
    assert changes_of("artifacts", "dInferSent", "SNLI train", "desk") == {"units": 256}


def test_esim_on_contextual_vectors_is_listed_and_needs_its_encoder(tmp_path: Path):
    scale = find_recipe("instability").SCALES["paper"]
    work = Workplace(tmp_path, scale, "paper", None, None, 0, Steps())
    _, missing = runnable(scale, work, lambda name: name != CHECKPOINT)
    lacking = {each.needs for each in missing if each.model == "ESIM+BERT-B"}
    assert lacking == {(CHECKPOINT,)}
    _, nothing = runnable(scale, work, lambda _: True)
    assert not [each for each in nothing if each.model == "ESIM+BERT-B"]
    assert changes_of("instability", "ESIM+BERT-B", "SNLI+MNLI") == {"encoder": CHECKPOINT}


def test_the_grid_of_learning_rates_is_the_printed_one():
    """Four beside the one of Table 2, for each training set and condition."""
    scale = find_recipe("leakage").SCALES["paper"]
    rates: dict[str, list[float]] = {}
    for training in (*scale.trainings, *scale.grid):
        (label,) = training.models
        rate = changes_of_training(training, label)["learning_rate"]
        rates.setdefault(training.train, []).append(rate)
        assert label == "fine-tuned" or label == f"fine-tuned at {rate:g}"
    assert len(rates) == len(scale.trainings) == 13
    assert {tuple(sorted(each)) for each in rates.values()} == {(5e-7, 1e-6, 5e-6, 1e-5, 5e-5)}


def test_the_grid_of_debiasing_is_the_printed_one():
    """16 of guided weights, 12 of adversaries and 64 of both, less the adversary that is trained anyhow."""
    found = find_recipe("artifacts").SCALES["paper"].grid
    assert [(each.train, each.seeds, len(each.models)) for each in found] == [
        ("SNLI train", 1, 16 + 11 + 64), ("MultiNLI train", 1, 16 + 11 + 64),
    ]  # fmt: skip
    own = found[0].of["dInferSent+Guidance+gamma=0.5+alpha=10+lambda=0.6"]
    assert own["objective_changes"] == {
        "gamma": 0.5, "alpha1": 10, "alpha2": 10, "threshold": 0.6, "discriminators": 2,
    }  # fmt: skip
    assert found[0].of["InferSent+Guidance+alpha=3+lambda=0.8"]["objective_changes"] == {"alpha2": 3, "threshold": 0.8}
    assert found[0].of["dInferSent+gamma=5+k=1"]["changes"] == {"separate": True}
    assert "dInferSent+gamma=3+k=2" not in found[0].models
    assert "dInferSent+gamma=1+k=2" not in found[1].models
