"""What the estimators share: input, parameters, kernels, training, warnings, predictions and model files."""

import json
import os
import re
import sys
import warnings
from contextlib import contextmanager
from functools import cache
from inspect import signature
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import _labels, _native, _work
from mercer._kernel_choice import PAIRWISE_NAMES, Formula, Precomputed, of_function, of_name
from mercer._rows import borrowable, handed_back, is_sparse
from mercer.kernel import Kernel

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an experimental module of scikit-learn

    class CallbackSupportMixin:
        pass

    def with_callbacks(method):
        return method


__all__ = [
    "Components",
    "Estimator",
    "KernelClassifier",
    "KernelEstimator",
    "KernelRegressor",
    "defaults",
    "scale_gamma",
    "warn",
    "with_callbacks",
]

#: The parameters that belong to scikit-learn's kernel names alone.
_NAME_PARAMETERS = ("gamma", "degree", "coef0")

#: Entries of X that a temporary array may have.
_AT_ONCE = 2**18

#: Modules between a user's call and a warning.
_INSIDE = ("mercer.", "sklearn.callback.")


def warn(message, category=UserWarning):
    """Warns at the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@cache
def defaults(estimator):
    """The default of each parameter of an estimator's class."""
    parameters = signature(estimator.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


class Estimator(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators.

    A subclass stores its parameters in ``__init__``; ``n_jobs`` and ``verbose`` must be among them. It keeps arrays and words,
    so that pickling and copying need nothing of their own.
    """

    #: The seed of the last fit.
    _fit_seed = 0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    # Input.

    def _fit_input(self, X, y, **checks):
        """X and y as checked arrays: X is C-ordered or CSR, float32 or float64, and itself where it is so already."""
        return validate_data(self, X, y, **self._x_checks(), **checks)

    def _predict_input(self, X):
        """X checked against the rows of `fit`."""
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
        return _work.job(self.n_jobs, self.verbose, self._fit_seed)

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

    def _train(self, settings, inputs, targets, weights=None, outputs=()):
        """Trains the learner that the settings describe, and keeps the words of its model file.

        Returns
        -------
        parts : dict
            The arrays and words of its predictor.
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

    def _tell(self, report):
        """Keeps the report of a solver and passes on its warnings; they are of convergence where it did not converge."""
        self._report = report
        self.n_iter_ = max(1, report["iterations"])
        status, found = report["status"], list(report["warnings"])
        if status == "out_of_iterations" or (status != "converged" and not found):
            found.insert(0, self._not_converged(report))
        for warning in found:
            warn(warning, UserWarning if status == "converged" else ConvergenceWarning)

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
        parts = self._parts()
        words = {**self._words, "feature_names": self._feature_names()}
        if hasattr(self, "classes_"):
            words["classes"], words["label_type"] = _labels.to_file(self.classes_)
        if getattr(self, "approx_", None) is not None:
            words["settings"] = {**words["settings"], "approx": self.approx_}
        _native.Model.of(parts, words).save(os.fspath(path))

    def _parts(self):
        """The predictor as the native code takes it."""
        raise NotImplementedError

    def _feature_names(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]


class KernelEstimator(Estimator):
    """Base of the estimators with a ``kernel`` parameter.

    A subclass's ``fit`` calls `_choose_kernel` between `_fit_input` and `_learn`. ``gamma``, ``degree``, ``coef0``,
    ``kernel_params``, ``random_state`` and ``approx`` may be among its parameters.
    """

    #: The method's name in settings and model files.
    _method = None
    #: The parts of a predictor that is linear in features, or of one that votes; else they are made of the attributes.
    _kept = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        named = self.kernel if isinstance(self.kernel, str) else None
        tags.input_tags.pairwise = named == "precomputed"
        tags.input_tags.positive_only = named in ("chi2", "additive_chi2")
        return tags

    def _takes_sparse(self):
        return not isinstance(self.kernel, str) or self.kernel not in ("precomputed", "additive_chi2")

    def _regression_input(self, X, y, **checks):
        """X and y as checked arrays, the targets as a matrix, and their names: those of a table of pandas, else their places."""
        names = getattr(y, "columns", None)
        if names is None and getattr(y, "name", None) is not None:
            names = [y.name]
        X, y = self._fit_input(X, y, multi_output=True, y_numeric=True, **checks)
        targets = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
        return X, y, targets, [str(name) for name in (range(targets.shape[1]) if names is None else names)]

    # The kernel.

    def _choose_kernel(self, X):
        """What the ``kernel`` parameter stands for on X, kept for prediction; `kernel_` shows it."""
        self._fit_seed = self._seed()
        self._choice = self._choice_for(X)
        self._choice.check(X)
        return self._choice

    def _choice_for(self, X):
        kernel = self.kernel
        if isinstance(kernel, str):
            if kernel == "precomputed":
                if X.shape[0] != X.shape[1]:
                    raise ValueError(
                        f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
                    )
                return Precomputed()
            if kernel in PAIRWISE_NAMES:
                return self._named_kernel(kernel, X)
        elif callable(kernel) and not isinstance(kernel, Kernel):
            return of_function(kernel, getattr(self, "kernel_params", None) or {})
        elif not isinstance(kernel, Kernel):
            raise TypeError(
                f"The 'kernel' parameter of {type(self).__name__} must be one of {sorted(PAIRWISE_NAMES)}, "
                f"'precomputed', a kernel text, a mercer.Kernel or a callable. Got {kernel!r} instead."
            )
        self._refuse_name_parameters(kernel)
        return Formula(Kernel(kernel).resolve(X, random_state=self._fit_seed)._native)

    def _named_kernel(self, name, X, gamma=None):
        """The choice for one of scikit-learn's names, with this γ or the estimator's."""
        parameters = {p: getattr(self, p) for p in _NAME_PARAMETERS if hasattr(self, p)}
        for parameter in PAIRWISE_NAMES[name]:
            if parameter in parameters:
                self._check_real(parameter, low=None if parameter == "coef0" else 0)
        parameters["gamma"] = self._gamma_for(name, X) if gamma is None else gamma
        return of_name(name, **{"degree": 3, "coef0": 1, **parameters})

    def _gamma_for(self, name, X):
        """γ as a number: "scale" is 1/(d·var X), "auto" and None are 1/d, save that None is 1 for chi2."""
        gamma = getattr(self, "gamma", None)
        if gamma == "scale":
            return scale_gamma(X)
        if gamma is None and name == "chi2":
            return 1.0
        return 1.0 / X.shape[1] if gamma in (None, "auto") else gamma

    def _refuse_name_parameters(self, kernel):
        usual = defaults(type(self))
        given = [p for p in _NAME_PARAMETERS if p in usual and getattr(self, p) != usual[p]]
        if given:
            raise ValueError(
                f"{' and '.join(given)} belong to scikit-learn's kernel names, but kernel={str(kernel)!r} is a formula: "
                "write its hyper-parameters in the formula"
            )

    @property
    def kernel_(self):
        """The kernel that was fitted, every ``auto`` a number; None for a precomputed or callable kernel."""
        check_is_fitted(self)
        return None if self._choice.native is None else Kernel._of(self._choice.native)

    # Approximations of the kernel.

    def _check_approx(self):
        """The parameter: None for the kernel as it is, "auto" for a choice by the rows, else the kind and the number."""
        approx = self.approx
        if approx is None or approx == "auto":
            return approx
        if not isinstance(approx, str) or not re.fullmatch(r"fourier:\d+|nystrom:\d+", approx):
            raise ValueError(
                f"The 'approx' parameter of {type(self).__name__} must be None, 'auto', 'fourier:D' with a number D of "
                f"random features or 'nystrom:M' with a number M of landmarks. Got {approx!r} instead."
            )
        return approx

    def _choose_approx(self, X):
        """Sets `approx_`: the approximation that is asked for, or the one that "auto" takes for these rows."""
        self.approx_ = self._check_approx()
        native = self._choice.native
        if self.approx_ == "auto":
            self.approx_ = None
            if native is not None:
                with self._job() as job:
                    self.approx_ = _native.choose_approximation(native, borrowable(X), job)
        elif self.approx_ is not None and native is None:
            raise ValueError(
                f"approx={self.approx_!r} needs a kernel of the language, which a precomputed or callable kernel is not; "
                "use mercer.Nystroem and a linear model"
            )

    # Training.

    def _settings(self):
        """The settings of the library's learner that follow from the parameters, without the kernel."""
        return {}

    def _kernel_settings(self, **settings):
        """All settings of the library's learner."""
        admission = "check" if self._choice.checked else "assume"
        settings = {"method": self._method, "admission": admission, **self._settings(), **settings}
        if self._choice.native is not None:
            settings.update(kernel=self._choice.native, approx=getattr(self, "approx_", None))
        return settings

    def _learn(self, X, targets, weights=None, outputs=(), **settings):
        """Trains on rows, or on their kernel matrix where the kernel has no formula; as `_train`."""
        inputs = borrowable(X) if self._choice.native is not None else {"gram": self._gram(X)}
        return self._train(self._kernel_settings(**settings), inputs, targets, weights, outputs)

    def _gram(self, X):
        with self._job() as job:
            return np.ascontiguousarray(self._choice.matrix(X, None, job), dtype=np.float64)

    def _forget(self, *names):
        """Removes the attributes of a fit of another kind."""
        self._kept = None
        for name in ("coef_", "dual_coef_", "X_fit_", *names):
            vars(self).pop(name, None)

    def _keep(self, X, parts, report, flat=False, own_centres=False):
        """Keeps a predictor: Σᵢ aᵢ k(cᵢ, x) + b by its coefficients, and one that is linear in features by its parts.

        The centres are the rows of X, or the landmarks of an approximation, or others of the predictor's own. `flat` is for one
        output without an axis of its own.
        """
        self.intercept_ = float(parts["intercepts"][0]) if flat else parts["intercepts"]
        if "weights" in parts:
            self._kept = parts
            if not hasattr(type(self), "coef_"):
                # Support vector machines have another one.
                self.coef_ = parts["weights"].ravel() if flat else parts["weights"]
            return
        self._basis = {name: parts[name] for name in ("kernel", "domain", "shift")}
        dual, places = parts["coefficients"], report["centres"]
        if own_centres or getattr(self, "approx_", None) is not None:
            self.X_fit_ = handed_back(parts["centres"], X)
        else:
            self.X_fit_ = X
            if places is not None:
                # The others are zero.
                dual = np.zeros((X.shape[0], dual.shape[1]))
                dual[places] = parts["coefficients"]
        self.dual_coef_ = dual.ravel() if flat else dual

    # Predictions.

    def _outputs(self, X):
        """The outputs of the predictor at checked rows, one column each."""
        self._choice.check(X)
        if self._choice.native is None:
            dual = np.asarray(self.dual_coef_, dtype=np.float64)
            with self._job() as job:
                K = np.asarray(self._choice.matrix(X, self.X_fit_, job), dtype=np.float64)
            return K @ dual.reshape(len(dual), -1) + self.intercept_
        with self._job() as job:
            return _native.predict(self._parts(), borrowable(X), job)

    def _parts(self):
        if self._kept is not None:
            return self._kept
        dual = np.ascontiguousarray(self.dual_coef_, dtype=np.float64)
        return {
            **self._basis,
            "centres": borrowable(self._centred(self.X_fit_)),
            "coefficients": dual.reshape(dual.shape[0], -1),
            "intercepts": np.atleast_1d(self.intercept_),
        }

    def _centred(self, X):
        """X as the kernel sees it: centred where ``bias="column"``."""
        shift = self._basis["shift"]
        return X if shift is None else (X - shift).astype(X.dtype)

    def _rows_to_draw(self, X):
        if self._choice.native is None:
            raise ValueError("a precomputed or callable kernel has no plot: there is nothing to draw it over")
        if X is not None:
            return self._predict_input(X)
        if not hasattr(self, "X_fit_"):
            raise ValueError("random features keep no training rows: give rows to draw the model over, plot(X)")
        return self.X_fit_

    def save(self, path):
        """Writes the fitted model to a file that `mercer.load` and the command line read.

        Raises
        ------
        ValueError
            Where the kernel is a matrix or a function of Python, which a file cannot hold.
        """
        check_is_fitted(self)
        if self._choice.native is None:
            kernel = self.kernel if isinstance(self.kernel, str) else "a callable"
            raise ValueError(
                f"a model with kernel={kernel!r} cannot be saved: the file holds the kernel as a formula; "
                "use a kernel text, a mercer.Kernel or a named kernel, or pickle the estimator"
            )
        super().save(path)


class KernelRegressor(KernelEstimator):
    """Base of the regressions f(x) = Σᵢ aᵢ k(xᵢ, x) + b, with a ``bias`` parameter."""

    def predict(self, X):
        """f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            In the precision of X.
        """
        X = self._predict_input(X)
        return self._outputs(X).reshape(-1, *np.shape(self.intercept_)).astype(X.dtype, copy=False)

    def plot(self, X=None, y=None, *, ax=None):
        """Draws the model with matplotlib: the curve and its bumps for one feature, contours for two, else predicted
        against actual values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows to draw; None for the training rows.
        y : array-like of shape (n_samples,), default=None
            Their targets. More than two features need them.
        ax : matplotlib Axes, default=None
            Where to draw; None for the current axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        from mercer import _plot

        check_is_fitted(self)
        X, bumps = self._rows_to_draw(X), None
        if hasattr(self, "dual_coef_"):
            bumps = (self._basis["kernel"], self._centred, self.X_fit_, self.dual_coef_, self.intercept_)
        return _plot.draw(self.predict, X, y, names=self._feature_names(), bumps=bumps, ax=ax)

    def _takes_sparse(self):
        # Centring would fill in the zeros.
        return super()._takes_sparse() and self.bias != "column"

    def _choose_kernel(self, X):
        choice = super()._choose_kernel(X)
        if self.bias == "column" and choice.native is None:
            raise ValueError(
                "bias='column' centres the rows, which a precomputed or callable kernel hides; "
                "use bias='centred', which centres in the feature space"
            )
        return choice


class KernelClassifier(ClassifierMixin, KernelEstimator):
    """Base of the classifiers whose decision is f(x) = Σᵢ aᵢ k(xᵢ, x) + b, or linear in features.

    For two classes there is one decision, that for the second; for more there is one for each.
    """

    def _classes(self, y):
        """The codes of the classes of y; `classes_` are their names."""
        # A regression does not need this module.
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        return codes.ravel().astype(np.uintp)

    def decision_function(self, X):
        """f at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples where ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)
        """
        values = self._outputs(self._predict_input(X))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """The class at every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        codes = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes]

    def plot(self, X=None, y=None, *, ax=None):
        """Draws where each class wins, over two features, with matplotlib.

        Parameters
        ----------
        X : array-like of shape (n_samples, 2), default=None
            Rows to draw; None for those that the model keeps.
        y : array-like of shape (n_samples,), default=None
            Their classes.
        ax : matplotlib Axes, default=None
            Where to draw; None for the current axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        from mercer import _plot

        check_is_fitted(self)
        return _plot.draw_classes(self, self._rows_to_draw(X), y, names=self._feature_names(), ax=ax)


class Components(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Mixin of transformers with an ``n_components`` parameter and as many outputs, in the precision of their input."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_components(self):
        count = self.n_components
        if isinstance(count, bool) or not isinstance(count, Integral):
            kind = TypeError
        elif count < 1:
            kind = ValueError
        else:
            return int(count)
        raise kind(
            f"The 'n_components' parameter of {type(self).__name__} must be an int in the range [1, inf). "
            f"Got {count!r} instead."
        )

    def save(self, path):
        """Features alone are not a model.

        Raises
        ------
        ValueError
            Always; pickle them.
        """
        raise ValueError(
            f"{type(self).__name__} makes features, which alone are not a model: pickle it, "
            "or save a mercer.KernelRidge(approx=...)"
        )


def scale_gamma(X):
    """scikit-learn's ``gamma="scale"``: 1/(d·var X), 1 where X is constant."""
    if is_sparse(X):
        entries = X.shape[0] * X.shape[1]
        mean = X.data.sum(dtype=np.float64) / entries
        with np.errstate(over="ignore"):
            variance = np.square(X.data, dtype=np.float64).sum() / entries - mean**2
    else:
        variance = _variance(X)
    if variance == 0:
        return 1.0
    with np.errstate(over="ignore"):
        gamma = float(1.0 / (X.shape[1] * variance))
    if gamma == np.inf:
        raise ValueError(f"gamma='scale' is infinite for X of variance {variance}; scale X, or give a number")
    return gamma


def _variance(X):
    """The variance of all entries in double precision, a few rows at a time: X.var() would copy X."""
    rows = max(1, _AT_ONCE // max(1, X.shape[1]))
    if X.shape[0] <= rows:
        with np.errstate(over="ignore"):
            return X.var(dtype=np.float64)
    mean = X.mean(dtype=np.float64)
    with np.errstate(over="ignore"):
        parts = [np.square(X[i : i + rows] - mean).sum() for i in range(0, X.shape[0], rows)]
    return sum(parts) / X.size
