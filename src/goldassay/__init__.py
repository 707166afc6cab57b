"""goldassay: how far can a text benchmark, and a score reported on it, be trusted?

Everything public is here, loaded when it is first used, so that importing the package is quick:

    import goldassay
    report = goldassay.audit("train.jsonl", "test.jsonl")
    report.save("report")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from goldassay.version import __version__

if TYPE_CHECKING:
    from goldassay import artifacts, instability, leakage, shift
    from goldassay.core.errors import GoldassayError, InputError, MissingDependencyError, UndefinedMeasureWarning
    from goldassay.data.dataset import Dataset
    from goldassay.data.reading import read_dataset
    from goldassay.lab.training.command import train
    from goldassay.questions.answered.command import measure_answered
    from goldassay.questions.artifacts.command import measure_artifacts
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.questions.board.command import rank_systems
    from goldassay.questions.comparison.command import compare_models
    from goldassay.questions.gating import assert_sound
    from goldassay.questions.instability.command import measure_instability
    from goldassay.questions.leakage.command import measure_leakage, suggest_rewrites
    from goldassay.questions.overlap.command import measure_overlap
    from goldassay.questions.public import audit, check, diff, look, paste
    from goldassay.questions.sensitivity.command import measure_sensitivity
    from goldassay.questions.shift.command import build_shift, detect_shift, measure_shift
    from goldassay.report.report import Report
    from goldassay.runs.reading import list_runs, read_runs
    from goldassay.runs.runs import Runs

_HOME = {
    "Dataset": "goldassay.data.dataset",
    "GoldassayError": "goldassay.core.errors",
    "InputError": "goldassay.core.errors",
    "MissingDependencyError": "goldassay.core.errors",
    "PatternTable": "goldassay.artifacts",
    "Report": "goldassay.report.report",
    "Runs": "goldassay.runs.runs",
    "UndefinedMeasureWarning": "goldassay.core.errors",
    "assert_sound": "goldassay.questions.gating",
    "audit": "goldassay.questions.public",
    "compare_models": "goldassay.questions.comparison.command",
    "build_shift": "goldassay.questions.shift.command",
    "check": "goldassay.questions.public",
    "detect_shift": "goldassay.questions.shift.command",
    "diff": "goldassay.questions.public",
    "list_runs": "goldassay.runs.reading",
    "look": "goldassay.questions.public",
    "measure_answered": "goldassay.questions.answered.command",
    "measure_artifacts": "goldassay.questions.artifacts.command",
    "measure_instability": "goldassay.questions.instability.command",
    "measure_leakage": "goldassay.questions.leakage.command",
    "measure_overlap": "goldassay.questions.overlap.command",
    "measure_sensitivity": "goldassay.questions.sensitivity.command",
    "measure_shift": "goldassay.questions.shift.command",
    "paste": "goldassay.questions.public",
    "rank_systems": "goldassay.questions.board.command",
    "read_dataset": "goldassay.data.reading",
    "read_runs": "goldassay.runs.reading",
    "suggest_rewrites": "goldassay.questions.leakage.command",
    "train": "goldassay.lab.training.command",
}
_ROOMS = ("artifacts", "board", "instability", "leakage", "shift")

__all__ = [
    "Dataset",
    "GoldassayError",
    "InputError",
    "MissingDependencyError",
    "PatternTable",
    "Report",
    "Runs",
    "UndefinedMeasureWarning",
    "__version__",
    "artifacts",
    "assert_sound",
    "audit",
    "board",
    "build_shift",
    "check",
    "compare_models",
    "detect_shift",
    "diff",
    "instability",
    "leakage",
    "list_runs",
    "look",
    "measure_answered",
    "measure_artifacts",
    "measure_instability",
    "measure_leakage",
    "measure_overlap",
    "measure_sensitivity",
    "measure_shift",
    "paste",
    "rank_systems",
    "read_dataset",
    "read_runs",
    "shift",
    "suggest_rewrites",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"goldassay.{name}")
    else:
        raise AttributeError(f"module 'goldassay' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
