"""A dataset as a network sees it, to be evaluated on.

What is asked of a network: how right answers become what a loss takes, and outputs become predictions and scores.

A kind of target is a class here or in a module of its own, and `target_of` says which one a dataset asks for. All else
of the training room (steps, states, workers, seeds) is the same for every kind.

Stretches of a text as right answers: SQuAD's questions, scored by exact match and F1.

Which kind of target a dataset asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.data.facts import check_same_labels, require_classes
from goldassay.data.roles import naming
from goldassay.lab.models.configuration import Kind, Task
from goldassay.lab.models.vocabulary import Ragged
from goldassay.readers.conditions import coarsening, labels_named_in
from goldassay.readers.probes import as_numbers, closeness, gold_codes, has_numbers, numbers_of, other_kind
from goldassay.runs.answers import normalize_answer, score_answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.network import Encoded, Network


@dataclass(frozen=True)
class EvaluationSet:
    """A dataset as a network sees it.

    Attributes:
        dataset: N examples.
        split: What the runs call the part.
        texts: A column for each role that the condition shows.
        gold: Right answers as `Target.gold` gives them: codes of labels, or numbers, (N,).
        encoded: The texts as the network's numbers.
    """

    dataset: Dataset
    split: str
    texts: dict[str, list[str]]
    gold: NDArray[Any]
    encoded: Encoded

    @property
    def example_ids(self) -> NDArray[np.str_]:
        """(N,)."""
        return np.array(self.dataset.examples["example_id"].to_list(), dtype=np.str_)


# What an evaluation may be told in, the first of a kind being the one that is spoken of.
METRICS = ("accuracy", "pearson", "spearman", "exact_match", "f1")


@dataclass(frozen=True)
class Answered:
    """What a network answered on N examples.

    Attributes:
        columns: Of the runs store, each of N: label, prediction, score (in [0, 1]), logits; those that there are.
        scores: By metric, the first of them the one that is spoken of.
        label_names: What labels and predictions are among, in the order of logits; none of numbers and spans.
    """

    columns: Mapping[str, pl.Series]
    scores: dict[str, float]
    label_names: tuple[str, ...] = ()


class Target(ABC):
    """A kind of right answer.

    Attributes:
        kind: Its name, which a task and an objective carry too.
        objective: What is minimized where nothing else is asked for.
    """

    kind: ClassVar[Kind]
    objective: ClassVar[str]

    @classmethod
    @abstractmethod
    def check(cls, training: Dataset, others: Sequence[Dataset] = ()) -> None:
        """Refuse data that cannot be trained on, or sets that cannot be evaluated, before anything is trained.

        Raises:
            InputError: Says which, and what to do.
        """

    @classmethod
    def check_tests(cls, training: Dataset, tests: Sequence[Dataset]) -> None:
        """As `check`, of sets that are evaluated only, neither learnt from nor chosen by.

        Raises:
            InputError: Says which, and what to do.
        """
        cls.check(training, tests)

    @classmethod
    @abstractmethod
    def task(cls, training: Dataset, roles: tuple[str, ...], tokenizer: str) -> Task:
        """What a network is to learn of the training rows."""

    @classmethod
    def prepared(cls, network: Network, encoded: Encoded, dataset: Dataset) -> Encoded:  # noqa: ARG003
        """What a network encoded of a dataset, with what this kind of answer needs beside the texts."""
        return encoded

    @classmethod
    @abstractmethod
    def labels(cls, dataset: Dataset, task: Task, encoded: Encoded | None) -> NDArray[Any]:
        """Right answers as the objective takes them, (N, ...)."""

    @classmethod
    def gold(cls, dataset: Dataset, task: Task, encoded: Encoded | None) -> NDArray[Any]:
        """Right answers of a test set as `answers` takes them, (N, ...)."""
        return cls.labels(dataset, task, encoded)

    @classmethod
    @abstractmethod
    def dev_score(cls, outputs: NDArray[np.float32], labels: NDArray[Any]) -> float:
        """What the best epoch is chosen by, the higher the better; never NaN.

        Args:
            outputs: Of the network, (N, ...).
            labels: As `labels` gave them.
        """

    @classmethod
    @abstractmethod
    def answers(cls, outputs: NDArray[np.float32], on: EvaluationSet, task: Task, *, keep_logits: bool) -> Answered:
        """What the outputs say, and how right it is."""


class LabelTarget(Target):
    """One of K labels; accuracy."""

    kind: ClassVar[Kind] = "label"
    objective: ClassVar[str] = "cross_entropy"

    @classmethod
    def check(cls, training: Dataset, others: Sequence[Dataset] = ()) -> None:
        """Two labels or more in training, and no others elsewhere."""
        require_classes(training)
        for other in others:
            cls._check_kind(other)
            check_same_labels(training, other)

    @classmethod
    def check_tests(cls, training: Dataset, tests: Sequence[Dataset]) -> None:
        """No labels that training lacks, unless they are coarser ones; see `coarsening`."""
        for test in tests:
            cls._check_kind(test)
            if coarsening(training.label_names, test.label_names) is None:
                check_same_labels(training, test)

    @classmethod
    def _check_kind(cls, dataset: Dataset) -> None:
        if has_numbers(dataset):
            raise other_kind(dataset, "numbers", "classes")
        if not len(dataset) or not np.all(dataset.labels() >= 0):
            raise InputError("there are no labelled examples", file=dataset.source, mend="give a file with some")

    @classmethod
    def task(cls, training: Dataset, roles: tuple[str, ...], tokenizer: str) -> Task:
        """The labels in the order of the logits."""
        return Task(roles, training.label_names, tokenizer)

    @classmethod
    def labels(cls, dataset: Dataset, task: Task, encoded: Encoded | None = None) -> NDArray[np.int64]:  # noqa: ARG003
        """Codes, (N,)."""
        return gold_codes(dataset, task.label_names)

    @classmethod
    def gold(cls, dataset: Dataset, task: Task, encoded: Encoded | None = None) -> NDArray[np.int64]:  # noqa: ARG003
        """Codes of the labels in which answers on this set are told, (N,)."""
        return gold_codes(dataset, labels_named_in(task.label_names, dataset.label_names)[0])

    @classmethod
    def dev_score(cls, outputs: NDArray[np.float32], labels: NDArray[Any]) -> float:
        """Accuracy."""
        return float(np.mean(outputs.argmax(1) == labels))

    @classmethod
    def answers(cls, outputs: NDArray[np.float32], on: EvaluationSet, task: Task, *, keep_logits: bool) -> Answered:
        """The label of the highest logit, the first of equals; coarser labels have none, and no logits are kept."""
        names, told = labels_named_in(task.label_names, on.dataset.label_names)
        written = pl.Series(names, dtype=pl.String)
        predicted = told[outputs.argmax(1)]
        right = predicted == on.gold
        columns = {
            "label": written.gather(on.gold),
            "prediction": written.gather(predicted),
            "score": pl.Series(right.astype(np.float64)),
        }
        if keep_logits and names == task.label_names:
            columns["logits"] = pl.Series(outputs).reshape((-1, outputs.shape[1])).arr.to_list()
        return Answered(columns, {"accuracy": float(np.mean(right))}, names)


class NumberTarget(Target):
    """A number; Pearson's and Spearman's correlation, NaN where one side is constant.

    The network learns (y - mean) / SD of the training rows' labels, so that its rate of learning does not depend on
    their unit and a fresh head need not first learn their mean; its predictions are written in the labels' own unit,
    and correlations are the same either way. (BERT's published fine-tuning on STS-B takes the labels 0 to 5 as they
    are, at a rate set for them; fresh networks spend their first epochs on the mean of 2.6 then.)

    The best epoch is that of the least squared error: correlation has no value where a network still answers the same
    to everything, as it may in its first epochs, and it does not see that predictions are off by a constant.

    The score of an example is 1 - |prediction - label| / (highest - lowest training label), not below 0, so that runs
    can be compared and decomposed example by example; its mean is no correlation.

    Source: Cer et al. 2017 (STS-B and its correlations); Devlin et al. 2019 (regression on it).
    """

    kind: ClassVar[Kind] = "number"
    objective: ClassVar[str] = "squared_error"

    @classmethod
    def check(cls, training: Dataset, others: Sequence[Dataset] = ()) -> None:
        """Numbers everywhere, and different ones in training."""
        if training.examples["label"].n_unique() < 2:
            raise InputError(
                "all labels are the same number", file=training.source, mend="give a file with different ones"
            )
        for other in others:
            if "label" not in other.examples.columns:
                raise InputError(
                    "there are no labels",
                    file=other.source,
                    mend=naming(other.examples, "score", besides=other.text_columns),
                )
            if not has_numbers(other) and as_numbers(other) is None:
                raise other_kind(other, "classes", "numbers")
            if not len(other):
                raise InputError("there are no labelled examples", file=other.source, mend="give a file with some")

    @classmethod
    def task(cls, training: Dataset, roles: tuple[str, ...], tokenizer: str) -> Task:
        """Mean, SD and range of the training labels."""
        values = numbers_of(training)
        return Task(
            roles, (), tokenizer, cls.kind, float(values.mean()), float(values.std()) or 1.0,
            (float(values.min()), float(values.max())),
        )  # fmt: skip

    @classmethod
    def labels(cls, dataset: Dataset, task: Task, encoded: Encoded | None = None) -> NDArray[np.float32]:  # noqa: ARG003
        """Standardized numbers, (N,)."""
        return ((numbers_of(dataset) - task.center) / task.scale).astype(np.float32)

    @classmethod
    def dev_score(cls, outputs: NDArray[np.float32], labels: NDArray[Any]) -> float:
        """Minus the mean squared error."""
        return -float(np.mean(np.square(outputs[:, 0].astype(np.float64) - labels)))

    @classmethod
    def answers(cls, outputs: NDArray[np.float32], on: EvaluationSet, task: Task, *, keep_logits: bool) -> Answered:  # noqa: ARG003
        """Numbers in the labels' own unit; there are no logits."""
        right = numbers_of(on.dataset)
        predicted = outputs[:, 0].astype(np.float64) * task.scale + task.center
        columns = {
            "label": pl.Series(right),
            "prediction": pl.Series(predicted),
            "score": pl.Series(closeness(predicted, right, task.range)),
        }
        return Answered(columns, {"pearson": pearson(predicted, right), "spearman": spearman(predicted, right)})


