"""A small network on which patterns a sentence holds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse


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
