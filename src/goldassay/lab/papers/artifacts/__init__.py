"""Labels given away by patterns of the hypothesis: easy and hard examples, training without patterns, debiasing.

What the paper concludes is held against what is measured here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.numbers import count, points, signed_points
from goldassay.core.settings import Settings
from goldassay.lab.papers.artifacts.protocol import (
    ADVERSARIAL,
    ADVERSARIAL_GUIDED,
    ALL,
    DEBIAS,
    DEBIASED,
    EASY,
    FULL,
    GAP,
    GRID,
    GUIDED,
    HARD,
    RANDOM,
    REWEIGHTED,
    Accuracies,
    Corpus,
    Figure,
    Protocol,
    Trained,
    gap_rows,
    gather,
    mine_corpus,
    reduce_corpus,
    searched,
    variants,
)
from goldassay.lab.papers.artifacts.protocol import Evidence as CorpusEvidence
from goldassay.lab.papers.artifacts.tables import compare_tables, coverage, unmeasured_tables
from goldassay.lab.papers.pooling import p_of
from goldassay.lab.papers.recipe import (
    PRECISION_CHOSEN,
    PRETRAINED,
    Claim,
    Conclusion,
    Findings,
    Scale,
    ScaleName,
    Shown,
    Standing,
    Workplace,
    declared,
)
from goldassay.questions.artifacts.question import report_of_mining
from goldassay.questions.artifacts.search import try_patterns
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import majority_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.report.report import Report

NEEDED: tuple[str, ...] = ()

TITLE = "Labels given away by patterns of the hypothesis"
PAPER = "Liu, Zheng, Chang and Sui 2020"

SNLI, MULTINLI = "SNLI", "MultiNLI"
_SNLI_HARD = "SNLI test uw_cmu_hard"
_SNLI_TEST, _MISMATCHED, _MATCHED = "SNLI test", "MultiNLI dev mismatched", "MultiNLI dev matched"
_SNLI_SETS = {"SNLI train": "snli_train", "SNLI dev": "snli_dev", _SNLI_TEST: "snli_test"}
_MULTINLI_SETS = {"MultiNLI train": "mnli_train", _MATCHED: "mnli_matched"}

# As this project stores what was published, and as it lies in the authors' archive.
_SNLI_PUBLISHED = {
    name: (f"golden/hyponli/snli_test_{name}_lambda0.8.tsv", f"SNLI/test_{name}_lambda=0.8.tsv")
    for name in ("easy", "hard")
}
_MATCHED_PUBLISHED = {
    name: (f"golden/hyponli/mnli_matched_dev_{name}_lambda0.7.tsv", f"MultiNLI/match_dev_{name}_lambda=0.7.tsv")
    for name in ("easy", "hard")
}

_MISMATCHED_PUBLISHED = {name: (f"MultiNLI/mismatch_dev_{name}_lambda=0.7.tsv",) for name in ("easy", "hard")}

_SMOKE = Protocol(
    corpora=(
        Corpus(
            SNLI, _SNLI_TEST, _SNLI_TEST, 0.8, dev="SNLI dev", networks=("InferSent",), thresholds=(0.8,),
            variants=variants(SNLI, adversarial={}, reweight={}),
        ),
    ),
    seeds=3,
    samples=3,
    initializations=1,
)  # fmt: skip
_DESK = Protocol(
    corpora=(
        Corpus(
            SNLI, _SNLI_TEST, _SNLI_TEST, 0.8, published=_SNLI_PUBLISHED, dev="SNLI dev", thresholds=(0.6, 0.8),
            # In the 4 epochs of the desk's network weights move as far as in the 20 of the paper's.
            variants=variants(SNLI, adversarial={}, reweight={"step": 2.5}),
            further={PRETRAINED: PRETRAINED},
            released={"BERT": "bert", "RoBERTa": "roberta"},
        ),
        Corpus(
            MULTINLI, _MATCHED, _MISMATCHED, 0.7, published=_MATCHED_PUBLISHED, networks=("InferSent", "DAM"),
            thresholds=(0.7,),
        ),
    ),
    seeds=3,
    samples=3,
    initializations=1,
)  # fmt: skip
_CHECKPOINTS = {
    "BERT": "google-bert/bert-base-uncased",
    "XLNet": "xlnet/xlnet-base-cased",
    "RoBERTa": "FacebookAI/roberta-base",
}
# Weights of 5 and patterns above .7 are what the objectives take by themselves.
_PRINTED = {"discriminators": 2}
_GROWING = {"step": 0.5, "cap": float("inf")}
_PAPER = Protocol(
    corpora=(
        Corpus(
            SNLI, _SNLI_TEST, _SNLI_TEST, 0.8, published=_SNLI_PUBLISHED, dev="SNLI dev", others_hard=_SNLI_HARD,
            thresholds=(0.5, 0.6, 0.7, 0.8), further=_CHECKPOINTS,
            variants=variants(
                SNLI, adversarial={**_PRINTED, "gamma": 3.0}, reweight={**_GROWING, "phi": 0.15}, separate=True,
            ),
        ),
        Corpus(
            MULTINLI, _MISMATCHED, _MISMATCHED, 0.7, published=_MISMATCHED_PUBLISHED, dev=_MATCHED,
            thresholds=(0.5, 0.6, 0.7, 0.8), further=_CHECKPOINTS,
            variants=variants(
                MULTINLI, adversarial={**_PRINTED, "gamma": 1.0}, reweight={**_GROWING, "phi": 0.1}, separate=True,
            ),
        ),
    ),
    seeds=5,
    samples=5,
    initializations=3,
)  # fmt: skip


def _with_grid(protocol: Protocol, tried: Mapping[str, Sequence[float]]) -> Protocol:
    corpora = (
        replace(each, grid=searched(each.variants, tried)) if each.variants else each for each in protocol.corpora
    )
    return replace(protocol, corpora=tuple(corpora))


_SMOKE = _with_grid(_SMOKE, {"alpha": (3.0,), "gamma": (0.1,), "lambda": (0.7, 0.8), "k": (1,)})
_PAPER = _with_grid(_PAPER, GRID)
_PREDICTIONS = {"record": ["predictions"]}
_SMOKE_SIZES = {"InferSent": {"changes": {"vectors": 32, "units": 16, "hidden": 32, "epochs": 6}}}
_PUBLISHED = {**_PREDICTIONS, "configuration": "published", "vectors": "GloVe"}

SCALES: Mapping[ScaleName, Scale] = {
    "smoke": Scale(
        sets={"SNLI train": "specimen/train", "SNLI dev": "specimen/dev", _SNLI_TEST: "specimen/test"},
        trainings=_SMOKE.trainings(_PREDICTIONS, _SMOKE_SIZES),
        grid=_SMOKE.searches(_PREDICTIONS, _SMOKE_SIZES),
        note="Made-up sets under the names of real ones, with planted patterns, and tiny networks: it shows that the "
        "study runs and finds what is planted, and nothing about real sets.",
        chosen={"protocol": _SMOKE},
        specimen_rows=(2_000, 3_000),
    ),
    "desk": Scale(
        sets={
            **_SNLI_SETS,
            **_MULTINLI_SETS,
            "SNLI train": "snli_train_part",
            "MultiNLI train": "mnli_train_part",
        },
        trainings=_DESK.trainings(
            {**_PREDICTIONS, "precision": "auto"},
            # Two cores that multiply in 32 bits are to end it in two hours, which they would not with 512.
            {"InferSent": {"changes": {"units": 256}}},
            {**_PREDICTIONS, "precision": "auto", "rows": 5_000, "changes": {"epochs": 2}},
        ),
        note="Small networks on 18,000 pairs of SNLI and 10,000 of MultiNLI, where the paper has 549,367 and 392,702; "
        "patterns need one in a thousand of the training sentences, and 8 at least. Down-sampling is at two of the "
        "four thresholds on SNLI and at one on MultiNLI, with 3 random samples and 3 runs without patterns, where the "
        "paper has 5 samples of 3 runs, and 5. On SNLI dev accuracy chooses the epoch. Adam takes the place of SGD, "
        "and gamma is .2 and not 3: see the training guide; where weights follow the gap they move by 2.5 in each of 4 "
        "epochs, not by .5 in each of 20. InferSent has 256 units in each direction, not 2,048, and reads both "
        "sentences with one encoder.",
        chosen={"protocol": _DESK},
    ),
    "paper": Scale(
        sets={**_SNLI_SETS, **_MULTINLI_SETS, _MISMATCHED: "mnli_mismatched", _SNLI_HARD: "snli_hard"},
        trainings=_PAPER.trainings(_PUBLISHED, {}, {**_PREDICTIONS, "configuration": "published"}),
        grid=_PAPER.searches(_PUBLISHED, {}),
        note="As printed: thresholds .5 to .8, 5 random samples of 3 runs each, 5 runs without patterns, published "
        "sizes and recipes, GloVe vectors.",
        unprinted=(
            "Of gamma, alpha, lambda and the discriminators the paper's best values are taken; --grid trains with all "
            "that it tries, too, one seed each, and chooses none.",
            "InferSent by itself reads both sentences with one encoder, and debiased by an adversary with two, E_h and "
            "E_p.",
            "The network on patterns has one hidden layer of 100 units, whose size the paper does not print.",
            PRECISION_CHOSEN,
        ),
        chosen={"protocol": _PAPER},
        files={"GloVe": "glove"},
        strict=True,
    ),
}
# Where a model is wrong on each of a few examples, no draw of these is ever right, and an interval has no width.
_LEAST = 10


_TRAINED = "models trained on the corpus, answers on its easy and hard examples"
_REMOVED = "models trained without patterns, and on as many random rows"
_DEBIASED = "InferSent, debiased and plain, five runs each"
# Of each corpus by itself: its name stands before that of the claim.
CLAIMS = declared(
    Claim(
        "Patterns", "Patterns of words in the hypothesis, whatever the premise, give the label away.", "Table 1",
        "this cell", "how often patterns that point to one label are right, above the majority",
        "a training and a test set", "p. 1, abstract, sentence 3",
    ),
    Claim(
        "Hypothesis alone", "Classifiers that see of the hypothesis nothing but such patterns are far better than the "
        "majority class.", "Table 2", "this cell", "points above the majority", "a training and a test set",
        "p. 1, abstract, sentence 1",
    ),
    Claim(
        "Easy and hard", "Models are far better on examples whose patterns point to the right label than where they "
        "mislead.", "Table 4", "on average", "accuracy on easy minus on hard examples", _TRAINED,
        "p. 1, abstract, sentence 4",
    ),
    Claim(
        "Without patterns", "Training without patterns narrows the gap more than as many random rows do.",
        "Tables 5, 6", "on average", "gap without patterns minus gap of random rows", _REMOVED,
    ),
    Claim(
        "Hard without patterns", "Training without patterns is better on hard examples than as many random rows.",
        "Tables 5, 6", "on average", "accuracy on hard examples, minus that of random rows", _REMOVED,
    ),
    Claim(
        "Price of removal", "Training without patterns costs accuracy on the whole test set.", "Tables 5, 6",
        "on average", "accuracy on all, minus that of random rows", _REMOVED,
    ),
    Claim(
        "Adversary", "Adversarial training on the hypothesis gains on hard examples, at a cost on all.", "Table 7",
        "this cell", "accuracy on hard examples, minus plain training", _DEBIASED,
    ),
    Claim(
        "Guided weights", "Weights guided by patterns gain on hard examples without an adversary.", "Table 7",
        "this cell", "accuracy on hard examples, minus plain training", _DEBIASED,
    ),
    Claim(
        "Guided adversary", "Guidance makes the adversary gain more.", "Table 7", "this cell",
        "accuracy on hard examples, minus the adversary alone", _DEBIASED,
    ),
    Claim(
        "Reweighting", "Weights that follow the gap between easy and hard dev examples gain more still.", "Table 7",
        "this cell", "accuracy on hard examples, minus the guided adversary", _DEBIASED,
    ),
    Claim(
        "Short patterns", "Of the patterns of five words and gaps of five, 95.4 % are covered by those of three.",
        "section 3.1", "this cell", "share of the longer patterns that hold a shorter one", "a training set",
        by="`goldassay studies artifacts --scale paper --grid`",
    ),
    Claim(
        "Premises", "No pattern of the premise goes with a label in half of its sentences.", "section 3.1", "all",
        "largest p(label given pattern) of premises", "a training set",
        by="`goldassay artifacts mine TRAIN --text premise`",
    ),
)  # fmt: skip


def prepare(work: Workplace) -> dict[str, Dataset]:
    """Patterns, and the training sets without them."""
    protocol: Protocol = work.scale.chosen["protocol"]
    made: dict[str, Dataset] = {}
    for corpus in protocol.corpora:
        if corpus.train in work.sets:
            made |= reduce_corpus(corpus, protocol, mine_corpus(corpus, work), work)
        else:
            work.unmade |= dict.fromkeys(corpus.parts(protocol.samples), work.roots(corpus.train))
    return made


def has_released(_work: Workplace) -> bool:
    """Released answers are laid beside those of models that are trained here, on patterns of the training set."""
    return False


def _report(each: CorpusEvidence, work: Workplace) -> Report:
    settings = Settings(seed=work.seed)
    evidence = Evidence(each.train, each.test, settings=settings, steps=work.steps, same_texts=False)
    search = try_patterns(each.patterns, each.train, each.test, settings.artifacts, settings.seed)
    return report_of_mining(evidence, evidence.measured([search.described]))


def measure(work: Workplace) -> Findings:
    """Patterns, what they tell, and how models that are trained with and without them do on easy and hard examples."""
    protocol: Protocol = work.scale.chosen["protocol"]
    tested = {test for training in work.scale.trainings for test in training.tests}
    found = {
        corpus.name: gather(corpus, protocol, work)
        for corpus in protocol.corpora
        if corpus.train in work.sets and corpus.test in tested
    }
    unmeasured = [each for corpus in protocol.corpora if corpus.name not in found for each in unmeasured_tables(corpus)]
    reports = {name: _report(each, work) for name, each in found.items()}
    pretrained = work.scale_name != "desk" or work.pretrained is not None
    return Findings(
        conclusions=conclude(list(found.values())),
        comparisons=(
            *compare_tables(list(found.values())),
            *unmeasured,
            *(coverage(each) for each in found.values() if work.grid),
        ),
        reports=reports,
        tables={"gaps": gap_rows(found)},
        shown=tuple(
            Shown(f"{name}. {title}", name, figure)
            for name in found
            for title, figure in (
                ("The patterns that give most away", "artifacts_strongest"),
                ("How telling the patterns are, by how many sentences hold them", "artifacts_scatter"),
                ("How many test examples hold one, and how often it is right", "artifacts_coverage"),
            )
        ),
        notes=() if pretrained else ("No pretrained checkpoint was given.",),
    )


def conclude(found: Sequence[CorpusEvidence]) -> tuple[Conclusion, ...]:
    """What became of each conclusion, corpus by corpus."""
    return tuple(
        replace(conclusion, name=f"{each.corpus.name}: {conclusion.name}")
        for each in found
        for conclusion in (
            patterns_predict(each),
            hypotheses_predict(each),
            *of_models(each.accuracies),
            *(of_debiasing(each.accuracies) if each.corpus.variants else ()),
        )
    )


def standing(low: float, high: float, than: float = 0.0) -> Standing:
    """Of a claim that a figure is more than something, from the figure's interval."""
    return "held" if low > than else "did not hold" if high < than else "not shown"


