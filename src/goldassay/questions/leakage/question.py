"""The question of leakage: how much of the label can be read from a part of the input?"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.document import About
from goldassay.core.errors import InputError, option, place
from goldassay.core.progress import Steps
from goldassay.core.sections import Finding, RowToRead
from goldassay.core.settings import Settings, with_data, with_seed
from goldassay.questions.evidence import Evidence
from goldassay.questions.example_clusters import check_cluster_columns
from goldassay.questions.inputs import load_inputs
from goldassay.questions.leakage.choices import choice_evidence
from goldassay.questions.leakage.given import GivenEvidence, from_arrays, from_runs
from goldassay.questions.leakage.item_loading import ItemReading, Posed, load_items
from goldassay.questions.leakage.measuring import measure
from goldassay.questions.leakage.partial_input import GIVEN, PROBES, LeakageChoice, PartialInputRuns, readings_of
from goldassay.questions.leakage.probes import (
    check_conditions,
    measure_split,
    n_trainings,
    probe_evidence,
    with_words,
)
from goldassay.questions.leakage.result import MeasuredLeakage
from goldassay.questions.networks import evidence_directory, files_since, network_conditions, train_evidence
from goldassay.questions.provenance import data_notes, describe_clusters
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import MOST_ROWS, beside_data, examples_read, rows_to_read
from goldassay.readers.conditions import EMPTY, is_part

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.readings import PatternReadings
    from goldassay.report.report import Report
    from goldassay.runs.runs import Runs
    from goldassay.stats.effects import ReaderPredictions

# Columns of the table of examples that every audit has of itself.
_SHARED = ("example_id", "label", "difficulty")
Sources = tuple[Any, Any, "str | Mapping[str, str] | None"]


def study_leakage(
    train: Any = None,
    test: Any = None,
    given: GivenEvidence | None = None,
    *,
    model: str | None = None,
    conditions: Sequence[str] = (),
    seeds: int | None = None,
    choice: LeakageChoice | None = None,
    label_names: Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    clusters: str | None = None,
    split_by: str | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    called: str = "",
    quiet: bool = True,
) -> Report:
    """Measure leakage, as `measure_leakage` does.

    Args:
        train: As for `measure_leakage`.
        test: Likewise.
        given: Predictions made elsewhere, as files; None where models are trained.
        model: The network to train.
        conditions: What to show a model.
        seeds: How many trainings a condition.
        choice: How clusters are made and what is drawn.
        label_names: The labels that may occur, in order, where models are trained.
        out: Where runs are kept.
        columns: Which column plays which role.
        clusters: Which test rows count as one.
        split_by: Columns of which no value may be in both parts of a split.
        seed: Of everything that draws at random.
        settings: Everything else that can be set.
        called: What progress calls the data, where several are measured.
        quiet: Show no progress.

    Raises:
        InputError: As `measure_leakage`.
    """
    settings = with_data(with_seed(settings or Settings(), seed), clusters=clusters, split_by=split_by)
    # Where a network is trained, a part is set apart for it.
    reading = settings.leakage.model_copy(update={"model": model})
    settings = settings.model_copy(update={"leakage": reading})
    choice = choice or LeakageChoice()
    _check(choice, seeds)
    started = time.time()
    asked = settings.leakage.seeds if seeds is None else seeds
    readers = Readers(given, model, tuple(conditions), asked, choice, out, quiet)
    report = _report(readers, (train, test, columns), label_names, settings, Steps(quiet, called))
    return report if out is None else replace(report, runs=files_since(Path(out) / "runs", started))


def _report(
    readers: Readers, sources: Sources, label_names: Sequence[str] | None, settings: Settings, steps: Steps
) -> Report:
    train, test, columns = sources
    choice = readers.choice
    evidence = Evidence(
        train,
        test,
        columns=columns,
        label_names=label_names,
        settings=settings,
        steps=steps,
        make_readers=lambda of: make_readers(of, readers, sources),
    )
    found = evidence.readers
    finding = CHECK.measure(evidence, choice)
    assert finding.verdict is not None
    assert isinstance(finding.result, MeasuredLeakage)
    shown = finding
    if found.test is not None and "examples" in finding.tables:
        examples = finding.tables["examples"]
        of_rows = {each.name: each for each in examples}
        shown = replace(finding, examples=of_rows, first_rows=_first_rows(found.test, examples))
    mined = found.train is not None and found.test is not None
    document = {
        "questions": ["leakage"],
        "dataset": About(
            name=found.name,
            label_names=found.label_names,
            kind=None if found.kind is None else found.kind.name,
            most_choices=None if found.kind is None else len(found.label_names),
            n_train=None if found.train is None else len(found.train),
            n_test=found.gold.size,
            text_columns=() if found.test is None else found.test.text_columns,
            conditions=tuple(found.conditions),
        ),
        "inputs": list(found.inputs) or evidence.inputs,
        "clusters": describe_clusters(found.grouping),
        "data_notes": [
            *data_notes(found.train, found.test, found.grouping, () if found.inputs else evidence.decisions),
            *found.notes,
        ],
        "leakage": finding.result,
        "settings": {
            "seed": settings.seed,
            **({} if found.source == GIVEN else {"seeds": len(finding.result.seeds)}),
            **(_clustering(choice) if finding.result.peco else {}),
            **({"artifacts": settings.artifacts.model_dump(mode="json")} if mined else {}),
            "verdicts": settings.verdicts.leakage.model_dump(mode="json"),
        },
    }
    title = f"Leakage in {found.name}"
    return compose_report(
        frame_findings(title, document, evidence.steps, settings, verdicts={"leakage": finding.verdict}),
        dict(finding.tables),
        findings=[shown],
    )


def _check(choice: LeakageChoice, seeds: int | None) -> None:
    """Refuse before anything is trained what nothing could be measured with afterwards."""
    if seeds is not None:
        check_whole("seeds", seeds, 1)
    if choice.n_clusters is not None:
        check_whole("n_clusters", choice.n_clusters, 1)
    check_whole("n_components", choice.n_components, 0)
    check_whole("n_repetitions", choice.n_repetitions, 1)
    check_whole("n_splits", choice.n_splits, 1)
    if not is_number(choice.threshold) or not 0 <= choice.threshold < math.inf:
        raise InputError(f"threshold is {choice.threshold}", mend="give a number from 0 up")


def _clustering(choice: LeakageChoice) -> dict[str, Any]:
    return {
        "n_clusters": choice.k,
        "components": choice.n_components,
        "repetitions": choice.n_repetitions,
        "threshold": choice.threshold,
    }


class _Leakage:
    question = "leakage"
    title = "Leakage"
    asks = "How much of the label can be read from a part of the input?"
    needs = ()

    def run(self, evidence: Evidence) -> Finding:
        """Judge what readers of a part of the input get right; sentences are not clustered, which takes minutes."""
        choice, order = LeakageChoice(cluster=False, map=False), evidence.train.text_columns
        patterns = [each.readings for each in evidence.patterns.texts if each.readings is not None]
        # As every command has them: what is shown first depends on what was found.
        patterns.sort(key=lambda each: order.index(each.part))
        finding = self.measure(evidence, choice, patterns, _given_readings(evidence))
        tables = dict(finding.tables)
        examples = tables.pop("examples").select(pl.exclude(*_SHARED, *evidence.test.text_columns))
        return replace(
            finding,
            tables=tables,
            examples={each.name: each for each in examples},
            first_rows=_first_rows(evidence.test, examples),
        )

    def measure(
        self,
        evidence: Evidence,
        choice: LeakageChoice,
        patterns: Sequence[PatternReadings] | None = None,
        further: Sequence[ReaderPredictions] = (),
    ) -> Finding:
        """The same to any depth: what `leakage measure` reports, with its table of examples among the tables.

        Args:
            evidence: Its readers are measured.
            choice: How deep.
            patterns: What guessing by pattern names for the test examples, of each text, where it is known already.
            further: What other readers of a part of the input name for them.

        Raises:
            InputError: The evidence cannot be used, or not as deep as that.
        """
        measured = measure(
            evidence.readers,
            choice,
            evidence.settings,
            evidence.steps,
            patterns=patterns,
            further=further,
        )
        return Finding(
            question=self.question,
            verdict=measured.verdict,
            result=measured.result,
            tables=measured.tables,
            rows=_rows(evidence.readers, measured.tables["examples"]) if "examples" in measured.tables else None,
        )


CHECK = _Leakage()


def _rows(readers: PartialInputRuns, examples: pl.DataFrame) -> pl.DataFrame:
    """Test rows of which a part tells the label, with that part and how many bits it tells."""
    ids = examples["example_id"].cast(pl.String).to_list()
    name = readers.name if readers.test is None else readers.test.name
    found = [(name, ids[position], part, bits) for position, bits, part in examples_read(examples)]
    schema = {"dataset": pl.String, "example_id": pl.String, "part": pl.String, "bits": pl.Float64}
    rows = pl.DataFrame(found, schema=schema, orient="row")
    return beside_data(rows, {} if readers.test is None else {readers.test.name: readers.test})


def _first_rows(test: Dataset, examples: pl.DataFrame) -> tuple[RowToRead, ...]:
    """Test rows that every reader of a part gets right, those first of which the part tells the most bits."""
    return rows_to_read(
        test,
        (
            (position, part, f"The label is predictable from the {part} alone (all runs of the reader).")
            for position, _, part in examples_read(examples)[:MOST_ROWS]
        ),
    )


def _given_readings(evidence: Evidence) -> list[ReaderPredictions]:
    """What runs of models of a part of the input name for the test examples, where they answer all of these."""
    readers = evidence.readers
    wanted = readers.example_ids.tolist()
    found: list[ReaderPredictions] = []
    for each in evidence.run_sets:
        if not is_part(each.condition):
            continue
        runs = each.load().final()
        place = {str(example): row for row, example in enumerate(runs.example_ids.tolist())}
        rows = [place[str(example)] for example in wanted if str(example) in place]
        if len(rows) == len(wanted):
            own = _with_labels(runs.take(rows), readers.label_names)
            given = replace(readers, source=GIVEN, conditions={each.condition: own})
            found += readings_of(given, readers.clusters)
    return found


def _with_labels(runs: Runs, label_names: tuple[str, ...]) -> Runs:
    """The runs with the codes of these labels; where they name others, with their scores alone."""
    if set(runs.label_names) != set(label_names) or runs.predictions is None:
        return replace(runs, predictions=None, logits=None)
    order = [runs.label_names.index(name) for name in label_names]
    return replace(
        runs,
        predictions=np.argsort(order)[runs.predictions],
        gold=None if runs.gold is None else np.argsort(order)[runs.gold],
        logits=None if runs.logits is None else runs.logits[..., order],
        label_names=label_names,
    )


@dataclass(frozen=True)
class Readers:
    """Which readers are asked for.

    Attributes:
        given: Where their predictions lie; nothing is trained then.
        model: The network to train; None for the quick probes.
        conditions: What they are shown; none for all.
        n_seeds: Trainings a condition; None for as many as is usual.
        choice: How clusters are made, and how often the data are split anew.
        out: Where runs are kept as they are made.
        quiet: Show no progress of networks.
    """

    given: GivenEvidence | None
    model: str | None
    conditions: tuple[str, ...]
    n_seeds: int | None
    choice: LeakageChoice
    out: str | os.PathLike[str] | None
    quiet: bool


def make_readers(evidence: Evidence, asked: Readers, sources: Sources) -> PartialInputRuns:
    """Read or train what is asked for.

    Args:
        evidence: What the command knows.
        asked: Which readers.
        sources: Training part, test part and columns as they were given: runs made elsewhere need neither part, and
            questions with choices are read as such.

    Raises:
        InputError: The data or the predictions cannot be used.
    """
    train, test, columns = sources
    settings, steps = evidence.settings, evidence.steps
    if asked.given is not None:
        with steps.step("reading the evidence"):
            given = asked.given
            alone = not given.paths and bool(given.embeddings or given.probabilities or given.bits)
            read = from_arrays if alone else from_runs
            found, inputs = read(asked.given, train, test, columns)
        return replace(found, inputs=tuple(inputs))
    if train is None:
        raise InputError(
            "there is neither training data nor evidence", mend=f"give {place('train')}, or {option('runs', 'PATH')}"
        )
    if (posed := _items(evidence, asked, sources)) is not None:
        with steps.step("training quick probes") as progress:
            numbers = range(settings.seed, settings.seed + n_trainings(asked.n_seeds))
            return choice_evidence(posed, numbers, settings, progress)
    text_columns = evidence.train.text_columns
    check_cluster_columns(settings.data.clusters, evidence.test)
    shown = check_conditions(asked.conditions, text_columns)
    left_out: tuple[str, ...] = ()
    if asked.model is None and not asked.conditions:
        shown, left_out = with_words(shown, evidence.train, evidence.test)
    elif asked.model is not None:
        shown = network_conditions(tuple(shown) if asked.conditions else (), text_columns)
    found = _trained(evidence, asked, shown)
    found = replace(found, remarks=(*found.remarks, *left_out))
    if evidence.split.apart is not None:
        found = _with_splits(found, evidence, asked, shown, sources)
    return found


def _items(evidence: Evidence, asked: Readers, sources: Sources) -> Posed | None:
    """Multiple-choice items, if that is what the data are."""
    _, test, columns = sources
    data = evidence.settings.data
    reading = ItemReading(columns, clusters=data.clusters, split_by=data.split_by, label_names=evidence.label_names)
    with evidence.reading_data():
        posed = load_items(evidence.source, test, reading)
        if posed is None:
            evidence.load()
    if posed is not None and (asked.model is not None or asked.conditions):
        raise InputError(
            "questions with choices are measured by quick probes, under all their conditions",
            mend=f"leave out {option('model')} and {option('conditions')}",
        )
    return posed


def _trained(evidence: Evidence, asked: Readers, shown: Sequence[str]) -> PartialInputRuns:
    split, settings = evidence.split, evidence.settings
    numbers = range(settings.seed, settings.seed + n_trainings(asked.n_seeds, split))
    with evidence_directory(asked.out) as directory:
        if asked.model is not None:
            with evidence.steps.step(f"training {asked.model}"):
                return train_evidence(
                    split.train, split.test, shown, asked.model, numbers, directory, settings.training,
                    quiet=asked.quiet,
                )  # fmt: skip
        with evidence.steps.step("training quick probes") as progress:
            return probe_evidence(split, shown, numbers, directory, progress)


def _with_splits(
    found: PartialInputRuns, evidence: Evidence, asked: Readers, shown: Sequence[str], sources: Sources
) -> PartialInputRuns:
    """Split the data anew with other seeds: luck in splitting moves the scores.

    Quick probes measure by how much, also in the place of a network, whose trainings would take as often as long; all
    splits then, so that like is held against like.
    """
    settings, choice = evidence.settings, asked.choice
    # Of an empty input a probe learns nothing.
    names = [name for name in shown if name != EMPTY]
    rows = []
    with evidence.steps.step("splitting anew") as progress:
        for at in range(1 if found.source == PROBES else 0, choice.n_splits):
            moved = settings.model_copy(update={"seed": settings.seed + at})
            parted = load_inputs(
                sources[0],
                None,
                columns=sources[2],
                label_names=evidence.label_names,
                file_format="auto",
                settings=moved,
            )
            seeds = range(settings.seed, settings.seed + 2)
            rows.append(measure_split(parted.train, parted.test, names, seeds, choice.k, moved.seed))
            progress(at, choice.n_splits - 1)
    return replace(found, splits=tuple(rows))
