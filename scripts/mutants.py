"""Change the package's source at random places, one at a time, and count the changes that tests notice: `make mutants`.

    python scripts/mutants.py [--n 60] [--seed 0] [--limit 300] [--out build/mutants]

A mutant is one change: a comparison turned, + for - or * for /, `and` for `or`, a condition negated, a number one more,
`return None`, or a statement left out. Rooms get as many as `ROOMS` says. Each mutant is made in a copy of the
tree, in a temporary folder, and meets everyday tests until one fails: the files that import or name what was changed,
its own module or one that imports it, then the others of its room. A test that fails counts only if it passes without
the change.

OUT-SEED.json has of each mutant the place, the change, what noticed it ("figure": an assertion; "crash": another error
or an exit status; "time": a test ran too long), and whether any test ran the changed place at all. Whether a survivor
changes behavior is for its reader to judge.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "goldassay"
# Files of each room, those of none before it, and its share of the mutants.
ROOMS = {
    "measures": (25, ("questions/*/measures/*.py", "questions/*/measures.py")),
    "questions": (20, ("questions/**/*.py",)),
    "data and runs": (10, ("data/**/*.py", "runs/**/*.py")),
    "report, view, gate": (5, ("report/**/*.py", "view/**/*.py", "gate/**/*.py")),
}
TURNED: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
# Test files of either stage, at most; imports between what they import and the changed module.
FILES, STEPS = 14, 2
# A name that more test files hold says nothing about what they test.
COMMON = 30
# What is only typed or written has no mutants.
TYPED = ("annotation", "returns", "decorator_list")
PASSED_OVER = (ast.JoinedStr, ast.pattern, ast.Import, ast.ImportFrom)
# Loaded once: to load them takes longer than most tests.
LIBRARIES = ("numpy", "polars", "scipy.stats", "sklearn.linear_model", "numba", "pydantic", "hypothesis.extra.numpy")


class Mutant(NamedTuple):
    """One change: the bytes from `start` to `end` of a file, `old`, become `new`."""

    room: str
    path: str
    line: int
    within: tuple[str, ...]
    start: int
    end: int
    old: str
    new: str


def changes(node: Any) -> Iterator[ast.AST]:
    """What a node may become."""
    if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp):
        for at, sign in enumerate(node.ops if isinstance(node, ast.Compare) else [node.op]):
            if type(sign) in TURNED:
                other = TURNED[type(sign)]()
                signs = {
                    "op": other,
                    "ops": [*getattr(node, "ops", [])[:at], other, *getattr(node, "ops", [])[at + 1 :]],
                }
                yield type(node)(**{name: signs.get(name, value) for name, value in ast.iter_fields(node)})
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        yield ast.Constant(not node.value if type(node.value) is bool else node.value + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp | ast.If | ast.While) and not isinstance(node.test, ast.Compare):
        yield ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield ast.Constant(None)
    elif isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break):
        yield ast.Pass()


def find_mutants(room: str, path: Path) -> list[Mutant]:
    """All mutants of a file, in its order."""
    source = path.read_bytes()
    starts = list(accumulate(map(len, source.splitlines(keepends=True)), initial=0))
    found: list[Mutant] = []

    def visit(node: Any, within: tuple[str, ...]) -> None:
        # zip(strict=True) states what holds.
        is_aside = isinstance(node, ast.keyword) and node.arg == "strict"
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_aside or is_text or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            return
        within = (*within, node.name) if isinstance(node, ast.FunctionDef | ast.ClassDef) else within
        for made in changes(node):
            place = node.test if isinstance(node, ast.IfExp | ast.If | ast.While) else node
            place = node.value if isinstance(node, ast.Return) else place
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[place.end_lineno - 1] + place.end_col_offset
            new = "pass" if isinstance(made, ast.Pass) else f"({ast.unparse(made)})"
            own = str(path.relative_to(ROOT)), place.lineno, within, start, end, source[start:end].decode()
            found.append(Mutant(room, *own, new))
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if name not in TYPED and isinstance(child, ast.AST) and not isinstance(child, PASSED_OVER):
                    visit(child, within)

    visit(ast.parse(source), ())
    return found


def draw(n: int, seed: int) -> list[Mutant]:
    """Mutants of each room in its share, in any order; of the possible ones each is as likely, one a function."""
    rng = random.Random(seed)
    taken: set[Path] = set()
    drawn = []
    for room, (weight, patterns) in ROOMS.items():
        files = sorted({path for pattern in patterns for path in PACKAGE.glob(pattern)} - taken)
        taken.update(files)
        possible = [each for path in files for each in find_mutants(room, path)]
        apart: dict[tuple[str, tuple[str, ...]], Mutant] = {}
        for each in rng.sample(possible, len(possible)):
            apart.setdefault((each.path, each.within), each)
        drawn += list(apart.values())[: round(n * weight / sum(weight for weight, _ in ROOMS.values()))]
    return rng.sample(drawn, len(drawn))


def module_of(path: Path) -> str:
    """`goldassay.data.reading` of its file."""
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def imported(text: str) -> set[str]:
    """Modules that a source takes something from, and what it takes, which may be a module."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.module]
    return {name for node in nodes for name in (node.module, *(f"{node.module}.{each.name}" for each in node.names))}


