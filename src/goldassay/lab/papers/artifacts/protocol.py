"""What is trained on a corpus: networks on all of it, on parts of it without patterns, and InferSent debiased.

Accuracies of many models on parts of one test set, and any sum or difference of them, with intervals.

What tables and conclusions of a corpus are made of: patterns, easy and hard examples, answers of all models.

Patterns mined from the training sets, and the training sets without them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.lab.papers.recipe import Training
from goldassay.questions.artifacts.gaps import classes_by_text
from goldassay.questions.artifacts.inputs import DEFAULT, Bounds, cut, mine_dataset, texts_for
from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment, assign_difficulty
from goldassay.questions.artifacts.measures.pattern_table import PatternTable
from goldassay.questions.artifacts.measures.presence import THRESHOLDS, downsample, sizes_by_threshold
from goldassay.questions.artifacts.subsets import ClassifierTable, classify
from goldassay.runs.reading import NoRunsError, find_slices, list_slices, runs_of
from goldassay.runs.run_parts import Request
from goldassay.stats.bootstrap import percentile_interval, resample_examples, resample_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.papers.recipe import Workplace


# As the printed tables call them.
ALL, DEBIAS, RANDOM = "all", "debias", "rand"
NETWORKS = {"InferSent": "infersent", "DAM": "dam", "ESIM": "esim"}
DEBIASED = "InferSent"

GUIDED, ADVERSARIAL = f"{DEBIASED}+Guidance", f"d{DEBIASED}"
ADVERSARIAL_GUIDED = f"{ADVERSARIAL}+Guidance"
REWEIGHTED = f"{ADVERSARIAL_GUIDED}+Reweight"
PRODUCT, MIXIN, CONFIDENCE = (f"{DEBIASED}+{name}" for name in ("product", "learned mixin", "confidence"))
# The paper's own, and three that others proposed.
# What the paper tries, and the settings of our objectives that each is.
GRID: Mapping[str, tuple[float, ...]] = {
    "alpha": (1, 3, 5, 10), "gamma": (0.5, 1, 3, 5), "lambda": (0.5, 0.6, 0.7, 0.8), "k": (1, 2, 3),
}  # fmt: skip
_SETTINGS_OF = {"alpha": ("alpha1", "alpha2"), "gamma": ("gamma",), "lambda": ("threshold",), "k": ("discriminators",)}
OF_THE_PAPER = (GUIDED, ADVERSARIAL, ADVERSARIAL_GUIDED, REWEIGHTED)
BESIDE = (PRODUCT, MIXIN, CONFIDENCE)


@dataclass(frozen=True)
class Corpus:
    """One of the two corpora, and what is done with it.

    Attributes:
        name: As the printed tables call it.
        test: The set that models are evaluated on, as this study calls it.
        printed: The one of the printed tables.
        threshold: Above which a pattern makes an example easy or hard.
        bounds: Of the mining; the least support is scaled to the training set (`questions.artifacts.choices`).
        published: By class, where its published examples may lie in the folder of data.
        others_hard: Name of the set of hard examples that others published, or None.
        dev: The set that decides the best epoch, or None to train all.
        networks: Trained on all rows and on parts; names as in `NETWORKS`.
        thresholds: Of the patterns that down-sampled training sets are without.
        variants: Debiased networks, and what is set for each.
        grid: The same with the other settings of the paper's search.
        further: Networks that are trained on all rows only, as `Training.models`.
        released: Models of others, by their column in a table of released answers on the test set.
    """

    name: str
    test: str
    printed: str
    threshold: float
    bounds: Bounds = DEFAULT
    published: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others_hard: str | None = None
    dev: str | None = None
    networks: tuple[str, ...] = tuple(NETWORKS)
    thresholds: tuple[float, ...] = ()
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    grid: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    further: Mapping[str, str] = field(default_factory=dict)
    released: Mapping[str, str] = field(default_factory=dict)

    @property
    def debiased(self) -> tuple[str, ...]:
        """Names of all debiased networks."""
        return (*self.variants, *self.grid)

    @property
    def train(self) -> str:
        """Its training set."""
        return f"{self.name} train"

    @property
    def mined(self) -> str:
        """The folder of its patterns, below that of the study."""
        return f"mined/{self.name}"

    def parts(self, samples: int) -> tuple[str, ...]:
        """All down-sampled training sets, with so many random ones of each size."""
        return tuple(
            name
            for threshold in self.thresholds
            for name in (self.part(DEBIAS, threshold), *(self.part(RANDOM, threshold, at) for at in range(samples)))
        )

    def part(self, mode: str, threshold: float, sample: int = 0) -> str:
        """A down-sampled training set."""
        which = f" {sample}" if mode == RANDOM else ""
        return f"{self.train} {mode} {threshold}{which}"


@dataclass(frozen=True)
class Protocol:
    """How often what is trained.

    Attributes:
        corpora: The corpora.
        seeds: Runs on all rows, and on each training set without patterns.
        samples: Random training sets of the same size.
        initializations: Runs on each of these.
    """

    corpora: tuple[Corpus, ...]
    seeds: int
    samples: int
    initializations: int

    def trainings(
        self, options: Mapping[str, Any], of: Mapping[str, Mapping[str, Any]], further: Mapping[str, Any] | None = None
    ) -> tuple[Training, ...]:
        """All trainings.

        Args:
            options: Keys of [training] for all of them.
            of: Further keys for single networks.
            further: Keys for the networks that see all rows only; `options` if there are none.
        """
        return tuple(
            training for corpus in self.corpora for training in self._of(corpus, options, of, further or options)
        )

    def searches(self, options: Mapping[str, Any], of: Mapping[str, Mapping[str, Any]]) -> tuple[Training, ...]:
        """The trainings of the grids, one seed each; the arguments are those of `trainings`."""
        return tuple(
            replace(self._debiased(each, each.grid, {**options, **({} if each.dev is None else {"dev": each.dev})}, of),
                    seeds=1)
            for each in self.corpora if each.grid
        )  # fmt: skip

    def _debiased(
        self,
        corpus: Corpus,
        variants: Mapping[str, Mapping[str, Any]],
        options: Mapping[str, Any],
        of: Mapping[str, Mapping[str, Any]],
    ) -> Training:
        single = {name: _joined(of.get(DEBIASED, {}), own) for name, own in variants.items()}
        models = dict.fromkeys(variants, NETWORKS[DEBIASED])
        return Training(corpus.train, (corpus.test,), models, self.seeds, options=options, of=single)

    def _of(
        self,
        corpus: Corpus,
        options: Mapping[str, Any],
        of: Mapping[str, Mapping[str, Any]],
        further: Mapping[str, Any],
    ) -> Iterator[Training]:
        tests, networks = (corpus.test,), {name: NETWORKS[name] for name in corpus.networks}
        chosen_by = {} if corpus.dev is None else {"dev": corpus.dev}
        options, further = {**options, **chosen_by}, {**further, **chosen_by}
        yield Training(corpus.train, tests, networks, self.seeds, options=options, of=of)
        for threshold in corpus.thresholds:
            yield Training(corpus.part(DEBIAS, threshold), tests, networks, self.seeds, options=options, of=of)
            for sample in range(self.samples):
                part, first = corpus.part(RANDOM, threshold, sample), sample * self.initializations
                seeds = tuple(range(first, first + self.initializations))
                yield Training(part, tests, networks, seeds, options=options, of=of)
        if corpus.variants:
            yield self._debiased(corpus, corpus.variants, options, of)
        if corpus.further:
            yield Training(corpus.train, tests, corpus.further, self.seeds, options=further, of=of)


def searched(
    chosen: Mapping[str, Mapping[str, Any]], tried: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, Any]]:
    """Debiased networks with each combination of the settings that the paper tries.

    Guided weights have alpha and lambda, the adversary gamma and k discriminators, both together gamma, alpha and
    lambda.

    Args:
        chosen: Of `variants`.
        tried: Values of alpha, gamma, lambda and k.
    """
    by = {GUIDED: ("alpha", "lambda"), ADVERSARIAL: ("gamma", "k"), ADVERSARIAL_GUIDED: ("gamma", "alpha", "lambda")}
    found = {}
    for name, keys in by.items():
        for values in product(*(tried[key] for key in keys)):
            changes = dict(chosen[name].get("objective_changes") or {})
            for key, value in zip(keys, values, strict=True):
                changes |= dict.fromkeys(_SETTINGS_OF[key], value)
            if name == GUIDED:
                # Without an adversary there is one weight.
                changes.pop("alpha1", None)
            own = {**chosen[name], "objective_changes": changes}
            if own != chosen[name]:
                point = "+".join(f"{key}={value:g}" for key, value in zip(keys, values, strict=True))
                found[f"{name}+{point}"] = own
    return found


def _joined(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A network's settings on top of shared ones; changes of its configuration are joined."""
    changes = {**(shared.get("changes") or {}), **(own.get("changes") or {})}
    return {**shared, **own, **({"changes": changes} if changes else {})}


