"""What every report's document has around its findings: schema, title, environment, times."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from goldassay.report.digest import digest_of
from goldassay.report.report import SCHEMA, SCHEMA_VERSION
from goldassay.results import to_plain
from goldassay.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.progress import Steps

_PACKAGES = ("goldassay", "numpy", "scipy", "scikit-learn", "polars", "numba", "nltk")
_TRAINING = ("torch", "transformers", "accelerate")


def describe_environment(*, trained: bool = False) -> dict[str, Any]:
    """Python, platform and the versions of the libraries that compute, and that train where something was trained."""
    packages = {}
    for name in (*_PACKAGES, *(_TRAINING if trained else ())):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": packages,
    }


def frame_findings(title: str, findings: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
    """Put findings into a report's document; all that differs between two equal runs is in its block `timing`.

    Nothing may be changed in it afterwards: its digest would not fit.
    """
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "goldassay_version": __version__,
        "title": title,
        **findings,
        "environment": describe_environment(),
        "timing": {
            "started": steps.started.isoformat(timespec="seconds"),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": {name: round(seconds, 3) for name, seconds in steps.seconds.items()},
        },
    }
    plain: dict[str, Any] = to_plain(document)
    return {**plain, "digest": digest_of(plain)}
