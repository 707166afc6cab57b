"""The questions that goldassay answers: evidence in, findings out."""
