"""Every measure of leakage on one dataset: its result, its tables, and the verdict."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.core.results import to_plain
from goldassay.core.verdicts import Verdict, not_measurable
from goldassay.questions.effect_sentences import scarce_doubts, unheld_doubts
from goldassay.questions.example_clusters import cluster_doubts
from goldassay.questions.leakage.choices import LIKE_LENGTH, RULES, SUBJECTS, SUBSETS
from goldassay.questions.leakage.clusters import (
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
    balanced_accuracy,
    single_sentence_report,
    withhold_shares,
)
from goldassay.questions.leakage.measures.token_relevance import CUT, token_relevance_agreement
from goldassay.questions.leakage.partial_input import (
    EMPTY,
    LONGEST,
    PAIRED,
    PROBES,
    READER_BITS,
    TEXT,
    PartialInputRuns,
    form_readings,
    is_part,
    quick_readings,
    readings_of,
    whole_readings,
    word_readings,
)
from goldassay.questions.leakage.sentences import say
from goldassay.questions.leakage.verdict import (
    can_plant,
    control_doubts,
    judge_choices,
    judge_leakage,
    measure_readings,
    single_run_doubts,
    telling_doubts,
    test_part_doubts,
)
from goldassay.questions.left_out import left_out_doubts
from goldassay.questions.row_details.readers import answers_of_readers
from goldassay.stats.subsets import accuracy_by_subset
from goldassay.stats.verdicts import judge_effects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.questions.artifacts.readings import PatternReadings
    from goldassay.questions.leakage.clusters import Artifacts
    from goldassay.questions.leakage.measures.single_sentence import ConditionAccuracy, SingleSentenceReport
    from goldassay.questions.leakage.measures.token_relevance import TokenRelevanceAgreement
    from goldassay.questions.leakage.partial_input import LeakageChoice
    from goldassay.runs.beside import Relevances, RoleRelevance
    from goldassay.stats.effects import Effects, Reading

NOTE = (
    "{judge} is a lower bound: what it reads from a part of the input, a stronger model reads too. Where the "
    "paired probe is weak, the share recovered is inflated; the verdict therefore rests on the improvement over the "
    "majority."
)

# From which q on no rule is named in a subject; and rows of rules by subject in report.json: the table has them all.
SIGNIFICANT, MOST_SUBJECTS = 0.05, 50


@dataclass(frozen=True)
class Measured:
    """The section of the report, its tables, and the verdict."""

    section: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    verdict: Verdict


def measure(
    evidence: PartialInputRuns,
    choice: LeakageChoice,
    settings: Settings,
    steps: Steps,
    classes: NDArray[np.str_] | None = None,
    patterns: Sequence[PatternReadings] = (),
    further: Sequence[Reading] = (),
) -> Measured:
    """Measure all that the evidence allows; what it does not stands in the section's `undefined`, with the reason.

    Args:
        evidence: Predictions of the conditions.
        choice: How deep to measure.
        settings: Limits, seed, and how patterns are mined.
        steps: Progress.
        classes: Difficulty of each example by patterns of the last text, (N,), where it is known already; else
            patterns are mined where both parts are at hand.
        patterns: What guessing by pattern names for each example, of each part that was mined already.
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
    if classes is None and evidence.train is not None and evidence.test is not None:
        with steps.step("mining patterns"):
            for role in evidence.test.text_columns:
                artifacts[role] = find_artifacts(evidence.train, evidence.test, role, settings)
        patterns = [each.readings for each in artifacts.values()]
    verdict, effects, readings = _judge(evidence, report, patterns, further, settings, steps)
    found: list[RoleClusters] = []
    for role, vectors in _vectors(evidence, choice, undefined).items():
        with steps.step(f"clustering the {role} sentences") as progress:
            found.append(measure_clusters(evidence, role, vectors, artifacts.get(role), choice, seed, progress))
    drawn = None
    if choice.map and found:
        with steps.step("laying out the map"):
            drawn = measure_map(max(found, key=lambda each: each.row["score"]), evidence, seed, undefined)
    if evidence.test is not None and (last := artifacts.get(evidence.test.text_columns[-1])) is not None:
        classes = last.classes
    difficulty = None if classes is None or not evidence.conditions else _difficulty(evidence, classes, seed)
    section = {
        "source": evidence.source,
        "model": evidence.model,
        "dataset": evidence.name,
        "probe": evidence.about,
        "vectors": evidence.vectors_are,
        "seeds": [str(seed) for runs in list(evidence.conditions.values())[:1] for seed in runs.seeds],
        "remarks": list(evidence.remarks),
        "n_examples": evidence.gold.size,
        "train_majority_accuracy": report.train_majority_accuracy,
        "interval_method": report.interval_method,
        "conditions": [
            {**row, **_balanced(evidence, row["condition"], seed)}
            for row in (report.to_frame().to_dicts() if report.conditions else ())
        ],
        "difficulty": [] if difficulty is None else difficulty.to_dicts(),
        "caveats": list(report.caveats),
        "note": NOTE.format(judge="A quick probe") if evidence.source == PROBES and _part_rows(report) else report.note,
        "information": information,
        "agreement": agreements,
        "relevance": relevance,
        "peco": [each.row for each in found],
        "divergences": [row for each in found for row in each.divergences],
        "clusters": [card for each in found for card in each.cards],
        "confidence": [_confidence(each) for each in found if each.crossing.confidence],
        "grid": [{"role": each.role, **row} for each in found if each.grid is not None for row in each.grid.to_dicts()],
        "map": drawn,
        "splits": [dict(row) for row in evidence.splits],
        "effects": effects,
        "rules": evidence.tables[RULES].to_dicts() if RULES in evidence.tables else [],
        **_subjects(evidence),
        **({} if evidence.kind is None else {"kind": evidence.kind.name}),
        **{name: evidence.tables[name].to_dicts() for name in (LIKE_LENGTH, SUBSETS) if name in evidence.tables},
        "undefined": undefined,
    }
    plain = to_plain(section)
    plain["sentences"] = say(plain)
    tables = _tables(evidence, report, difficulty, found, classes, relevance_examples)
    ids = tables["examples"]["example_id"].cast(pl.String).to_list()
    told = answers_of_readers([*whole_readings(evidence), *readings], evidence.label_names, ids)
    if told.width > 1:
        tables["readers"] = told
    return Measured(plain, tables, verdict)


