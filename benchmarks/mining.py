"""How fast patterns are mined, against references that give the identical table, in one run.

    python benchmarks/mining.py                         # real SNLI hypotheses (GOLDASSAY_DATA names the data folder)
    python benchmarks/mining.py --generate 550000       # as many generated sentences
    python benchmarks/mining.py --generate 5500000 --only ours
    python benchmarks/mining.py --generate 550000 --only ours duckdb    # a slice: ours is counted again beside it
    python benchmarks/mining.py --generate 20000000 --write FILE.jsonl  # to be mined by: goldassay artifacts mine
    python benchmarks/mining.py --judge train_2000000.tsv --only ours   # a tab-separated file with hypothesis and label

References count tokenized sentences: a `collections.Counter` of tuples (plain, and with rare tokens and pairs pruned
as exactly as ours), polars, and duckdb if it is installed. Peak memory is of the process so far, so ours is run first.
What the audit then does with the findings (q at most .01, share above .7) is timed too: finding the parts that were cut
away, folding, and counting coverage, against references that walk Python tuples and sort all matches.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from goldassay.artifacts import PatternTable, fold_redundant, mine_patterns
from goldassay.data.tokenization import TokenizedCorpus, tokenize
from goldassay.questions.artifacts.measures.matching import encode_labels
from goldassay.questions.artifacts.measures.mining import count_patterns, parts_below
from goldassay.questions.artifacts.measures.presence import CoverageCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))
FILES = ("train_sample_2k", "train_sample_18k", "dev", "test_9824")
MAX_TOKENS, MAX_GAP = 3, 3

# Thresholds at which coverage is counted.
CURVE = (-1.0, 0.75, 0.9)

T = TypeVar("T")
U = TypeVar("U")
# (first, distance, second, distance, third), cut off where a pattern ends.
Key = tuple[int, ...]
Counts = dict[Key, list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generate", type=int, metavar="N", help="mine N generated sentences")
    parser.add_argument("--judge", type=Path, metavar="FILE", help="mine the sentences of this file")
    parser.add_argument("--min-count", type=int, default=None, help="default 50, or 20 for the real sentences")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--only", nargs="*", choices=["ours", *REFERENCES], default=["ours", *REFERENCES])
    parser.add_argument("--write", metavar="FILE", help="only write the generated sentences, as JSON lines")
    arguments = parser.parse_args()
    sentences, labels = read_file(arguments.judge) if arguments.judge else read_snli()
    if arguments.write:
        write(Path(arguments.write), generated(sentences, labels, arguments.generate))
        return
    if arguments.generate:
        sentences, labels = generate(sentences, labels, arguments.generate)
    min_count = arguments.min_count or (50 if arguments.generate or arguments.judge else 20)
    print(f"{len(sentences):,} sentences, min_count {min_count}, {peak():,.0f} MB so far")

    print(f"cold: a first call that compiles the kernels: {first_call(fresh=True):.1f} s")
    print(f"warm: one that loads them from the cache: {first_call(fresh=False):.1f} s")
    mine_patterns(sentences[:500], labels[:500], min_count=5)

    ours, (wall, cpu) = timed(
        lambda: mine_patterns(sentences, labels, min_count=min_count, n_threads=arguments.threads)
    )
    print(f"raw text to table: {wall:.2f} s ({cpu:.2f} s CPU), peak {peak():,.0f} MB, {len(ours):,} patterns")
    corpus, (wall, cpu) = timed(lambda: tokenize(sentences))
    print(f"  tokenizing: {wall:.2f} s ({cpu:.2f} s CPU), {corpus.ids.size:,} tokens")
    codes, names = encode_labels(labels, None, len(labels))
    _, (wall, cpu) = timed(
        lambda: count_patterns(corpus, codes, len(names), MAX_TOKENS, MAX_GAP, min_count, arguments.threads)
    )
    print(f"  counting:   {wall:.2f} s ({cpu:.2f} s CPU)")
    judge(ours, corpus, codes)
    references = [name for name in REFERENCES if name in arguments.only]
    expected = counts_of(ours, corpus) if references else {}
    for name in references:
        try:
            found, (seconds, cpu) = timed(lambda name=name: REFERENCES[name](corpus, codes, len(names), min_count))
        except ImportError as error:
            print(f"{name}: left out, {error}")
            continue
        same = "identical" if found == expected else "DIFFERENT"
        print(f"{name}: {seconds:.2f} s ({cpu:.2f} s CPU), {seconds / wall:.0f} times our counting, {same}")


def judge(mined: PatternTable, corpus: TokenizedCorpus, codes: np.ndarray) -> None:
    significant = mined.significant(0.01)
    cut = significant.select(0.7)
    # Once in small, so that no kernel is compiled or loaded meanwhile.
    few = cut.take(range(min(len(cut), 100)))
    fold_redundant(few, parts_below(few, [few]))
    CoverageCount(few, CURVE).add(corpus.take(np.arange(len(corpus)) < 100), codes[:100])
    print(f"{len(cut):,} findings among {len(significant):,} significant patterns")
    below = against(
        "parts below",
        lambda: parts_below(cut, [significant]),
        lambda: below_by_keys(cut, significant),
        lambda ours, theirs: ours.to_frame().equals(theirs.to_frame()),
    )
    against(
        "folding",
        lambda: fold_redundant(cut, below),
        lambda: fold_by_dictionaries(cut, below),
        lambda ours, theirs: ours.select("folded_under", "n_folded").equals(theirs),
    )
    against(
        "coverage",
        lambda: coverage_of(cut, corpus, codes),
        lambda: coverage_of_matches(cut, corpus, codes),
        lambda ours, theirs: ours == theirs,
    )


def against(step: str, ours: Callable[[], T], theirs: Callable[[], U], same: Callable[[T, U], bool]) -> T:
    """Run both, print their times and whether they agree, and give what ours gives."""
    found, (wall, cpu) = timed(ours)
    highest = peak()
    expected, (their_wall, their_cpu) = timed(theirs)
    agrees = "identical" if same(found, expected) else "DIFFERENT"
    print(
        f"  {step + ':':13} {wall:.2f} s ({cpu:.2f} s CPU), peak {highest:,.0f} MB; reference {their_wall:.2f} s "
        f"({their_cpu:.2f} s CPU), {their_cpu / cpu:.0f} times the CPU, {agrees}"
    )
    return found


def parts_of(tokens: tuple[str, ...], gaps: tuple[int, ...]) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    places = [0]
    for gap in gaps:
        places.append(places[-1] + gap + 1)
    for length in range(1, len(tokens)):
        for kept in itertools.combinations(range(len(tokens)), length):
            yield tuple(tokens[i] for i in kept), tuple(places[b] - places[a] - 1 for a, b in itertools.pairwise(kept))


def keys_of(table: PatternTable) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    frame = table.to_frame()
    return list(zip(map(tuple, frame["tokens"].to_list()), map(tuple, frame["gaps"].to_list()), strict=True))


def below_by_keys(patterns: PatternTable, among: PatternTable) -> PatternTable:
    own = set(keys_of(patterns))
    wanted = {part for key in own for part in parts_of(*key)} - own
    return among.take([row for row, key in enumerate(keys_of(among)) if key in wanted])


def fold_by_dictionaries(patterns: PatternTable, below: PatternTable) -> pl.DataFrame:
    frame, keys = patterns.to_frame(), keys_of(patterns)
    labels, support, probability, low = (
        frame[name].to_list() for name in ("label", "support", "probability", "wilson_low")
    )
    cut = below.to_frame()
    short = dict(zip(zip(keys_of(below), cut["label"], strict=True), cut["probability"], strict=True))
    standing: dict[Any, int] = {}
    holders: dict[Any, int] = {}
    head: list[int | None] = [None] * len(keys)
    n_folded = [0] * len(keys)
    for row in sorted(range(len(keys)), key=lambda row: (-support[row], len(keys[row][0]))):
        parts = [(part, labels[row]) for part in parts_of(*keys[row])]
        takers = [standing[part] for part in parts if part in standing and low[row] <= probability[standing[part]]]
        takers = takers or [holders[part] for part in parts if part in holders and low[row] <= short[part]]
        if takers:
            head[row] = taker = max(takers, key=lambda part: (support[part], -part))
            n_folded[taker] += 1
        else:
            standing[keys[row], labels[row]] = row
            for part in parts:
                if part in short:
                    holders.setdefault(part, row)
    shown = frame["pattern"].to_list()
    under = pl.Series([None if taker is None else shown[taker] for taker in head], dtype=pl.String)
    return pl.DataFrame({"folded_under": under, "n_folded": n_folded})


def coverage_of(patterns: PatternTable, corpus: TokenizedCorpus, codes: np.ndarray) -> list[list[int]]:
    counted = CoverageCount(patterns, CURVE)
    counted.add(corpus, codes)
    return [counted.covered.tolist(), counted.decided.tolist(), counted.easy.tolist()]


def coverage_of_matches(patterns: PatternTable, corpus: TokenizedCorpus, codes: np.ndarray) -> list[list[int]]:
    probability, own = patterns.to_frame()["probability"].to_numpy(), patterns.label_codes()
    found = np.zeros((3, len(CURVE)), np.int64)
    for begin, end, at, rows in patterns.match_blocks(corpus):
        for t, threshold in enumerate(CURVE):
            kept = probability[rows] > threshold
            sets = np.zeros((end - begin, len(patterns.label_names)), np.bool_)
            sets[at[kept], own[rows[kept]]] = True
            single = np.flatnonzero(sets.sum(axis=1) == 1)
            found[:, t] += sets.any(axis=1).sum(), single.size, sets[single, codes[begin:end][single]].sum()
    return found.tolist()


def first_call(fresh: bool) -> float:
    """Seconds of the first call in a new process, its imports left out; with an empty cache or the usual one."""
    code = (
        "import time, numba, polars, scipy.special\n"
        "from goldassay.artifacts import mine_patterns\n"
        "start = time.perf_counter()\n"
        "mine_patterns(['a b c d'] * 50, ['x', 'y'] * 25, min_count=5)\n"
        "print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | ({"NUMBA_CACHE_DIR": folder} if fresh else {})
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def write(path: Path, rows: Iterator[tuple[str, str]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for sentence, label in rows:
            file.write(json.dumps({"hypothesis": sentence, "label": label}, ensure_ascii=False) + "\n")


def read_file(path: Path) -> tuple[list[str], list[str]]:
    frame = pl.read_csv(path, separator="\t", quote_char=None)
    return frame["hypothesis"].to_list(), frame["gold_label"].to_list()


def read_snli() -> tuple[list[str], list[str]]:
    sentences, labels = [], []
    for name in FILES:
        with gzip.open(DATA / "snli" / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                sentences.append(row["hypothesis"])
                labels.append(row["gold_label"])
    return sentences, labels


def generate(sentences: list[str], labels: list[str], n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """The sentences, and the labels, of `generated`."""
    made, made_labels = [], []
    for sentence, label in generated(sentences, labels, n, seed):
        # Pair by pair: a list of millions of pairs would stay in the peak as memory that nothing else can use.
        made.append(sentence)
        made_labels.append(label)
    return made, made_labels


def generated(sentences: list[str], labels: list[str], n: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Sentences from a chain of order two over the words of real ones; one in twenty is a real one as it stands.

    Words, their pairs and whole beginnings so recur about as often as in the corpus that the chain was learnt from;
    labels are drawn with their shares.
    """
    draw, draw_label = random.Random(seed).random, random.Random(seed + 1).random
    follows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for sentence in sentences:
        words = ["", "", *sentence.split(), ""]
        for first, second, third in zip(words, words[1:], words[2:], strict=False):
            follows[first, second].append(third)
    for _ in range(n):
        label = labels[int(draw_label() * len(labels))]
        if draw() < 0.05:
            yield sentences[int(draw() * len(sentences))], label
            continue
        words = ["", ""]
        while len(words) < 60:
            choices = follows[words[-2], words[-1]]
            word = choices[int(draw() * len(choices))]
            if not word:
                break
            words.append(word)
        yield " ".join(words[2:]), label


