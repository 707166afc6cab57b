"""One file a study; each is found by itself, under its own name."""