def _subjects(evidence: PartialInputRuns) -> dict[str, Any]:
    """Rules that hit beyond chance in some subject, false discoveries controlled, the surest first."""
    if SUBJECTS not in evidence.tables:
        return {}
    every = evidence.tables[SUBJECTS]
    found = every.filter(pl.col("q") < SIGNIFICANT)
    return {
        "n_subjects": every["subject"].n_unique(),
        "n_subjects_found": found["subject"].n_unique(),
        "subjects": found.head(MOST_SUBJECTS).to_dicts(),
    }


def _tables(
    evidence: PartialInputRuns,
    report: SingleSentenceReport,
    difficulty: pl.DataFrame | None,
    found: list[RoleClusters],
    classes: NDArray[np.str_] | None,
    relevance: pl.DataFrame | None,
) -> dict[str, pl.DataFrame]:
    tables = {**({"leakage": report.to_frame()} if report.conditions else {}), **evidence.tables}
    if difficulty is not None:
        tables["leakage_by_difficulty"] = difficulty
    if found:
        tables["clusters"] = cluster_table(found, evidence.label_names)
        tables["divergences"] = pl.DataFrame([row for each in found for row in each.divergences])
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


def _balanced(evidence: PartialInputRuns, condition: str, seed: int) -> dict[str, float]:
    """Mean recall over labels, for a row of the conditions."""
    scores = evidence.conditions[condition].final().scores
    found = balanced_accuracy(scores, evidence.gold, clusters=evidence.clusters, seed=seed)
    return {
        "balanced_accuracy": found.value,
        "balanced_accuracy_low": found.low,
        "balanced_accuracy_high": found.high,
    }


