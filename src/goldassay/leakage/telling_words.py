"""Words that give a label away by themselves: which lean to a label, how far, and where they are in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.intervals import wilson_bounds
from goldassay.core.multiple_testing import benjamini_hochberg
from goldassay.data.facts import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Scripts without spaces are cut into characters, all others into words, which may hold an apostrophe.
_OWN = UNSPACED.strip("[]")
WORD = rf"[{_OWN}]|[^\W{_OWN}]+(?:['’][^\W{_OWN}]+)*"
# As many texts as a word that is a pattern of ten texts, and a label that it makes a fifth likelier at the least.
LEAST_TEXTS, LEAST_LIFT = 10, 1.2
MOST_WORDS = 300
SCHEMA = {"word": pl.String, "label": pl.String, "support": pl.Int64, "probability": pl.Float64, "lift": pl.Float64,
          "q_value": pl.Float64}  # fmt: skip


def telling_words(
    texts: pl.Series, codes: NDArray[np.integer], label_names: Sequence[str], *, q: float, most: int = MOST_WORDS
) -> pl.DataFrame:
    """The words that lean to a label by themselves, the strongest of each label first.

    Of a word in n_w distinct texts, n_wk of label k with the share p_k of all texts, the label is that with the largest
    (n_wk - n_w p_k)/sqrt(n_w p_k (1 - p_k)), and p is K P(X >= n_wk), X binomial with n_w and p_k. Kept are words whose
    q over all words of `LEAST_TEXTS` texts or more (Benjamini and Hochberg 1995) is at most `q`, and for which the
    lower end of the lift, the 95 % Wilson interval of n_wk/n_w over p_k, is at least `LEAST_LIFT`.

    Args:
        texts: N texts; one that occurs several times with one label counts once.
        codes: Of their labels, (N,).
        label_names: K names.
        q: Largest false discovery rate.
        most: Words a label.

    Returns:
        Columns of `SCHEMA`; words are in lower case, support is n_w, lift is the lower end.
    """
    from scipy.special import betainc

    rows = pl.DataFrame({"text": texts, "code": pl.Series(codes, dtype=pl.Int64)}).drop_nulls().unique()
    of_label = np.bincount(rows["code"].to_numpy(), minlength=len(label_names)).astype(np.float64)
    found = rows.select("code", word=pl.col("text").str.to_lowercase().str.extract_all(WORD).list.unique())
    counted = (
        found.explode("word").drop_nulls().group_by("word", "code").len()
        .with_columns(support=pl.col("len").sum().over("word"), total=pl.col("len").cast(pl.Float64))
        .filter(pl.col("support") >= LEAST_TEXTS).sort("word", "code")
    )  # fmt: skip
    if not counted.height or (of_label > 0).sum() < 2:
        return pl.DataFrame(schema=SCHEMA)
    prior = (of_label / of_label.sum())[counted["code"].to_numpy()]
    n, k = (counted[name].to_numpy().astype(np.float64) for name in ("support", "total"))
    z = (k - n * prior) / np.sqrt(n * prior * (1 - prior))
    p = np.minimum(1.0, betainc(k, n - k + 1, prior) * len(label_names))
    best = (
        counted.with_columns(z=pl.Series(z), p=pl.Series(p), prior=pl.Series(prior))
        .sort("word", "z", "code", descending=[False, True, False])
        .unique("word", keep="first", maintain_order=True)
    )
    n, k = (best[name].to_numpy() for name in ("support", "total"))
    kept = best.with_columns(
        probability=pl.Series(k / n),
        lift=pl.Series(wilson_bounds(k, n)[0]) / pl.col("prior"),
        q_value=pl.Series(benjamini_hochberg(best["p"].to_numpy())),
        label=pl.col("code").replace_strict(dict(enumerate(label_names)), return_dtype=pl.String),
        support=pl.col("support").cast(pl.Int64),
    ).filter((pl.col("q_value") <= q) & (pl.col("lift") >= LEAST_LIFT))
    ordered = kept.sort("code", "z", "word", descending=[False, True, False])
    return ordered.group_by("code", maintain_order=True).head(most).select(list(SCHEMA))


def word_places(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as `telling_words` cuts them: (in lower case, begin, end)."""
    # By the same engine: what is a letter differs between that of polars and that of Python.
    found = []
    at = 0
    for word in pl.Series([text]).str.extract_all(WORD)[0].to_list():
        begin = text.index(word, at)
        at = begin + len(word)
        found.append((_lower(word), begin, at))
    return found


def _lower(word: str) -> str:
    return word.lower() if word.isascii() else str(pl.Series([word]).str.to_lowercase()[0])