def variants(
    corpus: str, *, adversarial: Mapping[str, Any], reweight: Mapping[str, Any], separate: bool = False
) -> dict[str, dict[str, Any]]:
    """The debiased networks, and what is set for each.

    Args:
        corpus: Whose patterns guide.
        adversarial: Settings of the objective that all adversarial ones share.
        reweight: And what reweighting adds.
        separate: Whether adversarial ones read premise and hypothesis with encoders of their own, the paper's E_p and
            E_h, so that what is taken from the hypothesis's stays in the premise's.
    """
    by_pattern = {"bias": f"mined/{corpus}"}
    against: dict[str, Any] = {"objective": "adversarial", "objective_changes": dict(adversarial)}
    against |= {"changes": {"separate": True}} if separate else {}
    by_probe = {"bias": "quick_probe"}
    return {
        GUIDED: {"objective": "guided_cross_entropy", **by_pattern},
        ADVERSARIAL: against,
        ADVERSARIAL_GUIDED: {**against, **by_pattern},
        REWEIGHTED: {
            **against, **by_pattern, "objective_changes": {**adversarial, "reweight": True, **reweight},
        },
        PRODUCT: {"objective": "product_of_experts", **by_probe},
        MIXIN: {"objective": "learned_mixin", **by_probe},
        CONFIDENCE: {"objective": "confidence_regularization", **by_probe},
    }  # fmt: skip


