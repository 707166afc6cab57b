"""A small SVG writer: shapes with CSS classes, a title each, and text that is measured before it is placed.

Colors come from classes, so that the page can show the same picture light and dark; the file that stands alone
carries the light colors in it. Every text passes `escape`.

Marks of series, and the CSS classes of their colors.

A small PNG writer, for pictures of more points than shapes can be drawn for.

Data that the page's script reads, as JSON inside a script element.

The colors of pictures and page, light and dark, in one place.

Label colors keep their order of lightness for readers who do not tell the hues apart, and every label has a marker
of its own as well. No verdict is told by color alone.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import unicodedata
import zlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.core.charts import Series


FONT_SIZE, CODE_SIZE = 13, 12
MARGIN = 14
_HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = set("iljtfrI.,:;'|!()[] `-")
_BROAD = set("mwMW@%&—")

_MARKERS = ("circle", "square", "triangle", "diamond", "cross", "ring")


def escape(text: object) -> str:
    """A text made safe inside an element or an attribute; what else XML forbids becomes U+FFFD."""
    clean = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", visible(text))
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        clean = clean.replace(character, entity)
    return clean


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """About how wide a text is, in pixels, in a common sans-serif face."""
    units = 0.0
    for character in text:
        if unicodedata.combining(character):
            continue
        if unicodedata.east_asian_width(character) in "WF":
            units += 1.0
        elif character in _NARROW:
            units += 0.38
        else:
            units += 0.92 if character in _BROAD else 0.7 if character.isupper() else 0.61
    return units * size


def code_width(text: str, size: float = CODE_SIZE) -> float:
    """About how wide a text is in a monospaced face."""
    cells = (2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)
    return 0.605 * size * sum(cells)


def shortened(text: str, width: float, measure: Callable[[str], float] = text_width) -> str:
    """The text, or as much of it as fits with an ellipsis."""
    if measure(text) <= width:
        return text
    # No line holds more characters than pixels; a long text need not be measured letter by letter.
    text = text[: int(max(width, 1))]
    while text and measure(text + "…") > width:
        text = text[:-1]
    return text.rstrip() + "…"


def marker(series: int, x: float, y: float, radius: float) -> str:
    """The path of a series' marker around a point."""
    r, kind = radius, _MARKERS[series % len(_MARKERS)]
    if kind == "square":
        side = 1.7 * r
        return f"M{x - side / 2:.1f} {y - side / 2:.1f}h{side:.1f}v{side:.1f}h{-side:.1f}z"
    if kind == "triangle":
        return f"M{x:.1f} {y - 1.25 * r:.1f}l{1.15 * r:.1f} {2 * r:.1f}h{-2.3 * r:.1f}z"
    if kind == "diamond":
        d = 1.3 * r
        return f"M{x:.1f} {y - d:.1f}l{d:.1f} {d:.1f}l{-d:.1f} {d:.1f}l{-d:.1f} {-d:.1f}z"
    if kind == "cross":
        a, b = 0.4 * r, 0.9 * r
        return (
            f"M{x - a:.1f} {y - a - b:.1f}h{2 * a:.1f}v{b:.1f}h{b:.1f}v{2 * a:.1f}h{-b:.1f}v{b:.1f}h{-2 * a:.1f}"
            f"v{-b:.1f}h{-b:.1f}v{-2 * a:.1f}h{b:.1f}z"
        )
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0z"


