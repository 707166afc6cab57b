"""What reports and runs hand to other places: lines of Markdown, Croissant metadata, scores for model repositories.

Source: MLCommons, Croissant Format Specification 1.1 and Croissant RAI Specification 1.0.
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError, one_line, option
from goldassay.core.files import written_together, written_whole
from goldassay.core.numbers import bounds_in, count, with_unit
from goldassay.core.results import NOT_ASKED, severity
from goldassay.questions.provenance import changed_settings, command_of
from goldassay.report.markdown import code, grid, plain
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from goldassay.core.document import Document, Verdict
    from goldassay.questions.run_scores import ScoredRuns, ScoredSet


_RAI = "http://mlcommons.org/croissant/RAI/"
_CROISSANT = re.compile(r"https?://mlcommons\.org/croissant(/|$)")
_VERSION = "http://mlcommons.org/croissant/1.1"
# Sentences that begin so are ours, and are replaced when a later report fills in the same file.
_MARK = "Measured by goldassay"
# What these questions find is in how the labels came about; what the others find limits what a score means.
_OF_BIAS = ("artifacts", "leakage", "judgments")
# Of these a flaw is a share of the rows, whatever the unit of the figure.
_OF_CUES = ("artifacts", "leakage")
# What holds one value: mlcroissant refuses a list.
_OF_ONE = ("dataCollectionMissingData",)
_TYPES = {
    ".jsonl": "application/jsonlines", ".json": "application/json", ".csv": "text/csv",
    ".tsv": "text/tab-separated-values", ".parquet": "application/x-parquet", ".gz": "application/gzip",
}  # fmt: skip
_OF_CROISSANT = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileProperty",
    "fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5", "parentField",
    "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator", "source",
    "subField", "transform",
)  # fmt: skip
_CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/", "rai": _RAI, "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo", "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"}, "description": {"@container": "@language"},
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
}  # fmt: skip


def write_croissant(document: Document, file: Path) -> None:
    """Fill in the RAI fields of a Croissant file; make the file where there is none.

    What the owner wrote into a field stays, and is followed by a sentence per verdict. All other keys stay as they are.

    Raises:
        InputError: The file is there and holds no Croissant metadata.
        OutputError: The file cannot be written.
    """
    metadata = _read(file) if file.exists() else _metadata(document)
    parts = _listed(metadata["@context"])
    terms = {name: each for part in parts if isinstance(part, dict) for name, each in part.items()}
    if "rai" not in terms and isinstance(parts[-1], dict):
        terms["rai"] = _RAI
        parts = [*parts[:-1], {**parts[-1], "rai": _RAI}]
        metadata["@context"] = parts if isinstance(metadata["@context"], list) else parts[0]
    for field, sentences in rai_fields(document).items():
        # A field with values by language takes no list: ours stand beside it.
        keys = [key for key in metadata if _iri(key, terms) == _RAI + field and not _has_container(terms.get(key))]
        held = [each for key in keys for each in _listed(metadata.pop(key)) if each is not None]
        if field in _OF_ONE:
            # One text, in which ours stands behind the owner's.
            held = [each.partition(_MARK)[0].rstrip() if isinstance(each, str) else each for each in held]
            sentences = [" ".join([*(each for each in held if isinstance(each, str) and each), *sentences])]
            held, sentences = [each for each in held if not isinstance(each, str)], [each for each in sentences if each]
        theirs = [each for each in held if not (isinstance(each, str) and each.startswith(_MARK))]
        short = f"rai:{field}"
        key = keys[0] if keys else short if _iri(short, terms) == _RAI + field else _RAI + field
        if values := [*theirs, *sentences]:
            metadata[key] = values[0] if field in _OF_ONE and len(values) == 1 else values
    text = json.dumps(metadata, ensure_ascii=False, indent=2) + "\n"
    try:
        content = text.encode()
    except UnicodeEncodeError:
        # Half a character, which JSON can name and UTF-8 cannot.
        content = (json.dumps(metadata, indent=2) + "\n").encode()
    with written_whole(file, "--croissant") as aside:
        aside.write_bytes(content)


def rai_fields(document: Document) -> dict[str, list[str]]:
    """The sentences of each RAI field: verdicts by what they say something about, and rows that were left out."""
    fields: dict[str, list[str]] = {"dataBiases": [], "dataLimitations": [], "dataCollectionMissingData": []}
    mark = f"{_MARK} {document.goldassay_version}: "
    stated = document.verdicts or {}
    for question, verdict in stated.items():
        if verdict.verdict != NOT_ASKED:
            said = [f"{question}: {verdict.verdict}.", _found(question, verdict)]
            if missed := _missed(question, verdict):
                said.append(f"A flaw of up to {missed} may have been missed.")
            said += [*verdict.notes, *([verdict.not_seen] if verdict.not_seen else [])]
            fields["dataBiases" if question in _OF_BIAS else "dataLimitations"].append(one_line(mark + " ".join(said)))
    if unasked := [question for question, each in stated.items() if each.verdict == NOT_ASKED]:
        fields["dataLimitations"].append(f"{mark}nothing on {', '.join(unasked)}, which was not asked.")
    for source in document.inputs:
        if source.dropped:
            rows = "; ".join(f"{reason}: {count(n)}" for reason, n in source.dropped.items())
            fields["dataCollectionMissingData"].append(one_line(f"{mark}rows of {source.name} left out, {rows}."))
    return fields


def _found(question: str, verdict: Verdict) -> str:
    """What was found, in one unit: the evidence gives a figure in points beside the percents that it is taken from."""
    if verdict.headline is None or verdict.headline.unit != "points":
        return verdict.evidence
    words, value, interval = _figure(question, verdict)
    within = f" (95 % interval {interval})" if interval else ""
    return f"{words[:1].upper()}{words[1:]}: {value}{within}."


def _missed(question: str, verdict: Verdict) -> str:
    """How large a flaw may have been missed; nothing beside a flaw, as whose size it would be read."""
    if not verdict.at_most or severity(verdict.verdict) >= severity("caution"):
        return ""
    of_cues = question in _OF_CUES or verdict.headline is None or verdict.headline.unit == "share"
    return with_unit(verdict.at_most, "share" if of_cues else "points")


def _metadata(document: Document) -> dict[str, Any]:
    """What a report knows of its dataset; licence, creators and record sets are their owner's to say."""
    name = one_line((document.dataset and document.dataset.name) or "unnamed")
    files = {
        digest: file
        for source in document.inputs
        if source.role in ("train", "test", "elsewhere")
        for file, digest in zip(source.files, source.sha256, strict=False)
    }
    names = list(files.values())
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [_VERSION, f"{_RAI}1.0"],
        "name": name,
        "description": f"{name}, as audited by goldassay {document.goldassay_version} (report {document.digest}).",
        "distribution": [
            {
                "@type": "cr:FileObject",
                # Two folders may have files of one name.
                "@id": file if names.count(file) == 1 else f"{digest[:8]}-{file}",
                "name": file,
                "contentUrl": file,
                "encodingFormat": _TYPES.get(PurePath(file).suffix.lower(), "application/octet-stream"),
                "sha256": digest,
            }
            for digest, file in files.items()
        ],
    }


