"""`goldassay leakage measure`: from a dataset, or from what models left behind, to a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldassay.cli.json_option import JsonFile, write_report_json
from goldassay.cli.leakage.group import ClusterThreshold, Components, NClusters, by_name, leakage_app
from goldassay.cli.options import (
    METHOD,
    RUNS,
    TRAINING,
    AlignOption,
    Columns,
    Conditions,
    Config,
    DatasetName,
    ExampleClusters,
    Figures,
    LabelNames,
    Labels,
    Latex,
    Model,
    Out,
    PoolConfigurations,
    Quiet,
    RunPaths,
    Seed,
    SplitBy,
    Tests,
    TrainSet,
    of_option,
)
from goldassay.cli.report_files import save_report
from goldassay.cli.run_options import parse_labels, parse_names
from goldassay.core.errors import InputError
from goldassay.core.naming import split_named_path

if TYPE_CHECKING:
    from goldassay.report.report import Report


@leakage_app.command(short_help="Measure how much of the label a part of the input gives away, and where.")
def measure(
    train: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[[NAME=]TRAIN...]",
            help="Training data: a file, a folder, or a name on the hub. Several are measured one by one and compared.",
        ),
    ] = None,
    test: Tests = None,
    model: Model = None,
    seeds: Annotated[int | None, of_option("seeds", metavar="N", group=TRAINING, command="leakage measure")] = None,
    conditions: Conditions = None,
    runs: RunPaths = None,
    named: Annotated[
        list[str] | None,
        of_option("as", metavar="CONDITION=MODEL", group=RUNS, also="Repeatable."),
    ] = None,
    embeddings: Annotated[
        list[str] | None,
        of_option("embeddings", metavar="ROLE=FILE", group=RUNS, also="Repeatable."),
    ] = None,
    probabilities: Annotated[
        list[str] | None,
        of_option("probabilities", metavar="CONDITION=FILE[:COLUMN]", group=RUNS, also="Repeatable."),
    ] = None,
    bits: Annotated[
        list[str] | None,
        of_option("bits", metavar="CONDITION=FILE[:COLUMN]", group=RUNS, also="Repeatable."),
    ] = None,
    dataset: DatasetName = None,
    train_set: TrainSet = None,
    labels: Labels = None,
    label_names: LabelNames = None,
    align: AlignOption = "exact",
    pool_configurations: PoolConfigurations = False,
    clusters: ExampleClusters = None,
    split_by: SplitBy = None,
    n_clusters: NClusters = None,
    components: Components = 30,
    cluster_threshold: ClusterThreshold = 0.25,
    grid: Annotated[
        bool,
        of_option("grid", group=METHOD),
    ] = False,
    sentence_map: Annotated[
        bool,
        of_option("map", "--map/--no-map", group=METHOD),
    ] = True,
    out: Out = Path("goldassay-leakage"),
    json_file: JsonFile = None,
    figures: Figures = None,
    latex: Latex = False,
    columns: Columns = None,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Measure how much of the label a part of the input gives away, and where.

    Trains small models that see only a part of each example, or takes what other models left behind, and says how
    much of the label they recover, in points and in bits; whether they decide as a model of the whole input does, and
    look at the same words; and which clusters of sentences give their label away, what these are about, and which to
    rewrite. Writes report.html, report.json, report.md, tables and figures, and prints a verdict. Without --test the
    data's own test part is used, or a fifth of the rows is set apart such that no sentence is in both, five times anew.
    Without --model quick probes are trained; of networks MiniLM-size encoders are recommended.

    \b
      goldassay leakage measure train.jsonl --test test.jsonl
      goldassay leakage measure train.jsonl --test test.jsonl --model bilstm --seeds 5
      goldassay leakage measure a=a.jsonl b=b.jsonl --test a=a-test.jsonl --test b=b-test.jsonl
      goldassay leakage measure --runs runs --test test.jsonl --embeddings hypothesis=cls.npy
      goldassay leakage measure --test test.jsonl --embeddings hypothesis=cls.npz
    """
    from goldassay.cli.training_progress import bars
    from goldassay.questions.gating import load_settings
    from goldassay.questions.leakage.foreign_evidence import GivenEvidence
    from goldassay.questions.leakage.options import LeakageChoice
    from goldassay.questions.leakage.report import study_leakage
    from goldassay.questions.run_choice import RunChoice
    from goldassay.report.paper import check_figures

    check_figures(figures)
    given = None
    if runs or embeddings or probabilities or bits:
        if not runs:
            _check_alone({"--as": named, "--model": model, "--dataset": dataset, "--train-set": train_set,
                          "--labels": labels})  # fmt: skip
        chosen = RunChoice(
            model=model,
            dataset=dataset,
            train_set=train_set,
            labels=parse_labels(labels),
            label_names=parse_names(label_names),
            align=align,
            pool_configurations=pool_configurations,
        )
        given = GivenEvidence(
            paths=runs or [],
            choice=chosen,
            conditions=by_name(named, "--as", "CONDITION"),
            embeddings=by_name(embeddings, "--embeddings", "ROLE"),
            probabilities=by_name(probabilities, "--probabilities", "CONDITION"),
            bits=by_name(bits, "--bits", "CONDITION"),
        )
    else:
        _check_no_runs({"--as": named})
    options: dict[str, Any] = {
        "given": given,
        "model": None if given is not None else model,
        "conditions": tuple(conditions or ()),
        "seeds": seeds,
        "choice": LeakageChoice(
            n_clusters=n_clusters, n_components=components, threshold=cluster_threshold, grid=grid, map=sentence_map
        ),
        "label_names": parse_names(label_names),
        "columns": columns,
        "clusters": clusters,
        "split_by": split_by,
        "seed": seed,
        "settings": load_settings(config),
        "watched": None if quiet else bars,
        "quiet": quiet,
    }
    if len(train or ()) > 1:
        report = _several(train or [], test or [], out, options, figures, latex)
    elif len(test or ()) > 1:
        raise InputError(
            "several evaluation sets are given for one training set",
            mend="give one --test, or name each with NAME=TRAIN and --test NAME=FILE",
        )
    else:
        report = study_leakage(train[0] if train else None, test[0] if test else None, out=out, **options)
    page = save_report(report, out, figures, latex)
    if json_file is not None:
        write_report_json(json_file, page)
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)


