"""Whether each answer of a run has a score, and if not why; and what is done with those that have none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

# auto: wrong where an answer has no score, refused where an item was not asked; bounds: as wrong, with ranges.
Missing = Literal["auto", "refuse", "wrong", "leave-out", "bounds"]
Status = Literal[
    "scored", "scored, truncated", "not tried", "unparsed", "empty", "truncated", "error", "unscored", "missing"
]
# In the order of their codes; only the first three count as scored. Where items have unequal numbers of attempts, an
# attempt that was not tried has the mean score of those at its item.
STATUSES: tuple[Status, ...] = get_args(Status)
N_SCORED = 3
NOT_TRIED = STATUSES.index("not tried")
SCORED_TRUNCATED = STATUSES.index("scored, truncated")
MISSING = STATUSES.index("missing")
# The prediction that stands where none could be read.
NO_ANSWER = "no answer"
# How texts say that there is none, as tables and harnesses write them.
NO_ANSWERS = (
    "", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "[invalid]", "[no answer]", "<no answer>", "no answer",
    "no_answer", "invalid", "error",
)  # fmt: skip
# A code for no answer, where no label is a number, or all are codes from 0 up; more labels than these may be numbers.
_CODE, _MOST_CODES = "-1", 30
_SUCCEEDED = ("ok", "success", "completed", "complete", "done", "finished")
_STOPPED = ("stop", "end_turn", "eos", "eos_token", "stop_sequence")
# How columns of a table spell a status. "failed" is none of these: it may mean a wrong answer.
_SPELLED: dict[str, Status] = {
    **{each: each for each in STATUSES if each != "not tried"},
    **dict.fromkeys((*_SUCCEEDED, *_STOPPED, "tool_calls", "content_filter"), "scored"),
    **dict.fromkeys(("invalid", "parse_error", "no_answer", "unparseable", "unparsable"), "unparsed"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "truncated"),
    **dict.fromkeys(("timeout", "cancelled", "canceled", "limit", "exception", "crashed"), "error"),
    **dict.fromkeys(("absent", "skipped", "not_run", "not tried"), "missing"),
}


def without_marks(texts: pl.Series, valid: Collection[str]) -> pl.Series:
    """Answers, null where a text says that there is none and is no valid answer."""
    valid = set(valid)
    are_codes = len(valid) <= _MOST_CODES and all(map(str.isdigit, valid))
    numbers = pl.Series(list(valid), dtype=pl.String).cast(pl.Float64, strict=False)
    marks = {*NO_ANSWERS} | ({_CODE} if valid and (are_codes or not numbers.count()) else set())
    stripped = texts.str.strip_chars()
    return texts.set(stripped.str.to_lowercase().is_in(list(marks)) & ~stripped.is_in(list(valid)), None)


def unlike_labels(texts: pl.Series, valid: Collection[str]) -> pl.Series:
    """Where a text cannot be an answer by its form: "timeout" among letters, a sentence among labels, "-" anywhere.

    Beside any right answers a failed call, a refusal and a placeholder without a letter or digit are no answer, unless
    a right one has that form. A set is closed where there are five texts or more for each label, and at most 30 labels.
    Among letters an answer is letters, among numbers numbers; among words it has at most two words more than the
    longest label, and says neither of an error nor of a refusal. A class that the right answers lack by chance is
    therefore an answer.
    """
    labels = {each.strip() for each in valid} - {""}
    stripped = texts.str.strip_chars()
    barred = pl.Series([False] * texts.len(), dtype=pl.Boolean)
    if not labels:
        return barred
    for _, pattern in no_answers(labels):
        barred |= stripped.str.contains(pattern).fill_null(value=False)
    if len(labels) > _MOST_CODES or texts.len() < _TEXTS_A_LABEL * len(labels):
        return barred
    form = next((each for each in _FORMS if all(re.search(each, label) for label in labels)), None)
    if form is not None:
        fits = stripped.str.contains(form)
    else:
        longest = max(len(label.split()) for label in labels)
        n_words = stripped.str.count_matches(r"\S+")
        plain = stripped.str.to_lowercase()
        failed = plain.is_in(list(_FAILED)) | plain.str.contains(f"{_LIKE['error']}|{_REFUSED}")
        fits = (n_words <= longest + _MORE_WORDS) & ~failed
    return ((~fits | barred) & ~stripped.is_in(list(labels))).fill_null(value=False)


def no_answers(right: Collection[str]) -> tuple[tuple[Status, str], ...]:
    """Forms of texts that are no answer, as patterns with the status of such a text: a failed call, "-", a refusal.

    A form that a right answer has is an answer. Beside long right answers, or none, a refusal may be one, too.
    """
    own = pl.Series(list(right), dtype=pl.String).str.strip_chars()
    are_short = len(right) > 0 and not (own.str.count_matches(r"\S+") > _SHORT).any()
    are_words = are_short and not own.str.contains(_LISTED).any()
    forms: list[tuple[Status, str]] = [("error", _FAILED_CALL), ("unparsed", _BLANK if are_words else _DASH)]
    forms += [("unparsed", _DECLINED)] if are_short else []
    return tuple(form for form in forms if not own.str.contains(form[1]).any())


def may_be_none(text: str | None) -> bool:
    """Whether a text may be no answer, by its form alone."""
    plain = "" if text is None else text.strip()
    return any(re.match(pattern, plain) for pattern in (_FAILED_CALL, _BLANK, _DECLINED))


def with_no_answers(
    status: pl.Series | None, texts: pl.Series, score: pl.Series, right: Collection[str]
) -> pl.Series | None:
    """Statuses, of texts that are no answer by their form; as they are where none is.

    Args:
        status: Of the same rows, as far as known.
        texts: What was written.
        score: Of the same rows.
        right: Right answers, as far as they are known. A form that was given credit is an answer, too.
    """
    plain, credit = texts.str.strip_chars(), (score > 0).fill_null(value=False)
    for told, pattern in no_answers(right):
        found = plain.str.contains(pattern).fill_null(value=False)
        if found.any() and not (found & credit).any():
            known = pl.Series([None] * texts.len(), dtype=pl.String) if status is None else status
            status = known.set(found & (known.is_null() | (known == "scored").fill_null(value=False)), told)
    return status


def spelled(values: pl.Series, scores: pl.Series | None = None) -> pl.Series | None:
    """A column of statuses in our words, null where a word is unknown; None where it is no column of statuses.

    It is one where all words are known, or most are and one of them is of an answer without a score or cut off. Where
    wrong answers have the status of scored ones, a word beside it that only answers of score 0 have is an error.

    Args:
        values: The column.
        scores: Of the same rows, where there are any.
    """
    text = values.cast(pl.String, strict=False).str.strip_chars().str.to_lowercase()
    text = text.set(text == "", None)
    known = text.replace_strict(_SPELLED, default=None, return_dtype=pl.String)
    for status, pattern in _LIKE.items():
        known = known.set(known.is_null() & text.str.contains(pattern).fill_null(value=False), status)
    if scores is not None:
        credit = pl.Series((scores > 0).fill_null(value=False))
        if ((known == "scored") & ~credit).any():
            given = text.filter(credit).unique()
            known = known.set(known.is_null() & text.is_not_null() & ~text.is_in(given.implode()), "error")
    n_unknown = text.count() - known.count()
    is_said = bool((known != "scored").any()) and known.count() >= n_unknown
    return known if known.count() and (is_said or not n_unknown) else None


def recorded(values: pl.Series) -> tuple[Status, ...]:
    """What a column of statuses tells of all rows: "success" of each that none failed, "stop" that none was cut off."""
    words = values.cast(pl.String, strict=False).str.strip_chars().str.to_lowercase()
    by_words: dict[Status, tuple[str, ...]] = {"error": _SUCCEEDED, "truncated": _STOPPED}
    return tuple(status for status, each in by_words.items() if words.is_in(list(each)).any())


def with_errors(
    status: pl.Series | None, errors: pl.Series, score: pl.Series | None, texts: Sequence[pl.Series]
) -> pl.Series:
    """Statuses, of errors where a column of errors has a text and no answer stands beside it.

    Beside what a model wrote such a text may say why its answer is wrong. Without any, it must read like a failure.

    Args:
        status: Of the same rows, as far as known.
        errors: Texts, empty where there was no error.
        score: Of the same rows: what was given credit did not fail.
        texts: Outputs and predictions, as far as there are any.
    """
    plain = errors.cast(pl.String).str.strip_chars().str.to_lowercase()
    is_error = (plain.is_not_null() & ~plain.is_in(["", "none", "null", "nan", "false", "no", "0", "ok"])).fill_null(
        value=False
    )
    if texts:
        blank = [~is_there(each, errors.len()) for each in texts]
        is_error &= pl.select(pl.any_horizontal(*blank)).to_series()
    else:
        is_error &= plain.str.contains(_LIKE["error"]).fill_null(value=False)
    if score is not None:
        is_error &= ~(score > 0).fill_null(value=False)
    known = pl.Series([None] * errors.len(), dtype=pl.String) if status is None else status
    return known.set(is_error & (known.is_null() | (known == "scored")), "error")


# Words within longer ones, as api_error, timed_out_after_60s or error: 500.
_LIKE: dict[Status, str] = {
    "error": r"error|exception|timed?[ _-]?out|abort|cancel|crash|killed|rate[ _-]?limit|out[ _-]of[ _-]mem|\boom\b",
    "truncated": r"incomplete|truncat|max_[a-z_]*tokens",
}
# A call that failed, as harnesses write it in place of an answer: "Error: 429", "RateLimitError", "Request timed out."
_FAILED_CALL = (
    r"(?i)^\W{0,3}(?:"
    r"(?:\w+ ){0,2}error(?:\W{1,3}code)?\W{1,3}[45]\d\d\b"
    r"|(?:\w+\.)*\w*(?:rate_?limit|api|connect\w*|connection|time_?out|server|authentication|overload\w*|service\w*|quota|http)"
    r"_?(?:error|exception|exceeded)\b"
    r"|error\b.{0,40}\b(?:rate limit|api|timed out|timeout|quota|connection|request failed|overloaded|nonetype)\b"
    r"|(?:\w+ ){0,2}timed out(?: after\b.{0,40})?\W*$|(?:request |connection |read |api )?timeout\W*$"
    r"|rate limit (?:exceeded|reached)\b|too many requests\b|(?:service|server) (?:unavailable|overloaded)\b"
    r"|internal server error\b|bad gateway\b|traceback \(most recent call last\))"
)
# A model that declines, at the beginning of what it says.
_DECLINED = (
    r"(?i)^\W{0,3}(?:(?:i['\u2019]?m |i am )?(?:so |very )?sorry\W+(?:but|i|we)\b"
    r"|i (?:can ?not|can['\u2019]?t|am (?:unable|not able) to) "
    r"(?:answer|help|assist|provide|determine|comply|do that)\b"
    r"|i['\u2019]m (?:unable|not able) to\b|as an? (?:ai|(?:large )?language model)\b)(?s:.{0,200})$"
)
# What stands for nothing. Brackets may be an empty list, or a call of no tool; longer right answers are texts.
_DASH, _BLANK = r"^[-\u2013\u2014?.\u2026_*/\\#\s]+$", r"^[-\u2013\u2014?.\u2026_*/\\#\s()\[\]{}]+$"
_LISTED, _SHORT = r"[,;|\[({]", 10
# Labels that are letters, or numbers, as "(B)" and "4.0" are; several of them are an answer, too.
_FORMS = (r"^\W*(?:[A-Za-z]|[A-Z]{2,5})(?:\W+[A-Za-z])*\W*$", r"^\W*\d[\d.,]*(?:\W+\d[\d.,]*)*\W*$")
_TEXTS_A_LABEL, _MORE_WORDS = 5, 2
_FAILED = tuple(word for word, status in _SPELLED.items() if status not in ("scored", "missing"))
_REFUSED = r"\b(?:can(?:no|')t|cannot|unable|refus\w*|sorry|no response)\b"


def is_there(values: pl.Series | None, n: int) -> pl.Series:
    """Where a column has a value that is not blank; everywhere where there is no column."""
    if values is None:
        return pl.Series([True] * n, dtype=pl.Boolean)
    if values.dtype == pl.String:
        return (values.str.strip_chars() != "").fill_null(value=False)
    return values.is_not_null()


def codes_of(status: pl.Series) -> NDArray[np.int8]:
    """Statuses as places in `STATUSES`."""
    return status.cast(pl.Enum(STATUSES)).to_physical().to_numpy().astype(np.int8)


def is_scored(status: pl.Series) -> pl.Series:
    """Which answers count as scored."""
    return status.is_in(STATUSES[:N_SCORED])
