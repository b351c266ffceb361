"""What the classifiers share whose decision is f(x) = Σᵢ aᵢ k(xᵢ, x) + b."""

import json

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._base import KernelMachine
from mercer._rows import borrowable

__all__ = ["ClassExpansion", "KernelClassifier"]


class ClassExpansion:
    """Mixin of machines with ``dual_coef_``, ``intercept_`` and ``X_fit_``, or with weights of features.

    For two classes there is one decision, that for the second; for more there is one for each.
    """

    #: The feature map and the weights, where the model is linear in features.
    _linear = None

    def _class_decisions(self, X):
        """f at every row of X, not yet checked."""
        X = self._predict_input(X)
        choice = self._choice
        choice.check(X)
        with self._job() as job:
            if self._linear is not None:
                values = _native.linear(*self._linear, borrowable(X), job)
            elif choice.native is None:
                values = np.asarray(choice.matrix(X, self.X_fit_, job), dtype=np.float64) @ self.dual_coef_
            else:
                centres, rows = borrowable(self.X_fit_), borrowable(X)
                values = _native.expand(choice.native, self._domain, centres, self.dual_coef_, rows, job)
        values = values + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def _decided(self, decision):
        """The class that each row's decisions are for."""
        codes = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes]

    def _class_model(self, method, settings):
        report = {"rows": self._report["rows"] if "rows" in self._report else self.X_fit_.shape[0]}
        report.update({key: self._report[key] for key in ("solver", "status", "residual") if key in self._report})
        words = (["0"], self._feature_names(), json.dumps({"seed": self._fit_seed, **settings}), json.dumps(report))
        classes = json.dumps(self.classes_.tolist())
        if self._linear is not None:
            linear = (self._linear[0], self.n_features_in_, None, self._linear[1], self.intercept_.tolist())
            return _native.Model.linear(*linear, *words, method, classes)
        parts = {
            "kernel": self._choice.native,
            "domain": self._domain,
            "centres": borrowable(self.X_fit_),
            "shift": None,
            "coefficients": np.ascontiguousarray(self.dual_coef_, dtype=np.float64),
            "intercepts": self.intercept_.tolist(),
        }
        return _native.Model.expansion(parts, method, *words, classes)


class KernelClassifier(ClassExpansion, ClassifierMixin, KernelMachine):
    """Base of the classifiers whose decision is an expansion in the training rows, or in features."""

    def _classes(self, y):
        """The codes of the classes of y; `classes_` are their names."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        return codes.ravel().astype(np.uintp)

    def _keep(self, X, dual, intercepts):
        self.X_fit_ = X
        self.dual_coef_ = dual
        self.intercept_ = intercepts

    def decision_function(self, X):
        """f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)
        """
        return self._class_decisions(X)

    def predict(self, X):
        """The class at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._decided(self.decision_function(X))

    def plot(self, X=None, y=None, *, ax=None):
        """Draws where each class wins, over two features, with matplotlib.

        Parameters
        ----------
        X : array-like of shape (n_samples, 2), default=None
            Rows to draw; None for the training rows.
        y : array-like of shape (n_samples,), default=None
            Their classes.
        ax : matplotlib Axes, default=None
            Where to draw; None for the current axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        from mercer import _plot

        check_is_fitted(self)
        if self._choice.native is None:
            raise ValueError("a precomputed or callable kernel has no plot: there is nothing to draw it over")
        return _plot.draw_classes(self, self._rows_to_draw(X), y, names=self._feature_names(), ax=ax)

    def _rows_to_draw(self, X):
        return self.X_fit_ if X is None else self._predict_input(X)
