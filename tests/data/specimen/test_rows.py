from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.data.specimen.rows import LABELS, draw_rows


@settings(max_examples=10)
@given(st.integers(0, 1000), st.integers(100, 700), st.integers(36, 90))
def test_sizes_are_kept_labels_balanced_and_no_sentence_is_shared(seed: int, train: int, test: int) -> None:
    rows = draw_rows(Random(seed), {"train": train, "dev": test, "test": test}, {})
    assert {part: len(members) for part, members in rows.items()} == {"train": train, "dev": test, "test": test}
    for members in rows.values():
        counts = Counter(row.label for row in members)
        assert max(counts.values()) - min(counts.values()) <= 1
    premises = [row.premise for members in rows.values() for row in members]
    assert len(premises) == len(set(premises))
    claims = {part: {row.claim for row in members} for part, members in rows.items()}
    assert not claims["train"] & claims["test"]
    assert not claims["train"] & claims["dev"]
    assert not claims["dev"] & claims["test"]


def test_leaning_topics_lean_by_their_share() -> None:
    sizes = {"train": 1200, "dev": 120, "test": 120}
    rows = draw_rows(Random(0), sizes, {"post": ("neutral", 0.7)})
    counts = Counter(row.label for row in rows["train"] if row.topic == "post")
    assert [counts[label] for label in LABELS] == [15, 70, 15]
