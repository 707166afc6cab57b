"""The colors of pictures and page, light and dark, in one place.

Label colors keep their order of lightness for readers who do not tell the hues apart, and every label has a marker
of its own as well. No verdict is told by color alone.
"""

from __future__ import annotations

import re

N_SERIES = 6

LIGHT = {
    "page": "#faf9f6",
    "paper": "#ffffff",
    "ink": "#1c2126",
    "muted": "#59626b",
    "rule": "#d5d9dd",
    "grid": "#e9ecee",
    "link": "#0a5ba8",
    "focus": "#0a5ba8",
    "s0": "#0a5ba8",
    "s1": "#c98200",
    "s2": "#b03a67",
    "s3": "#168b7a",
    "s4": "#6d4fb3",
    "s5": "#7b858f",
    "easy": "#168b7a",
    "hard": "#6d4fb3",
    "conflicting": "#c98200",
    "uncovered": "#c3c9cf",
    "sound": "#146c4b",
    "sound-wash": "#e7f4ed",
    "caution": "#855b00",
    "caution-wash": "#fcf1d6",
    "unsound": "#a8231b",
    "unsound-wash": "#fbe9e6",
    "unmeasured": "#59626b",
    "unmeasured-wash": "#eff1f3",
}

DARK = {
    "page": "#14171a",
    "paper": "#1b1f23",
    "ink": "#e8eaec",
    "muted": "#a3adb6",
    "rule": "#3a4148",
    "grid": "#2a3036",
    "link": "#7cbcf7",
    "focus": "#7cbcf7",
    "s0": "#62aef5",
    "s1": "#f0b73c",
    "s2": "#f284a8",
    "s3": "#55cdb8",
    "s4": "#b79bf2",
    "s5": "#9aa5af",
    "easy": "#3fb5a1",
    "hard": "#a083e6",
    "conflicting": "#dba32f",
    "uncovered": "#4a535b",
    "sound": "#6fd6ab",
    "sound-wash": "#15302a",
    "caution": "#f2c55c",
    "caution-wash": "#352c13",
    "unsound": "#ff958b",
    "unsound-wash": "#3d1c1a",
    "unmeasured": "#a3adb6",
    "unmeasured-wash": "#262c32",
}


def variables(colors: dict[str, str]) -> str:
    """The colors as CSS custom properties."""
    return "".join(f"--{name}:{color};" for name, color in colors.items())


def resolved(css: str, colors: dict[str, str] = LIGHT) -> str:
    """CSS with each `var(--name)` replaced by its color, for programs that know no custom properties."""
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda match: colors[match.group(1)], css)
