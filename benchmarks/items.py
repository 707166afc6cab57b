"""Items of four choices: rules, a reader of the choices beside scikit-learn in the same folds, and the whole audit.

    python -m benchmarks.items [--items 100000] [--flaw words] [--audit]

Made items have a flaw of 24 % (see `benchmarks.verdicts.items`). The peer sees words and word pairs, hashed by
`HashingVectorizer`, and is a `LogisticRegression` (liblinear) of right and wrong choices for each fold, with one
penalty; ours tries eight, and calibrates. Both take of each item the choice with the largest score. Seconds are of the
processor, of which a busy machine takes hardly more. Prints one line of JSON a measurement.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import goldassay
from benchmarks.verdicts.items import FLAWS, UNSOUND, made_items
from goldassay.questions.leakage.item_loading import ItemReading, load_items
from goldassay.questions.leakage.probes import N_FOLDS, by_item, choice_hits
from goldassay.readers.choice_rules import measure_rules
from goldassay.readers.probe_features import build_features, tokenize_roles
from goldassay.readers.quick_probe import QuickProbe

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from goldassay.data.kinds.choices import ChoiceItems


def told(what: str, began: tuple[float, float], **measured: Any) -> None:
    """Print what was measured since."""
    seconds, clock = time.process_time() - began[0], time.perf_counter() - began[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = {"what": what, "processor_s": round(seconds, 2), "clock_s": round(clock, 2), "peak_mib": round(peak)}
    print(json.dumps({**line, **measured}), flush=True)


def now() -> tuple[float, float]:
    """Seconds of the processor, and by the clock."""
    return time.process_time(), time.perf_counter()


def ours(items: ChoiceItems) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What a quick probe hits of each item, and the fold of each choice."""
    features = build_features(tokenize_roles({"choice": items.texts}), len(items.texts))
    right = items.right.astype(np.int64)
    found = QuickProbe().cross_fit(features, right, 2, 0, clusters=items.item_of, n_folds=N_FOLDS)
    margin = (found.logits[:, 1] - found.logits[:, 0]).astype(np.float64)
    hits: NDArray[np.float64] = choice_hits([by_item(margin, items, 4)], items)[0]
    return hits, found.folds


def theirs(items: ChoiceItems, folds: NDArray[np.int64]) -> NDArray[np.float64]:
    """What scikit-learn's regression hits of each item."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression

    words = HashingVectorizer(ngram_range=(1, 2), binary=True, alternate_sign=False, token_pattern=r"\w+")
    features = words.transform(items.texts.to_list())
    margin = np.zeros(items.right.size)
    for fold in np.unique(folds):
        inside = folds == fold
        fitted = LogisticRegression(solver="liblinear").fit(features[~inside], items.right[~inside])
        margin[inside] = fitted.decision_function(features[inside])
    hits: NDArray[np.float64] = choice_hits([by_item(margin, items, 4)], items)[0]
    return hits


def compare(frame: pl.DataFrame) -> None:
    """Rules, and both readers in one run."""
    began = now()
    posed = load_items(frame, None, ItemReading())
    assert posed is not None
    items = posed.test
    told("reading", began, items=len(items))
    measure_rules(items)
    began = now()
    measure_rules(items)
    told("rules", began)
    # What is compiled at the first call is kept on disk, and not counted.
    ours(items.take(np.arange(200)))
    began = now()
    hits, folds = ours(items)
    told("quick probe, eight penalties", began, accuracy=round(float(hits.mean()), 4))
    began = now()
    peer = theirs(items, folds)
    apart = hits - peer
    told(
        "scikit-learn, one penalty",
        began,
        accuracy=round(float(peer.mean()), 4),
        ours_less_theirs=round(float(apart.mean()), 4),
        standard_error=round(float(apart.std() / np.sqrt(apart.size)), 4),
    )


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--flaw", choices=FLAWS, default="words")
    parser.add_argument("--audit", action="store_true", help="the whole audit alone, so that its peak is its own")
    given = parser.parse_args()
    frame = made_items(given.items, given.flaw, 2 * UNSOUND, 0)
    if not given.audit:
        compare(frame)
        return
    began = now()
    report = goldassay.audit(frame, quiet=True)
    told("audit", began, verdicts={name: report.verdicts[name]["verdict"] for name in ("artifacts", "leakage")})


if __name__ == "__main__":
    main()
