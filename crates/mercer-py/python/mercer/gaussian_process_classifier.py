"""Classification by Gaussian processes."""

import sys

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._constraints import at_least, one_of
from mercer._estimator import fitting
from mercer._gaussian_process import FIXED, GaussianProcess
from mercer._rows import borrowable
from mercer._warn import warn

__all__ = ["GaussianProcessClassifier"]


class GaussianProcessClassifier(ClassifierMixin, GaussianProcess):
    """Gaussian process classification by Laplace's approximation.

    Latent functions with the kernel as their prior covariance pass through the logistic function (two classes) or the softmax
    function. Hyper-parameters maximise the approximate marginal likelihood, and probabilities are averages over the posterior of
    the latent functions. Fitting takes O(n³) time for each step of that search and O(n²) memory.

    Parameters
    ----------
    kernel : str, Kernel or kernel object, default=None
        As in `GaussianProcessRegressor`; None is ``"rbf(sigma=1)"``, with a fixed width.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        How the likelihood is maximised, as in `GaussianProcessRegressor`.
    n_restarts_optimizer : int, default=0
        Further searches, from random points within the bounds.
    max_iter_predict : int, default=100
        Maximum number of Newton steps for the mode of the posterior.
    warm_start : bool, default=False
        Whether the search for a mode starts at the previous one.
    copy_X_train : bool, default=True
        Whether the stored training rows are a copy.
    random_state : int, RandomState instance or None, default=None
        Seed of the restarts.
    multi_class : {"one_vs_rest", "one_vs_one", "softmax"}, default="one_vs_rest"
        Treat several classes as two-class problems with a kernel each: every class against all others, or every pair (without
        probabilities); or as one problem with a latent function for each class and one kernel.
    n_jobs : int, default=None
        Threads; None for all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values and factors are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    base_estimator_ : object
        The fitted problem; for several classes without ``"softmax"``, its `estimators_` are the two-class problems. Each problem
        has `kernel_`, `X_train_`, `y_train_` (codes), `log_marginal_likelihood_value_`, and for two classes `L_`, `pi_` and `W_sr_`.
    kernel_ : kernel object or Kernel
        The kernel with the learnt hyper-parameters; a compound of the kernels if there are several problems.
    log_marginal_likelihood_value_ : float
        The value of the problem, or the mean over the problems.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessClassifier
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = GaussianProcessClassifier("?*rbf(sigma=?)").fit(X, X[:, 0] > 3)
    >>> model.predict([[1.0], [5.0]])
    array([False,  True])
    >>> model.predict_proba([[1.0]]).shape
    (1, 2)
    """

    _parameter_constraints = {
        **GaussianProcess._parameter_constraints,
        "max_iter_predict": [at_least(1)],
        "warm_start": ["boolean"],
        "multi_class": [one_of("one_vs_rest", "one_vs_one", "softmax")],
    }

    def __init__(
        self,
        kernel=None,
        *,
        optimizer="fmin_l_bfgs_b",
        n_restarts_optimizer=0,
        max_iter_predict=100,
        warm_start=False,
        copy_X_train=True,
        random_state=None,
        multi_class="one_vs_rest",
        n_jobs=None,
        device="cpu",
        verbose=0,
    ):
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter_predict = max_iter_predict
        self.warm_start = warm_start
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @fitting
    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        from sklearn.utils.multiclass import check_classification_targets

        if type(self.kernel).__name__ == "CompoundKernel":
            raise ValueError("kernel cannot be a CompoundKernel")
        X, y = self._fit_input(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ == 1:
            raise ValueError(
                "GaussianProcessClassifier requires 2 or more distinct classes; got 1 class "
                f"(only class {self.classes_[0]} is present)"
            )
        codes = codes.astype(np.uintp)
        X = np.copy(X) if self.copy_X_train else X
        with self._fit_task(X, y):
            self._check_kernel(X)
            if self.n_classes_ == 2 or self.multi_class == "softmax":
                self.base_estimator_ = self._problem(X, codes, self.n_classes_)
                self.log_marginal_likelihood_value_ = self.base_estimator_.log_marginal_likelihood_value_
            else:
                self.base_estimator_ = self._problems(X, codes)
                values = [problem.log_marginal_likelihood_value_ for problem in self.base_estimator_.estimators_]
                self.log_marginal_likelihood_value_ = float(np.mean(values))
        return self

    def _rows(self):
        return len(self.base_estimator_.X_train_)

    def _parts(self):
        problem = self.base_estimator_
        if isinstance(problem, _Problems):
            raise ValueError(
                f"a model file holds one problem, and multi_class={self.multi_class!r} has {len(problem.estimators_)}: use "
                "multi_class='softmax', or pickle the model"
            )
        self._words = self._file_words(["0"], multi_class=self.multi_class)
        return {
            "kind": "gaussian-classes",
            "kernel": self._file_kernel(problem.kernel_, problem.X_train_),
            "domain": self._domain,
            "centres": borrowable(problem.X_train_),
            "coefficients": problem._coefficients,
            "intercepts": np.zeros(problem._coefficients.shape[1]),
        }

    def _problem(self, X, codes, classes):
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "multi_class"}
        return _Problem(**settings)._fit(X, codes, classes)

    def _problems(self, X, codes):
        count = self.n_classes_
        if self.multi_class == "one_vs_rest":
            found = [self._problem(X, (codes == c).astype(np.uintp), 2) for c in range(count)]
            return _Problems(found, None)
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
        found = []
        for a, b in pairs:
            chosen = np.flatnonzero((codes == a) | (codes == b))
            found.append(self._problem(X[chosen], (codes[chosen] == b).astype(np.uintp), 2))
        return _Problems(found, pairs)

    def predict(self, X):
        """Return the class of every row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._query(X)
        base = self.base_estimator_
        if self.n_classes_ == 2:
            return self.classes_[(base.latent_mean(X)[:, 0] > 0).astype(int)]
        if isinstance(base, _Problems) and base.pairs is not None:
            return self.classes_[base.votes(X, self.n_classes_).argmax(axis=1)]
        return self.classes_[base.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        """Return the probability of each class at every row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        if self.n_classes_ > 2 and self.multi_class == "one_vs_one":
            raise ValueError(
                "one_vs_one multi-class mode does not support predicting probability estimates. "
                "Use one_vs_rest mode instead."
            )
        return self.base_estimator_.predict_proba(self._query(X))

    def latent_mean_and_variance(self, X):
        """Return the mean and variance of the latent function of two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects

        Returns
        -------
        latent_mean : ndarray of shape (n_samples,)
        latent_var : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.n_classes_ > 2:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for binary classification, "
                f"received {self.n_classes_} classes."
            )
        mean, variance = self.base_estimator_.latent(self._query(X))
        return mean[:, 0], variance[:, 0]

    @property
    def kernel_(self):
        base = self.base_estimator_
        if not isinstance(base, _Problems):
            return base.kernel_
        return _compound([problem.kernel_ for problem in base.estimators_])

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        """Return the approximate log marginal likelihood of the training classes; the mean over several two-class problems.

        Parameters
        ----------
        theta : array-like of shape (n_kernel_params,), default=None
            Logarithms of the free hyper-parameters; None for the learnt ones. For several problems either those of one kernel,
            used for all, or those of all kernels in order.
        eval_gradient : bool, default=False
            Whether to return the gradient in theta as well; not supported for several problems.
        clone_kernel : bool, default=True
            Whether to work on a copy; otherwise `kernel_` is set to `theta`.

        Returns
        -------
        log_likelihood : float
        log_likelihood_gradient : ndarray of shape (n_kernel_params,)
            Only if `eval_gradient` is True.
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        theta, base = np.asarray(theta, dtype=np.float64), self.base_estimator_
        if not isinstance(base, _Problems):
            return base.log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        if eval_gradient:
            raise NotImplementedError("Gradient of log-marginal-likelihood not implemented for multi-class GPC.")
        count, width = len(base.estimators_), base.estimators_[0].kernel_.n_dims
        if theta.shape == (width,):
            theta = np.tile(theta, count)
        if theta.shape != (width * count,):
            raise ValueError(
                f"Shape of theta must be either {width} or {width * count}. Obtained theta with shape {theta.size}."
            )
        values = [
            problem.log_marginal_likelihood(part, False, clone_kernel)
            for problem, part in zip(base.estimators_, theta.reshape(count, width), strict=True)
        ]
        return float(np.mean(values))


