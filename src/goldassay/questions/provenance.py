"""What a report says around its answers: its subject, what was read with which settings, and how to get it again.

The clock is in timing.json alone, so that two equal runs give the same page.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldassay.core.document import About, DatasetFacts, Environment, Framed, Input
from goldassay.core.errors import one_line
from goldassay.core.numbers import count, percent
from goldassay.core.sections import Around, Column, Part, Reproduction, Section, Subject, Table
from goldassay.core.settings import Settings
from goldassay.questions.instability.result import InstabilityResult, RunScores
from goldassay.questions.leakage.result import MeasuredLeakage
from goldassay.stats.effects import LEAST_ROWS
from goldassay.stats.verdicts import Doubt
from goldassay.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goldassay.data.dataset import Dataset
    from goldassay.stats.clusters import Clusters


# More labels than these are counted, not listed.
_MOST_LABELS = 8


def subject_of(framed: Framed, around: Around) -> Subject:
    """The subject of a report."""
    own, facts, runs = framed.about or About(), around.answer(DatasetFacts), around.answer(InstabilityResult)
    train, test = (own.n_train, own.n_test) if facts is None else (facts.n_train, facts.n_test)
    sizes = {split: size for split, size in (("train", train), ("test", test)) if size is not None}
    about = _sizes_of_runs(runs.results) if runs is not None and runs.results and facts is None else []
    if own.n_systems is not None:
        sizes = {}
        about += [f"{count(own.n_systems)} systems", f"{count(own.n_test)} items"]
    if own.text_columns:
        about.append(" + ".join(own.text_columns))
    names = own.label_names or ()
    if own.most_choices is not None:
        of, what = ("preferences among", "responses") if own.kind == "preference" else ("items of", "choices")
        about.append(f"{of} up to {count(own.most_choices)} {what}")
    elif names:
        about.append("labels " + ", ".join(names) if len(names) <= _MOST_LABELS else f"{len(names)} labels")
    file = framed.settings_file
    return Subject(sizes, tuple(about), "" if file is None else f"settings of {file.name}", framed.notes)


def _sizes_of_runs(results: Sequence[RunScores]) -> list[str]:
    """How many models, datasets and runs a report on runs alone is about."""
    parts = []
    for names, word in (({row.model for row in results}, "model"), ({row.dataset for row in results}, "dataset")):
        # A model that no file names is called "model".
        if names != {word}:
            parts.append(f"{len(names)} {word}s" if len(names) > 1 else f"{word} {names.pop()}")
    for known, word in (([row.n_runs for row in results], "runs"), ([row.n_examples for row in results], "examples")):
        sizes = sorted(size for size in known if size is not None)
        if sizes:
            span = count(sizes[0]) if sizes[0] == sizes[-1] else f"{count(sizes[0])} to {count(sizes[-1])}"
            shown = word.removesuffix("s") if sizes[-1] == 1 else word
            parts.append(f"{span} {shown}" + (" each" if len(results) > 1 else ""))
    return parts


# Runs may come in hundreds of files, and with hundreds of seeds.
_MOST_FINGERPRINTS = 3
_MOST_NAMES = 10


def sections(framed: Framed, around: Around) -> tuple[Section, ...]:
    """The section "What was read"."""
    section = Section(
        key="inputs",
        title="What was read",
        lead="Inputs, decisions, settings and the machine: what it takes to get the same numbers again.",
        notes=tuple(f"{source.role}: {decision}" for source in framed.inputs for decision in source.decisions or ()),
        parts=(Part(table=_inputs(framed.inputs)), Part(table=_runs(around.answer(InstabilityResult)))),
        small=(_settings(framed), _environment(framed.environment)),
        appendix=True,
    )
    return (section,)


def _inputs(inputs: Sequence[Input]) -> Table:
    rows = tuple(
        {
            **source.to_dict(),
            "dropped": "; ".join(f"{reason}: {count(n)}" for reason, n in (source.dropped or {}).items()),
            "columns": ", ".join(f"{role} = {column}" for role, column in (source.roles or {}).items()),
            "fingerprints": ", ".join(_fingerprints(source.sha256)),
        }
        for source in inputs
    )
    columns = (
        Column("role", "role"),
        Column("name", "file", "data"),
        Column("format", "format"),
        Column("n_read", "rows read", "count"),
        Column("n_rows", "rows kept", "count"),
        Column("dropped", "left out"),
        Column("columns", "columns", "data"),
        Column("fingerprints", "SHA-256", "data"),
    )
    return Table("inputs", "Inputs", columns, rows)


def _fingerprints(found: Sequence[str]) -> list[str]:
    """A dataset may be read from more than one file."""
    left = len(found) - _MOST_FINGERPRINTS
    more = [f"and {left} more in report.json"] if left > 0 else []
    return [*found[:_MOST_FINGERPRINTS], *more]


def _runs(found: InstabilityResult | None) -> Table:
    """A row a set of runs; no rows where nothing says how they were read."""
    rows = tuple(
        {
            **row.to_dict(),
            "seeds": _few(row.seeds),
            "label_names": _few(row.label_names),
            "group_columns": _few(row.group_columns),
        }
        for row in (() if found is None else found.results)
        if row.format
    )
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "dataset", "data"),
        Column("condition", "condition", "data"),
        Column("format", "format"),
        Column("n_runs", "runs", "count"),
        Column("n_checkpoints", "checkpoints", "count"),
        Column("n_examples", "examples", "count"),
        Column("seeds", "seeds", "data"),
        Column("label_names", "labels", "data"),
        Column("group_columns", "groups", "data"),
    )
    return Table("runs", "Runs", columns, rows)


def _few(names: Sequence[str] | None) -> str | None:
    """The first of some names, and how many more there are."""
    if not names:
        return None
    more = f" and {count(len(names) - _MOST_NAMES)} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _settings(framed: Framed) -> Table:
    file = framed.settings_file
    read = [] if file is None else [("settings file", f"{file.name} (SHA-256 {file.sha256})")]
    rows = tuple({"setting": name, "value": value} for name, value in (*read, *_flat(framed.settings)))
    columns = (Column("setting", "setting"), Column("value", "value", "data"))
    # Nearly a hundred lines, of which the verdicts' rules name those that decided.
    return Table("settings", "Settings", columns, rows, folded=True)


def _flat(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            pairs += _flat(value, f"{prefix}{name}.")
        else:
            pairs.append((f"{prefix}{name}", "not set" if value is None else str(value)))
    return pairs


def _environment(own: Environment | None) -> Table:
    pairs = [("goldassay", __version__)]
    if own is not None:
        others = ((name, version) for name, version in own.packages.items() if name != "goldassay")
        pairs += [("python", own.python), ("platform", own.platform), *others]
    rows = tuple({"component": name, "version": value} for name, value in pairs)
    return Table("environment", "Environment", (Column("component", "component"), Column("version", "version")), rows)


_IN_COMMAND = ("premise", "hypothesis", "text", "label", "id")


def reproduction_of(framed: Framed, around: Around, judged: Sequence[str]) -> Reproduction | None:
    """How to get an audit again; None for what is no audit of a dataset, with facts and a verdict on its labels.

    Args:
        framed: What was read, and set.
        around: What was found.
        judged: The questions with a verdict.
    """
    if around.answer(DatasetFacts) is None or not {"artifacts", "leakage"} <= set(judged):
        return None
    seed = one_line(framed.settings.get("seed", 0))
    leakage = around.answer(MeasuredLeakage)
    seeds = () if leakage is None else leakage.seeds
    return Reproduction(
        command=command_of(framed.inputs, seed),
        python=f"goldassay.audit(train, test, seed={seed})",
        settings=changed_settings(framed.settings),
        seeds=(
            f"seed {seed} for everything that draws at random",
            *([f"seeds {', '.join(map(one_line, seeds))} for the models that judge leakage"] if seeds else []),
        ),
    )


def command_of(inputs: Sequence[Input], seed: str) -> str | None:
    """The shell command that gives a report from the same files; None for data that were no files.

    Files are named as the report knows them, without their folders; a dataset of several files by its own name.
    """
    train, test = (next((each for each in inputs if each.role == role), None) for role in ("train", "test"))
    if train is None or not train.files:
        return None
    words = ["goldassay", "audit", _path(train)]
    # A part that was set apart of the training file comes with it.
    if test is not None and test.files and test.sha256 != train.sha256:
        words += ["--test", _path(test)]
    for each in inputs:
        if each.role == "elsewhere":
            words += ["--elsewhere", f"{each.name}={_path(each)}"]
        elif each.role == "runs":
            words += ["--runs", each.name]
    if any(each.align == "intersect" for each in inputs):
        words += ["--align", "intersect"]
    if scale := next((each.grades for each in inputs if each.grades), None):
        # An argument of its own may begin with a minus sign.
        words += [f"--grades={scale}"] if scale.startswith("-") else ["--grades", scale]
    renamed = [f"{role}={column}" for role, column in (train.roles or {}).items() if column != role]
    if renamed := [each for role in _IN_COMMAND for each in renamed if each.startswith(f"{role}=")]:
        words += ["--columns", ",".join(renamed)]
    return " ".join(shlex.quote(one_line(word)) for word in (*words, "--seed", seed))


def changed_settings(settings: Mapping[str, Any]) -> str:
    """What was set otherwise than by default, as the TOML of a settings file; "" where nothing was."""
    return "\n".join(_changed(settings, Settings().model_dump(mode="json"), ()))


def _path(source: Input) -> str:
    return source.files[0] if len(source.files) == 1 else source.name


def _changed(values: Mapping[str, Any], defaults: Mapping[str, Any], table: tuple[str, ...]) -> list[str]:
    """Lines of TOML: a table's own keys first, then the tables in it. The seed is in the command."""
    own, inner = [], []
    for key, value in values.items():
        default = defaults.get(key)
        if isinstance(default, dict):
            inner += _changed(value if isinstance(value, dict) else {}, default, (*table, key))
        elif value is not None and value != default and (table or key != "seed"):
            own.append(f"{key} = {_toml(value)}")
    return ([f"[{'.'.join(table)}]", *own] if own and table else own) + inner


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    # JSON's numbers, truth values and texts are TOML's too; what does not print is escaped as TOML has it.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)


