"""Compile what an audit needs late while it begins: on a machine's first audit a second core would have nothing to do.

The first call of each compiled loop compiles it, which takes an audit longer than all its work on a small dataset.
Numba compiles one loop after the other in a process; so the loops of the quick probes, of the coverage, of the form
and the words of texts, and of the search for rows, which come last, are compiled in a process of its own, which uses
them on a few made rows. Both processes keep their machine code on disk, where the other one and all later audits find
it.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.cores import cores

if TYPE_CHECKING:
    from collections.abc import Iterator

N_ROWS = 60


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Compile in a process of its own what is not kept on disk yet; it is ended with the block at the latest."""
    process = None if is_ready() or cores() == 1 or not sys.executable else _begun()
    try:
        yield
    finally:
        if process is not None:
            process.terminate()
            process.wait()


def is_ready() -> bool:
    """Whether the loops that are compiled last are kept on disk."""
    from goldassay.core.compiled import is_kept
    from goldassay.kernels.ngram_search import seek_texts
    from goldassay.kernels.pattern_trees import count_coverage
    from goldassay.kernels.text_counts import add_evidence
    from goldassay.readers.interactions import learn_epoch
    from goldassay.readers.softmax_kernels import ascend_penalties

    return all(map(is_kept, (count_coverage, ascend_penalties, add_evidence, learn_epoch, seek_texts)))


def _begun() -> subprocess.Popen[bytes]:
    # Whatever goes wrong there goes wrong again in this process, where it is seen.
    nothing = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-m", __name__], stdin=nothing, stdout=nothing, stderr=nothing)


def compile_late_loops() -> None:
    """Train probes on a few made rows, count what patterns cover, read form and words of texts, search for rows."""
    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.data.text_form import form_words, spelled_with
    from goldassay.data.tokenization import tokenize
    from goldassay.questions.artifacts.measures.mining import mine_patterns
    from goldassay.questions.artifacts.measures.presence import CoverageCount
    from goldassay.questions.example_clusters import NONE
    from goldassay.questions.overlap.items import items_of_dataset
    from goldassay.questions.overlap.question import search_for
    from goldassay.questions.overlap.search.scan import CorpusChoice
    from goldassay.readers.interactions import read_interactions
    from goldassay.readers.naive_bayes import word_evidence
    from goldassay.readers.probes import train_probes
    from goldassay.stats.clusters import Folds

    made = _made_rows(("yes", "no"))
    # Two labels have a loop of their own.
    for rows in (made, _made_rows(("yes", "no", "maybe"))):
        data = Dataset.from_frame(rows)
        for folds in (None, np.arange(len(data)) % 2):
            for _ in train_probes(data, data, seeds=(0,), folds=folds):
                pass
    texts, codes = pl.Series(made["hypothesis"]), np.array([name == "no" for name in made["label"]], np.int64)
    CoverageCount(mine_patterns(texts, codes, min_count=2), (0.5,)).add(tokenize(texts), codes)
    form_words(texts)
    of_known, of_asked = spelled_with(texts, texts, 2)
    word_evidence(of_known, codes, 2, of_asked)
    read_interactions(texts, codes, 2, Folds.of_parts(N_ROWS // 2, N_ROWS // 2), 0)
    items = items_of_dataset(Dataset.from_frame(made), NONE)
    search_for(items, (pl.Series(made["premise"]),), CorpusChoice(()), Settings(), Steps(quiet=True))


def _made_rows(labels: tuple[str, ...]) -> dict[str, list[str]]:
    """Pairs of which a word gives the label away in most, and stretches of them: of these, probes are fitted twice."""
    rng = np.random.default_rng(0)
    words = np.array(["one", "two", "three", "four", "five", "six", "seven", "eight"])
    rows: dict[str, list[str]] = {"premise": [], "hypothesis": [], "label": []}
    for row in range(N_ROWS // 2):
        label = labels[row % len(labels)]
        rows["premise"] += 2 * [" ".join(rng.choice(words, 6))]
        hypothesis = [*rng.choice(words, 3), label]
        rows["hypothesis"] += [" ".join(hypothesis), " ".join(hypothesis[1:])]
        rows["label"] += 2 * [label]
    return rows


if __name__ == "__main__":
    compile_late_loops()
