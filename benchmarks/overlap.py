"""Search of corpora: what is found of planted copies, and how fast, beside a set of n-grams in Python and peers.

    python -m benchmarks.overlap [--recall] [--speed] [--workers] [--large GB] [--megabytes 200]

Recall: specimens of five seeds, each with 20 copies of five kinds among 20,000 documents; by kind the share of copies
whose item is found with its answer, and items that are found and were not planted.

Speed, in MB for each second of one core (processor time, so that other work on the machine changes little): one shard
of JSON lines in ASCII, one thread each, a test set of 10,000 items: the search, the same without a look at the words,
the same shard with other letters, as gzip and as zstandard, and a Python set of n-grams on a part of it. With `--peer
PYTHON` the n-gram decontamination of datatrove, its words split at spaces (its own tokenizer is slower), and lm-eval's
janitor run by that interpreter on the same part.

Workers: the search on two cores beside two bare scanners, each of which has a half of the corpus.

Large: a generated corpus of so many gigabytes by the command, on all cores: wall time and peak memory.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import zstandard

import goldassay
from benchmarks.overlap_peers import Searched, compare
from goldassay.data.specimen.corpus_specimen import COPY_KINDS, N_COPIES, make_corpus_specimen, write_corpus_specimen
from goldassay.kernels import json_lines
from goldassay.kernels.words import words_of
from goldassay.questions.overlap.measures import DIRTY_FROM
from goldassay.questions.overlap.search.confirmation import Confirmation
from goldassay.questions.overlap.search.corpus import Shard, find_corpus
from goldassay.questions.overlap.search.reading import Wanted
from goldassay.questions.overlap.search.scan import scan_corpus
from goldassay.questions.overlap.search.shard import scan_shard
from goldassay.questions.overlap.search.sought import Answer, Sought, SoughtText

N = 13
_PART = 20_000_000


def recall(folder: Path) -> None:
    """Of each kind the share of copies found, over five seeds, and false hits."""
    for n in (13, 8):
        found, some = dict.fromkeys(COPY_KINDS, 0), dict.fromkeys(COPY_KINDS, 0)
        false = 0
        for seed in range(5):
            place = folder / f"seed-{seed}"
            if not place.exists():
                write_corpus_specimen(place, seed=seed)
            rows = goldassay.measure_overlap(place / "test.jsonl", place / "corpus", n=n).tables["overlap_items"]
            hits = set(rows.filter(rows["kind"] == "question and answer")["item"].to_list())
            touched = set(rows.filter(rows["kind"] != "none")["item"].to_list())
            copies = json.loads((place / "certificate.json").read_text())["copies"]
            for copy in copies:
                found[copy["kind"]] += str(copy["item"]) in hits
                some[copy["kind"]] += str(copy["item"]) in touched
            false += len(hits - {str(copy["item"]) for copy in copies})
        shown = ", ".join(f"{kind} {count / (5 * N_COPIES):.0%}" for kind, count in found.items())
        shown += "; 20 % or more: " + ", ".join(f"{kind} {count / (5 * N_COPIES):.0%}" for kind, count in some.items())
        print(f"n = {n}: {shown}; found without being planted: {false} of {5 * 900}")


def test_set(n: int) -> Sought:
    """The items of ten specimens: 10,000."""
    items = [item for seed in range(n // 1000) for item in make_corpus_specimen(seed=seed).items]
    texts, answers = [], []
    for number, (question, answer) in enumerate(items):
        asked, told = words_of(question), words_of(answer)
        size = len(asked)
        texts.append(SoughtText((*asked, *told), number, (0, size), (size, size + len(told))))
        texts.append(SoughtText(tuple(asked), number, (0, size), is_whole=False, part="question"))
        texts.append(SoughtText(tuple(told), number, answer=(0, len(told)), is_whole=False, part="answer"))
        answers.append(tuple(told))
    # The control: behind each question the answer of another item is looked for, too.
    controls = [Answer((own,), (answers[at - 1],)) for at, own in enumerate(answers)]
    return Sought(texts, answers, np.arange(n), N, controls=controls)


def rate(sought: Sought, path: Path) -> tuple[float, int]:
    """MB of unpacked text a second of one core, the best of two, and documents found."""
    best, found = 0.0, 0
    for _ in range(2):
        start = time.process_time()
        result = scan_corpus(sought, find_corpus([path]), n_workers=1)
        best = max(best, result.n_bytes / (time.process_time() - start) / 1e6)
        found = int(result.n_found.sum())
    return best, found


def json_rate(path: Path) -> float:
    """The same without a look at the words."""
    data = np.fromfile(path, np.uint8)
    best = 0.0
    for _ in range(2):
        start = time.process_time()
        ends = np.flatnonzero(data == ord("\n"))
        json_lines.check_lines(data, ends, *Wanted.of(["text"]), np.empty(ends.size, np.int64))
        best = max(best, data.size / (time.process_time() - start) / 1e6)
    return best


def set_rate(items: list[tuple[str, str]], lines: list[str]) -> tuple[float, int]:
    """A set of n-grams in Python, as such searches are often written."""
    word = re.compile(r"[a-z0-9]+")
    sought = set()
    for question, answer in items:
        words = word.findall(f"{question} {answer}".lower())
        sought |= {" ".join(words[at : at + N]) for at in range(len(words) - N + 1)}
    start, found = time.process_time(), 0
    for line in lines:
        words = word.findall(json.loads(line)["text"].lower())
        found += any(" ".join(words[at : at + N]) in sought for at in range(len(words) - N + 1))
    return sum(map(len, lines)) / (time.process_time() - start) / 1e6, found


def searched(sought: Sought, path: Path) -> dict[str, Searched]:
    """The search, and the documents that have 20 % of an item or its question, and 80 % of an item."""
    matches = scan_corpus(sought, find_corpus([path]), n_workers=1).matches
    dirty = matches.filter(matches["coverage"] >= DIRTY_FROM)
    speed_of_one, _ = rate(sought, path)
    return {
        f"this, {name}": Searched(speed_of_one, set(rows["row"].to_list()))
        for name, rows in (("from 20 % on", matches), ("from 80 % on", dirty))
    }


def speed(folder: Path, megabytes: int, peer: str | None, decon: str | None) -> None:
    """The table of speeds."""
    sought = test_set(10_000)
    _ = sought.tables, sought.exact
    specimen = make_corpus_specimen(megabytes * 500, 0)
    path = folder / "shard.jsonl"
    with path.open("w") as stream:
        for at, text in enumerate(specimen.documents()):
            stream.write(json.dumps({"id": at, "text": text}) + "\n")
    raw = path.read_bytes()
    print(f"one shard of {len(raw) / 1e6:.0f} MB, {sought.gram_starts.size:,} n-grams; load {os.getloadavg()[0]:.1f}")
    print(f"{'JSON alone':>30} {json_rate(path):8.1f} MB/s")
    own, found = rate(sought, path)
    print(f"{'ASCII':>30} {own:8.1f} MB/s   {found} documents and items")
    for name, content in (
        ("letters beyond ASCII, UTF-8", raw.replace(b"a", "á".encode())),
        ("letters beyond ASCII, escaped", raw.replace(b"a", b"\\u00e1")),
        (".gz", gzip.compress(raw, 6)),
        (".zst", zstandard.compress(raw, 3)),
    ):
        other = folder / f"other.jsonl{name if name.startswith('.') else ''}"
        other.write_bytes(content)
        print(f"{name:>30} {rate(sought, other)[0]:8.1f} MB/s")
        other.unlink()
    lines = raw[:_PART].decode().splitlines()[:-1]
    part = folder / "part.jsonl"
    part.write_text("".join(line + "\n" for line in lines))
    items = [item for seed in range(10) for item in make_corpus_specimen(seed=seed).items]
    plain, n_plain = set_rate(items, lines)
    ours, n_ours = rate(sought, part)
    print(f"{'a Python set, on 20 MB':>30} {plain:8.1f} MB/s   {n_plain} documents; {ours / plain:.0f} times slower")
    print(f"{'this, on the same':>30} {ours:8.1f} MB/s   {n_ours} documents and items of 20 % or more")
    if peer or decon:
        compare(folder, part, items, lambda path: searched(sought, path), interpreter=peer, decon=decon)
        print(f"load {os.getloadavg()[0]:.1f}")


def side_by_side(folder: Path, megabytes: int) -> None:
    """The command on two cores, and two bare scanners, each on half of the corpus: wall time of the search."""
    sought = test_set(10_000)
    confirmation = Confirmation(sought)
    _ = sought.tables
    paths = []
    for half in range(2):
        paths.append(folder / f"half-{half}.jsonl")
        with paths[-1].open("w") as stream:
            for at, text in enumerate(make_corpus_specimen(megabytes * 250, half).documents()):
                stream.write(json.dumps({"id": at, "text": text}) + "\n")
    corpus = find_corpus(paths)
    rows = []
    for _ in range(5):
        seconds = []
        for n_scanners in (1, 2):
            start = time.perf_counter()
            with ThreadPoolExecutor(n_scanners) as pool:
                shards = [Shard(number, 0, file.size) for number, file in enumerate(corpus.files)]
                list(pool.map(lambda each: scan_shard(confirmation, corpus.files[each.file], each, ("text",)), shards))
            seconds.append(time.perf_counter() - start)
        start = time.perf_counter()
        scan_corpus(sought, corpus, n_workers=2)
        rows.append((*seconds, time.perf_counter() - start))
    one, two, whole = (min(column) for column in zip(*rows, strict=True))
    print(
        f"one scanner {one:.2f} s, two side by side {two:.2f} s, the search with two workers {whole:.2f} s: "
        f"{two / whole:.0%} of two bare scanners; load {os.getloadavg()[0]:.1f}"
    )


def large(folder: Path, gigabytes: float) -> None:
    """Wall time and peak memory of the command."""
    write_corpus_specimen(folder / "large", size=int(gigabytes * 500_000))
    size = sum(file.stat().st_size for file in (folder / "large" / "corpus").iterdir())
    command = [sys.executable, "-m", "goldassay", "overlap", folder / "large" / "test.jsonl", "--corpus",
               folder / "large" / "corpus", "-o", folder / "out", "--quiet"]  # fmt: skip
    start = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    n_cores = len(os.sched_getaffinity(0))
    print(
        f"{size / 1e9:.1f} GB on {n_cores} cores: {seconds:.0f} s, {size / seconds / 1e6:.0f} MB/s, "
        f"peak memory {peak:.0f} MB; load {os.getloadavg()[0]:.1f}. Extrapolated, a terabyte takes "
        f"{1e12 / (size / seconds) / 3600 * n_cores:.1f} core hours."
    )


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--recall", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--large", type=float)
    parser.add_argument("--workers", action="store_true")
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--peer")
    parser.add_argument("--decon")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.recall:
            recall(Path(folder))
        if given.speed:
            speed(Path(folder), given.megabytes, given.peer, given.decon)
        if given.workers:
            side_by_side(Path(folder), given.megabytes)
        if given.large:
            large(Path(folder), given.large)


if __name__ == "__main__":
    main()
