"""Results of EvalPlus 0.3: SAMPLES.eval_results.json, each solution of each task with the status of its tests.

The score is whether a solution passes the base tests and those that EvalPlus adds (`plus`), or the base tests where
no others were run; `columns={"score": "base"}` takes these. The solutions of a task are its trials. The model,
backend and temperature are in the file's name as its own code generation gives it. Of what the tests did, a time-out
is a failure and no error; a task without a solution is empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.runs.answer_lists import Answer, AnswerList, read_object, reading_as, slices_of
from goldassay.runs.configurations import flat, number_or_text

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.run_parts import Request, Slice

NAME = "evalplus"
PRIORITY = 34

_FIRST = re.compile(rb'\{\s*"date"\s*:\s*"[^"]*",\s*"hash"\s*:\s*"[^"]*",\s*"eval"\s*:\s*\{')
_FILE = re.compile(
    r"(?P<stem>(?P<model>.+)_(?P<backend>[a-z]+)_temp_(?P<temperature>[0-9.]+?)|.+?)(-sanitized)?[._]eval_results\.json.*"
)


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by its first fields."""
    log = read_object(path, _FIRST)
    if log is None:
        return None
    lists = reading_as(NAME, path, lambda: _lists(log, path))
    return slices_of(lists, path, request, NAME, unrecorded=("truncated", "error"))


def _lists(log: dict[str, Any], path: Path) -> list[AnswerList]:
    if not all(isinstance(solutions, list) for solutions in log["eval"].values()):
        raise InputError(
            "has the layout of EvalPlus before 0.2, which keeps no solutions",
            file=path,
            mend="evaluate the samples with a newer one: evalplus.evaluate --dataset humaneval --samples FILE",
        )
    named = _FILE.fullmatch(path.name)
    stem = named["stem"] if named else path.name.split(".json")[0]
    own = AnswerList(
        model=(named and named["model"]) or stem,
        dataset=str(next(iter(log["eval"]), "")).partition("/")[0].lower() or "evalplus",
        run=stem,
        configuration=flat({"backend": named["backend"], "temperature": number_or_text(named["temperature"])})
        if named and named["model"]
        else {},
        reported={
            what: float(told["pass@1"]) for what, told in (log.get("pass_at_k") or {}).items() if "pass@1" in told
        },
    )
    for task, solutions in log["eval"].items():
        for each in solutions:
            base, plus = each["base_status"] == "pass", each.get("plus_status")
            own.answers.append(
                Answer(
                    item=task,
                    scores={"base": base} if plus is None else {"plus": base and plus == "pass", "base": base},
                    status="scored" if each["solution"].strip() else "empty",
                    output=each["solution"],
                )
            )
    return [own]
