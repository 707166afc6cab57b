"""`artifacts mine --memory`: a training set of any size, from files to files, in bounded memory."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import About, Input
from goldassay.core.errors import InputError, option
from goldassay.core.files import sha256_of, written_together
from goldassay.core.progress import Progress, Steps, silent
from goldassay.core.settings import ArtifactSettings, Settings
from goldassay.data.labelled_blocks import LabelledBlocks, Resolved
from goldassay.data.readers import reader_for
from goldassay.data.roles import own_roles
from goldassay.data.source import name_of
from goldassay.questions.artifacts.inputs import (
    ALL_TEXTS,
    AUTO,
    CLUSTERS,
    Bounds,
    how_to_cut,
    least_count,
    load,
    mined_roles,
    put_together,
    texts_for,
)
from goldassay.questions.artifacts.measures.mining import check_bounds
from goldassay.questions.artifacts.measures.spool import MemoryBound, Spool
from goldassay.questions.artifacts.measures.streaming import mine_spool, scratch_beside, write_in_parts
from goldassay.questions.artifacts.reports import (
    MAX_VALUES,
    STRONGEST,
    Shortlist,
    figures_of,
    report_of_finding,
    rows_of_value,
    shortlist,
    strongest,
    write_report,
)
from goldassay.questions.artifacts.search import Described, SearchedTexts, answer, describe_patterns
from goldassay.questions.artifacts.training import RowValues, Searched, Spooled, named_columns
from goldassay.questions.example_clusters import example_clusters
from goldassay.questions.inputs import describe_input
from goldassay.questions.provenance import doubts_of_dropped, left_out_doubts
from goldassay.report.report import flattened, write_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.data.tokenization import Tokenizer
    from goldassay.questions.artifacts.measures.clusters import Confirmation
    from goldassay.questions.artifacts.measures.pattern_table import PatternFile
    from goldassay.questions.artifacts.result import ValueRow
    from goldassay.report.report import Report

# Bytes that a finding takes while findings are folded and looked for in a test set.
_PER_FINDING = 2200
# And one that is only counted in the curve of coverage.
_PER_POINT = 700
# Bytes in memory for each byte of a test file.
_PER_BYTE = 6
_PER_COMPRESSED_BYTE = 30


@dataclass(frozen=True)
class StreamedArtifacts:
    """What was mined from files, and where it lies; the fields and figures are those of `MinedArtifacts`.

    Attributes:
        patterns: Of all rows.
        findings: As there.
        confirmation: As there.
        by_lift: Patterns with the largest lift of each label.
        condition: As there.
        by_value: Of each of its values: n_examples, n_patterns and the strongest findings.
        skipped: As there.
        name: What the rows are called.
        n_read: Rows read.
        dropped: Rows left out, counted by reason.
        test: What the findings were tried on, or None.
        paths: The files written.
        report: On them.
    """

    patterns: PatternFile
    findings: pl.DataFrame
    confirmation: Confirmation | None
    by_lift: list[dict[str, Any]]
    condition: str | None
    by_value: dict[str, dict[str, Any]]
    skipped: dict[str, str]
    name: str
    n_read: int
    dropped: Mapping[str, int]
    test: Dataset | None
    paths: list[Path]
    report: Report

    def to_dict(self) -> dict[str, Any]:
        """The figures, and the strongest findings."""
        return {
            **figures_of(self.patterns, self.findings, self.confirmation),
            "by_lift": self.by_lift,
            "condition": self.condition,
            "by_value": self.by_value,
            "skipped": self.skipped,
        }


def mine_files(
    files: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    bounds: Bounds,
    memory: int | str,
    *,
    file_format: str = "auto",
    columns: str | None = None,
    condition: str | None = None,
    test: str | os.PathLike[str] | None = None,
    steps: Steps | None = None,
    settings: Settings | None = None,
) -> StreamedArtifacts:
    """Mine files, taken as one training set, without ever holding it; the tables equal those of `mine`.

    Args:
        files: JSON lines, CSV, TSV or Parquet.
        out: Folder for the tables; what is put aside meanwhile lies there too, and is removed.
        bounds: How patterns are mined.
        memory: The most that the process may take: "2GB", or bytes.
        file_format: As for `read_dataset`.
        columns: Roles, as `--columns` takes them.
        condition: Mine the rows of each value of this column apart as well.
        test: An evaluation set, small enough to be held.
        steps: Where to say how far it is.
        settings: Hold what a finding is, the limits of the verdict, and the seed of the examples shown.

    Raises:
        InputError: The files cannot be read or mined, or the memory is too small, with the least that would do.
        OutputError: The folder cannot be written to, or the disk is full.
    """
    steps, settings = steps or Steps(), settings or Settings()
    check_bounds(bounds.max_tokens, bounds.max_gap, 1 if bounds.min_count is None else bounds.min_count, None)
    bound = MemoryBound(memory)
    if test is not None:
        _refuse_large(Path(test), bound)
    paths = [Path(file) for file in files]
    roles = own_roles(columns, "train") or None
    with written_together(out) as folder, scratch_beside(folder / "patterns") as scratch:
        with steps.step("reading the data") as progress:
            corpora = [_read(paths, file_format, roles, condition, bounds, scratch, progress)]
            # Nothing is judged without a test set: then the other texts are left alone.
            others = () if test is None or bounds.text is not None else corpora[0].resolved.text_columns[:-1]
            for role in others:
                own = replace(bounds, text=role)
                corpora.append(_read(paths, file_format, roles, condition, own, scratch, progress))
        values = [] if condition is None else _values(corpora[0], condition)
        found = [
            _search(corpus, scratch / f"text_{number}.parquet", bound, test, file_format, columns, settings, steps)
            for number, corpus in enumerate(corpora)
        ]
        held_out = found[0].held_out
        clusters = None if held_out is None else example_clusters(held_out.dataset, settings.data.clusters)
        together = None if clusters is None else clusters.codes_if_any
        searched = SearchedTexts.of([each.described for each in (*found[1:], found[0])], together, settings)
        corpus, patterns, described = next(
            (corpus, each.patterns, each.described)
            for corpus, each in zip(corpora, found, strict=True)
            if each.described is searched.texts[0]
        )
        patterns = replace(patterns, path=Path(shutil.move(patterns.path, folder / "patterns.parquet")))
        train = corpus.searched()
        with steps.step("writing the tables"):
            _write_csv((part.to_frame() for part in patterns.parts()), folder / "patterns.csv")
            write_tables({"findings": described.findings}, folder)
        names = ["patterns", "findings"]
        by_value: dict[str, dict[str, Any]] = {}
        skipped: dict[str, str] = {}
        rows_by_value: list[ValueRow] = []
        if condition is not None:
            with steps.step(f"mining by {condition}") as progress:
                tables = _mined_by_value(corpus, values, bound, scratch, skipped, progress)
            for value, table in tables.items():
                findings = _shortlist(table, settings.artifacts, bound).findings()
                by_value[value] = _summary(table, findings)
                rows_by_value += rows_of_value(value, table, findings)
            if tables:
                columns_there = described.findings.columns
                _write_by_value(tables, condition if condition not in columns_there else f"{condition}_value", folder)
                names.append("patterns_by_value")
        with steps.step("writing the report"):
            tried = None if held_out is None else held_out.dataset
            label_names = list(described.section.prior)
            doubts = [
                *doubts_of_dropped(
                    train.name, corpus.resolved.n_read, corpus.resolved.dropped, corpus.resolved.label_counts()
                ),
                *left_out_doubts(tried),
            ]
            about = About(name=train.name, label_names=tuple(label_names), text_columns=train.text_columns)
            report = report_of_finding(
                answer(searched, train.text_columns, clusters, settings.verdicts.artifacts, doubts),
                about,
                [corpus.about_input(), *([] if tried is None else [describe_input("test", tried)])],
                None if tried is None else tried.name,
                steps,
                settings,
                condition,
                rows_by_value,
            )
            write_report(report, names, folder)
    written = [Path(out) / f"{name}.{kind}" for name in names for kind in ("parquet", "csv")]
    return StreamedArtifacts(
        replace(patterns, path=written[0]),
        described.findings,
        described.confirmation,
        [each.to_dict() for each in described.section.by_lift],
        condition,
        by_value,
        skipped,
        " and ".join(path.name for path in paths) if len(paths) < 3 else f"{paths[0].name} and {len(paths) - 1} more",
        corpus.resolved.n_read,
        corpus.resolved.dropped,
        None if held_out is None else held_out.dataset,
        [*written, Path(out) / "report.html"],
        report,
    )


@dataclass(frozen=True)
class _Corpus:
    """A training set on disk, what its codes mean, how it is mined, and what settings say of how it was read."""

    spool: Spool
    bounds: Bounds
    resolved: Resolved
    blocks: LabelledBlocks
    about: dict[str, Any]
    paths: list[Path]
    file_format: str
    values: RowValues

    @property
    def name(self) -> str:
        """What the report calls it."""
        n_more = len(self.paths) - 1
        of_part = f"/{self.resolved.part}" if self.resolved.part else ""
        return name_of(self.paths[0]) + (f" and {n_more} more" if n_more else "") + of_part

    def searched(self) -> Spooled:
        """The rows as they are looked through for examples."""
        resolved = self.resolved
        return Spooled(self.spool, resolved.labels, resolved.label_names, self.name, resolved.text_columns, self.values)

    def about_input(self) -> Input:
        """What the report says of where it came from, as of a dataset in memory."""
        resolved = self.resolved
        return Input(
            role="train",
            name=self.name,
            sha256=tuple(sha256_of(path) for path in self.paths),
            files=tuple(path.name for path in self.paths),
            n_rows=int(resolved.n_rows[resolved.labels >= 0].sum()),
            n_read=resolved.n_read,
            format=reader_for(self.paths[0], self.file_format).name,
            roles=dict(resolved.roles),
            decisions=tuple(resolved.decisions),
            dropped=dict(resolved.dropped),
        )

    def mined(
        self, labels: NDArray[np.int32], out: Path, bound: MemoryBound, progress: Progress = silent
    ) -> PatternFile:
        """Mine the rows whose code has a label."""
        bounds = self.bounds
        n_rows = int(self.resolved.n_rows[labels >= 0].sum())
        min_count = least_count(n_rows) if bounds.min_count is None else bounds.min_count
        sizes = (bounds.max_tokens, bounds.max_gap, min_count)
        roles = mined_roles(self.resolved.text_columns, bounds.text)
        together = self.values.dependent(labels, roles, bounds.clusters, bound, self.spool)
        about = self.about | {CLUSTERS: together.taken}
        return mine_spool(
            self.spool, out, labels, self.resolved.label_names, sizes, bound, about, progress=progress,
            clusters=together.ways,
        )  # fmt: skip


def _read(
    paths: list[Path],
    file_format: str,
    roles: Mapping[str, str] | None,
    condition: str | None,
    bounds: Bounds,
    scratch: Path,
    progress: Progress,
) -> _Corpus:
    """Put the tokens of the files on disk; once more if the script turns out to be another than it began with."""
    unit: str | None = None
    while True:
        blocks = LabelledBlocks(paths, file_format, roles, condition, keep=named_columns(bounds.clusters) or ())
        values = RowValues()
        folder = Path(tempfile.mkdtemp(dir=scratch))
        spool: Spool | None = None
        for texts, ids, codes, done, groups in blocks:
            if spool is None:
                unit = unit or blocks.length_unit()
                tokenizer, cut_with, about = how_to_cut(bounds, unit)
                spool = Spool(folder, tokenizer)
            spool.add(_chosen(texts, bounds.text, cut_with, paths[0]), codes, ids.to_list())
            values.add(texts, groups, codes)
            progress(int(1000 * done), 1000)
        assert spool is not None
        assert unit is not None
        spool.close_shard()
        resolved = blocks.resolve()
        _require_classes(resolved.labels, resolved, paths[0])
        if bounds.tokenizer != AUTO or resolved.length_unit == unit:
            about = {"text": bounds.text or resolved.text_columns[-1]} | about
            return _Corpus(spool, bounds, resolved, blocks, about, paths, file_format, values)
        unit = resolved.length_unit
        shutil.rmtree(folder)


def _chosen(texts: pl.DataFrame, text: str | None, cut_with: Tokenizer | None, path: Path) -> list[str]:
    if text == ALL_TEXTS:
        return put_together([texts[role].to_list() for role in texts.columns], cut_with)
    role = text or texts.columns[-1]
    if role not in texts.columns:
        raise InputError(f"there is no {role}", file=path, mend=f"it has {' and '.join(texts.columns)}")
    return texts[role].to_list()


def _require_classes(labels: NDArray[np.int32], resolved: Resolved, path: Path) -> None:
    present = np.unique(labels[labels >= 0])
    if present.size < 2:
        raise InputError(
            f"there is only the label {resolved.label_names[present[0]]!r}",
            file=path,
            mend="give a file with at least 2 classes, or choose another column as the label",
        )


def _values(corpus: _Corpus, condition: str) -> list[str]:
    resolved = corpus.resolved
    kept = resolved.labels >= 0
    values = sorted({value for value, here in zip(resolved.values, kept, strict=True) if here})
    if len(values) > MAX_VALUES:
        raise InputError(
            f"it has {len(values):,} values, more than the {MAX_VALUES} that are mined separately",
            column=condition,
            mend="choose a column of few values, such as the genre",
        )
    return values


def _mined_by_value(
    corpus: _Corpus,
    values: list[str],
    bound: MemoryBound,
    scratch: Path,
    skipped: dict[str, str],
    progress: Progress,
) -> dict[str, PatternFile]:
    resolved = corpus.resolved
    tables: dict[str, PatternFile] = {}
    for number, value in enumerate(values):
        own = np.array([each == value for each in resolved.values])
        labels = np.where(own, resolved.labels, -1).astype(np.int32)
        codes = np.flatnonzero(labels >= 0)
        if np.unique(labels[codes]).size < 2:
            skipped[value] = f"all its {int(resolved.n_rows[codes].sum()):,} rows have one label"
            continue
        unit = corpus.blocks.length_unit(codes.tolist())
        if corpus.bounds.tokenizer == AUTO and unit != resolved.length_unit:
            raise InputError(
                f"the rows with {value!r} are in another kind of script than the rest",
                mend=f"name one tokenizer for all with {option('tokenizer')}, or leave out {option('memory')}",
            )
        with warnings.catch_warnings():
            # A rare value has no frequent pattern: its empty table says so.
            warnings.simplefilter("ignore", UserWarning)
            tables[value] = corpus.mined(labels, scratch / f"{number}.parquet", bound)
        progress(number + 1, len(values))
    return tables


@dataclass(frozen=True)
class _Searched:
    """Patterns of one text, what was measured of them, and what they were tried on."""

    patterns: PatternFile
    described: Described
    held_out: Searched | None


def _search(
    corpus: _Corpus,
    out: Path,
    bound: MemoryBound,
    test: str | os.PathLike[str] | None,
    file_format: str,
    columns: str | None,
    settings: Settings,
    steps: Steps,
) -> _Searched:
    """Mine one text, and try what is found on the test set if there is one."""
    with steps.step("mining patterns") as progress:
        patterns = corpus.mined(corpus.resolved.labels, out, bound, progress)
    with steps.step("judging patterns"):
        short = _shortlist(patterns, settings.artifacts, bound)
        held_out = None if test is None else _held_out(short, test, file_format, columns)
        clusters = None if held_out is None else example_clusters(held_out.dataset, settings.data.clusters)
        codes = None if clusters is None else clusters.codes_if_any
        return _Searched(
            patterns, describe_patterns(short, corpus.searched(), held_out, settings.seed, codes), held_out
        )


def _shortlist(patterns: PatternFile, keeping: ArtifactSettings, bound: MemoryBound) -> Shortlist:
    """What the report needs of a file of patterns; the findings are held, so they must fit."""

    def hold(n: int) -> None:
        bound.need(_PER_FINDING * n, f"to hold the {n:,} findings so far", f", or raise {option('min-count')}")

    def fits(n: int) -> bool:
        return bound.room() >= _PER_POINT * n

    return shortlist(patterns.parts, keeping.q, keeping.threshold, hold=hold, fits=fits)


def _summary(patterns: PatternFile, findings: pl.DataFrame) -> dict[str, Any]:
    return {
        "n_examples": patterns.settings["n_sentences"],
        "n_patterns": len(patterns),
        "strongest": strongest(findings, patterns, STRONGEST).to_dicts(),
    }


def _held_out(short: Shortlist, path: str | os.PathLike[str], file_format: str, columns: str | None) -> Searched:
    test = load(path, file_format=file_format, columns=columns, part="test")
    missing = [name for name in test.label_names if name not in short.label_names]
    if missing:
        raise InputError(
            f"the test set has labels that the training set lacks ({', '.join(missing)}; the training set has "
            f"{', '.join(short.label_names)})",
            file=test.source,
            mend=f"give a test file of the same task; {test.other_label()}",
        )
    return Searched(test, texts_for(test, short.selected), short.selected)


def _refuse_large(test: Path, bound: MemoryBound) -> None:
    if test.is_file():
        compressed = test.suffix in (".gz", ".zst", ".zstd", ".parquet")
        size = test.stat().st_size * (_PER_COMPRESSED_BYTE if compressed else _PER_BYTE)
        bound.need(size, "to hold the test set", ", or test on a sample of it")


def _write_by_value(tables: Mapping[str, PatternFile], column: str, folder: Path) -> None:
    def rows() -> Iterator[pl.DataFrame]:
        for value, table in tables.items():
            for part in table.parts():
                yield part.to_frame().select(pl.lit(value).alias(column), pl.all())

    write_in_parts(rows(), folder / "patterns_by_value.parquet", {})
    _write_csv(rows(), folder / "patterns_by_value.csv")


def _write_csv(parts: Iterator[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        for number, part in enumerate(parts):
            file.write(flattened(part).write_csv(include_header=number == 0).encode())
