"""Do scores drop on examples that are newer than a date?"""
