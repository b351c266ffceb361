"""Common base of the estimators on dask collections: the client, the first pass, and lazy predictions."""

from contextlib import contextmanager
from copy import copy
from functools import partial
from inspect import Parameter, Signature, signature

import dask
import numpy as np
from dask import delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import _native, _work
from mercer._gamma import gamma_of
from mercer._rows import borrowable
from mercer.dask import _chunk
from mercer.dask._cluster import Cluster
from mercer.dask._partitions import Partitions, is_dask_collection

__all__ = ["DaskEstimator", "taking_client"]

#: Attributes that predictions do not need, and some of which belong to this process.
_NOT_FOR_WORKERS = ("client", "_sums", "_prepared", "_settled")


#: From so many rows on, ``approx="auto"`` takes features.
_AUTO_FROM = 10_001


def taking_client(base):
    """The ``__init__`` of an estimator with the parameters of the one in memory, ``approx="auto"`` by default, and ``client``."""

    def __init__(self, *arguments, approx="auto", client=None, **parameters):
        base.__init__(self, *arguments, approx=approx, **parameters)
        self.client = client

    plain = dict(signature(base.__init__).parameters)
    plain["approx"] = plain["approx"].replace(default="auto")
    own = Parameter("client", Parameter.KEYWORD_ONLY, default=None)
    __init__.__signature__ = Signature([*plain.values(), own])
    return __init__


class DaskEstimator:
    """Mixin that fits an estimator of mercer to dask collections and makes its predictions on them lazy.

    ``_in_memory`` is the in-memory estimator, which predicts on the workers.
    """

    _in_memory = None

    #: The seed of the fit under way, what its first pass has found, and how it is solved.
    _drawn = None
    _found = None
    _remote = None
    _solve = None

    # The client belongs to this process, not to the estimator.

    def __sklearn_clone__(self):
        plain = copy(self)
        plain.client = None
        cloned = super(DaskEstimator, plain).__sklearn_clone__()
        cloned.client = self.client
        return cloned

    def __copy__(self):
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __getstate__(self):
        return {**super().__getstate__(), "client": None}

    @contextmanager
    def _on_cluster(self):
        """The cluster for one fit. A fit that fails leaves the estimator as it was."""
        if getattr(self, "device", "cpu") not in ("cpu", "auto"):
            raise ValueError(f"the workers of a Dask cluster compute on the CPU: device={self.device!r} is for rows in memory")
        cluster, before = Cluster(self.client, self.verbose), dict(vars(self))
        try:
            yield cluster
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        finally:
            for name in ("_drawn", "_found", "_remote", "_solve"):
                vars(self).pop(name, None)
            cluster.release()

    def _seed(self):
        return super()._seed() if self._drawn is None else self._drawn

    def _job(self):
        return _work.job(self.n_jobs, self.verbose, self._fit_seed)

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
        expected = _chunk.Expected(rows.columns, rows.labels, rows.dtype, None if classes else rows.targets, clip)
        return rows, expected

    def _survey(self, cluster, rows, expected, moments=False, targets=False):
        """Make a first pass over all rows, for the moments of X or the targets of the sample; store the number and names of the
        columns."""
        # Drawn once for the whole fit: a RandomState gives another number each time.
        self._drawn = self._seed()
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
        """Sets `approx_`, for a kernel that was chosen by the sample; "auto" takes features of few rows as well."""
        self._choose_approx(found.sample, max(found.rows, _AUTO_FROM))
        if self.approx_ is None:
            raise ValueError("on dask collections the kernel must be one of the language, not precomputed or callable")

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
        self._check_columns(X)
        # One node of the graph, whatever the number of partitions.
        model = delayed(local, traverse=False, pure=False)
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
        if hasattr(local, "device"):
            local.device = "cpu"
        return local

    def _check_columns(self, X):
        """Refuses a dask collection with other columns than the rows of the fit."""
        # Of a frame, an empty one of pandas, which scikit-learn knows.
        validate_data(self, X if hasattr(X, "chunks") else X._meta, reset=False, skip_check_array=True)

    def score(self, X, y, sample_weight=None):
        """The score of the estimator in memory: R² of a regression, the share of correct classes of a classifier.

        Parameters
        ----------
        X : dask array or data frame, or rows in memory, of shape (n_samples, n_features)
        y : dask array, series or data frame, or an array, of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : dask array or series, or an array, of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        predicted, y, sample_weight = dask.compute(self.predict(X), y, sample_weight)
        known = _Predicted(predicted)
        return super().score.__func__(known, None, y, sample_weight)


class _Predicted:
    """What a score of scikit-learn takes for an estimator: its predictions are known."""

    def __init__(self, values):
        self._values = values

    def predict(self, X):
        return self._values
