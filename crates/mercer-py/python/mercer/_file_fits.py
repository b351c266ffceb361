"""Fit to files that are read in chunks."""

import os
from collections.abc import Mapping

import numpy as np

from mercer import _native
from mercer._warn import warn
from mercer.kernel import Kernel
from mercer.model import Model

__all__ = ["FileFits"]


class FileFits:
    """Mixin of estimators with an ``approx`` parameter: `fit_file`."""

    def fit_file(
        self,
        path,
        *,
        target=None,
        categorical=(),
        missing="error",
        scale="standard",
        dtype="float64",
        holdout=0.0,
    ):
        """Fit a file of any size, read in chunks, to the model of ``mercer fit --approx``.

        The first pass over the file computes the scaling and a sample of the rows, which determines ``auto`` and the landmarks.
        Rows that fit a quarter of the memory are read only once. Features that fit the memory are stored; otherwise ridge
        regression adds every row to sums over the features, in O(n·D·(d + D)) time and O(D²) memory for D features, and
        classifiers compute the features again in every step, with the classes of all rows in memory.

        Parameters
        ----------
        path : str or path-like
            A CSV, LIBSVM, Parquet, ``.npy`` or ``.npz`` file, gzipped or not.
        target : str, int or list of them, default=None
            The target columns by name or number, from 0; -1 is the last. A classifier has one, of numbers or text. Not for LIBSVM
            files, which mark their target.
        categorical : list of str or int, default=()
            Columns to turn into one feature per category.
        missing : {"error", "drop", "mean"}, default="error"
            What to do with a missing value.
        scale : {"standard", "minmax", "none"}, default="standard"
            How features are scaled. The model scales new rows in the same way.
        dtype : {"float64", "float32"}, default="float64"
            The precision in which rows and features are stored.
        holdout : float, default=0
            The fraction of the rows on which a fit to the other rows is scored; the errors are in ``info["report"]["held_out"]``.

        Returns
        -------
        model : Model
            As `mercer.load` returns it, with the columns, categories and scaling of the file. The estimator itself stays
            unfitted.
        """
        self._validate_params()
        self._check_parameters()
        if self.approx is None:
            raise ValueError("fit_file needs approx='fourier:1024', 'nystrom:1000' or 'auto'")
        if not self._has_formula():
            raise ValueError(f"fit_file needs a formula as its kernel, such as 'rbf(sigma=auto)'. Got {self.kernel!r} instead.")
        if not 0 <= holdout < 1:
            raise ValueError(f"holdout must be a fraction of at least 0 and less than 1. Got {holdout!r} instead.")
        self._fit_seed = self._seed()
        settings = {
            **self._file_settings(),
            "method": self._method,
            "kernel": Kernel(self.kernel)._native,
            "approx": self.approx,
        }
        file = {
            "path": os.fspath(path),
            "target": _columns(target),
            "categorical": _columns(categorical),
            "missing": missing,
            "dtype": {"float64": "f64", "float32": "f32"}.get(dtype, dtype),
            "scale": scale,
            "holdout": float(holdout),
        }
        with self._job() as job:
            native, notes = _native.fit_file(settings, file, job)
        for note in notes:
            warn(note)
        return Model(native)

    def _file_settings(self):
        """Return the settings of the library's classifier, except its kernel and approximation."""
        weights = self.class_weight
        if isinstance(weights, Mapping):
            weights = {"named": [[str(label), float(weight)] for label, weight in weights.items()]}
        return {**self._settings(), "class_weight": "uniform" if weights is None else weights}


def _columns(columns):
    """Return the names or numbers of columns as strings."""
    if columns is None:
        return []
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    return [str(column) for column in columns]
