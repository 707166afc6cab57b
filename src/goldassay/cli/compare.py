"""`goldassay compare`: is model A better than model B, or than C?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    RUNS,
    Config,
    Discount,
    Figures,
    Latex,
    Models,
    OptionalOut,
    Quiet,
    RunClusters,
    Seed,
    of_option,
    say_settings,
)
from goldassay.cli.report_files import save_report
from goldassay.cli.run_options import reads_runs
from goldassay.core.errors import InputError
from goldassay.core.numbers import points, signed_points
from goldassay.questions.run_choice import RunChoice

if TYPE_CHECKING:
    from goldassay.questions.comparison.comparing import ModelComparison, ModelComparisons


@app.command(short_help="Say whether model A is better than model B, seeds and examples allowed for.")
@reads_runs(without=("model",))
def compare(
    *,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUNS...",
            help="Predictions of each model on the same examples, a file or a folder a model; or one that holds all.",
        ),
    ],
    clusters: RunClusters = None,
    models: Models = None,
    model_a: Annotated[str | None, of_option("model_a", metavar="NAME", group=RUNS)] = None,
    model_b: Annotated[str | None, of_option("model_b", metavar="NAME", group=RUNS)] = None,
    matched: Annotated[
        bool,
        of_option("matched", group=METHOD),
    ] = False,
    method: Annotated[Literal["normal", "bootstrap"], of_option("method", group=METHOD)] = "normal",
    discount: Discount = None,
    out: OptionalOut = None,
    json_file: JsonFile = None,
    figures: Figures = None,
    latex: Latex = False,
    choice: RunChoice,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Say whether model A is better than model B, on the same examples, or which of several models are.

    From one run of a model it says whether these runs differ, not whether the model is better.

    Both the runs (other seeds) and the examples (other test sets of the kind) are taken as samples: the interval of
    the difference allows for both, and the split of the noise says whether more seeds or more examples would help.
    Of three models or more each is compared with each, with Holm's correction, and groups of models are named of
    which no two can be told apart. The last checkpoint is compared.
    """
    import json

    from goldassay.core.settings import with_seed
    from goldassay.questions.comparison.study import study_comparison
    from goldassay.questions.discount.study import discount_lines
    from goldassay.questions.gating import load_settings
    from goldassay.report.paper import check_figures

    check_figures(figures)
    if out is None and (figures or latex):
        raise InputError("figures and tables for papers need a place", mend="name a folder with -o DIR")
    settings = load_settings(config)
    report, compared = study_comparison(
        runs,
        choice,
        models=models or (),
        named=(model_a, model_b),
        clusters=clusters,
        matched=matched,
        method=method,
        discount=discount,
        settings=with_seed(settings, seed),
        quiet=quiet,
    )
    of_two = len(compared.models) == 2
    page = None if out is None else save_report(report, out, figures, latex)
    if json_file is not None:
        result = compared.pairs[0] if of_two else compared
        write_json(json_file, json.dumps(result.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        say_settings(settings)
        for line in _lines(compared.pairs[0]) if of_two else _overview(compared):
            typer.echo(line)
        for line in discount_lines(report.to_dict()):
            typer.echo(line)
        if page is not None:
            typer.echo(page)


def _overview(found: ModelComparisons) -> list[str]:
    """Several models for people, in points: how they score, and which cannot be told apart."""
    from goldassay.questions.comparison.sentences import listed, over, settle_top

    rows = zip(found.names, found.means, found.sds, (runs.n_runs for runs in found.models), strict=True)
    width = max(len(name) for name in found.names)
    lines = [f"{len(found.names)} models on {found.models[0].n_examples:,} examples of {found.models[0].dataset}"]
    worse = dict.fromkeys(found.names, 0)
    for pair, p in zip(found.pairs, found.adjusted_p, strict=True):
        worse[pair.a] += p <= found.alpha
    ahead = "better than" if found.of_models else "run ahead of"
    for name, mean, spread, n_runs in sorted(rows, key=lambda row: -row[1]):
        lines.append(f"  {name:<{width}}  {_side(mean, spread, n_runs)}; {ahead} {worse[name]}")
    which = "" if found.of_models else "runs that "
    noise = f"noise of {over(found.pairs[0])}, Holm's correction at {found.alpha:g}"
    lines += ["", f"{which}cannot be told apart ({noise}):"]
    lines += [f"  {listed(group)}" for group in found.groups if len(group) > 1] or ["  none: each differs from each"]
    lines += ["", "differences:"]
    wide = max(len(f"{pair.a} - {pair.b}") for pair in found.pairs)
    for pair, p in zip(found.pairs, found.adjusted_p, strict=True):
        low, high = pair.comparison.interval.low, pair.comparison.interval.high
        lines.append(
            f"  {f'{pair.a} - {pair.b}':<{wide}}  {signed_points(pair.comparison.difference)} "
            f"[{signed_points(low)}, {signed_points(high)}]  {_p(p)}"
        )
    if settled := settle_top(found):
        lines += ["", f"settle it  {settled}"]
    notes = dict.fromkeys((*found.notes, *(said for pair in found.pairs for said in pair.comparison.caveats)))
    return lines + [f"note  {note}" for note in notes]


def _lines(found: ModelComparison) -> list[str]:
    """The comparison for people, in points."""
    from goldassay.questions.comparison.sentences import conclude, settle, told_apart

    result = found.comparison
    low, high = result.interval.low, result.interval.high
    over = result.interval.method.partition("over ")[2]
    if result.n_clusters is not None:
        over = over.replace("examples", "clusters")
    lines = [
        f"A  {found.a}: {_side(result.mean_a, found.sd_a, result.n_runs_a)}",
        f"B  {found.b}: {_side(result.mean_b, found.sd_b, result.n_runs_b)}",
        f"{conclude(found)}.",
        "",
        f"difference A - B   {signed_points(result.difference)} points [{signed_points(low)}, {signed_points(high)}] "
        f"({result.interval.level:.0%} interval over {over}, {result.interval.method.partition(',')[0]})",
        f"noise              {_noise(found)}",
        f"p-values           {_p(result.p_value)} over {over}; "
        f"{_p(result.p_examples)} over {_units(found)} alone ({result.test})",
    ]
    if max(result.n_runs_a, result.n_runs_b) > 1:
        lines.append(f"P(A > B)           {_chance(found)}")
    lines.append(f"could be shown     {points(found.plan.detectable_difference, 2)} points, four times out of five")
    if result.of_models:
        lines.append(f"seeds              {_seeds(found)}")
    if not told_apart(found):
        lines.append(f"settle it          {settle(found)}")
    lines += [f"note               {note}" for note in (*found.notes, *result.caveats)]
    return lines


def _chance(found: ModelComparison) -> str:
    """That a run of A scores higher than one of B, with what its interval leaves open."""
    from goldassay.questions.comparison.sentences import told_apart

    result = found.comparison
    low, high = result.probability_interval.low, result.probability_interval.high
    shown = f"{result.probability_better:.0%} [{low:.0%}, {high:.0%}] of the pairs of a run of each, on these examples"
    if not (low > 0.5 or high < 0.5):
        return f"{shown}: open"
    return shown if told_apart(found) else f"{shown} alone"


def _side(mean: float, sd: float, runs: int) -> str:
    spread = "" if math.isnan(sd) else f", SD {100 * sd:.2f}"
    return f"{100 * mean:.2f} points{spread}, {runs} run{'s' if runs > 1 else ''}"


def _units(found: ModelComparison) -> str:
    result = found.comparison
    return "examples" if result.n_clusters is None else f"{result.n_clusters:,} clusters ({found.clusters})"


def _noise(found: ModelComparison) -> str:
    result = found.comparison
    whole = f"SD {_root(result.var_total)} points in all"
    if not result.of_models:
        return f"{whole}: {_units(found)} {_root(result.var_examples)}, runs unknown"
    parts = (
        f"{_units(found)} {_root(result.example_variance)}, runs {_root(result.var_total - result.example_variance)}"
    )
    share = "" if math.isnan(result.share_runs) else f" ({result.share_runs:.0%} of the variance is the runs')"
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
