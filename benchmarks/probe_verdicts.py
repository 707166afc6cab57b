"""Verdicts by the quick probes and by the former ones, of the same rules: whole audits of real sets and specimens.

    GOLDASSAY_DATA=DIR python benchmarks/probe_verdicts.py [--sets snli,mnli,...]

The former probe (scikit-learn's stochastic gradient descent, see `probes.py`) stands in for `QuickProbe` at the same
rows, seeds and texts. A line a set and reader: the word on each question, with the deciding effect and its interval.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
from probes import FORMER_PASSES, FORMER_PENALTIES, SETS, read_set

import goldassay
from goldassay.data.dataset import Dataset
from goldassay.data.specimen import make_specimen
from goldassay.readers import quick_probe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.readers.probe_features import ProbeFeatures

SPECIMENS = ("specimen", "clean specimen")


class FormerProbe(quick_probe.QuickProbe):
    """The probe as it was: the best of three penalties by accuracy out of bag, uncalibrated."""

    def fit(
        self,
        features: ProbeFeatures,
        labels: NDArray[np.int64],
        n_classes: int,
        seed: int,
        *,
        roles: Sequence[str] | None = None,
        rows: NDArray[np.int64] | None = None,
        **_: Any,
    ) -> Any:
        """Train on a bootstrap of the rows; see `QuickProbe.fit`."""
        from sklearn.linear_model import SGDClassifier

        matrix = features.matrix(roles)
        rng = np.random.default_rng(seed)
        at = np.arange(labels.size) if rows is None else rows
        counts = quick_probe._stratified_bootstrap(labels, rng)
        chosen, left = rng.permutation(np.repeat(np.arange(counts.size), counts)), np.flatnonzero(counts == 0)
        best: tuple[float, Any] = (-1.0, None)
        for penalty in FORMER_PENALTIES:
            model = SGDClassifier(
                loss="log_loss", alpha=penalty, average=True, max_iter=FORMER_PASSES, tol=None, random_state=seed
            ).fit(matrix[at[chosen]], labels[chosen])
            accuracy = float(np.mean(model.predict(matrix[at[left]]) == labels[left])) if left.size else 0.0
            if accuracy > best[0]:
                best = (accuracy, model)
        return _Former(best[1], matrix, n_classes)


class _Former:
    def __init__(self, model: Any, matrix: Any, n_classes: int) -> None:
        self.model, self.matrix, self.n_classes = model, matrix, n_classes

    def logits(self, _: ProbeFeatures, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        shares = np.full((rows.size, self.n_classes), 1e-13)
        shares[:, self.model.classes_] = self.model.predict_proba(self.matrix[rows])
        return np.log(np.maximum(shares, 1e-13)).astype(np.float32)


def read_parts(name: str) -> tuple[Dataset, Dataset]:
    if name not in SPECIMENS:
        return read_set(name)
    made = make_specimen(clean=name != SPECIMENS[0])
    return Dataset.from_frame(made.train), Dataset.from_frame(made.test)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join((*SETS, *SPECIMENS)))
    for name in parser.parse_args().sets.split(","):
        train, test = read_parts(name)
        for reader, probe in (("former", FormerProbe), ("quick", quick_probe.QuickProbe)):
            own, quick_probe.QuickProbe = quick_probe.QuickProbe, probe  # type: ignore[misc]
            try:
                report = goldassay.audit(train, test)
            finally:
                quick_probe.QuickProbe = own  # type: ignore[misc]
            said = []
            for question in ("artifacts", "leakage"):
                verdict = report.verdicts[question]
                headline = verdict["headline"] or {"label": "no figure", "value": np.nan, "low": np.nan, "high": np.nan}
                low, value, high = (100 * headline[key] for key in ("low", "value", "high"))
                said.append(f"{question} {verdict['verdict']}: {headline['label']} {value:.1f} [{low:.1f}, {high:.1f}]")
            print(f"{name}, {reader}: {'; '.join(said)}", flush=True)


if __name__ == "__main__":
    main()
