"""Labels that a part of the input gives away: models of single sentences, their agreement, and clusters, over sets.

Its networks are declared as trainings rather than left to `measure_leakage`, which could train them too: like this they
are priced before they start, go to several processes or machines, and stand still halfway, as in every other study.

What the paper concludes is held against what is measured on our sets.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.numbers import decimal, signed_points
from goldassay.lab.papers.leakage.evidence import (
    MeasuredSet,
    compare_tables,
    compared,
    file_name,
    is_printed_part,
    measured_sets,
    peco_cells,
    rows_of_all,
)
from goldassay.lab.papers.leakage.sets import SCALES, made_sets, planted_sets
from goldassay.lab.papers.pooling import p_of, pool_claim
from goldassay.lab.papers.printed import printed_table
from goldassay.lab.papers.recipe import Claim, Conclusion, Findings, Shown, Standing, Workplace, declared
from goldassay.questions.leakage.datasets import correlations
from goldassay.stats.intervals import correlation_interval, mean_interval, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goldassay.data.dataset import Dataset

__all__ = ["CLAIMS", "NEEDED", "PAPER", "SCALES", "TITLE", "has_released", "measure", "prepare"]

NEEDED: tuple[str, ...] = ()

TITLE = "Single sentences that give the label away"
PAPER = "Saxon, Wang, Xu and Wang 2023"
Row = dict[str, Any]

# Made after the leakage of 2018 was known, some of them against it.
NEWER = ("ANLI", "A1", "A2", "A3", "OCNLI", "CAugNLI", "SNLI-debiased", "MNLI-debiased")
_OLDER, _WHERE = "SNLI", "hypothesis"
# A correlation nearer to 0 than this says nothing of where an example lies.
_FAINT = 0.2
_FEWEST = 4
_TOGETHER = {
    ("agreement", "recovered"): "By agreement",
    ("relevance", "accuracy"): "By relevance",
    ("peco", "recovered"): "By clusters",
}
_SINGLE = "models of a single sentence on several sets, three runs each"
_BOTH = "models of a single sentence and of the pair on several sets"
CLAIMS = declared(
    Claim(
        "Leak", "A model of a single sentence is right more often than the majority.", "Table 3", "on average",
        "points above the majority", _SINGLE, "p. 1, abstract, sentence 2",
    ),
    Claim(
        "Persists", "Leakage persists in sets made since it is known, adversarial and debiased ones among them.",
        "Table 3", "on average", "points above the majority", f"{_SINGLE}, made after 2018",
        "p. 1, abstract, sentence 3",
    ),
    Claim(
        "Less", f"Such sets leak less than {_OLDER}.", "Table 3", "on average",
        f"points above the majority, {_OLDER} minus the set", f"the same, and on {_OLDER}",
    ),
    Claim(
        "Alike", "Models of a single sentence and of the pair decide alike far beyond chance.", "Table 4", "on average",
        "agreement beyond chance", f"decisions of {_BOTH}",
    ),
    Claim(
        "Lean", "In the model of the pair, single sentences form clusters that lean to a label.",
        "Tables 4, 5, Figure 1", "on average", "PECO beyond chance", "embeddings by models of the pair on several sets",
        "p. 1, abstract, sentence 4",
    ),
    Claim(
        "By agreement", "Over sets, agreement with the pair's model goes with the share recovered.", "Figure 5",
        "this cell", "Pearson over sets, printed .69", _BOTH,
    ),
    Claim(
        "By relevance", "Over sets, agreement of token relevances goes with single accuracy.", "Figure 6", "this cell",
        "Pearson over sets, printed .57", _BOTH,
    ),
    Claim(
        "By clusters", "Over sets, PECO goes with the share recovered.", "Figure 7", "this cell",
        "Pearson over sets, printed .64", _BOTH,
    ),
    Claim(
        "Best models", "What the best models of their time find hard, the models of the pair do too.", "Figure 3",
        "this cell", "Pearson over sets, printed .92", "models of the pair on four sets or more",
    ),
    Claim(
        "Unlike", "Biased clusters are not found by training dynamics: they hold examples of every confidence.",
        "section 6.1, Figure 8", "on average", f"correlation of divergence and confidence, nearer to 0 than {_FAINT}",
        "models of the pair, at the epochs of their training",
    ),
    Claim(
        "A third", "One example in three lies in a biased cluster.", "section 6.1, Figure 8", "this cell",
        "share of examples in clusters with divergence above .25", "clusters of SNLI by a model of the pair",
        by="`tests/leakage/test_clusters.py`",
    ),
)  # fmt: skip


def has_released(_work: Workplace) -> bool:
    """Nothing of it was released."""
    return False


def prepare(work: Workplace) -> dict[str, Dataset]:
    """What is planted at the smallest size, and what is made of others' sets."""
    if "planted" in work.scale.chosen:
        n_train, n_test = work.scale.chosen["planted"]
        made = planted_sets(n_train, n_test, work.seed)
        return {name: dataset for name, dataset in made.items() if name not in work.absent}
    return made_sets(work)


