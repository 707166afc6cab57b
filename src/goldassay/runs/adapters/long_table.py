"""Long tables of any tool: a row an example of a run, in CSV, TSV, JSON lines or Parquet, packed or not.

Columns are found by name, the first of these that is there (case does not matter):

    example_id   example_id, id, uid, guid, pairID, pair_id, instance_id, sample_id, doc_id, qid, question_id,
                 index, row, task_id
    prediction   prediction, predicted_label, predicted, pred_label, pred, y_pred
    score        score, graded_list, pass1, correct, is_correct, exact_match, f1, acc, accuracy, reward, passed,
                 success, resolved; a list in a cell has a score for each sample of the example
    logits       logits, logit
    features     features, embedding, embeddings: what a model made of an example before its classifier, as a list
    label        label, gold_label, gold, target, y_true; beside predictions without scores also answer, gold_answer,
                 correct_answer, answer_key, ground_truth, reference, where some prediction is among its values
    seed         seed, random_seed, run_id, run, replica
    trial        trial, attempt, sample_idx, sample_index, trial_id; and epoch beside sample_id. Without it rows of one
                 example are its trials, where there are several of most examples; these have no order, and are dealt
                 to runs at random
    checkpoint   checkpoint, global_step, step, epoch
    model        model, model_name, model_name_or_path, model_id, model_path, system, system_name
    dataset      dataset, task, benchmark, benchmark_id; else category, subject or subset where all rows have the same
    split, condition (else a word of the name of the model, file or folder: hypothesis, premise, shuffled, length),
                 train_set; group_NAME for groups; and config_NAME for how the model was asked: config_prompt,
                 config_temperature. Rows with other values of these are of other runs.
    status       status, finish_reason, stop_reason: whether an answer has a score, and if not why, in words such as
                 error, truncated, length; a column with other words is none. A text in error, error_message or
                 exception beside no output is an error, too
    output       output, response, generated_text, model_output, model_outputs, completion, generation: what the model
                 wrote, of which a prediction was read
    shares_of_grades   the scale that the scores are shares of: 1:5

`columns={"role": "name"}` goes before all of these.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.numbers import count
from goldassay.data.column_names import GROUPS, names_of, normalized
from goldassay.data.fields import cell_texts, name_fields, with_keys
from goldassay.data.kinds.recognition import other_kind, recognize
from goldassay.data.reading import read_table as read_rows
from goldassay.data.roles import naming
from goldassay.data.source import name_of
from goldassay.data.table import Table, unnested
from goldassay.runs.configurations import flat, from_cell
from goldassay.runs.grades import SHARES_OF, stated_scale
from goldassay.runs.key_columns import (
    SYNONYMS,
    as_number,
    as_scores,
    column_of_names,
    find_roles,
    is_beside_the_point,
    is_large,
    key_columns,
)
from goldassay.runs.labels import canonical, held_label
from goldassay.runs.run_parts import (
    UNNAMED,
    UNNAMED_MODEL,
    Collection,
    Columns,
    Outputs,
    Request,
    Slice,
    not_loaded,
)
from goldassay.runs.runs import condition_within, condition_words
from goldassay.runs.statuses import recorded, spelled, with_errors
from goldassay.runs.tables import codes_in, features_array, head_of, logits_array, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

NAME = "long"
PRIORITY = 80

_PROMPTS = names_of("prompt", "runs")
_RIGHT = names_of("answer", "runs")
# Within which ids may be given anew.
_GROUPS = (*GROUPS, "subject", "task")
# Columns that number runs, and state no seed.
_RUNNING = frozenset(SYNONYMS["seed"]) - {"seed", "random_seed"}
_DEFAULTS = {"model": UNNAMED_MODEL, "dataset": UNNAMED, "split": "", "train_set": ""}
_KEYS = ("model", "dataset", "split", "condition", "train_set", "seed", "checkpoint", "trial")
# A column that we add: which trial a row is.
_TRIAL, _LOT = "goldassay:trial", "goldassay:lot"
_KEY_NAMES = frozenset(name for role in (*_KEYS, "example_id") for name in SYNONYMS[role])
_SETTING = "config_"
_MOST_SETTINGS = 100
# Of answers such as (A), each of which holds the right one's name.
_MOST_FORMS = 12
# As pandas writes an index, and polars reads a column without a name.
_INDEX = ("", "Unnamed: 0")
# Rows by which a column of scores may be told from one of probabilities, and standard errors between their means.
_LEAST, _FAR = 20, 6
# What went wrong with an answer.
_ERRORS = ("error", "error_message", "exception")
# Where files have one of these each, they are parts of a benchmark and no models.
_PARTS = ("category", "subject", "subset")
_ANSWERS = frozenset({"prediction", "score", "logits"})
# Columns of choices by their place, as BBQ has ans0, ans1 and ans2.
_CHOICE = re.compile(r"(?:ending|ans|choice|option|sol)_?([0-9])")


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a table that has a column of predictions, scores or logits."""
    if not path.is_file():
        return None
    if request.listed and is_large(path) and "configuration" not in request.columns:
        return _listed(path, request)
    read = read_table(path)
    if read is None and request.outright:
        read = codes_in(path)
    own = set() if read is None else find_roles(read.columns, {}, path).keys()
    if not request.columns and not ("example_id" in own and own & _ANSWERS):
        read = _within_lists(path, read, request)
    if read is None:
        return None
    table, given = name_fields(read, request.columns)
    table = with_keys(table, request.kept)
    kept = tuple(name for name in request.kept if name in table.columns)
    if is_beside_the_point(table.columns, request):
        return None
    table, given = with_settings(table, given)
    roles = find_roles(table.columns, given, path)
    if not roles.keys() & _ANSWERS:
        return None
    roles = with_right_answers(roles, table)
    roles = _with_part(_with_epochs(roles), table.columns, lambda name: table[name].n_unique() == 1)
    roles = _with_row_numbers(roles, table)
    roles = _without_confidence(roles, given, table, path)
    if "example_id" not in roles:
        if "seed" in roles and table.height > 1 and table[roles["seed"]].n_unique() == table.height:
            # A row a run: somebody's summary beside the runs.
            return None
        raise _no_ids(path, table)
    if table.height == 0:
        raise _no_rows(path)
    keys = [*(roles[role] for role in _KEYS if role in roles), *filter(_is_of_run, table.columns)]
    dealt = _dealt(table, keys, roles, path)
    if _TRIAL in dealt.columns:
        keys, roles = [*keys, _TRIAL], {**roles, "trial": _TRIAL}
    # Most files hold one run, and to part a table takes longer than to see that.
    whole = all(dealt[key].n_unique() == 1 for key in keys)
    parts = [dealt] if whole else dealt.partition_by(keys, maintain_order=True)
    return [
        _slice(
            part.row(0, named=True),
            part.height,
            roles,
            path,
            not_loaded if request.listed else partial(_columns, part, roles, path, kept),
            partial(_outputs, part, roles, path) if "output" in roles else None,
        )
        for part in parts
    ]