class Canvas:
    """A picture under construction, `width` x `height` pixels with the origin at the upper left.

    Args:
        width: In pixels.
        height: In pixels; may be set later, before it is written.
        label: What the picture shows, for those who cannot see it.
    """

    def __init__(self, width: float, height: float, label: str) -> None:
        self.width = width
        self.height = height
        self.label = label
        self.data: dict[str, str] = {}
        self._parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """A straight line."""
        self._parts.append(f'<path class="{css}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>')

    def path(self, d: str, css: str, title: str | None = None) -> None:
        """A path; with a title it is a mark that answers to the pointer."""
        self._add(f'path class="{_classes(css, title)}" d="{d}"', "path", title)

    def bar(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        css: str,
        title: str | None = None,
        opacity: float | None = None,
    ) -> None:
        """A rectangle; with a title it is a mark that answers to the pointer."""
        shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}"'
        if opacity is not None:
            shape += f' fill-opacity="{opacity:.2f}"'
        self._add(f'rect class="{_classes(css, title)}" {shape}', "rect", title)

    def image(self, x: float, y: float, width: float, height: float, address: str, css: str = "pixels") -> None:
        """A picture of pixels, whose address holds it; the class "pixels" stretches it without blur."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self._parts.append(f'<image class="{css}" {place} preserveAspectRatio="none" href="{escape(address)}"/>')

    def text(self, x: float, y: float, text: str, css: str = "", anchor: str = "start") -> None:
        """A text whose baseline starts, is centered or ends at a point."""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        name = f' class="{css}"' if css else ""
        self._parts.append(f'<text{name} x="{x:.1f}" y="{y:.1f}"{place}>{escape(text)}</text>')

    def inline(self) -> str:
        """The picture as an element of an HTML page whose style sheet has the classes."""
        return self._svg("", "", 0)

    def standalone(self) -> str:
        """The picture as a file of its own, on white."""
        css = resolved(files("goldassay.report").joinpath("templates/figure.css").read_text("utf-8"))
        wide, high = self.width + 2 * MARGIN, self.height + 2 * MARGIN
        paper = f'<rect x="-{MARGIN}" y="-{MARGIN}" width="{wide:g}" height="{high:g}" fill="#ffffff"/>'
        return _HEADER + self._svg(f"<style>{css}</style>{paper}", _NAMESPACE, MARGIN)

    def _svg(self, style: str, namespace: str, margin: int) -> str:
        wide, high = self.width + 2 * margin, self.height + 2 * margin
        size = f'viewBox="{-margin} {-margin} {wide:g} {high:g}" width="{wide:g}" height="{high:g}"'
        data = "".join(f' data-{name}="{escape(value)}"' for name, value in self.data.items())
        head = f'{_opening(namespace)} {size} role="img" aria-label="{escape(self.label)}"{data}>'
        return f"{head}{style}\n" + "\n".join(self._parts) + "\n</svg>\n"

    def _add(self, opening: str, name: str, title: str | None) -> None:
        tail = "/>" if title is None else f"><title>{escape(title)}</title></{name}>"
        self._parts.append(f"<{opening}{tail}")


def _classes(css: str, title: str | None) -> str:
    return css if title is None else f"{css} mark"


def is_standalone(content: bytes) -> bool:
    """Whether a file, or its beginning, is a picture as `Canvas.standalone` writes it."""
    return content.startswith((_HEADER + _opening(_NAMESPACE)).encode())


def _opening(namespace: str) -> str:
    return f'<svg{namespace} class="figure"'


def fill(series: Series) -> str:
    """The class that fills with the color of a series."""
    return f"f{series.color[1:]}" if series.color[1:].isdigit() else series.color


def stroke(series: Series) -> str:
    """The class that draws lines in the color of a series; other than numbered colors have none."""
    return f"l{series.color[1:]}" if series.color[1:].isdigit() else "axis"


def draw_mark(
    canvas: Canvas, series: Series, x: float, y: float, radius: float, css: str, hover: str, *, hollow: bool = False
) -> None:
    """The marker of a series around a point; it answers to the pointer where it has a hover text."""
    shown = f"sheet {stroke(series)} curve" if hollow else css
    canvas.path(marker(series.marker, x, y, radius), shown, hover or None)


def whisker(canvas: Canvas, low: float, high: float, y: float, half: float = 4.0) -> None:
    """An interval as a horizontal line with caps, in pixels."""
    canvas.path(f"M{low:.1f} {y - half:.1f}v{2 * half:g}m0 {-half:g}H{high:.1f}m0 {-half:g}v{2 * half:g}", "whisker")


def png_address(rows: Sequence[bytes]) -> str:
    """Rows of pixels, four bytes each (red, green, blue, opacity), as an address that holds the picture itself."""
    width, height = len(rows[0]) // 4, len(rows)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    # Each row starts with the number of its filter: none.
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode("ascii")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def data_id(name: str) -> str:
    """The id of the element that holds a chart's data."""
    return f"{name}-data"


def as_page_data(content: Mapping[str, Any]) -> str:
    """JSON that is safe inside a script element."""
    text = json.dumps(_shown(content), separators=(",", ":"), ensure_ascii=False)
    # Inside a script element only these three could end it or be taken for markup.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shown(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _shown(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_shown(value) for value in content]
    return visible(content) if isinstance(content, str) else content


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
