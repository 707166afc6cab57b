"""Settings with their policy, and reports judged and compared, with the measures of every question declared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import goldassay.questions.report_frame  # noqa: F401 - importing it declares the measures
from goldassay.core import settings as core_settings
from goldassay.core.document import FILE_NAME as REPORT_NAME
from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.settings import FILE_NAME, Settings
from goldassay.gate.check import Check, check_reports
from goldassay.gate.policy import Demand, read_policy, require_demands
from goldassay.gate.reading import StoredReport, read_report
from goldassay.questions.report_diff import ReportDiff, diff_reports
from goldassay.report.report import Report

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
