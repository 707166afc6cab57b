"""How many cores there are, and products on one of them."""

from __future__ import annotations

# The block limits SciPy's library too, which the threads before it are to include.
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info

from goldassay.core.cores import cores, one_blas_thread


def _threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_there_is_a_core() -> None:
    assert cores() >= 1


def test_products_are_limited_within_the_block_alone() -> None:
    before = _threads()
    with one_blas_thread():
        assert _threads() == [1] * len(before)
    assert _threads() == before
