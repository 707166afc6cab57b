"""Further picks that need no training: the second longest choice, the number nearest to one of the question.

They are too many, and too often honest, for rules of their own with a limit; but where one of them gains, nothing is
sound. Each is a score of every choice; of an item the choices with the highest one are picked, and ties share the hit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.leakage.choice_kernels import shared_sequences
from goldassay.leakage.choice_rules import NUMBER, WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data.items import ChoiceItems

_ORDINALS = ("second", "third", "fourth", "fifth")
# Units of a sequence: of characters, so that "walk" stands in "walking", and of words.
_CHARACTERS, _WORDS = 4, 3


def untrained_picks(items: ChoiceItems) -> dict[str, NDArray[np.float64]]:
    """Of each pick the score of every choice, (M,): places by length, words and alphabet, numbers, shared sequences.

    Args:
        items: N of them, with M choices.
    """
    option = items.kind.option
    lengths = items.texts.str.len_chars()
    words = items.texts.str.count_matches(r"\S+")
    lowered = items.texts.str.to_lowercase()
    found = {
        f"the first {option} in the alphabet": -_places(lowered, items),
        f"the last {option} in the alphabet": _places(lowered, items),
    }
    for place, ordinal in enumerate(_ORDINALS, start=2):
        if place > (int(items.sizes.max()) + 1) // 2:
            break
        for values, most, least in (
            (lengths, f"the {ordinal} longest {option}", f"the {ordinal} shortest {option}"),
            (words, f"the {option} with the {ordinal} most words", f"the {option} with the {ordinal} fewest words"),
            (lowered, f"the {ordinal} last {option} in the alphabet", f"the {ordinal} {option} in the alphabet"),
        ):
            found[most] = (_places(values, items, descending=True) == place).astype(np.float64)
            found[least] = (_places(values, items) == place).astype(np.float64)
    nearest = _nearness(items)
    if nearest is not None:
        found["the number nearest to one of the question"] = nearest
    for what, shared in (("characters", _shared_characters(items)), ("words", _shared_words(items))):
        found[f"most sequences of {what} shared"] = shared
        found[f"fewest sequences of {what} shared"] = -shared
    return found


def _places(values: pl.Series, items: ChoiceItems, *, descending: bool = False) -> NDArray[np.float64]:
    """The place of each choice among those of its item, from 1, equal ones in one, (M,)."""
    frame = pl.DataFrame({"item": items.item_of, "value": values})
    ranked = pl.col("value").rank("dense", descending=descending).over("item")
    return frame.select(ranked).to_series().to_numpy().astype(np.float64)


def _nearness(items: ChoiceItems) -> NDArray[np.float64] | None:
    """How near each choice's number is to one of the question, where every choice of the item has one, (M,)."""

    def numbers(texts: pl.Series) -> pl.Series:
        return texts.str.extract_all(NUMBER).list.eval(pl.element().str.replace_all(",", "").cast(pl.Float64))

    frame = pl.DataFrame({"item": items.item_of, "own": numbers(items.texts)}).with_row_index("choice")
    single = frame.filter((pl.col("own").list.len() == 1).all().over("item"))
    asked = pl.DataFrame({"item": np.arange(len(items)), "asked": numbers(items.questions)})
    apart = (
        single.with_columns(pl.col("own").list.first())
        .join(asked.filter(pl.col("asked").list.len() > 0).explode("asked"), on="item")
        .group_by("choice")
        .agg(apart=(pl.col("own") - pl.col("asked")).abs().min())
    )
    if not apart.height:
        return None
    found = np.full(items.right.size, -math.inf)
    found[apart["choice"].to_numpy()] = -apart["apart"].to_numpy()
    # Items without numbers pick nothing: all their choices tie.
    return np.where(np.isfinite(found), found, 0.0)


def _shared_characters(items: ChoiceItems) -> NDArray[np.float64]:
    own, asked = (texts.str.to_lowercase() for texts in (items.texts, items.questions))
    return np.asarray(
        shared_sequences(*_points(own), items.offsets, *_points(asked), _CHARACTERS), dtype=np.float64
    )  # fmt: skip


def _points(texts: pl.Series) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Code points of all texts, one after the other, and their numbers."""
    joined = texts.str.join("").item().encode("utf-32-le")
    return np.frombuffer(joined, "<u4").astype(np.uint64), _numbers(texts.str.len_chars())


def _shared_words(items: ChoiceItems) -> NDArray[np.float64]:
    n = items.right.size
    words = pl.concat([items.texts.alias("text"), items.questions.alias("text")]).str.to_lowercase()
    listed = words.str.extract_all(WORD)
    # Ranks of all words would take most of the time.
    codes = listed.explode().drop_nulls().hash(seed=0).to_numpy()
    lengths = _numbers(listed.list.len())
    cut = int(lengths[:n].sum())
    shared = shared_sequences(codes[:cut], lengths[:n], items.offsets, codes[cut:], lengths[n:], _WORDS)
    return np.asarray(shared, dtype=np.float64)


def _numbers(values: pl.Series) -> NDArray[np.int64]:
    return values.to_numpy().astype(np.int64)
