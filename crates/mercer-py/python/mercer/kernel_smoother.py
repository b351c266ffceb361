"""The Nadaraya–Watson smoother."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer._constraints import FORMULA_OR_NAME, SHARED
from mercer._estimator import fitting
from mercer._kernel_estimator import KernelEstimator
from mercer._rows import borrowable

__all__ = ["KernelSmoother"]


class KernelSmoother(MultiOutputMixin, RegressorMixin, KernelEstimator):
    """The mean of the targets weighted by the kernel: f(x) = Σᵢ k(x, xᵢ)yᵢ / Σᵢ k(x, xᵢ).

    Nothing is computed before predictions are asked for; those of m rows take O(mnd) time. Where every weight underflows,
    far from all rows, the answer is the nearest row's.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A kernel of |x−z| or |x−z|₁ that is nowhere negative: ``rbf``, ``laplacian``, a formula such as
        ``"matern(length=auto)"``, or ``"precomputed"``; a callable is taken at its word.
    gamma : float, default=None
        γ of scikit-learn's kernel names; None is 1/n_features.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows that ``auto`` looks at; None is a fixed seed.
    n_jobs : int, default=None
        Threads; None for all cores.
    verbose : int, default=0
        Shows progress where it is not 0.

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
    _parameter_constraints = {
        **SHARED,
        **{name: FORMULA_OR_NAME[name] for name in ("kernel", "gamma", "kernel_params", "random_state")},
    }

    def __init__(
        self, kernel="rbf", *, gamma=None, kernel_params=None, random_state=None, n_jobs=None, verbose=0
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # A mean with the default width is too flat for most data: the width is to be chosen.
        tags.regressor_tags.poor_score = True
        return tags

    @fitting
    def fit(self, X, y):
        """Keeps the rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        self
        """
        X, y, targets, names = self._regression_input(X, y)
        with self._fit_task(X, y):
            if self._choose_kernel(X).native is not None:
                self._rule = self._learn(X, targets, None, names)[0]["rule"]
            self.X_fit_ = X
            self.y_fit_ = y.astype(np.float64, copy=False)
        return self

    def predict(self, X):
        """The weighted mean at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        X = self._predict_input(X)
        if self._choice.native is not None:
            values = self._outputs(X)
        else:
            self._choice.check(X)
            with self._job() as job:
                K = np.asarray(self._choice.matrix(X, self.X_fit_, job))
            values = _weighted_means(K, self._targets())
        return values.reshape(-1, *self.y_fit_.shape[1:]).astype(X.dtype, copy=False)

    def _targets(self):
        return np.ascontiguousarray(self.y_fit_).reshape(len(self.y_fit_), -1)

    def _parts(self):
        return {"rows": borrowable(self.X_fit_), "targets": self._targets(), "rule": self._rule}


def _weighted_means(K, targets):
    total = K.sum(axis=1, keepdims=True)
    nearest = targets[K.argmax(axis=1)]
    return np.where(total > 0, K @ targets / np.where(total > 0, total, 1), nearest)
