r"""Reading an answer out of a text by several rules, to see how far a score depends on the rule.

What harnesses do, and what is done here:

- lm-evaluation-harness (GSM8K) takes the first number after `####` ("strict-match"), or the last number of the text
  ("flexible-extract"), and compares without commas, dollar signs and a final dot.
- MMLU-Pro takes the first "answer is (X)", else the last "Answer: X", else the last letter that stands alone.
- simple-evals takes the first "Answer: X"; Math-Verify takes "final answer is", else the last `\boxed{}`.

*first* and *last* are the first and the last candidate of the text: a number, a choice's letter, or one of few labels.
*anchored* is the candidate right after an anchor, the surest kind of anchor that the text has: `####`, `\boxed{}`, then
"answer is", "answer:" or, of numbers, a line that begins with "A:". Of several anchors of a kind the first counts, as
models without a stop sequence go on to questions of their own; of boxes the last, as solutions box steps, too.
*after_think* reads what follows `</think>`: anchored there, else the last candidate; a text without the tag has none.
A text without a candidate has no answer. A letter that may be a word ("A", "I") is no candidate before a lower-case
word.

Of open answers ("Marie Curie") and of formulas ("\frac{1}{2}") candidates are what stands behind an anchor: the content
of a box, else the rest of the line or sentence. Open answers are compared without case, articles and punctuation,
formulas by their notation: spaces, `\left`, `\dfrac` for `\frac`, dollar signs and `\text{}` make no difference, and
numbers by their value: 0.5 is `\frac{1}{2}`. No rule takes an expression apart, so that a symbolic check finds as many
right or more.

Source: EleutherAI, lm_eval/tasks/gsm8k; Wang et al. 2024 (MMLU-Pro), compute_accuracy.py; OpenAI, simple-evals;
Kydlíček 2025, Math-Verify; Rajpurkar et al. 2016 (SQuAD) for the comparison of open answers; Hendrycks et al. 2021
(MATH), for that of notations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from goldassay.questions.answered.result import Reading, ReadingPair
from goldassay.stats.clusters import effective_clusters, variance_of_mean
from goldassay.stats.significance import t_p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.runs.run_parts import Outputs
    from goldassay.runs.runs import Runs

# A rule that finds an answer in a smaller share of the texts says nothing of them.
SOME = 0.1
RULES = ("first", "last", "anchored", "after_think")
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\$?(?:\d[\d,]*(?:\.\d+)?|\.\d+)")
_LETTER = r"(?<![\w'’-])(?:\([{0}]\)|[{0}](?![\w'’-])(?!(?<=[AI])[ \t]+(?!(?:is|and|or)\b)[a-z]))"
_MARK, _BOX = re.compile(r"####"), re.compile(r"\\boxed\s*\{")
_WORDS = re.compile(r"answer\b(?:\s+is\b|\s*:)", re.IGNORECASE)
# Where choices have letters, "A:" names one of them.
_LINE = re.compile(r"answer\b(?:\s+is\b|\s*:)|^A:", re.IGNORECASE | re.MULTILINE)
_THOUGHT = "</think>"
# What stands before the right answer of a worked solution.
_SOLUTION = re.compile(r".*(?:####|^A:)", re.DOTALL | re.MULTILINE)
# Between an anchor and its answer there is no more than markup and a word or two.
_NEAR = 30
# The rest of a line up to the end of a sentence: a dot before a space, or the last one, but not that of an initial.
_REST = re.compile(r"[ \t:*_`\"'“]*([^\n]*?)(?=(?<!\b[A-Z])\.(?:\s|$)|</?think>|[\n;]|$)")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_LATEX = re.compile(r"[\\^]|\$")
_SIZES = re.compile(r"\\(?:left|right|displaystyle|,|;|!|:|quad|qquad)(?![A-Za-z])|\$|\\[()\[\]]|\s+")
_FRACTIONS, _TEXT = re.compile(r"\\[dt]frac(?![A-Za-z])"), re.compile(r"\\(?:text|mathrm|mbox|textbf)\{([^{}]*)\}")
_SHORTHAND = re.compile(r"\\frac(\w)(\w)")
_QUOTIENT, _VALUE = re.compile(r"\\frac\{(\d+)\}\{(\d+)\}"), re.compile(r"-?[0-9.]{1,30}(/[0-9]{1,30})?")
# Words of an open answer.
_MOST_WORDS = 8
# More labels than these are no set to choose from.
_MOST_LABELS = 20
_LONGEST_LABEL = 40
_ALPHA = 0.05


@dataclass(frozen=True)
class Form:
    """What answers look like.

    Attributes:
        name: number, letter, label, text or formula.
        candidates: Finds all in a text; None of open answers, which stand behind anchors alone.
        value: What is compared: two spellings of one answer have one.
    """

    name: str
    candidates: re.Pattern[str] | None
    value: Callable[[str], str]


def form_of(targets: Iterable[str]) -> Form | None:
    """The form of the right answers; None where they are neither numbers, letters, labels, formulas nor short texts.

    A target that is a worked solution ("... #### 18") counts by its answer, see `target_value`.

    Args:
        targets: Right answers.
    """
    known = sorted({_short(each) for each in targets if each.strip()})
    if not known:
        return None
    if all(re.fullmatch(r"[A-Z]", each) for each in known):
        letters = _LETTER.format(f"A-{max(known[-1], 'D')}")
        return Form("letter", re.compile(letters), lambda text: text.strip("() "))
    if all(_NUMBER.fullmatch(each) for each in known):
        return Form("number", _NUMBER, _number)
    if 1 < len(known) <= _MOST_LABELS and all(len(each) <= _LONGEST_LABEL for each in known):
        by_length = sorted(map(re.escape, known), key=len, reverse=True)
        words = re.compile(rf"(?<!\w)(?:{'|'.join(by_length)})(?!\w)", re.IGNORECASE)
        return Form("label", words, str.casefold)
    if any(len(each) > _LONGEST_LABEL or len(each.split()) > _MOST_WORDS or "\n" in each for each in known):
        return None
    if any(_LATEX.search(each) for each in known):
        return Form("formula", None, _notation)
    return Form("text", None, _plain)


def target_value(target: str, form: Form) -> str:
    """The right answer as it is compared; of a worked solution the one after `####`."""
    return form.value(_short(target))


def answers_of(text: str, form: Form) -> dict[str, str | None]:
    """The answer by each of `RULES`, as it is compared; None where the rule finds none.

    Args:
        text: What a model wrote.
        form: What answers look like.
    """
    if form.candidates is None:
        return _open_answers(text, form)
    found = _candidates(text, form)
    _, tag, rest = text.rpartition(_THOUGHT)
    own = _candidates(rest, form) if tag else []
    after = (_anchored(rest, form) or own[-1]) if own else None
    return {
        "first": found[0] if found else None,
        "last": found[-1] if found else None,
        "anchored": _anchored(text, form),
        "after_think": after,
    }


def _open_answers(text: str, form: Form) -> dict[str, str | None]:
    """The same of open answers and formulas."""

    def surest(found: Mapping[str, list[tuple[int, str]]]) -> str | None:
        kind = next((kind for kind in ("mark", "box", "words") if found[kind]), None)
        return None if kind is None else found[kind][-1 if kind == "box" else 0][1]

    whole = _anchored_texts(text, form)
    every = [answer for _, answer in sorted(each for own in whole.values() for each in own)]
    _, tag, rest = text.rpartition(_THOUGHT)
    return {
        "first": every[0] if every else None,
        "last": every[-1] if every else None,
        "anchored": surest(whole),
        "after_think": surest(_anchored_texts(rest, form)) if tag else None,
    }


def _anchored_texts(text: str, form: Form) -> dict[str, list[tuple[int, str]]]:
    """What stands behind each kind of anchor, with its place."""
    found: dict[str, list[tuple[int, str]]] = {"mark": [], "box": [], "words": []}
    for match in _BOX.finditer(text):
        found["box"].append((match.start(), form.value(_in_braces(text, match.end()))))
    for kind, anchor in (("mark", _MARK), ("words", _WORDS)):
        for match in anchor.finditer(text):
            rest = _REST.match(text, match.end())
            # A box behind an anchor is a box.
            if rest is not None and not _BOX.search(rest[1]) and (value := form.value(rest[1])):
                found[kind].append((match.start(), value))
    return found


def _in_braces(text: str, start: int) -> str:
    """What stands in braces of which the first was opened, up to its end or that of the text."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return text[start:at]
    return text[start:]


