"""Support vector machines, with scikit-learn's parameters and attributes."""

from itertools import combinations

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from mercer import _native
from mercer._estimator import KernelClassifier, KernelEstimator, defaults, with_callbacks
from mercer._kernel_choice import MatrixFunction
from mercer._rows import borrowable, is_sparse
from mercer.kernel import Kernel

__all__ = ["NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"]

#: What C = inf stands for: large enough that no bound of this size is met where a hard margin exists.
_HARD = 1e10

#: Decisions held at once by `predict`: 128 MiB.
_AT_ONCE = 2**24

#: What machines on the kernel have and one on features has not.
_OF_SUPPORT = ("support_", "support_vectors_", "_n_support", "_dual_coef_", "_intercept_", "_probA", "_probB")


class SupportVectorMachine(KernelEstimator):
    """Base of the support vector machines, with the attributes of scikit-learn's.

    A subclass names its `_method`, and its ``fit`` calls `_prepare` and `_fit_machines`. ``tol``, ``cache_size``, ``shrinking``
    and ``max_iter`` must be among its parameters; ``C``, ``nu``, ``epsilon``, ``probability`` and ``random_state`` may be.

    Unlike the other estimators of this package, and as in scikit-learn, a callable kernel takes two lists of samples and returns
    their kernel matrix; the samples may be anything that it understands.
    """

    # Input.

    def _is_function(self):
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    def _prepare(self, X, y, sample_weight):
        """X and y checked, and the weights of the rows: None where all are 1, 0 for rows without influence."""
        if is_sparse(X) and isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        self._check_parameters()
        if not self._is_function():
            checked = self._fit_input(X, y) if y is not None else (self._fit_input(X, "no_validation"), None)
            X, y = checked
        elif y is not None:
            check_consistent_length(X, y)
        return X, y, self._weights(X, sample_weight)

    def _check_parameters(self):
        for name, low in (("C", 0), ("nu", 0), ("epsilon", 0), ("tol", 0), ("cache_size", 0), ("max_iter", -1)):
            if name not in defaults(type(self)):
                continue
            value = getattr(self, name)
            if name != "C" or value != np.inf:
                self._check_real(name, low=low)
            above = name in ("C", "nu", "tol", "cache_size")
            if (above and value <= 0) or (name == "nu" and value > 1):
                allowed = "(0, 1]" if name == "nu" else "(0, inf)"
                raise ValueError(
                    f"The {name!r} parameter of {type(self).__name__} must be a float in the range {allowed}. "
                    f"Got {value!r} instead."
                )

    def _weights(self, X, sample_weight):
        if sample_weight is None:
            return None
        rows = _num_samples(X)
        weights = np.array(sample_weight, dtype=np.float64)
        if weights.ndim == 0:
            weights = np.full(rows, weights)
        if weights.shape != (rows,):
            raise ValueError(
                f"sample_weight and X have incompatible shapes: sample_weight.shape == {weights.shape}, expected {(rows,)}!"
            )
        if not np.isfinite(weights).all():
            raise ValueError("sample_weight contains NaN or infinity")
        # As in LIBSVM, rows of negative weight do not count.
        np.maximum(weights, 0.0, out=weights)
        if not weights.any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return weights

    def _choice_for(self, X):
        return MatrixFunction(self.kernel, {}) if self._is_function() else super()._choice_for(X)

    def _gamma_for(self, name, X):
        gamma = super()._gamma_for(name, X)
        if gamma == 0 and isinstance(self.gamma, str):
            raise ValueError(
                "The dual coefficients or intercepts are not finite: the variance of X overflows, so that gamma='scale' is 0. "
                "The input data may contain large values and need to be preprocessed."
            )
        #: γ as a number, under the name that converters of scikit-learn's machines look for.
        self._gamma = gamma
        return gamma

    # Training.

    def _settings(self):
        settings = {
            "tol": float(self.tol),
            "cache": self._cache_bytes(),
            "shrinking": bool(self.shrinking),
            "max_iter": None if self.max_iter == -1 else int(self.max_iter),
            "probability": bool(getattr(self, "probability", False)),
        }
        given = {name: float(getattr(self, name)) for name in ("C", "nu", "epsilon") if hasattr(self, name)}
        if "C" in given:
            given["C"] = min(given["C"], _HARD)
        return settings | given

    def _cache_bytes(self):
        """The bytes of kernel rows to keep; None leaves it to the solver, which knows how much memory there is."""
        return None if self.cache_size == defaults(type(self))["cache_size"] else int(self.cache_size * 2**20)

    def _fit_machines(self, X, targets, weights):
        """Solves the problem and keeps the answer: the machines on the kernel, or the one on features."""
        self._forget(*_OF_SUPPORT)
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_num_samples(X),)
        parts, report = self._learn(X, targets, weights)
        self.fit_status_ = int(report["status"] != "converged")
        if getattr(self, "approx_", None) is None:
            self._keep_support(X, parts, report)
        else:
            self._keep(X, parts, report)
        self._tell(report)

    def _keep_support(self, X, parts, report):
        support, coefficients = report["centres"], parts["coefficients"]
        self._basis = {name: parts[name] for name in ("kernel", "domain")}
        self._sparse = is_sparse(X) and not self._is_function()
        self.support_ = support.astype(np.int32)
        self._n_support = np.asarray(parts.get("per_class", [len(support)]), dtype=np.int32)
        self._fit_rows = X if self._is_function() else None
        # A kernel that is a matrix or a function says nothing of the rows, and a prediction needs all of its columns.
        self.support_vectors_ = np.empty((0, 0)) if self._choice.native is None else X[support]
        self._dual_coef_ = _as_sparse(coefficients.T, X) if self._sparse else coefficients.T.copy()
        self.dual_coef_ = self._dual_coef_
        self._intercept_ = 0.0 - parts["rho"] if "rho" in parts else parts["intercepts"] + 0.0
        self.intercept_ = self._intercept_.copy()
        self._num_iter = np.maximum(1, report["iterations_of_each"]).astype(np.intp)

    def _not_converged(self, report):
        if report["status"] == "stagnated" or not hasattr(self, "support_"):
            return super()._not_converged(report)
        return (
            f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with "
            f"StandardScaler or MinMaxScaler. The optimality conditions are violated by {report['residual']:.1e}, "
            f"and tol is {self.tol:.1e}."
        )

    # Decisions.

    def _check_rows(self, X):
        """X checked against what `fit` saw."""
        check_is_fitted(self)
        if self._is_function():
            return X
        X = self._predict_input(X)
        if is_sparse(X) and not self._sparse:
            raise ValueError(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
        if self._choice.native is None and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, the number of samples at training time"
            )
        if self._choice.native is not None and self._n_support.sum() != self.support_vectors_.shape[0]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        self._choice.check(X)
        return X

    def _coefficients(self):
        """A row of dual coefficients per support vector."""
        dual = self._dual_coef_.toarray() if is_sparse(self._dual_coef_) else self._dual_coef_
        return np.ascontiguousarray(dual.T, dtype=np.float64)

    def _outputs(self, X):
        if self._choice.native is not None:
            nothing = hasattr(self, "support_") and not len(self.support_)
            return np.zeros((X.shape[0], 1)) + self._intercept_ if nothing else super()._outputs(X)
        # k(x, s) of every row x with every support vector s, for kernels that have only a matrix.
        with self._job() as job:
            K = np.asarray(self._choice.matrix(X, self._fit_rows, job), dtype=np.float64)
        return self._combine(K[:, self.support_]) + self._intercept_

    def _combine(self, columns):
        """The decisions from kernel values with the support vectors, without their constants."""
        return columns @ self._coefficients()

    def _parts(self):
        if not hasattr(self, "support_"):
            return super()._parts()
        parts = {**self._basis, "centres": borrowable(self.support_vectors_), "coefficients": self._coefficients()}
        return {**parts, "shift": None, "intercepts": self._intercept_}

    # Attributes.

    @property
    def n_support_(self):
        """Number of support vectors, of each class where there are classes."""
        if not hasattr(self, "_n_support"):
            why = "is not fitted yet" if getattr(self, "approx_", None) is None else "is fitted on features: it has none"
            raise AttributeError(f"this {type(self).__name__} {why}")
        return self._n_support

    @property
    def coef_(self):
        """The weights of the features, where ``kernel="linear"``."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        coef = self._linear_weights()
        # What is computed anew each time must not look as if it could be changed.
        (coef.data if is_sparse(coef) else coef).flags.writeable = False
        return coef

    def _linear_weights(self):
        return self.dual_coef_ @ self.support_vectors_


def _as_sparse(dense, like):
    """A matrix in the sparse format of another, zeros among its entries."""
    rows, columns = dense.shape
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    indptr = np.arange(rows + 1, dtype=np.int32) * np.int32(columns)
    return type(like)((dense.ravel(), indices, indptr), shape=dense.shape)


def _has_probabilities(machine):
    if not machine.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class SupportVectorClassifier(SupportVectorMachine, KernelClassifier):
    """Base of the classifiers by a machine for every pair of classes; ``class_weight``, ``probability``,
    ``decision_function_shape`` and ``break_ties`` are parameters."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix where ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            What each row counts. Rows of weight 0 or less do not count.

        Returns
        -------
        self
        """
        self._check_option("decision_function_shape", ("ovr", "ovo"))
        X, y, weights = self._prepare(X, y, sample_weight)
        codes = self._classes(y)
        weights = self._class_weights(codes, weights)
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._choose_kernel(X)
            self._fit_classes(X, codes, weights)
        return self

    def _fit_classes(self, X, codes, weights):
        self._fit_machines(X, (codes, len(self.classes_)), weights)

    def _keep_support(self, X, parts, report):
        super()._keep_support(X, parts, report)
        sigmoids = (self._words["calibration"] or {}).get("sigmoids", [])
        self._probA, self._probB = (np.array([sigmoid[name] for sigmoid in sigmoids]) for name in ("a", "b"))
        if len(self.classes_) == 2:
            # The one decision is for the second class.
            self.intercept_ = -self._intercept_
            self.dual_coef_ = -self._dual_coef_

    def _tell(self, report):
        super()._tell(report)
        if hasattr(self, "support_"):
            #: Steps of the solver for each pair of classes.
            self.n_iter_ = self._num_iter

    def _classes(self, y):
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes_)} class")
        return codes.astype(np.uintp, copy=False)

    def _class_weights(self, codes, weights):
        """The weights of the rows times those of their classes; None where all are 1. `class_weight_` are the latter."""
        self.class_weight_ = self._each_class_weight(codes)
        if weights is not None:
            counts = np.bincount(codes, weights, minlength=len(self.classes_))
            if not counts.all():
                self._refuse_absent(counts)
        if self.class_weight is None:
            return weights
        each = self.class_weight_[codes]
        return each if weights is None else each * weights

    def _each_class_weight(self, codes):
        if self.class_weight is None:
            return np.ones(len(self.classes_))
        if isinstance(self.class_weight, str):
            self._check_option("class_weight", ("balanced",))
            counts = np.bincount(codes, minlength=len(self.classes_))
            return len(codes) / (len(counts) * counts)
        labels = self.classes_.tolist()
        each = np.array([self.class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
        if (each < 0).any() or not np.isfinite(each).all():
            raise ValueError(f"The 'class_weight' parameter of {type(self).__name__} must hold numbers from 0 on.")
        unweighted = [label for label in labels if label not in self.class_weight]
        if unweighted and len(labels) - len(unweighted) != len(self.class_weight):
            raise ValueError(f"The classes, {unweighted}, are not in class_weight")
        return each

    def _refuse_absent(self, counts):
        if np.count_nonzero(counts) == 1:
            raise ValueError("Invalid input - all samples with positive weights belong to the same class")
        absent = self.classes_[counts == 0][0]
        raise ValueError(f"Invalid input - no sample of class {absent!r} has a positive weight")

    # Decisions.

    def _combine(self, columns):
        coefficients = self._coefficients()
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        of = [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
        pairs = combinations(range(len(self.classes_)), 2)
        each = [columns[:, of[i]] @ coefficients[of[i], j - 1] + columns[:, of[j]] @ coefficients[of[j], i] for i, j in pairs]
        return np.stack(each, axis=1)

    def _parts(self):
        parts = super()._parts()
        if not hasattr(self, "support_"):
            return parts
        return {**parts, "per_class": self._n_support, "rho": -parts.pop("intercepts")}

    def decision_function(self, X):
        """How each class, or each pair of classes, is decided at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes) where
            ``decision_function_shape="ovr"``, and (n_samples, n_classes * (n_classes - 1) / 2) where it is ``"ovo"``, positive
            for the first of each pair
        """
        check_is_fitted(self)
        if not hasattr(self, "support_"):
            return super().decision_function(X)
        decisions = self._outputs(self._check_rows(X))
        if len(self.classes_) == 2:
            return -decisions.ravel()
        return _native.rank_pairs(decisions) if self.decision_function_shape == "ovr" else decisions

    def predict(self, X):
        """The class at every row of X: the one that most pairs decide for.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if not hasattr(self, "support_"):
            return super().predict(X)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        X = self._check_rows(X)
        most = max(1, _AT_ONCE // len(self._intercept_))
        if not hasattr(X, "shape") or X.shape[0] <= most:
            codes = self._codes(X)
        else:
            codes = np.concatenate([self._codes(X[first : first + most]) for first in range(0, X.shape[0], most)])
        return self.classes_[codes]

    def _codes(self, X):
        decisions = self._outputs(X)
        if len(self.classes_) == 2:
            return (decisions[:, 0] <= 0).astype(np.intp)
        return _native.rank_pairs(decisions).argmax(axis=1) if self.break_ties else _native.vote_pairs(decisions)

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """The probability of each class at every row of X, where the model was fitted with ``probability=True``.

        They come from decisions on rows that were held out, so the class of the largest one may differ from `predict`.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        X = self._check_rows(X)
        if not len(self._probA):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return _native.couple_pairs(self._outputs(X), self._probA.tolist(), self._probB.tolist())

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    # Attributes.

    @property
    def probA_(self):
        """a of the sigmoid 1/(1 + e^(af + b)) of each pair of classes, where ``probability=True``."""
        return self._probA

    @property
    def probB_(self):
        """b of the sigmoid 1/(1 + e^(af + b)) of each pair of classes, where ``probability=True``."""
        return self._probB

    def _linear_weights(self):
        if len(self.classes_) == 2:
            return super()._linear_weights()
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        coefficients = self._coefficients()
        rows = []
        for i, j in combinations(range(len(self.classes_)), 2):
            row = np.zeros(len(coefficients))
            row[ends[i] : ends[i + 1]] = coefficients[ends[i] : ends[i + 1], j - 1]
            row[ends[j] : ends[j + 1]] = coefficients[ends[j] : ends[j + 1], i]
            rows.append(row)
        rows = np.array(rows)
        return (type(self.support_vectors_)(rows) if is_sparse(self.support_vectors_) else rows) @ self.support_vectors_

    def _rows_to_draw(self, X):
        if X is None and hasattr(self, "support_") and self._choice.native is not None:
            return self.support_vectors_
        return super()._rows_to_draw(X)


class SVC(SupportVectorClassifier):
    """Support vector classification: minimises ½‖w‖² + C Σᵢ max(0, 1 − yᵢf(xᵢ)) for every pair of classes.

    The problem, its stopping rule and the vote among pairs are those of LIBSVM; the answer is held against double precision.

    Parameters
    ----------
    C : float, default=1.0
        What a sample on the wrong side costs; ``inf`` counts as 1e10.
    kernel : str, Kernel or callable, default="rbf"
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"`` or another of scikit-learn's names, to which ``gamma``, ``degree`` and
        ``coef0`` belong; a kernel text (``"0.5*rbf(sigma=2) + (<x,z>+1)^3"``) or `Kernel`; ``"precomputed"``; or a function
        that takes two lists of samples and returns their kernel matrix.
    degree : float, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        ``"scale"`` is 1/(n_features · variance), ``"auto"`` 1/n_features.
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Whether rows that stay at their bounds are set aside for a while.
    probability : bool, default=False
        Whether `predict_proba` is wanted: sigmoids of held-out decisions from five parts of the rows, several times the work.
    tol : float, default=1e-3
        Stops when the optimality conditions are violated by no more than this.
    cache_size : float, default=200
        Megabytes of kernel rows to keep. The default leaves it to the solver, which takes up to a fifth of the memory there is.
    class_weight : dict, "balanced" or None, default=None
        A factor of C for each class; ``"balanced"`` is in inverse proportion to how often it occurs.
    verbose : bool, default=False
        Shows progress.
    max_iter : int, default=-1
        Steps of two variables at most, for each pair of classes; -1 for no limit that is met in practice.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether `decision_function` has a number for each pair of classes or for each class. Training is always by pairs.
    break_ties : bool, default=False
        Whether `predict` decides between classes of equally many votes by `decision_function`; else the first one wins.
    random_state : int, RandomState instance or None, default=None
        Cuts the rows into parts for ``probability=True``, and chooses what ``auto`` in a kernel looks at; None is a fixed seed.
    n_jobs : int, default=None
        Threads; None for all cores. The answer does not depend on it.
    approx : None, "auto" or str, default=None
        None for the kernel as it is. ``"fourier:1024"`` for so many random features, ``"nystrom:1000"`` for so many landmarks,
        ``"auto"`` as in `KernelRidge`: a linear machine on them for each class against all others, in O(n·D²) time for D features.
        `tol` then bounds how far the objective may be above its minimum, as a part of it. There are no support vectors, pairs of
        classes or probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_weight_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_SV,)
        Rows that are support vectors of any pair, class by class.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        Empty where the kernel is precomputed or a function.
    n_support_ : ndarray of shape (n_classes,)
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_SV)
        yα: in the column of a support vector, one for each other class in order.
    coef_ : {ndarray, sparse matrix} of shape (n_classes * (n_classes - 1) / 2, n_features)
        Weights of the features, where ``kernel="linear"``.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    probA_, probB_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The sigmoids 1/(1 + e^(af + b)) of the pairs; empty where ``probability=False``.
    fit_status_ : int
        0 where the solver reached ``tol``, else 1, with a warning.
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    shape_fit_ : tuple of int
    approx_ : str or None
        The approximation that was taken. With one, ``n_iter_`` is a number, ``intercept_`` has one entry for two classes and else one
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
        self.approx = approx

    def _check_parameters(self):
        super()._check_parameters()
        if self._check_approx() is None:
            return
        by_pairs = self.decision_function_shape == "ovo"
        for name, asked in (("probability=True", self.probability), ("decision_function_shape='ovo'", by_pairs)):
            if asked:
                raise ValueError(f"{name} needs a machine for every pair of classes, which approx={self.approx!r} does not train")

    def _fit_classes(self, X, codes, weights):
        self._choose_approx(X)
        super()._fit_classes(X, codes, weights)


