"""Kernel ridge regression that chooses its penalty and its kernel's width by cross-validation."""

from itertools import product
from numbers import Integral

import numpy as np

from mercer import _native
from mercer._constraints import FORMULA_OR_NAME, ON_DEVICE, one_of
from mercer._estimator import fitting
from mercer._rows import borrowable
from mercer._search import KernelSearch, folds_of, ranks
from mercer.kernel import Kernel
from mercer.kernel_ridge import KernelRidge, RidgeEstimator

__all__ = ["KernelRidgeCV"]


class KernelRidgeCV(KernelSearch, RidgeEstimator):
    """Kernel ridge regression with α and γ chosen by exact cross-validation.

    One factorisation of each kernel matrix, about 8n³/3 operations, gives the leave-one-out or k-fold residuals of every α
    exactly, without refitting. With ``approx``, one pass over the rows for each kernel accumulates sums over the features of
    each fold, from which the errors of every α follow; the cost is linear in n.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelRidge`; ``?`` in a formula marks hyper-parameters to search for
        (``"matern(length=?)"``, ``"rbf(sigma=?0.1..10)"``).
    alphas : array-like, default=None
        Penalties to choose from; None for 20 from 1e-6 to 1e3.
    gammas : array-like, default=None
        Values of γ to choose from, for scikit-learn's kernel names that have one; None for 10 around 1/(n_features · variance).
    cv : None, int, "gcv", or an iterable or splitter of train and test rows, default=None
        None is leave-one-out, an integer that many folds of consecutive rows, ``"gcv"`` generalised cross-validation, for which
        `scoring` must be None. With an approximation, None is 5 folds, and ``"gcv"`` is an error.
    scoring : None, str or callable, default=None
        None is ``"neg_mean_squared_error"``; ``"neg_root_mean_squared_error"``, ``"neg_mean_absolute_error"``, ``"r2"``, or a
        function of targets and predictions, more being better, which receives the weights of the rows as ``sample_weight``. The score
        is the mean over the folds, as in scikit-learn's searches; with leave-one-out, all rows are scored together. With an
        approximation it must be one of the squared errors or ``"r2"``.
    degree : float, default=3
    coef0 : float, default=1
    kernel_params : dict, default=None
    approx : str or None, default=None
        As in `KernelRidge`: ``"fourier:D"``, ``"nystrom:M"``, ``"auto"`` or None. Landmarks are chosen among all rows, including
        those left out; their targets are not used.
    bias : {"none", "centred", "column"}, default="none"
        As in `KernelRidge`. The centring of ``"column"`` is done once, on all rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows sampled for ``auto`` and ``?``; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    gamma_ : float or None
        The chosen γ; None if the kernel has none.
    best_score_ : float
    cv_results_ : dict
        ``params``, ``param_alpha``, ``param_gamma`` or ``param_kernel``, ``mean_test_score`` and ``rank_test_score`` of every
        candidate.
    approx_ : str or None
        The approximation that was used.
    dual_coef_, coef_, intercept_, X_fit_, kernel_, n_iter_, quality_, n_features_in_, feature_names_in_
        As in `KernelRidge`, of the model chosen, fitted on all rows: with an approximation, ``coef_`` of random features or
        ``dual_coef_`` of the landmarks ``X_fit_``, and ``quality_``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (80, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> model = KernelRidgeCV().fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True

    On random features, where there are too many rows for their kernel matrix:

    >>> model = KernelRidgeCV(approx="fourier:64", bias="centred", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    _parameter_constraints = {
        **ON_DEVICE,
        **{name: allowed for name, allowed in FORMULA_OR_NAME.items() if name != "gamma"},
        "alphas": ["array-like", None],
        "gammas": ["array-like", None],
        "cv": ["cv_object", one_of("gcv")],
        "scoring": [str, callable, None],
        "approx": [str, None],
        "bias": [one_of("none", "centred", "column")],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        alphas=None,
        gammas=None,
        cv=None,
        scoring=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        approx=None,
        bias="none",
        random_state=None,
        n_jobs=None,
        device="cpu",
        verbose=0,
    ):
        self.kernel = kernel
        self.alphas = alphas
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approx = approx
        self.bias = bias
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Score all candidates and fits the best one on all rows.

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
        self._check_approx()
        X, y, targets, names = self._regression_input(X, y)
        if X.shape[0] < 2:
            raise ValueError(f"cross-validation needs 2 samples or more, got n_samples = {X.shape[0]}")
        weights, alphas = self._weights(X, sample_weight), self._alphas()
        with self._fit_task(X, y, sample_weight=weights):
            self._forget()
            candidates = self._candidates(X, weights)
            choices = [choice for choice, _ in candidates]
            self._choice = choices[len(choices) // 2]
            self._choose_approx(X)
            score = self._scores if self.approx_ is None else self._feature_scores
            scores, sums = score(X, y, targets, weights, choices, alphas)
            best = np.unravel_index(np.argmax(scores), scores.shape)
            self._results(candidates, alphas, scores)
            self._choice, gamma = candidates[best[0]]
            self.alpha_, self.gamma_, self.best_score_ = float(alphas[best[1]]), gamma, float(scores[best])
            if sums is None:
                self._refit(X, y, weights, self._choice)
                self._words["outputs"] = names
            else:
                parts, report = self._solve_sums(*sums, X, np.array([self.alpha_]), names)
                self._keep(X, parts, report, flat=y.ndim == 1)
                self._report_result(report)
        return self

    def _alphas(self):
        return np.geomspace(1e-6, 1e3, 20) if self.alphas is None else self._numbers("alphas")

    def _scores(self, X, y, targets, weights, choices, alphas):
        """Return the scores, one row per kernel and one column per α, more being better; and no sums."""
        means, one = 0.0, None
        if self.bias == "column":
            # X and y are centred and 1 is added to the kernel.
            X = (X - np.average(X, axis=0, weights=weights)).astype(X.dtype)
            means, one = np.average(targets, axis=0, weights=weights), _native.Kernel("1")
        folds = self._folds(X, y)
        if weights is not None and (weights == 0).any():
            # Rows of weight 0 are neither trained on nor scored.
            kept = np.flatnonzero(weights)
            X = X[np.ix_(kept, kept)] if choices[0].native is None and self.kernel == "precomputed" else X[kept]
            targets, weights = targets[kept], weights[kept]
            folds = None if folds is None else folds[kept]
        problem = {
            "targets": targets - means,
            "alphas": alphas.tolist(),
            "weights": weights,
            "intercept": self.bias == "centred",
            "gcv": isinstance(self.cv, str),
            "folds": None if folds is None else folds.tolist(),
        }
        metric = _metric(self.scoring)
        scores = np.empty((len(choices), len(alphas)))
        for row, choice in zip(scores, choices, strict=True):
            with self._job() as job:
                if choice.native is not None:
                    kernel = choice.native if one is None else choice.native.plus(one)
                    found = _native.ridge_path(kernel, borrowable(X), problem, job)
                else:
                    K = np.ascontiguousarray(choice.matrix(X, None, job), dtype=np.float64)
                    found = _native.ridge_path(None, {"gram": K}, problem, job)
            if problem["gcv"]:
                row[:] = -np.asarray(found).ravel()
            else:
                row[:] = [_by_fold(metric, folds, targets, targets - residuals, weights) for residuals in found]
        if not np.isfinite(scores).any():
            raise ValueError("no candidate has a finite score: the data or the targets are too large")
        return np.where(np.isfinite(scores), scores, -np.inf), None

    def _feature_scores(self, X, y, targets, weights, choices, alphas):
        """Return the scores on features, as `_scores` does, and the features and the sums over all rows of the best kernel."""
        _summed_metric(self.scoring)
        if isinstance(self.cv, str) and self.cv == "gcv":
            raise ValueError(f"cv='gcv' needs the kernel matrix; with approx={self.approx_!r} use a number of folds")
        folds = self._folds(X, y, default=min(5, X.shape[0]))
        rows = X
        if weights is not None and (weights == 0).any():
            kept = np.flatnonzero(weights)
            rows, targets, weights, folds = X[kept], targets[kept], weights[kept], folds[kept]
        names, folds = np.unique(folds, return_inverse=True)
        if len(names) < 2:
            raise ValueError(f"cross-validation needs rows of positive weight in 2 folds or more, got {len(names)}")
        sizes = np.bincount(folds, weights)
        spreads = [_spread(targets, weights, np.flatnonzero(folds == fold)) for fold in range(len(names))]
        scores, best = np.empty((len(choices), len(alphas))), None
        for row, choice in zip(scores, choices, strict=True):
            self._choice = choice
            prepared = self._prepare(X)
            with self._job() as job:
                sums = _native.sum_features(prepared, borrowable(rows), targets, weights, (folds.tolist(), len(names)), job)
            row[:] = self._score_sums(sums, alphas, sizes, spreads)
            if best is None or row.max() > best[0]:
                total, *others = sums
                for part in others:
                    total.merge(part)
                best = (row.max(), (prepared, total))
        if not np.isfinite(scores).any():
            raise ValueError("no candidate has a finite score: the data or the targets are too large, or alphas too small")
        return scores, best[1]

    def _score_sums(self, sums, alphas, sizes, spreads):
        """Return the score of each α from the sums over each fold, its weight and the spread of its targets."""
        metric = _summed_metric(self.scoring)
        with self._job() as job:
            errors = _native.fold_errors(sums, alphas.tolist(), self.bias == "centred", job)
        scores = np.mean([metric(*fold) for fold in zip(errors, sizes, spreads, strict=True)], axis=0)
        return np.where(np.isfinite(scores), scores, -np.inf)

    def _folds(self, X, y, default=None):
        """Return each row's fold, or None for leave-one-out and generalised cross-validation; `default` replaces cv=None."""
        cv, n = default if self.cv is None else self.cv, X.shape[0]
        if isinstance(cv, str) and cv == "gcv" and self.scoring is not None:
            raise ValueError(f"cv='gcv' has a score of its own: scoring must be None. Got {self.scoring!r} instead.")
        if cv is None or (isinstance(cv, str) and cv == "gcv"):
            return None
        if isinstance(cv, str):
            raise ValueError(f"The 'cv' parameter of KernelRidgeCV must be None, an integer, 'gcv' or folds. Got {cv!r} instead.")
        if isinstance(cv, Integral):
            if not 2 <= cv <= n:
                raise ValueError(f"Cannot have number of splits n_splits={cv} for n_samples={n}: it is from 2 to n_samples")
            folds = np.repeat(np.arange(cv), [len(part) for part in np.array_split(np.arange(n), cv)])
        else:
            folds = folds_of(cv, X, y)
        if isinstance(self.scoring, str) and self.scoring == "r2" and np.bincount(folds).min() < 2:
            raise ValueError("scoring='r2' needs 2 rows or more in each fold, but a fold has 1")
        return folds

    def _results(self, candidates, alphas, scores):
        flat = scores.ravel()
        varied, values = self._varied(candidates)
        pairs = list(product(values, alphas.tolist()))
        self.cv_results_ = {
            "params": [{varied: value, "alpha": alpha} for value, alpha in pairs],
            "param_alpha": np.array([alpha for _, alpha in pairs]),
            f"param_{varied}": np.array([value for value, _ in pairs], dtype=object if varied == "kernel" else np.float64),
            "mean_test_score": flat,
            "rank_test_score": ranks(flat),
        }

    def _refit(self, X, y, weights, choice):
        ridge = KernelRidge(
            alpha=self.alpha_,
            kernel=Kernel._of(choice.native) if self._has_formula() else self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            bias=self.bias,
            random_state=self._fit_seed,
            n_jobs=self.n_jobs,
            device=self.device,
            verbose=self.verbose,
        )
        fitted = vars(ridge.fit(X, y, weights)).items()
        vars(self).update({name: value for name, value in fitted if name not in ridge.get_params()})


