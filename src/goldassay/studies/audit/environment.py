"""What a report says of the machine and the libraries that made it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = ("goldassay", "numpy", "scipy", "scikit-learn", "polars", "numba", "nltk")


def describe_environment() -> dict[str, Any]:
    """Python, platform and the versions of the libraries that compute."""
    packages = {}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": packages,
    }
