"""Two reports side by side: what changed when a dataset was mended, or a model."""

from __future__ import annotations

from goldassay.gate.diff.comparing import Changes, compare_reports

__all__ = ["Changes", "compare_reports"]
