"""The reports of `artifacts mine` and `artifacts assign`, and what commands write beside their tables.

Of all mined patterns those that a report needs, the phrases they are fragments of, and examples behind them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import FILE_NAME, TIMING_NAME, About, Input
from goldassay.core.results import Headline, Verdict, to_plain
from goldassay.core.sections import Finding
from goldassay.questions.artifacts.inputs import SEPARATOR, texts_for
from goldassay.questions.artifacts.measures.matching import mark_pattern
from goldassay.questions.artifacts.measures.mining import fold_redundant, parts_below
from goldassay.questions.artifacts.measures.pattern_table import PatternFile, PatternTable
from goldassay.questions.artifacts.measures.presence import (
    ExampleSample,
    PredictivePatterns,
    RowSignatures,
    lifted_patterns,
)
from goldassay.questions.artifacts.result import (
    ClassedExamples,
    ClassedWith,
    ClassSize,
    MarkedExample,
    PatternsResult,
    ValueRow,
)
from goldassay.questions.inputs import describe_input
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.report.html import render_html
from goldassay.report.markdown import render_markdown
from goldassay.report.without_texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.clusters import Confirmation
    from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment
    from goldassay.questions.artifacts.training import Training
    from goldassay.report.report import Report
    from goldassay.report.without_texts import HiddenTexts


def write_report(report: Report, table_names: Sequence[str], folder: Path) -> None:
    """Write report.html, report.json, timing.json, report.md and figures/NAME.svg next to the tables of a folder.

    The tables stay next to the page and not in a folder of their own: their paths are what other commands are given.
    """
    texts = {
        "report.html": render_html(report, tuple(table_names), ""),
        FILE_NAME: report.to_json(),
        TIMING_NAME: report.timing_json(),
        "report.md": render_markdown(report, ""),
        **{f"figures/{name}.svg": svg for name, svg in report.drawings().items()},
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "replace"))


def texts_of_datasets(*datasets: Dataset) -> HiddenTexts:
    """All texts of some datasets, to hide them in what is written."""
    return texts_of([each.examples for each in datasets], {name for each in datasets for name in each.text_columns})


def without_whole_texts(patterns: PatternTable, texts: HiddenTexts) -> PatternTable:
    """The patterns without those in which a whole text, or its beginning, is."""
    named = patterns.to_frame()["pattern"]
    whole = [name for name in named.unique() if texts.has(name)]
    return patterns.take(np.flatnonzero(~named.is_in(whole).to_numpy())) if whole else patterns


def as_json(value: Mapping[str, Any]) -> str:
    """A result as JSON; what is not defined is null."""
    text = json.dumps(to_plain(dict(value)), ensure_ascii=False, allow_nan=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


SAMPLE_PER_CLASS = 12
STRONGEST_PER_VALUE = 3
STRONGEST = 10
MAX_VALUES = 100
TESTED = ("test_support", "test_probability")


def report_of_finding(
    finding: Finding,
    dataset: About,
    inputs: Sequence[Input],
    test: str | None,
    steps: Steps,
    settings: Settings,
    condition: str | None = None,
    by_value: Sequence[ValueRow] = (),
    notes: Sequence[str] = (),
    tables: Mapping[str, pl.DataFrame] = MappingProxyType({}),
) -> Report:
    """The report on mined patterns, wherever they and what they were mined from are.

    Args:
        finding: Figures and verdict, from `search.answer`.
        dataset: Name, labels and text columns of what they were mined from.
        inputs: Where the data came from, as `describe_input` says it.
        test: Name of what they were tried on, or None.
        steps: What was done, and when.
        settings: Hold the limits of the verdict.
        condition: The column that the rows were also parted by, or None.
        by_value: The rows of each of its values, as `rows_of_value` gives them.
        notes: What a reader has to know of the data, from `data_notes`.
        tables: That the report holds.
    """
    found = finding.result
    assert finding.verdict is not None
    assert isinstance(found, PatternsResult)
    found = replace(
        found, table="findings", condition=condition if by_value else None, by_value=tuple(by_value)
    )  # fmt: skip
    document = {
        "questions": ["artifacts"],
        "dataset": dataset,
        "inputs": list(inputs),
        **({"data_notes": list(notes)} if notes else {}),
        "artifacts": found,
        "settings": {
            **found.settings.to_dict(),
            "seed": settings.seed,
            "verdicts": settings.verdicts.artifacts.model_dump(mode="json"),
        },
    }
    title = f"Artifacts of {dataset.name}" + ("" if test is None else f", tried on {test}")
    framed = frame_findings(title, document, steps, settings, verdicts={"artifacts": finding.verdict})
    return compose_report(framed, tables, findings=[replace(finding, result=found)])


def rows_of_value(value: str, patterns: PatternTable | PatternFile, findings: pl.DataFrame) -> list[ValueRow]:
    """The sizes of one value's patterns, and a row for each of its strongest folded findings."""
    sizes = ValueRow(value, patterns.settings["n_sentences"], len(patterns), findings.height)
    strongest = ranked_by_gain(findings, shares(patterns)).head(STRONGEST_PER_VALUE)
    rows = strongest.select("pattern", "label", "support", "probability", "wilson_low", "wilson_high")
    return [replace(sizes, **row) for row in rows.iter_rows(named=True)] or [sizes]


