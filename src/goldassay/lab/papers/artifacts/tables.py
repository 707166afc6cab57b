"""The paper's tables beside ours.

Patterns as the paper prints them, counted in any training set.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.tokenization import TokenizedCorpus, tokenize
from goldassay.lab.papers.artifacts.protocol import (
    ALL,
    DEBIAS,
    DEBIASED,
    EASY,
    GAP,
    HARD,
    OTHERS_HARD,
    RANDOM,
    SUBSETS,
    Corpus,
    Trained,
)
from goldassay.lab.papers.printed import OURS, compare_cells, printed_table, show_cells
from goldassay.lab.papers.recipe import Comparison
from goldassay.questions.artifacts.inputs import mine_dataset, texts_for
from goldassay.questions.artifacts.printed import IN_PLACE, KINDS, classifier_cells, share_cell, telling_patterns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.lab.papers.artifacts.protocol import Evidence
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable

# The printed strongest are in 500 of 549,367 sentences of SNLI, and 200 of 392,702 of MultiNLI, or more.
_LEAST_SHARE = {"SNLI": 500 / 549_367, "MultiNLI": 200 / 392_702}
# Of the two corpora the table of down-sampling.
_DOWNSAMPLED = {"SNLI": 5, "MultiNLI": 6}
DS = f"{DEBIASED}+DS"
_SUPPORT = "our patterns need a thousandth of the training rows, and 8 at least, the paper's 50."
Row = tuple[dict[str, str], Trained]


def compare_tables(found: Sequence[Evidence]) -> tuple[Comparison, ...]:
    """Tables 1, 2, 4, 5, 6, 7, the sizes, and what each way to debias wins and costs."""
    tables = [
        *(strongest_patterns(each) for each in found),
        classifiers(found),
        *sizes(found),
        *(
            _accuracies(
                each,
                4,
                "models on easy and hard examples",
                ("model",),
                baselines(each),
                (*SUBSETS, *((OTHERS_HARD,) if OTHERS_HARD in each.accuracies.masks else ())),
            )
            for each in found
        ),
    ]
    for each in found:
        if rows := downsampled(each):
            number, keys = _DOWNSAMPLED[each.corpus.name], ("model", "lambda", "mode")
            title = "training without patterns, or on as many random rows"
            tables += [_accuracies(each, number, title, keys, rows, (*SUBSETS, GAP)), *removal(each)]
    for each in found:
        if rows := debiased(each):
            title = f"{DEBIASED} debiased"
            tables += [_accuracies(each, 7, title, ("model",), rows, (*SUBSETS, GAP)), *changes(each)]
    return tuple(tables)


def unmeasured_tables(corpus: Corpus) -> tuple[Comparison, ...]:
    """Tables 4 and 5 or 6, and 7, of a corpus of which nothing is known: what is printed alone."""
    number = _DOWNSAMPLED[corpus.name]
    keys = {4: ("model",), number: ("model", "lambda", "mode"), 7: ("model",)}
    return tuple(
        compare_cells(
            f"liu2020_table{at}", f"Table {at}, {corpus.name}", [], rows=rows, columns=("subset",),
            where={"dataset": corpus.printed}, note="nothing of it was run.",
        )
        for at, rows in keys.items()
    )  # fmt: skip


def baselines(each: Evidence) -> list[Row]:
    """Rows of table 4: what was trained on all rows, and not to be debiased."""
    return [
        ({"model": model.model}, model)
        for model in each.accuracies.correct
        if model.mode == ALL and model.model not in each.corpus.debiased
    ]


def downsampled(each: Evidence) -> list[Row]:
    """Rows of tables 5 and 6: what was trained on parts, and on all rows beside."""
    there = list(each.accuracies.correct)
    several = {model.model for model in there if model.mode != ALL}
    rows = [model for model in there if model.model in several]
    rows.sort(key=lambda model: (model.model, float(model.threshold), model.mode != RANDOM))
    return [({"model": model.model, "lambda": model.threshold, "mode": model.mode}, model) for model in rows]


def debiased(each: Evidence) -> list[Row]:
    """Rows of table 7, the plain network first; none where nothing was debiased."""
    rows = [
        ({"model": DEBIASED}, Trained(DEBIASED)),
        ({"model": DS}, Trained(DEBIASED, "0.8", DEBIAS)),
        *(({"model": name}, Trained(name)) for name in each.corpus.debiased),
    ]
    there = [(keys, model) for keys, model in rows if model in each.accuracies]
    return there if any(model.model in each.corpus.debiased for _, model in there) else []


def strongest_patterns(each: Evidence) -> Comparison:
    """Table 1: our strongest patterns, then the printed ones, and how often they go with their label in our data."""
    name, patterns = each.corpus.name, each.patterns
    corpus = tokenize(texts_for(each.train, patterns), patterns.settings["tokenizer"])
    codes, least = each.train.labels(), max(round(_LEAST_SHARE[name] * len(each.train)), patterns.settings["min_count"])
    strongest = telling_patterns(patterns, least)
    printed = printed_table("liu2020_table1").filter(pl.col("dataset") == name)
    ours = []
    for kind in KINDS:
        for place, label in enumerate(patterns.label_names):
            top = [row["pattern"] for own_kind, own_label, row in strongest if (own_kind, own_label) == (kind, label)]
            listed = printed.filter((pl.col("pattern_type") == kind) & (pl.col("label") == label))["pattern"].to_list()
            for pattern in dict.fromkeys([*top, *listed]):
                counts = count_pattern(pattern, corpus, codes, len(patterns.label_names))
                share = share_cell(int(counts[place]), int(counts.sum()))
                ours.append({"pattern_type": kind, "label": label, "pattern": pattern, **share})
    return compare_cells(
        "liu2020_table1", f"Table 1, {name}: how often the strongest patterns go with their label, in points", ours,
        rows=("pattern_type", "label", "pattern"), columns=("statistic",), where={"dataset": name},
        note=f"first our own five strongest in {least} sentences or more, of several that tell the same one, then the "
        f"printed ones, counted in our {len(each.train):,} training sentences; intervals are Wilson's.",
    )  # fmt: skip


def classifiers(found: Sequence[Evidence]) -> Comparison:
    """Table 2: what sees the hypothesis alone."""
    ours = [
        cell
        for each in found
        for cell in classifier_cells(
            each.corpus.name, each.test.name.removeprefix(f"{each.corpus.name} "), each.classifiers.table
        )
    ]
    return compare_cells(
        "liu2020_table2", "Table 2: accuracy of what sees the hypothesis alone", ours, rows=("model",),
        columns=("dataset", "split"),
        note=IN_PLACE,
    )  # fmt: skip


def _accuracies(
    each: Evidence,
    number: int,
    title: str,
    rows: tuple[str, ...],
    models: Sequence[Row],
    subsets: Sequence[str] = SUBSETS,
) -> Comparison:
    ours = []
    for keys, model in models:
        for subset in subsets:
            figure = each.accuracies.of(model, subset)
            ours.append({**keys, "subset": subset, **({} if figure is None else figure.scaled())})
    return compare_cells(
        f"liu2020_table{number}",
        f"Table {number}, {each.corpus.name}: {title}",
        ours,
        rows=rows,
        columns=("subset",),
        where={"dataset": each.corpus.printed},
        note=_note(each, models),
    )


def _note(each: Evidence, models: Sequence[Row]) -> str:
    """What the examples are, and what is not as in the paper."""
    counts = each.accuracies.sizes()
    which = f"{counts[EASY]:,} easy and {counts[HARD]:,} hard examples of {each.test.name}"
    notes = [f"on the published {which}" if each.published else f"on {which} by our own patterns"]
    if each.test.name != each.corpus.printed:
        notes.append(f"the printed figures are of {each.corpus.printed}")
    released = [model.model for _, model in models if model.model in each.released]
    if released:
        notes.append(f"{' and '.join(released)} are models of others, one run each, whose answers were released")
    return "; ".join(notes) + "."


def changes(each: Evidence) -> list[Comparison]:
    """What each way to debias wins on the hard, and costs on all and on the easy, against the plain network."""
    plain = Trained(DEBIASED)
    pairs = [(keys, model, plain) for keys, model in debiased(each) if model != plain and plain in each.accuracies]
    printed = _printed_differences(7, each, ("model",), {"model": DEBIASED})
    title = f"what each way to debias {DEBIASED} wins and costs, in points against the plain network"
    return _differences(each, f"changes_{each.corpus.name}", title, ("model",), pairs, printed)


def removal(each: Evidence) -> list[Comparison]:
    """What training without patterns wins and costs, against as many random rows."""
    pairs = [
        ({"model": model.model, "lambda": model.threshold}, model, model._replace(mode=RANDOM))
        for _, model in downsampled(each)
        if model.mode == DEBIAS and model._replace(mode=RANDOM) in each.accuracies
    ]
    printed = _printed_differences(_DOWNSAMPLED[each.corpus.name], each, ("model", "lambda"), {"mode": RANDOM})
    title = "what training without patterns wins and costs, in points against as many random rows"
    return _differences(each, f"removal_{each.corpus.name}", title, ("model", "lambda"), pairs, printed)


def _differences(
    each: Evidence,
    name: str,
    title: str,
    rows: tuple[str, ...],
    pairs: Sequence[tuple[Mapping[str, str], Trained, Trained]],
    printed: Mapping[tuple[str, ...], tuple[float, bool]],
) -> list[Comparison]:
    """A table of differences of accuracies, where there are pairs."""
    cells = []
    for keys, one, other in pairs:
        for subset in (*SUBSETS, GAP):
            figure = each.accuracies.difference(one, other, subset)
            value, doubted = printed.get((*keys.values(), subset), (None, False))
            ours = {} if figure is None else figure.scaled()
            cells.append({**keys, "subset": subset, **ours, "printed": value, "doubted": doubted})
    schema = {**dict.fromkeys((*rows, "subset"), pl.String), **dict.fromkeys(OURS, pl.Float64), "n_runs": pl.Int64}
    schema |= {"printed": pl.Float64, "printed_sd": pl.Float64, "doubted": pl.Boolean}
    frame = pl.DataFrame([{key: cell.get(key) for key in schema} for cell in cells], schema=schema)
    note = "what is printed is the difference of two cells."
    return [Comparison(name, f"{each.corpus.name}: {title}", rows, ("subset",), frame, note=note)] if cells else []


def _printed_differences(
    number: int, each: Evidence, rows: tuple[str, ...], against: Mapping[str, str]
) -> dict[tuple[str, ...], tuple[float, bool]]:
    """Printed cells minus those with some keys replaced, by row and subset, and whether the paper doubts either."""
    keys = (*rows, "subset")
    table = printed_table(f"liu2020_table{number}").filter(pl.col("dataset") == each.corpus.printed).to_dicts()
    is_other = [all(row[key] == value for key, value in against.items()) for row in table]
    others = {tuple(row[key] for key in keys): row for row, other in zip(table, is_other, strict=True) if other}
    found = {}
    for row, other in zip(table, is_other, strict=True):
        base = others.get(tuple({**row, **against}[key] for key in keys))
        if base is not None and not other:
            found[tuple(row[key] for key in keys)] = (row["value"] - base["value"], row["doubted"] or base["doubted"])
    return found


def sizes(found: Sequence[Evidence]) -> list[Comparison]:
    """How much down-sampling leaves, and how many test examples our patterns make easy and hard."""
    left = [
        {"dataset": each.corpus.name, "lambda": str(row["threshold"]), "ours": 100 * row["share"]}
        for each in found
        for row in each.sizes.to_dicts()
    ]
    counted: list[dict[str, Any]] = []
    for each in found:
        name = each.corpus.name
        of_test = {"dataset": name, "split": each.test.name.removeprefix(f"{name} ")}
        of_test["lambda"] = str(each.corpus.threshold)
        counted += [{**of_test, "subset": subset, "ours": each.assigned.summary[subset]} for subset in (HARD, EASY)]
    return [
        compare_cells(
            "liu2020_sizes", "Section 3: per cent of the training rows that down-sampling leaves", left,
            rows=("dataset",), columns=("lambda",), where={"subset": "down-sampled"}, note=_SUPPORT,
        ),
        compare_cells(
            "liu2020_sizes", "Section 3: hard and easy examples by our own patterns", counted,
            rows=("dataset", "split", "subset"), columns=("lambda",), digits=0, note=_SUPPORT,
        ),
    ]  # fmt: skip


_LONGER, _TELLING = 5, 0.5


def coverage(each: Evidence) -> Comparison:
    """How much longer patterns add: of those of 5 tokens and 5 gaps the share that hold one of the shorter.

    Two patterns are of one kind where a part of the longer, some of its tokens dropped, is the shorter one.
    """
    longer = mine_dataset(
        each.train, replace(each.corpus.bounds, clusters="none", max_tokens=_LONGER, max_gap=_LONGER)
    ).select(_TELLING)
    known = set(_keys(each.patterns.select(_TELLING)))
    held = [any(part in known for part in _parts_of(*pattern)) for pattern in _keys(longer)]
    cells = [{"dataset": each.corpus.name, "statistic": "patterns", "ours": len(held)}]
    if held:
        cells.append({"dataset": each.corpus.name, "statistic": "covered", "ours": 100 * sum(held) / len(held)})
    return show_cells(
        f"coverage_{each.corpus.name}", "Section 3: how many of H(5,5,.5) hold a pattern of H(3,3,.5), per cent", cells,
        rows=("dataset",), columns=("statistic",), note="the paper prints 95.4.", drawn="nothing",
    )  # fmt: skip


def _keys(patterns: PatternTable) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    for tokens, gaps in patterns.to_frame().select("tokens", "gaps").iter_rows():
        yield tuple(tokens), tuple(gaps)


def _parts_of(tokens: tuple[str, ...], gaps: tuple[int, ...]) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """The pattern and all that is left of it where tokens are dropped, as tokens and gaps."""
    places = list(accumulate((gap + 1 for gap in gaps), initial=0))
    for n in range(1, len(tokens) + 1):
        for kept in combinations(range(len(tokens)), n):
            apart = tuple(places[after] - places[before] - 1 for before, after in pairwise(kept))
            yield tuple(tokens[at] for at in kept), apart


SKIPPED = "#"


def parse_pattern(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Tokens of a displayed pattern, and where each stands, counted from the first.

    "A # human" is ("A", "human"), (0, 2).
    Only for patterns whose words are no "#" themselves.
    """
    places = [(at, token) for at, token in enumerate(text.split()) if token != SKIPPED]
    return tuple(token for _, token in places), tuple(at - places[0][0] for at, _ in places)


def count_pattern(text: str, corpus: TokenizedCorpus, codes: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
    """Sentences of each label that hold a displayed pattern, (K,); one that holds it twice counts once.

    Args:
        text: The pattern, "#" for each token skipped.
        corpus: N tokenized sentences.
        codes: Their labels, (N,).
        n_labels: K.
    """
    tokens, places = parse_pattern(text)
    number = {word: at for at, word in enumerate(corpus.vocabulary)}
    if any(token not in number for token in tokens):
        return np.zeros(n_labels, np.int64)
    last = max(0, len(corpus.ids) - places[-1])
    held = np.ones(last, np.bool_)
    for token, place in zip(tokens, places, strict=True):
        held &= corpus.ids[place : place + last] == number[token]
    sentence = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))
    held &= sentence[:last] == sentence[places[-1] : places[-1] + last]
    return np.bincount(codes[np.unique(sentence[:last][held])], minlength=n_labels)
