"""Pictures of models with matplotlib."""

import sys

import matplotlib as mpl
import mercer
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (after the choice of the backend)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    figure.canvas.draw()
    plt.close(figure)


def test_a_curve_and_its_bumps(rng, ax):
    X = rng.uniform(0, 6, (30, 1))
    y = np.sin(X[:, 0])
    model = mercer.KernelRidge(kernel="rbf(sigma=1)", alpha=0.1, bias="centred").fit(X, y)
    assert model.plot(X, y, ax=ax) is ax
    lines = {line.get_label(): line for line in ax.lines}
    x, f = lines["prediction"].get_data()
    np.testing.assert_allclose(f, model.predict(np.asarray(x)[:, None]))
    assert np.array_equal(lines["data"].get_ydata(), y)
    bumps = [line for label, line in lines.items() if label not in ("prediction", "data")]
    assert len(bumps) == 30
    # The bumps, less the constant they stand on, add up to the curve.
    total = sum(line.get_ydata() - model.intercept_ for line in bumps)
    np.testing.assert_allclose(total + model.intercept_, f, rtol=1e-6, atol=1e-8)


def test_contours(rng, ax):
    X = rng.standard_normal((40, 2))
    model = mercer.KernelLMS("rbf(sigma=1)", max_iter=5, tol=1e-1).fit(X, X[:, 0] * X[:, 1])
    assert model.plot(y=X[:, 0] * X[:, 1], ax=ax) is ax
    assert len(ax.collections) >= 2 and len(ax.figure.axes) == 2


def test_predicted_against_actual(rng, ax, tmp_path):
    X = rng.standard_normal((40, 5))
    model = mercer.KernelRidgeCV().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="pass y"):
        model.plot(X, ax=ax)
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert loaded.plot(X, X[:, 0], ax=ax) is ax
    assert np.array_equal(ax.lines[0].get_xdata(), X[:, 0])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.predict(X))


def test_without_matplotlib(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    X = rng.standard_normal((10, 1))
    with pytest.raises(ImportError, match="pip install matplotlib"):
        mercer.KernelRidge(kernel="rbf").fit(X, X[:, 0]).plot()


def test_a_precomputed_kernel_cannot_be_plotted(rng):
    model = mercer.KernelRidge(kernel="precomputed").fit(np.eye(4), np.arange(4.0))
    with pytest.raises(ValueError, match="cannot be plotted"):
        model.plot()


@pytest.mark.parametrize("name", [name for name in mercer.__all__ if hasattr(getattr(mercer, name), "fit")])
def test_an_unfitted_model_cannot_be_plotted(name):
    model = getattr(mercer, name)()
    if hasattr(model, "plot"):
        with pytest.raises(NotFittedError):
            model.plot()
        with pytest.raises(NotFittedError):
            model.plot(np.eye(2))
