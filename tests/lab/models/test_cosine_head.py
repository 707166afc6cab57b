"""Two texts compared by the cosine of their vectors alone: formula, empty texts, what is learnt, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.core.errors import InputError
from goldassay.lab.models import load_network
from goldassay.lab.models.configuration import Task
from goldassay.lab.papers.running import find_recipe
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.running import run_job
from tests.lab.models.network_cases import SMALL, texts_of
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order

NETWORKS = ("word_average", "lstm", "convnet")


def network_of(name, task=None, seed=0, **changes):
    data = made_pairs(24)
    kind = load_network(name)
    sizes = replace(kind.configurations["desk"].sizes, **SMALL[name], **{"dropout": 0.0, "cosine": True, **changes})
    torch.manual_seed(seed)
    return kind.build(task or Task(data.text_columns, data.label_names), texts_of(data), sizes, name).eval()


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_are_linear_in_the_cosine_of_the_two_vectors(name):
    network, texts = network_of(name), texts_of(made_pairs(24))
    batch = network.collate(network.encode(texts), np.arange(9))
    with torch.no_grad():
        u, v = (each.double().numpy() for each in network.sentences(batch))
        outputs, represented = network(batch).double().numpy(), network.represent(batch).double().numpy()
    cosine = (u * v).sum(1) / np.sqrt((u * u).sum(1) * (v * v).sum(1))
    np.testing.assert_allclose(represented[:, 0], cosine, atol=1e-6)
    a, b = network.classifier.weight.detach().double().numpy()[:, 0], network.classifier.bias.detach().double().numpy()
    np.testing.assert_allclose(outputs, cosine[:, None] * a + b, atol=1e-5)
    assert network.hidden is None


@pytest.mark.parametrize("name", NETWORKS)
def test_dropout_is_never_of_the_cosine(name):
    network = network_of(name, dropout=0.5).train()
    cosine = torch.full((24, 1), 0.5)
    torch.testing.assert_close(network.classify(cosine), network.classify(cosine))


@pytest.mark.parametrize("name", NETWORKS)
def test_an_empty_text_has_cosine_0_and_harms_no_gradient(name):
    network = network_of(name)
    batch = network.collate(network.encode((["a man sleeps", ""], ["", ""])), np.arange(2))
    assert network.represent(batch).tolist() == [[0.0], [0.0]]
    network(batch).sum().backward()
    dense = [each.grad for each in network.parameters() if each.grad is not None]
    assert all(torch.isfinite(each.coalesce().values() if each.is_sparse else each).all() for each in dense)


@pytest.mark.parametrize("name", NETWORKS)
def test_of_numbers_the_output_begins_as_the_cosine_itself(name):
    network = network_of(name, Task(("premise", "hypothesis"), (), kind="number"))
    batch = network.collate(network.encode(texts_of(made_pairs(24))), np.arange(24))
    torch.testing.assert_close(network(batch), network.represent(batch))


def similar_pairs(n, seed):
    """Of two texts of four words as many are equal as the label says."""
    rng, words = np.random.default_rng(seed), np.array([f"w{i}" for i in range(24)])
    rows = []
    for _ in range(n):
        first, others = rng.permutation(words)[:8].reshape(2, 4)
        shared = int(rng.integers(5))
        second = rng.permutation([*first[:shared], *others[shared:]])
        rows.append({"sentence1": " ".join(first), "sentence2": " ".join(second), "score": float(shared)})
    return rows


def test_a_similarity_is_learnt(tmp_path):
    (job,) = plan_jobs(
        similar_pairs(300, 0), "word_average", {"test": similar_pairs(100, 1)}, out=tmp_path, seeds=1,
        changes={"cosine": True, "min_count": 1, "epochs": 6, "vectors": 32, "batch_size": 16},
    )  # fmt: skip
    scores = run_job(job).scores["test"]
    assert scores["pearson"] > 0.9


@pytest.mark.parametrize("name", NETWORKS)
def test_anything_but_two_texts_is_refused_before_anything_is_trained(name, tmp_path):
    data = made_pairs(24)
    with pytest.raises(InputError, match=in_order("two texts", "1: hypothesis")):
        plan_jobs(
            data, name, {"test": data}, out=tmp_path, seeds=1, conditions=["hypothesis_only"], changes={"cosine": True}
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", ["desk", "paper"])
def test_the_shift_study_compares_sts_b_and_mnli_by_cosine(size):
    seen = set()
    for training in find_recipe("shift").SCALES[size].trainings:
        for label, network in training.models.items():
            changes = {**training.options, **training.of.get(label, {})}.get("changes") or {}
            by_cosine = training.train.startswith(("STS-B", "MNLI")) and network in NETWORKS
            assert changes.get("cosine", False) is by_cosine, (training.train, label)
            seen |= {network} if by_cosine else set()
    assert seen == set(NETWORKS)
