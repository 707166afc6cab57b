"""Which column plays which part: found by name, in a documented order of precedence, or set by the user.

Names are compared without regard to case, spaces and hyphens. In each list below an earlier line wins over a later
one; only two columns on the same line are too close to call, and are refused. The lists are those of `column_names`.

Texts
    The first pair of `PAIRS` of which both columns exist gives premise and hypothesis; else the first of `QUESTIONS`
    gives question and context; else the first of `TEXTS` gives text.
Label
    `LABELS`: gold before plain names, plain names before any other column whose name ends in "label", and the label
    of one annotator last. Columns of predictions never count.
Score
    `SCORES`, only where no label is found: the dataset then is a regression.
Id, split, annotators' labels
    `IDS`, `SPLITS`, `ANNOTATORS`. A column called "set" is a split only if all its values name parts.
Ignored
    What the user gives as `ignore` is left out of the dataset.
Group
    Every column of `GROUPS` in which some value repeats; there may be several.
"""

from __future__ import annotations

import json
import re
import shlex
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.data.column_names import (
    ANNOTATORS,
    ASKED,
    DEPENDENT,
    FREE_ANSWERS,
    GROUPS,
    IDS,
    LABELS,
    LATE_PAIRS,
    PAIRS,
    PARTS,
    QUESTIONS,
    SCORES,
    SPLITS,
    TEXTS,
    names_of,
    normalized,
)
from goldassay.data.fields import OWN, RIGHT_WORDS, VALUES, WRONG_WORDS, fields_of, name_fields
from goldassay.data.labels import several_in_one
from goldassay.data.unread import is_auxiliary, is_called_choices

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

# Of a column of classes.
_MOST_CLASSES = 20
ROLES = (
    "premise",
    "hypothesis",
    "text",
    "question",
    "context",
    "label",
    "score",
    "id",
    "group",
    "split",
    "annotator_labels",
    "ignore",
    "weight",
    "date",
)
TEXT_ROLES = ROLES[:5]
# How the sentence on roles that were guessed begins.
GUESSED = "Texts and label are guessed"
_ASIDE = ("ignore", "weight", "date")
# So many cells tell that a column holds objects.
_LOOKED_AT = 20
_MOST_FIELDS = 6
# Words of a text that is more than a name.
_SENTENCE = 3


@dataclass(frozen=True)
class Roles:
    """The column of each role, and how it was found.

    Attributes:
        texts: Role to column, in order.
        label: Column of labels, if any.
        score: Column of scores; only where there is no label.
        id: Column of example ids, if any.
        split: Column that names the part, if any.
        annotators: One column of lists, or several of one annotator each.
        groups: Columns of groups.
        dependent: Those of them that the user gave as `group`, or that are called so: rows of one depend on each other.
        ignored: Columns that the user gave as `ignore`.
        decisions: What was decided without being asked, in plain sentences.
        guessed: That texts and label were found by what they hold, and not by name; "" where they were not.
    """

    texts: Mapping[str, str]
    label: str | None
    score: str | None
    id: str | None
    split: str | None
    annotators: tuple[str, ...]
    groups: tuple[str, ...]
    dependent: tuple[str, ...]
    ignored: tuple[str, ...]
    decisions: tuple[str, ...]
    guessed: str = ""

    def covered(self) -> set[str]:
        """All columns that have a role."""
        found = {
            *self.texts.values(),
            self.label,
            self.score,
            self.split,
            *self.annotators,
            *self.groups,
            *self.ignored,
        }
        found |= set(several(self.id, (), "id")) if self.id is not None else set()
        return {column for column in (*found, self.id) if column is not None}

    def as_dict(self) -> dict[str, str]:
        """Role to column, as provenance keeps it; several groups are joined by a plus sign."""
        single = {"label": self.label, "score": self.score, "id": self.id, "split": self.split}
        roles = dict(self.texts) | {role: column for role, column in single.items() if column is not None}
        if self.groups:
            roles["group"] = "+".join(self.groups)
        if self.annotators:
            roles["annotator_labels"] = "+".join(self.annotators)
        if self.ignored:
            roles["ignore"] = "+".join(self.ignored)
        return roles