N_DRAWS, LEVEL = 2000, 0.95
FULL, EASY, HARD = "full", "easy", "hard"
SUBSETS = (FULL, EASY, HARD)
# How the printed tables call the difference, and the hard subset of Gururangan et al. 2018.
GAP, OTHERS_HARD = "easy-hard", "uw_cmu_hard"
_TERMS = {GAP: {EASY: 1.0, HARD: -1.0}, **{name: {name: 1.0} for name in (*SUBSETS, OTHERS_HARD)}}


class Trained(NamedTuple):
    """A model and what it was trained on, as the printed tables tell them apart.

    Attributes:
        model: Its name.
        threshold: Of the patterns that its training set is without, as text; "1.0" for all rows.
        mode: "all", "debias" or "rand".
    """

    model: str
    threshold: str = "1.0"
    mode: str = "all"


@dataclass(frozen=True)
class Figure:
    """An estimate.

    Attributes:
        value: A fraction.
        low: Lower end of its 95 % interval.
        high: Upper end.
        sd: Of the runs (ddof 1), where it is of one model and there are several; else None.
        n_runs: The fewest of the models in it.
    """

    value: float
    low: float
    high: float
    sd: float | None
    n_runs: int

    def scaled(self, by: float = 100.0) -> dict[str, float | int | None]:
        """As a cell of a table that prints points."""
        return {"ours": by * self.value, "low": by * self.low, "high": by * self.high, "n_runs": self.n_runs}


