"""Scores that would not come out the same: ten seeds, standard and analysis sets, checkpoint by checkpoint.

What the paper concludes is held against our runs and the released ones.
"""

from __future__ import annotations

import statistics
from itertools import combinations
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds_in, decimal, signed_points
from goldassay.lab.papers.instability.evidence import (
    READING,
    REFERENCE,
    RELEASED,
    STANDARD,
    Evidence,
    compare_tables,
    planted_sets,
    released_files,
    released_report,
    released_scores,
    released_table,
)
from goldassay.lab.papers.pooling import Together, judge_each, pool_claim
from goldassay.lab.papers.recipe import (
    PRECISION_CHOSEN,
    PRETRAINED,
    Claim,
    Conclusion,
    Findings,
    Scale,
    ScaleName,
    Shown,
    Training,
    Workplace,
    declared,
)
from goldassay.lab.papers.sources import PLANTED, join_sets
from goldassay.questions.instability.command import measure_instability

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.stats.significance import Pooled

NEEDED: tuple[str, ...] = ()

TITLE = "The curse of performance instability"
PAPER = "Zhou, Nie, Tan and Bansal 2020"

JOINED = "SNLI+MNLI"

_SETS = {"SNLI": "snli_dev", REFERENCE: "mnli_matched", "BREAK-NLI": "breaking_nli", "HANS": "hans", "SICK": "sick"}
_FURTHER = {"ANLI": "anli", "counterfactual": "counterfactual"}
_TRAINED = {"SNLI train": "snli_train", "MNLI train": "mnli_train"}
_TRAINED_PART = {"SNLI train": "snli_train_part", "MNLI train": "mnli_train_part"}
_TESTS = (*_SETS, *_FURTHER)
_ANALYSIS = {
    "MNLI-mm": "mnli_mismatched", "SNLI-hard": "snli_hard", "STR-L": "stress_length", "STR-S": "stress_spelling",
    "STR-NE": "stress_negation", "STR-O": "stress_overlap", "STR-A": "stress_antonym", "STR-NU": "stress_numbers",
}  # fmt: skip
_PARTS = {
    "NewsNLI": "equate_news", "RedditNLI": "equate_reddit", "RTE-Quant": "equate_rte", "AWPNLI": "equate_word_problems",
}  # fmt: skip
# Test sets that are made of several, the stress test of numbers among them.
_MADE = {"EQU-NAT": ("NewsNLI", "RedditNLI", "RTE-Quant"), "EQU-SYN": ("AWPNLI", "STR-NU")}
_READING_TRAINED = "SQuAD train"
_READING = {READING: "squad_dev", "AddSent": "add_sent", "AddOneSent": "add_one_sent"}
_BERT = "google-bert/bert-base-uncased"
# No checkpoint of the transformers library gives the vectors of ELMo.
_CONTEXTUAL = "ESIM+BERT-B"
_FINE_TUNED = {
    RELEASED: _BERT,
    "BERT-L": "google-bert/bert-large-uncased",
    "RoBERTa-B": "FacebookAI/roberta-base",
    "RoBERTa-L": "FacebookAI/roberta-large",
    "XLNet-B": "xlnet/xlnet-base-cased",
    "XLNet-L": "xlnet/xlnet-large-cased",
}
# What is made up at the smallest size. Models differ among each other, so that what they say together counts.
_MADE_STANDARD, _MADE_ANALYSIS = ("SNLI", REFERENCE), ("BREAK-NLI", "HANS", "SICK", "STR-L", "STR-S")
_TINY: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "bag of words": ("bag_of_words", {"projection": 16}),
    "wide bag of words": ("bag_of_words", {"projection": 64}),
    "averaged words": ("word_average", {"vectors": 16, "hidden": 16}),
    "wide averaged words": ("word_average", {"vectors": 64, "hidden": 64}),
    "averaged runs of words": ("ngram_average", {"vectors": 16, "hidden": 32}),
    "wide averaged runs of words": ("ngram_average", {"vectors": 64, "hidden": 64}),
}
# So that scores rise all the while, as those of large networks on large sets do.
_SLOWLY = {"epochs": 5, "batch_size": 32, "learning_rate": 2e-3}
# The training rows are those of every run: only what a seed means in the paper follows it.
_SEEDED = {"vary": ["initialization", "order", "dropout"], "record": ["predictions"]}

