"""The keys of the settings that are options as well: help, default and bounds, written once.

The settings file, the command line and its help are made from them. They are plain, so that a command line can be
parsed without loading what checks a settings file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# By the name of a bound: what is needed, and how a range is written.
_BOUNDS = {
    "ge": ("it must be {} or more", "at least {}"),
    "gt": ("it must be above {}", "more than {}"),
    "le": ("it must be {} or less", "at most {}"),
    "lt": ("it must be below {}", "less than {}"),
}


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key.

    Attributes:
        help: What it does, in a sentence.
        kind: Type of a value, as Python takes it.
        default: Its value where nothing is given; None where something else decides, which the help says.
        ge: Least value.
        gt: A value that it must exceed.
        le: Largest value.
        lt: A value that it must stay below.
        min_length: Fewest characters.
        finite: Infinity and NaN are refused, whatever the bounds are.
    """

    help: str = ""
    kind: Any = Any
    default: Any = None
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    min_length: int | None = None
    finite: bool | None = None

    @property
    def bounds(self) -> dict[str, Any]:
        """The bounds that it has, by name."""
        named = {name: getattr(self, name) for name in (*_BOUNDS, "min_length")}
        return {name: value for name, value in named.items() if value is not None}

    def refusal(self, value: Any) -> tuple[str, str] | None:
        """What is wrong with a value of the right kind, and what to give; None where it is within the bounds."""
        if isinstance(value, str):
            return ("it must not be empty", "a name") if len(value) < (self.min_length or 0) else None
        kept = {
            "ge": lambda bound: value >= bound,
            "gt": lambda bound: value > bound,
            "le": lambda bound: value <= bound,
            "lt": lambda bound: value < bound,
        }
        bounds = {name: bound for name, bound in self.bounds.items() if name in _BOUNDS}
        broken = next((name for name, bound in bounds.items() if not kept[name](bound)), None)
        if broken is None:
            # NaN keeps no bound, and infinity may keep all.
            return ("a finite number is needed", "one") if self.finite is False and abs(value) == float("inf") else None
        return f"{_BOUNDS[broken][0].format(bounds[broken])}, not {value!r}", self.bounds_in_words()

    def bounds_in_words(self) -> str:
        """The range that a number must lie in; "" for no bounds."""
        bounds = {name: bound for name, bound in self.bounds.items() if name in _BOUNDS}
        return " and ".join(_BOUNDS[name][1].format(bound) for name, bound in bounds.items())


# No training of a thousand seeds is meant; a number of them is a mistake in typing.
MOST_SEEDS = 1000
SEEDS = "How many seeds: models trained alike, each with a seed of its own."

