"""Scores on another distribution, and whether a model's confidence tells that it has left its own.

What the paper concludes is held against our runs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import percent, points
from goldassay.lab.papers.pooling import p_of, pool_claim
from goldassay.lab.papers.recipe import PRETRAINED, Conclusion, Findings, Shown
from goldassay.lab.papers.shift.evidence import DETECTION, Evidence, compare_tables, measured_reports
from goldassay.lab.papers.shift.scales import SCALES, TRANSFORMERS
from goldassay.lab.papers.shift.sets import NEWSGROUPS, built_sets, planted_sets, write_checkpoints
from goldassay.stats.intervals import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.lab.papers.recipe import Workplace

    Row = Mapping[str, Any]
    Figure = tuple[float, float, float]

__all__ = ["NEEDED", "PAPER", "SCALES", "TITLE", "has_released", "measure", "prepare"]

NEEDED: tuple[str, ...] = ()

TITLE = "Robustness to other distributions"
_WIDE = (
    "Intervals of differences between two models take their errors for independent. They answer the same examples, so "
    "that these intervals are wide rather than narrow."
)
PAPER = "Hendrycks, Liu, Wallace, Dziedzic, Krishnan and Song 2020"
_FINE_TUNED = frozenset({PRETRAINED, *TRANSFORMERS})
# Of one family the smaller and the larger, and of a distilled model its teacher.
SIZES = (("BERT Base", "BERT Large"), ("ALBERT Base", "ALBERT Large"), ("ALBERT Large", "ALBERT XLarge"))
DISTILLED = (("DistilBERT", "BERT Base"),)
_TOO_FEW = "There are no such models of both kinds."
# Of this score a model may lose more than 100 points.
_CORRELATION = "pearson"
# A rate of false alarms this far below that of chance is still near it.
_NEAR = 0.1


def has_released(_work: Workplace) -> bool:
    """Nothing of it was released."""
    return False


def prepare(work: Workplace) -> dict[str, Dataset]:
    """What is planted at the smallest size; domains built of published files; texts of other tasks."""
    planted: dict[str, Dataset] = {}
    if "planted" in work.scale.chosen:
        n_train, n_test, n_foreign = work.scale.chosen["planted"]
        planted = planted_sets(n_train, n_test, n_foreign, work.seed)
        work.checkpoints = write_checkpoints(planted, work.folder / "checkpoints", work.seed)
        planted = {name: dataset for name, dataset in planted.items() if name not in work.absent}
    return planted | built_sets(work, work.sets | planted)


def measure(work: Workplace) -> Findings:
    """The gap of every model from each training set, and what the models of sentiment take for foreign."""
    reports = measured_reports(work)
    found = Evidence.of(reports)
    asks = any(PRETRAINED in training.models for training in work.scale.trainings)
    trained = {name: name.replace("_", " ") for name in reports if name != DETECTION}
    shown = [Shown(f"Figures 1 and 2. Trained on {own}", name, "shift_slopes") for name, own in trained.items()]
    if any(row["model"] in TRANSFORMERS for row in found.gaps):
        shown += [
            Shown(f"Figure 3. Gap and size, trained on {own}", name, "shift_sizes") for name, own in trained.items()
        ]
    if DETECTION in reports:
        shown += [
            Shown("Figure 4. False alarms", DETECTION, "shift_false_alarms"),
            Shown("Figure 5. Confidence in own and foreign texts", DETECTION, "shift_confidence"),
        ]
    return Findings(
        conclusions=conclude(found),
        comparisons=compare_tables(found),
        reports=reports,
        shown=tuple(shown),
        notes=(_WIDE, *(("No pretrained checkpoint was given.",) if asks and not work.pretrained else ())),
    )


def conclude(found: Evidence) -> tuple[Conclusion, ...]:
    """What became of each conclusion, as far as there are runs to say so."""
    gaps = [row for row in found.gaps if not row["own"] and row["gap"] is not None]
    return (
        _smaller_gaps(gaps),
        _declines(gaps),
        _size(gaps),
        _distilled(gaps),
        _detects(found.detection),
        _blind(found.detection),
        _fewer_alarms(found.detection),
    )


def _is_pretrained(row: Row) -> bool:
    return row["model"] in _FINE_TUNED


def _gap(row: Row) -> Figure:
    return row["gap"], row["gap_low"], row["gap_high"]


def _alarms(row: Row) -> Figure:
    return row["false_alarm_rate"], row["false_alarm_rate_low"], row["false_alarm_rate_high"]


def _difference(first: Figure, second: Figure) -> Figure:
    """How much less the second is; their intervals are of models that are trained apart from each other."""
    value = first[0] - second[0]
    below = ((first[0] - first[1]) ** 2 + (second[2] - second[0]) ** 2) ** 0.5
    above = ((first[2] - first[0]) ** 2 + (second[0] - second[1]) ** 2) ** 0.5
    return value, value - below, value + above


def _widened(figure: Figure, n: int) -> Figure:
    """The figure with an interval that holds for n figures at once (Bonferroni), as if it were normal."""
    value, low, high = figure
    times = normal_quantile(1 - 0.05 / n) / normal_quantile(0.95)
    return value, value - times * (value - low), value + times * (high - value)


def _paired(
    name: str,
    statement: str,
    place: str,
    pairs: Iterable[tuple[Row, Row]],
    figure: Callable[[Row], Figure],
    what: str,
) -> Conclusion:
    """By how much the figure of the second of each pair is less than that of the first, pooled."""
    found = list(pairs)
    claim = pool_claim(
        [_difference(figure(first), figure(second)) for first, second in found],
        _families([first for first, _ in found]),
        what="pairs of models on one shift",
        unit="difference",
        within=_possible([first for first, _ in found]),
    )
    if claim is None:
        return Conclusion(name, statement, place, "not measured", _TOO_FEW)
    return Conclusion(
        name,
        statement,
        place,
        claim.standing(),
        f"By how much the {what} less. {claim.sentence}{_of_correlations([first for first, _ in found])}",
        claim.value,
        claim.low,
        claim.high,
        "difference",
        claim.p(),
    )


def _possible(rows: Sequence[Row]) -> tuple[float, float]:
    """What differences of two figures can be: of rates of alarms 1; of gaps, which are differences themselves, 2.

    A correlation has twice the range of a share.
    """
    most = 1.0 if all("gap" not in row for row in rows) else 4.0 if _of_correlations(rows) else 2.0
    return -most, most


def _of_correlations(rows: Sequence[Row]) -> str:
    """Why a difference may be of more than 100 points."""
    if all(row.get("metric") != _CORRELATION for row in rows):
        return ""
    return " Points are hundredths of an accuracy or a correlation, of which a model may lose more than 100."


def _families(rows: Sequence[Row]) -> dict[str, list[object]]:
    """What makes figures dependent: runs of one training set, and examples of one test set.

    What all foreign texts are told apart from is one training set, so that there models take its place, and all pairs
    share the runs of the pretrained model.
    """
    if rows and "test" in rows[0]:
        return {"training sets": [row["train"] for row in rows], "test sets": [row["test"] for row in rows]}
    return {
        "sets": [row["dataset"] for row in rows],
        "models": [row["model"] for row in rows],
        "training sets": [None] * len(rows),
    }


def _where(row: Row) -> str:
    return f"from {row['train']} to {row['test']}" if "test" in row else f"on {row['dataset']}"


def _same_shift(rows: Sequence[Row]) -> Iterable[tuple[Row, Row]]:
    """Each model that is not pretrained with each that is, on the same shift.

    Without those that nothing is trained for: between two sets theirs is a difference of difficulty, not a loss.
    """
    for first in rows:
        if not _is_pretrained(first) and first.get("trained", True):
            for second in rows:
                if _is_pretrained(second) and _where(second) == _where(first):
                    yield first, second


def _of_family(rows: Sequence[Row], pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[Row, Row]]:
    for small, large in pairs:
        for first in rows:
            if first["model"] == small:
                for second in rows:
                    if second["model"] == large and _where(second) == _where(first):
                        yield first, second


def _smaller_gaps(gaps: Sequence[Row]) -> Conclusion:
    return _paired(
        "Smaller gaps", "Pretrained transformers lose less on other distributions than models of word vectors.",
        "Figures 1, 2", _same_shift(gaps), _gap, "pretrained model loses",
    )  # fmt: skip


def _declines(gaps: Sequence[Row]) -> Conclusion:
    """The relative loss of LSTMs between the sources of STS-B."""
    statement = "An LSTM loses more than 35 % of its score between sources of STS-B."
    rows = [row for row in gaps if "LSTM" in row["model"] and row["train"].startswith("STS-B")]
    rows = [row for row in rows if row["relative_gap"] is not None]
    if not rows:
        return Conclusion("Declines", statement, "Section 3", "not measured", "There is no LSTM on STS-B.")
    claim = pool_claim(
        [(row["relative_gap"], row["relative_low"], row["relative_high"]) for row in rows],
        _families(rows),
        what="shifts",
        unit="share",
        # A loss may be a gain, and more than all of a correlation.
        within=(-math.inf, math.inf),
    )
    if claim is None:
        return Conclusion("Declines", statement, "Section 3", "not measured", "No loss has an interval.")
    most = max(rows, key=lambda row: row["relative_gap"])
    return Conclusion(
        "Declines",
        statement,
        "Section 3",
        claim.standing(0.35),
        f"{claim.sentence} Most {_where(most)}: {percent(most['relative_gap'], 0)}.",
        claim.value,
        claim.low,
        claim.high,
        "share",
        claim.p(0.35),
    )


def _size(gaps: Sequence[Row]) -> Conclusion:
    """Whether the larger model of a family loses less: the paper says that it need not."""
    statement = "Larger models are not always more robust."
    pairs = [(first, second, _difference(_gap(first), _gap(second))) for first, second in _of_family(gaps, SIZES)]
    if not pairs:
        why = "There are no two sizes of one family."
        return Conclusion("Size", statement, "Figure 3", "not measured", why)
    better = sum(low > 0 for *_, (_, low, _) in pairs)
    chances = [p_of(*figure) for *_, figure in pairs]
    against = [p for p, (*_, (value, _, _)) in zip(chances, pairs, strict=True) if value < 0]
    # One pair is enough for the claim, and of many pairs some lie beyond 0 by chance.
    pairs = [(first, second, _widened(figure, len(pairs))) for first, second, figure in pairs]
    worse = sum(high < 0 for *_, (_, _, high) in pairs)
    first, second, (value, low, high) = min(pairs, key=lambda each: each[2][2])
    least, most = _possible([first])
    together = "" if len(pairs) == 1 else f", by intervals that hold for all {len(pairs)} together"
    return Conclusion(
        "Size",
        statement,
        "Figure 3",
        "held" if worse else "did not hold" if better == len(pairs) else "not shown",
        f"Of {len(pairs)} pairs of sizes on one shift the larger loses surely less in {better}, surely more in "
        f"{worse}{together}. The figure is of the pair that speaks most against size, {second['model']} against "
        f"{first['model']}, {_where(first)}.{_of_correlations([first])}",
        value,
        max(low, least),
        min(high, most),
        "difference",
        max(chances) if better == len(pairs) else min(1.0, len(pairs) * min(against, default=1.0)),
    )


def _distilled(gaps: Sequence[Row]) -> Conclusion:
    return _paired(
        "Distilled", "A distilled model is less robust than its teacher.", "Section 3",
        _of_family(gaps, DISTILLED), _gap, "teacher loses",
    )  # fmt: skip


def _against_chance(rows: Sequence[Row]) -> tuple[int, int]:
    """How many are surely better, and surely no better than chance."""
    better = sum(row["false_alarm_rate_high"] < row["false_alarm_rate_chance"] for row in rows)
    worse = sum(row["false_alarm_rate_low"] > row["false_alarm_rate_chance"] for row in rows)
    return better, worse


def _detects(detection: Sequence[Row]) -> Conclusion:
    statement = "Pretrained models tell foreign texts better than chance, on all five sets."
    rows = [row for row in detection if _is_pretrained(row)]
    if not rows:
        return Conclusion("Detects", statement, "Figure 4", "not measured", "There is no pretrained model.")
    better, worse = _against_chance(rows)
    last = max(rows, key=lambda row: row["false_alarm_rate"])
    chances = [p_of(*_alarms(row), row["false_alarm_rate_chance"]) for row in rows]
    over = [p for p, row in zip(chances, rows, strict=True) if row["false_alarm_rate"] > row["false_alarm_rate_chance"]]
    return Conclusion(
        "Detects",
        statement,
        "Figure 4",
        "held" if better == len(rows) else "did not hold" if worse else "not shown",
        f"Of {len(rows)} pairs of model and set {better} are surely better than chance, {worse} surely worse. The "
        f"figure is the highest rate of false alarms, of {last['model']} on {last['dataset']}; chance is "
        f"{points(last['false_alarm_rate_chance'])}.",
        *_alarms(last),
        p=len(rows) * min(over) if over else max(chances),
    )


def _blind(detection: Sequence[Row]) -> Conclusion:
    statement = f"Models without pretraining are near or worse than chance on {NEWSGROUPS}."
    rows = [row for row in detection if not _is_pretrained(row) and row["dataset"] == NEWSGROUPS]
    if not rows:
        told = any(row["dataset"] == NEWSGROUPS for row in detection)
        why = "There is no such model." if told else f"{NEWSGROUPS} is not at hand."
        return Conclusion("Blind", statement, "Figure 4", "not measured", why)
    chance = rows[0]["false_alarm_rate_chance"]
    claim = pool_claim(
        [_alarms(row) for row in rows], {"models": [row["model"] for row in rows]}, what="models", unit="points"
    )
    if claim is None:
        return Conclusion("Blind", statement, "Figure 4", "not measured", "No rate of false alarms has an interval.")
    first = min(rows, key=lambda row: row["false_alarm_rate"])
    return Conclusion(
        "Blind",
        statement,
        "Figure 4",
        claim.standing(chance - _NEAR),
        f"{claim.sentence} Chance is {points(chance)}, and near it is what lies at most {points(_NEAR, 0)} points "
        f"below. Lowest {first['model']}: {points(first['false_alarm_rate'])}. Elsewhere: {_elsewhere(detection)}",
        claim.value,
        claim.low,
        claim.high,
        p=claim.p(chance - _NEAR),
    )


def _elsewhere(detection: Sequence[Row]) -> str:
    others = [row for row in detection if not _is_pretrained(row) and row["dataset"] != NEWSGROUPS]
    better, worse = _against_chance(others)
    return f"{better} of {len(others)} surely better, {worse} surely worse."


def _fewer_alarms(detection: Sequence[Row]) -> Conclusion:
    return _paired(
        "Fewer alarms", "Pretrained models raise fewer false alarms than others.", "Figure 4", _same_shift(detection),
        _alarms, "pretrained model's alarms are",
    )  # fmt: skip
