"""Do the four questions find the same examples, and does debiasing take the flaws away or only move them?

Our own study, of no paper: on one dataset each test example is classed by every question, and the classes are laid over
each other, at equal difficulty. What two questions measure of the same runs would coincide by itself, so that
instability, confidence and difficulty are measured of different seeds. Released runs of BERT are classed likewise.
What we ask are claims that the figures bear out or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.numbers import bounds, decimal, number, percent, signed_points
from goldassay.lab.papers.crossing.examples import CLASSES, ClassedExamples, Examples, class_examples, class_released
from goldassay.lab.papers.printed import show_cells
from goldassay.lab.papers.recipe import (
    Comparison,
    Conclusion,
    Findings,
    Scale,
    ScaleName,
    Standing,
    Training,
    Workplace,
)
from goldassay.questions.instability.measures.class_overlap import overlap_classes
from goldassay.questions.instability.measures.comparison import compare
from goldassay.questions.instability.measures.intervals import resample_groups
from goldassay.questions.instability.measures.scores import summarize_scores
from goldassay.questions.instability.measures.variance import decompose_by_group
from goldassay.runs.reading import read_runs
from goldassay.stats.intervals import difference_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.runs.runs import Runs


TITLE = "Where the four questions cross"
PAPER = "a study of goldassay's own"

TRAIN, DEV, TEST, PLAIN = "SNLI train", "SNLI dev", "SNLI", "plain"
TRAINED = "trained here"
NEEDED = (TRAIN, TEST, PLAIN)

_KEPT = {"record": ["predictions", "logits"]}
_OBJECTIVES = {
    "product of experts": {"objective": "product_of_experts"},
    "learned-mixin": {"objective": "learned_mixin"},
    "confidence regularization": {"objective": "confidence_regularization"},
    "guided cross-entropy": {"objective": "guided_cross_entropy"},
    "adversarial": {"objective": "adversarial"},
}
_BIASED = {"product of experts", "learned-mixin", "confidence regularization", "guided cross-entropy"}
# Of each pair the claim that its two classes fall together.
_CLAIMS = (
    ("easy", "leaky", "Same flaw", "The clusters that lean to a label hold the examples that patterns give away."),
    ("easy", "given away", "Seen through", "What patterns give away, models of the hypothesis alone find, too."),
    ("hard", "unstable", "Unstable where hard", "Scores swing on the examples whose patterns name another label."),
    ("leaky", "unstable", "Unstable where leaky", "Scores swing in the clusters that lean to a label."),
    ("hard", "late", "Learnt late", "Examples whose patterns name another label are learnt late."),
    ("hard", "unfamiliar", "Taken for foreign", "Examples whose patterns name another label look foreign to a model."),
)


def _trainings(
    network: str, tests: tuple[str, ...], seeds: int, few: int, every: int, names: tuple[str, ...], **options: object
) -> tuple[Training, ...]:
    """The plain network, it on the hypothesis alone, and it under each objective."""
    return (
        Training(
            train=TRAIN,
            tests=tests,
            models={PLAIN: network},
            seeds=seeds,
            options={**options, "record": ["predictions", "logits", "embeddings"], "checkpoint_every": every},
        ),
        Training(
            train=TRAIN,
            tests=(TEST,),
            models={PLAIN: network},
            seeds=few,
            conditions=("hypothesis_only",),
            options={**options, **_KEPT},
        ),
        Training(
            train=TRAIN,
            tests=tests,
            models=dict.fromkeys(names, network),
            seeds=few,
            options={**options, **_KEPT},
            of={
                name: {**_OBJECTIVES[name], **({"bias": "quick_probe", "bias_folds": 5} if name in _BIASED else {})}
                for name in names
            },
        ),
    )


_ELSEWHERE = {"MNLI-m": "mnli_matched", "counterfactual": "counterfactual", "ANLI": "anli"}

SCALES: Mapping[ScaleName, Scale] = {
    "smoke": Scale(
        sets={TRAIN: "specimen/train", TEST: "specimen/test", "elsewhere": "specimen/dev"},
        trainings=_trainings("ngram_average", (TEST, "elsewhere"), 5, 2, 4, ("product of experts",)),
        note="A made-up set under the name of a real one: it shows that the study runs, and nothing about SNLI.",
        chosen={"clusters": 10},
    ),
    "desk": Scale(
        sets={TRAIN: "snli_train_part", TEST: "snli_test", **_ELSEWHERE},
        trainings=_trainings(
            "bilstm", (TEST, *_ELSEWHERE), 9, 3, 38, tuple(_OBJECTIVES), precision="auto", rows=18_000,
            vary=["initialization", "order", "dropout"],
        ),
        note="A BiLSTM of desk size on 18,000 pairs of SNLI: 9 seeds, ten checkpoints each; 3 seeds of each objective "
        "and on the hypothesis alone.",
        chosen={"clusters": 50},
    ),
    "paper": Scale(
        sets={TRAIN: "snli_train", DEV: "snli_dev", TEST: "snli_test", **_ELSEWHERE},
        trainings=_trainings(
            "infersent", (TEST, *_ELSEWHERE), 10, 5, 1_000, tuple(_OBJECTIVES), configuration="published", dev=DEV
        ),
        note="InferSent of the published size on all of SNLI, whose dev set decides when to stop: 10 seeds, 5 of each "
        "objective.",
        chosen={"clusters": 50},
        strict=True,
    ),
}  # fmt: skip


def prepare(_work: Workplace) -> dict[str, Dataset]:
    """Nothing is made of other sets."""
    return {}


def has_released(_work: Workplace) -> bool:
    """Released runs are laid over those that are trained here, and do not take their place."""
    return False


def measure(work: Workplace) -> Findings:
    """Class the test examples, lay the classes over each other, and hold each objective against plain training."""
    tests = list(dict.fromkeys(name for training in work.scale.trainings for name in training.tests))
    examples = class_examples(work, TRAIN, TEST, PLAIN)
    released = class_released(work) if work.scale_name != "smoke" else {}
    overlaps = measure_overlaps({TRAINED: examples, **released}, work.seed)
    variance = measure_variance(examples, work.seed)
    objectives = list(dict.fromkeys(name for each in work.scale.trainings for name in each.models if name != PLAIN))
    debiasing = measure_debiasing(work, examples, objectives, tests, PLAIN)
    return Findings(
        conclusions=conclude(overlaps, variance, debiasing),
        comparisons=(*overlaps_tables(overlaps, TRAINED), variance_table(variance), objectives_table(debiasing)),
        notes=examples.notes,
        tables={"examples": examples.to_frame(), "overlaps": overlaps, "variance": variance, "debiasing": debiasing},
    )


def conclude(overlaps: pl.DataFrame, variance: pl.DataFrame, debiasing: pl.DataFrame) -> tuple[Conclusion, ...]:
    """Each claim with its figure."""
    found = []
    for runs in overlaps["runs"].unique(maintain_order=True):
        of_runs = overlaps.filter(pl.col("runs") == runs)
        pairs = {(row["first"], row["second"]): row for row in of_runs.iter_rows(named=True)}
        whose = "" if runs == overlaps["runs"][0] else f", {runs}"
        found += [
            _of_pair(pairs[first, second], f"{name}{whose}", claim)
            for first, second, name, claim in _CLAIMS
            if (first, second) in pairs
        ]
    return (*found, _of_variance(variance), *_of_debiasing(debiasing))


def _of_pair(row: dict[str, Any], name: str, claim: str) -> Conclusion:
    """By the ratio at equal difficulty: that of chance alone says as much of what is hard as of the two classes."""
    place = "overlap"
    if row["reason"]:
        return Conclusion(name, claim, place, "not measured", f"Not defined: {row['reason']}.", unit="ratio")
    observed = row["observed"]
    whole = observed == round(observed) or observed >= 10
    evidence = (
        f"{decimal(observed, 0 if whole else 1)} example{' is' if observed == 1 else 's are'} {row['first']} and "
        f"{row['second']}, {decimal(row['ratio'])} times what chance within labels would give "
        f"{bounds(row['low'], row['high'], 2, 1.0)}"
    )
    if row["equal_reason"]:
        return Conclusion(name, claim, place, "not measured", f"{evidence}; {row['equal_reason']}.", unit="ratio")
    standing: Standing = "not shown"
    if row["equal_low"] > 1:
        standing = "held"
    elif row["equal_high"] < 1:
        standing = "did not hold"
    return Conclusion(
        name,
        claim,
        place,
        standing,
        f"{evidence}. The figure is at equal difficulty by {row['n_held_out']} runs that define neither class.",
        row["equal_ratio"],
        row["equal_low"],
        row["equal_high"],
        "ratio",
    )


def _of_variance(variance: pl.DataFrame) -> Conclusion:
    claim = "The variance over seeds sits in the clusters that lean to a label."
    rows = variance.filter(pl.col("class") == "leaky").to_dicts()
    if not rows or number(rows[0]["share_of_variance"]) is None:
        why = "No cluster leans to a label, or all do, or all runs score alike."
        return Conclusion("Variance", claim, "variance", "not measured", why)
    row = rows[0]
    share, size = row["share_of_variance"], row["share_of_examples"]
    standing: Standing = "not shown"
    if row["low"] is not None and row["low"] > size:
        standing = "held"
    elif row["high"] is not None and row["high"] < size:
        standing = "did not hold"
    return Conclusion(
        "Variance",
        claim,
        "variance",
        standing,
        f"Leaky examples are {percent(size)} of all and hold {percent(share)} of the variance"
        f"{'' if row['low'] is not None else '; too few runs differ there to give an interval'}.",
        share,
        row["low"],
        row["high"],
        "share",
    )


def _of_debiasing(debiasing: pl.DataFrame) -> list[Conclusion]:
    """Of each objective whether it takes leakage away, and whether it pays in stability."""
    found = []
    for name in debiasing["objective"].unique(maintain_order=True):
        rows = {row["measure"]: row for row in debiasing.filter(pl.col("objective") == name).iter_rows(named=True)}
        if HARD not in rows or MISLED not in rows:
            continue
        hard, misled = rows[HARD], rows[MISLED]
        gains, clears = hard["low"] > 0, misled["high"] < 0
        standing: Standing = "held" if gains and clears else "not shown"
        if hard["high"] < 0 or misled["low"] > 0:
            standing = "did not hold"
        costs = [f"{measure} {_change(rows[measure])}" for measure in (FULL, UNSTABLE) if measure in rows]
        found.append(
            Conclusion(
                name.capitalize(),
                "Debiasing takes the leakage away: it gains on hard examples and errs less as the hypothesis alone.",
                "debiasing",
                standing,
                f"On hard {_change(hard)}; errors of the hypothesis alone {_change(misled)}; {'; '.join(costs)}.",
                hard["difference"],
                hard["low"],
                hard["high"],
                "difference",
            )
        )
    return found


def _change(row: dict[str, Any]) -> str:
    return f"{signed_points(row['difference'], 1)} [{signed_points(row['low'], 1)}, {signed_points(row['high'], 1)}]"


# Measures in the order in which they are shown: accuracy on parts of the test set and elsewhere, then what is wrong.
FULL, EASY, HARD, LEAKY, REST = "accuracy", "on easy", "on hard", "in leaky clusters", "in other clusters"
FOLLOWS, MISLED = "decides as hypothesis only", "errs as hypothesis only"
SPREAD, UNSTABLE = "SD over seeds", "unstable examples"


def measure_debiasing(
    work: Workplace, examples: Examples, objectives: Sequence[str], tests: Sequence[str], plain: str
) -> pl.DataFrame:
    """Each measure of plain training and of each objective, and the difference with an interval.

    Accuracies, and how often a decision is that of models of the hypothesis alone (on all examples; on those that most
    of these get wrong, where both err alike), are compared over runs and examples; see `goldassay.instability.compare`.
    Which examples are unstable depends on the number of runs, and is compared on equally many, over examples. Of the
    spreads over seeds the interval is made of those of both (chi-square; Zou and Donner 2008).
    """
    rows: list[dict[str, Any]] = []
    first = tests[0]
    base = {test: _runs(work, plain, test) for test in tests}
    masks = {
        FULL: np.ones(examples.gold.size, np.bool_),
        EASY: examples.classes["easy"],
        HARD: examples.classes["hard"],
        LEAKY: examples.classes["leaky"],
        REST: ~examples.classes["leaky"],
    }
    for name in objectives:
        own = {test: _runs(work, name, test) for test in tests}
        for measure, mask in masks.items():
            if mask.sum() > 1:
                rows.append(
                    _accuracy(name, measure, own[first].scores[:, mask], base[first].scores[:, mask], work.seed)
                )
        rows += [_accuracy(name, f"on {test}", own[test].scores, base[test].scores, work.seed) for test in tests[1:]]
        rows += _others(name, own[first], base[first], examples, work.seed)
    return pl.DataFrame(rows, infer_schema_length=None)


def objectives_table(debiasing: pl.DataFrame) -> Comparison:
    """Differences from plain training, in points."""
    cells = [
        {
            "measure": row["measure"], "objective": row["objective"], "n_runs": row["n_runs"],
            **{name: 100 * row[key] for name, key in (("ours", "difference"), ("low", "low"), ("high", "high"))},
        }
        for row in debiasing.iter_rows(named=True)
    ]  # fmt: skip
    return show_cells(
        "debiasing_differences",
        "What each objective changes against plain training, in points",
        cells,
        rows=("measure",),
        columns=("objective",),
        note="an objective that works errs less as hypothesis only and gains on hard; what it costs shows elsewhere.",
        drawn="differences",
    )


def _runs(work: Workplace, model: str, test: str) -> Runs:
    return read_runs(work.runs, model=model, dataset=test, condition="paired", checkpoint="last")


def _accuracy(name: str, measure: str, own: NDArray[Any], base: NDArray[Any], seed: int) -> dict[str, Any]:
    found = compare(own, base, seed=seed, n_draws=1)
    return {
        "objective": name, "measure": measure, "plain": found.mean_b, "own": found.mean_a,
        "difference": found.difference, "low": found.interval.low, "high": found.interval.high, "n_runs": own.shape[0],
    }  # fmt: skip


def _others(name: str, own: Runs, base: Runs, examples: Examples, seed: int) -> list[dict[str, Any]]:
    """How far decisions are those of the hypothesis alone, and how far they change with the seed."""
    alike, alike_base = (_alike(each, examples.hypothesis_only) for each in (own, base))
    fooled = ~examples.classes["given away"]
    found = [_accuracy(name, FOLLOWS, alike, alike_base, seed)]
    if fooled.sum() > 1:
        wrong, wrong_base = (
            values[:, fooled] * (1 - np.asarray(each.scores)[:, fooled])
            for values, each in ((alike, own), (alike_base, base))
        )
        found.append(_accuracy(name, MISLED, wrong, wrong_base, seed))
    n_runs = min(own.n_runs, base.n_runs)
    if n_runs < 2:
        return found
    few, few_base = (np.asarray(each.scores)[:n_runs] for each in (own, base))
    mixed, mixed_base = (((each.mean(axis=0) > 0) & (each.mean(axis=0) < 1))[None] * 1.0 for each in (few, few_base))
    spread, spread_base = (summarize_scores(np.asarray(each.scores)) for each in (own, base))
    ends = difference_interval(spread.sd, spread.sd_interval, spread_base.sd, spread_base.sd_interval)
    sd_row = {
        "objective": name, "measure": SPREAD, "plain": spread_base.sd, "own": spread.sd,
        "difference": spread.sd - spread_base.sd, "low": ends.low, "high": ends.high, "n_runs": own.n_runs,
    }  # fmt: skip
    return [*found, {**_accuracy(name, UNSTABLE, mixed, mixed_base, seed), "n_runs": n_runs}, sd_row]


def _alike(runs: Runs, hypothesis_only: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of the models of the hypothesis alone that decide as each run does on each example, (R, N)."""
    predictions = np.asarray(runs.predictions)
    return np.asarray((predictions[:, None, :] == hypothesis_only[None]).mean(axis=1))


