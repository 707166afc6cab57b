"""Compiled loops: how alike the choices of an item are, which is out of order, what they have of its question.

Rules that pick a choice without training: the longest, the second, the one that shares most words with the question.

A rule picks a set S of the C choices of an item, and abstains where it picks all of them or none. What it hits is
h = |S and right ones| / |S|; chance hits p = g / C of g right ones, with the variance
p (1 - p) (C - t) / ((C - 1) t) at t = |S|. An item that it abstains on counts as chance. The effect over all items is

    sum_i (h_i - p_i) / sum_i (1 - p_i),

0 for a rule that gains nothing and 1 for one that is always right.

Source: Balepur, Ravichander and Rudinger 2024 (choices alone); Gururangan et al. 2018 for length and negation; McCoy,
Pavlick and Linzen 2019 for overlap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import STEP, absorbed
from goldassay.readers.rule_effects import KeyPositions, RuleEffect
from goldassay.stats.clusters import dense_codes
from goldassay.stats.significance import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds.choices import ChoiceItems

_BITS = np.uint64(21)


@compiled
def mean_likeness(
    characters: NDArray[np.uint32], lengths: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Mean Jaccard similarity of each choice's character 3-grams to those of the item's other choices, (M,).

    A text of fewer than three characters is one gram; two empty texts are alike.

    Args:
        characters: Code points of all choices, one after the other.
        lengths: Of each choice, in characters, (M,).
        offsets: Where the choices of each item begin, and where the last one's end, (N + 1,).
    """
    starts = np.zeros(lengths.size + 1, np.int64)
    starts[1:] = np.cumsum(lengths)
    found = np.zeros(lengths.size, np.float64)
    for item in range(offsets.size - 1):
        first, end = offsets[item], offsets[item + 1]
        room = np.empty(starts[end] - starts[first] + end - first, np.uint64)
        bounds = np.zeros(end - first + 1, np.int64)
        n = 0
        for choice in range(first, end):
            begin, size = starts[choice], lengths[choice]
            n_grams = max(size - 2, 1)
            for at in range(n_grams):
                gram = np.uint64(0)
                for x in range(begin + at, min(begin + at + 3, begin + size)):
                    gram = (gram << _BITS) | np.uint64(characters[x] + 1)
                room[n + at] = gram
            grams = np.sort(room[n : n + n_grams])
            kept = 0
            for at in range(n_grams):
                if at == 0 or grams[at] != grams[at - 1]:
                    room[n + kept] = grams[at]
                    kept += 1
            n += kept
            bounds[choice - first + 1] = n
        for one in range(end - first):
            for two in range(one + 1, end - first):
                x, y, shared = bounds[one], bounds[two], 0
                while x < bounds[one + 1] and y < bounds[two + 1]:
                    if room[x] == room[y]:
                        shared += 1
                        x += 1
                        y += 1
                    elif room[x] < room[y]:
                        x += 1
                    else:
                        y += 1
                union = bounds[one + 1] - bounds[one] + bounds[two + 1] - bounds[two] - shared
                alike = shared / union
                found[first + one] += alike
                found[first + two] += alike
        for choice in range(first, end):
            found[choice] /= max(end - first - 1, 1)
    return found


