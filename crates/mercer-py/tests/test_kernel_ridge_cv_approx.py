"""Ridge regression that tunes itself on features, against fits on the same features."""

import pickle

import mercer
import numpy as np
import pytest
import scipy.sparse
from mercer import KernelRidge, KernelRidgeCV
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

ALPHAS = np.geomspace(1e-3, 10, 4)
GAMMAS = np.array([0.1, 0.5, 2.0])
KINDS = ["fourier:64", "nystrom:40"]


@pytest.fixture
def data(rng):
    X = rng.standard_normal((150, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(150)
    return X, np.column_stack([y, 3 - y**2])


def features(X, approx, gamma):
    """The features that an estimator with this γ takes."""
    model = KernelRidge(1, kernel="rbf", gamma=gamma, approx=approx, random_state=0).fit(X, X[:, 0])
    if approx.startswith("fourier"):
        return mercer.RandomFourierFeatures(model.kernel_, 64, random_state=0).fit(X).transform(X)
    return mercer.Nystroem(model.kernel_, landmarks=model.X_fit_).fit(X).transform(X)


SCORES = {
    None: lambda y, f, w: -np.average(((y - f) ** 2).mean(axis=1), weights=w),
    "neg_root_mean_squared_error": lambda y, f, w: -np.sqrt(np.average(((y - f) ** 2).mean(axis=1), weights=w)),
    "r2": lambda y, f, w: r2_score(y, f, sample_weight=w),
}


@pytest.mark.parametrize("scoring", SCORES)
@pytest.mark.parametrize("bias", ["none", "centred"])
@pytest.mark.parametrize("approx", KINDS)
def test_scores_match_fits_one_by_one(data, approx, bias, scoring):
    X, y = data
    weights, cv = np.linspace(0.5, 2, len(X)), KFold(4, shuffle=True, random_state=0)
    model = KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS, cv=cv, approx=approx, random_state=0, bias=bias, scoring=scoring)
    model.fit(X, y, weights)
    expected = []
    for gamma in GAMMAS:
        phi = features(X, approx, gamma)
        for alpha in ALPHAS:
            linear = Ridge(alpha, fit_intercept=bias == "centred", solver="cholesky")
            by_fold = []
            for train, test in cv.split(X):
                linear.fit(phi[train], y[train], weights[train])
                by_fold.append(SCORES[scoring](y[test], linear.predict(phi[test]), weights[test]))
            expected.append(np.mean(by_fold))
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected, rtol=1e-6, atol=1e-9)
    best = model.cv_results_["params"][int(np.argmax(expected))]
    assert (model.alpha_, model.gamma_) == (best["alpha"], best["gamma"])
    assert model.best_score_ == pytest.approx(max(expected), rel=1e-6)


@pytest.mark.parametrize("approx", KINDS)
def test_the_model_matches_the_choice(data, approx, tmp_path):
    X, y = data
    for targets in (y, y[:, 0]):
        model = KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS, approx=approx, random_state=0, bias="centred").fit(X, targets)
        again = KernelRidge(model.alpha_, kernel="rbf", gamma=model.gamma_, approx=approx, random_state=0, bias="centred").fit(X, targets)
        np.testing.assert_allclose(model.predict(X), again.predict(X), rtol=1e-8, atol=1e-9)
        kept = "coef_" if approx.startswith("fourier") else "dual_coef_"
        assert getattr(model, kept).shape == getattr(again, kept).shape
        assert hasattr(model, "X_fit_") == hasattr(again, "X_fit_")
        assert model.approx_ == approx and model.quality_["kernel_error"] < 1
        assert model.kernel_ == again.kernel_
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
        model.save(tmp_path / "m.mercer")
        loaded = mercer.load(tmp_path / "m.mercer").predict(X)
        np.testing.assert_allclose(np.reshape(loaded, targets.shape), model.predict(X), rtol=1e-9, atol=1e-9)


def test_five_folds_are_the_default(data):
    X, y = data
    search = KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS, approx="fourier:32", random_state=0)
    five = clone(search).set_params(cv=5).fit(X, y)
    np.testing.assert_array_equal(search.fit(X, y).cv_results_["mean_test_score"], five.cv_results_["mean_test_score"])


def test_rows_of_weight_zero_do_not_count(data):
    X, y = data
    weights = np.where(np.arange(len(X)) % 7 == 0, 0.0, 1.0)
    cv = [(None, np.arange(0, 70)), (None, np.arange(70, 150))]
    model = KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS, approx="fourier:32", random_state=0, cv=cv)
    some = weights > 0
    half = int(some[:70].sum())
    parts = [(None, np.arange(half)), (None, np.arange(half, some.sum()))]
    expected = clone(model).set_params(cv=parts).fit(X[some], y[some])
    np.testing.assert_allclose(model.fit(X, y, weights).predict(X), expected.predict(X), rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="2 folds or more, got 1"):
        model.fit(X, y, np.where(np.arange(150) < 70, 1.0, 0.0))


def test_formulas_sparse_rows_and_threads(data):
    X, y = data
    X = np.where(X > 0, X, 0)
    search = KernelRidgeCV("matern(length=?0.3..10)", approx="nystrom:40", random_state=0, bias="centred")
    model = clone(search).fit(X, y)
    assert model.gamma_ is None and "matern" in str(model.kernel_) and len(model.cv_results_["params"]) == 200
    sparse = clone(search).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(scipy.sparse.csr_array(X)), model.predict(X), atol=1e-6)
    np.testing.assert_array_equal(clone(search).set_params(n_jobs=1).fit(X, y).predict(X), model.predict(X))


def test_auto_uses_the_exact_kernel_for_few_rows(data):
    X, y = data
    model = KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS, approx="auto", random_state=0).fit(X, y)
    exact = KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS).fit(X, y)
    assert model.approx_ is None and exact.approx_ is None
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))
    # A fit of one kind leaves nothing of another.
    model.set_params(approx="fourier:32").fit(X, y)
    assert not hasattr(model, "dual_coef_") and model.coef_.shape == (32, 2)
    model.set_params(approx=None).fit(X, y)
    assert not hasattr(model, "coef_") and not hasattr(model, "quality_")
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))


def test_unsupported_input_is_refused(data):
    X, y = data
    for parameters, words in [
        ({"approx": "magic"}, "'fourier:D'"),
        ({"approx": "fourier:32", "cv": "gcv"}, "use a number of folds"),
        ({"approx": "fourier:32", "cv": 1}, "'cv' parameter.*Got 1"),
        ({"approx": "fourier:32", "bias": "column"}, "'centred' or 'none'"),
        ({"approx": "fourier:32", "kernel": "poly"}, "spectral"),
        ({"approx": "fourier:32", "kernel": lambda x, z: x @ z}, "kernel of the language"),
        ({"approx": "fourier:32", "scoring": "neg_mean_absolute_error"}, "every prediction"),
        ({"approx": "fourier:32", "scoring": r2_score}, "every prediction"),
        ({"approx": "fourier:32", "scoring": "accuracy"}, "scoring"),
    ]:
        with pytest.raises(ValueError, match=words):
            KernelRidgeCV(**parameters).fit(X, y)
