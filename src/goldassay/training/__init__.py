"""Training: models on datasets, into runs."""

from goldassay.training.conditions import conditions_of, roles_of
from goldassay.training.probes import train_probes

__all__ = ["conditions_of", "roles_of", "train_probes"]
