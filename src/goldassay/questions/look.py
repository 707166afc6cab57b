"""What a file is, which column plays which role, what can be asked of it, and the command to type next."""

from __future__ import annotations

import json
import os
import re
import shlex
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import matching, temporary_folder
from goldassay.core.results import Result
from goldassay.data import column_names
from goldassay.data.fields import VALUES
from goldassay.data.kinds import read_items
from goldassay.data.kinds.judged_scores import ScoreShape, read_judged_scores
from goldassay.data.kinds.judgments import read_judgments
from goldassay.data.kinds.kind import Kind, Match, Strength
from goldassay.data.kinds.recognition import scale_of
from goldassay.data.reading import load_data
from goldassay.data.roles import guess_roles, is_free_answer, likely_label, parse_columns, unknown_text
from goldassay.questions.checks import (
    ANSWERS,
    CHOICES,
    GRADES,
    JUDGMENTS,
    NEEDS,
    PREFERENCES,
    QUESTIONS,
    RUNS,
    TEXTS,
)  # fmt: skip
from goldassay.runs.finding import find_slices
from goldassay.runs.kinds.opening import open_any, recognize_source
from goldassay.runs.reading import runs_of
from goldassay.runs.run_parts import Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goldassay.data.kinds.recognition import Recognition
    from goldassay.data.reading import Source

