"""Rules of a policy that several questions share, and which runs they do not count."""

from __future__ import annotations

from goldassay.core.figures import Rule

# Quick probes measure a benchmark. Their spread says nothing about the model that a policy is about, even where the
# runs that an audit left are measured like those of a model.
NO_QUICK_PROBES = {"model": "quick_probe"}
MIN_RUNS = Rule("min_runs", "number of runs of a model", "at least", NO_QUICK_PROBES)
