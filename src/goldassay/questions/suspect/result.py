"""What speaks against the labels of a test part: how many are suspect, and which most."""

from __future__ import annotations

from goldassay.core.figures import Measure, figure, left_out, result
from goldassay.core.results import Result

# What speaks against a label.
DEFECT, UNISON, INVERTED = "defect", "contradicted in unison", "weaker systems solve it"
# Against a key, of items with choices.
DISPUTED = "disputed key"


@result
class SuspectRow(Result):
    """One row against whose label something speaks.

    Attributes:
        dataset: That it is of.
        example_id: Its name.
        suspicion: By which rows are sorted.
        suspect: What speaks against its label.
        defect: Why it cannot be right as it is; None where it can.
        suggested: The label that models name instead, where several families were asked.
        log_odds: Of that label against the gold one.
        confidence: The mean probability of the gold label, where runs have probabilities.
    """

    dataset: str
    example_id: str
    suspicion: float
    suspect: str
    defect: str | None
    suggested: str | None = left_out(default=None)
    log_odds: float | None = left_out(default=None)
    confidence: float | None = left_out(default=None)


@result
class CorrectedScore(Result):
    """The score of a model were the most suspect labels wrong.

    Attributes:
        share: Of the rows that is taken for wrong.
        n_first: As many rows.
        model: Its name.
        as_is: Its score.
        dropped: Without these rows.
        relabelled: With the labels that other models name.
    """

    share: float
    n_first: int
    model: str
    as_is: float
    dropped: float
    relabelled: float


@result
class SuspectResult(Result):
    """Why answers of models were not held against labels; "" where they were."""

    why_not: str


@result
class RankedLabels(SuspectResult):
    """The labels of a test part, ranked.

    Attributes:
        n_examples: Rows of the test part.
        n_answered: Those that runs answer.
        n_defects: Rows that cannot all be right.
        n_families: Families of models.
        families: Their names.
        strong: Those that are strong.
        n_unanimous: Labels that all strong families contradict in unison; None where there are none.
        n_expected: The same, expected of right labels.
        n_inverted: Rows that weaker families solve and stronger ones miss; None of fewer than twenty families.
        confident: Whether runs have probabilities.
        rows: The most suspect rows, as many as a page shows.
        scores: Of each model, and of each share of the rows that may be wrong.
    """

    n_examples: int
    n_answered: int
    n_defects: int = figure(
        Measure("suspect.defects", "rows that cannot all be right", "examples", "lower", least=0), n="n_examples"
    )
    n_families: int
    families: tuple[str, ...]
    strong: tuple[str, ...]
    n_unanimous: int | None = figure(
        Measure("suspect.unison", "labels that all strong families contradict in unison", "examples", "lower", least=0),
        n="n_answered", reason="why_not",
    )  # fmt: skip
    n_expected: float | None = figure(
        Measure("suspect.expected", "the same, expected of right labels", "number", "neither", least=0, compared=False),
        n="n_answered", reason="why_not",
    )  # fmt: skip
    n_inverted: int | None
    confident: bool
    rows: tuple[SuspectRow, ...]
    scores: tuple[CorrectedScore, ...]
