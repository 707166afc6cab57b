"""The page of leakage: what a model gets right from a part of the input, and all that is shown beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds, count, decimal, in_points, number, points, signed_points
from goldassay.core.sections import (
    Around,
    Column,
    Page,
    Part,
    PrintedTable,
    Section,
    Table,
    explanation,
    table_of,
    with_bounds,
)
from goldassay.questions.effect_sentences import rewrite_part, table_of_effects, table_of_limits
from goldassay.questions.leakage.charts import charts, paper_charts
from goldassay.questions.leakage.other_sections import (
    cluster_sections,
    datasets_section,
    datasets_sentences,
    suggestion_section,
    suggestion_sentences,
)
from goldassay.questions.leakage.result import (
    RULE,
    Agreement,
    BoundedAgreement,
    ComparedDatasets,
    Condition,
    DatasetPart,
    Information,
    LeakageResult,
    MeasuredLeakage,
    Relevance,
    Split,
    SuggestedRewrites,
)
from goldassay.questions.rows import EXAMPLES, is_flaw, issue, row_saying
from goldassay.readers.conditions import PAIRED, is_part
from goldassay.stats.effects import INFORMATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding
    from goldassay.questions.leakage.cluster_result import Cluster, ClusterScores

_MOST_CLUSTERS = 2
_MOST_WORDS = 4
_CHANCE = 0.05
_FEWEST_SPLITS = 2
_CHANGED = {
    "shuffled": "With the words of each text in random order",
    "overlap": "From the words alone that all texts share",
    "length": "From the texts' lengths alone",
    "longest_choice": "By always choosing the longest one",
}


# Rules that agree say the same of a set: the two that gain most are named.
_MOST_RULES = 2


def sections(found: LeakageResult, _: Around) -> tuple[Section, ...]:
    """The section "Leakage" and that on clusters; or, in its place, rows to rewrite or several datasets."""
    if isinstance(found, SuggestedRewrites):
        return (suggestion_section(found),)
    if isinstance(found, ComparedDatasets):
        return (datasets_section(found),) if found.datasets else ()
    assert isinstance(found, MeasuredLeakage)
    return (_leakage(found), *cluster_sections(found))


def sentences(found: LeakageResult) -> list[str]:
    """What was found, the most important first."""
    if isinstance(found, SuggestedRewrites):
        return suggestion_sentences(found.suggestion)
    if isinstance(found, ComparedDatasets):
        return datasets_sentences(found)
    assert isinstance(found, MeasuredLeakage)
    return _sentences(found)


def paper_tables(found: LeakageResult, _: Around) -> tuple[Table, ...]:
    """Conditions of one dataset, or parts of several side by side."""
    if isinstance(found, MeasuredLeakage) and found.conditions:
        return (_paper_conditions(found),)
    return (_paper_datasets(found),) if isinstance(found, ComparedDatasets) and found.datasets else ()


_OF_PART = ("model", "dataset", "condition")
_TABLE_5 = "Table 5: PECO by number of clusters"
_OF_GRID = "in the paper's convention, of one clustering, by the components of the PCA; 0 is without one."
_NEEDS_GRID = "embeddings of single sentences, and scores of the grid"
_PRINTED = (
    PrintedTable(
        "saxon2023_table2", "Table 2: models of the pair, and the majority", ("model", "dataset"), ("metric",),
        needs="runs of the whole input",
    ),
    PrintedTable(
        "saxon2023_table3", "Table 3: models of a single sentence", _OF_PART, ("metric",),
        note="accuracy, its share of the pair's, and what it is above the majority.", needs="runs of a part",
    ),
    PrintedTable(
        "saxon2023_table4", "Table 4: decisions and relevances, of one sentence and of the pair", _OF_PART, ("metric",),
        note="all in the paper's convention, in which recovery is a share of what the pair's model gets right, and "
        "a PECO of 5.0 is none; the reports have both conventions, and the part of PECO that is beyond chance.",
        needs="runs of a part and of the whole input",
    ),
    PrintedTable(
        "saxon2023_table5_squared_l2", f"{_TABLE_5}, squared L2", (*_OF_PART, "pca"), ("k",), digits=3, note=_OF_GRID,
        needs=_NEEDS_GRID,
    ),
    PrintedTable(
        "saxon2023_table5_kl", f"{_TABLE_5}, Kullback-Leibler × 100", (*_OF_PART, "pca"), ("k",), note=_OF_GRID,
        needs=_NEEDS_GRID,
    ),
)  # fmt: skip
# Of each printed metric ours.
_WHOLE_METRICS = {"paired": "paired", "majority": "majority"}
_PART_METRICS = {"single_accuracy": "accuracy", "recovered": "recovered", "improvement": "improvement"}
_DECISION_METRICS = {
    "agreement": "agreement", "recovery": "recovery_paper", "token_relevance_agreement": "relevance_paper",
    "peco": "peco_paper",
}  # fmt: skip


def lay_out(rows: Sequence[Mapping[str, Any]], grid: Sequence[Mapping[str, Any]]) -> tuple[PrintedTable, ...]:
    """Tables 2 to 5 of Saxon et al. 2023.

    Args:
        rows: One for each model, dataset and condition, with n_runs, n_paired of the pair's model, paired, majority,
            accuracy, recovered, improvement, agreement, recovery_paper, relevance_paper and peco_paper, fractions; and
            the intervals of these as `NAME_low` and `NAME_high`.
        grid: A cell for each model, dataset, condition, pca, k and divergence: ours, as printed.
    """
    whole = list({(row["model"], row["dataset"]): {**row, "n_runs": row.get("n_paired")} for row in rows}.values())
    pairs = tuple(cell for row in whole for cell in _cells(row, ("model", "dataset"), _WHOLE_METRICS))
    single, decided = (
        tuple(cell for row in rows for cell in _cells(row, _OF_PART, metrics))
        for metrics in (_PART_METRICS, _DECISION_METRICS)
    )
    scores = (tuple(cell for cell in grid if cell["divergence"] == name) for name in ("squared_l2", "kl"))
    return tuple(
        replace(each, cells=cells) for each, cells in zip(_PRINTED, (pairs, single, decided, *scores), strict=True)
    )


def _cells(row: Mapping[str, Any], keys: Sequence[str], metrics: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The figures of a row that are defined, in points."""
    for metric, key in metrics.items():
        value, low, high = (in_points(number(row.get(name))) for name in (key, f"{key}_low", f"{key}_high"))
        if value is not None:
            known = {name: row[name] for name in keys}
            yield {**known, "n_runs": row["n_runs"], "metric": metric, "ours": value, "low": low, "high": high}


