"""Whatever was handed over, opened to be recognized: rows of data, or the place of logs, which have no rows."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.core.files import matching
from goldassay.core.naming import listing, split_named_path
from goldassay.data.column_names import PARTS
from goldassay.data.dataset import Dataset
from goldassay.data.hub import is_hub_name
from goldassay.data.kinds import DATA_KINDS
from goldassay.data.kinds.judgments import JudgedPairs
from goldassay.data.kinds.kind import Match, Strength, joined
from goldassay.data.kinds.labelled_texts import LabelledTexts
from goldassay.data.kinds.recognition import Recognition, other_kind, recognize
from goldassay.data.readers import NO, all_readers, eval_yaml
from goldassay.data.reading import Source, load_data, open_source
from goldassay.data.roles import columns_named, own_roles, parse_columns
from goldassay.data.source import name_of
from goldassay.data.table import Table, rows_of_lists, stacked
from goldassay.data.unread import find_unread
from goldassay.runs.adapters.long_table import with_right_answers, with_settings
from goldassay.runs.adapters.wide_table import run_columns
from goldassay.runs.finding import find_in_own_format
from goldassay.runs.key_columns import SYNONYMS, find_roles
from goldassay.runs.kinds.boards import Boards, Grades
from goldassay.runs.run_parts import ASIDE
from goldassay.runs.tables import are_codes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.kinds.kind import Kind


_ANSWERS = ("prediction", "score", "logits")


class Predictions:
    """See `Kind`; `read_runs` reads them."""

    name: ClassVar[str] = "runs"
    rows: ClassVar[str] = "runs"
    wants: ClassVar[str] = "example_id and prediction or score"
    roles: ClassVar[tuple[str, ...]] = (*SYNONYMS, "group", "configuration", *ASIDE)
    aliases: ClassVar[Mapping[str, str]] = {}
    rank: ClassVar[int] = 1

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`: the format of a tool, or a table with ids and predictions or scores."""
        if table.format == eval_yaml.name:
            # A benchmark, of which a column of answers is no run.
            return None
        is_data = table.frame.height > 0
        if table.path is not None and (found := find_in_own_format(table.path, is_data=is_data)):
            formats = ", ".join(dict.fromkeys(part.format for part in found))
            return Match(self, Strength.OWN_FORMAT, {}, found=(formats, tuple(found)))
        frame = table.frame
        if not frame.height:
            return None
        aside = [columns[role] for role in ASIDE if role in columns]
        frame, columns = with_settings(frame, {role: name for role, name in columns.items() if role not in ASIDE})
        if frame.columns == ["text"] and frame.schema["text"] == pl.String and are_codes(frame["text"]):
            core = frozenset(frame.columns)
            return Match(
                self, Strength.TABLE, {"prediction": "text"}, core, core, lacking=("label",), found=("table", ())
            )
        known = with_right_answers(find_roles(frame.columns, dict(columns), table.path), frame)
        answers = [known[role] for role in _ANSWERS if role in known]
        wide = run_columns(frame)
        unread = find_unread(frame, {*known.values(), *wide, *aside}).columns
        # A score beside a text is what the text was given by people, unless something says whose it is, or which try.
        if unread and not known.keys() & {"model", "seed", "prediction", "logits", "trial"}:
            return None
        if not wide and (not answers or "example_id" not in known):
            return None
        lacking = () if wide or "score" in known or "label" in known else ("label",)
        settings = [name for name in frame.columns if name.lower().startswith("config_")]
        # Those that were found to be settings have other names in the table.
        asked = tuple(name for name in table.frame.columns if name not in frame.columns) or tuple(settings)
        return Match(
            kind=self,
            strength=Strength.PARTLY if lacking else Strength.TABLE,
            roles=joined({**known, "configuration": asked}),
            core=frozenset(wide or answers),
            covered=frozenset((*known.values(), *settings, *asked, *wide, *aside)),
            unread=unread,
            lacking=lacking,
            found=("table", ()),
        )


