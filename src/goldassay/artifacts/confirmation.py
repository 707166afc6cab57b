"""Do the patterns found on one part of the data hold on another?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts.label_codes import encode_labels
from goldassay.artifacts.pattern_clusters import ClusteredSentences, HeldOut, design_effects
from goldassay.artifacts.pattern_statistics import effective_tail, matrix
from goldassay.core.arguments import is_number
from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.intervals import wilson_bounds
from goldassay.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import TokenizedCorpus, Tokenizer


@dataclass(frozen=True, eq=False)
class Confirmation(Result):
    """Each pattern on held-out data beside where it was found.

    Attributes:
        n_patterns: Rows of the table.
        n_present: Those found in a held-out sentence at all; only these are tested.
        n_confirmed: Those whose excess of their label is significant there.
        q: Largest q_value that confirms.
        table: pattern, label, support, probability (where it was mined); test_support, test_probability,
            test_low, test_high (held out; Wilson, 95 %), p_value, q_value (NaN where the pattern is absent), confirmed.
    """

    n_patterns: int
    n_present: int
    n_confirmed: int
    q: float
    table: pl.DataFrame

    @property
    def share_confirmed(self) -> float:
        """Confirmed among those present; NaN where none is."""
        return self.n_confirmed / self.n_present if self.n_present else float("nan")

    def to_frame(self) -> pl.DataFrame:
        """The table, in the order of the patterns."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """The numbers, without the table."""
        share = self.share_confirmed if self.n_present else None
        return {
            "n_patterns": self.n_patterns,
            "n_present": self.n_present,
            "n_confirmed": self.n_confirmed,
            "share_confirmed": share,
            "q": self.q,
        }


def confirm_patterns(
    patterns: PatternTable,
    sentences: Sequence[str] | TokenizedCorpus,
    labels: Sequence[Any] | NDArray[Any],
    q: float = 0.05,
    tokenizer: Tokenizer | None = None,
    *,
    clusters: NDArray[np.int64] | None = None,
) -> Confirmation:
    """Test on held-out data whether each pattern still goes with its label.

    A pattern is confirmed where P(X >= k), X binomial with n trials at the label's held-out share, has a
    Benjamini-Hochberg q_value <= q among the patterns present: n held-out sentences hold it, k of them with its
    label. The label's share and not the mining threshold is what it is tested against, since a threshold is exceeded
    by half of the patterns that lie on it. A pattern too rare to be tested well is not confirmed; the table shows
    its interval.

    Args:
        patterns: Mined on other data, cut by `select` or `significant`.
        sentences: Held-out strings, or a corpus tokenized the same way.
        labels: Their labels; sentences without one are left out.
        q: Share of chance finds to accept among the confirmed.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.
        clusters: Codes from 0 of sentences that do not count by themselves, (N,): p is then that of fewer sentences by
            the design effect, as where patterns are mined (`allow_for_clusters`).

    Raises:
        InputError: q is not between 0 and 1, or labels or tokenizer do not fit the patterns.
    """
    if not is_number(q) or not 0 < q < 1:
        raise InputError(f"q is {q!r}", mend="choose a share between 0 and 1")
    names = patterns.label_names
    held_out = patterns.count_in(sentences, labels, tokenizer)
    codes, _ = encode_labels(labels, names, len(sentences))
    label_counts = np.bincount(codes[codes >= 0], minlength=len(names))
    prior = label_counts / max(int(label_counts.sum()), 1)
    n = held_out["support"].to_numpy()
    counts = matrix(held_out["counts"], len(names))
    own = patterns.label_codes()
    k = counts[np.arange(len(patterns)), own]
    present = n > 0
    p_values = np.full(len(patterns), np.nan)

    effects: NDArray[np.float64] | float = 1.0
    if clusters is not None:
        kept = codes >= 0
        corpus = patterns.tokenized(sentences, tokenizer)
        together = ClusteredSentences.of(corpus.take(kept), codes[kept], clusters[kept], len(names))
        at = np.flatnonzero(present)
        found = design_effects(patterns, at, together, HeldOut(counts.astype(np.int64), prior))
        effects = found[np.arange(at.size), own[at]]
    p_values[present] = effective_tail(k[present], n[present], prior[own[present]], effects)
    q_values = benjamini_hochberg(p_values)
    low, high = wilson_bounds(k, n)
    confirmed = present & (np.nan_to_num(q_values, nan=1.0) <= q)
    table = (
        patterns.to_frame()
        .select("pattern", "label", "support", "probability")
        .with_columns(
            test_support=held_out["support"],
            test_probability=held_out["probability"],
            test_low=pl.Series(low),
            test_high=pl.Series(high),
            p_value=pl.Series(p_values),
            q_value=pl.Series(q_values),
            confirmed=pl.Series(confirmed),
        )
    )
    return Confirmation(len(patterns), int(present.sum()), int(confirmed.sum()), q, table)