def _read(file: Path) -> dict[str, Any]:
    mend = "name a Croissant file, or a new one"
    try:
        metadata = json.loads(file.read_bytes(), object_pairs_hook=_without_twice)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read as JSON ({error})", file=file, mend=mend) from error
    named = [] if not isinstance(metadata, dict) else _listed(metadata.get("@context"))
    named = [value for each in named for value in (each.values() if isinstance(each, dict) else (each,))]
    named = [each.get("@id") if isinstance(each, dict) else each for each in named]
    if not any(isinstance(each, str) and _CROISSANT.match(each) for each in named):
        raise InputError("its @context does not name http://mlcommons.org/croissant/", file=file, mend=mend)
    if "@graph" in metadata:
        raise InputError("its dataset is within @graph", file=file, mend="write the dataset as the outermost object")
    return dict(metadata)


def _without_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a name that is there twice one value would be lost.

    Raises:
        ValueError: A name is there twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has {next(name for name in names if names.count(name) > 1)!r} twice")
    return found


def _iri(key: str, context: Mapping[str, Any]) -> str:
    """What a key of the metadata stands for, by its alias and by the prefix of its name."""
    prefix, _, rest = str(_meant(context.get(key)) or key).partition(":")
    base = _meant(context.get(prefix))
    return f"{base}{rest}" if base and rest else f"{prefix}:{rest}" if rest else prefix


