"""What every kernel machine shares: the ``kernel`` parameter."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._kernel_choice import PAIRWISE_NAMES, Formula, Precomputed, of_function, of_name
from mercer._machine import Machine, defaults
from mercer._rows import is_sparse
from mercer.kernel import Kernel

__all__ = ["KernelMachine", "scale_gamma"]

#: The parameters that belong to scikit-learn's kernel names alone.
_NAME_PARAMETERS = ("gamma", "degree", "coef0")


#: Entries of X that a temporary array may have.
_AT_ONCE = 2**18


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


class KernelMachine(Machine):
    """Base of the estimators with a ``kernel`` parameter.

    A subclass's ``fit`` calls `_choose_kernel` between `_fit_input` and the native function. ``gamma``, ``degree``,
    ``coef0``, ``kernel_params`` and ``random_state`` may be among its parameters.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        named = self.kernel if isinstance(self.kernel, str) else None
        tags.input_tags.pairwise = named == "precomputed"
        tags.input_tags.positive_only = named in ("chi2", "additive_chi2")
        return tags

    def _takes_sparse(self):
        return not isinstance(self.kernel, str) or self.kernel not in ("precomputed", "additive_chi2")

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

    def _tell(self, report):
        #: Where the kernel is proven to be one, as text: predictions are made there only. None where nothing is known.
        self._domain = report["domain"]
        super()._tell(report)

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
