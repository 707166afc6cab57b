"""Search a training part for patterns, try them on a test part, judge what they give away, and describe them.

The audit, `artifacts mine` in memory and `artifacts mine --memory` all end here, so that they cannot disagree.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.progress import Progress, silent
from goldassay.core.results import not_measurable
from goldassay.core.sections import Finding
from goldassay.questions.artifacts.inputs import ALL_TEXTS, CLUSTERS, Bounds, TextToMine, column_for
from goldassay.questions.artifacts.measures.clusters import TESTED_UP_TO, Confirmation, confirm_patterns
from goldassay.questions.artifacts.measures.difficulty import (
    DifficultyAssignment,
    Giveaway,
    assign_difficulty,
    giveaway_by_counts,
    giveaway_of,
)
from goldassay.questions.artifacts.measures.presence import CoverageCount, LiftedPatterns, PredictivePatterns
from goldassay.questions.artifacts.readings import (
    BY_SHARE,
    PatternReadings,
    WordReadings,
    read_by_folds,
    read_by_patterns,
    read_words,
)
from goldassay.questions.artifacts.reports import (
    STANDING,
    Phrase,
    Shortlist,
    find_phrases,
    of_table,
    predictive_patterns_of,
    ranked_by_gain,
    sample_examples,
    shares,
)
from goldassay.questions.artifacts.result import (
    ClassSize,
    CurvePoint,
    Estimated,
    LiftedPattern,
    MarkedExample,
    MinedWith,
    OtherText,
    PatternPoint,
    PatternsResult,
    StrongPattern,
    TriedPattern,
    Variant,
)
from goldassay.questions.artifacts.training import Searched, SharedTexts, Training
from goldassay.questions.artifacts.verdict import judge_artifacts, measure_patterns
from goldassay.questions.example_clusters import cluster_doubts
from goldassay.questions.rows import patterns_of_rows, table_of_examples
from goldassay.stats.verdicts import Doubt, judge_effects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.settings import ArtifactLimits, ArtifactSettings, Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.readers.conditions import DataSplit
    from goldassay.stats.clusters import Clusters, Folds
    from goldassay.stats.effects import Effects


@dataclass(frozen=True)
class PatternSearch:
    """Patterns of one text, tried on the rows that are read.

    Attributes:
        mined: All patterns that are frequent enough.
        described: Everything measured of them.
    """

    mined: PatternTable
    described: Described


def search_patterns(
    dataset: Dataset,
    split: DataSplit | None,
    bounds: Bounds,
    keeping: ArtifactSettings,
    seed: int,
    progress: Progress = silent,
    shared: SharedTexts | None = None,
    clusters: NDArray[np.int64] | None = None,
) -> PatternSearch:
    """Mine one text, and try what is found on rows that did not teach it.

    Args:
        dataset: What is mined and shown: the training part, or all rows where there was no test part.
        split: Who teaches whom; None tries nothing.
        bounds: Of mining, and which text.
        keeping: Beyond which q and share a pattern is kept.
        seed: Of the examples shown.
        progress: Told while patterns are counted.
        shared: Which rows of the dataset share texts, where it is known already.
        clusters: Codes of rows that are read and do not count by themselves, (N,).

    Raises:
        InputError: The patterns cannot be mined, or the test part has no such text.
    """
    text = TextToMine.of(dataset, bounds, shared)
    mined = text.mine(progress=progress)
    return PatternSearch(mined, _tried(of_table(mined, keeping.q, keeping.threshold), text, split, seed, clusters))


def describe_search(
    dataset: Dataset,
    split: DataSplit | None,
    bounds: Bounds,
    keeping: ArtifactSettings,
    seed: int,
    progress: Progress = silent,
    shared: SharedTexts | None = None,
    clusters: NDArray[np.int64] | None = None,
) -> Described:
    """What `search_patterns` describes, without the table of all patterns: of millions of rows the largest thing."""
    text = TextToMine.of(dataset, bounds, shared)
    mined = text.mine(progress=progress)
    short = of_table(mined, keeping.q, keeping.threshold)
    del mined
    return _tried(short, text, split, seed, clusters)


def _tried(
    short: Shortlist, text: TextToMine, split: DataSplit | None, seed: int, clusters: NDArray[np.int64] | None
) -> Described:
    searched = _searched_text(text, short)
    if split is None or split.whole is None:
        tried = None if split is None else _searched(short, split.test)
        return describe_patterns(short, searched, tried, seed, clusters)
    return describe_patterns(short, searched, None, seed, clusters, read_folds(short, text, split.folds, seed))


def _searched_text(text: TextToMine, short: PredictivePatterns, rows: NDArray[np.int64] | None = None) -> Searched:
    """The text's rows, or some of them, ascending."""
    if rows is None:
        return Searched(text.dataset, text.texts, short.selected, text.corpus)
    texts = text.texts if isinstance(text.texts, pl.Series) else pl.Series(text.texts, dtype=pl.String)
    corpus = text.corpus.take(np.isin(np.arange(len(texts)), rows))
    return Searched(text.dataset.take(rows), texts[rows], short.selected, corpus)


