"""Whose a job's folder is, and what came of a job that is done.

Doing one job: whatever of it is done stays done, whatever is missing is made.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError, TrainingError, option
from goldassay.lab.training.configured import (
    build_objective,
    configuration_of,
    describe_objective,
    has_own_teacher,
    made_with,
    network_of,
    taught,
    teacher_of,
    uniform,
)
from goldassay.lab.training.job import (
    DONE,
    FILES,
    MODEL,
    STATE,
    TRAINING_ROWS,
    WEIGHTS,
    Done,
    Job,
    Report,
    claim,
    locked,
    read_json,
    unheard,
    write_json,
)
from goldassay.lab.training.precision import Team, launched
from goldassay.lab.training.sampling import Sample, enlarged, is_of_words
from goldassay.lab.training.targets import EvaluationSet, target_of
from goldassay.readers.conditions import shown_texts, tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.configuration import Configuration
    from goldassay.lab.models.network import Encoded, Network
    from goldassay.lab.training.loop import Examples, Loop, Reached
    from goldassay.lab.training.objectives import Objective
    from goldassay.lab.training.snapshots import Snapshot
    from goldassay.runs.sidecar import Origin


def begin(job: Job) -> Done | None:
    """Claim a job's folder; what came of it, if it is done.

    Raises:
        InputError: Its folder was made with other settings.
    """
    claim(job.folder, made_with(job))
    return finished(job)


def finished(job: Job) -> Done | None:
    """What came of a job that is done; None if it is not, or if a file that it left is lost or cut short.

    Raises:
        InputError: Its folder was made with other settings.
    """
    done = read_json(job.folder / DONE) or {}
    files = done.pop(FILES, {})
    if done.keys() != {each.name for each in fields(Done)} - {"skipped"}:
        # Not there, or by an earlier version that said other things of a job: done again, it comes out the same.
        return None
    if any(_size(Path(job.out) / path) != size for path, size in files.items()):
        # Half of its answers would pass for all of them; done again, it comes out the same.
        return None
    claim(job.folder, made_with(job))
    return replace(Done(**done), skipped=True)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


# In the folder of the runs: what is computed once a text, for whichever run needs it; may be deleted.
KEPT = "_vectors"


def run_job(job: Job, report: Report = unheard) -> Done:
    """Do a job, or what is left of it.

    The same job gives the same runs, and on one machine's CPU the same bits, however often it was killed in between.

    Raises:
        InputError: The job cannot be done as it is, or its folder was made with other settings.
        TrainingError: The loss is no longer a number.
        OutputError: The folder cannot be written to, or the disk is full.
    """
    if launched():
        return _together(job, report)
    configuration = configuration_of(job)
    with locked(job.folder):
        done = begin(job)
        if done is not None:
            return done
        from goldassay.lab.training.precision import determinism, threads

        with threads(job.threads), determinism(job.deterministic):
            return _with_teacher(job, configuration, report)


def _together(job: Job, report: Report) -> Done:
    """Do a job by all processes that were launched; see `team`."""
    from goldassay.lab.training.precision import determinism, open_accelerator, threads

    team = Team(open_accelerator(job.device, job.precision))
    configuration = configuration_of(job)
    with locked(job.folder) if team.leads else nullcontext():
        done = team.told(lambda: begin(job))
        if done is not None:
            return done
        with threads(job.threads), determinism(job.deterministic):
            return _with_teacher(job, configuration, report)


def _with_teacher(job: Job, configuration: Configuration, report: Report) -> Done:
    """Do a job; one that learns from a teacher of its own has this trained first, as a run in its folder."""
    if not has_own_teacher(job):
        return Running(job, configuration, report).run()
    teacher = run_job(teacher_of(job), lambda step, total: report(step, 2 * total))
    running = Running(job, configuration, lambda step, total: report(total + step, 2 * total))
    running.before += (teacher.seconds, teacher.cpu_seconds)
    return running.run()


def open_job(job: Job, sample: Sample | None = None) -> Running:
    """A job with its data and its network in memory, at its first step; nothing is written or claimed.

    Args:
        job: Which.
        sample: Of large sets some rows alone, by which a job can be priced.

    Raises:
        InputError: The job cannot be done as it is.
    """
    return Running(job, configuration_of(job), unheard, keep=False, sample=sample)


class Running:
    """One job in one process."""

    def __init__(
        self,
        job: Job,
        configuration: Configuration,
        report: Report,
        *,
        keep: bool = True,
        sample: Sample | None = None,
    ) -> None:
        self.keep, self.sample = keep, sample
        self.job, self.configuration, self.report = job, configuration, report
        self.started = _clocks()
        self.before = np.zeros_like(self.started)
        self.words: dict[str, int] = {}
        # Of each test set at the latest checkpoint.
        self._outputs: dict[str, tuple[int, NDArray[np.float32]]] = {}
        train = _training_rows(job)
        # Rows of the sets as they are, of which some alone may be read.
        self.n_train, self.n_dev = len(train), 0
        self.n_tests: list[int] = []
        # What turning the others into numbers would take.
        self.seconds_unread = 0.0
        batches = 0 if sample is None else sample.batches * configuration.recipe.batch_size
        self.train = train if sample is None else sample.of(train, batches)
        self.texts = shown_texts(self.train, job.condition)
        self.target = target_of(train)
        self.task = self.target.task(train, tuple(self.texts), tokenizer_of(train))
        self.loop = self._build(train)
        self.tests = [self._evaluation_set(held, "test") for held in job.tests]

    def _build(self, train: Dataset) -> Loop:
        import torch

        from goldassay.lab.training.loop import Examples, Loop
        from goldassay.lab.training.precision import open_accelerator

        job = self.job
        accelerator = open_accelerator(job.device, job.precision)
        # Both draw fresh weights, from a generator of their own kind of seed.
        torch.manual_seed(job.seeds.number("initialization"))
        network = self._network(train).to(accelerator.device)
        if "relevance" in job.record and not network.takes_embeddings:
            raise InputError(
                "relevance cannot be recorded: an encoder with a decoder cannot be given vectors of tokens",
                file=job.model,
                mend=f"leave it out of {option('record')}",
            )
        if self.keep:
            network.keep_in(Path(job.out) / KEPT)
        if job.vectors is not None:
            found = network.start_from(job.vectors, frozen=self.configuration.sizes.frozen)
            self.words = {"known": len(network.vocabulary.words), "found": found}
        encoded = self._encoded(network, self.train, self.texts, self.n_train)
        self.cut = {TRAINING_ROWS: int(encoded.cut.any(0).sum())}
        weights = None if job.weights is None else _weights(self.train, job.weights)
        dev = None if job.dev is None else self._dev(job.dev.load(), network)
        return Loop(
            network,
            self._objective(network, encoded, dev),
            self.configuration.recipe,
            job.seeds,
            Examples(encoded, self.target.labels(self.train, self.task, encoded), weights),
            accelerator,
            dev,
            self.target.dev_score,
            keep_dynamics="dynamics" in job.record,
        )

    def _network(self, train: Dataset) -> Network:
        """Fresh, with the words of all training rows, or where some are read with about as many."""
        from goldassay.lab.models.vocabulary import Vocabulary

        job, sizes = self.job, self.configuration.sizes
        network: Any = network_of(job)
        texts = tuple(self.texts.values())
        if len(train) == len(self.train):
            return network.build(self.task, texts, sizes, job.model)
        whole = tuple(shown_texts(train, job.condition).values())
        if not is_of_words(network, self.task):
            return network.build(self.task, whole, sizes, job.model)
        began = time.perf_counter()
        vocabulary = Vocabulary.learn(texts, self.task.tokenizer, lowercase=sizes.lowercase, min_count=1)
        self.seconds_unread += (time.perf_counter() - began) * (self.n_train / len(self.train) - 1)
        return network(self.task, sizes, enlarged(vocabulary, texts, whole, sizes.min_count))

    def _objective(self, network: Network, encoded: Encoded, dev: Examples | None) -> Objective:
        job, names = self.job, self.task.label_names
        teacher = None
        if job.teacher is not None or has_own_teacher(job):
            # A job that is only tried out has not trained its teacher; any other that has none must not go on.
            known = self.keep or job.teacher is not None or finished(teacher_of(job)) is not None
            teacher = taught(job, self.train, names) if known else uniform(len(self.train), len(names))
        return build_objective(job, network, encoded, self.train, names, None if dev is None else dev.labels, teacher)

    def _dev(self, dataset: Dataset, network: Network) -> Examples:
        from goldassay.lab.training.loop import Examples

        self.n_dev = len(dataset)
        # A bias model has opinions of all its rows.
        if self.sample is not None and self.job.bias is None:
            dataset = self.sample.of(dataset)
        encoded = self._encoded(network, dataset, shown_texts(dataset, self.job.condition), self.n_dev)
        return Examples(encoded, self.target.labels(dataset, self.task, encoded))

    def _encoded(self, network: Network, dataset: Dataset, texts: Mapping[str, Sequence[str]], n_rows: int) -> Encoded:
        began = time.perf_counter()
        encoded = self.target.prepared(network, network.encode(tuple(texts.values())), dataset)
        self.seconds_unread += (time.perf_counter() - began) * (n_rows / max(1, len(dataset)) - 1)
        return encoded

    def _evaluation_set(self, held: Snapshot, split: str) -> EvaluationSet:
        dataset = held.load()
        self.n_tests.append(len(dataset))
        found = self._as_seen(dataset if self.sample is None else self.sample.of(dataset), split, len(dataset))
        self.cut[found.dataset.name] = int(found.encoded.cut.any(0).sum())
        return found

    def _as_seen(self, dataset: Dataset, split: str, n_rows: int) -> EvaluationSet:
        texts = shown_texts(dataset, self.job.condition)
        encoded = self._encoded(self.loop.network, dataset, texts, n_rows)
        return EvaluationSet(dataset, split, texts, self.target.gold(dataset, self.task, encoded), encoded)

    def sampled(self, test: EvaluationSet, n: int) -> EvaluationSet:
        """Some rows of a test set, evenly spaced."""
        rows = np.linspace(0, len(test.dataset) - 1, min(n, len(test.dataset))).astype(np.int64)
        return self._as_seen(test.dataset.take(rows), test.split, rows.size)

    def run(self) -> Done:
        """Train from where the kept state stands to the end, and evaluate."""
        from goldassay.lab.training.snapshots import read_state

        kept = read_state(self.job.folder / STATE)
        if kept is not None:
            position, tensors = kept
            self.before = tensors.pop("seconds").numpy()
            self.loop.restore(position, tensors)
        team = self.loop.team
        team.check_same(self.loop.position.step)
        # A state is several times as large as the weights, so that evaluations, which may be many, do not write one:
        # what they left behind since the last state is made again from there, byte for byte.
        saved = time.perf_counter()
        for reached in self.loop.run():
            if not team.leads:
                continue
            self.report(reached.step, reached.total)
            with team.alone():
                self._record(reached)
            if self.loop.position.finished or time.perf_counter() - saved >= 60 * self.job.state_every:
                self._save()
                saved = time.perf_counter()
        with team.alone():
            return team.told(self._finish)

    def _save(self) -> None:
        from goldassay.lab.training.snapshots import write_state

        write_state(self.job.folder / STATE, self.loop.position, self._state())

    def _state(self) -> dict[str, Tensor]:
        import torch

        return self.loop.tensors() | {"seconds": torch.from_numpy(self._seconds())}

    def state_size(self) -> int:
        """Bytes of the largest state that the job will write, once it has done a step."""
        from goldassay.lab.training.snapshots import named, size_of_state

        kept = self._state()
        if self.loop.dev is not None:
            kept |= named("best", {name: kept[name] for name in kept if name.startswith(("network.", "objective."))})
        return size_of_state(self.loop.position, kept)

    def _seconds(self) -> NDArray[np.float64]:
        """Of the clock and of processors, so far, (2,)."""
        return self.before + _clocks() - self.started

    def _record(self, reached: Reached) -> None:
        """Write what is due at a step."""
        job = self.job
        if reached.epoch_ended and "dynamics" in job.record:
            self._write_dynamics(reached)
        every = job.checkpoint_every
        ended = reached.epoch_ended and job.dev is not None
        if every is not None and (reached.step % every == 0 or ended or self.loop.position.finished):
            for test in self.tests:
                self._predict(test, reached.step)

    @property
    def embedding_size(self) -> int:
        """Numbers of one embedding."""
        network = self.loop.network
        batch = network.collate(self.loop.examples.encoded, np.zeros(1, np.int64)).to(self.loop.accelerator.device)
        return int(network.represent(batch).shape[1])

    def evaluate_into(self, test: EvaluationSet, folder: Path) -> int:
        """Write what an evaluation of a test set leaves behind into a folder of its own, and give its bytes."""
        self._predict(test, 0, folder)
        return sum(path.stat().st_size for path in folder.rglob("*.parquet"))

    def _predict(self, test: EvaluationSet, checkpoint: int | None, folder: Path | None = None) -> dict[str, float]:
        """Write what the network answers on a set, and give its score by each metric."""
        from goldassay.lab.training.configured import write_predictions

        known = self._outputs.get(test.dataset.name)
        # What is selected in the end was mostly a checkpoint a moment ago.
        outputs = known[1] if known is not None and known[0] == checkpoint else self.loop.evaluate(test.encoded)
        if checkpoint is not None and folder is None:
            self._outputs[test.dataset.name] = checkpoint, outputs
        if not np.isfinite(outputs).all():
            raise TrainingError(f"the outputs are no longer numbers after step {self.loop.position.step}")
        answered = self.target.answers(outputs, test, self.task, keep_logits="logits" in self.job.record)
        write_predictions(
            answered, test, self._origin(test), folder or Path(self.job.out),
            checkpoint=checkpoint, n_parameters=self.n_parameters,
        )  # fmt: skip
        return answered.scores

    @property
    def n_parameters(self) -> int:
        """Weights of the network, word vectors among them."""
        return sum(each.numel() for each in self.loop.network.parameters())

    def _origin(self, test: EvaluationSet, step: int | None = None) -> Origin:
        from goldassay.runs.sidecar import Origin

        return Origin(
            model=self.job.model_name,
            train_set=self.train.name,
            condition=self.job.condition,
            dataset=test.dataset.name,
            split=test.split,
            seed=self.job.seed,
            step=self.loop.position.step if step is None else step,
        )

    def _write_dynamics(self, reached: Reached) -> None:
        from goldassay.lab.training.configured import write_predictions

        if reached.dynamics is None:
            return
        # A row drawn twice by a bootstrap is one example.
        ids = np.array(self.train.examples["example_id"].to_list(), dtype=np.str_)
        first = np.sort(np.unique(ids, return_index=True)[1])
        rows = self.train.take(first)
        on = EvaluationSet(rows, "train", {}, self.loop.examples.labels[first], self.loop.examples.encoded)
        answered = self.target.answers(reached.dynamics[first], on, self.task, keep_logits=True)
        write_predictions(answered, on, self._origin(on), self.job.folder / "dynamics", checkpoint=reached.epoch_ended)

    def _finish(self) -> Done:
        from goldassay.lab.training.snapshots import weights_of, write_tensors

        job, loop = self.job, self.loop
        loop.check_losses()
        loop.select()
        selected = loop.position.best_step or loop.position.step
        final = None if job.checkpoint_every is None else selected
        scores = {}
        for test in self.tests:
            scores[test.dataset.name] = self._predict(test, final)
            self._record_beside(test, selected)
        model = job.folder / MODEL
        try:
            model.mkdir(exist_ok=True)
            loop.network.save_assets(model)
        except OSError as error:
            from goldassay.core.files import output_error

            raise output_error(error, model) from error
        write_tensors(model / WEIGHTS, weights_of(loop.network), {"task": vars(self.task)})
        seconds, cpu_seconds = self._seconds().round(3).tolist()
        done = Done(
            name=job.name,
            scores=scores,
            n_examples={test.dataset.name: len(test.dataset) for test in self.tests},
            n_parameters=self.n_parameters,
            steps=loop.position.step,
            selected_step=selected,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            cut=self.cut,
            objective=describe_objective(job, loop, self.tests),
            words=self.words,
        )
        plain = {name: value for name, value in vars(done).items() if name != "skipped"}
        write_json(job.folder / DONE, plain | {FILES: self._files()})
        (job.folder / STATE).unlink(missing_ok=True)
        return done

    def _files(self) -> dict[str, int]:
        """What the job leaves behind, and of each file how many bytes, by which its loss is noticed."""
        from goldassay.lab.training.configured import predictions_file

        job, last = self.job, self.loop.position.step
        checkpoints: set[int | None] = {None}
        if job.checkpoint_every is not None:
            checkpoints = {*range(job.checkpoint_every, last, job.checkpoint_every), last}
            if job.dev is not None:
                an_epoch = self.loop.total // self.loop.recipe.epochs
                checkpoints |= {*range(an_epoch, last, an_epoch)}
        out = Path(job.out)
        files = [predictions_file(self._origin(test), out, each) for test in self.tests for each in checkpoints]
        files += [job.folder / MODEL / WEIGHTS]
        files += [path for part in ("embeddings", "relevance", "dynamics") for path in (job.folder / part).rglob("*")]
        return {path.relative_to(out).as_posix(): path.stat().st_size for path in files if path.is_file()}

    def _record_beside(self, test: EvaluationSet, step: int) -> None:
        from goldassay.lab.training.configured import record_embeddings, record_relevance

        origin = self._origin(test, step)
        name = f"{test.dataset.name}.parquet".replace("/", "-")
        if "embeddings" in self.job.record:
            record_embeddings(self.loop, test, origin, self.job.folder / "embeddings" / name)
        if "relevance" in self.job.record:
            record_relevance(self.loop, test, origin, self.job.folder / "relevance" / name)


def _clocks() -> NDArray[np.float64]:
    """Now, by the clock and by this process's time on processors, in seconds, (2,)."""
    return np.array([time.perf_counter(), time.process_time()])


