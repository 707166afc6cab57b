"""Which cells of a file say what is right of an item, and which hold its texts: what to write there to change them."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.data.fields import name_fields
from goldassay.data.kinds.choice_answers import answer_reader
from goldassay.data.kinds.choice_shapes import find_shape
from goldassay.data.kinds.choices import ChoiceItems, without_letters
from goldassay.data.kinds.kind import PREFERENCES
from goldassay.data.kinds.preference_shapes import find_preferences, mates
from goldassay.data.kinds.preferences import repeats_prompt
from goldassay.data.kinds.sides import side_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goldassay.data.table import Table

# Why an item is relabelled by hand.
NO_COLUMN = "no column says which choice is right"
LISTS = "their answers are lists"
NO_VALUE = "no answer as the file writes them names that choice"
MANY = "they have more than two responses"
SCORES = "scores say which response is preferred"
PEOPLE = "several columns say which response is preferred"
NO_SIDE_VALUE = "no row of the file says that this side is preferred"


def cells_of(items: ChoiceItems, table: Table, roles: Mapping[str, str]) -> ChoiceCells | PreferenceCells:
    """The cells of items that `read_items` read from a table by these roles."""
    return (PreferenceCells if items.kind is PREFERENCES else ChoiceCells)(items, table, roles)


def _put(value: Any, wanted: Mapping[tuple[str, int], str], seen: Counter[str]) -> Any:
    """A cell with other texts for some: (text, which of those with it, from 0) to the new one; `seen` counts them."""
    if isinstance(value, str):
        text = value.strip()
        at, seen[text] = seen[text], seen[text] + 1
        return wanted.get((text, at), value)
    if isinstance(value, dict):
        # A column of objects has the keys of all rows.
        return {key: _put(each, wanted, seen) for key, each in value.items() if each is not None}
    return [_put(each, wanted, seen) for each in value] if isinstance(value, list) else value


class _Cells:
    def __init__(self, items: ChoiceItems, table: Table) -> None:
        at_line = {table.line_of(place): place for place in range(table.frame.height)}
        self.frame = table.frame
        self.places = [at_line[line] for line in items.rows.tolist()]
        """The row of each item in the table."""
        self.labels = [chr(ord("A") + place) for place in items.first_right.tolist()]
        """The letter of the option that is right."""
        self.n_right = items.n_right.tolist()
        self.sizes = items.sizes.tolist()

    def _replaced(
        self, place: int, columns: Iterable[str], shown: Sequence[str], texts: Mapping[int, str]
    ) -> dict[str, Any]:
        """The cells of some columns with new texts of options, by their places among those that are shown."""
        wanted = {(shown[at], shown[:at].count(shown[at])): text for at, text in texts.items()}
        row, seen = self.frame.row(place, named=True), Counter[str]()
        new = {}
        for column in columns:
            cell = parsed = row[column]
            if isinstance(cell, str) and cell.lstrip().startswith(("[", "{")):
                with suppress(ValueError, RecursionError):
                    parsed = json.loads(cell)
            value = _put(parsed, wanted, seen)
            if value != _put(parsed, {}, Counter()):
                new[column] = value if parsed is cell else json.dumps(value, ensure_ascii=False)
        return new

    def _around(self, column: str, place: int, shown: str, text: str) -> str | None:
        """A cell with another text for the one that is shown of it; None where the cell holds more than white space."""
        cell = self.frame[column][place] if self.frame.schema[column] == pl.String else None
        if (cell or "") == shown:
            return text
        if cell is None or cell.strip() != shown:
            return None
        start = cell.index(shown)
        return str(cell[:start] + text + cell[start + len(shown) :])


class ChoiceCells(_Cells):
    """Cells of items with choices."""

    has_letters = True

    def __init__(self, items: ChoiceItems, table: Table, roles: Mapping[str, str]) -> None:
        super().__init__(items, table)
        shape = find_shape(table.frame, {role: name for role, name in roles.items() if role != "ignore"})
        assert shape is not None
        self._shape = shape
        self._answer = shape.answer if items.ordered else None
        self._first = items.first
        questions = [*shape.question] if len(shape.question) == 1 else []
        self._columns = {"question": questions, "passage": [shape.passage] if shape.passage else []}

    @cached_property
    def _read(self) -> Any:
        raw = [self._shape.read(row) for row in self.frame.iter_rows(named=True)]
        texts = [without_letters(each.choices) for each in raw]
        return raw, texts, answer_reader(raw, texts, self._shape, self.frame, self._first)

    @cached_property
    def _written(self) -> dict[str, Counter[Any]]:
        found: dict[str, Counter[Any]] = {}
        values = [] if self._answer is None else self.frame[self._answer].to_list()
        for label, n_right, place in zip(self.labels, self.n_right, self.places, strict=True):
            if values and n_right == 1:
                found.setdefault(label, Counter())[values[place]] += 1
        return found

    def answered(self, at: int, label: str) -> dict[str, Any] | str:
        """What to write where so that a choice is the right one, column to value; or why that is left to people."""
        if self._answer is None:
            return NO_COLUMN
        kind = self.frame.schema[self._answer]
        if kind.is_nested():
            return LISTS
        raw, texts, reader = self._read
        place, target = self.places[at], ord(label) - ord("A")
        # The row's own name of the choice, then what other rows write, then its text.
        known: list[Any] = [raw[place].names[target]] if target < len(raw[place].names) else []
        if kind.is_integer():
            known = [int(name) for name in known if name.isdecimal()]
        elif kind != pl.String:
            known = []
        known += [value for value, _ in self._written.get(label, Counter()).most_common()]
        known += [raw[place].choices[target]] if kind == pl.String else []
        fits = (each for each in known if reader(each, raw[place], texts[place]) == (target,))
        found = next(fits, None)
        return NO_VALUE if found is None else {self._answer: found}

    def rewritten(self, at: int, name: str, shown: str, text: str) -> dict[str, Any] | None:
        """What to write where for a new question or passage; None where the text is no column of its own."""
        place = self.places[at]
        found = {column: self._around(column, place, shown, text) for column in self._columns[name]}
        return None if not found or None in found.values() else found

    def reworded(self, at: int, texts: Mapping[int, str], shown: Sequence[str]) -> dict[str, Any] | None:
        """What to write where for new texts of choices; None where a choice is no text of its own.

        Args:
            at: The item.
            texts: By the places of choices.
            shown: All choices, as pages show them.
        """
        raw, all_shown, reader = self._read
        place = self.places[at]
        if list(all_shown[place]) != list(shown):
            return None
        row = self.frame.row(place, named=True)
        new = self._replaced(place, self._shape.columns, shown, texts)
        read = self._shape.read({**row, **new})
        choices = without_letters(read.choices)
        if choices != tuple(texts.get(i, text).strip() for i, text in enumerate(shown)):
            return None
        if self._answer is None:
            return new if read.answer == raw[place].answer else None
        right = reader(row[self._answer], raw[place], all_shown[place])
        # An answer that is the text of its choice is the new text.
        for answer in (row[self._answer], *(texts[i] for i in texts if right == (i,))):
            if reader(answer, read, choices) == right:
                return {**new, **({self._answer: answer} if answer != row[self._answer] else {})}
        return None


class PreferenceCells(_Cells):
    """Cells of preferences."""

    def __init__(self, items: ChoiceItems, table: Table, roles: Mapping[str, str]) -> None:
        super().__init__(items, table)
        named = {role: name for role, name in roles.items() if role != "ignore"}
        if "answer" in named:
            named.setdefault("winner", named.pop("answer"))
        shape = find_preferences(name_fields(table.frame, named)[0], named)
        assert shape is not None
        self._shape = shape
        self.has_letters = bool(shape.responses)
        """Whether the letters of a file's own order; else they are drawn, and of a pair the other one is meant."""

    def answered(self, at: int, label: str) -> dict[str, Any] | str:
        """As `ChoiceCells.answered`."""
        shape, place = self._shape, self.places[at]
        if self.sizes[at] != 2:
            return MANY
        if shape.chosen is not None and shape.rejected is not None:
            pairs = mates(self.frame, shape.chosen, shape.rejected)
            one, other = ([self.frame[pair[side]][place] for pair in pairs] for side in (0, 1))
            names = [name for pair in pairs for name in pair]
            return dict(zip(names, (value for both in zip(other, one, strict=True) for value in both), strict=True))
        if shape.scores:
            return SCORES
        if len(shape.winners) > 1 or shape.winners[0] not in self.frame.columns:
            return PEOPLE
        (column,) = shape.winners
        values = self.frame[column].to_list()
        side_of, _ = side_reader(
            values, shape.winners, one_means_first=shape.one_means_first, from_zero=shape.from_zero
        )
        target = ord(label) - ord("A")
        found = Counter(value for value in values if side_of(value) == target).most_common(1)
        return {column: found[0][0]} if found else NO_SIDE_VALUE

    def rewritten(self, at: int, name: str, shown: str, text: str) -> dict[str, Any] | None:
        """As `ChoiceCells.rewritten`, of a prompt; None, too, where the responses repeat it."""
        shape, place = self._shape, self.places[at]
        if name != "question" or len(shape.prompt) != 1:
            return None
        responses = shape.responses or tuple(each for each in (shape.chosen, shape.rejected) if each)
        if any(repeats_prompt(self.frame[column][place], shown) for column in responses):
            return None
        found = self._around(shape.prompt[0], place, shown, text)
        return None if found is None else {shape.prompt[0]: found}

    def reworded(self, at: int, texts: Mapping[int, str], shown: Sequence[str]) -> dict[str, Any] | None:
        """As `ChoiceCells.reworded`; None, too, where a response occurs twice, or within a longer text."""
        shape, place = self._shape, self.places[at]
        columns = shape.responses or tuple(each for each in (shape.chosen, shape.rejected) if each)
        cells: Counter[str] = Counter()
        for column in columns:
            _put(self.frame.row(place, named=True)[column], {}, cells)
        if any(cells[shown[i]] != 1 for i in texts):
            return None
        return self._replaced(place, columns, shown, texts)
