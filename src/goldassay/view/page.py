"""The pages of the workbench, as HTML that holds everything it shows and asks nothing of any other machine."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import visible
from goldassay.core.numbers import count
from goldassay.data.decisions import DECIDED, decided_and_noted
from goldassay.report.charts.svg import DARK, LIGHT, variables
from goldassay.view.details import Held, Patterns, Predicted, Word, pieces
from goldassay.view.rows import DECISION, KINDS, RIGHT, RUN, RUN_LISTS, RowTable, kind_of
from goldassay.view.selecting import SQUARES, Selection, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jinja2

    from goldassay.core.document import Issue
    from goldassay.view.opening import Workbench

# What a static file may hold: it is opened whole.
MOST_EXPORTED = 1000
_TITLES = {
    "difficulty": "patterns",
    "label": "label",
    "decision": "decision",
    "runs": "runs of models",
}
# Columns of numbers in the table of a list; all others are on a row's own page.
NUMBERS = ("confidence", "variability", "runs_right", "suspicion")
_MOST_RUNS = 40
# A filter that the page names where it is missing, since people look for it.
SUSPECT = "suspect"


@dataclass(frozen=True)
class Cell:
    """A cell of the map of confidence and variability: its ends, how many rows, and how dark from 1 to 9."""

    low: tuple[float, float]
    high: tuple[float, float]
    column: int
    row: int
    n: int
    shade: int


def render_list(bench: Workbench, state: State, selection: Selection, *, base: str, with_marks: bool = True) -> str:
    """The page of a selection.

    Args:
        bench: What is looked through.
        state: Which rows.
        selection: These.
        base: The address before the query, such as "/TOKEN/".
        with_marks: Whether patterns are marked in the texts.
    """
    return (
        _templates()
        .get_template("list.html.j2")
        .render(**_frame(bench, base), **_listed(bench, state, selection, selection.shown, with_marks=with_marks))
    )


def render_row(bench: Workbench, state: State, row: int, near: tuple[int | None, int | None], *, base: str) -> str:
    """The page of one row, whole; `near` are the rows before and after it in the selection."""
    found = bench.table.rows(np.array([row]))
    held = Patterns.of(bench.folder, bench.document.artifacts).held(found)[0]
    shown = _row(bench, row, found[0], held)
    told = {*bench.table.texts, *bench.table.facets, "example_id", "answer", "runs_over_checkpoints"}
    told |= {name for names in RUN_LISTS for name in names}
    details = bench.details
    predicted = details.predictions(found[0])
    if predicted:
        told |= {name for name in found[0] if name.startswith(("right_", "pvi_", "reader_bits_"))}
    in_texts = dict.fromkeys(word for _, text in shown["texts"] for word in _shading(text))
    return (
        _templates()
        .get_template("row.html.j2")
        .render(
            **_frame(bench, base),
            state=state,
            row=shown,
            held=held,
            near=near,
            parts=list(dict.fromkeys(each.part for each in predicted)),
            predictions=_by_reader(predicted),
            examples=details.examples([each.pattern for each in held]),
            shading=[word.title for word in in_texts],
            copies=details.copies(found[0], shown["label"], bench.table.texts),
            steps=details.steps(found[0]),
            steps_are=details.steps_are,
            fields=[(name, _plain(value)) for name, value in found[0].items() if name not in told],
        )
    )


def render_export(bench: Workbench, state: State, selection: Selection, *, with_texts: bool = True) -> str:
    """One static file of a selection, at most `MOST_EXPORTED` rows, without a script.

    Args:
        bench: What is looked through.
        state: Which rows.
        selection: These.
        with_texts: Whether texts of rows, rewritten ones and notes are shown.
    """
    from markupsafe import Markup

    style = style_sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    rows = selection.rows[:MOST_EXPORTED]
    shown = {**_frame(bench, ""), **_listed(bench, state, selection, rows)}
    if not with_texts:
        shown["texts"] = ()
        for row in shown["rows"]:
            decision = row["decision"]
            bare = None if decision is None else replace(decision, texts={}, note="")
            row.update(texts=(), decision=bare)
    return (
        _templates()
        .get_template("export.html.j2")
        .render(
            **shown,
            style=Markup(style),
            # Quoted by us: the template would write the policy's quotation marks as entities.
            policy=Markup(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'"),
            n_left=selection.rows.size - rows.size,
        )
    )


def render_problem(problem: str, base: str) -> str:
    """A page that says what is wrong with an address."""
    return _templates().get_template("problem.html.j2").render(problem=problem, base=base, title="goldassay view")


def style_sheet() -> str:
    """The style sheet, in light and dark."""
    light, dark = variables(LIGHT), variables(DARK)
    colors = f":root{{color-scheme:light dark;{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"{colors}\n{template_text('view.css')}"


def template_text(name: str) -> str:
    """A file beside the templates."""
    return files("goldassay.view").joinpath("templates", name).read_text("utf-8")


def _frame(bench: Workbench, base: str) -> dict[str, Any]:
    n_decided, n_noted = decided_and_noted(bench.table.decided.values())
    return {
        "base": base,
        "title": bench.title,
        "notes": bench.notes,
        "decisions_file": None if bench.decisions is None or bench.locked else bench.decisions.name,
        "labels": bench.label_names,
        "decided_words": DECIDED,
        "texts": bench.table.texts,
        "n_rows": bench.table.n_rows,
        "n_decided": n_decided,
        "n_noted": n_noted,
    }


def _listed(
    bench: Workbench, state: State, selection: Selection, at: Any, *, with_marks: bool = True
) -> dict[str, Any]:
    found = bench.table.rows(at)
    held = Patterns.of(bench.folder, bench.document.artifacts).held(found) if with_marks else [() for _ in found]
    rows = [_row(bench, place, row, own) for place, row, own in zip(at.tolist(), found, held, strict=True)]
    values = bench.selector.values
    why_not = "" if bench.document.suspect is None else bench.document.suspect.why_not
    return {
        "state": state,
        "query": state.query(),
        # What is beside the ranges of the map's squares: a thousand addresses are made faster by adding to one.
        "beside": state.outside("confidence", "variability").query(),
        "rows": rows,
        "n_selected": selection.rows.size,
        "page": selection.page,
        "n_pages": selection.n_pages,
        "facets": [
            {
                "name": name,
                "title": facet_title(name),
                "note": why_not if name == SUSPECT else "",
                "values": [(value, n, on) for value, n in selection.counts[name].items()
                           if (on := value in state.facets.get(name, ())) or n],
            }
            for name in (DECISION, *bench.table.facets)
        ] + [
            {"name": SUSPECT, "title": facet_title(SUSPECT), "note": why_not, "values": []}
            for _ in range(bool(why_not) and SUSPECT not in values)
        ],
        "rules": [(name, selection.counts[name]) for name in bench.table.rules],
        "kinds": KINDS,
        "issues": _issues(bench),
        "runs": [(each.removeprefix(RUN), each, selection.counts[each]) for each in values if each.startswith(RUN)],
        # Kinds that no run has of any row would be columns of zeros.
        "run_kinds": [kind for kind in KINDS if bench.table.runs is not None and kind in bench.table.runs.bits],
        "runs_note": bench.table.runs_note,
        "classes": [(name, facet_title(name)) for name in bench.table.facets if name not in ("label", "answer")],
        "numbers": [name for name in NUMBERS if name in bench.table.numbers],
        "cells": _cells(bench, selection),
        "n_cells": SQUARES,
    }  # fmt: skip


def render_profile(bench: Workbench, *, base: str) -> str:
    """The page of what the set is made of: labels, groups, lengths, choices, copies."""
    table = bench.table
    facets = [
        (name, facet_title(name), [(value, n) for value, n in bench.selector.select(State()).counts[name].items() if n])
        for name in sorted(table.facets, key=lambda each: each != "label")
        if name == "label" or name.startswith("group_")
    ]
    frame = table.load()
    lengths = []
    for name in table.texts:
        texts = frame[name].explode() if name == "choices" else frame[name]
        words = texts.cast(pl.String).str.count_matches(r"\S+").drop_nulls()
        lengths.append((name, [words.quantile(q, "nearest") for q in (0, 0.05, 0.5, 0.95, 1)], words.mean()))
    sizes = (
        frame["choices"].list.eval(pl.element().str.strip_chars() != "").list.sum().value_counts(sort=True).rows()
        if "choices" in table.texts
        else []
    )
    return (
        _templates()
        .get_template("profile.html.j2")
        .render(
            **_frame(bench, base),
            facets=facets,
            lengths=lengths,
            sizes=sorted(sizes),
            copies=bench.details.copies_by_kind(),
            issues=_issues(bench),
        )
    )


def _issues(bench: Workbench) -> list[tuple[Issue, str, int | None]]:
    """What the report found to be wrong, each with the address of its rows, "" where no filter has them, and how many.

    A rule whose choices tie is right in part, which the report's count has and a filter of whole rows has not.
    """
    facets, found = {**bench.table.facets, **bench.table.rules}, []
    for each in bench.document.issues or ():
        name, _, value = each.filter.rpartition("=")
        query, n = "", each.n_rows
        if name in facets and value in facets[name].values:
            query = State().toggled(name, value).query()
            n = int((facets[name].codes == facets[name].values.index(value)).sum())
        found.append((each, query, n))
    return found


def facet_title(name: str) -> str:
    """What a facet is called on the page."""
    if name.endswith(("_only", "_choice")) or name == "paired":
        return f"readers of {name.replace('_', ' ')}"
    return _TITLES.get(name, name.removeprefix("group_").replace("_", " "))


def _row(bench: Workbench, place: int, row: dict[str, Any], held: Sequence[Held] = ()) -> dict[str, Any]:
    table = bench.table
    spans = [span for each in held for span in each.spans]
    role = str(bench.document.artifacts and bench.document.artifacts.applies_to)
    decision = table.decided.get(place)
    answer = row.get("answer")
    of_runs = _of_runs(table, row, *RUN_LISTS[0])
    return {
        "at": place,
        "id": row["example_id"],
        "key": table.key(row),
        "texts": [(name, _text(bench, name, row, spans if name == role else ())) for name in table.texts],
        "label": " / ".join(_letters(row, answer)) if isinstance(answer, list) else _plain(row.get("label")),
        "classes": [(facet_title(name), facet.values[facet.codes[place]]) for name, facet in table.facets.items()
                    if name not in ("label", "answer")],
        "decision": None if decision is None or decision.decision == "undecided" else decision,
        "dots": of_runs[:_MOST_RUNS],
        "numbers": {name: _plain(row.get(name)) for name in NUMBERS},
        "n_right": sum(each.kind == RIGHT for each in of_runs),
        "n_runs": len(of_runs),
        "runs": [*of_runs, *_of_runs(table, row, *RUN_LISTS[1])],
    }  # fmt: skip


@dataclass(frozen=True)
class RunOfRow:
    """What a run answers on a row: its name, "" where the report has none, its answer, and of which kind that is."""

    name: str
    answer: str
    kind: str


def _of_runs(table: RowTable, row: dict[str, Any], scores: str, answers: str) -> list[RunOfRow]:
    told = row.get(scores) or []
    names = table.run_names[[each for each, _ in RUN_LISTS].index(scores)] or [""] * len(told)
    said = row.get(answers) or [None] * len(told)
    return [
        RunOfRow(name, _plain(answer) if answer is not None else _plain(score), kind_of(score))
        for name, score, answer in zip(names, told, said, strict=False)
    ]


def _text(bench: Workbench, name: str, row: dict[str, Any], spans: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """A text in pieces, or its choices, each in pieces and whether it is right."""
    text, label = row[name], row.get("label")
    if not isinstance(text, list):
        shown = "" if text is None else str(text)
        return {"pieces": _shaded(bench, name, shown, spans, label), "choices": None, "raw": shown}
    right = _letters(row, row.get("answer") or ())
    letters = [chr(ord("A") + at) for at in range(len(text))]
    choices = [
        (letter, _shaded(bench, name, str(each), (), "right" if letter in right else "wrong"), letter in right,
         str(each))
        for letter, each in zip(letters, text, strict=True)
    ]  # fmt: skip
    return {"pieces": [], "choices": choices, "raw": ""}


def _letters(row: dict[str, Any], answers: Sequence[Any]) -> list[str]:
    """The letters of the right choices; of equal ones that of the label."""
    choices = row.get("choices") or ()
    right = [chr(ord("A") + at) for at, each in enumerate(choices) if each in answers]
    label = row.get("label")
    return [str(label)] if len(answers) == 1 and label in right else right


def _shaded(
    bench: Workbench, name: str, text: str, spans: Sequence[tuple[int, int]], label: object
) -> list[tuple[str, bool, Word | None, str]]:
    """Pieces of a text, each with the class of its shade: darker where a word names the row's own label."""
    found = []
    for part, marked, word in pieces(text, spans, bench.details.places(name, text)):
        shade = (
            "" if word is None else f"word{' own' if word.label == label else ''}{' strong' if word.is_strong else ''}"
        )
        found.append((part, marked, word, shade))
    return found