def pearson(predictions: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    """Pearson's correlation of numbers (N,) with the right ones; NaN where either is constant."""
    if len(labels) < 2 or np.ptp(predictions) == 0 or np.ptp(labels) == 0:
        return float("nan")
    return float(np.corrcoef(predictions, labels)[0, 1])


def spearman(predictions: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    """Spearman's correlation: Pearson's of the ranks, ties at their mean."""
    ranks = [pl.Series(values).rank("average").to_numpy() for values in (predictions, labels)]
    return pearson(*ranks)


ANSWERS, STARTS = "answers", "answer_starts"
# Where the stretches begin and end that alone may be answers, as in ReCoRD.
CANDIDATE_STARTS, CANDIDATE_ENDS = "candidate_starts", "candidate_ends"
_NOWHERE = (-1, -1)


class SpanTarget(Target):
    """A stretch of the context, of which a question may have several that are right; F1 and exact match.

    The network learns the first of them. The score of a question is its best F1 over all, as in the runs that are
    read; the answers themselves are kept as predictions. Questions without an answer (SQuAD 2.0) are right when none
    is given; a network gives none where that has the higher logit, if it saw such questions in training.

    The best epoch is that of the best overlap, in characters, with the first right answer, as F1: it needs the
    positions alone.

    Source: Rajpurkar, Zhang, Lopyrev and Liang 2016; Rajpurkar, Jia and Liang 2018.
    """

    kind: ClassVar[Kind] = "span"
    objective: ClassVar[str] = "span_cross_entropy"

    @classmethod
    def check(cls, training: Dataset, others: Sequence[Dataset] = ()) -> None:
        """Answers that stand in their contexts, at least one of them in training."""
        for dataset in (training, *others):
            if not is_of_spans(dataset):
                raise InputError(
                    "these are no questions with answers in a context", file=dataset.source, mend="give SQuAD's JSON"
                )
            if not len(dataset):
                raise InputError("there are no questions", file=dataset.source, mend="give a file with some")
        known = _spans(training)[:, 0, 0] >= 0
        answered = np.array([any(answers) for answers in training.examples[ANSWERS].to_list()])
        lost = np.flatnonzero(answered & ~known)
        if lost.size:
            row = training.examples.row(int(lost[0]), named=True)
            raise InputError(
                f"the answer {row[ANSWERS][0]!r} to {lost.size} question{'s' if lost.size > 1 else ''}, first "
                f"{row['example_id']}, does not stand in the context",
                file=training.source,
                mend="correct the answers or drop these questions",
            )
        if not known.any():
            raise InputError("no question has an answer", file=training.source, mend="give a file with answers")

    @classmethod
    def task(cls, training: Dataset, roles: tuple[str, ...], tokenizer: str) -> Task:
        """Whether some questions have no answer."""
        return Task(roles, (), tokenizer, cls.kind, unanswerable=bool((_spans(training)[:, 0, 0] < 0).any()))

    @classmethod
    def labels(cls, dataset: Dataset, task: Task, encoded: Encoded | None = None) -> NDArray[np.int64]:  # noqa: ARG003
        """Where in the context right answers begin and end, each once, (N, M, 2); -1 behind the last of a question."""
        return _spans(dataset)

    @classmethod
    def prepared(cls, network: Network, encoded: Encoded, dataset: Dataset) -> Encoded:
        """Restrict the answers to the candidates that a dataset names."""
        examples = dataset.examples
        if CANDIDATE_STARTS not in examples.columns:
            return encoded
        pairs = zip(examples[CANDIDATE_STARTS].to_list(), examples[CANDIDATE_ENDS].to_list(), strict=True)
        spans = [[place for span in zip(*pair, strict=True) for place in span] for pair in pairs]
        reader: Any = network
        restricted: Encoded = reader.restrict(encoded, Ragged.of(spans))
        return restricted

    @classmethod
    def dev_score(cls, outputs: NDArray[np.float32], labels: NDArray[Any]) -> float:
        """Mean F1 of the characters shared with the first right answer."""
        begin, end = outputs[:, 0], outputs[:, 1]
        right_begin, right_end = labels[:, 0].T
        shared = np.maximum(np.minimum(end, right_end) - np.maximum(begin, right_begin), 0)
        f1 = 2 * shared / np.maximum(end - begin + right_end - right_begin, 1)
        none = outputs[:, 3] > outputs[:, 2]
        return float(np.mean(np.where(right_begin < 0, none, f1)))

    @classmethod
    def answers(cls, outputs: NDArray[np.float32], on: EvaluationSet, task: Task, *, keep_logits: bool) -> Answered:  # noqa: ARG003
        """The answers as texts; there are no logits."""
        none = outputs[:, 3] > outputs[:, 2] if task.unanswerable else np.zeros(len(outputs), np.bool_)
        places = outputs[:, :2].astype(np.int64)
        given = [
            "" if is_none else context[begin:end]
            for context, (begin, end), is_none in zip(on.dataset.texts("context"), places.tolist(), none, strict=True)
        ]
        right = [[answer for answer in answers if answer] for answers in on.dataset.examples[ANSWERS].to_list()]
        f1, exact = (
            np.array([_score(answer, wanted, metric) for answer, wanted in zip(given, right, strict=True)])
            for metric in ("f1", "exact_match")
        )
        columns = {"prediction": pl.Series(given, dtype=pl.String), "score": pl.Series(f1)}
        return Answered(columns, {"f1": float(f1.mean()), "exact_match": float(exact.mean())})


def is_of_spans(dataset: Dataset) -> bool:
    """Whether a dataset's questions are answered by stretches of a context."""
    return "context" in dataset.text_columns and ANSWERS in dataset.examples.columns


def check_use(condition: str, record: Sequence[str]) -> None:
    """Refuse a condition under which no answer is shown, and to record what a network of spans has not.

    Raises:
        InputError: Says which, and what to do.
    """
    if condition not in ("paired", "context_only"):
        raise InputError(
            f"under the condition {condition} the text that is shown has no answer",
            mend="choose paired or context_only",
        )
    if without := {"embeddings", "relevance"} & set(record):
        raise InputError(
            f"{' and '.join(sorted(without))} cannot be recorded: a question has no one vector and no one class",
            mend=f"leave them out of {option('record')}",
        )


def _score(answer: str, wanted: Sequence[str], metric: Any) -> float:
    return score_answer(answer, wanted, metric) if wanted else float(not normalize_answer(answer))


def _spans(dataset: Dataset) -> NDArray[np.int64]:
    """Where each question's answers begin and end in its context, each once, (N, M, 2); -1 behind the last.

    The first row of a question is that of its first answer, and -1 where this does not stand in the context.
    """
    examples = dataset.examples
    starts = examples[STARTS].to_list() if STARTS in examples.columns else [None] * len(examples)
    triples = zip(dataset.texts("context"), examples[ANSWERS].to_list(), starts, strict=True)
    found = [_of_question(*each) for each in triples]
    spans = np.full((len(found), max(map(len, found), default=1), 2), -1, np.int64)
    for row, each in enumerate(found):
        spans[row, : len(each)] = each
    return spans


def _of_question(context: str, answers: Sequence[str], starts: Sequence[int] | None) -> list[tuple[int, int]]:
    # A file may give fewer places than answers, or none.
    places = [*(starts or ()), *[-1] * len(answers)]
    spans = [_span(context, answer, start) for answer, start in zip(answers, places, strict=False)] or [_NOWHERE]
    return [spans[0], *dict.fromkeys(span for span in spans[1:] if span not in (_NOWHERE, spans[0]))]


def _span(context: str, answer: str, start: int) -> tuple[int, int]:
    text = answer.strip()
    if not text:
        return _NOWHERE
    begin = start + len(answer) - len(answer.lstrip()) if start >= 0 else -1
    if begin < 0 or not context.startswith(text, begin):
        # Some files have starts that are off: the first place where the answer does stand.
        begin = context.find(text)
    return (begin, begin + len(text)) if begin >= 0 else _NOWHERE


def target_of(dataset: Dataset) -> type[Target]:
    """Spans, numbers or labels."""
    if is_of_spans(dataset):
        return SpanTarget
    return NumberTarget if has_numbers(dataset) else LabelTarget
