"""What every estimator shares: input, parameters, threads, progress, callbacks and model files."""

import os
import warnings
from contextlib import contextmanager
from functools import cache
from inspect import signature
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import _work

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an experimental module of scikit-learn

    class CallbackSupportMixin:
        pass

    def with_callbacks(method):
        return method


__all__ = ["Machine", "defaults", "with_callbacks"]


class Machine(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators.

    A subclass stores its parameters in ``__init__``, and its ``fit`` calls `_fit_input` and, inside ``with self._job() as
    job``, a native function. What it keeps are arrays and words, so that pickling and copying need nothing of their own.
    ``n_jobs`` and ``verbose`` must be among its parameters.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    # Input.

    def _fit_input(self, X, y, **checks):
        """X and y as checked arrays: X is C-ordered or CSR, float32 or float64, and itself where it is so already."""
        return validate_data(self, X, y, **self._x_checks(), **checks)

    def _predict_input(self, X):
        """X checked against what `fit` saw."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._x_checks())

    def _takes_sparse(self):
        """Whether X may be sparse; it then stays so."""
        return True

    def _x_checks(self):
        sparse = "csr" if self._takes_sparse() else False
        return {"accept_sparse": sparse, "dtype": [np.float64, np.float32], "order": "C"}

    # Parameters.

    def _check_real(self, name, low=None, values=None):
        """Refuses a parameter that is not a number of at least `low` (nor a word or None that the default allows)."""
        value = getattr(self, name)
        default = defaults(type(self))[name]
        if value is default or (isinstance(value, str) and isinstance(default, str) and value in ("scale", "auto")):
            return
        for number in np.ravel(value) if values is None else values:
            is_number = isinstance(number, Real) and not isinstance(number, (bool, np.bool_))
            if not is_number or not np.isfinite(number) or (low is not None and number < low):
                kind = TypeError if not is_number else ValueError
                bounds = f"[{low}, inf)" if low is not None else "(-inf, inf)"
                raise kind(
                    f"The {name!r} parameter of {type(self).__name__} must be a float in the range {bounds}. "
                    f"Got {value!r} instead."
                )

    def _check_option(self, name, options):
        value = getattr(self, name)
        if value not in options:
            raise ValueError(
                f"The {name!r} parameter of {type(self).__name__} must be one of {list(options)}. Got {value!r} instead."
            )

    def _seed(self):
        """A seed for the native code: an integer as it is, and 0 for None, so that a fit repeats itself."""
        random_state = getattr(self, "random_state", None)
        if random_state is None:
            return 0
        if isinstance(random_state, Integral) and random_state >= 0:
            return int(random_state)
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    # Work.

    def _job(self):
        return _work.job(self.n_jobs, self.verbose)

    @contextmanager
    def _fit_task(self, X, y, **metadata):
        """The fit as the one task that scikit-learn's callbacks follow."""
        if not getattr(self, "_skl_callbacks", None):
            yield
            return
        task = self._init_callback_context()
        task.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)
        yield
        # The estimator is fitted by now: a copy of it predicts without anything more.
        task.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata, reconstruction_attributes={})

    def _tell(self, report):
        """Passes on what the solver says of its answer."""
        self._report = report
        self.n_iter_ = max(1, report["iterations"])
        for warning in report["warnings"]:
            warnings.warn(warning, UserWarning, stacklevel=3)
        if report["status"] != "converged":
            warnings.warn(self._not_converged(report), ConvergenceWarning, stacklevel=3)
        elif report["status"] == "stagnated":
            warnings.warn(
                f"{type(self).__name__} did not converge: rounding does not allow a residual below "
                f"{report['residual']:.1e}; the model is the best one found",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _not_converged(self, report):
        stagnated = report["status"] == "stagnated"
        advice = "rounding does not allow a smaller one: increase tol" if stagnated else "increase max_iter or tol"
        return (
            f"{type(self).__name__} did not converge: residual {report['residual']:.1e} "
            f"after {report['iterations']} iterations; {advice}"
        )

    # Files.

    def save(self, path):
        """Writes the fitted model to a file that `mercer.load` and the command line read.

        Raises
        ------
        ValueError
            Where the model rests on something of Python's own, such as a function, which a file cannot hold.
        """
        check_is_fitted(self)
        self._model().save(os.fspath(path))

    def _feature_names(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]


@cache
def defaults(estimator):
    """The default of each parameter of an estimator's class."""
    parameters = signature(estimator.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}
