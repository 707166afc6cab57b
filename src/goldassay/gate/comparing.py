"""Things that went and things that came, from the fullest list that both reports have.

Which figure of one report is which of another: by its names, or by those that a change of model leaves alone.

Intervals of differences on one and the same test set, from the tables that lie beside two reports.

A report's `tables/examples.parquet` has a row a test example, with columns that hold its part of some measures: see
`goldassay.core.figures.Pairing`. With both tables, what the examples have in common falls out of the difference, which
the reports cannot do.

Whether two reports may be laid side by side at all, and what a reader must know of them before.

From two reports to what changed: verdicts, measures with intervals of their change, patterns.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.bounds import check_parquet
from goldassay.core.errors import InputError
from goldassay.core.figures import WORTH, Figure, Listing, Measure, Pairing, listings, measure_of
from goldassay.core.numbers import bounds_in, count, with_unit
from goldassay.core.results import WORDS, frame_of_records, severity
from goldassay.gate.reading import Alone, Change, DiffResult, ListChange, VerdictMove
from goldassay.stats.intervals import Interval, degrees_of_freedom, difference_interval, t_interval

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.document import Document, Verdict
    from goldassay.gate.reading import StoredReport

CHANGES = ("gone", "new", "turned", "stayed")


def compare_lists(listing: Listing, before: StoredReport, after: StoredReport) -> ListChange | None:
    """Lay what two reports list side by side; None where one of them lists nothing.

    All things are taken where both reports have them; else those that the reports name themselves: what is gone then
    may just have lost its rank.
    """
    found = [listing.read(report.document, report.folder) for report in (before, after)]
    if found[0] is None or found[1] is None:
        return None
    if found[0].complete is not None and found[1].complete is not None:
        one, other = found[0].complete, found[1].complete
        source = f"All {listing.name} that were kept are compared."
    else:
        one, other = found[0].strongest, found[1].strongest
        source = (
            f"Only the strongest {listing.name} of each {listing.label} are compared: the tables of all are not beside "
            f"both reports. A {listing.one} that is gone may just rank lower."
        )
    label, earlier = pl.col(listing.label), pl.col(f"{listing.label}_before")
    both = other.join(one.drop(WORTH), on=listing.one, how="inner", suffix="_before")
    return ListChange(
        source=source,
        n_before=one.height,
        n_after=other.height,
        gone=_ranked(one.join(other, on=listing.one, how="anti"), listing),
        new=_ranked(other.join(one, on=listing.one, how="anti"), listing),
        turned=_ranked(both.filter(label != earlier), listing),
        stayed=_ranked(both.filter(label == earlier).drop(f"{listing.label}_before"), listing),
    )


def _ranked(table: pl.DataFrame, listing: Listing) -> pl.DataFrame:
    return table.sort(WORTH, listing.one, descending=[True, False]).drop(WORTH)


# Names that may differ between two figures that are the same all the same, tried in this order.
_LOOSENED: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"model"}),
    frozenset({"dataset", "test"}),
    frozenset({"model", "dataset", "test"}),
)

Pair = tuple["Figure", "Figure"]


def match_figures(before: Sequence[Figure], after: Sequence[Figure]) -> tuple[list[Pair], list[Figure], list[Figure]]:
    """Pair the figures of two reports; what is left of each has no counterpart.

    Where names differ, figures are paired without the model's name, then without the dataset's, and only where that
    leaves no choice: a report on one model goes with a report on another, one on three models with itself alone.

    Returns:
        Pairs, in the order of the first report; what only the first has; what only the second has.
    """
    left, right = list(before), list(after)
    pairs: list[Pair] = []
    for loosened in _LOOSENED:
        ours, theirs = _unique(left, loosened), _unique(right, loosened)
        met = [(ours[key], theirs[key]) for key in ours if key in theirs]
        pairs += met
        left = [figure for figure in left if not any(figure is one for one, _ in met)]
        right = [figure for figure in right if not any(figure is other for _, other in met)]
    order = {id(figure): i for i, figure in enumerate(before)}
    return sorted(pairs, key=lambda pair: order[id(pair[0])]), left, right


def _unique(figures: Sequence[Figure], loosened: frozenset[str]) -> dict[tuple[object, ...], Figure]:
    groups: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        names = frozenset(name for name in figure.of.items() if name[0] not in loosened)
        groups.setdefault((figure.id, names), []).append(figure)
    return {key: members[0] for key, members in groups.items() if len(members) == 1}


_TABLE = "tables/examples.parquet"
# How far a table's mean may lie from the report's figure and still be the same: both are sums of the same numbers.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Side:
    """A report and its test examples."""

    report: StoredReport
    table: pl.DataFrame

    def values(self, figure: Figure, pairing: Pairing) -> NDArray[np.float64] | None:
        """Each example's part of a figure, (N,); None where the table does not hold it."""
        column = pairing.column_of(figure)
        if column not in self.table.columns:
            return None
        held = self.table[column]
        return (held.is_in(pairing.values) if pairing.values else held).to_numpy().astype(np.float64)

    def number(self, id_: str, figure: Figure) -> float:
        """The value of the figure of another id with the same names; NaN where there is none."""
        found = (each.value for each in self.report.figures if each.id == id_ and each.of == figure.of)
        return next(found, math.nan)


