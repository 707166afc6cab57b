"""What a study came to: a document, its tables, the reports behind them, and the page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.document import TIMING_NAME
from goldassay.core.files import written_together
from goldassay.core.report_seal import as_json, digest_of
from goldassay.core.results import to_plain
from goldassay.lab.papers.recipe import Findings, Recipe, SetUsed, Study, TrainedNetwork, Workplace
from goldassay.questions.report_frame import describe_environment
from goldassay.report.report import earlier_files, write_page
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import polars as pl

    from goldassay.core.charts import Chart
    from goldassay.lab.training.job import Job
    from goldassay.report.report import Report

SCHEMA, SCHEMA_VERSION = "goldassay.study", 1


@dataclass(frozen=True)
class StudyReport:
    """What a study found, able to show itself as a page, as Markdown and as JSON.

    Attributes:
        document: Plain data under the schema "goldassay.study", version 1.
        study: The same, typed.
        tables: Every printed table beside ours, a row a cell, and further tables.
        reports: The reports behind them, by name.
    """

    document: Mapping[str, Any]
    study: Study
    tables: Mapping[str, pl.DataFrame]
    reports: Mapping[str, Report]

    def to_json(self) -> str:
        """The document as JSON, without its times: the same input always gives the same bytes."""
        return as_json({key: value for key, value in self.document.items() if key != "timing"})

    def to_html(self) -> str:
        """One page that needs nothing else."""
        from goldassay.lab.papers.page import render_page

        return render_page(self.study, self.document, self.charts, tuple(self.reports), tuple(self.tables))

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of its comparisons, and those that it shows of its reports."""
        from goldassay.lab.papers.page import charts

        return charts(self.study, self.reports)

    def to_markdown(self) -> str:
        """Markdown that pastes into a pull request."""
        from goldassay.lab.papers.page import render_markdown

        return render_markdown(self.study)

    def summary(self) -> str:
        """A line a conclusion, for a terminal."""
        from goldassay.lab.papers.page import render_summary

        return render_summary(self.study)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write study.html, .json and .md, timing.json, tables/, figures/ and reports/; return the path of the page.

        Raises:
            OutputError: The folder cannot be made or written to, or the disk is full.
        """
        from goldassay.report.charts import draw_pictures

        for name, report in self.reports.items():
            report.save(Path(directory) / "reports" / name)
        texts = {"study.html": self.to_html(), "study.json": self.to_json(), "study.md": self.to_markdown()}
        texts[TIMING_NAME] = as_json(self.document["timing"])
        pictures = draw_pictures(self.charts)
        texts |= {f"figures/{name}.svg": picture.standalone for name, picture in pictures.items()}
        with written_together(directory, earlier_files(Path(directory))) as folder:
            write_page(texts, self.tables, folder)
        return Path(directory) / "study.html"


def describe(name: str, recipe: Recipe, work: Workplace, jobs: list[Job], findings: Findings) -> StudyReport:
    """The document of a study, from what it found."""
    steps = work.steps
    study = Study(
        title=recipe.TITLE,
        study=name,
        paper=recipe.PAPER,
        scale=work.scale_name,
        scale_note=work.scale.note,
        notes=tuple(findings.notes),
        absent=dict(work.absent),
        not_run=tuple(work.not_run),
        conclusions=findings.conclusions,
        comparisons=findings.comparisons,
        shown=findings.shown,
        n_trainings=len(jobs),
        models=tuple(sorted({job.model_name for job in jobs})),
        networks=tuple(_networks(jobs)),
        inputs=tuple(
            SetUsed(key, len(each), tuple(file.name for file in files), tuple(file.sha256 for file in files))
            for key, each in work.sets.items()
            for files in (each.provenance.files,)
        ),
    )
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "goldassay_version": __version__,
        **study.to_dict(),
        "settings": {
            "seed": work.seed,
            "scale": work.scale_name,
            "pretrained": work.pretrained,
            "precision": work.precision,
        },
        "environment": describe_environment(trained=bool(jobs)),
        "timing": {
            "started": steps.started.isoformat(timespec="seconds"),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": {step: round(seconds, 3) for step, seconds in steps.seconds.items()},
            "processor_seconds_of_networks": _processor_seconds(jobs),
        },
    }
    plain: dict[str, Any] = to_plain(document)
    tables = {each.name: each.cells for each in findings.comparisons} | dict(findings.tables)
    return StudyReport({**plain, "digest": digest_of(plain)}, study, tables, findings.reports)


def _networks(jobs: list[Job]) -> list[TrainedNetwork]:
    """What was trained, by what the runs call it."""
    of: dict[tuple[str, str, str, str], list[Job]] = {}
    for job in jobs:
        of.setdefault((job.model_name, job.model, job.configuration, job.precision), []).append(job)
    return [
        TrainedNetwork(*own, tuple(sorted({job.objective for job in same})), len({job.seed for job in same}), len(same))
        for own, same in of.items()
    ]


def _processor_seconds(jobs: list[Job]) -> dict[str, float]:
    """How long processors trained each network, by what the runs call it, whenever that was."""
    from goldassay.lab.training.job import DONE, read_json

    found = dict.fromkeys((job.model_name for job in jobs), 0.0)
    for job in jobs:
        found[job.model_name] += (read_json(job.folder / DONE) or {}).get("cpu_seconds", 0.0)
    return found
