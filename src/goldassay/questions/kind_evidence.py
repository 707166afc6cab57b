"""Evidence of data that are no labelled texts, and of runs alone: what an audit of each kind can measure and show."""

from __future__ import annotations

import string
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import About, Input
from goldassay.core.errors import InputError, option
from goldassay.core.results import Verdict, not_asked
from goldassay.core.sections import RowToRead
from goldassay.data.kinds.kind import CHOICES as CHOICE_WORDS
from goldassay.data.kinds.kind import ItemKind
from goldassay.data.row_keys import item_frame
from goldassay.questions.board.reading import read_board
from goldassay.questions.checks import CHOICES, GRADES, JUDGMENTS, PREFERENCES, RUNS
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import describe_inputs
from goldassay.questions.leakage.choices import choice_evidence
from goldassay.questions.leakage.probes import n_trainings
from goldassay.questions.provenance import data_notes, describe_clusters, unread_notes
from goldassay.questions.rows import (
    MOST_ROWS,
    copies_in_training,
    copies_within,
    examples_read,
    first_rows,
    in_one_place,
)
from goldassay.questions.run_sets import by_configuration
from goldassay.questions.suspect.question import NOTHING, UNANSWERED, Q
from goldassay.questions.suspect.result import DEFECT, DISPUTED
from goldassay.readers.choice_subjects import untrained_picks
from goldassay.runs.loading import LackingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.core.document import AnswerFit
    from goldassay.core.progress import Steps
    from goldassay.core.sections import Finding
    from goldassay.core.settings import Settings
    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.data.kinds.judged_scores import JudgedScores
    from goldassay.data.kinds.judgments import Judgments
    from goldassay.questions.board.scores import BoardScores
    from goldassay.questions.leakage.item_loading import Posed
    from goldassay.questions.leakage.partial_input import PartialInputRuns
    from goldassay.questions.overlap.search.scan import CorpusChoice
    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.item_keys import ItemKeys
    from goldassay.stats.effects import Effect, ReaderPredictions


# More models than these are ranked, and not compared two by two.
_MOST_COMPARED = 8


