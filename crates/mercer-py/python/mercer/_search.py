"""Common part of the estimators that choose their kernel's hyper-parameters by cross-validation."""

import numpy as np

from mercer._constraints import InvalidParameterError
from mercer._kernel_choice import PAIRWISE_NAMES, Formula
from mercer._rows import borrowable
from mercer.kernel import Kernel

__all__ = ["KernelSearch", "ranks", "folds_of"]


class KernelSearch:
    """Mixin of kernel machines with the parameters ``gammas`` and ``cv``."""

    #: The values of γ that None stands for, as multiples of 1/(n_features · variance).
    _default_gammas = np.geomspace(1e-3, 1e2, 10)

    def _candidates(self, X, weights=None):
        """Return the candidate kernels, each with its γ or None."""
        self._fit_seed = self._seed()
        kernel = self.kernel
        if isinstance(kernel, str) and kernel in PAIRWISE_NAMES:
            if "gamma" not in PAIRWISE_NAMES[kernel]:
                return [(self._choose_kernel(X), None)]
            found = [(self._named_kernel(kernel, gamma), gamma) for gamma in self._gammas(X, weights).tolist()]
            found[0][0].check(X)
            return found
        if self.gammas is not None:
            raise ValueError("gammas belong to scikit-learn's kernel names; write ? in the formula for what is to be chosen")
        if self._has_formula() and Kernel(kernel)._native.has_tunables():
            with self._job() as job:
                natives = Kernel(kernel)._native.candidates(borrowable(X), 10, job)
            return [(Formula(native), None) for native in natives]
        return [(self._choose_kernel(X), None)]

    def _gammas(self, X, weights):
        return self._scale_gamma(X, weights) * self._default_gammas if self.gammas is None else self._numbers("gammas")

    def _numbers(self, name):
        """Return a parameter that is a list of numbers above 0, checked."""
        try:
            values = np.atleast_1d(np.asarray(getattr(self, name), dtype=np.float64)).ravel()
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.size == 0 or not np.isfinite(values).all() or (values <= 0).any():
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(self).__name__} must be numbers above 0. Got {getattr(self, name)!r} instead."
            )
        return values

    def _varied(self, candidates):
        """Return the name of the parameter that varies among the candidates, and its value for each."""
        if candidates[0][1] is not None:
            return "gamma", [gamma for _, gamma in candidates]
        return "kernel", [self.kernel if choice.native is None else choice.native.text() for choice, _ in candidates]


def folds_of(cv, X, y):
    """Return the fold of each row, from an iterable of train and test rows or a splitter."""
    folds, rows, trains = np.full(len(y), -1), np.arange(len(y)), []
    for fold, (train, test) in enumerate(cv.split(X, y) if hasattr(cv, "split") else cv):
        if (folds[test] >= 0).any():
            raise ValueError("the test rows of cv overlap; each row may be in one fold only")
        folds[test] = fold
        trains.append(train)
    if (folds < 0).any():
        raise ValueError("cv leaves rows out of all folds; each row must be in one")
    for fold, train in enumerate(trains):
        if train is not None and not np.array_equal(np.sort(rows[train]), rows[folds != fold]):
            raise ValueError(
                f"the train rows of fold {fold} are not the rows that it does not test on; such a cv is for GridSearchCV"
            )
    return folds


def ranks(scores):
    """Return the rank of each score, 1 for the largest; equal scores share a rank."""
    return (1 + np.searchsorted(np.sort(-scores), -scores)).astype(np.int32)
