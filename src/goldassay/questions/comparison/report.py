"""A comparison as a report: which model is better, the noise in it, and what would settle it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from goldassay.core.finding import Finding
from goldassay.questions.comparison.comparing import compare_sides
from goldassay.questions.comparison.rows import differing_rows
from goldassay.questions.comparison.sentences import differ, judge_comparison, over, say_comparison
from goldassay.questions.discount.question import discount_runs, discount_tables
from goldassay.questions.instability.inputs import describe_inputs, describe_reading
from goldassay.questions.instability.spread import measure_spread
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import beside_data
from goldassay.runs.configurations import asked_apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.questions.comparison.comparing import ModelComparison, ModelComparisons
    from goldassay.questions.comparison.sides import Sides
    from goldassay.questions.discount.reading import ShortcutBits
    from goldassay.questions.evidence import Evidence
    from goldassay.report.report import Report

__all__ = ["flat_equivalence", "flat_pair", "report_comparison"]


def report_comparison(
    evidence: Evidence,
    sides: Sides,
    notes: Sequence[str] = (),
    *,
    clusters: str | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    told: ShortcutBits | None = None,
    margin: float | None = None,
) -> tuple[Report, ModelComparisons]:
    """Compare models that have been read on one dataset, and write up what was found.

    Args:
        evidence: What the models were read from; holds the dataset that was predicted, if it was given.
        sides: The models.
        notes: What was left out when they were read, in sentences.
        clusters: Take examples together by this group of the runs or column of the dataset.
        matched: Runs of the same seed belong together.
        method: Of the intervals.
        told: By the readers of an audit's report, whose shortcut is discounted, too.
        margin: The largest difference that does not matter, in the unit of the scores.

    Raises:
        InputError: The examples, their right labels or the matched seeds differ, or there is no such group.
    """
    settings, steps, choice = evidence.settings, evidence.steps, evidence.choice
    gold = choice.gold_of(sides.models[0].dataset)
    texts = None if gold is None else evidence.gold_texts(gold)
    with steps.step("comparing the models"):
        compared = compare_sides(
            sides.models,
            names=sides.names,
            clusters=clusters,
            texts=texts,
            matched=matched,
            method=method,
            intersect=choice.align == "intersect",
            by_position=choice.align == "position",
            margin=margin,
            seed=settings.seed,
        )
    results = [
        {**measure_spread(runs), **describe_reading(runs, sides.found), "model": name, "name": name}
        for name, runs in zip(compared.names, compared.models, strict=True)
    ]
    discounted = None
    if told is not None:
        with steps.step("discounting"):
            named = list(zip(compared.names, compared.models, strict=True))
            discounted = discount_runs(told, named, settings.seed)
    alone = len(compared.pairs) == 1
    pairs = [
        flat_pair(pair, p, differ(pair) if alone else p <= compared.alpha)
        for pair, p in zip(compared.pairs, compared.adjusted_p, strict=True)
    ]
    said, asked = say_comparison(compared), asked_apart(runs.configuration for runs in compared.models)
    findings = {
        "questions": ["comparison", *(() if discounted is None else ("discount",))],
        "verdicts": {"comparison": judge_comparison(compared)},
        "inputs": describe_inputs(evidence.run_paths, sides.found, choice),
        "instability": {"source": "runs", "results": results},
        "comparison": {
            "dataset": compared.models[0].dataset,
            "n_examples": compared.models[0].n_examples,
            "over": over(compared.pairs[0]),
            "sentences": [*said[:1], *asked, *said[1:]],
            "notes": [
                *notes,
                *(each for each in compared.notes if each not in asked),
                *dict.fromkeys(said for pair in compared.pairs for said in pair.comparison.caveats),
            ],
            "pairs": pairs,
            "groups": [list(group) for group in compared.groups],
            "alpha": compared.alpha,
        },
        **({} if discounted is None else {"discount": discounted}),
        "settings": {
            "seed": settings.seed,
            "clusters": clusters,
            "matched": matched,
            "method": method,
            "equivalent_within": margin,
            "reading": choice.said(),
        },
    }
    title = (
        f"Comparison of {' and '.join(compared.names) if len(compared.names) == 2 else f'{len(compared.names)} models'}"
    )
    document = frame_findings(f"{title} on {compared.models[0].dataset}", findings, steps, settings)
    tables = {
        "models": pl.DataFrame(results, infer_schema_length=None),
        "comparisons": pl.DataFrame(pairs, infer_schema_length=None),
        **discount_tables(discounted),
    }
    rows = beside_data(differing_rows(compared), {} if texts is None else {compared.models[0].dataset: texts})
    return compose_report(
        document,
        tables,
        findings=[Finding("comparison", None, rows=rows), Finding("discount", None, result=discounted)],
    ), compared


def flat_pair(pair: ModelComparison, adjusted_p: float, differs: bool) -> dict[str, Any]:
    """A pair as one flat row."""
    row = pair.to_dict()
    equivalence = row.pop("equivalence", None)
    interval, chance = row.pop("interval"), row.pop("probability_interval")
    for key in ("caveats", "notes", "skipped"):
        row.pop(key)
    return {
        **row,
        "low": interval["low"],
        "high": interval["high"],
        "level": interval["level"],
        "interval_method": interval["method"],
        "probability_low": chance["low"],
        "probability_high": chance["high"],
        "adjusted_p": adjusted_p,
        "differ": differs,
        "told_apart": differs and pair.comparison.of_models,
        **({} if equivalence is None else flat_equivalence(equivalence)),
    }


def flat_equivalence(found: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a difference lies within a margin, as fields of its row."""
    return {
        "margin": found["margin"],
        "equivalence": found["word"],
        "equivalence_p": found["p_value"],
        "equivalence_low": found["interval"]["low"],
        "equivalence_high": found["interval"]["high"],
    }
