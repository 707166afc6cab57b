"""Multiple-choice items: what rules, the choices alone, or the question alone give away of the answer.

Rules need no training, so every item of every file counts. The probes see
each choice as a row that is right or wrong, and the choice that they find likeliest is their answer: with question and
passage ("paired") or without ("choices_only"). The question alone ("question_only") can tell nothing but the position
of the answer. Of one file every item is answered by probes of other items, whole clusters of items kept together.
"""

from __future__ import annotations

import itertools
import os
import string
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.clusters import Clusters, cluster_rows
from goldassay.core.doors import option
from goldassay.core.effects import Reading
from goldassay.core.errors import InputError
from goldassay.core.planting import WORDS_FOR_READERS, filling_word, planted_word
from goldassay.core.verdicts import Doubt
from goldassay.data import Dataset, parse_columns
from goldassay.data.frames import table_of
from goldassay.data.hub_names import is_hub_name
from goldassay.data.items import (
    CHOICES,
    PREFERENCE_ROLES,
    PREFERENCES,
    ROLES,
    ChoiceItems,
    Kind,
    find_shape,
    read_choices,
    read_preferences,
)
from goldassay.data.near_copies import join_near_copies
from goldassay.data.reading import name_of, read_table
from goldassay.data.row_values import normalized_texts, value_codes
from goldassay.data.table import Table
from goldassay.leakage.choice_rules import RuleEffect, chance_of, measure_rules
from goldassay.leakage.choice_subjects import rules_by_subject
from goldassay.leakage.preference_rules import measure_preference_rules
from goldassay.models import QuickProbe
from goldassay.models.probe_features import build_features, tokenize_roles
from goldassay.models.quick_probe import OneLabelError
from goldassay.questions.data_notes import unread_notes
from goldassay.questions.example_clusters import AUTO, NONE, named_columns
from goldassay.questions.leakage.calibration import cross_calibrate
from goldassay.questions.leakage.condition_evidence import LONGEST, PAIRED, PROBES, ConditionEvidence, named_path
from goldassay.questions.leakage.pairwise import ask_pairs
from goldassay.questions.leakage.preference_tables import preference_tables
from goldassay.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings
    from goldassay.models.probe_features import ProbeFeatures

CHOICES_ONLY = CHOICES.alone
RULE = "rule: "
N_FOLDS = 5
# Items, or clusters of items, from which on each may be answered by probes of the others.
LEAST_APART = 10
# From this share of the rows on, those that cannot be used leave the rest no sample of the file.
MOST_UNUSED = 0.05
# Names of tables.
RULES, SUBJECTS, PROBLEMS = "choice_rules", "choice_subjects", "choice_problems"
_QUESTION, _CHOICE = "question", "choice"
_COLUMNS_OF = {
    CHOICES.name: "choices=NAME,answer=NAME",
    PREFERENCES.name: "chosen=NAME,rejected=NAME",
}
_ABOUT = {
    CHOICES.name: "The quick probe is a linear model on hashed words and word pairs, trained to tell right choices "
    "from wrong ones; the choice it finds likeliest is its answer",
    PREFERENCES.name: "The quick probe is a linear model on the differences of two responses, in hashed words, word "
    "pairs and what the rules go by; without an offset, so that swapping the responses swaps its answer",
}


