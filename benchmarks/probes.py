"""Quick probes beside other readers of the same rows: accuracy, log loss, calibration, time and memory, in one run.

    GOLDASSAY_DATA=DIR python benchmarks/probes.py [--seeds 5] [--peer-seeds 1] [--sets snli,mnli,...] [--peers FOLDER]

Readers, each on the same bootstrap of the training rows:

- quick probe: eight penalties, eight passes, penalty and calibration chosen out of bag;
- former probe: what the quick probe was before, scikit-learn's averaged stochastic gradient descent, three penalties,
  eight passes, on the same features;
- LogisticRegression: scikit-learn's L-BFGS with its default penalty, on the same features;
- fastText: words and word pairs, each word marked with its text; it knows no crossed words;
- Vowpal Wabbit: words and word pairs of each text, words of both texts crossed, one logistic regression a class,
  eight passes.

fastText and Vowpal Wabbit are looked for in the environment and in FOLDER (the site-packages of another one); where
they are not found, that is printed. Each fit runs in a process of its own, so that its peak of memory beyond the data
is known; readers take turns seed by seed, so that a busy machine is busy for all. Seconds are of processor time.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.dataset import Dataset
from goldassay.data.reading import read_dataset
from goldassay.readers.probe_features import ProbeFeatures, build_features, tokenize_roles
from goldassay.readers.quick_probe import QuickProbe, _stratified_bootstrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = ("snli", "mnli", "sick", "hans", "imdb", "sst2")
FORMER_PENALTIES, FORMER_PASSES = (1e-3, 1e-4, 1e-5), 8
VW_PASSES = 8
N_BINS = 15


@dataclass(frozen=True)
class Rows:
    """Training rows and then test rows of a set: texts by role, features, labels of both."""

    texts: dict[str, list[str]]
    features: ProbeFeatures
    labels: NDArray[np.int64]
    gold: NDArray[np.int64]
    n_classes: int


def read_set(name: str) -> tuple[Dataset, Dataset]:
    if name == "sick":
        parts = read_dataset(DATA / "sick" / "SICK.txt.gz").parts
        return parts["train"], parts["test"]
    if name == "imdb":
        return tuple(_joined([f"imdb/{part}_neg.tsv.gz", f"imdb/{part}_pos.tsv.gz"]) for part in ("train", "test"))
    if name == "sst2":
        train, test = read_dataset(DATA / "sst2/train.tsv.gz"), read_dataset(DATA / "sst2/test_labelled.tsv.gz")
        words = {"0": "negative", "1": "positive"}
        frame = train.examples.with_columns(pl.col("label").replace_strict(words))
        names = tuple(words[each] for each in train.label_names)
        return Dataset(frame, train.text_columns, names, train.name), test
    files = {
        "snli": ("snli/train_sample_18k.tsv.gz", "snli/test_9824.tsv.gz"),
        "mnli": ("multinli/train_sample_10k.tsv.gz", "multinli/dev_matched.tsv.gz"),
        "hans": ("hans/heuristics_train_set.tsv.gz", "hans/heuristics_evaluation_set_shuffled.tsv.gz"),
    }
    train, test = (read_dataset(DATA / file) for file in files[name])
    return train, test


def _joined(files: list[str]) -> Dataset:
    parts = [read_dataset(DATA / file, columns={"text": "text", "label": "label"}) for file in files]
    frames = [each.examples.select("text", pl.col("label").cast(pl.String)) for each in parts]
    rows = pl.concat(frames).with_row_index("example_id").with_columns(pl.col("example_id").cast(pl.String))
    return Dataset(rows, ("text",), ("neg", "pos"), "imdb")


def read_rows(name: str) -> tuple[Rows, float, float]:
    """The rows, and the seconds of processor time that tokens and features took."""
    train, test = read_set(name)
    texts = {role: [*train.texts(role), *other] for role, other in zip(
        train.text_columns, (test.texts(role) for role in test.text_columns), strict=True
    )}  # fmt: skip
    codes = np.array([train.label_names.index(each) for each in test.label_names])
    start = time.process_time()
    tokens = tokenize_roles(texts)
    middle = time.process_time()
    features = build_features(tokens, len(train))
    end = time.process_time()
    rows = Rows(texts, features, train.labels(), codes[test.labels()], len(train.label_names))
    return rows, middle - start, end - middle


def ours(rows: Rows, seed: int) -> tuple[float, NDArray[Any], int]:
    probe = QuickProbe()
    start = time.process_time()
    fitted = probe.fit(rows.features, rows.labels, rows.n_classes, seed)
    seconds = time.process_time() - start
    tested = np.arange(rows.labels.size, rows.labels.size + rows.gold.size)
    n_passes = len(probe.penalties) * probe.n_passes
    if rows.features.families is not None:
        # Two thirds of the families try penalties, and all are then fitted once.
        n_passes = 2 * n_passes // 3 + probe.n_passes
    return seconds, fitted.logits(rows.features, tested), n_passes


def drawn(rows: Rows, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bootstrap's rows, in random order, and those left out."""
    rng = np.random.default_rng(seed)
    counts = _stratified_bootstrap(rows.labels, rng)
    return rng.permutation(np.repeat(np.arange(counts.size), counts)), np.flatnonzero(counts == 0)


