"""Shift as a study of its own: from the predictions of models on several datasets to a report."""

from goldassay.studies.shift.detection_report import report_detection
from goldassay.studies.shift.gap_report import report_generalization

__all__ = ["report_detection", "report_generalization"]