@dataclass(frozen=True)
class Posed:
    """The items of a command.

    Attributes:
        train: Those to learn from; None where each item is answered by probes of the others.
        test: Those to measure.
        inputs: What the report says of each file.
    """

    train: ChoiceItems | None
    test: ChoiceItems
    inputs: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class ItemReading:
    """How items are read, as a command was told.

    Attributes:
        columns: Which column plays which role.
        file_format: Of the files, where their content does not say it.
        clusters: Which items count as one: "auto", "none", or columns, separated by commas.
        split_by: Columns that keep labelled rows together where a part is set apart; None where none was named.
        label_names: Labels that may occur; None where none was named.
    """

    columns: str | Mapping[str, str] | None = None
    file_format: str = "auto"
    clusters: str = AUTO
    split_by: str | None = None
    label_names: Sequence[str] | None = None

    def roles(self) -> dict[str, str] | None:
        """The columns by role; None where roles of labelled texts are named, so that no items are meant."""
        named = dict(parse_columns(self.columns) if isinstance(self.columns, str) else self.columns or {})
        if "label" in named and "answer" not in named:
            named["answer"] = named.pop("label")
        return named if named.keys() <= {*ROLES, *PREFERENCE_ROLES, "ignore"} else None

    @property
    def dependent(self) -> tuple[str, ...]:
        """Columns whose equal values make items depend on each other."""
        return () if self.clusters in (AUTO, NONE) else named_columns(self.clusters)

    def check(self, file: str, kind: Kind) -> None:
        """Refuse what labelled texts have and items have not.

        Raises:
            InputError: An option is without effect on items.
        """
        if self.label_names is not None:
            raise InputError(
                f"{option('label_names')}: {kind.items} have no labels", file=file,
                mend=f"leave it out; {option('columns', _COLUMNS_OF[kind.name])} says where the answers stand",
            )  # fmt: skip
        if self.split_by is not None:
            raise InputError(
                f"{option('split_by')}: no part of {kind.items} is set apart", file=file,
                mend=f"leave it out; {option('clusters', 'NAME')} says which are answered by probes of others",
            )  # fmt: skip


def load_items(train: Any, test: Any, reading: ItemReading, *, refused: bool = False) -> Posed | None:
    """Training and evaluation items; None where the data hold no choices.

    Args:
        train: Those to learn from, or all.
        test: Those to measure.
        reading: How they are to be read.
        refused: The data were refused as labelled texts: what cannot be read at all is no items, and that error stands.

    Raises:
        InputError: One holds choices and the other does not, they cannot be used, or an option is not for items.
    """
    try:
        table = read_source(train, "train", reading.file_format)
    except InputError:
        if refused:
            return None
        raise
    source = _items(table, reading)
    if source is None:
        return None
    if test is None:
        return Posed(None, source, (_described("test", source),))
    tried = _items(read_source(test, "test", reading.file_format), reading)
    if tried is None or tried.kind is not source.kind:
        other = "none" if tried is None else tried.kind.items
        raise InputError(
            f"{source.name} holds {source.kind.items}, and this holds {other}", file=named_path(test)[0],
            mend="give two sets of one kind",
        )  # fmt: skip
    return Posed(source, tried, (_described("train", source), _described("test", tried)))


def read_source(data: Any, part: str, file_format: str) -> tuple[Table, str, str]:
    """The columns of a set as they are, its name, and what messages call it."""
    name, place = named_path(data)
    if isinstance(place, Dataset):
        return Table(place.examples, "frame"), name or place.name, place.source
    if not isinstance(place, (str, os.PathLike)):
        return table_of(place), name or part, name or part
    if is_hub_name(os.fspath(place)):
        from goldassay.data.hub import read_hub

        called = os.fspath(place).removeprefix("hf://datasets/")
        return read_hub(os.fspath(place)), name or called, os.fspath(place)
    return read_table(Path(place), file_format), name or name_of(Path(place)), os.fspath(place)


def _items(source: tuple[Table, str, str], reading: ItemReading) -> ChoiceItems | None:
    table, name, place = source
    roles = reading.roles()
    if roles is None:
        return None
    found = read_preferences(table, name, roles=roles, dependent=reading.dependent, source=place)
    if found is not None:
        reading.check(place, found.kind)
        return found
    if roles.keys() - {*ROLES, "ignore"} or find_shape(table.frame, roles) is None:
        return None
    reading.check(place, CHOICES)
    return read_choices(table, name, roles=roles, dependent=reading.dependent, source=place)


