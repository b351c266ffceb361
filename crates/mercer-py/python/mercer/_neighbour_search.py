"""Distances of the nearest neighbours: the meaning of ``metric``, ``p`` and ``metric_params``.

Euclidean, Manhattan, Chebyshev and Minkowski distances run in native code. Any other distance is computed as a matrix of
distances to all rows, for a block of queries at a time.
"""

import numpy as np

from mercer import _native
from mercer._rows import borrowable, is_sparse

__all__ = ["METRICS", "OTHERS", "search_of"]

#: The names of the distances that are computed in native code, with their names there.
METRICS = {
    "chebyshev": "chebyshev",
    "cityblock": "manhattan",
    "euclidean": "euclidean",
    "infinity": "chebyshev",
    "l1": "manhattan",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "minkowski": "minkowski",
    "p": "minkowski",
}

#: Distances held at once: 128 MiB.
_AT_ONCE = 2**24


def search_of(metric, p, parameters):
    """Return the search by a distance; `parameters` are the keyword arguments of the distance."""
    if isinstance(metric, str):
        if metric == "precomputed":
            return Given()
        if metric in OTHERS:
            return Matrix(OTHERS[metric])
        if metric in METRICS:
            return _minkowski(METRICS[metric], p, parameters.get("w"))
        return Matrix(_of_scipy(metric, parameters))
    if hasattr(metric, "pairwise"):
        return Matrix(lambda X, Z: metric.pairwise(X, Z))
    return Matrix(_each_pair(metric, parameters))


def _minkowski(name, p, w):
    """Return the native search by a Minkowski distance: p as a name if it has one, and w as a scale of the columns."""
    if name == "minkowski":
        name = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p, name)
    if w is None:
        scale = None
    else:
        w = np.asarray(w, dtype=np.float64)
        scale = w if np.isinf(p) else w ** (1.0 / p)
    return Native(name, float(p) if name == "minkowski" else None, scale)


class Native:
    """Search by a distance in native code."""

    def __init__(self, name, p, scale):
        self.name = name
        #: The distance as written in settings and model files.
        self.metric = name if p is None else {"minkowski": {"p": p}}
        self._scale = scale
        self.saveable = scale is None

    def nearest(self, rows, queries, k, job):
        """Return distances and indices of the `k` nearest rows of each query, nearest first; ties go to the first row."""
        return _native.nearest(borrowable(self._scaled(rows)), borrowable(self._scaled(queries)), k, self.metric, job)

    def _scaled(self, X):
        if self._scale is None:
            return X
        return X.multiply(self._scale).tocsr() if is_sparse(X) else np.ascontiguousarray(X * self._scale)


class Matrix:
    """Search by a function that returns the distances between two blocks of rows."""

    saveable = False

    def __init__(self, function):
        self._function = function

    def nearest(self, rows, queries, k, job):
        n = rows.shape[0]
        block = max(1, _AT_ONCE // n)
        found = [_smallest(self._function(queries[i : i + block], rows), k) for i in range(0, queries.shape[0], block)]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


class Given:
    """Search in given distances from queries to rows: a matrix, or a sparse graph of some of them."""

    saveable = False

    def nearest(self, rows, queries, k, job):
        return _smallest_stored(queries, k) if is_sparse(queries) else _smallest(queries, k)


def _smallest(distances, k):
    """Return the `k` smallest entries of each row, smallest first; ties go to the first entry, and NaN comes last."""
    distances = np.asarray(distances, dtype=np.float64)
    places = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, places, axis=1), places


def _smallest_stored(graph, k):
    counts = np.diff(graph.indptr)
    if counts.min() < k:
        raise ValueError(
            f"{k} neighbors are required for each samples, but some samples have only {counts.min()} neighbors in "
            "precomputed graph matrix. Decrease number of neighbors or recompute the graph with more neighbors."
        )
    # By row, then by distance; a stable sort keeps the order of equal distances.
    rows = np.repeat(np.arange(graph.shape[0]), counts)
    order = np.lexsort((graph.data, rows))
    chosen = order[graph.indptr[:-1, None] + np.arange(k)]
    return graph.data[chosen].astype(np.float64), graph.indices[chosen].astype(np.int64)


def _nan_euclidean(X, Z):
    """Return √(d/c·Σ(xⱼ−zⱼ)²) over the c of d columns in which neither is NaN; NaN if there are none."""
    squares, present = (np.zeros((X.shape[0], Z.shape[0])) for _ in range(2))
    for x, z in zip(X.T.astype(np.float64), Z.T.astype(np.float64), strict=True):
        difference = x[:, None] - z
        known = ~np.isnan(difference)
        present += known
        squares += np.square(difference, where=known, out=np.zeros_like(difference))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(squares * (X.shape[1] / present))


def _haversine(X, Z):
    if X.shape[1] != 2:
        raise ValueError("Haversine distance only valid in 2 dimensions")
    latitude, longitude = (np.sin((x[:, None] - z) / 2) ** 2 for x, z in zip(X.T.astype(float), Z.T.astype(float), strict=True))
    return 2 * np.arcsin(np.sqrt(latitude + np.cos(X[:, :1]) * np.cos(Z[:, 0]) * longitude))


#: The distances that are computed in this file.
OTHERS = {"haversine": _haversine, "nan_euclidean": _nan_euclidean}


def _of_scipy(name, parameters):
    def distances(X, Z):
        from scipy.spatial.distance import cdist

        if is_sparse(X):
            X = X.toarray()
        return cdist(X, Z, metric=name, **parameters)

    return distances


def _each_pair(function, parameters):
    def distances(X, Z):
        X, Z = ((A.toarray() if is_sparse(A) else A) for A in (X, Z))
        return np.array([[function(x, z, **parameters) for z in Z] for x in X], dtype=np.float64).reshape(len(X), len(Z))

    return distances