@dataclass(frozen=True)
class Examples:
    """The test examples of two reports, in one order."""

    before: _Side
    after: _Side

    def interval(self, one: Figure, other: Figure, pairing: Pairing, level: float = 0.95) -> Interval | None:
        """The paired interval of other - one; None where the tables do not hold it.

        d_i is the difference at example i, of N. The variance of its mean is Var(d)/N, to which the seeds' noise is
        added, sd²/R of each side; the quantile is Student's with Satterthwaite's degrees of freedom. Seeds' noise that
        is each example's own is counted twice, which makes the interval rather too wide.

        Source: Satterthwaite 1946, "An approximate distribution of estimates of variance components".
        """
        sides = ((self.before, one), (self.after, other))
        values = [side.values(figure, pairing) for side, figure in sides]
        if values[0] is None or values[1] is None:
            return None
        difference = values[1] - values[0]
        n = difference.size
        if n < 2 or abs(float(difference.mean()) - (other.value - one.value)) > _ROUNDING:
            return None
        parts = [(float(difference.var(ddof=1)) / n, n - 1.0)]
        if pairing.sd:
            for side, figure in sides:
                sd, runs = side.number(pairing.sd, figure), side.number(pairing.runs, figure)
                if math.isnan(sd) or math.isnan(runs) or runs < 2:
                    return None
                parts.append((sd * sd / runs, runs - 1))
        variance = sum(part for part, _ in parts)
        if variance == 0:
            # That no example differs does not make the change known without error.
            return None
        return t_interval(float(difference.mean()), variance, degrees_of_freedom(parts), level, "paired")


def shared_examples(before: StoredReport, after: StoredReport) -> Examples | None:
    """The test examples of two reports on the same test file; None where the tables or the files are not the same."""
    digests = [_test_files(report) for report in (before, after)]
    if not digests[0] or digests[0] != digests[1]:
        return None
    tables = [_table(report) for report in (before, after)]
    if tables[0] is None or tables[1] is None:
        return None
    one, other = (table.sort("example_id") for table in tables if table is not None)
    if one["example_id"].to_list() != other["example_id"].to_list() or one["example_id"].is_duplicated().any():
        return None
    return Examples(_Side(before, one), _Side(after, other))


def _test_files(report: StoredReport) -> list[str]:
    return [digest for each in report.parsed.inputs_of("test") for digest in each.sha256]


def _table(report: StoredReport) -> pl.DataFrame | None:
    from polars.exceptions import PolarsError

    try:
        check_parquet(report.folder / _TABLE, report.folder / _TABLE)
        table = pl.read_parquet(report.folder / _TABLE)
    except (OSError, PolarsError, InputError):
        return None
    return table if "example_id" in table.columns and _fits(_Side(report, table)) else None


def _fits(side: _Side) -> bool:
    """Whether the table has the report's figures as means: one that another report left must not speak for it."""
    for figure in side.report.figures:
        measure = measure_of(figure.id)
        if measure is None or measure.pairing is None or not measure.takes(figure):
            continue
        values = side.values(figure, measure.pairing)
        told = side.number(measure.pairing.mean or figure.id, figure)
        if values is not None and not (values.size and abs(float(values.mean()) - told) <= _ROUNDING):
            return False
    return True


_MOST_SETTINGS = 8
# Of rows that were handed over in memory no report keeps a hash.
_UNKNOWN = "; whether they are the same is not known"
_ROLES = {
    "train": "training data",
    "test": "test data",
    "elsewhere": "data from elsewhere",
    "runs": "runs",
    "gold": "gold labels",
}
# What decides no figure: where and how fast it was computed.
_IDLE_SETTINGS = ("training", "reading")


