"""Instance records of Every Eval Ever, schema 0.3: *_samples.jsonl, a line an example and result.

A run is named by `metadata.seed` and `metadata.checkpoint` where a line has them (ours do), else by its evaluation_id.
Where an example has several results, `columns={"score": RESULT}` says which is the score. Labels and predictions are
taken where all examples have the same choices and both are among them; the score always is the record's. Where the
aggregate record lies beside, its checksum and number of rows must be those of the file, and its generation settings and
library are the configuration, where the lines do not tell it (`metadata.configuration`, as ours do).

Also how seeds and checkpoints are written, and the scores of whole datasets read; `questions/every_eval_ever.py` writes
records.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, no_such_file
from goldassay.core.files import sha256_of
from goldassay.runs.answer_lists import choose_score
from goldassay.runs.configurations import flat, version_of
from goldassay.runs.grades import SHARES_OF, stated_scale
from goldassay.runs.run_parts import Collection, Columns, Outputs, Request, Slice
from goldassay.runs.statuses import NO_ANSWER, STATUSES
from goldassay.runs.tables import head_of, lines_of, start_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from numpy.typing import NDArray


NAME = "every_eval_ever"
PRIORITY = 18

_IDENTITY = (b'"evaluation_id"', b'"model_id"', b'"evaluation_name"', b'"sample_id"')


class _Run(NamedTuple):
    """What one slice holds."""

    collection: Collection
    seed: int | str
    checkpoint: int | str | None


class _Row(NamedTuple):
    """What is kept of a line."""

    identifier: str
    score: float
    choices: tuple[str, ...]
    references: tuple[str, ...]
    answer: str | None
    metadata: dict[str, str]
    output: str | None
    asked: str | None
    error: bool


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize lines by the first one's fields; an aggregate record holds no examples, and so no slices."""
    if not path.is_file() or start_of(path, 1) not in (b"{", b"\x1f", b"\x28"):
        return None
    head = head_of(path)
    if not head.lstrip().startswith(b"{") or b'"schema_version"' not in head:
        return None
    if not all(field in head for field in _IDENTITY):
        return _of_aggregate(path, request)
    runs = _rows(path)
    _check_against_aggregate(path, sum(len(rows) for results in runs.values() for rows in results.values()))
    return [
        Slice(
            collection=run.collection,
            seed=run.seed,
            checkpoint=run.checkpoint,
            n_examples=max(len(rows) for rows in results.values()),
            file=str(path),
            format=NAME,
            load=partial(_load, results, request, path),
            grades=_scale(results, path),
            unrecorded=("truncated",),
            outputs=partial(_outputs, results, request, path),
            configuration=_own_configuration(results, path) or _aggregate_configuration(path, run.collection.dataset),
        )
        for run, results in runs.items()
    ]


def _of_aggregate(path: Path, request: Request) -> list[Slice] | None:
    if aggregate_in(path) is None:
        return None
    if request.outright:
        raise InputError(
            "this is an aggregate record: it holds scores of whole datasets, and no examples",
            file=path,
            mend=f"give the examples, {path.stem}_samples.jsonl",
        )
    return []


def _rows(path: Path) -> dict[_Run, dict[str, list[_Row]]]:
    """Rows by run and result."""
    runs: dict[_Run, dict[str, list[_Row]]] = {}
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"the line is not JSON ({error})", file=path, row=number) from error
        try:
            run, row = _run(record), _row(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"the line is not an instance record like the first ({type(error).__name__}: {error})",
                file=path,
                row=number,
            ) from error
        result = str(record.get("evaluation_result_id") or "score")
        runs.setdefault(run, {}).setdefault(result, []).append(row)
    return runs


def _run(record: dict[str, Any]) -> _Run:
    about = record.get("metadata") or {}
    checkpoint = about.get("checkpoint")
    return _Run(
        Collection(
            str(record["model_id"]),
            str(record["evaluation_name"]),
            str(about.get("split", "")),
            str(about.get("condition", "paired")),
            str(about.get("train_set", "")),
        ),
        from_text(str(about["seed"])) if "seed" in about else str(record["evaluation_id"]),
        None if checkpoint is None else from_text(str(checkpoint)),
    )


def _row(record: dict[str, Any]) -> _Row:
    final = [answer["extracted_value"] for answer in record["answer_attribution"] if answer["is_terminal"]]
    given, output = record["input"], (record.get("output") or {}).get("raw")
    texts = [output] if isinstance(output, str) else output if isinstance(output, list) else []
    return _Row(
        str(record["sample_id"]),
        float(record["evaluation"]["score"]),
        tuple(given.get("choices") or ()),
        tuple(given["reference"]) if isinstance(given["reference"], list) else (str(given["reference"]),),
        str(final[-1]) if final and final[-1] is not None else None,
        record.get("metadata") or {},
        texts[-1] if texts and isinstance(texts[-1], str) else None,
        given["raw"] if isinstance(given.get("raw"), str) else None,
        bool(record.get("error")),
    )


