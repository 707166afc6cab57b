"""What surface patterns name for each test example: the readers on which the verdict on artifacts rests.

There are four, chosen before any data were seen:

- patterns by share: the label that all patterns of an example name whose share exceeds the threshold (Liu et al. 2020);
- patterns by lift: the label of the pattern whose share exceeds that of all training examples by the largest factor,
  which finds what is told of rare labels;
- form by lift: the same by how the text is written (`form_words`), which no word says: capitals, spaces, length; and by
  the spelling of words too rare to be patterns (`spelled_with`);
- interactions, which are no patterns: two cues that tell only together (`read_interactions`).

None gives probabilities, so that they have accuracy skill and balanced skill, and no information share.

A word pattern sees neither capitals nor double spaces, lengths or repeats, nor what rare words have in common: for form
each of these is a pattern of one word. A trained probe would find weaker combinations too, but where there is nothing
to find it guesses, and its interval is wide. Form takes in the first and the last word of a text (`read_places`): a
pattern must be frequent and significant by itself, and where each label has a few hundred words of its own that stand
first, none is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.fields import normalized_texts
from goldassay.data.text_form import form_words, spelled_with
from goldassay.data.tokenization import TokenizedCorpus, tokenize
from goldassay.questions.artifacts.measures.clusters import label_correlation, near_sentences, sign_corpus
from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment, guess_by_patterns, join_assignments
from goldassay.questions.artifacts.measures.matching import encode_labels
from goldassay.questions.artifacts.measures.mining import mine_patterns
from goldassay.questions.artifacts.measures.presence import (
    CoverageCount,
    PredictivePatterns,
    label_without_pattern,
    lifted_patterns,
)
from goldassay.questions.artifacts.measures.statistics import effective_tail
from goldassay.questions.detection_limits import ReadText, formed_texts, planted_texts
from goldassay.readers.interactions import INTERACTIONS, named_by_interactions, read_interactions
from goldassay.stats.clusters import Folds
from goldassay.stats.detection import FIFTY_WORDS, KindLimit, Planting, Shape
from goldassay.stats.effects import Effects, ReaderPredictions
from goldassay.stats.intervals import wilson_bounds
from goldassay.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.questions.artifacts.training import Searched, Training

PLACES = {"first": r"^[^\w]*(\w+)", "last": r"(\w+)[^\w]*$"}
# Fewest training texts of a word that says something, and as how many texts the labels' usual shares count beside them.
_LEAST, _WEIGHT = 2, 10.0
# Parts of the training texts for the trial.
_FOLDS = 5
# Standard errors by which the trial must exceed naming one label: 2 of 720 made sets do by chance, and 14 by three.
_SURE = 4.0


@dataclass(frozen=True)
class PlaceReading:
    """What the places of test texts stand for.

    Attributes:
        labels: The label with the largest lift, -1 where nothing is known, (M,).
        lifts: The label's share of the training texts with that word over its share of all; 0 where nothing is known,
            (M,).
    """

    labels: NDArray[np.int64]
    lifts: NDArray[np.float64]


def read_places(texts: pl.Series, codes: NDArray[np.integer], test_texts: pl.Series, n_labels: int) -> PlaceReading:
    """Read the first and the last word of each test text, as far as these tell the labels of training texts.

    A place is tried by itself: in five parts of the training texts, equal texts in one part, the label of each text is
    named by the words of the other parts. The place counts if accuracy exceeds that of the most frequent label, or mean
    recall 1/K, by four standard errors. Where both places count, the larger lift does.

    Args:
        texts: Training texts, (N,).
        codes: Of their labels, (N,).
        test_texts: M texts.
        n_labels: K.
    """
    y = np.asarray(codes, np.int64)
    reading = PlaceReading(np.full(len(test_texts), -1, np.int64), np.zeros(len(test_texts)))
    if np.unique(y).size < 2:
        return reading
    same = normalized_texts(texts).rank("dense").to_numpy().astype(np.int64) - 1
    part = np.random.default_rng(0).permutation(int(same.max()) + 1)[same] % _FOLDS
    for pattern in PLACES.values():
        words = pl.concat([texts, test_texts]).cast(pl.String).fill_null("").str.to_lowercase().str.extract(pattern)
        values = words.fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
        own, asked = values[: y.size], values[y.size :]
        counts = _counts(own, y, int(values.max(initial=0)) + 1, n_labels)
        if not _names_label(own, y, part, counts):
            continue
        labels, lifts = _strongest(counts)
        better = lifts[asked] > reading.lifts
        reading.labels[better], reading.lifts[better] = labels[asked][better], lifts[asked][better]
    return reading


def _counts(values: NDArray[np.int64], y: NDArray[np.int64], n_values: int, n_labels: int) -> NDArray[np.int64]:
    found = np.bincount(values * n_labels + y, minlength=n_values * n_labels)
    return found.reshape(n_values, n_labels).astype(np.int64)


def _strongest(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The label with the largest lift of each word, (V,), and the lift; -1 and 0 where none exceeds 1.

    A label's share among the n texts of a word is (count + 10 p)/(n + 10), with p its share of all texts.
    """
    prior = counts.sum(axis=0) / counts.sum()
    n = counts.sum(axis=1)
    shares = (counts + _WEIGHT * prior) / (n + _WEIGHT)[:, np.newaxis]
    lifts = np.where(prior > 0, shares / np.where(prior > 0, prior, 1.0), 0.0)
    best = lifts.argmax(axis=1)
    largest = lifts[np.arange(n.size), best]
    known = (n >= _LEAST) & (largest > 1)
    return np.where(known, best, -1), np.where(known, largest, 0.0)


