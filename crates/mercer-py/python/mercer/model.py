"""Model files, written by estimators and by the command line."""

import json
import os
from functools import cached_property

import numpy as np

from mercer import _labels, _native
from mercer._rows import as_array, as_matrix, borrowable
from mercer._work import job
from mercer.kernel import Kernel

__all__ = ["Model", "load"]


def load(path):
    """Read a model file written by Python or by the command line.

    >>> import mercer, numpy as np, os, tempfile
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> fitted = mercer.KernelRidge(kernel="rbf(sigma=2)").fit(X, [0.0, 1.0, 2.0])
    >>> fitted.save(path)
    >>> bool(np.array_equal(mercer.load(path).predict(X), fitted.predict(X)))
    True
    """
    return Model(_native.Model.load(os.fspath(path)))


def _content(name):
    """Return a property that reads one of the model's arrays or numbers, None if the model has no such entry."""
    return property(lambda self: self._contents.get(name))


class Model:
    """A trained model that predicts from raw data, as returned by `load`.

    Its arrays are attributes, copied when first read; those that its kind of model does not have are None. For a row x,
    scaled by ``info["scaling"]`` and less ``shift``, the outputs are ``intercepts`` plus

    - Σᵢ ``coefficients[i]`` · kernel(``centres[i]``, x), for models on a kernel. The centres are the training rows, the support
      vectors or the landmarks;
    - Σⱼ ``coefficients[j]`` · φⱼ(x), for models on features: those named by ``terms``, or ``amplitudes`` · cos(``frequencies`` x +
      2π ``phases``).

    Attributes
    ----------
    kernel : Kernel or None
        The kernel, on scaled rows; None for a model without one.
    info : dict
        The output of ``mercer info --json``: method, settings, scaling, columns, report.
    outputs : list of str
        The names of the targets.
    classes_ : ndarray, for classifiers
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if the model was trained on named columns
    coefficients : ndarray of shape (n_terms, n_outputs)
        For support vector machines one column for each pair of classes, as ``mercer info --coefficients`` prints them.
    intercepts : ndarray of shape (n_outputs,)
    centres : {ndarray, sparse array} of shape (n_centres, n_features)
        For nearest neighbours and smoothers all training rows.
    shift : ndarray of shape (n_features,)
    n_support : ndarray of shape (n_classes,)
        The number of support vectors of each class, in the order of the classes.
    terms : list of str
        The names of explicit features.
    frequencies : ndarray of shape (n_frequencies, n_features)
    phases : ndarray of shape (n_frequencies,)
        In turns (1 is 2π). None if each frequency has two features; all cosines then come before all sines.
    amplitudes : ndarray of shape (n_frequencies,)
    targets : ndarray of shape (n_centres, n_outputs)
        The targets that nearest neighbours and smoothers average.
    steps : ndarray of shape (n_steps, 4)
        For the voted perceptron: the centre of each step, its output, the amount that it adds there, and the votes of the
        function after it.
    scales : ndarray of shape (n_outputs,)
        For Gaussian processes: the divisors of the targets.
    noise : float
        For Gaussian processes: the variance of the noise, in units of the squared scales.
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

    @cached_property
    def _contents(self):
        found = self._native.contents()
        if "centres" in found:
            found["centres"] = as_array(found["centres"])
        return found

    coefficients = _content("coefficients")
    intercepts = _content("intercepts")
    centres = _content("centres")
    shift = _content("shift")
    n_support = _content("n_support")
    terms = _content("terms")
    frequencies = _content("frequencies")
    phases = _content("phases")
    amplitudes = _content("amplitudes")
    targets = _content("targets")
    steps = _content("steps")
    scales = _content("scales")
    noise = _content("noise")

    @property
    def outputs(self):
        return self._native.outputs

    @property
    def info(self):
        return json.loads(self._native.info())

    def predict(self, X, *, return_std=False, n_jobs=None, verbose=0):
        """Return the outputs, or the classes, at the rows of X, which are scaled like the training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviations of the targets as well; for Gaussian process regression.

        Returns
        -------
        y : ndarray of shape (n_samples,), or (n_samples, n_outputs) for several outputs
        y_std : ndarray of the shape of y
            Only if `return_std` is True.
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
        """Return the probability of each class at the rows of X, for classifiers.

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
        """Return the outputs that decide between the classes at the rows of X, for classifiers.

        Returns
        -------
        f : ndarray of shape (n_samples,) for two classes with one output, positive for the second; else (n_samples, n_classes)
        """
        if not hasattr(self, "classes_"):
            raise AttributeError("decision_function is for classifiers")
        values = self._outputs(X, n_jobs, verbose)[1]
        if self._native.votes:
            return -values[:, 0] if values.shape[1] == 1 else _native.rank_pairs(values)
        return values[:, 0] if values.shape[1] == 1 else values

    def plot(self, X, y=None, *, ax=None):
        """Draw the model over raw rows with matplotlib: its curve for one feature, contours for two, else predicted against
        actual values; for a classifier, the predicted class over two features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Their targets; required for more than two features.
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
        """Write the model to a file."""
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
