"""Which rows each run has right, as bits: a hundred runs of a million rows are counted at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

# What a run's filter is called in an address: this, and the run's name.
RUN = "run."
RIGHT, WRONG, PARTLY, NO_ANSWER = "right", "wrong", "partly right", "no answer"
KINDS = (RIGHT, WRONG, PARTLY, NO_ANSWER)
# Rows whose scores are looked at together, a multiple of sixteen.
_AT_ONCE = 1 << 16
# Bits that are one in a number of sixteen.
_ONES = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


@dataclass(frozen=True)
class RunBits:
    """What runs score on rows, in kinds.

    Attributes:
        names: Of R runs, each another one.
        n_rows: N.
        bits: Of each kind that occurs, whether a run has it on a row, (R, N / 16) numbers of sixteen bits.
    """

    names: tuple[str, ...]
    n_rows: int
    bits: Mapping[str, NDArray[np.uint16]]

    @classmethod
    def of(cls, names: Sequence[str], scores: Sequence[NDArray[np.float32]]) -> RunBits:
        """Of scores: 1 is right, 0 is wrong, NaN is no answer.

        Args:
            names: Of the runs.
            scores: (N, R) of some of the runs each, in their order.
        """
        n_rows = scores[0].shape[0]
        found = {kind: np.zeros((len(names), -(-n_rows // 16)), np.uint16) for kind in KINDS}
        for begin in range(0, n_rows, _AT_ONCE):
            block = np.concatenate([each[begin : begin + _AT_ONCE].T for each in scores])
            right, wrong, none = block == 1, block == 0, np.isnan(block)
            for kind, mask in zip(KINDS, (right, wrong, ~(right | wrong | none), none), strict=True):
                packed = _packed(mask)
                found[kind][:, begin // 16 : begin // 16 + packed.shape[1]] = packed
        return cls(tuple(names), n_rows, {kind: bits for kind, bits in found.items() if bits.any()})

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def where(self, name: str, kinds: Iterable[str]) -> NDArray[np.bool_]:
        """The rows on which a run has one of some kinds, (N,)."""
        at = self._places[name]
        own = np.zeros(-(-self.n_rows // 16), np.uint16)
        for kind in kinds:
            if kind in self.bits:
                own |= self.bits[kind][at]
        return np.unpackbits(own.view(np.uint8), count=self.n_rows).view(np.bool_)

    def counts(self, rows: NDArray[np.bool_] | None, name: str | None = None) -> dict[str, NDArray[np.int64]]:
        """Of each kind that occurs how many rows each run has it on, (R,).

        Args:
            rows: Those that are counted, (N,); None for all.
            name: The only run that is counted; None for all.
        """
        within = None if rows is None else _packed(rows)
        own = slice(None) if name is None else [self._places[name]]
        return {
            kind: _ONES[bits[own] if within is None else bits[own] & within].sum(axis=1, dtype=np.int64)
            for kind, bits in self.bits.items()
        }


def kind_of(score: float | None) -> str:
    """The kind of one score."""
    if score is None or score != score:
        return NO_ANSWER
    return RIGHT if score == 1 else WRONG if score == 0 else PARTLY


def _packed(mask: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """(..., N) as (..., N / 16) numbers of sixteen bits, those beyond N zero."""
    packed = np.packbits(mask, axis=-1)
    padded = np.zeros((*packed.shape[:-1], -(-mask.shape[-1] // 16) * 2), np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(np.uint16)
