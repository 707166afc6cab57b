"""Tables of scores, a row a run and a column a dataset: what is published where predictions are not.

    Run,MNLI,HANS
    Run 0,0.846,0.578
    Run 1,0.844,0.566

They tell how far scores move from run to run and which move together, and nothing about examples.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.runs.adapters.long_table import SYNONYMS
from goldassay.runs.tables import head_of, read_table

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_RUN_COLUMNS = frozenset({"run", "seed", "random_seed", "replica", "replicate"})
# What has one of these is a table of predictions, a row each.
_OTHER_COLUMNS = frozenset(name for role, names in SYNONYMS.items() if role not in ("seed", "score") for name in names)
# So many lines of scores are within what is looked at.
_LOOKED_AT = 20
_RUN = re.compile(r"(?:run|seed|replica|replicate)?[ _#-]*(\d+)", re.IGNORECASE)
_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")


@dataclass(frozen=True)
class ScoreTable:
    """Scores of R runs on several datasets.

    Attributes:
        seeds: (R,) numbers of the runs.
        scores: {column: (R,)}, in [0, 1].
        skipped: Reason -> count of what was left out.
    """

    seeds: tuple[int, ...]
    scores: dict[str, NDArray[np.float64]]
    skipped: dict[str, int] = field(default_factory=dict)


def is_score_table(path: Path) -> bool:
    """Whether a file begins like a table of scores: a column of runs, each once, and beside it nothing but scores."""
    if not path.name.lower().endswith(_SUFFIXES):
        return False
    try:
        lines = head_of(path).decode("utf-8-sig", errors="ignore").splitlines()[:_LOOKED_AT]
    except InputError:
        # Whoever reads it as predictions says what ails it.
        return False
    separator = "\t" if lines and "\t" in lines[0] else ","
    cells = [[cell.strip().strip('"') for cell in line.split(separator)] for line in lines]
    if len(cells) < 2 or len(cells[0]) != len(cells[1]) or len(cells[0]) < 2:
        return False
    (run, *columns), (_, *scores), *_ = cells
    runs = [first for first, *_ in cells[1:] if _RUN.fullmatch(first)]
    return (
        run.lower() in _RUN_COLUMNS
        and not _OTHER_COLUMNS & {name.lower() for name in columns}
        and cells[1][0] in runs
        and len(set(runs)) == len(runs)
        and all(map(_is_score, scores))
    )


def read_score_table(path: Path) -> ScoreTable:
    """Read a table of scores. Rows that are of no run (minimum, mean, blank ones) are left out and counted.

    Raises:
        InputError: The file is damaged, a run is there twice, or a score is missing or not within [0, 1].
    """
    table = read_table(path)
    if table is None:
        raise InputError("this is not a table", file=path)
    by_run, *columns = table.columns
    number = pl.col(by_run).cast(pl.String).str.strip_chars().str.extract(f"(?i)^{_RUN.pattern}$").cast(pl.Int64)
    numbered = table.with_columns(number.alias(by_run))
    kept = numbered.filter(pl.col(by_run).is_not_null())
    seeds = kept[by_run]
    twice = seeds.filter(seeds.is_duplicated())
    if twice.len():
        raise InputError(f"run {twice[0]} is there twice", file=path, column=by_run, mend="remove one of its rows")
    values = kept.select(pl.col(columns).cast(pl.Float64, strict=False))
    for column in values:
        bad = ~column.is_between(0, 1).fill_null(value=False)
        if bad.any():
            raise InputError(
                f"run {seeds.filter(bad)[0]} has no score within [0, 1]",
                file=path,
                column=column.name,
                mend="give fractions, and leave out runs that were not scored",
            )
    left = table.height - kept.height
    return ScoreTable(
        seeds=tuple(seeds.to_list()),
        scores={column.name: column.to_numpy() for column in values},
        skipped={"rows of no run": left} if left else {},
    )


def _is_score(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
