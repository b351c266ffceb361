"""Regression by Gaussian processes."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state

from mercer import _native
from mercer._constraints import NON_NEGATIVE, at_least, one_of
from mercer._estimator import fitting
from mercer._gaussian_process import FIXED, GaussianProcess
from mercer._gp_kernels import start_kernel
from mercer._rows import borrowable
from mercer._warn import warn

__all__ = ["GaussianProcessRegressor"]


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, GaussianProcess):
    """Gaussian process regression: the posterior of a function with a kernel as its prior covariance.

    Hyper-parameters maximise the marginal likelihood. Fitting takes O(n³) time for each step of that search and O(n²) memory.

    Parameters
    ----------
    kernel : str, Kernel or kernel object, default=None
        A text such as ``"?*rbf(sigma=[?]) + noise(value=?)"``, in which each ``?`` is learnt, one for each column in ``[?]``, and
        numbers stay as they are; a `mercer.Kernel`; or an object of ``sklearn.gaussian_process.kernels``, whose hyper-parameters
        and bounds apply. Such an object is translated to text if possible, and computes its matrices itself otherwise. None is
        ``"?*rbf(sigma=?)"``, with both unknowns between 1e-5 and 1e5, starting at 1.
    alpha : float or ndarray of shape (n_samples,), default=1e-10
        Added to the diagonal of the kernel matrix: the variance of the noise in the targets, or a jitter that makes the matrix invertible.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        How the likelihood is maximised. A function is called as ``optimizer(obj_func, initial_theta, bounds)`` and returns theta
        and the value of ``obj_func`` there. None keeps the hyper-parameters fixed.
    n_restarts_optimizer : int, default=0
        Further searches, from random points within the bounds.
    normalize_y : bool, default=False
        Whether the targets are scaled to mean 0 and variance 1 first.
    copy_X_train : bool, default=True
        Whether `X_train_` is a copy.
    n_targets : int, default=None
        Number of targets of samples drawn from the prior before a fit; a fit checks it.
    random_state : int, RandomState instance or None, default=None
        Seed of the restarts.
    objective : {"likelihood", "loo"}, default="likelihood"
        The objective of the hyper-parameters: the marginal likelihood, or the density of each target given all others.
    n_jobs : int, default=None
        Threads; None for all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values and factors are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    kernel_ : kernel object or Kernel
        The kernel with the learnt hyper-parameters; their logarithms are its `theta`.
    X_train_ : array-like of shape (n_samples, n_features) or list of objects
    y_train_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Targets, normalised if `normalize_y`.
    L_ : ndarray of shape (n_samples, n_samples)
        The Cholesky factor of the kernel matrix plus `alpha`.
    alpha_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients: the mean at x is Σᵢ k(x, xᵢ)·alpha_[i].
    log_marginal_likelihood_value_ : float
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = GaussianProcessRegressor("?*rbf(sigma=?)", alpha=1e-6).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[np.pi / 2], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - 1) < 1e-3), bool(std[0] < std[1])
    (True, True)
    """

    _parameter_constraints = {
        **GaussianProcess._parameter_constraints,
        "alpha": [NON_NEGATIVE, np.ndarray],
        "normalize_y": ["boolean"],
        "n_targets": [at_least(1), None],
        "objective": [one_of("likelihood", "loo")],
    }

    def __init__(
        self,
        kernel=None,
        *,
        alpha=1e-10,
        optimizer="fmin_l_bfgs_b",
        n_restarts_optimizer=0,
        normalize_y=False,
        copy_X_train=True,
        n_targets=None,
        random_state=None,
        objective="likelihood",
        n_jobs=None,
        device="cpu",
        verbose=0,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.objective = objective
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    @fitting
    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        self
        """
        X, y = self._fit_input(X, y, multi_output=True, y_numeric=True)
        y = y.astype(np.float64, copy=False)
        seen = y.shape[1] if y.ndim > 1 else 1
        if self.n_targets is not None and seen != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"Got {seen} != {self.n_targets}."
            )
        with self._fit_task(X, y):
            self._normalise(y)
            self._check_noise(len(y))
            self._check_kernel(X)
            self.X_train_ = np.copy(X) if self.copy_X_train else X
            self.kernel_ = self._start_kernel(X)
            if self.optimizer is not None and self.kernel_.n_dims > 0:
                self._maximise(self._objective, self.random_state)
            found = self._likelihood(self.kernel_, "factor")
            if found is None:
                raise np.linalg.LinAlgError(
                    f"The kernel, {self.kernel_}, is not returning a positive definite matrix. Try gradually increasing the "
                    "'alpha' parameter of your GaussianProcessRegressor estimator."
                )
            self.log_marginal_likelihood_value_ = found["value"]
            self.L_ = found["lower"]
            self.alpha_ = found["coefficients"].reshape(self.y_train_.shape)
        return self

    def _normalise(self, y):
        if self.normalize_y:
            self._y_train_mean = np.mean(y, axis=0)
            std = np.std(y, axis=0)
            # A target that does not vary is not scaled.
            constant = std < 10 * np.finfo(np.float64).eps * np.maximum(np.abs(self._y_train_mean), 1e-300)
            self._y_train_std = np.where(constant | (std == 0), 1.0, std)
            y = (y - self._y_train_mean) / self._y_train_std
        else:
            shape = (y.shape[1],) if y.ndim == 2 else 1
            self._y_train_mean, self._y_train_std = np.zeros(shape), np.ones(shape)
        self.y_train_ = np.copy(y) if self.copy_X_train else y

    def _check_noise(self, rows):
        alpha = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alpha.shape not in ((1,), (rows,)):
            raise ValueError(
                "alpha must be a scalar or an array with same number of entries as y. "
                f"({alpha.shape[0]} != {rows})"
            )

    def _objective(self, theta, eval_gradient):
        """Return the objective that `theta` maximises, and its gradient."""
        found = self._likelihood(self._at(theta, clone_kernel=False), self.objective)
        if found is None:
            return (-np.inf, np.zeros_like(theta)) if eval_gradient else -np.inf
        return (found["value"], found["gradient"]) if eval_gradient else found["value"]

    def _likelihood(self, kernel, wanted):
        """Return the likelihood ("value"), with its factor ("factor"), or the named objective with its gradient in theta; None if
        the matrix is not positive definite."""
        X, targets = self.X_train_, self.y_train_.reshape(len(self.y_train_), -1)
        theta = np.asarray(kernel.theta, dtype=np.float64)
        noise = np.ascontiguousarray(np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), (len(targets),)))
        derivative = wanted in ("likelihood", "loo")
        parts, in_theta = self._prior(kernel, X).covariance(theta, X, derivative)
        with self._job() as job:
            found = _native.gp_regression(parts, noise, np.ascontiguousarray(targets), wanted, job)
        if found is not None and derivative:
            found["gradient"] = in_theta(found)
        return found

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        """Return the log marginal likelihood of the training targets.

        Parameters
        ----------
        theta : array-like of shape (n_kernel_params,), default=None
            Logarithms of the free hyper-parameters; None for the learnt ones.
        eval_gradient : bool, default=False
            Whether to return the gradient in theta as well.
        clone_kernel : bool, default=True
            Whether `kernel_` stays as it is; else it is given `theta`.

        Returns
        -------
        log_likelihood : float
            −inf where the kernel matrix is not positive definite.
        log_likelihood_gradient : ndarray of shape (n_kernel_params,)
            Where `eval_gradient` asks for it.
        """
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        found = self._likelihood(self._at(theta, clone_kernel), "likelihood" if eval_gradient else "value")
        if found is None:
            return (-np.inf, np.zeros_like(theta, dtype=np.float64)) if eval_gradient else -np.inf
        value = np.float64(found["value"])
        return (value, found["gradient"]) if eval_gradient else value

    def predict(self, X, return_std=False, return_cov=False):
        """The posterior at the rows of X; the prior before a fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
        return_std : bool, default=False
            Whether to return the standard deviations as well.
        return_cov : bool, default=False
            Whether to return the covariance matrix as well.

        Returns
        -------
        y_mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
        y_std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Where `return_std` asks for it.
        y_cov : ndarray of shape (n_samples, n_samples) or (n_samples, n_samples, n_targets)
            Where `return_cov` asks for it.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X = self._query(X)
        if not hasattr(self, "X_train_"):
            return self._predict_prior(X, return_std, return_cov)
        cross = self._kernel_matrix(self.kernel_, X, self.X_train_)
        mean = self._y_train_std * (cross @ self.alpha_) + self._y_train_mean
        if mean.ndim > 1 and mean.shape[1] == 1:
            mean = mean[:, 0]
        if not return_std and not return_cov:
            return mean
        with self._job() as job:
            half = _native.solve_lower(self.L_, np.ascontiguousarray(cross.T), job)
        if return_cov:
            return mean, self._scaled(self._kernel_matrix(self.kernel_, X) - half.T @ half)
        variance = self._kernel_diagonal(self.kernel_, X) - np.einsum("ij,ij->j", half, half)
        if (variance < 0).any():
            warn("Predicted variances smaller than 0. Setting those variances to 0.")
            variance = np.maximum(variance, 0)
        return mean, np.sqrt(self._scaled(variance))

    def _rows(self):
        return len(self.X_train_)

    def _parts(self):
        kernel, X = self._file_kernel(self.kernel_, self.X_train_), self.X_train_
        scales = np.ravel(self._y_train_std)
        coefficients = self.alpha_.reshape(len(X), -1) * scales
        # The noise of a row that was not trained on is known only where it is that of all rows.
        noise = float(self.alpha) if np.ndim(self.alpha) == 0 else 0.0
        outputs = [str(place) for place in range(len(scales))]
        self._words = self._file_words(outputs, noise=noise, normalise=self.normalize_y, objective=self.objective)
        return {
            "kind": "gaussian-process",
            "kernel": kernel,
            "domain": self._domain,
            "centres": borrowable(X),
            "coefficients": coefficients,
            "intercepts": np.ravel(self._y_train_mean).tolist(),
            "scales": scales.tolist(),
            "noise": [noise],
            "factor": self.L_[np.tril_indices(len(X))],
        }

    def _scaled(self, variance):
        """Return variances in the units of each target, without the last axis if there is one target."""
        scaled = np.multiply.outer(variance, np.ravel(self._y_train_std) ** 2)
        return scaled[..., 0] if scaled.shape[-1] == 1 else scaled

    def _predict_prior(self, X, return_std, return_cov):
        kernel = start_kernel(FIXED if self.kernel is None else self.kernel, X)
        targets = 1 if self.n_targets is None else self.n_targets
        shape = (len(X),) if targets == 1 else (len(X), targets)
        mean = np.zeros(shape)
        repeated = lambda values: values if targets == 1 else np.repeat(values[..., np.newaxis], targets, axis=-1)
        if return_cov:
            return mean, repeated(self._kernel_matrix(kernel, X))
        if return_std:
            return mean, repeated(np.sqrt(self._kernel_diagonal(kernel, X)))
        return mean

    def sample_y(self, X, n_samples=1, random_state=0):
        """Samples of the posterior (of the prior before a fit) at the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or list of objects
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0

        Returns
        -------
        y_samples : ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
        """
        random = check_random_state(random_state)
        mean, covariance = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return random.multivariate_normal(mean, covariance, n_samples).T
        samples = [
            random.multivariate_normal(mean[:, target], covariance[..., target], n_samples).T
            for target in range(mean.shape[1])
        ]
        return np.stack(samples, axis=1)
