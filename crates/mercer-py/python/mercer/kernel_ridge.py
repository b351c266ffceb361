"""Kernel ridge regression: in one fit, in chunks, and in merged parts."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer import _least_squares, _native
from mercer._constraints import FORMULA_OR_NAME, NON_NEGATIVE, ON_DEVICE, InvalidParameterError, at_least, one_of
from mercer._estimator import fitting
from mercer._file_fits import FileFits
from mercer._kernel_regressor import KernelRegressor
from mercer._rows import borrowable
from mercer._warn import warn

__all__ = ["KernelRidge"]


#: Rows from which ``solver="auto"`` considers the primal.
PRIMAL_FROM = 2_000


class RidgeEstimator(MultiOutputMixin, RegressorMixin, KernelRegressor):
    """Base of ridge regressions with an ``approx`` parameter, which may be solved from sums over features."""

    _method = "ridge"

    def _check_approx(self):
        approx = super()._check_approx()
        if self.bias == "column" and approx is not None:
            raise ValueError("bias='column' is not for approximate features; use 'centred' or 'none'")
        return approx

    def _settings(self):
        return {"bias": self.bias}

    def _weights(self, X, sample_weight):
        return None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)

    def _forget(self, *names):
        super()._forget("quality_", *names)

    def _prepare(self, X, rows=None):
        """Return the features of the approximation for `rows` rows, of which X is a sample; None if X is all of them."""
        with self._job() as job:
            return _native.prepare_features(self._kernel_settings(), borrowable(X), X.shape[0] if rows is None else rows, job)

    def _solve_sums(self, prepared, sums, X, alpha, names):
        """Return the predictor from sums over features and its report; its quality is measured on X."""
        rows = None if X is None else borrowable(X)
        settings = self._kernel_settings(**{"lambda": alpha.tolist()})
        with self._job() as job:
            return self._trained(_native.solve_sums(settings, prepared, sums, rows, names, job))

    def _report_result(self, report):
        super()._report_result(report)
        facts = report["facts"]
        vars(self).pop("quality_", None)
        if "sizes" in facts:
            keys = {"mse_half": "rmse_half", "mse": "rmse", "mse_doubled": "rmse_doubled_about"}
            errors = {name: [size[key] ** 2 for size in facts["sizes"]] for name, key in keys.items()}
            self.quality_ = {name: facts[name] for name in ("kernel_error", "effective_dimension")} | errors


def _streams(ridge):
    if ridge.approx in (None, "auto") or ridge.solver != "auto":
        raise AttributeError(
            "partial_fit needs features that are known beforehand: approx='fourier:1024' or 'nystrom:1000', "
            "with solver='auto'"
        )
    return True


class KernelRidge(FileFits, RidgeEstimator):
    """Kernel ridge regression: f(x) = Σᵢ aᵢ k(xᵢ, x) with (K + αI)a = y.

    It minimises Σᵢ (yᵢ − f(xᵢ))² + α‖f‖². Fitting takes O(n²d + n³/3) time and O(n²) memory, predicting m rows O(mnd). For
    large n, the cost of ``approx`` is linear in n, and ``solver="cg"`` does not need n² memory.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        The penalty, 0 or more, added to the diagonal of K; one for all targets or one each.
    kernel : str, Kernel or callable, default="linear"
        One of scikit-learn's names (``linear poly polynomial rbf laplacian sigmoid cosine chi2 additive_chi2``), which
        take `gamma`, `degree` and `coef0`; ``"precomputed"``; any other text, read as a formula such as
        ``"0.5*rbf(sigma=auto) + (<x,z>+1)^3"``; a `mercer.Kernel`; or a function of two rows. A formula is checked: a
        refuted one is an error, an undecided one gives a warning, and a proven one predicts on the domain of its proof.
        The other kinds are not checked.
    gamma : float, default=None
        γ of scikit-learn's kernels; None is 1/n_features (1 for ``chi2``).
    degree : float, default=3
        Degree of ``poly``.
    coef0 : float, default=1
        Constant of ``poly`` and ``sigmoid``.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    approx : None, "auto" or str, default=None
        None uses the exact kernel. ``"fourier:1024"`` uses 1,024 random features (an even number; for functions of x − z
        with a known spectral density), ``"nystrom:1000"`` 1,000 landmarks among the rows (for every kernel): both take
        O(n·D·(d + D)) time and O(D²) memory for D features. ``"auto"`` uses the exact kernel up to 10,000 rows,
        and beyond that the kind of features with the smaller kernel error on a sample.
    solver : {"auto", "cholesky", "mixed", "primal", "cg"}, default="auto"
        How the system is solved. ``"cholesky"`` factors K + αI in double precision, ``"mixed"`` in single precision and
        refines the answer to double precision (and factors in double precision where that fails). ``"primal"`` solves in
        the kernel's features, for kernels that have finitely many, such as ``linear`` and ``poly``. ``"cg"`` solves the full
        problem by conjugate gradients, to `tol`, with K in 16 bits if n² bytes fit into memory and in tiles otherwise; with
        ``approx="nystrom:M"`` it solves the one restricted to M landmarks. ``"auto"`` uses the fastest
        stable direct solver. The result is in double precision in all cases.
    bias : {"none", "centred", "column"}, default="none"
        ``"none"``: f as above. ``"centred"``: an unpenalised intercept. ``"column"``: X and y are centred and
        1 is added to the kernel.
    tol : float, default=1e-6
        ``solver="cg"`` stops at this relative residual ‖y − (K + αI)a‖/‖y‖, computed from scratch.
    max_iter : int, default=None
        Maximum number of steps of ``solver="cg"``; None is 1,000.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows sampled for ``auto``, random features and landmarks; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        a, in double precision; from a primal solution it is (y − f)/α, each row times its weight. One row per landmark
        with ``approx="nystrom:M"``; not available with random features.
    coef_ : ndarray of shape (n_components,) or (n_components, n_targets)
        The weights of random features.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant; 0 with ``bias="none"``.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training data, not copied; the kernel matrix if precomputed; the landmarks with ``approx="nystrom:M"``.
    kernel_ : Kernel or None
        The kernel with every ``auto`` replaced by a number.
    n_iter_ : int
        Iterations of the solver; 1 for a direct one.
    residual_ : float or None
        The relative residual of the solved system, if known.
    approx_ : str or None
        The approximation that was used.
    quality_ : dict
        Quality of the approximation: ``kernel_error``, the relative error on pairs of rows; ``effective_dimension``, the
        number of features that the fit uses; ``mse_half``, ``mse`` and ``mse_doubled`` for each target, the training error
        with half of the features, with all, and an estimate for twice as many. After `partial_fit` the pairs are among the
        last rows; not available after `merge`.
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

    >>> model = KernelRidge(kernel="rbf(sigma=1)", alpha=1e-3, approx="fourier:64", random_state=0)
    >>> for chunk in np.array_split(X, 5):
    ...     model = model.partial_fit(chunk, np.sin(chunk[:, 0]))
    >>> bool(abs(model.predict([[np.pi / 2]])[0] - 1) < 1e-2)
    True
    """

    _parameter_constraints = {
        **ON_DEVICE,
        **FORMULA_OR_NAME,
        "alpha": [NON_NEGATIVE, "array-like"],
        "approx": [str, None],
        "solver": [one_of("auto", "cholesky", "mixed", "primal", "cg")],
        "bias": [one_of("none", "centred", "column")],
        "tol": [NON_NEGATIVE],
        "max_iter": [at_least(1), None],
    }

    #: The features and sums from which `partial_fit` continues, and the parameters on which they depend.
    _prepared = None
    _sums = None
    _settled = None

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
        device="cpu",
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

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y, targets, names = self._regression_input(X, y)
        weights, alpha = self._weights(X, sample_weight), self._alphas(targets.shape[1])
        with self._fit_task(X, y, sample_weight=weights):
            self._forget("n_samples_seen_")
            self._prepared = self._sums = self._settled = None
            self._choose_kernel(X)
            self._choose_approx(X)
            if self.solver == "cg":
                parts, report = self._solve_by_penalty(X, targets, alpha, weights, names)
            else:
                parts, report = self._solve(X, targets, alpha, weights, names)
            self._keep(X, parts, report, flat=y.ndim == 1)
            if parts.get("kind") == "linear":
                self._expand(X, targets, alpha, weights)
            self._report_result(report)
            self.residual_ = report.get("residual")
        return self

    def _check_parameters(self):
        approx = self._check_approx()
        if self.solver == "cg":
            if self.bias == "column":
                raise ValueError("bias='column' is not for solver='cg'; use 'centred' or 'none'")
            if self.tol == 0:
                raise ValueError("The 'tol' parameter of KernelRidge must be more than 0 for solver='cg'. Got 0 instead.")
            if approx is not None and not approx.startswith("nystrom:"):
                raise ValueError(f"solver='cg' is for the kernel as it is or for landmarks, not for approx={approx!r}")
        elif self.solver != "auto" and approx is not None:
            raise ValueError(f"approx={approx!r} does not support solver={self.solver!r}")

    def _alphas(self, n_targets):
        alpha = self._penalties()
        if alpha.shape not in ((1,), (n_targets,)):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {alpha.size} != {n_targets}"
            )
        return alpha

    def _penalties(self):
        try:
            alpha = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        except (TypeError, ValueError):
            alpha = np.array([np.nan])
        if not np.isfinite(alpha).all() or (alpha < 0).any():
            raise InvalidParameterError(
                f"The 'alpha' parameter of {type(self).__name__} must be a number in the range [0, inf) or one for each target. "
                f"Got {self.alpha!r} instead."
            )
        return alpha

    def _is_random(self):
        return super()._is_random() or self.solver == "cg"

    def _solve(self, X, targets, alpha, weights, names):
        """Solve directly; by least squares if the matrix is singular, as in scikit-learn."""
        settings = {"lambda": alpha.tolist(), "solver": self._direct_solver(X, alpha)}
        try:
            return self._learn(X, targets, weights, names, **settings)
        except (_native.SingularMatrix, _native.IndefiniteMatrix) as error:
            if self._choice.checked and isinstance(error, _native.IndefiniteMatrix):
                raise
            warn(f"Singular matrix in solving dual problem. Using least-squares solution instead: {error}")
        return self._least_squares(X, targets, alpha, weights, names)

    def _direct_solver(self, X, alpha):
        """Return the name of the library's solver. Small problems stay dual, which gives more accurate coefficients."""
        if self.approx_ is not None:
            return "auto"
        native = self._choice.native
        if self.solver == "primal":
            if native is None:
                raise ValueError("solver='primal' needs a kernel with features, which a precomputed or callable kernel hides")
            if (alpha == 0).any():
                raise ValueError("solver='primal' finds dual_coef_ as (y - f)/alpha, so alpha must be more than 0")
        if self.solver != "auto":
            return self.solver
        small = native is None or X.shape[0] < PRIMAL_FROM or (alpha == 0).any()
        return "dual" if small or not _native.prefers_primal(native, *X.shape) else "primal"

    def _least_squares(self, X, targets, alpha, weights, names):
        shift, means, kernel = None, np.zeros(targets.shape[1]), self._choice.native
        if self.bias == "column":
            shift, means = (np.average(values, axis=0, weights=weights) for values in (X, targets))
            kernel = kernel.plus(_native.Kernel("1"))
        self._basis = {"kernel": kernel, "domain": None, "shift": shift}
        K = self._gram(self._centred(X))
        K = K if shift is None else K + 1
        dual, intercepts = _least_squares.solve(K, targets - means, alpha, weights, intercept=self.bias == "centred")
        settings = {"lambda": alpha.tolist(), "bias": self.bias, "seed": self._fit_seed}
        words = {"status": "converged", "solver": "least squares", "rows": len(targets)}
        self._words = {"method": "ridge", "settings": settings, "report": words, "outputs": names}
        report = {**words, "iterations": 1, "reasons": [], "warnings": [], "facts": {}, "centres": None}
        return {**self._basis, "coefficients": dual, "intercepts": intercepts + means}, report

    def _solve_by_penalty(self, X, targets, alpha, weights, names):
        """Solve by conjugate gradients, for all targets of the same penalty at once."""
        if self._choice.native is None:
            raise ValueError(
                "solver='cg' computes the kernel tile by tile, which a precomputed or callable kernel does not allow"
            )
        if (alpha == 0).any():
            raise ValueError("solver='cg' needs alpha to be more than 0")
        settings = {"solver": "cg", "tol": float(self.tol), "max_iter": 1_000 if self.max_iter is None else int(self.max_iter)}
        each, found = np.broadcast_to(alpha, targets.shape[1]), []
        for value in np.unique(each):
            group = np.flatnonzero(each == value)
            settings["lambda"] = float(value)
            columns, outputs = np.ascontiguousarray(targets[:, group]), [names[place] for place in group]
            found.append((group, *self._learn(X, columns, weights, outputs, **settings)))
        self._words["outputs"], self._words["settings"]["lambda"] = names, alpha.tolist()
        (_, parts, _), worst = found[0], max((report for _, _, report in found), key=lambda report: report["residual"])
        dual, intercepts = np.empty((len(parts["coefficients"]), len(names))), np.empty(len(names))
        for group, part, _ in found:
            dual[:, group], intercepts[group] = part["coefficients"], part["intercepts"]
        worst["iterations"] = max(report["iterations"] for _, _, report in found)
        return {**parts, "coefficients": dual, "intercepts": intercepts}, worst

    def _expand(self, X, targets, alpha, weights):
        """Return the coefficients (y − f)/α of the rows, from a fit on the kernel's features."""
        del self.coef_
        dual = targets - self._outputs(X)
        dual = (dual if weights is None else weights[:, None] * dual) / alpha
        self.dual_coef_ = dual.ravel() if np.ndim(self.intercept_) == 0 else dual
        self.X_fit_ = X
        self._basis = {"kernel": self._choice.native, "domain": None, "shift": self._kept["shift"]}
        if self.bias == "column":
            # The rest of the constant is part of the kernel k + 1.
            means = np.average(targets, axis=0, weights=weights)
            self.intercept_ = float(means[0]) if np.ndim(self.intercept_) == 0 else means

    # In chunks.

    def _file_settings(self):
        if self.solver != "auto":
            raise ValueError(f"fit_file needs solver='auto'. Got solver={self.solver!r} instead.")
        return {"lambda": self._penalties().tolist(), "bias": self.bias}

    def _settles(self):
        """Return the parameters that later calls of `partial_fit` must not change."""
        return repr((self.approx, self.kernel, self.bias))

    @available_if(_streams)
    @fitting
    def partial_fit(self, X, y, sample_weight=None):
        """Add rows to the normal equations and solves them. Fitting chunk by chunk gives the same model as fitting all rows at
        once.

        Requires ``approx``. The first call fixes the features: ``auto`` in the kernel and landmarks are chosen from its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        first = self._sums is None
        if first and hasattr(self, "intercept_"):
            warn("partial_fit starts from scratch: fit stores no sums, so its rows are not included")
        if not first and self._settled != self._settles():
            raise ValueError("approx, kernel or bias was changed after the first partial_fit; start again with a clone")
        X, y, targets, names = self._regression_input(X, y, reset=first)
        weights, alpha = self._weights(X, sample_weight), self._alphas(targets.shape[1])
        if first:
            self._forget()
            self._settled, self._names = self._settles(), names
            self._choose_kernel(X)
            self._choose_approx(X)
            prepared = self._prepare(X)
        else:
            prepared = self._prepared
            if targets.shape[1] != self._sums.targets:
                raise ValueError(f"y has {targets.shape[1]} targets, but the earlier rows have {self._sums.targets}")
        with self._job() as job:
            (chunk,) = _native.sum_features(prepared, borrowable(X), targets, weights, None, job)
        if not first:
            chunk.merge(self._sums)
        # The rows are counted even if there are too few of them to solve the system yet.
        self._prepared, self._sums, self.n_samples_seen_ = prepared, chunk, chunk.rows
        self._keep_sums(chunk, X, alpha, y.ndim == 1)
        return self

    def _keep_sums(self, sums, X, alpha, flat):
        """Store the predictor from sums, with its quality measured on X."""
        parts, report = self._solve_sums(self._prepared, sums, X, alpha, self._names)
        self._keep(getattr(self, "X_fit_", None) if X is None else X, parts, report, flat)
        self._report_result(report)
        self.residual_ = report["residual"]

    def merge(self, other):
        """Add the rows that another estimator has seen in `partial_fit`; the result is the fit to all of them.

        Both must have the same features: random features of the same kernel without ``auto`` and with the same integer as
        ``random_state``, or landmarks of copies of one estimator made after its first `partial_fit`.

        Parameters
        ----------
        other : estimator of the same class, which is not changed

        Returns
        -------
        self
        """
        for estimator in (self, other):
            check_is_fitted(estimator)
            if getattr(estimator, "_sums", None) is None:
                raise ValueError("merge needs the sums over the rows, which are stored by partial_fit but not by fit")
        if not _same(self._prepared, other._prepared):
            raise ValueError(
                "merge needs the same features on both sides: the same approx and random_state and a kernel without auto, "
                "such as kernel=first.kernel_; or, for landmarks, copies of one estimator after its first partial_fit"
            )
        if self._sums.targets != other._sums.targets:
            raise ValueError(f"one has {self._sums.targets} targets, the other {other._sums.targets}")
        sums = _native.Sums.from_bytes(self._sums.to_bytes())
        sums.merge(other._sums)
        self._keep_sums(sums, None, self._alphas(sums.targets), np.ndim(self.intercept_) == 0)
        self._sums, self.n_samples_seen_ = sums, sums.rows
        return self


def _same(one, other):
    """Return whether two nested structures of dicts, tuples, arrays and strings are equal."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    return np.array_equal(one, other)