def _within_lists(path: Path, read: pl.DataFrame | None, request: Request) -> pl.DataFrame | None:
    """A row for each object of lists that hold answers, with the fields around; else what was read."""
    if request.outright and head_of(path).lstrip()[:1] in (b"{", b"["):
        rows = read_rows(path).frame
    elif read is not None:
        rows = read
    else:
        return None
    within = unnested(rows)
    for each in (rows, within[0]) if within else (rows,):
        roles = find_roles(each.columns, {}, path).keys()
        if roles & _ANSWERS and "example_id" in roles:
            return each
    return read


def with_settings(table: pl.DataFrame, given: dict[str, str]) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table with the columns of the role `configuration` as settings, config_NAME, and the other roles.

    Where none is named, a column that is called so is one if it parts rows that are the same run and example else.
    """
    given = dict(given)
    named = given.pop("configuration", "").split("+")
    if named == [""] and not any(map(_is_setting, table.columns)) and table.height:
        roles = find_roles(table.columns, given, None)
        keys = [roles[role] for role in (*_KEYS, "example_id") if role in roles]
        lower = {name.lower(): name for name in reversed(table.columns) if name not in roles.values()}
        known = [lower[name] for name in names_of("configuration", "runs") if name in lower]
        if known and "example_id" in roles and table.select(keys).is_duplicated().any():
            named = [name for name in known if not table.select(*keys, name).is_duplicated().any()][:1]
    settings = {name: f"{_SETTING}{name}" for name in named if name and name in table.columns}
    return table.rename(settings), given


def possible_settings(path: Path) -> list[str]:
    """Columns without a role that differ between rows of one example: each value may be a configuration."""
    table = read_table(path) if path.is_file() else None
    roles = {} if table is None else find_roles(table.columns, {}, path)
    if table is None or not {"example_id"} <= roles.keys() or not roles.keys() & _ANSWERS:
        return []
    keys = [roles[role] for role in (*_KEYS, "example_id") if role in roles]
    if not table.select(keys).is_duplicated().any():
        return []
    free = [name for name in table.columns if name not in roles.values() and not table[name].dtype.is_nested()]
    few = [name for name in free if 2 <= table[name].n_unique() <= _MOST_SETTINGS and not table[name].null_count()]
    return [name for name in few if not table.select(*keys, name).is_duplicated().any()]


def _dealt(table: pl.DataFrame, keys: list[str], roles: dict[str, str], path: Path) -> pl.DataFrame:
    """The table with a row a sample, and which trial each is, where examples have several without a column for it.

    Samples of an example have no order: in files they may be sorted. They are dealt to trials at random, always alike.

    Raises:
        InputError: The rows of each example differ in a column of few names: those may be models, and no samples.
    """
    score = roles.get("score")
    if score is not None and isinstance(table[score].dtype, pl.List) and score != roles.get("logits"):
        # An item without samples has one without a score.
        table = table.with_columns(pl.when(pl.col(score).list.len() > 0).then(pl.col(score))).explode(score)
    of_example = [*keys, roles["example_id"]]
    if "trial" in roles or table.height < 2:
        return table
    repeats = table.select(pl.len().over(of_example).alias("n"))["n"]
    examples = table.select(pl.struct(of_example).n_unique()).item()
    several = table.filter(repeats > 1).select(pl.struct(of_example).n_unique()).item()
    if several < examples / 2 or several == 0:
        return table
    within = [name for name in table.columns if normalized(name) in _GROUPS and name not in roles.values()]
    for name in within:
        # Ids that are given anew in each subject, as boards read them: no trials.
        if not table.select(*of_example, name).is_duplicated().any():
            whole = pl.concat_str([cell_texts(table[name]), cell_texts(table[roles["example_id"]])], separator="/")
            return table.with_columns(whole.alias(roles["example_id"]))
    own = column_of_names(table, of_example, roles.values())
    if own is not None:
        raise InputError(
            f"{count(several)} examples have several rows, each with its own {own!r}, and nothing says what it is",
            file=path, column=own,
            mend=f"say what it names: models, {option('columns', f'model={own}')}; configurations, "
            f"{option('columns', f'configuration={own}')}; or samples, {option('columns', f'trial={own}')}",
        )  # fmt: skip
    lot = pl.Series(_LOT, np.random.default_rng(0).permutation(table.height))
    dealt = table.with_columns(lot).with_columns(pl.col(_LOT).rank("ordinal").over(of_example).alias(_TRIAL))
    return dealt.drop(_LOT)


def _listed(path: Path, request: Request) -> list[Slice] | None:
    """What `find` finds, without rows, of the key columns alone."""
    table = key_columns(
        path,
        lambda name: (
            name.lower() in (*_KEY_NAMES, *_PARTS)
            or normalized(name) in _GROUPS
            or _is_of_run(name)
            or name in request.columns.values()
        ),
    )
    if table is None or is_beside_the_point(table.columns, request):
        return None
    roles = find_roles(table.columns, request.columns, path)
    if not roles.keys() & _ANSWERS:
        return None
    if "example_id" not in roles:
        seeds = table.counted([roles["seed"]]) if "seed" in roles else []
        if len(seeds) > 1 and all(n == 1 for _, n in seeds):
            return None
        raise _no_ids(path)
    roles = _with_part(_with_epochs(roles), table.columns, lambda name: len(table.counted([name])) == 1)
    keys = [*(roles[role] for role in _KEYS if role in roles), *filter(_is_of_run, table.columns)]
    found = table.counted(keys)
    if not found:
        raise _no_rows(path)
    repeats = [] if "trial" in roles else table.repeats(keys, roles["example_id"])
    examples = sum(len(n) for _, n in repeats)
    several = sum(each > 1 for _, n in repeats for each in n)
    if several < examples / 2 or several == 0:
        return [_slice(first, n, roles, path, not_loaded) for first, n in found]
    for name in table.columns:
        # As `_dealt` does.
        is_group = normalized(name) in _GROUPS and name not in roles.values()
        if is_group and all(each == 1 for _, n in table.repeats([*keys, name], roles["example_id"]) for each in n):
            return [_slice(first, n, roles, path, not_loaded) for first, n in found]
    roles = {**roles, "trial": _TRIAL}
    return [
        _slice({**first, _TRIAL: trial}, sum(each >= trial for each in n), roles, path, not_loaded)
        for first, n in repeats
        for trial in range(1, max(n) + 1)
    ]


def _with_epochs(roles: dict[str, str]) -> dict[str, str]:
    """Epochs of samples are trials, as inspect_ai's tables have them, and no checkpoints."""
    if roles.get("example_id") != "sample_id" or roles.get("checkpoint") != "epoch" or "trial" in roles:
        return roles
    return {**{role: name for role, name in roles.items() if role != "checkpoint"}, "trial": "epoch"}


