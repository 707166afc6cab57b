"""Details of lighteval: details/MODEL/TIME/details_TASK_TIME.parquet, a row a document and way of asking.

The score is the only metric within [0, 1] that the task has; of several, `columns={"score": METRIC}` must name one.
A task that is asked in two ways (by log-probabilities and by writing) has each document twice, and only the rows that
hold the metric count. A run is named by its time, or by the seed of generation where the results beside the
details name one, which also tell the configuration. Log-probabilities of the choices become logits where the score is
that of the likeliest choice.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.bounds import check_parquet
from goldassay.core.errors import InputError
from goldassay.runs.answer_lists import choose_score
from goldassay.runs.configurations import flat, number_or_text
from goldassay.runs.key_columns import as_scores
from goldassay.runs.run_parts import Collection, Columns, Outputs, Request, Slice
from goldassay.runs.tables import is_parquet, logits_array, unpacked

if TYPE_CHECKING:
    from pathlib import Path

NAME = "lighteval"
PRIORITY = 10

_PARTS = ("doc", "metric", "model_response")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d.-]+")


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a table of documents, responses and metrics; their columns may stand between underscores."""
    if not path.is_file() or not is_parquet(path):
        return None
    schema = pl.read_parquet_schema(path)
    names = {name.strip("_"): name for name in schema}
    if not all(isinstance(schema.get(names.get(part, "")), pl.Struct) for part in _PARTS):
        return None
    document = schema[names["doc"]]
    if not isinstance(document, pl.Struct) or not {"id", "task_name"} <= {field.name for field in document.fields}:
        return None
    inside = pl.col(names["doc"]).struct
    about = _collected(path, inside.field("id"), inside.field("task_name"))
    if about.height == 0:
        raise InputError("there are no documents in the details", file=path)
    model, time = _model_and_time(path)
    task, general = str(about["task_name"][0]), _results(path, model, time)
    return [
        Slice(
            collection=Collection(model, task, "", "paired", ""),
            seed=_seed(general, time),
            checkpoint=None,
            n_examples=about["id"].n_unique(),
            file=str(path),
            format=NAME,
            load=partial(_load, path, names, request),
            configuration=_configuration(general, task),
            unrecorded=("truncated", "error"),
            keyed=True,
            outputs=partial(_outputs, path, names, request),
        )
    ]


def _model_and_time(path: Path) -> tuple[str, str]:
    folders = path.resolve().parent.parts
    time = folders[-1] if _TIME.fullmatch(folders[-1]) else path.stem
    above = folders[:-1] if time is folders[-1] else folders
    if "details" in above:
        after = len(above) - above[::-1].index("details")
        above = above[after:] or above
    else:
        above = above[-1:]
    return "/".join(above), time


def _results(path: Path, model: str, time: str) -> dict[str, Any]:
    """The results that belong to the details; {} where they are not beside them.

    Raises:
        InputError: They are damaged.
    """
    top = next((folder.parent for folder in path.resolve().parents if folder.name == "details"), None)
    file = None if top is None else top / "results" / model / f"results_{time}.json"
    if file is None or not file.is_file():
        return {}
    try:
        results: dict[str, Any] = json.loads(unpacked(file))
        results["config_general"]["model_config"]["generation_parameters"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "the results that belong to the details are damaged",
            file=file,
            mend="copy them again, or move them away",
        ) from error
    return results


def _seed(results: dict[str, Any], time: str) -> int | str:
    """The seed that generation was given; else the time."""
    settings = results["config_general"]["model_config"]["generation_parameters"] if results else None
    seed = settings.get("seed") if isinstance(settings, dict) else None
    return seed if isinstance(seed, int) else time


def _configuration(results: dict[str, Any], task: str) -> dict[str, Any]:
    """How the task was asked: settings of model and generation, and those of the task, whose name ends in |SHOTS."""
    if not results:
        return {}
    name, _, shots = task.rpartition("|")
    told: dict[str, Any] = {"model": results["config_general"]["model_config"]}
    told |= {"shots": number_or_text(shots)} if name else {}
    for section in ("config_tasks", "versions"):
        every = results.get(section)
        if isinstance(every, dict):
            told[section] = every.get(task, every.get(name))
    return flat(told, without=("model_name",))


