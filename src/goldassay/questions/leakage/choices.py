"""Multiple-choice items: what rules, the choices alone, or the question alone give away of the answer.

Rules need no training, so every item of every file counts. The probes see
each choice as a row that is right or wrong, and the choice that they find likeliest is their answer: with question and
passage ("paired") or without ("choices_only"). The question alone ("question_only") can tell nothing but the position
of the answer. Of one file every item is answered by probes of other items, whole clusters of items kept together.

Naive Bayes on words, a probe of form, and a reader of interactions see the choices alone, too; the first two the
question alone. Cues of each kind are planted in copies of the items, in the right choice or in the question, and what
these readers recover says how small a flaw would have been found.

Picks that need no training but are no rules (`untrained_picks`) are too many, and too often honest, to have a limit.

What rules and readers get right among pairs of like length, and readers on each subset: tables of the report.

Readers of one shape of cue in items, and what they find of cues that are planted in copies.

A cue in the choices or responses stands in the right one, and a cue in the question names its place. Two words that
tell only together stand in every choice, and only in the right one do they fit each other.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.compiled import workers
from goldassay.core.cores import cores
from goldassay.core.errors import InputError, option
from goldassay.core.numbers import percent, percents_apart
from goldassay.data.kinds.kind import CHOICES, PREFERENCES
from goldassay.data.text_form import form_words
from goldassay.questions.detection_limits import (
    N_OPTION_GROUPS,
    ReadText,
    largest_limits,
    option_planting,
    planted_texts,
)
from goldassay.questions.leakage.item_loading import Posed, item_clusters
from goldassay.questions.leakage.partial_input import LONGEST, PROBES, READERS, PartialInputRuns
from goldassay.questions.leakage.probes import (
    N_FOLDS,
    ask_choices,
    by_item,
    choice_hits,
    context_of,
    masked,
    read_parts,
    read_positions,
)
from goldassay.questions.leakage.result import OF_PLACES, RULE
from goldassay.questions.provenance import unread_notes
from goldassay.readers.choice_rules import Picks, chance_of, measure_positions
from goldassay.readers.choice_subjects import pick_by_subject, rules_by_subject, untrained_picks
from goldassay.readers.interactions import read_interactions
from goldassay.readers.naive_bayes import planted_evidence_of_folds, word_evidence_of_folds
from goldassay.readers.preference_rules import measure_by_subset, measure_item_rules, measure_like_length
from goldassay.readers.probe_features import build_features, tokenize_roles
from goldassay.readers.quick_probe import deal_folds
from goldassay.readers.rule_effects import LikeLength, RuleEffect, SubsetEffect
from goldassay.runs.runs import Runs
from goldassay.stats.bootstrap import LEVEL
from goldassay.stats.calibration import cross_calibrate
from goldassay.stats.clusters import Folds, dense_codes
from goldassay.stats.detection import (
    FEW_TOGETHER,
    FIFTY_WORDS,
    FORM,
    MANY_TOGETHER,
    TEN_WORDS,
    KindLimit,
    Planting,
    Shape,
)
from goldassay.stats.effects import Effects, ReaderPredictions
from goldassay.stats.intervals import normal_quantile
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings
    from goldassay.data.kinds.choices import ChoiceItems


# A reader that is trained, too: which rule it follows in a subject is learned from other items of it.
BY_SUBJECT = "rules by subject"
# Items, or clusters of items, from which on each may be answered by probes of the others.
LEAST_APART = 10
# From this share of the rows on, those that cannot be used leave the rest no sample of the file.
MOST_UNUSED = 0.05
# Names of tables.
RULES, SUBJECTS, PROBLEMS = "choice_rules", "choice_subjects", "choice_problems"
_ABOUT = {
    CHOICES.name: "The quick probe is a linear model on hashed words and word pairs, trained to tell right choices "
    "from wrong ones; the choice it finds likeliest is its answer",
    PREFERENCES.name: "The quick probe is a linear model on the differences of two responses, in hashed words, word "
    "pairs and what the rules go by; without an offset, so that swapping the responses swaps its answer",
}
LIKE_LENGTH, SUBSETS = "preference_like_length", "preference_subsets"
Hits = tuple[str, "NDArray[np.float64]", "NDArray[np.bool_]"]


def choice_evidence(
    posed: Posed,
    seeds: Sequence[int],
    settings: Settings,
    progress: Progress,
    untrained: Callable[[], Mapping[str, NDArray[np.float64]]] | None = None,
) -> PartialInputRuns:
    """Ask the rules, and the quick probes of question and choices, of the choices, and of the question.

    Args:
        posed: The items.
        seeds: Of the probes.
        settings: Hold the limits and the clusters.
        progress: Told after each probe.
        untrained: What `untrained_picks` finds of the items to read, where something else asks for it, too.

    Raises:
        InputError: The data cannot be learned from.
    """
    test = posed.test
    clusters = item_clusters(test, settings.data.clusters)
    codes = clusters.codes_if_any
    n_apart = len(test) if codes is None else clusters.n_clusters
    if posed.train is None and (n_apart < LEAST_APART or clusters.n_clusters == 1):
        n_apart = min(n_apart, clusters.n_clusters)
        raise InputError(
            f"the {len(test):,} items are of {n_apart} passages or questions: too few for probes to answer one by the "
            "others", file=test.source, mend=f"give {LEAST_APART} or more, or a training file and a test file",
        )  # fmt: skip
    most = int(test.sizes.max() if posed.train is None else max(test.sizes.max(), posed.train.sizes.max()))
    names = tuple(string.ascii_uppercase[:most]) if most <= 26 else tuple(str(at) for at in range(most))
    chance = chance_of(test)
    rules, picks = measure_item_rules(test, codes, settings.seed)
    logits = read_parts(posed, codes, seeds, most, progress)
    lengths = test.texts.str.len_chars().to_numpy().astype(np.float64)
    gold = test.first_right
    runs = {
        condition: _runs(each, test, gold, names, condition, seeds, "" if posed.train is None else posed.train.name)
        for condition, each in (*logits.items(), (LONGEST, [by_item(lengths, test, most)]))
    }
    of_rules = tuple(
        ReaderPredictions(
            test.kind.part, RULE + each.rule, None, correct=each.hits[np.newaxis], chance=chance, applies=each.applies
        )
        for each in picks
        if each.applies.any()
    )
    groups = dense_codes(codes, len(test))
    folds = deal_folds(groups, max(2, min(N_FOLDS, n_apart)), np.random.default_rng(settings.seed))
    chosen = pick_by_subject(test, picks, BY_SUBJECT, folds, groups)
    if chosen is not None and chosen.applies.any():
        hits_of = chosen.hits[np.newaxis]
        of_rules += (
            ReaderPredictions(test.kind.part, BY_SUBJECT, None, correct=hits_of, chance=chance, applies=chosen.applies),
        )

    further = {}
    if test.kind is PREFERENCES:
        hits = {condition: choice_hits(each, test).mean(axis=0) for condition, each in logits.items()}
        further = preference_tables(test, picks, hits, codes)

    readers = ItemReaders(posed, groups, folds, seeds[0], most)
    shapes: tuple[Shape, ...] = ("word", "form", "together")
    by_shape = [readers.read_options(shape) for shape in shapes]
    if test.ordered:
        by_shape += [readers.read_questions(shape) for shape in shapes[:2]]

    return PartialInputRuns(
        name=test.name,
        model="quick_probe",
        source=PROBES,
        label_names=names,
        gold=gold,
        example_ids=item_ids(test),
        conditions=runs,
        probabilities={name: _probabilities(each, test, gold) for name, each in logits.items()},
        # Scores of nothing: what the number of choices and the positions of answers tell by themselves.
        null=_probabilities([masked(np.zeros((len(test), most)), test)], test, gold),
        null_is="shares of positions in the other half of the questions, on which the probes' scores are scaled, too",
        about=_ABOUT[test.kind.name],
        remarks=_remarks(posed),
        inputs=posed.inputs,
        notes=tuple(unread_notes(name for each in (posed.train, test) if each is not None for name in each.unread)),
        clusters_found=clusters,
        chance=chance,
        kind=test.kind,
        rules=of_rules,
        positions=measure_positions(test, codes),
        by_shape=tuple(by_shape),
        planted=lambda effects, parts: limits_of_items(readers, by_shape, effects, parts),
        untrained=lambda limit: untrained_doubts(
            untrained() if untrained else untrained_picks(test), test, groups, limit
        ),
        tables={
            RULES: _rule_table(rules),
            SUBJECTS: rules_by_subject(test, picks, codes, settings.seed),
            PROBLEMS: test.problems,
            **further,
        },
        doubts=(*reading_doubts(posed), *order_doubts(test)),
    )


# Right places are compared with those so many rows before, at most; by chance none of these is so many errors above.
_MOST_PERIODS, _ERRORS = 12, 5.0


def order_doubts(items: ChoiceItems) -> list[Doubt]:
    """That a right choice is where that of some earlier row is, as keys that run A, B, C, D through the file do.

    Of rows a period apart the share h with equal places is expected to be e, the sum of squared shares of places. The
    period of the largest (h - e)/sqrt(e(1 - e)/n) counts.

    Args:
        items: N of them; choices without an order of their own have no places.
    """
    single = items.n_right == 1
    if not items.ordered or not single.any():
        return []
    right = items.right & single[items.item_of]
    rows, places = items.rows[items.item_of[right]], items.places[right]
    at = np.full(int(rows.max()) + 1, -1)
    at[rows] = places
    shares = np.bincount(places) / places.size
    expected = float((shares**2).sum())
    worst = (_ERRORS, 0, 0.0)
    for period in range(1, min(_MOST_PERIODS + 1, at.size) if expected < 1 else 1):
        both = (at[period:] >= 0) & (at[:-period] >= 0)
        if both.any():
            equal = float((at[period:] == at[:-period])[both].mean())
            worst = max(worst, ((equal - expected) / np.sqrt(expected * (1 - expected) / both.sum()), period, equal))
    _, period, equal = worst
    if not period:
        return []
    before = "of the row before" if period == 1 else f"of {period} rows before"
    return [
        Doubt(
            f"The right choice is where that {before} is in {percent(equal)} of the items, and by chance in "
            f"{percent(expected)}: the order of the file gives keys away.",
            f"Shuffle the {items.kind.options} of each item.",
            (equal - expected) / (1 - expected),
        )
    ]


def reading_doubts(posed: Posed) -> tuple[Doubt, ...]:
    """Why items cannot be called sound, whatever is measured of them."""
    found = []
    for each in (posed.train, posed.test):
        if each is None:
            continue
        n_rows = len(each) + each.n_unused
        if each.n_unused > MOST_UNUSED * n_rows:
            found.append(
                Doubt(
                    f"{each.n_unused:,} of the {n_rows:,} items of {each.name} cannot be used: the rest may not be "
                    "what they stand for.",
                    "Mend the items in the table of problems.",
                    each.n_unused / n_rows,
                )
            )
        if each.overlooked:
            one = len(each.overlooked) == 1
            found.append(
                Doubt(
                    f"The column{'' if one else 's'} {', '.join(map(repr, each.overlooked[:4]))} of {each.name} "
                    f"look{'s' if one else ''} like choices, responses or answers and "
                    f"{'is' if one else 'are'} not read.",
                    f"Say what {'it is' if one else 'they are'}, or leave {'it' if one else 'them'} out: "
                    f"{option('columns', 'ignore=' + '+'.join(each.overlooked[:12]))}.",
                )
            )
        for told in each.telling:
            one = len(told.columns) == 1
            found.append(
                Doubt(
                    f"Picking by the column{'' if one else 's'} {' and '.join(map(repr, told.columns))} of {each.name} "
                    f"gains {percent(told.skill)}, and no reader sees {'it' if one else 'them'}.",
                    f"Say that no model is shown {'it' if one else 'them'}: "
                    f"{option('columns', 'ignore=' + '+'.join(told.columns))}.",
                    told.skill,
                )
            )
        if each.doubtful:
            mend = (
                "Name the preferred response by A and B, or in columns chosen and rejected."
                if each.kind is PREFERENCES
                else "Give letters or texts as answers."
            )
            found.append(Doubt(each.doubtful, mend))
    return tuple(found)


def _rule_table(rules: Sequence[RuleEffect]) -> pl.DataFrame:
    """A row a rule that picks anywhere, the strongest first."""
    schema = {name: {"rule": pl.String, "n_items": pl.Int64}.get(name, pl.Float64) for name in rules[0].to_dict()}
    frame = pl.DataFrame([each.to_dict() for each in rules if each.n_items], schema=schema)
    return frame.sort(pl.col("effect"), descending=True)


def _remarks(posed: Posed) -> tuple[str, ...]:
    """What is not as one would expect of the items."""
    said = []
    for each in (posed.train, posed.test):
        if each is None:
            continue
        counted = each.problems.group_by("reason", "used", maintain_order=True).len()
        for reason, used, n in counted.iter_rows():
            left = "" if used else " is left out" if n == 1 else " are left out"
            said.append(f"{n:,} item{'' if n == 1 else 's'} of {each.name}{left}: {reason}.")
    if posed.train is None:
        said.append(f"Each item is answered by probes of other items, in {N_FOLDS} folds of whole clusters.")
    return tuple(said)


def _runs(
    logits: Sequence[NDArray[np.float64]],
    items: ChoiceItems,
    gold: NDArray[np.int64],
    names: Sequence[str],
    condition: str,
    seeds: Sequence[int],
    train_set: str,
) -> Runs:
    return Runs.from_arrays(
        predictions=np.stack([each.argmax(axis=1) for each in logits]),
        gold=gold,
        scores=choice_hits(logits, items),
        seeds=np.array(list(seeds)[: len(logits)]),
        label_names=names,
        example_ids=item_ids(items),
        model="quick_probe",
        dataset=items.name,
        condition=condition,
        split="test",
        train_set=train_set,
    )


def item_ids(items: ChoiceItems) -> NDArray[np.str_]:
    """Ids of the items; their rows where ids are missing or repeat."""
    ids = items.ids
    return np.array(
        ids.to_list() if ids.n_unique() == len(ids) and (ids != "").all() else items.rows.astype(str).tolist()
    )


def _probabilities(
    logits: Sequence[NDArray[np.float64]], items: ChoiceItems, gold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The right choice's probability by each run, (R, N): scores scaled on the other half of the items."""
    rows = np.arange(len(items))
    with workers(min(cores(), len(logits))) as pool:
        return np.stack(list(pool.map(lambda each: np.exp(cross_calibrate(each, gold)[rows, gold]), logits)))


