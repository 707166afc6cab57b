"""Training against the usual way: examples a second and dev accuracy at equal epochs, both in the same run.

    GOLDASSAY_DATA=DIR python benchmarks/training.py --checkpoint FOLDER [--only NAME] [--seeds 0,1,2] [--results FILE]

The usual way: the same network in plain torch (`plain_networks.py`), batches of 32 in random order padded to their
longest, float32, dense Adam; the learning rate is ours, scaled by the square root of the batch sizes' ratio, with the
same decay and clipping. For `transformer`: the Trainer of transformers with its defaults. Each is trained in
a process of its own with one thread on SNLI's sample, as many epochs as ours; seconds are those of training alone,
without tokenization and evaluation. `side` trains two seeds, one after the other and side by side.

Ours is measured as it comes (float32) and with 16-bit products, `--precision bfloat16` on the command line.

Parts can be measured one at a time: results are kept in a file, and the table is made of all that is there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.data.reading import read_dataset

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.configuration import Configuration

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))
# None where nothing was asked for.
WANTED: dict[str, float | None] = {
    "ngram_average": 8.0, "word_average": None, "bilstm": 8.0, "lstm": 8.0, "infersent": 8.0, "esim": 8.0, "dam": 4.0,
    "convnet": 4.0, "transformer": 2.0, "side": 1.9,
}  # fmt: skip
# Training rows, test rows and epochs of the slow one; the others take all rows and their own number of epochs.
FINE_TUNING = (2000, 2000, 2)
USUAL_BATCH = 32


def read_parts(name: str) -> tuple[Dataset, Dataset]:
    train, dev = (read_dataset(DATA / "snli" / f"{part}.tsv.gz") for part in ("train_sample_18k", "dev"))
    if name != "transformer":
        return train, dev
    rng = np.random.default_rng(0)
    return tuple(
        part.take(rng.choice(len(part), n, replace=False))
        for part, n in zip((train, dev), FINE_TUNING[:2], strict=True)
    )


def configuration_of(name: str) -> Configuration:
    from goldassay.lab.models import load_network

    if name == "transformer":
        from goldassay.lab.models.transformer import Network

        # With so few rows four times fewer steps cost ten points: the batches are those of the Trainer.
        return Network.configurations["desk"].replaced({"epochs": FINE_TUNING[2], "batch_size": 8})
    return load_network(name).configurations["desk"]


def columns(data: Dataset) -> tuple[list[str], ...]:
    return tuple(data.texts(role) for role in data.text_columns)


def build(name: str, seed: int, checkpoint: str | None) -> tuple[Any, Dataset, Dataset, Configuration]:
    import torch

    from goldassay.lab.models import load_network
    from goldassay.lab.models.configuration import Task

    train, dev = read_parts(name)
    configuration = configuration_of(name)
    place = str(checkpoint) if name == "transformer" else name
    torch.manual_seed(seed)
    task = Task(train.text_columns, train.label_names)
    return load_network(place).build(task, columns(train), configuration.sizes, place), train, dev, configuration


def ours(name: str, seed: int, precision: str, checkpoint: str | None) -> dict[str, float]:
    from goldassay.lab.training.job import Seeds
    from goldassay.lab.training.loop import Examples, Loop
    from goldassay.lab.training.objectives import load_objective
    from goldassay.lab.training.precision import open_accelerator
    from goldassay.readers.probes import gold_codes

    network, train, dev, configuration = build(name, seed, checkpoint)
    examples = Examples(network.encode(columns(train)), train.labels())
    loop = Loop(
        network, load_objective("cross_entropy")(), configuration.recipe, Seeds.varying(seed), examples,
        open_accelerator("cpu", precision),
    )  # fmt: skip
    began = time.perf_counter()
    for _ in loop.run():
        pass
    seconds = time.perf_counter() - began
    right = loop.evaluate(network.encode(columns(dev))).argmax(1) == gold_codes(dev, train.label_names)
    return {"rate": len(train) * configuration.recipe.epochs / seconds, "accuracy": float(right.mean())}


def usual(name: str, seed: int, checkpoint: str | None) -> dict[str, float]:
    if name == "transformer":
        return by_trainer(seed, str(checkpoint))
    import torch
    from plain_networks import plain_network

    from goldassay.readers.probes import gold_codes

    network, train, dev, configuration = build(name, seed, checkpoint)
    recipe = configuration.recipe
    rows, unseen = (as_lists(network.encode(columns(part))) for part in (train, dev))
    labels = torch.from_numpy(train.labels())
    model = plain_network(name, network.vectors.weight, configuration.sizes, len(train.label_names))
    peak = recipe.learning_rate * (USUAL_BATCH / recipe.batch_size) ** 0.5
    optimizer = torch.optim.Adam(model.parameters(), lr=peak)
    total = recipe.epochs * -(-len(train) // USUAL_BATCH)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / total)
    rng = np.random.default_rng(seed)
    began = time.perf_counter()
    model.train()
    for _ in range(recipe.epochs):
        order = rng.permutation(len(train))
        for start in range(0, len(train), USUAL_BATCH):
            batch = order[start : start + USUAL_BATCH]
            loss = torch.nn.functional.cross_entropy(model(*padded(rows, batch)), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimizer.step()
            decay.step()
    seconds = time.perf_counter() - began
    model.eval()
    with torch.no_grad():
        blocks = np.array_split(np.arange(len(dev)), 100)
        named = np.concatenate([model(*padded(unseen, block)).argmax(1).numpy() for block in blocks])
    right = named == gold_codes(dev, train.label_names)
    return {"rate": len(train) * recipe.epochs / seconds, "accuracy": float(right.mean())}


def as_lists(encoded: Any) -> list[list[Any]]:
    import torch

    parts = zip(encoded.words, encoded.grams, strict=True) if encoded.grams else ((words,) for words in encoded.words)
    return [
        [torch.from_numpy(np.concatenate([each.row(i) for each in several])) for i in range(len(encoded))]
        for several in parts
    ]


def padded(texts: list[list[Any]], rows: Any) -> list[Any]:
    from torch.nn.utils.rnn import pad_sequence

    return [pad_sequence([column[row] for row in rows], batch_first=True) for column in texts]


def by_trainer(seed: int, checkpoint: str) -> dict[str, float]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments, logging

    from goldassay.readers.probes import gold_codes

    logging.set_verbosity_error()
    train, dev = read_parts("transformer")
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=len(train.label_names))

    def rows(data: Dataset) -> list[dict[str, Any]]:
        encoded = tokenizer(*columns(data), truncation=True, max_length=128)
        codes = gold_codes(data, train.label_names)
        return [{**{key: encoded[key][i] for key in encoded}, "label": int(codes[i])} for i in range(len(data))]

    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                folder, num_train_epochs=FINE_TUNING[2], seed=seed, use_cpu=True, report_to="none",
                save_strategy="no", disable_tqdm=True,
            ),
            train_dataset=rows(train),
            processing_class=tokenizer,
        )  # fmt: skip
        began = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - began
        right = trainer.predict(rows(dev)).predictions.argmax(1) == gold_codes(dev, train.label_names)
    return {"rate": len(train) * FINE_TUNING[2] / seconds, "accuracy": float(right.mean())}


def side_by_side() -> dict[str, float]:
    """Seconds for two seeds of the BiLSTM, as the command trains them."""
    from goldassay.lab.training.many_seeds import plan_jobs
    from goldassay.lab.training.workers import run_jobs

    train, dev = read_parts("bilstm")
    seconds = {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            jobs = plan_jobs(train, "bilstm", {"dev": dev}, out=folder, seeds=2)
            began = time.perf_counter()
            run_jobs(jobs, workers)
            seconds[f"seconds_{workers}"] = time.perf_counter() - began
    return seconds


def measure(who: str, name: str, seed: int, checkpoint: str | None) -> dict[str, float]:
    """One training in a process of its own: ours as the command starts it, the other as one starts a script."""
    from goldassay.lab.training.workers import ENVIRONMENT

    more = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} if who == "usual" else ENVIRONMENT
    command = [sys.executable, __file__, "--measure", who, "--only", name, "--seeds", str(seed)]
    if checkpoint is not None:
        command += ["--checkpoint", checkpoint]
    done = subprocess.run(command, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.rstrip().split("\n")[-1])
    return found


def table(results: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| network | way | examples a second | times the usual | dev accuracy | within the seeds' spread | wanted |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in (each for each in WANTED if each != "side"):
        of = {who: [r for r in results if (r["name"], r["who"]) == (name, who)] for who in WAYS}
        base = of["usual"]
        for who, several in of.items():
            if not several:
                continue
            rate = float(np.median([r["rate"] for r in several]))
            scores = np.array([r["accuracy"] for r in several])
            spread = f" ± {100 * scores.std(ddof=1):.2f}" if scores.size > 1 else ""
            times = within = wanted = ""
            if base and who != "usual":
                times = f"{rate / float(np.median([r['rate'] for r in base])):.1f}"
                within = _within(scores, np.array([r["accuracy"] for r in base]))
                wanted = "" if WANTED[name] is None else f"{WANTED[name]:.0f}"
            lines.append(
                f"| {name} | {who} | {rate:,.0f} | {times} | {100 * scores.mean():.2f}{spread} "
                f"({scores.size} seeds) | {within} | {wanted} |"
            )
    return lines + [
        f"\nTwo seeds of the BiLSTM: {r['seconds_1']:.1f} s one after the other, {r['seconds_2']:.1f} s side by side, "
        f"{r['seconds_1'] / r['seconds_2']:.2f} times as fast (wanted {WANTED['side']})."
        for r in results
        if r["name"] == "side"
    ]


def _within(scores: Any, base: Any) -> str:
    """Whether the means differ by no more than the seeds of either do."""
    difference = scores.mean() - base.mean()
    spread = max(np.ptp(scores), np.ptp(base))
    word = "yes" if abs(difference) <= spread else "better" if difference > 0 else "no"
    return f"{word} ({100 * difference:+.2f}, spread {100 * spread:.2f})"


WAYS = ("usual", "float32", "bfloat16")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(WANTED), help="one network, or side")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--ways", default=",".join(WAYS), help="which of them: usual,float32,bfloat16")
    parser.add_argument(
        "--checkpoint", help="folder of a small pretrained transformer; without it that part is left out"
    )
    parser.add_argument("--results", type=Path, help="file that results are added to")
    parser.add_argument("--measure", choices=WAYS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if arguments.measure:
        import torch

        torch.set_num_threads(1)
        who, checkpoint = arguments.measure, arguments.checkpoint
        found = (
            usual(arguments.only, seeds[0], checkpoint)
            if who == "usual"
            else ours(arguments.only, seeds[0], who, checkpoint)
        )
        print(json.dumps(found))
        return
    kept = arguments.results
    results = [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    for name in [arguments.only] if arguments.only else list(WANTED):
        if name == "transformer" and arguments.checkpoint is None:
            print("no --checkpoint is given: transformer is left out")
            continue
        todo = [("both", 0)] if name == "side" else [(w, s) for s in seeds for w in arguments.ways.split(",")]
        for who, seed in todo:
            found = side_by_side() if name == "side" else measure(who, name, seed, arguments.checkpoint)
            results.append({"name": name, "who": who, "seed": seed, **found})
            print(json.dumps(results[-1]), flush=True)
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps(results[-1]) + "\n")
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
