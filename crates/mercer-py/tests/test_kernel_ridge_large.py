"""Ridge regression where the kernel matrix is too large: on features, in chunks, and by conjugate gradients."""

import copy
import pickle

import mercer
import numpy as np
import pytest
import scipy.sparse
from closeness import assert_close
from mercer import KernelRidge
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

KINDS = ["fourier:128", "nystrom:60"]


@pytest.fixture
def data(rng):
    X, Z = rng.standard_normal((400, 3)), rng.standard_normal((50, 3))
    f = lambda X: np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2]
    return X, f(X) + 0.05 * rng.standard_normal(400), Z, f(Z)


@pytest.mark.parametrize("bias", ["none", "centred"])
@pytest.mark.parametrize("approx", KINDS)
def test_it_is_ridge_regression_on_the_features(data, approx, bias):
    X, y, Z, _ = data
    y, weights = y + 3, np.linspace(0.5, 2, len(y))
    model = KernelRidge(0.2, kernel="rbf(sigma=2)", approx=approx, bias=bias, random_state=5).fit(X, y, weights)
    if approx.startswith("fourier"):
        map = mercer.RandomFourierFeatures("rbf(sigma=2)", 128, random_state=5).fit(X)
        assert model.coef_.shape == (128,) and not hasattr(model, "X_fit_")
    else:
        map = mercer.Nystroem("rbf(sigma=2)", landmarks=model.X_fit_).fit(X)
        assert model.dual_coef_.shape == (60,) and model.X_fit_.shape == (60, 3)
    linear = Ridge(0.2, fit_intercept=bias == "centred").fit(map.transform(X), y, weights)
    np.testing.assert_allclose(model.predict(Z), linear.predict(map.transform(Z)), rtol=1e-6, atol=1e-7)
    assert model.approx_ == approx and model.residual_ < 1e-8
    if bias == "centred":
        assert model.intercept_ == pytest.approx(linear.intercept_, abs=1e-6)


@pytest.mark.parametrize("approx", ["fourier:1024", "nystrom:300"])
def test_it_comes_near_the_kernel(data, approx):
    X, y, Z, truth = data
    exact = KernelRidge(0.1, kernel="rbf(sigma=2)").fit(X, y)
    model = KernelRidge(0.1, kernel="rbf(sigma=2)", approx=approx, random_state=0).fit(X, y)
    assert np.std(model.predict(Z) - exact.predict(Z)) < 0.02
    assert np.std(model.predict(Z) - truth) < 0.07


def test_quality(data):
    X, y, _, _ = data
    few, many = (KernelRidge(0.1, kernel="rbf", approx=f"fourier:{count}", random_state=0).fit(X, y).quality_ for count in (32, 512))
    assert 0 < many["kernel_error"] < few["kernel_error"] < 1
    assert 0 < few["effective_dimension"] < 32 and many["effective_dimension"] < 512
    for quality in (few, many):
        assert quality["mse_half"][0] >= quality["mse"][0] >= quality["mse_doubled"][0] >= 0


@pytest.mark.parametrize("approx", KINDS)
def test_forms_of_rows_and_targets(data, approx):
    X, y, Z, _ = data
    X, Z = np.where(X > 0, X, 0), np.where(Z > 0, Z, 0)
    fit = lambda X, y, **how: KernelRidge(0.5, kernel="laplacian", approx=approx, random_state=0, **how).fit(X, y)
    expected = fit(X, y).predict(Z)
    both = fit(X, np.column_stack([y, -y])).predict(Z)
    np.testing.assert_allclose(both, np.column_stack([expected, -expected]), atol=1e-9)
    each = KernelRidge([0.5, 2], kernel="laplacian", approx=approx, random_state=0).fit(X, np.column_stack([y, y])).predict(Z)
    np.testing.assert_allclose(each[:, 0], expected, atol=1e-9)
    assert abs(each[:, 1] - expected).max() > 1e-4
    sparse = scipy.sparse.csr_array
    np.testing.assert_allclose(fit(sparse(X), y).predict(sparse(Z)), expected, atol=1e-9)
    single = fit(X.astype(np.float32), y).predict(Z.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=2e-3)
    np.testing.assert_array_equal(fit(X, y, n_jobs=1).predict(Z), expected)
    again = pickle.loads(pickle.dumps(fit(X, y)))
    np.testing.assert_array_equal(again.predict(Z), expected)


