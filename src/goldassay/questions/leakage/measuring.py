"""Every measure of leakage on one dataset: its result, its tables, and the verdict."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import polars as pl

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.questions.leakage.choices import LIKE_LENGTH, RULES, SUBJECTS, SUBSETS
from goldassay.questions.leakage.cluster_result import ClusterConfidence, GridScore
from goldassay.questions.leakage.clusters import (
    Artifacts,
    RoleClusters,
    cluster_table,
    example_table,
    find_artifacts,
    measure_clusters,
    measure_map,
)
from goldassay.questions.leakage.measures.agreement import agreement_from_correctness, agreement_over_runs
from goldassay.questions.leakage.measures.information import label_shares, pvi, usable_information
from goldassay.questions.leakage.measures.single_sentence import (
    ConditionAccuracy,
    SingleSentenceReport,
    balanced_accuracy,
    single_sentence_report,
    withhold_shares,
)
from goldassay.questions.leakage.measures.token_relevance import CUT, TokenRelevanceAgreement, token_relevance_agreement
from goldassay.questions.leakage.partial_input import (
    LONGEST,
    PROBES,
    READER_BITS,
    LeakageChoice,
    PartialInputRuns,
    whole_readings,
)
from goldassay.questions.leakage.result import (
    ONLY_RIGHT,
    Agreement,
    BoundedAgreement,
    Condition,
    Difficulty,
    Information,
    MeasuredLeakage,
    Positions,
    Relevance,
    SubjectRule,
)
from goldassay.questions.leakage.verdict import (
    judge,
    part_rows,
)
from goldassay.questions.rows import answers_of_readers
from goldassay.readers.conditions import EMPTY, PAIRED, TEXT, is_part
from goldassay.readers.rule_effects import LikeLength, RuleEffect, SubsetEffect
from goldassay.stats.intervals import mean_interval
from goldassay.stats.subsets import accuracy_by_subset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Steps
    from goldassay.core.results import Verdict
    from goldassay.core.settings import Settings
    from goldassay.questions.artifacts.readings import PatternReadings
    from goldassay.runs.sidecar import Relevances
    from goldassay.stats.effects import ReaderPredictions

NOTE = (
    "{judge} is a lower bound: what it reads from a part of the input, a stronger model reads too. Where the "
    "paired probe is weak, the share recovered is inflated; the verdict therefore rests on the improvement over the "
    "majority."
)

R = TypeVar("R")

# From which q on no rule is named in a subject; and rows of rules by subject in report.json: the table has them all.
SIGNIFICANT, MOST_SUBJECTS = 0.05, 50
OTHER_TOKENS = "the two models cut the shared sentence into other tokens"


@dataclass(frozen=True)
class Measured:
    """Everything measured, its full tables, and the verdict."""

    result: MeasuredLeakage
    tables: dict[str, pl.DataFrame]
    verdict: Verdict


def measure(
    evidence: PartialInputRuns,
    choice: LeakageChoice,
    settings: Settings,
    steps: Steps,
    patterns: Sequence[PatternReadings] | None = None,
    further: Sequence[ReaderPredictions] = (),
) -> Measured:
    """Measure all that the evidence allows; `undefined` of the result says what it does not, with the reason.

    Args:
        evidence: Predictions of the conditions.
        choice: How deep to measure.
        settings: Limits, seed, and how patterns are mined.
        steps: Progress.
        patterns: What guessing by pattern names for each example, of each text in the order of the data; if not
            given, patterns are mined where both parts are at hand. Those of the last text say how difficult each is.
        further: What other readers of these parts name.

    Raises:
        InputError: Embeddings cannot be used, or there are fewer examples than the clusters asked for.
    """
    seed = settings.seed
    undefined: dict[str, str] = {}
    with steps.step("measuring the conditions"):
        report = _single_sentence(evidence, seed)
        information = _information(evidence, seed, undefined)
        agreements = _agreements(evidence, seed, undefined)
        relevance, relevance_examples = measure_relevance(evidence, undefined)
    artifacts: dict[str, Artifacts] = {}
    if patterns is None and (split := evidence.split) is not None:
        with steps.step("mining patterns"):
            for role in split.test.text_columns:
                artifacts[role] = find_artifacts(split, role, settings)
        patterns = [each.readings for each in artifacts.values()]
    patterns = patterns or ()
    verdict, effects, readings = judge(evidence, report, patterns, further, settings, steps, information)
    found: list[RoleClusters] = []
    for role, vectors in _vectors(evidence, choice, undefined).items():
        with steps.step(f"clustering the {role} sentences") as progress:
            found.append(measure_clusters(evidence, role, vectors, artifacts.get(role), choice, seed, progress))
    drawn = None
    if choice.map and found:
        with steps.step("laying out the map"):
            drawn = measure_map(max(found, key=lambda each: each.scores.score), evidence, seed, undefined)
    last = None if evidence.test is None else evidence.test.text_columns[-1]
    classes = next((each.assignment.classes for each in patterns if each.part == last), None)
    difficulty = () if classes is None or not evidence.conditions else _difficulty(evidence, classes, seed)
    result = MeasuredLeakage(
        source=evidence.source,
        model=evidence.model,
        dataset=evidence.name,
        probe=evidence.about,
        vectors=evidence.vectors_are,
        seeds=tuple(str(seed) for runs in list(evidence.conditions.values())[:1] for seed in runs.seeds),
        remarks=evidence.remarks,
        n_examples=evidence.gold.size,
        train_majority_accuracy=report.train_majority_accuracy,
        interval_method=report.interval_method,
        conditions=tuple(_condition(evidence, row, seed) for row in report.conditions),
        difficulty=difficulty,
        caveats=report.caveats,
        note=NOTE.format(judge="A quick probe") if evidence.source == PROBES and part_rows(report) else report.note,
        information=information,
        agreement=agreements,
        relevance=relevance,
        peco=tuple(each.scores for each in found),
        divergences=tuple(row for each in found for row in each.divergences),
        clusters=tuple(cluster for each in found for cluster in each.clusters),
        confidence=tuple(_confidence(each) for each in found if each.overlap.confidence),
        grid=tuple(
            GridScore(role=each.role, **row) for each in found if each.grid is not None for row in each.grid.to_dicts()
        ),
        map=drawn,
        splits=evidence.splits,
        effects=effects,
        headline=verdict.headline,
        rules=_records(evidence, RULES, RuleEffect) or (),
        undefined=undefined,
        positions=None if evidence.positions is None else Positions(**vars(evidence.positions)),
        **_subjects(evidence),
        kind=None if evidence.kind is None else evidence.kind.name,
        preference_like_length=_records(evidence, LIKE_LENGTH, LikeLength),
        preference_subsets=_records(evidence, SUBSETS, SubsetEffect),
    )
    tables = _tables(evidence, report, difficulty, found, classes, relevance_examples)
    ids = tables["examples"]["example_id"].cast(pl.String).to_list()
    told = answers_of_readers([*whole_readings(evidence), *readings], evidence.label_names, ids)
    if told.width > 1:
        tables["readers"] = told
    return Measured(result, tables, verdict)


def _records(evidence: PartialInputRuns, table: str, kind: type[R]) -> tuple[R, ...] | None:
    """The rows of a table that the evidence brings; None where it has none of the name."""
    if table not in evidence.tables:
        return None
    filled = evidence.tables[table].with_columns(pl.col(pl.Float64).fill_null(math.nan))
    return tuple(kind(**row) for row in filled.iter_rows(named=True))


def _subjects(evidence: PartialInputRuns) -> dict[str, Any]:
    """Rules that hit beyond chance in some subject, false discoveries controlled, the surest first."""
    if SUBJECTS not in evidence.tables:
        return {}
    every = evidence.tables[SUBJECTS]
    found = every.filter(pl.col("q") < SIGNIFICANT)
    return {
        "n_subjects": every["subject"].n_unique(),
        "n_subjects_found": found["subject"].n_unique(),
        "subjects": tuple(SubjectRule(**row) for row in found.head(MOST_SUBJECTS).to_dicts()),
    }


def _tables(
    evidence: PartialInputRuns,
    report: SingleSentenceReport,
    difficulty: tuple[Difficulty, ...],
    found: list[RoleClusters],
    classes: NDArray[np.str_] | None,
    relevance: pl.DataFrame | None,
) -> dict[str, pl.DataFrame]:
    tables = {**({"leakage": report.to_frame()} if report.conditions else {}), **evidence.tables}
    if difficulty:
        # The condition comes first, as in the other tables.
        by_difficulty = pl.DataFrame([vars(each) for each in difficulty])
        tables["leakage_by_difficulty"] = by_difficulty.select("condition", pl.exclude("condition"))
    if found:
        tables["clusters"] = cluster_table(found, evidence.label_names)
        tables["divergences"] = pl.DataFrame([vars(row) for each in found for row in each.divergences])
    examples = example_table(found, evidence, classes)
    if evidence.probabilities:
        bits = {f"pvi_{name}": found_ for name, found_ in _pvi(evidence).items()}
        examples = examples.with_columns(
            *(pl.Series(name, values) for name, values in bits.items()), *_bits_of_readers(evidence)
        )
    tables["examples"] = examples
    if relevance is not None:
        tables["relevance"] = relevance
    grids = [each.grid.select(pl.lit(each.role).alias("role"), pl.all()) for each in found if each.grid is not None]
    if grids:
        tables["grid"] = pl.concat(grids)
    return tables


def _single_sentence(evidence: PartialInputRuns, seed: int) -> SingleSentenceReport:
    if not evidence.conditions:
        # Embeddings, or the right label's probability, name no label; what is said of the labels holds all the same.
        nothing = {"nothing": np.zeros((1, evidence.gold.size))}
        found = single_sentence_report(nothing, evidence.gold, label_names=evidence.label_names, n_draws=1)
        return replace(found, conditions=(), maximum=None, note="", caveats=())
    return withhold_shares(
        single_sentence_report(
            {name: runs.final().scores for name, runs in evidence.conditions.items()},
            evidence.gold,
            clusters=evidence.clusters,
            label_names=evidence.label_names,
            train_gold=evidence.train_gold,
            fixed=(EMPTY, LONGEST),
            seed=seed,
        )
    )


def _condition(evidence: PartialInputRuns, row: ConditionAccuracy, seed: int) -> Condition:
    """A row of the conditions, with the mean recall over labels."""
    scores = evidence.conditions[row.condition].final().scores
    found = balanced_accuracy(scores, evidence.gold, clusters=evidence.clusters, seed=seed)
    return Condition(
        **vars(row),
        balanced_accuracy=found.value,
        balanced_accuracy_low=found.low,
        balanced_accuracy_high=found.high,
    )


def _mean_log(probabilities: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The geometric mean over runs: its PVI is the mean of the runs' PVI."""
    smallest = np.finfo(np.float64).smallest_subnormal
    return np.asarray(np.exp2(np.log2(np.maximum(probabilities, smallest)).mean(axis=0)))


