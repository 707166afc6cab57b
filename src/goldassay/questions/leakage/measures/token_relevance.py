"""Do a model of a part and a model of the whole look at the same words?

Which words tell a group of texts from all others.

Words that give a label away by themselves: which lean to a label, how far, and where they are in a text.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.core.arguments import as_numbers
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result
from goldassay.data.languages import UNSPACED
from goldassay.questions.leakage.measures.clusters import Convention, is_paper
from goldassay.stats.intervals import mean_interval, wilson_bounds
from goldassay.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from goldassay.data.tokenization import TokenizedCorpus

ZERO = "a map without any relevance"
CUT = "the shared sentence was cut short"


@dataclass(frozen=True)
class TokenRelevanceAgreement(Result):
    """Agreement of two models' token relevances; see `token_relevance_agreement`.

    Attributes:
        agreement: Mean over examples, with the bounds of a Student t interval; NaN where no example counts.
        agreement_low: Lower bound.
        agreement_high: Upper bound.
        shared_share: Mean share of the paired model's relevance that falls on the shared sentence.
        example_agreements: Of each example, (N,); NaN for those left out.
        example_shared_shares: Likewise.
        n_examples: N.
        n_used: Examples behind the means.
        skipped: Why examples were left out, and how many.
        convention: Which convention.
    """

    agreement: float
    agreement_low: float
    agreement_high: float
    shared_share: float
    example_agreements: NDArray[np.float64]
    example_shared_shares: NDArray[np.float64]
    n_examples: int
    n_used: int
    skipped: dict[str, int]
    convention: Convention

    def __float__(self) -> float:
        return self.agreement

    def to_frame(self) -> pl.DataFrame:
        """One row an example: agreement and shared_share, null for those left out."""
        columns = {"agreement": self.example_agreements, "shared_share": self.example_shared_shares}
        return pl.DataFrame(columns).fill_nan(None)


def token_relevance_agreement(
    single: Sequence[ArrayLike] | NDArray[np.floating],
    paired: Sequence[ArrayLike] | NDArray[np.floating],
    starts: ArrayLike | None = None,
    *,
    condition: Literal["hypothesis_only", "premise_only"] = "hypothesis_only",
    single_mask: ArrayLike | None = None,
    paired_mask: ArrayLike | None = None,
    cut: ArrayLike | None = None,
    convention: Convention = "recommended",
) -> TokenRelevanceAgreement:
    """Cosine of the relevance maps of a model of one sentence and a model of the pair, mean over examples.

    A map holds r_j = ||d log p(y_hat | x) / d e_j||_2 of each token j, e_j its embedding. The single sentence's map s
    is laid over the same tokens of the paired map p, zeros elsewhere: sum_j s_j p_(start+j) / (||s|| ||p||). It lies
    in [0, 1], is 1 for maps that are proportional, and does not change when a map is scaled.

    "recommended" lays each map by where the shared sentence starts, on maps that hold real tokens only. "paper" (also
    "code") does as the text says and the released code does: the single map is padded with zeros at its front
    ("hypothesis_only") or back ("premise_only") to the length of the paired map, whatever the maps hold; masks and cuts
    are not looked at, so that separators and padding count, and shift the maps against each other, as they do there.

    Args:
        single: N maps, of any lengths, or (N, L) with a mask; at least 0, not necessarily normalized.
        paired: N maps of the pairs of sentences, likewise.
        starts: Where the shared sentence begins in each paired map, (N,), counted after masking; if not given it is
            the last there is ("hypothesis_only") or the first ("premise_only").
        condition: Which sentence is shared.
        single_mask: True where a token is real, (N, L); only with (N, L) maps.
        paired_mask: Likewise.
        cut: Whether the shared sentence lost tokens in either map, (N,): left out and counted.
        convention: Which.

    Raises:
        InputError: The numbers of maps differ, a relevance is negative or no number, a mask has another shape, or a
            shared sentence does not fit into its paired map.

    Source: Saxon, Wang, Xu and Wang 2023, "PECO", and its released code.
    """
    paper = is_paper(convention)
    if condition not in ("hypothesis_only", "premise_only"):
        raise InputError(f"condition {condition!r} is unknown", mend="choose hypothesis_only or premise_only")
    part = _Maps.of(single, None if paper else single_mask, "single")
    whole = _Maps.of(paired, None if paper else paired_mask, "paired")
    if part.lengths.size != whole.lengths.size:
        raise InputError(
            f"there are {part.lengths.size} single and {whole.lengths.size} paired maps",
            mend="give both for the same examples in the same order",
        )
    n = part.lengths.size
    excluded = np.zeros(n, bool) if paper or cut is None else _flags(cut, n)
    room = whole.lengths - part.lengths
    begins = (room if condition == "hypothesis_only" else 0 * room) if starts is None or paper else _starts(starts, n)
    if not paper:
        _check_fit(begins, part.lengths, whole.lengths, excluded)
    products, covered = _overlaps(part, whole, begins)
    norms = np.sqrt(part.sums(part.values**2) * whole.sums(whole.values**2))
    zero = (norms == 0) & ~excluded
    used = ~excluded & ~zero
    cosines, shares = np.full(n, np.nan), np.full(n, np.nan)
    cosines[used] = np.clip(products[used] / norms[used], 0.0, 1.0)
    shares[used] = covered[used] / whole.sums(whole.values)[used]
    counts = {CUT: int(excluded.sum()), ZERO: int(zero.sum())}
    return _summary(cosines, shares, used, {why: count for why, count in counts.items() if count}, convention)


@dataclass(frozen=True)
class _Maps:
    """Maps of all examples end to end: values, the example of each, and lengths (N,)."""

    values: NDArray[np.float64]
    rows: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, maps: Sequence[ArrayLike] | NDArray[np.floating], mask: ArrayLike | None, name: str) -> _Maps:
        if isinstance(maps, str) or not isinstance(maps, Iterable):
            raise InputError(f"the {name} maps are {maps!r}", mend="give a list of maps, one an example")
        arrays = [as_numbers(each, f"a {name} map's relevances").astype(np.float64) for each in maps]
        if any(each.ndim != 1 for each in arrays):
            raise InputError(f"a {name} map is not one number a token")
        if mask is not None:
            keep = np.asarray(mask, dtype=bool)
            if keep.shape != (len(arrays), arrays[0].size if arrays else 0):
                raise InputError(
                    f"the mask of the {name} maps has shape {keep.shape}", mend="give the shape of the maps"
                )
            arrays = [each[row] for each, row in zip(arrays, keep, strict=True)]
        lengths = np.array([each.size for each in arrays], np.int64)
        values = np.concatenate(arrays) if arrays else np.empty(0)
        rows = np.repeat(np.arange(lengths.size), lengths)
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            raise InputError(
                f"a {name} map holds {values[bad][0]}, first in example {rows[bad][0]}",
                mend="relevances are norms: at least 0",
            )
        return cls(values, rows, lengths)

    # Without a token NumPy counts in whole numbers.
    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(self.rows, values, minlength=self.lengths.size).astype(np.float64)


def _overlaps(part: _Maps, whole: _Maps, begins: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each example the sum of s_j p_(start+j), and of p_(start+j), over tokens that both maps hold."""
    firsts = np.cumsum(part.lengths) - part.lengths
    places = np.arange(part.values.size) - firsts[part.rows] + begins[part.rows]
    inside = (places >= 0) & (places < whole.lengths[part.rows])
    offsets = np.cumsum(whole.lengths) - whole.lengths
    beneath = np.zeros(part.values.size)
    beneath[inside] = whole.values[offsets[part.rows[inside]] + places[inside]]
    return part.sums(part.values * beneath), part.sums(beneath)


