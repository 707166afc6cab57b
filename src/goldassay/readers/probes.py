"""Train quick probes: every condition, every seed, one run each.

A small network on which patterns a sentence holds.
"""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.cores import cores
from goldassay.core.errors import InputError, option
from goldassay.core.progress import Progress, silent
from goldassay.readers.conditions import conditions_of, labels_named_in, roles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from goldassay.data.dataset import Dataset
    from goldassay.readers.probe_features import ProbeFeatures
    from goldassay.readers.quick_probe import QuickProbe
    from goldassay.runs.runs import Runs


MAX_ROWS = 1_000_000
# Rows times labels: what is kept for each row and label bounds memory where there are hundreds of labels.
MAX_CELLS = 100_000_000


def train_probes(
    train: Dataset,
    test: Dataset,
    *,
    conditions: Sequence[str] | None = None,
    seeds: Sequence[int] = range(5),
    n_jobs: int | None = None,
    progress: Progress = silent,
    extra_tests: Sequence[Dataset] = (),
    max_rows: int = MAX_ROWS,
    probe: QuickProbe | None = None,
    folds: NDArray[np.int64] | None = None,
) -> Iterator[Runs]:
    """Train a probe for each condition and seed; yield what it predicts as soon as it is there.

    Texts are hashed once, and their features serve all conditions and seeds. The seed draws a bootstrap of the
    training rows and their order; with folds it decides the order alone, and a run is of as many probes as folds. The
    order of what is yielded is conditions, then seeds, then test sets, and each run is the same whatever `n_jobs`.

    The fits run in threads, not processes: the compiled passes let go of Python's lock, so that threads keep all cores
    busy, share the features, start at once, and leave no process behind when interrupted.

    Args:
        train: What to train on.
        test: What to predict; the runs' `split` is "test".
        conditions: Some of `conditions_of(train.text_columns)`; all of them if not given.
        seeds: One run each.
        n_jobs: Threads; as many as there are cores if not given.
        progress: Told after each fit.
        extra_tests: Further datasets to predict with the same probes; each gives runs of its own. Where one has coarser
            labels, its runs tell these and have no logits; see `coarsening`.
        max_rows: Of a larger training set a random subset of so many rows is used, the same for all conditions
            and seeds, so that time and memory stay bounded; with more than 100 labels of fewer rows, so that rows times
            labels are 100,000,000 at most.
        probe: The probe; the default one if not given.
        folds: The fold of each training row, (N,): `test` is then the training set, each row of it is predicted by a
            probe of the rows of the other folds, and each of a further set by the probe of one fold, drawn at random.

    Yields:
        Runs of one run (R = 1), with logits, for one condition, seed and test set.

    Raises:
        InputError: The training set has no labels or only one; a test label is unknown to it; a test set has
            other text roles; a condition does not apply; the same seed is given twice.
    """
    from goldassay.readers.quick_probe import QuickProbe

    tests = (test, *extra_tests)
    names = tuple(conditions) if conditions is not None else conditions_of(train.text_columns)
    shown = {condition: roles_of(condition, train.text_columns) for condition in names}
    _check(train, tests, seeds)
    plan = _Plan(train, tests, shown, tuple(seeds), max_rows, probe or QuickProbe(), folds)
    return _run(plan, n_jobs or cores(), progress)


def describe_probe(train: Dataset, max_rows: int = MAX_ROWS, *, by_folds: bool = False) -> str:
    """What the probes of `train_probes` are, and on what they are trained, in a clause for a report."""
    from goldassay.readers.quick_probe import QuickProbe

    what = QuickProbe().describe(len(train.text_columns) > 1)
    if by_folds:
        return f"{what}, one for each fold of the {len(train):,} rows, trained on the other folds"
    rows, most = f"the {len(train):,}", _most_rows(train, max_rows)
    if len(train) > most:
        rows = f"a fixed random {most:,} of the {len(train):,}"
    return f"{what}, trained on a bootstrap of {rows} training rows"


@dataclass(frozen=True)
class _Plan:
    train: Dataset
    tests: tuple[Dataset, ...]
    roles: dict[str, tuple[str, ...]]
    seeds: tuple[int, ...]
    max_rows: int
    probe: QuickProbe
    folds: NDArray[np.int64] | None

    def fit(
        self,
        features: ProbeFeatures,
        labels: NDArray[np.int64],
        condition: str,
        seed: int,
        checkpoint: Callable[[], None],
    ) -> NDArray[np.float32]:
        """Logits of the rows of all test sets, one set after the other."""
        from goldassay.readers.quick_probe import Others

        n_classes, roles = len(self.train.label_names), self.roles[condition]
        rest = np.arange(labels.size, len(features.sizes))
        if self.folds is None:
            fitted = self.probe.fit(features, labels, n_classes, seed, roles=roles, checkpoint=checkpoint)
            return fitted.logits(features, rest)
        filled = np.unique(self.folds)
        asked_of = filled[np.random.default_rng(seed).permutation(rest.size) % filled.size]
        found = self.probe.cross_fit(
            features, labels, n_classes, seed, folds=self.folds, roles=roles, checkpoint=checkpoint,
            others=Others(rest, asked_of),
        )  # fmt: skip
        return np.concatenate([found.logits, found.others])


