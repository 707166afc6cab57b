"""What is said of surface patterns, and what a comparison of two reports reads of it.

A pattern is strong by the label that it gives away; the test examples are easy or hard by the patterns in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.bounds import check_parquet
from goldassay.core.errors import InputError
from goldassay.core.figures import (
    WORTH,
    Figure,
    Listed,
    Listing,
    Measure,
    Pairing,
    Rule,
    declare,
    declare_listing,
    declare_verdict,
    figure,
    figures_by,
    left_out,
    result,
)
from goldassay.core.results import Headline, Result
from goldassay.questions.effect_sentences import figures_of_effects, figures_of_headline
from goldassay.stats.effects import Effects
from goldassay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from pathlib import Path

declare_verdict("artifacts")
_OF_EFFECTS = figures_of_effects("artifacts", information=False)
_SELECTED = declare(Measure("artifacts.selected", "patterns kept", "examples", "lower", bounded=False))
_GAIN = declare(
    Measure(
        "artifacts.gain", "patterns alone, above majority", "points", "lower",
        rule=Rule("max_pattern_gain", "accuracy of patterns alone above the majority", "at most"),
    )
)  # fmt: skip
_PRECISION = declare(Measure("artifacts.precision", "right where patterns name one label", "share"))
_COVERAGE = declare(
    Measure(
        "artifacts.coverage", "test examples with a pattern", "share", "lower",
        pairing=Pairing("difficulty", ("easy", "hard", "conflicting")),
    )
)  # fmt: skip
_NAMED = declare(
    Measure(
        "artifacts.named", "test examples that patterns name one label for", "share", "lower",
        pairing=Pairing("difficulty", ("easy", "hard")),
    )
)  # fmt: skip
_EASY = declare(
    Measure(
        "artifacts.easy_share", "easy by pattern", "share", "lower",
        rule=Rule("max_easy_share", "share of test examples that are easy by pattern", "at most"),
        pairing=Pairing("difficulty", ("easy",)),
    )
)  # fmt: skip
_HARD = declare(Measure("artifacts.hard_share", "hard by pattern", "share", pairing=Pairing("difficulty", ("hard",))))


@result
class ClassSize(Result):
    """How many test examples a class of difficulty has, and their share of all."""

    n: int
    share: float


@result
class Estimated(Result):
    """A value with the ends of its 95 % interval, and how that was made."""

    value: float
    low: float
    high: float
    method: str


@result
class MinedWith(Result):
    """How patterns were mined, and from which q and beyond which share they are kept."""

    max_tokens: int
    max_gap: int
    min_count: int
    tokenizer: str
    q: float
    threshold: float


@result
class Variant(Result):
    """A pattern that adds nothing to a part of itself, or a fragment of the same phrase."""

    pattern: str
    support: int
    probability: float


@result
class MarkedExample(Result):
    """A training example of a pattern, with the characters [begin, end) of the pattern's tokens."""

    example_id: str
    label: str
    text: str
    marks: tuple[tuple[int, ...], ...]


@result
class StrongPattern(Result):
    """A pattern that stands for itself.

    Attributes:
        pattern: Its tokens, # for any one.
        support: Training examples with it.
        probability: The share of them with its label.
        wilson_low: Lower end of the 95 % Wilson interval.
        wilson_high: Upper end.
        lift: The share over the label's share of all.
        q_value: Of its test against chance, among all patterns and labels.
        n_folded: Patterns that are listed under it; None where it was not folded.
        variants: Some of them.
        examples: A sample of its training examples.
    """

    pattern: str
    support: int
    probability: float
    wilson_low: float
    wilson_high: float
    lift: float
    q_value: float
    n_folded: int | None
    variants: tuple[Variant, ...]
    examples: tuple[MarkedExample, ...]


@result
class TriedPattern(StrongPattern):
    """A pattern that was tried on a test set.

    Attributes:
        test_support: Test examples with it.
        test_probability: The share of them with its label; None where there are none.
        confirmed: Whether it is significant there too.
    """

    test_support: int
    test_probability: float | None
    confirmed: bool | None


@result
class LiftedPattern(Result):
    """A pattern that is strong by lift.

    Attributes:
        pattern: Its tokens.
        support: Training examples with it.
        label: The label that it goes with.
        probability: The share of its examples with the label.
        lift: That share, at its lower Wilson bound, over the label's share of all.
        by_share: Whether it is among the patterns that are kept.
    """

    pattern: str
    support: int
    label: str
    probability: float
    lift: float
    by_share: bool


