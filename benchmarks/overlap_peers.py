"""Compare the search with other tools on one corpus and test set, one core each: speed, and which copies each finds.

`python -m benchmarks.overlap --speed --peer PYTHON --decon BINARY` prints it. Each tool's own functions are called,
after its index of the test set is built; n is 13 where there is an n.

- datatrove: `NGramsDecontFilter`, with words split at spaces, since its tokenizer of English (spaCy) takes many
  times as long. The interpreter needs datatrove with spacy, regex and xxhash below 4.
- janitor: `Janitor` of lm-eval in Python, and in C++ where the interpreter finds `janitor_util`, built of lm-eval's
  `scripts/clean_training_data`.
- decon: `decon detect` of a binary, on one thread, else as it is by default: it compares tokens, samples n-grams of 5,
  and takes misses in between. What it needs for a corpus of one document, mostly its index, is taken off.

The copies are those that a specimen plants among 1,000 documents, 20 of each kind. A document counts here from 20 % of
an item or its question on, with decon by its score, and with the others from one n-gram on.
"""

from __future__ import annotations

import json
import resource
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from goldassay.data.specimen.corpus_specimen import COPY_KINDS, LEAST_SIZE, make_corpus_specimen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TIMES = 2
_SEARCH = """
import json, sys, time
items = [json.loads(line) for line in open(sys.argv[1])]
def search(is_found):
    told = []
    for path in sys.argv[2:]:
        best = 0.0
        for _ in range(int(TIMES)):
            start, rows, size, n_failed = time.process_time(), [], 0, 0
            for row, line in enumerate(open(path), 1):
                size += len(line)
                try:
                    if is_found(json.loads(line)["text"]):
                        rows.append(row)
                except UnicodeDecodeError:
                    n_failed += 1
            best = max(best, size / (time.process_time() - start) / 1e6)
        told.append([best, rows, n_failed])
    print(json.dumps(told))
""".replace("int(TIMES)", str(_TIMES))
_DATATROVE = """
import pathlib, tempfile
import numpy as np
from datatrove.data import Document
from datatrove.pipeline.decont.n_grams import NGramsDecontConfig, NGramsDecontFilter
from datatrove.utils.text import ngrams, simplify_text
from datatrove.utils.word_tokenizers import WordTokenizer
class Spaces(WordTokenizer):
    def word_tokenize(self, text): return text.split()
    def sent_tokenize(self, text): return [text]
    def span_tokenize(self, text): return [(0, len(text))]
with tempfile.TemporaryDirectory() as folder:
    step = NGramsDecontFilter(folder, NGramsDecontConfig(n_grams=13), language=Spaces())
    hashes = set()
    for item in items:
        text = simplify_text(item["question"] + " " + item["answer"], step.config.norm_config)
        words = step.tokenizer.word_tokenize(text)
        hashes.update(step.hash_func(" ".join(each)) for each in ngrams(words, 13))
    np.array(list(hashes), step.config.hash_config.np_descr).tofile(pathlib.Path(folder, "test.index.hashes"))
    step.load_index_hashes()
search(lambda text: step.filter(Document(text=text, id="")) is not True)
"""
_JANITOR = """
from lm_eval.decontamination.janitor import JANITOR_CPP, Janitor
janitor = Janitor(too_dirty_cutoff=10**9, minimum_slice_length=0)
for item in items:
    janitor.REGISTER(item["question"] + " " + item["answer"])
search(lambda text: janitor.CLEAN(text) != [text])
"""
_SCRIPTS = {
    "datatrove": _DATATROVE,
    "janitor in Python": _JANITOR.replace("REGISTER", "register_contaminant_python").replace("CLEAN", "clean_python"),
    "janitor in C++": _JANITOR.replace("REGISTER", "register_contaminant_cpp").replace("CLEAN", "clean_cpp"),
}

# Why a document is not named, as the copies show.
_RULES = {
    "datatrove": "a word more or less of punctuation or of a number moves none of its n-grams, a changed word does",
    "janitor in Python": "a hyphen between spaces stays an empty word, and quotation marks beyond ASCII stay in words",
    "janitor in C++": "words are cut after ten bytes, also within a character, and a text's last n-gram is left out",
    "decon": "an item's score must reach a threshold, and some copies with changed words do not",
}


class Searched(NamedTuple):
    """MB a second of one core, the documents that were named, from 1, and how many raised an error."""

    rate: float
    rows: set[int]
    n_failed: int = 0


