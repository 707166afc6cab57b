"""What commands print and write as JSON: the results of questions that answer with a report."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import typer

from goldassay.cli.output import Output, as_text, settings_lines, write_json
from goldassay.core.errors import one_line
from goldassay.core.numbers import UNDEFINED, count, points, signed_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goldassay.core.results import Verdict
    from goldassay.gate.check import Check
    from goldassay.questions.answered.question import Answered
    from goldassay.questions.answered.result import AnsweredRow
    from goldassay.questions.board.result import BoardResult
    from goldassay.questions.comparison.comparing import ModelComparison, ModelComparisons
    from goldassay.questions.comparison.suites import SuiteComparison
    from goldassay.questions.gating import ReportDiff
    from goldassay.questions.instability.measures.comparison import Comparison
    from goldassay.questions.instability.measures.suites import TotalComparison
    from goldassay.questions.look import Look
    from goldassay.questions.overlap.result import OverlapResult
    from goldassay.questions.run_scores import ScoredRuns, ScoredSet
    from goldassay.questions.sensitivity.measuring import ModelSensitivity, SensitivityStudy
    from goldassay.report.report import Report

# Of more models a line for each difference is more than anybody reads, of three models one for each of more datasets.
MOST_MODELS, _MOST_DATASETS, _MOST_NOTES = 12, 8, 8
# Systems of a board that the terminal shows, and rows of scores; --json and the page have all.
_MOST_SYSTEMS, _MOST_SCORES = 12, 60


def show_summary(report: Report, output: Output) -> None:
    """Write a report and print its verdicts."""
    from goldassay.questions.board.page import item_lines
    from goldassay.questions.board.result import BoardResult
    from goldassay.questions.cutoff.page import cutoff_lines
    from goldassay.questions.cutoff.result import CutoffResult
    from goldassay.questions.discount.page import discount_lines
    from goldassay.questions.discount.result import DiscountResult

    further = [
        *item_lines(report.answer(BoardResult)),
        *discount_lines(report.answer(DiscountResult)),
        *cutoff_lines(report.answer(CutoffResult)),
    ]
    output.show_report(report, [report.summary(), *further])


def show_leakage(report: Report, output: Output) -> None:
    """The same of several datasets, whose reports lie in folders of their names, with what is for papers."""
    if output.out is not None and (output.figures or output.latex or output.paper_tables or output.no_texts):
        for name, each in (report.result or {}).items():
            output.save(each.without_texts() if output.no_texts else each, output.out / name)
    show_summary(report, output)


def show_answered(report: Report, output: Output) -> None:
    """Write what became of the answers, and print it."""
    lines = _answered(report.result)
    output.show_report(report, [*settings_lines(output.settings), *lines], as_text(report.result.found.to_dict()))


def _answered(study: Answered) -> Iterator[str]:
    from goldassay.questions.answered.degenerate import describe_degenerate
    from goldassay.questions.answered.page import sentences

    found = study.found
    yield f"Answers  {study.verdict.verdict.upper()}"
    yield f"  {study.verdict.evidence}"
    yield f"  → {study.verdict.next_step}"
    yield from (f"- {note}" for note in study.verdict.notes)
    head = ["model", "dataset", "run", "verdict", "scored", "wrong", "scored only", "all right", "the log's own"]
    worst = sorted(found.runs, key=lambda row: -row.unscored_share)
    rows = [
        [
            row.model, row.dataset, row.run, row.word, f"{row.n_scored:,} of {row.n_items:,}", points(row.wrong, 2),
            points(row.scored_only, 2), points(row.all_right, 2),
            "" if row.reported is None else f"{points(row.reported, 2)} ({row.reported_rule})",
        ]
        for row in worst[:_MOST_SCORES]
    ]  # fmt: skip
    yield ""
    yield from aligned([head, *rows])
    yield ""
    for pair in found.pairs[:_MOST_NOTES]:
        yield (
            f"order  {pair.a} - {pair.b}: {signed_points(pair.wrong)} with what is missing as wrong, "
            f"{signed_points(pair.scored_only)} by the scored answers"
        )
    for named in found.degenerate[:_MOST_NOTES]:
        yield f"unsound  {describe_degenerate(named)}"
    for each in found.trials:
        own = [row for row in found.passes if (row.model, row.dataset) == (each.model, each.dataset)]
        least = "" if each.n_trials_least == each.n_trials else f"{each.n_trials_least} to "
        yield (
            f"trials  {each.model} on {each.dataset}: {least}{each.n_trials} at each of {each.n_items:,} items, "
            f"{each.n_flip:,} items flip"
        )
        if each.error is not None and each.error_trials is not None and each.error_items is not None:
            yield (
                f"        standard error {points(each.error, 2)}; with twice the attempts "
                f"{points(each.error_trials, 2)}, with twice the items {points(each.error_items, 2)}"
            )
        for name in ("pass_at", "pass_all"):
            shown = ", ".join(
                f"{row.k}: {points(getattr(row, name), 1)}"
                + (f" ({row.n_items:,} of {each.n_items:,})" if row.n_items < each.n_items else "")
                for row in own
            )
            yield f"        {'pass@k' if name == 'pass_at' else 'pass^k'}  {shown}"
    for said in (*sentences(found), *found.notes):
        yield f"note  {said}"


def denominator_lines(rows: Sequence[AnsweredRow]) -> list[str]:
    """How many answers of each model and dataset have a score, and what the others are; none where all have one."""
    from goldassay.runs.statuses import N_SCORED, STATUSES

    by_set: dict[tuple[str, str], list[AnsweredRow]] = {}
    for row in rows:
        by_set.setdefault((row.model, row.dataset), []).append(row)
    lines = []
    for (model, dataset), own in by_set.items():
        n, n_scored = sum(row.n_items for row in own), sum(row.n_scored for row in own)
        counts = {status: sum(getattr(row, status) for row in own) for status in STATUSES[N_SCORED:]}
        others = ", ".join(f"{count(number)} {status}" for status, number in counts.items() if number)
        if n_scored < n:
            lines.append(f"answers  {model} on {dataset}: {count(n_scored)} of {count(n)} have a score; {others}")
    return lines


def show_sensitivity(report: Report, output: Output) -> None:
    """Write sensitivity, and print a block a model."""
    limits = report.judged["sensitivity"].limits or ""
    lines = _sensitivity(report.result, output.given.get("claim"), limits)
    output.show_report(report, [*settings_lines(output.settings), *lines], as_text(report.result.to_dict()))


def show_board(report: Report, output: Output) -> None:
    """Write a board, and print its first places."""
    from goldassay.questions.board.result import BoardResult
    from goldassay.questions.cutoff.page import cutoff_lines, with_cutoff
    from goldassay.questions.cutoff.result import CutoffResult
    from goldassay.questions.discount.page import discount_lines, with_discount
    from goldassay.questions.discount.result import DiscountResult

    ranked, discounted = report.answer(BoardResult), report.answer(DiscountResult)
    assert ranked is not None
    parted = report.answer(CutoffResult)
    lines = [*settings_lines(output.settings), *_board(ranked), *discount_lines(discounted), *cutoff_lines(parted)]
    plain = with_cutoff(with_discount(report.result.to_dict(), discounted), parted)
    output.show_report(report, lines, as_text(plain))


def show_overlap(report: Report, output: Output) -> None:
    """Write overlap, and print how many items stand in the corpus."""
    from goldassay.questions.overlap.page import PAGE
    from goldassay.questions.overlap.result import OverlapResult

    found = report.answer(OverlapResult)
    assert found is not None
    lines = [*settings_lines(output.settings), *_overlap(found, report.judged["overlap"])]
    output.show_report(report, lines, as_text(PAGE.plain(found)))
    if output.no_texts and output.out is not None:
        # What a killed search would go on with quotes the corpus.
        rmtree(output.out / "shards", ignore_errors=True)


def show_look(found: Look, output: Output) -> None:
    """Print what a file is, and the command to type next."""
    if output.json is not None:
        write_json(output.json, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    output.show(_look_lines(found))


def _look_lines(found: Look) -> list[str]:
    rows = "" if found.n_rows is None else f", {count(found.n_rows)} rows" + (" read of more" * found.is_sample)
    what = f"{found.kind} ({found.format}{rows})" if found.kind else f"of no kind: {found.problem}"
    lines = [f"{', '.join(found.paths)}: {what}"]
    lines += [f"  {line}" for line in aligned([(role, column) for role, column in found.roles.items()] or [("", "")])]
    if found.unread:
        lines.append(f"  not read: {', '.join(found.unread)}")
    if found.unused:
        lines.append(f"  not used: {', '.join(found.unused)}")
    lines += [f"  against it: {each}" for each in found.against]
    lines += [f"  {each}" for each in found.decisions]
    if not found.kind:
        lines += [f"  {each.kind} {'fit' if each.fits else 'lack ' + ', '.join(each.lacks)}" for each in found.kinds]
    asked = [each.title for each in found.questions if each.is_asked]
    lines.append(f"An audit asks: {', '.join(asked) if asked else 'nothing yet'}")
    said = "; ".join(found.against)
    missing = [(each.title, each.lacks) for each in found.questions if not each.is_asked and each.lacks != said]
    lines += [f"  {line}" for line in aligned(missing)] if missing else []
    return [line for line in lines if line.strip()] + ([f"Next: {found.command}"] if found.command else [])


def show_check(found: Check, output: Output) -> None:
    """Print the rules that are not kept, and exit with 1 where one is broken, or inconclusive and not let pass."""
    inputs = [Path(report["path"]) for report in found.reports]
    if (junit := output.given.get("junit")) is not None:
        from goldassay.gate.check import to_junit

        write_json(junit, to_junit(found), "--junit", inputs)
    if output.json is not None:
        text = json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        write_json(output.json, text.encode("utf-8", "backslashreplace").decode("utf-8"), inputs=inputs)
    for outcome in found.outcomes:
        if outcome.status in ("broken", "inconclusive") or (outcome.status == "skipped" and not output.quiet):
            typer.echo(f"{outcome.status:<12} {one_line(outcome.line)}")
    # Whoever loosens a limit makes a verdict pass: no gate may be quiet about that.
    for note in found.notes:
        typer.echo(f"{'note':<12} {one_line(note)}")
    if not found.passed:
        raise typer.Exit(1)
    kept = sum(outcome.status == "kept" for outcome in found.outcomes)
    output.show([f"{kept} rule{'' if kept == 1 else 's'} of {one_line(found.policy)} kept, none broken"])


def show_paste(markdown: str, _output: Output) -> None:
    """Print what is to be pasted."""
    typer.echo(markdown)


def show_diff(found: ReportDiff, output: Output) -> None:
    """Write what changed from one report to another, and print it."""
    page = found.save(output.out or Path())
    if output.json is not None:
        inputs = [Path(found.document[side]["path"]) for side in ("before", "after")]
        write_json(output.json, found.to_json(), inputs=inputs)
    output.show([found.summary(), str(page)])


def show_comparison(report: Report, output: Output) -> None:
    """Write a comparison, and print the differences."""
    from goldassay.questions.cutoff.page import cutoff_lines, with_cutoff
    from goldassay.questions.cutoff.result import CutoffResult
    from goldassay.questions.discount.page import discount_lines, with_discount
    from goldassay.questions.discount.result import DiscountResult

    found, discounted = report.result, report.answer(DiscountResult)
    parted = report.answer(CutoffResult)
    further = [*discount_lines(discounted), *cutoff_lines(parted)]
    lines = [*settings_lines(output.settings), *comparison_lines(found), *further]
    output.show_report(report, lines, as_text(with_cutoff(with_discount(_result_of(found), discounted), parted)))


def score_lines(found: ScoredRuns) -> list[str]:
    """The scores for people, in points."""
    from goldassay.runs.grades import describe_grades
    from goldassay.runs.traits import weighted

    head = ["dataset", "model", "score", "95 % over examples", "95 % over runs", "SD", "runs", "examples"]
    rows = [
        [
            each.dataset if each.condition in ("paired", "") else f"{each.dataset} ({each.condition})",
            each.model,
            points(each.mean, 2) + weighted(each.weighted_by, each.unweighted) + _of_examples(each),
            _interval(each.examples_low, each.examples_high),
            _interval(each.runs_low, each.runs_high),
            points(each.sd, 2),
            count(each.n_runs),
            count(each.n_examples),
        ]
        for each in found.sets
    ]
    lines = aligned([head, *rows[:_MOST_SCORES]])
    if len(rows) > _MOST_SCORES:
        lines.append(f"and {len(rows) - _MOST_SCORES} more: --json FILE has all")
    lines += [
        f"left out  {each.model} on {each.dataset}: {each.reason}" if each.model else f"left out  {each.reason}"
        for each in found.unread
    ]
    if found.comparison is not None:
        return [*lines, "", *comparison_lines(found.comparison)]
    # A comparison says these of its models itself.
    lines += [f"note  {said}" for each in found.sets for said in each.notes]
    for scale in dict.fromkeys(each.grades for each in found.sets if each.grades is not None):
        means = {f"{each.model} on {each.dataset}": each.mean for each in found.sets if each.grades == scale}
        lines.append(f"note  {describe_grades(means, scale)}")
    return [*lines, "", f"no comparison: {found.uncompared}"]


def _of_examples(each: ScoredSet) -> str:
    """How many answers a score is of, where some have none; and how many examples, where others have more."""
    part = f"{count(each.n_examples)} of {count(each.n_asked)}" if each.n_examples < each.n_asked else ""
    if each.scored_only is not None:
        n = each.n_runs * each.n_examples
        scored = f"{count(each.n_scored)} of {count(n)} scored: {points(each.scored_only, 2)}"
        return f" ({scored}{f'; {part} examples' if part else ''})"
    return f" ({part})" if part else ""


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, numbers to the right."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    numeric = [all(row[i].replace(",", "").isdigit() for row in table[1:]) for i in range(len(table[0]))]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in table
    ]


def comparison_lines(compared: ModelComparisons | SuiteComparison) -> list[str]:
    """The comparison for people, in points."""
    from goldassay.questions.comparison.suites import SuiteComparison

    if isinstance(compared, SuiteComparison):
        return _suite(compared)
    return _lines(compared.pairs[0]) if len(compared.names) == 2 else _overview(compared)


def _result_of(compared: ModelComparisons | SuiteComparison) -> dict[str, Any]:
    """The comparison as plain data; of two models on one dataset that of the pair."""
    from goldassay.questions.comparison.suites import SuiteComparison

    if isinstance(compared, SuiteComparison) or len(compared.names) > 2:
        return compared.to_dict()
    return compared.pairs[0].to_dict()


def _overview(found: ModelComparisons) -> list[str]:
    """Several models for people, in points: how they score, and which cannot be told apart."""
    from goldassay.questions.comparison.sentences import describe_margin, listed, over
    from goldassay.runs.traits import weighted

    rows = zip(found.names, found.means, found.sds, found.models, found.unweighted, strict=True)
    lines = [f"{len(found.names)} models on {found.models[0].n_examples:,} examples of {found.models[0].dataset}"]
    differ = [(pair.a, pair.b) for pair, p in zip(found.pairs, found.adjusted_p, strict=True) if p <= found.alpha]
    shown = {
        name: _side(mean, spread, runs.n_runs, weighted(runs.weighted_by, plain), "attempt" if runs.dealt else "run")
        for name, mean, spread, runs, plain in sorted(rows, key=lambda row: -row[1])
    }
    lines += _ranked(shown, differ, found.of_models)
    which = "models" if found.of_models else "runs"
    noise = f"noise of {over(found.pairs[0])}, Holm's correction at {found.alpha:g}"
    lines += ["", f"{which} that cannot be ranked ({noise}):"]
    lines += [f"  {listed(group)}" for group in found.groups if len(group) > 1] or ["  none: each differs from each"]
    if len(found.names) > MOST_MODELS:
        lines += ["", f"differences: {len(differ):,} of {len(found.pairs):,}; all of them with --json FILE or -o DIR"]
        return [*lines, *_settled(found)]
    lines += ["", "differences:"]
    wide = max(len(f"{pair.a} - {pair.b}") for pair in found.pairs)
    for pair, p in zip(found.pairs, found.adjusted_p, strict=True):
        low, high = pair.comparison.interval.low, pair.comparison.interval.high
        lines.append(
            f"  {f'{pair.a} - {pair.b}':<{wide}}  {signed_points(pair.comparison.difference)} "
            f"[{signed_points(low)}, {signed_points(high)}]  {_p(p)}"
        )
        if pair.equivalence is not None:
            lines += [f"  {'':<{wide}}  {describe_margin(pair.equivalence, pair.comparison.of_models)}"]
    return [*lines, *_settled(found)]


def _settled(found: ModelComparisons) -> list[str]:
    """What would settle which model is best, and the notes."""
    from goldassay.questions.comparison.sentences import settle_top

    settled = settle_top(found)
    notes = dict.fromkeys((*found.notes, *(said for pair in found.pairs for said in pair.comparison.caveats)))
    return [*(["", f"settle it  {settled}"] if settled else []), *(f"note  {note}" for note in notes)]


def _ranked(shown: Mapping[str, str], differ: Sequence[tuple[str, str]], of_models: bool) -> list[str]:
    """A line a model, the best first: what is shown of it, and between which ranks it surely lies."""
    width, n = max(map(len, shown)), len(shown)
    better, worse = Counter(b for _, b in differ), Counter(a for a, _ in differ)
    ahead = "better than" if of_models else "run ahead of"
    return [
        f"  {name:<{width}}  {said}; {ahead} {worse[name]}; {_places(1 + better[name], n - worse[name])}"
        for name, said in shown.items()
    ]


def _places(low: int, high: int) -> str:
    return f"place {low}" if low == high else f"place {low} to {high}"


def _suite(found: SuiteComparison) -> list[str]:
    """Models on several datasets for people, in points."""
    from goldassay.questions.comparison.sentences import conclude_suite, describe_margin, listed, other_disagreements

    differ = [(pair.a, pair.b) for pair in found.pairs if pair.adjusted_p <= found.alpha]
    # Of two models as they were given, the one that is ahead may be the second.
    differ = [(a, b) if found.means[a][0] >= found.means[b][0] else (b, a) for a, b in differ]
    best_first = sorted(found.means.items(), key=lambda item: -item[1][0])
    shown = {
        name: f"{points(macro, 2)} points over datasets, {points(micro, 2)} over examples"
        for name, (macro, micro) in best_first
    }
    lines = [
        f"{len(found.names)} models on {len(found.datasets)} datasets, {found.n_examples:,} examples"
        + (f", weighted by {found.weighted_by}" if found.weighted_by else ""),
        *_ranked(shown, differ, found.of_models),
        f"{conclude_suite(found.pairs[0], found.alpha)}.",
        *other_disagreements(found),
    ]
    if len(found.names) > 2:
        lines += [f"cannot be ranked: {listed(group)}" for group in found.groups if len(group) > 1]
    for pair in found.pairs:
        lines += ["", f"{pair.a} - {pair.b}"]
        wide = max(len(each.dataset) for each in pair.on)
        wide = max(wide, len("mean of the examples"))
        rows = (
            ("mean of the datasets", pair.macro, pair.adjusted_p),
            ("mean of the examples", pair.micro, pair.micro_adjusted_p),
        )
        lines += [f"  {name:<{wide}}  {_difference(total)}  {_p(p)}" for name, total, p in rows]
        if pair.equivalence is not None:
            lines.append(f"  {'equivalence':<{wide}}  {describe_margin(pair.equivalence, pair.macro.of_models)}")
        if len(found.names) == 2 or len(found.datasets) <= _MOST_DATASETS:
            for each, p in zip(pair.on, pair.dataset_p, strict=True):
                n = each.comparison.n_examples
                lines.append(f"  {each.dataset:<{wide}}  {_difference(each.comparison)}  {_p(p)}, {n:,} examples")
    over = "runs and examples" if found.of_models else "examples"
    corrected = f"p of datasets after Holm's correction over {len(found.datasets)} datasets"
    if len(found.pairs) > 1:
        corrected = f"p after Holm's correction, of means over {len(found.pairs)} pairs, of datasets over " + (
            f"{len(found.datasets)} datasets"
        )
    lines += ["", f"note  Noise of {over}; {corrected}; intervals of 95 %."]
    lines += [f"note  {note}" for note in found.notes[:_MOST_NOTES]]
    more = len(found.notes) - _MOST_NOTES
    return [*lines, f"note  {more} more are in the report: -o DIR"] if more > 0 else lines


def _difference(found: Comparison | TotalComparison) -> str:
    low, high = found.interval.low, found.interval.high
    return f"{signed_points(found.difference):>6} [{signed_points(low)}, {signed_points(high)}]"


def _lines(found: ModelComparison) -> list[str]:
    """The comparison for people, in points."""
    from goldassay.questions.comparison.sentences import conclude, describe_margin, distinguishable, settle
    from goldassay.runs.traits import weighted

    result = found.comparison
    low, high = result.interval.low, result.interval.high
    over = result.interval.method.partition("over ")[2]
    if result.n_clusters is not None:
        over = over.replace("examples", "clusters")
    runs = "attempt" if found.dealt else "run"
    over = over.replace("runs and", f"{runs}s and")
    shown = [weighted(found.weighted_by, each) for each in found.unweighted or (None, None)]
    lines = [
        f"A  {found.a}: {_side(result.mean_a, found.sd_a, result.n_runs_a, shown[0], runs)}",
        f"B  {found.b}: {_side(result.mean_b, found.sd_b, result.n_runs_b, shown[1], runs)}",
        f"{conclude(found)}.",
        "",
        f"difference A - B   {signed_points(result.difference)} points [{signed_points(low)}, {signed_points(high)}] "
        f"({result.interval.level:.0%} interval over {over}, {result.interval.method.partition(',')[0]})",
        f"noise              {_noise(found, runs)}",
        f"p-value            {_p(result.p_value)} over {over} ({result.test})"
        if result.counts
        else f"p-values           {_p(result.p_value)} over {over}; "
        f"{_p(result.p_examples)} over {_units(found)} alone ({result.test})",
    ]
    if max(result.n_runs_a, result.n_runs_b) > 1 and not found.dealt:
        lines.append(f"P(A > B)           {_chance(found)}")
    lines.append(f"could be shown     {points(found.plan.detectable_difference, 2)} points, four times out of five")
    if found.equivalence is not None:
        lines.append(f"equivalence        {describe_margin(found.equivalence, result.of_models)}")
    if result.of_models and not found.dealt:
        lines.append(f"seeds              {_seeds(found)}")
    if not distinguishable(found):
        lines.append(f"settle it          {settle(found)}")
    lines += [f"note               {note}" for note in (*found.notes, *result.caveats)]
    return lines


def _chance(found: ModelComparison) -> str:
    """That a run of A scores higher than one of B, with what its interval leaves open."""
    from goldassay.questions.comparison.sentences import distinguishable

    result = found.comparison
    low, high = result.probability_interval.low, result.probability_interval.high
    shown = f"{result.probability_better:.0%} [{low:.0%}, {high:.0%}] of the pairs of a run of each, on these examples"
    if not (low > 0.5 or high < 0.5):
        return f"{shown}: open"
    return shown if distinguishable(found) else f"{shown} alone"


def _side(mean: float, sd: float, runs: int, weighted: str = "", called: str = "run") -> str:
    spread = "" if math.isnan(sd) else f", SD {100 * sd:.2f}"
    return f"{100 * mean:.2f} points{weighted}{spread}, {runs} {called}{'s' if runs > 1 else ''}"


def _units(found: ModelComparison) -> str:
    result = found.comparison
    return "examples" if result.n_clusters is None else f"{result.n_clusters:,} clusters ({found.clusters})"


def _noise(found: ModelComparison, runs: str) -> str:
    result = found.comparison
    whole = f"SD {_root(result.var_total)} points in all"
    if not result.of_models:
        return f"{whole}: {_units(found)} {_root(result.var_examples)}, {runs}s unknown"
    own = _root(result.var_total - result.example_variance)
    parts = f"{_units(found)} {_root(result.example_variance)}, {runs}s {own}"
    share = "" if math.isnan(result.share_runs) else f" ({result.share_runs:.0%} of the variance is the {runs}s')"
    return f"{whole}: {parts}{share}"


def _root(variance: float) -> str:
    return f"{100 * math.sqrt(variance):.2f}"


def _seeds(found: ModelComparison) -> str:
    plan, runs = found.plan, min(found.comparison.n_runs_a, found.comparison.n_runs_b)
    shown = f"{runs} of each can show {100 * plan.smallest_difference:.2f} points on these examples (power 80 %)"
    if plan.seeds_needed is None:
        return shown
    span = f"{_count(plan.seeds_needed_low)} to {_count(plan.seeds_needed_high)}"
    return f"{shown}; on others too, a difference of this size takes {plan.seeds_needed:,} of each ({span})"


def _count(value: int | None) -> str:
    return "no number" if value is None else f"{value:,}"


def _p(value: float) -> str:
    return "p < 0.0001" if value < 1e-4 else f"p = {value:.4f}"


def _interval(low: float | None, high: float | None) -> str:
    return UNDEFINED if low is None or high is None else f"[{points(low, 2)}, {points(high, 2)}]"


def _board(found: BoardResult) -> Iterator[str]:
    from goldassay.questions.board.page import ranks_of, sentences

    rows = found.systems
    width = max(len(row.system) for row in rows[:_MOST_SYSTEMS])
    yield f"{'place':>5}  {'system':<{width}}  {'score':>6}  {'95 % interval':<16}  ranks it may have"
    for row in rows[:_MOST_SYSTEMS]:
        interval = f"[{100 * row.low:.2f}, {100 * row.high:.2f}]"
        yield f"{row.place:>5}  {row.system:<{width}}  {100 * row.score:>6.2f}  {interval:<16}  {ranks_of(row)}"
    if len(rows) > _MOST_SYSTEMS:
        yield f"       and {len(rows) - _MOST_SYSTEMS} more: -o DIR writes all"
    for said in (*sentences(found), *found.notes):
        yield f"- {said}"


def _sensitivity(found: SensitivityStudy, claim: float | None, limits: str) -> Iterator[str]:
    yield f"Sensitivity  {found.verdict.verdict.upper()}"
    yield f"  {found.verdict.evidence} {limits}".rstrip()
    yield f"  → {found.verdict.next_step}"
    yield from (f"- {note}" for note in found.verdict.notes)
    for each in found.models:
        yield ""
        yield from _of_model(each, claim)
    if found.n_pairs:
        yield ""
        yield f"order: {found.n_changed} of {found.n_pairs} pairs of models change it with the configuration"
    if found.single_configuration:
        yield f"left out, with one configuration: {', '.join(found.single_configuration[:8])}"


def _of_model(each: ModelSensitivity, claim: float | None) -> Iterator[str]:
    from goldassay.questions.sensitivity.page import describe_claim

    spread = each.spread
    least, most = min(spread.n_repeats), max(spread.n_repeats)
    repeats = f"{least} to {most} runs" if least < most else f"{most} run{'s' * (most > 1)}"
    shape = f"{len(spread.means)} configurations of {repeats}, {spread.n_examples:,} examples"
    yield f"{each.model} on {each.dataset}: {shape}"
    rows = {
        "differ in": ", ".join(each.settings[:8]),
        "SD": f"{_points(spread.sd)} points [{_points(spread.sd_interval.low)}, {_points(spread.sd_interval.high)}]"
        + ("" if spread.repeat_sd is None else f", over repeats {_points(spread.repeat_sd)}")
        + ("" if spread.separable else ", repeats included"),
    }
    low, high = spread.range_interval.low, spread.range_interval.high
    rows["range"] = f"{_points(spread.range)} points [{_points(low)}, {_points(high)}] over examples"
    for name, at, other in (("best", spread.best, spread.best_score), ("worst", spread.worst, spread.worst_score)):
        rows[name] = (
            f"{each.configurations[at]}: {_points(spread.means[at])} points; picked on other examples "
            f"{_points(other.mean)} [{_points(other.interval.low)}, {_points(other.interval.high)}]"
        )
    if claim is not None and (said := describe_claim(each)):
        rows["claim"] = f"{claim:g} points: {said}"
    for name, value in rows.items():
        yield f"  {name:<10} {value}"
    yield from (f"  note       {said}" for said in each.notes[:_MOST_NOTES])
    if len(each.notes) > _MOST_NOTES:
        yield f"  and {len(each.notes) - _MOST_NOTES} more notes: -o DIR has all"


def _points(share: float) -> str:
    return f"{100 * share:.2f}"


def _overlap(found: OverlapResult, verdict: Verdict) -> Iterator[str]:
    yield f"overlap: {verdict.verdict}"
    yield f"- {verdict.evidence}"
    for each in found.kinds:
        if each.n:
            yield f"{each.n:>8,}  {each.kind}"
    for said in (*verdict.notes, *found.sentences, *found.notes):
        yield f"- {said}"