def _several(
    trains: list[str], tests: list[str], out: Path, options: dict[str, Any], figures: str | None, latex: bool
) -> Report:
    """Measure datasets one by one, each into a folder of its name, and lay them side by side."""
    from goldassay.questions.leakage.dataset_comparison import compare_datasets
    from goldassay.questions.leakage.report import study_leakage

    if options["given"] is not None:
        raise InputError("evidence made elsewhere is of one dataset", mend="give one TRAIN at most with --runs")
    names = [_name(each) for each in trains]
    held_out = by_name(tests, "--test", "NAME", f"say of which set it is, as in --test {names[0]}=FILE")
    if len(set(names)) < len(names):
        raise InputError("two datasets have the same name", mend="name them as NAME=TRAIN")
    unknown = [name for name in held_out if name not in names]
    if unknown:
        raise InputError(
            f"--test names {unknown[0]!r}, of which there is no training set", mend=f"choose from {', '.join(names)}"
        )
    reports = {}
    for name, train in zip(names, trains, strict=True):
        _, place = split_named_path(train)
        test = f"{name}={held_out[name]}" if name in held_out else None
        reports[name] = study_leakage(f"{name}={place}", test, out=out / name, called=name, **options)
        save_report(reports[name], out / name, figures, latex)
    return compare_datasets(reports)


def _name(train: str) -> str:
    name, path = split_named_path(train)
    return name or Path(path).name.partition(".")[0]


def _check_alone(given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value:
            raise InputError(
                f"{option}: embeddings and probabilities by themselves do not use it",
                mend="leave it out, or name the predictions with --runs",
            )


def _check_no_runs(given: dict[str, list[str] | None]) -> None:
    for option, values in given.items():
        if values:
            raise InputError(f"{option} goes with evidence made elsewhere", mend="name the predictions with --runs")
