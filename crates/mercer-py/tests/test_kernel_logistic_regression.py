"""Kernel logistic regression against scikit-learn's linear one, and on its own."""

import pickle

import mercer
import numpy as np
import pytest
from closeness import assert_close
from mercer import KernelLogisticRegression
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler


def data(n_classes):
    X, y = load_breast_cancer(return_X_y=True) if n_classes == 2 else load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def peer(C, **parameters):
    return LogisticRegression(C=C, tol=1e-12, max_iter=10_000, solver="newton-cg", **parameters)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_the_linear_kernel_is_logistic_regression(n_classes, C):
    X, y = data(n_classes)
    ours = KernelLogisticRegression(C=C, kernel="linear", tol=1e-9).fit(X, y)
    theirs = peer(C).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    likely = theirs.predict_proba(X) > 1e-8
    np.testing.assert_allclose(ours.predict_log_proba(X)[likely], theirs.predict_log_proba(X)[likely], atol=1e-4)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_and_sample_weights(n_classes, rng):
    X, y = data(n_classes)
    weights = rng.uniform(0.1, 3, len(y))
    each = {0: 2.0, 1: 0.5}
    ours = KernelLogisticRegression(kernel="linear", class_weight=each, tol=1e-9).fit(X, y, weights)
    theirs = peer(1.0, class_weight=each).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    ours.set_params(class_weight="balanced").fit(X, y)
    theirs.set_params(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_without_an_intercept():
    X, y = data(2)
    ours = KernelLogisticRegression(kernel="linear", fit_intercept=False, tol=1e-9).fit(X, y)
    theirs = peer(1.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert ours.intercept_ == 0


def test_a_polynomial_kernel_is_logistic_regression_on_its_features():
    X, y = data(3)
    X = X[:, :2]
    features = PolynomialFeatures(2).fit_transform(X)
    # (1 + <x,z>)²: √2 at first powers and cross products; the constant is penalised as another feature.
    features *= np.sqrt([1, 2, 2, 1, 2, 1])
    ours = KernelLogisticRegression(kernel="(<x,z>+1)^2", fit_intercept=True, tol=1e-9).fit(X, y)
    theirs = peer(1.0).fit(features, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(features), atol=1e-6)


def test_at_the_answer_the_gradient_is_zero():
    X, y = data(2)
    C = 2.0
    model = KernelLogisticRegression(C=C, kernel="rbf(sigma=5)", tol=1e-8).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    gradient = model.dual_coef_[:, 0] / C + p - y
    assert np.linalg.norm(gradient) < 2e-8
    assert model.n_iter_ < 20


@pytest.mark.parametrize("solver", ["gd", "sgd"])
def test_every_solver_ends_at_the_same_answer(solver):
    X, y = make_moons(80, noise=0.3, random_state=1)
    newton = KernelLogisticRegression(kernel="rbf(sigma=1)").fit(X, y)
    slow = KernelLogisticRegression(kernel="rbf(sigma=1)", solver=solver, max_iter=20_000, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(slow.predict_proba(X), newton.predict_proba(X), atol=1e-3)


def test_a_precomputed_and_a_callable_kernel_are_the_formula():
    X, y = data(3)
    kernel = mercer.Kernel("rbf(sigma=2)")
    formula = KernelLogisticRegression(kernel=kernel).fit(X, y)
    matrix = KernelLogisticRegression(kernel="precomputed").fit(kernel(X), y)
    function = KernelLogisticRegression(kernel=lambda a, b: np.exp(-np.sum((a - b) ** 2) / 8)).fit(X, y)
    np.testing.assert_allclose(matrix.predict_proba(kernel(X)), formula.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(function.predict_proba(X), formula.predict_proba(X), atol=1e-6)


def test_labels_may_be_words_and_survive_the_file(tmp_path):
    X, y = data(3)
    words = np.array(["red", "green", "blue"])[y]
    model = KernelLogisticRegression(C=5).fit(X, words)
    assert model.classes_.tolist() == ["blue", "green", "red"]
    assert model.score(X, words) > 0.95
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert (loaded.predict(X) == model.predict(X)).all()
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_huge_logits_do_not_overflow():
    X = np.array([[-1e4], [1e4]])
    model = KernelLogisticRegression(C=1e12, kernel="linear").fit(X / 1e4, [0, 1])
    p = model.predict_proba(X * 1e3)
    assert np.isfinite(p).all() and np.allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0}, "C"),
        ({"C": -1}, "C"),
        ({"solver": "lbfgs"}, "solver"),
        ({"tol": -1}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"class_weight": "even"}, "class_weight"),
    ],
)
def test_parameters_out_of_range_are_refused(change, message):
    X, y = data(2)
    with pytest.raises(ValueError, match=message):
        KernelLogisticRegression(**change).fit(X, y)


