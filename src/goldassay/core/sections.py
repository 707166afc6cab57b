"""What a report says, apart from how it looks: verdict cards, sections, names of charts, and tables as data.

A table has typed columns over plain rows; renderers make the cells. A question says how its result is shown in one
`Page`, of which every function takes the typed result.

A finding: what one question found on one input, before anything is rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from goldassay.core.numbers import decimal
from goldassay.core.results import Result, to_plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from goldassay.core.charts import Chart
    from goldassay.core.document import Issue
    from goldassay.core.figures import Figure
    from goldassay.core.results import Verdict


Kind = Literal[
    "text",
    "data",
    "prose",
    "count",
    "decimal",
    "points",
    "difference",
    "percent",
    "probability",
    "ratio",
    "variance",
    "interval",
]
Row = Mapping[str, Any]
T = TypeVar("T")
C = TypeVar("C")


@dataclass(frozen=True)
class Column:
    """One typed column. All but `title`, `kind`, `digits` and `absent` are keys of the table's rows.

    Attributes:
        key: Field of the rows that is shown.
        title: Its heading.
        kind: "text" is our words; "data" a short text out of the dataset, "prose" one to be read; both are never
            trusted and set apart. Fractions are shown as "points" (x 100), "difference" (signed points), "percent", or
            "variance" (squared points). "count", "decimal" and "ratio" (three digits) are shown as they are,
            "probability" with three significant digits. "interval" has no value of its own, only `low` and `high`.
        digits: Decimals of the value and its interval; None takes those usual for the kind.
        low: Field with the lower end of the interval.
        high: Field with its upper end.
        aside: Field with words shown smaller after the value, such as a reason; an interval goes before them.
        marks: Field with the parts of a prose to set off: (begin, end) in characters.
        unfolds: Field with further texts that a reader may open: objects with `text`, `marks` and `aside`.
        variants: Field with short texts that stand for the same.
        sort: Field with the number that a text is sorted by.
        absent: Words in place of a value that is not there.
    """

    key: str
    title: str
    kind: Kind = "text"
    digits: int | None = None
    low: str = ""
    high: str = ""
    aside: str = ""
    marks: str = ""
    unfolds: str = ""
    variants: str = ""
    sort: str = ""
    absent: str = "—"

    @property
    def keys(self) -> tuple[str, ...]:
        """Every field of a row that the column shows."""
        named = (self.low, self.high, self.aside, self.marks, self.unfolds, self.variants, self.sort)
        return (self.key, *(name for name in named if name))


def with_bounds(key: str, title: str, kind: Kind, digits: int | None = None) -> Column:
    """A column whose interval is in the fields `KEY_low` and `KEY_high`."""
    return Column(key, title, kind, digits, low=f"{key}_low", high=f"{key}_high")


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: What it is called among the tables of its section.
        caption: What it shows.
        columns: Its typed columns.
        rows: Plain rows; fields that no column names are not shown.
        file: The name of the full table that is written next to the report, if there is one.
        grouped_by: Key of the column whose values each keep some rows where a long table is cut.
        note: A sentence that it is read with.
        folded: Whether it only spells out what is shown already, and is to be opened.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    file: str | None = None
    grouped_by: str | None = None
    note: str = ""
    folded: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data: what is shown, and no other field of the rows."""
        keys = list(dict.fromkeys(key for column in self.columns for key in column.keys))
        return {
            "name": self.name,
            "caption": self.caption,
            "note": self.note,
            "file": self.file,
            "columns": [_stated(column) for column in self.columns],
            "rows": [{key: to_plain(row.get(key)) for key in keys} for row in self.rows],
        }


def table_of(
    name: str,
    caption: str,
    columns: Sequence[Column],
    records: Sequence[T],
    more: Callable[[T], Row] = lambda _: {},
    *,
    file: str | None = None,
    grouped_by: str | None = None,
    note: str = "",
    folded: bool = False,
) -> Table:
    """The table of records: dataclasses, the fields of which columns name.

    Args:
        name: See `Table`, as for all that is not said here.
        caption: What it shows.
        columns: Its columns.
        records: One for each row.
        more: Further fields of a row, or other values for its fields.
        file: Of the full table.
        grouped_by: Of a long table.
        note: It is read with this.
        folded: Whether it is to be opened.

    Raises:
        KeyError: A column names what no row has.
    """
    rows = tuple({**vars(each), **more(each)} for each in records)
    named = {key for column in columns for key in column.keys} | ({grouped_by} if grouped_by else set())
    if rows and (unknown := named - rows[0].keys()):
        raise KeyError(f"the table {name!r} shows {', '.join(sorted(unknown))}, which its rows do not have")
    return Table(name, caption, tuple(columns), rows, file, grouped_by, note, folded)


