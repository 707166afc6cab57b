"""What was measured, said in plain sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import points, signed_points
from goldassay.questions.instability.measures.power import seeds_needed, smallest_difference
from goldassay.questions.instability.verdict import flips_together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A difference of one point is what papers commonly report as progress.
DIFFERENCE = 0.01
# A group is named if it accounts for at least this share of the variance.
DOMINANT = 0.2


def say(
    result: Mapping[str, Any],
    groups: Sequence[Mapping[str, Any]],
    examples: Mapping[str, Any] | None,
    name: str,
    *,
    judged: bool = False,
) -> list[str]:
    """Sentences on one set of runs.

    Args:
        result: Its row of results.
        groups: Its groupings.
        examples: Its entry of examples.
        name: What to call it: the dataset, with the model where there are several.
        judged: The evidence of the verdict is about this set: what it says already is not said again.
    """
    unanswered = _unanswered(result, name)
    if result["n_runs"] < 2:
        return [f"{name}: {_one_run(result)}, so nothing can be said of its spread.", *unanswered]
    sentences = [_size(result, groups, name, judged=judged)]
    if examples is not None:
        sentences.append(_stability(examples, name, graded=bool(result.get("graded"))))
    sentences += [_seeds(result, name), *unanswered]
    return [sentence for sentence in sentences if sentence]


def _unanswered(result: Mapping[str, Any], name: str) -> list[str]:
    """What leaving questions unanswered by their no-answer probability would have given at best."""
    if "best_f1" not in result:
        return []
    at = f" (above {result['best_f1_threshold']:.4g})" if "best_f1_threshold" in result else ""
    return [
        f"{name}: F1 is {points(result['best_f1'], 2)} points where questions are left unanswered from the best "
        f"no-answer probability on{at}, and exact match {points(result['best_exact'], 2)}; both were chosen on these "
        "questions, and are upper bounds."
    ]


def _one_run(result: Mapping[str, Any]) -> str:
    if "mean_low" not in result:
        return "one run"
    clusters, n = result["n_clusters"], result["n_examples"]
    of = f"{n:,} examples" if clusters == n else f"{n:,} examples in {clusters:,} clusters"
    return (
        f"one run scores {points(result['mean'], 2)} points on {of}, and {points(result['mean_low'], 2)} to "
        f"{points(result['mean_high'], 2)} on others of the kind"
    )


def _size(result: Mapping[str, Any], groups: Sequence[Mapping[str, Any]], name: str, *, judged: bool) -> str:
    effective = result["effective_size"]
    n = result["n_examples"]
    if math.isnan(effective):
        return f"All runs score every one of the {n:,} {name} examples alike."
    if math.isinf(effective):
        return f"Single {name} examples change from run to run, and their changes cancel out exactly."
    together = flips_together(result["design_effect_low"], result["design_effect_high"])
    if together:
        size = max(1, round(effective))
        ones = "one" if size == 1 else "ones"
        sentence = f"{n:,} {name} examples carry as much information as {size:,} independent {ones}"
    elif together is None:
        sentence = f"{result['n_runs']} runs leave open whether the {n:,} {name} examples flip together"
    else:
        sentence = f"The {n:,} {name} examples vary about as much as so many independent ones would"
    causes = [cause for grouping in groups if (cause := _cause(grouping, result["total"]))]
    if judged:
        return f"On {name} {'; '.join(causes)}." if causes else ""
    return "; ".join([sentence, *causes]) + "."


def _cause(grouping: Mapping[str, Any], total: float) -> str:
    share = grouping["between"] / total if total > 0 else math.nan
    several = plural(grouping["column"])
    if math.isnan(share):
        return ""
    if share < 0:
        return f"the {several} offset each other in part"
    return f"{100 * share:.0f} % of the variance is between {several}{_largest(grouping)}"


def _largest(grouping: Mapping[str, Any]) -> str:
    """The group that accounts for much more of the variance than its size lets expect."""
    rows = grouping["rows"]
    top = max(rows, key=lambda row: row["share_of_variance"])
    expected = top["n_examples"] / sum(row["n_examples"] for row in rows)
    if len(rows) < 3 or top["share_of_variance"] < max(DOMINANT, 3 * expected):
        return ""
    return f", and {100 * top['share_of_variance']:.0f} % comes from {top['group']} alone"


def say_selection(row: Mapping[str, Any], reference: str, name: str) -> str:
    """What choosing the checkpoint on the analysis set itself would have changed."""
    if row.get("reason"):
        return ""
    return (
        f"Choosing the checkpoint on four fifths of {name} instead of on {reference} moves the mean score on the rest "
        f"by {signed_points(row['gain'], 1)} points ({signed_points(row['gain_low'], 1)} to "
        f"{signed_points(row['gain_high'], 1)}), to "
        f"{points(row['analysis_mean'])}."
    )


def _stability(examples: Mapping[str, Any], name: str, *, graded: bool) -> str:
    n = examples["n_examples"]
    varying = n - examples["n_constant"]
    right, wrong = ("have the full score", "have none") if graded else ("are right", "wrong")
    return (
        f"Of the {name} examples {examples['n_always_right']:,} {right} in all {examples['n_runs']} runs, "
        f"{examples['n_always_wrong']:,} {wrong} in all; {varying:,} ({100 * varying / n:.1f} %) depend on the run."
    )


def _seeds(result: Mapping[str, Any], name: str) -> str:
    if result["sd"] == 0:
        return ""
    runs = result["n_runs"]
    least = float(f"{100 * smallest_difference(result['sd'], runs):.2g}")
    sentence = (
        f"With {runs} runs of each of two such models, a true difference of {least:g} points on these {name} "
        "examples is found four times out of five"
    )
    needed = seeds_needed(result["sd"], DIFFERENCE)
    if needed <= runs:
        return f"{sentence}."
    low, high = (seeds_needed(result[end], DIFFERENCE) for end in ("sd_low", "sd_high"))
    return f"{sentence}; one of 1 point takes {needed:,} runs of each ({low:,} to {high:,}, for the SD is uncertain)."


def plural(column: str) -> str:
    """A group column's name in the plural, where it is a plain word."""
    word = column.replace("_", " ")
    if not word.replace(" ", "").isalpha():
        return f"groups by {column}"
    if word.endswith("s"):
        return word if not word.endswith("ss") else f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
