"""Artifacts, asked in Python: `measure_artifacts`; and how patterns are mined, the same in each command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from goldassay.core.commands import command
from goldassay.core.options import (
    By,
    Clusters,
    Columns,
    ColumnsOf,
    Format,
    MaxGap,
    MaxTokens,
    MinCount,
    Quiet,
    Seed,
    SettingsOrFile,
    Test,
    Text,
    Tokenizer,
    Train,
)

if TYPE_CHECKING:
    from goldassay.core.settings import Settings
    from goldassay.questions.artifacts.inputs import Bounds
    from goldassay.report.report import Report


class Mining(TypedDict, total=False):
    """How patterns are mined; what is not given is that of the settings."""

    max_tokens: MaxTokens
    max_gap: MaxGap
    min_count: MinCount
    tokenizer: Tokenizer
    text: Text


class ReadingOptions(Mining, total=False):
    """The same, and how data are read."""

    columns: Columns
    columns_of: ColumnsOf
    clusters: Clusters
    format: Format


def of_reading(
    settings: SettingsOrFile, seed: int | None, reading: ReadingOptions
) -> tuple[Settings, Bounds, dict[str, Any]]:
    """The settings with what is given of them, how patterns are mined, and how data are read, for `load`."""
    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_own
    from goldassay.questions.artifacts.inputs import bounds_of

    found = chosen(settings, seed, clusters=reading.get("clusters"))
    mining: dict[str, Any] = {name: value for name, value in reading.items() if name in Mining.__annotations__}
    columns = with_own(reading.get("columns"), reading.get("columns_of"), ("train", "test"))
    files = {"columns": columns, "file_format": reading.get("format", "auto")}
    return found, bounds_of(found, **mining), files


@command()
def measure_artifacts(
    train: Train,
    test: Test = None,
    *,
    by: By = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[ReadingOptions],
) -> Report:
    """Count every pattern of the training data and how often it goes with each label: `goldassay artifacts mine`.

    Note:
        Data are a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of dicts. On
        the test set the findings are tried; without it each row is read by patterns of other folds, as in an audit.

    Returns:
        The report. Its tables are `patterns` (all that are frequent enough), `findings` (those significant and telling
        by the settings) and with `by` `patterns_by_value`.

    Raises:
        InputError: The data cannot be read or mined, the column is not there or has too many values, or the two parts
            differ in their texts or labels; the message says where and how to mend it.
    """
    from goldassay.core.progress import Steps
    from goldassay.questions.artifacts.question import study_artifacts

    found, bounds, files = of_reading(settings, seed, reading)
    study = study_artifacts(train, test, bounds, condition=by, settings=found, steps=Steps(quiet), **files)
    return study.report
