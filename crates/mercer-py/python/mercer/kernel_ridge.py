"""Kernel ridge regression."""

import warnings

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight

from mercer import _least_squares, _native
from mercer._expansion import column_names
from mercer._feature_ridge import FeatureRidge
from mercer._file_fits import FileFits
from mercer._machine import with_callbacks
from mercer._rows import borrowable

__all__ = ["KernelRidge"]


#: Rows from which ``solver="auto"`` considers the primal.
PRIMAL_FROM = 2_000


class KernelRidge(MultiOutputMixin, RegressorMixin, FileFits, FeatureRidge):
    """Kernel ridge regression: f(x) = Σᵢ aᵢ k(xᵢ, x) with (K + αI)a = y.

    It minimises Σᵢ (yᵢ − f(xᵢ))² + α‖f‖². Fitting takes O(n²d + n³/3) time and O(n²) memory, predicting m rows O(mnd). Where
    that is too much, ``approx`` has a cost linear in n, and ``solver="cg"`` needs no n² memory.

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
    approx : None, "auto" or str, default=None
        None for the kernel as it is. ``"fourier:1024"`` for so many random features (an even number; for kernels of x − z
        with a known spectral density), ``"nystrom:1000"`` for so many landmarks among the rows (for every kernel): both take
        O(n·D·(d + D)) time and O(D²) memory for D features. ``"auto"`` for the kernel as it is up to 10,000 rows, and
        beyond that features, of the kind that is closer to the kernel on a sample.
    solver : {"auto", "cholesky", "mixed", "primal", "cg"}, default="auto"
        How the system is solved. ``"cholesky"`` factors K + αI in double precision, ``"mixed"`` in single precision and
        refines the answer to double precision (and factors in double precision where that fails). ``"primal"`` solves in
        the kernel's features, for kernels that have finitely many, such as ``linear`` and ``poly``. ``"cg"`` solves the full
        problem by conjugate gradients, to `tol`, with K in 16 bits where n² bytes fit and on tiles where not; with
        ``approx="nystrom:M"`` it solves the one restricted to M landmarks. ``"auto"`` takes the fastest direct one that is safe. The answer is in double
        precision whichever it is.
    bias : {"none", "centred", "column"}, default="none"
        ``"none"``: f as above. ``"centred"``: an intercept that is not penalised. ``"column"``: X and y are centred and
        1 is added to the kernel.
    tol : float, default=1e-6
        ``solver="cg"`` stops at this relative residual ‖y − (K + αI)a‖/‖y‖, computed from scratch.
    max_iter : int, default=None
        Steps of ``solver="cg"`` at most; None is 1,000.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows that ``auto`` looks at, random features and landmarks; None is a fixed seed.
    n_jobs : int, default=None
        Threads; None for all cores.
    verbose : int, default=0
        Shows progress where it is not 0.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        a, in double precision; from a primal solution it is (y − f)/α, each row times its weight. Those of the landmarks
        with ``approx="nystrom:M"``; not there with random features.
    coef_ : ndarray of shape (n_components,) or (n_components, n_targets)
        The weights of random features.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant; 0 with ``bias="none"``.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training data, not copied; the kernel matrix where it is precomputed; the landmarks with ``approx="nystrom:M"``.
    kernel_ : Kernel or None
        The kernel with every ``auto`` a number.
    n_iter_ : int
        Iterations of the solver; 1 for a direct one.
    residual_ : float or None
        The relative residual of the system that was solved, where it is known.
    approx_ : str or None
        The approximation that was taken.
    quality_ : dict
        How well the features of an approximation do: ``kernel_error``, relative, on pairs of rows; ``effective_dimension``,
        what the fit uses of them; ``mse_half``, ``mse`` and ``mse_doubled`` for each target, the training error with half of
        the features, with all, and about with twice as many. After `partial_fit` the pairs are among the last rows; after
        `merge`, which sees no rows, it is not there.
    n_samples_seen_ : int
        Rows that `partial_fit` has seen.
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

    In chunks, here of random features:

    >>> model = KernelRidge(kernel="rbf(sigma=1)", alpha=1e-3, approx="fourier:64")
    >>> for chunk in np.array_split(X, 5):
    ...     model = model.partial_fit(chunk, np.sin(chunk[:, 0]))
    >>> bool(abs(model.predict([[np.pi / 2]])[0] - 1) < 1e-2)
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
        output_names = column_names(y)
        X, y = self._fit_input(X, y, multi_output=True, y_numeric=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        alpha = self._alphas(1 if y.ndim == 1 else y.shape[1])
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._forget()
            choice = self._choose_kernel(X)
            targets = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
            approx = self._chosen_approx(X)
            if self.solver == "cg" or approx is not None:
                self._shift = None
                fit = self._solve_iteratively if self.solver == "cg" else self._fit_features
                self._keep_fit(y, *fit(approx, X, targets, alpha, sample_weight), output_names)
            else:
                self._shift, means = self._centre(X, targets, sample_weight)
                dual, intercepts = self._solve(choice, X, targets - means, alpha, sample_weight)
                self._keep(X, y, dual, intercepts + means, output_names)
            self.residual_ = self._report.get("residual")
        return self

    def _check_parameters(self):
        self._check_option("solver", ("auto", "cholesky", "mixed", "primal", "cg"))
        self._check_option("bias", ("none", "centred", "column"))
        self._check_real("tol", low=0)
        self._check_real("max_iter", low=1)
        approx = self._check_approx()
        if self.solver == "cg":
            if self.bias == "column":
                raise ValueError("bias='column' is not for solver='cg'; use 'centred' or 'none'")
            if self.tol == 0:
                raise ValueError("The 'tol' parameter of KernelRidge must be more than 0 for solver='cg'. Got 0 instead.")
            if approx is not None and not approx.startswith("nystrom:"):
                raise ValueError(f"solver='cg' is for the kernel as it is or for landmarks, not for approx={approx!r}")
        elif self.solver != "auto" and approx is not None:
            raise ValueError(f"approx={approx!r} has a solver of its own; leave solver={self.solver!r} out")

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
        if self.solver == "primal" and choice.native is None:
            raise ValueError("solver='primal' needs a kernel with features, which a precomputed or callable kernel hides")
        with self._job() as job:
            try:
                if choice.native is not None:
                    rows = borrowable(self._centred(X))
                    fit = _native.fit_ridge_primal if self._takes_primal(X, alpha) else _native.fit_ridge
                    dual, intercepts, report = fit(self._native_kernel(), rows, problem, job)
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
        self._linear = (report["features"], report["weights"]) if "features" in report else None
        return dual, intercepts

    def _solve_iteratively(self, approx, X, targets, alpha, weights):
        """Conjugate gradients: for all targets of the same penalty at once."""
        choice = self._choice
        if choice.native is None:
            raise ValueError(
                "solver='cg' computes the kernel tile by tile, which a precomputed or callable kernel does not allow"
            )
        if (alpha == 0).any():
            raise ValueError("solver='cg' needs alpha to be more than 0")
        n_targets = targets.shape[1]
        each = np.broadcast_to(alpha, n_targets)
        dual, intercepts, reports = None, np.empty(n_targets), []
        for value in np.unique(each):
            group = np.flatnonzero(each == value)
            problem = {
                "targets": np.ascontiguousarray(targets[:, group]),
                "alpha": float(value),
                "weights": weights,
                "intercept": self.bias == "centred",
                "admit": choice.checked,
                "tol": float(self.tol),
                "max_iter": 1_000 if self.max_iter is None else int(self.max_iter),
                "seed": self._fit_seed,
                "landmarks": None if approx is None else int(approx.removeprefix("nystrom:")),
            }
            with self._job() as job:
                found, constants, report = _native.fit_ridge_cg(choice.native, borrowable(X), problem, job)
            dual = np.empty((len(found), n_targets)) if dual is None else dual
            dual[:, group], intercepts[group] = found, constants
            if report["status"] == "out_of_iterations":
                # `_tell` says so in the words of scikit-learn.
                del report["warnings"][0]
            reports.append(report)
        worst = max(reports, key=lambda report: report["residual"])
        self._tell({**worst, "iterations": max(report["iterations"] for report in reports), "rows": X.shape[0]})
        indices = worst["indices"]
        return dual, intercepts, X if indices is None else X[indices]

    def _takes_primal(self, X, alpha):
        """Whether to solve in the kernel's features. Small problems stay dual: their coefficients are more accurate."""
        if self.solver == "primal":
            if (alpha == 0).any():
                raise ValueError("solver='primal' finds dual_coef_ as (y - f)/alpha, so alpha must be more than 0")
            return True
        if self.solver != "auto" or X.shape[0] < PRIMAL_FROM or (alpha == 0).any():
            return False
        return _native.prefers_primal(self._native_kernel(), *X.shape)

    def _model(self):
        settings = {"lambda": np.atleast_1d(self.alpha).tolist()}
        if self.approx_ is not None:
            settings["approx"] = self.approx_
        return self._expansion_model("ridge", settings)
