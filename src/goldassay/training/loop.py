"""The training loop: from a network and encoded examples to a trained network, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goldassay.errors import TrainingError
from goldassay.training.batches import shuffled_batches, sorted_batches
from goldassay.training.optimizers import build_optimizer
from goldassay.training.schedules import Moment, factor, is_spent
from goldassay.training.state import (
    Position,
    named,
    part_of,
    restore_weights,
    weights_of,
)
from goldassay.training.targets import LabelTarget
from goldassay.training.team import Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from accelerate import Accelerator
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.configuration import Recipe
    from goldassay.models.network import Encoded, Network
    from goldassay.training.objectives.objective import Objective
    from goldassay.training.seeds import Seeds

# On an accelerator, looking at each loss would make it wait; so many steps are looked at together.
_LOSSES_AT_ONCE = 20


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
class Reached:
    """A step that was done.

    Attributes:
        step: Steps done.
        total: Steps that there will be, unless the training stops early.
        epoch_ended: Number of the epoch that this step ended, from 1; 0 if it ended none.
        dynamics: Logits of all rows in the epoch that ended, in the order of the rows, (N, K).
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
    ) -> None:
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
            for rows in batches[position.batch :]:
                self._step(rows)
                position.step += 1
                position.batch += 1
                if position.batch == len(batches):
                    yield self._end_epoch()
                else:
                    yield Reached(position.step, self.total)

    def _step(self, rows: NDArray[np.int64]) -> None:
        self.network.train()
        self.objective.train()
        # What is drawn depends on the step alone, so that a run taken up again draws the same.
        apart = (self.team.place,) if self.team.place else ()
        torch.manual_seed(self.seeds.number("dropout", self.position.step, *apart))
        device = self.accelerator.device
        rows, share = self.team.part(rows)
        batch = self.network.collate(self.examples.encoded, rows).to(device)
        labels = torch.from_numpy(self.examples.labels[rows]).to(device)
        weights = self.examples.weights
        weighted = None if weights is None else torch.from_numpy(weights[rows]).to(device)
        with self.accelerator.autocast():
            outcome = self.objective(self.network, batch, labels, weighted, rows)
        self.optimizer.zero_grad()
        self.accelerator.backward(outcome.loss if share == 1 else share * outcome.loss)
        self._look_at(self.team.sum_up(self.optimizer.parameters, share * outcome.loss.detach()))
        if self.recipe.clip is not None:
            self.optimizer.clip(self.recipe.clip)
        self.optimizer.step(self._rate())
        self._keep(*self.team.gathered(rows, outcome.logits.detach().float(), share))

    def _rate(self) -> float:
        position = self.position
        moment = Moment(position.step, self.total, position.epoch, tuple(position.dev_scores))
        return self.recipe.learning_rate * factor(self.recipe.schedule, self.recipe.warmup, moment)

    def _keep(self, rows: NDArray[np.int64], logits: Tensor) -> None:
        if self.dynamics is None:
            self.dynamics = np.zeros((len(self.examples.encoded), logits.shape[1]), np.float32)
        self.dynamics[rows] = logits.cpu().numpy()

    def _look_at(self, loss: Tensor) -> None:
        self._unseen.append((self.position.step + 1, loss))
        # Processes that share a batch must all stop at the same step.
        if self.accelerator.device.type == "cpu" or self.team.size > 1 or len(self._unseen) >= _LOSSES_AT_ONCE:
            self.check_losses()

    def check_losses(self) -> None:
        """Look at the losses not yet looked at.

        Raises:
            TrainingError: One of them is not a number; the step is named.
        """
        unseen, self._unseen = self._unseen, []
        if not unseen:
            return
        values = torch.stack([loss for _, loss in unseen]).tolist()
        for (step, _), value in zip(unseen, values, strict=True):
            if not np.isfinite(value):
                raise TrainingError(f"the loss became {value} at step {step}; lower the learning rate")

    def _end_epoch(self) -> Reached:
        position = self.position
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
        return self._through(encoded, lambda batch: self.network.evaluate(batch, self.accelerator.autocast))

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
        self._step(np.argsort(self.examples.encoded.costs)[-self.recipe.batch_size :])
        with torch.no_grad():
            for encoded in others:
                rows = np.argsort(encoded.costs)[-self.network.evaluation_batch :]
                self.network.eval()
                batch = self.network.collate(encoded, rows).to(self.accelerator.device)
                self.network.evaluate(batch, self.accelerator.autocast)

    def _through(self, encoded: Encoded, function: Any) -> NDArray[np.float32]:
        self.network.eval()
        out: NDArray[np.float32] | None = None
        for rows in sorted_batches(encoded.costs, self.network.evaluation_batch):
            values = function(self.network.collate(encoded, rows).to(self.accelerator.device)).float().cpu().numpy()
            if out is None:
                out = np.zeros((len(encoded), values.shape[1]), np.float32)
            out[rows] = values
        return np.zeros((0, 0), np.float32) if out is None else out

    def tensors(self) -> dict[str, Tensor]:
        """All that `restore` needs beside the position."""
        self.check_losses()
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
