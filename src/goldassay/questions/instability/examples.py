"""Single examples: which of them depend on the run, which change together, and what each run answers."""

from __future__ import annotations

import base64
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.questions.instability.measures.checkpoints import measure_stability
from goldassay.questions.instability.measures.correlation import correlate_examples
from goldassay.questions.instability.measures.covarying_pairs import top_covarying_pairs
from goldassay.questions.instability.result import ExampleMap, ExampleSpread, MapGroup, PairCount, PairsByGroup
from goldassay.questions.matching import Curves, right_probabilities, runs_on_part, runs_on_test
from goldassay.runs.traits import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.runs.runs import Runs

PAIRS = 20
LEAST_STABLE = 12
ALWAYS_WRONG = 12
# Pairs that share the largest covariance are counted by group where there are no more of them than this.
MOST_TIES = 50_000
# More rows of such a count are not read.
MOST_GROUP_PAIRS = 20
# A rank correlation over fewer runs than this is hardly more than a coin toss.
FEWEST_RUNS = 5
# More examples than this are thinner than a pixel of the picture.
MOST_EXAMPLES = 240
# More groups than this cannot be named beside it.
MOST_GROUPS = 40
UNDEFINED = -128
# More runs of an example than these are no strip that anybody reads, and a table that nobody opens.
MOST_RUNS = 100
SCHEMA = pl.Schema(
    {
        "run": pl.String(),
        "model": pl.String(),
        "seed": pl.String(),
        "n_answered": pl.Int64(),
        "answers_all": pl.Boolean(),
    }
)


def measure_examples(runs: Runs, dataset: Dataset | None) -> tuple[ExampleSpread, pl.DataFrame, pl.DataFrame]:
    """Stability of each example, and the pairs that covary most.

    Args:
        runs: (R, [T,] N), at least two runs.
        dataset: Holds the texts of the examples, if it is at hand.

    Returns:
        What the report holds, the table of all examples, and the table of pairs.
    """
    measured = measure_stability(runs.scores, runs.example_ids)
    described = _described(runs, dataset)
    table = measured.to_frame().with_columns(pl.col("example_id").cast(pl.String))
    table = table.join(described, on="example_id", how="left", maintain_order="left")
    final = runs.final().scores
    pairs = _pairs(final, described)
    ties = int(pairs["ties"][0]) if pairs.height else 0
    largest = float(pairs["covariance"][0]) if pairs.height else 0.0
    found = ExampleSpread(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        name="",
        n_runs=measured.n_runs,
        n_examples=measured.n_examples,
        n_always_right=measured.n_always_right,
        n_always_wrong=measured.n_always_wrong,
        n_constant=measured.n_constant,
        flips=None if measured.flips is None else float(measured.flips.mean()),
        histogram=_histogram(final),
        text_columns=() if dataset is None else tuple(dataset.text_columns),
        group_columns=tuple(runs.groups),
        least_stable=tuple(table.head(LEAST_STABLE).to_dicts()),
        n_least_stable=int((measured.disagreement == measured.disagreement.max()).sum()),
        always_wrong=tuple(table.filter(pl.col("status") == "always wrong").head(ALWAYS_WRONG).to_dicts()),
        pairs=tuple(pairs.to_dicts()),
        n_pairs_at_most=ties,
        pairs_by_group=_by_group(final, ties, runs) if 0 < ties <= MOST_TIES else (),
        pairs_reach_bound=bool(np.isclose(largest, largest_covariance(runs.n_runs))),
    )
    named = [pl.lit(getattr(runs, name)).alias(name) for name in ("model", "dataset", "condition")]
    return found, table.select(*named, pl.all()), pairs.select(*named, pl.all())


def largest_covariance(n_runs: int) -> float:
    """The most that two scores in [0, 1] can covary over R runs: both 1 in the same half of them, 0 in the others."""
    half = n_runs // 2
    return half * (n_runs - half) / (n_runs * (n_runs - 1))


