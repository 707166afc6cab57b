"""What a report keeps of mined patterns, and what it folds of very many."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from goldassay.artifacts import PatternTable, fold_redundant, mine_patterns
from goldassay.questions.artifacts import reports as module
from goldassay.questions.artifacts.measures.mining import parts_below
from goldassay.questions.artifacts.reports import STANDING, of_table
from goldassay.questions.artifacts.search import strongest_by_lift
from tests.artifacts.test_mining import corpora, mine_quietly


def strongest(patterns: PatternTable, n: int) -> list[int]:
    """The first n where the labels take turns, each giving its rows by support x (probability - share)."""
    counts = patterns.settings["label_counts"]
    waiting: dict[str, list[tuple[float, int]]] = {name: [] for name in patterns.label_names}
    rows = patterns.to_frame().select("label", "support", "probability").iter_rows()
    for at, (label, support, probability) in enumerate(rows):
        share = counts[patterns.label_names.index(label)] / sum(counts)
        waiting[label].append((-support * (probability - share), at))
    for each in waiting.values():
        each.sort()
    taken: list[int] = []
    while any(waiting.values()):
        taken += [at for _, at in sorted(each.pop(0) for each in waiting.values() if each)]
    return sorted(taken[:n])


@given(corpora(), st.integers(1, 40), st.sampled_from([0.4, 0.6]))
@settings(max_examples=60)
def test_only_the_strongest_are_folded(corpus: tuple[list[str], list[str]], most: int, threshold: float) -> None:
    mined = mine_quietly(*corpus, 3, 2, 2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "FOLDED_AT_MOST", most)
        short = of_table(mined, 1.0, threshold)
        found = short.findings()
    assert short.judged.tolist() == strongest(short.selected, most)
    assert found.drop("folded_under", "n_folded").equals(short.selected.to_frame())
    judged = short.selected.take(short.judged)
    folded = fold_redundant(judged, parts_below(judged, [mined.significant(1.0)]))
    assert found[short.judged].equals(folded)
    others = found[np.setdiff1d(np.arange(found.height), short.judged)]
    assert others["folded_under"].null_count() == others["n_folded"].null_count() == max(found.height - most, 0)
    assert found.filter(STANDING).height == folded["folded_under"].null_count()


def test_a_rare_label_is_among_the_strongest() -> None:
    rows = [(f"a{i % 40} b{i % 30}", "xy"[i % 2]) for i in range(2000)] + [("rare", "z")] * 10
    sentences, labels = zip(*rows, strict=True)
    mined = mine_patterns(sentences, labels, min_count=5, tokenizer="whitespace")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "FOLDED_AT_MOST", 6)
        found = of_table(mined, 0.01, 0.7).findings()
    assert found.height > 6
    assert found.filter(STANDING, pl.col("label") == "z")["pattern"].to_list() == ["rare"]


def test_strongest_by_lift_show_what_a_rare_label_gives_away():
    # In 95 % of the rare label and 10 % of the other: p is a half, below any threshold, and the lift nearly 5.
    rng = np.random.default_rng(0)
    labels = (rng.random(2000) < 0.1).astype(np.int64)
    planted = rng.random(2000) < np.where(labels == 1, 0.95, 0.1)
    texts = [f"{'told ' if known else ''}w{rng.integers(1000)} w{rng.integers(1000)}" for known in planted]
    mined = mine_patterns(texts, labels, min_count=8, tokenizer="whitespace", label_names=["common", "rare"])
    short = of_table(mined, 0.01, 0.7)
    rows = strongest_by_lift(short.lifted, short.findings()["pattern"])
    first = next(row for row in rows if row.label == "rare")
    assert (first.pattern, first.by_share) == ("told", False)
    n, k = planted.sum(), (planted & (labels == 1)).sum()
    assert first.support == n
    assert first.probability == pytest.approx(k / n)
    low = proportion_confint(k, n, method="wilson")[0]
    assert first.lift == pytest.approx(low / labels.mean())
    assert "told" not in short.findings()["pattern"].to_list()
