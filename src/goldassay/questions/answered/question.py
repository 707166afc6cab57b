"""The question whether every answer was scored: from runs or a board to three scores of each, and a verdict."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import number
from goldassay.core.progress import Steps
from goldassay.core.results import Result, frame_of_records
from goldassay.core.sections import Finding, RowToRead
from goldassay.questions.answered.degenerate import Given, find_degenerate, given_by
from goldassay.questions.answered.extraction import Reread, compare_readings, reread_outputs
from goldassay.questions.answered.measures import (
    expected_score,
    harder,
    intraclass,
    mean_of,
    pairs_by_rule,
    pass_at,
    trial_errors,
    unanswered_pairs,
)
from goldassay.questions.answered.page import PAGE
from goldassay.questions.answered.result import (
    AnsweredResult,
    AnsweredRow,
    Degenerate,
    OrderPair,
    Reading,
    ReadingPair,
    StatusPair,
    TrialRow,
    TrialSet,
)
from goldassay.questions.answered.verdict import describe_fit, judge, word_of
from goldassay.questions.board.reading import read_board
from goldassay.questions.checks import BOARD, GRADES
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.inputs import describe_inputs, read_texts, run_paths
from goldassay.questions.leakage.measures.single_sentence import PAIRED, TEXT
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import MOST_ROWS, table_of_rows
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import RunSet, distinguishable, find_runs, placed, unloaded_sets
from goldassay.runs.kinds.opening import open_input
from goldassay.runs.missing import ROUNDING, count_statuses, on_items, on_same_items
from goldassay.runs.runs import Runs
from goldassay.runs.statuses import MISSING, NOT_TRIED, SCORED_TRUNCATED, STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.document import AnswerFit, Input
    from goldassay.core.results import Verdict
    from goldassay.core.settings import Settings
    from goldassay.questions.board.scores import BoardScores
    from goldassay.questions.evidence import Evidence
    from goldassay.questions.kind_evidence import RunEvidence
    from goldassay.report.report import Report
    from goldassay.runs.item_keys import ItemKeys

# The end of a text, where its answer is.
_MOST_CHARACTERS = 400
# Of more systems the pairs are not held against each other.
_MOST_SYSTEMS = 200
# Numbers of attempts that tables show; the last one stands there, too.
_SHOWN = (1, 2, 3, 4, 5, 8, 10, 16, 32, 64, 100)


@dataclass(frozen=True)
class Answered(Result):
    """Whether every answer was scored.

    Attributes:
        verdict: On the worst run.
        found: All of them.
        to_look: Answers that no answer was read from, or that rules of extraction read otherwise, with their texts.
    """

    verdict: Verdict
    found: AnsweredResult
    to_look: pl.DataFrame

    def to_frame(self) -> pl.DataFrame:
        """One row a run."""
        return frame_of_records(self.found.runs, AnsweredRow)


def study_answered(
    given: Any, choice: RunChoice, settings: Settings, *, quiet: bool, reparse: bool = False
) -> tuple[Report, Answered]:
    """Measure, as `measure_answered` does.

    Raises:
        InputError: As `measure_answered`.
    """
    steps = Steps(quiet)
    with steps.step("reading the answers"):
        sets, inputs = _read(given, choice, settings)
    with steps.step("scoring by each rule"):
        study = measure_sets(sets, settings)
    models = list(dict.fromkeys(row.model for row in study.found.runs))
    finding = _finding(study)
    tables = dict(finding.tables)
    if reparse:
        if not study.found.readings:
            raise InputError(
                "the runs have no texts to read answers from, or no short right answers",
                file=next(iter(map(str, given)), None) if isinstance(given, (list, tuple)) else str(given),
                mend=f"name the columns with {option('columns', 'output=NAME,label=NAME')}",
            )
        tables["examples"] = study.to_look
    findings = {
        "questions": ["answered"],
        "inputs": inputs,
        "answered": study.found,
        "settings": {"seed": settings.seed, "reading": choice.describe()},
    }
    title = f"Answers of {models[0] if len(models) == 1 else f'{len(models)} models'}"
    document = frame_findings(title, findings, steps, settings, verdicts={"answered": study.verdict})
    first = table_of_rows(finding.first_rows) if finding.first_rows else None
    return compose_report(document, tables, first=first, findings=[finding]), study


def _finding(study: Answered) -> Finding:
    found = study.found
    tables = {
        "answered": study.to_frame(),
        "answered_pairs": frame_of_records(found.pairs, OrderPair),
        "answered_statuses": frame_of_records(found.statuses, StatusPair),
    }
    if found.readings:
        tables["readings"] = frame_of_records(found.readings, Reading)
    if found.passes:
        tables["trials"] = frame_of_records(found.passes, TrialRow)
    return Finding("answered", study.verdict, tables=tables, first_rows=_first_rows(study.to_look), result=found)


def _first_rows(to_look: pl.DataFrame) -> tuple[RowToRead, ...]:
    """Texts that no answer was read from, then such as rules read otherwise."""
    if not to_look.height:
        return ()
    unread = pl.col("status") == "unparsed"
    rows = to_look.sort(unread, descending=True, maintain_order=True).head(MOST_ROWS)
    return tuple(
        RowToRead(
            row["example_id"], row["text"][-_MOST_CHARACTERS:], row["label"],
            f"{row['model']}: no answer was read from this text."
            if row["status"] == "unparsed"
            else f"{row['model']}: rules of extraction disagree ({row['anchored'] or 'none'} anchored, "
            f"{row['last'] or 'none'} last, score {row['score']:g}).",
        )
        for row in rows.iter_rows(named=True)
    )  # fmt: skip


class _Loaded(NamedTuple):
    """The runs of a model on a dataset, what it gave, and its texts read anew, by the run's name."""

    runs: Runs
    given: Given
    reread: Mapping[str, Reread]


