"""Objectives, known by name: the plain ones here, those of one family in a file of their own.

Opinions: what another model, a bias model or a teacher, says of the examples.

The plain ones: cross-entropy and mean squared error, with a weight for each example if need be; cross-entropy of where
an answer starts and ends in each window over its context, or among the tokens of all paragraphs of a context.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.configuration import Kind
    from goldassay.lab.models.network import Batch, Network


# The file of each, where it is not this one, and its class.
_CLASSES = {
    "adversarial": ("guidance", "Adversarial"),
    "confidence_regularization": ("experts", "ConfidenceRegularization"),
    "cross_entropy": ("", "CrossEntropy"),
    "guided_cross_entropy": ("guidance", "GuidedCrossEntropy"),
    "learned_mixin": ("experts", "LearnedMixin"),
    "product_of_experts": ("experts", "ProductOfExperts"),
    "shared_normalization": ("", "SharedNormalization"),
    "span_cross_entropy": ("", "SpanCrossEntropy"),
    "squared_error": ("", "SquaredError"),
}
OBJECTIVES = tuple(_CLASSES)


def load_objective(name: str) -> type[Objective]:
    """The class of an objective.

    Raises:
        InputError: There is no such objective; the nearest one is named.
    """
    if name not in _CLASSES:
        raise InputError(f"there is no objective {name!r}", mend=did_you_mean(name, OBJECTIVES))
    file, class_name = _CLASSES[name]
    module: Any = importlib.import_module(f"{__name__}.{file}" if file else __name__)
    return cast("type[Objective]", getattr(module, class_name))


def objectives_of(kind: Kind) -> list[str]:
    """The objectives that take a kind of right answers; see `training.targets`."""
    return [name for name in OBJECTIVES if load_objective(name).kind == kind]


Need = Literal["none", "optional", "required"]


@dataclass(frozen=True)
class Outcome:
    """What an objective makes of a batch.

    Attributes:
        loss: To be minimized, ().
        logits: Of the network, (B, K); kept as training dynamics.
    """

    loss: Tensor
    logits: Tensor


@dataclass(frozen=True)
class NoSettings:
    """Of an objective that has nothing to set."""


@dataclass(frozen=True)
class Surroundings:
    """What an objective is made for.

    Attributes:
        settings: Of the objective's own kind.
        network: With fresh weights.
        example: A batch of one example, from which widths are read.
        n_labels: K.
        bias: What the bias model says of the N training rows, or None.
        dev_bias: And of the dev examples.
        dev_gold: Their labels, codes.
        teacher: Probabilities that the teacher gives the training rows, (N, K), or None.
    """

    settings: Any
    network: Network
    example: Batch
    n_labels: int
    bias: TeacherLogitsOn | None = None
    dev_bias: TeacherLogitsOn | None = None
    dev_gold: NDArray[np.int64] | None = None
    teacher: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Requirements:
    """What an objective needs, so that it can be refused before anything is trained.

    Attributes:
        bias: Whether it takes what a bias model says of the rows.
        teacher: Whether it takes what a teacher says of them.
        sentences: Whether the network must encode each sentence by itself.
        dev: Whether there must be a dev set.
    """

    bias: Need = "none"
    teacher: bool = False
    sentences: bool = False
    dev: bool = False


class Objective(nn.Module, ABC):
    """A loss over a batch. It is a module, so that it may have weights of its own, trained beside the network's."""

    name: ClassVar[str]
    kind: ClassVar[Kind] = "label"
    settings: ClassVar[type] = NoSettings
    # Settings that have an effect with a bias model only.
    of_bias: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def requirements(cls, settings: Any) -> Requirements:  # noqa: ARG003
        """What it needs under its settings."""
        return Requirements()

    @classmethod
    def build(cls, surroundings: Surroundings) -> Self:  # noqa: ARG003
        """Make it with fresh weights, drawn from torch's generator."""
        return cls()

    @abstractmethod
    def forward(
        self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None, rows: NDArray[np.int64]
    ) -> Outcome:
        """The loss.

        Args:
            network: Called on the batch as often as needed.
            batch: B examples.
            labels: Codes, (B,).
            weights: Of the examples, (B,), or None for all 1. Weighted sums are divided by B, not by the weights' sum.
            rows: Which of the training rows they are, (B,).
        """

    def memory(self) -> dict[str, Any]:
        """What must be kept in a checkpoint beside weights, as JSON holds it."""
        return {}

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `memory` gave."""

    def end_epoch(self, epoch: int, dev_outputs: NDArray[np.float32] | None) -> None:
        """Called after each epoch.

        Args:
            epoch: Epochs done.
            dev_outputs: Of the network on the dev examples, (N, K), where there is a dev set.
        """

    @property
    def n_judges(self) -> int:
        """J, how many classifiers of its own it trains."""
        return 0

    def judges(self, network: Network, batch: Batch) -> Tensor:
        """Logits of classifiers of its own, one after the other, (B, J K)."""
        return network(batch)[:, :0]

    def findings(self) -> Mapping[str, Any]:
        """What came to light in training, as JSON holds it."""
        return {}


Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """What an objective's requirements promise to be there."""
    if value is None:
        raise ValueError("a requirement of the objective was not checked")
    return value


