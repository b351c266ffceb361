"""Base class of the classifiers with f(x) = Σᵢ aᵢ k(xᵢ, x) + b."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._kernel_estimator import KernelEstimator

__all__ = ["KernelClassifier"]


class KernelClassifier(ClassifierMixin, KernelEstimator):
    """Base of the classifiers whose decision is f(x) = Σᵢ aᵢ k(xᵢ, x) + b, or linear in features.

    Two classes have one decision, positive for the second; more classes have one each.
    """

    def _classes(self, y):
        """Return the class codes of y, and set `classes_` to their names."""
        # A regression does not need this module.
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        return codes.ravel().astype(np.uintp)

    def _each_class_weight(self, counts):
        """The weight of each class, of the rows or the summed weights of each."""
        if self.class_weight is None:
            return np.ones(len(self.classes_))
        if isinstance(self.class_weight, str):
            return _native.balanced_class_weight(np.asarray(counts, dtype=np.float64).tolist())
        labels = self.classes_.tolist()
        each = np.array([self.class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
        if (each < 0).any() or not np.isfinite(each).all():
            raise ValueError(f"The 'class_weight' parameter of {type(self).__name__} must hold numbers from 0 on.")
        unweighted = [label for label in labels if label not in self.class_weight]
        if unweighted and len(labels) - len(unweighted) != len(self.class_weight):
            raise ValueError(f"The classes, {unweighted}, are not in class_weight")
        return each

    def decision_function(self, X):
        """Return f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples if ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)
        """
        values = self._outputs(self._predict_input(X))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """Return the class of every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        codes = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes]

    def plot(self, X=None, y=None, *, ax=None):
        """Draw the predicted class over two features with matplotlib.

        Parameters
        ----------
        X : array-like of shape (n_samples, 2), default=None
            Rows to draw; None for those that the model keeps.
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
        return _plot.draw_classes(self, self._rows_to_draw(X), y, names=self._feature_names(), ax=ax)
