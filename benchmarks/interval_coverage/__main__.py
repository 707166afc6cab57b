"""How often 95 % intervals hold the truth, by simulation; docs/intervals.md has the ranges of its tables.

    python -m benchmarks.interval_coverage [CASE...] [--replications N]

Without cases all are measured, which takes about half an hour on one core.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.interval_coverage.simulation import ALL, markdown, measure_case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(ALL)}")
    parser.add_argument("--replications", type=int, default=1000)
    settings = parser.parse_args()
    for name in settings.cases or ALL:
        start = time.perf_counter()
        found = measure_case(name, settings.replications)
        print(f"\n{name}: {settings.replications} replications, {time.perf_counter() - start:.0f} s\n")
        print(markdown(found), flush=True)


main()
