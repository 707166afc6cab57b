"""The form of texts as words: of whole texts, and of their rare words; nothing of what they say.

A label can be read from how a text is written, such as capitals in the texts of one annotator or a missing full stop in
those of a generator. Readers of words do not see that, since they fold case and skip spaces.

A label can also be behind the last letter of a name, the first one of a code, or the parity of a number. Each such word
is in a few texts or in one, so that readers of words learn nothing from it. Its letters are in many.
"""

from __future__ import annotations

import math
import unicodedata
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


# Characters that are counted in each text; the name is the word's first letter.
_COUNTED = {
    "A": r"\p{Lu}",
    "D": r"\d",
    "E": r"[^\x00-\x7f]",
    "F": r"[\t\r\n]",
    "H": r",",
    "I": r"\.",
    "J": r"[!?]",
    "K": r"[;:]",
    "L": r"[-\u2013\u2014]",
    "M": r"[\"\u201c\u201d]",
    "N": r"['\u2019]",
    "O": r"[()\[\]{}]",
    "P": r"[/\\_*#@&%$<>=+~|^`]",
}
# Classes of characters that the words and phrases of a text are found by, in the order of `text_counts`.
_CLASSES = (r"\p{Lu}", r"\p{Ll}", r"\s", r"\w", r"[,;:()\u2013\u2014]")
_PATTERNS = (*_CLASSES, *_COUNTED.values(), r"\p{L}")
# The bit of a character whose classes are known.
_KNOWN = 1 << 31
_MOST = 9
_N_CHARACTERS = 0x110000
_TEXTS_AT_ONCE = 65_536


def form_words(texts: pl.Series) -> pl.Series:
    """The form of each text as a text of 26 words, each a feature and its value, (N,).

    Counts above 9 are rounded to powers of two; lengths in characters and in words to steps of about an eighth. The
    first and the last character are given by their class or, if they are punctuation, themselves. Order is the number
    of words before the first inner mark, and that of words that follow the one before in the alphabet.

    Args:
        texts: N texts; a missing one counts as empty.
    """
    from goldassay.kernels import text_counts as kernels

    found, classes = _counts(texts.cast(pl.String).fill_null(""))
    singles = dict(zip(_COUNTED, found[:, kernels.N_COLUMNS :].T, strict=True))
    length, n_words = found[:, kernels.N_CHARACTERS], found[:, kernels.N_WORDS]
    mean_length = np.rint(length / np.maximum(n_words, 1)).astype(np.int64)
    counted = singles | {
        "B": found[:, kernels.ALL_CAPITALS],
        "C": found[:, kernels.CAPITALIZED],
        "G": found[:, kernels.DOUBLE_SPACES],
    }
    features = [
        *(_words(name, counted[name], _step) for name in sorted(counted)),
        _words("Q", length, _log),
        _words("R", n_words, _log),
        _words("S", np.minimum(n_words, 60), _itself),
        _words("T", found[:, kernels.N_REPEATED], _step),
        *(
            _words(name, found[:, column], lambda code: _class_of(code, classes))
            for name, column in zip("UVW", (kernels.FIRST, kernels.LAST, kernels.LAST_BUT_ONE), strict=True)
        ),
        _words("X", np.minimum(mean_length, 20), _itself),
        _words("Y", found[:, kernels.BEFORE_MARK], _step_or_none),
        _words("Z", found[:, kernels.N_RISING], _step),
    ]
    return pl.select(pl.concat_str(features, separator=" ").alias("form")).to_series()


def _counts(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """What `count_form` counts in each text, (N, columns), and the classes of the characters that occur."""
    from goldassay.kernels.splitting import LETTER, OUTSIDE, code_points
    from goldassay.kernels.text_counts import N_COLUMNS, count_form

    # Words are what spaces part.
    kinds = np.full(_N_CHARACTERS, LETTER, dtype=np.uint8)
    kinds[ord(" ")] = OUTSIDE
    classes = _classes()
    parts = [np.empty((0, N_COLUMNS + len(_COUNTED)), dtype=np.int64)]
    for begin in range(0, len(texts), _TEXTS_AT_ONCE):
        characters, starts = code_points(texts.slice(begin, _TEXTS_AT_ONCE))
        here = np.flatnonzero(np.bincount(characters, minlength=1))
        new = here[classes[here] == 0]
        if new.size:
            written = pl.Series([chr(code) for code in new.tolist()], dtype=pl.String)
            found = np.full(new.size, _KNOWN, dtype=np.uint32)
            for bit, pattern in enumerate(_PATTERNS):
                found |= written.str.contains(pattern).to_numpy().astype(np.uint32) << bit
            classes[new] = found
        parts.append(count_form(characters, starts, classes, kinds, len(_COUNTED)))
    return np.concatenate(parts), classes


@cache
def _classes() -> NDArray[np.uint32]:
    """Bits of each code point: the patterns that it matches, and whether they were tried, filled as texts are met."""
    return np.zeros(_N_CHARACTERS, dtype=np.uint32)


def _words(name: str, values: NDArray[np.int64], said: Callable[[int], int | str]) -> pl.Expr:
    """A feature of each text as a word, (N,), made once a distinct value."""
    least = int(values.min(initial=0))
    if int(values.max(initial=0)) - least < 4 * len(values) + 1000:
        # Counts are small: to mark those that occur is several times faster than to sort.
        occurs = np.bincount(values - least) > 0
        distinct, places = np.flatnonzero(occurs) + least, (np.cumsum(occurs) - 1)[values - least]
    else:
        distinct, places = np.unique(values, return_inverse=True)
    words = [f"form{name.lower()}x{said(value)}" for value in distinct.tolist()]
    return pl.lit(pl.Series(words, dtype=pl.String)).gather(pl.lit(pl.Series(places)))


def _step(count: int) -> int:
    """The count itself up to 9, above that 10 times the power of two that it reaches."""
    return count if count <= _MOST else 10 * (count.bit_length() - 1)


def _log(length: int) -> int:
    return round(6 * math.log2(length + 1))


def _itself(value: int) -> int:
    return value


def _step_or_none(count: int) -> int | str:
    return "none" if count < 0 else _step(count)


def _class_of(code: int, classes: NDArray[np.uint32]) -> str:
    """Capital, small, digit, space, none, or the code of any other character, given its code point."""
    if code < 0:
        return "none"
    own = int(classes[code])
    named = {r"\p{Lu}": "capital", r"\p{L}": "small", r"\d": "digit", r"\s": "space"}
    found = (name for pattern, name in named.items() if own >> _PATTERNS.index(pattern) & 1)
    return next(found, f"code{chr(code).encode().hex()}")


# Letters at the beginning and at the end of a word that are read together, at most.
LONGEST_AFFIX = 3
# A word in fewer training texts than this is rare to readers that weigh each word.
RARE_BELOW = 10


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
