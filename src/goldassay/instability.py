"""Instability: would the score come out the same with another seed, another checkpoint, another sample?

Arrays of scores in, frozen results out; see the modules for formulas and sources.
"""

from goldassay.questions.instability.measures.checkpoints import (
    CheckpointSelection,
    ExampleStability,
    Trajectories,
    measure_stability,
    select_checkpoints,
    trajectories,
)
from goldassay.questions.instability.measures.class_overlap import ClassOverlaps, RunClass, overlap_classes
from goldassay.questions.instability.measures.comparison import Comparison, compare
from goldassay.questions.instability.measures.correlation import (
    DatasetCorrelation,
    ExampleCorrelation,
    correlate_datasets,
    correlate_examples,
    correlate_final_scores,
)
from goldassay.questions.instability.measures.covarying_pairs import top_covarying_pairs
from goldassay.questions.instability.measures.intervals import (
    GroupIntervals,
    ResampledIntervals,
    resample_groups,
    resample_scores,
)
from goldassay.questions.instability.measures.power import (
    SeedPlan,
    comparison_power,
    plan_seeds,
    seeds_needed,
    smallest_difference,
)
from goldassay.questions.instability.measures.scores import (
    OneRunScore,
    ScoreSummary,
    distinct_runs,
    run_families,
    score_one_run,
    summarize_scores,
)
from goldassay.questions.instability.measures.suites import (
    Comparisons,
    Equivalence,
    TotalComparison,
    compare_all,
    compare_totals,
    equivalent_within,
)
from goldassay.questions.instability.measures.variance import (
    GroupDecomposition,
    ScoreAboveConstant,
    VarianceDecomposition,
    decompose_by_group,
    decompose_variance,
    examples_to_exceed,
    normalized_deviation,
    normalized_deviation_interval,
    score_above_constant,
)
from goldassay.questions.sensitivity.measures import ConfigurationSpread, configuration_spread, order_changes

__all__ = [
    "CheckpointSelection",
    "ClassOverlaps",
    "Comparison",
    "Comparisons",
    "ConfigurationSpread",
    "DatasetCorrelation",
    "Equivalence",
    "ExampleCorrelation",
    "ExampleStability",
    "GroupDecomposition",
    "GroupIntervals",
    "OneRunScore",
    "ResampledIntervals",
    "RunClass",
    "ScoreAboveConstant",
    "ScoreSummary",
    "SeedPlan",
    "TotalComparison",
    "Trajectories",
    "VarianceDecomposition",
    "compare",
    "compare_all",
    "compare_totals",
    "comparison_power",
    "configuration_spread",
    "correlate_datasets",
    "correlate_examples",
    "correlate_final_scores",
    "decompose_by_group",
    "decompose_variance",
    "distinct_runs",
    "equivalent_within",
    "examples_to_exceed",
    "measure_stability",
    "normalized_deviation",
    "normalized_deviation_interval",
    "order_changes",
    "overlap_classes",
    "plan_seeds",
    "resample_groups",
    "resample_scores",
    "run_families",
    "score_above_constant",
    "score_one_run",
    "seeds_needed",
    "select_checkpoints",
    "smallest_difference",
    "summarize_scores",
    "top_covarying_pairs",
    "trajectories",
]
