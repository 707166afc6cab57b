"""Runs: what several trainings of one model predicted on one dataset."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.naming import listing
from goldassay.runs.alignment import check_codes, check_scores, check_unique
from goldassay.runs.configurations import flat
from goldassay.runs.statuses import N_SCORED, STATUSES, Status
from goldassay.stats.clusters import weigh

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from goldassay.runs.run_parts import BestThresholds, Slice


_FIELDS = ("model", "dataset", "split", "condition", "train_set")
_CONDITIONS = {
    "hypothesis_only": ("hypothesis", "hypothesis_only", "hypo", "hypo_only"),
    "premise_only": ("premise", "premise_only"),
    "paired": ("paired", "pair", "both", "std", "standard", "normal", "full"),
}
_BY_WORD = {word: name for name, words in _CONDITIONS.items() for word in words}
_SEED = re.compile(r"seed[ _.=-]*(\d{1,18})", re.IGNORECASE)
# A word for another form of the input ends a name, or stands before a part of the data or the number of a run:
# "bert_shuffled_test", "bert_shuffled_1"; "length_512" is a setting. Sets of examples are called by some of these
# words, too: "stress_length", "lexical_overlap".
_HALF = r"(?:^|[_\-. /])(?:(hypothesis|hypo|premise)(?:[_-]only)?"
_FORM = (
    r"(?<!max.)(?<!min.)(?<!stress.)(?<!lexical.)(?<!word.)(shuffled|length|raw_overlap|overlap|negative)"
    r"(?:[_-](?:only|input))?"
)
_PART = r"[_\-. ](?:test|dev|val|validation|train)(?:$|[_\-. ])"
_NUMBER = r"[_\-. ](?:(?:seed|run)[_\-. ]?\d+|\d|(?<!length.)\d+)(?:$|[_\-. ])"
_WITHIN = re.compile(rf"{_HALF}(?=$|[_\-. ])|{_FORM}(?=$|{_PART}|{_NUMBER}))", re.IGNORECASE)
_FOLDER = re.compile(rf"{_HALF}(?=$|/)|{_FORM}(?=$|/))", re.IGNORECASE)
# Words that may say the same elsewhere in a name, or are short for it: "length_bert", "len".
_SHORT = {"len": "length", "shuf": "shuffled", "shuffle": "shuffled", "hyp": "hypothesis", "prem": "premise"}
_MAYBE = re.compile(
    rf"(?:^|[_\-. /])(?<!max.)(?<!min.)(?<!stress.)(?<!lexical.)(?<!word.)"
    rf"(length|shuffled|raw_overlap|negative|{'|'.join(_SHORT)}|[a-z]+(?=[_-]only))(?:[_-]only)?"
    r"(?=$|[_\-. /])(?![_\-. ]\d\d)",
    re.IGNORECASE,
)


def condition_of(word: str) -> str:
    """The condition that a word stands for; any other word is a condition of its own ("shuffled")."""
    return _BY_WORD.get(re.sub(r"[\s-]+", "_", word.strip().lower()), word)


def condition_within(*names: str, path: Path | None = None) -> str:
    """The condition that a longer name says with a word of its own, "bert_hypothesis_test"; by default paired.

    Args:
        names: Of the model and the file; the first that says it counts.
        path: The file; where no name says it, the end of the name of its folder may, or of the folder above.
    """
    found = next((found for name in names if (found := _WITHIN.search(name))), None)
    if found is None and path is not None:
        *_, found = [None, *_FOLDER.finditer("/".join(path.absolute().parent.parts[-2:]))]
    return condition_of((found[1] or found[2]).lower()) if found else "paired"


def condition_words(*names: str, path: Path) -> tuple[str, str]:
    """The name that `condition_within` takes a condition from; else one that may say one, and how it would be taken.

    Returns:
        The name, and "" where it is taken; two empty texts where none says anything.
    """
    folders = path.absolute().parent.parts[-2:]
    condition = condition_within(*names, path=path)
    for name in (*names, *reversed(folders)):
        taken = _WITHIN.search(name) if name in names else _FOLDER.search(name)
        if condition != "paired" and taken:
            return name, ""
        if condition == "paired" and (maybe := _MAYBE.search(name)):
            rest = re.sub(r"[_\-. ]{2,}", "_", name[: maybe.start()] + "_" + name[maybe.end() :]).strip("_-. ")
            word = _SHORT.get(maybe[1].lower(), maybe[1])
            return name, f"{rest}_{word}" if rest and not rest.isdigit() else word
    return "", ""


def describe_conditions(found: Iterable[Slice]) -> list[str]:
    """A sentence for each condition that was taken from a name, and for each name that may say one."""
    said = {}
    for part in found:
        (name, instead), condition = part.condition_words, part.collection.condition
        if name:
            said[name, condition] = (
                f"The name {name!r} may say what the model saw, and its runs are taken as paired. If they are not, "
                f"call it {instead!r}, or give the runs a column condition."
                if instead
                else f"The condition {condition} is taken from the name {name!r}."
            )
    return list(said.values())


def stated_seed(seed: int | str) -> int | None:
    """The seed that a run's own number states, or its name: "bert-seed3-step900"; None where neither does."""
    if isinstance(seed, int):
        return seed
    found = _SEED.search(seed)
    return int(found[1]) if found else None


