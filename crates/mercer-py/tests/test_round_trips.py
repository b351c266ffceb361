"""Saved and loaded again, every model predicts the same: each estimator with its options, and classifiers with labels of each type."""

import pickle
import warnings

import mercer
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from closeness import assert_close
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import ConvergenceWarning

LABELS = {
    "bool": [False, True],
    "int8": np.array([-3, 7], dtype=np.int8),
    "int64": [-1, 1],
    "int64 from 0": [0, 1, 2],
    "integers beyond the doubles": [2**53, 2**53 + 1],
    "uint8": np.array([1, 2, 250], dtype=np.uint8),
    "uint64": np.array([2**63, 2**64 - 1], dtype=np.uint64),
    "float64": [0.0, 1.0, -2.0],
    "float32": np.array([0.0, 2.0], dtype=np.float32),
    "str": ["no", "yes", "für, \"quoted\"\n"],
    "object": np.array(["no", "yes"], dtype=object),
    "numeric str": ["1", "10", "2"],
}

CLASSIFIERS = [
    mercer.SVC(),
    mercer.SVC(C=np.inf),
    mercer.SVC(probability=True, random_state=0),
    mercer.SVC(decision_function_shape="ovo", break_ties=False),
    mercer.SVC(break_ties=True),
    mercer.SVC(kernel="poly", degree=2, coef0=1.0, class_weight="balanced"),
    mercer.SVC(kernel="matern(length=auto)", random_state=0),
    mercer.SVC(approx="fourier:32", random_state=0),
    mercer.SVC(approx="nystrom:10", random_state=0),
    mercer.NuSVC(nu=0.3),
    mercer.NuSVC(nu=0.3, probability=True, random_state=0),
    mercer.SVCCV(Cs=[1.0, 10.0], gammas=[0.1, 1.0], cv=2),
    mercer.KernelLogisticRegression(),
    mercer.KernelLogisticRegression(fit_intercept=False, class_weight="balanced"),
    mercer.KernelLogisticRegression(solver="gd", max_iter=20),
    mercer.KernelLogisticRegression(solver="sgd", max_iter=5, random_state=0),
    mercer.KernelLogisticRegression(approx="fourier:32", random_state=0),
    mercer.KernelLogisticRegression(approx="nystrom:10", random_state=0),
    mercer.KernelPerceptron(random_state=0),
    mercer.KernelPerceptron(averaged=False, shuffle=False),
    mercer.KernelPerceptron(vote=True, random_state=0, max_iter=3),
    mercer.KernelPerceptron(budget=10, random_state=0, max_iter=3),
    mercer.KernelPerceptron(rule="one-vs-rest", random_state=0),
    mercer.KNeighborsClassifier(),
    mercer.KNeighborsClassifier(3, weights="distance", p=1),
    mercer.KNeighborsClassifier(3, metric="chebyshev"),
    mercer.KNeighborsClassifier(3, p=3),
]

OTHERS = [
    mercer.SVR(),
    mercer.SVR(C=np.inf, epsilon=0.5),
    mercer.SVR(kernel="linear"),
    mercer.NuSVR(),
    mercer.OneClassSVM(),
    mercer.OneClassSVM(nu=0.1, kernel="rbf(sigma=1)"),
    mercer.KernelRidge(),
    mercer.KernelRidge(kernel="rbf", bias="centred"),
    mercer.KernelRidge(kernel="rbf(sigma=1)", bias="column"),
    mercer.KernelRidge(kernel="poly", solver="primal"),
    mercer.KernelRidge(kernel="rbf", solver="mixed"),
    mercer.KernelRidge(kernel="rbf", solver="cg", random_state=0),
    mercer.KernelRidge(0, kernel="linear"),
    mercer.KernelRidge(kernel="rbf", approx="fourier:32", random_state=0),
    mercer.KernelRidge(kernel="rbf", approx="nystrom:10", random_state=0),
    mercer.KernelRidge(kernel="chi2"),
    mercer.KernelRidgeCV(),
    mercer.KernelRidgeCV(approx="fourier:32", bias="centred", random_state=0),
    mercer.KernelRidgeCV("matern(length=?0.5..5)", cv=3),
    mercer.KernelLMS(),
    mercer.KernelLMS(solver="sgd", max_iter=3, random_state=0),
    mercer.KernelLMS(bias="centred"),
    mercer.KernelLMS(bias="column"),
    mercer.KernelSmoother(),
    mercer.KernelSmoother("matern(length=2)"),
    mercer.KNeighborsRegressor(),
    mercer.KNeighborsRegressor(weights="distance", metric="manhattan"),
    mercer.KNeighborsRegressor(p=1.5),
]

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Singular matrix"),
]

#: Estimators whose files are tested with them: they take no sparse rows and have no decision function.
ELSEWHERE = {"GaussianProcessClassifier", "GaussianProcessRegressor"}
#: Estimators that are not models: their `save` raises.
FEATURES = {"Nystroem", "PolynomialFeatureMap", "RBFSampler", "RandomFourierFeatures"}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.abs(rng.standard_normal((60, 3))), np.abs(rng.standard_normal((20, 3)))


def loaded(model, path):
    model.save(path)
    found = mercer.load(path)
    again = pickle.loads(pickle.dumps(found))
    found.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()
    return found, again


