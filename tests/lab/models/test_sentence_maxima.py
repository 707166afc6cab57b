"""BiLSTM maxima compared: against plain torch, text by text, with shared and separate encoders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models import load_network
from goldassay.lab.models.configuration import Task
from tests.lab.models.network_cases import SMALL, texts_of
from tests.lab.training.made_data import made_pairs


def network_of(name="infersent", data=None, **changes):
    data = data or made_pairs()
    kind = load_network(name)
    sizes = replace(kind.configurations["desk"].sizes, **{**SMALL[name], **changes}, dropout=0.0)
    torch.manual_seed(0)
    return kind.build(Task(data.text_columns, data.label_names), texts_of(data), sizes, name)


def plain_maximum(network, words, encoder):
    """Of one text by itself; torch's own layers on a batch of one."""
    if not len(words):
        return torch.zeros(2 * network.sizes.units)
    vectors = network.vectors.weight[torch.from_numpy(words)]
    forwards = encoder.forwards(vectors[None])[0][0]
    backwards = encoder.backwards(vectors.flip(0)[None])[0][0]
    return torch.cat((forwards.amax(0), backwards.amax(0)))


@pytest.mark.parametrize(("separate", "n_encoders"), [(False, 1), (True, 2)])
def test_sentences_and_head_are_those_of_plain_torch(separate, n_encoders):
    network = network_of(separate=separate).eval()
    assert len(network.encoders) == n_encoders
    texts = (["there is a aab", "", "a"], ["some a aab", "never a abb maybe a", ""])
    encoded = network.encode(texts)
    batch = network.collate(encoded, np.arange(3))
    both = [
        torch.stack([plain_maximum(network, words.row(i), network.encoders[role % n_encoders]) for i in range(3)])
        for role, words in enumerate(encoded.words)
    ]
    for own, other in zip(network.sentences(batch), both, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-6)
    u, v = both
    joined = torch.cat((u, v, (u - v).abs(), u * v), dim=1)
    hidden = torch.tanh(joined @ network.hidden.weight.T + network.hidden.bias)
    logits = hidden @ network.classifier.weight.T + network.classifier.bias
    torch.testing.assert_close(network(batch), logits, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("separate", [False, True])
def test_what_moves_the_hypothesis_moves_the_premise_only_where_the_encoder_is_shared(separate):
    network = network_of(separate=separate)
    batch = network.collate(network.encode(texts_of(made_pairs(4))), np.arange(4))
    network.sentences(batch)[1].sum().backward()
    moved = [any(p.grad is not None and p.grad.any() for p in encoder.parameters()) for encoder in network.encoders]
    assert moved == ([False, True] if separate else [True])


def test_both_ways_through_give_the_same_gradients():
    network = network_of(separate=True)
    batch = network.collate(network.encode(texts_of(made_pairs(8))), np.arange(8))
    gradients = []
    for represented in (network.represent(batch), network.represent_streams(network.embed(batch), batch)):
        network.zero_grad()
        torch.nn.functional.cross_entropy(network.classify(represented), torch.arange(8) % 3).backward()
        gradients.append({name: weight.grad.to_dense().clone() for name, weight in network.named_parameters()})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], rtol=1e-4, atol=1e-6)


def test_one_text_has_one_encoder_either_way():
    data = made_pairs(8)
    texts = (data.texts("hypothesis"),)
    for separate in (False, True):
        kind = load_network("infersent")
        sizes = replace(kind.configurations["desk"].sizes, **{**SMALL["infersent"], "separate": separate})
        network = kind.build(Task(("hypothesis",), data.label_names), texts, sizes, "infersent")
        assert len(network.encoders) == 1
        assert network(network.collate(network.encode(texts), np.arange(8))).shape == (8, 3)


def test_published_sizes_are_those_of_the_paper():
    configuration = load_network("infersent").configurations["published"]
    sizes, recipe = configuration.sizes, configuration.recipe
    assert (sizes.vectors, sizes.units, sizes.hidden, sizes.separate, sizes.dropout) == (300, 2048, 512, False, 0.0)
    assert (recipe.optimizer, recipe.learning_rate, recipe.schedule) == ("sgd", 0.1, "dev_drops")
    assert (recipe.batch_size, recipe.epochs, recipe.clip) == (64, 20, 5.0)