def renamed(found: Sequence[Slice], expression: str) -> list[Slice]:
    """Take the names of models apart by a regular expression with named groups.

    Groups called model, dataset, split, condition, train_set and seed replace what the run had; a group that takes no
    part, or takes nothing, leaves it. Any other group is added to the model's name as GROUP=VALUE.

    Args:
        found: What is there.
        expression: It has to match whole names, as `(?P<model>.+)_(?P<condition>std|hypothesis)_(?P<seed>.+)`.

    Raises:
        InputError: It is no regular expression, has no group model, or some name does not match.
    """
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise InputError(
            f"{expression!r} is no regular expression ({error})", mend="write groups like (?P<model>.+)"
        ) from error
    if "model" not in pattern.groupindex:
        raise InputError(
            f"{expression!r} does not say which part of the name is the model", mend="name a group (?P<model>.+)"
        )
    names = sorted({part.collection.model for part in found})
    strange = [name for name in names if not pattern.fullmatch(name)]
    if strange:
        raise InputError(
            f"{len(strange)} of {len(names)} names of runs do not match {expression!r}: {listing(strange, 4)}",
            mend="widen the expression until it takes them all",
        )
    return [_renamed(part, pattern) for part in found]


def _renamed(part: Slice, pattern: re.Pattern[str]) -> Slice:
    matched = pattern.fullmatch(part.collection.model)
    said = {} if matched is None else {name: value for name, value in matched.groupdict().items() if value}
    fields = {name: said.pop(name) for name in _FIELDS if name in said}
    if "condition" in fields:
        fields["condition"] = condition_of(fields["condition"])
    numbered = part.numbered and "seed" not in said
    seed: int | str = said.pop("seed", part.seed)
    if isinstance(seed, str) and seed.isascii() and seed.isdigit():
        seed = int(seed)
    collection = part.collection._replace(**fields)
    others = "".join(f" {name}={value}" for name, value in said.items())
    return replace(part, collection=collection._replace(model=collection.model + others), seed=seed, numbered=numbered)


