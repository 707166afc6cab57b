"""Rows of the user's data: those to look at first, those behind a verdict, what is wrong with them, and their details.

The details are tables of an audit for who looks through its rows, bounded in size: copies of each row, what each reader
says of it, words that give a label away, and examples of the patterns in it.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import Issue
from goldassay.core.errors import one_line
from goldassay.core.results import severity
from goldassay.core.sections import Column, Finding, RowToRead, Table
from goldassay.questions.checks import question_pages
from goldassay.questions.overlap.measures import COUNTED, TRAINING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment
    from goldassay.questions.artifacts.result import MarkedExample
    from goldassay.stats.effects import ReaderPredictions


KEYS = ("dataset", "example_id")


def beside_data(found: pl.DataFrame, datasets: Mapping[str, Dataset]) -> pl.DataFrame:
    """Join what was measured to the rows of the datasets, in the order of the former.

    Args:
        found: A row an example: `dataset`, `example_id` and what was measured of it.
        datasets: {name: dataset}, as far as they are at hand; of others there is what was measured alone.

    Returns:
        `dataset`, `example_id`, what was measured, then every column of the data. Where both have a column, it is that
        of the data.
    """
    tables = [
        dataset.examples.with_columns(pl.col("example_id").cast(pl.String), pl.lit(name).alias("dataset"))
        for name, dataset in datasets.items()
        if name in set(found["dataset"].to_list())
    ]
    if not tables:
        return found
    data = pl.concat(tables, how="diagonal_relaxed").unique(KEYS, keep="first", maintain_order=True)
    measured = found.select(*KEYS, pl.exclude(*data.columns))
    return measured.join(data, on=KEYS, how="left", maintain_order="left")


def first_to_read(
    rows: pl.DataFrame, datasets: Mapping[str, Dataset], why: Callable[[dict[str, Any]], str], most: int
) -> tuple[RowToRead, ...]:
    """The first examples of a table of `beside_data` whose texts are at hand, each with why it is worth reading.

    Args:
        rows: The most telling ones first; an example that stands there several times counts once.
        datasets: {name: dataset}.
        why: A sentence on a row.
        most: How many at most.
    """
    known = rows.filter(pl.col("dataset").is_in(list(datasets))).unique(KEYS, keep="first", maintain_order=True)
    return tuple(
        RowToRead(
            row["example_id"],
            "\n".join(str(row[column] or "") for column in datasets[row["dataset"]].text_columns),
            str(row["label"]),
            why(row),
        )
        for row in known.head(most).iter_rows(named=True)
    )


# As many as are read before anything else, and of these with one and the same reason.
MOST_ROWS = 10
_MOST_ALIKE = 3


def rows_to_read(dataset: Dataset, reasons: Iterable[tuple[int, str, str]]) -> tuple[RowToRead, ...]:
    """The examples at some positions of a dataset, each with why it is worth reading.

    Args:
        dataset: Texts and labels.
        reasons: Position, role of the text that is meant, and a sentence.
    """
    columns = dataset.text_columns
    return tuple(
        RowToRead(
            str(row["example_id"]),
            "\n".join(str(row[column] or "") for column in columns),
            str(row["label"]),
            why,
            str(row.get(role) or ""),
        )
        for position, role, why in reasons
        for row in [dataset.examples.row(position, named=True)]
    )


def first_rows(findings: Sequence[Finding]) -> tuple[RowToRead, ...]:
    """Ten rows of all questions: in turn one of each, the most severe verdict first; of what is sound none.

    An example that several questions name takes one place, with all their reasons.
    """
    judged = [
        (finding.verdict.verdict, finding.first_rows)
        for finding in findings
        if finding.verdict is not None and finding.verdict.verdict != "sound"
    ]
    ordered = [rows for _, rows in sorted(judged, key=lambda each: -severity(each[0]))]
    named = (row for row in chain.from_iterable(zip_longest(*ordered)) if row is not None)
    return in_one_place(named)[:MOST_ROWS]


def in_one_place(named: Iterable[RowToRead]) -> tuple[RowToRead, ...]:
    """Each example once, at its first place, with every reason that names it."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    rows: dict[tuple[str, str], RowToRead] = {}
    for row in named:
        rows.setdefault((row.example_id, row.text), row)
        reasons.setdefault((row.example_id, row.text), {})[row.why] = None
    return tuple(RowToRead(row.example_id, row.text, row.label, " ".join(reasons[key])) for key, row in rows.items())