def printed_tables(found: LeakageResult, _: Around) -> tuple[PrintedTable, ...]:
    """Tables 2 to 5 of Saxon et al. 2023, of one dataset."""
    if not isinstance(found, MeasuredLeakage):
        return ()
    of = {"model": found.model, "dataset": found.dataset}
    pair = next((vars(each) for each in found.conditions if each.condition == PAIRED), {})
    whole = {f"paired{end}": pair.get(f"accuracy{end}") for end in ("", "_low", "_high")}
    rows = []
    for row in (each for each in found.conditions if is_part(each.condition)):
        alike = next((vars(each) for each in found.agreement if each.condition == row.condition), {})
        relevance = next((each.agreement_paper for each in found.relevance if each.condition == row.condition), None)
        peco = next((each.paper_score for each in found.peco if f"{each.role}_only" == row.condition), None)
        measured = {**alike, **vars(row), "relevance_paper": relevance, "peco_paper": peco}
        rows.append({**measured, **of, **whole, "n_paired": pair.get("n_runs")})
    grid = [
        {
            **of, "condition": f"{each.role}_only", "k": str(each.n_clusters), "pca": str(each.n_components),
            "divergence": each.divergence, "ours": each.paper_score * (100 if each.divergence == "kl" else 1),
        }
        for each in found.grid
    ]  # fmt: skip
    return lay_out(rows, grid)


def _paper_conditions(found: MeasuredLeakage) -> Table:
    columns = (
        Column("condition", "Condition", "data"),
        with_bounds("accuracy", "Accuracy", "points"),
        with_bounds("improvement", "Over majority", "difference"),
        Column("recovered", "Recovered", "percent"),
        Column("information", "Bits", "decimal", 3),
    )
    bits = {each.condition: each.information for each in found.information}

    def more(row: Condition) -> Mapping[str, Any]:
        return {"information": bits.get(row.condition)}

    caption = "Accuracy and improvement in points with 95 % intervals."
    return table_of("conditions", caption, columns, found.conditions, more)


