"""`python -m tests.agreement.ledger write OUT.json`, `... compare OLD.json NEW.json`, `... between BASE`.

`write` runs a source tree, this one or that of --source; `between` writes the ledgers of a commit and of the working
tree into a folder outside of the repository, and compares them. Exit status 1 where something differs.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .compare import compare, renamed, report
from .running import MissingInputError, run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("GOLDASSAY_DATA", ROOT.parent / "shared" / "data"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="ledger", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    writing, comparing, between = (actions.add_parser(name) for name in ("write", "compare", "between"))
    writing.add_argument("out", type=Path)
    writing.add_argument("--source", type=Path, default=ROOT / "src", help="the folder that holds the package")
    writing.add_argument("--keep", type=Path, help="run in this new folder, and keep it")
    between.add_argument("base", help="a commit")
    between.add_argument("--place", type=Path, default=Path(tempfile.gettempdir()) / "goldassay-ledger")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    for each in (writing, comparing, between):
        each.add_argument("--only", default="", metavar="TEXT", help="runs whose scenario/name holds this text")
    for each in (writing, between):
        each.add_argument("--jobs", type=int, default=2, metavar="N", help="processes side by side")
    for each in (comparing, between):
        each.add_argument(
            "--renamed", action="append", default=[], metavar="OLD=NEW",
            help="a name of keys, figures, columns or files that is another in the new ledger; repeatable",
        )  # fmt: skip
        each.add_argument("--most", type=int, default=25, metavar="N", help="differences shown of a run")
    given = parser.parse_args(arguments)
    try:
        if given.action == "write":
            write(given.out, given.source.resolve(), given.only, given.jobs, given.keep)
            return 0
        if given.action == "between":
            given.old, given.new = write_both(given.base, given.place, given.only, given.jobs)
    except MissingInputError as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 2
    old, new = (path.read_text(encoding="utf-8") for path in (given.old, given.new))
    found = compare(json.loads(renamed(old, given.renamed)), json.loads(new))
    differences = [each for each in found if given.only in each.entry]
    print(*report(differences, most=given.most), sep="\n")
    return int(bool(differences))


def write(out: Path, source: Path, only: str, jobs: int, keep: Path | None = None) -> None:
    """Write the ledger of a source tree."""
    with contextlib.ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledger-")))
        folder.mkdir(exist_ok=True)
        ledger = run_all(source, DATA, only, jobs, folder.resolve(), complete=source == ROOT / "src")
    out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"made_by": _own_digest(), **ledger}, indent=1, sort_keys=True)
    out.write_text(text + "\n", encoding="utf-8")
    print(f"{out}: {len(ledger['entries'])} runs", file=sys.stderr)


def write_both(base: str, place: Path, only: str, jobs: int) -> tuple[Path, Path]:
    """Write the ledgers of a commit and of the working tree, by the inputs of this one.

    The commit's sources stay, so that nothing is compiled twice, and so does its whole ledger.
    """
    found = subprocess.run(
        ["git", "rev-parse", "--verify", f"{base}^{{commit}}"], cwd=ROOT, check=True, capture_output=True
    )
    commit = found.stdout.decode().strip()
    tree, kind = place / commit, "part" if only else "whole"
    old, new = place / f"{commit}-{kind}.json", place / f"working-tree-{kind}.json"
    if not tree.exists():
        aside = place / f"{commit}.aside"
        aside.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(aside)], input=archive, check=True)
        aside.rename(tree)
    if only or not old.exists() or json.loads(old.read_text(encoding="utf-8"))["made_by"] != _own_digest():
        write(old, (tree / "src").resolve(), only, jobs)
    write(new, ROOT / "src", only, jobs)
    return old, new


def _own_digest() -> str:
    """Of what makes a ledger: two of the same can be compared."""
    files = sorted(path for path in Path(__file__).parent.iterdir() if path.is_file())
    sources = b"".join(path.read_bytes() for path in files)
    return hashlib.sha256(sources + str(DATA.is_dir()).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
