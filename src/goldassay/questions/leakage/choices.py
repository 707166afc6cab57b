"""Multiple-choice questions: what their choices alone, or their question alone, give away of the answer.

Each question becomes as many rows as it has choices, labelled right or wrong. A probe reads question and choice
("paired"), or the choice ("choices_only"), and the choice that it finds likeliest is its answer. The question alone
("question_only") can tell nothing but the position of the answer.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data import Dataset, parse_columns
from goldassay.data.row_values import normalized_text
from goldassay.questions.inputs import describe_input
from goldassay.questions.leakage.calibration import cross_calibrate
from goldassay.questions.leakage.condition_evidence import LONGEST, PAIRED, PROBES, ConditionEvidence, named_path
from goldassay.runs import Runs
from goldassay.training import train_probes
from goldassay.training.many_seeds import load_data

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress

CHOICES, ANSWER = "choices", "answer"
_CHOICES = (CHOICES, "options", "endings")
_ANSWERS = (ANSWER, "answerKey", "answer_index", "label", "gold", "correct")
WRONG, RIGHT = "wrong", "right"
CONDITIONS = (PAIRED, "choices_only", "question_only", LONGEST)


@dataclass(frozen=True)
class Questions:
    """N questions with their choices.

    Attributes:
        name: Of the dataset.
        ids: (N,).
        questions: N texts.
        choices: The choices of each.
        answers: Position of the right one, (N,).
        dropped: Why questions were left out, and how many.
    """

    name: str
    ids: tuple[str, ...]
    questions: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]
    answers: NDArray[np.int64]
    dropped: dict[str, int]

    def __len__(self) -> int:
        return self.answers.size

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Choices of each, (N,)."""
        return np.array([len(each) for each in self.choices], np.int64)

    def take(self, kept: NDArray[np.bool_]) -> Questions:
        """Some of the questions, by a mask, (N,)."""
        at = np.flatnonzero(kept)
        return replace(
            self,
            ids=tuple(self.ids[i] for i in at),
            questions=tuple(self.questions[i] for i in at),
            choices=tuple(self.choices[i] for i in at),
            answers=self.answers[at],
        )

    def rows(self) -> Dataset:
        """A row a choice: premise the question, hypothesis the choice, label right or wrong."""
        frame = pl.DataFrame(
            {
                "id": [f"{i}:{at}" for i, each in zip(self.ids, self.choices, strict=True) for at in range(len(each))],
                "premise": [q for q, each in zip(self.questions, self.choices, strict=True) for _ in each],
                "hypothesis": [text for each in self.choices for text in each],
                "label": [
                    RIGHT if at == answer else WRONG
                    for each, answer in zip(self.choices, self.answers, strict=True)
                    for at in range(len(each))
                ],
            }
        )
        return Dataset.from_frame(frame, name=self.name, label_names=(WRONG, RIGHT))

    def positions(self, names: Sequence[str]) -> Dataset:
        """A row a question: its text, and as label the position of its answer."""
        labels = [names[at] for at in self.answers]
        frame = pl.DataFrame({"id": self.ids, "text": self.questions, "label": labels})
        return Dataset.from_frame(frame, name=self.name, label_names=names)


def holds_choices(dataset: Dataset) -> bool:
    """Whether a dataset has a column of lists of choices, and one text, the question."""
    return len(dataset.text_columns) == 1 and _choices_column(dataset.examples) is not None