def _with_part(roles: dict[str, str], names: list[str], is_one: Callable[[str], bool]) -> dict[str, str]:
    """The part of a benchmark that all rows are of is the dataset, where no column names that."""
    part = next((name for name in names if name.lower() in _PARTS and is_one(name)), None)
    return roles if part is None or "dataset" in roles else {**roles, "dataset": part}


def _with_row_numbers(roles: dict[str, str], table: pl.DataFrame) -> dict[str, str]:
    """The roles, with the index that pandas writes as the ids where nothing else is: 0, 1, 2, ... without a name."""
    first = table.columns[0]
    if "example_id" in roles or first not in _INDEX or table[first].dtype.is_nested():
        return roles
    is_index = table[first].cast(pl.String).to_list() == [str(row) for row in range(table.height)]
    return {**roles, "example_id": first} if is_index else roles


def _without_confidence(
    roles: dict[str, str], given: dict[str, str], table: pl.DataFrame, path: Path
) -> dict[str, str]:
    """Refuse a column `score` beside `label` that may be how sure a model was, and says nothing of right and wrong.

    Where that label is named as what was predicted, the score is left out.

    It is one where its values are no marks of right and wrong and either all are at least 1/K, as the highest
    probability of K labels is, or its mean differs by far between two labels, as the probability of one does.

    Raises:
        InputError: It may be one.
    """
    is_predicted = given.get("prediction", "").lower() == "label"
    label, score = given["prediction"] if is_predicted else roles.get("label", ""), roles.get("score", "")
    known = "score" in given or (not is_predicted and roles.keys() & {"prediction", "logits", "output"})
    if known or label.lower() != "label" or score.lower() != "score" or not table[score].dtype.is_float():
        return roles
    rows = table.select(pl.col(label).cast(pl.String).alias("label"), pl.col(score).alias("score")).drop_nulls()
    k, n = rows["label"].n_unique(), rows.height
    values = rows["score"]
    marks = int(((values == 0) | (values == 1)).sum())
    if not 2 <= k <= _MOST_SETTINGS or n < _LEAST or 2 * marks > n or not values.is_between(0, 1).all():
        return roles
    spread = rows.group_by("label").agg(pl.col("score").mean().alias("m"), pl.col("score").var().alias("v"), pl.len())
    (m0, v0, n0), (m1, v1, n1) = spread.select("m", "v", "len").rows()[:2]
    apart = k == 2 and abs(m0 - m1) > _FAR * ((v0 or 0) / n0 + (v1 or 0) / n1) ** 0.5
    if not apart and float(np.min(values.to_numpy())) < 1 / k:
        return roles
    if is_predicted:
        return {role: name for role, name in roles.items() if role != "score"}
    raise InputError(
        f"{score!r} may be how probable a label is, and not the score of an answer",
        file=path,
        column=score,
        mend=f"{option('columns', f'prediction={label}')} takes {label!r} for what was predicted, to be scored by "
        f"{right_labels()}; {option('columns', f'score={score}')} takes {score!r} for the score of an answer",
    )


