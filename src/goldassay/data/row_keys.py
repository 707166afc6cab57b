"""Keys of rows by content, which a row keeps wherever it stands, equal texts, and rows called by their numbers."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.fields import normalized_texts
from goldassay.data.near_copies import join_near_copies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.data.kinds.choices import ChoiceItems

# 128 bits: two rows of a billion agree by chance with a probability below 1e-20.
_DIGITS = 32
# The columns of an item with choices, as tables of examples have them.
ITEM_COLUMNS = ("passage", "question", "choices", "answer")


def row_key(parts: Mapping[str, object]) -> str:
    """SHA-256 over the texts and the label of a row, its first 32 hexadecimal digits.

    Choices count in any order, since a file may list the right one first.

    Args:
        parts: {column: text, or list of texts}; absent values are None.
    """
    plain = {name: sorted(map(str, value)) if isinstance(value, list) else value for name, value in parts.items()}
    content = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def copies_of(ids: Sequence[str]) -> str:
    """What a decision remembers of all rows with its content: how many, and a digest of their ids; "" of a single one.

    Args:
        ids: Those of all rows with the content, in any order.
    """
    if len(ids) < 2:
        return ""
    content = json.dumps(sorted(ids), ensure_ascii=True)
    return f"{len(ids)}:{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def are_positions(ids: pl.Series) -> bool:
    """Whether ids count the rows, so that another file gives them to other rows: whole numbers, also within a part.

    A column of numbers that are ids by themselves is taken for the same.
    """
    return bool(ids.str.contains(r"^(.*/)?\d+$").fill_null(value=False).all())


def keys_of(rows: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """The key of each row, of some of its columns."""
    return [row_key(row) for row in rows.select(columns).iter_rows(named=True)]


def content_columns(dataset: Dataset) -> tuple[str, ...]:
    """The columns of `Dataset.examples` that a row's key is made of."""
    return (*dataset.text_columns, *(("label",) if "label" in dataset.examples.columns else ()))


def item_frame(items: ChoiceItems) -> pl.DataFrame:
    """The items as columns `example_id` and `ITEM_COLUMNS`, a row an item; `answer` holds the right choices' texts."""
    of = pl.DataFrame({"item": items.item_of, "text": items.texts, "right": items.right})
    grouped = of.group_by("item", maintain_order=True).agg(
        pl.col("text").alias("choices"), pl.col("text").filter("right").alias("answer")
    )
    return pl.DataFrame(
        {
            "example_id": items.ids.cast(pl.String),
            "passage": items.passages.cast(pl.String),
            "question": items.questions.cast(pl.String),
            "choices": grouped["choices"],
            "answer": grouped["answer"],
        }
    )


def end_of_numbers(dataset: Dataset) -> int | None:
    """The number after that of the file's last row; None where rows have ids of their own."""
    if "id" in dataset.provenance.roles:
        return None
    # A part of a file has the numbers of the file.
    ids = map(str, dataset.examples["example_id"].to_list())
    return max([dataset.provenance.n_read, *(int(each) + 1 for each in ids if each.isdecimal())])


def any_beyond(ids: Iterable[str], end: int | None) -> bool:
    """Whether some ids are numbers of rows beyond a file's end.

    They are of a file with other rows, such as that before some were dropped, whose numbers here are those of other
    texts.
    """
    return end is not None and any(each.isdecimal() and int(each) >= end for each in ids)


def text_codes(dataset: Dataset, roles: Sequence[str], *, near_copies: bool = False) -> NDArray[np.int64]:
    """A code for each distinct text across roles, compared by `normalized_text`, (N, roles).

    Args:
        dataset: With the texts.
        roles: Which of them.
        near_copies: Give near copies the code of their representative, see `join_near_copies`; some codes are then
            not used.
    """
    texts = pl.concat([normalized_texts(dataset.examples[role]).alias("text") for role in roles])
    first = texts.to_frame().with_row_index("at").select(pl.col("at").min().over("text")).to_series().to_numpy()
    is_first = first == np.arange(first.size)
    codes = (np.cumsum(is_first) - 1)[first]
    found = codes.reshape(len(roles), -1).T.astype(np.int64)
    if not near_copies:
        return found
    return join_near_copies(texts.filter(pl.Series(is_first)).to_list(), np.bincount(codes))[found]
