"""Base class of the support vector machines, with the attributes of scikit-learn's classes."""

import numpy as np
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from mercer._constraints import ANY_KERNEL, FINITE, ON_DEVICE, POSITIVE, at_least
from mercer._estimator import defaults
from mercer._kernel_choice import MatrixFunction
from mercer._kernel_estimator import KernelEstimator
from mercer._rows import borrowable, is_sparse
from mercer.kernel import Kernel

__all__ = ["MACHINE", "SupportVectorMachine"]

#: The value used for C = inf: if a hard margin exists, no coefficient reaches a bound of this size.
_HARD = 1e10

#: The attributes of machines on the kernel that a machine on features does not have.
_OF_SUPPORT = ("support_", "support_vectors_", "_n_support", "_dual_coef_", "_intercept_", "_probA", "_probB")

#: Allowed values of the parameters of every machine.
MACHINE = {
    **ON_DEVICE,
    "kernel": ANY_KERNEL["kernel"],
    "gamma": ANY_KERNEL["gamma"],
    "degree": [at_least(0)],
    "coef0": [FINITE],
    "tol": [POSITIVE],
    "shrinking": ["boolean"],
    "cache_size": [POSITIVE],
    "max_iter": [at_least(-1)],
}


class SupportVectorMachine(KernelEstimator):
    """Base of the support vector machines, with the attributes of scikit-learn's classes.

    A subclass names its `_method`, and its ``fit`` calls `_prepare` and `_fit_machines`. ``tol``, ``cache_size``, ``shrinking``
    and ``max_iter`` must be among its parameters; ``C``, ``nu``, ``epsilon``, ``probability`` and ``random_state`` may be.

    Unlike the other estimators of this package, and as in scikit-learn, a callable kernel takes two lists of samples and returns
    their kernel matrix; the samples may be anything that it understands.
    """

    # Input.

    def _is_function(self):
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    def _prepare(self, X, y, sample_weight):
        """Return X and y, checked, and the weights of the rows: None if all are 1, 0 for rows that do not count."""
        if is_sparse(X) and isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        if not self._is_function():
            checked = self._fit_input(X, y) if y is not None else (self._fit_input(X, "no_validation"), None)
            X, y = checked
        elif y is not None:
            check_consistent_length(X, y)
        return X, y, self._weights(X, sample_weight)

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

    def _choice_for(self, X, weights=None):
        return MatrixFunction(self.kernel, {}) if self._is_function() else super()._choice_for(X, weights)

    def _gamma_for(self, name, X, weights=None):
        gamma = super()._gamma_for(name, X, weights)
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
            "probability": self._wants_probabilities(),
        }
        given = {name: float(getattr(self, name)) for name in ("C", "nu", "epsilon") if hasattr(self, name)}
        if "C" in given:
            given["C"] = min(given["C"], _HARD)
        return settings | given

    def _wants_probabilities(self):
        """Return whether ``probability`` requests probabilities; "deprecated", scikit-learn's default, does not."""
        probability = getattr(self, "probability", False)
        return not isinstance(probability, str) and bool(probability)

    def _is_random(self):
        return super()._is_random() or self._wants_probabilities()

    def _cache_bytes(self):
        """Return the size of the cache of kernel rows in bytes; None lets the solver choose by the machine's memory."""
        return None if self.cache_size == defaults(type(self))["cache_size"] else int(self.cache_size * 2**20)

    def _fit_machines(self, X, targets, weights):
        """Solve the problem and store the machines on the kernel, or the one on features."""
        self._forget(*_OF_SUPPORT)
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_num_samples(X),)
        parts, report = self._learn(X, targets, weights)
        self.fit_status_ = int(report["status"] != "converged")
        if getattr(self, "approx_", None) is None:
            self._keep_support(X, parts, report)
        else:
            self._keep(X, parts, report)
        self._report_result(report)

    def _keep_support(self, X, parts, report):
        support, coefficients = report["centres"], parts["coefficients"]
        self._basis = {name: parts[name] for name in ("kernel", "domain")}
        self._sparse = is_sparse(X) and not self._is_function()
        self.support_ = support.astype(np.int32)
        self._n_support = np.asarray(parts.get("per_class", [len(support)]), dtype=np.int32)
        self._fit_rows = X if self._is_function() else None
        # A kernel that is a matrix or a function is known only by its values, and a prediction needs all of its columns.
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
        """Return X, checked against the rows of `fit`."""
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
        """Return the dual coefficients, one row per support vector."""
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
        """Return the decisions without their intercepts, from kernel values with the support vectors."""
        return columns @ self._coefficients()

    def _parts(self):
        if not hasattr(self, "support_"):
            return super()._parts()
        parts = {**self._basis, "centres": borrowable(self.support_vectors_), "coefficients": self._coefficients()}
        return {**parts, "shift": None, "intercepts": self._intercept_}

    # Attributes.

    @property
    def n_support_(self):
        """Number of support vectors; of each class for a classifier."""
        if not hasattr(self, "_n_support"):
            why = "is not fitted yet" if getattr(self, "approx_", None) is None else "is fitted on features: it has none"
            raise AttributeError(f"this {type(self).__name__} {why}")
        return self._n_support

    @property
    def coef_(self):
        """Weights of the features; only with ``kernel="linear"``."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        coef = self._linear_weights()
        # Computed at each access, so it is read-only: a change would be lost.
        (coef.data if is_sparse(coef) else coef).flags.writeable = False
        return coef

    def _linear_weights(self):
        return self.dual_coef_ @ self.support_vectors_


def _as_sparse(dense, like):
    """Return a matrix in the sparse format of another, with zeros stored."""
    rows, columns = dense.shape
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    indptr = np.arange(rows + 1, dtype=np.int32) * np.int32(columns)
    return type(like)((dense.ravel(), indices, indptr), shape=dense.shape)
