"""The page of sensitivity: how far scores move with the way of asking, and what picking the best way gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, by_name, first_of
from goldassay.core.numbers import bounds, count, points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.sensitivity.result import ConfigurationScore, SensitivityResult, SensitivityRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.questions.sensitivity.measuring import ModelSensitivity, SensitivityStudy

_OF = Column("of", "runs of", "data")
_MOST_MODELS, _MOST_SAID = 12, 8
# In points; less is rounded away.
_LEAST_GAP = 0.05


def sections(found: SensitivityResult, _: Around) -> tuple[Section, ...]:
    """The section "Sensitivity"; none where it was not measured."""
    if not found.results:
        return ()
    section = Section(
        key="sensitivity",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=found.sentences,
        notes=found.notes,
        parts=(
            Part("sensitivity_configurations", _spreads(found)),
            Part(table=_picked(found)),
            Part(table=_scores(found)),
        ),
        how=explanation("goldassay.questions.sensitivity", "how"),
    )
    return (section,)


def _name(row: SensitivityRow | ConfigurationScore) -> Mapping[str, Any]:
    return {"of": f"{row.model} on {row.dataset}"}


def _spreads(found: SensitivityResult) -> Table:
    columns = (
        _OF,
        Column("n_configurations", "configurations", "count"),
        Column("repeats", "repeats"),
        Column("n_examples", "examples", "count"),
        with_bounds("sd", "SD over configurations", "points", 2),
        Column("repeat_sd", "SD over repeats", "points", 2),
        with_bounds("range", "range", "points", 2),
    )

    def more(row: SensitivityRow) -> Mapping[str, Any]:
        least, most = row.n_repeats_least, row.n_repeats_most
        return {**_name(row), "repeats": count(most) if least == most else f"{count(least)} to {count(most)}"}

    caption = "How far scores move with the way of asking, in points"
    return table_of("sensitivity", caption, columns, found.results, more, file="sensitivity")


def _picked(found: SensitivityResult) -> Table:
    columns = (
        _OF,
        Column("which", "picked"),
        Column("configuration", "configuration", "data"),
        Column("mean", "score", "points", 2),
        with_bounds("elsewhere", "picked on other examples", "points", 2),
    )
    picked = (
        (row, which, (configuration, mean, elsewhere, low, high))
        for row in found.results
        for which, configuration, mean, elsewhere, low, high in (
            ("best", row.best, row.best_mean, row.best_elsewhere, row.best_low, row.best_high),
            ("worst", row.worst, row.worst_mean, row.worst_elsewhere, row.worst_low, row.worst_high),
        )
    )
    names = ("configuration", "mean", "elsewhere", "elsewhere_low", "elsewhere_high")
    rows = tuple({**_name(row), "which": which, **dict(zip(names, own, strict=True))} for row, which, own in picked)
    caption = "The best and the worst configuration, and what picking so gives on examples that it was not picked on"
    return Table("picked", caption, columns, rows, file="sensitivity")


def _scores(found: SensitivityResult) -> Table:
    columns = (
        _OF,
        Column("configuration", "configuration", "data"),
        Column("n_repeats", "repeats", "count"),
        Column("mean", "mean score", "points", 2),
    )
    caption = "Scores by configuration, in points"
    return table_of("configurations", caption, columns, found.configurations, _name, file="configurations")


def charts(found: SensitivityResult, _: Around) -> dict[str, Chart]:
    """A strip of dots for each model and dataset, a dot a configuration."""
    shown, omitted = first_of([_group(row, found.of(row)) for row in found.results], _MOST_MODELS, "models")
    if not shown:
        return {}
    return by_name(
        Dots(
            name="sensitivity_configurations",
            title="Scores by configuration",
            caption="Each dot is the mean score of one configuration over its repeats; the line joins the lowest and "
            "the highest. To the right the SD over configurations, with its 95 % interval.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("mean score (points)"),
            headings="above",
        )
    )


def _group(row: SensitivityRow, own: tuple[ConfigurationScore, ...]) -> DotGroup:
    dots = tuple(Dot(each.mean, f"{each.configuration}: {points(each.mean, 2)} points") for each in own)
    means = [each.mean for each in own]
    return DotGroup(
        f"{row.model} on {row.dataset}",
        (DotRow(dots, (min(means), max(means))),),
        f"SD {points(row.sd, 2)}",
        bounds(row.sd_low, row.sd_high, 2),
    )


_CLAIMS = {
    "exceeds": "more than another configuration does",
    "does not exceed": "no more than another configuration does",
    "undecided": "more or less than another configuration does, which these runs leave open",
}


def describe_claim(each: ModelSensitivity, to: str = "") -> str:
    """Whether the claimed difference exceeds what configurations do, with what leaves it open; "" without a claim.

    Args:
        each: The model on a dataset.
        to: What is said of the model after the verb, with a space before it.
    """
    if each.claim is None:
        return ""
    return " ".join(part for part in (f"{_CLAIMS[each.claim]}{to}.", each.claim_open) if part)


def describe_sensitivity(found: SensitivityStudy, claim: float | None) -> list[str]:
    """What the page says beside the verdict; `claim` in points."""
    said = []
    for each in found.models[:_MOST_SAID]:
        spread = each.spread
        gap = 100 * (spread.means[spread.best] - spread.best_score.mean)
        flattered = f" Picking the best one flatters it by {gap:.1f} points." if gap >= _LEAST_GAP else ""
        said.append(
            f"{each.model} on {each.dataset} scores {100 * min(spread.means):.1f} to {100 * max(spread.means):.1f} "
            f"points in {len(spread.means)} configurations, which differ in {', '.join(each.settings[:8])}.{flattered}"
        )
        if claim is not None and (held := describe_claim(each, f" to {each.model}")):
            said.append(f"A difference of {claim:g} points is {held}")
    if found.n_pairs:
        said.append(f"{found.n_changed} of {found.n_pairs} pairs of models change their order with the configuration.")
    return said


def notes_on(found: SensitivityStudy) -> list[str]:
    """What to know of the figures."""
    notes = [f"Left out: {why}" for why in found.dropped]
    notes += [said for each in found.models for said in each.notes]
    if found.single_configuration:
        n_more = len(found.single_configuration) - _MOST_SAID
        more = f" and {n_more} more" if n_more > 0 else ""
        notes.append(f"Left out, with one configuration: {', '.join(found.single_configuration[:_MOST_SAID])}{more}.")
    if any(not each.spread.separable for each in found.models):
        notes.append("Where no configuration was repeated, its SD holds the noise of repeats as well.")
    return notes


PAGE = Page(
    SensitivityResult,
    title="Sensitivity",
    lead="Would another prompt or setting give the same score?",
    sections=sections,
    charts=charts,
)
