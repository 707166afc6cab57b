"""What a dataset holds that no role covers: auxiliary columns, unread texts, and what looks like choices."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.column_names import normalized
from goldassay.data.fields import cell_texts
from goldassay.data.languages import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# A text has more words than this in half of its rows; names and kinds have fewer.
_FEW_WORDS = 3
_LOOKED_AT = 2000

# Parse trees, ids, labels and remarks of annotators, explanations, sources, predictions.
_AUXILIARY = re.compile(
    r"(^|_)(parse|binary_parse|tree|pos|pos_tags|tags?|tokens|tokenized|lemmas?|id|ids|uid|guid|idx|captionid|promptid"
    r"|pairid|explanations?|rationales?|reasons?|justifications?|marked|highlights?|notes?|remarks?|annotators?|workers?"
    r"|annotator_labels|label_set|error_labels|original|source|sources|url|link|links|urls|metadata|additional_metadata"
    r"|provenance|license|citation|timestamp|date|dataset|supporting_facts|preds?|predictions?|logits|probabilities"
    r"|embedding|embeddings|hash)(_?\d+)?($|_round|_(dataset|original|marked|highlighted|prob|logits))"
)
_PREDICTED = re.compile(r"^preds?[_.-]|predlabel$|_pred$|(^|_)(gpt|model)_")
_CHOICES = re.compile(
    r"(^|_)(answers?|choices?|options?|endings?|responses?|outputs?|completions?|candidates?|distractors?|chosen|rejected"
    r"|solutions?)($|_)"
)
_NUMBERED = re.compile(r"^(?P<stem>.*[a-z])_?(?P<number>\d+)$")
_LETTERED = re.compile(r"^(?P<stem>.+?)_?(?P<number>[a-h])$")


@dataclass(frozen=True)
class Unread:
    """Columns without a role.

    Attributes:
        columns: Lists, objects and free text that no reader sees.
        choices: Those of them, and further columns, that look like choices, responses or answers: what is measured
            without them says nothing of the task.
        auxiliary: Lists, objects and free text that are known by name and ignored.
    """

    columns: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    auxiliary: tuple[str, ...] = ()


def is_called_choices(name: str) -> bool:
    """Whether a column is called after choices, responses or answers."""
    return _CHOICES.search(normalized(name)) is not None


def find_unread(frame: pl.DataFrame, covered: Collection[str], labels: Sequence[str] = ()) -> Unread:
    """Find the columns that nobody reads although they may be part of the task.

    A column is unread if it holds lists, objects or free text, which has more than three words in half of its rows.
    It looks like choices if it is a list of texts, if it is called so (answer, option, response and the like), or if
    several columns are numbered or lettered alike (`ans0`, `ans1`; `response_a`, `response_b`). A column of positions
    or letters that index such choices goes with them.

    Args:
        frame: All columns as they were read; some 2,000 rows are looked at.
        covered: Columns that have a role, `ignore` included.
        labels: Values of the label: a list of them is no list of choices.
    """
    rows = frame[:: max(1, frame.height // _LOOKED_AT)]
    open_ = [name for name in frame.columns if name not in covered]
    kinds = {name: _kind(rows[name], set(labels)) for name in open_}
    auxiliary = tuple(name for name in open_ if kinds[name] and is_auxiliary(name))
    unread = [name for name in open_ if kinds[name] and name not in auxiliary]
    choices = [name for name in unread if kinds[name] == "texts" or _CHOICES.search(normalized(name))]
    for names in _alike(open_):
        texts = all(kinds[name] != "object" and _is_text(rows[name], set(labels)) for name in names)
        if texts and not any(map(is_auxiliary, names)):
            choices += [name for name in names if name not in choices]
    if choices:
        choices += [name for name in open_ if name not in choices and _is_index(rows[name], name)]
    return Unread(tuple(dict.fromkeys([*unread, *choices])), tuple(dict.fromkeys(choices)), auxiliary)


def _kind(values: pl.Series, labels: set[str]) -> str:
    """`texts` for a list of texts, `object` for other lists and objects, `text` for free text, "" for anything else."""
    if values.dtype.is_nested():
        inner = getattr(values.dtype, "inner", None)
        return _list_kind(values.drop_nulls().to_list(), labels) if inner == pl.String else "object"
    if values.dtype != pl.String:
        return ""
    filled = values.drop_nulls()
    if not len(filled):
        return ""
    shaped = filled.str.strip_chars().str.contains(r"^(\[.*\]|\{.*\})$")
    if 2 * int(shaped.sum()) > len(filled):
        return _json_kind(filled.filter(shaped).to_list(), labels)
    words = filled.str.count_matches(r"\S+") + filled.str.count_matches(UNSPACED) // 2
    return "text" if float(np.median(words.to_numpy())) > _FEW_WORDS else ""


def _json_kind(values: Sequence[str], labels: set[str]) -> str:
    lists = []
    for value in values:
        try:
            found = json.loads(value)
        except ValueError:
            return "object"
        # As ARC writes choices: an object of lists, or a list of objects with a text.
        if isinstance(found, dict):
            found = next((each for each in found.values() if _is_list_of_text(each)), None)
        elif isinstance(found, list) and found and all(isinstance(each, dict) for each in found):
            found = [each.get("text") for each in found]
        if not _is_list_of_text(found):
            return "object"
        lists.append(found)
    return _list_kind(lists, labels)


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _list_kind(lists: Sequence[list[str]], labels: set[str]) -> str:
    lengths = sorted(len(each) for each in lists)
    several = bool(lengths) and lengths[len(lengths) // 2] > 1
    return "texts" if several and not {item for each in lists for item in each} <= labels else "object"


def is_auxiliary(name: str) -> bool:
    """Whether a column is called like parse trees, ids, explanations, sources or predictions."""
    key = re.sub(r"[.\s-]+", "_", normalized(name))
    return bool(_AUXILIARY.search(key) or _PREDICTED.search(key))


def _alike(names: Sequence[str]) -> list[list[str]]:
    """Columns of which the names differ in a number or letter at the end alone, at least two; of letters a and b."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        key = normalized(name)
        if match := _NUMBERED.match(key) or _LETTERED.match(key):
            found.setdefault(match["stem"].rstrip("_"), {})[match["number"]] = name
    # Many names end in some letter: those of a series begin with a.
    return [list(alike.values()) for alike in found.values() if len(alike) > 1 and _is_series(alike)]


def _is_series(ends: Collection[str]) -> bool:
    return any(end.isdigit() for end in ends) or {"a", "b"} <= set(ends)


def _is_text(values: pl.Series, labels: set[str]) -> bool:
    """Whether values are words of some variety: neither numbers, nor labels, nor the names of two models."""
    if values.dtype != pl.String:
        return False
    distinct = values.drop_nulls().str.strip_chars().unique()
    numbers = distinct.cast(pl.Float64, strict=False)
    return len(distinct) > 2 and numbers.null_count() > len(distinct) // 2 and not set(distinct.to_list()) <= labels


def _is_index(values: pl.Series, name: str) -> bool:
    """Whether a column called like an answer holds positions or letters."""
    if values.dtype.is_nested() or not re.search(r"answer|correct|label|gold|target", normalized(name)):
        return False
    distinct = set(cell_texts(values).drop_nulls().str.strip_chars().str.to_lowercase().unique().to_list())
    return 1 < len(distinct) <= 10 and all(re.fullmatch(r"\d|[a-j]", each) for each in distinct)