def measure(work: Workplace) -> Findings:
    """Every set by every model: conditions, agreement, relevances and clusters; then all sets beside each other."""
    found = measured_sets(work)
    rows = rows_of_all(found)
    reports = {each.name: each.report for each in found} | compared(found)
    notes = [] if work.pretrained or work.scale_name != "desk" else ["No pretrained checkpoint was given."]
    return Findings(
        conclusions=conclude(rows, {f"{each.dataset} ({each.model})": each.document for each in found}),
        comparisons=compare_tables(rows, peco_cells(work, found), work.sets),
        reports=reports,
        shown=tuple(_shown(found)),
        notes=tuple(notes),
    )


def _shown(found: Iterable[MeasuredSet]) -> Iterable[Shown]:
    """Of each model the set that has a map, and all sets together."""
    for model in dict.fromkeys(each.model for each in found):
        yield Shown(
            f"Figures 2, 5, 6 and 7. What goes together over sets, {model}", file_name(model), "leakage_datasets"
        )
    for each in found:
        if each.mapped:
            about = f"{each.dataset}, {each.model}"
            yield Shown(f"Figure 1. Clusters of sentences, {about}", each.name, "leakage_map")
            yield Shown(f"How much clusters lean, {about}", each.name, "leakage_curve")
            yield Shown(f"Figure 8. Confidence in biased clusters and elsewhere, {about}", each.name,
                        "leakage_confidence")  # fmt: skip


def conclude(rows: Sequence[Row], documents: Mapping[str, Mapping[str, Any]]) -> tuple[Conclusion, ...]:
    """What became of each conclusion.

    Args:
        rows: Of `rows_of_all`.
        documents: Of the reports behind them, by what they are of.
    """
    shown = [row for row in rows if is_printed_part(row)]
    return (
        _above(shown),
        _persists(shown),
        _less(shown),
        _alike(shown),
        _clusters(shown),
        *_together(shown),
        _state_of_the_art(shown),
        _confidence(documents),
    )


def _named(row: Row) -> str:
    return f"the {row['part']} of {row['dataset']} ({row['model']})"


def _pooled(
    name: str,
    rows: Sequence[Row],
    figure: Callable[[Row], tuple[float, float, float]],
    none: str,
    *,
    shared: bool = False,
) -> Conclusion:
    """A difference in every row, pooled; above 0, below, or neither.

    Rows of one training set share it and its runs. With `shared` all have a figure in common, too.
    """
    families: dict[str, list[object]] = {"training sets": [row["family"] for row in rows]}
    if shared:
        families["sets compared with"] = [None] * len(rows)
    # With `shared` it is a difference of two differences.
    most = 2.0 if shared else 1.0
    together = pool_claim(
        [figure(row) for row in rows], families, what="parts of sets", unit="difference", within=(-most, most)
    )
    if together is None:
        return CLAIMS[name].unmeasured(none)
    found = sorted(rows, key=lambda row: figure(row)[0])
    return CLAIMS[name].found(
        together.standing(),
        f"{together.sentence} Most {_named(found[-1])}: {signed_points(figure(found[-1])[0], 1)}, least "
        f"{_named(found[0])}: {signed_points(figure(found[0])[0], 1)}.",
        *together.figure,
        "difference",
        together.p(),
    )


def _improvement(row: Row) -> tuple[float, float, float]:
    return row["improvement"], row["improvement_low"], row["improvement_high"]


def _above(rows: Sequence[Row]) -> Conclusion:
    return _pooled("Leak", rows, _improvement, "There is no model of a single sentence.")