ALL_KINDS: tuple[Kind, ...] = (*DATA_KINDS, Predictions(), Boards(), Grades())
_MOST_PATHS = 3


def open_any(
    data: Any,
    argument: str,
    format: str = "auto",  # noqa: A002
    columns: Mapping[str, str] | str | None = None,
) -> Source:
    """As `open_source`; of logs and folders that no reader of data knows only the path is given.

    Raises:
        InputError: As for `open_source`, or a log is damaged.
    """
    if isinstance(data, (str, os.PathLike)) and not is_hub_name(os.fspath(data)):
        name, place = split_named_path(os.fspath(data))
        path = Path(place)
        if _is_log(path):
            return Source(Table(pl.DataFrame(), "", path=path), name or name_of(path), place, path)
    source = open_source(data, argument, format, columns=columns)
    return source if columns else _rows_of_lists(source)


@dataclass(frozen=True)
class Opened:
    """One input, whatever it was handed over as.

    Attributes:
        source: Its rows; of several files of one dataset those of all.
        recognition: What every kind says of them.
        match: The kind, and why.
        given: What runs are read from: the paths, or what was handed over.
    """

    source: Source
    recognition: Recognition
    match: Match
    given: Any


def open_input(
    data: Any,
    argument: str,
    format: str = "auto",  # noqa: A002
    columns: Mapping[str, str] | str | None = None,
) -> Opened:
    """Open an input and recognize what it is; several paths are one input of one kind.

    Args:
        data: As for `open_source`, or a list of paths.
        argument: What the caller calls it.
        format: Of a file, where its content does not say it.
        columns: The column of each role, as a user named them.

    Raises:
        InputError: It cannot be read, or is of no kind; or the paths are of several kinds, or are a training and a
            test part.
    """
    several = isinstance(data, (list, tuple)) and bool(data) and all(isinstance(x, (str, os.PathLike)) for x in data)
    paths = [os.fspath(each) for each in data] if several else []
    if paths or isinstance(data, (str, os.PathLike)):
        paths = [each for place in paths or [data] for each in matching(place)]
    if len(paths) < 2:
        given = paths[0] if paths else data
        source = open_any(given, argument, format, columns)
        found = recognize_source(source, columns)
        try:
            return Opened(source, found, found.best(), given)
        except InputError:
            if not columns and isinstance(given, (str, os.PathLike)) and Path(given).is_dir():
                _refuse_boards(Path(given))
            raise
    opened = [open_input(path, argument, format, columns) for path in paths]
    names = [each.match.kind.name for each in opened]
    if len(set(names)) > 1:
        raise _mixed(paths, names)
    if names[0] == Predictions.name:
        return replace(opened[0], given=paths)
    if names[0] in (Boards.name, Grades.name):
        raise InputError(f"there are {len(paths)} boards", file=paths[1], mend="give one table of all systems")
    _check_parts(paths, opened, names[0])
    table = stacked({f"{at}-{each.source.name}" if _twice(opened, each) else each.source.name: each.source.table
                     for at, each in enumerate(opened)}, opened[0].source.table.format, column="file")  # fmt: skip
    source = Source(table, opened[0].source.name, ", ".join(paths))
    found = recognize_source(source, columns)
    return Opened(source, found, found.best(), paths)


def _refuse_boards(folder: Path) -> None:
    """Refuse a folder of which the first table is a board: the rows of all together are of no kind.

    Raises:
        InputError: It is one.
    """
    for file in sorted(each for each in folder.iterdir() if each.is_file())[:1]:
        matches = recognize_source(open_any(file, "data", "auto", None), None).matches
        if any(match is not None and match.kind.name != Boards.name for match in matches.values()):
            return
        if matches.get(Boards.name) is not None:
            one = f"goldassay audit {shlex.quote(str(file))}"
            one = one if entry_point() == SHELL else f"goldassay.audit({str(file)!r})"
            raise InputError("each table of the folder is a board of its own", file=folder, mend=f"give one: {one}")


