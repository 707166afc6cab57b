"""Boards as tables: a column a system, or a row a system and item."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.core.numbers import count
from goldassay.data.column_names import GROUPS, names_of, normalized
from goldassay.data.fields import cell_texts, fields_of, name_fields, value_codes, with_keys
from goldassay.data.roles import counts_worse, holds_lists, naming
from goldassay.runs.key_columns import column_of_names
from goldassay.runs.kinds.cell_values import (
    as_numbers,
    holds_answers,
    is_score,
    known_texts,
    matches,
    refuse_foreign,
    refuse_slip,
    right_answers,
    scores_as_shares,
    spelled_as,
)
from goldassay.runs.run_parts import ASIDE, Outputs
from goldassay.runs.statuses import with_no_answers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

# Names of columns by role, the surest first.
SYSTEMS = names_of("system", "board")
ITEMS = names_of("item", "board")
SCORES = names_of("score", "board")
ANSWERS = names_of("answer", "board")
# Beside systems such a column may as well hold right answers.
_PERHAPS_RIGHT = frozenset(["key", "ref", "solution", "correct"])
PREDICTIONS = names_of("prediction", "board")
RUNS = names_of("run", "board")
OUTPUTS, PROMPTS = names_of("output", "board"), names_of("prompt", "board")
ROLES = ("system", "item", "score", "answer", "prediction", "run", "output", "ignore", *ASIDE)
ALIASES = {"model": "system", "example_id": "item", "id": "item", "label": "answer", "gold": "answer", "seed": "run"}
# How columns are called that say something of items, and are no systems.
_FLAGS = ("is_", "has_")
_TRAITS = ("difficulty", "weight", "epoch", *names_of("trial", "runs"), *names_of("seed", "runs"))
# Verdicts on pairs, and no scores of systems.
_WINNERS = re.compile(r"winner(_|$)")
# What averages the other columns or rows of a table.
_AVERAGE = re.compile(
    r"(?:(?:(?:macro|micro|weighted|overall|total|grand)[ _-]*)?(?:average|avg|mean)|overall|total)"
    r"(?:[ _-]*(?:score|accuracy|acc|performance))?[\W_]*"
)
# A column without a name.
_NAMELESS = re.compile(r"column_\d+|unnamed\W*\d+")
_MOST_NAMES = 8
_ROUNDING = 0.0051
# Names of measures: several of them in the columns of one table are of one system.
_MEASURES = re.compile(
    r"(?:^|.*[ _.:-])(accuracy|acc|f1|em|exact_match|precision|recall|(?:sacre)?bleu|chrf|comet|bleurt|bertscore|meteor"
    r"|ter|[wc]er|rouge_?[12l]?|mc[123]|truth|info|truthfulness|informativeness)",
    re.IGNORECASE,
)
_GROUPS = (*GROUPS, "subject", "task")


@dataclass(frozen=True)
class Cells:
    """The cells of a board.

    Attributes:
        systems: Names.
        scores: Of each its runs on all items, (R, N), NaN where there is none.
        items: Names of the items, (N,).
        clusters: Codes of the column that was named, (N,), if any.
        notes: What was not read, in sentences.
        labels: The right answers of the items, (N,), None where an item has none; None where the board has none.
        absent: Of each system the cells of its runs that have no row at all, (R, N); () where every cell has one.
        of_answers: Whether scores were made of answers, so that a cell without one holds none that could be read.
        answers: Of each system its answers in its first run, (N,), null where there is none; () where there are none.
        outputs: Of each system what it wrote in its first run; () where the board has no texts.
        traits: Columns of items that were asked for by name, (N,) texts, "" where an item has none.
    """

    systems: list[str]
    scores: list[NDArray[np.float64]]
    items: NDArray[np.str_]
    clusters: NDArray[np.int64] | None
    notes: list[str]
    labels: tuple[str | None, ...] | None = None
    absent: tuple[NDArray[np.bool_], ...] = ()
    of_answers: bool = False
    answers: tuple[pl.Series, ...] = ()
    outputs: tuple[Outputs | None, ...] = ()
    traits: Mapping[str, pl.Series] = field(default_factory=dict)


def with_scores(
    frame: pl.DataFrame, columns: Mapping[str, str], clusters: Sequence[str] = ()
) -> tuple[pl.DataFrame, Mapping[str, str]]:
    """A table whose systems are objects, {"m1": {"is_correct": true, "solution": "..."}}, with a column of scores each.

    At least two objects have a field that is called like a score; `score=m1.is_correct` names another. What else the
    table has is no system: only items, and columns that are named, are kept of it.
    """
    system, _, field = columns.get("score", "").partition(".")
    objects = {name: fields_of(frame[name]) for name in frame.columns if name == system or _holds_objects(frame[name])}
    for each in [field] if field and system in objects else [] if "score" in columns else SCORES:
        systems = [name for name, fields in objects.items() if f"{name}.{each}" in fields]
        if len(systems) > 1:
            others = {role: name for role, name in columns.items() if role != "score"}
            named = {part for name in (*others.values(), *clusters) for part in (name, *name.split("+"))}
            own = [name for name in frame.columns if name in named or normalized(name) in ITEMS]
            scored, _ = name_fields(frame, {name: f"{name}.{each}" for name in systems})
            scores = (pl.col(f"{name}.{each}").alias(name) for name in systems)
            return scored.select(*(name for name in own if name not in systems), *scores), others
    return frame, columns


def _holds_objects(values: pl.Series) -> bool:
    first = next(iter(values.drop_nulls().head(1).to_list()), None)
    return isinstance(first, dict) or (isinstance(first, str) and first.startswith("{"))


def roles_of(columns: Mapping[str, str]) -> dict[str, str]:
    """Roles of a board's table, by their own names."""
    return {ALIASES.get(role, role): column for role, column in columns.items()}


