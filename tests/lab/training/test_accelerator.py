"""The training loop as an accelerator runs it: what it learns, and that no step waits."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.configuration import Recipe, Task
from goldassay.lab.models.network import Batch
from goldassay.lab.models.transformer import Network as Transformer
from goldassay.lab.models.transformer import Sizes
from goldassay.lab.training.job import Seeds
from goldassay.lab.training.loop import Examples, Loop, prefetched
from goldassay.lab.training.objectives import CrossEntropy
from goldassay.lab.training.precision import open_accelerator
from tests.lab.models.network_cases import SMALL, small_network, texts_of, tiny_checkpoint
from tests.lab.training.made_accelerator import DEVICE, WAITS, made_accelerator
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# 21 steps an epoch: one that is behind the losses of 20 steps, which are looked at together.
N, BATCH_SIZE = 168, 8
CPU = torch.device("cpu")


def loop_on(accelerator: Any, name: str, folder: Path, network: Any = None, **options: Any) -> Loop:
    data = made_pairs(N)
    # Without dropout, whose numbers a processor draws in its own way.
    network = small_network(name, folder, n=N) if network is None else network
    encoded = network.encode(texts_of(data))
    recipe = Recipe(1, BATCH_SIZE, 1e-2, weight_decay=0.01, clip=1.0, schedule="linear")
    weights = np.linspace(0.5, 1.5, N, dtype=np.float32)
    examples = Examples(encoded, data.labels(), weights)
    return Loop(network, CrossEntropy(), recipe, Seeds.varying(0), examples, accelerator, **options)


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with made_accelerator(monkeypatch) as made:
        yield made


def waits_of_20_steps(steps: Iterator[Any]) -> list[str]:
    WAITS.seen.clear()
    for _ in range(20):
        next(steps)
    return list(WAITS.seen)


# The slower ones wait by the same rules of the loop; each is tried in the slow tests.
SLOWER = {"contextual_esim", "esim", "infersent", "lstm"}
NETWORKS = [pytest.param(name, marks=pytest.mark.slow) if name in SLOWER else name for name in SMALL]


@pytest.mark.parametrize("name", NETWORKS)
def test_of_20_steps_one_waits_and_all_learn_what_a_processor_learns(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The passes that only an accelerator takes, against those that only a processor takes."""
    near = loop_on(open_accelerator("cpu", "float32"), name, tmp_path, keep_dynamics=True)
    (of_near,) = [reached for reached in near.run() if reached.epoch_ended]
    outputs = near.evaluate(near.examples.encoded)
    assert not np.allclose(outputs, of_near.dynamics, atol=0.05), "nothing was learnt"
    network = small_network(name, tmp_path, n=N)
    with made_accelerator(monkeypatch) as accelerator:
        far = loop_on(accelerator, name, tmp_path, network, keep_dynamics=True)
        steps = far.run()
        assert waits_of_20_steps(steps) == ["copy to the processor"]
        of_far = next(steps)
        np.testing.assert_allclose(of_far.dynamics, of_near.dynamics, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(far.evaluate(far.examples.encoded), outputs, rtol=2e-3, atol=2e-3)


SABOTAGES: dict[str, Callable[[Loop, Any], None]] = {
    "a loss that is read": lambda loop, outcome: outcome.loss.item(),
    "logits on the processor": lambda loop, outcome: outcome.logits.cpu(),
    "a mask": lambda loop, outcome: outcome.logits[outcome.logits > 0],
    "a number from the processor": lambda loop, outcome: torch.tensor([1.0]).to(DEVICE),
}


@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_what_waits_at_each_step_is_seen(accelerator: Any, sabotage: str, tmp_path: Path):
    loop = loop_on(accelerator, "ngram_average", tmp_path)
    done = loop.objective.forward

    def sabotaged(*arguments: Any) -> Any:
        outcome = done(*arguments)
        SABOTAGES[sabotage](loop, outcome)
        return outcome

    loop.objective.forward = sabotaged
    assert len(waits_of_20_steps(loop.run())) == 21


@pytest.mark.parametrize("family", ["albert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta"])
def test_families_whose_mask_is_made_beforehand_see_what_they_saw(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = made_pairs(24)
    # As small as usual, fresh weights answer the same to everything, whatever the mask.
    place = str(tiny_checkpoint(tmp_path, data, family, initializer_range=0.3))
    network = Transformer.build(Task(data.text_columns, data.label_names), texts_of(data), Sizes(), place).eval()
    encoded = network.encode(texts_of(data))
    batches = [network.collate(encoded, rows) for rows in (np.arange(24), np.zeros(3, np.int64))]
    assert [bool(batch["real"].all()) for batch in batches] == [False, True]
    with torch.no_grad():
        wanted = [network(batch) for batch in batches]
        blind = network(Batch({**batches[0].tensors, "real": torch.ones_like(batches[0]["real"])}, 24, (1,)))
        assert not torch.allclose(blind, wanted[0], atol=1e-3), "the mask has no effect"
        with made_accelerator(monkeypatch) as accelerator:
            far = network.to(accelerator.device)
            sent = [batch.to(accelerator.device) for batch in batches]
            WAITS.seen.clear()
            found = [far(batch) for batch in sent]
            assert WAITS.seen == []
            for mine, other in zip(found, wanted, strict=True):
                torch.testing.assert_close(mine.cpu(), other, rtol=1e-4, atol=1e-5)


def test_a_state_of_an_accelerator_is_taken_up_again(accelerator: Any, tmp_path: Path):
    whole, halves = (loop_on(accelerator, "ngram_average", tmp_path, keep_dynamics=True) for _ in range(2))
    for _ in whole.run():
        pass
    for reached in halves.run():
        if reached.step == 7:
            break
    kept = {name: tensor.detach().clone() for name, tensor in halves.tensors().items()}
    again = loop_on(accelerator, "ngram_average", tmp_path, keep_dynamics=True)
    again.restore(halves.position, kept)
    for _ in again.run():
        pass
    assert again.dynamics is not None
    np.testing.assert_array_equal(again.dynamics, whole.dynamics)


def test_logits_that_nobody_asked_for_are_not_kept(tmp_path: Path):
    loop = loop_on(open_accelerator("cpu", "float32"), "ngram_average", tmp_path)
    assert all(reached.dynamics is None for reached in loop.run())
    assert "dynamics" not in loop.tensors()


@pytest.mark.parametrize("room", [1, 5, 64, 1000])
def test_evaluation_finds_the_largest_batch_that_fits_and_keeps_it(
    accelerator: Any, room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    loop = loop_on(accelerator, "ngram_average", tmp_path)
    encoded = loop.examples.encoded
    wanted = loop.evaluate(encoded)
    sizes: list[int] = []
    done = loop.network.evaluate

    def evaluate(batch: Batch, reduced: Any) -> Any:
        sizes.append(batch.size)
        if batch.size > room:
            raise torch.OutOfMemoryError("the made accelerator is out of memory")
        return done(batch, reduced)

    monkeypatch.setattr(loop.network, "evaluate", evaluate)
    np.testing.assert_allclose(loop.evaluate(encoded), wanted, rtol=1e-5, atol=1e-6)
    assert room // 2 < max(size for size in sizes if size <= room) <= room or room > N
    assert sum(size for size in sizes if size <= room) == N
    sizes.clear()
    loop.evaluate(encoded)
    assert max(sizes) <= room, "what was found is kept"


def test_other_failures_of_an_evaluation_are_not_taken_for_a_full_memory(
    accelerator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    loop = loop_on(accelerator, "ngram_average", tmp_path)
    calls: list[int] = []

    def evaluate(batch: Batch, reduced: Any) -> Any:
        calls.append(batch.size)
        raise RuntimeError("a kernel failed")

    monkeypatch.setattr(loop.network, "evaluate", evaluate)
    with pytest.raises(RuntimeError, match="a kernel failed"):
        loop.evaluate(loop.examples.encoded)
    assert calls == [N]


def test_a_processor_evaluates_in_batches_as_measured(tmp_path: Path):
    loop = loop_on(open_accelerator("cpu", "float32"), "transformer", tmp_path)
    assert loop.evaluation_batch == loop.network.evaluation_batch == 64


@pytest.mark.parametrize("device", [CPU, DEVICE])
def test_batches_come_ready_in_their_order(device: Any):
    assert list(prefetched(range(50), lambda number: number * number, device)) == [n * n for n in range(50)]
    assert list(prefetched([], lambda number: number, device)) == []


@pytest.mark.parametrize("device", [CPU, DEVICE])
def test_what_a_batch_fails_with_is_raised_where_it_is_asked_for(device: Any):
    def prepare(number: int) -> int:
        if number == 3:
            raise ValueError("number 3")
        return number

    ready = prefetched(range(9), prepare, device)
    assert [next(ready) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="number 3"):
        next(ready)
    assert not prefetching()


def prefetching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "prefetch"]


@pytest.mark.parametrize("leave", ["close", "interrupt", "full"])
def test_the_thread_ends_with_the_training(leave: str):
    prepared: list[int] = []
    ready = prefetched(range(1000), lambda number: prepared.append(number) or number, DEVICE)
    if leave == "close":
        next(ready)
        ready.close()
    elif leave == "interrupt":
        with pytest.raises(KeyboardInterrupt):
            ready.throw(next_of(ready))
    else:
        next(ready)
        while len(prepared) < 5:
            pass
        ready.close()
    assert not prefetching()
    assert len(prepared) < 20, "the queue is bounded"


def next_of(ready: Any) -> BaseException:
    next(ready)
    return KeyboardInterrupt()
