"""Nyström features, against the kernel and scikit-learn's class."""

import pickle

import mercer
import numpy as np
import pytest
import scipy.sparse
import sklearn.kernel_approximation
from sklearn.metrics.pairwise import rbf_kernel


@pytest.fixture
def X(rng):
    return rng.standard_normal((80, 4))


@pytest.mark.parametrize("landmarks", ["uniform", "k-means++", "rpcholesky"])
@pytest.mark.parametrize("kernel", ["rbf(sigma=2)", "matern(nu=1.5, length=2) + linear", "(<x,z>+1)^3"])
def test_the_kernel_is_exact_between_landmarks(X, kernel, landmarks):
    map = mercer.Nystroem(kernel, n_components=20, landmarks=landmarks).fit(X)
    assert len(set(map.component_indices_.tolist())) == 20
    np.testing.assert_array_equal(map.components_, X[map.component_indices_])
    phi, among = map.transform(X), map.transform(map.components_)
    K = mercer.Kernel(kernel)(X, map.components_)
    np.testing.assert_allclose(phi @ among.T, K, atol=1e-8 * abs(K).max())
    np.testing.assert_allclose(phi, K @ map.normalization_.T, atol=1e-7 * abs(phi).max())


def test_the_features_match_scikit_learn_up_to_a_rotation(X):
    for kernel, parameters in [("rbf", {"gamma": 0.4}), ("laplacian", {}), ("poly", {"degree": 2, "coef0": 0.5}), ("cosine", {})]:
        both = {"kernel": kernel, "n_components": 15, "random_state": 3, **parameters}
        both["n_components"] = 3 if kernel == "cosine" else 10
        ours, peer = mercer.Nystroem(**both).fit(X), sklearn.kernel_approximation.Nystroem(**both).fit(X)
        np.testing.assert_array_equal(ours.component_indices_, peer.component_indices_)
        a, b = ours.transform(X), peer.transform(X)
        np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-9 * abs(b @ b.T).max())


@pytest.mark.parametrize("kernel", ["sigmoid", "additive_chi2", lambda x, z: np.minimum(x, z).sum()])
def test_indefinite_kernels_have_the_features_of_scikit_learn(X, kernel):
    X = abs(X)
    both = {"kernel": kernel, "n_components": 6, "random_state": 3}
    ours, peer = mercer.Nystroem(**both).fit(X), sklearn.kernel_approximation.Nystroem(**both).fit(X)
    np.testing.assert_allclose(ours.normalization_, peer.normalization_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-8)


def test_a_precomputed_kernel(X):
    K = rbf_kernel(X, gamma=0.3)
    ours = mercer.Nystroem("precomputed", n_components=12, random_state=1).fit(K)
    rows = mercer.Nystroem("rbf", gamma=0.3, n_components=12, random_state=1).fit(X)
    np.testing.assert_array_equal(ours.component_indices_, rows.component_indices_)
    a, b = ours.transform(K), rows.transform(X)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-9)


def test_landmarks_of_your_own(X):
    own = np.vstack([X[:5], X[:5], [[9.0, 9, 9, 9]]])
    map = mercer.Nystroem("rbf(sigma=2)", landmarks=own.tolist()).fit(X)
    assert map.component_indices_ is None
    np.testing.assert_array_equal(map.components_, own)
    phi = map.transform(X)
    assert phi.shape == (80, 11) and len(map.get_feature_names_out()) == 11
    # Redundant landmarks have a feature of zeros.
    assert (abs(phi).max(axis=0) == 0).sum() == 5
    among = map.transform(own)
    np.testing.assert_allclose(phi @ among.T, mercer.Kernel("rbf(sigma=2)")(X, own), atol=1e-9)
    np.testing.assert_allclose(phi, mercer.Kernel("rbf(sigma=2)")(X, own) @ map.normalization_.T, atol=1e-9)


def test_pivots_span_the_kernel_better_than_chance(rng):
    """A few distant rows: uniform sampling misses them, pivoting does not."""
    X = np.vstack([rng.standard_normal((300, 2)) / 10, 5 + rng.standard_normal((10, 2))])
    K = mercer.Kernel("rbf(sigma=1)")(X)
    error = {}
    for landmarks in ("uniform", "rpcholesky"):
        phi = mercer.Nystroem("rbf(sigma=1)", n_components=15, landmarks=landmarks).fit_transform(X)
        error[landmarks] = np.trace(K - phi @ phi.T)
    assert 0 <= error["rpcholesky"] < 0.2 * error["uniform"]


