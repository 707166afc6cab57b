"""From results to files: one renderer a medium, all fed by the same typed answers."""
