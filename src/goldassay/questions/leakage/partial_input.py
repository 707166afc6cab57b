"""What models of a part of the input leave behind, wherever they were made, and what they name for each example."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.naming import split_named_path
from goldassay.core.progress import Progress, silent
from goldassay.data.text_form import form_words, spelled_with
from goldassay.questions.detection_limits import ReadText, largest_limits, planted_texts
from goldassay.questions.example_clusters import example_clusters, text_clusters
from goldassay.readers.conditions import PAIRED, TEXT, DataSplit, is_part
from goldassay.readers.interactions import INTERACTIONS, named_by_interactions, read_interactions
from goldassay.readers.naive_bayes import (
    leaning_evidence_of_folds,
    planted_evidence_of_folds,
    word_evidence_of_folds,
)
from goldassay.readers.probes import train_probes
from goldassay.runs.array_files import aligned
from goldassay.runs.sidecar import Relevances, read_embeddings, read_relevances
from goldassay.stats.calibration import cross_calibrate
from goldassay.stats.effects import Effects, ReaderPredictions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.document import Input
    from goldassay.data.dataset import Dataset
    from goldassay.data.kinds.kind import ItemKind
    from goldassay.questions.leakage.result import Split
    from goldassay.readers.rule_effects import KeyPositions
    from goldassay.runs.runs import Runs
    from goldassay.stats.clusters import Clusters, Folds
    from goldassay.stats.detection import KindLimit, Planting, Shape
    from goldassay.stats.verdicts import Doubt

    # Rows of a copy, which of them teach which, what is planted, the seed of its words -> what interactions name there.
    ReadTogether = Callable[[NDArray[np.int64], Folds, Planting, int], ReaderPredictions]


N_CLUSTERS = 50
N_COMPONENTS = 30
# Of multiple-choice questions: always naming the longest choice, for which nothing is trained.
LONGEST = "longest_choice"
# Runs of the quick probes, and runs made elsewhere.
PROBES, GIVEN = "probes", "runs"
# Before the name of a part: the column of what each of its readers tells of an example, in bits.
READER_BITS = "reader_bits_"
WHOLE_INPUT = "the whole input"
QUICK, FORM, WORDS = "quick probe", "form of the text", "naive Bayes on words"
# Training rows from which the form is learned: it has a few hundred words.
FORM_ROWS = 100_000
# Standard errors by which a word may lean to a label by luck: one of twenty, of eighty, of four hundred words.
LEANINGS = (2.0, 2.5, 3.0)


@dataclass(frozen=True)
class LeakageChoice:
    """How leakage is measured.

    Attributes:
        n_clusters: k of the k-means; None for 50, and then a test part with fewer examples has no score instead of
            being refused.
        n_components: Of the PCA before it; 0 for none.
        n_repetitions: Clusterings with seeds of their own, of which the score is the mean.
        threshold: A cluster whose divergence is above it is called biased.
        grid: Score every combination of several k and numbers of components, too.
        cluster: Cluster the sentences of each role.
        map: Lay the sentences out on the plane.
        n_splits: Where the data have no test part: how many times they are split anew.
    """

    n_clusters: int | None = None
    n_components: int = N_COMPONENTS
    n_repetitions: int = 10
    threshold: float = 0.25
    grid: bool = False
    cluster: bool = True
    map: bool = True
    n_splits: int = 5

    @property
    def k(self) -> int:
        """Number of clusters."""
        return N_CLUSTERS if self.n_clusters is None else self.n_clusters


@dataclass(frozen=True)
class PartialInputRuns:
    """Everything known of one dataset's test part, examples in one order throughout.

    Attributes:
        name: Of the dataset.
        model: What was trained.
        source: `PROBES`, "training" or `GIVEN`.
        label_names: K names.
        gold: Codes, (N,).
        example_ids: (N,).
        conditions: Condition to its runs.
        probabilities: Condition to the gold label's probability, (R, N); of conditions whose runs have logits, or
            that were given by themselves.
        null: The gold label's probability from a model that reads nothing, (1, N), where `probabilities` were scaled on
            test examples and an empty input's must have been too.
        null_is: What that is, in words.
        vectors: Role to embeddings of its sentences alone, one (N, D) a model.
        vectors_are: What these embeddings are, in a clause.
        relevances: Condition to the relevances of its runs, by seed.
        test: The test part with its texts, if at hand.
        train: The training part, if at hand.
        fold_codes: Fold of each example, (N,), where training part and test part are the same rows.
        about: What was trained and how, in a sentence.
        remarks: What is not as one would expect, in sentences.
        notes: What a reader has to know of the data before the verdict, where no dataset tells it.
        inputs: What the report says of each input, where it was not data alone.
        splits: Where the test part was split off: what each further split scores.
        elsewhere: {set of another distribution: what the readers of the whole input answered there}.
        clusters_found: The clusters of the test part, where they are known already or were chosen.
        chance: What guessing gets of each example, (N,), where it differs: of items with choices.
        kind: Of the items, where these are no labelled texts.
        rules: What rules without parameters pick, likewise.
        positions: Whether right choices stand at all places as often, where places mean something.
        by_shape: What readers of words, of forms and of interactions pick of items.
        planted: The limits of detection of items, given what all readers gain, and of which parts.
        untrained: Why nothing is sound by picks without training that are no rules, given the limit for "unsound".
        tables: Further tables of the report, by name.
        doubts: Why nothing here can be called sound.
    """

    name: str
    model: str
    source: str
    label_names: tuple[str, ...]
    gold: NDArray[np.int64]
    example_ids: NDArray[Any]
    conditions: Mapping[str, Runs]
    probabilities: Mapping[str, NDArray[np.float64]]
    null: NDArray[np.float64] | None = None
    null_is: str = ""
    vectors: Mapping[str, Sequence[NDArray[np.floating[Any]]]] = field(default_factory=dict)
    vectors_are: str = ""
    relevances: Mapping[str, Mapping[int, Relevances]] = field(default_factory=dict)
    test: Dataset | None = None
    train: Dataset | None = None
    fold_codes: NDArray[np.int64] | None = None
    about: str = ""
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    splits: tuple[Split, ...] = ()
    elsewhere: Mapping[str, Runs] = field(default_factory=dict)
    clusters_found: Clusters | None = None
    chance: NDArray[np.float64] | None = None
    kind: ItemKind | None = None
    rules: tuple[ReaderPredictions, ...] = ()
    positions: KeyPositions | None = None
    by_shape: tuple[ReaderPredictions, ...] = ()
    planted: Callable[[Effects, Sequence[str]], tuple[KindLimit, ...]] | None = None
    untrained: Callable[[float], Sequence[Doubt]] | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()

    @property
    def split(self) -> DataSplit | None:
        """What readers learn from and what they read; None where one of both is not at hand."""
        if self.train is None or self.test is None:
            return None
        return DataSplit(self.train, self.test, self.fold_codes)

    @property
    def train_gold(self) -> NDArray[np.int64] | None:
        """Training labels in the codes of `label_names`; None without training data, or where it has other labels."""
        if self.train is None or not self.train.label_names or set(self.train.label_names) - set(self.label_names):
            return None
        codes = np.array([self.label_names.index(name) for name in self.train.label_names], np.int64)
        return np.asarray(codes[self.train.labels()])

    @cached_property
    def grouping(self) -> Clusters | None:
        """Clusters of the test examples, see `example_clusters`; None without their texts."""
        if self.clusters_found is not None or self.test is None:
            return self.clusters_found
        return example_clusters(self.test)

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """Their codes, (N,); None where every example counts by itself."""
        return None if self.grouping is None else self.grouping.codes_if_any

    @property
    def train_counts(self) -> NDArray[np.int64] | None:
        """Training rows of each label, (K,), likewise."""
        known = self.train_gold
        return None if known is None else np.bincount(known, minlength=len(self.label_names)).astype(np.int64)


def named_path(source: Any) -> tuple[str | None, Any]:
    """NAME=FILE as name and file; a file whose own name holds the sign, and what is no path, as it is."""
    if not isinstance(source, str):
        return None, source
    name, path = split_named_path(source)
    return name or None, path


def gold_probabilities(runs: Runs, gold: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Softmax of the final logits at the gold class, (R, N); None without logits."""
    final = runs.final()
    if final.logits is None:
        return None
    return softmax_at(np.asarray(final.logits, dtype=np.float64), gold)


