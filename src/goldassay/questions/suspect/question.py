"""The question of suspect labels: what speaks against each label of the test part, in one list. It judges nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.numbers import count
from goldassay.core.sections import Finding
from goldassay.questions.board.measures import describe_items
from goldassay.questions.matching import right_probabilities, runs_on_most
from goldassay.questions.rows import beside_data
from goldassay.questions.suspect.measures import (
    LEAST_FAMILIES,
    LEAST_STRONG,
    Contradiction,
    contradict_gold,
    corrected_scores,
    family_of,
    rank_suspects,
)
from goldassay.questions.suspect.page import PAGE
from goldassay.questions.suspect.result import (
    DEFECT,
    INVERTED,
    UNISON,
    CorrectedScore,
    RankedLabels,
    SuspectResult,
    SuspectRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.runs.runs import Runs

# Of tests on single items, as everywhere in this package.
Q = 0.05
# Shares of the items that are taken for wrong in the table of scores; 6.5 % is what Gema et al. 2024 found in MMLU.
SHARES = (0.01, 0.05, 0.065)
NOTHING = "no"
# Of what models answer: another label is likelier than the gold one, or the gold one has less than half of the mass.
LIKELIER, UNSURE = "another label is likelier", "low confidence"
UNANSWERED = "not answered"
# Of defects.
OTHER_LABEL = "the same texts have another label in another row"
ANNOTATORS = "most annotators gave another label"
# Rows on the page, and in the table beside it; the list goes on in the table of all examples.
_MOST_SHOWN = 20
MOST_ROWS = 1000
# Runs may lack so many rows that were rewritten; of fewer answers a list of all rows would not be one.
LEAST_ANSWERED = 0.9

NO_LABELS = "The rows have scores and no labels, so that no label can be suspect."


@dataclass
class Systems:
    """Answers of all runs on the test part.

    Attributes:
        models: Of each run, (S,).
        predictions: (S, N).
        likely: Probabilities of the right labels, (R, N) a set of runs with logits.
    """

    models: list[str] = field(default_factory=list)
    predictions: list[NDArray[np.int64]] = field(default_factory=list)
    likely: list[NDArray[np.float64]] = field(default_factory=list)


@dataclass(frozen=True)
class _Answered:
    """What runs say of the rows that they answer: these, (A,), and what was found of them."""

    rows: NDArray[np.int64]
    found: Contradiction | None
    confidence: NDArray[np.float64] | None


@dataclass(frozen=True)
class Suspects:
    """What was found.

    Attributes:
        result: For the report.
        examples: Columns for the table of examples; none where nothing speaks about labels.
        rows: `example_id`, `suspicion`, `suspect`, `why` and what was measured, the most suspect first.
        scores: A row a model and share of items taken for wrong.
    """

    result: SuspectResult
    examples: dict[str, pl.Series]
    rows: pl.DataFrame | None
    scores: pl.DataFrame | None


class _Suspect:
    question = "suspect"
    title = PAGE.title
    asks = str(PAGE.lead)
    needs = ()

    def run(self, evidence: Evidence) -> Finding:
        """Rank the labels of the test part; nothing where nothing speaks about them."""
        with evidence.steps.step("looking for wrong labels"):
            found = find_suspects(evidence)
        if found.rows is None:
            return Finding(self.question, None, result=found.result)
        tables = {"suspects": first_suspects(found.rows, MOST_ROWS)}
        if found.scores is not None:
            tables["suspect_scores"] = found.scores
        rows = beside_data(found.rows, {evidence.test.name: evidence.test})
        return Finding(
            self.question, None, tables=tables, examples=found.examples, rows=rows, result=found.result
        )  # fmt: skip


CHECK = _Suspect()


def find_suspects(evidence: Evidence) -> Suspects:
    """Rank the test part's labels by what speaks against them."""
    test = evidence.test
    if not test.label_names:
        return Suspects(SuspectResult(NO_LABELS), {}, None, None)
    rows_answered, sets = runs_on_most(evidence.test, evidence.run_sets, LEAST_ANSWERED)
    defects, systems = find_defects(test), _systems(sets)
    n, gold = len(test), test.labels()[rows_answered]
    families = [family_of(model) for model in systems.models]
    found = None
    if systems.predictions:
        found = contradict_gold(np.array(systems.predictions), gold, len(test.label_names), families)
    confidence = np.concatenate(systems.likely).mean(axis=0) if systems.likely else None
    inverted = _inverted(systems, gold, families)
    flawed = defects.is_not_null().to_numpy()
    why_not = _why_not(evidence, systems.models, families, found)
    if found is None and confidence is None and not flawed.any():
        # With runs a section says why there is nothing to rank.
        nothing = _ranked(why_not, n, int(rows_answered.size), families) if evidence.run_paths else None
        return Suspects(nothing or SuspectResult(why_not), {}, None, None)
    # Rows that nothing was answered of come last, but for those with a defect.
    suspicion = rank_suspects(
        flawed,
        None if found is None else _over_all(found.log_odds, rows_answered, n, -np.inf),
        None if confidence is None else _over_all(confidence, rows_answered, n, np.inf),
    )
    kinds = np.full(n, NOTHING if found is None and confidence is None else UNANSWERED, dtype=object)
    kinds[rows_answered] = NOTHING
    if confidence is not None:
        kinds[rows_answered[confidence < 0.5]] = UNSURE
    if found is not None:
        kinds[rows_answered[found.log_odds > 0]] = LIKELIER
    kinds[rows_answered[inverted]] = INVERTED
    if found is not None:
        kinds[rows_answered[found.unison]] = UNISON
    kinds[flawed] = DEFECT
    columns = {"suspicion": pl.Series(suspicion), "suspect": pl.Series(kinds.tolist(), dtype=pl.String)}
    rows = _rows(test, defects, kinds, suspicion, _Answered(rows_answered, found, confidence))
    scores = None if found is None else _scores(systems, gold, found, suspicion[rows_answered])
    result = replace(
        _ranked(why_not, n, int(rows_answered.size), families),
        n_defects=int(flawed.sum()),
        n_inverted=int(inverted.sum()) if len(set(families)) >= _LEAST_TESTED else None,
        confident=confidence is not None,
        rows=tuple(SuspectRow(**row) for row in first_suspects(rows, _MOST_SHOWN).to_dicts()),
        scores=() if scores is None else tuple(CorrectedScore(**row) for row in scores.to_dicts()),
    )
    if found is not None and found.strong:
        unison = int(found.unison.sum())
        result = replace(result, strong=tuple(found.strong), n_unanimous=unison, n_expected=found.n_expected)
    return Suspects(result, columns, rows, scores)