# What patterns say of an example is one of the two.
_EXCLUDED = (frozenset({"easy", "hard"}),)
_LEVEL = 0.95


def measure_overlaps(examples: Mapping[str, ClassedExamples], seed: int) -> pl.DataFrame:
    """Of each two classes of each network's examples the ratio to chance, and that at equal difficulty.

    One row a pair, with `runs`, what the key says of whose they are, before the columns of
    `goldassay.instability.ClassOverlaps`. Intervals of one network hold together by their largest deviation, and those
    of all by Bonferroni's correction, so that all intervals hold at 95 %.
    """
    level = 1 - (1 - _LEVEL) / len(examples)
    frames = []
    for name, each in examples.items():
        found = overlap_classes(
            each.scores, each.gold, each.classes, each.run_classes, without=_EXCLUDED, clusters=each.premises,
            level=level, seed=seed,
        )  # fmt: skip
        frames.append(found.table.select(pl.lit(name).alias("runs"), pl.all()))
    return pl.concat(frames)


def overlaps_tables(overlaps: pl.DataFrame, study: str) -> tuple[Comparison, ...]:
    """The study's ratios as two matrices, each pair in both its places, and those of released runs as a list."""
    explained = "; ".join(f"{name}: {meaning}" for name, meaning in CLASSES.items())
    own, released = overlaps.filter(pl.col("runs") == study), overlaps.filter(pl.col("runs") != study)
    tables = [
        _matrix(own, "overlap", "", "Examples in both classes, as a multiple of what chance within labels would give",
                f"{explained}."),
        _matrix(own, "overlap_at_equal_difficulty", "equal_",
                "Examples in both classes, as a multiple of what chance would give at equal difficulty",
                "difficulty is the share of right runs, among the runs that define neither class."),
    ]  # fmt: skip
    if released.height:
        cells = [
            {"runs": row["runs"], "class": row["first"], "with": row["second"], "measure": measure, **figure}
            for row in released.iter_rows(named=True)
            for measure, figure in (
                ("by chance", {"ours": row["ratio"], "low": row["low"], "high": row["high"]}),
                ("in strata", {"ours": row["stratified"]}),
                ("equal difficulty", {"ours": row["equal_ratio"], "low": row["equal_low"], "high": row["equal_high"]}),
            )
        ]
        note = "strata are of label and accuracy of the other runs; few runs leave differences of difficulty in them."
        tables.append(
            show_cells(
                "overlap_released", "The same of released runs of BERT", cells, rows=("runs", "class", "with"),
                columns=("measure",), digits=2, note=note, drawn="nothing",
            )
        )  # fmt: skip
    return tuple(tables)


