"""Predictions of OpenCompass 0.5: predictions/MODEL/DATASET.json, scored by results/MODEL/DATASET.json beside it.

The score is `correct` of the details that the results hold (`--dump-eval-details`, the default); datasets of
perplexities need none, whose prediction is the choice. Parts of a large dataset, DATASET_0.json and on, are one run. Of
n replicas each is a trial. An answer that was extracted as nothing was not read. A run is named by the folder's time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.runs.answer_lists import Answer, AnswerList, not_of_form, peek, reading_as, slices_of, whole_object

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.run_parts import Request, Slice
    from goldassay.runs.statuses import Status

NAME = "opencompass"
PRIORITY = 39

_FIRST = re.compile(rb'\{\s*"\d+"\s*:\s*\{\s*"(origin_prompt|prediction|gold|in-context examples|label: [^"]*)"\s*:')
_PART = re.compile(r"(?P<dataset>.+)_(?P<part>\d+)")
_KINDS = ("GEN", "PPL")
# Accuracies have two decimals at least.
_ROUNDED = 0.006
# What evaluators call whether an answer is right, and what they read of it.
_RIGHT, _READ = ("correct", "is_correct", "cascade_correct"), ("pred", "predictions", "prediction")


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize predictions by their first fields; results are read with them."""
    if not _FIRST.match(peek(path)):
        return [] if path.suffix == ".json" and not request.outright and _is_result(path) else None
    part = _PART.fullmatch(path.name.split(".json")[0])
    if part and part["part"] != "0" and path.with_name(path.name.replace(part[0], f"{part['dataset']}_0")).is_file():
        return []
    return slices_of(
        reading_as("OpenCompass", path, lambda: [_list(path)]), path, request, NAME, unrecorded=("truncated", "error")
    )


def _is_result(path: Path) -> bool:
    folder = path.parent
    return folder.parent.name == "results" and any(
        (folder.parents[1] / "predictions" / folder.name / name).is_file()
        for name in (path.name, f"{path.stem}_0.json")
    )


def _list(path: Path) -> AnswerList:
    stem, records = path.name.split(".json")[0], list(whole_object(path).values())
    folder = path.resolve().parent
    results = folder.parent.parent / "results" / folder.name
    if stem.endswith("_0") and not (results / path.name).is_file():
        stem, number = stem[:-2], 1
        while (more := path.with_name(f"{stem}_{number}.json")).is_file():
            records, number = [*records, *whole_object(more).values()], number + 1
    file = results / f"{stem}.json"
    result = whole_object(file) if file.is_file() else {}
    details = result.get("details")
    # Beside the examples there may be the kind of the inference.
    details = [
        each for each in (details.values() if isinstance(details, dict) else details or []) if each not in _KINDS
    ]
    total = result.get("accuracy", result.get("score"))
    if details and not any(name in each for each in details for name in _RIGHT):
        details = _compared(details, total)
    own = AnswerList(
        model=folder.name,
        dataset=stem,
        run=folder.parent.parent.name,
        reported={"correct": total / 100} if isinstance(total, (int, float)) else {},
    )
    if details and len(records) % len(details):
        raise not_of_form(file, f"{len(details)} details of {len(records)} predictions", "OpenCompass")
    for place, record in enumerate(records):
        trial, item = divmod(place, len(details) or len(records))
        own.answers.append(_answer(str(item), record, details[item] if details else None, trial))
    if not any(answer.scores for answer in own.answers):
        raise InputError(
            "no score of single answers lies beside these predictions",
            file=path,
            mend="evaluate them so that the results hold details: opencompass CONFIG --mode eval --dump-eval-details",
        )
    return own


def _compared(details: list[dict[str, Any]], total: Any) -> list[dict[str, Any]]:
    """Details that only show what was read and what is right, of an evaluator for which equal texts are right answers.

    Of any other its own accuracy says that they are not, and then no answer has a score.
    """
    right = [each.get("predictions") == each.get("references") for each in details]
    is_so = isinstance(total, (int, float)) and abs(100 * sum(right) / len(right) - total) < _ROUNDED
    return [{**each, "correct": own} for each, own in zip(details, right, strict=True)] if is_so else details


def _answer(item: str, record: dict[str, Any], detail: dict[str, Any] | None, trial: int) -> Answer:
    gold, output = record.get("gold"), record["prediction"]

    def told(names: tuple[str, ...]) -> Any:
        value = next((detail[name] for name in names if name in detail), None) if detail else None
        return value[trial] if isinstance(value, list) and trial < len(value) else value

    reason = None
    if isinstance(output, dict):
        # Of models behind an API, with how the reply ended.
        reason, output = (output.get("rollout") or {}).get("finish_reason"), output.get("prediction", "")
    # Of perplexities: what the model prefers is the answer, and there is nothing to read.
    is_choice = any(name.startswith("label: ") for name in record)
    right, read = told(_RIGHT), told(_READ)
    if right is None and is_choice:
        right = output == gold
    text = output if isinstance(output, str) else None
    status: Status = "scored"
    if reason in ("error", "length"):
        status = "error" if reason == "error" else "scored, truncated"
    elif text is not None and not text.strip():
        status = "empty"
    elif detail is not None and read in ("", None, []) and not right and any(name in detail for name in _READ):
        status = "unparsed"
    return Answer(
        item=item,
        scores={} if right is None else {"correct": right},
        status=status,
        output=None if is_choice else text,
        label=str(gold) if is_choice and gold is not None else None,
        prediction=text if is_choice else None,
    )