def _paper_datasets(found: ComparedDatasets) -> Table:
    columns = (
        Column("dataset", "Set", "data"),
        Column("part", "Part"),
        Column("paired", "Whole", "points"),
        Column("majority", "Majority", "points"),
        Column("accuracy", "Part alone", "points"),
        with_bounds("improvement", "Improvement", "difference"),
        Column("recovered", "Recovered", "percent"),
        Column("agreement", "Agreement", "points"),
        Column("peco", "PECO", "decimal", 3),
    )

    def more(row: DatasetPart) -> Mapping[str, Any]:
        return {"part": row.part[:1].upper()}

    comment = "In points; PECO in the recommended convention, chance taken off."
    return table_of("leakage-datasets", comment, columns, found.datasets, more)


def _leakage(found: MeasuredLeakage) -> Section:
    of_runs = ("how_agreement",) if found.information or found.agreement else ()
    return Section(
        key="leakage",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=tuple(_sentences(found)),
        notes=_notes(found),
        caveats=found.caveats,
        parts=(
            Part("leakage_rules", _rules(found)),
            Part(table=_subjects(found)),
            *(Part(table=table) for table in (_like_length(found), _subsets(found)) if table.rows),
            *(() if found.effects is None else (Part(table=table_of_effects(found.effects)),)),
            *((Part(table=table_of_limits(found.effects)),) if found.effects and found.effects.limits else ()),
            Part("leakage_conditions", _conditions(found)),
            Part(table=_information(found)),
            Part(table=_agreement(found)),
            Part(table=_relevance(found)),
            Part("leakage_difficulty", _difficulty(found)),
            Part(table=_splits(found)),
        ),
        how=explanation("goldassay.questions.leakage", "how_conditions", *of_runs, "how_intervals"),
    )


def _notes(found: MeasuredLeakage) -> tuple[str, ...]:
    notes = []
    if found.probe:
        n = len(found.seeds)
        times = f" It was trained with {n} {'seed' if n == 1 else 'seeds'} a condition."
        notes.append(f"{found.probe.rstrip('.')}.{times if n and found.source != 'runs' else ''}")
    notes += [found.note] if found.note else []
    notes += [*found.caveats, *found.remarks]
    notes += [f"Not measured: {name}, since {reason}." for name, reason in found.undefined.items()]
    return tuple(notes)


def _conditions(found: MeasuredLeakage) -> Table:
    columns = (
        Column("condition", "condition", aside="reason"),
        Column("n_runs", "runs", "count", aside="constant"),
        with_bounds("accuracy", "accuracy", "points"),
        Column("sd", "SD", "points", 2),
        Column("majority", "majority", "points"),
        with_bounds("improvement", "improvement over majority", "points"),
        with_bounds("recovered", "share recovered", "percent"),
        with_bounds("balanced_accuracy", "mean recall over labels", "points"),
    )

    def more(row: Condition) -> Mapping[str, Any]:
        """How many of the runs decided nothing; where all did, the condition says it."""
        n = row.n_constant
        said = f"of which {count(n)} name{'s' if n == 1 else ''} one label only" if 0 < n < row.n_runs else ""
        return {"constant": said}

    caption = "What each part of the input adds, in accuracy points"
    return table_of("conditions", caption, columns, found.conditions, more, file="leakage")


def _rules(found: MeasuredLeakage) -> Table:
    """What rules without training pick of the choices."""
    columns = (
        Column("rule", "rule"),
        Column("n_items", "items", "count"),
        Column("hits", "right", "percent"),
        Column("chance", "by guessing", "percent"),
        Column("effect", "gained over all items", "percent"),
        Column("z", "z", "decimal"),
        Column("p_adjusted", "p (Holm)", "probability"),
    )
    caption = "What rules without training get right, of the items where they pick some choices and not all"
    note = "" if found.positions is None else found.positions.sentence
    return table_of("choice_rules", caption, columns, found.rules, file="choice_rules", note=note)


def _subjects(found: MeasuredLeakage) -> Table:
    """Where rules without training hit beyond chance."""
    columns = (
        Column("subject", "subject"),
        Column("rule", "rule"),
        Column("n_items", "items", "count"),
        Column("hits", "right", "percent"),
        Column("chance", "by guessing", "percent"),
        Column("effect", "gained over the subject", "percent"),
        Column("q", "q", "probability"),
    )
    caption = "Subjects in which a rule without training hits beyond chance (Benjamini-Hochberg, q below .05)"
    return table_of("choice_subjects", caption, columns, found.subjects or (), file="choice_subjects")


