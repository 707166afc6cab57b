"""The version of the package, read by the build and by every report."""

__version__ = "0.2.0"
