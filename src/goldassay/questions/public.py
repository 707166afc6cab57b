"""What every user calls first, in Python and in a shell: `look`, `audit`, `check`, `diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from goldassay.core.commands import command
from goldassay.core.options import (
    Align,
    AnyPath,
    Clusters,
    Columns,
    ColumnsOf,
    Corpus,
    Croissant,
    Elsewhere,
    Field,
    Format,
    Grades,
    Inputs,
    LabelNames,
    Labels,
    Missing,
    Model,
    NamedRunPaths,
    NamedTest,
    Out,
    Policy,
    PoolConfigurations,
    Quiet,
    Seed,
    SettingsOrFile,
    SplitBy,
    ValueMap,
    place,
)
from goldassay.questions.run_choice import RunChoice, by_ids

if TYPE_CHECKING:
    from goldassay.gate.check import Check
    from goldassay.questions.gating import ReportDiff
    from goldassay.questions.look import Look
    from goldassay.report.report import Report


@command()
def look(
    data: Annotated[Any, place("Data, runs or a board: files of one kind, or a folder.", "PATH...", repeat=True)],
    *,
    columns: Columns = None,
    map: ValueMap = None,  # noqa: A002
    format: Format = "auto",  # noqa: A002
) -> Look:
    """Say what a file holds, which column plays which role, what is not read, and what can be asked of it.

    Compares the columns with each kind of data and runs. Nothing is measured and nothing is written; of a large file
    the first rows are read. The last line is the command to type next.

    The roles that --columns ROLE=NAME gives to columns:

      texts         premise, hypothesis, text, label
      choices       choices, answer, question, passage
      preferences   chosen, rejected; or responses, winner; tie, prompt
      judgments     winner or seat, tie, order, item, judge, a, b, people, prompt;
                    or score, people, item, judge, system, probability
      predictions   example_id, prediction, seed, score, logits, features, label,
                    model, dataset, checkpoint, configuration
      boards        system, item, score, answer, prediction, run
      any rows      id, group, split, ignore, weight, date

    Note:
        Data are a path, several paths of one kind, a `Dataset`, or a table in memory.

    Returns:
        What was recognized.

    Raises:
        InputError: Nothing was given, a file cannot be read, or the files are of several kinds.
    """
    from goldassay.data.roles import with_values
    from goldassay.questions.look import look_at

    return look_at(data, with_values(columns, map), format)


@command()
def audit(
    train: Inputs,
    test: NamedTest = None,
    runs: NamedRunPaths = None,
    elsewhere: Elsewhere = None,
    corpus: Corpus = None,
    seed: Seed = None,
    *,
    field: Field = "text",
    model: Model = None,
    out: Out = None,
    columns: Columns = None,
    columns_of: ColumnsOf = None,
    map: ValueMap = None,  # noqa: A002
    clusters: Clusters = None,
    split_by: SplitBy = None,
    label_names: LabelNames = None,
    labels: Labels = None,
    format: Format = "auto",  # noqa: A002
    pool_configurations: PoolConfigurations = False,
    align: Align = "exact",
    missing: Missing = "auto",
    grades: Grades = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
) -> Report:
    """Audit a benchmark: can its labels be guessed by a shortcut, and would a score on it hold?

    Takes labelled texts, items with choices, preferences and judgments; and runs alone or a board of systems, of which
    the questions about runs are asked: instability, comparison, board, sensitivity. goldassay look PATH says which.

    Reads the data, searches the training part for word patterns that give the label away, trains small quick
    models that may see only a part of each input; with --runs measures how much the score moves from seed to
    seed, with --elsewhere what it loses on other distributions, and with --corpus whether the test set is in what
    was trained on. Without --test the data's own test part is used, or every row is scored once by five folds; of over
    100,000 rows, and with --model, a fifth is split off. With --model a network judges leakage in place of the quick
    models; it needs goldassay[train].
    Writes report.html (open it in a browser), report.json, report.md and the tables and figures behind them,
    and prints a summary: a verdict for each question (sound, caution, unsound, not measurable) with the
    figure that decided it, and what to add for a question that was not asked.

      goldassay audit train.jsonl --test test.jsonl
      goldassay audit train.jsonl --test test.jsonl --runs runs --elsewhere far=far.jsonl
      goldassay audit logs

    The quick models need no GPU and about a minute for 20,000 rows. They set a lower bound: what they can
    read from a part of the input, a stronger model can read too.

    Note:
        Data are a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of dicts;
        sets from elsewhere {name: data} or a list. Runs are paths, each of which may be NAME=PATH, `Runs`, or tables
        with a row a prediction; {name of the dataset: one of these}, or several. Quick probes are kept in `out/runs`,
        without `out` only until the report is made.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: The data cannot be read or audited; the message says where and how to mend it.
    """
    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_own, with_values
    from goldassay.questions.audit import study_audit
    from goldassay.questions.inputs import input_names
    from goldassay.questions.leakage.item_loading import ItemReading
    from goldassay.questions.overlap.search.scan import CorpusChoice, placed_corpus

    if isinstance(train, list) and len(train) == 1 and isinstance(train[0], str):
        train = train[0]
    settings = chosen(settings, seed, clusters=clusters, split_by=split_by)
    # The score that is reported is that of a run's last checkpoint.
    choice = RunChoice(
        checkpoint="last",
        pool_configurations=pool_configurations,
        align=by_ids(align),
        missing=missing,
        grades=grades,
        labels=labels,
        label_names=label_names,
    )
    roles = with_own(with_values(columns, map), columns_of, input_names(elsewhere))
    reading = ItemReading(roles, format, settings.data.clusters, settings.data.split_by, label_names)
    with placed_corpus(corpus) as places:
        searched = CorpusChoice(tuple(places), field)
        return study_audit(
            train, test, runs, elsewhere, searched, choice, reading, settings, model=model, out=out, quiet=quiet
        )


@command()
def check(
    reports: Annotated[
        Any,
        place(
            "A report.json that any command wrote, or its folder; several are judged together.",
            "REPORT...",
            repeat=True,
        ),
    ],
    policy: Policy = None,
) -> Check:
    """Hold a report against the policy in goldassay.toml, for CI and for pre-commit.

      [policy]
      max_single_sentence_improvement = 0.05     # fractions: 5 points
      max_easy_share = 0.2
      min_runs = { limit = 5, optional = true }  # passes where no runs were given
      worst_verdict = "caution"

    Prints one line for each rule that is broken and exits with 1, or with 0 where none is; with 2 where the report or
    the policy cannot be read, or the report was edited. A measure that the reports lack breaks its rule, unless the
    rule is optional.

    Note:
        Reports are `Report`, files or folders; the policy is a settings file, or the table [policy] as a mapping, such
        as {"max_easy_share": 0.2}.

    Returns:
        What became of each rule; `.passed` says whether none is broken.

    Raises:
        InputError: A report or the policy cannot be read, a report was edited, or the policy demands nothing.
    """
    from goldassay.questions import gating

    return gating.check(reports, policy)


@command()
def diff(
    before: Annotated[AnyPath, place("A report.json that any command wrote, or its folder.", "BEFORE")],
    after: Annotated[AnyPath, place("A later report of the same command.", "AFTER")],
) -> ReportDiff:
    """Lay two reports side by side, before and after a dataset was mended or a model changed.

    Says how each measure changed, with an interval of the change; which verdicts moved; which patterns are gone and
    which are new. The interval is paired where two reports with a row for each example evaluate on the same test file,
    else made from the intervals of the two reports, and each row says which. Reports of different questions, labels or
    texts are refused; other commands, versions, data or settings are named.

    Writes diff.html, diff.json, diff.md, tables and a figure.

    Returns:
        What changed; `.save(directory)` writes it.

    Raises:
        InputError: A report cannot be read or was edited, or the two are not about the same thing.
    """
    from goldassay.questions import gating

    return gating.diff(before, after)


@command()
def paste(
    report: Annotated[AnyPath, place("A report.json that any command wrote, or its folder.", "REPORT")],
    croissant: Croissant = None,
) -> str:
    """Print a report in twelve lines of Markdown, for an issue, a pull request or the appendix of a paper.

    The lines hold each verdict with its figure and 95 % interval, the command, the version, and the digest of the
    report. With --croissant, write what was measured into the responsible AI fields of a Croissant file.

    Returns:
        The Markdown.

    Raises:
        InputError: The report cannot be read or was edited, or the file is no Croissant file.
        OutputError: The Croissant file cannot be written.
    """
    from pathlib import Path

    from goldassay.core.files import check_not_read
    from goldassay.gate.reading import read_report
    from goldassay.questions.exports import render_paste, write_croissant

    read = read_report(report)
    if croissant is not None:
        check_not_read(Path(croissant), [read.path], "--croissant")
        write_croissant(read.parsed, Path(croissant))
    return render_paste(read.parsed)
