"""Make large pair sets for timings: SNLI resampled, with one word of each sentence replaced at random.

    GOLDASSAY_DATA=DIR python benchmarks/large_sets.py FOLDER [--rows 550000] [--test-rows 10000] [--seed 0]

Writes FOLDER/train_ROWS.tsv and FOLDER/test_ROWS.tsv. Training rows are drawn with replacement from SNLI's sample of
18,000 training pairs and its 9,842 dev pairs, test rows from its 9,824 labelled test pairs. In each premise and each
hypothesis one word, drawn uniformly, gives way to a word drawn from all words of the training pairs as often as it
occurs there; the label stays. The rows thus keep SNLI's word frequencies and most of its artifacts, and few are equal.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from goldassay.data.reading import read_dataset

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))
TRAIN = ("snli/train_sample_18k.tsv.gz", "snli/dev.tsv.gz")
TEST = ("snli/test_9824.tsv.gz",)
ROWS_AT_ONCE = 100_000


def read_pairs(names: tuple[str, ...]) -> list[tuple[list[str], list[str], str]]:
    pairs = []
    for name in names:
        part = read_dataset(DATA / name)
        columns = (part.texts("premise"), part.texts("hypothesis"), part.examples["label"].to_list())
        pairs += [
            (premise.split(), hypothesis.split(), label) for premise, hypothesis, label in zip(*columns, strict=True)
        ]
    return pairs


def write_rows(
    path: Path, pairs: list[tuple[list[str], list[str], str]], words: list[str], n_rows: int, rng: np.random.Generator
) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("premise\thypothesis\tgold_label\n")
        for start in range(0, n_rows, ROWS_AT_ONCE):
            n = min(ROWS_AT_ONCE, n_rows - start)
            drawn = rng.integers(0, len(pairs), n).tolist()
            places, others = rng.random((n, 2)).tolist(), rng.integers(0, len(words), (n, 2)).tolist()
            lines = []
            for row, at, new in zip(drawn, places, others, strict=True):
                *texts, label = pairs[row]
                changed = []
                for tokens, share, word in zip(texts, at, new, strict=True):
                    place = int(share * len(tokens))
                    changed.append(" ".join([*tokens[:place], words[word], *tokens[place + 1 :]]))
                lines.append(f"{changed[0]}\t{changed[1]}\t{label}\n")
            file.writelines(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=550_000)
    parser.add_argument("--test-rows", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(arguments.seed)
    train = read_pairs(TRAIN)
    words = [word for premise, hypothesis, _ in train for word in (*premise, *hypothesis)]
    for part, pairs, n_rows in (("train", train, arguments.rows), ("test", read_pairs(TEST), arguments.test_rows)):
        path = arguments.folder / f"{part}_{arguments.rows}.tsv"
        write_rows(path, pairs, words, n_rows, rng)
        print(f"{path}: {n_rows:,} rows, {path.stat().st_size / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
