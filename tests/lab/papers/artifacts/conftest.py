"""The smallest size of the study, its runs made up instead of trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.core.progress import Steps
from goldassay.lab.papers import artifacts
from goldassay.lab.papers.artifacts.protocol import ALL, DEBIAS, RANDOM
from goldassay.lab.papers.recipe import Workplace
from goldassay.lab.papers.sources import read_sets
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.lab.papers.artifacts.protocol import Corpus, Protocol, Trained
    from goldassay.lab.papers.recipe import Findings


@dataclass(frozen=True)
class Made:
    """A study, prepared, with answers that nobody trained a network for."""

    work: Workplace
    findings: Findings
    # Correctness of each run: by training set, model and seed.
    correct: dict[tuple[str, str, int], NDArray[np.bool_]]

    @property
    def protocol(self) -> Protocol:
        """How often what is trained."""
        protocol: Protocol = self.work.scale.chosen["protocol"]
        return protocol

    @property
    def corpus(self) -> Corpus:
        """The only one."""
        return self.protocol.corpora[0]

    def rows(self, model: Trained) -> NDArray[np.float64]:
        """Correctness by hand: a row a run, of random training sets the mean of the runs on each."""
        if model.mode != RANDOM:
            whole = self.corpus.train
            return self._runs(whole if model.mode == ALL else self.corpus.part(DEBIAS, float(model.threshold)), model)
        samples = [self.corpus.part(RANDOM, float(model.threshold), sample) for sample in range(self.protocol.samples)]
        return np.stack([self._runs(part, model).mean(axis=0) for part in samples])

    def _runs(self, part: str, model: Trained) -> NDArray[np.float64]:
        named = (part, model.model)
        return np.stack([each for (*names, _), each in self.correct.items() if tuple(names) == named]).astype(float)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The study of the specimen."""
    folder = tmp_path_factory.mktemp("artifacts")
    # Answers are made up, so that few examples do, and are measured in a moment.
    scale = replace(artifacts.SCALES["smoke"], specimen_rows=(2_000, 200))
    work = Workplace(folder, scale, "smoke", None, None, 0, Steps())
    work.sets = read_sets(scale, None, folder, 0)
    work.sets |= artifacts.prepare(work)
    rng = np.random.default_rng(0)
    correct = {}
    for training in scale.trainings:
        test = work.sets[training.tests[0]]
        names, gold = test.label_names, test.labels()
        for model in training.models:
            seeds = range(training.seeds) if isinstance(training.seeds, int) else training.seeds
            for seed in seeds:
                right = rng.random(len(test)) < rng.uniform(0.4, 0.9)
                correct[training.train, model, seed] = right
                runs = Runs.from_arrays(
                    predictions=np.where(right, gold, (gold + 1) % len(names))[np.newaxis],
                    gold=gold,
                    seeds=[seed],
                    label_names=names,
                    example_ids=test.examples["example_id"].to_list(),
                    model=model,
                    dataset=test.name,
                    condition="paired",
                    split="test",
                    train_set=training.train,
                )
                write_runs(runs, work.runs)
    return Made(work, artifacts.measure(work), correct)
