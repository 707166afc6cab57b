"""Which runs belong together: one model, trained on one set, on its own distribution and on others.

Where another set has coarser labels, the answers on the own set are counted in these labels too: a model that separates
three classes on its own set would otherwise gain what it confuses between the classes that count as one on the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.naming import did_you_mean
from goldassay.data.labels import NON_ENTAILMENT
from goldassay.questions.shift.answers import Answers, answers_of, read_gold_texts, read_scored_answers
from goldassay.questions.shift.measures.set_metrics import Metric, label_constants
from goldassay.questions.shift.result import SetRow
from goldassay.runs.configurations import describe_configurations
from goldassay.runs.labels import canonical
from goldassay.runs.places import describe_numbers
from goldassay.runs.runs import describe_conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.questions.run_choice import RunChoice
    from goldassay.questions.run_sets import RunSet
    from goldassay.runs.run_parts import Collection, Slice

# What the training data are called where they are predicted too, for features of them.
TRAINING = "train"
# What a set may be called that is the model's own distribution by its name.
_OWN = ("id", "in-distribution", "in_distribution")
_ENTAILMENT = "entailment"

ModelKey = tuple[str, str, str]


@dataclass(frozen=True)
class Group:
    """One model's answers.

    Attributes:
        model: What tells it apart.
        model_name: What the runs call it.
        train_set: What it was trained on, or "".
        own: On its own distribution.
        others: On others.
        n_parameters: Its weights, where its runs say it.
        notes: What was done to make them comparable, in sentences.
    """

    model: str
    model_name: str
    train_set: str
    own: Answers
    others: tuple[Answers, ...]
    n_parameters: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundSets:
    """Runs by model and dataset.

    Attributes:
        slices: All that was found and is meant.
        models: {(model, training set, condition): {dataset: its runs}}.
        notes: What was assumed, in sentences.
    """

    slices: list[Slice]
    models: dict[ModelKey, dict[str, Collection]]
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class GapChoice:
    """Which sets are compared, by which metric, and what is said of the models.

    Attributes:
        in_distribution: {training set: its dataset}; "" stands for all that are not named.
        metric: Of the scores; None says it by what is there: a correlation where labels are numbers.
        floor: What a mean of graded scores is without any knowledge; None: nobody declared it.
        sizes: {model: parameters}, for the gap against size, where the runs do not say it or another counts.
        notes: Further sentences on how the runs came about.
        leave_out: Datasets that have no labels of the task.
        untrained: Models that no seed can change.
        n_draws: Of the intervals.
    """

    in_distribution: Mapping[str, str] = field(default_factory=dict)
    metric: Metric | None = None
    floor: float | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    leave_out: Sequence[str] = ()
    untrained: Sequence[str] = ()
    n_draws: int = 1000


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
        lambda key: read_scored_answers(key, found.slices, choice, asked.metric),
        [*asked.leave_out, *unlabelled, *predicted],
    )
    notes = [
        *found.notes,
        *describe_configurations(found.slices),
        *describe_conditions(found.slices),
        *describe_numbers(found.slices),
        *_describe_unlabelled(unlabelled, asked.leave_out),
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


def _training_data(found: FoundSets, asked: Mapping[str, str], leave_out: Sequence[str]) -> list[str]:
    """The training data as training with features calls it, where models of it answered on two other sets or more."""
    holders = [(key, sets) for key, sets in found.models.items() if TRAINING in sets]
    if not holders or TRAINING in (*asked.values(), *leave_out):
        return []
    return [TRAINING] if all(key[1] and len(sets) > 2 for key, sets in holders) else []


def _describe_unlabelled(names: Sequence[str], leave_out: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in leave_out]
    return [f"The runs on {', '.join(unknown)} have no labels to be scored by and were left out."] if unknown else []


def find_sets(slices: list[Slice]) -> FoundSets:
    """Sort the runs that were found by model and dataset.

    Files that name no model are called after themselves; where each such "model" answered on one dataset only, they
    are taken for the answers of one model.
    """
    models = keys_by_model(slices)
    held = [next(iter(sets)) for sets in models.values()]
    alone = len(models) > 1 and all(len(sets) == 1 for sets in models.values())
    if not (alone and max(Counter(held).values()) == 1):
        return FoundSets(slices, models)
    files = {part.file for part in slices}
    if len(files) < len(models) or len({key[1] for key in models} | {key[2] for key in models}) > 2:
        return FoundSets(slices, models)
    names = ", ".join(key[0] for key in models)
    joined = [replace(part, collection=part.collection._replace(model="model")) for part in slices]
    note = f"No model answered on two datasets, so {names} were taken for the answers of one model."
    return FoundSets(joined, keys_by_model(joined), (note,))


def keys_by_model(found: Sequence[Slice]) -> dict[ModelKey, dict[str, Collection]]:
    """{(model, training set, condition): {name of the dataset: its runs}}; a split is named where there are several."""
    keys = list(dict.fromkeys(part.collection for part in sorted(found, key=lambda part: part.collection)))
    splits = Counter((_model_of(key), key.dataset) for key in keys)
    models: dict[ModelKey, dict[str, Collection]] = {}
    for key in keys:
        several = splits[_model_of(key), key.dataset] > 1
        name = f"{key.dataset}/{key.split}" if several and key.split else key.dataset
        models.setdefault(_model_of(key), {})[name] = key
    return models


def size_of(found: FoundSets, key: ModelKey) -> int | None:
    """How many weights a model has, where its runs say it."""
    return next(
        (part.n_parameters for part in found.slices if part.n_parameters and _model_of(part.collection) == key), None
    )


def _model_of(key: Collection) -> ModelKey:
    return key.model, key.train_set, key.condition


def model_names(keys: Sequence[ModelKey]) -> dict[ModelKey, str]:
    """What to call each model: with its training set and condition where there are several of these."""
    trained, shown = {train for _, train, _ in keys}, {condition for *_, condition in keys}
    return {
        key: key[0] + (f"@{key[1]}" if len(trained) > 1 and key[1] else "") + (f", {key[2]}" if len(shown) > 1 else "")
        for key in keys
    }


def find_unlabelled(found: FoundSets, choice: RunChoice) -> list[str]:
    """Datasets whose runs have neither labels nor scores, and no right labels from elsewhere."""
    names = {}
    for sets in found.models.values():
        for name, key in sets.items():
            if name in names or choice.gold_of(key.dataset) is not None:
                continue
            columns = next(part for part in found.slices if part.collection == key).load()
            names[name] = columns.label is None and columns.score is None
    return [name for name, bare in names.items() if bare]


def form_groups(
    found: FoundSets,
    asked: Mapping[str, str],
    read: Callable[[Collection], Answers],
    leave_out: Sequence[str] = (),
) -> list[Group]:
    """Every model that answered on its own set and on another.

    Args:
        found: Runs by model and dataset.
        asked: {training set: its own dataset}; "" stands for all that are not named.
        read: Reads the runs of one model on one dataset.
        leave_out: Datasets to pass over.

    Raises:
        InputError: No model answered on two, or what it answered does not fit together.
    """
    models = {
        key: {name: part for name, part in sets.items() if name not in leave_out} for key, sets in found.models.items()
    }
    several = {key: sets for key, sets in models.items() if len(sets) > 1}
    if not several:
        dropped = [name for name in dict.fromkeys(leave_out) if any(name in sets for sets in found.models.values())]
        if dropped:
            raise InputError(
                f"the runs on {', '.join(dropped)} have no labels to be scored by, and without them no model answered "
                "on two datasets",
                mend=f"give the right labels with {right_labels(f'{dropped[0]}=FILE')}",
            )
        there = "; ".join(f"{key[0]} on {', '.join(sets)}" for key, sets in list(models.items())[:4])
        raise InputError(
            f"no model answered on two datasets, and a shift is from one to another ({there})",
            mend="give the predictions of the same model on both, NAME=PATH",
        )
    answers = {key: {name: read(part) for name, part in sets.items()} for key, sets in several.items()}
    return group_answers(answers, asked, {key: size_of(found, key) for key in several})


def group_answers(
    answers: Mapping[ModelKey, Mapping[str, Answers]],
    asked: Mapping[str, str],
    sizes: Mapping[ModelKey, int | None] = MappingProxyType({}),
) -> list[Group]:
    """One group a model: its own set and others.

    Args:
        answers: {model: {dataset: what it answered}}, two datasets or more of each.
        asked: As for `form_groups`.
        sizes: {model: how many parameters it has}, where that is known.

    Raises:
        InputError: Nothing says which is the own set, or what was answered does not fit together.
    """
    names = model_names(list(answers))
    groups = []
    for key, sets in answers.items():
        own = own_set(key[1], list(sets), asked)
        named = {name: replace(each, model=names[key], dataset=name) for name, each in sets.items()}
        others = tuple(each for name, each in named.items() if name != own)
        groups.append(with_common_seeds(Group(names[key], key[0], key[1], named[own], others, sizes.get(key))))
        _check_kinds(groups[-1])
        _check_different(groups[-1])
    return groups


def own_set(train_set: str, names: Sequence[str], asked: Mapping[str, str]) -> str:
    """Which dataset is a model's own distribution.

    The one that was asked for, for its training set or for all; else one whose name says so ("ID"), or is that of the
    training set or begins with it.

    Args:
        train_set: What the model was trained on.
        names: The datasets that it was tried on.
        asked: {training set: dataset}; "" stands for all that are not named.

    Raises:
        InputError: It is not there, or nothing says which it is.
    """
    wanted = asked.get(train_set, asked.get(""))
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"there are no runs on {wanted!r}, which was to be the model's own distribution",
                mend=did_you_mean(wanted, list(names)),
            )
        return wanted
    named = [name for name in names if name.lower() in _OWN]
    stem = train_set.lower().removesuffix("train").rstrip("/_-. ")
    alike = [name for name in names if stem and name.lower().startswith(stem)]
    for found in (named, [name for name in names if name == train_set], alike):
        if len(found) == 1:
            return found[0]
    raise InputError(
        f"which of {', '.join(map(repr, names))} is of the distribution that the model was trained on is not said",
        mend=f"name it with {option('in-distribution', 'NAME')}",
    )


def with_common_seeds(group: Group) -> Group:
    """The group with the seeds that all its sets have, in one order.

    Raises:
        InputError: They have none in common.
    """
    sets = [group.own, *group.others]
    if all(each.seeds == group.own.seeds for each in sets):
        return group
    if all(len(each.seeds) == 1 for each in sets):
        # A single run a set, called after its file, is taken for the same.
        return replace(group, others=tuple(replace(each, seeds=group.own.seeds) for each in group.others))
    common = [seed for seed in group.own.seeds if all(seed in each.seeds for each in group.others)]
    if not common:
        raise InputError(
            f"the runs of {group.model} on {', '.join(each.dataset for each in sets)} have no seed in common",
            mend="give predictions of the same runs on every set",
        )
    most = max(len(each.seeds) for each in sets)
    note = (
        f"{group.model}: only the {len(common)} of {most} runs that answered on every set are compared, since a gap is "
        "one model's."
    )
    own, *others = (each.of_seeds(common) for each in sets)
    return replace(group, own=own, others=tuple(others), notes=(*group.notes, note))


def _check_kinds(group: Group) -> None:
    strange = [each.dataset for each in group.others if each.regression != group.own.regression]
    if strange:
        raise InputError(
            f"{group.model} has numbers for labels on one of {group.own.dataset} and {strange[0]}, and classes on the "
            "other",
            mend=f"give sets of one task; {option('metric', 'pearson')} takes both for numbers",
        )


def _check_different(group: Group) -> None:
    same = next((each for each in group.others if _are_same(group.own, each)), None)
    if same is not None:
        raise InputError(
            f"what {group.model} answered on {same.dataset} is what it answered on {group.own.dataset}, example by "
            "example",
            file=same.file,
            mend="give the predictions on another dataset",
        )


def _are_same(own: Answers, other: Answers) -> bool:
    """Whether two sets are one: the same ids, labels and answers, where these vary at all."""
    parts = [(own.example_ids, other.example_ids), (own.gold, other.gold)]
    parts += (answers := [(own.predictions, other.predictions), (own.logits, other.logits)])
    varied = any(one is not None and bool((one != one[:, :1]).any()) for one, _ in answers)
    return varied and all(
        one is two or (one is not None and two is not None and np.array_equal(one, two)) for one, two in parts
    )


def counted_alike(groups: Sequence[Group]) -> tuple[list[Group], list[str]]:
    """The groups, those sets apart that tell entailment from the rest only, with the own set counted likewise.

    Returns:
        The groups, and what was done, in sentences.

    Raises:
        InputError: Of the own set there are scores alone, which cannot be counted otherwise.
    """
    kept: list[Group] = []
    notes = []
    for group in groups:
        coarser = [each for each in group.others if _is_coarser(each, group.own)]
        if not coarser:
            kept.append(group)
            continue
        same = tuple(each for each in group.others if each not in coarser)
        if same:
            kept.append(replace(group, others=same))
        own = _in_two_classes(group.own)
        kept.append(replace(group, model=f"{group.model} (entailment or not)", own=own, others=tuple(coarser)))
        names = ", ".join(each.dataset for each in coarser)
        notes.append(
            f"{names} {'has' if len(coarser) == 1 else 'have'} two labels, entailment and non-entailment: for this "
            f"comparison answers of {group.model} are counted in these on {group.own.dataset} as well, all others than "
            "entailment as one."
        )
    return kept, list(dict.fromkeys(notes))


def _is_coarser(other: Answers, own: Answers) -> bool:
    names, own_names = (
        {canonical(name) for name in each.label_names} if each.gold is not None and not each.regression else set()
        for each in (other, own)
    )
    return NON_ENTAILMENT in names and _ENTAILMENT in own_names and NON_ENTAILMENT not in own_names


def _in_two_classes(answers: Answers) -> Answers:
    if answers.predictions is None or answers.gold is None:
        raise InputError(
            f"the runs of {answers.model} on {answers.dataset} have scores alone, which two labels cannot count",
            file=answers.file,
            mend="give their predictions, or leave out the set with two labels",
        )
    rest = np.array([canonical(name) != _ENTAILMENT for name in answers.label_names], dtype=np.int64)
    predictions, gold = rest[answers.predictions], rest[answers.gold]
    return replace(
        answers,
        predictions=predictions,
        gold=gold,
        scores=(predictions == gold).astype(np.float64),
        logits=None,
        label_names=(_ENTAILMENT, NON_ENTAILMENT),
    )


def gather_texts(found: FoundSets, choice: RunChoice, texts: Mapping[str, Dataset] | None) -> dict[str, Dataset]:
    """{dataset: its texts}: those in memory, and those of the files of right labels.

    Raises:
        InputError: Right labels are given for a dataset of which there are no runs.
    """
    names = {name: key.dataset for sets in found.models.values() for name, key in sets.items()}
    unknown = [name for name in choice.gold if name and name not in names.values()]
    if unknown:
        raise InputError(
            f"right labels are given for the dataset {unknown[0]!r}, of which there are no runs",
            mend=f"there are runs on {', '.join(sorted(set(names.values())))}",
        )
    read = read_gold_texts({name: choice.gold_of(dataset) for name, dataset in names.items()})
    return {**read, **{name: (texts or {})[dataset] for name, dataset in names.items() if dataset in (texts or {})}}


def notes_of(groups: Sequence[Group], found: FoundSets) -> list[str]:
    """What was done to make the sets of each model comparable, and which models were left out, in sentences."""
    compared = {(group.model_name, group.train_set) for group in groups}
    datasets = {each.dataset for group in groups for each in (group.own, *group.others)}
    left_out = {key: name for key, name in model_names(list(found.models)).items() if key[:2] not in compared}
    return [note for group in groups for note in group.notes] + [
        f"{name} answered on {', '.join(each for each in found.models[key] if each in datasets) or 'no such set'} "
        "alone and was left out: a shift is from one set to another."
        for key, name in left_out.items()
    ]


def describe_probabilities(groups: Sequence[Group]) -> list[str]:
    """Where probabilities were found, in sentences, one a dataset."""
    models: dict[str, list[str]] = {}
    for group in groups:
        for each in (group.own, *group.others):
            if each.probabilities:
                models.setdefault(each.dataset, []).append(group.model)
    return [
        f"The logits of {', '.join(names)} on {dataset} are probabilities, from 0 to 1 and with a sum of 1: their "
        "logarithms were taken."
        for dataset, names in models.items()
    ]


def describe_sets(groups: Sequence[Group]) -> tuple[SetRow, ...]:
    """What was compared, for the table of what was read."""
    return tuple(
        SetRow(
            model=group.model,
            train_set=group.train_set,
            dataset=each.dataset,
            own=each is group.own,
            n_runs=len(each.seeds),
            seeds=tuple(map(str, each.seeds)),
            n_examples=each.n_examples,
            label_names=tuple(each.label_names),
            regression=each.regression,
        )
        for group in groups
        for each in (group.own, *group.others)
    )


def title_of(what: str, sets: Sequence[SetRow]) -> str:
    """The report's title: what of which models, from where to where."""
    models = list(dict.fromkeys(row.model for row in sets))
    own, others = (list(dict.fromkeys(row.dataset for row in sets if row.own is side)) for side in (True, False))
    of = f" of {len(models)} models" if len(models) > 1 else "" if models == ["model"] else f" of {models[0]}"
    to = others[0] if len(others) == 1 else f"{len(others)} other sets"
    start = own[0] if len(own) == 1 else f"{len(own)} sets"
    return f"{what}{of}: {start} {'to' if what == 'Generalization' else 'against'} {to}"


def frames(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, pl.DataFrame]:
    """The tables that have rows, as frames."""
    return {name: pl.DataFrame(list(rows), infer_schema_length=None) for name, rows in tables.items() if rows}