class ItemEvidence(Evidence):
    """Items with choices, or preferences, and what readers of a part of them pick.

    Args:
        posed: The items.
        corpus: What may have been trained on.
        settings: All of an audit.
        steps: Progress.
        measure_leakage: The question of leakage, as it is asked of items.
        answered_by: The runs that answer the items, if any.
    """

    def __init__(
        self,
        posed: Posed,
        corpus: CorpusChoice,
        settings: Settings,
        steps: Steps,
        measure_leakage: Callable[[Evidence], Finding],
        answered_by: RunEvidence | None = None,
    ) -> None:
        super().__init__(settings=settings, steps=steps, make_readers=self._read, corpus=corpus)
        self.posed = posed
        self._measure_leakage = measure_leakage
        self.answered_by = answered_by
        self.has_votes = False
        """Whether answers were held against the keys, once `beside_items` was asked."""
        self.kind = CHOICES if posed.test.kind is CHOICE_WORDS else PREFERENCES

    def _read(self, _: Evidence) -> PartialInputRuns:
        seeds = range(self.settings.seed, self.settings.seed + n_trainings(self.settings.leakage.seeds))
        with self.steps.step("training quick probes") as progress:
            return choice_evidence(self.posed, seeds, self.settings, progress, lambda: self.untrained)

    @cached_property
    def untrained(self) -> Mapping[str, NDArray[np.float64]]:
        """Scores of picks without training that are no rules; leakage and artifacts ask for them where all is sound."""
        return untrained_picks(self.posed.test)

    @cached_property
    def leakage(self) -> Finding:
        """What `leakage measure` finds: patterns are held against the rules in it."""
        return self._measure_leakage(self)

    def has(self, need: str) -> bool:
        """As `Evidence.has`: training items are searched for the others, and so is a corpus."""
        if need == "test":
            return bool(self.corpus.places) or self.posed.train is not None
        return self.answered_by is not None and (need == "runs" or self.answered_by.has(need))

    def prepare(self, directory: Path) -> None:
        """As `Evidence.prepare`: the quick probes of items keep no runs."""

    @property
    def title(self) -> str:
        """As `Evidence.title`."""
        return f"Audit of {self.readers.name}"

    def why_not(self, question: str, needs: Sequence[str]) -> Verdict:
        """As `Evidence.why_not`: other sets are not judged on items."""
        if "runs" in needs and self.answered_by is None:
            return super().why_not(question, needs)
        of = "a board" if "runs" in needs else self.posed.test.kind.items
        said, step = f"Not asked of {of}: {question}.", ""
        return replace(not_asked(question, needs), evidence=said, next_step=step)

    def described(self) -> dict[str, Any]:
        """As `Evidence.described`."""
        found, answered_by = self.readers, self.answered_by
        return {
            "dataset": About(
                name=found.name,
                label_names=found.label_names,
                kind=self.posed.test.kind.name,
                most_choices=len(found.label_names),
                n_test=found.gold.size,
                text_columns=(),
                conditions=tuple(found.conditions),
            ),
            "inputs": [*found.inputs, *([] if answered_by is None else answered_by.described()["inputs"])],
            "clusters": describe_clusters(found.grouping),
            "data_notes": [*data_notes(None, None, found.grouping, ()), *found.notes],
        }

    def rows(self) -> pl.DataFrame:
        """One row an item: its parts, its subject, and what cannot be right in it."""
        items = self.posed.test
        parts = item_frame(items).with_columns(self.leakage.tables["examples"]["example_id"])
        if items.subjects is not None:
            parts = parts.with_columns(items.subjects.cast(pl.String).alias("group_subject"))
        if items.problems.height:
            why = _problems(items)
            kinds = ["defect" if each else "no" for each in why]
            parts = parts.with_columns(
                pl.Series("suspect", kinds, dtype=pl.String), pl.Series("defect", why, dtype=pl.String)
            )
        return parts

    def beside_items(self, finding: Finding) -> Finding:
        """What the runs say of the items, beside these: the votes against each key."""
        votes = finding.tables.get("board_keys")
        if votes is None:
            return finding
        ids = self.leakage.tables["examples"].select(pl.col("example_id").cast(pl.String).alias("item"))
        own = ids.join(votes, on="item", how="left", maintain_order="left")
        self.has_votes = True
        why = pl.Series(_problems(self.posed.test), dtype=pl.String)
        kinds = own.select(
            pl.when(why.is_not_null()).then(pl.lit(DEFECT)).when(pl.col("q") <= Q).then(pl.lit(DISPUTED))
            .when(pl.col("q").is_null()).then(pl.lit(UNANSWERED)).otherwise(pl.lit(NOTHING))
        ).to_series()  # fmt: skip
        found = {"suspect": kinds, "suggested": own["answer"], "suspicion": own["log_odds"]}
        return replace(finding, examples=found)

    def near_copies(self, places: pl.DataFrame | None) -> pl.DataFrame:
        """As `Evidence.near_copies`; the order of choices makes no other item."""
        own = self.rows()
        found = copies_within(_texts(own), own["example_id"], own["answer"].list.join(" / "))
        if self.posed.train is None:
            return found
        known = item_frame(self.posed.train)
        ids = known["example_id"], known["answer"].list.join(" / ")
        return pl.concat([found, copies_in_training(places, _texts(known), *ids)])

    def first_rows(self, found: Sequence[Finding]) -> tuple[RowToRead, ...]:
        """As `Evidence.first_rows`: items that cannot be right go before."""
        items = self.posed.test
        return in_one_place((*items_to_read(items, defects(items)), *first_rows(found)))[:MOST_ROWS]


