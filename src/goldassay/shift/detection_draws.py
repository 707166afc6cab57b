"""Detection measured again on examples drawn with replacement."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.cores import cores
from goldassay.shift.false_alarms import RULES, Rule, positives_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.shift.ranking import Ranking


def draw_metrics(
    by_out: Sequence[Ranking], by_in: Sequence[Ranking], recall: float, rule: Rule, *, n_draws: int, seed: int
) -> NDArray[np.float64]:
    """Resample both sides, by the same draw for all runs, and measure again.

    Every draw has a seed of its own, so that the result does not depend on how many threads there are.

    Args:
        by_out: Out-of-distribution as positives, one ranking a run.
        by_in: In-distribution as positives, likewise.
        recall: Of the positives, for false alarm rates.
        rule: Which threshold.
        n_draws: B.
        seed: Of the draws.

    Returns:
        (B, R, 5): auroc, aupr_out, aupr_in, false alarm rate, and the rate with in-distribution as positives.

    Source: Efron 1979.
    """
    from goldassay.shift.detection_kernels import BLOCK, count_from_end, count_in_order, draw_counts, measure_weighted

    pairs = [(_compact(one), _compact(other)) for one, other in zip(by_out, by_in, strict=True)]
    n_out, n_in = by_out[0].n_positive, by_out[0].n_negative
    rule_code = RULES.index(rule)
    untied = [(_is_untied(one), _is_untied(other)) for one, other in zip(by_out, by_in, strict=True)]
    need_out, need_in = positives_needed(recall, n_out), positives_needed(recall, n_in)
    figures = np.empty((n_draws, len(pairs), 5))
    shares = [_block_shares(n, BLOCK) for n in (n_out, n_in)]
    seeds = np.random.SeedSequence(seed).spawn(n_draws)

    def work(draws: range) -> None:
        out_counts, in_counts = np.empty(n_out, np.uint16), np.empty(n_in, np.uint16)
        outside, inside = np.empty(n_out + 1, np.int32), np.empty(n_in + 1, np.int32)
        out_rising, in_rising = np.empty_like(outside), np.empty_like(inside)
        for draw in draws:
            rng = np.random.default_rng(seeds[draw])
            state = np.uint64(rng.integers(0, 2**63))
            state = np.uint64(draw_counts(rng.multinomial(n_out, shares[0]), state, out_counts))
            draw_counts(rng.multinomial(n_in, shares[1]), state, in_counts)
            for run, ((of_out, of_in), (free_out, free_in)) in enumerate(zip(pairs, untied, strict=True)):
                count_in_order(out_counts, of_out[0], outside)
                count_in_order(in_counts, of_out[1], inside)
                area, aupr_out, alarms = measure_weighted(
                    outside, inside, *of_out[2:], need_out, free_out, recall, rule_code
                )
                # The other orientation is the same order from its end; within ties it does not matter.
                count_from_end(inside, in_rising)
                count_from_end(outside, out_rising)
                _, aupr_in, missed = measure_weighted(
                    in_rising, out_rising, *of_in[2:], need_in, free_in, recall, rule_code
                )
                figures[draw, run] = area, aupr_out, aupr_in, alarms, missed

    n_threads = cores()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, (range(first, n_draws, n_threads) for first in range(n_threads))))
    return figures


def _block_shares(n: int, block: int) -> NDArray[np.float64]:
    """Share of the examples that each block holds."""
    sizes = np.full(-(-n // block), block, dtype=np.float64)
    sizes[-1] = n - block * (len(sizes) - 1)
    return sizes / n


def _compact(ranking: Ranking) -> tuple[NDArray[np.int32], ...]:
    """The ranking's positions in 32 bits, which halves what a draw reads."""
    parts = (ranking.positive_order, ranking.negative_order, ranking.starts, ranking.above, ranking.reached)
    return tuple(part.astype(np.int32) for part in parts)


def _is_untied(ranking: Ranking) -> bool:
    """Whether no two positives, and no positive and negative, score the same."""
    return len(ranking.above) == ranking.n_positive and bool((ranking.above == ranking.reached).all())