def former(rows: Rows, seed: int) -> tuple[float, NDArray[Any], int]:
    from sklearn.linear_model import SGDClassifier

    matrix = rows.features.matrix()
    chosen, left = drawn(rows, seed)
    start = time.process_time()
    train, gold = matrix[chosen], rows.labels[chosen]
    best: tuple[float, Any] = (-1.0, None)
    for penalty in FORMER_PENALTIES:
        model = SGDClassifier(
            loss="log_loss", alpha=penalty, average=True, max_iter=FORMER_PASSES, tol=None, random_state=seed
        ).fit(train, gold)
        accuracy = float(np.mean(model.predict(matrix[left]) == rows.labels[left]))
        if accuracy > best[0]:
            best = (accuracy, model)
    seconds = time.process_time() - start
    margins = best[1].decision_function(matrix[rows.labels.size :])
    if margins.ndim == 1:
        margins = np.stack([-margins, margins], axis=1)
    return seconds, -np.logaddexp(0.0, -margins), len(FORMER_PENALTIES) * FORMER_PASSES


def logistic(rows: Rows, seed: int) -> tuple[float, NDArray[Any], int]:
    from sklearn.linear_model import LogisticRegression

    matrix = rows.features.matrix()
    chosen, _ = drawn(rows, seed)
    start = time.process_time()
    model = LogisticRegression(max_iter=200).fit(matrix[chosen], rows.labels[chosen])
    seconds = time.process_time() - start
    return seconds, model.predict_log_proba(matrix[rows.labels.size :]), int(np.max(model.n_iter_))


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else f" {c} " for c in text.lower()).split()


