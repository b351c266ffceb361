"""Support vector classification that chooses C and its kernel's hyper-parameters by cross-validation."""

from itertools import product
from numbers import Integral

import numpy as np

from mercer import _native
from mercer._estimator import fitting
from mercer._rows import borrowable
from mercer._search import KernelSearch, folds_of, ranks
from mercer._svm_classifier import CLASSIFIER, SupportVectorClassifier
from mercer._warn import warn

__all__ = ["SVCCV"]


class SVCCV(KernelSearch, SupportVectorClassifier):
    """Support vector classification with C and γ chosen by cross-validated accuracy.

    Each kernel's matrix is computed once for all folds, pairs of classes and values of C, and each machine starts from the
    solution for the next smaller C.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `SVC`; ``?`` in a formula marks hyper-parameters to search for
        (``"matern(length=?)"``, ``"rbf(sigma=?0.1..10)"``).
    Cs : array-like, default=None
        Values of C to choose from; None for 2^-5, 2^-2, ..., 2^10.
    gammas : array-like, default=None
        Values of γ to choose from, for scikit-learn's kernel names that have one; None for 7 around 1/(n_features · variance).
    cv : int, or an iterable or splitter of train and test rows, default=5
        An integer is the number of stratified folds, as in scikit-learn's ``StratifiedKFold``.
    degree, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter, decision_function_shape, break_ties,
    random_state, n_jobs, device
        As in `SVC`.

    Attributes
    ----------
    C_ : float
        The chosen C; ties are resolved by the order of ``Cs``, then of ``gammas``.
    gamma_ : float or None
        The chosen γ; None if the kernel has none.
    best_score_ : float
        Its accuracy, the mean over the folds.
    best_index_ : int
        Its index in `cv_results_`.
    cv_results_ : dict
        ``params``, ``param_C``, ``param_gamma`` or ``param_kernel``, ``split0_test_score`` and so on, ``mean_test_score``,
        ``std_test_score`` and ``rank_test_score`` of every candidate.
    n_splits_ : int
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, probA_, probB_, fit_status_,
    n_iter_, shape_fit_, kernel_, n_features_in_, feature_names_in_
        As in `SVC`, of the chosen model, fitted on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVCCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2))
    >>> y = (np.hypot(X[:, 0], X[:, 1]) < 1.2).astype(int)
    >>> model = SVCCV(Cs=[1, 10, 100], gammas=[0.01, 0.1, 1]).fit(X, y)
    >>> model.C_ in (1, 10, 100), bool(model.best_score_ > 0.9)
    (True, True)
    """

    _method = "svc"
    _default_gammas = np.geomspace(1e-2, 1e2, 7)
    _parameter_constraints = {
        **{name: allowed for name, allowed in CLASSIFIER.items() if name != "gamma"},
        "Cs": ["array-like", None],
        "gammas": ["array-like", None],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        Cs=None,
        gammas=None,
        cv=5,
        degree=3,
        coef0=0.0,
        shrinking=True,
        probability=False,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        n_jobs=None,
        device="cpu",
    ):
        self.kernel = kernel
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.degree = degree
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Score all candidates and fits the best one on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row, in fits and in scores. Rows of weight 0 or less are ignored.

        Returns
        -------
        self
        """
        X, y, weights = self._prepare(X, y, sample_weight)
        codes = self._classes(y)
        row_weights = self._class_weights(codes, weights)
        costs = 2.0 ** np.arange(-5, 11, 3) if self.Cs is None else self._numbers("Cs")
        with self._fit_task(X, y, sample_weight=sample_weight):
            candidates = self._candidates(X, weights)
            scores = self._scores(X, candidates, costs, codes, self._folds(X, y, codes), weights)
            means = scores.mean(axis=2)
            # C before γ, as in a search over scikit-learn's grid.
            cost, best = np.unravel_index(np.argmax(means.T), means.T.shape)
            self._results(candidates, costs, scores)
            self._choice, self.gamma_ = candidates[best]
            self._gamma = self.gamma_
            self.C_, self.best_score_ = float(costs[cost]), float(means[best, cost])
            self.best_index_ = int(best * len(costs) + cost)
            self._fit_classes(X, codes, row_weights)
        return self

    def _settings(self):
        return {**super()._settings(), "C": self.C_}

    def _folds(self, X, y, codes):
        """Return each row's fold."""
        cv, n = 5 if self.cv is None else self.cv, len(codes)
        if not isinstance(cv, Integral):
            folds = folds_of(cv, X, y)
            self.n_splits_ = int(folds.max()) + 1
            return folds.astype(np.uintp)
        largest = int(np.bincount(codes.view(np.intp)).max())
        if not 2 <= cv <= n:
            raise ValueError(f"Cannot have number of splits n_splits={cv} for n_samples={n}: it is from 2 to n_samples")
        if cv > largest:
            raise ValueError(f"n_splits={cv} cannot be greater than the number of members in each class.")
        self.n_splits_ = int(cv)
        return _native.stratified_folds(codes, int(cv))

    def _scores(self, X, candidates, costs, codes, folds, weights):
        """Return the accuracy of each kernel with each C on each fold; −∞ for a kernel without finite values."""
        choices = [choice for choice, _ in candidates]
        problem = {
            "codes": codes,
            "classes": len(self.classes_),
            "folds": folds,
            "weights": weights,
            "class_weight": None if self.class_weight is None else self.class_weight_.tolist(),
            "cs": costs.tolist(),
            "tol": float(self.tol),
            "cache": self._cache_bytes(),
            "shrinking": bool(self.shrinking),
            "max_iter": None if self.max_iter == -1 else int(self.max_iter),
            "check": choices[0].checked,
        }
        with self._job() as job:
            if choices[0].native is not None:
                natives = [choice.native for choice in choices]
                found, told = _native.svc_grid(natives, borrowable(X), problem, job)
            else:
                K = np.ascontiguousarray(choices[0].matrix(X, None, job), dtype=np.float64)
                found, told = _native.svc_grid([], {"gram": K}, problem, job)
        for warning in told:
            warn(warning)
        splits = next(len(each[0]) for each in found if each is not None)
        missing = [[-np.inf] * splits] * len(costs)
        return np.array([missing if each is None else each for each in found])

    def _results(self, candidates, costs, scores):
        flat = scores.reshape(-1, scores.shape[2])
        means = flat.mean(axis=1)
        varied, values = self._varied(candidates)
        pairs = list(product(values, costs.tolist()))
        with np.errstate(invalid="ignore"):
            spread = flat.std(axis=1)
        self.cv_results_ = {
            "params": [{varied: value, "C": cost} for value, cost in pairs],
            "param_C": np.array([cost for _, cost in pairs]),
            f"param_{varied}": np.array([value for value, _ in pairs], dtype=object if varied == "kernel" else np.float64),
            **{f"split{fold}_test_score": column for fold, column in enumerate(flat.T)},
            "mean_test_score": means,
            "std_test_score": spread,
            "rank_test_score": ranks(means),
        }
