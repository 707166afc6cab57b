"""Comparisons, asked in Python and in a shell: `compare_models` and `goldassay compare`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from goldassay.core.commands import command
from goldassay.core.options import (
    ChosenModels,
    Cutoff,
    Dataset,
    Discount,
    DiscountPart,
    EquivalentWithin,
    Matched,
    Method,
    ModelA,
    ModelB,
    Quiet,
    RunClusters,
    Seed,
    SettingsOrFile,
    Tests,
    place,
)
from goldassay.questions.run_choice import RunChoice, RunFormat

if TYPE_CHECKING:
    from goldassay.report.report import Report

Runs = Annotated[
    Any,
    place(
        "Predictions of each model on the same examples, a file or a folder a model; or one that holds all.",
        "RUNS...",
        repeat=True,
    ),
]


@command()
def compare_models(
    *runs: Runs,
    model: ChosenModels = None,
    model_a: ModelA = None,
    model_b: ModelB = None,
    clusters: RunClusters = None,
    matched: Matched = False,
    method: Method = "normal",
    equivalent_within: EquivalentWithin = None,
    dataset: Dataset = None,
    test: Tests = None,
    discount: Discount = None,
    discount_part: DiscountPart = None,
    cutoff: Cutoff = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[RunFormat],
) -> Report:
    """Say whether model A is better than model B, on the same examples, or which of several models are.

    From one run of a model it says whether these runs differ, not whether the model is better.

    Both the runs (other seeds) and the examples (other test sets of the kind) are taken as samples: the interval of
    the difference allows for both, and the split of the noise says whether more seeds or more examples would help.
    Of three models or more each is compared with each, with Holm's correction, and groups of models are named of
    which no two differ significantly. The last checkpoint is compared.

    Where the runs are on several datasets, the models are compared on each that all of them answered, and over all:
    the mean of the datasets, and the mean of the examples.

    Note:
        Runs are paths, `Runs`, or tables with a row a prediction. By default all models are compared.

    Returns:
        The report. Its tables are `models` and `comparisons`, a row for each two models and dataset, and of several
        datasets `totals`, a row for each two models.

    Raises:
        InputError: The runs cannot be read, there are fewer than two models, no dataset was answered by all, or the
            examples, their right labels or the matched seeds differ.
    """
    from goldassay.core.settings import chosen
    from goldassay.questions.comparison.report import study_comparison

    report, found = study_comparison(
        runs,
        RunChoice.of(cutoff, **reading, dataset=dataset, test=test),
        models=(model,) if isinstance(model, str) else tuple(model or ()),
        named=(model_a, model_b),
        clusters=clusters,
        matched=matched,
        method=method,
        equivalent_within=equivalent_within,
        settings=chosen(settings, seed),
        quiet=quiet,
        discount=discount,
        discount_part=discount_part,
    )
    return replace(report, result=found)
