"""What the support vector machines share."""

import json
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from mercer import _native
from mercer._base import KernelMachine
from mercer._kernel_choice import MatrixFunction
from mercer._machine import defaults
from mercer._rows import borrowable, is_sparse
from mercer.kernel import Kernel

__all__ = ["SupportVectorMachine"]

#: What C = inf stands for: large enough that no bound of this size is met where a hard margin exists.
_HARD = 1e10


class SupportVectorMachine(KernelMachine):
    """Base of the support vector machines, with the attributes of scikit-learn's.

    A subclass names its `_method`, and its ``fit`` calls `_prepare` and `_train`. ``tol``, ``cache_size``, ``shrinking`` and
    ``max_iter`` must be among its parameters; ``C``, ``nu``, ``epsilon``, ``probability`` and ``random_state`` may be.

    Unlike the other machines of this package, and as in scikit-learn, a callable kernel takes two lists of samples and returns
    their kernel matrix; the samples may be anything that it understands.
    """

    #: The method's name in model files.
    _method = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    # Input.

    def _is_function(self):
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    def _prepare(self, X, y, sample_weight):
        """X and y checked, and what each row counts: None where all count 1, 0 for rows that do not count."""
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

    def _targets(self, y):
        return column_or_1d(y, warn=True).astype(np.float64, copy=False)

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

    def _train(self, X, choice, weights, **problem):
        """Solves the problem and keeps the answer."""
        problem = {
            "method": self._method,
            "codes": None,
            "classes": 0,
            "targets": None,
            "weights": weights,
            "c": 1.0,
            "nu": 1.0,
            "epsilon": 0.0,
            "tol": float(self.tol),
            "cache": self._cache_bytes(),
            "shrinking": bool(self.shrinking),
            "max_iter": None if self.max_iter == -1 else int(self.max_iter),
            "probability": False,
            "seed": self._fit_seed,
            "admit": choice.checked,
            **problem,
        }
        with self._job() as job:
            if choice.native is not None:
                found = _native.fit_svm(choice.native, borrowable(X), problem, job)
            else:
                K = np.ascontiguousarray(choice.matrix(X, None, job), dtype=np.float64)
                found = _native.fit_svm_gram(K, problem, job)
        self._keep(X, found)

    def _cost(self):
        """C as a number for the solver."""
        return min(float(self.C), _HARD)

    def _cache_bytes(self):
        """The bytes of kernel rows to keep; None leaves it to the solver, which knows how much memory there is."""
        return None if self.cache_size == defaults(type(self))["cache_size"] else int(self.cache_size * 2**20)

    def _keep(self, X, found):
        support = found["support"]
        self._sparse = is_sparse(X) and not self._is_function()
        self.support_ = support.astype(np.int32)
        self._n_support = found["per_class"].astype(np.int32)
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_num_samples(X),)
        self._fit_rows = X if self._is_function() else None
        # A kernel that is a matrix or a function says nothing of the rows, and a prediction needs all of its columns.
        self.support_vectors_ = np.empty((0, 0)) if self._choice.native is None else X[support]
        self._dual_coef_ = _as_sparse(found["coefficients"].T, X) if self._sparse else found["coefficients"].T.copy()
        self.dual_coef_ = self._dual_coef_
        self._intercept_ = 0.0 - found["rho"]
        self.intercept_ = self._intercept_.copy()
        self._probA, self._probB = found["sigmoid_a"], found["sigmoid_b"]
        self._tell(found)

    def _tell(self, found):
        self.fit_status_ = 0 if found["converged"] else 1
        self._report = {
            "status": "converged" if found["converged"] else "stagnated" if found["stalled"] else "out_of_iterations",
            "violation": found["violation"],
            "gap": found["gap"],
            "objective": found["objective"],
        }
        self._domain = found["domain"]
        self._num_iter = np.maximum(1, found["iterations"]).astype(np.intp)
        for warning in found["warnings"]:
            kind = ConvergenceWarning if found["stalled"] and warning is found["warnings"][0] else UserWarning
            warnings.warn(warning, kind, stacklevel=4)
        if not found["converged"] and not found["stalled"]:
            warnings.warn(
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with "
                f"StandardScaler or MinMaxScaler. The optimality conditions are violated by {found['violation']:.1e}, "
                f"and tol is {self.tol:.1e}.",
                ConvergenceWarning,
                stacklevel=4,
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

    def _columns(self, X):
        """k(x, s) of every row x with every support vector s, for kernels that have only a matrix."""
        with self._job() as job:
            K = np.asarray(self._choice.matrix(X, self._fit_rows, job), dtype=np.float64)
        return K[:, self.support_]

    def _one_decision(self, X):
        """Σᵢ aᵢ k(xᵢ, x) − ρ at every row of X, for machines that have one of these."""
        X = self._check_rows(X)
        coefficients = self._coefficients()
        if self._choice.native is None:
            values = self._columns(X) @ coefficients
        elif not len(coefficients):
            values = np.zeros((X.shape[0], 1))
        else:
            with self._job() as job:
                centres, rows = borrowable(self.support_vectors_), borrowable(X)
                values = _native.expand(self._choice.native, self._domain, centres, coefficients, rows, job)
        return values[:, 0] + self._intercept_[0]

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

    # Files.

    def _settings(self):
        names = {"C": "C", "nu": "nu", "epsilon": "epsilon", "tol": "tol"}
        return {key: float(getattr(self, name)) for name, key in names.items() if name in defaults(type(self))}

    def _words(self):
        """Names of the features, settings and report of a model file, the latter two as JSON."""
        settings = json.dumps({"seed": self._fit_seed, **self._settings()})
        report = json.dumps({"rows": self.shape_fit_[0], "support_vectors": len(self.support_), **self._report})
        return self._feature_names(), settings, report

    def _one_model(self, classes=None):
        parts = {
            "kernel": self._choice.native,
            "domain": self._domain,
            "centres": borrowable(self.support_vectors_),
            "shift": None,
            "coefficients": self._coefficients(),
            "intercepts": self._intercept_.tolist(),
        }
        return _native.Model.expansion(parts, self._method, ["0"], *self._words(), classes)


def _as_sparse(dense, like):
    """A matrix in the sparse format of another, zeros among its entries."""
    rows, columns = dense.shape
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    indptr = np.arange(rows + 1, dtype=np.int32) * np.int32(columns)
    return type(like)((dense.ravel(), indices, indptr), shape=dense.shape)
