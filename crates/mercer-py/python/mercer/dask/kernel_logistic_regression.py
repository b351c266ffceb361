"""Kernel logistic regression on a Dask cluster."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import kernel_logistic_regression
from mercer._estimator import fitting
from mercer.dask._classifier import ClassifierOnDask
from mercer.dask._estimator import taking_client

__all__ = ["KernelLogisticRegression"]


class KernelLogisticRegression(ClassifierOnDask, kernel_logistic_regression.KernelLogisticRegression):
    """Kernel logistic regression on dask arrays and data frames, on features of the kernel.

    A fit makes one pass over the rows for a sample, one for sums over the features, and one for the loss and its gradient in each
    step of L-BFGS: some tens of passes. Keep the rows in the memory of the cluster (``X.persist()``) if they fit.

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, fit_intercept, class_weight, tol, max_iter, solver, approx, kernel_params, random_state,
    n_jobs, verbose
        As in `mercer.KernelLogisticRegression`. ``approx`` must not be None and is ``"auto"`` by default; ``solver`` is
        ``"newton"``.
    client : dask.distributed.Client, default=None
        None for the current one.

    Attributes
    ----------
    classes_, coef_, dual_coef_, X_fit_, intercept_, kernel_, approx_, n_iter_, n_features_in_, feature_names_in_
        As in `mercer.KernelLogisticRegression`.
    """

    _in_memory = kernel_logistic_regression.KernelLogisticRegression
    _parameter_constraints = {
        **kernel_logistic_regression.KernelLogisticRegression._parameter_constraints,
        "client": "no_validation",
    }

    __init__ = taking_client(kernel_logistic_regression.KernelLogisticRegression)

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
        y : dask array or series of shape (n_samples,)
            The classes, partitioned like X.
        sample_weight : dask array or series of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._needs_features()
        self._check_parameters()
        with self._on_cluster() as cluster:
            rows, expected = self._partitions(X, y, sample_weight, classes=True)
            found = self._found = self._survey_classes(cluster, rows, expected)
            self._forget()
            self._choose_kernel(found.sample)
            parts, report = self._solve_rows(cluster, rows, expected, found, self._each_class_weight(found.weights))
            self._keep(found.sample, parts, report)
        self._report_result(report)
        return self

    def predict_proba(self, X):
        """Return the probability of each class at every row of X: a lazy dask collection if X is one.

        Returns
        -------
        p : of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._lazily("predict_proba", X, np.float64, len(self.classes_))

    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`.

        Returns
        -------
        log_p : of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._lazily("predict_log_proba", X, np.float64, len(self.classes_))