def _described(role: str, items: ChoiceItems) -> dict[str, Any]:
    unused = items.problems.filter(~pl.col("used"))
    return {
        "role": role,
        "name": items.name,
        "files": [file.name for file in items.files],
        "sha256": [file.sha256 for file in items.files],
        "n_rows": len(items),
        "n_read": len(items) + unused.height,
        "format": items.kind.name,
        "roles": {},
        "decisions": list(items.decisions),
        "dropped": dict(unused["reason"].value_counts(sort=True).iter_rows()),
    }


def item_clusters(items: ChoiceItems, by: str = AUTO) -> Clusters:
    """Items with the same passage, or without one with the same question, count as one cluster.

    Raises:
        InputError: All items are one cluster by the columns that were named.
    """
    if by == NONE:
        return Clusters(np.arange(len(items)), "Each item counts by itself, as chosen.", ())
    if by != AUTO:
        by_column = {values.name: value_codes(values) for values in items.dependent}
        return cluster_rows(by_column, len(items), chosen=True)
    name = "passage" if (items.passages != "").any() else items.kind.question
    texts = normalized_texts(
        pl.select(pl.when(items.passages != "").then(items.passages).otherwise(items.questions)).to_series()
    )
    distinct = texts.unique(maintain_order=True)
    codes = pl.DataFrame({"text": texts}).join(
        pl.DataFrame({"text": distinct, "code": np.arange(len(distinct))}), on="text", how="left", maintain_order="left"
    )["code"].to_numpy()  # fmt: skip
    joined = join_near_copies(distinct.to_list(), np.bincount(codes))[codes]
    # Nothing that is asked is nothing in common.
    joined = np.where((texts == "").to_numpy(), len(distinct) + np.arange(len(items)), joined)
    return cluster_rows({name: joined}, len(items))


def choice_evidence(posed: Posed, seeds: Sequence[int], settings: Settings, progress: Progress) -> ConditionEvidence:
    """Ask the rules, and the quick probes of question and choices, of the choices, and of the question.

    Raises:
        InputError: The data cannot be learned from.
    """
    test = posed.test
    clusters = item_clusters(test, settings.data.clusters)
    codes = clusters.codes_if_any
    n_apart = len(test) if codes is None else clusters.n_clusters
    if posed.train is None and (n_apart < LEAST_APART or clusters.n_clusters == 1):
        n_apart = min(n_apart, clusters.n_clusters)
        raise InputError(
            f"the {len(test):,} items are of {n_apart} passages or questions: too few for probes to answer one by the "
            "others", file=test.source, mend=f"give {LEAST_APART} or more, or a training file and a test file",
        )  # fmt: skip
    most = int(test.sizes.max() if posed.train is None else max(test.sizes.max(), posed.train.sizes.max()))
    names = tuple(string.ascii_uppercase[:most]) if most <= 26 else tuple(str(at) for at in range(most))
    chance = chance_of(test)
    measure_all = measure_preference_rules if test.kind is PREFERENCES else measure_rules
    rules, picks = measure_all(test, codes, settings.seed)
    logits = read_parts(posed, codes, seeds, most, progress)
    lengths = test.texts.str.len_chars().to_numpy().astype(np.float64)
    gold = test.first_right
    runs = {
        condition: _runs(each, test, gold, names, condition, seeds, "" if posed.train is None else posed.train.name)
        for condition, each in (*logits.items(), (LONGEST, [_by_item(lengths, test, most)]))
    }
    of_rules = tuple(
        Reading(
            test.kind.part, RULE + each.rule, None, correct=each.hits[np.newaxis], chance=chance, applies=each.applies
        )
        for each in picks
        if each.applies.any()
    )

    further = {}
    if test.kind is PREFERENCES:
        hits = {condition: choice_hits(each, test).mean(axis=0) for condition, each in logits.items()}
        further = preference_tables(test, picks, hits, codes)

    def planted(share: float, seed: int) -> list[Reading]:
        """What the probes answer in a copy with words in the right choices and in the questions."""
        copies = [
            None if each is None else planted_items(each, share, seed + at)
            for at, each in enumerate((posed.train, test))
        ]
        assert copies[1] is not None
        parts = (test.kind.alone, test.kind.asked)
        found = read_parts(Posed(copies[0], copies[1], ()), codes, [seed], most, lambda *_: None, parts)
        return [
            Reading(
                condition.removesuffix("_only"), "quick probe", None, correct=choice_hits(each, test), chance=chance
            )
            for condition, each in found.items()
        ]

    return ConditionEvidence(
        name=test.name,
        model="quick_probe",
        source=PROBES,
        label_names=names,
        gold=gold,
        example_ids=_ids(test),
        conditions=runs,
        probabilities={name: _probabilities(each, test, gold) for name, each in logits.items()},
        # Scores of nothing: what the number of choices and the positions of answers tell by themselves.
        null=_probabilities([_masked(np.zeros((len(test), most)), test)], test, gold),
        null_is="shares of positions in the other half of the questions, on which the probes' scores are scaled, too",
        about=_ABOUT[test.kind.name],
        remarks=_remarks(posed),
        inputs=posed.inputs,
        notes=tuple(unread_notes(name for each in (posed.train, test) if each is not None for name in each.unread)),
        clusters_found=clusters,
        chance=chance,
        kind=test.kind,
        rules=of_rules,
        planted=planted,
        tables={
            RULES: _rule_table(rules),
            SUBJECTS: rules_by_subject(test, picks, codes, settings.seed),
            PROBLEMS: test.problems,
            **further,
        },
        doubts=reading_doubts(posed),
    )


