"""The command as a process, as its users run it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND = Path(sys.executable).with_name("goldassay")
LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class Outcome:
    """What a process left: exit status and its two streams."""

    status: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line of the error; fails when there are more, or a traceback."""
        lines = self.err.strip("\n").split("\n")
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        assert len(lines[0]) < 600, "the line must stay readable"
        return lines[0]


@pytest.fixture
def goldassay(tmp_path: Path) -> Callable[..., Outcome]:
    """Run the command in a folder of its own."""

    def run(*arguments: str | Path, prefix: tuple[str, ...] = (), timeout: float = 240) -> Outcome:
        process = subprocess.run(
            [*prefix, str(COMMAND), *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={key: value for key, value in os.environ.items() if key != "GOLDASSAY_DEBUG"},
        )
        return Outcome(process.returncode, process.stdout, process.stderr)

    return run


@pytest.fixture(scope="session")
def without_root() -> tuple[str, ...]:
    """What to put before a command so that file permissions hold for it; root otherwise reads and writes all."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root ignores permissions, and setpriv, which takes that away, is not here")
    dropped = "-dac_override,-dac_read_search,-fowner"
    return ("setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}")


def pairs(n: int = 120, labels: tuple[str, ...] = LABELS) -> list[dict[str, str]]:
    """Rows of a dull but valid dataset, every text different."""
    return [
        {
            "premise": f"A person in coat {i} walks along street {i % 7}.",
            "hypothesis": f"Somebody number {i} is outside.",
            "label": labels[i % len(labels)],
        }
        for i in range(n)
    ]
