"""Seeds: one for each source of randomness, so that each can be varied alone."""

from __future__ import annotations

import dataclasses
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCES = ("initialization", "order", "dropout", "subset")


@dataclass(frozen=True)
class Seeds:
    """The seeds of one run.

    Attributes:
        initialization: Of fresh weights.
        order: Of the training rows, in each epoch anew.
        dropout: Of what dropout leaves out, in each step anew.
        subset: Of which training rows are used, where not all are.

    Source: Bouthillier et al. 2021, who show that the sources differ in how much they move a score.
    """

    initialization: int
    order: int
    dropout: int
    subset: int

    @classmethod
    def varying(cls, seed: int, sources: Sequence[str] = SOURCES) -> Seeds:
        """One seed for the sources that vary; all others have seed 0, whatever the run.

        Raises:
            InputError: A source is not known, none is given, or the seed is no whole number from 0 to 2**32 - 1.
        """
        if not sources:
            raise InputError("nothing varies from run to run", mend=f"choose from {', '.join(SOURCES)}")
        for source in sources:
            if source not in SOURCES:
                raise InputError(f"there is no source of randomness {source!r}", mend=did_you_mean(source, SOURCES))
        if not 0 <= seed < 2**32:
            raise InputError(f"the seed is {seed}", mend="give a whole number from 0 to 2**32 - 1")
        return cls(**{source: seed if source in sources else 0 for source in SOURCES})

    def generator(self, source: str, *counters: int) -> np.random.Generator:
        """A generator for one source, and within it for one epoch or step."""
        return np.random.default_rng(self._sequence(source, counters))

    def number(self, source: str, *counters: int) -> int:
        """A number for torch's generator, likewise.

        What is drawn at a step depends on the seed and the step alone, not on what was drawn before. So a run that
        goes on from a checkpoint needs no saved state of any generator, and one source never disturbs another.
        """
        return int(self._sequence(source, counters).generate_state(1, np.uint64)[0] >> np.uint64(1))

    def _sequence(self, source: str, counters: tuple[int, ...]) -> np.random.SeedSequence:
        return np.random.SeedSequence([getattr(self, source), zlib.crc32(source.encode()), *counters])

    def to_dict(self) -> dict[str, int]:
        """By source."""
        return dataclasses.asdict(self)