GENERAL = {
    "seed": Key(kind=int, help="Seed of everything that draws at random.", default=0, ge=0, le=2**32 - 1),
}
DATA = {
    "test_share": Key(kind=float, help="Share of rows set apart as a test part.", default=0.2, gt=0, lt=1),
    "clusters": Key(
        kind=str,
        help=(
            "Rows that count as one: auto joins those with a text or group in common, none lets each row "
            "count by itself, and columns, separated by commas, join rows with equal values."
        ),
        default="auto",
        min_length=1,
    ),
    "split_by": Key(
        kind=str,
        help=(
            "Columns, separated by commas, of which no value is in both parts of a split; none for none; by "
            "default those given as group."
        ),
        min_length=1,
    ),
}
ARTIFACTS = {
    "max_tokens": Key(kind=int, help="Most words in a pattern.", default=3, ge=1, le=5),
    "max_gap": Key(kind=int, help="Most tokens skipped between two words of a pattern.", default=3, ge=0, le=5),
    "min_count": Key(
        kind=int,
        help=(
            "Fewest training examples a pattern must occur in; by default 50 from 200,000 rows on, "
            "below that one in a thousand, and never fewer than 8."
        ),
        ge=1,
    ),
    "tokenizer": Key(
        kind=str,
        help=(
            "How texts are cut: treebank, whitespace, characters, or auto, which is characters for scripts "
            "without spaces, else treebank."
        ),
        default="auto",
    ),
    "q": Key(
        kind=float, help="Largest Benjamini-Hochberg q-value of a pattern that is kept.", default=0.01, gt=0, le=1
    ),
    "threshold": Key(
        kind=float, help="A kept pattern gives a label away if its share exceeds this.", default=0.7, gt=0, lt=1
    ),
}
LEAKAGE = {
    # Of one training nobody knows how far another one would have come.
    "seeds": Key(help=SEEDS, kind=int, default=5, ge=2, le=100),
    "model": Key(
        kind=str,
        help=(
            "A network in place of the quick probes: its name, or the place of a checkpoint. Of [training] "
            "hold configuration, changes, rows, bootstrap, vectors, precision, device and workers."
        ),
    ),
}
TRAINING = {
    "model": Key(kind=str, help="Name of a network, or the place of a checkpoint."),
    "dev": Key(help="What to choose the best epoch by; without it all are trained."),
    "seeds": Key(help=SEEDS, kind=int | Sequence[int], default=10, ge=1, le=MOST_SEEDS),
    "vary": Key(
        kind=Sequence[str],
        help="What follows the seed: initialization, order, dropout, subset; by default all of them.",
    ),
    "conditions": Key(kind=Sequence[str], help="What the model sees; by default all texts."),
    "configuration": Key(kind=str, help="Sizes and recipe of the network: desk or published; by default desk."),
    "changes": Key(
        kind=Mapping[str, Any], help="Settings of the network or its recipe that replace those of the configuration."
    ),
    "objective": Key(
        kind=str,
        help=(
            "What is minimized: cross_entropy, guided_cross_entropy, adversarial, product_of_experts, "
            "learned_mixin, confidence_regularization; by default cross_entropy, for numbers squared_error."
        ),
    ),
    "objective_changes": Key(kind=Mapping[str, Any], help="Settings of the objective that replace its defaults."),
    "bias": Key(
        help=(
            "The bias model that the objective takes: quick_probe or a network, trained here on one text "
            "alone; what artifacts mine wrote; or runs that answer the training rows."
        )
    ),
    "bias_folds": Key(
        kind=int,
        help=("Folds of a bias model that is trained here, by default 5; 1 lets it judge the rows that it learnt."),
        ge=1,
        le=100,
    ),
    "teacher": Key(
        help=(
            "Runs that answer the training rows, for confidence_regularization; by default each run trains "
            "its own teacher first."
        )
    ),
    "rows": Key(kind=int, help="Draw so many training rows; by default all are taken.", ge=1),
    "bootstrap": Key(kind=bool, help="Draw the training rows with replacement."),
    "vectors": Key(help="Word vectors to start from: word2vec's or GloVe's text, or word2vec's binary."),
    "weights": Key(kind=str, help="Column with a weight for each training row."),
    "checkpoint_every": Key(kind=int, help="Evaluate every so many steps, too; by default at the end only.", ge=1),
    "state_every": Key(
        kind=float,
        help=("Minutes between states of a run that is under way, by default 10: as much work as a kill may cost."),
        ge=0,
        finite=False,
    ),
    "record": Key(
        kind=Sequence[str],
        help=(
            "What to keep of each run: predictions, logits, embeddings, relevance, dynamics; by default "
            "predictions and logits."
        ),
    ),
    "precision": Key(
        kind=str,
        help=("Of matrix products: float32, bfloat16, or auto, which is bfloat16 where the device multiplies in it."),
    ),
    "device": Key(kind=str, help="Where to train: auto, cpu, cuda or mps; by default auto."),
    "deterministic": Key(kind=bool, help="The same bits each time on one GPU too, at some cost."),
    "workers": Key(
        kind=int, help="Trainings side by side; by default one a GPU, without GPUs one a core.", ge=1, le=1024
    ),
}