def untrained_doubts(
    untrained: Mapping[str, NDArray[np.float64]], items: ChoiceItems, groups: NDArray[np.integer], limit: float
) -> list[Doubt]:
    """Why nothing is sound where a pick without training may gain the limit, though it is no rule.

    Args:
        untrained: Of each pick the scores of the choices, (M,).
        items: N of them.
        groups: Clusters of the items, (N,).
        limit: For "unsound".
    """
    chance = chance_of(items)
    left = np.bincount(groups, 1 - chance)
    worst = ("", -1.0, -1.0)
    for name, scores in untrained.items():
        hits = choice_hits([by_item(scores, items, int(items.sizes.max()))], items)[0]
        gained = np.bincount(groups, hits - chance)
        effect = gained.sum() / left.sum()
        half = normal_quantile(LEVEL) * np.sqrt(((gained - effect * left) ** 2).sum()) / left.sum()
        worst = max(worst, (name, float(effect - half), float(effect + half)), key=lambda each: each[2])
    name, low, high = worst
    if high < limit:
        return []
    upper, not_below = percents_apart(high, limit)
    return [
        Doubt(
            f"{name[0].upper()}{name[1:]} may gain {upper}, not below {not_below}: a surface pattern, though none of "
            "words.",
            f"Change {items.kind.options} until picking by “{name}” is right no more often than chance."
            if low > 0
            else f"Audit with more items: these are too few to say that picking by “{name}” gains nothing.",
            high,
        )
    ]


