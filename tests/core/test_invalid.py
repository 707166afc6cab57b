"""What does not fit a model, in our own words and never in pydantic's."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from goldassay.core.settings import in_words


class Inner(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    whole: Annotated[int, Field(ge=1, lt=9)] = 1
    part: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0
    flag: bool = True
    name: Annotated[str, Field(min_length=1)] = "n"
    word: Literal["low", "high"] = "low"
    several: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
    pair: tuple[int, int] = (1, 2)
    table: dict[str, int] = {}


class Outer(BaseModel):
    inner: Inner
    needed: int = 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"whole": "x"}, "a whole number is needed, not 'x'"),
        ({"whole": 1.5}, "a whole number is needed, not 1.5"),
        ({"whole": 0}, "it must be 1 or more, not 0"),
        ({"whole": 9}, "it must be below 9, not 9"),
        ({"part": True}, "a number is needed, not true"),
        ({"part": 0.0}, "it must be above 0.0, not 0.0"),
        ({"part": 2.0}, "it must be 1.0 or less, not 2.0"),
        ({"part": math.nan}, "a finite number is needed, not nan"),
        ({"flag": "yes"}, "true or false is needed, not 'yes'"),
        ({"name": 3}, "a text is needed, not 3"),
        ({"name": ""}, "it must be 1 characters or longer, not ''"),
        ({"word": "hgih"}, "it may be 'low' or 'high', not 'hgih'"),
        ({"several": []}, "at least 1 must be named"),
        ({"several": [1, 2, 3]}, "at most 2 may be named"),
        ({"several": {"a": 1}}, "a list is needed"),
        ({"pair": 3}, "a list is needed, not 3"),
        ({"table": [1]}, "a table is needed"),
        ({"word": "x" * 99}, "it may be 'low' or 'high'"),
        (3, "a table is needed, not 3"),
    ],
)
def test_what_is_needed_and_what_is_given(given: Any, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"inner": given})
    (error,) = caught.value.errors()
    assert in_words(error) == words
