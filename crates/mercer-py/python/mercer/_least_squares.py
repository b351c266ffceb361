"""Ridge regression where Cholesky fails: a singular matrix at alpha=0, or an indefinite kernel."""

import numpy as np


def solve(K, targets, alpha, weights=None, intercept=False):
    """Return a = Su for the minimum-norm least-squares solution of (SKS + αI)u = Sy, S the square roots of the weights.

    With an intercept b that is not penalised, the system is bordered by S1. O(n³) time, O(n²) memory.

    Returns
    -------
    dual : ndarray of shape (n, n_targets)
    intercepts : ndarray of shape (n_targets,)
    """
    n, n_targets = targets.shape
    roots = np.ones(n) if weights is None else np.sqrt(weights)
    dual, intercepts = np.empty((n, n_targets)), np.zeros(n_targets)
    alpha = np.broadcast_to(alpha, n_targets)
    for value in np.unique(alpha):
        group = np.flatnonzero(alpha == value)
        matrix = np.zeros((n + intercept, n + intercept))
        matrix[:n, :n] = roots[:, None] * K * roots
        matrix[np.arange(n), np.arange(n)] += value
        right = np.zeros((n + intercept, len(group)))
        right[:n] = roots[:, None] * targets[:, group]
        if intercept:
            matrix[n, :n] = matrix[:n, n] = roots
        solution = np.linalg.lstsq(matrix, right, rcond=None)[0]
        dual[:, group] = roots[:, None] * solution[:n]
        if intercept:
            intercepts[group] = solution[n]
    return dual, intercepts