def _names_label(
    values: NDArray[np.int64], y: NDArray[np.int64], part: NDArray[np.int64], counts: NDArray[np.int64]
) -> bool:
    """Whether the words of a place name the labels of texts that they were not counted on better than one label."""
    usual = int(counts.sum(axis=0).argmax())
    named = np.full(y.size, usual)
    for fold in range(_FOLDS):
        out = part == fold
        if out.all():
            return False
        labels, _ = _strongest(counts - _counts(values[out], y[out], *counts.shape))
        said = labels[values[out]]
        named[out] = np.where(said < 0, usual, said)
    gains = (named == y).astype(np.float64) - (y == usual)
    rows = np.bincount(y, minlength=counts.shape[1]).astype(np.float64)
    there = rows > 0
    recall = np.bincount(y, weights=named == y, minlength=rows.size)[there] / rows[there]
    error = np.sqrt(float((recall * (1 - recall) / rows[there]).sum())) / recall.size
    by_accuracy = float(gains.mean()) > _SURE * float(gains.std()) / np.sqrt(y.size)
    return by_accuracy or float(recall.mean()) - 1 / recall.size > _SURE * error


# Training texts from which the form is learned: it has a few hundred words.
FORM_ROWS = 100_000


@dataclass(frozen=True)
class WrittenTexts:
    """Texts that teach and texts that are read, by how they are written.

    Attributes:
        texts: L texts; a missing one counts as empty.
        codes: Of their labels, (L,); those of texts that are read alone are not looked at.
        folds: Which texts teach which.
        label_names: K names.
    """

    texts: pl.Series
    codes: NDArray[np.int64]
    folds: Folds
    label_names: tuple[str, ...]

    @cached_property
    def forms(self) -> pl.Series:
        """The form of each text, (L,)."""
        return form_words(self.texts)

    @cached_property
    def _places(self) -> list[PlaceReading]:
        """What first and last words stand for, of each fold; no form changes them."""
        return [
            read_places(
                self.texts[each.teaching], self.codes[each.teaching], self.texts[each.reading], len(self.label_names)
            )
            for each in self.folds.rounds()
        ]

    def _spelling(self, rare_below: int) -> pl.Series:
        # Which words are rare needs no label, so that of folds all texts say it.
        n = self.folds.teaching.size
        parts = (self.texts.head(n), self.texts.tail(len(self.texts) - n))
        return pl.concat(spelled_with(*parts, rare_below))

    def read(self, min_count: int, q: float) -> NDArray[np.int64]:
        """The label that the form of each text that is read stands for most, (N,), by the texts that teach its fold.

        Args:
            min_count: Fewest texts of a feature that teach.
            q: Largest q of a feature that counts.
        """
        return self.reader(min_count, q)(self.forms)

    def reader(self, min_count: int, q: float) -> Callable[[pl.Series], NDArray[np.int64]]:
        """The same as a function of the form of each text, (L,), the spelling of words being what it is."""
        spelled, constant = self._spelling(min_count), int(np.bincount(self.codes[self.folds.teaching]).argmax())
        return partial(self._read, spelled=spelled, constant=constant, min_count=min_count, q=q)

    def _read(
        self, forms: pl.Series, *, spelled: pl.Series, constant: int, min_count: int, q: float
    ) -> NDArray[np.int64]:
        corpus = tokenize((forms + " " + spelled).to_list(), "whitespace")
        said = np.empty(self.folds.rows.size, np.int64)
        for each, places in zip(self.folds.rounds(), self._places, strict=True):
            own = self.codes[each.teaching]
            known, asked = (
                corpus.take(np.isin(np.arange(self.codes.size), rows)) for rows in (each.teaching, each.reading)
            )
            with warnings.catch_warnings():
                # Texts so few that no feature is frequent tell nothing.
                warnings.simplefilter("ignore", UserWarning)
                mined = mine_patterns(known, own, 1, 0, min_count, "whitespace", label_names=self.label_names)
            lifted = lifted_patterns([mined], q)
            empty = lifted.strongest_in(known)[0] < 0
            counts, left = (np.bincount(some, minlength=len(self.label_names)) for some in (own, own[empty]))
            found, lifts = lifted.strongest_in(asked)
            found = np.where(places.lifts > lifts, places.labels, found)
            said[each.places] = np.where(found < 0, label_without_pattern(counts, left, constant), found)
        return said


