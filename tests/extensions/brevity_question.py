"""A question: how many of the texts to be predicted are very short."""

from goldassay.core.figures import Measure, Rule, declare
from goldassay.core.results import Headline, Verdict
from goldassay.core.sections import Column, Finding, Part, Section, Table
from goldassay.questions.evidence import Evidence

SHORT = declare(Measure("brevity.share", "short texts", "share", "lower", rule=Rule("max_short", "texts", "at most")))


class Brevity:
    """How many of the texts have fewer than five words."""

    question, title, asks, needs = "brevity", "Brevity", "How many test texts are very short?", ()

    def run(self, evidence: Evidence) -> Finding:
        """Count them."""
        texts = evidence.test.texts(evidence.test.text_columns[-1])
        share = sum(len(text.split()) < 5 for text in texts) / len(texts)
        headline = Headline(SHORT.label, share, 0.0, 1.0, "share")
        verdict = Verdict("caution", "Some texts are short.", headline, "Look at them.", "Any is caution.")
        figure = SHORT.figure(share, 0.0, 1.0, n=len(texts), part="last text")
        table = Table("brevity", "Short texts", (Column("share", "share", "percent"),), ({"share": share},))
        section = Section("brevity", self.title, self.asks, parts=(Part(table=table),))
        return Finding("brevity", verdict, results={"share": share}, figures=(figure,), sections=(section,))


BREVITY = Brevity()