def table_of_rows(rows: Sequence[RowToRead]) -> Table:
    """The rows as the page shows them: of those with the same reason the first three."""
    columns = (Column("text", "example", "prose"), Column("label", "label", "data"), Column("why", "why"))
    alike = Counter[str]()
    kept = []
    for row in rows:
        alike[row.why] += 1
        if alike[row.why] <= _MOST_ALIKE:
            kept.append(row)
    shown = tuple({"example_id": row.example_id, "text": row.text, "label": row.label, "why": row.why} for row in kept)
    return Table("first_rows", "Rows to look at first", columns, shown, file="examples")


def examples_read(examples: pl.DataFrame) -> list[tuple[int, float, str]]:
    """(position, bits, part) of the rows that every reader of a part gets right, most bits first, each row once."""
    found = [
        (bits, position, part.replace("_only", ""))
        for part in (name.removeprefix("pvi_") for name in examples.columns if name.startswith("pvi_"))
        # Of the right label's probability alone nobody knows what was named.
        if part.endswith("_only") and f"right_{part}" in examples.columns
        for position, (bits, right) in enumerate(examples.select(f"pvi_{part}", f"right_{part}").iter_rows())
        if bits is not None and bits > 0 and right == 1
    ]
    best: dict[int, tuple[float, str]] = {}
    for bits, position, part in sorted(found, key=lambda each: (-each[0], each[1])):
        best.setdefault(position, (bits, part))
    return [(position, bits, part) for position, (bits, part) in best.items()]


EXAMPLES = "examples"
_LONGEST = 90


def issues_of(findings: Sequence[Finding]) -> tuple[Issue, ...]:
    """What each question found to be wrong; of a verdict that names a flaw at least one issue."""
    issues: list[Issue] = []
    for finding in findings:
        own = [*finding.issues, *_of_page(finding)]
        if not own and is_flaw(finding):
            assert finding.verdict is not None
            headline = finding.verdict.headline
            own = [issue(finding, finding.question if headline is None else headline.label, None, "")]
        issues += own
    return tuple(issues)


def issues_of_copies(copies: pl.DataFrame) -> tuple[Issue, ...]:
    """That rows of the evaluation part are copies of each other.

    Args:
        copies: As `row_details.copies_within` gives them.
    """
    own = copies.filter(pl.col("part") == EVALUATION)
    if not own.height:
        return ()
    first = own.row(0, named=True)
    worst = f"{first['example_id']} and {first['copy_id']}: {first['kind']}"
    n, mend = own["example_id"].n_unique(), "Keep one of each, or count the copies as one cluster."
    return (Issue("overlap", "near copies", n, "rows", worst, mend, table="near_copies"),)


def ranked(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """The gravest verdict first, then the most rows; what no verdict judges stands above what is sound."""
    order = {"": severity("unresolved"), "unsound": severity("unsound"), "caution": severity("caution")}
    return tuple(sorted(issues, key=lambda each: (-order.get(each.verdict, 0), -(each.n_rows or 0))))


def is_flaw(finding: Finding) -> bool:
    """Whether the verdict names a flaw."""
    return finding.verdict is not None and severity(finding.verdict.verdict) >= severity("caution")


def _of_page(finding: Finding) -> Iterable[Issue]:
    page = question_pages().get(finding.question)
    return () if page is None or finding.result is None else page.issues(finding.result, finding)


def issue(
    finding: Finding, kind: str, n: int | None, worst: str, mend: str = "", of: str = "rows", **where: str
) -> Issue:
    """An issue of a question: with its verdict, and its next step where no other mend is given."""
    verdict = finding.verdict
    word, step = ("", "") if verdict is None else (verdict.verdict, verdict.next_step)
    return Issue(finding.question, kind, n, of, _short(worst), mend or step, word, **where)


def _short(text: str, most: int = _LONGEST) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: max(most, 20) - 1].rstrip()}…"


