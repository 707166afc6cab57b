"""Runs of HELM: per_instance_stats.json, a record an instance, trial and perturbation with all that was measured of it.

Each trial (`train_trial_index`: another draw of in-context examples) is a run. HELM measures many things of an
instance; `columns={"score": METRIC}` says which is the score, unless there is only one that can be. Perturbed instances
are a dataset of their own, NAME/PERTURBATION. From files that lie beside come the names of model and scenario
(run_spec.json, which also tells the configuration), the answers (display_predictions.json) and, where these are mapped
to references, the right ones (instances.json).
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.runs.answer_lists import choose_score
from goldassay.runs.configurations import flat
from goldassay.runs.run_parts import Collection, Columns, Outputs, Request, Slice
from goldassay.runs.tables import head_of, start_of, unpacked

if TYPE_CHECKING:
    from pathlib import Path

NAME = "helm"
PRIORITY = 15

_START = re.compile(rb'\s*\[\s*\{\s*"instance_id"\s*:')
_STATS = re.compile(rb'"stats"\s*:\s*\[')
# What HELM notes of every instance whatever the task, and which is no score though it may lie within [0, 1].
_BOOKKEEPING = (
    *("num_", "finish_reason_", "inference_", "training_", "batch_size", "prompt_truncated", "max_prob"),
    *("logprob", "perplexity", "bits_per_byte", "logits_per_byte", "annotator_"),
)
# Of a perturbation's fields, these say what it is for; the others (a probability, say) tell two of a name apart.
_PURPOSE = {"name", "robustness", "fairness", "computed_on", "seed"}
# Of how a model is asked these tell its name, and how many trials there are.
_NO_SETTINGS = ("model", "model_deployment", "num_train_trials", "num_trials")


class _Place(NamedTuple):
    """What one slice holds."""

    perturbation: str
    split: str
    trial: int


class _Instance(NamedTuple):
    """An instance as the files beside name it."""

    identifier: str
    perturbation: str


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize an array of records by the fields of its first."""
    if not path.is_file() or start_of(path, 1) not in (b"[", b"\x1f", b"\x28", b"\n", b" "):
        return None
    head = head_of(path)
    if not _START.match(head) or b'"train_trial_index"' not in head or not _STATS.search(head):
        return None
    measured = _measured(path)
    model, scenario, configuration = _names(path)
    beside = (path.parent / "display_predictions.json").is_file()
    slices = []
    for place, by_instance in measured.items():
        dataset = f"{scenario}/{place.perturbation}" if place.perturbation else scenario
        slices.append(
            Slice(
                collection=Collection(model, dataset, place.split, "paired", ""),
                seed=place.trial,
                numbered=True,
                checkpoint=None,
                n_examples=len(by_instance),
                file=str(path),
                format=NAME,
                load=partial(_load, by_instance, place, request, path),
                configuration=configuration,
                unrecorded=("error",) if beside else ("empty", "error"),
                keyed=True,
                outputs=partial(_outputs, path, place, list(by_instance)) if beside else None,
            )
        )
    return slices


def _measured(path: Path) -> dict[_Place, dict[str, dict[str, float]]]:
    """Means of all measurements by place and instance, whose records (one for each kind of metric) are joined."""
    measured: dict[_Place, dict[str, dict[str, float]]] = {}
    for number, record in enumerate(_records(path), start=1):
        try:
            stats = [(stat["name"], stat) for stat in record["stats"]]
            split = next((str(name["split"]) for name, _ in stats if name.get("split")), "")
            place = _Place(_perturbation(record), split, int(record["train_trial_index"]))
            values = measured.setdefault(place, {}).setdefault(str(record["instance_id"]), {})
            for name, stat in stats:
                metric = str(name["name"])
                if metric in values:
                    raise InputError(
                        f"{metric} of instance {record['instance_id']} is there twice in trial {place.trial}",
                        file=path,
                        mend="keep one record an instance, trial and perturbation",
                    )
                if stat["count"]:
                    values[metric] = float(stat["sum"]) / float(stat["count"])
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"record {number} is not one of HELM's like the first", file=path) from error
    return measured


def _records(path: Path) -> list[Any]:
    try:
        records = json.loads(unpacked(path))
    except ValueError as error:
        raise InputError(f"the file is not whole JSON ({error})", file=path, mend="copy it again") from error
    if not isinstance(records, list):
        raise InputError("the file does not hold a JSON array of records", file=path)
    return records


def _perturbation(record: Any) -> str:
    about = record.get("perturbation")
    if not about:
        return ""
    more = [f"{key}={value}" for key, value in sorted(about.items()) if key not in _PURPOSE]
    return ",".join([str(about["name"]), *more])


