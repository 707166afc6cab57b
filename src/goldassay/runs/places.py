"""What the places of files tell of runs that do not name their model: gpt/mmlu.jsonl, bert/seed_1.csv, esim.csv.

Names that differ between files are layers: folders, and the files' own names. A layer of running numbers is that of
seeds. Of two others one is of models and one of datasets, which the examples tell: files of one dataset have the same.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.data.source import name_of
from goldassay.runs.key_columns import as_number
from goldassay.runs.run_parts import UNNAMED, UNNAMED_MODEL, Collection, Slice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# A file or folder of this name may be a run of something: seed_3, run3, preds-12, 7; v0.1 and gpt-4 are versions.
_RUN = re.compile(r"(?:(seed|run|rep|trial|fold)[_\- ]?|^|[_\- ]|(?<![0-9])\.)([0-9]+)$", re.IGNORECASE)
# What files are called that hold answers of whatever model.
_PLAIN = re.compile(
    r"(?:pred|predictions?|preds|results?|outputs?|out|answers?|responses?|samples?|scores?|eval|test|dev|model)$",
    re.IGNORECASE,
)


def named_by_places(found: Iterable[Slice], readable: Callable[[Slice], Slice]) -> list[Slice]:
    """Runs that name no model, named by what their files are called and the folders that these are in.

    bert/preds.csv and esim/preds.csv are two models, and so are bert.csv and esim.csv; a file alone names none.

    Args:
        found: All runs.
        readable: Gives a run its rows, where it was only listed.
    """
    unnamed: dict[Collection, list[Slice]] = {}
    named = []
    for part in found:
        if part.collection.model == UNNAMED_MODEL:
            unnamed.setdefault(part.collection, []).append(part)
        else:
            named.append(part)
    for parts in unnamed.values():
        named += _by_layers(parts, readable) or _by_one_name(parts)
    return named


def describe_numbers(found: Iterable[Slice]) -> list[str]:
    """A sentence for names that differ in a number alone: phi-1 and phi-2 are taken for runs, bert-7 and bert-9 not."""
    runs: dict[Collection, dict[str, None]] = {}
    models: dict[tuple[Collection, str], dict[str, None]] = {}
    for part in found:
        end = _RUN.search(part.seed) if isinstance(part.seed, str) else None
        stem = str(part.seed)[: end.start()].rstrip("_- .") if end and not end[1] else ""
        if not stem or _PLAIN.match(stem):
            continue
        if part.seed == part.collection.model:
            models.setdefault((part.collection._replace(model=""), stem), {})[str(part.seed)] = None
        elif part.collection.model == UNNAMED_MODEL:
            runs.setdefault(part.collection, {})[str(part.seed)] = None
    said = [
        f"{listing([*own], 3)} are taken for runs of one model. Where they are models, name each in a column model."
        for own in runs.values()
        if len(own) > 1
    ]
    return said + [
        f"{listing([*own], 3)} are taken for models. Where they are runs of one, give the runs a column seed, or write "
        f"seed before the number: {stem}_seed1."
        for (_, stem), own in models.items()
        if len(own) > 1
    ]


def folders_of(files: Sequence[str]) -> dict[str, str]:
    """Of files of one name the folders by which alone their places differ, {file: folder}."""
    named: dict[str, dict[str, tuple[str, ...]]] = {}
    for file in files:
        named.setdefault(name_of(Path(file)), {})[file] = Path(file).parent.parts
    found: dict[str, str] = {}
    for places in named.values():
        if len(places) < 2 or len({len(parts) for parts in places.values()}) > 1:
            continue
        differing = [at for at, of_all in enumerate(zip(*places.values(), strict=True)) if len(set(of_all)) > 1]
        if len(differing) == 1 and len({parts[differing[0]] for parts in places.values()}) == len(places):
            found |= {file: parts[differing[0]] for file, parts in places.items()}
    return found


def models_named(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The model that each of some files' names tells, and the seed or ""; nothing where they tell no two models.

    bert and esim are two models; seed_1 and seed_2, preds-7 and preds-9, or bert-1 and bert-2 are two runs of one.
    bert_seed1 and esim_seed1 name both, and so do bert-1, bert-2, esim-1 and esim-2, whose numbers are the same and
    count from 0 or 1. Other numbers, as of gpt-4, phi-3, llama-2, llama-3 and mistral-2407, are part of the name: a
    model taken for a run would make a spread of seeds that nobody drew; a run taken for a model is seen in the list.
    """
    ends = {name: _RUN.search(name) for name in names}
    stems = {name: name[: end.start()].rstrip("_- .") if end else name for name, end in ends.items()}
    numbers: dict[str, list[str]] = {}
    for name, end in ends.items():
        numbers.setdefault(stems[name], []).append(end[2] if end else "")
    first = sorted(next(iter(numbers.values()), []))
    counted = len(first) > 1 and all(sorted(own) == first for own in numbers.values()) and _count_up(first)
    named = {stem for stem in numbers if stem}
    stated = all(end is not None and end[1] for end in ends.values())
    if len(named) < 2 and (counted or stated or "" in numbers or any(map(_PLAIN.match, named)) or len(ends) < 2):
        return {}
    return {
        name: (stems[name], end[2]) if end and (counted or end[1]) else (name, "")
        for name, end in ends.items()
        if stems[name]
    }