BY_SHARE, BY_LIFT, FORM_BY_LIFT = "patterns by share", "patterns by lift", "form by lift"
# Training sentences in which the label without a pattern is looked for.
SAMPLED = 20_000


@dataclass(frozen=True)
class PatternReadings:
    """What guessing by pattern names for each test example.

    Attributes:
        part: The text that was searched.
        written: The texts that teach and those of the test examples, of many training texts a sample.
        teaching: Clusters of those that teach, any codes, (L,).
        label_names: (K,).
        train_counts: Training sentences of each label, (K,).
        by_share: Labels named by share, (N,).
        by_lift: Labels named by lift, (N,).
        form: Labels named by the form of the text, (N,).
        interactions: Logarithms of the labels' probabilities by interactions of words, (N, K); None where not read.
        lifts: Lift of the pattern that decided, 0 where there is none, (N,).
        assignment: What the patterns by share say.
        n_mined: Patterns mined.
        n_labels: Labels that occur in training.
        min_count: Fewest sentences of a pattern.
        q: Largest q of a significant pattern.
        threshold: The share of its training examples that a pattern by share exceeds.
        seed: Of what is planted, and of the reader of interactions.
        by_folds: Each test example is a training example of other folds.
        together: What interactions name in copies that were read.
    """

    part: str
    written: WrittenTexts
    teaching: NDArray[np.int64]
    label_names: tuple[str, ...]
    train_counts: NDArray[np.int64]
    by_share: NDArray[np.int64]
    by_lift: NDArray[np.int64]
    form: NDArray[np.int64]
    interactions: NDArray[np.float64] | None
    lifts: NDArray[np.float64]
    assignment: DifficultyAssignment
    n_mined: int
    n_labels: int
    min_count: int
    q: float
    threshold: float
    seed: int
    by_folds: bool = False
    together: dict[tuple[bytes, bytes, int], ReaderPredictions] = field(default_factory=dict, compare=False)

    @property
    def gold(self) -> NDArray[np.int64]:
        """Codes of the test labels, (N,)."""
        return self.written.codes[self.written.folds.rows]

    @property
    def texts(self) -> pl.Series:
        """Of the test examples as they are written, (N,)."""
        return self.written.texts[self.written.folds.rows]

    @property
    def unheld(self) -> tuple[int, int] | None:
        """Test examples for which patterns by share name one label, and those where it is right, if these are too few.

        A pattern gives its label in more than the threshold of its training examples. Too few are right where even the
        upper end (Wilson, 97.5 %) lies below half the way from the label's usual share to the threshold: the labels are
        those of other rows, or the parts are of different kinds, and readers of the one know nothing of the other.
        """
        decided = self.assignment.label_sets.sum(axis=1) == 1
        n = int(decided.sum())
        right = int((self.by_share == self.gold)[decided].sum())
        usual = float(np.bincount(self.gold, minlength=self.train_counts.size).max() / max(self.gold.size, 1))
        high = float(wilson_bounds(right, max(n, 1))[1])
        return (n, right) if n and not self.by_folds and high < (usual + self.threshold) / 2 else None

    @property
    def readings(self) -> tuple[ReaderPredictions, ...]:
        """All readers on the test examples."""
        return (
            ReaderPredictions(self.part, BY_SHARE, self.by_share[np.newaxis]),
            ReaderPredictions(self.part, BY_LIFT, self.by_lift[np.newaxis]),
            ReaderPredictions(self.part, FORM_BY_LIFT, self.form[np.newaxis]),
            *(
                ()
                if self.interactions is None
                else (named_by_interactions(self.part, self.interactions, self.train_counts),)
            ),
        )

    def limits(self, effects: Effects, clusters: NDArray[np.int64] | None) -> tuple[KindLimit, ...]:
        """The limit of detection of each kind of cue in this text.

        Fifty words of a label do not count, since no reader sees them in as few rows as would be unsound: 7 % of 5,000
        rows of three labels hold each twice, of which naive Bayes recovers .2, interactions .06 and patterns nothing;
        a pattern must be in one of 1,000 rows, and each of fifty words in 7 % of one of three labels is in fewer. Of
        ten words 1 % is seen from some 200,000 rows on, where fifty rows of a pattern suffice.

        Args:
            effects: Of the readers of all texts.
            clusters: Of the test examples, (N,).
        """
        named = {each.reader: each for each in self.readings}
        text = ReadText(
            codes=self.written.codes,
            n_classes=len(self.label_names),
            folds=self.written.folds,
            here={shape: named[reader] for shape, reader in _READERS.items() if reader in named},
            read_rows=self._read_copies,
            clusters=clusters,
            n_independent=effects.n_clusters,
            uncounted=(FIFTY_WORDS,),
            # Their counts alone are looked at, and in fewer rows a pattern must be in a larger share of these.
            word_rows=self.written.codes.size,
        )
        return text.limits(effects.of(self.part), self.seed)

    def _read_copies(
        self, rows: NDArray[np.int64], folds: Folds
    ) -> Callable[[Planting, Shape, int], ReaderPredictions]:
        """What reads copies of some rows; see `ReadText`."""
        codes, texts = self.written.codes[rows], self.written.texts[rows]
        written, n_labels = WrittenTexts(texts, codes, folds, self.label_names), len(self.label_names)
        # The same share of fewer rows; eight suffice in any number of them.
        share = folds.teaching.size / int(self.train_counts.sum())
        min_count = max(min(self.min_count, 8), round(self.min_count * share))
        kept = np.searchsorted(self.written.folds.rows, rows[folds.rows])

        @cache
        def copied() -> NDArray[np.float64]:
            return _effects_of_copies(texts[folds.teaching], codes[folds.teaching], n_labels)

        @cache
        def by_form() -> Callable[[pl.Series], NDArray[np.int64]]:
            return written.reader(min_count, self.q)

        def read(planting: Planting, shape: Shape, of_copy: int) -> ReaderPredictions:
            if shape == "together":
                return self.read_together(rows, folds, planting, of_copy)
            if shape == "word":
                named = self._by_planted_words(codes, folds, planting, kept, copied(), min_count)
                return ReaderPredictions(self.part, BY_LIFT, named[np.newaxis])
            changed = np.flatnonzero(planting.forms)
            forms = form_words(formed_texts(texts[changed], planting.forms[changed]))
            named = by_form()(written.forms.clone().scatter(changed, forms))
            return ReaderPredictions(self.part, FORM_BY_LIFT, named[np.newaxis])

        return read

    def read_together(
        self, rows: NDArray[np.int64], folds: Folds, planting: Planting, of_copy: int
    ) -> ReaderPredictions:
        """What the reader of interactions names in a copy; it is kept, as other questions read the same copies.

        Args:
            rows: Of the copy.
            folds: Which of these teach which.
            planting: What is planted.
            of_copy: Seed of its words.
        """
        key = (rows.tobytes(), planting.words.tobytes(), of_copy)
        if key not in self.together:
            codes, counts = self.written.codes[rows], np.zeros(len(self.label_names), np.int64)
            np.add.at(counts, codes[folds.teaching], 1)
            texts = planted_texts(self.written.texts[rows], planting, of_copy)
            logs = read_interactions(texts, codes, counts.size, folds, self.seed, self.teaching[rows])
            self.together[key] = named_by_interactions(self.part, logs, counts)
        return self.together[key]

    def _by_planted_words(
        self,
        codes: NDArray[np.int64],
        folds: Folds,
        planting: Planting,
        kept: NDArray[np.int64],
        copied: NDArray[np.float64],
        min_count: int,
    ) -> NDArray[np.int64]:
        """What patterns by lift name in a copy, (N,), which is not mined.

        At the end of a text a word changes no other pattern, and whether it would be found follows from its counts. It
        must be frequent enough, and significant among all patterns and the other words of its kind and share
        (Benjamini and Hochberg 1995). Copies of a text may hold the same word, so that p is that of fewer rows where
        copies have one label (`allow_for_clusters`). Its lift is compared with that of the text's other patterns;
        longer patterns that contain the word say the same.
        """
        words, named, lifts = planting.words[:, 0], self.by_lift[kept], self.lifts[kept]
        held = np.flatnonzero(words >= 0)
        n_words = int(words.max(initial=-1)) + 1
        label, cell = np.zeros(n_words, np.int64), np.zeros(n_words, np.int64)
        label[words[held]], cell[words[held]] = codes[held], planting.cells[held]
        for each in folds.rounds():
            taught, asked = words[each.teaching], words[each.reading]
            n = np.bincount(taught[taught >= 0], minlength=n_words)
            prior = np.bincount(codes[each.teaching], minlength=copied.size)[label] / each.teaching.size
            p = effective_tail(n, n, prior, copied[label])
            q = np.ones(n_words)
            for of_cell in (np.flatnonzero(cell == number) for number in np.unique(cell)):
                # Of all mined patterns none is more significant than these.
                q[of_cell] = benjamini_hochberg(p[of_cell]) * (1 + self.n_mined / of_cell.size)
            with np.errstate(divide="ignore", invalid="ignore"):
                lift = wilson_bounds(n, np.maximum(n, 1))[0] / prior
            found = (n >= min_count) & (q * self.n_labels <= self.q) & (lift > 1)
            stronger = np.flatnonzero(asked >= 0)
            own = asked[stronger]
            stronger = stronger[found[own] & (lift[own] > lifts[each.places[stronger]])]
            named[each.places[stronger]] = label[asked[stronger]]
        return named


