"""Measures of leakage: predictions and labels in, frozen results out."""