# The analysis set that the paper calls stable, and a deviation below which this is so here.
_NAMED_STABLE, _STABLE = "SNLI-hard", 2.0

SCALES: Mapping[ScaleName, Scale] = {
    "smoke": Scale(
        sets=dict.fromkeys(("SNLI train", *_MADE_STANDARD, *_MADE_ANALYSIS), PLANTED),
        trainings=(
            Training(
                train="SNLI train",
                tests=(*_MADE_STANDARD, *_MADE_ANALYSIS),
                models={name: network for name, (network, _) in _TINY.items()},
                seeds=10,
                options={**_SEEDED, "checkpoint_every": 14},
                of={name: {"changes": {**_SLOWLY, **sizes}} for name, (_, sizes) in _TINY.items()},
            ),
        ),
        note="Made-up sets under the names of real ones, and tiny networks: training does not tell which of two words "
        "decides, which analysis sets ask. It shows that the study runs and finds what is planted, and nothing about "
        "real sets.",
        chosen={"planted": (900, 1_000, 120)},
    ),
    "desk": Scale(
        sets={**_TRAINED_PART, **_SETS, **_FURTHER},
        trainings=(
            Training(
                train=JOINED,
                tests=_TESTS,
                models={"BiLSTM": "bilstm", "DAM": "dam", "ESIM": "esim"},
                seeds=5,
                options={**_SEEDED, "precision": "auto", "rows": 28_000},
                # A twentieth of the steps of each.
                of={
                    "BiLSTM": {"checkpoint_every": 29},
                    "DAM": {"checkpoint_every": 66},
                    "ESIM": {"checkpoint_every": 88},
                },
            ),
            Training(
                train=JOINED,
                tests=_TESTS,
                models={PRETRAINED: PRETRAINED},
                seeds=3,
                options={
                    **_SEEDED, "precision": "auto", "rows": 5_000, "changes": {"epochs": 2},
                    "checkpoint_every": 79,
                },
            ),
        ),
        note="Small networks, 5 seeds and 20 checkpoints, trained on samples of SNLI and MNLI; a pretrained checkpoint "
        "with 3 seeds and 4 checkpoints on 5,000 pairs. The paper trains 10 seeds on 942,069 pairs and evaluates 117 "
        "checkpoints. Rows of BERT-B are the authors' own predictions.",
    ),
    "paper": Scale(
        sets={**_TRAINED, **_SETS, **_ANALYSIS, **_PARTS, _READING_TRAINED: "squad_train", **_READING},
        trainings=(
            Training(
                train=JOINED,
                tests=(*_SETS, *_ANALYSIS, *_MADE),
                models={"ESIM": "esim", _CONTEXTUAL: "contextual_esim", **_FINE_TUNED},
                seeds=10,
                options={**_SEEDED, "configuration": "published"},
                # It stops by a dev score, and the paper chooses checkpoints on this one.
                of={
                    "ESIM": {"dev": REFERENCE, "vectors": "GloVe"},
                    _CONTEXTUAL: {"dev": REFERENCE, "changes": {"encoder": _BERT}},
                },
                # The paper's 500 steps are a 59th of an epoch in batches of 32, and it evaluates 117 checkpoints; of
                # 64 epochs that would be 3,768, and half an epoch gives as many as the paper has.
                checkpoint_epochs={"ESIM": 0.5, _CONTEXTUAL: 0.5, **dict.fromkeys(_FINE_TUNED, 1 / 59)},
            ),
            Training(
                train=_READING_TRAINED,
                tests=tuple(_READING),
                models={RELEASED: _BERT, "XLNet-B": "xlnet/xlnet-base-cased"},
                seeds=10,
                options={**_SEEDED, "configuration": "published"},
            ),
        ),
        note="As printed: 10 seeds on all of SNLI and MNLI, a checkpoint every 59th of an epoch (500 steps in batches "
        "of 32), of ESIM every half; and 10 seeds on SQuAD 1.1.",
        unprinted=(
            f"{_CONTEXTUAL}, ESIM on frozen vectors of the last three layers of BERT-B, takes the place of ESIM+ELMo, "
            "whose vectors the transformers library has not.",
            "The stress tests of length and spelling are the matched ones: the printed sizes are theirs, though "
            "the paper's appendix says mismatched, an erratum.",
            "Model selection splits an analysis set 20 times; the paper does not say how often.",
            f"{_NAMED_STABLE} counts as stable below {_STABLE:.0f} times the standard set's deviation; the paper "
            "prints no limit.",
            PRECISION_CHOSEN,
        ),
        files={"GloVe": "glove"},
        strict=True,
    ),
}  # fmt: skip
_PAIRS = "pairs of model and analysis set"
# An interval of a ratio with as good as no width: its spread over pairs is all that is known of its noise.
_ALMOST_ONE = 1.001


