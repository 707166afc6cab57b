"""The options of every command, each declared once, and of each command which it takes.

From these come an option and its help, default and bounds; the keyword of the Python function that does what the
command does; and the model that checks what a caller gives (`goldassay.core.keywords`). An option that is also a key
of `goldassay.toml` is that key. They are plain, so that a command line can be parsed without loading what checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from goldassay.core.setting_keys import ARTIFACTS, DATA, GENERAL, LEAKAGE, MOST_SEEDS, SEEDS, TRAINING, Key

_SECTIONS = {"": GENERAL, "data": DATA, "artifacts": ARTIFACTS, "leakage": LEAKAGE, "training": TRAINING}
# Options that are keys of the settings, by the key.
SETTING_OF = {
    "seed": "seed",
    "share": "data.test_share",
    "clusters": "data.clusters",
    "split_by": "data.split_by",
    **{name: f"artifacts.{name}" for name in ("max_tokens", "max_gap", "min_count", "tokenizer", "threshold")},
    **{name: f"training.{name}" for name in TRAINING if name not in ("model", "seeds", "conditions")},
    "set": "training.changes",
    "objective_set": "training.objective_changes",
}
for _renamed in ("changes", "objective_changes"):
    del SETTING_OF[_renamed]


def key_of_setting(name: str) -> Key:
    """The declaration of a key of the settings, by its dotted name."""
    section, _, last = name.rpartition(".")
    return _SECTIONS[section][last]


OPTIONS: dict[str, Key] = {
    **{option: key_of_setting(name) for option, name in SETTING_OF.items()},
    "seeds": Key(help=SEEDS, kind=int, ge=1, le=MOST_SEEDS),
    "by": Key(help="Take the rows of each value of this column apart: a genre, a source, an annotator.", kind=str),
    "columns": Key(
        help=(
            "Which column plays which role, where the names do not say it: premise=a,hypothesis=b,label=c. Also text, "
            "id, group, split, ignore; of choices: choices, answer, question, passage; of preferences: chosen, "
            "rejected, or responses and winner, prompt; of judgments: winner or seat, order, item, judge, a, b, "
            "people, prompt; of runs: example_id, prediction, seed, score, logits, features, label, model, dataset, "
            "checkpoint; of boards: system, item, score, answer, prediction, run. Several columns: NAME+NAME."
        ),
        kind=str | Mapping[str, str],
    ),
    "corpus": Key(
        help=(
            "What may have been trained on: files, folders or patterns of JSON lines, Parquet or text, also .gz and "
            ".zst."
        ),
    ),
    "data": Key(help="Folder with the datasets; see --files."),
    "elsewhere": Key(
        help=(
            "A set of another distribution, with the same labels or with entailment and non-entailment for three:"
            " asks whether the score holds there, of runs that answer it, else of quick models."
        ),
    ),
    "decisions": Key(
        help=(
            "Decisions about rows, which goldassay view appends to.  [default: NAME.decisions.jsonl beside the dataset]"
        ),
    ),
    "discount": Key(
        help=(
            "The report of an audit of the same rows: also give scores without what its readers of a part of the input "
            "tell."
        ),
        kind=str,
    ),
    "discount_part": Key(
        help="Which part of the input to discount, such as premise.  [default: the part whose readers tell most]",
        kind=str,
    ),
    "export": Key(help="Write the selected rows as one static HTML file, at most 1,000, and serve nothing."),
    "port": Key(help="The port of the page; 0 takes any that is free.", kind=int, default=0, ge=0, le=65535),
    "state": Key(help="Which rows to export: what is after the question mark of the address.", kind=str, default=""),
    "missing": Key(
        help="Items that some system did not answer: leave-out measures the others, wrong takes them as wrong.",
        kind=Literal["leave-out", "wrong"],
        default="leave-out",
    ),
    "field": Key(
        help="The field of JSON and Parquet that holds a corpus' text; several are joined by +: question+answer. Of a "
        "list or an object all texts are read, or those of a path: messages.content.",
        kind=str,
        default="text",
        min_length=1,
    ),
    "files": Key(help="Run nothing: list the files it needs, and where they come from.", kind=bool, default=False),
    "format": Key(help="The format of the files, where their content does not say it.", kind=str, default="auto"),
    "from": Key(help="The files as published, or folders that hold them."),
    "kind": Key(
        help="What it is made of: pairs of sentences, with runs of a made-up model, items, or a corpus and a test set.",
        kind=Literal["pairs", "choices", "preferences", "judgments", "corpus"],
        default="pairs",
    ),
    "label_names": Key(
        help="All labels that may occur, in the order of the classes where files number them or hold logits.",
        kind=Sequence[str],
    ),
    "test": Key(
        help="An evaluation set: its texts, right labels and groups. Runs that answer it are joined by example id."
    ),
    "text": Key(
        help=(
            "The text to search: premise, hypothesis, ...; all: every text of an example, one after the other.  "
            "[default: the last, of a pair the hypothesis]"
        ),
        kind=str,
    ),
    "texts": Key(help="With TRAIN: texts without labels of the task, predicted for shift detection alone."),
    "trained_on": Key(
        help=(
            "With --runs: what the models were trained on. Texts of other sets that stand there are left out of "
            "the gap; give the texts with --test."
        ),
    ),
    "align": Key(
        help=(
            "exact: all runs must cover the same examples; intersect: keep those that all cover; position: the "
            "i-th row is the i-th example of the evaluation set."
        ),
        kind=Literal["exact", "intersect", "position"],
        default="exact",
    ),
    "as": Key(
        help="Which model of --runs is of which condition, where files do not say so; * and ? match several runs.",
        kind=Mapping[str, str],
    ),
    "bits": Key(help="The same as -log2 of the probability."),
    "checkpoint": Key(help="One checkpoint of each run, or last.  [default: all]", kind=int | str),
    "dataset": Key(help="Runs on this dataset only.", kind=str),
    "embeddings": Key(
        help=(
            "Embeddings of the hypothesis (or another text) alone, a row an example: .npy, .npz, Parquet or CSV; "
            "beside --runs, or by themselves with --test."
        ),
    ),
    "inside": Key(
        help=(
            "Predictions with logits or probabilities on the model's own distribution; NAME chooses or names the "
            "dataset."
        ),
    ),
    "labels": Key(help="What predictions stand for: 0=contradiction,1=entailment,2=neutral.", kind=Mapping[str, str]),
    "model_a": Key(help="Which model in the first RUNS.", kind=str),
    "model_b": Key(help="Which model in the second RUNS.", kind=str),
    "names": Key(
        help=(
            "What the names of runs say, as a regular expression with groups: model, and condition, train_set, "
            "seed, dataset, split: '(?P<model>.+)_(?P<condition>std|hypothesis)_(?P<seed>.+)'. Any other group is"
            " added to the model."
        ),
        kind=str,
    ),
    "outside": Key(help="The same models on other distributions; labels are ignored."),
    "pool_configurations": Key(
        help=(
            "Take runs that were asked in different ways (prompt, shots, temperature) for repeats of one. Without it "
            "each configuration is a model of its own."
        ),
        kind=bool,
        default=False,
    ),
    "probabilities": Key(
        help=(
            "The right label's probability, a row an example; by themselves with --test also those of all labels: a "
            "column a label, or in the order of --label-names."
        )
    ),
    "runs": Key(help="Predictions made elsewhere: files or folders in any known format (goldassay runs --help)."),
    "split": Key(help="Runs on this part of the dataset only.", kind=str),
    "train": Key(
        help=(
            "The same models on their training data, all with features: embeddings beside the runs (goldassay "
            "train --record embeddings), or a column or an array called features. Adds Mahalanobis and the k-th "
            "neighbor."
        ),
    ),
    "train_set": Key(help="Runs trained on this only.", kind=str),
    "patterns": Key(help="Patterns mined before (patterns.parquet), instead of mining TRAIN."),
    "q": Key(
        help=(
            "Keep only patterns whose Benjamini-Hochberg q-value is at most this.  [default: keep all, as published]"
        ),
        kind=float,
        ge=0,
        le=1,
    ),
    "condition": Key(
        help=(
            "What the model sees, in training or in given runs: paired, hypothesis_only, premise_only, shuffled, "
            "overlap, length or empty."
        ),
        kind=str,
    ),
    "dry_run": Key(
        help="Train nothing: say how many trainings, how much time on this machine and how much disk it would take.",
        kind=bool,
        default=False,
    ),
    "features": Key(
        help=(
            "With TRAIN and a network: predict the training data too, as train, and keep features, for shift "
            "detection --train train=DIR/runs."
        ),
        kind=bool,
        default=False,
    ),
    "model": Key(
        help=(
            "Name of the model: a network to train, or of given runs the one to read (* and ? match several, as "
            "runs of one)."
        ),
        kind=str,
    ),
    "n": Key(help="Words of an n-gram that is looked up.", kind=int, default=13, ge=5, le=63),
    "name": Key(help="What the runs call the model.  [default: its name]", kind=str),
    "only": Key(help="Run this set or model alone, by its name in the tables; may be given several times."),
    "without": Key(help="Leave this set or model out; may be given several times."),
    "pretrained": Key(
        help=(
            "Checkpoint to fine-tune where the study has a pretrained model: a folder, or a name on the hub. "
            "Without it these are left out."
        ),
        kind=str,
    ),
    "scheduler": Key(
        help="Hand the work to the workers of a dask scheduler instead: its address or its scheduler file.",
        kind=str,
    ),
    "skip_broken": Key(
        help="Leave out what of the corpus cannot be read, without an error at the end.", kind=bool, default=False
    ),
    "board": Key(
        help="Scores of other systems on the same items: compares items that are equally hard for these, too.",
    ),
    "near_copies": Key(
        help=(
            "Compare documents as short as an item with it as a whole, too: finds copies with a letter or a word "
            "changed, and items of fewer than 8 words."
        ),
        kind=bool,
        default=False,
    ),
    "seed_list": Key(help="Which seeds, in place of --seeds.", kind=Sequence[int]),
    "by_classifier": Key(
        help=(
            "Apply the other published rule too: hard is what most of 5 quick classifiers that see only the same "
            "text get wrong. They are trained on TRAIN; without it, cross-fitted on the test set."
        ),
        kind=bool,
        default=False,
    ),
    "claim": Key(
        help="A difference between models, in points: does it exceed what configurations do?",
        kind=float,
        gt=0,
        finite=False,
    ),
    "class": Key(help="The column of classes; also class_by_classifier.", kind=str, default="class"),
    "clean": Key(help="Plant no flaw: a benchmark that is to be called sound.", kind=bool, default=False),
    "cluster_threshold": Key(
        help="A cluster whose divergence is above this is called biased.", kind=float, default=0.25, ge=0
    ),
    "components": Key(help="Principal components to cluster in; 0 for no PCA.", kind=int, default=30, ge=0, le=10_000),
    "developer": Key(help="Who made the models, where their names do not begin with it: NAME/MODEL.", kind=str),
    "disjoint": Key(
        help="Texts that may not be in both parts: premise,hypothesis.  [default: all]", kind=Sequence[str]
    ),
    "draws": Key(help="Bootstrap draws of each interval.", kind=int, default=1000, ge=1, le=1_000_000),
    "floor": Key(
        help=(
            "What knows nothing scores, for the mean of graded scores, in their unit (0.25 for fractions).  "
            "[default: not declared: 0 is taken, and nothing is called sound]"
        ),
        kind=float,
    ),
    "grid": Key(
        help="Score the clusters for several numbers of clusters and components, too.", kind=bool, default=False
    ),
    "grades": Key(
        help=(
            "The scores are grades from LOW to HIGH, such as 1:5. They are measured as shares of this scale: a point "
            "is a hundredth of it. instability, compare, runs show and runs scores also show mean grades."
        ),
        kind=str,
    ),
    "groups": Key(
        help="Take the variance apart by this column: a template, a heuristic.  [default: all groups]",
        kind=Sequence[str],
    ),
    "in_distribution": Key(
        help=(
            "Which dataset is of the model's own distribution, where several training sets are there for each.  "
            "[default: the first --test; with --runs the one that is named ID or like the training set]"
        ),
        kind=str | Mapping[str, str],
    ),
    "k": Key(help="Which neighbor.", kind=int, default=10, ge=1, le=100_000),
    "map": Key(help="Lay the sentences out on the plane (half a minute for 10,000).", kind=bool, default=True),
    "equivalent_within": Key(
        help="The largest difference that does not matter, in points: say whether the models score within it.",
        kind=float,
        gt=0,
        finite=False,
    ),
    "matched": Key(help="Runs with the same seed belong together: same data, same order.", kind=bool, default=False),
    "memory": Key(
        help=(
            "Read the files part by part, never taking more memory than this in all (2GB, 800MB): for files too "
            "large for memory. What is written is the same; it takes longer."
        ),
        kind=str,
    ),
    "method": Key(help="How the interval is made.", kind=Literal["normal", "bootstrap"], default="normal"),
    "metric": Key(
        help="What is measured.  [default: by what the files hold; both correlations where labels are numbers]",
        kind=Literal["accuracy", "exact_match", "f1", "mean", "pearson", "spearman"],
    ),
    "min_rows": Key(help="With --by: values of the column with fewer rows are left out.", kind=int, default=50, ge=1),
    "mode": Key(
        help="debias: from what holds no pattern; random: as many, from the full data.",
        kind=Literal["debias", "random"],
        default="debias",
    ),
    "n_clusters": Key(
        help="Clusters of sentences; refused above their number.  [default: 50]", kind=int, ge=1, le=10_000
    ),
    "organization": Key(help="Who hands on the scores.", kind=str),
    "parameters": Key(help="Parameters of a model, for the gap against size.", kind=Mapping[str, int]),
    "recall": Key(
        help="Share of the out-of-distribution examples to be flagged.", kind=float, default=0.95, gt=0, le=1
    ),
    "reference": Key(help="The dataset whose spread those of the others are held against.", kind=str),
    "repeats": Key(
        help="How many splits to draw, with seeds one after the other from --seed.", kind=int, default=1, ge=1, le=1000
    ),
    "rule": Key(
        help="Which threshold: closest is how the paper's authors compute it.",
        kind=Literal["at_least", "closest", "interpolate"],
        default="at_least",
    ),
    "scale": Key(
        help=(
            "smoke: a minute, on made-up data. desk: hours on two cores, small networks, few seeds. paper: the "
            "printed protocol."
        ),
        kind=str,
        default="desk",
    ),
    "score": Key(
        help="max_softmax, max_logit, energy, entropy, mahalanobis, knn.  [default: all that can be]",
        kind=Sequence[str],
    ),
    "shares": Key(
        help="Which shares of the rows to drop.", kind=float | Sequence[float], default=(0.02, 0.05, 0.1, 0.2, 0.3)
    ),
    "size": Key(
        help=(
            "Rows of the training file, dev and elsewhere having a tenth each; or items; or documents of a corpus, or "
            "its bytes (1GB).  [default: 20000, or 8000 items]"
        ),
        kind=int | str,
    ),
    "test_size": Key(
        help="Rows of the test file; items have none.  [default: a quarter of --size]", kind=int, le=10_000_000
    ),
    "to": Key(help="The format.", kind=Literal["every_eval_ever", "long"]),
    "figures": Key(
        help="Draw the figures for a paper as well, one column wide, into DIR/paper.", kind=Literal["pdf", "svg", "png"]
    ),
    "json": Key(
        help="Write the result to this file as well; - is standard output, and all else goes to standard error."
    ),
    "junit": Key(help="Write JUnit XML to this file, a test case a rule."),
    "latex": Key(
        help="Write the tables for a paper as well, as LaTeX with booktabs, into DIR/paper.", kind=bool, default=False
    ),
    "out": Key(help="Folder for what is written; made if it is not there."),
    "config": Key(help="Settings; without it ./goldassay.toml is read if it is there."),
    "quiet": Key(help="Print nothing but errors.", kind=bool, default=False),
}


@dataclass(frozen=True)
class Command:
    """What one command takes.

    Attributes:
        options: Names of its options that its Python function takes too, by the keyword.
        own: Options of which it has another default or, in Python, another type.
        settings: Options that are keys of the settings for this command alone, by the key.
        shell: Options that only a shell needs: a function returns what these write or show.
        places: Keywords that the command takes by their place.
        function: Its Python function, a name of `goldassay`; "" where there is none.
    """

    options: Mapping[str, str]
    own: Mapping[str, Key] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    shell: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    function: str = ""

    def key(self, option: str) -> Key:
        """The declaration of one of its options."""
        if option in self.settings:
            return key_of_setting(self.settings[option])
        return self.own.get(option) or OPTIONS[option]

    def is_setting(self, option: str) -> bool:
        """Whether one of its options is a key of the settings."""
        return option in SETTING_OF or option in self.settings

    def keywords(self) -> dict[str, Key]:
        """Declarations by the keyword of Python; of what is taken by its place nothing is declared but the name."""
        return {name: Key() for name in self.places} | {name: self.key(each) for name, each in self.options.items()}


def _named(*same: str, **renamed: str) -> dict[str, str]:
    return {name: name for name in same} | renamed


_SETTINGS, _SHOWN = {"settings": "config", "quiet": "quiet"}, ("json",)
_REPORT = ("out", "json", "figures", "latex")
# What every function that reads runs takes.
_READING = _named(
    "format",
    "condition",
    "split",
    "train_set",
    "checkpoint",
    "columns",
    "labels",
    "label_names",
    "align",
    "grades",
    "pool_configurations",
    gold="test",
)
_READING_ALL = _READING | _named("model", "dataset")
_MINING = ("max_tokens", "max_gap", "min_count", "tokenizer", "text", "columns", "clusters", "format")
_SEVERAL_CONDITIONS = replace(OPTIONS["condition"], kind=Sequence[str])
_SEVERAL_MODELS = replace(OPTIONS["model"], kind=str | Sequence[str])

COMMANDS = {
    "audit": Command(
        _named(
            "test", "runs", "elsewhere", "corpus", "field", "model", "out", "columns", "clusters", "split_by",
            "label_names", "format", "pool_configurations", "align", "grades", "seed",
        )
        | _SETTINGS,
        shell=_SHOWN,
        places=("train",),
        function="audit",
    ),
    "artifacts mine": Command(
        _named(*_MINING, "test", "by", "seed") | _SETTINGS,
        # In parts, patterns go from disk to disk.
        shell=("out", "json", "memory"),
        places=("train",),
        function="measure_artifacts",
    ),
    "artifacts assign": Command(
        _named(*_MINING, "test", "threshold", "patterns", "out", "q", "by_classifier") | _SETTINGS,
        shell=_SHOWN,
        places=("train",),
    ),
    "artifacts gap": Command(
        _named(
            "runs", "model", "condition", "dataset", "names", "test", "columns", "labels", "align", "grades",
            "clusters", "class", "out", "seed",
        )
        | _SETTINGS,
        own={"model": _SEVERAL_MODELS},
        shell=_SHOWN,
        places=("subsets",),
    ),
    "artifacts classify": Command(
        _named("test", "out", "seeds", "seed", "min_count", "tokenizer", "text", "columns", "clusters", "format")
        | _SETTINGS,
        own={"seeds": replace(OPTIONS["seeds"], default=5)},
        shell=_SHOWN,
        places=("train",),
    ),
    "artifacts downsample": Command(
        _named(*_MINING, "threshold", "mode", "seed", "out", "patterns", "q") | _SETTINGS,
        shell=_SHOWN,
        places=("train",),
    ),
    "leakage measure": Command(
        _named(
            "test", "runs", "model", "seeds", "embeddings", "probabilities", "bits", "dataset", "train_set", "labels",
            "label_names", "align", "pool_configurations", "n_clusters", "components", "cluster_threshold", "grid",
            "map", "out", "columns", "clusters", "split_by", "seed", conditions="condition", models="as",
        )
        | _SETTINGS,
        own={"condition": _SEVERAL_CONDITIONS},
        settings={"seeds": "leakage.seeds"},
        shell=("json", "figures", "latex"),
        places=("train",),
        function="measure_leakage",
    ),
    "leakage suggest": Command(
        _named("test", "condition", "shares", "columns", "seed") | _SETTINGS,
        shell=("out", "json"),
        places=("train",),
        function="suggest_rewrites",
    ),
    "instability": Command(
        _READING_ALL | _named("reference", "groups", "discount", "discount_part", "seed") | _SETTINGS,
        shell=_REPORT,
        places=("runs",),
        function="measure_instability",
    ),
    "sensitivity": Command(
        {name: each for name, each in _READING_ALL.items() if name != "pool_configurations"}
        | _named("claim", "seed")
        | _SETTINGS,
        shell=("out", "json"),
        places=("runs",),
        function="measure_sensitivity",
    ),
    "board": Command(
        _READING_ALL | _named("missing", "clusters", "discount", "discount_part", "seed") | _SETTINGS,
        shell=("out", "json"),
        places=("table",),
        function="rank_systems",
    ),
    "overlap": Command(
        _named(
            "corpus", "field", "n", "near_copies", "runs", "board", "dataset", "align", "scheduler", "skip_broken",
            "columns", "clusters", "format", "out", "seed",
        )
        | _SETTINGS,
        shell=_SHOWN,
        places=("test",),
        function="measure_overlap",
    ),
    "compare": Command(
        _READING
        | _named(
            "dataset", "model", "model_a", "model_b", "clusters", "matched", "method", "equivalent_within", "discount",
            "discount_part", "seed",
        )
        | _SETTINGS,
        own={"model": _SEVERAL_MODELS, "clusters": replace(DATA["clusters"], default="none")},
        shell=_REPORT,
        places=("runs",),
        function="compare_models",
    ),
    "shift build": Command(
        _named("by", "min_rows", "columns", "seed", files="from"),
        shell=("out", "json", "quiet"),
        places=("name",),
        function="build_shift",
    ),
    "shift generalization": Command(
        _READING
        | _named(
            "test", "runs", "model", "seeds", "texts", "features", "in_distribution", "metric", "floor", "parameters",
            "trained_on", "out", "seed", n_draws="draws",
        )
        | _SETTINGS,
        own={"model": _SEVERAL_MODELS, "seeds": replace(OPTIONS["seeds"], default=3)},
        shell=("json", "figures", "latex"),
        places=("train",),
        function="measure_shift",
    ),
    "shift detection": Command(
        {name: each for name, each in _READING_ALL.items() if name not in ("dataset", "align")}
        | _named("inside", "outside", "train", "recall", "rule", "k", "seed", scores="score", n_draws="draws")
        | _SETTINGS,
        shell=_REPORT,
        function="detect_shift",
    ),
    "train": Command(
        _named(
            "test", "model", "out", "seeds", "dev", "vary", "configuration", "objective", "bias", "bias_folds",
            "teacher", "vectors", "rows", "bootstrap", "weights", "checkpoint_every", "state_every", "record",
            "precision", "deterministic", "device", "workers", "columns", conditions="condition", changes="set",
            objective_changes="objective_set", label="name",
        )
        | {"settings": "config"},
        own={"condition": _SEVERAL_CONDITIONS},
        settings={"seeds": "training.seeds"},
        # Of a function --seeds takes a list, too.
        shell=("json", "seed_list", "quiet"),
        places=("train",),
        function="train",
    ),
    "sweep": Command(_named("workers", "scheduler", "dry_run", "out"), shell=("json", "quiet"), places=("plan",)),
    "studies": Command(
        _named(
            "scale", "data", "only", "without", "pretrained", "files", "dry_run", "precision", "device", "workers",
            "scheduler", "out", "seed",
        ),
        shell=("json", "quiet"),
        places=("name",),
    ),
    "specimen": Command(_named("out", "kind", "size", "test_size", "seed", "clean"), shell=("quiet",)),
    "split": Command(
        _named("disjoint", "split_by", "share", "seed", "repeats", "out", "columns", "format") | _SETTINGS,
        shell=_SHOWN,
        places=("data",),
    ),
    "view": Command({}, shell=("test", "decisions", "port", "export", "state", "quiet"), places=("report",)),
    "mend": Command(
        {}, shell=("decisions", "runs", "align", "out", "columns", "format", "json", "quiet"), places=("data",)
    ),
    "check": Command({"policy": "config"}, shell=("junit", "json", "quiet"), places=("reports",), function="check"),
    "diff": Command({}, shell=("out", "json", "quiet"), places=("before", "after"), function="diff"),
    "runs list": Command(_named("format", "columns"), shell=("json", "quiet"), places=("path",)),
    "runs show": Command(_READING_ALL, shell=("json", "quiet"), places=("path",)),
    "runs import": Command(_READING_ALL | _named("out"), shell=("quiet",), places=("path",)),
    "runs export": Command(
        _READING_ALL | _named("out", "to", "developer", "organization"), shell=("quiet",), places=("path",)
    ),
    "runs scores": Command(_READING_ALL | _named("seed") | _SETTINGS, shell=("json",), places=("path",)),
    "runs summarize": Command(_READING_ALL | _named("out"), shell=("json", "quiet"), places=("path",)),
}  # fmt: skip
