"""Search a training part for patterns, try them on a test part, and judge what they give away.

The audit, `artifacts mine` in memory and `artifacts mine --memory` all end here, so that they cannot disagree.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from goldassay.artifacts import assign_difficulty
from goldassay.core.finding import Finding
from goldassay.core.results import to_plain
from goldassay.core.verdicts import not_measurable
from goldassay.questions.artifacts.inputs import Bounds, column_for, mine_corpus
from goldassay.questions.artifacts.readings import read_by_patterns
from goldassay.questions.artifacts.searched import Searched
from goldassay.questions.artifacts.section import Described, count_coverage, describe_patterns
from goldassay.questions.artifacts.shortlist import Shortlist, TellingPatterns, of_table, telling_of_table
from goldassay.questions.artifacts.verdict import judge_artifacts, measure_patterns
from goldassay.questions.example_clusters import cluster_doubts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.artifacts import PatternTable
    from goldassay.core.progress import Progress
    from goldassay.core.settings import ArtifactLimits, ArtifactSettings, Settings
    from goldassay.data import Dataset
    from goldassay.data.tokenization import TokenizedCorpus
    from goldassay.questions.artifacts.dependence import SharedTexts
    from goldassay.questions.artifacts.readings import PatternReadings
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
        return Finding("artifacts", verdict, described.section, tables=tables)
    clusters = None if grouping is None else grouping.codes_if_any
    effects = measure_patterns(described.readings, clusters, limits, seed)
    verdict = judge_artifacts(
        effects,
        described.readings,
        described.given,
        clusters=clusters,
        doubts=[*cluster_doubts(grouping), *doubts],
        n_selected=described.section["n_selected"],
        threshold=described.section["settings"]["threshold"],
        is_part=len(text_columns) > 1 and described.section["applies_to"] != "all",
        limits=limits,
    )
    return Finding("artifacts", verdict, {**described.section, "effects": to_plain(effects)}, tables=tables)


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
