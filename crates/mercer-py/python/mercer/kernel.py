"""Kernels as objects: written as text, combined with ``+ * **``, applied to arrays."""

import math
from numbers import Real

from mercer import _hyper_parameters, _native
from mercer._rows import as_matrix, borrowable
from mercer._work import job
from mercer.verdict import Verdict

__all__ = ["Kernel"]


class Kernel:
    """A kernel k(x, z), written as a formula.

    Parameters
    ----------
    text : str or Kernel
        A formula in ``<x,z>``, ``|x-z|``, ``|x-z|_1``, ``|x|``, ``|z|``, numbers, ``+ - * / ^`` and functions, or named
        kernels such as ``rbf(sigma=2)``; see the language reference.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Kernel
    >>> k = 0.5 * Kernel("rbf(sigma=2)") + Kernel("(<x,z> + 1)^3")
    >>> k
    Kernel('0.5*rbf(sigma=2) + (<x,z> + 1)^3')
    >>> Kernel("<x,z>^2")([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    >>> Kernel("linear").distance([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    __slots__ = ("_native",)

    # A NumPy number on the left must leave the operation to this class.
    __array_ufunc__ = None

    def __init__(self, text):
        if isinstance(text, Kernel):
            self._native = text._native
        elif isinstance(text, str):
            self._native = _native.Kernel(text)
        else:
            raise TypeError(f"a kernel is written as text, got {type(text).__name__}")

    @classmethod
    def _of(cls, native):
        kernel = cls.__new__(cls)
        kernel._native = native
        return kernel

    def __call__(self, X, Z=None, *, n_jobs=None):
        """Return the kernel matrix: k at every row of X and every row of Z (of X if Z is None).

        O(nmd) time. The matrix has the precision of X: float32 rows give a float32 matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        Z : {array-like, sparse matrix} of shape (m, d), default=None
        n_jobs : int, default=None
            Number of threads; None uses all cores.

        Returns
        -------
        K : ndarray of shape (n, m)
        """
        X, Z = _rows_and_columns(X, Z)
        with job(n_jobs) as how:
            return self._native.matrix(X, Z, how)

    def diag(self, X, *, n_jobs=None):
        """Return k(x, x) for every row x of X, in O(nd).

        >>> Kernel("<x,z>^2").diag([[1.0, 2.0]])
        array([25.])
        """
        X = as_matrix(X)
        with job(n_jobs) as how:
            return self._native.diagonal(borrowable(X), how).astype(X.dtype, copy=False)

    def distance(self, X, Z=None, *, n_jobs=None):
        """Return the distance that the kernel induces: √(k(x,x) − 2k(x,z) + k(z,z)) for every pair of rows.

        It is the distance between the images of x and z under the feature map of the kernel. The difference is taken
        in double precision, and the result has the precision of X.
        """
        X = as_matrix(X)
        rows, columns = _rows_and_columns(X, Z)
        with job(n_jobs) as how:
            return self._native.distance(rows, columns, how).astype(X.dtype, copy=False)

    def operator(self, X, Z=None, *, n_jobs=None):
        """Return the kernel matrix as a SciPy ``LinearOperator``, which computes products in tiles without storing the matrix.

        ``K @ v`` takes O(nmd) time and O(n + m) memory. SciPy's iterative solvers and eigenvalue routines take it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        Z : {array-like, sparse matrix} of shape (m, d), default=None
            None for X.
        n_jobs : int, default=None
            Number of threads; None uses all cores.

        Returns
        -------
        K : LinearOperator of shape (n, m)

        >>> import numpy as np
        >>> K = Kernel("linear").operator([[1.0, 2.0], [3.0, 4.0]])
        >>> K @ np.array([1.0, 1.0])
        array([16., 36.])
        """
        from mercer._operator import KernelOperator

        if not self._native.is_resolved():
            raise ValueError(f"{self} has hyper-parameters that are not numbers yet: call resolve(X) first")
        rows, columns = _rows_and_columns(X, Z)
        n = as_matrix(X).shape[0]
        shape = (n, n if columns is None else as_matrix(Z, "Z").shape[0])
        return KernelOperator(Kernel._of(self._native), rows, columns, shape, n_jobs)

    def get_params(self, deep=True):
        """Return the hyper-parameters, for searches such as scikit-learn's ``GridSearchCV`` over ``kernel__sigma``.

        Returns
        -------
        params : dict
            By name, a number, a list of one for each column, or the text of ``auto`` or ``?``. The second ``sigma`` of a
            formula is ``sigma_2``, and so on.

        >>> Kernel("rbf(sigma=2) + matern(nu=1.5, length=3)").get_params()
        {'sigma': 2.0, 'nu': 1.5, 'length': 3.0}
        """
        return _hyper_parameters.read(str(self))

    def set_params(self, **params):
        """Set hyper-parameters of this kernel, by the names of `get_params`.

        Returns
        -------
        self

        >>> Kernel("rbf(sigma=2)").set_params(sigma=5)
        Kernel('rbf(sigma=5)')
        """
        if params:
            self._native = _native.Kernel(_hyper_parameters.write(str(self), params))
        return self

    def __sklearn_clone__(self):
        # set_params changes a kernel, so two estimators must not share one.
        return Kernel._of(self._native)

    def features(self):
        """Return the kernel's explicit feature map φ, with ⟨φ(x), φ(z)⟩ = k(x, z).

        Returns
        -------
        map : FeatureMap
            Call it on rows.

        Raises
        ------
        ValueError
            If there is no such map with finitely many features.

        >>> import numpy as np, mercer
        >>> k = mercer.Kernel("(<x,z>+1)^2")
        >>> phi = k.features()
        >>> X = np.array([[1.0, 2.0], [0.5, -1.0]])
        >>> bool(np.allclose(phi(X) @ phi(X).T, k(X)))
        True
        """
        from mercer.feature_map import FeatureMap

        return FeatureMap(self._native.features())

    def check(self, dim="any", domain="all"):
        """Check whether the formula is positive semidefinite, with a proof or a counter-example.

        Parameters
        ----------
        dim : int or "any", default="any"
            The dimension of the points.
        domain : {"all", "ball:R", "sphere", "orthant", "box:a..b"}, default="all"
            The set that contains the points: all of R^d, the closed ball of radius R, the unit sphere, all coordinates at
            least 0, or all coordinates between a and b.

        Returns
        -------
        verdict : Verdict
            True if the formula is proven to be a kernel.

        >>> Kernel("rbf(sigma=1) + linear").check().verdict
        'proven'
        >>> bool(Kernel("tanh(<x,z>)").check(dim=2))
        False
        """
        return Verdict(*self._native.check(str(dim), str(domain)))

    def resolve(self, X, *, random_state=0):
        """Return the kernel with every ``auto`` replaced by its value for X.

        >>> Kernel("rbf(sigma=auto)").resolve([[0.0], [3.0]])
        Kernel('rbf(sigma=3)')
        """
        if self._native.is_resolved():
            return self
        if self._native.has_tunables():
            raise ValueError(f"{self}: `?` is an unknown value; use a number or `auto` here")
        with job(seed=random_state) as how:
            return Kernel._of(self._native.resolve(borrowable(as_matrix(X)), how))

    def canonical(self):
        """Return the kernel in canonical form, which is the same for equal kernels up to rounding.

        >>> Kernel("exp(-|x-z|^2/(2*4))").canonical()
        Kernel('rbf(sigma=2)')
        """
        return Kernel._of(self._native.canonical())

    def __str__(self):
        return self._native.text()

    def __repr__(self):
        return f"Kernel({self._native.text()!r})"

    def __eq__(self, other):
        return self._native.text() == other._native.text() if isinstance(other, Kernel) else NotImplemented

    def __hash__(self):
        return hash(("mercer.Kernel", self._native.text()))

    def __reduce__(self):
        return Kernel._of, (self._native,)

    def __add__(self, other):
        other = _operand(other)
        return other if other is NotImplemented else Kernel._of(self._native.plus(other))

    def __radd__(self, other):
        # sum() starts from 0, which adds nothing.
        if isinstance(other, Real) and other == 0:
            return self
        other = _operand(other)
        return other if other is NotImplemented else Kernel._of(other.plus(self._native))

    def __mul__(self, other):
        other = _operand(other)
        return other if other is NotImplemented else Kernel._of(self._native.times(other))

    def __rmul__(self, other):
        other = _operand(other)
        return other if other is NotImplemented else Kernel._of(other.times(self._native))

    def __pow__(self, exponent):
        if not isinstance(exponent, Real):
            return NotImplemented
        return Kernel._of(self._native.power(_finite(exponent)))


def _operand(value):
    if isinstance(value, Kernel):
        return value._native
    return _native.Kernel(repr(_finite(value))) if isinstance(value, Real) else NotImplemented


def _finite(number):
    number = float(number)
    if not math.isfinite(number):
        raise ValueError(f"a kernel is combined with finite numbers, got {number}")
    return number


def _rows_and_columns(X, Z):
    rows = as_matrix(X)
    if Z is None or Z is X:
        return borrowable(rows), None
    columns = as_matrix(Z, "Z")
    if rows.shape[1] != columns.shape[1]:
        raise ValueError(f"X has {rows.shape[1]} columns, but Z has {columns.shape[1]}")
    return borrowable(rows), borrowable(columns)
