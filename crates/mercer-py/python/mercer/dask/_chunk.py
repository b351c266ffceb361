"""Tasks of the workers: on one partition, and sums over several partitions."""

from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import wraps

import numpy as np
from distributed import get_worker

from mercer import _native
from mercer._gamma import moments
from mercer._rows import as_matrix, borrowable, is_sparse
from mercer.dask._survey import Survey

__all__ = [
    "Expected",
    "add",
    "aligned",
    "class_sums",
    "concatenate",
    "fold_sums",
    "kept",
    "losses",
    "merge_folds",
    "merge_surveys",
    "predict",
    "predict_frame",
    "process",
    "product",
    "rows",
    "stack_others",
    "stack_rows",
    "sums",
    "survey",
    "total",
]


def job(seed=0):
    """Return the job of native calls in a worker, whose tasks share its threads."""
    return {"threads": _threads(), "progress": None, "seed": seed}


def _threads():
    try:
        return get_worker().state.nthreads
    except ValueError:  # a scheduler without workers, as of dask.array.compute(scheduler="threads")
        return 1


@contextmanager
def naming(partition):
    """Context in which errors begin with the number of the partition."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(f"partition {partition} (counted from 0): {error}") from error


def on_partition(function):
    """Decorate a function of one partition: check the data, name the partition in errors, and report when it is done."""

    @wraps(function)
    def run(partition, topic, part, expected, *arguments):
        with naming(partition):
            found = function(Chunk(partition, *part, expected), *arguments)
        tell(topic, partition)
        return found

    return run


def tell(topic, partition):
    """Reports that a partition is done. ``topic`` is that of the events with the name of the pass, or None."""
    if topic is not None:
        get_worker().log_event(topic[0], (topic[1], partition))


@dataclass(frozen=True)
class Expected:
    """What every partition must be."""

    columns: int
    #: The labels of the columns of a frame.
    labels: list | None
    dtype: np.dtype
    #: The columns of y; None where it is classes.
    targets: int | None
    #: Whether negative weights count as 0.
    clip: bool


class Chunk:
    """A partition as the native code takes it."""

    def __init__(self, partition, x, y, weights, expected):
        self.partition = partition
        labels = list(getattr(x, "columns", ()))
        if expected.labels is not None and len(labels) == expected.columns and labels != expected.labels:
            raise ValueError(f"X has the columns {labels}, but the others have {expected.labels}")
        self.X = _matrix(x, expected.dtype)
        if self.X.shape[1] != expected.columns:
            raise ValueError(f"X has {self.X.shape[1]} columns, but the others have {expected.columns}")
        y = np.asarray(y)
        self.y = y if expected.targets is None else _targets(y, expected.targets)
        self.weights = None if weights is None else _weights(weights, expected.clip)
        for name, values in (("y", self.y), ("sample_weight", self.weights)):
            if values is not None and len(values) != self.X.shape[0]:
                raise ValueError(f"X has {self.X.shape[0]} rows, but {name} has {len(values)}")

    def labels(self, classes, factors):
        """Return the class codes, and the weights of the rows times the factors of their classes."""
        codes = np.searchsorted(classes, self.y)
        each = factors[codes]
        return codes.astype(np.uintp), each if self.weights is None else each * self.weights


def aligned(value):
    """Return the value with arrays that native code can borrow. Arrays received over a connection may be unaligned."""
    if isinstance(value, np.ndarray):
        return value if value.dtype == object else np.require(value, requirements=("C", "A"))
    if isinstance(value, dict):
        return {name: aligned(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(aligned, value))
    if is_sparse(value):
        parts = tuple(map(aligned, (value.data, value.indices, value.indptr)))
        return type(value)(parts, shape=value.shape)
    return value


def _matrix(x, dtype):
    if hasattr(x, "to_numpy"):
        x = x.to_numpy(dtype=dtype, na_value=np.nan)
    return aligned(as_matrix(x).astype(dtype, copy=False))


def _targets(y, targets):
    y = aligned(y.astype(np.float64, copy=False))
    if not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity")
    y = y.reshape(len(y), -1) if len(y) else y.reshape(0, targets)
    if y.shape[1] != targets:
        raise ValueError(f"y has {y.shape[1]} columns, but the others have {targets}")
    return y


def _weights(weights, clip):
    weights = aligned(np.asarray(weights, dtype=np.float64)).ravel()
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity")
    if clip:
        return np.maximum(weights, 0.0)
    if (weights < 0).any():
        raise ValueError("sample_weight contains negative values")
    return weights


def kept(value):
    """Return the value: as the result of a task, a value that all tasks share can be recomputed by the scheduler."""
    return value


# Passes: the contribution of one partition.


@on_partition
def survey(chunk, seed, capacity, wants_moments, wants_targets):
    """Return the survey of one partition: the number of rows, a sample, and on request the moments of X and the sample's targets."""
    n, classes = chunk.X.shape[0], chunk.y.ndim == 1
    if classes and chunk.y.dtype.kind in "fc" and not np.isfinite(chunk.y).all():
        raise ValueError("y contains NaN or infinity")
    names, codes = _classes(chunk.y) if classes else (None, None)
    hashes = _native.row_hashes(seed, chunk.partition, n)
    entries = chunk.X.data if is_sparse(chunk.X) else chunk.X
    found = Survey(
        sizes=[n],
        weight=float(n) if chunk.weights is None else float(chunk.weights.sum()),
        hashes=hashes,
        places=np.column_stack([np.full(n, chunk.partition, dtype=np.int64), np.arange(n)]),
        sample=chunk.X,
        moments=moments(chunk.X, chunk.weights) if wants_moments and n else (0.0, 0.0, 0.0),
        target_moments=_target_moments(chunk) if wants_targets else (0, 0.0, 0.0),
        targets=chunk.y if wants_targets else None,
        sample_weights=chunk.weights if wants_targets else None,
        negative=chunk.partition if (entries < 0).any() else None,
        classes=names,
        counts=None if names is None else np.bincount(codes.ravel(), minlength=len(names)).astype(np.float64),
        weights=None if names is None else np.bincount(codes.ravel(), chunk.weights, minlength=len(names)).astype(np.float64),
    )
    return found.cut(capacity)


