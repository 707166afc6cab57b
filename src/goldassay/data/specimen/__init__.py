"""Specimens: made-up benchmarks, clean or with certified flaws, to check an audit on."""

from __future__ import annotations

from goldassay.data.specimen.specimen import LEAST_SIZE, LEAST_SIZE_CLEAN, Specimen, make_specimen

__all__ = ["LEAST_SIZE", "LEAST_SIZE_CLEAN", "Specimen", "make_specimen"]
