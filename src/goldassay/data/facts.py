"""The plain facts of a dataset, and what is demanded of its labels, before any question is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.document import DatasetFacts, Duplicates, PremiseReuse, Shared, TextLengths
from goldassay.core.errors import InputError
from goldassay.data.labels import NON_ENTAILMENT
from goldassay.data.languages import UNSPACED

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset


def describe(train: Dataset, test: Dataset | None = None) -> DatasetFacts:
    """Count what a dataset holds: labels, lengths, duplicates, overlap of test with training, reuse of premises."""
    splits = {"train": train} | ({"test": test} if test is not None else {})
    unit = length_unit_of(train)
    return DatasetFacts(
        n_train=len(train),
        n_test=None if test is None else len(test),
        label_counts={split: _label_counts(part) for split, part in splits.items() if part.label_names},
        lengths=tuple(row for split, part in splits.items() for row in _lengths(part, split, unit)),
        length_unit=unit,
        duplicates={split: _duplicates(part) for split, part in splits.items()},
        overlap={} if test is None else _overlap(train, test),
        premise_reuse={split: _premise_reuse(part) for split, part in splits.items() if part.is_pair},
        dropped={split: dict(part.provenance.dropped) for split, part in splits.items()},
    )


def length_unit_of(dataset: Dataset) -> str:
    """In what its texts are measured: "characters" where the script sets no spaces between words, else "words"."""
    sample = dataset.examples[dataset.text_columns[0]].head(1000)
    unspaced = int(sample.str.count_matches(UNSPACED).sum())
    return "characters" if 2 * unspaced > int(sample.str.len_chars().sum()) else "words"


def _label_counts(dataset: Dataset) -> dict[str, int]:
    counts = dict(dataset.examples["label"].value_counts().iter_rows())
    return {name: int(counts.get(name, 0)) for name in dataset.label_names}


def _lengths(dataset: Dataset, split: str, unit: str) -> list[TextLengths]:
    rows: list[TextLengths] = []
    for role in dataset.text_columns:
        text = pl.col(role)
        length = text.str.len_chars() if unit == "characters" else text.str.count_matches(r"\S+")
        label = pl.col("label") if dataset.label_names else pl.lit(None, pl.String).alias("label")
        table = (
            dataset.examples.select(label, length.alias("length"))
            .group_by("label")
            .agg(
                n=pl.len(),
                mean=pl.col("length").mean(),
                median=pl.col("length").median(),
                p95=pl.col("length").quantile(0.95, "linear"),
            )
        )
        found = {row["label"]: row for row in table.to_dicts()}
        order = [name for name in dataset.label_names if name in found] or list(found)
        rows.extend(TextLengths(split=split, role=role, **found[name]) for name in order)
    return rows


def _duplicates(dataset: Dataset) -> Duplicates:
    texts = list(dataset.text_columns)
    labelled = "label" in dataset.examples.columns
    frame = _recurring(dataset.examples.select([*texts, *(["label"] if labelled else [])]), texts)
    exact = frame.height - frame.n_unique()
    if not labelled:
        return Duplicates(exact, 0)
    labels = frame.group_by(texts).agg(n=pl.len(), labels=pl.col("label").n_unique())
    conflicting = labels.filter(pl.col("labels") > 1)["n"].sum()
    return Duplicates(exact, int(conflicting))


def _recurring(frame: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """The rows that may equal another one in some columns: those whose hash is not unique. It takes little memory."""
    return frame.filter(frame.select(columns).hash_rows().is_duplicated())


def _overlap(train: Dataset, test: Dataset) -> dict[str, Shared]:
    roles = [role for role in test.text_columns if role in train.text_columns]
    counts: dict[str, int] = {}
    compared = {"rows": roles} if roles == list(test.text_columns) else {}
    for what, columns in (compared | {role: [role] for role in roles}).items():
        # Of the training rows first those that are there too: all of them in one table would take far more memory.
        common = train.examples.select(columns).join(test.examples, on=columns, how="semi")
        counts[what] = test.examples.join(common, on=columns, how="semi").height
    return {what: Shared(n, n / len(test) if len(test) else 0.0) for what, n in counts.items()}


def _premise_reuse(dataset: Dataset) -> PremiseReuse:
    recurring = _recurring(dataset.examples.select("premise"), ["premise"])
    uses = recurring["premise"].value_counts(name="n")["n"]
    distinct = len(dataset) - recurring.height + len(uses)
    return PremiseReuse(
        distinct=distinct,
        mean=len(dataset) / distinct if distinct else 0.0,
        max=max(uses.to_list(), default=min(distinct, 1)),
    )


def check_same_labels(train: Dataset, test: Dataset) -> None:
    """Refuse a test set with labels that the training set lacks.

    Raises:
        InputError: Names the test set, the labels, and the mend.
    """
    missing = [name for name in test.label_names if name not in train.label_names]
    if not missing:
        return
    merged = set(missing) == {NON_ENTAILMENT} and "contradiction" in train.label_names
    mend = (
        "merge neutral and contradiction of the training set into non-entailment, or test on a file with three classes"
        if merged
        else f"give a test file of the same task; {test.other_label()}"
    )
    raise InputError(
        f"the test set has labels that the training set lacks ({', '.join(missing)}; "
        f"the training set has {', '.join(train.label_names) or 'none'})",
        file=test.source,
        mend=mend,
    )


def require_classes(dataset: Dataset, at_least: int = 2) -> None:
    """Refuse a dataset whose rows have fewer than `at_least` different labels.

    Raises:
        InputError: Also where the dataset has no labels at all.
    """
    dataset.labels()
    present = dataset.examples["label"].unique().to_list()
    if len(present) < at_least:
        only = f"only the label {present[0]!r}" if present else "no label"
        raise InputError(
            f"there is {only}",
            file=dataset.source,
            mend=f"give a file with at least {at_least} classes; {dataset.other_label()}",
        )
