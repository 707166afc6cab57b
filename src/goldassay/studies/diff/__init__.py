"""Two reports side by side: what changed when a dataset was mended, or a model."""

from __future__ import annotations

from goldassay.studies.diff.comparing import ReportDiff, diff_reports

__all__ = ["ReportDiff", "diff_reports"]