def read_cells(
    frame: pl.DataFrame,
    columns: Mapping[str, str],
    clusters: tuple[str, ...],
    scale: tuple[float, float] | None,
    file: str,
    dataset: str | None = None,
    lines: NDArray[np.int64] | None = None,
    traits: Sequence[str] = (),
) -> Cells | None:
    """The board in a table; None where it is no board.

    A long table has a column of systems, one of items, and one of scores, or of predictions beside answers. In a wide
    table every column of scores from 0 to 1, or beside a column of answers every column of such answers, is a system.
    Blank cells, NA, NaN and null hold none.

    Args:
        frame: As it was read.
        columns: {role: column} as far as the names do not tell; several are joined by "+" for `ignore`.
        clusters: Columns whose equal values join items.
        scale: The least and the highest grade; None for scores from 0 to 1.
        file: For messages.
        dataset: Which dataset's rows to take, where a column names several.
        lines: On which line each row starts, for messages.
        traits: Columns of items to take, as far as they are there; they are no systems.

    Raises:
        InputError: A column that was named is not there, scores are of two scales, or a cell is no score.
    """
    whole = frame
    columns = {role: name for role, name in columns.items() if role not in ASIDE}
    frame, columns = name_fields(*with_scores(frame, columns, (*clusters, *traits)))
    frame = with_keys(with_keys(frame, clusters), traits)
    roles = roles_of(columns)
    asked = [name for name in traits if name in frame.columns]
    ignored = set(roles.pop("ignore", "").split("+")) - {""} | set(asked) - set(clusters)
    for role, parts in [(role, column.split("+")) for role, column in roles.items() if column not in frame.columns]:
        if len(parts) > 1 and set(parts) <= set(frame.columns):
            frame = frame.with_columns(_joined(frame, parts).alias(roles[role]))
            ignored |= set(parts)
    for column in (*roles.values(), *ignored, *clusters):
        if column not in frame.columns:
            raise InputError(
                f"there is no column {column!r}", file=file, mend=f"the columns are {_listed(frame.columns)}"
            )
    if "system" not in roles and any(normalized(name).startswith("config") for name in frame.columns):
        # Runs in several configurations, which tables of runs name.
        return None
    # Texts that are stored once each are texts.
    frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    frame, notes = _of_dataset(frame, dataset, {*roles.values(), *ignored, *clusters}, file)
    frame, averages = _without_averages(frame, roles, ignored)
    notes += averages
    is_long = "system" in roles or (
        find_column(frame, roles, "system", SYSTEMS, ignored) and find_column(frame, roles, "item", ITEMS, ignored)
    )
    if is_long:
        found = _long(frame, roles, ignored, clusters, scale, file)
    else:
        found = _wide(frame, roles, ignored, clusters, scale, file, lines)
    if found is None:
        # No board; or a cell holds the scores of several samples, which tables of runs have.
        return None
    outputs = found.outputs or _texts_beside(whole, found)
    return replace(
        found,
        scores=_without_scores(found, outputs) if outputs else found.scores,
        notes=[*notes, *found.notes],
        outputs=outputs,
        traits={name: _of_items(frame, roles, ignored, found.items, name) for name in asked},
    )


