"""`goldassay compare`: is model A better than model B, or than C?"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    RUNS,
    Config,
    Discount,
    DiscountPart,
    Figures,
    Latex,
    Models,
    OptionalOut,
    Quiet,
    RunClusters,
    Seed,
    of_option,
    say_settings,
)
from goldassay.cli.report_files import save_report
from goldassay.cli.run_options import reads_runs
from goldassay.core.errors import InputError
from goldassay.questions.run_choice import RunChoice


@app.command(short_help="Say whether model A is better than model B, seeds and examples allowed for.")
@reads_runs(without=("model",))
def compare(
    *,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUNS...",
            help="Predictions of each model on the same examples, a file or a folder a model; or one that holds all.",
        ),
    ],
    clusters: RunClusters = None,
    models: Models = None,
    model_a: Annotated[str | None, of_option("model_a", metavar="NAME", group=RUNS)] = None,
    model_b: Annotated[str | None, of_option("model_b", metavar="NAME", group=RUNS)] = None,
    matched: Annotated[
        bool,
        of_option("matched", group=METHOD),
    ] = False,
    method: Annotated[Literal["normal", "bootstrap"], of_option("method", group=METHOD)] = "normal",
    discount: Discount = None,
    discount_part: DiscountPart = None,
    equivalent_within: Annotated[float | None, of_option("equivalent_within", metavar="POINTS", group=METHOD)] = None,
    out: OptionalOut = None,
    json_file: JsonFile = None,
    figures: Figures = None,
    latex: Latex = False,
    choice: RunChoice,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Say whether model A is better than model B, on the same examples, or which of several models are.

    From one run of a model it says whether these runs differ, not whether the model is better.

    Both the runs (other seeds) and the examples (other test sets of the kind) are taken as samples: the interval of
    the difference allows for both, and the split of the noise says whether more seeds or more examples would help.
    Of three models or more each is compared with each, with Holm's correction, and groups of models are named of
    which no two can be told apart. The last checkpoint is compared.

    Where the runs are on several datasets, the models are compared on each that all of them answered, and over all:
    the mean of the datasets, and the mean of the examples.
    """
    import json

    from goldassay.cli.compare_lines import lines_of, result_of
    from goldassay.core.settings import with_seed
    from goldassay.questions.comparison.study import study_comparison
    from goldassay.questions.discount.page import discount_lines, with_discount
    from goldassay.questions.discount.result import DiscountResult
    from goldassay.questions.gating import load_settings
    from goldassay.report.paper import check_figures

    check_figures(figures)
    if out is None and (figures or latex):
        raise InputError("figures and tables for papers need a place", mend="name a folder with -o DIR")
    settings = load_settings(config)
    report, compared = study_comparison(
        runs,
        choice,
        models=models or (),
        named=(model_a, model_b),
        clusters=clusters,
        matched=matched,
        method=method,
        discount=discount,
        discount_part=discount_part,
        equivalent_within=equivalent_within,
        settings=with_seed(settings, seed),
        quiet=quiet,
    )
    page = None if out is None else save_report(report, out, figures, latex)
    if json_file is not None:
        said = with_discount(result_of(compared), report.answer(DiscountResult))
        write_json(json_file, json.dumps(said, ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        say_settings(settings)
        for line in lines_of(compared):
            typer.echo(line)
        for line in discount_lines(report.answer(DiscountResult)):
            typer.echo(line)
        if page is not None:
            typer.echo(page)
