"""Preferences: a prompt, the response that was preferred, and what was rejected.

They are read as items with choices of which the preferred response is the right one, so that rules, readers and
intervals are the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.column_names import normalized
from goldassay.data.fields import cell_texts, name_fields, normalized_text, winner_said, with_keys
from goldassay.data.kinds.choices import ChoiceItems, reordered
from goldassay.data.kinds.kind import PREFERENCES, Match, Strength, aside, joined
from goldassay.data.kinds.predictive_columns import find_predictive, named_unread
from goldassay.data.kinds.preference_shapes import (
    PREFERENCE_ROLES,
    PreferenceShape,
    find_preferences,
    names_side,
    parsed,
)
from goldassay.data.kinds.sides import TIE, say_sides, side_reader, with_ties
from goldassay.data.unread import find_unread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.data.table import Table

# How columns are called that say who gave each response.
_WHO = ("model", "model_name", "generator", "system", "assistant", "name")
SAME = "the preferred response and a rejected one are the same"
NO_SIDE = "nothing says which response was preferred"
UNKNOWN_SIDE = "what names the preferred response names neither side"
IS_TIE = "neither response was preferred"
EMPTY_RESPONSE = "a response is empty"
NO_RESPONSE = "a response is missing"
OTHER_PROMPT = "the two sides answer other prompts"
OTHER_SIDE = "the same pair is preferred the other way round in another row"

_TURN = re.compile(r"\n\n(?:Assistant|A):")
_DIALOGUE = re.compile(r"^\s*(?:Human|H|User|System):")
# How prompts of the Prometheus judges wrap what they judge.
_WRAPPED = re.compile(
    r"###\s*The instruction to evaluate:\s*(?P<prompt>.*?)\s*###\s*Response to evaluate:\s*(?P<response>.*?)\s*"
    r"###\s*(?:Score Rubrics?|Reference Answer|Feedback)",
    re.DOTALL,
)
_ANSWERING = ("assistant", "gpt", "model", "bot", "chatbot", "ai")


@dataclass(frozen=True)
class _Row:
    """A row as it was read: its texts, the preferred ones, the prompt, and what is wrong with it."""

    texts: tuple[str, ...]
    right: tuple[int, ...]
    prompt: str
    problems: tuple[str, ...]
    used: bool
    padded: tuple[bool, ...] = ()


class Preferences:
    """See `Kind`; `read_preferences` reads them."""

    name: ClassVar[str] = "preferences"
    rows: ClassVar[str] = PREFERENCES.items
    wants: ClassVar[str] = "chosen and rejected, or responses and winner"
    roles: ClassVar[tuple[str, ...]] = (*PREFERENCE_ROLES, "ignore")
    aliases: ClassVar[Mapping[str, str]] = {"label": "winner", "answer": "winner"}
    rank: ClassVar[int] = 2

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`, by the shapes of `preference_shapes`."""
        shape = find_preferences(table.frame, columns)
        if shape is None:
            return None
        single = tuple(each for each in (shape.chosen, shape.rejected) if each)
        covered = {*shape.covered, *aside(columns)}
        roles = {"chosen": shape.chosen, "rejected": shape.rejected, "responses": shape.responses}
        said, own = shape.winners or shape.scores, {"group": shape.group, "id": shape.id}
        return Match(
            kind=self,
            strength=Strength.SHAPE,
            roles=joined({**roles, "winner": said, "tie": shape.tie, "prompt": shape.prompt, **own}),
            core=frozenset(shape.responses or single),
            covered=frozenset(covered),
            unread=find_unread(table.frame, covered).columns,
            found=shape,
        )


