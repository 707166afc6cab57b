"""Reviews of evalscope 1: reviews/MODEL/DATASET_SUBSET.jsonl, a line a sample with its scores.

The score is the main one of a sample (`main_score_name`, else the first); `columns={"score": METRIC}` takes another.
Samples of one group are the repeats of an item, and trials. predictions/MODEL/ of the same name, beside the reviews,
tells which replies were cut off, failed or are empty. An extracted prediction that is empty beside a reply was not
read. A run is named by the folder's time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.runs.answer_lists import Answer, AnswerList, peek, reading_as, slices_of
from goldassay.runs.tables import lines_of, parse_json

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.run_parts import Request, Slice
    from goldassay.runs.statuses import Status

NAME = "evalscope"
PRIORITY = 37

_REVIEW = re.compile(rb'\{\s*"index"\s*:\s*\d+,\s*"(input|target|messages)"\s*:')
_PREDICTION = re.compile(rb'\{\s*"index"\s*:\s*\d+,\s*"model"\s*:\s*"[^"]*",\s*"model_output"\s*:')


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by the first fields of its first line."""
    if ".jsonl" not in path.name:
        return None
    head = peek(path)
    if _PREDICTION.match(head) and not request.outright:
        # What the reviews are read with; it holds no scores.
        return []
    if not _REVIEW.match(head) or (b'"sample_score"' not in head and path.parent.parent.name != "reviews"):
        return None
    lists = reading_as(NAME, path, lambda: [_list(path, request)])
    beside = _predictions_of(path).is_file()
    return slices_of(lists, path, request, NAME, unrecorded=() if beside else ("empty", "truncated", "error"))


def _predictions_of(path: Path) -> Path:
    return path.parents[2] / "predictions" / path.parent.name / path.name if len(path.parts) > 2 else path / "none"


def _list(path: Path, request: Request) -> AnswerList:
    own = AnswerList(
        model=path.resolve().parent.name,
        dataset=path.name.split(".jsonl")[0],
        run=path.resolve().parents[2].name,
    )
    replies = {} if request.listed else {each["index"]: each for each in _records(_predictions_of(path))}
    for each in _records(path):
        sample = each["sample_score"]
        score, item = sample["score"], sample.get("group_id")
        main = score.get("main_score_name")
        values = {main: score["value"][main]} if main in score["value"] else {}
        target, read = each.get("target"), score.get("extracted_prediction")
        own.answers.append(
            Answer(
                item=str(each["index"] if item is None else item),
                scores={**values, **score["value"]},
                status=_status(replies.get(each["index"]), score),
                output=score.get("prediction"),
                label=target[0] if isinstance(target, list) and len(target) == 1 else target,
                prediction=read,
            )
        )
    return own


def _records(path: Path) -> list[dict[str, Any]]:
    """The lines of a file; none where it is not there."""
    found = []
    for number, line in enumerate(lines_of(path) if path.is_file() else (), start=1):
        try:
            found.append(parse_json(line))
        except (ValueError, RecursionError) as error:
            raise InputError("the line is not JSON", file=path, row=number, mend="write or copy it again") from error
    return found


def _status(reply: dict[str, Any] | None, score: dict[str, Any]) -> Status:
    made = (reply or {}).get("model_output") or {}
    choice = (made.get("choices") or [{}])[0]
    if made.get("error"):
        return "error"
    if choice.get("stop_reason") in ("max_tokens", "model_length"):
        return "scored, truncated"
    text, read = score.get("prediction"), score.get("extracted_prediction")
    if text is not None and not text.strip():
        return "empty"
    return "unparsed" if text and read is not None and not read.strip() else "scored"