def _run(plan: _Plan, n_jobs: int, progress: Progress) -> Iterator[Runs]:
    from goldassay.readers.probe_features import build_features, tokenize_roles

    train = plan.train if plan.folds is not None else _at_most(plan.train, _most_rows(plan.train, plan.max_rows))
    labels = train.labels()
    target = [_target_labels(test, plan.train.label_names) for test in plan.tests]
    parts = (train, *plan.tests[plan.folds is not None :])
    # Where no probe sees two texts, nothing is made of pairs of them.
    alone = all(len(roles) == 1 for roles in plan.roles.values())
    seen = list(dict.fromkeys(plan.roles.values())) if alone else [train.text_columns]
    # Nothing needs the tokens once there are features.
    texts = {
        roles: tokenize_roles({role: pl.concat(part.column(role) for part in parts) for role in roles})
        for roles in seen
    }

    stopped = threading.Event()

    def checkpoint() -> None:
        if stopped.is_set():
            raise CancelledError

    def build(roles: tuple[str, ...]) -> ProbeFeatures:
        return build_features(texts.pop(roles), labels.size, checkpoint=checkpoint)

    def fit(features: Future[ProbeFeatures], condition: str, seed: int) -> NDArray[np.float32]:
        # Features are queued before all fits, so this never waits for work that has not begun.
        return plan.fit(features.result(), labels, condition, seed, checkpoint)

    pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="probe")
    try:
        features = {roles: pool.submit(build, roles) for roles in seen}
        fits = [
            (condition, seed, pool.submit(fit, features[roles if alone else seen[0]], condition, seed))
            for condition, roles in plan.roles.items()
            for seed in plan.seeds
        ]
        for done, (condition, seed, future) in enumerate(fits, start=1):
            logits = _await(future)
            progress(done, len(fits))
            start = 0
            for test, in_words in zip(plan.tests, target, strict=True):
                part = logits[start : start + len(test)]
                yield _to_runs(plan, test, in_words, condition, seed, part)
                start += len(test)
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _await(future: Future[NDArray[np.float32]]) -> NDArray[np.float32]:
    # Where the system hands Ctrl-C to a working thread, the main one only notices when it wakes by itself.
    while not wait((future,), timeout=0.1).done:
        pass
    return future.result()


@dataclass(frozen=True)
class _TargetLabels:
    """How answers on a test set are told.

    Attributes:
        label_names: The labels in which they are, those of the training set unless the set has coarser ones.
        codes: Which of these each label of the training set stands for, (K,).
        gold: The right ones, (N,).
        example_ids: Names of the examples, (N,).
        groups: Of each group the value of each example, (N,).
    """

    label_names: tuple[str, ...]
    codes: NDArray[np.int64]
    gold: NDArray[np.int64]
    example_ids: NDArray[np.str_]
    groups: dict[str, NDArray[np.str_]]


def _target_labels(test: Dataset, label_names: tuple[str, ...]) -> _TargetLabels:
    names, codes = labels_named_in(label_names, test.label_names)
    groups = {name: np.array(test.examples[name].cast(str).fill_null("").to_list()) for name in test.groups}
    return _TargetLabels(
        names, codes, _gold_codes(test, names), np.array(test.examples["example_id"].to_list()), groups
    )


def _to_runs(
    plan: _Plan,
    test: Dataset,
    target: _TargetLabels,
    condition: str,
    seed: int,
    logits: NDArray[np.float32],
) -> Runs:
    from goldassay.runs.runs import Runs

    # Logits of three labels are none of two.
    merged = target.label_names != plan.train.label_names
    return Runs.from_arrays(
        predictions=target.codes[logits.argmax(axis=1)][np.newaxis] if merged else None,
        gold=target.gold,
        logits=None if merged else logits[np.newaxis],
        seeds=np.array([seed]),
        label_names=target.label_names,
        example_ids=target.example_ids,
        groups=target.groups,
        model=plan.probe.name,
        dataset=test.name,
        condition=condition,
        split="test",
        train_set=plan.train.name,
    )


