"""The shapes in which multiple-choice items are published, recognized by their columns.

Each shape says which columns hold the choices, the question, the passage and the answer. `find_shape` tries them in
order; the first whose columns are there and hold what they must is taken. To add a shape, add a function to `SHAPES`.

MMLU, MMLU-Pro, RACE, HellaSwag, AGIEval and AQuA have a column of lists, SocialIQa too or a column a choice; MedQA an
object with a text a letter; ARC, OpenBookQA and CommonsenseQA one of texts and labels, or both nested in the question;
SWAG, MedMCQA, PIQA, WinoGrande, BBQ and MMLU's CSV a column a choice; GPQA and SciQ one for the right answer and
several for wrong ones; TruthfulQA and BIG-bench targets with their labels, or lists joined by semicolons; Open Trivia
DB a list of wrong ones. COPA and e-CARE ask for the cause or the effect of a premise, StoryCloze for the end of four
sentences, and aNLI for what lies between two observations.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.column_names import TEXTS, names_of, normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LISTS = names_of("choices", "choices")
_ANSWERS = names_of("answer", "choices")
_QUESTIONS = names_of("question", "choices")
# The later observation stands before the earlier one, which what is sought between them follows.
_PASSAGES = names_of("passage", "choices")
# Texts that make a question together.
_JOINED = (
    ("sent1", "sent2"),
    ("ctx_a", "ctx_b"),
    tuple(f"input_sentence_{number}" for number in range(1, 5)),
    tuple(f"inputsentence{number}" for number in range(1, 5)),
)
# Whether the cause or the effect of a premise is wanted; so few words, of so few values, are a kind of question.
_ASPECTS = ("ask_for", "asks_for")
_MOST_WORDS = 2
_MOST_KINDS = 20
_GROUPS = names_of("group", "choices")
_IDS = names_of("id", "choices")
# What a user may name; one column each, but for choices with a column each.
# Longer texts are no choices, and Python's parser takes memory.
_QUOTED = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")
# As numpy prints an array of texts: without commas.
_ARRAY = re.compile(rf"\[\s*(?:{_QUOTED.pattern})(?:\s+(?:{_QUOTED.pattern}))+\s*\]")
_LONGEST_LITERAL = 100_000
ROLES = ("choices", "answer", "question", "passage", "group", "id", "weight", "date")
# Choices with a column each: how the columns are called, in order, and whether their numbers name them.
_COLUMNED = (
    (
        re.compile(r"^(?:ending|ans|choice|option|sol|answer|sentence_quiz|randomfifthsentencequiz)_?(\d+)$"),
        True,
    ),
    (re.compile(r"^hyp(?:othesis)?_?(\d+)$"), True),
    (re.compile(r"^op_?([a-j])$|^(?:option|choice|answer)_?([a-j])$|^([a-j])$"), False),
)
_WRONG = re.compile(r"^(?:incorrect_answer|distractor|wrong_answer)_?(\d+)$")
# Objects of choices with their labels, the surest first.
_TARGETS = ("mc1_targets", "mc2_targets", "target_scores")
_RIGHT = ("correct_answer", "right_answer", "best_answer")
# Keys of an object that has a choice each.
_KEY = re.compile(r"(?:(?:option|choice|answer|op)[_ ]?)?([A-Z]|\d{1,2})", re.IGNORECASE)
_MARKS = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}
NESTED = "a choice is a list or an object and no text"
UNKEYED = "the choices are an object without letters or numbers as keys"


@dataclass(frozen=True)
class Raw:
    """A row as it was read.

    Attributes:
        choices: Their texts.
        names: Their labels where the row gives them ("A", "1"), else nothing.
        answer: What names the right one, as it stands; a list where several are right.
        question: The question's text, where it is nested with the choices.
        n_blank: Empty choices at the end, which are none and not among `choices`.
        flaw: Why there are no choices, where there is more to say than that.
    """

    choices: tuple[str, ...]
    names: tuple[str, ...]
    answer: Any
    question: str | None = None
    n_blank: int = 0
    flaw: str = ""


@dataclass(frozen=True)
class Shape:
    """Where everything is.

    Attributes:
        read: A row's values, column to value, as `Raw`.
        answer: The column of the answer; None where the shape itself tells which choice is right.
        question: Columns whose texts make the question.
        passage: The column of the passage, if any.
        group: A column of subjects or kinds, if any.
        id: The column of ids, if any.
        columns: Of the choices.
        aspect: The column that says what is wanted of the question's text, such as its cause or its effect, if any.
        right_first: Whether the file lists the right choice first, so that positions mean nothing.
        numbers_from: The number that names the first choice, where the columns are numbered.
    """

    read: Callable[[dict[str, Any]], Raw]
    answer: str | None
    question: tuple[str, ...]
    passage: str | None
    group: str | None
    id: str | None
    columns: tuple[str, ...]
    aspect: str | None = None
    right_first: bool = False
    numbers_from: int | None = None


def find_shape(frame: pl.DataFrame, roles: Mapping[str, str] | None = None) -> Shape | None:
    """The shape of a table's items; None where it holds no choices that can be recognized.

    Args:
        frame: All columns as they were read.
        roles: The column of each of `ROLES`, where names do not tell; choices with a column each are joined by "+".
    """
    columns = _Columns(frame, roles or {})
    shapes = (_listed, _named) if columns.choices else SHAPES
    return next((found for shape in shapes if (found := shape(columns)) is not None), None)


def check_apart(found: Mapping[str, str], named: Mapping[str, str]) -> None:
    """Refuse a question or a passage that is named as a column which has another part already.

    Args:
        found: The column of each other part; several are joined by "+".
        named: The column of each role, as the user names it.

    Raises:
        InputError: One column would be two parts, so that what is sought or read would be another one than is meant.
    """
    parts = {**found, "question": named.get("question", ""), "passage": named.get("passage", "")}
    for role in ("question", "passage"):
        own = set(parts[role].split("+")) - {""}
        column = parts[role]
        other = next((each for each in parts if each != role and own & set(parts[each].split("+"))), None)
        if other is not None:
            raise InputError(
                f"the column {column!r} is named as the {role}, and it is the {other}, too",
                mend="give each role a column of its own",
            )


class _Columns:
    """Columns by their normalized names, and what was said of them."""

    def __init__(self, frame: pl.DataFrame, roles: Mapping[str, str]) -> None:
        self.frame, self.roles, self.answer = frame, roles, roles.get("answer")
        self.choices = roles["choices"].split("+") if "choices" in roles else []
        self.by_name: dict[str, str] = {}
        for column in frame.columns:
            self.by_name.setdefault(normalized(column).replace(" ", "_"), column)

    def first(self, names: Sequence[str], *, besides: Sequence[str] = ()) -> str | None:
        return next((self.by_name[name] for name in names if name in self.by_name
                     and self.by_name[name] not in besides), None)  # fmt: skip

    def answered(self, besides: Sequence[str]) -> str | None:
        """The column of answers: the first that is filled in half of the rows, else the one that is filled most."""
        if self.answer in self.frame.columns:
            return self.answer
        known = [name for name in _ANSWERS if name in self.by_name and self.by_name[name] not in besides]
        filled = {name: _n_filled(self.frame[self.by_name[name]]) for name in known}
        half = [name for name in known if 2 * filled[name] >= self.frame.height]
        best = half[0] if half else max(known, key=lambda name: filled[name], default=None)
        return self.by_name[best] if best is not None and filled[best] else None

    def objects(self, column: str) -> bool:
        """Whether a column's first filled value is a list, an object, or JSON of one."""
        values = self.frame[column].drop_nulls()
        if not len(values):
            return False
        value = values[0]
        return isinstance(_parsed(value), dict | list)

    def shape(
        self, read: Callable[[dict[str, Any]], Raw], columns: Sequence[str], answer: str | None, **more: Any
    ) -> Shape:
        used = (*columns, *([answer] if answer else []))
        check_apart({"choices": "+".join(columns), "answer": answer or ""}, self.roles)
        passage = self.roles.get("passage") or self.first(_PASSAGES, besides=(*used, self.roles.get("question", "")))
        named, passage, aspect = self.asked(used, passage)
        if not named and passage is not None:
            named, passage = [passage], None
        besides = (*used, *named, passage or "")
        group = self.roles.get("group") or self.first(_GROUPS, besides=besides) or aspect
        own_id = self.roles.get("id") or self.first(_IDS)
        return Shape(
            lambda row: _trimmed(read(row)), answer, tuple(named), passage, group, own_id, tuple(columns), aspect,
            **more,
        )  # fmt: skip

    def asked(self, used: Sequence[str], passage: str | None) -> tuple[list[str], str | None, str | None]:
        """The columns of the question, that of the passage, and that of what is wanted of the question."""
        aspect = self.first(_ASPECTS, besides=used)
        if "question" in self.roles:
            return [self.roles["question"]], passage, aspect
        joined = next(([self.by_name[name] for name in names] for names in _JOINED if self.holds(names)), [])
        ctx = self.by_name.get("ctx")
        if joined and not (ctx and _n_filled(self.frame[ctx])):
            return joined, passage, aspect
        taken = (*used, passage or "")
        found = self.first(_QUESTIONS, besides=taken)
        if found is None or not _are_kinds(self.frame[found]):
            return [found] if found else [], passage, aspect
        # What is asked stands in another column: a copy of it need not have the word that says what is wanted.
        if "passage" not in self.roles and passage is not None and self.has_more_kinds(passage, found):
            return [passage], None, found
        other = self.first((*_QUESTIONS, *TEXTS), besides=(*taken, found))
        if other is not None and self.has_more_kinds(other, found):
            return [other], passage, found
        return [found], passage, aspect

    def holds(self, names: Sequence[str]) -> bool:
        return all(name in self.by_name for name in names)

    def has_more_kinds(self, column: str, found: str) -> bool:
        """Whether a column holds texts, more different ones than `found`, or as many if they are longer.

        A few texts in a script without spaces look like kinds.
        """
        values = self.frame[column]
        if values.dtype != pl.String:
            return False
        n, n_kinds = values.n_unique(), self.frame[found].n_unique()
        return n > n_kinds or (n == n_kinds and not _are_kinds(values))


