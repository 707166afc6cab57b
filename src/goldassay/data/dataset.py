"""A labelled set of texts, and how one is made of a table.

Roles are given out, labels cleaned, rows without text or label dropped and counted.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.data.column_names import PARTS
from goldassay.data.fields import fields_of, name_fields, with_keys
from goldassay.data.labels import as_text, clean_labels, nli_names, ordered, several_in_one
from goldassay.data.roles import (
    Roles,
    assign_roles,
    holds_lists,
    holds_objects,
    likely_label,
    naming,
    parse_columns,
    searching,
    several,
    without_classes,
)
from goldassay.data.table import Provenance, Table, table_of
from goldassay.data.unread import Unread, find_unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


EMPTY_TEXT = "text is empty"
EMPTY_SCORE = "score is empty"
# How the sentence on a part without a label begins.
UNLABELLED = "Not used: the part"
_MOST_LABELS = 100
_SHOWN_ROWS = 5
_SHOWN_CHARACTERS = 160


@dataclass(frozen=True, repr=False)
class Dataset:
    """Examples with their texts, labels and groups, and where they came from.

    Attributes:
        examples: One row an example: `example_id`, one String column a text role, `label` (String; Float64 for
            scores; absent if unlabelled), group columns under their own names, `split` and `annotator_labels` if
            there are any, and all other columns as metadata.
        text_columns: Roles of the texts in order: ("premise", "hypothesis"), ("text",), ("question", "context").
        label_names: Entailment, neutral, contradiction in this order where these are the labels; otherwise sorted.
            Empty for unlabelled data and for scores.
        name: What the dataset is called in reports.
        groups: Names of the group columns.
        provenance: Files, roles, decisions and what was dropped.
        cluster_columns: Those of them in which rows of one group depend on each other, such as a batch of rewritten
            rows: a column that was given as `group` or is called so. Kinds of rows, such as a genre, are not.
        unread: Columns without a role that may be part of the task: `.columns` all of them, `.choices` those that look
            like choices or answers, without which no verdict can be trusted.
    """

    examples: pl.DataFrame
    text_columns: tuple[str, ...]
    label_names: tuple[str, ...]
    name: str
    groups: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    cluster_columns: tuple[str, ...] = ()
    unread: Unread = field(default_factory=Unread)
    place: str = ""
    """The path it was read from, for messages; "" of what is in memory."""

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        columns: Mapping[str, str] | str | None = None,
        name: str | None = None,
        label_names: Sequence[str] | None = None,
    ) -> Dataset:
        """Make a dataset of rows in memory.

        Args:
            frame: A polars frame (lazy or not), pandas frame, Arrow table, `datasets.Dataset` (class labels take
                their names), list of dicts, or dict of lists.
            columns: Role to column where names do not tell: `{"premise": "sentence1"}` or "premise=sentence1".
            name: What to call the dataset; "data" if not given.
            label_names: The labels that may occur, in order; any other is refused.

        Raises:
            InputError: No column can be the text, labels cannot be used, or nothing is left.
        """
        roles = parse_columns(columns) if isinstance(columns, str) else columns
        return build_dataset(table_of(frame), roles, name or "data", label_names)

    def __len__(self) -> int:
        return self.examples.height

    @property
    def source(self) -> str:
        """What a message calls it: its file where it has just one, else its name."""
        files = self.provenance.files
        return files[0].name if len(files) == 1 else self.name

    @property
    def is_pair(self) -> bool:
        """Whether each example is a premise with a hypothesis."""
        return self.text_columns == ("premise", "hypothesis")

    def labels(self) -> NDArray[np.int64]:
        """Codes of the labels: indices into `label_names`, (N,).

        Raises:
            InputError: The dataset is unlabelled, or its labels are scores.
        """
        if not self.label_names:
            besides = {*self.text_columns, "example_id", "split"}
            raise without_classes(self.examples, self.place or self.source, besides, self.provenance.roles)
        labels = self.examples["label"]
        codes = labels.replace_strict(
            pl.Series(self.label_names), pl.Series(range(len(self.label_names)), dtype=pl.Int64), return_dtype=pl.Int64
        )
        return codes.to_numpy().astype(np.int64)

    def other_label(self) -> str:
        """The option that names another column as the label."""
        return naming(self.examples, "label", besides={*self.text_columns, "example_id", "split", "label"})

    def joined_texts(self) -> list[str]:
        """The texts of each row, all roles joined by one space, in order of rows."""
        joined = pl.concat_str(list(self.text_columns), separator=" ", ignore_nulls=True)
        return self.examples.select(joined.alias("text"))["text"].to_list()

    def texts(self, role: str) -> list[str]:
        """Texts of one role, in order of rows.

        Raises:
            InputError: The dataset has no such role.
        """
        return self.column(role).to_list()

    def column(self, role: str) -> pl.Series:
        """Texts of one role as a column, which takes less memory than `texts`.

        Raises:
            InputError: The dataset has no such role.
        """
        if role not in self.text_columns:
            raise InputError(
                f"the dataset {self.name!r} has no {role}", mend=f"it has {' and '.join(self.text_columns)}"
            )
        return self.examples[role]

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Dataset:
        """Keep some rows, by their numbers (in that order) or by a mask, (N,). Label names stay."""
        index = np.asarray(rows)
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        return replace(self, examples=self.examples[index.astype(np.int64)])

    def with_keys(self, names: Iterable[str]) -> Dataset:
        """The dataset with a column for each key that is named, see `fields.with_keys`.

        Raises:
            InputError: A column has no such field; it names the file.
        """
        try:
            return replace(self, examples=with_keys(self.examples, names))
        except InputError as error:
            raise InputError(error.problem, file=self.source, column=error.column, mend=error.mend) from error

    @property
    def parts(self) -> dict[str, Dataset]:
        """The parts that the split column names, train, dev and test first; empty when there is none."""
        if "split" not in self.examples.columns:
            return {}
        present = self.examples["split"].unique(maintain_order=True).to_list()
        order = {"train": 0, "dev": 1, "test": 2}
        names = sorted((name for name in present if name), key=lambda name: (order.get(name, 3), name))
        return {name: self._part(name) for name in names}

    def _part(self, name: str) -> Dataset:
        examples = self.examples.filter(pl.col("split") == name)
        prefix = f"{name}/"
        # Ids that were made whole by the name of the part are again those of its own file.
        if bool(examples["example_id"].str.starts_with(prefix).all()):
            examples = examples.with_columns(pl.col("example_id").str.strip_prefix(prefix))
        return replace(self, examples=examples, name=f"{self.name}/{name}")

    def __repr__(self) -> str:
        labels = ", ".join(self.label_names) or ("scores" if "label" in self.examples.columns else "unlabelled")
        return f"Dataset({self.name!r}: {len(self)} examples, {' + '.join(self.text_columns)}; {labels})"

    def _repr_html_(self) -> str:
        shown = [*self.text_columns, *(c for c in ("label", *self.groups) if c in self.examples.columns)]
        head = "".join(f"<th>{html.escape(column)}</th>" for column in shown)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shortened(value))}</td>" for value in row) + "</tr>"
            for row in self.examples.select(shown).head(_SHOWN_ROWS).iter_rows()
        )
        title = html.escape(repr(self))
        return f"<p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _shortened(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


@dataclass
class _Draft:
    """A dataset in the making; the first reason found is the one for which a row is dropped."""

    table: Table
    roles: Roles
    path: Path | None
    columns: dict[str, pl.Series] = field(default_factory=dict)
    reason: pl.Series = field(default_factory=pl.Series)
    decisions: list[str] = field(default_factory=list)
    label_names: tuple[str, ...] = ()

    def error(self, problem: str, mend: str, row: int | None = None, column: str | None = None) -> InputError:
        path, line = (self.path, None) if row is None else self.table.place_of(row)
        return InputError(problem, file=path or self.path, row=line, column=column, mend=mend)

    def drop_where(self, reasons: pl.Series) -> None:
        self.reason = pl.select(pl.coalesce(self.reason, reasons)).to_series()


def build_dataset(
    table: Table,
    columns: Mapping[str, str] | None,
    name: str,
    label_names: Sequence[str] | None = None,
    path: Path | None = None,
    places: str = "",
) -> Dataset:
    """Interpret a table.

    Args:
        table: What a reader gave.
        columns: Roles that the user has set, role to column.
        name: Name of the dataset.
        label_names: The labels that may occur, in order; any other is refused.
        path: For messages.
        places: How a further column is called that has the row of the table, from 0; "" for none.

    Raises:
        InputError: See `assign_roles`; ids repeat; a label is outside `label_names`; or no row is left.
    """
    if table.frame.height == 0:
        raise InputError("there is not a single row", file=path, mend="give a file with at least one example")
    try:
        frame, columns = name_fields(table.frame, columns)
        table = replace(table, frame=frame)
        roles = assign_roles(table.frame, columns, table.roles)
    except InputError as error:
        raise InputError(error.problem, file=path, column=error.column, mend=error.mend) from error
    draft = _Draft(table, roles, path, decisions=[*table.decisions, *roles.decisions])
    draft.reason = pl.repeat(None, table.frame.height, dtype=pl.String, eager=True)
    _add_split(draft)
    _add_ids(draft)
    _add_texts(draft)
    _add_labels(draft, label_names)
    _add_scores(draft)
    _add_annotators(draft)
    _add_rest(draft)
    if places:
        draft.columns[places] = pl.int_range(table.frame.height, eager=True).alias(places)
    return _finished(draft, name)


def _add_ids(draft: _Draft) -> None:
    column, frame = draft.roles.id, draft.table.frame
    if column is None:
        ids = pl.int_range(frame.height, eager=True).cast(pl.String)
    else:
        ids = own_ids(frame, column)
        missing = (ids.is_null() | (ids == "")).arg_true()
        if len(missing):
            raise draft.error("the id is missing", "fill it in, or remove the column", int(missing[0]), column)
        if ids.n_unique() < len(ids):
            ids = _ids_with_group(draft, ids, column)
    draft.columns["example_id"] = ids.alias("example_id")


def own_ids(frame: pl.DataFrame, column: str) -> pl.Series:
    """The ids of rows, (N,), text; those of several columns are joined."""
    parts = [as_text(frame[part]).alias(part) for part in several(column, frame.columns, "id")]
    return pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator="/")).to_series()


def whole_ids(ids: pl.Series, within: Mapping[str, pl.Series]) -> tuple[str, pl.Series] | None:
    """Ids that count within each group or part, as those of files in folders do, made whole by its name.

    Args:
        ids: Of rows, (N,), some of them equal.
        within: The columns of groups and parts, (N,) each.

    Returns:
        The column that makes them whole, and the ids; None where none does.
    """
    for group, name in within.items():
        whole = name + "/" + ids
        if whole.null_count() == 0 and whole.n_unique() == len(whole):
            return group, whole
    return None


def _ids_with_group(draft: _Draft, ids: pl.Series, column: str) -> pl.Series:
    names = {group: as_text(draft.table.frame[group]) for group in draft.roles.groups}
    if "split" in draft.columns:
        names["split"] = draft.columns["split"]
    if (found := whole_ids(ids, names)) is not None:
        group, whole = found
        draft.decisions.append(f"Ids in {column!r} repeat across {group!r}; example ids are {group}/{column}.")
        return whole
    again = (~ids.is_first_distinct()).arg_true()[0]
    frame = draft.table.frame
    texts = {column, *draft.roles.texts.values()}
    within = [name for name in frame.columns if name not in texts and not frame.schema[name].is_nested()]
    within.sort(key=lambda name: frame[name].n_unique())
    # Of columns that make ids whole the one with the fewest values is what the rows are grouped by.
    by = whole_ids(ids, {name: as_text(frame[name]) for name in within if frame[name].n_unique() < frame.height})
    mend = (
        naming(frame, "id", besides=[column]) if by is None else f"perhaps {option('columns', f'id={by[0]}+{column}')}"
    )
    problem = f"the id {ids[again]!r} occurs twice"
    raise draft.error(problem, f"give each example an id of its own: {mend}", again, column)


def _add_texts(draft: _Draft) -> None:
    for role, column in draft.roles.texts.items():
        values = draft.table.frame[column]
        if values.dtype == pl.List(pl.String):
            draft.decisions.append(f"The texts of each list in {column!r} are joined by line feeds.")
            values = values.list.join("\n", ignore_nulls=True)
        if values.dtype.is_nested():
            mend = naming(draft.table.frame, role, besides=[column])
            raise draft.error("the column holds lists or objects, not text", mend, None, column)
        text = as_text(values).fill_null("").alias(role)
        draft.columns[role] = text
        empty = text.str.strip_chars() == ""
        reason = EMPTY_TEXT if role == "text" else f"{role} is empty"
        draft.drop_where(pl.select(pl.when(empty).then(pl.lit(reason))).to_series())


def _add_labels(draft: _Draft, label_names: Sequence[str] | None) -> None:
    column = draft.roles.label
    if column is None:
        return
    values = draft.table.frame[column]
    if holds_objects(values) and (fields := fields_of(values)):
        within = name_fields(draft.table.frame, {field: field for field in fields})[0].select(fields)
        named = option("columns", f"label={likely_label(within, ()) or fields[0]}")
        mend = f"choose one of {', '.join(fields)}, as in {named}"
        raise draft.error("the column holds objects, not one label per row", mend, None, column)
    if values.dtype.is_nested() or holds_lists(values):
        mend = _each_label_apart(draft, column)
        raise draft.error("the column holds lists, not one label per row", mend, None, column)
    if not draft.table.class_names.get(column) and is_fractional(values):
        draft.decisions.append(f"The values of {column!r} have fractions: they are scores to be predicted.")
        _set_scores(draft, column)
        return
    is_pair = tuple(draft.roles.texts) == ("premise", "hypothesis")
    clean = clean_labels(values, is_pair, draft.table.class_names.get(column))
    draft.decisions.extend(clean.decisions)
    if "split" in draft.columns:
        labelled = pl.DataFrame([draft.columns["split"], clean.values.alias("label")])
        counts = labelled.group_by("split", maintain_order=True).agg(n=pl.len(), known=pl.col("label").count())
        for part, n, n_known in counts.iter_rows():
            if n_known == 0:
                why = clean.reasons.filter(draft.columns["split"] == part)[0]
                draft.decisions.append(f"{UNLABELLED} {part!r} has no labels ({n:,} rows: {why}).")
    if clean.values.null_count() == len(clean.values):
        counts = clean.reasons.value_counts(sort=True)
        taken = [column, *draft.roles.texts.values(), draft.roles.id]
        raise draft.error(
            f"no row has a label ({counts['count'][0]} times: {counts.to_series(0)[0]})",
            f"give a part with labels; {naming(draft.table.frame, 'label', besides=[str(each) for each in taken])}; "
            + _searched_without(draft, column),
            None,
            column,
        )
    if joined := several_in_one(clean.values.drop_nulls().unique().to_list()):
        label, parts = joined
        raise draft.error(
            f"the label {label!r} holds several ({', '.join(map(repr, parts))}); a row has one label here",
            _each_label_apart(draft, column),
            None,
            column,
        )
    draft.label_names = _known_labels(draft, clean.values, clean.renamed, label_names, column)
    spelled: dict[str, list[str]] = {}
    for label in draft.label_names:
        spelled.setdefault(label.casefold(), []).append(label)
    for alike in (labels for labels in spelled.values() if len(labels) > 1):
        draft.decisions.append(f"The labels {' and '.join(map(repr, alike))} differ in capitals, and are classes each.")
    draft.columns["label"] = clean.values.alias("label")
    draft.drop_where(clean.reasons)


def _each_label_apart(draft: _Draft, column: str) -> str:
    """What becomes of a column that holds several labels, and what needs none."""
    return (
        "give each label a column of its own, 1 where a row has it, and name one of them as the label; "
        f"{_searched_without(draft, column)}"
    )


def _searched_without(draft: _Draft, column: str) -> str:
    return searching(str(draft.path or "FILE"), f" {option('columns', f'ignore={column}')}")


def _known_labels(
    draft: _Draft,
    values: pl.Series,
    renamed: Mapping[str, str],
    label_names: Sequence[str] | None,
    column: str,
) -> tuple[str, ...]:
    if label_names is None:
        return ordered(values.filter(draft.reason.is_null()).drop_nulls().unique().to_list())
    usual = nli_names(label_names) if renamed or set(label_names).isdisjoint(set(values.drop_nulls())) else {}
    known = tuple(dict.fromkeys(renamed.get(label, usual.get(label, label)) for label in label_names))
    outside = (~values.is_in(list(known)) & values.is_not_null()).arg_true()
    if len(outside):
        raise draft.error(
            f"the label {values[outside[0]]!r} is none of {', '.join(label_names)}",
            "mend the row, or add the label to the given ones",
            outside[0],
            column,
        )
    return known


def is_fractional(values: pl.Series) -> bool:
    """Whether all values are numbers and some have fractions, so that they are scores and no labels."""
    if values.dtype.is_float():
        numbers = values
    elif values.dtype == pl.String:
        filled = values.str.strip_chars().replace("", None).drop_nulls()
        numbers = filled.cast(pl.Float64, strict=False)
        if numbers.null_count():
            return False
    else:
        return False
    finite = numbers.fill_nan(None).drop_nulls()
    return bool((finite != finite.round()).any())


def _add_scores(draft: _Draft) -> None:
    if draft.roles.score is not None:
        _set_scores(draft, draft.roles.score)


def _set_scores(draft: _Draft, column: str) -> None:
    values = draft.table.frame[column]
    if values.dtype == pl.String:
        filled = values.str.strip_chars().replace("", None)
        scores = filled.cast(pl.Float64, strict=False)
        bad = (scores.is_null() & filled.is_not_null()).arg_true()
        if len(bad):
            raise draft.error(f"the score {filled[bad[0]]!r} is no number", "mend the row", bad[0], column)
    elif values.dtype.is_numeric():
        scores = values.cast(pl.Float64)
    else:
        raise draft.error(
            "the column holds no numbers", naming(draft.table.frame, "score", besides=[column]), None, column
        )
    scores = scores.fill_nan(None)
    if scores.null_count() == len(scores):
        raise draft.error("no row has a score", naming(draft.table.frame, "score", besides=[column]), None, column)
    draft.columns["label"] = scores.alias("label")
    draft.drop_where(pl.select(pl.when(scores.is_null()).then(pl.lit(EMPTY_SCORE))).to_series())


def _add_split(draft: _Draft) -> None:
    if draft.roles.split is not None:
        draft.columns["split"] = part_names(draft.table.frame[draft.roles.split])


def part_names(values: pl.Series) -> pl.Series:
    """Names of parts as train, dev and test, (N,); others as they are."""
    names = as_text(values).str.strip_chars()
    lowered = names.str.to_lowercase()
    known = pl.Series(list(PARTS))
    return (
        pl.select(pl.when(lowered.is_in(known.implode())).then(lowered.replace(PARTS)).otherwise(names))
        .to_series()
        .alias("split")
    )


def _add_annotators(draft: _Draft) -> None:
    columns, frame = draft.roles.annotators, draft.table.frame
    if not columns:
        return
    if len(columns) == 1 and frame[columns[0]].dtype.is_nested():
        lists = frame[columns[0]].cast(pl.List(pl.String))
    else:
        texts = [as_text(frame[column]).alias(column) for column in columns]
        lists = pl.DataFrame(texts).select(pl.concat_list(pl.all())).to_series()
    flat = lists.explode().drop_nulls().unique().to_list()
    renamed = nli_names([label for label in flat if label]) if draft.label_names else {}
    draft.columns["annotator_labels"] = (
        pl.DataFrame({"a": lists})
        .select(pl.col("a").list.eval(pl.element().filter(pl.element().is_not_null() & (pl.element() != ""))))
        .select(pl.col("a").list.eval(pl.element().replace(renamed)))
        .to_series()
        .alias("annotator_labels")
    )


def _add_rest(draft: _Draft) -> None:
    roles, frame = draft.roles, draft.table.frame
    used = {*roles.texts.values(), roles.id, roles.split, *roles.annotators, *roles.ignored}
    used |= {roles.label, roles.score} if "label" in draft.columns else set()
    for column in frame.columns:
        if column in used:
            continue
        name = column
        while name in draft.columns or (name != column and name in frame.columns):
            name += "_column"
        values = frame[column]
        is_group = column in roles.groups
        draft.columns[name] = (as_text(values) if is_group else values).alias(name)


def unread_columns(frame: pl.DataFrame, roles: Roles) -> Unread:
    """What no role covers; a list of labels is no list of choices."""
    covered = roles.covered()
    if tuple(roles.texts) == ("question", "context"):
        # Of extractive answers, which models of questions on a context read.
        covered |= {"answers", "answer_starts"}
    values = [] if roles.label is None else as_text(frame[roles.label]).drop_nulls().unique().to_list()
    return find_unread(frame, covered, values if len(values) <= _MOST_LABELS else ())


def _unread(draft: _Draft) -> Unread:
    """What no role covers, with a line for what is ignored and what is not read."""
    unread = unread_columns(draft.table.frame, draft.roles)
    if unread.auxiliary:
        draft.decisions.append(f"Ignored as auxiliary, by name: {', '.join(map(repr, unread.auxiliary))}.")
    if unread.columns:
        draft.decisions.append(f"Not read, since they have no role: {', '.join(map(repr, unread.columns))}.")
    return unread


def _finished(draft: _Draft, name: str) -> Dataset:
    frame = pl.DataFrame([draft.columns.pop("example_id"), *draft.columns.values()])
    dropped: dict[str, int] = {}
    if draft.reason.null_count() < len(draft.reason):
        counts = draft.reason.drop_nulls().value_counts(sort=True, name="n")
        dropped = dict(zip(counts.to_series(0).to_list(), counts["n"].to_list(), strict=True))
        frame = frame.filter(draft.reason.is_null())
    if frame.height == 0:
        why = ", ".join(f"{reason} in {count}" for reason, count in dropped.items())
        raise draft.error(f"no row is left: {why}", "give a file with texts and labels, or name other columns as these")
    unread = _unread(draft)
    provenance = Provenance(
        files=draft.table.files,
        format=draft.table.format,
        roles=draft.roles.as_dict(),
        decisions=tuple(draft.decisions),
        n_read=draft.table.frame.height,
        dropped=dropped,
    )
    return Dataset(
        examples=frame,
        text_columns=tuple(draft.roles.texts),
        label_names=draft.label_names,
        name=name,
        groups=draft.roles.groups,
        provenance=provenance,
        cluster_columns=draft.roles.dependent,
        unread=unread,
        place="" if draft.path is None else str(draft.path),
    )
