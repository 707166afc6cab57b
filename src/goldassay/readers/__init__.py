"""Readers: what predicts the label from a part of the input."""
