"""Attention between two texts: for each word of one what corresponds to it in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from goldassay.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.models.configuration import Task
    from goldassay.models.layout import Layout


def counterparts(compared: Tensor, averaged: Tensor, layout: Layout) -> Tensor:
    """`aligned` for words that stand one after the other; 0 where there is one text only.

    Args:
        compared: What is compared of each word, (T', D).
        averaged: What is averaged, (T', E).
        layout: Of one text or two.

    Returns:
        (T', E).
    """
    if len(layout.widths) == 1:
        return torch.zeros_like(averaged)
    both = zip(layout.rectangles(compared), layout.masks, layout.rectangles(averaged), strict=True)
    (a, real_a, of_a), (b, real_b, of_b) = both
    # On a processor products as small as these, and of ever new shapes, are slower in 16 bits.
    with torch.autocast("cpu", enabled=False):
        return layout.flat(aligned(a, b, real_a, real_b, of_a, of_b))


def aligned(a: Tensor, b: Tensor, real_a: Tensor, real_b: Tensor, of_a: Tensor, of_b: Tensor) -> tuple[Tensor, Tensor]:
    """For each word of one text the average of the other's words that it attends to; 0 where the other has none.

    e_ij = a_i . b_j; b~_i = sum_j softmax_j(e_ij) of_b_j, and a~_j = sum_i softmax_i(e_ij) of_a_i, over words only.

    Args:
        a: What is compared of the first text, (B, L, D).
        b: Of the second, (B, M, D).
        real_a: 1 for words, (B, L, 1).
        real_b: The same of the second, (B, M, 1).
        of_a: What is averaged of the first text, (B, L, E).
        of_b: Of the second, (B, M, E).

    Returns:
        b~, (B, L, E), and a~, (B, M, E); 0 at padding.

    Source: Parikh, Täckström, Das and Uszkoreit 2016.
    """
    scores = a @ b.transpose(1, 2)
    # Far below any score but finite: a row without words must not become NaN.
    lowest = torch.finfo(scores.dtype).min / 2
    from_b = torch.softmax(scores.masked_fill(real_b.transpose(1, 2) == 0, lowest), dim=2) * real_b.transpose(1, 2)
    from_a = torch.softmax(scores.masked_fill(real_a == 0, lowest), dim=1) * real_a
    return from_b @ of_b * real_a, from_a.transpose(1, 2) @ of_a * real_b


def refuse_many(name: str, task: Task) -> None:
    """Refuse more than two texts, which attention between two cannot compare.

    Raises:
        InputError: The task has more.
    """
    if len(task.roles) > 2:
        raise InputError(
            f"{name} compares two texts and was given {len(task.roles)}: {', '.join(task.roles)}",
            mend="choose bilstm, ngram_average, convnet or a transformer",
        )
