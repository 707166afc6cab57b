"""What is measured of leakage: of one dataset, of the rows or items to rewrite, and of several datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf, isnan
from typing import Any

from goldassay.core.figures import (
    MIN_RUNS,
    Figure,
    Measure,
    Pairing,
    Rule,
    declare,
    declare_verdict,
    figure,
    figures_by,
    left_out,
    result,
    role,
)
from goldassay.core.numbers import number
from goldassay.core.results import Headline, Result
from goldassay.questions.effect_sentences import figures_of_effects, figures_of_headline
from goldassay.questions.leakage.cluster_result import (
    PECO,
    Cluster,
    ClusterConfidence,
    ClusterScores,
    DivergenceScore,
    GridScore,
    SentenceMap,
)
from goldassay.questions.leakage.measures.agreement import AgreementBounds, AgreementOverRuns
from goldassay.questions.leakage.measures.single_sentence import PAIRED, ConditionAccuracy
from goldassay.readers.rule_effects import KeyPositions, LikeLength, RuleEffect, SubsetEffect
from goldassay.stats.effects import Effects
from goldassay.stats.subsets import SubsetAccuracy

# Before the name of a reader that is a rule without training.
RULE = "rule: "
# Rules that name a place, of choices and of preferences.
OF_PLACES = tuple(f"{RULE}{name}" for name in ("position ", "first", "second"))

declare_verdict("leakage")

# Policies and comparisons take the parts of the input; the other conditions show what one property is worth.
_PARTS = {"condition": "*_only"}
_BY_EXAMPLE = Pairing("right_{condition}", mean="leakage.accuracy", sd="leakage.sd", runs="leakage.seeds")

_OF_EFFECTS = figures_of_effects("leakage")
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
_RECOVERED = declare(Measure("leakage.recovered", "share recovered", "share", "lower", -inf, inf, compared=False))
_RUNS = declare(
    Measure("leakage.runs", "number of runs", "runs", "higher", rule=MIN_RUNS, bounded=False, compared=False)
)
_INFORMATION = declare(Measure("leakage.information", "usable information", "bits", "lower", only=_PARTS))
_AGREEMENT = declare(Measure("leakage.agreement", "decided like the whole", "share", "lower", only=_PARTS))
_ALL_ROWS = declare(Measure("leakage.improvement_all_rows", "accuracy above majority, all rows", "points", "lower"))
_TO_MOVE = declare(
    Measure(
        "leakage.keys_to_move", "right choices that lean to some places", "share", "lower", least=0, most=1,
        bounded=False, compared=False,
    )
)  # fmt: skip
_WHOLE = "accuracy of the whole input"
ONLY_RIGHT = "only right and wrong are known, not what was chosen: it has bounds"


class LeakageResult(Result):
    """What one command says of leakage: one of the classes below."""


@result
class Condition(ConditionAccuracy, Result):
    """What models of one condition reach; see `ConditionAccuracy`.

    Attributes:
        balanced_accuracy: Mean recall over labels; with its interval.
        balanced_accuracy_low: Lower end.
        balanced_accuracy_high: Upper end.
    """

    condition: str = role("condition")
    n_runs: int = figure(_SEEDS)
    accuracy: float = figure(_ACCURACY, "accuracy_low", "accuracy_high", n="n_examples", label="accuracy_is")
    sd: float = figure(_SD, n="n_examples", why="it takes two runs")
    improvement: float = figure(_IMPROVEMENT, "improvement_low", "improvement_high", n="n_examples", reason="lacks")
    recovered: float = figure(_RECOVERED, "recovered_low", "recovered_high", n="n_examples", reason="reason")
    balanced_accuracy: float = figure(_BALANCED, "balanced_accuracy_low", "balanced_accuracy_high", n="n_examples")
    balanced_accuracy_low: float
    balanced_accuracy_high: float

    @property
    def accuracy_is(self) -> str | None:
        """Words for the accuracy of the whole input."""
        return _WHOLE if self.condition == PAIRED else None

    @property
    def lacks(self) -> str:
        """Why there is no improvement; "" where there is one, although it may not be recovered from the whole."""
        return self.reason if isnan(self.improvement) else ""


@result
class Difficulty(SubsetAccuracy, Result):
    """Accuracy of one condition on easy, hard or all examples; see `SubsetAccuracy`."""

    condition: str


@result
class Information(Result):
    """Bits of the label that a condition gives; see `UsableInformation`."""

    condition: str = role("condition")
    n_runs: int
    information: float = figure(_INFORMATION, "information_low", "information_high", n="n_examples")
    information_low: float
    information_high: float
    h_yb: float
    h_yx: float
    share_negative: float
    information_right: float
    information_wrong: float
    n_examples: int
    n_clipped: int
    null: str
    level: float
    seed: int


@result
class Agreement(AgreementOverRuns):
    """Whether models of one condition decide as those of the whole do; see `AgreementOverRuns`."""

    condition: str = role("condition")
    agreement: float = figure(_AGREEMENT, "agreement_low", "agreement_high", n="n_examples")


@result
class BoundedAgreement(AgreementBounds):
    """The same where only right and wrong are known; see `AgreementBounds`.

    Attributes:
        condition: Of the part.
        agreement: Unknown, as the next two.
        recovery: What is right where both decide alike.
        kappa: Agreement beyond chance.
    """

    condition: str = role("condition")
    agreement: None = figure(_AGREEMENT, n="n_examples", why=ONLY_RIGHT)
    recovery: None
    kappa: None


@result
class Relevance(Result):
    """Token relevance agreement of a condition with the whole, means over seeds.

    Attributes:
        condition: Of the part.
        n_runs: Pairs of runs.
        agreement_recommended: In the recommended convention.
        sd_recommended: Over runs.
        agreement_paper: In the paper's convention.
        sd_paper: Over runs.
        low: Lower end of its interval over the examples that all pairs use, in the recommended convention.
        high: Upper end.
        shared_share: Relevance of the whole that lies on the shared text.
        n_used: Examples of the first pair.
        skipped: Why examples were left out, and how many.
    """

    condition: str
    n_runs: int
    agreement_recommended: float
    sd_recommended: float
    agreement_paper: float
    sd_paper: float
    low: float
    high: float
    shared_share: float
    n_used: int
    skipped: Mapping[str, int]


@result
class Split(Result):
    """What quick probes score on one more split of the same data.

    Attributes:
        split: Its seed.
        n_train: Training rows.
        n_test: Test rows.
        accuracies: Of each condition.
        majority: Accuracy of the most frequent test label.
        peco: Outlier score of each text.
    """

    split: int
    n_train: int
    n_test: int
    accuracies: Mapping[str, float]
    majority: float
    peco: Mapping[str, float]


@result
class SubjectRule(Result):
    """What a rule without training hits in one subject; see `rules_by_subject`."""

    subject: str
    rule: str
    n_items: int
    hits: float
    chance: float
    effect: float
    z: float
    p: float
    q: float


@result
class Positions(KeyPositions):
    """Whether right choices stand at all places as often; see `KeyPositions`."""

    to_move: float = figure(_TO_MOVE, n="n_items")


def _figures_of_all(effects: Effects | None) -> Iterator[Figure]:
    yield from () if effects is None else _OF_EFFECTS(effects)


@result
class MeasuredLeakage(LeakageResult):
    """What models of a part of the input get right on one dataset.

    Attributes:
        source: Whose predictions: "probes", "training" or "runs".
        model: What was trained.
        dataset: What was predicted.
        probe: What was trained and how, in a sentence.
        vectors: What the clustered embeddings are, in a clause.
        seeds: Of the runs of a condition.
        remarks: What is not as one would expect, in sentences.
        n_examples: N.
        train_majority_accuracy: Of always naming the most frequent training label.
        interval_method: How intervals of the conditions were made.
        conditions: What each reaches.
        difficulty: On easy and hard examples.
        caveats: What to bear in mind, in sentences.
        note: What does not apply to this dataset, or "".
        information: In bits, by condition.
        agreement: With the whole, by condition.
        relevance: Of tokens, by condition.
        peco: Scores of clusters, by text.
        divergences: The same clusters by every divergence and convention.
        clusters: Those that lean most.
        confidence: In them, by text.
        grid: Scores over settings.
        map: Of the sentences.
        splits: Where the test part was split off: what further splits score.
        effects: What each reader gains; None where no part was read.
        headline: The gain that decides, with its baseline.
        rules: Of items with choices: what rules without training pick.
        positions: Whether right choices stand at all places as often, where places mean something.
        n_subjects: Of items with subjects: how many there are.
        n_subjects_found: In how many a rule hits beyond chance.
        subjects: Rules that hit beyond chance in some subject.
        kind: Of items.
        preference_like_length: Of preferences: what is right among pairs of like length.
        preference_subsets: What readers gain on each subset.
        undefined: What was not measured, and why.
    """

    source: str
    model: str
    dataset: str
    probe: str
    vectors: str
    seeds: tuple[str, ...]
    remarks: tuple[str, ...]
    n_examples: int
    train_majority_accuracy: float
    interval_method: str
    conditions: tuple[Condition, ...]
    difficulty: tuple[Difficulty, ...]
    caveats: tuple[str, ...]
    note: str
    information: tuple[Information, ...]
    agreement: tuple[Agreement | BoundedAgreement, ...]
    relevance: tuple[Relevance, ...]
    peco: tuple[ClusterScores, ...]
    divergences: tuple[DivergenceScore, ...]
    clusters: tuple[Cluster, ...]
    confidence: tuple[ClusterConfidence, ...]
    grid: tuple[GridScore, ...]
    map: SentenceMap | None
    splits: tuple[Split, ...]
    effects: Effects | None = figures_by(_figures_of_all)
    rules: tuple[RuleEffect, ...]
    undefined: Mapping[str, str]
    headline: Headline | None = figures_by(figures_of_headline("leakage"), default=None)
    positions: Positions | None = left_out(default=None)
    n_subjects: int | None = left_out(default=None)
    n_subjects_found: int | None = left_out(default=None)
    subjects: tuple[SubjectRule, ...] | None = left_out(default=None)
    kind: str | None = left_out(default=None)
    preference_like_length: tuple[LikeLength, ...] | None = left_out(default=None)
    preference_subsets: tuple[SubsetEffect, ...] | None = left_out(default=None)

    def more_figures(self) -> Iterator[Figure]:
        """The number of runs of a model; an audit's own probes are no runs of a model."""
        for each in self.conditions if self.source in ("runs", "training") else ():
            yield _RUNS.figure(each.n_runs, model=self.model, condition=each.condition)


