"""What models answered on several datasets: scored as `Runs` are, as numbers for a correlation, or as logits alone.

`Runs` are scored by definition. Here a model's logits on texts without a label of its task are evidence too, and so are
the numbers that a regression predicts. The floor of exact match and F1 is what the best constant answer scores:
candidates are the answers that are right somewhere, after the official normalization, and no answer at all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.data.reading import read_dataset
from goldassay.questions.shift.measures.false_alarms import as_finite
from goldassay.questions.shift.measures.scores import as_logits
from goldassay.questions.shift.measures.set_metrics import CORRELATIONS
from goldassay.runs.answers import AnswerMetric, normalize_answer, question_of, read_answers
from goldassay.runs.assembly import ordered, position_of, taken
from goldassay.runs.reading import runs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.run_parts import Collection, Columns, Slice
    from goldassay.runs.runs import Runs

# Constant answers that may be the best one; the floor is the best of these.
_KEPT = 20
# Candidates at once, so that a table of candidates and answers stays small.
_AT_ONCE = 200
# Of more, those with the most frequent words are tried.
_MOST_CANDIDATES = 5_000


@dataclass(frozen=True)
class Answers:
    """What R runs of a model answered on the N examples of a dataset.

    Attributes:
        model: What tells the model apart: its name, and where several differ its training set and condition.
        train_set: What it was trained on, or "".
        dataset: Name of the dataset.
        seeds: (R,).
        example_ids: (N,).
        scores: Correctness or a graded score, (R, N), or None for numbers and where there are no labels.
        predictions: Codes of labels, or numbers, (R, N), or None.
        gold: Codes of labels, or numbers, (N,), or None.
        logits: (R, N, K), or None.
        label_names: The K labels in order; () for numbers.
        regression: Whether labels are numbers.
        file: Where it was read, for messages.
        ignored: Whether there were labels that were not asked for.
        probabilities: Whether the logits are logarithms of the probabilities that were found in their place.
        unnamed_logits: Whether there are logits that go unused, since nothing says which class each is of.
        features: What the runs made of the examples before their classifier, (R, N, D), where the runs' files hold it.
        constants: What constant answers to questions score on each example, (C, N), where right answers are at hand.
    """

    model: str
    train_set: str
    dataset: str
    seeds: tuple[Any, ...]
    example_ids: NDArray[Any]
    scores: NDArray[np.float64] | None
    predictions: NDArray[Any] | None
    gold: NDArray[Any] | None
    logits: NDArray[np.floating[Any]] | None
    label_names: tuple[str, ...]
    regression: bool
    file: str
    ignored: bool = False
    probabilities: bool = False
    unnamed_logits: bool = False
    features: NDArray[np.floating[Any]] | None = None
    constants: NDArray[np.float64] | None = None

    @property
    def n_examples(self) -> int:
        """N."""
        return len(self.example_ids)

    def take(self, rows: NDArray[np.bool_]) -> Answers:
        """The same runs on some of the examples, by a mask (N,)."""

        def among(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[:, rows]

        return replace(
            self,
            example_ids=self.example_ids[rows],
            scores=among(self.scores),
            predictions=among(self.predictions),
            logits=among(self.logits),
            features=among(self.features),
            constants=among(self.constants),
            gold=None if self.gold is None else self.gold[rows],
        )

    def of_seeds(self, seeds: Sequence[Any]) -> Answers:
        """Some of the runs, in this order."""
        places = [self.seeds.index(seed) for seed in seeds]

        def among(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[places]

        return replace(
            self,
            seeds=tuple(seeds),
            scores=among(self.scores),
            predictions=among(self.predictions),
            logits=among(self.logits),
            features=among(self.features),
        )


def texts_of(answers: Answers, dataset: Dataset | None) -> list[str] | None:
    """The text of each example, all roles joined by one space; None where not all are at hand."""
    if dataset is None or not dataset.text_columns:
        return None
    joined = dataset.examples.select(
        pl.col("example_id").cast(pl.String).alias("id"),
        pl.concat_str(list(dataset.text_columns), separator=" ", ignore_nulls=True).alias("text"),
    ).unique("id", maintain_order=True)
    ids = pl.DataFrame({"id": pl.Series([str(each) for each in answers.example_ids.tolist()], dtype=pl.String)})
    column = ids.join(joined, on="id", how="left", maintain_order="left")["text"]
    return None if column.null_count() else column.to_list()


def read_scored_answers(key: Collection, found: Sequence[Slice], choice: RunChoice, metric: str | None) -> Answers:
    """Read the runs of one model on one dataset, with what they are to be scored by.

    Args:
        key: Which.
        found: What was found at the paths.
        choice: How to read it, and where the right labels are.
        metric: Asked for, or None: a correlation makes numbers of labels; "exact_match" and "f1" are of answers.

    Raises:
        InputError: The runs cannot be read, do not fit together or have nothing to be scored by.
    """
    parts = [part for part in found if part.collection == key]
    gold = choice.gold_of(key.dataset)
    if metric in CORRELATIONS or (metric is None and _is_regression(parts[0], gold)):
        return _read_numbers(key, parts, gold, choice)
    try:
        runs = runs_of(
            list(found),
            key._asdict(),
            gold,
            checkpoint=choice.checkpoint,
            labels=choice.labels,
            label_names=choice.label_names,
            align=choice.align,
            missing=choice.missing,
            answer_metric="exact_match" if metric == "exact_match" else "f1",
        ).final()
    except InputError as error:
        if error.file is not None:
            raise
        # What is wrong with the numbers of several runs is found when they are put together, without their file.
        raise InputError(error.problem, file=parts[0].file, mend=error.mend) from error
    constants = None
    if runs.gold is None:
        constants = constants_of_gold(gold, runs.example_ids, "exact_match" if metric == "exact_match" else "f1")
    first = parts[0].load()
    made = answers_of(runs, parts[0].file, constants)
    unnamed = made.logits is None and first.logits is not None and not (first.label_names or choice.label_names)
    return replace(made, unnamed_logits=unnamed)


def answers_of(runs: Runs, file: str = "", constants: NDArray[np.float64] | None = None) -> Answers:
    """What runs at their last checkpoint answered.

    Args:
        runs: (R, N).
        file: Where they were read, for messages.
        constants: What constant answers score on each example, (C, N), where no labels are at hand.
    """
    logits, probabilities = (None, False) if runs.logits is None else as_logits(runs.logits)
    return Answers(
        model=runs.model,
        train_set=runs.train_set,
        dataset=runs.dataset,
        seeds=tuple(runs.seeds.tolist()),
        example_ids=runs.example_ids,
        scores=runs.scores,
        predictions=runs.predictions,
        gold=runs.gold,
        logits=logits,
        label_names=runs.label_names,
        regression=False,
        file=file,
        probabilities=probabilities,
        constants=constants,
    )


def read_logits(key: Collection, found: Sequence[Slice], choice: RunChoice) -> Answers:
    """Read the logits of the runs of one model on one dataset; labels, if there are any, are ignored.

    Raises:
        InputError: There are none, they hold NaN, or the runs do not cover the same examples.
    """
    seeds, columns, first = _aligned(key, [part for part in found if part.collection == key], choice)
    for each in columns:
        if each.logits is None:
            raise InputError(
                f"the runs of {key.model} on {key.dataset} have no logits or probabilities",
                file=first.file,
                mend="detection needs them: keep them when the predictions are made",
            )
    if len({each.logits.shape[1] for each in columns if each.logits is not None}) > 1:
        raise InputError("the runs have logits of different numbers of classes", file=first.file)
    logits = np.stack([each.logits for each in columns if each.logits is not None])
    try:
        as_finite(logits, f"logits of {key.model} on {key.dataset}", ("(R, N, K)",))
    except InputError as error:
        raise InputError(error.problem, file=first.file, mend=error.mend) from error
    logits, probabilities = as_logits(logits)
    held = [each.features for each in columns if each.features is not None]
    named = choice.label_names or next((each.label_names for each in columns if each.label_names), None)
    return Answers(
        model=key.model,
        train_set=key.train_set,
        dataset=key.dataset,
        seeds=seeds,
        example_ids=columns[0].example_ids.to_numpy(),
        scores=None,
        predictions=None,
        gold=None,
        logits=logits,
        label_names=tuple(named or ()),
        regression=False,
        file=first.file,
        features=np.stack(held) if len(held) == len(columns) and len({each.shape for each in held}) == 1 else None,
        ignored=any(each.label is not None for each in columns),
        probabilities=probabilities,
    )


def read_gold_texts(right: Mapping[str, str | Dataset | None]) -> dict[str, Dataset]:
    """{dataset: its texts} of those right labels that come with any."""
    found = {}
    for name, gold in right.items():
        if gold is None:
            continue
        try:
            found[name] = read_dataset(gold) if isinstance(gold, str) else gold
        except InputError:
            # A file of labels alone has served to score the runs by.
            continue
    return found


def _is_regression(part: Slice, gold: str | Dataset | None) -> bool:
    """Whether labels and predictions are numbers that cannot stand for classes.

    Not all are whole, and there are more than two labels: beside two, broken numbers are a class's probabilities.
    """
    columns = part.load()
    predicted = _numbers(columns)
    if predicted is None:
        return False
    right: pl.Series | None
    if gold is None:
        right = None if columns.label is None else columns.label.cast(pl.Float64, strict=False)
    else:
        dataset = read_gold_texts({"": gold}).get("")
        label = None if dataset is None or "label" not in dataset.examples.columns else dataset.examples["label"]
        right = label if label is not None and label.dtype.is_float() else None
    if right is None or right.null_count() or right.n_unique() <= 2:
        return False
    return bool((right % 1 != 0).any() or (predicted % 1 != 0).any())


def _numbers(columns: Columns) -> pl.Series | None:
    """Predictions as numbers: those of a column, or logits of one class; None where they are none."""
    if columns.logits is not None and columns.logits.shape[1] == 1:
        return pl.Series(columns.logits[:, 0].astype(np.float64))
    if columns.prediction is None:
        return None
    values = columns.prediction.cast(pl.Float64, strict=False)
    return None if values.null_count() > columns.prediction.null_count() else values


def _read_numbers(key: Collection, parts: Sequence[Slice], gold: str | Dataset | None, choice: RunChoice) -> Answers:
    seeds, columns, first = _aligned(key, parts, choice)
    what = f"{key.model} on {key.dataset}"
    predicted = [_numbers(each) for each in columns]
    if any(each is None for each in predicted):
        raise InputError(
            f"the predictions of {what} are not numbers, as a correlation needs", file=first.file,
            mend=f"leave out {option('metric')}, or give numbers",
        )  # fmt: skip
    ids, place = columns[0].example_ids, first.file
    if gold is not None:
        dataset, place = (read_dataset(gold), gold) if isinstance(gold, str) else (gold, gold.source)
        if "label" not in dataset.examples.columns:
            raise InputError("there are no labels", file=place, mend="name their column")
        table = dataset.examples["example_id"].cast(pl.String)
        places = position_of(ids, table)
        if places.null_count():
            raise InputError(
                f"{places.null_count()} of {len(ids)} examples of {what} are not in the gold", file=place,
                mend="give the file that was predicted, with the same example ids",
            )  # fmt: skip
        right = dataset.examples["label"].gather(places).cast(pl.Float64, strict=False)
    elif columns[0].label is None:
        raise InputError(
            f"the runs of {what} have no gold labels to be scored by",
            file=first.file,
            mend=f"give {right_labels()}",
        )
    else:
        right = columns[0].label.cast(pl.Float64, strict=False)
    if right.null_count():
        raise InputError(f"{right.null_count()} labels of {what} are no numbers", file=place)
    values = np.stack([each.to_numpy() for each in predicted if each is not None])
    try:
        as_finite(values, f"predictions of {what}", ("(R, N)",))
        targets = as_finite(right.to_numpy(), f"labels of {what}", ("(N,)",))
    except InputError as error:
        raise InputError(error.problem, file=first.file, mend=error.mend) from error
    return Answers(
        model=key.model,
        train_set=key.train_set,
        dataset=key.dataset,
        seeds=seeds,
        example_ids=ids.to_numpy(),
        scores=None,
        predictions=values,
        gold=targets,
        logits=None,
        label_names=(),
        regression=True,
        file=first.file,
    )


def _aligned(
    key: Collection, parts: Sequence[Slice], choice: RunChoice
) -> tuple[tuple[Any, ...], list[Columns], Slice]:
    """The last checkpoint of each run, all with the examples of the first in its order."""
    by_seed: dict[Any, list[Slice]] = {}
    for part in parts:
        by_seed.setdefault(part.seed, []).append(part)
    seeds = tuple(ordered(set(by_seed)))
    chosen = []
    for seed in seeds:
        own = by_seed[seed]
        if choice.checkpoint not in (None, "last"):
            own = [part for part in own if str(part.checkpoint) == str(choice.checkpoint)]
        if not own:
            raise InputError(f"the run with seed {seed} of {key.model} has no checkpoint {choice.checkpoint!r}")
        last = ordered({part.checkpoint for part in own})[-1] if len(own) > 1 else own[0].checkpoint
        same = [part for part in own if part.checkpoint == last]
        if len(same) > 1:
            raise InputError(
                f"the run with seed {seed} is there twice", file=same[1].file,
                mend=f"the other is in {same[0].file}: remove one of them",
            )  # fmt: skip
        chosen += same
    loaded = [part.load() for part in chosen]
    first = loaded[0].example_ids
    if first.n_unique() < first.len():
        raise InputError("an example is there twice", file=chosen[0].file, mend="give each its own id")
    aligned = [loaded[0]]
    for part, columns in zip(chosen[1:], loaded[1:], strict=True):
        places = position_of(first, columns.example_ids)
        if places.null_count() or columns.example_ids.len() != first.len():
            raise InputError(
                f"the run with seed {part.seed} covers other examples than that with seed {chosen[0].seed}",
                file=part.file, mend="give all runs on the same examples",
            )  # fmt: skip
        aligned.append(taken(columns, places))
    if not first.len():
        raise InputError(f"the runs of {key.model} on {key.dataset} have no examples", file=chosen[0].file)
    return seeds, aligned, chosen[0]


def constants_of_gold(
    gold: str | Dataset | None, ids: Iterable[Any], metric: AnswerMetric
) -> NDArray[np.float64] | None:
    """Scores of the best constant answers on questions, (C, N); None where it is no SQuAD file or lacks some."""
    references = read_answers(Path(gold)) if isinstance(gold, str) else None
    if references is None:
        return None
    by_question: dict[str, list[list[str]]] = {}
    for question, wanted in references.items():
        by_question.setdefault(question_of(question), []).append(wanted)
    names = [str(each) for each in ids]
    if any(name not in by_question for name in names):
        return None
    return constant_scores([by_question[name] for name in names], metric)


def constant_scores(references: Sequence[Sequence[Sequence[str]]], metric: AnswerMetric) -> NDArray[np.float64]:
    """Scores of the best constant answers, (C, N), the best first.

    Args:
        references: For each of N questions the right answers of each of its variants; the worst variant counts.
        metric: "exact_match" or "f1", the best over the right answers of a variant.
    """
    # Each right answer once a variant; a table of candidates x right answers is then folded up twice.
    wanted = [
        [list(dict.fromkeys(normalize_answer(answer) for answer in variant)) for variant in variants]
        for variants in references
    ]
    flat = [answer for variants in wanted for variant in variants for answer in variant]
    starts = _starts([len(variant) for variants in wanted for variant in variants])
    questions = _starts([len(variants) for variants in wanted])
    candidates = _candidates(flat)
    best: list[NDArray[np.float64]] = []
    table = _AnswerTable(flat)
    for start in range(0, len(candidates), _AT_ONCE):
        chunk = candidates[start : start + _AT_ONCE]
        raw = table.exact(chunk) if metric == "exact_match" else table.f1(chunk)
        scores = np.minimum.reduceat(np.maximum.reduceat(raw, starts, axis=1), questions, axis=1)
        best = sorted([*best, *scores], key=lambda row: -float(row.mean()))[:_KEPT]
    return np.stack(best)


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)


def _candidates(flat: Sequence[str]) -> list[str]:
    """Distinct right answers and no answer; of very many those with the most frequent words."""
    distinct = list(dict.fromkeys([*flat, ""]))
    if len(distinct) <= _MOST_CANDIDATES:
        return distinct
    words = Counter(word for answer in flat for word in set(answer.split()))
    whole = Counter(flat)

    def worth(answer: str) -> tuple[float, int]:
        own = answer.split()
        return (sum(words[word] for word in own) / (len(own) + 1), whole[answer])

    return sorted(distinct, key=worth, reverse=True)[:_MOST_CANDIDATES]


class _AnswerTable:
    """Right answers, ready to be compared with candidates."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._distinct = {answer: at for at, answer in enumerate(dict.fromkeys(answers))}
        self._of = np.array([self._distinct[answer] for answer in answers])
        self._words: dict[tuple[str, int], int] = {}
        self._lengths = np.array([len(answer.split()) for answer in self._distinct], dtype=np.float64)
        self._right = self._incidence(list(self._distinct), grow=True)

    def exact(self, candidates: Sequence[str]) -> NDArray[np.float64]:
        """1 where a candidate is the right answer, (C, M)."""
        places = np.array([self._distinct.get(each, -1) for each in candidates])
        return (places[:, np.newaxis] == self._of).astype(np.float64)

    def f1(self, candidates: Sequence[str]) -> NDArray[np.float64]:
        """F1 of the words, repeats counted, (C, M): 2 shared/(words of both)."""
        shared = (self._incidence(candidates, grow=False) @ self._right.T).toarray()
        lengths = np.array([len(each.split()) for each in candidates], dtype=np.float64)
        both = lengths[:, np.newaxis] + self._lengths
        # Of no words each: no answer to a question that has none.
        found = np.where(shared > 0, 2 * shared / np.where(both > 0, both, 1.0), (both == 0).astype(np.float64))
        return np.asarray(found)[:, self._of]

    def _incidence(self, answers: Sequence[str], *, grow: bool) -> Any:
        """Which words an answer has, the k-th of several equal ones counting as a word of its own, (A, V), sparse."""
        from scipy.sparse import csr_array

        rows, columns = [], []
        for row, answer in enumerate(answers):
            seen: Counter[str] = Counter()
            for word in answer.split():
                key = (word, seen[word])
                seen[word] += 1
                place = self._words.setdefault(key, len(self._words)) if grow else self._words.get(key)
                if place is not None:
                    rows.append(row)
                    columns.append(place)
        ones = np.ones(len(rows))
        return csr_array((ones, (rows, columns)), shape=(len(answers), max(1, len(self._words))))