def patterns_predict(each: CorpusEvidence) -> Conclusion:
    """How often the patterns' one verdict is right on the test set; by chance it would be as often as the majority."""
    assigned = each.assigned
    easy, hard = assigned.summary["easy"], assigned.summary["hard"]
    n_kept = len(each.patterns.select(each.corpus.threshold))
    if not easy + hard:
        return CLAIMS["Patterns"].unmeasured("No test example holds a pattern above the threshold.")
    share, bounds = assigned.easy_share, assigned.easy_share_interval
    chance = majority_share(each.test)
    return CLAIMS["Patterns"].found(
        standing(bounds.low, bounds.high, chance),
        f"{count(n_kept)} patterns go with one label in more than {points(each.corpus.threshold, 0)} % of the training "
        f"sentences that hold them. Of {count(len(each.test))} test examples {points(assigned.coverage)} % hold one, "
        f"and where all that an example holds point to one label this is right as often as the figure says; the most "
        f"frequent label would be right in {points(chance)} %.",
        share,
        bounds.low,
        bounds.high,
        "share",
        p_of(share, bounds.low, bounds.high, chance),
    )


def hypotheses_predict(each: CorpusEvidence) -> Conclusion:
    """What the patterns' classifier has beyond the majority."""
    rows = {row["classifier"]: row for row in each.classifiers.table.to_dicts()}
    # Of the test labels: what is most frequent among few training rows may not be so there, and is beaten more easily.
    best, chance = rows["patterns"], majority_share(each.test)
    others = ", ".join(f"{name} {points(rows[name]['accuracy'])}" for name in ("n-grams", "unigrams"))
    low, high = best["low"] - chance, best["high"] - chance
    return CLAIMS["Hypothesis alone"].found(
        standing(low, high),
        f"A network on patterns is right in {points(best['accuracy'])} % of {each.test.name}; {others}, its most "
        f"frequent label {points(chance)}.",
        best["accuracy"] - chance,
        low,
        high,
        "difference",
        p_of(best["accuracy"] - chance, low, high),
    )


