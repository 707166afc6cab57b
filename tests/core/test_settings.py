"""Settings: unknown keys and wrong values are refused with what would be right."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from goldassay import InputError
from goldassay.core.settings import Settings, known_keys, load_settings, parse_settings
from tests.stated import Fact, in_order

GUIDE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_defaults_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings() == Settings()


def test_a_file_in_the_working_directory_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "goldassay.toml").write_text("seed = 3\n[artifacts]\nthreshold = 0.8\n")
    settings = load_settings()
    assert settings.seed == 3
    assert settings.artifacts.threshold == 0.8


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"artifact": {}}, "did you mean 'artifacts'"),
        ({"artifacts": {"min_cuont": 1}}, "did you mean 'artifacts.min_count'"),
        ({"verdicts": {"leakage": {"unsoud": 1}}}, "did you mean 'verdicts.leakage.unsound'"),
        ({"zzzzqqq": 1}, "known are seed"),
        ({"policy": 3}, ("policy:", "table", 3)),
        ({"artifacts": {"q": 3}}, "artifacts.q"),
        ({"seed": "0"}, "seed"),
        ({"verdicts": {"leakage": {"caution": 0.9}}}, "above that for unsound"),
    ],
)
def test_what_is_wrong_is_named(content: dict[str, object], expected: Fact) -> None:
    with pytest.raises(InputError, match=in_order(expected)):
        parse_settings(content)


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "marked.toml").write_text("seed = 3\n", "utf-8-sig")
    assert load_settings(tmp_path / "marked.toml").seed == 3


def test_missing_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_settings(tmp_path / "none.toml")
    (tmp_path / "broken.toml").write_text("seed = \n")
    with pytest.raises(InputError, match="not TOML"):
        load_settings(tmp_path / "broken.toml")
    with pytest.raises(InputError, match=r"^/dev/zero: it is a device"):
        load_settings(Path("/dev/zero"))


def test_the_guide_shows_every_key_with_its_default() -> None:
    block = GUIDE.read_text().split("```toml\n")[1].split("```")[0]
    assert parse_settings(tomllib.loads(block)) == Settings()
    shown = block.replace("# min_count", "min_count")
    for key in known_keys():
        assert key.rpartition(".")[2] in shown, key
