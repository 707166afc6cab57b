"""A reader of interactions: two cues that tell the label only together, as red and two, or blue and three.

Linear models and naive Bayes add up what each word says, and of two cues that decide together each says nothing. A
second-order factorization machine gives every pair of words a weight, which it can learn from pairs that it has not
seen. With x_i = 1/sqrt(n) for each of the n known words of a text,

    score_c = b_c + w_c . x + sum_f u_cf [(v_f . x)^2 - sum_i (v_if x_i)^2],    p = softmax(score).

The factors v are shared by the classes. The loss is -log p_y + sum over the words of the row of
penalty_w / 2 w_ci^2 + penalty_v / 2 v_if^2, and each row is a step of AdaGrad. A fifth of the training clusters chooses
penalties and epoch by their log loss; these rows teach nothing else.

The same fifth chooses between two machines. One sees words alone. To the other's words their half of the text is added
(red in the first half), from which it reads what comes first, and the form (`form_words`), from which it reads a final
point with or without a capital; so many more features hide weak pairs of words: where two adjectives agree in 60 % of
6,000 rows, the first is right in 70 % of new rows and the second in 50 %.

Sets of three cues and more, numbers that are compared, and pairs among hundreds of rare words are not seen.

Source: Rendle 2010, "Factorization Machines"; Duchi, Hazan and Singer 2011 (AdaGrad).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.compiled import compiled, compiled_within, workers
from goldassay.core.cores import cores
from goldassay.data.text_form import form_words
from goldassay.readers.probe_features import tokenize_roles
from goldassay.readers.quick_probe import deal_folds
from goldassay.stats.effects import ReaderPredictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.stats.clusters import Folds

INTERACTIONS = "interactions of words"
# Training texts of a word, and words.
LEAST_TEXTS, MOST_WORDS = 3, 20_000
# Training texts, and their length together: of more, whole clusters are drawn.
MOST_TEXTS, MOST_BYTES = 20_000, 4_000_000
# Parts of the training clusters, of which one chooses.
N_PARTS = 5
# Factors are laid out in so many columns, the last ones 0: a width known beforehand makes vectors of the loops.
WIDTH = 16
# What sums of squared gradients start from, so that a first gradient of 0 divides by something.
LEAST_SQUARE = 1e-8


@dataclass(frozen=True)
class WordLists:
    """The words of N texts, by number below V.

    Attributes:
        ids: Of all texts, one after the other.
        starts: Where each text's begin, and where the last one's end, (N + 1,).
        ties: The order of words that are in equally many texts, (V,), such as their hashes.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    ties: NDArray[np.uint64]

    def take(self, rows: NDArray[np.int64]) -> WordLists:
        """Those of some texts."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        ids = self.ids[np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])]
        return WordLists(ids, starts, self.ties)


@dataclass(frozen=True)
class InteractionReader:
    """A factorization machine on which words a text has.

    Attributes:
        n_factors: F, at most 16; without factors it is a linear model.
        n_epochs: Over the rows to learn from.
        rate: Of AdaGrad.
        penalties: Pairs of penalty_w and penalty_v to try.
    """

    n_factors: int = 12
    n_epochs: int = 6
    rate: float = 0.05
    penalties: tuple[tuple[float, float], ...] = ((1e-3, 1e-4), (1e-2, 1e-3))

    def fit(
        self,
        texts: WordLists,
        codes: NDArray[np.integer[Any]],
        n_classes: int,
        seed: int,
        clusters: NDArray[np.integer[Any]] | None = None,
    ) -> FittedInteractions:
        """Learn from N texts.

        Args:
            texts: Their words.
            codes: Labels below `n_classes`, (N,).
            n_classes: K.
            seed: Of the fifth that chooses, the order in which texts are seen, and the first factors.
            clusters: Of the texts, any codes, (N,); each its own if not given.
        """
        labels = np.asarray(codes, np.int64)
        # Labels in the order of their first rows, so that their codes move nothing.
        first = np.full(n_classes, labels.size)
        np.minimum.at(first, labels, np.arange(labels.size))
        rank = np.argsort(np.argsort(first, kind="stable"))
        y = rank[labels]
        groups = np.arange(y.size) if clusters is None else np.unique(clusters, return_inverse=True)[1]
        rng = np.random.default_rng(seed)
        part = deal_folds(groups.astype(np.int64), N_PARTS, rng)
        learning, judging = np.flatnonzero(part != 0), np.flatnonzero(part == 0)
        if not learning.size or not judging.size:
            learning = judging = np.arange(y.size)
        columns = _columns(texts)
        words, ends = list_columns(texts.ids, texts.starts, columns)
        n_words = int(columns.max(initial=-1)) + 1
        factors, mixing = np.zeros((n_words, WIDTH)), np.zeros((n_classes, WIDTH))
        factors[:, : self.n_factors] = rng.normal(0, 0.1, (n_words, self.n_factors))
        mixing[:, : self.n_factors] = rng.normal(0, 0.3, (n_classes, self.n_factors))
        shares = np.bincount(y[learning], minlength=n_classes) + 0.5
        biases = np.log(shares / shares.sum())
        orders = [rng.permutation(learning) for _ in range(self.n_epochs)]

        def learn(penalties: tuple[float, float]) -> FittedInteractions:
            machine = Machine(biases.copy(), np.zeros((n_words, n_classes)), mixing.copy(), factors.copy())
            squares = Machine(*(np.full_like(each, LEAST_SQUARE) for each in machine.arrays))
            best = FittedInteractions(np.inf, columns, machine)
            for order in orders:
                learn_epoch(words, ends, order, y, self.rate, *penalties, *machine.arrays, *squares.arrays)
                logs = _log_softmax(score_texts(words, ends, judging, *machine.arrays))
                loss = -float(logs[np.arange(judging.size), y[judging]].mean())
                if loss < best.loss:
                    best = FittedInteractions(loss, columns, Machine(*(each.copy() for each in machine.arrays)))
            return best

        with workers(min(cores(), len(self.penalties))) as pool:
            best = min(pool.map(learn, self.penalties), key=lambda each: each.loss)
        found = best.machine
        own = Machine(found.biases[rank], found.linear[:, rank].copy(), found.mixing[rank], found.factors)
        return replace(best, machine=own)


def read_interactions(
    texts: pl.Series,
    codes: NDArray[np.integer[Any]],
    n_classes: int,
    folds: Folds,
    seed: int,
    clusters: NDArray[np.integer[Any]] | None = None,
) -> NDArray[np.float64]:
    """Logarithms of the labels' probabilities of each text that is read, (N, K), by the machine that the fifth chooses.

    Args:
        texts: L texts.
        codes: Of their labels, (L,); those of texts that are read alone are not looked at.
        n_classes: K.
        folds: Which texts teach which; of more than 20,000 that teach, or 4 MB, so many are drawn, in whole clusters.
        seed: Of all draws.
        clusters: Of the texts, any codes, (L,); each its own if not given.
    """
    y = np.asarray(codes, np.int64)
    groups = np.arange(y.size) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    written = texts.cast(pl.String).fill_null("")
    # Of many texts only those that are read or drawn are looked at.
    lengths = written.str.len_bytes().to_numpy().astype(np.int64)
    rounds = [(drawn_rows(groups, lengths, each.teaching, seed), each) for each in folds.rounds()]
    needed = np.unique(np.concatenate([rows for drawn, each in rounds for rows in (drawn, each.reading)]))
    lists = word_lists(written[needed])
    found = np.empty((folds.rows.size, n_classes))
    for drawn, each in rounds:
        taught, asked = (np.searchsorted(needed, rows) for rows in (drawn, each.reading))
        fits = [
            (InteractionReader().fit(of_kind.take(taught), y[drawn], n_classes, seed, groups[drawn]), of_kind)
            for of_kind in lists
        ]
        best, of_kind = min(fits, key=lambda fit: fit[0].loss)
        found[each.places] = best.logits(of_kind.take(asked))
    return found


def named_by_interactions(part: str, logs: NDArray[np.float64], counts: NDArray[np.integer[Any]]) -> ReaderPredictions:
    """The labels that `read_interactions` names; one that no text teaches is named by none.

    Args:
        part: Of the input.
        logs: Logarithms of probabilities, (N, K).
        counts: Texts of each label that teach, (K,).
    """
    with np.errstate(divide="ignore"):
        named, lifted = np.where(counts > 0, (logs, logs - np.log(counts)), -np.inf).argmax(axis=2)
    return ReaderPredictions(part, INTERACTIONS, named[np.newaxis], lifted[np.newaxis])


def word_lists(texts: pl.Series) -> tuple[WordLists, WordLists]:
    """The words of each text; and these, the same by the half of the text that they are in, and its form.

    Words of the form that more than half of the texts have are left out: they say what the lack of others says.
    """
    from goldassay.kernels.text_counts import count_words

    tokens = tokenize_roles({"text": texts, "form": form_words(texts)})
    (starts, form_starts), n = tokens.offsets, tokens.hashes.size
    counts = count_words(tokens.ids, form_starts, np.zeros(len(texts), np.int64), 1, n)[0]
    placed, ends = placed_words(tokens.ids, starts, form_starts, 2 * counts > len(texts))
    return WordLists(tokens.ids, starts, tokens.hashes), WordLists(placed, ends, np.tile(tokens.hashes, N_KINDS))


def drawn_rows(
    groups: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]], rows: NDArray[np.int64], seed: int
) -> NDArray[np.int64]:
    """Rows to learn from, ascending: all, or those of random whole clusters, as many as may be, one cluster at least.

    Args:
        groups: Clusters of all rows, any codes, (L,).
        lengths: Of their texts, in bytes, (L,).
        rows: Those to draw from, ascending.
        seed: Of the draw.
    """
    if rows.size <= MOST_TEXTS and lengths[rows].sum() <= MOST_BYTES:
        return rows
    codes = np.unique(groups[rows], return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(int(codes.max()) + 1)
    sizes, written = np.bincount(codes)[order], np.bincount(codes, lengths[rows])[order]
    fitting = (np.cumsum(sizes) <= MOST_TEXTS) & (np.cumsum(written) <= MOST_BYTES)
    inside = np.isin(codes, order[: max(1, int(fitting.sum()))])
    found: NDArray[np.int64] = rows[inside]
    return found


@dataclass(frozen=True)
class Machine:
    """Weights of a factorization machine of V words, F factors and K classes.

    Attributes:
        biases: b, (K,).
        linear: w, (V, K).
        mixing: u, (K, 16), 0 from F on.
        factors: v, (V, 16), likewise.
    """

    biases: NDArray[np.float64]
    linear: NDArray[np.float64]
    mixing: NDArray[np.float64]
    factors: NDArray[np.float64]

    @property
    def arrays(self) -> tuple[NDArray[np.float64], ...]:
        """The four in this order, as compiled loops take them."""
        return self.biases, self.linear, self.mixing, self.factors


@dataclass(frozen=True)
class FittedInteractions:
    """A trained reader.

    Attributes:
        loss: Mean -log p of the labels of the rows that chose it.
        columns: The line of the weights of each word, -1 for words that it does not know, (V,).
        machine: Its weights.
    """

    loss: float
    columns: NDArray[np.int32]
    machine: Machine

    def logits(self, texts: WordLists) -> NDArray[np.float64]:
        """Logarithms of the labels' probabilities, (M, K).

        Args:
            texts: Words of M texts, numbered as those that it learned from.
        """
        words, ends = list_columns(texts.ids, texts.starts, self.columns)
        return _log_softmax(score_texts(words, ends, np.arange(ends.size - 1), *self.machine.arrays))


def _columns(texts: WordLists) -> NDArray[np.int32]:
    """The line of each word, (V,): by how many texts have it, descending; -1 for words of few texts."""
    from goldassay.kernels.text_counts import count_words

    counts = count_words(texts.ids, texts.starts, np.zeros(texts.starts.size - 1, np.int64), 1, texts.ties.size)[0]
    usual = np.flatnonzero(counts >= LEAST_TEXTS)
    usual = usual[np.lexsort((texts.ties[usual], -counts[usual]))][:MOST_WORDS]
    found = np.full(texts.ties.size, -1, np.int32)
    found[usual] = np.arange(usual.size)
    return found


def _log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


# Numbers of a word: itself, in the first half, in the second half, of the form.
N_KINDS = 4


@compiled
def placed_words(
    ids: NDArray[np.int32], starts: NDArray[np.int64], form_starts: NDArray[np.int64], dull: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The words of each text, the same by the half of the text that they are in, and those of its form.

    Args:
        ids: Word numbers of all texts and of their forms, below V.
        starts: Where each text's begin, and where the last one's end, (N + 1,).
        form_starts: Likewise for the form.
        dull: Words of the form that are left out, (V,); numbers of the four kinds of words follow each other.

    Returns:
        Numbers below 4 V, and where each text's begin, (N + 1,).
    """
    n, n_words = starts.size - 1, dull.size
    found = np.empty(2 * (starts[n] - starts[0]) + form_starts[n] - form_starts[0], np.int32)
    ends = np.zeros(n + 1, np.int64)
    at = 0
    for i in range(n):
        for place in range(starts[i], starts[i + 1]):
            in_first = 2 * (place - starts[i]) < starts[i + 1] - starts[i] - 1
            found[at] = ids[place]
            found[at + 1] = ids[place] + n_words * (1 if in_first else 2)
            at += 2
        for place in range(form_starts[i], form_starts[i + 1]):
            if not dull[ids[place]]:
                found[at] = ids[place] + 3 * n_words
                at += 1
        ends[i + 1] = at
    return found[:at].copy(), ends


