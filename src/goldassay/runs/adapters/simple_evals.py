"""Results of OpenAI's simple-evals (2025): EVAL_MODEL_TIME_allresults.json, with what it shows of each example.

Scores, right and extracted answers are read from the pages of the examples (`htmls`), which alone hold them, or from
the metadata of each example (HealthBench). Examples of equal prompt are one item, and its repeats are trials; a
multiple-choice question whose choices were put in another order has another prompt. "None" as the extracted answer was
not read, and an empty reply is empty. What the file's name says of dataset, model and time is all that tells them.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.runs.answer_lists import Answer, AnswerList, Items, read_object, reading_as, slices_of

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.run_parts import Request, Slice

NAME = "simple-evals"
PRIORITY = 36

_FIRST = re.compile(rb'\{\s*"score"\s*:\s*[^,{]*,\s*"metrics"\s*:\s*(\{[^}]*\}|null),\s*"htmls"\s*:')
_FILE = re.compile(r"(?P<dataset>[^_]+)_(?P<model>.+?)(_(?P<time>\d{8}_\d+))?(_DEBUG)?_allresults\.json.*")
_SHOWN = {
    name: re.compile(f"<p>{title}: (.*?)</p>", re.DOTALL)
    for name, title in {"score": "Score", "label": "Correct Answer", "prediction": "Extracted Answer"}.items()
}
_WORDS = {"true": 1.0, "false": 0.0, "none": None}


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by its first fields."""
    log = read_object(path, _FIRST)
    if log is None:
        return None
    lists = reading_as(NAME, path, lambda: _lists(log, path))
    return slices_of(lists, path, request, NAME, unrecorded=("truncated", "error"))


def _lists(log: dict[str, Any], path: Path) -> list[AnswerList]:
    named, stem = _FILE.fullmatch(path.name), path.name.split(".json")[0]
    own = AnswerList(
        model=named["model"] if named else stem,
        dataset=named["dataset"] if named else "simple-evals",
        run=(named and named["time"]) or stem,
        reported={} if log["score"] is None else {"score": float(log["score"])},
    )
    items = Items()
    details = (log.get("metadata") or {}).get("example_level_metadata") or [None] * len(log["convos"])
    for place, (page, talk, detail) in enumerate(zip(log["htmls"], log["convos"], details, strict=True)):
        shown = {name: found for name, pattern in _SHOWN.items() if (found := _last(pattern, page)) is not None}
        score = (detail or {}).get("score", _score(shown.get("score")))
        if detail is None and "score" not in shown:
            raise InputError(f"the page of example {place} shows no score", file=path, mend="leave the file out")
        output = talk[-1]["content"]
        prediction = shown.get("prediction")
        own.answers.append(
            Answer(
                item=items.name(talk[:-1], str((detail or {}).get("prompt_id", place))),
                scores={"score": score},
                status="empty" if not output.strip() else "unparsed" if prediction == "None" else "scored",
                output=output,
                label=shown.get("label"),
                prediction=prediction,
            )
        )
    return [own]


def _last(pattern: re.Pattern[str], page: str) -> str | None:
    """What a page shows of an example stands below the conversation, which may hold anything."""
    found = pattern.findall(page)
    return html.unescape(found[-1]) if found else None


def _score(text: str | None) -> float | None:
    plain = (text or "none").strip().lower()
    return _WORDS[plain] if plain in _WORDS else float(plain)