def try_patterns(
    mined: PatternTable, train: Dataset, test: Dataset | None, keeping: ArtifactSettings, seed: int
) -> PatternSearch:
    """What `search_patterns` does with patterns that were mined already, and a test part if there is one."""
    short = of_table(mined, keeping.q, keeping.threshold)
    tried = None if test is None else _searched(short, test)
    return PatternSearch(mined, describe_patterns(short, _searched(short, train), tried, seed))


def _searched(short: PredictivePatterns, dataset: Dataset) -> Searched:
    return Searched(dataset, column_for(dataset, short.selected), short.selected)


@dataclass(frozen=True)
class ReadFolds:
    """What patterns say of rows, each by those of the rows that teach its fold.

    Attributes:
        readings: What each way of guessing names.
        curve: What patterns above each threshold cover, of all folds together.
    """

    readings: PatternReadings
    curve: tuple[CurvePoint, ...]


def read_folds(short: Shortlist, text: TextToMine, folds: Folds, seed: int) -> ReadFolds:
    """Mine the teachers of each fold, and guess the labels of its rows by what is found.

    Args:
        short: Patterns of all rows, which are shown.
        text: All rows.
        folds: Which rows teach which.
        seed: Of the samples of sentences, and of what is planted.
    """
    q, threshold, thresholds = short.q, short.threshold, short.thresholds
    constant = int(np.bincount(text.dataset.labels()).argmax())
    parts: list[WordReadings] = []
    covered, decided, easy = np.zeros((3, len(thresholds)), np.int64)
    for each in folds.rounds():
        with warnings.catch_warnings():
            # That nothing was frequent enough is a finding: no example is then covered.
            warnings.simplefilter("ignore", UserWarning)
            mined = text.mine(each.teaching, only_telling=q <= TESTED_UP_TO)
        own = predictive_patterns_of(mined, q, threshold)
        for_curve = mined.significant(q).select(thresholds[0]).to_count()
        del mined
        known, asked = (_searched_text(text, own, rows) for rows in (each.teaching, each.reading))
        assignment = assign_difficulty(asked.corpus, asked.labels, own.selected)
        on_train = count_coverage(own.selected, (-1.0,), known)
        parts.append(read_words(own, assignment, on_train, known, asked.corpus, constant, seed))
        counted = count_coverage(for_curve, thresholds, asked)
        covered, decided, easy = covered + counted.covered, decided + counted.decided, easy + counted.easy
    whole = _searched_text(text, short)
    on_whole = count_coverage(short.selected, (-1.0,), whole)
    readings = read_by_folds(short, on_whole, whole, folds, parts, seed)
    return ReadFolds(readings, _points(thresholds, folds.rows.size, covered, decided, easy))


def read_role(
    split: DataSplit, role: str, settings: Settings, shared: SharedTexts | None = None, *, interactions: bool = True
) -> tuple[Shortlist, PatternReadings]:
    """Mine one text and guess the labels of the rows that are read by its patterns, which are not described.

    Args:
        split: The rows.
        role: Of the text.
        settings: How patterns are mined, and the seed.
        shared: Which training rows share texts, where it is known.
        interactions: Read interactions of words, too; of folds always.
    """
    keeping, dataset = settings.artifacts, split.train if split.whole is None else split.whole
    bounds = Bounds(
        keeping.max_tokens, keeping.max_gap, keeping.min_count, keeping.tokenizer, role, settings.data.clusters
    )
    text = TextToMine.of(dataset, bounds, shared)
    with warnings.catch_warnings():
        # That nothing was frequent enough is a finding: no example is then covered.
        warnings.simplefilter("ignore", UserWarning)
        short = of_table(text.mine(), keeping.q, keeping.threshold)
    if split.whole is not None:
        return short, read_folds(short, text, split.folds, settings.seed).readings
    searched, held_out = _searched_text(text, short), _searched(short, split.test)
    assignment = assign_difficulty(held_out.corpus, held_out.labels, short.selected)
    on_train = count_coverage(short.selected, (-1.0,), searched)
    return short, read_by_patterns(
        short, assignment, on_train, searched, held_out, settings.seed, interactions=interactions
    )


def answer(
    searched: SearchedTexts,
    text_columns: Sequence[str],
    grouping: Clusters | None,
    limits: ArtifactLimits,
    doubts: Sequence[Doubt] = (),
) -> Finding:
    """The finding on mined patterns, wherever they and what they were mined from are.

    Args:
        searched: Everything measured of each text.
        text_columns: Roles of the texts of the training part.
        grouping: Clusters of the examples that they were tried on, if there are any.
        limits: When to say caution or unsound.
        doubts: Why nothing can be called sound, besides clusters.
    """
    (shown, *rest), effects = searched.texts, searched.effects
    tables, section = {"patterns": shown.findings}, replace(shown.section, others=tuple(map(_other, rest)))
    if effects is None or shown.given is None:
        verdict = not_measurable(
            "The patterns were tried on no other data, so that nothing is known of what they give away there.",
            "Name an evaluation set with --test FILE.",
        )
        return Finding("artifacts", verdict, tables=tables, result=section)
    verdict = judge_artifacts(
        effects,
        [each.readings for each in searched.texts if each.readings is not None],
        shown.given,
        clusters=None if grouping is None else grouping.codes_if_any,
        doubts=[*cluster_doubts(grouping), *doubts],
        shown=section.applies_to,
        is_part=len(text_columns) > 1 and section.applies_to != ALL_TEXTS,
        limits=limits,
    )
    return Finding(
        "artifacts", verdict, tables=tables, result=replace(section, effects=effects, headline=verdict.headline)
    )