def _summary(
    cosines: NDArray[np.float64],
    shares: NDArray[np.float64],
    used: NDArray[np.bool_],
    skipped: dict[str, int],
    convention: Convention,
) -> TokenRelevanceAgreement:
    n_used = int(used.sum())
    mean = share = low = high = float("nan")
    if not n_used:
        why = "; ".join(f"{reason}: {count}" for reason, count in skipped.items()) or "there are no examples"
        warnings.warn(f"token relevance agreement is undefined: {why}", UndefinedMeasureWarning, stacklevel=3)
    else:
        mean, share = float(cosines[used].mean()), float(shares[used].mean())
    if n_used > 1:
        bounds = mean_interval(cosines[used])
        low, high = max(bounds.low, 0.0), min(bounds.high, 1.0)
    return TokenRelevanceAgreement(mean, low, high, share, cosines, shares, used.size, n_used, skipped, convention)


def _check_fit(
    begins: NDArray[np.int64], parts: NDArray[np.int64], wholes: NDArray[np.int64], excluded: NDArray[np.bool_]
) -> None:
    wrong = ((begins < 0) | (begins + parts > wholes)) & ~excluded
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"the {parts[row]} tokens of the shared sentence do not fit into the {wholes[row]} of the pair from token "
            f"{max(int(begins[row]), 0)} on, first in example {row}, {int(wrong.sum())} in all",
            mend="give maps of the same tokens, or say in `cut` which sentences were cut short",
        )


