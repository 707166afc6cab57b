"""The documentation as a site: `make docs` builds it into build/docs, without the network and without a warning."""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
import os
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]


def _digest(folder: Path) -> str:
    """Changes with any file of Python in the folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return found.hexdigest()[:16]


project = "goldassay"
author = "The goldassay developers"
project_copyright = "The goldassay developers, Apache-2.0"
release = importlib.metadata.version("goldassay")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# README.md lists the pages for those who read the folder itself.
exclude_patterns = ["README.md", "_static", "_kernel"]

myst_heading_anchors = 4
# Whatever a notebook holds, the site shows what its code gives, kept for the same cells and the same package.
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build" / "notebooks" / _digest(ROOT / "src"))
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
# The environment's own Python, which does not warn of every port that it opens.
logging.getLogger("traitlets").setLevel(logging.WARNING)
os.environ["JUPYTER_PATH"] = str(Path(__file__).parent / "_kernel")

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
autodoc_default_options = {"members": True, "imported-members": True}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "code"

html_title = "goldassay"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["sort.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#855b00", "color-brand-content": "#0a5ba8"},
    "dark_css_variables": {"color-brand-primary": "#f2c55c", "color-brand-content": "#7cbcf7"},
}


def _as_written(_app: Sphinx, _what: str, _name: str, _of: object, _options: object, lines: list[str]) -> None:
    """Docstrings are plain text with code in backticks: what reStructuredText would take for markup is escaped."""
    for i, line in enumerate(lines):
        escaped = re.sub(r"(?<!\\)[|*]|(?<=\w)_(?!\w)", r"\\\g<0>", line)
        # A field that says only "N." is no list.
        lines[i] = re.sub(r"^(:\w+ [^:]+: )([A-Z]\.)", r"\1\\\2", escaped)


def _write_pages(_app: Sphinx) -> None:
    """A page per command, made of the command itself, and one per set of the gallery; git ignores them."""
    for folder, script in (("commands", "list_options.py"), ("gallery", "gallery.py")):
        for name, page in runpy.run_path(str(ROOT / "scripts" / script))[f"{folder.removesuffix('s')}_pages"]().items():
            path = ROOT / "docs" / folder / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text("utf-8") != page:
                path.write_text(page, "utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx. The escaping comes after napoleon, which writes types out of the code, and no such markup."""
    app.connect("builder-inited", _write_pages)
    app.connect("autodoc-process-docstring", _as_written, priority=900)