@result
class Dropped(Result):
    """Rows or items that were dropped: "suggested" or "random" ones, their share, and how many are left."""

    rows: str
    share: float
    n_dropped: int
    n_left: int


@result
class Refit(Result):
    """What a quick probe of the part gains among rows, fitted anew.

    Attributes:
        majority: Share of the most frequent label; of items what guessing gives.
        accuracy: Out of fold.
        improvement: Accuracy above that; with its interval over refits.
        improvement_low: Lower end.
        improvement_high: Upper end.
    """

    majority: float
    accuracy: float
    improvement: float
    improvement_low: float
    improvement_high: float


@result
class RowRefit(Refit):
    """The same of labelled rows, and on the test set where there is one."""

    test_accuracy: float | None = left_out(default=None)
    test_improvement: float | None = left_out(default=None)


@result
class ItemRefit(Refit):
    """The same of items, and the rule without training that gains most of what guessing leaves to be gained."""

    rule: str
    rule_effect: float


@result
class RowFall(RowRefit, Dropped):
    """What is left of leakage without some rows."""


@result
class ItemFall(ItemRefit, Dropped):
    """What is left of leakage without some items."""


@result
class ChangedItems(ItemRefit):
    """What is left of leakage in a copy of the items.

    Attributes:
        n_lengthened: Items of which a text was made longer.
        positions_drawn: Whether all positions were drawn anew.
    """

    n_lengthened: int
    positions_drawn: bool

    @property
    def is_changed(self) -> bool:
        """Whether anything was changed."""
        return bool(self.n_lengthened or self.positions_drawn)