def _starts(values: ArrayLike, n: int) -> NDArray[np.int64]:
    starts = np.asarray(values)
    if starts.shape != (n,) or not np.issubdtype(starts.dtype, np.integer):
        raise InputError(f"starts must be {n} whole numbers, one an example")
    return starts.astype(np.int64)


def _flags(values: ArrayLike, n: int) -> NDArray[np.bool_]:
    flags = np.asarray(values, dtype=bool)
    if flags.shape != (n,):
        raise InputError(f"cut has shape {flags.shape}, not one value for each of {n} examples")
    return flags


# Words of all examples together that count as much as one cluster's: how firmly the prior holds rare words back.
_PRIOR_WORDS = 500.0


@dataclass(frozen=True)
class WordWeights(Result):
    """How much each word belongs to each cluster; see `weighted_log_odds`.

    Attributes:
        words: V words.
        log_odds: Difference of the logarithms of the odds, natural, (k, V).
        z: `log_odds` over its standard deviation, (k, V).
        counts: Of each word in each cluster, (k, V).
    """

    words: tuple[str, ...]
    log_odds: NDArray[np.float64]
    z: NDArray[np.float64]
    counts: NDArray[np.int64]

    def top(self, cluster: int, n: int = 8, least_z: float = 1.96, least_count: int = 3) -> list[dict[str, Any]]:
        """The n words with the largest z of a cluster, none below `least_z` or `least_count`.

        Each with word, z, count and elsewhere, its count in all other clusters.
        """
        usable = np.where(self.counts[cluster] >= least_count, self.z[cluster], -np.inf)
        order = np.argsort(-usable, kind="stable")[:n]
        totals = self.counts.sum(axis=0)
        return [
            {
                "word": self.words[v],
                "z": float(self.z[cluster, v]),
                "count": int(self.counts[cluster, v]),
                "elsewhere": int(totals[v] - self.counts[cluster, v]),
            }
            for v in order
            if usable[v] >= least_z
        ]


def weighted_log_odds(
    counts: ArrayLike, words: Sequence[str], prior: ArrayLike | None = None, prior_size: float = _PRIOR_WORDS
) -> WordWeights:
    """Which words tell each cluster from all others, rare words held back by a prior.

    With y_w and n the count of word w and of all words in a cluster, and a_w a Dirichlet prior with sum a:
    log_odds = log((y_w + a_w)/(n + a - y_w - a_w)) - the same of all other clusters together,
    z = log_odds / sqrt(1/(y_w + a_w) + 1/(y'_w + a_w)).

    Args:
        counts: (k, V).
        words: V names.
        prior: a_w up to a factor, (V,), all above 0; counts of all clusters together if not given.
        prior_size: a.

    Raises:
        InputError: Shapes do not fit, or the prior is not above 0.

    Source: Monroe, Colaresi and Quinn 2008, "Fightin' Words", with an informative prior.
    """
    y = np.asarray(counts, dtype=np.float64)
    if y.ndim != 2 or y.shape[1] != len(words):
        raise InputError(f"counts have shape {y.shape}, and there are {len(words)} words")
    weights = y.sum(axis=0) if prior is None else np.asarray(prior, dtype=np.float64)
    if weights.shape != (y.shape[1],) or not np.all(weights > 0):
        raise InputError("the prior of a word is not above 0", mend="leave out words that never occur")
    a = prior_size * weights / weights.sum()
    others = y.sum(axis=0) - y
    inside, outside = y + a, others + a
    rest_inside = y.sum(axis=1, keepdims=True) + prior_size - inside
    rest_outside = others.sum(axis=1, keepdims=True) + prior_size - outside
    log_odds = np.log(inside / rest_inside) - np.log(outside / rest_outside)
    z = log_odds / np.sqrt(1 / inside + 1 / outside)
    return WordWeights(tuple(words), log_odds, z, y.astype(np.int64))


