"""The audit of multiple-choice items: what rules, the choices alone and the question alone give away."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.finding import Finding
from goldassay.core.verdicts import not_asked
from goldassay.data.row_keys import ITEM_COLUMNS, item_frame
from goldassay.questions.checks import FURTHER, registered_checks
from goldassay.questions.data_notes import data_notes, describe_clusters
from goldassay.questions.evidence import Evidence
from goldassay.questions.example_clusters import NONE
from goldassay.questions.first_rows import MOST_ROWS, first_rows, table_of_rows
from goldassay.questions.item_patterns import RIGHT, WRONG, find_item_patterns
from goldassay.questions.item_rows import defects, found_by_rule, items_to_read, told_by_part
from goldassay.questions.leakage.check import CHECK as LEAKAGE
from goldassay.questions.leakage.choices import BY_SUBJECT, RULE, choice_evidence
from goldassay.questions.leakage.measures.choice_subjects import untrained_picks
from goldassay.questions.leakage.options import LeakageChoice
from goldassay.questions.overlap.in_audit import search_for
from goldassay.questions.overlap.items import items_of_choices
from goldassay.questions.overlap.sections import LEAD
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.row_details.copies import copies_in_training, copies_within
from goldassay.questions.row_details.words import words_of_texts
from goldassay.questions.suspect.result import SuspectResult

if TYPE_CHECKING:
    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data.items import ChoiceItems
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence
    from goldassay.questions.leakage.posed_items import Posed
    from goldassay.questions.overlap.in_audit import CorpusChoice
    from goldassay.report.report import Report


def refuse_runs(runs: Any, elsewhere: Any, model: str | None, items: str, corpus: Any = None) -> None:
    """Runs, other sets and networks are not judged on items with choices, nor on preferences.

    Args:
        runs: As given.
        elsewhere: As given.
        model: As given.
        items: What the data hold.
        corpus: As given, where it is not searched for such items.

    Raises:
        InputError: One is given.
    """
    for given, name, mend in (
        (runs, "runs", "leave them out, and ask goldassay instability about the runs alone"),
        (elsewhere, "elsewhere", "leave it out"),
        (model, "model", "leave it out: quick probes read them"),
        (corpus, "corpus", "leave it out"),
    ):
        if given:
            raise InputError(f"{option(name)}: an audit of {items} does not use it", mend=mend)


def _left(question: str, items: str) -> dict[str, str]:
    """What is said of a question that needs runs or other sets."""
    step = "Ask goldassay instability about the runs alone." if question == "instability" else ""
    return {"evidence": f"Not asked of {items}: {question}. {step}".strip(), "next_step": step}


def audit_items(posed: Posed, settings: Settings, steps: Steps, corpus: CorpusChoice | None = None) -> Report:
    """Audit items with choices; what is measured is what `leakage measure` measures of them.

    Args:
        posed: The items.
        settings: All of an audit.
        steps: Progress.
        corpus: What may have been trained on; searched where it has places.
    """
    # Leakage and artifacts both ask for them, and only where all else is sound.
    untrained = cache(lambda: untrained_picks(posed.test))

    def read(_: Evidence) -> ConditionEvidence:
        with steps.step("training quick probes") as progress:
            return choice_evidence(
                posed, range(settings.seed, settings.seed + settings.leakage.seeds), settings, progress, untrained
            )

    kind = posed.test.kind
    evidence = Evidence(settings=settings, steps=steps, make_readers=read)
    finding = LEAKAGE.measure(evidence, LeakageChoice(cluster=False, map=False))
    assert finding.verdict is not None
    found = evidence.readers
    rules = [each for each in finding.results["effects"]["effects"] if each["reader"].startswith(RULE)]
    by_subject = [each for each in finding.results["effects"]["effects"] if each["reader"] == BY_SUBJECT]
    patterns = find_item_patterns(posed, [*rules, *by_subject], untrained, settings, steps)
    assert patterns.verdict is not None
    verdicts: dict[str, dict[str, Any]] = {
        "artifacts": patterns.verdict.to_dict(),
        "leakage": finding.verdict.to_dict(),
    }
    checks = [each for each in registered_checks() if each.question not in FURTHER]
    verdicts |= {
        each.question: {**not_asked(each.question, each.needs), **_left(each.question, kind.items)}
        for each in checks
        if each.needs
    }
    given_away = zip_longest(found_by_rule(found.rules, rules, kind), told_by_part(finding.tables["examples"], kind))
    named = list(islice((each for pair in given_away for each in pair if each is not None), MOST_ROWS))
    finding = replace(finding, first_rows=items_to_read(posed.test, named))
    first = (*items_to_read(posed.test, defects(posed.test)), *first_rows((patterns, finding)))[:MOST_ROWS]
    document: dict[str, Any] = {
        "verdicts": {each.question: {**verdicts[each.question], "question": each.asks} for each in checks},
        "dataset": {
            "name": found.name,
            "label_names": list(found.label_names),
            "kind": kind.name,
            "most_choices": len(found.label_names),
            "n_test": found.gold.size,
            "text_columns": [],
            "conditions": list(found.conditions),
        },
        "inputs": list(found.inputs),
        "clusters": describe_clusters(found.grouping),
        "data_notes": [*data_notes(None, None, found.grouping, ()), *found.notes],
        "artifacts": patterns.results,
        "leakage": finding.results,
        "suspect": SuspectResult(_WHY_NO_SUSPECTS),
        "settings": settings.model_dump(mode="json"),
    }
    examples = _examples(posed.test, patterns, finding)
    tables = {**patterns.tables, **finding.tables, "examples": examples, "words": _words(posed, settings)}
    findings = [finding, *_suspects(posed.test, examples)]
    if corpus is not None and (corpus.places or posed.train is not None):
        overlap = _overlap(posed, corpus, settings, steps)
        assert overlap.verdict is not None
        document["verdicts"]["overlap"] = {**overlap.verdict.to_dict(), "question": LEAD}
        document["overlap"] = overlap.results
        tables |= overlap.tables
        tables["examples"] = examples.with_columns(values.alias(name) for name, values in overlap.examples.items())
        findings.append(overlap)
    copies = _copies(posed, examples, tables.get("overlap_places"))
    if copies.height:
        tables["near_copies"] = copies
    framed = frame_findings(f"Audit of {found.name}", document, steps, settings)
    return compose_report(framed, tables, first=table_of_rows(first), findings=findings)


def _overlap(posed: Posed, corpus: CorpusChoice, settings: Settings, steps: Steps) -> Finding:
    """Search the training items and the corpus for the items."""
    items = items_of_choices(posed.test, posed.inputs[-1], settings.data.clusters)
    if posed.train is None:
        return search_for(items, (), corpus, settings, steps)
    training = items_of_choices(posed.train, {}, NONE).items
    # With all choices in their order, and with the right one alone: a copy may have turned or other choices.
    renderings = ([item.parts for item in training], [item.renderings[-1] for item in training if item.renderings])
    rows = []
    for chosen in filter(None, renderings):
        pairs = zip(training, chosen, strict=True)
        texts = ["\n".join([*(text for _, text in parts), item.answer]) for item, parts in pairs]
        rows.append(pl.Series(texts, dtype=pl.String))
    return search_for(items, rows, corpus, settings, steps)


def _examples(items: ChoiceItems, patterns: Finding, finding: Finding) -> pl.DataFrame:
    """One row an item: its parts, its class by patterns, its subject, and what each reader says of it."""
    read = finding.tables["examples"]
    parts = item_frame(items).with_columns(read["example_id"])
    if items.subjects is not None:
        parts = parts.with_columns(items.subjects.cast(pl.String).alias("group_subject"))
    if items.problems.height:
        why = _problems(items)
        kinds = ["defect" if each else "no" for each in why]
        parts = parts.with_columns(
            pl.Series("suspect", kinds, dtype=pl.String), pl.Series("defect", why, dtype=pl.String)
        )
    classes = patterns.tables.get("difficulty")
    if classes is not None and classes["example_id"].equals(read["example_id"]):
        parts = parts.with_columns(classes["difficulty"])
    return parts.hstack(read.select(pl.exclude(*parts.columns)))


def _copies(posed: Posed, examples: pl.DataFrame, places: pl.DataFrame | None) -> pl.DataFrame:
    """Copies of each item among the items and the training items; the order of choices makes no other item."""
    found = copies_within(_texts(examples), examples["example_id"], examples["answer"].list.join(" / "))
    if posed.train is None:
        return found
    known = item_frame(posed.train)
    own = known["example_id"], known["answer"].list.join(" / ")
    return pl.concat([found, copies_in_training(places, _texts(known), *own)])


def _texts(items: pl.DataFrame) -> list[pl.Series]:
    return [items["passage"], items["question"], items["choices"].list.sort().list.join("\n")]


def _words(posed: Posed, settings: Settings) -> pl.DataFrame:
    """Words that lean to right or to wrong choices; of the items themselves where there are none to learn from."""
    known = posed.train or posed.test
    codes = known.right.astype(np.int64)
    return words_of_texts({"choices": known.texts}, codes, (WRONG, RIGHT), q=settings.artifacts.q, seed=settings.seed)


def _problems(items: ChoiceItems) -> list[str | None]:
    """What cannot be right in each item; None where nothing is found."""
    known = items.problems.group_by("row", maintain_order=True).agg(pl.col("reason").unique(maintain_order=True))
    reasons = dict(known.with_columns(pl.col("reason").list.join("; ")).iter_rows())
    return [reasons.get(row) for row in items.rows.tolist()]


# Of items with choices only what needs no model is looked for.
_WHY_NO_SUSPECTS = "Items with choices are checked for defects, and no answers of models are held against them."


def _suspects(items: ChoiceItems, examples: pl.DataFrame) -> list[Finding]:
    """The items whose answer may be wrong, by what needs no model."""
    if "defect" not in examples.columns:
        return []
    rows = examples.filter(pl.col("defect").is_not_null())
    named = rows.select(pl.lit(items.name).alias("dataset"), "example_id", "defect", *ITEM_COLUMNS, "label")
    return [Finding("suspect", None, rows=named, result=SuspectResult(_WHY_NO_SUSPECTS))]
