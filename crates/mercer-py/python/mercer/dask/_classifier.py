"""Common base of the classifiers on dask collections."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer.dask import _chunk
from mercer.dask._cluster import drive
from mercer.dask._estimator import DaskEstimator

__all__ = ["ClassifierOnDask"]


class ClassifierOnDask(DaskEstimator):
    """Mixin of the classifiers: each step of the solver makes a pass over the rows for the loss and its gradient."""

    def _survey_classes(self, cluster, rows, expected):
        found = self._survey(cluster, rows, expected, moments=True)
        # Twice each: classes that are as many as the rows look like numbers.
        check_classification_targets(np.repeat(found.classes, 2))
        self.classes_ = found.classes
        if len(self.classes_) < 2:
            raise ValueError(f"y must have two classes or more, but it has only {self.classes_.tolist()[0]!r}")
        absent = self.classes_[found.weights == 0]
        if len(absent):
            raise ValueError(f"no row of class {absent.tolist()[0]!r} has a positive weight")
        return found

    def _solve_rows(self, cluster, rows, expected, found, each):
        """Return the predictor and its report, as `_train` does; `each` are the weights of the classes."""
        self._settle_approx(found)
        prepared, shared = self._share_features(cluster, found)
        settings = self._kernel_settings()
        penalty = settings["C"] if "C" in settings else 1.0 / settings["lambda"]
        labels = cluster.shared((self.classes_, penalty * each))
        parts = [(part, expected, shared, labels) for part in rows.parts]
        sums = cluster.reduce("sums", _chunk.class_sums, parts, _chunk.total)

        def answer(request):
            sent = cluster.sent(request)
            return cluster.reduce("losses", _chunk.losses, [(*part, sent) for part in parts], _chunk.add)

        with self._job() as job:
            start = (settings, prepared, sums, found.rows, len(self.classes_), job)
            return self._trained(drive(_native.RemoteFit.classes(*start), answer))

    def decision_function(self, X):
        """Return f at every row of X: a lazy dask collection if X is one.

        Parameters
        ----------
        X : dask array or data frame, or rows in memory, of shape (n_samples, n_features)

        Returns
        -------
        f : of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._lazily("decision_function", X, np.float64, None if len(self.classes_) == 2 else len(self.classes_))

    def predict(self, X):
        """Return the class of every row of X: a lazy dask collection if X is one.

        Parameters
        ----------
        X : dask array or data frame, or rows in memory, of shape (n_samples, n_features)

        Returns
        -------
        y : of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._lazily("predict", X, self.classes_.dtype)