def _is_setting(name: str) -> bool:
    return name.lower().startswith(_SETTING) and len(name) > len(_SETTING)


def _is_of_run(name: str) -> bool:
    return _is_setting(name) or name == SHARES_OF


def _no_ids(path: Path, table: pl.DataFrame | None = None) -> InputError:
    from goldassay.runs.kinds.boards import Boards, Grades

    mend = "give each row the id of its example" if table is None else naming(table, "example_id")
    problem = "no column says which example a row is of"
    if table is not None and mend.startswith("no "):
        plain = (each for each in table.iter_columns() if each.dtype == pl.String and not each.null_count())
        named = next((each.name for each in plain if each.n_unique() == table.height > 1), None)
        mend = mend if named is None else f"{option('columns', f'example_id={named}')} takes each text for one"
    if table is not None:
        rows, write = other_kind(recognize(Table(table, ""), {}, (Boards(), Grades()), str(path)), ())
        if rows:
            # The items of a board may be named, and its systems are models then.
            also = f", or {mend}" if rows == Boards.rows else ""
            problem, mend = f"holds {rows}, no runs", f"write {write}{also}"
    return InputError(problem, file=path, mend=mend)


def _no_rows(path: Path) -> InputError:
    return InputError("there are no examples in the table", file=path, mend="give it at least one row")