@result
class PatternPoint(Result):
    """A significant pattern in the picture."""

    pattern: str
    support: int
    probability: float
    label: str


@result
class CurvePoint(Result):
    """What patterns above a threshold cover, and how often they are right where they name one label."""

    threshold: float
    coverage: float | None
    precision: float | None


@result
class OtherText(Result):
    """What is said of a text beside the one that is shown.

    Attributes:
        applies_to: The text.
        n_mined: Patterns that are frequent enough.
        n_significant: Those that go with a label beyond chance.
        n_selected: Those of them above the threshold.
        strongest: A few of each label, those that give most away.
        coverage: Share of the test examples with a pattern; this and the next two are None without a test set.
        precision: The share that is right where patterns name one label.
        giveaway: Accuracy gained over always naming the most frequent training label.
    """

    applies_to: str
    n_mined: int
    n_significant: int
    n_selected: int
    strongest: tuple[PatternPoint, ...]
    coverage: float | None
    precision: Estimated | None
    giveaway: Estimated | None


@result
class ValueRow(Result):
    """The patterns of the rows with one value of a column, and one of the strongest, where there is any."""

    value: str
    n_examples: int
    n_patterns: int
    n_findings: int
    pattern: str | None = left_out(default=None)
    label: str | None = left_out(default=None)
    support: int | None = left_out(default=None)
    probability: float | None = left_out(default=None)
    wilson_low: float | None = left_out(default=None)
    wilson_high: float | None = left_out(default=None)


@result
class ArtifactsResult(Result):
    """What patterns say of the test examples.

    Attributes:
        applies_to: The text that was searched.
        difficulty: The classes of the test examples; None without a test set.
    """

    applies_to: str
    difficulty: Mapping[str, ClassSize] | None = left_out(default=None, kw_only=True)

    @property
    def n_tested(self) -> int | None:
        """Test examples; None where there are none."""
        return sum(each.n for each in (self.difficulty or {}).values()) or None

    @property
    def covered(self) -> float | None:
        """The share of the test examples that hold a pattern; None where there are none."""
        n = self.n_tested
        return None if n is None or self.difficulty is None else (n - self.difficulty["uncovered"].n) / n

    def more_figures(self) -> Iterator[Figure]:
        """What the classes say: shares of all test examples, with Wilson's interval."""
        n, covered = self.n_tested, self.covered
        if n is None or covered is None or self.difficulty is None:
            return
        easy, hard = self.difficulty["easy"], self.difficulty["hard"]
        decided = easy.n + hard.n
        if decided:
            interval = wilson_interval(easy.n, decided)
            yield _PRECISION.figure(easy.n / decided, interval.low, interval.high, n=decided)
        else:
            yield _PRECISION.figure(None, n=0, reason="the patterns name one label for no test example")
        for measure, share in ((_COVERAGE, covered), (_NAMED, decided / n), (_EASY, easy.share), (_HARD, hard.share)):
            interval = wilson_interval(round(share * n), n)
            yield measure.figure(share, interval.low, interval.high, n=n)


@result
class PatternsResult(ArtifactsResult):
    """What was mined, and what it does on the test set.

    Attributes:
        effects: What readers of patterns gain; None without a test set.
        headline: The number that decides.
        settings: How.
        cluster_rule: Which rows count as one when patterns are tested, in a sentence.
        prior: Each label's share of the sentences that were mined.
        n_mined: Patterns that are frequent enough.
        n_significant: Those that go with a label beyond chance.
        n_selected: Those of them above the threshold.
        n_unfolded: Of these, those that were folded under no other.
        n_not_folded: Those that were too many to be folded.
        n_confirmed: Those that are significant in the test set too; None without one.
        strongest: Of each label those that give most away.
        by_lift: Of each label those with the largest lift.
        scatter: The most frequent and the most telling of the significant ones.
        coverage_of: "test", or "training" without a test set.
        coverage_curve: What they cover by threshold.
        tokenizer_reason: Why texts are cut in another way than is usual, in a sentence.
        others: The other texts that were searched.
        coverage: Share of the test examples with a pattern; this and the next two are None without a test set.
        precision: The share that is right where patterns name one label.
        giveaway: Accuracy gained over always naming the most frequent training label.
        of_items: True where right choices of items are told from wrong ones.
        table: Of the files, the one with the patterns that are kept, where it is not `patterns`.
        condition: The column that rows were also parted by.
        by_value: The strongest patterns of each of its values.
    """

    _: KW_ONLY
    # First, as the verdict rests on them.
    effects: Effects | None = figures_by(_OF_EFFECTS, default=None)
    headline: Headline | None = figures_by(figures_of_headline("artifacts"), default=None)
    settings: MinedWith
    cluster_rule: str | None
    prior: Mapping[str, float]
    n_mined: int
    n_significant: int
    n_selected: int = figure(_SELECTED)
    n_unfolded: int
    n_not_folded: int
    n_confirmed: int | None
    strongest: Mapping[str, tuple[StrongPattern, ...]]
    by_lift: tuple[LiftedPattern, ...]
    scatter: tuple[PatternPoint, ...]
    coverage_of: str
    coverage_curve: tuple[CurvePoint, ...]
    tokenizer_reason: str | None
    others: tuple[OtherText, ...] = ()
    coverage: float | None = left_out(default=None)
    precision: Estimated | None = left_out(default=None)
    giveaway: Estimated | None = figure(_GAIN, "low", "high", n="n_tested", at="value", default=None)
    of_items: bool | None = left_out(default=None)
    table: str | None = left_out(default=None)
    condition: str | None = left_out(default=None)
    by_value: tuple[ValueRow, ...] = left_out(default=())

    @property
    def covered(self) -> float | None:
        """As in any result; of patterns that were tried on a test set it was measured."""
        return super().covered if self.coverage is None else self.coverage