def _part_rows(report: SingleSentenceReport) -> list[ConditionAccuracy]:
    return [row for row in report.conditions if is_part(row.condition)]


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


def _information(evidence: PartialInputRuns, seed: int, undefined: dict[str, str]) -> list[dict[str, Any]]:
    if not evidence.probabilities:
        undefined["usable information"] = (
            "it needs the gold label's probability: logits, or probabilities by themselves"
        )
        return []
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
        rows.append({"condition": name, "n_runs": len(probabilities), **_without(found.to_dict(), "pvi")})
    return rows


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


def _agreements(evidence: PartialInputRuns, seed: int, undefined: dict[str, str]) -> list[dict[str, Any]]:
    whole = evidence.conditions.get(PAIRED)
    if whole is None:
        if TEXT not in evidence.conditions:
            undefined["decision agreement"] = "it needs the predictions of the paired condition"
        return []
    decided = whole.final().predictions
    rows: list[dict[str, Any]] = []
    for name, runs in evidence.conditions.items():
        if name in (PAIRED, TEXT):
            continue
        predictions = runs.final().predictions
        if predictions is None or decided is None:
            undefined["decision agreement itself"] = (
                "only right and wrong are known, not what was chosen: it has bounds"
            )
            scores = runs.final().scores, whole.final().scores
            bounded = agreement_from_correctness(*scores, clusters=evidence.clusters, seed=seed)
            rows.append({"condition": name, "agreement": None, "recovery": None, "kappa": None, **bounded.to_dict()})
            continue
        found = agreement_over_runs(predictions, decided, evidence.gold, clusters=evidence.clusters, seed=seed)
        rows.append({"condition": name, **found.to_dict()})
    return rows


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


def _difficulty(evidence: PartialInputRuns, classes: Any, seed: int) -> pl.DataFrame:
    subsets = {"full": classes == classes, "easy": classes == "easy", "hard": classes == "hard"}
    return pl.concat(
        [
            accuracy_by_subset(runs.final().scores, subsets, clusters=evidence.clusters, seed=seed)
            .to_frame()
            .select(pl.lit(condition).alias("condition"), pl.all())
            for condition, runs in evidence.conditions.items()
        ]
    )


def _confidence(found: RoleClusters) -> dict[str, Any]:
    crossing = found.crossing
    biased = crossing.table.filter(pl.col("biased"))
    size = biased["size"].to_numpy()
    return {
        "role": found.role,
        "of": crossing.confidence,
        "n_checkpoints": crossing.n_checkpoints,
        "correlation": crossing.confidence_correlation,
        "low": crossing.confidence_low,
        "high": crossing.confidence_high,
        "biased_share": crossing.biased_share,
        "biased_histogram": crossing.biased_histogram,
        "other_histogram": crossing.other_histogram,
        "biased_mean": float(biased["confidence"].to_numpy() @ size / size.sum()) if size.size else None,
    }


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in names}


