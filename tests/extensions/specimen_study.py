"""A study: whether a tiny network beats the majority on a made-up set, and a set of one's own for it."""

from goldassay.data.dataset import Dataset
from goldassay.lab.papers.printed import show_cells
from goldassay.lab.papers.recipe import Conclusion, Findings, Scale, Training, Workplace
from goldassay.lab.papers.sources import Source
from goldassay.runs.reading import read_runs
from goldassay.stats.intervals import mean_interval

OWN = Source(files=("own.jsonl",), origin="the authors of this study")
TITLE, PAPER, NEEDED = "A study of one's own", "Nobody 2026", ()
_TRAINING = Training(train="own train", tests=("own test",), models={"average": "word_average"}, seeds=3)
SCALES = {
    "smoke": Scale(
        sets={"own train": "specimen/train", "own test": "specimen/test"}, trainings=(_TRAINING,), note="Tiny."
    ),
    "desk": Scale(sets={"own set": "own"}, trainings=(), note="Read alone."),
}


def has_released(work: Workplace) -> bool:
    """Whether there is something to measure without training."""
    return "own set" in work.sets


def prepare(work: Workplace) -> dict[str, Dataset]:
    """Nothing is made of others."""
    return {}


def measure(work: Workplace) -> Findings:
    """The accuracy of each run, and its interval."""
    if "own set" in work.sets:
        return Findings(conclusions=(), comparisons=())
    scores = read_runs(work.runs).final().scores.mean(axis=1).tolist()
    ends, mean = mean_interval(scores), sum(scores) / len(scores)
    held = "held" if ends.low > 0.4 else "not shown"
    said = Conclusion("Learns", "The network learns.", "here", held, "By three runs.", mean, ends.low, ends.high)
    cells = [{"model": "average", "dataset": "own test", "ours": 100 * mean}]
    table = show_cells("accuracy", "Accuracy", cells, rows=("model",), columns=("dataset",), drawn="nothing")
    return Findings(conclusions=(said,), comparisons=(table,))
