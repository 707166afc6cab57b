"""`artifacts gap`: accuracy of any runs on easy and hard examples, by our subsets or as others published them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.files import written_together
from goldassay.core.progress import Progress, silent
from goldassay.data.dataset import Dataset
from goldassay.data.fields import with_keys
from goldassay.data.reading import read_dataset
from goldassay.data.roles import TEXT_ROLES
from goldassay.questions.example_clusters import AUTO, NONE, clusters_of, named_columns
from goldassay.questions.inputs import read_texts
from goldassay.report.report import write_tables
from goldassay.runs.answers import read_answers
from goldassay.runs.grades import parse_grades
from goldassay.runs.loading import rule_of
from goldassay.runs.missing import describe_scores
from goldassay.runs.reading import find_slices, join_duplicates, list_slices, runs_of
from goldassay.runs.run_parts import Request, Slice
from goldassay.runs.runs import Runs, renamed
from goldassay.runs.tables import read_table
from goldassay.stats.subsets import SubsetAccuracies, accuracy_by_subset

if TYPE_CHECKING:
    from goldassay.runs.assembly import Align
    from goldassay.runs.statuses import Missing

ID = "example_id"
SHOWN = ("full", "easy", "hard")


@dataclass(frozen=True)
class GapTable:
    """Accuracies on full, easy, hard, and the gap, a row a model and condition.

    Attributes:
        table: model, condition, train_set, dataset, n_runs; full, easy, hard, each with _low and _high, and gap with
            its own (95 %, over examples and runs); reason where a figure is not defined.
        results: The accuracies on every class, in the order of the rows.
        notes: What was found on the way and changes what was counted, in sentences.
    """

    table: pl.DataFrame
    results: tuple[SubsetAccuracies, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The rows, and how the intervals were made."""
        first = self.results[0]
        return {
            "rows": self.table.to_dicts(),
            "n_examples": {row.subset: row.n for row in first.subsets},
            "interval_method": first.interval_method,
            "level": first.level,
            "seed": first.seed,
            "n_draws": first.n_draws,
            "notes": list(self.notes),
        }

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the table as Parquet and CSV.

        Raises:
            OutputError: The folder cannot be written to.
        """
        with written_together(directory) as folder:
            write_tables({"gap": self.table}, folder)
        return [Path(directory) / f"gap.{kind}" for kind in ("parquet", "csv")]


def measure_gaps(
    subsets: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    runs: Sequence[str | os.PathLike[str]],
    *,
    test: str | os.PathLike[str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    models: Sequence[str] = (),
    condition: str | None = None,
    dataset: str | None = None,
    names: str | None = None,
    class_column: str = "class",
    clusters: str = AUTO,
    labels: Mapping[str, str] | None = None,
    align: Align = "exact",
    missing: Missing = "auto",
    grades: str | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> GapTable:
    """Measure the gap of each model, condition and training set that the runs hold.

    A run that is in two files, as correctness in one and as predictions in the other, is counted once.

    Args:
        subsets: A table with example_id and the class of each, as `artifacts assign` writes it; its labels, if it has
            any, score runs that have predictions only. Or the name of each class and the file of its rows, as subsets
            are published, to be found in `test` by their texts.
        runs: Files and folders of predictions.
        test: The test set with its ids: subsets that are lists of rows are found in it; with a table of classes it has
            the right labels of runs without their own, or the answers that predicted answers are scored by (SQuAD).
        columns: Of the test set, which plays which role.
        models: Only these; a name with * takes all that match as runs of one. Without it each model has a row.
        condition: Only this one.
        dataset: Only this one.
        names: What the names of runs say, as a regular expression with groups; see `goldassay.runs.runs.renamed`.
        class_column: The column of classes.
        clusters: Which examples count together, see `example_clusters`; by their texts in the table of classes or in
            `test`. Where there are none, each counts by itself.
        labels: {name in the files: label}, for predictions that are named otherwise than the right labels.
        align: As for `read_runs`: "intersect" keeps the examples that all runs of a row cover.
        missing: As for `read_runs`, and so are the rows of the classes that no run answers.
        grades: The scale that scores are on, "LOW:HIGH"; they are taken as shares of it.
        seed: Of the bootstrap.
        progress: Told after each row.

    Raises:
        InputError: A file cannot be read, has no such columns, the ids of subsets and runs do not fit, or two files
            contradict each other about a run.
    """
    table, classes, source = _classes(subsets, class_column, test, columns)
    found = find_slices(runs, "auto", Request(grades=parse_grades(grades)))
    if names is not None:
        found = renamed(found, names)
    found, notes = _each_once([part for part in found if dataset in (None, part.collection.dataset)])
    asked = [row for row in _collections(found, models) if condition in (None, row["condition"])] if found else []
    if not asked:
        raise InputError(
            f"there are no runs of condition {condition or 'any'} on dataset {dataset or 'any'}",
            mend="see what is there with: goldassay runs list PATH",
        )
    answers = test if isinstance(subsets, (str, os.PathLike)) and test and read_answers(Path(test)) else None
    gold = source if answers is None and (test is not None or "label" in table.columns) else None
    together = _clusters(_examples(subsets, table, test, columns), clusters)
    rows, results, elsewhere = [], [], {}
    for done, which in enumerate(asked, start=1):
        last = "last" if which.pop("several") else None
        of_one = runs_of(
            found, which, gold=answers, fallback_gold=gold, checkpoint=last, labels=labels, align=align, missing=missing
        )
        if dataset is None and classes.keys().isdisjoint(of_one.example_ids.tolist()):
            elsewhere[of_one.dataset] = of_one
            continue
        common, said = _common(classes, of_one, rule_of(missing, align))
        notes += (*said, *describe_scores(of_one))
        result = difficulty_gap(of_one, common, clusters=together, seed=seed)
        rows.append(_row(of_one.model, of_one.condition, of_one.train_set, of_one.dataset, result))
        results.append(result)
        progress(done, len(asked))
    if not rows:
        # Raises, with ids of both sides.
        difficulty_gap(next(iter(elsewhere.values())), classes)
    if elsewhere:
        notes = (*notes, f"Runs on {', '.join(elsewhere)} are left out: they answer no example of the subsets.")
    return GapTable(pl.DataFrame(rows), tuple(results), notes)


def _common(classes: dict[str, str], runs: Runs, missing: Missing) -> tuple[dict[str, str], tuple[str, ...]]:
    """The classes of the examples that the runs answer, where the others are to be left out, and a note of these."""
    if missing != "leave-out":
        return classes, ()
    answered = set(runs.example_ids.tolist())
    common = {example: name for example, name in classes.items() if example in answered}
    n = len(classes) - len(common)
    said = f"{runs.model}: {n:,} of {len(classes):,} examples of the subsets are left out, which not all runs answer."
    return common, (said,) if n else ()


def _examples(
    subsets: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    table: pl.DataFrame,
    test: str | os.PathLike[str] | None,
    columns: str | Mapping[str, str] | None,
) -> pl.DataFrame | Dataset:
    """Where texts may be: the test set, or the table of classes where that is not given or holds labels alone."""
    if test is None:
        return table
    if isinstance(subsets, Mapping) or columns is not None:
        return read_dataset(test, columns=columns)
    texts = read_texts(os.fspath(test))
    return table if texts is None else texts


def _clusters(examples: pl.DataFrame | Dataset, by: str) -> dict[str, int] | None:
    """Example id to the number of its cluster; None where each counts by itself or no texts are at hand."""
    if isinstance(examples, pl.DataFrame):
        if by == NONE or not set(TEXT_ROLES) & set(examples.columns):
            return None
        examples = with_keys(examples, named_columns(by))
        known = {ID, *TEXT_ROLES, *named_columns(by)}
        examples = Dataset.from_frame(examples.select(name for name in examples.columns if name in known))
    codes = clusters_of(examples, by=by)
    return None if codes is None else dict(zip(examples.examples[ID].to_list(), codes.tolist(), strict=True))


def _classes(
    subsets: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    class_column: str,
    test: str | os.PathLike[str] | None,
    columns: str | Mapping[str, str] | None,
) -> tuple[pl.DataFrame, dict[str, str], Path]:
    """The table of classes, the class of each example, and the file that holds the right labels."""
    if not isinstance(subsets, Mapping):
        table, classes = _read_classes(Path(subsets), class_column)
        return table, classes, Path(subsets if test is None else test)
    if test is None:
        raise InputError(
            "rows without ids are found by their texts, but there is no test set to find them in",
            mend=f"give it with {option('test', 'FILE')}",
        )
    table = classes_by_text(subsets, test, columns=columns)
    return table, dict(table.select(ID, "class").iter_rows()), Path(test)


def _each_once(found: Sequence[Slice]) -> tuple[list[Slice], tuple[str, ...]]:
    joined = join_duplicates(found)
    return joined.slices, tuple(
        f"{n} {'run is' if n == 1 else 'runs are'} both in {one} and in {other}, which agree on every example: "
        "each is counted once"
        for (one, other), n in joined.pairs.items()
    )


def _read_classes(path: Path, class_column: str) -> tuple[pl.DataFrame, dict[str, str]]:
    if not path.is_file():
        raise InputError("there is no such file", file=path, mend="make one with artifacts assign")
    table = read_table(path)
    if table is None:
        raise InputError("this is no table", file=path, mend="give Parquet, CSV, TSV or JSON lines")
    for name in (ID, class_column):
        if name not in table.columns:
            raise InputError(
                f"there is no column {name!r} (columns: {', '.join(table.columns[:20])})",
                file=path,
                mend=f"make the file with artifacts assign, or name the column of classes with {option('class')}",
            )
    listed = table.select(pl.col(ID, class_column).cast(pl.String)).drop_nulls()
    if listed[ID].n_unique() < listed.height:
        twice = listed.filter(listed[ID].is_duplicated())[ID][0]
        raise InputError(f"example {twice!r} is there twice", file=path, column=ID, mend="give each example once")
    return table, dict(listed.iter_rows())


def _collections(found: Sequence[Slice], models: Sequence[str]) -> list[dict[str, Any]]:
    """What to read, a row each: as it is there, or as the names with * ask for it."""
    keys = ("dataset", "condition", "split", "train_set")
    rows = list_slices(found).select("model", *keys, several=pl.col("n_checkpoints") > 1)
    if not models:
        return rows.to_dicts()
    chosen = []
    for name in models:
        pattern = "^" + "".join(".*" if c == "*" else "." if c == "?" else _escaped(c) for c in name) + "$"
        matching = rows.filter(pl.col("model").str.contains(pattern))
        if not matching.height:
            raise InputError(
                f"there are no runs of a model {name!r}",
                mend=f"there are {', '.join(rows['model'].unique().sort()[:8])}",
            )
        grouped = matching.group_by(keys, maintain_order=True).agg(pl.col("several").any())
        chosen += [{"model": name, **row} for row in grouped.to_dicts()]
    return chosen


def _escaped(character: str) -> str:
    return character if character.isalnum() or character == "_" else f"\\{character}"


def _row(model: str, condition: str, train_set: str, dataset: str, result: SubsetAccuracies) -> dict[str, Any]:
    row: dict[str, Any] = {
        "model": model,
        "condition": condition,
        "train_set": train_set,
        "dataset": dataset,
        "n_runs": result.n_runs,
    }
    for name in SHOWN:
        part = result[name]
        row |= {name: part.accuracy, f"{name}_low": part.low, f"{name}_high": part.high}
    return row | {
        "gap": result.delta,
        "gap_low": result.delta_low,
        "gap_high": result.delta_high,
        "reason": result.reason,
    }


_KEY = "_key"
# Two files may be tokenized differently, which moves spaces and turns quotation marks; nothing else.
_SPACE = r"\s+"
_QUOTES = r"``|''|[“”„]"


def classes_by_text(
    files: Mapping[str, str | os.PathLike[str] | Dataset],
    test: str | os.PathLike[str] | Dataset,
    *,
    columns: str | Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Find the rows of published subsets in the test set that they were taken from, by label and texts.

    Texts are compared without spaces and with all double quotation marks alike, so that a tokenized row is found in the
    raw file. A row that the test set holds several times stands for each of them.

    Args:
        files: Name of a class ("easy", "hard") to the file of its rows, or to them as a dataset.
        test: The test set, with the ids that runs have too.
        columns: Of the test set, which plays which role.

    Returns:
        example_id, label and class, in the order of the test set.

    Raises:
        InputError: A file cannot be read, a row of it is not in the test set, or is in two classes.
    """
    whole = test if isinstance(test, Dataset) else read_dataset(test, columns=columns)
    keyed = _keyed(whole, whole.text_columns).select("example_id", "label", _KEY)
    parts = []
    for name, given in files.items():
        subset = given if isinstance(given, Dataset) else read_dataset(given)
        path = subset.source if isinstance(given, Dataset) else given
        lacking = [role for role in subset.text_columns if role not in whole.text_columns]
        if lacking or len(subset.text_columns) < len(whole.text_columns):
            raise InputError(
                f"its texts are {', '.join(subset.text_columns)}, those of {whole.source} "
                f"{', '.join(whole.text_columns)}",
                file=path,
                mend="give rows with the same texts as the test set",
            )
        rows = _keyed(subset, whole.text_columns)
        lost = rows.filter(~pl.col(_KEY).is_in(keyed[_KEY].implode()))
        if lost.height:
            first = lost.row(0, named=True)[whole.text_columns[-1]]
            raise InputError(
                f"{lost.height} of {rows.height} rows are not in {whole.source} with the same label, first {first!r}",
                file=path,
                mend="give the test set that they were taken from",
            )
        parts.append(keyed.filter(pl.col(_KEY).is_in(rows[_KEY].implode())).with_columns(pl.lit(name).alias("class")))
    classes = pl.concat(parts)
    twice = classes.filter(classes["example_id"].is_duplicated())
    if twice.height:
        of_one = classes.filter(pl.col("example_id") == twice["example_id"][0])["class"].to_list()
        raise InputError(
            f"{twice['example_id'].n_unique()} rows are in several classes, first example {twice['example_id'][0]!r} "
            f"in {' and '.join(of_one)}",
            mend="give subsets that share no row",
        )
    order = keyed.select("example_id")
    return order.join(classes.drop(_KEY), on="example_id", how="inner", maintain_order="left")


