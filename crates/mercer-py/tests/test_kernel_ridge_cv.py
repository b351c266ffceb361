"""Ridge regression that tunes itself, against refits and scikit-learn's grid search."""

import mercer
import numpy as np
import pytest
from closeness import assert_close
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict

ALPHAS = np.geomspace(1e-3, 10, 4)
GAMMAS = np.array([0.05, 0.5, 5.0])


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(60)


def refitted(X, y, folds):
    """−MSE of every candidate, γ by γ, by refitting."""
    scores = []
    for gamma in GAMMAS:
        for alpha in ALPHAS:
            predicted = cross_val_predict(KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma), X, y, cv=folds)
            scores.append(-np.mean((predicted - y) ** 2))
    return np.array(scores)


@pytest.mark.parametrize("cv", [None, 5, KFold(4, shuffle=True, random_state=0)])
def test_scores_match_refits(data, cv):
    X, y = data
    model = mercer.KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS, cv=cv).fit(X, y)
    expected = refitted(X, y, len(X) if cv is None else cv)
    assert_close(model.cv_results_["mean_test_score"], expected, 1e-8)
    best = model.cv_results_["params"][int(np.argmax(expected))]
    assert (model.alpha_, model.gamma_) == (best["alpha"], best["gamma"])
    assert model.best_score_ == expected.max() or np.isclose(model.best_score_, expected.max(), rtol=1e-8)
    assert model.cv_results_["rank_test_score"][int(np.argmax(expected))] == 1


def test_the_model_matches_the_choice(data):
    X, y = data
    model = mercer.KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS).fit(X, y)
    expected = KernelRidge(alpha=model.alpha_, kernel="rbf", gamma=model.gamma_).fit(X, y)
    assert_close(model.predict(X), expected.predict(X), 1e-8)
    assert_close(model.dual_coef_, expected.dual_coef_, 1e-6)


def test_as_good_a_choice_as_a_grid_search(rng):
    X = rng.standard_normal((500, 4))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(500)
    grid = {"alpha": np.geomspace(1e-4, 10, 6), "gamma": np.geomspace(0.01, 1, 5)}
    peer = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5, scoring="neg_mean_squared_error").fit(X[:200], y[:200])
    ours = mercer.KernelRidgeCV(alphas=grid["alpha"], gammas=grid["gamma"]).fit(X[:200], y[:200])

    def error(model):
        return np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2))

    assert error(ours) <= 1.01 * error(peer)


@pytest.mark.parametrize("bias", ["centred", "none"])
def test_bias_weights_and_several_targets(data, bias):
    X, y = data
    targets, weights = np.stack([y + 3, y**2], axis=1), np.linspace(0.5, 2, 60)
    model = mercer.KernelRidgeCV(alphas=[0.1], gammas=[0.5], bias=bias).fit(X, targets, weights)
    ridge, kept = mercer.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5, bias=bias), np.ones(60, bool)
    residuals = np.empty_like(targets)
    for i in range(60):
        kept[i] = False
        residuals[i] = targets[i] - ridge.fit(X[kept], targets[kept], weights[kept]).predict(X[[i]])[0]
        kept[i] = True
    expected = -np.average((residuals**2).mean(axis=1), weights=weights)
    assert_close(model.best_score_, expected, 1e-8)


def test_generalised_cross_validation(data):
    X, y = data
    model = mercer.KernelRidgeCV(alphas=ALPHAS, gammas=GAMMAS, cv="gcv").fit(X, y)
    scores = []
    for gamma in GAMMAS:
        K = mercer.Kernel(f"rbf(gamma={gamma})")(X)
        for alpha in ALPHAS:
            H = K @ np.linalg.inv(K + alpha * np.eye(60))
            scores.append(-60 * np.sum((y - H @ y) ** 2) / np.trace(np.eye(60) - H) ** 2)
    assert_close(model.cv_results_["mean_test_score"], scores, 1e-7)