def _described(runs: Runs, dataset: Dataset | None) -> pl.DataFrame:
    """One row an example: its id, right label, groups and texts, as far as they are known."""
    columns: dict[str, Any] = {"example_id": pl.Series(runs.example_ids.tolist(), dtype=pl.String)}
    if runs.gold is not None and runs.label_names:
        columns["label"] = pl.Series(runs.label_names, dtype=pl.String).gather(runs.gold)
    columns |= {f"group_{name}": pl.Series(values.tolist(), dtype=pl.String) for name, values in runs.groups.items()}
    frame = pl.DataFrame(columns)
    if dataset is None:
        return frame
    return frame.hstack(rows_of(runs, dataset, dataset.text_columns).drop("example_id"))


def _pairs(scores: Any, described: pl.DataFrame) -> pl.DataFrame:
    pairs = top_covarying_pairs(scores, PAIRS)
    for side, column in (("_a", "i"), ("_b", "j")):
        members = described[pairs[column].to_list()]
        pairs = pairs.hstack(members.rename({name: name + side for name in members.columns}))
    return pairs


def _by_group(scores: Any, ties: int, runs: Runs) -> tuple[PairsByGroup, ...]:
    """Where the pairs with the largest covariance lie: within which groups, and between which."""
    if not runs.groups:
        return ()
    pairs = top_covarying_pairs(scores, ties)
    found = []
    for column, names in runs.groups.items():
        one, other = (pl.Series(names.astype(str).tolist(), dtype=pl.String)[pairs[side].to_list()] for side in "ij")
        sides = pl.DataFrame({"one": one, "other": other}).select(
            a=pl.min_horizontal("one", "other"), b=pl.max_horizontal("one", "other")
        )
        counts = sides.group_by("a", "b").len("n_pairs").sort("n_pairs", "a", "b", descending=[True, False, False])
        found.append(
            PairsByGroup(
                column=column,
                n_pairs=ties,
                n_within=int(counts.filter(pl.col("a") == pl.col("b"))["n_pairs"].sum()),
                n_rows=counts.height,
                rows=tuple(PairCount(*row) for row in counts.head(MOST_GROUP_PAIRS).iter_rows()),
            )
        )
    return tuple(found)


def _histogram(scores: Any) -> tuple[int, ...]:
    """How many examples are right in 0, 1, ..., R runs; empty for scores that are not right or wrong."""
    if not ((scores == 0) | (scores == 1)).all():
        return ()
    return tuple(np.bincount(scores.sum(axis=0).astype(np.int64), minlength=len(scores) + 1).tolist())


def unsteady_rows(runs: Runs) -> pl.DataFrame:
    """The examples whose scores differ between runs, the least steady first.

    Args:
        runs: (R, N), two runs or more.

    Returns:
        dataset, example_id, model, condition, n_runs, `mean` (of the scores over runs), `disagreement`.
    """
    measured = measure_stability(runs.scores, runs.example_ids).to_frame()
    return measured.filter(pl.col("disagreement") > 0).select(
        pl.lit(runs.dataset).alias("dataset"),
        pl.col("example_id").cast(pl.String),
        pl.lit(runs.model).alias("model"),
        pl.lit(runs.condition).alias("condition"),
        pl.lit(runs.n_runs).alias("n_runs"),
        "mean",
        "disagreement",
    )


def describe_unsteady(row: dict[str, Any]) -> str:
    """Why a row of `unsteady_rows` is worth reading."""
    right = row["mean"] * row["n_runs"]
    if abs(right - round(right)) > 1e-6:
        return f"Its scores differ most between the {row['n_runs']} runs of {row['model']}."
    return f"{right:.0f} of {row['n_runs']} runs of {row['model']} are right."


