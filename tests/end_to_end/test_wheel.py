"""The package as it is published: a wheel, in an environment that has never seen the source."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    (built,) = folder.glob("goldassay-*.whl")
    return built


def test_the_wheel_holds_what_the_package_needs_at_run_time(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    source = ROOT / "src"
    for file in source.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert str(file.relative_to(source)) in held
    assert not [name for name in held if name.startswith("tests")]


@pytest.mark.slow
def test_it_installs_and_audits_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    programs = tmp_path / "venv" / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", wheel], check=True)
    subprocess.run([programs / "goldassay", "specimen", "-o", "s", "--size", "4000"], check=True, cwd=tmp_path)
    arguments = ("audit", "s/train.jsonl", "--test", "s/test.jsonl", "-o", "report")
    done = subprocess.run(
        [programs / "goldassay", *arguments], check=True, cwd=tmp_path, capture_output=True, text=True
    )
    assert "UNSOUND" in done.stdout
    assert (tmp_path / "report" / "report.html").exists()