def _check_against_aggregate(path: Path, n_rows: int) -> None:
    beside = path.with_name(path.name.replace("_samples.jsonl", ".json"))
    record = aggregate_in(beside) if beside != path and beside.is_file() else None
    about = None if record is None else record.get("detailed_evaluation_results")
    if not isinstance(about, dict):
        return
    total = about.get("total_rows")
    if total is not None and total != n_rows:
        raise InputError(f"there are {n_rows} records, but {beside.name} says {total}", file=path, mend="copy it again")
    if about.get("hash_algorithm") == "sha256" and about.get("checksum") not in (None, sha256_of(path)):
        raise InputError(f"the file's checksum is not the one in {beside.name}", file=path, mend="copy it again")


def _scale(results: dict[str, list[_Row]], path: Path) -> tuple[float, float] | None:
    told = {row.metadata.get(SHARES_OF) for rows in results.values() for row in rows}
    if len(told) > 1:
        raise InputError("the lines of a run name several scales", file=path, column=f"metadata.{SHARES_OF}")
    return stated_scale(told.pop(), str(path))


def _own_configuration(results: dict[str, list[_Row]], path: Path) -> dict[str, Any]:
    """The configuration that the lines of a run tell, as `write_every_eval_ever` writes it."""
    text = next((rows[0].metadata.get("configuration") for rows in results.values()), None)
    if text is None:
        return {}
    try:
        return flat(json.loads(text))
    except (ValueError, AttributeError) as error:
        raise InputError(
            "the configuration is not a JSON object", file=path, column="metadata.configuration"
        ) from error


def _aggregate_configuration(path: Path, dataset: str) -> dict[str, Any]:
    """The configuration that the aggregate record beside tells."""
    beside = path.with_name(path.name.replace("_samples.jsonl", ".json"))
    record = aggregate_in(beside) if beside != path and beside.is_file() else None
    if record is None:
        return {}
    results, library = record.get("evaluation_results"), record.get("eval_library")
    settings = [
        result.get("generation_config")
        for result in (results if isinstance(results, list) else [])
        if isinstance(result, dict) and result.get("evaluation_name") == dataset
    ]
    library = library if isinstance(library, dict) else {}
    # What goldassay wrote was asked by something else, of which nothing is known.
    name = str(library.get("name") or "")
    version = {name: version_of(library.get("version"))} if name not in ("", "goldassay") else None
    return flat({"generate": next((each for each in settings if each), None), "library": version})


def _chosen(results: dict[str, list[_Row]], request: Request, path: Path) -> list[_Row]:
    """The rows of the result that is the score."""
    there = list(results)
    offered = [name for name, rows in results.items() if all(0 <= row.score <= 1 for row in rows)]
    if there == ["score"]:
        offered = there
    return results[choose_score(offered, request.columns.get("score"), there, path)]


def _outputs(results: dict[str, list[_Row]], request: Request, path: Path) -> Outputs | None:
    """The texts of the rows, with the answers that were read from them; None where there are none."""
    rows = _chosen(results, request, path)
    # Of a talk of several turns a record has no output, only the answer that was taken from its last turn.
    written = [row.output for row in rows]
    if all(text is None for text in written):
        written = [row.answer for row in rows]
    if all(text is None for text in written):
        return None
    right = [row.references[0] if len(row.references) == 1 else None for row in rows]
    columns = ([row.identifier for row in rows], written, right, [row.asked for row in rows],
               [row.answer for row in rows])  # fmt: skip
    return Outputs(*(pl.Series(values, dtype=pl.String) for values in columns))


def _statuses(rows: list[_Row], path: Path) -> pl.Series:
    """What became of each answer, as far as the records tell it: an answer with credit was read."""
    some_output, some_answer = (any(values) for values in zip(*((row.output, row.answer) for row in rows), strict=True))

    def status(row: _Row) -> str:
        if STATUS in row.metadata:
            return row.metadata[STATUS]
        if row.score > 0:
            return "scored"
        if row.error:
            return "error"
        if some_output and not (row.output or "").strip():
            return "empty"
        return "unparsed" if some_answer and not (row.answer or "").strip() else "scored"

    statuses = [status(row) for row in rows]
    if unknown := sorted(set(statuses) - set(STATUSES)):
        raise InputError(f"there is no status {unknown[0]!r}", file=path, column=f"metadata.{STATUS}")
    return pl.Series(statuses, dtype=pl.String)


def _load(results: dict[str, list[_Row]], request: Request, path: Path) -> Columns:
    rows = _chosen(results, request, path)
    names = _common_choices(rows)
    known = names is not None
    answers = [NO_ANSWER if row.answer is None and STATUS in row.metadata else row.answer for row in rows]
    groups = [name for name in rows[0].metadata if name.startswith("group_")]
    return Columns(
        example_ids=pl.Series([row.identifier for row in rows], dtype=pl.String),
        label=_among([row.references[0] if len(row.references) == 1 else None for row in rows], names),
        prediction=_among(answers, names),
        score=pl.Series([row.score for row in rows], dtype=pl.Float64),
        logits=_logits(rows, names, path) if known else None,
        label_names=names,
        groups={
            name[6:]: pl.Series([str(row.metadata.get(name, "")) for row in rows], dtype=pl.String) for name in groups
        },
        status=_statuses(rows, path),
    )


