"""Support vector machines, with scikit-learn's parameters and attributes."""

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin
from sklearn.utils import column_or_1d

from mercer._constraints import NON_NEGATIVE, NU, PENALTY
from mercer._estimator import fitting
from mercer._file_fits import FileFits
from mercer._svm import MACHINE, SupportVectorMachine
from mercer._svm_classifier import CLASSIFIER, SupportVectorClassifier

__all__ = ["NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"]


class SVC(FileFits, SupportVectorClassifier):
    """Support vector classification: minimises ½‖w‖² + C Σᵢ max(0, 1 − yᵢf(xᵢ)) for every pair of classes.

    The problem, its stopping rule and the vote among pairs are those of LIBSVM; optimality is verified in double precision.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation; ``inf`` counts as 1e10.
    kernel : str, Kernel or callable, default="rbf"
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"`` or another of scikit-learn's names, to which ``gamma``, ``degree`` and
        ``coef0`` belong; a kernel text (``"0.5*rbf(sigma=2) + (<x,z>+1)^3"``) or `Kernel`; ``"precomputed"``; or a function
        that takes two lists of samples and returns their kernel matrix.
    degree : float, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        ``"scale"`` is 1/(n_features · variance), ``"auto"`` 1/n_features.
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Whether to use the shrinking heuristic.
    probability : bool, default=False
        Whether to enable `predict_proba`, by Platt scaling on five folds; several times the work.
    tol : float, default=1e-3
        Allowed violation of the optimality conditions.
    cache_size : float, default=200
        Cache for kernel rows in megabytes. With the default, the solver uses up to a fifth of the memory.
    class_weight : dict, "balanced" or None, default=None
        A factor of C for each class; ``"balanced"`` factors are inversely proportional to class frequencies.
    verbose : bool, default=False
        Shows progress.
    max_iter : int, default=-1
        Maximum number of steps for each pair of classes; -1 for no limit.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether `decision_function` has a number for each pair of classes or for each class. Training is always by pairs.
    break_ties : bool, default=False
        Whether `predict` breaks ties by `decision_function`; otherwise the first class wins.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds for ``probability=True`` and of the rows sampled for ``auto``; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    approx : None, "auto" or str, default=None
        None uses the exact kernel. ``"fourier:1024"`` uses 1,024 random features, ``"nystrom:1000"`` 1,000 landmarks,
        ``"auto"`` as in `KernelRidge`: a linear machine on them for each class against all others, in O(n·D²) time for D features.
        `tol` then bounds the relative suboptimality of the objective. There are no support vectors, pairs of
        classes or probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_weight_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_SV,)
        Rows that are support vectors of any pair, class by class.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        Empty if the kernel is precomputed or a function.
    n_support_ : ndarray of shape (n_classes,)
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_SV)
        yα: in the column of a support vector, one for each other class in order.
    coef_ : {ndarray, sparse matrix} of shape (n_classes * (n_classes - 1) / 2, n_features)
        Weights of the features; only with ``kernel="linear"``.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    probA_, probB_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The sigmoids 1/(1 + e^(af + b)) of the pairs; empty if ``probability=False``.
    fit_status_ : int
        0 if the solver reached ``tol``, else 1 with a warning.
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    shape_fit_ : tuple of int
    approx_ : str or None
        The approximation that was used. With one, ``n_iter_`` is a number, ``intercept_`` has one entry for two classes and else one
        for each, and landmarks are in ``X_fit_``, their coefficients in the rows of ``dual_coef_``.
    kernel_ : Kernel or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = SVC(kernel="linear").fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[-0.8, -1.0]]).tolist()
    ['no']
    >>> model.support_.tolist(), model.dual_coef_.tolist()
    ([0, 2], [[-0.25, 0.25]])
    """

    _method = "svc"
    _parameter_constraints = {**CLASSIFIER, **PENALTY, "approx": [str, None]}

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
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
        approx=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
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
        self.approx = approx

    def _prepare(self, X, y, sample_weight):
        self._check_parameters()
        return super()._prepare(X, y, sample_weight)

    def _check_parameters(self):
        """Raise ValueError for parameters that machines on features do not support."""
        by_pairs = self.decision_function_shape == "ovo"
        if self._check_approx() is not None:
            for name, asked in (("probability=True", self._wants_probabilities()), ("decision_function_shape='ovo'", by_pairs)):
                if asked:
                    raise ValueError(
                        f"{name} needs a machine for every pair of classes, which approx={self.approx!r} does not train"
                    )

    def _fit_classes(self, X, codes, weights):
        self._choose_approx(X)
        super()._fit_classes(X, codes, weights)


class NuSVC(SupportVectorClassifier):
    """Support vector classification with ν instead of C (Schölkopf et al. 2000).

    ν is an upper bound on the fraction of margin errors and a lower bound on the fraction of support vectors, for every pair
    of classes.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, and at most twice the share of the smaller class of each pair; larger values are an error that gives the limit.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class. LIBSVM's ν-classification ignores it; this one does not.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, verbose, max_iter, decision_function_shape,
    break_ties, random_state, n_jobs, device
        As in `SVC`.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, probA_, probB_, fit_status_,
    n_iter_, shape_fit_, kernel_, n_features_in_, feature_names_in_
        As in `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> NuSVC(nu=0.5, kernel="rbf(sigma=1)").fit(X, [0, 0, 1, 1]).predict([[-0.8, -1.0]]).tolist()
    [0]
    """

    _method = "nu-svc"
    _parameter_constraints = {**CLASSIFIER, **NU}

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
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
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
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

    def _refuse_absent(self, counts):
        try:
            super()._refuse_absent(counts)
        except ValueError as error:
            raise ValueError(f"specified nu is infeasible: {error}") from None


