"""What the paper concludes, and what became of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.numbers import count, points, signed_points
from goldassay.lab.papers.artifacts.protocol import (
    ADVERSARIAL,
    ADVERSARIAL_GUIDED,
    ALL,
    DEBIAS,
    DEBIASED,
    EASY,
    FULL,
    GAP,
    GUIDED,
    HARD,
    RANDOM,
    REWEIGHTED,
    Figure,
    Trained,
)
from goldassay.lab.papers.pooling import p_of
from goldassay.lab.papers.recipe import Conclusion
from goldassay.questions.inputs import majority_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.lab.papers.artifacts.evidence import Evidence
    from goldassay.lab.papers.artifacts.protocol import Accuracies
    from goldassay.lab.papers.recipe import Standing


# Where a model is wrong on each of a few examples, no draw of these is ever right, and an interval has no width.
_LEAST = 10


def conclude(found: Sequence[Evidence]) -> tuple[Conclusion, ...]:
    """What became of each conclusion, corpus by corpus."""
    return tuple(
        replace(conclusion, name=f"{each.corpus.name}: {conclusion.name}")
        for each in found
        for conclusion in (
            patterns_tell(each),
            hypotheses_tell(each),
            *of_models(each.corpus.name, each.accuracies),
            *(of_debiasing(each.corpus.name, each.accuracies) if each.corpus.variants else ()),
        )
    )


def standing(low: float, high: float, than: float = 0.0) -> Standing:
    """Of a claim that a figure is more than something, from the figure's interval."""
    return "held" if low > than else "did not hold" if high < than else "not shown"


def patterns_tell(each: Evidence) -> Conclusion:
    """How often the patterns' one verdict is right on the test set; by chance it would be as often as the majority."""
    statement = "Patterns of words in the hypothesis, whatever the premise, give the label away."
    place, assigned = f"Table 1, {each.corpus.name}", each.assigned
    easy, hard = assigned.summary["easy"], assigned.summary["hard"]
    n_kept = len(each.patterns.select(each.corpus.threshold))
    if not easy + hard:
        return _not_measured("Patterns", statement, place, "No test example holds a pattern above the threshold.")
    share, bounds = assigned.easy_share, assigned.easy_share_interval
    chance = majority_share(each.test)
    return Conclusion(
        "Patterns",
        statement,
        place,
        standing(bounds.low, bounds.high, chance),
        f"{count(n_kept)} patterns go with one label in more than {points(each.corpus.threshold, 0)} % of the training "
        f"sentences that hold them. Of {count(len(each.test))} test examples {points(assigned.coverage)} % hold one, "
        f"and where all that an example holds point to one label this is right as often as the figure says; the most "
        f"frequent label would be right in {points(chance)} %.",
        share,
        bounds.low,
        bounds.high,
        "share",
        p_of(share, bounds.low, bounds.high, chance),
    )


def hypotheses_tell(each: Evidence) -> Conclusion:
    """What the patterns' classifier has beyond the majority."""
    rows = {row["classifier"]: row for row in each.classifiers.table.to_dicts()}
    # Of the test labels: what is most frequent among few training rows may not be so there, and is beaten more easily.
    best, chance = rows["patterns"], majority_share(each.test)
    others = ", ".join(f"{name} {points(rows[name]['accuracy'])}" for name in ("n-grams", "unigrams"))
    low, high = best["low"] - chance, best["high"] - chance
    return Conclusion(
        "Hypothesis alone",
        "Classifiers that see of the hypothesis nothing but such patterns are far better than the majority class.",
        f"Table 2, {each.corpus.name}",
        standing(low, high),
        f"A network on patterns is right in {points(best['accuracy'])} % of {each.test.name}; {others}, its most "
        f"frequent label {points(chance)}.",
        best["accuracy"] - chance,
        low,
        high,
        "difference",
        p_of(best["accuracy"] - chance, low, high),
    )


