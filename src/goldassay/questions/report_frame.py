"""From findings to a report: the document around them, and the sections of each question that it answers."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from goldassay.core.document import SCHEMA, SCHEMA_VERSION, About, DatasetFacts, Environment, Framed, SettingsFile
from goldassay.core.figures import Figure, order_declared
from goldassay.core.figures import figures_of as figures_of_result
from goldassay.core.numbers import bounds_in, with_unit
from goldassay.core.report_seal import digest_of, mapping
from goldassay.core.results import ICONS, NOT_ASKED, Result, Verdict, severity, to_plain
from goldassay.core.sections import Around, VerdictCard
from goldassay.questions import provenance
from goldassay.questions.checks import (
    AUDITED,
    DESCRIBING,
    FURTHER,
    Check,
    added_checks,
    question_modules,
    question_pages,
)
from goldassay.questions.facts import page as facts_page
from goldassay.questions.provenance import reproduction_of, subject_of
from goldassay.questions.rows import first_rows, issues_of, ranked, table_of_rows
from goldassay.report.report import Report
from goldassay.version import __version__

if TYPE_CHECKING:
    import polars as pl
    from pydantic import BaseModel

    from goldassay.core.progress import Steps
    from goldassay.core.sections import Finding, Table
    from goldassay.core.settings import Settings


_PACKAGES = ("goldassay", "numpy", "scipy", "scikit-learn", "polars", "numba", "nltk")
_TRAINING = ("torch", "transformers", "accelerate")
# Which command makes what: the first whose part a report has. An audit names no questions, as it answers all.
_COMMANDS = (
    ("leakage suggest", ("leakage", "suggestion")),
    ("leakage measure", ("leakage",)),
    ("artifacts mine", ("artifacts", "n_mined")),
    ("artifacts assign", ("artifacts",)),
    ("compare", ("comparison",)),
    ("answered", ("answered",)),
    ("sensitivity", ("sensitivity",)),
    ("board", ("board",)),
    ("overlap", ("overlap",)),
    ("instability", ("instability",)),
    ("shift detection", ("shift", "detection")),
    ("shift generalization", ("shift",)),
)


def describe_environment(*, trained: bool = False) -> Environment:
    """Python, platform and the versions of the libraries that compute, and that train where something was trained."""
    packages = {}
    for name in (*_PACKAGES, *(_TRAINING if trained else ())):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return Environment(platform.python_version(), f"{platform.system()} {platform.machine()}", packages)


def compose_report(
    framed: Framed,
    tables: Mapping[str, pl.DataFrame] = MappingProxyType({}),
    added: Sequence[tuple[Check[Any], Finding]] = (),
    first: Table | None = None,
    findings: Sequence[Finding] = (),
) -> Report:
    """The report of what was found: verdict cards, sections and charts of the questions that it answers.

    Args:
        framed: What `report.json` holds, by `frame_findings`.
        tables: Full tables by name.
        added: Questions that are not of this package, with what they found.
        first: Rows to look at before anything else; without them those that the findings name.
        findings: What was found: typed results, and the examples behind each verdict.
    """
    plain = framed.document
    answers = {each.question: each.result for each in findings if each.result is not None}
    verdicts = framed.verdicts or {}
    around = Around(answers, (framed.about or About()).label_names or ())
    asked = _asked(plain, verdicts)
    facts = around.answer(DatasetFacts)
    answered = [(page, answers[question]) for question, page in question_pages().items() if question in answers]
    pages = [(question_pages()[question], answers[question]) for question in asked if question in answers]
    written = [section for page, found in pages for section in page.sections(found, around)]
    written += [section for _, finding in added for section in finding.sections]
    if facts is not None:
        written += facts_page.PAGE.sections(facts, around)
    written += provenance.sections(framed, around)
    headings = {question: _heading(question, answers) for question in asked}
    headings |= {check.question: (check.title, check.asks) for check, _ in added}
    cards = _cards(framed, headings)
    judged = [replace(each, verdict=each.verdict or verdicts.get(each.question)) for each in findings]
    unjudged = (None, NOT_ASKED, "not measurable")
    judged = [each for each in judged if getattr(each.verdict, "verdict", None) not in unjudged]
    issues = framed.issues if framed.issues is not None or not judged else ranked(issues_of(judged))
    if first is None and (named := first_rows(judged)):
        first = table_of_rows(named)
    return Report(
        document=plain,
        answers=answers,
        unasked=tuple(each.evidence for each in verdicts.values() if each.verdict == NOT_ASKED),
        tables=tables,
        charts={
            **{name: chart for page, found in answered for name, chart in page.charts(found, around).items()},
            **{name: chart for _, found in added for name, chart in found.charts.items()},
        },
        paper_charts={
            name: chart for page, found in answered for name, chart in page.paper_charts(found, around).items()
        },
        sections=tuple(written),
        cards=tuple(cards),
        intervals="In brackets: 95 % intervals." if any(card.interval for card in cards) else "",
        limits=_limits(headings, verdicts),
        subject=subject_of(framed, around),
        issues=issues,
        first=first,
        reproduction=reproduction_of(framed, around, tuple(verdicts)),
        judged=verdicts,
        behind={each.question: each.rows for each in findings if each.rows is not None},
        paper_tables=tuple(table for page, found in pages for table in page.paper_tables(found, around)),
        printed_tables=tuple(table for page, found in pages for table in page.printed_tables(found, around)),
    )


def _asked(document: Mapping[str, Any], verdicts: Mapping[str, Verdict]) -> tuple[str, ...]:
    """The questions that a document answers: those it names, else those an audit asked."""
    named = document.get("questions")
    asked = tuple(question for question in (*AUDITED, *FURTHER) if isinstance(named, list) and question in named)
    words = {name: verdicts[name].verdict if name in verdicts else None for name in (*AUDITED, *FURTHER)}
    # What ranks rows judges nothing.
    unjudged = {name for name in FURTHER if not words[name] and mapping(document, name)}
    audited = (name for name, word in words.items() if (name in {*AUDITED, *unjudged} or word) and word != NOT_ASKED)
    return asked or tuple(audited)


def _cards(framed: Framed, headings: Mapping[str, tuple[str, str]]) -> list[VerdictCard]:
    """The verdict cards; none where the document judges nothing, such as a ranking of rows."""
    if framed.document.get("questions") and framed.verdicts is None:
        return []
    verdicts, cards = framed.verdicts or {}, []
    for question, (title, lead) in headings.items():
        if question in verdicts:
            cards.append(_card(question, title, lead, verdicts[question]))
        elif question not in FURTHER or framed.verdicts is None:
            cards.append(VerdictCard(question, title, lead, "not measurable", judged=False))
    return cards


def _card(question: str, title: str, lead: str, verdict: Verdict) -> VerdictCard:
    headline = verdict.headline
    return VerdictCard(
        key=question,
        title=title,
        lead=lead,
        verdict=verdict.verdict,
        icon=ICONS.get(verdict.verdict, "none"),
        value="" if headline is None else with_unit(headline.value, headline.unit),
        interval="" if headline is None else bounds_in(headline.low, headline.high, headline.unit),
        label="" if headline is None else headline.label,
        evidence=verdict.evidence,
        beneath=verdict.beneath,
        notes=verdict.notes,
        next_step=verdict.next_step,
        rule=verdict.rule,
    )


def _limits(headings: Mapping[str, tuple[str, str]], verdicts: Mapping[str, Verdict]) -> str:
    """S of each question without a flaw, as its sentence has it: of cues a share, else in the unit of its card."""
    known = {title: shown for question, (title, _) in headings.items() if (shown := _limit(verdicts.get(question)))}
    return "; ".join(f"{title} {shown}" for title, shown in known.items())


def _limit(verdict: Verdict | None) -> str:
    if verdict is None or not verdict.at_most or verdict.headline is None:
        return ""
    # Beside a flaw the limit would be read as its size.
    if severity(verdict.verdict) >= severity("caution"):
        return ""
    if verdict.at_most >= 1:
        return "not reached"
    headline = verdict.headline
    # A card with a baseline shows points above it, and its limit is a share of the rows.
    of_cues = headline.unit == "share" or headline.baseline is not None
    return with_unit(verdict.at_most, "share" if of_cues else "points")


def frame_findings(
    title: str,
    findings: Mapping[str, Any],
    steps: Steps,
    settings: Settings | None = None,
    figures: Sequence[Figure] = (),
    verdicts: Mapping[str, Verdict] | None = None,
) -> Framed:
    """Put findings into a report's document, with the figures that follow from them.

    All that differs between two equal runs is in its block `timing`, which is stored in a file of its own. Nothing may
    be changed in the document afterwards: its digest would not fit.

    Args:
        title: Of the report.
        findings: Its parts; under the key of a question its typed result, or a plain one.
        steps: What was done, and when.
        settings: What decided verdicts: their file is named, and at each verdict the limits and settings that differ
            from the defaults. None where the findings say it already.
        figures: Those of questions that are not of this package.
        verdicts: By question; None where nothing is judged.
    """
    if settings is not None:
        file = settings.file
        findings = {**findings, "settings_file": None if file is None else SettingsFile(file.name, settings.sha256)}
        verdicts = verdicts and {
            question: replace(each, limits=_changed_limits(settings, question, findings) if each.rule else "")
            for question, each in verdicts.items()
        }
    environment = describe_environment()
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "goldassay_version": __version__,
        "command": command_of(findings),
        "title": title,
        **findings,
        "environment": environment,
        "timing": {
            "started": steps.started.isoformat(timespec="seconds"),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": {name: round(seconds, 3) for name, seconds in steps.seconds.items()},
        },
    }
    # The questions' packages import this module.

    answers = {name: each for name, each in findings.items() if isinstance(each, Result) and name in question_pages()}
    plain: dict[str, Any] = to_plain(document)
    for question, found in answers.items():
        plain[question] = question_pages()[question].plain(found)
    if verdicts is not None:
        # A reader of the document, such as a comparison of two reports, knows no question.
        leads = {question: _heading(question, answers)[1] for question in _asked(plain, verdicts)}
        verdicts = {name: replace(each, question=leads.get(name, each.question)) for name, each in verdicts.items()}
        plain["verdicts"] = to_plain(verdicts)
    plain["figures"] = [figure.to_dict() for figure in (*figures_of(plain, answers), *figures)]
    return Framed(
        document={**plain, "digest": digest_of(plain)},
        about=findings.get("dataset"),
        inputs=tuple(findings.get("inputs") or ()),
        settings=plain.get("settings") or {},
        settings_file=findings.get("settings_file"),
        notes=tuple(findings.get("data_notes") or ()),
        environment=environment,
        verdicts=verdicts,
        issues=findings.get("issues"),
    )


def _heading(question: str, answers: Mapping[str, Result]) -> tuple[str, str]:
    """Title of a question, and the question in words."""
    page = question_pages()[question]
    if question in answers:
        return page.heading(answers[question])
    return page.title, page.lead if isinstance(page.lead, str) else ""


def _changed_limits(settings: Settings, question: str, findings: Mapping[str, Any]) -> str:
    """Limits of a verdict, and settings of what it rests on, that are not the default ones; "" where all are."""
    source = "the caller" if settings.file is None else settings.file.name
    of_detection = _part(findings.get(question), "kind") == "detection"
    limits = [
        said
        for name, said in _changed(getattr(settings.verdicts, question, None))
        # Shift has two kinds of limits, of which a report uses one.
        if question != "shift" or name.endswith("false_alarms") == of_detection
    ]
    section = getattr(settings, question, None)
    # An option of the command has the last word, and the document names what was used.
    measured = [said for _, said in _changed(section, mapping(findings, "settings"))]
    if section is not None:
        measured += [said for name, said in _changed(settings.data) if name == "clusters"]
    parts = ((limits, f"Limits set by {source}"), (measured, "Measured with settings that are not the default"))
    return " ".join(f"{lead}: {', '.join(said)}." for said, lead in parts if said)


def _changed(section: BaseModel | None, used: Mapping[str, Any] = MappingProxyType({})) -> list[tuple[str, str]]:
    """Names of settings that are not the default ones, each with a phrase that gives both values."""
    changed = []
    for name, field in type(section).model_fields.items() if section is not None else ():
        value = getattr(section, name)
        if value != field.default and (value := used.get(name, value)) != field.default:
            changed.append((name, f"{name} = {_setting(value)} (default {_setting(field.default)})"))
    return changed


def _setting(value: object) -> str:
    if value is None:
        return "automatic"
    return f"{value:g}" if isinstance(value, float) else str(value)


def command_of(findings: Mapping[str, Any]) -> str:
    """The command that makes a report of these findings, by what they hold."""
    if not findings.get("questions"):
        return "audit"
    return next((name for name, path in _COMMANDS if _is_in(findings, path)), "audit")


def _is_in(findings: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    value: Any = findings
    for key in path:
        value = _part(value, key)
    return value is not None


def _part(value: Any, key: str) -> Any:
    """A part of a result, typed or plain; None where it has none."""
    if isinstance(value, Result):
        return getattr(value, key, None)
    return value.get(key) if isinstance(value, Mapping) else None


_QUESTIONS = (DESCRIBING, *AUDITED, *FURTHER)
# Importing them declares all measures; those of facts stand in core.
_DECLARING = [DatasetFacts, *(question_modules(name, (each,)) for each in _QUESTIONS for name in ("figures", "result"))]
_DECLARING += [added_checks()]
_MODULES = question_modules("figures")
order_declared(_QUESTIONS)


def figures_of(document: Mapping[str, Any], answers: Mapping[str, Result] = MappingProxyType({})) -> list[Figure]:
    """Every figure of a report.

    Args:
        document: Plain data, as `goldassay.core.results.to_plain` makes it.
        answers: Typed results by question.
    """
    made: list[Figure] = []
    for question in _QUESTIONS:
        if question in answers:
            made += figures_of_result(answers[question])
        elif question in _MODULES:
            made += _MODULES[question].figures(document)
    return made
