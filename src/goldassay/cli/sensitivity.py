"""`goldassay sensitivity`: how far a score moves with the way of asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import METHOD, Config, OptionalOut, Quiet, Seed, of_option, say_settings
from goldassay.cli.report_files import save_report
from goldassay.cli.run_options import reads_runs
from goldassay.questions.run_choice import RunChoice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.questions.sensitivity.measuring import ModelSensitivity, SensitivityStudy


@app.command(short_help="Say how far a score moves with the prompt, the shots, the temperature.")
@reads_runs(without=("pool_configurations",))
def sensitivity(
    *,
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUNS...", help="Predictions in several configurations: files or folders."),
    ],
    claim: Annotated[float | None, of_option("claim", metavar="POINTS", group=METHOD)] = None,
    out: OptionalOut = None,
    json_file: JsonFile = None,
    choice: RunChoice,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Say how far a score moves with the configuration: prompt, shots, temperature, solver.

    For each model and dataset: the spread over configurations apart from that over repeats, the best and the worst
    with what picking them gives on examples that they were not picked on, and how many pairs of models change their
    order. Fewer than five configurations have a range alone; without repeats chance and configuration cannot be told
    apart. Examples are the same in all configurations.
    """
    import json

    from goldassay.core.settings import with_seed
    from goldassay.questions.gating import load_settings
    from goldassay.questions.sensitivity.question import study_sensitivity

    settings = with_seed(load_settings(config), seed)
    report, found = study_sensitivity(runs, choice, claim, settings, quiet=quiet)
    page = None if out is None else save_report(report, out, None, latex=False)
    if json_file is not None:
        write_json(json_file, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        say_settings(settings)
        for line in _lines(found, claim, str(report.verdicts["sensitivity"]["limits"])):
            typer.echo(line)
        if page is not None:
            typer.echo(page)


def _lines(found: SensitivityStudy, claim: float | None, limits: str) -> Iterator[str]:
    yield f"Sensitivity  {found.verdict.verdict.upper()}"
    yield f"  {found.verdict.evidence} {limits}".rstrip()
    yield f"  → {found.verdict.next_step}"
    for each in found.models:
        yield ""
        yield from _of_model(each, claim)
    if found.n_pairs:
        yield ""
        yield f"order: {found.n_changed} of {found.n_pairs} pairs of models change it with the configuration"
    if found.alone:
        yield f"left out, with one configuration: {', '.join(found.alone[:8])}"


def _of_model(each: ModelSensitivity, claim: float | None) -> Iterator[str]:
    from goldassay.questions.sensitivity.page import say_claim

    spread = each.spread
    least, most = min(spread.n_repeats), max(spread.n_repeats)
    repeats = f"{least} to {most} runs" if least < most else f"{most} run{'s' * (most > 1)}"
    shape = f"{len(spread.means)} configurations of {repeats}, {spread.n_examples:,} examples"
    yield f"{each.model} on {each.dataset}: {shape}"
    rows = {"differ in": ", ".join(each.settings[:8])}
    if spread.sd is not None and spread.sd_interval is not None:
        rows["SD"] = (
            f"{_points(spread.sd)} points [{_points(spread.sd_interval.low)}, {_points(spread.sd_interval.high)}]"
            + ("" if spread.repeat_sd is None else f", over repeats {_points(spread.repeat_sd)}")
            + ("" if spread.separable else ", repeats included")
        )
    low, high = spread.range_interval.low, spread.range_interval.high
    rows["range"] = f"{_points(spread.range)} points [{_points(low)}, {_points(high)}] over examples"
    for name, at, other in (("best", spread.best, spread.best_score), ("worst", spread.worst, spread.worst_score)):
        rows[name] = (
            f"{each.configurations[at]}: {_points(spread.means[at])} points; picked on other examples "
            f"{_points(other.mean)} [{_points(other.interval.low)}, {_points(other.interval.high)}]"
        )
    if claim is not None and (said := say_claim(each)):
        rows["claim"] = f"{claim:g} points: {said}"
    for name, value in rows.items():
        yield f"  {name:<10} {value}"


def _points(share: float) -> str:
    return f"{100 * share:.2f}"
