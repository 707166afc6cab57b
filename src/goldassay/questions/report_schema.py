"""The JSON Schema of `report.json`, generated from the document around the answers and from the results.

`python -m goldassay.questions.report_schema` writes it to where it is published.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from goldassay.core.document import Document
from goldassay.core.plain_schema import schema_of
from goldassay.core.report_seal import as_json
from goldassay.questions.checks import question_pages


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


if __name__ == "__main__":
    Path(str(files("goldassay.core").joinpath("report.schema.json"))).write_text(as_json(json_schema()), "utf-8")