def marks(labels: Sequence[Any]) -> list[bool] | None:
    """Which choices are right, by a 0 or 1 (false or true) for each of them; None where labels are anything else."""
    found = [_MARKS.get(str(label).strip().lower()) for label in labels]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def is_answer(column: str) -> bool:
    """Whether a column of this name says which choice is right, or would in another shape."""
    name = normalized(column).replace(" ", "_")
    return name in {*_ANSWERS, *_RIGHT, "correct_answers", *_TARGETS}


def _targets(columns: _Columns) -> Shape | None:
    """TruthfulQA's and BIG-bench's targets: choices with a label of 0 or 1 each; of mc1 the first is right."""
    column = columns.first(_TARGETS)
    if column is None:
        return None

    def read(row: dict[str, Any]) -> Raw:
        found = _parsed(row[column])
        if not isinstance(found, dict):
            return Raw((), (), None)
        if "choices" in found:
            texts, labels = found.get("choices") or [], found.get("labels") or []
        else:
            # In Parquet each row's object has the choices of all.
            own = {text: label for text, label in found.items() if label is not None}
            texts, labels = list(own), list(own.values())
        marked = marks(labels) if len(labels) == len(texts) else None
        return Raw(_texts(texts), (), [at for at, is_right in enumerate(marked or []) if is_right])

    return columns.shape(read, [column], None)


