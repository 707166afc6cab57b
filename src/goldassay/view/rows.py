"""All rows of a report, held such that a million of them can be filtered, counted and sorted at once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.bounds import reading
from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.data.decisions import Placed, place_decisions
from goldassay.data.row_keys import ITEM_COLUMNS, are_positions, row_key
from goldassay.gate.reading import FLAG, NAME, NUMBER, NUMBERS, TEXT, TEXTS, read_table, table_schema

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.decisions import Decision


# A column with more values than a person would look through is no filter.
MOST_VALUES = 200
UNDECIDED = "undecided"
DECISION = "decision"
_READER = "right_"
_MISSING = "(none)"
# What a reader of a part of the input names, over its seeds.
_TOLD = ("always right", "sometimes right", "never right")
_ROLES = ("premise", "hypothesis", "question", "context", "text")
_ITEM_TEXTS = ("passage", "question", "choices")
_KINDS = {
    "example_id": NAME,
    "answer": TEXTS,
    "difficulty": TEXT,
    "runs": TEXT,
    "runs_scores": NUMBERS,
    "runs_answers": TEXTS,
    "runs_over_checkpoints": NUMBERS,
    "partial_scores": NUMBERS,
    "partial_answers": TEXTS,
    "passage": TEXT,
    "right_*": NUMBER,
    "pvi_*": NUMBER,
    "reader_bits_*": NUMBERS,
    "confidence": NUMBER,
    "variability": NUMBER,
    "suspicion": NUMBER,
}
# The lists of what runs score on a row, and of what they answer, in the order of the table of runs.
NONE_WHOLE = "No run answers every row, and only such runs class rows."
RUN_LISTS = (("runs_scores", "runs_answers"), ("partial_scores", "partial_answers"))
_NAMES, _READERS = "answering_runs.parquet", "readers.parquet"
_UNNAMED = "The report does not name its runs, so that no rows are filtered by one: make it again with goldassay audit."


@dataclass(frozen=True)
class Facet:
    """A column with few values: the code of each row, and what the codes mean."""

    values: tuple[str, ...]
    codes: NDArray[np.uint8] | NDArray[np.uint16]


@dataclass
class RowTable:
    """The table of examples of a report.

    Attributes:
        path: The Parquet file.
        texts: Columns of texts, in order.
        content: Columns that a row's key is made of.
        decided: The row's decisions, by row.
    """

    path: Path
    texts: tuple[str, ...]
    content: tuple[str, ...]
    decided: dict[int, Decision] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _frame: pl.DataFrame | None = None

    @classmethod
    def open(cls, path: Path, text_columns: Sequence[str] = (), *, has_texts: bool = True) -> RowTable:
        """Open a table, without reading its texts yet.

        Args:
            path: tables/examples.parquet of a report.
            text_columns: Those of the dataset; none for items with choices.
            has_texts: Whether it has to have texts: of a report without, rows are shown by their ids.

        Raises:
            InputError: It is missing, or lacks texts.
        """
        mend = "name the folder of an audit; goldassay audit writes a table of all rows"
        if not path.is_file():
            raise InputError("the report has no table of examples", file=path, mend=mend)
        columns = table_schema(path, _KINDS)
        # Reports on runs name no texts of their dataset; their columns are called by their roles.
        texts = tuple(name for name in text_columns or _ROLES if name in columns)
        content = (*texts, *(("label",) if "label" in columns else ()))
        if set(ITEM_COLUMNS) <= set(columns):
            with reading(path):
                has_passages = pl.scan_parquet(path).select((pl.col("passage") != "").any()).collect().item()
            texts, content = _ITEM_TEXTS if has_passages else _ITEM_TEXTS[1:], ITEM_COLUMNS
        if (not texts and has_texts) or "example_id" not in columns:
            raise InputError("the report's table of examples has no texts", file=path, mend=mend)
        plain = {name: TEXTS if name == "choices" else TEXT for name in texts}
        table_schema(path, plain)
        return cls(path, texts, content)

    @cached_property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The columns of the file."""
        return pl.read_parquet_schema(self.path)

    @cached_property
    def n_rows(self) -> int:
        """Rows of the file."""
        with reading(self.path):
            return int(pl.scan_parquet(self.path).select(pl.len()).collect().item())

    @cached_property
    def numbers(self) -> dict[str, NDArray[np.float32]]:
        """The columns of numbers, (N,) each; NaN where there is none."""
        names = [name for name, kind in self.schema.items() if kind.is_numeric()]
        with reading(self.path):
            read = pl.read_parquet(self.path, columns=names).cast(pl.Float32).fill_null(float("nan"))
        return {name: read[name].to_numpy() for name in names}

    @cached_property
    def facets(self) -> dict[str, Facet]:
        """The columns with few values, and what readers of a part name, as codes."""
        given = {"example_id", *self.texts, *_ITEM_TEXTS}
        names = [name for name, kind in self.schema.items() if kind in (pl.String, pl.Boolean) and name not in given]
        with reading(self.path):
            read = pl.read_parquet(self.path, columns=names)
        found = {name: facet for name in names if (facet := _facet(read[name].cast(pl.String))) is not None}
        for name, values in self.numbers.items():
            if name.startswith(_READER) and not np.isnan(values).all():
                codes = np.where(values == 1, 0, np.where(values == 0, 2, 1)).astype(np.uint8)
                found[name.removeprefix(_READER)] = Facet(_TOLD, codes)
        return found

    @cached_property
    def rules(self) -> dict[str, Facet]:
        """Whether each reader of choices is right on a row, by its part and name; none where no table says so."""
        file, kinds = self.path.with_name(_READERS), {"example_id": NAME, "*: *": TEXT}
        if "choices" not in self.schema or not file.is_file() or "example_id" not in table_schema(file, kinds):
            return {}
        table = read_table(file, kinds)
        with reading(self.path):
            ids = pl.read_parquet(self.path, columns=["example_id"])["example_id"].cast(pl.String)
        if not table["example_id"].cast(pl.String).equals(ids):
            return {}
        read = {name: table[name].fill_null(NO_ANSWER) for name in table.columns if ": " in name}
        return {
            name: Facet(KINDS, values.cast(pl.Enum(KINDS)).to_physical().cast(pl.UInt8).to_numpy())
            for name, values in read.items()
            if values.is_in(KINDS).all()
        }

    @cached_property
    def run_names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the runs in each list of `RUN_LISTS`; none where the report does not name them."""
        return self._named_scores[0]

    @cached_property
    def runs(self) -> RunBits | None:
        """What each named run scores on each row; None where there are none, or the report does not name them."""
        return self._named_scores[1]

    @cached_property
    def _named_scores(self) -> tuple[tuple[tuple[str, ...], ...], RunBits | None]:
        nothing = ((),) * len(RUN_LISTS), None
        lists = [scores for scores, _ in RUN_LISTS if scores in self.schema]
        file = self.path.with_name(_NAMES)
        kinds = {"run": NAME, "answers_all": FLAG}
        if not lists or not file.is_file() or not set(kinds) <= set(table_schema(file, kinds)):
            return nothing
        table = read_table(file, kinds)
        if table["run"].is_duplicated().any():
            return nothing
        with reading(self.path):
            read = pl.read_parquet(self.path, columns=lists)
        names, scores = [], []
        for (own, _), is_whole in zip(RUN_LISTS, (True, False), strict=True):
            lengths = read[own].list.len() if own in lists else pl.Series([0])
            known = table.filter(pl.col("answers_all") == is_whole)["run"].cast(pl.String).to_list()
            # Lists are of the first runs; one that is longer, or of another length than the next, is of other runs.
            if lengths.has_nulls() or lengths.n_unique() != 1 or (n := int(lengths[0])) > len(known):
                return nothing
            names.append(tuple(known[:n]))
            if n:
                values = read[own].explode().cast(pl.Float32).fill_null(float("nan"))
                scores.append(values.to_numpy().reshape(-1, n))
        found = [name for each in names for name in each]
        return tuple(names), RunBits.of(found, scores) if scores else None

    @cached_property
    def runs_note(self) -> str:
        """Why rows are not filtered by runs, or by some of them, in a sentence; "" where nothing is to be said."""
        if not any(scores in self.schema for scores, _ in RUN_LISTS):
            return ""
        n = sum(map(len, self.run_names))
        if not n:
            return _UNNAMED
        file = self.path.with_name(_NAMES)
        with reading(file):
            n_all = int(pl.scan_parquet(file).select(pl.len()).collect().item())
        if not self.run_names[0]:
            return NONE_WHOLE
        return f"Filters and rows have the first {count(n)} of {count(n_all)} runs." if n < n_all else ""

    def load(self) -> pl.DataFrame:
        """The texts and all other columns but numbers, read once."""
        with self._lock:
            if self._frame is None:
                wanted = [name for name in self.schema if name not in self.numbers and name not in self._coded]
                with reading(self.path):
                    self._frame = pl.read_parquet(self.path, columns=wanted)
            return self._frame

    @cached_property
    def _coded(self) -> set[str]:
        # What a row's key needs stays readable.
        return set(self.facets) & set(self.schema) - set(self.content)

    def rows(self, at: NDArray[np.integer]) -> list[dict[str, object]]:
        """Some rows, whole, in the order asked for."""
        if self._frame is None and at.size and int(at[-1]) < MOST_VALUES:
            # The first page is there before the texts of all others are read.
            with reading(self.path):
                few = pl.scan_parquet(self.path).head(int(at.max()) + 1).collect()
            return few[at.tolist()].to_dicts()
        frame = self.load()
        # To gather rows copies what all lists point to; to look at each does not.
        found = [frame.row(place, named=True) for place in at.tolist()]
        for row, place in zip(found, at.tolist(), strict=True):
            row.update({name: self.facets[name].values[self.facets[name].codes[place]] for name in self._coded})
            row.update({name: _number(values[place]) for name, values in self.numbers.items()})
        return found

    def key(self, row: Mapping[str, object]) -> str:
        """The key of a row of `rows`."""
        return row_key({name: row[name] for name in self.content})

    def place(self, decisions: Iterable[Decision]) -> Placed:
        """Find the rows of decisions, keep them in `decided`, and return what was found."""
        wanted = list(decisions)
        placed = place_decisions(
            wanted, self._with_content_of(wanted), self._ids.__getitem__, are_positions=self._are_positions
        ) if wanted else Placed()  # fmt: skip
        self.decided = placed.by_row
        return placed

    def n_among(self, keys: Collection[str]) -> int:
        """How many rows have one of some keys."""
        return sum(len(at) for key, at in self._keyed(pl.int_range(self.n_rows, eager=True)).items() if key in keys)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels that some row has."""
        if "label" in self.facets:
            return frozenset(self.facets["label"].values)
        return frozenset(self.load()["label"]) if self.schema.get("label") == pl.String else frozenset()

    def same_as(self, row: Mapping[str, object]) -> list[str]:
        """The ids of all rows with the content of a row of `rows`, in the order of the file."""
        at = None
        # A column after the other: the first one leaves few rows, and a decision waits for this.
        for name in self._plain:
            column = self.load()[name] if at is None else self.load()[name][at]
            hits = column.eq_missing(pl.Series([row[name]], dtype=pl.String)).arg_true()
            at = hits if at is None else at[hits]
        at = pl.int_range(self.n_rows, eager=True) if at is None else at
        key = self.key(row)
        return [self._ids[at] for at in self._keyed(at).get(key, ())]

    def contents(self, rows: NDArray[np.integer]) -> dict[int, tuple[str, list[str]]]:
        """Of some rows the key, and the ids of all rows with the same content, in the order of the file."""
        found: dict[int, tuple[str, list[str]]] = {}
        few = self.load().select(self._plain)[rows].unique() if self._plain else pl.DataFrame()
        for key, places in self._keyed(self._like(few)).items():
            ids = [self._ids[at] for at in places]
            found |= dict.fromkeys(places, (key, ids))
        return found

    @cached_property
    def _ids(self) -> pl.Series:
        return self.load()["example_id"].cast(pl.String)

    @cached_property
    def _are_positions(self) -> bool:
        return are_positions(self._ids)

    @property
    def _plain(self) -> list[str]:
        # Lists, whose parts count in any order, are compared by the key.
        return [name for name in self.content if self.schema[name] == pl.String]

    def _with_content_of(self, wanted: Sequence[Decision]) -> dict[str, list[int]]:
        """All rows by key, at least of the keys of some decisions."""
        keys = {each.key for each in wanted}
        ids = pl.Series([each.id for each in wanted], dtype=pl.String)
        here = self._keyed(self._ids.is_in(ids.implode()).arg_true())
        found = {at for key in keys for at in here.get(key, ())}
        if any(key not in here for key in keys):
            # A file in another order, or without ids of its own.
            return self._keyed(pl.int_range(self.n_rows, eager=True))
        return self._keyed(self._like(self.load().select(self._plain)[sorted(found)].unique()))

    def _like(self, few: pl.DataFrame) -> pl.Series:
        """The rows whose texts and label are those of one of some rows."""
        columns = self.load().lazy().select(self._plain).with_row_index("at")
        if not self._plain:
            return pl.int_range(self.n_rows, eager=True)
        return columns.join(few.lazy(), on=self._plain, how="semi", nulls_equal=True).collect()["at"].sort()

    def _keyed(self, at: pl.Series) -> dict[str, list[int]]:
        columns = self.load().select(self.content)
        found: dict[str, list[int]] = {}
        for place, row in zip(at, columns[at].iter_rows(named=True), strict=True):
            found.setdefault(row_key(row), []).append(place)
        return found


