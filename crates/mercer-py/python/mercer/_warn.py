"""Warnings attributed to the user's line that caused them."""

import sys
import warnings

__all__ = ["warn"]

#: Packages between a user's call and a warning: this one, and those through which a fit may be called.
_INSIDE = ("mercer.", "sklearn.", "joblib.")


def warn(message, category=UserWarning):
    """Issue a warning at the line that called the package, directly or through a pipeline or a search."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