TRAIN, DEV = "train", "dev"


@dataclass(frozen=True, eq=False)
class TeacherLogitsOn:
    """What a model says of N examples.

    Attributes:
        probabilities: Of each label, (N, K).
        strengths: How strongly each label is pointed to, (N, K): of a model its probabilities again; of patterns the
            largest share of the label among the patterns that the example holds, 0 where it holds none. An example is
            biased at a threshold if one of them exceeds it.
    """

    probabilities: NDArray[np.float32]
    strengths: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.probabilities)

    def take(self, rows: NDArray[np.int64]) -> TeacherLogitsOn:
        """Those of some examples."""
        return TeacherLogitsOn(self.probabilities[rows], self.strengths[rows])

    def biased(self, threshold: float) -> NDArray[np.bool_]:
        """Whether any label is pointed to more strongly than the threshold, (N,)."""
        return np.asarray(self.strengths.max(axis=1) > threshold)

    def difficulty(self, gold: NDArray[np.int64], threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which examples are easy (the one label pointed to is right) and which hard (none of them is), (N,) each."""
        pointed = self.strengths > threshold
        right = pointed[np.arange(len(gold)), gold]
        number = pointed.sum(axis=1)
        return right & (number == 1), ~right & (number > 0)


@dataclass(frozen=True, eq=False)
class TeacherLogits:
    """What a model says of several sets of examples.

    Attributes:
        source: What the model is called.
        about: How its opinions came to be, in a clause.
        label_names: Of the training set, in order.
        example_ids: By part: "train", "dev", or the name of a test set as `part_of_test` gives it.
        on: By part, in the order of the ids.
        accuracy: By part: of the most probable label, on labelled examples.
    """

    source: str
    about: str
    label_names: tuple[str, ...]
    example_ids: Mapping[str, tuple[str, ...]]
    on: Mapping[str, TeacherLogitsOn]
    accuracy: Mapping[str, float]

    def for_rows(self, part: str, dataset: Dataset) -> TeacherLogitsOn:
        """The opinions on the rows of a dataset that was drawn from a part, in their order."""
        place = {name: row for row, name in enumerate(self.example_ids[part])}
        ids = dataset.examples["example_id"].cast(str).to_list()
        return self.on[part].take(np.array([place[name] for name in ids], dtype=np.int64))


def part_of_test(name: str) -> str:
    """The part that a test set is."""
    return f"test {name}"


class TeacherSource(Protocol):
    """Where opinions come from.

    Attributes:
        key: What decides the opinions beside the data, for those that take long to make, so that they are made once;
            else None.
        follows_seed: Whether they differ from seed to seed.
    """

    @property
    def key(self) -> str | None:
        """See above."""

    @property
    def follows_seed(self) -> bool:
        """See above."""

    def on(self, parts: Mapping[str, Dataset], seed: int) -> TeacherLogits:
        """Opinions on parts of the data, "train" at least; the other parts are left out where it has none.

        Raises:
            InputError: It has none on the training rows, or they are of other data or labels.
        """


def teacher_logits_of(
    source: str,
    about: str,
    parts: Mapping[str, Dataset],
    probabilities: Mapping[str, NDArray[np.floating[Any]]],
    strengths: Mapping[str, NDArray[np.floating[Any]]] | None = None,
) -> TeacherLogits:
    """Put opinions together, and measure how accurate they are.

    Args:
        source: What the model is called.
        about: How the opinions came to be, in a clause.
        parts: Datasets by part.
        probabilities: By part, (N, K), in the order of the training set's labels.
        strengths: Likewise; the probabilities where not given.
    """
    names = parts[TRAIN].label_names
    on, accuracy = {}, {}
    for part, values in probabilities.items():
        dataset = parts[part]
        strong = values if strengths is None else strengths[part]
        on[part] = TeacherLogitsOn(values.astype(np.float32), strong.astype(np.float32))
        codes = np.array([names.index(name) for name in dataset.label_names], dtype=np.int64)
        accuracy[part] = float(np.mean(values.argmax(axis=1) == codes[dataset.labels()]))
    ids = {part: tuple(parts[part].examples["example_id"].cast(str).to_list()) for part in probabilities}
    return TeacherLogits(source, about, names, ids, on, accuracy)


def softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Probabilities of logits, (N, K)."""
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class CrossEntropy(Objective):
    """(1/B) sum_i w_i * -log softmax(logits_i)[label_i], in nats."""

    name: ClassVar[str] = "cross_entropy"

    def forward(
        self,
        network: Network,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        logits = network(batch)
        each = functional.cross_entropy(logits, labels, reduction="none")
        return Outcome(average(each, weights), logits)


def average(losses: Tensor, weights: Tensor | None) -> Tensor:
    """(1/B) sum_i w_i loss_i, (); divided by the number of examples, not by the sum of the weights."""
    return losses.mean() if weights is None else (losses * weights).sum() / losses.shape[0]


class SquaredError(Objective):
    """(1/B) sum_i w_i (output_i - y_i)^2, y standardized; see `training.targets.NumberTarget`."""

    name: ClassVar[str] = "squared_error"
    kind: ClassVar[Kind] = "number"

    def forward(
        self,
        network: Network,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        outputs = network(batch)
        each = (outputs[:, 0].float() - labels).square()
        return Outcome((each if weights is None else each * weights).sum() / batch.size, outputs)


class SpanCrossEntropy(Objective):
    """(1/W) sum_j w_j (-log softmax(starts_j)[s_j] - log softmax(ends_j)[e_j]) / 2 over the W windows of the questions.

    The softmax is over a window's tokens, the question and special ones among them, padding left out. A window that
    does not hold the whole answer points to its first token; it has the weight of its question.

    Source: Devlin, Chang, Lee and Toutanova 2019.
    """

    name: ClassVar[str] = "span_cross_entropy"
    kind: ClassVar[Kind] = "span"

    def forward(
        self,
        network: Any,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`; `labels` are where the answers begin and end, (B, M, 2)."""
        logits = network.window_logits(batch)
        targets = network.window_targets(batch, labels)
        padding = (batch["real"] == 0).unsqueeze(2)
        masked = logits.masked_fill(padding, torch.finfo(logits.dtype).min / 4)
        # torch's own cross-entropy of several classifications an example has no deterministic gradient on a GPU.
        each = -functional.log_softmax(masked, 1).gather(1, targets.unsqueeze(1)).squeeze(1)
        losses = each.mean(1)
        if weights is not None:
            losses = losses * weights[batch["of"]]
        return Outcome(losses.mean(), network.answers(logits.detach(), batch))


class SharedNormalization(Objective):
    """(1/B) sum_i w_i (l(starts_i) + l(ends_i)) / 2, l(z) = log sum_j exp(z_j) - log sum_{j right} exp(z_j).

    Both sums are over the tokens of all paragraphs (or windows) of question i, so that logits of one paragraph are
    comparable with those of another. Of several right answers, or places of one, each token that starts (ends) one is
    right. A question without an answer has one right place more, which stands for there being none.

    Answers that no window shows whole teach nothing.

    Source: Clark and Gardner 2018, section 3.2 (shared normalization) and 2.3 (sum over right places).
    """

    name: ClassVar[str] = "shared_normalization"
    kind: ClassVar[Kind] = "span"

    def forward(
        self,
        network: Any,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`; `labels` are where the right answers begin and end, (B, M, 2)."""
        logits = network.window_logits(batch)
        tokens, whole = network.window_spans(batch, labels)
        right = torch.zeros(logits.shape, dtype=torch.long, device=logits.device)
        # Answers not seen here all point to token 0, and add nothing to it.
        right = right.scatter_add(1, tokens, whole.unsqueeze(2).expand_as(tokens).long()) > 0
        nothing, unanswered = network.nothing(logits, batch), (labels[:, :, 0] < 0).all(1)
        context = (batch["ends"] >= 0).unsqueeze(2)
        of, n = batch["of"], batch.size
        # One row of a question's own for there being no answer, the least of its windows as in `answers`.
        largest = torch.finfo(logits.dtype).max / 4
        none = logits.new_full((n, 2), largest).scatter_reduce(0, of.unsqueeze(1).expand_as(nothing), nothing, "amin")
        everything = _log_sums(logits, context.expand_as(logits), of, none, torch.ones_like(unanswered), n)
        correct = _log_sums(logits, right & context, of, none, unanswered, n)
        shown = torch.zeros(n, dtype=torch.long, device=of.device).index_add(0, of, right.any(1).all(1).long()) > 0
        losses = torch.where((shown | unanswered).unsqueeze(1), everything - correct, 0).mean(1)
        if weights is not None:
            losses = losses * weights
        return Outcome(losses.mean(), network.answers(logits.detach(), batch))


def _log_sums(logits: Tensor, chosen: Tensor, of: Tensor, none: Tensor, with_none: Tensor, n: int) -> Tensor:
    """Log sum exp over the chosen tokens of all windows of each question, and over its row of `none`, (n, 2).

    Args:
        logits: (W, L, 2).
        chosen: (W, L, 2).
        of: Question of each window, (W,).
        none: Logits of there being no answer, (n, 2).
        with_none: Of which questions these count, (n,).
        n: Questions.
    """
    lowest = torch.finfo(logits.dtype).min / 2
    none = none.masked_fill(~with_none.unsqueeze(1), lowest)
    of_windows = logits.masked_fill(~chosen, lowest).logsumexp(1)
    # Rectangles of windows a question: no sum of exponentials is added up by atomic operations.
    counts = torch.zeros(n, dtype=torch.long, device=of.device).index_add(0, of, torch.ones_like(of))
    place = torch.arange(len(of), device=of.device) - (counts.cumsum(0) - counts)[of]
    table = logits.new_full((n, int(counts.max()) + 1, 2), lowest)
    table = table.index_put((of, place + 1), of_windows)
    return torch.cat((none.unsqueeze(1), table[:, 1:]), dim=1).logsumexp(1)
