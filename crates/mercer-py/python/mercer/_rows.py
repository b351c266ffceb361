"""Rows of features: conversion between users' arrays and the buffers that the native code borrows."""

import numpy as np


def is_sparse(X):
    """Return whether X is a SciPy sparse matrix or array, without importing SciPy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def as_matrix(X, name="X"):
    """Return X as a float32 or float64 matrix, dense or CSR; X itself if it already is one.

    Raises
    ------
    ValueError
        If X is not a matrix of finite numbers.
    """
    if is_sparse(X):
        X = X.tocsr()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        entries = X.data
    else:
        X = np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            if X.dtype.kind == "c":
                raise ValueError(f"Complex data not supported: {name} has dtype {X.dtype}")
            X = X.astype(np.float64)
        entries = X
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: {name} must have one sample a row; "
            "use reshape(-1, 1) for a single column or reshape(1, -1) for a single sample"
        )
    # The sum is finite if every entry is, overflow aside: one pass without a temporary array.
    with np.errstate(all="ignore"):
        finite = np.isfinite(np.sum(entries))
    if not finite and not np.isfinite(entries).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return X


def borrowable(X):
    """Return a float matrix in the form that the native code takes; not copied if it is C-ordered or canonical CSR."""
    if not is_sparse(X):
        return np.require(X, requirements=("C", "A"))
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.shape[1] > np.iinfo(np.uint32).max:
        raise ValueError(f"sparse data may have up to 2**32 - 1 columns, got {X.shape[1]}")
    # Column indices are never negative, so signed 32-bit indices can be read as unsigned ones without a copy.
    indices = X.indices.view(np.uint32) if X.indices.itemsize == 4 else X.indices.astype(np.uint32)
    return (
        X.shape[1],
        X.indptr.astype(np.uintp, copy=False),
        np.ascontiguousarray(indices),
        np.ascontiguousarray(X.data),
    )


def stacked(first, second):
    """Return the rows of one matrix followed by those of another; sparse if the first is."""
    if not is_sparse(first):
        return np.vstack([first, second.toarray() if is_sparse(second) else second])
    from scipy.sparse import vstack

    return type(first)(vstack([first, second], format="csr"))


def as_array(rows):
    """Return rows from the native code as an ndarray or a sparse array."""
    if not isinstance(rows, tuple):
        return rows
    from scipy.sparse import csr_array

    columns, indptr, indices, data = rows
    index = np.int32 if max(columns, len(data)) <= np.iinfo(np.int32).max else np.int64
    return csr_array((data, indices.astype(index), indptr.astype(index)), shape=(len(indptr) - 1, columns))


def handed_back(rows, like):
    """Return rows from the native code as an ndarray, or as a sparse matrix of the type of another matrix."""
    if not isinstance(rows, tuple):
        return rows
    columns, indptr, indices, data = rows
    indices, indptr = indices.astype(like.indices.dtype), indptr.astype(like.indptr.dtype)
    return type(like)((data, indices, indptr), shape=(len(indptr) - 1, columns))
