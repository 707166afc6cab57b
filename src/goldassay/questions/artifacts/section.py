"""What a report says of mined patterns: the strongest of each label with examples, the scatter, the curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts import (
    Confirmation,
    DifficultyAssignment,
    Giveaway,
    assign_difficulty,
    confirm_patterns,
)
from goldassay.artifacts.coverage import CoverageCount
from goldassay.artifacts.pattern_worth import giveaway_by_counts
from goldassay.core.results import to_plain
from goldassay.questions.artifacts.inputs import CLUSTERS
from goldassay.questions.artifacts.phrases import find_phrases
from goldassay.questions.artifacts.readings import PatternReadings, read_by_patterns
from goldassay.questions.artifacts.samples import sample_examples
from goldassay.questions.artifacts.shortlist import STANDING
from goldassay.questions.row_details.pattern_examples import patterns_of_rows, table_of_examples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts import PatternFile, PatternTable
    from goldassay.artifacts.pattern_lift import LiftedPatterns
    from goldassay.questions.artifacts.phrases import Phrase
    from goldassay.questions.artifacts.searched import Searched, Training
    from goldassay.questions.artifacts.shortlist import Shortlist

# What is shown; the tables hold everything.
STRONGEST_PER_LABEL = 12
VARIANTS_PER_PATTERN = 8
BY_LIFT_PER_LABEL = 6


@dataclass(frozen=True)
class Described:
    """The section of the report on mined patterns, and what it was made from.

    Attributes:
        section: Plain data.
        findings: The selected patterns, folded; with a test set also how each does there.
        confirmation: The findings on the test set, or None.
        assignment: The classes of the test examples, or None.
        given: What guessing by pattern gains on the test set, or None.
        readings: What each way of guessing by pattern names for each test example, or None.
        pattern_examples: A few training examples of the patterns that test examples hold, or None.
    """

    section: dict[str, Any]
    findings: pl.DataFrame
    confirmation: Confirmation | None
    assignment: DifficultyAssignment | None
    given: Giveaway | None
    readings: PatternReadings | None = None
    pattern_examples: pl.DataFrame | None = None

    @property
    def classes(self) -> NDArray[np.str_]:
        """Difficulty of each test example: easy, hard, conflicting or uncovered, (N,)."""
        assert self.assignment is not None
        return self.assignment.classes


def describe_patterns(
    short: Shortlist,
    train: Training,
    test: Searched | None,
    seed: int,
    clusters: NDArray[np.int64] | None = None,
) -> Described:
    """Fold what is significant and telling, show examples of it, and see what it does on a test set if there is one.

    Args:
        short: Patterns of the training set.
        train: What they were mined from.
        test: What they are tried on; without it the curve is of the training set itself.
        seed: Of the examples shown.
        clusters: Codes from 0 of test examples that do not count by themselves, (N,).
    """
    selected = short.selected
    findings = short.findings()
    confirmation, assignment, given, readings = None, None, None, None
    if test is not None:
        confirmation = confirm_patterns(selected, test.corpus, test.labels, clusters=clusters)
        findings = findings.with_columns(
            confirmation.to_frame().select("test_support", "test_probability", "confirmed")
        )
        assignment = assign_difficulty(test.corpus, test.labels, selected)
        if len(assignment):
            # Of the selected every row counts: they are cut already.
            on_train = count_coverage(selected, (-1.0,), train)
            given = giveaway_by_counts(assignment, test.labels, on_train.label_counts, on_train.left_open[0], clusters)
            readings = read_by_patterns(short, assignment, on_train, train, test, seed)
    ranked = ranked_by_gain(findings, shares(selected))
    chosen = find_phrases(ranked, findings, selected, train, STRONGEST_PER_LABEL)
    heads = [phrase.head["at"] for phrases in chosen.values() for phrase in phrases]
    held = [] if assignment is None else patterns_of_rows(assignment)
    # One pass over the training part for both.
    samples = sample_examples(selected, sorted({*heads, *held}), train, seed)
    shown = ("max_tokens", "max_gap", "min_count", "tokenizer")
    section = {
        "applies_to": short.settings.get("text", train.text_columns[-1]),
        "settings": {
            **{key: short.settings[key] for key in shown},
            "q": short.q,
            "threshold": short.threshold,
        },
        "counted_together": short.settings.get(CLUSTERS),
        "prior": shares(selected),
        "n_mined": short.n_mined,
        "n_significant": short.n_significant,
        "n_selected": len(selected),
        "n_standing": int(findings.select(STANDING.sum()).item()),
        "n_not_folded": findings["n_folded"].null_count(),
        "n_confirmed": None if confirmation is None else confirmation.n_confirmed,
        "strongest": _strongest(findings, chosen, samples),
        "by_lift": strongest_by_lift(short.lifted, findings["pattern"]),
        "scatter": short.scatter,
        "coverage_of": "training" if test is None else "test",
        "coverage_curve": _curve(short, test or train),
    }
    if assignment is not None and given is not None:
        section |= {
            "difficulty": {name: {"n": n, "share": n / len(assignment)} for name, n in assignment.summary.items()},
            "coverage": given.coverage,
            "precision": given.precision,
            "giveaway": given.giveaway,
        }
    examples = table_of_examples(selected.to_frame()["pattern"].to_list(), {at: samples[at] for at in held})
    return Described(to_plain(section), findings, confirmation, assignment, given, readings, examples)


def shares(mined: PatternTable | PatternFile) -> dict[str, float]:
    """Each label's share of the sentences that were mined."""
    counts = np.array(mined.settings["label_counts"], np.float64)
    return dict(zip(mined.label_names, (counts / max(counts.sum(), 1.0)).tolist(), strict=True))


