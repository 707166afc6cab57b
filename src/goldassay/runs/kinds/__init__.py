"""Kinds of what was answered: runs, and boards of systems."""
