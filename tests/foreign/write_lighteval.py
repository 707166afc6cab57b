"""Details and results of lighteval and its dummy model: python write_lighteval.py OUT. As make_lighteval.py has it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "runs" / "fixtures"))
import make_lighteval

if __name__ == "__main__":
    make_lighteval.PLACE = Path(sys.argv[1]).resolve()
    make_lighteval.main()
