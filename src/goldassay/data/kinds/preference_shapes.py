"""The shapes in which preferences are published, recognized by their columns.

A column for the response that was preferred and one for what was rejected (texts, chat lists, dialogues, or several
rejected ones in a list); or two responses and a column that says which was preferred (LLMBar, JudgeBench, PandaLM,
arena battles), or one score each (WebGPT).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.data.column_names import names_of, normalized
from goldassay.data.fields import cell_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What a user may name; two responses with a column each are joined by "+".
PREFERENCE_ROLES = ("chosen", "rejected", "responses", "winner", "tie", "prompt", "group", "id", "weight", "date")

_SIDES = (("chosen", "rejected"), ("preferred", "dispreferred"), ("preferred", "rejected"), ("better", "worse"),
          ("winning", "losing"), ("response_j", "response_k"))  # fmt: skip
# What else is known of a side, which is no text of it.
_OF_SIDE = re.compile(r"score|rating|model|rank|reward|token|length|logp|margin|annotator|(^|_)id(_|$)|(^|_)name(_|$)")
_TWO = re.compile(
    r"^(?P<stem>outputs?|responses?|completions?|generations?|replies|reply|candidates?|summary|summaries|conversations?"
    r"|human_ref|assistant|text|answers?)_?(?P<side>[12ab01])$"
)
_WINNERS = names_of("winner", "preferences")
# These say by their name that one of two is preferred; the others may be labels of two texts.
_SURE = frozenset(_WINNERS) - {"label", "labels", "choice", "gold", "target", "gold_label"}
_ANNOTATORS = re.compile(r"^(?:annotator|rater|human|vote|annotation)_?\d+$")
_TIES = ("tie", "is_tie", "tied")
_YES_NO = ("0", "1", "0.0", "1.0", "false", "true", "no", "yes")
_SCORES = ("score", "scores", "rating", "reward")
_PROMPTS = names_of("prompt", "preferences")
_GROUPS = names_of("group", "preferences")
_IDS = names_of("id", "preferences")
# A group has fewer values than this share of the rows.
_GROUPED = 0.2


@dataclass(frozen=True)
class PreferenceShape:
    """Where everything is.

    Attributes:
        chosen: The column of what was preferred; None where two responses stand beside each other.
        rejected: The column of what was not.
        responses: The columns of the first and the second response, else nothing.
        winners: The columns that say which was preferred; several where several people said so.
        scores: The columns of a score for each response, where no column says which was preferred.
        prompt: Columns whose texts make the prompt.
        group: A column of subsets, if any.
        id: The column of ids, if any.
        one_means_first: Whether 1 names the first response and 0 the second.
        from_zero: Whether the responses are called by 0 and 1.
        tie: The column that says whether neither was preferred, if any.
        zero_is_tie: Whether people write 0 for a tie, as in PandaLM's files, which name the two models in `cmp_key`.
    """

    chosen: str | None
    rejected: str | None
    responses: tuple[str, ...]
    winners: tuple[str, ...]
    scores: tuple[str, ...]
    prompt: tuple[str, ...]
    group: str | None
    id: str | None
    one_means_first: bool = False
    from_zero: bool = False
    tie: str | None = None
    zero_is_tie: bool = False

    @property
    def covered(self) -> tuple[str, ...]:
        """All columns that it reads."""
        single = (self.chosen, self.rejected, self.group, self.id, self.tie)
        return (
            *(each for each in single if each), *self.responses, *self.winners, *self.scores, *self.prompt,
        )  # fmt: skip


def find_preferences(frame: pl.DataFrame, roles: Mapping[str, str] | None = None) -> PreferenceShape | None:
    """The shape of a table's preferences; None where it holds none that can be recognized.

    Args:
        frame: All columns as they were read.
        roles: The column of each of `PREFERENCE_ROLES`, where names do not tell.
    """
    named = dict(roles or {})
    by_name: dict[str, str] = {}
    for column in frame.columns:
        by_name.setdefault(normalized(column).replace(" ", "_"), column)
    sides = _sides(frame, by_name, named)
    responses, winners, scores = ((), (), ()) if sides else _two(frame, by_name, named)
    if not sides and not responses:
        return None
    used = [*sides, *responses, *winners, *scores]
    prompt = tuple(named["prompt"].split("+")) if "prompt" in named else _prompt(frame, by_name, used)
    label = normalized(winners[0]).replace(" ", "_") if len(winners) == 1 else ""
    if responses and not scores and "winner" not in named and label not in _SURE and len(winners) == 1 and not prompt:
        # Two texts and a label, and nothing that they answer: they may be a pair of sentences.
        return None
    return PreferenceShape(
        chosen=sides[0] if sides else None,
        rejected=sides[1] if sides else None,
        responses=responses,
        winners=winners,
        scores=scores,
        prompt=prompt,
        group=named.get("group") or _group(frame, by_name, [*used, *prompt]),
        id=named.get("id") or next((by_name[name] for name in _IDS if name in by_name), None),
        one_means_first=bool(responses) and normalized(responses[0]).startswith("human_ref"),
        from_zero=[each[-1] for each in responses] == ["0", "1"],
        tie=named.get("tie") or (_tie(frame, by_name, [*used, *prompt]) if winners else None),
        zero_is_tie=zero_is_tie(frame.columns, winners),
    )


def zero_is_tie(columns: Sequence[str], people: Sequence[str]) -> bool:
    """Whether people write 0 for a tie: those of PandaLM's files, which name the two models in `cmp_key`."""
    named = {normalized(column).replace(" ", "_") for column in columns}
    return len(people) > 1 and "cmp_key" in named and all(map(_is_annotator, people))


