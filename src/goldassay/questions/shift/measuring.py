"""Every measure of what a metric loses elsewhere, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option, right_labels
from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.questions.example_clusters import NONE
from goldassay.questions.rows import beside_data
from goldassay.questions.shift.answer_files import answers_of, find_unlabelled, read_answers
from goldassay.questions.shift.assembling import (
    describe_sets,
    disjoint,
    form_groups,
    frames,
    gather_texts,
    group_answers,
    notes_of,
)
from goldassay.questions.shift.coarser import counted_alike
from goldassay.questions.shift.confidence import measure_knowing
from goldassay.questions.shift.finding import find_sets
from goldassay.questions.shift.generalization import find_confident_errors, measure_domains, measure_gaps
from goldassay.questions.shift.groups import TRAINING
from goldassay.questions.shift.known_texts import say_not_looked_up, with_known, without_known
from goldassay.questions.shift.measures.false_alarms import check_draws
from goldassay.questions.shift.measures.set_metrics import METRICS, label_constants
from goldassay.questions.shift.overlaps import say_overlaps, with_near
from goldassay.questions.shift.probabilities import say_probabilities
from goldassay.questions.shift.rows import wrong_rows
from goldassay.questions.shift.sentences import say_domains, say_gaps, say_knowing, say_known, say_unlearned
from goldassay.questions.shift.verdicts import judged_gap
from goldassay.runs.configurations import say_configurations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from goldassay.data import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.questions.run_sets import RunSet
    from goldassay.questions.shift.answers import Answers
    from goldassay.questions.shift.finding import FoundSets, ModelKey
    from goldassay.questions.shift.groups import Group
    from goldassay.questions.shift.options import GapChoice

# Calibration and coverage are measured run by run; these draws fix their bounds to about a tenth of their width.
_KNOWING_DRAWS = 200


@dataclass(frozen=True)
class Read:
    """Models with what they answered on several sets.

    Attributes:
        groups: One a model.
        texts: {dataset: its texts}, where they are at hand.
        notes: What was assumed or left out, in sentences.
    """

    groups: Sequence[Group]
    texts: Mapping[str, Dataset]
    notes: Sequence[str] = ()


def read_models(evidence: Evidence, asked: GapChoice) -> Read:
    """Read the models that answered on two datasets or more, out of runs alone.

    Raises:
        InputError: The runs cannot be read, or no model answered on two datasets.
    """
    choice = evidence.choice
    found = find_sets(evidence.named_runs)
    texts = gather_texts(found, choice, evidence.texts)
    unlabelled = find_unlabelled(found, choice)
    predicted = _training_data(found, asked.in_distribution, asked.leave_out)
    groups = form_groups(
        found,
        asked.in_distribution,
        lambda key: read_answers(key, found.slices, choice, asked.metric),
        [*asked.leave_out, *unlabelled, *predicted],
    )
    notes = [
        *found.notes,
        *say_configurations(found.slices),
        *_say_unlabelled(unlabelled, asked.leave_out),
        *(f"{name} is the training data, and was not taken for another set." for name in predicted),
        *notes_of(groups, found),
    ]
    return Read(groups, texts, notes)


def read_answering(evidence: Evidence) -> Read:
    """The models that answered the evaluation part and a set of another distribution: given runs, else the readers.

    Only models of the whole input are read, since nobody reports the others, and only on all examples of a set: a part
    of these may be chosen.

    Raises:
        InputError: The runs of a set cannot be read, cannot be scored by labels, or have no seed in common with those
            on the evaluation part.
    """
    own, texts = evidence.test.name, evidence.texts
    models: dict[ModelKey, dict[str, RunSet]] = {}
    for name in texts:
        for runs in evidence.answered.sets.get(name, ()):
            if runs.is_comparable:
                models.setdefault(runs.of, {}).setdefault(name, runs)
    judged = {key: sets for key, sets in models.items() if own in sets and len(sets) > 1}
    answers = {
        key: {name: _answers_on(texts[name], runs) for name, runs in sets.items()} for key, sets in judged.items()
    }
    if unanswered := [each.name for each in evidence.unanswered]:
        readers = evidence.readers
        whole = next(iter(readers.conditions.values())).final()
        # Runs of an earlier audit may be among those that were given.
        given = any(key[0] == whole.model for key in answers)
        key = (f"{whole.model} (trained here)" if given else whole.model, whole.train_set, whole.condition)
        answers[key] = {
            own: answers_of(whole),
            **{name: answers_of(readers.elsewhere[name].final()) for name in unanswered},
        }
    left_out = list(dict.fromkeys(key[0] for key in models if key not in judged))
    notes = [f"The runs of {name} answer {own} or another set, not both, and were left out." for name in left_out]
    notes += [
        f"The runs of {runs.model} answer a part of the examples of {name} and were left out."
        for name in texts
        for runs in evidence.answered.sets.get(name, ())
        if not runs.is_complete
    ]
    if unanswered and evidence.answered.sets:
        notes.append(f"No runs answer both {own} and {', '.join(unanswered)}: {whole.model} was trained and asked.")
    return Read(group_answers(answers, {"": own}), texts, [*evidence.remarks, *notes])


def _answers_on(dataset: Dataset, runs: RunSet) -> Answers:
    """What a set of runs answered; where it brings scores alone, the dataset's labels tell what a constant scores."""
    final = runs.load().final()
    if not ((final.scores == 0) | (final.scores == 1)).all():
        raise InputError(
            f"the runs of {runs.model} on {dataset.name} have graded scores, and labels are right or wrong",
            file=runs.file,
            mend=f"give their predictions, or leave out {option('elsewhere')}",
        )
    if final.gold is not None:
        return answers_of(final, runs.file)
    place = {str(each): row for row, each in enumerate(dataset.examples["example_id"].to_list())}
    gold = dataset.labels()[[place[str(each)] for each in final.example_ids.tolist()]]
    return answers_of(final, runs.file, label_constants(gold))


