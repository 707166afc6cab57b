"""The items of a test set as they are sought: parts in reading order, the question, the answer, and what they share."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import Input
from goldassay.core.errors import InputError
from goldassay.data.column_names import ASKED, FREE_ANSWERS, normalized
from goldassay.data.fields import normalized_texts, value_codes, with_keys
from goldassay.data.kinds.choice_shapes import check_apart
from goldassay.data.reading import open_source
from goldassay.data.roles import parse_columns
from goldassay.kernels.words import readings_of, words_of
from goldassay.questions.example_clusters import AUTO, NONE, example_clusters, named_columns
from goldassay.questions.inputs import describe_input
from goldassay.questions.leakage.item_loading import ItemReading, item_clusters, load_items
from goldassay.questions.overlap.search.confirmation import CALCULATIONS
from goldassay.questions.overlap.search.reading import texts_of_column
from goldassay.questions.overlap.search.sought import Answer, SoughtText
from goldassay.runs.kinds.opening import texts_of
from goldassay.stats.clusters import Clusters, cluster_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.data.table import Table

_PASSAGES = ("passage", "context", "paragraph", "article")
# Of an answer that is an object, as SQuAD and TriviaQA publish it.
_TEXTS = ("text", "value", "answer")
_LABELS = frozenset(("label", "gold_label", "goldlabel"))
ROLES = ("question", "answer", "passage")
# So few different answers are classes, and no text that one could find.
_MOST_CLASSES = 20
_SHOWN_COLUMNS = 8
# As WinoGrande, cloze tests and masked language models write it.
_BLANK = re.compile(
    r"(?:\(\d{1,3}\)\s*)?(?:\\?[_\uff3f\ufe4f]){2,}(?:\d{1,3}(?:\\?[_\uff3f])+)?|(?<!\w)_(?!\w)"
    r"|[\[<({]+(?:mask|blank|extra_id_0)[\]>)}]+|@placeholder|\(\s+\)|\.{4,}|\u2026{2,}|-{4,}|\u2014{2,}|\bX{4,}\b",
    re.IGNORECASE,
)
# Between lines, and between sentences; and where a calculator was called.
_PIECES = re.compile(rf"\n+|{CALCULATIONS}|(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
# Answers of like length that are tried as the control of an item.
_MOST_TRIED = 100
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Item:
    """One item.

    Attributes:
        id: Its name.
        parts: (name, text) in reading order: what is asked, without the answer.
        asked: Which part is the question; "" where all parts together are.
        answer: The text of the answer; "" where there is none to look for.
        renderings: Further forms in which the item may be written.
        around: What stands before and behind the blank of a question that the answer fills; () where it has none.
        rivals: The wrong choices.
        places: Where the answer stands among the choices, from 0, and where each rival does; () without an order.
    """

    id: str
    parts: tuple[tuple[str, str], ...]
    asked: str
    answer: str
    renderings: tuple[tuple[tuple[str, str], ...], ...] = ()
    around: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class TestItems:
    """The items of a test set.

    Attributes:
        name: Of the set.
        items: In order.
        clusters: Which belong together.
        described: What the report says of the file.
        files: Where they lie.
        decisions: How they were read, in sentences.
        dataset: The labelled texts that they are; None for items of other kinds.
    """

    __test__ = False

    name: str
    items: tuple[Item, ...]
    clusters: Clusters
    described: Input
    files: tuple[Path, ...]
    decisions: tuple[str, ...]
    dataset: Dataset | None = None

    @property
    def n_bytes(self) -> int:
        """Bytes of the items' texts, answers too."""
        return sum(len(text.encode("utf-8", "replace")) for item in self.items for text in _written(item))

    def sought(self) -> tuple[list[SoughtText], list[tuple[str, ...]]]:
        """What is sought of all items, and the words of their answers."""
        texts: list[SoughtText] = []
        answers = []
        for number, item in enumerate(self.items):
            found, answer = _sought_of(number, item)
            texts += found
            answers.append(answer)
        return texts, answers

    def controls(self) -> list[Answer]:
        """Of each item its answer in pieces, and the wrong choices, or the answer of another item of like length."""
        pieces = [_pieces(item.answer) for item in self.items]
        drawn = _drawn(pieces, self.clusters.codes) if not any(item.rivals for item in self.items) else {}
        found = []
        for number, (item, own) in enumerate(zip(self.items, pieces, strict=True)):
            if not item.rivals:
                found.append(Answer(own, (pieces[drawn[number]],) if number in drawn else ()))
                continue
            named = item.places or (0,) * (len(item.rivals) + 1)
            labels = [(_LETTERS[at % 26], str(at + 1)) if item.places else () for at in named]
            rivals = [(_pieces(text), label) for text, label in zip(item.rivals, labels[1:], strict=True)]
            # One that stands in the answer itself stands wherever that does.
            kept = [each for each in rivals if not _stands_in(each[0], own)]
            found.append(Answer(own, tuple(each for each, _ in kept), (labels[0], *(label for _, label in kept))))
        return found


