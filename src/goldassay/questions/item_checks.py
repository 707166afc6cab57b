"""The questions of an audit as they are asked of items with choices and of preferences."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.finding import Finding
from goldassay.data.row_keys import ITEM_COLUMNS
from goldassay.questions.example_clusters import NONE
from goldassay.questions.item_patterns import RIGHT, WRONG, find_item_patterns
from goldassay.questions.item_rows import found_by_rule, items_to_read, mentioned_by_part
from goldassay.questions.leakage.partial_input import LeakageChoice
from goldassay.questions.leakage.question import CHECK as LEAKAGE
from goldassay.questions.leakage.result import RULE, MeasuredLeakage
from goldassay.questions.overlap.items import items_of_choices
from goldassay.questions.overlap.question import search_for
from goldassay.questions.row_details import words_of_texts
from goldassay.questions.rows import MOST_ROWS
from goldassay.questions.suspect.result import SuspectResult

if TYPE_CHECKING:
    from goldassay.questions.evidence import Evidence
    from goldassay.questions.kind_evidence import ItemEvidence
    from goldassay.stats.effects import Effect

# Of items with choices only what needs no model is looked for.
_WHY_NO_SUSPECTS = "Items with choices are checked for defects, and no answers of models are held against them."


def measure_leakage(evidence: Evidence) -> Finding:
    """What `leakage measure` finds in items."""
    return LEAKAGE.measure(evidence, LeakageChoice(cluster=False, map=False))


def _effects(evidence: ItemEvidence, named: str) -> list[Effect]:
    """The effects of the readers whose names begin so."""
    found = evidence.leakage.result
    assert isinstance(found, MeasuredLeakage)
    effects = () if found.effects is None else found.effects.effects
    return [each for each in effects if each.reader.startswith(named)]


class _Artifacts:
    question = "artifacts"
    needs = ()

    def run(self, evidence: ItemEvidence) -> Finding:
        """Judge what patterns of the choices gain over guessing."""
        posed, settings = evidence.posed, evidence.settings
        measured = evidence.leakage.result
        assert isinstance(measured, MeasuredLeakage)
        found = find_item_patterns(posed, evidence.readers, measured.effects, settings, evidence.steps)
        known = posed.train or posed.test
        codes = known.right.astype(np.int64)
        words = words_of_texts(
            {"choices": known.texts}, codes, (WRONG, RIGHT), q=settings.artifacts.q, seed=settings.seed
        )
        classes = found.tables.get("difficulty")
        ids = evidence.leakage.tables["examples"]["example_id"]
        is_told = classes is not None and classes["example_id"].equals(ids)
        examples = {"difficulty": classes["difficulty"]} if classes is not None and is_told else {}
        return replace(found, tables={**found.tables, "words": words}, examples=examples)


class _Leakage:
    question = "leakage"
    needs = ()

    def run(self, evidence: ItemEvidence) -> Finding:
        """Judge what rules, the choices alone and the question alone pick."""
        finding, items = evidence.leakage, evidence.posed.test
        tables = dict(finding.tables)
        read = tables.pop("examples")
        by_rule = found_by_rule(evidence.readers.rules, _effects(evidence, RULE), items.kind)
        given_away = zip_longest(by_rule, mentioned_by_part(read, items.kind))
        named = list(islice((each for pair in given_away for each in pair if each is not None), MOST_ROWS))
        own = evidence.rows().columns
        return replace(
            finding,
            tables=tables,
            examples={each.name: each for each in read.select(pl.exclude(*own, "difficulty"))},
            first_rows=items_to_read(items, named),
        )


class _Overlap:
    question = "overlap"
    needs = ("test",)

    def run(self, evidence: ItemEvidence) -> Finding:
        """Search the training items and the corpus for the items."""
        posed, corpus, settings, steps = evidence.posed, evidence.corpus, evidence.settings, evidence.steps
        items = items_of_choices(posed.test, posed.inputs[-1], settings.data.clusters)
        if posed.train is None:
            return search_for(items, (), corpus, settings, steps)
        training = items_of_choices(posed.train, posed.inputs[0], NONE).items
        # With all choices in their order, and with the right one alone: a copy may have turned or other choices.
        renderings = ([item.parts for item in training], [item.renderings[-1] for item in training if item.renderings])
        rows = []
        for chosen in filter(None, renderings):
            pairs = zip(training, chosen, strict=True)
            texts = ["\n".join([*(text for _, text in parts), item.answer]) for item, parts in pairs]
            rows.append(pl.Series(texts, dtype=pl.String))
        return search_for(items, rows, corpus, settings, steps)


class _Suspect:
    question = "suspect"
    needs = ()

    def run(self, evidence: ItemEvidence) -> Finding:
        """Name the items whose answer may be wrong, by what needs no model."""
        result = SuspectResult(_WHY_NO_SUSPECTS)
        rows = evidence.rows()
        if "defect" not in rows.columns:
            return Finding(self.question, None, result=result)
        rows = rows.with_columns(evidence.leakage.tables["examples"]["label"]).filter(pl.col("defect").is_not_null())
        name = pl.lit(evidence.posed.test.name).alias("dataset")
        rows = rows.select(name, "example_id", "defect", *ITEM_COLUMNS, "label")
        return Finding(self.question, None, rows=rows, result=result)


ITEM_CHECKS = (_Artifacts(), _Leakage(), _Overlap(), _Suspect())
