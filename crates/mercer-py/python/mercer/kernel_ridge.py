"""Kernel ridge regression."""

import json
import warnings

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight

from mercer import _least_squares, _native
from mercer._base import KernelMachine, with_callbacks
from mercer._rows import borrowable

__all__ = ["KernelRidge"]


class KernelRidge(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Kernel ridge regression: f(x) = Σᵢ aᵢ k(xᵢ, x) with (K + αI)a = y.

    It minimises Σᵢ (yᵢ − f(xᵢ))² + α‖f‖². Fitting takes O(n²d + n³/3) time and O(n²) memory, predicting m rows O(mnd).

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        The penalty, 0 or more, added to the diagonal of K as it is; one for all targets or one each.
    kernel : str, Kernel or callable, default="linear"
        One of scikit-learn's names (``linear poly polynomial rbf laplacian sigmoid cosine chi2 additive_chi2``), which
        take `gamma`, `degree` and `coef0`; ``"precomputed"``; any other text, read as a formula such as
        ``"0.5*rbf(sigma=auto) + (<x,z>+1)^3"``; a `mercer.Kernel`; or a function of two rows. A formula must not be
        refuted as a kernel where the rows are, and predicts on the domain it is proven on; one that stays undecided is
        warned of. The other kinds are never refused.
    gamma : float, default=None
        γ of scikit-learn's kernels; None is 1/n_features (1 for ``chi2``).
    degree : float, default=3
        Degree of ``poly``.
    coef0 : float, default=1
        Constant of ``poly`` and ``sigmoid``.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    approx : None
        No approximation: the kernel as it is.
    solver : {"auto", "cholesky", "mixed"}, default="auto"
        How the system is solved. All factor K + αI: ``"cholesky"`` in double precision, ``"mixed"`` in single precision
        and refines the answer to double precision (and factors in double precision where that fails), ``"auto"`` as it
        is faster. The answer is in double precision either way.
    bias : {"none", "centred", "column"}, default="none"
        ``"none"``: f as above. ``"centred"``: an intercept that is not penalised. ``"column"``: X and y are centred and
        1 is added to the kernel.
    tol : float, default=1e-6
        Tolerance of iterative solvers.
    max_iter : int, default=None
        Iteration limit of iterative solvers.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows that ``auto`` looks at; None is a fixed seed.
    n_jobs : int, default=None
        Threads; None for all cores.
    verbose : int, default=0
        Shows progress where it is not 0.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        a, in double precision.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant; 0 with ``bias="none"``.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training data, not copied; the kernel matrix where it is precomputed.
    kernel_ : Kernel or None
        The kernel with every ``auto`` a number.
    n_iter_ : int
        Iterations of the solver; 1 for a direct one.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelRidge(kernel="rbf(sigma=1)", alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[np.pi / 2]])[0] - 1) < 1e-3)
    True
    """

    def __init__(
        self,
        alpha=1,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        approx=None,
        solver="auto",
        bias="none",
        tol=1e-6,
        max_iter=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approx = approx
        self.solver = solver
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix where ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        output_names = _column_names(y)
        X, y = self._fit_input(X, y, multi_output=True, y_numeric=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        alpha = self._alphas(1 if y.ndim == 1 else y.shape[1])
        with self._fit_task(X, y, sample_weight=sample_weight):
            choice = self._choose_kernel(X)
            targets = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
            self._shift, means = self._centre(X, targets, sample_weight)
            dual, intercepts = self._solve(choice, X, targets - means, alpha, sample_weight)
            intercepts = intercepts + means
            self.dual_coef_ = dual.ravel() if y.ndim == 1 else dual
            self.intercept_ = float(intercepts[0]) if y.ndim == 1 else intercepts
            self.X_fit_ = X
            self._output_names = output_names or [str(i) for i in range(dual.shape[1])]
        return self

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
        dual = np.ascontiguousarray(self.dual_coef_, dtype=np.float64)
        with self._job() as job:
            if choice.native is None:
                values = choice.matrix(X, self.X_fit_, job) @ dual
            else:
                columns = dual.reshape(dual.shape[0], -1)
                centres, rows = borrowable(self._centred(self.X_fit_)), borrowable(self._centred(X))
                values = _native.expand(self._native_kernel(), self._domain, centres, columns, rows, job)
                values = values.reshape(-1, *dual.shape[1:])
        values = values + self.intercept_ if self.bias != "none" else values
        return values.astype(X.dtype, copy=False)

    def _check_parameters(self):
        self._check_option("solver", ("auto", "cholesky", "mixed"))
        self._check_option("bias", ("none", "centred", "column"))
        self._check_option("approx", (None,))

    def _alphas(self, n_targets):
        alpha = np.atleast_1d(self.alpha)
        self._check_real("alpha", low=0, values=alpha.ravel().tolist())
        if alpha.shape not in ((1,), (n_targets,)):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {alpha.size} != {n_targets}"
            )
        return alpha.astype(np.float64)

    def _solve(self, choice, X, targets, alpha, weights):
        problem = {
            "targets": targets,
            "alpha": alpha.tolist(),
            "weights": weights,
            "intercept": self.bias == "centred",
            "admit": choice.checked,
            "solver": self.solver,
        }
        with self._job() as job:
            try:
                if choice.native is not None:
                    rows = borrowable(self._centred(X))
                    dual, intercepts, report = _native.fit_ridge(self._native_kernel(), rows, problem, job)
                else:
                    K = np.ascontiguousarray(choice.matrix(X, None, job), dtype=np.float64)
                    dual, intercepts, report = _native.fit_ridge_gram(K, problem, job)
            except (_native.SingularMatrix, _native.IndefiniteMatrix) as error:
                if choice.checked and isinstance(error, _native.IndefiniteMatrix):
                    raise
                warnings.warn(
                    f"Singular matrix in solving dual problem. Using least-squares solution instead: {error}",
                    UserWarning,
                    stacklevel=3,
                )
                K = np.asarray(choice.matrix(self._centred(X), None, job), dtype=np.float64)
                K = K + 1 if self.bias == "column" else K
                dual, intercepts = _least_squares.solve(
                    K, targets, alpha, weights, intercept=self.bias == "centred"
                )
                report = {"status": "converged", "solver": "least squares", "iterations": 1, "warnings": [], "domain": None}
        self._tell(report)
        return dual, intercepts

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

    def _model(self):
        dual = np.ascontiguousarray(self.dual_coef_, dtype=np.float64)
        parts = {
            "kernel": self._native_kernel(),
            "domain": self._domain,
            "centres": borrowable(self._centred(self.X_fit_)),
            "shift": None if self._shift is None else self._shift.tolist(),
            "coefficients": dual.reshape(dual.shape[0], -1),
            "intercepts": np.atleast_1d(self.intercept_).tolist(),
        }
        settings = {"bias": self.bias, "lambda": np.atleast_1d(self.alpha).tolist(), "seed": self._fit_seed}
        report = {"rows": self.X_fit_.shape[0]}
        report.update({key: self._report[key] for key in ("solver", "status", "residual") if key in self._report})
        return _native.Model.ridge(
            parts, self._output_names, self._feature_names(), json.dumps(settings), json.dumps(report)
        )


def _column_names(y):
    """The names of the targets, where y is a table of pandas or the like."""
    names = getattr(y, "columns", None)
    if names is None:
        name = getattr(y, "name", None)
        names = None if name is None else [name]
    return None if names is None else [str(name) for name in names]