def assert_same_classifier(fitted, model, Z):
    assert model.classes_.dtype == fitted.classes_.dtype
    assert model.classes_.tolist() == fitted.classes_.tolist()
    expected, found = fitted.predict(Z), model.predict(Z)
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
    if hasattr(fitted, "predict_proba"):
        assert_close(model.predict_proba(Z), fitted.predict_proba(Z), 1e-12)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize(
    "model",
    [mercer.SVC(), mercer.KernelLogisticRegression(), mercer.KernelPerceptron(random_state=0), mercer.KNeighborsClassifier()],
    ids=repr,
)
def test_labels_keep_their_type(rows, tmp_path, model, kind):
    X, Z = rows
    labels = np.asarray(LABELS[kind])
    y = labels[(X[:, 0] > 0.5).astype(int) + (X[:, 1] > 1.0) * (len(labels) > 2)]
    fitted = model.fit(X, y)
    for found in loaded(fitted, tmp_path / "m.mercer"):
        assert_same_classifier(fitted, found, Z)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_classifiers(rows, tmp_path, model, classes):
    X, Z = rows
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0.5).astype(int) + (X[:, 1] > 1.0) * (classes == 3)]
    fitted = model.fit(X, y)
    for found in loaded(fitted, tmp_path / "m.mercer"):
        assert_same_classifier(fitted, found, Z)
        if not isinstance(model, mercer.KNeighborsClassifier) and not getattr(model, "vote", False):
            shape = getattr(model, "decision_function_shape", "ovr")
            if shape == "ovr" or classes == 2:
                assert_close(found.decision_function(Z), fitted.decision_function(Z), 1e-12)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, lambda A: A.astype(np.float32), pd.DataFrame])
@pytest.mark.parametrize("model", OTHERS, ids=repr)
def test_others(rows, tmp_path, model, form):
    if form is scipy.sparse.csr_array and getattr(model, "bias", "none") == "column":
        pytest.skip("rows are centred")
    X, Z = (form(A) for A in rows)
    if form is pd.DataFrame:
        X.columns = Z.columns = ["a", "b c", "d"]
    y = np.sin(rows[0][:, 0]) + rows[0][:, 1]
    targets = [y] if "SV" in type(model).__name__ else [y, np.column_stack([y, -y])]
    for target in targets:
        fitted = model.fit(X, target)
        for found in loaded(fitted, tmp_path / "m.mercer"):
            expected, predicted = fitted.predict(Z), found.predict(Z)
            if isinstance(model, mercer.OneClassSVM):
                assert predicted.tolist() == expected.tolist()
            else:
                assert_close(predicted, expected, 1e-5 if getattr(X, "dtype", None) == np.float32 else 1e-12)


def sums_over_contents(model, Z):
    """The outputs of a loaded model at rows that need no scaling, from its attributes alone."""
    rows = Z if model.shift is None else Z - model.shift
    if model.centres is not None:
        features = model.kernel(rows, model.centres)
    elif model.terms is not None:
        assert len(model.terms) == len(model.coefficients)
        features = mercer.FeatureMap(model.info["features"])(rows)
    else:
        turns = rows @ model.frequencies.T
        if model.phases is None:
            features = np.hstack([model.amplitudes * np.cos(turns), model.amplitudes * np.sin(turns)])
        else:
            features = model.amplitudes * np.cos(turns + 2 * np.pi * model.phases)
    return features @ model.coefficients + model.intercepts


@pytest.mark.parametrize("model", [*CLASSIFIERS, *OTHERS], ids=repr)
def test_the_attributes_of_a_loaded_model_make_its_outputs(rows, tmp_path, model):
    X, Z = rows
    y = np.sin(X[:, 0]) + X[:, 1]
    if is_classifier(model):
        y = np.array(["a", "b", "c"])[(X[:, 0] > 0.5).astype(int) + (X[:, 1] > 1.0)]
    found, _ = loaded(model.fit(X, y), tmp_path / "m.mercer")
    if found.targets is not None:
        np.testing.assert_array_equal(found.centres, X)
        assert len(found.targets) == len(X) and found.coefficients is None
    elif found.steps is not None:
        assert found.steps.shape[1] == 4 and found.steps[:, 0].max() < len(found.centres)
    else:
        expected = found._outputs(Z, None, 0)[1]
        assert_close(sums_over_contents(found, Z), expected, 1e-10)
        assert found.coefficients is found.coefficients, "copied once"
        if found.n_support is not None:
            assert found.n_support.sum() == len(found.centres)


def test_contents_of_sparse_rows_and_explicit_features(rows, tmp_path):
    X, Z = rows
    y = np.sin(X[:, 0]) + X[:, 1]
    sparse, _ = loaded(mercer.SVR(kernel="linear").fit(scipy.sparse.csr_array(X), y), tmp_path / "s")
    assert scipy.sparse.issparse(sparse.centres)
    assert_close(sums_over_contents(sparse, Z), sparse._outputs(Z, None, 0)[1], 1e-10)
    primal, _ = loaded(mercer.KernelRidge(kernel="poly", degree=2, solver="primal").fit(X, y), tmp_path / "p")
    assert "x0*x1" in "".join(primal.terms).replace(" ", "") and primal.centres is None


def test_every_estimator_is_here():
    kinds = {type(model).__name__ for model in (*CLASSIFIERS, *OTHERS)}
    public = {name: getattr(mercer, name) for name in mercer.__all__}
    every = {name for name, thing in public.items() if isinstance(thing, type) and issubclass(thing, BaseEstimator)}
    assert every - FEATURES - ELSEWHERE == kinds
    assert all(is_classifier(model) for model in CLASSIFIERS)


def test_settings_that_are_not_finite(rows, tmp_path):
    X, _ = rows
    fitted = mercer.SVC(C=np.inf).fit(X, X[:, 0] > 0.5)
    assert fitted.classes_.dtype == bool
    fitted.save(tmp_path / "m")
    assert mercer.load(tmp_path / "m").classes_.tolist() == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mercer.KernelPerceptron().fit(X, X[:, 0] > 0.5).save(tmp_path / "m")
    assert mercer.load(tmp_path / "m").predict(X).dtype == bool