class Accuracies:
    """Correctness of models on N examples, some of them easy and some hard.

    An interval is of the bootstrap over examples, the same draw for all models, so that what they find hard together
    leaves their difference; and over the runs of each model by itself (`resampling.resample_runs`).

    Args:
        correct: By model, (R, N) in [0, 1].
        masks: By subset, "full", "easy", "hard", and "uw_cmu_hard" where it is known: which examples are in it, (N,).
        seed: Of the bootstrap.
    """

    def __init__(
        self, correct: Mapping[Trained, NDArray[np.float64]], masks: Mapping[str, NDArray[np.bool_]], seed: int = 0
    ) -> None:
        self.correct, self.masks, self.seed = dict(correct), dict(masks), seed

    def __contains__(self, model: Trained) -> bool:
        return model in self.correct

    def sizes(self) -> dict[str, int]:
        """How many examples each subset has."""
        return {name: int(mask.sum()) for name, mask in self.masks.items()}

    def fewest(self, subset: str) -> int:
        """How many examples a subset has, or the smaller of the two that a gap lies between."""
        return min(int(self.masks[name].sum()) for name in _TERMS[subset])

    def of(self, model: Trained, subset: str) -> Figure | None:
        """Accuracy of a model on a subset, or its gap; None where the subset is empty or the model not there."""
        return self.sum({model: 1.0}, subset)

    def difference(self, one: Trained, other: Trained, subset: str) -> Figure | None:
        """That of one model minus that of another."""
        return self.sum({one: 1.0, other: -1.0}, subset)

    def mean_difference(self, pairs: list[tuple[Trained, Trained]], subset: str) -> Figure | None:
        """The mean of `difference` over pairs of models."""
        weights: dict[Trained, float] = {}
        for one, other in pairs:
            weights[one] = weights.get(one, 0.0) + 1 / len(pairs)
            weights[other] = weights.get(other, 0.0) - 1 / len(pairs)
        return self.sum(weights, subset)

    def sum(self, weights: Mapping[Trained, float], subset: str) -> Figure | None:
        """sum_m w_m a_m, a_m the accuracy of model m on the subset, or its accuracy on easy minus that on hard."""
        parts = _TERMS[subset]
        if not weights or any(model not in self for model in weights):
            return None
        if not all(self.masks[name].any() for name in parts):
            return None
        value, draws = 0.0, np.zeros(N_DRAWS)
        # As every accuracy is from 0 to 1, so is their sum from here to there.
        least = most = 0.0
        for model, weight in weights.items():
            for name, sign in parts.items():
                value += weight * sign * float(self._means[name][model].mean())
                draws += weight * sign * self._draws[name][model]
                least, most = least + min(weight * sign, 0.0), most + max(weight * sign, 0.0)
        bounds = percentile_interval(draws, LEVEL)
        sizes = [len(self.correct[model]) for model in weights]
        return Figure(value, max(bounds.low, least), min(bounds.high, most), self._spread(weights, parts), min(sizes))

    def _spread(self, weights: Mapping[Trained, float], parts: Mapping[str, float]) -> float | None:
        """SD over the runs of a single model."""
        if len(weights) > 1:
            return None
        model = next(iter(weights))
        runs = np.sum([sign * self._means[name][model] for name, sign in parts.items()], axis=0)
        return float(runs.std(ddof=1)) if runs.size > 1 else None

    @cached_property
    def _means(self) -> dict[str, dict[Trained, NDArray[np.float64]]]:
        """Accuracy of each run on each subset that has examples."""
        return {
            name: {model: rows[:, mask].mean(axis=1) for model, rows in self.correct.items()}
            for name, mask in self.masks.items()
            if mask.any()
        }

    @cached_property
    def _draws(self) -> dict[str, dict[Trained, NDArray[np.float64]]]:
        """Draws of each model's accuracy on each subset, (B,)."""
        rng = np.random.default_rng(self.seed)
        weights = {model: resample_runs(len(rows), rng, N_DRAWS) for model, rows in self.correct.items()}
        every = np.concatenate(list(self.correct.values()))
        ends = np.cumsum([len(rows) for rows in self.correct.values()])[:-1]
        drawn = {
            name: np.split(resample_examples(every[:, mask], rng, N_DRAWS), ends, axis=1)
            for name, mask in self.masks.items()
            if mask.any()
        }
        return {
            name: {model: (weights[model] * part).sum(axis=1) for model, part in zip(self.correct, parts, strict=True)}
            for name, parts in drawn.items()
        }


_RELEASED = "predictions/snli_test_other_models.tsv.gz"


