"""`goldassay shift detection`: do a model's scores tell texts from elsewhere apart?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from goldassay.cli.options import (
    METHOD,
    RUNS,
    Out,
    of_option,
)
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
        of_option("inside", metavar="[NAME=]RUNS", group=RUNS, also="Repeatable."),
    ],
    outside: Annotated[
        list[str],
        of_option("outside", metavar="[NAME=]RUNS", group=RUNS, also="Repeatable."),
    ],
    training: Annotated[
        str | None,
        of_option("train", metavar="[NAME=]RUNS", group=RUNS),
    ] = None,
    scores: Annotated[
        list[str] | None,
        of_option("score", metavar="NAME", group=METHOD, also="Repeatable."),
    ] = None,
    recall: Annotated[
        float,
        of_option("recall", metavar="R", group=METHOD),
    ] = 0.95,
    rule: Annotated[
        Literal["at_least", "closest", "interpolate"],
        of_option("rule", group=METHOD),
    ] = "at_least",
    k: Annotated[
        int,
        of_option("k", metavar="K", group=METHOD),
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
