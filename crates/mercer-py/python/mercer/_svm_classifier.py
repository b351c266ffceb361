"""Base class of the support vector classifiers: one machine for every pair of classes."""

from itertools import combinations

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._constraints import CLASS_WEIGHT, PROBABILITY, one_of
from mercer._estimator import fitting
from mercer._kernel_classifier import KernelClassifier
from mercer._rows import is_sparse
from mercer._svm import MACHINE, SupportVectorMachine

__all__ = ["CLASSIFIER", "SupportVectorClassifier"]

#: Number of decisions that `predict` holds at once: 128 MiB.
_AT_ONCE = 2**24

#: Allowed values of the parameters of every classifier.
CLASSIFIER = {
    **MACHINE,
    **CLASS_WEIGHT,
    **PROBABILITY,
    "decision_function_shape": [one_of("ovr", "ovo")],
    "break_ties": ["boolean"],
    "random_state": ["random_state"],
}


def _has_probabilities(machine):
    if not machine._wants_probabilities():
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class SupportVectorClassifier(SupportVectorMachine, KernelClassifier):
    """Base of the classifiers with one machine for every pair of classes; ``class_weight``, ``probability``,
    ``decision_function_shape`` and ``break_ties`` are parameters."""

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row. Rows of weight 0 or less are ignored.

        Returns
        -------
        self
        """
        X, y, weights = self._prepare(X, y, sample_weight)
        codes = self._classes(y)
        row_weights = self._class_weights(codes, weights)
        with self._fit_task(X, y, sample_weight=sample_weight):
            self._choose_kernel(X, weights)
            self._fit_classes(X, codes, row_weights)
        return self

    def _fit_classes(self, X, codes, weights):
        self._fit_machines(X, (codes, len(self.classes_)), weights)

    def _keep_support(self, X, parts, report):
        super()._keep_support(X, parts, report)
        sigmoids = (self._words["calibration"] or {}).get("sigmoids", [])
        self._probA, self._probB = (np.array([sigmoid[name] for sigmoid in sigmoids]) for name in ("a", "b"))
        if len(self.classes_) == 2:
            # The single decision is for the second class.
            self.intercept_ = -self._intercept_
            self.dual_coef_ = -self._dual_coef_

    def _report_result(self, report):
        super()._report_result(report)
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
        """Return the weights of the rows times those of their classes, None if all are 1. Sets `class_weight_` to the latter."""
        self.class_weight_ = self._each_class_weight(np.bincount(codes.view(np.intp), minlength=len(self.classes_)))
        if weights is not None:
            counts = np.bincount(codes.view(np.intp), weights, minlength=len(self.classes_))
            if not counts.all():
                self._refuse_absent(counts)
        if self.class_weight is None:
            return weights
        each = self.class_weight_[codes]
        return each if weights is None else each * weights

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
        return {**parts, "kind": "pairs", "per_class": self._n_support, "rho": -parts.pop("intercepts")}

    def decision_function(self, X):
        """Return the decision for each class, or for each pair of classes, at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples if ``kernel="precomputed"``.

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
        """Return the class of every row of X: the one that wins the most pairs.

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
        """Return the probability of each class at every row of X; requires a fit with ``probability=True``.

        They are calibrated on held-out rows, so the class of the largest probability may differ from `predict`.

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
        """Return the logarithm of `predict_proba`.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    # Attributes.

    @property
    def probA_(self):
        """a of the sigmoid 1/(1 + e^(af + b)) of each pair of classes; empty if ``probability=False``."""
        return self._probA

    @property
    def probB_(self):
        """b of the sigmoid 1/(1 + e^(af + b)) of each pair of classes; empty if ``probability=False``."""
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
