"""Effects: numbers that are 0 where a flaw is absent, of several readers at once, with intervals that count together.

A reader of a part of the input names a label for each test example. Three measures say what it gained:

- accuracy skill, (accuracy - b)/(1 - b), with b the share of the most frequent label;
- balanced skill, (mean recall - 1/K)/(1 - 1/K), of decisions by probability over label share;
- information share, the mean of log2 q(y) - log2 p(y) over that of -log2 p(y).

Each is a sum of ratios of sums over examples, so that one resampling of clusters gives all of them, their
linearized standard errors and thereby the studentized statistics t = (resampled - measured)/(resampled standard
error), jointly. Lower ends are simultaneous over all effects (the quantile of the largest |t|), since the worst of
them decides; upper ends are ordinary, since all of them must lie below a limit.

Chosen over the percentile bootstrap, which is too narrow for few clusters and rare labels, and over the bias-corrected
accelerated one, which has no simultaneous form. The standard error is linearized because a nested bootstrap costs a
thousand times as much and agrees with it from some twenty clusters on; below that, Student's t takes over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from goldassay.core.cores import one_blas_thread
from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.bootstrap import LEVEL, Ratios, Resampled, resample_ratios
from goldassay.stats.clusters import dense_codes, effective_clusters, variance_of_mean
from goldassay.stats.detection import KindLimit  # noqa: TC001 - results are read by their types
from goldassay.stats.intervals import Interval, PairedShares, exact_upper, normal_level, normal_quantile, wilson_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

Measure = Literal["accuracy skill", "balanced skill", "information share", "position effect", "bias"]
ACCURACY: Final = "accuracy skill"
BALANCED: Final = "balanced skill"
INFORMATION: Final = "information share"
# Of a judge: what a seat adds to a win rate.
POSITION: Final = "position effect"
# Of a judge: how far its mean score lies from people's, as a share of the scale.
BIAS: Final = "bias"

# Labels with fewer test rows are one class of the balanced skill: a recall of fewer is mostly noise.
LEAST_ROWS = 50
# Fewer independent clusters cannot support the word sound, and Student's t bounds the quantiles.
LEAST_CLUSTERS = 20
# A rule that picks in fewer items shows nothing of others, and its jumps would set the quantile of all.
LEAST_ITEMS = 10
# Where fewer clusters differ from what nearly all have in common, a standard error says too little.
LITTLE_SPREAD = 5
_MOST_NAMED = 5
ONE_LABEL = "all test rows have the same label"
# Of a reader that gives every row one answer: its value is 0, and no interval is needed.
CONSTANT_ANSWER = "it gives all rows one answer, and so gains nothing"
SPARSE = f"it picks in fewer than {LEAST_ITEMS} items"


@dataclass(frozen=True)
class ReaderPredictions:
    """What one reader of one part of the input says of each test example.

    Attributes:
        part: Of the input, such as "hypothesis".
        reader: Name of the reader.
        predictions: Codes of the labels named by R runs, (R, N); None where only `correct` is known.
        lifted: The label with the largest ratio of probability to training share, (R, N); None takes `predictions`.
        log_probabilities: Natural logarithm of the gold label's probability, (R, N); None without probabilities.
        correct: Share of the truth in [0, 1] that R runs got, (R, N), where the labels named are not known.
        chance: What guessing gets of each example, (N,), where that differs from example to example, as with choices:
            the accuracy skill is then sum(right - chance)/sum(1 - chance), and there is no other measure.
        applies: Where the reader says anything, (N,), of one that may abstain and then counts as chance; else
            everywhere. No end of its skill lies beyond what it could gain or lose there.
        of_places: Whether the labels are places of choices, of which a balanced skill says nothing more.
    """

    part: str
    reader: str
    predictions: NDArray[np.integer] | None
    lifted: NDArray[np.integer] | None = None
    log_probabilities: NDArray[np.floating] | None = None
    correct: NDArray[np.floating] | None = None
    chance: NDArray[np.floating] | None = None
    applies: NDArray[np.bool_] | None = None
    of_places: bool = False

    @property
    def n_examples(self) -> int:
        """N."""
        said: Any = self.correct if self.predictions is None else self.predictions
        return int(np.shape(said)[-1])

    def right(self, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mean over runs of what each example got, (N,)."""
        if self.predictions is not None:
            return np.asarray((np.atleast_2d(self.predictions) == y).mean(axis=0))
        return np.asarray(np.atleast_2d(np.asarray(self.correct, dtype=np.float64)).mean(axis=0))

    def take(self, rows: NDArray[np.integer]) -> ReaderPredictions:
        """The same of some examples."""
        of_examples = ("predictions", "lifted", "log_probabilities", "correct", "chance", "applies")
        known = {name: getattr(self, name) for name in of_examples}
        some: dict[str, Any] = {
            name: np.asarray(values)[..., rows] for name, values in known.items() if values is not None
        }
        return replace(self, **some)

    def lifted_right(self, y: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mean over runs of what each example got by its lifted label, of labels that count as one, (N,).

        Args:
            y: Codes of the labels, (N,).
            groups: The class of each label, of `balanced_classes`, (K,).
        """
        named = self.named_classes(groups)
        return self.right(y) if named is None else np.asarray((named == groups[y]).mean(axis=0))

    def named_classes(self, groups: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The class of each lifted label, (R, N); None where no labels are known."""
        if self.predictions is None:
            return None
        labels = np.atleast_2d(self.predictions if self.lifted is None else self.lifted)
        return np.where(labels < 0, -2, groups[labels])

    def answers_alike(self, y: NDArray[np.int64], named: NDArray[np.integer] | None) -> bool:
        """Whether each run gives all examples one label: `named`, or else the one of all that it gets right."""
        if named is not None:
            rows = np.atleast_2d(named)
            return bool((rows == rows[:, :1]).all())
        runs = np.atleast_2d(np.asarray(self.correct, dtype=np.float64))
        return all(np.array_equal(run, y == y[run.argmax()]) for run in runs)


@dataclass(frozen=True)
class Limits:
    """From which effect on a verdict is caution, and from which unsound."""

    caution: float
    unsound: float


@dataclass(frozen=True)
class Effect(Result):
    """One effect with its interval.

    Attributes:
        part: Of the input.
        reader: What read it.
        measure: `ACCURACY`, `BALANCED`, `INFORMATION` or, of a judge, `POSITION` or `BIAS`.
        value: 0 without a flaw, at most 1; 0 of a reader that gives all rows one answer.
        low: Lower end, simultaneous with those of all effects measured together at 95 %; of an information share, which
            decides nothing, the ordinary one.
        high: One-sided upper end at 97.5 %.
        ordinary_low: One-sided lower end at 97.5 % of this effect alone.
        standard_error: Linearized, over clusters.
        caution: Limit of a caution.
        unsound: Limit of unsound.
        reason: Why it is not measurable; "" where it is.
        score: What the reader gets: accuracy or, of a balanced skill, mean recall; NaN of other measures.
        baseline: The share of the most frequent label, 1/K, or what guessing gets.
    """

    part: str
    reader: str
    measure: Measure
    value: float
    low: float
    high: float
    ordinary_low: float
    standard_error: float
    caution: float
    unsound: float
    reason: str = ""
    score: float = math.nan
    baseline: float = math.nan

    @property
    def gain(self) -> Interval:
        """What the reader gets above the baseline, as an ordinary 95 % interval of fractions."""
        scale = 1 - self.baseline
        return Interval(self.ordinary_low * scale, self.high * scale)

    @property
    def measurable(self) -> bool:
        """Whether it has an interval."""
        return not self.reason

    @property
    def is_constant(self) -> bool:
        """Whether its reader gives all rows one answer: it neither shows a flaw nor hides one."""
        return self.reason == CONSTANT_ANSWER

    @property
    def upper(self) -> float:
        """What the effect may reach: its upper end, but never less than 1.96 standard errors above 0.

        Readers may do worse than guessing by the way folds fall; that shows no flaw to be smaller.
        """
        return max(self.high, normal_quantile(LEVEL) * self.standard_error)


@dataclass(frozen=True)
class Effects(Result):
    """All effects of one question, measured together.

    Attributes:
        effects: In the order of the readings, of each the three measures that it allows.
        n_examples: N.
        n_clusters: G, of examples that do not vary independently.
        effective_clusters: N²/sum_g n_g²: how many equal clusters would tell as much.
        quantile: Of the largest |t|, by which the lower ends are set.
        contenders: Labels that may be the most frequent: their share is not surely below the largest.
        skipped: What was left out, and why.
        limits: Of detection, by kind of cue, where cues were planted.
    """

    effects: tuple[Effect, ...]
    n_examples: int
    n_clusters: int
    effective_clusters: float
    quantile: float
    contenders: tuple[int, ...]
    skipped: tuple[str, ...] = ()
    limits: tuple[KindLimit, ...] = ()

    def of(self, part: str) -> tuple[Effect, ...]:
        """Those of one part of the input."""
        return tuple(each for each in self.effects if each.part == part)


def measure_effects(
    readings: Sequence[ReaderPredictions],
    gold: NDArray[np.integer],
    n_classes: int,
    limits: Mapping[Measure, Limits],
    *,
    train_counts: NDArray[np.integer] | None = None,
    clusters: NDArray[np.integer] | None = None,
    seed: int = 0,
    n_draws: int = 2000,
    by_kind: bool = False,
    label_names: Sequence[str] = (),
) -> Effects:
    """Measure what each reader of each part of the input gained, with intervals that hold together.

    Accuracy skill: with d_ik = right_i - [y_i = k], the skill is the least over k of mean(d_ik)/(1 - b), b the share of
    the most frequent label. Its lower end is the least over all labels of their lower ends (an intersection-union test
    needs no correction); its upper end the least over the C contenders of their one-sided upper ends at 1 - .025/C
    (Bonferroni). No end of a skill is narrower than Newcombe's for paired shares, at the effective number of rows.

    Balanced skill: labels with fewer than 50 test rows are one class; where that has fewer too, its rows are left out.

    Lower ends hold together by the largest |t| over all skills. Where fewer than 5 clusters differ from what nearly all
    have in common, no end is nearer than Clopper and Pearson's bound of the share of such clusters, at .025 (lower ends
    at .025/m over the m such effects), times the largest change of the effect that is possible.

    Information share: p_k = (n_k + 1/2)/(n + K/2) from the training part; without one, from the other of two folds of
    whole clusters. The reader's probability q counts as .99 q + .01 p, so that one sure error cannot outweigh the rest.

    Args:
        readings: What the readers said of N examples.
        gold: Codes of the labels, (N,).
        n_classes: K.
        limits: Of each measure.
        train_counts: Training rows of each label, (K,).
        clusters: Codes from 0 of examples that do not vary independently, (N,); each is its own if not given.
        seed: Of the draws.
        n_draws: How often clusters are drawn.
        by_kind: Draw kinds of clusters with equal sums in place of clusters, which is the same at a fraction of the
            time where there are few kinds, but gives an effect other draws in the company of other readings.
        label_names: By which labels that are left out are named, (K,); by their codes if not given.

    Raises:
        InputError: There are no examples or no readings, or their lengths differ.

    Source: Westfall and Young 1993 (the largest statistic); Cameron, Gelbach and Miller 2008 (studentized resampling of
    clusters); Clopper and Pearson 1934 (little spread); Newcombe 1998 (paired shares; squares of distances to Wilson's
    bounds); Berger 1982 (intersection-union tests); Ethayarajh, Choi and Swayamdipta 2022 (information).
    """
    y = np.asarray(gold, dtype=np.int64)
    if not y.size or not readings:
        raise InputError("there is nothing to judge: no example or no reader", mend="give both")
    if any(each.n_examples != y.size for each in readings):
        raise InputError("readers and gold labels are of different numbers of examples", mend="give the same examples")
    codes = dense_codes(clusters, y.size)
    effective = effective_clusters(codes)
    rng = np.random.default_rng(seed)
    shares = np.bincount(y, minlength=n_classes) / y.size
    contenders = find_contenders(y, shares, codes)
    ratios = Ratios()
    plans: list[_Plan] = []
    skipped: list[str] = []
    groups, left_out = balanced_classes(y, n_classes, label_names)
    if any(each.chance is None and not each.of_places for each in readings):
        skipped += left_out
    p = _label_shares(y, n_classes, train_counts, codes, rng)
    for each in readings:
        if each.chance is not None:
            plans.append(_plan_over_chance(each, y, codes, ratios))
            continue
        plans.append(_plan_accuracy(each, y, shares, contenders, codes, ratios))
        if not each.of_places:
            plans.append(_plan_balanced(each, y, groups, codes, ratios))
        if each.log_probabilities is not None:
            plans.append(_plan_information(each, y, p, codes, ratios))
    with one_blas_thread():
        found = resample_ratios(ratios, codes, rng, n_draws, few=effective < LEAST_CLUSTERS, by_kind=by_kind)
    skills = [plan for plan in plans if plan.leading is not None and plan.measure != INFORMATION]
    places = [plan.leading for plan in skills if plan.leading is not None and found.errors[plan.leading] > 0]
    together = found.quantile([at for at in places if math.isfinite(found.quantile(at))])
    # Rules that pick alike are one effect under two names.
    little = {(plan.measure, plan.value, plan.reading.right(y).tobytes()) for plan in skills if plan.is_little}
    tail = (1 - LEVEL) / 2 / max(1, len(little))
    effects = tuple(plan.effect(found, together, tail, effective, limits[plan.measure]) for plan in plans)
    return Effects(effects, y.size, int(codes.max()) + 1, effective, together, contenders, tuple(skipped))


@dataclass(frozen=True)
class _Spread:
    """In how few clusters a share differs from what nearly all clusters have in common.

    Attributes:
        n_unlike: Clusters that differ from the commonest value.
        effective: Effective clusters of the rows that count.
        below: The effect's largest possible fall, if all clusters changed.
        above: The largest possible rise.
    """

    n_unlike: int
    effective: float
    below: float
    above: float

    @classmethod
    def of(
        cls,
        above: NDArray[np.float64],
        below: NDArray[np.float64],
        codes: NDArray[np.int64],
        change: tuple[float, float],
    ) -> _Spread:
        """Of a ratio of sums over rows, (N,) each, and the largest fall and rise of the effect."""
        rows = np.bincount(codes, below)
        kept = rows > 0
        rows = rows[kept]
        shares = np.round(np.bincount(codes, above)[kept] / rows, 9)
        # Where few differ, the middle value is the commonest one, and is found without sorting all.
        common = np.partition(shares, shares.size // 2)[shares.size // 2]
        effective = float(rows.sum() ** 2 / (rows @ rows))
        return cls(int(np.count_nonzero(shares != common)), effective, *change)

    def reach(self, tail: float) -> NDArray[np.float64]:
        """How far the effect may fall and rise if as many clusters differ as may by Clopper and Pearson, (2,)."""
        return exact_upper(self.n_unlike, self.effective, tail) * np.array([self.below, self.above])


def _is_little(spreads: Sequence[_Spread]) -> bool:
    return sum(each.n_unlike for each in spreads) < LITTLE_SPREAD


@dataclass(frozen=True)
class _Plan:
    """Which resampled ratios make an effect, and how its ends follow from them.

    Attributes:
        reading: Of which reader.
        measure: Which measure.
        leading: The ratio whose t stands for the effect in the largest |t|; None where it is not measurable.
        value: The effect.
        reason: Why it is not measurable.
        lower: Ratios of which the least lower end counts, with the shares that Newcombe's interval needs.
        upper: Ratios of which the least upper end counts, likewise.
        scale: What the ratios are divided by.
        recalls: Of a balanced skill.
        spreads: Of the shares that the effect is a sum of, but for `lower` and `upper`, which have their own.
        possible: The least and the largest value that there can be.
        got: What the reader gets, and the baseline.
    """

    reading: ReaderPredictions
    measure: Measure
    leading: int | None
    value: float = math.nan
    reason: str = ""
    lower: tuple[_Paired, ...] = ()
    upper: tuple[_Paired, ...] = ()
    scale: float = 1.0
    recalls: _Recalls | None = None
    spreads: tuple[_Spread, ...] = ()
    possible: tuple[float, float] = (-1.0, 1.0)
    got: tuple[float, float] = (math.nan, math.nan)

    @property
    def is_little(self) -> bool:
        """Whether some end is by Clopper and Pearson."""
        if self.lower:
            return any(each.is_little for each in self.lower)
        return _is_little(self.spreads)

    def effect(self, found: Resampled, together: float, tail: float, effective: float, limits: Limits) -> Effect:
        """The effect with its ends; the lower one by the quantile of all, and by `tail` where little varies."""
        low = high = ordinary = error = math.nan
        reason = self.reason
        if not reason and found.n_clusters < 2:
            reason = "all test rows are in one cluster"
        elif self.leading is not None:
            error = float(found.errors[self.leading]) / self.scale
            if self.lower:
                low = min(each.low(found, together, tail, effective) for each in self.lower) / self.scale
                ordinary = min(each.low(found, None, (1 - LEVEL) / 2, effective) for each in self.lower) / self.scale
                level = 1 - (1 - LEVEL) / len(self.upper)
                high = min(each.high(found, level, effective) for each in self.upper) / self.scale
            elif math.isinf(found.quantile(self.leading)) and error > 0:
                reason = "the rows of some label are in too few clusters"
            else:
                low, ordinary, high = self._ends(found, together, tail, effective)
        return Effect(
            self.reading.part,
            self.reading.reader,
            self.measure,
            self.value,
            # A reader may lose more than there is to be gained.
            min(max(low, self.possible[0]), self.value) if not math.isnan(low) else low,
            min(high, self.possible[1]) if not math.isnan(high) else high,
            ordinary,
            error,
            limits.caution,
            limits.unsound,
            reason,
            *self.got,
        )

    def _ends(self, found: Resampled, together: float, tail: float, effective: float) -> tuple[float, float, float]:
        """Ends of one ratio or a sum of them: the lower one with all effects, the ordinary lower one, the upper one."""
        at = self.leading
        assert at is not None
        variance = float(found.errors[at]) ** 2
        own = found.quantile(at) if variance > 0 else 0.0
        up = found.upper_quantile(at) if variance > 0 else 0.0
        wide = together if variance > 0 and self.measure != INFORMATION else own
        bounds = np.zeros((2, 2))
        for row, (z, exact) in enumerate(((wide, tail), (own, (1 - LEVEL) / 2))):
            bounds[row] = np.array([z, up]) * math.sqrt(variance) / self.scale
            if self.is_little:
                bounds[row] = np.maximum(bounds[row], sum(each.reach(exact) for each in self.spreads))
            elif self.recalls is not None:
                z = normal_quantile(LEVEL) if row else max(z, normal_quantile(LEVEL))
                bounds[row] = np.maximum(bounds[row], self.recalls.reach(variance, effective, z) / self.scale)
        low, ordinary, high = self.value - bounds[0, 0], self.value - bounds[1, 0], self.value + bounds[1, 1]
        return float(low), float(ordinary), float(high)


@dataclass(frozen=True)
class _Recalls:
    """Recall and rows of each class of a balanced skill, both (K,)."""

    recall: NDArray[np.float64]
    rows: NDArray[np.float64]

    def reach(self, variance: float, effective: float, z: float) -> NDArray[np.float64]:
        """How far below and above the mean recall its bounds lie, from Wilson's bounds of each recall, (2,).

        Args:
            variance: Of the mean recall: the rows count as so many independent ones as would give it.
            effective: Effective clusters, which count where nothing varies.
            z: Normal quantile.
        """
        recall, n_classes = self.recall, self.recall.size
        plain = float((recall * (1 - recall) / self.rows).sum()) / n_classes**2
        known = variance > 0 and plain > 0
        rows = self.rows / max(1.0, variance / plain) if known else self.rows * min(1.0, effective / self.rows.sum())
        low, high = wilson_bounds(recall * rows, rows, normal_level(z))
        return np.sqrt(((np.stack([recall - low, high - recall]) / n_classes) ** 2).sum(axis=1))


@dataclass(frozen=True)
class _Paired:
    """The ratio that is the difference of two shares of the same rows: right, and of one label."""

    at: int
    shares: PairedShares
    spread: _Spread

    @property
    def is_little(self) -> bool:
        """Whether its ends are at least Clopper and Pearson's."""
        return _is_little([self.spread])

    def low(self, found: Resampled, quantile: float | None, tail: float, effective: float) -> float:
        """Lower end: by the quantile of all effects, or by its own."""
        error = float(found.errors[self.at])
        normal = normal_quantile(LEVEL)
        z = (found.quantile(self.at) if quantile is None else quantile) if error > 0 else normal
        value = float(found.values[self.at])
        if self.is_little:
            return value - max(z * error, float(self.spread.reach(tail)[0]))
        level = normal_level(min(z, normal) if quantile is None else z)
        return min(self.shares.interval(error**2, effective, level).low, value - z * error)

    def high(self, found: Resampled, level: float, effective: float) -> float:
        """Upper end at a two-sided level."""
        error, value = float(found.errors[self.at]), float(found.values[self.at])
        drawn = value + found.upper_quantile(self.at, level) * error if error > 0 else value
        if self.is_little:
            return max(drawn, value + float(self.spread.reach((1 - level) / 2)[1]))
        return max(drawn, self.shares.interval(error**2, effective, level).high)


def find_contenders(y: NDArray[np.int64], shares: NDArray[np.float64], codes: NDArray[np.int64]) -> tuple[int, ...]:
    """Labels whose share of the rows is not surely (97.5 %, clusters drawn) below the largest."""
    top = int(shares.argmax())
    found = []
    for label in np.flatnonzero(shares).tolist():
        error = math.sqrt(variance_of_mean((y == label).astype(np.float64) - (y == top), codes))
        if label == top or shares[label] - shares[top] + normal_quantile(LEVEL) * error >= 0:
            found.append(label)
    return tuple(found)


def balanced_classes(
    y: NDArray[np.int64], n_classes: int, label_names: Sequence[str] = ()
) -> tuple[NDArray[np.int64], list[str]]:
    """The class of each label in the balanced skill, (K,): its own, one for all rare labels, or -1."""
    counts = np.bincount(y, minlength=n_classes)
    frequent = np.flatnonzero(counts >= LEAST_ROWS)
    groups = np.full(n_classes, -1, dtype=np.int64)
    groups[frequent] = np.arange(frequent.size)
    rare = np.flatnonzero((counts > 0) & (counts < LEAST_ROWS))
    rows = int(counts[rare].sum())
    if rows >= LEAST_ROWS:
        groups[rare] = frequent.size
    elif rows:
        names = [label_names[each] if each < len(label_names) else str(each) for each in rare[:_MOST_NAMED].tolist()]
        names += [f"{rare.size - _MOST_NAMED} others"] if rare.size > _MOST_NAMED else []
        said = f"{rows} test row{'s' if rows > 1 else ''} of label{'s' if rare.size > 1 else ''} {', '.join(names)}"
        why = f"fewer than {LEAST_ROWS}, too few for a recall"
        return groups, [f"{said} {'are' if rows > 1 else 'is'} left out of the balanced skill: {why}."]
    return groups, []


def _label_shares(
    y: NDArray[np.int64],
    n_classes: int,
    train_counts: NDArray[np.integer] | None,
    codes: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """P of each row's gold label, (N,): from the training part, or from the other fold of whole clusters."""
    if train_counts is not None:
        counts = np.asarray(train_counts, dtype=np.float64)
        return np.asarray(((counts + 0.5) / (counts.sum() + n_classes / 2))[y])
    fold = (rng.permutation(int(codes.max()) + 1) % 2)[codes]
    found = np.empty(y.size)
    for own in (0, 1):
        counts = np.bincount(y[fold != own], minlength=n_classes).astype(np.float64)
        found[fold == own] = ((counts + 0.5) / (counts.sum() + n_classes / 2))[y[fold == own]]
    return found


def _plan_accuracy(
    reading: ReaderPredictions,
    y: NDArray[np.int64],
    shares: NDArray[np.float64],
    contenders: tuple[int, ...],
    codes: NDArray[np.int64],
    ratios: Ratios,
) -> _Plan:
    if np.count_nonzero(shares) < 2:
        return _Plan(reading, ACCURACY, None, reason=ONE_LABEL)
    right = reading.right(y)
    got = (float(right.mean()), float(shares.max()))
    if reading.answers_alike(y, reading.predictions):
        return _Plan(reading, ACCURACY, None, 0.0, CONSTANT_ANSWER, got=got)
    # A label so much rarer than the most frequent that its difference cannot be the least decides nothing.
    near = [k for k in np.flatnonzero(shares).tolist() if k in contenders or shares[k] > 0.5 * shares.max()]
    place_of = np.full(shares.size, -1)
    place_of[near] = np.arange(len(near))
    one, mean, paired = np.ones(y.size), float(right.mean()), {}
    for label, at in zip(near, ratios.add_differences(right, place_of[y], len(near)), strict=True):
        named = (y == label).astype(np.float64)
        gain = mean - float(shares[label])
        spread = _Spread.of(right - named, one, codes, (1 + gain, 1 - gain))
        paired[label] = _Paired(at, PairedShares.of(right, named), spread)
    b = float(shares.max())
    return _Plan(
        reading,
        ACCURACY,
        paired[int(shares.argmax())].at,
        value=(mean - b) / (1 - b),
        lower=tuple(paired.values()),
        upper=tuple(paired[label] for label in contenders),
        scale=float(1 - shares.max()),
        got=got,
    )


def _plan_over_chance(
    reading: ReaderPredictions, y: NDArray[np.int64], codes: NDArray[np.int64], ratios: Ratios
) -> _Plan:
    chance = np.asarray(reading.chance, dtype=np.float64)
    right = reading.right(y)
    above, below, got = right - chance, 1 - chance, (float(right.mean()), float(chance.mean()))
    if not below.any():
        return _Plan(reading, ACCURACY, None, reason="guessing is always right")
    if not above.any():
        return _Plan(reading, ACCURACY, None, 0.0, CONSTANT_ANSWER, got=got)
    applies = np.ones(y.size, np.bool_) if reading.applies is None else np.asarray(reading.applies)
    total = float(below.sum())
    value = float(above.sum()) / total
    if applies.sum() < LEAST_ITEMS:
        return _Plan(reading, ACCURACY, None, value, SPARSE, got=got)
    return _Plan(
        reading,
        ACCURACY,
        ratios.add([(above, below, 1.0)]),
        value=value,
        spreads=(_Spread.of(above, below, codes, (value + float(chance.sum()) / total, 1 - value)),),
        possible=(max(-1.0, -float(chance[applies].sum()) / total), float(below[applies].sum()) / total),
        got=got,
    )


def _plan_balanced(
    reading: ReaderPredictions,
    y: NDArray[np.int64],
    groups: NDArray[np.int64],
    codes: NDArray[np.int64],
    ratios: Ratios,
) -> _Plan:
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < 2:
        return _Plan(reading, BALANCED, None, reason=f"fewer than two labels have {LEAST_ROWS} test rows")
    of_row = groups[y]
    within = of_row >= 0
    right = reading.lifted_right(y, groups)
    if reading.answers_alike(y, reading.named_classes(groups)):
        return _Plan(reading, BALANCED, None, 0.0, CONSTANT_ANSWER)
    scale = 1 - 1 / n_groups
    rows = np.bincount(of_row[within], minlength=n_groups).astype(np.float64)
    recalls = np.bincount(of_row[within], weights=right[within], minlength=n_groups) / rows
    value = (float(recalls.mean()) - 1 / n_groups) / scale
    at = ratios.add_recalls(right, of_row, n_groups)
    weights = np.where(within, 1 / rows[of_row], 0.0)
    mean = float(recalls.mean()) / scale
    spreads = [_Spread.of(right * weights, weights, codes, (mean, 1 / scale - mean))]
    if not _is_little(spreads):
        # A reader that nearly always names one label is nearly always right on it, and wrong on all others.
        spreads = []
        for label, recall in enumerate(recalls.tolist()):
            own = (of_row == label).astype(np.float64)
            change = (recall / (n_groups - 1), (1 - recall) / (n_groups - 1))
            spreads.append(_Spread.of(right * own, own, codes, change))
            if not _is_little(spreads):
                break
    got = (float(recalls.mean()), 1 / n_groups)
    kept = _Recalls(recalls, rows)
    return _Plan(reading, BALANCED, at, value, scale=scale, recalls=kept, spreads=tuple(spreads), got=got)


def _plan_information(
    reading: ReaderPredictions, y: NDArray[np.int64], p: NDArray[np.float64], codes: NDArray[np.int64], ratios: Ratios
) -> _Plan:
    assert reading.log_probabilities is not None
    if (y == y[0]).all():
        return _Plan(reading, INFORMATION, None, reason=ONE_LABEL)
    q = np.exp(np.atleast_2d(np.asarray(reading.log_probabilities, dtype=np.float64)))
    if np.isnan(q).any():
        return _Plan(reading, INFORMATION, None, reason="some probabilities are not numbers")
    entropy = -np.log2(p)
    bits = np.log2(0.99 * q + 0.01 * p).mean(axis=0) + entropy
    value = float(bits.sum() / entropy.sum())
    spread = _Spread.of(bits, entropy, codes, (value + 1, 1 - value))
    return _Plan(reading, INFORMATION, ratios.add([(bits, entropy, 1.0)]), value, spreads=(spread,))
