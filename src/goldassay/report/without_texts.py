"""A finished report with the names of rows in place of their texts, for data that may not be shown.

Kept are figures, verdicts, ids, labels, groups, and the words and patterns that were found, which are evidence. Left
out are columns and fields of texts; where a text, or five words from its beginning, stands within anything else that
is written, a mark takes its place. A pattern that is a whole text goes, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from goldassay.core.charts import PointMap
from goldassay.core.document import Issue
from goldassay.core.report_seal import digest_of, mapping
from goldassay.core.sections import Column, GroupCard, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from goldassay.report.content import ReportContent

R = TypeVar("R", bound="ReportContent")

MARK, OPTION = "(text left out)", "--no-texts"
# Fields of results whose value is a text of the data wherever they stand.
_FIELDS = frozenset({"text", "texts", "excerpt"})
# Columns of tables that are, beside the texts that the dataset names.
_COLUMNS = _FIELDS | {
    "passage",
    "question",
    "choices",
    "premise",
    "hypothesis",
    "context",
    "prompt",
    "chosen",
    "rejected",
}
# Of items a label is one of their choices, in words; an answer, too, where it is a list.
_OF_ITEMS = frozenset({"label", "answer"})
# Labels of which each has fewer examples on average are answers in words, and no classes.
_LEAST_OF_CLASS = 5
_OF_ANSWERS = frozenset({"label_names", "constant"})
# What stands together in a record that is an item.
_ITEM = frozenset({"question", "choices", "answer"})
# Prose of ours, and parts of a document that hold names alone.
_OURS, _NAMES = frozenset({"reason"}), frozenset({"settings", "settings_file", "environment", "timing", "roles"})
_WORD = re.compile(r"\w+")
# Where our sentences quote a text, whatever its length.
_QUOTED = re.compile("“([^”]*)”")
# So many words from the beginning of a text are taken for it; a shorter text has to be there in full.
_MOST_QUOTED = 5
# Texts of one or two words are found within others from so many characters on: "no" is a word, too.
_LEAST_CHARACTERS = 12


def without_texts(report: R, texts: HiddenTexts | None = None) -> R:
    """The report as it may be shown where the texts of its data may not: those that it has, or those given."""
    texts = texts or hidden_texts(report)
    of_items = _is_of_items(report) or texts.of_answers
    document = {key: each if key in _NAMES else texts.hide(each) for key, each in report.document.items()}
    document["has_texts"] = False
    again = report.reproduction
    if again is not None:
        command = None if again.command is None else f"{again.command} {OPTION}"
        again = replace(again, command=command, python=f"{again.python}.without_texts()")
    return replace(
        report,
        document={**document, "digest": digest_of(document)},
        tables=bare_tables(report.tables, texts, of_items=of_items),
        behind=MappingProxyType({}),
        reproduction=again,
        first=None if report.first is None else texts.hide(_without_labels(report.first) if of_items else report.first),
        **{
            name: texts.hide(getattr(report, name))
            for name in ("sections", "cards", "unasked", "subject", "issues", "paper_tables", "charts", "paper_charts",
                         "judged", "limits")
        },
    )  # fmt: skip


def hidden_texts(report: ReportContent) -> HiddenTexts:
    """The texts that a report has, to hide them in what is said or written beside it."""
    named = _text_columns(report)
    tables = [*(table for section in report.sections for table in section.tables), *report.paper_tables]
    tables += [] if report.first is None else [report.first]
    answers = [name for each in _answers_in(report.document) for name in each["label_names"]]
    return HiddenTexts(
        [
            *(text for table in (*report.tables.values(), *report.behind.values()) for text in _in_frame(table, named)),
            *(text for each in tables for row in each.rows for key in _prose(each) for text in _strings(row.get(key))),
            *_in_fields(report.document),
            *answers,
        ],
        columns=named,
        of_answers=bool(answers),
    )


def texts_of(frames: Iterable[pl.DataFrame], columns: Iterable[str]) -> HiddenTexts:
    """All texts of some tables in the columns that hold them."""
    named = set(columns)
    return HiddenTexts([text for frame in frames for text in _in_frame(frame, named)], columns=named)


def _answers_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every part of plain data whose labels are so many that they are answers in words, and no classes."""
    if isinstance(value, Mapping):
        if _has_answers(value):
            yield value
        value = tuple(value.values())
    for each in value if isinstance(value, (list, tuple)) else ():
        yield from _answers_in(each)


