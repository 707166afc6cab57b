"""Samples of the lm-evaluation-harness: samples_TASK_TIME.jsonl, one line a document and filter.

The score is the first of acc, exact_match, f1, acc_norm that the task has, else its first metric within [0, 1];
`columns={"score": METRIC}` chooses another. Each filter of a task is a dataset of its own. Log-likelihoods of the
choices become logits where the score is that of the likeliest choice.

The results file of the same time, results_TIME.json beside the samples, names the model; without it the model is the
name of the folder, as the harness lays it out. A run is the number of `--seed N`, where that was given; else it is
named by its time, since the harness's own seeds are the same in each run. The configuration is what the results file
tells of the task, its shots, the generation and the chat template, and so is the mean score of a metric.

An answer that the filter could not read, "[invalid]", and one without text keep their score, and say so by their
status; a metric that is NaN is no score.
"""

from __future__ import annotations

import math
import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.runs.configurations import arguments_of, flat, version_of
from goldassay.runs.run_parts import Collection, Columns, Outputs, Request, Slice, not_loaded
from goldassay.runs.statuses import may_be_none, with_no_answers
from goldassay.runs.tables import head_of, lines_of, parse_json, start_of, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.runs.statuses import Status

NAME = "lm-eval"
PRIORITY = 20

_FILE = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl(\.gz|\.zst)?")
_RESULTS = re.compile(r"results_\d{4}-\d\d-\d\dT[\d.:-]+\.json")
_FIRST = re.compile(rb'\{\s*"results"\s*:')
_FIELDS = {"doc_id", "target", "resps", "filter", "metrics"}
_PREFERRED = ("acc", "exact_match", "f1", "acc_norm")
# The harness takes the model's name from the first of these that is given; without any it draws a random one.
_NAMING = ("peft", "delta", "pretrained", "model", "path", "engine")
# Three of the four seeds that one --seed N sets; left alone they differ from each other.
_SEEDS = ("random_seed", "numpy_seed", "torch_seed")
# Of the chat template its digest tells enough.
_TOLD = ("chat_template_sha", "fewshot_as_multiturn", "system_instruction")
_MAX_RESULTS = 1 << 28
# What its regular-expression filters give where they find nothing.
_INVALID = "[invalid]"
# Metrics whose value for a task is the mean over its samples, wherever the task does not say how it is made.
_MEANS = ("acc", "acc_norm", "exact_match")
# The filter of a line as the harness writes it; of a list no more is wanted, and to parse lines takes the most time.
_FILTER = re.compile(rb'"filter": "([^"\\]*)", "metrics": \[')


class _Sample(NamedTuple):
    """What is taken of a line; documents, prompts and outputs are not kept, but for texts that may be no answer."""

    doc_id: str
    target: str
    filter: str
    choices: tuple[float, ...] | None
    metrics: dict[str, Any]
    status: Status = "scored"
    written: str | None = None
    kept: tuple[str, ...] = ()