class JudgmentEvidence(Evidence):
    """Judgments of pairs, or scores by judges."""

    has_data = False

    def __init__(self, judgments: Judgments | JudgedScores, settings: Settings, steps: Steps) -> None:
        super().__init__(settings=settings, steps=steps)
        self.judgments = judgments
        self.kind = JUDGMENTS

    def prepare(self, directory: Path) -> None:
        """As `Evidence.prepare`: nothing is trained."""

    @property
    def title(self) -> str:
        """As `Evidence.title`."""
        return f"Judgments of {self.judgments.name}"

    def described(self) -> dict[str, Any]:
        """As `Evidence.described`."""
        own = self.judgments
        return {
            "dataset": About(name=own.name, kind="judgment", n_test=own.rows["item"].n_unique()),
            "inputs": [
                Input(
                    role="test",
                    name=own.name,
                    files=tuple(file.name for file in own.files),
                    sha256=tuple(file.sha256 for file in own.files),
                    n_rows=len(own),
                    n_read=own.n_read,
                    format="judgment",
                    roles={},
                    decisions=tuple(own.decisions),
                    dropped=dict(own.problems["reason"].value_counts(sort=True).iter_rows()),
                )
            ],
            "data_notes": unread_notes(own.unread),
        }

    def rows(self) -> pl.DataFrame | None:
        """As `Evidence.rows`: each item stands in the table of verdicts by order."""
        return None


class RunEvidence(Evidence):
    """Runs alone, or a board of systems.

    Args:
        given: Paths, or what was handed over.
        kind: Runs, a board, or grades.
        paths: Of the runs.
        choice: How they are read.
        settings: All of an audit.
        steps: Progress.
        items: As the attribute.
    """

    has_data = False

    def __init__(
        self,
        given: Any,
        kind: str,
        paths: list[str],
        choice: RunChoice,
        settings: Settings,
        steps: Steps,
        items: tuple[ItemKeys, AnswerFit] | None = None,
    ) -> None:
        super().__init__(runs=paths, choice=choice, settings=settings, steps=steps)
        self._given, self.items = given, items
        self.kind = kind
        if kind == GRADES and choice.grades is None:
            raise InputError(
                "the scores are grades, and nothing says which is the lowest and which the highest",
                file=paths[0] if paths else None,
                mend=f"give both, as in {option('grades', '1:5')}",
            )

    @cached_property
    def board(self) -> BoardScores:
        """The scores of all systems on the items that they have in common.

        Raises:
            InputError: See `read_board`.
        """
        return read_board(self._given, self.choice, self.settings.data.clusters)

    @cached_property
    def shown_board(self) -> BoardScores:
        """The board to describe: where systems lack items, which the rule in use refuses, what is missing as wrong."""
        try:
            return self.board
        except LackingError:
            return read_board(self._given, replace(self.choice, missing="wrong"), self.settings.data.clusters)

    @property
    def models(self) -> dict[str, set[str]]:
        """{dataset: the models that answer it from the whole input}."""
        found: dict[str, set[str]] = {}
        for each in self.run_sets:
            if each.is_whole_input:
                found.setdefault(each.dataset, set()).add(each.model)
        return found

    @property
    def compared(self) -> list[str]:
        """The models that all of a dataset's examples are compared by, none where too many are there."""
        several = max(self.models.values(), key=len, default=set())
        return sorted(several) if 1 < len(several) <= _MOST_COMPARED else []

    def has(self, need: str) -> bool:
        """As `Evidence.has`: "models" are several to compare, and a "board" is of several on one dataset."""
        if self.kind != RUNS:
            return need == "board"
        if need == "configurations":
            return bool(by_configuration(self.run_sets).several)
        if need == "models":
            return bool(self.compared)
        return len(self.models) == 1 and all(len(models) > 1 for models in self.models.values())

    def prepare(self, directory: Path) -> None:
        """As `Evidence.prepare`: nothing is trained."""

    @property
    def title(self) -> str:
        """As `Evidence.title`."""
        if self.kind != RUNS:
            return f"Audit of the board {self.shown_board.name}"
        models = list(dict.fromkeys(runs.model for runs in self.run_sets))
        datasets = list(dict.fromkeys(runs.dataset for runs in self.run_sets))
        on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
        return f"Audit of runs of {models[0] if len(models) == 1 else f'{len(models)} models'} on {on}"

    def described(self) -> dict[str, Any]:
        """As `Evidence.described`."""
        if self.kind == RUNS:
            return {"command": "audit", "inputs": describe_inputs(self.run_paths, self.found_runs, self.choice)}
        scores = self.shown_board
        own = About(name=scores.name, n_test=int(scores.items.size), n_systems=len(scores.systems))
        return {"command": "audit", "dataset": own, "inputs": list(scores.inputs)}

    def rows(self) -> pl.DataFrame | None:
        """As `Evidence.rows`: the rows that were answered are not at hand."""
        return None


