"""Kernel ridge regression on a Dask cluster."""

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import _native, kernel_ridge
from mercer._estimator import fitting
from mercer.dask import _chunk
from mercer.dask._cluster import drive
from mercer.dask._estimator import DaskEstimator, taking_client
from mercer.dask._partitions import is_dask_collection

__all__ = ["KernelRidge", "RidgeOnDask"]


class RidgeOnDask(DaskEstimator):
    """Base of the ridge regressions on dask collections."""

    def predict(self, X):
        """Return f at every row of X: a lazy dask collection if X is one.

        Parameters
        ----------
        X : dask array or data frame, or rows in memory, of shape (n_samples, n_features)

        Returns
        -------
        y : dask array or series, or an ndarray for rows in memory; with a second dimension for several targets
        """
        check_is_fitted(self)
        kinds = [getattr(X, "dtype", np.float64)] if hasattr(X, "chunks") else list(getattr(X, "dtypes", [np.float64]))
        dtype = np.float32 if all(kind == np.float32 for kind in kinds) else np.float64
        return self._lazily("predict", X, dtype, None if np.ndim(self.intercept_) == 0 else len(self.intercept_))

    def _target_names(self, rows):
        return rows.target_names or [str(place) for place in range(rows.targets)]


class KernelRidge(RidgeOnDask, kernel_ridge.KernelRidge):
    """Kernel ridge regression on dask arrays and data frames.

    With ``approx="fourier:D"`` or ``"nystrom:M"``, a fit makes two passes over the rows: one for a sample, which determines ``auto``
    and the landmarks, and one for sums over the features. The sums are kept, so `partial_fit` can add rows to them later, also
    after pickling. With ``solver="cg"`` the full problem is solved: the client and every worker hold all rows, and each worker
    computes the products with its rows of the kernel matrix.

    Parameters
    ----------
    alpha, kernel, gamma, degree, coef0, kernel_params, approx, solver, bias, tol, max_iter, random_state, n_jobs, verbose
        As in `mercer.KernelRidge`. ``approx`` is ``"auto"`` by default, which takes features of few rows as well. ``solver`` is
        ``"auto"`` with features or ``"cg"`` without; ``n_jobs`` is for the client, as workers use the threads that they have.
    client : dask.distributed.Client, default=None
        None for the current one.

    Attributes
    ----------
    coef_, dual_coef_, X_fit_, intercept_, kernel_, approx_, quality_, residual_, n_iter_, n_features_in_, feature_names_in_
        As in `mercer.KernelRidge`; ``quality_`` is measured on the sample.
    n_samples_seen_ : int
        Rows in the sums.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from mercer.dask import KernelRidge
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
    ...     X = da.linspace(0, 6, 60, chunks=20)[:, None]
    ...     model = KernelRidge(1e-3, kernel="rbf(sigma=1)", approx="nystrom:20", random_state=0).fit(X, da.sin(X[:, 0]))
    ...     error = float(abs(model.predict(X) - da.sin(X[:, 0])).max().compute())
    >>> error < 1e-2
    True
    """

    _in_memory = kernel_ridge.KernelRidge
    _parameter_constraints = {**kernel_ridge.KernelRidge._parameter_constraints, "client": "no_validation"}

    __init__ = taking_client(kernel_ridge.KernelRidge)

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
        y : dask array, series or data frame of shape (n_samples,) or (n_samples, n_targets)
            Partitioned like X.
        sample_weight : dask array or series of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        with self._on_cluster() as cluster:
            rows, expected = self._partitions(X, y, sample_weight)
            alpha = self._alphas(rows.targets)
            if self.solver == "cg":
                return self._fit_all_rows(cluster, rows, expected)
            self._needs_features()
            found = self._survey(cluster, rows, expected)
            self._forget("n_samples_seen_")
            self._prepared = self._sums = self._settled = None
            self._choose_kernel(found.sample)
            self._settle_approx(found)
            prepared, shared = self._share_features(cluster, found)
            sums = self._sum(cluster, rows, expected, shared)
            self._names, self._settled = self._target_names(rows), self._settles()
            self._prepared, self._sums, self.n_samples_seen_ = prepared, sums, sums.rows
            self._keep_sums(sums, found.sample, alpha, rows.y_ndim == 1)
        return self

    def _check_approx(self):
        approx = super()._check_approx()
        return None if self.solver == "cg" and approx == "auto" else approx

    def _check_parameters(self):
        if self.solver not in ("auto", "cg"):
            raise ValueError(f"solver={self.solver!r} needs all rows in memory; use 'auto' with approx, or 'cg'")
        super()._check_parameters()
        if self.solver == "cg" and self._check_approx() is not None:
            raise ValueError(f"solver='cg' on dask collections is for the kernel as it is; leave approx={self.approx!r} or solver out")

    def _sum(self, cluster, rows, expected, prepared):
        return cluster.reduce("sums", _chunk.sums, [(part, expected, prepared) for part in rows.parts], _chunk.total)

    @available_if(kernel_ridge._streams)
    @fitting
    def partial_fit(self, X, y, sample_weight=None):
        """Add rows to the sums of `fit` or an earlier `partial_fit`, and solve for the fit to all rows so far.

        The first call fixes the features, as `fit` does.

        Parameters
        ----------
        X : dask array or data frame, or rows in memory, of shape (n_samples, n_features)
        y : dask array, series or data frame, or an array, of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : dask array or series, or an array, of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if not is_dask_collection(X):
            return super().partial_fit(X, y, sample_weight)
        if self._sums is None:
            return self.fit(X, y, sample_weight)
        self._check_parameters()
        if self._settled != self._settles():
            raise ValueError("approx, kernel or bias was changed after the first fit; begin anew on a clone")
        rows, expected = self._partitions(X, y, sample_weight)
        for what, here, before in (
            ("features", rows.columns, self.n_features_in_),
            ("targets", rows.targets, self._sums.targets),
        ):
            if here != before:
                raise ValueError(f"there are {here} {what}, but the earlier rows have {before}")
        self._check_columns(X)
        with self._on_cluster() as cluster:
            added = self._sum(cluster, rows, expected, cluster.shared(self._prepared))
        sums = _native.Sums.total([self._sums, added])
        self._sums, self.n_samples_seen_ = sums, sums.rows
        self._keep_sums(sums, None, self._alphas(rows.targets), np.ndim(self.intercept_) == 0)
        return self

    # The full problem.

    def _fit_all_rows(self, cluster, rows, expected):
        """Conjugate gradients on the client, with products from the workers."""
        parts = [(part, expected) for part in rows.parts]
        whole, others = cluster.gather("rows", _chunk.rows, parts, _chunk.stack_rows, _chunk.stack_others)
        targets, weights, sizes = cluster.result(others)
        ends = np.cumsum([0, *sizes]).tolist()
        self._remote = (cluster, whole, list(zip(ends[:-1], ends[1:], strict=True)))
        super().fit(cluster.result(whole), targets.ravel() if rows.y_ndim == 1 else targets, weights)
        self._keep_columns(rows)
        self._words["outputs"] = self._target_names(rows)
        return self

    def _train(self, settings, inputs, targets, weights=None, outputs=()):
        if self._remote is None:
            return super()._train(settings, inputs, targets, weights, outputs)
        cluster, whole, ranges = self._remote
        kernel = self._choice.native

        def product(request):
            sent = cluster.sent({"double": request["double"], "rhs": request["rhs"]})
            arguments = [(whole, first, last, kernel, sent) for first, last in ranges if last > first]
            return cluster.reduce("products", _chunk.product, arguments, _chunk.concatenate).ravel()

        with self._job() as job:
            start = (settings, inputs, targets, weights, list(outputs), job)
            return self._trained(drive(_native.RemoteFit.ridge(*start), product))
