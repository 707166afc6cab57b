"""A labelled set of texts: what every room of the package takes."""

from __future__ import annotations

import html
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.data.provenance import Provenance
from goldassay.data.unread import Unread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

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
        from goldassay.data.building import build_dataset
        from goldassay.data.frames import table_of
        from goldassay.data.roles import parse_columns

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
            what = "scores, not classes" if "label" in self.examples.columns else "no labels"
            columns = ", ".join(repr(column) for column in self.examples.columns[:20] if column != "example_id")
            raise InputError(
                f"there are {what} (columns: {columns})",
                file=self.source,
                mend=f"name the label column with {option('columns', 'label=NAME')}",
            )
        labels = self.examples["label"]
        codes = labels.replace_strict(
            pl.Series(self.label_names), pl.Series(range(len(self.label_names)), dtype=pl.Int64), return_dtype=pl.Int64
        )
        return codes.to_numpy().astype(np.int64)

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