def _joined_lists(columns: _Columns) -> Shape | None:
    """TruthfulQA's table, Open Trivia DB: the best answer, and wrong ones in a list or joined by semicolons."""
    best = columns.first(("best_answer", *_RIGHT))
    wrong = columns.first(("incorrect_answers", "wrong_answers", "distractors"))
    # A text is split only where it is known to be joined: another answer may have a semicolon of its own.
    if best is None or wrong is None or not ("best_answer" in columns.by_name or columns.objects(wrong)):
        return None

    def read(row: dict[str, Any]) -> Raw:
        found = _parsed(row[wrong])
        others = found if isinstance(found, list) else str(row[wrong] or "").split(";")
        texts = [str(row[best] or ""), *(str(part or "").strip() for part in others)]
        return Raw(_texts([each for each in texts if each]), (), [0] if row[best] else None)

    return columns.shape(read, [best, wrong], None, right_first=True)


def _right_and_wrong(columns: _Columns) -> Shape | None:
    """GPQA and SciQ: one column for the right answer, and one for each wrong one."""
    wrong = _numbered(columns, _WRONG)
    right = columns.first(_RIGHT)
    if right is None or not wrong:
        return None

    def read(row: dict[str, Any]) -> Raw:
        texts = _texts([row[right], *(row[each] for each in wrong if row[each] is not None)])
        return Raw(texts, (), [0] if texts[0].strip() else None)

    return columns.shape(read, [right, *wrong], None, right_first=True)


