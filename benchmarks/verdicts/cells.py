"""Operating characteristics: how often a verdict is given where the truth is known, against what it should be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Target:
    """What a share should be: at most, or at least, a probability."""

    side: Literal["at most", "at least"]
    p: float

    def __str__(self) -> str:
        return f"{self.side} {100 * self.p:g} %"


def at_most(p: float) -> Target:
    return Target("at most", p)


def at_least(p: float) -> Target:
    return Target("at least", p)


@dataclass(frozen=True)
class Cell:
    """How often something was found in the draws of one world.

    Attributes:
        world: What is true, in words.
        event: What was counted.
        count: Draws in which it was found.
        n: Draws.
        target: What the share should be; None where there is no target.
    """

    world: str
    event: str
    count: int
    n: int
    target: Target | None = None

    @property
    def rate(self) -> float:
        """The share of draws."""
        return self.count / self.n

    @property
    def kept(self) -> bool:
        """Whether the target may hold: "at most p" by the lower 99 % bound of the share, "at least p" by the upper."""
        if self.target is None:
            return True
        low, high = bounds(self.count, self.n)
        return low <= self.target.p if self.target.side == "at most" else high >= self.target.p


def bounds(count: int, n: int, level: float = 0.99) -> tuple[float, float]:
    """One-sided bounds of a share, each at `level`.

    Source: Clopper and Pearson 1934, "The use of confidence or fiducial limits illustrated in the case of the
    binomial".
    """
    from scipy.special import betaincinv

    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, 1 - level))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, level))
    return low, high


def pooled(cells: Iterable[Cell]) -> list[Cell]:
    """All cells of one target and event added up."""
    sums: dict[tuple[str, Target], list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.target is not None:
            sums[cell.event, cell.target].append(cell)
    return [
        Cell(f"all {len(same)}", event, sum(cell.count for cell in same), sum(cell.n for cell in same), target)
        for (event, target), same in sums.items()
    ]


def pool_kept(cell: Cell) -> bool:
    """Whether a pooled share keeps its target: at most 1.2 p, at least p - .02."""
    assert cell.target is not None
    if cell.target.side == "at most":
        return cell.rate <= 1.2 * cell.target.p
    return cell.rate >= cell.target.p - 0.02


def failures(cells: Sequence[Cell]) -> list[str]:
    """What misses its target, cell by cell and pooled; empty where all is well."""
    single = [
        f"{cell.world}: {cell.event} in {100 * cell.rate:.1f} %, {cell.target}" for cell in cells if not cell.kept
    ]
    of_all = [
        f"{cell.world}: {cell.event} in {100 * cell.rate:.1f} %, {cell.target}"
        for cell in pooled(cells)
        if not pool_kept(cell)
    ]
    return single + of_all


def markdown(cells: Sequence[Cell]) -> str:
    """A table with a row a cell: the share in percent, its 99 % bounds, the target, and whether it is kept."""
    lines = ["| world | counted | % of draws | 99 % bounds | target | kept |", "|---|---|---:|---:|---|---|"]
    for cell in cells:
        low, high = bounds(cell.count, cell.n)
        kept = "" if cell.target is None else "yes" if cell.kept else "**no**"
        lines.append(
            f"| {cell.world} | {cell.event} | {100 * cell.rate:.1f} | {100 * low:.1f} to {100 * high:.1f} | "
            f"{cell.target or ''} | {kept} |"
        )
    return "\n".join(lines)


def print_table(cells: Sequence[Cell]) -> int:
    """Print the table and what misses its target; 1 if something does."""
    missed = failures(cells)
    print(markdown(cells), "", *(missed or ["Every target is kept."]), sep="\n")
    return 1 if missed else 0