def _judge(
    evidence: PartialInputRuns,
    report: SingleSentenceReport,
    patterns: Sequence[PatternReadings],
    further: Sequence[Reading],
    settings: Settings,
    steps: Steps,
) -> tuple[Verdict, Effects | None, list[Reading]]:
    """The verdict by all readers of all parts, the effects that it follows from, and what the readers name."""
    parts, limits, seed, codes = _part_rows(report), settings.verdicts.leakage, settings.seed, evidence.clusters
    of_patterns = [reading for each in patterns for reading in each.readings]
    if not parts:
        return (
            not_measurable(
                "Each example is a single text: it has no premise and hypothesis of which one could be left out."
                if TEXT in evidence.conditions
                else "There are no predictions of a model that sees only a part of the input.",
                "Give the predictions of a part, or a training set to train on."
                if TEXT not in evidence.conditions
                else "Nothing to do for this question; look at the artifacts.",
            ),
            None,
            of_patterns,
        )
    readings = readings_of(evidence, codes)
    shown = {each.part for each in readings}
    readings += [each for each in of_patterns if each.part in shown]
    readings += [each for each in further if each.part in shown]
    if evidence.train is not None and evidence.test is not None and can_plant(evidence):
        of_roles = [f"{role}_only" for role in evidence.test.text_columns]
        conditions = [row.condition for row in parts if row.condition in of_roles]
        with steps.step("reading the form of the texts"):
            readings += form_readings(evidence.train, evidence.test, conditions, seed)
        with steps.step("adding up words"):
            readings += word_readings(evidence.train, evidence.test, conditions)
        if evidence.source != PROBES:
            with steps.step("training quick probes") as progress:
                readings += quick_readings(evidence.train, evidence.test, conditions, seed, progress)
    with steps.step("measuring the effects"):
        effects = measure_readings(readings, evidence, codes, limits, seed)
    doubts = [
        *evidence.doubts,
        *single_run_doubts(parts),
        *cluster_doubts(evidence.grouping),
        *scarce_doubts(evidence.gold, evidence.train_counts),
        *left_out_doubts(evidence.train, evidence.test),
        *(
            doubt
            for each in patterns
            if each.part in shown
            for doubt in unheld_doubts(each.part, each.unheld, each.threshold)
        ),
    ]
    # Planting takes a training: it is done where it can change the word, and said at once where it cannot be done.
    if not can_plant(evidence) or judge_effects(effects, doubts).word == "sound":
        with steps.step("planting words") as progress:
            doubts += control_doubts(readings, evidence, codes, limits, seed, progress)
    has_words = evidence.telling is not None or (evidence.train is not None and evidence.test is not None)
    if has_words and judge_effects(effects, doubts).word == "sound":
        with steps.step("adding up telling words"):
            doubts += telling_doubts(evidence, [each.part for each in readings], codes, limits, seed)
    if evidence.test is not None and evidence.chance is None and judge_effects(effects, doubts).word == "sound":
        with steps.step("reading the test part by itself"):
            doubts += test_part_doubts(evidence, [each.part for each in readings], codes, limits, seed)
    if evidence.chance is not None:
        return judge_choices(effects, doubts, evidence, limits), effects, readings
    verdict = judge_leakage(
        effects,
        max(parts, key=lambda row: row.improvement),
        doubts,
        n_test=report.n_examples,
        n_shared=_shared_rows(evidence),
        limits=limits,
        subject=_subject(evidence),
    )
    return verdict, effects, readings


def _subject(evidence: PartialInputRuns) -> str:
    """What was measured; models of other names a condition are no kind of model."""
    if evidence.source == PROBES:
        return "A quick probe"
    names = {runs.model for runs in evidence.conditions.values()}
    name = names.pop() if len(names) == 1 else ""
    article = "An" if name[:1].lower() in tuple("aeiou") else "A"
    return f"{article} {name} model" if name else "A model"


def _shared_rows(evidence: PartialInputRuns) -> int:
    """Test rows whose texts all stand together in a training row."""
    if evidence.train is None or evidence.test is None:
        return 0
    roles = list(evidence.test.text_columns)
    known = evidence.train.examples.select(roles).unique()
    return evidence.test.examples.select(roles).join(known, on=roles, how="semi").height


OTHER_TOKENS = "the two models cut the shared sentence into other tokens"


