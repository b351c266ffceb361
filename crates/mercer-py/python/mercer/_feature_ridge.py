"""Ridge regression on features that stand in for a kernel: at once, in chunks, and in parts that are merged."""

import warnings

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer import _native
from mercer._approximation import Approximated
from mercer._expansion import ExpansionMachine, column_names
from mercer._rows import borrowable

__all__ = ["FeatureFits", "FeatureRidge"]


def _streams(ridge):
    if ridge.approx in (None, "auto") or ridge.solver != "auto":
        raise AttributeError(
            "partial_fit needs features that are known beforehand: approx='fourier:1024' or 'nystrom:1000', "
            "with solver='auto'"
        )
    return True


class FeatureFits(Approximated, ExpansionMachine):
    """Base of ridge regression that may be fitted on features: what is prepared, solved from sums, and kept."""

    def _check_approx(self):
        approx = super()._check_approx()
        if self.bias == "column" and approx is not None:
            raise ValueError("bias='column' is not for approximate features; use 'centred' or 'none'")
        return approx

    def _prepare(self, approx, X):
        """The features as the native code takes them, and the landmarks among the rows of X; None for random features."""
        kernel, checked = self._choice.native, self._choice.checked
        with self._job() as job:
            features = _native.prepare_features(kernel, borrowable(X), approx, self._fit_seed, checked, job)
        self._domain, self._warning = features.pop("domain"), features.pop("warning")
        if "indices" not in features:
            return features, None
        landmarks = X[features.pop("indices")]
        features["landmarks"] = borrowable(landmarks)
        return features, landmarks

    def _sums_problem(self, alpha):
        return {"alpha": alpha.tolist(), "intercept": self.bias == "centred", "seed": self._fit_seed}

    def _solve_sums(self, features, sums, rows, alpha, job):
        """The weights and intercepts; keeps how well the features do, where there are rows to tell by."""
        rows = None if rows is None else borrowable(rows)
        found, quality = _native.fit_ridge_sums(features, sums, rows, self._sums_problem(alpha), job)
        vars(self).pop("quality_", None)
        if quality is not None:
            self.quality_ = quality
        return self._told(features, *found, sums.rows)

    def _told(self, features, weights, intercepts, report, rows):
        """The weights and intercepts of a fit whose report is passed on."""
        report["domain"] = self._domain
        report["rows"] = rows
        if self._warning is not None:
            report["warnings"].append(self._warning)
        self._tell(report)
        self._linear = None if "landmarks" in features else (features, weights)
        return weights, intercepts

    def _keep_fit(self, y, weights, intercepts, landmarks, output_names):
        """Keeps an expansion in rows, or a linear function of random features."""
        if landmarks is not None:
            self._keep(landmarks, y, weights, intercepts, output_names)
            return
        self.coef_ = weights.ravel() if y.ndim == 1 else weights
        self.intercept_ = float(intercepts[0]) if y.ndim == 1 else intercepts
        self._output_names = output_names or [str(i) for i in range(weights.shape[1])]

    def _forget(self, *names):
        super()._forget("quality_", *names)


class FeatureRidge(FeatureFits):
    """Base of ridge regression with an ``approx`` parameter, at once or in chunks."""

    #: The features as the native code takes them, and the sums over them, where `partial_fit` goes on from them.
    _features = None
    _landmarks = None
    _sums = None
    _settled = None

    def _fit_features(self, approx, X, targets, alpha, weights):
        """Fits on features, and says how well they do."""
        features, landmarks = self._prepare(approx, X)
        with self._job() as job:
            #: kernel_error, effective_dimension and mse with half of the features, all and twice as many.
            found, self.quality_ = _native.fit_ridge_features(
                features, borrowable(X), (targets, weights), self._sums_problem(alpha), job
            )
        return (*self._told(features, *found, X.shape[0]), landmarks)

    def _settles(self):
        """What the first `partial_fit` settles for the others."""
        return repr((self.approx, self.kernel, self.bias))

    def _forget(self):
        self._features = self._landmarks = self._sums = self._settled = None
        super()._forget("n_samples_seen_")

    @available_if(_streams)
    def partial_fit(self, X, y, sample_weight=None):
        """Adds rows to the sums that the fit follows from, and solves them: chunk after chunk, the same fit as of all rows at
        once.

        It needs ``approx``. The first call settles the features: ``auto`` in the kernel and landmarks look at its rows.

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
            warnings.warn(
                "partial_fit begins anew: the rows that fit has seen are forgotten, as fit keeps nothing to go on from",
                UserWarning,
                stacklevel=2,
            )
        if not first and self._settled != self._settles():
            raise ValueError("approx, kernel or bias was changed after the first partial_fit; begin anew on a clone")
        output_names = column_names(y)
        X, y = self._fit_input(X, y, multi_output=True, y_numeric=True, reset=first)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        targets = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
        alpha = self._alphas(targets.shape[1])
        if first:
            self._forget()
            self._settled = self._settles()
            self._choose_kernel(X)
            self._shift = None
            features, landmarks = self._prepare(self._chosen_approx(X), X)
        else:
            features, landmarks = self._features, self._landmarks
            if targets.shape[1] != self._sums.targets:
                raise ValueError(f"y has {targets.shape[1]} targets, but the rows before had {self._sums.targets}")
        with self._job() as job:
            chunk = _native.sum_features(features, borrowable(X), targets, sample_weight, job)
            if not first:
                chunk.merge(self._sums)
            # The rows count, even where there are too few of them for an answer yet.
            self._features, self._landmarks, self._sums = features, landmarks, chunk
            self.n_samples_seen_ = chunk.rows
            found = self._solve_sums(features, chunk, X, alpha, job)
        self.residual_ = self._report["residual"]
        names = output_names or (None if first else getattr(self, "_output_names", None))
        self._keep_fit(y, *found, landmarks, names)
        return self

    def merge(self, other):
        """Adds the rows that another estimator has seen in `partial_fit`: the same fit as of the rows of both.

        Both must have the same features. Random features are, with the same kernel without ``auto`` and the same
        ``random_state``; landmarks are where both started as copies of one estimator after its first `partial_fit`.

        Parameters
        ----------
        other : estimator of the same class, which stays as it is

        Returns
        -------
        self
        """
        for estimator in (self, other):
            check_is_fitted(estimator)
            if getattr(estimator, "_sums", None) is None:
                raise ValueError("merge needs the sums over the rows, which partial_fit keeps and fit does not")
        if not _same(self._features, other._features):
            raise ValueError(
                "merge needs the same features on both sides: the same approx and random_state and a kernel without auto, "
                "such as kernel=first.kernel_; or, for landmarks, copies of one estimator after its first partial_fit"
            )
        if self._sums.targets != other._sums.targets:
            raise ValueError(f"one has {self._sums.targets} targets, the other {other._sums.targets}")
        sums = _native.Sums.from_bytes(self._sums.to_bytes())
        sums.merge(other._sums)
        alpha = self._alphas(sums.targets)
        with self._job() as job:
            weights, intercepts = self._solve_sums(self._features, sums, None, alpha, job)
        self._sums, self.residual_ = sums, self._report["residual"]
        single = np.empty(0) if np.ndim(self.intercept_) == 0 else np.empty((0, sums.targets))
        self._keep_fit(single, weights, intercepts, getattr(self, "X_fit_", None), self._output_names)
        self.n_samples_seen_ = sums.rows
        return self


def _same(one, other):
    """Whether two nests of dicts, tuples, arrays and words are equal."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    return np.array_equal(one, other)
