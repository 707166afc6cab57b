"""Scores by a judge of which people gave some, too: yes or no, shares, or grades, one row per judged output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import count
from goldassay.data.column_names import names_of, normalized
from goldassay.data.fields import cell_texts
from goldassay.data.kinds.kind import aside
from goldassay.data.unread import find_unread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.data.table import InputFile, Table

_KNOWN = frozenset(names_of("score", "judged scores"))
# Names that only a judge's scores have.
_JUDGES = frozenset(name for name in _KNOWN if re.search(r"judge|llm|autorater", name))
SCORE_ROLES = ("item", "judge", "system", "score", "people", "probability")
NO_SCORE = "the judge's score cannot be read"
NO_LABEL = "what people say cannot be read"
# Scores by their own words, in lower case.
_WORDS = {
    **dict.fromkeys(("yes", "y", "true", "pass", "passed", "correct", "right", "accept", "accepted", "good"), 1.0),
    **dict.fromkeys(("no", "n", "false", "fail", "failed", "incorrect", "wrong", "reject", "rejected", "bad"), 0.0),
}
_BLANK = ("", "nan", "na", "n/a", "null", "none")
# The system of a row that names none, beside rows that do.
_NO_SYSTEM = "rows without a system"
# What is larger is no score, nor is the infinite.
_MOST = 1e9
# So much of what is filled in a column must be a score.
_MOSTLY, _HALF = 0.8, 0.5
_ANNOTATORS = re.compile(r"^(?:annotator|rater|human)_?\d+$")


@dataclass(frozen=True)
class ScoreShape:
    """Which columns hold what.

    Attributes:
        scores: Of the judge; of several each is a judge.
        people: Of people; of several each is an annotator.
        others: Columns of scores that are called people's, too, and are not read.
        item: What the rows of one item share, if any.
        judge: Names of judges, if any.
        system: Whose outputs are scored, if any.
        probability: With which a row was drawn for people, if any.
    """

    scores: tuple[str, ...]
    people: tuple[str, ...]
    item: str | None
    judge: str | None
    system: str | None
    probability: str | None
    others: tuple[str, ...] = ()
    other_judges: tuple[str, ...] = ()

    @property
    def covered(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.scores, *self.people, *filter(None, (self.item, self.judge, self.system, self.probability)))


@dataclass(frozen=True)
class JudgedScores:
    """N scores by judges, on some of which people say what is right.

    Attributes:
        name: Of the set.
        rows: Columns row (of the file, from 1), item, judge, system ("" where there is one), score, people (null where
            none is known: the mean of grades, or what most say of yes and no) and probability.
        annotators: What each said, (J, N), NaN where nothing.
        problems: As of `Judgments`.
        n_read: Scores in the file.
        graded: Whether some score or label is neither 0 nor 1.
        has_items: Whether rows of one item are known.
        decisions: What was decided without being asked, in sentences.
        unread: Columns without a role that hold lists, objects or free text.
        source: The file.
        files: As they were read.
        frame: All columns, row by row of `rows`.
        covered: Columns with a role, but for that of items, and those put aside.
        people: The columns of people, of each annotator one.
        others: Columns of scores that are called people's, too, and are not read.
    """

    name: str
    rows: pl.DataFrame
    annotators: NDArray[np.float64]
    problems: pl.DataFrame
    n_read: int
    graded: bool
    has_items: bool
    decisions: tuple[str, ...]
    unread: tuple[str, ...]
    source: str
    files: tuple[InputFile, ...]
    frame: pl.DataFrame
    covered: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.rows.height

    @property
    def n_unused(self) -> int:
        """Scores that cannot be used, and labels that cannot be read."""
        return self.problems.height


def find_judged_scores(frame: pl.DataFrame, roles: Mapping[str, str]) -> ScoreShape | None:
    """The shape of a table with scores by a judge and by people; None where it has not both.

    Args:
        frame: All columns as they were read.
        roles: The column of each of `SCORE_ROLES`, where names do not tell.
    """
    if roles.keys() - {*SCORE_ROLES, "ignore"}:
        return None
    ignored = aside(roles)
    by_name: dict[str, str] = {}
    for column in frame.columns:
        if column not in ignored and column not in roles.values():
            by_name.setdefault(normalized(column), column)

    def known(role: str, kind: str = "judged scores") -> list[str]:
        return roles[role].split("+") if role in roles else [by_name[n] for n in names_of(role, kind) if n in by_name]

    several = [column for name, column in sorted(by_name.items()) if _ANNOTATORS.match(name)]
    people = known("people") if "people" in roles else several or known("people")[:1]
    scored = [
        each for each in known("score") if each not in people and ("score" in roles or _holds_scores(frame[each]))
    ]
    scores = tuple(scored if "score" in roles else scored[:1])
    if not people and scores and normalized(scores[0]) in _JUDGES:
        # Beside a column that is called a judge's, what is right is what people say.
        people = [by_name[name] for name in names_of("people", "judgments") if name in by_name][:1]
    if not scores and people:
        scores = _only_other(frame, [*people, *ignored, *known("item", "judgments"), *known("system", "board")])
    # Where a column names a judge, people may have scored only a few rows.
    least = _HALF if scores and normalized(scores[0]) in _JUDGES else _MOSTLY
    if not scores or not people or ("people" not in roles and not all(_holds_scores(frame[e], least) for e in people)):
        return None
    used = {*scores, *people}
    single = {
        role: next((each for each in known(role, kind) if each not in used), None)
        for role, kind in (("item", "judgments"), ("judge", "judgments"), ("system", "board"),
                           ("probability", "judged scores"))
    }  # fmt: skip
    others = () if "people" in roles else tuple(
        each for each in known("people")
        if each not in used and each not in single.values() and _holds_scores(frame[each])
    )  # fmt: skip
    judges = tuple(each for each in scored[1:] if "score" not in roles and normalized(each) in _JUDGES)
    return ScoreShape(
        scores, tuple(people), single["item"], single["judge"], single["system"], single["probability"], others,
        tuple(each for each in judges if each not in single.values()),
    )  # fmt: skip


def _only_other(frame: pl.DataFrame, used: list[str]) -> tuple[str, ...]:
    """The one full column of scores from 0 to 1 beside people's, which are not full: no system has such gaps."""
    found = [
        name for name in frame.columns
        if name not in used and _holds_scores(frame[name]) and ((own := _numbers(frame[name])[0]) >= 0).all()
        and (own <= 1).all()
    ]  # fmt: skip
    has_gaps = not _numbers(frame[used[0]])[1].all()
    return tuple(found) if len(found) == 1 and has_gaps else ()


