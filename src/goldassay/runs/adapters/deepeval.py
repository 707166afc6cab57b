"""Test runs of DeepEval 4: test_run_TIME.json of a results folder, and .latest_run_full.json of `.deepeval`.

The score is `success`, whether all metrics reach their thresholds; `columns={"score": "METRIC"}` takes the score of
one. Test cases of equal name and input are one item, answered again. The model is that of the hyperparameters, which
are the configuration with the thresholds. A case of which a metric failed to be computed is an error, one without
output is empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goldassay.runs.answer_lists import Answer, AnswerList, Items, read_object, reading_as, slices_of
from goldassay.runs.configurations import flat
from goldassay.runs.run_parts import UNNAMED, UNNAMED_MODEL, Request, Slice

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.statuses import Status

NAME = "deepeval"
PRIORITY = 35

_FIRST = re.compile(
    rb'\{\s*("testRunData"\s*:\s*\{\s*)?("testFile"\s*:\s*"[^"]*",\s*)?"testCases"\s*:\s*\[(\s*\{.*?"input"\s*:|\s*\],\s*"conv)',
    re.DOTALL,
)


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by its first fields."""
    log = read_object(path, _FIRST)
    if log is None:
        return None
    lists = reading_as(NAME, path, lambda: _lists(log.get("testRunData", log), path))
    return slices_of(lists, path, request, NAME, unrecorded=("truncated",))


def _lists(log: dict[str, Any], path: Path) -> list[AnswerList]:
    stem, told = path.name.split(".json")[0], log.get("hyperparameters") or {}
    cases = [*log["testCases"], *log.get("conversationalTestCases", ())]
    metrics = {metric["name"]: metric for case in cases for metric in case.get("metricsData") or ()}
    passed, failed = log.get("testPassed") or 0, log.get("testFailed") or 0
    own = AnswerList(
        model=str(told.get("model") or UNNAMED_MODEL),
        dataset=str(log.get("datasetAlias") or log.get("testFile") or UNNAMED),
        run=str(log.get("identifier") or stem),
        configuration=flat(
            {"hyperparameters": told, "threshold": {name: each.get("threshold") for name, each in metrics.items()}},
            without=("model",),
        ),
        reported={"success": passed / (passed + failed)} if passed + failed else {},
    )
    items = Items()
    for case in cases:
        scores = {metric["name"]: metric.get("score") for metric in case.get("metricsData") or ()}
        content = [case["name"], case.get("input", case.get("scenario"))]
        own.answers.append(
            Answer(
                item=items.name(content, case["name"]),
                scores={"success": case.get("success"), **scores},
                status=_status(case),
                output=case.get("actualOutput"),
            )
        )
    return [own]


def _status(case: dict[str, Any]) -> Status:
    if any(metric.get("error") for metric in case.get("metricsData") or ()):
        return "error"
    return "empty" if "input" in case and not (case.get("actualOutput") or "").strip() else "scored"