def row_saying(finding: Finding, words: str) -> str:
    """The first row to read whose reason has these words: the text that is meant, or what is asked; and its label."""
    row = next((each for each in finding.first_rows if words in each.why), None)
    if row is None:
        return ""
    end = f" → {row.label}"
    said = one_line(row.meant or (row.text.splitlines() or [row.example_id])[-1])
    return f"{_short(said, _LONGEST - len(end))}{end}"


def issue_of_rows(finding: Finding, kind: str) -> tuple[Issue, ...]:
    """The rows behind a verdict that names a flaw."""
    if not is_flaw(finding) or finding.rows is None:
        return ()
    n = finding.rows.select("dataset", "example_id").n_unique()
    return (issue(finding, kind, n, row_saying(finding, "")),)


# Copies of a row that are named: of a template there are thousands.
MOST_COPIES = 3
SAME, NEAR, HELD = "same texts", "near copy", "holds it"
MOST_CHARACTERS = 500
EVALUATION = "evaluation part"
COPY_SCHEMA = pl.Schema(
    {"example_id": pl.String(), "part": pl.String(), "kind": pl.String(), "copy_id": pl.String(), "label": pl.String(),
     "text": pl.String()}
)  # fmt: skip
RIGHT, WRONG, SHARED = "right", "wrong", "partly right"
# Characters of each role that are read: words that give much away are frequent, and a draw of the rows has them.
MOST_READ = 10_000_000
# Patterns that a page may ask for, the most frequent among the test rows first, and examples of each.
MOST_PATTERNS, MOST_EXAMPLES = 1000, 3
# Characters of a text around what is marked: reviews have thousands.
WIDTH = 300
EXAMPLE_SCHEMA = pl.Schema(
    {"pattern": pl.String(), "example_id": pl.String(), "label": pl.String(), "text": pl.String(),
     "marks": pl.List(pl.Int64())}
)  # fmt: skip


def copies_within(texts: Sequence[pl.Series], ids: pl.Series, labels: pl.Series) -> pl.DataFrame:
    """A row a row and copy of it among the same rows, the same texts first; `text` is null, since the row has it.

    Copies are rows of which each text is the same without case and with single spaces, or has the same representative
    among near copies (`join_near_copies`): two pairs with one long premise are none. A row names the `MOST_COPIES` next
    after it, and after the last the first ones.

    Args:
        texts: Of the rows, (N,) each.
        ids: Of the rows, (N,).
        labels: Of the rows, (N,).
    """
    codes = [_codes(each.fill_null("")) for each in texts]
    distinct, near = (_joint([each[kind] for each in codes]) for kind in (0, 1))
    pairs = np.concatenate([_followers(distinct), _followers(near)])
    if not pairs.size:
        return pl.DataFrame(schema=COPY_SCHEMA)
    rows, others = np.unique(pairs, axis=0).T
    same = distinct[rows] == distinct[others]
    order = np.lexsort(((others - rows) % distinct.size, ~same, rows))
    rows, others, same = rows[order], others[order], same[order]
    kept = np.arange(rows.size) - np.searchsorted(rows, rows) < MOST_COPIES
    rows, others, same = rows[kept], others[kept], same[kept]
    names = ids.cast(pl.String)
    return pl.DataFrame(
        {
            "example_id": names[rows],
            "part": pl.Series([EVALUATION], dtype=pl.String).new_from_index(0, rows.size),
            "kind": pl.Series(np.where(same, SAME, NEAR).tolist(), dtype=pl.String),
            "copy_id": names[others],
            "label": labels.cast(pl.String)[others],
            "text": pl.Series([None] * rows.size, dtype=pl.String),
        },
        schema=COPY_SCHEMA,
    )


