"""The question of overlap, as an audit asks it of its training part and of a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.questions.overlap.in_audit import search_for
from goldassay.questions.overlap.items import items_of_dataset
from goldassay.questions.overlap.sections import LEAD, TITLE

if TYPE_CHECKING:
    from goldassay.core.finding import Finding
    from goldassay.questions.evidence import Evidence


class _Overlap:
    question = "overlap"
    title = TITLE
    asks = LEAD
    needs = ("corpus",)

    def run(self, evidence: Evidence) -> Finding:
        """Search the training part and the corpus for the test rows."""
        items = items_of_dataset(evidence.test, evidence.settings.data.clusters, evidence.test_place)
        roles = evidence.train.text_columns
        rows = zip(*(evidence.train.examples[role].fill_null("").to_list() for role in roles), strict=True)
        return search_for(items, map("\n".join, rows), evidence.corpus, evidence.settings, evidence.steps)


CHECK = _Overlap()