def _by_reader(predicted: Sequence[Predicted]) -> dict[str, dict[str, Predicted]]:
    """{reader: {part: what it says of it}}, in the order of the readers."""
    found: dict[str, dict[str, Predicted]] = {}
    for each in predicted:
        found.setdefault(each.reader, {})[each.part] = each
    return found


def _shading(text: dict[str, Any]) -> list[Word]:
    """The words that shade a text of `_text`."""
    parts = [text["pieces"], *(shaded for _, shaded, *_ in text["choices"] or ())]
    return [word for part in parts for _, _, word, _ in part if word is not None]


def _cells(bench: Workbench, selection: Selection) -> list[Cell]:
    """The map of confidence and variability (Swayamdipta et al. 2020), in squares; none without probabilities."""
    squares = bench.selector.squares
    if squares is None:
        return []
    found = np.bincount(squares[selection.rows], minlength=SQUARES**2 + 1)[:-1].reshape(SQUARES, SQUARES)
    most = found.max()
    return [
        Cell((i / SQUARES / 2, j / SQUARES), ((i + 1) / SQUARES / 2, (j + 1) / SQUARES), i, SQUARES - 1 - j,
             int(found[i, j]), 1 + int(8 * np.sqrt(found[i, j] / most)))
        for i, j in np.argwhere(found).tolist()
    ]  # fmt: skip


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("goldassay.view"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    environment.filters["count"] = count
    # In ASCII, so that no character of a text is shown in place of another.
    environment.filters["as_json"] = json.dumps
    return environment
