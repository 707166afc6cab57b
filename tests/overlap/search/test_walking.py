"""What lies at a place: links to folders are followed, each folder is walked once, and what is closed is named."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.core.errors import InputError
from goldassay.questions.overlap.search.corpus import find_corpus
from tests.overlap.search.corpora import sought
from tests.overlap.search.test_scan import ITEMS, found_by, rows, same, write_jsonl

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with a file, and a link to a folder outside it that has the items."""
    (tmp_path / "corpus" / "own").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    write_jsonl(tmp_path / "corpus" / "own" / "a.jsonl", rows(20))
    write_jsonl(tmp_path / "elsewhere" / "b.jsonl", ITEMS)
    (tmp_path / "corpus" / "linked").symlink_to(tmp_path / "elsewhere")
    return tmp_path / "corpus"


def test_a_linked_folder_is_a_part_of_the_corpus(corpus: Path) -> None:
    known = sought(ITEMS)
    found = found_by(known, corpus)
    assert (found.n_holding >= 1).all()
    assert [file.name for file in find_corpus([corpus]).files] == ["corpus/linked/b.jsonl", "corpus/own/a.jsonl"]
    assert same(found, found_by(known, corpus / "*"))
    assert found.n_documents == 28


def test_links_in_a_circle_and_second_names_are_read_once(corpus: Path) -> None:
    (corpus / "own" / "circle").symlink_to(corpus)
    (corpus / "again").symlink_to("own")
    (corpus / "own" / "c.jsonl").symlink_to("a.jsonl")
    os.link(corpus / "own" / "a.jsonl", corpus / "own" / "d.jsonl")
    (corpus.parent / "elsewhere" / "back").symlink_to(corpus / "linked")
    found = find_corpus([corpus])
    assert [file.name for file in found.files] == ["corpus/linked/b.jsonl", "corpus/own/a.jsonl"]
    assert sorted(found.again) == [
        "corpus/again", "corpus/linked/back", "corpus/own/c.jsonl", "corpus/own/circle", "corpus/own/d.jsonl",
    ]  # fmt: skip
    # The same name twice is no further name.
    (corpus / "own" / "circle").unlink()
    twice = find_corpus([corpus / "own", corpus / "own" / "a.jsonl", str(corpus / "own" / "a*")])
    assert (len(twice.files), sorted(twice.again)) == (1, ["own/c.jsonl", "own/d.jsonl"])


def test_a_link_above_the_corpus_does_not_read_it_again(corpus: Path) -> None:
    (corpus / "above").symlink_to(corpus.parent)
    found = find_corpus([corpus])
    assert [file.path.name for file in found.files] == ["b.jsonl", "a.jsonl"]
    assert found.again == ("corpus/linked",)


def test_each_link_that_leads_nowhere_is_broken_once(corpus: Path) -> None:
    for name in ("x.jsonl", "y.jsonl"):
        (corpus / name).symlink_to(corpus / "gone")
    broken = find_corpus([corpus, corpus]).broken
    assert [name for name, _ in broken] == ["corpus/x.jsonl", "corpus/y.jsonl"]


def test_a_folder_that_may_not_be_read_is_broken(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = os.scandir

    def closed(place: Any) -> Any:
        if os.fspath(place).endswith("own"):
            raise PermissionError(13, "Permission denied", os.fspath(place))
        return plain(place)

    monkeypatch.setattr(os, "scandir", closed)
    found = find_corpus([corpus])
    assert [file.name for file in found.files] == ["corpus/linked/b.jsonl"]
    assert found.broken == (("corpus/own", "Permission denied"),)


def test_a_folder_without_files(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(InputError, match="the folder is empty"):
        find_corpus([tmp_path / "a"])