def of_models(accuracies: Accuracies) -> list[Conclusion]:
    """Easy and hard, and training without patterns."""
    whole = [model for model in accuracies.correct if model.mode == ALL and "+" not in model.model]
    whole = [model for model in whole if model.model != ADVERSARIAL]
    pairs = [
        (model, model._replace(mode=RANDOM))
        for model in accuracies.correct
        if model.mode == DEBIAS and model._replace(mode=RANDOM) in accuracies
    ]
    gap = accuracies.sum({model: 1 / len(whole) for model in whole}, GAP) if whole else None
    gaps = {model.model: accuracies.of(model, GAP) for model in whole}
    found = [
        _judged(
            "Easy and hard",
            gap,
            _too_few(accuracies, GAP),
            f"Easy minus hard, by model: {_listed(gaps)}. The figure is their mean.",
        )
    ]
    for name, subset, sign in (
        ("Without patterns", GAP, -1), ("Hard without patterns", HARD, 1), ("Price of removal", FULL, -1)
    ):  # fmt: skip
        each = {f"{one.model} at {one.threshold}": accuracies.difference(one, other, subset) for one, other in pairs}
        found.append(
            _judged(
                name,
                accuracies.mean_difference(pairs, subset) if pairs else None,
                _too_few(accuracies, subset),
                f"{_subject(subset)} without patterns minus random, by model and threshold: {_listed(each)}. The "
                "figure is their mean.",
                sign,
            )
        )  # fmt: skip
    return found if pairs else found[:1]


