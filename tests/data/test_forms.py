"""Files in published forms: each is read as what it is, or refused by a line that says what it is; docs table them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import goldassay
from goldassay.core.errors import SHELL, InputError, entered
from goldassay.questions.checks import TEXTS
from tests.data.forms import FORMS, Form

PAGE = Path(__file__).parents[2] / "docs/look.md"


@pytest.fixture(scope="module")
def tabled() -> dict[str, str]:
    """What the page says of each form."""
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|", PAGE.read_text(), re.MULTILINE)
    return dict(rows)


def line_of(form: Form, path: Path) -> str:
    """The line by which an audit refuses a form."""
    with entered(SHELL), pytest.raises(InputError) as refused:
        goldassay.audit(str(path))
    return str(refused.value)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_read_or_refused_rightly(name: str, tmp_path: Path, tabled: dict[str, str]) -> None:
    form = FORMS[name]
    path = form.write(tmp_path)
    if form.held:
        found = goldassay.look(str(path))
        assert (found.kind, found.n_rows) == (form.held, form.n_rows)
        assert (form.roles or {}).items() <= found.roles.items()
        assert found.kind != TEXTS or "label" in found.roles
        assert tabled[name] == form.held
    else:
        line = line_of(form, path)
        assert form.says in line
        assert "NAME" not in line
        assert tabled[name] == "refused"


def test_a_file_without_a_header_is_said_to_have_none(tmp_path: Path) -> None:
    for name, is_said in (("GoEmotions, several labels of a row", True), ("WildGuardMix", False)):
        form = FORMS[name]
        assert ("first line" in line_of(form, form.write(tmp_path))) == is_said


def test_there_are_forty_forms() -> None:
    assert len(FORMS) >= 40
