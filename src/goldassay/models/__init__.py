"""Models: one a file. The quick probe needs scikit-learn alone."""

from goldassay.models.quick_probe import FittedProbe, QuickProbe

__all__ = ["FittedProbe", "QuickProbe"]