def _like_length(found: MeasuredLeakage) -> Table:
    columns = (
        Column("reader", "rule or reader"),
        Column("n_items", "pairs of like length", "count"),
        Column("accuracy", "right there", "percent"),
        Column("all_items", "of all pairs", "count"),
        Column("all_accuracy", "right there", "percent"),
    )
    caption = "Pairs of like length: those whose lengths differ by less than a tenth"
    rows = found.preference_like_length or ()
    return table_of("like_length", caption, columns, rows, file="preference_like_length")


def _subsets(found: MeasuredLeakage) -> Table:
    columns = (
        Column("subset", "subset", "data"),
        Column("reader", "reader"),
        Column("n_items", "items", "count"),
        Column("accuracy", "right", "percent"),
        Column("effect", "gained", "percent"),
        Column("z", "z", "decimal"),
        Column("p_adjusted", "q (Benjamini-Hochberg)", "probability"),
    )
    caption = "What readers gain on each subset"
    return table_of("subsets", caption, columns, found.preference_subsets or (), file="preference_subsets")


def _information(found: MeasuredLeakage) -> Table:
    columns = (
        Column("condition", "condition"),
        with_bounds("information", "usable information, bits", "decimal", 3),
        Column("h_yb", "bits without input", "decimal", 3),
        Column("h_yx", "bits left", "decimal", 3),
        Column("share_negative", "examples misled", "percent"),
        Column("information_right", "where right", "decimal"),
        Column("information_wrong", "where wrong", "decimal"),
    )
    nulls = {each.null for each in found.information}
    of = f"; without input: {nulls.pop()}" if len(nulls) == 1 else ""
    caption = f"How many bits of the label each condition gives{of}"
    return table_of("information", caption, columns, found.information, file="examples")


def _agreement(found: MeasuredLeakage) -> Table:
    columns = (
        Column("condition", "condition", aside="why"),
        Column("decided", "decided like the whole", sort="decided_sort", aside="decided_aside"),
        Column("chance", "by chance", "points"),
        Column("kappa", "kappa", "decimal"),
        with_bounds("recovery", "right where alike", "points"),
        with_bounds("recovery_paper", "paper: of the whole's right answers", "points"),
    )
    caption = "Does a model of a part decide as one of the whole does?"
    return table_of("agreement", caption, columns, found.agreement, _decided)


def _decided(row: Agreement | BoundedAgreement) -> Mapping[str, Any]:
    """The agreement, or what it lies between where only right and wrong are known."""
    if isinstance(row, BoundedAgreement):
        return {
            "decided": f"{points(row.at_least)} to {points(row.at_most)}",
            "decided_sort": row.at_least,
            "decided_aside": "bounds",
            **dict.fromkeys(("why", "chance", "recovery_low", "recovery_high")),
        }
    return {
        "decided": points(row.agreement),
        "decided_sort": number(row.agreement),
        "decided_aside": bounds(row.agreement_low, row.agreement_high),
        "why": "; ".join(row.skipped.values()),
    }


def _relevance(found: MeasuredLeakage) -> Table:
    columns = (
        Column("condition", "condition", aside="left_out"),
        Column("n_runs", "runs", "count"),
        Column("agreement_recommended", "agreement", "points", low="low", high="high"),
        Column("agreement_paper", "paper's convention", "points"),
        Column("shared_share", "relevance on the shared text", "points"),
        Column("n_used", "examples", "count"),
    )

    def more(row: Relevance) -> Mapping[str, Any]:
        return {"left_out": "; ".join(f"{count(n)} left out: {why}" for why, n in row.skipped.items())}

    caption = "Do they look at the same words? (token relevance agreement, x 100)"
    return table_of("relevance", caption, columns, found.relevance, more, file="relevance")


def _difficulty(found: MeasuredLeakage) -> Table:
    columns = (
        Column("condition", "condition"),
        Column("subset", "subset"),
        Column("n", "examples", "count"),
        Column("accuracy", "accuracy", "points", low="low", high="high"),
    )
    caption = "Accuracy on easy and hard examples, by patterns of the last text"
    return table_of("difficulty", caption, columns, found.difficulty, file="leakage_by_difficulty", folded=True)


