"""The figures on suspect labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping
from goldassay.core.figures import Figure, Measure, declare

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFECTS = declare(Measure("suspect.defects", "rows that cannot all be right", "examples", "lower", least=0))
_UNISON = declare(
    Measure("suspect.unison", "labels that all strong families contradict in unison", "examples", "lower", least=0)
)
_EXPECTED = declare(
    Measure("suspect.expected", "the same, expected of right labels", "number", "neither", least=0, compared=False)
)


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """How many labels are suspect, and how many were expected by chance."""
    found = mapping(document, "suspect")
    if "n_examples" not in found:
        return []
    n, reason = found["n_examples"], str(found.get("why_not") or "")
    answered = found.get("n_answered", n)
    return [
        _DEFECTS.figure(found["n_defects"], n=n),
        _UNISON.figure(found["n_unison"], n=answered, reason=reason),
        _EXPECTED.figure(found["n_expected"], n=answered, reason=reason),
    ]