def _null(evidence: PartialInputRuns) -> dict[str, Any]:
    """What bits are counted against, as arguments; nothing where label shares must stand in for it."""
    if evidence.null is not None:
        return {"null_probabilities": _mean_log(evidence.null), "null_is": evidence.null_is}
    empty = evidence.probabilities.get(EMPTY)
    return {} if empty is None else {"null_probabilities": _mean_log(empty)}


def _information(evidence: PartialInputRuns, seed: int, undefined: dict[str, str]) -> tuple[Information, ...]:
    if not evidence.probabilities:
        undefined["usable information"] = (
            "it needs the gold label's probability: logits, or probabilities by themselves"
        )
        return ()
    null = _null(evidence)
    rows = []
    for name, probabilities in evidence.probabilities.items():
        if name == EMPTY:
            continue
        runs = evidence.conditions.get(name)
        found = usable_information(
            _mean_log(probabilities),
            **null,
            gold=evidence.gold,
            train_gold=evidence.train_gold,
            correct=None if runs is None else runs.final().scores.mean(axis=0) > 0.5,
            seed=seed,
        )
        kept = {key: value for key, value in vars(found).items() if key != "pvi"}
        rows.append(Information(condition=name, n_runs=len(probabilities), **kept))
    return tuple(rows)


def _pvi(evidence: PartialInputRuns) -> dict[str, Any]:
    null = _null(evidence)
    return {
        name: usable_information(
            _mean_log(each), **null, gold=evidence.gold, train_gold=evidence.train_gold, n_draws=1
        ).pvi
        for name, each in evidence.probabilities.items()
        if name != EMPTY
    }


