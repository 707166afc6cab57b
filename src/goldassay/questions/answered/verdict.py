"""From what is without a score, and what the rule for it changes, to a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.naming import listing
from goldassay.core.numbers import count, percent, points
from goldassay.core.results import Headline, Verdict, Word, not_measurable, severity
from goldassay.questions.answered.degenerate import describe_degenerate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.document import AnswerFit
    from goldassay.core.settings import AnsweredLimits
    from goldassay.questions.answered.result import AnsweredRow, Degenerate, OrderPair


def word_of(effect: float, share: float, limits: AnsweredLimits, *, flawed: bool, is_whole: bool) -> Word:
    """The word of one run.

    Args:
        effect: How far the rule moves its score.
        share: Of its answers without a score.
        limits: From which on it is called so.
        flawed: Whether another system is significantly better by one rule, and worse by another, or its output cannot
            depend on what was asked.
        is_whole: Whether it is an attempt at all items at which another attempt was made.
    """
    if share >= 1 or effect >= limits.unsound or flawed:
        return "unsound"
    return "caution" if share >= limits.caution or not is_whole else "sound"


def judge(
    runs: Sequence[AnsweredRow],
    pairs: Sequence[OrderPair],
    degenerate: Sequence[Degenerate],
    limits: AnsweredLimits,
) -> Verdict:
    """The verdict on all runs: that of the most severe, with how many are sound."""
    if not runs:
        return not_measurable("No runs were given.", "Give runs, with a score or a prediction for each item.")
    worst = max(runs, key=lambda row: (severity(row.word), row.effect, row.unscored_share))
    n_sound = sum(row.word == "sound" for row in runs)
    notes = [] if len(runs) == 1 else [f"{count(n_sound)} of {count(len(runs))} runs are sound."]
    both = next((pair for pair in pairs if pair.both_ways), None)
    share, lacks = worst.unscored_share, worst.n_items - worst.n_scored
    evidence = f"{worst.model} on {worst.dataset}: {count(lacks)} of {count(worst.n_items)} answers have no score"
    if share >= 1:
        evidence = f"{worst.model} on {worst.dataset}: none of {count(worst.n_items)} answers has a score"
    elif lacks and worst.scored_only is not None:
        wrong, only = points(worst.wrong, 2), points(worst.scored_only, 2)
        rules = f"It scores {wrong} with these as wrong and {only} without them"
        if points(worst.effect, 2) != points(0.0, 2):
            evidence += f", which moves the score by up to {points(worst.effect, 2)} points"
            rules += f"; the score moves most {worst.effect_by}"
        else:
            evidence += ", and the log counts these as wrong" if worst.reported is not None else ", with little effect"
        notes.insert(0, f"{rules}.")
    elif worst.n_not_tried:
        every = worst.n_items + worst.n_not_tried
        evidence = f"{worst.model} on {worst.dataset}: {_not_tried(worst, runs, every)}, and nothing says why"
        notes.insert(0, "The score of an item is the mean of its attempts.")
    elif not lacks:
        evidence = f"Every answer of {'all' if len(runs) > 1 else 'the'} run{'s' * (len(runs) > 1)} has a score"
    if both is not None:
        one, other = (both.a, both.b) if both.wrong > 0 else (both.b, both.a)
        notes.append(
            f"{one} is significantly ahead of {other} on {both.dataset} where what is missing is wrong, and behind on "
            f"the {count(both.n_both)} items that both answered."
        )
    evidence = f"{evidence}."
    if degenerate:
        more = [f"So are those of {count(len(degenerate) - 1)} more."] if len(degenerate) > 1 else []
        evidence, notes = describe_degenerate(degenerate[0]), [*more, evidence, *notes]
    uneven = worst.word == "caution" and worst.n_not_tried and not lacks
    next_step = {
        "sound": "Report the score.",
        "caution": "Give as many attempts at each item, or say why some have fewer."
        if uneven
        else "Report the score with what is not scored as wrong, and the number without a score.",
        "unsound": "Leave such systems out, or run them again."
        if degenerate
        else "Look at answers without a score before anything else: extract them anew, or run them again.",
    }.get(worst.word, "")
    rule = (
        f"Of each run: unsound if no answer has a score, if the rule moves the score by {points(limits.unsound)} "
        "points or more, if it turns a significant order of two systems, of the one that lacks more, or if the output "
        "is one text, one choice, the prompt or another system's; sound if fewer than "
        f"{percent(limits.caution, 1)} of the answers are without a score and all items have as many attempts; else "
        "caution."
    )
    headline = Headline("answers without a score", share, share, share, "share")
    # No way to score what is missing moves a score by more; of a degenerate system all of it may be no ability.
    at_most = 1.0 if degenerate else max(map(_largest_move, runs))
    return Verdict(worst.word, evidence, headline, next_step, rule, at_most, tuple(notes))


def _not_tried(worst: AnsweredRow, runs: Sequence[AnsweredRow], every: int) -> str:
    """How many items lack which attempts of the model."""
    lacked: dict[int, list[str]] = {}
    for row in runs:
        if (row.model, row.dataset, row.condition) == (worst.model, worst.dataset, worst.condition) and row.n_not_tried:
            lacked.setdefault(row.n_not_tried, []).append(row.run)
    said = [
        f"{count(n)} have no attempt {' or '.join(names) if len(names) < 3 else listing(names)}"
        for n, names in sorted(lacked.items(), reverse=True)
    ]
    return f"of {count(every)} items {listing(said, 3)}"


def describe_fit(fit: AnswerFit) -> str:
    """Sentences on how answers fit the items of an audit; "" where they answer these, by their keys."""
    said = []
    if fit.n_answered < fit.n_items:
        said.append(f"{count(fit.n_answered)} of {count(fit.n_items)} items have answers.")
    if fit.n_unknown:
        names = ", ".join(fit.unknown) + ("" if fit.n_unknown == len(fit.unknown) else ", ...")
        are = "name in the answers is" if fit.n_unknown == 1 else "names in the answers are"
        said.append(f"{count(fit.n_unknown)} {are} no item's, and left out ({names}).")
    if fit.n_other_keys:
        which = "the items' keys score them" if fit.is_rescored else "no answers are there to score anew"
        items = "1 item" if fit.n_other_keys == 1 else f"{count(fit.n_other_keys)} items"
        said.append(f"For {items} the answers state another key: {which}.")
    if fit.has_unread_keys:
        said.append("The answers' own keys score them: these name no choices of the items.")
    if fit.is_chance:
        said.append("No system is right more often than by guessing: check that the answers have the items' ids.")
    return " ".join(said)


def _largest_move(row: AnsweredRow) -> float:
    """How far any score of what is missing, attempts that were not made among it, can move the score of a run."""
    n = row.n_items + row.n_not_tried
    return max((row.n_items - row.n_scored + row.n_not_tried) / n, row.effect)
