"""Which kind of target a dataset asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.training.span_target import SpanTarget, is_of_spans
from goldassay.training.targets import LabelTarget, NumberTarget, Target, has_numbers

if TYPE_CHECKING:
    from goldassay.data import Dataset


def target_of(dataset: Dataset) -> type[Target]:
    """Spans, numbers or labels."""
    if is_of_spans(dataset):
        return SpanTarget
    return NumberTarget if has_numbers(dataset) else LabelTarget
