"""Training: models on datasets, into runs. Nothing here imports torch before something is trained."""

from goldassay.training.conditions import conditions_of, roles_of, shown_texts, transformations_of
from goldassay.training.job import Job
from goldassay.training.many_seeds import TrainingReport, plan_jobs, run_plan, train
from goldassay.training.outcome import Done, Failure
from goldassay.training.probes import describe_probe, train_probes
from goldassay.training.running import run_job
from goldassay.training.workers import run_jobs

__all__ = [
    "Done",
    "Failure",
    "Job",
    "TrainingReport",
    "conditions_of",
    "describe_probe",
    "plan_jobs",
    "roles_of",
    "run_job",
    "run_jobs",
    "run_plan",
    "shown_texts",
    "train",
    "train_probes",
    "transformations_of",
]
