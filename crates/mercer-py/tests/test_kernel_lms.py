"""Least mean squares, against its recursion."""

import warnings

import mercer
import numpy as np
import pytest
from closeness import assert_close
from sklearn.exceptions import ConvergenceWarning


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def test_batch_steps(data):
    X, y = data
    K = mercer.Kernel("rbf(sigma=1)")(X)
    step = 0.7 / np.linalg.eigvalsh(K)[-1]
    beta = np.zeros(len(y))
    for _ in range(25):
        beta = beta + step * (y - K @ beta)
    model = quietly(mercer.KernelLMS("rbf(sigma=1)", step=step, max_iter=25, tol=0), X, y)
    np.testing.assert_allclose(model.dual_coef_, beta, rtol=1e-10, atol=1e-14)
    assert model.n_iter_ == 25
    curve = model.loss_curve_
    assert curve.shape[1] == 3
    assert_close(curve[-1, 1], np.mean((y - K @ beta) ** 2), 1e-8)
    assert (np.diff(curve[:, 1]) <= 1e-12).all()


@pytest.mark.parametrize("solver", ["batch", "sgd"])
def test_the_long_run_is_the_interpolation(rng, solver):
    X = np.arange(12.0)[:, None]
    y = rng.standard_normal(12)
    model = quietly(mercer.KernelLMS("rbf(sigma=0.6)", solver=solver, max_iter=20_000, tol=1e-10), X, y)
    K = mercer.Kernel("rbf(sigma=0.6)")(X)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(K, y), rtol=1e-6, atol=1e-8)


def test_too_large_a_step_is_explained(data):
    X, y = data
    K = mercer.Kernel("rbf(sigma=1)")(X)
    largest = 2 / np.linalg.eigvalsh(K)[-1]
    with pytest.raises(ValueError, match="step") as error:
        mercer.KernelLMS("rbf(sigma=1)", step=1.5 * largest, max_iter=1000).fit(X, y)
    import re

    numbers = [float(t) for t in re.findall(r"\d+\.?\d*(?:e-?\d+)?", str(error.value))]
    assert any(abs(number - largest) < 0.05 * largest for number in numbers), error.value


@pytest.mark.parametrize("step", [0.0, -1.0, float("nan")])
def test_invalid_steps_are_refused(data, step):
    with pytest.raises(ValueError, match="step"):
        mercer.KernelLMS(step=step).fit(*data)


def test_conflicting_duplicates_stop(rng):
    X = np.repeat(rng.standard_normal((10, 2)), 2, axis=0)
    y = rng.standard_normal(20)
    model = mercer.KernelLMS("rbf(sigma=0.5)", max_iter=100_000, tol=1e-8).fit(X, y)
    assert model.n_iter_ < 100_000
    np.testing.assert_allclose(model.predict(X[::2]), (y[::2] + y[1::2]) / 2, atol=1e-5)


def test_precomputed_equals_the_kernel(data):
    X, y = data
    direct = quietly(mercer.KernelLMS("rbf(sigma=1)", max_iter=30), X, y)
    K = direct.kernel_(X)
    precomputed = quietly(mercer.KernelLMS("precomputed", max_iter=30), K, y)
    assert_close(precomputed.predict(K), direct.predict(X), 1e-9)


@pytest.mark.parametrize("bias", ["none", "centred", "column"])
def test_model_file(data, tmp_path, bias):
    X, y = data
    model = quietly(mercer.KernelLMS("rbf(sigma=1)", bias=bias, max_iter=30), X, y + 5)
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert_close(loaded.predict(X), model.predict(X), 1e-12)
    assert loaded.info["method"] == "lms"