@pytest.mark.parametrize("bias", ["none", "centred"])
def test_chunks_and_parts_give_the_fit_of_all(data, bias):
    X, y, Z, _ = data
    weights = np.linspace(0.5, 2, len(y))
    new = lambda: KernelRidge(0.1, kernel="rbf(sigma=2)", approx="fourier:128", random_state=0, bias=bias)
    whole = new().fit(X, y, weights)
    expected = whole.predict(Z)
    chunked = new()
    for rows in np.array_split(np.arange(len(X)), 7):
        chunked.partial_fit(X[rows], y[rows], weights[rows])
    assert_close(chunked.predict(Z), expected, 1e-9)
    assert chunked.n_samples_seen_ == 400
    for name in ("effective_dimension", "mse_half", "mse"):
        assert_close(chunked.quality_[name], whole.quality_[name], 1e-6)
    parts = [new().partial_fit(X[i::3], y[i::3], weights[i::3]) for i in range(3)]
    left, right = copy.deepcopy(parts), pickle.loads(pickle.dumps(parts))
    one = left[0].merge(left[1]).merge(left[2])
    other = right[0].merge(right[1].merge(right[2]))
    assert_close(one.predict(Z), expected, 1e-9)
    assert_close(one.predict(Z), other.predict(Z), 1e-10)
    assert one.n_samples_seen_ == 400 and left[1].n_samples_seen_ == 133
    assert not hasattr(one, "quality_") and hasattr(left[1], "quality_")
    # A merged estimator accepts more rows.
    one.partial_fit(X[:10], y[:10])
    assert one.n_samples_seen_ == 410
    # A fit discards earlier rows.
    np.testing.assert_array_equal(one.fit(X, y, weights).predict(Z), expected)
    assert not hasattr(one, "n_samples_seen_")


def test_chunks_on_landmarks(data):
    X, y, Z, _ = data
    targets = np.column_stack([y, 2 * y])
    first = KernelRidge(0.1, kernel="rbf(sigma=2)", approx="nystrom:40", random_state=0).partial_fit(X[:100], targets[:100])
    second = copy.deepcopy(first)
    first.partial_fit(X[100:], targets[100:])
    fixed = mercer.Nystroem("rbf(sigma=2)", landmarks=first.X_fit_).fit(X)
    linear = Ridge(0.1, fit_intercept=False).fit(fixed.transform(X), targets)
    np.testing.assert_allclose(first.predict(Z), linear.predict(fixed.transform(Z)), atol=1e-6)
    twice = second.merge(copy.deepcopy(second))
    assert twice.n_samples_seen_ == 200 and twice.predict(Z).shape == (50, 2)


def test_estimators_that_cannot_be_merged_are_reported(data):
    X, y, _, _ = data
    new = lambda **how: KernelRidge(**{"kernel": "rbf(sigma=2)", "approx": "fourier:16", "random_state": 0, **how})
    part = new().partial_fit(X, y)
    for other in (new(random_state=1).partial_fit(X, y), new(kernel="rbf(sigma=auto)").partial_fit(X[:50], y[:50])):
        with pytest.raises(ValueError, match="same features"):
            part.merge(other)
    with pytest.raises(ValueError, match="stored by partial_fit"):
        part.merge(new().fit(X, y))
    with pytest.raises(ValueError, match="1 targets, the other 2"):
        part.merge(new().partial_fit(X, np.column_stack([y, y])))
    with pytest.raises(ValueError, match="2 targets, but the earlier rows have 1"):
        part.partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="2 features"):
        part.partial_fit(X[:, :2], y)
    assert part.n_samples_seen_ == 400
    for model in (KernelRidge(), KernelRidge(approx="auto", random_state=0), KernelRidge(approx="nystrom:5", random_state=0, solver="cg")):
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as error:
            model.partial_fit(X, y)
        assert "known beforehand" in str(error.value.__cause__)


