"""Base class of the estimators: input, parameters, training, warnings and model files."""

import json
import os
from contextlib import contextmanager
from functools import cache
from inspect import signature
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import _labels, _native, _work
from mercer._warn import warn

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # an experimental module of scikit-learn

    class CallbackSupportMixin:
        pass


__all__ = ["Estimator", "defaults", "fitting"]

#: Decorates the methods that fit: scikit-learn checks the parameters before them and closes its callbacks after them.
fitting = _fit_context(prefer_skip_nested_validation=True)


@cache
def defaults(estimator):
    """Return the default of each parameter of an estimator's class."""
    parameters = signature(estimator.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


class Estimator(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators.

    A subclass stores its parameters in ``__init__``; ``n_jobs`` and ``verbose`` must be among them. It keeps arrays and strings,
    so pickling and copying need no code. Its `_parameter_constraints` list the allowed values of each parameter.
    """

    _parameter_constraints: dict = {}

    #: The seed of the last fit.
    _fit_seed = 0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    # Input.

    def _fit_input(self, X, y, **checks):
        """Return X and y as checked arrays. X is C-ordered or CSR, float32 or float64, and is not copied if it already is."""
        return validate_data(self, X, y, **self._x_checks(), **checks)

    def _predict_input(self, X):
        """Return X, checked against the rows of `fit`."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._x_checks())

    def _takes_sparse(self):
        """Return whether X may be sparse. Sparse rows are not made dense."""
        return True

    def _x_checks(self):
        sparse = "csr" if self._takes_sparse() else False
        return {"accept_sparse": sparse, "dtype": [np.float64, np.float32], "order": "C"}

    # Randomness.

    def _seed(self):
        """Return a seed for the native code: `random_state` if it is an integer, a new draw for None, 0 if nothing is random."""
        random_state = getattr(self, "random_state", 0)
        if isinstance(random_state, Integral):
            return int(random_state)
        if random_state is None and not self._is_random():
            return 0
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def _is_random(self):
        """Return whether a fit with these parameters draws random numbers."""
        return True

    # Work.

    def _job(self):
        return _work.job(self.n_jobs, self.verbose, self._fit_seed, getattr(self, "device", "cpu"))

    @contextmanager
    def _fit_task(self, X, y, **metadata):
        """Run the fit as a single task of scikit-learn's callbacks."""
        if not getattr(self, "_skl_callbacks", None):
            yield
            return
        task = self._init_callback_context()
        task.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)
        yield
        # The estimator is fitted here: a copy of it can predict.
        task.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata, reconstruction_attributes={})

    def _train(self, settings, inputs, targets, weights=None, outputs=()):
        """Train the learner that the settings describe, and keep the document of its model file.

        Returns
        -------
        parts : dict
            The arrays and strings of its predictor.
        report : dict
            How the solver ended.
        """
        with self._job() as job:
            return self._trained(_native.train(settings, inputs, targets, weights, list(outputs), job))

    def _trained(self, found):
        parts, report, words = found
        self._words = json.loads(words)
        facts = json.loads(report["facts"])
        report["facts"] = {k: float(v) if v in ("inf", "-inf", "nan") else v for k, v in facts.items()}
        return parts, report

    def _report_result(self, report):
        """Store the report of a solver and issue its warnings."""
        self._report = report
        self.n_iter_ = max(1, report["iterations"])
        for warning in report["warnings"]:
            warn(warning)
        if report["status"] != "converged":
            warn("; ".join([self._not_converged(report), *report["reasons"]]), ConvergenceWarning)

    def _not_converged(self, report):
        if report["status"] == "stagnated":
            # The reasons that follow come with their own advice.
            advice = "rounding does not allow a smaller one" + ("" if report["reasons"] else ": increase tol")
        else:
            advice = "increase max_iter or tol"
        return (
            f"{type(self).__name__} did not converge: residual {report['residual']:.1e} "
            f"after {report['iterations']} iterations; {advice}"
        )

    # Files.

    def save(self, path):
        """Write the fitted model to a file that `mercer.load` and the command line can read.

        Raises
        ------
        ValueError
            If the model contains a Python object, such as a function, that a file cannot hold.
        """
        check_is_fitted(self)
        parts = self._parts()
        words = {**self._words, "feature_names": self._feature_names()}
        if hasattr(self, "classes_"):
            words["classes"], words["label_type"] = _labels.to_file(self.classes_)
        if getattr(self, "approx_", None) is not None:
            words["settings"] = {**words["settings"], "approx": self.approx_}
        _native.Model.of(parts, words).save(os.fspath(path))

    def _parts(self):
        """Return the predictor in the form that the native code takes."""
        raise NotImplementedError

    def _feature_names(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]
