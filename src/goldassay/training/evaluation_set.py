"""A dataset as a network sees it, to be evaluated on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.models.network import Encoded


@dataclass(frozen=True)
class EvaluationSet:
    """A dataset as a network sees it.

    Attributes:
        dataset: N examples.
        split: What the runs call the part.
        texts: A column for each role that the condition shows.
        gold: Right answers as `Target.gold` gives them: codes of labels, or numbers, (N,).
        encoded: The texts as the network's numbers.
    """

    dataset: Dataset
    split: str
    texts: dict[str, list[str]]
    gold: NDArray[Any]
    encoded: Encoded

    @property
    def example_ids(self) -> NDArray[np.str_]:
        """(N,)."""
        return np.array(self.dataset.examples["example_id"].to_list(), dtype=np.str_)
