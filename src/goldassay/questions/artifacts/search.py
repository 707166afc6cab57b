"""Search a training part for patterns, try them on a test part, and judge what they give away.

The audit, `artifacts mine` in memory and `artifacts mine --memory` all end here, so that they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.core.verdicts import Verdict, not_measurable
from goldassay.questions.artifacts.inputs import mine_corpus, texts_for
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
    from goldassay.data.tokenization import TokenizedCorpus
    from goldassay.questions.artifacts.inputs import Bounds


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
    train: Dataset, test: Dataset | None, bounds: Bounds, keeping: ArtifactSettings, seed: int, progress: Progress
) -> PatternSearch:
    """Mine one text of the training part, and try the findings on the test part.

    Args:
        train: The training part.
        test: The test part, with the same labels, if there is one.
        bounds: Of mining, and which text.
        keeping: Beyond which q and share a pattern is kept.
        seed: Of the examples shown.
        progress: Told while patterns are counted.

    Raises:
        InputError: The patterns cannot be mined, or the test part has no such text.
    """
    mined, corpus = mine_corpus(train, bounds, progress)
    return try_patterns(mined, train, test, keeping, seed, corpus)


def try_patterns(
    mined: PatternTable,
    train: Dataset,
    test: Dataset | None,
    keeping: ArtifactSettings,
    seed: int,
    corpus: TokenizedCorpus | None = None,
) -> PatternSearch:
    """What `search_patterns` does with patterns that were mined already; `corpus` holds the training part's tokens."""
    short = of_table(mined, keeping.q, keeping.threshold)
    searched = Searched(train, texts_for(train, mined), mined, corpus)
    tried = None if test is None else Searched(test, texts_for(test, mined), mined)
    return PatternSearch(mined, short, describe_patterns(short, searched, tried, seed))


def answer(
    described: Described, short: Shortlist, text_columns: Sequence[str], test: Dataset | None, limits: ArtifactLimits
) -> Finding:
    """The finding on mined patterns, wherever they and what they were mined from are.

    Args:
        described: Everything measured of them.
        short: The patterns.
        text_columns: Roles of the texts of the training part.
        test: What they were tried on, or None.
        limits: When to say caution or unsound.
    """
    verdict = _judge(described, short, text_columns, test, limits)
    return Finding("artifacts", verdict, described.section, tables={"patterns": described.findings})


def _judge(
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
