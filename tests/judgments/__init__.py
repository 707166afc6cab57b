"""Tests of the measures on judgments."""