def _bits_of_readers(evidence: PartialInputRuns) -> Iterator[pl.Series]:
    """Of each part what every reader of it tells, in bits, a list an example: for who weights by them."""
    null = _null(evidence).get("null_probabilities")
    if null is None:
        null = label_shares(evidence.gold if evidence.train_gold is None else evidence.train_gold, evidence.gold)
    for name, each in evidence.probabilities.items():
        if is_part(name):
            bits = np.stack([pvi(own, null) for own in each])
            table = np.ascontiguousarray(bits.T.astype(np.float32))
            yield pl.Series(f"{READER_BITS}{name}", table).cast(pl.List(pl.Float32))


def _agreements(
    evidence: PartialInputRuns, seed: int, undefined: dict[str, str]
) -> tuple[Agreement | BoundedAgreement, ...]:
    whole = evidence.conditions.get(PAIRED)
    if whole is None:
        if TEXT not in evidence.conditions:
            undefined["decision agreement"] = "it needs the predictions of the paired condition"
        return ()
    decided = whole.final().predictions
    rows: list[Agreement | BoundedAgreement] = []
    for name, runs in evidence.conditions.items():
        if name in (PAIRED, TEXT):
            continue
        predictions = runs.final().predictions
        if predictions is None or decided is None:
            undefined["decision agreement itself"] = ONLY_RIGHT
            scores = runs.final().scores, whole.final().scores
            bounded = agreement_from_correctness(*scores, clusters=evidence.clusters, seed=seed)
            rows.append(BoundedAgreement(**vars(bounded), condition=name, agreement=None, recovery=None, kappa=None))
            continue
        found = agreement_over_runs(predictions, decided, evidence.gold, clusters=evidence.clusters, seed=seed)
        rows.append(Agreement(**vars(found), condition=name))
    return tuple(rows)