@dataclass(frozen=True)
class _OfDataset:
    """Runs on one dataset.

    Attributes:
        runs: Of each model.
        clusters: What its examples share.
        given: What each model gave.
        reread: The texts of each model's runs, by the run's name.
    """

    runs: Sequence[Runs]
    clusters: NDArray[np.int64] | None
    given: Sequence[Given]
    reread: Sequence[Mapping[str, Reread]]


Sets = list[_OfDataset]


def _read(given: Any, choice: RunChoice, settings: Settings) -> tuple[Sets, Sequence[Input]]:
    """Runs by dataset, whatever they lack as missing."""
    choice = replace(choice, missing="wrong", checkpoint=choice.checkpoint or "last")
    alone = given[0] if isinstance(given, (list, tuple)) and len(given) == 1 else given
    is_path = isinstance(alone, (str, os.PathLike)) and choice.format == "auto" and not choice.columns
    if is_path and _kind(alone) in (BOARD, GRADES):
        board = read_board(alone, choice, settings.data.clusters)
        return [_of_board(board)], board.inputs
    with run_paths(given, named=False) as paths, placed(paths):
        slices = find_runs(paths, choice)
        loaded = [_load(each) for each in unloaded_sets(slices, choice)]

        def texts_of(dataset: str) -> Any:
            gold = choice.gold_of(dataset)
            return read_texts(gold) if gold is None or isinstance(gold, str) else gold

        return _by_dataset(loaded, texts_of, settings), describe_inputs(paths, slices, choice)


def _kind(given: Any) -> str:
    """What a file holds; "" where it is of no kind of rows, which runs may be for all that."""
    try:
        return open_input(given, "runs").match.kind.name
    except InputError:
        return ""


def _load(each: RunSet) -> _Loaded:
    runs = each.load().final()
    outputs = dict(each.outputs())
    found = {run: reread_outputs(own, runs, run) for run, own in outputs.items()}
    reread = {run: again for run, again in found.items() if again is not None}
    return _Loaded(runs, given_by(runs, outputs.get(str(runs.seeds[0]))), reread)


def _by_dataset(loaded: Sequence[_Loaded], texts_of: Any, settings: Settings, asked: ItemKeys | None = None) -> Sets:
    found: Mapping[tuple[str, str], list[_Loaded]] = defaultdict(list)
    for runs, own in zip(distinguishable([own.runs for own in loaded]), loaded, strict=True):
        found[runs.dataset, runs.condition].append(own._replace(runs=runs, given=replace(own.given, system=runs.model)))
    sets: Sets = []
    for (dataset, _), of_dataset in sorted(found.items(), key=itemgetter(0)):
        aligned, _ = on_same_items([own.runs for own in of_dataset], [own.runs.model for own in of_dataset], "wrong")
        aligned = aligned if asked is None else _on_all(aligned, asked)
        clusters = clusters_of(texts_of(dataset), aligned[0].example_ids, settings.data.clusters)
        given, reread = [own.given for own in of_dataset], [own.reread for own in of_dataset]
        sets.append(_OfDataset(aligned, clusters, given, reread))
    return sets


