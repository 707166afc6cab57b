"""The example report, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.report.example import example_report

if TYPE_CHECKING:
    from goldassay.report.report import Report


@pytest.fixture(scope="session")
def report() -> Report:
    return example_report()


@pytest.fixture(scope="session")
def page(report: Report) -> str:
    return report.to_html()