def _other(text: Described) -> OtherText:
    section = text.section
    heads = [(label, each) for label, found in section.strongest.items() for each in found[:OTHERS_PER_LABEL]]
    return OtherText(
        applies_to=section.applies_to,
        n_mined=section.n_mined,
        n_significant=section.n_significant,
        n_selected=section.n_selected,
        strongest=tuple(PatternPoint(each.pattern, each.support, each.probability, label) for label, each in heads),
        coverage=section.coverage,
        precision=section.precision,
        giveaway=section.giveaway,
    )


@dataclass(frozen=True)
class SearchedTexts:
    """What was measured of the texts that were searched.

    Attributes:
        texts: Of each, the one that is shown first.
        effects: What guessing by the patterns of all gains; None where they were tried on nothing.
    """

    texts: tuple[Described, ...]
    effects: Effects | None

    @classmethod
    def of(cls, texts: Sequence[Described], clusters: NDArray[np.int64] | None, settings: Settings) -> SearchedTexts:
        """Measure them together; shown is the text that an effect decides by for caution or unsound, else the last.

        Args:
            texts: What was measured of each, in the order of the dataset's texts.
            clusters: Codes of rows that were read and do not count by themselves, (N,).
            settings: Limits and seed.
        """
        readings = [each.readings for each in texts if each.readings is not None]
        if not readings:
            return cls((texts[-1], *texts[:-1]), None)
        effects = measure_patterns(readings, clusters, settings.verdicts.artifacts, settings.seed)
        judged = judge_effects(effects, prefer=BY_SHARE)
        part = judged.decisive.part if judged.decisive is not None and judged.word in ("caution", "unsound") else None
        first = next((each for each in texts if each.section.applies_to == part), texts[-1])
        return cls((first, *(each for each in texts if each is not first)), effects)


# What is shown; the tables hold everything.
STRONGEST_PER_LABEL = 12
VARIANTS_PER_PATTERN = 8
BY_LIFT_PER_LABEL = 6
# Of a text beside the one that is shown.
OTHERS_PER_LABEL = 3


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
    by_folds: ReadFolds | None = None,
) -> Described:
    """Fold what is significant and telling, show examples of it, and see what it does on a test set if there is one.

    Args:
        short: Patterns of the training set.
        train: What they were mined from.
        test: What they are tried on; without it the curve is of the training set itself.
        seed: Of the examples shown.
        clusters: Codes from 0 of test examples that do not count by themselves, (N,).
        by_folds: What patterns of other folds say of training examples, where there is no test set.
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
    elif by_folds is not None:
        readings = by_folds.readings
        assignment, constant = readings.assignment, int(readings.train_counts.argmax())
        given = giveaway_of(assignment, readings.gold, readings.by_share, constant, clusters)
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
        cluster_rule=settings.get(CLUSTERS),
        prior=shares(selected),
        n_mined=short.n_mined,
        n_significant=short.n_significant,
        n_selected=len(selected),
        n_unfolded=int(findings.select(STANDING.sum()).item()),
        n_not_folded=findings["n_folded"].null_count(),
        n_confirmed=None if confirmation is None else confirmation.n_confirmed,
        strongest=_strongest(findings, chosen, samples),
        by_lift=strongest_by_lift(short.lifted, findings["pattern"]),
        scatter=tuple(PatternPoint(**row) for row in short.scatter),
        coverage_of="training" if test is None and by_folds is None else "test",
        coverage_curve=_curve(short, test or train) if by_folds is None else by_folds.curve,
        tokenizer_reason=None,
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
    return _points(short.thresholds, n, counted.covered, counted.decided, counted.easy)


def _points(
    thresholds: Sequence[float],
    n: int,
    covered: NDArray[np.int64],
    decided: NDArray[np.int64],
    easy: NDArray[np.int64],
) -> tuple[CurvePoint, ...]:
    """What patterns cover of n sentences at each threshold, and how often they are right where they name one label."""
    return tuple(
        CurvePoint(threshold, held / n if n else None, right / named if named else None)
        for threshold, held, named, right in zip(
            thresholds, covered.tolist(), decided.tolist(), easy.tolist(), strict=True
        )
    )


def count_coverage(patterns: PatternTable, thresholds: tuple[float, ...], searched: Training) -> CoverageCount:
    """What patterns cover at each threshold, of texts in memory or on disk."""
    counted = CoverageCount(patterns, thresholds)
    for corpus, codes in searched.corpora():
        counted.add(corpus, codes)
    return counted
