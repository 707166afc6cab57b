"""Attention between two texts: for each word of one what corresponds to it in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.models.configuration import Task
    from goldassay.models.layout import Layout


def counterparts(compared: Tensor, averaged: Tensor, layout: Layout) -> Tensor:
    """For each word of one text the average of the other's words that it attends to.

    e_ij = a_i . b_j of what is compared, the rows of one text and of the other; what corresponds to word i is
    sum_j softmax_j(e_ij) of_b_j, of_b what is averaged, and to word j sum_i softmax_i(e_ij) of_a_i; 0 where the other
    text has no words, or where there is none.

    Args:
        compared: (T', D).
        averaged: (T', E).
        layout: Of one text or two.

    Returns:
        (T', E).

    Source: Parikh, Täckström, Das and Uszkoreit 2016.
    """
    if len(layout.widths) == 1:
        return torch.zeros_like(averaged)
    a, b = layout.rectangles(compared)
    of_a, of_b = (a, b) if averaged is compared else layout.rectangles(averaged)
    # On a processor products as small as these, and of ever new shapes, are slower in 16 bits.
    with torch.autocast("cpu", enabled=False):
        scores = a @ b.transpose(1, 2)
        # Far below any score but finite: where no word is, all shares are equal, and what is averaged is 0.
        lowest = torch.finfo(scores.dtype).min / 2
        no_a, no_b = (~real for real in layout.real)
        from_b = torch.softmax(scores.masked_fill(no_b.unsqueeze(1), lowest), dim=2)
        from_a = torch.softmax(scores.masked_fill(no_a.unsqueeze(2), lowest), dim=1)
        return layout.flat([from_b @ of_b, from_a.transpose(1, 2) @ of_a])


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
