"""What is wrong with a value that does not fit a model, in our own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# By the kind of error that pydantic tells; in braces what it says of the limit that was broken.
_NEEDED = {
    "int_type": "a whole number is needed",
    "int_from_float": "a whole number is needed",
    "float_type": "a number is needed",
    "finite_number": "a finite number is needed",
    "bool_type": "true or false is needed",
    "string_type": "a text is needed",
    "list_type": "a list is needed",
    "tuple_type": "a list is needed",
    "dict_type": "a table is needed",
    "model_type": "a table is needed",
    "model_attributes_type": "a table is needed",
    "literal_error": "it may be {expected}",
    "greater_than": "it must be above {gt}",
    "greater_than_equal": "it must be {ge} or more",
    "less_than": "it must be below {lt}",
    "less_than_equal": "it must be {le} or less",
    "too_short": "at least {min_length} must be named",
    "too_long": "at most {max_length} may be named",
    "string_too_short": "it must be {min_length} characters or longer",
    "string_pattern_mismatch": "it must match {pattern}",
    "missing": "it is missing",
}
_PLAIN = (str, int, float, bool)
_LONGEST = 40


def in_words(error: Mapping[str, Any]) -> str:
    """An error of pydantic's list as a clause: what is needed, and what is given instead.

    Args:
        error: One of `ValidationError.errors()`.
    """
    if error["type"] == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    needed = _NEEDED.get(error["type"], str(error["msg"])).format(**error.get("ctx", {}))
    shown = str(error["input"]).lower() if isinstance(error["input"], bool) else repr(error["input"])
    given = isinstance(error["input"], _PLAIN) and len(shown) <= _LONGEST
    return f"{needed}, not {shown}" if given else needed
