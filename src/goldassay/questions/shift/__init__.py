"""Shift as a study of its own: from the predictions of models on several datasets to a report."""

from goldassay.questions.shift.detection_report import report_detection
from goldassay.questions.shift.gap_report import report_generalization

__all__ = ["report_detection", "report_generalization"]
