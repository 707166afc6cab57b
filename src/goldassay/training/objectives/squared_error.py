"""Mean squared error, with a weight for each example if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from goldassay.training.objectives.objective import Objective, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.configuration import Kind
    from goldassay.models.network import Batch, Network


class SquaredError(Objective):
    """(1/B) sum_i w_i (output_i - y_i)^2, y standardized; see `training.targets.NumberTarget`."""

    name: ClassVar[str] = "squared_error"
    kind: ClassVar[Kind] = "number"

    def forward(
        self,
        network: Network,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        outputs = network(batch)
        each = (outputs[:, 0].float() - labels).square()
        return Outcome((each if weights is None else each * weights).sum() / batch.size, outputs)
