"""Measures of artifacts: texts and labels in, patterns, tables and frozen results out."""
