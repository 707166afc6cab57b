"""How far scores move with the way of asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.figures import Figure, Measure, Rule, declare, declare_verdict, figure, result, role
from goldassay.core.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

declare_verdict("sensitivity", "points")

_ORDER = declare(
    Measure("sensitivity.order_changes", "pairs of models whose order changes", "share", "lower", least=0, most=1)
)


@result
class SensitivityRow(Result):
    """How far the score of one model on one dataset moves with its configuration; see `ConfigurationSpread`.

    Attributes:
        model: Its name.
        dataset: Name of the dataset.
        condition: What part of the input the model sees.
        settings: Those that differ.
        n_configurations: How many there are.
        n_repeats_least: The fewest runs of one.
        n_repeats_most: The most.
        n_examples: N.
        sd: SD over configurations, without the noise of repeats.
        sd_low: Lower end.
        sd_high: Upper end.
        separable: Whether some configuration was repeated.
        repeat_sd: SD over repeats; None where none was repeated.
        range: Highest less lowest of the means.
        range_low: Lower end.
        range_high: Upper end.
        best: The configuration that scores most.
        best_mean: Its score.
        best_elsewhere: What picking it gives on examples that it was not picked on.
        best_low: Lower end of that.
        best_high: Upper end.
        worst: The configuration that scores least; the rest as of the best.
        worst_mean: Its score.
        worst_elsewhere: On other examples.
        worst_low: Lower end of that.
        worst_high: Upper end.
        claim: Whether a claimed difference exceeds what configurations do; None where none was claimed.
        claim_open: Why that is undecided.
    """

    model: str = role("model")
    dataset: str = role("dataset")
    condition: str = role("condition")
    settings: str
    n_configurations: int
    n_repeats_least: int
    n_repeats_most: int
    n_examples: int
    sd: float = figure(
        Measure(
            "sensitivity.sd", "SD over configurations", "points", "lower", least=0,
            rule=Rule("max_configuration_sd", "SD of the score over configurations", "at most"),
        ),
        "sd_low", "sd_high", n="n_examples",
    )  # fmt: skip
    sd_low: float
    sd_high: float
    separable: bool
    repeat_sd: float | None = figure(
        Measure("sensitivity.repeat_sd", "SD over repeats", "points", "lower", least=0, compared=False),
        n="n_examples", why="no configuration was repeated",
    )  # fmt: skip
    range: float = figure(
        Measure("sensitivity.range", "range over configurations", "points", "lower", least=0),
        "range_low", "range_high", n="n_examples",
    )  # fmt: skip
    range_low: float
    range_high: float
    best: str
    best_mean: float
    best_elsewhere: float = figure(
        Measure("sensitivity.best", "score of the best configuration, picked elsewhere", "points", "higher"),
        "best_low", "best_high", n="n_examples",
    )  # fmt: skip
    best_low: float
    best_high: float
    worst: str
    worst_mean: float
    worst_elsewhere: float = figure(
        Measure("sensitivity.worst", "score of the worst configuration, picked elsewhere", "points", "higher"),
        "worst_low", "worst_high", n="n_examples",
    )  # fmt: skip
    worst_low: float
    worst_high: float
    claim: str | None
    claim_open: str


@result
class ConfigurationScore(Result):
    """The mean score of a model on a dataset in one configuration, over its repeats."""

    model: str
    dataset: str
    condition: str
    configuration: str
    n_repeats: int
    mean: float


@result
class SensitivityResult(Result):
    """Every model and dataset with several configurations.

    Attributes:
        results: A model and dataset each.
        configurations: A configuration each.
        n_pairs: Pairs of models on one dataset that have two configurations in common.
        n_changed: Of these, pairs whose order changes from one configuration to another.
        single_configuration: Models on datasets with a single configuration, which are left out.
        dropped: Why others were left out, a sentence each.
        sentences: What was found, beside the verdict.
        notes: What to know of it.
    """

    results: tuple[SensitivityRow, ...]
    configurations: tuple[ConfigurationScore, ...]
    n_pairs: int
    n_changed: int
    single_configuration: tuple[str, ...]
    dropped: tuple[str, ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]

    def more_figures(self) -> Iterable[Figure]:
        """In how many pairs of models the order changes; none where there are no pairs."""
        return (_ORDER.figure(self.n_changed / self.n_pairs),) if self.n_pairs else ()

    def of(self, row: SensitivityRow) -> tuple[ConfigurationScore, ...]:
        """The configurations of one model on one dataset."""
        name = (row.model, row.dataset, row.condition)
        return tuple(each for each in self.configurations if (each.model, each.dataset, each.condition) == name)