# A label with fewer rows is named: no rate on it is known to better than 30 points.
FEW_ROWS = 10
_MOST_UNREAD = 5
# How sentences on what was read in the place of an evaluation part begin.
NO_TEST_PART = "The data have no test part"


def data_notes(
    train: Dataset | None,
    test: Dataset | None,
    clusters: Clusters | None,
    decisions: Sequence[str] = (),
    elsewhere: Sequence[Dataset] = (),
) -> list[str]:
    """Sentences for the terminal and the top of the page.

    Args:
        train: The training part, if there is one.
        test: The evaluation part, if its texts are known.
        clusters: Of the evaluation part, if its texts are known.
        decisions: How the evaluation part came about.
        elsewhere: Sets of other distributions.
    """
    # Who reads a report alone needs nothing of what reads data.
    from goldassay.data.dataset import UNLABELLED
    from goldassay.data.delimited import QUOTATION
    from goldassay.data.roles import GUESSED

    notes = [said for said in decisions if said.startswith(NO_TEST_PART)]
    if clusters is not None:
        notes.append(clusters.taken)
    parts = [part for part in (train, test, *elsewhere) if part is not None]
    decided = [said for part in parts for said in part.provenance.decisions]
    notes += dict.fromkeys(said for said in decided if said.startswith((QUOTATION, GUESSED, UNLABELLED)))
    notes += unread_notes(name for part in parts for name in part.unread.columns)
    named = {"the data": test} if test is train else {"the training part": train, "the evaluation part": test}
    for name, part in named.items():
        if part is not None and (said := _rare_labels(part)):
            notes.append(f"In {name} {said}.")
    return notes


