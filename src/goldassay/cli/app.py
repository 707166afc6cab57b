"""The command line's root: what `goldassay --help` shows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from goldassay.cli.options import GENERAL, GROUPS
from goldassay.core.errors import InputError, InterruptionError

# By command and parameter: what to write instead of a second value.
_INSTEAD = {
    ("audit", "test"): "give one evaluation set, and others as --elsewhere NAME=FILE",
    ("detection", "out"): "give the folder once, and other distributions as --outside NAME=RUNS",
}
# By command and spelling: how an option is spelled that had a name with two meanings. With a sign, only values that
# hold the sign are meant.
_MOVED = {
    ("artifacts mine", "--condition"): ("--by", ""),
    ("audit", "--labels"): ("--label-names", ""),
    ("leakage measure", "--threshold"): ("--cluster-threshold", ""),
    ("shift detection", "--folder"): ("--out", ""),
    ("shift detection", "--in"): ("--inside", ""),
    ("shift detection", "--out"): ("--outside", "="),
    ("shift generalization", "--size"): ("--parameters", ""),
    ("train", "--seeds"): ("--seed-list", ","),
    ("train", "--sizes"): ("--configuration", ""),
    **{
        (command, "--gold"): ("--test", "")
        for command in (
            "board",
            "compare",
            "instability",
            "runs export",
            "runs import",
            "runs scores",
            "runs show",
            "runs summarize",
            "sensitivity",
            "shift detection",
            "shift generalization",
        )
    },
}

# What `goldassay --help` lists, by task.
TASKS = {
    "Audit and gate": ("audit", "view", "mend", "check", "diff", "specimen"),
    "Single questions": ("artifacts", "leakage", "instability", "sensitivity", "compare", "board", "shift", "overlap"),
    "Data and runs": ("split", "runs"),
    "Training and papers": ("train", "sweep", "studies"),
}


class Interruptible(TyperGroup):
    """The root: its help lists commands by task, and an interruption keeps its message."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then the commands of each task."""
        _write_grouped(self, ctx, formatter)
        for task, names in TASKS.items():
            with formatter.section(task):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=100)) for name in names])

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


class SingleValued(TyperCommand):
    """A command that refuses a second value of an option that takes one, instead of dropping the first.

    Its help lists the options by what they are about, and an option that was renamed is refused with its new name.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options of each group."""
        _write_grouped(self, ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line.

        Raises:
            InputError: An option that takes one value is given several times, a switch is set on and off, or an
                option is given by a name that it had before.
        """
        if not ctx.resilient_parsing:
            _refuse_moved(ctx.command_path.partition(" ")[2], args)
            order = self.make_parser(ctx).parse_args(args=list(args))[2]
            for option in (each for each in self.get_params(ctx) if each.param_type_name == "option"):
                self._refuse_second(option, order.count(option), args)
        return list(super().parse_args(ctx, args))

    def _refuse_second(self, option: Any, n_given: int, args: list[str]) -> None:
        if n_given < 2 or option.multiple or option.count:
            return
        name = max(option.opts, key=len)
        if not option.is_flag:
            mend = _INSTEAD.get((str(self.name), str(option.name)), f"give {name} once")
            raise InputError(f"{name} is given {n_given} times, and takes one value", mend=mend)
        if set(args) & set(option.opts) and set(args) & set(option.secondary_opts):
            raise InputError(f"{name} and {option.secondary_opts[0]} are both given", mend="give one of them")


def _refuse_moved(command: str, args: list[str]) -> None:
    given_names = {argument.partition("=")[0] for argument in args}
    for position, argument in enumerate(args):
        name, sign, value = argument.partition("=")
        new, needed = _MOVED.get((command, name), ("", ""))
        given = value if sign else "".join(args[position + 1 : position + 2])
        # Where the new name is given too, the old one is meant as it is now.
        if new and needed in given and not (needed and new in given_names):
            shown = f"{name} {given}" if needed else name
            raise InputError(f"{shown!r} is spelled {new} in this command", mend=f"write {new} in its place")


def _write_grouped(command: Any, ctx: Any, formatter: Any) -> None:
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{group: [] for group in GROUPS}}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            option = parameter.param_type_name == "option"
            # What has no group, such as --help, is general.
            sections[(parameter.rich_help_panel or GENERAL) if option else "Arguments"].append(record)
    for name, records in sections.items():
        if records:
            with formatter.section(name):
                formatter.write_dl(records)


class Commands(typer.Typer):
    """A group whose commands are `SingleValued`."""

    def command(self, *arguments: Any, **named: Any) -> Callable[[Any], Any]:
        """As `typer.Typer.command`."""
        return super().command(*arguments, **{"cls": SingleValued, **named})


app = Commands(
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
    "runs_scores",
    "runs_summary",
    "instability",
    "sensitivity",
    "board",
    "overlap",
    "compare",
    "train",
    "sweep",
    "split",
    "shift",
    "view",
    "mend",
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
    Five questions are asked of a dataset, and of predictions made on it:
      artifacts     which surface patterns give the label away?
      leakage       how much of the label can be read from a part of the input?
      instability   would the score come out the same with another random seed?
      shift         does the score hold on other data?
      overlap       was the test set seen in training?

    \b
    To see it work, make a specimen with known flaws and audit it:
      goldassay specimen -o specimen
      goldassay audit specimen/train.jsonl --test specimen/test.jsonl -o report
    """
    if context.invoked_subcommand is None and not version:
        typer.echo(context.get_help())


for _group in _GROUPS:
    importlib.import_module(f"goldassay.cli.{_group}")
