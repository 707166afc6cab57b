"""Results of promptfoo, as `promptfoo eval --output FILE.json` writes them: layout 3 (0.123), and 2 before 0.90.

A provider and prompt are a model in a configuration. Tests of equal variables and assertions are one item: promptfoo
numbers the tests anew for each `--repeat`, and each is a trial. The score is `success`, whether all assertions hold;
`columns={"score": "score"}` takes the weighted score of the assertions, and their own names theirs. A call that failed
is an error, one that returned nothing is empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goldassay.data.source import name_of
from goldassay.runs.answer_lists import Answer, AnswerList, Items, read_object, reading_as, slices_of
from goldassay.runs.configurations import flat
from goldassay.runs.run_parts import UNNAMED, Request, Slice

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.statuses import Status

NAME = "promptfoo"
PRIORITY = 33

_FIRST = re.compile(rb'\{\s*("evalId"\s*:\s*[^,{]*,\s*)?"results"\s*:\s*\{\s*"(version|timestamp)"\s*:')
# Of `failureReason`: the call failed, and no assertion was asked.
_ERROR = 2


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by its first fields."""
    log = read_object(path, _FIRST)
    if log is None:
        return None
    return slices_of(reading_as(NAME, path, lambda: _lists(log, path)), path, request, NAME)


def _lists(log: dict[str, Any], path: Path) -> list[AnswerList]:
    summary, config, stem = log["results"], log.get("config") or {}, name_of(path)
    results = sorted(summary["results"], key=lambda each: each["testIdx"])
    # A column of the table of results: a provider with a prompt.
    columns = {each["promptIdx"]: (each.get("prompt") or {}).get("label") for each in results}
    reported = {place: _share(each.get("metrics")) for place, each in enumerate(summary.get("prompts") or ())}
    items, lists = Items(), dict[tuple[str, int], AnswerList]()
    for each in results:
        provider, column = each["provider"], each["promptIdx"]
        model = provider if isinstance(provider, str) else str(provider.get("label") or provider["id"])
        own = lists.setdefault(
            (model, column),
            AnswerList(
                model,
                str(config.get("description") or UNNAMED),
                str(log.get("evalId") or stem),
                configuration=flat({"prompt": columns[column]}) if len(set(columns.values())) > 1 else {},
                reported=reported.get(column, {}),
            ),
        )
        test = each.get("testCase") or {}
        content = [each.get("vars"), test.get("description"), test.get("assert")]
        output = (each.get("response") or {}).get("output")
        own.answers.append(
            Answer(
                item=items.name(content, str(each["testIdx"])),
                scores={name: each[name] for name in ("success", "score") if name in each}
                | (each.get("namedScores") or {}),
                status=_status(each),
                output=output if isinstance(output, str) else None,
            )
        )
    return list(lists.values())


def _status(each: dict[str, Any]) -> Status:
    response = each.get("response") or {}
    if each.get("failureReason") == _ERROR or response.get("error"):
        return "error"
    if response.get("finishReason") in ("length", "max_tokens"):
        return "scored, truncated"
    return "empty" if "output" in response and response["output"] in ("", None) else "scored"


def _share(metrics: dict[str, Any] | None) -> dict[str, float]:
    """The share of tests that passed, as promptfoo shows it."""
    counts = [(metrics or {}).get(f"test{what}Count") or 0 for what in ("Pass", "Fail", "Error")]
    return {"success": counts[0] / sum(counts)} if sum(counts) else {}
