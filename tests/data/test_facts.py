from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.document import Duplicates
from goldassay.data.dataset import Dataset
from goldassay.data.facts import describe
from goldassay.data.reading import read_dataset

row = st.tuples(st.sampled_from("pqr"), st.sampled_from(["u", "v w", "x y z"]), st.sampled_from("ab"))


def pairs(rows):
    return Dataset.from_frame([dict(zip(("premise", "hypothesis", "label"), r, strict=True)) for r in rows])


@given(st.lists(row, min_size=1, max_size=20), st.lists(row, min_size=1, max_size=20))
def test_counts_against_brute_force(train_rows, test_rows):
    facts = describe(pairs(train_rows), pairs(test_rows))
    assert (facts.n_train, facts.n_test) == (len(train_rows), len(test_rows))
    for split, rows in (("train", train_rows), ("test", test_rows)):
        assert facts.duplicates[split].exact == len(rows) - len(set(rows))
        conflicting = sum(len({c for a, b, c in rows if (a, b) == r[:2]}) > 1 for r in rows)
        assert facts.duplicates[split].conflicting == conflicting
        uses = Counter(p for p, _, _ in rows)
        reuse = facts.premise_reuse[split]
        assert (reuse.distinct, reuse.max) == (len(uses), max(uses.values()))
        assert reuse.mean == pytest.approx(len(rows) / len(uses))
        assert facts.label_counts[split] == dict(sorted(Counter(c for *_, c in rows).items()))
    whole = {r[:2] for r in train_rows}
    assert facts.overlap["rows"].n == sum(r[:2] in whole for r in test_rows)
    for k, role in enumerate(("premise", "hypothesis")):
        n = sum(r[k] in {t[k] for t in train_rows} for r in test_rows)
        assert (facts.overlap[role].n, facts.overlap[role].share) == (n, pytest.approx(n / len(test_rows)))


def test_lengths():
    facts = describe(Dataset.from_frame({"text": ["a b", "a  b\tc d", "a"], "label": ["x", "x", "y"]}))
    first = facts.lengths[0]
    assert (first.split, first.role, first.label, first.n) == ("train", "text", "x", 2)
    assert (first.mean, first.median) == (3, 3)
    assert first.p95 == pytest.approx(np.percentile([2, 4], 95))
    assert facts.length_unit == "words"
    assert facts.n_test is None
    assert facts.overlap == {}
    assert facts.premise_reuse == {}
    assert facts.to_frame().height == 2


def test_scripts_without_spaces_count_characters():
    facts = describe(Dataset.from_frame({"text": ["男人在睡觉。", "女人"], "label": ["x", "y"]}))
    assert facts.length_unit == "characters"
    assert [row.mean for row in facts.lengths] == [6, 2]


def test_unlabelled_and_scores():
    facts = describe(Dataset.from_frame({"text": ["a", "a", "b"]}))
    assert facts.label_counts == {}
    assert facts.duplicates == {"train": Duplicates(1, 0)}
    assert facts.lengths[0].label is None
    facts = describe(Dataset.from_frame({"text": ["a", "b"], "score": [0.5, 1.0]}))
    assert facts.label_counts == {}
    assert facts.lengths[0].n == 2


def test_plain_data():
    data = describe(Dataset.from_frame({"text": ["a", ""], "label": ["x", "y"]})).to_dict()
    assert data["dropped"] == {"train": {"text is empty": 1}}


def test_snli(data_dir):
    facts = describe(
        read_dataset(data_dir / "snli/train_sample_18k.tsv.gz"), read_dataset(data_dir / "snli/test.tsv.gz")
    )
    assert (facts.n_train, facts.n_test) == (18000, 9824)
    assert facts.dropped["test"] == {"gold label is '-'": 176}
    assert facts.overlap["rows"].n == 0