def check_choice(asked: GapChoice) -> None:
    """Refuse what cannot be measured before anything is read.

    Raises:
        InputError: There is no such metric, or too few draws.
    """
    if asked.metric is not None and asked.metric not in METRICS:
        raise InputError(f"there is no metric {asked.metric!r}", mend=f"choose one of {', '.join(METRICS)}")
    check_draws(asked.n_draws)


def measure(
    evidence: Evidence, read_all: Callable[[], Read], asked: GapChoice
) -> tuple[dict[str, Any], dict[str, pl.DataFrame], pl.DataFrame]:
    """The section of the report, its tables, and the examples of other sets that some run gets wrong.

    Args:
        evidence: What the models were trained on, settings and progress.
        read_all: Reads the models.
        asked: What is measured of them.

    Raises:
        InputError: A size is given for a model that is not there, or every text of a set is known.
    """
    steps, seed = evidence.steps, evidence.settings.seed
    with steps.step("reading the runs"):
        read = read_all()
        datasets = read.texts
        _check_known(asked.sizes, read.groups)
        alike, counted = counted_alike(read.groups)
        complete, overlaps = disjoint(alike, datasets)
        groups, known = without_known(complete, datasets, evidence.trained_on)
    with steps.step("measuring gaps") as progress:
        measure_all = partial(
            measure_gaps,
            metric=asked.metric,
            floor=asked.floor,
            texts=datasets,
            clusters=evidence.settings.data.clusters,
            seed=seed,
            n_draws=asked.n_draws,
            progress=progress,
        )
        gaps, caveats = measure_all(groups, sizes=asked.sizes, untrained=asked.untrained)
        affected = [group for group in complete if any(known.get((group.model, each.dataset)) for each in group.others)]
        in_all = measure_all(affected, sizes={})[0] if affected else []
        gaps = with_near(with_known(gaps, in_all, known), overlaps)
        errors = find_confident_errors(groups, datasets)
    with steps.step("measuring confidence") as progress:
        calibration, coverage = measure_knowing(
            groups, seed=seed, n_draws=min(asked.n_draws, _KNOWING_DRAWS), progress=progress
        )
    with steps.step("telling the texts apart") as progress:
        domains, wordless = measure_domains(groups, datasets, seed=seed, progress=progress)
    one_by_one = _say_one_by_one(groups, datasets, evidence.settings.data.clusters)
    section = {
        "kind": "generalization",
        "sentences": [
            *say_unlearned(gaps),
            *say_known(gaps),
            *say_gaps(gaps, judged_gap(gaps, evidence.settings.verdicts.shift)),
            *say_knowing(calibration),
            *say_domains(domains),
        ],
        "notes": [
            *asked.notes,
            *read.notes,
            *counted,
            *say_probabilities(groups),
            *_say_unnamed(groups),
            *caveats,
            *say_overlaps(overlaps),
            *say_not_looked_up(groups, known),
            *wordless,
            *one_by_one,
        ],
        "caveats": one_by_one,
        "generalization": gaps,
        "calibration": calibration,
        "risk_coverage": coverage,
        "confident_errors": errors,
        "domains": domains,
        "overlaps": overlaps,
        "sets": describe_sets(groups),
    }
    tables = {
        "generalization": gaps,
        "calibration": _flat(calibration, "bins"),
        "reliability": _unrolled(calibration, "bins"),
        "risk_coverage": _curves(coverage),
        "confident_errors": errors,
        "domain_words": _unrolled(domains, "words"),
    }
    return section, frames(tables), beside_data(wrong_rows(groups), datasets)