# The reader that finds cues of each shape.
_READERS: dict[Shape, str] = {"word": BY_LIFT, "form": FORM_BY_LIFT, "together": INTERACTIONS}


def read_by_patterns(
    short: PredictivePatterns,
    assignment: DifficultyAssignment,
    on_train: CoverageCount,
    train: Training,
    test: Searched,
    seed: int,
    *,
    interactions: bool = True,
) -> PatternReadings:
    """Let all readers read the test examples.

    Args:
        short: Patterns of the training set.
        assignment: What those above the threshold say of the test examples.
        on_train: Training examples, and those of them that these patterns leave open.
        train: What they were mined from.
        test: What they are tried on.
        seed: Of the sample of training sentences, the reader of interactions, and of what is planted.
        interactions: Read interactions of words, too.
    """
    gold, names = encode_labels(test.labels, short.label_names, len(test.labels))
    words = read_words(short, assignment, on_train, train, test.corpus, int(on_train.label_counts.argmax()), seed)
    texts, codes = train.written(FORM_ROWS, seed)
    tested, _ = test.written(len(gold), seed)
    folds = Folds.of_parts(len(texts), gold.size)
    written = WrittenTexts(pl.concat([texts, tested]), np.concatenate([codes, gold]), folds, tuple(names))
    clusters = np.concatenate([train.clusters(FORM_ROWS, seed), np.full(gold.size, -1)])
    return _joint(short, on_train, train, words, written, clusters, seed, interactions=interactions)


