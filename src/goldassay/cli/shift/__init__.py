"""`goldassay shift`: does the score hold elsewhere, and does the model know when it does not?"""

from __future__ import annotations

import importlib

from goldassay.cli.shift.group import shift_app

__all__ = ["shift_app"]

# In the order of the help.
for _command in ("build", "generalization", "detection"):
    importlib.import_module(f"goldassay.cli.shift.{_command}")
