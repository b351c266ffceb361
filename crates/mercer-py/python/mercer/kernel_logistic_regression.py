"""Kernel logistic regression."""

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from mercer import _native
from mercer._constraints import ANY_KERNEL, CLASS_WEIGHT, NON_NEGATIVE, ON_DEVICE, POSITIVE, at_least, one_of
from mercer._estimator import fitting
from mercer._file_fits import FileFits
from mercer._kernel_classifier import KernelClassifier

__all__ = ["KernelLogisticRegression"]


class KernelLogisticRegression(FileFits, KernelClassifier):
    """Kernel logistic regression: probabilities from f(x) = Σᵢ aᵢ k(xᵢ, x) + b.

    It minimises Σᵢ loss(yᵢ, f(xᵢ)) + ‖f‖²/(2C), with an unpenalised intercept. Two classes have one logit; more classes
    have one each, all penalised (the multinomial model).

    Parameters
    ----------
    C : float, default=1.0
        Inverse penalty 1/λ; smaller values give smoother models.
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelRidge`.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of scikit-learn's kernel names: ``"scale"`` is 1/(n_features · variance), ``"auto"`` 1/n_features.
    degree : float, default=3
    coef0 : float, default=0.0
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; ``"balanced"`` weights are inversely proportional to class frequencies.
    tol : float, default=1e-6
        Stops when ‖λa + p − y‖ ≤ tol.
    max_iter : int, default=100
        Maximum number of Newton steps, gradient steps or epochs.
    solver : {"newton", "gd", "sgd"}, default="newton"
        Newton's method, gradient descent, or stochastic gradient descent.
    approx : None, "auto" or str, default=None
        None uses the exact kernel, with O(n²) memory. ``"fourier:1024"`` uses 1,024 random features, ``"nystrom:1000"`` 1,000
        landmarks, ``"auto"`` as in `KernelRidge`: O(n·D²) time and O(D²) memory for D features; `solver` is ignored.
        `tol` then bounds the norm of the gradient relative to the initial one.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
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
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes)
        a, one column for two classes. Of the landmarks with ``approx="nystrom:M"``; not available with random features.
    coef_ : ndarray of shape (n_components, 1) or (n_components, n_classes)
        The weights of random features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows, or the landmarks.
    n_iter_ : int
    approx_ : str or None
        The approximation that was used.
    kernel_ : Kernel or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelLogisticRegression
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelLogisticRegression(C=10, kernel="rbf(sigma=1)").fit(X, np.sin(X[:, 0]) > 0)
    >>> model.predict([[1.5], [4.5]]).tolist()
    [True, False]
    >>> bool(model.predict_proba([[1.5]])[0, 1] > 0.9)
    True
    """

    _method = "logistic"
    _parameter_constraints = {
        **ON_DEVICE,
        **ANY_KERNEL,
        **CLASS_WEIGHT,
        "C": [POSITIVE],
        "fit_intercept": ["boolean"],
        "tol": [NON_NEGATIVE],
        "max_iter": [at_least(1)],
        "solver": [one_of("newton", "gd", "sgd")],
        "approx": [str, None],
    }

    def __init__(
        self,
        C=1.0,
        kernel="rbf",
        *,
        gamma="scale",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        class_weight=None,
        tol=1e-6,
        max_iter=100,
        solver="newton",
        approx=None,
        kernel_params=None,
        random_state=None,
        n_jobs=None,
        device="cpu",
        verbose=0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.approx = approx
        self.kernel_params = kernel_params
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
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._fit_input(X, y)
        codes = self._classes(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._forget()
            self._choose_kernel(X, sample_weight)
            self._choose_approx(X)
            weights = self._row_weights(codes, sample_weight)
            parts, report = self._learn(X, (codes, len(self.classes_)), weights)
            self._keep(X, parts, report)
            self._report_result(report)
        return self

    def _check_parameters(self):
        if self._check_approx() is not None and self.solver != "newton":
            raise ValueError(f"approx={self.approx!r} needs solver='newton'. Got solver={self.solver!r} instead.")

    def _is_random(self):
        return super()._is_random() or self.solver == "sgd"

    def _settings(self):
        return {
            "lambda": 1.0 / float(self.C),
            "bias": "centred" if self.fit_intercept else "none",
            "solver": self.solver,
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
        }

    def _row_weights(self, codes, weights):
        """Return the weights of the rows times those of their classes; None if all are 1."""
        if self.class_weight is None:
            return weights
        each = self._each_class_weight(np.bincount(codes.view(np.intp), weights, minlength=len(self.classes_)))
        return each[codes] if weights is None else each[codes] * weights

    def predict_proba(self, X):
        """Return the probability of each class at every row of X.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        decision = self.decision_function(X)
        return _native.probabilities(np.ascontiguousarray(decision.reshape(len(decision), -1)))

    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
