"""What rules hit in each subject: a flaw of one subject is small in all items.

Further picks that need no training: the second longest choice, the number nearest to one of the question.

They are too many, and too often honest, for rules of their own with a limit; but where one of them gains, nothing is
sound. Each is a score of every choice; of an item the choices with the highest one are picked, and ties share the hit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.readers.choice_rules import NUMBER, WORD, Picks, chance_of, out_of_order, rule_effect, shared_sequences
from goldassay.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds.choices import ChoiceItems

# Of a larger p by the normal approximation nothing is drawn: there is one for each subject and rule.
_DRAWN_BELOW = 0.05
# Standardized excess over chance from which on a rule is followed, where some forty are tried.
_FOLLOWED = 3.0
_SCHEMA: dict[str, type[pl.DataType]] = {
    "subject": pl.String, "rule": pl.String, "n_items": pl.Int64, "hits": pl.Float64, "chance": pl.Float64,
    "effect": pl.Float64, "z": pl.Float64, "p": pl.Float64, "q": pl.Float64,
}  # fmt: skip


def rules_by_subject(
    items: ChoiceItems, picks: Sequence[Picks], clusters: NDArray[np.integer] | None = None, seed: int = 0
) -> pl.DataFrame:
    """Effect of every rule in every subject, as `measure_rules` measures it in all items.

    Args:
        items: N of them, with subjects.
        picks: What each rule picks from all of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws for p.

    Returns:
        A row a subject and rule that picks there: subject, rule, n_items (that it picks from), hits, chance, effect, z,
        p (one-sided) and q, by which false discoveries are controlled over all rows; the least q first. Without
        subjects, or with a single one, there is no row.

    Source: Benjamini and Hochberg 1995.
    """
    if items.subjects is None or items.subjects.n_unique() < 2:
        return pl.DataFrame(schema=pl.Schema(_SCHEMA))
    names, of_item = np.unique(items.subjects.to_list(), return_inverse=True)
    p, sizes, n_right = chance_of(items), items.sizes, items.n_right
    rng = np.random.default_rng(seed)
    rows = []
    for code, name in enumerate(names.tolist()):
        own = np.flatnonzero(of_item == code)
        for each in picks:
            among = None if clusters is None else clusters[own]
            found = rule_effect(each.take(own), p[own], sizes[own], n_right[own], among, rng, _DRAWN_BELOW)
            if found.n_items and not math.isnan(found.p):
                rows.append((name, *found.to_dict().values()))
    frame = pl.DataFrame(rows, schema=[*list(_SCHEMA)[:-1], "p_adjusted"], orient="row").drop("p_adjusted")
    q = benjamini_hochberg(frame["p"].to_numpy())
    return frame.with_columns(q=pl.Series(q)).cast(pl.Schema(_SCHEMA)).sort("q", -pl.col("z"), "subject", "rule")


def pick_by_subject(
    items: ChoiceItems, picks: Sequence[Picks], rule: str, folds: NDArray[np.integer], clusters: NDArray[np.integer]
) -> Picks | None:
    """What the rule picks that gains most on the other folds of the same subject; None without several subjects.

    Rules that point to different choices in different subjects gain nothing over all items, and whoever knows the
    subject gains by each. A rule is followed where z = sum of excess / sqrt(sum of squares of the clusters' sums) is at
    least 3 on the other folds; else nothing is picked.

    Args:
        items: N of them.
        picks: What each rule picks from all of them.
        rule: What to call it.
        folds: Of the items, whole clusters together, (N,).
        clusters: Codes of items that do not vary independently, from 0, (N,).
    """
    if items.subjects is None or items.subjects.n_unique() < 2:
        return None
    of_item = np.unique(items.subjects.to_list(), return_inverse=True)[1]
    chance = chance_of(items)
    hits, applies, sizes = chance.copy(), np.zeros(len(items), np.bool_), np.zeros(len(items), np.int64)
    for subject in range(int(of_item.max()) + 1):
        own = of_item == subject
        for fold in np.unique(folds[own]).tolist():
            inside, outside = np.flatnonzero(own & (folds == fold)), np.flatnonzero(own & (folds != fold))
            codes = np.unique(clusters[outside], return_inverse=True)[1]
            sums = [np.bincount(codes, (each.hits - chance)[outside]) for each in picks]
            gained = [float(each.sum() / math.sqrt(spread)) if (spread := (each**2).sum()) else 0.0 for each in sums]
            best = int(np.argmax(gained)) if gained else 0
            if gained and gained[best] >= _FOLLOWED:
                hits[inside] = picks[best].hits[inside]
                applies[inside] = picks[best].applies[inside]
                sizes[inside] = picks[best].sizes[inside]
    return Picks(rule, hits, applies, sizes)


if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from goldassay.data.kinds.choices import ChoiceItems

    _Units = tuple[NDArray[np.uint64], NDArray[np.int64]]

_ORDINALS = ("second", "third", "fourth", "fifth")
# Units of a sequence: of characters, so that "walk" stands in "walking", and of words.
_N_CHARACTERS, _N_WORDS = 4, 3
# Of so many choices any one can be left out, and the others are in order.
_MOST_IN_ORDER = 3
# Items whose units are in memory at a time: responses have thousands of characters.
_AT_ONCE = 4096


def untrained_picks(items: ChoiceItems) -> dict[str, NDArray[np.float64]]:
    """Of each pick the score of every choice, (M,): by length, words, alphabet, order, items, numbers, and sequences.

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
    # Where writers put wrong choices into an order, the right one that came later breaks it; two are in order always.
    if items.sizes.max() > _MOST_IN_ORDER:
        for what, values in (("by length", lengths), ("by the alphabet", lowered)):
            order = out_of_order(_places(values, items), items.offsets)
            found[f"the {option} that is out of order {what}"] = order
    spread = _spread(lowered, items)
    if (spread > 1).any():
        found[f"the {option} that occurs in the fewest items"] = -spread
        found[f"the {option} that occurs in the most items"] = spread
    nearest = _nearness(items)
    if nearest is not None:
        found["the number nearest to one of the question"] = nearest
    for what, units, size in (("characters", _characters, _N_CHARACTERS), ("words", _words, _N_WORDS)):
        shared = _shared(items, units, size)
        found[f"most sequences of {what} shared"] = shared
        found[f"fewest sequences of {what} shared"] = -shared
    return found


def _places(values: pl.Series, items: ChoiceItems, *, descending: bool = False) -> NDArray[np.float64]:
    """The place of each choice among those of its item, from 1, equal ones in one, (M,)."""
    frame = pl.DataFrame({"item": items.item_of, "value": values})
    ranked = pl.col("value").rank("dense", descending=descending).over("item")
    return frame.select(ranked).to_series().to_numpy().astype(np.float64)


def _spread(texts: pl.Series, items: ChoiceItems) -> NDArray[np.float64]:
    """In how many items each choice stands, (M,): writers use wrong choices again."""
    frame = pl.DataFrame({"item": items.item_of, "text": texts.str.strip_chars()})
    return frame.select(pl.col("item").n_unique().over("text")).to_series().to_numpy().astype(np.float64)


def _nearness(items: ChoiceItems) -> NDArray[np.float64] | None:
    """How near each choice's number is to one of the question, where every choice of the item has one, (M,)."""

    def numbers(texts: pl.Series) -> pl.Series:
        # Digits of other scripts are none to a parser, and numbers of hundreds of digits are infinite.
        value = pl.element().str.replace_all(",", "").cast(pl.Float64, strict=False)
        return texts.str.extract_all(NUMBER).list.eval(pl.when(value.is_finite()).then(value))

    frame = pl.DataFrame({"item": items.item_of, "own": numbers(items.texts)}).with_row_index("choice")
    single = frame.filter(
        ((pl.col("own").list.len() == 1) & pl.col("own").list.first().is_not_null()).all().over("item")
    )
    asked = pl.DataFrame({"item": np.arange(len(items)), "asked": numbers(items.questions)})
    apart = (
        single.with_columns(pl.col("own").list.first())
        .join(asked.explode("asked", empty_as_null=True).drop_nulls(), on="item")
        .group_by("choice")
        .agg(apart=(pl.col("own") - pl.col("asked")).abs().min())
    )
    if not apart.height:
        return None
    # Items without numbers pick nothing: all their choices tie.
    found = np.zeros(items.right.size)
    found[apart["choice"].to_numpy()] = -apart["apart"].to_numpy()
    return found


def _shared(items: ChoiceItems, units: Callable[[pl.Series], _Units], size: int) -> NDArray[np.float64]:
    """Share of each choice's sequences of units that stand in its question, (M,); of a part of the items at a time."""
    own, asked = items.texts.str.to_lowercase(), items.questions.str.to_lowercase()
    found = np.empty(items.right.size)
    for begin in range(0, len(items), _AT_ONCE):
        offsets = items.offsets[begin : begin + _AT_ONCE + 1]
        first, end = int(offsets[0]), int(offsets[-1])
        found[first:end] = shared_sequences(
            *units(own[first:end]), offsets - first, *units(asked[begin : begin + _AT_ONCE]), size
        )
    return found


def _characters(texts: pl.Series) -> _Units:
    """Code points of all texts, one after the other, and how many each has."""
    joined = texts.str.join("").item().encode("utf-32-le")
    return np.frombuffer(joined, "<u4").astype(np.uint64), _numbers(texts.str.len_chars())


def _words(texts: pl.Series) -> _Units:
    """Hashes of all words, one after the other, and how many each text has; ranks would take most of the time."""
    listed = texts.str.extract_all(WORD)
    return listed.explode().drop_nulls().hash(seed=0).to_numpy(), _numbers(listed.list.len())


def _numbers(values: pl.Series) -> NDArray[np.int64]:
    return values.to_numpy().astype(np.int64)
