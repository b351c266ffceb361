"""Wrong calls of the native module: it raises, and neither panics nor reads out of bounds."""

import copy
import json
import pickle

import numpy as np
import pytest
from mercer import Kernel, _native

JOB = {"threads": 1, "progress": None}
X = np.arange(12.0).reshape(4, 3)
LINEAR = _native.Kernel("linear")


SETTINGS = {"method": "ridge", "kernel": LINEAR, "lambda": 1.0, "bias": "none", "kernel_check": "assume"}


def train(inputs=X, targets=np.ones((4, 1)), weights=None, **settings):
    return _native.train({**SETTINGS, **settings}, inputs, targets, weights, [], JOB)


def predict(centres=X, coefficients=np.ones((4, 1)), rows=X, domain=None, **parts):
    parts = {"kernel": LINEAR, "domain": domain, "centres": centres, "shift": None, "coefficients": coefficients, **parts}
    return _native.predict({"intercepts": [0.0], **parts}, rows, JOB)


def sparse(ncols=3, indptr=(0, 1, 2), indices=(0, 2), data=(1.0, 2.0)):
    return ncols, np.array(indptr, np.uintp), np.array(indices, np.uint32), np.array(data)


WRONG = {
    "rows of integers": lambda: LINEAR.matrix(X.astype(int), None, JOB),
    "rows with three axes": lambda: LINEAR.matrix(X[None], None, JOB),
    "rows in Fortran order": lambda: LINEAR.matrix(np.asfortranarray(X), None, JOB),
    "targets in Fortran order": lambda: train(targets=np.ones((4, 2), order="F")),
    "matrix in Fortran order": lambda: train({"gram": np.asfortranarray(np.arange(16.0).reshape(4, 4))}),
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
    "targets of other length": lambda: train(targets=np.ones((3, 1))),
    "no targets": lambda: train(targets=np.ones((4, 0))),
    "targets that are NaN": lambda: train(targets=np.full((4, 1), np.nan)),
    "targets that are None": lambda: train(targets=None),
    "classes for a regression": lambda: train(targets=(np.zeros(4, np.uintp), 2)),
    "weights of other length": lambda: train(weights=np.ones(3)),
    "strided weights": lambda: train(weights=np.ones(8)[::2]),
    "no penalty": lambda: train(**{"lambda": []}),
    "infinite penalty": lambda: train(**{"lambda": [np.inf]}),
    "penalty that is text": lambda: train(**{"lambda": "much"}),
    "no rows": lambda: train(X[:0], np.ones((0, 1))),
    "open kernel": lambda: train(kernel=_native.Kernel("rbf(sigma=?)")),
    "kernel that is an array": lambda: train(kernel=X),
    "kernel there is not": lambda: train(kernel="gaussian("),
    "matrix that is not square": lambda: train({"gram": X}),
    "solver there is not": lambda: train(solver="svd"),
    "method there is not": lambda: train(method="lasso"),
    "settings that are a list": lambda: _native.train([1.0], X, None, None, [], JOB),
    "settings that are None": lambda: _native.train(None, X, None, None, [], JOB),
    "coefficients of other length": lambda: predict(coefficients=np.ones((3, 1))),
    "coefficients without intercepts": lambda: predict(coefficients=np.ones((4, 2))),
    "centres of other width": lambda: predict(rows=X[:, :2].copy()),
    "domain there is not": lambda: predict(domain="ball"),
    "rows outside of the domain": lambda: predict(domain="orthant", rows=-X),
    "parts of nothing": lambda: _native.predict({}, X, JOB),
    "named kernel there is not": lambda: _native.Kernel.named("gauss", {}),
    "hyper-parameter there is not": lambda: _native.Kernel.named("rbf", {"width": 1.0}),
    "hyper-parameter out of range": lambda: _native.Kernel.named("rbf", {"gamma": -1.0}),
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


def test_an_exception_in_progress_stops_the_work():
    def progress(stage, done, total):
        raise KeyError(stage)

    rows = np.random.default_rng(0).random((4000, 30))
    with pytest.raises(KeyError, match="kernel matrix"):
        _native.Kernel("matern(nu=1.7)").matrix(rows, None, {"threads": 1, "progress": progress})


def test_settings_keep_their_bits():
    """A number, a list of numbers and a kernel arrive unchanged."""
    gamma, penalty = float(np.nextafter(0.1, 1)), float(np.nextafter(0.3, 0))
    kernel = _native.Kernel.named("rbf", {"gamma": gamma})
    parts, _, words = train(targets=np.ones((4, 2)), kernel=kernel, **{"lambda": [penalty, 2]})
    assert parts["kernel"].text() == kernel.text() == f"rbf(gamma={gamma!r})"
    assert json.loads(words)["settings"]["lambda"] == [penalty, 2.0]
    dual = np.linalg.solve(kernel.matrix(X, None, JOB) + penalty * np.eye(4), np.ones(4))
    np.testing.assert_allclose(parts["coefficients"][:, 0], dual, rtol=1e-12)


def test_kernels_pickle():
    kernel = _native.Kernel("0.1*rbf(sigma=0.3) + matern(nu=1.7)")
    assert pickle.loads(pickle.dumps(kernel)).text() == copy.deepcopy(kernel).text() == kernel.text()


def test_parts_of_a_model_are_its_file(tmp_path):
    parts, report, words = train(targets=np.eye(4), kernel=_native.Kernel("rbf(sigma=2)"))
    model = _native.Model.of(parts, json.loads(words))
    np.testing.assert_array_equal(model.predict(X, JOB), _native.predict(parts, X, JOB))
    assert model.outputs == ["0", "1", "2", "3"] and report["status"] == "converged"
    model.save(tmp_path / "m")
    again = _native.Model.load(tmp_path / "m")
    assert again.to_bytes() == model.to_bytes() and again.feature_names is None
