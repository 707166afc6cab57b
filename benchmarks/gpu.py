"""Training on an accelerator, measured and proven by one command: speed against transformers' Trainer, and agreement.

    python benchmarks/gpu.py [--results FOLDER] [--device auto|cpu|cuda|mps] [--only SECTION ...] [--minutes N]

It needs no network and makes its data, its vocabulary and its checkpoints, whose weights are random. On an accelerator
it measures at full size; without one it does the same on the processor at a small size, and says so.

Sections, each by itself, so that the others go on where one fails:

    agreement   losses and accuracy of the device against those of the processor, in 32 bits, without dropout
    determinism two runs of one seed with `deterministic`, byte by byte
    training    examples a second, accuracy, peak memory and utilization, of ours and of the Trainer
    evaluation  examples a second
    checkpoints size of a state, and seconds to write it and to read it again
    seeds       seconds of 1 run and of several

Writes gpu.json, with all figures and of each failure its traceback, and gpu.md, the tables of them.
Ends with status 1 where a section failed or a check does not hold.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import torch
from torch import nn

from goldassay.core.cores import cores
from goldassay.data.dataset import Dataset
from goldassay.lab.models import load_network
from goldassay.lab.models.configuration import Configuration, Recipe, Task
from goldassay.lab.models.network import Batch
from goldassay.lab.training.job import Seeds
from goldassay.lab.training.loop import Examples, Loop
from goldassay.lab.training.many_seeds import train
from goldassay.lab.training.objectives import CrossEntropy
from goldassay.lab.training.precision import free_cache, multiplies_bfloat16, open_accelerator, threads
from goldassay.lab.training.snapshots import read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VERSION = 1
LABELS = ("entailment", "neutral", "contradiction")
CUES = ("some", "maybe", "never")
# Relative differences of losses that are allowed: of the first step, and of those behind it.
FIRST_LOSS, NEXT_LOSSES, N_NEXT = 1e-5, 1e-3, 20
N_CPU_SEEDS = 5
SECTIONS = ("agreement", "determinism", "training", "evaluation", "checkpoints", "seeds")


@dataclass(frozen=True)
class Shape:
    """A transformer's; see transformers' BertConfig."""

    width: int
    layers: int
    heads: int
    inner: int


@dataclass(frozen=True)
class Model:
    """What is measured.

    Attributes:
        name: In the tables.
        network: Of the registry; "transformer" for a checkpoint made here.
        changes: To the desk sizes and recipe of a network of words, the published ones of a transformer.
        shape: Of a transformer.
    """

    name: str
    network: str
    changes: dict[str, Any]
    shape: Shape | None = None


@dataclass(frozen=True)
class Scale:
    """How much is done.

    Attributes:
        name: "full" or "small".
        n_train: Rows of speed.
        n_test: Rows of accuracy and of evaluation.
        n_agreement: Training rows of the agreement.
        words: Words of the vocabulary.
        lengths: Fewest and most words of a premise.
        warm: Steps before the clock starts.
        models: Of speed.
        compared: Of agreement.
        repeated: Of determinism.
        n_seeds: Of the run with several.
    """

    name: str
    n_train: int
    n_test: int
    n_agreement: int
    words: int
    lengths: tuple[int, int]
    warm: int
    models: tuple[Model, ...]
    compared: tuple[Model, ...]
    repeated: tuple[Model, ...]
    n_seeds: int


_TINY = Shape(width=32, layers=2, heads=2, inner=64)
_COMPARED_RECIPE = {"epochs": 2, "batch_size": 16, "dropout": 0.0}
_BRIEF = {"epochs": 2, "batch_size": 8, "dropout": 0.0}
_TINY_BILSTM = {"vectors": 16, "units": 8, "hidden": 16}
SMALL = Scale(
    name="small", n_train=240, n_test=96, n_agreement=176, words=60, lengths=(3, 8), warm=2, n_seeds=2,
    models=(
        Model("bilstm", "bilstm", {**_TINY_BILSTM, "epochs": 1, "batch_size": 16}),
        Model("tiny transformer", "transformer", {"epochs": 1, "batch_size": 16, "learning_rate": 1e-3}, _TINY),
    ),
    compared=(
        Model("bilstm", "bilstm", _TINY_BILSTM | _BRIEF),
        Model("tiny transformer", "transformer", {"learning_rate": 1e-3} | _BRIEF | {"epochs": 1}, _TINY),
    ),
    repeated=(Model("bilstm", "bilstm", {**_TINY_BILSTM, "epochs": 1}),),
)  # fmt: skip
_TWO_LAYERS = Shape(width=128, layers=2, heads=2, inner=512)
FULL = Scale(
    name="full", n_train=12_000, n_test=4_000, n_agreement=2_048, words=8_000, lengths=(10, 30), warm=20, n_seeds=10,
    models=(
        Model("bilstm", "bilstm", {"epochs": 3}),
        Model("MiniLM's shape", "transformer", {"epochs": 1, "learning_rate": 1e-4}, Shape(384, 12, 12, 1536)),
        Model("BERT-base's shape", "transformer", {"epochs": 1, "learning_rate": 1e-4}, Shape(768, 12, 12, 3072)),
    ),
    compared=(
        Model("ngram_average", "ngram_average", _COMPARED_RECIPE),
        Model("bilstm", "bilstm", _COMPARED_RECIPE),
        Model("esim", "esim", _COMPARED_RECIPE),
        Model("two-layer transformer", "transformer", {"learning_rate": 5e-4} | _COMPARED_RECIPE, _TWO_LAYERS),
    ),
    repeated=(
        Model("bilstm", "bilstm", {"epochs": 1, "batch_size": 16}),
        Model("two-layer transformer", "transformer", {"epochs": 1}, _TWO_LAYERS),
    ),
)  # fmt: skip


class CheckError(Exception):
    """A check does not hold.

    Args:
        line: Which, and by how much.
        result: What was found.
    """

    def __init__(self, line: str, result: dict[str, Any]) -> None:
        super().__init__(line)
        self.result = result


def make_pairs(n: int, seed: int, name: str, scale: Scale) -> Dataset:
    """Pairs whose label is a word of the hypothesis, nine times in ten."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        label = int(rng.integers(3))
        cue = CUES[label] if rng.random() < 0.9 else CUES[int(rng.integers(3))]
        longest = int(rng.integers(*scale.lengths, endpoint=True))
        # Words as frequent as in texts: the second half as often as the first, and so on.
        words = np.minimum(rng.zipf(1.3, longest + longest // 2), scale.words) - 1
        texts = [f"w{word}" for word in words]
        rows.append(
            {
                "example_id": f"{name}-{number}",
                "premise": " ".join(texts[:longest]),
                "hypothesis": " ".join([cue, *texts[longest:]]),
                "label": LABELS[label],
            }
        )
    return Dataset(pl.DataFrame(rows), ("premise", "hypothesis"), LABELS, name)


def make_checkpoint(folder: Path, shape: Shape, scale: Scale) -> Path:
    """A checkpoint of a BERT of some shape, with random weights and a tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    place = folder / f"bert-{shape.width}-{shape.layers}"
    if place.exists():
        return place
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *CUES, *(f"w{n}" for n in range(scale.words))])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    config = BertConfig(
        # BERT's own number of word pieces, most of which the data do not have, where it is measured at its own size.
        vocab_size=30_522 if scale.name == "full" else len(vocabulary),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.inner,
        num_labels=len(LABELS),
    )
    torch.manual_seed(1)
    BertForSequenceClassification(config).save_pretrained(place)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **names).save_pretrained(place)
    return place


@dataclass
class Bench:
    """What the sections share.

    Attributes:
        device: "cpu", "cuda" or "mps".
        scale: How much is done.
        folder: For what is made.
    """

    device: str
    scale: Scale
    folder: Path
    train: Dataset = field(init=False)
    test: Dataset = field(init=False)

    def __post_init__(self) -> None:
        self.train = make_pairs(self.scale.n_train, 1, "train", self.scale)
        self.test = make_pairs(self.scale.n_test, 2, "test", self.scale)

    @property
    def precisions(self) -> tuple[str, ...]:
        """Those that the device multiplies in."""
        return ("float32", "bfloat16") if multiplies_bfloat16(self.device) else ("float32",)

    def place(self, model: Model) -> str:
        """What names a model: its network, or its checkpoint."""
        return model.network if model.shape is None else str(make_checkpoint(self.folder, model.shape, self.scale))

    def configuration(self, model: Model) -> Configuration:
        """Sizes and recipe; a transformer's are the published ones, which move all vectors as the Trainer does."""
        known = load_network(self.place(model)).configurations
        return known["desk" if model.shape is None else "published"].replaced(model.changes)

    def loop(self, model: Model, seed: int, rows: Dataset, device: str, precision: str = "float32") -> Loop:
        """A training that has not begun."""
        configuration, place = self.configuration(model), self.place(model)
        texts = tuple(rows.texts(role) for role in rows.text_columns)
        torch.manual_seed(seed)
        task = Task(rows.text_columns, rows.label_names)
        network = load_network(place).build(task, texts, configuration.sizes, place)
        examples = Examples(network.encode(texts), rows.labels())
        accelerator = open_accelerator(device, precision)
        return Loop(network, CrossEntropy(), configuration.recipe, Seeds.varying(seed), examples, accelerator)


def encoded(loop: Loop, rows: Dataset) -> Any:
    return loop.network.encode(tuple(rows.texts(role) for role in rows.text_columns))


def accuracy(logits: np.ndarray, rows: Dataset) -> float:
    return float(np.mean(logits.argmax(1) == rows.labels()))


def finish(device: str) -> None:
    """Wait until a device has done all that it was given."""
    if device == "cuda":
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


class Meter:
    """The clock, the peak memory and the utilization of a device from `start` to `stop`.

    Attributes:
        seconds: Between them.
        peak_memory: Bytes of tensors, or None where the device does not tell.
        utilization: Mean share of the time in which the GPU was at work, by its driver, or None.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.seconds = 0.0
        self.peak_memory: int | None = None
        self.utilization: float | None = None
        self._watching: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin."""
        finish(self.device)
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            self._watching = self._watch()
        self._started = time.perf_counter()

    def stop(self) -> None:
        """End, when the device has done all."""
        finish(self.device)
        self.seconds = time.perf_counter() - self._started
        if self.device == "cuda":
            self.peak_memory = int(torch.cuda.max_memory_allocated())
        if self._watching is not None:
            self._watching.terminate()
            said, _ = self._watching.communicate(timeout=10)
            shares = [float(line) for line in said.split() if line.isdigit()]
            self.utilization = statistics.fmean(shares) / 100 if shares else None

    @staticmethod
    def _watch() -> subprocess.Popen[str] | None:
        if shutil.which("nvidia-smi") is None:
            return None
        uuid = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", None)
        one = [] if uuid is None else ["-i", f"GPU-{uuid}"]
        asked = ["nvidia-smi", *one, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100"]
        return subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def to_dict(self, n_examples: int) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "examples": n_examples,
            "seconds": self.seconds,
            "examples_per_second": n_examples / self.seconds,
            "peak_memory": self.peak_memory,
            "utilization": self.utilization,
        }


def losses_of(loop: Loop, n: int) -> list[float]:
    """Train to the end, and give the losses of the first steps."""
    losses: list[torch.Tensor] = []
    forward = loop.objective.forward

    def noted(*arguments: Any) -> Any:
        outcome = forward(*arguments)
        losses.append(outcome.loss.detach())
        return outcome

    loop.objective.forward = noted
    for _ in loop.run():
        pass
    loop.check_losses()
    return [float(loss) for loss in losses[:n]]


def agreement_of(
    losses: list[float], cpu_losses: list[float], accuracy: float, cpu_accuracies: list[float]
) -> dict[str, Any]:
    """How far losses are from those of the processor, and whether that is allowed.

    Args:
        losses: Of the first steps on the device.
        cpu_losses: Of the same on the processor.
        accuracy: In the end, on the device.
        cpu_accuracies: In the end, of several seeds on the processor.
    """
    far = [abs(mine - other) / abs(other) for mine, other in zip(losses, cpu_losses, strict=True)]
    # A difference that is no number must not pass.
    first, rest = bool(far[0] <= FIRST_LOSS), all(each <= NEXT_LOSSES for each in far[1:])
    within = min(cpu_accuracies) <= accuracy <= max(cpu_accuracies)
    return {
        "losses": losses,
        "cpu_losses": cpu_losses,
        "first_difference": far[0],
        "largest_difference": max(far[1:]),
        "accuracy": accuracy,
        "cpu_accuracies": cpu_accuracies,
        "first_agrees": first,
        "others_agree": rest,
        "accuracy_agrees": within,
        "agrees": first and rest and within,
    }


def agreement(bench: Bench) -> dict[str, Any]:
    """Losses and accuracy on the device against the processor; where there is no device, of two threads against one."""
    rows = make_pairs(bench.scale.n_agreement, 3, "agreement", bench.scale)
    found = {}
    for model in bench.scale.compared:
        of_cpu = []
        for seed in range(N_CPU_SEEDS):
            with threads(1 if bench.device == "cpu" else cores()):
                loop = bench.loop(model, seed, rows, "cpu")
                losses = losses_of(loop, 1 + N_NEXT)
                of_cpu.append((losses, accuracy(loop.evaluate(encoded(loop, bench.test)), bench.test)))
        accuracies = [each for _, each in of_cpu]
        # Not at an end of the range, where one example more or less would decide.
        middle = int(np.argsort(accuracies)[N_CPU_SEEDS // 2])
        with threads(2):
            loop = bench.loop(model, middle, rows, bench.device)
            losses = losses_of(loop, 1 + N_NEXT)
            reached = accuracy(loop.evaluate(encoded(loop, bench.test)), bench.test)
        found[model.name] = {"seed": middle, **agreement_of(losses, of_cpu[middle][0], reached, accuracies)}
    apart = [name for name, each in found.items() if not each["agrees"]]
    if apart:
        raise CheckError(f"{', '.join(apart)}: the device and the processor do not agree", found)
    return found


def determinism(bench: Bench) -> dict[str, Any]:
    """Files of two runs of one seed with `deterministic`."""
    found = {}
    for model in bench.scale.repeated:
        digests = []
        for turn in ("first", "second"):
            out = bench.folder / "determinism" / model.name / turn
            run_seeds(bench, model, out, 1, deterministic=True, rows=bench.scale.n_agreement)
            files = [*out.rglob("weights.safetensors"), *out.glob("*.parquet"), *out.glob("*/*.parquet")]
            kept = sorted(file for file in files if "_data" not in file.parts)
            digests.append({str(file.relative_to(out)): _digest(file) for file in kept})
        found[model.name] = {"files": len(digests[0]), "equal": bool(digests[0]) and digests[0] == digests[1]}
    different = [name for name, each in found.items() if not each["equal"]]
    if different:
        raise CheckError(f"{', '.join(different)}: two runs of one seed are not equal", found)
    return found


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run_seeds(bench: Bench, model: Model, out: Path, seeds: int, **options: Any) -> float:
    """Train runs as the command does, and give the seconds."""
    started = time.perf_counter()
    report = train(
        bench.train,
        bench.place(model),
        bench.test,
        out=out,
        seeds=seeds,
        configuration="desk" if model.shape is None else "published",
        changes=model.changes,
        device=bench.device,
        **options,
    )
    seconds = time.perf_counter() - started
    if report.failures.height:
        raise RuntimeError(f"a run failed: {report.failures['reason'][0]}")
    return seconds


def training(bench: Bench) -> dict[str, Any]:
    """Ours and the Trainer, each model in each precision."""
    found: dict[str, Any] = {}
    for model in bench.scale.models:
        for precision in bench.precisions:
            ours = _ours(bench, model, precision)
            free_cache()
            usual = _trainer(bench, model, precision)
            free_cache()
            found[f"{model.name}, {precision}"] = {
                "ours": ours,
                "trainer": usual,
                "ratio": ours["examples_per_second"] / usual["examples_per_second"],
            }
    return found


def _ours(bench: Bench, model: Model, precision: str) -> dict[str, Any]:
    loop = bench.loop(model, 0, bench.train, bench.device, precision)
    meter = Meter(bench.device)
    for reached in loop.run():
        if reached.step == bench.scale.warm:
            meter.start()
    meter.stop()
    loop.check_losses()
    reached_accuracy = accuracy(loop.evaluate(encoded(loop, bench.test)), bench.test)
    return {**meter.to_dict(_n_measured(bench, loop.recipe)), "accuracy": reached_accuracy}


def _n_measured(bench: Bench, recipe: Recipe) -> int:
    """Training examples that the clock sees."""
    return recipe.epochs * bench.scale.n_train - bench.scale.warm * recipe.batch_size


def _trainer(bench: Bench, model: Model, precision: str) -> dict[str, Any]:
    """Transformers' Trainer with the same model, data, recipe and precision, and its own way of making batches."""
    from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

    recipe = bench.configuration(model).recipe
    meter, warm = Meter(bench.device), bench.scale.warm

    class Clock(TrainerCallback):
        def on_step_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            if state.global_step == warm:
                meter.start()

        def on_train_end(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
            meter.stop()

    network, train_rows, test_rows, collate = (_hugging_face if model.shape else _wrapped)(bench, model)
    trainer = Trainer(
        network,
        TrainingArguments(
            output_dir=str(bench.folder / "trainer"),
            per_device_train_batch_size=recipe.batch_size,
            per_device_eval_batch_size=256,
            num_train_epochs=recipe.epochs,
            learning_rate=recipe.learning_rate,
            weight_decay=recipe.weight_decay,
            warmup_steps=recipe.warmup,
            max_grad_norm=recipe.clip or 0.0,
            bf16=precision == "bfloat16",
            use_cpu=bench.device == "cpu",
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
            label_names=["labels"],
        ),
        data_collator=collate,
        train_dataset=train_rows,
        eval_dataset=test_rows,
        callbacks=[Clock()],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    logits = trainer.predict(test_rows).predictions
    return {**meter.to_dict(_n_measured(bench, recipe)), "accuracy": accuracy(np.asarray(logits), bench.test)}


class _Rows(torch.utils.data.Dataset):
    """Items as the Trainer takes them."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at: int) -> Any:
        return self.items[at]


def _hugging_face(bench: Bench, model: Model) -> tuple[nn.Module, _Rows, _Rows, Any]:
    """A checkpoint as the library opens it, and its own way of padding."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding

    place = bench.place(model)
    tokenizer = AutoTokenizer.from_pretrained(place)

    def items(rows: Dataset) -> _Rows:
        texts = tokenizer(*(rows.texts(role) for role in rows.text_columns), truncation=True, max_length=128)
        labels = rows.labels().tolist()
        return _Rows([{name: texts[name][at] for name in texts} | {"labels": labels[at]} for at in range(len(rows))])

    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(place, num_labels=len(LABELS))
    return network, items(bench.train), items(bench.test), DataCollatorWithPadding(tokenizer)


class _Wrapped(nn.Module):
    """A network of ours as the Trainer calls models; its optimizer takes no sparse gradients."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        network.vectors.sparse = False

    def forward(
        self, labels: torch.Tensor, counts: tuple[int, ...], **tensors: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        logits = self.network(Batch(tensors, len(labels), tuple(counts)))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def _wrapped(bench: Bench, model: Model) -> tuple[nn.Module, _Rows, _Rows, Any]:
    loop = bench.loop(model, 0, bench.train, "cpu")
    parts = {"train": (loop.examples.encoded, bench.train), "test": (encoded(loop, bench.test), bench.test)}

    def collate(items: list[tuple[str, int]]) -> dict[str, Any]:
        texts, rows = parts[items[0][0]]
        places = np.array([place for _, place in items])
        batch = loop.network.collate(texts, places)
        return {**batch.tensors, "counts": batch.counts, "labels": torch.from_numpy(rows.labels()[places])}

    train_rows, test_rows = (_Rows([(part, at) for at in range(len(rows))]) for part, (_, rows) in parts.items())
    return _Wrapped(loop.network), train_rows, test_rows, collate


def evaluation(bench: Bench) -> dict[str, Any]:
    """Examples a second, of the second evaluation: the first finds how many fit."""
    found = {}
    for model in bench.scale.models:
        precision = bench.precisions[-1]
        loop = bench.loop(model, 0, bench.test, bench.device, precision)
        texts = encoded(loop, bench.test)
        loop.evaluate(texts)
        meter = Meter(bench.device)
        meter.start()
        loop.evaluate(texts)
        meter.stop()
        batch = min(loop.evaluation_batch, len(bench.test))
        found[f"{model.name}, {precision}"] = {**meter.to_dict(len(bench.test)), "batch": batch}
        del loop
        free_cache()
    return found


def checkpoints(bench: Bench) -> dict[str, Any]:
    """Size of a state, and seconds to write it and to read it again."""
    found = {}
    for model in bench.scale.models:
        loop = bench.loop(model, 0, bench.test, bench.device)
        steps = loop.run()
        next(steps)
        steps.close()
        path = bench.folder / "state.safetensors"
        started = time.perf_counter()
        write_state(path, loop.position, loop.tensors())
        written = time.perf_counter() - started
        started = time.perf_counter()
        kept = read_state(path)
        if kept is None:
            raise RuntimeError("the state is not there")
        loop.restore(*kept)
        finish(bench.device)
        found[model.name] = {
            "bytes": path.stat().st_size,
            "parameters": sum(each.numel() for each in loop.network.parameters()),
            "write_seconds": written,
            "read_seconds": time.perf_counter() - started,
        }
        path.unlink()
        del loop, kept
        free_cache()
    return found


def seeds(bench: Bench) -> dict[str, Any]:
    """Seconds of one run and of several, as the command does them."""
    model = bench.scale.models[0]
    one = run_seeds(bench, model, bench.folder / "seeds" / "one", 1)
    several = run_seeds(bench, model, bench.folder / "seeds" / "several", bench.scale.n_seeds)
    return {model.name: {"one": one, "several": several, "n_seeds": bench.scale.n_seeds, "ratio": several / one}}


def described(device: str) -> dict[str, Any]:
    """The machine and the libraries."""
    import accelerate
    import transformers

    known: dict[str, Any] = {
        "device": device,
        "name": platform.processor() or platform.machine(),
        "cores": cores(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "accelerate": accelerate.__version__,
    }
    if device == "cuda":
        of_gpu = torch.cuda.get_device_properties(0)
        known |= {
            "name": of_gpu.name,
            "memory": of_gpu.total_memory,
            "capability": list(torch.cuda.get_device_capability(0)),
            "cuda": torch.version.cuda,
            "gpus": torch.cuda.device_count(),
        }
    return known


def found_device() -> str:
    """The device that trainings take by themselves."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def quiet() -> Iterator[None]:
    """Other libraries' progress and advice do not stand between the lines."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with tempfile.TemporaryFile("w+") as aside:
        before = os.dup(sys.stderr.fileno())
        os.dup2(aside.fileno(), sys.stderr.fileno())
        try:
            yield
        finally:
            os.dup2(before, sys.stderr.fileno())
            os.close(before)


def run_section(name: str, bench: Bench) -> dict[str, Any]:
    """A section's figures, or how it failed."""
    started = time.perf_counter()
    section: dict[str, Any] = {"name": name, "ok": False}
    function: Callable[[Bench], dict[str, Any]] = globals()[name]
    try:
        with quiet():
            section |= {"result": function(bench), "ok": True}
    except CheckError as failed:
        section |= {"result": failed.result, "error": str(failed), "traceback": traceback.format_exc()}
    # What one section fails with must not keep the others from being measured.
    except Exception as error:
        line = " ".join(str(error).split())[:300]
        section |= {"error": f"{type(error).__name__}: {line}", "traceback": traceback.format_exc()}
    free_cache()
    return section | {"seconds": time.perf_counter() - started}


def markdown(found: dict[str, Any]) -> str:
    """The tables."""
    device, by_name = found["device"], {each["name"]: each for each in found["sections"]}
    lines = [
        f"{device['name']}, {device['cores']} cores, torch {device['torch']}, transformers {device['transformers']}; "
        f"{found['scale']} size, {found['seconds']:.0f} s in all.",
        "",
    ]
    results = {name: each.get("result", {}) for name, each in by_name.items()}
    if results.get("training"):
        head = ("training", "examples/s", "Trainer's", "ratio", "accuracy", "Trainer's", "peak memory", "Trainer's",
                "at work", "Trainer's")  # fmt: skip
        rows = [
            (name, _whole(each["ours"]["examples_per_second"]), _whole(each["trainer"]["examples_per_second"]),
             f"{each['ratio']:.2f}", _percent(each["ours"]["accuracy"]), _percent(each["trainer"]["accuracy"]),
             _bytes(each["ours"]["peak_memory"]), _bytes(each["trainer"]["peak_memory"]),
             _percent(each["ours"]["utilization"]), _percent(each["trainer"]["utilization"]))
            for name, each in results["training"].items()
        ]  # fmt: skip
        lines += _table(head, rows)
    if results.get("evaluation"):
        rows = [
            (name, _whole(each["examples_per_second"]), _whole(each["batch"]), _bytes(each["peak_memory"]))
            for name, each in results["evaluation"].items()
        ]
        lines += _table(("evaluation", "examples/s", "at once", "peak memory"), rows)
    if results.get("checkpoints"):
        rows = [
            (name, _bytes(each["bytes"]), f"{each['write_seconds']:.2f} s", f"{each['read_seconds']:.2f} s")
            for name, each in results["checkpoints"].items()
        ]
        lines += _table(("state", "size", "to write", "to read"), rows)
    if results.get("seeds"):
        rows = [
            (name, f"{each['one']:.1f} s", f"{each['several']:.1f} s", _whole(each["n_seeds"]), f"{each['ratio']:.2f}")
            for name, each in results["seeds"].items()
        ]
        lines += _table(("seeds", "one", "several", "how many", "ratio"), rows)
    if results.get("agreement"):
        rows = [
            (name, f"{each['first_difference']:.1e}", f"{each['largest_difference']:.1e}", _percent(each["accuracy"]),
             f"{_percent(min(each['cpu_accuracies']))} to {_percent(max(each['cpu_accuracies']))}",
             "yes" if each["agrees"] else "no")
            for name, each in results["agreement"].items()
        ]  # fmt: skip
        head = ("against the processor", "first loss", "next 20, at most", "accuracy", "of 5 seeds there", "agrees")
        lines += _table(head, rows)
    if results.get("determinism"):
        rows = [(name, "yes" if each["equal"] else "no") for name, each in results["determinism"].items()]
        lines += _table(("two runs with --deterministic", "equal"), rows)
    lines += [f"- failed: {name}: {each['error']}" for name, each in by_name.items() if not each["ok"]]
    return "\n".join(lines).rstrip() + "\n"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)] + [""]


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}%"


def _bytes(value: int | None) -> str:
    return "–" if value is None else f"{value / 2**20:,.1f} MiB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("gpu-results"), metavar="FOLDER")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    parser.add_argument("--minutes", type=float, default=8.0, help="Sections that would begin later are not begun.")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION")
    asked = parser.parse_args()
    device = found_device() if asked.device == "auto" else asked.device
    scale = SMALL if device == "cpu" else FULL
    if device == "cpu":
        print("There is no accelerator, or none is asked for: the same is done on the processor, at a small size.")
    torch.set_num_threads(cores())
    started = time.perf_counter()
    sections = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(device, scale, Path(folder))
        for name in SECTIONS:
            if name not in asked.only:
                continue
            if time.perf_counter() - started < 60 * asked.minutes:
                section = run_section(name, bench)
            else:
                late = f"not begun: {asked.minutes:g} minutes are over"
                section = {"name": name, "ok": False, "error": late, "traceback": "", "seconds": 0.0}
            sections.append(section)
            print(f"{name}: {'done' if section['ok'] else section['error']} ({section['seconds']:.1f} s)", flush=True)
            # What is measured stays, whatever becomes of the sections that follow.
            found = {
                "version": VERSION,
                "accelerator": device != "cpu",
                "scale": scale.name,
                "device": described(device),
                "seconds": time.perf_counter() - started,
                "sections": sections,
            }
            asked.results.mkdir(parents=True, exist_ok=True)
            (asked.results / "gpu.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
            (asked.results / "gpu.md").write_text(markdown(found), encoding="utf-8")
    print()
    print(markdown(found))
    return 0 if all(section["ok"] for section in sections) else 1


if __name__ == "__main__":
    # The Trainer would share a batch among several GPUs, and be compared with one.
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
    sys.exit(main())
