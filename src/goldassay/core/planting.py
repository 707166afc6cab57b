"""Plant a word that stands for a label in a share of the rows: the positive control of what readers can find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def planted_rows(
    codes: NDArray[np.integer], n_classes: int, share: float, constant: int, seed: int
) -> NDArray[np.bool_]:
    """Rows that get the word of their label, (N,): a random `share` of the rows of each label but the constant one.

    A reader that names the label of the word where there is one, and the constant label elsewhere, has an accuracy
    skill and a balanced skill of `share`, whatever the shares of the labels and however many there are.

    Args:
        codes: Labels of the rows, (N,).
        n_classes: K.
        share: Of the rows, from 0 to 1; of each label at least one.
        constant: The label that gets no word, the most frequent one.
        seed: Of the draw.
    """
    rng = np.random.default_rng(seed)
    found = np.zeros(np.asarray(codes).size, dtype=np.bool_)
    for label in range(n_classes):
        rows = np.flatnonzero(codes == label)
        if label != constant and rows.size:
            found[rng.choice(rows, max(1, round(share * rows.size)), replace=False)] = True
    return found


def planted_word(label: int) -> str:
    """A word that no text holds, for a label's code."""
    return f"plantedword{chr(97 + label % 26)}{label}"
