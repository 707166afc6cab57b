"""The report: its content, and the forms that it can take."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.document import FILE_NAME, TIMING_NAME
from goldassay.core.errors import InputError, inert_cells
from goldassay.core.files import write_parquet, written_together
from goldassay.core.report_seal import as_json, mapping
from goldassay.report.charts.svg import LIGHT, escape
from goldassay.report.content import ReportContent
from goldassay.report.html import subject_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goldassay.core.sections import VerdictCard


# A notebook strips style sheets in many places, and keeps style attributes.
_CARD = "flex:1 1 13em;padding:.7em .9em;border-radius:8px;border-left:5px solid {line};background:{wash};color:{ink}"


def render_notebook(report: ReportContent) -> str:
    """A title, the dataset in a line, and a card for each question; neither script nor style sheet."""
    shown = "".join(_card(card) for card in report.cards)
    said = report.beneath and f'<div style="opacity:.75;margin-top:.5em;font-size:.85em">{escape(report.beneath)}</div>'
    line = " · ".join(subject_line(report.subject))
    return (
        '<div style="font-family:system-ui,sans-serif;line-height:1.4">'
        f'<div style="font-size:1.25em;font-weight:600">{escape(report.to_dict().get("title") or "Report")}</div>'
        f'<div style="opacity:.75;margin:.1em 0 .7em">{escape(line)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.7em">{shown}</div>{said}</div>'
    )


def _card(card: VerdictCard) -> str:
    color = card.verdict if card.verdict in LIGHT else "unmeasured"
    style = _CARD.format(line=LIGHT[color], wash=LIGHT[f"{color}-wash"], ink=LIGHT["ink"])
    number = f"{card.value} {card.interval}".strip()
    parts = [f'<b>{escape(card.title)}: <span style="color:{LIGHT[color]}">{escape(card.verdict)}</span></b>']
    if number:
        parts.append(f'<div style="font-size:1.15em">{escape(number)}</div><small>{escape(card.label)}</small>')
    parts.append(f'<div style="margin-top:.3em">{escape(card.evidence)}</div>')
    parts += [f'<div style="margin-top:.3em;opacity:.8;font-size:.9em">{escape(line)}</div>' for line in card.beneath]
    return f'<div style="{style}">{"".join(parts)}</div>'


@dataclass(frozen=True)
class Report(ReportContent):
    """What an audit found, able to show itself as a page, as Markdown, as JSON, in a terminal and in a notebook.

    A report computes nothing, and knows no question: its sections are composed from the answers by
    `goldassay.questions`. Its fields are those of `ReportContent`.
    """

    def to_json(self) -> str:
        """The document as JSON, without its times: the same input always gives the same bytes."""
        return as_json({key: value for key, value in self.to_dict().items() if key != "timing"})

    def timing_json(self, directory: str | os.PathLike[str] | None = None) -> str:
        """When the report was made, the seconds of each step and, seen from a folder, where its data are, as JSON."""
        timing = dict(self.to_dict().get("timing") or {})
        if directory is not None and self.places:
            timing["places"] = {role: _seen_from(directory, place) for role, place in self.places.items()}
        return as_json(timing)

    def without_texts(self) -> Report:
        """The report with ids of rows in place of their texts; see `goldassay.report.without_texts`."""
        from goldassay.report.without_texts import without_texts

        return without_texts(self)

    def to_markdown(self) -> str:
        """The report as Markdown that pastes into a pull request."""
        from goldassay.report.markdown import render_markdown

        return render_markdown(self)

    def to_card(self) -> str:
        """The same as a section of a dataset card: with metadata that the Hugging Face hub reads, and the badge."""
        from goldassay.report.markdown import render_markdown

        return render_markdown(self, card=True)

    def to_badge(self) -> str:
        """The verdicts as a small SVG for a README."""
        from goldassay.report.content import render_badge

        return render_badge(self)

    def to_html(self) -> str:
        """The report as one HTML page that needs nothing else and asks nothing of any network."""
        from goldassay.report.html import render_html

        return render_html(self, tuple(self.tables))

    def summary(self) -> str:
        """The report in at most 15 lines of plain text, for a terminal."""
        from goldassay.report.markdown import render_summary

        return render_summary(self)

    @property
    def figures(self) -> pl.DataFrame:
        """Every figure of the report, a row each.

        Columns: id, question, of (names by role, as a struct), label, unit, better, value, low, high, n, reason.
        Undefined numbers are null.
        """
        from goldassay.core.figures import frame_of

        return frame_of(self.to_dict().get("figures") or ())

    def rows(self, question: str) -> pl.DataFrame:
        """The examples behind the verdict on a question, beside their rows in the user's data.

        Args:
            question: "artifacts" (patterns name their label), "leakage" (a part of the input tells it), "instability"
                (runs differ on them), "shift" (a run gets them wrong on another distribution), "comparison" (two
                models score differently on them) or "suspect" (their label may be wrong).

        Returns:
            A row an example, or of several models an example and model, the most telling ones first: `dataset`,
            `example_id`, what was measured of it, then every column of the data as far as they were given.

        Raises:
            InputError: The report has no rows of the question.
        """
        if question not in self.behind:
            known = ", ".join(self.behind)
            why = str(mapping(self.document, question).get("why_not") or "").rstrip(".")
            raise InputError(
                f"the report has no rows of the question {question!r}{f': {why[0].lower()}{why[1:]}' if why else ''}",
                mend=f"there are rows of {known}" if known else "audit with a test part, runs, or sets from elsewhere",
            )
        return self.behind[question]

    def drawings(self) -> dict[str, str]:
        """The charts by name, each drawn as an SVG file that stands alone."""
        from goldassay.report.charts import draw_pictures

        return {name: picture.standalone for name, picture in draw_pictures(self.charts).items()}

    def save(self, directory: str | os.PathLike[str], also: Mapping[str, bytes] | None = None) -> Path:
        """Write the report, all of it or nothing, and return the path of the page.

        Writes report.html, report.json, timing.json, report.md, tables/NAME.parquet, tables/NAME.csv and
        figures/NAME.svg. Of an audit report.md is a dataset card, and badge.svg lies beside it. Files that an earlier
        report left there and this one has not are removed, unless somebody changed them.

        Args:
            directory: Where to.
            also: Further files by their path in it, such as `goldassay.report.paper` makes.

        Raises:
            OutputError: The folder cannot be made or written to, another command writes into it, or the disk is full.
        """
        from goldassay.report.content import BADGE

        texts = {"report.html": self.to_html(), FILE_NAME: self.to_json(), TIMING_NAME: self.timing_json(directory)}
        if self.reproduction is not None:
            texts |= {"report.md": self.to_card(), BADGE: self.to_badge()}
        else:
            texts["report.md"] = self.to_markdown()
        texts |= {f"figures/{name}.svg": svg for name, svg in self.drawings().items()}
        with written_together(directory, belonging=self.runs) as folder:
            write_page(texts, self.tables, folder)
            for name, content in (also or {}).items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(content)
        return Path(directory) / "report.html"

    def _repr_html_(self) -> str:

        return render_notebook(self)

    def __repr__(self) -> str:
        found = ", ".join(f"{question}: {verdict.verdict}" for question, verdict in self.judged.items())
        return f"<Report {self.document.get('title')!r}, {found}>"


def _seen_from(directory: str | os.PathLike[str], place: Path) -> str:
    """A path relative to a folder, so that both can be moved together and no home folder's name is stored."""
    try:
        return Path(os.path.relpath(place.resolve(), Path(directory).resolve())).as_posix()
    except ValueError:
        # Another drive, where there are drives.
        return ""


