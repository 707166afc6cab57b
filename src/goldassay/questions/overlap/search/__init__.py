"""One pass over a corpus, however large it is: its files, their documents, and what these have of a test set."""
