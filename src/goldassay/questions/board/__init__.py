"""Boards: systems ranked on the same items."""
