"""The no-answer probability from which on a question is best left unanswered, as SQuAD 2.0's official script has it."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.runs.run_parts import BestThreshold
from goldassay.runs.tables import start_of, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

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
