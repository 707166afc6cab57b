"""Does the score hold on another distribution, how far apart are the two sets of texts, and by which words?"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.arguments import check_whole
from goldassay.core.errors import InputError
from goldassay.core.numbers import points
from goldassay.core.results import Result
from goldassay.data.fields import normalized_text
from goldassay.questions.shift.measures.detection import measure_detection
from goldassay.questions.shift.measures.false_alarms import check_draws, check_share
from goldassay.questions.shift.measures.set_metrics import (
    CORRELATIONS,
    METRICS,
    EvaluationSet,
    Excess,
    Metric,
    SetGap,
    Spread,
    measure_excess,
    measure_loss,
    spread_of,
)
from goldassay.stats.bootstrap import (
    counts_right,
    percentile_interval,
    resample_runs,
    score_interval,
)
from goldassay.stats.intervals import Interval, difference_interval, few_runs_caveat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class GeneralizationGap(Result):
    """A model's metric on its own distribution and on others; see `generalization_gap`.

    Attributes:
        sets: One row a set, the in-distribution set first.
        in_distribution: Name of that set.
        metric: What was measured.
        train: Name of the training set.
        n_runs: R.
        level: Of the intervals.
        interval_method: How they were made.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of sets without a value.
    """

    sets: tuple[SetGap, ...]
    in_distribution: str
    metric: Metric
    train: str
    n_runs: int
    level: float
    interval_method: str
    seed: int
    n_draws: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, test: str) -> SetGap:
        for row in self.sets:
            if row.test == test:
                return row
        raise KeyError(test)

    def to_frame(self) -> pl.DataFrame:
        """One row a set, with the columns of `SetGap`."""
        return pl.DataFrame([asdict(row) for row in self.sets])


class _Measured(NamedTuple):
    """A set with its value and the interval of that, and its values over draws of runs and examples."""

    set: EvaluationSet
    by_run: NDArray[np.float64]
    draws: NDArray[np.float64]
    binary: bool
    bounds: Interval
    spread: Spread
    excess: Excess

    @property
    def value(self) -> float:
        return float(self.by_run.mean())


def generalization_gap(
    scores: Mapping[str, ArrayLike],
    in_distribution: str | None = None,
    *,
    gold: Mapping[str, ArrayLike] | None = None,
    clusters: Mapping[str, ArrayLike] | None = None,
    constants: Mapping[str, ArrayLike] | None = None,
    metric: Metric = "accuracy",
    train: str = "",
    together: int | None = None,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> GeneralizationGap:
    """Metric on each set, gap = metric(in-distribution) - metric(set), relative to metric and to its floor.

    The floor is what the best answer that is the same for every example scores; see `measure_excess`. What a model has
    not learned it cannot lose: where the in-distribution score is not surely above its floor, no gap is given relative
    to anything. loss = gap/(metric(in-distribution) - floor), see `measure_loss`.

    Intervals: the sets are independent samples, so the examples of each are drawn with replacement by themselves; runs
    are weighted by one draw for all sets (`resample_runs`), since the same models answer them. A single run's accuracy
    has a Wilson interval, and its gap Newcombe's, which do not collapse where everything is right. With one run nothing
    is known of other seeds, and the result says so.

    Args:
        scores: Set name to per-example scores (correctness, exact match, F1), (N_set,) or (R, N_set); with `gold`, to
            predictions (class codes for "accuracy", numbers for a correlation).
        in_distribution: Which set that is; the first by default.
        gold: Set name to targets, (N_set,). A correlation needs them.
        clusters: Set name to names of what its examples share, (N_set,), for those sets where they do: whole clusters
            are then drawn, for a single run as well.
        constants: Set name to what constant answers score on each example, (C, N_set), such as `label_constants` of the
            labels; for accuracy with `gold` they are made of it. Without them the floor is not known, and gaps are
            relative wherever the score is surely above 0. Correlations have the floor 0, "mean" without them.
        metric: "accuracy", "exact_match" and "f1" are means of fractions, "mean" of any numbers; "pearson" and
            "spearman" are correlations of predictions with targets.
        train: Name of the training set, for the table.
        together: How many losses the worst is taken of; by default as many as there are other sets.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Raises:
        InputError: A set is missing, empty or not finite, sets are of different numbers of runs, or a setting is out of
            range. A correlation with a constant is not refused: it is NaN with its reason.

    Source: Hendrycks et al. 2020, "Pretrained Transformers Improve Out-of-Distribution Robustness"; Newcombe 1998,
    "Interval estimation for the difference between independent proportions".
    """
    check_share(level, "level")
    check_draws(n_draws, seed)
    sets = _evaluation_sets(scores, in_distribution, gold, clusters or {}, constants or {}, metric)
    together = max(1, len(sets) - 1) if together is None else together
    check_whole("together", together, 1)
    n_runs = sets[0].n_runs
    rng = np.random.default_rng(seed)
    weights = resample_runs(n_runs, rng, n_draws)
    measured = [_measure(one, weights, rng, seed, level) for one in sets]
    rows = tuple(_row(one, measured[0], train, level, together) for one in measured)
    reasons = [row.reason for row in rows if math.isnan(row.value)]
    return GeneralizationGap(
        sets=rows,
        in_distribution=sets[0].name,
        metric=metric,
        train=train,
        n_runs=n_runs,
        level=level,
        interval_method=_interval_method(n_runs, measured),
        seed=seed,
        n_draws=n_draws,
        caveats=_caveats(n_runs),
        skipped={reason: reasons.count(reason) for reason in reasons},
    )


def _evaluation_sets(
    scores: Mapping[str, ArrayLike],
    in_distribution: str | None,
    gold: Mapping[str, ArrayLike] | None,
    clusters: Mapping[str, ArrayLike],
    constants: Mapping[str, ArrayLike],
    metric: Metric,
) -> list[EvaluationSet]:
    """Check all sets and put the in-distribution one first."""
    if metric not in METRICS:
        raise InputError(f"there is no metric {metric!r}", mend=f"choose one of {', '.join(METRICS)}")
    if not scores:
        raise InputError("no evaluation set was given", mend="give the in-distribution set and others")
    first = next(iter(scores)) if in_distribution is None else in_distribution
    if first not in scores:
        raise InputError(f"there is no set {first!r}", mend=f"choose one of {', '.join(map(repr, scores))}")
    missing = [] if gold is None else [name for name in scores if name not in gold]
    if missing:
        raise InputError(f"there are no targets of {missing[0]!r}", mend="give gold for every set, or for none")
    names = [first, *(name for name in scores if name != first)]
    strange = [name for name in clusters if name not in scores]
    if strange:
        raise InputError(f"there is no set {strange[0]!r} to cluster", mend=f"choose of {', '.join(map(repr, scores))}")
    sets = [
        EvaluationSet(
            name, scores[name], None if gold is None else gold[name], metric, clusters.get(name), constants.get(name)
        )
        for name in names
    ]
    for one in sets[1:]:
        if one.n_runs != sets[0].n_runs:
            raise InputError(
                f"{first!r} has scores of {sets[0].n_runs} runs, {one.name!r} of {one.n_runs}",
                mend="give the same runs in the same order for every set",
            )
    return sets


def _measure(
    one: EvaluationSet, weights: NDArray[np.float64], rng: np.random.Generator, seed: int, level: float
) -> _Measured:
    by_run = np.full(one.n_runs, np.nan) if one.undefined() else one.by_run()
    by_draw, constants = one.draws_beside_constants(rng, len(weights))
    draws = (weights * by_draw).sum(axis=1)
    scale = _scale(one.metric)
    spread = spread_of(one, by_run, by_draw, constants)
    excess = measure_excess(spread, level)
    if one.gold is None:
        # Other questions show the mean score on a set as well, with the same interval.
        bounds = score_interval(one.values, one.codes, seed=seed, n_draws=len(weights), level=level, scale=scale)
    elif np.isnan(by_run).any():
        bounds = Interval(math.nan, math.nan, level)
    else:
        # Ties of examples that are drawn twice pull correlations of draws down, so that all may lie below the value:
        # its interval is that of its excess over 0.
        bounds = Interval(excess.floor + excess.low, excess.floor + excess.high, level).within(*scale)
    binary = one.gold is None and counts_right(one.values, one.codes, scale)
    return _Measured(one, by_run, draws, binary, bounds, spread, excess)


def _row(one: _Measured, own: _Measured, train: str, level: float, together: int) -> SetGap:
    gap, gap_bounds = own.value - one.value, _gap_bounds(one, own, level)
    relative, relative_bounds = math.nan, Interval(math.nan, math.nan, level)
    loss, loss_bounds, excess_loss, excess_bounds = relative, relative_bounds, relative, relative_bounds
    learned = (own.bounds.low if math.isnan(own.excess.floor) else own.excess.low) > 0
    if learned and one is own:
        relative = loss = excess_loss = 0.0
        relative_bounds = loss_bounds = excess_bounds = Interval(0.0, 0.0, level)
    elif learned and not math.isnan(gap):
        relative, relative_bounds = gap / own.value, _relative_bounds(one, own, level)
        both = own.spread, one.spread, gap_bounds
        loss, loss_bounds = measure_loss(*both, level=level, together=together)
        excess_loss, excess_bounds = measure_loss(*both, level=level, above_floors=True)
    reason = one.set.undefined() or own.set.undefined()
    if not reason and not learned:
        reason = f"{one.set.metric} on {own.set.name!r} is not significantly above {_floor_in_words(own.excess.floor)}"
        reason += ", and what was not learned is not lost"
    return SetGap(
        train=train,
        test=one.set.name,
        metric=one.set.metric,
        n=one.set.n_examples,
        value=one.value,
        low=one.bounds.low,
        high=one.bounds.high,
        sd=float(one.by_run.std(ddof=1)) if len(one.by_run) > 1 else math.nan,
        gap=gap,
        gap_low=gap_bounds.low,
        gap_high=gap_bounds.high,
        relative_gap=relative,
        relative_low=relative_bounds.low,
        relative_high=relative_bounds.high,
        floor=one.excess.floor,
        excess=one.excess.value,
        excess_low=one.excess.low,
        excess_high=one.excess.high,
        loss=loss,
        loss_low=loss_bounds.low,
        loss_high=loss_bounds.high,
        excess_loss=excess_loss,
        excess_loss_low=excess_bounds.low,
        excess_loss_high=excess_bounds.high,
        effective_clusters=one.spread.effective,
        reason=reason,
    )


def _floor_in_words(floor: float) -> str:
    """The floor in points, or 0 where it is not known."""
    return "0" if math.isnan(floor) or floor == 0 else f"its floor, {points(floor)}"


def _scale(metric: Metric) -> tuple[float, float]:
    """The ends of a metric's scale."""
    return (-1.0 if metric in CORRELATIONS else 0.0, 1.0) if metric != "mean" else (-math.inf, math.inf)


