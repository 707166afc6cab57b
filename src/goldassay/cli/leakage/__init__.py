"""`goldassay leakage`: how much of the label a part of the input gives away, and which rows to rewrite first."""

from __future__ import annotations

import importlib

from goldassay.cli.leakage.group import leakage_app

__all__ = ["leakage_app"]

# In the order of the help.
for _command in ("measure", "suggest"):
    importlib.import_module(f"goldassay.cli.leakage.{_command}")