def write_page(texts: Mapping[str, str], tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write texts by their path, and tables into tables/, into an empty folder; figures/ is made for those in it."""
    for name in ("figures", "tables"):
        (folder / name).mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode("utf-8", "replace"))
    write_tables(tables, folder / "tables")


def earlier_files(folder: Path) -> set[str]:
    """What an earlier study left in its folder, by path: pictures of ours, and tables that lie there in both forms.

    A page that is written over another must not have the other's tables beside it. What somebody else put there stays,
    and all of it where no study.json of ours says that there was a page. A report lists its files itself.
    """
    from goldassay.report.charts.svg import is_standalone

    try:
        ours = "goldassay_version" in json.loads((folder / "study.json").read_bytes())
    except (OSError, ValueError, TypeError):
        return set()
    if not ours:
        return set()
    tables = {path for path in folder.glob("tables/*.parquet") if path.with_suffix(".csv").is_file()}
    pictures = {path for path in folder.glob("figures/*.svg") if is_standalone(path.read_bytes())}
    found = tables | {path.with_suffix(".csv") for path in tables} | pictures
    return {path.relative_to(folder).as_posix() for path in found}


def write_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write NAME.parquet and NAME.csv of each table into a folder that is there; see `flattened` for the CSV."""
    for name, table in tables.items():
        write_parquet(table, folder / f"{name}.parquet")
        flattened(table).write_csv(folder / f"{name}.csv")


def flattened(table: pl.DataFrame) -> pl.DataFrame:
    """A table as its CSV has it, which people open in spreadsheets.

    Lists of plain values are joined by "|"; anything deeper becomes JSON. Nothing in it is hidden, and no
    spreadsheet executes any of it (`inert_cells`).
    """
    import polars as pl

    numeric = {
        name for name, kind in table.schema.items() if isinstance(kind, pl.List) and kind.inner.is_numeric()
    }  # fmt: skip
    columns: list[pl.Expr | pl.Series] = []
    for name, kind in table.schema.items():
        if isinstance(kind, pl.List) and not _is_nested(kind.inner):
            columns.append(pl.col(name).cast(pl.List(pl.String)).list.join("|"))
        elif kind.is_nested():
            values = [
                None if v is None else json.dumps(v, ensure_ascii=False, default=str) for v in table[name].to_list()
            ]
            columns.append(pl.Series(name, values, dtype=pl.String))
        else:
            columns.append(pl.col(name))
    return inert_cells(table.select(columns), exact=numeric)


def _is_nested(kind: Any) -> bool:
    return bool(kind.is_nested())
