"""Models in files: what an estimator saves and what the command line writes."""

import json
import os

import numpy as np

from mercer import _native
from mercer._rows import as_matrix, borrowable
from mercer._work import job
from mercer.kernel import Kernel

__all__ = ["Model", "load"]


def load(path):
    """Reads a model file, whoever wrote it.

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
    kernel : Kernel
        The kernel, on scaled rows.
    info : dict
        What ``mercer info --json`` prints: method, settings, scaling, columns, report.
    outputs : list of str
        The names of the outputs.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where the model was trained on named columns
    """

    def __init__(self, native):
        self._native = native
        self.n_features_in_ = native.n_features
        names = native.feature_names
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    @property
    def kernel(self):
        return Kernel._of(self._native.kernel)

    @property
    def outputs(self):
        return self._native.outputs

    @property
    def info(self):
        return json.loads(self._native.info())

    def predict(self, X, *, n_jobs=None, verbose=0):
        """The outputs at the rows of X, which are scaled as the training data were.

        Returns
        -------
        y : ndarray of shape (n_samples,), or (n_samples, n_outputs) where there are several outputs
        """
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
            values = self._native.predict(borrowable(X), how)
        values = values if values.shape[1] > 1 else values[:, 0]
        return values.astype(X.dtype, copy=False)

    def save(self, path):
        """Writes the model to a file."""
        self._native.save(os.fspath(path))

    def __repr__(self):
        return f"<mercer.Model: {self.info['method']}, kernel {self.kernel}>"

    def __reduce__(self):
        return _unpickle, (self._native.to_bytes(),)


def _unpickle(stored):
    return Model(_native.Model.from_bytes(stored))


def _in_order(X, columns, names):
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"X lacks columns that the model was trained on: {missing}")
    return X[list(names)]
