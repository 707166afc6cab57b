"""Search a training part for patterns, try them on a test part, judge what they give away, and describe them.

The audit, `artifacts mine` in memory and `artifacts mine --memory` all end here, so that they cannot disagree.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from goldassay.core.finding import Finding
from goldassay.core.verdicts import not_measurable
from goldassay.questions.artifacts.inputs import CLUSTERS, Bounds, column_for, mine_corpus
from goldassay.questions.artifacts.measures.clusters import Confirmation, confirm_patterns
from goldassay.questions.artifacts.measures.difficulty import (
    DifficultyAssignment,
    Giveaway,
    assign_difficulty,
    giveaway_by_counts,
)
from goldassay.questions.artifacts.measures.presence import CoverageCount
from goldassay.questions.artifacts.readings import PatternReadings, read_by_patterns
from goldassay.questions.artifacts.result import (
    ClassSize,
    CurvePoint,
    Estimated,
    LiftedPattern,
    MinedWith,
    PatternPoint,
    PatternsResult,
    StrongPattern,
    TriedPattern,
    Variant,
)
from goldassay.questions.artifacts.shortlist import (
    STANDING,
    Shortlist,
    TellingPatterns,
    find_phrases,
    of_table,
    ranked_by_gain,
    sample_examples,
    shares,
    telling_of_table,
)
from goldassay.questions.artifacts.training import Searched
from goldassay.questions.artifacts.verdict import judge_artifacts, measure_patterns
from goldassay.questions.example_clusters import cluster_doubts
from goldassay.questions.row_details import patterns_of_rows, table_of_examples

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.core.settings import ArtifactLimits, ArtifactSettings, Settings
    from goldassay.data import Dataset
    from goldassay.data.tokenization import TokenizedCorpus
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.questions.artifacts.measures.presence import LiftedPatterns
    from goldassay.questions.artifacts.result import MarkedExample
    from goldassay.questions.artifacts.shortlist import Phrase
    from goldassay.questions.artifacts.training import SharedTexts, Training
    from goldassay.stats.clusters import Clusters
    from goldassay.stats.verdicts import Doubt

Telling = TypeVar("Telling", bound=TellingPatterns)


@dataclass(frozen=True)
class PatternSearch:
    """Patterns of one text of the training part, tried on the test part.

    Attributes:
        mined: All patterns that are frequent enough.
        described: Everything measured of them.
    """

    mined: PatternTable
    described: Described


def search_patterns(
    train: Dataset,
    test: Dataset | None,
    bounds: Bounds,
    keeping: ArtifactSettings,
    seed: int,
    progress: Progress,
    clusters: NDArray[np.int64] | None = None,
) -> PatternSearch:
    """Mine one text of the training part, and try the findings on the test part.

    Args:
        train: The training part.
        test: The test part, with the same labels, if there is one.
        bounds: Of mining, and which text.
        keeping: Beyond which q and share a pattern is kept.
        seed: Of the examples shown.
        progress: Told while patterns are counted.
        clusters: Codes of test examples that do not count by themselves, (N,).

    Raises:
        InputError: The patterns cannot be mined, or the test part has no such text.
    """
    mined, corpus = mine_corpus(train, bounds, progress)
    short = of_table(mined, keeping.q, keeping.threshold)
    return PatternSearch(mined, _tried(short, train, test, seed, corpus, clusters))


def describe_search(
    train: Dataset,
    test: Dataset | None,
    bounds: Bounds,
    keeping: ArtifactSettings,
    seed: int,
    progress: Progress,
    shared: SharedTexts,
    clusters: NDArray[np.int64] | None = None,
) -> Described:
    """What `search_patterns` describes, without the table of all patterns: of millions of rows the largest thing."""
    mined, corpus = mine_corpus(train, bounds, progress, shared)
    short = of_table(mined, keeping.q, keeping.threshold)
    del mined
    return _tried(short, train, test, seed, corpus, clusters)


def try_patterns(
    mined: PatternTable, train: Dataset, test: Dataset | None, keeping: ArtifactSettings, seed: int
) -> PatternSearch:
    """What `search_patterns` does with patterns that were mined already."""
    return PatternSearch(mined, _tried(of_table(mined, keeping.q, keeping.threshold), train, test, seed, None))


def _tried(
    short: Shortlist,
    train: Dataset,
    test: Dataset | None,
    seed: int,
    corpus: TokenizedCorpus | None,
    clusters: NDArray[np.int64] | None = None,
) -> Described:
    searched, tried = _searched(short, train, corpus), None if test is None else _searched(short, test)
    return describe_patterns(short, searched, tried, seed, clusters)


def _searched(short: TellingPatterns, dataset: Dataset, corpus: TokenizedCorpus | None = None) -> Searched:
    return Searched(dataset, column_for(dataset, short.selected), short.selected, corpus)


def answer(
    described: Described,
    text_columns: Sequence[str],
    grouping: Clusters | None,
    limits: ArtifactLimits,
    seed: int,
    doubts: Sequence[Doubt] = (),
) -> Finding:
    """The finding on mined patterns, wherever they and what they were mined from are.

    Args:
        described: Everything measured of them.
        text_columns: Roles of the texts of the training part.
        grouping: Clusters of the examples that they were tried on, if there are any.
        limits: When to say caution or unsound.
        seed: Of the draws behind the intervals.
        doubts: Why nothing can be called sound, besides clusters.
    """
    tables = {"patterns": described.findings}
    if described.given is None or described.readings is None:
        verdict = not_measurable(
            "The patterns were tried on no other data, so that nothing is known of what they give away there.",
            "Name an evaluation set with --test FILE.",
        )
        return Finding("artifacts", verdict, tables=tables, result=described.section)
    clusters = None if grouping is None else grouping.codes_if_any
    effects = measure_patterns(described.readings, clusters, limits, seed)
    verdict = judge_artifacts(
        effects,
        described.readings,
        described.given,
        clusters=clusters,
        doubts=[*cluster_doubts(grouping), *doubts],
        n_selected=described.section.n_selected,
        threshold=described.section.settings.threshold,
        is_part=len(text_columns) > 1 and described.section.applies_to != "all",
        limits=limits,
    )
    return Finding("artifacts", verdict, tables=tables, result=replace(described.section, effects=effects))


@dataclass(frozen=True)
class Control:
    """Patterns of a text that should tell nothing: how many there are, and what guessing by them names."""

    n_mined: int
    n_significant: int
    n_selected: int
    readings: PatternReadings


def read_control(train: Dataset, test: Dataset, role: str, settings: Settings, shared: SharedTexts) -> Control:
    """Mine one text of the training part and guess the test labels by its patterns, which are not described."""
    telling, readings = _read(train, test, role, settings, telling_of_table, shared)
    return Control(telling.n_mined, telling.n_significant, len(telling.selected), readings)


def read_role(train: Dataset, test: Dataset, role: str, settings: Settings) -> tuple[Shortlist, PatternReadings]:
    """As `read_control`, with the patterns that a report needs."""
    return _read(train, test, role, settings, of_table)


def _read(
    train: Dataset,
    test: Dataset,
    role: str,
    settings: Settings,
    choose: Callable[[PatternTable, float, float], Telling],
    shared: SharedTexts | None = None,
) -> tuple[Telling, PatternReadings]:
    keeping = settings.artifacts
    bounds = Bounds(
        keeping.max_tokens, keeping.max_gap, keeping.min_count, keeping.tokenizer, role, settings.data.clusters
    )
    with warnings.catch_warnings():
        # That nothing was frequent enough is a finding: no example is then covered.
        warnings.simplefilter("ignore", UserWarning)
        mined, corpus = mine_corpus(train, bounds, shared=shared)
    chosen = choose(mined, keeping.q, keeping.threshold)
    # The largest thing here.
    del mined
    searched, held_out = _searched(chosen, train, corpus), _searched(chosen, test)
    assignment = assign_difficulty(held_out.corpus, held_out.labels, chosen.selected)
    on_train = count_coverage(chosen.selected, (-1.0,), searched)
    return chosen, read_by_patterns(chosen, assignment, on_train, searched, held_out, settings.seed)


# What is shown; the tables hold everything.
STRONGEST_PER_LABEL = 12
VARIANTS_PER_PATTERN = 8
BY_LIFT_PER_LABEL = 6


@dataclass(frozen=True)
class Described:
    """The section of the report on mined patterns, and what it was made from.

    Attributes:
        section: What is shown.
        findings: The selected patterns, folded; with a test set also how each does there.
        confirmation: The findings on the test set, or None.
        assignment: The classes of the test examples, or None.
        given: What guessing by pattern gains on the test set, or None.
        readings: What each way of guessing by pattern names for each test example, or None.
        pattern_examples: A few training examples of the patterns that test examples hold, or None.
    """

    section: PatternsResult
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
    settings = short.settings
    section = PatternsResult(
        applies_to=settings.get("text", train.text_columns[-1]),
        settings=MinedWith(
            settings["max_tokens"],
            settings["max_gap"],
            settings["min_count"],
            settings["tokenizer"],
            short.q,
            short.threshold,
        ),
        counted_together=settings.get(CLUSTERS),
        prior=shares(selected),
        n_mined=short.n_mined,
        n_significant=short.n_significant,
        n_selected=len(selected),
        n_standing=int(findings.select(STANDING.sum()).item()),
        n_not_folded=findings["n_folded"].null_count(),
        n_confirmed=None if confirmation is None else confirmation.n_confirmed,
        strongest=_strongest(findings, chosen, samples),
        by_lift=strongest_by_lift(short.lifted, findings["pattern"]),
        scatter=tuple(PatternPoint(**row) for row in short.scatter),
        coverage_of="training" if test is None else "test",
        coverage_curve=_curve(short, test or train),
        tokenizer_reason=None,
        control=None,
    )
    if assignment is not None and given is not None:
        n = len(assignment)
        section = replace(
            section,
            difficulty={name: ClassSize(size, size / n) for name, size in assignment.summary.items()},
            coverage=given.coverage,
            precision=Estimated(**vars(given.precision)),
            giveaway=Estimated(**vars(given.giveaway)),
        )
    examples = table_of_examples(selected.to_frame()["pattern"].to_list(), {at: samples[at] for at in held})
    return Described(section, findings, confirmation, assignment, given, readings, examples)


def strongest_by_lift(lifted: LiftedPatterns, selected: pl.Series) -> tuple[LiftedPattern, ...]:
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
    probability = own / np.maximum(counts.sum(axis=1), 1)
    by_share = frame["pattern"].is_in(selected.implode())
    columns = (frame["pattern"], frame["support"], codes[rows].tolist(), probability.tolist(), lifts[rows].tolist())
    return tuple(
        LiftedPattern(pattern, support, names[code], share, lift, listed)
        for pattern, support, code, share, lift, listed in zip(*columns, by_share, strict=True)
    )


def _strongest(
    findings: pl.DataFrame, chosen: Mapping[str, Sequence[Phrase]], samples: Mapping[int, tuple[MarkedExample, ...]]
) -> dict[str, tuple[StrongPattern, ...]]:
    standing = pl.Series(
        [name for phrases in chosen.values() for phrase in phrases for name in phrase.standing], dtype=pl.String
    )
    folded = findings.filter(pl.col("folded_under").is_in(standing.implode()))

    def variants(phrase: Phrase, label: str) -> tuple[Variant, ...]:
        """Its fragments, then what is folded under it or them."""
        under = folded.filter(
            pl.col("folded_under").is_in(phrase.standing)
            & (pl.col("label") == label)
            & (pl.col("pattern") != phrase.head["pattern"])
        )
        rows = [*phrase.fragments, *under.head(VARIANTS_PER_PATTERN).iter_rows(named=True)][:VARIANTS_PER_PATTERN]
        return tuple(Variant(row["pattern"], row["support"], row["probability"]) for row in rows)

    def strong(phrase: Phrase, label: str) -> StrongPattern:
        head = phrase.head
        found = StrongPattern(
            pattern=head["pattern"],
            support=head["support"],
            probability=head["probability"],
            wilson_low=head["wilson_low"],
            wilson_high=head["wilson_high"],
            lift=head["lift"],
            q_value=head["q_value"],
            n_folded=phrase.n_folded,
            variants=variants(phrase, label),
            examples=samples[head["at"]],
        )
        if "test_support" not in head:
            return found
        return TriedPattern(
            **vars(found),
            test_support=head["test_support"],
            test_probability=head["test_probability"],
            confirmed=head["confirmed"],
        )

    return {label: tuple(strong(phrase, label) for phrase in phrases) for label, phrases in chosen.items()}


def _curve(short: Shortlist, searched: Training) -> tuple[CurvePoint, ...]:
    """Coverage and precision at a row of thresholds."""
    counted = count_coverage(short.for_curve, short.thresholds, searched)
    n = int(counted.label_counts.sum())
    rows = zip(short.thresholds, counted.covered.tolist(), counted.decided.tolist(), counted.easy.tolist(), strict=True)
    return tuple(
        CurvePoint(t, covered / n if n else None, easy / decided if decided else None)
        for t, covered, decided, easy in rows
    )


def count_coverage(patterns: PatternTable, thresholds: tuple[float, ...], searched: Training) -> CoverageCount:
    """What patterns cover at each threshold, of texts in memory or on disk."""
    counted = CoverageCount(patterns, thresholds)
    for corpus, codes in searched.corpora():
        counted.add(corpus, codes)
    return counted