def test_bad_targets_are_refused(rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match="one class"):
        KernelLogisticRegression().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="continuous"):
        KernelLogisticRegression().fit(X, rng.normal(size=20))
    with pytest.raises(ValueError, match="[Nn]egative"):
        KernelLogisticRegression().fit(X, np.arange(20) % 2, -np.ones(20))


def test_a_class_of_one_row_is_learnt(rng):
    X = np.vstack([rng.normal(size=(30, 2)), [[8, 8]]])
    y = np.array([0, 1] * 15 + [2])
    model = KernelLogisticRegression(C=100, kernel="rbf(sigma=1)").fit(X, y)
    assert model.predict([[8, 8]]) == 2


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("approx", ["fourier:64", "nystrom:40"])
def test_on_features_it_is_logistic_regression_on_them(rng, approx, classes):
    X, Z = rng.standard_normal((300, 3)), rng.standard_normal((40, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (classes == 3) * (X[:, 1] + X[:, 2] ** 2 > 1)]
    weights = np.linspace(0.5, 2, 300)
    model = KernelLogisticRegression(2.0, "rbf(sigma=2)", approx=approx, tol=1e-9, random_state=1).fit(X, y, weights)
    if approx.startswith("fourier"):
        map = mercer.RandomFourierFeatures("rbf(sigma=2)", 64, random_state=1).fit(X)
        assert model.coef_.shape == (64, 1 if classes == 2 else 3) and not hasattr(model, "dual_coef_")
    else:
        map = mercer.Nystroem("rbf(sigma=2)", landmarks=model.X_fit_).fit(X)
        assert model.dual_coef_.shape == (40, 1 if classes == 2 else 3)
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(map.transform(X), y, weights)
    np.testing.assert_allclose(model.predict_proba(Z), peer.predict_proba(map.transform(Z)), atol=1e-5)
    assert model.approx_ == approx
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(Z), model.predict_proba(Z))


@pytest.mark.parametrize("approx", ["fourier:64", "nystrom:40"])
def test_a_model_on_features_is_a_file(rng, tmp_path, approx):
    X = rng.standard_normal((200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 7, 3)
    model = KernelLogisticRegression(kernel="rbf(sigma=1)", approx=approx).fit(X, y)
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert_close(loaded.predict_proba(X), model.predict_proba(X), 1e-12)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.info["settings"]["approx"] == approx and loaded.info["report"]["rows"] == 200
    assert model.score(X, y) > 0.9


def test_settings_that_features_do_not_support_are_reported():
    X, y = np.eye(4), [0, 1, 0, 1]
    for parameters, message in [
        ({"approx": "fourier:3"}, "even"),
        ({"approx": "fourier"}, "'fourier:D'"),
        ({"approx": "nystrom:2", "solver": "sgd"}, "solver"),
        ({"approx": "nystrom:2", "kernel": np.dot}, "Nystroem"),
        ({"approx": "fourier:4", "kernel": "linear"}, "linear|spectral"),
    ]:
        with pytest.raises(ValueError, match=message):
            KernelLogisticRegression(**parameters).fit(X, y)
    assert KernelLogisticRegression(approx="auto").fit(X, y).approx_ is None


def test_names_of_classes_are_checked_like_those_of_a_support_vector_machine():
    X = np.random.default_rng(0).random((20, 2))
    for model in (KernelLogisticRegression(), mercer.SVC()):
        with pytest.raises(ValueError, match="not in class_weight"):
            model.set_params(class_weight={7: 2.0}).fit(X, X[:, 0] > 0.5)
        with pytest.raises(ValueError, match="numbers from 0 on"):
            model.set_params(class_weight={True: -1.0}).fit(X, X[:, 0] > 0.5)