def pivot(
    cells: Sequence[C],
    rows: Sequence[str],
    columns: Sequence[str],
    keys_of: Callable[[C], Mapping[str, Any]],
    shown: Callable[[C | None], tuple[str, str, float | None]],
) -> tuple[tuple[Column, ...], tuple[Row, ...]]:
    """Columns and rows of a table from its cells, by their keys, in the order in which cells first name them.

    Args:
        cells: The cells.
        rows: Keys that make the rows.
        columns: Keys that make the columns.
        keys_of: The keys of a cell.
        shown: Of a cell, or of a place without one: its text, words after it, and the number that it sorts by.
    """

    def key(cell: C, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(str(keys_of(cell).get(name) or "—") for name in names)

    down: dict[tuple[str, ...], dict[tuple[str, ...], C]] = {}
    for cell in cells:
        down.setdefault(key(cell, rows), {})[key(cell, columns)] = cell
    across = list(dict.fromkeys(key(cell, columns) for cell in cells))
    if set(across) <= down.keys():
        # The same things down and across, which then have one order.
        across = [name for name in down if name in across]
    made = []
    for names, found in down.items():
        row: dict[str, Any] = {f"row{i}": part for i, part in enumerate(names)}
        for j, name in enumerate(across):
            row[f"cell{j}"], row[f"aside{j}"], row[f"sort{j}"] = shown(found.get(name))
        made.append(row)
    heads = (Column(f"row{i}", name.replace("_", " ")) for i, name in enumerate(rows))
    values = (
        Column(f"cell{j}", " · ".join(name), sort=f"sort{j}", aside=f"aside{j}", absent="")
        for j, name in enumerate(across)
    )
    return (*heads, *values), tuple(made)


def with_spread(cell: Mapping[str, Any], digits: int) -> str:
    """Our figure of a cell with its SD, or its interval where it has none; "" where there is no figure."""
    value, sd, low, high = (cell.get(name) for name in ("ours", "sd", "low", "high"))
    if value is None:
        return ""
    if sd is not None:
        return f"{decimal(value, digits)} ± {decimal(sd, digits)}"
    return decimal(value, digits) + ("" if low is None else f" [{decimal(low, digits)}, {decimal(high, digits)}]")


# Keys of cells that have our words; all others are names that users give.
_OUR_WORDS = frozenset({"condition", "metric", "statistic"})


@dataclass(frozen=True)
class PrintedTable:
    """Our figures in the rows, columns and units of a paper's table.

    Attributes:
        name: First author, year and table: "zhou2020_table9".
        title: Which table it is, and of what.
        rows: Keys of the cells that make its rows.
        columns: Keys that make its columns.
        cells: The keys, and of ours, low, high, sd and n_runs what is known; points where the paper prints points.
        digits: Decimals that are shown.
        note: What its figures are.
        needs: What must be given for it, where there are no cells.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[Mapping[str, Any], ...] = ()
    digits: int = 1
    note: str = ""
    needs: str = ""

    def to_table(self) -> Table:
        """The layout."""

        def shown(cell: Mapping[str, Any] | None) -> tuple[str, str, float | None]:
            return ("", "", None) if cell is None else (with_spread(cell, self.digits), "", cell["ours"])

        def keys_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
            return {**cell, **{name: cell[name].replace("_", " ") for name in _OUR_WORDS & cell.keys()}}

        columns, rows = pivot(self.cells, self.rows, self.columns, keys_of, shown)
        note = self.note if self.cells else f"Nothing is laid out: it needs {self.needs}."
        return Table(self.name, self.title, columns, rows, note=note[:1].upper() + note[1:])


def _stated(column: Column) -> dict[str, Any]:
    """A column's fields that differ from their defaults."""
    return {field.name: value for field in fields(column) if (value := getattr(column, field.name)) != field.default}


R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class VerdictCard:
    """The answer to one question in short.

    Attributes:
        key: Of the section that it belongs to.
        title: Name of the question.
        lead: The question.
        verdict: One word, such as "sound".
        icon: "check", "alert", "stop" or "none".
        value: The deciding figure with its unit; "" where there is none.
        interval: Its interval.
        label: What the figure is.
        evidence: The headline of the verdict.
        beneath: Lines under it: what could not have been found, and which limits are not the default ones.
        notes: Further sentences, which the section of the same key shows first.
        next_step: What to do about it.
        rule: From which limits the verdict follows.
        anchor: The section that it leads to where none has its key.
        judged: Whether there is a verdict; without one the card only says that nothing was measured.
    """

    key: str
    title: str
    lead: str
    verdict: str
    icon: str = "none"
    value: str = ""
    interval: str = ""
    label: str = ""
    evidence: str = ""
    beneath: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    next_step: str = ""
    rule: str = ""
    anchor: str = ""
    judged: bool = True


@dataclass(frozen=True)
class Subject:
    """What a report is about.

    Attributes:
        sizes: Number of examples by split, "train" and "test".
        about: Further parts of the line under the title: runs, texts, labels.
        settings: The settings file that was read, in words; "" where there was none.
        notes: What a reader has to know of the data, in sentences: what counts as one row, what was not read.
    """

    sizes: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    about: tuple[str, ...] = ()
    settings: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """How to get the figures of a report again.

    Attributes:
        command: The shell command for the same files; None for data that were no files.
        python: The call in Python.
        settings: What was set otherwise than by default, as TOML; "" where nothing was.
        seeds: The seeds in words.
    """

    command: str | None
    python: str
    settings: str
    seeds: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A chart by its name, the table of its values, or both."""

    chart: str | None = None
    table: Table | None = None


@dataclass(frozen=True)
class Bar:
    """A share drawn as a bar, with a mark where it would be expected; `series` is its color."""

    name: str
    share: float
    expected: float
    series: int


@dataclass(frozen=True)
class GroupCard:
    """A group of examples on a card of its own.

    Attributes:
        title: What sets the group apart.
        lead: How it is named among the others: its number, its size.
        bars: Label shares.
        words: Words out of the dataset that set the group apart from the rest, each with its counts.
        patterns: Word patterns likewise.
        facts: Names and values.
        examples: Texts out of the dataset, each with its label.
    """

    title: str
    lead: str
    bars: tuple[Bar, ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    examples: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Section:
    """A section: heading, the question it answers, sentences, notes, charts with tables, explanation.

    Attributes:
        key: Its anchor; the verdict card of the same key belongs to it.
        title: Its heading.
        lead: The question it answers, or what it lists.
        sentences: What was found, in plain sentences, the most important first.
        notes: Sentences before the charts.
        caveats: Those of the notes that limit what the numbers mean; a terminal shows them too.
        parts: Charts and the tables behind them, in order.
        cards: Groups of examples, each on a card.
        small: Further tables, narrow enough to stand side by side.
        reason: Why there is nothing to show, if there is nothing.
        how: How it is computed, as HTML of our own.
        appendix: It lists what the report was made from: its notes become a list, followed by the files of the report.
    """

    key: str
    title: str
    lead: str
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    cards: tuple[GroupCard, ...] = ()
    small: tuple[Table, ...] = ()
    reason: str = ""
    how: str = ""
    appendix: bool = False

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table that has rows, in reading order."""
        found = (*(part.table for part in self.parts), *self.small)
        return tuple(table for table in found if table is not None and table.rows)


@dataclass(frozen=True)
class Around:
    """What a report holds around the result of one question.

    Attributes:
        answers: The results of all questions, by their keys.
        label_names: The labels of the dataset, in order.
    """

    answers: Mapping[str, Result]
    label_names: tuple[str, ...] = ()

    def answer(self, kind: type[R]) -> R | None:
        """The result of a kind; None where the report has none."""
        return next((each for each in self.answers.values() if isinstance(each, kind)), None)


def _nothing(*_: Any) -> tuple[()]:
    return ()


def _no_charts(*_: Any) -> Mapping[str, Chart]:
    return {}


@dataclass(frozen=True)
class Page(Generic[R]):
    """How the result of a question is shown: functions of the result, and of what is around it.

    Attributes:
        result: The class of the result.
        title: Name of the question.
        lead: The question; a function where it depends on the result.
        sections: What pages and Markdown show.
        sentences: What was found, in plain sentences, the most important first; `report.json` holds them.
        charts: Pictures of the page by name.
        paper_charts: Pictures for papers by the name of their file.
        paper_tables: Tables for papers, with our intervals.
        printed_tables: Those of the paper that the question is from, laid out of our figures.
        issues: What is wrong, from the result and the `Finding` that holds it.
    """

    result: type[R]
    title: str
    lead: str | Callable[[R], str]
    sections: Callable[[R, Around], tuple[Section, ...]]
    sentences: Callable[[R], Sequence[str]] = _nothing
    charts: Callable[[R, Around], Mapping[str, Chart]] = _no_charts
    paper_charts: Callable[[R, Around], Mapping[str, Chart]] = _no_charts
    paper_tables: Callable[[R, Around], tuple[Table, ...]] = _nothing
    printed_tables: Callable[[R, Around], tuple[PrintedTable, ...]] = _nothing
    issues: Callable[[R, Any], Iterable[Issue]] = _nothing

    def heading(self, found: R) -> tuple[str, str]:
        """Title and question."""
        return self.title, self.lead if isinstance(self.lead, str) else self.lead(found)

    def plain(self, found: R) -> dict[str, Any]:
        """The result as `report.json` holds it: its plain form, with what is said of it."""
        said = self.sentences(found)
        return {**found.to_dict(), "sentences": list(said)} if said else found.to_dict()

    @property
    def has_sentences(self) -> bool:
        """Whether the plain form has sentences beside the fields."""
        return self.sentences is not _nothing


def explanation(package: str, *names: str) -> str:
    """The texts `NAME.html` of a package, one after the other: how something is computed, for `Section.how`."""
    return "".join(files(package).joinpath(f"{name}.html").read_text("utf-8") for name in names)


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class RowToRead:
    """An example out of the dataset that is worth reading, and why.

    Attributes:
        example_id: Its name in the dataset.
        text: Its texts, a line each.
        label: Its gold label.
        why: One sentence.
        meant: The text that it speaks of, where it speaks of one of several.
    """

    example_id: str
    text: str
    label: str
    why: str
    meant: str = ""


@dataclass(frozen=True)
class Finding:
    """What one question found.

    The questions of this package leave figures, sections and charts to their modules of these names, which make them
    from `result` (or from `results`): their own commands need them too.

    Attributes:
        question: Key of the question.
        verdict: Its verdict, or None for what judges nothing.
        results: Everything measured as plain data, of a question that has no typed result.
        figures: Its numbers.
        sections: What the page and the Markdown file show.
        charts: Pictures by name.
        tables: Full tables by name, written as Parquet and CSV.
        examples: Columns with one value for each test example, for the table of all examples.
        first_rows: The examples to look at first, the most telling ones first.
        issues: What is wrong, of a question that is not of this package: of the others `questions.rows` lists it.
        rows: All examples behind the verdict beside their rows in the data, the most telling ones first; None where
            it is of no examples.
        result: Everything measured, typed; `report.json` holds its plain form under the question's key.
    """

    question: str
    verdict: Verdict | None
    results: Mapping[str, Any] = field(default_factory=_empty)
    figures: tuple[Figure, ...] = ()
    sections: tuple[Section, ...] = ()
    charts: Mapping[str, Chart] = field(default_factory=_empty)
    tables: Mapping[str, pl.DataFrame] = field(default_factory=_empty)
    examples: Mapping[str, pl.Series] = field(default_factory=_empty)
    first_rows: tuple[RowToRead, ...] = ()
    issues: tuple[Issue, ...] = ()
    rows: pl.DataFrame | None = None
    result: Result | None = None

    @property
    def measured(self) -> Result | Mapping[str, Any]:
        """What the report's document holds under the question's key."""
        return self.results if self.result is None else self.result
