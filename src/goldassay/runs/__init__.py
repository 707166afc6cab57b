"""Runs: what several trainings of a model predicted on one dataset, from memory, from disk, from other tools."""

from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

__all__ = ["Runs", "list_runs", "read_runs", "write_runs"]
