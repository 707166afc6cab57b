"""Jobs of Harbor 0.26 (JOB/result.json with JOB/TRIAL/result.json), and runs of Terminal-Bench 0.2 (RUN/results.json).

Harbor: the score is the reward called `reward`, else the first; `columns={"score": NAME}` takes another. A trial that
ended in an exception is an error, unless its work was verified all the same: after a time-out it is cut off, and
scored. Terminal-Bench: the score is `is_resolved`; run_metadata.json beside it names model, agent and dataset.
Attempts at a task are trials. The agent is part of the configuration.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.runs.answer_lists import Answer, AnswerList, peek, read_object, reading_as, slices_of, whole_object
from goldassay.runs.configurations import flat

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.run_parts import Request, Slice
    from goldassay.runs.statuses import Status

NAME = "harbor"
PRIORITY = 38

_JOB = re.compile(rb'\{.{0,600}?"n_total_trials"\s*:\s*\d+', re.DOTALL)
_TRIAL = re.compile(rb'\{.{0,600}?"trial_name"\s*:', re.DOTALL)
_RUN = re.compile(rb'\{\s*"id"\s*:\s*"[^"]*",\s*"results"\s*:\s*\[\s*(\]|\{.{0,300}?"trial_name"\s*:)', re.DOTALL)
_CUT_OFF = ("agent_timeout", "context_length_exceeded", "output_length_exceeded")


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize the file of a job or of a run by its first fields; those of its trials are read with it."""
    if path.name not in ("result.json", "results.json", "run_metadata.json") and not _RUN.match(peek(path)):
        return None
    if _JOB.match(peek(path)):
        return slices_of(reading_as("Harbor", path, partial(_job, path)), path, request, NAME)
    log = read_object(path, _RUN)
    if log is not None:
        return slices_of(reading_as("Terminal-Bench", path, lambda: _run(log, path)), path, request, NAME)
    is_beside = path.name == "run_metadata.json" or _TRIAL.match(peek(path))
    return [] if is_beside and not request.outright else None


def _job(path: Path) -> list[AnswerList]:
    files = sorted(file for file in path.parent.glob("*/result.json") if _TRIAL.match(peek(file)))
    n_asked = whole_object(path)["n_total_trials"]
    why = f"{len(files)} of the {n_asked} trials of the job are there" if len(files) < n_asked else ""
    lists: dict[tuple[str, ...], AnswerList] = {}
    for file in files:
        # Read one by one, so that a message names the trial's own file.
        for one in reading_as("Harbor", file, partial(_trial, file, path, why)):
            key = (one.model, one.dataset, *map(str, one.configuration.items()))
            lists.setdefault(key, replace(one, answers=[])).answers.extend(one.answers)
    return list(lists.values())


def _trial(file: Path, job: Path, why: str) -> list[AnswerList]:
    trial = whole_object(file)
    agent, told = trial["agent_info"], (trial.get("config") or {}).get("agent") or {}
    rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    if "reward" in rewards:
        rewards = {"reward": rewards["reward"], **rewards}
    own = AnswerList(
        model=(agent.get("model_info") or agent)["name"],
        dataset=trial.get("source") or "adhoc",
        run=job.parent.resolve().name,
        answers=[Answer(trial["task_name"], rewards, _status(trial, is_scored=bool(rewards)))],
        configuration=flat(
            {"agent": {**(told.get("kwargs") or {}), "name": agent["name"], "version": agent["version"]}}
        ),
        unfinished=why,
    )
    return [own]


def _status(trial: dict[str, Any], *, is_scored: bool) -> Status:
    steps = [step.get("exception_info") for step in trial.get("step_results") or ()]
    kinds = [each["exception_type"] for each in (trial.get("exception_info"), *steps) if each]
    if kinds and not (is_scored and trial.get("reward_valid", True)):
        return "error"
    if any("Timeout" in kind for kind in kinds):
        return "scored, truncated"
    return "scored" if is_scored else "unscored"


def _run(log: dict[str, Any], path: Path) -> list[AnswerList]:
    beside = path.with_name("run_metadata.json")
    about = whole_object(beside) if beside.is_file() else {}
    run = path.parent.resolve().name
    own = AnswerList(
        model=about.get("model_name") or about.get("agent_name") or run,
        dataset=about.get("dataset_name") or "terminal-bench",
        run=str(about.get("run_id") or run),
        configuration=flat(
            {
                "agent": {"name": about.get("agent_name"), **(about.get("agent_kwargs") or {})},
                "dataset_version": about.get("dataset_version"),
            }
        ),
        reported={} if log.get("accuracy") is None else {"is_resolved": float(log["accuracy"])},
    )
    for each in log["results"]:
        is_scored, failure = each["is_resolved"] is not None, each.get("failure_mode")
        status: Status = "scored" if failure in (None, "unset", "none") else "error"
        if failure in _CUT_OFF:
            status = "scored, truncated"
        elif each["is_resolved"]:
            status = "scored"
        elif not is_scored and status == "scored":
            status = "unscored"
        own.answers.append(Answer(each["task_id"], {"is_resolved": each["is_resolved"]}, status))
    return [own]
