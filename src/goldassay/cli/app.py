"""The command line's root: every command with its function, and what `goldassay --help` shows."""

from __future__ import annotations

import re
from copy import copy
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from goldassay.cli.generate import Command, typer_function
from goldassay.core.errors import InputError, InterruptionError
from goldassay.core.options import GENERAL, GROUPS, PLACE

_QUESTIONS, _LINES = "goldassay.questions", "goldassay.cli.lines"
_REPORT = ("out", "json", "figures", "latex", "no_texts")
_MEASURED = ("json", "figures", "latex", "paper_tables", "no_texts")
COMMANDS = {
    "specimen": Command(
        "goldassay.cli.data:specimen", "Write a made-up benchmark whose flaws are known.", "-o specimen"
    ),
    "look": Command(
        f"{_QUESTIONS}.public:look",
        "Say what a file is, which questions it supports, and the next command.",
        "train.jsonl",
        f"{_LINES}:show_look",
        ("json", "quiet"),
    ),
    "audit": Command(
        f"{_QUESTIONS}.public:audit",
        "Audit a benchmark: a report with a verdict for each question.",
        "train.jsonl --test test.jsonl --runs runs -o report",
        f"{_LINES}:show_summary",
        ("json", "no_texts"),
        "goldassay-report",
    ),
    "artifacts mine": Command(
        "goldassay.cli.artifacts:mine",
        "Count every pattern and how often it goes with each label.",
        "train.jsonl --test test.jsonl -o patterns",
        out="goldassay-artifacts",
    ),
    "artifacts assign": Command(
        "goldassay.cli.artifacts:assign",
        "Part a test set into easy, hard, conflicting and uncovered examples.",
        "train.jsonl --test test.jsonl -o subsets",
        out="goldassay-subsets",
    ),
    "artifacts gap": Command(
        "goldassay.cli.artifacts:gap",
        "Accuracy of any runs on full, easy and hard, and the gap.",
        "subsets/subsets.parquet --runs runs",
    ),
    "artifacts classify": Command(
        "goldassay.cli.artifacts:classify",
        "How far classifiers get that see only the hypothesis.",
        "train.jsonl --test test.jsonl",
        out="goldassay-classifiers",
    ),
    "artifacts downsample": Command(
        "goldassay.cli.artifacts:downsample",
        "Keep a balanced training set without patterns, or its random control.",
        "train.jsonl --threshold 0.7",
        out="goldassay-downsampled",
    ),
    "leakage measure": Command(
        f"{_QUESTIONS}.leakage.command:measure_leakage",
        "Measure how much of the label a part of the input gives away, and where.",
        "train.jsonl --test test.jsonl",
        f"{_LINES}:show_leakage",
        _MEASURED,
        "goldassay-leakage",
    ),
    "leakage suggest": Command(
        f"{_QUESTIONS}.leakage.command:suggest_rewrites",
        "Rank the rows to rewrite first, and measure what leakage falls to without them.",
        "train.jsonl",
        f"{_LINES}:show_summary",
        ("out", "json", "no_texts"),
        "goldassay-suggest",
    ),
    "runs list": Command("goldassay.cli.runs:list_", "List what is there, without reading the predictions.", "logs"),
    "runs show": Command(
        "goldassay.cli.runs:show", "Show the runs: seeds, checkpoints, labels, groups, scores.", "logs"
    ),
    "runs import": Command(
        "goldassay.cli.runs:import_", "Convert predictions of any known format to Parquet.", "logs -o runs"
    ),
    "runs export": Command(
        "goldassay.cli.runs:export",
        "Write runs of any known format for others: Every Eval Ever, scores for model cards, or one long table.",
        "logs --to long -o table",
    ),
    "runs scores": Command(
        "goldassay.cli.runs:scores", "Show every score with its intervals, and compare the models.", "logs"
    ),
    "runs summarize": Command(
        "goldassay.cli.runs:summarize",
        "Mean, spread and effective size at each checkpoint, of any number of runs.",
        "runs",
    ),
    "instability": Command(
        f"{_QUESTIONS}.instability.command:measure_instability",
        "Say how far a score moves from seed to seed, and why.",
        "runs --test test.jsonl",
        f"{_LINES}:show_summary",
        ("out", *_MEASURED),
        "goldassay-instability",
    ),
    "answered": Command(
        f"{_QUESTIONS}.answered.command:measure_answered",
        "Say whether every answer was scored, and by which rule.",
        "logs",
        f"{_LINES}:show_answered",
        ("out", "json", "no_texts"),
    ),
    "sensitivity": Command(
        f"{_QUESTIONS}.sensitivity.command:measure_sensitivity",
        "Say how far a score moves with the prompt, the shots, the temperature.",
        "logs --claim 2",
        f"{_LINES}:show_sensitivity",
        ("out", "json", "no_texts"),
    ),
    "board": Command(
        f"{_QUESTIONS}.board.command:rank_systems",
        "Rank systems on the same items, and say which ranks are significant.",
        "scores.csv",
        f"{_LINES}:show_board",
        ("out", "json", "no_texts"),
    ),
    "overlap": Command(
        f"{_QUESTIONS}.overlap.command:measure_overlap",
        "Search training data for the items of a test set.",
        "test.jsonl --corpus corpus -o overlap",
        f"{_LINES}:show_overlap",
        ("json", "no_texts"),
    ),
    "compare": Command(
        f"{_QUESTIONS}.comparison.command:compare_models",
        "Say whether model A is better than model B, seeds and examples allowed for.",
        "runs_a runs_b",
        f"{_LINES}:show_comparison",
        _REPORT,
    ),
    "train": Command(
        "goldassay.lab.training.command:train",
        "Train a network with several seeds, and keep what the measures need.",
        "train.jsonl --model ngram_average --seeds 10 --test test.jsonl -o runs",
        "goldassay.cli.training:show_training",
        ("json",),
        "runs",
    ),
    "sweep": Command(
        "goldassay.cli.training:sweep",
        "Train models x training sets x conditions x seeds, from a plan.",
        "plan.toml -o runs",
    ),
    "split": Command(
        "goldassay.cli.data:split",
        "Split a dataset such that no sentence is in both parts.",
        "data.jsonl -o split",
        out="goldassay-split",
    ),
    "shift build": Command(
        f"{_QUESTIONS}.shift.command:build_shift",
        "Build the splits of a benchmark of several domains.",
        "sst2_imdb --source published -o sets",
        "goldassay.cli.data:show_benchmark",
        ("out", "json"),
        "goldassay-benchmark",
        "goldassay.cli.data:list_recipes",
    ),
    "shift generalization": Command(
        f"{_QUESTIONS}.shift.command:measure_shift",
        "Say what a score loses on other distributions.",
        "train.jsonl --test ID=test.jsonl --test far=far.jsonl",
        f"{_LINES}:show_summary",
        _MEASURED,
        "goldassay-shift",
    ),
    "shift detection": Command(
        f"{_QUESTIONS}.shift.command:detect_shift",
        "Say whether a model's confidence separates other data from its own.",
        "--inside own=own.csv --outside far=far.csv -o report",
        f"{_LINES}:show_summary",
        ("out", *_MEASURED),
        "goldassay-shift",
    ),
    "view": Command(
        "goldassay.cli.data:view", "Look through all rows of a report in the browser, and decide about them.", "report"
    ),
    "mend": Command(
        "goldassay.cli.data:mend",
        "Write a dataset anew with the decisions about its rows, and a log of every change.",
        "train.jsonl",
        out="goldassay-mend",
    ),
    "check": Command(
        f"{_QUESTIONS}.public:check",
        "Hold a report against the policy in goldassay.toml; exit with 1 if a rule is broken.",
        "report",
        f"{_LINES}:show_check",
        ("junit", "json", "quiet"),
    ),
    "diff": Command(
        f"{_QUESTIONS}.public:diff",
        "Lay two reports side by side: what changed when a dataset or a model was mended.",
        "before after",
        f"{_LINES}:show_diff",
        ("out", "json", "quiet"),
        "goldassay-diff",
    ),
    "paste": Command(
        f"{_QUESTIONS}.public:paste",
        "Print a report in twelve lines of Markdown; fill in the RAI fields of a Croissant file.",
        "report --croissant croissant.json",
        f"{_LINES}:show_paste",
    ),
    "studies": Command(
        "goldassay.cli.training:studies",
        "Run a paper's whole experiment and compare its tables and figures with ours.",
        "instability --scale smoke -o smoke",
    ),
}
_GROUPS = {
    "artifacts": (
        "Find the word patterns that give labels away.",
        """Find the word patterns that give labels away, and what to do about them.

A pattern is a few tokens in order with an exact number of skipped ones between: "A # # outdoors ." Patterns are
mined from training data; a test example is easy if those it holds speak for its label, hard if they speak
against it.""",
    ),
    "leakage": (
        "Measure what a part of the input gives away of the label.",
        """Measure what a part of the input gives away of the label, and say which rows to rewrite first.

A task about a pair of texts cannot be solved from one of them alone. Where a model of the hypothesis alone does
better than naming the most frequent label, it reads something that should not be there.""",
    ),
    "runs": (
        "See what predictions are there, and convert them.",
        """See what predictions are there, whichever tool wrote them, and convert them.

Formats are recognized by content: goldassay's Parquet, tables in CSV, TSV, JSONL and Parquet (a row a
prediction, or a column a run), NumPy archives, lm-evaluation-harness samples, inspect_ai logs, cartography
dynamics, Trainer outputs, lighteval details, HELM runs, ChaosNLI predictions, Every Eval Ever records, HANS and
SQuAD prediction files, folders seed_K/-DATASET.""",
    ),
    "shift": (
        "Say whether a score holds elsewhere, and whether the model knows.",
        """Say whether a score holds on another distribution, and whether the model knows when it has left its own.

\b
From predictions that you have:
  goldassay shift generalization --runs own=own.csv --runs other=other.csv --in-distribution own
  goldassay shift detection --inside own.csv --outside other.csv
From models trained here:
  goldassay shift build sst2_imdb --source FILES -o sets
  goldassay shift generalization sets/sst2_train.jsonl --test ID=sets/sst2_test.jsonl
    --test imdb=sets/imdb_test.jsonl --model quick_probe""",
    ),
}
# Marks a help that shows every option, and how many characters a value may have in the short one.
_SHOWS_ALL, _LONGEST_VALUE = "goldassay.help_all", 22
# By command and parameter: what to write instead of a second value.
_INSTEAD = {
    ("audit", "test"): "give one evaluation set, and others as --elsewhere NAME=FILE",
    ("detection", "out"): "give the folder once, and other distributions as --outside NAME=RUNS",
}
# What `goldassay --help` lists, by task.
TASKS = {
    "Audit and gate": ("look", "audit", "view", "mend", "check", "diff", "paste", "specimen"),
    "Single questions": (
        *("answered", "artifacts", "leakage", "instability", "sensitivity", "compare", "board", "shift", "overlap"),
    ),
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

    `--help` is one screen: the main options, a line each. `--help-all` has all, by what they are about.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The arguments and the options that are required, as they are declared."""
        pieces, parameters = [], list[Any](self.params)
        for each in parameters:
            if each.param_type_name == "argument":
                pieces.append(each.metavar)
            elif each.required:
                pieces.append(f"{max(each.opts, key=len)} {each.metavar}")
        return [*pieces, "[OPTIONS]"]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what it does: its first paragraph, or all of them."""
        with formatter.indentation():
            formatter.write_paragraph()
            text = self.help or ""
            formatter.write_text(text if _SHOWS_ALL in ctx.meta else text.partition("\n\n")[0])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the main options, or those of each group."""
        if _SHOWS_ALL in ctx.meta:
            _write_grouped(self, ctx, formatter)
            return
        declared, parameters = _declared(ctx).parameters(), list[Any](self.params)
        places = [_record(each, ctx) for each in parameters if each.param_type_name == "argument"]
        options = [each for each in parameters if each.param_type_name == "option"]
        main = sorted(
            (each for each in options if declared[each.name].option.main or each.required),
            key=lambda each: (not each.required, GROUPS.index(each.rich_help_panel)),
        )
        for name, records in ((PLACE, places), ("Main options", [_in_short(each, ctx) for each in main])):
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write an example, and where all options are."""
        with formatter.section("Example"):
            formatter.write(f"  {ctx.command_path} {_declared(ctx).example}\n")
        if _SHOWS_ALL not in ctx.meta:
            formatter.write_paragraph()
            formatter.write(f"Every option: {ctx.command_path} --help-all, or docs/options.md\n")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line.

        Raises:
            InputError: An option that takes one value is given several times, or a switch is set on and off.
        """
        if not ctx.resilient_parsing:
            if "--help-all" in args:
                ctx.meta[_SHOWS_ALL] = True
                args = ["--help"]
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


def _declared(ctx: Any) -> Command:
    """The declaration of the command that is called."""
    words = []
    while ctx.parent is not None:
        words.append(ctx.info_name)
        ctx = ctx.parent
    return COMMANDS[" ".join(reversed(words))]


def _record(parameter: Any, ctx: Any) -> tuple[str, str] | None:
    """A parameter and its help; an argument as it is declared."""
    found: tuple[str, str] | None = parameter.get_help_record(ctx)
    return found if parameter.param_type_name == "option" or found is None else (parameter.metavar, parameter.help)


def _in_short(option: Any, ctx: Any) -> tuple[str, str]:
    """An option and the first sentence of its help, on one line."""
    short = copy(option)
    short.help = re.split(r"(?<=[.]) ", option.help, maxsplit=1)[0] + (" Repeatable." if option.multiple else "")
    # The usage has those that are required.
    short.required = False
    if "|" in (option.metavar or "") and len(option.metavar) > _LONGEST_VALUE:
        short.metavar = f"{option.metavar[: _LONGEST_VALUE - 4].rpartition('|')[0]}|...>"
    found: tuple[str, str] = short.get_help_record(ctx)
    return found


def _write_grouped(command: Any, ctx: Any, formatter: Any) -> None:
    sections: dict[str, list[tuple[str, str]]] = {PLACE: [], **{group: [] for group in GROUPS}}
    for parameter in command.get_params(ctx):
        record = _record(parameter, ctx)
        if record is not None:
            option = parameter.param_type_name == "option"
            # What has no group, such as --help, is general.
            sections[(parameter.rich_help_panel or GENERAL) if option else PLACE].append(record)
    for name, records in sections.items():
        if records:
            with formatter.section(name):
                formatter.write_dl(records)


app = typer.Typer(
    name="goldassay",
    cls=Interruptible,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
    An audit asks up to six questions of a dataset, logs or a leaderboard:
      artifacts     which surface patterns give the label away?
      leakage       how much of the label can be read from a part of the input?
      answered      was every answer scored, and by which rule?
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


def _group(name: str) -> typer.Typer:
    short, text = _GROUPS[name]
    group = typer.Typer(no_args_is_help=name != "runs", rich_markup_mode=None)

    def callback(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    callback.__doc__ = text
    group.callback(invoke_without_command=name == "runs")(callback)
    app.add_typer(group, name=name, short_help=short)
    return group


_groups = {name: _group(name) for name in _GROUPS}
for _words, _spec in COMMANDS.items():
    _parent, _, _name = _words.rpartition(" ")
    _typer = _groups[_parent] if _parent else app
    _typer.command(_name, short_help=_spec.short, cls=SingleValued)(typer_function(_spec))
# Who runs several commands in one process has them made once.
root = get_command(app)