def _collected(path: Path, *columns: pl.Expr) -> pl.DataFrame:
    try:
        check_parquet(path, path)
        return pl.scan_parquet(path).select(*columns).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "the Parquet file is damaged or cut short", file=path, mend="write or copy it again"
        ) from error


def _rows(path: Path, names: dict[str, str], request: Request) -> pl.DataFrame:
    """A row a document: its id, query, choices, right choice, log-probabilities, text and score."""
    metrics = _collected(path, pl.col(names["metric"])).to_series().struct.unnest()
    metric = choose_score(
        [name for name in metrics.columns if _is_score(metrics[name])],
        request.columns.get("score"),
        [name for name in metrics.columns if metrics[name].dtype.is_numeric() or metrics[name].dtype == pl.Boolean],
        path,
    )
    document, response = pl.col(names["doc"]).struct, pl.col(names["model_response"]).struct
    told = {name: _fields(path, names[part]) for name, part in (("query", "doc"), ("text", "model_response"))}
    none = pl.lit(None, pl.String)
    table = _collected(
        path, document.field("id"), document.field("gold_index"), document.field("choices"),
        document.field("query") if "query" in told["query"] else none.alias("query"),
        response.field("logprobs"), response.field("text") if "text" in told["text"] else none.alias("text"),
    ).with_columns(metrics[metric].alias("score"))  # fmt: skip
    if table["text"].dtype == pl.List(pl.String):
        # Of several answers to a document the last one, as metrics of one answer take it.
        table = table.with_columns(pl.col("text").list.last())
    elif table["text"].dtype != pl.String:
        table = table.with_columns(text=none)
    # A document that was asked in two ways has a row of each, and the metric of one way in one of them.
    lacks = pl.col("score").is_null()
    return table.filter(~lacks | (lacks.all().over("id") & pl.col("id").is_first_distinct()))


def _load(path: Path, names: dict[str, str], request: Request) -> Columns:
    table = _rows(path, names, request)
    columns = Columns(
        example_ids=table["id"].cast(pl.String),
        score=as_scores(table["score"], path),
        outputs=table["text"] if table["text"].null_count() == 0 else None,
    )
    right = _single(table["gold_index"])
    if right is None or not _one_each(table):
        return columns
    logits = logits_array(table["logprobs"], path)
    # A metric may divide by length or take off a prior; then the likeliest choice is not the one that was scored.
    if not np.array_equal(logits.argmax(axis=-1) == right.to_numpy(), table["score"].fill_null(0).to_numpy()):
        return columns
    choices = tuple(str(choice) for choice in range(logits.shape[1]))
    return replace(columns, label=right.cast(pl.String), logits=logits, label_names=choices)


def _fields(path: Path, column: str) -> set[str]:
    kind = pl.read_parquet_schema(path)[column]
    return {field.name for field in kind.fields} if isinstance(kind, pl.Struct) else set()


def _outputs(path: Path, names: dict[str, str], request: Request) -> Outputs | None:
    """What the model wrote, with the right choice of each document; None where it was asked by log-probabilities."""
    table = _rows(path, names, request)
    if not table["text"].count():
        return None
    right, choices = _single(table["gold_index"]), table["choices"]
    targets = None if right is None else choices.list.get(right, null_on_oob=True).cast(pl.String)
    return Outputs(table["id"].cast(pl.String), table["text"], targets, table["query"].cast(pl.String))


def _is_score(values: pl.Series) -> bool:
    if values.dtype == pl.Boolean:
        return True
    known = values.drop_nulls()
    return values.dtype.is_numeric() and known.len() > 0 and bool(known.is_between(0, 1).all())


def _single(gold: pl.Series) -> pl.Series | None:
    """The right choice of each document; None where some have several."""
    if isinstance(gold.dtype, pl.List):
        if gold.null_count() or gold.list.len().max() != 1 or gold.list.len().min() != 1:
            return None
        gold = gold.list.first()
    return gold if gold.dtype.is_integer() and not gold.null_count() else None


def _one_each(table: pl.DataFrame) -> bool:
    """Whether all documents have the same number of choices, at least two, and a log-probability for each."""
    choices, given = table["choices"].list.len(), table["logprobs"].list.len()
    return choices.n_unique() == 1 and int(choices[0]) > 1 and bool((choices == given).all())