def of_debiasing(accuracies: Accuracies) -> list[Conclusion]:
    """Adversaries, guidance, and weights that follow the gap."""
    plain, against = Trained(DEBIASED), Trained(ADVERSARIAL)
    guided, reweighted = Trained(ADVERSARIAL_GUIDED), Trained(REWEIGHTED)
    return [
        _compared(accuracies, "Adversary", against, plain),
        _compared(accuracies, "Guided weights", Trained(GUIDED), plain),
        _compared(accuracies, "Guided adversary", guided, against),
        _compared(accuracies, "Reweighting", reweighted, guided),
    ]


def _compared(accuracies: Accuracies, name: str, one: Trained, other: Trained) -> Conclusion:
    """One way to train against another, by hard examples."""
    subsets = {"the gap": GAP, "all": FULL}
    rest = {key: accuracies.difference(one, other, subset) for key, subset in subsets.items()}
    return _judged(
        name,
        accuracies.difference(one, other, HARD),
        _too_few(accuracies, HARD),
        f"{one.model} minus {other.model} on hard examples is the figure; beside it {_listed(rest)}.",
    )


def _judged(name: str, figure: Figure | None, too_few: str, evidence: str, sign: int = 1) -> Conclusion:
    """A claim that a figure is above zero, or below where the sign is -1."""
    if figure is None or too_few:
        return CLAIMS[name].unmeasured(too_few or "There are no runs to say so.")
    low, high = (figure.low, figure.high) if sign > 0 else (-figure.high, -figure.low)
    return CLAIMS[name].found(
        standing(low, high), evidence, figure.value, figure.low, figure.high, "difference",
        p_of(figure.value, figure.low, figure.high),
    )  # fmt: skip


def _too_few(accuracies: Accuracies, subset: str) -> str:
    """Why a subset says nothing, or nothing where it has enough examples."""
    sizes = accuracies.sizes()
    if accuracies.fewest(subset) >= _LEAST:
        return ""
    return (
        f"Of the test examples {count(sizes[EASY])} are easy and {count(sizes[HARD])} hard; it takes {_LEAST} of each."
    )


def _listed(figures: Mapping[str, Figure | None]) -> str:
    """Values with their intervals, in points."""
    return "; ".join(
        f"{name} {signed_points(each.value, 1)} [{signed_points(each.low, 1)}, {signed_points(each.high, 1)}]"
        for name, each in figures.items()
        if each is not None
    )


def _subject(subset: str) -> str:
    return {GAP: "The gap", HARD: "Accuracy on hard examples", FULL: "Accuracy on all"}[subset]
