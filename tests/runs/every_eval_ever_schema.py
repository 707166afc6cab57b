"""What schema 0.3 of Every Eval Ever asks of the records that we write, in our own words, as JSON Schema.

It is narrower than the project's own: fields that we never write are left out, and no others are let in.
"""

from __future__ import annotations

from typing import Any


def record(required: dict[str, Any], optional: dict[str, Any] | None = None, others: Any = False) -> dict[str, Any]:
    """An object with these fields and no others, or only others of one kind."""
    return {
        "type": "object",
        "required": list(required),
        "properties": required | (optional or {}),
        "additionalProperties": others,
    }


TEXT: dict[str, Any] = {"type": "string"}
NAMED = TEXT | {"minLength": 1}
NUMBER: dict[str, Any] = {"type": "number"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
DETAILS = record({}, others=TEXT)
UUID4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"

INSTANCE = record(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": NAMED,
        "model_id": NAMED,
        "evaluation_name": NAMED,
        "evaluation_result_id": NAMED,
        "sample_id": TEXT,
        "interaction_type": {"const": "single_turn"},
        "input": record({"raw": TEXT, "reference": TEXTS}, {"choices": TEXTS}),
        "output": record({"raw": TEXTS}),
        "answer_attribution": {
            "type": "array",
            "items": record(
                {
                    "turn_idx": COUNT,
                    "source": NAMED,
                    "extracted_value": TEXT,
                    "extraction_method": NAMED,
                    "is_terminal": {"type": "boolean"},
                }
            ),
        },
        "evaluation": record({"score": NUMBER, "is_correct": {"type": "boolean"}}),
        "metadata": DETAILS,
    },
    {"sample_hash": TEXT | {"pattern": "^[0-9a-f]{64}$"}},
)

AGGREGATE = record(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": NAMED,
        "retrieved_timestamp": TEXT | {"pattern": r"^\d+(\.\d+)?$"},
        "source_metadata": record(
            {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "source_organization_name": NAMED,
                "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
            }
        ),
        "eval_library": record({"name": NAMED, "version": NAMED}),
        "model_info": record(
            {
                "name": NAMED,
                "id": NAMED,
                "developer": NAMED,
                "additional_details": record(
                    {
                        "deployment_type": {"enum": ["self_deployed", "externally_managed", "unknown"]},
                        "model_availability": {"enum": ["open_weights", "closed_weights", "unknown"]},
                    },
                    others=TEXT,
                ),
            }
        ),
        "evaluation_results": {
            "type": "array",
            "minItems": 1,
            "items": record(
                {
                    "evaluation_result_id": NAMED,
                    "evaluation_name": NAMED,
                    "source_data": record(
                        {"dataset_name": NAMED, "source_type": {"const": "other"}}, {"additional_details": DETAILS}
                    ),
                    "metric_config": record(
                        {
                            "metric_id": NAMED,
                            "metric_unit": NAMED,
                            "lower_is_better": {"type": "boolean"},
                            "score_type": {"const": "continuous"},
                            "min_score": NUMBER,
                            "max_score": NUMBER,
                        },
                        {"additional_details": DETAILS},
                    ),
                    "score_details": record(
                        {"score": NUMBER},
                        {
                            "details": DETAILS,
                            "uncertainty": record(
                                {"num_samples": COUNT},
                                {
                                    "standard_deviation": NUMBER,
                                    "standard_error": record({"value": NUMBER, "method": NAMED}),
                                    "confidence_interval": record(
                                        {
                                            "lower": NUMBER,
                                            "upper": NUMBER,
                                            "confidence_level": {"type": "number", "minimum": 0, "maximum": 1},
                                            "method": NAMED,
                                        }
                                    ),
                                },
                            ),
                        },
                    ),
                }
            ),
        },
        "detailed_evaluation_results": record(
            {
                "format": {"const": "jsonl"},
                "file_path": TEXT | {"pattern": rf"^data/[^/]+/[^/]+/[^/]+/{UUID4}_samples\.jsonl$"},
                "hash_algorithm": {"const": "sha256"},
                "checksum": TEXT | {"pattern": "^[0-9a-f]{64}$"},
                "total_rows": COUNT,
            }
        ),
    }
)
