"""The command `goldassay`: parse, call, print. It computes nothing.

One file a command group; each adds its commands to `app` in `goldassay.cli.app`.
"""

from __future__ import annotations

from goldassay.cli.main import main

__all__ = ["main"]
