"""`goldassay artifacts`: find the patterns that give labels away, and what to do about them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from goldassay.cli.output import settings_lines, write_json
from goldassay.core.commands import command
from goldassay.core.errors import InputError, one_line
from goldassay.core.options import (
    Align,
    By,
    ByClassifier,
    ChosenModels,
    ClassColumn,
    Clusters,
    Columns,
    Condition,
    Dataset,
    Folder,
    Grades,
    Json,
    Labels,
    Memory,
    Missing,
    Mode,
    Names,
    NoTexts,
    Out,
    PaperTables,
    Patterns,
    Q,
    Quiet,
    RunPaths,
    Seed,
    Seeds,
    SettingsOrFile,
    Test,
    Threshold,
    Train,
    place,
)
from goldassay.questions.artifacts.command import ReadingOptions, of_reading

if TYPE_CHECKING:
    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset as Data
    from goldassay.questions.artifacts.question import MinedArtifacts
    from goldassay.questions.artifacts.streamed import StreamedArtifacts
    from goldassay.report.report import Report

_HEADS = {
    "probability": "share, %",
    "q_value": "q",
    "n_folded": "folded",
    "test_support": "test support",
    "test_probability": "test share, %",
}


@command()
def mine(
    train: Annotated[
        Any,
        place(
            "Training data: a file, a folder, or a name on the Hugging Face hub; with --memory several files too, "
            "taken as one.",
            "TRAIN...",
            repeat=True,
        ),
    ],
    out: Folder,
    test: Test = None,
    by: By = None,
    memory: Memory = None,
    paper_tables: PaperTables = False,
    no_texts: NoTexts = False,
    json: Json = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = False,
    **reading: Unpack[ReadingOptions],
) -> None:
    """Count every pattern of the training data and how often it goes with each label.

    Writes patterns (all that are frequent enough, with their statistics), findings (significant beyond q = .01, with
    a share above .7, unless the settings say otherwise; a pattern that adds nothing to a more frequent part of itself
    is listed under that part), and with --by patterns_by_value; each as Parquet and CSV. Writes a report too,
    with a sample of the examples behind each pattern. Prints the strongest findings of each label, and with --test how
    many of all are confirmed there. With --paper-tables, Table 1 of Liu et al. 2020, and with --test also Table 2, for
    which classifiers are trained, and Table 3.
    """
    from goldassay.core.progress import Steps
    from goldassay.questions.artifacts.question import study_artifacts
    from goldassay.questions.artifacts.reports import as_json, texts_of_datasets
    from goldassay.questions.provenance import data_notes

    steps = Steps(quiet)
    used, bounds, files = of_reading(settings, seed, reading)
    if memory is not None:
        if paper_tables:
            raise InputError("--paper-tables needs all data at once", mend="leave out --memory or --paper-tables")
        if no_texts:
            raise InputError("--no-texts needs all data at once", mend="leave out --memory or --no-texts")
        from goldassay.questions.artifacts.streamed import mine_files

        with plain_warnings():
            streamed = mine_files(
                train, out, bounds, memory, condition=by, test=test, steps=steps, settings=used, **files
            )
        if json is not None:
            write_json(json, as_json(streamed.to_dict()))
        if not quiet:
            print_settings(used)
            print_dropped(streamed.name, streamed.n_read, streamed.dropped)
            print_dropped_of(streamed.test)
            _judge(streamed.report)
            _describe_mined(streamed, streamed.to_dict(), test)
            print_paths(streamed.paths)
        return
    if len(train) > 1:
        raise InputError("several files are taken as one only part by part", mend="add --memory 2GB, or give one")
    with plain_warnings():
        study = study_artifacts(train[0], test, bounds, condition=by, settings=used, steps=steps, **files)
    evidence, result = study.evidence, study.mined
    also = {}
    if paper_tables:
        from goldassay.questions.artifacts.printed import lay_out
        from goldassay.report.paper import printed_files

        tried = None if evidence.test is evidence.train else evidence.test
        with plain_warnings(), steps.step("laying out the paper's tables") as progress:
            threshold = used.artifacts.threshold
            also = printed_files(lay_out(evidence.train, tried, result.patterns, bounds, threshold, progress))
    tested = [] if evidence.test is evidence.train else [evidence.test]
    hidden = texts_of_datasets(evidence.train, *tested) if no_texts else None
    paths = result.save(out, study.report, also, hidden)
    figures = result.to_dict() if hidden is None else hidden.hide(result.to_dict())
    if json is not None:
        write_json(json, as_json(figures))
    if not quiet:
        print_settings(used)
        print_dropped_of(evidence.train, *tested)
        for note in data_notes(evidence.train, evidence.test, None, evidence.decisions):
            print_line(note)
        _judge(study.report)
        _describe_mined(result, figures, test)
        print_paths(paths)


@command()
def assign(
    test: Test,
    train: Annotated[Any, place("Training data, to mine; not needed with --patterns.", "[TRAIN]")] = None,
    *,
    out: Folder,
    threshold: Threshold = None,
    patterns: Patterns = None,
    q: Q = None,
    by_classifier: ByClassifier = False,
    no_texts: NoTexts = False,
    json: Json = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = False,
    **reading: Unpack[ReadingOptions],
) -> None:
    """Part a test set into easy, hard, conflicting and uncovered examples.

    With L the labels of the patterns that an example holds, mined on training data: easy if L is its label alone,
    hard if its label is not in L, conflicting if it is one of several, uncovered if L is empty. Writes subsets (each
    example with its class and the patterns that decided it) and patterns, as Parquet and CSV, and a report with a
    sample of each class, the pattern marked that decided most.
    """
    from goldassay.core.numbers import count, percent
    from goldassay.core.progress import Steps
    from goldassay.questions.artifacts.inputs import cut, load, patterns_for
    from goldassay.questions.artifacts.reports import as_json, report_of_subsets, texts_of_datasets
    from goldassay.questions.artifacts.subsets import assign as run
    from goldassay.questions.example_clusters import check_cluster_columns
    from goldassay.runs.kinds.opening import labelled_source

    steps = Steps(quiet)
    used, bounds, files = of_reading(settings, None, reading)
    threshold = used.artifacts.threshold if threshold is None else threshold
    with plain_warnings():
        with steps.step("reading the data"):
            evaluation = load(labelled_source(test, "test", **files), part="test", **files)
            training = None if train is None else load(labelled_source(train, "train", **files), **files)
            check_cluster_columns(used.data.clusters, training, evaluation)
        with steps.step("reading the patterns" if patterns else "mining patterns") as progress:
            kept = cut(patterns_for(evaluation, training, patterns, bounds, progress), threshold, q)
        with steps.step("classing the test set") as progress:
            result = run(evaluation, kept, train=training, by_classifier=by_classifier, progress=progress)
    report = report_of_subsets(result.to_dict(), result.assignment, kept, evaluation, training, steps, used)
    texts = texts_of_datasets(evaluation, *([] if training is None else [training])) if no_texts else None
    paths = result.save(out, report, texts)
    figures = result.to_dict()
    if json is not None:
        write_json(json, as_json(figures))
    if quiet:
        return
    print_settings(used)
    print_dropped_of(training, evaluation)
    labels = result.assignment.label_names
    print_table(
        [["class", "examples", *labels]]
        + [[row["class"], *(count(row[name]) for name in ("n", *labels))] for row in figures["sizes"]]
    )
    typer.echo(
        f"{count(len(kept))} patterns at threshold {threshold}; coverage {percent(figures['coverage'])}, "
        f"easy/(easy + hard) {percent(figures['easy_share'])}"
    )
    if result.overlap is not None:
        typer.echo(f"by classifier, {result.judged}:")
        print_table(
            [["by patterns", "by classifier", "examples", "share of row"]]
            + [
                [by_patterns, by_classifier, count(n), percent(share)]
                for by_patterns, by_classifier, n, share in result.overlap.to_frame()
                .select("by_patterns", "by_classifier", "n", "share")
                .iter_rows()
            ],
            left=2,
        )
    print_paths(paths)


@command()
def gap(
    subsets: Annotated[
        Any,
        place(
            "The classes: subsets.parquet of artifacts assign, or any table with example_id; or files of rows "
            "without ids, as subsets are published: easy=FILE hard=FILE --test FILE.",
            "SUBSETS",
            repeat=True,
        ),
    ],
    runs: RunPaths,
    *,
    model: ChosenModels = None,
    condition: Condition = None,
    dataset: Dataset = None,
    names: Names = None,
    test: Test = None,
    columns: Columns = None,
    labels: Labels = None,
    align: Align = "exact",
    missing: Missing = "auto",
    grades: Grades = None,
    clusters: Clusters = None,
    class_: ClassColumn = "class",
    out: Out = None,
    json: Json = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = False,
) -> None:
    """Accuracy of any runs on full, easy and hard examples, and the gap between the last two.

    A row a model, condition and training set, with 95 % intervals over examples and runs. A model that reads more than
    patterns has a small gap; hypothesis-only models have the largest. A run that is in two files, as correctness
    and as predictions, is counted once. Rows that were published without ids are found in --test, which also has the
    right labels, or SQuAD's answers, of runs without their own.
    """
    from goldassay.core.numbers import bounds as interval
    from goldassay.core.numbers import count, points
    from goldassay.core.progress import Steps
    from goldassay.core.settings import chosen
    from goldassay.questions.artifacts.gaps import measure_gaps
    from goldassay.questions.artifacts.reports import as_json

    steps = Steps(quiet)
    used = chosen(settings, seed, clusters=clusters)
    with plain_warnings(), steps.step("measuring gaps") as progress:
        result = measure_gaps(
            _files(subsets),
            runs,
            test=test,
            columns=columns,
            names=names,
            models=(model,) if isinstance(model, str) else tuple(model or ()),
            condition=condition,
            dataset=dataset,
            class_column=class_,
            clusters=used.data.clusters,
            labels=labels,
            align=align,
            missing=missing,
            grades=grades,
            seed=used.seed,
            progress=progress,
        )
    paths = [] if out is None else result.save(out)
    if json is not None:
        write_json(json, as_json(result.to_dict()))
    if quiet:
        return
    print_settings(used)
    rows = result.table.to_dicts()
    sizes = result.to_dict()["n_examples"]
    typer.echo(", ".join(f"{count(n)} {name}" for name, n in sizes.items()))
    figures = ("full", "easy", "hard", "gap")
    # Named only where they tell rows apart.
    keys = ["model", "condition"] + [key for key in ("dataset", "train_set") if len({row[key] for row in rows}) > 1]
    table = [[*(key.replace("_", " ") for key in keys), "runs", *figures]]
    for row in rows:
        cells = [f"{points(row[key])} {interval(row[f'{key}_low'], row[f'{key}_high'])}".rstrip() for key in figures]
        table.append([*(row[key] for key in keys), count(row["n_runs"]), *cells])
    print_table(table, left=len(keys))
    for note in result.notes:
        typer.echo(f"— {note}")
    for reason in dict.fromkeys(row["reason"] for row in rows if row["reason"]):
        typer.echo(f"— {reason}")
    print_paths(paths)


@command(without=("max_tokens", "max_gap"))
def classify(
    train: Train,
    test: Test,
    out: Folder,
    seeds: Seeds = 5,
    seed: Seed = None,
    json: Json = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = False,
    **reading: Unpack[ReadingOptions],
) -> None:
    """How far classifiers get that see only the hypothesis, or of it only which patterns it holds.

    Always the most frequent label; a linear model on words and word pairs; a small network on telling words, H(1,1,.5);
    the same on telling patterns, H(3,3,.5). Writes the table as Parquet and CSV, and every run's predictions.
    """
    from goldassay.core.numbers import bounds as interval
    from goldassay.core.numbers import count, points
    from goldassay.core.progress import Steps
    from goldassay.questions.artifacts.inputs import Bounds, load
    from goldassay.questions.artifacts.reports import as_json
    from goldassay.questions.artifacts.subsets import classify as run
    from goldassay.runs.kinds.opening import labelled_source

    steps = Steps(quiet)
    used, bounds, files = of_reading(settings, seed, reading)
    first = used.seed
    with plain_warnings():
        with steps.step("reading the data"):
            training = load(labelled_source(train, "train", **files), **files)
            evaluation = load(labelled_source(test, "test", **files), part="test", **files)
        with steps.step("training classifiers") as progress:
            of_words = Bounds(
                min_count=bounds.min_count, tokenizer=bounds.tokenizer, text=bounds.text, clusters=bounds.clusters
            )
            result = run(training, evaluation, of_words, range(first, first + seeds), progress, first)
    paths = result.save(out)
    if json is not None:
        write_json(json, as_json(result.to_dict()))
    if quiet:
        return
    print_settings(used)
    print_dropped_of(training, evaluation)
    table = [
        [classifier, points(accuracy), interval(low, high), points(sd), count(n_runs), count(n_features)]
        for classifier, accuracy, low, high, sd, n_runs, n_features in result.table.select(
            "classifier", "accuracy", "low", "high", "sd", "n_runs", "n_features"
        ).iter_rows()
    ]
    print_table([["classifier", "accuracy", "", "sd", "runs", "features"], *table])
    print_paths(paths)


@command(without=("columns_of",))
def downsample(
    train: Train,
    out: Folder,
    threshold: Threshold = None,
    mode: Mode = "debias",
    seed: Seed = None,
    patterns: Patterns = None,
    q: Q = None,
    json: Json = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = False,
    **reading: Unpack[ReadingOptions],
) -> None:
    """Keep a balanced training set without patterns, or its random control of the same size.

    Every example that holds a kept pattern is removed, whatever its label; of what is left, as many of each label are
    drawn as the rarest has. The control draws as many from the full data. Writes the examples and the sizes that every
    usual threshold would leave, as Parquet and CSV.
    """
    from goldassay.core.numbers import count, percent
    from goldassay.core.progress import Steps
    from goldassay.questions.artifacts.inputs import load, patterns_for
    from goldassay.questions.artifacts.reports import as_json
    from goldassay.questions.artifacts.subsets import reduce_training_set
    from goldassay.questions.example_clusters import check_cluster_columns
    from goldassay.runs.kinds.opening import labelled_source

    steps = Steps(quiet)
    used, bounds, files = of_reading(settings, seed, reading)
    threshold = used.artifacts.threshold if threshold is None else threshold
    with plain_warnings():
        with steps.step("reading the data"):
            training = load(labelled_source(train, "train", **files), **files)
            check_cluster_columns(used.data.clusters, training)
        with steps.step("reading the patterns" if patterns else "mining patterns") as progress:
            mined = patterns_for(training, training, patterns, bounds, progress)
        with steps.step("drawing the subset"):
            result = reduce_training_set(training, mined, threshold, mode, used.seed, q)
    paths = result.save(out)
    if json is not None:
        write_json(json, as_json(result.to_dict()))
    if quiet:
        return
    print_settings(used)
    print_dropped_of(training)
    typer.echo(f"{count(len(result.subset))} of {count(result.n_examples)} examples kept")
    print_table(
        [["threshold", "patterns", "removed", "left", "of each label", "size", "share"]]
        + [
            [
                f"{row['threshold']:g}",
                *(count(row[key]) for key in ("n_patterns", "n_removed", "n_left", "per_label", "size")),
                percent(row["share"]),
            ]
            for row in result.sizes.to_dicts()
        ]
    )
    print_paths(paths)


def _judge(report: Report) -> None:
    from goldassay.report.markdown import render_verdicts

    typer.echo(render_verdicts(report))


def _describe_mined(result: MinedArtifacts | StreamedArtifacts, shown: Mapping[str, Any], test: str | None) -> None:
    from goldassay.core.numbers import count, decimal, points, small

    typer.echo(
        f"{count(shown['n_patterns'])} patterns in at least {count(result.patterns.settings['min_count'])} of "
        f"{count(result.patterns.settings['n_sentences'])} examples; {count(shown['n_findings'])} findings, "
        f"{count(shown['n_unfolded'])} distinct"
        + (f" ({count(shown['n_not_folded'])} weaker ones were not folded)" if shown["n_not_folded"] else "")
    )
    if shown["strongest"]:
        cells: dict[str, Callable[[Any], str]] = {
            "label": str, "pattern": str, "support": count, "probability": points, "q_value": small, "n_folded": count,
            "test_support": count, "test_probability": points,
        }  # fmt: skip
        keys = [key for key in cells if key in shown["strongest"][0]]
        print_table(
            [[_HEADS.get(key, key) for key in keys]]
            + [[cells[key](row[key]) for key in keys] for row in shown["strongest"]],
            left=2,
        )
    if shown["by_lift"]:
        cells = {
            "label": str, "pattern": str, "support": count, "probability": points, "lift": lambda x: decimal(x, 1),
        }  # fmt: skip
        typer.echo("By lift: how many times its share of the label is at least the label's share of all (97.5 %)")
        print_table(
            [[_HEADS.get(key, key) for key in cells]]
            + [[each(row[key]) for key, each in cells.items()] for row in shown["by_lift"]],
            left=2,
        )
    if result.confirmation is not None:
        held = result.confirmation
        typer.echo(
            f"on {test}: {count(held.n_present)} of {count(held.n_patterns)} findings occur, "
            f"{count(held.n_confirmed)} are confirmed (q at most {held.q})"
        )
    for value, part in shown["by_value"].items():
        first = ", ".join(f"{r['pattern']} ({r['label']} {points(r['probability'])} %)" for r in part["strongest"][:3])
        print_line(
            f"{result.condition}={value}: {count(part['n_examples'])} examples, {count(part['n_patterns'])} patterns"
            + (f"; {first}" if first else "")
        )
    for value, reason in shown["skipped"].items():
        print_line(f"{result.condition}={value}: left out, {reason}")


def _files(subsets: list[str]) -> str | dict[str, str]:
    """One table, or the file of each class."""
    from goldassay.core.errors import InputError

    pairs = [each.partition("=") for each in subsets]
    if len(subsets) == 1 and not (pairs[0][1] and pairs[0][0] in ("easy", "hard")):
        return subsets[0]
    unnamed = next((each for each, (_, equals, path) in zip(subsets, pairs, strict=True) if not (equals and path)), "")
    named = {name: path for name, _, path in pairs}
    if unnamed or len(named) < len(pairs):
        raise InputError(
            f"{unnamed!r} does not say which class it holds" if unnamed else "a class is named twice",
            mend="give one table with example_id and class, or easy=FILE hard=FILE",
        )
    return named


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say each warning once, in one line on standard error, without the place in the code."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for line in dict.fromkeys(one_line(each.message) for each in caught):
        typer.echo(f"goldassay: warning: {line}", err=True)


def print_table(table: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table in columns: the first `left` flush left, the others right."""
    shown = [[one_line(cell) for cell in row] for row in table]
    widths = [max(len(row[i]) for row in shown) for i in range(len(shown[0]))]
    for row in shown:
        cells = [
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())


def print_line(text: str) -> None:
    """Print a line with words out of the data."""
    typer.echo(one_line(text))


def print_dropped(name: str, n_read: int, dropped: Mapping[str, int]) -> None:
    """Print how many rows of a file were left out, and why, if any were."""
    from goldassay.core.numbers import count

    if dropped:
        why = "; ".join(f"{one_line(reason)}: {count(n)}" for reason, n in dropped.items())
        typer.echo(f"{one_line(name)}: {count(sum(dropped.values()))} of {count(n_read)} rows left out ({why})")


def print_dropped_of(*datasets: Data | None) -> None:
    """Print how many rows of each dataset's file were left out, and why, if any were."""
    for dataset in datasets:
        if dataset is not None:
            print_dropped(dataset.source, dataset.provenance.n_read, dataset.provenance.dropped)


def print_paths(paths: Sequence[Path]) -> None:
    """Print what was written."""
    for path in paths:
        typer.echo(path)


def print_settings(settings: Settings) -> None:
    """Print the file of the settings."""
    for line in settings_lines(settings):
        typer.echo(line)
