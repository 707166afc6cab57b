"""What audits say of published sets, each as it is: verdict, headline, S, the limit of detection of each kind of cue.

    GOLDASSAY_DATA=DIR python -m benchmarks.verdicts.real --to FILE [--only NAME]    audits, one line of FILE a set
    GOLDASSAY_DATA=DIR python -m benchmarks.verdicts.real --to docs/gallery/audits.jsonl    the figures of the gallery
    python -m benchmarks.verdicts.real --from FILE [--rules]                       prints the tables from FILE

A set that FILE holds is not audited again. `--rules` prints the tables of docs/howto/choices.md and preferences.md:
what guessing hits, what picking the longest choice or response hits, what readers of the choices alone, of the question
alone and of both hit, and the rule that gains most. A plain loop over the items checks the share of the longest choice.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import warnings
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import goldassay
from benchmarks.verdicts.items import DATA, QUESTIONS, audited, read_set
from benchmarks.verdicts.items import SETS as CHOICES
from benchmarks.verdicts.preferences import SETS as PREFERENCES
from benchmarks.verdicts.shuffled import SETS as SHUFFLED
from goldassay.core.numbers import count, decimal
from goldassay.readers.choice_rules import chance_of
from goldassay.stats.detection import KINDS

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.report.report import Report

# Training part and test part; without one all rows are read by folds. Columns where the file does not say them.
PAIRS: dict[str, tuple[str, str | None, str | None]] = {
    "FraCaS": ("small_nli/fracas_train.tsv.gz", "small_nli/fracas_dev.tsv.gz", None),
    "CommitmentBank": ("small_nli/commitment_bank_train.tsv.gz", "small_nli/commitment_bank_dev.tsv.gz", None),
    "RTE dev": ("small_nli/rte_dev.tsv.gz", None, None),
    "RTE": ("small_nli/rte_train.tsv.gz", "small_nli/rte_dev.tsv.gz", None),
    "MPE": ("small_nli/mpe_train.tsv.gz", "small_nli/mpe_dev.tsv.gz", None),
    "ANLI test": ("anli/test_r1_r2_r3.tsv.gz", None, None),
    "KLUE-NLI": ("klue/klue-nli-v1.1_dev.json.gz", None, None),
    "counterfactual NLI test": ("counterfactual_nli/all_combined_test.tsv.gz", None, None),
    "Breaking NLI": ("breaking_nli/dataset.jsonl.gz", None, None),
    "SNLI test": ("snli/test_9824.tsv.gz", None, None),
    **{name: (*files, None) for name, files in SHUFFLED.items() if name != "SST-2"},
}
TEXTS: dict[str, tuple[str, str | None, str | None]] = {
    "UCI sentiment": ("uci_sentiment/sentences.tsv.gz", None, None),
    "MR sample": ("textfooler_1000/mr.tsv.gz", None, None),
    "Yelp sample": ("textfooler_1000/yelp.tsv.gz", None, None),
    "AG News sample": ("textfooler_1000/ag_news.tsv.gz", None, None),
    "IMDb sample": ("textfooler_1000/imdb.tsv.gz", None, None),
    "SST-2": (*SHUFFLED["SST-2"], None),
    "counterfactual IMDb": (
        "counterfactual_imdb/paired_train.tsv.gz", "counterfactual_imdb/new_test.tsv.gz", "text=Text,label=Sentiment",
    ),
    **{
        f"Amazon {name}": (f"amazon_multidomain/{name}.tsv.gz", None, "text=review_text,label=polarity")
        for name in ("books", "dvd", "electronics")
    },
}  # fmt: skip
KINDS_OF_SETS = {"choices": CHOICES, "preferences": PREFERENCES, "texts": TEXTS, "pairs of texts": PAIRS}
KEPT = ("verdict", "evidence", "not_seen", "at_most", "next_step")
SILENT = ("unresolved", "not measurable")


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


def of_rules(items: ChoiceItems, report: Report) -> list[str]:
    """The cells on rules and readers of a table of choices or preferences.

    Raises:
        AssertionError: The longest text is right in another share of the items than a plain loop finds.
    """
    accuracy: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    for row in report.figures.iter_rows(named=True):
        if row["id"] == "leakage.accuracy":
            accuracy[row["of"]["condition"]] = row
        elif row["id"] == "leakage.accuracy_skill" and row["of"]["reader"].startswith("rule: "):
            rules[row["of"]["reader"].removeprefix("rule: ")] = row
    longest = longest_right(items)
    assert abs(accuracy["longest_choice"]["value"] - longest) < 1e-9, (accuracy["longest_choice"], longest)
    strongest = max(rules, key=lambda rule: (rules[rule]["low"] is not None, rules[rule]["low"]))
    alone = "choices_only" if "choices_only" in accuracy else "response_only"
    return [
        f"{100 * float(chance_of(items).mean()):.1f}", f"{100 * longest:.1f}",
        *(shown(accuracy.get(condition)) for condition in (alone, "question_only", "paired")),
        f"{strongest} {shown(rules[strongest])}",
    ]  # fmt: skip


def shown(row: dict[str, Any] | None) -> str:
    """A share in percent with its interval."""
    if row is None:
        return "–"
    value, low, high = (decimal(100 * row[key], 1) for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def found_in(name: str, folder: Path) -> dict[str, Any]:
    """What an audit says of one set, as plain data."""
    rules: list[str] = []
    if name in CHOICES or name in PREFERENCES:
        items = read_set((CHOICES | PREFERENCES)[name], folder)
        report = audited(items, 0)
        n, rules = len(items), of_rules(items, report)
    else:
        train, test, columns = (PAIRS | TEXTS)[name]
        report = goldassay.audit(DATA / train, None if test is None else DATA / test, columns=columns)
        n = report.to_dict()["artifacts"]["effects"]["n_examples"]
    plain = report.to_dict()
    said = {
        question: {key: report.verdicts[question][key] for key in KEPT if key in report.verdicts[question]}
        | {"limits": _limits((plain[question]["effects"] or {"limits": []})["limits"])}
        for question in QUESTIONS
    }
    kind = next(kind for kind, sets in KINDS_OF_SETS.items() if name in sets)
    return {"set": name, "kind": kind, "n": n, "rules": rules, **said}


def _limits(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"kind": each["kind"], "limit": round(each["limit"], 4)} for each in found]


def table_of_words(sets: list[dict[str, Any]]) -> list[str]:
    """A row for each set and question: word, headline, S, and S_t by kind in percent."""
    kinds = [kind.name for kind in KINDS if kind.counts or kind.shape == "together"]
    lines = [
        f"| set | rows | question | verdict | said | at most | {' | '.join(kinds)} |",
        f"|---|---:|---|---|---|---:|{'---:|' * len(kinds)}",
    ]
    for each in sets:
        for question in QUESTIONS:
            said = each[question]
            if said["verdict"] == "not asked":
                continue
            limits = {limit["kind"]: limit["limit"] for limit in said["limits"]}
            bound = "" if said["at_most"] is None else _percent(said["at_most"])
            cells = [_percent(limits[kind]) if kind in limits else "" for kind in kinds]
            cells = [each["set"], count(each["n"]), question, said["verdict"], said["evidence"], bound, *cells]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _percent(share: float) -> str:
    return "–" if share >= 1 else f"{100 * share:.1f}"


def totals(sets: list[dict[str, Any]]) -> list[str]:
    """How many sets have each word."""
    found = []
    for question in QUESTIONS:
        words = [each[question]["verdict"] for each in sets if each[question]["verdict"] != "not asked"]
        counted = ", ".join(f"{words.count(word)} {word}" for word in sorted(set(words)))
        silent = [each for each in sets if each[question]["verdict"] in SILENT]
        nothing = [each["set"] for each in silent if each[question]["at_most"] in (None, 1)]
        found.append(f"{question}, {len(words)} sets: {counted}; nothing is bounded: {', '.join(nothing) or 'none'}")
    return found


def table_of_rules(sets: list[dict[str, Any]]) -> list[str]:
    """The rows of docs/howto/choices.md and preferences.md."""
    head = ("set", "items", "guessing", "longest", "choices alone", "question alone", "whole", "strongest rule",
            "artifacts", "leakage")  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"|---{'|---:' * 6}|---|---|---|"]
    for each in sets:
        if each["rules"]:
            words = [_word(each[question]) for question in QUESTIONS]
            lines.append(f"| {' | '.join((each['set'], count(each['n']), *each['rules'], *words))} |")
    return lines


def _word(said: dict[str, Any]) -> str:
    bounded = said["verdict"] in ("sound", "unresolved") and said["at_most"] < 1
    return f"{said['verdict']}, at most {100 * said['at_most']:.0f} %" if bounded else str(said["verdict"])


def main() -> None:
    """Audit the sets, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="audit only sets whose name contains this")
    parser.add_argument("--to", type=Path, help="file of JSON lines that is added to")
    parser.add_argument("--from", dest="source", type=Path, help="print the tables from such a file")
    parser.add_argument("--rules", action="store_true", help="with --from: rules and readers of items")
    given = parser.parse_args()
    if given.source is not None:
        sets = [json.loads(line) for line in given.source.read_text().splitlines()]
        print(*(table_of_rules(sets) if given.rules else [*table_of_words(sets), "", *totals(sets)]), sep="\n")
        return
    known = set()
    if given.to is not None and given.to.exists():
        known = {json.loads(line)["set"] for line in given.to.read_text().splitlines()}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in PREFERENCES | CHOICES | TEXTS | PAIRS:
            if given.only not in name or name in known:
                continue
            line = json.dumps(found_in(name, Path(folder)), ensure_ascii=False)
            print(line, flush=True)
            if given.to is not None:
                with given.to.open("a") as file:
                    file.write(line + os.linesep)


if __name__ == "__main__":
    main()