def _vectors(
    evidence: PartialInputRuns, choice: LeakageChoice, undefined: dict[str, str]
) -> dict[str, list[NDArray[np.floating[Any]]]]:
    """Embeddings that can be clustered, by role, the last text (of a pair the hypothesis) first."""
    if not choice.cluster:
        return {}
    if not evidence.vectors:
        undefined["cluster outliers (PECO)"] = "they need embeddings of single sentences"
        return {}
    if choice.n_clusters is None and evidence.gold.size < choice.k:
        undefined["cluster outliers (PECO)"] = (
            f"{evidence.gold.size} examples cannot make the usual {choice.k} clusters; ask for fewer with --n-clusters"
        )
        return {}
    known = {
        role: [each for each in vectors if np.ptp(each, axis=0).any()] for role, vectors in evidence.vectors.items()
    }
    for role in (role for role, vectors in known.items() if not vectors):
        undefined[f"cluster outliers (PECO) of the {role} sentences"] = "their embeddings are all equal"
    return {role: vectors for role, vectors in reversed(known.items()) if vectors}


def _difficulty(evidence: PartialInputRuns, classes: NDArray[np.str_], seed: int) -> tuple[Difficulty, ...]:
    subsets = {"full": classes == classes, "easy": classes == "easy", "hard": classes == "hard"}
    return tuple(
        Difficulty(**vars(row), condition=condition)
        for condition, runs in evidence.conditions.items()
        for row in accuracy_by_subset(runs.final().scores, subsets, clusters=evidence.clusters, seed=seed).subsets
    )


def _confidence(found: RoleClusters) -> ClusterConfidence:
    overlap = found.overlap
    biased = overlap.table.filter(pl.col("biased"))
    size = biased["size"].to_numpy()
    return ClusterConfidence(
        role=found.role,
        of=overlap.confidence,
        n_checkpoints=overlap.n_checkpoints,
        correlation=overlap.confidence_correlation,
        low=overlap.confidence_low,
        high=overlap.confidence_high,
        biased_share=overlap.biased_share,
        biased_histogram=tuple(overlap.biased_histogram.tolist()),
        other_histogram=tuple(overlap.other_histogram.tolist()),
        biased_mean=float(biased["confidence"].to_numpy() @ size / size.sum()) if size.size else None,
    )


