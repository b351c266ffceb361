"""Warnings of a fit, and their location: the line that called it."""

import functools
import warnings

import mercer
import numpy as np
import pytest
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture
def data(rng):
    X = rng.standard_normal((200, 3))
    return X, np.sin(X[:, 0]) + X[:, 1], (X[:, 0] + 0.5 * rng.standard_normal(200) > 0).astype(int)


def heard(model, X, y):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(X, y)
    return found


LIMITED = {
    "conjugate gradients": (mercer.KernelRidge(1e-9, kernel="rbf", solver="cg", max_iter=1), False),
    "gradient descent": (mercer.KernelLMS("rbf", max_iter=2), False),
    "logistic regression": (mercer.KernelLogisticRegression(solver="gd", max_iter=2), True),
    "logistic regression on features": (mercer.KernelLogisticRegression(approx="fourier:32", max_iter=1), True),
    "perceptron": (mercer.KernelPerceptron("linear", max_iter=2), True),
    "machines of pairs": (mercer.SVC(C=1e3, max_iter=3), True),
    "machine on features": (mercer.SVC(C=1e3, approx="fourier:64", max_iter=1, tol=1e-9), True),
    "regression": (mercer.SVR(C=1e3, max_iter=3), False),
    "search": (mercer.SVCCV(Cs=[1e3], gammas=[1.0], max_iter=3), True),
}


@pytest.mark.parametrize(("model", "classes"), LIMITED.values(), ids=LIMITED.keys())
def test_a_limit_that_is_met_is_a_convergence_warning_at_the_call(data, model, classes):
    X, y, labels = data
    found = heard(model, X, labels if classes else y)
    assert found and all(warning.category is ConvergenceWarning for warning in found)
    assert {warning.filename for warning in found} == {__file__}
    assert getattr(model, "fit_status_", 1) == 1


def test_a_search_for_the_likelihood_that_stops_early_warns_at_the_call(data, monkeypatch):
    X, y, labels = data
    once = functools.partial(scipy.optimize.minimize, options={"maxiter": 1})
    monkeypatch.setattr(scipy.optimize, "minimize", once)
    for model, targets in [
        (mercer.GaussianProcessRegressor("?*rbf(sigma=?) + noise(value=?)"), y[:40]),
        (mercer.GaussianProcessClassifier("?*rbf(sigma=?)"), labels[:40]),
    ]:
        found = heard(model, X[:40], targets)
        assert any("did not converge in 1 steps" in str(warning.message) for warning in found)
        assert {(warning.category, warning.filename) for warning in found} == {(ConvergenceWarning, __file__)}


def test_a_solver_that_stagnates_warns(data):
    """No solver reaches a tolerance below the rounding error."""
    X, y, labels = data
    for model, rows, targets in [
        # In exact arithmetic 60 steps suffice.
        (mercer.KernelRidge(1e-12, kernel="rbf(sigma=5)", solver="cg", tol=1e-30, max_iter=1_000), X[:60], y[:60]),
        (mercer.SVC(C=1e5, approx="fourier:64", tol=1e-15), X, labels),
    ]:
        found = heard(model, rows, targets)
        assert any(warning.category is ConvergenceWarning for warning in found), model
        assert getattr(model, "fit_status_", 1) == 1
        assert {warning.filename for warning in found} == {__file__}


def test_an_undecided_kernel_is_not_a_convergence_warning(data):
    X, y, labels = data
    text = "exp(-|x-z|) - 1e-6*rbf(sigma=1)"
    for model, targets in [(mercer.KernelRidge(kernel=text), y), (mercer.SVC(kernel=text), labels)]:
        (warning,) = heard(model, X, targets)
        assert warning.category is UserWarning and "undecided" in str(warning.message) and warning.filename == __file__


def test_a_fit_through_tools_of_scikit_learn_warns_at_the_call(data):
    X, _, labels = data
    for tool in (make_pipeline(StandardScaler(), mercer.SVC(C=1e3, max_iter=3)), GridSearchCV(mercer.SVC(max_iter=3), {"C": [1e3]})):
        found = [warning for warning in heard(tool, X, labels) if warning.category is ConvergenceWarning]
        assert found and {warning.filename for warning in found} == {__file__}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        mercer.OneClassSVM(max_iter=1).fit_predict(X)
    assert [warning.filename for warning in found] == [__file__]


def test_only_convergence_is_a_convergence_warning(data):
    """A fit that has not converged, on a kernel that is undecided: two warnings of two kinds."""
    X, y, labels = data
    text = "exp(-|x-z|) - 1e-6*rbf(sigma=1)"
    for model, targets in [
        (mercer.KernelRidge(1e-9, kernel=text, solver="cg", max_iter=1), y),
        (mercer.KernelLMS(text, max_iter=2), y),
        (mercer.KernelLogisticRegression(kernel=text, max_iter=1), labels),
        (mercer.SVC(kernel=text, C=1e3, max_iter=3), labels),
    ]:
        kinds = {(warning.category, "undecided" in str(warning.message)) for warning in heard(model, X, targets)}
        assert kinds == {(ConvergenceWarning, False), (UserWarning, True)}, model


def test_the_library_says_which_warnings_are_about_convergence(data):
    """The category does not depend on the words: other warnings may mention steps and tolerances."""
    model = mercer.KernelRidge()
    report = {"status": "stagnated", "iterations": 3, "residual": 0.1, "reasons": ["larger alpha"], "warnings": ["a step of 2"]} | {"facts": {}}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model._report_result(report)
    assert [warning.category for warning in found] == [UserWarning, ConvergenceWarning]
    assert str(found[0].message) == "a step of 2" and str(found[1].message).endswith("; larger alpha")
    X, y, _ = data
    with pytest.warns(ConvergenceWarning, match="rounding leaves a relative residual"):
        stuck = mercer.KernelRidge(1e-12, kernel="rbf(sigma=1e9)", solver="cholesky").fit(X, y)
    assert len(stuck._report["reasons"]) == 1 and not stuck._report["warnings"]


def test_a_fit_that_converged_is_silent(data):
    X, y, labels = data
    for model in (mercer.KernelRidge(kernel="rbf"), mercer.SVR()):
        assert not heard(model, X, y)
    for model in (mercer.SVC(), mercer.SVC(approx="fourier:32"), mercer.KernelLogisticRegression()):
        assert not heard(model, X, labels)