def unread_notes(columns: Iterable[str]) -> list[str]:
    """What is said of columns that hold texts or lists and have no role; nothing where there are none."""
    unread = list(dict.fromkeys(columns))
    if not unread:
        return []
    several = len(unread) > 1
    return [
        f"Not read: the column{'s' * several} {', '.join(map(repr, unread[:_MOST_UNREAD]))}"
        + (f" and {len(unread) - _MOST_UNREAD} more" if len(unread) > _MOST_UNREAD else "")
        + f", which {'have' if several else 'has'} no role. --columns gives one, or ignore={unread[0]}."
    ]


def _rare_labels(part: Dataset) -> str:
    """What is said of labels with too few rows to be measured; "" where there are none."""
    if not part.label_names:
        return ""
    counts = dict(part.examples["label"].value_counts().iter_rows())
    present = [name for name in part.label_names if counts.get(name)]
    if len(present) == 1:
        return f"all rows have the label {present[0]!r}: nothing can be measured on it"
    rare = [f"{name!r} ({counts[name]})" for name in present if counts[name] < FEW_ROWS]
    if not rare:
        return ""
    shown = ", ".join(rare[:_MOST_UNREAD]) + (
        f" and {len(rare) - _MOST_UNREAD} more" if len(rare) > _MOST_UNREAD else ""
    )
    several = len(rare) > 1
    who = f"{len(rare)} label{'s' * several} {'have' if several else 'has'}"
    return f"{who} fewer than {FEW_ROWS} rows, too few to be measured: {shown}"