class NuSVC(SupportVectorClassifier):
    """Support vector classification with ν in place of C (Schölkopf et al. 2000).

    ν bounds the fraction of margin errors from above and that of support vectors from below, for every pair of classes.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, and at most twice the share of the smaller class of each pair; more is an error that says how much is feasible.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count. LIBSVM's ν-classification takes no notice of it, this one does.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, verbose, max_iter, decision_function_shape,
    break_ties, random_state, n_jobs
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

    def _refuse_absent(self, counts):
        try:
            super()._refuse_absent(counts)
        except ValueError as error:
            raise ValueError(f"specified nu is infeasible: {error}") from None


class _Regression(RegressorMixin, SupportVectorMachine):
    """What the two regressions share."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix where ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A factor of C for each row. Rows of weight 0 or less do not count.

        Returns
        -------
        self
        """
        X, y, weights = self._prepare(X, y, sample_weight)
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._choose_kernel(X)
            self._fit_machines(X, np.ascontiguousarray(y).reshape(-1, 1), weights)
        return self

    def predict(self, X):
        """f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._outputs(self._check_rows(X))[:, 0]


class SVR(_Regression):
    """Support vector regression: minimises ½‖w‖² + C Σᵢ max(0, |yᵢ − f(xᵢ)| − ε).

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, n_jobs
        As in `SVC`.
    C : float, default=1.0
        What a unit of error beyond the tube costs; ``inf`` counts as 1e10.
    epsilon : float, default=0.1
        ε: half the width of the tube in which errors cost nothing.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
    n_support_ : ndarray of shape (1,)
    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_SV)
    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        Weights of the features, where ``kernel="linear"``.
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


class NuSVR(_Regression):
    """Support vector regression that finds the width of its tube: a fraction of at most ν of the rows lies outside.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0 and at most 1: bounds the fraction of rows outside of the tube from above and that of support vectors from below.
    C : float, default=1.0
        What a unit of error beyond the tube costs; ``inf`` counts as 1e10.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, n_jobs
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


class OneClassSVM(OutlierMixin, SupportVectorMachine):
    """One-class estimation: a function that is positive where samples like the given ones are (Schölkopf et al. 2001).

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, n_jobs
        As in `SVC`.
    nu : float, default=0.5
        Above 0 and at most 1: bounds the fraction of rows left outside from above and that of support vectors from below.

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

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix where ``kernel="precomputed"``.
        y : Ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            What each row counts. Rows of weight 0 or less do not count.

        Returns
        -------
        self
        """
        X, _, weights = self._prepare(X, None, sample_weight)
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._choose_kernel(X)
            self._fit_machines(X, None, weights)
            self.offset_ = -self._intercept_
        return self

    def decision_function(self, X):
        """Σᵢ aᵢ k(xᵢ, x) − ρ at every row of X: positive for inliers, negative for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,)
        """
        return self._outputs(self._check_rows(X))[:, 0]

    def score_samples(self, X):
        """Σᵢ aᵢ k(xᵢ, x) at every row of X.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """1 for inliers and -1 for outliers, at every row of X.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) > 0, 1, -1).astype(np.intp)