def _on_all(sets: Sequence[Runs], asked: ItemKeys) -> list[Runs]:
    """Runs on the same items, and on the items of an audit that none of them answers, which are missing."""
    own = pl.Series(sets[0].example_ids.tolist(), dtype=pl.String)
    ids = pl.concat([own, asked.ids.filter(~asked.ids.is_in(own.implode()))])
    return [on_items(runs, ids) for runs in sets]


def _of_board(board: BoardScores, asked: ItemKeys | None = None) -> _OfDataset:
    """Each system of a board as runs: a cell without a score is unparsed where answers were scored, else unscored."""
    cells = board.cells
    if cells is None:
        return _OfDataset([], None, board.given, [])
    why = STATUSES.index("unparsed" if cells.of_answers else "unscored")
    absent = cells.absent or [np.zeros(each.shape, np.bool_) for each in cells.scores]
    runs = [
        replace(
            Runs.from_arrays(scores=np.nan_to_num(scores), example_ids=cells.items, model=name, dataset=board.name),
            status_codes=np.where(lacks, MISSING, np.where(np.isnan(scores), why, 0)).astype(np.int8),
            unrecorded=("empty", "truncated", "error"),
        )
        for name, scores, lacks in zip(cells.systems, cells.scores, absent, strict=True)
    ]
    reread: list[Mapping[str, Reread]] = [{} for _ in runs]
    for at, (own, each) in enumerate(zip(runs, cells.outputs, strict=False)):
        if each is not None and (again := reread_outputs(each, own, str(own.seeds[0]))) is not None:
            reread[at] = {str(own.seeds[0]): again}
    if asked is None:
        return _OfDataset(runs, board.clusters, board.given, reread)
    runs = _on_all(runs, asked)
    n_more = runs[0].n_examples - cells.items.size
    clusters = board.clusters
    if clusters is not None:
        # What no system answers counts each by itself.
        clusters = np.concatenate([clusters, clusters.max() + 1 + np.arange(n_more)])
    return _OfDataset(runs, clusters, board.given, reread)


