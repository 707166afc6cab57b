"""`goldassay specimen`, `split`, `mend`, `view`, and what is shown of `shift build`: data made, parted and changed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldassay.cli.output import Output, as_text, settings_lines, write_json
from goldassay.core.commands import command
from goldassay.core.errors import InputError
from goldassay.core.options import (
    Align,
    Clean,
    Columns,
    ColumnsText,
    Decisions,
    Disjoint,
    Export,
    Folder,
    Format,
    Json,
    Kind,
    NamedRunPaths,
    NoTexts,
    Port,
    Quiet,
    Repeats,
    Seed,
    SettingsOrFile,
    Size,
    SplitBy,
    State,
    Test,
    TestShare,
    TestSize,
    place,
)

if TYPE_CHECKING:
    from goldassay.questions.shift.building import Benchmark

USUAL_SIZE, MOST_ROWS = 20_000, 10_000_000


@command()
def specimen(
    out: Folder,
    kind: Kind = "pairs",
    size: Size = None,
    test_size: TestSize = None,
    seed: Seed = None,
    clean: Clean = False,
    quiet: Quiet = False,
) -> None:
    """Write a made-up benchmark whose flaws are known, to try the audit on.

    Four files of sentence pairs (train.jsonl, dev.jsonl, test.jsonl, elsewhere.jsonl: a premise, a hypothesis, and
    whether the premise entails the hypothesis, contradicts it, or leaves it open); runs/, what ten runs of a
    made-up model answered on test and elsewhere; and certificate.json, which lists every flaw that was planted:
    phrases that give the label away and how often they do, topics that lean to one label, groups of examples that
    stand or fall together, how far the score moves from run to run and what it loses elsewhere, where nothing was
    planted, duplicates, and rows shared by train and test.

    Items are one file: multiple choice, preferences, or judgments by three judges. Their certificate lists what each
    rule without training gains, phrases that give the right one away, items that cannot be right, and of judges what
    the seat, the length and their own model add. A corpus is a test set and documents in which copies of its items are
    planted: exact, with other line breaks, other punctuation, one word in 13 changed, and in other words.
    """
    if kind == "pairs":
        from goldassay.runs.specimen import write_specimen

        paths = write_specimen(
            out, size=USUAL_SIZE if size is None else _rows(size), seed=seed or 0, clean=clean, test_size=test_size
        )
    elif kind == "corpus":
        from goldassay.data.specimen.corpus_specimen import USUAL_SIZE as USUAL_DOCUMENTS
        from goldassay.data.specimen.corpus_specimen import documents_of, write_corpus_specimen

        if test_size is not None:
            raise InputError("--test-size: the test set of a corpus has its own size", mend="leave it out")
        asked = str(USUAL_DOCUMENTS) if size is None else size
        n = documents_of(asked) if any(map(str.isalpha, asked)) else _rows(asked)
        paths = write_corpus_specimen(out, n, seed or 0, clean=clean)
    else:
        from goldassay.data.specimen.item_kinds import USUAL_SIZE as USUAL_ITEMS
        from goldassay.data.specimen.item_kinds import write_item_specimen

        if test_size is not None:
            raise InputError(f"--test-size: a specimen of {kind} is one file", mend="leave it out, and give --size")
        paths = write_item_specimen(out, kind, USUAL_ITEMS if size is None else _rows(size), seed or 0, clean=clean)
    if not quiet:
        for path in paths:
            typer.echo(path)


def _rows(size: str) -> int:
    """A number of rows.

    Raises:
        InputError: It is none, or more than are made.
    """
    n = int(size) if size.isdecimal() and len(size) < 10 else 0
    if not 0 < n <= MOST_ROWS:
        raise InputError(f"--size is {size!r}", mend=f"give a number of rows from 1 to {MOST_ROWS:,}")
    return n


@command()
def split(
    data: Annotated[Any, place("A dataset: a file, a folder, or a name on the Hugging Face hub.", "FILE")],
    out: Folder,
    disjoint: Disjoint = None,
    split_by: SplitBy = None,
    test_share: TestShare = None,
    seed: Seed = None,
    repeats: Repeats = 1,
    columns: Columns = None,
    format: Format = "auto",  # noqa: A002
    json: Json = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = False,
) -> None:
    """Split a dataset into train.jsonl and test.jsonl such that no sentence and no group is in both.

    Sentences are compared without case and with single spaces, whatever their role, and near copies count as the same.
    A group is a value of a column given as group, or of --split-by: a writer, a batch of rewritten rows. Rows that hang
    together through shared sentences or groups stay together where they can; where they cannot, the rows that would
    bridge the parts are dropped, and counted. With --repeats the splits lie in seed_0, seed_1, ...: what a model scores
    on each shows how much of a score is luck in splitting.
    """
    from goldassay.core.numbers import count
    from goldassay.core.progress import Steps
    from goldassay.core.settings import chosen
    from goldassay.data.reading import open_source
    from goldassay.data.splits import columns_to_split_by
    from goldassay.data.splits import split as run
    from goldassay.questions.artifacts.reports import as_json
    from goldassay.runs.kinds.opening import texts_of

    used = chosen(settings, seed, split_by=split_by, test_share=test_share)
    steps = Steps(quiet)
    with steps.step("reading the data"):
        dataset = texts_of(open_source(data, "data", format, columns=columns), columns)
    with steps.step("splitting") as progress:
        result = run(
            dataset,
            disjoint,
            used.data.test_share,
            range(used.seed, used.seed + repeats),
            columns_to_split_by(used.data.split_by),
            progress,
        )
    paths = result.save(out)
    if json is not None:
        write_json(json, as_json(result.to_dict()))
    if quiet:
        return
    for line in settings_lines(used):
        typer.echo(line)
    for number, (train, test) in result.parts.items():
        lost = len(dataset) - len(train) - len(test)
        typer.echo(f"seed {number}: {count(len(train))} train, {count(len(test))} test, {count(lost)} dropped")
    for kept in dict.fromkeys(train.provenance.kept_together for train, _ in result.parts.values()):
        typer.echo(f"kept together: {', '.join(('rows with the same sentence', *kept))}")
    for path in paths:
        typer.echo(path)


@command()
def mend(
    data: Annotated[Path, place("The dataset file that decisions were made about.", "DATA")],
    out: Folder,
    decisions: Decisions = None,
    runs: NamedRunPaths = None,
    align: Align = "exact",
    columns: ColumnsText = None,
    format: Format = "auto",  # noqa: A002
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Write a dataset anew: rows dropped, relabelled and rewritten as decided, and changes.jsonl with every change.

    Decisions are found by the content of rows, so that a reordered file still fits; those that fit no row are counted
    and change nothing. The dataset itself is read and never changed. Audit the mended file, and goldassay diff says
    what changed.

    With --runs the predictions are written to OUT/runs for the mended rows: without dropped and rewritten ones, which
    no model has answered, and scored by the new labels.
    """
    from goldassay.core.files import check_not_read
    from goldassay.data.mending import mend_dataset
    from goldassay.questions.artifacts.reports import as_json
    from goldassay.questions.matching import FOLDER, mend_runs, write_mended_runs

    mended = mend_dataset(data, decisions, columns=columns, file_format=format)
    sets, said = mend_runs(mended, runs, Path(out) / FOLDER, columns=columns, align=align) if runs else ([], [])
    if json is not None:
        check_not_read(Path(json), mended.read, "--json")
    paths = mended.save(out)
    if sets:
        paths.append(write_mended_runs(sets, Path(out) / FOLDER))
    if json is not None:
        write_json(json, as_json({**mended.to_dict(), "runs": said}), inputs=mended.read)
    if not quiet:
        for line in (*mended.lines(), *(f"- {each}" for each in said)):
            typer.echo(line)
        for path in paths:
            typer.echo(path)