def _rows_of_lists(source: Source) -> Source:
    """The source with a row for each object of its lists, where its rows are of no kind and these are of one."""
    found = source if source.dataset is not None else replace(source, table=rows_of_lists(source.table))
    if found.table is source.table or any(recognize_source(source, None).matches.values()):
        return source
    return found if any(recognize_source(found, None).matches.values()) else source


def _twice(opened: Sequence[Opened], one: Opened) -> bool:
    return sum(each.source.name == one.source.name for each in opened) > 1


def _mixed(paths: Sequence[str], names: Sequence[str]) -> InputError:
    """The error for paths of several kinds: data and runs are one command, in which each has its place."""
    runs = [path for path, name in zip(paths, names, strict=True) if name == Predictions.name]
    data = [path for path in paths if path not in runs]
    held = ", ".join(f"{path} holds {name}" for path, name in list(zip(paths, names, strict=True))[:_MOST_PATHS])
    if runs and len(data) == 1:
        words = ["goldassay", "audit", data[0], *(word for path in runs for word in ("--runs", path))]
        return InputError(f"the paths are of several kinds: {held}", mend=f"write {shlex.join(words)}")
    return InputError(f"the paths are of several kinds: {held}", mend="audit each by itself")


def _check_parts(paths: Sequence[str], opened: Sequence[Opened], kind: str) -> None:
    """Refuse what may be a training and a test part, and files of unlike columns.

    Raises:
        InputError: There are two files, or one is called like a part; or a file lacks a column of the others.
    """
    first = opened[0].source
    for each in opened[1:]:
        if missing := set(first.table.frame.columns) ^ set(each.source.table.frame.columns):
            raise InputError(
                f"the files differ in their columns ({', '.join(map(repr, sorted(missing)[:_MOST_PATHS]))})",
                file=each.source.place, mend="give files of one dataset",
            )  # fmt: skip
    parts = [path for path in paths if set(re.split(r"[^a-z]+", Path(path).name.lower())) & PARTS.keys()]
    if kind != JudgedPairs.name and (len(paths) == 2 or parts):
        test = next((path for path in paths if "test" in Path(path).name.lower()), paths[1])
        train = next(path for path in paths if path != test)
        raise InputError(
            f"{len(paths)} files of like columns may be a training and a test part",
            file=test, mend=f"write {_command(train, test)}",
        )  # fmt: skip


def recognize_source(source: Source, columns: Mapping[str, str] | str | None) -> Recognition:
    """Ask every kind of data and runs what speaks for it.

    Args:
        source: What was handed over; a `Dataset` has its roles already.
        columns: The column of each role, as a user named them.

    Raises:
        InputError: As for `recognize`.
    """
    roles = parse_columns(columns) if isinstance(columns, str) else dict(columns or {})
    found = recognize(source.table, {} if source.dataset else roles, ALL_KINDS, source.place)
    return replace(found, mixed=_beside_runs(found))


def _beside_runs(found: Recognition) -> InputError | None:
    """The error for a folder of data with runs in other files, of which an audit would leave one out."""
    folder, files = found.table.path, [file.name for file in found.table.files]
    runs = found.matches.get(Predictions.name)
    if folder is None or not folder.is_dir() or not runs or runs.strength < Strength.OWN_FORMAT:
        return None
    places = [Path(part.file) for part in runs.found[1]]
    data = next((match for match in found.matches.values()
                 if match and match is not runs and match.strength >= Strength.SHAPE), None)  # fmt: skip
    if data is None or any(place.name in files for place in places):
        return None
    within = {place.relative_to(folder).parts[0] for place in places}
    beside = str(folder / within.pop()) if len(within) == 1 else str(folder)
    parts = {PARTS[word]: name for name in files for word in re.split(r"[^a-z]+", name.lower()) if word in PARTS}
    train = parts.get("train", files[0])
    test = next((parts[part] for part in ("test", "dev") if parts.get(part, train) != train), None)
    words = [str(folder / train), *(["--test", str(folder / test)] if test else []), "--runs", beside]
    return InputError(
        f"the folder holds {data.kind.rows} ({listing(files, 3)}) and runs ({beside})",
        file=str(folder), mend=f"write goldassay audit {shlex.join(words)}",
    )  # fmt: skip


