"""The questions of an audit as they are asked of items with choices and of preferences."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.compiled import workers
from goldassay.core.cores import cores
from goldassay.core.numbers import percent
from goldassay.core.results import Verdict
from goldassay.core.sections import Finding
from goldassay.data.dataset import Dataset
from goldassay.data.row_keys import ITEM_COLUMNS
from goldassay.questions.artifacts.inputs import Bounds
from goldassay.questions.artifacts.readings import BY_LIFT, FORM_BY_LIFT
from goldassay.questions.artifacts.result import ClassSize
from goldassay.questions.artifacts.search import Described, describe_search, read_role
from goldassay.questions.effect_sentences import describe_judged, describe_unseen, headline_of, skill_limits
from goldassay.questions.example_clusters import NONE
from goldassay.questions.kind_evidence import found_by_rule, items_to_read, mentioned_by_part
from goldassay.questions.leakage.choices import BY_SUBJECT, reading_doubts
from goldassay.questions.leakage.partial_input import READERS, LeakageChoice, PartialInputRuns
from goldassay.questions.leakage.probes import N_FOLDS
from goldassay.questions.leakage.question import CHECK as LEAKAGE
from goldassay.questions.leakage.result import OF_PLACES, RULE, MeasuredLeakage
from goldassay.questions.leakage.verdict import describe_pick, mend_of_length, mend_of_place
from goldassay.questions.overlap.items import items_of_choices
from goldassay.questions.overlap.question import search_for
from goldassay.questions.rows import EXAMPLES, MOST_ROWS, is_flaw, issue, row_saying, words_of_texts
from goldassay.questions.suspect.result import SuspectResult
from goldassay.readers.choice_rules import chance_of
from goldassay.readers.conditions import DataSplit
from goldassay.readers.quick_probe import deal_folds
from goldassay.stats.detection import FIFTY_WORDS
from goldassay.stats.effects import INFORMATION, LEAST_CLUSTERS, Effect, Effects, ReaderPredictions, measure_effects
from goldassay.stats.verdicts import Judged, judge_effects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from goldassay.core.document import Issue
    from goldassay.core.progress import Steps
    from goldassay.core.settings import ArtifactLimits, Settings
    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.data.kinds.kind import ItemKind
    from goldassay.questions.evidence import Evidence
    from goldassay.questions.kind_evidence import ItemEvidence
    from goldassay.questions.leakage.item_loading import Posed


# Of items with choices only what needs no model is looked for.
_WHY_NO_SUSPECTS = "Items with choices are checked for defects, and no answers of models are held against them."


def measure_leakage(evidence: Evidence) -> Finding:
    """What `leakage measure` finds in items."""
    return LEAKAGE.measure(evidence, LeakageChoice(cluster=False, map=False))


def _effects(evidence: ItemEvidence, named: str) -> list[Effect]:
    """The effects of the readers whose names begin so."""
    found = evidence.leakage.result
    assert isinstance(found, MeasuredLeakage)
    effects = () if found.effects is None else found.effects.effects
    return [each for each in effects if each.reader.startswith(named)]


class _Artifacts:
    question = "artifacts"
    needs = ()

    def run(self, evidence: ItemEvidence) -> Finding:
        """Judge what patterns of the choices gain over guessing."""
        posed, settings = evidence.posed, evidence.settings
        measured = evidence.leakage.result
        assert isinstance(measured, MeasuredLeakage)
        found = find_item_patterns(posed, evidence.readers, measured.effects, settings, evidence.steps)
        known = posed.train or posed.test
        codes = known.right.astype(np.int64)
        words = words_of_texts(
            {"choices": known.texts}, codes, (WRONG, RIGHT), q=settings.artifacts.q, seed=settings.seed
        )
        classes = found.tables.get("difficulty")
        ids = evidence.leakage.tables["examples"]["example_id"]
        is_told = classes is not None and classes["example_id"].equals(ids)
        examples = {"difficulty": classes["difficulty"]} if classes is not None and is_told else {}
        return replace(found, tables={**found.tables, "words": words}, examples=examples)


class _Leakage:
    question = "leakage"
    needs = ()

    def run(self, evidence: ItemEvidence) -> Finding:
        """Judge what rules, the choices alone and the question alone pick."""
        finding, items = evidence.leakage, evidence.posed.test
        tables = dict(finding.tables)
        read = tables.pop("examples")
        by_rule = found_by_rule(evidence.readers.rules, _effects(evidence, RULE), items.kind)
        given_away = zip_longest(by_rule, mentioned_by_part(read, items.kind))
        named = list(islice((each for pair in given_away for each in pair if each is not None), MOST_ROWS))
        own = evidence.rows().columns
        flaws = [each for each in _effects(evidence, RULE) if each.measure != INFORMATION and each.low >= each.caution]
        flaws.sort(key=lambda each: -each.low)
        return replace(
            finding,
            tables=tables,
            issues=_issues_of_readers(finding, flaws, items, evidence.readers),
            examples={each.name: each for each in read.select(pl.exclude(*own, "difficulty"))},
            first_rows=items_to_read(items, named),
        )


class _Overlap:
    question = "overlap"
    needs = ("test",)

    def run(self, evidence: ItemEvidence) -> Finding:
        """Search the training items and the corpus for the items."""
        posed, corpus, settings, steps = evidence.posed, evidence.corpus, evidence.settings, evidence.steps
        items = items_of_choices(posed.test, posed.inputs[-1], settings.data.clusters)
        if posed.train is None:
            return search_for(items, (), corpus, settings, steps)
        training = items_of_choices(posed.train, posed.inputs[0], NONE).items
        # With all choices in their order, and with the right one alone: a copy may have turned or other choices.
        renderings = ([item.parts for item in training], [item.renderings[-1] for item in training if item.renderings])
        rows = []
        for chosen in filter(None, renderings):
            pairs = zip(training, chosen, strict=True)
            texts = ["\n".join([*(text for _, text in parts), item.answer]) for item, parts in pairs]
            rows.append(pl.Series(texts, dtype=pl.String))
        return search_for(items, rows, corpus, settings, steps)


class _Suspect:
    question = "suspect"
    needs = ()

    def run(self, evidence: ItemEvidence) -> Finding:
        """Name the items whose answer may be wrong, by what needs no model."""
        result = SuspectResult("" if evidence.has_votes else _WHY_NO_SUSPECTS)
        rows = evidence.rows()
        if "defect" not in rows.columns:
            return Finding(self.question, None, result=result)
        rows = rows.with_columns(evidence.leakage.tables["examples"]["label"]).filter(pl.col("defect").is_not_null())
        name = pl.lit(evidence.posed.test.name).alias("dataset")
        rows = rows.select(name, "example_id", "defect", *ITEM_COLUMNS, "label")
        return Finding(self.question, None, rows=rows, result=result)


ITEM_CHECKS = (_Artifacts(), _Leakage(), _Overlap(), _Suspect())


RIGHT, WRONG = "right", "wrong"
_ROLE = "text"
# Fewer items than these in a part leave the miner nothing to count.
_LEAST_ITEMS = 10
_DRAWS = 2000


@dataclass(frozen=True)
class _Picked:
    """What a reader picks of each item.

    Attributes:
        hits: The share of the picked choices that is right, chance where it picks none or all, (N,).
        applies: Whether it picks some and not all, (N,).
        margins: How far the picked choices' score is above the next one, (N,); 0 where it picks all.
    """

    hits: NDArray[np.float64]
    applies: NDArray[np.bool_]
    margins: NDArray[np.float64]

    @property
    def classes(self) -> NDArray[np.str_]:
        """Difficulty of each item, (N,)."""
        found = np.where(self.hits == 1, "easy", np.where(self.hits == 0, "hard", "conflicting"))
        return np.where(self.applies, found, "uncovered")


def find_item_patterns(
    posed: Posed, readers: PartialInputRuns, known: Effects | None, settings: Settings, steps: Steps
) -> Finding:
    """Mine the choices of items for patterns, and judge what picking by them gains over guessing.

    Rules on the texts of choices, and the readers of words, form and interactions, are effects of leakage as well; they
    are judged here by the limits of artifacts.

    The verdict is a caution at most: a phrase that is learned from choices may tell what is true without its question.

    Args:
        posed: Items to learn from, if there are any apart, and those to measure.
        readers: What was read of the items, with what is planted in copies.
        known: What rules and readers gain; None where nothing was measured.
        settings: Of the search, and its limits.
        steps: Told what is done.

    Source: Liu et al. 2020 for patterns; Balepur, Ravichander and Rudinger 2024 for choices without their question.
    """
    test, limits = posed.test, settings.verdicts.artifacts
    found = readers.grouping
    assert found is not None
    groups = np.arange(len(test)) if found.codes_if_any is None else found.codes_if_any
    # Choices of a cluster depend on each other whatever column made it.
    own = settings.model_copy(update={"data": settings.data.model_copy(update={"clusters": "auto"})})
    with steps.step(f"mining the {test.kind.options}") as progress:
        described = _describe(posed.train or test, groups if posed.train is None else None, own)
        picked = _pick(posed.train, test, groups, own)
        progress(1, 1)
    chance = chance_of(test)
    measured = _measure(picked, test, chance, found.codes_if_any, limits, settings.seed)
    if known is not None:
        measured = _with_readers(measured, known, test.kind, limits)
        if readers.planted is not None:
            with steps.step(f"planting cues in {test.kind.options}"):
                planted = readers.planted(measured, (test.kind.part,))
                in_question = readers.planted(measured, (test.kind.question,))
            # As in texts, many words that are not seen are named, and do not count.
            unseen = [each.kind == FIFTY_WORDS.name and each.limit >= limits.unsound for each in planted]
            counted = [replace(each, counts=each.counts and not no) for each, no in zip(planted, unseen, strict=True)]
            # A cue of the question names a place: thousands of items show it to be rare, and shuffling ends it.
            of = f" of the {test.kind.question}"
            named = (replace(each, kind=each.kind.removesuffix(of) + of, counts=False) for each in in_question)
            measured = replace(measured, limits=(*counted, *named))
    doubts = [*reading_doubts(posed), *(readers.untrained(limits.unsound) if readers.untrained else ())]
    judged = Judged("not measurable", None) if measured is None else judge_effects(measured, doubts)
    by_lift = picked[BY_LIFT]
    classes = by_lift.classes
    difficulty = {
        name: ClassSize(int((classes == name).sum()), float((classes == name).mean()))
        for name in ("easy", "hard", "conflicting", "uncovered")
    }
    verdict = _verdict(judged, measured, by_lift, chance, limits, test.kind)
    section = replace(
        described.section, effects=measured, headline=verdict.headline, difficulty=difficulty, of_items=True
    )
    ids = test.ids if test.ids.n_unique() == len(test) else pl.Series(list(map(str, test.rows.tolist())))
    tables = {
        "patterns": described.findings,
        "difficulty": pl.DataFrame({"example_id": ids.cast(pl.String), "difficulty": classes.tolist()}),
    }
    finding = Finding(
        "artifacts",
        verdict,
        tables=tables,
        result=section,
        first_rows=items_to_read(test, _given_away(by_lift, test.kind)),
    )
    decisive = [judged.decisive] if judged.decisive is not None else []
    return replace(finding, issues=_issues_of_readers(finding, decisive, test, readers))


# Of leakage these rules at most are listed as issues.
_MOST_READERS = 2


def _issues_of_readers(
    finding: Finding, flaws: Iterable[Effect], test: ChoiceItems, readers: PartialInputRuns
) -> tuple[Issue, ...]:
    """Per rule or reader of a flaw the items that it gets right, as `goldassay view` filters them."""
    if not is_flaw(finding):
        return ()
    known = {(each.part, each.reader): each for each in (*readers.rules, *readers.by_shape)}
    issues = []
    for read in [known[key] for each in flaws if (key := (each.part, each.reader)) in known][:_MOST_READERS]:
        right = read.right(test.first_right) == 1
        rows = np.flatnonzero(right if read.applies is None else right & read.applies).tolist()
        if rows:
            what = f"rule “{read.reader.removeprefix(RULE)}”" if read.reader.startswith(RULE) else f"“{read.reader}”"
            worst = row_saying(replace(finding, first_rows=items_to_read(test, [(rows[0], what)])), what)
            kind, shown = f"{test.kind.option} by the {what} is right", f"{read.part}: {read.reader}={RIGHT}"
            issues.append(issue(finding, kind, len(rows), worst, of="items", table=EXAMPLES, filter=shown))
    return tuple(issues)


def _given_away(by_lift: _Picked, kind: ItemKind) -> list[tuple[int, str]]:
    """(position, why) of items whose right choice patterns pick, the widest margin first."""
    easy = np.flatnonzero(by_lift.classes == "easy")
    ordered = easy[np.argsort(-by_lift.margins[easy], kind="stable")][:MOST_ROWS].tolist()
    return [(at, f"Patterns mined from other items pick the {kind.right} {kind.option}.") for at in ordered]


def _with_readers(own: Effects | None, known: Effects, kind: ItemKind, limits: ArtifactLimits) -> Effects:
    """The effects of patterns, and those of rules and readers that see the choices or the question alone."""
    others = [
        replace(each, caution=limits.caution, unsound=limits.unsound)
        for each in (*known.of(kind.part), *known.of(kind.question))
        if each.reader in (*READERS.values(), BY_SUBJECT)
        or (each.reader.startswith(RULE) and not each.reader.startswith(OF_PLACES))
    ]
    return replace(known, effects=(*(own.effects if own is not None else ()), *others), limits=())


def as_texts(items: ChoiceItems, groups: NDArray[np.integer] | None) -> Dataset:
    """Each choice as a text that is right or wrong; those of one item, or of one cluster of items, are of one group."""
    of_item = items.item_of if groups is None else groups[items.item_of]
    frame = pl.DataFrame(
        {
            "id": [str(at) for at in range(items.right.size)],
            # A choice without a text is a text all the same.
            "text": items.texts.replace("", "\N{EMPTY SET}"),
            "label": [RIGHT if right else WRONG for right in items.right.tolist()],
            "group": list(map(str, of_item.tolist())),
        }
    )
    roles = {"text": "text", "label": "label", "id": "id", "group": "group"}
    return Dataset.from_frame(frame, roles, items.name, (WRONG, RIGHT))


def _describe(items: ChoiceItems, groups: NDArray[np.integer] | None, settings: Settings) -> Described:
    kept = settings.artifacts
    bounds = Bounds(kept.max_tokens, kept.max_gap, kept.min_count, kept.tokenizer, _ROLE, "auto")
    texts = as_texts(items, groups)
    with warnings.catch_warnings():
        # As where texts are mined: the counts in the report say that no pattern was frequent enough.
        warnings.simplefilter("ignore", UserWarning)
        return describe_search(texts, None, bounds, kept, settings.seed)


def _pick(
    train: ChoiceItems | None, test: ChoiceItems, groups: NDArray[np.int64], settings: Settings
) -> dict[str, _Picked]:
    """What each reader picks of each item, by patterns of the training items or of other folds of clusters."""
    if train is not None:
        scores = _scores(train, None, test, groups, settings)
        return {name: _of_items(score, test) for name, score in scores.items()}
    codes = np.unique(groups, return_inverse=True)[1]
    n_folds = max(2, min(N_FOLDS, int(codes.max()) + 1))
    folds = deal_folds(codes, n_folds, np.random.default_rng(settings.seed))
    of_choice = folds[test.item_of]
    whole: dict[str, NDArray[np.float64]] = {}

    def read(fold: int) -> dict[str, NDArray[np.float64]]:
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        return _scores(test.take(outside), groups[outside], test.take(inside), groups[inside], settings)

    filled = np.unique(folds).tolist()
    # Folds set the same filter, and put back each other's: only what is around all of them restores what was before.
    with warnings.catch_warnings(), workers(min(cores(), len(filled))) as pool:
        warnings.simplefilter("ignore", UserWarning)
        for fold, found in zip(filled, pool.map(read, filled), strict=True):
            for name, score in found.items():
                whole.setdefault(name, np.zeros(test.right.size))[of_choice == fold] = score
    return {name: _of_items(score, test) for name, score in whole.items()}


def _scores(
    train: ChoiceItems,
    train_groups: NDArray[np.int64] | None,
    test: ChoiceItems,
    groups: NDArray[np.int64],
    settings: Settings,
) -> dict[str, NDArray[np.float64]]:
    """How much each choice leans to right by each reader: the lift of its strongest pattern, less than 0 for wrong."""
    nothing = np.zeros(test.right.size)
    if len(train) < _LEAST_ITEMS or train.right.all() or not train.right.any():
        return {BY_LIFT: nothing, FORM_BY_LIFT: nothing}
    split = DataSplit(as_texts(train, train_groups), as_texts(test, groups))
    # Of choices a trained reader is one of leakage.
    _, read = read_role(split, _ROLE, settings, interactions=False)
    # Labels are (wrong, right); without a pattern a choice leans to neither.
    toward = np.where(read.by_lift == 1, 1.0, -1.0)
    return {
        BY_LIFT: np.where(read.lifts > 0, toward * read.lifts, 0.0),
        FORM_BY_LIFT: (read.form == 1).astype(np.float64),
    }


def _of_items(scores: NDArray[np.float64], items: ChoiceItems) -> _Picked:
    starts = items.offsets[:-1]
    best = scores == np.maximum.reduceat(scores, starts)[items.item_of]
    sizes = np.add.reduceat(best.astype(np.int64), starts)
    hit = np.add.reduceat((best & items.right).astype(np.int64), starts)
    applies = sizes < items.sizes
    next_best = np.maximum.reduceat(np.where(best, -np.inf, scores), starts)
    margins = np.where(applies, np.maximum.reduceat(scores, starts) - next_best, 0.0)
    return _Picked(np.where(applies, hit / sizes, chance_of(items)), applies, margins)


def _readings(picked: dict[str, _Picked], chance: NDArray[np.float64], part: str) -> list[ReaderPredictions]:
    return [
        ReaderPredictions(part, name, None, correct=each.hits[np.newaxis], chance=chance, applies=each.applies)
        for name, each in picked.items()
        if each.applies.any()
    ]


def _measure(
    picked: dict[str, _Picked],
    items: ChoiceItems,
    chance: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    limits: ArtifactLimits,
    seed: int,
) -> Effects | None:
    """What picking by each reader gains; None where none of them tells any choices apart."""
    readings = _readings(picked, chance, items.kind.part)
    if not readings:
        return None
    return measure_effects(
        readings,
        items.first_right,
        int(items.sizes.max()),
        skill_limits(limits.caution, limits.unsound),
        train_counts=None,
        clusters=codes,
        seed=seed,
        n_draws=_DRAWS,
    )


def _verdict(
    judged: Judged,
    effects: Effects | None,
    by_lift: _Picked,
    chance: NDArray[np.float64],
    limits: ArtifactLimits,
    kind: ItemKind,
) -> Verdict:
    word = "caution" if judged.word == "unsound" else judged.word
    effect, headline, said = judged.decisive, None, ""
    n = int(by_lift.applies.sum())
    if effect is not None:
        label = f"accuracy above chance, {effect.reader}"
        headline = replace(headline_of(effect), label=label)
        said = f"Reading {effect.reader} picks the {kind.right} {kind.option} of {percent(effect.score)} of the items; "
        said += f"chance is {percent(effect.baseline)}."
        if effect.reader.startswith(RULE) or effect.part == kind.question:
            said = describe_pick(effect, kind)
        if n and effect.reader == BY_LIFT:
            said = (
                f"Patterns pick a {kind.option} in {percent(n / by_lift.applies.size)} of the items and are right in "
                f"{percent(float(by_lift.hits[by_lift.applies].mean()))} of these; chance is "
                f"{percent(float(chance[by_lift.applies].mean()))}."
            )
    evidence, notes = describe_judged(judged, effects, said, kind)
    if word == "caution":
        # Leakage may call the same rule unsound.
        evidence = f"{said} Artifacts of {kind.options} are at most a caution." if judged.word == "unsound" else said
        of_question = effect is not None and effect.part == kind.question
        notes = ("A phrase may be true whatever the question is: read the table before you judge.",)
        notes = () if of_question else notes
    by_rule = effect is not None and effect.reader.startswith(RULE)
    reword = "Read the strongest patterns, and reword the {} that they give away."
    if by_rule:
        reword = "Reword the {} of the items that the rule gets right."
    next_step = {
        "sound": "Keep the report with the items.",
        "caution": mend_of_place(effect, kind) or mend_of_length(effect, kind) or reword.format(kind.options),
    }.get(word, judged.mend)
    rule = (
        f"By the accuracy skill of picking a {kind.option} by patterns, words, form or a rule on its text, or by words "
        f"or form of the {kind.question}: caution if some lower end is at least {percent(limits.caution)}, never "
        f"unsound, since patterns are learned from {kind.options} alone. Sound if the readers would have found a flaw "
        f"of {percent(limits.unsound)} by one word, ten words or form of a {kind.option}, as copies of the items with "
        f"such cues show, and there are at least {LEAST_CLUSTERS} effective clusters of items; else unresolved."
    )
    return Verdict(
        word, evidence, headline, next_step, rule, judged.bound, notes, describe_unseen(judged, effects, kind)
    )
