"""How rare words are spelled, as words: what stands inside words that no reader of words can know.

A label can stand behind the last letter of a name, the first one of a code, or the parity of a number. Each such word
is in a few texts or in one, so that readers of words learn nothing from it. Its letters are in many.
"""

from __future__ import annotations

import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Letters at the beginning and at the end of a word that are read together, at most.
LONGEST_AFFIX = 3
# A word in fewer training texts than this is rare to readers that weigh each word.
RARE_BELOW = 10
_TEXTS_AT_ONCE = 65_536


def spelled_with(training: pl.Series, texts: pl.Series, rare_below: int = RARE_BELOW) -> tuple[pl.Series, pl.Series]:
    """The spelling of each text's rare words, and of its two ends, as words: of N training texts, and of M others.

    Of each word that fewer than `rare_below` training texts have: its first one to three letters, its last ones, each
    of its letters, and how many there are; of these what rare words of `rare_below` training texts share. Of the text:
    its first and its last letter or digit. Case is folded.

    Args:
        training: The training texts; they alone decide which words are rare. A missing one counts as empty.
        texts: Others.
        rare_below: Training texts of a word, or of a spelling, from which on it is not rare.

    Returns:
        (N,) and (M,).
    """
    from goldassay.kernels.text_counts import count_shapes, count_words, list_shapes

    words = _Words.of(pl.concat([each.cast(pl.String).fill_null("") for each in (training, texts)]))
    ids, starts, n_words = words.ids, words.starts, len(words.names)
    trained = starts[: len(training) + 1]
    rare = np.flatnonzero(count_words(ids, trained, np.zeros(len(training), np.int64), 1, n_words)[0] < rare_below)
    spelled = pl.DataFrame({"word": words.names[rare]}).select(_spelling(pl.col("word"))).to_series()
    sizes = np.zeros(n_words, dtype=np.int64)
    sizes[rare] = spelled.list.len().to_numpy()
    # Numbered in the order of the alphabet.
    every = spelled.explode()
    shapes = every.rank("dense").to_numpy().astype(np.int32) - 1
    shape_starts = np.concatenate([[0], np.cumsum(sizes)])
    n_shapes = int(shapes.max(initial=-1)) + 1
    shared = count_shapes(ids, trained, shape_starts, shapes, n_shapes) >= rare_below
    kept = shared[shapes]
    names = every.filter(pl.Series(kept)).unique().sort()
    number = (np.cumsum(shared) - 1).astype(np.int32)
    kept_starts = np.concatenate([[0], np.cumsum(kept)])[shape_starts]
    listed, rows = list_shapes(ids, starts, kept_starts, number[shapes[kept]], len(names))
    inside = (
        pl.DataFrame({"row": rows, "shape": names.gather(listed)})
        .group_by("row", maintain_order=True)
        .agg(pl.col("shape").str.join(" "))
    )
    of_rows = np.full(starts.size - 1, inside.height)
    of_rows[inside["row"].to_numpy()] = np.arange(inside.height)
    ends = [_of_letter(name, letters) for name, letters in zip(("first1", "last1"), words.ends.T, strict=True)]
    inner = pl.concat([inside["shape"], pl.Series([""])]).gather(of_rows)
    found = pl.select(pl.concat_str([*ends, inner], separator=" ").alias("shape")).to_series()
    return found.head(len(training)), found.tail(len(texts))


class _Words:
    """The words of N texts without case.

    Attributes:
        names: W words.
        ids: Their numbers, text by text.
        starts: Where each text's begin, and where the last one's end, (N + 1,).
        ends: Code points of each text's first and last letter or digit, 0 where it has none, (N, 2).
    """

    def __init__(
        self, names: pl.Series, ids: NDArray[np.int32], starts: NDArray[np.int64], ends: NDArray[np.uint32]
    ) -> None:
        self.names, self.ids, self.starts, self.ends = names, ids, starts, ends

    @classmethod
    def of(cls, texts: pl.Series) -> _Words:
        from goldassay.kernels.splitting import code_points, number_words
        from goldassay.kernels.text_counts import end_letters

        kinds = np.zeros(0x110000, dtype=np.uint8)
        seen = np.zeros(kinds.size, dtype=np.bool_)
        slots, hashes, n_words = np.full(1 << 12, -1, dtype=np.int32), np.empty(1 << 10, dtype=np.uint64), 0
        names: list[list[str]] = []
        ids: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]
        counts: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        ends: list[NDArray[np.uint32]] = [np.empty((0, 2), dtype=np.uint32)]
        n = 0
        for begin in range(0, len(texts), _TEXTS_AT_ONCE):
            lowered = texts.slice(begin, _TEXTS_AT_ONCE).str.to_lowercase()
            characters, starts = code_points(lowered)
            _learn(kinds, seen, characters)
            own, own_ends, new, slots, hashes, n_words = number_words(characters, starts, kinds, slots, hashes, n_words)
            together = lowered.str.join("").item()
            names.append([together[first:past] for first, past in new.tolist()])
            ids.append(own)
            counts.append(n + own_ends)
            ends.append(end_letters(characters, starts, kinds))
            n += own.size
        return cls(
            pl.Series(list(chain.from_iterable(names)), dtype=pl.String),
            np.concatenate(ids),
            np.concatenate(counts),
            np.concatenate(ends),
        )


def _learn(kinds: NDArray[np.uint8], seen: NDArray[np.bool_], characters: NDArray[np.uint32]) -> None:
    """Fill in the kind of each character that is new."""
    from goldassay.kernels.splitting import LETTER, MARK

    here = np.bincount(characters, minlength=1) > 0
    for code in np.flatnonzero(here & ~seen[: here.size]).tolist():
        kinds[code] = {"L": LETTER, "N": LETTER, "M": MARK}.get(unicodedata.category(chr(code))[0], 0)
    seen[: here.size] |= here


def _spelling(word: pl.Expr) -> pl.Expr:
    parts = [
        *(_named(f"begin{n}x", word.str.head(n)) for n in range(1, LONGEST_AFFIX + 1)),
        *(_named(f"end{n}x", word.str.tail(n)) for n in range(1, LONGEST_AFFIX + 1)),
        pl.lit("spelledlong") + word.str.len_chars().cast(pl.String),
        word.str.split("").list.unique().list.eval(_named("has1x", pl.element())),
    ]
    return pl.concat_list(parts)


def _of_letter(name: str, letters: NDArray[np.uint32]) -> pl.Series:
    """The end of each text as a word, (N,)."""
    codes, places = np.unique(letters, return_inverse=True)
    known = pl.DataFrame({"letter": [chr(code) if code else "" for code in codes.tolist()]}, {"letter": pl.String})
    return known.select(_named(f"{name}x", pl.col("letter")).alias(name)).to_series().gather(places)


def _named(name: str, letters: pl.Expr) -> pl.Expr:
    """The letters as a word of ASCII that no text has."""
    return pl.lit(f"spelled{name}") + letters.str.encode("hex")
