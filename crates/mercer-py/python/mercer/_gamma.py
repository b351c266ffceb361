"""scikit-learn's ``gamma="scale"``."""

import numpy as np

from mercer._rows import is_sparse

__all__ = ["gamma_of", "merged_moments", "moments", "scale_gamma"]

#: Largest number of entries of a temporary array.
_AT_ONCE = 2**18


def scale_gamma(X, weights=None):
    """Return 1/(d·var X), or 1 if X is constant. With weights, a row of weight 2 counts as two rows."""
    return gamma_of(moments(X, weights), X.shape[1])


def gamma_of(found, columns):
    """Return γ from the `moments` of rows with `columns` columns."""
    count, _, squares = found
    with np.errstate(over="ignore", invalid="ignore"):
        variance = squares / count
    if np.isnan(variance):
        variance = np.inf
    if variance == 0:
        return 1.0
    with np.errstate(over="ignore"):
        gamma = float(1.0 / (columns * variance))
    if gamma == np.inf:
        raise ValueError(f"gamma='scale' is infinite for X of variance {variance}; scale X, or give a number")
    return gamma


def moments(X, weights=None):
    """Return the number of entries, their mean, and the sum of their squared deviations, in double precision.

    The sums run over the entries that are not 0, a block of rows at a time, so dense and sparse rows give the same bits.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = absent = count = squares = 0.0
        for entries, each, missing in _blocks(X, weights):
            total += _sum(entries, each)
            absent += missing
            count += len(entries) if each is None else each.sum()
        count += absent
        mean = np.divide(total, count)
        for entries, each, _ in _blocks(X, weights):
            squares += _sum(np.square(entries - mean), each)
        return count, mean, squares + absent * mean**2


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
            squares + other_squares + difference**2 * n * m / (n + m),
        )


def _sum(values, weights):
    return values.sum() if weights is None else (values * weights).sum()


def _blocks(X, weights):
    """Yield, for each block of rows, the nonzero entries, their weights or None, and the weight of the zero entries."""
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    rows = max(1, _AT_ONCE // max(1, X.shape[1]))
    for first in range(0, X.shape[0], rows):
        entries, counts = _nonzero(X[first : first + rows])
        zeros = X.shape[1] - counts
        if weights is None:
            yield entries, None, float(zeros.sum())
        else:
            each = weights[first : first + rows]
            yield entries, np.repeat(each, counts), float(each @ zeros)


def _nonzero(X):
    """Return the nonzero entries in row order, and their number in each row."""
    if not is_sparse(X):
        counts = np.count_nonzero(X, axis=1)
        entries = X.ravel() if counts.sum() == X.size else X[X != 0]
        return entries.astype(np.float64, copy=False), counts
    counts = np.diff(X.indptr)
    if (X.data == 0).any():
        kept = np.flatnonzero(X.data)
        counts = np.bincount(np.repeat(np.arange(X.shape[0]), counts)[kept], minlength=X.shape[0])
        return X.data[kept].astype(np.float64), counts
    return X.data.astype(np.float64, copy=False), counts
