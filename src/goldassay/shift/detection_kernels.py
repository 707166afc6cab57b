"""The compiled loops that resample two sorted sides and measure them again, without sorting anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled, compiled_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Examples are drawn block by block, so that a draw costs eight random bits and an increment in the nearest cache.
BLOCK = 256


@compiled
def draw_counts(per_block: NDArray[np.int64], state: np.uint64, counts: NDArray[np.uint16]) -> np.uint64:
    """Draw N of N examples with replacement: fill in how often each is drawn.

    Args:
        per_block: How many draws fall into each block of 256 examples; itself a multinomial draw.
        state: Of the random generator, splitmix64 (Steele, Lea and Flood 2014).
        counts: Filled in, (N,).

    Returns:
        The state after the draws.
    """
    n = counts.size
    counts[:] = 0
    for b in range(per_block.size):
        first = b * BLOCK
        size = min(BLOCK, n - first)
        mask = np.uint64(1)
        while mask < size:
            mask *= np.uint64(2)
        mask -= np.uint64(1)
        left = per_block[b]
        while left > 0:
            state += np.uint64(0x9E3779B97F4A7C15)
            word = state
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = word ^ (word >> np.uint64(31))
            for _ in range(8):
                place = np.int64(word & mask)
                word >>= np.uint64(8)
                if place < size and left > 0:
                    counts[first + place] += np.uint16(1)
                    left -= 1
    return state


@compiled
def count_in_order(counts: NDArray[np.uint16], order: NDArray[np.int32], cumulative: NDArray[np.int32]) -> None:
    """Fill in how many of the first 0, 1, ... N examples in order there are, (N+1,), each counting so often."""
    running = 0
    cumulative[0] = 0
    for i in range(order.size):
        running += counts[order[i]]
        cumulative[i + 1] = running


@compiled
def count_from_end(cumulative: NDArray[np.int32], reversed_: NDArray[np.int32]) -> None:
    """`count_in_order` of the opposite order, out of that of an order, without going through the examples again."""
    n = cumulative.size - 1
    total = cumulative[n]
    for i in range(n + 1):
        reversed_[i] = total - cumulative[n - i]


@compiled
def _first_reaching(positives: NDArray[np.int32], starts: NDArray[np.int32], needed: int) -> int:
    """The first group with which `needed` positives or more are found."""
    low, high = 0, starts.size - 2
    while low < high:
        middle = (low + high) // 2
        if positives[starts[middle + 1]] >= needed:
            high = middle
        else:
            low = middle + 1
    return low


@compiled_sums
def _sum_tied(
    positives: NDArray[np.int32],
    negatives: NDArray[np.int32],
    starts: NDArray[np.int32],
    above: NDArray[np.int32],
    reached: NDArray[np.int32],
) -> tuple[float, float]:
    """Positives times the negatives above them, counted from either end of a tie, and precision times positives.

    The loop has no branches: which examples a draw leaves out cannot be foretold, and wrong guesses cost most of all.
    """
    twice_above = 0.0
    precision = 0.0
    for g in range(above.size):
        before, found = np.float64(positives[starts[g]]), np.float64(positives[starts[g + 1]])
        higher, not_lower = np.float64(negatives[above[g]]), np.float64(negatives[reached[g]])
        twice_above += (found - before) * (higher + not_lower)
        precision += (found - before) * found / max(1.0, found + not_lower)
    return twice_above, precision


@compiled_sums
def _sum_untied(
    positives: NDArray[np.int32], negatives: NDArray[np.int32], above: NDArray[np.int32]
) -> tuple[float, float]:
    """`_sum_tied` where no two scores are equal, which takes half the reading."""
    twice_above = 0.0
    precision = 0.0
    for g in range(above.size):
        before, found = np.float64(positives[g]), np.float64(positives[g + 1])
        higher = np.float64(negatives[above[g]])
        twice_above += (found - before) * (higher + higher)
        precision += (found - before) * found / max(1.0, found + higher)
    return twice_above, precision


@compiled
def measure_weighted(
    positives: NDArray[np.int32],
    negatives: NDArray[np.int32],
    starts: NDArray[np.int32],
    above: NDArray[np.int32],
    reached: NDArray[np.int32],
    needed: int,
    untied: bool,
    recall: float,
    rule: int,
) -> tuple[float, float, float]:
    """Area under the ROC, average precision and false alarm rate of examples that each count so often.

    Args:
        positives: Positives from the highest, counted as by `count_in_order`, (P+1,).
        negatives: Negatives likewise, (M+1,).
        starts: As in `Ranking`, (G+1,); likewise the next two.
        above: (G,).
        reached: (G,).
        needed: Positives that make the recall.
        untied: Whether no score of a positive is another's too.
        recall: The recall itself.
        rule: 0 at_least, 1 closest, 2 interpolate.
    """
    n_positive, n_negative = positives[-1], negatives[-1]
    if untied:
        twice_above, precision = _sum_untied(positives, negatives, above)
    else:
        twice_above, precision = _sum_tied(positives, negatives, starts, above, reached)
    area = 1.0 - twice_above / (2.0 * np.float64(n_positive) * np.float64(n_negative))
    group = _first_reaching(positives, starts, needed)
    found_before, found_at = positives[starts[group]], positives[starts[group + 1]]
    share, share_before = found_at / n_positive, found_before / n_positive
    alarms = float(negatives[reached[group]])
    if rule == 1:
        lower_exists = found_before > 0 or negatives[above[group]] > 0
        if lower_exists and abs(share_before - recall) < abs(share - recall):
            alarms = float(negatives[above[group]])
        elif found_at < n_positive:
            alarms = float(negatives[above[_first_reaching(positives, starts, found_at + 1)]])
    elif rule == 2:
        weight = min(1.0, (recall - share_before) / (share - share_before))
        alarms = negatives[above[group]] * (1.0 - weight) + alarms * weight
    return area, precision / n_positive, alarms / n_negative
