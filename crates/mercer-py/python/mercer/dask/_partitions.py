"""Dask collections as a list of partitions, each with its rows, targets and weights."""

from dataclasses import dataclass

import numpy as np
from dask import is_dask_collection

__all__ = ["Partitions", "is_dask_collection"]


@dataclass
class Partitions:
    """Rows with their targets and weights as lists of partitions, not yet computed."""

    #: One tuple (x, y, weights) of delayed values for each partition; y and weights may be None.
    parts: list
    columns: int
    #: The precision of the rows.
    dtype: np.dtype
    #: The labels of the columns of a frame.
    labels: list | None
    #: The names of the targets, where y has any.
    target_names: list | None
    #: The number of dimensions of y, and of its columns (1 without a second dimension).
    y_ndim: int
    targets: int

    @classmethod
    def of(cls, X, y, sample_weight=None):
        """Return the common partitions of X, y and weights.

        Raises
        ------
        TypeError, ValueError
            If X is not a dask collection of rows, or if y or the weights are not partitioned like X.
        """
        if not is_dask_collection(X) or not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2:
            raise TypeError(
                "X must be a dask array or data frame with one sample a row. "
                f"Got {type(X).__name__} instead; for arrays in memory use the estimator of the same name in mercer."
            )
        if hasattr(X, "chunks"):
            X = X.rechunk({1: -1})
            columns, labels, kinds = X.shape[1], None, [X.dtype]
            if np.isnan(columns):
                raise ValueError("the number of columns of X must be known: call X.compute_chunk_sizes()")
        else:
            columns, labels, kinds = len(X.columns), list(X.columns), list(X.dtypes)
        if columns == 0:
            raise ValueError("X has no columns")
        dates = [place for place, kind in enumerate(kinds) if kind.kind in "mM"]
        if dates:
            column = dates[0] if labels is None else labels[dates[0]]
            raise TypeError(f"X has dates or durations in column {column!r}: turn them into numbers first")
        single = all(kind == np.float32 for kind in kinds)
        sides = [_beside(X, side, name) for side, name in ((y, "y"), (sample_weight, "sample_weight"))]
        targets = getattr(y, "columns", None)
        if targets is None and getattr(y, "name", None) is not None and not hasattr(y, "chunks"):
            targets = [y.name]
        return cls(
            parts=list(zip(_delayed(X), *sides, strict=True)),
            columns=int(columns),
            dtype=np.dtype(np.float32 if single else np.float64),
            labels=labels,
            target_names=None if targets is None else [str(name) for name in targets],
            y_ndim=y.ndim,
            targets=1 if y.ndim == 1 else int(y.shape[1] if hasattr(y, "chunks") else len(y.columns)),
        )

    @property
    def names(self):
        """The names of the columns, where they are all texts."""
        if self.labels is None or not all(isinstance(label, str) for label in self.labels):
            return None
        return np.array(self.labels, dtype=object)


def _delayed(collection):
    if hasattr(collection, "simplify"):
        # Only the required columns are read. The full optimisation may also merge the files of X and of y into different
        # numbers of partitions.
        return list(collection.simplify().to_delayed(optimize_graph=False))
    # What X and y are both made of has the same keys in both, and so is computed once.
    return np.ravel(collection.to_delayed(optimize_graph=False)).tolist()


def _beside(X, side, name):
    """Return the partitions of y or of weights, one for each partition of X."""
    npartitions = X.numblocks[0] if hasattr(X, "chunks") else X.npartitions
    if side is None:
        if name == "y":
            raise ValueError("y is required")
        return [None] * npartitions
    if not is_dask_collection(side):
        raise TypeError(f"{name} must be a dask array or series, as X is one. Got {type(side).__name__} instead.")
    if side.ndim > 2 or (name == "sample_weight" and side.ndim != 1):
        raise ValueError(f"{name} has {side.ndim} dimensions")
    if hasattr(side, "chunks"):
        if side.ndim == 2:
            side = side.rechunk({1: -1})
        rows = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
        if not np.isnan([*rows, *side.chunks[0]]).any():
            if sum(rows) != side.shape[0]:
                raise ValueError(f"X has {sum(rows)} rows, but {name} has {side.shape[0]}")
            side = side.rechunk({0: rows})
    found = _delayed(side)
    if len(found) != npartitions:
        raise ValueError(
            f"X has {npartitions} partitions, but {name} has {len(found)}: they must be partitioned in the same way"
        )
    return found
