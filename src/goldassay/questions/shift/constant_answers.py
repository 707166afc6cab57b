"""What the same answer to every question would score: the floor of exact match and F1.

Candidates are the answers that are right somewhere, after the official normalization, and no answer at all. The best
of them are kept.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.runs.answers import normalize_answer, question_of, read_answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.runs.answers import AnswerMetric

# Constant answers that may be the best one; the floor is the best of these.
_KEPT = 20
# Candidates at once, so that a table of candidates and answers stays small.
_AT_ONCE = 200
# Of more, those with the most frequent words are tried.
_MOST_CANDIDATES = 5_000


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
    table = _Table(flat)
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


class _Table:
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