def _plain(text: str) -> str:
    """An open answer without case, articles, punctuation and spaces that differ."""
    # Between digits a sign says which number it is.
    return " ".join(re.sub(r"(?<!\d)[^\w\s]|[^\w\s](?!\d)", "", _ARTICLES.sub(" ", text.casefold())).split())


def _notation(text: str) -> str:
    """A formula without what only sets it."""
    plain = _SIZES.sub("", _TEXT.sub(r"\1", _FRACTIONS.sub(r"\\frac", text)))
    shown = _SHORTHAND.sub(r"\\frac{\1}{\2}", plain).strip("*_`\"'").rstrip(".,")
    ratio = _QUOTIENT.sub(r"\1/\2", shown)
    try:
        return str(Fraction(ratio)) if _VALUE.fullmatch(ratio) else shown
    except (ValueError, ZeroDivisionError):
        return shown


def _candidates(text: str, form: Form) -> Sequence[str]:
    assert form.candidates is not None
    return [form.value(each) for each in form.candidates.findall(text)]


def _anchored(text: str, form: Form) -> str | None:
    assert form.candidates is not None
    for anchor in (_MARK, _BOX, _LINE if form.name == "number" else _WORDS):
        places = [match.end() for match in anchor.finditer(text)]
        near = [(place, form.candidates.search(text, place)) for place in places]
        found = [match.group() for place, match in near if match and match.start() <= place + _NEAR]
        if found:
            return form.value(found[-1 if anchor is _BOX else 0])
    return None


