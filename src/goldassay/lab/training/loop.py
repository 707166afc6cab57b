"""A device's memory that is full, and giving it back.

Batches of examples of similar length, in an order that the seed decides.

Batches made ready while an accelerator is at work on those before them.

The training loop: from a network and encoded examples to a trained network, step by step.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import torch

from goldassay.core.errors import TrainingError
from goldassay.lab.models.network import Batch, Encoded, Network, on_accelerator, pinned, sent
from goldassay.lab.training.optimizers import Moment, build_optimizer, factor, is_spent
from goldassay.lab.training.precision import Team, free_cache, is_out_of_memory
from goldassay.lab.training.snapshots import Position, named, part_of, restore_weights, weights_of
from goldassay.lab.training.targets import LabelTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from accelerate import Accelerator
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.lab.models.configuration import Recipe
    from goldassay.lab.training.job import Seeds
    from goldassay.lab.training.objectives import Objective


def shuffled_batches(
    costs: NDArray[np.int64], batch_size: int, pool: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Every row once, in random order but for this: rows of similar length stand in the same batch.

    Rows are shuffled, sorted by length within pools of some batches, cut into batches, and the batches shuffled.

    Args:
        costs: Length of each row, (N,).
        batch_size: Rows a batch; the last one of a pool may be smaller.
        pool: Batches sorted together; the more, the less is padded, and the less are lengths mixed. 1 sorts nothing
            but the rows of a batch among themselves.
        rng: Decides the order.
    """
    order = rng.permutation(costs.size)
    batches = []
    for start in range(0, order.size, pool * batch_size):
        rows = order[start : start + pool * batch_size]
        rows = rows[np.argsort(costs[rows], kind="stable")]
        batches += [rows[at : at + batch_size] for at in range(0, rows.size, batch_size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def sorted_batches(costs: NDArray[np.int64], batch_size: int, longest_first: bool = False) -> list[NDArray[np.int64]]:
    """Every row once, by length: for evaluation, where the order does not matter."""
    order = np.argsort(-costs if longest_first else costs, kind="stable")
    return [order[start : start + batch_size] for start in range(0, order.size, batch_size)]


Given = TypeVar("Given")
Ready = TypeVar("Ready")

# Batches that wait, ready: enough that an evaluation between two steps does not find none.
_AHEAD = 4
_END = object()


def prefetched(
    items: Sequence[Given], prepare: Callable[[Given], Ready], device: torch.device
) -> Generator[Ready, None, None]:
    """Prepare items one after the other, on an accelerator by a thread some of them ahead; close it when it is left.

    A processor has nothing to wait for: there each item is prepared when it is asked for.

    Args:
        items: Prepared in their order.
        prepare: Called from one thread at a time.
        device: Where what is prepared will be used.

    Raises:
        Exception: Whatever `prepare` raised, in place of the item that it was called for.
    """
    if not on_accelerator(device):
        yield from map(prepare, items)
        return
    ready: queue.Queue[object] = queue.Queue(_AHEAD)
    left = threading.Event()

    def work() -> None:
        # A new thread is on the first of several GPUs, whose memory it would take for what it pins.
        if device.index:
            import torch

            torch.cuda.set_device(device)
        try:
            for item in items:
                if left.is_set():
                    return
                ready.put((prepare(item), None))
        # It is raised where the item is asked for.
        except BaseException as error:
            ready.put((None, error))
        else:
            ready.put(_END)

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while (found := ready.get()) is not _END:
            prepared, error = cast("tuple[Ready, BaseException | None]", found)
            if error is not None:
                raise error
            yield prepared
    finally:
        left.set()
        # It may be waiting for room.
        while thread.is_alive():
            try:
                ready.get(timeout=0.01)
            except queue.Empty:
                continue


# On an accelerator, looking at each loss would make it wait; so many steps are looked at together.
_LOSSES_AT_ONCE = 20
# Examples that an accelerator is first asked to evaluate at once.
_EVALUATED_AT_ONCE = 4096
# Outputs of an evaluation that stay on an accelerator, in batches: while one is fetched the next is computed.
_OUTPUTS_WAITING = 2


@dataclass(frozen=True)
class Examples:
    """Encoded examples with their right answers.

    Attributes:
        encoded: N examples.
        labels: As the objective takes them: codes of labels or numbers, (N,); see `training.targets`.
        weights: (N,), or None for all 1.
    """

    encoded: Encoded
    labels: NDArray[Any]
    weights: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class _Prepared:
    """A batch of a step before it is on the device.

    Attributes:
        rows: All of the batch, whichever process has them.
        batch: This process's.
        labels: This process's.
        weights: This process's, or None.
        share: Which share of the batch they are.
    """

    rows: NDArray[np.int64]
    batch: Batch
    labels: Tensor
    weights: Tensor | None
    share: float


@dataclass(frozen=True)
class Reached:
    """A step that was done.

    Attributes:
        step: Steps done.
        total: Steps that there will be, unless the training stops early.
        epoch_ended: Number of the epoch that this step ended, from 1; 0 if it ended none.
        dynamics: Logits of all rows in the epoch that ended, in the order of the rows, (N, K), where they are kept.
        dev_score: After the epoch that ended, where there is a dev set.
    """

    step: int
    total: int
    epoch_ended: int = 0
    dynamics: NDArray[np.float32] | None = None
    dev_score: float | None = None


class Loop:
    """A training that can be left and taken up again after any step.

    Args:
        network: With fresh weights.
        objective: What is minimized.
        recipe: How.
        seeds: Of order and dropout.
        examples: To train on.
        accelerator: Device and precision.
        dev: To stop early by.
        dev_score: Of outputs and right answers, the higher the better; accuracy where nothing else is given.
        keep_dynamics: Whether the logits of the training rows are kept.
    """

    def __init__(
        self,
        network: Network,
        objective: Objective,
        recipe: Recipe,
        seeds: Seeds,
        examples: Examples,
        accelerator: Accelerator,
        dev: Examples | None = None,
        dev_score: Callable[[NDArray[np.float32], NDArray[Any]], float] = LabelTarget.dev_score,
        *,
        keep_dynamics: bool = False,
    ) -> None:
        self.device = accelerator.device
        self.network = network.to(accelerator.device)
        self.objective = objective.to(accelerator.device)
        self.recipe, self.seeds, self.examples, self.dev = recipe, seeds, examples, dev
        self.dev_score = dev_score
        self.accelerator, self.team = accelerator, Team(accelerator)
        self.optimizer = build_optimizer((self.network, self.objective), recipe)
        self.position = Position()
        self.best: dict[str, Tensor] = {}
        n_rows = len(examples.encoded)
        self.dynamics: NDArray[np.float32] | None = None
        self.total = recipe.epochs * -(-n_rows // recipe.batch_size)
        self._unseen: list[tuple[int, Tensor]] = []
        self._keep_dynamics = keep_dynamics
        self._unkept: list[tuple[NDArray[np.int64], Tensor]] = []
        # A size found by what memory there is would give other bits where there is less.
        self._fixed_batch = not on_accelerator(self.device) or torch.are_deterministic_algorithms_enabled()
        self.evaluation_batch = network.evaluation_batch if self._fixed_batch else _EVALUATED_AT_ONCE

    def run(self) -> Iterator[Reached]:
        """Train on from where the position stands; whenever it yields, the state is whole."""
        position = self.position
        while not position.finished:
            batches = shuffled_batches(
                self.examples.encoded.costs,
                self.recipe.batch_size,
                self.recipe.pool,
                self.seeds.generator("order", position.epoch),
            )
            with closing(prefetched(batches[position.batch :], self._prepared, self.device)) as prepared:
                for each in prepared:
                    self._step(each)
                    position.step += 1
                    position.batch += 1
                    if position.batch == len(batches):
                        yield self._end_epoch()
                    else:
                        yield Reached(position.step, self.total)

    def _prepared(self, rows: NDArray[np.int64]) -> _Prepared:
        mine, share = self.team.part(rows)
        weights = self.examples.weights
        return _Prepared(
            rows,
            self.network.collate(self.examples.encoded, mine).pinned(self.device),
            pinned(torch.from_numpy(self.examples.labels[mine]), self.device),
            None if weights is None else pinned(torch.from_numpy(weights[mine]), self.device),
            share,
        )

    def _step(self, prepared: _Prepared) -> None:
        self.network.train()
        self.objective.train()
        # What is drawn depends on the step alone, so that a run taken up again draws the same.
        apart = (self.team.place,) if self.team.place else ()
        torch.manual_seed(self.seeds.number("dropout", self.position.step, *apart))
        device, share = self.device, prepared.share
        weights = None if prepared.weights is None else sent(prepared.weights, device)
        batch, labels = prepared.batch.to(device), sent(prepared.labels, device)
        mine, _ = self.team.part(prepared.rows)
        with self.accelerator.autocast():
            outcome = self.objective(self.network, batch, labels, weights, mine)
        self.optimizer.zero_grad()
        self.accelerator.backward(outcome.loss if share == 1 else share * outcome.loss)
        self._look_at(self.team.sum_up(self.optimizer.parameters, share * outcome.loss.detach()))
        if self.recipe.clip is not None:
            self.optimizer.clip(self.recipe.clip)
        self.optimizer.step(self._rate())
        if self._keep_dynamics:
            logits = outcome.logits.detach().float()
            self._unkept.append((prepared.rows, self.team.gathered(prepared.rows, logits)))
            if not on_accelerator(device):
                self._keep_logits()

    def _rate(self) -> float:
        position = self.position
        moment = Moment(position.step, self.total, position.epoch, tuple(position.dev_scores))
        return self.recipe.learning_rate * factor(self.recipe.schedule, self.recipe.warmup, moment)

    def _keep_logits(self) -> None:
        """Put logits that are still on the device where they belong."""
        unkept, self._unkept = self._unkept, []
        if not unkept:
            return
        logits = torch.cat([each for _, each in unkept]).cpu().numpy()
        if self.dynamics is None:
            self.dynamics = np.zeros((len(self.examples.encoded), logits.shape[1]), np.float32)
        self.dynamics[np.concatenate([rows for rows, _ in unkept])] = logits

    def _look_at(self, loss: Tensor) -> None:
        self._unseen.append((self.position.step + 1, loss))
        # Processes that share a batch must all stop at the same step.
        if not on_accelerator(self.device) or self.team.size > 1 or len(self._unseen) >= _LOSSES_AT_ONCE:
            self.check_losses()

    def check_losses(self) -> None:
        """Look at the losses not yet looked at.

        Raises:
            TrainingError: One of them is not a number; the step is named.
        """
        unseen, self._unseen = self._unseen, []
        if not unseen:
            return
        values = torch.stack([loss for _, loss in unseen]).cpu().tolist()
        for (step, _), value in zip(unseen, values, strict=True):
            if not np.isfinite(value):
                raise TrainingError(f"the loss became {value} at step {step}; lower the learning rate")

    def _end_epoch(self) -> Reached:
        position = self.position
        self._keep_logits()
        position.epoch += 1
        position.batch = 0
        score, outputs = None, None
        if self.dev is not None:
            outputs = self.team.told(partial(self.evaluate, self.dev.encoded))
            score = self.dev_score(outputs, self.dev.labels)
            if score > position.best_score:
                position.best_step = position.step
                kept = named("network", weights_of(self.network)) | named("objective", weights_of(self.objective))
                self.best = {name: tensor.detach().clone() for name, tensor in kept.items()}
            position.dev_scores.append(score)
        self.objective.end_epoch(position.epoch, outputs)
        position.finished = position.epoch >= self.recipe.epochs or self._stops()
        return Reached(position.step, self.total, position.epoch, self.dynamics, score)

    def _stops(self) -> bool:
        scores, patience = self.position.dev_scores, self.recipe.patience
        if patience is not None and scores and len(scores) - 1 - int(np.argmax(scores)) >= patience:
            return True
        return is_spent(self.recipe.schedule, self._rate())

    def select(self) -> None:
        """Give network and objective the weights of the best dev score, where there is a dev set."""
        if self.best:
            restore_weights(self.network, part_of(self.best, "network"))
            restore_weights(self.objective, part_of(self.best, "objective"))

    @torch.no_grad()
    def evaluate(self, encoded: Encoded) -> NDArray[np.float32]:
        """Outputs for examples, such as logits, (N, K), in the precision of the training; see `Network.evaluate`."""
        return self._through(encoded, self._evaluated)

    @torch.no_grad()
    def judge(self, encoded: Encoded) -> NDArray[np.float32]:
        """Logits of the objective's own classifiers, one after the other, (N, J K)."""
        self.objective.eval()
        return self._through(encoded, lambda batch: self.objective.judges(self.network, batch))

    @torch.no_grad()
    def represent(self, encoded: Encoded) -> NDArray[np.float32]:
        """The layer before the classifier, (N, D), in 32 bits whatever the precision of the training."""
        return self._through(encoded, self.network.represent)

    def try_longest(self, others: list[Encoded]) -> None:
        """Do what takes the most memory: a step on the longest rows, a pass over the longest of other sets.

        The network is not what it was, and is to be thrown away.
        """
        self._step(self._prepared(np.argsort(self.examples.encoded.costs)[-self.recipe.batch_size :]))
        with torch.no_grad():
            for encoded in others:
                self._through(encoded, self._evaluated, n_batches=1)

    def _evaluated(self, batch: Batch) -> Tensor:
        return self.network.evaluate(batch, self.accelerator.autocast)

    def _through(
        self, encoded: Encoded, function: Callable[[Batch], Tensor], n_batches: int | None = None
    ) -> NDArray[np.float32]:
        """What a function gives for all examples, (N, K), 0 for those behind the first so many batches.

        On an accelerator in as large batches as its memory holds. That is found by the longest examples, which come
        first there: where they do not fit, half as many are taken, then and later.
        """
        self.network.eval()
        far, found = on_accelerator(self.device), _Outputs(len(encoded))
        while True:
            left = found.left()
            batches = [left[rows] for rows in sorted_batches(encoded.costs[left], self.evaluation_batch, far)]
            try:
                self._fill(found, encoded, batches[:n_batches], function)
            except RuntimeError as error:
                if self._fixed_batch or self.evaluation_batch == 1 or not is_out_of_memory(error):
                    raise
            else:
                return found.values()
            # Outside of the handler, which keeps the tensors of the pass that failed.
            found.forget()
            free_cache()
            self.evaluation_batch = min(self.evaluation_batch, left.size) // 2 or 1

    def _fill(
        self,
        found: _Outputs,
        encoded: Encoded,
        batches: list[NDArray[np.int64]],
        function: Callable[[Batch], Tensor],
    ) -> None:
        def prepared(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Batch]:
            return rows, self.network.collate(encoded, rows).pinned(self.device)

        waiting = _OUTPUTS_WAITING if on_accelerator(self.device) else 0
        with closing(prefetched(batches, prepared, self.device)) as ready:
            for rows, batch in ready:
                found.add(rows, function(batch.to(self.device)).float(), waiting)
        found.fetch()

    def tensors(self) -> dict[str, Tensor]:
        """All that `restore` needs beside the position."""
        self.check_losses()
        self._keep_logits()
        self.position.memory = self.objective.memory()
        kept = named("network", weights_of(self.network)) | named("objective", weights_of(self.objective))
        kept |= named("optimizer", self.optimizer.tensors()) | named("best", self.best)
        if self.dynamics is not None:
            kept["dynamics"] = torch.from_numpy(self.dynamics)
        return kept

    def restore(self, position: Position, tensors: Mapping[str, Tensor]) -> None:
        """Go on from a state."""
        restore_weights(self.network, part_of(tensors, "network"))
        restore_weights(self.objective, part_of(tensors, "objective"))
        self.optimizer.restore(part_of(tensors, "optimizer"))
        self.best = {name: value.to(self.accelerator.device) for name, value in part_of(tensors, "best").items()}
        self.dynamics = tensors["dynamics"].numpy().copy() if "dynamics" in tensors else None
        self.objective.recall(position.memory)
        self.position = position


class _Outputs:
    """Outputs of N examples, some of them perhaps still on a device.

    Args:
        n: Of examples.
    """

    def __init__(self, n: int) -> None:
        self._done = np.zeros(n, np.bool_)
        self._values: NDArray[np.float32] | None = None
        self._waiting: deque[tuple[NDArray[np.int64], Tensor]] = deque()

    def left(self) -> NDArray[np.int64]:
        """Examples without outputs."""
        return np.flatnonzero(~self._done)

    def add(self, rows: NDArray[np.int64], values: Tensor, waiting: int) -> None:
        """Add outputs, and fetch all but the last few from their device."""
        self._waiting.append((rows, values))
        self.fetch(waiting)

    def fetch(self, waiting: int = 0) -> None:
        """Fetch outputs from their device, all but the last few."""
        while len(self._waiting) > waiting:
            rows, values = self._waiting.popleft()
            if self._values is None:
                self._values = np.zeros((self._done.size, values.shape[1]), np.float32)
            self._values[rows] = values.cpu().numpy()
            self._done[rows] = True

    def forget(self) -> None:
        """Let go of outputs that are still on their device; their examples are without."""
        self._waiting.clear()

    def values(self) -> NDArray[np.float32]:
        """All outputs, (N, K)."""
        return np.zeros((0, 0), np.float32) if self._values is None else self._values