def measure_map(runs: Runs, seed: int) -> ExampleMap | None:
    """Correlations between examples that change, drawn at random where they are many, group by group.

    Over the checkpoints of each run, averaged over runs; with one checkpoint over the final scores of the runs, if
    there are at least five. Within a group, examples that go together stand side by side.

    Args:
        runs: (R, [T,] N).
        seed: Of the draw.

    Returns:
        The map; None where there are too few runs, or fewer than two examples change.
    """
    over_checkpoints = runs.scores.ndim == 3
    if not over_checkpoints and runs.n_runs < FEWEST_RUNS:
        return None
    varying = np.flatnonzero(_varies(runs.scores))
    if len(varying) < 2:
        return None
    chosen = varying
    if len(varying) > MOST_EXAMPLES:
        chosen = np.sort(np.random.default_rng(seed).choice(varying, MOST_EXAMPLES, replace=False))
    column = _column(runs)
    groups = None if column is None else runs.groups[column][chosen]
    with warnings.catch_warnings():
        # Pairs without a value are shown as such.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = correlate_examples(
            runs.scores[..., chosen], pooling="mean" if over_checkpoints else "final", max_examples=None, groups=groups
        )
    if len(found.examples) < 2:
        return None
    values = found.values[np.ix_(found.order, found.order)]
    shown = chosen[found.examples[found.order]]
    named = None if column is None else runs.groups[column][shown]
    return ExampleMap(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        name="",
        over="checkpoints" if over_checkpoints else "runs",
        n_runs=found.n_runs,
        n_checkpoints=found.n_checkpoints,
        n_varying=len(varying),
        example_ids=tuple(runs.example_ids[shown].tolist()),
        column=column,
        groups=() if named is None else _blocks(values, named),
        values=base64.b64encode(_bytes(values)).decode("ascii"),
    )


