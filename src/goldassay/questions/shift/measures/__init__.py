"""Measures of shift: scores in and out of distribution in, frozen results out."""
