"""Measures of instability: arrays of scores in, frozen results out."""
