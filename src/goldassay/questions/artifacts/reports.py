"""The reports of `artifacts mine` and `artifacts assign`, and what commands write beside their tables."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import FILE_NAME, TIMING_NAME, About, Input
from goldassay.core.finding import Finding
from goldassay.core.results import to_plain
from goldassay.core.verdicts import Headline, Verdict
from goldassay.questions.artifacts.inputs import SEPARATOR, texts_for
from goldassay.questions.artifacts.measures.matching import mark_pattern
from goldassay.questions.artifacts.result import (
    ClassedExamples,
    ClassedWith,
    ClassSize,
    PatternsResult,
    ValueRow,
)
from goldassay.questions.artifacts.shortlist import STANDING, ranked_by_gain, shares
from goldassay.questions.inputs import describe_input
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.report.html import render_html
from goldassay.report.markdown import render_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.clusters import Confirmation
    from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment
    from goldassay.questions.artifacts.measures.pattern_table import PatternFile, PatternTable
    from goldassay.report.report import Report


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
