"""Rows that depend on each other: clusters, and how many independent rows they are worth.

Folds: each row is read by what rows of other folds teach, so that no reader has seen the label that it names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError, option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray


# No cluster may have more than this share of the rows, unless a user chose the columns.
LARGEST_SHARE = 0.2


@dataclass(frozen=True)
class Clusters:
    """Which rows are drawn together.

    Attributes:
        codes: (N,) cluster of each row, from 0, in the order of first appearance.
        taken: What was taken as a cluster, in a sentence.
        columns: The columns that were joined; empty where each row is a cluster by itself.
        ignored: Texts of which more than a fifth of the rows share one, and not all: these rows depend on each other,
            and no resampling of so few clusters can allow for it. Groups do not count: a column of a few large ones is
            mostly a kind of rows, such as a genre.
    """

    codes: NDArray[np.int64]
    taken: str
    columns: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """N."""
        return self.codes.size

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each cluster, (G,)."""
        return np.bincount(self.codes)

    @property
    def n_clusters(self) -> int:
        """G."""
        return self.sizes.size

    @property
    def effective(self) -> float:
        """N^2 / sum_g n_g^2, see `effective_clusters`."""
        return effective_clusters(self.codes)

    @property
    def codes_if_any(self) -> NDArray[np.int64] | None:
        """The codes, or None where each row is a cluster by itself or all rows are one."""
        return self.codes if 1 < self.n_clusters < self.n_rows else None


def effective_clusters(codes: ArrayLike, weights: ArrayLike | None = None) -> float:
    """How many clusters of equal size are worth as much: N^2 / sum_g n_g^2, between 1 and the number of clusters.

    Args:
        codes: (N,) cluster of each row, from 0.
        weights: (N,) how much each row counts; n_g is then the sum of those of a cluster. None where all count alike.

    Returns:
        NaN without rows.

    Source: Kish 1965, *Survey Sampling*, section 5.4, with cluster sizes in the place of weights.
    """
    own = None if weights is None else np.asarray(weights, dtype=np.float64)
    sizes = np.bincount(np.asarray(codes, np.int64), own).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes @ sizes)) if sizes.size else float("nan")


def weigh(scores: ArrayLike, weights: ArrayLike | None) -> NDArray[np.float64]:
    """Scores (..., N) whose plain mean over examples is the weighted one, and varies with the examples as that does.

        s'_i = m + w_i (s_i - m) / mean(w),    m = sum_i w_i s_i / sum_i w_i

    The variance of a mean of s', clustered or not, is that of the ratio m to first order. Single s' are no scores and
    may lie outside [0, 1].

    Args:
        scores: (..., N).
        weights: (N,), not negative; None for equal ones, which leave scores as they are.

    Raises:
        InputError: There is not one finite weight from 0 up for each example, or all are 0.

    Source: Taylor linearization of a ratio, Cochran 1977, "Sampling Techniques", chapter 6; the sandwich variance of
    weighted least squares is the same.
    """
    values = np.asarray(scores, dtype=np.float64)
    if weights is None:
        return values
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != values.shape[-1:] or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise InputError(
            f"{w.size} weights for {values.shape[-1]} examples, or some are no numbers from 0 up",
            mend="give one finite weight from 0 up for each example",
        )
    mean = (values @ w / w.sum())[..., np.newaxis]
    found: NDArray[np.float64] = mean + w * (values - mean) / w.mean()
    return found


def cluster_codes(clusters: ArrayLike | None, n_examples: int) -> NDArray[np.int64] | None:
    """Codes from 0 of what examples share, such as a premise; None where each stands for itself.

    Raises:
        InputError: There is not one name for each example, or all share one.
    """
    if clusters is None:
        return None
    codes = dense_codes(np.asarray(clusters).astype(np.str_), n_examples)
    if codes.max(initial=0) == 0:
        raise InputError("all examples are in one cluster", mend="give clusters that are smaller")
    return codes


def dense_codes(clusters: ArrayLike | None, n_examples: int) -> NDArray[np.int64]:
    """Codes from 0 without holes, (N,), of clusters by names or codes; each example is its own without any.

    Raises:
        InputError: There is not one for each example.
    """
    if clusters is None:
        return np.arange(n_examples)
    names = np.asarray(clusters)
    if names.shape != (n_examples,):
        raise InputError(f"clusters have shape {names.shape}", mend=f"give one for each of the {n_examples} examples")
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def cluster_sums(
    values: NDArray[np.float64], codes: NDArray[np.int64] | None, n_clusters: int = 0
) -> NDArray[np.float64]:
    """Sums of each row of values (M, N) over the examples of each of G clusters, (M, G); without codes the values."""
    return values if codes is None else np.stack([np.bincount(codes, row, n_clusters) for row in values])


