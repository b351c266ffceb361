"""The Nadaraya–Watson smoother."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer._constraints import FORMULA_OR_NAME, ON_DEVICE
from mercer._estimator import fitting
from mercer._kernel_estimator import KernelEstimator
from mercer._rows import borrowable, stacked

__all__ = ["KernelSmoother"]


class KernelSmoother(MultiOutputMixin, RegressorMixin, KernelEstimator):
    """The mean of the targets weighted by the kernel: f(x) = Σᵢ wᵢk(x, xᵢ)yᵢ / Σᵢ wᵢk(x, xᵢ), with wᵢ the weights of the rows.

    Fitting stores the rows; predicting m rows takes O(mnd) time. If all weights underflow, far from all rows, the prediction
    is that of the nearest row.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A nonnegative function of |x−z| or |x−z|₁: ``rbf``, ``laplacian``, a formula such as
        ``"matern(length=auto)"``, or ``"precomputed"``; a callable is not checked.
    gamma : float, default=None
        γ of scikit-learn's kernel names; None is 1/n_features.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows sampled for ``auto``; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
    y_fit_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
    kernel_ : Kernel or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from mercer import KernelSmoother
    >>> model = KernelSmoother("rbf(sigma=0.3)").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0])
    >>> model.predict([[0.5], [100.0]]).round(3)
    array([0.5, 0. ])
    """

    _method = "smoother"
    #: The weights of the rows; None if all are 1.
    _weights = None
    _parameter_constraints = {
        **ON_DEVICE,
        **{name: FORMULA_OR_NAME[name] for name in ("kernel", "gamma", "kernel_params", "random_state")},
    }

    def __init__(
        self, kernel="rbf", *, gamma=None, kernel_params=None, random_state=None, n_jobs=None, device="cpu", verbose=0
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # With the default width the mean is too flat for most data, so the width should be chosen.
        tags.regressor_tags.poor_score = True
        return tags

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Store the rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        X, y, targets, names = self._regression_input(X, y)
        weights = self._check_weights(X, sample_weight)
        with self._fit_task(X, y, sample_weight=weights):
            if self._choose_kernel(X).native is not None:
                self._rule = self._learn(X, targets, None, names)[0]["rule"]
            self.X_fit_, self.y_fit_, self._weights = X, y.astype(np.float64, copy=False), weights
        return self

    @fitting
    def partial_fit(self, X, y, sample_weight=None):
        """Add rows and their targets to the stored ones; the first call fixes the kernel, as `fit` does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if not hasattr(self, "X_fit_"):
            return self.fit(X, y, sample_weight)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("partial_fit needs rows; it is not available with a precomputed kernel")
        X, y, _, _ = self._regression_input(X, y, reset=False)
        if y.shape[1:] != self.y_fit_.shape[1:]:
            raise ValueError(f"y has shape {y.shape}, but the earlier targets have shape {self.y_fit_.shape}")
        self._choice.check(X)
        before, weights = self._weights, self._check_weights(X, sample_weight)
        if before is not None or weights is not None:
            both = [(before, len(self.y_fit_)), (weights, len(y))]
            self._weights = np.concatenate([np.ones(count) if each is None else each for each, count in both])
        self.X_fit_ = stacked(self.X_fit_, X.astype(self.X_fit_.dtype, copy=False))
        self.y_fit_ = np.concatenate([self.y_fit_, y.astype(np.float64, copy=False)])
        return self

    def _check_weights(self, X, sample_weight):
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("sample_weight is 0 for every row: at least one must be above 0")
        return weights

    def predict(self, X):
        """Return the weighted mean at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples if ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        X = self._predict_input(X)
        if self._choice.native is not None:
            values = self._outputs(X)
            if self._weights is not None:
                values = values[:, :-1] / values[:, -1:]
        else:
            self._choice.check(X)
            with self._job() as job:
                K = np.asarray(self._choice.matrix(X, self.X_fit_, job))
            values = _weighted_means(K if self._weights is None else K * self._weights, self._targets())
        return values.reshape(-1, *self.y_fit_.shape[1:]).astype(X.dtype, copy=False)

    def _targets(self):
        return np.ascontiguousarray(self.y_fit_).reshape(len(self.y_fit_), -1)

    def _parts(self):
        rows, targets = self.X_fit_, self._targets()
        if self._weights is not None:
            # The means of wy and of w, whose quotient is the mean of y with these weights.
            kept = np.flatnonzero(self._weights)
            rows, weights = rows[kept], self._weights[kept, None]
            targets = np.hstack([weights * targets[kept], weights])
        return {"kind": "neighbours", "centres": borrowable(rows), "targets": targets, "rule": self._rule}

    def save(self, path):
        """Write the fitted model to a file that `mercer.load` and the command line read.

        Raises
        ------
        ValueError
            If the kernel is a matrix or a Python function, or if rows have weights, which files cannot store.
        """
        check_is_fitted(self)
        if self._weights is not None:
            raise ValueError("a smoother with sample weights cannot be saved: the file format does not store them; pickle it")
        super().save(path)


def _weighted_means(K, targets):
    total = K.sum(axis=1, keepdims=True)
    nearest = targets[K.argmax(axis=1)]
    return np.where(total > 0, K @ targets / np.where(total > 0, total, 1), nearest)
