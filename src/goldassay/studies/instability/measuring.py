"""Every measure of the study, set of runs by set of runs, and what was finished when it was stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.studies.audit.instability import MOST_GROUPS, caveats_of, measure_groups, measure_spread
from goldassay.studies.instability.deviations import measure_deviations
from goldassay.studies.instability.examples import measure_examples
from goldassay.studies.instability.inputs import describe_reading
from goldassay.studies.instability.intervals import add_group_bounds, measure_intervals
from goldassay.studies.instability.maps import measure_map
from goldassay.studies.instability.planning import plan_runs
from goldassay.studies.instability.selection import measure_selection
from goldassay.studies.instability.sentences import say, say_selection
from goldassay.studies.instability.training import measure_correlations, measure_trajectories, trajectory_table
from goldassay.studies.run_sets import short_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.progress import Progress
    from goldassay.runs import Runs
    from goldassay.runs.slices import Slice

# A map takes a screen of the page.
MOST_MAPS = 2

_NAMES = ("model", "dataset", "condition")


@dataclass(frozen=True)
class Study:
    """What is measured, and how.

    Attributes:
        sets: Runs (R, [T,] N), one entry a model, dataset and condition, told apart by their names.
        reference: The dataset whose spread the others' are held against, or None.
        texts: {dataset: what was predicted}, where it is at hand.
        found: What was found at the paths, for the table of what was read.
        seed: Of all draws.
        keep_finished: Stop at an interruption with what is finished, instead of losing it.
    """

    sets: Sequence[Runs]
    reference: str | None
    texts: Mapping[str, Dataset | None]
    found: Sequence[Slice]
    seed: int
    keep_finished: bool


@dataclass
class _Measured:
    """What has been measured so far, an entry a set of runs."""

    results: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    intervals: list[dict[str, Any]] = field(default_factory=list)
    plans: list[dict[str, Any]] = field(default_factory=list)
    examples: list[tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]] = field(default_factory=list)
    sentences: list[tuple[float, list[str]]] = field(default_factory=list)


def measure(study: Study, progress: Progress) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """The section of the report, and its tables.

    Raises:
        KeyboardInterrupt: It was stopped before anything was finished, or nothing is to be kept.
    """
    done = _Measured()
    stopped = False
    try:
        for position, runs in enumerate(study.sets):
            progress(position, len(study.sets))
            _measure_set(done, study, runs)
    except KeyboardInterrupt:
        if not study.keep_finished or not done.results:
            raise
        stopped = True
    sets = study.sets[: len(done.results)]
    across, left_out = _measure_across(study, sets, done.results, stopped)
    names = short_names(sets)
    entries = [entry for entry, *_ in done.examples]
    deviations, selections = across["deviations"], across["selections"] or []
    for row in [
        *done.results, *done.groups, *done.intervals, *done.plans, *entries, *across["trajectories"], *across["maps"],
        *selections, *((deviations or {}).get("rows", [])),
    ]:  # fmt: skip
        row["name"] = names[tuple(row[key] for key in _NAMES)]
    done.sentences.sort(key=lambda item: -item[0])
    chosen = [say_selection(row, str(study.reference), row["name"]) for row in selections]
    interrupted = {"finished": len(sets), "of": len(study.sets), "left_out": left_out} if stopped or left_out else None
    section = {
        "source": "runs",
        "note": None,
        "interrupted": interrupted,
        "sentences": [sentence for _, said in done.sentences for sentence in said],
        "caveats": caveats_of(done.results),
        "results": done.results,
        "intervals": done.intervals,
        "plans": done.plans,
        "groups": [{**each, "rows": each["rows"][:MOST_GROUPS], "n_groups": len(each["rows"])} for each in done.groups],
        "deviations": deviations,
        "trajectories": across["trajectories"],
        "correlations": across["correlations"],
        "reference": study.reference,
        "selections": selections,
        "selection_sentences": [sentence for sentence in chosen if sentence],
        "examples": entries,
        "maps": across["maps"],
    }
    return section, _tables(section, done)


def _measure_set(done: _Measured, study: Study, runs: Runs) -> None:
    """Measure one set of runs; what it adds is added whole."""
    final = runs.final()
    result = {**measure_spread(final), **describe_reading(runs, study.found)}
    keys = {key: result[key] for key in _NAMES}
    own = measure_groups(final)
    examples = None
    intervals: list[dict[str, Any]] = []
    plans: list[dict[str, Any]] = []
    if runs.n_runs > 1:
        add_group_bounds(own, final, study.seed)
        examples = measure_examples(runs, study.texts[runs.dataset])
        intervals = [{**keys, "figures": measure_intervals(final, result, study.seed)}]
        plans = [plan_runs(final, result)]
    several = len({each.model for each in study.sets}) > 1
    name = f"{runs.dataset} ({runs.model})" if several else runs.dataset
    said = say(result, own, None if examples is None else examples[0], name)
    if examples is not None:
        done.examples.append(examples)
    done.groups += own
    done.intervals += intervals
    done.plans += plans
    done.sentences.append((result.get("sd") or -math.inf, said))
    done.results.append(result)


def _measure_across(
    study: Study, sets: Sequence[Runs], results: Sequence[Mapping[str, Any]], stopped: bool
) -> tuple[dict[str, Any], list[str]]:
    """What takes several sets, or is drawn of some: in the order of its weight, and what was left out of it."""
    jobs: dict[str, tuple[Callable[[], Any], Any]] = {
        "deviations": (lambda: measure_deviations([runs.final() for runs in sets], study.reference), None),
        "trajectories": (lambda: measure_trajectories(sets), []),
        "correlations": (lambda: measure_correlations(sets), []),
        "selections": (lambda: measure_selection(sets, study.reference, study.seed), []),
        "maps": (lambda: _maps(sets, results, study.seed), []),
    }
    found = {name: empty for name, (_, empty) in jobs.items()}
    for name, (job, _) in {} if stopped else jobs.items():
        try:
            found[name] = job()
        except KeyboardInterrupt:
            if not study.keep_finished:
                raise
            return found, list(jobs)[list(jobs).index(name) :]
    return found, list(jobs) if stopped else []


def _maps(sets: Sequence[Runs], results: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Maps of the least stable sets of runs."""
    spread = [result.get("sd") or -math.inf for result in results]
    order = sorted(range(len(sets)), key=lambda i: -spread[i])
    found = (measure_map(sets[i], seed) for i in order[:MOST_MAPS] if sets[i].n_runs > 1)
    return [each for each in found if each is not None]


