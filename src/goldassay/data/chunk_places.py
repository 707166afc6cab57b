"""What a chunk's place in its sentence can change; flags that add up."""

from __future__ import annotations

# Nothing before it, nothing after it, only spaces after it.
AT_START = 1
AT_END = 2
BEFORE_FINAL_SPACES = 4