def read_questions(dataset: Dataset, choices: str | None = None, answer: str | None = None) -> Questions:
    """The questions, choices and answers of a dataset.

    Args:
        dataset: With one text (the question) and a column of lists of choices.
        choices: That column; by default "choices", "options" or "endings".
        answer: The column of answers: a position from 0, a letter, or the text of the right choice; by default
            "answer", "answerKey", "answer_index" or the label.

    Raises:
        InputError: A column is not there, or no question can be used.
    """
    frame = dataset.examples
    column = choices or _choices_column(frame)
    if column is None or column not in frame.columns:
        raise InputError(
            f"there is no column {choices or CHOICES!r} with the choices", file=dataset.source,
            mend="name the column of lists choices",
        )  # fmt: skip
    key = answer or next((name for name in _ANSWERS if name in frame.columns), None)
    if key is None or key not in frame.columns:
        raise InputError(
            f"there is no column {answer or ANSWER!r} with the answers", file=dataset.source,
            mend="name the column of the right choice's position, letter or text answer",
        )  # fmt: skip
    kept, dropped = [], {"fewer than two choices": 0, "no answer among the choices": 0}
    for row in frame.select("example_id", dataset.text_columns[0], column, key).iter_rows():
        texts = tuple(str(each) for each in (row[2] or ()))
        if len(texts) < 2:
            dropped["fewer than two choices"] += 1
            continue
        at = _position(row[3], texts)
        if at is None:
            dropped["no answer among the choices"] += 1
            continue
        kept.append((str(row[0]), str(row[1]), texts, at))
    if not kept:
        raise InputError(
            "no question has an answer among its choices", file=dataset.source, column=key,
            mend="give the right choice's position from 0, its letter or its text",
        )  # fmt: skip
    ids, questions, lists, answers = zip(*kept, strict=True)
    return Questions(
        dataset.name, ids, questions, lists, np.array(answers, np.int64), {k: n for k, n in dropped.items() if n}
    )


def load_questions(
    train: Any, test: Any, columns: str | Mapping[str, str] | None, share: float, seed: int
) -> tuple[Questions, Questions, list[dict[str, Any]]] | None:
    """Training and evaluation questions, and what the report says of them; None where the data hold no choices.

    Without an evaluation set that of the data is used, or a share of the questions is set apart, none in both parts.

    Raises:
        InputError: One holds choices and the other does not, or they cannot be used.
    """
    roles = dict(parse_columns(columns) if isinstance(columns, str) else columns or {})
    named = roles.pop(CHOICES, None), roles.pop(ANSWER, None)
    name, place = named_path(train)
    source = load_data(place, "train", roles or None, name)
    if not (holds_choices(source) or named[0]):
        return None
    if test is None:
        whole = read_questions(source, *named)
        inside = _apart(whole, share, seed)
        decision = (
            f"{int(inside.sum()):,} of {len(whole):,} questions were set apart (seed {seed}), none in both parts."
        )
        return whole.take(~inside), whole.take(inside), [describe_input("train", source, (decision,))]
    name, place = named_path(test)
    tried = load_data(place, "test", roles or None, name)
    described = [describe_input("train", source), describe_input("test", tried)]
    return read_questions(source, *named), read_questions(tried, *named), described