def _texts(items: pl.DataFrame) -> list[pl.Series]:
    return [items["passage"], items["question"], items["choices"].list.sort().list.join("\n")]


def _problems(items: ChoiceItems) -> list[str | None]:
    """What cannot be right in each item; None where nothing is found."""
    known = items.problems.group_by("row", maintain_order=True).agg(pl.col("reason").unique(maintain_order=True))
    reasons = dict(known.with_columns(pl.col("reason").list.join("; ")).iter_rows())
    return [reasons.get(row) for row in items.rows.tolist()]


# Of a long passage its beginning tells which it is.
_LONGEST_PASSAGE = 300
_LONGEST_CHOICE = 320
# Defects of a kind: the others are in the table of problems.
_MOST_DEFECTS = 2


def items_to_read(items: ChoiceItems, reasons: Iterable[tuple[int, str]]) -> tuple[RowToRead, ...]:
    """The items at some positions, each with why it is worth reading."""
    return tuple(_row(items, at, why) for at, why in reasons)


def defects(items: ChoiceItems) -> list[tuple[int, str]]:
    """(position, why) of items that are measured although they cannot be right, some of each kind."""
    place = {row: at for at, row in enumerate(items.rows.tolist())}
    listed = items.problems.filter("used").group_by("reason", maintain_order=True).head(_MOST_DEFECTS)
    return [
        (place[row], f"{reason[:1].upper()}{reason[1:]}.")
        for row, reason in listed.select("row", "reason").iter_rows()
        if row in place
    ]


def found_by_rule(
    readings: Sequence[ReaderPredictions], effects: Sequence[Effect], kind: ItemKind = CHOICE_WORDS
) -> list[tuple[int, str]]:
    """(position, why) of items whose right choice is picked alone by the rule that surely gains most.

    Args:
        readings: What each rule without parameters picks.
        effects: What each gains.
        kind: Of the items.
    """
    gained = {each.reader: each.low for each in effects if each.low > 0}
    if not gained:
        return []
    best = max(gained, key=lambda reader: gained[reader])
    hits = next(np.asarray(each.correct)[0] * each.applies for each in readings if each.reader == best)
    why = f"Picking by the {best} (no training) finds the {kind.right} {kind.option}."
    return [(at, why) for at in np.flatnonzero(hits == 1).tolist()]


def mentioned_by_part(examples: pl.DataFrame, kind: ItemKind = CHOICE_WORDS) -> list[tuple[int, str]]:
    """(position, why) of items of which every reader of a part names the right choice, most bits first."""
    return [
        (at, f"The {kind.right} {kind.option} is predictable from the {part} alone (all runs of the reader).")
        for at, _, part in examples_read(examples)
    ]


def _row(items: ChoiceItems, at: int, why: str) -> RowToRead:
    begin, end = items.offsets[at : at + 2].tolist()
    # Whole responses would fill the page; the files have them.
    choices = [_cut(text, _LONGEST_CHOICE) for text in items.texts[begin:end].to_list()]
    right = items.right[begin:end].tolist()
    lines = [_cut(part, _LONGEST_PASSAGE) for part in (items.passages[at], items.questions[at]) if part]
    names = string.ascii_uppercase if len(choices) <= len(string.ascii_uppercase) else range(len(choices))
    lines += [f"{name}. {text}" for name, text in zip(names, choices, strict=False)]
    answer = " / ".join(str(name) for name, is_right in zip(names, right, strict=False) if is_right)
    return RowToRead(f"row {items.rows[at]}", "\n".join(lines), answer, why, items.questions[at] or items.passages[at])


def _cut(text: str, most: int) -> str:
    """The first lines of a long text, up to so many characters; a line counts as eighty."""
    lines = text.split("\n")
    kept = "\n".join(lines[: most // 80])[:most].rstrip()
    return text if kept == text.rstrip() else f"{kept}…"