def copies_in_training(
    places: pl.DataFrame | None, texts: Sequence[pl.Series], ids: pl.Series, labels: pl.Series
) -> pl.DataFrame:
    """A row a test row and training row that holds it, as the search for overlap found them, with its texts.

    Args:
        places: The table `overlap_places`; None where overlap was not asked. Its rows are of the training part, from 1.
        texts: Of the training rows, (M,) each.
        ids: Of the training rows, (M,).
        labels: Of the training rows, (M,).
    """
    if places is None:
        return pl.DataFrame(schema=COPY_SCHEMA)
    held = places.filter((pl.col("place") == TRAINING) & pl.col("kind").is_in(COUNTED))
    held = held.with_columns(kind=pl.when(pl.col("kind") == NEAR).then(pl.col("kind")).otherwise(pl.lit(HELD)))
    held = held.filter(pl.col("row").is_between(1, len(ids))).unique(["id", "row"], keep="first", maintain_order=True)
    held = held.group_by("id", maintain_order=True).head(MOST_COPIES)
    rows = (held["row"] - 1).to_list()
    # An item without a passage has an empty one.
    told = [each[rows].replace("", None) for each in texts]
    shown = pl.select(pl.concat_str(told, separator=" / ", ignore_nulls=True)).to_series()
    return pl.DataFrame(
        {
            "example_id": held["id"],
            "part": held["place"],
            "kind": held["kind"],
            "copy_id": ids.cast(pl.String)[rows],
            "label": labels.cast(pl.String)[rows],
            "text": shown.str.slice(0, MOST_CHARACTERS),
        },
        schema=COPY_SCHEMA,
    )


