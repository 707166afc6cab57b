"""Classes and kinds of hits, against plain rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.questions.overlap.measures import COUNTED, KINDS, classify, kinds_of, worst_kinds

SHARE = st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.8, 1.0])


def plain_kind(coverage: float, asked: float, answer: float, answered: bool, part: float, has_answer: bool) -> str:
    if has_answer:
        if answered and max(coverage, asked) >= 0.8:
            return "question and answer"
        if asked >= 0.8 or (coverage >= 0.8 and answer < 0.8):
            return "question only"
        if answer >= 0.8:
            return "answer only"
    elif coverage >= 0.8 and asked >= 0.8:
        return "whole item"
    if part >= 0.8:
        return "one part"
    return "some words" if max(coverage, asked, answer, part) >= 0.2 else "none"


@given(st.lists(st.tuples(SHARE, SHARE, SHARE, st.booleans(), SHARE, st.booleans()), min_size=1, max_size=30))
def test_kinds_are_those_of_the_plain_rules(rows: list[tuple[float, float, float, bool, float, bool]]) -> None:
    columns = [np.array(values) for values in zip(*rows, strict=True)]
    assert [KINDS[kind] for kind in kinds_of(*columns)] == [plain_kind(*row) for row in rows]


def test_classes() -> None:
    shares = [0.0, 0.199, 0.2, 0.799, 0.8, 1.0]
    assert classify(shares).tolist() == ["clean", "clean", "partial", "partial", "dirty", "dirty"]


def test_the_worst_kind_of_each_item() -> None:
    kinds = [KINDS.index(kind) for kind in ("question only", "question and answer", "some words")]
    worst = worst_kinds([1, 1, 2], kinds, 4)
    assert [KINDS[kind] for kind in worst] == ["none", "question and answer", "some words", "none"]


@pytest.mark.parametrize("kind", COUNTED)
def test_what_counts_is_the_worst(kind: str) -> None:
    assert KINDS.index(kind) < len(COUNTED)
