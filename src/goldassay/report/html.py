"""The report as one HTML page: no request, no font, no script but its own.

The page carries a content security policy that allows exactly its own style sheet and script, by their hashes, so
that even a text that escaped the escaping could neither run nor fetch anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goldassay.report.figures import draw_figures
from goldassay.report.figures.artifacts_scatter import points_of
from goldassay.report.numbers import bounds_in, count, number, with_unit
from goldassay.report.outline import mapping, questions_of, records
from goldassay.report.palette import DARK, LIGHT, variables
from goldassay.report.sections import outline
from goldassay.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import jinja2

    from goldassay.report.figures import Picture
    from goldassay.report.outline import Section

ICONS = {"sound": "check", "caution": "alert", "unsound": "stop", "not measurable": "none"}
ICONS |= {"told apart": "check", "not told apart": "none"}


# More labels than these are counted, not listed, under the title.
MOST_LABELS = 8


def render_html(document: Mapping[str, Any], table_names: tuple[str, ...] = (), tables_at: str = "tables/") -> str:
    """The whole page.

    Args:
        document: The report's document, as plain data.
        table_names: The tables that lie beside the page, so that no link leads nowhere.
        tables_at: Their folder, seen from the page, with a slash at its end; "" where they lie next to it.
    """
    from markupsafe import Markup

    pictures = draw_figures(document)
    return fill_page(
        document=document,
        cards=cards(document),
        dataset_line=dataset_line(document),
        sections=outline(document),
        pictures=pictures,
        table_names=table_names,
        tables_at=tables_at,
        points=Markup(_points(document)) if "artifacts_scatter" in pictures else "",
        map_points=Markup(_map_points(document)) if "leakage_map" in pictures else "",
        normalized=bool(mapping(document, "instability", "deviations")),
    )


def fill_page(
    *,
    document: Mapping[str, Any],
    cards: list[dict[str, str]],
    dataset_line: list[str],
    sections: Sequence[Section],
    pictures: Mapping[str, Picture],
    stem: str = "report",
    table_names: tuple[str, ...] = (),
    tables_at: str = "tables/",
    points: str = "",
    map_points: str = "",
    normalized: bool = False,
) -> str:
    """The page around what it shows; `stem` names the data and the Markdown that lie beside it."""
    from markupsafe import Markup

    style, script = _style(), _template_text("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            document=document,
            cards=cards,
            dataset_line=dataset_line,
            sections=sections,
            pictures=pictures,
            stem=stem,
            svg=Markup,
            table_names=table_names,
            tables_at=tables_at,
            points=points,
            map_points=map_points,
            normalized=normalized,
            policy=policy,
            style=Markup(style),
            script=Markup(script),
        )
    )


def cards(document: Mapping[str, Any]) -> list[dict[str, str]]:
    """What each verdict's card shows, as texts; nothing where the document is not about verdicts."""
    shown = []
    for key, (title, question) in questions_of(document).items():
        verdict = mapping(document, "verdicts", key)
        if not verdict and document.get("questions") and "verdicts" not in document:
            # What ranks rows judges nothing.
            continue
        headline = mapping(verdict, "headline")
        word = str(verdict.get("verdict") or "not measurable")
        unit = str(headline.get("unit"))
        shown.append(
            {
                "key": key,
                "title": title,
                "question": question,
                "verdict": word,
                "icon": ICONS.get(word, "none"),
                "value": with_unit(headline.get("value"), unit) if headline else "",
                "interval": bounds_in(headline.get("low"), headline.get("high"), unit) if headline else "",
                "label": str(headline.get("label") or ""),
                "evidence": str(verdict.get("evidence") or ""),
                "next_step": str(verdict.get("next_step") or ""),
                "rule": str(verdict.get("rule") or ""),
            }
        )
    return shown


def dataset_line(document: Mapping[str, Any]) -> list[str]:
    """The dataset in a few short parts: sizes, texts, number of labels."""
    facts, dataset = mapping(document, "facts"), mapping(document, "dataset")
    parts = [
        f"{count(size)} {split} examples"
        for split, key in (("training", "n_train"), ("test", "n_test"))
        if (size := number(facts.get(key, dataset.get(key)))) is not None
    ]
    results = records(mapping(document, "instability").get("results")) if not facts else []
    if results:
        parts += _sizes_of_runs(results)
    if dataset.get("text_columns"):
        parts.append(" + ".join(str(column) for column in dataset["text_columns"]))
    if dataset.get("label_names"):
        names = [str(label) for label in dataset["label_names"]]
        parts.append("labels " + ", ".join(names) if len(names) <= MOST_LABELS else f"{len(names)} labels")
    return parts


def _sizes_of_runs(results: list[Mapping[str, Any]]) -> list[str]:
    """How many models, datasets and runs a report on runs alone is about."""
    parts = []
    for key, word in (("model", "model"), ("dataset", "dataset")):
        names = {str(row.get(key)) for row in results}
        # A model that no file names is called "model".
        if names != {word}:
            parts.append(f"{len(names)} {word}s" if len(names) > 1 else f"{word} {names.pop()}")
    for key, word in (("n_runs", "runs"), ("n_examples", "examples")):
        sizes = sorted(size for row in results if (size := number(row.get(key))) is not None)
        if sizes:
            span = count(sizes[0]) if sizes[0] == sizes[-1] else f"{count(sizes[0])} to {count(sizes[-1])}"
            shown = word.removesuffix("s") if sizes[-1] == 1 else word
            parts.append(f"{span} {shown}" + (" each" if len(results) > 1 else ""))
    return parts


def _map_points(document: Mapping[str, Any]) -> str:
    found = mapping(document, "leakage", "map")
    names = ("x", "y", "labels", "clusters", "texts", "divergences", "threshold", "label_names")
    drawn = [each for each in records(found.get("outlines")) if len(each.get("points") or ()) > 2]
    kept = {name: found.get(name) for name in names} | {"outlined": [each.get("cluster") for each in drawn]}
    return _embedded(kept)


def _points(document: Mapping[str, Any]) -> str:
    rows, labels = points_of(document)
    points = [[row["support"], round(row["probability"], 4), row["series"], row["pattern"]] for row in rows]
    return _embedded({"labels": labels, "points": points})


def _embedded(content: Mapping[str, Any]) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(_shown(content), separators=(",", ":"), ensure_ascii=False)
    # Inside a script element only these three could end it or be taken for markup.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shown(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _shown(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_shown(value) for value in content]
    return visible(content) if isinstance(content, str) else content


def _style() -> str:
    light, dark = variables(LIGHT), variables(DARK)
    colors = f":root{{color-scheme:light dark;{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"{colors}\n{_template_text('figure.css')}{_template_text('style.css')}"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _template_text(name: str) -> str:
    return files("goldassay.report").joinpath("templates", name).read_text("utf-8")


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("goldassay.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        # Every text of ours or of the data; what is markup already passed `escape`.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