def check_comparable(before: StoredReport, after: StoredReport) -> None:
    """Refuse reports that say nothing about the same thing.

    Raises:
        InputError: They ask different questions, or their datasets have other labels or other texts.
    """
    asked = [_asked(report) for report in (before, after)]
    if not set(asked[0]) & set(asked[1]):
        raise InputError(
            f"it asks {' and '.join(asked[1]) or 'nothing'}, the first report {' and '.join(asked[0]) or 'nothing'}: "
            "they have no measure in common",
            file=after.path,
            mend="compare two reports of the same command",
        )
    first, second = before.parsed, after.parsed
    for one, other, what in (
        (first.label_names, second.label_names, "labels"),
        (first.text_columns, second.text_columns, "texts"),
    ):
        if one and other and set(one) != set(other):
            raise InputError(
                f"it is about another dataset: its {what} are {', '.join(other)}, those of the first report "
                f"{', '.join(one)}",
                file=after.path,
                mend="compare two reports on versions of one dataset",
            )


def warnings_of(before: StoredReport, after: StoredReport) -> list[str]:
    """What makes a change mean less than it seems: other commands, other versions, other data, other settings."""
    one, other = before.parsed, after.parsed
    found = []
    commands = [each.command for each in (one, other)]
    if commands[0] != commands[1]:
        found.append(
            f"The reports are of two commands, goldassay {commands[0]} and goldassay {commands[1]}: what both measure "
            "is compared, and each may measure it in its own way."
        )
    if one.digest == other.digest:
        found.append("Both reports say the same: their digests are equal.")
    if one.goldassay_version != other.goldassay_version:
        found.append(
            f"The reports are of two versions of goldassay, {one.goldassay_version} and "
            f"{other.goldassay_version}: a change may be one of method."
        )
    found += _data(one, other)
    changed = _settings(before.document, after.document)
    if changed:
        more = f" and {len(changed) - _MOST_SETTINGS} more" if len(changed) > _MOST_SETTINGS else ""
        found.append(f"The settings differ: {'; '.join(changed[:_MOST_SETTINGS])}{more}.")
    return found


def compared_figures(report: StoredReport) -> list[Figure]:
    """The defined figures of a report whose measures two reports are compared by, in the report's order."""
    found = []
    for figure in report.figures:
        measure = measure_of(figure.id)
        if figure.is_defined and measure is not None and measure.compared and measure.takes(figure):
            found.append(figure)
    return found


def same_test_set(before: StoredReport, after: StoredReport) -> bool | None:
    """Whether both evaluate on the same file; None where a report names none."""
    one, other = (_files(report.parsed, "test") for report in (before, after))
    return one == other if one and other else None


def _data(one: Document, other: Document) -> list[str]:
    found = []
    for role, name in _ROLES.items():
        files = [_files(document, role) for document in (one, other)]
        named = [bool(document.inputs_of(role)) for document in (one, other)]
        if not any(named) or (files[0] == files[1] and all(files)):
            continue
        described = [_described(document, role) for document in (one, other)]
        if not all(named):
            which = named.index(True)
            found.append(f"Only the {('first', 'second')[which]} report names {name}: {described[which]}.")
        elif all(files):
            found.append(f"The {name} differ: {described[0]} and {described[1]}.")
        elif described[0] != described[1]:
            found.append(f"The {name} are {described[0]} and {described[1]}{_UNKNOWN}.")
        else:
            found.append(f"The {name} are {described[0]} in both reports{_UNKNOWN}.")
    shared = set().union(*(_files(one, role) for role in _ROLES)) & set().union(
        *(_files(other, role) for role in _ROLES)
    )
    both = all(any(_files(document, role) for role in _ROLES) for document in (one, other))
    if len(found) > 1 and both and not shared:
        found.append("No file is the same: are these two versions of one dataset, or two datasets?")
    return found


def _asked(report: StoredReport) -> list[str]:
    """The questions that a report has a figure to compare of."""
    measures = (measure_of(figure.id) for figure in compared_figures(report))
    return list(dict.fromkeys(each.question for each in measures if each is not None and not each.describes_data))


def _files(document: Document, role: str) -> list[str]:
    return sorted(digest for each in document.inputs_of(role) for digest in each.sha256)


