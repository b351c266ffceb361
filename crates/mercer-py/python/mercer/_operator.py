"""Kernel matrices as operators, without storing the matrix."""

import numpy as np
from scipy.sparse.linalg import LinearOperator

from mercer import _native
from mercer._work import job

__all__ = ["KernelOperator"]


class KernelOperator(LinearOperator):
    """The kernel matrix K of rows X and Z as an operator: ``K @ v`` and ``K.T @ v`` are computed in tiles.

    A product with k columns takes O(nm(d + k)) time and O((n + m)k) memory. Returned by `Kernel.operator`.

    Attributes
    ----------
    kernel : Kernel
    shape : tuple of int
    dtype : dtype
        float64, whatever the precision of the rows.
    """

    def __init__(self, kernel, rows, columns, shape, n_jobs):
        super().__init__(np.dtype(np.float64), shape)
        self.kernel = kernel
        self._rows = rows
        #: None where the columns are the rows.
        self._columns = columns
        self._n_jobs = n_jobs

    def _matmat(self, V):
        return self._product(self._rows, self._rows if self._columns is None else self._columns, V)

    def _rmatmat(self, V):
        return self._product(self._rows if self._columns is None else self._columns, self._rows, V)

    def _adjoint(self):
        if self._columns is None:
            return self
        return KernelOperator(self.kernel, self._columns, self._rows, self.shape[::-1], self._n_jobs)

    def _transpose(self):
        return self._adjoint()

    def _product(self, rows, columns, V):
        if np.iscomplexobj(V):
            return self._product(rows, columns, V.real) + 1j * self._product(rows, columns, V.imag)
        V = np.ascontiguousarray(V, dtype=np.float64)
        parts = {
            "kernel": self.kernel._native,
            "domain": None,
            "centres": columns,
            "shift": None,
            "coefficients": V,
            "intercepts": np.zeros(V.shape[1]),
        }
        with job(self._n_jobs) as how:
            return _native.predict(parts, rows, how)
