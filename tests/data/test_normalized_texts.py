"""Normalized texts of a column against those of each text."""

from __future__ import annotations

import numpy as np
import polars as pl

from goldassay.data.dataset import Dataset
from goldassay.data.fields import normalized_text, normalized_texts
from goldassay.data.row_keys import text_codes

ODD = [
    "", " ", "a", "A man", "a  man", " a man", "a man ", "a\tman", "a\x0bman", "a\x0cman", "a\rman\n",
    "a\x1cman", "a\x1fman", "\x1f", "a\x00man", "Straße", "STRASSE",
    "\u0130stanbul", "\u039f\u03a3", "a\u00a0man", "a\u2003man", "a\x85man",
    "\u3000\u65e5\u672c", "caf\u00e9", "CAF\u00c9", "\ufb01n",
]  # fmt: skip


def test_column_is_normalized_as_each_text():
    assert normalized_texts(pl.Series(ODD)).to_list() == [normalized_text(text) for text in ODD]


def test_random_columns_are_normalized_as_each_text():
    rng = np.random.default_rng(0)
    letters = np.array([*map(chr, range(32)), *"  aAzZ.,'", "\x7f", "é", "ß", "\u2028", "\u0130", "Σ"])
    texts = ["".join(rng.choice(letters, rng.integers(0, 9))) for _ in range(4000)]
    assert normalized_texts(pl.Series(texts)).to_list() == [normalized_text(text) for text in texts]


def test_empty_column():
    assert normalized_texts(pl.Series([], dtype=pl.String)).to_list() == []
    assert normalized_texts(pl.Series([None, None])).to_list() == [None, None]


def test_codes_follow_first_appearance_across_roles():
    rows = {"premise": ["A  b", "c", "a b"], "hypothesis": ["d", "A b", "C"], "label": ["x", "y", "x"]}
    dataset = Dataset.from_frame(rows)
    assert text_codes(dataset, dataset.text_columns).tolist() == [[0, 2], [1, 0], [0, 1]]