def read_by_folds(
    short: PredictivePatterns,
    on_whole: CoverageCount,
    whole: Searched,
    folds: Folds,
    parts: Sequence[WordReadings],
    seed: int,
) -> PatternReadings:
    """What all readers name for each row that is read, given what patterns of words of each fold's teachers name.

    Args:
        short: Patterns of all rows.
        on_whole: All rows, and those of them that these patterns leave open.
        whole: All rows.
        folds: Which rows teach which.
        parts: Of each fold that is read.
        seed: Of what is planted.
    """
    rows = folds.drawn(FORM_ROWS, seed)
    texts, labels = whole.written(len(whole.texts), seed)
    drawn = Folds(folds.codes[rows], folds.read)
    words = _in_place(parts, [each.places for each in folds.rounds()], short.selected)
    written = WrittenTexts(texts[rows], labels[rows], drawn, tuple(short.label_names))
    clusters = whole.clusters(len(whole.texts), seed)[rows]
    return replace(_joint(short, on_whole, whole, words, written, clusters, seed), by_folds=True)


def _joint(
    short: PredictivePatterns,
    on_train: CoverageCount,
    train: Training,
    words: WordReadings,
    written: WrittenTexts,
    teaching: NDArray[np.int64],
    seed: int,
    *,
    interactions: bool = True,
) -> PatternReadings:
    min_count, names = int(short.settings["min_count"]), written.label_names
    logs = None
    if interactions:
        logs = read_interactions(written.texts, written.codes, len(names), written.folds, seed, teaching)
    return PatternReadings(
        part=str(short.settings.get("text", train.text_columns[-1])),
        written=written,
        teaching=teaching,
        label_names=names,
        train_counts=on_train.label_counts,
        by_share=words.by_share,
        by_lift=words.by_lift,
        form=written.read(min_count, short.q),
        interactions=logs,
        lifts=words.lifts,
        assignment=words.assignment,
        n_mined=short.n_mined,
        n_labels=int((on_train.label_counts > 0).sum()),
        min_count=min_count,
        q=short.q,
        threshold=short.threshold,
        seed=seed,
    )


