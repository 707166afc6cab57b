"""Multiple-choice items: what rules, the choices alone, or the question alone give away of the answer.

Rules need no training, so every item of every file counts. The probes see
each choice as a row that is right or wrong, and the choice that they find likeliest is their answer: with question and
passage ("paired") or without ("choices_only"). The question alone ("question_only") can tell nothing but the position
of the answer. Of one file every item is answered by probes of other items, whole clusters of items kept together.

Words and traits of form that lean to right choices by themselves: what readers that weigh all words may miss.

As in pairs (`telling_readings`), a word that gives the right choice away in some items gets lost among thousands that
tell nothing. Here words that lean by 2, 2.5 and 3 standard errors alone are added up; each choice's score is what they
say for right, less what they say for wrong, learned from items of other folds of clusters. Likewise the form of the
choices (capitals, spaces, punctuation, length), which readers of words do not see. Picks that need no training but are
no rules (`untrained_picks`) are beside them.

What rules and readers get right among pairs of like length, and readers on each subset: tables of the report.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.compiled import workers
from goldassay.core.cores import cores
from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import percent
from goldassay.data.kinds import CHOICES, PREFERENCES
from goldassay.data.text_form import form_words
from goldassay.questions.data_notes import unread_notes
from goldassay.questions.leakage.item_loading import Posed, item_clusters
from goldassay.questions.leakage.partial_input import (
    LEANINGS,
    LONGEST,
    PROBES,
    PartialInputRuns,
)
from goldassay.questions.leakage.probes import N_FOLDS, by_item, choice_hits, masked, planted_copies, read_parts
from goldassay.questions.leakage.result import RULE
from goldassay.readers.choice_rules import chance_of, measure_positions
from goldassay.readers.choice_subjects import pick_by_subject, rules_by_subject, untrained_picks
from goldassay.readers.naive_bayes import telling_evidence
from goldassay.readers.preference_rules import measure_by_subset, measure_item_rules, measure_like_length
from goldassay.readers.quick_probe import deal_folds
from goldassay.readers.rule_effects import LikeLength, SubsetEffect
from goldassay.runs import Runs
from goldassay.stats.calibration import cross_calibrate
from goldassay.stats.clusters import dense_codes
from goldassay.stats.effects import ReaderPredictions
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings
    from goldassay.data.kinds import ChoiceItems
    from goldassay.readers.choice_rules import Picks
    from goldassay.readers.rule_effects import RuleEffect

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

    def planted(share: float, seed: int) -> Iterator[tuple[NDArray[np.int64], list[ReaderPredictions]]]:
        """What the probes answer in copies with words in the right choices and in the questions."""
        parts = (test.kind.alone, test.kind.asked)
        for copy, rows in planted_copies(posed, groups, share, seed):
            own = None if codes is None else groups[rows]
            found = read_parts(copy, own, [seed], most, lambda *_: None, parts)
            yield (
                rows,
                [
                    ReaderPredictions(
                        test.kind.part, "quick probe", None, correct=choice_hits(each, copy.test), chance=chance[rows]
                    )
                    if condition == test.kind.alone
                    else ReaderPredictions(
                        test.kind.question, "quick probe", np.stack([run.argmax(axis=1) for run in each]),
                        of_places=True,
                    )
                    for condition, each in found.items()
                ],
            )  # fmt: skip

    return PartialInputRuns(
        name=test.name,
        model="quick_probe",
        source=PROBES,
        label_names=names,
        gold=gold,
        example_ids=_ids(test),
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
        planted=planted,
        telling=lambda: telling_choices(posed.train, test, folds, untrained() if untrained else None),
        tables={
            RULES: _rule_table(rules),
            SUBJECTS: rules_by_subject(test, picks, codes, settings.seed),
            PROBLEMS: test.problems,
            **further,
        },
        doubts=reading_doubts(posed),
    )


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
                )
            )
        if each.doubtful:
            mend = (
                "Name the preferred response by A and B, or in columns chosen and rejected."
                if each.kind is PREFERENCES
                else f"Give letters or texts as answers: {option('columns', 'answer=NAME')}."
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
        example_ids=_ids(items),
        model="quick_probe",
        dataset=items.name,
        condition=condition,
        split="test",
        train_set=train_set,
    )


def _ids(items: ChoiceItems) -> NDArray[np.str_]:
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


def telling_choices(
    train: ChoiceItems | None,
    test: ChoiceItems,
    folds: NDArray[np.int64],
    untrained: Mapping[str, NDArray[np.float64]] | None = None,
) -> list[ReaderPredictions]:
    """What words, and traits of form, that lean to right choices pick of each item, from three strengths of leaning on.

    Args:
        train: Items to learn from; None for those of other folds.
        test: Items to read.
        folds: Of the read items, whole clusters each, (N,).
        untrained: What `untrained_picks` finds of the items to read, where it is known.
    """
    source = test if train is None else train
    most, chance = int(test.sizes.max()), chance_of(test)

    def reading(name: str, scores: NDArray[np.float64]) -> ReaderPredictions:
        hits = choice_hits([by_item(scores, test, most)], test)
        return ReaderPredictions(test.kind.part, name, None, correct=hits, chance=chance)

    def lean(known: pl.Series, asked: pl.Series) -> NDArray[np.float64]:
        """What each choice's words say for right less what they say for wrong, (strengths, choices)."""
        scores = np.zeros((len(LEANINGS), test.right.size))

        def read_fold(fold: int) -> None:
            read = (folds == fold)[test.item_of]
            learned = np.ones(source.right.size, np.bool_) if train is not None else ~read
            if learned.any():
                marks = source.right[learned].astype(np.int64)
                told = telling_evidence(known.filter(learned), marks, 2, asked.filter(read), LEANINGS)
                scores[:, read] = told[:, :, 1] - told[:, :, 0]

        with workers(cores()) as pool:
            list(pool.map(read_fold, np.unique(folds).tolist()))
        return scores

    found = []
    for what, known, asked in (
        ("words", source.texts, test.texts),
        ("traits of form", form_words(source.texts), form_words(test.texts)),
    ):
        scores = lean(known, asked)
        found += [
            reading(f"{what} that lean by {least:g} standard errors", own)
            for least, own in zip(LEANINGS, scores, strict=True)
        ]
    return found + [reading(name, scores) for name, scores in (untrained or untrained_picks(test)).items()]


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
