"""What a study declares: its sizes, what it trains, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goldassay.data import Dataset
    from goldassay.papers.workplace import Workplace
    from goldassay.report import Report

ScaleName = Literal["smoke", "desk", "paper"]
SCALES: tuple[ScaleName, ...] = ("smoke", "desk", "paper")

Drawn = Literal["printed", "matrix", "differences", "nothing"]
Standing = Literal["held", "did not hold", "not shown", "not measured"]

# Stands for the checkpoint that whoever runs a study gives.
PRETRAINED = "pretrained"


@dataclass(frozen=True)
class Training:
    """Networks that are trained on one set.

    Attributes:
        train: Name of the set.
        tests: Names of the sets that each run is evaluated on.
        models: What the runs call each network, and its name or place; `PRETRAINED` stands for what the user gives.
        seeds: How many, or which.
        conditions: What they see; everything if there are none.
        options: Keys of [training] in the settings, for all of them; `rows` is how many at most. `dev` may name a set;
            `bias`, `teacher` and `vectors` may name something in the study's folder, or one of the size's `files`.
        of: Further keys for single networks, by what the runs call them.
        checkpoint_epochs: By network a checkpoint after every such share of an epoch; none in between for others.
    """

    train: str
    tests: tuple[str, ...]
    models: Mapping[str, str]
    seeds: int | tuple[int, ...]
    conditions: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    checkpoint_epochs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scale:
    """One size of a study.

    Attributes:
        sets: Sets by the name that tables give them, and the name of where they come from (`sources.SOURCES`).
        trainings: What is trained.
        note: In what it differs from the printed protocol, in a sentence or two.
        chosen: What else of the protocol depends on the size: thresholds, numbers of draws.
        specimen_rows: Rows of the made-up training and test sets, where `sets` names any.
        strict: Whether sets must be the published ones: their language and number of rows.
        files: What is read and is no set, such as word vectors: a name for it, and of where it comes from.
    """

    sets: Mapping[str, str]
    trainings: tuple[Training, ...]
    note: str
    chosen: Mapping[str, Any] = field(default_factory=dict)
    specimen_rows: tuple[int, int] = (2_000, 200)
    strict: bool = False
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """A table of the paper beside ours.

    Attributes:
        name: Of its file.
        title: Which table it is, and of what.
        rows: The key columns that make its rows.
        columns: The key columns that make its columns.
        cells: The keys, and of each cell printed, printed_sd, doubted (the paper contradicts it elsewhere), ours,
            low, high, sd, n_runs; as the paper's table prints them, points where it prints points.
        digits: Decimals that are shown.
        note: What keeps a cell from being the same as the printed one, or what the table means.
        drawn: The picture of it: ours against printed; a matrix of ratios; differences from a baseline.
        of: Keys with one value only, by which the part of the printed table was chosen.
        unmatched: Printed cells of rows of which we have none, which are not shown.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: pl.DataFrame
    digits: int = 1
    note: str = ""
    drawn: Drawn = "printed"
    of: Mapping[str, str] = field(default_factory=dict)
    unmatched: pl.DataFrame | None = None


@dataclass(frozen=True)
class Conclusion:
    """Something that the paper concludes, and what became of it here.

    Attributes:
        name: In a few words.
        statement: What the paper says.
        place: Where it says so.
        standing: Whether it held.
        evidence: Why we say so, with the figures.
        value: The figure that decides, a fraction or a plain number.
        low: Its interval's lower end.
        high: Its upper end.
        unit: Of these: points, share, ratio, correlation.
        p: Two-sided, of the figure being where the claim turns, by the distribution of the interval; None where it is
            judged together with others already.
    """

    name: str
    statement: str
    place: str
    standing: Standing
    evidence: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = "points"
    p: float | None = None


@dataclass(frozen=True)
class Shown:
    """A picture of one of the reports, as a figure of the study's page.

    Attributes:
        title: Which figure of the paper it stands for, and what it shows.
        report: Name of the report.
        figure: Name of its picture.
    """

    title: str
    report: str
    figure: str


@dataclass(frozen=True)
class Findings:
    """What a study found.

    Attributes:
        conclusions: Of the paper, each with what became of it.
        comparisons: Its tables beside ours.
        reports: Whole reports behind them, by name; each is saved in a folder of its own.
        shown: Pictures of these on the page.
        notes: What limits all of it.
        tables: Further tables of ours by name, written beside the page.
    """

    conclusions: tuple[Conclusion, ...]
    comparisons: tuple[Comparison, ...]
    reports: Mapping[str, Report] = field(default_factory=dict)
    shown: tuple[Shown, ...] = ()
    notes: tuple[str, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)


class Recipe(Protocol):
    """The interface of a study: one package of `papers/`, under the study's name."""

    TITLE: str
    PAPER: str
    SCALES: Mapping[ScaleName, Scale]
    # Sets and models without which nothing of the study can be measured.
    NEEDED: tuple[str, ...]

    @staticmethod
    def has_released(work: Workplace) -> bool:
        """Whether there is something to measure where nothing is trained: predictions that others released."""

    @staticmethod
    def prepare(work: Workplace) -> dict[str, Dataset]:
        """Sets made of others: joined, cut down; by the names that trainings and tables give them."""

    @staticmethod
    def measure(work: Workplace) -> Findings:
        """From the runs to what was found."""
