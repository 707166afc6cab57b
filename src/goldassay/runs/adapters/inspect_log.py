"""Logs of inspect_ai (.eval): each epoch of a log is a run. A list of runs reads header and summaries alone.

The score is that of the first scorer; `columns={"score": SCORER}` chooses another, or SCORER/PART where a scorer gives
several values. C, P, I and N count as 1, 0.5, 0, 0. Where samples have choices, their letters are labels and
predictions. Fields of the samples' metadata whose values repeat are groups. Samples that failed or ran into a limit,
and those that an evaluation cut short never reached, have no score, and say so by their status. The configuration is
what the header tells of task, solver, scorers, generation and limits. Why an answer ended, and its text, stand in
whole samples, which are read where all of a log's unpack to at most 64 MB.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.naming import listing
from goldassay.runs.adapters.inspect_archive import last_member, members_of, read_member
from goldassay.runs.configurations import flat, version_of
from goldassay.runs.run_parts import Collection, Columns, Outputs, Request, Slice, not_loaded
from goldassay.runs.statuses import with_no_answers
from goldassay.runs.tables import start_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from zipfile import ZipInfo

    from goldassay.runs.statuses import Status

NAME = "inspect"
PRIORITY = 31

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
# So an inspect_ai log in its other form begins; the manifest of an eval set (logs.json) has the names of files before.
_JSON_FORM = re.compile(rb'\{\s*"version"\s*:.*"status"\s*:.*"eval"\s*:.*"eval_id"\s*:', re.DOTALL)
_NO_ANSWER = "no answer"
# Whole samples of agents hold all that was said and done: for texts more are read than for statuses, in every command.
_MOST_BYTES, _MAX_SAMPLES = 1 << 28, 1 << 26
_CUT_OFF = ("max_tokens", "model_length")


class _Reply(NamedTuple):
    """How an answer ended and what it is; `is_only` if the model said nothing else, to tools or before."""

    stop_reason: str
    text: str
    is_only: bool


class _Log(NamedTuple):
    """What is taken of a log: its identity, how it ended, which samples it was to have, and their summaries.

    `n_samples` is how many samples an epoch was to have, and None where nothing says it; `reported` are the means that
    it gives by scorer; `whole` are the members that hold whole samples, None where they are too large to read.
    """

    model: str
    task: str
    run: str
    status: str
    sample_ids: tuple[str, ...]
    n_samples: int | None
    n_epochs: int
    summaries: tuple[dict[str, Any], ...]
    configuration: dict[str, Any]
    reported: Mapping[str, float]
    whole: tuple[ZipInfo, ...] | None


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize an archive that holds an evaluation's header, or the journal of one that never ended."""
    if not path.is_file():
        return None
    start = start_of(path, 200)
    if path.suffix == ".json" and _JSON_FORM.match(start):
        raise InputError(
            "the log is in inspect_ai's JSON form, which holds whole samples and no summaries",
            file=path,
            mend="convert it: inspect log convert FILE --to eval --output-dir DIR",
        )
    if start[:2] != b"PK":
        return None
    log = (_read_header(path) if request.listed else None) or _read_log(path)
    if log is None:
        return None
    by_epoch = _by_epoch(log, path)
    ids = log.sample_ids or tuple(dict.fromkeys(name for samples in by_epoch.values() for name in samples))
    if not ids:
        raise InputError("there are no samples in the log", file=path)
    return [
        Slice(
            collection=Collection(log.model, log.task, "", "paired", ""),
            seed=f"{log.run}-{epoch}" if len(by_epoch) > 1 else log.run,
            checkpoint=None,
            n_examples=len(ids),
            file=str(path),
            format=NAME,
            load=not_loaded if request.listed else partial(_load, log, ids, samples, request, path, epoch),
            configuration=log.configuration,
            unfinished=_unfinished(log, samples),
            unrecorded=("empty", "truncated") if log.whole is None else (),
            is_trial=len(by_epoch) > 1,
            keyed=True,
            outputs=partial(_read_outputs, path, epoch),
        )
        for epoch, samples in sorted(by_epoch.items())
    ]


