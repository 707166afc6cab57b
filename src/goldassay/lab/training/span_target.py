"""Stretches of a text as right answers: SQuAD's questions, scored by exact match and F1.

Which kind of target a dataset asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.lab.models.configuration import Kind, Task
from goldassay.lab.models.ragged import Ragged
from goldassay.lab.training.targets import Answered, EvaluationSet, LabelTarget, NumberTarget, Target
from goldassay.readers.probes import has_numbers
from goldassay.runs.answers import normalize_answer, score_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.network import Encoded, Network

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