def _classes(y):
    try:
        names, codes = np.unique(y, return_inverse=True)
    except TypeError:
        names, codes = y, None
        if not any(map(_is_missing, y)):
            raise
    if names.dtype == object and any(map(_is_missing, names)):
        raise ValueError("y contains missing labels")
    return names, codes


def _is_missing(label):
    return type(label).__name__ in ("NoneType", "NAType", "NaTType") or (isinstance(label, float) and label != label)


def _target_moments(chunk):
    """Return the number of rows of positive weight, and the means and squared deviations of their targets."""
    y = chunk.y if chunk.weights is None else chunk.y[chunk.weights > 0]
    if not len(y):
        return 0, 0.0, 0.0
    means = y.mean(axis=0)
    return len(y), means, np.square(y - means).sum(axis=0)


@on_partition
def rows(chunk):
    """Return the checked rows, targets and weights."""
    return chunk.X, chunk.y, chunk.weights


@on_partition
def sums(chunk, prepared):
    """Return the sums over the features and targets."""
    return _sum(prepared, chunk.X, chunk.y, chunk.weights)


@on_partition
def fold_sums(chunk, prepared, first, ends):
    """Return the sums over each fold with rows in the partition: fold f has the rows up to ``ends[f]``; ``first`` is the index
    of the first row."""
    found, at = {}, 0
    for fold, end in enumerate(ends):
        stop = min(max(end - first, at), chunk.X.shape[0])
        if stop > at:
            weights = None if chunk.weights is None else chunk.weights[at:stop]
            found[fold] = _sum(prepared, chunk.X[at:stop], chunk.y[at:stop], weights)
            at = stop
    return found


@on_partition
def class_sums(chunk, prepared, labels):
    """Return the sums over the features alone; `labels` are the classes and the factors of their weights."""
    _, weights = chunk.labels(*labels)
    return _sum(prepared, chunk.X, np.empty((chunk.X.shape[0], 0)), weights)


@on_partition
def losses(chunk, prepared, labels, request):
    """Return the sums of losses that a solver requests."""
    codes, weights = chunk.labels(*labels)
    return _native.sum_losses(aligned(prepared), borrowable(chunk.X), codes, weights, aligned(request), job())


@on_partition
def process(chunk, prepared, request):
    """Return the sums that the solver of a Gaussian process requests."""
    X, y = borrowable(chunk.X), np.ascontiguousarray(chunk.y)
    return _native.sum_process(aligned(prepared), X, y, chunk.weights, aligned(request), job())


def _sum(prepared, X, targets, weights):
    targets = np.ascontiguousarray(targets)
    (found,) = _native.sum_features(aligned(prepared), borrowable(X), targets, weights, None, job())
    return found


def product(partition, topic, whole, first, last, kernel, request):
    """Return some rows of the kernel matrix of all rows, times the vectors of a request."""
    X = aligned(whole.astype(np.float64 if request["double"] else np.float32, copy=False))
    found = _native.product_rows(kernel, borrowable(X), first, last, aligned(request["rhs"]), job())
    tell(topic, partition)
    return found


def predict(x, model, method, empty, block_id=None):
    """A method of a fitted estimator at the rows of a partition; `empty` is its answer for no rows."""
    with naming(block_id[0]):
        return _predict(x, model, method, empty)


def _predict(x, model, method, empty):
    if x.shape[0] == 0:
        return empty
    # The tasks of a worker share the model, so a copy is changed.
    local = copy(model)
    vars(local).update(aligned(vars(model)))
    local.n_jobs = _threads()
    return getattr(local, method)(x)


def predict_frame(frame, model, method, empty, partition_info=None):
    """As `predict` for a data frame: a series or frame with the same index, named as `empty` is."""
    with naming(partition_info["number"]):
        found = _predict(frame, model, method, np.asarray(empty))
    if found.ndim == 1:
        return type(empty)(found, index=frame.index, name=empty.name)
    return type(empty)(found, index=frame.index, columns=empty.columns)


# Sums of several partitions, in their order. They do not change their arguments, since a task may run again.


def total(*parts):
    return _native.Sums.total(list(parts))


def add(first, *others):
    found = first.copy()
    for other in others:
        found += other
    return found


def merge_folds(*parts):
    folds = sorted({fold for part in parts for fold in part})
    found = {fold: [part[fold] for part in parts if fold in part] for fold in folds}
    return {fold: sums[0] if len(sums) == 1 else total(*sums) for fold, sums in found.items()}


def merge_surveys(capacity, *parts):
    first, *others = parts
    for other in others:
        first = first.merged(other)
    return first.cut(capacity)


def concatenate(*parts):
    return np.concatenate(parts)


def stack_rows(*parts):
    """The rows of all partitions."""
    return _stacked([X for X, _, _ in parts])


def stack_others(*parts):
    """The targets and the weights of all partitions, and the number of rows of each."""
    return _stacked([y for _, y, _ in parts]), _stacked([weights for *_, weights in parts]), [X.shape[0] for X, _, _ in parts]


def _stacked(found):
    if found[0] is None:
        return None
    if is_sparse(found[0]):
        from scipy.sparse import vstack

        return vstack(found, format="csr")
    return np.concatenate(found)