def _splits(found: MeasuredLeakage) -> Table:
    first = found.splits[0] if found.splits else None
    conditions, roles = (tuple(first.accuracies), tuple(first.peco)) if first else ((), ())
    columns = (
        Column("split", "split's seed"),
        Column("n_train", "train", "count"),
        Column("n_test", "test", "count"),
        *(Column(name, name, "points") for name in (*conditions, "majority")),
        *(Column(f"peco_{role}", f"PECO {role}", "decimal", 3) for role in roles),
    )

    def more(row: Split) -> Mapping[str, Any]:
        return {**row.accuracies, **{f"peco_{role}": score for role, score in row.peco.items()}}

    probed = found.source == "probes"
    whose = "Other splits of the same data" if probed else "Quick probes on several splits of the same data"
    caption = f"{whose}: how much the luck of splitting moves the scores"
    return table_of("splits", caption, columns, found.splits, more)


@dataclass(frozen=True)
class _Words:
    """What is read: a label, or which choice is right."""

    one: str = "label"
    many: str = "labels"
    constant: str = "naming the most frequent test label"


_OF_CHOICES = _Words("answer", "answers", "choosing the position that is right most often")


def _sentences(found: MeasuredLeakage) -> list[str]:
    words = _OF_CHOICES if found.rules else _Words()
    rows = {each.condition: each for each in found.conditions}
    information = {each.condition: each for each in found.information}
    parts = sorted((row for row in rows.values() if is_part(row.condition)), key=lambda row: -row.improvement)
    # The evidence of the verdict has the accuracy of the part that gains most.
    reader = "the quick probe" if found.source == "probes" else found.model
    said = [
        _part(row, information.get(row.condition), reader, judged=row is parts[0], words=words) for row in parts
    ]  # fmt: skip
    said[1:1] = _luck_of_splitting(parts[0], found) if parts else []
    said += [
        f"{how}, {points(rows[name].accuracy)} % of the {words.many} are right."
        for name, how in _CHANGED.items()
        if name in rows and rows[name].improvement_low > 0
    ]
    said += _gain_by_subject(found)
    said += [_clusters(row, found.n_examples) for row in found.peco]
    said += [f"{_leaning(each)}{_about(each)}." for each in found.clusters[:_MOST_CLUSTERS]]
    said += [
        _decides(row) for row in found.agreement
        if isinstance(row, Agreement) and is_part(row.condition) and number(row.agreement)
    ]  # fmt: skip
    return [sentence for sentence in said if sentence]


def _gain_by_subject(found: MeasuredLeakage) -> list[str]:
    """In how many subjects a rule hits, and where it gains most."""
    if not found.subjects:
        return []
    most = max(found.subjects, key=lambda row: row.effect)
    return [
        f"In {found.n_subjects_found} of {found.n_subjects} subjects a rule without training hits beyond chance "
        f"(Benjamini-Hochberg). It gains most in {most.subject}: {most.rule} is right in {points(most.hits)} % of "
        f"{most.n_items:,} items, where guessing gives {points(most.chance)} %."
    ]


def _part(row: Condition, information: Information | None, reader: str, *, judged: bool, words: _Words) -> str:
    name = row.condition.removesuffix("_only")
    if row.n_constant == row.n_runs:
        return (
            f"Models of the {name} alone name one label for every example, which is right in "
            f"{points(row.accuracy)} %: they do not measure what the {name} gives away."
        )
    bits = ""
    # A share that is printed as 0.00 says no more than the verdict.
    if information is not None and round(information.information, 2) > 0:
        bits = f"{information.information:.2f} of the {words.one}'s {information.h_yb:.2f} bits"
    share = "" if number(row.recovered) is None else f"{points(row.recovered)} % of what the whole input gives"
    if judged:
        read = ", and ".join(part for part in (share, bits) if part)
        return f"A model of the {name} alone ({reader}) reads {read}." if read else ""
    said = (
        f"From the {name} alone {reader} gets {points(row.accuracy)} % of the {words.many} right, "
        f"{signed_points(row.improvement, 1)} points ({signed_points(row.improvement_low, 1)} to "
        f"{signed_points(row.improvement_high, 1)}) over always {words.constant}"
    )
    return said + (f", and {share}" if share else "") + (f": {bits}" if bits else "") + "."


