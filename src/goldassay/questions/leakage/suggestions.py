"""The rows to rewrite or drop first: ranked, and what leakage falls to without them, measured by refitting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts import PatternTable, pattern_features
from goldassay.core.arguments import check_whole, is_number
from goldassay.core.document import About
from goldassay.core.errors import InputError
from goldassay.core.progress import Progress, Steps, silent
from goldassay.core.results import Result
from goldassay.core.sections import Finding
from goldassay.data.fields import normalized_text
from goldassay.data.reading import open_source
from goldassay.data.roles import own_roles
from goldassay.questions.artifacts.inputs import load
from goldassay.questions.inputs import describe_input
from goldassay.questions.leakage.clusters import find_artifacts
from goldassay.questions.leakage.item_loading import ItemReading, load_items
from goldassay.questions.leakage.item_suggestions import SHARES, suggest_item_rewrites
from goldassay.questions.leakage.measures.information import label_shares, pvi
from goldassay.questions.leakage.result import (
    LabelShare,
    RowFall,
    RowRefit,
    SuggestedRewrites,
    SuggestedRow,
    SuggestedRows,
)
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.readers.conditions import DataSplit, conditions_of, roles_of
from goldassay.readers.probe_features import ProbeFeatures, build_features, tokenize_roles
from goldassay.readers.quick_probe import QuickProbe
from goldassay.runs.kinds.opening import refuse_other_kind
from goldassay.stats.calibration import cross_calibrate
from goldassay.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.report.report import Report

# Rows on the page; the table beside it has all.
MOST_ROWS = 60
_MOST_PATTERNS = 3
N_FOLDS = 3
# Rows ranked by one model alone would be ranked by its luck as well.
N_RANKINGS = 2


def study_rewrites(
    train: Any,
    test: Any,
    condition: str | None,
    dropped: Sequence[float],
    columns: str | Mapping[str, str] | None,
    settings: Settings,
    quiet: bool,
) -> Report:
    """Rank rows and measure what leakage falls to without shares of them, as `suggest_rewrites` does.

    Raises:
        InputError: As `suggest_rewrites`.
    """
    steps = Steps(quiet)
    with steps.step("reading the data"):
        source = open_source(train, "train", columns=own_roles(columns, "train"))
        posed = load_items(source, test, ItemReading(columns, clusters=settings.data.clusters))
        if posed is None:
            refuse_other_kind(source, own_roles(columns, "train"))
            training = load(source, columns=columns)
            evaluation = None if test is None else load(test, columns=columns, part="test")
    if posed is not None:
        return suggest_item_rewrites(posed, condition, dropped, settings, steps)
    with steps.step("refitting without rows") as progress:
        found = suggest_rows(training, evaluation, condition, shares=dropped, seed=settings.seed, progress=progress)
    role = roles_of(found.condition, training.text_columns)[0]
    with steps.step("mining patterns"):
        patterns = find_artifacts(DataSplit(training, training), role, settings).patterns
        table = found.table.with_columns(_reasons(found.table, role, patterns))
    result = SuggestedRewrites(
        SuggestedRows(
            source="suggestion",
            condition=found.condition,
            n_rows=len(training),
            before=RowRefit(**found.before),
            after_dropping=tuple(RowFall(**row) for row in found.after_dropping.to_dicts()),
            test_majority=found.test_majority,
            n_folds=found.n_folds,
            n_seeds=found.n_seeds,
            rows=tuple(
                SuggestedRow(texts={role: row.pop(role) for role in training.text_columns}, **row)
                for row in table.head(MOST_ROWS).select(pl.exclude("row")).to_dicts()
            ),
            labels=_labels(table),
        )
    )
    findings = {
        "questions": ["leakage"],
        "dataset": About(
            name=training.name,
            label_names=training.label_names,
            text_columns=training.text_columns,
            n_train=len(training),
            n_test=None if evaluation is None else len(evaluation),
        ),
        "inputs": [describe_input("train", training)]
        + ([] if evaluation is None else [describe_input("test", evaluation)]),
        "leakage": result,
        "settings": {"seed": settings.seed, "condition": found.condition, "shares": list(dropped)},
    }
    title = f"Rows of {training.name} to rewrite first"
    framed = frame_findings(title, findings, steps, settings)
    finding = Finding("leakage", None, result=result)
    return compose_report(framed, {"rows": table, "after_dropping": found.after_dropping}, findings=[finding])


def _reasons(table: pl.DataFrame, role: str, patterns: PatternTable) -> pl.Series:
    """The patterns of each row's own label that its text holds, the most telling first, joined by a bar."""
    frame = patterns.to_frame()
    held = pattern_features(table[role].to_list(), patterns).tocsr()
    labels = frame["label"].cast(pl.String).to_list()
    order = np.argsort(-frame["probability"].to_numpy(), kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    names = frame["pattern"].to_list()
    reasons = []
    for row, label in enumerate(table["label"].cast(pl.String).to_list()):
        own = [v for v in held.indices[held.indptr[row] : held.indptr[row + 1]] if labels[v] == label]
        reasons.append(" | ".join(names[v] for v in sorted(own, key=lambda v: place[v])[:_MOST_PATTERNS]))
    return pl.Series("patterns", reasons, dtype=pl.String)


def _labels(table: pl.DataFrame) -> tuple[LabelShare, ...]:
    """Of each label its share of all rows, and of the tenth that is to be rewritten first."""
    first = table.head(max(1, table.height // 10))
    return tuple(
        LabelShare(
            label=label,
            share=float((table["label"] == label).mean() or 0.0),
            share_of_first=float((first["label"] == label).mean() or 0.0),
        )
        for label in table["label"].unique(maintain_order=True).sort().to_list()
    )


@dataclass(frozen=True)
class Suggestion(Result):
    """Rows ranked by how much their part gives away; see `suggest_rows`.

    Attributes:
        condition: What the probe saw.
        table: One row a training row, the first to rewrite first: rank, row, example_id, the texts, label, bits (the
            usable information of the part about the label), probability (of the gold label), right (whether it was
            predicted in all rankings).
        after_dropping: One row a share and kind of rows dropped ("suggested", or "random": as many of each label at
            random): n_dropped, n_left, majority, accuracy, improvement with bounds, and where there is a test set
            test_accuracy and test_improvement.
        before: The same of all rows.
        test_majority: Share of the most frequent label in the test set; NaN without one.
        n_folds: In how many parts rows are predicted by a probe of the others.
        n_seeds: Refits of each.
        seed: Of folds, probes and random rows.
    """

    condition: str
    table: pl.DataFrame
    after_dropping: pl.DataFrame
    before: dict[str, float]
    test_majority: float
    n_folds: int
    n_seeds: int
    seed: int

    def to_frame(self) -> pl.DataFrame:
        """The ranked rows."""
        return self.table


def suggest_rows(
    train: Dataset,
    test: Dataset | None = None,
    condition: str | None = None,
    *,
    shares: Sequence[float] = SHARES,
    n_seeds: int = 3,
    seed: int = 0,
    progress: Progress = silent,
) -> Suggestion:
    """Rank training rows by how much a part of the input gives their label away, and measure what dropping them does.

    Rows are predicted by quick probes trained on other rows (three folds; rows with the same text of the part are in
    one fold, so that none is known by heart), and ranked by the mean of their pointwise usable information over two
    foldings. For each share, probes are refitted without the first rows, and without as many rows of each label drawn
    at random: in new folds of what is left, and on the test set as it stands. Nothing is assumed; leakage may also
    fail to fall, where what is left says the same in other words.

    Args:
        train: N rows.
        test: To measure on as well.
        condition: The part: "hypothesis_only", ...; by default that of the last text.
        shares: Of the rows dropped.
        n_seeds: Refits of each, from which the interval comes (Student's t).
        seed: Of everything drawn.
        progress: Told after each share.

    Raises:
        InputError: The condition does not apply, there are too few rows, or a share is out of range.

    Source: Ethayarajh, Choi and Swayamdipta 2022 for the ranking; Le Bras et al. 2020, "Adversarial filters of dataset
    biases", for refitting without what is easily predicted.
    """
    wanted = condition or conditions_of(train.text_columns)[-1]
    check_whole("seed", seed, 0)
    check_whole("n_seeds", n_seeds, 1)
    _check(train, wanted, shares)
    work = _Work.of(train, test, wanted, seed)
    bits, probability, right = work.rank()
    order = np.argsort(-bits, kind="stable")
    everything = np.arange(len(train))
    before = work.measure(everything, n_seeds)
    rows: list[dict[str, Any]] = []
    rng = np.random.default_rng(seed)
    for at, share in enumerate(shares):
        n_dropped = round(share * len(train))
        chosen = order[:n_dropped]
        for kind, dropped in (("suggested", chosen), ("random", _like(chosen, work.labels, rng))):
            left = np.setdiff1d(everything, dropped)
            found = work.measure(left, n_seeds)
            rows.append({"rows": kind, "share": share, "n_dropped": n_dropped, "n_left": left.size, **found})
        progress(at + 1, len(shares))
    table = train.examples[order].select(
        pl.Series("rank", np.arange(1, order.size + 1)),
        pl.Series("row", order),
        "example_id",
        *train.text_columns,
        "label",
        pl.Series("bits", bits[order]),
        pl.Series("probability", probability[order]),
        pl.Series("right", right[order]),
    )
    return Suggestion(wanted, table, pl.DataFrame(rows), before, work.test_majority, N_FOLDS, n_seeds, seed)


@dataclass(frozen=True)
class _Work:
    """Features of training and test rows made once, and what is fitted on them."""

    features: ProbeFeatures
    labels: NDArray[np.int64]
    units: NDArray[np.int64]
    test_gold: NDArray[np.int64]
    n_classes: int
    seed: int

    @classmethod
    def of(cls, train: Dataset, test: Dataset | None, condition: str, seed: int) -> _Work:
        roles = roles_of(condition, train.text_columns)
        shown = {role: [*train.texts(role), *(test.texts(role) if test is not None else ())] for role in roles}
        features = build_features(tokenize_roles(shown), len(train))
        texts = ["\0".join(map(normalized_text, row)) for row in zip(*map(train.texts, roles), strict=True)]
        gold = np.empty(0, np.int64)
        if test is not None:
            codes = np.array([train.label_names.index(name) for name in test.label_names], np.int64)
            gold = codes[test.labels()]
        return cls(
            features=features,
            labels=train.labels(),
            units=np.unique(texts, return_inverse=True)[1].astype(np.int64),
            test_gold=gold,
            n_classes=len(train.label_names),
            seed=seed,
        )

    @property
    def test_majority(self) -> float:
        if not self.test_gold.size:
            return float("nan")
        return float(np.bincount(self.test_gold).max() / self.test_gold.size)

    def rank(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Of each row the mean bits and probability over foldings, and whether it was always predicted right."""
        n = self.labels.size
        everything = np.arange(n)
        null = label_shares(self.labels, self.labels)
        bits, probabilities, right = np.zeros(n), np.zeros(n), np.ones(n, bool)
        for number in range(N_RANKINGS):
            logits = self._out_of_fold(everything, self.seed + 1000 * (number + 1))
            log_p = cross_calibrate(logits, self.labels, self.seed + number)
            own = np.exp(log_p[everything, self.labels])
            bits += pvi(own, null) / N_RANKINGS
            probabilities += own / N_RANKINGS
            right &= logits.argmax(axis=1) == self.labels
        return bits, probabilities, right

    def measure(self, rows: NDArray[np.int64], n_seeds: int) -> dict[str, float]:
        """Out-of-fold improvement over the majority among some rows; and that on the test set of probes of them."""
        labels = self.labels[rows]
        majority = float(np.bincount(labels).max() / labels.size)
        inside, outside = [], []
        for number in range(n_seeds):
            logits = self._out_of_fold(rows, self.seed + number)
            inside.append(float(np.mean(logits.argmax(axis=1) == labels)))
            if self.test_gold.size:
                fitted = QuickProbe().fit(self.features, labels, self.n_classes, self.seed + number, rows=rows)
                tested = np.arange(self.labels.size, self.labels.size + self.test_gold.size)
                right = fitted.logits(self.features, tested).argmax(axis=1) == self.test_gold
                outside.append(float(np.mean(right)))
        bounds = mean_interval(inside) if n_seeds > 1 else None
        accuracy = float(np.mean(inside))
        nan = float("nan")
        found = {
            "majority": majority,
            "accuracy": accuracy,
            "improvement": accuracy - majority,
            "improvement_low": nan if bounds is None else bounds.low - majority,
            "improvement_high": nan if bounds is None else bounds.high - majority,
        }
        if outside:
            found["test_accuracy"] = float(np.mean(outside))
            found["test_improvement"] = found["test_accuracy"] - self.test_majority
        return found

    def _out_of_fold(self, rows: NDArray[np.int64], seed: int) -> NDArray[np.float32]:
        """Logits of each row by a probe of the other folds' rows, (rows, K)."""
        units = np.unique(self.units[rows], return_inverse=True)[1]
        fold = (np.random.default_rng(seed).permutation(units.max() + 1) % N_FOLDS)[units]
        found = np.zeros((rows.size, self.n_classes), np.float32)
        for number in range(N_FOLDS):
            apart = fold == number
            learned = rows[~apart]
            if np.unique(self.labels[learned]).size < 2:
                raise InputError("what is left has one label only", mend="drop fewer rows, or give more")
            fitted = QuickProbe().fit(self.features, self.labels[learned], self.n_classes, seed, rows=learned)
            found[apart] = fitted.logits(self.features, rows[apart])
        return found


def _like(chosen: NDArray[np.int64], labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """As many rows of each label as were chosen, at random."""
    parts = [
        rng.choice(np.flatnonzero(labels == code), int((labels[chosen] == code).sum()), replace=False)
        for code in np.unique(labels)
    ]
    return np.concatenate(parts).astype(np.int64)


def _check(train: Dataset, condition: str, shares: Sequence[float]) -> None:
    roles_of(condition, train.text_columns)
    if condition not in conditions_of(train.text_columns):
        raise InputError(
            f"rows are ranked by a text they show, and {condition!r} changes the texts",
            mend=f"choose from {', '.join(conditions_of(train.text_columns)[1:] or ('text',))}",
        )
    if len(train.text_columns) == 1:
        raise InputError(
            "the examples are single texts: there is no part of the input that could give the label away",
            file=train.source,
            mend="look at the artifacts",
        )
    if not shares or not all(is_number(share) and 0 < share < 0.9 for share in shares):
        raise InputError(f"the shares of rows to drop are {list(shares)}", mend="give values between 0 and 0.9")
    counts = np.bincount(train.labels())
    if counts[counts > 0].min() < 2 * N_FOLDS or (counts > 0).sum() < 2:
        raise InputError(
            f"the rarest label has {int(counts[counts > 0].min())} rows: too few to learn from {N_FOLDS} folds",
            file=train.source,
            mend=f"give at least {2 * N_FOLDS} rows of each of two labels",
        )
