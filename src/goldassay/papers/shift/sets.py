"""Domains that are built of published files, and texts of other tasks, cleaned and without their labels."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data import read_dataset
from goldassay.papers.sources import known_sources
from goldassay.questions.shift.building import build_benchmark
from goldassay.questions.shift.foreign import with_placeholder, with_texts_of
from goldassay.shift.benchmarks import load_recipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goldassay.data import Dataset
    from goldassay.papers.workplace import Workplace

TRAIN, DEV = " train", " dev"
# What is shown to models of SST-2 to be told apart from it.
OWN = "SST-2"
NEWSGROUPS = "20 Newsgroups"
FOREIGN = (NEWSGROUPS, "newstest", "Multi30K", "RTE", "SNLI")

# By recipe, which of the files it is built of, and what its domains are called here.
_FILES = {
    "sst2_imdb": ("SST-2 train", "SST-2 dev", "SST-2 test", "IMDb"),
    "stsb": ("STS-B",),
    "amazon_multidomain": ("Amazon multi-domain",),
    "amazon": ("Amazon",),
    "yelp": ("Yelp",),
    "record": ("ReCoRD",),
    "mnli": ("MNLI",),
}
_NAMES = {
    "sst2": OWN, "imdb": "IMDb",
    "MSRpar": "STS-B MSRpar", "headlines": "STS-B Headlines", "MSRvid": "STS-B MSRvid", "images": "STS-B Images",
    "books": "Amazon Books", "dvd": "Amazon DVD", "electronics": "Amazon Electronics", "kitchen": "Amazon Kitchen",
    "shoes": "Amazon Shoes", "baby": "Amazon Baby", "women": "Amazon Women", "men": "Amazon Men",
    "clothes": "Amazon Clothes", "music": "Amazon Music", "movies": "Amazon Movies",
    "american": "Yelp American", "chinese": "Yelp Chinese", "italian": "Yelp Italian", "japanese": "Yelp Japanese",
    "cnn": "ReCoRD CNN", "daily_mail": "ReCoRD Daily Mail",
    "telephone": "MNLI Telephone", "letters": "MNLI Letters", "facetoface": "MNLI Face-to-Face",
}  # fmt: skip
# What a benchmark is built without where it is not there.
_WITHOUT = ("SST-2 test",)
# A line that is quoted, or that says who is or where.
_QUOTED = re.compile(r"\s*([>|:]|In article\b|Quoted from\b)|.*\b(wrote|writes|says|said):\s*$")
_SIGNATURE = re.compile(r"\s*-{2,}\s*$")
_FEWEST_WORDS = 3


def domains_of(benchmark: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each domain that is trained on, and all that are tested, its own first."""
    for group in load_recipe(benchmark).groups:
        for domain in group.train:
            others = (_NAMES[other] for other in group.test if other != domain)
            yield _NAMES[domain], (_NAMES[domain], *others)


def built_sets(work: Workplace, given: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Build the domains whose files are there, and take of texts of other tasks what counts.

    Of `chosen` count `benchmarks`, recipes by name; `dev`, whether trainings are stopped by dev sets; `most_tested` and
    `most_foreign`, rows of one set.

    Args:
        work: Where they are built.
        given: Sets that are there already, foreign texts among them.
    """
    chosen = work.scale.chosen
    made: dict[str, Dataset] = {}
    for benchmark in chosen["benchmarks"]:
        lacking = tuple(name for name in _FILES[benchmark] if name not in _WITHOUT and name in work.absent)
        if not lacking:
            made |= _built(benchmark, work)
        names = [name for own, tests in domains_of(benchmark) for name in (f"{own}{TRAIN}", f"{own}{DEV}", *tests)]
        # Where its files are there, a domain of them is not.
        work.unmade |= {name: lacking or (name.removesuffix(TRAIN),) for name in names if name not in made}
    made = {
        name: dataset if name.endswith((TRAIN, DEV)) else _drawn(dataset, chosen["most_tested"], work.seed)
        for name, dataset in made.items()
    }
    training = {**given, **made}.get(f"{OWN}{TRAIN}")
    for name in FOREIGN:
        if name in given and training is not None:
            texts = with_texts_of(given[name], training)
            texts = cleaned(texts) if name == NEWSGROUPS else texts
            made[name] = with_placeholder(_drawn(texts, chosen["most_foreign"], work.seed), training)
    return {name: replace(dataset, name=name) for name, dataset in made.items()}


def _built(benchmark: str, work: Workplace) -> dict[str, Dataset]:
    """The sets of a benchmark, which are written into the study's folder with their lists of ids."""
    files = work.scale.files
    places = [known_sources()[files[name]].find(work.data) for name in _FILES[benchmark] if name not in work.absent]
    try:
        built = build_benchmark(benchmark, [place for place in places if place is not None], seed=work.seed)
    except InputError as error:
        # Whoever builds a benchmark alone names its files one by one; here they lie in one folder.
        where = ", ".join(str(place) for place in places if place is not None)
        raise InputError(
            f"{benchmark} cannot be built of {where}: {error.problem}",
            file=error.file,
            row=error.row,
            mend="complete what lies there, or take it away to leave the set out where a study can do without it",
        ) from error
    folder = work.folder / "sets" / benchmark
    built.save(folder)
    endings = {"train": TRAIN, "test": "", **({"dev": DEV} if work.scale.chosen.get("dev") else {})}
    return {
        f"{_NAMES[each['domain']]}{endings[each['part']]}": read_dataset(folder / each["file"])
        for each in built.to_dict()["sets"]
        if each["part"] in endings
    }


def _drawn(dataset: Dataset, most: int, seed: int) -> Dataset:
    if len(dataset) <= most:
        return dataset
    return dataset.take(np.sort(np.random.default_rng(seed).choice(len(dataset), most, replace=False)))


def cleaned(messages: Dataset) -> Dataset:
    """Messages without quotations and signatures; each text once, and none of a word or two."""
    role = messages.text_columns[0]
    texts = pl.Series(role, [_own_words(text) for text in messages.texts(role)], dtype=pl.String)
    examples = messages.examples.with_columns(texts)
    long = texts.str.split(" ").list.len() >= _FEWEST_WORDS
    return replace(messages, examples=examples.filter(long & texts.is_first_distinct()))


def _own_words(message: str) -> str:
    lines = message.splitlines()
    ends = [at for at, line in enumerate(lines) if _SIGNATURE.match(line)]
    # What stands behind the last rule is a signature, unless that is most of the message.
    if ends and ends[-1] >= len(lines) // 2:
        lines = lines[: ends[-1]]
    return " ".join(" ".join(line for line in lines if not _QUOTED.match(line)).split())