def _by_fold(metric, folds, y, f, weights):
    """Return the mean of the metric over the folds, or the metric of all rows without folds."""
    if folds is None:
        return metric(y, f, weights)
    parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    return np.mean([metric(y[part], f[part], None if weights is None else weights[part]) for part in parts])


def _metric(scoring):
    """Return the function of targets, predictions and weights that `scoring` names."""
    if callable(scoring):
        flat = lambda values: values[:, 0] if values.shape[1] == 1 else values
        given = lambda weights: {} if weights is None else {"sample_weight": weights}
        return lambda y, f, weights: float(scoring(flat(y), flat(f), **given(weights)))
    named = {
        None: _squared,
        "neg_mean_squared_error": _squared,
        "neg_root_mean_squared_error": lambda y, f, w: -np.sqrt(-_squared(y, f, w)),
        "neg_mean_absolute_error": lambda y, f, w: -np.average(np.abs(y - f).mean(axis=1), weights=w),
        "r2": _r2,
    }
    if scoring not in named:
        raise ValueError(f"The 'scoring' parameter of KernelRidgeCV must be one of {list(named)} or a callable. Got {scoring!r}.")
    return named[scoring]


def _summed_metric(scoring):
    """Return the function of squared errors (weighted sums: one row per penalty, one column per target), weight and spread of
    the targets that `scoring` names."""
    if callable(scoring) or scoring == "neg_mean_absolute_error":
        raise ValueError(
            f"scoring={scoring!r} needs every prediction, which sums over features do not have; with approx it is None, "
            "'neg_mean_squared_error', 'neg_root_mean_squared_error' or 'r2'"
        )
    _metric(scoring)
    return {
        "neg_root_mean_squared_error": lambda squares, weight, spread: -np.sqrt(squares.mean(axis=1) / weight),
        "r2": lambda squares, weight, spread: _explained(squares, spread).mean(axis=1),
    }.get(scoring, lambda squares, weight, spread: -squares.mean(axis=1) / weight)


def _spread(y, weights, rows):
    """Return Σw(y − ȳ)² of each target over some rows."""
    y, weights = y[rows], None if weights is None else weights[rows]
    squares = (y - np.average(y, axis=0, weights=weights)) ** 2
    return squares.sum(axis=0) if weights is None else weights @ squares


def _squared(y, f, weights):
    return -np.average(((y - f) ** 2).mean(axis=1), weights=weights)


def _r2(y, f, weights):
    spread = np.average((y - np.average(y, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    error = np.average((y - f) ** 2, axis=0, weights=weights)
    return float(np.mean(_explained(error, spread)))


def _explained(error, spread):
    """Return 1 − error/spread; for constant targets 1 if the error is 0, else 0, as in scikit-learn."""
    constant = spread == 0
    return np.where(constant, error == 0, 1 - error / np.where(constant, 1, spread))