def _has_answers(record: Mapping[str, Any]) -> bool:
    names, n = record.get("label_names"), record.get("n_examples")
    return isinstance(names, (list, tuple)) and isinstance(n, int) and len(names) * _LEAST_OF_CLASS > n


def _is_of_items(report: ReportContent) -> bool:
    return bool(mapping(report.document, "dataset").get("kind"))


def _text_columns(report: ReportContent) -> set[str]:
    return {*_COLUMNS} | set(mapping(report.document, "dataset").get("text_columns") or ())


class HiddenTexts:
    """The texts of a set by their first words.

    Args:
        texts: All of them.
        columns: Where they are in the dataset, beside the usual columns.
        of_answers: Whether the labels of runs are answers in words, which are texts.
    """

    def __init__(self, texts: Iterable[str], *, columns: Iterable[str] = (), of_answers: bool = False) -> None:
        self.columns, self.of_answers = _COLUMNS | set(columns), of_answers
        self._starting: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        self._short: set[tuple[str, ...]] = set()
        for text in set(texts):
            words = tuple(_WORD.findall(text.casefold()))
            if len(words) < 3:
                self._short.add(words)
            if len(words) > 2 or (words and len(text) >= _LEAST_CHARACTERS):
                self._starting.setdefault(words[:3], set()).add(words)

    def hide(self, value: Any) -> Any:
        """The same value, of any kind that a report is made of, without texts."""
        if isinstance(value, str):
            return self._without(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.hide, value))
        if isinstance(value, Mapping):
            blank = {*_FIELDS, "marks"} | (_ITEM if value.keys() >= _ITEM else set())
            blank |= _OF_ANSWERS if _has_answers(value) else set()
            return {name: each if name in _NAMES else _blank(each) if name in blank else self.hide(each)
                    for name, each in value.items()}  # fmt: skip
        if isinstance(value, Table):
            value = _by_ids(value, of_answers=self.of_answers)
        elif isinstance(value, Issue) and self._without(value.worst) != value.worst:
            value = replace(value, worst="")
        elif isinstance(value, GroupCard):
            value = replace(value, examples=())
        elif isinstance(value, PointMap):
            value = replace(value, texts=())
        elif isinstance(value, Column):
            return value
        if not is_dataclass(value) or isinstance(value, type):
            return value
        changed = {
            each.name: self.hide(getattr(value, each.name))
            for each in fields(value)
            if each.init and each.name != "how"
        }
        return replace(value, **changed)

    def has(self, said: str) -> bool:
        """Whether a text is within what is said."""
        return self._without(said) != said

    def _without(self, said: str) -> str:
        """A sentence or a name, with a mark for each text in it."""
        said = _QUOTED.sub(
            lambda each: MARK if tuple(_WORD.findall(each[1].casefold())) in self._short else each[0], said
        )
        words = list(_WORD.finditer(said))
        plain = [each[0].casefold() for each in words]
        kept, at, end = [], 0, 0
        while at < len(words):
            n = self._quoted(plain, at)
            if n:
                kept += [said[end : words[at].start()], MARK]
                end = words[at + n - 1].end()
            at += n or 1
        return "".join([*kept, said[end:]]) if kept else said

    def _quoted(self, words: list[str], at: int) -> int:
        """How many words from a place on are those of a text, all or at least five; 0 for none."""
        most = 0
        for size in (1, 2, 3):
            for text in self._starting.get(tuple(words[at : at + size]), ()):
                pairs = zip(text, words[at:], strict=False)
                n = next((i for i, (own, other) in enumerate(pairs) if own != other), min(len(text), len(words) - at))
                most = max(most, n if n == len(text) or n >= _MOST_QUOTED else 0)
        return most


def bare_tables(
    tables: Mapping[str, pl.DataFrame], texts: HiddenTexts, *, of_items: bool = False
) -> dict[str, pl.DataFrame]:
    """Tables by their name, without the columns of texts, nor a text elsewhere.

    Args:
        tables: Those that are written.
        texts: What is to be hidden.
        of_items: Whether labels and answers are texts, too.
    """
    return {name: _bare(table, texts, of_items=of_items) for name, table in tables.items()}