def _tables(section: Mapping[str, Any], done: _Measured) -> dict[str, pl.DataFrame]:
    plans = [
        {key: plan[key] for key in plan if key != "seeds"}
        | {
            f"seeds_for_{1000 * each['difference'] / 10:g}_points{end}": each[f"n{end}"]
            for each in plan["seeds"]
            for end in ("", "_low", "_high")
        }
        for plan in done.plans
    ]
    tables = {
        "instability": _frame(done.results),
        "intervals": _frame(_spread_out(done.intervals, "figures", _NAMES)),
        "seeds_needed": _frame(plans),
        "instability_groups": _frame(_spread_out(done.groups, "rows", (*_NAMES, "column"))),
        "normalized_deviations": _frame((section["deviations"] or {}).get("rows", [])),
        "model_selection": _frame(section["selections"]),
        "trajectories": trajectory_table(section["trajectories"]),
        "dataset_correlations": _frame(_pairs_of_datasets(section["correlations"])),
    }
    if done.examples:
        tables["examples"] = pl.concat([table for _, table, _ in done.examples], how="diagonal_relaxed")
        tables["covarying_pairs"] = pl.concat([pairs for *_, pairs in done.examples], how="diagonal_relaxed")
    return {name: table for name, table in tables.items() if table.height}


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def _spread_out(entries: Sequence[Mapping[str, Any]], inner: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    return [{**{key: each[key] for key in keys}, **row} for each in entries for row in each[inner]]


def _pairs_of_datasets(correlations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "model": each["model"], "condition": each["condition"], "over": each["over"],
            "a": each["names"][i], "b": each["names"][j],
            "correlation": each["values"][i][j], "low": each["low"][i][j], "high": each["high"][i][j],
            "n_runs_used": each["n_runs_used"][i][j],
        }
        for each in correlations for i in range(len(each["names"])) for j in range(i + 1, len(each["names"]))
    ]  # fmt: skip
