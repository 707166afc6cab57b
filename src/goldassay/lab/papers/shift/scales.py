"""Which domains, networks and seeds each size takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.lab.papers.recipe import PRETRAINED, Scale, ScaleName, Training
from goldassay.lab.papers.shift.sets import DEV, FOREIGN, OWN, SIMILARITY, TRAIN, domains_of
from goldassay.lab.papers.sources import PLANTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


BAG = "bag of words"
# Similarity of two texts by a bag of words is a cosine, which is not trained; inference it cannot be asked.
_WITHOUT_BAG = ("stsb", "mnli", "record")
# The answer is a stretch of the text, which of the networks on words one alone can name.
_SPANS = ("record",)
READER = "DocQA"
_READER = {READER: "docqa"}
# Of pairs the paper takes the cosine of the two encodings in the place of a hidden layer.
_BY_COSINE = ("stsb", "mnli")
_FILES = {
    "SST-2 train": "sst2_train", "SST-2 dev": "sst2_dev", "SST-2 test": "sst2_test", "IMDb": "imdb",
    "STS-B": "stsb", "Yelp": "yelp", "Amazon": "amazon", "ReCoRD": "record", "MNLI": "mnli_genres",
}  # fmt: skip
_FOREIGN_SETS = {
    "20 Newsgroups": "newsgroups", "newstest": "newstest", "Multi30K": "multi30k", "RTE": "rte_dev", "SNLI": "snli_dev",
}  # fmt: skip

_DESK_WORDS = {BAG: "bag_of_words", "average": "word_average", "LSTM": "lstm", "ConvNet": "convnet"}
_WORDS = {
    BAG: "bag_of_words",
    **{
        f"{vectors} {kind}": network
        for vectors in ("word2vec", "GloVe")
        for kind, network in (("average", "word_average"), ("LSTM", "lstm"), ("ConvNet", "convnet"))
    },
}
TRANSFORMERS = {
    "BERT Base": "google-bert/bert-base-uncased",
    "BERT Large": "google-bert/bert-large-uncased",
    "RoBERTa Large": "FacebookAI/roberta-large",
    "ALBERT Base": "albert/albert-base-v2",
    "ALBERT Large": "albert/albert-large-v2",
    "ALBERT XLarge": "albert/albert-xlarge-v2",
    "DistilBERT": "distilbert/distilbert-base-uncased",
}
# What is made up at the smallest size.
_TINY_CHECKPOINTS = {"BERT Base": "planted/base", "BERT Large": "planted/large", "DistilBERT": "planted/distilled"}
_TINY_SIZES: Mapping[str, Mapping[str, float]] = {
    BAG: {"projection": 32},
    "average": {"vectors": 32, "hidden": 32},
    "LSTM": {"vectors": 32, "units": 32, "hidden": 32},
    "ConvNet": {"vectors": 32, "filters": 16},
    **{name: {"learning_rate": 2e-3} for name in _TINY_CHECKPOINTS},
}
_TINY = {name: {"changes": {"batch_size": 32, **sizes}} for name, sizes in _TINY_SIZES.items()}


def _trainings(
    benchmarks: Sequence[str],
    words: Mapping[str, str],
    pretrained: Mapping[str, str],
    seeds: int,
    options: Mapping[str, Any],
    of: Mapping[str, Mapping[str, Any]],
    *,
    dev: bool = False,
) -> tuple[Training, ...]:
    """One for each domain that is trained on; models of SST-2 are shown the texts of other tasks, too.

    With `dev` those of words are stopped by the dev set of their own domain.
    """
    found = []
    for benchmark in benchmarks:
        fresh = dict(_READER if benchmark in _SPANS else words)
        models = fresh | dict(pretrained)
        if benchmark in _WITHOUT_BAG:
            models.pop(BAG, None)
        for own, tests in domains_of(benchmark):
            foreign = FOREIGN if own == OWN else ()
            stopped = {name: {**of.get(name, {}), "dev": f"{own}{DEV}"} for name in fresh if dev and name in models}
            given = {**of, **stopped}
            if benchmark in _BY_COSINE:
                given |= {name: _by_cosine(options, given.get(name, {})) for name in fresh if name != BAG}
            if benchmark in _SPANS:
                given = {name: _whole_passages(options, given.get(name, {})) for name in models}
            found.append(Training(f"{own}{TRAIN}", (*tests, *foreign), models, seeds, options=options, of=given))
    return tuple(found)


def _by_cosine(every: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a network on words that compares two texts by their cosine."""
    changes = {**every, **own}.get("changes") or {}
    return {**own, "changes": {**changes, "cosine": True}}