def _matrix(overlaps: pl.DataFrame, name: str, kind: str, title: str, note: str) -> Comparison:
    pairs = [
        {"class": first, "with": second, "ours": row[f"{kind}ratio"], "low": row[f"{kind}low"],
         "high": row[f"{kind}high"]}
        for row in overlaps.iter_rows(named=True)
        for first, second in ((row["first"], row["second"]), (row["second"], row["first"]))
    ]  # fmt: skip
    order = list(CLASSES)
    return show_cells(
        name,
        title,
        sorted(pairs, key=lambda cell: (order.index(cell["class"]), order.index(cell["with"]))),
        rows=("class",),
        columns=("with",),
        digits=2,
        note=note,
        drawn="matrix",
    )


def measure_variance(examples: Examples, seed: int) -> pl.DataFrame:
    """Of each class that the seeds did not make: its share of the examples, and of the variance over seeds.

    A share has no interval where the runs do not differ on the class, or on all the rest: that of its slope would have
    no width, as if a handful of examples could rule out that others differ.
    """
    rows = []
    for name, inside in examples.classes.items():
        if not 0 < inside.sum() < inside.size:
            continue
        groups = inside.astype(int).astype(str)
        found = decompose_by_group(examples.scores, groups).to_frame()
        ends = resample_groups(examples.scores, groups, over="runs", seed=seed).to_frame()
        row = found.join(ends, on="group").filter(pl.col("group") == "1").row(0, named=True)
        known = row["share_high"] - row["share_low"] > 1e-9
        rows.append(
            {
                "class": name,
                "share_of_examples": row["n_examples"] / inside.size,
                "share_of_variance": row["share_of_variance"],
                "low": row["share_low"] if known else None,
                "high": row["share_high"] if known else None,
                "accuracy": row["mean"],
                "sd": row["sd"],
            }
        )
    schema = ("class", "share_of_examples", "share_of_variance", "low", "high", "accuracy", "sd")
    return pl.DataFrame(rows, schema={"class": pl.String, **dict.fromkeys(schema[1:], pl.Float64)})


def variance_table(variance: pl.DataFrame) -> Comparison:
    """Share of the examples beside share of the variance, in per cent; accuracy with its SD over seeds."""
    cells = []
    for row in variance.iter_rows(named=True):
        points = {key: None if value is None else 100 * value for key, value in row.items() if key != "class"}
        cells += [
            {"class": row["class"], "measure": "% of examples", "ours": points["share_of_examples"]},
            {
                "class": row["class"], "measure": "% of the variance", "ours": points["share_of_variance"],
                "low": points["low"], "high": points["high"],
            },
            {"class": row["class"], "measure": "accuracy", "ours": points["accuracy"], "sd": points["sd"]},
        ]  # fmt: skip
    return show_cells(
        "variance_by_class",
        "Where the variance over seeds sits",
        cells,
        rows=("class",),
        columns=("measure",),
        note="a class whose share of the variance is above its share of the examples is where the score swings; "
        "intervals are over runs.",
        drawn="nothing",
    )
