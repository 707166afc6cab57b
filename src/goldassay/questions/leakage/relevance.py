"""Token relevance agreement of the runs of a part with those of the whole, seed by seed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.questions.leakage.condition_evidence import PAIRED, ConditionEvidence, is_part
from goldassay.questions.leakage.measures.token_relevance import CUT, token_relevance_agreement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.questions.leakage.measures.token_relevance import TokenRelevanceAgreement
    from goldassay.runs.beside import Relevances, RoleRelevance

OTHER_TOKENS = "the two models cut the shared sentence into other tokens"


def measure_relevance(
    evidence: ConditionEvidence, undefined: dict[str, str]
) -> tuple[list[dict[str, Any]], pl.DataFrame | None]:
    """A row a part, means over seeds; and a row an example and part, for the first seed.

    The runs of a part are laid beside those of the whole with the same seed; where no seed is shared, run by run in
    their order.
    """
    whole = evidence.relevances.get(PAIRED)
    parts = {name: each for name, each in evidence.relevances.items() if is_part(name)}
    if not whole or not parts:
        if PAIRED in evidence.conditions:
            undefined["token relevance agreement"] = "it needs recorded relevances of the part and of the pair"
        return [], None
    rows, tables = [], []
    for name, runs in parts.items():
        role = name.removesuffix("_only")
        seeds = [seed for seed in runs if seed in whole]
        pairs = [(runs[seed], whole[seed]) for seed in seeds] or list(zip(runs.values(), whole.values(), strict=False))
        found = [_agreement(single, paired, role, evidence.example_ids) for single, paired in pairs]
        row = {"condition": name, "n_runs": len(found)}
        for convention in ("recommended", "paper"):
            values = np.array([each[convention].agreement for each in found])
            row[f"agreement_{convention}"] = float(values.mean())
            row[f"sd_{convention}"] = float(values.std(ddof=1)) if values.size > 1 else float("nan")
        first = found[0]["recommended"]
        row |= {
            "low": first.agreement_low,
            "high": first.agreement_high,
            "shared_share": float(np.mean([each["recommended"].shared_share for each in found])),
            "n_used": first.n_used,
            "skipped": first.skipped,
        }
        rows.append(row)
        ids = [str(each) for each in evidence.example_ids.tolist()]
        tables.append(
            first.to_frame().select(
                pl.Series("example_id", ids), pl.lit(name).alias("condition"), "agreement", "shared_share"
            )
        )
    return rows, pl.concat(tables)


def _agreement(
    single: Relevances, paired: Relevances, role: str, ids: NDArray[Any]
) -> dict[str, TokenRelevanceAgreement]:
    own, beside = _ordered(single, ids), _ordered(paired, ids)
    part, roles = single.roles[role], list(paired.roles)
    before = roles[: roles.index(role)]
    maps = [part.values[row] for row in own]
    wholes = [np.concatenate([paired.roles[name].values[row] for name in roles]) for row in beside]
    starts = np.array([sum(paired.roles[name].values[row].size for name in before) for row in beside])
    differs = np.array(
        [part.tokens[i] != paired.roles[role].tokens[j] for i, j in zip(own, beside, strict=True)], dtype=bool
    )
    cut = part.cut[own] | _any_cut(paired.roles[role], beside)
    return {
        "recommended": _measured(maps, wholes, starts, cut | differs, int((differs & ~cut).sum())),
        "paper": _quietly(maps, wholes, "premise_only" if not before else "hypothesis_only"),
    }


def _any_cut(relevance: RoleRelevance, rows: Sequence[int]) -> NDArray[np.bool_]:
    return np.asarray(relevance.cut[rows], dtype=bool)


def _ordered(relevances: Relevances, ids: NDArray[Any]) -> list[int]:
    place = {str(name): row for row, name in enumerate(relevances.example_ids.tolist())}
    return [place[str(name)] for name in ids.tolist()]


def _measured(
    maps: list[Any], wholes: list[Any], starts: NDArray[np.int64], left_out: NDArray[np.bool_], n_other: int
) -> TokenRelevanceAgreement:
    from dataclasses import replace

    with warnings.catch_warnings():
        # The row says it: no value, and why.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = token_relevance_agreement(maps, wholes, starts, cut=left_out)
    if not n_other:
        return found
    skipped = {CUT: found.skipped[CUT] - n_other, OTHER_TOKENS: n_other} | {
        why: count for why, count in found.skipped.items() if why != CUT
    }
    return replace(found, skipped={why: count for why, count in skipped.items() if count})


def _quietly(maps: list[Any], wholes: list[Any], condition: Any) -> TokenRelevanceAgreement:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return token_relevance_agreement(maps, wholes, condition=condition, convention="paper")