def _count_up(numbers: Iterable[str]) -> bool:
    """Whether numbers count one by one from 0 or 1."""
    found = sorted(map(int, filter(None, numbers)))
    return bool(found) and found[0] in (0, 1) and found == list(range(found[0], found[0] + len(found)))


def _by_one_name(parts: list[Slice]) -> list[Slice]:
    """Runs of files that one name tells apart: their own, or that of a folder."""
    in_file = Counter(part.file for part in parts if part.is_trial)
    folders = folders_of([part.file for part in parts])
    parts = [
        replace(part, seed=folders[part.file]) if part.file in folders and _is_named_by_file(part) else part
        for part in parts
    ]
    names = [_name_of_run(part, folders.get(part.file), in_file[part.file]) for part in parts]
    told = models_named({name for name in names if name})
    found = []
    for part, name in zip(parts, names, strict=True):
        model, seed = told.get(name, ("", ""))
        # Trials of one file are told apart by numbers of their own.
        model, seed = (name, "") if model and part.is_trial else (model, seed)
        new = replace(part, collection=part.collection._replace(model=model)) if model else part
        found.append(replace(new, seed=as_number(seed)) if seed else new)
    return found


def _name_of_run(part: Slice, folder: str | None, n_trials: int) -> str:
    """What a file calls its run, or its trials; "" where the run has a name of its own."""
    if part.seed == folder or _is_named_by_file(part):
        return str(part.seed)
    return (folder or name_of(Path(part.file))) if n_trials > 1 else ""


def _is_named_by_file(part: Slice) -> bool:
    return isinstance(part.seed, str) and Path(part.file).name.startswith(part.seed)


def _by_layers(parts: list[Slice], readable: Callable[[Slice], Slice]) -> list[Slice]:
    """Runs of files that only two names or three tell apart, such as gpt/mmlu.jsonl; none where it is not so."""
    files = {part.file: (*Path(part.file).parent.parts, name_of(Path(part.file))) for part in parts}
    places = {file: (*place[:-1], *_halves(place[-1])) for file, place in files.items()}
    if len({*map(len, places.values())}) > 1:
        return []
    names_at = [set(names) for names in zip(*places.values(), strict=True)]
    layers = [at for at, names in enumerate(names_at) if len(names) > 1]
    if any(len(names) == len(places) for names in names_at):
        return []
    numbered = [at for at in layers if all(_run_number(place[at]) is not None for place in places.values())]
    others = [at for at in layers if at not in numbered]
    if len(layers) < 2 or len(numbered) > 1 or not 1 <= len(others) <= 2:
        return []
    model, dataset = _roles(others, {places[part.file]: part for part in parts}, readable)
    found = []
    for part in parts:
        place = places[part.file]
        own = part.collection
        if model:
            own = own._replace(model="/".join(place[at] for at in model))
        if dataset is not None and own.dataset == UNNAMED:
            own = own._replace(dataset=place[dataset])
        seed = part.seed
        if _is_named_by_file(part):
            number = _run_number(place[numbered[0]]) if numbered else None
            seed = as_number(number) if number is not None else own.model
        found.append(replace(part, collection=own, seed=seed))
    return found


def _halves(name: str) -> tuple[str, str]:
    """A name and the run that it states: mnli and seed0 of mnli_seed0."""
    end = _RUN.search(name)
    stem = name[: end.start()].rstrip("_- .") if end and end[1] else ""
    return (stem, name[len(stem) :].lstrip("_- .")) if stem else ("", name)


def _run_number(name: str) -> str | None:
    """The number of a name that is one of a run and nothing else: of seed_3, run3 and 7, not of gpt-4."""
    end = _RUN.search(name)
    return end[2] if end and not name[: end.start()] else None


def _roles(
    layers: list[int], of_place: dict[tuple[str, ...], Slice], readable: Callable[[Slice], Slice]
) -> tuple[tuple[int, ...], int | None]:
    """The layers that name the model, and that of datasets.

    A layer between whose names the examples stay the same is of models, and one where they change of datasets. Of two
    where they always stay, one may be of ways to ask: each pair of names is a model of its own. Where they change with
    both, the outer is of models.
    """
    first = next(iter(of_place))
    same: list[bool | None] = []
    for layer in layers:
        along = (own for own in of_place if [at for at in range(len(own)) if own[at] != first[at]] == [layer])
        other = next(along, None)
        same.append(None if other is None else _same_examples(readable(of_place[first]), readable(of_place[other])))
    if len(layers) == 1:
        return ((), layers[0]) if same[0] is False else ((layers[0],), None)
    outer, inner = layers
    if same == [False, True]:
        return (inner,), outer
    return ((outer, inner), None) if same == [True, True] else ((outer,), inner)


def _same_examples(one: Slice, other: Slice) -> bool | None:
    """Whether two files are of the same examples, by their ids and right answers; None where neither tells.

    Rows without a right answer that are numbered from the first on are those of any dataset.
    """
    try:
        first, second = one.load(), other.load()
    except InputError:
        # Whoever reads the run says what is wrong with its file.
        return None
    if set(first.example_ids) != set(second.example_ids):
        return False
    if first.label is None or second.label is None:
        n = len(first.example_ids)
        numbered = set(first.example_ids) in ({str(i) for i in range(n)}, {str(i + 1) for i in range(n)})
        return None if numbered else True
    return dict(zip(first.example_ids, first.label, strict=True)) == dict(
        zip(second.example_ids, second.label, strict=True)
    )
