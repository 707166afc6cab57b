"""Answers to questions, scored as SQuAD scores them: exact match and F1, and the best threshold for no answer."""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.naming import listing
from goldassay.runs.run_parts import BestThreshold, BestThresholds, Columns
from goldassay.runs.tables import start_of, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from goldassay.runs.statuses import Missing


AnswerMetric = Literal["f1", "exact_match"]
# The only right answer to a question that the text does not answer: none.
NO_ANSWER = ""
# The group that says of each question whether it has an answer, and its names.
ANSWERABLE, WITH_ANSWER, WITHOUT_ANSWER = "answer", "there is one", "there is none"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Variants of a question in AddSent and AddOneSent: the question's own id, then which distracting sentence was added.
_VARIANT = re.compile(r"(?P<question>[0-9a-f]+)-(?:high|turk).*")


def normalize_answer(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces: the official order."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def score_answer(prediction: str, references: Sequence[str], metric: AnswerMetric = "f1") -> float:
    """Best score of a predicted answer over the reference answers, in [0, 1].

    F1 is over the words after normalization, with repeats counted; 0 where no word is shared, but 1 where neither has
    any: that is the right answer, `NO_ANSWER`, to a question that has none.

    Raises:
        InputError: There is no reference answer.

    Source: Rajpurkar, Zhang, Lopyrev and Liang 2016; Rajpurkar, Jia and Liang 2018 for questions without an answer.
    """
    if not references:
        raise InputError("a question has no reference answer")
    predicted = normalize_answer(prediction)
    wanted = [normalize_answer(reference) for reference in references]
    if metric == "exact_match":
        return float(predicted in wanted)
    return max(_f1(predicted.split(), reference.split()) for reference in wanted)


def _f1(predicted: list[str], reference: list[str]) -> float:
    if not predicted and not reference:
        return 1.0
    shared = sum((Counter(predicted) & Counter(reference)).values())
    # 2pr/(p + r) with p = shared/predicted and r = shared/reference.
    return 2 * shared / (len(predicted) + len(reference)) if shared else 0.0


def read_answers(path: Path) -> dict[str, list[str]] | None:
    """Reference answers of a SQuAD file by question id; None if it is not one.

    In a file of SQuAD 2.0, which says of each question whether it is impossible, a question without an answer has the
    one reference `NO_ANSWER`, and references without words (a mere "the") do not count, as its official script has it.
    """
    if not path.is_file() or (start_of(path, 1) not in (b"{", b"\x1f", b"\x28")):
        return None
    data = unpacked(path)
    if b'"qas"' not in data or b'"paragraphs"' not in data:
        return None
    try:
        articles = json.loads(data)["data"]
        questions = [
            question for article in articles for paragraph in article["paragraphs"] for question in paragraph["qas"]
        ]
        found = {str(question["id"]): _references(question) for question in questions}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"the SQuAD file is damaged ({error})", file=path) from error
    if found and not any("is_impossible" in question for question in questions):
        given = [text for wanted in found.values() for text in wanted]
        if given and not any(text.strip() for text in given):
            raise InputError(
                "all right answers are empty, and the file does not say that the questions have none",
                file=path,
                mend="get the file with its answers, which test sets are often handed out without",
            )
    return found


def _references(question: dict[str, Any]) -> list[str]:
    given = [str(answer["text"]) for answer in question["answers"]]
    if "is_impossible" not in question:
        return given
    return [text for text in given if normalize_answer(text)] or [NO_ANSWER]


def question_of(name: str) -> str:
    """The id of the question that an id of AddSent or AddOneSent is a variant of; any other id as it is."""
    match = _VARIANT.fullmatch(name)
    return match["question"] if match else name


def score_columns(
    columns: Columns,
    references: dict[str, list[str]],
    *,
    metric: AnswerMetric,
    missing: Missing,
    file: str,
) -> Columns:
    """Predicted answers as scores by question; of several variants of a question the lowest counts.

    The lowest is taken before anything else: a mean over questions is what the official score of AddSent is.

    Raises:
        InputError: There are no predictions, or questions lack one and the rule for what is missing refuses that.
    """
    if columns.prediction is None:
        raise InputError(
            "the run has no predicted answers to score",
            file=file,
            mend=None if columns.score is None else f"it has scores: leave out {right_labels()}",
        )
    pairs = zip(columns.example_ids, columns.prediction, strict=True)
    predictions: dict[str, Any] = {question: answer for question, answer in pairs if answer is not None}
    lacking = [question for question in references if question not in predictions]
    if lacking and missing in ("auto", "refuse"):
        n = len(references)
        raise InputError(
            f"{len(lacking)} of {n} questions have no prediction, first {listing(lacking)}",
            file=file,
            mend=f"give them, or count them as wrong with {option('missing', 'wrong')}, or keep the other "
            f"{n - len(lacking)} with {option('missing', 'leave-out')}",
        )
    absent = set(lacking if missing != "leave-out" else ())
    lowest: dict[str, float] = {}
    answerable: dict[str, str] = {}
    for question, wanted in references.items():
        if question in predictions or question in absent:
            name = question_of(question)
            score = 0.0 if question in absent else score_answer(str(predictions[question]), wanted, metric)
            lowest[name] = min(score, lowest.get(name, 1.0))
            answerable[name] = WITHOUT_ANSWER if wanted == [NO_ANSWER] else WITH_ANSWER
    both = len(set(answerable.values())) > 1
    thresholds = None
    if columns.no_answer is not None and WITHOUT_ANSWER in answerable.values() and len(lowest) == len(predictions):
        thresholds = _thresholds(columns, references)
    return Columns(
        example_ids=pl.Series(list(lowest), dtype=pl.String),
        score=pl.Series(list(lowest.values()), dtype=pl.Float64),
        groups={ANSWERABLE: pl.Series(list(answerable.values()), dtype=pl.String)} if both else {},
        thresholds=thresholds,
        status=_status(list(lowest), {question_of(question) for question in absent}) if absent else None,
    )


