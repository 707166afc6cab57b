"""Where the opinions of bias models and teachers come from: mined patterns, quick probes, networks, stored runs."""

from goldassay.questions.opinions.sources import bias_source, teacher_source, with_sources

__all__ = ["bias_source", "teacher_source", "with_sources"]
