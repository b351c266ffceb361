"""What the machines share whose answer is f(x) = Σᵢ aᵢ k(xᵢ, x) + b."""

import json

import numpy as np

from mercer import _native
from mercer._base import KernelMachine
from mercer._rows import borrowable

__all__ = ["ExpansionMachine", "column_names"]


class ExpansionMachine(KernelMachine):
    """Base of the estimators that keep ``dual_coef_``, ``intercept_`` and ``X_fit_``.

    ``bias`` must be among the parameters. A ``fit`` calls `_centre` for what ``bias="column"`` takes from rows and targets, and
    `_keep` with what it found.
    """

    #: The text of the feature map and the weights, where the model was solved in its features.
    _linear = None

    def predict(self, X):
        """f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            In the precision of X.
        """
        X = self._predict_input(X)
        choice = self._choice
        choice.check(X)
        with self._job() as job:
            if self._linear is not None:
                values = _native.linear(*self._linear, borrowable(self._centred(X)), job)
            else:
                values = self._expand(X, np.ascontiguousarray(self.dual_coef_, dtype=np.float64), job)
        values = values.reshape(-1, *np.shape(self.intercept_))
        values = values + self.intercept_ if self.bias != "none" else values
        return values.astype(X.dtype, copy=False)

    def _expand(self, X, dual, job):
        """Σᵢ aᵢ k(xᵢ, x) at every row x of X."""
        if self._choice.native is None:
            return self._choice.matrix(X, self.X_fit_, job) @ dual
        columns = dual.reshape(dual.shape[0], -1)
        centres, rows = borrowable(self._centred(self.X_fit_)), borrowable(self._centred(X))
        return _native.expand(self._native_kernel(), self._domain, centres, columns, rows, job)

    def plot(self, X=None, y=None, *, ax=None):
        """Draws the model with matplotlib: the curve and its bumps for one feature, contours for two, else predicted
        against actual values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows to draw; None for the training rows.
        y : array-like of shape (n_samples,), default=None
            Their targets. More than two features need them.
        ax : matplotlib Axes, default=None
            Where to draw; None for the current axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        from mercer import _plot

        if self._choice.native is None:
            raise ValueError("a precomputed or callable kernel has no plot: there is nothing to draw it over")
        dual = getattr(self, "dual_coef_", None)
        X = self._rows_to_draw(X)
        bumps = None if dual is None else (self._native_kernel(), self._centred, self.X_fit_, dual, self.intercept_)
        return _plot.draw(self.predict, X, y, names=self._feature_names(), bumps=bumps, ax=ax)

    def _rows_to_draw(self, X):
        return self.X_fit_ if X is None else self._predict_input(X)

    def _keep(self, X, y, dual, intercepts, output_names):
        self.dual_coef_ = dual.ravel() if y.ndim == 1 else dual
        self.intercept_ = float(intercepts[0]) if y.ndim == 1 else intercepts
        self.X_fit_ = X
        self._output_names = output_names or [str(i) for i in range(dual.shape[1])]

    # bias="column": X and y centred, 1 added to the kernel.

    def _takes_sparse(self):
        # Centring would fill in the zeros.
        return super()._takes_sparse() and self.bias != "column"

    def _centre(self, X, targets, weights):
        if self.bias != "column":
            return None, 0.0
        if self._choice.native is None:
            raise ValueError(
                "bias='column' centres the rows, which a precomputed or callable kernel hides; "
                "use bias='centred', which centres in the feature space"
            )
        return np.average(X, axis=0, weights=weights), np.average(targets, axis=0, weights=weights)

    def _centred(self, X):
        return X if self._shift is None else X - self._shift.astype(X.dtype)

    def _native_kernel(self):
        native = self._choice.native
        return native if self._shift is None else native.plus(_native.Kernel("1"))

    # Files.

    def _expansion_model(self, method, settings):
        settings = json.dumps({"bias": self.bias, "seed": self._fit_seed, **settings})
        report = {"rows": self._report["rows"] if "rows" in self._report else self.X_fit_.shape[0]}
        report.update({key: self._report[key] for key in ("solver", "status", "residual") if key in self._report})
        shift = None if self._shift is None else self._shift.tolist()
        intercepts = np.atleast_1d(self.intercept_).tolist()
        words = (self._output_names, self._feature_names(), settings, json.dumps(report))
        if self._linear is not None:
            features, weights = self._linear
            return _native.Model.linear(features, self.n_features_in_, shift, weights, intercepts, *words)
        dual = np.ascontiguousarray(self.dual_coef_, dtype=np.float64)
        parts = {
            "kernel": self._native_kernel(),
            "domain": self._domain,
            "centres": borrowable(self._centred(self.X_fit_)),
            "shift": shift,
            "coefficients": dual.reshape(dual.shape[0], -1),
            "intercepts": intercepts,
        }
        return _native.Model.expansion(parts, method, *words)


def column_names(y):
    """The names of the targets, where y is a table of pandas or the like."""
    names = getattr(y, "columns", None)
    if names is None:
        name = getattr(y, "name", None)
        names = None if name is None else [name]
    return None if names is None else [str(name) for name in names]
