"""The native module called wrongly: it raises, and neither panics nor reads what it should not."""

import numpy as np
import pytest
from mercer import Kernel, _native

JOB = {"threads": 1, "progress": None}
X = np.arange(12.0).reshape(4, 3)
LINEAR = _native.Kernel("linear")


def problem(**changes):
    return {"targets": np.ones((4, 1)), "alpha": [1.0], "weights": None, "intercept": False, "admit": False, "solver": "auto", **changes}


def sparse(ncols=3, indptr=(0, 1, 2), indices=(0, 2), data=(1.0, 2.0)):
    return ncols, np.array(indptr, np.uintp), np.array(indices, np.uint32), np.array(data)


WRONG = {
    "rows of integers": lambda: LINEAR.matrix(X.astype(int), None, JOB),
    "rows with three axes": lambda: LINEAR.matrix(X[None], None, JOB),
    "rows in Fortran order": lambda: LINEAR.matrix(np.asfortranarray(X), None, JOB),
    "targets in Fortran order": lambda: _native.fit_ridge(
        LINEAR, X, problem(targets=np.ones((4, 2), order="F")), JOB
    ),
    "matrix in Fortran order": lambda: _native.fit_ridge_gram(np.asfortranarray(np.eye(4)), problem(), JOB),
    "rows that are None": lambda: LINEAR.matrix(None, None, JOB),
    "other number of columns": lambda: LINEAR.matrix(X, X[:, :2].copy(), JOB),
    "column out of range": lambda: LINEAR.matrix(sparse(indices=(0, 3)), None, JOB),
    "negative column": lambda: LINEAR.matrix(sparse(indices=(0, 2**32 - 1)), None, JOB),
    "repeated column": lambda: LINEAR.matrix(sparse(indptr=(0, 2), indices=(1, 1)), None, JOB),
    "row starts that fall": lambda: LINEAR.matrix(sparse(indptr=(0, 2, 1)), None, JOB),
    "row starts past the end": lambda: LINEAR.matrix(sparse(indptr=(0, 1, 9)), None, JOB),
    "no row starts": lambda: LINEAR.matrix(sparse(indptr=()), None, JOB),
    "no job": lambda: LINEAR.matrix(X, None, None),
    "negative threads": lambda: LINEAR.matrix(X, None, {"threads": -1, "progress": None}),
    "targets of other length": lambda: _native.fit_ridge(LINEAR, X, problem(targets=np.ones((3, 1))), JOB),
    "no targets": lambda: _native.fit_ridge(LINEAR, X, problem(targets=np.ones((4, 0))), JOB),
    "targets that are NaN": lambda: _native.fit_ridge(LINEAR, X, problem(targets=np.full((4, 1), np.nan)), JOB),
    "weights of other length": lambda: _native.fit_ridge(LINEAR, X, problem(weights=np.ones(3)), JOB),
    "strided weights": lambda: _native.fit_ridge(LINEAR, X, problem(weights=np.ones(8)[::2]), JOB),
    "no penalty": lambda: _native.fit_ridge(LINEAR, X, problem(alpha=[]), JOB),
    "infinite penalty": lambda: _native.fit_ridge(LINEAR, X, problem(alpha=[np.inf]), JOB),
    "no rows": lambda: _native.fit_ridge(LINEAR, X[:0], problem(targets=np.ones((0, 1))), JOB),
    "open kernel": lambda: _native.fit_ridge(_native.Kernel("rbf(sigma=?)"), X, problem(), JOB),
    "matrix that is not square": lambda: _native.fit_ridge_gram(X, problem(), JOB),
    "coefficients of other length": lambda: _native.expand(LINEAR, None, X, np.ones((3, 1)), X, JOB),
    "centres of other width": lambda: _native.expand(LINEAR, None, X, np.ones((4, 1)), X[:, :2].copy(), JOB),
    "solver there is not": lambda: _native.fit_ridge(LINEAR, X, problem(solver="svd"), JOB),
    "domain there is not": lambda: _native.expand(LINEAR, "ball", X, np.ones((4, 1)), X, JOB),
    "rows outside of the domain": lambda: _native.expand(LINEAR, "orthant", X, np.ones((4, 1)), -X, JOB),
    "dimension there is not": lambda: LINEAR.check("0", "all"),
    "bytes that are no model": lambda: _native.Model.from_bytes(b"\x08\0\0\0\0\0\0\0{}      "),
    "text that is no kernel": lambda: _native.Kernel.from_printed("((((" * 100_000),
    "deep text": lambda: _native.Kernel("(" * 5_000 + "linear" + ")" * 5_000),
    "power that is NaN": lambda: Kernel("linear") ** float("nan"),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_wrong_calls_raise(call):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        call()


def test_a_matrix_too_large_is_refused():
    with pytest.raises(MemoryError, match="1000000 × 1000000"):
        Kernel("linear")(np.ones((1_000_000, 1)))


def test_what_progress_raises_stops_the_work():
    def progress(stage, done, total):
        raise KeyError(stage)

    rows = np.random.default_rng(0).random((4000, 30))
    with pytest.raises(KeyError, match="kernel matrix"):
        _native.Kernel("matern(nu=1.7)").matrix(rows, None, {"threads": 1, "progress": progress})