def _apart(whole: Questions, share: float, seed: int) -> NDArray[np.bool_]:
    """Which questions are set apart; equal ones stay together."""
    units = np.unique([normalized_text(each) for each in whole.questions], return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(units.max() + 1)
    return np.asarray(order[units] < max(1, round(share * (units.max() + 1))))


def choice_evidence(train: Questions, test: Questions, seeds: Sequence[int], progress: Progress) -> ConditionEvidence:
    """Train the quick probes on question and choice, choice, and question, and let them answer.

    The gold labels of the evidence are positions, so that the majority is that of always naming the position that is
    right most often. Nothing is trained for "longest_choice", which is always named.

    Raises:
        InputError: The data cannot be learned from.
    """
    most = int(max(train.sizes.max(), test.sizes.max()))
    names = tuple(string.ascii_uppercase[:most]) if most <= 26 else tuple(str(at) for at in range(most))
    rows, tried = train.rows(), test.rows()
    logits: dict[str, list[NDArray[np.float64]]] = {name: [] for name in CONDITIONS}
    total = 3 * len(seeds)
    for run in train_probes(rows, tried, conditions=(PAIRED, "hypothesis_only"), seeds=seeds):
        assert run.logits is not None
        margin = np.asarray(run.logits[0][:, 1] - run.logits[0][:, 0], dtype=np.float64)
        logits[PAIRED if run.condition == PAIRED else "choices_only"].append(_by_question(margin, test, most))
        progress(sum(map(len, logits.values())), total)
    known = [name for at, name in enumerate(names) if (train.answers == at).any() or (test.answers == at).any()]
    places = np.array([names.index(name) for name in known])
    for run in train_probes(_held(train, known, names), _held(test, known, names), seeds=seeds):
        assert run.logits is not None
        whole = np.full((len(test), most), -np.inf)
        whole[:, places] = run.logits[0]
        logits["question_only"].append(_masked(whole, test))
        progress(sum(map(len, logits.values())), total)
    lengths = np.array([len(text) for each in test.choices for text in each], np.float64)
    logits[LONGEST].append(_by_question(lengths, test, most))
    runs = {name: _runs(each, test, names, name, seeds, train.name) for name, each in logits.items()}
    return ConditionEvidence(
        name=test.name,
        model="quick_probe",
        source=PROBES,
        label_names=names,
        gold=test.answers,
        example_ids=np.array(test.ids),
        conditions=runs,
        probabilities={name: _probabilities(logits[name], test) for name in CONDITIONS[:3]},
        # Scores of nothing: what the number of choices and the positions of answers tell by themselves.
        null=_probabilities([_masked(np.zeros((len(test), most)), test)], test),
        null_is="shares of positions in the other half of the questions, on which the probes' scores are scaled, too",
        about=(
            "The quick probe is a linear model on hashed words and word pairs, trained to tell right choices from "
            "wrong ones; the choice it finds likeliest is its answer"
        ),
        remarks=tuple(f"{n:,} questions of {each.name} were left out: {why}." for each in (train, test)
                      for why, n in each.dropped.items()),
    )  # fmt: skip


def _choices_column(frame: pl.DataFrame) -> str | None:
    return next((name for name in _CHOICES if isinstance(frame.schema.get(name), pl.List)), None)


def _position(answer: Any, texts: tuple[str, ...]) -> int | None:
    """Where the answer stands among the choices: by number from 0, by letter, or by its text."""
    if isinstance(answer, bool) or answer is None:
        return None
    if isinstance(answer, int) or (isinstance(answer, float) and answer.is_integer()):
        return int(answer) if 0 <= answer < len(texts) else None
    text = str(answer).strip()
    if text in texts:
        return texts.index(text)
    if len(text) == 1 and text.upper() in string.ascii_uppercase:
        at = string.ascii_uppercase.index(text.upper())
        return at if at < len(texts) else None
    return int(text) if text.isdigit() and int(text) < len(texts) else None


def _by_question(values: NDArray[np.float64], test: Questions, most: int) -> NDArray[np.float64]:
    """Values of all choices, one after the other, as a row a question; -inf where there is no choice, (N, most)."""
    table = np.full((len(test), most), -np.inf)
    rows = np.repeat(np.arange(len(test)), test.sizes)
    places = np.concatenate([np.arange(size) for size in test.sizes])
    table[rows, places] = values
    return table


def _masked(table: NDArray[np.float64], test: Questions) -> NDArray[np.float64]:
    return np.where(np.arange(table.shape[1]) < test.sizes[:, np.newaxis], table, -np.inf)


def _held(part: Questions, known: Sequence[str], names: Sequence[str]) -> Dataset:
    made = part.positions(names)
    return replace(made, label_names=tuple(known))


def _runs(
    logits: Sequence[NDArray[np.float64]],
    test: Questions,
    names: Sequence[str],
    condition: str,
    seeds: Sequence[int],
    train_set: str,
) -> Runs:
    return Runs.from_arrays(
        predictions=np.stack([each.argmax(axis=1) for each in logits]),
        gold=test.answers,
        seeds=np.array(list(seeds)[: len(logits)]),
        label_names=names,
        example_ids=np.array(test.ids),
        model="quick_probe",
        dataset=test.name,
        condition=condition,
        split="test",
        train_set=train_set,
    )


def _probabilities(logits: Sequence[NDArray[np.float64]], test: Questions) -> NDArray[np.float64]:
    """The right choice's probability by each run, (R, N): scores scaled on the other half of the questions."""
    rows = np.arange(len(test))
    return np.stack([np.exp(cross_calibrate(each, test.answers)[rows, test.answers]) for each in logits])
