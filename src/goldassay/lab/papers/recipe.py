"""What a study declares: its sizes, what it trains, and what it finds.

Which of a study's sets and models are run: those that are asked for, and of these those that have what they need.

Where a study happens: its folder, its sets, and the promise that it is not resumed with other settings.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from goldassay.core.errors import InputError, option
from goldassay.core.files import written_whole
from goldassay.core.results import to_plain
from goldassay.data.source import find_published
from goldassay.runs.run_parts import JOBS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from goldassay.core.progress import Steps
    from goldassay.data.dataset import Dataset
    from goldassay.report.report import Report

ScaleName = Literal["smoke", "desk", "paper"]
SCALES: tuple[ScaleName, ...] = ("smoke", "desk", "paper")

Drawn = Literal["printed", "matrix", "differences", "nothing"]
# Data that a study makes up say nothing about the sets that they are named for: a claim is found as planted, or not.
Standing = Literal["held", "did not hold", "found as planted", "not as planted", "not shown", "not measured"]

# Of what a claim is made: of at least one of several figures, of each, of their mean, of a single one.
Quantifier = Literal["some", "all", "on average", "this cell"]

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
        grid: Trainings with the other settings of the paper's search, which are done where they are asked for.
        unprinted: What is chosen here because the paper does not print it, or done otherwise than it prints, a sentence
            each; the page and docs/reproduction.md list them.
    """

    sets: Mapping[str, str]
    trainings: tuple[Training, ...]
    note: str
    chosen: Mapping[str, Any] = field(default_factory=dict)
    specimen_rows: tuple[int, int] = (2_000, 200)
    strict: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    unprinted: tuple[str, ...] = ()
    grid: tuple[Training, ...] = ()


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
        quantifier: Of what the paper claims it, by which it is tested.
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
    quantifier: Quantifier = "on average"


@dataclass(frozen=True)
class Claim:
    """Something that a paper claims, in our words; each study declares its own once, in `CLAIMS`.

    Attributes:
        name: In a few words.
        statement: What the paper says.
        place: The section, tables and figures that show it.
        quantifier: Of what it is claimed, by which it is tested.
        figure: The statistic that decides.
        data: What it takes to decide it.
        sentence: Where the paper says so, as far as its sentence could be read; "" where it could not.
        by: What decides it where no study does: a command or a test.
    """

    name: str
    statement: str
    place: str
    quantifier: Quantifier
    figure: str
    data: str
    sentence: str = ""
    by: str = ""

    def found(
        self,
        standing: Standing,
        evidence: str,
        value: float | None = None,
        low: float | None = None,
        high: float | None = None,
        unit: str = "points",
        p: float | None = None,
    ) -> Conclusion:
        """What became of it, with the fields of `Conclusion`."""
        place = "; ".join(part for part in (self.sentence, self.place) if part)
        return Conclusion(
            self.name, self.statement, place, standing, evidence, value, low, high, unit, p, self.quantifier
        )

    def unmeasured(self, why: str) -> Conclusion:
        """That it was not measured."""
        return self.found("not measured", why)


def declared(*claims: Claim) -> dict[str, Claim]:
    """Claims by their names."""
    return {each.name: each for each in claims}


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


LEFT_OUT = "left out"
# What is lacking is told whole where sets are listed.
_MOST_NAMED = 2


@dataclass(frozen=True)
class NotRun:
    """A model that is not trained on a set, or not tested on one.

    Attributes:
        model: What tables call it.
        train: Name of the training set.
        test: Name of the test set.
        why: "left out", "needs MNLI train", or "needs MNLI train and 3 more".
        needs: Names of what is lacking.
    """

    model: str
    train: str
    test: str
    why: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainedNetwork:
    """A network of a study.

    Attributes:
        name: What its runs call it.
        network: Its kind.
        configuration: Its settings.
        precision: Of its numbers.
        objectives: What was minimized.
        seeds: How many.
        n_trainings: With all of these.
    """

    name: str
    network: str
    configuration: str
    precision: str
    objectives: tuple[str, ...]
    seeds: int
    n_trainings: int


