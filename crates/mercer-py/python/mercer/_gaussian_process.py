"""Base class of the Gaussian process estimators: input, kernels, and maximisation of the likelihood."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mercer._constraints import ON_DEVICE, at_least, has_methods, one_of
from mercer._estimator import Estimator
from mercer._gp_kernels import Formula, prior_of, start_kernel, warn_of_bounds
from mercer._warn import warn
from mercer.kernel import Kernel

__all__ = ["GaussianProcess"]

#: What ``kernel=None`` stands for: scikit-learn's default, with its bounds.
FREE = "const(value=?0.00001..100000)*rbf(sigma=?0.00001..100000)"
FIXED = "const(value=1)*rbf(sigma=1)"


class GaussianProcess(Estimator):
    """Base of the Gaussian process estimators."""

    _parameter_constraints = {
        **ON_DEVICE,
        "kernel": [None, str, has_methods("diag")],
        "optimizer": [one_of("fmin_l_bfgs_b"), callable, None],
        "n_restarts_optimizer": [at_least(0)],
        "copy_X_train": ["boolean"],
        "random_state": ["random_state"],
    }

    #: The kernel of ``kernel=None``.
    _default_kernel = FREE

    def _takes_sparse(self):
        return False

    def _file_kernel(self, kernel, X):
        """Return the kernel as text with numbers, as stored in a model file."""
        prior = self._prior(kernel, X)
        if not isinstance(prior, Formula):
            raise ValueError(
                f"a model file holds kernels that are texts, and {kernel!r} has no translation to one: pickle the model"
            )
        return prior.kernel(kernel.theta)

    def _file_words(self, outputs, **settings):
        """Return the entries of the model file that describe the fit."""
        likelihood = float(self.log_marginal_likelihood_value_)
        return {
            "method": "gp",
            "settings": settings,
            "report": {"log_likelihood": likelihood, "rows": self._rows()},
            "outputs": outputs,
        }

    def _x_checks(self):
        """Return the checks of X: rows of numbers, or none if the kernel takes other objects."""
        if getattr(self.kernel, "requires_vector_input", True):
            return {"dtype": np.float64, "order": "C"}
        return {"dtype": None, "ensure_2d": False}

    def _query(self, X):
        return validate_data(self, X, reset=False, **self._x_checks())

    def _start_kernel(self, X):
        return start_kernel(self._default_kernel if self.kernel is None else self.kernel, X)

    def _check_kernel(self, X):
        """Raise ValueError if a kernel text is not a kernel on the rows X. Kernel objects are not checked."""
        self._domain = None
        if isinstance(self.kernel, (str, Kernel)):
            with self._job() as job:
                self._domain, warning = self._start_kernel(X)._check(X, job)
            if warning is not None:
                warn(warning)

    @staticmethod
    def _prior(kernel, X):
        return prior_of(kernel, X.shape[1] if getattr(X, "ndim", 1) == 2 and X.dtype.kind == "f" else None)

    def _kernel_matrix(self, kernel, X, Z=None):
        with self._job() as job:
            return self._prior(kernel, X).matrix(kernel.theta, X, Z, job)

    def _kernel_diagonal(self, kernel, X):
        with self._job() as job:
            return self._prior(kernel, X).diagonal(kernel.theta, X, job)

    def _at(self, theta, clone_kernel):
        """Return the kernel with another theta: a copy, or the estimator's own kernel, changed."""
        if clone_kernel:
            return self.kernel_.clone_with_theta(theta)
        self.kernel_.theta = theta
        return self.kernel_

    def _maximise(self, likelihood, random_state):
        """Set the kernel's theta to the maximiser of the likelihood, and return the maximum."""

        def objective(theta, eval_gradient=True):
            if not eval_gradient:
                return -likelihood(theta, eval_gradient=False)
            value, gradient = likelihood(theta, eval_gradient=True)
            return -value, -gradient

        start, bounds = self.kernel_.theta, self.kernel_.bounds
        optima = [self._minimise(objective, start, bounds)]
        if self.n_restarts_optimizer > 0:
            if not np.isfinite(bounds).all():
                raise ValueError(
                    "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite."
                )
            random = check_random_state(random_state)
            for _ in range(self.n_restarts_optimizer):
                optima.append(self._minimise(objective, random.uniform(bounds[:, 0], bounds[:, 1]), bounds))
        best = int(np.argmin([value for _, value in optima]))
        theta, value = optima[best]
        self.kernel_.theta = theta
        warn_of_bounds(self.kernel_, warn, ConvergenceWarning)
        return -value

    def _minimise(self, objective, start, bounds):
        if callable(self.optimizer):
            return self.optimizer(objective, start, bounds=bounds)
        from scipy.optimize import minimize
        from threadpoolctl import threadpool_limits

        # The threads of NumPy and SciPy would wait actively between their products and take time from those of the likelihood.
        with threadpool_limits(1, user_api="blas"):
            found = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds)
        if found.status != 0:
            why = f"the search for the largest likelihood did not converge in {found.nit} steps: {found.message}"
            warn(why, ConvergenceWarning)
        return found.x, found.fun