def test_a_formula_with_question_marks(data):
    X, y = data
    model = mercer.KernelRidgeCV("matern(nu=2.5, length=?0.1..10)", alphas=[0.01, 0.1]).fit(X, y)
    assert model.gamma_ is None
    kernels = set(model.cv_results_["param_kernel"])
    assert len(kernels) == 10 and str(model.kernel_) in kernels
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error", lambda y, f: -abs(y - f).max()])
def test_other_scores(data, scoring):
    X, y = data
    model = mercer.KernelRidgeCV(alphas=[0.1], gammas=[0.5], scoring=scoring).fit(X, y)
    predicted = cross_val_predict(KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5), X, y, cv=len(X))
    expected = {
        "r2": 1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2),
        "neg_mean_absolute_error": -np.mean(abs(y - predicted)),
        "neg_root_mean_squared_error": -np.sqrt(np.mean((y - predicted) ** 2)),
    }.get(scoring if isinstance(scoring, str) else None, -abs(y - predicted).max())
    assert np.isclose(model.best_score_, expected, rtol=1e-8)


def test_a_function_scores_single_rows_and_sees_the_weights(data):
    X, y = data
    scores = lambda **parameters: mercer.KernelRidgeCV(alphas=ALPHAS, gammas=[0.5], **parameters)
    negative = lambda *arguments, **weights: -mean_absolute_error(*arguments, **weights)
    single = scores(cv=60, scoring=negative).fit(X, y)
    assert_close(single.best_score_, scores(scoring="neg_mean_absolute_error").fit(X, y).best_score_, 1e-10)
    weights = np.linspace(0.1, 3, 60)
    ours, named = (scores(cv=3, scoring=s).fit(X, y, weights) for s in (negative, "neg_mean_absolute_error"))
    assert_close(ours.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"], 1e-10)


@pytest.mark.parametrize("approx", [None, "fourier:8"])
def test_r2_of_constant_targets_matches_scikit_learn(data, approx):
    """The score is not 1, as if they were predicted."""
    X, y = data
    folds = np.arange(60) < 20
    y = np.where(folds, 2.0, y)
    cv = [(np.flatnonzero(~folds), np.flatnonzero(folds)), (np.flatnonzero(folds), np.flatnonzero(~folds))]
    model = mercer.KernelRidgeCV("rbf(sigma=1)", alphas=[0.1], cv=cv, scoring="r2", approx=approx, random_state=0).fit(X, y)
    if approx is None:
        peer = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5)
        expected = [r2_score(y[test], peer.fit(X[train], y[train]).predict(X[test])) for train, test in cv]
        assert_close(model.best_score_, np.mean(expected), 1e-8)
    assert model.best_score_ <= 0.5


def test_precomputed(data):
    X, y = data
    K = mercer.Kernel("rbf(gamma=0.5)")(X)
    model = mercer.KernelRidgeCV("precomputed", alphas=ALPHAS).fit(K, y)
    direct = mercer.KernelRidgeCV(alphas=ALPHAS, gammas=[0.5]).fit(X, y)
    assert model.alpha_ == direct.alpha_
    assert_close(model.predict(K), direct.predict(X), 1e-8)


@pytest.mark.parametrize(
    "parameters, error",
    [
        ({"alphas": [0.0]}, "alphas"),
        ({"alphas": []}, "alphas"),
        ({"gammas": [-1.0]}, "gammas"),
        ({"cv": 1}, "'cv' parameter.*Got 1"),
        ({"cv": 61}, "n_splits=61"),
        ({"cv": "loo"}, "cv"),
        ({"scoring": "accuracy"}, "scoring"),
        ({"scoring": "r2", "cv": 60}, "2 rows or more in each fold"),
        ({"scoring": "r2", "cv": "gcv"}, "scoring must be None"),
        ({"cv": [([0], [1])]}, "out of all folds"),
        ({"kernel": "rbf(sigma=?)", "gammas": [1.0]}, "gammas"),
    ],
)
def test_bad_parameters(data, parameters, error):
    with pytest.raises(ValueError, match=error):
        mercer.KernelRidgeCV(**parameters).fit(*data)


def test_model_file(data, tmp_path):
    X, y = data
    model = mercer.KernelRidgeCV(bias="centred").fit(X, y)
    model.save(tmp_path / "m.mercer")
    assert_close(mercer.load(tmp_path / "m.mercer").predict(X), model.predict(X), 1e-12)
