"""Leakage: how much of the label can be read from a part of the input?"""

from goldassay.leakage.single_sentence import (
    ConditionAccuracy,
    SingleSentenceReport,
    single_sentence_report,
)

__all__ = ["ConditionAccuracy", "SingleSentenceReport", "single_sentence_report"]
