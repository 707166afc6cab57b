"""Whether every answer was scored, and what the rule for the others changes."""

from __future__ import annotations

from goldassay.core.document import AnswerFit
from goldassay.core.figures import Measure, Rule, declare_verdict, figure, left_out, result, role
from goldassay.core.results import Result, Word

declare_verdict("answered")


@result
class AnsweredRow(Result):
    """One run of one model on one dataset.

    Attributes:
        model: Its name.
        dataset: Name of the dataset.
        condition: What part of the input the model saw.
        run: Its seed or name.
        word: Its verdict.
        n_items: Items of the dataset, as far as a run has them.
        n_scored: Answers with a score, cut off or not.
        n_not_tried: Items that other attempts of the model were made at, and not this one.
        scored_truncated: Answers that are cut off and scored.
        unparsed: There is output, and no answer was read from it.
        empty: There is no output.
        truncated: The output was cut off, and has no score.
        error: The sample failed, or ran into a limit.
        unscored: There is no value of the metric.
        missing: Items that the run lacks.
        unrecorded: Statuses that its file does not record.
        unscored_share: Share of answers without a score: how far apart the first and the last of the next three are.
        wrong: Score where what is not scored counts as wrong, with its interval.
        wrong_low: Lower end.
        wrong_high: Upper end.
        scored_only: Mean of the scored answers; None where there is none.
        scored_only_low: Lower end.
        scored_only_high: Upper end.
        all_right: Score where what is not scored counts in full.
        all_right_low: Lower end.
        all_right_high: Upper end.
        reported: The mean score that the log itself gives.
        reported_rule: Which of the rules gives it.
        effect: How far the rule moves the score, see `effect_by`.
        effect_by: What the effect was taken from.
        harder: How much less other systems score on items without a score than on the rest.
        harder_low: Lower end.
        harder_high: Upper end.
    """

    model: str = role("model")
    dataset: str = role("dataset")
    condition: str = role("condition")
    run: str
    word: Word
    n_items: int
    n_scored: int
    n_not_tried: int
    scored_truncated: int
    unparsed: int
    empty: int
    truncated: int
    error: int
    unscored: int
    missing: int
    unrecorded: tuple[str, ...]
    unscored_share: float = figure(
        Measure(
            "answered.unscored", "answers without a score", "share", "lower", least=0, most=1,
            rule=Rule("max_unscored", "share of answers without a score", "at most"),
        ),
        "counted_share", "counted_share", n="n_items",
    )  # fmt: skip
    wrong: float = figure(
        Measure("answered.wrong", "score with what is not scored as wrong", "points", "higher", least=0, most=1),
        "wrong_low", "wrong_high", n="n_items",
    )  # fmt: skip
    wrong_low: float | None
    wrong_high: float | None
    scored_only: float | None = figure(
        Measure("answered.scored_only", "score of the scored answers alone", "points", "higher", least=0, most=1),
        "scored_only_low", "scored_only_high", n="n_scored", why="no answer has a score",
    )  # fmt: skip
    scored_only_low: float | None
    scored_only_high: float | None
    all_right: float = figure(
        Measure("answered.all_right", "score with what is not scored as right", "points", "higher", least=0, most=1),
        "all_right_low", "all_right_high", n="n_items",
    )  # fmt: skip
    all_right_low: float | None
    all_right_high: float | None
    reported: float | None
    reported_rule: str
    effect: float = figure(
        Measure("answered.effect", "how far the rule moves the score", "points", "lower", least=0, bounded=False),
        n="n_items",
    )
    effect_by: str
    harder: float | None
    harder_low: float | None
    harder_high: float | None

    @property
    def counted_share(self) -> float:
        """Both ends of the share of answers without a score, which is counted and not estimated."""
        return self.unscored_share


@result
class OrderPair(Result):
    """Two systems whose order, or whether one is significantly better, depends on the rule: A less B.

    Attributes:
        dataset: Both were scored on it.
        a: Name of the one.
        b: Name of the other.
        wrong: Difference with what is not scored as wrong.
        wrong_p: Two-sided.
        scored_only: Difference of the means of the scored answers.
        scored_only_p: Two-sided.
        both: Difference on the items that both answered.
        n_both: How many these are.
        both_ways: Whether it is significant one way by the first and the other way by the last, over all pairs at once.
    """

    dataset: str
    a: str
    b: str
    wrong: float
    wrong_p: float
    scored_only: float
    scored_only_p: float
    both: float | None
    n_both: int
    both_ways: bool


@result
class StatusPair(Result):
    """Two systems of which one leaves out more, over all pairs at once.

    Attributes:
        dataset: Both were asked it.
        a: Name of the one.
        b: Name of the other.
        a_share: Share of its answers without a score.
        b_share: That of the other.
        p: Two-sided, paired, of no difference; Holm's over the pairs of the dataset.
    """

    dataset: str
    a: str
    b: str
    a_share: float
    b_share: float
    p: float


