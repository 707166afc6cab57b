"""From the spread of scores over configurations to a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from goldassay.core.verdicts import (
    Headline,
    Verdict,
    not_measurable,
    severity,
)
from goldassay.questions.instability.measures.scores import ALIKE
from goldassay.questions.sensitivity.measures import LEAST_CONFIGURATIONS
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.verdicts import judge_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.settings import SensitivityLimits
    from goldassay.core.verdicts import Word
    from goldassay.questions.sensitivity.measures import ConfigurationSpread

# Names of models that were asked in one way; the others are in report.json.
_MOST_NAMES = 8

# When `distinct_runs` takes one configuration for a copy of another.
_COPY = (
    f"one counts as another only where it scores differently on more than {100 * ALIKE:g} % of the examples that "
    "both get wrong, or right if these are fewer"
)

Claim = Literal["exceeds", "does not exceed", "undecided"]


@dataclass(frozen=True)
class Judged:
    """One set of configurations with its word.

    Attributes:
        name: What it is of.
        spread: Its figures.
        knows: Whether the model surely knows something: one that knows nothing is steady, too.
        effective_clusters: How many independent examples the clusters are worth.
    """

    name: str
    spread: ConfigurationSpread
    knows: bool
    effective_clusters: float

    def word(self, limits: SensitivityLimits) -> Word:
        """What its interval says."""
        found = self.spread.sd_interval
        word = judge_interval(found.low, found.high, limits.caution_sd, limits.unsound_sd)
        return word if word != "sound" or self.trusted else "unresolved"

    @property
    def trusted(self) -> bool:
        """Whether a small spread shows that configurations move the score little."""
        return (
            self.knows
            and self.spread.n_distinct >= LEAST_CONFIGURATIONS
            # Means of few examples are equal by chance alone, and equal means have no spread.
            and self.effective_clusters >= LEAST_CLUSTERS
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes a small spread show little or nothing, a sentence each."""
        n, found = len(self.spread.means), []
        if n < LEAST_CONFIGURATIONS:
            found.append(f"That a score holds in other configurations takes at least {LEAST_CONFIGURATIONS} to show.")
        if not self.knows:
            found.append("Nothing shows that the model knows anything.")
        if self.spread.n_distinct < n:
            count = "one" if self.spread.n_distinct == 1 else f"{self.spread.n_distinct}"
            found.append(f"The {n} configurations differ so little, if at all, that they count as {count}: {_COPY}.")
        if self.effective_clusters < LEAST_CLUSTERS:
            found.append(
                f"The examples form {self.effective_clusters:.1f} effective clusters, and {LEAST_CLUSTERS} are needed."
            )
        return tuple(found)