def _persists(rows: Sequence[Row]) -> Conclusion:
    newer = [row for row in rows if row["dataset"] in NEWER]
    return _pooled("Persists", newer, _improvement, "None of these sets is at hand.")


def _less(rows: Sequence[Row]) -> Conclusion:
    """By how much less than SNLI by the same model; the intervals of two sets are of different examples."""
    older = {row["model"]: row for row in rows if row["dataset"] == _OLDER and row["part"] == _WHERE}
    newer = [row for row in rows if row["dataset"] in NEWER and row["model"] in older]

    def difference(row: Row) -> tuple[float, float, float]:
        before, after = _improvement(older[row["model"]]), _improvement(row)
        below = ((before[0] - before[1]) ** 2 + (after[2] - after[0]) ** 2) ** 0.5
        above = ((before[2] - before[0]) ** 2 + (after[0] - after[1]) ** 2) ** 0.5
        value = before[0] - after[0]
        return value, value - below, value + above

    return _pooled("Less", newer, difference, f"None of these sets is at hand, or {_OLDER} is not.", shared=True)


def _alike(rows: Sequence[Row]) -> Conclusion:
    def beyond(row: Row) -> tuple[float, float, float]:
        return tuple(row[key] - row["chance"] for key in ("agreement", "agreement_low", "agreement_high"))

    known = [row for row in rows if row["agreement"] is not None]
    return _pooled("Alike", known, beyond, "There are no decisions of both.")


def _leaning(row: Row) -> tuple[float, float, float]:
    """The mean over the runs of the pair's model, and an interval for other runs and other examples.

    That of the score is for other starts of k-means, of which nobody asks; all runs have the same examples.
    """
    scores = row["peco_of_runs"]
    value = float(np.mean(scores))
    runs = mean_interval(scores).high - value if len(scores) > 1 else row["peco_high"] - row["peco"]
    half = math.hypot(runs, normal_quantile(0.95) * row["peco_examples_error"])
    return value, value - half, value + half


def _clusters(rows: Sequence[Row]) -> Conclusion:
    """The recommended score, from which what chance gives is subtracted."""
    known = [row for row in rows if row["peco"] is not None]
    if not known:
        return CLAIMS["Lean"].unmeasured("There are no embeddings.")
    together = pool_claim(
        [_leaning(row) for row in known],
        {"training sets": [row["family"] for row in known]},
        what="parts of sets",
        unit="score",
    )
    if together is None:
        return CLAIMS["Lean"].unmeasured("No PECO has an interval.")
    first = max(known, key=lambda row: _leaning(row)[0])
    return CLAIMS["Lean"].found(
        together.standing(),
        f"PECO beyond what chance gives, a mean over runs. {together.sentence} Most {_named(first)}: "
        f"{decimal(_leaning(first)[0], 3)}.",
        *together.figure,
        "score",
        together.p(),
    )


