"""Training: models on datasets, into runs."""

from goldassay.training.conditions import conditions_of, roles_of
from goldassay.training.probes import describe_probe, train_probes

__all__ = ["conditions_of", "describe_probe", "roles_of", "train_probes"]