class Tests:
    """The test files, by how near they are to a change."""

    def __init__(self) -> None:
        files = {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.glob("tests/**/test_*.py"))}
        self.imports = {test: imported(text) for test, text in files.items()}
        self.words = {test: set(re.findall(r"\w+", text)) for test, text in files.items()}
        self.importers: dict[str, set[str]] = defaultdict(set)
        for path in PACKAGE.rglob("*.py"):
            for name in imported(path.read_text(encoding="utf-8")):
                self.importers[name].add(module_of(path))

    def stages(self, mutant: Mutant) -> list[list[str]]:
        """Files that import or name what was changed, the nearest first; and the others of its question or room."""
        path = ROOT / mutant.path
        steps, front = {module_of(path): 0}, {module_of(path)}
        for step in range(1, STEPS + 1):
            front = {each for name in front for each in self.importers[name]} - steps.keys()
            steps.update(dict.fromkeys(front, step))
        names = (*mutant.within, *([path.stem] if len(list(PACKAGE.rglob(path.name))) == 1 else []))
        rare = {name for name in names if sum(name in words for words in self.words.values()) <= COMMON}
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        topic = parts[1] if parts[0] == "questions" and len(parts) > 2 else parts[0]
        score = {}
        for test, words in self.words.items():
            near = max((STEPS + 1 - steps[name] for name in self.imports[test] & steps.keys()), default=0)
            score[test] = 2 * near + 3 * bool(rare & words) + (topic in test) - ("cli/" in test) / 2
        ranked = sorted(score, key=lambda test: -score[test])
        first = [test for test in ranked if score[test] >= 1][:FILES]
        return [first, [test for test in ranked if topic in test and test not in first][:FILES]]


def run_tests(tree: Path, tests: list[str], seconds: float) -> tuple[str, str]:
    """The first test that fails, and why; "" and "" where none does, "" and a reason where the time is up before."""
    said, end = tree.parent / "said", time.monotonic() + seconds
    if not (child := os.fork()):
        os.setsid()
        with said.open("w") as output:
            os.dup2(output.fileno(), 1), os.dup2(output.fileno(), 2)
        os.chdir(tree)
        sys.path[:0] = [str(tree), str(tree / "src")]
        os.environ.update({"CI": "true", "COLUMNS": "200", "PYTHONPATH": str(tree / "src")})
        os.environ.setdefault("GOLDASSAY_DATA", str(ROOT.parent / "shared" / "data"))
        status = import_module("pytest").main(["-x", "-q", "-p", "no:cacheprovider", "--tb=short", *tests])
        sys.stdout.flush()
        os._exit(status)
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "", "the limit was reached"
        time.sleep(0.1)
    # 5: there are slow tests only.
    if os.waitstatus_to_exitcode(ended[1]) in (0, 5):
        return "", ""
    text = said.read_text(errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - (.*))?$", text, re.MULTILINE)
    return (failed[1], failed[2] or "") if failed else (tests[0], text[-300:])