def labelled_source(
    data: Any, part: str, columns: str | Mapping[str, str] | None = None, file_format: str = "auto"
) -> Source:
    """As `open_source`, of a part of labelled texts.

    Raises:
        InputError: It cannot be read, or its rows are of another kind.
    """
    roles = own_roles(columns, part)
    with columns_named(part):
        source = data if isinstance(data, Source) else open_source(data, part, file_format, columns=roles)
        refuse_other_kind(source, roles)
    return source


def load_texts(
    data: Any, part: str, columns: str | Mapping[str, str] | None, name: str | None = None, *, labelled: bool = False
) -> Dataset:
    """As `load_data`, of what networks read: labelled texts, and questions that a span of the passage answers.

    Raises:
        InputError: It cannot be read, or its rows are of another kind.
    """
    if not isinstance(data, Dataset):
        roles = own_roles(columns, name or part, part)
        with columns_named(name or part):
            data = open_source(data, name or part, name=name or part, columns=roles)
            refuse_other_kind(data, roles, (LabelledTexts.name, "extractive answers"))
    return load_data(data, part, columns, name, labelled=labelled)


def texts_of(source: Source, columns: str | Mapping[str, str] | None) -> Dataset:
    """The rows as a dataset, whatever else is beside their texts.

    Raises:
        InputError: They have no texts: they are judgments, runs, a board or grades, and it has the command of these.
    """
    found = recognize_source(source, columns)
    if source.dataset is None and found.matches.get(LabelledTexts.name) is None:
        rows, write = other_kind(found, (), source.argument)
        if rows:
            file = source.place if source.path else None
            raise InputError(f"holds {rows}, and no texts", file=file, mend=f"write {write}")
    return source.labelled(columns)


def refuse_other_kind(
    source: Source, columns: str | Mapping[str, str] | None, kinds: tuple[str, ...] = (LabelledTexts.name,)
) -> None:
    """Refuse what a command of labelled texts does not read.

    Of choices the label that was named is none where it says which of them is right.

    Raises:
        InputError: The rows are of another kind than these; it has the command that reads them.
    """
    roles = parse_columns(columns) if isinstance(columns, str) else dict(columns or {})
    found = recognize_source(source, roles)
    if "label" in roles and "ignore" not in roles:
        bare = recognize_source(source, None)
        items = [match for match in bare.matches.values() if match and match.strength == Strength.SHAPE]
        found = bare if any(match.roles.get("answer") == roles["label"] for match in items) else found
    # Of a folder with data and runs the data are read.
    rows, write = ("", "") if found.mixed else other_kind(found, kinds, source.argument)
    if rows and source.dataset is None:
        file = source.place if source.path else None
        raise InputError(f"holds {rows}, no labelled texts", file=file, mend=f"write {write}")


def _is_log(path: Path) -> bool:
    if path.is_dir():
        return all(reader.recognizes(b"", path) == NO for reader in all_readers().values())
    # The reader of data says best why a file cannot be read.
    return path.is_file() and os.access(path, os.R_OK) and bool(find_in_own_format(path))


def _command(train: str, test: str) -> str:
    """What to write in place of two paths, in a shell or in Python."""
    if entry_point() != SHELL:
        return f"{option('test', test)} beside {train}"
    return f"goldassay audit {shlex.quote(train)} {option('test', shlex.quote(test))}"
