"""Rules by subject: each as in its own items, false discoveries as scipy controls them, and only what is planted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control

from goldassay.leakage.choice_rules import measure_rules, pick_all
from goldassay.leakage.choice_subjects import rules_by_subject
from tests.leakage.test_choice_rules import random_items

if TYPE_CHECKING:
    from goldassay.data.items import ChoiceItems


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
