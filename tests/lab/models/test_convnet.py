"""Convolutions against a loop over filters and places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models import load_network
from goldassay.lab.models.compared_sentences import join
from goldassay.lab.models.configuration import Task
from goldassay.lab.models.sequences import Layout
from tests.lab.models.network_cases import SMALL, small_network, texts_of
from tests.lab.training.made_data import made_pairs


def test_a_filter_gives_its_largest_response_at_any_word(tmp_path):
    network = small_network("convnet", tmp_path)
    texts = [network.vectors.weight[tokens].detach() for tokens in ([2, 3, 4, 5, 6, 7], [4, 2], [])]
    lengths = torch.tensor([len(text) for text in texts])
    with torch.no_grad():
        layout = Layout(lengths, (6,))
        found = network.encode_words(layout.filled(torch.cat(texts)), layout)
    for row, text in enumerate(texts):
        wanted = []
        for convolution in network.filters:
            weight, bias = convolution.weight.detach(), convolution.bias.detach()
            for number in range(weight.shape[0]):
                best = 0.0
                for start in range(len(text)):
                    reached = range(start, min(start + weight.shape[2], len(text)))
                    response = float(bias[number]) + sum(float(weight[number, :, i - start] @ text[i]) for i in reached)
                    best = max(best, response)
                wanted.append(best)
        np.testing.assert_allclose(found[row].numpy(), wanted, rtol=1e-4, atol=1e-6)


def test_an_mlp_stands_between_the_filters_and_the_classifier():
    """The paper's "fed into an MLP": h = ReLU(W s + b) of what Kim's network classifies by itself."""
    data = made_pairs()
    kind = load_network("convnet")
    desk = kind.configurations["desk"].replaced({**SMALL["convnet"], "hidden": 5, "dropout": 0.0}).sizes
    torch.manual_seed(0)
    network = kind.build(Task(data.text_columns, data.label_names), texts_of(data), desk, "convnet").eval()
    batch = network.collate(network.encode(texts_of(data)), np.arange(6))
    with torch.no_grad():
        joined = join(network.sentences(batch))
        hidden = torch.relu(joined @ network.hidden.weight.T + network.hidden.bias)
        torch.testing.assert_close(network.represent(batch), hidden)
        torch.testing.assert_close(network(batch), network.classifier(hidden))
    assert network.hidden.weight.shape == (5, 4 * 3 * 8)
    alone = kind.build(Task(data.text_columns, data.label_names), texts_of(data), replace(desk, hidden=None), "convnet")
    assert alone.hidden is None