def _numbers(values: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores, NaN where there is none, and where a cell is filled."""
    texts = cell_texts(values).str.strip_chars().str.to_lowercase().fill_null("")
    filled = ~texts.is_in(_BLANK).to_numpy()
    words = texts.replace_strict(_WORDS, default=None, return_dtype=pl.Float64)
    found = words.fill_null(texts.cast(pl.Float64, strict=False)).fill_null(float("nan")).to_numpy()
    return np.where(filled & (np.abs(found) <= _MOST), found, np.nan), filled


def _holds_scores(values: pl.Series, least: float = _MOSTLY) -> bool:
    if values.dtype.is_nested():
        return False
    found, filled = _numbers(values)
    return bool(filled.any()) and bool((~np.isnan(found)).sum() >= least * filled.sum())


def read_judged_scores(
    table: Table, name: str, shape: ScoreShape, roles: Mapping[str, str], source: str
) -> JudgedScores:
    """The scores of a table of this shape.

    Args:
        table: As it was read.
        name: What to call them.
        shape: Where they are.
        roles: As a user named them.
        source: The file, for messages.

    Raises:
        InputError: No score can be used, nobody labelled a row, or a probability is none.
    """
    frame = table.frame
    lines = np.array([table.line_of(at) for at in range(frame.height)], dtype=np.int64)
    given = [_numbers(frame[each]) for each in shape.people]
    people, said = (np.stack([each[at] for each in given]) for at in (0, 1))
    items = [str(at) for at in range(frame.height)]
    if shape.item is not None:
        items = [
            item if each is None else each for item, each in zip(items, cell_texts(frame[shape.item]), strict=True)
        ]
    probability = None if shape.probability is None else read_probabilities(frame, shape.probability, lines, source)
    parts, labels, problems = [], [], []
    for column in shape.scores:
        scores, _ = _numbers(frame[column])
        usable = ~np.isnan(scores)
        judges = cell_texts(frame[shape.judge]).fill_null("judge") if shape.judge else None
        named = (
            pl.Series(["judge" if normalized(column) in _KNOWN and len(shape.scores) == 1 else column] * frame.height)
            if judges is None
            else judges
        )
        if judges is not None and len(shape.scores) > 1:
            named = judges + f" / {column}"
        systems = cell_texts(frame[shape.system]).fill_null(_NO_SYSTEM) if shape.system else [""] * frame.height
        parts.append(
            pl.DataFrame(
                {
                    "row": lines, "item": items, "judge": named, "score": scores,
                    "system": systems,
                    "probability": probability, "at": np.arange(frame.height),
                }
            ).filter(pl.Series(usable))
        )  # fmt: skip
        labels.append(people[:, usable])
        problems += [(int(lines[at]), items[at], NO_SCORE, False) for at in np.flatnonzero(~usable).tolist()]
    unread_labels = np.flatnonzero((said & np.isnan(people)).any(axis=0)).tolist()
    problems += [(int(lines[at]), items[at], NO_LABEL, False) for at in unread_labels]
    rows = pl.concat(parts)
    annotators: NDArray[np.float64] = np.concatenate(labels, axis=1)
    if not rows.height or np.isnan(annotators).all():
        what, column = ("no row has a score by the judge", shape.scores[0]) if not rows.height else (
            "people scored no row that the judge scored", shape.people[0])  # fmt: skip
        raise InputError(
            what, file=source, column=column,
            mend=f"write yes and no, or numbers, or name another column with {option('columns', 'score=A,people=B')}",
        )  # fmt: skip
    values = np.unique(np.concatenate([rows["score"].to_numpy(), annotators[~np.isnan(annotators)]]))
    graded = not np.isin(values, (0, 1)).all()
    n_said = (~np.isnan(annotators)).sum(axis=0)
    mean = np.nansum(annotators, axis=0) / np.maximum(n_said, 1)
    label = np.where(n_said > 0, mean if graded else np.where(mean == 0.5, 0.5, np.round(mean)), np.nan)
    n_systems = rows["system"].n_unique()
    covered = {*shape.covered, *aside(roles)}
    decisions = [f"The judge's scores are in {_listed(shape.scores)}, people's in {_listed(shape.people)}."]
    if shape.other_judges:
        all_of = f"score={'+'.join((*shape.scores, *shape.other_judges))},people={'+'.join(shape.people)}"
        also = _listed(shape.other_judges)
        decisions.append(f"{also} may hold a judge's scores, too: {option('columns', all_of)} reads all.")
    if len(shape.people) > 1:
        how = "the mean of its annotators' scores" if graded else "the score that most annotators give it"
        decisions.append(f"People's score of a row is {how}.")
    return JudgedScores(
        name=name,
        rows=rows.with_columns(
            people=pl.Series(label).fill_nan(None),
            system=pl.col("system") if n_systems > 1 else pl.lit(""),
        ),
        annotators=annotators,
        problems=pl.DataFrame(
            problems, schema={"row": pl.Int64, "id": pl.String, "reason": pl.String, "used": pl.Boolean}, orient="row"
        ),
        n_read=frame.height * len(shape.scores),
        graded=bool(graded),
        has_items=shape.item is not None,
        decisions=tuple(decisions),
        unread=find_unread(frame, covered).columns,
        source=source,
        files=table.files,
        frame=frame[rows["at"].to_list()],
        covered=tuple(sorted(covered - {shape.item})),
        people=shape.people,
        others=shape.others,
    )


def read_probabilities(frame: pl.DataFrame, column: str, lines: NDArray[np.int64], source: str) -> NDArray[np.float64]:
    """With which probability each row was drawn for people, (N,).

    Args:
        frame: All columns.
        column: That of the probabilities.
        lines: Of the file, (N,).
        source: The file, for messages.

    Raises:
        InputError: One is not above 0 and at most 1.
    """
    found, _ = _numbers(frame[column])
    wrong = np.flatnonzero(~((found > 0) & (found <= 1)))
    if wrong.size:
        raise InputError(
            f"{count(wrong.size)} of {count(found.size)} probabilities are not above 0 and at most 1", file=source,
            row=int(lines[wrong[0]]), column=column,
            mend="give each row, labelled or not, the probability with which it was drawn",
        )  # fmt: skip
    return found


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(map(repr, columns))