def fast_text(rows: Rows, seed: int) -> tuple[float, NDArray[Any], int]:
    import fasttext

    lines = [
        " ".join(f"{role[0]}_{word}" for role, text in zip(rows.texts, texts, strict=True) for word in _words(text))
        for texts in zip(*rows.texts.values(), strict=True)
    ]
    chosen, _ = drawn(rows, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        path.write_text("".join(f"__label__{rows.labels[i]} {lines[i]}\n" for i in chosen), encoding="utf-8")
        start = time.process_time()
        model = fasttext.train_supervised(
            str(path), wordNgrams=2, epoch=5, lr=0.5, dim=20, seed=seed, thread=1, verbose=0
        )
        seconds = time.process_time() - start
    logits = np.full((rows.gold.size, rows.n_classes), -30.0)
    for i, line in enumerate(lines[rows.labels.size :]):
        for probability, label in model.f.predict(f"{line}\n", rows.n_classes, 0.0, "strict"):
            logits[i, int(label.removeprefix("__label__"))] = np.log(max(probability, 1e-13))
    return seconds, logits, 5


def vowpal_wabbit(rows: Rows, seed: int) -> tuple[float, NDArray[Any], int]:
    from vowpalwabbit import Workspace

    safe = str.maketrans({":": "<colon>", "|": "<bar>"})
    lines = [
        " ".join(
            f"|{role[0]} {' '.join(_words(text.translate(safe)))}" for role, text in zip(rows.texts, texts, strict=True)
        )
        for texts in zip(*rows.texts.values(), strict=True)
    ]
    chosen, _ = drawn(rows, seed)
    crossed = f"-q {''.join(role[0] for role in rows.texts)}" if len(rows.texts) > 1 else ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        path.write_text("".join(f"{rows.labels[i] + 1} {lines[i]}\n" for i in chosen), encoding="utf-8")
        start = time.process_time()
        model = Workspace(
            f"-d {path} --oaa {rows.n_classes} --loss_function logistic --probabilities --ngram 2 {crossed} -b 22 "
            f"--passes {VW_PASSES} -c -k --cache_file {folder}/cache --holdout_off --quiet --random_seed {seed}"
        )
        seconds = time.process_time() - start
        shares = np.array([model.predict(line) for line in lines[rows.labels.size :]], dtype=np.float64)
        model.finish()
    return seconds, np.log(np.maximum(shares, 1e-13)), VW_PASSES


def measures(logits: NDArray[Any], gold: NDArray[np.int64]) -> tuple[float, float, float]:
    """Accuracy, mean negative log-probability (natural), expected calibration error in 15 bins of equal width."""
    z = logits.astype(np.float64)
    shares = np.exp(z - z.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    right, sure = shares.argmax(axis=1) == gold, shares.max(axis=1)
    place = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(place, right - sure, N_BINS)
    loss = -np.log(np.maximum(shares[np.arange(gold.size), gold], 1e-13)).mean()
    return float(right.mean()), float(loss), float(np.abs(gaps).sum() / gold.size)


def _apart(reader: Callable[..., Any], rows: Rows, seed: int, pipe: Any) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, logits, n_passes = reader(rows, seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    pipe.send((*measures(logits, rows.gold), seconds, rows.labels.size * n_passes / seconds, peak / 1024))


def run(reader: Callable[..., Any], rows: Rows, seed: int) -> tuple[float, ...]:
    """Accuracy, log loss, calibration error, seconds, rows x passes a second, MiB beyond the data."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_apart, args=(reader, rows, seed, there))
    process.start()
    there.close()
    found: tuple[float, ...] = here.recv()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peer-seeds", type=int, default=1, help="of all but the quick probe and the former one")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--peers", type=Path, help="site-packages with fastText and Vowpal Wabbit")
    arguments = parser.parse_args()
    if arguments.peers:
        sys.path.append(str(arguments.peers))
    readers: dict[str, tuple[Callable[..., Any], int]] = {
        "quick probe": (ours, arguments.seeds),
        "former probe": (former, arguments.seeds),
        "LogisticRegression": (logistic, arguments.peer_seeds),
    }
    for module, name, reader in (("fasttext", "fastText", fast_text), ("vowpalwabbit", "Vowpal Wabbit", vowpal_wabbit)):
        if importlib.util.find_spec(module) is None:
            print(f"{name} is not installed: it is left out")
        else:
            importlib.import_module(module)
            readers[name] = (reader, arguments.peer_seeds)
    # Here, so that not every fit's process pays for it.
    importlib.import_module("sklearn.linear_model")
    print(f"{os.cpu_count()} cores; load at the start {os.getloadavg()[0]:.1f}")
    for name in arguments.sets.split(","):
        read_rows(name)  # so that compilation is not measured
        rows, tokens, built = read_rows(name)
        ours(rows, 0)
        print(
            f"\n{name}: {rows.labels.size:,} training rows, {rows.gold.size:,} test rows, "
            f"{rows.features.widths().sum():,} columns; "
            f"tokens {tokens:.2f} s, features {built:.2f} s of processor time"
        )
        found: dict[str, list[tuple[float, ...]]] = {reader: [] for reader in readers}
        for seed in range(max(n for _, n in readers.values())):
            for reader, (function, n) in readers.items():
                if seed < n:
                    found[reader].append(run(function, rows, seed))
        print("reader               seeds  accuracy  log loss    ECE  seconds a fit  rows x passes/s    MiB")
        for reader, values in found.items():
            if not values:
                continue
            table = np.array(values)
            accuracy, loss, error = table[:, :3].mean(axis=0)
            print(
                f"{reader:20} {len(values):5} {100 * accuracy:9.2f} {loss:9.4f} {error:6.4f} {table[:, 3].min():14.2f} "
                f"{table[:, 4].max():16,.0f} {table[:, 5].max():6.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
