"""Rules by subject: each as in its own items, false discoveries as scipy controls them, and only what is planted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control

from goldassay.readers.choice_rules import measure_rules, pick_all
from goldassay.readers.choice_subjects import pick_by_subject, rules_by_subject
from tests.leakage.test_choice_rules import random_items

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems


def in_subjects(n: int, n_subjects: int, seed: int) -> ChoiceItems:
    names = np.random.default_rng(seed).integers(n_subjects, size=n)
    return replace(random_items(n, seed), subjects=pl.Series("subject", [f"s{name}" for name in names.tolist()]))


def with_longest(items: ChoiceItems, subject: str) -> ChoiceItems:
    """The same items, in one subject the right choice three times as long."""
    assert items.subjects is not None
    told = (items.subjects == subject).to_numpy()[items.item_of] & items.right
    texts = [" ".join([text] * (3 if longer else 1)) for text, longer in zip(items.texts, told.tolist(), strict=True)]
    return replace(items, texts=pl.Series("choice", texts))


def test_each_subject_is_measured_as_if_it_were_alone() -> None:
    items = in_subjects(700, 2, 0)
    found = rules_by_subject(items, pick_all(items))
    assert items.subjects is not None
    for subject in ("s0", "s1"):
        own = items.take(np.flatnonzero((items.subjects == subject).to_numpy()))
        # Words are rare in all items, not in those of one subject.
        wanted = {each.rule: each for each in measure_rules(own)[0] if "specific" not in each.rule}
        rows = found.filter((pl.col("subject") == subject) & ~pl.col("rule").str.contains("specific"))
        assert rows.height == len([each for each in wanted.values() if each.n_items])
        for row in rows.iter_rows(named=True):
            one = wanted[row["rule"]]
            assert (row["n_items"], row["hits"], row["effect"]) == (one.n_items, one.hits, one.effect)
            assert (row["z"], row["p"]) == pytest.approx((one.z, one.p))


def test_false_discoveries_are_controlled_over_all_subjects_and_rules() -> None:
    items = in_subjects(900, 6, 1)
    found = rules_by_subject(items, pick_all(items))
    assert found["q"].to_list() == pytest.approx(false_discovery_control(found["p"].to_numpy()).tolist())
    assert found["q"].is_sorted()


def test_a_flaw_of_one_subject_is_found_there_and_nowhere_else() -> None:
    items = with_longest(in_subjects(2000, 20, 2), "s7")
    surest = rules_by_subject(items, pick_all(items)).filter(pl.col("q") < 0.01)
    assert set(surest["subject"]) == {"s7"}
    assert {"longest", "most words"} <= set(surest["rule"])


def test_without_a_flaw_nothing_is_found_in_most_draws() -> None:
    found = [
        rules_by_subject(items, pick_all(items)).filter(pl.col("q") < 0.05).height > 0
        for items in (in_subjects(600, 12, seed) for seed in range(20))
    ]
    assert sum(found) <= 3


def test_items_of_one_cluster_count_together() -> None:
    items = with_longest(in_subjects(400, 4, 3), "s1")
    alone = rules_by_subject(items, pick_all(items))
    joined = rules_by_subject(items, pick_all(items), np.arange(400) // 40)
    of = (pl.col("subject") == "s1") & (pl.col("rule") == "longest")
    assert joined.filter(of)["z"].item() < 0.7 * alone.filter(of)["z"].item()


def test_without_subjects_there_are_no_rows() -> None:
    items = random_items(50, 0)
    assert rules_by_subject(items, pick_all(items)).height == 0
    one = replace(items, subjects=pl.Series(["all"] * 50))
    assert rules_by_subject(one, pick_all(one)).columns[-1] == "q"
    assert rules_by_subject(one, pick_all(one)).height == 0


def turned(n: int, n_subjects: int, share: float, seed: int) -> ChoiceItems:
    """Items of three choices whose right one is, in a share of each subject's items, the one numbered like it."""
    rng = np.random.default_rng(seed)
    subjects = rng.integers(n_subjects, size=n)
    places = np.where(rng.random(n) < share, subjects % 3, rng.integers(3, size=n))
    right = np.zeros(3 * n, np.bool_)
    right[3 * np.arange(n) + places] = True
    items = random_items(n, seed)
    return replace(
        items,
        texts=pl.Series("choice", ["same"] * (3 * n)),
        offsets=np.arange(0, 3 * n + 1, 3),
        right=right,
        subjects=pl.Series("subject", [f"s{name}" for name in subjects.tolist()]),
    )


def test_rules_that_cancel_each_other_over_all_items_are_found_by_subject() -> None:
    items = turned(1200, 6, 0.5, 3)
    picks = pick_all(items)
    assert max(abs(each.effect) for each in measure_rules(items)[0] if each.n_items) < 0.1
    groups = np.arange(1200)
    found = pick_by_subject(items, picks, "by subject", groups % 5, groups)
    assert found is not None
    # Right where the subject tells it, and in a third of the others.
    assert found.hits.mean() == pytest.approx(2 / 3, abs=0.05)
    assert found.applies.all()


def test_no_item_has_a_part_in_the_rule_that_is_followed_in_it() -> None:
    items = turned(1200, 6, 0.5, 3)
    assert items.subjects is not None
    groups = np.arange(1200)
    folds = np.where((items.subjects == "s1").to_numpy(), 0, 1 + groups % 4)
    found = pick_by_subject(items, pick_all(items), "by subject", folds, groups)
    assert found is not None
    assert not found.applies[folds == 0].any()


def test_without_a_flaw_hardly_any_subject_has_a_rule_to_follow() -> None:
    items = turned(1200, 6, 0.0, 4)
    groups = np.arange(1200)
    found = pick_by_subject(items, pick_all(items), "by subject", groups % 5, groups)
    assert found is not None
    assert found.applies.mean() < 0.1
    assert pick_by_subject(replace(items, subjects=None), [], "by subject", groups % 5, groups) is None
