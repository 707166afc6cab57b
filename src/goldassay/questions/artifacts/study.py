"""Artifacts as a study of its own: from a training set, and what its patterns are tried on, to a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.keywords import takes
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_data, with_seed
from goldassay.questions.artifacts.check import CHECK
from goldassay.questions.artifacts.inputs import bounds_of
from goldassay.questions.artifacts.mining import mine
from goldassay.questions.artifacts.reports import document_of_mining
from goldassay.questions.evidence import Evidence
from goldassay.questions.report_frame import compose_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.finding import Finding
    from goldassay.questions.artifacts.inputs import Bounds
    from goldassay.questions.artifacts.mining import MinedArtifacts
    from goldassay.report.report import Report

__all__ = ["ArtifactStudy", "measure_artifacts", "study_artifacts"]


@dataclass(frozen=True)
class ArtifactStudy:
    """What was mined, and the report on it.

    Attributes:
        evidence: What it was mined from and tried on.
        mined: Patterns and findings.
        finding: The verdict on them.
        document: What report.json has.
    """

    evidence: Evidence
    mined: MinedArtifacts
    finding: Finding
    document: dict[str, Any]


@takes("artifacts mine")
def measure_artifacts(
    train: Any,
    test: Any = None,
    *,
    max_tokens: int | None = None,
    max_gap: int | None = None,
    min_count: int | None = None,
    tokenizer: str | None = None,
    text: str | None = None,
    by: str | None = None,
    columns: str | Mapping[str, str] | None = None,
    clusters: str | None = None,
    format: str = "auto",  # noqa: A002
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
) -> Report:
    """Count every pattern of the training data and how often it goes with each label: `goldassay artifacts mine`.

    Args:
        train: The training part: a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or
            list of dicts.
        test: An evaluation set, likewise, on which the findings are tried; without it there is no verdict.
        max_tokens: Most tokens of a pattern; this and the next three by default those of the settings.
        max_gap: Most tokens skipped between two.
        min_count: Fewest training examples of a pattern.
        tokenizer: How texts are cut: "treebank", "whitespace", "characters", "auto", or MODULE:FUNCTION.
        text: The text to search; "all" takes every text of an example. By default the last, of a pair the hypothesis.
        by: A column; the rows of each of its values are mined apart as well.
        columns: Which column plays which role, as a mapping or as "premise=a,hypothesis=b".
        clusters: Which test rows count as one: "auto", "none" or columns separated by commas, as in `audit`.
        format: The format of the files, where their content does not say it.
        seed: Of everything that draws at random; by default that of the settings, 0.
        settings: Everything else that can be set; by default `Settings()`.
        quiet: Show no progress.

    Returns:
        The report. Its tables are `patterns` (all that are frequent enough), `findings` (those significant and telling
        by the settings) and with `by` `patterns_by_value`.

    Raises:
        InputError: The data cannot be read or mined, the column is not there or has too many values, or the two parts
            differ in their texts or labels; the message says where and how to mend it.
    """
    settings = with_data(with_seed(settings or Settings(), seed), clusters=clusters)
    study = study_artifacts(
        train,
        test,
        bounds_of(settings, max_tokens, max_gap, min_count, tokenizer, text),
        condition=by,
        columns=columns,
        file_format=format,
        settings=settings,
        steps=Steps(quiet),
    )
    return compose_report(study.document, study.mined.tables(), findings=[study.finding])


def study_artifacts(
    train: Any,
    test: Any,
    bounds: Bounds,
    *,
    condition: str | None,
    columns: str | Mapping[str, str] | None,
    file_format: str,
    settings: Settings,
    steps: Steps,
) -> ArtifactStudy:
    """Mine, try and judge: what the command and `measure_artifacts` have in common.

    Args:
        train: As for `measure_artifacts`.
        test: Likewise.
        bounds: How patterns are mined.
        condition: A column that the rows are also parted by, or None.
        columns: Which column plays which role.
        file_format: The format of the files, where their content does not say it.
        settings: Everything else.
        steps: Progress, and the seconds that each step took.

    Raises:
        InputError: As `measure_artifacts`.
    """
    evidence = Evidence(
        train, test, columns=columns, file_format=file_format, settings=settings, steps=steps, split=False
    )
    mined = mine(evidence, bounds, condition)
    with steps.step("writing the report"):
        finding = CHECK.measure(evidence, mined.search.described)
        document = document_of_mining(evidence, mined.search, condition, mined.by_value, finding)
    return ArtifactStudy(evidence, mined, finding, document)