def with_right_answers(roles: dict[str, str], table: pl.DataFrame) -> dict[str, str]:
    """The roles, with a column of right answers as the label where predictions have nothing else to score them by.

    A column called `answer` may as well be what a model answered in its own words: right answers are such that some
    prediction is one of them.
    """
    if "prediction" not in roles or roles.keys() & {"label", "score", "logits"}:
        return roles
    met = cell_texts(table[roles["prediction"]]).drop_nulls().unique()
    for name in sorted(set(table.columns) - set(roles.values()), key=table.columns.index):
        known = name.lower() in _RIGHT and not table[name].null_count()
        right = cell_texts(table[name]).unique().to_list() if known else []
        in_words = 0 < met.len() <= _MOST_FORMS and all(held_label(each, right) for each in met)
        if known and (in_words or {*map(canonical, met)} & {*map(canonical, right)}):
            return {**roles, "label": name}
    return roles


def _slice(
    first: dict[str, Any],
    n_rows: int,
    roles: dict[str, str],
    path: Path,
    load: Callable[[], Columns],
    outputs: Callable[[], Outputs | None] | None = None,
) -> Slice:
    """The run of which `first` is the first row, or what its key columns hold."""

    def text(role: str) -> str:
        value = first[roles[role]] if role in roles else None
        # White space that a spreadsheet left around a name makes no other model.
        return defaults[role] if value is None else str(value).strip()

    stem = name_of(path)
    model = str(first[roles["model"]] or "") if "model" in roles else ""
    defaults = {**_DEFAULTS, "condition": condition_within(model, stem, path=path)}
    seed = first[roles["seed"]] if "seed" in roles else None
    trial = first[roles["trial"]] if "trial" in roles else None
    if trial is not None:
        seed = trial if seed is None else f"{seed}-{trial}"
    step = first[roles["checkpoint"]] if "checkpoint" in roles else None
    return Slice(
        collection=Collection(*(text(name) for name in Collection._fields)),
        seed=stem if seed is None else as_number(seed),
        checkpoint=None if step is None else as_number(step),
        n_examples=n_rows,
        file=str(path),
        format=NAME,
        load=load,
        numbered=trial is not None or roles.get("seed", "").lower() in _RUNNING,
        configuration=flat({name[len(_SETTING) :]: from_cell(first[name]) for name in first if _is_setting(name)}),
        grades=stated_scale(first.get(SHARES_OF), str(path)),
        is_trial=trial is not None,
        is_dealt=roles.get("trial") == _TRIAL,
        outputs=outputs,
        condition_words=("", "") if "condition" in roles else condition_words(model, stem, path=path),
    )


def _outputs(part: pl.DataFrame, roles: dict[str, str], path: Path) -> Outputs | None:
    columns = _columns(part, roles, path)
    asked = next((name for name in part.columns if name.lower() in _PROMPTS), None)
    if columns.outputs is None:
        return None
    return Outputs(columns.example_ids, columns.outputs, columns.label, _texts(part, asked), columns.prediction)


