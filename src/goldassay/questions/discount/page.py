"""The page of discounted scores, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.errors import option
from goldassay.core.numbers import count, points, signed_points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.discount.result import DiscountResult

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_PAIRS = 30
_MOST_SHOWN = 12


def sections(found: DiscountResult, _: Around) -> tuple[Section, ...]:
    """The section "Scores without the shortcut"."""
    section = Section(
        key="discount",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=tuple(sentences(found)),
        parts=tuple(Part(table=table) for table in (_systems(found), _pairs(found)) if table.rows),
        how=explanation("goldassay.questions.discount", "how"),
    )
    return (section,)


def _systems(found: DiscountResult) -> Table:
    columns = [Column("system", "system", "data"), with_bounds("score", "score", "points", 2)]
    if not found.reason:
        columns.append(with_bounds("discounted", "discounted", "points", 2))
    columns += [
        with_bounds("ungiven", "where it does not point to the label", "points", 2),
        with_bounds("slope", "points gained per bit of it", "difference", 2),
    ]
    caption = f"Scores with the {found.part} discounted, in points"
    return table_of("discount", caption, columns, found.systems, file="discount")


def _pairs(found: DiscountResult) -> Table:
    columns = [Column("pair", "difference of", "data"), with_bounds("lead", "as scored", "difference", 2)]
    if not found.reason:
        columns.append(with_bounds("discounted_lead", "discounted", "difference", 2))
    columns.append(Column("earned_upper", "earned on the third that is given away most", "percent"))
    caption = "Leads with and without the shortcut, each pair by itself"
    return table_of(
        "discounted_leads", caption, columns, found.pairs[:_MOST_PAIRS],
        lambda each: {"pair": f"{each.a} - {each.b}"}, file="discounted_leads",
    )  # fmt: skip


def sentences(found: DiscountResult) -> list[str]:
    """What is left of scores and leads."""
    # First, since nothing else that is said holds if they are others.
    said = (
        ["Only the names of rows tell that the runs answer the rows of the report: no right labels confirm it."]
        if found.by_name_alone
        else []
    )
    if found.reason:
        return [*said, f"Discounted scores are not measurable: {found.reason}.", *_of_other_parts(found)]
    if found.mean_bits <= 0:
        said += [
            f"Readers of the {found.part} alone predict no better than label frequencies: scores stay as they are."
        ]
    else:
        said += [
            f"Readers of the {found.part} alone give {found.mean_bits:.2f} bits of a label. Each row is weighted by "
            f"what they leave open: an effective {found.n_effective:,.0f} of {count(found.n_items)} rows."
        ]
    # Pages show the first sentences alone at first sight.
    said += _of_other_parts(found)
    first = found.systems[0]
    if found.mean_bits > 0:
        said.append(
            f"{first.system} scores {points(first.score)}, and {points(first.discounted)} "
            f"[{points(first.discounted_low)}, {points(first.discounted_high)}] with the {found.part} discounted."
        )
    said += _of_leads(found)
    if len(found.systems) > 1:
        said.append(f"{count(found.n_moved)} of {count(len(found.systems))} systems change their place.")
    if found.mean_bits > 0:
        said.append("The readers are quick: what a stronger reader of the part would find is still in these scores.")
    if found.n_dropped:
        said.append(f"{count(found.n_dropped)} rows of the runs are not in the report, and are left out of this.")
    if found.n_other_label:
        said.append(
            f"{count(found.n_other_label)} rows have another right label in the runs than in the report, and are "
            "left out of this."
        )
    return said


def _of_leads(found: DiscountResult) -> list[str]:
    """Which leads are lost, won or turned round."""
    said = []
    for pairs, what in (
        ([pair for pair in found.pairs if pair.before and not pair.after],
         "is sure as scored and no longer once discounted"),
        ([pair for pair in found.pairs if pair.after and not pair.before], "is sure once discounted, and was not"),
        ([pair for pair in found.pairs if pair.before * pair.after < 0], "turns round"),
    ):  # fmt: skip
        if pairs:
            pair = pairs[0]
            more = f", and so for {count(len(pairs) - 1)} more pairs" if len(pairs) > 1 else ""
            said.append(
                f"The difference between {pair.a} and {pair.b} {what}: {signed_points(pair.lead)} points as scored, "
                f"{signed_points(pair.discounted_lead)} discounted{more}."
            )
    return said


def _of_other_parts(found: DiscountResult) -> list[str]:
    """What readers of other parts tell beyond noise: a system that follows these keeps its score."""
    return [
        f"Readers of the {each.part} alone give {each.bits:.2f} [{each.bits_low:.2f}, {each.bits_high:.2f}] bits, too, "
        f"and that is still in these scores, but for what the {found.part} gives, too: "
        f"{option('discount_part', each.part)} discounts the {each.part} instead."
        for each in found.other_parts
        if each.bits_low > 0
    ]


def with_discount(result: Mapping[str, Any], found: DiscountResult | None) -> dict[str, Any]:
    """A plain result with that on discounted scores under "discount", where they were asked for."""
    return dict(result) if found is None else {**result, "discount": PAGE.plain(found)}


def discount_lines(found: DiscountResult | None) -> list[str]:
    """What is said of discounted scores in a terminal; nothing where none were asked for."""
    if found is None:
        return []
    lines = [f"discounted by {found.report}:"]
    if not found.reason:
        shown = found.systems[:_MOST_SHOWN]
        width = max(len(each.system) for each in shown)
        lines += [
            f"  {each.system:<{width}}  {points(each.score)} as scored, {points(each.discounted)} "
            f"[{points(each.discounted_low)}, {points(each.discounted_high)}] discounted"
            for each in shown
        ]
    return [*lines, *(f"- {said}" for said in sentences(found))]


PAGE = Page(
    DiscountResult,
    title="Scores without the shortcut",
    lead="How much of each score, and of each lead, does no shortcut give away?",
    sections=sections,
    sentences=sentences,
)
