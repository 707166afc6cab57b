"""A run of HELM's toy scenario, three trials: python write_helm.py OUT. As make_helm.py has it, with its means."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "runs" / "fixtures"))
import make_helm

if __name__ == "__main__":
    make_helm.PLACE = Path(sys.argv[1]).resolve()
    make_helm.KEPT = (*make_helm.KEPT, "stats.json")
    make_helm.main()