def _luck_of_splitting(best: Condition, found: MeasuredLeakage) -> list[str]:
    """How far another split moves the improvement of the part that gives most."""
    name = best.condition
    gains = [each.accuracies[name] - each.majority for each in found.splits if name in each.accuracies]
    probed = found.source == "probes"
    if probed:
        gains.append(best.improvement)
    if len(gains) < _FEWEST_SPLITS:
        return []
    what = "these points" if probed else "the points of a quick probe in the network's place"
    ends = f"{signed_points(min(gains), 1)} to {signed_points(max(gains), 1)}"
    return [f"Over {len(gains)} splits of the data {what} range from {ends}."]


def _clusters(row: ClusterScores, n: int) -> str:
    p = f"= {row.p_value:.3f}" if row.p_value >= 0.001 else "< 0.001"
    score = f"{decimal(row.score, 3)} (chance {row.null_mean:.3f} taken off, p {p})"
    if row.p_value > _CHANCE:
        said = f"Clusters of like {row.role} sentences do not give labels away beyond chance"
        return f"{said}: the outlier score is {score}."
    share = f"{row.n_significant} of {row.n_clusters} clusters of like {row.role} sentences lean beyond chance"
    if row.n_biased:
        share += (
            f"; {row.n_biased}, with {row.n_biased_examples:,} of the {n:,} examples, diverge by more than "
            f"{row.threshold:g}"
        )
    return f"{share}. The outlier score is {score}."


def _leaning(cluster: Cluster) -> str:
    """How many sentences a cluster has, and to which label they lean."""
    return (
        f"{cluster.size:,} {cluster.role} sentences lean to {cluster.label}: {points(cluster.share)} % of them, where "
        f"{points(cluster.expected)} % of all are"
    )


def _about(cluster: Cluster) -> str:
    """The words that set a cluster apart."""
    words = [f"“{each.word}”" for each in cluster.words[:_MOST_WORDS]]
    return f"; they stand out by {', '.join(words)}" if words else ""


def _decides(row: Agreement) -> str:
    part = row.condition.removesuffix("_only")
    said = f"A model of the {part} alone decides like one of the whole input in {points(row.agreement)} % of cases"
    if number(row.kappa) is not None:
        said += f" (by chance {points(row.chance)} %; kappa {row.kappa:.2f})"
    if number(row.recovery) is not None:
        said += f", and is then right in {points(row.recovery)} %"
    return said + "."


def issues(found: LeakageResult, finding: Finding) -> Iterator[Issue]:
    """The items that a rule gets right, and the rows that every reader of a part gets right."""
    if not isinstance(found, MeasuredLeakage) or found.effects is None or not is_flaw(finding):
        return
    flaws = [each for each in found.effects.effects if each.measure != INFORMATION and each.low >= each.caution]
    gaining = {each.reader.removeprefix(RULE): each.low for each in flaws if each.reader.startswith(RULE)}
    parts = {each.reader.removeprefix(RULE): each.part for each in flaws}
    # Of an audit the question lists the items themselves.
    rules = [] if finding.issues else [each for each in found.rules if each.rule in gaining and each.n_items]
    for rule in sorted(rules, key=lambda each: -gaining[each.rule])[:_MOST_RULES]:
        kind, n = f"choice by the rule “{rule.rule}” is right", round(rule.hits * rule.n_items)
        shown = f"{parts[rule.rule]}: {RULE}{rule.rule}=right"
        yield issue(finding, kind, n, row_saying(finding, rule.rule), of="items", table=EXAMPLES, filter=shown)
    what = "label" if found.kind is None else "right choice"
    is_unsound = finding.verdict is not None and finding.verdict.verdict == "unsound"
    for part in dict.fromkeys(each.part for each in flaws if not each.reader.startswith(RULE)):
        right = finding.examples.get(f"right_{part}_only")
        if right is not None and (n := int((right == 1).sum())):
            worst, shown = row_saying(finding, f"the {part} alone"), f"{part}_only=always right"
            mend = rewrite_part(part) if found.kind is None and is_unsound else ""
            yield issue(finding, f"{what} readable from the {part} alone", n, worst, mend, table=EXAMPLES, filter=shown)


PAGE = Page(
    LeakageResult,
    title="Leakage",
    lead="How much of the label can be read from a part of the input?",
    sections=sections,
    sentences=sentences,
    charts=charts,
    paper_charts=paper_charts,
    paper_tables=paper_tables,
    printed_tables=printed_tables,
    issues=issues,
)
