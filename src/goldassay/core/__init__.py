"""What all rooms share: errors, files, intervals, settings, progress, results."""
