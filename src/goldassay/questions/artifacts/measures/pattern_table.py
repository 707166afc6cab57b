"""The mined patterns as a table: statistics, selection, and a file that keeps them with their settings."""

from __future__ import annotations

import html
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.bounds import check_parquet
from goldassay.core.cores import cores
from goldassay.core.errors import InputError, visible
from goldassay.core.files import write_parquet, written_whole
from goldassay.core.naming import did_you_mean
from goldassay.data.tokenization import TOKENIZERS, TokenizedCorpus, Tokenizer, tokenize, tokenizer_name
from goldassay.questions.artifacts.measures.matching import PatternTokens, PatternTree, encode_labels
from goldassay.questions.artifacts.measures.statistics import (
    COLUMNS,
    DESIGN_EFFECTS,
    PART,
    Q_OF_LABELS,
    MinedPatterns,
    QValues,
    Words,
    in_slices,
    least_q,
    lists,
    matrix,
    p_of,
    rows_of,
    with_statistics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SCHEMA_VERSION = 1
_METADATA_KEY = "goldassay.patterns"
_HTML_ROWS = 20


@dataclass(frozen=True, eq=False)
class PatternTable:
    """Patterns with their counts and what these say about the label; one row a pattern, its most probable label.

    Rows are sorted by support, descending, then by tokens and gaps. Of labels equally probable the first is named.

    Columns of `.to_frame()`: `pattern` (for reading: "#" is a skipped token), `tokens`, `gaps` (tokens skipped
    between each two), `support` = count(b), `counts` (for each label), `label` l, `probability` = p(l|b), `lift` =
    p(l|b)/p(l), `pmi` = log2 lift (bits), `lmi` = p(b,l) pmi with p(b,l) = count(b,l)/N, `wilson_low` and
    `wilson_high` (95 % for p(l|b)), `z` (against p(l)), `p_value` (exact binomial, one-sided; where sentences come in
    clusters that of the effective counts, see `allow_for_clusters`), `q_value`
    (Benjamini-Hochberg over all patterns mined; `significant` also allows for the label having been chosen).

    Attributes:
        label_names: Labels in the order of `counts`.
        settings: What it was mined with: max_tokens, max_gap, min_count, tokenizer, n_sentences, label_counts,
            n_mined; and the cuts made since.

    Source: Liu et al. 2020 (patterns); Gardner et al. 2021 (z); Schuster et al. 2019 (lmi).
    """

    label_names: tuple[str, ...]
    settings: dict[str, Any]
    _frame: pl.DataFrame = field(repr=False)
    _tokenizer: Tokenizer | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return self._frame.height

    def to_frame(self) -> pl.DataFrame:
        """The table in polars."""
        return self._frame.drop(Q_OF_LABELS, DESIGN_EFFECTS, strict=False)

    def all_columns(self) -> pl.DataFrame:
        """The table with what rows for further labels are made from, as `write` writes it."""
        return self._frame

    @classmethod
    def joined(cls, parts: Sequence[PatternTable]) -> PatternTable:
        """The rows of several parts of one table, cut alike, one after the other."""
        return replace(parts[0], _frame=pl.concat(part._frame for part in parts))

    def to_dict(self) -> dict[str, Any]:
        """Settings and rows as plain data."""
        return {
            "label_names": list(self.label_names),
            "settings": self.settings,
            "patterns": self.to_frame().to_dicts(),
        }

    def select(self, threshold: float) -> PatternTable:
        """Keep what has p(label|pattern) > threshold (strict); below .5 a pattern gets a row for each such label.

        Warns:
            UserWarning: The threshold is 1 or more, which keeps nothing.

        Raises:
            InputError: The threshold is negative or not a number.
        """
        if not is_number(threshold) or not threshold >= 0:
            raise InputError(f"the threshold is {threshold!r}", mend="choose a share from 0 to below 1")
        if threshold >= 1:
            import warnings

            warnings.warn(f"a threshold of {threshold} keeps no pattern: no share exceeds 1", UserWarning, stacklevel=2)
        if threshold >= 0.5:
            frame = self._frame.filter(pl.col("probability") > threshold)
        else:
            frame = self._rows_for_each_label(threshold)
        return self._cut(frame, threshold=threshold)

    def significant(self, q: float = 0.01) -> PatternTable:
        """Keep what has K q_value <= q, of K labels: of these a share of q or less is expected to be chance finds.

        q_value tests a pattern's label as if it had been named beforehand. It is the most probable of K, though, and
        the chance that any of them is as frequent is up to K times as large (Bonferroni within a pattern; as the
        procedure is linear in p, correcting p or q is the same). It matters where labels are many: of 40 corpora of
        noise with 150 labels, q_value <= .01 alone finds something in 10, K q_value <= .01 in none.

        Raises:
            InputError: q is outside 0 to 1.
        """
        if not is_number(q) or not 0 <= q <= 1:
            raise InputError(f"q is {q!r}", mend="choose a share from 0 to 1")
        corrected = (pl.col("q_value") * self.n_labels_met).clip(upper_bound=1.0)
        return self._cut(self._frame.filter(corrected <= q), q=q)

    def predictive(self, q: float, threshold: float) -> tuple[int, PatternTable]:
        """How many rows `significant(q)` has, and what `significant(q).select(threshold).to_count()` gives.

        No more than these is copied: of millions of patterns each table takes hundreds of megabytes.

        Raises:
            InputError: As there.
        """
        narrow = self._cut(self._frame.select("tokens", "gaps", "label", "probability", "q_value"))
        if threshold >= 0.5:
            n_significant = len(self._cut(self._frame.select("q_value")).significant(q))
            return n_significant, narrow.select(threshold).significant(q).to_count()
        significant = self.significant(q)
        return len(significant), significant.select(threshold).to_count()

    def to_count(self) -> PatternTable:
        """The same rows with no more columns than to look for them takes: a third of the memory."""
        return self._cut(self._frame.select("tokens", "gaps", "label", "probability"))

    @property
    def n_labels_met(self) -> int:
        """K, how many labels the mined sentences had."""
        return sum(count > 0 for count in self.settings["label_counts"])

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> PatternTable:
        """The rows at these positions, in this order."""
        return self._cut(self._frame[np.asarray(rows, np.int64)])

    def slice(self, begin: int, n: int) -> PatternTable:
        """At most n rows from a position on; nothing is copied."""
        return self._cut(self._frame.slice(begin, n))

    def top(self, label: str, k: int = 10, multiword: bool | None = None, min_support: int = 0) -> PatternTable:
        """The k rows of a label with the highest probability, the more frequent first where equal.

        Args:
            label: One of `label_names`.
            k: How many.
            multiword: True: only patterns of several tokens; False: only single tokens; None: both.
            min_support: Fewest sentences.

        Raises:
            InputError: The table has no such label, or `k` or `min_support` is no count.
        """
        if label not in self.label_names:
            raise InputError(f"there is no label {label!r}", mend=did_you_mean(str(label), self.label_names))
        check_whole("k", k, 0)
        check_whole("min_support", min_support, 0)
        rows = (pl.col("label") == label) & (pl.col("support") >= min_support)
        if multiword is not None:
            rows &= (pl.col("tokens").list.len() > 1) == multiword
        chosen = self._frame.filter(rows).sort("probability", "support", descending=True, maintain_order=True)
        return self._cut(chosen.head(k))

    def matches(
        self, sentences: Sequence[str] | TokenizedCorpus, tokenizer: Tokenizer | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find which rows' patterns are in which sentences.

        Args:
            sentences: N strings, or a corpus tokenized the same way.
            tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

        Returns:
            Sentence positions and row positions of the matches (each pair once), sorted by both.

        Raises:
            InputError: The tokenizer is not the one that the patterns were mined with.
        """
        return self.tree.find(self.tokenized(sentences, tokenizer))

    def match_blocks(self, corpus: TokenizedCorpus) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[np.int64]]]:
        """As `matches`, but some sentences at a time: begin, end, and the matches, counted from `begin`.

        Raises:
            InputError: The tokenizer is not the one that the patterns were mined with.
        """
        self._refuse_other(corpus.tokenizer)
        yield from self.tree.find_in_blocks(corpus)

    def count_in(
        self,
        sentences: Sequence[str] | TokenizedCorpus,
        labels: Sequence[Any] | NDArray[Any],
        tokenizer: Tokenizer | None = None,
    ) -> pl.DataFrame:
        """Count the same patterns in other data.

        Returns:
            A row for each row of the table: pattern, label, support, counts (in the order of `label_names`),
            probability of the row's label there (NaN where the pattern is absent). Unlabelled sentences are left out.

        Raises:
            InputError: The lengths differ, a label is unknown, or the tokenizer is another one.
        """
        codes, _ = encode_labels(labels, self.label_names, len(sentences))
        corpus = self.tokenized(sentences, tokenizer)
        K = len(self.label_names)
        counts = np.zeros((len(self), K), np.int64)
        for begin, _, at, rows in self.match_blocks(corpus):
            label = codes[begin + at]
            cells = rows[label >= 0] * K + label[label >= 0]
            counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)
        support = counts.sum(axis=1)
        own = counts[np.arange(len(self)), self.label_codes()]
        with np.errstate(invalid="ignore"):
            probability = own / support
        return self._frame.select("pattern", "label").with_columns(
            support=pl.Series(support), counts=lists(counts), probability=pl.Series(probability)
        )

    def with_tokenizer(self, tokenizer: Tokenizer) -> PatternTable:
        """The table with the function that it was mined with, which a file cannot hold.

        Raises:
            InputError: It was mined with another one.
        """
        self._refuse_other(tokenizer_name(tokenizer))
        return replace(self, _tokenizer=tokenizer)

    def tokenized(
        self, sentences: Sequence[str] | pl.Series | TokenizedCorpus, tokenizer: Tokenizer | None = None
    ) -> TokenizedCorpus:
        """Tokenize sentences the way the patterns were mined.

        Raises:
            InputError: Another tokenizer is given, or one is needed that a file cannot hold.
        """
        mined_with = self.settings["tokenizer"]
        if isinstance(sentences, TokenizedCorpus):
            self._refuse_other(sentences.tokenizer)
            return sentences
        chosen = tokenizer or self._tokenizer or (mined_with if mined_with in TOKENIZERS else None)
        if chosen is None:
            raise InputError(f"the patterns were mined with the function {mined_with}", mend="pass it as tokenizer")
        self._refuse_other(tokenizer_name(chosen))
        return tokenize(sentences, chosen)

    def _refuse_other(self, given: str) -> None:
        mined_with = self.settings["tokenizer"]
        if given != mined_with:
            raise InputError(
                f"the patterns were mined with tokenizer {mined_with}, not {given}", mend="use the same for both"
            )

    def counts_and_q(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """How many sentences of each label hold each pattern, (V, K), and the q of each label, (V, K)."""
        n = len(self.label_names)
        return matrix(self._frame["counts"], n), matrix(self._frame[Q_OF_LABELS], n)

    def label_codes(self) -> NDArray[np.int64]:
        """Position in `label_names` of each row's label, (V,)."""
        label_type = pl.Enum(self.label_names)
        codes: NDArray[np.int64] = self._frame["label"].cast(label_type).to_physical().to_numpy().astype(np.int64)
        return codes

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a Parquet file that holds its settings.

        Raises:
            OutputError: The file cannot be written.
        """
        with written_whole(path) as aside:
            write_parquet(self._frame, aside, metadata=description(self.label_names, self.settings))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> PatternTable:
        """Read a table that `write` wrote.

        Raises:
            InputError: The file is missing, holds no patterns, or was written by a newer version.
        """
        try:
            metadata = pl.read_parquet_metadata(os.fspath(path))
            about = json.loads(metadata.get(_METADATA_KEY, "null"))
            if about is None:
                raise InputError("this is not a file of patterns", file=path, mend="make one with artifacts mine")
            if about["schema_version"] > SCHEMA_VERSION:
                raise InputError(
                    f"the patterns have schema version {about['schema_version']}, newer than {SCHEMA_VERSION}",
                    file=path,
                    mend="update goldassay",
                )
            check_parquet(Path(path), Path(path))
            frame = pl.read_parquet(os.fspath(path))
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(f"cannot be read as patterns ({error})", file=path, mend="check the path") from error
        return cls(tuple(about["label_names"]), about["settings"], frame)

    def __repr__(self) -> str:
        cuts = [f", {name} {self.settings[name]}" for name in ("q", "threshold") if name in self.settings]
        of = f"{self.settings['n_sentences']:,} sentences; {', '.join(self.label_names)}"
        return visible(f"PatternTable({len(self):,} patterns of {of}{''.join(cuts)})")

    def _repr_html_(self) -> str:
        shown = self.to_frame().head(_HTML_ROWS)
        names = ("pattern", "support", "label", "probability", "wilson_low", "wilson_high", "z", "q_value")
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(row[name])}</td>" for name in names) + "</tr>"
            for row in shown.iter_rows(named=True)
        )
        caption = f"{len(self):,} patterns" + (f", the first {_HTML_ROWS}" if len(self) > _HTML_ROWS else "")
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def as_numbers(self) -> PatternTokens:
        """The rows' patterns with a number for each token."""
        return PatternTokens.of(self._frame["tokens"], self._frame["gaps"])

    @cached_property
    def tree(self) -> PatternTree:
        """The rows' patterns as a tree of their beginnings."""
        return PatternTree.of(self.as_numbers())

    def _cut(self, frame: pl.DataFrame, **cuts: float) -> PatternTable:
        return replace(self, _frame=frame, settings=self.settings | cuts)

    def _rows_for_each_label(self, threshold: float) -> pl.DataFrame:
        rest = self._frame.unique(["tokens", "gaps"], maintain_order=True)
        counts = matrix(rest["counts"], len(self.label_names))
        support = rest["support"].to_numpy()
        # The label the row already has comes out of the same comparison, so no row is lost or doubled.
        rows, codes = np.nonzero(counts / np.maximum(support, 1)[:, None] > threshold)
        q = matrix(rest[Q_OF_LABELS], len(self.label_names))
        own = [name for name in (Q_OF_LABELS, DESIGN_EFFECTS) if name in rest.columns]
        kept = rest.select("pattern", "tokens", "gaps", "support", "counts", *own)[rows]
        effects: NDArray[np.float64] | float = 1.0
        if DESIGN_EFFECTS in own:
            effects = matrix(rest[DESIGN_EFFECTS], len(self.label_names))[rows, codes]
        return (
            with_statistics(kept, codes, self.label_names, self.settings, effects)
            .with_columns(q_value=pl.Series(q[rows, codes], dtype=pl.Float64))
            .select(*COLUMNS, *own)
        )


def build_table(
    vocabulary: Sequence[str],
    mined: MinedPatterns,
    label_names: tuple[str, ...],
    settings: dict[str, Any],
    tokenizer: Tokenizer | None = None,
) -> PatternTable:
    """Make the table from mined numbers.

    Args:
        vocabulary: The token of each number.
        mined: V patterns in any order.
        label_names: K names.
        settings: As described for `PatternTable`.
        tokenizer: The tokenizer itself, needed to match again if it is a function.
    """
    words = Words(vocabulary)
    mined = mined.take(words.order(mined))
    with ThreadPoolExecutor(cores()) as pool:
        q = QValues(np.concatenate(list(pool.map(lambda part: p_of(part, settings), in_slices(mined)))))
        frames = pool.map(lambda part: rows_of(part, words, q, label_names, settings), in_slices(mined))
        frame = pl.concat(list(frames))
    return PatternTable(label_names, settings, frame, tokenizer)


def build_telling(
    vocabulary: Sequence[str],
    mined: MinedPatterns,
    label_names: tuple[str, ...],
    settings: dict[str, Any],
    tokenizer: Tokenizer | None,
    up_to: float,
) -> tuple[PatternTable, NDArray[np.float64]]:
    """The rows of `build_table` of which K q of some label is at most `up_to`, and the p of all others.

    Of long texts nearly all patterns are others, and a row takes far more time than its p.
    """
    n_labels = sum(count > 0 for count in settings["label_counts"])
    with ThreadPoolExecutor(cores()) as pool:
        p = np.concatenate(list(pool.map(lambda part: p_of(part, settings), in_slices(mined))))
        q = QValues(p.copy())
        least = np.concatenate(list(pool.map(lambda part: least_q(part, q, settings), in_slices(mined))))
    kept = least * n_labels <= up_to
    own = mined.take(np.flatnonzero(kept))
    words = Words(vocabulary)
    frame = rows_of(own.take(words.order(own)), words, q, label_names, settings)
    return PatternTable(label_names, settings, frame, tokenizer), p[~kept]


def description(label_names: tuple[str, ...], settings: dict[str, Any]) -> dict[str, str]:
    """What a file of patterns says about itself, as metadata of Parquet."""
    about = {"schema_version": SCHEMA_VERSION, "label_names": label_names, "settings": settings}
    return {_METADATA_KEY: json.dumps(about)}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return html.escape(visible(value))


@dataclass(frozen=True)
class PatternFile:
    """A file of patterns that may be too many for memory; the same file that `PatternTable.write` writes.

    Attributes:
        path: Where it is.
        label_names: Labels in the order of `counts`.
        settings: What the patterns were mined with.
    """

    path: Path
    label_names: tuple[str, ...]
    settings: dict[str, Any]

    def __len__(self) -> int:
        return int(self.settings["n_mined"])

    def read(self) -> PatternTable:
        """The whole table in memory."""
        return PatternTable.read(self.path)

    def parts(self) -> Iterator[PatternTable]:
        """The table in parts of at most some hundred thousand rows, in order; at least one, which may be empty."""
        rows = pl.scan_parquet(self.path)
        for begin in range(0, max(len(self), 1), PART):
            yield PatternTable(self.label_names, self.settings, rows.slice(begin, PART).collect())
