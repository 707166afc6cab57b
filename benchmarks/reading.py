"""What a reader on word vectors reaches on few articles, with two readers that learn nothing next to it.

    python benchmarks/reading.py SQUAD.json [--out FOLDER] [--epochs 6] [--seed 0] [--report]

Articles are drawn at random: all but --held (10) are learnt from, the others are tested on, so that no paragraph is in
both. `docqa` is trained at its desk size without a file of vectors, tested after each epoch (nothing is chosen by
these tests: the last epoch counts), and goes on where it was stopped when the command is given again. --report prints
what is there so far and trains nothing.

Beside it: a reader that answers with the first sentence of the paragraph, and one that answers with the sentence that
shares the most different words with the question, the first of equals. Neither learns; a whole sentence holds most
answers and matches few, so that its F1 is the figure to compare, not its exact match.

Intervals draw whole articles with replacement, since questions of one article share their subject.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.data.reading import read_dataset
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.running import run_job
from goldassay.runs.answers import normalize_answer, score_answer
from goldassay.runs.reading import read_runs
from goldassay.stats.bootstrap import score_interval
from goldassay.stats.clusters import cluster_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(\[])")


def sentences_of(text: str) -> list[str]:
    """Sentences of a paragraph: it is cut behind a full stop, a question or an exclamation mark before a capital."""
    return [each for each in _END.split(text.strip()) if each] or [text]


def first_sentence(question: str, context: str) -> str:  # noqa: ARG001
    """The first sentence of a paragraph, whatever is asked."""
    return sentences_of(context)[0]


def most_shared(question: str, context: str) -> str:
    """The sentence that shares the most different words with the question, the first of equals."""
    asked = set(normalize_answer(question).split())
    return max(sentences_of(context), key=lambda each: len(asked & set(normalize_answer(each).split())))


def drawn_articles(articles: list[dict[str, Any]], held: int, seed: int) -> tuple[list[int], list[int]]:
    """Places of the articles that are learnt from and of those that are tested on."""
    order = np.random.default_rng(seed).permutation(len(articles)).tolist()
    return sorted(order[held:]), sorted(order[:held])


def scored(answers: list[str], data: Dataset) -> dict[str, NDArray[np.float64]]:
    """Exact match and F1 of each question."""
    wanted = data.examples["answers"].to_list()
    return {
        metric: np.array([score_answer(*pair, metric) for pair in zip(answers, wanted, strict=True)])
        for metric in ("exact_match", "f1")
    }


def line(name: str, scores: dict[str, NDArray[np.float64]], codes: NDArray[np.int64]) -> str:
    """A reader's figures in points, with intervals over articles."""
    parts = []
    for metric, label in (("exact_match", "EM"), ("f1", "F1")):
        of = score_interval(scores[metric][None], codes)
        parts.append(f"{label} {100 * scores[metric].mean():.2f} [{100 * of.low:.2f}, {100 * of.high:.2f}]")
    return f"{name:<34} {'  '.join(parts)}"


def lines(test: Dataset, out: Path, gold: Path) -> Iterator[str]:
    """Of the baselines, and of each checkpoint of the trained reader that is there."""
    codes = cluster_codes(test.examples["title"].to_list(), len(test))
    if codes is None:
        return
    yield f"{len(test):,} questions on {codes.max() + 1} articles; 95 % intervals over articles, in points"
    pairs = list(zip(test.texts("question"), test.texts("context"), strict=True))
    for name, reader in (("first sentence", first_sentence), ("sentence with most shared words", most_shared)):
        yield line(name, scored([reader(*pair) for pair in pairs], test), codes)
    if not any(out.rglob("*.parquet")):
        return
    runs = {metric: read_runs(out, gold=gold, answer_metric=metric) for metric in ("exact_match", "f1")}
    place = {name: row for row, name in enumerate(test.examples["example_id"].to_list())}
    order = np.array([place[name] for name in runs["f1"].example_ids])
    steps = runs["f1"].checkpoints
    for at, step in enumerate([] if steps is None else steps.tolist()):
        found = {metric: each.scores[0, at] for metric, each in runs.items()}
        yield line(f"docqa, step {step}", found, codes[order])


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("squad", type=Path)
    parser.add_argument("--out", type=Path, default=Path("reading"))
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--held", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    import gzip

    opened = gzip.open if given.squad.suffix == ".gz" else open
    with opened(given.squad, "rt", encoding="utf-8") as file:
        content = json.load(file)
    given.out.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, places in zip(("train", "test"), drawn_articles(content["data"], given.held, given.seed), strict=True):
        files[name] = given.out / f"{name}.json"
        files[name].write_text(
            json.dumps(content | {"data": [content["data"][place] for place in places]}), encoding="utf-8"
        )
    runs = given.out / "runs"
    if not given.report:
        n_train = len(read_dataset(files["train"]))
        (job,) = plan_jobs(
            files["train"], "docqa", {"test": files["test"]}, out=runs, seeds=[given.seed],
            changes={"epochs": given.epochs}, checkpoint_every=-(-n_train // 32), record=("predictions",),
            threads=given.threads, state_every=3.0,
        )  # fmt: skip
        done = run_job(job, lambda step, total: print(step, total, flush=True) if step % 20 == 0 else None)
        print(f"{n_train:,} questions learnt, {done.n_parameters:,} weights, {done.steps:,} steps, "
              f"{done.cpu_seconds:.0f} CPU seconds, {done.seconds:.0f} seconds")  # fmt: skip
    for each in lines(read_dataset(files["test"]), runs, files["test"]):
        print(each)


if __name__ == "__main__":
    main()
