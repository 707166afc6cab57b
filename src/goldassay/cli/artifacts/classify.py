"""`goldassay artifacts classify`."""

from __future__ import annotations

from pathlib import Path

from goldassay.cli.artifacts.group import (
    Train,
    artifacts_app,
    plain_warnings,
    say,
    say_dropped_of,
    say_paths,
)
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    Columns,
    Config,
    ExampleClusters,
    Format,
    MinCount,
    Out,
    Quiet,
    RequiredTest,
    Seed,
    Seeds,
    Text,
    TokenizerOption,
    say_settings,
)


@artifacts_app.command(short_help="How far classifiers get that see only the hypothesis.")
def classify(
    train: Train,
    test: RequiredTest,
    out: Out = Path("goldassay-classifiers"),
    seeds: Seeds = 5,
    seed: Seed = None,
    min_count: MinCount = None,
    tokenizer: TokenizerOption = None,
    text: Text = None,
    columns: Columns = None,
    clusters: ExampleClusters = None,
    file_format: Format = "auto",
    json_file: JsonFile = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """How far classifiers get that see only the hypothesis, or of it only which patterns it holds.

    Always the most frequent label; a linear model on words and word pairs; a small network on telling words, H(1,1,.5);
    the same on telling patterns, H(3,3,.5). Writes the table as Parquet and CSV, and every run's predictions.
    """
    from goldassay.core.numbers import bounds, count, points
    from goldassay.core.progress import Steps
    from goldassay.core.settings import load_settings, with_data, with_seed
    from goldassay.questions.artifacts.classifiers import classify as run
    from goldassay.questions.artifacts.inputs import Bounds, load
    from goldassay.questions.artifacts.output import as_json

    steps = Steps(quiet)
    settings = with_data(with_seed(load_settings(config), seed), clusters=clusters)
    chosen, first = settings.artifacts, settings.seed
    with plain_warnings():
        with steps.step("reading the data"):
            training = load(train, file_format=file_format, columns=columns)
            evaluation = load(test, file_format=file_format, columns=columns, part="test")
        with steps.step("training classifiers") as progress:
            bounds_of = Bounds(
                min_count=min_count or chosen.min_count,
                tokenizer=tokenizer or chosen.tokenizer,
                text=text,
                clusters=settings.data.clusters,
            )
            result = run(training, evaluation, bounds_of, range(first, first + seeds), progress, first)
    paths = result.save(out)
    if json_file is not None:
        write_json(json_file, as_json(result.to_dict()))
    if quiet:
        return
    say_settings(settings)
    say_dropped_of(training, evaluation)
    table = [
        [
            row["classifier"],
            points(row["accuracy"]),
            bounds(row["low"], row["high"]),
            points(row["sd"]),
            count(row["n_runs"]),
            count(row["n_features"]),
        ]
        for row in result.table.to_dicts()
    ]
    say([["classifier", "accuracy", "", "sd", "runs", "features"], *table])
    say_paths(paths)