def _described(document: Document, role: str) -> str:
    named = document.inputs_of(role)
    rows = [each.n_rows for each in named if each.n_rows is not None]
    told = [f"{count(sum(rows))} rows"] if rows else []
    # Two versions of a dataset often have one name: the hash tells them apart.
    digests = [digest for each in named for digest in each.sha256]
    if not digests:
        told.append("in memory")
    else:
        told.append(f"sha256 {digests[0][:8]}…" + (f" and {len(digests) - 1} more" if len(digests) > 1 else ""))
    names = list(dict.fromkeys(each.name for each in named))
    return (names[0] if len(names) == 1 else f"{len(names)} files") + (f" ({', '.join(told)})" if told else "")


def _settings(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What was set otherwise; of what a question made of its settings, where both reports say it."""
    used = [_used(document) for document in (one, other)]
    flat = [
        _flat(document["settings"]) | {key: value for key, value in mine.items() if key in others}
        for document, mine, others in zip((one, other), used, reversed(used), strict=True)
    ]
    keys = [key for key in flat[0] if key in flat[1] and key.partition(".")[0] not in _IDLE_SETTINGS]
    return [f"{key} {_shown(flat[0][key])} and {_shown(flat[1][key])}" for key in keys if flat[0][key] != flat[1][key]]


def _used(document: Mapping[str, Any]) -> dict[str, Any]:
    """Each question's own settings, under its key: defaults that follow the data are filled in there."""
    used: dict[str, Any] = {}
    for key, part in document.items():
        if isinstance(part, dict) and isinstance(part.get("settings"), dict):
            used |= _flat(part["settings"], f"{key}.")
    return used


def _shown(value: Any) -> str:
    """A setting as a settings file has it."""
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, dict):
            flat |= _flat(item, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = item
    return flat


# What differs between two verdicts on one question.
FIGURE, FIGURE_WITHIN = "the figure changed", "the figure changed, within its interval"
INTERVAL_ONLY, WORD_ONLY = "only the interval changed", "only the word changed"
ANOTHER_FIGURE, UNCHANGED = "another figure decides", "nothing changed"
WHAT_CHANGED = (FIGURE, FIGURE_WITHIN, INTERVAL_ONLY, WORD_ONLY, ANOTHER_FIGURE, UNCHANGED)
PAIRED = "paired by test example"
UNPAIRED = "unpaired"
SAME = "the same figure"


@dataclass(frozen=True)
class Changes:
    """What changed from one report to another.

    Attributes:
        result: All of it.
        tables: Full tables by name: measures, and patterns where both reports have any.
    """

    result: DiffResult
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))


def table_names() -> list[str]:
    """Every table that a comparison may have."""
    return ["measures", *(f"{listing.name}_{change}" for listing in listings() for change in CHANGES)]


