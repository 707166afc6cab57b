"""Near copies: texts that differ in a letter, a comma or a word, found without comparing each with each."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.cores import cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SIMILARITY = 0.8
N_BANDS, N_ROWS = 20, 5
# Representatives that a text is compared with in one bucket: bounds the time where a template fills a bucket.
MOST_COMPARED = 200
_CHUNK = 1 << 14


def join_near_copies(
    texts: Sequence[str], counts: NDArray[np.int64] | None = None, similarity: float = SIMILARITY
) -> NDArray[np.int64]:
    """Give each text a representative: itself, or a text that is nearly the same.

    Two texts are near copies if the sets of their shingles have |A and B| / |A or B| >= `similarity`. Shingles are all
    runs of five characters, over word boundaries too, of the text without case, with everything but letters and digits
    as one space. Texts are taken by falling count, equal ones in alphabetical order; each is joined to the most similar
    representative before it, else it becomes one. Copies of copies are thus never chained: each text is a near copy of
    its own representative, and the order of rows changes nothing.

    Candidates share a band of MinHash values, 20 bands of 5: a pair at the threshold is missed with a probability of
    (1 - .8^5)^20 = .0004, one at .9 with 1e-8. Each candidate is confirmed by its sets. A text is compared with at most
    200 representatives of one band. The time is linear in the length of all texts.

    Five characters and not five words, as is usual for web pages: a sentence of n words has n - 4 runs of five words,
    so that one changed word leaves a similarity of .8 only from 45 words on. Of 5,000 sentences of SICK, runs of five
    words find 47 pairs and runs of five characters 369; of these 98 % differ by at most two words. Sets of single
    words find 1,330, of which 24 % differ by three words or more. Five is also the length that Leskovec, Rajaraman and
    Ullman (2020, *Mining of Massive Datasets*, section 3.2) recommend for short texts.

    Args:
        texts: M distinct texts.
        counts: How often each occurs, (M,); by default once.
        similarity: Between 0 and 1; the bands are made for .8.

    Returns:
        (M,) index of each text's representative.

    Source: Broder 1997 (resemblance and shingles); Indyk and Motwani 1998 (bands).
    """
    n = len(texts)
    found = np.arange(n, dtype=np.int64)
    if n < 2:
        return found
    frame = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String), "n": np.ones(n) if counts is None else counts})
    frame = frame.with_row_index("at").sort(["n", "text"], descending=[True, False])
    order = frame["at"].to_numpy().astype(np.int64)
    points, starts = code_points(shingled_text(frame["text"]))
    bands, sizes = _signed(points, starts)
    buckets, n_buckets = _buckets(bands)
    # Most texts share no band with any other: they are their own representative.
    kept = np.flatnonzero((buckets >= 0).any(axis=1))
    if kept.size:
        from goldassay.data.near_copy_kernels import join_to_representatives

        points, starts = code_points(shingled_text(frame["text"][kept]))
        nearest = np.empty(kept.size, np.int64)
        join_to_representatives(
            points, starts, sizes[kept], buckets[kept], n_buckets, similarity, MOST_COMPARED, nearest
        )
        found[order[kept]] = order[kept[nearest]]
    return found


def shingled_text(texts: pl.Series) -> pl.Series:
    """The texts as shingles are made of: lower case, words between single spaces; what has no word stays as it is."""
    words = texts.str.to_lowercase().str.replace_all(r"[^\w]+", " ").str.strip_chars()
    padded = " " + words + " "
    return pl.select(pl.when(words == "").then(texts).otherwise(padded)).to_series()


def code_points(texts: pl.Series) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Code points of all texts, one after the other, and where each starts, with one more at the end."""
    joined = "".join(texts.to_list()).encode("utf-32-le")
    lengths = texts.str.len_chars().to_numpy().astype(np.int64)
    return np.frombuffer(joined, np.uint32), np.concatenate(([0], np.cumsum(lengths)))


def _signed(points: NDArray[np.uint32], starts: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Bands (B, M) and numbers of distinct shingles (M,), in chunks, since each text is signed by itself."""
    from goldassay.core.compiled import workers
    from goldassay.data.near_copy_kernels import sign_texts

    n = starts.size - 1
    odd = np.random.default_rng(0).integers(0, 2**31, N_BANDS * N_ROWS, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    bands, sizes = np.empty((N_BANDS, n), np.uint64), np.empty(n, np.int64)

    def sign(chunk: tuple[int, int]) -> None:
        begin, end = chunk
        sign_texts(points, starts[begin : end + 1], odd, N_BANDS, bands[:, begin:end], sizes[begin:end])

    with workers(cores()) as pool:
        list(pool.map(sign, pairwise([*range(0, n, _CHUNK), n])))
    return bands, sizes


def _buckets(bands: NDArray[np.uint64]) -> tuple[NDArray[np.int32], int]:
    """Number of the bucket of each text in each band, -1 where it is alone there, (M, B), and how many there are."""
    from goldassay.core.compiled import workers
    from goldassay.data.near_copy_kernels import fill_buckets

    buckets = np.empty(bands.shape, np.int32)
    with workers(cores()) as pool:
        sizes = list(pool.map(fill_buckets, bands, buckets))
    starts = np.cumsum([0, *sizes])
    for band, start in zip(buckets, starts, strict=False):
        band[band >= 0] += np.int32(start)
    return np.ascontiguousarray(buckets.T), int(starts[-1])