def _short(target: str) -> str:
    """A right answer without the solution before it, and without brackets around a letter."""
    if boxes := list(_BOX.finditer(target)):
        return _in_braces(target, boxes[-1].end()).strip()
    if _LATEX.search(target):
        return _SOLUTION.sub("", target).strip()
    return _SOLUTION.sub("", target).strip().removeprefix("(").removesuffix(")").strip()


def _number(text: str) -> str:
    plain = text.replace(",", "").replace("$", "").replace("−", "-").rstrip(".")
    try:
        value = Decimal(plain).normalize()
    except InvalidOperation:
        return plain
    return format(value, "f") if abs(value.adjusted()) < 30 else str(value)


class Reread(NamedTuple):
    """The texts of one run, read anew.

    Attributes:
        form: What answers are.
        items: Those with a text.
        right: {rule: whether each is right by it}; a rule that hardly ever finds an answer is left out.
        disagree: Of each item whether rules disagree; the first candidate does not count.
        to_look: Columns example_id, text, label (the right answer), status, score, read (by the log), and those of
            `RULES`: the items on which rules disagree, or without a score.
    """

    form: str
    items: list[str]
    right: Mapping[str, NDArray[np.bool_]]
    disagree: NDArray[np.bool_]
    to_look: pl.DataFrame