def measure_sets(sets: Sets, settings: Settings, fit: AnswerFit | None = None) -> Answered:
    """Score each run by each rule, and hold systems on one dataset against each other.

    Args:
        sets: By dataset.
        settings: The limits.
        fit: How the answers fit the items of an audit.
    """
    limits = settings.verdicts.answered
    rows: list[AnsweredRow] = []
    pairs: list[OrderPair] = []
    notes: list[str] = []
    statuses: list[StatusPair] = []
    degenerate: list[Degenerate] = []
    readings: list[Reading] = []
    reading_pairs: list[ReadingPair] = []
    to_look: list[pl.DataFrame] = []
    n_pairs = 0
    for each in sets:
        of_dataset, clusters = each.runs, each.clusters
        # From a part of the input one answer may be the best.
        is_whole = of_dataset[0].condition in (PAIRED, TEXT)
        named = find_degenerate(each.given, of_dataset[0].dataset) if is_whole else ()
        degenerate += named
        scores = np.stack([runs.scores.mean(axis=0) for runs in of_dataset])
        scored = np.stack([runs.scored.all(axis=0) for runs in of_dataset])
        names, dataset = [runs.model for runs in of_dataset], of_dataset[0].dataset
        lacking = int((~scored.all(axis=1)).sum())
        if 1 < len(names) <= _MOST_SYSTEMS:
            n_pairs += len(names) * (len(names) - 1) // 2 - (len(names) - lacking) * (len(names) - lacking - 1) // 2
            pairs += [
                OrderPair(
                    dataset, names[each.a], names[each.b], each.wrong, each.wrong_p, each.scored_only,
                    each.scored_only_p, each.both, each.n_both, each.p <= 0.05,
                )
                for each in pairs_by_rule(scores * scored, scored, clusters)
            ]  # fmt: skip
            statuses += [
                StatusPair(dataset, names[one.a], names[one.b], one.a_share, one.b_share, one.p)
                for one in unanswered_pairs(scored, clusters)
            ]
        own, doubtful, rows_to_look = compare_readings(of_dataset, each.reread, clusters)
        readings += own
        reading_pairs += doubtful
        to_look += rows_to_look
        # Of two systems that the rule orders both ways it is the one that lacks more.
        lacks = dict(zip(names, (~scored).sum(axis=1).tolist(), strict=True))
        doubted = [(pair.a, pair.b) for pair in pairs if pair.both_ways and pair.dataset == dataset]
        flawed = {max(pair, key=lambda name: lacks[name]) for pair in doubted} | {one.system for one in named}
        for at, runs in enumerate(of_dataset):
            others = np.delete(scores, at, axis=0)
            difficulty = others.mean(axis=0) if len(others) else None
            rows += [
                _row(runs, run, difficulty, clusters, runs.model in flawed, settings) for run in range(runs.n_runs)
            ]
        nobody = int((~np.any([runs.scored.any(axis=0) for runs in of_dataset], axis=0)).sum())
        if nobody:
            notes.append(f"{nobody:,} of {scored.shape[1]:,} items of {dataset} were answered by no run.")
    by = dict.fromkeys(runs.weighted_by for each in sets for runs in each.runs if runs.weighted_by)
    if by:
        notes.append(
            f"These scores count all answers alike, as logs do: weights ({', '.join(by)}) are used by runs scores, "
            "compare and board."
        )
    unrecorded = [status for status in STATUSES if any(status in row.unrecorded for row in rows)]
    if unrecorded:
        notes.append(f"Not recorded by some of these files: {', '.join(unrecorded)}.")
    verdict = judge(rows, pairs, degenerate, limits)
    if fit is not None and (said := describe_fit(fit)):
        verdict = replace(verdict, evidence=f"{verdict.evidence} {said}")
    tried = [(runs, each.clusters) for each in sets for runs in each.runs if runs.trials]
    # Grades between right and wrong neither pass nor fail.
    tried = [(runs, clusters) for runs, clusters in tried if np.isin(runs.scores[_counts(runs)[0]], (0.0, 1.0)).all()]
    trials = tuple(_trials(runs, clusters) for runs, clusters in tried)
    passes = tuple(row for runs, clusters in tried for row in _passes(runs, clusters))
    found = AnsweredResult(
        tuple(rows), tuple(pairs), n_pairs, tuple(statuses), tuple(degenerate), tuple(readings), tuple(reading_pairs),
        trials, passes, tuple(notes), fit,
    )  # fmt: skip
    return Answered(verdict, found, pl.concat(to_look) if to_look else pl.DataFrame())