def names_side(column: str) -> bool:
    """Whether a column of this name says which side was preferred, or how good one is, as another one may already."""
    name = normalized(column).replace(" ", "_")
    return name in _WINNERS or _is_annotator(column) or any(score in name.split("_") for score in _SCORES)


def mates(frame: pl.DataFrame, chosen: str, rejected: str) -> list[tuple[str, str]]:
    """Columns of which one is known of what was preferred, and its mate of what was not: the responses come first.

    Their names differ in the words in which those of the responses differ, as `chosen_model` and `rejected_model`.
    """
    by_name = {normalized(column).replace(" ", "_"): column for column in frame.columns}
    one, other = (normalized(each).replace(" ", "_") for each in (chosen, rejected))
    words = next((pair for pair in _SIDES if _has(one, pair[0]) and one.replace(*pair) == other), (one, other))
    found = [(chosen, rejected)]
    for name, column in by_name.items():
        mate = by_name.get(name.replace(*words)) if _has(name, words[0]) else None
        if mate not in (None, column) and column != chosen and frame.schema[column] == frame.schema[mate]:
            found.append((column, mate))
    return found


def _sides(frame: pl.DataFrame, by_name: Mapping[str, str], named: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of what was preferred and of what was rejected; nothing where there are none."""
    if "chosen" in named and "rejected" in named:
        return named["chosen"], named["rejected"]
    found = []
    for one, other in _SIDES:
        for name, column in by_name.items():
            mate = by_name.get(name.replace(one, other)) if _has(name, one) else None
            if mate is None or mate == column or _OF_SIDE.search(name):
                continue
            if _holds_text(frame[column]) and _holds_text(frame[mate]):
                found.append((name != one, column, mate))
    return min(found)[1:] if found else ()


def _is_annotator(column: str) -> bool:
    return _ANNOTATORS.match(normalized(column).replace(" ", "_")) is not None


def _has(name: str, word: str) -> bool:
    return re.search(rf"(^|_){word}($|_)", name) is not None


def _two(
    frame: pl.DataFrame, by_name: Mapping[str, str], named: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The columns of two responses, those that say which was preferred, and those of their scores."""
    nothing: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
    if "responses" in named:
        pair = named["responses"].split("+")
        if len(pair) != 2:
            return nothing
        stem = ""
    else:
        stems: dict[str, dict[str, str]] = {}
        for name, column in by_name.items():
            if (match := _TWO.match(name)) and _holds_text(frame[column]):
                stems.setdefault(match["stem"], {})[match["side"]] = column
        several = [(stem, sides) for stem, sides in stems.items() if len(sides) == 2]
        if not several:
            return nothing
        stem, sides = several[0]
        pair = [sides[side] for side in sorted(sides)]
    if "winner" in named:
        return tuple(pair), tuple(named["winner"].split("+")), ()
    winner = next((by_name[each] for each in _WINNERS if each in by_name and by_name[each] not in pair), None)
    scored = _scored(by_name, pair, frame)
    if stem.startswith(("answer", "text")):
        # Answers of two columns may be choices of a question, unless it is said that one is preferred.
        name = "" if winner is None else normalized(winner).replace(" ", "_")
        winner = winner if name in _SURE else None
    if winner is not None:
        return tuple(pair), (winner,), ()
    annotators = tuple(column for name, column in sorted(by_name.items()) if _ANNOTATORS.match(name))
    if annotators:
        return tuple(pair), annotators, ()
    return (tuple(pair), (), scored) if scored else nothing


def _scored(by_name: Mapping[str, str], pair: Sequence[str], frame: pl.DataFrame) -> tuple[str, ...]:
    """A column of numbers for each of two responses, named as they are."""
    ends = [normalized(each).replace(" ", "_")[-1] for each in pair]
    for name in _SCORES:
        found = [by_name.get(f"{name}_{end}") for end in ends]
        if all(each is not None and frame.schema[each].is_numeric() for each in found):
            return tuple(each for each in found if each is not None)
    return ()


def _prompt(frame: pl.DataFrame, by_name: Mapping[str, str], used: Sequence[str]) -> tuple[str, ...]:
    known = [by_name[name] for name in _PROMPTS if name in by_name and by_name[name] not in used]
    # An instruction and its input make one prompt.
    both = [by_name[name] for name in ("instruction", "input") if by_name.get(name) in known]
    found = both if len(both) == 2 else known[:1]
    return tuple(each for each in found if frame.schema[each] == pl.String or frame.schema[each].is_nested())


def _group(frame: pl.DataFrame, by_name: Mapping[str, str], used: Sequence[str]) -> str | None:
    """The first column of kinds that has several values, each of many rows."""
    for name in _GROUPS:
        column = by_name.get(name)
        if column is not None and column not in used and frame.schema[column] == pl.String:
            n = frame[column].n_unique()
            if 2 <= n <= max(2, _GROUPED * frame.height):
                return column
    return None


def _tie(frame: pl.DataFrame, by_name: Mapping[str, str], used: Sequence[str]) -> str | None:
    """The column that is called a tie and says yes or no of each row."""
    for column in (by_name[name] for name in _TIES if name in by_name and by_name[name] not in used):
        filled = cell_texts(frame[column]).drop_nulls().str.strip_chars().str.to_lowercase()
        if len(filled) and filled.is_in(_YES_NO).all():
            return column
    return None


def _holds_text(values: pl.Series) -> bool:
    """Whether a column holds texts, lists of them or of messages, and no numbers."""
    if values.dtype.is_nested():
        return True
    if values.dtype != pl.String:
        return False
    filled = values.drop_nulls()
    return bool(len(filled)) and not filled.str.contains(r"^\s*[-+]?\d*\.?\d+\s*$").all()


def parsed(value: Any) -> Any:
    """Lists and objects as they are, or from JSON; anything else as it stands."""
    if isinstance(value, pl.Series):
        return value.to_list()
    if isinstance(value, str) and value.lstrip()[:2] in ("[{", '["'):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
