"""Common base of the estimators on dask collections: the client, the first pass, and lazy predictions."""

from functools import partial
from inspect import Parameter, signature

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._gamma import gamma_of
from mercer._rows import borrowable
from mercer.dask import _chunk
from mercer.dask._cluster import Cluster
from mercer.dask._partitions import Partitions, is_dask_collection

__all__ = ["DaskEstimator", "taking_client"]

#: Attributes that predictions do not need; some of them cannot leave this process.
_NOT_FOR_WORKERS = ("client", "_sums", "_prepared", "_settled", "_found", "_remote")


def taking_client(base):
    """Return an ``__init__`` with the parameters of the in-memory estimator, and ``client``."""

    def __init__(self, *arguments, client=None, **parameters):
        base.__init__(self, *arguments, **parameters)
        self.client = client

    plain = signature(base.__init__)
    own = Parameter("client", Parameter.KEYWORD_ONLY, default=None)
    __init__.__signature__ = plain.replace(parameters=[*plain.parameters.values(), own])
    return __init__


class DaskEstimator:
    """Mixin that fits an estimator of mercer to dask collections and makes its predictions on them lazy.

    ``_in_memory`` is the in-memory estimator, which predicts on the workers.
    """

    _in_memory = None

    #: Result of the first pass of the current fit.
    _found = None

    # The client belongs to this process, not to the estimator.

    def __sklearn_clone__(self):
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        return type(self)(**{name: clone(value, safe=False) for name, value in parameters.items()}, client=client)

    def __getstate__(self):
        return {**super().__getstate__(), "client": None}

    def _cluster(self):
        if getattr(self, "device", "cpu") != "cpu":
            raise ValueError(f"the workers of a Dask cluster compute on the CPU: device={self.device!r} is for rows in memory")
        return Cluster(self.client, self.verbose)

    # The first pass.

    def _needs_features(self):
        """Raise ValueError for settings that would need the kernel matrix of all rows."""
        if self._check_approx() is None:
            raise ValueError(
                f"{type(self).__name__} on dask collections needs features of the kernel: approx='fourier:1024', "
                "'nystrom:1000' or 'auto'"
            )

    def _partitions(self, X, y, sample_weight, classes=False, clip=False):
        """Return the partitions, and the columns, precision and targets that each must have."""
        rows = Partitions.of(X, y, sample_weight)
        if classes and rows.y_ndim != 1:
            raise ValueError(f"y must have one dimension, but it has {rows.y_ndim}")
        expected = {
            "columns": rows.columns,
            "dtype": rows.dtype,
            "targets": None if classes else rows.targets,
            "clip": clip,
        }
        return rows, expected

    def _survey(self, cluster, rows, expected, moments=False, targets=False):
        """Make a first pass over all rows, for the moments of X or the targets of the sample; store the number and names of the
        columns."""
        capacity = self._sample_rows()
        arguments = [(part, expected, self._seed(), capacity, moments, targets) for part in rows.parts]
        found = cluster.reduce("survey", _chunk.survey, arguments, partial(_chunk.merge_surveys, capacity))
        if found.rows == 0:
            raise ValueError("X has no rows")
        if found.weight == 0:
            raise ValueError("all rows have a weight of 0")
        if found.negative is not None and self.__sklearn_tags__().input_tags.positive_only:
            raise ValueError(
                f"partition {found.negative} (counted from 0): X contains negative values, for which kernel={self.kernel!r} is "
                "not defined"
            )
        self._keep_columns(rows)
        return found

    def _sample_rows(self):
        """Return the number of rows in the sample."""
        return _native.sample_rows(self.approx)

    def _keep_columns(self, rows):
        self.n_features_in_ = rows.columns
        vars(self).pop("feature_names_in_", None)
        if rows.names is not None:
            self.feature_names_in_ = rows.names

    def _scale_gamma(self, X, weights=None):
        if self._found is None:
            return super()._scale_gamma(X, weights)
        return gamma_of(self._found.moments, X.shape[1])

    def _settle_approx(self, found):
        """Set `approx_`, for a kernel that was resolved on the sample."""
        self._choose_approx(found.sample, found.rows)
        if self.approx_ is None:
            raise ValueError(
                f"approx='auto' uses the exact kernel for {found.rows} rows; use the in-memory estimator, or an "
                "approximation such as approx='nystrom:1000'"
            )

    def _share_features(self, cluster, found):
        """Return the features, and a future of them for the workers."""
        with self._job() as job:
            prepared = _native.prepare_features(self._kernel_settings(), borrowable(found.sample), found.rows, job)
        return prepared, cluster.shared(prepared)

    # Predictions.

    def _lazily(self, method, X, dtype, columns=None):
        """Call a method of the in-memory estimator on the rows of X: at once for rows in memory, lazily for dask collections.

        The result for a dask array is a dask array, for a data frame a series or frame with the same index.
        """
        check_is_fitted(self)
        local = self._local()
        if not is_dask_collection(X):
            return getattr(local, method)(X)
        # One node of the graph for any number of partitions.
        model = _delayed(local)
        shape = (0,) if columns is None else (0, columns)
        empty = np.empty(shape, dtype=dtype)
        if not hasattr(X, "chunks"):
            return self._lazily_on_frame(method, X, model, empty)
        X = X.rechunk({1: -1})
        if columns is None:
            return X.map_blocks(_chunk.predict, model, method, empty, dtype=dtype, drop_axis=1, meta=empty)
        chunks = (X.chunks[0], (columns,))
        return X.map_blocks(_chunk.predict, model, method, empty, dtype=dtype, chunks=chunks, meta=empty)

    def _lazily_on_frame(self, method, X, model, empty):
        import pandas as pd

        meta = pd.Series(empty, name="prediction") if empty.ndim == 1 else pd.DataFrame(empty)
        return X.map_partitions(_chunk.predict_frame, model, method, meta, meta=meta)

    def _local(self):
        """Return the in-memory estimator without the attributes that predictions do not need."""
        local = self._in_memory.__new__(self._in_memory)
        vars(local).update({name: value for name, value in vars(self).items() if name not in _NOT_FOR_WORKERS})
        local.verbose = 0
        return local


def _delayed(model):
    from dask import delayed

    return delayed(model, traverse=False, pure=False)