@pytest.mark.parametrize("bias", ["none", "centred"])
def test_conjugate_gradients_solve_the_full_problem(data, bias):
    X, y, Z, _ = data
    y = np.column_stack([y + 2, y**2])
    both = {"alpha": [0.3, 1.0], "kernel": "matern(nu=1.5, length=2)", "bias": bias}
    exact = KernelRidge(**both).fit(X, y)
    model = KernelRidge(**both, solver="cg", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, exact.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(model.predict(Z), exact.predict(Z), atol=1e-8)
    assert model.residual_ <= 1e-10 and 1 < model.n_iter_ < 400
    K = mercer.Kernel(both["kernel"])(X)
    if bias == "none":
        residual = y - K @ model.dual_coef_ - np.array(both["alpha"]) * model.dual_coef_
        assert (np.linalg.norm(residual, axis=0) / np.linalg.norm(y, axis=0)).max() < 1.1e-10


def test_conjugate_gradients_on_landmarks(data):
    X, y, Z, _ = data
    both = {"alpha": 0.3, "kernel": "rbf(sigma=2)", "approx": "nystrom:60", "bias": "centred", "random_state": 0}
    direct, model = KernelRidge(**both).fit(X, y), KernelRidge(**both, solver="cg", tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(model.X_fit_, direct.X_fit_)
    np.testing.assert_allclose(model.predict(Z), direct.predict(Z), atol=1e-6)


def test_conjugate_gradients_that_run_out_of_steps_say_so(data):
    X, y, _, _ = data
    with pytest.warns(ConvergenceWarning, match="increase max_iter or tol"):
        model = KernelRidge(1e-6, kernel="rbf(sigma=2)", solver="cg", tol=1e-12, max_iter=1).fit(X, y)
    assert model.n_iter_ == 1


def test_auto_uses_the_exact_kernel_while_it_is_small(data):
    X, y, Z, _ = data
    model = KernelRidge(kernel="rbf", approx="auto", random_state=0).fit(X, y)
    assert model.approx_ is None
    np.testing.assert_array_equal(model.predict(Z), KernelRidge(kernel="rbf").fit(X, y).predict(Z))


def test_auto_approximates_many_rows(rng):
    X = rng.standard_normal((10_050, 1))
    y = np.sin(3 * X[:, 0])
    model = KernelRidge(1e-3, kernel="rbf(sigma=0.5)", approx="auto", random_state=0).fit(X, y)
    assert model.approx_ == "nystrom:832"
    assert np.std(model.predict(X[:100]) - y[:100]) < 1e-2
    assert KernelRidge(kernel="precomputed", approx="auto", random_state=0).fit(np.eye(3), np.ones(3)).approx_ is None


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"approx": "fourier"}, "'fourier:D'"),
        ({"approx": "nystrom:-3"}, "'nystrom:M'"),
        ({"approx": 100}, "approx"),
        ({"approx": "fourier:0"}, "fourier:0"),
        ({"approx": "fourier:7"}, "even"),
        ({"approx": "nystrom:0"}, "nystrom:0"),
        ({"approx": "nystrom:401"}, "401.*400"),
        ({"approx": "fourier:10", "kernel": "linear"}, "spectral|linear"),
        ({"approx": "fourier:10", "bias": "column"}, "centred"),
        ({"approx": "fourier:10", "solver": "cholesky"}, "does not support solver"),
        ({"approx": "fourier:10", "solver": "cg"}, "landmarks"),
        ({"approx": "nystrom:10", "kernel": np.dot}, "Nystroem"),
        ({"approx": "fourier:128", "alpha": 0, "kernel": "rbf(sigma=1e6)"}, "rank"),
        ({"solver": "cg", "alpha": 0}, "more than 0"),
        ({"solver": "cg", "tol": 0}, "tol"),
        ({"solver": "cg", "bias": "column"}, "centred"),
        ({"solver": "cg", "kernel": np.dot}, "tile by tile"),
        ({"solver": "cg", "max_iter": 0}, "max_iter"),
        ({"approx": "nystrom:5", "kernel": "0 - <x,z>"}, "not a kernel"),
    ],
)
def test_bad_parameters(data, parameters, message):
    X, y, _, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        KernelRidge(**{"kernel": "rbf", **parameters}).fit(X, y)


def test_plots(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y, _, _ = data
    model = KernelRidge(kernel="rbf", approx="fourier:32", random_state=0).fit(X[:, :1], y)
    with pytest.raises(ValueError, match="no training rows"):
        model.plot()
    assert model.plot(X[:, :1], y) is not None
    assert KernelRidge(kernel="rbf", approx="nystrom:20", random_state=0).fit(X[:, :1], y).plot() is not None


def test_partial_fit_continues_only_from_partial_fit(data):
    X, y, Z, _ = data
    new = lambda **how: KernelRidge(
        **({"alpha": 0.1, "kernel": "rbf(sigma=2)", "approx": "fourier:64", "random_state": 0} | how)
    )
    with pytest.warns(UserWarning, match="starts from scratch"):
        again = new().fit(X, y).partial_fit(X[:100], y[:100])
    np.testing.assert_array_equal(again.predict(Z), new().partial_fit(X[:100], y[:100]).predict(Z))
    for changed in ({"approx": "fourier:32"}, {"kernel": "rbf(sigma=3)"}, {"bias": "centred"}):
        model = new().partial_fit(X[:100], y[:100])
        with pytest.raises(ValueError, match="changed after the first"):
            model.set_params(**changed).partial_fit(X[100:], y[100:])
    # Rows count before there are enough of them for an answer.
    for approx in ("fourier:64", "nystrom:40"):
        model = new(alpha=0.0, approx=approx)
        start = 45 if approx == "nystrom:40" else 30
        for rows in np.split(np.arange(400), [start, 60, 70]):
            try:
                model.partial_fit(X[rows], y[rows])
            except ValueError as error:
                assert "unique" in str(error)
        assert model.n_samples_seen_ == 400
        if approx == "fourier:64":
            np.testing.assert_allclose(model.predict(Z), new(alpha=0.0).fit(X, y).predict(Z), rtol=1e-4, atol=1e-6)