class _Regression(RegressorMixin, SupportVectorMachine):
    """Base of the two regressions."""

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A factor of C for each row. Rows of weight 0 or less are ignored.

        Returns
        -------
        self
        """
        X, y, weights = self._prepare(X, y, sample_weight)
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._choose_kernel(X, weights)
            self._fit_machines(X, np.ascontiguousarray(y).reshape(-1, 1), weights)
        return self

    def predict(self, X):
        """Return f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples if ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._outputs(self._check_rows(X))[:, 0]


class SVR(_Regression):
    """Support vector regression: minimises ½‖w‖² + C Σᵢ max(0, |yᵢ − f(xᵢ)| − ε).

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, n_jobs, device
        As in `SVC`.
    C : float, default=1.0
        Cost of errors beyond the tube; ``inf`` counts as 1e10.
    epsilon : float, default=0.1
        ε, half width of the tube within which errors cost nothing.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
    n_support_ : ndarray of shape (1,)
    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_SV)
    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        Weights of the features; only with ``kernel="linear"``.
    intercept_ : ndarray of shape (1,)
    fit_status_, n_iter_ : int
    shape_fit_ : tuple of int
    kernel_ : Kernel or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(kernel="rbf(sigma=1)", C=10, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.02)
    True
    """

    _method = "svr"
    _parameter_constraints = {**MACHINE, **PENALTY, "epsilon": [NON_NEGATIVE]}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        n_jobs=None,
        device="cpu",
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.device = device


class NuSVR(_Regression):
    """Support vector regression that learns the width of its tube: at most a fraction ν of the rows lies outside.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0 and at most 1: upper bound on the fraction of rows outside the tube and lower bound on the fraction of support vectors.
    C : float, default=1.0
        Cost of errors beyond the tube; ``inf`` counts as 1e10.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, n_jobs, device
        As in `SVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, fit_status_, n_iter_, shape_fit_, kernel_,
    n_features_in_, feature_names_in_
        As in `SVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = NuSVR(kernel="rbf(sigma=1)", C=10, nu=0.5).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    _method = "nu-svr"
    _parameter_constraints = {**MACHINE, **PENALTY, **NU}

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        n_jobs=None,
        device="cpu",
    ):
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.device = device


class OneClassSVM(OutlierMixin, SupportVectorMachine):
    """One-class estimation: a function that is positive near the training samples (Schölkopf et al. 2001).

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, n_jobs, device
        As in `SVC`.
    nu : float, default=0.5
        Above 0 and at most 1: upper bound on the fraction of outliers and lower bound on the fraction of support vectors.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, fit_status_, n_iter_, shape_fit_, kernel_,
    n_features_in_, feature_names_in_
        As in `SVR`.
    offset_ : ndarray of shape (1,)
        ρ: `decision_function` is `score_samples` less this.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1, kernel="rbf(sigma=1)").fit(X)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    """

    _method = "one-class"
    _parameter_constraints = {**MACHINE, **NU}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        n_jobs=None,
        device="cpu",
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.device = device

    @fitting
    def fit(self, X, y=None, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : Ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row. Rows of weight 0 or less are ignored.

        Returns
        -------
        self
        """
        X, _, weights = self._prepare(X, None, sample_weight)
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._choose_kernel(X, weights)
            self._fit_machines(X, None, weights)
            self._include_boundary(X)
            self.offset_ = -self._intercept_
        return self

    def _include_boundary(self, X):
        """Lower ρ, by less than the tolerance, so that the rows on the boundary are inliers.

        At the optimum the decision is 0 at the free support vectors. The solver finds it to within ``tol``, so without this step
        its sign there would be that of the error.
        """
        if self.fit_status_ != 0 or not len(self.support_):
            return
        rows = X[self.support_] if hasattr(X, "shape") else [X[i] for i in self.support_]
        decisions = self._outputs(rows)[:, 0]
        on_boundary = decisions[np.abs(decisions) <= self.tol]
        if len(on_boundary):
            single = getattr(X, "dtype", None) == np.float32
            precision = np.finfo(np.float32 if single else np.float64).eps
            rounding = 64 * precision * (np.abs(decisions).max() + np.abs(self._intercept_[0]))
            self._intercept_ = self._intercept_ - min(on_boundary.min(), 0.0) + rounding
            self.intercept_ = self._intercept_.copy()

    def decision_function(self, X):
        """Return Σᵢ aᵢ k(xᵢ, x) − ρ at every row of X: 0 or more for inliers, negative for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples if ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,)
        """
        return self._outputs(self._check_rows(X))[:, 0]

    def score_samples(self, X):
        """Return Σᵢ aᵢ k(xᵢ, x) at every row of X.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """Return 1 for inliers (decision 0 or more) and -1 for outliers, at every row of X.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