def parse_columns(text: str) -> dict[str, str]:
    """Parse what `--columns` takes: `premise=sentence1,hypothesis=sentence2,group=heuristic+subcase`.

    Raises:
        InputError: Some part is not ROLE=COLUMN, or a role stands twice.
    """
    columns: dict[str, str] = {}
    for part in text.split(","):
        role, equals, column = (piece.strip() for piece in part.partition("="))
        if not (role and equals and column):
            raise InputError(
                f"{part.strip()!r} in the columns is not ROLE=NAME",
                mend=f"write {option('columns', 'premise=NAME,label=NAME')}",
            )
        if role in columns:
            raise InputError(
                f"the columns name the role {role!r} twice", mend="give each role once (several groups as group=A+B)"
            )
        columns[role] = column
    return columns


def parsed(columns: str | Mapping[str, str] | None) -> dict[str, str]:
    """The column of each role, as a mapping or as `parse_columns` takes it."""
    return parse_columns(columns) if isinstance(columns, str) else dict(columns or {})


def with_own(
    columns: str | Mapping[str, str] | None, own: Mapping[str, str | Mapping[str, str]] | None, names: Sequence[str]
) -> str | Mapping[str, str] | None:
    """The roles with those of single inputs beside them, which `own_roles` puts in their place.

    Args:
        columns: Of all inputs, as `parse_columns` takes them, or role to column.
        own: Those of single inputs, likewise, by their names.
        names: Of the inputs that there are.

    Raises:
        InputError: There is no such input.
    """
    if not own:
        return columns
    if foreign := [name for name in own if name not in names]:
        problem = f"{option('columns-of')} names {foreign[0]!r}, which is no input"
        raise InputError(problem, mend=f"name one of {', '.join(dict.fromkeys(names))}")
    return {**parsed(columns), OWN: json.dumps({name: parsed(each) for name, each in own.items()})}


def own_roles(columns: str | Mapping[str, str] | None, *names: str) -> dict[str, str]:
    """The column of each role in one input: those of all inputs, with its own in their place.

    Args:
        columns: As `with_own` gives them.
        names: What the input is called; the first of which there are roles counts.
    """
    given = parsed(columns)
    of = json.loads(given.pop(OWN, "{}"))
    return given | next((of[name] for name in names if name in of), {})


@contextmanager
def columns_named(name: str) -> Iterator[None]:
    """Let an error in an input beside the training part say how its columns alone are named."""
    try:
        yield
    except InputError as error:
        said = error.mend or ""
        if name == "train" or not said:
            raise
        # A whole command is one of that input alone.
        before, command, rest = said.partition("goldassay ")
        if entry_point() == SHELL:
            error.rename(said, f"{before.replace('--columns ', f'--columns-of {name} ')}{command}{rest}")
        else:
            error.rename(said, re.sub(r"\bcolumns=(\{.*?\})", rf"columns_of={{{name!r}: \1}}", said))
        raise


def with_values(
    columns: str | Mapping[str, str] | None,
    map: str | Mapping[str, Mapping[str, str]] | None,  # noqa: A002
) -> str | Mapping[str, str] | None:
    """The roles with what the values of columns mean, which `name_fields` puts in their place.

    Args:
        columns: As `parse_columns` takes them, or role to column.
        map: `label=0:first,1:second`, a line for each column; or column to the name of each value.

    Raises:
        InputError: Some part is not COLUMN=VALUE:NAME.
    """
    if not map:
        return columns
    if isinstance(map, str):
        found: dict[str, dict[str, str]] = {}
        for line in map.split("\n"):
            column, _, pairs = line.partition("=")
            # A value that gets a number may have a colon: "True: fact:1".
            ends = [re.search(r":\s*[\d.]+$", pair) for pair in pairs.split(",")]
            named = dict(
                (pair[: end.start()], pair[end.start() + 1 :]) if end else pair.partition(":")[::2]
                for pair, end in zip(pairs.split(","), ends, strict=True)
            )
            # An empty name leaves a value out.
            if not (column.strip() and ":" in pairs and all(key.strip() for key in named)):
                raise InputError(
                    f"{line!r} is not COLUMN=VALUE:NAME", mend=f"write {option('map', 'label=0:first,1:second,2:tie')}"
                )
            found.setdefault(column.strip(), {}).update({key.strip(): name.strip() for key, name in named.items()})
    else:
        found = {column: {str(key): name for key, name in names.items()} for column, names in map.items()}
    return {**parsed(columns), VALUES: json.dumps(found)}


