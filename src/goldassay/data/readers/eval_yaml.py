"""A benchmark repository of the Hugging Face hub: eval.yaml says which split is evaluated, and its columns.

Source: Hugging Face Hub documentation, Evaluation Results; inspect_ai, tasks of Hugging Face datasets.
"""

from __future__ import annotations

import re
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.data.column_names import normalized
from goldassay.data.readers import CERTAIN, NO, reader_for
from goldassay.data.source import read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

name = "eval-yaml"

FILE = "eval.yaml"
_LITERAL = "literal:"
_FRONT = re.compile(rb"\A---\n(.*?)\n---", re.DOTALL)
# Columns that an audit might take for right answers, choices or answers of a run.
_ANSWERS = re.compile(r"answer|label|correct|gold|target|^key$|choice|option|ending|pred|score|winner|^cop$")
# Targets of which each value has at least so many rows on average are classes.
_ROWS_OF_CLASS = 5


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A folder with eval.yaml that lists tasks, or that file."""
    file = path / FILE if path.is_dir() else path
    if file.name != FILE or not file.is_file():
        return NO
    return CERTAIN if re.search(rb"^tasks:", file.read_bytes(), re.MULTILINE) else NO


def read(path: Path) -> Table:
    """Read the split of the first task, with its question, choices and right answer under these names.

    Raises:
        InputError: eval.yaml cannot be read or names no task, or the data of the task or a column are not there.
    """
    file = path / FILE if path.is_dir() else path
    tasks = _mapping(parse_yaml(read_text(file)[0], file)).get("tasks")
    known = [each for each in tasks if isinstance(each, dict)] if isinstance(tasks, list) else []
    if not known:
        raise InputError("lists no tasks", file=file, mend="write tasks: with an id, a split and a field_spec of each")
    task, others = known[0], [str(each.get("id", "?")) for each in known[1:]]
    configuration, split = str(task.get("config", "default")), str(task.get("split", "test"))
    from goldassay.data.hub import NAME

    files = sorted(set(_named(file.parent, configuration, split)) or set(_found(file.parent, configuration, split)))
    if not files:
        task_id, at = str(task.get("id", "")), f"{configuration}/{split}"
        on_hub = f"{task_id}:{at}" if NAME.fullmatch(f"{task_id}:{at}") else ""
        there = listing([each.name for each in sorted(file.parent.iterdir()) if each.name != FILE], 5) or "nothing"
        raise InputError(
            f"the data of its task are not there: configuration {configuration}, split {split}; beside it {there}",
            file=file,
            mend=f"give {on_hub} instead, or put its files beside it, such as {split}.parquet"
            if on_hub
            else f"put the files of the dataset beside it, such as {split}.parquet",
        )  # fmt: skip
    tables = [reader_for(each).read(each) for each in files]
    frame = pl.concat([each.frame for each in tables], how="diagonal_relaxed")
    said = [f"Read by {FILE}: task {task.get('id', 'without an id')}, configuration {configuration}, split {split}."]
    said += [f"Other tasks are passed over: {listing(others, 5)}. Give the file of one to audit it."] if others else []
    frame, more = _posed(frame, _mapping(task.get("field_spec")), task.get("shuffle_choices") is True, file)
    return Table(
        frame, name, tuple(each for table in tables for each in table.files), (*said, *more),
        {column: names for column, names in tables[0].class_names.items() if column in frame.columns},
    )  # fmt: skip


def _posed(frame: pl.DataFrame, spec: Mapping[str, Any], shuffled: bool, file: Path) -> tuple[pl.DataFrame, list[str]]:
    """The rows with question, choices and answer under these names; of classes with text and label."""
    asked, target, choices = spec.get("input"), spec.get("target"), spec.get("choices")
    if asked is None or target is None:
        return frame, [f"{FILE} names no columns; they are found by their names."]
    asked, target = str(asked), str(target)
    literal = target.removeprefix(_LITERAL) if target.startswith(_LITERAL) else None
    listed = [str(each) for each in choices] if isinstance(choices, list) else [] if choices is None else [str(choices)]
    used = [asked, *([] if literal is not None else [target]), *listed]
    if missing := [each for each in used if each not in frame.columns]:
        raise InputError(
            f"names the column {missing[0]!r}, which the data do not have", file=file,
            mend=f"write one of {listing(frame.columns, 8)}",
        )  # fmt: skip
    answer = pl.lit(literal) if literal is not None else pl.col(target)
    if choices is None:
        is_class = literal is None and frame[target].n_unique() * _ROWS_OF_CLASS <= frame.height
        names = ("text", "label") if is_class else ("question", "answer")
        made = frame.select(pl.col(asked).alias(names[0]), answer.alias(names[1]))
    else:
        if literal is None and frame[target].dtype.is_integer():
            # A number is a position from 0.
            letters = dict(enumerate(ascii_uppercase))
            answer = pl.col(target).replace_strict(letters, default=None, return_dtype=pl.String)
        options = pl.concat_list(listed) if isinstance(choices, list) else pl.col(listed[0])
        made = frame.select(pl.col(asked).alias("question"), options.alias("choices"), answer.alias("answer"))
    said = [f"{FILE}: {asked} is the {made.columns[0]}, {target} the {made.columns[-1]}"
            + (f", {' + '.join(listed)} the choices." if listed else ".")]  # fmt: skip
    if shuffled and choices is not None:
        made, said = _shuffled(made), [*said, "The order of choices is drawn at random, as shuffle_choices asks."]
    # What is right is named; another column that may hold answers would be taken for the right ones.
    rest = [each for each in frame.columns if each not in used and each not in made.columns]
    kept = [each for each in rest if not _ANSWERS.search(normalized(each))]
    if aside := [each for each in rest if each not in kept]:
        said.append(f"Left out, as {FILE} gives them no role: {listing(aside, 5)}.")
    return pl.concat([made, frame.select(kept)], how="horizontal"), said


def _shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    """The items with the choices of each in random order, and the letter of the right one moved with it."""
    random = np.random.default_rng(0)
    rows = []
    for row in frame.iter_rows(named=True):
        choices, answer = row["choices"], row["answer"]
        if isinstance(choices, list):
            order = random.permutation(len(choices)).tolist()
            row["choices"] = [choices[at] for at in order]
            at = ascii_uppercase.find(answer) if isinstance(answer, str) and len(answer) == 1 else -1
            row["answer"] = ascii_uppercase[order.index(at)] if at in order else answer
        rows.append(row)
    return pl.DataFrame(rows, schema=frame.schema)


def _named(folder: Path, configuration: str, split: str) -> Iterator[Path]:
    """The files that the metadata of README.md name for a configuration and split."""
    card = folder / "README.md"
    front = _FRONT.match(read_text(card)[0].replace(b"\r\n", b"\n")) if card.is_file() and card.stat().st_size else None
    configurations = _mapping(parse_yaml(front[1], card)).get("configs") if front else None
    for each in configurations if isinstance(configurations, list) else ():
        if str(_mapping(each).get("config_name", "default")) == configuration:
            listed = each.get("data_files")
            # Files without a split are a training part.
            parts = listed if isinstance(listed, list) and all(isinstance(x, dict) for x in listed) else [
                {"split": "train", "path": listed}
            ]  # fmt: skip
            for part in parts:
                if str(part.get("split", "train")) == split:
                    for pattern in part["path"] if isinstance(part.get("path"), list) else [part.get("path")]:
                        # What a card names stays within its folder.
                        if isinstance(pattern, str) and pattern and ".." not in Path(pattern).parts:
                            yield from folder.glob(pattern.removeprefix("/"))


def _found(folder: Path, configuration: str, split: str) -> Iterator[Path]:
    """The data files whose path says the configuration and split, or whose name is the configuration alone."""
    from goldassay.data.hub import is_data, part_of

    for file in sorted(folder.rglob("*")):
        place = file.relative_to(folder).as_posix()
        if file.is_file() and is_data(place):
            of, part = part_of(place)
            if (of, part) == (configuration, split) or (of == "default" and part == configuration):
                yield file


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def parse_yaml(text: bytes, file: Path) -> Any:
    """The content of a YAML file.

    Raises:
        InputError: It is no YAML.
    """
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or error
        row = None if mark is None else mark.line + 1
        raise InputError(f"is no YAML: {problem}", file=file, row=row, mend="correct it") from error