@result
class SuggestedRow(Result):
    """A row to rewrite.

    Attributes:
        rank: 1 for the first to rewrite.
        example_id: Its name.
        texts: By role.
        label: Its label.
        bits: That the part gives of the label.
        probability: Of the label by the part alone.
        right: Whether it was predicted in all rankings.
        patterns: Of its label that it holds.
    """

    rank: int
    example_id: str
    texts: Mapping[str, str]
    label: str
    bits: float
    probability: float
    right: bool
    patterns: str


@result
class LabelShare(Result):
    """The share of a label among all rows, and among the tenth that is to be rewritten first."""

    label: str
    share: float
    share_of_first: float


@result
class SuggestedRows(Result):
    """Rows ranked by what their part gives away, and what leakage falls to without the first of them."""

    source: str
    condition: str
    n_rows: int
    before: RowRefit = figure(_ALL_ROWS, "improvement_low", "improvement_high", at="improvement", n="n_rows")
    after_dropping: tuple[RowFall, ...]
    test_majority: float
    n_folds: int
    n_seeds: int
    rows: tuple[SuggestedRow, ...]
    labels: tuple[LabelShare, ...]


@result
class RuleToMend(Result):
    """A rule that hits beyond chance.

    Attributes:
        rule: Its name.
        effect: What it gains of what guessing leaves to be gained.
        n_to_change: Items by which it exceeds chance.
        after: Its effect in the changed copy.
    """

    rule: str
    effect: float
    n_to_change: int
    after: float


@result
class SuggestedItem(Result):
    """An item to rewrite, the bits that a rule or the reader gives of its answer, and what to change."""

    rank: int
    example_id: str
    question: str
    choices: str
    answer: str
    bits: float
    rules: str
    change: str


@result
class SuggestedItems(Result):
    """Items ranked by what their options give away, and what is found without them and in a changed copy."""

    source: str
    of_items: bool
    kind: str
    condition: str
    n_rows: int
    before: ItemRefit = figure(_ALL_ROWS, "improvement_low", "improvement_high", at="improvement", n="n_rows")
    after_dropping: tuple[ItemFall, ...]
    mends: tuple[RuleToMend, ...]
    changed: ChangedItems
    n_seeds: int
    rows: tuple[SuggestedItem, ...]


