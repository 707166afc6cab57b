"""Embeddings without a network: weighted word counts on their first singular directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.data.tokenization import tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy import sparse

N_DIMENSIONS = 100
# Fitted on at most so many training sentences: more hardly move the directions, and cost memory.
MOST_SENTENCES = 100_000
# A word or pair of words of one sentence alone says nothing of what sentences share.
_LEAST_SENTENCES = 2

DESCRIPTION = (
    f"TF-IDF of words and pairs of words, on their first {N_DIMENSIONS} singular directions (SVD), fitted on the "
    "training sentences; no network was trained, so clusters are of sentences with like words, not of what a trained "
    "model takes for alike"
)


def embed_texts(
    train: Sequence[str], test: Sequence[str], tokenizer: str = "treebank", seed: int = 0
) -> NDArray[np.float64]:
    """TF-IDF and SVD of test sentences, in the space of the training sentences, (N, D).

    (1 + log count) of words and of pairs of neighbours, times log((1 + n)/(1 + n_with)) + 1, rows of length 1, then
    the first 100 right singular vectors of the training sentences (fewer where there are fewer words). Neither labels
    nor test sentences decide anything.

    Args:
        train: Training sentences.
        test: Sentences to embed, N.
        tokenizer: See `tokenize`.
        seed: Of the randomized SVD.

    Source: Deerwester et al. 1990, latent semantic analysis; Halko, Martinsson and Tropp 2011 for the SVD.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from threadpoolctl import threadpool_limits

    if len(train) > MOST_SENTENCES:
        chosen = np.sort(np.random.default_rng(0).choice(len(train), MOST_SENTENCES, replace=False))
        train = [train[row] for row in chosen]
    counts = _counts([*(text.casefold() for text in train), *(text.casefold() for text in test)], tokenizer)
    fitted, shown = counts[: len(train)], counts[len(train) :]
    kept = np.flatnonzero(np.asarray((fitted > 0).sum(axis=0)).ravel() >= _LEAST_SENTENCES)
    if kept.size < 2:
        # Nothing recurs: every sentence is as far from every other.
        return np.zeros((len(test), 1))
    weighting = TfidfTransformer(sublinear_tf=True).fit(fitted[:, kept])
    size = min(N_DIMENSIONS, kept.size - 1, max(len(train) - 1, 1))
    with threadpool_limits(1):
        svd = TruncatedSVD(size, n_iter=3, random_state=seed % 2**32)
        svd.fit(weighting.transform(fitted[:, kept]))
        return np.asarray(svd.transform(weighting.transform(shown[:, kept])))


def _counts(texts: Sequence[str], tokenizer: str) -> sparse.csr_matrix:
    """How often each word and each pair of neighbours stands in each text."""
    from scipy.sparse import csr_matrix

    corpus = tokenize(texts, tokenizer)
    ids = corpus.ids.astype(np.int64)
    rows = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))
    inner = rows[1:] == rows[:-1]
    pairs = (ids[:-1] * len(corpus.vocabulary) + ids[1:])[inner]
    names, pair_ids = np.unique(pairs, return_inverse=True)
    columns = np.concatenate([ids, len(corpus.vocabulary) + pair_ids])
    places = np.concatenate([rows, rows[1:][inner]])
    shape = (len(corpus), len(corpus.vocabulary) + names.size)
    found: Any = csr_matrix((np.ones(columns.size), (places, columns)), shape=shape)
    return found
