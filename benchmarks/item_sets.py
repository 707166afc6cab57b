"""Published sets of choices and preferences, audited whole: the tables of docs/howto/choices.md and preferences.md.

    GOLDASSAY_DATA=DIR python -m benchmarks.item_sets [--only NAME]

Prints a row for each set: what guessing hits, what picking the longest choice or response hits, what readers of the
choices alone, of the question alone and of both hit, the rule that gains most, and the verdicts. A plain loop over the
items checks the figure of the longest choice.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.verdicts.items import SETS as CHOICES
from benchmarks.verdicts.items import read_set, words_of
from benchmarks.verdicts.preferences import SETS as PREFERENCES
from goldassay.core.numbers import count, decimal
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.questions.audit import report_on
from goldassay.questions.kind_evidence import ItemEvidence
from goldassay.questions.leakage.item_loading import Posed
from goldassay.questions.overlap.search.scan import CorpusChoice
from goldassay.readers.choice_rules import chance_of

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems

HEAD = ("set", "items", "guessing", "longest", "choices alone", "question alone", "whole", "strongest rule",
        "artifacts", "leakage")  # fmt: skip

NO_CORPUS = CorpusChoice.of(None, "text")


def longest_right(items: ChoiceItems) -> float:
    """How often the longest text is right, counted by a loop; of texts of one length each counts its share."""
    hits = Fraction(0)
    lengths, right = items.texts.str.len_chars().to_list(), items.right.tolist()
    start = 0
    for size in items.sizes.tolist():
        own = range(start, start + size)
        most = [at for at in own if lengths[at] == max(lengths[each] for each in own)]
        hits += Fraction(sum(right[at] for at in most), len(most))
        start += size
    return float(hits / len(items))


def measured(name: str, items: ChoiceItems) -> list[str]:
    """The cells of a row.

    Raises:
        AssertionError: The longest text is right in another share of the items than a plain loop finds.
    """
    report = report_on(ItemEvidence(Posed(None, items, ()), NO_CORPUS, Settings(), Steps(quiet=True)), None)
    accuracy: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    for row in report.figures.iter_rows(named=True):
        if row["id"] == "leakage.accuracy":
            accuracy[row["of"]["condition"]] = row
        elif row["id"] == "leakage.accuracy_skill" and row["of"]["reader"].startswith("rule: "):
            rules[row["of"]["reader"].removeprefix("rule: ")] = row
    longest = longest_right(items)
    assert abs(accuracy["longest_choice"]["value"] - longest) < 1e-9, (accuracy["longest_choice"], longest)
    strongest = max(rules, key=lambda rule: rules[rule]["low"])
    alone = "choices_only" if "choices_only" in accuracy else "response_only"
    return [
        name, count(len(items)), f"{100 * float(chance_of(items).mean()):.1f}", f"{100 * longest:.1f}",
        *(shown(accuracy.get(condition), 100) for condition in (alone, "question_only", "paired")),
        f"{strongest} {shown(rules[strongest], 100)}",
        *words_of(report).values(),
    ]  # fmt: skip


def shown(row: dict[str, Any] | None, scale: float) -> str:
    """A figure with its interval."""
    if row is None:
        return "–"
    value, low, high = (decimal(scale * row[key], 1) for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="print only sets whose name contains this")
    only = parser.parse_args().only or ""
    print(f"| {' | '.join(HEAD)} |\n|---{'|---:' * 6}|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, place in (CHOICES | PREFERENCES).items():
            if only in name:
                print(f"| {' | '.join(measured(name, read_set(place, Path(folder))))} |", flush=True)


if __name__ == "__main__":
    main()