def _with_python(interpreter: str, script: str, paths: list[Path]) -> list[Searched]:
    told = subprocess.run([interpreter, "-c", _SEARCH + script, *paths], capture_output=True, text=True, check=False)
    if told.returncode:
        raise RuntimeError(told.stderr.strip().splitlines()[-1])
    return [
        Searched(rate, set(rows), n_failed) for rate, rows, n_failed in json.loads(told.stdout.strip().splitlines()[-1])
    ]


def _with_decon(binary: str, folder: Path, items: list[tuple[str, str]], corpora: list[Path]) -> list[Searched]:
    sought = folder / "sought"
    sought.mkdir()
    with (sought / "test.jsonl").open("w") as stream:
        for at, (question, answer) in enumerate(items):
            row = {"eval_key": "test", "eval_instance_index": at, "split": "test", "question": question,
                   "answer": answer, "doc_id": at, "fingerprint": str(at)}  # fmt: skip
            stream.write(json.dumps(row) + "\n")
    one = folder / "one.jsonl"
    one.write_text(json.dumps({"text": "This stands in no item, since their words are made up. " * 9}) + "\n")

    def run(corpus: Path) -> tuple[float, set[int]]:
        place = folder / f"decon-{corpus.stem}"
        place.mkdir(exist_ok=True)
        (place / corpus.name).write_bytes(corpus.read_bytes())
        command = [binary, "detect", "--training-dir", place, "--evals-dir", sought, "--worker-threads", "1",
                   "--report-output-dir", place / "found"]  # fmt: skip
        seconds = []
        for _ in range(_TIMES):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        lines = [line for file in (place / "found").glob("*.jsonl") for line in file.read_text().splitlines()]
        return min(seconds), {json.loads(line)["training_line"] + 1 for line in lines}

    start, _ = run(one)
    return [Searched(corpus.stat().st_size / (seconds - start) / 1e6, rows)
            for corpus in corpora for seconds, rows in [run(corpus)]]  # fmt: skip


def _shown(name: str, in_part: Searched, in_copies: Searched, own: float, kinds: dict[int, str]) -> str:
    by_kind = Counter(kinds.get(row, "others") for row in in_copies.rows)
    counts = "".join(f"{by_kind[kind]:15}" for kind in (*COPY_KINDS, "others"))
    return f"{name:>30} {in_part.rate:8.1f} MB/s {own / in_part.rate:8.1f} {len(in_part.rows):10}{counts}"


def compare(
    folder: Path,
    part: Path,
    items: list[tuple[str, str]],
    search: Callable[[Path], dict[str, Searched]],
    *,
    interpreter: str | None,
    decon: str | None,
) -> None:
    """The table of peers.

    Args:
        folder: For files that are needed meanwhile.
        part: Of the corpus, JSON lines.
        items: The test set.
        search: This search, of a corpus, by what a document needs to count; others are compared with the first.
        interpreter: A Python that has datatrove and lm-eval.
        decon: The command.
    """
    copies = make_corpus_specimen(LEAST_SIZE, 0)
    corpora = [part, folder / "copies.jsonl"]
    corpora[1].write_text("".join(json.dumps({"text": text}) + "\n" for text in copies.documents()))
    kinds = {document + 1: kind for kind, _, document in copies.planted}
    test = folder / "test.jsonl"
    test.write_text("".join(json.dumps({"question": one, "answer": other}) + "\n" for one, other in items))
    heads = "".join(f"{kind:>15}" for kind in (*COPY_KINDS, "others"))
    print(f"{'':>30} {'':>13} {'slower':>8} {'documents':>10}{heads}   (copies among {LEAST_SIZE:,} documents)")
    ours = [search(each) for each in corpora]
    own = next(iter(ours[0].values()))
    for name in ours[0]:
        print(_shown(name, ours[0][name], ours[1][name], own.rate, kinds))
    tools: dict[str, Callable[[], list[Searched]]] = {}
    if interpreter:
        for name, script in _SCRIPTS.items():
            tools[name] = lambda script=script: _with_python(interpreter, script, [test, *corpora])
    if decon:
        tools["decon"] = lambda: _with_decon(decon, folder, items, corpora)
    for name, tool in tools.items():
        try:
            in_part, in_copies = tool()
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            print(f"{name:>30} {error}")
            continue
        print(_shown(name, in_part, in_copies, own.rate, kinds))
        if in_part.rows != own.rows:
            alone, missed = len(in_part.rows - own.rows), len(own.rows - in_part.rows)
            print(f"{'':>30} in the part {alone} named by it alone, {missed} not named: {_RULES[name]}")
        if in_part.n_failed or in_copies.n_failed:
            print(f"{'':>30} raised an error for {in_part.n_failed} and {in_copies.n_failed} documents")