@result
class SuggestedRewrites(LeakageResult):
    """Which rows or items to rewrite first."""

    suggestion: SuggestedRows | SuggestedItems


@result
class DatasetPart(Result):
    """Everything measured of one part of one dataset; None where it was not measured.

    Attributes:
        dataset: Its name.
        part: The text that was shown.
        family: What the dataset shares with others: the file that models were trained on, by its fingerprint.
        n_examples: Test examples.
        majority: Accuracy of the most frequent test label.
        paired: Accuracy of the whole input.
        accuracy: Of the part.
        improvement: Accuracy above the majority.
        recovered: Share of the accuracy of the whole.
        information: In bits.
        agreement: Share decided like the whole.
        kappa: The same beyond chance.
        recovery: Share right where both decide alike.
        recovery_paper: In the paper's convention.
        relevance: Token relevance agreement.
        peco: Outlier score of clusters.
        peco_p: Its p-value.
        peco_paper: The score in the paper's convention.
    """

    dataset: str
    part: str
    family: str
    n_examples: int
    majority: float
    paired: float | None
    paired_low: float | None
    paired_high: float | None
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    improvement: float
    improvement_low: float
    improvement_high: float
    recovered: float
    recovered_low: float
    recovered_high: float
    information: float | None
    information_low: float | None
    information_high: float | None
    agreement: float | None
    agreement_low: float | None
    agreement_high: float | None
    kappa: float | None
    recovery: float | None
    recovery_paper: float | None
    relevance: float | None
    peco: float | None
    peco_low: float | None
    peco_high: float | None
    peco_p: float | None
    peco_paper: float | None

    def measured(self, name: str) -> float | None:
        """A measure by the name of its field; None where it has no value."""
        return number(getattr(self, name))


@result
class Correlated(Result):
    """Two measures of a dataset's part, by their fields."""

    x: str
    y: str


@result
class Correlation(Correlated):
    """Pearson's correlation of two measures over parts of datasets.

    Attributes:
        r: The correlation; with its interval over families of datasets.
        low: Lower end.
        high: Upper end.
        n: Parts that have both.
        n_families: Families of these.
        printed: What the paper prints.
        recomputed: What the paper's own tables give.
    """

    r: float
    low: float
    high: float
    n: int
    n_families: int
    printed: float | None
    recomputed: float | None


def _figures_of_parts(parts: tuple[DatasetPart, ...]) -> Iterator[Figure]:
    """Of each part of each dataset; the accuracy of the whole input once a dataset."""
    for part in parts:
        of: dict[str, Any] = {"n": part.n_examples, "dataset": part.dataset, "condition": f"{part.part}_only"}
        yield _IMPROVEMENT.figure(part.improvement, part.improvement_low, part.improvement_high, **of)
        yield _ACCURACY.figure(part.accuracy, part.accuracy_low, part.accuracy_high, **of)
        # What was not measured is left out; that an improvement is undefined has to break a rule.
        measured = (
            _RECOVERED.figure(part.recovered, part.recovered_low, part.recovered_high, **of),
            _INFORMATION.figure(part.information, part.information_low, part.information_high, **of),
            _AGREEMENT.figure(part.agreement, part.agreement_low, part.agreement_high, **of),
            PECO.figure(part.peco, part.peco_low, part.peco_high, dataset=part.dataset, role=part.part),
        )
        yield from (each for each in measured if each.is_defined)
    for part in {part.dataset: part for part in parts if part.paired is not None}.values():
        yield _ACCURACY.figure(
            part.paired, part.paired_low, part.paired_high, n=part.n_examples, label=_WHOLE, dataset=part.dataset,
            condition=PAIRED,
        )  # fmt: skip


def _figures_by_dataset(found: Mapping[str, Effects | None]) -> Iterator[Figure]:
    for name, effects in found.items():
        yield from (replace(each, of={"dataset": name, **each.of}) for each in _figures_of_all(effects))


@result
class ComparedDatasets(LeakageResult):
    """Several datasets side by side.

    Attributes:
        datasets: A record for each part of each.
        effects_by_dataset: What each reader gains; the verdict, that of the worst dataset, rests on these.
        correlations: Of measures over datasets.
        uncorrelated: Measures that too few parts have.
    """

    datasets: tuple[DatasetPart, ...] = figures_by(_figures_of_parts)
    effects_by_dataset: Mapping[str, Effects | None] = figures_by(_figures_by_dataset)
    correlations: tuple[Correlation, ...]
    uncorrelated: tuple[Correlated, ...]
