"""The models to compare: which they are, on which datasets, and where each of them is read from."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, place
from goldassay.core.naming import matches
from goldassay.data.source import name_of
from goldassay.questions.run_sets import placed, read_one, read_rivals
from goldassay.runs.adapters import lm_eval
from goldassay.runs.choosing import no_such_model
from goldassay.runs.places import folders_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goldassay.questions.comparison.comparing import ModelComparisons
    from goldassay.questions.evidence import Evidence
    from goldassay.runs.run_parts import Slice
    from goldassay.runs.runs import Runs


@dataclass(frozen=True)
class Sides:
    """The models to compare, all on one dataset.

    Attributes:
        models: Runs of each.
        found: What they were read from.
        names: What to call models of the same name, if anything does.
        of_each: What each model was read from, where each has a path of its own.
    """

    models: Sequence[Runs]
    found: Sequence[Slice] = ()
    names: Sequence[str] | None = None
    of_each: Sequence[Sequence[Slice]] = ()

    @classmethod
    def of(cls, sources: Sequence[_Source], evidence: Evidence, names: Sequence[str] | None) -> Sides:
        """One model of each source."""
        found = [part for source in sources for part in source.found]
        return cls([each.load(evidence) for each in sources], found, names, [each.found for each in sources])


@dataclass(frozen=True)
class Suite:
    """The models to compare on each dataset that all of them answered.

    Attributes:
        sides: Of each dataset.
        notes: What was left out, in sentences.
    """

    sides: Sequence[Sides]
    notes: Sequence[str] = ()


def read_suite(
    evidence: Evidence, models: Sequence[str] = (), named: tuple[str | None, str | None] = (None, None)
) -> Suite:
    """Load the models to compare: those that are named, or one of each path, or all of a single path.

    Args:
        evidence: Where the runs are, and how to read them.
        models: Names of models out of all paths; with * or ?, all that match, as runs of one.
        named: Which model of the first path, and which of the second; of a single path, which two.

    Raises:
        InputError: The runs cannot be read, the models were chosen in two ways, a side is of several models, or no
            dataset was answered by all.
    """
    paths = evidence.run_paths
    if any(named) and (models or len(paths) > 2):
        raise InputError(
            f"{option('model-a')} and {option('model-b')} choose from two {place('runs')}",
            mend=f"give {option('model')} for each of the models",
        )
    folders = folders_of(list(map(str, paths)))
    stems = [folders.get(str(path)) or name_of(Path(path)) for path in paths]
    if models or (len(paths) == 1 and not any(named)):
        with placed(paths):
            return _of_one_pool(evidence, models, stems)
    return _of_one_each(evidence, named, stems)


def _of_one_pool(evidence: Evidence, models: Sequence[str], stems: Sequence[str]) -> Suite:
    """All models of all paths, or those that are named."""
    found, notes = _one_filter_each(evidence.found_runs)
    wanted = models or list(dict.fromkeys(part.collection.model for part in found))
    is_meant = matches if models else str.__eq__
    sides = {name: [part for part in found if is_meant(part.collection.model, name)] for name in wanted}
    for name, own in sides.items():
        if not own:
            raise no_such_model(found, name)
    datasets, left_out = _common(sides)
    made = []
    for dataset in datasets:
        own = [part for part in found if part.collection.dataset == dataset]
        rivals = read_rivals(own, evidence.choice.whole, models)
        made.append(Sides(rivals, own, stems if len(stems) == len(rivals) else None))
    return Suite(made, (*notes, *left_out))


def _of_one_each(evidence: Evidence, named: tuple[str | None, str | None], stems: Sequence[str]) -> Suite:
    """One model of each path, or two of a single one."""
    paths = evidence.run_paths
    places = paths * 2 if len(paths) == 1 else paths
    names = ("model-a", "model-b") if len(places) == 2 else ("model",) * len(places)
    sources: list[_Source] = []
    notes: list[str] = []
    for path, which, model in zip(places, names, (*named, *[None] * (len(places) - 2)), strict=True):
        with _asked_by(str(path), which):
            found, said = _one_filter_each(evidence.runs_at(path, model))
        sources.append(_Source(str(path), which, model, found))
        notes += said
    called = stems if len(stems) == len(sources) else None
    if all(len(source.datasets) == 1 for source in sources):
        # Their files may give one dataset two names.
        return Suite([Sides.of(sources, evidence, called)], tuple(notes))
    datasets, left_out = _common({f"{n}: {each.path}": each.found for n, each in enumerate(sources, 1)})
    made = [Sides.of([source.on(dataset) for source in sources], evidence, called) for dataset in datasets]
    return Suite(made, (*dict.fromkeys(notes), *left_out))


@dataclass(frozen=True)
class _Source:
    """What was found of one side: at a path, by the option that would choose its model."""

    path: str
    which: str
    model: str | None
    found: Sequence[Slice]

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(part.collection.dataset for part in self.found))

    def on(self, dataset: str) -> _Source:
        return replace(self, found=[part for part in self.found if part.collection.dataset == dataset])

    def load(self, evidence: Evidence) -> Runs:
        with _asked_by(self.path, self.which):
            return read_one(self.found, replace(evidence.choice.whole, model=self.model))


@contextmanager
def _asked_by(path: str, which: str) -> Iterator[None]:
    """Name the path and its own option in an error."""
    try:
        yield
    except InputError as error:
        mend = None if error.mend is None else error.mend.replace(option("model"), option(which))
        raise InputError(
            error.problem, file=error.file or str(path), row=error.row, column=error.column, mend=mend
        ) from error


def _common(sides: Mapping[str, Sequence[Slice]]) -> tuple[list[str], list[str]]:
    """The datasets that all sides answered, in the order in which they are found, and what is said of the others."""
    answered = {name: dict.fromkeys(part.collection.dataset for part in found) for name, found in sides.items()}
    every = list(dict.fromkeys(dataset for datasets in answered.values() for dataset in datasets))
    common = [dataset for dataset in every if all(dataset in datasets for datasets in answered.values())]
    if not common:
        shown = "; ".join(f"{name} answered {_some(list(datasets))}" for name, datasets in list(answered.items())[:4])
        raise InputError(
            f"no dataset was answered by all {len(sides)} models: {shown}",
            mend=f"choose models that answered the same with {option('model')}",
        )
    left = [dataset for dataset in every if dataset not in common]
    said = f"Left out, since not all models answered them: {_some(left)}."
    return common, [said] if left else []


def _one_filter_each(found: Sequence[Slice]) -> tuple[list[Slice], list[str]]:
    """Without the further filters of a task of the lm-evaluation-harness, which score the same answers once more."""
    of_file: dict[tuple[str, str], list[str]] = {}
    for part in found:
        dataset = part.collection.dataset
        task, slash, _ = dataset.rpartition("/")
        names = of_file.setdefault((part.file, task), [])
        if slash and part.format == lm_eval.NAME and dataset not in names:
            names.append(dataset)
    # The same one in every file, whatever stands first there.
    taken = {task: names[0] for (_, task), names in reversed(of_file.items()) if len(names) > 1}
    kept, dropped = [], {}
    for part in found:
        dataset = part.collection.dataset
        task = dataset.rpartition("/")[0]
        if part.format == lm_eval.NAME and taken.get(task, dataset) != dataset:
            dropped[dataset] = taken[task]
        else:
            kept.append(part)
    said = [
        f"{name} scores the same answers as {other}, and is left out; choose it with {option('dataset', name)}."
        for name, other in dropped.items()
    ]
    return kept, said


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


# Of all pairs together: each of many pairs has its most telling ones.
MOST_ROWS = 200_000


def differing_rows(compared: ModelComparisons) -> pl.DataFrame:
    """The examples on which two models score differently, of each pair the largest differences first.

    Args:
        compared: Models on the same examples in the same order.

    Returns:
        dataset, example_id, a, b, `mean_a` and `mean_b` (of the scores over runs), `difference` (A - B). Pairs stand in
        the order of the comparison, at most `MOST_ROWS` rows in all.
    """
    models = dict(zip(compared.names, compared.models, strict=True))
    most = max(1, MOST_ROWS // len(compared.pairs))
    return differing_rows_of(models, [(pair.a, pair.b) for pair in compared.pairs], most)


def differing_rows_of(models: Mapping[str, Runs], pairs: Sequence[tuple[str, str]], most: int) -> pl.DataFrame:
    """The same of some pairs among models on one dataset, at most so many rows of each."""
    means = {name: runs.scores.mean(axis=0) for name, runs in models.items()}
    first = next(iter(models.values()))
    ids = pl.Series("example_id", [str(each) for each in first.example_ids.tolist()])
    tables = []
    for a, b in pairs:
        difference = means[a] - means[b]
        order = np.argsort(-np.abs(difference), kind="stable")[:most]
        order = order[difference[order] != 0]
        tables.append(
            pl.DataFrame(
                {
                    "example_id": ids[order],
                    "mean_a": means[a][order],
                    "mean_b": means[b][order],
                    "difference": difference[order],
                }
            ).select(
                pl.lit(first.dataset).alias("dataset"),
                "example_id",
                pl.lit(a).alias("a"),
                pl.lit(b).alias("b"),
                "mean_a",
                "mean_b",
                "difference",
            )
        )
    return pl.concat(tables)