def _together(rows: Sequence[Row]) -> list[Conclusion]:
    """Over sets, which measures of leakage go together; the model with most sets speaks."""
    by_model: dict[str, list[Row]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    found = {model: {(each.x, each.y): each for each in correlations(own)} for model, own in by_model.items()}
    conclusions = []
    for pair, name in _TOGETHER.items():
        known = {model: each[pair] for model, each in found.items() if pair in each}
        if not known:
            conclusions.append(CLAIMS[name].unmeasured("It takes three sets that have both."))
            continue
        model = max(known, key=lambda each: known[each].n)
        chosen = known[model]
        others = "".join(f"; {other} {decimal(each.r)}" for other, each in known.items() if other != model)
        beside = found[model].get(("peco", "improvement"))
        gained = (
            f" With points above the majority PECO has {decimal(beside.r)}." if pair[0] == "peco" and beside else ""
        )
        conclusions.append(
            CLAIMS[name].found(
                "held" if chosen.low > 0 else "did not hold" if chosen.high < 0 else "not shown",
                f"Pearson over {chosen.n} parts of sets from {chosen.n_families} training "
                f"set{'' if chosen.n_families == 1 else 's'} is {decimal(chosen.r)} ({model}{others}); the paper "
                f"prints {decimal(chosen.printed)}, and its tables give {decimal(chosen.recomputed)}.{gained}",
                chosen.r,
                chosen.low,
                chosen.high,
                "correlation",
                _p_of_correlation(chosen.r, chosen.low, chosen.high, chosen.n, chosen.n_families),
            )
        )
    return conclusions


def _state_of_the_art(rows: Sequence[Row]) -> Conclusion:
    """Whether our models of the pair find hard what the best models of the time did."""
    printed = printed_table("saxon2023_table2").filter(metric="sota").drop_nulls("value")
    best = dict(zip(printed["dataset"], printed["value"], strict=True))
    by_model: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["dataset"] in best and row["paired"] is not None:
            by_model.setdefault(row["model"], {})[row["dataset"]] = row["paired"]
    model = max(by_model, key=lambda each: len(by_model[each]), default="")
    known = by_model.get(model, {})
    if len(known) < _FEWEST:
        return CLAIMS["Best models"].unmeasured("Too few of the paper's sets are here.")
    r, low, high = correlation_interval([best[name] for name in known], list(known.values()))
    return CLAIMS["Best models"].found(
        "held" if low > 0 else "did not hold" if high < 0 else "not shown",
        f"Pearson of the printed best accuracy and that of {model} over {len(known)} sets is {decimal(r)}; the paper "
        "prints 0.92, and its tables give 0.97.",
        r,
        low,
        high,
        "correlation",
        _p_of_correlation(r, low, high, len(known), len(known)),
    )


def _p_of_correlation(r: float, low: float, high: float, n: int, n_families: int) -> float | None:
    """That there is none, by the distribution of `correlation_interval`: t where several pairs come from one set."""
    if math.isnan(low):
        return None
    if abs(r) == 1:
        return 0.0
    least, most = (math.atanh(each) if abs(each) < 1 else math.copysign(math.inf, each) for each in (low, high))
    return p_of(math.atanh(r), least, most, degrees=0 if n == n_families else n_families - 1)


def _confidence(documents: Mapping[str, Mapping[str, Any]]) -> Conclusion:
    """Whether the divergence of an example's cluster goes with the confidence that the pair's model has in it.

    Confidence is over the epochs of a training where these were recorded; only then is it training dynamics.
    """
    rows = [
        {**row, "name": name}
        for name, document in documents.items()
        for row in document["leakage"]["confidence"]
        if row["correlation"] is not None and row["low"] is not None
    ]
    recorded = [row for row in rows if row["n_checkpoints"] > 1]
    left_out = len(rows) - len(recorded) if recorded else 0
    rows = recorded or rows
    claim = CLAIMS["Unlike"]
    if recorded:
        least, most = (end(row["n_checkpoints"] for row in rows) for end in (min, max))
        what = f"confidence over the {least if least == most else f'{least} to {most}'} epochs of a training"
    else:
        statement = "Biased clusters hold examples of every confidence of the final models of the pair."
        claim = replace(claim, statement=statement)
        what = "confidence of final models, since no epochs were recorded: training dynamics were not measured,"
    if not rows:
        return claim.unmeasured("No model has both.")
    together = pool_claim(
        [(row["correlation"], row["low"], row["high"]) for row in rows],
        {"sets": [row["name"] for row in rows]},
        what="sets and texts",
        unit="correlation",
        scale="fisher",
        limits=(-_FAINT, _FAINT),
    )
    if together is None:
        return claim.unmeasured("No correlation has an interval.")
    standing: Standing = "not shown"
    if together.low > -_FAINT and together.high < _FAINT:
        standing = "held"
    elif together.low > _FAINT or together.high < -_FAINT:
        standing = "did not hold"
    first = max(rows, key=lambda row: abs(row["correlation"]))
    without = f" {left_out} without recorded epochs are left out." if left_out else ""
    return claim.found(
        standing,
        f"Correlations of {what} and divergence; the claim is that they lie nearer to 0 than {_FAINT}. "
        f"{together.sentence} Farthest the {first['role']} of {first['name']}: {decimal(first['correlation'])}."
        f"{without}",
        *together.figure,
        "correlation",
        # That it is on either limit, or on the one that it is beyond.
        max(together.p(-_FAINT), together.p(_FAINT))
        if abs(together.value) < _FAINT
        else together.p(math.copysign(_FAINT, together.value)),
    )
