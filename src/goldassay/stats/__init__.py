"""Statistics for every question: clusters, the bootstrap, intervals, effects, the law of verdicts."""
