"""The page of reproductions: a row for each printed table, commands that can be given, and four statuses."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from goldassay.cli.app import app
from goldassay.lab.models import load_network
from goldassay.lab.papers import printed
from goldassay.lab.papers.instability.evidence import RELEASED
from goldassay.lab.papers.printed import printed_table
from goldassay.lab.papers.recipe import SCALES, Choice
from goldassay.lab.papers.running import find_recipe, list_recipes
from goldassay.lab.papers.shift.sets import TRANSFORMERS

if TYPE_CHECKING:
    from types import ModuleType

    from goldassay.lab.papers.recipe import ScaleName

PAGE = Path(__file__).parents[3] / "docs" / "reproduction.md"


def tables() -> list[list[list[str]]]:
    """Each table of the page as rows of cells, the head first."""
    blocks = re.findall(r"(?:^\|.*\n)+", PAGE.read_text("utf-8"), re.MULTILINE)
    rows = [[[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]
    return [[head, *body] for head, _, *body in rows]


ROWS = [row for head, *body in tables() if head[0] == "printed" for row in body]
STATUSES = ("reproduced to the digit", "reproduced on a sample", "runs, not run here", "needs ")
PRINTED = {path.name.removesuffix(".csv") for path in files(printed).iterdir() if path.name.endswith(".csv")}
COMMANDS = sorted({command for row in ROWS for command in re.findall(r"`(goldassay [^`]+)`", row[2])})


def test_every_printed_table_has_its_row():
    named = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[1])}
    assert named == PRINTED


def test_every_row_has_a_status_and_a_command():
    for row in ROWS:
        assert len(row) == 5, row
        assert row[4].startswith(STATUSES), row[4]
        assert row[2] or "is not laid beside" in row[4], row[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_given(command: str):
    """Its options are known, and its names are those of sets and models of the study at that scale."""
    program, studies, name, *arguments = shlex.split(command)
    assert (program, studies) == ("goldassay", "studies")
    parser = get_command(app).commands["studies"]  # type: ignore[attr-defined]
    given = parser.make_context("studies", [name, *arguments]).params
    assert given["name"] == name
    scale: ScaleName = next(each for each in SCALES if each == given["scale"])
    choice = Choice(tuple(given["only"] or ()), tuple(given["without"] or ()))
    choice.check(find_recipe(name).SCALES[scale])
    assert choice.narrowed(find_recipe(name).SCALES[scale]).trainings


def test_a_digit_is_claimed_only_with_what_shows_it():
    """Tests that are named are there."""
    for place in re.findall(r"`(tests/[\w/]+\.py)`", PAGE.read_text("utf-8")):
        assert (PAGE.parents[1] / place).exists(), place


def test_every_choice_that_no_paper_prints_is_in_one_table():
    """And on the page of its study, which takes it from the same place."""
    listed = [tuple(row) for head, *body in tables() if head == ["study", "chosen here"] for row in body]
    scales = {name: find_recipe(name).SCALES for name in list_recipes()}
    chosen = [(name, each) for name, of in scales.items() for each in of["paper"].unprinted]
    assert listed == chosen
    assert {name for name, _ in chosen} == {"artifacts", "instability", "leakage", "shift"}


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("list_claims", PAGE.parents[1] / "scripts" / "list_claims.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LISTED = _script()
CLAIMS = {f"{name}: {each.name}": each for name in LISTED.STUDIES for each in find_recipe(name).CLAIMS.values()}  # type: ignore[attr-defined]


def test_every_claim_stands_in_one_table_with_its_state():
    assert PAGE.read_text("utf-8") == LISTED.page(), "run python scripts/list_claims.py"
    states = LISTED.kept(PAGE.read_text("utf-8"))
    assert states.keys() == CLAIMS.keys()
    assert len(states) >= 40
    known = (LISTED.UNDECIDED, "held: ", "did not hold: ", "not shown: ")
    assert all(state.startswith(known) for state in states.values())
    # A figure goes with each that is decided.
    assert all(state == LISTED.UNDECIDED or re.search(r"\d", state) for state in states.values())


def test_what_released_data_decide_is_as_listed(data_dir: Path):
    """Of the clusters and the lists; of the ten runs see `tests/lab/papers/test_instability.py`."""
    states = LISTED.kept(PAGE.read_text("utf-8"))
    for name, state in {**LISTED.of_lists(data_dir), **LISTED.of_clusters(data_dir)}.items():
        assert states[name] == state


@pytest.mark.parametrize("study", LISTED.STUDIES)
def test_a_study_concludes_what_it_declares_and_nothing_else(study: str):
    """What a page says of a claim comes from `CLAIMS`: no other name, sentence, place or quantifier can stand there."""
    recipe = find_recipe(study)
    source = inspect.getsource(recipe)  # type: ignore[arg-type]
    assert not re.search(r"\bConclusion\(", source)
    for name, each in recipe.CLAIMS.items():  # type: ignore[attr-defined]
        # Once where it is declared, and again where it is judged, unless something else decides it.
        assert (source.count(f'"{name}"') > 1) is not bool(each.by), name


# Said of the statement that a claim is, and of what its own sentence says: some, or all.
QUANTIFIERS = {
    "instability: Unstable": "some", "instability: Stable": "all", "instability: Not together": "some",
    "shift: Declines": "some", "shift: Size": "some", "shift: Distilled": "some", "shift: Diverse": "some",
    "shift: Detects": "all", "shift: Bag of words": "this cell", "shift: Smaller gaps": "on average",
    "leakage: Persists": "on average", "leakage: By agreement": "this cell", "leakage: Best models": "this cell",
    "artifacts: Patterns": "this cell", "artifacts: Easy and hard": "on average", "artifacts: Adversary": "this cell",
}  # fmt: skip


def test_a_claim_keeps_the_papers_quantifier_where_nothing_is_measured():
    for name, quantifier in QUANTIFIERS.items():
        assert CLAIMS[name].unmeasured("").quantifier == quantifier, name


def test_where_texts_are_cut_is_said():
    """Of each length that a training sets at paper scale, and of no other."""
    pytest.importorskip("torch")
    for name in list_recipes():
        scale = find_recipe(name).SCALES["paper"]
        changes = [own.get("changes") or {} for each in scale.trainings for own in (each.options, *each.of.values())]
        lengths = {each["max_tokens"] for each in changes if "max_tokens" in each}
        said = {int(found) for each in scale.unprinted for found in re.findall(r"(\d+) tokens", each)}
        assert said == (lengths or said & {128}), (name, lengths)
    # What leakage trains takes its length from the published configuration.
    for training in find_recipe("leakage").SCALES["paper"].trainings:
        assert training.options["configuration"] == "published"
        sizes = {load_network(name).configurations["published"].sizes for name in training.models.values()}
        assert {each.max_tokens for each in sizes} == {128}  # type: ignore[attr-defined]


def test_reviews_are_read_at_length():
    """Three of four are longer than 128 tokens."""
    trainings = [each for each in find_recipe("shift").SCALES["paper"].trainings if not each.train.startswith("STS-B")]
    reviews = [each for each in trainings if each.train.startswith(("SST-2", "IMDb", "Yelp", "Amazon"))]
    assert {"SST-2 train", "IMDb train"} < {each.train for each in reviews}
    for each in reviews:
        assert {each.of[name]["changes"]["max_tokens"] for name in TRANSFORMERS} == {512}, each.train


def test_columns_made_of_accuracies_are_the_printed_ones():
    ((names, scores, ratios),) = (each for each in tables() if each[0][0] == RELEASED)
    assert len(names) == 7
    for dataset, score, ratio in zip(names[1:], scores[1:], ratios[1:], strict=True):
        keys = {"model": RELEASED, "dataset": dataset}
        nine, one = (printed_table(f"zhou2020_table{n}").filter(**keys).row(0, named=True) for n in (9, 1))
        assert [float(each) for each in score.split(" ± ")] == [nine["value"], nine["sd"]]
        assert float(ratio) == one["value"]
