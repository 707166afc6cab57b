"""`goldassay runs scores`: what a folder of runs says, each score with its intervals, and how the models compare."""

from __future__ import annotations

import typer

from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import Config, Quiet, Seed, say_settings
from goldassay.cli.run_options import reads_runs
from goldassay.cli.runs import Place, runs_app
from goldassay.questions.run_choice import RunChoice


@runs_app.command(short_help="Show every score with its intervals, and compare the models.")
@reads_runs()
def scores(
    path: Place,
    choice: RunChoice,
    json_file: JsonFile = None,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Show the mean score of each model on each dataset with its 95 % intervals, and compare the models.

    The interval over examples says where the score would lie on other examples of the kind, the one over runs where it
    would lie with other seeds or epochs. Below, the models are compared as `goldassay compare` does. Runs that
    cannot be read, such as logs of evaluations that were cancelled, are named with the reason.
    """
    import json

    from goldassay.cli.score_lines import lines_of
    from goldassay.core.settings import with_seed
    from goldassay.questions.gating import load_settings
    from goldassay.questions.run_scores import score_runs

    settings = with_seed(load_settings(config), seed)
    found = score_runs(path, choice, settings, quiet=quiet)
    if json_file is not None:
        write_json(json_file, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        say_settings(settings)
        for line in lines_of(found):
            typer.echo(line)