@dataclass(frozen=True)
class Evidence:
    """What is known of a corpus.

    Attributes:
        corpus: The corpus.
        train: Its training set.
        test: The set that models are evaluated on.
        patterns: Mined from the training set, not cut.
        assigned: The test set's examples, easy and hard by these patterns.
        published: Whether accuracies are on the published easy and hard examples instead.
        accuracies: Of all models, on these.
        classifiers: What sees the hypothesis alone.
        sizes: What down-sampling leaves at each printed threshold.
        released: Models of others among those of `accuracies`.
    """

    corpus: Corpus
    train: Dataset
    test: Dataset
    patterns: PatternTable
    assigned: DifficultyAssignment
    published: bool
    accuracies: Accuracies
    classifiers: ClassifierTable
    sizes: pl.DataFrame
    released: tuple[str, ...]


def gather(corpus: Corpus, protocol: Protocol, work: Workplace) -> Evidence:
    """Find out what there is to know of a corpus.

    Raises:
        InputError: The runs are not of the test set.
    """
    train, test, patterns = work.sets[corpus.train], work.sets[corpus.test], mined_patterns(corpus, work)
    texts, labels = texts_for(test, patterns), test.examples["label"].to_list()
    assigned = assign_difficulty(texts, labels, cut(patterns, corpus.threshold))
    listed = _published(corpus, test, work)
    classes = assigned.classes if listed is None else listed
    masks = {FULL: np.ones(len(test), np.bool_), **{name: classes == name for name in (EASY, HARD)}}
    if corpus.others_hard in work.sets:
        others = classes_by_text({OTHERS_HARD: work.sets[corpus.others_hard]}, test)
        masks[OTHERS_HARD] = np.isin(_ids(test), others["example_id"].cast(pl.String).to_numpy())
    released = _released(corpus, test, work)
    correct = {**_of_runs(corpus, protocol, test, work.runs), **released}
    return Evidence(
        corpus=corpus,
        train=train,
        test=test,
        patterns=patterns,
        assigned=assigned,
        published=listed is not None,
        accuracies=Accuracies(correct, masks, work.seed),
        classifiers=classify(train, test, corpus.bounds, range(protocol.seeds)),
        sizes=sizes_by_threshold(train, patterns, THRESHOLDS, texts=texts_for(train, patterns)),
        released=tuple(each.model for each in released),
    )


def _published(corpus: Corpus, test: Dataset, work: Workplace) -> NDArray[np.str_] | None:
    """The class of each example by the published lists; None where they are not at hand."""
    files = {name: work.file(*places) for name, places in corpus.published.items()}
    there = {name: file for name, file in files.items() if file is not None}
    if not there or len(there) < len(files):
        return None
    listed = dict(classes_by_text(there, test).select(pl.col("example_id").cast(pl.String), "class").iter_rows())
    return np.array([listed.get(name, "") for name in _ids(test)])


def _of_runs(corpus: Corpus, protocol: Protocol, test: Dataset, runs: Path) -> dict[Trained, NDArray[np.float64]]:
    """Correctness by what was trained: a row a run; of random training sets a row a set, the mean of its runs.

    Runs on one random set share it, so that they are not as many as they look.
    """
    try:
        found = find_slices([runs], "auto", Request())
    except NoRunsError:
        return {}
    keys = ["model", "dataset", "train_set"]
    listed = list_slices(found).filter(pl.col("dataset") == corpus.test).select(keys)
    there = {
        (row["model"], row["train_set"]): _correct(runs_of(found, row, checkpoint="last").final(), test)
        for row in listed.to_dicts()
    }
    correct = {}
    for model in listed["model"].unique(maintain_order=True):
        if (model, corpus.train) in there:
            correct[Trained(model, "1.0", ALL)] = there[model, corpus.train]
        for threshold in corpus.thresholds:
            rows = there.get((model, corpus.part(DEBIAS, threshold)))
            if rows is not None:
                correct[Trained(model, str(threshold), DEBIAS)] = rows
            parts = [(model, corpus.part(RANDOM, threshold, sample)) for sample in range(protocol.samples)]
            samples = [there[part].mean(axis=0) for part in parts if part in there]
            if samples:
                correct[Trained(model, str(threshold), RANDOM)] = np.stack(samples)
    return correct