def _training_rows(job: Job) -> Dataset:
    train = job.train.load()
    if job.rows is None and not job.bootstrap:
        return train
    rng = job.seeds.generator("subset")
    if job.bootstrap:
        return train.take(rng.integers(len(train), size=job.rows or len(train)))
    return train.take(np.sort(rng.choice(len(train), job.rows, replace=False)))


def _weights(train: Dataset, column: str) -> NDArray[np.float32]:
    weights = train.examples[column].cast(float, strict=False).to_numpy().astype(np.float32)
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"the weight of example {train.examples['example_id'][at]!r} is no number, or below 0",
            file=train.source,
            column=column,
            mend="give numbers from 0 up",
        )
    if not weights.any():
        raise InputError("all weights are 0", file=train.source, column=column, mend="give some examples a weight")
    return weights


# What a process takes before it has made a single tensor: the driver's context and the libraries' kernels.
_CONTEXT = 700 * 2**20
# Pieces of memory given back and asked for again do not fit without gaps; records are made of other shapes.
_MARGIN = 1.15


def need_of(job: Job) -> int:
    """Bytes of a GPU that a job needs, by trying what it will do at its largest.

    A step on the longest rows and a pass over the longest rows of each test set, in memory alone: nothing is written,
    and the network is thrown away. What torch has then reserved at most, with a margin, and what the process itself
    takes.

    Raises:
        InputError: The job cannot be done as it is.
    """
    import torch

    torch.cuda.reset_peak_memory_stats()
    running = open_job(job)
    running.loop.try_longest([test.encoded for test in running.tests])
    return int(_MARGIN * torch.cuda.max_memory_reserved()) + _CONTEXT
