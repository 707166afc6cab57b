"""Labelled texts of files of any size: roles, labels and parts as `read_dataset` decides them, block by block.

What rests on the whole file is put off until all blocks were seen: rows with the same label (as written), part and
value of a further column share a code, and at the end each code has its label, or is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.bounds import reading
from goldassay.core.errors import InputError, option
from goldassay.data.blocks import Block, read_blocks
from goldassay.data.column_names import PARTS
from goldassay.data.dataset import EMPTY_TEXT, is_fractional
from goldassay.data.fields import with_keys
from goldassay.data.labels import CleanLabels, as_text, clean_labels, ordered
from goldassay.data.languages import UNSPACED
from goldassay.data.roles import Roles, assign_roles, naming, several, without_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

# Rows by which the script is told: as many as for a dataset in memory.
_SAMPLED = 1000
_MOST_CODES = 20_000


class LabelledBlock(NamedTuple):
    """Some rows.

    Attributes:
        texts: A String column for each text role.
        ids: As the files have them; where they have none, the number of the row among all, from 0.
        codes: -1 where a text is empty.
        done: The share read so far.
        groups: A String column for each column of groups whose rows depend on each other, and for each of those that
            were to be kept; null where blank.
    """

    texts: pl.DataFrame
    ids: pl.Series
    codes: NDArray[np.int32]
    done: float
    groups: pl.DataFrame


@dataclass(frozen=True)
class Resolved:
    """What the codes of all blocks mean.

    Attributes:
        text_columns: The text roles in order.
        label_names: As of a dataset.
        labels: Position in `label_names` of each code, -1 where its rows are left out.
        values: The further column's value of each code, "" where there is none.
        n_rows: Rows of each code whose texts are not empty.
        length_unit: As `facts.length_unit_of` tells of the rows that are not left out.
        roles: Role to column, as provenance keeps it.
        decisions: What was decided without being asked.
        part: Of several parts of a dataset the one that was taken; "" where all rows were.
        n_read: Rows read, before any was dropped.
        dropped: Rows dropped, counted by reason.
    """

    text_columns: tuple[str, ...]
    label_names: tuple[str, ...]
    labels: NDArray[np.int32]
    values: tuple[str, ...]
    n_rows: NDArray[np.int64]
    length_unit: str
    roles: Mapping[str, str]
    decisions: tuple[str, ...]
    part: str
    n_read: int
    dropped: Mapping[str, int]

    def label_counts(self) -> list[int]:
        """Rows of each label, (K,)."""
        kept = self.labels >= 0
        return np.bincount(self.labels[kept], self.n_rows[kept], len(self.label_names)).astype(int).tolist()


class LabelledBlocks:
    """Reads files, one after the other, as one labelled set of texts.

    Whether ids repeat is not looked at.

    Args:
        paths: The files; all with the same columns.
        file_format: As for `read_dataset`.
        columns: Roles that the user has set, role to column.
        by: A further column by whose values rows are told apart.
        part: Of rows that name several parts of a dataset, the part taken, if it is there.
        keep: Further columns whose values are given with the texts.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        file_format: str = "auto",
        columns: Mapping[str, str] | None = None,
        by: str | None = None,
        part: str = "train",
        keep: Sequence[str] = (),
    ) -> None:
        self._paths, self._format, self._columns, self._by, self._part = paths, file_format, columns, by, part
        self._keep = tuple(keep)
        self._roles: Roles | None = None
        self._class_names: Mapping[str, tuple[str, ...]] = {}
        self._kinds: dict[str, str] = {}
        self._codes: dict[tuple[str | None, str | None, str], int] = {}
        self._n_rows: list[int] = []
        self._samples: list[list[tuple[int, int, int]]] = []
        self._n_read = 0
        self._n_empty: dict[str, int] = {}

    def __iter__(self) -> Iterator[LabelledBlock]:
        """Read all blocks.

        Raises:
            InputError: As `read_dataset`; or the columns or what they hold changes within the files.
        """
        for number, path in enumerate(self._paths):
            with reading(path):
                for block in read_blocks(path, self._format):
                    if block.frame.height:
                        texts, ids, codes = self._coded(block, path)
                        done = (number + block.done) / len(self._paths)
                        yield LabelledBlock(texts, ids, codes, done, self._groups(block.frame))
        if self._roles is None:
            raise InputError(
                "there is not a single row", file=self._paths[0], mend="give a file with at least one example"
            )

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The text roles in order; known from the first block on."""
        assert self._roles is not None
        return tuple(self._roles.texts)

    def length_unit(self, codes: Sequence[int] | None = None) -> str:
        """As `facts.length_unit_of` tells of the rows with these codes, by default of all that were read so far."""
        chosen = self._samples if codes is None else [self._samples[code] for code in codes]
        first = sorted(row for sample in chosen for row in sample)[:_SAMPLED]
        return "characters" if 2 * sum(n for _, n, _ in first) > sum(n for _, _, n in first) else "words"

    def resolve(self) -> Resolved:
        """Say what the codes mean, after all blocks were read.

        Raises:
            InputError: There are no classes, or no row is left.
        """
        assert self._roles is not None
        keys = list(self._codes)
        n_rows = np.array(self._n_rows, np.int64)
        clean = self._clean(pl.Series([label for label, _, _ in keys], dtype=pl.String))
        values = clean.values
        left = values.is_not_null().to_numpy() & (n_rows > 0)
        if not left.any():
            raise InputError(
                "no row is left with texts and a label",
                file=self._paths[0],
                mend="name other columns as these",
            )
        label_names = ordered(sorted({label for label, kept in zip(values, left, strict=True) if kept}))
        parts = [_part_name(part) for _, part, _ in keys]
        present = {part for part, kept in zip(parts, left, strict=True) if kept and part}
        chosen = self._part if len(present) > 1 and self._part in present else ""
        if chosen:
            left &= np.array([part == self._part for part in parts])
        position = {name: k for k, name in enumerate(label_names)}
        labels = [position[label] if kept else -1 for label, kept in zip(values, left, strict=True)]
        return Resolved(
            self.text_columns,
            label_names,
            np.array(labels, np.int32),
            tuple(value for _, _, value in keys),
            n_rows,
            self.length_unit(np.flatnonzero(left).tolist()),
            self._roles.as_dict(),
            (*self._roles.decisions, *clean.decisions),
            chosen,
            self._n_read,
            self._dropped(clean.reasons, n_rows),
        )

    def _dropped(self, reasons: pl.Series, n_rows: NDArray[np.int64]) -> dict[str, int]:
        """Rows left out by reason, the most frequent first; those of other parts of the dataset are not dropped."""
        dropped = dict(self._n_empty)
        for reason, n in zip(reasons, n_rows.tolist(), strict=True):
            if reason is not None and n:
                dropped[reason] = dropped.get(reason, 0) + n
        return dict(sorted(dropped.items(), key=lambda item: -item[1]))

    def _count_empty(self, texts: pl.DataFrame) -> pl.Series:
        """Whether all texts of each row are there; of the others the first empty one is the reason."""
        filled = pl.repeat(value=True, n=texts.height, eager=True)
        for role in texts.columns:
            empty = filled & (texts[role].str.strip_chars() == "")
            if n := int(empty.sum()):
                reason = EMPTY_TEXT if role == "text" else f"{role} is empty"
                self._n_empty[reason] = self._n_empty.get(reason, 0) + n
                filled &= ~empty
        return filled

    def _groups(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The values of the group columns, null where they are blank or the column is not in this file."""
        assert self._roles is not None
        names = dict.fromkeys((*self._roles.dependent, *self._keep))
        frame = with_keys(frame, self._keep)
        values = [
            (frame[name].cast(pl.String) if name in frame.columns else pl.repeat(None, frame.height, eager=True))
            .cast(pl.String)
            .str.strip_chars()
            .alias(name)
            for name in names
        ]
        return (
            pl.DataFrame(values).select(pl.when(pl.all() != "").then(pl.all()).name.keep())
            if values
            else pl.DataFrame()
        )

    def _ids(self, frame: pl.DataFrame) -> pl.Series:
        assert self._roles is not None
        numbers = pl.int_range(self._n_read, self._n_read + frame.height, eager=True).cast(pl.String)
        wanted = self._roles.id
        columns = () if wanted is None else several(wanted, frame.columns, "id")
        if not columns or not set(columns) <= set(frame.columns):
            return numbers.alias("id")
        parts = [as_text(frame[column]).alias(column) for column in columns]
        ids = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator="/")).to_series()
        return pl.select(pl.when(ids != "").then(ids).otherwise(numbers).alias("id")).to_series()

    def _coded(self, block: Block, path: Path) -> tuple[pl.DataFrame, pl.Series, NDArray[np.int32]]:
        frame = self._with_roles(block, path)
        roles = self._roles
        assert roles is not None
        texts = pl.DataFrame([as_text(frame[column]).fill_null("").alias(role) for role, column in roles.texts.items()])
        filled = self._count_empty(texts)
        label = (
            as_text(frame[roles.label]) if roles.label else pl.repeat(None, frame.height, dtype=pl.String, eager=True)
        )
        part = (
            as_text(frame[roles.split]) if roles.split else pl.repeat(None, frame.height, dtype=pl.String, eager=True)
        )
        by = pl.repeat("", frame.height, eager=True) if self._by is None else self._values(frame, path)
        keyed = pl.DataFrame({"label": label, "part": part, "by": by, "filled": filled})
        known = keyed.group_by("label", "part", "by", maintain_order=True).agg(n=pl.col("filled").sum())
        own = [self._codes.setdefault(key, len(self._codes)) for key in known.select("label", "part", "by").iter_rows()]
        if len(self._codes) > _MOST_CODES:
            raise InputError(
                f"there are more than {_MOST_CODES:,} different labels", file=path, column=roles.label,
                mend=naming(frame, "label", besides=[*roles.texts.values(), roles.label or ""]),
            )  # fmt: skip
        self._n_rows += [0] * (len(self._codes) - len(self._n_rows))
        self._samples += [[] for _ in range(len(self._codes) - len(self._samples))]
        for code, n in zip(own, known["n"].to_list(), strict=True):
            self._n_rows[code] += n
        coded = keyed.join(
            known.select("label", "part", "by", code=pl.Series(own, dtype=pl.Int32)),
            on=["label", "part", "by"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        self._sample(texts.to_series(0), coded)
        ids = self._ids(frame)
        self._n_read += frame.height
        codes = coded.select(pl.when("filled").then("code").otherwise(-1)).to_series().to_numpy().astype(np.int32)
        return texts, ids, codes

    def _with_roles(self, block: Block, path: Path) -> pl.DataFrame:
        """The block, with the columns of the first one's roles, which must be its own."""
        frame = with_keys(block.frame, [] if self._by is None else [self._by])
        if self._roles is None:
            self._class_names = block.class_names
            try:
                self._roles = assign_roles(frame, self._columns)
            except InputError as error:
                raise InputError(error.problem, file=path, column=error.column, mend=error.mend) from error
            if self._roles.label is None:
                raise without_classes(frame, str(self._paths[0]), {*self._roles.texts.values(), self._roles.id or ""})
        elif self._class_names != block.class_names:
            raise InputError("the names of its labels are others than before", file=path, mend="mine it by itself")
        roles = self._roles
        single = [column for column in (roles.label, roles.split, self._by) if column is not None]
        wanted = {*roles.texts.values(), *single}
        missing = [column for column in wanted if column not in frame.columns]
        if self._by in missing and self._n_read == 0:
            raise InputError(
                f"there is no column {self._by!r}", file=path, mend=f"choose from {', '.join(frame.columns)}"
            )
        frame = frame.with_columns(pl.lit(None, pl.Null).alias(column) for column in missing)
        again = assign_roles(frame, self._columns)
        if (again.texts, again.label, again.split) != (roles.texts, roles.label, roles.split):
            raise InputError(
                "its columns change: what holds the texts, the label or the part is not the same everywhere", file=path,
                mend="name other columns as these",
            )  # fmt: skip
        for column in wanted:
            self._check_kind(frame[column], column in roles.texts.values(), path)
        return frame

    def _check_kind(self, values: pl.Series, is_text: bool, path: Path) -> None:
        """Refuse a column whose values are of one kind here and of another there: only the whole would tell which."""
        if values.dtype.is_nested():
            raise InputError("the column holds lists or objects", file=path, column=values.name, mend="choose another")
        kind = "text" if values.dtype == pl.String else "number" if values.dtype.is_numeric() else str(values.dtype)
        if is_text and values.dtype.is_float():
            kind = "whole number" if values.drop_nulls().drop_nans().round().equals(values.drop_nulls()) else "fraction"
        if values.null_count() == len(values):
            return
        if self._kinds.setdefault(values.name, kind) != kind:
            raise InputError(
                f"its values are here {kind}s, there {self._kinds[values.name]}s", file=path, column=values.name,
                mend=f"write all of them as text, or leave out {option('memory')}",
            )  # fmt: skip

    def _values(self, frame: pl.DataFrame, path: Path) -> pl.Series:
        assert self._by is not None
        assert self._roles is not None
        if self._by in {*self._roles.texts.values(), self._roles.label, self._roles.split}:
            raise InputError(
                f"the column {self._by!r} has a role of its own", file=path, mend=f"choose another for {option('by')}"
            )
        return frame[self._by].cast(pl.String, strict=False).fill_null("")

    def _clean(self, labels: pl.Series) -> CleanLabels:
        """The label of each written one."""
        assert self._roles is not None
        column = self._roles.label
        assert column is not None
        names = self._class_names.get(column)
        if not names and is_fractional(labels):
            raise without_classes(labels.cast(pl.Float64).to_frame("label"), str(self._paths[0]))
        return clean_labels(labels, self.text_columns == ("premise", "hypothesis"), names)

    def _sample(self, texts: pl.Series, coded: pl.DataFrame) -> None:
        """Keep of each code's first rows by what the script is told."""
        scarce = [code for code, sample in enumerate(self._samples) if len(sample) < _SAMPLED]
        rows = coded.select("code", "filled", row=pl.int_range(pl.len())).filter(
            pl.col("filled") & pl.col("code").is_in(scarce)
        )
        rows = rows.group_by("code", maintain_order=True).head(_SAMPLED)
        sampled = texts.gather(rows["row"])
        measured = zip(
            rows["code"].to_list(),
            rows["row"].to_list(),
            sampled.str.count_matches(UNSPACED).to_list(),
            sampled.str.len_chars().to_list(),
            strict=True,
        )
        for code, row, n_unspaced, n in measured:
            if len(self._samples[code]) < _SAMPLED:
                self._samples[code].append((self._n_read + row, n_unspaced, n))


def _part_name(part: str | None) -> str | None:
    stripped = None if part is None else part.strip()
    return stripped if stripped is None else PARTS.get(stripped.lower(), stripped)