def variance_of_mean(values: NDArray[np.float64], codes: NDArray[np.integer] | None = None) -> float:
    """Variance of the mean of values (N,) by which examples, or whole clusters of them, were drawn.

    G/(G-1) sum_g (sum_{i in g} (x_i - mean))²/N², for examples by themselves var(x)/N. NaN for one cluster.

    Source: Liang and Zeger 1986, "Longitudinal data analysis using generalized linear models".
    """
    if codes is None:
        return float(values.var(ddof=1)) / values.size
    sums = np.bincount(codes, weights=values - values.mean())
    n = sums.size
    return float(sums @ sums) / values.size**2 * n / (n - 1) if n > 1 else float("nan")


def connected_rows(columns: ArrayLike, n_alike: int = 1) -> NDArray[np.int64]:
    """Connected components of rows that share a value.

    Args:
        columns: (N, C) codes from 0; rows with equal codes in one column are linked. A negative code is a missing
            value, which links nothing.
        n_alike: The codes of the first so many columns are the same values, such as texts in different roles: they
            are linked across these columns too.

    Returns:
        (N,) component of each row, from 0, in the order of first appearance.
    """
    codes = np.asarray(columns, np.int64)
    n_rows, n_columns = codes.shape
    if n_rows == 0:
        return np.zeros(0, np.int64)
    if n_columns == 1 and codes.min() >= 0:
        return _by_appearance(codes[:, 0])
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    widths = codes.max(axis=0) + 1
    widths[:n_alike] = [*[0] * (n_alike - 1), widths[:n_alike].max()]
    # Columns that are alike start at one place.
    starts = n_rows + np.concatenate(([0], np.cumsum(widths)))
    row, column = np.nonzero(codes >= 0)
    value = codes[row, column] + starts[column]
    n_nodes = int(starts[-1])
    links = coo_array((np.ones(row.size, np.int8), (row, value)), shape=(n_nodes, n_nodes))
    return _by_appearance(connected_components(links, directed=False)[1][:n_rows])


def cluster_rows(columns: Mapping[str, ArrayLike], n_rows: int, *, n_alike: int = 1, chosen: bool = False) -> Clusters:
    """Take rows together that share a value.

    The clusters are the connected components of `connected_rows` over all columns. Where a component holds more than
    a fifth of the rows, chains of chance links have joined what does not belong together, and resampling such
    clusters says nothing. Then one column is taken: of those with a largest value of at most a fifth of the rows the
    one with the largest sum_g n_g^2 / N, the mean number of rows that a row is drawn with.

    Args:
        columns: Name to (N,) codes from 0, a negative one where the value is missing.
        n_rows: N.
        n_alike: How many of the first columns have the same codes for the same values, see `connected_rows`.
        chosen: A user named the columns: they are joined whatever the size of the components.

    Returns:
        The clusters; each row by itself where no column, or no value twice, is left.

    Raises:
        InputError: Columns that a user chose put all rows into one cluster.
    """
    codes = {name: np.asarray(values, np.int64) for name, values in columns.items()}
    joined = connected_rows(np.stack(list(codes.values()), axis=1), n_alike) if codes else np.arange(n_rows)
    sizes = np.bincount(joined)
    names = tuple(codes)
    if chosen and sizes.size == 1 < n_rows:
        raise InputError(
            f"all rows are one cluster when joined by {_listed(names, 'and')}",
            mend=f"name other columns with {option('clusters')}, or none",
        )
    if sizes.size == n_rows:
        shared = f"No two rows share a {_listed(names, 'or')}; each" if names else "Each"
        return Clusters(joined, f"{shared} row counts by itself.", ())
    if chosen or sizes.max() <= LARGEST_SHARE * n_rows:
        return Clusters(joined, _sentence(names, sizes.size, n_rows), names)
    one = {name: connected_rows(values[:, np.newaxis]) for name, values in codes.items()}
    fitting = {name: values for name, values in one.items() if np.bincount(values).max() <= LARGEST_SHARE * n_rows}
    why = f"Joined by {_listed(names, 'and')}, {sizes.max() / n_rows * 100:.0f} % of the rows would be one cluster."
    # The largest sum of squares is the smallest effective number.
    best = min(fitting, key=lambda name: effective_clusters(fitting[name]), default=None)
    # A column with one value, such as a prompt that all rows share, makes no rows more alike than others.
    texts = list(one)[:n_alike]
    ignored = tuple(name for name in texts if name not in fitting and one[name].max() > 0)
    if best is None or fitting[best].max() + 1 == n_rows:
        return Clusters(np.arange(n_rows), f"Each row counts by itself. {why}", (), ignored)
    found = fitting[best]
    return Clusters(found, f"{_sentence((best,), int(found.max()) + 1, n_rows)} {why}", (best,), ignored)