def read_preferences(
    table: Table,
    name: str,
    *,
    roles: Mapping[str, str] | None = None,
    dependent: Sequence[str] = (),
    source: str = "",
) -> ChoiceItems | None:
    """The preferences of a table; None where its columns are of no shape that is known.

    Of chat lists and of joined dialogues the last answer is the response, and all before it the prompt. A prompt that
    both responses repeat is removed from them. Rows in which nothing was preferred, or in which the two sides are the
    same, cannot be used and are listed; ties are no flaw of the file.

    Args:
        table: As it was read.
        name: What to call the items.
        roles: The columns of `PREFERENCE_ROLES` whose names do not tell, and those to `ignore`.
        dependent: Columns whose equal values make items depend on each other.
        source: The file, for messages.

    Raises:
        InputError: A column that was named is not there, or no row can be used.
    """
    frame, named = name_fields(table.frame, roles)
    if "answer" in named:
        named.setdefault("winner", named.pop("answer"))
    if named.keys() - {*PREFERENCE_ROLES, "ignore"}:
        # Roles of another kind are named.
        return None
    _check_columns(frame, [each for value in named.values() for each in value.split("+")], source)
    ignored = aside(named)
    shape = find_preferences(frame, named)
    if shape is None:
        return None
    frame, named_by = _with_sides(with_ties(with_keys(frame, dependent), shape.tie, shape.winners), shape)
    _check_columns(frame, dependent, source)
    read, doubtful, said = _sides_of(frame, shape, source)
    said += named_by
    rows = [_checked(*read(row), shape) for row in frame.iter_rows(named=True)]
    kept = [at for at, row in enumerate(rows) if row.used]
    if not kept:
        reasons = [reason for row in rows for reason in row.problems]
        why = max(set(reasons), key=reasons.count) if reasons else "there are no rows"
        raise InputError(
            f"no row has a response that was preferred: {why}", file=source,
            column="+".join(shape.winners) or shape.chosen,
            mend=say_sides(shape.winners[0], frame[shape.winners[0]].to_list()) if len(shape.winners) == 1
            else "name the side by 1 and 2, A and B, or give columns chosen and rejected",
        )  # fmt: skip
    ids = cell_texts(frame[shape.id]) if shape.id else pl.Series([str(at) for at in range(frame.height)])
    padded = np.array([each for at in kept for each in rows[at].padded], np.bool_)
    problems = [(at, reason, row.used) for at, row in enumerate(rows) for reason in row.problems]
    problems += [(at, OTHER_SIDE, True) for at in _turned(rows, kept)]
    covered = {*shape.covered, *ignored, *dependent}
    unread = find_unread(frame, covered)
    telling = find_predictive(
        frame[kept], {*covered, *filter(names_side, frame.columns)},
        [rows[at].texts for at in kept], [rows[at].right for at in kept],
        ordered=bool(shape.responses),
    )  # fmt: skip
    items = ChoiceItems(
        name=name,
        ids=ids[kept].fill_null("").alias("id"),
        rows=np.array([table.line_of(at) for at in kept], np.int64),
        questions=pl.Series("question", [rows[at].prompt for at in kept], dtype=pl.String),
        passages=pl.Series("passage", [""] * len(kept), dtype=pl.String),
        texts=pl.Series("choice", [text for at in kept for text in rows[at].texts], dtype=pl.String),
        offsets=np.concatenate([[0], np.cumsum([len(rows[at].texts) for at in kept])]).astype(np.int64),
        right=np.concatenate([np.isin(np.arange(len(rows[at].texts)), rows[at].right) for at in kept]),
        subjects=cell_texts(frame[shape.group][kept]).fill_null("").alias("subject") if shape.group else None,
        ordered=bool(shape.responses),
        problems=pl.DataFrame(
            [(table.line_of(at), ids[at], reason, used) for at, reason, used in sorted(problems)],
            schema={"row": pl.Int64, "id": pl.String, "reason": pl.String, "used": pl.Boolean}, orient="row",
        ),
        dependent=tuple(frame[column][kept] for column in dependent),
        unread=named_unread(unread, telling),
        overlooked=unread.choices,
        telling=telling,
        decisions=(*winner_said(table.frame, frame), *said),
        n_unused=sum(1 for row in rows if not row.used and IS_TIE not in row.problems),
        doubtful=doubtful,
        source=source,
        files=table.files,
        kind=PREFERENCES,
        padded=padded if padded.any() else None,
    )  # fmt: skip
    return items if items.ordered else reordered(items)


_Read = tuple[list[Any], tuple[int, ...], Any, str]


def _check_columns(frame: pl.DataFrame, named: Sequence[str], source: str) -> None:
    for column in named:
        if column not in frame.columns:
            listed = ", ".join(map(repr, frame.columns[:20]))
            raise InputError(f"there is no column {column!r}", file=source, mend=f"the columns are {listed}")