@result
class Reading(Result):
    """One run's texts, read anew by several rules; see `goldassay.questions.answered.extraction`.

    Attributes:
        model: Its name.
        dataset: Name of the dataset.
        run: Its seed or name.
        form: What the right answers are: numbers, letters, labels, open texts or formulas.
        n_items: Items of the dataset.
        n_texts: Items with a text.
        harness: Score by the log.
        first: Score by the first candidate of a text; None, as for the others, where hardly a text has one.
        last: By the last one.
        anchored: By the one after "answer is" and the like.
        after_think: By the one after the reasoning.
        disagree: Share of the items with a text that are right by one of harness, last, anchored and after_think, and
            wrong by another.
    """

    model: str = role("model")
    dataset: str = role("dataset")
    run: str
    form: str
    n_items: int
    n_texts: int
    harness: float
    first: float | None
    last: float | None
    anchored: float | None
    after_think: float | None
    disagree: float = figure(
        Measure("answered.disagree", "items on which rules of extraction disagree", "share", "lower", bounded=False),
        n="n_texts",
    )


@result
class ReadingPair(Result):
    """Two systems whose order by the log is not that by another rule of extraction; A less B.

    Attributes:
        dataset: Both were scored on it.
        a: Name of the one.
        b: Name of the other.
        rule: The other rule.
        harness: Difference by the log.
        other: Difference by that rule.
        p: Two-sided, of no difference by that rule.
    """

    dataset: str
    a: str
    b: str
    rule: str
    harness: float
    other: float
    p: float


@result
class Degenerate(Result):
    """A system whose output cannot depend on what was asked; see `goldassay.questions.answered.degenerate`.

    Attributes:
        system: Its name.
        dataset: What it was asked.
        kind: one text, one choice, copy, same scores, or repeats the prompt.
        share: Share of the outputs that are so.
        n: Outputs that were looked at.
        other: Whose copy it is, or "".
        text: The one text or choice, or "".
        n_runs: Runs of the system, of which the first was looked at.
    """

    system: str
    dataset: str
    kind: str
    share: float
    n: int
    other: str
    text: str
    n_runs: int = 1


@result
class TrialRow(Result):
    """What k attempts at each item give, of one model.

    Attributes:
        model: Its name.
        dataset: Name of the dataset.
        k: Attempts.
        n_items: Items with at least k of them.
        pass_at: pass@k, the chance that one of k succeeds, with its interval over items.
        pass_at_low: Lower end.
        pass_at_high: Upper end.
        pass_all: pass^k, the chance that all k succeed.
        pass_all_low: Lower end.
        pass_all_high: Upper end.
    """

    model: str = role("model")
    dataset: str = role("dataset")
    k: int
    n_items: int
    pass_at: float
    pass_at_low: float | None
    pass_at_high: float | None
    pass_all: float
    pass_all_low: float | None
    pass_all_high: float | None


@result
class TrialSet(Result):
    """Several attempts of one model at the items of a dataset.

    Attributes:
        model: Its name.
        dataset: Name of the dataset.
        n_items: Items.
        n_trials: The most attempts at one.
        n_trials_least: The fewest.
        n_flip: Items with a success and a failure.
        icc: Intraclass correlation of attempts at one item; None where nothing varies.
        effective_trials: How many independent attempts those at one item are worth.
        error: Standard error of the mean score.
        error_trials: What it would be with twice the attempts at each item.
        error_items: With twice the items.
    """

    model: str = role("model")
    dataset: str = role("dataset")
    n_items: int
    n_trials: int
    n_trials_least: int
    n_flip: int
    icc: float | None
    effective_trials: float | None
    error: float | None
    error_trials: float | None
    error_items: float | None


@result
class AnsweredResult(Result):
    """Every run, and what the rule changes between systems.

    Attributes:
        runs: A run each.
        pairs: Pairs of systems that the rule orders otherwise.
        n_pairs: Pairs of systems of which one lacks a score.
        statuses: Pairs of systems of which one leaves out more.
        degenerate: Systems whose scores are no measure of ability.
        readings: Texts read anew, a run each.
        reading_pairs: Pairs of systems that another rule of extraction orders otherwise.
        trials: Attempts of each model at the same items, where there are several.
        passes: What k of them give, for each k.
        notes: What to know of it.
        items: How the answers fit the items of an audit; None where there are none.
    """

    runs: tuple[AnsweredRow, ...]
    pairs: tuple[OrderPair, ...]
    n_pairs: int
    statuses: tuple[StatusPair, ...]
    degenerate: tuple[Degenerate, ...]
    readings: tuple[Reading, ...]
    reading_pairs: tuple[ReadingPair, ...]
    trials: tuple[TrialSet, ...]
    passes: tuple[TrialRow, ...]
    notes: tuple[str, ...]
    items: AnswerFit | None = left_out(default=None)