def figures_of(
    patterns: PatternTable | PatternFile, findings: pl.DataFrame, confirmation: Confirmation | None
) -> dict[str, Any]:
    """What the result of mining says of patterns, wherever they are, and of the findings among them."""
    return {
        "settings": patterns.settings,
        "label_names": list(patterns.label_names),
        "n_patterns": len(patterns),
        "n_findings": findings.height,
        "n_unfolded": int(findings.select(STANDING.sum()).item()),
        "n_not_folded": findings["n_folded"].null_count(),
        "strongest": strongest(findings, patterns, STRONGEST).to_dicts(),
        "confirmation": None if confirmation is None else confirmation.to_dict(),
    }


def strongest(findings: pl.DataFrame, patterns: PatternTable | PatternFile, k: int) -> pl.DataFrame:
    """Rows for reading, by label, then by gain; with test_support and test_probability where there is a test set."""
    ranked = ranked_by_gain(findings, shares(patterns))
    columns = ("label", "pattern", "support", "probability", "wilson_low", "q_value", "n_folded", *TESTED)
    return pl.concat(ranked.filter(pl.col("label") == label).head(k) for label in patterns.label_names).select(
        column for column in columns if column in ranked.columns
    )


def report_of_subsets(
    figures: Mapping[str, Any],
    assignment: DifficultyAssignment,
    patterns: PatternTable,
    test: Dataset,
    train: Dataset | None,
    steps: Steps,
    settings: Settings,
) -> Report:
    """The report on the classes of a test set: their sizes, and a sample of each with what decided.

    Args:
        figures: Those of `Subsets.to_dict`.
        assignment: The classes.
        patterns: What decided.
        test: The examples.
        train: What the patterns were mined from, if it is at hand.
        steps: What was done, and when.
        settings: Hold the seed of the sample.
    """
    mined_with = patterns.settings
    n = len(assignment)
    found = ClassedExamples(
        applies_to=mined_with.get("text", test.text_columns[-1]),
        difficulty={name: ClassSize(size, size / n) for name, size in assignment.summary.items()},
        sizes=tuple(figures["sizes"]),
        overlap=figures["overlap"],
        judged=figures["judged"],
        sample=_sample(assignment, patterns, test, settings.seed),
        settings=ClassedWith(mined_with.get("threshold"), mined_with["min_count"]),
    )
    verdict = _classed(figures)
    findings = {
        "questions": ["artifacts"],
        "dataset": About(name=test.name, label_names=test.label_names, text_columns=test.text_columns),
        "inputs": [*([] if train is None else [describe_input("train", train)]), describe_input("test", test)],
        "artifacts": found,
        "settings": {"patterns": {**mined_with, "label_counts": dict(_counted(patterns))}},
    }
    framed = frame_findings(
        f"Easy and hard examples of {test.name}", findings, steps, settings, verdicts={"artifacts": verdict}
    )
    return compose_report(framed, findings=[Finding("artifacts", verdict, result=found)])


def _classed(figures: Mapping[str, Any]) -> Verdict:
    """What stands in the place of a verdict: classing examples judges nothing."""
    summary = figures["summary"]
    decided = summary["easy"] + summary["hard"]
    evidence = (
        f"{figures['patterns']['n_patterns']:,} patterns class {decided:,} of {figures['n_examples']:,} test examples: "
        f"{summary['easy']:,} easy, {summary['hard']:,} hard. This page judges nothing: goldassay audit does."
    )
    next_step = "Measure models on both: goldassay artifacts gap subsets.parquet --runs RUNS."
    if not decided:
        return Verdict("not measurable", evidence, None, "Lower the threshold, or mine more training data.", "")
    bounds = figures["easy_share_interval"]
    headline = Headline("easy of easy and hard", figures["easy_share"], bounds["low"], bounds["high"], "share")
    return Verdict("not measurable", evidence, headline, next_step, "")


def _sample(
    assignment: DifficultyAssignment, patterns: PatternTable, test: Dataset, seed: int
) -> tuple[dict[str, Any], ...]:
    """Some examples of each class that hold a pattern, drawn at random, with the pattern of highest probability."""
    texts = texts_for(test, patterns)
    frame = patterns.to_frame()
    probability = frame["probability"].to_numpy()
    ids, labels = (test.examples[name].to_list() for name in ("example_id", "label"))
    rng = np.random.default_rng(seed)
    rows = []
    for name in ("hard", "conflicting", "easy"):
        members = np.flatnonzero(assignment.classes == name)
        drawn = np.sort(rng.choice(members, min(SAMPLE_PER_CLASS, members.size), replace=False)).tolist()
        places = assignment.rows[drawn].tolist()
        cut = patterns.tokenized([texts[place] for place in places])
        for k, (at, place) in enumerate(zip(drawn, places, strict=True)):
            held = assignment.pattern_ids_of(at)
            decisive = frame.row(int(held[probability[held].argmax()]), named=True)
            marked = mark_pattern(texts[place], cut.sentence(k), decisive["tokens"], decisive["gaps"])
            rows.append(
                {
                    "class": name,
                    "example_id": ids[place],
                    "text": marked.text.replace(SEPARATOR, "\n"),
                    "marks": [list(span) for span in marked.spans],
                    "label": labels[place],
                    "pattern": decisive["pattern"],
                    "pattern_label": decisive["label"],
                    "probability": decisive["probability"],
                    "n_patterns": len(held),
                }
            )
    return tuple(rows)


def _counted(patterns: PatternTable) -> list[tuple[str, int]]:
    return list(zip(patterns.label_names, patterns.settings["label_counts"], strict=True))


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