def _status(names: Sequence[str], absent: set[str]) -> pl.Series:
    return pl.Series(["missing" if name in absent else "scored" for name in names], dtype=pl.String)


def _thresholds(columns: Columns, references: dict[str, list[str]]) -> BestThresholds:
    """Of both metrics, whichever is the score."""
    assert columns.prediction is not None
    assert columns.no_answer is not None
    rows = [
        (str(answer), references[question], float(p))
        for question, answer, p in zip(columns.example_ids, columns.prediction, columns.no_answer, strict=True)
        if question in references and answer is not None
    ]
    found = {}
    for metric in get_args(AnswerMetric):
        scores = [score_answer(answer, wanted, metric) for answer, wanted, _ in rows]
        found[metric] = best_threshold(
            scores, [bool(answer) for answer, *_ in rows], [wanted != [NO_ANSWER] for _, wanted, _ in rows],
            [p for *_, p in rows],
        )  # fmt: skip
    return BestThresholds(found["exact_match"], found["f1"])


# As the scripts that write predictions name them: null_odds.json, eval_null_odds.json, NAME_na_probs.json.
_NAMES = ("null_odds", "na_prob", "na_probs", "na_probabilities")
_PREDICTIONS = re.compile(r"_?(predictions?|preds?)$")


def best_threshold(
    scores: ArrayLike, answered: ArrayLike, has_answer: ArrayLike, no_answer: ArrayLike
) -> BestThreshold:
    """The threshold t on the no-answer probability p that maximizes the mean score.

        score(t) = 1/N (sum_{p_i <= t} s_i + sum_{p_i > t} [question i has no answer])

    t is -inf (everything left unanswered) or one of the probabilities; of equally good ones the lowest. The official
    script also stops between questions of one probability, where no threshold can be, and may print more there. It was
    chosen on the questions that it is scored on, so that it flatters the system a little.

    Args:
        scores: (N,) of the answers as predicted, in [0, 1]; 1 for an empty answer to a question without one.
        answered: (N,) whether the predicted answer is not empty.
        has_answer: (N,) whether the question has an answer.
        no_answer: (N,) finite; a probability, or any score that grows with it.

    Raises:
        InputError: There are no questions, or a probability is not finite.

    Source: Rajpurkar, Jia and Liang 2018, evaluation script for SQuAD 2.0.
    """
    values, said, known, p = (np.asarray(each) for each in (scores, answered, has_answer, no_answer))
    if values.size == 0 or not np.isfinite(p).all():
        raise InputError("no-answer probabilities are not a finite number for each question", mend="give one for each")
    order = np.argsort(p, kind="stable")
    # By answering it a question with an answer gains its score, one without loses its point if anything is said.
    gains = np.where(known, values, -said.astype(np.float64))[order]
    reached = np.concatenate([[0.0], np.cumsum(gains)]) + float((~known.astype(bool)).sum())
    last_of_its_kind = np.append(np.flatnonzero(np.diff(p[order]) > 0), p.size - 1)
    ends = np.concatenate([[0], last_of_its_kind + 1])
    best = int(ends[int(reached[ends].argmax())])
    return BestThreshold(float(reached[best]) / values.size, -math.inf if best == 0 else float(p[order][best - 1]))


def probabilities_beside(path: Path, questions: Sequence[str]) -> dict[str, float] | None:
    """No-answer probabilities by question that lie beside a file of predictions; None where there are none.

    Looked for are null_odds.json beside predictions.json, eval_null_odds.json beside eval_predictions.json and
    NAME_na_prob.json beside NAME.json, also packed.

    Raises:
        InputError: The file is no object of finite numbers, or lacks some of the questions.
    """
    stem = path.name.split(".json")[0]
    start = _PREDICTIONS.sub("", stem)
    stems = [f"{start}_{name}" if start else name for name in _NAMES] + [f"{stem}_{name}" for name in _NAMES]
    for name in dict.fromkeys(stems):
        for ending in (".json", ".json.gz", ".json.zst"):
            if (file := path.with_name(name + ending)).is_file():
                return _read(file, questions)
    return None


def _read(file: Path, questions: Sequence[str]) -> dict[str, float]:
    try:
        found = json.loads(unpacked(file)) if start_of(file, 1) else None
    except ValueError as error:
        raise InputError(f"the file is not whole JSON ({error})", file=file, mend="copy it again") from error
    if not isinstance(found, dict) or not all(_is_number(value) for value in found.values()):
        raise InputError(
            "no-answer probabilities are not an object of finite numbers by question",
            file=file,
            mend="write {question: number}, or move the file away",
        )
    return _whole(found, questions, file)


def _whole(found: Mapping[str, float], questions: Sequence[str], file: Path) -> dict[str, float]:
    missing = [question for question in questions if question not in found]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(questions)} questions have no no-answer probability, first {listing(missing)}",
            file=file,
            mend="add them, or move the file away",
        )
    return {question: float(found[question]) for question in questions}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
