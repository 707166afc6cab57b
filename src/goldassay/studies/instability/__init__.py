"""Instability as a study of its own: from the predictions of several runs to a report."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.errors import InputError
from goldassay.progress import Steps
from goldassay.report import Report
from goldassay.settings import Settings, with_seed
from goldassay.studies.audit.inputs import describe_runs
from goldassay.studies.audit.instability import MOST_GROUPS, measure_groups, measure_spread, spread_of
from goldassay.studies.audit.verdicts import judge_instability
from goldassay.studies.instability.deviations import check_reference, measure_deviations
from goldassay.studies.instability.examples import measure_examples
from goldassay.studies.instability.maps import measure_map
from goldassay.studies.instability.sentences import say
from goldassay.studies.instability.texts import group_names, known_groups, read_texts
from goldassay.studies.instability.training import measure_correlations, measure_trajectories, trajectory_table
from goldassay.studies.report_frame import frame_findings
from goldassay.studies.run_sets import RunChoice, read_run_sets, short_names, told_apart

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.progress import Progress
    from goldassay.runs import Runs

__all__ = ["report_instability"]

# A map takes a screen of the page.
MOST_MAPS = 2

_NAMES = ("model", "dataset", "condition")


def report_instability(
    paths: Sequence[str | os.PathLike[str]],
    *,
    reference: str | None = None,
    groups: Sequence[str] | None = None,
    choice: RunChoice | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
) -> Report:
    """Measure how far scores move from run to run, and what makes them move.

    Args:
        paths: Files or folders of predictions; every model, dataset and condition in them is measured.
        reference: The dataset whose spread the others' are held against.
        groups: Group columns to take the variance apart by; by default all that the runs have.
        choice: Which runs to take, how to read them, and where the right labels are.
        seed: Of the examples drawn for the map of correlations; by default that of the settings.
        settings: Hold the limits from which the verdict follows.
        quiet: Show no progress.

    Raises:
        InputError: The runs cannot be read, no model has two runs, or the reference or a group column is not there.
    """
    settings = with_seed(settings or Settings(), seed)
    choice = choice or RunChoice()
    steps = Steps(quiet)
    with steps.step("reading the runs"):
        sets = told_apart(list(read_run_sets(paths, choice)))
        texts = {name: read_texts(choice.gold_of(name)) for name in {runs.dataset for runs in sets}}
        _check_spread(sets, paths)
        check_reference(sets, reference)
        sets = [_with_groups(runs, groups, texts[runs.dataset]) for runs in sets]
        _check_groups(sets, groups, texts)
    with steps.step("measuring instability") as progress:
        section, tables = _measure(sets, reference, texts, settings.seed, progress)
    measurable = [
        dataclasses.replace(spread_of(row), name=row["name"]) for row in section["results"] if row["n_runs"] > 1
    ]
    findings = {
        "questions": ["instability"],
        "verdicts": {"instability": judge_instability(measurable, settings.verdicts.instability).to_dict()},
        "inputs": [*map(describe_runs, paths), *({**describe_runs(path), "role": "gold"} for path in _gold(choice))],
        "instability": section,
        "settings": {
            "seed": settings.seed,
            "reference": reference,
            "groups": None if groups is None else list(groups),
            "reading": _reading(choice),
            "verdicts": settings.verdicts.instability.model_dump(mode="json"),
        },
    }
    return Report(document=frame_findings(_title(sets), findings, steps), tables=tables)


def _reading(choice: RunChoice) -> dict[str, Any]:
    """What was said about the runs; of files the names alone, as elsewhere in the report."""
    said = {key: value for key, value in dataclasses.asdict(choice).items() if value}
    if choice.gold:
        said["gold"] = {name or "all": Path(path).name for name, path in choice.gold.items()}
    return said


def _gold(choice: RunChoice) -> list[str]:
    return list(dict.fromkeys(choice.gold.values()))


def _check_spread(sets: Sequence[Runs], paths: Sequence[str | os.PathLike[str]]) -> None:
    if all(runs.n_runs < 2 for runs in sets):
        models = list(dict.fromkeys(runs.model for runs in sets))
        mend = "give the predictions of other seeds of the same model"
        if len(models) > 1:
            mend += ", or take several models as runs of one with --model 'NAME*'"
        what = "one run is there" if len(sets) == 1 else f"there is one run of each of {len(models)} models"
        raise InputError(
            f"{what}, and a spread needs at least two, better ten", file=", ".join(map(str, paths[:3])), mend=mend
        )


def _with_groups(runs: Runs, wanted: Sequence[str] | None, dataset: Dataset | None) -> Runs:
    if wanted is None:
        return runs
    found = {column: group_names(runs, column, dataset) for column in wanted}
    return dataclasses.replace(runs, groups={name: values for name, values in found.items() if values is not None})


def _check_groups(sets: Sequence[Runs], wanted: Sequence[str] | None, texts: Mapping[str, Dataset | None]) -> None:
    for column in wanted or ():
        if not any(column in runs.groups for runs in sets):
            known = list(dict.fromkeys(name for runs in sets for name in known_groups(runs, texts[runs.dataset])))
            there = f"there are {', '.join(known)}" if known else "give the dataset that has it with --gold"
            raise InputError(f"no runs have the group column {column!r}", mend=there)


def _measure(
    sets: Sequence[Runs], reference: str | None, texts: Mapping[str, Dataset | None], seed: int, progress: Progress
) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """The section of the report, and its tables."""
    results: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    measured: list[tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]] = []
    sentences: list[tuple[float, list[str]]] = []
    finals = [runs.final() for runs in sets]
    several = len({runs.model for runs in sets}) > 1
    for done, (runs, final) in enumerate(zip(sets, finals, strict=True)):
        progress(done, len(sets))
        result = {**measure_spread(final), "seeds": [str(seed) for seed in runs.seeds]}
        own = measure_groups(final)
        examples = measure_examples(runs, texts[runs.dataset]) if runs.n_runs > 1 else None
        results.append(result)
        groups += own
        if examples is not None:
            measured.append(examples)
        name = f"{runs.dataset} ({runs.model})" if several else runs.dataset
        said = say(result, own, None if examples is None else examples[0], name)
        sentences.append((result.get("sd") or -math.inf, said))
    sentences.sort(key=lambda item: -item[0])
    names = short_names(sets)
    maps = _maps(sets, results, seed)
    moves = measure_trajectories(sets)
    correlations = measure_correlations(sets)
    deviations = measure_deviations(finals, reference)
    entries = [entry for entry, *_ in measured]
    for row in [*results, *groups, *entries, *moves, *maps, *((deviations or {}).get("rows", []))]:
        row["name"] = names[tuple(row[key] for key in _NAMES)]
    section = {
        "source": "runs",
        "note": None,
        "sentences": [sentence for _, said in sentences for sentence in said],
        "results": results,
        "groups": [{**each, "rows": each["rows"][:MOST_GROUPS], "n_groups": len(each["rows"])} for each in groups],
        "deviations": deviations,
        "trajectories": moves,
        "correlations": correlations,
        "examples": entries,
        "maps": maps,
    }
    tables = {
        "instability": pl.DataFrame(results, infer_schema_length=None),
        "instability_groups": _group_table(groups),
        "normalized_deviations": pl.DataFrame((deviations or {}).get("rows", []), infer_schema_length=None),
        "trajectories": trajectory_table(moves),
        "dataset_correlations": _correlation_table(correlations),
        "examples": pl.concat([table for _, table, _ in measured], how="diagonal_relaxed"),
        "covarying_pairs": pl.concat([pairs for *_, pairs in measured], how="diagonal_relaxed"),
    }
    return section, {name: table for name, table in tables.items() if table.height}


def _maps(sets: Sequence[Runs], results: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Maps of the least stable sets of runs."""
    spread = [result.get("sd") or -math.inf for result in results]
    order = sorted(range(len(sets)), key=lambda i: -spread[i])
    found = (measure_map(sets[i], seed) for i in order[:MOST_MAPS] if sets[i].n_runs > 1)
    return [each for each in found if each is not None]


def _group_table(groups: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    keys = (*_NAMES, "column")
    rows = [{**{key: each[key] for key in keys}, **row} for each in groups for row in each["rows"]]
    return pl.DataFrame(rows, infer_schema_length=None)


def _correlation_table(correlations: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    rows = [
        {
            "model": each["model"], "condition": each["condition"], "over": each["over"],
            "a": each["names"][i], "b": each["names"][j],
            "correlation": each["values"][i][j], "n_runs_used": each["n_runs_used"][i][j],
        }
        for each in correlations for i in range(len(each["names"])) for j in range(i + 1, len(each["names"]))
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _title(sets: Sequence[Runs]) -> str:
    models = list(dict.fromkeys(runs.model for runs in sets))
    datasets = list(dict.fromkeys(runs.dataset for runs in sets))
    of = f" of {len(models)} models" if len(models) > 1 else "" if models == ["model"] else f" of {models[0]}"
    on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    return f"Instability{of} on {on}"
