"""Readers of one shape of cue in items, and what they find of cues that are planted in copies.

A cue in the choices or responses stands in the right one, and a cue in the question names its place. Two words that
tell only together stand in every choice, and only in the right one do they fit each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.text_form import form_words
from goldassay.questions.detection_limits import ReadText, largest_limits
from goldassay.questions.leakage.item_loading import Posed
from goldassay.questions.leakage.partial_input import READERS
from goldassay.questions.leakage.probes import ask_choices, by_item, choice_hits, context_of, masked, read_positions
from goldassay.questions.leakage.result import OF_PLACES
from goldassay.readers.choice_rules import chance_of
from goldassay.readers.interactions import read_interactions
from goldassay.readers.naive_bayes import planted_evidence_of_folds, word_evidence_of_folds
from goldassay.readers.planting import N_OPTION_GROUPS, option_planting, planted_texts
from goldassay.readers.probe_features import build_features, tokenize_roles
from goldassay.stats.detection import (
    FEW_TOGETHER,
    FIFTY_WORDS,
    FORM,
    MANY_TOGETHER,
    TEN_WORDS,
    KindLimit,
    Planting,
    Shape,
)
from goldassay.stats.effects import Effects, ReaderPredictions
from goldassay.stats.folds import Folds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds.choices import ChoiceItems


@dataclass(frozen=True)
class ItemReaders:
    """Readers of the choices or responses alone, and of the question or prompt alone.

    Words are added up by naive Bayes, forms are read by a quick probe, and interactions by their own reader.

    Attributes:
        posed: Items to learn from, if there are any apart, and N to read.
        groups: Clusters of the items to read, from 0, (N,).
        folds: Of these, where they are read by others of themselves, whole clusters each, (N,).
        seed: Of the readers.
        most: The most choices of an item.
        copies: What was read in copies: two questions plant the same cues, and hold other effects against them.
    """

    posed: Posed
    groups: NDArray[np.int64]
    folds: NDArray[np.int64]
    seed: int
    most: int
    copies: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def read_options(self, shape: Shape) -> ReaderPredictions:
        """What the reader of a shape picks of each item by its choices."""
        posed, test = self.posed, self.posed.test
        if shape == "form":
            parts = [replace(each, texts=form_words(each.texts)) for each in posed.parts]
            formed = Posed(None if posed.train is None else parts[0], parts[-1], ())
            alone = test.kind.alone
            (table,) = ask_choices(formed, self.groups, [self.seed], self.most, [alone], lambda _: None)[alone]
            return self._picked(shape, table)
        if shape == "word":
            return self.by_words(word_evidence_of_folds(*self._options()))
        units = [self.groups[test.item_of]]
        if posed.train is not None:
            units.insert(0, self.groups.size + posed.train.item_of)
        logs = read_interactions(*self._options(), self.seed, np.concatenate(units))
        return self._picked(shape, self._table(logs))

    def read_questions(self, shape: Shape) -> ReaderPredictions:
        """The place of the right choice that the reader of a shape names by each question."""
        posed = self.posed
        if shape == "word":
            return self.named_by_words(word_evidence_of_folds(*self._questions()))
        texts, known = pl.concat([context_of(each) for each in posed.parts]), posed.parts[0].first_right
        features = build_features(tokenize_roles({"question": form_words(texts)}), known.size)
        groups = self.groups if posed.train is None else None
        logs = read_positions(features, known, self.most, self.seed, groups)[-len(posed.test) :]
        return self._named(shape, logs.astype(np.float64))

    def by_words(self, evidence: NDArray[np.float64]) -> ReaderPredictions:
        """What is picked by the evidence of words for wrong and right, (M, 2)."""
        return self._picked("word", self._table(evidence))

    def named_by_words(self, evidence: NDArray[np.float64]) -> ReaderPredictions:
        """What is named by the evidence of words for each place, (N, most)."""
        known = self.posed.parts[0].first_right
        with np.errstate(divide="ignore"):
            shares = np.log(np.bincount(known, minlength=self.most) / known.size)
        return self._named("word", evidence + shares)

    def copy_reader(self, *, of_options: bool) -> Callable[[Planting, Shape, int], ReaderPredictions]:
        """What reads a copy with cues in the choices, or in the questions; see `PlantedRows`."""
        parts = self.posed.parts
        sizes = np.concatenate([each.sizes for each in parts])
        right = np.concatenate([each.right for each in parts])
        item_of = np.repeat(np.arange(sizes.size), sizes)

        def read(planting: Planting, shape: Shape, of_copy: int) -> ReaderPredictions:
            key = (of_options, shape, of_copy, *(each.tobytes() for each in (planting.words, planting.forms)))
            if key not in self.copies:
                self.copies[key] = read_anew(planting, shape, of_copy)
            found: ReaderPredictions = self.copies[key]
            return found

        def read_anew(planting: Planting, shape: Shape, of_copy: int) -> ReaderPredictions:
            own = option_planting(planting, item_of, right, of_copy) if of_options else planting
            if shape == "word":
                if ("words", of_options) not in self.copies:
                    told = self._options() if of_options else self._questions()
                    self.copies["words", of_options] = planted_evidence_of_folds(*told)
                evidence = self.copies["words", of_options](own.words[:, 0])
                return self.by_words(evidence) if of_options else self.named_by_words(evidence)
            given = pl.concat([each.texts if of_options else each.questions for each in parts])
            texts = planted_texts(given, own, of_copy)
            copies, start = [], 0
            for each in parts:
                part = texts.slice(start, len(each.texts if of_options else each.questions))
                copies.append(replace(each, texts=part) if of_options else replace(each, questions=part))
                start += len(part)
            copy = replace(self, posed=Posed(None if self.posed.train is None else copies[0], copies[-1], ()))
            return copy.read_options(shape) if of_options else copy.read_questions(shape)

        return read

    def _options(self) -> tuple[pl.Series, NDArray[np.int64], int, Folds]:
        """All choices, which are right, that there are two classes, and which teach which."""
        parts, test = self.posed.parts, self.posed.test
        right = np.concatenate([each.right for each in parts]).astype(np.int64)
        dealt = Folds.of_all(self.folds[test.item_of])
        if len(parts) > 1:
            dealt = Folds.of_parts(parts[0].right.size, test.right.size)
        return pl.concat([each.texts for each in parts]), right, 2, dealt

    def _questions(self) -> tuple[pl.Series, NDArray[np.int64], int, Folds]:
        """All questions, the places of their answers, how many there are, and which teach which."""
        parts = self.posed.parts
        places = np.concatenate([each.first_right for each in parts])
        dealt = Folds.of_all(self.folds) if len(parts) == 1 else Folds.of_parts(len(parts[0]), len(parts[1]))
        return pl.concat([context_of(each) for each in parts]), places, self.most, dealt

    def _table(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        # Sums in another order differ in their last digits, and equal choices would not tie.
        return by_item(np.round(logs[:, 1] - logs[:, 0], 9), self.posed.test, self.most)

    def _picked(self, shape: Shape, table: NDArray[np.float64]) -> ReaderPredictions:
        test = self.posed.test
        hits = choice_hits([table], test)
        return ReaderPredictions(test.kind.part, READERS[shape], None, correct=hits, chance=chance_of(test))

    def _named(self, shape: Shape, logs: NDArray[np.float64]) -> ReaderPredictions:
        test = self.posed.test
        named = masked(logs, test).argmax(axis=1)[np.newaxis]
        return ReaderPredictions(test.kind.question, READERS[shape], named, of_places=True)


def limits_of_items(
    readers: ItemReaders, readings: Sequence[ReaderPredictions], effects: Effects, parts: Sequence[str]
) -> tuple[KindLimit, ...]:
    """The limit of detection of each kind of cue in items, the larger of the choices' and the question's.

    A cue in the question stands for a place, so that ten words of each place are four times as many as ten words of
    right choices, and the form has four ways of writing; only some thousand items show them, and shuffled choices have
    none. So one word of each place counts; the other kinds are limits of their own.

    Args:
        readers: Of both parts.
        readings: What they pick.
        effects: Of all readers.
        parts: In which cues are planted.
    """
    posed, kind, found = readers.posed, readers.posed.test.kind, []
    folds = Folds.of_all(readers.folds) if posed.train is None else Folds.of_parts(len(posed.train), len(posed.test))
    places = np.concatenate([each.first_right for each in posed.parts])
    for part in (kind.part, kind.question):
        own, of_options = {each.reader: each for each in readings if each.part == part}, part == kind.part
        if not own or part not in parts:
            continue
        text = ReadText(
            codes=np.zeros_like(places) if of_options else places,
            n_classes=N_OPTION_GROUPS if of_options else readers.most,
            folds=folds,
            here={shape: own[name] for shape, name in READERS.items() if name in own},
            read_rows=partial(_read_rows, readers, of_options),
            clusters=readers.groups if effects.n_clusters < len(posed.test) else None,
            n_independent=effects.n_clusters,
            uncounted=() if of_options else _APART[:3],
        )
        apart = {} if of_options else {each.name: f"{each.name} of the {part}" for each in _APART}
        # Places are no cue in a text, and their effects stand in U.
        of_texts = [each for each in effects.of(part) if not each.reader.startswith(OF_PLACES)]
        limits = text.limits(of_texts, readers.seed)
        found.append([replace(each, kind=apart.get(each.kind, each.kind)) for each in limits])
    return largest_limits(found)


_APART = (FORM, TEN_WORDS, FIFTY_WORDS, FEW_TOGETHER, MANY_TOGETHER)


def _read_rows(
    readers: ItemReaders, of_options: bool, rows: NDArray[np.int64], folds: Folds
) -> Callable[[Planting, Shape, int], ReaderPredictions]:
    """What reads copies of some items, numbered over those to learn from and those to read; see `ReadText`."""
    posed = readers.posed
    n_known = 0 if posed.train is None else len(posed.train)
    taught, asked = rows[folds.teaching], rows[folds.rows]
    train: ChoiceItems | None = None
    if taught.size < rows.size:
        train = posed.test.take(taught) if posed.train is None else posed.train.take(taught)
    kept = asked - n_known
    key = ("rows", rows.tobytes(), folds.codes.tobytes(), tuple(folds.read))
    if key not in readers.copies:
        readers.copies[key] = ItemReaders(
            Posed(train, posed.test.take(kept), ()),
            np.unique(readers.groups[kept], return_inverse=True)[1],
            readers.folds[kept],
            readers.seed,
            readers.most,
        )
    some: ItemReaders = readers.copies[key]
    return some.copy_reader(of_options=of_options)
