"""Base class of the regressions with f(x) = Σᵢ aᵢ k(xᵢ, x) + b."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._kernel_estimator import KernelEstimator

__all__ = ["KernelRegressor"]


class KernelRegressor(KernelEstimator):
    """Base of the regressions with f(x) = Σᵢ aᵢ k(xᵢ, x) + b and a ``bias`` parameter."""

    def predict(self, X):
        """Return f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples if ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            In the precision of X.
        """
        X = self._predict_input(X)
        return self._outputs(X).reshape(-1, *np.shape(self.intercept_)).astype(X.dtype, copy=False)

    def plot(self, X=None, y=None, *, ax=None):
        """Draw the model with matplotlib: the curve and its bumps for one feature, contours for two, else predicted
        against actual values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows to draw; None for the training rows.
        y : array-like of shape (n_samples,), default=None
            Their targets; required for more than two features.
        ax : matplotlib Axes, default=None
            Where to draw; None for the current axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        from mercer import _plot

        check_is_fitted(self)
        X, bumps = self._rows_to_draw(X), None
        if hasattr(self, "dual_coef_"):
            bumps = (self._basis["kernel"], self._centred, self.X_fit_, self.dual_coef_, self.intercept_)
        return _plot.draw(self.predict, X, y, names=self._feature_names(), bumps=bumps, ax=ax)

    def _takes_sparse(self):
        # Centring would fill in the zeros.
        return super()._takes_sparse() and self.bias != "column"

    def _choose_kernel(self, X, weights=None):
        choice = super()._choose_kernel(X, weights)
        if self.bias == "column" and choice.native is None:
            raise ValueError(
                "bias='column' centres the rows, which a precomputed or callable kernel hides; "
                "use bias='centred', which centres in the feature space"
            )
        return choice
