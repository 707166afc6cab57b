"""What all rooms share: errors, files, settings, progress, results, the words of a verdict."""
