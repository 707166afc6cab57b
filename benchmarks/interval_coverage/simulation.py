"""Coverage of every interval, for few and many runs, independent and correlated examples."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.interval_coverage import one_run, over_both, over_examples, over_runs
from benchmarks.interval_coverage.simulated_runs import CORRELATED, FAILURES, INDEPENDENT, RARE_FAILURES
from goldassay.core.errors import UndefinedMeasureWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.interval_coverage.estimates import Case
    from benchmarks.interval_coverage.simulated_runs import Design

N_RUNS = (3, 5, 10, 30)
BOTH = (INDEPENDENT, CORRELATED)


@dataclass(frozen=True)
class Setting:
    """A case, the numbers of runs and the designs that it makes sense for."""

    case: Case
    n_runs: Sequence[int] = N_RUNS
    designs: Sequence[Design] = BOTH


ALL = {
    "runs-spread": Setting(over_runs.spread),
    "runs-derived": Setting(over_runs.from_the_spread),
    "runs-training": Setting(over_runs.in_training),
    "runs-groups": Setting(over_runs.groups, designs=(INDEPENDENT,)),
    "runs-better": Setting(over_runs.better, designs=(INDEPENDENT,)),
    "runs-failures": Setting(over_runs.many_failures, designs=(FAILURES,)),
    "runs-rare-failures": Setting(over_runs.many_failures, designs=(RARE_FAILURES,)),
    "examples-spread": Setting(over_examples.spread),
    "examples-groups": Setting(over_examples.groups, designs=(INDEPENDENT,)),
    "both-comparison": Setting(over_both.comparison),
    "both-subsets": Setting(over_both.subsets),
    "both-leakage": Setting(over_both.leakage),
    "both-generalization": Setting(over_both.generalization),
    "both-detection": Setting(one_run.detection),
    "one-accuracies": Setting(one_run.accuracies, (1,)),
    "one-confidences": Setting(one_run.confidences, (1,)),
    "one-patterns": Setting(one_run.patterns, (1,)),
    "one-detection": Setting(one_run.detection, (1,)),
    "one-clusterings": Setting(one_run.clusterings, (1,), (INDEPENDENT,)),
}


@dataclass(frozen=True)
class Coverage:
    """How one interval did in one cell.

    Attributes:
        figure: What it is of.
        method: How it was made.
        design: Of the runs and examples.
        n_runs: R.
        covered: Share of the replications in which it held the truth; one without bounds did not.
        width: Median.
        n: Replications.
    """

    figure: str
    method: str
    design: str
    n_runs: int
    covered: float
    width: float
    n: int

    @property
    def error(self) -> float:
        """Standard error of `covered`, by simulation."""
        return math.sqrt(self.covered * (1 - self.covered) / self.n)


def measure_case(name: str, replications: int) -> list[Coverage]:
    """Coverage of a case's intervals in each of its cells."""
    setting = ALL[name]
    return [
        found
        for design in setting.designs
        for n_runs in setting.n_runs
        for found in measure_cell(setting.case, design, n_runs, replications)
    ]


def measure_cell(case: Case, design: Design, n_runs: int, replications: int, seed: int = 0) -> list[Coverage]:
    """Coverage of a case's intervals for one design and number of runs; a function of the seed."""
    held: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    rng = np.random.default_rng([seed, n_runs])
    with warnings.catch_warnings():
        # Draws in which nothing varies have no interval, and are counted as not covered.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        for _ in range(replications):
            for each in case(design, n_runs, rng):
                # Rounding must not push out a bound that the truth lies on.
                slack = 1e-12
                covered = each.low - slack <= each.truth <= each.high + slack
                held.setdefault((each.figure, each.method), []).append((covered, each.high - each.low))
    return [
        Coverage(
            *key,
            design.name,
            n_runs,
            float(np.mean([covered for covered, _ in rows])),
            float(np.nanmedian([width for _, width in rows])),
            len(rows),
        )
        for key, rows in held.items()
    ]


def markdown(found: Sequence[Coverage]) -> str:
    """A table with a row an interval and a column a cell: percent covered, and below it the median width."""
    cells = list(dict.fromkeys((each.design, each.n_runs) for each in found))
    values = {(each.figure, each.method, each.design, each.n_runs): each for each in found}
    lines = [
        "| interval of | method | " + " | ".join(f"{design} {n_runs}" for design, n_runs in cells) + " |",
        "|---|---|" + "---:|" * len(cells),
    ]
    for figure, method in dict.fromkeys((each.figure, each.method) for each in found):
        row = [_cell(values.get((figure, method, *cell))) for cell in cells]
        lines.append(f"| {figure} | {method} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def _cell(found: Coverage | None) -> str:
    if found is None:
        return ""
    percent = f"{100 * found.covered:.1f}"
    return f"{f'**{percent}**' if found.covered < 0.9 else percent} ({found.width:.2g})"
