"""Support vector classification with C and γ chosen by cross-validation."""

import pickle

import mercer
import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from mercer import SVC, SVCCV, Kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score

CS, GAMMAS = [0.5, 4.0, 32.0], [0.03, 0.3, 3.0]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(150, 3))
    y = np.digitize(np.hypot(X[:, 0], X[:, 1]) + 0.2 * rng.normal(size=150), [0.8, 1.6])
    return X, np.array(["near", "mid", "far"])[y], rng.normal(size=(40, 3))


@pytest.mark.parametrize("cv", [3, 5, KFold(4, shuffle=True, random_state=0), StratifiedKFold(3)], ids=str)
def test_scores_match_a_grid_search(data, cv):
    X, y, Z = data
    ours = SVCCV(Cs=CS, gammas=GAMMAS, cv=cv, tol=1e-6).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-6), {"C": CS, "gamma": GAMMAS}, cv=cv).fit(X, y)
    table = {(p["C"], p["gamma"]): s for p, s in zip(ours.cv_results_["params"], ours.cv_results_["mean_test_score"])}
    for parameters, score in zip(theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True):
        # A row on the edge of two classes may fall on either side.
        assert table[parameters["C"], parameters["gamma"]] == pytest.approx(score, abs=1.01 / 30)
    assert ours.best_score_ == max(table.values()) >= theirs.best_score_ - 0.02
    assert table[ours.C_, ours.gamma_] == ours.best_score_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"][ours.best_index_], ours.best_score_)
    chosen = SVC(C=ours.C_, gamma=ours.gamma_, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(ours.predict(Z), chosen.predict(Z))
    np.testing.assert_array_equal(ours.decision_function(Z), chosen.decision_function(Z))
    assert ours.score(X, y) == chosen.score(X, y)


def test_the_table(data):
    X, y, _ = data
    model = SVCCV(Cs=CS, gammas=GAMMAS, cv=3).fit(X, y)
    results = model.cv_results_
    assert set(results) == {
        *("params", "param_C", "param_gamma", "mean_test_score", "std_test_score", "rank_test_score"),
        *(f"split{k}_test_score" for k in range(3)),
    }
    assert all(len(column) == 9 for column in results.values())
    splits = np.array([results[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(splits.mean(axis=0), results["mean_test_score"])
    np.testing.assert_allclose(splits.std(axis=0), results["std_test_score"])
    assert model.n_splits_ == 3 and results["rank_test_score"].min() == 1
    again = SVCCV(Cs=CS, gammas=GAMMAS, cv=3, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], results["mean_test_score"])
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


def test_forms_of_kernels(data):
    X, y, Z = data
    named = SVCCV(Cs=CS, gammas=[0.5]).fit(X, y)
    for kernel, A, B in [
        ("rbf(sigma=1)", X, Z),
        (Kernel("rbf(gamma=0.5)"), X, Z),
        ("precomputed", Kernel("rbf(sigma=1)")(X), Kernel("rbf(sigma=1)")(Z, X)),
        (lambda A, B: Kernel("rbf(sigma=1)")(A, B), X, Z),
        ("rbf(sigma=1)", scipy.sparse.csr_array(X), scipy.sparse.csr_array(Z)),
    ]:
        model = SVCCV(kernel, Cs=CS).fit(A, y)
        assert model.C_ == named.C_ and model.gamma_ is None
        np.testing.assert_allclose(model.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"], atol=0.021)
        assert (model.predict(B) == named.predict(Z)).mean() > 0.95
    searched = SVCCV("rbf(sigma=?0.3..3)", Cs=CS).fit(X, y)
    assert searched.kernel_ is not None and len(searched.cv_results_["params"]) == 30
    assert 0.3 <= float(str(searched.kernel_).split("=")[1].rstrip(")")) <= 3
    linear = SVCCV("linear", Cs=CS).fit(X, y)
    assert linear.gamma_ is None and linear.coef_.shape == (3, 3)
    with pytest.raises(ValueError, match="gammas belong"):
        SVCCV("rbf(sigma=1)", gammas=[1.0]).fit(X, y)


def test_defaults_fit(data):
    X, y, _ = data
    model = SVCCV().fit(X, y)
    assert len(model.cv_results_["params"]) == 42 and model.best_score_ > 0.7
    assert cross_val_score(SVC(C=model.C_, gamma=model.gamma_), X, y).mean() == pytest.approx(model.best_score_, abs=0.03)


def test_weights_and_probabilities(data):
    X, y, Z = data
    weights = (np.arange(150) % 5 > 0).astype(float)
    model = SVCCV(Cs=CS, gammas=GAMMAS, probability=True, cv=3).fit(X, y, sample_weight=weights)
    assert not np.isin(model.support_, np.flatnonzero(weights == 0)).any()
    np.testing.assert_allclose(model.predict_proba(Z).sum(axis=1), 1)
    balanced = SVCCV(Cs=CS, gammas=GAMMAS, class_weight="balanced").fit(X, y)
    assert balanced.class_weight_ == pytest.approx(150 / (3 * np.unique(y, return_counts=True)[1]))


def test_saved_and_pickled(data, tmp_path):
    X, y, Z = data
    model = SVCCV(Cs=CS, gammas=GAMMAS).fit(X, y)
    model.save(tmp_path / "m")
    loaded = mercer.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(Z), model.predict(Z))
    assert loaded.info["settings"]["C"] == model.C_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(Z), model.predict(Z))


def test_unsupported_searches_are_reported(data):
    X, y, _ = data
    for parameters, message in [
        ({"Cs": []}, "'Cs' parameter"),
        ({"Cs": [1.0, -1.0]}, "'Cs' parameter"),
        ({"gammas": [0.0]}, "'gammas' parameter"),
        ({"cv": 1}, "'cv' parameter.*Got 1"),
        ({"cv": 149}, "cannot be greater"),
        ({"cv": [([0], [1])]}, "leaves rows out"),
        ({"cv": [(slice(0, None, 2), slice(1, None, 2)), ([1], slice(0, None, 2))]}, "train rows of fold 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            SVCCV(**parameters).fit(X, y)
