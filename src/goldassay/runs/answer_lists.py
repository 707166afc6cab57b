"""Logs of tools that are a list of answers: what their adapters share.

An adapter says whose answers they are and what the log tells of each. An item that is answered several times has as
many trials, in the order of the log.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from goldassay.core.bounds import reason
from goldassay.core.errors import InputError, option
from goldassay.core.naming import listing
from goldassay.runs.run_parts import Collection, Columns, Outputs, Request, Slice, not_loaded
from goldassay.runs.statuses import with_no_answers
from goldassay.runs.tables import head_of, parse_json, unpacked

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from goldassay.runs.statuses import Status


class Answer(NamedTuple):
    """One answer as a log has it.

    `scores` are by metric, that of the headline first; `label` and `prediction` are what is right and what was read.
    """

    item: str
    scores: Mapping[str, Any]
    status: Status = "scored"
    output: str | None = None
    label: str | None = None
    prediction: str | None = None


@dataclass(frozen=True)
class AnswerList:
    """The answers of one model to one dataset.

    Attributes:
        model: Its name.
        dataset: Likewise.
        run: What tells the log from others.
        answers: In the order of the log.
        configuration: How the model was asked, flat.
        reported: Mean scores that the log gives, by metric.
        unfinished: As for `Slice`.
    """

    model: str
    dataset: str
    run: str
    answers: list[Answer] = field(default_factory=list)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    reported: Mapping[str, float] = field(default_factory=dict)
    unfinished: str = ""


class Items:
    """Names of items whose contents tell them apart: those of equal content are one item, answered again."""

    def __init__(self) -> None:
        """Start without any."""
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, content: Any, wanted: str) -> str:
        """The name of an item: as wanted, or numbered where another item has that name."""
        key = repr(content)
        if key not in self._names:
            name, number = wanted, 2
            while name in self._taken:
                name, number = f"{wanted} #{number}", number + 1
            self._names[key] = name
            self._taken.add(name)
        return self._names[key]


def peek(path: Path) -> bytes:
    """The first bytes of a JSON file, unpacked; b"" of any other. Adapters ask one after another of the same file."""
    if ".json" not in path.name or not path.is_file():
        return b""
    about = path.stat()
    return _head(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=1)
def _head(path: Path, _time: int, _size: int) -> bytes:
    return head_of(path).lstrip(b"\xef\xbb\xbf \r\n\t")


def read_object(path: Path, first: re.Pattern[bytes]) -> dict[str, Any] | None:
    """The JSON object that a file is, if its first bytes match; None of any other file.

    Raises:
        InputError: It is no whole JSON.
    """
    return whole_object(path) if first.match(peek(path)) else None


def whole_object(path: Path) -> dict[str, Any]:
    """The JSON object that a file is.

    Raises:
        InputError: It is no whole JSON, or no object.
    """
    try:
        found = parse_json(unpacked(path).removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no whole JSON ({reason(error)})", file=path, mend="write or copy it again") from error
    if not isinstance(found, dict):
        raise not_of_form(path, "it is no object")
    return found


def not_of_form(path: Path, seen: object, tool: str = "its tool") -> InputError:
    """What a file says that begins as a tool's log and does not go on as one."""
    return InputError(f"is not a log as {tool} writes it: {seen}", file=path, mend="write or copy it again")


def reading_as(tool: str, path: Path, read: Callable[[], list[AnswerList]]) -> list[AnswerList]:
    """The lists that `read` makes of a log, of which a field may be missing or of another kind.

    Raises:
        InputError: That is so, or no answer is there.
    """
    try:
        found = read()
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        seen = f"{type(error).__name__} {error}" if isinstance(error, KeyError) else error
        raise not_of_form(path, seen, tool) from error
    if not any(each.answers for each in found):
        raise InputError("there are no answers in the log", file=path, mend="leave it out")
    return found


def slices_of(
    lists: Sequence[AnswerList], path: Path, request: Request, name: str, unrecorded: tuple[Status, ...] = ()
) -> list[Slice]:
    """A slice for each list and trial."""
    return [part for each in lists for part in _slices(each, path, request, name, unrecorded)]


