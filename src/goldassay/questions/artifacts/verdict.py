"""From what patterns gain on a test set to a verdict, and the one sentence that supports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.numbers import percent, points, signed_points
from goldassay.core.verdicts import Headline, Verdict, judge_interval, not_measurable
from goldassay.questions.gain_rule import gain_rule

if TYPE_CHECKING:
    from goldassay.core.settings import ArtifactLimits


def judge_artifacts(
    *,
    value: float,
    low: float,
    high: float,
    coverage: float,
    precision: float,
    n_mined: int,
    min_count: int,
    n_selected: int,
    threshold: float,
    majority: float,
    n_test: int,
    is_part: bool,
    limits: ArtifactLimits,
) -> Verdict:
    """Judge how far surface patterns give the label away.

    Args:
        value: Accuracy gained on the test set by guessing the patterns' label over always naming the most frequent
            label, a fraction.
        low: Lower end of its interval.
        high: Upper end of its interval.
        coverage: Share of test examples that hold at least one pattern.
        precision: Share right among the examples on which the patterns speak with one voice.
        n_mined: Patterns frequent enough to be counted.
        min_count: In how many training examples a pattern had to occur.
        n_selected: Patterns kept.
        threshold: The share that a kept pattern's label exceeds.
        majority: Share of the most frequent label in the test set.
        n_test: Test examples.
        is_part: The text searched is a part of the input, so that it should not tell the label at all. Where it is
            the whole input a telling word may be the task itself, and the verdict is at most caution.
        limits: When to say caution or unsound.
    """
    if n_mined == 0:
        return not_measurable(
            f"No pattern occurs in as many as {min_count} training examples: the training part is too small to search.",
            "Audit with more training examples.",
        )
    scale = 1 - majority
    word = judge_interval(low, high, limits.caution * scale, limits.unsound * scale)
    if n_selected == 0:
        evidence = (
            f"No word pattern gives its label in more than {percent(threshold)} of its training examples beyond chance."
        )
    else:
        evidence = (
            f"{n_selected:,} pattern{'s occur' if n_selected > 1 else ' occurs'} in {percent(coverage)} of the "
            f"{n_test:,} test examples; where they name one label it is right in {percent(precision)}: "
            f"{signed_points(value, 1)} points of accuracy ({points(low)} to {points(high)}) over always naming the "
            f"most frequent label."
        )
    if not is_part and word == "unsound":
        word = "caution"
    if not is_part and n_selected:
        evidence += " In a single text a telling word can be the task itself: read the table before you judge."
    next_step = {
        "sound": "Nothing to mend here. Keep the report beside the dataset.",
        "caution": "Read the strongest patterns; report scores on the easy and the hard subset side by side.",
        "unsound": "Rewrite or drop the examples behind the strongest patterns, and report scores on the hard subset.",
        "not measurable": "Audit on a larger test set: this one cannot tell harmless from unsound.",
    }[word]
    rule = gain_rule(
        "the accuracy that guessing by pattern gains on the test set", limits.caution, limits.unsound, scale
    )
    rule += "" if is_part else " For a single text at most caution."
    headline = Headline("patterns alone, above majority", value, low, high, "points")
    return Verdict(word, evidence, headline, next_step, rule)