def _ranked(why_not: str, n: int, n_answered: int, families: list[str]) -> RankedLabels:
    """Labels of which nothing is known yet."""
    names = tuple(sorted(set(families)))
    return RankedLabels(
        why_not=why_not, n_examples=n, n_answered=n_answered, n_defects=0, n_families=len(names), families=names,
        strong=(), n_unanimous=None, n_expected=None, n_inverted=None, confident=False, rows=(), scores=(),
    )  # fmt: skip


def first_suspects(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """The first rows of a ranking of labels against which something speaks."""
    return rows.filter(~pl.col("suspect").is_in([NOTHING, UNANSWERED])).head(most)


def _why_not(evidence: Evidence, models: list[str], families: list[str], found: Contradiction | None) -> str:
    """Why models' answers were not held against the labels, in one sentence; "" where they were."""
    takes = f"it takes {LEAST_FAMILIES} families, {LEAST_STRONG} of them strong, to hold their answers against a label"
    if found is not None:
        return "" if found.strong else (
            f"Fewer than {LEAST_STRONG} of the {count(len(found.families))} families of models are strong: {takes}."
        )  # fmt: skip
    if not evidence.run_paths:
        return f"No runs of models were given: {takes}."
    if not models:
        return f"No runs predict the labels of nearly all rows of the test part from the whole input: {takes}."
    n_models, n_families = len(set(models)), len(set(families))
    who = "The model is" if n_models == 1 else f"The {count(n_models)} models are"
    of = "1 family" if n_families == 1 else f"{count(n_families)} families"
    return f"{who} of {of} by the first word of {'its name' if n_models == 1 else 'their names'}: {takes}."


# Below twenty systems the correlation of an item with the rest is hardly known, see `describe_items`.
_LEAST_TESTED = 20


def _over_all(values: NDArray[np.float64], rows: NDArray[np.int64], n: int, otherwise: float) -> NDArray[np.float64]:
    """Values of some rows as values of all, (N,)."""
    found = np.full(n, otherwise)
    found[rows] = values
    return found


def _systems(sets: Iterable[Runs]) -> Systems:
    found = Systems()
    for runs in sets:
        final = runs.final()
        if final.predictions is not None:
            found.predictions += list(final.predictions.astype(np.int64))
            found.models += [runs.model] * final.n_runs
        if (right := right_probabilities(final)) is not None:
            found.likely.append(right)
    return found


def _inverted(systems: Systems, gold: NDArray[np.int64], families: list[str]) -> NDArray[np.bool_]:
    """Items that weaker families solve and stronger ones miss, q at most .05, from twenty families on."""
    names = list(dict.fromkeys(families))
    if len(names) < _LEAST_TESTED:
        return np.zeros(gold.size, bool)
    hits = np.array(systems.predictions) == gold
    of = np.array(families)
    found = describe_items(np.array([hits[of == name].mean(axis=0) for name in names]))
    with np.errstate(invalid="ignore"):
        return np.asarray((found.discrimination < 0) & (found.q <= Q))


def _rows(
    test: Dataset,
    defects: pl.Series,
    kinds: NDArray[Any],
    suspicion: NDArray[np.float64],
    answered: _Answered,
) -> pl.DataFrame:
    found, confidence = answered.found, answered.confidence
    # Null where nothing was answered.
    at = pl.DataFrame({"row": range(len(test))}).join(
        pl.DataFrame({"row": answered.rows, "at": range(answered.rows.size)}),
        on="row",
        how="left",
        maintain_order="left",
    )["at"]
    names = pl.Series(test.label_names, dtype=pl.String)
    table = test.examples.select(
        pl.lit(test.name).alias("dataset"), pl.col("example_id").cast(pl.String), pl.Series("suspicion", suspicion)
    ).with_columns(pl.Series("suspect", kinds.tolist(), dtype=pl.String), defects.alias("defect"))
    if found is not None:
        table = table.with_columns(
            names.gather(found.alternative).gather(at).alias("suggested"),
            pl.Series("log_odds", found.log_odds).gather(at),
        )
    if confidence is not None:
        table = table.with_columns(pl.Series("confidence", confidence).gather(at))
    # Without models nothing tells rows without a defect apart.
    if found is None and confidence is None:
        table = table.filter(pl.col("defect").is_not_null())
    return table.sort("suspicion", descending=True, maintain_order=True)


def _scores(
    systems: Systems, gold: NDArray[np.int64], found: Contradiction, suspicion: NDArray[np.float64]
) -> pl.DataFrame:
    answers, rows = np.array(systems.predictions), []
    for share in SHARES:
        n_first = min(round(share * gold.size), gold.size - 1)
        columns = corrected_scores(answers, gold, found.alternative, suspicion, n_first)
        told = pl.DataFrame(
            {"model": systems.models, "as_is": columns[0], "dropped": columns[1], "relabelled": columns[2]}
        )
        means = told.group_by("model", maintain_order=True).mean()
        rows.append(means.select(pl.lit(share).alias("share"), pl.lit(n_first).alias("n_first"), pl.all()))
    return pl.concat(rows)


def find_defects(dataset: Dataset) -> pl.Series:
    """What is wrong with each row of a labelled set, (N,) text; null where nothing is.

    Texts are the same where they agree without case and with single spaces. Annotators speak against a label where
    one label has more than half of their votes, and it is another one.
    """
    frame = dataset.examples
    if not dataset.label_names:
        return pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    texts = [
        pl.col(name).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars() for name in dataset.text_columns
    ]
    is_other = pl.col("label").n_unique().over(texts) > 1
    outvoted = pl.lit(value=False)
    if "annotator_labels" in frame.columns:
        votes = pl.col("annotator_labels").list
        most = votes.eval(pl.element().mode().sort().first()).list.first()
        n_most = votes.eval((pl.element() == pl.element().mode().sort().first()).sum()).list.first()
        outvoted = (2 * n_most > votes.len()) & (most != pl.col("label"))
    said = pl.when(is_other).then(pl.lit(OTHER_LABEL)).when(outvoted).then(pl.lit(ANNOTATORS)).otherwise(None)
    return frame.select(said.alias("defect"))["defect"]