def test_forms_of_the_rows(X):
    X = np.where(X > 0, X, 0)
    map = mercer.Nystroem(n_components=10, random_state=0)
    expected = map.fit_transform(X)
    for form in (scipy.sparse.csr_array, scipy.sparse.csr_matrix, np.asfortranarray, list):
        np.testing.assert_allclose(map.fit(form(X)).transform(form(X)), expected, atol=1e-9)
    single = map.fit(X.astype(np.float32)).transform(X.astype(np.float32))
    assert single.dtype == np.float32 and map.normalization_.dtype == np.float32
    np.testing.assert_allclose(single @ single.T, expected @ expected.T, atol=1e-4)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(map)).transform(X), map.transform(X))
    assert list(map.set_output(transform="pandas").fit_transform(X).columns) == [f"nystroem{i}" for i in range(10)]


def test_the_same_seed_gives_the_same_landmarks(X):
    for landmarks in ("uniform", "k-means++", "rpcholesky"):
        draw = lambda seed, jobs=None: (
            mercer.Nystroem(n_components=9, landmarks=landmarks, random_state=seed, n_jobs=jobs).fit(X).component_indices_
        )
        np.testing.assert_array_equal(draw(3), draw(3, 1))
        assert (draw(3) != draw(4)).any()
        assert (draw(None) != draw(None)).any()


def test_parameters_of_a_named_kernel_may_be_in_a_dict(X):
    a = mercer.Nystroem("rbf", kernel_params={"gamma": 0.2}, n_components=5, random_state=0).fit(X)
    b = mercer.Nystroem("rbf", gamma=0.2, n_components=5, random_state=0).fit(X)
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    assert str(a.kernel_) == str(b.kernel_)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_components": 0}, "n_components.*Got 0"),
        ({"n_components": "many"}, "n_components"),
        ({"landmarks": "best"}, "landmarks.*'best'"),
        ({"landmarks": np.ones((2, 3))}, r"4 features.*\(2, 3\)"),
        ({"landmarks": np.ones((0, 4))}, r"\(0, 4\)"),
        ({"landmarks": [[1.0, 2.0, 3.0, np.nan]]}, "landmarks.*NaN"),
        ({"kernel": np.dot, "landmarks": "rpcholesky"}, "uniform"),
        ({"kernel": np.dot, "gamma": 1}, "Don't pass gamma"),
        ({"kernel": "rbf(sigma=1)", "gamma": 1}, "formula"),
        ({"kernel": "rbf", "gamma": -1}, "gamma"),
        ({"kernel": 3}, "kernel"),
    ],
)
def test_bad_parameters(X, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mercer.Nystroem(**parameters).fit(X)


def test_more_landmarks_than_rows_are_warned_of(X):
    with pytest.warns(UserWarning, match="n_components > n_samples"):
        map = mercer.Nystroem(n_components=100).fit(X)
    assert map.components_.shape == (80, 4)
    with pytest.warns(UserWarning, match="n_components > n_samples"):
        mercer.Nystroem(n_components=100, landmarks="rpcholesky").fit(X)


def test_a_kernel_of_zeros_has_features_of_zeros():
    phi = mercer.Nystroem("linear", n_components=3).fit_transform(np.zeros((5, 2)))
    np.testing.assert_array_equal(phi, np.zeros((5, 3)))


def test_landmarks_of_smooth_kernels_are_chosen_at_every_width():
    """At some of these widths rounding decides about the last landmarks; the choice of them did not end, or ended in an error."""
    X = np.random.default_rng(0).standard_normal((350, 3))
    for gamma in np.geomspace(1e-4, 1, 60):
        model = mercer.Nystroem(kernel=f"rbf(gamma={gamma})", n_components=350, random_state=0).fit(X)
        features = model.transform(X)
        expected = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        np.testing.assert_allclose(features @ features.T, expected, rtol=0, atol=1e-8)