_MOST_NAMED = 12
# What a column is called that names the worse of two, which turns a preference round.
_RIGHT = ("gold", "gold_label", "target", "y_true", "ground_truth", "reference", "correct_answer", "gold_answer")
_OF_RUNS = ("epoch", "trial", "seed", "step", "attempt", "turn")
_LOSER = re.compile(r"(?<![a-z])(?:los(?:er|ing|es)|worse|worst)(?![a-z])", re.IGNORECASE)
_REJECTED = re.compile(
    r"(?<![a-z])(?:rejected|dispreferred)[-_ ](?:index|idx|id|side|response|answer|output|option|number|model)$",
    re.IGNORECASE,
)
# And one of which less is better, which turns ranks round.
_LESS = re.compile(
    r"(?<![a-z])(?:loss(?:es)?|errors?|fail(?:ed|ures?)?|incorrect|wrong|wer|cer|perplexity|ppl|rank|latency|cost)"
    r"(?![a-z])",
    re.IGNORECASE,
)


def _loser(frame: pl.DataFrame) -> str | None:
    """The column that names the worse of two responses; None where there are no two texts."""
    found = [name for name in frame.columns if _LOSER.search(name) or _REJECTED.search(name)]
    found = [name for name in found if not holds_sentences(frame[name])]
    return found[0] if found and sum(map(holds_sentences, frame)) > 1 else None


