"""The command line's root: what `goldassay --help` shows."""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from goldassay.errors import InterruptionError


class Interruptible(TyperGroup):
    """Commands whose interruption keeps its message: typer would leave with a bare status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interruption:
            raise InterruptionError(str(interruption)) from interruption
        except SystemError as error:
            # What a signal becomes that arrives while compiled code hands back its result.
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise InterruptionError from error
            raise


app = typer.Typer(
    name="goldassay",
    cls=Interruptible,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_GROUPS = (
    "specimen",
    "audit",
    "artifacts",
    "leakage",
    "runs",
    "runs_summary",
    "instability",
    "compare",
    "train",
    "sweep",
    "split",
    "shift",
    "check",
    "diff",
    "studies",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from goldassay.version import __version__

        typer.echo(f"goldassay {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def goldassay(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave."),
    ] = False,
) -> None:
    """Say how far a text benchmark, and a score reported on it, can be trusted.

    \b
    Four questions are asked of a dataset, and of predictions made on it:
      artifacts     which surface patterns give the label away?
      leakage       how much of the label can be read from a part of the input?
      instability   would the score come out the same with another random seed?
      shift         does the score hold on other data?

    \b
    To see it work, make a specimen with known flaws and audit it:
      goldassay specimen -o specimen
      goldassay audit specimen/train.jsonl --test specimen/test.jsonl -o report
    """
    if context.invoked_subcommand is None and not version:
        typer.echo(context.get_help())


for _group in _GROUPS:
    importlib.import_module(f"goldassay.cli.{_group}")
