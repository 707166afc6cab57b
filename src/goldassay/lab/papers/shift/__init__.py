"""Scores on another distribution, and whether a model's confidence tells that it has left its own.

What the paper concludes is held against our runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import points
from goldassay.lab.papers.pooling import judge_each, p_of, pool_claim
from goldassay.lab.papers.printed import compare_cells, show_cells
from goldassay.lab.papers.recipe import (
    PRETRAINED,
    Claim,
    Comparison,
    Conclusion,
    Findings,
    Shown,
    Training,
    Workplace,
    declared,
)
from goldassay.lab.papers.shift.sets import (
    BAG,
    FOREIGN,
    NEWSGROUPS,
    OWN,
    SCALES,
    TRAIN,
    TRANSFORMERS,
    built_sets,
    planted_sets,
    write_checkpoints,
)
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.shift.detection import report_detection
from goldassay.questions.shift.page import BESIDE, CHANCE, CONFIDENCE, detection_cells, value_cells
from goldassay.questions.shift.question import report_generalization
from goldassay.questions.shift.quick_models import predict_quick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.report.report import Report

    Row = Mapping[str, Any]
    Figure = tuple[float, float, float]

__all__ = ["CHANCE", "CLAIMS", "NEEDED", "PAPER", "SCALES", "TITLE", "has_released", "measure", "prepare"]

NEEDED: tuple[str, ...] = ()

TITLE = "Robustness to other distributions"
_WIDE = (
    "Intervals of differences between two models take their errors for independent. They answer the same examples, so "
    "that these intervals are wide rather than narrow."
)
PAPER = "Hendrycks, Liu, Wallace, Dziedzic, Krishnan and Song 2020"
_FINE_TUNED = frozenset({PRETRAINED, *TRANSFORMERS})
# Of two models the one that is to lose less stands first: of one family the smaller, of a distilled model its teacher,
# and of two of one size that with more data.
SIZES = (("BERT Base", "BERT Large"), ("ALBERT Base", "ALBERT Large"), ("ALBERT Large", "ALBERT XLarge"))
DISTILLED = (("BERT Base", "DistilBERT"),)
DIVERSE = (("RoBERTa Large", "BERT Large"),)
_TOO_FEW = "There are no such models of both kinds."
# Of this score a model may lose more than 100 points.
_CORRELATION = "pearson"
# A share of its score that an LSTM loses.
_LARGE = 0.35
# A rate of false alarms this far below that of chance is still near it.
_NEAR = 0.1


_KINDS = "models with and without pretraining"
_FOREIGN_TEXTS = "trained on SST-2, confidences on texts of other tasks"
CLAIMS = declared(
    Claim(
        "Smaller gaps", "Pretrained transformers lose less on other distributions than models of word vectors.",
        "Figures 1, 2", "on average", "gap of the one minus gap of the other", f"{_KINDS} on several shifts",
        "p. 1, abstract, sentence 3",
    ),
    Claim(
        "Declines", "Between some sources of STS-B an LSTM loses more than 35 % of its score.", "section 3", "some",
        f"relative gap above {100 * _LARGE:.0f} %", "an LSTM on the sources of STS-B",
    ),
    Claim(
        "Size", "Larger models are not always more robust.", "Figure 3", "some", "gap of the larger minus that of the "
        "smaller", "two sizes of BERT or ALBERT on one shift", "p. 1, abstract, sentence 5",
    ),
    Claim(
        "Distilled", "A distilled model can be less robust than its teacher.", "section 3", "some",
        "gap of the distilled model minus that of its teacher", "DistilBERT and BERT Base on several shifts",
        "p. 1, abstract, sentence 5",
    ),
    Claim(
        "Diverse", "Pretraining on more data can make a model more robust.", "section 3", "some",
        "gap of BERT Large minus that of RoBERTa Large", "BERT Large and RoBERTa Large on one shift",
        "p. 1, abstract, sentence 5",
    ),
    Claim(
        "Detects", "Pretrained models tell foreign texts better than chance, on all five sets.", "Figure 4", "all",
        "false alarms at 95 % recall, below chance", f"pretrained models {_FOREIGN_TEXTS}",
    ),
    Claim(
        "Blind", f"Models without pretraining are near or worse than chance on {NEWSGROUPS}.", "Figure 4",
        "on average", "false alarms at 95 % recall", f"models without pretraining {_FOREIGN_TEXTS}",
        "p. 1, abstract, sentence 4",
    ),
    Claim(
        "Bag of words", f"The bag of words is near or worse than chance on {NEWSGROUPS}: all its texts raise false "
        "alarms.", "Figure 4", "this cell", "false alarms at 95 % recall, drawn at 100 %",
        f"a bag of words {_FOREIGN_TEXTS}",
    ),
    Claim(
        "Fewer alarms", "Pretrained models raise fewer false alarms than others.", "Figure 4", "on average",
        "false alarms of the one minus those of the other", f"{_KINDS} {_FOREIGN_TEXTS}",
        "p. 1, abstract, sentence 4",
    ),
)  # fmt: skip


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
        _some("Size", gaps, SIZES),
        _some("Distilled", gaps, DISTILLED),
        *([_some("Diverse", gaps, DIVERSE)] if any(True for _ in _of_family(gaps, DIVERSE)) else ()),
        _detects(found.detection),
        _blind(found.detection),
        *_worst(found.detection),
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


def _paired(
    name: str,
    pairs: Iterable[tuple[Row, Row]],
    figure: Callable[[Row], Figure],
    what: str,
) -> Conclusion:
    """By how much the figure of the second of each pair is less than that of the first, pooled."""
    found = list(pairs)
    together = pool_claim(
        [_difference(figure(first), figure(second)) for first, second in found],
        _families([first for first, _ in found]),
        what="pairs of models on one shift",
        unit="difference",
        within=_possible([first for first, _ in found]),
    )
    if together is None:
        return CLAIMS[name].unmeasured(_TOO_FEW)
    return CLAIMS[name].found(
        together.standing(),
        f"By how much the {what} less. {together.sentence}{_of_correlations([first for first, _ in found])}",
        *together.figure,
        "difference",
        together.p(),
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
    for one, other in pairs:
        for first in rows:
            if first["model"] == one:
                for second in rows:
                    if second["model"] == other and _where(second) == _where(first):
                        yield first, second


def _smaller_gaps(gaps: Sequence[Row]) -> Conclusion:
    return _paired("Smaller gaps", _same_shift(gaps), _gap, "pretrained model loses")


def _declines(gaps: Sequence[Row]) -> Conclusion:
    """The relative loss of LSTMs between the sources of STS-B; the paper says it of one shift."""
    claim = CLAIMS["Declines"]
    rows = [row for row in gaps if "LSTM" in row["model"] and row["train"].startswith("STS-B")]
    rows = [row for row in rows if row["relative_gap"] is not None]
    if not rows:
        return claim.unmeasured("There is no LSTM on STS-B.")
    judged = judge_each(
        [(row["relative_gap"], row["relative_low"], row["relative_high"]) for row in rows], "some", than=_LARGE
    )
    if judged is None:
        return claim.unmeasured("No loss has an interval.")
    return claim.found(
        judged.standing,
        f"The paper says it of one shift. Here the clearest of {judged.n} is {_where(rows[judged.at])}; by intervals "
        f"that hold for all together {judged.n_above} lose more, {judged.n_below} less.",
        *judged.figure,
        "share",
        judged.p,
    )


def _some(name: str, gaps: Sequence[Row], pairs: Sequence[tuple[str, str]]) -> Conclusion:
    """Whether the second model of some pair loses more than the first, on one shift; one such pair is enough."""
    claim = CLAIMS[name]
    found = list(_of_family(gaps, pairs))
    if not found:
        return claim.unmeasured(_TOO_FEW)
    judged = judge_each([_difference(_gap(second), _gap(first)) for first, second in found], "some")
    if judged is None:
        return claim.unmeasured("No pair has an interval.")
    first, second = found[judged.at]
    least, most = _possible([first])
    value, low, high = judged.figure
    together = "" if len(found) == 1 else f", by intervals that hold for all {judged.n} together"
    return claim.found(
        judged.standing,
        f"Of {judged.n} pairs on one shift the second model loses significantly more than the first in "
        f"{judged.n_above}, significantly less in {judged.n_below}{together}. The figure is of the clearest, "
        f"{second['model']} against {first['model']}, {_where(first)}.{_of_correlations([first])}",
        value,
        max(low, least),
        min(high, most),
        "difference",
        judged.p,
    )


def _against_chance(rows: Sequence[Row]) -> tuple[int, int]:
    """How many are surely better, and surely no better than chance."""
    better = sum(row["false_alarm_rate_high"] < row["false_alarm_rate_chance"] for row in rows)
    worse = sum(row["false_alarm_rate_low"] > row["false_alarm_rate_chance"] for row in rows)
    return better, worse


def _detects(detection: Sequence[Row]) -> Conclusion:
    claim = CLAIMS["Detects"]
    rows = [row for row in detection if _is_pretrained(row)]
    if not rows:
        return claim.unmeasured("There is no pretrained model.")
    better, worse = _against_chance(rows)
    last = max(rows, key=lambda row: row["false_alarm_rate"])
    chances = [p_of(*_alarms(row), row["false_alarm_rate_chance"]) for row in rows]
    over = [p for p, row in zip(chances, rows, strict=True) if row["false_alarm_rate"] > row["false_alarm_rate_chance"]]
    return claim.found(
        "held" if better == len(rows) else "did not hold" if worse else "not shown",
        f"Of {len(rows)} pairs of model and set {better} are significantly better than chance, {worse} significantly "
        f"worse. The figure is the highest rate of false alarms, of {last['model']} on {last['dataset']}; chance is "
        f"{points(last['false_alarm_rate_chance'])}.",
        *_alarms(last),
        p=min(1.0, len(rows) * min(over)) if over else max(chances),
    )


def _blind(detection: Sequence[Row]) -> Conclusion:
    rows = [row for row in detection if not _is_pretrained(row) and row["dataset"] == NEWSGROUPS]
    if not rows:
        told = any(row["dataset"] == NEWSGROUPS for row in detection)
        why = "There is no such model." if told else f"{NEWSGROUPS} is not at hand."
        return CLAIMS["Blind"].unmeasured(why)
    chance = rows[0]["false_alarm_rate_chance"]
    together = pool_claim(
        [_alarms(row) for row in rows], {"models": [row["model"] for row in rows]}, what="models", unit="points",
        limits=(chance - _NEAR,),
    )  # fmt: skip
    if together is None:
        return CLAIMS["Blind"].unmeasured("No rate of false alarms has an interval.")
    first = min(rows, key=lambda row: row["false_alarm_rate"])
    return CLAIMS["Blind"].found(
        together.standing(chance - _NEAR),
        f"{together.sentence} Chance is {points(chance)}, and near it is what lies at most {points(_NEAR, 0)} points "
        f"below. Lowest {first['model']}: {points(first['false_alarm_rate'])}. Elsewhere: {_elsewhere(detection)}",
        *together.figure,
        p=together.p(chance - _NEAR),
    )


def _worst(detection: Sequence[Row]) -> list[Conclusion]:
    """The cell with 100 % in print, which a mean over models would hide."""
    row = next((row for row in detection if row["model"] == BAG and row["dataset"] == NEWSGROUPS), None)
    if row is None:
        return []
    chance = row["false_alarm_rate_chance"]
    value, low, high = _alarms(row)
    return [
        CLAIMS["Bag of words"].found(
            "held" if low > chance - _NEAR else "did not hold" if high < chance - _NEAR else "not shown",
            f"One model on one set; the paper draws 100 %. Chance is {points(chance)}, and near it is what lies at "
            f"most {points(_NEAR, 0)} points below.",
            value,
            low,
            high,
            p=p_of(value, low, high, chance - _NEAR),
        )
    ]


def _elsewhere(detection: Sequence[Row]) -> str:
    others = [row for row in detection if not _is_pretrained(row) and row["dataset"] != NEWSGROUPS]
    better, worse = _against_chance(others)
    return f"{better} of {len(others)} significantly better, {worse} significantly worse."


def _fewer_alarms(detection: Sequence[Row]) -> Conclusion:
    return _paired("Fewer alarms", _same_shift(detection), _alarms, "pretrained model's alarms are")


DETECTION = "detection"
_COSINE = "bow"


@dataclass(frozen=True)
class Evidence:
    """Rows of the reports.

    Attributes:
        gaps: A row a model, training set ("train", by its domain) and test set, as the reports on generalization have
            it.
        detection: A row a model and foreign set, by the models' confidence.
    """

    gaps: tuple[Mapping[str, Any], ...]
    detection: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, reports: Mapping[str, Report]) -> Evidence:
        """Take the rows of the reports of `measured_reports`."""
        documents = {name: report.to_dict()["shift"] for name, report in reports.items()}
        detection = documents.pop(DETECTION, {"detection": []})["detection"]
        gaps = [
            {**row, "train": row["train"].removesuffix(TRAIN)}
            for section in documents.values()
            for row in section["generalization"]
            if row["metric"] != BESIDE
        ]
        return cls(tuple(gaps), tuple(row for row in detection if row["score"] == CONFIDENCE))


def measured_reports(work: Workplace) -> dict[str, Report]:
    """A report on generalization for each training set, and one on detection."""
    reports = {}
    for training in work.scale.trainings:
        if training.train in work.lacking or _lacks_models(training, work):
            continue
        own = training.train.removesuffix(TRAIN)
        reports[own.replace(" ", "_")] = _generalization(training, own, work)
    foreign = [name for name in FOREIGN if any(name in training.tests for training in work.scale.trainings)]
    if foreign:
        reports[DETECTION] = report_detection(
            [f"{OWN}={work.runs}"],
            [f"{name}={work.runs}" for name in foreign],
            choice=RunChoice(train_set=f"{OWN}{TRAIN}"),
            n_draws=work.scale.chosen["draws"],
            seed=work.seed,
        )
    return reports


def _lacks_models(training: Training, work: Workplace) -> bool:
    """Whether it is for pretrained models alone, and there is none."""
    return not work.pretrained and all(network == PRETRAINED for network in training.models.values())


def _generalization(training: Training, own: str, work: Workplace) -> Report:
    tests = {name: work.sets[name] for name in training.tests if name in work.sets and name not in FOREIGN}
    train = work.sets[training.train]
    notes, untrained = [], []
    if "label" in train.examples.columns and train.examples["label"].dtype.is_float():
        notes.append(predict_quick(_COSINE, train, list(tests.values()), [], [0], work.runs, name=BAG))
        untrained.append(BAG)
    return report_generalization(
        [str(work.runs)],
        in_distribution={"": own},
        choice=RunChoice(train_set=training.train),
        metric="exact_match" if "answers" in train.examples.columns else None,
        texts=tests,
        notes=notes,
        leave_out=[name for name in training.tests if name in FOREIGN],
        untrained=untrained,
        n_draws=work.scale.chosen["draws"],
        seed=work.seed,
    )


_TELEPHONE = "MNLI Telephone"
_DETECTED = {
    "false_alarm_rate": "false alarms at 95 % recall",
    "auroc": "area under the ROC curve",
    "aupr_out": "area under the precision-recall curve, foreign texts positive",
}


def compare_tables(found: Evidence) -> tuple[Comparison, ...]:
    """Table 1, then what Figures 1 to 4 draw."""
    values = value_cells(found.gaps, "value", "low", "high")
    gaps = value_cells([row for row in found.gaps if not row["own"]], "gap", "gap_low", "gap_high")
    tables = [
        compare_cells(
            "hendrycks2020_table1", "Table 1: trained on MNLI Telephone", [
                {**cell, "statistic": "accuracy"} for cell in values if cell["train"] == _TELEPHONE
            ],
            rows=("model",), columns=("dataset",), where={"train": _TELEPHONE}, keep_unmatched=True,
            note="the paper's only figures on generalization; the others are drawn.",
        ),
        show_cells(
            "values", "Scores at home and elsewhere", values, rows=("train", "dataset"), columns=("model",),
            note="accuracy, Pearson's correlation × 100 for STS-B, exact match for ReCoRD; the paper draws them.",
        ),
        show_cells(
            "gaps", "What is lost elsewhere", gaps, rows=("train", "dataset"), columns=("model",),
            note="in points; above 0 it is lost, below 0 gained." + _untrained(found),
        ),
    ]  # fmt: skip
    for metric, title in _DETECTED.items():
        cells = detection_cells(found.detection, metric)
        if cells:
            tables.append(show_cells(metric, f"Foreign texts: {title}", cells, rows=("dataset",), columns=("model",)))
    return tuple(tables)


def _untrained(found: Evidence) -> str:
    """What the figures of a model without a home are."""
    if all(row.get("trained", True) for row in found.gaps):
        return ""
    return f" On STS-B nothing is trained for the {BAG}, a cosine: its figures say how hard sets are, no loss."
