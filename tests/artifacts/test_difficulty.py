import csv
import gzip
import json
from itertools import pairwise

import numpy as np
import pytest

from goldassay.artifacts import assign_difficulty, mine_patterns
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.data.tokenization import tokenize
from tests.artifacts.conftest import LABELS, SENTENCES


def test_hand_example(hand):
    assigned = assign_difficulty(SENTENCES, LABELS, hand().select(0.7))
    assert assigned.classes.tolist() == ["easy"] * 3 + ["hard"] + ["uncovered"] * 3
    assert assigned.summary == {"easy": 3, "hard": 1, "conflicting": 0, "uncovered": 3}
    assert assigned.coverage == pytest.approx(4 / 7)
    assert assigned.easy_share == 0.75
    assert (assigned.easy_share_interval.low, assigned.easy_share_interval.high) == pytest.approx(
        (0.3006418, 0.9544127)
    )
    assert [ids.size for ids in assigned.pattern_ids] == [4, 4, 4, 2, 0, 0, 0]
    assert assigned.threshold == 0.7


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.4, 0.6])
def test_equals_the_definition(hand, threshold):
    table = hand(2).select(threshold)
    rows = table.to_frame().select("pattern", "label").rows()
    assigned = assign_difficulty(SENTENCES, LABELS, table)
    frame = assigned.to_frame()
    for gold, kind, named, ids in zip(LABELS, frame["class"], frame["labels"], frame["pattern_ids"], strict=True):
        labels = {rows[i][1] for i in ids}
        assert set(named) == labels
        if not labels:
            expected = "uncovered"
        elif gold not in labels:
            expected = "hard"
        else:
            expected = "easy" if labels == {gold} else "conflicting"
        assert kind == expected


def test_result_holds_only_the_summary(hand):
    plain = assign_difficulty(SENTENCES, LABELS, hand().select(0.7)).to_dict()
    assert json.loads(json.dumps(plain))["summary"]["easy"] == 3


def test_nothing_covered_is_undefined_and_said(hand):
    assigned = assign_difficulty(["x"], ["e"], hand().select(0.7))
    assert assigned.coverage == 0
    with pytest.warns(UndefinedMeasureWarning, match="no example is easy or hard"):
        assert np.isnan(assigned.easy_share)
    assert assigned.to_dict()["easy_share"] is None


def test_no_examples(hand):
    assigned = assign_difficulty([], [], hand().select(0.7))
    assert len(assigned) == 0
    assert assigned.to_frame().height == 0
    with pytest.warns(UndefinedMeasureWarning, match="there is no example"):
        assert np.isnan(assigned.coverage)


def test_missing_labels(hand):
    table = hand().select(0.7)
    with pytest.raises(InputError, match="sentence 2 has no label"):
        assign_difficulty(["A", "outdoors"], ["e", "-"], table)
    assigned = assign_difficulty(["outdoors", "outdoors", "x"], ["-", "e", "c"], table, missing="drop")
    assert assigned.rows.tolist() == [1, 2]
    assert assigned.classes.tolist() == ["easy", "uncovered"]
    split = tokenize(["outdoors", "x", "outdoors"], "whitespace")
    assigned = assign_difficulty(split, ["-", "c", "e"], table, missing="drop")
    assert (assigned.rows.tolist(), assigned.classes.tolist()) == ([1, 2], ["uncovered", "easy"])


def test_labels_the_patterns_do_not_know(hand):
    with pytest.raises(InputError, match="label 'maybe' is not among the labels c, e, n"):
        assign_difficulty(["A"], ["maybe"], hand().select(0.7))


def rows_of(path, **named):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, **named))


# The published subsets came of 549,367 training rows; 20,000 of these must tell nearly the same story.


@pytest.fixture(scope="module")
def table(data_dir):
    rows = [row for part in ("2k", "18k") for row in rows_of(data_dir / f"snli/train_sample_{part}.tsv.gz")]
    return mine_patterns(
        [row["hypothesis"] for row in rows],
        [row["gold_label"] for row in rows],
        min_count=20,
        label_names=["entailment", "neutral", "contradiction"],
    )


@pytest.fixture(scope="module")
def published(data_dir):
    return {
        kind: rows_of(
            data_dir / f"golden/hyponli/snli_test_{kind}_lambda0.8.tsv.gz",
            fieldnames=["label", "premise", "hypothesis"],
        )
        for kind in ("easy", "hard")
    }


def test_the_published_easy_are_seldom_hard_here(table, published):
    for kind, other in (("easy", "hard"), ("hard", "easy")):
        rows = published[kind]
        # These files are tokenized already: their tokens are what the table was mined with.
        corpus = [row["hypothesis"] for row in rows]
        summary = assign_difficulty(corpus, [row["label"] for row in rows], table.select(0.8)).summary
        assert summary[kind] > 4 * summary[other]


def test_the_share_of_easy_lies_above_chance_and_coverage_falls_with_the_threshold(data_dir, table):
    rows = rows_of(data_dir / "snli/test_9824.tsv.gz")
    sentences, labels = [row["hypothesis"] for row in rows], [row["gold_label"] for row in rows]
    assigned = [assign_difficulty(sentences, labels, table.select(t)) for t in (0.5, 0.6, 0.7, 0.8)]
    assert all(a.coverage > b.coverage for a, b in pairwise(assigned))
    assert all(a.easy_share < b.easy_share for a, b in pairwise(assigned))