def _whole_passages(every: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A reader's settings without the limit on words, under which it would not see most of a passage."""
    found = {**every, **own}
    changes = {name: value for name, value in found.get("changes", {}).items() if name != "max_tokens"}
    return {**own, "changes": changes or None}


def _smoke() -> Scale:
    found = []
    for own, tests in (each for benchmark in ("sst2_imdb", "stsb") for each in domains_of(benchmark)):
        # Of two domains one has all models, which are asked of foreign texts too; all sources are needed, since
        # of few families nothing can be said.
        if own == OWN:
            found.append(Training(f"{own}{TRAIN}", (*tests, *FOREIGN), _DESK_WORDS | _TINY_CHECKPOINTS, 3, of=_TINY))
        elif own in SIMILARITY:
            found.append(Training(f"{own}{TRAIN}", tests, {"LSTM": "lstm"} | _TINY_CHECKPOINTS, 3, of=_TINY))
    return Scale(
        sets=dict.fromkeys((name for each in found for name in (each.train, *each.tests)), PLANTED),
        trainings=tuple(found),
        note="Made-up sets and checkpoints under the names of real ones, and tiny networks: elsewhere other words "
        "decide, and of the checkpoints the base one alone knows that they mean the same. It shows that the study runs "
        "and finds what is planted, and nothing about real sets or models.",
        chosen={"benchmarks": (), "planted": (300, 200, 200), "most_tested": 200, "most_foreign": 200, "draws": 300},
    )


def _desk() -> Scale:
    benchmarks = ("sst2_imdb", "stsb", "amazon_multidomain", "mnli", "yelp", "amazon", "record")
    fine_tuning = {"precision": "auto", "rows": 5_000, "changes": {"max_tokens": 128, "epochs": 2}}
    return Scale(
        # The news of another year stand in for those of 2016 where these are not at hand.
        sets={**_FOREIGN_SETS, "newstest": "newstest_part"},
        files={**_FILES, "Amazon multi-domain": "amazon_multidomain"},
        trainings=_trainings(
            benchmarks, _DESK_WORDS, {PRETRAINED: PRETRAINED}, 3, {"rows": 10_000, "changes": {"max_tokens": 128}},
            {PRETRAINED: fine_tuning},
        ),
        note="Word vectors that are trained here, on at most 10,000 rows, and a pretrained checkpoint on 5,000; 3 "
        "seeds, and at most 2,000 rows of a test set. Three kinds of product stand in for Amazon's seven where these "
        "are not at hand. The paper takes word2vec, GloVe and nine transformers on all rows.",
        chosen={"benchmarks": benchmarks, "most_tested": 2_000, "most_foreign": 1_000, "draws": 1_000},
    )  # fmt: skip


def _paper() -> Scale:
    benchmarks = ("sst2_imdb", "yelp", "amazon", "stsb", "record", "mnli")
    vectors = {name: {"vectors": "word2vec" if name.startswith("word2vec") else "GloVe"} for name in _WORDS}
    vectors.pop(BAG)
    vectors[READER] = {"vectors": "GloVe"}
    fine_tuning = {"changes": {"learning_rate": 2e-5, "batch_size": 8, "epochs": 3, "max_tokens": 128}}
    return Scale(
        sets=_FOREIGN_SETS,
        files={**_FILES, "word2vec": "word2vec", "GloVe": "glove"},
        trainings=_trainings(
            benchmarks, _WORDS, TRANSFORMERS, 1, {"configuration": "published"},
            {**vectors, **dict.fromkeys(TRANSFORMERS, fine_tuning)}, dev=True,
        ),
        note="As printed, and where the paper is silent as its released code: all rows, transformers at a rate of 2e-5 "
        "in batches of 8 for 3 epochs, once. DocQA is made anew, trained by Adam.",
        chosen={"benchmarks": benchmarks, "dev": True, "most_tested": 100_000, "most_foreign": 20_000, "draws": 1_000},
        strict=True,
    )  # fmt: skip


SCALES: Mapping[ScaleName, Scale] = {"smoke": _smoke(), "desk": _desk(), "paper": _paper()}
