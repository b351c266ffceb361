"""What every kernel machine shares: input, the ``kernel`` parameter, threads, progress, callbacks and model files."""

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
from mercer._kernel_choice import PAIRWISE_NAMES, Formula, Precomputed, of_function, of_name
from mercer._rows import is_sparse
from mercer.kernel import Kernel

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an experimental module of scikit-learn

    class CallbackSupportMixin:
        pass

    def with_callbacks(method):
        return method


__all__ = ["KernelMachine", "with_callbacks"]

#: The parameters that belong to scikit-learn's kernel names alone.
_NAME_PARAMETERS = ("gamma", "degree", "coef0")


class KernelMachine(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators with a ``kernel`` parameter.

    A subclass stores its parameters in ``__init__``, and its ``fit`` calls `_fit_input`, `_choose_kernel` and, inside
    ``with self._job() as job``, a native function. What it keeps are arrays and the choice of kernel, so that pickling
    and copying need nothing of their own. ``kernel``, ``n_jobs`` and ``verbose`` must be among its parameters;
    ``gamma``, ``degree``, ``coef0``, ``kernel_params`` and ``random_state`` may be.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        named = self.kernel if isinstance(self.kernel, str) else None
        tags.input_tags.pairwise = named == "precomputed"
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.positive_only = named in ("chi2", "additive_chi2")
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
        return not isinstance(self.kernel, str) or self.kernel not in ("precomputed", "additive_chi2")

    def _x_checks(self):
        sparse = "csr" if self._takes_sparse() else False
        return {"accept_sparse": sparse, "dtype": [np.float64, np.float32], "order": "C"}

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

    def _named_kernel(self, name, X):
        parameters = {p: getattr(self, p) for p in _NAME_PARAMETERS if hasattr(self, p)}
        for parameter in PAIRWISE_NAMES[name]:
            self._check_real(parameter, low=None if parameter == "coef0" else 0)
        parameters["gamma"] = self._gamma(name, X)
        return of_name(name, **{"degree": 3, "coef0": 1, **parameters})

    def _gamma(self, name, X):
        """γ as a number: "scale" is 1/(d·var X), "auto" and None are 1/d, save that None is 1 for chi2."""
        gamma = getattr(self, "gamma", None)
        if gamma == "scale":
            variance = X.multiply(X).mean() - X.mean() ** 2 if is_sparse(X) else X.var()
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        if gamma is None and name == "chi2":
            return 1.0
        return 1.0 / X.shape[1] if gamma in (None, "auto") else gamma

    def _refuse_name_parameters(self, kernel):
        defaults = _defaults(type(self))
        given = [p for p in _NAME_PARAMETERS if p in defaults and getattr(self, p) != defaults[p]]
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

    # Parameters.

    def _check_real(self, name, low=None, values=None):
        """Refuses a parameter that is not a number of at least `low` (nor a word or None that the default allows)."""
        value = getattr(self, name)
        default = _defaults(type(self))[name]
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
        #: Where the kernel is proven to be one, as text: predictions are made there only. None where nothing is known.
        self._domain = report["domain"]
        self.n_iter_ = max(1, report["iterations"])
        for warning in report["warnings"]:
            warnings.warn(warning, UserWarning, stacklevel=3)
        if report["status"] == "out_of_iterations":
            warnings.warn(
                f"{type(self).__name__} did not converge: residual {report['residual']:.1e} "
                f"after {report['iterations']} iterations; increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    # Files.

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
        self._model().save(os.fspath(path))

    def _feature_names(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]


@cache
def _defaults(estimator):
    parameters = signature(estimator.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}
