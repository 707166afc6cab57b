"""Our optimizers against torch's."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.configuration import Recipe
from goldassay.lab.training.optimizers import TouchedRows, build_optimizer


def network(seed: int = 0):
    torch.manual_seed(seed)
    return torch.nn.ModuleList(
        [torch.nn.EmbeddingBag(20, 4, mode="sum", sparse=True), torch.nn.Linear(4, 3), torch.nn.LayerNorm(3)]
    ).double()


def backward(modules, step):
    torch.manual_seed(100 + step)
    table, linear, norm = modules
    rows = torch.randint(0, 20, (6, 3))
    norm(torch.tanh(linear(table(rows)))).square().mul(torch.rand(6, 3).double()).sum().backward()


def torchs(kind, modules, rate, decay):
    table, linear, norm = modules
    dense = [linear.weight, linear.bias, norm.weight, norm.bias]
    if kind == "adam":
        groups = [{"params": dense[:1], "weight_decay": decay}, {"params": dense[1:], "weight_decay": 0.0}]
        return [torch.optim.AdamW(groups, lr=rate), torch.optim.SparseAdam([table.weight], lr=rate)]
    kinds = {"adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}
    return [kinds[kind]([*dense, table.weight], lr=rate)]


@pytest.mark.parametrize(("kind", "decay"), [("adam", 0.0), ("adam", 0.1), ("adagrad", 0.0), ("sgd", 0.0)])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_it_moves_weights_as_torch_does(kind, decay, clip):
    ours, theirs = network(), network()
    optimizer = build_optimizer([ours], Recipe(1, 1, 0.01, optimizer=kind, weight_decay=decay))
    reference = torchs(kind, theirs, 0.01, decay)
    for step in range(12):
        for modules in (ours, theirs):
            modules.zero_grad()
            backward(modules, step)
        if clip is not None:
            optimizer.clip(clip)
            table = theirs[0].weight
            table.grad = table.grad.coalesce()
            grads = [p.grad._values() if p.grad.is_sparse else p.grad for p in theirs.parameters()]
            norm = torch.sqrt(sum(grad.square().sum() for grad in grads))
            for grad in grads:
                grad.mul_(min(1.0, clip / (float(norm) + 1e-6)))
        optimizer.step(0.01)
        for each in reference:
            each.step()
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_rows_that_are_not_counted_move_as_those_that_are(kind, clip, monkeypatch):
    """As an accelerator sums a sparse gradient: rows that came several times stay so."""
    near, far = network(), network()
    recipe = Recipe(1, 1, 0.01, optimizer=kind)
    for modules in (near, far):
        optimizer = build_optimizer([modules], recipe)
        for step in range(12):
            optimizer.zero_grad()
            backward(modules, step)
            if clip is not None:
                optimizer.clip(clip)
            optimizer.step(0.01)
        monkeypatch.setattr("goldassay.lab.training.optimizers.on_accelerator", lambda device: True)
    for mine, other in zip(near.parameters(), far.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-12)


def test_a_sum_without_a_count_is_that_of_torch():
    torch.manual_seed(0)
    gradient = torch.sparse_coo_tensor(torch.randint(0, 9, (1, 40)), torch.randn(40, 3).double(), (12, 3))
    found = TouchedRows._summed(gradient._indices()[0], gradient._values())
    dense = gradient.to_dense()
    torch.testing.assert_close(found.values, dense[found.rows])
    torch.testing.assert_close(found.counted().norm(), dense.norm())
    assert found.first.sum() == len(gradient.coalesce().indices()[0])


@pytest.mark.parametrize("kind", ["adam", "adagrad", "sgd"])
def test_restored_it_goes_on_bit_by_bit(kind):
    whole, halves = network(), network()
    recipe = Recipe(1, 1, 0.01, optimizer=kind)
    first, second = build_optimizer([whole], recipe), build_optimizer([halves], recipe)
    for step in range(6):
        if step == 3:
            kept = {name: value.clone() for name, value in second.tensors().items()}
            second = build_optimizer([halves], recipe)
            second.restore(kept)
        for modules, optimizer in ((whole, first), (halves, second)):
            optimizer.zero_grad()
            backward(modules, step)
            optimizer.step(0.01)
    for mine, other in zip(whole.parameters(), halves.parameters(), strict=True):
        assert torch.equal(mine, other)
