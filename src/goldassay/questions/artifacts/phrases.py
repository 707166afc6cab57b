"""One row a phrase: patterns of the same training examples are fragments of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.artifacts.row_signatures import RowSignatures

if TYPE_CHECKING:
    from goldassay.artifacts import PatternTable
    from goldassay.questions.artifacts.searched import Training


@dataclass(frozen=True)
class Phrase:
    """A pattern that stands for all that are in the same training examples.

    Attributes:
        head: Its row: the pattern of most tokens, of these the one of fewest gaps.
        fragments: Rows of the other patterns that stood for themselves.
        standing: Names of all that stood for themselves, under which others are folded.
    """

    head: dict[str, Any]
    fragments: tuple[dict[str, Any], ...]
    standing: tuple[str, ...]

    @property
    def n_folded(self) -> int | None:
        """How many patterns it stands for beside its own; None where nothing was folded."""
        counts = [row["n_folded"] for row in (self.head, *self.fragments) if row["pattern"] in self.standing]
        if None in counts:
            return None
        return sum(counts) + len(self.standing) - 1


def find_phrases(
    ranked: pl.DataFrame, findings: pl.DataFrame, selected: PatternTable, train: Training, most: int
) -> dict[str, list[Phrase]]:
    """The first `most` phrases of each label.

    Patterns with the same label and the same training examples are one phrase. Its head may be a pattern that was
    folded under one of them, and spells out what they are fragments of.

    Args:
        ranked: The findings that stand for themselves, in order, with their position `at`.
        findings: All findings, in the order of `selected`.
        selected: The table that positions count in.
        train: What they were mined from.
        most: Phrases a label.
    """
    own = {label: ranked.filter(pl.col("label") == label) for label in selected.label_names}
    # Fragments take places in the order, so that more than `most` patterns may make up as many phrases.
    candidates = pl.concat([rows.head(5 * most) for rows in own.values()])
    shared = candidates.filter(pl.len().over("label", "support") > 1)
    spelled = findings.with_row_index("at").join(
        shared.select("label", "support", folded_under="pattern").unique(),
        on=["label", "support", "folded_under"],
        how="semi",
    )
    wanted = [*shared["at"].to_list(), *spelled["at"].to_list()]
    signatures = _signatures(selected, wanted, train)
    longer: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in spelled.iter_rows(named=True):
        longer.setdefault((row["label"], signatures[row["at"]]), []).append(row)
    found: dict[str, list[Phrase]] = {}
    for label, rows in own.items():
        groups: dict[Any, list[dict[str, Any]]] = {}
        for row in rows.head(5 * most).iter_rows(named=True):
            # A pattern without a signature shares its examples with no other.
            groups.setdefault(signatures.get(row["at"], row["pattern"]), []).append(row)
        found[label] = [_phrase(members, longer.get((label, key), [])) for key, members in list(groups.items())[:most]]
    return found


def _phrase(members: list[dict[str, Any]], spelled: list[dict[str, Any]]) -> Phrase:
    head = members[0]
    if len(members) > 1:
        head = max([*members, *spelled], key=lambda row: (len(row["tokens"]), -sum(row["gaps"])))
    fragments = tuple(row for row in members if row["pattern"] != head["pattern"])
    return Phrase(head, fragments, tuple(row["pattern"] for row in members))


def _signatures(selected: PatternTable, wanted: list[int], train: Training) -> dict[int, int]:
    if not wanted:
        return {}
    signatures = RowSignatures(selected.take(wanted))
    for corpus, codes in train.corpora():
        signatures.add(corpus, codes)
    return dict(zip(wanted, signatures.values.tolist(), strict=True))