# Of larger files of lines the first part is read, of larger tables the first rows.
_LARGEST = 64 << 20
_SAMPLE = 8 << 20
_SAMPLED_ROWS = 20_000
# The scale of grades, as a refusal names it.
_SCALE = re.compile(r"grades\W+?(-?[0-9.]+:[0-9.]+)")
_LINES = (".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".txt")


@dataclass(frozen=True)
class KindSeen(Result):
    """What speaks for one kind, and what against it.

    Attributes:
        kind: Its name.
        fits: Whether all its roles are there and nothing speaks against it.
        roles: Role to column.
        lacks: What it lacks, or what speaks against it, in clauses.
    """

    kind: str
    fits: bool
    roles: Mapping[str, str]
    lacks: tuple[str, ...]


@dataclass(frozen=True)
class QuestionSeen(Result):
    """One question.

    Attributes:
        question: Its key.
        title: What it is called.
        is_asked: Whether an audit of this input asks it.
        lacks: What must be given for it; "" where it is asked.
        command: The command that asks it alone; "" where something is lacking.
    """

    question: str
    title: str
    is_asked: bool
    lacks: str
    command: str


@dataclass(frozen=True)
class Look(Result):
    """What an input was taken for.

    Attributes:
        paths: The files, or what messages call the data.
        kind: The kind that was recognized; "" for none.
        format: The format that was read.
        n_rows: Rows that were read; None of logs, which are only named.
        is_sample: Whether these are the first rows of a large file.
        roles: Role to column; several columns are joined by "+".
        unread: Columns that hold texts or lists, and have no role.
        unused: All other columns without a role.
        against: What speaks against the kind, in clauses.
        decisions: What was decided in reading without being asked, in sentences.
        problem: Why no kind was taken; "" where one was.
        kinds: All kinds that were asked.
        questions: All questions.
        command: What to type next; "" where something must be decided first.
    """

    paths: tuple[str, ...]
    kind: str
    format: str
    n_rows: int | None
    is_sample: bool
    roles: Mapping[str, str]
    unread: tuple[str, ...]
    unused: tuple[str, ...]
    against: tuple[str, ...]
    decisions: tuple[str, ...]
    problem: str
    kinds: tuple[KindSeen, ...]
    questions: tuple[QuestionSeen, ...]
    command: str

    def to_frame(self) -> pl.DataFrame:
        """One row a question."""
        return pl.DataFrame([each.to_dict() for each in self.questions])


def look_at(data: Any, columns: str | Mapping[str, str] | None = None, file_format: str = "auto") -> Look:
    """Say what data or runs are, and what can be asked of them, as `goldassay.look` does.

    Raises:
        InputError: As `goldassay.look`.
    """
    several = isinstance(data, (list, tuple)) and all(isinstance(each, (str, os.PathLike)) for each in data)
    one = isinstance(data, (str, os.PathLike))
    given = [each for place in ([data] if one else data) for each in matching(place)] if one or several else [data]
    if not given:
        raise InputError("nothing was given to look at", mend="give a file or a folder")
    seen = [_look_at(each, columns, file_format) for each in given]
    other = next((each for each in seen if each.kind != seen[0].kind), None)
    if other is not None:
        raise InputError(
            f"{seen[0].paths[0]} holds {seen[0].kind or 'no known kind'}, and this holds {other.kind or 'none'}",
            file=other.paths[0],
            mend="look at each by itself",
        )
    return seen[0] if len(seen) == 1 else _together(seen)


def _together(seen: list[Look]) -> Look:
    first, paths = seen[0], tuple(path for each in seen for path in each.paths)
    rows = [each.n_rows for each in seen if each.n_rows is not None]
    command = first.command.replace(shlex.quote(first.paths[0]), " ".join(map(shlex.quote, paths)))
    n_rows = sum(rows) if len(rows) == len(seen) else None
    return replace(first, paths=paths, n_rows=n_rows, is_sample=any(each.is_sample for each in seen), command=command)


def _look_at(data: Any, columns: str | Mapping[str, str] | None, format_: str) -> Look:
    with _sample(data) as (shown, is_sample):
        source = open_any(shown, "data", format_, columns)
        found = recognize_source(source, columns)
        place = os.fspath(data) if isinstance(data, (str, os.PathLike)) else source.place
        match, problem = _best(found)
        frame = source.table.frame
        formats, runs = match.found if match is not None and match.kind.name == RUNS else ("", ())
        roles = parse_columns(columns) if isinstance(columns, str) else dict(columns or {})
        given = _given(roles)
        refused = "" if match is None else _refused(source, match, roles).replace(os.fspath(source.place), place)
        questions = tuple(_questions(match, place, given, _extent(match, frame, runs), refused))
        return Look(
            paths=(place,),
            kind="" if match is None else match.kind.name,
            format=formats if runs else source.table.format,
            n_rows=frame.height if frame.width else None,
            is_sample=is_sample,
            roles={} if match is None else match.roles,
            unread=() if match is None else match.unread,
            unused=() if match is None else _unused(match, frame),
            against=() if match is None else _against(match, refused),
            decisions=(*source.table.decisions, *_guessed(match)),
            problem=problem,
            kinds=tuple(_seen(kind, found) for kind in found.kinds.values()),
            questions=questions,
            command=found.mixed.mend.removeprefix("write ")
            if found.mixed and found.mixed.mend and match is None
            else _next(match, place, roles, frame, questions, refused),
        )


def _unused(match: Match, frame: pl.DataFrame) -> tuple[str, ...]:
    named = {name.partition(".")[0] for column in match.roles.values() for name in (column, *column.split("+"))}
    return tuple(name for name in frame.columns if name not in {*match.unread, *named, *match.roles.values()})


def _guessed(match: Match | None) -> list[str]:
    return [match.found.guessed] if match is not None and match.strength == Strength.GUESSED else []


def _best(found: Recognition) -> tuple[Match | None, str]:
    """The match that an audit would take; else why there is none."""
    try:
        return found.best(), ""
    except InputError as error:
        # It is what was looked for, and no reason to refuse to say the rest.
        return None, error.problem


def _given(roles: Mapping[str, str]) -> str:
    """The options that name these roles, with a space before each."""
    named = ",".join(f"{role}={name}" for role, name in roles.items() if role != VALUES)
    found = f" --columns {shlex.quote(named)}" if named else ""
    for column, names in json.loads(roles.get(VALUES, "{}")).items():
        pairs = ",".join(f"{value}:{name}" for value, name in names.items())
        found += f" --map {shlex.quote(f'{column}={pairs}')}"
    return found


def _refused(source: Source, match: Match, roles: Mapping[str, str]) -> str:
    """Why an audit refuses the rows although they are of this kind, and what mends it; "" where it reads them."""
    if match.lacking or match.strength == Strength.PARTLY:
        return ""
    name, place = match.kind.name, source.place
    try:
        if name == TEXTS:
            load_data(source, "train", roles, labelled=True)
        elif name in (CHOICES, PREFERENCES):
            read_items(match, source.table, source.name, roles, source=place)
        elif name == JUDGMENTS and isinstance(match.found, ScoreShape):
            read_judged_scores(source.table, source.name, match.found, roles, place)
        elif name == JUDGMENTS:
            read_judgments(source.table, source.name, roles=roles, source=place)
        elif name == RUNS and source.path is not None and source.path.is_file() and not match.found[1]:
            # Of several models and datasets the first.
            found = find_slices(source.path, "auto", Request.of(dict(roles), outright=True))
            runs_of([part for part in found if part.collection == found[0].collection], {})
    except InputError as error:
        column = f"column {error.column!r}: " if error.column else ""
        return f"{column}{error.problem}" + f"; {error.mend}" * bool(error.mend)
    return ""


def _against(match: Match, refused: str) -> tuple[str, ...]:
    return (*match.against, *(f"no column is the {each}" for each in match.lacking), *([refused] if refused else []))


def _seen(kind: Kind, found: Recognition) -> KindSeen:
    match = found.matches[kind.name]
    if match is None:
        foreign = found.foreign(kind)
        return KindSeen(kind.name, False, {}, (f"it has no role {foreign[0]}" if foreign else kind.wants,))
    lacks = (*match.lacking, *match.against)
    return KindSeen(kind.name, match.strength != Strength.PARTLY, match.roles, lacks)


def _extent(match: Match | None, frame: pl.DataFrame, runs: Any) -> dict[str, bool]:
    """What runs allow: whether there are several models, and several configurations of one."""
    if match is None or match.kind.name != RUNS:
        return {}
    if runs:
        ways = {(part.base_model or part.collection.model, str(sorted(part.configuration.items()))) for part in runs}
        models = {model for model, _ in ways}
        return {"models": len(models) > 1, "configurations": len(ways) > len(models)}
    settings = [name for name in match.roles.get("configuration", "").split("+") if name]
    model = match.roles.get("model")
    several = model is not None and frame[model].n_unique() > 1
    return {
        "models": several or len(match.core) > 1,
        "configurations": any(frame[each].n_unique() > 1 for each in settings),
    }


def _questions(
    match: Match | None, place: str, given: str, extent: Mapping[str, bool], refused: str
) -> Iterator[QuestionSeen]:
    kind = "" if match is None else match.kind.name
    for key, asked in QUESTIONS.items():
        if match is None or kind not in asked.needs:
            yield QuestionSeen(key, asked.title, False, f"is asked of {', '.join(asked.needs)}", "")
            continue
        if match.strength == Strength.PARTLY or match.lacking:
            lacks = f"lacks {', '.join(match.lacking)}" if match.lacking else "; ".join(match.against)
        elif refused:
            lacks = refused.partition("; ")[0]
        else:
            wanted = [NEEDS[need] for need in asked.needs[kind] if not extent.get(need)]
            lacks = ", ".join(f"needs {what} (--{option})" if option else f"needs {what}" for what, option in wanted)
        # Artifacts of items are a question of the audit alone.
        write = "audit" if key == "artifacts" and kind != TEXTS else asked.command
        command = "" if lacks else f"goldassay {write} {shlex.quote(place)}{given}"
        yield QuestionSeen(key, asked.title, not lacks, lacks, command)


def _next(
    match: Match | None,
    place: str,
    roles: Mapping[str, str],
    frame: pl.DataFrame,
    questions: tuple[QuestionSeen, ...],
    refused: str,
) -> str:
    quoted, given = shlex.quote(place), _given(roles)
    if match is None:
        guessed = guess_roles(frame)
        if any(map(is_free_answer, frame)):
            text = "" if roles else unknown_text(frame, (*column_names.TEXTS, *column_names.ASKED))
            given = _given({"text": text}) if text else given
            return f"goldassay overlap {quoted}{given} --corpus {shlex.quote(str(Path(place).parent))}"
        return f"goldassay audit {quoted}{_given({**guessed, **roles})}" if guessed else ""
    if any(each.is_asked for each in questions):
        return f"goldassay audit {quoted}{given}"
    if scale := _SCALE.search(refused):
        return f"goldassay audit {quoted}{given} --grades {scale[1]}"
    if match.kind.name == ANSWERS or (match.lacking and any(map(is_free_answer, frame))):
        return f"goldassay overlap {quoted} --corpus {shlex.quote(str(Path(place).parent))}"
    if match.kind.name == GRADES:
        return f"goldassay audit {quoted}{given} --grades {scale_of(match, frame)}"
    if match.lacking == ("label",) and (label := likely_label(frame, match.covered)):
        return f"goldassay audit {quoted}{_given({**roles, 'label': label})}"
    return ""


@contextmanager
def _sample(data: Any) -> Iterator[tuple[Any, bool]]:
    """A large file's first rows in a file of the same name; anything else as it is."""
    path = Path(data) if isinstance(data, (str, os.PathLike)) else None
    if path is None or not path.is_file() or path.stat().st_size <= _LARGEST:
        yield data, False
        return
    with temporary_folder() as folder:
        part = folder / path.name
        if path.suffix in (".parquet", ".pq"):
            pl.scan_parquet(path).head(_SAMPLED_ROWS).collect().write_parquet(part)
        elif path.suffix in _LINES:
            with path.open("rb") as lines:
                part.write_bytes(lines.read(_SAMPLE).rpartition(b"\n")[0] + b"\n")
        else:
            part = path
        yield part, part != path