def _codes(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A code of each text as it is compared, and of its representative, (N,) each."""
    # Who reads a report alone needs nothing of what reads data.
    from goldassay.data.fields import normalized_texts
    from goldassay.data.near_copies import join_near_copies

    frame = pl.DataFrame({"text": normalized_texts(texts)}).with_row_index("at")
    first_of = frame.select(pl.col("at").min().over("text")).to_series().to_numpy()
    firsts = np.flatnonzero(first_of == np.arange(first_of.size))
    code = np.searchsorted(firsts, first_of)
    near = join_near_copies(frame["text"][firsts].to_list(), np.bincount(code, minlength=firsts.size))
    return code, near[code]


def _joint(codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """A code of each row of codes, (N,)."""
    found = codes[0]
    for each in codes[1:]:
        found = np.unique(found * (int(each.max(initial=0)) + 1) + each, return_inverse=True)[1].astype(np.int64)
    return found


def _followers(groups: NDArray[np.integer]) -> NDArray[np.int64]:
    """(row, other): for each row of a group the next ones in it, after the last the first ones again, (M, 2)."""
    order = np.argsort(groups, kind="stable")
    sizes = np.unique(groups, return_counts=True)[1]
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size, place = np.repeat(sizes, sizes), np.arange(groups.size)
    found = [
        np.stack([order[has], order[starts[has] + (place[has] - starts[has] + step) % size[has]]], axis=1)
        for step in range(1, MOST_COPIES + 1)
        if (has := size > step).any()
    ]
    return np.concatenate(found).astype(np.int64) if found else np.empty((0, 2), np.int64)


def answers_of_readers(
    readings: Sequence[ReaderPredictions], label_names: Sequence[str], ids: Sequence[str]
) -> pl.DataFrame:
    """A row an example, a column a reader of a part, named "PART: READER".

    Its value is the label that most runs of the reader name (of equally many the first); of readers that pick choices
    whether the pick is right, and null where the reader picks none.
    """
    columns: dict[str, pl.Series] = {}
    for reading in readings:
        name = f"{reading.part}: {reading.reader}"
        if name not in columns:
            columns[name] = _named(reading, label_names)
    return pl.DataFrame({"example_id": pl.Series(list(ids), dtype=pl.String), **columns})


def _named(reading: ReaderPredictions, label_names: Sequence[str]) -> pl.Series:
    if reading.predictions is None:
        right = np.atleast_2d(np.asarray(reading.correct, dtype=np.float64)).mean(axis=0)
        codes = np.where(right == 1, 0, np.where(right == 0, 1, 2))
        if reading.applies is not None:
            codes = np.where(reading.applies, codes, -1)
        return _texts(codes, (RIGHT, WRONG, SHARED))
    named = np.atleast_2d(np.asarray(reading.predictions))
    votes = np.stack([(named == code).sum(axis=0) for code in range(len(label_names))])
    return _texts(np.where(votes.max(axis=0) > 0, votes.argmax(axis=0), -1), label_names)


def _texts(codes: NDArray[np.integer], names: Sequence[str]) -> pl.Series:
    known = pl.Series(list(names), dtype=pl.String)
    return known.gather(pl.Series(np.where(codes < 0, 0, codes))).zip_with(
        pl.Series(codes >= 0), pl.Series([None], dtype=pl.String).new_from_index(0, codes.size)
    )


def words_of_texts(
    texts: Mapping[str, pl.Series], codes: NDArray[np.integer], label_names: Sequence[str], *, q: float, seed: int
) -> pl.DataFrame:
    """A row a role and word that leans to a label; of large sets words of a random draw of their rows.

    Args:
        texts: {role: N texts}.
        codes: Of the labels, (N,).
        label_names: K names.
        q: Largest false discovery rate.
        seed: Of the draw.
    """
    from goldassay.questions.leakage.measures.token_relevance import SCHEMA, leaning_words

    found = []
    for role, column in texts.items():
        length = int(column.str.len_bytes().sum() or 0)
        rows = np.arange(len(column))
        if length > MOST_READ:
            n = max(1, int(len(column) * MOST_READ / length))
            rows = np.sort(np.random.default_rng(seed).choice(len(column), n, replace=False))
        words = leaning_words(column[rows], codes[rows], label_names, q=q)
        found.append(words.select(pl.lit(role).alias("role"), pl.all()))
    return pl.concat(found) if found else pl.DataFrame(schema={"role": pl.String, **SCHEMA})


def patterns_of_rows(assignment: DifficultyAssignment) -> list[int]:
    """Positions of the patterns that most test rows hold, at most `MOST_PATTERNS`, ascending."""
    ids, counts = np.unique(assignment.pattern_rows, return_counts=True)
    return sorted(ids[np.lexsort((ids, -counts))][:MOST_PATTERNS].tolist())


def table_of_examples(names: Sequence[str], samples: Mapping[int, Sequence[MarkedExample]]) -> pl.DataFrame:
    """A row a pattern and example; `marks` are begin and end of each marked part, one after the other.

    Args:
        names: Of all patterns.
        samples: {position of a pattern: its examples, as `sample_examples` gives them}.
    """
    rows = [
        (names[at], each.example_id, each.label, *_cut(each.text, each.marks))
        for at, examples in sorted(samples.items())
        for each in examples[:MOST_EXAMPLES]
    ]
    return pl.DataFrame(rows, schema=EXAMPLE_SCHEMA, orient="row")


def _cut(text: str, marks: Sequence[Sequence[int]]) -> tuple[str, list[int]]:
    """The text around its marks, and where these are in it."""
    if len(text) <= WIDTH or not marks:
        return text[:WIDTH], [place for mark in marks for place in mark if mark[1] <= WIDTH]
    begin = max(0, marks[0][0] - WIDTH // 3)
    end = begin + WIDTH
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    inside = [place + shift for mark in marks if mark[1] <= end for place in mark]
    return f"{before}{text[begin:end]}{after}", inside