def describe_clusters(clusters: Clusters | None) -> dict[str, Any] | None:
    """What the report's document says of the clusters."""
    if clusters is None:
        return None
    return {
        "taken": clusters.taken,
        "columns": list(clusters.columns),
        "n_rows": clusters.n_rows,
        "n_clusters": clusters.n_clusters,
        "effective": clusters.effective,
    }


# Of the rows read; fewer cannot give away as much as a limit for "unsound" where labels are balanced.
MOST_LEFT_OUT = 0.01
# Of the rarest label with as many rows as effects count, if all of them were its own.
MOST_OF_LABEL = 0.05


def left_out_doubts(*parts: Dataset | None) -> list[Doubt]:
    """Why parts of which many rows lack a text are not sound; empty where they do not."""
    found = [
        doubt
        for part in parts
        if part is not None
        for doubt in doubts_of_dropped(
            part.name,
            part.provenance.n_read,
            part.provenance.dropped,
            part.examples["label"].value_counts()["count"].to_list() if part.label_names else [],
        )
    ]
    return list(dict.fromkeys(found))


def doubts_of_dropped(
    name: str, n_read: int, dropped: Mapping[str, int], label_counts: Sequence[int] = ()
) -> list[Doubt]:
    """The same, of what was dropped of `n_read` rows, counted by reason.

    Which label a row without a text had is not kept: all of them may be of the rarest label, which a reader of what is
    missing would then tell by the share n/(n + its rows).

    Args:
        name: Of the part.
        n_read: Rows read.
        dropped: Rows dropped, by reason.
        label_counts: Rows kept of each label.
    """
    from goldassay.data.roles import TEXT_ROLES

    n = sum(rows for reason, rows in dropped.items() if reason in {f"{role} is empty" for role in TEXT_ROLES})
    rarest = min((rows for rows in label_counts if rows + n >= LEAST_ROWS), default=None)
    of_rarest = 0.0 if rarest is None else n / (n + rarest)
    if n <= MOST_LEFT_OUT * n_read and of_rarest < MOST_OF_LABEL:
        return []
    rare = "" if n > MOST_LEFT_OUT * n_read else f"; of the rarest label they may be {percent(of_rarest)}"
    return [
        Doubt(
            f"{count(n)} of the {count(n_read)} rows of {name} ({percent(n / n_read)}) lack a text and were left out: "
            f"which rows these are may tell the label{rare}.",
            "Fill in the missing texts, or take these rows out of the benchmark.",
        )
    ]
