"""Where predictions of the conditions come from: runs made elsewhere, quick probes, a network, probes of questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option, place
from goldassay.core.errors import InputError
from goldassay.questions.evidence_directory import evidence_directory
from goldassay.questions.example_clusters import check_cluster_columns
from goldassay.questions.inputs import load_inputs
from goldassay.questions.leakage.choices import choice_evidence
from goldassay.questions.leakage.condition_evidence import EMPTY, PROBES
from goldassay.questions.leakage.foreign_evidence import read_evidence
from goldassay.questions.leakage.lone_evidence import read_alone
from goldassay.questions.leakage.network_evidence import network_conditions, train_evidence
from goldassay.questions.leakage.posed_items import ItemReading, load_items
from goldassay.questions.leakage.probes import check_conditions, measure_split, probe_evidence, with_words

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.questions.evidence import Evidence
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence
    from goldassay.questions.leakage.foreign_evidence import GivenEvidence
    from goldassay.questions.leakage.options import LeakageChoice
    from goldassay.questions.leakage.posed_items import Posed

Sources = tuple[Any, Any, "str | Mapping[str, str] | None"]


@dataclass(frozen=True)
class Readers:
    """Which readers are asked for.

    Attributes:
        given: Where their predictions lie; nothing is trained then.
        model: The network to train; None for the quick probes.
        conditions: What they are shown; none for all.
        n_seeds: Trainings a condition.
        choice: How clusters are made, and how often the data are split anew.
        out: Where runs are kept as they are made.
        quiet: Show no progress of networks.
    """

    given: GivenEvidence | None
    model: str | None
    conditions: tuple[str, ...]
    n_seeds: int
    choice: LeakageChoice
    out: str | os.PathLike[str] | None
    quiet: bool


def make_readers(evidence: Evidence, asked: Readers, sources: Sources) -> ConditionEvidence:
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
            read = read_alone if alone else read_evidence
            found, inputs = read(asked.given, train, test, columns)
        return replace(found, inputs=tuple(inputs))
    if train is None:
        raise InputError(
            "there is neither training data nor evidence", mend=f"give {place('train')}, or {option('runs', 'PATH')}"
        )
    if (posed := _items(evidence, asked, sources)) is not None:
        with steps.step("training quick probes") as progress:
            numbers = range(settings.seed, settings.seed + asked.n_seeds)
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
    if test is None and "were set apart" in " ".join(evidence.decisions):
        found = _with_splits(found, evidence, asked, shown, sources)
    return found


def _items(evidence: Evidence, asked: Readers, sources: Sources) -> Posed | None:
    """Multiple-choice items, if that is what the data are."""
    _, test, columns = sources
    data = evidence.settings.data
    reading = ItemReading(columns, clusters=data.clusters, split_by=data.split_by, label_names=evidence.label_names)
    posed = load_items(evidence.source, test, reading)
    if posed is not None and (asked.model is not None or asked.conditions):
        raise InputError(
            "questions with choices are measured by quick probes, under all their conditions",
            mend=f"leave out {option('model')} and {option('conditions')}",
        )
    return posed


def _trained(evidence: Evidence, asked: Readers, shown: Sequence[str]) -> ConditionEvidence:
    train, test, settings = evidence.train, evidence.test, evidence.settings
    numbers = range(settings.seed, settings.seed + asked.n_seeds)
    with evidence_directory(asked.out) as directory:
        if asked.model is not None:
            with evidence.steps.step(f"training {asked.model}"):
                return train_evidence(
                    train, test, shown, asked.model, numbers, directory, settings.training, quiet=asked.quiet
                )
        with evidence.steps.step("training quick probes") as progress:
            return probe_evidence(train, test, shown, numbers, directory, progress)


def _with_splits(
    found: ConditionEvidence, evidence: Evidence, asked: Readers, shown: Sequence[str], sources: Sources
) -> ConditionEvidence:
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
            train, test, _ = load_inputs(
                sources[0],
                None,
                columns=sources[2],
                label_names=evidence.label_names,
                file_format="auto",
                settings=moved,
            )
            assert test is not None
            seeds = range(settings.seed, settings.seed + 2)
            rows.append({"split": settings.seed + at, **measure_split(train, test, names, seeds, choice.k)})
            progress(at, choice.n_splits - 1)
    return replace(found, splits=tuple(rows))
