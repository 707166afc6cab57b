"""What forbids the word sound of judges beside people: labels not drawn as given, and labels that show nothing."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from goldassay.core.errors import option
from goldassay.core.numbers import count, decimal
from goldassay.data.column_names import normalized
from goldassay.data.fields import cell_texts, value_codes
from goldassay.data.kinds.judged_scores import NO_LABEL
from goldassay.questions.judgments.people import (
    LEAST_ITEMS,
    LEVEL,
    SHARES,
    correct_by_people,
    correlate,
    count_labels,
)
from goldassay.stats.clusters import dense_codes, effective_clusters, variance_of_mean
from goldassay.stats.intervals import t_interval, t_quantile
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.settings import JudgmentLimits
    from goldassay.data.kinds.judged_scores import JudgedScores
    from goldassay.questions.judgments.people import Corrected

# Grades of which the largest is so many times the other's may be of two scales.
_OTHER_SPAN = 1.4
# Scales from 1 on end here at most; larger ones begin at 0.
_FROM_1 = 10
# A value with its ends.
_Interval: TypeAlias = tuple[float, float, float]
NOT_DRAWN = Doubt(
    "Nothing says how the rows that people scored were chosen: the intervals are valid only if these were drawn at "
    "random.",
    "Have people score rows drawn at random, and add a column sampling_probability: for n of N rows n/N in each.",
)
_MOST_UNUSED = 0.05
# A column explains which rows are labelled if so few of its values are labelled in part, against chance, and the chance
# of that is so small.
_IN_PART, _BY_CHANCE = 0.1, 1e-4
# Labels are counted by value of columns of at most so many values, and of numbers by tenths.
_MOST_VALUES, _TENTHS = 50, 10
# Columns that are written when people score a row, and words of such columns.
_OF_LABELLING = re.compile(r"label|annot|human|people|expert|sampl|drawn|checked|review|rater|comment|note")
# Columns that follow from a score: in each of their kinds the mean is off.
_OF_SCORING = re.compile(r"judge|score|verdict|rating|grade|correct|agree|reason|explan|confiden|prob|gold|answer")
_YES_AND_NO = frozenset(["true", "false", "yes", "no", "y", "n", "0", "1"])
# Below this correlation a judge of one part agrees too little with people, whatever it does on all rows.
_WEAK = 0.5
# Pairs of systems with fewer labelled items, and further pairs, are not corrected by themselves.
LEAST_LABELLED, MOST_PAIRS = 30, 300
PAIR = ["judge", "a", "b"]


def score_doubts(
    judged: JudgedScores,
    clusters: NDArray[np.int64],
    corrected: Sequence[Corrected],
    scale: tuple[float, float],
    limits: JudgmentLimits,
    *,
    drawn: bool,
) -> list[Doubt]:
    """What forbids the word sound of scores.

    Args:
        judged: All of a file.
        clusters: By row of `JudgedScores.rows`.
        corrected: By judge and part.
        scale: The least and the largest score.
        limits: Of the verdict.
        drawn: Whether it is known with which probability people scored each row.
    """
    found = [] if drawn else [NOT_DRAWN]
    once = judged.rows.with_columns(at=np.arange(len(judged))).unique("row", keep="first", maintain_order=True)
    at = once["at"].to_numpy()
    known, own, frame = once["people"].is_not_null().to_numpy(), clusters[at], judged.frame[at.tolist()]
    whole = _labelled_whole(frame, known, own, judged.covered)
    items = [each for each in frame.columns if cell_texts(frame[each]).equals(once["item"], check_names=False)]
    columns = _countable(frame.drop(*{*judged.covered, *items, whole} & {*frame.columns}), known)
    if drawn and once["probability"].null_count() == 0:
        pi = once["probability"].to_numpy()
        found += off_count(known, pi, own)
        of_systems = {"system": cell_texts(once["system"])} if once["system"].n_unique() > 1 else {}
        found += uneven_labels(known, pi, own, {**columns, **of_systems})
    if whole:
        found.append(
            Doubt(
                f"People scored all or no rows of nearly every {whole!r}, and the intervals count each row by itself.",
                f"Give {option('clusters', whole)}.",
            )
        )
    if judged.others:
        also = [*judged.people, *judged.others]
        found.append(
            Doubt(
                f"{listed([repr(each) for each in judged.others])} may hold people's scores, too, and is not read.",
                f"Give {option('columns', 'people=' + '+'.join(also))} to read both, or "
                f"{option('columns', 'ignore=' + '+'.join(judged.others))}.",
            )
        )
    if not (spans := spans_of(judged)).differ and spans.may_differ:
        found.append(Doubt(f"{spans.said[:1].upper()}{spans.said[1:]}: these may be two scales.", spans.mend))
    found += _copies_of_scores(judged)
    whole_of = {each.judge: _correlation_of(each) for each in corrected if not each.of and not each.reason}
    found += unrelated(whole_of, corrected)
    found += _unlike_annotators(judged, at, own, (scale[1] - scale[0]) * limits.unsound)
    n_unread = judged.problems.filter(reason=NO_LABEL).height
    if n_unread > _MOST_UNUSED * (n_unread + known.sum()):
        found.append(
            Doubt(
                f"{count(n_unread)} scores of people cannot be read: the rest may not be what they stand for.",
                "Mend the rows in the table of problems.",
            )
        )
    elif judged.n_unused > _MOST_UNUSED * judged.n_read:
        found.append(
            Doubt(
                f"{count(judged.n_unused)} of {count(judged.n_read)} rows cannot be used: the rest may not be what "
                "they stand for.",
                "Mend the rows in the table of problems.",
            )
        )
    kinds = {name: values for name, values in columns.items() if not _OF_SCORING.search(normalized(name))}
    if found or not kinds:
        return found
    by_row = judged.rows.select("row").join(
        once.select("row", **kinds), on="row", how="left", maintain_order="left"
    ).drop("row")  # fmt: skip
    rows = judged.rows.with_columns(part="judge", cluster=clusters)
    column, why = cancelling(rows, by_row, "mean score", scale, limits)
    return [Doubt(why, f"Give {option('columns', f'system={column}')} to correct each by itself.")] if why else []


@dataclass(frozen=True)
class Spans:
    """From where to where the scores of the judge and of people run.

    Attributes:
        judge: The least and the largest score.
        people: See above.
    """

    judge: tuple[float, float]
    people: tuple[float, float]

    @property
    def differ(self) -> bool:
        """Whether these are surely two scales: 0 to 1 beside grades, one twice the other, or one alone below 0."""
        low, high = self._ends
        below = min(self.judge[0], self.people[0]) < 0 <= max(self.judge[0], self.people[0])
        return low <= 1 < high or high >= 2 * low > 2 or below

    @property
    def may_differ(self) -> bool:
        """Whether these may be two scales, such as 1 to 5 and 1 to 7."""
        low, high = self._ends
        return self.differ or high >= _OTHER_SPAN * low > _OTHER_SPAN

    @property
    def _ends(self) -> tuple[float, float]:
        low, high = sorted((self.judge[1], self.people[1]))
        return low, high

    @property
    def said(self) -> str:
        """The two in a clause."""
        of_judge, of_people = (f"{low:.6g} to {high:.6g}" for low, high in (self.judge, self.people))
        return f"the judge's scores run from {of_judge}, and people's from {of_people}"

    @property
    def mend(self) -> str:
        """How to write both from 0 to 1."""
        ways = [
            f"{whose} as {_from_0_to_1(low, high)}"
            for whose, (low, high) in (("the judge's", self.judge), ("people's", self.people))
            if not 0 <= low <= high <= 1
        ]
        return f"Write both from 0 to 1: {', '.join(ways)}. Mend scores outside of their scale first."


def _from_0_to_1(low: float, high: float) -> str:
    """How to write a scale of which such scores were seen, from 0 to 1."""
    if low < 0:
        return f"(score + {-low:.6g})/{high - low:.6g} if the scale is {low:.6g} to {high:.6g}"
    if low >= 1 and high <= _FROM_1:
        return f"(score - 1)/{high - 1:.6g} if the scale is 1 to {high:.6g}"
    top = high if high <= _FROM_1 else 10.0 ** math.ceil(math.log10(high))
    return f"score/{top:.6g} if the scale is 0 to {top:.6g}"


def spans_of(judged: JudgedScores) -> Spans:
    """From where to where the scores of all judges and of people run."""
    scores, people = judged.rows["score"].to_numpy(), judged.annotators[~np.isnan(judged.annotators)]
    return Spans((float(scores.min()), float(scores.max())), (float(people.min()), float(people.max())))


def pair_doubts(
    rows: pl.DataFrame, corrected: Sequence[Corrected], kinds: pl.DataFrame, limits: JudgmentLimits
) -> list[Doubt]:
    """What forbids the word sound of win rates beside people's.

    Args:
        rows: As of `Judgments.rows`.
        corrected: The win rates of each judge and pair.
        kinds: As of `Judgments.kinds`.
        limits: Of the verdict.
    """
    if rows["people"].null_count() == rows.height:
        return []
    found = []
    few = labelled_pairs(rows)
    few = pl.concat([few[:MOST_PAIRS].filter(pl.col("n") < LEAST_LABELLED), few[MOST_PAIRS:]])
    if few.height:
        of = {judge: f"{judge} on " if rows["judge"].n_unique() > 1 else "" for judge in few["judge"].unique()}
        names = listed(list(dict.fromkeys(f"{of[judge]}{name_of_pair(a, b)}" for judge, a, b, _ in few.iter_rows())))
        found.append(
            Doubt(
                f"People's preferences are too few to hold {names} against: {LEAST_LABELLED} of a pair are needed.",
                f"Have people judge {LEAST_LABELLED} items or more of {names}.",
            )
        )
    given = [pl.col("probability").mean()] if "probability" in rows.columns else []
    columns = {name: kinds[name] for name in kinds.columns if not name.startswith(" ")}
    items = rows.with_columns(**{f" {name}": values for name, values in columns.items()})
    items = items.group_by("item", maintain_order=True).agg(
        pl.col("people").is_not_null().any(), *given, *(pl.col(f" {name}").first() for name in columns)
    )
    known = items["people"].to_numpy()
    if given:
        pi, codes = items["probability"].to_numpy(), np.arange(items.height)
        found += off_count(known, pi, codes)
        found += uneven_labels(known, pi, codes, {name: items[f" {name}"] for name in columns})
    elif not known.all():
        found.append(NOT_DRAWN)
    found += _copies_of_verdicts(rows)
    found += unrelated(_over_pairs(rows), corrected)
    if found or not columns:
        return found
    both = rows.with_columns(**{f" {name}": values for name, values in columns.items()})
    both = both.group_by(*PAIR, "item", maintain_order=True).agg(
        pl.col("people").mean(), *given, *(pl.col(f" {name}").first() for name in columns), score=pl.col("win").mean()
    )
    parts = [f"{judge} on {name_of_pair(a, b)}" for judge, a, b in both.select(PAIR).iter_rows()]
    cut = both.with_columns(part=pl.Series(parts), cluster=dense_codes(both["item"].to_numpy(), both.height))
    by_item = cut.select(pl.col(f" {name}").alias(name) for name in columns)
    _, why = cancelling(cut.drop(f" {name}" for name in columns), by_item, "win rate", SHARES, limits)
    return [Doubt(why, "Judge each kind of items by itself.")] if why else []


def labelled_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Judges and pairs of systems with n, the items that people judged, most first."""
    n = pl.col("item").filter(pl.col("people").is_not_null()).n_unique()
    return rows.group_by(PAIR, maintain_order=True).agg(n=n).sort("n", descending=True, maintain_order=True)