@compiled
def out_of_order(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 for each choice without which the values of the others rise, or fall, all along, and 0 for others, (M,).

    Equal neighbors are in order either way. Where the values of all are in order, that of each choice is 1.

    Args:
        values: Of all choices, one after the other, (M,).
        offsets: Where the choices of each item begin, and where the last one's end, (N + 1,).
    """
    found = np.zeros(values.size, np.float64)
    for item in range(offsets.size - 1):
        for left_out in range(offsets[item], offsets[item + 1]):
            rises, falls = True, True
            before = -1
            for choice in range(offsets[item], offsets[item + 1]):
                if choice == left_out:
                    continue
                if before >= 0:
                    rises &= values[before] <= values[choice]
                    falls &= values[before] >= values[choice]
                before = choice
            found[left_out] = rises or falls
    return found


@compiled
def shared_sequences(
    units: NDArray[np.uint64],
    lengths: NDArray[np.int64],
    offsets: NDArray[np.int64],
    context: NDArray[np.uint64],
    context_lengths: NDArray[np.int64],
    size: int,
) -> NDArray[np.float64]:
    """Share of each choice's sequences of so many units that stand in the context of its item, (M,).

    Units are characters or words, by number. A choice of fewer units shares nothing. Sequences are compared by a hash
    of 64 bits, of which two are alike by chance once in 10^19.

    Args:
        units: Of all choices, one after the other.
        lengths: Of each choice, in units, (M,).
        offsets: Where the choices of each item begin, and where the last one's end, (N + 1,).
        context: Units of all contexts.
        context_lengths: Of each context, (N,).
        size: Units of a sequence.
    """
    found = np.zeros(lengths.size, np.float64)
    begin, context_begin = 0, 0
    for item in range(offsets.size - 1):
        known = np.sort(_sequences(context, context_begin, context_lengths[item], size))
        context_begin += context_lengths[item]
        for choice in range(offsets[item], offsets[item + 1]):
            own = _sequences(units, begin, lengths[choice], size)
            begin += lengths[choice]
            shared = 0
            for gram in own:
                at = np.searchsorted(known, gram)
                shared += at < known.size and known[at] == gram
            if own.size:
                found[choice] = shared / own.size
    return found


@compiled_within
def _sequences(units: Any, begin: int, length: int, size: int) -> Any:
    """Hashes of all sequences of a text."""
    found = np.empty(max(length - size + 1, 0), np.uint64)
    for at in range(found.size):
        gram = STEP
        for x in range(begin + at, begin + at + size):
            gram = absorbed(gram, units[x])
        found[at] = gram
    return found


# With fewer items p is by drawing right answers at random, so many times.
FEW_ITEMS, DRAWS = 300, 100_000
# A word in at most this share of the items, or in two of them, is rare.
RARE_SHARE = 0.001
MOST_POSITIONS = 10

ABSOLUTE = r"(?i)\b(?:always|never|all|none|only|must|every|entirely|completely|absolutely|no one|nothing)\b"
HEDGE = r"(?i)\b(?:may|might|some|usually|often|sometimes|generally|likely|can|could|tends?|probably|typically)\b"
_OF_THE_ABOVE = r"(?i)\b(?:all|none|both|neither|any) of (?:the )?(?:above|these|them|those)\b"
WORD = r"[\p{L}\p{M}\p{N}]+"
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
_ARTICLE = r"(?i)\b(a|an)\s*[:_.…]*$"
_VERB = r"(?i)\b(is|was|are|were)\s*(?:an?|the)?\s*[:_.…]*$"
_BEFORE_BLANK = r"(?s)^(.*?(?:^|\s))_+"
_COPY_LENGTH = 4


@dataclass(frozen=True)
class Picks:
    """What a rule picks.

    Attributes:
        rule: Its name.
        hits: h of each item, p where it abstains, (N,).
        applies: Whether it picks some choices and not all, (N,).
        sizes: t, (N,); 0 where it abstains.
    """

    rule: str
    hits: NDArray[np.float64]
    applies: NDArray[np.bool_]
    sizes: NDArray[np.int64]

    def take(self, items: NDArray[np.integer]) -> Picks:
        """What it picks from some of the items, by number."""
        return replace(self, hits=self.hits[items], applies=self.applies[items], sizes=self.sizes[items])


def chance_of(items: ChoiceItems) -> NDArray[np.float64]:
    """Share of each item's choices that are right, (N,)."""
    return items.n_right / items.sizes


def pick_all(items: ChoiceItems) -> list[Picks]:
    """What every rule picks from every item."""
    return [picks_of(rule, wanted, items) for rule, wanted in _wanted(items).items()]


def picks_of(rule: str, wanted: NDArray[np.bool_], items: ChoiceItems) -> Picks:
    """What a rule hits that wants some of the choices, (M,)."""
    sizes = np.add.reduceat(wanted.astype(np.int64), items.offsets[:-1])
    applies = (sizes > 0) & (sizes < items.sizes)
    right = np.add.reduceat((wanted & items.right).astype(np.int64), items.offsets[:-1])
    hits = np.where(applies, right / np.maximum(sizes, 1), chance_of(items))
    return Picks(rule, hits, applies, np.where(applies, sizes, 0))


def measure_rules(
    items: ChoiceItems, clusters: NDArray[np.integer] | None = None, seed: int = 0
) -> tuple[list[RuleEffect], list[Picks]]:
    """Effect, z and p of every rule; and what each picks.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, such as those of one passage, (N,).
        seed: Of the draws.
    """
    picks = pick_all(items)
    return measure_picks(picks, items, clusters, seed), picks


def measure_picks(
    picks: Sequence[Picks],
    items: ChoiceItems,
    clusters: NDArray[np.integer] | None = None,
    seed: int = 0,
) -> list[RuleEffect]:
    """Effect, z and p of rules by what they pick; two-sided where the kind of the items is.

    Args:
        picks: What each rule picks.
        items: N of them.
        clusters: See `measure_rules`.
        seed: Of the draws.
    """
    p, sizes, n_right = chance_of(items), items.sizes, items.n_right
    rng = np.random.default_rng(seed)
    found = [rule_effect(each, p, sizes, n_right, clusters, rng, two_sided=items.kind.two_sided) for each in picks]
    adjusted = holm([each.p for each in found]).tolist()
    return [replace(each, p_adjusted=last) for each, last in zip(found, adjusted, strict=True)]


def rule_effect(
    picks: Picks,
    chance: NDArray[np.float64],
    sizes: NDArray[np.int64],
    n_right: NDArray[np.int64],
    clusters: NDArray[np.integer] | None,
    rng: np.random.Generator,
    draw_below: float = 1.0,
    *,
    two_sided: bool = False,
) -> RuleEffect:
    """Effect, z and p of one rule; its p is not adjusted.

    Args:
        picks: What it picks from N items.
        chance: Share of each item's choices that are right, (N,).
        sizes: Choices of each, (N,).
        n_right: Right ones of each, (N,).
        clusters: Codes of items that do not vary independently, (N,).
        rng: Draws right answers where items are few.
        draw_below: Of the normal approximation's p: a larger one is taken as it is, which saves most of many tests.
        two_sided: Whether hitting as little counts, too.
    """
    from scipy.special import ndtr

    excess = picks.hits - chance
    t = np.maximum(picks.sizes, 1)
    variance = np.where(picks.applies, chance * (1 - chance) * (sizes - t) / (np.maximum(sizes - 1, 1) * t), 0.0)
    total = float(variance.sum())
    clustered = False
    if clusters is not None:
        sums = np.bincount(np.unique(clusters, return_inverse=True)[1], excess)
        # What items of a cluster have in common; without it, their null variance.
        shared = float((sums**2).sum() - (excess**2).sum())
        clustered = shared > 0
        total += max(shared, 0.0)
    z = float(excess.sum()) / math.sqrt(total) if total > 0 else math.nan
    p = float(2 * ndtr(-abs(z)) if two_sided else ndtr(-z))
    if sizes.size < FEW_ITEMS and not clustered and p <= draw_below:
        p = _drawn_p(picks, excess, sizes, n_right, rng, two_sided=two_sided)
    n = int(picks.applies.sum())
    hits, guessed = (float(x[picks.applies].mean()) if n else math.nan for x in (picks.hits, chance))
    return RuleEffect(picks.rule, n, hits, guessed, float(excess.sum() / (1 - chance).sum()), z, p, math.nan)


def _drawn_p(
    picks: Picks,
    excess: NDArray[np.float64],
    sizes: NDArray[np.int64],
    n_right: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    two_sided: bool,
) -> float:
    """How often right answers that are drawn hit as much; two-sided, twice the rarer of as much and as little."""
    drawn = np.zeros(DRAWS)
    kinds, n_kinds = np.unique(
        np.stack([picks.sizes, sizes, n_right])[:, picks.applies], axis=1, return_counts=True
    )  # fmt: skip
    for (t, c, g), n in zip(kinds.T.tolist(), n_kinds.tolist(), strict=True):
        if g == 1:
            drawn += rng.binomial(n, t / c, DRAWS) / t
        else:
            for _ in range(n):
                drawn += rng.hypergeometric(g, c - g, t, DRAWS) / t
    p = n_right / sizes
    hit = float((excess + p)[picks.applies].sum())
    much = (1 + np.count_nonzero(drawn >= hit - 1e-9)) / (1 + DRAWS)
    if not two_sided:
        return float(much)
    little = (1 + np.count_nonzero(drawn <= hit + 1e-9)) / (1 + DRAWS)
    return float(min(1.0, 2 * min(much, little)))


def measure_positions(items: ChoiceItems, clusters: NDArray[np.integer] | None = None) -> KeyPositions | None:
    """Test all places of right choices together; None where places mean nothing.

    With o the sum over items of [right at place k] - chance, and V its covariance under chance, o' V^-1 o is chi-square
    (of equal numbers of choices Pearson's). Where items depend on each other, it is divided by the mean design effect
    and its spread over directions, and compared with F of G - 1 clusters. Simulated at p < .001: .0 to .09 % of sets.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).

    Source: Pearson 1900; Rao and Scott 1984 and Thomas and Rao 1987 for clusters.
    """
    from scipy.special import chdtrc, fdtrc

    most = int(items.sizes.max())
    if not items.ordered:
        return None
    chance, size = chance_of(items), items.sizes
    excess = np.zeros((len(items), most))
    excess[items.item_of, items.places] = items.right - chance[items.item_of]
    observed = excess.sum(axis=0)
    spread = chance * (1 - chance) * size / np.maximum(size - 1, 1)
    covariance = np.zeros((most, most))
    for n_choices in np.unique(size).tolist():
        block = np.eye(n_choices) - 1 / n_choices
        covariance[:n_choices, :n_choices] += float(spread[size == n_choices].sum()) * block
    inverse = np.linalg.pinv(covariance, hermitian=True)
    chi_square, df = float(observed @ inverse @ observed), float(np.linalg.matrix_rank(covariance, hermitian=True))
    codes = dense_codes(clusters, len(items))
    sizes = np.bincount(codes)
    if sizes.size == len(items):
        p = float(chdtrc(df, chi_square))
    else:
        sums = np.stack([np.bincount(codes, each) for each in excess.T], axis=1)
        sums -= sizes[:, np.newaxis] * observed / len(items)
        design = inverse @ (sums.T @ sums) * sizes.size / max(sizes.size - 1, 1)
        mean = float(np.trace(design)) / df
        # Where every cluster has each place as often, nothing is uneven, and nothing varies.
        unequal = float(np.trace(design @ design)) / (df * mean**2) if mean > 0 else 1.0
        chi_square, df = (chi_square / (mean * unequal) if mean > 0 else 0.0), df / unequal
        p = float(fdtrc(df, df * max(sizes.size - 1, 1), chi_square / df))
    best = int(observed.argmax())
    at_best = items.right & (items.places == best)
    gained = float(observed[best] / (1 - chance).sum())
    to_move = float(observed[observed > 0].sum() / items.n_right.sum())
    return KeyPositions(best + 1, float(at_best.sum() / len(items)), gained, to_move, chi_square, df, p, len(items))


def _wanted(items: ChoiceItems) -> dict[str, NDArray[np.bool_]]:
    """Of each rule the choices that it picks, (M,)."""
    texts = items.texts
    characters = texts.str.len_chars().to_numpy().astype(np.float64)
    words = texts.str.count_matches(r"\S+").to_numpy().astype(np.float64)
    most, least = most_of(items), _least(items)
    found = {
        "longest": most(characters),
        "shortest": least(characters),
        "most words": most(words),
        "fewest words": least(words),
    }
    if items.ordered:
        for place in range(min(int(items.sizes.max()), MOST_POSITIONS)):
            found[f"position {place + 1}"] = items.places == place
    shared, rare = word_shares(items)
    found |= {"most words shared": most(shared), "fewest words shared": least(shared)}
    found["copied from the passage"] = _copied(items)
    alike = _likeness(texts, items.offsets)
    found |= {"odd one out": least(alike), "most like the others": most(alike)}
    found |= _by_number(items)
    for rule, pattern in (("absolute word", ABSOLUTE), ("hedge", HEDGE), ("of the above", _OF_THE_ABOVE)):
        found[rule] = texts.str.contains(pattern).to_numpy()
    found |= {"most specific": most(rare), "least specific": least(rare)}
    found["fits the grammar"] = _fitting(items)
    if items.padded is not None:
        found |= {"white space at an end": items.padded, "no white space at an end": ~items.padded}
    return found


def most_of(items: ChoiceItems) -> Callable[[NDArray[np.float64]], NDArray[np.bool_]]:
    """What picks the choices of each item that have most of something, all of them where they have as much."""

    def pick(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(values == np.maximum.reduceat(values, items.offsets[:-1])[items.item_of])

    return pick


def _least(items: ChoiceItems) -> Callable[[NDArray[np.float64]], NDArray[np.bool_]]:
    most = most_of(items)
    return lambda values: most(-values)


def word_shares(items: ChoiceItems) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the distinct words of each choice the share that question or passage has, and the share that is rare, (M,)."""
    of_choices = (
        pl.DataFrame({"choice": np.arange(items.right.size), "item": items.item_of, "text": items.texts})
        .select("choice", "item", word=pl.col("text").str.to_lowercase().str.extract_all(WORD).list.unique())
        .explode("word", empty_as_null=True)
        .drop_nulls("word")
    )
    context = (
        pl.DataFrame({"item": np.arange(len(items)), "text": items.questions + " " + items.passages})
        .select("item", word=pl.col("text").str.to_lowercase().str.extract_all(WORD).list.unique())
        .explode("word", empty_as_null=True)
        .drop_nulls("word")
        .with_columns(shared=pl.lit(1.0))
    )
    spread = of_choices.group_by("word").agg(n_items=pl.col("item").n_unique())
    bound = max(2.0, RARE_SHARE * len(items))
    shares = (
        of_choices.join(context, on=["item", "word"], how="left")
        .join(spread, on="word")
        .group_by("choice")
        .agg(
            shared=pl.col("shared").fill_null(0.0).mean(),
            rare=(pl.col("n_items") <= bound).cast(pl.Float64).mean(),
        )
    )
    at = shares["choice"].to_numpy()
    found = np.zeros((2, items.right.size))
    for row, name in enumerate(("shared", "rare")):
        found[row, at] = shares[name].to_numpy()
    return found[0], found[1]


def _copied(items: ChoiceItems) -> NDArray[np.bool_]:
    """Choices that stand word for word in the passage, (M,)."""
    frame = pl.DataFrame({"text": items.texts, "passage": items.passages.gather(items.item_of)})
    text = pl.col("text").str.to_lowercase()
    copied = (pl.col("text").str.len_chars() >= _COPY_LENGTH) & pl.col("passage").str.to_lowercase().str.contains(
        text, literal=True
    )
    return frame.select(copied.fill_null(value=False)).to_series().to_numpy()


def _likeness(texts: pl.Series, offsets: NDArray[np.int64]) -> NDArray[np.float64]:

    lowered = texts.str.to_lowercase()
    characters = np.frombuffer(lowered.str.join("").item().encode("utf-32-le"), "<u4").astype(np.uint32, copy=False)
    lengths = lowered.str.len_chars().to_numpy().astype(np.int64)
    # Sums of equal shares in another order differ in their last digits, and would not tie.
    return np.round(np.asarray(mean_likeness(characters, lengths, offsets)), 12)


def _by_number(items: ChoiceItems) -> dict[str, NDArray[np.bool_]]:
    """The smallest, the middle and the largest number, where each choice holds just one, (M,)."""
    texts = items.texts
    single = (texts.str.count_matches(NUMBER) == 1).to_numpy()
    numbers = texts.str.extract(f"({NUMBER})").str.replace_all(",", "").cast(pl.Float64, strict=False)
    values = np.where(single, numbers.fill_null(math.nan).to_numpy(), math.nan)
    known = np.add.reduceat((~np.isnan(values)).astype(np.int64), items.offsets[:-1]) == items.sizes
    of_item = known[items.item_of]
    values = np.where(of_item, values, 0.0)
    largest, smallest = most_of(items)(values) & of_item, _least(items)(values) & of_item
    return {"smallest number": smallest, "middle number": of_item & ~largest & ~smallest, "largest number": largest}


def _fitting(items: ChoiceItems) -> NDArray[np.bool_]:
    """Choices that fit the question's end or blank: by first letter after a and an, number after is and are, (M,)."""
    questions = items.questions.str.strip_chars()
    # Of a sentence with a blank what stands before that.
    stem = pl.select(pl.coalesce(questions.str.extract(_BEFORE_BLANK), questions)).to_series()
    article = stem.str.extract(_ARTICLE).str.to_lowercase().gather(items.item_of)
    verb = stem.str.extract(_VERB).str.to_lowercase().gather(items.item_of)
    frame = pl.DataFrame({"text": items.texts, "article": article, "verb": verb})
    vowel = pl.col("text").str.contains(r"(?i)^[aeiou]")
    plural = pl.col("text").str.contains(r"(?i)[^s]s[.)]*$")
    by_article = pl.when(pl.col("article") == "an").then(vowel).when(pl.col("article") == "a").then(~vowel)
    by_verb = (
        pl.when(pl.col("verb").is_in(["are", "were"])).then(plural)
        .when(pl.col("verb").is_in(["is", "was"])).then(~plural)
    )  # fmt: skip
    fits = pl.coalesce(by_article, by_verb).fill_null(value=False)
    return frame.select(fits).to_series().to_numpy()
