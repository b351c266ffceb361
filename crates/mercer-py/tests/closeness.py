"""Comparison of results within bounds that follow from the arithmetic, not with the last digits of another library."""

import numpy as np

EPS = np.finfo(np.float64).eps


def assert_within(found, expected, bound):
    """``|found - expected| <= bound``, entry by entry; ``bound`` may be an array."""
    difference = np.abs(np.asarray(found) - expected)
    assert (difference <= bound).all(), f"{np.max(difference / bound):.3g} times the bound"


def assert_close(found, expected, tolerance):
    """The entries differ by at most ``tolerance`` times the largest of them.

    Backward stable solutions of one system agree to n·eps·condition in norm, and sums to n·eps times their largest terms.
    Nothing bounds the relative error of a single entry: one near zero has the absolute error of the others.
    """
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())
