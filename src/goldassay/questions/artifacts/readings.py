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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.row_values import normalized_texts
from goldassay.data.text_form import form_words
from goldassay.data.tokenization import tokenize
from goldassay.data.word_shapes import spelled_with
from goldassay.questions.artifacts.measures.clusters import label_correlation, near_sentences, sign_corpus
from goldassay.questions.artifacts.measures.difficulty import guess_by_patterns, join_assignments
from goldassay.questions.artifacts.measures.matching import encode_labels
from goldassay.questions.artifacts.measures.mining import mine_patterns
from goldassay.questions.artifacts.measures.presence import label_without_pattern, lifted_patterns
from goldassay.readers.interactions import named_by_interactions, read_interactions
from goldassay.stats.detection import WORDS_FOR_PATTERNS, planted_rows
from goldassay.stats.effects import ReaderPredictions
from goldassay.stats.folds import Folds
from goldassay.stats.intervals import wilson_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.tokenization import TokenizedCorpus
    from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.questions.artifacts.measures.presence import CoverageCount
    from goldassay.questions.artifacts.shortlist import TellingPatterns
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
        if not _tells(own, y, part, counts):
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


def _tells(values: NDArray[np.int64], y: NDArray[np.int64], part: NDArray[np.int64], counts: NDArray[np.int64]) -> bool:
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


def read_form_by_lift(
    texts: pl.Series,
    codes: NDArray[np.integer],
    test_texts: pl.Series,
    label_names: Sequence[str],
    *,
    min_count: int,
    q: float,
) -> NDArray[np.int64]:
    """The label that the form of each test text stands for most, (M,); the usual one where its form is usual.

    Args:
        texts: Training texts as they are written, (N,).
        codes: Of their labels, (N,).
        test_texts: M texts.
        label_names: K names.
        min_count: Fewest training texts of a feature.
        q: Largest q of a feature that counts.
    """
    together = pl.concat([texts, test_texts])
    spelled = pl.concat(spelled_with(texts, test_texts, min_count))
    known = np.concatenate([np.asarray(codes, np.int64), np.zeros(len(test_texts), np.int64)])
    folds = Folds.of_parts(len(texts), len(test_texts))
    return _read_form(together, spelled, known, folds, label_names, min_count, q, int(np.bincount(codes).argmax()))


def read_form_of_folds(
    texts: pl.Series, codes: NDArray[np.int64], folds: Folds, label_names: Sequence[str], *, min_count: int, q: float
) -> NDArray[np.int64]:
    """The same of each text that is read, (N,), by the texts that teach its fold.

    Args:
        texts: L texts as they are written.
        codes: Of their labels, (L,).
        folds: Which texts teach which.
        label_names: K names.
        min_count: Fewest texts of a feature that teach.
        q: Largest q of a feature that counts.
    """
    # Which words are rare needs no label, so that all texts say it.
    spelled = spelled_with(texts, texts.clear(), min_count)[0]
    return _read_form(texts, spelled, codes, folds, label_names, min_count, q, int(np.bincount(codes).argmax()))


