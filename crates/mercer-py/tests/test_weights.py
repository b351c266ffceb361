"""Weights of rows: a row of weight 2 is two rows, in the model and in γ; and methods that learn from further rows."""

import mercer
import numpy as np
import pytest
import scipy.sparse
from closeness import assert_close
from mercer._gamma import scale_gamma


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 3)) * [1.0, 5.0, 0.2] + [0.0, 2.0, 0.0]
    weights = rng.integers(0, 3, 60).astype(float)
    return X, np.sin(X[:, 0]), (X[:, 0] + 0.3 * rng.standard_normal(60) > 0).astype(int), weights


def repeated(weights, *arrays):
    return [np.repeat(array, weights.astype(int), axis=0) for array in arrays]


def test_gamma_matches_repeated_rows(data):
    X, _, _, weights = data
    (rows,) = repeated(weights, X)
    assert scale_gamma(X, weights) == pytest.approx(1 / (3 * rows.var()), rel=1e-13)
    assert scale_gamma(X, weights) == pytest.approx(scale_gamma(X, 7 * weights), rel=1e-13)
    assert scale_gamma(X) == pytest.approx(1 / (3 * X.var()), rel=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows, share", [(50, 0.1), (50, 1.0), (3000, 0.3)])
def test_gamma_has_the_same_bits_on_sparse_and_dense_rows(rng, dtype, rows, share):
    X = (rng.standard_normal((rows, 200)) + 1e3) * (rng.random((rows, 200)) < share)
    X = X.astype(dtype)
    weights = rng.random(rows)
    forms = [scipy.sparse.csr_array(X), scipy.sparse.csr_matrix(X)]
    stored = scipy.sparse.coo_array(X).tocsr()
    stored.data = np.append(stored.data, 0.0).astype(dtype)
    stored.indices = np.append(stored.indices, 199).astype(stored.indices.dtype)
    stored.indptr[-1] += 1
    forms.append(stored)  # with an explicit zero, or one that is added to an entry
    for form in forms:
        assert scale_gamma(form) == scale_gamma(X)
        assert scale_gamma(form, weights) == scale_gamma(X, weights)
    dense, sparse = (mercer.SVC().fit(form, np.arange(rows) % 2)._gamma for form in (X[:50], forms[0][:50])) if rows == 50 else (0, 0)
    assert dense == sparse


def test_gamma_of_data_far_from_zero_is_not_lost_to_cancellation():
    X = 1e8 + np.arange(20.0).reshape(10, 2)
    for form in (X, scipy.sparse.csr_array(X)):
        assert scale_gamma(form, np.ones(10)) == pytest.approx(1 / (2 * X.var()), rel=1e-6)


@pytest.mark.parametrize(
    "model, classes",
    [
        (mercer.SVC(tol=1e-10), True),
        (mercer.NuSVC(nu=0.2, tol=1e-10), True),
        (mercer.KernelLogisticRegression(tol=1e-12), True),
        (mercer.SVR(tol=1e-10), False),
        (mercer.NuSVR(tol=1e-10), False),
        (mercer.KernelSmoother(), False),
        (mercer.KernelSmoother(lambda x, z: np.exp(-np.sum((x - z) ** 2))), False),
        (mercer.KernelLMS("rbf(sigma=1)", step=0.01, max_iter=50, tol=0), False),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, bool) else "",
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_row_of_weight_two_is_two_rows(data, model, classes):
    X, y, labels, weights = data
    y = labels if classes else y
    method = "decision_function" if classes else "predict"
    weighted = getattr(model.fit(X, y, sample_weight=weights), method)(X)
    rows, targets = repeated(weights, X, y)
    assert_close(weighted, getattr(model.fit(rows, targets), method)(X), 1e-7)


def test_rows_on_the_boundary_are_inside(rng):
    """The decision at free support vectors is 0 at the optimum; its sign is not that of an error."""
    X = rng.standard_normal((200, 2))
    for tol in (1e-3, 1e-6, 1e-10):
        model = mercer.OneClassSVM(nu=0.3, tol=tol).fit(X)
        dual = model.dual_coef_[0]
        free = model.support_[(dual > 1e-9) & (dual < dual.max() - 1e-9)]
        assert len(free) and (model.predict(X[free]) == 1).all() and (model.decision_function(X[free]) <= 3 * tol).all()
        assert np.mean(model.predict(X) == -1) <= 0.3
        assert np.array_equal(model.predict(X) == 1, model.decision_function(X) >= 0)


def test_a_smoother_takes_more_rows(data):
    X, y, _, weights = data
    whole = mercer.KernelSmoother("rbf(sigma=1)").fit(X, y, weights).predict(X)
    for form in (np.asarray, scipy.sparse.csr_array):
        model = mercer.KernelSmoother("rbf(sigma=1)").partial_fit(form(X[:20]), y[:20], weights[:20])
        model.partial_fit(form(X[20:]), y[20:], weights[20:])
        assert_close(model.predict(X), whole, 1e-13)
    model = mercer.KernelSmoother("rbf(sigma=1)").partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert_close(model.predict(X), mercer.KernelSmoother("rbf(sigma=1)").fit(X, y).predict(X), 1e-13)


def test_a_smoother_with_weights_is_not_saved_without_them(data, tmp_path):
    X, y, _, weights = data
    with pytest.raises(ValueError, match="weights.*cannot be saved"):
        mercer.KernelSmoother().fit(X, y, weights).save(tmp_path / "m")
    with pytest.raises(ValueError, match="0 for every row|non-zero"):
        mercer.KernelSmoother().fit(X, y, np.zeros(60))


def test_least_mean_squares_row_by_row(data, tmp_path):
    X, y, _, weights = data
    K, expected = mercer.Kernel("rbf(sigma=1)")(X), np.zeros(60)
    for i in range(60):
        expected[i] = 0.4 * weights[i] * (y[i] - K[i] @ expected)
    model = mercer.KernelLMS("rbf(sigma=1)", solver="sgd", step=0.4)
    for part in np.array_split(np.arange(60), 4):
        model.partial_fit(X[part], y[part], weights[part])
    assert_close(model.dual_coef_, expected, 1e-13)
    model.save(tmp_path / "m")
    assert_close(mercer.load(tmp_path / "m").predict(X), K @ expected, 1e-12)
    for _ in range(40):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.98
    assert not hasattr(mercer.KernelLMS(), "partial_fit")
    with pytest.raises(ValueError, match="diverges"):
        mercer.KernelLMS("rbf(sigma=1)", solver="sgd", step=3.0).partial_fit(X, y)