def _correct(runs: Any, test: Dataset) -> NDArray[np.float64]:
    """Correctness of runs in the order of the test set, (R, N)."""
    place = {name: at for at, name in enumerate(runs.example_ids.tolist())}
    missing = [name for name in _ids(test) if name not in place]
    if missing:
        raise InputError(
            f"runs of {runs.model} on {runs.dataset} lack {len(missing)} of its examples, first {missing[0]!r}",
            mend="choose another folder with -o",
        )
    scores: NDArray[np.float64] = runs.scores[:, [place[name] for name in _ids(test)]]
    return scores


def _released(corpus: Corpus, test: Dataset, work: Workplace) -> dict[Trained, NDArray[np.float64]]:
    """Correctness of models of others, a run each, where their answers are at hand and of this test set."""
    file = work.file(_RELEASED)
    if file is None or not corpus.released:
        return {}
    # Sentences are not among its columns, so that quotation marks cannot mislead.
    table = pl.read_csv(file.read_bytes(), separator="\t", infer_schema=False)
    gold = test.examples["label"].cast(pl.String).to_list()
    if table["gold_label"].to_list() != gold:
        raise InputError(
            f"its labels are not those of {test.name}, in order", file=file, mend="give the test set that it is of"
        )
    return {
        Trained(model): np.array([[said == right for said, right in zip(table[column], gold, strict=True)]], np.float64)
        for model, column in corpus.released.items()
    }


def _ids(dataset: Dataset) -> list[str]:
    names: list[str] = dataset.examples["example_id"].cast(pl.String).to_list()
    return names


def gap_rows(evidence: Mapping[str, Evidence]) -> pl.DataFrame:
    """Accuracy of all models on full, easy and hard, and the gap, each with its interval and SD over runs."""
    rows = []
    for name, each in evidence.items():
        for model in each.accuracies.correct:
            row: dict[str, Any] = {"corpus": name, "test": each.test.name, **model._asdict()}
            for subset in (*SUBSETS, GAP):
                figure = each.accuracies.of(model, subset)
                key = "gap" if subset == GAP else subset
                for part in ("value", "low", "high", "sd"):
                    column = key if part == "value" else f"{key}_{part}"
                    row[column] = None if figure is None else getattr(figure, part)
                row["n_runs"] = len(each.accuracies.correct[model])
            rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


# Where bias models look for them; see `lab.training.teachers`.
FILE = "patterns.parquet"


def mine_corpus(corpus: Corpus, work: Workplace) -> PatternTable:
    """Mine a corpus's hypotheses into the study's folder, where objectives find the patterns.

    Raises:
        OutputError: The folder cannot be written to.
    """
    # The paper cuts by shares alone; p and q are those of its method.
    patterns = mine_dataset(work.sets[corpus.train], replace(corpus.bounds, clusters="none"))
    patterns.write(work.folder / corpus.mined / FILE)
    return patterns


def mined_patterns(corpus: Corpus, work: Workplace) -> PatternTable:
    """What `mine_corpus` mined.

    Raises:
        InputError: It is not there.
    """
    return PatternTable.read(work.folder / corpus.mined / FILE)


def reduce_corpus(corpus: Corpus, protocol: Protocol, patterns: PatternTable, work: Workplace) -> dict[str, Dataset]:
    """The training sets of a corpus without patterns, and random ones of the same sizes, by name.

    Raises:
        InputError: Nothing is left of a label.
    """
    whole = work.sets[corpus.train]
    texts = texts_for(whole, patterns)
    found = {}
    for threshold in corpus.thresholds:
        kept = cut(patterns, threshold)
        name = corpus.part(DEBIAS, threshold)
        found[name] = replace(downsample(whole, kept, "debias", work.seed, texts=texts), name=name)
        for sample in range(protocol.samples):
            name = corpus.part(RANDOM, threshold, sample)
            found[name] = replace(downsample(whole, kept, "random", work.seed + sample, texts=texts), name=name)
    return found