def _read_outputs(path: Path, epoch: int) -> Outputs | None:
    """What was written in the samples of an epoch; None where these are too large to be read for that."""
    members = _of_epoch(members_of(path).values(), epoch)
    if not members or sum(member.file_size for member in members) > _MOST_BYTES:
        return None
    samples = [_mapping(read_member(path, member)) for member in members]
    texts = [_mapping(each.get("output")).get("completion") for each in samples]
    columns: dict[str, list[str | None]] = {
        "example_ids": [str(each.get("id")) for each in samples],
        "texts": [text if isinstance(text, str) else None for text in texts],
        "targets": [_only_text(each.get("target")) for each in samples],
        "prompts": [_only_text(each.get("input")) for each in samples],
    }
    found = {name: pl.Series(values, dtype=pl.String) for name, values in columns.items()}
    return Outputs(**found) if found["texts"].count() else None


def _of_epoch(members: Iterable[ZipInfo], epoch: int) -> list[ZipInfo]:
    ending = f"_epoch_{epoch}.json"
    return [each for each in members if each.filename.startswith("samples/") and each.filename.endswith(ending)]


def _only_text(value: Any) -> str | None:
    """A text, or the only one of a list; None for several, and for messages."""
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return value if isinstance(value, str) else None


def _read_header(path: Path) -> _Log | None:
    """A log of which the header alone says that it is whole; None for any other, of which the samples must be seen."""
    start = last_member(path, "header.json", among="summaries.json")
    header = _mapping(None if start is None else read_member(path, start))
    about = _mapping(header.get("eval"))
    # Each sample has a member of its own, so that a file of fewer bytes does not hold them.
    n_epochs = _whole_epochs(header, about, most=path.stat().st_size)
    return _log(path, header, about, [], n_epochs, None) if n_epochs and {"model", "task"} <= about.keys() else None