def _without_scores(cells: Cells, outputs: Sequence[Outputs | None]) -> list[NDArray[np.float64]]:
    """Scores (R, N) of each system, NaN where the text of its one run is no answer by its form."""
    right = {each for each in cells.labels or () if each}
    scores = []
    for own, written in zip(cells.scores, outputs, strict=True):
        told = None
        if written is not None and len(own) == 1:
            told = with_no_answers(None, written.texts, pl.Series(own[0]).fill_nan(None), right)
        scores.append(own if told is None else np.where(told.is_not_null().to_numpy(), np.nan, own))
    return scores


def _of_items(
    frame: pl.DataFrame, roles: Mapping[str, str], ignored: Collection[str], items: NDArray[np.str_], name: str
) -> pl.Series:
    """The value of a column for each item, of a long table that of its first row; "" where there is none."""
    item = find_column(frame, roles, "item", ITEMS, ignored)
    if item is None:
        return cell_texts(frame[name]).fill_null("")
    known = pl.DataFrame({"item": cell_texts(frame[item]).str.strip_chars(), "value": cell_texts(frame[name])})
    first = known.drop_nulls().unique("item", keep="first", maintain_order=True)
    ordered = pl.DataFrame({"item": pl.Series(items.tolist(), dtype=pl.String)})
    return ordered.join(first, on="item", how="left", maintain_order="left")["value"].fill_null("")


def _texts_beside(frame: pl.DataFrame, cells: Cells) -> tuple[Outputs | None, ...]:
    """Of systems that are objects the one text in each, such as the solution beside is_correct."""
    texts: list[pl.Series | None] = []
    for name in cells.systems:
        fields = fields_of(frame[name]) if name in frame.columns and _holds_objects(frame[name]) else []
        own = name_fields(frame, {field: field for field in fields})[0]
        found = [own[field] for field in fields if own[field].dtype == pl.String]
        texts.append(found[0] if len(found) == 1 and found[0].len() == cells.items.size else None)
    if not any(each is not None for each in texts):
        return ()
    asked, right = (
        find_column(frame, {}, role, names, ()) for role, names in (("prompt", PROMPTS), ("answer", ANSWERS))
    )
    items = pl.Series(cells.items.tolist(), dtype=pl.String)
    return tuple(
        None
        if each is None
        else Outputs(items, each, None if right is None else frame[right], None if asked is None else frame[asked])
        for each in texts
    )