# Sections are those of the EMNLP text.
CLAIMS = declared(
    Claim(
        "Unstable", "Some analysis sets are far less stable over seeds than the standard set.", "section 3.3, Table 1",
        "some", "normalized deviation above 1", "scores of ten seeds on the standard and on an analysis set",
        "p. 1, abstract, sentence 1",
    ),
    Claim(
        "Stable", f"{_NAMED_STABLE} is about as stable as the standard set, for every model.", "section 3.3, Table 1",
        "all", f"normalized deviation below {_STABLE:.0f}", f"scores of ten seeds on {_NAMED_STABLE}",
    ),
    Claim(
        "Together", "Instability comes from examples that are right or wrong together, not from single predictions.",
        "section 4.2, Tables 3, 4", "on average", "design effect above 1", "predictions of ten seeds on analysis sets",
        "p. 1, abstract, sentence 5",
    ),
    Claim(
        "Not together", "Over training, standard sets rise and fall together; some analysis sets do not go with them.",
        "section 3.3, Figure 3", "some", "Spearman over checkpoints, below that between standard sets",
        "scores at the checkpoints of several seeds", "p. 1, abstract, sentence 4",
    ),
    Claim(
        "Selection", "Choosing the checkpoint on a part of the analysis set raises its mean, but does not make it "
        "stable.", "section 5, Table 6", "on average", "gain in accuracy on the other part, with an SD that is not "
        "lower", "predictions at the checkpoints of several seeds",
    ),
    Claim(
        "Most unstable", "In the extreme case, RoBERTa-L on STR-NU, the deviation is 27 times the standard set's.",
        "section 3.3, Table 1", "this cell", "normalized deviation, printed 27.38", "ten seeds of RoBERTa-L on STR-NU",
        by="`goldassay studies instability --scale paper`, Table 1",
    ),
    Claim(
        "Standard sets", "Over training, standard sets have correlations above .95 with each other.",
        "section 3.3, Figure 3", "all", "Spearman over checkpoints", "scores at the checkpoints of several seeds",
        by="`goldassay studies instability`, Figure 3",
    ),
    Claim(
        "Reading", "In reading comprehension AddSent is less stable than SQuAD, too.", "section 3.3, Table 2", "all",
        "normalized deviation of F1", "ten seeds of BERT-B and XLNet-B on SQuAD and AddSent",
        by="`goldassay studies instability --scale paper`, Table 2",
    ),
    Claim(
        "Largest pair", "One pair of examples has the largest covariance, .278.", "Table 5", "this cell",
        "largest covariance of two examples over seeds", "predictions of ten seeds",
        by="`tests/instability/test_pairs.py`",
    ),
)  # fmt: skip


