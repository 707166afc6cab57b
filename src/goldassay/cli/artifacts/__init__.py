"""`goldassay artifacts`: find the patterns that give labels away, and what to do about them."""

from __future__ import annotations

import importlib

from goldassay.cli.artifacts.group import artifacts_app

__all__ = ["artifacts_app"]

# In the order of the help.
for _command in ("mine", "assign", "gap", "classify", "downsample"):
    importlib.import_module(f"goldassay.cli.artifacts.{_command}")