def of_models(corpus: str, accuracies: Accuracies) -> list[Conclusion]:
    """Easy and hard, and training without patterns."""
    whole = [model for model in accuracies.correct if model.mode == ALL and "+" not in model.model]
    whole = [model for model in whole if model.model != ADVERSARIAL]
    pairs = [
        (model, model._replace(mode=RANDOM))
        for model in accuracies.correct
        if model.mode == DEBIAS and model._replace(mode=RANDOM) in accuracies
    ]
    gap = accuracies.sum({model: 1 / len(whole) for model in whole}, GAP) if whole else None
    gaps = {model.model: accuracies.of(model, GAP) for model in whole}
    table = {"SNLI": "Table 5", "MultiNLI": "Table 6"}.get(corpus, "")
    found = [
        _judged(
            "Easy and hard",
            "Models are far better on examples whose patterns point to the right label than where they mislead.",
            f"Table 4, {corpus}",
            gap,
            _too_few(accuracies, GAP),
            f"Easy minus hard, by model: {_listed(gaps)}. The figure is their mean.",
        )
    ]
    for name, statement, subset, sign in (
        ("Without patterns", "Training without patterns narrows the gap more than as many random rows do.", GAP, -1),
        ("Hard without patterns", "Training without patterns is better on hard examples than as many random rows.",
         HARD, 1),
        ("Price of removal", "Training without patterns costs accuracy on the whole test set.", FULL, -1),
    ):  # fmt: skip
        each = {f"{one.model} at {one.threshold}": accuracies.difference(one, other, subset) for one, other in pairs}
        found.append(
            _judged(
                name, statement, f"{table}, {corpus}",
                accuracies.mean_difference(pairs, subset) if pairs else None,
                _too_few(accuracies, subset),
                f"{_subject(subset)} without patterns minus random, by model and threshold: {_listed(each)}. The "
                "figure is their mean.",
                sign,
            )
        )  # fmt: skip
    return found if pairs else found[:1]


def of_debiasing(corpus: str, accuracies: Accuracies) -> list[Conclusion]:
    """Adversaries, guidance, and weights that follow the gap."""
    plain, against = Trained(DEBIASED), Trained(ADVERSARIAL)
    guided, reweighted = Trained(ADVERSARIAL_GUIDED), Trained(REWEIGHTED)
    return [
        _compared(
            corpus, accuracies, "Adversary", "Adversarial training on the hypothesis gains on hard examples, at a cost "
            "on all.", against, plain,
        ),
        _compared(
            corpus, accuracies, "Guided weights", "Weights guided by patterns gain on hard examples without an "
            "adversary.", Trained(GUIDED), plain,
        ),
        _compared(corpus, accuracies, "Guided adversary", "Guidance makes the adversary gain more.", guided, against),
        _compared(
            corpus, accuracies, "Reweighting", "Weights that follow the gap between easy and hard dev examples gain "
            "more still.", reweighted, guided,
        ),
    ]  # fmt: skip


def _compared(
    corpus: str, accuracies: Accuracies, name: str, statement: str, one: Trained, other: Trained
) -> Conclusion:
    """One way to train against another, by hard examples."""
    subsets = {"the gap": GAP, "all": FULL}
    rest = {key: accuracies.difference(one, other, subset) for key, subset in subsets.items()}
    return _judged(
        name,
        statement,
        f"Table 7, {corpus}",
        accuracies.difference(one, other, HARD),
        _too_few(accuracies, HARD),
        f"{one.model} minus {other.model} on hard examples is the figure; beside it {_listed(rest)}.",
    )


def _judged(
    name: str, statement: str, place: str, figure: Figure | None, too_few: str, evidence: str, sign: int = 1
) -> Conclusion:
    """A claim that a figure is above zero, or below where the sign is -1."""
    if figure is None or too_few:
        return _not_measured(name, statement, place, too_few or "There are no runs to say so.")
    low, high = (figure.low, figure.high) if sign > 0 else (-figure.high, -figure.low)
    return Conclusion(
        name, statement, place, standing(low, high), evidence, figure.value, figure.low, figure.high, "difference",
        p_of(figure.value, figure.low, figure.high),
    )  # fmt: skip


def _too_few(accuracies: Accuracies, subset: str) -> str:
    """Why a subset says nothing, or nothing where it has enough examples."""
    sizes = accuracies.sizes()
    if accuracies.fewest(subset) >= _LEAST:
        return ""
    return (
        f"Of the test examples {count(sizes[EASY])} are easy and {count(sizes[HARD])} hard; it takes {_LEAST} of each."
    )


def _not_measured(name: str, statement: str, place: str, why: str) -> Conclusion:
    return Conclusion(name, statement, place, "not measured", why)


def _listed(figures: Mapping[str, Figure | None]) -> str:
    """Values with their intervals, in points."""
    return "; ".join(
        f"{name} {signed_points(each.value, 1)} [{signed_points(each.low, 1)}, {signed_points(each.high, 1)}]"
        for name, each in figures.items()
        if each is not None
    )


def _subject(subset: str) -> str:
    return {GAP: "The gap", HARD: "Accuracy on hard examples", FULL: "Accuracy on all"}[subset]