def _read_form(
    texts: pl.Series,
    spelled: pl.Series,
    codes: NDArray[np.int64],
    folds: Folds,
    label_names: Sequence[str],
    min_count: int,
    q: float,
    constant: int,
) -> NDArray[np.int64]:
    """Read the form of texts, given their spelling and the label to name where nothing is told."""
    corpus = tokenize((form_words(texts) + " " + spelled).to_list(), "whitespace")
    said = np.empty(folds.rows.size, np.int64)
    for each in folds.rounds():
        own = codes[each.teaching]
        known, asked = (corpus.take(np.isin(np.arange(codes.size), rows)) for rows in (each.teaching, each.reading))
        with warnings.catch_warnings():
            # Texts so few that no feature is frequent tell nothing.
            warnings.simplefilter("ignore", UserWarning)
            mined = mine_patterns(known, own, 1, 0, min_count, "whitespace", label_names=label_names)
        lifted = lifted_patterns([mined], q)
        empty = lifted.strongest_in(known)[0] < 0
        counts, left = (np.bincount(some, minlength=len(label_names)) for some in (own, own[empty]))
        found, lifts = lifted.strongest_in(asked)
        places = read_places(texts[each.teaching], own, texts[each.reading], len(label_names))
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
        texts: Of the test examples as they are written, (N,).
        gold: Codes of the test labels, (N,).
        label_names: (K,).
        train_counts: Training sentences of each label, (K,).
        by_share: Labels named by share, (N,).
        by_lift: Labels named by lift, (N,).
        form: Labels named by the form of the text, (N,).
        interactions: Logarithms of the labels' probabilities by interactions of words, (N, K); None where not read.
        lifts: Lift of the pattern that decided, 0 where there is none, (N,).
        assignment: What the patterns by share say.
        left_open: Training sentences of each label that the patterns by share leave open, (K,).
        sampled: Training sentences of each label in a sample, (K,).
        left: Those of the sample without a pattern by lift, (K,).
        copied: Design effect of copies and near copies of a training text for each label, (K,): how many rows count as
            one.
        n_mined: Patterns mined.
        n_labels: Labels that occur in training.
        min_count: Fewest sentences of a pattern.
        q: Largest q of a significant pattern.
        threshold: The share of its training examples that a pattern by share exceeds.
        seed: Of what is planted.
        by_folds: Each test example is a training example of other folds.
    """

    part: str
    texts: pl.Series
    gold: NDArray[np.int64]
    label_names: tuple[str, ...]
    train_counts: NDArray[np.int64]
    by_share: NDArray[np.int64]
    by_lift: NDArray[np.int64]
    form: NDArray[np.int64]
    interactions: NDArray[np.float64] | None
    lifts: NDArray[np.float64]
    assignment: DifficultyAssignment
    left_open: NDArray[np.int64]
    sampled: NDArray[np.int64]
    left: NDArray[np.int64]
    copied: NDArray[np.float64]
    n_mined: int
    n_labels: int
    min_count: int
    q: float
    threshold: float
    seed: int
    by_folds: bool = False

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

    def planted(self, share: float) -> tuple[ReaderPredictions, ReaderPredictions]:
        """Both readers of words on a copy in which words of their label end a share of the texts of each other label.

        The copy is not mined: at the end of a text a word changes no other pattern, and whether it would be found
        follows from its counts. Each of the label's words must be frequent enough, and significant among all patterns
        and labels; as the words are equally frequent, q is p times the number of tests over the number of words
        (Benjamini and Hochberg 1995). Copies of a text hold the same words, so that p is that of fewer rows where
        copies have one label (`allow_for_clusters`). Its lift is compared with that of the other patterns of the text.
        Longer patterns that contain a word say the same as the word.
        """
        counts = self.train_counts
        constant = int(counts.argmax())
        prior = counts / counts.sum()
        n = np.round(share * counts).astype(np.int64) // WORDS_FOR_PATTERNS
        labels = np.arange(counts.size)
        tests = (self.n_mined + WORDS_FOR_PATTERNS * labels.size) * self.n_labels
        significant = (prior ** (n / self.copied) * tests / WORDS_FOR_PATTERNS <= self.q) & (n >= self.copied)
        found = (n >= max(self.min_count, 1)) & significant & (labels != constant) & (counts > 0)
        known = (planted_rows(self.gold, labels.size, share, constant, WORDS_FOR_PATTERNS, self.seed) >= 0) & found[
            self.gold
        ]
        sets = self.assignment.label_sets.copy()
        sets[known, self.gold[known]] = True
        remaining = np.where(found, 1 - share, 1.0)
        by_share = guess_by_patterns(
            replace(self.assignment, label_sets=sets), constant, np.round(self.left_open * remaining).astype(np.int64)
        )
        lift = np.where(prior > 0, wilson_bounds(n, np.maximum(n, 1))[0] / np.where(prior > 0, prior, 1.0), 0.0)
        default = label_without_pattern(self.sampled, np.round(self.left * remaining).astype(np.int64), constant)
        by_lift = np.where(self.lifts > 0, self.by_lift, default)
        stronger = known & (lift[self.gold] > self.lifts)
        by_lift[stronger] = self.gold[stronger]
        return (
            ReaderPredictions(self.part, BY_SHARE, by_share[np.newaxis]),
            ReaderPredictions(self.part, BY_LIFT, by_lift[np.newaxis]),
        )


def read_by_patterns(
    short: TellingPatterns,
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
        seed: Of the sample of training sentences and of what is planted.
        interactions: Read interactions of words, too.
    """
    gold, names = encode_labels(test.labels, short.label_names, len(test.labels))
    words = read_words(short, assignment, on_train, train, test.corpus, int(on_train.label_counts.argmax()), seed)
    texts, written = train.written(FORM_ROWS, seed)
    tested, _ = test.written(len(gold), seed)
    min_count = int(short.settings["min_count"])
    form = read_form_by_lift(texts, written, tested, names, min_count=min_count, q=short.q)
    logs = None
    if interactions:
        clusters = np.concatenate([train.clusters(FORM_ROWS, seed), np.full(gold.size, -1)])
        folds, both = Folds.of_parts(written.size, gold.size), np.concatenate([written, gold])
        logs = read_interactions(pl.concat([texts, tested]), both, len(names), folds, seed, clusters)
    copied = _effects_of_copies(texts, written, len(names))
    return _joint(short, on_train, train, words, gold, tested, form, logs, copied, seed)