def _names(path: Path) -> tuple[str, str, dict[str, Any]]:
    """Model, scenario and configuration.

    The scenario has its arguments, but not the model, which HELM counts among them.
    """
    spec = path.parent / "run_spec.json"
    run, model = path.resolve().parent.name, ""
    configuration: dict[str, Any] = {}
    if spec.is_file():
        try:
            about = json.loads(unpacked(spec))
            run, model = str(about["name"]), str(about["adapter_spec"]["model"])
            configuration = flat({"adapter": about["adapter_spec"]}, without=_NO_SETTINGS)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                "the run's settings are damaged", file=spec, mend="copy them again, or move them away"
            ) from error
    scenario, _, arguments = run.partition(":")
    named = [argument for argument in arguments.split(",") if argument.startswith("model=")]
    others = [argument for argument in arguments.split(",") if argument and argument not in named]
    model = model or (named[0].removeprefix("model=") if named else "model")
    return model, f"{scenario}:{','.join(others)}" if others else scenario, configuration


def _load(measured: dict[str, dict[str, float]], place: _Place, request: Request, path: Path) -> Columns:
    there = list(dict.fromkeys(metric for values in measured.values() for metric in values))
    offered = [name for name in there if not name.startswith(_BOOKKEEPING) and _is_score(measured, name)]
    metric = choose_score(offered, request.columns.get("score"), there, path)
    instances = [_Instance(identifier, place.perturbation) for identifier in measured]
    records = _displayed(path, place.trial, instances)
    answers, mapped = _answers(records)
    return Columns(
        example_ids=pl.Series(list(measured), dtype=pl.String),
        label=_right_answers(path, instances) if mapped else None,
        prediction=answers,
        score=pl.Series([values.get(metric) for values in measured.values()], dtype=pl.Float64),
        unscored=f"HELM found no {metric}",
        status=pl.Series(
            ["truncated" if values.get("finish_reason_length") else "scored" for values in measured.values()],
            dtype=pl.String,
        ),
        outputs=None if records is None else _field(records, "predicted_text"),
    )


def _outputs(path: Path, place: _Place, identifiers: list[str]) -> Outputs | None:
    """What a trial's model wrote, with the one correct reference of each instance where there is one."""
    instances = [_Instance(identifier, place.perturbation) for identifier in identifiers]
    records = _displayed(path, place.trial, instances)
    if records is None:
        return None
    answers, mapped = _answers(records)
    return Outputs(
        pl.Series(identifiers, dtype=pl.String),
        _field(records, "predicted_text"),
        _right_answers(path, instances),
        predictions=answers if mapped else None,
    )


def _field(records: list[Any], name: str) -> pl.Series:
    return pl.Series([None if record.get(name) is None else str(record[name]) for record in records], dtype=pl.String)


def _is_score(measured: dict[str, dict[str, float]], metric: str) -> bool:
    found = [values[metric] for values in measured.values() if metric in values]
    return bool(found) and all(0 <= value <= 1 for value in found)


def _displayed(path: Path, trial: int, instances: list[_Instance]) -> list[Any] | None:
    """The records of the answers to the instances; None where the file is not there."""
    beside = path.parent / "display_predictions.json"
    if not beside.is_file():
        return None
    try:
        found = {
            _Instance(str(record["instance_id"]), _perturbation(record)): record
            for record in _records(beside)
            if record["train_trial_index"] == trial
        }
        lacking = [instance.identifier for instance in instances if instance not in found]
        if lacking:
            raise InputError(
                f"answers to {len(lacking)} of {len(instances)} instances are missing, first {listing(lacking)}",
                file=beside,
                mend="run helm-summarize again, or move the file away",
            )
        records = [found[instance] for instance in instances]
        if not all("predicted_text" in record for record in records):
            raise KeyError("predicted_text")
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("the answers are not HELM's", file=beside, mend="move the file away") from error
    return records


def _answers(records: list[Any] | None) -> tuple[pl.Series | None, bool]:
    """The answers as texts, mapped to references where HELM did so, and whether it did so for all."""
    if records is None:
        return None, False
    texts = [str(record.get("mapped_output", record["predicted_text"])).strip() for record in records]
    return pl.Series(texts, dtype=pl.String), all("mapped_output" in record for record in records)


def _right_answers(path: Path, instances: list[_Instance]) -> pl.Series | None:
    """The one correct reference of each instance; None where the file is not there, or some have more than one."""
    beside = path.parent / "instances.json"
    if not beside.is_file():
        return None
    try:
        right = {
            _Instance(str(record["id"]), _perturbation(record)): [
                str(reference["output"]["text"]).strip()
                for reference in record["references"]
                if "correct" in reference["tags"]
            ]
            for record in _records(beside)
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("the instances are not HELM's", file=beside, mend="move the file away") from error
    answers = [right.get(instance, []) for instance in instances]
    return pl.Series([one[0] for one in answers], dtype=pl.String) if all(len(one) == 1 for one in answers) else None
