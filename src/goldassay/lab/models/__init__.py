"""Networks, one a file; what reads with scikit-learn and numba alone stands in `goldassay.readers`."""
