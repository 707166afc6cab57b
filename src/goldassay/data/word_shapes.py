"""How rare words are spelled, as words: what stands inside words that no reader of words can know.

A label can stand behind the last letter of a name, the first one of a code, or the parity of a number. Each such word
is in a few texts or in one, so that readers of words learn nothing from it. Its letters are in many.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

# Letters at the beginning and at the end of a word that are read together, at most.
LONGEST_AFFIX = 3
# A word in fewer training texts than this is rare to readers that weigh each word.
RARE_BELOW = 10
_WORD = r"[\p{L}\p{M}\p{N}]+"


def spelled_with(texts: pl.Series, training: pl.Series, rare_below: int = RARE_BELOW) -> pl.Series:
    """The spelling of each text's rare words, and of its two ends, as words, (N,).

    Of each word that fewer than `rare_below` training texts have: its first one to three letters, its last ones, each
    of its letters, and how many there are; of these what rare words of `rare_below` training texts share. Of the text:
    its first and its last letter or digit. Case is folded.

    Args:
        texts: N texts; a missing one counts as empty.
        training: The training texts; they alone decide which words are rare.
        rare_below: Training texts of a word, or of a spelling, from which on it is not rare.
    """
    trained = _distinct_words(training)
    frequent = trained.group_by("word").len("n_texts").filter(pl.col("n_texts") >= rare_below)
    rare = trained.join(frequent, on="word", how="anti")
    held = _distinct_words(texts).join(frequent, on="word", how="anti")
    spelled = (
        pl.concat([rare["word"], held["word"]]).unique().to_frame().with_columns(spelled=_spelling(pl.col("word")))
    )
    spelled = spelled.explode("spelled")
    shared = (
        rare.join(spelled, on="word")
        .group_by("spelled")
        .agg(pl.col("row").n_unique().alias("n_texts"))
        .filter(pl.col("n_texts") >= rare_below)
    )
    joined = (
        held.join(spelled.join(shared, on="spelled", how="semi"), on="word")
        .select("row", "spelled")
        .unique()
        .sort("row", "spelled")
        .group_by("row", maintain_order=True)
        .agg(pl.col("spelled").str.join(" "))
    )
    lowered = texts.cast(pl.String).fill_null("").str.to_lowercase().alias("text")
    rows = pl.DataFrame({"text": lowered}).with_row_index("row")
    return (
        rows.join(joined, on="row", how="left", maintain_order="left")
        .select(pl.concat_str([*_ends(pl.col("text")), pl.col("spelled").fill_null("")], separator=" ").alias("shape"))
        .to_series()
    )


def _distinct_words(texts: pl.Series) -> pl.DataFrame:
    """Each word of each text once: columns row and word."""
    lowered = texts.cast(pl.String).fill_null("").str.to_lowercase()
    found = pl.DataFrame({"word": lowered.str.extract_all(_WORD)}).with_row_index("row")
    return found.explode("word").drop_nulls().unique()


def _spelling(word: pl.Expr) -> pl.Expr:
    parts = [
        *(_named(f"begin{n}x", word.str.head(n)) for n in range(1, LONGEST_AFFIX + 1)),
        *(_named(f"end{n}x", word.str.tail(n)) for n in range(1, LONGEST_AFFIX + 1)),
        pl.lit("spelledlong") + word.str.len_chars().cast(pl.String),
        word.str.split("").list.unique().list.eval(_named("has1x", pl.element())),
    ]
    return pl.concat_list(parts)


def _ends(text: pl.Expr) -> list[pl.Expr]:
    letters: Callable[[str], pl.Expr] = partial(text.str.extract, group_index=1)
    return [
        _named("first1x", letters(r"([\p{L}\p{N}])").fill_null("")),
        _named("last1x", letters(r"([\p{L}\p{N}])[^\p{L}\p{N}]*$").fill_null("")),
    ]


def _named(name: str, letters: pl.Expr) -> pl.Expr:
    """The letters as a word of ASCII that no text has."""
    return pl.lit(f"spelled{name}") + letters.str.encode("hex")