def softmax_at(logits: NDArray[np.float64], gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """exp(z_y) / sum_c exp(z_c) for the class y of each example, (..., N) of (..., N, K)."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    chosen = np.take_along_axis(shifted, np.broadcast_to(gold, shifted.shape[:-1])[..., np.newaxis], axis=-1)[..., 0]
    return np.asarray(chosen / shifted.sum(axis=-1))


def part_name(condition: str) -> str:
    """The part of the input that a condition shows."""
    return condition.removesuffix("_only").replace("_", " ")


def readings_of(evidence: PartialInputRuns, codes: NDArray[np.int64] | None) -> list[ReaderPredictions]:
    """What the runs of each part of the input name for each test example.

    Probabilities of quick probes were calibrated on training rows that they had not learned. Those of all other runs
    are calibrated here, each half of the clusters by the other.

    Args:
        evidence: Runs of the conditions.
        codes: Cluster of each example, (N,); None where each is its own.
    """
    found = [
        _reading(runs, part_name(condition), evidence, codes)
        for condition, runs in evidence.conditions.items()
        if is_part(condition)
    ]
    # Of equal ends the first decides: a rule needs no training.
    return [*evidence.rules, *found, *evidence.by_shape]


def whole_readings(evidence: PartialInputRuns) -> list[ReaderPredictions]:
    """What the runs of the whole input name for each test example; nothing is judged by it."""
    return [
        _reading(evidence.conditions[condition], WHOLE_INPUT, evidence, None)
        for condition in (PAIRED, TEXT)
        if condition in evidence.conditions
    ]


def _reading(runs: Runs, part: str, evidence: PartialInputRuns, codes: NDArray[np.int64] | None) -> ReaderPredictions:
    final, gold = runs.final(), evidence.gold
    # Models of other names a condition are no kind of model.
    names = {each.model for each in evidence.conditions.values()}
    reader = QUICK if evidence.source == PROBES else " ".join(["model", *(names if len(names) == 1 else ())]).strip()
    if evidence.kind is not None and part == evidence.kind.question:
        # Who sees no choice gains what naming one place does not: that is a rule's.
        return ReaderPredictions(part, reader, final.predictions, of_places=True)
    if evidence.chance is not None:
        return ReaderPredictions(part, reader, None, correct=final.scores, chance=evidence.chance)
    if final.logits is None or np.asarray(final.logits).shape[-1] != len(evidence.label_names):
        return ReaderPredictions(part, reader, final.predictions, correct=final.scores)
    logs = np.asarray(final.logits, dtype=np.float64)
    if evidence.source != PROBES:
        logs = np.stack([cross_calibrate(each, gold, codes=codes) for each in logs])
    train_gold = evidence.train_gold
    return _of_logs(part, reader, logs, gold, gold if train_gold is None else train_gold, final.predictions)


def _of_logs(
    part: str,
    reader: str,
    logs: NDArray[np.float64],
    gold: NDArray[np.int64],
    known: NDArray[np.int64],
    predictions: NDArray[np.integer] | None = None,
) -> ReaderPredictions:
    """A reading from logarithms of probabilities, (R, N, K), up to a constant of each row."""
    counts = np.bincount(known, minlength=logs.shape[-1])
    shares = (counts + 0.5) / (counts.sum() + counts.size / 2)
    named = logs.argmax(axis=-1) if predictions is None else predictions
    with np.errstate(divide="ignore"):
        own = np.log(softmax_at(logs, gold))
    # A label without a training row has no share to be compared with.
    lifted = np.where(counts > 0, logs - np.log(shares), -np.inf).argmax(axis=-1)
    return ReaderPredictions(part, reader, named, lifted, own)


def form_readings(split: DataSplit, conditions: Sequence[str], seed: int) -> list[ReaderPredictions]:
    """What a quick probe names that sees only how the text of each condition is written; see `form_words`."""
    train = split.train
    if len(train) > FORM_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(len(train), FORM_ROWS, replace=False))
        split = replace(split, train=train.take(rows))
    shown = {name.removesuffix("_only") for name in conditions}

    def change(dataset: Dataset) -> Dataset:
        texts = dataset.examples
        # Nobody reads the form of the others here.
        forms = [
            (form_words(texts[role]) if role in shown else pl.Series([""]).new_from_index(0, len(dataset))).alias(role)
            for role in dataset.text_columns
        ]
        return replace(dataset, examples=texts.with_columns(forms))

    return [replace(each, reader=FORM) for each in quick_readings(split.changed(change), conditions, seed, silent)]


def quick_readings(
    split: DataSplit, conditions: Sequence[str], seed: int, progress: Progress
) -> list[ReaderPredictions]:
    """What a quick probe of each condition names, trained once, or once for each fold."""
    found = []
    runs = train_probes(
        split.train, split.test, conditions=conditions, seeds=[seed], progress=progress, folds=split.fold_codes
    )
    for run in runs:
        assert run.logits is not None
        assert run.gold is not None
        logs = np.asarray(run.logits, dtype=np.float64)
        found.append(_of_logs(part_name(run.condition), QUICK, logs, run.gold, split.train.labels()))
    return found


def word_readings(split: DataSplit, conditions: Sequence[str]) -> list[ReaderPredictions]:
    """What naive Bayes on the words of one text names, which adds up rare words, and the letters of the rarest."""
    found = []
    for role in (name.removesuffix("_only") for name in conditions):
        texts = with_spelling(split.texts(role), split.folds)
        logs = word_evidence_of_folds(texts, split.codes, split.label_counts.size, split.folds)
        found.append(_by_words(part_name(role), logs, split.label_counts, split.gold))
    return found


def _by_words(
    part: str, evidence: NDArray[np.float64], counts: NDArray[np.int64], gold: NDArray[np.int64]
) -> ReaderPredictions:
    """The reading from what the words of each text say for each label, (N, K)."""
    # A label without a training row is named by nothing.
    with np.errstate(divide="ignore"):
        logs = evidence + np.log(counts / counts.sum())
    read = _of_logs(part, WORDS, logs[np.newaxis], gold, np.repeat(np.arange(counts.size), counts))
    return replace(read, log_probabilities=None)


def interaction_readings(split: DataSplit, conditions: Sequence[str], seed: int) -> list[ReaderPredictions]:
    """What two cues of one text name that tell only together, by `read_interactions`."""
    teaching = text_clusters(split.train)
    if split.fold_codes is None:
        teaching = np.concatenate([teaching, np.full(len(split.test), -1)])
    counts, found = split.label_counts, []
    for role in (name.removesuffix("_only") for name in conditions):
        logs = read_interactions(split.texts(role), split.codes, counts.size, split.folds, seed, teaching)
        found.append(named_by_interactions(part_name(role), logs, counts))
    return found


def with_spelling(texts: pl.Series, folds: Folds) -> pl.Series:
    """The texts, and the spelling of their rare words, (L,); no label says which are rare, so that all folds do."""
    alone = np.isin(folds.codes, folds.read).all()
    n = len(texts) if alone else len(texts) - folds.rows.size
    return texts + " " + pl.concat(spelled_with(texts.head(n), texts.tail(len(texts) - n)))


# The reader that finds cues of each shape. The quick probe finds words too, but what it recovers depends on what else
# is planted beside them.
READERS: dict[Shape, str] = {"word": WORDS, "form": FORM, "together": INTERACTIONS}


def limits_of_parts(
    split: DataSplit,
    together: Mapping[str, ReadTogether],
    readings: Sequence[ReaderPredictions],
    effects: Effects,
    clusters: NDArray[np.int64] | None,
    seed: int,
    progress: Progress = silent,
) -> tuple[KindLimit, ...]:
    """The limit of detection of each kind of cue, the largest of the parts of the input.

    Args:
        split: Rows with their texts.
        together: What reads the interactions of a copy where artifacts read the same rows, by part.
        readings: What the readers of each part name.
        effects: Of these.
        clusters: Of the rows that are read, (N,).
        seed: Of what is planted and of the readers.
        progress: Told after each part.
    """
    shown = {each.part for each in readings}
    roles = [role for role in split.test.text_columns if part_name(role) in shown]
    found = []
    for done, role in enumerate(roles, start=1):
        part = part_name(role)
        own = {each.reader: each for each in readings if each.part == part}
        text = ReadText(
            codes=split.codes,
            n_classes=split.label_counts.size,
            folds=split.folds,
            here={shape: own[name] for shape, name in READERS.items() if name in own},
            read_rows=partial(_read_copies, split, role, seed, together.get(part)),
            clusters=clusters,
            n_independent=effects.n_clusters,
        )
        found.append(text.limits(effects.of(part), seed))
        progress(done, len(roles))
    return largest_limits(found)


def _read_copies(
    split: DataSplit,
    role: str,
    seed: int,
    together: ReadTogether | None,
    rows: NDArray[np.int64],
    folds: Folds,
) -> Callable[[Planting, Shape, int], ReaderPredictions]:
    """What reads copies of some rows; see `ReadText`."""
    texts, codes = split.texts(role)[rows], split.codes[rows]
    counts = np.bincount(codes[folds.teaching], minlength=split.label_counts.size)

    @cache
    def words() -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
        return planted_evidence_of_folds(with_spelling(texts, folds), codes, counts.size, folds)

    @cache
    def parts() -> DataSplit:
        return split.parted(rows, folds)

    def read(planting: Planting, shape: Shape, of_copy: int) -> ReaderPredictions:
        if shape == "word":
            return _by_words(part_name(role), words()(planting.words[:, 0]), counts, codes[folds.rows])
        if shape == "together" and together is not None:
            return together(rows, folds, planting, of_copy)
        copy = parts().with_texts(role, planted_texts(texts, planting, of_copy))
        readers = form_readings if shape == "form" else interaction_readings
        return readers(copy, [f"{role}_only"], seed)[0]

    return read


def leaning_word_readings(split: DataSplit, conditions: Sequence[str]) -> list[ReaderPredictions]:
    """What the words of one text name that lean to a label by themselves, from three strengths of leaning on."""
    counts = split.label_counts
    with np.errstate(divide="ignore"):
        shares = np.log(counts / counts.sum())
    found = []
    for role in (name.removesuffix("_only") for name in conditions):
        evidence = leaning_evidence_of_folds(split.texts(role), split.codes, counts.size, split.folds, LEANINGS)
        # A label without a training row is named by nothing.
        evidence[:, :, counts == 0] = -np.inf
        for least, each in zip(LEANINGS, evidence, strict=True):
            named, lifted = (values.argmax(axis=1)[np.newaxis] for values in (each + shares, each))
            found.append(
                ReaderPredictions(part_name(role), f"words that lean by {least:g} standard errors", named, lifted)
            )
    return found


def beside_runs(evidence: PartialInputRuns, paths: Sequence[str]) -> PartialInputRuns:
    """Add the embeddings and relevances that lie beside the runs, of the same model and dataset.

    The embeddings are those of single sentences in the model of the whole; where there are none, those of the models
    that were trained on one sentence, which says so.
    """
    vectors: dict[str, list[NDArray[np.floating[Any]]]] = {}
    what = ""
    wanted = {(runs.model, runs.dataset, runs.train_set): None for runs in evidence.conditions.values()}
    asked = [dict(zip(("model", "dataset", "train_set"), each, strict=True)) for each in wanted]
    for source in (PAIRED, TEXT, ""):
        of = {"condition": source} if source else {}
        for path in map(Path, paths):
            for each in (found for one in asked for found in _if_any(read_embeddings, path, **one, **of)):
                for role, values in each.vectors.items():
                    if role != PAIRED:
                        rows = aligned(values, each.example_ids, evidence.example_ids, "embeddings", str(path))
                        vectors.setdefault(role, []).append(rows)
        if vectors:
            what = f"the layer before the classifier of {evidence.model}, {source or 'trained on one sentence alone'}"
            break
    relevances: dict[str, dict[int, Any]] = {}
    for path in map(Path, paths):
        for found in (each for one in asked for each in _if_any(read_relevances, path, **one)):
            relevances.setdefault(found.origin.condition, {})[found.origin.seed] = found
    return replace(evidence, vectors=vectors, vectors_are=what, relevances=relevances)


def _if_any(read: Any, path: Path, **asked: str) -> list[Any]:
    """What lies beside the runs that are asked for; nothing where nothing does. Damaged files are refused."""
    try:
        found: list[Any] = read(path, **asked)
    except InputError as error:
        if error.problem.startswith(("there is no ", "there are no ")):
            return []
        raise
    return found
