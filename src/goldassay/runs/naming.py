"""What the names of runs say: model, condition, training set and seed, written into one word by whoever ran them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.runs.validation import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.runs.run_parts import Slice

_FIELDS = ("model", "dataset", "split", "condition", "train_set")
_CONDITIONS = {
    "hypothesis_only": ("hypothesis", "hypothesis_only", "hypo", "hypo_only"),
    "premise_only": ("premise", "premise_only"),
    "paired": ("paired", "pair", "both", "std", "standard", "normal", "full"),
}
_BY_WORD = {word: name for name, words in _CONDITIONS.items() for word in words}
_SEED = re.compile(r"seed[ _.=-]*(\d{1,18})", re.IGNORECASE)
_WITHIN = re.compile(r"(?:^|[_\-. ])(hypothesis|premise)(?:[_-]only)?(?=$|[_\-. ])", re.IGNORECASE)


def condition_of(word: str) -> str:
    """The condition that a word stands for; any other word is a condition of its own ("shuffled")."""
    return _BY_WORD.get(re.sub(r"[\s-]+", "_", word.strip().lower()), word)


def condition_within(name: str) -> str:
    """The condition that a longer name says with a word of its own: "bert_hypothesis_test"; else paired."""
    found = _WITHIN.search(name)
    return condition_of(found[1]) if found else "paired"


def stated_seed(seed: int | str) -> int | None:
    """The seed that a run's own number states, or its name: "bert-seed3-step900"; None where neither does."""
    if isinstance(seed, int):
        return seed
    found = _SEED.search(seed)
    return int(found[1]) if found else None


def renamed(found: Sequence[Slice], expression: str) -> list[Slice]:
    """Take the names of models apart by a regular expression with named groups.

    Groups called model, dataset, split, condition, train_set and seed replace what the run had; a group that takes no
    part, or takes nothing, leaves it. Any other group is added to the model's name as GROUP=VALUE.

    Args:
        found: What is there.
        expression: It has to match whole names, as `(?P<model>.+)_(?P<condition>std|hypothesis)_(?P<seed>.+)`.

    Raises:
        InputError: It is no regular expression, has no group model, or some name does not match.
    """
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise InputError(
            f"{expression!r} is no regular expression ({error})", mend="write groups like (?P<model>.+)"
        ) from error
    if "model" not in pattern.groupindex:
        raise InputError(f"{expression!r} does not say where the model stands", mend="name a group (?P<model>.+)")
    names = sorted({part.collection.model for part in found})
    strange = [name for name in names if not pattern.fullmatch(name)]
    if strange:
        raise InputError(
            f"{len(strange)} of {len(names)} names of runs do not match {expression!r}: {listing(strange, 4)}",
            mend="widen the expression until it takes them all",
        )
    return [_renamed(part, pattern) for part in found]


def _renamed(part: Slice, pattern: re.Pattern[str]) -> Slice:
    matched = pattern.fullmatch(part.collection.model)
    said = {} if matched is None else {name: value for name, value in matched.groupdict().items() if value}
    fields = {name: said.pop(name) for name in _FIELDS if name in said}
    if "condition" in fields:
        fields["condition"] = condition_of(fields["condition"])
    numbered = part.numbered and "seed" not in said
    seed: int | str = said.pop("seed", part.seed)
    if isinstance(seed, str) and seed.isascii() and seed.isdigit():
        seed = int(seed)
    collection = part.collection._replace(**fields)
    others = "".join(f" {name}={value}" for name, value in said.items())
    return replace(part, collection=collection._replace(model=collection.model + others), seed=seed, numbered=numbered)
