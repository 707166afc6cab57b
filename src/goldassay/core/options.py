"""Every option, declared once: the type of its value, its help, its bounds, and how a shell writes it.

A function that takes an option has a parameter of its name and of the type that is declared here. From its signature
come the command (`goldassay.cli.generate`), the check of what a caller gives and the arguments in its docstring
(`goldassay.core.commands`), and from an option that is a key of `goldassay.toml` that key (`goldassay.core.settings`).
Nothing heavy is imported, so that a command line can be parsed in milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from goldassay.core.naming import (
    MOST_SEEDS,
    labels_of_predictions,
    of_inputs,
    own_sets,
    seeds,
    sizes,
    toml_values,
)

# The groups of a command's help, in this order.
DATA = "Data"
RUNS = "Runs made elsewhere"
PATTERNS = "Patterns"
TRAINING = "Models and training"
METHOD = "Method"
OUTPUT = "Output"
GENERAL = "General"
GROUPS = (DATA, RUNS, PATTERNS, TRAINING, METHOD, OUTPUT, GENERAL)
# Where it is declared what a command takes by its place.
PLACE = "Arguments"

# By the name of a bound: how the range is written.
_BOUNDS = {"ge": "at least {}", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}


@dataclass(frozen=True)
class Option:
    """One option; the type of its value is what it annotates.

    Attributes:
        help: What it does; the first sentence of a main option fits on a line of the short help.
        group: Group of the help.
        metavar: How the help writes its value; "" for a switch, and for choices, which write themselves.
        main: It is in the short help, `--help`, not only in `--help-all`.
        repeat: A shell may give it several times.
        ge: Least value.
        gt: A value that it must exceed.
        le: Largest value.
        lt: A value that it must stay below.
        min_length: Fewest characters.
        finite: Infinity and NaN are refused, whatever the bounds are.
        setting: The key of the settings that decides where it is not given.
        default: Its default where it is a key of the settings, or one of a bundle of options.
        spelled: How a shell spells it, where not by its name alone.
        shell: A sentence for the help of the command line.
        further: How the help writes places that are more values of it; "" where there are none.
        parse: Makes the value of what a shell gives, where its type does not say how: a text, or a list of them.
    """

    help: str
    group: str
    metavar: str = ""
    _: KW_ONLY
    main: bool = False
    repeat: bool = False
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    min_length: int | None = None
    finite: bool | None = None
    setting: str = ""
    default: Any = None
    spelled: tuple[str, ...] = ()
    shell: str = ""
    further: str = ""
    parse: Callable[[Any], Any] | None = None

    @property
    def bounds(self) -> dict[str, Any]:
        """The bounds that it has, by name."""
        named = {name: getattr(self, name) for name in (*_BOUNDS, "min_length")}
        return {name: value for name, value in named.items() if value is not None}

    def allows(self, value: Any) -> bool:
        """Whether a value of the right kind is within the bounds."""
        if isinstance(value, str):
            return len(value) >= (self.min_length or 0)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return True
        # NaN keeps no bound, and infinity may keep all.
        return (
            (self.ge is None or value >= self.ge)
            and (self.gt is None or value > self.gt)
            and (self.le is None or value <= self.le)
            and (self.lt is None or value < self.lt)
            and not (self.finite is False and not abs(value) < float("inf"))
        )

    def range(self) -> str:
        """The range that a number must lie in; "" for no bounds."""
        return " and ".join(_BOUNDS[name].format(bound) for name, bound in self.bounds.items() if name in _BOUNDS)


def place(help_text: str, metavar: str, *, repeat: bool = False) -> Option:
    """What a command takes by its place."""
    return Option(help_text, PLACE, metavar, repeat=repeat)


AnyPath = str | os.PathLike[str]

# --- General -------------------------------------------------------------------------------------------------------


class AnySettings:
    """Any `goldassay.core.settings.Settings`, whose model takes longer to import than all that a command line needs."""


_SETTINGS = Option(
    "Settings, or a file that holds them.", GENERAL, "FILE", shell="Without it ./goldassay.toml is read if it is there."
)
Seed = Annotated[
    int | None,
    Option(
        "Seed of everything that draws at random.",
        GENERAL,
        "N",
        main=True,
        ge=0,
        le=2**32 - 1,
        setting="seed",
        default=0,
    ),
]
Quiet = Annotated[bool, Option("Print nothing but errors.", GENERAL, spelled=("--quiet", "-q"))]
SettingsOrFile = Annotated[AnySettings | AnyPath | None, _SETTINGS]

# --- Output --------------------------------------------------------------------------------------------------------

Reparse = Annotated[
    bool,
    Option(
        "Also write a table of answers that no rule, or another rule, reads. It has their texts. It changes no score.",
        OUTPUT,
        main=True,
    ),
]
_OUT = Option(
    "Folder of the results. It is made if it is not there.", OUTPUT, "DIR", main=True, spelled=("--out", "-o")
)
Out = Annotated[AnyPath | None, _OUT]
Folder = Annotated[AnyPath, _OUT]
Json = Annotated[
    AnyPath | None,
    Option(
        "Also write the result to this file. - is standard output, and all else goes to standard error.",
        OUTPUT,
        "FILE",
        main=True,
    ),
]
Junit = Annotated[
    AnyPath | None, Option("Write JUnit XML to this file, one test case per rule.", OUTPUT, "FILE", main=True)
]
Croissant = Annotated[
    AnyPath | None,
    Option(
        "Write what was measured into the RAI fields of this Croissant file. All else in it is kept; without the file, "
        "one is made.",
        OUTPUT,
        "FILE",
        main=True,
    ),
]
Figures = Annotated[
    Literal["pdf", "svg", "png"] | None,
    Option("Draw the figures for a paper as well, one column wide, into DIR/paper.", OUTPUT),
]
Latex = Annotated[bool, Option("Write the tables for a paper as well, as LaTeX with booktabs, into DIR/paper.", OUTPUT)]
PaperTables = Annotated[
    bool,
    Option("Lay the figures out as the tables of the paper, too, as Markdown and CSV, into DIR/paper.", OUTPUT),
]
NoTexts = Annotated[
    bool,
    Option("Write no text of the data: ids of rows stand in their place. Words and patterns are kept.", OUTPUT),
]

# --- Data ----------------------------------------------------------------------------------------------------------

_TRAIN = "Training data: a file, a folder, or a name on the Hugging Face hub."
Train = Annotated[Any, place(_TRAIN, "TRAIN")]
Inputs = Annotated[
    Any,
    place(
        f"{_TRAIN.removesuffix('.')}; or runs, a board, judgments. Several paths are files of one dataset, or logs "
        "of one evaluation.",
        "PATH...",
        repeat=True,
    ),
]
_TEST = Option(
    "Evaluation data: texts, right labels and groups. Runs that answer it are joined by example id.",
    DATA,
    "FILE",
    main=True,
)
Test = Annotated[Any, _TEST]
NamedTest = Annotated[Any, replace(_TEST, metavar="[NAME=]FILE")]
Tests = Annotated[Any, replace(_TEST, metavar="[NAME=]FILE", repeat=True)]
_COLUMNS = Option(
    "Roles of columns: label=c; see goldassay look FILE. goldassay look --help-all lists the roles. "
    "Several columns: NAME+NAME.",
    DATA,
    "ROLE=NAME,...",
    main=True,
    repeat=True,
    parse=",".join,
)
Columns = Annotated[str | Mapping[str, str] | None, _COLUMNS]
ColumnsText = Annotated[str | None, _COLUMNS]
ValueMap = Annotated[
    str | Mapping[str, Mapping[str, str]] | None,
    Option(
        "What the values of a column or role mean, as in label=0:first,1:second,2:tie. Values that are not named stay.",
        DATA,
        "COLUMN=VALUE:NAME,...",
        repeat=True,
        parse="\n".join,
    ),
]
ColumnsOf = Annotated[
    Mapping[str, str | Mapping[str, str]] | None,
    Option(
        "Roles of columns in one input alone: test label=gold. The input is train, test, or the name of a set that is "
        "given as NAME=FILE.",
        DATA,
        "INPUT ROLE=NAME,...",
        repeat=True,
        parse=of_inputs,
    ),
]
Format = Annotated[
    str, Option("The format of the files, where their content does not say it.", DATA, "NAME", default="auto")
]
Elsewhere = Annotated[
    Any,
    Option(
        "Data of another distribution with the same labels. For three labels of inference it may have entailment and "
        "non-entailment. Tests your runs on it; without runs, tests the quick models.",
        DATA,
        "[NAME=]FILE",
        main=True,
        repeat=True,
    ),
]
Corpus = Annotated[
    Any,
    Option(
        "Data that may have been trained on. Files, folders or patterns of JSON lines, Parquet, text or any dataset "
        "format.",
        DATA,
        "PATH",
        main=True,
        repeat=True,
    ),
]
Field = Annotated[
    str,
    Option(
        "Text field of the corpus, such as question+answer. It is a field of JSON or Parquet; + joins several. Of a "
        "list or an object all texts are read, or those of a path: messages.content.",
        DATA,
        "NAME",
        main=True,
        min_length=1,
    ),
]
LabelNames = Annotated[
    Sequence[str] | None,
    Option(
        "All labels that may occur, in the order of the classes where files number them or hold logits.",
        DATA,
        "NAME,...",
    ),
]
_CLUSTERS = Option(
    "Rows that count as one: auto joins those with a text or group in common, none lets each row "
    "count by itself, and columns, separated by commas, join rows with equal values; fields and NAME+NAME as in "
    "--columns.",
    DATA,
    "COLUMN,...",
    min_length=1,
    setting="data.clusters",
    default="auto",
)
Clusters = Annotated[str | None, _CLUSTERS]
# Of runs: examples that share a text are joined where texts are at hand; their groups are mostly kinds of examples.
RunClusters = Annotated[
    str | None, replace(_CLUSTERS, help=f"{_CLUSTERS.help}  [default: auto]", setting="", default=None)
]
SplitBy = Annotated[
    str | None,
    Option(
        "Column of groups, such as a genre, a source, an annotator. Each group is reported separately, and goldassay "
        "split keeps it in one part. Fields and NAME+NAME as in --columns.",
        DATA,
        "COLUMN",
        main=True,
    ),
]
TestShare = Annotated[
    float | None,
    Option(
        "Share of rows held out as the test part.",
        METHOD,
        "S",
        main=True,
        gt=0,
        lt=1,
        setting="data.test_share",
        default=0.2,
    ),
]
By = Annotated[
    str | None,
    Option(
        "Column of groups, such as a genre, a source, an annotator. Each group is reported separately. Fields and "
        "NAME+NAME as in --columns.",
        DATA,
        "COLUMN",
        main=True,
    ),
]
Text = Annotated[
    str | None,
    Option(
        "The text to search, such as premise. all: every text of an example, one after the other.  "
        "[default: the last, of a pair the hypothesis; of mine all, each by itself]",
        DATA,
        "ROLE",
        main=True,
    ),
]
Texts = Annotated[
    Any,
    Option(
        "With TRAIN: texts without labels of the task, predicted for shift detection alone.",
        DATA,
        "[NAME=]FILE",
        repeat=True,
    ),
]
TrainedOn = Annotated[
    Any,
    Option(
        "With --runs: what the models were trained on. Texts of other sets that are in it are left out of "
        "the gap; give the texts with --test.",
        DATA,
        "FILE",
    ),
]
Source = Annotated[
    Any, Option("The files as published, or their folders.", DATA, "FILE", main=True, repeat=True, further="[FILE]...")
]
Board = Annotated[
    Any,
    Option("Scores of other systems on the same items: compares items that are equally hard for these, too.", DATA,
           "TABLE"),
]  # fmt: skip
SkipBroken = Annotated[bool, Option("Leave out what of the corpus cannot be read, without an error at the end.", DATA)]
Decisions = Annotated[
    Path | None,
    Option(
        "Decisions about rows, which goldassay view appends to.  [default: NAME.decisions.jsonl next to the dataset]",
        DATA,
        "FILE",
        main=True,
    ),
]
DataFolder = Annotated[Path | None, Option("Folder with the datasets; see --files.", DATA, "DIR", main=True)]
Files = Annotated[bool, Option("Run nothing: list the files it needs, and their sources.", DATA, main=True)]
Only = Annotated[
    Sequence[str] | None,
    Option("Run this set or model alone, by its name in the tables.", DATA, "NAME", main=True, repeat=True),
]  # fmt: skip
Without = Annotated[
    Sequence[str] | None,
    Option("Leave this set or model out.", DATA, "NAME", repeat=True),
]

# --- Runs made elsewhere -------------------------------------------------------------------------------------------

_RUNS = Option(
    "Predictions: files or folders of any known format. goldassay runs --help names the formats.",
    RUNS,
    "PATH",
    main=True,
    repeat=True,
)
RunPaths = Annotated[Any, _RUNS]
NamedRunPaths = Annotated[Any, replace(_RUNS, metavar="[NAME=]PATH")]
Places = Annotated[Any, place("Files of predictions, or folders, which are searched through.", "PATH...", repeat=True)]
Dataset = Annotated[str | None, Option("Runs on this dataset only.", RUNS, "NAME", main=True)]
Split = Annotated[str | None, Option("Runs on this part of the dataset only.", RUNS, "NAME")]
TrainSet = Annotated[str | None, Option("Runs trained on this only.", RUNS, "NAME")]
Checkpoint = Annotated[int | str | None, Option("One checkpoint of each run, or last.  [default: all]", RUNS, "NAME")]
Labels = Annotated[
    Mapping[str, str] | None,
    Option(
        "What predictions stand for: 0=contradiction,1=entailment,2=neutral.",
        RUNS,
        "NAME=LABEL,...",
        parse=labels_of_predictions,
    ),
]
Align = Annotated[
    Literal["exact", "intersect", "position"],
    Option(
        "exact: all runs must cover the same examples; intersect: keep those that all cover; position: the "
        "i-th row is the i-th example of the evaluation set.",
        RUNS,
        default="exact",
    ),
]
Missing = Annotated[
    Literal["auto", "refuse", "wrong", "leave-out", "bounds"],
    Option(
        "Answers without a score, and examples that a run lacks. wrong: they count 0; leave-out: only examples that "
        "all runs answered; bounds: as wrong, with the range of each difference over all ways to score them; refuse: "
        "an error. auto counts answers without a score as wrong, and refuses examples that a run lacks.",
        RUNS,
        default="auto",
    ),
]
Grades = Annotated[
    str | None,
    Option(
        "The scores are grades from LOW to HIGH, such as 1:5. They are measured as shares of this scale: a point "
        "is a hundredth of it. instability, compare, runs show and runs scores also show mean grades.",
        RUNS,
        "LOW:HIGH",
    ),
]
PoolConfigurations = Annotated[
    bool,
    Option(
        "Pool runs of different prompts, shots or temperatures as repeats of one model. Without it "
        "each configuration is a model of its own.",
        RUNS,
    ),
]
Models = Annotated[
    Mapping[str, str] | None,
    Option(
        "Which model of --runs is of which condition, where files do not say so; * and ? match several runs.",
        RUNS,
        "CONDITION=MODEL",
        repeat=True,
    ),
]
Embeddings = Annotated[
    Mapping[str, Any] | None,
    Option(
        "Embeddings of the hypothesis (or another text) alone, a row an example: .npy, .npz, Parquet or CSV; "
        "beside --runs, or by themselves with --test.",
        RUNS,
        "ROLE=FILE",
        repeat=True,
    ),
]
Probabilities = Annotated[
    Mapping[str, str] | None,
    Option(
        "The right label's probability, a row an example; by themselves with --test also those of all labels: a "
        "column a label, or in the order of --label-names.",
        RUNS,
        "CONDITION=FILE[:COLUMN]",
        repeat=True,
    ),
]
Bits = Annotated[
    Mapping[str, str] | None,
    Option("The same as -log2 of the probability.", RUNS, "CONDITION=FILE[:COLUMN]", repeat=True),
]
Inside = Annotated[
    Any,
    Option(
        "Predictions on the model's own distribution. They have logits or probabilities; NAME chooses or names the "
        "dataset.",
        RUNS,
        "[NAME=]RUNS",
        main=True,
        repeat=True,
    ),
]
Outside = Annotated[
    Any,
    Option("The same models on other distributions. Labels are ignored.", RUNS, "[NAME=]RUNS", main=True, repeat=True,
           further="[RUNS]..."),
]  # fmt: skip
TrainRuns = Annotated[
    Any,
    Option(
        "The same models on their training data, with features. These are embeddings beside the runs (goldassay "
        "train --record embeddings), or a column or an array called features. Adds Mahalanobis and the k-th "
        "neighbor.",
        RUNS,
        "[NAME=]RUNS",
        main=True,
    ),
]
ModelA = Annotated[str | None, Option("Which model in the first RUNS.", RUNS, "NAME", main=True)]
ModelB = Annotated[str | None, Option("Which model in the second RUNS.", RUNS, "NAME", main=True)]
Names = Annotated[
    str | None,
    Option(
        "What the names of runs say, as a regular expression with groups: model, and condition, train_set, "
        "seed, dataset, split: '(?P<model>.+)_(?P<condition>std|hypothesis)_(?P<seed>.+)'. Any other group is"
        " added to the model.",
        RUNS,
        "REGEX",
    ),
]

# --- Patterns ------------------------------------------------------------------------------------------------------

MaxTokens = Annotated[
    int | None,
    Option("Most words in a pattern.", PATTERNS, "M", main=True, ge=1, le=5, setting="artifacts.max_tokens", default=3),
]
MaxGap = Annotated[
    int | None,
    Option("Most tokens skipped between two words of a pattern.", PATTERNS, "T", main=True, ge=0, le=5,
           setting="artifacts.max_gap", default=3),
]  # fmt: skip
MinCount = Annotated[
    int | None,
    Option(
        "Fewest training examples a pattern must occur in. By default 50 from 200,000 rows on, "
        "below that one in a thousand, and never fewer than 8.",
        PATTERNS,
        "N",
        main=True,
        ge=1,
        setting="artifacts.min_count",
    ),
]
Tokenizer = Annotated[
    str | None,
    Option(
        "How texts are cut: treebank, whitespace, characters, or auto, which is characters for scripts "
        "without spaces, else treebank.",
        PATTERNS,
        "NAME",
        setting="artifacts.tokenizer",
        default="auto",
        shell="Or a function of yours that takes a text and returns its tokens, MODULE:FUNCTION or FILE.py:FUNCTION, "
        "which is imported and run.",
    ),
]
Threshold = Annotated[
    float | None,
    Option("A pattern gives a label away if its share exceeds this.", PATTERNS, "T", main=True, gt=0, lt=1,
           setting="artifacts.threshold", default=0.7),
]  # fmt: skip
Q = Annotated[
    float | None,
    Option(
        "Keep only patterns whose Benjamini-Hochberg q-value is at most this.  [default: keep all, as published]",
        PATTERNS,
        "Q",
        ge=0,
        le=1,
    ),
]
Patterns = Annotated[
    AnyPath | None,
    Option("Patterns mined before (patterns.parquet), instead of mining TRAIN.", PATTERNS, "FILE", main=True),
]

# --- Models and training -------------------------------------------------------------------------------------------

_MODEL = Option(
    "The network to train, or the model of the runs. * and ? match several models, as runs of one.",
    TRAINING,
    "NAME",
    main=True,
    spelled=("--model", "-m"),
)
Model = Annotated[str | None, _MODEL]
# Of these a text may hold several, separated by commas.
AnyModels = Annotated[str | Sequence[str] | None, _MODEL]
ChosenModels = Annotated[str | Sequence[str] | None, replace(_MODEL, repeat=True)]
_CONDITION = (
    "What the model sees, such as hypothesis_only. Also paired, premise_only, shuffled, overlap, length or empty; in "
    "training, or of given runs."
)
Condition = Annotated[str | None, Option(_CONDITION, TRAINING, "NAME", main=True)]
Conditions = Annotated[Sequence[str] | None, Option(_CONDITION, TRAINING, "NAME", main=True, repeat=True)]
_SEEDS = Option("Number of models, each trained with its own seed.", TRAINING, "N", main=True, ge=1, le=MOST_SEEDS)
Seeds = Annotated[int, _SEEDS]
# Of one training nobody knows how far another one would have come.
LeakageSeeds = Annotated[int | None, replace(_SEEDS, ge=2, le=100, setting="leakage.seeds")]
TrainingSeeds = Annotated[
    int | Sequence[int] | None,
    replace(_SEEDS, setting="training.seeds", default=10, parse=seeds),
]
Dev = Annotated[
    Any,
    Option(
        "Data to choose the best epoch by. Without it all epochs are trained.",
        DATA,
        "FILE",
        main=True,
        setting="training.dev",
    ),
]
Vary = Annotated[
    Sequence[str] | None,
    Option("What follows the seed: initialization, order, dropout, subset; by default all of them.", TRAINING,
           "SOURCE,...", setting="training.vary"),
]  # fmt: skip
Configuration = Annotated[
    str | None,
    Option("Sizes and recipe of the network: desk or published; by default desk.", TRAINING, "NAME", main=True,
           setting="training.configuration"),
]  # fmt: skip
Changes = Annotated[
    Mapping[str, Any] | None,
    Option(
        "Settings of the network or its recipe that replace those of the configuration.",
        TRAINING,
        "KEY=VALUE",
        repeat=True,
        setting="training.changes",
        shell="Such as epochs=5.",
        parse=toml_values("changes", "epochs=5"),
    ),
]
Objective = Annotated[
    str | None,
    Option(
        "What is minimized; by default cross_entropy. Also guided_cross_entropy, adversarial, product_of_experts, "
        "learned_mixin, confidence_regularization; for numbers squared_error.",
        TRAINING,
        "NAME",
        main=True,
        setting="training.objective",
    ),
]
ObjectiveChanges = Annotated[
    Mapping[str, Any] | None,
    Option(
        "Settings of the objective that replace its defaults.",
        TRAINING,
        "KEY=VALUE",
        repeat=True,
        setting="training.objective_changes",
        shell="Such as gamma=1.",
        parse=toml_values("objective_changes", "gamma=1"),
    ),
]
Bias = Annotated[
    Any,
    Option(
        "The bias model that the objective takes: quick_probe or a network, trained here on one text "
        "alone; what artifacts mine wrote; or runs that answer the training rows.",
        TRAINING,
        "WHAT",
        setting="training.bias",
    ),
]
BiasFolds = Annotated[
    int | None,
    Option("Folds of a bias model that is trained here, by default 5; 1 lets it judge the rows that it learnt.",
           TRAINING, "N", ge=1, le=100, setting="training.bias_folds"),
]  # fmt: skip
Teacher = Annotated[
    Any,
    Option(
        "Runs that answer the training rows, for confidence_regularization; by default each run trains "
        "its own teacher first.",
        TRAINING,
        "PATH",
        setting="training.teacher",
    ),
]
Rows = Annotated[
    int | None,
    Option("Draw so many training rows; by default all are taken.", DATA, "N", ge=1, setting="training.rows"),
]
Bootstrap = Annotated[
    bool | None, Option("Draw the training rows with replacement.", DATA, setting="training.bootstrap")
]
Vectors = Annotated[
    Any,
    Option("Word vectors to start from: word2vec's or GloVe's text, or word2vec's binary.", TRAINING, "FILE",
           setting="training.vectors"),
]  # fmt: skip
Weights = Annotated[
    str | None,
    Option("Column with a weight for each training row.", DATA, "COLUMN", setting="training.weights"),
]
CheckpointEvery = Annotated[
    int | None,
    Option("Evaluate every so many steps, too; by default at the end only.", TRAINING, "STEPS", ge=1,
           setting="training.checkpoint_every"),
]  # fmt: skip
StateEvery = Annotated[
    float | None,
    Option("Minutes between states of a run that is under way, by default 10: as much work as a kill may cost.",
           TRAINING, "MINUTES", ge=0, finite=False, setting="training.state_every"),
]  # fmt: skip
Record = Annotated[
    Sequence[str] | None,
    Option(
        "What to keep of each run: predictions, logits, embeddings, relevance, dynamics; by default "
        "predictions and logits.",
        TRAINING,
        "WHAT,...",
        setting="training.record",
    ),
]
Precision = Annotated[
    str | None,
    Option("Of matrix products: float32, bfloat16, or auto, which is bfloat16 where the device multiplies in it.",
           TRAINING, "NAME", setting="training.precision"),
]  # fmt: skip
Device = Annotated[
    str | None,
    Option(
        "Where to train: auto, cpu, cuda or mps; by default auto.",
        TRAINING,
        "NAME",
        main=True,
        setting="training.device",
    ),
]
Deterministic = Annotated[
    bool | None,
    Option("The same bits each time on one GPU too, at some cost.", TRAINING, setting="training.deterministic"),
]
Workers = Annotated[
    int | None,
    Option("Trainings side by side. By default one per GPU, without GPUs one per core.", TRAINING, "N", main=True, ge=1,
           le=1024, setting="training.workers"),
]  # fmt: skip
Name = Annotated[str | None, Option("What the runs call the model.  [default: its name]", TRAINING, "NAME")]
Scheduler = Annotated[
    str | None,
    Option("Hand the work to the workers of a dask scheduler instead: its address or its scheduler file.", TRAINING,
           "ADDRESS"),
]  # fmt: skip
DryRun = Annotated[
    bool,
    Option("Train nothing: print how many trainings, hours and bytes it takes.", TRAINING, main=True),
]  # fmt: skip
KeepFeatures = Annotated[
    bool,
    Option(
        "With TRAIN and a network: predict the training data too, as train, and keep features, for shift "
        "detection --train train=DIR/runs.",
        TRAINING,
    ),
]
Pretrained = Annotated[
    str | None,
    Option(
        "Checkpoint to fine-tune: a folder, or a name on the hub. Without it the models of the study that are "
        "pretrained are left out.",
        TRAINING,
        "MODEL",
        main=True,
    ),
]

# --- Method --------------------------------------------------------------------------------------------------------

Discount = Annotated[
    str | None,
    Option(
        "The report of an audit of the same rows: also give scores without what its readers of a part of the input "
        "tell.",
        METHOD,
        "REPORT",
    ),
]
DiscountPart = Annotated[
    str | None,
    Option("Which part of the input to discount, such as premise.  [default: the part whose readers tell most]",
           METHOD, "PART"),
]  # fmt: skip
Cutoff = Annotated[
    str | None,
    Option(
        "Hold examples up to a date against newer ones: their scores, and the difference within equal difficulty where "
        "there is a column of that. 2024-06 and 2024 count to their end; DATE alone is of the role date.",
        METHOD,
        "COLUMN=DATE",
    ),
]
Reference = Annotated[
    str | None, Option("The dataset whose spread those of the others are held against.", METHOD, "DATASET")
]
Groups = Annotated[
    Sequence[str] | None,
    Option("Split the variance by this column, such as a template.  [default: all groups]", METHOD,
           "COLUMN", main=True, repeat=True),
]  # fmt: skip
Claim = Annotated[
    float | None,
    Option("A difference of models in points, to hold against configurations.", METHOD, "POINTS", main=True, gt=0,
           finite=False),
]  # fmt: skip
Matched = Annotated[bool, Option("Runs with the same seed belong together: same data, same order.", METHOD, main=True)]
Method = Annotated[Literal["normal", "bootstrap"], Option("How the interval is made.", METHOD)]
EquivalentWithin = Annotated[
    float | None,
    Option(
        "The largest difference that does not matter, in points. Says whether the models score within it.",
        METHOD,
        "POINTS",
        main=True,
        gt=0,
        finite=False,
    ),
]
NgramWords = Annotated[int, Option("Words of an n-gram that is looked up.", METHOD, "N", ge=5, le=63)]
NearCopies = Annotated[
    bool,
    Option(
        "Also find copies with a letter or a word changed. Compares documents as short as an item with it as a whole; "
        "finds items of fewer than 8 words, too.",
        METHOD,
        main=True,
    ),
]
NClusters = Annotated[
    int | None,
    Option("Clusters of sentences; refused above their number.  [default: 50]", METHOD, "K", ge=1, le=10_000),
]
Components = Annotated[int, Option("Principal components to cluster in; 0 for no PCA.", METHOD, "D", ge=0, le=10_000)]
ClusterThreshold = Annotated[
    float, Option("A cluster whose divergence is above this is called biased.", METHOD, "D", ge=0)
]
Grid = Annotated[
    bool,
    Option(
        "Try all settings that the paper tries, too: numbers of clusters and of components; in studies, what networks "
        "are trained with.",
        METHOD,
    ),
]
SentencePlane = Annotated[
    bool,
    Option("Lay the sentences out on the plane (half a minute for 10,000).", METHOD, spelled=("--plane/--no-plane",)),
]
Shares = Annotated[float | Sequence[float], Option("Which shares of the rows to drop.", METHOD, "SHARE,...", main=True)]
InDistribution = Annotated[
    str | Mapping[str, str] | None,
    Option(
        "Which dataset is of the model's own distribution. With several training sets, one for each.  "
        "[default: the first --test; with --runs the one that is named ID or like the training set]",
        METHOD,
        "[TRAIN=]NAME",
        main=True,
        repeat=True,
        parse=own_sets,
    ),
]
Metric = Annotated[
    Literal["accuracy", "exact_match", "f1", "mean", "pearson", "spearman"] | None,
    Option(
        "What is measured.  [default: by what the files hold; both correlations where labels are numbers]",
        METHOD,
        main=True,
    ),
]
Floor = Annotated[
    float | None,
    Option(
        "What knows nothing scores, for the mean of graded scores, in their unit (0.25 for fractions).  "
        "[default: not declared: 0 is taken, and nothing is called sound]",
        METHOD,
        "VALUE",
    ),
]
Parameters = Annotated[
    Mapping[str, int] | None,
    Option("Parameters of a model, for the gap against size.", METHOD, "MODEL=N", repeat=True, parse=sizes),
]
Draws = Annotated[int, Option("Bootstrap draws of each interval.", METHOD, "N", ge=1, le=1_000_000)]
Scores = Annotated[
    Sequence[str] | None,
    Option("max_softmax, max_logit, energy, entropy, mahalanobis, knn.  [default: all that can be]", METHOD, "NAME",
           main=True, repeat=True),
]  # fmt: skip
Recall = Annotated[float, Option("Share of the out-of-distribution examples to be flagged.", METHOD, "R", gt=0, le=1)]
Rule = Annotated[
    Literal["at_least", "closest", "interpolate"],
    Option("Which threshold: closest is how the paper's authors compute it.", METHOD),
]
Neighbor = Annotated[int, Option("Which neighbor.", METHOD, "K", ge=1, le=100_000)]
MinRows = Annotated[int, Option("With --by: values of the column with fewer rows are left out.", METHOD, "N", ge=1)]
Memory = Annotated[
    str | None,
    Option(
        "Read the files part by part within this memory: 2GB, 800MB. For files too large for memory; what is "
        "written is the same, and it takes longer.",
        METHOD,
        "SIZE",
        main=True,
    ),
]
ByClassifier = Annotated[
    bool,
    Option(
        "Also class by 5 quick classifiers, the other published rule. Hard is what most of them get wrong from the "
        "same text. They are trained on TRAIN; without it, cross-fitted on the test set.",
        METHOD,
        main=True,
    ),
]
Mode = Annotated[
    Literal["debias", "random"],
    Option("debias: rows without a pattern; random: its control.", METHOD, main=True),
]
ClassColumn = Annotated[str, Option("The column of classes; also class_by_classifier.", METHOD, "COLUMN")]
Disjoint = Annotated[
    Sequence[str] | None,
    Option("Texts that may not be in both parts: premise,hypothesis.  [default: all]", METHOD, "ROLE,...", main=True),
]
Repeats = Annotated[
    int,
    Option("How many splits to draw, with seeds from --seed on.", METHOD, "R", main=True, ge=1, le=1000),
]
Scale = Annotated[
    str,
    Option(
        "smoke: a minute; desk: hours; paper: the printed protocol. smoke is on made-up data, desk on two cores, with "
        "small networks and few seeds.",
        METHOD,
        "SIZE",
        main=True,
    ),
]
Kind = Annotated[
    Literal["pairs", "choices", "preferences", "judgments", "corpus"],
    Option("What to write. pairs come with runs of a made-up model, and a corpus with a test set.", METHOD, main=True),
]  # fmt: skip
Size = Annotated[
    str | None,
    Option(
        "Rows of the training file, items, or documents of a corpus. dev and elsewhere have a tenth each; of a corpus "
        "also its bytes (1GB).  [default: 20000, or 8000 items]",
        METHOD,
        "ROWS",
        main=True,
    ),
]
TestSize = Annotated[
    int | None,
    Option(
        "Rows of the test file; items have none.  [default: a quarter of --size]",
        METHOD,
        "ROWS",
        main=True,
        le=10_000_000,
    ),
]
Clean = Annotated[bool, Option("Plant no flaw: a benchmark that is to be called sound.", METHOD, main=True)]
To = Annotated[Literal["every_eval_ever", "eval_results", "long"], Option("The format.", METHOD, main=True)]
Developer = Annotated[
    str | None, Option("Who made the models, where their names do not begin with it: NAME/MODEL.", METHOD, "NAME")
]
Benchmark = Annotated[
    str | None, Option("The benchmark on the hub that the runs answer, and its task in eval.yaml.", METHOD, "ID:TASK")
]
SourceUrl = Annotated[str | None, Option("Where the report or the logs can be read.", METHOD, "URL")]
Organization = Annotated[str | None, Option("Who hands on the scores.", METHOD, "NAME")]
Policy = Annotated[
    Any,
    Option("A settings file with the table [policy]; without it ./goldassay.toml.", GENERAL, "FILE", main=True),
]
Port = Annotated[int, Option("The port of the page; 0 takes any that is free.", OUTPUT, "N", main=True, ge=0, le=65535)]
Export = Annotated[
    Path | None,
    Option(
        "Write the selected rows as one HTML file, and serve nothing. At most 1,000 rows.", OUTPUT, "FILE", main=True
    ),
]
State = Annotated[
    str,
    Option("Which rows to export: what is after the question mark of the address.", OUTPUT, "QUERY"),
]