def _common_choices(rows: list[_Row]) -> tuple[str, ...] | None:
    """The labels, where the same ones are offered with each example."""
    first = rows[0].choices
    return first if first and all(row.choices == first for row in rows) else None


def _among(values: list[str | None], names: tuple[str, ...] | None) -> pl.Series | None:
    if names is None or not all(value in names for value in values):
        return None
    return pl.Series(values, dtype=pl.String)


def _logits(rows: list[_Row], names: tuple[str, ...] | None, path: Path) -> NDArray[np.float64] | None:
    texts = [row.metadata.get("logits") for row in rows]
    if names is None or any(text is None for text in texts):
        return None
    try:
        logits = np.array([json.loads(str(text)) for text in texts], dtype=np.float64)
    except ValueError as error:
        raise InputError(
            f"the logits are not one list of numbers a line ({error})", file=path, column="metadata.logits"
        ) from error
    if logits.shape != (len(rows), len(names)):
        raise InputError(
            f"logits have shape {logits.shape}, but there are {len(rows)} examples of {len(names)} labels",
            file=path,
            column="metadata.logits",
        )
    return logits


SCHEMA_VERSION = "0.3.0"
# In the metadata of an answer without a score: why it has none.
STATUS = "status"


def as_text(value: int | str) -> str:
    """A seed or checkpoint as text; a name that would be read as a number is put in quotation marks."""
    if isinstance(value, int):
        return str(value)
    return value if isinstance(from_text(value), str) and not value.startswith('"') else json.dumps(value)


def from_text(text: str) -> int | str:
    """The seed or checkpoint that a text stands for: a whole number as Python writes it, else a name."""
    if re.fullmatch(r"0|-?[1-9]\d*", text):
        return int(text)
    return str(json.loads(text)) if re.fullmatch(r'"([^"\\]|\\.)*"', text) else text


def read_aggregates(path: str | os.PathLike[str]) -> pl.DataFrame:
    """The scores of whole datasets in aggregate records: a file, or all of a folder, which is searched to the bottom.

    Returns:
        A row an evaluation result: model, dataset, metric, score (as the record gives it), standard_error, n_examples,
        seed, checkpoint (as text), lower_is_better, evaluation_id, file; null where a record does not say it.

    Raises:
        InputError: There is no such file or no such record, or one lacks what the schema requires.
    """
    place = Path(path)
    if not place.exists():
        raise no_such_file(place)
    files = [place] if place.is_file() else sorted(place.rglob("*.json"))
    rows = [
        row for file in files if (record := aggregate_in(file)) is not None for row in _aggregate_rows(record, file)
    ]
    if not rows:
        raise InputError("no aggregate records of Every Eval Ever are here", file=place)
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA = {
    **dict.fromkeys(("model", "dataset", "metric"), pl.String),
    "score": pl.Float64,
    "standard_error": pl.Float64,
    "n_examples": pl.Int64,
    **dict.fromkeys(("seed", "checkpoint"), pl.String),
    "lower_is_better": pl.Boolean,
    **dict.fromkeys(("evaluation_id", "file"), pl.String),
}


def aggregate_in(file: Path) -> dict[str, Any] | None:
    """The aggregate record that a JSON file is, or None."""
    from goldassay.runs.tables import head_of, unpacked

    if not all(field in head_of(file) for field in (b'"schema_version"', b'"evaluation_id"')):
        return None
    try:
        record = json.loads(unpacked(file))
    except ValueError:
        return None
    return record if isinstance(record, dict) and "evaluation_results" in record else None


def _aggregate_rows(record: dict[str, Any], file: Path) -> Iterator[dict[str, Any]]:
    try:
        details = record["model_info"].get("additional_details") or {}
        for result in record["evaluation_results"]:
            score = result["score_details"]
            uncertainty = score.get("uncertainty") or {}
            yield {
                "model": str(record["model_info"]["id"]),
                "dataset": str(result["evaluation_name"]),
                "metric": result["metric_config"].get("metric_id") or result.get("evaluation_result_id"),
                "score": float(score["score"]),
                "standard_error": (uncertainty.get("standard_error") or {}).get("value"),
                "n_examples": uncertainty.get("num_samples"),
                "seed": details.get("seed"),
                "checkpoint": details.get("checkpoint"),
                "lower_is_better": result["metric_config"]["lower_is_better"],
                "evaluation_id": str(record["evaluation_id"]),
                "file": str(file),
            }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the record is not of Every Eval Ever's schema {SCHEMA_VERSION} ({type(error).__name__}: {error})",
            file=file,
        ) from error