def timed(work: Callable[[], T]) -> tuple[T, tuple[float, float]]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, (time.perf_counter() - wall, time.process_time() - cpu)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def counts_of(table: PatternTable, corpus: TokenizedCorpus) -> Counts:
    number = {token: i for i, token in enumerate(corpus.vocabulary)}
    frame = table.to_frame()
    rows = zip(frame["tokens"].to_list(), frame["gaps"].to_list(), frame["counts"].to_list(), strict=True)
    found = {}
    for tokens, gaps, counts in rows:
        key = [number[tokens[0]]]
        for token, gap in zip(tokens[1:], gaps, strict=True):
            key += [gap + 1, number[token]]
        found[tuple(key)] = counts
    return found


def sentences_of(corpus: TokenizedCorpus) -> list[list[int]]:
    ids, bounds = corpus.ids.tolist(), corpus.offsets.tolist()
    return [ids[begin:end] for begin, end in itertools.pairwise(bounds)]


def plain_counter(corpus: TokenizedCorpus, codes: np.ndarray, n_labels: int, min_count: int) -> Counts:
    by_label = [Counter[Key]() for _ in range(n_labels)]
    reach = range(1, MAX_GAP + 2)
    for words, label in zip(sentences_of(corpus), codes.tolist(), strict=True):
        n = len(words)
        seen: set[Key] = set()
        for i, first in enumerate(words):
            seen.add((first,))
            for d in reach:
                if (j := i + d) >= n:
                    break
                seen.add((first, d, words[j]))
                seen.update((first, d, words[j], e, words[j + e]) for e in reach if j + e < n)
        by_label[label].update(seen)
    return kept(by_label, min_count)