def _bare(table: pl.DataFrame, texts: HiddenTexts, *, of_items: bool) -> pl.DataFrame:
    """A table without the columns of texts."""
    gone = {name for name in table.columns if _is_text(table, name, texts.columns)} | {"marks"}
    of_items = of_items or "choices" in table.columns
    gone |= {name for name in _OF_ITEMS if of_items and table.schema.get(name) in (pl.String, pl.List(pl.String))}
    left = table.drop(name for name in table.columns if name in gone)
    if {"n_examples", *_OF_ANSWERS} <= {*table.columns}:
        are = pl.col("label_names").list.len() * _LEAST_OF_CLASS > pl.col("n_examples")
        left = left.with_columns(pl.when(~are).then(pl.col(name)).alias(name) for name in _OF_ANSWERS)
    changed = []
    for name, kind in left.schema.items():
        if kind == pl.String:
            values = left[name].unique().drop_nulls()
            hidden = {own: bare for own in values if (bare := texts.hide(own)) != own}
            changed += [left[name].replace(hidden)] if hidden else []
        elif name == "tokens" and kind == pl.List(pl.String):
            # They are a text only together.
            lists = left[name].to_list()
            changed.append(
                pl.Series(name, [[MARK] if texts.has(" ".join(each)) else each for each in lists], dtype=kind)
            )
        elif kind.is_nested() and not _inner(kind).is_numeric():
            changed.append(pl.Series(name, [texts.hide(each) for each in left[name].to_list()], dtype=kind))
    return left.with_columns(changed)


def _is_text(table: pl.DataFrame, name: str, named: Collection[str]) -> bool:
    # Of pairs of rows the columns of each have an ending.
    plain = name.removesuffix("_a").removesuffix("_b")
    return plain in named and _inner(table.schema[name]) == pl.String


def _inner(kind: pl.DataType | type[pl.DataType]) -> Any:
    return kind.inner if isinstance(kind, pl.List) else kind


def _in_frame(table: pl.DataFrame, named: Collection[str]) -> Iterator[str]:
    for name in table.columns:
        if _is_text(table, name, named) or (name in _OF_ITEMS and isinstance(table.schema[name], pl.List)):
            column = table[name]
            yield from _strings((column.explode() if column.dtype.is_nested() else column).drop_nulls())


def _in_fields(value: Any, *, is_text: bool = False) -> Iterator[str]:
    """Every text under the fields of texts of plain data."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _in_fields(each, is_text=is_text or name in _FIELDS)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _in_fields(each, is_text=is_text)
    elif is_text and isinstance(value, str):
        yield value


def _strings(value: Any) -> Iterator[str]:
    """Texts and, where several are in one cell, the line of each."""
    for each in [value] if isinstance(value, str) else () if value is None else value:
        yield str(each)
        yield from str(each).splitlines()


def _blank(value: Any) -> Any:
    """A value of the same form with nothing in it."""
    if isinstance(value, Mapping):
        return {name: _blank(each) for name, each in value.items()}
    return "" if isinstance(value, str) else type(value)() if isinstance(value, (list, tuple)) else value


def _prose(table: Table) -> list[str]:
    return [each.key for each in table.columns if each.kind == "prose" and each.key not in _OURS]


def _without_labels(table: Table) -> Table:
    return replace(table, columns=tuple(each for each in table.columns if each.key not in _OF_ITEMS))


def _by_ids(table: Table, *, of_answers: bool) -> Table:
    """A table that shows the id of a row where it showed its texts."""
    shown = {each.key for each in table.columns}
    gone = {*_prose(table), *(_OF_ITEMS if of_answers or "choices" in shown else ())}
    gone |= _OF_ANSWERS if of_answers else set()
    columns = []
    for each in table.columns:
        name = f"example_id{each.key[-2:]}" if each.key.endswith(("_a", "_b")) else "example_id"
        if each.key not in gone:
            columns.append(replace(each, unfolds=""))
        elif name not in shown and any(name in row for row in table.rows):
            shown.add(name)
            columns.append(Column(name, each.title, "data"))
    keys = {key for column in columns for key in column.keys} | {table.grouped_by}
    return replace(
        table, columns=tuple(columns), rows=tuple({k: v for k, v in row.items() if k in keys} for row in table.rows)
    )