def _counts(runs: Runs) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which attempts were made (R, N), and of each item how many succeeded, and how many there are."""
    there = ~np.isin(runs.status, (STATUSES[MISSING], STATUSES[NOT_TRIED]))
    return there, (runs.scores * there).sum(axis=0).astype(np.int64), there.sum(axis=0)


def _trials(runs: Runs, clusters: NDArray[np.int64] | None) -> TrialSet:
    there, right, n = _counts(runs)
    icc, most = intraclass(runs.scores, there), int(n.max())
    tried = n > 0
    errors = trial_errors(runs.scores[:, tried], there[:, tried], None if clusters is None else clusters[tried])
    return TrialSet(
        model=runs.model,
        dataset=runs.dataset,
        n_items=runs.n_examples,
        n_trials=most,
        n_trials_least=int(n[tried].min()),
        n_flip=int(((right > 0) & (right < n)).sum()),
        icc=number(icc),
        effective_trials=number(most / (1 + (most - 1) * icc)),
        error=number(errors.now),
        error_trials=number(errors.trials),
        error_items=number(errors.items),
    )


def _passes(runs: Runs, clusters: NDArray[np.int64] | None) -> list[TrialRow]:
    _, right, n = _counts(runs)
    rows = []
    for k in range(1, int(n.max()) + 1):
        one, every = pass_at(right, n, k)
        own = None if clusters is None else clusters[n >= k]
        found = {"pass_at": mean_of(one, own), "pass_all": mean_of(every, own)}
        if k in _SHOWN or k == n.max():
            rows.append(
                TrialRow(
                    model=runs.model, dataset=runs.dataset, k=k, n_items=one.size,
                    **{key: value for name, mean in found.items() for key, value in _ends(name, mean).items()},
                )
            )  # fmt: skip
    return rows


def _row(
    runs: Runs,
    run: int,
    difficulty: NDArray[np.float64] | None,
    clusters: NDArray[np.int64] | None,
    flawed: bool,
    settings: Settings,
) -> AnsweredRow:
    codes = np.zeros(runs.n_examples, np.int8) if runs.status_codes is None else runs.status_codes[run]
    tried = codes != NOT_TRIED
    codes, scores, scored = codes[tried], runs.scores[run][tried], runs.scored[run][tried]
    clusters = None if clusters is None else clusters[tried]
    difficulty = None if difficulty is None else difficulty[tried]
    lacks = count_statuses(codes)
    wrong, right = mean_of(scores, clusters), mean_of(np.where(scored, scores, 1.0), clusters)
    only = mean_of(scores[scored], None if clusters is None else clusters[scored])
    assert wrong is not None
    assert right is not None
    share = float((~scored).mean())
    reported = runs.reported[run] if runs.reported else None
    effect, by = 0.0, ""
    if reported is not None:
        effect, by = abs(reported - wrong.value), "by the log's own number"
    elif only is not None and difficulty is not None and share > 0:
        effect, by = share * expected_score(scores, scored, difficulty), "by how hard the items are for others"
    elif only is not None and share > 0:
        effect, by = only.value - wrong.value, "by what the scored answers give"
    gap = None if difficulty is None else harder(difficulty, scored, clusters)
    return AnsweredRow(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        run=str(runs.seeds[run]),
        word=word_of(effect, share, settings.verdicts.answered, flawed=flawed, is_whole=bool(tried.all())),
        n_items=int(scored.size),
        n_scored=int(scored.sum()),
        n_not_tried=int((~tried).sum()),
        scored_truncated=int((codes == SCORED_TRUNCATED).sum()),
        **{name: lacks.get(name, 0) for name in ("unparsed", "empty", "truncated", "error", "unscored", "missing")},
        unrecorded=tuple(runs.unrecorded),
        unscored_share=share,
        **_ends("wrong", wrong),
        **_ends("scored_only", only),
        **_ends("all_right", right),
        reported=reported,
        reported_rule=_rule_of(reported, wrong.value, None if only is None else only.value, right.value),
        effect=effect,
        effect_by=by,
        **_ends("harder", gap),
    )


def _ends(name: str, found: Any) -> dict[str, Any]:
    value, low, high = (None, None, None) if found is None else found
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _rule_of(reported: float | None, wrong: float, only: float | None, right: float) -> str:
    """Which rule gives the log's own number; "" where it has none."""
    if reported is None:
        return ""
    rules = {"wrong": wrong, "scored only": only, "all right": right}
    met = [name for name, value in rules.items() if value is not None and abs(value - reported) <= ROUNDING]
    return ("all" if len(met) == len(rules) else " and ".join(met)) or "none of these"


class _Answered:
    question = "answered"
    title = PAGE.title
    asks = str(PAGE.lead)
    needs = ("runs",)

    def run(self, evidence: Evidence) -> Finding:
        """Score what was answered of the evaluation part by each rule."""
        with evidence.steps.step("scoring by each rule"):
            loaded = [_load(each.with_missing("wrong")) for each in evidence.run_sets]
            texts = {
                own.runs.dataset: evidence.texts_of(each) for own, each in zip(loaded, evidence.run_sets, strict=True)
            }
            keys, fit = evidence.items or (None, None)
            sets = _by_dataset(loaded, texts.get, evidence.settings, keys)
            return _finding(measure_sets(sets, evidence.settings, fit))

    def run_board(self, evidence: RunEvidence) -> Finding:
        """The same of a board."""
        keys, fit = evidence.items or (None, None)
        return _finding(measure_sets([_of_board(evidence.shown_board, keys)], evidence.settings, fit))


CHECK = _Answered()