def reading_doubts(posed: Posed) -> tuple[Doubt, ...]:
    """Why items cannot be called sound, whatever is measured of them."""
    found = []
    for each in (posed.train, posed.test):
        if each is None:
            continue
        n_rows = len(each) + each.n_unused
        if each.n_unused > MOST_UNUSED * n_rows:
            found.append(
                Doubt(
                    f"{each.n_unused:,} of the {n_rows:,} items of {each.name} cannot be used: the rest may not be "
                    "what they stand for.",
                    "Mend the items in the table of problems.",
                )
            )
        if each.doubtful:
            mend = (
                "Name the preferred response by A and B, or in columns chosen and rejected."
                if each.kind is PREFERENCES
                else f"Give letters or texts as answers: {option('columns', 'answer=NAME')}."
            )
            found.append(Doubt(each.doubtful, mend))
    return tuple(found)


def _rule_table(rules: Sequence[RuleEffect]) -> pl.DataFrame:
    """A row a rule that picks anywhere, the strongest first."""
    schema = {name: {"rule": pl.String, "n_items": pl.Int64}.get(name, pl.Float64) for name in rules[0].to_dict()}
    frame = pl.DataFrame([each.to_dict() for each in rules if each.n_items], schema=schema)
    return frame.sort(pl.col("effect"), descending=True)


def _remarks(posed: Posed) -> tuple[str, ...]:
    """What is not as one would expect of the items."""
    said = []
    for each in (posed.train, posed.test):
        if each is None:
            continue
        counted = each.problems.group_by("reason", "used", maintain_order=True).len()
        for reason, used, n in counted.iter_rows():
            left = "" if used else " is left out" if n == 1 else " are left out"
            said.append(f"{n:,} item{'' if n == 1 else 's'} of {each.name}{left}: {reason}.")
    if posed.train is None:
        said.append(f"Each item is answered by probes of other items, in {N_FOLDS} folds of whole clusters.")
    return tuple(said)