class _Problem(GaussianProcess):
    """Fit of Laplace's approximation to class codes."""

    _default_kernel = FIXED

    #: Coefficients of the most recent mode.
    _last = None

    def __init__(self, **settings):
        vars(self).update(settings)

    def _fit(self, X, codes, classes):
        self.X_train_, self.y_train_, self.n_classes_ = X, codes, classes
        self.kernel_ = self._start_kernel(X)
        if self.optimizer is not None and self.kernel_.n_dims > 0:
            likelihood = lambda theta, eval_gradient: self.log_marginal_likelihood(theta, eval_gradient, clone_kernel=False)
            self.log_marginal_likelihood_value_ = self._maximise(likelihood, self.random_state)
        found = self._likelihood(self.kernel_, factor=True)
        if self.optimizer is None or self.kernel_.n_dims == 0:
            self.log_marginal_likelihood_value_ = found["value"]
        if not found["converged"]:
            warn(
                f"the mode of the posterior was not found in max_iter_predict={self.max_iter_predict} steps; increase it",
                ConvergenceWarning,
            )
        self._coefficients = found["coefficients"]
        self._factors = {name: found[name] for name in ("lower", "inverses", "pooled") if name in found}
        if classes == 2:
            self.pi_ = codes - self._coefficients[:, 0]
            self.W_sr_ = np.sqrt(self.pi_ * (1 - self.pi_))
            self.L_ = self.W_sr_[:, np.newaxis] * found["lower"]
        return self

    def _likelihood(self, kernel, derivative=False, factor=False):
        X, theta = self.X_train_, np.asarray(kernel.theta, dtype=np.float64)
        parts, in_theta = self._prior(kernel, X).covariance(theta, X, derivative)
        start = self._last if self.warm_start else None
        with self._job() as job:
            found = _native.gp_classification(
                parts, (self.y_train_, self.n_classes_), (start, self.max_iter_predict), derivative, factor, job
            )
        self._last = found["coefficients"]
        if derivative:
            found["gradient"] = in_theta(found)
        return found

    def log_marginal_likelihood(self, theta, eval_gradient, clone_kernel):
        kernel = self._at(theta, clone_kernel)
        try:
            found = self._likelihood(kernel, derivative=eval_gradient)
        except _native.IndefiniteMatrix:
            return (-np.inf, np.zeros_like(theta)) if eval_gradient else -np.inf
        value = np.float64(found["value"])
        return (value, found["gradient"]) if eval_gradient else value

    def latent_mean(self, X):
        return self._kernel_matrix(self.kernel_, X, self.X_train_) @ self._coefficients

    def latent(self, X):
        """Return means and covariances of the latent functions."""
        cross = np.ascontiguousarray(self._kernel_matrix(self.kernel_, X, self.X_train_))
        own = self._kernel_diagonal(self.kernel_, X)
        with self._job() as job:
            if "lower" in self._factors:
                half = _native.solve_lower(self._factors["lower"], np.ascontiguousarray(cross.T), job)
                covariances = np.maximum(own - np.einsum("ij,ij->j", half, half), 0)[:, np.newaxis]
            else:
                covariances = _native.gp_class_covariances(
                    self._factors["inverses"], self._factors["pooled"], cross, own, job
                )
        return cross @ self._coefficients, covariances

    def predict_proba(self, X):
        means, covariances = self.latent(X)
        with self._job() as job:
            return _native.gp_probabilities(np.ascontiguousarray(means), np.ascontiguousarray(covariances), job)