def _columns(part: pl.DataFrame, roles: dict[str, str], path: Path, kept: Sequence[str] = ()) -> Columns:
    groups = {name[6:]: part[name] for name in part.columns if name.startswith("group_") and len(name) > 6}
    if "group" in roles:
        groups[roles["group"]] = part[roles["group"]]
    groups |= {name: cell_texts(part[name]).fill_null("") for name in kept}
    if "label" in roles and "score" not in roles and part[roles["label"]].dtype == pl.String:
        # An empty cell is no label of its own, of which all answers would be wrong.
        part = part.with_columns(pl.col(roles["label"]).replace({"": None}))
    label = _strings(part, roles["label"], path, judge=roles.get("prediction")) if "label" in roles else None
    prediction = _strings(part, roles["prediction"], path, gaps=True) if "prediction" in roles else None
    score = as_scores(part[roles["score"]], path) if "score" in roles else None
    outputs = _texts(part, roles.get("output"))
    status = spelled(part[roles["status"]], score) if "status" in roles else None
    told = recorded(part[roles["status"]]) if status is not None else ()
    failures = next((name for name in part.columns if name.lower() in _ERRORS and name not in roles.values()), None)
    if failures is not None and part[failures].dtype in (pl.String, pl.Null):
        given = [values for values in (outputs, prediction) if values is not None]
        status, told = with_errors(status, part[failures], score, given), (*told, "error")
    return Columns(
        example_ids=_whole(_strings(part, roles["example_id"], path)),
        label=label,
        prediction=prediction if label is None or prediction is None else _as_places(prediction, label, part),
        score=score,
        logits=logits_array(part[roles["logits"]], path) if "logits" in roles else None,
        features=features_array(part[roles["features"]], path) if _has_lists(part, roles.get("features")) else None,
        groups={name: values.cast(pl.String) for name, values in groups.items()},
        status=status,
        recorded=told,
        outputs=outputs,
    )


def _whole(ids: pl.Series) -> pl.Series:
    """Ids that are all whole numbers written as floats, 3.0, as whole numbers; else as they are."""
    return ids.str.strip_suffix(".0") if ids.str.contains(r"^[0-9]+\.0$").all() else ids


def _as_places(predictions: pl.Series, labels: pl.Series, part: pl.DataFrame) -> pl.Series:
    """Predictions that are the text of a choice as the place of that choice, where labels are places of choices."""
    choices = {at[1]: part[name] for name in part.columns if (at := _CHOICE.fullmatch(name.lower()))}
    if len(choices) < 2 or not labels.is_in([*choices]).all() or predictions.is_in([*choices]).any():
        return predictions
    given = _bare(predictions)
    places = [pl.when(_bare(texts) == given).then(pl.lit(place)) for place, texts in choices.items()]
    return pl.select(pl.coalesce(*places, predictions)).to_series()


def _bare(texts: pl.Series) -> pl.Series:
    return cell_texts(texts).str.to_lowercase().str.strip_chars(" .")


def _texts(part: pl.DataFrame, name: str | None) -> pl.Series | None:
    return part[name] if name is not None and part[name].dtype == pl.String else None


def _has_lists(part: pl.DataFrame, name: str | None) -> bool:
    """Whether there is such a column and it holds lists: other things are called features too."""
    if name is None:
        return False
    column = part[name]
    if column.dtype == pl.String:
        return bool(column.str.starts_with("[").all())
    return isinstance(column.dtype, pl.List | pl.Array)


def _strings(part: pl.DataFrame, name: str, path: Path, *, gaps: bool = False, judge: str | None = None) -> pl.Series:
    column = part[name]
    if column.dtype.is_nested():
        raise InputError("the values are lists or objects, not labels", file=path, column=name)
    if column.null_count() and not gaps:
        people = (
            ""
            if judge is None
            else f"; where people check a judge, audit it with {option('columns', f'score={judge},people={name}')}"
        )
        raise InputError(
            f"{column.null_count()} values are missing",
            file=path,
            column=name,
            mend=f"fill them in or leave out the rows{people}",
        )
    return column.cast(pl.String)