def _nested_question(columns: _Columns) -> Shape | None:
    """ARC, OpenBookQA and CommonsenseQA as first published: stem and choices within the question."""
    column = columns.by_name.get("question")
    if column is None or not columns.objects(column):
        return None
    value = _parsed(columns.frame[column].drop_nulls()[0])
    if not isinstance(value, dict) or "choices" not in value:
        return None
    answer = columns.answered([column])

    def read(row: dict[str, Any]) -> Raw:
        found = _parsed(row[column])
        if not isinstance(found, dict):
            return Raw((), (), None)
        given = found.get("choices")
        texts, names = _parts(given)
        named = None if answer is None else row[answer]
        return Raw(texts, names, named, str(found.get("stem") or ""), flaw=_flaw(given))

    return columns.shape(read, [column], answer)


def _listed(columns: _Columns) -> Shape | None:
    """A column of lists of texts or of objects with one, or of objects of texts and labels, or of a text a letter."""
    known = [columns.by_name[name] for name in _LISTS if name in columns.by_name]
    names = known if not columns.choices else columns.choices if len(columns.choices) == 1 else []
    column = next((name for name in names if name in columns.frame.columns and columns.objects(name)), None)
    if column is None:
        return None
    answer = columns.answered([column])

    def read(row: dict[str, Any]) -> Raw:
        given = _parsed(row[column])
        texts, labels = _parts(given)
        return Raw(texts, labels, None if answer is None else row[answer], flaw=_flaw(given))

    return columns.shape(read, [column], answer)


def _columned(columns: _Columns) -> Shape | None:
    """A column a choice, numbered or lettered alike, and a column that names the right one."""
    for pattern, numbered in _COLUMNED:
        own = _numbered(columns, pattern)
        answer = columns.answered(own)
        # Letters alone, or two texts without an answer, may be anything.
        if len(own) < 2 or not _is_asked(columns, own) or (answer is None and not numbered):
            continue
        first = int(re.findall(r"\d+", own[0])[-1]) if numbered else None

        def read(row: dict[str, Any], own: list[str] = own, answer: str | None = answer) -> Raw:
            return Raw(_texts([row[each] for each in own]), (), answer and row[answer])

        return columns.shape(read, own, answer, numbers_from=first)
    return None


def _is_asked(columns: _Columns, own: Sequence[str]) -> bool:
    """Whether there is what these columns answer: hypotheses need more, for pairs of sentences have these, too."""
    if "question" in columns.roles:
        return True
    wanted = columns.first(_ASPECTS, besides=own) is not None and columns.first(_PASSAGES, besides=own) is not None
    if normalized(own[0]).startswith("hyp"):
        return wanted or columns.holds(("obs1", "obs2")) or columns.holds(("observation_1", "observation_2"))
    is_pair = columns.holds(("premise", "hypothesis"))
    return (
        wanted
        or columns.first(_QUESTIONS, besides=own) is not None
        or (columns.holds(("premise",)) and not is_pair)
        or any(map(columns.holds, _JOINED))
    )


def _named(columns: _Columns) -> Shape | None:
    """Columns that were named: each has a choice or a list of choices, and one may have the right choice itself."""
    own = columns.choices
    if len(own) < 2:
        return None
    gold = columns.answer if columns.answer in own else None
    answer = None if gold is not None else columns.answered(own)

    def read(row: dict[str, Any]) -> Raw:
        texts: list[str] = []
        right: Any = None if answer is None else row[answer]
        for column in own:
            given = _parsed(row[column])
            is_list = isinstance(given, list | dict) and (given is row[column] or _are_texts(given))
            if is_list and (flaw := _flaw(given)):
                return Raw((), (), right, flaw=flaw)
            parts = _parts(given)[0] if is_list else _texts([row[column]])
            if column == gold:
                right = [at for at, text in enumerate(parts, len(texts)) if text.strip()] or None
            texts += parts
        return Raw(tuple(texts), (), right)

    # Positions of choices that were put together by a column each are of the command and not of the file.
    return columns.shape(read, own, answer, right_first=gold is not None)


SHAPES: tuple[Callable[[_Columns], Shape | None], ...] = (
    _targets,
    _joined_lists,
    _right_and_wrong,
    _nested_question,
    _listed,
    _columned,
)


