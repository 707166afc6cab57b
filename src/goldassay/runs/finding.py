"""Which runs lie at a path: every file is shown to the adapters, and no row is read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from goldassay.core.bounds import reading, reason
from goldassay.core.document import FILE_NAME, TIMING_NAME
from goldassay.core.errors import InputError, no_such_file, option
from goldassay.core.files import seekable
from goldassay.data.kinds import DATA_KINDS
from goldassay.data.kinds.recognition import look_at, other_kind, recognize
from goldassay.data.readers import eval_results
from goldassay.data.roles import naming
from goldassay.data.source import bare_name, check_text, read_text
from goldassay.data.table import Table
from goldassay.runs.adapters import TABLES, Adapter, adapters, evaluate_results
from goldassay.runs.configurations import name_by_configuration, pooled
from goldassay.runs.curves import kind_of_scores
from goldassay.runs.grades import as_shares
from goldassay.runs.places import named_by_places
from goldassay.runs.run_parts import Columns, Request, Slice
from goldassay.runs.tables import ZIP, looked_at, read_table, refuse_pickle, start_of

_SUFFIX = re.compile(r"\.(parquet|pq|csv|tsv|txt|jsonl|ndjson|json|np[yz]|eval)(\.gz|\.zst)?$", re.IGNORECASE)
# A larger file is not read once more.
_MOST_BYTES = 1 << 26
# Bytes that tell what an archive is of.
_OF_ARCHIVE = 2000
_OF_TEXT = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")

RunsPath = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class NoRunsError(InputError):
    """Nothing at a path is of a known format."""


def find_slices(
    path: RunsPath,
    format: str,  # noqa: A002
    request: Request,
    broken: list[InputError] | None = None,
) -> list[Slice]:
    """All runs at a path, named but not loaded.

    Args:
        path: A file, a folder (searched to the bottom), or several of these.
        format: Name of an adapter, or "auto".
        request: What was said about the files.
        broken: Takes the errors of files in folders that cannot be read, which are then left out; without it the first
            such error is raised.

    Raises:
        InputError: There is no such file, none is of a known format, or a file is damaged.
    """
    offered = adapters()
    if format != "auto":
        offered = tuple(adapter for adapter in offered if format == adapter.NAME)
        if not offered:
            names = ", ".join(adapter.NAME for adapter in adapters())
            raise InputError(f"there is no format {format!r} of runs", mend=f"known are {names}")
    paths = [Path(path)] if isinstance(path, (str, os.PathLike)) else [Path(item) for item in path]
    if not paths:
        raise InputError("no file or folder of runs was given", mend="name at least one")
    found: list[Slice] = []
    for place in paths:
        with reading(place):
            if not place.exists():
                raise no_such_file(place)
            place = seekable(place)
        if place.is_file():
            refuse_pickle(place)
        elif _is_report(report := place.parent if place.name == "tables" else place):
            raise _no_runs_in(place, report)
        parts = _find(place, offered, replace(request, outright=place.is_file()), set(), broken)
        if not parts and (scores := kind_of_scores(place)):
            raise NoRunsError(
                f"{scores} here, but no predictions",
                file=place,
                mend="goldassay instability and runs show take scores alone; for all else save what Trainer.predict "
                "returns, predictions and label_ids, with numpy.savez"
                if "Trainer" in scores
                else "goldassay instability and runs show take scores alone; all else needs each run's predictions",
            )
        if not parts and _holds_results_of_evaluate(place):
            raise NoRunsError(
                "results of metrics are here, as evaluate.save writes them, which hold no predictions",
                file=place,
                mend="save the predictions and references that the metric was given, a row an example",
            )
        if not parts and (holds := eval_results.describe(place))[0]:
            raise NoRunsError(holds[0], file=place, mend=holds[1])
        if not parts and broken:
            continue
        if not parts:
            _refuse_unreadable(place)
            rows, write = kind_at(place)
            raise NoRunsError(
                "no runs were recognized here" + (f", but {rows}" if rows else ""),
                file=place,
                mend=f"write {write}"
                if rows
                else _name_columns(place)
                if place.is_file() or any(place.iterdir())
                else "it is empty: name the folder that holds them",
            )
        found.extend(parts)
    if not found and broken:
        raise broken[0]
    found = named_by_places(found, partial(_readable, offered=offered, request=request))
    return pooled(found) if request.pool_configurations else name_by_configuration(found)


def kind_at(place: Path) -> tuple[str, str]:
    """What a table holds that is no table of runs, and what to write; two empty texts where that is not known.

    Raises:
        InputError: The file is damaged.
    """
    from goldassay.runs.kinds.boards import Boards, Grades

    table = read_table(place) if place.is_file() else None
    if table is None:
        return "", ""
    try:
        return other_kind(recognize(Table(table, ""), {}, (*DATA_KINDS, Boards(), Grades()), str(place)), ())
    except InputError:
        # Which of two kinds it is, is no matter of runs.
        return "", ""


def _name_columns(place: Path) -> str:
    """The option that names the columns of runs, where there is a table."""
    table = read_table(place) if place.is_file() else None
    if table is None:
        return "give a table with a row for each example: its id, what was predicted, and what is right"
    named = naming(table, "example_id", "prediction")
    return named if named.startswith("perhaps") else f"{named}; {look_at(str(place))}"


def find_in_own_format(path: Path, *, is_data: bool = False) -> list[Slice]:
    """Runs in files that hold nothing else: of any table in a folder, but of no table that stands by itself.

    Args:
        path: A file or a folder.
        is_data: It is a folder that was read as data; where it holds no runs, its files need not be readable as runs.

    Raises:
        InputError: A file is damaged.
    """
    offered = [each for each in adapters() if path.is_dir() or each.PRIORITY < TABLES]
    broken: list[InputError] = []
    request = Request(outright=path.is_file(), listed=True)
    found = _find(path, offered, request, set(), broken)
    if broken and (found or not is_data):
        raise broken[0]
    return named_by_places(found, partial(_readable, offered=offered, request=request))


def _is_report(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (FILE_NAME, TIMING_NAME, "report.html"))


def _no_runs_in(place: Path, report: Path) -> NoRunsError:
    own = report / "runs"
    made = f"; those that were made for the report are in {own}" if own.is_dir() else ""
    return NoRunsError(
        "is the folder of a report, which has tables and no runs", file=place,
        mend=f"name the runs that were measured{made}",
    )  # fmt: skip


def _holds_results_of_evaluate(place: Path) -> bool:
    return any(map(evaluate_results.is_result, [place] if place.is_file() else sorted(place.rglob("*.json"))[:100]))


def _readable(part: Slice, offered: Iterable[Adapter], request: Request) -> Slice:
    """The same slice with its rows, where it was only listed."""
    if not request.listed:
        return part
    parts = _find(Path(part.file), offered, replace(request, listed=False), set())
    key = (part.collection, part.seed, part.checkpoint)
    return next(own for own in parts if (own.collection, own.seed, own.checkpoint) == key)


def _load(part: Slice, grades: tuple[float, float] | None) -> Columns:
    with reading(part.file):
        columns = part.load()
        return columns if grades is None else as_shares(columns, grades, part.file)


def _on_scale(part: Slice, asked: tuple[float, float] | None) -> Slice:
    """The slice, whose scores are put on the scale that was asked for unless its file says that they are.

    Raises:
        InputError: The file says that they are shares of another scale.
    """
    if asked is not None and part.grades is not None and part.grades != asked:
        low, high = part.grades
        raise InputError(
            f"the scores are shares of a scale of grades from {low:g} to {high:g} already",
            file=part.file,
            mend=f"leave {option('grades')} out",
        )
    scale = asked if part.grades is None else None
    return replace(part, load=partial(_load, part, scale), grades=asked or part.grades)


def _is_aside(item: Path) -> bool:
    """Whether a file or folder is hidden, or holds what programs keep for themselves: _journal, __pycache__.

    The lm-evaluation-harness calls the folder of a model that is given by its path after it, as __home__me__model.
    """
    if item.name.startswith("."):
        return True
    return item.is_dir() and (
        item.name in ("__pycache__", "__MACOSX") or (item.name.startswith("_") and not item.name.startswith("__"))
    )


def _find(
    place: Path,
    offered: Iterable[Adapter],
    request: Request,
    seen: set[Path],
    broken: list[InputError] | None = None,
) -> list[Slice]:
    try:
        with reading(place), looked_at(place):
            parts = next((found for each in offered if (found := each.find(place, request)) is not None), None)
    except InputError as error:
        # What was named outright is all that was asked for.
        if broken is None or not place.is_file() or request.outright:
            raise
        broken.append(error)
        return []
    if parts is not None:
        return [_on_scale(part, request.grades) for part in parts]
    # A link may lead back to a folder above it, and two such make endlessly many paths: each folder is read once.
    if not place.is_dir() or (real := place.resolve()) in seen:
        return []
    seen.add(real)
    # What lies beside runs (weights, settings, logs) is passed over; a file named outright is not.
    inside = sorted(item for item in place.iterdir() if item.is_dir() or (item.is_file() and _SUFFIX.search(item.name)))
    # Tables of a report that lies beside runs, and runs that were made for it, are not what was handed over.
    inside = [item for item in inside if not _is_aside(item) and not (item.is_dir() and _is_report(item))]
    return [part for item in inside for part in _find(item, offered, request, seen, broken)]


def _refuse_unreadable(path: Path) -> None:
    """Say why a file in which no runs were recognized cannot be read at all; pass one that can.

    Raises:
        InputError: It is a zip archive, or, of text, no UTF-8, or a line of it is no JSON.
    """
    if path.is_file() and start_of(path, len(ZIP)) == ZIP:
        check_text(start_of(path, _OF_ARCHIVE), path)
    name = bare_name(path)
    if not path.is_file() or path.stat().st_size > _MOST_BYTES or not name.endswith(_OF_TEXT):
        return
    data, _ = read_text(path)
    if name.endswith((".csv", ".tsv")):
        return
    first = data.lstrip().split(b"\n", 1)[0]
    is_lines = not name.endswith(".json") or (first.startswith(b"{") and _is_object(first))
    lines = data.split(b"\n") if is_lines else [data]
    for number, line in enumerate(lines, 1):
        try:
            json.loads(line or b"null")
        except (ValueError, RecursionError) as error:
            row = None if len(lines) == 1 else number
            raise InputError(
                f"is not JSON ({reason(error)})", file=path, row=row, mend="write or copy the file again"
            ) from error


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
