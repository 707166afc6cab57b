"""The form of texts as words: length, capitals, punctuation, spaces, repeats, order; nothing of what they say.

A label can be read from how a text is written, such as capitals in the texts of one annotator or a missing full stop in
those of a generator. Readers of words do not see that, since they fold case and skip spaces.
"""

from __future__ import annotations

import polars as pl

# Counted in each text; the name is the word's first letter.
_COUNTED = {
    "A": r"\p{Lu}",
    "B": r"\b\p{Lu}\p{Lu}+\b",
    "C": r"\b\p{Lu}\p{Ll}",
    "D": r"\d",
    "E": r"[^\x00-\x7f]",
    "F": r"[\t\r\n]",
    "G": r"\s\s",
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
_MOST = 9


def form_words(texts: pl.Series) -> pl.Series:
    """The form of each text as a text of 26 words, each a feature and its value, (N,).

    Counts above 9 are rounded to powers of two; lengths in characters and in words to steps of about an eighth. The
    first and the last character are given by their class or, if they are punctuation, themselves. Order is the number
    of words before the first inner mark, and that of words that follow the one before in the alphabet.

    Args:
        texts: N texts; a missing one counts as empty.
    """
    text = pl.col("text")
    words = text.str.split(" ").list.eval(pl.element().filter(pl.element() != ""))
    n_words = words.list.len()
    before_mark = text.str.extract(r"^([^,;:()\u2013\u2014]*)[,;:()\u2013\u2014]").str.count_matches(r"\S+")
    rising = words.list.eval((pl.element() > pl.element().shift(1)).sum()).list.first()
    counted = [_word(name, _step(text.str.count_matches(pattern))) for name, pattern in _COUNTED.items()]
    features = [
        *counted,
        _word("Q", _log(text.str.len_chars())),
        _word("R", _log(n_words)),
        _word("S", n_words.clip(upper_bound=60)),
        _word("T", _step(n_words - words.list.n_unique())),
        _word("U", _class_of(text.str.slice(0, 1))),
        _word("V", _class_of(text.str.slice(-1, 1))),
        _word("W", _class_of(text.str.slice(-2, 1))),
        _word("X", (text.str.len_chars() / n_words.clip(lower_bound=1)).round(0).cast(pl.Int64).clip(upper_bound=20)),
        _word("Y", _step(before_mark).cast(pl.String).fill_null("none")),
        _word("Z", _step(rising.fill_null(0))),
    ]
    frame = pl.DataFrame({"text": texts.cast(pl.String).fill_null("")})
    return frame.select(pl.concat_str(features, separator=" ").alias("form")).to_series()


def _word(name: str, value: pl.Expr) -> pl.Expr:
    return pl.lit(f"form{name.lower()}x") + value.cast(pl.String)


def _step(count: pl.Expr) -> pl.Expr:
    """The count itself up to 9, above that 10 times the power of two that it reaches."""
    large = count.cast(pl.Float64).clip(lower_bound=1).log(2).floor().cast(pl.Int64) * 10
    return pl.when(count <= _MOST).then(count.cast(pl.Int64)).otherwise(large)


def _log(length: pl.Expr) -> pl.Expr:
    return ((length.cast(pl.Float64) + 1).log(2) * 6).round(0).cast(pl.Int64)


def _class_of(character: pl.Expr) -> pl.Expr:
    """Capital, small, digit, space, none, or the code of any other character."""
    return (
        pl.when(character == "")
        .then(pl.lit("none"))
        .when(character.str.contains(r"\p{Lu}"))
        .then(pl.lit("capital"))
        .when(character.str.contains(r"\p{L}"))
        .then(pl.lit("small"))
        .when(character.str.contains(r"\d"))
        .then(pl.lit("digit"))
        .when(character.str.contains(r"\s"))
        .then(pl.lit("space"))
        .otherwise(pl.lit("code") + character.str.encode("hex"))
    )
