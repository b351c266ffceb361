"""Least mean squares on a kernel: gradient descent on the squared error."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer._constraints import FINITE, FORMULA_OR_NAME, NON_NEGATIVE, SHARED, at_least, one_of
from mercer._estimator import fitting
from mercer._kernel_regressor import KernelRegressor

__all__ = ["KernelLMS"]


class KernelLMS(MultiOutputMixin, RegressorMixin, KernelRegressor):
    """Least mean squares: β := β + α(y − Kβ), and f(x) = Σᵢ βᵢ k(xᵢ, x).

    Without a penalty: the number of steps is what holds the fit back. A batch step takes O(n²) time once K is there; K is
    kept where it fits the memory, and computed tile by tile at each step where it does not.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelRidge`.
    step : "auto" or float, default="auto"
        α. ``"auto"`` is 1 over an estimate of K's largest eigenvalue (``solver="sgd"``: 1 over the largest k(x,x)); twice
        that and more diverges, which is an error that names the largest step that does not.
    max_iter : int, default=100
        Times to go through the rows at most.
    solver : {"batch", "sgd"}, default="batch"
        All rows at each step, or one at a time in a shuffled order.
    tol : float, default=1e-6
        Stops when ‖K(y − Kβ)‖ is this part of ‖Ky‖.
    gamma : float, default=None
    degree : float, default=3
    coef0 : float, default=1
    kernel_params : dict, default=None
        As in `KernelRidge`.
    bias : {"none", "centred", "column"}, default="none"
        As in `KernelRidge`.
    random_state : int, RandomState instance or None, default=None
        The order of the rows with ``solver="sgd"``, and what ``auto`` in a kernel looks at; None is a fixed seed.
    n_jobs : int, default=None
        Threads; None for all cores.
    verbose : int, default=0
        Shows progress where it is not 0.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        β.
    intercept_ : float or ndarray of shape (n_targets,)
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
    step_ : float
        The step that was taken.
    loss_curve_ : ndarray of shape (n_points, 3)
        Epoch, mean squared error on the training rows, and ‖K(y − Kβ)‖, at up to 200 epochs.
    n_iter_ : int
    kernel_ : Kernel or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelLMS
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelLMS(kernel="rbf(sigma=1)", max_iter=500, tol=1e-3).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[np.pi / 2]])[0] - 1) < 0.05)
    True
    """

    _method = "lms"
    _parameter_constraints = {
        **SHARED,
        **FORMULA_OR_NAME,
        "step": [one_of("auto"), FINITE],
        "max_iter": [at_least(1)],
        "solver": [one_of("batch", "sgd")],
        "tol": [NON_NEGATIVE],
        "bias": [one_of("none", "centred", "column")],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        step="auto",
        max_iter=100,
        solver="batch",
        tol=1e-6,
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        bias="none",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.step = step
        self.max_iter = max_iter
        self.solver = solver
        self.tol = tol
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.bias = bias
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X, y):
        """Fits the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix where ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        self
        """
        X, y, targets, names = self._regression_input(X, y)
        with self._fit_task(X, y):
            self._choose_kernel(X)
            parts, report = self._learn(X, targets, None, names)
            self._keep(X, parts, report, flat=y.ndim == 1)
            self._tell(report)
            curve = report["facts"]["curve"]
            self.step_ = report["facts"]["step"]
            self.loss_curve_ = np.array([[p["epoch"], p["mse"], p["gradient"]] for p in curve], dtype=np.float64).reshape(-1, 3)
        return self

    def _is_random(self):
        return super()._is_random() or self.solver == "sgd"

    def _settings(self):
        return {
            "step": self.step if isinstance(self.step, str) else float(self.step),
            "epochs": int(self.max_iter),
            "solver": self.solver,
            "tol": float(self.tol),
            "bias": self.bias,
        }