def pruned_counter(corpus: TokenizedCorpus, codes: np.ndarray, n_labels: int, min_count: int) -> Counts:
    sentences, labels = sentences_of(corpus), codes.tolist()
    reach = range(1, MAX_GAP + 2)
    singles = [Counter[Key]() for _ in range(n_labels)]
    for words, label in zip(sentences, labels, strict=True):
        singles[label].update({(word,) for word in words})
    found = kept(singles, min_count)
    frequent = {key[0] for key in found}
    pairs = [Counter[Key]() for _ in range(n_labels)]
    for words, label in zip(sentences, labels, strict=True):
        pairs[label].update(
            {
                (first, d, words[i + d])
                for i, first in enumerate(words)
                if first in frequent
                for d in reach
                if i + d < len(words) and words[i + d] in frequent
            }
        )
    frequent_pairs = kept(pairs, min_count)
    triples = [Counter[Key]() for _ in range(n_labels)]
    for words, label in zip(sentences, labels, strict=True):
        starts = [
            [d for d in reach if i + d < len(words) and (word, d, words[i + d]) in frequent_pairs]
            for i, word in enumerate(words)
        ]
        triples[label].update(
            {
                (words[i], d, words[i + d], e, words[i + d + e])
                for i, distances in enumerate(starts)
                for d in distances
                for e in starts[i + d]
                if d + e > MAX_GAP + 1 or d + e in distances
            }
        )
    return found | frequent_pairs | kept(triples, min_count)


