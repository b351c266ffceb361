"""The kinds of kernel that the ``kernel`` parameter of an estimator accepts.

A kernel of the language runs in native code. Anything else (a matrix, a user's function) only gives a kernel matrix, on
which the estimators then work. Both kinds have `matrix`; `native` distinguishes them.
"""

import numpy as np

from mercer import _native
from mercer._rows import borrowable, is_sparse

#: scikit-learn's names, with the hyper-parameters of each.
PAIRWISE_NAMES = {
    "additive_chi2": (),
    "chi2": ("gamma",),
    "cosine": (),
    "laplacian": ("gamma",),
    "linear": (),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}

#: The language's names of the hyper-parameters that have another name in scikit-learn.
_SPELLINGS = {"coef0": "c"}


class Formula:
    """A kernel of the language whose hyper-parameters are all numbers."""

    def __init__(self, native, non_negative=False, checked=True):
        self.native = native
        self.non_negative = non_negative
        #: Whether a matrix with a negative eigenvalue is an error, as it is for a user's formula.
        self.checked = checked

    def check(self, X):
        """Raise ValueError for negative entries if the kernel is not defined on them."""
        if self.non_negative:
            refuse_negative(X)

    def matrix(self, X, Z, job):
        return self.native.matrix(borrowable(X), None if Z is None else borrowable(Z), job)


class Precomputed:
    """X is the kernel matrix itself."""

    native = None
    checked = False

    def check(self, X):
        pass

    def matrix(self, X, Z, job):
        return X


class AdditiveChiSquared:
    """−Σⱼ (xⱼ−zⱼ)²/(xⱼ+zⱼ), 0/0 = 0: conditionally positive definite, so not a kernel of the language."""

    native = None
    checked = False

    def check(self, X):
        refuse_negative(X)

    def matrix(self, X, Z, job):
        Z = X if Z is None else Z
        out = np.empty((X.shape[0], Z.shape[0]), dtype=X.dtype)
        for x, row in zip(X, out, strict=True):
            total = x + Z
            squared = (x - Z) ** 2
            np.divide(squared, total, out=squared, where=total != 0)
            row[:] = -squared.sum(axis=1)
        return out


class RowFunction:
    """A function of two rows, called for every pair."""

    native = None
    checked = False

    def __init__(self, function, parameters):
        self.function = function
        self.parameters = parameters

    def check(self, X):
        pass

    def matrix(self, X, Z, job):
        out = np.empty((X.shape[0], (X if Z is None else Z).shape[0]))
        rows = _each_row(X)
        columns = rows if Z is None else _each_row(Z)
        for i, x in enumerate(rows):
            for j in range(i + 1 if Z is None else len(columns)):
                out[i, j] = self.function(x, columns[j], **self.parameters)
            if Z is None:
                out[:i, i] = out[i, :i]
        return out


class MatrixFunction(RowFunction):
    """A function of two matrices that returns the kernel matrix, as those of sklearn.metrics.pairwise."""

    def matrix(self, X, Z, job):
        Z = X if Z is None else Z
        out = self.function(X, Z, **self.parameters)
        out = out.toarray() if is_sparse(out) else np.asarray(out)
        rows, columns = _count(X), _count(Z)
        if out.shape != (rows, columns):
            raise ValueError(
                f"the kernel function returned an array of shape {out.shape} for {rows} and {columns} rows"
            )
        return out


def of_function(function, parameters):
    """Return the choice for a callable: scikit-learn's functions take matrices, any other takes two rows."""
    kinds = type(function).__mro__
    takes_matrices = getattr(function, "__module__", None) == "sklearn.metrics.pairwise" or any(
        kind.__module__ == "sklearn.gaussian_process.kernels" for kind in kinds
    )
    return (MatrixFunction if takes_matrices else RowFunction)(function, parameters)


def of_name(name, gamma, degree, coef0):
    """Return the choice for one of scikit-learn's names; `gamma` is a number."""
    if name == "additive_chi2":
        return AdditiveChiSquared()
    numbers = {"gamma": float(gamma), "degree": float(degree), "c": float(coef0)}
    if numbers["gamma"] == 0 and PAIRWISE_NAMES[name] == ("gamma",):
        # exp(−0·s) is 1 for every s, and the language requires γ > 0.
        native = _native.Kernel("1")
    else:
        read = [_SPELLINGS.get(parameter, parameter) for parameter in PAIRWISE_NAMES[name]]
        native = _native.Kernel.named(name.removesuffix("nomial"), {parameter: numbers[parameter] for parameter in read})
    return Formula(native, non_negative=name == "chi2", checked=False)


def refuse_negative(X):
    entries = X.data if is_sparse(X) else X
    if (entries < 0).any():
        raise ValueError("Negative values in data passed to a chi2 kernel: X contains negative values.")


def _count(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _each_row(X):
    return [X[[i], :] for i in range(X.shape[0])] if is_sparse(X) else list(X)
