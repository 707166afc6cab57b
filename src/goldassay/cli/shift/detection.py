"""`goldassay shift detection`: do a model's scores tell texts from elsewhere apart?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from goldassay.cli.options import METHOD, RUNS, Out, within
from goldassay.cli.run_options import reads_runs
from goldassay.cli.shift.group import Asked, reports, shift_app
from goldassay.questions.run_choice import RunChoice


@shift_app.command(short_help="Say whether a model's confidence tells texts from elsewhere apart.")
@reads_runs(without=("dataset", "align"))
@reports
def detection(
    *,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUNS]...", help="Further runs on other distributions, as for --outside."),
    ] = None,
    inside: Annotated[
        list[str],
        typer.Option(
            "--inside",
            metavar="[NAME=]RUNS",
            help="Predictions with logits or probabilities on the model's own distribution; NAME chooses or names the "
            "dataset. Repeatable.",
            rich_help_panel=RUNS,
        ),
    ],
    outside: Annotated[
        list[str],
        typer.Option(
            "--outside",
            metavar="[NAME=]RUNS",
            help="The same models on other distributions; labels are ignored. Repeatable.",
            rich_help_panel=RUNS,
        ),
    ],
    training: Annotated[
        str | None,
        typer.Option(
            "--train",
            metavar="[NAME=]RUNS",
            help="The same models on their training data, all with features: embeddings beside the runs (goldassay "
            "train --record embeddings), or a column or an array called features. Adds Mahalanobis and the k-th "
            "neighbor.",
            rich_help_panel=RUNS,
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--score",
            metavar="NAME",
            help="max_softmax, max_logit, energy, entropy, mahalanobis, knn. Repeatable.  [default: all that can be]",
            rich_help_panel=METHOD,
        ),
    ] = None,
    recall: Annotated[
        float,
        typer.Option(
            metavar="R",
            callback=within("--recall", gt=0, le=1),
            help="Share of the out-of-distribution examples to be flagged.",
            rich_help_panel=METHOD,
        ),
    ] = 0.95,
    rule: Annotated[
        Literal["at_least", "closest", "interpolate"],
        typer.Option(help="Which threshold: closest is how the paper's authors compute it.", rich_help_panel=METHOD),
    ] = "at_least",
    k: Annotated[
        int,
        typer.Option(
            "--k", metavar="K", callback=within("--k", ge=1, le=100_000), help="Which neighbor.", rich_help_panel=METHOD
        ),
    ] = 10,
    out: Out = Path("goldassay-shift"),
    asked: Asked,
    choice: RunChoice,
) -> None:
    """Say whether a model's confidence tells texts from elsewhere from those of its own distribution.

    For every model, other dataset and score: the false alarm rate (the share of the model's own texts that are
    flagged when --recall of the others are), AUROC and AUPR, with chance beside each and intervals over examples and
    runs. The rate with the sides exchanged, which others report under the same name, stands beside it.

    \b
      goldassay shift detection --inside sst2=runs --outside newsgroups=runs newstest=runs -o report
    """
    from goldassay.questions.shift.detection_report import report_detection

    report = report_detection(
        inside,
        [*outside, *(more or [])],
        training=training,
        scores=scores or None,
        recall=recall,
        rule=rule,
        k=k,
        choice=choice,
        **asked.measuring(),
    )
    asked.finish(report, out)
