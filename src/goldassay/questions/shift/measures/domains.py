"""How far apart are two sets of texts, and by which words?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.data.row_values import normalized_text
from goldassay.questions.shift.measures.detection import measure_detection
from goldassay.questions.shift.measures.false_alarms import check_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.stats.intervals import Interval

_WORD = r"(?u)\b\w+\b"


@dataclass(frozen=True)
class DomainWord:
    """A word that is commoner on one side.

    Attributes:
        word: In lower case.
        side: Where it is commoner: "in" or "out".
        share_in: Share of the in-distribution texts that have it.
        share_out: Share of the out-of-distribution texts that have it.
        z: Log odds ratio over its standard error; positive is commoner out of distribution.
    """

    word: str
    side: Literal["in", "out"]
    share_in: float
    share_out: float
    z: float


@dataclass(frozen=True)
class DomainShift(Result):
    """How well words tell two sets of texts apart; see `measure_domain_shift`.

    Attributes:
        auroc: Of the domain classifier on texts that it was not trained on; .5 is no shift that words show.
        interval: Of it, over examples.
        words: Those that mark each side, the most telling first.
        n_in: In-distribution texts.
        n_out: Out-of-distribution texts.
        n_words: Words that were counted.
        seed: Of folds and draws.
        skipped: Reason -> count of texts left out.
    """

    auroc: float
    interval: Interval
    words: tuple[DomainWord, ...]
    n_in: int
    n_out: int
    n_words: int
    seed: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a word, with the columns of `DomainWord`."""
        return pl.DataFrame([asdict(word) for word in self.words])


def measure_domain_shift(
    texts_in: Sequence[str],
    texts_out: Sequence[str],
    *,
    n_words: int = 15,
    max_per_side: int = 5000,
    n_folds: int = 5,
    seed: int = 0,
    n_draws: int = 200,
) -> DomainShift:
    """Size of a shift, as the AUROC of a classifier that tells the two sets of texts apart by their words.

    The classifier is a logistic regression on which words a text has (those of two texts or more), every text scaled to
    length 1 so that long ones are not told by their length alone; each text is scored by the fold that did not train
    on it, nor on a copy of it, which would give away its side or the other. A word's z is
    log((a + .5)(D - b + .5)/((b + .5)(A - a + .5))) over its standard error, with a of A texts that have it out of
    distribution and b of D in distribution.

    Args:
        texts_in: In-distribution.
        texts_out: Out-of-distribution.
        n_words: How many to name on each side.
        max_per_side: Of more texts a random subset is taken.
        n_folds: Of the cross-validation; fewer where a side has fewer texts.
        seed: Of subset, folds and draws.
        n_draws: Of the interval.

    Raises:
        InputError: A side has fewer than two different texts, or no word is in two texts.

    Source: Ben-David et al. 2010, "A theory of learning from different domains", for a classifier as a measure of
    distance; Haldane 1956 for the odds ratio.
    """
    check_draws(n_draws, seed)
    strange = [text for side in (texts_in, texts_out) for text in side if not isinstance(text, str)]
    if strange:
        raise InputError(
            f"{len(strange)} of the texts are no strings, the first is {strange[0]!r}", mend="leave them out"
        )
    rng = np.random.default_rng(seed)
    sides = [_at_most(list(texts), max_per_side, rng) for texts in (texts_in, texts_out)]
    own_texts, other_texts = (set(map(normalized_text, side)) for side in sides)
    fewest = min(len(own_texts), len(other_texts))
    if fewest < 2:
        raise InputError("a domain classifier needs two different texts a side", mend="give more texts")
    words, names = _presence([*sides[0], *sides[1]])
    outside = np.repeat([False, True], [len(sides[0]), len(sides[1])])
    dealt = _deal(own_texts, other_texts, min(n_folds, fewest), np.random.default_rng(seed))
    folds = np.array([dealt[normalized_text(text)] for side in sides for text in side])
    scores = _held_out_scores(words, outside, folds)
    found = measure_detection(scores[~outside], scores[outside], seed=seed, n_draws=n_draws)
    left_out = len(texts_in) + len(texts_out) - outside.size
    return DomainShift(
        auroc=found.auroc,
        interval=found.intervals["auroc"],
        words=_telling(words, outside, names, n_words),
        n_in=len(sides[0]),
        n_out=len(sides[1]),
        n_words=len(names),
        seed=seed,
        skipped={f"beyond a random {max_per_side:,} a side": left_out} if left_out else {},
    )


def _at_most(texts: list[str], most: int, rng: np.random.Generator) -> list[str]:
    if len(texts) <= most:
        return texts
    return [texts[i] for i in np.sort(rng.choice(len(texts), most, replace=False))]


def _presence(texts: list[str]) -> tuple[Any, list[str]]:
    """Which words of two texts or more each text has, (N, V) sparse."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(binary=True, min_df=2, token_pattern=_WORD, dtype=np.float64)
    try:
        return vectorizer.fit_transform(texts), vectorizer.get_feature_names_out().tolist()
    except ValueError as error:
        raise InputError("no word is in two texts", mend="give texts in words") from error


def _deal(inside: set[str], outside: set[str], n_folds: int, rng: np.random.Generator) -> dict[str, int]:
    """{text: its fold}: dealt in turn, those of both sides between those of one, so that every fold has both sides."""
    order: list[str] = []
    for texts in (sorted(inside - outside), sorted(inside & outside), sorted(outside - inside)):
        order += [texts[i] for i in rng.permutation(len(texts))]
    return {text: place % n_folds for place, text in enumerate(order)}


def _held_out_scores(words: Any, outside: NDArray[np.bool_], folds: NDArray[np.int64]) -> NDArray[np.float64]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    features = normalize(words)
    scores = np.empty(outside.size)
    for fold in range(int(folds.max()) + 1):
        test = folds == fold
        model = LogisticRegression(C=10.0, solver="liblinear", class_weight="balanced")
        scores[test] = model.fit(features[~test], outside[~test]).decision_function(features[test])
    return scores


def _telling(words: Any, outside: NDArray[np.bool_], names: list[str], n_words: int) -> tuple[DomainWord, ...]:
    n_out, n_in = int(outside.sum()), int((~outside).sum())
    out = np.asarray(words[outside].sum(axis=0)).ravel()
    inside = np.asarray(words[~outside].sum(axis=0)).ravel()
    cells = [out + 0.5, n_out - out + 0.5, inside + 0.5, n_in - inside + 0.5]
    odds = np.log(cells[0] * cells[3] / (cells[1] * cells[2]))
    z = odds / np.sqrt(sum(1 / cell for cell in cells))
    order = np.argsort(z, kind="stable")
    chosen = [*order[::-1][:n_words], *order[:n_words]]
    return tuple(
        DomainWord(names[i], "out" if z[i] > 0 else "in", float(inside[i] / n_in), float(out[i] / n_out), float(z[i]))
        for i in dict.fromkeys(chosen)
        if z[i] != 0
    )


def shared_texts(texts_in: Sequence[str], texts_out: Sequence[str]) -> NDArray[np.bool_]:
    """Which out-of-distribution texts are in-distribution as well, without case and with single spaces, (N_out,)."""
    own = {normalized_text(text) for text in texts_in}
    return np.array([normalized_text(text) in own for text in texts_out], dtype=np.bool_)