def _meant(term: Any) -> str | None:
    """The address or name that a term of a context is."""
    term = term.get("@id") if isinstance(term, dict) else term
    return term if isinstance(term, str) else None


def _has_container(term: Any) -> bool:
    return isinstance(term, dict) and "@container" in term


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_MOST_ROWS = 5


def render_paste(document: Document) -> str:
    """At most twelve lines: each question with its verdict, figure and interval, then command, version and digest.

    After the figure of a sound or unresolved verdict on artifacts and leakage, and of a sound one on judgments, stands
    what is bounded, and under sound what could not be seen.
    Of more than five verdicts the gravest are shown, and the last line says how many more there are.
    """
    stated = document.verdicts or {}
    judged = sorted(
        (pair for pair in stated.items() if pair[1].verdict != NOT_ASKED),
        key=lambda pair: -severity(pair[1].verdict),
    )
    left = len(judged) - _MOST_ROWS
    unasked = [key for key, each in stated.items() if each.verdict == NOT_ASKED]
    table = grid(
        ("question", "verdict", "figure", "value", "95 % interval"),
        [(plain(key), plain(each.verdict), *_cells(key, each)) for key, each in judged[:_MOST_ROWS]],
    )
    more = [f"{left} more verdict{'s' if left > 1 else ''} in the report"] if left > 0 else []
    more += [f"not asked: {', '.join(map(plain, unasked))}"] if unasked else []
    return "\n".join(
        [
            f"**{plain(document.title)}**",
            "",
            table if judged else "The report has no verdict.",
            "",
            f"Made by {_made_by(document)}",
            f"goldassay {plain(document.goldassay_version)}, digest {code(document.digest)}"
            + "".join(f"; {each}" for each in more),
        ]
    )


def _figure(question: str, verdict: Verdict) -> tuple[str, str, str]:
    """The words, value and interval of a verdict's figure; without a figure, the first sentence that says why."""
    first, headline = verdict.evidence.partition(". ")[0], verdict.headline
    if headline is None:
        return first, "", ""
    # What was found is one reader's, or counts chance, too; how much all may have missed, or give away, is another
    # number.
    bounded = verdict.verdict == "sound" and question == "judgments"
    bounded = bounded or (question in _OF_CUES and verdict.verdict in ("sound", "unresolved"))
    words = f"{headline.label}. {first.rstrip('.')}" if bounded else headline.label
    interval = bounds_in(headline.low, headline.high, headline.unit)
    return words, with_unit(headline.value, headline.unit), interval


def _cells(question: str, verdict: Verdict) -> tuple[str, str, str]:
    words, value, interval = _figure(question, verdict)
    seen = [words, *([verdict.not_seen] if verdict.headline is not None and verdict.not_seen else [])]
    return plain(". ".join(seen)), plain(value or "—"), plain(interval or "—")


