"""Systems whose output cannot depend on what was asked: their scores are no measure of ability.

Four kinds, of systems with 20 outputs or more that are not blank:

- *one text*: at least 95 % of the outputs are one text.
- *one choice*: at least 95 % of the answers are one choice, by at least 10 points more than it is right.
- *repeats the prompt*: at least 95 % of the outputs are the prompt, or half of it or more, and nothing else.
- *copy*: the outputs are those of another system: long texts that are alike in 95 % of the items, or answers that are
  alike in all but a twentieth of the items that either has wrong.
- *same scores*, where nothing else is known: another system has the same score on every item.

Models agree on what is easy: copies have 10 wrong items at least, and of scores alone 10 right ones.

Where right answers are nearly one, too, nothing is said of one text, or of one choice: naming the majority is a poor
system, and not a broken one. Texts are compared without case and spaces.

Source: Zheng et al. 2025, "Cheating automatic LLM benchmarks: null models achieve high win rates".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.numbers import count, percent
from goldassay.data.fields import normalized_texts
from goldassay.questions.answered.result import Degenerate
from goldassay.questions.rows import issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding
    from goldassay.runs.run_parts import Outputs
    from goldassay.runs.runs import Runs

_LEAST, _NEARLY, _FURTHER = 20, 0.95, 0.1
_LEAST_WRONG, _APART = 10, 0.05
# Texts of so many words are not alike by chance.
_LONG = 5
# Of more systems pairs are not compared.
_MOST_SYSTEMS = 200
_SHOWN = 60
# What a text may add to the prompt that it repeats.
_AROUND = 1.1


@dataclass(frozen=True)
class Given:
    """What one system gave, item by item, as far as it is compared with others; None for what is not known.

    Attributes:
        system: Its name.
        items: Names of the items, (N,).
        texts: Codes of what it wrote, null where nothing.
        has_long: Whether most of these are texts of several words.
        choices: Which label it chose, null where none could be read.
        scores: In [0, 1], null where there is none.
        base: The model's own name, where `system` names a configuration of it, too: such are no copies.
        alone: Why it is degenerate whatever others gave.
        is_constant: Whether nearly all that it gave is one text or choice.
    """

    system: str
    items: pl.Series
    texts: pl.Series | None
    has_long: bool
    choices: pl.Series | None
    scores: pl.Series | None
    base: str
    alone: Degenerate | None
    is_constant: bool

    @classmethod
    def of(
        cls,
        system: str,
        items: pl.Series,
        *,
        texts: pl.Series | None = None,
        choices: pl.Series | None = None,
        right: pl.Series | None = None,
        prompts: pl.Series | None = None,
        scores: pl.Series | None = None,
        base: str = "",
    ) -> Given:
        """Look at what one system gave; of its texts no more than codes is kept.

        Args:
            system: Its name.
            items: (N,).
            texts: What it wrote.
            choices: Which label it chose, null where none could be read.
            right: The right answers.
            prompts: What was asked.
            scores: In [0, 1], null where there is none.
            base: See above.
        """
        plain, asked = (None if each is None else _plain(each) for each in (texts, prompts))
        text, choice = _top(plain), _top(choices)
        return cls(
            system=system,
            items=items,
            texts=None if plain is None else plain.hash().set(plain.is_null(), None),
            has_long=plain is not None and _half_are_long(plain.drop_nulls()),
            choices=choices,
            scores=scores,
            base=base,
            alone=_alone(text, choice, right) or _repeating(plain, asked),
            is_constant=any(each is not None and each.share >= _NEARLY for each in (text, choice)),
        )


class _Top(NamedTuple):
    """The commonest of the values that are there."""

    value: str
    share: float
    n: int


def find_degenerate(given: Sequence[Given], dataset: str) -> tuple[Degenerate, ...]:
    """Name the degenerate among systems, each with the first kind that fits.

    Args:
        given: Systems on one dataset.
        dataset: Its name.
    """
    named = {own.system: replace(own.alone, system=own.system, dataset=dataset) for own in given if own.alone}
    left = [own for own in given if own.system not in named and not own.is_constant]
    for copy in _copies(left) if 1 < len(left) <= _MOST_SYSTEMS else ():
        one, other = left[copy.one], left[copy.other]
        if (one.base or one.system) != (other.base or other.system):
            for own, twin in ((one, other), (other, one)):
                named.setdefault(
                    own.system, Degenerate(own.system, dataset, copy.kind, copy.alike, copy.n, twin.system, "")
                )
    return tuple(named[own.system] for own in given if own.system in named)


def describe_degenerate(found: Degenerate) -> str:
    """A sentence on a system: what its outputs are, and what follows."""
    of = f"{percent(found.share)} of {count(found.n)}"
    first = "" if found.n_runs == 1 else f" of the first of {count(found.n_runs)} runs"
    said = {
        "one text": f"{of} outputs{first} are one text, {found.text!r}",
        "one choice": f"{of} answers{first} are {found.text!r}, and the right ones are not",
        "repeats the prompt": f"{of} outputs{first} repeat the prompt",
        "copy": f"its outputs are those of {found.other} ({of} items are alike)",
        "same scores": f"it scores as {found.other} on each of {count(found.n)} items",
    }[found.kind]
    return f"{found.system}: {said}: its score is no measure of ability."


def issues_of_degenerate(finding: Finding, found: Sequence[Degenerate]) -> Iterator[Issue]:
    """That the output of some systems does not depend on what was asked."""
    if found:
        mend = "Leave these systems out before you compare the others."
        worst, kind = describe_degenerate(found[0]), "output does not depend on the question"
        yield issue(finding, kind, len(found), worst, mend, of="systems")


def _plain(texts: pl.Series) -> pl.Series:
    """Texts as they are compared, null where one is blank."""
    found = normalized_texts(texts.fill_null("")).str.strip_chars()
    return found.set(found == "", None)


def _top(values: pl.Series | None) -> _Top | None:
    """None where there are too few values, or half and more are missing."""
    if values is None or values.count() < max(_LEAST, values.len() / 2):
        return None
    known = values.drop_nulls().alias("value").value_counts(sort=True)
    return _Top(str(known["value"][0]), known["count"][0] / values.count(), values.count())


def _half_are_long(texts: pl.Series) -> bool:
    return 2 * (texts.str.count_matches(r"\S+") >= _LONG).sum() >= max(texts.len(), 1)


def _alone(text: _Top | None, choice: _Top | None, right: pl.Series | None) -> Degenerate | None:
    gold = _top(right)
    if gold is not None and gold.share >= _NEARLY:
        return None
    # Of few right answers nothing says that one choice is wrong.
    given = right if right is not None and right.count() >= _LEAST else None
    for kind, top, known in (
        ("one text", text, None if given is None else _plain(given)),
        ("one choice", choice, given),
    ):
        if top is None or top.share < _NEARLY or (known is None and kind == "one choice"):
            continue
        is_right = 0.0 if known is None else int((known == top.value).sum()) / known.count()
        if top.share - is_right >= _FURTHER:
            shown = top.value if len(top.value) <= _SHOWN else f"{top.value[:_SHOWN]}..."
            return Degenerate("", "", kind, top.share, top.n, "", shown)
    return None


def _repeating(texts: pl.Series | None, prompts: pl.Series | None) -> Degenerate | None:
    if texts is None or prompts is None or texts.count() < _LEAST:
        return None
    text, prompt = pl.col("text"), pl.col("prompt")
    frame = pl.DataFrame({"text": texts, "prompt": prompts}).drop_nulls()
    size, of = text.str.len_chars(), prompt.str.len_chars()
    within = prompt.str.contains(text, literal=True) & (2 * size >= of)
    around = text.str.contains(prompt, literal=True) & (size <= _AROUND * of)
    if frame.height < _LEAST:
        return None
    share = float(frame.select((within | around).mean()).item())
    if share < _NEARLY:
        return None
    return Degenerate("", "", "repeats the prompt", share, frame.height, "", "")


class _Copy(NamedTuple):
    """Two systems by their places, on how many items they can be compared, and in which share they are alike."""

    kind: str
    one: int
    other: int
    n: int
    alike: float


def _copies(given: Sequence[Given]) -> list[_Copy]:
    """The pairs of systems that gave the same: by long texts, else by choices or short texts, else by scores."""
    every = pl.concat([each.items for each in given]).unique(maintain_order=True)
    scores = _placed(given, [each.scores for each in given], every, np.nan)
    long = [each.texts if each.has_long else None for each in given]
    short = [each.choices if each.choices is not None else each.texts for each in given]
    numbers = [each.scores if short[at] is None else None for at, each in enumerate(given)]
    found: dict[tuple[int, int], _Copy] = {}
    for kind, values in (("copy", long), ("copy", short), ("same scores", numbers)):
        codes = _placed(
            given, [None if each is None else each.hash().set(each.is_null(), 0) for each in values], every, 0
        )
        for one in range(len(given) - 1):
            both = (codes[one] != 0) & (codes[one + 1 :] != 0)
            alike = both & (codes[one] == codes[one + 1 :])
            wrong = both & ((scores[one] < 1) | (scores[one + 1 :] < 1))
            n, n_alike, n_wrong = both.sum(axis=1), alike.sum(axis=1), wrong.sum(axis=1)
            if values is long:
                same = n_alike >= _NEARLY * n
            elif values is short:
                same = (n_wrong >= _LEAST_WRONG) & ((wrong & ~alike).sum(axis=1) <= _APART * n_wrong)
            else:
                same = (n_alike == n) & (n_wrong >= _LEAST_WRONG) & (n - n_wrong >= _LEAST_WRONG)
            for at in np.flatnonzero(same & (n >= _LEAST)).tolist():
                other = one + 1 + at
                found.setdefault((one, other), _Copy(kind, one, other, int(n[at]), float(n_alike[at] / n[at])))
    return list(found.values())


def _placed(given: Sequence[Given], values: Sequence[pl.Series | None], items: pl.Series, empty: float) -> NDArray[Any]:
    """Values of each system by item, (M, N), `empty` where it has none."""
    found = np.full((len(given), items.len()), empty, np.float64 if np.isnan(empty) else np.uint64)
    places = dict(zip(items.to_list(), range(items.len()), strict=True))
    for own, each, row in zip(given, values, found, strict=True):
        if each is not None:
            at = slice(None) if own.items.equals(items) else [places[name] for name in own.items.to_list()]
            row[at] = each.fill_null(empty).to_numpy()
    return found


def given_by(runs: Runs, outputs: Outputs | None = None) -> Given:
    """What a system gave in its first run.

    Args:
        runs: Of one model, at their last checkpoint.
        outputs: What it wrote in that run, as far as its file holds it.
    """
    items, names = pl.Series("item", runs.example_ids.tolist(), dtype=pl.String), pl.Series(runs.label_names)
    unread = pl.Series(~runs.scored[0])
    choices = None if runs.predictions is None else names.gather(runs.predictions[0]).set(unread, None)
    right = None if runs.gold is None else names.gather(runs.gold)
    written: dict[str, pl.Series] = {}
    if outputs is not None:
        known = {"texts": outputs.texts, "right": outputs.targets, "prompts": outputs.prompts}
        own = pl.DataFrame({"item": outputs.example_ids, **{k: v for k, v in known.items() if v is not None}})
        found = items.to_frame().join(own.unique("item"), on="item", how="left", maintain_order="left")
        written = {name: found[name] for name in found.columns if name != "item"}
    given = Given.of(
        runs.model,
        items,
        choices=choices,
        scores=pl.Series(runs.scores[0]).set(unread, None),
        base=runs.base_model,
        **(written if right is None else written | {"right": right}),
    )
    return given if given.alone is None else replace(given, alone=replace(given.alone, n_runs=runs.n_runs))