def prepare(work: Workplace) -> dict[str, Dataset]:
    """SNLI and MNLI are trained on together, and some test sets have several parts."""
    made: dict[str, Dataset] = {}
    if "planted" in work.scale.chosen:
        n_train, n_standard, n_analysis = work.scale.chosen["planted"]
        made = planted_sets(
            {"SNLI train": n_train},
            dict.fromkeys(_MADE_STANDARD, n_standard),
            dict.fromkeys(_MADE_ANALYSIS, n_analysis),
            work.seed,
        )
        return {name: dataset for name, dataset in made.items() if name not in work.absent}
    for name, parts in {JOINED: tuple(_TRAINED), **_MADE}.items():
        if all(part in work.sets for part in parts):
            made[name] = join_sets(name, {part: work.sets[part] for part in parts})
        else:
            work.unmade[name] = tuple(part for part in parts if part in work.absent)
    return made


def has_released(work: Workplace) -> bool:
    """Whether something of the authors' own runs is at hand: predictions and the sets in their order, or accuracies."""
    return released_files(work) is not None or released_table(work) is not None


def measure(work: Workplace) -> Findings:
    """Spread, deviations, decomposition, selection and correlations, of our runs and of the released ones."""
    reports = {}
    for training in work.scale.trainings:
        reading = training.train == _READING_TRAINED
        reference = READING if reading else REFERENCE
        reports["reading" if reading else "ours"] = measure_instability(
            [work.runs], reference=reference if reference in training.tests else None, train_set=training.train,
            seed=work.seed,
        )  # fmt: skip
    released = released_report(work)
    if released is not None:
        reports["released"] = released
    notes = [] if work.pretrained or work.scale_name != "desk" else ["No pretrained checkpoint was given."]
    found = {name: Evidence(report, RELEASED if name == "released" else None) for name, report in reports.items()}
    scores = released_scores(work)
    if scores is not None:
        known = [row["dataset"] for row in found["released"].results] if released is not None else []
        reports["released_scores"] = scores
        found["released_scores"] = Evidence(scores, RELEASED, without=known)
        notes.append(
            f"{RELEASED} on {len(found['released_scores'].results)} sets is by the accuracies that the authors report: "
            "nothing is said of parts of their variance."
        )
    asked = {name for each in SCALES[work.scale_name].trainings for name in each.tests} - _READING.keys()
    if not work.scale.trainings:
        notes.append("Nothing was trained: all figures are of predictions that the authors released.")
    if released is None and scores is None and work.scale_name == "desk":
        notes.append("The authors' own predictions are not at hand; BERT-B has no row.")
    return Findings(
        conclusions=conclude(list(found.values())),
        comparisons=compare_tables(
            [each for name, each in found.items() if name != "reading"],
            found.get("reading"),
            {name: dataset for name, dataset in work.sets.items() if name in asked},
        ),
        reports=reports,
        shown=tuple(
            Shown(f"{place}. {title}", name, figure)
            for name in reports
            for place, title, figure in (
                ("Figure 1", "Accuracy over training", "instability_trajectories"),
                ("Figure 2", "Accuracies of all runs", "instability_runs"),
                ("Figure 3", "Which sets move together", "instability_correlations"),
                ("Figure 4", "Which examples move together", "instability_map"),
            )
        ),
        notes=tuple(notes),
    )


def conclude(found: Sequence[Evidence]) -> tuple[Conclusion, ...]:
    """What became of each conclusion, as far as there are runs to say so."""
    return (
        _larger_spread(found),
        *_stable(found),
        _covariance(found),
        *_correlation(found),
        *_selection(found),
    )


def _crossed(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[object]]:
    """Rows of one model share its runs, and those of one set its examples."""
    return {"models": [row["model"] for row in rows], "sets": [row["dataset"] for row in rows]}


def _spreads(found: Sequence[Evidence]) -> list[Mapping[str, Any]]:
    """Normalized deviations on analysis sets that have an interval."""
    return [
        row
        for each in found
        for row in each.deviations
        if row["dataset"] not in STANDARD and row["recommended"] is not None and row["low"] is not None
    ]