def meet(mutant: Mutant, tree: Path, tests: Tests, limit: float) -> dict[str, Any]:
    """Make a mutant in the copy, run its tests, and put the file back as it was."""
    path, reached = tree / mutant.path, tree.parent / "reached"
    source, stamp = path.read_bytes(), path.stat()
    is_compiled = re.search(rb"njit|@compiled", source) is not None
    # What is compiled opens no file, and loops that are kept for files which call it hold the code as it was.
    mark = "" if is_compiled else f'open({str(reached)!r}, "w").close()'
    callers = [tree / "src" / each.replace(".", "/") for each in tests.importers[module_of(ROOT / mutant.path)]]

    def put(content: bytes) -> None:
        path.write_bytes(content)
        for each in callers if is_compiled else ():
            for index in list(each.parent.glob(f"__pycache__/{each.name}.*.nbi")):
                index.unlink()

    new = (mark or "pass") if mutant.new == "pass" else f"({mark}, {mutant.new})[1]" if mark else mutant.new
    reached.unlink(missing_ok=True)
    found, start = {"noticed": "", "test": "", "why": ""}, time.monotonic()
    for number, stage in enumerate(tests.stages(mutant), 1):
        left = stage
        while left and not found["noticed"] and (seconds := limit - (time.monotonic() - start)) > 0:
            put(source[: mutant.start] + new.encode() + source[mutant.end :])
            failed, why = run_tests(tree, left, seconds)
            put(source)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            if failed and not run_tests(tree, [failed], limit)[0]:
                is_figure = re.match("assert|Failed: DID NOT", why, re.IGNORECASE) and "status" not in why
                kind = "time" if "Timeout" in why else "figure" if is_figure else "crash"
                found = {"noticed": kind, "test": failed, "why": why, "stage": str(number)}
            elif not failed:
                found["why"] = why
            # A test that fails without the change, too, says nothing, and the others of its file are passed over.
            left = [each for each in left if failed and each != failed.partition("::")[0]]
    ran = None if is_compiled else bool(found["noticed"]) or reached.exists()
    return {**found, "reached": ran, "seconds": round(time.monotonic() - start)}


def main() -> None:
    """Draw, run, and print what noticed each and a table."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--n", type=int, default=60)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--limit", type=float, default=300, help="seconds a mutant")
    asked.add_argument("--out", default="build/mutants")
    given = asked.parse_args()
    drawn, tests, rows = draw(given.n, given.seed), Tests(), []
    out = Path(f"{given.out}-{given.seed}.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        tree = Path(name) / "tree"
        # With what is compiled, and the times of the files, by which that is known to be theirs.
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "build", "dist", ".hypothesis"))
        for library in LIBRARIES:
            import_module(library)
        for mutant in drawn:
            rows.append({**mutant._asdict(), **(found := meet(mutant, tree, tests, given.limit))})
            out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
            place, change = f"{mutant.path}:{mutant.line}", f"{mutant.old!r} -> {mutant.new!r}"
            ended = found["noticed"] or f"SURVIVED, reached: {found['reached']}"
            print(f"{place} {change}: {ended} {found['test'] or found['why']}, {found['seconds']} s", flush=True)
    ends = ("figure", "crash", "time", "survived")
    counts = Counter((row["room"], row["noticed"] or "survived") for row in rows)
    print(f"{'room':20}" + "".join(f"{end:>10}" for end in ends))
    for room in ROOMS:
        print(f"{room:20}" + "".join(f"{counts[room, end]:>10}" for end in ends))


if __name__ == "__main__":
    main()