class _Run(NamedTuple):
    """Whose samples these are."""

    model: str
    seed: int | str
    results: dict[str, Any]


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by the fields of its first line."""
    if not path.is_file():
        return None
    if not request.outright and _RESULTS.fullmatch(path.name) and _FIRST.match(start_of(path, 64)):
        # What the samples of the same time are read with; it holds no run.
        return []
    if ".jsonl" not in path.name:
        return None
    # The first line may be longer than the head, so that it cannot be parsed yet; these fields stand first in it.
    if not all(field in head_of(path) for field in (b'"doc_id":', b'"doc":')):
        return None
    samples = _samples(path, request)
    if samples is None:
        return None
    filters: dict[str, list[_Sample]] = {}
    for sample in samples:
        filters.setdefault(sample.filter, []).append(sample)
    match = _FILE.fullmatch(path.name)
    task, time = (match["task"], match["time"]) if match else (path.name.split(".")[0], path.name.split(".")[0])
    run = _run(path, time)
    slices = []
    for name, kept in filters.items():
        slices.append(
            Slice(
                collection=Collection(run.model, task if len(filters) == 1 else f"{task}/{name}", "", "paired", ""),
                seed=run.seed,
                checkpoint=None,
                n_examples=len(kept),
                file=str(path),
                format=NAME,
                load=not_loaded if request.listed else partial(_load, kept, request, path, (run.results, task)),
                configuration=_configuration(run.results, task),
                unrecorded=("truncated", "error"),
                keyed=True,
                outputs=partial(_read_outputs, path, name),
            )
        )
    return slices


def _samples(path: Path, request: Request) -> list[_Sample] | None:
    """All lines, of which a list needs the filters alone; None if the first is not a sample."""
    samples: list[_Sample] = []
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        if request.listed and samples and (told := _FILTER.findall(line)) and len(told) == 1 and line.endswith(b"}"):
            samples.append(_only_filter(told[0].decode()))
            continue
        try:
            record = parse_json(line)
        except (ValueError, RecursionError) as error:
            if not samples:
                return None
            raise InputError(f"the line is not JSON ({error})", file=path, row=number) from error
        if not isinstance(record, dict) or not record.keys() >= _FIELDS:
            if not samples:
                return None
            raise InputError("the line is not a sample like the first", file=path, row=number)
        if not isinstance(record["metrics"], list) or not all(isinstance(name, str) for name in record["metrics"]):
            raise InputError("the metrics of the sample are not a list of names", file=path, row=number)
        if request.listed:
            samples.append(_only_filter(str(record["filter"])))
            continue
        samples.append(
            _Sample(
                doc_id=str(record["doc_id"]),
                target=str(record["target"]),
                filter=str(record["filter"]),
                choices=_choices(record["resps"]),
                metrics={name: record.get(name) for name in record["metrics"]},
                status=_status(record),
                written=text if may_be_none(text := _output(record["resps"])) else None,
                kept=tuple(map(_text_of(record["doc"]), request.kept)),
            )
        )
    return samples or None


def _status(record: Mapping[str, Any]) -> Status:
    """Of what the filter made of an answer; scores of choices have no text to read."""
    text, read = _output(record["resps"]), record.get("filtered_resps")
    if text is not None and not text.strip():
        return "empty"
    read = read if isinstance(read, list) else [read]
    return "unparsed" if read and all(each == _INVALID for each in read) else "scored"


def _output(resps: Any) -> str | None:
    """The text of the first answer; None where the answer is no text."""
    while isinstance(resps, (list, dict)) and resps:
        resps = resps[0] if isinstance(resps, list) else next(iter(resps.values()))
    return resps if isinstance(resps, str) else None


def _read_outputs(path: Path, filter_: str) -> Outputs | None:
    """The texts that one filter read, out of a file whose lines `find` has checked."""
    rows = []
    for line in lines_of(path):
        record = parse_json(line) if line.strip() else {}
        if record and str(record["filter"]) == filter_:
            read = _output(record.get("filtered_resps"))
            rows.append(
                (str(record["doc_id"]), _output(record["resps"]), str(record["target"]),
                 _output(record.get("arguments")), None if read == _INVALID else read)
            )  # fmt: skip
    names = ("example_ids", "texts", "targets", "prompts", "predictions")
    found = {
        name: pl.Series(values, dtype=pl.String) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    return Outputs(**found) if found["texts"].count() else None


@cache
def _only_filter(name: str) -> _Sample:
    return _Sample("", "", name, None, {})


def _choices(resps: Any) -> tuple[float, ...] | None:
    """Log-likelihood of each of at least two choices, each asked for once and answered [[log-likelihood, greedy]]."""
    if not isinstance(resps, list) or len(resps) < 2:
        return None
    try:
        values = tuple(float(log_likelihood) for ((log_likelihood, _greedy),) in resps)
    except (TypeError, ValueError):
        return None
    return None if any(math.isnan(value) for value in values) else values


def _run(path: Path, time: str) -> _Run:
    """Model and seed as the results file says them, else the folder's name and the time."""
    folder = path.resolve().parent
    file = folder / f"results_{time}.json"
    if not file.is_file():
        return _Run(folder.name, time, {})
    try:
        results = parse_json(unpacked(file, _MAX_RESULTS))
    except (ValueError, RecursionError) as error:
        raise InputError(f"the results file is not JSON ({error})", file=file, mend="copy it again") from error
    config = results.get("config") if isinstance(results, dict) else None
    if not isinstance(config, dict):
        raise InputError("the results file does not say how the model was run", file=file, mend="copy it again")
    arguments = config.get("model_args")
    is_named = any(name in arguments for name in _NAMING) if isinstance(arguments, (str, dict)) else False
    name = results.get("model_name") if is_named else config.get("model")
    first, *others = (config.get(name) for name in _SEEDS)
    seed = first if isinstance(first, int) and all(other == first for other in others) else time
    return _Run(name if isinstance(name, str) and name else folder.name, seed, results)


