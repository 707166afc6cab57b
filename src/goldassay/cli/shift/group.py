"""The group of commands, and the options they share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldassay.cli.app import Commands, app
from goldassay.cli.json_option import JsonFile, write_report_json
from goldassay.cli.options import (
    METHOD,
    Config,
    Figures,
    Latex,
    Quiet,
    Seed,
    of_option,
)
from goldassay.cli.report_files import save_report

if TYPE_CHECKING:
    from goldassay.report.report import Report

shift_app = Commands(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(shift_app, name="shift", short_help="Say whether a score holds elsewhere, and whether the model knows.")

Draws = Annotated[
    int,
    of_option("draws", metavar="N", group=METHOD),
]


@shift_app.callback()
def shift() -> None:
    """Say whether a score holds on another distribution, and whether the model knows when it has left its own.

    \b
    From predictions that you have:
      goldassay shift generalization --runs own=own.csv --runs other=other.csv --in-distribution own
      goldassay shift detection --inside own.csv --outside other.csv
    From models trained here:
      goldassay shift build sst2_imdb --from FILES -o sets
      goldassay shift generalization sets/sst2_train.jsonl --test ID=sets/sst2_test.jsonl
        --test imdb=sets/imdb_test.jsonl --model quick_probe
    """


@dataclass(frozen=True)
class Asked:
    """What is asked of every report on shift.

    Attributes:
        draws: Of each interval.
        seed: Of all draws, or None for that of the settings.
        json_file: Where the result goes as well, or None.
        figures: Kind of the figures for a paper, or None.
        latex: Whether the tables are wanted for a paper.
        config: Settings, or None.
        quiet: Print nothing but errors.
    """

    draws: int
    seed: int | None
    json_file: Path | None
    figures: str | None
    latex: bool
    config: Path | None
    quiet: bool

    def measuring(self) -> dict[str, Any]:
        """As the functions that make the reports take it."""
        from goldassay.questions.gating import load_settings

        return {
            "n_draws": self.draws, "seed": self.seed, "settings": load_settings(self.config), "quiet": self.quiet,
        }  # fmt: skip

    def finish(self, report: Report, out: Path) -> None:
        """Write the report where it was asked for, and say what it found."""
        page = save_report(report, out, self.figures, self.latex)
        if self.json_file is not None:
            write_report_json(self.json_file, page)
        if not self.quiet:
            typer.echo(report.summary())
            typer.echo(page)


def _ask(
    *,
    draws: Draws = 1000,
    json_file: JsonFile = None,
    figures: Figures = None,
    latex: Latex = False,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> Asked:
    """Its parameters are the options themselves."""
    from goldassay.report.paper import check_figures

    check_figures(figures)
    return Asked(draws, seed, json_file, figures, latex, config, quiet)


def reports(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every report on shift where it takes `asked`."""
    options = list(inspect.signature(_ask, eval_str=True).parameters.values())
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    at = [parameter.name for parameter in own].index("asked")

    @functools.wraps(command)
    def called(**values: Any) -> None:
        command(asked=_ask(**{option.name: values.pop(option.name) for option in options}), **values)

    # typer reads the options off the signature.
    called.__dict__["__signature__"] = inspect.Signature([*own[:at], *options, *own[at + 1 :]])
    return called
