"""Checkpoints of transformers: families, limits, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from goldassay.core.errors import InputError
from goldassay.lab.models import find_network
from goldassay.lab.models.configuration import Task
from goldassay.lab.models.layers import Dropout
from goldassay.lab.models.transformer import Network, Sizes
from tests.lab.models.network_cases import texts_of, tiny_checkpoint
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order

TASK = Task(("premise", "hypothesis"), ("entailment", "neutral", "contradiction"))


def test_a_head_of_another_size_is_replaced(tmp_path):
    data = made_pairs(12)
    place = tiny_checkpoint(tmp_path, data, num_labels=2)
    network = Network.build(TASK, texts_of(data), Sizes(), str(place))
    assert network(network.collate(network.encode(texts_of(data)), np.arange(3))).shape == (3, 3)


def test_a_head_for_numbers(tmp_path):
    import torch

    from goldassay.lab.training.configured import relevances

    data = made_pairs(12)
    place = tiny_checkpoint(tmp_path, data, num_labels=3)
    task = Task(TASK.roles, (), kind="number")
    network = Network.build(task, texts_of(data), Sizes(), str(place)).eval()
    batch = network.collate(network.encode(texts_of(data)), np.arange(3))
    assert network(batch).shape == (3, 1)
    network.save_assets(tmp_path)
    again = Network.load(task, Sizes(), tmp_path).eval()
    assert again.model.config.problem_type == "regression"
    again.load_state_dict(network.state_dict())
    with torch.no_grad():
        assert torch.equal(again(batch), network(batch))
        # Of a number there is no class: what moves is the number itself.
        streams = network.embed(batch)
        torch.testing.assert_close(network.classify(network.represent_streams(streams, batch)), network(batch))
    found = relevances(network, network.encode(texts_of(data)), data.text_columns, torch.device("cpu"))
    assert all(values.max() > 0 for role in found.values() for values in role.values if values.size)


def test_the_checkpoints_limit_goes_before_the_settings(tmp_path):
    place = tiny_checkpoint(tmp_path, made_pairs(12), max_positions=16)
    network = Network.build(TASK, (), Sizes(max_tokens=128), str(place))
    assert network.max_tokens == 16


@pytest.mark.parametrize("missing", ["tokenizer.json", "config.json", "model.safetensors"])
def test_an_incomplete_checkpoint_is_refused_by_name(tmp_path, missing):
    place = tiny_checkpoint(tmp_path, made_pairs(12))
    (place / missing).unlink()
    with pytest.raises(InputError, match="tiny-bert") as caught:
        Network.build(TASK, (), Sizes(), str(place))
    assert "\n" not in str(caught.value)
    if missing == "tokenizer.json":
        assert "no tokenizer" in str(caught.value)


def test_a_checkpoint_that_cannot_classify_is_refused_by_its_kind(tmp_path):
    place = tiny_checkpoint(tmp_path, made_pairs(12))
    (place / "config.json").write_text('{"model_type": "clip"}')
    with pytest.raises(InputError, match=in_order("tiny-bert:", "kind 'clip'", "cannot classify")):
        Network.build(TASK, (), Sizes(), str(place))


def test_more_than_two_texts_are_refused(tmp_path):
    place = tiny_checkpoint(tmp_path, made_pairs(12))
    network = Network.build(Task(("a", "b", "c"), ("x", "y")), (), Sizes(), str(place))
    with pytest.raises(InputError, match="one text or two"):
        network.encode((["a"], ["b"], ["c"]))


def test_names_and_places(tmp_path):
    assert find_network("bilstm") == "bilstm"
    with pytest.raises(InputError, match="no checkpoint"):
        find_network(str(tmp_path))
    assert find_network(str(tiny_checkpoint(tmp_path, made_pairs(12)))) == "transformer"
    assert find_network("google-bert/bert-base-uncased") == "transformer"
    for wrong in ("bilstmm", str(tmp_path / "none"), "a b/c"):
        with pytest.raises(InputError):
            find_network(wrong)


@pytest.mark.parametrize("all_words", [False, True])
def test_a_step_moves_the_word_pieces_of_its_batch_or_all_as_published(tmp_path, all_words):
    import torch

    from goldassay.lab.models.configuration import Recipe
    from goldassay.lab.training.optimizers import build_optimizer

    data = made_pairs(12)
    place = tiny_checkpoint(tmp_path, data, num_labels=3)
    network = Network.build(TASK, texts_of(data), Sizes(all_words=all_words), str(place))
    table = network.model.get_input_embeddings().weight
    optimizer = build_optimizer([network], Recipe(1, 1, 0.01, weight_decay=0.1))
    batch = network.collate(network.encode(texts_of(data)), np.arange(2))
    before = table.detach().clone()
    torch.nn.functional.cross_entropy(network(batch), torch.tensor([0, 1])).backward()
    optimizer.step(0.01)
    moved = (table != before).any(1).nonzero().squeeze(1).tolist()
    in_batch = set(batch["tokens"][batch["real"] > 0].tolist())
    # Weight decay moves every row but that of padding, which is 0.
    assert set(moved) == (set(range(len(table))) - {network.tokenizer.pad_token_id} if all_words else in_batch)
    assert Network.configurations["published"].sizes.all_words is True


def test_dropouts_are_ours_at_the_checkpoints_rates(tmp_path):
    import torch

    data = made_pairs(12)
    network = Network.build(TASK, texts_of(data), Sizes(dropout=0.25), str(tiny_checkpoint(tmp_path, data)))
    found = [module for module in network.modules() if isinstance(module, torch.nn.Dropout)]
    assert found
    assert all(type(each) is Dropout and each.p == 0.25 for each in found)
