"""Asking bias models and teachers for their opinions when jobs are planned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.training.held_opinions import HeldOpinions, hold_opinions
from goldassay.training.opinions import DEV, TRAIN, part_of_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.training.held import Held
    from goldassay.training.job import Job
    from goldassay.training.opinions import OpinionSource

# Stands for opinions that are not made yet, where it only matters that there are some.
_PROMISED = HeldOpinions("", "", "")


def promised(job: Job, bias: OpinionSource | None, teacher: OpinionSource | None) -> Job:
    """A job as `with_opinions` will give it, to be checked before the opinions are made, which may take long."""
    return replace(job, bias=None if bias is None else _PROMISED, teacher=None if teacher is None else _PROMISED)


def with_opinions(jobs: Sequence[Job], bias: OpinionSource | None, teacher: OpinionSource | None) -> list[Job]:
    """Jobs on the same data, each with what the bias model and the teacher say of it.

    Raises:
        InputError: See `opinions.OpinionSource.on`.
        OutputError: The folder cannot be written to, or the disk is full.
    """
    of_bias, of_teacher = _Asked(bias), _Asked(teacher)
    asked = []
    for job in jobs:
        parts = {TRAIN: job.train, **({} if job.dev is None else {DEV: job.dev})}
        own = set(job.train.load().label_names)
        # Opinions are of the training labels; sets with coarser ones go without.
        parts |= {part_of_test(each.name): each for each in job.tests if own >= set(each.load().label_names)}
        asked.append(replace(job, bias=of_bias.on(parts, job), teacher=of_teacher.on({TRAIN: job.train}, job)))
    return asked


class _Asked:
    """A source that is asked once, or once a seed."""

    def __init__(self, source: OpinionSource | None) -> None:
        self.source = source
        self.held: dict[int | None, HeldOpinions] = {}

    def on(self, parts: dict[str, Held], job: Job) -> HeldOpinions | None:
        if self.source is None:
            return None
        key = job.seed if self.source.follows_seed else None
        if key not in self.held:
            self.held[key] = hold_opinions(self.source, parts, job.seed, Path(job.out))
        return self.held[key]
