"""Results turn into what JSON can hold."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from goldassay.core.results import Result, to_plain


@dataclass(frozen=True)
class Example(Result):
    score: float
    values: np.ndarray
    table: pl.DataFrame


def test_every_field_becomes_plain() -> None:
    result = Example(math.nan, np.array([[1.5, math.inf]]), pl.DataFrame({"a": [1, 2]}))
    plain = result.to_dict()
    assert plain == {"score": None, "values": [[1.5, None]], "table": [{"a": 1}, {"a": 2}]}
    json.dumps(plain, allow_nan=False)


def test_nested_results_and_numpy_scalars() -> None:
    assert to_plain({1: (np.int64(3), np.bool_(True), np.str_("x"))}) == {"1": [3, True, "x"]}


def test_what_has_no_plain_form_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        to_plain({1, 2})