def _keyed(dataset: Dataset, roles: tuple[str, ...]) -> pl.DataFrame:
    """The examples with what they are recognized by."""
    texts = [pl.col(role).str.replace_all(_QUOTES, '"').str.replace_all(_SPACE, "").fill_null("") for role in roles]
    label = pl.col("label").fill_null("")
    return dataset.examples.with_columns(pl.concat_str([label, *texts], separator="\n").alias(_KEY))


def difficulty_gap(
    runs: Runs,
    classes: Mapping[str, str],
    *,
    clusters: Mapping[str, int] | None = None,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> SubsetAccuracies:
    """Accuracy of runs on all examples, on easy, on hard and on any other class, and delta = easy - hard.

    Examples of the runs that have no class count among all of them only: published subsets often list just the easy
    and the hard.

    Args:
        runs: Of one model; of several checkpoints the last is taken.
        classes: Example id to class, "easy" and "hard" among them.
        clusters: Example id to the number of its cluster; examples without one count by themselves.
        seed: Of the bootstrap over examples and runs.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Returns:
        As `accuracy_by_subset` gives it; the first subset is "full". An empty subset has no accuracy, and says why.

    Raises:
        InputError: An example with a class is not among the runs' examples, or no class is easy or hard.

    Source: Liu et al. 2020.
    """
    final = runs.final()
    ids = final.example_ids.tolist()
    strange = classes.keys() - set(ids)
    if strange:
        raise InputError(
            f"{len(strange)} of {len(classes)} examples of the subsets are not among those of the runs of "
            f"{runs.model}: first {min(strange)!r}; theirs are like {ids[0]!r}",
            mend="give subsets and runs of the same test set, with the same ids",
        )
    if not {"easy", "hard"} & set(classes.values()):
        found = ", ".join(sorted(set(classes.values()))[:5])
        raise InputError(f"no example is easy or hard; the classes are {found}", mend="name the column of classes")
    of_example = np.array([classes.get(each, "") for each in ids])
    others = sorted(set(classes.values()) - {"easy", "hard"})
    masks = {"full": np.ones(len(ids), np.bool_)}
    masks |= {name: of_example == name for name in ("easy", "hard", *others)}
    together = None if clusters is None else [clusters.get(each, -1 - at) for at, each in enumerate(ids)]
    return accuracy_by_subset(final.scores, masks, clusters=together, seed=seed, n_draws=n_draws, level=level)