def _larger_spread(found: Sequence[Evidence]) -> Conclusion:
    """The paper names sets that are less stable, and one that is not: of some, that is."""
    claim, rows = CLAIMS["Unstable"], _spreads(found)
    judged = judge_each(
        [(row["recommended"], row["low"], row["high"]) for row in rows],
        "some",
        than=1.0,
        scale="log",
        # As of the test on variances of matched runs.
        degrees=[row["n_runs"] - 2 for row in rows],
    )
    if judged is None:
        return claim.unmeasured("No model has two runs on both.")
    clearest = rows[judged.at]
    return claim.found(
        judged.standing,
        f"How much more than {REFERENCE} an analysis set spreads for its size, of {clearest['model']} on "
        f"{clearest['dataset']}, the clearest of {judged.n} {_PAIRS}. By intervals that hold for all together, "
        f"{judged.n_above} spread more and {judged.n_below} less.",
        *judged.figure,
        "ratio",
        judged.p,
    )


def _stable(found: Sequence[Evidence]) -> list[Conclusion]:
    """Of the one set that the paper names; it prints no limit, so that one is chosen."""
    rows = [row for row in _spreads(found) if row["dataset"] == _NAMED_STABLE]
    # Inverted, so that what is above is stable.
    judged = judge_each(
        [(1 / row["recommended"], 1 / row["high"], 1 / row["low"]) for row in rows if row["recommended"] > 0],
        "all",
        than=1 / _STABLE,
        scale="log",
        degrees=[row["n_runs"] - 2 for row in rows if row["recommended"] > 0],
    )
    if judged is None:
        return []
    value, low, high = judged.figure
    return [
        CLAIMS["Stable"].found(
            judged.standing,
            f"The largest normalized deviation of {judged.n} models. The paper prints no limit; here it is "
            f"{decimal(_STABLE, 0)} times the standard set.",
            1 / value,
            1 / high,
            1 / low,
            "ratio",
            judged.p,
        )
    ]


def _covariance(found: Sequence[Evidence]) -> Conclusion:
    """Whether examples of analysis sets fall together, and those of standard sets do not."""
    rows = [row for each in found for row in each.results if row.get("design_effect") is not None]
    bounds = {key: value for each in found for key, value in each.design_effects.items()}
    analysis = [row for row in rows if row["dataset"] not in STANDARD]
    standard = [row["design_effect"] for row in rows if row["dataset"] in STANDARD]
    ends = [bounds[row["model"], row["dataset"]] for row in analysis]
    together = pool_claim(
        [(row["design_effect"], end["runs_low"], end["runs_high"]) for row, end in zip(analysis, ends, strict=True)],
        _crossed(analysis),
        what=_PAIRS,
        unit="ratio",
        scale="log",
    )
    if together is None:
        there = any(row["dataset"] not in STANDARD for each in found for row in each.results)
        why = "No design effect has an interval." if there else "There is no analysis set."
        return CLAIMS["Together"].unmeasured(why)
    widest = max(analysis, key=lambda row: row["design_effect"])
    aside = f"; of the standard sets the median is {decimal(statistics.median(standard), 1)}" if standard else ""
    return CLAIMS["Together"].found(
        together.standing(1.0),
        f"How many times the variance of independent examples there is. {together.sentence} Most "
        f"{decimal(widest['design_effect'])} for {widest['model']} on {widest['dataset']}{aside}.",
        *together.figure,
        "ratio",
        together.p(1.0),
    )