@command()
def view(
    report: Annotated[Path, place("The folder of a report, or its report.json.", "REPORT")],
    test: Test = None,
    decisions: Decisions = None,
    port: Port = 0,
    export: Export = None,
    state: State = "",
    no_texts: NoTexts = False,
    quiet: Quiet = False,
) -> None:
    """Look through all rows of a report on a local page: filter, search, sort, and open each one in full.

    Decisions (keep, rewrite, relabel, drop, a note) are appended, each at once, to NAME.decisions.jsonl beside the
    dataset, where a new audit finds them; goldassay mend applies them. Only programs of this machine that know the
    address with its token reach the page, and the page asks nothing of any other machine. Ctrl-C ends it.

    With --export a selection is written as one static file, at most 1,000 rows; with --no-texts by ids alone.
    """
    from goldassay.core.files import check_not_read, written_whole
    from goldassay.view.opening import open_workbench, real
    from goldassay.view.page import render_export
    from goldassay.view.server import serve

    if state and export is None:
        raise InputError("--state is given without --export", mend="open the address with the state after its ?")
    if no_texts and export is None:
        raise InputError("--no-texts is given without --export", mend="name a file with --export FILE")
    bench = open_workbench(report, test, decisions, deciding=export is None)
    asked = bench.state(state)
    if export is not None:
        check_not_read(export, (each for each in (bench.dataset, bench.decisions) if each is not None), "--export")
        if real(export).is_relative_to(real(bench.folder)):
            raise InputError("is within the report", file=export, mend="name a place outside of it with --export")
        page = render_export(bench, asked, bench.selector.select(asked), with_texts=not no_texts)
        with written_whole(export, "--export") as aside:
            aside.write_text(page, "utf-8")
        for note in bench.notes:
            typer.echo(note, err=True)
        if asked.page > 1:
            typer.echo(f"--state: page={asked.page} is left out: the file has all pages of the selection", err=True)
        if not quiet:
            typer.echo(export)
        return

    def announce(address: str) -> None:
        for note in bench.notes:
            typer.echo(note, err=True)
        if not quiet and bench.decisions is not None and not bench.locked:
            typer.echo(f"decisions go to {bench.decisions}", err=True)
        typer.echo(address)

    serve(bench, port, announce)


