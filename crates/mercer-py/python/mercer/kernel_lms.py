"""Least mean squares on a kernel: gradient descent on the squared error."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight

from mercer._constraints import FINITE, FORMULA_OR_NAME, NON_NEGATIVE, ON_DEVICE, at_least, one_of
from mercer._estimator import fitting
from mercer._kernel_regressor import KernelRegressor
from mercer._rows import stacked

__all__ = ["KernelLMS"]


def _streams(lms):
    if lms.solver != "sgd" or lms.bias != "none":
        raise AttributeError("partial_fit takes one row at a time: it needs solver='sgd' and bias='none'")
    return True


class KernelLMS(MultiOutputMixin, RegressorMixin, KernelRegressor):
    """Least mean squares: β := β + α(y − Kβ), and f(x) = Σᵢ βᵢ k(xᵢ, x).

    There is no penalty; the number of steps regularises the fit. A batch step takes O(n²) time. K is stored if it fits into
    memory, and recomputed tile by tile at each step otherwise.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelRidge`.
    step : "auto" or float, default="auto"
        α. ``"auto"`` is 1/(estimate of K's largest eigenvalue) (``solver="sgd"``: 1/max k(x,x)). Steps of twice that or more
        diverge, which is an error that names the largest safe step.
    max_iter : int, default=100
        Maximum number of epochs.
    solver : {"batch", "sgd"}, default="batch"
        All rows at each step, or one row at a time in shuffled order.
    tol : float, default=1e-6
        Stops when ‖K(y − Kβ)‖ ≤ tol·‖Ky‖.
    gamma : float, default=None
    degree : float, default=3
    coef0 : float, default=1
    kernel_params : dict, default=None
        As in `KernelRidge`.
    bias : {"none", "centred", "column"}, default="none"
        As in `KernelRidge`.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows with ``solver="sgd"`` and of the rows sampled for ``auto``; None draws a new seed at each
        fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        β.
    intercept_ : float or ndarray of shape (n_targets,)
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
    step_ : float
        The step size that was used.
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
        **ON_DEVICE,
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
        device="cpu",
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
        self.device = device
        self.verbose = verbose

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of the squared error of each row, a factor of the step. Requires ``bias="none"`` and memory for the kernel
            matrix.

        Returns
        -------
        self
        """
        X, y, targets, names = self._regression_input(X, y)
        weights = self._check_weights(X, sample_weight)
        if weights is not None and self.bias != "none":
            raise ValueError(f"sample_weight needs bias='none'. Got bias={self.bias!r}.")
        with self._fit_task(X, y, sample_weight=weights):
            self._choose_kernel(X)
            if weights is None:
                parts, report = self._learn(X, targets, None, names)
            else:
                parts, report = self._learn_weighted(X, targets, weights, names)
            self._keep(X, parts, report, flat=y.ndim == 1)
            self._report_result(report)
            curve = report["facts"]["curve"]
            self.step_ = report["facts"]["step"]
            self.loss_curve_ = np.array([[p["epoch"], p["mse"], p["gradient"]] for p in curve], dtype=np.float64).reshape(-1, 3)
        return self

    def _learn_weighted(self, X, targets, weights, outputs):
        """Train with weights: on the kernel SKS and the targets Sy, S the square roots of the weights, in O(n²) memory."""
        roots, settings, words = np.sqrt(weights), self._kernel_settings(), None
        basis = {"kernel": None, "domain": None, "shift": None}
        if self._choice.native is not None:
            # One pass on the rows checks the formula and finds its domain.
            parts, _ = self._learn(X, targets, None, outputs, epochs=1)
            basis, words = {name: parts[name] for name in basis}, self._words["settings"]
            settings = {name: value for name, value in settings.items() if name not in ("kernel", "approx")}
            settings["kernel_check"] = "assume"
        gram = roots[:, None] * self._gram(X) * roots
        parts, report = self._train(settings, {"gram": gram}, roots[:, None] * targets, None, outputs)
        if words is not None:
            self._words["settings"] = {**words, "epochs": settings["epochs"]}
        # The steps S⁻¹β := S⁻¹β + α(Sy − SKS·S⁻¹β) are β := β + αW(y − Kβ).
        return {**parts, **basis, "coefficients": roots[:, None] * parts["coefficients"]}, report

    @available_if(_streams)
    @fitting
    def partial_fit(self, X, y, sample_weight=None):
        """Make one pass over the rows in order: each becomes a centre whose coefficient is α times its error.

        Continues from the previous state. The first call fixes the kernel. O(nd) time per row for n centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A factor of the step for each row.

        Returns
        -------
        self
        """
        first = not hasattr(self, "dual_coef_")
        X, y, targets, names = self._regression_input(X, y, reset=first)
        weights = self._check_weights(X, 1.0 if sample_weight is None else sample_weight)
        if first:
            self._choose_kernel(X)
            self._basis = {"kernel": self._choice.native, "domain": None, "shift": None}
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("partial_fit needs rows; it is not available with a precomputed kernel")
        self._choice.check(X)
        shape = y.shape[1:]
        if not first and self.dual_coef_.shape[1:] != shape:
            raise ValueError(f"y has shape {y.shape}, but the coefficients of the earlier rows have shape {self.dual_coef_.shape}")
        with self._job() as job:
            K = np.asarray(self._choice.matrix(X, None, job), dtype=np.float64)
        self._settle_step(K.diagonal().max() * weights.max())
        errors = targets if first else targets - self._outputs(X)
        steps = np.zeros_like(errors)
        for i, weight in enumerate(weights):
            steps[i] = self.step_ * weight * (errors[i] - K[i, :i] @ steps[:i])
        steps = steps.reshape(-1, *shape)
        self.X_fit_ = X if first else stacked(self.X_fit_, X.astype(self.X_fit_.dtype, copy=False))
        self.dual_coef_ = steps if first else np.concatenate([self.dual_coef_, steps])
        self.intercept_ = np.zeros(shape)[()]
        self.n_iter_ = 1
        report = {"status": "converged", "solver": "stochastic gradient descent", "rows": len(self.dual_coef_)}
        settings = {**self._settings(), "seed": self._fit_seed}
        self._words = {"method": self._method, "settings": settings, "report": report, "outputs": names}
        return self

    def _check_weights(self, X, sample_weight):
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _settle_step(self, largest):
        """Set `step_` for rows whose k(x,x), times their weight, is at most `largest`."""
        if self.step == "auto":
            self.step_ = min(getattr(self, "step_", np.inf), 1 / largest if largest > 0 else 1.0)
        else:
            self.step_ = float(self.step)
        if self.step_ * largest >= 2:
            raise ValueError(f"a step of {self.step_:.3g} diverges on these rows: it must be less than {2 / largest:.3g}")

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