def kept(by_label: list[Counter[Key]], min_count: int) -> Counts:
    total: Counter[Key] = Counter()
    for counter in by_label:
        total.update(counter)
    return {key: [counter[key] for counter in by_label] for key, n in total.items() if n >= min_count}


def shapes() -> list[tuple[int, ...]]:
    reach = range(1, MAX_GAP + 2)
    return [(), *[(d,) for d in reach], *[(d, e) for d in reach for e in reach]]


def positions_frame(corpus: TokenizedCorpus, codes: np.ndarray) -> pl.DataFrame:
    lengths = np.diff(corpus.offsets)
    return pl.DataFrame(
        {
            "s": np.repeat(np.arange(lengths.size, dtype=np.int32), lengths),
            "label": np.repeat(codes.astype(np.int8), lengths),
            "t": corpus.ids,
        }
    )


def by_polars(corpus: TokenizedCorpus, codes: np.ndarray, n_labels: int, min_count: int) -> Counts:
    frame = positions_frame(corpus, codes)
    found: Counts = {}
    for shape in shapes():
        steps = [0, *np.cumsum(shape).tolist()]
        names = [f"t{i}" for i in range(len(steps))]
        columns = [pl.col("t").shift(-step).over("s").alias(name) for step, name in zip(steps, names, strict=True)]
        counted = (
            frame.lazy()
            .select("s", "label", *columns)
            .drop_nulls()
            .unique()
            .group_by(names)
            .agg([(pl.col("label") == k).sum().alias(f"n{k}") for k in range(n_labels)])
            .filter(pl.sum_horizontal(f"n{k}" for k in range(n_labels)) >= min_count)
            .collect()
        )
        add_rows(found, counted.rows(), shape, len(names))
    return found


def by_duckdb(corpus: TokenizedCorpus, codes: np.ndarray, n_labels: int, min_count: int) -> Counts:
    import duckdb

    connection = duckdb.connect()
    connection.register("positions", positions_frame(corpus, codes).with_row_index("p").to_arrow())
    connection.execute("create table words as select * from positions")
    found: Counts = {}
    for shape in shapes():
        steps = [0, *np.cumsum(shape).tolist()]
        names = [f"t{i}" for i in range(len(steps))]
        leads = ", ".join(
            f"lead(t, {step}) over (partition by s order by p) {name}" for step, name in zip(steps, names, strict=True)
        )
        sums = ", ".join(f"sum((label = {k})::int)::bigint" for k in range(n_labels))
        grouped = ", ".join(names)
        rows = connection.execute(
            f"select {grouped}, {sums} from (select distinct s, label, {grouped} from "
            f"(select s, label, {leads} from words) where {names[-1]} is not null) "
            f"group by {grouped} having count(*) >= {min_count}"
        ).fetchall()
        add_rows(found, rows, shape, len(names))
    return found


def add_rows(found: Counts, rows: list[tuple[int, ...]], shape: tuple[int, ...], n_tokens: int) -> None:
    for row in rows:
        key = [row[0]]
        for distance, token in zip(shape, row[1:n_tokens], strict=True):
            key += [distance, token]
        found[tuple(key)] = list(row[n_tokens:])


REFERENCES: dict[str, Callable[[TokenizedCorpus, np.ndarray, int, int], Counts]] = {
    "plain Counter": plain_counter,
    "pruned Counter": pruned_counter,
    "polars": by_polars,
    "duckdb": by_duckdb,
}

if __name__ == "__main__":
    main()
