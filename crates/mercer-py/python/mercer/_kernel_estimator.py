"""Base class of the estimators with a kernel: choice of the kernel and its approximation, training, prediction."""

import re

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._constraints import InvalidParameterError
from mercer._estimator import Estimator, defaults
from mercer._gamma import scale_gamma
from mercer._kernel_choice import PAIRWISE_NAMES, Formula, Precomputed, of_function, of_name
from mercer._rows import borrowable, handed_back
from mercer.kernel import Kernel

__all__ = ["KernelEstimator"]

#: The parameters that apply only to scikit-learn's kernel names.
_NAME_PARAMETERS = ("gamma", "degree", "coef0")


class KernelEstimator(Estimator):
    """Base of the estimators with a ``kernel`` parameter.

    A subclass's ``fit`` calls `_choose_kernel` between `_fit_input` and `_learn`. ``gamma``, ``degree``, ``coef0``,
    ``kernel_params``, ``random_state`` and ``approx`` may be among its parameters.
    """

    #: Name of the method in settings and model files.
    _method = None
    #: The parts of a predictor that is linear in features or that votes; others are built from the attributes.
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
        """Return X and y as checked arrays, the targets as a matrix, and their names: pandas column names, else indices."""
        names = getattr(y, "columns", None)
        if names is None and getattr(y, "name", None) is not None:
            names = [y.name]
        X, y = self._fit_input(X, y, multi_output=True, y_numeric=True, **checks)
        targets = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
        return X, y, targets, [str(name) for name in (range(targets.shape[1]) if names is None else names)]

    # The kernel.

    def _is_random(self):
        return getattr(self, "approx", None) is not None or (
            self._has_formula() and not Kernel(self.kernel)._native.is_resolved()
        )

    def _has_formula(self):
        """Return whether the ``kernel`` parameter is a formula rather than a name, a matrix or a function."""
        named = isinstance(self.kernel, str) and self.kernel in (*PAIRWISE_NAMES, "precomputed")
        return isinstance(self.kernel, (str, Kernel)) and not named

    def _choose_kernel(self, X, weights=None):
        """Resolve the ``kernel`` parameter for X and store the result for prediction; `kernel_` shows it."""
        self._fit_seed = self._seed()
        self._choice = self._choice_for(X, weights)
        self._choice.check(X)
        return self._choice

    def _choice_for(self, X, weights=None):
        kernel = self.kernel
        if self._has_formula():
            self._refuse_name_parameters(kernel)
            return Formula(Kernel(kernel).resolve(X, random_state=self._fit_seed)._native)
        if not isinstance(kernel, str):
            return of_function(kernel, getattr(self, "kernel_params", None) or {})
        if kernel != "precomputed":
            return self._named_kernel(kernel, self._gamma_for(kernel, X, weights))
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        return Precomputed()

    def _named_kernel(self, name, gamma):
        """Return the choice for one of scikit-learn's names with this γ."""
        parameters = {p: getattr(self, p) for p in _NAME_PARAMETERS if hasattr(self, p)}
        return of_name(name, **{"degree": 3, "coef0": 1, **parameters, "gamma": gamma})

    def _gamma_for(self, name, X, weights=None):
        """Return γ as a number: "scale" is 1/(d·var X), "auto" and None are 1/d, except that None is 1 for chi2."""
        gamma = getattr(self, "gamma", None)
        if isinstance(gamma, str) and gamma == "scale":
            return self._scale_gamma(X, weights)
        if gamma is None and name == "chi2":
            return 1.0
        return 1.0 / X.shape[1] if gamma is None or isinstance(gamma, str) else gamma

    def _scale_gamma(self, X, weights=None):
        return scale_gamma(X, weights)

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
        """The fitted kernel, with a number for every ``auto``; None for a precomputed or callable kernel."""
        check_is_fitted(self)
        return None if self._choice.native is None else Kernel._of(self._choice.native)

    # Approximations of the kernel.

    def _check_approx(self):
        """Return the parameter, checked: None for the exact kernel, "auto" for a choice by the rows, else kind and number."""
        approx = self.approx
        if approx is None or approx == "auto":
            return approx
        if not isinstance(approx, str) or not re.fullmatch(r"fourier:\d+|nystrom:\d+", approx):
            raise InvalidParameterError(
                f"The 'approx' parameter of {type(self).__name__} must be None, 'auto', 'fourier:D' with a number D of "
                f"random features or 'nystrom:M' with a number M of landmarks. Got {approx!r} instead."
            )
        return approx

    def _choose_approx(self, X, rows=None):
        """Set `approx_` to the requested approximation, or to the one that "auto" chooses for `rows` rows, of which X is a
        sample; if `rows` is None, X is all of them."""
        self.approx_ = self._check_approx()
        native = self._choice.native
        if self.approx_ == "auto":
            self.approx_ = None
            if native is not None:
                with self._job() as job:
                    self.approx_ = _native.choose_approximation(native, borrowable(X), X.shape[0] if rows is None else rows, job)
        elif self.approx_ is not None and native is None:
            raise ValueError(
                f"approx={self.approx_!r} needs a kernel of the language, which a precomputed or callable kernel is not; "
                "use mercer.Nystroem and a linear model"
            )

    # Training.

    def _settings(self):
        """Return the settings of the library's learner that follow from the parameters, except the kernel."""
        return {}

    def _kernel_settings(self, **settings):
        """Return all settings of the library's learner."""
        kernel_check = "check" if self._choice.checked else "assume"
        settings = {"method": self._method, "kernel_check": kernel_check, **self._settings(), **settings}
        if self._choice.native is not None:
            settings.update(kernel=self._choice.native, approx=getattr(self, "approx_", None))
        return settings

    def _learn(self, X, targets, weights=None, outputs=(), **settings):
        """Train on rows, or on their kernel matrix if the kernel has no formula; returns what `_train` returns."""
        inputs = borrowable(X) if self._choice.native is not None else {"gram": self._gram(X)}
        return self._train(self._kernel_settings(**settings), inputs, targets, weights, outputs)

    def _gram(self, X):
        with self._job() as job:
            return np.ascontiguousarray(self._choice.matrix(X, None, job), dtype=np.float64)

    def _forget(self, *names):
        """Delete the attributes that a previous fit of another kind has set."""
        self._kept = None
        for name in ("coef_", "dual_coef_", "X_fit_", *names):
            vars(self).pop(name, None)

    def _keep(self, X, parts, report, flat=False, own_centres=False):
        """Store a predictor: Σᵢ aᵢ k(cᵢ, x) + b as its coefficients, one that is linear in features as its parts.

        The centres are the rows of X, the landmarks of an approximation, or centres of the predictor itself. `flat` drops the
        axis of a single output.
        """
        self.intercept_ = float(parts["intercepts"][0]) if flat else parts["intercepts"]
        if "weights" in parts:
            self._kept = parts
            if not hasattr(type(self), "coef_"):
                # Support vector machines define coef_ themselves.
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
        """Return the outputs of the predictor at checked rows, one column each."""
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
        """Return the rows to which the kernel applies: X, centred if ``bias="column"``."""
        shift = self._basis["shift"]
        return X if shift is None else (X - shift).astype(X.dtype)

    def _rows_to_draw(self, X):
        if self._choice.native is None:
            raise ValueError("a model with a precomputed or callable kernel cannot be plotted: it has no rows to draw over")
        if X is not None:
            return self._predict_input(X)
        if not hasattr(self, "X_fit_"):
            raise ValueError("a model on random features keeps no training rows: pass the rows to draw over, plot(X)")
        return self.X_fit_

    def save(self, path):
        """Write the fitted model to a file that `mercer.load` and the command line can read.

        Raises
        ------
        ValueError
            If the kernel is a matrix or a Python function, which a file cannot hold.
        """
        check_is_fitted(self)
        if self._choice.native is None:
            kernel = self.kernel if isinstance(self.kernel, str) else "a callable"
            raise ValueError(
                f"a model with kernel={kernel!r} cannot be saved: the file holds the kernel as a formula; "
                "use a kernel text, a mercer.Kernel or a named kernel, or pickle the estimator"
            )
        super().save(path)
