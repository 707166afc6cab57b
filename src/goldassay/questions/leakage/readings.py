"""What readers of a part of the input name for each test example, and what they name where a word is planted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.progress import silent
from goldassay.data.text_form import form_words
from goldassay.data.word_shapes import spelled_with
from goldassay.questions.leakage.condition_evidence import PAIRED, PROBES, TEXT, ConditionEvidence, is_part, softmax_at
from goldassay.readers.naive_bayes import telling_evidence, word_evidence
from goldassay.readers.probes import train_probes
from goldassay.stats.calibration import cross_calibrate
from goldassay.stats.detection import (
    WORDS_FOR_READERS,
    filling_word,
    planted_rows,
    planted_word,
)
from goldassay.stats.effects import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.data import Dataset
    from goldassay.runs import Runs

WHOLE_INPUT = "the whole input"
QUICK, FORM, WORDS = "quick probe", "form of the text", "naive Bayes on words"
# Training rows from which the form is learned: it has a few hundred words.
FORM_ROWS = 100_000
# Standard errors by which a word may lean to a label by luck: one of twenty, of eighty, of four hundred words.
LEANINGS = (2.0, 2.5, 3.0)


def part_name(condition: str) -> str:
    """The part of the input that a condition shows."""
    return condition.removesuffix("_only").replace("_", " ")


def readings_of(evidence: ConditionEvidence, codes: NDArray[np.int64] | None) -> list[Reading]:
    """What the runs of each part of the input name for each test example.

    Probabilities of quick probes were calibrated on training rows that they had not learned. Those of all other runs
    are calibrated here, each half of the clusters by the other.

    Args:
        evidence: Runs of the conditions.
        codes: Cluster of each example, (N,); None where each is its own.
    """
    found = [
        _reading(runs, part_name(condition), evidence, codes)
        for condition, runs in evidence.conditions.items()
        if is_part(condition)
    ]
    return [*found, *evidence.rules]


def whole_readings(evidence: ConditionEvidence) -> list[Reading]:
    """What the runs of the whole input name for each test example; nothing is judged by it."""
    return [
        _reading(evidence.conditions[condition], WHOLE_INPUT, evidence, None)
        for condition in (PAIRED, TEXT)
        if condition in evidence.conditions
    ]


def _reading(runs: Runs, part: str, evidence: ConditionEvidence, codes: NDArray[np.int64] | None) -> Reading:
    final, gold = runs.final(), evidence.gold
    # Models of other names a condition are no kind of model.
    names = {each.model for each in evidence.conditions.values()}
    reader = QUICK if evidence.source == PROBES else " ".join(["model", *(names if len(names) == 1 else ())]).strip()
    if evidence.chance is not None:
        return Reading(part, reader, None, correct=final.scores, chance=evidence.chance)
    if final.logits is None or np.asarray(final.logits).shape[-1] != len(evidence.label_names):
        return Reading(part, reader, final.predictions, correct=final.scores)
    logs = np.asarray(final.logits, dtype=np.float64)
    if evidence.source != PROBES:
        logs = np.stack([cross_calibrate(each, gold, codes=codes) for each in logs])
    train_gold = evidence.train_gold
    return _of_logs(part, reader, logs, gold, gold if train_gold is None else train_gold, final.predictions)


def _of_logs(
    part: str,
    reader: str,
    logs: NDArray[np.float64],
    gold: NDArray[np.int64],
    known: NDArray[np.int64],
    predictions: NDArray[np.integer] | None = None,
) -> Reading:
    """A reading from logarithms of probabilities, (R, N, K), up to a constant of each row."""
    counts = np.bincount(known, minlength=logs.shape[-1])
    shares = (counts + 0.5) / (counts.sum() + counts.size / 2)
    named = logs.argmax(axis=-1) if predictions is None else predictions
    with np.errstate(divide="ignore"):
        own = np.log(softmax_at(logs, gold))
    # A label without a training row has no share to be compared with.
    lifted = np.where(counts > 0, logs - np.log(shares), -np.inf).argmax(axis=-1)
    return Reading(part, reader, named, lifted, own)


def form_readings(train: Dataset, test: Dataset, conditions: Sequence[str], seed: int) -> list[Reading]:
    """What a quick probe names that sees only how the text of each condition is written; see `form_words`."""
    if len(train) > FORM_ROWS:
        train = train.take(np.sort(np.random.default_rng(seed).choice(len(train), FORM_ROWS, replace=False)))
    found = quick_readings(_forms_of(train), _forms_of(test), conditions, seed, silent)
    return [replace(each, reader=FORM) for each in found]


def _forms_of(dataset: Dataset) -> Dataset:
    forms = [form_words(dataset.examples[role]).alias(role) for role in dataset.text_columns]
    return replace(dataset, examples=dataset.examples.with_columns(forms))


def quick_readings(
    train: Dataset, test: Dataset, conditions: Sequence[str], seed: int, progress: Progress
) -> list[Reading]:
    """What a quick probe of each condition names, trained once."""
    found = []
    runs = train_probes(train, test, conditions=conditions, seeds=[seed], progress=progress)
    for run in runs:
        assert run.logits is not None
        assert run.gold is not None
        logs = np.asarray(run.logits, dtype=np.float64)
        found.append(_of_logs(part_name(run.condition), QUICK, logs, run.gold, train.labels()))
    return found


def word_readings(train: Dataset, test: Dataset, conditions: Sequence[str]) -> list[Reading]:
    """What naive Bayes on the words of one text names, which adds up rare words, and the letters of the rarest."""
    order = np.array([train.label_names.index(name) for name in test.label_names], dtype=np.int64)
    gold, codes = order[test.labels()], train.labels()
    counts = np.bincount(codes, minlength=len(train.label_names))
    found = []
    for role in (name.removesuffix("_only") for name in conditions):
        known, asked = (part.examples[role].fill_null("") for part in (train, test))
        of_known, of_asked = spelled_with(known, asked)
        logs = word_evidence(known + " " + of_known, codes, counts.size, asked + " " + of_asked)
        # A label without a training row is named by nothing.
        with np.errstate(divide="ignore"):
            logs += np.log(counts / counts.sum())
        read = _of_logs(part_name(role), WORDS, logs[np.newaxis], gold, codes)
        found.append(replace(read, log_probabilities=None))
    return found


def telling_readings(train: Dataset, test: Dataset, conditions: Sequence[str]) -> list[Reading]:
    """What the words of one text name that lean to a label by themselves, from three strengths of leaning on."""
    codes = train.labels()
    counts = np.bincount(codes, minlength=len(train.label_names))
    with np.errstate(divide="ignore"):
        shares = np.log(counts / counts.sum())
    found = []
    for role in (name.removesuffix("_only") for name in conditions):
        known, asked = (part.examples[role].fill_null("") for part in (train, test))
        evidence = telling_evidence(known, codes, counts.size, asked, LEANINGS)
        # A label without a training row is named by nothing.
        evidence[:, :, counts == 0] = -np.inf
        for least, each in zip(LEANINGS, evidence, strict=True):
            named, lifted = (values.argmax(axis=1)[np.newaxis] for values in (each + shares, each))
            found.append(Reading(part_name(role), f"words that lean by {least:g} standard errors", named, lifted))
    return found


def planted(dataset: Dataset, label_names: Sequence[str], constant: int, share: float, seed: int) -> Dataset:
    """A copy in which a word of the label ends the texts of a share of the rows of each label but the constant one.

    All other texts end in a word of their own, so that all become longer by one.
    """
    order = np.array([label_names.index(name) for name in dataset.label_names], dtype=np.int64)
    codes = order[dataset.labels()]
    numbers = planted_rows(codes, len(label_names), share, constant, WORDS_FOR_READERS, seed)
    ends = [
        f" {filling_word(row) if number < 0 else planted_word(code, number)}"
        for row, (code, number) in enumerate(zip(codes.tolist(), numbers.tolist(), strict=True))
    ]
    words = pl.Series(ends, dtype=pl.String)
    texts = [(pl.col(role).fill_null("") + words).alias(role) for role in dataset.text_columns]
    return replace(dataset, examples=dataset.examples.with_columns(texts))


def planted_readings(
    train: Dataset, test: Dataset, conditions: Sequence[str], share: float, seed: int, progress: Progress
) -> list[Reading]:
    """What the quick readers of each condition name where words are planted in both parts.

    One probe a condition is enough: what it finds, the mean of several finds too.
    """
    counts = np.bincount(train.labels(), minlength=len(train.label_names))
    constant = int(counts.argmax())
    copies = [
        planted(part, train.label_names, constant, share, seed + place) for place, part in enumerate((train, test))
    ]
    return [
        *quick_readings(copies[0], copies[1], conditions, seed, progress),
        *word_readings(copies[0], copies[1], conditions),
    ]