def _correlation(found: Sequence[Evidence]) -> list[Conclusion]:
    """Over training, standard sets against each other, and against analysis sets."""
    inside: list[dict[str, Any]] = []
    across: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        for matrix in each.correlations:
            names = matrix["names"]
            for i, j in combinations(range(len(names)), 2):
                pair = sorted((names[i], names[j]), key=lambda name: name not in STANDARD)
                figure = tuple(matrix[key][i][j] for key in ("values", "low", "high"))
                if pair[0] in STANDARD and None not in figure:
                    row = {"model": matrix["model"], "dataset": " and ".join(pair), "figure": figure}
                    (inside if pair[1] in STANDARD else across.setdefault(pair[1], [])).append(row)
    # Of one analysis set models are what differs: all of its pairs share its examples.
    standard, *others = (
        pool_claim(
            [row["figure"] for row in rows],
            {"models": [row["model"] for row in rows]},
            what="pairs of sets of one model",
            unit="correlation",
            scale="fisher",
        )
        for rows in (inside, *across.values())
    )
    known = {name: other for name, other in zip(across, others, strict=True) if other is not None}
    if standard is None or not known:
        return []
    judged = judge_each(
        [_below(other.pooled, standard.pooled) for other in known.values()],
        "some",
        degrees=[min(other.pooled.n_families, standard.pooled.n_families) - 1 for other in known.values()],
    )
    if judged is None:
        return []
    name, clearest = list(known.items())[judged.at]
    return [
        CLAIMS["Not together"].found(
            judged.standing,
            f"Spearman over checkpoints between {name} and standard sets, the clearest of {judged.n} analysis sets, is "
            f"the figure. By intervals that hold for all together it must lie below that between standard sets, "
            f"{decimal(standard.value)} {bounds_in(standard.low, standard.high, 'correlation')}; so do "
            f"{judged.n_above}. {clearest.sentence} The paper has above .95 between standard sets.",
            clearest.value,
            clearest.low,
            clearest.high,
            "correlation",
            judged.p,
        )
    ]


def _below(one: Pooled, other: Pooled) -> tuple[float, float, float]:
    """By how much one pooled figure lies below another, with the two intervals end to end."""
    between = other.value - one.value
    return between, between - (other.value - other.low) - (one.high - one.value), (
        between + (other.high - other.value) + (one.value - one.low)
    )  # fmt: skip


def _selection(found: Sequence[Evidence]) -> list[Conclusion]:
    """Whether choosing the checkpoint on the analysis set itself helps."""
    rows = [row for each in found for row in each.selections if row["dataset"] not in STANDARD]
    claim = pool_claim(
        [(row["gain"], row["gain_low"], row["gain_high"]) for row in rows],
        _crossed(rows),
        what=_PAIRS,
        unit="difference",
    )
    if claim is None:
        return []
    best = max(rows, key=lambda row: row["gain"])
    calmer = _calmer(rows)
    standing = claim.standing()
    surely_calmer = calmer is not None and calmer.high < 1
    shown = "" if calmer is None else (
        f" The SD over seeds is {decimal(calmer.value)} times what it was "
        f"{bounds_in(calmer.low, calmer.high, 'ratio')}; for the claim to hold it must not be significantly below 1."
    )  # fmt: skip
    return [
        CLAIMS["Selection"].found(
            "not shown" if standing == "held" and surely_calmer else standing,
            f"{claim.sentence} Most {signed_points(best['gain'], 1)} for {best['model']} on {best['dataset']}.{shown}",
            *claim.figure,
            "difference",
            claim.p(),
        )
    ]


def _calmer(rows: Sequence[Mapping[str, Any]]) -> Together | None:
    """Ratio of the spreads over seeds with and without choosing on the analysis set, from how models differ in it.

    The ratio of one pair has no interval, so that models or sets, whichever differ more, give it.
    """
    known = [row for row in rows if row["analysis_sd"] > 0 and row["standard_sd"] > 0]
    ratios = [row["analysis_sd"] / row["standard_sd"] for row in known]
    if min(len(set(of)) for of in _crossed(known).values()) < 2:
        return None
    return pool_claim(
        [(ratio, ratio / _ALMOST_ONE, ratio * _ALMOST_ONE) for ratio in ratios], _crossed(known), what=_PAIRS,
        unit="ratio", scale="log",
    )  # fmt: skip
