"""Tables 1 to 3 of Liu et al. 2020, laid out of any dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.sections import PrintedTable
from goldassay.questions.artifacts.inputs import cut, texts_for
from goldassay.questions.artifacts.measures.difficulty import assign_difficulty
from goldassay.questions.artifacts.measures.mining import fold_redundant
from goldassay.questions.artifacts.subsets import classify
from goldassay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.progress import Progress
    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.inputs import Bounds
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable

# Kinds of patterns, by whether they have several tokens; of each label and kind so many are shown.
KINDS = {"multi-word": True, "unigram": False}
SHOWN = 5
_ALONE = 0.5
_CLASSIFIERS = {
    "majority": "majority class", "n-grams": "fasttext", "unigrams": "Unigram", "patterns": "Pattern",
}  # fmt: skip
_SHARE = {"statistic": "p_label_given_pattern"}
IN_PLACE = (
    "in place of fasttext a linear model on hashed words and word pairs; the majority class is that of the training "
    "rows."
)
_SEEDS = range(5)


def lay_out(
    train: Dataset, test: Dataset | None, patterns: PatternTable, bounds: Bounds, threshold: float, progress: Progress
) -> tuple[PrintedTable, ...]:
    """Tables 1 to 3 of a dataset; the second trains classifiers.

    Args:
        train: What the patterns were mined from.
        test: Examples with labels, or None: then Tables 2 and 3 are empty.
        patterns: All that were mined.
        bounds: Of the mining.
        threshold: Above which a pattern makes an example easy or hard.
        progress: Told after each classifier.

    Raises:
        InputError: The two sets do not fit, or cannot be trained on.
    """
    of = {"dataset": train.name}
    strongest = [
        {
            **of, "pattern_type": kind, "label": label, "pattern": row["pattern"],
            **share_cell(row["hits"], row["support"]),
        }
        for kind, label, row in telling_patterns(patterns)
    ]  # fmt: skip
    classifiers, examples = [], []
    if test is not None:
        trained = classify(train, test, bounds, _SEEDS, progress)
        classifiers = classifier_cells(train.name, test.name, trained.table)
        examples = _example_cells(test, patterns, threshold)
    least = patterns.settings["min_count"]
    return (
        PrintedTable(
            "liu2020_table1", "Table 1: how often the strongest patterns go with their label, in points",
            ("pattern_type", "label", "pattern"), ("statistic",), tuple(strongest),
            note=f"the {SHOWN} strongest of each label in {least} sentences or more, of several that tell the same "
            "one; intervals are Wilson's.",
            needs="patterns that go with one label more often than not",
        ),
        PrintedTable(
            "liu2020_table2", "Table 2: accuracy of what sees the hypothesis alone", ("model",), ("dataset", "split"),
            tuple(classifiers), note=IN_PLACE, needs="a test set",
        ),
        PrintedTable(
            "liu2020_table3", "Table 3: an easy and a hard example, with the patterns that they hold",
            ("example", "text", "gold label", "pattern", "label"), ("statistic",), tuple(examples),
            needs="a test set" if test is None else "an easy and a hard example",
        ),
    )  # fmt: skip


def telling_patterns(patterns: PatternTable, least: int = 0) -> list[tuple[str, str, dict[str, Any]]]:
    """Kind, label and row (pattern, hits, support) of the strongest patterns, by kind and label.

    Args:
        patterns: All that were mined.
        least: Sentences that hold one.
    """
    found = fold_redundant(patterns.select(_ALONE)).filter(
        pl.col("support") >= max(least, patterns.settings["min_count"]), pl.col("folded_under").is_null()
    )
    several = pl.col("tokens").list.len() > 1
    rows = []
    for kind, multiword in KINDS.items():
        for place, label in enumerate(patterns.label_names):
            own = found.filter(pl.col("label") == label, several if multiword else ~several)
            top = own.sort("probability", "support", descending=True).head(SHOWN)
            hits = top.select("pattern", "support", hits=pl.col("counts").list.get(place))
            rows += [(kind, label, row) for row in hits.to_dicts()]
    return rows


def share_cell(hits: int, support: int) -> dict[str, Any]:
    """How often a pattern goes with a label, in points with Wilson's interval; nothing where no sentence holds it."""
    if not support:
        return dict(_SHARE)
    bounds = wilson_interval(hits, support)
    return {**_SHARE, "ours": 100 * hits / support, "low": 100 * bounds.low, "high": 100 * bounds.high}


def classifier_cells(dataset: str, split: str, table: pl.DataFrame) -> list[dict[str, Any]]:
    """Accuracy of each classifier that sees the hypothesis alone, as the paper calls them, in points."""
    return [
        {
            "model": _CLASSIFIERS[row["classifier"]], "dataset": dataset, "split": split, "ours": 100 * row["accuracy"],
            "low": 100 * row["low"], "high": 100 * row["high"], "n_runs": row["n_runs"],
        }
        for row in table.to_dicts()
    ]  # fmt: skip


def _example_cells(test: Dataset, patterns: PatternTable, threshold: float) -> list[dict[str, Any]]:
    """Of the easy and of the hard examples the one whose patterns are most telling, each with these."""
    kept = cut(patterns, threshold)
    texts, labels = texts_for(test, patterns), test.examples["label"].to_list()
    assigned, frame = assign_difficulty(texts, labels, kept), kept.to_frame()
    shares = frame["probability"].to_numpy()
    cells: list[dict[str, Any]] = []
    for kind in ("easy", "hard"):
        own = [at for at, found in enumerate(assigned.classes.tolist()) if found == kind]
        first = max(own, key=lambda at: float(shares[assigned.pattern_ids_of(at)].max()), default=None)
        if first is None:
            continue
        place = int(assigned.rows[first])
        of = {"example": kind, "text": texts[place], "gold label": labels[place]}
        held = frame[assigned.pattern_ids_of(first).tolist()].sort("probability", descending=True).head(SHOWN)
        for row in held.to_dicts():
            keys: Mapping[str, Any] = {**of, "pattern": row["pattern"], "label": row["label"]}
            cells.append({**keys, **share_cell(round(row["probability"] * row["support"]), row["support"])})
    return cells