def _most_rows(train: Dataset, max_rows: int) -> int:
    return min(max_rows, MAX_CELLS // len(train.label_names))


def _at_most(train: Dataset, max_rows: int) -> Dataset:
    if len(train) <= max_rows:
        return train
    # A fixed draw: what a seed's run is must not depend on which other seeds were asked for.
    rows = np.sort(np.random.default_rng(0).choice(len(train), max_rows, replace=False))
    return train.take(rows)


def _gold_codes(test: Dataset, label_names: tuple[str, ...]) -> NDArray[np.int64]:
    codes = {name: code for code, name in enumerate(label_names)}
    unknown = sorted(set(test.label_names) - set(label_names))
    names = np.array([codes.get(name, -1) for name in test.label_names], dtype=np.int64)
    gold = names[test.labels()]
    if np.any(gold < 0):
        raise InputError(
            f"test set {test.name!r} has labels that the training set lacks: {', '.join(unknown)}",
            mend="map them to the training labels or drop their rows",
        )
    return gold


def _check(train: Dataset, tests: Sequence[Dataset], seeds: Sequence[int]) -> None:
    if len(set(seeds)) < len(seeds):
        raise InputError("the same seed is given twice", mend="give each seed once")
    if np.unique(train.labels()).size < 2:
        raise InputError(f"training set {train.name!r} has one class only", mend="give rows of two labels or more")
    for test in tests:
        _target_labels(test, train.label_names)
        if test.text_columns != train.text_columns:
            raise InputError(
                f"test set {test.name!r} has the texts {', '.join(test.text_columns)}, "
                f"the training set {', '.join(train.text_columns)}",
                mend=f"name the columns alike with {option('columns', 'role=name,...')}",
            )


def has_numbers(dataset: Dataset) -> bool:
    """Whether a dataset's labels are numbers."""
    labels = dataset.examples.get_column("label", default=None)
    return labels is not None and labels.dtype.is_float()


def numbers_of(dataset: Dataset) -> NDArray[np.float64]:
    """Labels as they are, (N,); whole numbers that were read as classes are numbers too.

    Raises:
        InputError: One is no number.
    """
    numbers = as_numbers(dataset)
    if numbers is None:
        raise other_kind(dataset, "classes", "numbers")
    return numbers.to_numpy().astype(np.float64)


def as_numbers(dataset: Dataset) -> pl.Series | None:
    """Labels as numbers, whole ones that were taken for classes among them; None where some are none."""
    numbers = dataset.examples["label"].cast(pl.Float64, strict=False)
    return None if numbers.null_count() or not numbers.is_finite().all() else numbers


def gold_codes(dataset: Dataset, label_names: tuple[str, ...]) -> NDArray[np.int64]:
    """Labels as codes of the training set's labels, (N,).

    Raises:
        InputError: A label is not among them.
    """
    unknown = sorted(set(dataset.label_names) - set(label_names))
    if unknown:
        raise InputError(
            f"there are labels that the training set lacks ({', '.join(unknown)})",
            file=dataset.source,
            mend="map them to the training labels, or drop their rows",
        )
    codes = np.array([label_names.index(name) for name in dataset.label_names], dtype=np.int64)
    return codes[dataset.labels()]


def closeness(
    predictions: NDArray[np.float64], labels: NDArray[np.float64], span: tuple[float, float]
) -> NDArray[np.float64]:
    """1 - |prediction - label| / (highest - lowest), not below 0, (..., N): how right predicted numbers are."""
    reach = span[1] - span[0] or 1.0
    return np.clip(1 - np.abs(predictions - labels) / reach, 0.0, 1.0)


def other_kind(dataset: Dataset, own: str, wanted: str) -> InputError:
    """That the labels are of one kind ("numbers", "classes"), and those of the training data of another."""
    return InputError(
        f"its labels are {own}, those of the training data are {wanted}",
        file=dataset.source,
        mend=f"give a file of the same task; {dataset.other_label()}",
    )


@dataclass(frozen=True)
class PatternMLP:
    """One hidden layer of rectified units on binary features, stopped early on a tenth of the training rows.

    The published classifier's size is not stated; one layer of 100 units is our choice. A sentence without a pattern
    is a zero vector, for which the biases decide. The seed draws weights, order and the tenth held out.

    Attributes:
        n_hidden: Units.
        max_epochs: Most passes over the training rows.
        patience: Passes without a gain on the tenth after which to stop.

    Source: Liu et al. 2020; Kingma and Ba 2015 (Adam, which trains it).
    """

    n_hidden: int = 100
    max_epochs: int = 100
    patience: int = 5

    def predict(
        self, train: sparse.csr_matrix, labels: NDArray[np.int64], test: sparse.csr_matrix, seed: int
    ) -> NDArray[np.int64]:
        """Train, and predict codes for the test rows, (N,).

        Without any feature the most frequent label is predicted, as the biases would.

        Args:
            train: (N_train, V).
            labels: Codes, (N_train,).
            test: (N, V).
            seed: Of everything drawn.

        Raises:
            InputError: There are too few rows of a label to hold a tenth out.
            KeyboardInterrupt: It was interrupted.
        """
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPClassifier

        if train.shape[1] == 0:
            return np.full(test.shape[0], np.bincount(labels).argmax(), np.int64)
        if labels.size < 20 or np.bincount(labels)[np.unique(labels)].min() < 2:
            raise InputError("there are too few rows to hold a tenth out", mend="give at least 20, two of each label")
        model = MLPClassifier(
            hidden_layer_sizes=(self.n_hidden,),
            max_iter=self.max_epochs,
            early_stopping=True,
            n_iter_no_change=self.patience,
            random_state=seed,
        )
        with warnings.catch_warnings():
            # That the last pass was still a gain is no fault of the data.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # An interruption is only warned of there, and a network half trained would go on as a whole one.
            warnings.filterwarnings("error", "Training interrupted by user")
            try:
                model.fit(train, labels)
            except UserWarning as stopped:
                raise KeyboardInterrupt from stopped
        return np.asarray(model.predict(test), np.int64)
