"""Parameters: refused values, the meaning of `random_state`, and scikit-learn's special values."""

import mercer
import numpy as np
import pytest
import sklearn.svm
from sklearn import config_context
from sklearn.utils._param_validation import InvalidParameterError

REFUSED = [
    mercer.SVC(max_iter=1.5),
    mercer.SVC(class_weight=[1, 2, 3]),
    mercer.SVC(shrinking="no"),
    mercer.SVC(probability="yes"),
    mercer.SVC(C=-1),
    mercer.SVC(gamma="wide"),
    mercer.SVC(kernel=3),
    mercer.SVC(degree=2.5),
    mercer.SVC(break_ties="no"),
    mercer.SVC(approx=100),
    mercer.SVC(approx="fourier"),
    mercer.NuSVC(nu=0),
    mercer.SVR(epsilon=-0.1),
    mercer.OneClassSVM(tol=0),
    mercer.KernelRidge(alpha=-1),
    mercer.KernelRidge(alpha=[1, "two"]),
    mercer.KernelRidge(max_iter=2.0),
    mercer.KernelRidge(bias="center"),
    mercer.KernelRidgeCV(cv="loo"),
    mercer.KernelRidgeCV(alphas=[0.0]),
    mercer.KernelLogisticRegression(C=0),
    mercer.KernelLogisticRegression(fit_intercept="no"),
    mercer.KernelLogisticRegression(class_weight=[1, 2]),
    mercer.KernelPerceptron(shuffle="no"),
    mercer.KernelPerceptron(budget=1.5),
    mercer.KernelLMS(step="small"),
    mercer.KernelSmoother(gamma="scale"),
    mercer.KNeighborsClassifier(n_neighbors=2.0),
    mercer.KNeighborsClassifier(metric="taxicab"),
    mercer.Nystroem(landmarks="some"),
    mercer.RBFSampler(n_components=0),
    mercer.RandomFourierFeatures(orthogonal=2),
    mercer.PolynomialFeatureMap(degree=1.5),
]


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 3))
    return X, np.arange(40) % 2


@pytest.mark.parametrize("estimator", REFUSED, ids=repr)
def test_a_bad_parameter_is_an_invalid_parameter_error(data, estimator):
    with pytest.raises(InvalidParameterError, match=rf"parameter of {type(estimator).__name__} must be .*Got .*"):
        estimator.fit(*data)


def test_the_first_partial_fit_validates(data):
    with pytest.raises(InvalidParameterError, match="'bias'"):
        mercer.KernelRidge(approx="fourier:8", bias="some").partial_fit(*data)


def test_validation_can_be_switched_off_as_in_scikit_learn(data):
    with config_context(skip_parameter_validation=True):
        mercer.SVC(shrinking=1).fit(*data)
    with pytest.raises(InvalidParameterError):
        mercer.SVC(shrinking=1).fit(*data)


def test_the_sentinel_of_scikit_learn_asks_for_no_probabilities(data):
    X, y = data
    parameters = sklearn.svm.SVC(probability="deprecated").get_params()
    model = mercer.SVC(**parameters).fit(X, y)
    assert not len(model.probA_) and not hasattr(model, "predict_proba")
    assert model._words["calibration"] is None
    assert mercer.SVC(**parameters, approx="fourier:8").fit(X, y).approx_ == "fourier:8"


def draws(X, y):
    """(random result of a fit, a model): each with ``random_state=None``."""
    yield "coef_", mercer.KernelRidge(kernel="rbf", approx="fourier:8").fit(X, y)
    yield "X_fit_", mercer.KernelRidge(kernel="rbf", approx="nystrom:8").fit(X, y)
    yield "coef_", mercer.KernelLogisticRegression(approx="fourier:8").fit(X, y)
    yield "dual_coef_", mercer.KernelPerceptron("linear", max_iter=1, averaged=False).fit(X, y)
    yield "component_indices_", mercer.Nystroem(n_components=8).fit(X)
    yield "component_indices_", mercer.Nystroem(n_components=8, landmarks="rpcholesky").fit(X)
    yield "random_weights_", mercer.RBFSampler().fit(X)
    yield "random_weights_", mercer.RandomFourierFeatures().fit(X)
    yield "probA_", mercer.SVC(probability=True).fit(X, y)
    yield "dual_coef_", mercer.KernelLMS(solver="sgd", max_iter=1).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_random_state_draws_a_new_seed_from_numpy(data):
    def attributes():
        return [np.array(getattr(model, name)) for name, model in draws(*data)]

    np.random.seed(3)
    first, second = attributes(), attributes()
    for one, other in zip(first, second, strict=True):
        assert not np.array_equal(one, other)
    np.random.seed(3)
    for one, other in zip(first, attributes(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fit_that_draws_nothing_leaves_numpys_state_alone(data):
    X, y = data
    state = np.random.get_state()[1].copy()
    for model in (mercer.KernelRidge(kernel="rbf"), mercer.SVC(), mercer.KernelLogisticRegression(), mercer.KernelSmoother()):
        model.fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


#: Estimators that compute nothing on a device: features by arithmetic alone.
ON_THE_HOST = {"PolynomialFeatureMap", "RBFSampler", "RandomFourierFeatures"}


@pytest.mark.parametrize("name", [name for name in mercer.__all__ if hasattr(getattr(mercer, name), "fit")])
def test_devices_by_name(data, name):
    kind = getattr(mercer, name)
    assert ("device" in kind().get_params()) == (name not in ON_THE_HOST)
    if name in ON_THE_HOST:
        return
    X, y = data

    def use(device):
        model = kind(device=device).fit(X, y)
        return (model.transform if hasattr(model, "transform") else model.predict)(X)

    assert len(use("auto")) == len(X)
    with pytest.raises(ValueError, match="cuda:N"):
        use("gpu")
    # No machine has this many.
    with pytest.raises(RuntimeError, match="cuda:4096"):
        use("cuda:4096")