def likely_label(frame: pl.DataFrame, besides: Collection[str]) -> str | None:
    """The column that has the fewest different values, at least two and at most twenty; one called a label first."""
    worse = _loser(frame)
    counts = {
        name: frame[name].drop_nulls().n_unique()
        for name in frame.columns
        if name not in (*besides, worse)
        and not _LOSER.search(name)
        and not (frame.schema[name].is_nested() or holds_lists(frame[name]))
    }
    likely = {
        name: n
        for name, n in counts.items()
        if 2 <= n <= min(_MOST_CLASSES, frame.height // 2)
        and not several_in_one(frame[name].drop_nulls().unique().cast(pl.String).to_list())
    }
    return min(likely, key=lambda name: (not _is_called_label(name), likely[name]), default=None)


def _is_called_label(name: str) -> bool:
    key = normalized(name)
    return any(key in rank for rank in LABELS) or _is_other_label(key)


def guess_roles(frame: pl.DataFrame) -> dict[str, str]:
    """Which columns may be the text, or the two, and the label, by what they hold; nothing where no one reading fits.

    Texts are columns of sentences of which most are distinct, at most two; `likely_label` gives the label.
    """
    for column in [name for name in frame.columns if holds_objects(frame[name])]:
        frame = name_fields(frame, {field: field for field in fields_of(frame[column])})[0].drop(column)
    texts = [name for name in frame.columns if holds_sentences(frame[name]) and not is_auxiliary(name)]
    label = likely_label(frame, texts)
    if len(texts) not in (1, 2) or label is None:
        return {}
    roles = ("text",) if len(texts) == 1 else ("premise", "hypothesis")
    return {role: _named(frame, name) for role, name in zip((*roles, "label"), (*texts, label), strict=True)}


def sure_roles(frame: pl.DataFrame) -> dict[str, str]:
    """The roles that `guess_roles` gives, where no other reading fits; nothing else.

    One column is called a label. Where none is, and there are two texts, one alone holds classes: words, truth values
    or two numbers. More numbers may be grades, letters may be options within the text, and names of groups are known.
    """
    guessed = guess_roles(frame)
    if not guessed.keys() or not set(guessed.values()) <= set(frame.columns) or any(map(is_free_answer, frame)):
        return {}
    texts, label = [column for role, column in guessed.items() if role != "label"], guessed["label"]
    if any(frame.schema[name] == pl.List and is_called_choices(name) for name in texts):
        return {}
    open_ = [name for name in frame.columns if name not in texts]
    labels = [name for name in open_ if _is_called_label(name)]
    if not labels and len(texts) > 1:
        known = {*GROUPS, *SPLITS, *IDS}
        labels = [name for name in open_ if normalized(name) not in known and _holds_classes(frame[name])]
    if labels != [label] or _all_match(frame[label].cast(pl.String).unique(), r"^(\([A-Za-z]\)|[A-H])$"):
        return {}
    return guessed


def _holds_classes(values: pl.Series) -> bool:
    """Whether a column holds few words, truth values or two numbers."""
    most = 2 if values.dtype.is_numeric() else min(_MOST_CLASSES, len(values) // 2)
    return not values.dtype.is_nested() and not values.dtype.is_float() and 2 <= values.drop_nulls().n_unique() <= most


def searching(source: str, given: str = "") -> str:
    """The command that takes texts of every kind, whatever else is beside them."""
    if entry_point() != SHELL:
        return f"goldassay.measure_overlap({source!r}, corpus=DIR) searches training texts for them"
    where = option("corpus", "DIR")
    return f"goldassay overlap {shlex.quote(source)}{given} {where} searches training texts for them"


def without_classes(
    frame: pl.DataFrame, source: str, besides: Collection[str] = (), called: Mapping[str, str] | None = None
) -> InputError:
    """The error for rows without a label that an audit could use: what they are, and what does apply.

    Args:
        frame: The rows; a column "label" holds scores.
        source: The file, for messages.
        besides: Columns that are texts, ids or parts.
        called: The name in the file of each role that is a column here.
    """
    names = {"label": (called or {}).get("score", "label"), **(called or {})}
    listed = _listed([names.get(name, name) for name in frame.columns if name not in ("example_id", "split")])
    if "label" in frame.columns and frame.schema["label"].is_numeric():
        own = Path(source).name.partition(".")[0] or "own"
        sets = [(own, shlex.quote(source)), ("other", "OTHER")]
        words = [
            f"--runs {shlex.quote(name)}={runs}" for (name, _), runs in zip(sets, ("RUNS", "OTHER_RUNS"), strict=True)
        ]
        words += [f"--test {shlex.quote(name)}={place}" for name, place in sets]
        write = f"goldassay shift generalization {' '.join(words)} --in-distribution {shlex.quote(own)}"
        if entry_point() != SHELL:
            runs, tests = f"{{{own!r}: RUNS, 'other': OTHER_RUNS}}", f"{{{own!r}: {source!r}, 'other': OTHER}}"
            write = f"goldassay.measure_shift(runs={runs}, test={tests}, in_distribution={own!r})"
        mend = f"{write} measures runs that predict them, here and on another set"
        return InputError(f"there are scores, not classes (columns: {listed})", file=source, mend=mend)
    open_ = [name for name in frame.columns if name not in besides]
    if free := next((name for name in open_ if is_free_answer(frame[name])), None):
        problem = f"free answers in {free!r} are neither labels nor choices, and an audit does not support them"
        return InputError(problem, file=source, mend=searching(source, _text_of(frame, besides, (*TEXTS, *ASKED))))
    label = likely_label(frame, besides)
    if (worse := _loser(frame)) and not (label and _is_called_label(label)):
        return InputError(
            f"the column {worse!r} names the response that is worse, and none the better one (columns: {listed})",
            file=source, mend="write a column winner that names the better one",
        )  # fmt: skip
    if label:
        return InputError(
            f"there are no labels (columns: {listed})",
            file=source,
            mend=f"perhaps {option('columns', f'label={label}')}",
        )
    return InputError(
        f"there are no labels (columns: {listed})", file=source,
        mend=f"an audit needs labels; {searching(source, _text_of(frame, besides, TEXTS))}",
    )  # fmt: skip


def _text_of(frame: pl.DataFrame, besides: Collection[str], known: Collection[str]) -> str:
    """The option that names the text, where its name is not known."""
    text = unknown_text(frame, known)
    return "" if besides or not text else f" {option('columns', f'text={text}')}"


def unknown_text(frame: pl.DataFrame, known: Collection[str]) -> str:
    """The column that is most likely the text, as `--columns` takes it; "" where one has a known name, or none is."""
    text = _likely(frame, "text")
    is_known = any(normalized(name) in known for name in frame.columns)
    return "" if is_known or text is None else _named(frame, text)


def is_called_answer(name: str) -> bool:
    """Whether a column is called an answer."""
    return normalized(name) in FREE_ANSWERS


def is_free_answer(values: pl.Series) -> bool:
    """Whether a column is called an answer, and holds more different ones than classes would have."""
    distinct = values.drop_nulls().n_unique()
    return is_called_answer(values.name) and distinct > min(_MOST_CLASSES, len(values) // 2)


def naming(frame: pl.DataFrame, *roles: str, besides: Collection[str] = ()) -> str:
    """The option that gives roles columns of a frame, those that most likely play them, and all columns that there are.

    Args:
        frame: As it was read.
        roles: To be given.
        besides: Columns that play other roles.
    """
    open_ = [name for name in frame.columns if name not in besides]
    guessed = guess_roles(frame) | (_guess_board(frame) if {"system", "item"} <= set(roles) else {})
    named: dict[str, str] = {}
    for role in roles:
        # What is right is never what was predicted.
        barred = {*named.values(), *((*_RIGHT, *_OF_RUNS) if role == "prediction" else ())}
        left = frame.select(name for name in open_ if name not in barred)
        if role == "prediction" and (scored := _says_right(left)):
            named["score"] = scored
            continue
        if role not in guessed or guessed[role] not in left.columns:
            found = _likely(left, role)
            if found is None and role == "prediction":
                role, found = "score", next((name for name in left.columns if _is_share(left[name])), None)
            named |= {role: found} if found else {}
        else:
            named[role] = guessed[role]
    if len(named) < len(roles):
        lacking = next(role for role in roles if role not in named)
        others = f"; the columns are {_listed(open_)}" if open_ else ""
        if lacking == "score" and (worse := next(filter(_LESS.search, open_), None)):
            others += f"; of {worse!r} less is better: write a column score in which more is"
        return f"no {'other ' if besides else ''}column looks like the {lacking}{others}"
    given = ",".join(f"{role}={_named(frame, name) if name in frame.columns else name}" for role, name in named.items())
    return f"perhaps {option('columns', given)}; the columns are {_listed(open_)}"


def counts_worse(name: str) -> bool:
    """Whether a column is called after what is better where it is less."""
    return _LESS.search(name) is not None


def _guess_board(frame: pl.DataFrame) -> dict[str, str]:
    """Columns of which the first two, of few and of many values, name each row once, and the third may score it."""
    plain = [name for name in frame.columns if not frame.schema[name].is_nested() and not _LESS.search(name)]
    plain = plain[:_MOST_NAMED]
    sizes = {name: frame[name].drop_nulls().n_unique() for name in plain}
    scores = [name for name in plain if _is_share(frame[name]) or frame.schema[name] == pl.Boolean]
    for system in (name for name in plain if sizes[name] > 1 and not _is_numeric(frame[name])):
        for item in (name for name in plain if name != system and sizes[system] <= sizes[name] < frame.height):
            score = next((name for name in scores if name not in (system, item)), None)
            if score is not None and not frame.select(system, item).is_duplicated().any():
                return {"system": system, "item": item, "score": score}
    return {}


def _likely(frame: pl.DataFrame, role: str) -> str | None:
    """The column that may play a role, by its kind of values; else the first."""
    if role in ("system", "item", "score", "example_id"):
        known = names_of("item" if role == "example_id" else role, "board")
        called = [name for name in frame.columns if normalized(name) in known]
        if called:
            return called[0]
    if role in (*TEXT_ROLES, "prompt"):
        return next((name for name in frame.columns if holds_sentences(frame[name])), None)
    if role in ("id", "item", "example_id"):
        plain = [name for name in frame.columns if not frame.schema[name].is_nested()]
        distinct = [name for name in plain if not frame[name].is_duplicated().any()]
        called = [name for name in plain if normalized(name) in IDS]
        return next((name for name in [*distinct, *called] if not holds_sentences(frame[name])), None)
    if role == "score":
        frame = frame.select(name for name in frame.columns if not _LESS.search(name))
        scored = [name for name in frame.columns if _is_numeric(frame[name]) or frame.schema[name] == pl.Boolean]
        return scored[0] if scored else _says_right(frame)
    if role == "prediction" and (called := [name for name in frame.columns if "pred" in name.lower()]):
        return called[0]
    return likely_label(frame, ())


def _is_share(values: pl.Series) -> bool:
    return _is_numeric(values) and bool(values.cast(pl.Float64, strict=False).drop_nulls().is_between(0, 1).all())


def _says_right(frame: pl.DataFrame) -> str | None:
    """The one column of which half of the cells that are filled say "correct" or "failed", or the like.

    Of several such columns one may hold right answers, and another what was predicted.
    """
    texts = {name: frame[name].drop_nulls().str.strip_chars().str.to_lowercase()
             for name in frame.columns if frame.schema[name] == pl.String}  # fmt: skip
    words = [*RIGHT_WORDS, *WRONG_WORDS]
    found = [name for name, filled in texts.items() if len(filled) and 2 * filled.is_in(words).sum() >= len(filled)]
    return found[0] if len(found) == 1 else None


def holds_sentences(values: pl.Series) -> bool:
    """Whether a column holds texts of three words and more, most of them distinct, or lists of such texts."""
    if values.dtype == pl.List(pl.String):
        values = values.list.join(" ")
    filled = values.drop_nulls()
    if values.dtype != pl.String or not len(filled) or holds_objects(values) or holds_lists(values):
        return False
    words = filled.str.count_matches(r"\S+").median()
    return isinstance(words, (int, float)) and words >= _SENTENCE and 2 * filled.n_unique() > len(filled)


def _named(frame: pl.DataFrame, column: str) -> str:
    """The column as `--columns` takes it: by its place where the name holds a sign of the grammar."""
    unclear = set(column) & set(",=+") or column.startswith("column_")
    return f"#{frame.columns.index(column) + 1}" if unclear else column


def is_known_column(name: str) -> bool:
    """Whether a column of this name would be given a role."""
    key = normalized(name)
    pairs = {column for pair in (*PAIRS, *QUESTIONS, *LATE_PAIRS) for column in pair}
    ranked = {column for rank in (*LABELS, *SCORES) for column in rank}
    return (
        key in pairs
        or key in ranked
        or key in {*TEXTS, *IDS, *SPLITS, *ANNOTATORS, *GROUPS}
        or _is_other_label(key)
        or key.startswith("subcase_")
    )


def assign_roles(
    frame: pl.DataFrame, columns: Mapping[str, str] | None = None, fixed: Mapping[str, str] | None = None
) -> Roles:
    """Decide which column plays which role.

    Args:
        frame: The columns under their own names.
        columns: What the user has set, role to column; `group` may name several, joined by a plus sign.
        fixed: What the format itself fixes; the user's word goes before it.

    Raises:
        InputError: As for `find_roles`, or two columns fit a role equally well, or nothing can be the text.
    """
    roles, problems = find_roles(frame, columns, fixed)
    if problems:
        raise problems[0]
    return roles


def find_roles(
    frame: pl.DataFrame, columns: Mapping[str, str] | None = None, fixed: Mapping[str, str] | None = None
) -> tuple[Roles, list[InputError]]:
    """The column of each role as far as one is found, and why the rows cannot be read by these roles.

    Args:
        frame: As for `assign_roles`.
        columns: Likewise.
        fixed: Likewise.

    Raises:
        InputError: A set column or role does not exist, or a column is set twice.
    """
    asked = dict(columns or {})
    _check_asked(frame, asked)
    set_ = dict(fixed or {}) | asked
    finder = _Finder(frame, set_)
    texts = finder.texts()
    label, score = finder.label_and_score()
    identity = finder.first("id", IDS)
    split = finder.split()
    annotators = finder.annotators(label)
    groups = finder.groups({*texts.values(), label, score, identity, split})
    # What a row weighs, and when it was made, is no text of the task.
    ignored = tuple(each for role in _ASIDE if role in set_ for each in several(set_[role], frame.columns, role))
    dependent = tuple(name for name in groups if "group" in asked or normalized(name) in DEPENDENT)
    for role, column in texts.items():
        finder.note(role, column)
    for role, found in (("label", label), ("score", score), ("id", identity), ("split", split)):
        if found is not None:
            finder.note(role, found)
    decisions = tuple(finder.decisions)
    found_roles = Roles(
        texts, label, score, identity, split, annotators, groups, dependent, ignored, decisions, finder.guessed
    )
    return found_roles, finder.problems


def _check_asked(frame: pl.DataFrame, asked: Mapping[str, str]) -> None:
    seen: dict[str, str] = {}
    for role, wanted in asked.items():
        if role not in ROLES:
            near = get_close_matches(role, ROLES, 1)
            mend = f"did you mean {near[0]!r}?" if near else f"the roles are {', '.join(ROLES)}"
            raise InputError(f"there is no role {role!r}", mend=mend)
        for column in several(wanted, frame.columns, role):
            if column not in frame.columns:
                raise no_such_column(column, frame)
            if column in seen and role != "group" and not (role == "id" and "+" in wanted):
                raise InputError(
                    f"the column {column!r} is given twice, as {seen[column]} and as {role}",
                    mend="give each role a column of its own",
                )
            seen[column] = role


def several(wanted: str, columns: Sequence[str], role: str) -> tuple[str, ...]:
    """The columns that one role names: several, joined by plus signs, where the role allows it."""
    if role not in {"group", "annotator_labels", "id", "ignore"} or wanted in columns:
        return (wanted,)
    return tuple(part.strip() for part in wanted.split("+"))


def fields_within(frame: pl.DataFrame) -> str:
    """How texts inside of objects are named, with those that are there; "" where no column holds objects."""
    fields = [field for name in frame.columns if holds_objects(frame[name]) for field in fields_of(frame[name])]
    return f" (fields of objects are named with dots: {', '.join(fields[:_MOST_FIELDS])})" if fields else ""


def holds_objects(values: pl.Series) -> bool:
    """Whether a column holds objects, as such or as their JSON, as which they are read from JSON Lines."""
    return _all_match(values, r'^\{\s*"[\s\S]*\}$') if values.dtype == pl.String else values.dtype == pl.Struct


def holds_lists(values: pl.Series) -> bool:
    """Whether a column holds lists, as such or as their JSON."""
    return _all_match(values, r"^\[[\s\S]*\]$") if values.dtype == pl.String else values.dtype == pl.List


def _all_match(values: pl.Series, pattern: str) -> bool:
    filled = values.drop_nulls().head(_LOOKED_AT)
    return bool(len(filled)) and bool(filled.str.contains(pattern).all())


def no_such_column(column: str, frame: pl.DataFrame) -> InputError:
    """The error for a column that is not there, with the name that is most like it."""
    columns = frame.columns
    by_key = {normalized(name): name for name in columns}
    near = get_close_matches(normalized(column), by_key, 1, 0.6)
    known = ", ".join(columns[:20])
    mend = f"did you mean {by_key[near[0]]!r}? the columns are {known}" if near else f"the columns are {known}"
    return InputError("there is no such column", column=column, mend=mend)


def _is_other_label(key: str) -> bool:
    return key.endswith("_label") and "pred" not in key and "annotator" not in key


def _is_one_annotator(key: str) -> bool:
    return bool(re.fullmatch(r"(one_)?annotator_?\d*_label|label_?\d+", key))


class _Finder:
    """Looks for the columns of one frame, and keeps what was decided."""

    def __init__(self, frame: pl.DataFrame, set_: Mapping[str, str]) -> None:
        self.frame = frame
        self.set = set_
        self.guessed = ""
        self.decisions: list[str] = []
        self.problems: list[InputError] = []
        # Columns whose values together make the id may play a part of their own besides.
        taken = {
            column
            for role, wanted in set_.items()
            if (columns := several(wanted, frame.columns, role)) and (role != "id" or len(columns) == 1)
            for column in columns
        }
        self.by_key: dict[str, list[str]] = {}
        for column in frame.columns:
            if column not in taken:
                self.by_key.setdefault(normalized(column), []).append(column)

    def one(self, role: str, keys: Sequence[str]) -> str | None:
        """Give the one column that has one of these names of equal rank."""
        found = [column for key in keys for column in self.by_key.get(key, [])]
        if len(found) > 1:
            names = " and ".join(repr(column) for column in found[:2])
            self.problems.append(
                InputError(
                    f"the columns {names} could both be the {role}",
                    mend=f"choose with {option('columns', f'{role}={found[0]}')}",
                )
            )
        return found[0] if found else None

    def first(self, role: str, keys: Sequence[str]) -> str | None:
        """Give the column with the earliest of these names."""
        if role in self.set:
            return self.set[role]
        return next((column for key in keys if (column := self.one(role, [key]))), None)

    def set_aside(self) -> list[str]:
        """The columns that play roles which were set."""
        named = {part for role, wanted in self.set.items() for part in several(wanted, self.frame.columns, role)}
        return [name for name in self.frame.columns if name in named]

    def note(self, role: str, column: str) -> None:
        """Record a column that was found by a name other than the role's own."""
        if role not in self.set and normalized(column) != role:
            self.decisions.append(f"Column {column!r} is the {role}.")

    def texts(self) -> dict[str, str]:
        texts = {role: self.set[role] for role in TEXT_ROLES if role in self.set}
        if texts:
            return self._completed(texts)
        if self.frame.width == 0:
            mend = "give a table with at least one column of text"
            self.problems.append(InputError("there are no columns", mend=mend))
            return {}
        for families, roles in (
            (PAIRS, ("premise", "hypothesis")),
            (QUESTIONS, ("question", "context")),
            (LATE_PAIRS, ("premise", "hypothesis")),
        ):
            for left, right in families:
                if left in self.by_key and right in self.by_key:
                    found = [self.one(role, [key]) for role, key in zip(roles, (left, right), strict=True)]
                    return {role: column for role, column in zip(roles, found, strict=True) if column}
        text = self.first("text", TEXTS)
        if text is not None:
            return {"text": text}
        if "label" not in self.set and (sure := sure_roles(self.frame.drop(self.set_aside()))):
            self.set = {**self.set, **sure}
            given = option("columns", ",".join(f"{role}={column}" for role, column in sure.items()))
            self.guessed = f"{GUESSED} from what columns hold, as {given}."
            self.decisions.append(self.guessed)
            return {role: column for role, column in sure.items() if role != "label"}
        self.problems.append(
            InputError(
                f"no column is known to hold text among {_listed(self.frame.columns)}",
                mend=f"{naming(self.frame, *(guess_roles(self.frame) or ('text',)))}{fields_within(self.frame)}",
            )
        )
        return {}

    def _completed(self, texts: dict[str, str]) -> dict[str, str]:
        partners = {"premise": "hypothesis", "hypothesis": "premise", "context": "question"}
        for role, partner in partners.items():
            if role in texts and partner not in texts:
                index = 0 if partner == "premise" else 1
                keys = [pair[index] for pair in PAIRS] if role != "context" else ["question"]
                found = next((column for key in keys if (column := self.one(partner, [key]))), None)
                if found is None:
                    mend = f"name it with {option('columns', f'{role}={texts[role]},{partner}=NAME')}, or use text="
                    problem = f"a column is given as {role}, and none is known to be the {partner}"
                    self.problems.append(InputError(problem, mend=f"{mend}{texts[role]}"))
                else:
                    texts[partner] = found
        return {role: texts[role] for role in TEXT_ROLES if role in texts}

    def label_and_score(self) -> tuple[str | None, str | None]:
        if "label" in self.set:
            return self.set["label"], None
        if "score" in self.set:
            return None, self.set["score"]
        for rank in LABELS:
            if found := self.one("label", rank):
                return found, None
        for fits in (_is_other_label, _is_one_annotator):
            if found := self.one("label", [key for key in self.by_key if fits(key)]):
                return found, None
        for rank in SCORES:
            if (found := self.one("score", rank)) and _is_numeric(self.frame[found]):
                self.decisions.append(f"There is no label; {found!r} is taken as a score to be predicted.")
                return None, found
        return None, None

    def split(self) -> str | None:
        if "split" in self.set:
            return self.set["split"]
        for key in SPLITS:
            found = self.one("split", [key])
            if found and (key != "set" or _names_parts(self.frame[found])):
                return found
        return None

    def annotators(self, label: str | None) -> tuple[str, ...]:
        if "annotator_labels" in self.set:
            return several(self.set["annotator_labels"], self.frame.columns, "annotator_labels")
        if found := self.first("annotator_labels", ANNOTATORS):
            return (found,)
        singles = [
            column
            for key, columns in self.by_key.items()
            for column in columns
            if re.fullmatch(r"label_?\d+", key) and column != label
        ]
        return tuple(singles) if len(singles) > 1 else ()

    def groups(self, taken: set[str | None]) -> tuple[str, ...]:
        if "group" in self.set:
            return several(self.set["group"], self.frame.columns, "group")
        found = [
            column
            for name in GROUPS
            for key, columns in self.by_key.items()
            if key == name or (name == "subcase" and key.startswith("subcase_"))
            for column in columns
            if column not in taken and self._repeats(column)
        ]
        if found:
            verb = "is a group column" if len(found) == 1 else "are group columns"
            self.decisions.append(f"{_listed(found)} {verb}.")
        return tuple(found)

    def _repeats(self, column: str) -> bool:
        values = self.frame[column]
        return not values.dtype.is_nested() and values.n_unique() < max(len(values), 2)


def _listed(columns: Sequence[str]) -> str:
    shown = [repr(column) for column in columns[:20]]
    return ", ".join(shown) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")


def _is_numeric(values: pl.Series) -> bool:
    if values.dtype.is_numeric():
        return True
    if values.dtype != pl.String:
        return False
    filled = values.str.strip_chars().replace("", None).drop_nulls()
    return len(filled) > 0 and filled.cast(pl.Float64, strict=False).null_count() == 0


def _names_parts(values: pl.Series) -> bool:
    if values.dtype != pl.String:
        return False
    return {str(value).strip().lower() for value in values.drop_nulls().unique()} <= set(PARTS)
