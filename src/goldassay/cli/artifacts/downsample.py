"""`goldassay artifacts downsample`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

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
    METHOD,
    Columns,
    Config,
    ExampleClusters,
    Format,
    MaxGap,
    MaxTokens,
    MinCount,
    Out,
    Patterns,
    Q,
    Quiet,
    Seed,
    Text,
    Threshold,
    TokenizerOption,
    of_option,
    say_settings,
)


@artifacts_app.command(short_help="Keep a balanced training set without patterns, or its random control.")
def downsample(
    train: Train,
    threshold: Threshold = None,
    mode: Annotated[
        Literal["debias", "random"],
        of_option("mode", group=METHOD),
    ] = "debias",
    seed: Seed = None,
    out: Out = Path("goldassay-downsampled"),
    patterns: Patterns = None,
    q: Q = None,
    max_tokens: MaxTokens = None,
    max_gap: MaxGap = None,
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
    """Keep a balanced training set without patterns, or its random control of the same size.

    Every example that holds a kept pattern is removed, whatever its label; of what is left, as many of each label are
    drawn as the rarest has. The control draws as many from the full data. Writes the examples and the sizes that every
    usual threshold would leave, as Parquet and CSV.
    """
    from goldassay.core.numbers import count, percent
    from goldassay.core.progress import Steps
    from goldassay.core.settings import load_settings, with_data, with_seed
    from goldassay.questions.artifacts.inputs import bounds_of, load, patterns_for
    from goldassay.questions.artifacts.output import as_json
    from goldassay.questions.artifacts.reduction import reduce_training_set
    from goldassay.questions.example_clusters import check_cluster_columns

    steps = Steps(quiet)
    settings = with_data(with_seed(load_settings(config), seed), clusters=clusters)
    threshold = settings.artifacts.threshold if threshold is None else threshold
    with plain_warnings():
        with steps.step("reading the data"):
            training = load(train, file_format=file_format, columns=columns)
            check_cluster_columns(settings.data.clusters, training)
        with steps.step("reading the patterns" if patterns else "mining patterns") as progress:
            bounds = bounds_of(settings, max_tokens, max_gap, min_count, tokenizer, text)
            mined = patterns_for(training, training, patterns, bounds, progress)
        with steps.step("drawing the subset"):
            result = reduce_training_set(training, mined, threshold, mode, settings.seed, q)
    paths = result.save(out)
    if json_file is not None:
        write_json(json_file, as_json(result.to_dict()))
    if quiet:
        return
    say_settings(settings)
    say_dropped_of(training)
    typer.echo(f"{count(len(result.subset))} of {count(result.n_examples)} examples kept")
    say(
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
    say_paths(paths)
