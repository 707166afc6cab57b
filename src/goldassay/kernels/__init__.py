"""Compiled loops that know no question: one hash, the splitting of texts into words, MinHash, JSON, gapped patterns."""
