"""scikit-learn's ``gamma="scale"``."""

import numpy as np

from mercer import _native
from mercer._rows import borrowable

__all__ = ["gamma_of", "merged_moments", "moments", "scale_gamma"]


def scale_gamma(X, weights=None):
    """Return 1/(d·var X), or 1 if X is constant. With weights, a row of weight 2 counts as two rows."""
    return gamma_of(moments(X, weights), X.shape[1])


def gamma_of(found, columns):
    """Return γ from the `moments` of rows with `columns` columns."""
    gamma = _native.inverse_variance(found, columns)
    if gamma == np.inf:
        raise ValueError(f"gamma='scale' is infinite for X of variance {found[2] / found[0]}; scale X, or give a number")
    return gamma


def moments(X, weights=None):
    """Return the number of entries, their mean, and the sum of their squared deviations.

    Dense and sparse rows give the same bits.
    """
    weights = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    return _native.entry_moments(borrowable(X), weights)


def merged_moments(one, other):
    """Return the `moments` of the entries of two sets together (Chan, Golub and LeVeque 1979)."""
    for empty, full in ((one, other), (other, one)):
        if empty[0] == 0:
            return full
    (n, mean, squares), (m, other_mean, other_squares) = one, other
    difference = other_mean - mean
    with np.errstate(over="ignore", invalid="ignore"):
        return (
            n + m,
            mean + difference * m / (n + m),
            squares + other_squares + difference * difference * n * m / (n + m),
        )