def _facet(values: pl.Series) -> Facet | None:
    filled = values.fill_null(_MISSING)
    known = filled.unique().sort().to_list()
    if not known or len(known) > MOST_VALUES:
        return None
    return Facet(tuple(known), filled.cast(pl.Enum(known)).to_physical().cast(pl.UInt8).to_numpy())


def _number(value: np.floating) -> float | None:
    return None if np.isnan(value) else float(value)


# What a run's filter is called in an address: this, and the run's name.
RUN = "run."
RIGHT, WRONG, PARTLY, NO_ANSWER = "right", "wrong", "partly right", "no answer"
KINDS = (RIGHT, WRONG, PARTLY, NO_ANSWER)
# Rows whose scores are looked at together, a multiple of sixteen.
_AT_ONCE = 1 << 16
# Bits that are one in a number of sixteen.
_ONES = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


@dataclass(frozen=True)
class RunBits:
    """What runs score on rows, in kinds.

    Attributes:
        names: Of R runs, each another one.
        n_rows: N.
        bits: Of each kind that occurs, whether a run has it on a row, (R, N / 16) numbers of sixteen bits.
    """

    names: tuple[str, ...]
    n_rows: int
    bits: Mapping[str, NDArray[np.uint16]]

    @classmethod
    def of(cls, names: Sequence[str], scores: Sequence[NDArray[np.float32]]) -> RunBits:
        """Of scores: 1 is right, 0 is wrong, NaN is no answer.

        Args:
            names: Of the runs.
            scores: (N, R) of some of the runs each, in their order.
        """
        n_rows = scores[0].shape[0]
        found = {kind: np.zeros((len(names), -(-n_rows // 16)), np.uint16) for kind in KINDS}
        for begin in range(0, n_rows, _AT_ONCE):
            block = np.concatenate([each[begin : begin + _AT_ONCE].T for each in scores])
            right, wrong, none = block == 1, block == 0, np.isnan(block)
            for kind, mask in zip(KINDS, (right, wrong, ~(right | wrong | none), none), strict=True):
                packed = _packed(mask)
                found[kind][:, begin // 16 : begin // 16 + packed.shape[1]] = packed
        return cls(tuple(names), n_rows, {kind: bits for kind, bits in found.items() if bits.any()})

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def where(self, name: str, kinds: Iterable[str]) -> NDArray[np.bool_]:
        """The rows on which a run has one of some kinds, (N,)."""
        at = self._places[name]
        own = np.zeros(-(-self.n_rows // 16), np.uint16)
        for kind in kinds:
            if kind in self.bits:
                own |= self.bits[kind][at]
        return np.unpackbits(own.view(np.uint8), count=self.n_rows).view(np.bool_)

    def counts(self, rows: NDArray[np.bool_] | None, name: str | None = None) -> dict[str, NDArray[np.int64]]:
        """Of each kind that occurs how many rows each run has it on, (R,).

        Args:
            rows: Those that are counted, (N,); None for all.
            name: The only run that is counted; None for all.
        """
        within = None if rows is None else _packed(rows)
        own = slice(None) if name is None else [self._places[name]]
        return {
            kind: _ONES[bits[own] if within is None else bits[own] & within].sum(axis=1, dtype=np.int64)
            for kind, bits in self.bits.items()
        }


def kind_of(score: float | None) -> str:
    """The kind of one score."""
    if score is None or score != score:
        return NO_ANSWER
    return RIGHT if score == 1 else WRONG if score == 0 else PARTLY


def _packed(mask: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """(..., N) as (..., N / 16) numbers of sixteen bits, those beyond N zero."""
    packed = np.packbits(mask, axis=-1)
    padded = np.zeros((*packed.shape[:-1], -(-mask.shape[-1] // 16) * 2), np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(np.uint16)
