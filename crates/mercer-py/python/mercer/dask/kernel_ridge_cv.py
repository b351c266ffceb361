"""Kernel ridge regression on a Dask cluster that chooses its penalty and its kernel's width by cross-validation."""

from numbers import Integral

import numpy as np

from mercer import kernel_ridge_cv
from mercer._estimator import fitting
from mercer._native import Sums
from mercer.dask import _chunk
from mercer.dask._estimator import taking_client
from mercer.dask.kernel_ridge import RidgeOnDask

__all__ = ["KernelRidgeCV"]


class KernelRidgeCV(RidgeOnDask, kernel_ridge_cv.KernelRidgeCV):
    """Kernel ridge regression with α and γ chosen by k-fold cross-validation, on dask arrays and data frames.

    One pass over the rows for each kernel computes sums over the features of each fold, which give the errors of every α.

    Parameters
    ----------
    kernel, alphas, gammas, cv, scoring, degree, coef0, kernel_params, approx, bias, random_state, n_jobs, verbose
        As in `mercer.KernelRidgeCV`. ``approx`` must not be None and is ``"auto"`` by default; ``cv`` is a number of folds of
        consecutive rows; None is 5.
    client : dask.distributed.Client, default=None
        None for the current one.

    Attributes
    ----------
    alpha_, gamma_, best_score_, cv_results_, coef_, dual_coef_, X_fit_, intercept_, kernel_, approx_, quality_, n_features_in_,
    feature_names_in_
        As in `mercer.KernelRidgeCV`.
    """

    _in_memory = kernel_ridge_cv.KernelRidgeCV
    _parameter_constraints = {**kernel_ridge_cv.KernelRidgeCV._parameter_constraints, "client": "no_validation"}

    __init__ = taking_client(kernel_ridge_cv.KernelRidgeCV)

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Score every candidate, and fits the best on all rows.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
        y : dask array, series or data frame of shape (n_samples,) or (n_samples, n_targets)
            Partitioned like X.
        sample_weight : dask array or series of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._needs_features()
        folds = self._number_of_folds()
        with self._on_cluster() as cluster:
            rows, expected = self._partitions(X, y, sample_weight)
            alphas = self._alphas()
            found = self._found = self._survey(cluster, rows, expected, moments=True)
            self._forget()
            if not folds <= found.rows:
                raise ValueError(f"Cannot have number of splits n_splits={folds} for n_samples={found.rows}")
            if self.scoring == "r2" and found.rows < 2 * folds:
                raise ValueError("scoring='r2' needs 2 rows or more in each fold, and there is a fold of 1")
            candidates = self._candidates(found.sample)
            self._choice = candidates[len(candidates) // 2][0]
            self._settle_approx(found)
            starts = np.cumsum([0, *found.sizes])[:-1].tolist()
            ends = np.cumsum([len(part) for part in np.array_split(np.arange(found.rows), folds)]).tolist()
            scores, best = np.empty((len(candidates), len(alphas))), None
            for row, (choice, _) in zip(scores, candidates, strict=True):
                self._choice = choice
                prepared, shared = self._share_features(cluster, found)
                arguments = [(part, expected, shared, first, ends) for part, first in zip(rows.parts, starts, strict=True)]
                by_fold = cluster.reduce("sums", _chunk.fold_sums, arguments, _chunk.merge_folds)
                shared.release()
                sums = [part for part in by_fold.values() if part.weight > 0]
                if len(sums) < 2:
                    raise ValueError(f"cross-validation needs rows of positive weight in 2 folds or more, got {len(sums)}")
                sizes, spreads = [part.weight for part in sums], [part.spreads() for part in sums]
                row[:] = self._score_sums(sums, alphas, sizes, spreads)
                if best is None or row.max() > best[0]:
                    best = (row.max(), (prepared, Sums.total(sums)))
            if not np.isfinite(scores).any():
                raise ValueError("no candidate has a finite score: the data or the targets are too large, or alphas too small")
            place = np.unravel_index(np.argmax(scores), scores.shape)
            self._results(candidates, alphas, scores)
            self._choice, self.gamma_ = candidates[place[0]]
            self.alpha_, self.best_score_ = float(alphas[place[1]]), float(scores[place])
            names = self._target_names(rows)
            parts, report = self._solve_sums(*best[1], found.sample, np.array([self.alpha_]), names)
            self._keep(found.sample, parts, report, flat=rows.y_ndim == 1)
        self._report_result(report)
        return self

    def _number_of_folds(self):
        if self.cv is None:
            return 5
        if not isinstance(self.cv, Integral) or self.cv < 2:
            raise ValueError(f"cv must be None or a number of folds of at least 2 on dask collections. Got {self.cv!r} instead.")
        return int(self.cv)
