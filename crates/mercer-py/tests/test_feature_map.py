"""Feature maps, against kernels and scikit-learn's monomials."""

import pickle

import mercer
import numpy as np
import pandas as pd
import pytest
from closeness import EPS, assert_close, assert_within
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures


@pytest.mark.parametrize("degree, c", [(0, 1), (1, 0), (2, 1), (3, 0.5), (4, 2)])
def test_inner_products_are_the_kernel(rng, degree, c):
    X, Z = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    features = mercer.PolynomialFeatureMap(degree=degree, c=c).fit(X)
    phi, psi = features.transform(X).astype(np.longdouble), features.transform(Z).astype(np.longdouble)
    expected = (X.astype(np.longdouble) @ Z.T + c) ** degree
    # A feature is a weight and `degree` factors, each of which rounds once; the features of |x| and |z| bound their sums.
    assert_within(phi @ psi.T, expected, 2 * (degree + 4) * EPS * (abs(X) @ abs(Z).T + c) ** degree)
    assert phi.shape[1] == features.n_output_features_


def test_plain_monomials_match_scikit_learn(rng):
    X = rng.standard_normal((6, 3))
    ours = mercer.PolynomialFeatureMap(degree=3, weighted=False).fit_transform(X)
    peer = PolynomialFeatures(3).fit_transform(X)
    # Products of three factors: two roundings on either side.
    np.testing.assert_allclose(np.sort(ours, axis=1), np.sort(peer, axis=1), rtol=4 * EPS)


def test_names():
    features = mercer.PolynomialFeatureMap(degree=2, weighted=False).fit([[1.0, 2.0]])
    assert len(features.get_feature_names_out()) == 6
    assert "height" in " ".join(features.get_feature_names_out(["height", "width"]))


def test_a_linear_model_on_them_is_the_kernel_machine(rng):
    X = rng.standard_normal((50, 3))
    y = rng.standard_normal(50)
    features = mercer.PolynomialFeatureMap(degree=2, c=1).fit(X)
    linear = Ridge(alpha=0.3, fit_intercept=False).fit(features.transform(X), y)
    kernel = mercer.KernelRidge(alpha=0.3, kernel="(<x,z>+1)^2").fit(X, y)
    assert_close(linear.predict(features.transform(X)), kernel.predict(X), 1e-8)


def test_formulas():
    features = mercer.FeatureMap("x, x^2, log(abs(x)+1), x0*x1")
    X = np.array([[1.0, -2.0], [0.5, 3.0]])
    expected = np.column_stack([X, X**2, np.log(abs(X) + 1), X[:, 0] * X[:, 1]])
    np.testing.assert_allclose(features(X), expected, rtol=1e-14)
    assert features.count(2) == 7
    assert pickle.loads(pickle.dumps(features)) == features


@pytest.mark.parametrize("text", ["x +", "x9", "log(x", "poly(degree=-1)", "what(x)", ""])
def test_bad_text(text):
    with pytest.raises(ValueError):
        mercer.FeatureMap(text)([[1.0, 2.0]])


def test_the_features_of_a_kernel(rng):
    X = rng.standard_normal((6, 3))
    for text in ("(<x,z>+1)^3", "linear", "1 + <x,z> + 0.5*<x,z>^2"):
        kernel = mercer.Kernel(text)
        phi = kernel.features()(X)
        # Sums with terms of both signs, of which those of |x| and |z| bound the size; a few dozen roundings each.
        assert_within(phi @ phi.T, kernel(X), 100 * EPS * kernel(abs(X)))
    with pytest.raises(ValueError, match="finite"):
        mercer.Kernel("rbf(sigma=1)").features()


def test_too_many_features():
    with pytest.raises((ValueError, MemoryError), match="96,?560,?646"):
        mercer.PolynomialFeatureMap(degree=5).fit_transform(np.zeros((100, 100)))


@pytest.mark.parametrize("weighted", [True, False])
def test_data_frames(weighted):
    frame = pd.DataFrame({"age": [1.0, 2.0], "height": [3.0, 4.0]})
    model = mercer.PolynomialFeatureMap(2, weighted=weighted).fit(frame)
    expected = ["1", "age", "height", "age^2", "age*height", "height^2"]
    assert model.get_feature_names_out().tolist() == expected
    assert model.set_output(transform="pandas").transform(frame).columns.tolist() == expected
    assert model.get_feature_names_out(["age", "height"]).tolist() == expected
    with pytest.raises(ValueError, match="feature_names_in_"):
        model.get_feature_names_out(["a", "b"])
    plain = mercer.PolynomialFeatureMap(2).fit(frame.to_numpy())
    assert plain.get_feature_names_out().tolist() == ["1", "x0", "x1", "x0^2", "x0*x1", "x1^2"]
    assert mercer.FeatureMap("poly(degree=1)").names(np.array(["a", "b"])) == ["1", "a", "b"]