def _sides_of(
    frame: pl.DataFrame, shape: PreferenceShape, source: str
) -> tuple[Callable[[dict[str, Any]], _Read], str, list[str]]:
    """How a row is read: its responses, which of them are preferred, its prompt, and why none is; what is in doubt."""

    def prompt_of(row: dict[str, Any]) -> Any:
        found = [row[column] for column in shape.prompt if row[column] is not None]
        return found[0] if len(found) == 1 else "\n".join(str(each) for each in found)

    if shape.chosen is not None and shape.rejected is not None:
        chosen, rejected = shape.chosen, shape.rejected

        def of_columns(row: dict[str, Any]) -> _Read:
            better, worse = (_several(parsed(row[each])) for each in (chosen, rejected))
            reason = "" if better and worse else NO_RESPONSE
            return [*better, *worse], tuple(range(len(better))), prompt_of(row), reason

        return of_columns, "", []
    first, second = shape.responses
    if shape.scores:

        def of_scores(row: dict[str, Any]) -> _Read:
            one, other = (row[each] for each in shape.scores)
            both = [row[first], row[second]]
            if one is None or other is None or one != one or other != other:
                return both, (), prompt_of(row), NO_SIDE
            return both, () if one == other else (int(other > one),), prompt_of(row), IS_TIE if one == other else ""

        names = " and ".join(map(repr, shape.scores))
        return of_scores, "", [f"The response with the larger number in {names} counts as preferred."]
    # People write alike, whoever of them used which values.
    values = [value for column in shape.winners for value in frame[column].to_list()]
    side_of, doubtful = side_reader(
        values, shape.winners, source,
        one_means_first=shape.one_means_first, from_zero=shape.from_zero, zero_is_tie=shape.zero_is_tie,
    )  # fmt: skip

    def of_winners(row: dict[str, Any]) -> _Read:
        both = [row[first], row[second]]
        given = {column: row[column] for column in shape.winners if row[column] not in (None, "")}
        if not given:
            return both, (), prompt_of(row), NO_SIDE
        sides = [side_of(value) for value in given.values()]
        known = [side for side in sides if side is not None]
        if not known:
            return both, (), prompt_of(row), UNKNOWN_SIDE
        most = max(known.count(side) for side in known)
        best = [side for side in (0, 1, TIE) if known.count(side) == most]
        if best == [TIE] or len(best) > 1:
            return both, (), prompt_of(row), IS_TIE
        return both, (best[0],), prompt_of(row), ""

    said = [f"{' and '.join(map(repr, shape.winners))} name the preferred response, by majority."]
    if len(shape.winners) == 1:
        said = [f"The column {shape.winners[0]!r} names the preferred response."]
    elif {"0", "2"} <= {str(value) for value in values}:
        said.append("0 counts as a tie, 1 as the first response and 2 as the second, as PandaLM writes them.")
    if shape.tie is not None:
        said.append(f"Rows in which {shape.tie!r} is true are ties.")
    return of_winners, doubtful, said


def _with_sides(frame: pl.DataFrame, shape: PreferenceShape) -> tuple[pl.DataFrame, list[str]]:
    """The frame with the side of each winner that is named by who responded, as model_a and model_b say; what was done.

    A name may stand on either side, so that no `--map` of it does.
    """
    if len(shape.winners) != 1 or len(shape.responses) != 2:
        return frame, []
    ends = [normalized(each).replace(" ", "_")[-1] for each in shape.responses]
    known = {normalized(column).replace(" ", "_"): column for column in frame.columns}
    columns = next((both for stem in _WHO if None not in (both := [known.get(f"{stem}_{end}") for end in ends])), None)
    if columns is None:
        return frame, []
    winner, one, other = (cell_texts(frame[str(each)]).str.strip_chars() for each in (*shape.winners, *columns))
    first, second = ((winner == mine) & (mine != theirs) for mine, theirs in ((one, other), (other, one)))
    if 2 * int((first | second).sum()) <= winner.drop_nulls().len():
        return frame, []
    sides = pl.select(
        pl.when(first)
        .then(pl.lit("first"))
        .when(second)
        .then(pl.lit("second"))
        .otherwise(winner)
        .alias(shape.winners[0])
    ).to_series()
    return frame.with_columns(sides), [f"The winner is named as in {' and '.join(map(repr, columns))}."]


