"""What every study declares can be trained: its networks and the settings that it gives them are known."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from goldassay.core.settings import TrainingSettings
from goldassay.models.registry import load_network
from goldassay.papers import find_recipe, list_recipes
from goldassay.papers.recipe import PRETRAINED
from goldassay.training.many_seeds import full_name

CHECKPOINT = "google-bert/bert-base-uncased"


@pytest.mark.parametrize("study", list_recipes())
@pytest.mark.parametrize("size", ["smoke", "desk", "paper"])
def test_trainings_are_of_known_networks_and_settings(study: str, size: str):
    recipe = find_recipe(study)
    if size not in recipe.SCALES:
        pytest.skip(f"{study} has no {size} scale")
    for training in recipe.SCALES[size].trainings:
        for label, network in training.models.items():
            given = TrainingSettings.model_validate({**training.options, **training.of.get(label, {})})
            model = load_network(CHECKPOINT if network == PRETRAINED else full_name(network))
            settings = model.configurations[given.configuration or "desk"]
            changed = settings.replaced(given.changes or {})
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