@compiled
def list_columns(
    ids: NDArray[np.int32], starts: NDArray[np.int64], columns: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The distinct columns of each text, ascending, and where each text's begin, (N + 1,).

    Args:
        ids: Word numbers of all texts.
        starts: Where each text's begin, and where the last one's end, (N + 1,).
        columns: Of each word, -1 for none, (V,).
    """
    found = np.empty(starts[-1] - starts[0], np.int32)
    ends = np.zeros(starts.size, np.int64)
    n = 0
    for i in range(starts.size - 1):
        own = np.sort(columns[ids[starts[i] : starts[i + 1]]])
        for at in range(own.size):
            if own[at] >= 0 and (at == 0 or own[at] != own[at - 1]):
                found[n] = own[at]
                n += 1
        ends[i + 1] = n
    return found[:n].copy(), ends


@compiled_within
def _score(
    words: Any,
    begin: int,
    end: int,
    biases: Any,
    linear: Any,
    mixing: Any,
    factors: Any,
    sums: Any,
    pairs: Any,
    out: Any,
) -> Any:
    """Set sums to v . x, pairs to the sums over pairs of words, and out to the scores; return x."""
    n_classes = out.size
    value = 1.0 / np.sqrt(end - begin) if end > begin else 0.0
    for f in range(WIDTH):
        sums[f] = 0.0
        pairs[f] = 0.0
    for c in range(n_classes):
        out[c] = biases[c]
    for at in range(begin, end):
        weights, own = linear[words[at]], factors[words[at]]
        for c in range(n_classes):
            out[c] += weights[c] * value
        for f in range(WIDTH):
            part = own[f] * value
            sums[f] += part
            pairs[f] -= part * part
    for f in range(WIDTH):
        pairs[f] += sums[f] * sums[f]
    for c in range(n_classes):
        for f in range(WIDTH):
            out[c] += mixing[c, f] * pairs[f]
    return value


@compiled
def score_texts(
    words: NDArray[np.int32],
    ends: NDArray[np.int64],
    rows: NDArray[np.int64],
    biases: NDArray[np.float64],
    linear: NDArray[np.float64],
    mixing: NDArray[np.float64],
    factors: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Scores of some rows, (n, K).

    Args:
        words: Of `list_columns`.
        ends: Likewise.
        rows: Numbers of n rows.
        biases: As in `Machine`, like the rest.
        linear: Likewise.
        mixing: Likewise.
        factors: Likewise.
    """
    found = np.empty((rows.size, biases.size))
    sums, pairs = np.empty(WIDTH), np.empty(WIDTH)
    for at in range(rows.size):
        row = rows[at]
        _score(words, ends[row], ends[row + 1], biases, linear, mixing, factors, sums, pairs, found[at])
    return found


@compiled
def learn_epoch(
    words: NDArray[np.int32],
    ends: NDArray[np.int64],
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    rate: float,
    penalty_w: float,
    penalty_v: float,
    biases: NDArray[np.float64],
    linear: NDArray[np.float64],
    mixing: NDArray[np.float64],
    factors: NDArray[np.float64],
    biases_squares: NDArray[np.float64],
    linear_squares: NDArray[np.float64],
    mixing_squares: NDArray[np.float64],
    factors_squares: NDArray[np.float64],
) -> None:
    """Take a step for each row in turn: weight -= rate gradient / sqrt(sum of its squares so far).

    Args:
        words: Of `list_columns`.
        ends: Likewise.
        rows: Numbers of rows, in the order in which they are seen.
        labels: Of all rows.
        rate: Above 0.
        penalty_w: Of the linear weights of the words of a row.
        penalty_v: Of their factors.
        biases: As in `Machine`, like the next three; changed.
        linear: Likewise.
        mixing: Likewise.
        factors: Likewise.
        biases_squares: Sums of squared gradients, like the next three; changed.
        linear_squares: Likewise.
        mixing_squares: Likewise.
        factors_squares: Likewise.
    """
    n_classes = biases.size
    sums, pairs, steps, wrong = np.empty(WIDTH), np.empty(WIDTH), np.empty(WIDTH), np.empty(n_classes)
    for row in rows:
        begin, end = ends[row], ends[row + 1]
        value = _score(words, begin, end, biases, linear, mixing, factors, sums, pairs, wrong)
        wrong -= wrong.max()
        total = 0.0
        for c in range(n_classes):
            wrong[c] = np.exp(wrong[c])
            total += wrong[c]
        for c in range(n_classes):
            wrong[c] /= total
        wrong[labels[row]] -= 1.0
        for f in range(WIDTH):
            steps[f] = 0.0
        # np.divide: a division that may raise an error keeps the loops from being vectors.
        for c in range(n_classes):
            own, squares = mixing[c], mixing_squares[c]
            biases_squares[c] += wrong[c] * wrong[c]
            biases[c] -= rate * np.divide(wrong[c], np.sqrt(biases_squares[c]))
            for f in range(WIDTH):
                steps[f] += 2.0 * value * wrong[c] * own[f]
                slope = wrong[c] * pairs[f]
                square = squares[f] + slope * slope
                squares[f] = square
                own[f] -= rate * np.divide(slope, np.sqrt(square))
        for at in range(begin, end):
            own, squares = linear[words[at]], linear_squares[words[at]]
            for c in range(n_classes):
                slope = wrong[c] * value + penalty_w * own[c]
                square = squares[c] + slope * slope
                squares[c] = square
                own[c] -= rate * np.divide(slope, np.sqrt(square))
            own, squares = factors[words[at]], factors_squares[words[at]]
            for f in range(WIDTH):
                weight = own[f]
                slope = steps[f] * (sums[f] - weight * value) + penalty_v * weight
                square = squares[f] + slope * slope
                squares[f] = square
                own[f] = weight - rate * np.divide(slope, np.sqrt(square))
