"""Datasets: read from every common format, understood, described and split."""

from __future__ import annotations

from goldassay.core.document import DatasetFacts
from goldassay.data.dataset import Dataset
from goldassay.data.facts import check_same_labels, describe, require_classes
from goldassay.data.reading import formats, read_dataset
from goldassay.data.roles import parse_columns
from goldassay.data.splits import split_disjoint
from goldassay.data.table import InputFile, Provenance

__all__ = [
    "Dataset",
    "DatasetFacts",
    "InputFile",
    "Provenance",
    "check_same_labels",
    "describe",
    "formats",
    "parse_columns",
    "read_dataset",
    "require_classes",
    "split_disjoint",
]
