"""Search a training part for patterns, try them on a test part, and judge what they give away.

The audit, `artifacts mine` in memory and `artifacts mine --memory` all end here, so that they cannot disagree.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.verdicts import Verdict, not_measurable
from goldassay.questions.artifacts.inputs import Bounds, mine_corpus
from goldassay.questions.artifacts.searched import Searched
from goldassay.questions.artifacts.section import Described, describe_patterns
from goldassay.questions.artifacts.shortlist import Shortlist, of_table
from goldassay.questions.artifacts.verdict import judge_artifacts
from goldassay.questions.inputs import majority_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.artifacts import PatternTable
    from goldassay.core.progress import Progress
    from goldassay.core.settings import ArtifactLimits, ArtifactSettings
    from goldassay.data import Dataset


@dataclass(frozen=True)
class PatternSearch:
    """Patterns of one text of the training part, tried on the test part.

    Attributes:
        mined: All patterns that are frequent enough.
        short: Those that the report needs.
        described: Everything measured of them.
    """

    mined: PatternTable
    short: Shortlist
    described: Described

    @property
    def classes(self) -> NDArray[np.str_]:
        """Difficulty of each test example: easy, hard, conflicting or uncovered, (N,)."""
        assert self.described.assignment is not None
        return self.described.assignment.classes


def search_patterns(
    train: Dataset, test: Dataset, settings: ArtifactSettings, seed: int, progress: Progress
) -> PatternSearch:
    """Mine the last text of the training part (of a pair the hypothesis), and try the findings on the test part.

    Args:
        train: The training part.
        test: The test part, with the same labels.
        settings: Bounds of mining, and which patterns are kept.
        seed: Of the examples shown.
        progress: Told while patterns are counted.
    """
    role = train.text_columns[-1]
    bounds = Bounds(settings.max_tokens, settings.max_gap, settings.min_count, settings.tokenizer, role)
    with warnings.catch_warnings():
        # That no pattern was frequent enough is a finding here: the counts in the report say it.
        warnings.simplefilter("ignore", UserWarning)
        mined, corpus = mine_corpus(train, bounds, progress)
    short = of_table(mined, settings.q, settings.threshold)
    described = describe_patterns(
        short,
        Searched(train, train.examples[role], mined, corpus),
        Searched(test, test.examples[role], mined),
        seed,
    )
    return PatternSearch(mined, short, described)


def judge_patterns(
    described: Described, short: Shortlist, text_columns: Sequence[str], test: Dataset | None, limits: ArtifactLimits
) -> Verdict:
    """The verdict on mined patterns; not measurable where they were tried on no test set."""
    if test is None or described.given is None:
        return not_measurable(
            "The patterns were tried on no other data, so that nobody can say what they give away there.",
            "Name an evaluation set with --test FILE.",
        )
    given, settings = described.given, described.section["settings"]
    return judge_artifacts(
        value=given.giveaway.value,
        low=given.giveaway.low,
        high=given.giveaway.high,
        coverage=given.coverage,
        precision=given.precision.value,
        n_mined=short.n_mined,
        min_count=settings["min_count"],
        n_selected=described.section["n_selected"],
        threshold=settings["threshold"],
        majority=majority_share(test),
        n_test=len(test),
        is_part=len(text_columns) > 1 and described.section["applies_to"] != "all",
        limits=limits,
    )
