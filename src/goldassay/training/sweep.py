"""What came of a sweep: a row a run and test set, over models and training sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.results import Result
from goldassay.training.many_seeds import cut_sentences, run_rows, summarize
from goldassay.training.outcome import Done

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.training.job import Job
    from goldassay.training.outcome import Failure


@dataclass(frozen=True)
class SweepReport(Result):
    """What was trained.

    Attributes:
        out: Folder of the runs.
        n_jobs: Jobs of the plan.
        n_skipped: Of these, done before.
        runs: As of `many_seeds.TrainingReport`.
        failures: name, reason, tries; of jobs that could not be finished.
    """

    out: str
    n_jobs: int
    n_skipped: int
    runs: pl.DataFrame
    failures: pl.DataFrame

    @classmethod
    def of(cls, jobs: Sequence[Job], outcomes: Sequence[Done | Failure]) -> SweepReport:
        """From what came of each job, in their order."""
        pairs = list(zip(jobs, outcomes, strict=True))
        failures = [outcome for _, outcome in pairs if not isinstance(outcome, Done)]
        return cls(
            out=jobs[0].out,
            n_jobs=len(jobs),
            n_skipped=sum(isinstance(outcome, Done) and outcome.skipped for outcome in outcomes),
            runs=pl.DataFrame(
                [row for job, outcome in pairs if isinstance(outcome, Done) for row in run_rows(job, outcome)],
                infer_schema_length=None,
            ),
            failures=pl.DataFrame(
                [{"name": each.name, "reason": each.line, "tries": each.tries} for each in failures],
                schema={"name": pl.String, "reason": pl.String, "tries": pl.Int64},
            ),
        )

    @property
    def cpu_seconds(self) -> float:
        """Of processors, over all jobs that are done."""
        if self.runs.is_empty():
            return 0.0
        job = ("model", "train_set", "condition", "seed")
        return float(self.runs.unique(job, maintain_order=True)["cpu_seconds"].sum())

    def remarks(self) -> list[str]:
        """What is not as one would expect, in sentences."""
        return cut_sentences(self.runs)

    def to_frame(self) -> pl.DataFrame:
        """A row a run and test set."""
        return self.runs

    def summary(self) -> pl.DataFrame:
        """A row a model, training set, condition, test set and metric: mean and SD (ddof 1), seconds a run."""
        if self.runs.is_empty():
            return self.runs
        return summarize(self.runs, ("model", "train_set", "condition", "dataset"))
