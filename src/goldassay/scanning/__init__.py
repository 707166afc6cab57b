"""One pass over what does not fit into memory: words of bytes, n-grams that are sought, shards and their merge."""

from goldassay.kernels.words import readings_of, words_of
from goldassay.scanning.scan import ScanResult, scan_corpus
from goldassay.scanning.shards import Corpus, CorpusFile, find_corpus
from goldassay.scanning.sought import Sought, SoughtText

__all__ = [
    "Corpus", "CorpusFile", "ScanResult", "Sought", "SoughtText", "find_corpus", "readings_of", "scan_corpus",
    "words_of",
]  # fmt: skip