@dataclass(frozen=True)
class WordReadings:
    """What patterns of words name; attributes as in `PatternReadings`, and the patterns by share that were used."""

    by_share: NDArray[np.int64]
    by_lift: NDArray[np.int64]
    lifts: NDArray[np.float64]
    assignment: DifficultyAssignment
    patterns: PatternTable


def read_words(
    short: PredictivePatterns,
    assignment: DifficultyAssignment,
    on_train: CoverageCount,
    train: Training,
    test: TokenizedCorpus,
    constant: int,
    seed: int,
) -> WordReadings:
    """Let patterns of words, by share and by lift, read test examples; see `read_by_patterns`.

    Args:
        short: As there.
        assignment: As there.
        on_train: As there.
        train: As there.
        test: The test examples.
        constant: The label to name where nothing is told.
        seed: As there.
    """
    by_share = guess_by_patterns(assignment, constant, on_train.left_open[0])
    found, lifts = short.lifted.strongest_in(test)
    corpus, codes = _sample(train, seed)
    empty = (short.lifted.strongest_in(corpus)[0] < 0) & (codes >= 0)
    n_labels = len(short.label_names)
    sampled = np.bincount(codes[codes >= 0], minlength=n_labels)
    left = np.bincount(codes[empty], minlength=n_labels)
    default = label_without_pattern(sampled, left, constant)
    return WordReadings(by_share, np.where(found < 0, default, found), lifts, assignment, short.selected)


def _in_place(parts: Sequence[WordReadings], places: Sequence[NDArray[np.int64]], shown: PatternTable) -> WordReadings:
    """What was read of all folds, each row at its place; of the patterns that a row holds those that are shown."""
    order = np.argsort(np.concatenate(places))
    by_share, by_lift, lifts = (
        np.concatenate([getattr(each, name) for each in parts])[order] for name in ("by_share", "by_lift", "lifts")
    )
    assignment = join_assignments([(each.assignment, each.patterns) for each in parts], places, shown)
    return WordReadings(by_share, by_lift, lifts, assignment, shown)


def _effects_of_copies(texts: pl.Series, codes: NDArray[np.int64], n_labels: int) -> NDArray[np.float64]:
    """1 + (sum_g n_g² / N - 1) rho_l of each label, (K,): n_g rows have one text; rho_l is how alike their labels are.

    The larger one for equal texts and for near copies, as patterns are tested by both: where each label has templates
    of its own, no pattern of them is significant, and no planted word may be taken for one.

    Source: Kish 1965, *Survey Sampling*, section 5.4; see `label_correlation`.
    """
    corpus = tokenize(texts, "whitespace")
    equal = normalized_texts(texts).rank("dense").to_numpy().astype(np.int64) - 1
    found = np.ones(n_labels)
    for same in (equal, near_sentences(sign_corpus(corpus), np.diff(corpus.offsets))):
        sizes = np.bincount(same).astype(np.float64)
        mean_size = float(sizes @ sizes) / max(float(sizes.sum()), 1.0)
        found = np.maximum(found, 1 + (mean_size - 1) * label_correlation(codes, same, n_labels))
    return found


def _sample(train: Training, seed: int) -> tuple[TokenizedCorpus, NDArray[np.int64]]:
    """Some sentences of the first part of the training set that is at hand, and their labels."""
    corpus, codes = next(iter(train.corpora()))
    labels = np.asarray(codes, dtype=np.int64)
    if labels.size <= SAMPLED:
        return corpus, labels
    chosen = np.zeros(labels.size, dtype=np.bool_)
    chosen[np.random.default_rng(seed).choice(labels.size, SAMPLED, replace=False)] = True
    return corpus.take(chosen), labels[chosen]