def _slices(own: AnswerList, path: Path, request: Request, name: str, unrecorded: tuple[Status, ...]) -> list[Slice]:
    trials: list[list[Answer]] = []
    times: dict[str, int] = {}
    for answer in own.answers:
        trial = times[answer.item] = times.get(answer.item, -1) + 1
        if trial == len(trials):
            trials.append([])
        trials[trial].append(answer)
    several = len(trials) > 1
    return [
        Slice(
            collection=Collection(own.model, own.dataset, "", "paired", ""),
            seed=f"{own.run}-{number}" if several else own.run,
            checkpoint=None,
            n_examples=len(answers),
            file=str(path),
            format=name,
            load=not_loaded
            if request.listed
            else partial(_columns, answers, request, path, {} if several else own.reported),
            configuration=own.configuration,
            unfinished=own.unfinished,
            unrecorded=unrecorded,
            numbered=several,
            is_trial=several,
            keyed=True,
            outputs=partial(_outputs, answers),
        )
        for number, answers in enumerate(trials, start=1)
    ]


def _columns(answers: Sequence[Answer], request: Request, path: Path, reported: Mapping[str, float]) -> Columns:
    metrics = list(dict.fromkeys(name for answer in answers for name in answer.scores))
    asked = request.columns.get("score")
    metric = choose_score(metrics[:1], asked, metrics, path)
    scores = [_number(answer.scores.get(metric)) for answer in answers]

    def told(values: list[str | None]) -> pl.Series | None:
        return pl.Series(values, dtype=pl.String) if all(value is not None for value in values) else None

    # Right answers and what was read say something where they are what the score compares.
    label, prediction = (told([answer.label for answer in answers]), told([answer.prediction for answer in answers]))
    is_compared = (
        label is not None and prediction is not None and (label == prediction).cast(pl.Float64).to_list() == scores
    )
    statuses = pl.Series([answer.status for answer in answers], dtype=pl.String)
    written = pl.Series([answer.output for answer in answers], dtype=pl.String)
    of_scores = pl.Series(scores, dtype=pl.Float64)
    return Columns(
        example_ids=pl.Series([answer.item for answer in answers], dtype=pl.String),
        label=label if is_compared else None,
        prediction=prediction if is_compared else None,
        score=of_scores,
        status=with_no_answers(statuses, written, of_scores, ()),
        reported=reported.get(metric),
    )


def _outputs(answers: Sequence[Answer]) -> Outputs | None:
    """What was written, where the log has it."""
    rows = [(answer.item, answer.output, answer.label, answer.prediction) for answer in answers]
    items, texts, targets, predictions = (pl.Series(each, dtype=pl.String) for each in zip(*rows, strict=True))
    return Outputs(items, texts, targets, None, predictions) if texts.count() else None


def _number(value: Any) -> float | None:
    """A score as a number; None of what is none."""
    if not isinstance(value, (bool, int, float)) or not math.isfinite(value):
        return None
    return float(value)


def choose_score(offered: Sequence[str], asked: str | None, there: Sequence[str], path: Path) -> str:
    """The score that was asked for, or the only one; never a guess among several.

    Args:
        offered: Names of those that can be scores: numbers within [0, 1].
        asked: What the caller named.
        there: All names in the file, of which any may be asked for.
        path: The file.

    Raises:
        InputError: It is not there, there is none, or there are several and none was asked for.
    """
    if asked is not None:
        if asked in there:
            return asked
        raise InputError(f"there is no score {asked!r}", file=path, mend=f"there are {listing(offered or there, 12)}")
    if len(offered) == 1:
        return offered[0]
    if not offered:
        raise InputError(
            f"none of {listing(there, 8) or 'its fields'} is a score within [0, 1]",
            file=path,
            mend=f"choose one with {option('columns', 'score=METRIC')}",
        )
    raise InputError(
        f"each example has {len(offered)} scores: {listing(offered, 12)}",
        file=path,
        mend=f"choose one with {option('columns', 'score=METRIC')}",
    )
