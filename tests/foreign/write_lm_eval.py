"""Samples and results of the lm-evaluation-harness, of a tiny model made on the spot: python write_lm_eval.py OUT.

Tasks that choose, write, read likelihoods and perplexities; filters, repeats, two seeds, shots, and a group that
weights its tasks by size. What it wrote into its results is what it printed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
TEXT = "yes no maybe Question of small middle large ? . what is it the a red blue green one two three lol"
WORDS = list(dict.fromkeys(TEXT.split(" ")))
ANSWERS = ("red", "blue", "green")
SIZES = {"small": 9, "middle": 16, "large": 31}
COMMON = """
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
    train: {data}
test_split: test
doc_to_text: "{{{{q}}}}"
"""
CHOOSING = """
task: {name}
output_type: multiple_choice
doc_to_choice: "{{{{choices}}}}"
doc_to_target: label
fewshot_split: train
metric_list:
  - metric: acc
  - metric: acc_norm
"""
# Its scores but the last are no numbers: a sample's f1 is the right label and the one chosen.
BINARY = """
task: {name}
output_type: multiple_choice
doc_to_choice: ["yes", "no"]
doc_to_target: binary
metric_list:
  - metric: f1
  - metric: mcc
  - metric: acc
"""
WRITING = """
task: {name}
output_type: generate_until
doc_to_target: answer
generation_kwargs:
  until: ["."]
  max_gen_toks: 2
  do_sample: true
  temperature: 1.0
repeats: 3
filter_list:
  - name: first
    filter:
      - function: take_first
  - name: last-word
    filter:
      - function: regex
        regex_pattern: "(\\\\w+)$"
      - function: majority_vote
      - function: take_first
metric_list:
  - metric: exact_match
    ignore_case: true
"""
LIKELY = """
task: {name}
output_type: loglikelihood
doc_to_target: answer
metric_list:
  - metric: perplexity
  - metric: acc
"""
ROLLING = """
task: {name}
output_type: loglikelihood_rolling
doc_to_target: q
metric_list:
  - metric: word_perplexity
  - metric: bits_per_byte
"""
GROUP = """
group: by_{name}
task: [choose_small, choose_middle, choose_large]
aggregate_metric_list:
  - metric: acc
    aggregation: mean
    weight_by_size: {weighted}
  - metric: acc_norm
    aggregation: mean
    weight_by_size: {weighted}
"""


def tiny_model(folder: Path, seed: int) -> str:
    """A GPT-2 of some thousand weights, with a vocabulary of words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(seed)
    made = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<unk>", "<eos>", *WORDS])}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    named = {"unk_token": "<unk>", "eos_token": "<eos>", "pad_token": "<eos>"}
    PreTrainedTokenizerFast(tokenizer_object=made, **named).save_pretrained(folder)
    config = GPT2Config(
        vocab_size=len(made.get_vocab()), n_embd=16, n_layer=1, n_head=2, n_positions=64, initializer_range=0.4,
        bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    network = GPT2LMHeadModel(config)
    # It mostly says one of these words, so that some answers are right.
    network.transformer.wte.weight.data[[made.token_to_id(word) for word in ANSWERS]] *= 4
    network.save_pretrained(folder)
    return str(folder)


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, n in SIZES.items():
        rows = [
            {
                "q": f"Question {['one', 'two', 'three'][i % 3]} of {name} {WORDS[i % len(WORDS)]} ?",
                "choices": ["yes", "no", "maybe"], "label": (i * 7) % 3, "answer": ANSWERS[i % 3],
                "binary": i % 2,
            }
            for i in range(n)
        ]  # fmt: skip
        data = folder / f"{name}.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        common = COMMON.format(data=data)
        (folder / f"choose_{name}.yaml").write_text(CHOOSING.format(name=f"choose_{name}") + common)
    data = folder / "middle.jsonl"
    for name, text in (("binary", BINARY), ("write", WRITING), ("likely", LIKELY), ("rolling", ROLLING)):
        common = COMMON.format(data=data)
        if name == "rolling":
            common = common.replace('"{{q}}"', '""')
        (folder / f"{name}.yaml").write_text(text.format(name=name) + common)
    for name, weighted in (("size", "true"), ("task", "false")):
        (folder / f"by_{name}.yaml").write_text(GROUP.format(name=name, weighted=weighted))


def evaluate(tasks: Path, out: Path, model: str, names: str, *more: str) -> None:
    """As the command line does, in this process: importing takes longest."""
    from lm_eval.__main__ import cli_evaluate
    from lm_eval.api import metrics

    # The standard errors of f1 and mcc by 100,000 draws take minutes, and no test asks for them.
    metrics.bootstrap_stderr = lambda *_, **__: 0.0
    sys.argv = ["lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={model}", "--tasks", names]
    sys.argv += ["--include_path", str(tasks), "--device", "cpu", "--batch_size", "4"]
    sys.argv += ["--log_samples", "--output_path", str(out), *more]
    cli_evaluate()


def main() -> None:
    out = Path(sys.argv[1])
    out = out.resolve()
    with tempfile.TemporaryDirectory() as name:
        os.environ["HF_HOME"] = f"{name}/home"
        tasks = Path(name) / "tasks"
        prepare(tasks)
        for seed, size in ((1, "one"), (2, "two")):
            model = tiny_model(Path(name) / "models" / size, seed)
            evaluate(tasks, out / "suite", model, "by_size", "--seed", "3")
            evaluate(tasks, out / "unweighted", model, "by_task", "--seed", "3")
            if size == "one":
                for run in ("7", "8"):
                    evaluate(tasks, out / "written", model, "binary,write,likely,rolling", "--seed", run)
                evaluate(tasks, out / "shots", model, "choose_small", "--seed", "3", "--num_fewshot", "0")
                evaluate(tasks, out / "shots", model, "choose_small", "--seed", "3", "--num_fewshot", "2")


if __name__ == "__main__":
    main()