@dataclass(frozen=True)
class SetUsed:
    """A dataset of a study, with its files."""

    name: str
    n_examples: int
    files: tuple[str, ...]
    sha256: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """What a study's page shows.

    Attributes:
        title: Of the page.
        study: Its name.
        paper: Which paper.
        scale: The size that was run.
        scale_note: What that leaves out.
        unprinted: What is chosen here, as `Scale.unprinted` has it.
        made_up: Whether the sets are made up by the study, under the names of real ones.
        notes: What limits all of it.
        absent: {set or model: why it was not there}.
        not_run: What was neither trained nor tested.
        conclusions: Of the paper, each with what became of it.
        comparisons: Its tables beside ours.
        shown: Pictures of reports.
        n_trainings: How many.
        models: What runs call them.
        networks: What they are.
        inputs: What was read.
    """

    title: str
    study: str
    paper: str
    scale: str
    scale_note: str
    unprinted: tuple[str, ...]
    made_up: bool
    notes: tuple[str, ...]
    absent: Mapping[str, str]
    not_run: tuple[NotRun, ...]
    conclusions: tuple[Conclusion, ...]
    comparisons: tuple[Comparison, ...]
    shown: tuple[Shown, ...]
    n_trainings: int
    models: tuple[str, ...]
    networks: tuple[TrainedNetwork, ...]
    inputs: tuple[SetUsed, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data; of comparisons the printed cells that are not shown are left out."""
        plain: dict[str, Any] = to_plain(self)
        for each in plain["comparisons"]:
            del each["unmatched"]
        return plain


@dataclass(frozen=True)
class Choice:
    """Sets and models by name.

    Attributes:
        only: Those that are run; all if there are none.
        without: Those that are not run.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def check(self, scale: Scale) -> None:
        """Refuse names that nothing of a study's size has.

        Raises:
            InputError: Lists the names that exist.
        """
        known = names_of(scale)
        for key, names in (("only", self.only), ("without", self.without)):
            strange = [name for name in names if name not in known]
            if strange:
                raise InputError(
                    f"{option(key)} {strange[0]}: the study has no such set or model at this scale",
                    mend=f"it has {', '.join(known)}",
                )

    def narrowed(self, scale: Scale) -> Scale:
        """The size with the trainings that are asked for.

        A training is asked for by its model and, where sets are named, by its training set or one of its test sets; by
        a test set it is tested on those that are named alone.
        """
        models = {label for training in scale.trainings for label in training.models}
        named_models = {name for name in self.only if name in models}
        named_sets = set(self.only) - named_models
        found = []
        for training in scale.trainings:
            labels = [label for label in training.models if label not in self.without]
            if named_models:
                labels = [label for label in labels if label in named_models]
            tests = [name for name in training.tests if name not in self.without]
            if named_sets and training.train not in named_sets:
                tests = [name for name in tests if name in named_sets]
            if labels and tests and training.train not in self.without:
                found.append(_part_of(training, labels, tests))
        return replace(scale, trainings=tuple(found))


def names_of(scale: Scale) -> tuple[str, ...]:
    """Names of all sets and models of a study's size, sets first."""
    trained = [name for training in scale.trainings for name in (training.train, *training.tests)]
    models = [label for training in scale.trainings for label in training.models]
    return tuple(dict.fromkeys([*scale.sets, *scale.files, *trained, *models]))


def runnable(whole: Scale, work: Workplace, is_there: Callable[[str], bool]) -> tuple[Scale, list[NotRun]]:
    """Of the size that is asked for what can be run, and what of the whole size is not, with why.

    Args:
        whole: The size as it is declared.
        work: Its sets are read and prepared; `work.scale` is what is asked for.
        is_there: Whether a checkpoint is at hand, by its name.
    """
    lacks = {}
    kept = []
    for training in work.scale.trainings:
        needs = {label: _needs(training, label, network, work, is_there) for label, network in training.models.items()}
        tests = [name for name in training.tests if name not in work.lacking]
        for label in training.models:
            for test in training.tests:
                lacks[label, training.train, test] = (*needs[label], *work.roots(test))
        labels = [label for label, lacking in needs.items() if not lacking]
        if labels and tests:
            kept.append(_part_of(training, labels, tests))
    done = {(label, each.train, test) for each in kept for label in each.models for test in each.tests}
    missing = {}
    for training in whole.trainings:
        for label in training.models:
            for test in training.tests:
                key = label, training.train, test
                if key not in done:
                    needed = tuple(dict.fromkeys(lacks.get(key, ())))
                    why = f"needs {_few(needed)}" if needed else LEFT_OUT
                    missing[key] = NotRun(*key, why, needed)
    return replace(work.scale, trainings=tuple(kept)), list(missing.values())


def _few(names: Sequence[str]) -> str:
    """Two names at most, which a cell of a table has room for."""
    return " and ".join(names) if len(names) <= _MOST_NAMED else f"{names[0]} and {len(names) - 1} more"


def _needs(
    training: Training, label: str, network: str, work: Workplace, is_there: Callable[[str], bool]
) -> tuple[str, ...]:
    """What a model of a training lacks, by name."""
    options: Mapping[str, Any] = {**training.options, **training.of.get(label, {})}
    found = [*work.roots(training.train)]
    if options.get("dev") is not None:
        found += work.roots(options["dev"])
    if options.get("vectors") in work.absent:
        found.append(options["vectors"])
    encoder = str((options.get("changes") or {}).get("encoder", ""))
    if network == PRETRAINED:
        found += [] if work.pretrained else [f"{option('pretrained')}"]
    elif not found:
        found += [name for name in (network, encoder) if "/" in name and not is_there(name)]
    return tuple(found)


def _part_of(training: Training, labels: Iterable[str], tests: Sequence[str]) -> Training:
    return replace(training, models={label: training.models[label] for label in labels}, tests=tuple(tests))


def needed_by(not_run: Iterable[NotRun]) -> dict[str, list[NotRun]]:
    """What is lacking, each with what is not run for want of it."""
    found: dict[str, list[NotRun]] = {}
    for each in not_run:
        for name in each.needs:
            found.setdefault(name, []).append(each)
    return found


# Of every study that leaves the precision to the machine.
PRECISION_CHOSEN = (
    "Networks have numbers of 16 bits (bfloat16) on a GPU that multiplies in them, unless --precision says otherwise."
)
SETTINGS_FILE, RUNS = "study-settings.json", "runs"
# How the settings name the two precisions of a study; the second is noted where it is not the usual one.
PRECISION, UNASKED_PRECISION, USUAL_PRECISION = "precision", "precision of all else", "float32"
# How the settings name the digests of a set's files.
OF_SET = "set "


@dataclass
class Workplace:
    """What a recipe measures with.

    Attributes:
        folder: Of the study.
        scale: Its size.
        scale_name: What this is called.
        data: Folder with the files of others, or None where a study needs none.
        pretrained: Checkpoint that stands for pretrained models, or None to leave them out.
        seed: Of everything that is drawn, but for the trainings, which have seeds of their own.
        steps: Progress.
        precision: Of trainings that leave it to the machine. The first machine decides it, so that the runs of a study
            are alike wherever it goes on; None where no training leaves it.
        unasked_precision: Of trainings of which the recipe says nothing; also decided by the first machine.
        sets: Datasets by the names that tables give them.
        absent: Sets and files that are not there, are not what they should be or are left out, each with why.
        unmade: Sets that cannot be made of others, each with the names of those that are absent; what trains on them
            is left out.
        not_run: What of the size is neither trained nor tested, and why.
        checkpoints: Folders of checkpoints that `prepare` makes up, by the name that trainings give them.
        narrowed: Whether sets or models were asked for by name; the page then lists no others.
        grid: Whether the other settings of the paper's search are trained, too.
    """

    folder: Path
    scale: Scale
    scale_name: ScaleName
    data: Path | None
    pretrained: str | None
    seed: int
    steps: Steps
    precision: str | None = None
    unasked_precision: str = USUAL_PRECISION
    sets: dict[str, Dataset] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    unmade: dict[str, tuple[str, ...]] = field(default_factory=dict)
    not_run: list[NotRun] = field(default_factory=list)
    checkpoints: dict[str, Path] = field(default_factory=dict)
    narrowed: bool = False
    grid: bool = False

    @property
    def used(self) -> dict[str, Dataset]:
        """The sets that the page lists: all, or where some were asked for these and what they are made of."""
        if not self.narrowed:
            return self.sets
        names = {name for each in self.scale.trainings for name in (each.train, *each.tests)}
        options = [own for each in self.scale.trainings for own in (each.options, *each.of.values())]
        names |= {str(own["dev"]) for own in options if own.get("dev") is not None}

        def digests(name: str) -> set[str]:
            return {file.sha256 for file in self.sets[name].provenance.files}

        parts = {digest for name in names & self.sets.keys() for digest in digests(name)}
        return {name: self.sets[name] for name in self.sets if name in names or not parts.isdisjoint(digests(name))}

    @property
    def missed(self) -> list[NotRun]:
        """What is not run, as far as tables say so: what is not asked for is not missed."""
        return [each for each in self.not_run if not self.narrowed or each.why != LEFT_OUT]

    @property
    def runs(self) -> Path:
        """Where runs are trained into."""
        return self.folder / RUNS

    @property
    def lacking(self) -> frozenset[str]:
        """Sets that are neither there nor made; nothing is trained or tested on them."""
        return frozenset(self.absent.keys() | self.unmade.keys())

    def roots(self, name: str) -> tuple[str, ...]:
        """The absent sets for want of which a set is lacking; none where it is there."""
        return (name,) if name in self.absent else self.unmade.get(name, ())

    def file(self, *names: str) -> Path | None:
        """A file or folder of the data folder: the first of these that is there, packed or not."""
        return None if self.data is None else find_published(self.data, names)


def check_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Refuse to go on with others than those that are known before sets are read; nothing is written.

    Raises:
        InputError: The folder was made with other settings; says which differ.
    """
    before = _noted(folder)
    if before is not None:
        _refuse_others(folder, before, settings)


def keep_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Note with which settings a study is made, or refuse to go on with others.

    Raises:
        InputError: The folder was made with other settings; says which differ.
        OutputError: The folder cannot be written to.
    """
    before = _noted(folder)
    if before is not None:
        _refuse_others(folder, before, {key: settings.get(key) for key in {**settings, **before}})
        return
    with written_whole(folder / SETTINGS_FILE) as aside:
        aside.write_text(json.dumps(settings, ensure_ascii=False, indent=2) + "\n", "utf-8")


def _is_begun(folder: Path) -> bool:
    """Whether anything is trained in a study's folder; until then, as when a price was asked for, it is nobody's."""
    return (folder / RUNS / JOBS).exists()


def noted_precisions(folder: Path) -> tuple[str | None, str] | None:
    """The two precisions of a `Workplace` that a study was begun with; None if it is begun now."""
    before = _noted(folder)
    return None if before is None else (before.get(PRECISION), before.get(UNASKED_PRECISION, USUAL_PRECISION))


def _noted(folder: Path) -> dict[str, Any] | None:
    place = folder / SETTINGS_FILE
    if not _is_begun(folder) or not place.exists():
        return None
    try:
        before = json.loads(place.read_text("utf-8"))
    except (ValueError, OSError):
        before = None
    if not isinstance(before, dict):
        raise InputError("is not what a study wrote", file=place, mend="choose another folder with -o")
    return before


def _refuse_others(folder: Path, before: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    wanted = json.loads(json.dumps(settings))
    differ = [key for key in wanted if before.get(key) != wanted[key]]
    if differ:
        shown = "; ".join(
            f"{key} was {_describe_setting(key, before)}, is {_describe_setting(key, wanted)}" for key in differ[:3]
        )
        more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
        raise InputError(
            f"the study there was made with other settings: {shown}{more}",
            file=folder,
            mend="give the same again, or choose another folder with -o",
        )


def _describe_setting(key: str, settings: Mapping[str, Any]) -> str:
    value = settings.get(key)
    if key.startswith(OF_SET):
        # Two digests that differ do so at their beginning.
        return "not there" if value is None else f"sha256 {', '.join(str(digest)[:12] for digest in value)}"
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
