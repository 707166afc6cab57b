"""Settings with their policy, and reports judged and compared, with the measures of every question declared."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import goldassay.questions.report_frame  # noqa: F401 - importing it declares the measures
from goldassay.core import settings as core_settings
from goldassay.core.document import FILE_NAME as REPORT_NAME
from goldassay.core.errors import InputError, option
from goldassay.core.figures import judged_questions
from goldassay.core.files import written_together
from goldassay.core.settings import FILE_NAME, Settings
from goldassay.gate.check import Check, Demand, check_reports, read_policy, require_demands
from goldassay.gate.comparing import Changes, compare_reports, table_names
from goldassay.gate.diff_page import cards, charts, sections, sides_named, summarize, verdict_section
from goldassay.gate.reading import StoredReport, read_report
from goldassay.report.charts import draw_pictures
from goldassay.report.html import fill_page
from goldassay.report.markdown import render_section
from goldassay.report.report import Report, write_page
from goldassay.version import __version__

if TYPE_CHECKING:
    from goldassay.core.charts import Chart


AnyReport = Report | str | os.PathLike[str]


def load_settings(path: str | os.PathLike[str] | None = None) -> Settings:
    """Read settings from a TOML file and check its policy; without a path, from ./goldassay.toml if it is there.

    Raises:
        InputError: The file is missing or no TOML, a key is not known, or a value is out of range.
    """
    settings = core_settings.load_settings(path)
    if settings.policy:
        read_policy(settings.policy, FILE_NAME if path is None else path)
    return settings


def load_policy(path: str | os.PathLike[str] | None = None) -> tuple[Demand, ...]:
    """The table `[policy]` of a settings file; without a path, of ./goldassay.toml.

    Raises:
        InputError: The file is missing, no TOML, or not as settings have to be; or its policy demands nothing.
    """
    file = Path(FILE_NAME if path is None else path)
    if path is None and not file.is_file():
        raise InputError(
            f"there is no {FILE_NAME} here, which holds the policy",
            mend=f"write one, or name it with {option('policy', 'FILE')}",
        )
    return require_demands(read_policy(core_settings.load_settings(file).policy, file), file)


def check(
    reports: AnyReport | Sequence[AnyReport], policy: Mapping[str, Any] | str | os.PathLike[str] | None = None
) -> Check:
    """Hold a policy against one report, or several taken together.

    Args:
        reports: A report, the report.json that a command wrote, or its folder; or several of these.
        policy: The table `[policy]` as a mapping, such as {"max_easy_share": 0.2}, or a settings file that has one; by
            default ./goldassay.toml.

    Returns:
        What became of each rule; `.passed` says whether none is broken.

    Raises:
        InputError: A report or the policy cannot be read, a report was edited, or the policy demands nothing.
    """
    several = [reports] if not isinstance(reports, (list, tuple)) else list(reports)
    several = [each if isinstance(each, Report) else _place(each) for each in several]
    if policy is not None and not isinstance(policy, (Mapping, str, os.PathLike)):
        raise InputError(
            f"the policy is a {type(policy).__name__}", mend='give a mapping such as {"max_easy_share": 0.2}, or a file'
        )
    demands, file = (
        (read_policy(dict(policy)), "")
        if isinstance(policy, Mapping)
        else (load_policy(policy), Path(FILE_NAME if policy is None else policy).name)
    )
    read = [_stored(each) for each in several]
    # Named twice, as a folder and as the file in it, is judged once.
    distinct = {(report.path.resolve(), report.parsed.digest): report for report in read}
    return check_reports(list(distinct.values()), demands, file)


def assert_sound(report: AnyReport, question: str, at_most: float | None = None) -> None:
    """Assert that the verdict on a question is sound, for the tests of a data set's own repository.

    Args:
        report: A report, the report.json that a command wrote, or its folder.
        question: leakage, artifacts, overlap and so on.
        at_most: The largest flaw that may have been missed, as a fraction; without it only the verdict counts.

    Raises:
        AssertionError: The verdict is another one, or the bound is larger or unknown.
        InputError: There is no such question, or the report cannot be read or was edited.
    """
    if question not in judged_questions():
        raise InputError(f"there is no question {question!r}", mend=f"choose from {', '.join(judged_questions())}")
    rules: dict[str, Any] = {f"worst_{question}_verdict": "sound"}
    if at_most is not None:
        rules[f"max_{question}"] = at_most
    lines = [each.line for each in check(report, rules).outcomes if each.status != "kept"]
    if lines:
        raise AssertionError("\n".join(lines))


def diff(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> ReportDiff:
    """Compare two reports: files or folders, of the same command, before and after something was mended.

    Raises:
        InputError: A report cannot be read or was edited, or the two are not about the same thing.
    """
    return diff_reports(_place(before), _place(after))


def _place(report: Any) -> str | os.PathLike[str]:
    """A report's place, refused where it is something else."""
    if not isinstance(report, (str, os.PathLike)):
        raise InputError(
            f"a {type(report).__name__} is no report", mend="give its folder, or the report.json that a command wrote"
        )
    return report