@dataclass(frozen=True, repr=False)
class Runs:
    """Predictions of R runs (seeds) of one model, under one condition, on the N examples of one dataset.

    Where several checkpoints of each run are there, the arrays have an axis T for them; where there is one, the
    axis is left out (and `checkpoints` names it, if it has a name). All runs cover the same examples.

    Attributes:
        model: Name of the model.
        dataset: Name of the dataset it was evaluated on.
        condition: What the model could see: paired, premise_only, hypothesis_only.
        split: Name of the part of the dataset, or "".
        label_names: The K labels, in the order of the codes and of the logits; () when there are none.
        gold: Right labels as codes (N,), or None.
        predictions: Predicted labels as codes (R,[T,]N), or None.
        logits: (R,[T,]N,K), or None.
        scores: Correctness in {0, 1}, or a per-example score in [0, 1], (R,[T,]N).
        seeds: (R,), whole numbers, or names where runs have no number.
        checkpoints: (T,) steps or names, or None.
        example_ids: (N,) strings. Walk through `.tolist()`: numpy drops what is raised while it makes a string of an
            element, Ctrl-C too.
        groups: Per-example group names, {name: (N,)}: template, heuristic, genre.
        train_set: What the model was trained on, or "".
        contradicted: Examples whose right label in the runs' files is another one than in the file of right labels that
            was given, which counts.
        configuration: How the model was asked, {dotted name: value}: prompt, shots, temperature; {} where nothing says.
        grades: Lowest and highest grade of the scale that `scores` are shares of; None where they are fractions.
        base_model: The model's own name, where its configuration stands in `model` to tell it from others; else "".
        thresholds: Of each run (at its last checkpoint) the best scores by the no-answer probabilities of its answers;
            () where there are none.
        status_codes: Whether each answer has a score, and if not why, as places in `STATUSES`, (R,[T,]N); None where
            all are scored.
        reported: Of each run the mean score that its log gives; None where it gives none.
        unrecorded: Statuses that the files do not record.
        trials: Whether runs are attempts at the same examples by one model, such as samples or epochs.
        left_out: Names of examples that are left out, since a run lacks them or their score, and whether any run
            answered each.
        dealt: Whether the order of rows alone tells these attempts apart, so that they are no runs with a spread.
        numbered: Whether `seeds` are running numbers, and say nothing of how the runs were started.
        keyed: Whether a harness wrote example, right answer and score of each answer together.
        traits: Columns of the examples that were asked for by name, {name: (N,)} strings: a date, a difficulty.
        weights: How much each example counts in a mean, (N,); None where all count alike.
        weighted_by: The column that they are from; "" without.
        remarks: By what labels were read, and which examples are in no score.
    """

    model: str
    dataset: str
    condition: str
    split: str
    label_names: tuple[str, ...]
    gold: NDArray[np.int64] | None
    predictions: NDArray[np.int64] | None
    logits: NDArray[np.floating[Any]] | None
    scores: NDArray[np.float64]
    seeds: NDArray[Any]
    checkpoints: NDArray[Any] | None
    example_ids: NDArray[Any]
    groups: dict[str, NDArray[Any]] = field(default_factory=dict)
    train_set: str = ""
    contradicted: int = 0
    configuration: Mapping[str, Any] = field(default_factory=dict)
    grades: tuple[float, float] | None = None
    base_model: str = ""
    thresholds: tuple[BestThresholds, ...] = ()
    status_codes: NDArray[np.int8] | None = None
    reported: tuple[float | None, ...] = ()
    unrecorded: tuple[Status, ...] = ()
    left_out: Mapping[str, bool] = field(default_factory=dict)
    numbered: bool = False
    trials: bool = False
    dealt: bool = False
    keyed: bool = False
    traits: dict[str, NDArray[Any]] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None
    weighted_by: str = ""
    remarks: tuple[str, ...] = ()

    @classmethod
    def from_arrays(
        cls,
        predictions: ArrayLike | None = None,
        gold: ArrayLike | None = None,
        logits: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        seeds: ArrayLike | None = None,
        checkpoints: ArrayLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        example_ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        model: str = "model",
        dataset: str = "dataset",
        condition: str = "paired",
        split: str = "",
        train_set: str = "",
        configuration: Mapping[str, Any] | None = None,
    ) -> Runs:
        """Make runs from what is in memory.

        Scores are taken as given; without them they are correctness, predictions == gold. Predictions are taken
        as given; without them they are the argmax of the logits (the first of equals).

        Args:
            predictions: Label codes or label names, (R,[T,]N); one run may be given as (N,).
            gold: Label codes or names, (N,).
            logits: (R,[T,]N,K); probabilities' logarithms will do. One run may be given as (N,K).
            scores: In [0, 1], (R,[T,]N) or (N,).
            seeds: (R,); without them 0 to R-1.
            checkpoints: (T,), for arrays with an axis T.
            label_names: The K labels in the order of codes and logits. Without them: the names met, if labels
                are names (entailment, neutral, contradiction in this order, others sorted), else "0", "1", ...
            example_ids: (N,); without them "0" to "N-1".
            groups: {name: (N,)}.
            model: Name of the model.
            dataset: Name of the dataset.
            condition: paired, premise_only or hypothesis_only.
            split: Name of the part.
            train_set: Name of the training data.
            configuration: How the model was asked: {"prompt": "cot", "temperature": 0}. Runs in one table that have
                others are never taken for repeats.

        Raises:
            InputError: There is nothing to score, shapes do not fit, scores are NaN or outside [0, 1], logits
                have the wrong number of classes, a label is unknown, ids repeat, or there are no examples.
        """
        raw_logits = None if logits is None else _with_runs(_floats(logits, "logits"), 2)
        raw_predictions = None if predictions is None else _with_runs(np.asarray(predictions), 1)
        raw_gold = None if gold is None else np.asarray(gold)
        names = _label_names(label_names, raw_predictions, raw_gold, raw_logits)
        _check_logits(raw_logits, names)
        predicted = None if raw_predictions is None else _codes(raw_predictions, names, "predictions")
        if predicted is None and raw_logits is not None:
            predicted = raw_logits.argmax(axis=-1).astype(np.int64)
        right = None if raw_gold is None else _codes(raw_gold, names, "gold")
        if scores is not None:
            values = _with_runs(_floats(scores, "scores").astype(np.float64), 1)
        else:
            values = _correctness(predicted, right)
        check_scores(values)
        n_runs, n_examples = values.shape[0], values.shape[-1]
        return cls(
            model=model,
            dataset=dataset,
            condition=condition,
            split=split,
            label_names=names,
            gold=right,
            predictions=predicted,
            logits=raw_logits,
            scores=values,
            seeds=np.arange(n_runs) if seeds is None else np.atleast_1d(np.asarray(seeds)),
            checkpoints=None if checkpoints is None else np.atleast_1d(np.asarray(checkpoints)),
            example_ids=_strings(np.arange(n_examples) if example_ids is None else example_ids),
            groups={name: _strings(values) for name, values in (groups or {}).items()},
            train_set=train_set,
            configuration=flat(configuration or {}),
            numbered=seeds is None,
        )

    def __post_init__(self) -> None:
        check_scores(self.scores)
        n_runs, n_examples = self.scores.shape[0], self.scores.shape[-1]
        _check_shape("predictions", self.predictions, self.scores.shape)
        _check_shape("status_codes", self.status_codes, self.scores.shape)
        _check_shape("gold", self.gold, (n_examples,))
        _check_shape("example_ids", self.example_ids, (n_examples,))
        _check_shape("seeds", self.seeds, (n_runs,))
        _check_shape("weights", self.weights, (n_examples,))
        for name, values in (self.groups | self.traits).items():
            _check_shape(f"group {name!r}", values, (n_examples,))
        if self.logits is not None:
            _check_shape("logits", self.logits[..., 0], self.scores.shape)
        if self.checkpoints is not None:
            _check_shape("checkpoints", self.checkpoints, (self.n_checkpoints,))
            if len(set(self.checkpoints.tolist())) < self.n_checkpoints:
                raise InputError("a checkpoint is there twice", mend="give each checkpoint once")
        if len(set(self.seeds.tolist())) < n_runs:
            raise InputError(
                f"{n_runs} runs have {len(set(self.seeds.tolist()))} different seeds",
                mend="give each run its own seed, or a name",
            )
        check_unique(self.example_ids)

    @property
    def stated_seeds(self) -> tuple[int, ...]:
        """The seed that each run states, as a number or as part of its name (seed3-step900); () where one states none.

        Several runs may state one seed: they are checkpoints of one training. Attempts at the same examples are drawn
        one by one, and so are none, where no two are alike.
        """
        if self.trials and len(np.unique(self.scores.reshape(self.n_runs, -1), axis=0)) == self.n_runs:
            return tuple(range(self.n_runs))
        found = [] if self.numbered else [stated_seed(seed) for seed in self.seeds.tolist()]
        return tuple(seed for seed in found if seed is not None) if None not in found else ()

    @property
    def n_runs(self) -> int:
        """R, how many runs."""
        return int(self.scores.shape[0])

    @property
    def n_checkpoints(self) -> int:
        """T, how many checkpoints of each run; 1 where the arrays have no such axis."""
        return int(self.scores.shape[1]) if self.scores.ndim == 3 else 1

    @property
    def n_examples(self) -> int:
        """N, how many examples."""
        return int(self.scores.shape[-1])

    def final(self) -> Runs:
        """The same runs at their last checkpoint only, without the axis T."""
        return self.at(self.n_checkpoints - 1)

    def at(self, step: int) -> Runs:
        """The same runs at their checkpoint number `step` (from 0) only, without the axis T."""
        if self.scores.ndim == 2:
            return self
        return dataclasses.replace(
            self,
            scores=np.ascontiguousarray(self.scores[:, step]),
            predictions=None if self.predictions is None else self.predictions[:, step],
            logits=None if self.logits is None else self.logits[:, step],
            checkpoints=None if self.checkpoints is None else self.checkpoints[[step]],
            status_codes=None if self.status_codes is None else self.status_codes[:, step],
        )

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which answers have a score, (R,[T,]N); the others count as wrong in `scores`."""
        if self.status_codes is None:
            return np.ones(self.scores.shape, dtype=np.bool_)
        return np.asarray(self.status_codes < N_SCORED)

    @property
    def weighed(self) -> NDArray[np.float64]:
        """Scores whose plain means are the weighted ones, (R,[T,]N); see `goldassay.stats.clusters.weigh`."""
        return weigh(self.scores, self.weights)

    @property
    def size(self) -> float:
        """How much all examples count together: their number, or the sum of their weights."""
        return float(self.n_examples if self.weights is None else self.weights.sum())

    @property
    def status(self) -> NDArray[np.str_]:
        """Whether each answer has a score, and if not why, (R,[T,]N): scored, unparsed, empty, ..., missing."""
        codes = np.zeros(self.scores.shape, dtype=np.int8) if self.status_codes is None else self.status_codes
        return np.array(STATUSES)[codes]

    def of_runs(self, runs: ArrayLike) -> Runs:
        """The scores of some of the runs, or of all in another order, by their places (M,); without predictions."""
        rows = np.asarray(runs)
        return dataclasses.replace(
            self,
            scores=self.scores[rows],
            seeds=self.seeds[rows],
            status_codes=None if self.status_codes is None else self.status_codes[rows],
            predictions=None,
            logits=None,
            thresholds=(),
            reported=(),
        )

    def take(self, examples: ArrayLike) -> Runs:
        """The same runs on some of the examples: positions (M,) or a mask (N,)."""
        rows = np.asarray(examples)
        return dataclasses.replace(
            self,
            scores=self.scores[..., rows],
            predictions=None if self.predictions is None else self.predictions[..., rows],
            logits=None if self.logits is None else self.logits[..., rows, :],
            gold=None if self.gold is None else self.gold[rows],
            example_ids=self.example_ids[rows],
            thresholds=(),
            # The log's number is of all examples.
            reported=(),
            status_codes=None if self.status_codes is None else self.status_codes[..., rows],
            groups={name: values[rows] for name, values in self.groups.items()},
            traits={name: values[rows] for name, values in self.traits.items()},
            weights=None if self.weights is None else self.weights[rows],
        )

    def __repr__(self) -> str:
        return f"Runs({self._summary()})"

    def _summary(self) -> str:
        shape = f"{self.n_runs} runs"
        if self.scores.ndim == 3:
            shape += f" x {self.n_checkpoints} checkpoints"
        return f"{self.model} on {self.dataset}, {self.condition}: {shape} x {self.n_examples} examples"

    def _repr_html_(self) -> str:
        means = self.final().scores.mean(axis=1)
        rows = "".join(
            f"<tr><td>{escape(str(seed))}</td><td>{100 * mean:.2f}</td></tr>"
            for seed, mean in zip(self.seeds[:20], means[:20], strict=True)
        )
        more = f"<p>and {self.n_runs - 20} more runs</p>" if self.n_runs > 20 else ""
        return (
            f"<div><p>{escape(self._summary())}</p><table><thead><tr><th>seed</th><th>score, points</th></tr>"
            f"</thead><tbody>{rows}</tbody></table>{more}</div>"
        )


def _floats(values: ArrayLike, what: str) -> NDArray[np.floating[Any]]:
    try:
        array = np.asarray(values)
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the {what} are not an array of numbers ({error})") from error


def _with_runs(values: NDArray[Any], ndim_of_one: int) -> NDArray[Any]:
    """Give a single run its axis R."""
    return values[np.newaxis] if values.ndim == ndim_of_one else values


def _strings(values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    return array if array.dtype.kind in "UT" else np.array([str(value) for value in array.tolist()], dtype=np.str_)


def _label_names(
    given: Sequence[str] | None,
    predictions: NDArray[Any] | None,
    gold: NDArray[Any] | None,
    logits: NDArray[Any] | None,
) -> tuple[str, ...]:
    from goldassay.runs.labels import order_labels

    if given is not None:
        names = tuple(str(name) for name in given)
        if len(set(names)) < len(names):
            raise InputError("a label name is there twice", mend="give each label its own name")
        return names
    labelled = [array for array in (predictions, gold) if array is not None and array.size]
    if any(array.dtype.kind not in "iub" for array in labelled):
        if logits is not None:
            raise InputError(
                "the order of the logits' classes is not known", mend="name the labels in order with label_names"
            )
        return order_labels(str(name) for array in labelled for name in np.unique(array))
    highest = max((int(array.max()) for array in labelled), default=-1)
    n_labels = max(highest + 1, 0 if logits is None else logits.shape[-1])
    return tuple(str(code) for code in range(n_labels))


def _codes(values: NDArray[Any], names: tuple[str, ...], what: str) -> NDArray[np.int64]:
    if values.dtype.kind in "iub":
        codes = values.astype(np.int64)
        check_codes(codes, len(names), what)
        return codes
    distinct, inverse = np.unique(values.astype(np.str_), return_inverse=True)
    unknown = [str(name) for name in distinct if name not in names]
    if unknown:
        raise InputError(
            f"the {what} hold {unknown[0]!r}, which is not a label", mend="give all labels with label_names"
        )
    lookup = np.array([names.index(str(name)) for name in distinct], dtype=np.int64)
    return lookup[inverse.reshape(values.shape)]


def _check_logits(logits: NDArray[Any] | None, names: tuple[str, ...]) -> None:
    if logits is None:
        return
    if logits.ndim not in (3, 4):
        raise InputError(f"logits have {logits.ndim} axes", mend="they must be (R, N, K) or (R, T, N, K)")
    if logits.shape[-1] != len(names):
        raise InputError(
            f"logits have {logits.shape[-1]} classes, but there are {len(names)} labels",
            mend=f"give logits of the classes in {option('label_names', 'NAME,NAME,...')}, in their order",
        )
    if np.isnan(logits).any():
        raise InputError("some logits are not a number", mend="leave out the runs that failed")


def _correctness(predictions: NDArray[np.int64] | None, gold: NDArray[np.int64] | None) -> NDArray[np.float64]:
    if predictions is None:
        raise InputError("the runs hold neither predictions, logits nor scores", mend="give one of the three")
    if gold is None:
        raise InputError(
            "the runs have predictions but no gold labels to score them by",
            mend=f"give {right_labels()}, or per-example scores",
        )
    if gold.shape != predictions.shape[-1:]:
        raise InputError(f"gold has {gold.size} labels, but the runs have {predictions.shape[-1]} examples")
    return (predictions == gold).astype(np.float64)


def _check_shape(what: str, values: NDArray[Any] | None, shape: tuple[int, ...]) -> None:
    if values is not None and values.shape != shape:
        raise InputError(f"{what} has shape {values.shape}, but the scores need {shape}")