def measure_relevance(
    evidence: PartialInputRuns, undefined: dict[str, str]
) -> tuple[list[dict[str, Any]], pl.DataFrame | None]:
    """A row a part, means over seeds; and a row an example and part, for the first seed.

    The runs of a part are laid beside those of the whole with the same seed; where no seed is shared, run by run in
    their order.
    """
    whole = evidence.relevances.get(PAIRED)
    parts = {name: each for name, each in evidence.relevances.items() if is_part(name)}
    if not whole or not parts:
        if PAIRED in evidence.conditions:
            undefined["token relevance agreement"] = "it needs recorded relevances of the part and of the pair"
        return [], None
    rows, tables = [], []
    for name, runs in parts.items():
        role = name.removesuffix("_only")
        seeds = [seed for seed in runs if seed in whole]
        pairs = [(runs[seed], whole[seed]) for seed in seeds] or list(zip(runs.values(), whole.values(), strict=False))
        found = [_agreement(single, paired, role, evidence.example_ids) for single, paired in pairs]
        row = {"condition": name, "n_runs": len(found)}
        for convention in ("recommended", "paper"):
            values = np.array([each[convention].agreement for each in found])
            row[f"agreement_{convention}"] = float(values.mean())
            row[f"sd_{convention}"] = float(values.std(ddof=1)) if values.size > 1 else float("nan")
        first = found[0]["recommended"]
        row |= {
            "low": first.agreement_low,
            "high": first.agreement_high,
            "shared_share": float(np.mean([each["recommended"].shared_share for each in found])),
            "n_used": first.n_used,
            "skipped": first.skipped,
        }
        rows.append(row)
        ids = [str(each) for each in evidence.example_ids.tolist()]
        tables.append(
            first.to_frame().select(
                pl.Series("example_id", ids), pl.lit(name).alias("condition"), "agreement", "shared_share"
            )
        )
    return rows, pl.concat(tables)


def _agreement(
    single: Relevances, paired: Relevances, role: str, ids: NDArray[Any]
) -> dict[str, TokenRelevanceAgreement]:
    own, beside = _ordered(single, ids), _ordered(paired, ids)
    part, roles = single.roles[role], list(paired.roles)
    before = roles[: roles.index(role)]
    maps = [part.values[row] for row in own]
    wholes = [np.concatenate([paired.roles[name].values[row] for name in roles]) for row in beside]
    starts = np.array([sum(paired.roles[name].values[row].size for name in before) for row in beside])
    differs = np.array(
        [part.tokens[i] != paired.roles[role].tokens[j] for i, j in zip(own, beside, strict=True)], dtype=bool
    )
    cut = part.cut[own] | _any_cut(paired.roles[role], beside)
    return {
        "recommended": _measured(maps, wholes, starts, cut | differs, int((differs & ~cut).sum())),
        "paper": _quietly(maps, wholes, "premise_only" if not before else "hypothesis_only"),
    }


def _any_cut(relevance: RoleRelevance, rows: Sequence[int]) -> NDArray[np.bool_]:
    return np.asarray(relevance.cut[rows], dtype=bool)


def _ordered(relevances: Relevances, ids: NDArray[Any]) -> list[int]:
    place = {str(name): row for row, name in enumerate(relevances.example_ids.tolist())}
    return [place[str(name)] for name in ids.tolist()]


def _measured(
    maps: list[Any], wholes: list[Any], starts: NDArray[np.int64], left_out: NDArray[np.bool_], n_other: int
) -> TokenRelevanceAgreement:
    from dataclasses import replace

    with warnings.catch_warnings():
        # The row says it: no value, and why.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = token_relevance_agreement(maps, wholes, starts, cut=left_out)
    if not n_other:
        return found
    skipped = {CUT: found.skipped[CUT] - n_other, OTHER_TOKENS: n_other} | {
        why: count for why, count in found.skipped.items() if why != CUT
    }
    return replace(found, skipped={why: count for why, count in skipped.items() if count})


def _quietly(maps: list[Any], wholes: list[Any], condition: Any) -> TokenRelevanceAgreement:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return token_relevance_agreement(maps, wholes, condition=condition, convention="paper")
