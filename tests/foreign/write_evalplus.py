"""Results of EvalPlus on three problems of its form: its own are fetched. python write_evalplus.py OUT."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path

# Right, right by the base tests alone, wrong; without an end.
BODIES = ("    return x + 1\n", "    return x + 1 if x < 9 else 0\n", "    return x\n", "    while True: pass\n")


def main() -> None:
    out = Path(sys.argv[1]).resolve()
    out.mkdir(parents=True)
    problems = [
        {"task_id": f"HumanEval/{i}", "prompt": "def more(x):\n", "entry_point": "more", "contract": "", "atol": 0,
         "canonical_solution": BODIES[0], "base_input": [[1], [2]], "plus_input": [[9], [10]], "test": ""}
        for i in range(3)
    ]  # fmt: skip
    place = out / "problems.txt"
    place.write_text("\n".join(map(json.dumps, problems)) + "\n")
    os.environ |= {
        "HUMANEVAL_OVERRIDE_PATH": str(place),
        "HOME": str(out / "home"),
        "XDG_CACHE_HOME": str(out / "cache"),
    }
    samples = out / "made-up_mock_temp_0.2.jsonl"
    chosen = ((0, 1), (0, 2), (3, 2))
    lines = [
        {"task_id": f"HumanEval/{i}", "solution": f"def more(x):\n{BODIES[body]}"}
        for i, own in enumerate(chosen) for body in own
    ]  # fmt: skip
    samples.write_text("\n".join(map(json.dumps, lines)) + "\n")
    from evalplus.evaluate import evaluate

    with contextlib.redirect_stdout(io.StringIO()) as said:
        evaluate("humaneval", str(samples), parallel=1)
    samples.rename(out / "samples.txt")
    (out / "printed.txt").write_text(said.getvalue())


if __name__ == "__main__":
    main()