def _pieces(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of each line and sentence of a text."""
    return tuple(tuple(words) for part in _PIECES.split(text) if (words := words_of(part)))


def _drawn(pieces: Sequence[tuple[tuple[str, ...], ...]], clusters: NDArray[np.int64]) -> dict[int, int]:
    """For each item with an answer another one, of another cluster, whose answer is next in length and is another."""
    sizes = [sum(map(len, each)) for each in pieces]
    order = sorted((size, blake2b(repr(each).encode()).digest(), at)
                   for at, (size, each) in enumerate(zip(sizes, pieces, strict=True)) if size)  # fmt: skip
    numbers = [at for *_, at in order]
    found = {}
    for place, own in enumerate(numbers):
        for step in range(1, min(len(numbers), _MOST_TRIED)):
            # Behind the longest come those before it.
            other = numbers[place + step] if place + step < len(numbers) else numbers[place - step]
            if clusters[other] != clusters[own] and not _stands_in(pieces[other], pieces[own]):
                found[own] = other
                break
    return found


def _stands_in(one: Iterable[Sequence[str]], other: Iterable[Sequence[str]]) -> bool:
    """Whether the words of one text follow each other in another."""
    return f" {' '.join(chain.from_iterable(one))} " in f" {' '.join(chain.from_iterable(other))} "


def _written(item: Item) -> list[str]:
    return [*(text for _, text in item.parts), item.answer]


def _sought_of(number: int, item: Item) -> tuple[list[SoughtText], tuple[str, ...]]:
    known = {text: readings_of(text) for text in {item.answer, *_texts_of(item)}}
    found: list[SoughtText] = []
    # Where some text may be read in two ways, the item is sought in both.
    for reading in range(max(map(len, known.values()))):
        found += _read(number, item, {text: words[min(reading, len(words) - 1)] for text, words in known.items()})
    return found, tuple(known[item.answer][0])


def _texts_of(item: Item) -> list[str]:
    return [*(text for parts in (item.parts, *item.renderings) for _, text in parts), *item.around]


def _read(number: int, item: Item, known: Mapping[str, list[str]]) -> list[SoughtText]:
    """What is sought of an item whose texts have these words."""
    answer = tuple(known[item.answer])
    found = []
    for parts in (item.parts, *item.renderings):
        words: list[str] = []
        asked = (0, 0)
        for name, text in parts:
            own = known[text]
            if name == item.asked:
                asked = (len(words), len(words) + len(own))
            words += own
        if not item.asked:
            asked = (0, len(words))
        span = (0, 0)
        # Choices hold the answer already.
        if answer and not any(name.startswith("choice") for name, _ in parts):
            span = (len(words), len(words) + len(answer))
            words += answer
        has_passage = any(name == "passage" for name, _ in parts)
        found.append(SoughtText(tuple(words), number, asked, span, has_passage=has_passage))
    if item.around:
        before, after = (known[text] for text in item.around)
        words, first = [*before, *answer, *after], len(before)
        filled = (first, first + len(answer))
        found.append(SoughtText(tuple(words), number, (0, len(words)), filled, is_filled=True))
    if len(item.parts) > 1 or answer:
        for name, text in item.parts:
            words = known[text]
            whole = (0, len(words))
            asked = whole if name == item.asked else (0, 0)
            found.append(SoughtText(tuple(words), number, asked, is_whole=False, part=name))
        if answer:
            found.append(SoughtText(answer, number, answer=(0, len(answer)), is_whole=False, part="answer"))
    return found


def read_items(
    test: Any, columns: str | Mapping[str, str] | None = None, file_format: str = "auto", clusters: str = AUTO
) -> TestItems:
    """The items of a test set: with choices, preferences, questions with free answers, or labelled texts.

    Args:
        test: A path, a `Dataset`, or a table in memory.
        columns: Which column plays which role: question, answer, passage; or the roles of the other kinds.
        file_format: The format of the file, where its content does not say it.
        clusters: Which items count as one: "auto", "none", or columns.

    Raises:
        InputError: It cannot be read, or no column holds texts.
    """
    roles = dict(parse_columns(columns) if isinstance(columns, str) else columns or {})
    place = test if isinstance(test, (str, os.PathLike)) else None
    source = open_source(test, "test", file_format, columns=columns)
    if source.dataset is None and not (source.path and source.path.is_dir()):
        posed = load_items(source, None, ItemReading(columns, file_format, clusters, judged=True))
        if posed is not None:
            return items_of_choices(posed.test, posed.inputs[0], clusters, place)
        answered = _of_answers(source.table, source.name, source.place, roles, clusters, place)
        if answered is not None:
            return answered
    return items_of_dataset(texts_of(source, columns), clusters, place)


def items_of_choices(items: ChoiceItems, described: Input, clusters: str, place: Any = None) -> TestItems:
    """Items with choices, or preferences."""
    found = []
    is_preference = items.kind.name == "preference"
    for at in range(len(items)):
        own = slice(*items.offsets[[at, at + 1]].tolist())
        texts, right = items.texts[own].to_list(), items.right[own].tolist()
        passage, question = items.passages[at], items.questions[at]
        before = (*([("passage", passage)] if passage else []), ("question", question))
        answers = [text for text, is_right in zip(texts, right, strict=True) if is_right]
        choices = [(f"choice {number}", text) for number, text in enumerate(texts, start=1)]
        lettered = [
            (name, f"{_LETTERS[number % 26]} {text}") for number, (name, text) in enumerate(choices)
        ]  # fmt: skip
        wrong = [number for number, is_right in enumerate(right) if not is_right]
        item = Item(
            items.ids[at], before, "question", answers[0], (), _around(question), tuple(texts[each] for each in wrong)
        )  # fmt: skip
        if not is_preference:
            places = (right.index(True), *wrong)
            item = replace(item, parts=(*before, *choices), renderings=((*before, *lettered), before), places=places)
        found.append(item)
    return TestItems(
        items.name, tuple(found), item_clusters(items, clusters), described, _files(place), items.decisions
    )


def _around(question: str) -> tuple[str, ...]:
    """What stands before and behind the only blank of a question, where something stands behind it."""
    parts = _BLANK.split(question)
    return tuple(parts) if len(parts) == 2 and re.search(r"\w", parts[1]) else ()


def _of_answers(
    table: Table, name: str, source: str, roles: Mapping[str, str], clusters: str, place: Any
) -> TestItems | None:
    """Questions with free answers; None where the columns are not called so."""
    if roles.keys() - {*ROLES, "id", "ignore"}:
        return None
    frame = _joined(table.frame, roles.values(), source)
    known = {normalized(column): column for column in reversed(frame.columns)}
    question = roles.get("question") or _first(known, ASKED)
    answer = roles.get("answer") or _first(known, (*FREE_ANSWERS, "response"))
    passage = roles.get("passage") or _first(known, _PASSAGES)
    if question is None or answer is None:
        return None
    asked_in = [question] if question in table.frame.columns else question.split("+")
    if "question" not in roles and normalized(question) == "instruction" and "input" in known:
        # What the instruction is about: most of what is asked, or nothing.
        asked_in.append(known["input"])
    if not all(_has_texts(frame, column) for column in asked_in):
        return None
    check_apart({"answer": answer}, roles)
    if not roles and known.keys() & _LABELS:
        # Labelled texts, whose label is what is asked.
        return None
    texts = _as_text(frame[answer])
    if texts is None:
        return None
    questions = _texts(frame, asked_in[-1])
    passages = _texts(frame, passage) if passage else None
    instructions = [_texts(frame, column) for column in asked_in[:-1]]
    ids = frame[roles["id"]].cast(pl.String) if "id" in roles else None
    is_empty = (texts == "").all()
    is_class = is_empty or (texts.n_unique() <= _MOST_CLASSES and len(texts) > _MOST_CLASSES)
    found = []
    all_asked: list[str] = []
    for at, asked in enumerate(questions.to_list()):
        about = passages[at] if passages is not None else ""
        # Copies have them with or without words in between: the last one that says something is the question.
        told = [text for text in (*(column[at] for column in instructions), asked) if text.strip()] or [asked]
        before = [("passage", about)] if about else []
        parts = (*before, *(("instruction", text) for text in told[:-1]), ("question", told[-1]))
        all_asked.append("\n".join(told))
        identity = str(at) if ids is None or ids[at] is None else ids[at]
        answered = "" if is_class else texts[at]
        found.append(Item(identity, parts, "question", answered, around=_around(told[-1]) if answered else ()))
    taken = f"The column {asked_in[0]!r} is taken for the question"
    if len(asked_in) > 1:
        taken = f"The columns {' and '.join(map(repr, asked_in))} are taken for the question"
    decision = f"{taken}, {answer!r} for the answer."
    if is_empty:
        decision = f"{taken}; {answer!r} is empty."
    elif is_class:
        decision = f"{taken}; {answer!r} has {texts.n_unique()} classes."
    shared = passages if passages is not None else pl.Series(all_asked, dtype=pl.String)
    if clusters == NONE:
        joined = Clusters(np.arange(len(found)), "Each item counts by itself, as chosen.", ())
    elif clusters != AUTO:
        names = named_columns(clusters)
        frame = with_keys(frame, names)
        if missing := [each for each in names if each not in frame.columns]:
            raise InputError(f"there is no column {missing[0]!r} to make clusters by", file=source, mend="name another")
        joined = cluster_rows({each: value_codes(frame[each]) for each in names}, len(found), chosen=True)
    else:
        joined = cluster_rows({passage or question: value_codes(normalized_texts(shared))}, len(found))
    described = Input(
        role="test",
        name=name,
        sha256=tuple(file.sha256 for file in table.files),
        files=tuple(file.name for file in table.files),
        n_rows=len(found),
        n_read=frame.height,
        format=table.format,
        roles={"question": "+".join(asked_in), "answer": answer},
        decisions=(decision,),
        dropped={},
    )
    return TestItems(name, tuple(found), joined, described, _files(place), (decision,))


def _joined(frame: pl.DataFrame, names: Iterable[str], source: str) -> pl.DataFrame:
    """With columns named `NAME+NAME`, each of the texts of its columns, line by line.

    Raises:
        InputError: There is no such column.
    """
    for name in names:
        own = [name] if name in frame.columns else name.split("+")
        for column in own:
            if column not in frame.columns:
                shown = ", ".join(map(repr, frame.columns[:_SHOWN_COLUMNS]))
                raise InputError(f"there is no column {column!r}", file=source, mend=f"the columns are {shown}")
        if len(own) > 1:
            texts = [_texts(frame, column) for column in own]
            frame = frame.with_columns(
                pl.Series(name, ["\n".join(filter(None, cells)) for cells in zip(*texts, strict=True)], pl.String)
            )
    return frame


def _has_texts(frame: pl.DataFrame, column: str) -> bool:
    return texts_of_column(pl.col(column), frame.schema[column]) is not None


def _texts(frame: pl.DataFrame, column: str) -> pl.Series:
    """The texts of a column, of lists and objects all below; "" where there are none."""
    texts = texts_of_column(pl.col(column), frame.schema[column])
    if texts is None:
        texts = pl.col(column).cast(pl.String, strict=False)
    return frame.select(texts.fill_null("").alias(column))[column]


def _first(known: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((known[normalized(name)] for name in names if normalized(name) in known), None)


def _as_text(values: pl.Series) -> pl.Series | None:
    """Answers as text: the first of a list that says something, the text of an object; None where it has none."""
    if isinstance(values.dtype, pl.List):
        if values.dtype.inner == pl.String:
            values = values.list.eval(pl.element().filter(pl.element() != ""))
        return _as_text(values.list.first())
    if isinstance(values.dtype, pl.Struct):
        name = next((name for name in _TEXTS if name in values.struct.fields), None)
        return None if name is None else _as_text(values.struct.field(name))
    if values.dtype == pl.Object:
        return None
    found = values.cast(pl.String, strict=False).fill_null("")
    told = found.filter(found != "")
    if len(told) and told.str.contains(r"^\s*[\[{]").all():
        # Lines of JSON keep lists and objects as they are written.
        read = [_in_json(text) for text in found.to_list()]
        if None not in read:
            return pl.Series(values.name, read, pl.String)
    return found


def _in_json(text: str) -> str | None:
    """The text of an answer that is written as JSON; None where it is none, or has no text."""
    try:
        value = json.loads(text) if text else ""
    except (ValueError, RecursionError):
        return None
    while isinstance(value, (list, dict)):
        if isinstance(value, dict):
            value = next((value[name] for name in _TEXTS if name in value), None)
        else:
            value = next((each for each in value if each not in ("", None)), "")
    return value if isinstance(value, str) else None


def items_of_dataset(dataset: Dataset, clusters: str, place: Any = None) -> TestItems:
    """Labelled texts as items: each counts as a whole, and its label is no answer that one could find."""
    columns = [dataset.examples[role].cast(pl.String).fill_null("").to_list() for role in dataset.text_columns]
    ids = dataset.examples["example_id"].cast(pl.String).to_list()
    # A premise may stand in many corpora; what is asked of it is the last text.
    asked = dataset.text_columns[-1] if len(dataset.text_columns) > 1 else ""
    found = tuple(
        Item(identity, tuple(zip(dataset.text_columns, texts, strict=True)), asked, "")
        for identity, *texts in zip(ids, *columns, strict=True)
    )
    if not found:
        raise InputError("there are no rows", file=dataset.source, mend="give a test set with texts")
    joined = example_clusters(dataset, clusters)
    described = describe_input("test", dataset)
    return TestItems(dataset.name, found, joined, described, _files(place), described.decisions or (),
        dataset if dataset.label_names else None,
    )  # fmt: skip


def _files(place: Any) -> tuple[Path, ...]:
    if place is None or not Path(place).exists():
        return ()
    path = Path(place)
    return tuple(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else (path,)