def judge(
    sets: Sequence[Judged], limits: SensitivityLimits, *, alone: Sequence[str] = (), unfit: Sequence[str] = ()
) -> Verdict:
    """The verdict on several sets of configurations: that of the most severe.

    Args:
        sets: Of the whole input; models of a part of it are listed and never decide.
        limits: From which SD on a score is called so.
        alone: Models that were asked in one configuration: nothing is known of these, and nothing is sound.
        unfit: Why configurations of a model do not fit together, a sentence each; likewise.
    """
    if not sets:
        return not_measurable(
            " ".join(unfit) or "No runs of the whole input were given in several configurations.",
            f"Give runs of the whole input in at least {LEAST_CONFIGURATIONS} configurations, on the same examples.",
        )
    verdict = _judge(sets, limits)
    if alone or unfit:
        # Nothing bounds the spread of a model that was asked in one way.
        verdict = replace(verdict, at_most=None)
    if verdict.verdict != "sound":
        return verdict
    n = max(len(each.spread.means) for each in sets)
    if not (alone or unfit):
        return replace(verdict, notes=(*verdict.notes, f"This holds for these {n} configurations."))
    lone = [f"Only one configuration was given of {_listed(alone)}."] if alone else []
    return replace(
        verdict,
        verdict="unresolved",
        notes=(*verdict.notes, *unfit, *lone),
        next_step=f"Ask all models in at least {LEAST_CONFIGURATIONS} ways on the same examples, or leave others out.",
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _judge(sets: Sequence[Judged], limits: SensitivityLimits) -> Verdict:
    worst = max(sets, key=lambda each: (severity(each.word(limits)), each.spread.sd, each.spread.range))
    word = worst.word(limits)
    found = worst.spread
    n = len(found.means)
    low, high = found.sd_interval.low, found.sd_interval.high
    evidence = (
        f"Another configuration moves the score{f' of {worst.name}' if len(sets) > 1 else ''} by "
        f"{100 * found.sd:.2f} points (SD; {100 * low:.2f} to {100 * high:.2f})."
    )
    notes = [
        f"The scores of {n} configurations span {100 * found.range:.1f} points ({100 * found.range_interval.low:.1f} "
        f"to {100 * found.range_interval.high:.1f} over examples)."
    ]
    if not found.separable:
        notes.append("No configuration was repeated, so the SD includes the noise of single runs.")
    if word == "unresolved":
        notes += worst.doubts
    next_step = {
        "unsound": "Report the score over many configurations, and compare models in the same ones.",
        "caution": "Report the configuration with the score, and no difference smaller than this spread.",
        "sound": "Report the score with its configuration as here.",
        "unresolved": _settle(worst),
    }[word]
    headline = Headline("SD of the score over configurations", found.sd, low, high, "points")
    at_most = max(each.spread.sd_interval.high for each in sets) if not any(each.doubts for each in sets) else None
    return Verdict(word, evidence, headline, next_step, _rule(limits), at_most, tuple(notes))


def _rule(limits: SensitivityLimits) -> str:
    caution, unsound = (f"{100 * limit:g}" for limit in (limits.caution_sd, limits.unsound_sd))
    return (
        "By the SD over configurations of the most sensitive model, without the noise of repeats: unsound if the lower "
        f"end of its interval is at least {unsound} points, caution if at least {caution}, sound if the upper end is "
        f"below {unsound} in at least {LEAST_CONFIGURATIONS} configurations that differ in their answers, of a model "
        f"that surely knows something, on at least {LEAST_CLUSTERS} effective clusters of examples, and each model was "
        "asked in several; else unresolved."
    )


def _settle(worst: Judged) -> str:
    """What would settle it."""
    lacking = LEAST_CONFIGURATIONS - len(worst.spread.means)
    if lacking > 0:
        return f"Ask in {lacking} more way{'s' if lacking > 1 else ''} at least, each several times."
    if worst.spread.n_distinct < LEAST_CONFIGURATIONS:
        return "Check that the configurations changed what the model was asked."
    if worst.effective_clusters < LEAST_CLUSTERS:
        return "Ask of more examples, of more sources."
    if not worst.knows:
        return "Check that the right labels belong to these answers."
    if not worst.spread.separable:
        return "Repeat each configuration, with another seed or epoch."
    return "Ask in more ways, each several times: the number of configurations narrows the interval most."


def judge_claim(claim: float, of: Judged) -> tuple[Claim, str]:
    """Whether a claimed difference exceeds what two ways of asking do to one model: 1.96 sqrt(2) SD.

    It may exceed a spread only where the spread was measured on what a sound verdict needs: copies of one
    configuration have no spread, which shows nothing of others.

    Args:
        claim: In fractions.
        of: The model's configurations.

    Returns:
        The word, and where it is "undecided" why.
    """
    found = of.spread
    if len(found.means) < LEAST_CONFIGURATIONS and claim <= found.range_interval.low:
        return "does not exceed", ""
    reach = 1.96 * 2**0.5
    if claim < reach * found.sd_interval.low:
        return "does not exceed", ""
    if not of.trusted:
        return "undecided", " ".join(of.doubts)
    if claim > reach * found.sd_interval.high:
        return "exceeds", ""
    ends = (f"{100 * reach * end:.2f}" for end in (found.sd_interval.low, found.sd_interval.high))
    return "undecided", f"Another configuration may move the score by {' to '.join(ends)} points."
