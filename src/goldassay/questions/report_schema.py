"""The JSON Schema of `report.json`, generated from the document around the answers and from the results.

`python -m goldassay.questions.report_schema` writes it to where it is published.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from goldassay.core.document import Document
from goldassay.core.report_seal import as_json
from goldassay.core.results import ASIDE, LEFT_OUT
from goldassay.questions.checks import question_pages

_PLAIN = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}


def json_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12."""
    schema = Document.model_json_schema(by_alias=True)
    defined: dict[str, Any] = schema["$defs"]
    for question, page in question_pages().items():
        schema["properties"][question] = schema_of(page.result, defined)
        if page.has_sentences:
            for name in (page.result.__name__, *(each.__name__ for each in page.result.__subclasses__())):
                defined[name]["properties"]["sentences"] = {"type": "array", "items": {"type": "string"}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_of(kind: Any, defined: dict[str, Any]) -> dict[str, Any]:
    """The schema of the plain form of a type; NaN is null.

    Args:
        kind: A dataclass, or a type of one of its fields.
        defined: Takes the schemas of dataclasses by name.

    Raises:
        TypeError: A type has no plain form of one kind, such as an array.
    """
    arguments = get_args(kind)
    if kind is Any:
        return {}
    if kind is float:
        return {"type": ["number", "null"]}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _reference(kind, defined)
    if get_origin(kind) is Literal:
        return {"enum": list(arguments)}
    if get_origin(kind) in (UnionType, Union):
        return {"anyOf": [schema_of(each, defined) for each in arguments]}
    if get_origin(kind) is tuple:
        if arguments[1:] == (...,):
            return {"type": "array", "items": schema_of(arguments[0], defined)}
        items = [schema_of(each, defined) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if get_origin(kind) is Mapping:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], defined)}
    raise TypeError(f"{kind} has no schema")


def _reference(kind: type, defined: dict[str, Any]) -> dict[str, Any]:
    """A reference to a dataclass and, where it has any, to its subclasses."""
    kinds = [kind, *kind.__subclasses__()]
    for each in kinds:
        if each.__name__ not in defined:
            # Set first, since a record may hold others of its kind.
            defined[each.__name__] = {}
            defined[each.__name__] |= _object(each, defined)
    found = [{"$ref": f"#/$defs/{each.__name__}"} for each in kinds]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _object(kind: type, defined: dict[str, Any]) -> dict[str, Any]:
    types, own = get_type_hints(kind), [each for each in dataclasses.fields(kind) if not each.metadata.get(ASIDE)]
    return {
        "type": "object",
        "description": (kind.__doc__ or "").partition("\n")[0],
        "properties": {each.name: schema_of(types[each.name], defined) for each in own},
        "required": [each.name for each in own if not each.metadata.get(LEFT_OUT)],
        "additionalProperties": False,
    }


if __name__ == "__main__":
    Path(str(files("goldassay.core").joinpath("report.schema.json"))).write_text(as_json(json_schema()), "utf-8")