def word_counts(
    corpus: TokenizedCorpus, clusters: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.int64], list[str]]:
    """In how many examples of each cluster each word occurs, (k, V), and the V words.

    Examples are counted, not occurrences: a word said five times in one sentence is one example to rewrite. Words
    are told apart without case; signs without a letter or digit are no words.
    """
    folded = [word.casefold() for word in corpus.vocabulary]
    names = sorted({word for word in folded if any(character.isalnum() for character in word)})
    code = {name: i for i, name in enumerate(names)}
    codes = np.array([code.get(word, -1) for word in folded], np.int64)[corpus.ids]
    rows = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))[codes >= 0]
    pairs = np.unique(rows * max(len(names), 1) + codes[codes >= 0])
    cells = clusters[pairs // max(len(names), 1)] * len(names) + pairs % max(len(names), 1)
    return np.bincount(cells, minlength=n_clusters * len(names)).reshape(n_clusters, len(names)), names


# Scripts without spaces are cut into characters, all others into words, which may hold an apostrophe.
_OWN = UNSPACED.strip("[]")
WORD = rf"[{_OWN}]|[^\W{_OWN}]+(?:['’][^\W{_OWN}]+)*"
# As many texts as a word that is a pattern of ten texts, and a label that it makes a fifth likelier at the least.
LEAST_TEXTS, LEAST_LIFT = 10, 1.2
MOST_WORDS = 300
SCHEMA = {"word": pl.String, "label": pl.String, "support": pl.Int64, "probability": pl.Float64, "lift": pl.Float64,
          "q_value": pl.Float64}  # fmt: skip


def leaning_words(
    texts: pl.Series, codes: NDArray[np.integer], label_names: Sequence[str], *, q: float, most: int = MOST_WORDS
) -> pl.DataFrame:
    """The words that lean to a label by themselves, the strongest of each label first.

    Of a word in n_w distinct texts, n_wk of label k with the share p_k of all texts, the label is that with the largest
    (n_wk - n_w p_k)/sqrt(n_w p_k (1 - p_k)), and p is K P(X >= n_wk), X binomial with n_w and p_k. Kept are words whose
    q over all words of `LEAST_TEXTS` texts or more (Benjamini and Hochberg 1995) is at most `q`, and for which the
    lower end of the lift, the 95 % Wilson interval of n_wk/n_w over p_k, is at least `LEAST_LIFT`.

    Args:
        texts: N texts; one that occurs several times with one label counts once.
        codes: Of their labels, (N,).
        label_names: K names.
        q: Largest false discovery rate.
        most: Words a label.

    Returns:
        Columns of `SCHEMA`; words are in lower case, support is n_w, lift is the lower end.
    """
    from scipy.special import betainc

    rows = pl.DataFrame({"text": texts, "code": pl.Series(codes, dtype=pl.Int64)}).drop_nulls().unique()
    of_label = np.bincount(rows["code"].to_numpy(), minlength=len(label_names)).astype(np.float64)
    found = rows.select("code", word=pl.col("text").str.to_lowercase().str.extract_all(WORD).list.unique())
    counted = (
        found.explode("word").drop_nulls().group_by("word", "code").len()
        .with_columns(support=pl.col("len").sum().over("word"), total=pl.col("len").cast(pl.Float64))
        .filter(pl.col("support") >= LEAST_TEXTS).sort("word", "code")
    )  # fmt: skip
    if not counted.height or (of_label > 0).sum() < 2:
        return pl.DataFrame(schema=SCHEMA)
    prior = (of_label / of_label.sum())[counted["code"].to_numpy()]
    n, k = (counted[name].to_numpy().astype(np.float64) for name in ("support", "total"))
    z = (k - n * prior) / np.sqrt(n * prior * (1 - prior))
    p = np.minimum(1.0, betainc(k, n - k + 1, prior) * len(label_names))
    best = (
        counted.with_columns(z=pl.Series(z), p=pl.Series(p), prior=pl.Series(prior))
        .sort("word", "z", "code", descending=[False, True, False])
        .unique("word", keep="first", maintain_order=True)
    )
    n, k = (best[name].to_numpy() for name in ("support", "total"))
    kept = best.with_columns(
        probability=pl.Series(k / n),
        lift=pl.Series(wilson_bounds(k, n)[0]) / pl.col("prior"),
        q_value=pl.Series(benjamini_hochberg(best["p"].to_numpy())),
        label=pl.col("code").replace_strict(dict(enumerate(label_names)), return_dtype=pl.String),
        support=pl.col("support").cast(pl.Int64),
    ).filter((pl.col("q_value") <= q) & (pl.col("lift") >= LEAST_LIFT))
    ordered = kept.sort("code", "z", "word", descending=[False, True, False])
    return ordered.group_by("code", maintain_order=True).head(most).select(list(SCHEMA))


def word_places(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as `leaning_words` cuts them: (in lower case, begin, end)."""
    # By the same engine: what is a letter differs between that of polars and that of Python.
    found = []
    at = 0
    for word in pl.Series([text]).str.extract_all(WORD)[0].to_list():
        begin = text.index(word, at)
        at = begin + len(word)
        found.append((_lower(word), begin, at))
    return found


def _lower(word: str) -> str:
    return word.lower() if word.isascii() else str(pl.Series([word]).str.to_lowercase()[0])