def _made_by(document: Document) -> str:
    seed = one_line(document.settings.get("seed", 0))
    command = command_of(document.inputs, seed) if document.command == "audit" else None
    places = (each.files[0] if len(each.files) == 1 else each.name for each in document.inputs)
    names = ", ".join(dict.fromkeys(map(code, places)))
    command = command and (command if document.has_texts else f"{command} --no-texts")
    made = code(command) if command else f"{code(f'goldassay {document.command}')} of {names or 'data in memory'}"
    changed = changed_settings(document.settings)
    return made + (f", with the settings {code('; '.join(changed.splitlines()))}" if changed else "")


def write_eval_results(
    found: ScoredRuns, directory: str | os.PathLike[str], benchmark: str, source: str | None = None
) -> list[Path]:
    """Write the score of each model as DIRECTORY/MODEL/.eval_results/TASK.yaml, all of them or none.

    A value is the mean score in [0, 1], as `score_runs` has it; its intervals, runs and answers without a score are in
    `notes`, since the format has no field for them. The files are JSON, which is YAML too.

    Args:
        found: The runs of some models on one dataset, in one condition.
        directory: Where to.
        benchmark: ID:TASK, a dataset on the hub and a task of its eval.yaml.
        source: Address of the report or the logs.

    Raises:
        InputError: The benchmark is not said so, or the runs are on several datasets or conditions, or cannot be read.
        OutputError: The folder cannot be written to.

    Source: Hugging Face Hub documentation, Evaluation Results.
    """
    # Measures come along, which a report that is pasted does without.
    from goldassay.questions.every_eval_ever import portable

    where, _, task = benchmark.partition(":")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", where) or not re.fullmatch(r"[\w.-]+", task):
        raise InputError(
            f"the benchmark is {benchmark!r}" if benchmark else "no benchmark on the hub is named",
            mend=f"give {option('benchmark', 'NAMESPACE/NAME:TASK')}, with a task of the eval.yaml of that dataset",
        )
    if found.unread:
        raise InputError(f"some runs are left out: {found.unread[0].reason}", mend="take them out, or mend them")
    names = sorted({f"{each.dataset} ({each.condition})" for each in found.sets})
    if len(names) > 1:
        mend = f"choose one with {option('dataset', 'NAME')} or {option('condition', 'NAME')}"
        raise InputError(f"the runs are on {', '.join(names)}", mend=mend)
    written = []
    with written_together(directory) as aside:
        for each in found.sets:
            entry: dict[str, Any] = {
                "dataset": {"id": where, "task_id": task}, "value": each.mean,
                **({"source": {"url": source, "name": "goldassay"}} if source else {}), "notes": _score_notes(each),
            }  # fmt: skip
            place = PurePath(portable(each.model.replace("/", "__")), ".eval_results", f"{task}.yaml")
            if place in written:
                raise InputError(
                    f"two models would be written to {place}", mend=f"choose one with {option('model', 'NAME')}"
                )
            (aside / place).parent.mkdir(parents=True)
            (aside / place).write_text(json.dumps([entry], ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
            written.append(place)
    return [Path(directory) / place for place in written]


def _score_notes(each: ScoredSet) -> str:
    """What the format has no field for, in a line."""
    said = [f"fraction of 1 on {count(each.n_examples)} examples"]
    if each.condition not in ("paired", ""):
        said.append(f"condition {each.condition}")
    for low, high, over in (
        (each.examples_low, each.examples_high, "examples"),
        (each.runs_low, each.runs_high, f"{each.n_runs} runs"),
    ):
        if low is not None and high is not None:
            said.append(f"95 % interval over {over} {low:.4f} to {high:.4f}")
    asked = each.n_runs * each.n_examples
    if each.n_scored < asked:
        said.append(f"{count(asked - each.n_scored)} of {count(asked)} answers have no score and count as wrong")
    if each.grades is not None:
        said.append(f"a share of grades from {each.grades[0]:g} to {each.grades[1]:g}")
    if each.weighted_by:
        said.append(f"weighted by {each.weighted_by}")
    return "; ".join([*said, f"goldassay {__version__}"])