def read_parts(
    posed: Posed,
    codes: NDArray[np.int64] | None,
    seeds: Sequence[int],
    most: int,
    progress: Progress,
    wanted: Sequence[str] | None = None,
) -> dict[str, list[NDArray[np.float64]]]:
    """Scores of the choices of each item by each part of it and seed, (N, most); -inf where there is no choice.

    Args:
        posed: Items to learn from, if there are any apart, and those to read.
        codes: Clusters of the items to read, (N,); kept together where they are read by others of themselves.
        seeds: Of the probes.
        most: The most choices of an item.
        progress: Told after each probe.
        wanted: The parts, all if not given; the question alone is left out where positions mean nothing.
    """
    train, test = posed.train, posed.test
    parts = (test,) if train is None else (train, test)
    groups = np.arange(len(test)) if codes is None else codes
    kind = test.kind
    wanted = (PAIRED, kind.alone, kind.asked) if wanted is None else wanted
    conditions = [each for each in wanted if each != kind.asked or test.ordered]
    total = len(conditions) * len(seeds)
    if kind is PREFERENCES:
        done = itertools.count(1)
        asked = ask_pairs(
            train, test, groups, _folds(groups), seeds, lambda: progress(next(done), total), whole=PAIRED in conditions
        )
        found = {name: [_by_item(scores, test, most) for scores in each] for name, each in asked.items()}
    else:
        found = _ask_choices(posed, groups, seeds, most, conditions, lambda n: progress(n, total))
    if kind.asked in conditions:
        found[kind.asked] = []
        features = build_features(
            tokenize_roles({_QUESTION: pl.concat([_context(each) for each in parts])}), len(parts[0])
        )
        for seed in seeds:
            logits = _read_positions(features, parts[0].first_right, most, seed, None if train else groups)
            rows = logits[-len(test) :].astype(np.float64)
            found[kind.asked].append(_masked(rows, test))
            progress(sum(map(len, found.values())), total)
    return found


def _ask_choices(
    posed: Posed,
    groups: NDArray[np.int64],
    seeds: Sequence[int],
    most: int,
    conditions: Sequence[str],
    told: Callable[[int], None],
) -> dict[str, list[NDArray[np.float64]]]:
    """Scores of the choices of each item by probes that see each choice as a row that is right or wrong."""
    train, test = posed.train, posed.test
    parts = (test,) if train is None else (train, test)
    n_known = len(parts[0].texts)
    found: dict[str, list[NDArray[np.float64]]] = {}
    texts = {_QUESTION: pl.concat([_context(each).gather(each.item_of) for each in parts]),
             _CHOICE: pl.concat([each.texts for each in parts])}  # fmt: skip
    features = build_features(tokenize_roles(texts), n_known)
    right = parts[0].right.astype(np.int64)
    for condition in (each for each in conditions if each != test.kind.asked):
        roles = None if condition == PAIRED else (_CHOICE,)
        for seed in seeds:
            if train is None:
                logits = QuickProbe().cross_fit(
                    features, right, 2, seed, clusters=groups[test.item_of], n_folds=_folds(groups), roles=roles
                ).logits  # fmt: skip
            else:
                fitted = QuickProbe().fit(features, right, 2, seed, roles=roles, clusters=train.item_of)
                logits = fitted.logits(features, np.arange(n_known, len(features.sizes)))
            margin = (logits[:, 1] - logits[:, 0]).astype(np.float64)
            found.setdefault(condition, []).append(_by_item(margin, test, most))
            told(sum(map(len, found.values())))
    return found


def _read_positions(
    features: ProbeFeatures, places: NDArray[np.int64], most: int, seed: int, groups: NDArray[np.int64] | None
) -> NDArray[np.float32]:
    """Scores of each position by the question: of folds of clusters, or of all rows by the first, (rows, most)."""
    try:
        if groups is not None:
            return QuickProbe().cross_fit(features, places, most, seed, clusters=groups, n_folds=_folds(groups)).logits
        return QuickProbe().fit(features, places, most, seed).logits(features, np.arange(len(features.sizes)))
    except OneLabelError:
        # The answers to learn from are all in one position, so that questions cannot tell it.
        return np.zeros((len(features.sizes), most), np.float32)


