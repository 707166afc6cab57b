"""The figures on how much of the label can be read from a part of the input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, Pairing, Rule, declare, declare_verdict
from goldassay.questions.effect_tables import declare_effects, effect_figures
from goldassay.questions.policy_rules import MIN_RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

declare_verdict("leakage")
_EFFECTS = declare_effects("leakage")

# Policies and comparisons take the parts of the input; the other conditions say what a property is worth.
_PARTS = {"condition": "*_only"}
_BY_EXAMPLE = Pairing("right_{condition}", mean="leakage.accuracy", sd="leakage.sd", runs="leakage.seeds")

_IMPROVEMENT = declare(
    Measure(
        "leakage.improvement", "accuracy above majority", "points", "lower",
        rule=Rule("max_single_sentence_improvement", "accuracy of a single sentence above the majority", "at most"),
        only=_PARTS, pairing=_BY_EXAMPLE,
    )
)  # fmt: skip
_ACCURACY = declare(
    Measure("leakage.accuracy", "accuracy", "points", only={"condition": "paired"}, pairing=_BY_EXAMPLE)
)
_BALANCED = declare(
    Measure("leakage.balanced_accuracy", "mean recall over labels", "points", "lower", least=0, most=1, only=_PARTS)
)
_SD = declare(Measure("leakage.sd", "SD over runs", "points", "lower", least=0, compared=False))
_SEEDS = declare(Measure("leakage.seeds", "number of runs", "runs", bounded=False, compared=False))
# A part may be right more often than the whole, or less often than the majority.
_RECOVERED = declare(
    Measure("leakage.recovered", "share recovered", "share", "lower", -math.inf, math.inf, compared=False)
)
_RUNS = declare(
    Measure("leakage.runs", "number of runs", "runs", "higher", rule=MIN_RUNS, bounded=False, compared=False)
)
_INFORMATION = declare(Measure("leakage.information", "usable information", "bits", "lower", only=_PARTS))
_AGREEMENT = declare(Measure("leakage.agreement", "decided like the whole", "share", "lower", only=_PARTS))
_PECO = declare(Measure("leakage.peco", "outlier score of clusters", "number", "lower"))
# Whole clusters change sides: the interval of as many independent examples would be far too narrow.
_BIASED = declare(
    Measure(
        "leakage.biased_share", "examples in biased clusters", "share", "lower", bounded=False,
        rule=Rule("max_biased_share", "share of test examples in biased clusters", "at most"),
    )
)  # fmt: skip
_ALL_ROWS = declare(Measure("leakage.improvement_all_rows", "accuracy above majority, all rows", "points", "lower"))


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """What models of parts of the input get right, of one dataset or several, and of the rows to rewrite."""
    found = document.get("leakage") or {}
    made = [
        *effect_figures(found, _EFFECTS),
        *_of_conditions(found, _size(document)),
        *_of_measures(found),
        *_of_datasets(found.get("datasets") or ()),
        *(
            figure
            for name, effects in (found.get("effects_by_dataset") or {}).items()
            for figure in effect_figures({"effects": effects}, _EFFECTS, dataset=name)
        ),
    ]
    if before := (found.get("suggestion") or {}).get("before"):
        made.append(_bounded(_ALL_ROWS, before, "improvement", n=_size(document)))
    return made


def _of_conditions(found: Mapping[str, Any], n: int | None) -> list[Figure]:
    rows = found.get("conditions") or ()
    made = [_bounded(_IMPROVEMENT, row, "improvement", n=n, condition=row["condition"]) for row in rows]
    made += [_accuracy(row, row["condition"], n) for row in rows]
    for measure, key in ((_RECOVERED, "recovered"), (_SD, "sd"), (_BALANCED, "balanced_accuracy")):
        made += [_bounded(measure, row, key, n=n, condition=row["condition"]) for row in rows if key in row]
    made += [_SEEDS.figure(row["n_runs"], condition=row["condition"]) for row in rows]
    # An audit's own probes are no runs of a model.
    if found.get("source") in ("runs", "training"):
        model = found.get("model")
        made += [_RUNS.figure(row["n_runs"], model=model, condition=row["condition"]) for row in rows]
    return made


def _of_measures(found: Mapping[str, Any]) -> list[Figure]:
    made: list[Figure] = []
    unknown = (found.get("undefined") or {}).get("decision agreement itself")
    for measure, key in ((_INFORMATION, "information"), (_AGREEMENT, "agreement")):
        rows = found.get(key) or ()
        made += [
            _bounded(measure, {"reason": unknown, **row}, key, n=row.get("n_examples"), condition=row["condition"])
            for row in rows
        ]
    clusters = found.get("peco") or ()
    made += [_bounded(_PECO, row, "score", role=row["role"]) for row in clusters]
    made += [_bounded(_BIASED, row, "biased_share", role=row["role"]) for row in clusters]
    return made


def _of_datasets(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Of each part of each dataset; the accuracy of the whole input once a dataset."""
    made = []
    names = [{"dataset": row["dataset"], "condition": f"{row['part']}_only"} for row in rows]
    measures = (
        (_IMPROVEMENT, "improvement"), (_RECOVERED, "recovered"), (_INFORMATION, "information"),
        (_AGREEMENT, "agreement"),
    )  # fmt: skip
    for measure, key in measures:
        made += [
            _bounded(measure, row, key, n=row.get("n_examples"), **of)
            for row, of in zip(rows, names, strict=True)
            # What was not measured is left out; that an improvement is undefined has to break a rule.
            if row.get(key) is not None or measure is _IMPROVEMENT
        ]
    for row, of in zip(rows, names, strict=True):
        if "accuracy" in row:
            made.append(_accuracy(row, of["condition"], n=row.get("n_examples"), dataset=of["dataset"]))
    for row in {row["dataset"]: row for row in rows if row.get("paired") is not None}.values():
        whole = {"accuracy": row["paired"], "accuracy_low": row["paired_low"], "accuracy_high": row["paired_high"]}
        made.append(_accuracy(whole, "paired", n=row.get("n_examples"), dataset=row["dataset"]))
    for row, of in zip(rows, names, strict=True):
        if row.get("peco") is not None:
            made.append(_bounded(_PECO, row, "peco", dataset=of["dataset"], role=row["part"]))
    return made


def _accuracy(row: Mapping[str, Any], condition: str, n: int | None, **of: str) -> Figure:
    label = "accuracy of the whole input" if condition == "paired" else None
    return _bounded(_ACCURACY, row, "accuracy", n=n, label=label, **of, condition=condition)


def _bounded(measure: Measure, row: Mapping[str, Any], key: str, **more: Any) -> Figure:
    """A figure with the bounds that lie next to it, under its key with "_low" and "_high"."""
    return measure.figure(row[key], row.get(f"{key}_low"), row.get(f"{key}_high"), reason=row.get("reason"), **more)


def _size(document: Mapping[str, Any]) -> int | None:
    """Test examples, where one of the report's parts says how many."""
    parts = (("leakage", "n_examples"), ("facts", "n_test"), ("dataset", "n_test"))
    sizes = ((document.get(part) or {}).get(key) for part, key in parts)
    return next((n for n in sizes if isinstance(n, int)), None)
