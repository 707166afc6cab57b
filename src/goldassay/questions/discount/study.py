"""Scores of anybody's runs with a shortcut discounted: the part of a report that three commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count, points, signed_points
from goldassay.core.results import to_plain
from goldassay.questions.discount.matching import Answered, match_rows
from goldassay.questions.discount.measures import discount_scores, mean_bits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.questions.discount.reading import ShortcutBits
    from goldassay.runs import Runs

# With fewer rows in common the scores would be those of another set.
_LEAST_COMMON = 0.5
_MOST_SHOWN = 12


def discount_section(
    told: ShortcutBits,
    names: Sequence[str],
    scores: Sequence[NDArray[np.float64]],
    ids: Sequence[str],
    answered: Sequence[Answered],
    seed: int,
) -> dict[str, Any]:
    """What a report's document holds under "discount".

    Args:
        told: Of the report of an audit of the same rows.
        names: Of the systems.
        scores: Of each system its runs on the same rows, (R, N).
        ids: Of the rows, (N,).
        answered: What tells of each system that these are rows of the report.
        seed: Of the bootstrap.

    Raises:
        InputError: The report is of other rows; see `match_rows`.
    """
    place = {name: at for at, name in enumerate(told.ids)}
    # In the report's order, and systems by name: the same draws whichever command asks.
    kept = sorted((at for at, name in enumerate(ids) if name in place), key=lambda at: place[ids[at]])
    by_name = sorted(range(len(names)), key=lambda at: names[at])
    names, scores = [names[at] for at in by_name], [scores[at] for at in by_name]
    if len(kept) < max(2, _LEAST_COMMON * len(ids)):
        raise InputError(
            f"{option('discount')}: {count(len(kept))} of the {count(len(ids))} example ids of the runs are in the "
            "report",
            file=told.path,
            mend="name the report of an audit whose evaluation part the runs answer",
        )
    matched = match_rows(told, answered)
    kept = [at for at in kept if ids[at] not in matched.other]
    rows = [place[ids[at]] for at in kept]
    clusters = None if told.clusters is None else np.unique(told.clusters[rows], return_inverse=True)[1]
    found = discount_scores([each[:, kept] for each in scores], told.bits[:, rows], clusters, seed=seed)
    others = [
        {"part": part, **_bounded("bits", value, np.array(within))}
        for part, (value, *within) in (
            (part, mean_bits(bits[:, rows], clusters, seed=seed)) for part, bits in sorted(told.others.items())
        )
    ]
    order = np.argsort(-found.scores, kind="stable").tolist()
    after = np.argsort(np.argsort(-found.discounted, kind="stable"), kind="stable") + 1
    systems = [
        {
            "system": names[at],
            "place": rank,
            "discounted_place": int(after[at]),
            **_bounded("score", found.scores[at], found.scores_within[at]),
            **_bounded("discounted", found.discounted[at], found.discounted_within[at]),
            **_bounded("ungiven", found.ungiven[at], found.ungiven_within[at]),
            **_bounded("slope", found.slopes[at], found.slopes_within[at]),
        }
        for rank, at in enumerate(order, start=1)
    ]
    pairs = [
        {
            "a": names[a],
            "b": names[b],
            **_bounded("lead", found.leads[at], found.leads_within[at]),
            **_bounded("discounted_lead", found.discounted_leads[at], found.discounted_leads_within[at]),
            "earned_upper": found.earned_upper[at],
            "before": _told_apart(found.leads_within[at]),
            "after": _told_apart(found.discounted_leads_within[at]),
        }
        for at, (a, b) in enumerate(found.pairs.tolist())
    ]
    section: dict[str, Any] = to_plain(
        {
            "report": told.title,
            "part": told.part,
            "reason": found.reason,
            "n_items": found.n_items,
            "n_left_out": sum(name not in place for name in ids),
            "n_other_label": len(matched.other & set(ids)),
            "by_name_alone": matched.by_name_alone,
            "n_ungiven": found.n_ungiven,
            "n_effective": found.n_effective,
            "mean_weight": found.mean_weight,
            "mean_bits": found.mean_bits,
            "n_readers": found.n_readers,
            "other_parts": others,
            "systems": systems,
            "pairs": pairs,
        }
    )
    section["sentences"] = _sentences(section)
    return section


def discount_runs(told: ShortcutBits, named: Sequence[tuple[str, Runs]], seed: int) -> dict[str, Any]:
    """The same of runs: of those that answer rows of the report, on the rows that all of these answer.

    Raises:
        InputError: As `discount_section`; no runs answer rows of the report, or their rows are not those of the report.
    """
    known = set(told.ids)
    places = [{str(name): at for at, name in enumerate(runs.example_ids.tolist())} for _, runs in named]
    answering = [at for at, place in enumerate(places) if 2 * len(known & place.keys()) >= len(place)]
    if not answering:
        raise InputError(
            f"{option('discount')}: the runs answer other rows than those of the report", file=told.path,
            mend="name the report of an audit whose evaluation part the runs answer",
        )  # fmt: skip
    answered = [answered_by(named[at][1]) for at in answering]
    common = [name for name in places[answering[0]] if all(name in places[at] for at in answering)]
    scores = [named[at][1].final().scores[:, [places[at][name] for name in common]] for at in answering]
    return discount_section(told, [named[at][0] for at in answering], scores, common, answered, seed)


def answered_by(runs: Runs) -> Answered:
    """The rows that runs answer, and their right labels."""
    names = tuple(map(str, runs.example_ids.tolist()))
    if runs.gold is None:
        return Answered(names, None)
    return Answered(names, tuple(runs.label_names[code] for code in runs.gold.tolist()))


def discount_tables(found: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """The tables behind a section, by name."""
    tables = {"discount": pl.DataFrame(found["systems"], infer_schema_length=None)}
    if found["pairs"]:
        tables["discounted_leads"] = pl.DataFrame(found["pairs"], infer_schema_length=None)
    return tables


def _bounded(name: str, value: float, within: NDArray[np.float64]) -> dict[str, float]:
    return {name: float(value), f"{name}_low": float(within[0]), f"{name}_high": float(within[1])}


def _told_apart(within: NDArray[np.float64]) -> int:
    """1 where the first is surely ahead, -1 where it is surely behind, 0 where neither is sure; each pair by itself."""
    return int(within[0] > 0) - int(within[1] < 0)


def _sentences(found: dict[str, Any]) -> list[str]:
    # First, since nothing else that is said holds if they are others.
    said = (
        ["Only the names of rows tell that the runs answer the rows of the report: no right labels confirm it."]
        if found["by_name_alone"]
        else []
    )
    if found["reason"]:
        return [*said, f"Discounted scores are not measurable: {found['reason']}.", *_of_other_parts(found)]
    bits = found["mean_bits"]
    if bits <= 0:
        said += [f"Readers of the {found['part']} alone tell nothing of the labels: scores stay as they are."]
    else:
        said += [
            f"Readers of the {found['part']} alone tell {bits:.2f} bits of a label; rows count for as much as they "
            f"leave open, which is worth {found['n_effective']:,.0f} of {count(found['n_items'])} rows."
        ]
    # Pages show the first sentences alone at first sight.
    said += _of_other_parts(found)
    first = found["systems"][0]
    if bits > 0:
        said.append(
            f"{first['system']} scores {points(first['score'])}, and {points(first['discounted'])} "
            f"[{points(first['discounted_low'])}, {points(first['discounted_high'])}] with the {found['part']} "
            "discounted."
        )
    lost = [pair for pair in found["pairs"] if pair["before"] and not pair["after"]]
    won = [pair for pair in found["pairs"] if pair["after"] and not pair["before"]]
    turned = [pair for pair in found["pairs"] if pair["before"] * pair["after"] < 0]
    for pairs, what in (
        (lost, "is sure as scored and no longer once discounted"),
        (won, "is sure once discounted, and was not"),
        (turned, "turns round"),
    ):
        if pairs:
            pair = pairs[0]
            more = f", and so for {count(len(pairs) - 1)} more pairs" if len(pairs) > 1 else ""
            said.append(
                f"The difference between {pair['a']} and {pair['b']} {what}: {signed_points(pair['lead'])} points as "
                f"scored, {signed_points(pair['discounted_lead'])} discounted{more}."
            )
    moved = sum(row["place"] != row["discounted_place"] for row in found["systems"])
    if len(found["systems"]) > 1:
        said.append(f"{count(moved)} of {count(len(found['systems']))} systems change their place.")
    if bits > 0:
        said.append("The readers are quick: what a stronger reader of the part would find is still in these scores.")
    if found["n_left_out"]:
        said.append(f"{count(found['n_left_out'])} rows of the runs are not in the report, and are left out of this.")
    if found["n_other_label"]:
        said.append(
            f"{count(found['n_other_label'])} rows have another right label in the runs than in the report, and are "
            "left out of this."
        )
    return said


def _of_other_parts(found: dict[str, Any]) -> list[str]:
    """What readers of other parts tell beyond noise: a system that follows these keeps its score."""
    return [
        f"Readers of the {row['part']} alone tell {row['bits']:.2f} [{row['bits_low']:.2f}, {row['bits_high']:.2f}] "
        f"bits, too, and that is still in these scores, but for what is also told by the {found['part']}: "
        f"{option('discount_part', row['part'])} discounts the {row['part']} instead."
        for row in found["other_parts"]
        if row["bits_low"] > 0
    ]


def with_discount(result: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """A result with what the report says of discounted scores under "discount", where they were asked for."""
    found = document.get("discount")
    return dict(result) if found is None else {**result, "discount": found}


def discount_lines(document: Mapping[str, Any]) -> list[str]:
    """What a report's document says of discounted scores, for a terminal; nothing where none were asked for."""
    found = document.get("discount")
    if not found:
        return []
    lines = [f"discounted by {found['report']}:"]
    if not found["reason"]:
        width = max(len(row["system"]) for row in found["systems"][:_MOST_SHOWN])
        lines += [
            f"  {row['system']:<{width}}  {points(row['score'])} as scored, {points(row['discounted'])} "
            f"[{points(row['discounted_low'])}, {points(row['discounted_high'])}] discounted"
            for row in found["systems"][:_MOST_SHOWN]
        ]
    return [*lines, *(f"- {said}" for said in found["sentences"])]