def list_recipes(given: dict[str, Any]) -> bool:
    """Print the recipes of benchmarks where neither one nor a column is named; whether it did."""
    if given.keys() & {"name", "by"}:
        return False
    from goldassay.questions.shift.benchmarks import load_recipe, recipe_names

    names = recipe_names()
    width = max(map(len, names))
    for name in names:
        recipe = load_recipe(name)
        typer.echo(f"{name:<{width}}  {recipe.title}: {recipe.task}; {recipe.metric.replace('_', ' ')}")
        typer.echo(f"{'':<{width}}  from {recipe.source}")
    return True


def show_benchmark(built: Benchmark, output: Output) -> None:
    """Write a benchmark, and print its sizes and the command that it is for."""
    out = output.out or Path()
    paths = built.save(out)
    if output.json is not None:
        write_json(output.json, as_text(built.to_dict()))
    if output.quiet:
        return
    sizes = {
        domain: {name: part.height for name, part in parts.items()} for domain, parts in built.splits.parts.items()
    }
    width = max(map(len, sizes))
    for domain, parts in sizes.items():
        typer.echo(f"{domain:<{width}}  " + "  ".join(f"{name} {count:>7,}" for name, count in parts.items()))
    for reason, count in built.splits.dropped.items():
        typer.echo(f"left out: {count:,} {'row' if count == 1 else 'rows'}: {reason}")
    equal = sum(check.equal for check in built.splits.checks)
    if built.splits.checks:
        typer.echo(f"sizes: {equal} of {len(built.splits.checks)} are as expected")
    for note in [*built.notes(), *built.splits.decisions]:
        typer.echo(f"note: {note.rstrip('.')}.")
    typer.echo(paths[-1])
    typer.echo(f"next: {shlex.join(_next(built, out))}")


def _next(built: Benchmark, out: Path) -> list[str]:
    """The command that measures what the benchmark was built for."""
    first = built.to_dict()["experiments"][0]
    sets = {"ID": first["in_distribution"], **first["out_of_distribution"]}
    command = ["goldassay", "shift", "generalization"]
    if built.recipe.metric == "exact_match":
        # Nothing here learns to answer questions.
        command += ["--in-distribution", "ID", "--metric", "exact_match"]
        for name, file in sets.items():
            command += ["--runs", f"{name}=PREDICTIONS", "--test", f"{name}={out / file}"]
        return command
    command.append(str(out / first["train"]))
    for name, file in sets.items():
        command += ["--test", f"{name}={out / file}"]
    return [*command, "--model", "ridge" if built.has_numbers else "quick_probe"]
