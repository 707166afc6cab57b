"""Instability: would the score come out the same with another seed, another checkpoint, another sample?

Arrays of scores in, frozen results out; see the modules for formulas and sources.
"""

from goldassay.instability.by_group import GroupDecomposition, decompose_by_group
from goldassay.instability.class_overlap import ClassOverlaps, RunClass, overlap_classes
from goldassay.instability.comparison import Comparison, compare
from goldassay.instability.comparisons import Comparisons, compare_all
from goldassay.instability.copies import distinct_runs
from goldassay.instability.dataset_correlation import (
    DatasetCorrelation,
    correlate_datasets,
    correlate_final_scores,
)
from goldassay.instability.decomposition import VarianceDecomposition, decompose_variance
from goldassay.instability.deviation import normalized_deviation, normalized_deviation_interval
from goldassay.instability.equivalence import Equivalence, equivalent_within
from goldassay.instability.example_correlation import ExampleCorrelation, correlate_examples
from goldassay.instability.group_resampling import GroupIntervals, resample_groups
from goldassay.instability.one_run import OneRunScore, score_one_run
from goldassay.instability.pairs import top_covarying_pairs
from goldassay.instability.planning import SeedPlan, comparison_power, plan_seeds, seeds_needed, smallest_difference
from goldassay.instability.resampling import ResampledIntervals, resample_scores
from goldassay.instability.selection import CheckpointSelection, select_checkpoints
from goldassay.instability.sensitivity import ConfigurationSpread, configuration_spread, order_changes
from goldassay.instability.skill import ScoreAboveConstant, examples_to_exceed, score_above_constant
from goldassay.instability.stability import ExampleStability, measure_stability
from goldassay.instability.suites import TotalComparison, compare_totals
from goldassay.instability.summary import ScoreSummary, summarize_scores
from goldassay.instability.trajectories import Trajectories, trajectories

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
    "score_above_constant",
    "score_one_run",
    "seeds_needed",
    "select_checkpoints",
    "smallest_difference",
    "summarize_scores",
    "top_covarying_pairs",
    "trajectories",
]