def compare_reports(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> Changes:
    """Compare two reports: files or folders, of the same command, before and after something was mended.

    The interval of a change is paired where both audits lie in their folders and evaluate on the same test file, else
    from the two intervals as of independent samples; each row says which, and where the reports hold neither, that
    there is none.

    Raises:
        InputError: A report cannot be read or was edited, or the two are not about the same thing.
    """
    from goldassay.gate.reading import read_report

    one, other = read_report(before), read_report(after)
    check_comparable(one, other)
    examples = shared_examples(one, other)
    pairs, gone, new = match_figures(compared_figures(one), compared_figures(other))
    if all(_measure(first).describes_data for first, _ in pairs):
        raise InputError(
            f"it has no measure in common with {one.path}",
            file=other.path,
            mend="compare two reports of the same command",
        )
    measures = tuple(_change(first, second, examples) for first, second in pairs)
    lists = {listing.name: compare_lists(listing, one, other) for listing in listings()}
    result = DiffResult(
        title=f"{one.title}: what changed" if one.title == other.title else "What changed between two reports",
        before=one.describe(),
        after=other.describe(),
        warnings=tuple(warnings_of(one, other)),
        notes=tuple(_notes(measures, same_test_set(one, other))),
        verdicts=_verdicts(one, other),
        measures=measures,
        only_before=tuple(map(_alone, gone)),
        only_after=tuple(map(_alone, new)),
        lists=lists,
    )
    tables = {"measures": frame_of_records(measures, Change)}
    for name, found in lists.items():
        if found is not None:
            tables |= {f"{name}_{change}": getattr(found, change) for change in CHANGES}
    return Changes(result, {name: table for name, table in tables.items() if table.height})


def _change(one: Figure, other: Figure, examples: Examples | None) -> Change:
    interval, method = _interval(one, other, examples)
    low, high = (interval.low, interval.high) if interval else (math.nan, math.nan)
    roles = dict.fromkeys([*one.of, *other.of])
    return Change(
        id=one.id,
        question=one.question,
        measure=one.label,
        of=", ".join(_both(one.of.get(role), other.of.get(role)) for role in roles),
        unit=one.unit,
        describes_data=_measure(one).describes_data,
        before=one.value, before_low=one.low, before_high=one.high,
        after=other.value, after_low=other.low, after_high=other.high,
        difference=other.value - one.value, low=low, high=high,
        method=method,
        change=_word(one.better, other.value - one.value, low, high),
    )  # fmt: skip


def _measure(figure: Figure) -> Measure:
    """The measure of a figure that is compared: of others nothing is known here."""
    measure = measure_of(figure.id)
    assert measure is not None
    return measure


def _interval(one: Figure, other: Figure, examples: Examples | None) -> tuple[Interval | None, str]:
    numbers = [(each.value, each.low, each.high) for each in (one, other)]
    if one.unit != "examples" and numbers[0] == numbers[1]:
        # Numbers that agree to the last digit are of the same data: there is no change to be unsure of.
        return None, SAME
    pairing = _measure(one).pairing
    if examples is not None and pairing is not None:
        paired = examples.interval(one, other, pairing)
        if paired is not None:
            return paired, PAIRED
    if not (one.has_interval and other.has_interval):
        return None, "a count" if one.unit == "examples" else "the reports hold none"
    bounds = [Interval(each.low, each.high) for each in (one, other)]
    return difference_interval(other.value, bounds[1], one.value, bounds[0]), UNPAIRED


def _word(better: str, difference: float, low: float, high: float) -> str:
    """What a change is: a word that the interval supports; without one, which way it went."""
    if math.isnan(low):
        return "same" if difference == 0 else "fewer" if difference < 0 else "more"
    if low <= 0 <= high:
        return "not shown"
    if better == "neither":
        return "changed"
    return "better" if (difference < 0) == (better == "lower") else "worse"


def _both(one: str | None, other: str | None) -> str:
    return str(one) if one == other else f"{one} → {other}"


def _alone(figure: Figure) -> Alone:
    return Alone(
        figure.id, figure.question, figure.label, ", ".join(figure.of.values()), figure.unit, figure.value, figure.low,
        figure.high,
    )  # fmt: skip


def _verdicts(one: StoredReport, other: StoredReport) -> tuple[VerdictMove, ...]:
    both = ((question, first, other.verdicts.get(question)) for question, first in one.verdicts.items())
    return tuple(
        VerdictMove(question, first, second, _moved(first.verdict, second.verdict), what_changed(first, second))
        for question, first, second in both
        if second is not None
    )


def what_changed(before: Verdict, after: Verdict) -> str:
    """One of `WHAT_CHANGED`; figures are compared as they are printed."""
    one, other = before.headline, after.headline
    if one is None or other is None or (one.label, one.unit) != (other.label, other.unit):
        if one is not other:
            return ANOTHER_FIGURE
        return WORD_ONLY if before.verdict != after.verdict else UNCHANGED
    if with_unit(one.value, one.unit) != with_unit(other.value, other.unit):
        low, value, high = (math.nan if each is None else each for each in (one.low, other.value, one.high))
        return FIGURE_WITHIN if low <= value <= high else FIGURE
    if bounds_in(one.low, one.high, one.unit) != bounds_in(other.low, other.high, other.unit):
        return INTERVAL_ONLY
    return WORD_ONLY if before.verdict != after.verdict else UNCHANGED


def _moved(before: str, after: str) -> str:
    if before == after:
        return "same"
    if "not measurable" in (before, after):
        return "now measured" if before == "not measurable" else "no longer measurable"
    if before in WORDS and after in WORDS:
        return "better" if severity(after) < severity(before) else "worse"
    return "changed"


def _notes(measures: Sequence[Change], same: bool | None) -> list[str]:
    methods = {row.method for row in measures}
    notes = []
    if PAIRED in methods:
        notes.append(
            "Both reports evaluate on the same test examples. Where the tables beside them hold each one's part, the "
            "interval of a change is of the differences example by example, with the noise of seeds added (paired)."
        )
    if UNPAIRED in methods:
        note = "Intervals called unpaired are made from those of the two reports, as of independent samples"
        tail = "; the test examples being the same, they are rather too wide." if same else "."
        notes.append(note + tail)
    with_interval = sum(not math.isnan(row.low) for row in measures)
    if with_interval > 1:
        notes.append(
            "Each interval is of 95 % by itself: one measure in twenty would seem to have changed though it did not. "
            f"Here {with_interval} have an interval."
        )
    return notes
