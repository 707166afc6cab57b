"""`python -m goldassay`: the command, where it is not on the path."""

from __future__ import annotations

from goldassay.cli import main

if __name__ == "__main__":
    main()
