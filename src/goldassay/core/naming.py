"""How users name and write things: `NAME=PATH`, wildcards, lists, and values that a shell writes as texts."""

from __future__ import annotations

import difflib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError, option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def split_named_path(text: str) -> tuple[str, str]:
    """Split `NAME=PATH` into (name, path); ("", text) where nothing is named.

    A path that exists under the whole text is taken as it is, since file names may contain the equals sign.
    """
    name, sign, path = text.partition("=")
    return (name, path) if sign and name and not Path(text).exists() else ("", text)


def is_wildcard(text: str) -> bool:
    """Whether a name contains `*` or `?` and so matches several others."""
    return bool(set(text) & set("*?"))


def matches(name: str, wanted: str) -> bool:
    """Whether a name equals the wanted one, or matches it where that is a wildcard.

    `*` matches any characters, `?` exactly one; all others, brackets included, match only themselves.
    """
    return fnmatchcase(name, wanted.replace("[", "[[]")) if is_wildcard(wanted) else name == wanted


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A mend for an unknown name: the nearest known ones, or all of them where none is near."""
    near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(repr(each) for each in near)}?"
    return f"known are {', '.join(known)}"


def listing(items: Sequence[Any], limit: int = 5) -> str:
    """The first few items, for an error message."""
    shown = ", ".join(str(item) for item in items[:limit])
    return f"{shown}, ..." if len(items) > limit else shown


# No training of a thousand seeds is meant; a number of them is a mistake in typing.
MOST_SEEDS = 1000


def names(texts: Iterable[str], name: str) -> tuple[str, ...]:
    """Several names.

    Raises:
        InputError: One is empty, or stands twice.
    """
    found = tuple(text.strip() for text in texts)
    if not all(found) or len(set(found)) < len(found):
        raise InputError(f"{option(name)} {','.join(found)!r} gives a name twice, or none", mend="give each name once")
    return found


def pairs(texts: Iterable[str], name: str, metavar: str, mend: str = "") -> dict[str, str]:
    """Texts KEY=VALUE as a mapping; `mend` says what to write where one is none.

    Raises:
        InputError: One is not of this form, or a key stands twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, sign, value = (part.strip() for part in text.partition("="))
        if not (sign and key and value):
            shown = metavar.removesuffix(",...")
            raise InputError(f"{option(name)} {text!r} is not {shown}", mend=mend or f"write {option(name, shown)}")
        if key in found:
            raise InputError(f"{option(name)} names {key!r} twice", mend="give each once")
        found[key] = value
    return found


def of_inputs(texts: Iterable[str]) -> dict[str, str]:
    """`INPUT ROLE=NAME,...`, each as one text, as a map from inputs to the columns of their roles.

    Raises:
        InputError: One is not of this form.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, _, columns = text.partition(" ")
        if not (name and "=" in columns):
            mend = f"write {option('columns-of')} test label=gold"
            raise InputError(f"{option('columns-of')} {text!r} is not INPUT ROLE=NAME", mend=mend)
        found[name] = f"{found[name]},{columns}" if name in found else columns
    return found


def labels_of_predictions(text: str) -> dict[str, str]:
    """`NAME=LABEL,...` as a map from names in the files to labels.

    Raises:
        InputError: A part is not of this form, or a name stands twice.
    """
    mend = f"write {option('labels', '0=entailment,1=neutral')}, or name the classes in their order with "
    return pairs(text.split(","), "labels", "NAME=LABEL", mend + option("label_names"))


def named_files(texts: Sequence[str]) -> dict[str, str]:
    """`FILE` or `NAME=FILE`, each any number of times; the name of one without a name is "".

    Raises:
        InputError: A name is given two files.
    """
    files: dict[str, str] = {}
    for text in texts:
        name, path = split_named_path(text)
        if name in files:
            raise InputError(
                f"two files of right labels are given for {f'the dataset {name}' if name else 'all datasets'}",
                mend=f"name the dataset of each: {option('test', 'DATASET=FILE')}",
            )
        files[name] = path
    return files


def own_sets(texts: Sequence[str]) -> dict[str, str]:
    """`NAME`, or `TRAIN=NAME` for each training set; the training set of one without it is "".

    Raises:
        InputError: A training set has two.
    """
    sets: dict[str, str] = {}
    for text in texts:
        train, _, name = text.rpartition("=")
        if train in sets:
            of = f" of the training set {train!r}" if train else ""
            raise InputError(
                f"{option('in_distribution')} names two datasets{of}: {sets[train]!r} and {name!r}",
                mend="give one, or one for each training set as TRAIN=NAME",
            )
        sets[train] = name
    return sets


def sizes(texts: Sequence[str]) -> dict[str, int]:
    """`MODEL=N` as numbers, with k, m and b for thousands, millions and billions.

    Raises:
        InputError: A model stands twice, or its number is none above 0.
    """
    found: dict[str, int] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if name in found:
            raise InputError(f"{option('parameters')} names {name!r} twice", mend="give each model one size")
        scale = {"k": 1e3, "m": 1e6, "b": 1e9}.get(number[-1:].lower(), 1)
        try:
            found[name] = round(float(number[:-1] if scale > 1 else number) * scale)
        except (ValueError, OverflowError):
            found[name] = 0
        if not name or found[name] <= 0:
            raise InputError(f"{text!r} is no size of a model", mend=f"write {option('parameters', 'bert-base=110M')}")
    return found


def seeds(text: str) -> int | tuple[int, ...] | str:
    """How many, or with commas which; what is no number is left as it is.

    Raises:
        InputError: There are more than anybody means.
    """
    try:
        if "," not in text:
            return int(text)
        found = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        return text
    if len(found) > MOST_SEEDS:
        raise InputError(f"{option('seeds')} names {len(found)} seeds", mend=f"name {MOST_SEEDS} at most")
    return found


def toml_values(name: str, example: str) -> Callable[[Sequence[str]], dict[str, Any]]:
    """What reads KEY=VALUE, the value as TOML writes it; what is no TOML is a word, and none is None."""

    def read(texts: Sequence[str]) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for text in texts:
            key, sign, value = (part.strip() for part in text.partition("="))
            if not sign or not key:
                raise InputError(f"{text!r} is not KEY=VALUE", mend=f"write {option(name, example)}")
            if key in changes:
                raise InputError(f"{key!r} is set twice", mend="set each key once")
            changes[key] = None if value.lower() == "none" else _toml_value(value)
        return changes

    return read


def _toml_value(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        # TOML wants a digit on both sides of the point: .5 is none of its numbers.
        return float(text)
    except ValueError:
        return text
