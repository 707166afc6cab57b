"""Of all mined patterns those that a report needs, the phrases they are fragments of, and examples behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.questions.artifacts.inputs import SEPARATOR
from goldassay.questions.artifacts.measures.matching import mark_pattern
from goldassay.questions.artifacts.measures.mining import fold_redundant, parts_below
from goldassay.questions.artifacts.measures.pattern_table import PatternFile, PatternTable
from goldassay.questions.artifacts.measures.presence import (
    ExampleSample,
    PredictivePatterns,
    RowSignatures,
    lifted_patterns,
)
from goldassay.questions.artifacts.result import MarkedExample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from goldassay.questions.artifacts.training import Training

POINTS_IN_SCATTER = 3000
CURVE = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
# Findings that are folded: of more, the strongest of each label. A reader looks at the first dozens.
FOLDED_AT_MOST = 100_000
# Of findings: those that were folded under no other. Those that were not judged have no `n_folded`.
STANDING = pl.col("n_folded").is_not_null() & pl.col("folded_under").is_null()
_POINT = ("pattern", "support", "probability", "label")


@dataclass(frozen=True)
class Shortlist(PredictivePatterns):
    """What a report says of mined patterns is made from these.

    Attributes:
        judged: Positions of those among the selected that are folded, ascending: all, or the strongest.
        below: The significant parts of the judged that are not among them.
        for_curve: The significant ones whose share exceeds the first of `thresholds`, to be counted alone.
        thresholds: Of the curve of coverage.
        scatter: Points for the picture: the most frequent patterns and, of the rest, those most telling.
    """

    judged: NDArray[np.int64]
    below: PatternTable
    for_curve: PatternTable
    thresholds: tuple[float, ...]
    scatter: list[dict[str, Any]]

    def findings(self) -> pl.DataFrame:
        """The selected, folded; `folded_under` and `n_folded` are both null where one was not judged."""
        folded = fold_redundant(self.selected.take(self.judged), self.below)
        place = np.full(len(self.selected), -1)
        place[self.judged] = np.arange(self.judged.size)
        at = pl.Series(place).set(pl.Series(place < 0), None)
        return self.selected.to_frame().with_columns(folded[name].gather(at) for name in ("folded_under", "n_folded"))


def _anything_fits(_: int) -> bool:
    return True


def shortlist(
    parts: Callable[[], Iterable[PatternTable]],
    q: float,
    threshold: float,
    *,
    hold: Callable[[int], None] | None = None,
    fits: Callable[[int], bool] = _anything_fits,
) -> Shortlist:
    """Go through patterns and keep what a report needs.

    Args:
        parts: Gives the parts of a table in order; called several times.
        q: Largest q of a significant pattern.
        threshold: The share that the selected exceed.
        hold: Told how many are selected so far; raises where they are too many.
        fits: Whether so many can be held for the curve; where they cannot, it begins at a higher threshold.
    """
    selected: list[PatternTable] = []
    curve: list[PatternTable] = []
    thresholds = list(CURVE)
    frequent: pl.DataFrame | None = None
    predictive: pl.DataFrame | None = None
    n_mined = n_significant = n_selected = n_curve = 0
    for part in parts():
        significant = part.significant(q)
        n_mined += len(part)
        n_significant += len(significant)
        selected.append(significant.select(threshold))
        n_selected += len(selected[-1])
        if hold is not None:
            hold(n_selected)
        curve.append(significant.select(thresholds[0]).to_count())
        n_curve += len(curve[-1])
        while not fits(n_curve) and len(thresholds) > 1:
            del thresholds[0]
            curve = [each.select(thresholds[0]) for each in curve]
            n_curve = sum(map(len, curve))
        frequent, predictive = _scattered(frequent, predictive, significant.to_frame().select(_POINT))
    # Of millions of patterns each table takes hundreds of megabytes.
    del part, significant
    assert frequent is not None
    assert predictive is not None
    chosen = PatternTable.joined(selected)
    judged = _strongest(chosen, FOLDED_AT_MOST)
    return Shortlist(
        selected=chosen,
        judged=judged,
        below=parts_below(chosen.take(judged), (part.significant(q) for part in parts())),
        lifted=lifted_patterns(parts(), q),
        for_curve=PatternTable.joined(curve),
        thresholds=tuple(thresholds),
        scatter=pl.concat([frequent, predictive]).to_dicts(),
        n_significant=n_significant,
        n_mined=n_mined,
        q=q,
        threshold=threshold,
    )


def _strongest(patterns: PatternTable, n: int) -> NDArray[np.int64]:
    """Positions, ascending, of the n rows that come first where each label in turn gives its next.

    Within a label by support x (probability - share of the label), as a report lists them, so that a rare label's are
    there too. Of equal ones the first.
    """
    frame, codes = patterns.to_frame(), patterns.label_codes()
    counts = np.array(patterns.settings["label_counts"], np.float64)
    share = counts[codes] / max(counts.sum(), 1.0)
    gain = frame["support"].to_numpy() * (frame["probability"].to_numpy() - share)
    order = np.lexsort((-gain, codes))
    turn = np.empty(order.size, np.int64)
    turn[order] = np.arange(order.size) - np.searchsorted(codes[order], codes[order])
    return np.sort(np.lexsort((-gain, turn))[:n])


def _scattered(
    frequent: pl.DataFrame | None, predictive: pl.DataFrame | None, rows: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The first half of the points by order, and the other half by how telling they are, of all rows so far."""
    half = POINTS_IN_SCATTER // 2
    first = rows.clear() if frequent is None else frequent
    n_more = half - first.height
    first, rest = pl.concat([first, rows.head(n_more)]), rows.slice(n_more)
    best = rest if predictive is None else pl.concat([predictive, rest])
    return first, best.sort("probability", "support", descending=True, maintain_order=True).head(half)