def _training_data(found: FoundSets, asked: Mapping[str, str], leave_out: Sequence[str]) -> list[str]:
    """The training data as training with features calls it, where models of it answered on two other sets or more."""
    holders = [(key, sets) for key, sets in found.models.items() if TRAINING in sets]
    if not holders or TRAINING in (*asked.values(), *leave_out):
        return []
    return [TRAINING] if all(key[1] and len(sets) > 2 for key, sets in holders) else []


def _say_unlabelled(names: Sequence[str], leave_out: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in leave_out]
    return [f"The runs on {', '.join(unknown)} have no labels to be scored by and were left out."] if unknown else []


def _say_unnamed(groups: Sequence[Group]) -> list[str]:
    """That there are logits, but calibration and coverage need to know which class each is of."""
    models = [group.model for group in groups if group.own.unnamed_logits]
    if not models:
        return []
    return [
        f"Whether confidence follows was not measured of {', '.join(models)}: the logits do not say which class each "
        "is of; name the classes in their order with --label-names NAME,NAME,..."
    ]


def _say_one_by_one(groups: Sequence[Group], texts: Mapping[str, Dataset], by: str) -> list[str]:
    """That nobody knows which examples share a text where the texts are not at hand: intervals are then other ones."""
    sets = dict.fromkeys(each.dataset for group in groups for each in (group.own, *group.others))
    names = [name for name in sets if name not in texts]
    if not names or by == NONE:
        return []
    return [
        f"Without the texts of {', '.join(names)} each of the examples counts by itself: where several share a text, "
        f"the intervals are too narrow. Give the texts with {right_labels('NAME=FILE')}."
    ]


def _check_known(sizes: Mapping[str, int], groups: Sequence[Group]) -> None:
    names = [group.model for group in groups]
    for name in sizes:
        if name not in names:
            raise InputError(
                f"a size is given for {name!r}, of which there are no runs", mend=did_you_mean(name, names)
            )


def _flat(rows: Sequence[Mapping[str, Any]], without: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != without} for row in rows]


def _unrolled(rows: Sequence[Mapping[str, Any]], inner: str) -> list[dict[str, Any]]:
    """A row for each of the inner ones, with the keys of the outer."""
    keys = ("model", "in_distribution", "dataset")
    return [{**{key: row[key] for key in keys if key in row}, **each} for row in rows for each in row[inner]]


def _curves(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"model": row["model"], "dataset": row["dataset"], "coverage": share, "risk": risk}
        for row in rows
        for share, risk in zip(row["coverages"].tolist(), row["risks"].tolist(), strict=True)
    ]
