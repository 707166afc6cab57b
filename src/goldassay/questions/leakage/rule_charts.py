"""The chart of items: what rules without training, and readers of a part, gain of what guessing leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, Rule, Series, first_of
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

_RULE = "rule: "
_MOST = 12


def rule_chart(found: Mapping[str, Any]) -> Chart | None:
    """A dot a rule and a reader of a part, those that gain most first; none of a rule that gains nothing.

    Args:
        found: What leakage measured of items; of other data there is no chart.
    """
    rows = [row for row in records(mapping(found, "effects").get("effects")) if number(row.get("value")) is not None]
    if not found.get("rules"):
        return None
    readers = [row for row in rows if not _is_rule(row)]
    rules = sorted((row for row in rows if _is_rule(row) and float(row["value"]) > 0), key=_value, reverse=True)
    kept, omitted = first_of(rules, _MOST, "rules that gain something")
    shown = sorted([*readers, *kept], key=_value, reverse=True)
    if not kept:
        return None
    limits = {key: number(shown[0].get(key)) for key in ("caution", "unsound")}
    return Dots(
        name="leakage_rules",
        title="What rules and readers gain",
        caption="Gain over guessing of rules without training, and of quick probes that see a part of the items, as a "
        "share of what guessing leaves to be gained; the line reaches from the lower end, which is simultaneous over "
        "all of them, to the upper one. Dashed: the limits for caution and for unsound, of which the second holds for "
        "rules alone.",
        omitted=omitted,
        groups=tuple(_group(row) for row in shown),
        axis=Axis("gained of what guessing leaves", "percent"),
        series=(Series("rule without training"), Series("quick probe of a part", "s2", 1)),
        # Both labels have no room beside each other.
        rules=tuple(
            Rule(limit, f"unsound from {percent(limit)}" if name == "unsound" else "")
            for name, limit in limits.items()
            if limit is not None
        ),
    )


def _is_rule(row: Mapping[str, Any]) -> bool:
    return str(row.get("reader")).startswith(_RULE)


def _value(row: Mapping[str, Any]) -> float:
    return float(row["value"])


def _group(row: Mapping[str, Any]) -> DotGroup:
    value, low, high = _value(row), number(row.get("low")), number(row.get("high"))
    name = str(row.get("reader")).removeprefix(_RULE) if _is_rule(row) else f"probe, {row.get('part')} alone"
    dot = Dot(value, f"{name}: {percent(value)} {bounds(low, high)}", 0 if _is_rule(row) else 1, low=low, high=high)
    return DotGroup(name, (DotRow((dot,)),), percent(value), bounds(low, high))