def _read_log(path: Path) -> _Log | None:
    members = members_of(path)
    start = members.get("header.json") or members.get("_journal/start.json")
    if start is None:
        return None
    header = read_member(path, start)
    about = header.get("eval") if isinstance(header, dict) else None
    if not isinstance(about, dict) or not {"model", "task"} <= about.keys():
        raise InputError(f"{start.filename} in the log does not say which model did which task", file=path)
    if "summaries.json" in members:
        parts = [members["summaries.json"]]
    else:
        # What an evaluation that was killed had written down until then.
        parts = [member for name, member in members.items() if name.startswith("_journal/summaries/")]
    if not parts:
        raise InputError("the log has no summaries of samples", file=path, mend="run the evaluation to its end")
    summaries = [each for part in parts for each in _checked(read_member(path, part), part.filename, path)]
    epochs = _mapping(about.get("config")).get("epochs")
    n_epochs = epochs if isinstance(epochs, int) and 0 < epochs <= len(summaries) else 1
    whole = tuple(member for name, member in members.items() if name.startswith("samples/"))
    is_read = 0 < sum(member.file_size for member in whole) <= _MAX_SAMPLES
    return _log(path, header, about, summaries, n_epochs, whole if is_read else None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _log(
    path: Path,
    header: Mapping[str, Any],
    about: Mapping[str, Any],
    summaries: list[dict[str, Any]],
    n_epochs: int,
    whole: tuple[ZipInfo, ...] | None,
) -> _Log:
    dataset, config = _mapping(about.get("dataset")), _mapping(about.get("config"))
    sample_ids = dataset.get("sample_ids")
    return _Log(
        model=str(about["model"]),
        task=str(about["task"]),
        # Its first letters tell it from any other, and can be read aloud.
        run=str(about.get("eval_id") or about.get("run_id") or path.stem)[:8],
        status=str(header.get("status", "started")),
        sample_ids=tuple(map(str, sample_ids)) if isinstance(sample_ids, list) else (),
        n_samples=len(sample_ids) if isinstance(sample_ids, list) and sample_ids else _n_asked(dataset, config),
        n_epochs=n_epochs,
        summaries=tuple(summaries),
        configuration=_configuration(about, header.get("plan")),
        reported=_reported(_mapping(header.get("results")).get("scores")) if n_epochs == 1 else {},
        whole=whole,
    )


def _reported(scores: Any) -> dict[str, float]:
    """The mean score by scorer; metrics that are no means are left out."""
    found = {}
    for each in scores if isinstance(scores, list) else ():
        metrics = _mapping(_mapping(each).get("metrics"))
        values = [_mapping(metrics.get(name)).get("value") for name in ("accuracy", "mean")]
        number = next((value for value in values if isinstance(value, (int, float)) and math.isfinite(value)), None)
        if number is not None:
            found[str(each.get("name"))] = float(number)
    return found


def _whole_epochs(header: Mapping[str, Any], about: Mapping[str, Any], most: int) -> int:
    """How many epochs there are if a header alone says that each holds each sample once, and all ended well; else 0."""
    results = _mapping(header.get("results"))
    sample_ids = _mapping(about.get("dataset")).get("sample_ids")
    epochs = _mapping(about.get("config")).get("epochs")
    if header.get("status") != "success" or not isinstance(sample_ids, list) or not isinstance(epochs, int):
        return 0
    n = len(sample_ids) * epochs
    return epochs if 0 < n <= most and results.get("total_samples") == n else 0


def _n_asked(dataset: Mapping[str, Any], config: Mapping[str, Any]) -> int | None:
    """How many samples an epoch was to have, where their ids are not listed; None where it cannot be told."""
    n, limit = dataset.get("samples"), config.get("limit")
    if not isinstance(n, int) or config.get("sample_id") is not None:
        return None
    if isinstance(limit, list) and len(limit) == 2 and all(isinstance(end, int) for end in limit):
        return len(range(n)[limit[0] : limit[1]])
    return min(n, limit) if isinstance(limit, int) else n


def _unfinished(log: _Log, samples: Mapping[str, dict[str, Any]]) -> str:
    """Why an epoch of an evaluation that did not end well is not whole; "" where all of its samples have a score."""
    n_scored = sum(bool(each["scores"]) for each in samples.values())
    if log.status == "success" or n_scored == log.n_samples:
        return ""
    of = "an unknown number of" if log.n_samples is None else f"{log.n_samples:,}"
    return f"the evaluation ended with the status {log.status!r}, and {n_scored:,} of {of} samples have a score"


def _configuration(about: Mapping[str, Any], plan: Any) -> dict[str, Any]:
    """What the header tells of how the model was asked; what it may not hold in this form is left out."""

    def mapping(value: Any) -> Mapping[str, Any]:
        return value if isinstance(value, dict) else {}

    plan, dataset, config = mapping(plan), mapping(about.get("dataset")), mapping(about.get("config"))
    steps = plan.get("steps")
    scorers = about.get("scorers")
    return flat(
        {
            "task_args": about.get("task_args"),
            "task_version": about.get("task_version"),
            "solver": about.get("solver"),
            "solver_args": about.get("solver_args"),
            # A task's own solver stands in the plan alone.
            "plan": [
                {name: step.get(name) for name in ("solver", "params")} for step in steps if isinstance(step, dict)
            ]
            if isinstance(steps, list)
            else None,
            "scorers": [
                {name: scorer.get(name) for name in ("name", "options")}
                for scorer in scorers
                if isinstance(scorer, dict)
            ]
            if isinstance(scorers, list)
            else None,
            "generate": {**mapping(plan.get("config")), **mapping(about.get("model_generate_config"))},
            "model_args": about.get("model_args"),
            "model_roles": about.get("model_roles"),
            "dataset": {name: dataset.get(name) for name in ("name", "location")},
            "limits": {name: value for name, value in config.items() if name.endswith("_limit")},
            "version": {name: version_of(number) for name, number in mapping(about.get("packages")).items()},
        }
    )


def _checked(summaries: Any, name: str, path: Path) -> list[dict[str, Any]]:
    if not isinstance(summaries, list) or not all(isinstance(each, dict) and "id" in each for each in summaries):
        raise InputError(f"{name} in the log is not a list of samples with ids", file=path)
    for summary in summaries:
        for scorer, score in _scores_of(summary).items():
            if not isinstance(score, dict):
                raise InputError(
                    f"the score {scorer!r} of sample {summary['id']} is not an object with a value", file=path
                )
    # Only these fields are kept: inputs and what else a summary has may be long.
    kept = ("id", "epoch", "target", "metadata", "error", "limit")
    found = [{field: summary[field] for field in kept if field in summary} for summary in summaries]
    for own, summary in zip(found, summaries, strict=True):
        own["choices"] = bool(summary.get("choices"))
        own["scores"] = {
            scorer: {"value": score.get("value"), "answer": score.get("answer")}
            for scorer, score in _scores_of(summary).items()
        }
    return found


def _by_epoch(log: _Log, path: Path) -> dict[int, dict[str, dict[str, Any]]]:
    """The summaries of each epoch by the names of their samples.

    Raises:
        InputError: An epoch holds a sample twice, be it with the same score: which one counts is not said.
    """
    listed: dict[int, list[dict[str, Any]]] = {epoch: [] for epoch in range(1, log.n_epochs + 1)}
    for summary in log.summaries:
        listed.setdefault(_epoch(summary, path), []).append(summary)
    found = {epoch: {str(each["id"]): each for each in summaries} for epoch, summaries in listed.items()}
    for epoch, summaries in listed.items():
        if len(found[epoch]) < len(summaries):
            again = [name for name, n in Counter(str(each["id"]) for each in summaries).items() if n > 1]
            raise InputError(
                f"{len(again)} sample ids are there more than once in epoch {epoch}, first {listing(again)}",
                file=path,
                mend="give the log as inspect_ai wrote it, with each sample once an epoch",
            )
    return found


def _epoch(summary: Mapping[str, Any], path: Path) -> int:
    epoch = summary.get("epoch", 1)
    if not isinstance(epoch, int):
        raise InputError(f"sample {summary['id']} has the epoch {epoch!r}, which is not a number", file=path)
    return epoch


def _load(
    log: _Log, ids: Sequence[str], samples: Mapping[str, dict[str, Any]], request: Request, path: Path, epoch: int
) -> Columns:
    scorer = request.columns.get("score") or _first_scorer(samples, path)
    found = {name: _score(sample, scorer) for name, sample in samples.items()}
    scores = {name: _number(value) for name, (value, _) in found.items()}
    if found and all(score is None for score in scores.values()):
        raise InputError(
            f"no sample has a score called {scorer!r} that is a number or one of C, P, I, N",
            file=path,
            mend=f"choose one with {option('columns', 'score=SCORER')}: there are {listing(_offered(samples), 12)}",
        )
    label, prediction = _letters(ids, samples, found, scores)
    replies = _replies(path, log.whole or (), epoch)
    of_scores = pl.Series([scores.get(name) for name in ids], dtype=pl.Float64)
    answers = {name: answer if isinstance(answer, str) else None for name, (_, answer) in found.items()}
    answers |= {name: reply.text for name, reply in replies.items() if reply.is_only}
    status = pl.Series(
        [
            _status(samples.get(name), scores.get(name), found.get(name, (None, None))[1], replies.get(name))
            for name in ids
        ],
        dtype=pl.String,
    )
    return Columns(
        example_ids=pl.Series(ids, dtype=pl.String),
        label=label,
        prediction=prediction,
        score=of_scores,
        groups=_groups(ids, samples, request.kept),
        unscored="" if log.status == "success" else f"the evaluation ended with the status {log.status!r}",
        status=with_no_answers(status, pl.Series(map(answers.get, ids), dtype=pl.String), of_scores, ()),
        reported=log.reported.get(scorer),
    )


def _replies(path: Path, whole: Sequence[ZipInfo], epoch: int) -> dict[str, _Reply]:
    """The last output of each sample of an epoch, by the sample's name."""
    found = {}
    for member in _of_epoch(whole, epoch):
        sample = _mapping(read_member(path, member))
        output, messages = _mapping(sample.get("output")), sample.get("messages")
        choice = _mapping(next(iter(output.get("choices") or ()), None))
        roles = [_mapping(each).get("role") for each in messages] if isinstance(messages, list) else []
        text = output.get("completion")
        if choice and isinstance(text, str):
            is_only = roles.count("assistant") == 1 and not _mapping(choice.get("message")).get("tool_calls")
            found[str(sample.get("id"))] = _Reply(str(choice.get("stop_reason")), text, is_only)
    return found


def _status(sample: Mapping[str, Any] | None, score: float | None, answer: Any, reply: _Reply | None) -> Status:
    if sample is None:
        return "missing"
    if sample.get("error") or (sample.get("limit") and score is None):
        return "error"
    is_cut_off = reply is not None and reply.stop_reason in _CUT_OFF
    if score is None:
        return "truncated" if is_cut_off else "unscored"
    if is_cut_off or sample.get("limit"):
        return "scored, truncated"
    if reply is not None and reply.is_only and not reply.text.strip() and not score:
        return "empty"
    return "unparsed" if sample["choices"] and not answer and not score else "scored"


def _scores_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    scores = sample.get("scores")
    return scores if isinstance(scores, dict) else {}


def _first_scorer(samples: Mapping[str, dict[str, Any]], path: Path) -> str:
    for sample in samples.values():
        for name in sample["scores"]:
            return str(name)
    raise InputError("no sample of the log has a score", file=path, mend="score it, or leave the log out")


def _offered(samples: Mapping[str, dict[str, Any]]) -> list[str]:
    """Names of scorers, with their parts."""
    names: dict[str, None] = {}
    for sample in samples.values():
        for name, score in sample["scores"].items():
            value = score["value"]
            names.update(dict.fromkeys([f"{name}/{part}" for part in value] if isinstance(value, dict) else [name]))
    return list(names)


def _score(sample: Mapping[str, Any], scorer: str) -> tuple[Any, Any]:
    """Value and answer by one scorer; a part of its value is asked for as SCORER/PART."""
    scores = sample["scores"]
    name, _, part = (scorer, "", "") if scorer in scores else scorer.rpartition("/")
    score = scores.get(name or scorer)
    if score is None:
        return None, None
    value = score["value"]
    return (value.get(part) if part and isinstance(value, dict) else value), score["answer"]


def _number(value: Any) -> float | None:
    if isinstance(value, (bool, int, float)):
        return None if math.isnan(value) else float(value)
    return _LETTERS.get(value) if isinstance(value, str) else None


def _letters(
    ids: Sequence[str],
    samples: Mapping[str, dict[str, Any]],
    found: Mapping[str, tuple[Any, Any]],
    scores: Mapping[str, float | None],
) -> tuple[pl.Series | None, pl.Series | None]:
    """Right and chosen letters, where each sample has choices and the score says whether the two are the same."""
    right, chosen = [], []
    for name in ids:
        sample, score = samples.get(name, {}), scores.get(name)
        target, answer = sample.get("target"), found.get(name, (None, None))[1]
        if not sample.get("choices", False) or not isinstance(target, str) or not isinstance(answer, (str, type(None))):
            return None, None
        if score is None or len(target) != 1 or len(answer or "") > 1 or (answer == target) != (score == 1.0):
            return None, None
        right.append(target)
        chosen.append(answer or _NO_ANSWER)
    return pl.Series(right, dtype=pl.String), pl.Series(chosen, dtype=pl.String)


def _groups(
    ids: Sequence[str], samples: Mapping[str, dict[str, Any]], kept: Sequence[str] = ()
) -> dict[str, pl.Series]:
    """Fields of the metadata that are names or whole numbers in each sample, and of which at least half repeat."""
    about = [metadata if isinstance(metadata := samples.get(name, {}).get("metadata"), dict) else {} for name in ids]
    groups = {}
    for field in about[0]:
        values = [metadata.get(field) for metadata in about]
        repeats = all(isinstance(value, (str, int)) for value in values) and 1 < len(set(values)) <= len(values) // 2
        if field in kept:
            groups[field] = pl.Series(["" if value is None else str(value) for value in values], dtype=pl.String)
        elif repeats:
            groups[field] = pl.Series([str(value) for value in values], dtype=pl.String)
    return groups
