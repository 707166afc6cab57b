"""Which labels may be wrong, as an audit asks it: it judges nothing, and ranks rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.questions.rows import beside_data
from goldassay.questions.suspect.sections import LEAD, TITLE
from goldassay.questions.suspect.study import find_suspects, first_suspects

if TYPE_CHECKING:
    from goldassay.questions.evidence import Evidence

# The list goes on in the table of all examples.
MOST_ROWS = 1000


class _Suspect:
    question = "suspect"
    title = TITLE
    asks = LEAD
    needs = ()

    def run(self, evidence: Evidence) -> Finding:
        """Rank the labels of the test part; nothing where nothing speaks about them."""
        with evidence.steps.step("looking for wrong labels"):
            found = find_suspects(evidence)
        if found.rows is None:
            return Finding(self.question, None, found.section)
        tables = {"suspects": first_suspects(found.rows, MOST_ROWS)}
        if found.scores is not None:
            tables["suspect_scores"] = found.scores
        rows = beside_data(found.rows, {evidence.test.name: evidence.test})
        return Finding(self.question, None, found.section, tables=tables, examples=found.examples, rows=rows)


CHECK = _Suspect()