def _joined(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """The values of several columns as one key."""
    return frame.select(pl.concat_str([cell_texts(frame[name]) for name in columns], separator="/")).to_series()


def _makes_whole(frame: pl.DataFrame, key: Sequence[str], taken: Collection[str]) -> str | None:
    """The column of groups within which a key names each row once."""
    for name in frame.columns:
        if normalized(name) in _GROUPS and name not in taken and not frame.select(name, *key).is_duplicated().any():
            return name
    return None


def _of_dataset(
    frame: pl.DataFrame, dataset: str | None, taken: Collection[str], file: str
) -> tuple[pl.DataFrame, list[str]]:
    """The rows of the dataset that was asked for; of several datasets all rows, said so."""
    column = next((name for name in frame.columns if normalized(name) == "dataset" and name not in taken), None)
    names = [] if column is None else cell_texts(frame[column].drop_nulls()).unique(maintain_order=True).to_list()
    if dataset is None or column is None:
        said = f"The rows of {count(len(names))} datasets are taken together: {_listed(names)}."
        return frame, [said] if len(names) > 1 else []
    if dataset not in names:
        raise InputError(
            f"there is no dataset {dataset!r}", file=file, mend=f"choose from {_listed(names)} with {option('dataset')}"
        )
    return frame.filter(cell_texts(frame[column]) == dataset), []


def _without_averages(
    frame: pl.DataFrame, roles: Mapping[str, str], ignored: Collection[str]
) -> tuple[pl.DataFrame, list[str]]:
    """The rows of systems that are not called an average of the others; what was left out, in a sentence."""
    column = find_column(frame, roles, "system", SYSTEMS, ignored)
    if column is None or frame.schema[column] != pl.String:
        return frame, []
    averages = [each for each in frame[column].drop_nulls().unique(maintain_order=True) if _is_average(each)]
    kept = frame.filter(~frame[column].is_in(averages).fill_null(value=False))
    if not averages or not kept.height:
        return frame, []
    return kept, [f"Rows of averages are left out: {_listed(averages)} in {column!r}."]


def _is_average(name: str) -> bool:
    return _AVERAGE.fullmatch(normalized(name)) is not None


def _counts_rows(values: pl.Series) -> bool:
    """Whether a column without a name numbers the rows from 0 or 1, as pandas writes its index.

    Of a part of the rows, evenly taken, the steps are equal, and may be wider.
    """
    if not _NAMELESS.fullmatch(normalized(values.name)) or len(values) < 2:
        return False
    numbers = as_numbers(values)
    steps = numbers.diff().drop_nulls().unique().to_list()
    return numbers[0] in (0, 1) and not numbers.null_count() and len(steps) == 1 and steps[0] >= 1


def find_column(
    frame: pl.DataFrame, roles: Mapping[str, str], role: str, names: Collection[str], ignored: Collection[str]
) -> str | None:
    """The column of a role: the one that was named, else the first of the known names that is there."""
    if role in roles:
        return roles[role]
    known = {normalized(column): column for column in reversed(frame.columns) if column not in ignored}
    return next((known[name] for name in names if name in known), None)


def _long(
    frame: pl.DataFrame,
    roles: Mapping[str, str],
    ignored: Collection[str],
    clusters: tuple[str, ...],
    scale: tuple[float, float] | None,
    file: str,
) -> Cells | None:
    system = find_column(frame, roles, "system", SYSTEMS, ignored)
    item = find_column(frame, roles, "item", ITEMS, ignored)
    if system is None or item is None:
        raise InputError(
            f"there is no column of {'items' if system else 'systems'}", file=file,
            mend=naming(frame, "item" if system else "system", besides=[*roles.values(), *ignored]),
        )  # fmt: skip
    frame, unanswered = _answered(frame, item, roles, ignored, file)
    values = _scores_of(frame, system, roles, ignored, scale, file)
    if values is None:
        return None
    run = find_column(frame, roles, "run", RUNS, ignored)
    known = pl.DataFrame(
        {
            "system": cell_texts(frame[system]).str.strip_chars(),
            "item": cell_texts(frame[item]).str.strip_chars(),
            "run": cell_texts(frame[run]).str.strip_chars().fill_null("") if run else pl.Series([""] * frame.height),
            "score": values,
        }
    )
    nameless = pl.any_horizontal(pl.col("system", "item").fill_null("") == "")
    empty = known.filter(nameless).height
    known = known.filter(~nameless)
    twice = known.group_by("system", "item", "run", maintain_order=True).len().filter(pl.col("len") > 1)
    within = (
        _makes_whole(frame, [system, item, *([run] if run else [])], {*roles.values(), *ignored})
        if twice.height
        else None
    )
    if within is not None:
        whole = f"{within}+{item}"
        keyed = frame.with_columns(_joined(frame, [within, item]).alias(whole))
        found = _long(keyed, {**roles, "item": whole}, {*ignored, item}, clusters, scale, file)
        return found and replace(found, notes=[f"Items are named by {within!r} and {item!r} together.", *found.notes])
    if twice.height:
        taken = [each for each in (system, item, find_column(frame, roles, "score", SCORES, ignored)) if each]
        first = twice.row(0, named=True)
        dataset = next((name for name in frame.columns if normalized(name) == "dataset"), None)
        several = dataset is not None and frame[dataset].n_unique() > 1
        if (
            run is None
            and not several
            and 2 * twice.height >= known.select(pl.struct("system", "item").n_unique()).item()
        ):
            among = column_of_names(frame, [system, item], {*taken, *roles.values(), *ignored})
            if among is not None:
                raise InputError(
                    f"{count(twice.height)} items have several rows of a system, each with its own {among!r}",
                    file=file, column=among,
                    mend=f"if both name an item, {option('columns', f'item={among}+{item}')}; if it names attempts, "
                    f"{option('columns', f'run={among}')}",
                )  # fmt: skip
            # Several attempts at most items, which are read as runs.
            return None
        raise InputError(
            f"{count(twice.height)} items are scored twice, first {first['item']!r} by {first['system']!r}",
            file=file,
            mend=f"the rows are of several datasets: choose one with {option('dataset', str(frame[dataset or ''][0]))}"
            if several
            else f"leave one of them, or name the runs: {naming(frame, 'run', besides=[*taken, *ignored])}",
        )
    items = known["item"].unique(maintain_order=True)
    place = {name: at for at, name in enumerate(items.to_list())}
    systems, scores, absent = [], [], []
    for (name,), own in known.group_by("system", maintain_order=True):
        by_run = own["run"].unique(maintain_order=True).to_list()
        cells = np.full((len(by_run), len(place)), np.nan)
        rows = own["run"].replace_strict(by_run, list(range(len(by_run))), return_dtype=pl.Int64).to_numpy()
        at = (rows, [place[each] for each in own["item"].to_list()])
        cells[at] = own["score"].fill_null(np.nan).to_numpy()
        lacks = np.ones(cells.shape, dtype=np.bool_)
        lacks[at] = False
        systems.append(str(name))
        scores.append(cells)
        absent.append(lacks)
    score = find_column(frame, roles, "score", SCORES, ignored)
    if (
        score is not None
        and scale is None
        and not holds_lists(frame[score])
        and _preferred(frame[score], file) is not None
    ):
        unanswered.append(f"Scores are {score!r}, where 1 is the other's win, 2 the system's, and 0 or 1.5 a tie.")
    notes = [*unanswered, *([f"{count(empty)} rows name no system or no item, and are left out."] if empty else [])]
    joined = labels = None
    answer = find_column(frame, roles, "answer", ANSWERS, ignored)
    if clusters or answer:
        of_item = frame.with_columns(cell_texts(frame[item]).str.strip_chars().alias(item)).unique(item, keep="first")
        ordered = pl.DataFrame({item: items}).join(of_item, on=item, how="left", maintain_order="left")
        joined = _codes(ordered, clusters) if clusters else None
        labels = tuple(right_answers(ordered[answer]).to_list()) if answer else None
    of_answers = _scored_by_answers(frame, roles, ignored) is not None
    names = ("prediction", PREDICTIONS), ("output", OUTPUTS), ("prompt", PROMPTS)
    texts = {role: find_column(frame, roles, role, known, ignored) for role, known in names}
    if not of_answers:
        texts["prediction"] = None
    given = pl.DataFrame(
        {"system": cell_texts(frame[system]).str.strip_chars(), "item": cell_texts(frame[item]).str.strip_chars(),
         **{role: known_texts(frame[name]) if role != "prediction" or answer is None
            else _spelled(frame[name], right_answers(frame[answer]))
            for role, name in texts.items() if name is not None and name != item}}
    ).unique(["system", "item"], keep="first", maintain_order=True)  # fmt: skip
    by_system = [
        pl.DataFrame({"item": items}).join(given.filter(system=name), on="item", how="left", maintain_order="left")
        for name in (systems if len(given.columns) > 2 else ())
    ]
    right = None if labels is None else pl.Series(labels, dtype=pl.String)
    return Cells(
        systems, scores, np.array(items.to_list(), dtype=np.str_), joined, notes, labels, tuple(absent), of_answers,
        answers=tuple(own["prediction"] for own in by_system if "prediction" in own.columns),
        outputs=tuple(
            Outputs(items, own["output"], right, own["prompt"] if "prompt" in own.columns else None)
            for own in by_system
            if "output" in own.columns
        ),
    )  # fmt: skip


def _spelled(values: pl.Series, right: pl.Series) -> pl.Series:
    """Answers in the spelling of the right ones, by which they are scored."""
    valid = right.drop_nulls().unique()
    return spelled_as(known_texts(values, valid), valid)


def _scored_by_answers(frame: pl.DataFrame, roles: Mapping[str, str], ignored: Collection[str]) -> str | None:
    """The column of right answers of a long table, where predictions are scored by it."""
    is_scored = find_column(frame, roles, "score", SCORES, ignored)
    if is_scored or not find_column(frame, roles, "prediction", PREDICTIONS, ignored):
        return None
    return find_column(frame, roles, "answer", ANSWERS, ignored)


def _answered(
    frame: pl.DataFrame, item: str, roles: Mapping[str, str], ignored: Collection[str], file: str
) -> tuple[pl.DataFrame, list[str]]:
    """The rows of items with a right answer, where predictions are scored by it, and how many have none.

    Raises:
        InputError: An item has other right answers for other systems.
    """
    answer = _scored_by_answers(frame, roles, ignored)
    if answer is None:
        return frame, []
    of_rows = pl.DataFrame({"item": cell_texts(frame[item]).str.strip_chars(), "right": right_answers(frame[answer])})
    several = of_rows.drop_nulls().group_by("item", maintain_order=True).n_unique().filter(pl.col("right") > 1)
    n_items = of_rows["item"].n_unique()
    if several.height:
        raise InputError(
            f"the right answers of {count(several.height)} of {count(n_items)} items differ between rows, the first is "
            f"{several['item'][0]!r}",
            file=file, column=answer, mend="give systems that answered the same items",
        )  # fmt: skip
    known = of_rows.select(pl.col("right").is_not_null().any().over("item")).to_series()
    kept = known & of_rows["right"].is_not_null()
    n_lost = of_rows.filter(~known)["item"].n_unique()
    n_rows = int((known & of_rows["right"].is_null()).sum())
    if n_rows:
        raise InputError(
            f"{count(n_rows)} rows have no right answer, though their items have one in other rows",
            file=file, column=answer, mend="fill it in",
        )  # fmt: skip
    return frame.filter(kept), [_without_answer(n_lost)] if n_lost else []


def _without_answer(n: int) -> str:
    return f"{count(n)} item{' has' if n == 1 else 's have'} no right answer, and {'is' if n == 1 else 'are'} left out."


def _preferred(scores: pl.Series, file: str) -> pl.Series | None:
    """The share of preferences that a system won, as AlpacaEval codes them; None where no such preferences are there.

    1 is the other's win, 2 the system's. Ties are 1.5, and in the first version 0: beside 1.5 that is no defeat.

    Raises:
        InputError: 0, 1 and 2 alone may also be a defeat, a tie and a win.
    """
    values = as_numbers(scores)
    known = values.drop_nulls()
    if normalized(scores.name) != "preference" or not (known > 1).any():
        return None
    if not ((known == 0) | known.is_between(1, 2)).all():
        return None
    if (known == 0).any() and not ((known > 1) & (known < 2)).any():
        raise InputError(
            f"{count((known == 0).sum())} of {count(known.len())} preferences are 0: a tie beside 1 and 2, or a defeat",
            file=file, column=scores.name,
            mend=f"if 1 is a tie give {option('grades', '0:2')}; else write ties as 1.5",
        )  # fmt: skip
    return values.set(values == 0, 1.5) - 1


def _scores_of(
    frame: pl.DataFrame,
    system: str,
    roles: Mapping[str, str],
    ignored: Collection[str],
    scale: tuple[float, float] | None,
    file: str,
) -> pl.Series | None:
    """Scores from 0 to 1 of a long table; None where it has neither scores nor predictions beside answers."""
    score = find_column(frame, roles, "score", SCORES, ignored)
    if score is not None and holds_lists(frame[score]):
        return None
    if score is not None:
        preferred = _preferred(frame[score], file) if scale is None else None
        return scores_as_shares(frame[score], scale, file) if preferred is None else preferred
    prediction = find_column(frame, roles, "prediction", PREDICTIONS, ignored)
    answer = find_column(frame, roles, "answer", ANSWERS, ignored)
    if prediction is None or answer is None:
        return None
    return matches(frame[prediction], frame[answer], cell_texts(frame[system]).str.strip_chars(), file)


def _wide(
    frame: pl.DataFrame,
    roles: Mapping[str, str],
    ignored: Collection[str],
    clusters: tuple[str, ...],
    scale: tuple[float, float] | None,
    file: str,
    lines: NDArray[np.int64] | None,
) -> Cells | None:
    item, answer, named, of_answers, numeric = columns_of(frame, roles, {*ignored, *clusters})
    if item is None and named is not None:
        raise InputError(
            f"there is a row a system ({named!r}), and no column of items: averages cannot be compared item by item",
            file=file,
            mend="give a table with a score for each system and item",
        )
    others = [name for name in frame.columns if name not in {item, answer, *clusters, *ignored}]
    if answer is not None:
        valid = set(right_answers(frame[answer]).drop_nulls().to_list())
        for name in others:
            refuse_foreign(frame[name], valid, file)
    systems = of_answers if len(of_answers) > 1 else numeric
    if systems is of_answers and answer is not None:
        unanswered = right_answers(frame[answer]).is_null()
        if unanswered.any():
            found = _wide(frame.filter(~unanswered), roles, ignored, clusters, scale, file, None)
            said = _without_answer(int(unanswered.sum()))
            return None if found is None else replace(found, notes=[said, *found.notes])
    for name in others:
        if systems is numeric and name not in of_answers:
            refuse_slip(frame[name], known_texts(frame[name]), as_numbers(frame[name]), file, lines)
    if len(systems) < 2 and not (systems and item):
        return None
    if systems is numeric:
        _refuse_measures(systems, item, file)
        if perhaps := next((name for name in systems if normalized(name) in _PERHAPS_RIGHT and len(systems) > 2), None):
            raise InputError(
                f"{perhaps!r} may hold right answers, or be a system", file=file, column=perhaps,
                mend=f"{option('columns', f'answer={perhaps}')} scores the others by it, "
                f"{option('columns', f'ignore={perhaps}')} leaves it out",
            )  # fmt: skip
        if all(map(counts_worse, systems)):
            raise InputError(
                f"of {_listed(systems)} less is better", file=file,
                mend="write scores of which more is better, such as 1 less the error",
            )  # fmt: skip
        _check_scales(frame, numeric, scale, item, file)
        values = [scores_as_shares(frame[name], scale, file) for name in numeric]
    else:
        assert answer is not None
        values = [matches(frame[name], frame[answer]) for name in of_answers]
    items = cell_texts(frame[item]) if item else pl.Series([str(row) for row in range(1, frame.height + 1)])
    if items.null_count() or items.n_unique() < len(items):
        if len(systems) == 1 and not items.null_count():
            shown = f"goldassay answered {shlex.quote(file)}"
            raise InputError(
                f"there is one system, {systems[0]!r}, and several rows of most items of {item!r}", file=file,
                mend=f"{shown if entry_point() == SHELL else 'goldassay.measure_answered'} gives pass@k of its "
                "attempts; a board needs two systems or more",
            )  # fmt: skip
        repeated = items.null_count() or len(items) - items.n_unique()
        raise InputError(
            f"{count(repeated)} items of the column {item!r} have no name of their own", file=file,
            mend="give each row another one; if rows of one name belong together, "
            f"{option('columns', f'ignore={item}')} with {option('clusters', str(item))}",
        )  # fmt: skip
    empty = [name for name in others if name not in systems and not known_texts(frame[name]).count()]
    unread = [name for name in others if name not in systems and name not in empty]
    notes = [f"Columns that are no systems: {_listed(unread)}."] if unread else []
    notes += [f"Columns without a single score are left out: {_listed(empty)}."] if empty else []
    scores = [each.fill_null(np.nan).to_numpy()[np.newaxis].astype(np.float64) for each in values]
    fractions = [name for name, own in zip(systems, scores, strict=True) if (np.nan_to_num(own) % 1).any()]
    if 0 < len(fractions) < len(systems):
        notes.append(
            f"Fractions stand in {_listed(fractions)}, 0 and 1 alone in the others: leave out what is no system with "
            f"{option('columns', 'ignore=' + '+'.join(fractions[:3]))}."
        )
    joined = _codes(frame, clusters) if clusters else None
    labels = tuple(right_answers(frame[answer]).to_list()) if answer else None
    names = [name.strip() for name in systems]
    ids = np.array(items.to_list(), dtype=np.str_)
    return Cells(
        names, scores, ids, joined, notes, labels, of_answers=systems is of_answers,
        answers=tuple(_spelled(frame[name], right_answers(frame[answer])) for name in systems)
        if answer is not None and systems is of_answers
        else (),
    )  # fmt: skip


def columns_of(
    frame: pl.DataFrame, roles: Mapping[str, str], ignored: Collection[str]
) -> tuple[str | None, str | None, str | None, list[str], list[str]]:
    """Of a table with a column a system: that of items, of right answers and of names; those of answers, of scores."""
    item = find_column(frame, roles, "item", ITEMS, ignored)
    answer = find_column(frame, roles, "answer", ANSWERS, ignored)
    named = find_column(frame, roles, "system", (*SYSTEMS, "name"), ignored)
    others = [
        name for name in frame.columns
        if name not in {item, answer, *ignored} and not _WINNERS.match(normalized(name))
        and not _is_average(name) and not _counts_rows(frame[name])
    ]  # fmt: skip
    valid = set() if answer is None else set(right_answers(frame[answer]).drop_nulls().to_list())
    of_answers = [name for name in others if holds_answers(frame[name], valid)] if answer is not None else []
    flags = [name for name in others if normalized(name).startswith(_FLAGS) or normalized(name) in _TRAITS]
    open_ = [name for name in others if name not in (*of_answers, *flags)]
    numeric = [name for name in open_ if is_score(frame[name])]
    numeric = [name for name in numeric if not _is_mean(frame, name, numeric)]
    if len(numeric) < 2 and len(of_answers) < 2:
        numeric = [name for name in open_ if is_score(frame[name], words=True)]
    return item, answer, named, of_answers, numeric


def _is_mean(frame: pl.DataFrame, name: str, columns: Sequence[str]) -> bool:
    """Whether a column of fractions is the mean of the others in each row, as a share of systems is."""
    others = [as_numbers(frame[each]).alias(each) for each in columns if each != name]
    own = as_numbers(frame[name])
    if len(others) < 2 or not own.len() or own.null_count() or not (own % 1 > 0).any():
        return False
    apart = (own - pl.DataFrame(others).mean_horizontal()).abs()
    return not apart.null_count() and bool((apart <= _ROUNDING).all())


def measures_in(systems: Sequence[str]) -> list[str]:
    """Of columns that are all called after measures, such as "bleu" or "GPT-3 truth", which; else none."""
    found = [each[1].lower() for name in systems if (each := _MEASURES.fullmatch(name.strip()))]
    return found if len(found) == len(systems) and len(set(found)) > 1 else []


def _refuse_measures(systems: Sequence[str], item: str | None, file: str) -> None:
    """Refuse a table whose columns are measures of one system, or several measures of each.

    Raises:
        InputError: They are.
    """
    found = measures_in(systems)
    if not found:
        return
    kept = found[0]
    others = [name for name, measure in zip(systems, found, strict=True) if measure != kept]
    problem = f"the columns {_listed(systems)} are measures, and no systems"
    if len(systems) - len(others) > 1:
        left = option("columns", "ignore=" + "+".join(others))
        raise InputError(problem, file=file, mend=f"rank the systems by {kept} alone with {left}")
    named = f"example_id={item},score={systems[0]}" if item else f"score={systems[0]}"
    write = f"goldassay.measure_instability({file!r}, columns={named!r})"
    if entry_point() == SHELL:
        write = f"goldassay instability {shlex.quote(file)} {option('columns', named)}"
    raise InputError(problem, file=file, mend=f"a board needs two systems or more; {write} takes one measure")


def _check_scales(
    frame: pl.DataFrame, names: list[str], scale: tuple[float, float] | None, item: str | None, file: str
) -> None:
    low, high = scale or (0.0, 1.0)
    known = {name: as_numbers(frame[name]).drop_nulls() for name in names}
    beyond = [name for name, own in known.items() if not own.is_between(low, high).all()]
    if not beyond:
        return
    judged = [name for name in frame.columns if normalized(name) in ("generator_2", "generator2")]
    if judged and (tasks := [name for name in frame.columns if normalized(name) == "instruction"]):
        # Annotations of AlpacaEval: the second system of each pair is held against the first.
        given = option("columns", f"system={judged[0]},item={tasks[0]},score={beyond[0]}")
        raise InputError(
            f"each row is the verdict on a pair of systems ({beyond[0]!r} beyond {low:g} to {high:g})", file=file,
            mend=f"name the columns, as in: {given}",
        )  # fmt: skip
    if len(names) - len(beyond) > (item is None):
        raise InputError(
            f"columns are of two scales: {_listed(beyond)} go beyond {low:g} to {high:g}, the others do not", file=file,
            mend=f"leave out what is no system with {option('columns', 'ignore=' + '+'.join(beyond))}",
        )  # fmt: skip
    if item is None:
        raise InputError(
            f"columns {_listed(beyond)} go beyond {low:g} to {high:g}, and no column names items", file=file,
            mend="a board needs a score for each system and item: averages cannot be compared item by item",
        )  # fmt: skip
    empty = "write -1 as an empty cell where it means that nothing was scored, or "
    is_marked = all(own.is_in([-1.0, 0.0, 1.0]).all() for own in known.values())
    raise InputError(
        f"columns {_listed(beyond)} go beyond {low:g} to {high:g}", file=file,
        mend=f"{empty if is_marked else ''}give the lowest and the highest grade with {option('grades', 'LOW:HIGH')}",
    )  # fmt: skip


def _codes(frame: pl.DataFrame, columns: tuple[str, ...]) -> NDArray[np.int64]:
    """Codes of what rows share by one of the columns."""
    from goldassay.stats.clusters import cluster_rows

    return cluster_rows({name: value_codes(frame[name]) for name in columns}, frame.height, chosen=True).codes


def _listed(names: Collection[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(repr, list(names)[:_MOST_NAMES])) + more
