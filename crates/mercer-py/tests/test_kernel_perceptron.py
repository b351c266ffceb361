"""The kernel perceptron, against a short reference implementation, and its variants."""

import pickle

import mercer
import numpy as np
import pytest
from mercer import KernelPerceptron
from sklearn.datasets import load_iris, make_circles, make_moons


def reference(K, y, passes):
    """The textbook perceptron; y is ±1."""
    a = np.zeros(len(y))
    mistakes = []
    for _ in range(passes):
        before = len(mistakes)
        for i in range(len(y)):
            if y[i] * (K[i] @ a) <= 0:
                a[i] += y[i]
                mistakes.append(i)
        if len(mistakes) == before:
            break
    return a, mistakes


def test_updates_follow_the_textbook():
    X, y = make_circles(120, noise=0.05, factor=0.4, random_state=3)
    kernel = mercer.Kernel("(<x,z>+1)^2")
    model = KernelPerceptron(kernel, shuffle=False, averaged=False, max_iter=50).fit(X, y)
    a, mistakes = reference(kernel(X), 2 * y - 1, 50)
    np.testing.assert_array_equal(model.dual_coef_[:, 0], a)
    assert model.n_mistakes_ == len(mistakes)
    assert model.margin_ > 0
    assert model.mistake_bound_ >= model.n_mistakes_
    assert model.score(X, y) == 1


@pytest.mark.parametrize("rule", ["direct", "one-vs-rest"])
def test_several_classes(rule):
    X, y = load_iris(return_X_y=True)
    words = np.array(["a", "b", "c"])[y]
    model = KernelPerceptron("rbf(sigma=1)", rule=rule, random_state=1).fit(X, words)
    assert model.score(X, words) > 0.95
    assert model.decision_function(X).shape == (150, 3)


def test_precomputed_is_the_formula():
    X, y = make_moons(100, noise=0.2, random_state=0)
    kernel = mercer.Kernel("rbf(sigma=0.5)")
    formula = KernelPerceptron(kernel, random_state=4).fit(X, y)
    matrix = KernelPerceptron("precomputed", random_state=4).fit(kernel(X), y)
    np.testing.assert_allclose(matrix.decision_function(kernel(X)), formula.decision_function(X), atol=1e-9)


def test_votes_are_shares_and_survive_the_file(tmp_path):
    X, y = make_moons(150, noise=0.3, random_state=0)
    model = KernelPerceptron("rbf(sigma=0.5)", vote=True, max_iter=5, random_state=2).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.predict(X) == p.argmax(axis=1)).all()
    # A vote of the last function alone is the last function.
    model.save(tmp_path / "v.mercer")
    loaded = mercer.load(tmp_path / "v.mercer")
    np.testing.assert_array_equal(loaded.predict_proba(X), p)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)
    assert not hasattr(KernelPerceptron(), "predict_proba")


def test_votes_against_the_functions_of_every_prefix(rng):
    X, y = make_moons(40, noise=0.3, random_state=5)
    kernel = mercer.Kernel("rbf(sigma=1)")
    model = KernelPerceptron(kernel, vote=True, shuffle=False, max_iter=3).fit(X, y)
    K, sign = kernel(X), 2 * y - 1
    a, votes, visits = np.zeros(40), np.zeros((40, 2)), 0
    for _ in range(3):
        mistakes = 0
        for i in range(40):
            if sign[i] * (K[i] @ a) <= 0:
                a[i] += sign[i]
                mistakes += 1
            votes[np.arange(40), (K @ a > 0).astype(int)] += 1
            visits += 1
        if mistakes == 0:
            break
    np.testing.assert_allclose(model.predict_proba(X), votes / visits, atol=1e-12)


def test_a_budget_is_kept():
    X, y = make_moons(400, noise=0.2, random_state=0)
    model = KernelPerceptron("rbf(sigma=0.5)", budget=30, max_iter=5, random_state=0).fit(X, y)
    assert len(model.X_fit_) <= 30
    assert model.score(X, y) > 0.85


def test_a_stream_learns_and_can_be_interrupted(tmp_path):
    X, y = make_moons(600, noise=0.2, random_state=0)
    whole = KernelPerceptron("rbf(sigma=0.5)", budget=40).partial_fit(X, y, classes=[0, 1])
    parts = KernelPerceptron("rbf(sigma=0.5)", budget=40)
    for start in range(0, 600, 100):
        parts.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
        parts = pickle.loads(pickle.dumps(parts))
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-5)
    assert len(parts.X_fit_) <= 40
    assert parts.score(X, y) > 0.8
    parts.save(tmp_path / "p.mercer")
    assert (mercer.load(tmp_path / "p.mercer").predict(X) == parts.predict(X)).all()


def test_contradictory_settings_are_refused(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match="budget"):
        KernelPerceptron(vote=True, budget=3).fit(X, y)
    with pytest.raises(ValueError, match="formula|text"):
        KernelPerceptron("precomputed", vote=True).fit(X @ X.T, y)
    with pytest.raises(AttributeError, match="partial_fit"):
        KernelPerceptron().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes"):
        KernelPerceptron(budget=5).partial_fit(X, y)
    with pytest.raises(ValueError, match="not in the first"):
        KernelPerceptron(budget=5).partial_fit(X, y, classes=[0, 1]).partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="budget"):
        KernelPerceptron(budget=0).fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        KernelPerceptron().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="rule"):
        KernelPerceptron(rule="all").fit(X, y)
