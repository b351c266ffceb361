"""Model files, written by estimators and by the command line."""

import json
import os

import numpy as np

from mercer import _labels, _native
from mercer._rows import as_matrix, borrowable
from mercer._work import job
from mercer.kernel import Kernel

__all__ = ["Model", "load"]


def load(path):
    """Reads a model file written by Python or by the command line.

    >>> import mercer, numpy as np, os, tempfile
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> fitted = mercer.KernelRidge(kernel="rbf(sigma=2)").fit(X, [0.0, 1.0, 2.0])
    >>> fitted.save(path)
    >>> bool(np.array_equal(mercer.load(path).predict(X), fitted.predict(X)))
    True
    """
    return Model(_native.Model.load(os.fspath(path)))


class Model:
    """A trained model with all it needs to predict from raw data: made by `load`.

    Attributes
    ----------
    kernel : Kernel or None
        The kernel, on scaled rows; None for a model without one.
    info : dict
        What ``mercer info --json`` prints: method, settings, scaling, columns, report.
    outputs : list of str
        The names of the targets.
    classes_ : ndarray, for classifiers
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where the model was trained on named columns
    """

    def __init__(self, native):
        self._native = native
        self.n_features_in_ = native.n_features
        classes = native.classes
        if classes is not None:
            self.classes_ = _labels.from_file(json.loads(classes), native.label_type)
        names = native.feature_names
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    @property
    def kernel(self):
        native = self._native.kernel
        return None if native is None else Kernel._of(native)

    @property
    def outputs(self):
        return self._native.outputs

    @property
    def info(self):
        return json.loads(self._native.info())

    def predict(self, X, *, return_std=False, n_jobs=None, verbose=0):
        """The outputs, or the classes, at the rows of X, which are scaled as the training data were.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviations of the targets as well, of a Gaussian process for numbers.

        Returns
        -------
        y : ndarray of shape (n_samples,), or (n_samples, n_outputs) where there are several outputs
        y_std : ndarray of the shape of y
            Where `return_std` asks for it.
        """
        X, values = self._outputs(X, n_jobs, verbose)
        if hasattr(self, "classes_"):
            if return_std:
                raise ValueError("standard deviations are of numbers, and this model predicts classes: use predict_proba")
            return self.classes_[self._native.read(values)[0]]
        shaped = lambda values: (values if values.shape[1] > 1 else values[:, 0]).astype(X.dtype, copy=False)
        if not return_std:
            return shaped(values)
        with job(n_jobs, verbose) as how:
            return shaped(values), shaped(self._native.deviations(borrowable(X), how))

    def predict_proba(self, X, *, n_jobs=None, verbose=0):
        """The probability of each class at the rows of X, for classifiers.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        if not hasattr(self, "classes_"):
            raise AttributeError(f"predict_proba is for classifiers, but this is a model of {self.info['method']} for numbers")
        shares = self._native.read(self._outputs(X, n_jobs, verbose)[1])[1]
        if shares is None:
            raise AttributeError(f"a model of {self.info['method']} decides without probabilities")
        return shares

    def decision_function(self, X, *, n_jobs=None, verbose=0):
        """The outputs that decide between the classes at the rows of X, for classifiers.

        Returns
        -------
        f : ndarray of shape (n_samples,) where two classes have one, positive for the second; else (n_samples, n_classes)
        """
        if not hasattr(self, "classes_"):
            raise AttributeError("decision_function is for classifiers")
        values = self._outputs(X, n_jobs, verbose)[1]
        if self._native.votes:
            return -values[:, 0] if values.shape[1] == 1 else _native.rank_pairs(values)
        return values[:, 0] if values.shape[1] == 1 else values

    def plot(self, X, y=None, *, ax=None):
        """Draws the model over raw rows with matplotlib: its curve for one feature, contours for two, else predicted against
        actual values; for a classifier, where each class wins over two features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Their targets. More than two features need them.
        ax : matplotlib Axes, default=None
            Where to draw; None for the current axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        from mercer import _plot

        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else list(names)
        if hasattr(self, "classes_"):
            return _plot.draw_classes(self, as_matrix(X), y, names=names, ax=ax)
        return _plot.draw(self.predict, as_matrix(X), y, names=names, ax=ax)

    def _outputs(self, X, n_jobs, verbose):
        columns = getattr(X, "columns", None)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and columns is not None:
            X = _in_order(X, columns, names)
        X = as_matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but the model is expecting {self.n_features_in_} features as input"
            )
        with job(n_jobs, verbose) as how:
            return X, self._native.predict(borrowable(X), how)

    def save(self, path):
        """Writes the model to a file."""
        self._native.save(os.fspath(path))

    def __repr__(self):
        info = self.info
        what = next(f"{word} {info[word]}" for word in ("kernel", "features", "rule") if word in info)
        return f"<mercer.Model: {info['method']}, {what}>"

    def __reduce__(self):
        return _unpickle, (self._native.to_bytes(),)


def _unpickle(stored):
    return Model(_native.Model.from_bytes(stored))


def _in_order(X, columns, names):
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"X lacks columns that the model was trained on: {missing}")
    return X[list(names)]