def _gap_bounds(one: _Measured, own: _Measured, level: float) -> Interval:
    gap = own.value - one.value
    if math.isnan(gap):
        return Interval(math.nan, math.nan, level)
    if one is own:
        return Interval(0.0, 0.0, level)
    if not (one.binary and own.binary):
        lowest, highest = _scale(one.set.metric)
        return percentile_interval(own.draws - one.draws, level).within(lowest - highest, highest - lowest)
    return difference_interval(own.value, own.bounds, one.value, one.bounds, "Newcombe")


def _relative_bounds(one: _Measured, own: _Measured, level: float) -> Interval:
    shares = _scale(one.set.metric)[0] == 0
    defined = own.draws > 0 if shares else own.draws != 0
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.where(defined, (own.draws - one.draws) / own.draws, np.nan)
    return percentile_interval(relative, level).within(-math.inf, 1.0 if shares else math.inf)


def _interval_method(n_runs: int, measured: list[_Measured]) -> str:
    drawn = "clusters of examples" if any(one.set.codes is not None for one in measured) else "examples"
    if n_runs > 1:
        return f"bootstrap over {drawn} and runs"
    if all(one.binary for one in measured):
        return "over examples alone: Wilson, Newcombe for gaps, bootstrap for relative gaps"
    return f"bootstrap over {drawn} alone"


def _caveats(n_runs: int) -> tuple[str, ...]:
    if n_runs == 1:
        return ("One run: the intervals are over examples alone, and another seed may move the gap further.",)
    return few_runs_caveat(n_runs)


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
        words=_frequent_words(words, outside, names, n_words),
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


def _frequent_words(words: Any, outside: NDArray[np.bool_], names: list[str], n_words: int) -> tuple[DomainWord, ...]:
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