class _Problems:
    """Several classes as two-class problems: each class against all others, or each pair of classes."""

    def __init__(self, estimators, pairs):
        self.estimators_ = estimators
        self.pairs = pairs

    def predict_proba(self, X):
        p = np.stack([problem.predict_proba(X)[:, 1] for problem in self.estimators_], axis=1)
        return p / p.sum(axis=1, keepdims=True)

    def votes(self, X, classes):
        """Return the number of pairs that each class wins, with the confidence of all pairs to break ties."""
        votes, confidence = np.zeros((2, len(X), classes))
        for (a, b), problem in zip(self.pairs, self.estimators_, strict=True):
            p = problem.predict_proba(X)[:, 1]
            votes[:, a] += p <= 0.5
            votes[:, b] += p > 0.5
            confidence[:, a] -= p - 0.5
            confidence[:, b] += p - 0.5
        return votes + confidence / (3 * (np.abs(confidence) + 1))


def _compound(kernels):
    """Return the kernels in one object with a common theta: scikit-learn's class for its own objects."""
    module = sys.modules.get("sklearn.gaussian_process.kernels")
    if module is not None and all(isinstance(kernel, module.Kernel) for kernel in kernels):
        return module.CompoundKernel(kernels)
    return CompoundKernel(kernels)


class CompoundKernel:
    """Several kernels, one for each two-class problem."""

    def __init__(self, kernels):
        self.kernels = kernels

    @property
    def theta(self):
        return np.concatenate([kernel.theta for kernel in self.kernels])

    @property
    def bounds(self):
        return np.vstack([kernel.bounds for kernel in self.kernels])

    @property
    def n_dims(self):
        return sum(kernel.n_dims for kernel in self.kernels)

    def __repr__(self):
        return f"CompoundKernel({self.kernels!r})"
