from __future__ import annotations

import re
from importlib.resources import files

import pytest

from goldassay.report.charts.svg import DARK, LIGHT, resolved, variables


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_text_can_be_read_and_marks_be_seen(colors: dict[str, str]) -> None:
    for background in ("page", "paper"):
        for text in ("ink", "muted", "link"):
            assert contrast(colors[text], colors[background]) >= 4.5, (text, background)
        for mark in ("s0", "s1", "s2", "s3", "s4", "s5"):
            assert contrast(colors[mark], colors[background]) >= 2.9, (mark, background)
    for verdict in ("sound", "caution", "unsound", "unmeasured"):
        assert contrast(colors[verdict], colors[f"{verdict}-wash"]) >= 4.5
        assert contrast(colors["ink"], colors[f"{verdict}-wash"]) >= 4.5


def test_both_palettes_name_the_same_colors() -> None:
    assert LIGHT.keys() == DARK.keys()


def test_the_style_sheets_use_only_colors_there_are() -> None:
    folder = files("goldassay.report") / "templates"
    for name in ("figure.css", "style.css"):
        used = set(re.findall(r"var\(--([a-z0-9-]+)\)", (folder / name).read_text("utf-8")))
        assert used <= LIGHT.keys() | {"tone", "wash"}


def test_variables_and_their_values() -> None:
    assert "--ink:#1c2126;" in variables(LIGHT)
    assert resolved("a{fill:var(--ink)}") == "a{fill:#1c2126}"