def preference_tables(
    items: ChoiceItems,
    picks: Sequence[Picks],
    readers: Mapping[str, NDArray[np.float64]],
    clusters: NDArray[np.int64] | None,
) -> dict[str, pl.DataFrame]:
    """Accuracy of rules and readers where length tells nothing, and the effects of readers by subset.

    Args:
        items: N of them.
        picks: Of the rules in the direction of more, then in that of less.
        readers: Condition to what its readers hit of each item, (N,).
        clusters: Of the items, (N,).
    """
    whole = np.ones(len(items), np.bool_)
    asked: list[Hits] = [(condition.replace("_", " "), hits, whole) for condition, hits in readers.items()]
    rules: list[Hits] = [(each.rule, each.hits, each.applies) for each in picks[: len(picks) // 2]]
    like = measure_like_length(items, [*asked, *rules])
    found = {LIKE_LENGTH: _frame(like, LikeLength)}
    if subsets := measure_by_subset(items, asked, clusters):
        found[SUBSETS] = _frame(subsets, SubsetEffect)
    return found


def _frame(rows: Sequence[LikeLength] | Sequence[SubsetEffect], of: type[LikeLength | SubsetEffect]) -> pl.DataFrame:
    text, whole = ("subset", "reader"), ("n_items", "all_items")
    schema = {
        name: pl.String if name in text else pl.Int64 if name in whole else pl.Float64
        for name in of.__dataclass_fields__
    }
    return pl.DataFrame([each.to_dict() for each in rows], schema=schema)


@dataclass(frozen=True)
class ItemReaders:
    """Readers of the choices or responses alone, and of the question or prompt alone.

    Words are added up by naive Bayes, forms are read by a quick probe, and interactions by their own reader.

    Attributes:
        posed: Items to learn from, if there are any apart, and N to read.
        groups: Clusters of the items to read, from 0, (N,).
        folds: Of these, where they are read by others of themselves, whole clusters each, (N,).
        seed: Of the readers.
        most: The most choices of an item.
        copies: What was read in copies: two questions plant the same cues, and hold other effects against them.
    """

    posed: Posed
    groups: NDArray[np.int64]
    folds: NDArray[np.int64]
    seed: int
    most: int
    copies: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def read_options(self, shape: Shape) -> ReaderPredictions:
        """What the reader of a shape picks of each item by its choices."""
        posed, test = self.posed, self.posed.test
        if shape == "form":
            parts = [replace(each, texts=form_words(each.texts)) for each in posed.parts]
            formed = Posed(None if posed.train is None else parts[0], parts[-1], ())
            alone = test.kind.alone
            (table,) = ask_choices(formed, self.groups, [self.seed], self.most, [alone], lambda _: None)[alone]
            return self._picked(shape, table)
        if shape == "word":
            return self.by_words(word_evidence_of_folds(*self._options()))
        units = [self.groups[test.item_of]]
        if posed.train is not None:
            units.insert(0, self.groups.size + posed.train.item_of)
        logs = read_interactions(*self._options(), self.seed, np.concatenate(units))
        return self._picked(shape, self._table(logs))

    def read_questions(self, shape: Shape) -> ReaderPredictions:
        """The place of the right choice that the reader of a shape names by each question."""
        posed = self.posed
        if shape == "word":
            return self.named_by_words(word_evidence_of_folds(*self._questions()))
        texts, known = pl.concat([context_of(each) for each in posed.parts]), posed.parts[0].first_right
        features = build_features(tokenize_roles({"question": form_words(texts)}), known.size)
        groups = self.groups if posed.train is None else None
        logs = read_positions(features, known, self.most, self.seed, groups)[-len(posed.test) :]
        return self._named(shape, logs.astype(np.float64))

    def by_words(self, evidence: NDArray[np.float64]) -> ReaderPredictions:
        """What is picked by the evidence of words for wrong and right, (M, 2)."""
        return self._picked("word", self._table(evidence))

    def named_by_words(self, evidence: NDArray[np.float64]) -> ReaderPredictions:
        """What is named by the evidence of words for each place, (N, most)."""
        known = self.posed.parts[0].first_right
        with np.errstate(divide="ignore"):
            shares = np.log(np.bincount(known, minlength=self.most) / known.size)
        return self._named("word", evidence + shares)

    def copy_reader(self, *, of_options: bool) -> Callable[[Planting, Shape, int], ReaderPredictions]:
        """What reads a copy with cues in the choices, or in the questions; see `PlantedRows`."""
        parts = self.posed.parts
        sizes = np.concatenate([each.sizes for each in parts])
        right = np.concatenate([each.right for each in parts])
        item_of = np.repeat(np.arange(sizes.size), sizes)

        def read(planting: Planting, shape: Shape, of_copy: int) -> ReaderPredictions:
            key = (of_options, shape, of_copy, *(each.tobytes() for each in (planting.words, planting.forms)))
            if key not in self.copies:
                self.copies[key] = read_anew(planting, shape, of_copy)
            found: ReaderPredictions = self.copies[key]
            return found

        def read_anew(planting: Planting, shape: Shape, of_copy: int) -> ReaderPredictions:
            own = option_planting(planting, item_of, right, of_copy) if of_options else planting
            if shape == "word":
                if ("words", of_options) not in self.copies:
                    told = self._options() if of_options else self._questions()
                    self.copies["words", of_options] = planted_evidence_of_folds(*told)
                evidence = self.copies["words", of_options](own.words[:, 0])
                return self.by_words(evidence) if of_options else self.named_by_words(evidence)
            given = pl.concat([each.texts if of_options else each.questions for each in parts])
            texts = planted_texts(given, own, of_copy)
            copies, start = [], 0
            for each in parts:
                part = texts.slice(start, len(each.texts if of_options else each.questions))
                copies.append(replace(each, texts=part) if of_options else replace(each, questions=part))
                start += len(part)
            copy = replace(self, posed=Posed(None if self.posed.train is None else copies[0], copies[-1], ()))
            return copy.read_options(shape) if of_options else copy.read_questions(shape)

        return read

    def _options(self) -> tuple[pl.Series, NDArray[np.int64], int, Folds]:
        """All choices, which are right, that there are two classes, and which teach which."""
        parts, test = self.posed.parts, self.posed.test
        right = np.concatenate([each.right for each in parts]).astype(np.int64)
        dealt = Folds.of_all(self.folds[test.item_of])
        if len(parts) > 1:
            dealt = Folds.of_parts(parts[0].right.size, test.right.size)
        return pl.concat([each.texts for each in parts]), right, 2, dealt

    def _questions(self) -> tuple[pl.Series, NDArray[np.int64], int, Folds]:
        """All questions, the places of their answers, how many there are, and which teach which."""
        parts = self.posed.parts
        places = np.concatenate([each.first_right for each in parts])
        dealt = Folds.of_all(self.folds) if len(parts) == 1 else Folds.of_parts(len(parts[0]), len(parts[1]))
        return pl.concat([context_of(each) for each in parts]), places, self.most, dealt

    def _table(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        # Sums in another order differ in their last digits, and equal choices would not tie.
        return by_item(np.round(logs[:, 1] - logs[:, 0], 9), self.posed.test, self.most)

    def _picked(self, shape: Shape, table: NDArray[np.float64]) -> ReaderPredictions:
        test = self.posed.test
        hits = choice_hits([table], test)
        return ReaderPredictions(test.kind.part, READERS[shape], None, correct=hits, chance=chance_of(test))

    def _named(self, shape: Shape, logs: NDArray[np.float64]) -> ReaderPredictions:
        test = self.posed.test
        named = masked(logs, test).argmax(axis=1)[np.newaxis]
        return ReaderPredictions(test.kind.question, READERS[shape], named, of_places=True)


def limits_of_items(
    readers: ItemReaders, readings: Sequence[ReaderPredictions], effects: Effects, parts: Sequence[str]
) -> tuple[KindLimit, ...]:
    """The limit of detection of each kind of cue in items, the larger of the choices' and the question's.

    A cue in the question stands for a place, so that ten words of each place are four times as many as ten words of
    right choices, and the form has four ways of writing; only some thousand items show them, and shuffled choices have
    none. So one word of each place counts; the other kinds are limits of their own.

    Args:
        readers: Of both parts.
        readings: What they pick.
        effects: Of all readers.
        parts: In which cues are planted.
    """
    posed, kind, found = readers.posed, readers.posed.test.kind, []
    folds = Folds.of_all(readers.folds) if posed.train is None else Folds.of_parts(len(posed.train), len(posed.test))
    places = np.concatenate([each.first_right for each in posed.parts])
    for part in (kind.part, kind.question):
        own, of_options = {each.reader: each for each in readings if each.part == part}, part == kind.part
        if not own or part not in parts:
            continue
        text = ReadText(
            codes=np.zeros_like(places) if of_options else places,
            n_classes=N_OPTION_GROUPS if of_options else readers.most,
            folds=folds,
            here={shape: own[name] for shape, name in READERS.items() if name in own},
            read_rows=partial(_read_rows, readers, of_options),
            clusters=readers.groups if effects.n_clusters < len(posed.test) else None,
            n_independent=effects.n_clusters,
            uncounted=() if of_options else _APART[:3],
        )
        apart = {} if of_options else {each.name: f"{each.name} of the {part}" for each in _APART}
        # Places are no cue in a text, and their effects stand in U.
        of_texts = [each for each in effects.of(part) if not each.reader.startswith(OF_PLACES)]
        limits = text.limits(of_texts, readers.seed)
        found.append([replace(each, kind=apart.get(each.kind, each.kind)) for each in limits])
    return largest_limits(found)


_APART = (FORM, TEN_WORDS, FIFTY_WORDS, FEW_TOGETHER, MANY_TOGETHER)


def _read_rows(
    readers: ItemReaders, of_options: bool, rows: NDArray[np.int64], folds: Folds
) -> Callable[[Planting, Shape, int], ReaderPredictions]:
    """What reads copies of some items, numbered over those to learn from and those to read; see `ReadText`."""
    posed = readers.posed
    n_known = 0 if posed.train is None else len(posed.train)
    taught, asked = rows[folds.teaching], rows[folds.rows]
    train: ChoiceItems | None = None
    if taught.size < rows.size:
        train = posed.test.take(taught) if posed.train is None else posed.train.take(taught)
    kept = asked - n_known
    key = ("rows", rows.tobytes(), folds.codes.tobytes(), tuple(folds.read))
    if key not in readers.copies:
        readers.copies[key] = ItemReaders(
            Posed(train, posed.test.take(kept), ()),
            np.unique(readers.groups[kept], return_inverse=True)[1],
            readers.folds[kept],
            readers.seed,
            readers.most,
        )
    some: ItemReaders = readers.copies[key]
    return some.copy_reader(of_options=of_options)