def of_table(mined: PatternTable, q: float, threshold: float) -> Shortlist:
    """The shortlist of a table in memory."""
    return shortlist(lambda: [mined], q, threshold)


def predictive_patterns_of(mined: PatternTable, q: float, threshold: float) -> PredictivePatterns:
    """Of the shortlist of a table in memory what guessing needs; a control takes no more."""
    n_significant, selected = mined.predictive(q, threshold)
    return PredictivePatterns(
        selected=selected,
        lifted=lifted_patterns([mined], q),
        n_significant=n_significant,
        n_mined=int(mined.settings["n_mined"]),
        q=q,
        threshold=threshold,
    )


def shares(mined: PatternTable | PatternFile) -> dict[str, float]:
    """Each label's share of the sentences that were mined."""
    counts = np.array(mined.settings["label_counts"], np.float64)
    return dict(zip(mined.label_names, (counts / max(counts.sum(), 1.0)).tolist(), strict=True))


def ranked_by_gain(findings: pl.DataFrame, prior: dict[str, float]) -> pl.DataFrame:
    """The findings that stand for themselves, with their position `at`, by how much more than by chance they tell.

    Ranked by the examples they give away beyond the label's share, support x (probability - share): a pattern in ten
    examples with p = 1 matters less than one in a thousand with p = .9.
    """
    share = pl.col("label").replace_strict(prior, return_dtype=pl.Float64)
    return (
        findings.with_row_index("at")
        .filter(STANDING)
        .sort(pl.col("support") * (pl.col("probability") - share), descending=True, maintain_order=True)
    )


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


SAMPLE = 5


def sample_examples(
    patterns: PatternTable, rows: Sequence[int], train: Training, seed: int, size: int = SAMPLE
) -> dict[int, tuple[MarkedExample, ...]]:
    """For each row of a table, a few examples that hold its pattern, drawn at random among different texts.

    Drawn and not the first of the file, so that the labels are those a reader may expect: examples that speak against
    the pattern are among them as often as among all.

    Args:
        patterns: The table.
        rows: Positions in it.
        train: The examples.
        seed: Of the draw.
        size: Most examples a pattern.

    Returns:
        Row to its sample, in the order of the dataset. Marked are the tokens of the pattern where it first is in the
        text; those that it skips are not.
    """
    if not rows:
        return {}
    wanted = patterns.take(rows)
    drawn = ExampleSample(wanted, size, seed)
    for corpus, codes in train.corpora():
        drawn.add(corpus, codes)
    positions = drawn.positions()
    every = sorted({position for part in positions for position in part})
    shown = dict(zip(every, train.examples(every), strict=True))
    frame = wanted.to_frame()
    found: dict[int, tuple[MarkedExample, ...]] = {}
    for i, row in enumerate(rows):
        tokens, gaps = frame["tokens"][i].to_list(), frame["gaps"][i].to_list()
        drawn_here = []
        for example in (shown[position] for position in positions[i]):
            marked = mark_pattern(example.text, example.tokens, tokens, gaps)
            text = marked.text.replace(SEPARATOR, "\n")
            drawn_here.append(MarkedExample(example.example_id, example.label, text, marked.spans))
        found[row] = tuple(drawn_here)
    return found
