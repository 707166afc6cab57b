"""Test runs of DeepEval with a metric of its kind that asks no model. python write_deepeval.py OUT."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

OUTPUTS = ("Paris", "Rome", "", "Lima", "broken")


def main() -> None:
    out = Path(sys.argv[1]).resolve()
    out.mkdir(parents=True)
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": str(out)}
    os.chdir(out)
    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Match(BaseMetric):  # type: ignore[misc]
        """Whether the output is the expected one; it fails at one of them."""

        threshold = 0.5
        async_mode = False

        def measure(self, test_case: LLMTestCase, *args: object, **kwargs: object) -> float:
            if test_case.actual_output == "broken":
                raise RuntimeError("no judge")
            self.score = float(test_case.actual_output == test_case.expected_output)
            self.success = self.score >= self.threshold
            return self.score

        async def a_measure(self, test_case: LLMTestCase, *args: object, **kwargs: object) -> float:
            return self.measure(test_case)

        def is_successful(self) -> bool:
            return bool(self.success)

        @property
        def __name__(self) -> str:
            return "Match"

    cases = [
        LLMTestCase(
            name=f"q{i}", input=f"Capital {i}?", actual_output=text, expected_output="Rome" if i == 1 else "Paris"
        )
        for i, text in enumerate(OUTPUTS)
    ]
    found = evaluate(
        test_cases=cases, metrics=[Match()], hyperparameters={"model": "mock", "temperature": 0.5}, identifier="first",
        async_config=AsyncConfig(run_async=False), error_config=ErrorConfig(ignore_errors=True),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )  # fmt: skip
    told = {
        each.name: {"success": each.success, "score": [own.score for own in each.metrics_data]}
        for each in found.test_results
    }
    (out / "printed.txt").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