@result
class ClassedWith(Result):
    """What patterns were cut at, where they were, and how frequent they had to be."""

    threshold: float | None
    min_count: int


@result
class ClassedExamples(ArtifactsResult):
    """The classes of a test set by patterns that were mined before.

    Attributes:
        sizes: A row a class: `class`, `n`, and how many of each label.
        overlap: How far the rule by classifier agrees, with a row `table` a pair of classes; or None.
        judged: How the classifier judged what it had not seen, in a clause; or "".
        sample: Some examples of each class, with the pattern that decided: a row as in the table `subsets`.
        settings: Of the patterns.
    """

    sizes: tuple[Mapping[str, Any], ...]
    overlap: Mapping[str, Any] | None
    judged: str
    sample: tuple[Mapping[str, Any], ...]
    settings: ClassedWith


_SCHEMA = {"pattern": pl.String, "label": pl.String, "support": pl.Int64, "probability": pl.Float64}
# `artifacts mine` keeps all that it counted in patterns.parquet, and what the audit keeps in findings.parquet.
_FILES = ("tables/patterns.parquet", "findings.parquet")


def read_kept_patterns(document: Mapping[str, Any], folder: Path) -> Listed | None:
    """All kept patterns, from the table next to the report or from the points of its picture, and the strongest.

    A table or picture counts as complete where it has exactly as many patterns as the report says were kept.
    """
    section = document.get("artifacts") or {}
    if "strongest" not in section:
        return None
    candidates = (_table(folder), _points(section))
    kept = next((each for each in candidates if each is not None and each.height == section.get("n_selected")), None)
    strongest = _plain([{**row, "label": label} for label, rows in section["strongest"].items() for row in rows])
    prior = section.get("prior") or {}
    return Listed(None if kept is None else _with_worth(kept, prior), _with_worth(strongest, prior))


declare_listing(Listing("patterns", "pattern", "label", ("support", "probability"), read_kept_patterns))


def _table(folder: Path) -> pl.DataFrame | None:
    from polars.exceptions import PolarsError

    for place in _FILES:
        try:
            check_parquet(folder / place, folder / place)
            return _plain(pl.read_parquet(folder / place).select(list(_SCHEMA)).to_dicts())
        except (OSError, PolarsError, InputError):
            continue
    return None


def _points(section: Mapping[str, Any]) -> pl.DataFrame | None:
    threshold = (section.get("settings") or {}).get("threshold")
    if not isinstance(threshold, float):
        return None
    return _plain([row for row in section.get("scatter") or () if (row.get("probability") or 0.0) > threshold])


def _plain(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    table = pl.DataFrame([{name: row.get(name) for name in _SCHEMA} for row in rows], schema=_SCHEMA)
    return table.unique("pattern", keep="first", maintain_order=True)


def _with_worth(table: pl.DataFrame, prior: Mapping[str, float]) -> pl.DataFrame:
    """How many more examples have the pattern's label than chance gives."""
    expected = [float(prior.get(label) or 0.0) for label in table["label"].to_list()]
    share = pl.col("probability") - pl.Series(expected, dtype=pl.Float64)
    return table.with_columns((pl.col("support") * share).alias(WORTH))