def measure_relevance(
    evidence: PartialInputRuns, undefined: dict[str, str]
) -> tuple[tuple[Relevance, ...], pl.DataFrame | None]:
    """A row a part, means over seeds; and a row an example and part, for the first seed.

    The runs of a part are laid beside those of the whole with the same seed; where no seed is shared, run by run in
    their order.
    """
    whole = evidence.relevances.get(PAIRED)
    parts = {name: each for name, each in evidence.relevances.items() if is_part(name)}
    if not whole or not parts:
        if PAIRED in evidence.conditions:
            undefined["token relevance agreement"] = "it needs recorded relevances of the part and of the pair"
        return (), None
    rows, tables = [], []
    for name, runs in parts.items():
        role = name.removesuffix("_only")
        seeds = [seed for seed in runs if seed in whole]
        pairs = [(runs[seed], whole[seed]) for seed in seeds] or list(zip(runs.values(), whole.values(), strict=False))
        found = [_agreement(single, paired, role, evidence.example_ids) for single, paired in pairs]
        first = found[0][0]
        recommended, paper = (np.array([each.agreement for each in own]) for own in zip(*found, strict=True))
        low, high = _around(float(recommended.mean()), [each for each, _ in found])
        rows.append(
            Relevance(
                condition=name,
                n_runs=len(found),
                agreement_recommended=float(recommended.mean()),
                sd_recommended=float(recommended.std(ddof=1)) if len(found) > 1 else math.nan,
                agreement_paper=float(paper.mean()),
                sd_paper=float(paper.std(ddof=1)) if len(found) > 1 else math.nan,
                low=low,
                high=high,
                shared_share=float(np.mean([each.shared_share for each, _ in found])),
                n_used=first.n_used,
                skipped=first.skipped,
            )
        )
        ids = [str(each) for each in evidence.example_ids.tolist()]
        tables.append(
            first.to_frame().select(
                pl.Series("example_id", ids), pl.lit(name).alias("condition"), "agreement", "shared_share"
            )
        )
    return tuple(rows), pl.concat(tables)


def _around(mean: float, found: Sequence[TokenRelevanceAgreement]) -> tuple[float, float]:
    """The interval of a mean over pairs of runs, over the examples that all pairs use, of each its mean."""
    of_pairs = np.array([each.example_agreements for each in found])
    of_examples = of_pairs[:, ~np.isnan(of_pairs).any(axis=0)].mean(axis=0)
    if of_examples.size < 2:
        return math.nan, math.nan
    bounds, shift = mean_interval(of_examples), mean - float(of_examples.mean())
    return max(bounds.low + shift, 0.0), min(bounds.high + shift, 1.0)


def _agreement(
    single: Relevances, paired: Relevances, role: str, ids: NDArray[Any]
) -> tuple[TokenRelevanceAgreement, TokenRelevanceAgreement]:
    """The agreement of one run of a part with one of the whole, in the recommended and in the paper's convention."""
    own, beside = _ordered(single, ids), _ordered(paired, ids)
    part, roles = single.roles[role], list(paired.roles)
    before = roles[: roles.index(role)]
    maps = [part.values[row] for row in own]
    wholes = [np.concatenate([paired.roles[name].values[row] for name in roles]) for row in beside]
    starts = np.array([sum(paired.roles[name].values[row].size for name in before) for row in beside])
    differs = np.array(
        [part.tokens[i] != paired.roles[role].tokens[j] for i, j in zip(own, beside, strict=True)], dtype=bool
    )
    cut = part.cut[own] | np.asarray(paired.roles[role].cut[beside], dtype=bool)
    with warnings.catch_warnings():
        # The row says it: no value, and why.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = token_relevance_agreement(maps, wholes, starts, cut=cut | differs)
        condition: Literal["premise_only", "hypothesis_only"] = "hypothesis_only" if before else "premise_only"
        paper = token_relevance_agreement(maps, wholes, condition=condition, convention="paper")
    if n_other := int((differs & ~cut).sum()):
        skipped = {CUT: found.skipped[CUT] - n_other, OTHER_TOKENS: n_other} | {
            why: count for why, count in found.skipped.items() if why != CUT
        }
        found = replace(found, skipped={why: count for why, count in skipped.items() if count})
    return found, paper


def _ordered(relevances: Relevances, ids: NDArray[Any]) -> list[int]:
    place = {str(name): row for row, name in enumerate(relevances.example_ids.tolist())}
    return [place[str(name)] for name in ids.tolist()]