def _are_kinds(values: pl.Series) -> bool:
    """Whether a column holds but a few different values of a word or two, such as "cause" and "effect"."""
    if values.dtype != pl.String:
        return False
    kinds = values.drop_nulls().str.strip_chars().str.to_lowercase().unique()
    return 0 < len(kinds) <= _MOST_KINDS and all(len(re.findall(r"\S+", each)) <= _MOST_WORDS for each in kinds)


def _n_filled(values: pl.Series) -> int:
    """Cells with a value; of texts those that are not blank, as which CSV writes what is missing."""
    filled = values.is_not_null()
    if values.dtype == pl.String:
        filled &= (values.str.strip_chars() != "").fill_null(value=False)
    return int(filled.sum())


def _numbered(columns: _Columns, pattern: re.Pattern[str]) -> list[str]:
    """Columns of texts of which the names match, by number or letter."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, column in columns.by_name.items():
        if (match := pattern.match(name)) and columns.frame.schema[column] == pl.String:
            number = next(each for each in match.groups() if each is not None)
            found.setdefault(name.removesuffix(number), []).append((number.rjust(3, "0"), column))
    best = max(found.values(), key=len, default=[])
    return [column for _, column in sorted(best)]


def _parsed(value: Any) -> Any:
    """Lists and objects as they are, from JSON, or as pandas writes lists into CSV; anything else as it stands."""
    if isinstance(value, pl.Series):
        return value.to_list()
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except RecursionError:
        return value
    except ValueError:
        pass
    if len(value) > _LONGEST_LITERAL:
        return value
    if _ARRAY.fullmatch(value):
        value = f"[{', '.join(_QUOTED.findall(value))}]"
    try:
        # Names, calls and operators are refused: only constants and containers of them are read.
        found = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    return found if isinstance(found, list | dict) else value


def _parts(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Texts and labels of the choices."""
    if _flaw(value):
        return (), ()
    if isinstance(value, dict):
        if texts := value.get("text") or value.get("choices"):
            return _texts(texts), tuple(str(each) for each in value.get("label") or ())
        keyed = sorted((name.upper().rjust(2), key) for key, name in _names(value).items())
        return _texts([value[key] for _, key in keyed]), tuple(name.strip() for name, _ in keyed)
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        labels = tuple(str(label) for each in value if (label := each.get("label", each.get("key"))) is not None)
        texts = [each.get("text", each.get("value")) for each in value]
        return _texts(texts), labels if len(labels) == len(value) else ()
    return (_texts(value), ()) if isinstance(value, list) else ((), ())


def _names(value: dict[str, Any]) -> dict[str, str]:
    """The letters or numbers of an object's keys; empty where these are anything else."""
    found = {key: match[1] for key in value if (match := _KEY.fullmatch(key.strip()))}
    is_one_form = len({name.isdecimal() for name in found.values()}) == 1
    return found if len(found) == len(value) and is_one_form else {}


def _flaw(value: Any) -> str:
    """Why no choices are read from a list or an object; "" where they are."""
    if isinstance(value, dict):
        is_known = value.get("text") or value.get("choices") or _names(value)
        value = value.get("text") or value.get("choices") or list(value.values())
        return (NESTED if _holds_lists(value) else "") if is_known else UNKEYED if any(value) else ""
    if not _holds_lists(value):
        return ""
    if all(isinstance(each, dict) for each in value):
        value = [each.get("text", each.get("value", each)) for each in value]
    return NESTED if _holds_lists(value) else ""


def _holds_lists(value: Any) -> bool:
    return isinstance(value, list) and not {list, dict}.isdisjoint(map(type, value))


def _are_texts(value: list[Any] | dict[str, Any]) -> bool:
    """Whether a text was written as a list of texts; a choice may be "[0, 1]", an interval."""
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)


def _trimmed(raw: Raw) -> Raw:
    """Without the empty choices at the end, by which files fill up items of fewer choices."""
    n = len(raw.choices)
    while n and not raw.choices[n - 1].strip():
        n -= 1
    if n == len(raw.choices) and len(raw.names) <= n:
        return raw
    return replace(raw, choices=raw.choices[:n], names=raw.names[:n], n_blank=len(raw.choices) - n)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple("" if each is None else str(each) for each in values)