def _configuration(results: dict[str, Any], task: str) -> dict[str, Any]:
    """How a task was asked, as the results file tells it; {} without one."""

    def of_task(name: str) -> Any:
        every = results.get(name)
        return every.get(task) if isinstance(every, dict) else None

    settings, config = of_task("configs"), results.get("config")
    config = config if isinstance(config, dict) else {}
    told = {name: results.get(name) for name in _TOLD}
    # A task's metadata repeat the arguments of the model, its name among them.
    told |= {"task": {k: v for k, v in settings.items() if k != "metadata"} if isinstance(settings, dict) else None}
    told |= {"n_shot": of_task("n-shot"), "version": of_task("versions")}
    told |= {"gen_kwargs": arguments_of(config.get("gen_kwargs")), "model_args": arguments_of(config.get("model_args"))}
    return flat(told | {"lm_eval": version_of(results.get("lm_eval_version"))}, without=(*_NAMING, "tokenizer"))


def _load(samples: Sequence[_Sample], request: Request, path: Path, results: tuple[dict[str, Any], str]) -> Columns:
    metric = request.columns.get("score") or _metric(samples, path)
    scores = [sample.metrics.get(metric) for sample in samples]
    if not all(isinstance(score, (int, float)) for score in scores):
        # A metric of the task as a whole, as mcc, has each sample's label and choice in place of a number.
        numbers = [name for name, value in samples[0].metrics.items() if isinstance(value, (int, float))]
        raise InputError(
            f"metric {metric!r} is not a number for each sample",
            file=path,
            column=metric,
            mend=f"choose one with {option('columns', 'score=METRIC')}: there are {', '.join(numbers)}"
            if numbers
            else "leave the task out",
        )
    targets = [sample.target for sample in samples]
    logits = _logits(samples)
    names = None if logits is None else tuple(str(choice) for choice in range(logits.shape[1]))
    if logits is not None and (np.array(targets) == logits.argmax(axis=1).astype(str)).tolist() != scores:
        # The metric is not of the likeliest choice (acc_norm is of the likeliest for its length), or has other targets.
        logits = names = None
    status, written = (
        pl.Series([getattr(sample, name) for sample in samples], dtype=pl.String) for name in ("status", "written")
    )
    of_scores = pl.Series([None if score is None or math.isnan(score) else float(score) for score in scores])
    return Columns(
        example_ids=pl.Series([sample.doc_id for sample in samples], dtype=pl.String),
        label=pl.Series(targets, dtype=pl.String) if names is not None else None,
        score=of_scores,
        logits=logits,
        label_names=names,
        status=with_no_answers(status, written, of_scores, set(targets)),
        reported=_reported(*results, metric, samples[0].filter),
        groups={
            name: pl.Series(values, dtype=pl.String)
            for name, *values in zip(request.kept, *(sample.kept for sample in samples), strict=True)
            if any(values)
        },
    )


def _text_of(doc: Any) -> Callable[[str], str]:
    """Reads a field of a document; "" where it has none, or one that is no text or number."""

    def read(name: str) -> str:
        value = doc.get(name) if isinstance(doc, dict) else None
        return str(value) if isinstance(value, (str, int, float)) else ""

    return read


def _reported(results: Mapping[str, Any], task: str, metric: str, filter_: str) -> float | None:
    """The score of the task as the results file gives it; None where it gives none, or one that is no mean."""

    def of_task(name: str) -> Mapping[str, Any]:
        every = results.get(name)
        found = every.get(task) if isinstance(every, dict) else None
        return found if isinstance(found, dict) else {}

    listed = of_task("configs").get("metric_list")
    how = {each.get("metric"): each.get("aggregation") for each in listed or () if isinstance(each, dict)}
    is_mean = how.get(metric, "mean" if metric in _MEANS else None) == "mean"
    value = of_task("results").get(f"{metric},{filter_}")
    return float(value) if is_mean and isinstance(value, (int, float)) and math.isfinite(value) else None


def _metric(samples: Sequence[_Sample], path: Path) -> str:
    def is_usable(name: str) -> bool:
        values = [sample.metrics.get(name) for sample in samples]
        numbers = [float(value) for value in values if isinstance(value, (int, float)) and not math.isnan(value)]
        return bool(numbers) and 0 <= numbers[0] <= 1

    metrics = samples[0].metrics
    usable = [name for name in metrics if is_usable(name)]
    for name in (*_PREFERRED, *usable):
        if name in usable:
            return name
    raise InputError(
        f"none of the metrics {', '.join(metrics)} is a score within [0, 1]",
        file=path,
        mend=f"choose one with {option('columns', 'score=METRIC')}",
    )


def _logits(samples: Sequence[_Sample]) -> NDArray[np.float64] | None:
    """Log-likelihood of each choice (N, K), where each sample has the same number of them."""
    rows = [sample.choices for sample in samples if sample.choices is not None]
    return np.array(rows) if len(rows) == len(samples) and len({len(row) for row in rows}) == 1 else None