def _folds(groups: NDArray[np.int64]) -> int:
    return max(2, min(N_FOLDS, np.unique(groups).size))


def _context(items: ChoiceItems) -> pl.Series:
    return items.passages + " " + items.questions


def planted_items(items: ChoiceItems, share: float, seed: int, n_words: int = WORDS_FOR_READERS) -> ChoiceItems:
    """A copy with a word in the right choice and in the question of a share of the items, others in all else.

    Args:
        items: What is copied.
        share: Of the items.
        seed: Of the items that are chosen.
        n_words: How many words take turns.
    """
    rng = np.random.default_rng(seed)
    n, n_planted = len(items), max(1, round(share * len(items)))
    of_item = np.full(n, -1)
    of_item[rng.choice(n, n_planted, replace=False)] = np.arange(n_planted) % n_words
    word = np.where(items.right, of_item[items.item_of], -1)
    texts = [f"{text} {filling_word(at) if number < 0 else planted_word(0, number)}"
             for at, (text, number) in enumerate(zip(items.texts, word.tolist(), strict=True))]  # fmt: skip
    first = items.first_right
    questions = [
        f"{text} {filling_word(at) if number < 0 else planted_word(1 + place, number)}"
        for at, (text, number, place) in enumerate(zip(items.questions, of_item.tolist(), first.tolist(), strict=True))
    ]
    return replace(items, texts=pl.Series("choice", texts), questions=pl.Series("question", questions))


def _by_item(values: NDArray[np.float64], items: ChoiceItems, most: int) -> NDArray[np.float64]:
    """Values of all choices, one after the other, as a row an item; -inf where there is no choice, (N, most)."""
    table = np.full((len(items), most), -np.inf)
    table[items.item_of, items.places] = values
    return table


def _masked(table: NDArray[np.float64], items: ChoiceItems) -> NDArray[np.float64]:
    return np.where(np.arange(table.shape[1]) < items.sizes[:, np.newaxis], table, -np.inf)


def choice_hits(logits: Sequence[NDArray[np.float64]], items: ChoiceItems) -> NDArray[np.float64]:
    """What each run hits, (R, N): of choices that it finds equally likely the share that is right."""
    marks = _by_item(items.right.astype(np.float64), items, logits[0].shape[1]) > 0
    best = [each == each.max(axis=1, keepdims=True) for each in logits]
    return np.stack([(marks & each).sum(axis=1) / each.sum(axis=1) for each in best])


def _runs(
    logits: Sequence[NDArray[np.float64]],
    items: ChoiceItems,
    gold: NDArray[np.int64],
    names: Sequence[str],
    condition: str,
    seeds: Sequence[int],
    train_set: str,
) -> Runs:
    return Runs.from_arrays(
        predictions=np.stack([each.argmax(axis=1) for each in logits]),
        gold=gold,
        scores=choice_hits(logits, items),
        seeds=np.array(list(seeds)[: len(logits)]),
        label_names=names,
        example_ids=_ids(items),
        model="quick_probe",
        dataset=items.name,
        condition=condition,
        split="test",
        train_set=train_set,
    )


def _ids(items: ChoiceItems) -> NDArray[np.str_]:
    """Ids of the items; their rows where ids are missing or repeat."""
    ids = items.ids
    return np.array(
        ids.to_list() if ids.n_unique() == len(ids) and (ids != "").all() else items.rows.astype(str).tolist()
    )


def _probabilities(
    logits: Sequence[NDArray[np.float64]], items: ChoiceItems, gold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The right choice's probability by each run, (R, N): scores scaled on the other half of the items."""
    rows = np.arange(len(items))
    return np.stack([np.exp(cross_calibrate(each, gold)[rows, gold]) for each in logits])