def ranked_by_gain(findings: pl.DataFrame, prior: dict[str, float]) -> pl.DataFrame:
    """The findings that stand for themselves, with their position `at`, by how much more than by chance they tell.

    Ranked by the examples they give away beyond the label's share, support x (probability - share): a pattern in ten
    examples with p = 1 matters less than one in a thousand with p = .9.
    """
    share = pl.col("label").replace_strict(prior, return_dtype=pl.Float64)
    return (
        findings.with_row_index("at")
        .filter(STANDING)
        .sort(pl.col("support") * (pl.col("probability") - share), descending=True, maintain_order=True)
    )


def strongest_by_lift(lifted: LiftedPatterns, selected: pl.Series) -> list[dict[str, Any]]:
    """Of each label the patterns with the largest lift, which a share above the threshold need not show.

    Args:
        lifted: Those that go with some label beyond chance.
        selected: Those that the table by share has.
    """
    codes, lifts = lifted.labels, lifted.lifts
    # Of equal ones the more frequent, which is the first row.
    order = np.lexsort((np.arange(codes.size), -lifts, codes))
    names = lifted.patterns.label_names
    best = [order[codes[order] == code][:BY_LIFT_PER_LABEL] for code in range(len(names))]
    rows = np.concatenate(best)
    frame, (counts, _) = lifted.patterns.take(rows).to_frame(), lifted.patterns.take(rows).counts_and_q()
    own = counts[np.arange(rows.size), codes[rows]]
    return (
        frame.select("pattern", "support")
        .with_columns(
            label=pl.Series([names[code] for code in codes[rows]], dtype=pl.String),
            probability=pl.Series(own / np.maximum(counts.sum(axis=1), 1)),
            lift=pl.Series(lifts[rows]),
            by_share=frame["pattern"].is_in(selected.implode()),
        )
        .to_dicts()
    )


def _strongest(
    findings: pl.DataFrame, chosen: Mapping[str, Sequence[Phrase]], samples: Mapping[int, list[dict[str, Any]]]
) -> dict[str, list[dict[str, Any]]]:
    keys = (
        "pattern", "support", "probability", "wilson_low", "wilson_high", "lift", "q_value",
        "test_support", "test_probability", "confirmed", "n_folded",
    )  # fmt: skip
    standing = pl.Series(
        [name for phrases in chosen.values() for phrase in phrases for name in phrase.standing], dtype=pl.String
    )
    folded = findings.filter(pl.col("folded_under").is_in(standing.implode()))

    def variants(phrase: Phrase, label: str) -> list[dict[str, Any]]:
        """Its fragments, then what is folded under it or them."""
        under = folded.filter(
            pl.col("folded_under").is_in(phrase.standing)
            & (pl.col("label") == label)
            & (pl.col("pattern") != phrase.head["pattern"])
        )
        rows = [*phrase.fragments, *under.head(VARIANTS_PER_PATTERN).iter_rows(named=True)][:VARIANTS_PER_PATTERN]
        return [{key: row[key] for key in ("pattern", "support", "probability")} for row in rows]

    return {
        label: [
            {
                **{key: phrase.head[key] for key in keys if key in phrase.head},
                "n_folded": phrase.n_folded,
                "variants": variants(phrase, label),
                "examples": samples[phrase.head["at"]],
            }
            for phrase in phrases
        ]
        for label, phrases in chosen.items()
    }


def _curve(short: Shortlist, searched: Training) -> list[dict[str, Any]]:
    """Coverage and precision at a row of thresholds."""
    counted = count_coverage(short.for_curve, short.thresholds, searched)
    n = int(counted.label_counts.sum())
    rows = zip(short.thresholds, counted.covered.tolist(), counted.decided.tolist(), counted.easy.tolist(), strict=True)
    return [
        {"threshold": t, "coverage": covered / n if n else None, "precision": easy / decided if decided else None}
        for t, covered, decided, easy in rows
    ]


def count_coverage(patterns: PatternTable, thresholds: tuple[float, ...], searched: Training) -> CoverageCount:
    """What patterns cover at each threshold, of texts in memory or on disk."""
    counted = CoverageCount(patterns, thresholds)
    for corpus, codes in searched.corpora():
        counted.add(corpus, codes)
    return counted
