"""Patterns mined from the training sets, and the training sets without them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.artifacts import PatternTable, downsample
from goldassay.papers.artifacts.protocol import DEBIAS, RANDOM
from goldassay.questions.artifacts.inputs import cut, mine_dataset, texts_for

if TYPE_CHECKING:
    from goldassay.data import Dataset
    from goldassay.papers.artifacts.protocol import Corpus, Protocol
    from goldassay.papers.workplace import Workplace

# Where bias models look for them; see `questions.opinions`.
FILE = "patterns.parquet"


def mine_corpus(corpus: Corpus, work: Workplace) -> PatternTable:
    """Mine a corpus's hypotheses into the study's folder, where objectives find the patterns.

    Raises:
        OutputError: The folder cannot be written to.
    """
    # The paper cuts by shares alone; p and q are those of its method.
    patterns = mine_dataset(work.sets[corpus.train], replace(corpus.bounds, clusters="none"))
    patterns.write(work.folder / corpus.mined / FILE)
    return patterns


def mined_patterns(corpus: Corpus, work: Workplace) -> PatternTable:
    """What `mine_corpus` mined.

    Raises:
        InputError: It is not there.
    """
    return PatternTable.read(work.folder / corpus.mined / FILE)


def reduce_corpus(corpus: Corpus, protocol: Protocol, patterns: PatternTable, work: Workplace) -> dict[str, Dataset]:
    """The training sets of a corpus without patterns, and random ones of the same sizes, by name.

    Raises:
        InputError: Nothing is left of a label.
    """
    whole = work.sets[corpus.train]
    texts = texts_for(whole, patterns)
    found = {}
    for threshold in corpus.thresholds:
        kept = cut(patterns, threshold)
        name = corpus.part(DEBIAS, threshold)
        found[name] = replace(downsample(whole, kept, "debias", work.seed, texts=texts), name=name)
        for sample in range(protocol.samples):
            name = corpus.part(RANDOM, threshold, sample)
            found[name] = replace(downsample(whole, kept, "random", work.seed + sample, texts=texts), name=name)
    return found
