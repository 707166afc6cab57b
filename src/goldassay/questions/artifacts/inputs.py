"""What the studies of artifacts read: labelled texts, how they are cut, and patterns mined now or before."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.core.progress import Progress, silent
from goldassay.data.facts import check_same_labels, length_unit_of, require_classes
from goldassay.data.reading import Source, open_source
from goldassay.data.roles import columns_named, own_roles
from goldassay.data.tokenization import TOKENIZERS, TokenizedCorpus, Tokenizer, tokenize, tokenizer_name
from goldassay.questions.artifacts.measures.mining import mine_patterns
from goldassay.questions.artifacts.measures.pattern_table import PatternTable
from goldassay.questions.artifacts.training import DependentRows, SharedTexts

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset

# From this many training rows on, the published cut of 50 examples is used as it stands.
LARGE = 200_000


def least_count(n_rows: int) -> int:
    """The fewest examples a pattern must occur in: 50 from 200,000 rows on, else one in a thousand, at least 8."""
    return 50 if n_rows >= LARGE else max(8, n_rows // 1000)


def choose_tokenizer(length_unit: str, wanted: str) -> str:
    """The tokenizer that was set, or by script: characters where words are not set apart by spaces."""
    if wanted != "auto":
        return wanted
    return "characters" if length_unit == "characters" else "treebank"


AUTO = "auto"
# Between the texts of an example where a function cuts them; no text is likely to hold it.
SEPARATOR = "\x1e"


def resolve_tokenizer(name: str) -> Tokenizer:
    """Take "auto" and our own names as they are, MODULE:FUNCTION and FILE.py:FUNCTION as the function.

    A module is looked for where Python looks, and before that in the current folder.

    Raises:
        InputError: There is no such name, module, file or function, it cannot be imported, or it is no function.
    """
    if name in (AUTO, *TOKENIZERS):
        return name
    place, colon, path = name.rpartition(":")
    if not colon or not place or not path:
        raise InputError(
            f"there is no tokenizer {name!r}",
            mend=f"choose {', '.join((AUTO, *TOKENIZERS))}, or name a function: MODULE:FUNCTION or FILE.py:FUNCTION",
        )
    value: Any = _module(place)
    for part in path.split("."):
        if not hasattr(value, part):
            raise InputError(f"{place} has no {path}", mend="name a function of it")
        value = getattr(value, part)
    if not callable(value):
        raise InputError(
            f"{name} is {type(value).__name__}, not a function",
            mend="name a function that takes a string and returns a list of strings",
        )
    function: Callable[[str], Any] = value
    return function


def _module(place: str) -> ModuleType:
    try:
        return _from_file(Path(place)) if place.endswith(".py") else _by_name(place)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        absent = isinstance(error, ModuleNotFoundError)
        raise InputError(
            f"the tokenizer's module {place} cannot be imported ({reason})",
            mend="install what is missing, or name a function of a module that is there" if absent else "mend it",
        ) from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("there is no such file", file=path, mend="name the file of the tokenizer")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError("this is no Python file", file=path, mend="name the file of the tokenizer")
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up; what is there already under this name stays.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _by_name(name: str) -> ModuleType:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)


class EachText:
    """A function that cuts one text, applied to each text of an example and known by the same name."""

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)
        self.__module__ = getattr(function, "__module__", None) or type(function).__module__

    def __call__(self, texts: str) -> Any:
        """The tokens of all texts, one after the other; whatever else the function returns is handed on."""
        parts = [self._function(text) for text in texts.split(SEPARATOR)]
        strange = [part for part in parts if not isinstance(part, (list, tuple))]
        return strange[0] if strange else [token for part in parts for token in part]


# Not a role of any dataset: all texts of an example, one after the other.
ALL_TEXTS = "all"
# Which rows count together when patterns are tested, in a sentence.
CLUSTERS = "clusters"
# Of patterns of all texts: what cut these before their tokens were put together.
_CUT_WITH = "cut_with"


@dataclass(frozen=True)
class Bounds:
    """How patterns are mined.

    Attributes:
        max_tokens: Most tokens of a pattern.
        max_gap: Most tokens skipped between two.
        min_count: Fewest examples; None: 50 from 200,000 rows on, below that one in a thousand, at least 8.
        tokenizer: "auto" (by script), "treebank", "whitespace", "characters", or a function of the user's by its place:
            MODULE:FUNCTION or FILE.py:FUNCTION.
        text: The role to mine; None: the last text, which of a pair is the hypothesis; "all": all texts.
        clusters: Which rows do not count by themselves when patterns are tested; see `SharedTexts`.
    """

    max_tokens: int = 3
    max_gap: int = 3
    min_count: int | None = None
    tokenizer: str = "auto"
    text: str | None = None
    clusters: str = "auto"


DEFAULT = Bounds()


def bounds_of(
    settings: Settings,
    max_tokens: int | None = None,
    max_gap: int | None = None,
    min_count: int | None = None,
    tokenizer: str | None = None,
    text: str | None = None,
) -> Bounds:
    """How patterns are mined: by these arguments, and by the settings where these say nothing."""
    chosen = settings.artifacts
    return Bounds(
        chosen.max_tokens if max_tokens is None else max_tokens,
        chosen.max_gap if max_gap is None else max_gap,
        chosen.min_count if min_count is None else min_count,
        chosen.tokenizer if tokenizer is None else tokenizer,
        text,
        settings.data.clusters,
    )


def load(
    data: Any,
    *,
    file_format: str = "auto",
    columns: str | Mapping[str, str] | None = None,
    part: str = "train",
) -> Dataset:
    """Read a labelled dataset, a path or in memory; of one that has parts, the one named, if it is there.

    Raises:
        InputError: It cannot be read, or has no classes.
    """
    roles = own_roles(columns, part)
    with columns_named(part):
        source = data if isinstance(data, Source) else open_source(data, part, file_format, columns=roles)
        dataset = source.labelled(roles)
        parts = dataset.parts
        if len(parts) > 1 and part in parts:
            dataset = parts[part]
        require_classes(dataset, 1)
    return dataset


def texts_for(dataset: Dataset, patterns: PatternTable) -> list[str]:
    """The texts to look for patterns in: those of the role that they were mined from.

    Raises:
        InputError: There is no such role.
    """
    return list(column_for(dataset, patterns))


def column_for(dataset: Dataset, patterns: PatternTable) -> list[str] | pl.Series:
    """As `texts_for`, but a column where the dataset has one: millions of Python objects are larger than the texts.

    Raises:
        InputError: As there.
    """
    return _texts(dataset, patterns.settings.get("text"), patterns.settings.get(_CUT_WITH))


def _texts(dataset: Dataset, text: str | None, cut_with: Tokenizer | None) -> list[str] | pl.Series:
    """The texts of one role, by default the last; "all": the tokens of all texts of each example, with spaces between.

    Tokens and not texts are put together, since Treebank splits a period off only where a text ends. Without a
    tokenizer the texts themselves, for a function that takes them apart again.
    """
    if text != ALL_TEXTS:
        return dataset.column(text or dataset.text_columns[-1])
    return put_together([dataset.texts(role) for role in dataset.text_columns], cut_with)


def put_together(texts: Sequence[Sequence[str]], cut_with: Tokenizer | None) -> list[str]:
    """All texts of each example as one, given the texts of each role."""
    if cut_with is None:
        return [SEPARATOR.join(each) for each in zip(*texts, strict=True)]
    corpora = [tokenize(of_role, cut_with) for of_role in texts]
    return [" ".join(token for corpus in corpora for token in corpus.sentence(i)) for i in range(len(texts[0]))]


def mined_roles(text_columns: Sequence[str], text: str | None) -> tuple[str, ...]:
    """The roles whose texts are mined."""
    return tuple(text_columns) if text == ALL_TEXTS else (text or text_columns[-1],)


def how_to_cut(bounds: Bounds, length_unit: str) -> tuple[Tokenizer, Tokenizer | None, dict[str, Any]]:
    """The tokenizer; what cuts the texts before where they are put together; and what settings say of it.

    Raises:
        InputError: The tokenizer that was named cannot be used.
    """
    wanted = resolve_tokenizer(bounds.tokenizer)
    together = bounds.text == ALL_TEXTS
    if not isinstance(wanted, str):
        return (EachText(wanted) if together else wanted), None, {}
    chosen = choose_tokenizer(length_unit, wanted)
    return ("whitespace", chosen, {_CUT_WITH: chosen}) if together else (chosen, None, {})


@dataclass(frozen=True)
class TextToMine:
    """One text of a dataset, cut into tokens.

    Attributes:
        dataset: The rows.
        bounds: How it is mined.
        texts: As they are searched, (N,).
        corpus: Their tokens.
        tokenizer: What cut them.
        about: What settings say of that.
        together: Rows that do not count by themselves.
    """

    dataset: Dataset
    bounds: Bounds
    texts: list[str] | pl.Series
    corpus: TokenizedCorpus
    tokenizer: Tokenizer
    about: Mapping[str, Any]
    together: DependentRows

    @classmethod
    def of(cls, dataset: Dataset, bounds: Bounds, shared: SharedTexts | None = None) -> TextToMine:
        """Cut one text of a dataset.

        Args:
            dataset: To mine.
            bounds: How.
            shared: Which rows share texts, where it is known already.

        Raises:
            InputError: The role or the tokenizer cannot be used, or there is only one class.
        """
        require_classes(dataset)
        tokenizer, cut_with, about = how_to_cut(bounds, length_unit_of(dataset))
        texts = _texts(dataset, bounds.text, cut_with)
        corpus = tokenize(texts, tokenizer)
        found = SharedTexts.of(dataset, bounds.clusters) if shared is None else shared
        together = found.dependent(mined_roles(dataset.text_columns, bounds.text), corpus)
        about = {"text": bounds.text or dataset.text_columns[-1]} | about | {CLUSTERS: together.taken}
        return cls(dataset, bounds, texts, corpus, tokenizer, about, together)

    def mine(
        self, rows: NDArray[np.int64] | None = None, progress: Progress = silent, *, only_telling: bool = False
    ) -> PatternTable:
        """Mine all rows or some; the table's settings also say which text.

        Args:
            rows: Ascending; all if not given.
            only_telling: As for `mine_patterns`.
            progress: Told while patterns are counted.

        Raises:
            InputError: A bound cannot be used.
        """
        codes, bounds = self.dataset.labels(), self.bounds
        own = slice(None) if rows is None else rows
        n = len(codes[own])
        mined = mine_patterns(
            self.corpus if rows is None else self.corpus.take(np.isin(np.arange(codes.size), rows)),
            codes[own],
            bounds.max_tokens,
            bounds.max_gap,
            least_count(n) if bounds.min_count is None else bounds.min_count,
            self.tokenizer,
            label_names=self.dataset.label_names,
            clusters=[way[own] for way in self.together.ways],
            only_telling=only_telling,
            progress=progress,
        )
        return replace(mined, settings=mined.settings | dict(self.about))


def mine_dataset(dataset: Dataset, bounds: Bounds, progress: Progress = silent) -> PatternTable:
    """Mine one text of a dataset; the table's settings also say which.

    Raises:
        InputError: A bound, the role or the tokenizer cannot be used, or there is only one class.
    """
    return TextToMine.of(dataset, bounds).mine(progress=progress)


def read_patterns(path: str | os.PathLike[str], dataset: Dataset, tokenizer: str = "auto") -> PatternTable:
    """Read patterns mined before, and refuse them where they do not fit the data.

    Args:
        path: A file that `PatternTable.write` wrote.
        dataset: What they are to be looked for in.
        tokenizer: "auto": whichever of ours the patterns were mined with; otherwise it must be that one. A function
            has to be named.

    Raises:
        InputError: The file cannot be read or is newer, or its tokenizer, labels or text are others.
    """
    patterns = _with_tokenizer(PatternTable.read(path), path, dataset, tokenizer)
    unknown = [label for label in dataset.label_names if label not in patterns.label_names]
    if unknown:
        raise InputError(
            f"the patterns are of the labels {', '.join(patterns.label_names)}; {dataset.source} also has "
            f"{', '.join(unknown)}",
            file=path,
            mend="use patterns mined from data with the same labels",
        )
    text = patterns.settings.get("text")
    if text is not None and text != ALL_TEXTS and text not in dataset.text_columns:
        raise InputError(
            f"the patterns are of the text {text}; {dataset.source} has {', '.join(dataset.text_columns)}",
            file=path,
            mend=f"name the text's column with {option('columns')}, or mine anew",
        )
    return patterns


def _with_tokenizer(patterns: PatternTable, path: str | os.PathLike[str], dataset: Dataset, name: str) -> PatternTable:
    """The patterns, with the function that they were mined with if it was one."""
    mined_with = patterns.settings.get(_CUT_WITH, patterns.settings["tokenizer"])
    chosen = resolve_tokenizer(name)
    if chosen == AUTO and mined_with not in TOKENIZERS:
        raise InputError(
            f"the patterns were mined with the function {mined_with}",
            file=path,
            mend=f"name it with {option('tokenizer', 'MODULE:FUNCTION')} or FILE.py:FUNCTION",
        )
    if chosen != AUTO and tokenizer_name(chosen) != mined_with:
        raise InputError(
            f"the patterns were mined with the tokenizer {mined_with}, not {tokenizer_name(chosen)}",
            file=path,
            mend="use that one, or mine anew",
        )
    wanted = choose_tokenizer(length_unit_of(dataset), AUTO)
    if chosen == AUTO and (mined_with == "characters") != (wanted == "characters"):
        raise InputError(
            f"the patterns were mined with the tokenizer {mined_with}, unfit for the script of {dataset.source}",
            file=path,
            mend=f"mine with {wanted}, or insist with {option('tokenizer', mined_with)}",
        )
    if isinstance(chosen, str):
        return patterns
    return patterns.with_tokenizer(EachText(chosen) if patterns.settings.get("text") == ALL_TEXTS else chosen)


def patterns_for(
    dataset: Dataset,
    train: Dataset | None,
    file: str | os.PathLike[str] | None,
    bounds: Bounds,
    progress: Progress = silent,
) -> PatternTable:
    """Patterns to look for in a dataset: read from a file if one is given, else mined from the training set.

    Raises:
        InputError: There is neither, or they do not fit the dataset.
    """
    if file is not None:
        patterns = read_patterns(file, dataset, bounds.tokenizer)
        mined_from = patterns.settings.get("text")
        if bounds.text is not None and mined_from is not None and bounds.text != mined_from:
            raise InputError(
                f"the patterns were mined from the {mined_from}, not from {bounds.text}",
                file=file,
                mend=f"leave out {option('text')}, or mine anew",
            )
        return patterns
    if train is None:
        raise InputError(
            "there is nothing to take patterns from", mend=f"give TRAIN, or {option('patterns', 'FILE')} mined before"
        )
    check_same_labels(train, dataset)
    return mine_dataset(train, bounds, progress)


def cut(patterns: PatternTable, threshold: float, q: float | None = None) -> PatternTable:
    """Keep what exceeds the threshold and, where q is given, is significant.

    Raises:
        InputError: The threshold is negative or below one that the patterns were cut at before, or q is no share.
    """
    before = patterns.settings.get("threshold", 0.0)
    if 0 <= threshold < before:
        raise InputError(
            f"the threshold is {threshold}, but the patterns were already cut at {before}",
            mend="raise it, or mine anew",
        )
    return (patterns if q is None else patterns.significant(q)).select(threshold)