def name_of_pair(a: str | None, b: str | None) -> str:
    """What wins against what."""
    return "the first response of the file" if a is None else f"{a} against {b}"


def listed(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def off_count(known: NDArray[np.bool_], probabilities: NDArray[np.float64], codes: NDArray[np.int64]) -> list[Doubt]:
    """That the probabilities cannot be those of this number of labels."""
    counts = count_labels(known, probabilities, codes)
    if not counts.far[0]:
        return []
    n = int(known.sum())
    mend = f"Give each row the probability with which it was drawn: they add up to about {count(n)}."
    if np.ptp(probabilities) == 0:
        mend = (
            f"If {count(n)} of {count(known.size)} rows were drawn at random, write {n / known.size:.4g} into "
            "sampling_probability of each row."
        )
    expected = f"{float(counts.expected[0]):,.0f}"
    why = f"People scored {count(n)} rows, and by the probabilities in sampling_probability {expected} are expected."
    return [Doubt(why, mend)]


def _countable(frame: pl.DataFrame, known: NDArray[np.bool_]) -> dict[str, pl.Series]:
    """Columns of few values, or of numbers in tenths, that are no record of which rows people scored."""
    found = {}
    for column in frame.columns:
        values = frame[column]
        if values.dtype.is_nested() or _OF_LABELLING.search(normalized(column)):
            continue
        n_values, filled = values.drop_nulls().n_unique(), values.is_not_null().to_numpy()
        if n_values < 2 or (known[filled].all() and not known.all()):
            continue
        if n_values > _MOST_VALUES:
            # Whole numbers that are all distinct are names of rows.
            if not values.dtype.is_numeric() or (values.dtype.is_integer() and n_values == filled.sum()):
                continue
            values = _tenths(values)
        texts = cell_texts(values)
        words = {each.strip().lower() for each in texts.drop_nulls().unique().to_list()}
        shares = pl.DataFrame({"value": texts, "known": known}).drop_nulls().group_by("value").agg(pl.mean("known"))
        records = all(_OF_LABELLING.search(each) for each in words) or words <= _YES_AND_NO
        if known.all() or not (records and shares["known"].is_in([0.0, 1.0]).all()):
            found[column] = texts
    return found


def _tenths(values: pl.Series) -> pl.Series:
    """Numbers as the tenth of the rows in which they lie, named by its ends."""
    frame = pl.DataFrame({"value": values.cast(pl.Float64)}).with_columns(
        bin=(((pl.col("value").rank("average") - 0.5) / pl.col("value").count()) * _TENTHS).floor()
    )
    low, high = (getattr(pl.col("value"), end)().over("bin") for end in ("min", "max"))
    named = pl.format("{} to {}", low.round_sig_figs(3), high.round_sig_figs(3))
    return frame.select(pl.when(pl.col("bin").is_not_null()).then(named)).to_series()


def uneven_labels(
    known: NDArray[np.bool_], pi: NDArray[np.float64], codes: NDArray[np.int64], columns: Mapping[str, pl.Series]
) -> list[Doubt]:
    """That people scored more or fewer rows of some value of a column than the probabilities let expect.

    Args:
        known: Which rows people scored, (N,).
        pi: With which probability, (N,).
        codes: Clusters, (N,).
        columns: Values of each row by column, (N,).
    """
    given = pl.Series(pi)
    columns = {**columns, "sampling_probability": _tenths(given) if given.n_unique() > 1 else given.cast(pl.String)}
    coded = {name: value_codes(values) for name, values in columns.items()}
    n_tests = sum(int(each.max()) + 1 for each in coded.values())
    worst: tuple[float, str] | None = None
    for name, values in coded.items():
        filled = values >= 0
        if not filled.any() or values.max() < 1:
            continue
        of_value = np.where(filled, values, values.max() + 1)
        counts = count_labels(known, pi, codes, of_value, n_tests)
        # Of too few and too many labels the few say more.
        far = np.where(counts.far, 1.0 + (counts.n_labelled < counts.expected), 0.0)
        errors = (far * np.minimum(1 + counts.errors, 1e9))[: int(values.max()) + 1]
        at = int(errors.argmax())
        if errors[at] > (0.0 if worst is None else worst[0]):
            value = str(columns[name].filter(pl.Series(values == at))[0]).strip()
            n, of = count(int(counts.n_labelled[at])), count(int(counts.n_rows[at]))
            why = (
                f"People scored {n} of the {of} rows with {name} {value!r}, and by the probabilities in "
                f"sampling_probability {counts.expected[at]:,.0f} are expected."
            )
            worst = (float(errors[at]), why)
    mend = (
        "Write the probability with which each row was really drawn into sampling_probability; if it is unknown, have "
        "people score rows drawn at random."
    )
    return [] if worst is None else [Doubt(worst[1], mend)]


def cancelling(
    rows: pl.DataFrame, kinds: pl.DataFrame, what: str, scale: tuple[float, float], limits: JudgmentLimits
) -> tuple[str, str]:
    """The column and the sentence of a mean that is too high in some kind of rows, too low in another one; else blanks.

    Lower ends hold for all kinds of all columns and judges at once.

    Args:
        rows: Columns part (the judge, and what it judges), score, people, cluster and, if known, probability.
        kinds: A column of kinds for each column, row by row.
        what: Of which a judge gives the mean.
        scale: The least and the largest score.
        limits: Of the verdict.
    """
    parts = [
        rows.with_columns(kinds[name].alias("kind"), column=pl.lit(name)).drop_nulls("kind") for name in kinds.columns
    ]
    if not parts:
        return "", ""
    key = ["part", "column", "kind"]
    several = pl.concat(parts).filter(pl.col("people").count().over(key) >= LEAST_ITEMS)
    sizes = several.group_by(key, maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    groups = sizes.head(MOST_PAIRS).drop("len")
    found: dict[tuple[str, str], list[tuple[float, float, str]]] = {}
    for part, column, kind in groups.iter_rows():
        own = several.filter(part=part, column=column, kind=kind)
        known = "probability" in own.columns and own["probability"].null_count() == 0
        each = correct_by_people(
            own["score"].to_numpy(), own["people"].to_numpy(), own["cluster"].to_numpy(),
            own["probability"].to_numpy() if known else None, scale,
        )  # fmt: skip
        if not each.reason:
            reach = t_quantile(each.df, 1 - (1 - LEVEL) / groups.height) * each.bias_error
            found.setdefault((part, column), []).append((each.bias - reach, each.bias + reach, str(kind)))
    caution = limits.caution * (scale[1] - scale[0])
    for (part, column), ends in found.items():
        high, low = max(ends), min(ends, key=lambda each: each[1])
        if high[0] >= caution and low[1] <= -caution:
            return column, (
                f"The {what} of {part} is at least {decimal(high[0])} too high where {column} is {high[2]!r}, and at "
                f"least {decimal(-low[1])} too low where it is {low[2]!r}: over all rows the two cancel."
            )
    return "", ""


def _labelled_whole(
    frame: pl.DataFrame, known: NDArray[np.bool_], codes: NDArray[np.int64], covered: Sequence[str]
) -> str:
    """The column of which people scored all or no rows of a value, beyond chance; of several the one of fewest values.

    Values that lie within one cluster each do not count.
    """
    share, found = float(known.mean()), []
    for column in frame.columns:
        if column in covered or frame.schema[column].is_nested():
            continue
        by_value = pl.DataFrame({"value": value_codes(frame[column]), "known": known, "cluster": codes})
        by_value = by_value.filter(frame[column].is_not_null())
        groups = by_value.group_by("value").agg(n=pl.len(), k=pl.col("known").sum(), of=pl.col("cluster").n_unique())
        groups = groups.filter(pl.col("n") > 1)
        all_of, none_of = (int((groups["k"] == each).sum()) for each in (groups["n"], 0))
        if min(all_of, none_of) < 2 or (groups["of"] == 1).all():
            continue
        sizes = groups["n"].to_numpy().astype(np.float64)
        whole = share**sizes + (1 - share) ** sizes
        in_part = groups.height - all_of - none_of
        if in_part <= _IN_PART * (1 - whole).sum() and np.log(whole).sum() < math.log(_BY_CHANCE):
            found.append((groups.height, column))
    return min(found)[1] if found else ""


def _copies_of_scores(judged: JudgedScores) -> list[Doubt]:
    """That a column of people's has the judge's scores in all rows: whoever copies, agrees."""
    judges, scores = judged.rows["judge"].to_numpy(), judged.rows["score"].to_numpy()
    for judge in dict.fromkeys(judges.tolist()):
        for column, given in zip(judged.people, judged.annotators, strict=True):
            both = (judges == judge) & ~np.isnan(given)
            if both.sum() >= LEAST_ITEMS and (given[both] == scores[both]).all():
                return [_copied(f"people's scores in {column!r}", judge, int(both.sum()), "scores", "rows")]
    return []


def _copies_of_verdicts(rows: pl.DataFrame) -> list[Doubt]:
    """That people's preferences are all verdicts of a judge, or all of those in one order."""
    asked = rows.drop_nulls("people")
    for (judge,), own in asked.group_by("judge", maintain_order=True):
        for part in (own, own.filter("a_first"), own.filter(~pl.col("a_first"))):
            if (n := part["item"].n_unique()) >= LEAST_ITEMS and (part["win"] == part["people"]).all():
                return [_copied("people's preferences", str(judge), n, "verdicts", "items")]
    return []


def _copied(whose: str, judge: str, n: int, what: str, of: str) -> Doubt:
    return Doubt(
        f"{whose[:1].upper()}{whose[1:]} equal the {what} of {judge} in all {count(n)} {of}: they may be copies.",
        f"Have people score {of} without the judge's {what} in sight.",
    )


def _over_pairs(rows: pl.DataFrame) -> dict[str, _Interval]:
    """How each judge's verdicts on all pairs correlate with people's, with the interval over items."""
    asked = rows.drop_nulls("people").group_by("judge", "a", "b", "item", maintain_order=True)
    both = asked.agg(pl.col("people").mean(), win=pl.col("win").mean())
    return {
        str(judge): correlate(
            own["people"].to_numpy(), own["win"].to_numpy(), np.ones(own.height), dense_codes(own["item"], own.height)
        )
        for (judge,), own in both.group_by("judge", maintain_order=True)
    }  # fmt: skip


def unrelated(whole: Mapping[str, _Interval], corrected: Sequence[Corrected]) -> list[Doubt]:
    """That a judge does not agree with people beyond chance, so that equal means are no merit of its.

    Args:
        whole: Of each judge the correlation on all rows, where it is known.
        corrected: All parts; where a judge agrees on all rows, a part counts only if its correlation is below .5.
    """
    found = {judge: each for judge, each in whole.items() if not each[1] > 0}
    for part in corrected:
        if part.reason or not part.of or part.correlation_low > 0 or part.judge in found:
            continue
        if part.judge not in whole or part.correlation_high < _WEAK:
            found[f"{part.judge} on {part.of}"] = _correlation_of(part)
    if not found:
        return []
    value, low, high = next(iter(found.values()))
    why = f"Nothing shows that {listed(list(found))} agrees with people on single rows: "
    if math.isnan(value):
        why += "the judge or people give all of them one score."
        return [Doubt(why, "Have people score more rows, of each score that the judge gives.")]
    why += f"the correlation is {decimal(value)} ({decimal(low)} to {decimal(high)})."
    return [Doubt(why, "Report people's mean with its interval, or use a judge that agrees with people.")]


def _correlation_of(each: Corrected) -> _Interval:
    return each.correlation, each.correlation_low, each.correlation_high


def _unlike_annotators(
    judged: JudgedScores, at: NDArray[np.int64], clusters: NDArray[np.int64], limit: float
) -> list[Doubt]:
    """That an annotator does not agree with the others on the same rows: by the mean, or not beyond chance.

    Lower ends of differences between means hold for all annotators at once.
    """
    given = judged.annotators[:, at]
    known = ~np.isnan(given)
    n_said, total = known.sum(axis=0), np.where(known, given, 0.0).sum(axis=0)
    found = []
    for name, own, said in zip(judged.people, given, known, strict=True):
        rows = said & (n_said > 1)
        if rows.sum() < LEAST_ITEMS:
            continue
        others = (total[rows] - own[rows]) / (n_said[rows] - 1)
        codes = np.unique(clusters[rows], return_inverse=True)[1]
        if (df := effective_clusters(codes) - 1) <= 0:
            continue
        apart = own[rows] - others
        mean = float(apart.mean())
        ends = t_interval(mean, variance_of_mean(apart, codes), df, 1 - (1 - LEVEL) / len(given))
        if (least := max(ends.low, -ends.high)) >= limit:
            how = f"mean score in {name!r} is {decimal(abs(mean))} {'above' if mean > 0 else 'below'} that"
            found.append((least / limit, how))
        value, low, high = correlate(own[rows], others, np.ones(others.size), codes)
        if low <= 0:
            how = f"correlation of {name!r} is {decimal(value)} ({decimal(low)} to {decimal(high)}) with the scores"
            found.append((1 - value, how))
    if not found:
        return []
    return [
        Doubt(
            f"The {max(found)[1]} of the other annotators on the same rows: people do not agree on what is right.",
            "Settle with the annotators what is right, and have them score these rows again.",
        )
    ]