def read_by_folds(
    short: TellingPatterns,
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
    rows, names = folds.drawn(FORM_ROWS, seed), short.label_names
    written, labels = whole.written(len(whole.texts), seed)
    texts, codes = written[rows], labels[rows]
    drawn = Folds(folds.codes[rows], folds.read)
    form = read_form_of_folds(texts, codes, drawn, names, min_count=int(short.settings["min_count"]), q=short.q)
    words = _in_place(parts, [each.places for each in folds.rounds()], short.selected)
    copied = _effects_of_copies(texts, codes, len(names))
    clusters = whole.clusters(len(whole.texts), seed)[rows]
    logs = read_interactions(texts, codes, len(names), drawn, seed, clusters)
    found = _joint(short, on_whole, whole, words, codes[drawn.rows], texts[drawn.rows], form, logs, copied, seed)
    return replace(found, by_folds=True)


def _joint(
    short: TellingPatterns,
    on_train: CoverageCount,
    train: Training,
    words: WordReadings,
    gold: NDArray[np.int64],
    texts: pl.Series,
    form: NDArray[np.int64],
    interactions: NDArray[np.float64] | None,
    copied: NDArray[np.float64],
    seed: int,
) -> PatternReadings:
    return PatternReadings(
        part=str(short.settings.get("text", train.text_columns[-1])),
        texts=texts,
        gold=gold,
        label_names=tuple(short.label_names),
        train_counts=on_train.label_counts,
        by_share=words.by_share,
        by_lift=words.by_lift,
        form=form,
        interactions=interactions,
        lifts=words.lifts,
        assignment=words.assignment,
        left_open=on_train.left_open[0],
        sampled=words.sampled,
        left=words.left,
        copied=copied,
        n_mined=short.n_mined,
        n_labels=int((on_train.label_counts > 0).sum()),
        min_count=int(short.settings["min_count"]),
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
    sampled: NDArray[np.int64]
    left: NDArray[np.int64]


def read_words(
    short: TellingPatterns,
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
    by_lift = np.where(found < 0, default, found)
    return WordReadings(by_share, by_lift, lifts, assignment, short.selected, sampled, left)


def _in_place(parts: Sequence[WordReadings], places: Sequence[NDArray[np.int64]], shown: PatternTable) -> WordReadings:
    """What was read of all folds, each row at its place; of the patterns that a row holds those that are shown."""
    order = np.argsort(np.concatenate(places))
    by_share, by_lift, lifts = (
        np.concatenate([getattr(each, name) for each in parts])[order] for name in ("by_share", "by_lift", "lifts")
    )
    assignment = join_assignments([(each.assignment, each.patterns) for each in parts], places, shown)
    sampled, left = (np.mean([getattr(each, name) for each in parts], axis=0) for name in ("sampled", "left"))
    return WordReadings(by_share, by_lift, lifts, assignment, shown, sampled.astype(np.int64), left.astype(np.int64))


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
