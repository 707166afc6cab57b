"""The models to compare: which they are, and where each of them is read from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.doors import option, place
from goldassay.core.errors import InputError
from goldassay.questions.run_sets import placed, read_one, read_rivals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.evidence import Evidence
    from goldassay.runs import Runs
    from goldassay.runs.slices import Slice


@dataclass(frozen=True)
class Sides:
    """The models to compare, all on one dataset.

    Attributes:
        models: Runs of each.
        found: What they were read from.
        names: What to call models of the same name, if anything does.
    """

    models: Sequence[Runs]
    found: Sequence[Slice] = ()
    names: Sequence[str] | None = None


def read_sides(
    evidence: Evidence, models: Sequence[str] = (), named: tuple[str | None, str | None] = (None, None)
) -> Sides:
    """Load the models to compare: those that are named, or one of each path, or all of a single path.

    Args:
        evidence: Where the runs are, and how to read them.
        models: Names of models out of all paths; with * or ?, all that match, as runs of one.
        named: Which model of the first path, and which of the second; of a single path, which two.

    Raises:
        InputError: The runs cannot be read, the models were chosen in two ways, or a side is of several models.
    """
    paths = evidence.run_paths
    if any(named) and (models or len(paths) > 2):
        raise InputError(
            f"{option('model-a')} and {option('model-b')} choose from two {place('runs')}",
            mend=f"give {option('model', 'NAME')} for each of the models",
        )
    if models or (len(paths) == 1 and not any(named)):
        found = evidence.found_runs
        with placed(paths):
            sides = read_rivals(found, evidence.choice, models)
    else:
        sides, found = _one_of_each(evidence, named)
    stems = [Path(path).name.split(".")[0] for path in paths]
    return Sides(sides, found, stems if len(stems) == len(sides) else None)


def _one_of_each(evidence: Evidence, named: tuple[str | None, str | None]) -> tuple[list[Runs], list[Slice]]:
    """One model of each path, or two of a single one."""
    paths = evidence.run_paths
    places = paths * 2 if len(paths) == 1 else paths
    names = ("model-a", "model-b") if len(places) == 2 else ("model",) * len(places)
    sides: list[Runs] = []
    every: list[Slice] = []
    for path, which, model in zip(places, names, (*named, *[None] * (len(places) - 2)), strict=True):
        try:
            found = evidence.runs_at(path, model)
            sides.append(read_one(found, replace(evidence.choice, model=model)))
        except InputError as error:
            mend = None if error.mend is None else error.mend.replace(option("model", "NAME"), option(which, "NAME"))
            raise InputError(
                error.problem, file=error.file or str(path), row=error.row, column=error.column, mend=mend
            ) from error
        every += found
    return sides, every
