"""Distributions that are installed for a test: a module, and the metadata that name its entry points."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goldassay.core import extensions
from goldassay.data.kinds import added_kinds
from goldassay.data.readers import all_readers
from goldassay.questions.checks import added_checks
from goldassay.runs.adapters import adapters

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def installed(folder: Path, group: str, **points: str) -> Iterator[None]:
    """Install modules of this folder as a distribution, for as long as this is open.

    Args:
        folder: Where it is installed.
        group: Of the entry points.
        points: {name: module, or module:object}.
    """
    metadata = folder / "added-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    lines = [f"{name} = {value}\n" for name, value in points.items()]
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{''.join(lines)}")
    modules = [value.partition(":")[0] for value in points.values()]
    for module in modules:
        if (file := Path(__file__).parent / f"{module}.py").exists():
            shutil.copy(file, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        _forget()
        try:
            yield
        finally:
            _forget()
            for module in modules:
                sys.modules.pop(module, None)


def _forget() -> None:
    for found in (extensions._entry_points, all_readers, added_kinds, adapters, added_checks):
        found.cache_clear()
