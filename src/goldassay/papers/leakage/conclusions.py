"""What the paper concludes, and what became of it on our sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.correlation import correlation_interval
from goldassay.core.numbers import decimal, signed_points
from goldassay.papers.leakage.evidence import is_printed_part
from goldassay.papers.majority import middle_of, standing_of
from goldassay.papers.printed import printed_table
from goldassay.papers.recipe import Conclusion
from goldassay.questions.leakage.dataset_comparison import correlations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


Row = dict[str, Any]

# Made after the leakage of 2018 was known, some of them against it.
NEWER = ("ANLI", "A1", "A2", "A3", "OCNLI", "CAugNLI", "SNLI-debiased", "MNLI-debiased")
_OLDER, _WHERE = "SNLI", "hypothesis"
# A correlation nearer to 0 than this says nothing of where an example lies.
_FAINT = 0.2
_FEWEST = 4
_TOGETHER = {
    ("agreement", "recovered"): ("By agreement", "Figure 5", "agreement with the pair's model", "the share recovered"),
    ("relevance", "accuracy"): ("By relevance", "Figure 6", "agreement of token relevances", "single accuracy"),
    ("peco", "recovered"): ("By clusters", "Figure 7", "PECO", "the share recovered"),
}


def conclude(rows: Sequence[Row], documents: Mapping[str, Mapping[str, Any]]) -> tuple[Conclusion, ...]:
    """What became of each conclusion.

    Args:
        rows: Of `rows_of_all`.
        documents: Of the reports behind them, by what they are of.
    """
    shown = [row for row in rows if is_printed_part(row)]
    return (
        _above(shown),
        _persists(shown),
        _less(shown),
        _alike(shown),
        _clusters(shown),
        *_together(shown),
        _state_of_the_art(shown),
        _confidence(documents),
    )


def _named(row: Row) -> str:
    return f"the {row['part']} of {row['dataset']} ({row['model']})"


def _counted(
    name: str,
    statement: str,
    place: str,
    rows: Sequence[Row],
    figure: Callable[[Row], tuple[float, float, float]],
    said: str,
    none: str,
) -> Conclusion:
    """A difference in every row, with its interval; above 0 in most, below in most, or neither."""
    if not rows:
        return Conclusion(name, statement, place, "not measured", none)
    found = sorted(((figure(row), row) for row in rows), key=lambda each: each[0][0])
    above = sum(low > 0 for (_, low, _), _ in found)
    below = sum(high < 0 for (_, _, high), _ in found)
    ((value, low, high), middle), called = middle_of(found, "part")
    (least, _, _), last = found[0]
    (most, _, _), first = found[-1]
    return Conclusion(
        name,
        statement,
        place,
        standing_of(above, below, len(found)),
        f"Of {len(found)} parts of sets {above} {said} beyond doubt, {below} the other way; most {_named(first)}: "
        f"{signed_points(most, 1)}, least {_named(last)}: {signed_points(least, 1)}. The figure is of {called}, "
        f"{_named(middle)}.",
        value,
        low,
        high,
        "difference",
    )


def _improvement(row: Row) -> tuple[float, float, float]:
    return row["improvement"], row["improvement_low"], row["improvement_high"]


def _above(rows: Sequence[Row]) -> Conclusion:
    return _counted(
        "Leak", "A model of a single sentence is right more often than the majority, on nearly every set.", "Table 3",
        rows, _improvement, "are above the majority", "There is no model of a single sentence.",
    )  # fmt: skip


def _persists(rows: Sequence[Row]) -> Conclusion:
    return _counted(
        "Persists", "Leakage persists in sets made since it is known, adversarial and debiased ones among them.",
        "Abstract, Table 3", [row for row in rows if row["dataset"] in NEWER], _improvement,
        "are above the majority", "None of these sets is at hand.",
    )  # fmt: skip


def _less(rows: Sequence[Row]) -> Conclusion:
    """By how much less than SNLI by the same model; the intervals of two sets are of different examples."""
    older = {row["model"]: row for row in rows if row["dataset"] == _OLDER and row["part"] == _WHERE}
    newer = [row for row in rows if row["dataset"] in NEWER and row["model"] in older]

    def difference(row: Row) -> tuple[float, float, float]:
        before, after = _improvement(older[row["model"]]), _improvement(row)
        below = ((before[0] - before[1]) ** 2 + (after[2] - after[0]) ** 2) ** 0.5
        above = ((before[2] - before[0]) ** 2 + (after[0] - after[1]) ** 2) ** 0.5
        value = before[0] - after[0]
        return value, value - below, value + above

    return _counted(
        "Less", f"Such sets leak less than {_OLDER}.", "Table 3", newer, difference,
        f"give less away than the {_WHERE} of {_OLDER}", f"None of these sets is at hand, or {_OLDER} is not.",
    )  # fmt: skip


def _alike(rows: Sequence[Row]) -> Conclusion:
    def beyond(row: Row) -> tuple[float, float, float]:
        return tuple(row[key] - row["chance"] for key in ("agreement", "agreement_low", "agreement_high"))

    return _counted(
        "Alike", "Models of a single sentence and of the pair decide alike far beyond chance.", "Table 4",
        [row for row in rows if row["agreement"] is not None], beyond,
        "agree with the pair's model more than by chance", "There are no decisions of both.",
    )  # fmt: skip


def _clusters(rows: Sequence[Row]) -> Conclusion:
    """The recommended score, from which what chance gives is subtracted."""
    known = [row for row in rows if row["peco"] is not None]
    statement = "In the model of the pair, single sentences form clusters that lean to a label."
    if not known:
        return Conclusion("Lean", statement, "Tables 4, 5, Figure 1", "not measured", "There are no embeddings.")
    found = sorted(known, key=lambda row: row["peco"])
    sure = sum(row["peco_low"] > 0 for row in found)
    against = sum(row["peco_high"] <= 0 for row in found)
    middle, called = middle_of(found, "part")
    first = found[-1]
    return Conclusion(
        "Lean",
        statement,
        "Tables 4, 5, Figure 1",
        standing_of(sure, against, len(found)),
        f"Of {len(found)} parts of sets {sure} have a PECO beyond what chance gives; most {_named(first)}: "
        f"{decimal(first['peco'], 3)}. The figure is of {called}, {_named(middle)}.",
        middle["peco"],
        middle["peco_low"],
        middle["peco_high"],
        "score",
    )


def _together(rows: Sequence[Row]) -> list[Conclusion]:
    """Over sets, which measures of leakage go together; the model with most sets speaks."""
    by_model: dict[str, list[Row]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    found = {model: {(each["x"], each["y"]): each for each in correlations(own)} for model, own in by_model.items()}
    conclusions = []
    for pair, (name, place, x, y) in _TOGETHER.items():
        statement = f"Over sets, {x} goes with {y}."
        known = {model: each[pair] for model, each in found.items() if pair in each}
        if not known:
            why = "It takes three sets that have both."
            conclusions.append(Conclusion(name, statement, place, "not measured", why))
            continue
        model = max(known, key=lambda each: known[each]["n"])
        chosen = known[model]
        others = "".join(f"; {other} {decimal(each['r'])}" for other, each in known.items() if other != model)
        beside = found[model].get(("peco", "improvement"))
        gained = f" With points above the majority PECO has {decimal(beside['r'])}." if x == "PECO" and beside else ""
        conclusions.append(
            Conclusion(
                name,
                statement,
                place,
                "held" if chosen["low"] > 0 else "did not hold" if chosen["high"] < 0 else "not shown",
                f"Pearson over {chosen['n']} parts of sets from {chosen['n_families']} training "
                f"set{'' if chosen['n_families'] == 1 else 's'} is {decimal(chosen['r'])} ({model}{others}); the paper "
                f"prints {decimal(chosen['printed'])}, and its tables give {decimal(chosen['recomputed'])}.{gained}",
                chosen["r"],
                chosen["low"],
                chosen["high"],
                "correlation",
            )
        )
    return conclusions


def _state_of_the_art(rows: Sequence[Row]) -> Conclusion:
    """Whether our models of the pair find hard what the best models of the time did."""
    statement = "What the best models of their time find hard, the models of the pair do too."
    printed = printed_table("saxon2023_table2").filter(metric="sota").drop_nulls("value")
    best = dict(zip(printed["dataset"], printed["value"], strict=True))
    by_model: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["dataset"] in best and row["paired"] is not None:
            by_model.setdefault(row["model"], {})[row["dataset"]] = row["paired"]
    model = max(by_model, key=lambda each: len(by_model[each]), default="")
    known = by_model.get(model, {})
    if len(known) < _FEWEST:
        return Conclusion("Best models", statement, "Figure 3", "not measured", "Too few of the paper's sets are here.")
    r, low, high = correlation_interval([best[name] for name in known], list(known.values()))
    return Conclusion(
        "Best models",
        statement,
        "Figure 3",
        "held" if low > 0 else "did not hold" if high < 0 else "not shown",
        f"Pearson of the printed best accuracy and that of {model} over {len(known)} sets is {decimal(r)}; the paper "
        "prints 0.92, and its tables give 0.97.",
        r,
        low,
        high,
        "correlation",
    )


def _confidence(documents: Mapping[str, Mapping[str, Any]]) -> Conclusion:
    """Whether the divergence of an example's cluster goes with the confidence that the pair's model has in it."""
    statement = "Biased clusters are not found by training dynamics: they hold examples of every confidence."
    rows = [
        {**row, "name": name}
        for name, document in documents.items()
        for row in document["leakage"]["confidence"]
        if row["correlation"] is not None and row["low"] is not None
    ]
    if not rows:
        return Conclusion("Unlike", statement, "Figure 8", "not measured", "No model has both.")
    faint = sum(row["low"] > -_FAINT and row["high"] < _FAINT for row in rows)
    strong = sum(row["low"] > _FAINT or row["high"] < -_FAINT for row in rows)
    found = sorted(rows, key=lambda row: row["correlation"])
    middle, called = middle_of(found, "correlation")
    first = max(found, key=lambda row: abs(row["correlation"]))
    return Conclusion(
        "Unlike",
        statement,
        "Figure 8",
        standing_of(faint, strong, len(rows)),
        f"Of {len(rows)} sets and texts {faint} have a correlation of confidence and divergence surely nearer to 0 "
        f"than {_FAINT}, {strong} surely farther; farthest the {first['role']} of {first['name']}: "
        f"{decimal(first['correlation'])}. The figure is of {called}, the {middle['role']} of {middle['name']}.",
        middle["correlation"],
        middle["low"],
        middle["high"],
        "correlation",
    )
