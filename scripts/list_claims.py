"""Write the table of what the four papers claim into docs/reproduction.md, as each study declares it in `CLAIMS`.

    python scripts/list_claims.py [DATA]

DATA is a folder of data that authors released; what these decide is then computed anew. Without it that column stays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.numbers import bounds_in, count, decimal, percent, with_unit
from goldassay.core.progress import Steps
from goldassay.data.reading import read_dataset
from goldassay.lab.papers import artifacts
from goldassay.lab.papers.artifacts import protocol
from goldassay.lab.papers.recipe import Workplace
from goldassay.lab.papers.running import find_recipe, open_study, run_study
from goldassay.lab.papers.sources import known_sources
from goldassay.leakage import score_clusters
from goldassay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goldassay.lab.papers.recipe import Conclusion

PAGE = Path(__file__).parents[1] / "docs" / "reproduction.md"
STUDIES = ("artifacts", "leakage", "instability", "shift")
HEAD = ("study: claim", "said of", "what is claimed", "where", "what decides", "data that decide it", "released data")
UNDECIDED = "not decided"
_TABLE = re.compile(r"^\| study: claim \|.*\n(?:^\|.*\n)+", re.MULTILINE)


def rows(states: dict[str, str]) -> list[list[str]]:
    """A row a claim, its state last."""
    return [
        [
            f"{study}: {each.name}", each.quantifier, each.statement,
            f"{each.sentence or 'sentence not seen'}; {each.place}", each.figure,
            each.data + (f"; by {each.by}" if each.by else ""), states.get(f"{study}: {each.name}", UNDECIDED),
        ]
        for study in STUDIES
        for each in find_recipe(study).CLAIMS.values()  # type: ignore[attr-defined]
    ]  # fmt: skip


def table(states: dict[str, str]) -> str:
    """The table as Markdown."""
    body = [HEAD, ["---"] * len(HEAD), *(([cell.replace("|", r"\|") for cell in row]) for row in rows(states))]
    return "".join(f"| {' | '.join(row)} |\n" for row in body)


def kept(page: str) -> dict[str, str]:
    """The last column of the page as it is."""
    found = _TABLE.search(page)
    cells = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in (found[0] if found else "").splitlines()[2:]]
    return {row[0]: row[-1] for row in cells}


def page(states: dict[str, str] | None = None) -> str:
    """The whole page, with these states or with those that it has."""
    text = PAGE.read_text("utf-8")
    new = table(kept(text) if states is None else states)
    return _TABLE.sub(lambda _: new, text)


def decided(data: Path) -> dict[str, str]:
    """What released data decide, by study and claim."""
    with TemporaryDirectory() as folder:
        report = run_study(open_study("instability", "paper", folder, Steps(quiet=True), data=data))
    return (
        of_runs(report.study.conclusions, report.reports["released"].to_dict()["instability"]["examples"])
        | of_lists(data)
        | of_clusters(data)
    )


def of_runs(conclusions: Iterable[Conclusion], examples: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By the ten runs of BERT-B, and by the pairs of examples that move together most in each set."""
    found = {f"instability: {each.name}": _state(each, "BERT-B's ten runs") for each in conclusions if each.value}
    tied = [each["n_pairs_at_most"] for each in examples]
    largest = max(pair["covariance"] for each in examples for pair in each["pairs"])
    said = "held" if min(tied) == 1 else "did not hold"
    sets = ", ".join(map(count, sorted(tied)))
    return found | {
        "instability: Largest pair": f"{said}: {sets} pairs of four sets have {decimal(largest, 3)}, the most that ten "
        "runs can have"
    }


def _state(each: Conclusion, whose: str) -> str:
    interval = bounds_in(each.low, each.high, each.unit) or "without an interval"
    return f"{each.standing}: {with_unit(each.value, each.unit)} {interval}, {whose}"


def of_lists(data: Path) -> dict[str, str]:
    """By the lists of easy and hard examples, and the answers of two models."""
    scale = artifacts.SCALES["desk"]
    corpus = scale.chosen["protocol"].corpora[0]
    work = Workplace(data, scale, "desk", data, None, 0, Steps(quiet=True))
    test = read_dataset(known_sources()["snli_test"].find(data))  # type: ignore[arg-type]
    classes: Any = protocol._published(corpus, test, work)
    masks = {"full": np.ones(len(test), np.bool_), **{name: classes == name for name in ("easy", "hard")}}
    accuracies = protocol.Accuracies(protocol._released(corpus, test, work), masks)
    easy, hard = (int(masks[name].sum()) for name in ("easy", "hard"))
    chance = max(test.examples["label"].value_counts()["count"]) / len(test)
    said = _share(easy, easy + hard, chance)
    return {
        "artifacts: Patterns": f"{said}, the lists of SNLI test; the majority has {percent(chance)}",
        "artifacts: Easy and hard": _state(artifacts.of_models(accuracies)[0], "BERT and RoBERTa on the lists of SNLI"),
    }


def of_clusters(data: Path) -> dict[str, str]:
    """By the authors' own clustering."""
    frame = pl.read_csv(data / "golden" / "peco_snli" / "tsne_50_l2.csv.gz", columns=["label", "clid"])
    found = score_clusters(frame["clid"].to_numpy(), frame["label"].to_numpy())
    return {"leakage: A third": f"{_share(found.n_biased_examples, frame.height, 1 / 3)}, the clustering of SNLI test"}


def _share(n: int, of: int, than: float) -> str:
    """Of a claim that a share is as large as something, or larger."""
    ends = wilson_interval(n, of)
    return (
        f"{artifacts.standing(ends.low, ends.high, than)}: {percent(n / of)} {bounds_in(ends.low, ends.high, 'share')}"
    )


if __name__ == "__main__":
    found = decided(Path(sys.argv[1])) if len(sys.argv) > 1 else None
    PAGE.write_text(page(found), "utf-8")
