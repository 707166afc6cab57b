"""Folders of the Trainer of transformers, three seeds: python write_trainer.py OUT. As make_trainer.py has it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "runs" / "fixtures"))
import make_trainer

if __name__ == "__main__":
    make_trainer.PLACE = Path(sys.argv[1]).resolve()
    make_trainer.main()
