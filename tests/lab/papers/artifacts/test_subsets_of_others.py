"""The hard examples that others published as a column of Table 4, and corpora of which nothing is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.lab.papers.artifacts import SCALES
from goldassay.lab.papers.artifacts.protocol import Trained, gather
from goldassay.lab.papers.artifacts.tables import compare_tables, unmeasured_tables
from goldassay.lab.papers.recipe import NotRun
from goldassay.lab.papers.sources import with_reasons

if TYPE_CHECKING:
    from tests.lab.papers.artifacts.conftest import Made

OTHERS = "SNLI test uw_cmu_hard"


@pytest.fixture
def chosen(made: Made) -> np.ndarray:
    """A tenth of the test set, published as hard by others."""
    test = made.work.sets[made.corpus.test]
    texts = list(zip(*(test.texts(role) for role in test.text_columns), test.labels().tolist(), strict=True))
    keys = set(texts[::10])
    return np.array([key in keys for key in texts])


def test_hard_examples_of_others_are_a_column(made: Made, chosen: np.ndarray):
    test = made.work.sets[made.corpus.test]
    work = replace(made.work, sets={**made.work.sets, OTHERS: test.take(chosen)})
    found = gather(replace(made.corpus, others_hard=OTHERS), made.protocol, work)
    cells = next(each for each in compare_tables([found]) if each.name == "liu2020_table4_SNLI_test").cells
    cell = cells.filter(model="InferSent", subset="uw_cmu_hard").row(0, named=True)
    assert cell["printed"] == 69.3
    assert cell["ours"] == pytest.approx(100 * made.rows(Trained("InferSent"))[:, chosen].mean())


def test_rows_that_are_not_of_the_test_set_are_refused(made: Made):
    train = made.work.sets[made.corpus.train]
    work = replace(made.work, sets={**made.work.sets, OTHERS: train.take(np.arange(len(train)) < 30)})
    with pytest.raises(InputError, match=r"rows are not in .* with the same label"):
        gather(replace(made.corpus, others_hard=OTHERS), made.protocol, work)


def test_at_paper_scale_both_corpora_have_published_subsets():
    scale = SCALES["paper"]
    snli, multinli = scale.chosen["protocol"].corpora
    assert snli.others_hard in scale.sets
    assert multinli.published["easy"] == ("MultiNLI/mismatch_dev_easy_lambda=0.7.tsv",)
    assert multinli.test == multinli.printed


def test_a_corpus_that_is_not_there_leaves_its_printed_cells_with_what_they_need():
    corpus = SCALES["paper"].chosen["protocol"].corpora[1]
    not_run = [NotRun(name, corpus.train, corpus.test, "needs MultiNLI train") for name in ("ESIM", "dInferSent")]
    four, six, seven = (with_reasons(each, not_run).cells for each in unmeasured_tables(corpus))
    assert set(four["model"]) == set(six["model"]) == {"ESIM"}
    assert set(seven["model"]) == {"dInferSent"}
    assert set(six["not_run"]) == {"needs MultiNLI train"}
    assert six.filter(mode="debias")["lambda"].n_unique() == 4