def _varies(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which examples have a correlation at all: those that change between checkpoints of a run, or between runs."""
    if scores.ndim == 3:
        return (scores != scores[:, :1]).any(axis=(0, 1))
    return (scores != scores[:1]).any(axis=0)


def _column(runs: Runs) -> str | None:
    """The finest group column that can be named beside the picture."""
    sizes = {name: len(np.unique(values)) for name, values in runs.groups.items()}
    fitting = {name: size for name, size in sizes.items() if 1 < size <= MOST_GROUPS}
    return max(fitting, key=lambda name: fitting[name]) if fitting else None


def _blocks(values: NDArray[Any], named: NDArray[Any]) -> tuple[MapGroup, ...]:
    """Each group's stretch of the map, and the mean correlation between its examples and with those of others."""
    blocks = []
    for name in dict.fromkeys(named.tolist()):
        rows = np.flatnonzero(named == name)
        inside = values[np.ix_(rows, rows)][np.triu_indices(len(rows), 1)]
        outside = values[rows][:, named != name]
        blocks.append(MapGroup(str(name), len(rows), _known_mean(inside), _known_mean(outside)))
    return tuple(blocks)


def _known_mean(values: NDArray[Any]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _bytes(values: NDArray[Any]) -> bytes:
    hundredths = np.where(np.isnan(values), UNDEFINED, np.round(100 * np.nan_to_num(values)))
    return hundredths.astype(np.int8).tobytes()


@dataclass(frozen=True)
class RunAnswers:
    """What runs answer.

    Attributes:
        columns: For the table of examples, in its order; none where there are no runs.
        runs: A row a run, in the order of the lists of `columns`, those that answer every example first; None where
            there are none.
    """

    columns: dict[str, pl.Series] = field(default_factory=dict)
    runs: pl.DataFrame | None = None


def answers_of_runs(evidence: Evidence, curves: Curves | None = None) -> RunAnswers:
    """Columns of the runs of the whole input on the test part, in the order of its examples, and what runs these are.

    Of runs that answer every example: `runs_scores` and `runs_answers` (lists, a value a run), `runs_right` (mean
    score), `runs` (all right, differ, all wrong), and where runs have logits `confidence` and `variability`: mean and
    standard deviation of the right label's probability, over checkpoints where there are several, else over runs
    (Swayamdipta et al. 2020); and where there are several, `runs_over_checkpoints`, a list of means over runs. Of runs
    that lack some examples `partial_scores` and `partial_answers`, lists with null where a run has no answer. Lists are
    of the first `MOST_RUNS` runs.

    Args:
        evidence: The runs.
        curves: The same runs at several checkpoints.
    """
    n = len(evidence.test)
    found: dict[str, pl.Series] = {}
    likely, whole = [], []
    for runs in runs_on_test(evidence.test, evidence.run_sets):
        whole.append(runs.final())
        if (right := right_probabilities(runs)) is not None:
            likely.append(right)
    if whole:
        together = np.concatenate([each.scores for each in whole]).astype(np.float32)
        mean = together.mean(axis=0)
        kinds = np.where(mean == 1, "all right", np.where(mean == 0, "all wrong", "differ"))
        found["runs"] = pl.Series(kinds.tolist(), dtype=pl.String)
        found["runs_right"] = pl.Series(mean.astype(np.float64))
        found["runs_scores"] = _lists(together[:MOST_RUNS], pl.Float32)
        found["runs_answers"] = _lists(np.concatenate(list(map(_named, whole)))[:MOST_RUNS], pl.String)
        if curves is not None:
            found["runs_over_checkpoints"] = _lists(curves.values.astype(np.float32), pl.Float32)
        if curves is not None and curves.spread is not None:
            found["confidence"] = pl.Series(curves.values.mean(axis=0))
            found["variability"] = pl.Series(curves.spread)
        elif likely:
            right = np.concatenate(likely)
            found["confidence"] = pl.Series(right.mean(axis=0))
            found["variability"] = pl.Series(right.std(axis=0))
    part = [(rows, runs.final()) for rows, runs in runs_on_part(evidence.test, evidence.run_sets)]
    if part:
        scores = np.concatenate([_on_all(runs.scores.astype(np.float32), rows, n) for rows, runs in part])
        answers = np.concatenate([_on_all(_named(runs), rows, n) for rows, runs in part])
        found["partial_scores"] = _lists(scores[:MOST_RUNS], pl.Float32)
        found["partial_answers"] = _lists(answers[:MOST_RUNS], pl.String)
    sets = [*((n, runs) for runs in whole), *((rows.size, runs) for rows, runs in part)]
    return RunAnswers(found, _run_names(sets, n) if sets else None)


def _on_all(values: NDArray[Any], rows: NDArray[np.int64], n: int) -> NDArray[Any]:
    """(R, M) values of some rows as (R, n) values of all, None where a row has none."""
    found = np.full((values.shape[0], n), None, dtype=object)
    found[:, rows] = values
    return found


def _lists(values: NDArray[Any], kind: type[pl.DataType]) -> pl.Series:
    """(R, N) values as a list a column."""
    return pl.Series(values.T.tolist(), dtype=pl.List(kind))


def _run_names(sets: Iterable[tuple[int, Runs]], n: int) -> pl.DataFrame:
    """A row a run, under a name that no other one has."""
    rows = [
        (
            _run_name(runs.model, str(seed)) if runs.n_runs > 1 else runs.model,
            runs.dataset,
            runs.model,
            str(seed),
            n_here,
        )
        for n_here, runs in sets
        for seed in runs.seeds.tolist()
    ]
    # Two files may hold runs of one model on these examples, each with a name for them.
    several = Counter(name for name, *_ in rows)
    names = [f"{name} on {dataset}" if several[name] > 1 else name for name, dataset, *_ in rows]
    for at, name in enumerate(names):
        n_before = 1
        while names[at] in names[:at]:
            n_before += 1
            names[at] = f"{name} ({n_before})"
    return pl.DataFrame(
        [(name, model, seed, answered, answered == n) for name, (_, _, model, seed, answered) in zip(names, rows,
         strict=True)],
        schema=SCHEMA, orient="row",
    )  # fmt: skip


def _run_name(model: str, seed: str) -> str:
    # A run without a number goes by the name of its file.
    return f"{model} seed {seed}" if seed.isdecimal() else f"{model} {seed}"


def _named(runs: Runs) -> NDArray[Any]:
    """(R, N) names of the labels that were predicted; None where a run has scores alone."""
    if runs.predictions is None:
        return np.full(runs.scores.shape, None, dtype=object)
    return np.array([*runs.label_names, None], dtype=object)[runs.predictions]
