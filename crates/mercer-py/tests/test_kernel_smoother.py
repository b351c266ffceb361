"""The smoother, against its formula."""

import mercer
import numpy as np
import pytest
from closeness import assert_close


@pytest.mark.parametrize("kernel", ["rbf(sigma=0.7)", "laplacian(gamma=2)", "matern(nu=2.5, length=1)", "rbf"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_weighted_mean(rng, kernel, dtype):
    X, y = rng.standard_normal((60, 3)).astype(dtype), rng.standard_normal((60, 2))
    queries = rng.standard_normal((20, 3)).astype(dtype)
    model = mercer.KernelSmoother(kernel).fit(X, y)
    K = model.kernel_(queries.astype(np.float64), X.astype(np.float64))
    expected = K @ y / K.sum(axis=1, keepdims=True)
    assert_close(model.predict(queries), expected, 1e-4 if dtype is np.float32 else 1e-10)
    assert_close(model.fit(X, y[:, 0]).predict(queries), expected[:, 0], 1e-4)


def test_far_away_is_the_nearest_row():
    model = mercer.KernelSmoother("rbf(sigma=0.01)").fit([[0.0], [1.0], [5.0]], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.predict([[2.0], [1e6], [-40.0]]), [2.0, 3.0, 1.0])


@pytest.mark.parametrize("kernel", ["linear", "cos(|x-z|)", "poly(degree=2)"])
def test_a_kernel_that_gives_no_weights_is_refused(kernel):
    with pytest.raises(ValueError, match="cannot be used as weights"):
        mercer.KernelSmoother(mercer.Kernel(kernel)).fit([[0.0], [3.0]], [0.0, 1.0])


def test_precomputed_and_callable(rng):
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    direct = mercer.KernelSmoother("rbf(sigma=1)").fit(X, y)
    K = direct.kernel_(X)
    expected = direct.predict(X)
    precomputed = mercer.KernelSmoother("precomputed").fit(K, y)
    assert_close(precomputed.predict(K), expected, 1e-12)
    called = mercer.KernelSmoother(lambda x, z: np.exp(-((x - z) ** 2).sum() / 2)).fit(X, y)
    assert_close(called.predict(X), expected, 1e-12)


def test_model_file(rng, tmp_path):
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    model = mercer.KernelSmoother("rbf(sigma=auto)").fit(X, y)
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.info["method"] == "smoother"
