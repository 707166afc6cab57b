"""Answers to items with choices: written as letters, positions or texts, and scored by the items' own keys."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.document import AnswerFit
from goldassay.data.fields import cell_texts, normalized_texts
from goldassay.runs.kinds.board_tables import ANSWERS, ITEMS, PREDICTIONS, SCORES, SYSTEMS, find_column
from goldassay.runs.kinds.cell_values import as_numbers, is_score
from goldassay.runs.loading import taken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.data.table import Table
    from goldassay.runs.run_parts import Columns, Outputs, Slice

_LETTER, _TEXT = "letters", "texts of the choices"
_POSITIONS = ("positions from 0", "positions from 1")
# "A", "(A)", "A.", "Option A".
_LETTERS = r"^(?:(?i:option|choice|answer)[\s_:.]+)?\(?([A-Za-z])[).:]?$"
# So large a share of answers must be choices of their items; the others may be answers that could not be read.
_NEARLY = 0.9
# Standard errors above chance.
_SURE = 3.0
_SHOWN = 3


@dataclass(frozen=True)
class ItemKeys:
    """N items by which answers are scored.

    Attributes:
        name: Of the dataset.
        ids: (N,), text.
        sizes: Choices of each, (N,).
        right: Whether each choice is right, (N, C); False beyond an item's choices.
        texts: The choices as they are compared: columns row, text, place.
        ordered: Whether letters and positions mean anything.
        form: How answers are written; "" where they are no choices, so that the answers' own scores stay.
    """

    name: str
    ids: pl.Series
    sizes: NDArray[np.int64]
    right: NDArray[np.bool_]
    texts: pl.DataFrame
    ordered: bool
    form: str = ""

    @classmethod
    def of(cls, items: ChoiceItems, ids: pl.Series) -> ItemKeys:
        """The keys of items, which are called by some ids, (N,)."""
        right = np.zeros((len(items), int(items.sizes.max())), np.bool_)
        right[items.item_of, items.places] = items.right
        texts = pl.DataFrame({"row": items.item_of, "text": normalized_texts(items.texts), "place": items.places})
        texts = texts.unique(["row", "text"], keep="first", maintain_order=True)
        return cls(items.name, ids.cast(pl.String), items.sizes, right, texts, items.ordered)

    def hold_table(self, table: Table) -> tuple[Table, AnswerFit]:
        """A board's table with the rows of these items alone and their keys in place of its own, and how it fits."""
        frame = table.frame
        item, system = (
            find_column(frame, {}, role, names, ()) for role, names in (("item", ITEMS), ("system", SYSTEMS))
        )
        if item is None:
            # Nothing says which item a row is.
            return table, self.fit_of(pl.Series([], dtype=pl.String))
        named = cell_texts(frame[item]).str.strip_chars()
        rows = self._rows(named)
        own = find_column(frame, {}, "answer", ANSWERS, ())
        score = find_column(frame, {}, "score", SCORES, ())
        given = find_column(frame, {}, "prediction", PREDICTIONS, ())
        if system is not None and given is None and own is not None and score is None:
            # Beside systems, and without predictions, the answers are theirs.
            frame, given, own = frame.rename({own: "prediction"}), "prediction", None
        others = [name for name in frame.columns if name not in (item, system, own)]
        # Scores without a key may be by any.
        is_whole = given is not None and (score is None or (own is not None and is_score(frame[score])))
        columns = others if system is None else [given] if is_whole and given is not None else []
        fitting = {name: found for name in columns if (found := self._fits(rows, frame[name]))}
        if _are_flags([frame[name] for name in fitting], None if own is None else frame[own]):
            # These are scores.
            fitting = {}
        # Numbers of choices, too, may be positions.
        form = self._best_form(list(fitting.values()))
        fitting = {name: found for name, found in fitting.items() if form in found}
        fit = self._fit(rows, named, [] if own is None else [(rows, frame[own])], form, list(fitting.values()))
        if form:
            held = replace(self, form=form)
            new = {name: held._written(rows, cell_texts(frame[name])) for name in fitting}
            key = held._keys(rows, None if own is None else frame[own])
            if system is not None and score is not None and given is not None and own is not None:
                new[score] = held._rescored(rows, as_numbers(frame[score]), frame[given], frame[own])
            frame = frame.with_columns(**new).with_columns(key.alias(own or "answer"))
        among = rows >= 0
        lines = None if table.lines is None or table.lines.size != among.size else table.lines[among]
        return replace(table, frame=frame.filter(pl.Series(among)), lines=lines), fit

    def hold_runs(self, found: Sequence[Slice]) -> tuple[ItemKeys, AnswerFit]:
        """The keys as `hold` needs them for some runs, and how these fit."""
        known: list[tuple[NDArray[np.int64], pl.Series]] = []
        shares: list[Mapping[str, tuple[float, float]]] = []
        ids = []
        for part in found:
            columns = part.load()
            ids.append(columns.example_ids)
            rows = self._rows(columns.example_ids)
            if columns.label is not None:
                known.append((rows, columns.label))
            if (given := _given_in(columns)) is not None:
                shares.append(self._fits(rows, given))
        form = self._best_form(shares)
        form = form if all(form in each for each in shares) else ""
        named = pl.concat(ids)
        fit = self._fit(self._rows(named), named, known, form, shares)
        return replace(self, form=form), fit

    def fit_of(self, ids: pl.Series) -> AnswerFit:
        """How scores of items fit that are called by some ids."""
        return self._fit(self._rows(ids), ids, [], "", [])

    def hold(self, part: Slice) -> Slice:
        """A run on these items alone, scored by their keys."""
        return replace(
            part,
            load=lambda: self._columns(part.load()),
            outputs=None if part.outputs is None else lambda: self._outputs(part.outputs and part.outputs()),
        )

    def _columns(self, columns: Columns) -> Columns:
        rows = self._rows(columns.example_ids)
        columns, rows = taken(columns, pl.Series(np.flatnonzero(rows >= 0))), rows[rows >= 0]
        given = _given_in(columns)
        if not self.form or given is None or (columns.label is None and columns.score is not None):
            return columns
        key = self._keys(rows, columns.label)
        score, reported = columns.score, columns.reported
        if score is not None and columns.label is not None:
            anew = self._rescored(rows, score, given, columns.label)
            score, reported = anew, reported if anew.equals(score) else None
        held = replace(columns, label=key, score=score, reported=reported)
        if columns.prediction is not None:
            held = replace(held, prediction=self._written(rows, given))
        return taken(held, key.is_not_null().arg_true())

    def _rescored(self, rows: NDArray[np.int64], scores: pl.Series, given: pl.Series, own: pl.Series) -> pl.Series:
        """Scores by other keys than the items' are 1 where an answer is right by these, else 0."""
        stated = self._places(rows, own, self._form_of(rows, own) or self.form)
        chosen = self._places(rows, given, self.form)
        is_right, by_other = (self.right[rows, at] & (at >= 0) for at in (chosen, stated))
        differs = pl.Series(~by_other & (rows >= 0))
        by_key = pl.Series(is_right.astype(np.float64)).cast(scores.dtype)
        return pl.select(pl.when(differs).then(by_key).otherwise(scores).alias(scores.name)).to_series()

    def _outputs(self, outputs: Outputs | None) -> Outputs | None:
        if outputs is None:
            return None
        rows = self._rows(outputs.example_ids)
        targets = outputs.targets
        if self.form and targets is not None and (form := self._form_of(rows, targets)):
            key = replace(self, form=form)._keys(rows, None)
            targets = pl.select(
                pl.when(pl.Series(rows >= 0) & key.is_not_null()).then(key).otherwise(targets)
            ).to_series()
        among = pl.Series(rows >= 0)
        kept = {
            name: values.filter(among)
            for name in ("example_ids", "texts", "prompts", "predictions")
            if (values := getattr(outputs, name)) is not None
        }
        return replace(outputs, **kept, targets=None if targets is None else targets.filter(among))

    def _rows(self, ids: pl.Series) -> NDArray[np.int64]:
        """The item that each id names, -1 for none."""
        known = pl.DataFrame({"id": self.ids}).with_row_index("row").unique("id", keep="first")
        asked = pl.DataFrame({"id": ids.cast(pl.String)})
        found = asked.join(known, on="id", how="left", maintain_order="left")["row"].cast(pl.Int64)
        return found.fill_null(-1).to_numpy()

    def _places(self, rows: NDArray[np.int64], answers: pl.Series, form: str) -> NDArray[np.int64]:
        """The choice that each answer names, from 0; -1 where it names none of its item's."""
        texts = cell_texts(answers).str.strip_chars()
        if form == _TEXT:
            asked = pl.DataFrame({"row": rows, "text": normalized_texts(texts.fill_null(""))})
            at = asked.join(self.texts, on=["row", "text"], how="left", maintain_order="left")["place"]
        elif form == _LETTER:
            letters = {letter: at for at, letter in enumerate(string.ascii_uppercase)}
            bare = texts.str.extract(_LETTERS).str.to_uppercase()
            at = bare.replace_strict(letters, default=None, return_dtype=pl.Int64)
        else:
            at = texts.cast(pl.Float64, strict=False)
            at = at.set((at % 1 != 0).fill_null(value=False), None).cast(pl.Int64, strict=False) - _POSITIONS.index(
                form
            )
        places = at.fill_null(-1).to_numpy()
        there = (places >= 0) & (rows >= 0) & (places < self.sizes[rows])
        return np.where(there, places, -1)

    def _fits(self, rows: NDArray[np.int64], answers: pl.Series) -> Mapping[str, tuple[float, float]]:
        """{form: share of the answers that are choices, share that is right} as far as nearly all of them are."""
        if answers.dtype.is_nested() or answers.dtype == pl.Boolean:
            return {}
        texts = cell_texts(answers).str.strip_chars()
        there = ((texts != "").fill_null(value=False).to_numpy()) & (rows >= 0)
        found: dict[str, tuple[float, float]] = {}
        for form in (_LETTER, *_POSITIONS, _TEXT) if self.ordered else (_TEXT,):
            places = self._places(rows, texts, form)[there]
            share = float((places >= 0).mean()) if places.size else 0.0
            if share >= _NEARLY:
                found[form] = share, float((self.right[rows[there], places] & (places >= 0)).mean())
        return found

    def _best_form(self, shares: Sequence[Mapping[str, tuple[float, float]]]) -> str:
        """The form that fits most systems; where several do, that which fits best, and by which most is right."""
        of = {form: [each[form] for each in shares if form in each] for form in (_LETTER, *_POSITIONS, _TEXT)}
        ranked = {form: (len(own), *np.mean(own, axis=0).tolist()) for form, own in of.items() if own}
        return max(ranked, key=lambda form: ranked[form], default="")

    def _form_of(self, rows: NDArray[np.int64], answers: pl.Series) -> str:
        return self._best_form([found] if (found := self._fits(rows, answers)) else [])

    def _written(self, rows: NDArray[np.int64], answers: pl.Series, form: str | None = None) -> pl.Series:
        """Answers as keys are written, where they are choices; the others as they are."""
        places = self._places(rows, answers, form or self.form)
        return pl.select(
            pl.when(pl.Series(places >= 0)).then(self._spelled(places)).otherwise(cell_texts(answers))
        ).to_series()

    def _keys(self, rows: NDArray[np.int64], own: pl.Series | None) -> pl.Series:
        """The key of each item, null where it has several: then the answers' own one, if it is one of them."""
        places = np.where(self.right[rows].sum(axis=1) == 1, self.right[rows].argmax(axis=1), -1)
        if own is not None and (places < 0).any():
            stated = self._places(rows, own, self._form_of(rows, own) or self.form)
            places = np.where((places < 0) & (stated >= 0) & self.right[rows, stated], stated, places)
        places = np.where(rows >= 0, places, -1)
        return self._spelled(places).set(pl.Series(places < 0), None)

    def _spelled(self, places: NDArray[np.int64]) -> pl.Series:
        """Choices as letters, or as the positions by which answers name them."""
        first = _POSITIONS.index(self.form) if self.form in _POSITIONS else None
        if first is None and self.right.shape[1] <= len(string.ascii_uppercase):
            return pl.Series(np.array(list(string.ascii_uppercase))[places].tolist(), dtype=pl.String)
        return pl.Series((places + (first or 0)).astype(str).tolist(), dtype=pl.String)

    def _fit(
        self,
        rows: NDArray[np.int64],
        named: pl.Series,
        known: Sequence[tuple[NDArray[np.int64], pl.Series]],
        form: str,
        shares: Sequence[Mapping[str, tuple[float, float]]],
    ) -> AnswerFit:
        other: set[int] = set()
        unread = False
        for of, own in known:
            stated_in = self._form_of(of, own)
            unread = unread or not (stated_in or form)
            if stated_in:
                places = self._places(of, own, stated_in)
                other |= set(of[(places >= 0) & ~self.right[of, places]].tolist())
        unknown = named.filter(pl.Series(rows < 0)).drop_nulls().unique(maintain_order=True)
        n_answered = np.unique(rows[rows >= 0]).size
        return AnswerFit(
            len(self.ids), n_answered, unknown.len(), len(other), is_rescored=bool(form), has_unread_keys=unread,
            is_chance=self._is_chance(rows, [each[form][1] for each in shares if form in each]),
            unknown=tuple(unknown.head(_SHOWN).to_list()),
        )  # fmt: skip

    def _is_chance(self, rows: NDArray[np.int64], right: Sequence[float]) -> bool:
        """Whether no system is right more often than by guessing, as where ids are those of other items."""
        own = np.unique(rows[rows >= 0])
        if not right or not own.size:
            return False
        chance = (self.right.sum(axis=1) / self.sizes)[own]
        return max(right) <= chance.mean() + _SURE * float(np.sqrt((chance * (1 - chance)).sum())) / own.size


def _given_in(columns: Columns) -> pl.Series | None:
    """The answers of a run; of scores of all choices the one with the highest."""
    if columns.prediction is not None or columns.logits is None or columns.label_names is None:
        return columns.prediction
    return pl.Series(columns.label_names, dtype=pl.String).gather(columns.logits.argmax(axis=-1))


def _are_flags(columns: Sequence[pl.Series], key: pl.Series | None) -> bool:
    """Whether columns hold 0 and 1 alone, which are positions only beside a key of such."""
    flags = {"0", "1", "0.0", "1.0"}
    held = [set(cell_texts(each).drop_nulls().unique()) <= flags for each in columns]
    return all(held) and (key is None or not set(cell_texts(key).drop_nulls().unique()) <= flags)
