"""From results to files: one renderer a medium, all fed by the same plain document."""

from __future__ import annotations

from goldassay.report.report import Report

__all__ = ["Report"]
