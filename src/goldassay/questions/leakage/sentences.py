"""What was found about leakage, in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import decimal, points, signed_points
from goldassay.questions.leakage.partial_input import PROBES, is_part

if TYPE_CHECKING:
    from collections.abc import Mapping

# From this share of its examples on a cluster is worth a sentence of its own.
_MOST_CLUSTERS = 2
_MOST_WORDS = 4
_CHANCE = 0.05
_FEWEST_SPLITS = 2

_CHANGED = {
    "shuffled": "With the words of each text in random order",
    "overlap": "From the words alone that all texts share",
    "length": "From the texts' lengths alone",
    "longest_choice": "By always choosing the longest one",
}


@dataclass(frozen=True)
class _Words:
    """What is to be told: a label, or which choice is right."""

    one: str = "label"
    many: str = "labels"
    constant: str = "naming the most frequent test label"


_OF_CHOICES = _Words("answer", "answers", "choosing the position that is right most often")


def say(section: Mapping[str, Any]) -> list[str]:
    """The most important first."""
    words = _OF_CHOICES if section["rules"] else _Words()
    rows = {row["condition"]: row for row in section["conditions"]}
    information = {row["condition"]: row for row in section["information"]}
    parts = sorted((row for row in rows.values() if is_part(row["condition"])), key=lambda row: -row["improvement"])
    # The evidence of the verdict has the accuracy of the part that gains most.
    said = [_part(row, information.get(row["condition"]), judged=row is parts[0], words=words) for row in parts]
    said[1:1] = _splits(parts[0], section) if parts else []
    said += [
        f"{how}, {points(rows[name]['accuracy'])} % of the {words.many} are right."
        for name, how in _CHANGED.items()
        if name in rows and rows[name]["improvement_low"] > 0
    ]
    said += _subjects(section)
    said += [sentence for row in section["peco"] if (sentence := _clusters(row, section["n_examples"]))]
    said += [_card(card) for card in section["clusters"][:_MOST_CLUSTERS]]
    said += [_agreement(row) for row in section["agreement"] if is_part(row["condition"]) and row["agreement"]]
    return [sentence for sentence in said if sentence]


def _subjects(section: Mapping[str, Any]) -> list[str]:
    """In how many subjects a rule hits, and where it gains most."""
    if not section.get("subjects"):
        return []
    found, n = section["n_subjects_found"], section["n_subjects"]
    most = max(section["subjects"], key=lambda row: float(row["effect"]))
    return [
        f"In {found} of {n} subjects a rule without training hits beyond chance (Benjamini-Hochberg). It gains most in "
        f"{most['subject']}: {most['rule']} is right in {points(most['hits'])} % of {most['n_items']:,} items, where "
        f"guessing gives {points(most['chance'])} %."
    ]


def _part(row: Mapping[str, Any], information: Mapping[str, Any] | None, *, judged: bool, words: _Words) -> str:
    name = row["condition"].removesuffix("_only")
    if row["n_constant"] == row["n_runs"]:
        return (
            f"Models of the {name} alone name one label for every example, which is right in "
            f"{points(row['accuracy'])} %: what the {name} tells is not measured by that."
        )
    bits = ""
    if information is not None and information["information"] > 0:
        bits = f"{information['information']:.2f} bits of the {words.one}'s {information['h_yb']:.2f}"
    share = "" if row["recovered"] is None else f"{points(row['recovered'])} % of what the whole input gives"
    if judged:
        given = ", and ".join(part for part in (share, bits) if part)
        return f"The {name} alone gives {given}." if given else ""
    said = (
        f"From the {name} alone {points(row['accuracy'])} % of the {words.many} are right, "
        f"{signed_points(row['improvement'], 1)} points ({signed_points(row['improvement_low'], 1)} to "
        f"{signed_points(row['improvement_high'], 1)}) over always {words.constant}"
    )
    return said + (f", and {share}" if share else "") + (f": {bits}" if bits else "") + "."


def _splits(best: Mapping[str, Any], section: Mapping[str, Any]) -> list[str]:
    """How far the luck of splitting moves the most telling part's improvement."""
    name = best["condition"]
    rows = [row for row in section["splits"] if name in row and "majority" in row]
    gains = [row[name] - row["majority"] for row in rows]
    probed = section["source"] == PROBES
    if probed:
        gains.append(best["improvement"])
    if len(gains) < _FEWEST_SPLITS:
        return []
    what = "these points" if probed else "the points of a quick probe in the network's place"
    ends = f"{signed_points(min(gains), 1)} to {signed_points(max(gains), 1)}"
    return [f"Over {len(gains)} splits of the data {what} range from {ends}."]


def _clusters(row: Mapping[str, Any], n: int) -> str:
    role = row["role"]
    score = f"{decimal(row['score'], 3)} (chance {row['null_mean']:.3f} taken off, p {_p(row['p_value'])})"
    if row["p_value"] > _CHANCE:
        return f"Clusters of like {role} sentences do not give labels away beyond chance: the outlier score is {score}."
    share = f"{row['n_significant']} of {row['n_clusters']} clusters of like {role} sentences lean beyond chance"
    if row["n_biased"]:
        share += (
            f"; {row['n_biased']}, with {row['n_biased_examples']:,} of the {n:,} examples, diverge by more than "
            f"{row['threshold']:g}"
        )
    return f"{share}. The outlier score is {score}."


def _card(card: Mapping[str, Any]) -> str:
    return f"{lead(card)}{about(card)}."


def lead(card: Mapping[str, Any]) -> str:
    """How many sentences a cluster has, and to which label they lean."""
    return (
        f"{card['size']:,} {card['role']} sentences lean to {card['label']}: {points(card['share'])} % of them, where "
        f"{points(card['expected'])} % of all are"
    )


def about(card: Mapping[str, Any]) -> str:
    """The words that tell them from the others."""
    words = [f"“{item['word']}”" for item in card["words"][:_MOST_WORDS]]
    return f"; they stand out by {', '.join(words)}" if words else ""


def _agreement(row: Mapping[str, Any]) -> str:
    part = row["condition"].removesuffix("_only")
    said = f"A model of the {part} alone decides like one of the whole input in {points(row['agreement'])} % of cases"
    if row["kappa"] is not None:
        said += f" (by chance {points(row['chance'])} %; kappa {row['kappa']:.2f})"
    if row["recovery"] is not None:
        said += f", and is then right in {points(row['recovery'])} %"
    return said + "."


def _p(value: float) -> str:
    return f"= {value:.3f}" if value >= 0.001 else "< 0.001"