def _several(value: Any) -> list[Any]:
    """The responses of a side: one, or several in a list."""
    if value is None:
        return []
    if isinstance(value, list):
        return list(value) if value and not isinstance(value[0], dict) else [value]
    return [value]


def _checked(given: list[Any], right: tuple[int, ...], prompt: Any, reason: str, shape: PreferenceShape) -> _Row:
    if reason or any(each is None for each in given):
        return _Row((), (), "", (reason or NO_RESPONSE,), used=False)
    parts = [_parted(parsed(each)) for each in given]
    asked = _as_text(parsed(prompt)).strip() if shape.prompt else ""
    texts = [part[1] for part in parts]
    own = [part[0] for part in parts]
    problems = []
    if any(own):
        if len({normalized_text(each) for each in own}) > 1:
            problems.append(OTHER_PROMPT)
        asked = asked or next((own[at] for at in right), own[0])
    if asked and all(text.startswith(asked) for text in texts):
        texts = [text.removeprefix(asked) for text in texts]
    padded = tuple(text != text.strip() for text in texts)
    texts = [text.strip() for text in texts]
    whole = [normalized_text(text) for text in texts]
    if not all(whole):
        problems.append(EMPTY_RESPONSE)
    preferred = {whole[at] for at in right}
    if len(right) == len(whole) or any(text in preferred for at, text in enumerate(whole) if at not in right):
        return _Row((), (), "", (SAME, *problems), used=False)
    return _Row(tuple(texts), right, asked, tuple(problems), used=True, padded=padded)


def repeats_prompt(response: Any, prompt: str) -> bool:
    """Whether the cell of a response holds what it answers, too: in messages or a dialogue, or at its start."""
    before, text = _parted(parsed(response))
    return bool(before) or (bool(prompt) and text.strip().startswith(prompt))


def _parted(value: Any) -> tuple[str, str]:
    """What a response answers, where it stands with it, and the response itself."""
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        # The answers of several turns.
        return "", "\n".join(value)
    if isinstance(value, list):
        messages = [(_speaker(each), _content(each)) for each in value if isinstance(each, dict)]
        at = len(messages)
        while at and messages[at - 1][0] in _ANSWERING:
            at -= 1
        if at == len(messages):
            # The speaker of a single message may not be named.
            at = max(len(messages) - 1, 0)
        before = "\n".join(f"{speaker}: {text}" for speaker, text in messages[:at])
        return before, "\n".join(text for _, text in messages[at:])
    text = str(value)
    if (wrapped := _WRAPPED.search(text)) is not None:
        return wrapped["prompt"], wrapped["response"]
    if _DIALOGUE.match(text) and (turns := list(_TURN.finditer(text))):
        return text[: turns[-1].start()].strip(), text[turns[-1].end() :]
    return "", text


def _speaker(message: Mapping[str, Any]) -> str:
    return str(message.get("role") or message.get("from") or "").casefold()


def _content(message: Mapping[str, Any]) -> str:
    found = next((message[key] for key in ("content", "value", "text") if message.get(key) is not None), "")
    if isinstance(found, list):
        return "\n".join(str(each.get("text", "")) if isinstance(each, dict) else str(each) for each in found)
    return str(found)


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        return "\n".join(
            f"{_speaker(each)}: {_content(each)}" if isinstance(each, dict) else str(each) for each in value
        )
    return "" if value is None else str(value)


def _turned(rows: Sequence[_Row], kept: Sequence[int]) -> list[int]:
    """Rows whose pair stands in another row with the other side preferred."""
    seen: dict[tuple[str, ...], set[str]] = {}
    found = []
    for at in kept:
        row = rows[at]
        whole = [normalized_text(text) for text in row.texts]
        key = (normalized_text(row.prompt), *sorted(whole))
        better = {whole[place] for place in row.right}
        if key in seen and seen[key] != better:
            found.append(at)
        seen.setdefault(key, better)
    return found