def _by_appearance(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def _sentence(names: tuple[str, ...], n_clusters: int, n_rows: int) -> str:
    return (
        f"Rows with the same {_listed(names, 'or')} count as one cluster: {n_clusters:,} clusters of {n_rows:,} rows."
    )


def _listed(names: tuple[str, ...], last: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


N_FOLDS = 5


@dataclass(frozen=True)
class Round:
    """One fold that is read.

    Attributes:
        fold: Its code.
        teaching: Rows that teach, those of all other folds, ascending.
        reading: Rows that are read, ascending.
        places: Where these stand among all rows that are read.
    """

    fold: int
    teaching: NDArray[np.int64]
    reading: NDArray[np.int64]
    places: NDArray[np.int64]


@dataclass(frozen=True)
class Folds:
    """Which of L rows teach the readers of which.

    Attributes:
        codes: The fold of each row, (L,).
        read: Folds that are read, each by what all others teach; the rest teach alone.
    """

    codes: NDArray[np.int64]
    read: tuple[int, ...]

    @classmethod
    def of_parts(cls, n_train: int, n_test: int) -> Folds:
        """Training rows, which teach, and after them test rows, which are read."""
        return cls(np.repeat(np.arange(2), (n_train, n_test)), (1,))

    @classmethod
    def of_all(cls, codes: NDArray[np.int64]) -> Folds:
        """Every row is read once."""
        return cls(codes, tuple(np.unique(codes).tolist()))

    @property
    def rows(self) -> NDArray[np.int64]:
        """The N rows that are read, ascending."""
        return np.flatnonzero(np.isin(self.codes, self.read))

    @property
    def teaching(self) -> NDArray[np.int64]:
        """Rows that teach some fold, ascending: those that teach alone, or all where each is read once."""
        alone = ~np.isin(self.codes, self.read)
        return np.flatnonzero(alone) if alone.any() else np.arange(self.codes.size)

    def drawn(self, most: int, seed: int) -> NDArray[np.int64]:
        """All rows that are read and, at random, at most so many of those that teach alone, ascending."""
        alone = np.flatnonzero(~np.isin(self.codes, self.read))
        if alone.size > most:
            alone = np.random.default_rng(seed).choice(alone, most, replace=False)
        return np.sort(np.concatenate([self.rows, alone]))

    def rounds(self) -> Iterator[Round]:
        """One fold that is read after the other."""
        place = np.cumsum(np.isin(self.codes, self.read)) - 1
        for fold in self.read:
            own = self.codes == fold
            reading = np.flatnonzero(own)
            yield Round(fold, np.flatnonzero(~own), reading, place[reading])


def deal_evenly(units: NDArray[np.integer], labels: NDArray[np.integer], n_folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row, (N,): whole units, dealt such that folds are alike in size and in labels.

    Units are sorted by size and by their most frequent label, in random order where equal, and dealt out to and fro.

    Args:
        units: Codes of rows that stay together, (N,).
        labels: Codes of the rows' labels, (N,).
        n_folds: How many; fewer are filled where there are fewer units.
        seed: Of the order.

    Source: Kohavi 1995, "A study of cross-validation and bootstrap" (stratified folds).
    """
    codes = np.unique(units, return_inverse=True)[1]
    sizes = np.bincount(codes)
    n_labels = int(labels.max(initial=0)) + 1
    of_label = np.bincount(codes * n_labels + labels, minlength=sizes.size * n_labels).reshape(sizes.size, n_labels)
    order = np.lexsort((np.random.default_rng(seed).random(sizes.size), of_label.argmax(axis=1), -sizes))
    turn = np.arange(sizes.size) % (2 * n_folds)
    fold = np.empty(sizes.size, np.int64)
    fold[order] = np.minimum(turn, 2 * n_folds - 1 - turn)
    return fold[codes]