def reread_outputs(outputs: Outputs, runs: Runs, run: str) -> Reread | None:
    """Read the texts of a run anew; None where its right answers have no form, or its scores are no 0 or 1.

    Args:
        outputs: What the model wrote.
        runs: With the scores of the run.
        run: Its seed or name.
    """
    names = [str(seed) for seed in runs.seeds.tolist()]
    if outputs.targets is None or run not in names or not np.isin(runs.scores[names.index(run)], (0.0, 1.0)).all():
        return None
    at = names.index(run)
    read = pl.Series([None] * outputs.texts.len(), dtype=pl.String)
    written = pl.DataFrame(
        {"item": outputs.example_ids, "target": outputs.targets.cast(pl.String), "output": outputs.texts,
         "read": read if outputs.predictions is None else outputs.predictions.cast(pl.String)}
    )  # fmt: skip
    scored = pl.DataFrame(
        {"item": pl.Series(runs.example_ids.tolist(), dtype=pl.String), "status": runs.status[at].tolist(),
         "score": runs.scores[at]}
    )  # fmt: skip
    table = scored.join(written, on="item", maintain_order="left").drop_nulls(["target", "output"])
    table = table.filter(pl.col("output").str.strip_chars() != "")
    form = form_of(table["target"].unique())
    if form is None:
        return None
    targets = [target_value(each, form) for each in table["target"].to_list()]
    found = [answers_of(each, form) for each in table["output"].to_list()]
    table = table.with_columns(pl.Series(rule, [each[rule] for each in found], dtype=pl.String) for rule in RULES)
    right = {
        rule: np.array([each[rule] == target for each, target in zip(found, targets, strict=True)])
        for rule in RULES
        if table[rule].count() >= SOME * table.height
    }
    if not right:
        return None
    held = [table["score"].to_numpy() == 1, *(own for rule, own in right.items() if rule != "first")]
    disagree = np.ptp(np.stack(held).astype(np.int8), axis=0) > 0
    to_look = table.filter(pl.Series(disagree) | ~pl.col("status").is_in(["scored", "scored, truncated"]))
    columns = (
        pl.col("item").alias("example_id"), pl.col("output").alias("text"), pl.col("target").alias("label"), "status",
        "score", "read", *RULES,
    )  # fmt: skip
    return Reread(form.name, table["item"].to_list(), right, disagree, to_look.select(*columns))


def compare_readings(
    of_dataset: Sequence[Runs], reread: Sequence[Mapping[str, Reread]], clusters: NDArray[np.int64] | None
) -> tuple[list[Reading], list[ReadingPair], list[pl.DataFrame]]:
    """Score runs by each rule, and name the systems whose order another rule turns; beside it the rows to look at.

    A pair is named where it is significant, by itself, by the log or by the other rule.

    Args:
        of_dataset: Runs of each model on the same examples.
        reread: The texts of each model's runs, by the run's name.
        clusters: Of the examples.
    """
    readings, rows = [], []
    of_first: dict[str, dict[str, NDArray[np.float64]]] = {}
    for runs, own in zip(of_dataset, reread, strict=True):
        places = {name: at for at, name in enumerate(runs.example_ids.tolist())} if own else {}
        for at, seed in enumerate(runs.seeds.tolist()):
            again = own.get(str(seed))
            if again is None or not again.items:
                continue
            by_rule = {}
            for rule, right in again.right.items():
                by_rule[rule] = np.zeros(runs.n_examples)
                by_rule[rule][[places[item] for item in again.items]] = right
            of_first.setdefault(runs.model, {"harness": runs.scores[at], **by_rule})
            means = {rule: float(by_rule[rule].mean()) if rule in by_rule else None for rule in RULES}
            readings.append(
                Reading(
                    runs.model, runs.dataset, str(seed), again.form, runs.n_examples, len(again.items),
                    float(runs.scores[at].mean()), **means, disagree=float(again.disagree.mean()),
                )
            )  # fmt: skip
            named = (
                pl.lit(runs.model).alias("model"),
                pl.lit(runs.dataset).alias("dataset"),
                pl.lit(str(seed)).alias("run"),
            )
            rows.append(again.to_look.with_columns(*named))
    turned = []
    for (a, first), (b, second) in combinations(of_first.items(), 2):
        for rule in RULES[1:]:
            if rule in first and rule in second:
                apart, p = _difference(first["harness"] - second["harness"], clusters)
                other, other_p = _difference(first[rule] - second[rule], clusters)
                if apart * other < 0 and min(p, other_p) <= _ALPHA:
                    turned.append(ReadingPair(of_dataset[0].dataset, a, b, rule, apart, other, other_p))
    return readings, turned, rows


def _difference(values: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> tuple[float, float]:
    """A mean difference, and p of none."""
    groups = float(values.size) if clusters is None else effective_clusters(clusters)
    mean = float(values.mean())
    return mean, t_p_value(mean, variance_of_mean(values, clusters), max(groups - 1, 1.0))
