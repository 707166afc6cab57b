"""Build the wheel and the sdist, and use each in fresh environments: `make release` before an upload.

    python scripts/release.py [--pythons python3.11 python3.12 ...]

Checks that the version is one everywhere and the changelog short; builds into dist/; and with every Python from 3.11 on
that is there, installs the wheel (with the first one the sdist, too), makes a specimen, audits it, and looks at it.
Ends with exit status 1 at the first thing that is wrong.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
MOST_CHANGES = 60
# What a wheel without it would lack, and nothing else would say so.
NEEDED = ("goldassay/py.typed", "goldassay/cli/main.py", "goldassay/report/templates/")


def versions() -> dict[str, str]:
    """The version as each file has it."""
    found = {}
    for name, pattern in (
        ("src/goldassay/version.py", r'__version__ = "([^"]+)"'),
        ("CITATION.cff", r"(?m)^version: (\S+)"),
        ("CHANGELOG.md", r"(?m)^## (\S+)"),
    ):
        said = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"))
        found[name] = said[1] if said else "none"
    return found


def check_texts() -> str:
    """The version; raises SystemExit where files disagree or the changelog is long."""
    said = versions()
    if len(set(said.values())) > 1:
        raise SystemExit(f"the files have several versions: {said}")
    n = len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines())
    if n > MOST_CHANGES:
        raise SystemExit(f"CHANGELOG.md has {n} lines; {MOST_CHANGES} are enough")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "urls" not in project:
        print("pyproject.toml names no urls yet: fill in the marked line before an upload")
    return next(iter(said.values()))


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints; raises SystemExit with all of it where it fails."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(version: str) -> tuple[Path, Path]:
    """The wheel and the sdist, made anew."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", DIST, cwd=ROOT)
    wheel, sdist = DIST / f"goldassay-{version}-py3-none-any.whl", DIST / f"goldassay-{version}.tar.gz"
    names = zipfile.ZipFile(wheel).namelist()
    lacking = [each for each in NEEDED if not any(name.startswith(each) for name in names)]
    strange = [name for name in names if not name.startswith(("goldassay/", f"goldassay-{version}.dist-info/"))]
    if lacking or strange:
        raise SystemExit(f"{wheel.name} lacks {lacking} and has {strange[:5]} besides")
    return wheel, sdist


def use(python: str, package: Path, version: str) -> None:
    """Install a package in a fresh environment, and use it away from the clone."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        place = Path(folder)
        run(python, "-m", "venv", place / "venv", cwd=place)
        run(place / "venv" / "bin" / "pip", "install", "--quiet", package, cwd=place)
        goldassay = place / "venv" / "bin" / "goldassay"
        said = run(goldassay, "--version", cwd=place).strip()
        if version not in said:
            raise SystemExit(f"{package.name} with {python} says {said!r}")
        run(goldassay, "specimen", "--quiet", "-o", "specimen", cwd=place)
        run(goldassay, "look", "specimen/train.jsonl", cwd=place)
        run(goldassay, "audit", "specimen/train.jsonl", "--test", "specimen/test.jsonl", "-o", "report", cwd=place)
        if not (place / "report" / "report.html").is_file():
            raise SystemExit(f"{package.name} with {python} wrote no page")
    print(f"{package.name} with {python}: installed, specimen audited")


def main() -> None:
    """Build, and try with every Python that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", nargs="+", default=[each for each in PYTHONS if shutil.which(each)])
    chosen = parser.parse_args().pythons
    version = check_texts()
    wheel, sdist = build(version)
    for number, python in enumerate(chosen):
        for package in (wheel, sdist) if number == 0 else (wheel,):
            use(python, package, version)
    print(f"goldassay {version}: {wheel.name} and {sdist.name} lie in {DIST.relative_to(ROOT)}")
    untried = sorted({*PYTHONS} - {Path(each).name for each in chosen})
    if untried:
        print(f"not tried, since not installed here: {', '.join(untried)}")


if __name__ == "__main__":
    main()