def _stored(report: Any) -> StoredReport:
    if not isinstance(report, Report):
        return read_report(_place(report))
    document = report.to_dict()
    timing = document.pop("timing", {})
    return StoredReport(Path(REPORT_NAME), document, str(timing.get("finished", "")))


@dataclass(frozen=True)
class ReportDiff(Changes):
    """What changed from one report to another, able to show itself as a page, as Markdown and as JSON."""

    @cached_property
    def document(self) -> dict[str, Any]:
        """Plain data under the schema "goldassay.diff", version 1."""
        return self.result.to_dict()

    def to_json(self) -> str:
        """The document as JSON."""
        text = json.dumps(self.document, ensure_ascii=False, allow_nan=False, indent=2)
        return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"

    def to_html(self) -> str:
        """One page that needs nothing else."""
        return fill_page(
            document=self.document,
            cards=cards(self.result),
            line=[f"{side}: {name}" for side, name in zip(("before", "after"), sides_named(self.result), strict=True)],
            sections=sections(self.result),
            pictures=draw_pictures(self.charts),
            stem="diff",
            table_names=tuple(self.tables),
        )

    @property
    def charts(self) -> dict[str, Chart]:
        """The chart of all changes, where any has an interval."""
        return charts(self.result)

    def to_markdown(self) -> str:
        """Markdown that pastes into a pull request."""
        blocks = ["# What changed between two reports"]
        for section in (verdict_section(self.result), *sections(self.result)):
            blocks += render_section(section, "tables/")
        blocks.append(f"Made by goldassay {__version__}.")
        return "\n\n".join(block for block in blocks if block) + "\n"

    def summary(self) -> str:
        """A few lines for a terminal."""
        return summarize(self.result)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write diff.html, diff.json, diff.md, tables/ and figures/, all or nothing, and return the path of the page.

        An earlier comparison in the same folder is replaced, with the tables that this one has not.

        Raises:
            InputError: The folder is that of one of the two reports, whose own tables lie there.
            OutputError: The folder cannot be made or written to, or the disk is full.
        """
        for side in (self.result.before, self.result.after):
            report = Path(side.path)
            if Path(directory).resolve() == report.parent.resolve():
                raise InputError(f"is the folder of {report}", file=directory, mend="choose another with -o")
        texts = {"diff.html": self.to_html(), "diff.json": self.to_json(), "diff.md": self.to_markdown()}
        texts |= {f"figures/{name}.svg": picture.standalone for name, picture in draw_pictures(self.charts).items()}
        # Of an earlier comparison in the same folder nothing is left.
        tables = [f"tables/{name}.{kind}" for name in table_names() for kind in ("parquet", "csv")]
        with written_together(directory, instead_of=("figures/diff_changes.svg", *tables)) as folder:
            write_page(texts, self.tables, folder)
        return Path(directory) / "diff.html"


def diff_reports(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> ReportDiff:
    """Compare two reports; see `gate.comparing.compare_reports`.

    Raises:
        InputError: A report cannot be read or was edited, or the two are not about the same thing.
    """
    found = compare_reports(before, after)
    return ReportDiff(found.result, found.tables)
