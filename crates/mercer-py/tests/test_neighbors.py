"""k nearest neighbours, against scikit-learn's."""

import mercer
import numpy as np
import pytest
import scipy.sparse
import sklearn.neighbors
from closeness import assert_close


@pytest.fixture
def data(rng):
    X = rng.standard_normal((300, 4))
    X[250:] = X[:50]  # duplicates
    return X, rng.standard_normal((80, 4)), rng.standard_normal((300, 2)), rng.integers(0, 4, 300)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("k", [1, 7, 300])
def test_neighbours_are_those_of_scikit_learn(data, dtype, p, k):
    X, queries, y, _ = data
    X, queries = X[:250].astype(dtype), queries.astype(dtype)
    ours = mercer.KNeighborsRegressor(min(k, 250), p=p).fit(X, y[:250])
    # Trees take distances from differences, good to a few eps; brute force loses digits to norms less dot products.
    peer = sklearn.neighbors.KNeighborsRegressor(min(k, 250), p=p, algorithm="kd_tree").fit(X.astype(np.float64), y[:250])
    distances, indices = ours.kneighbors(queries)
    expected, places = peer.kneighbors(queries.astype(np.float64))
    assert np.array_equal(indices, places)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


def test_of_equal_neighbours_the_first_comes_first(data):
    X, _, y, _ = data
    _, indices = mercer.KNeighborsRegressor(2).fit(X, y).kneighbors(X[250:])
    assert np.array_equal(indices, np.stack([np.arange(50), np.arange(250, 300)], axis=1))


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("sparse", [False, True])
def test_regression_is_that_of_scikit_learn(data, weights, sparse):
    X, queries, y, _ = data
    X, y = X[:250], y[:250]
    queries = np.concatenate([queries, X[100:120]])  # exact matches, whose distance must be exactly 0
    kind = scipy.sparse.csr_matrix if sparse else np.asarray
    for targets in (y, y[:, 0]):
        ours = mercer.KNeighborsRegressor(4, weights=weights).fit(kind(X), targets).predict(kind(queries))
        peer = sklearn.neighbors.KNeighborsRegressor(4, weights=weights, algorithm="kd_tree").fit(X, targets).predict(queries)
        # Means of four targets with weights good to a few eps.
        assert_close(ours, peer, 1e-13)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classification_is_that_of_scikit_learn(data, weights):
    X, queries, _, y = data
    labels = np.array(["d", "a", "c", "b"])[y]
    ours = mercer.KNeighborsClassifier(6, weights=weights).fit(X[:250], labels[:250])
    peer = sklearn.neighbors.KNeighborsClassifier(6, weights=weights).fit(X[:250], labels[:250])
    assert np.array_equal(ours.classes_, peer.classes_)
    assert_close(ours.predict_proba(queries), peer.predict_proba(queries), 1e-9)
    assert np.array_equal(ours.predict(queries), peer.predict(queries))
    several = np.stack([labels, labels[::-1]], axis=1)[:250]
    ours, peer = ours.fit(X[:250], several), peer.fit(X[:250], several)
    assert np.array_equal(ours.predict(queries), peer.predict(queries))


def test_rows_are_not_their_own_neighbours(data):
    X, _, y, _ = data
    ours, peer = mercer.KNeighborsRegressor(3), sklearn.neighbors.KNeighborsRegressor(3, algorithm="kd_tree")
    ours, peer = ours.fit(X[:250], y[:250]), peer.fit(X[:250], y[:250])
    assert np.array_equal(ours.kneighbors(return_distance=False), peer.kneighbors(return_distance=False))
    for mode in ("connectivity", "distance"):
        found, expected = ours.kneighbors_graph(mode=mode), peer.kneighbors_graph(mode=mode)
        assert_close(found.toarray(), expected.toarray(), 1e-9)
    _, indices = ours.fit(X, y).kneighbors()
    assert not (indices == np.arange(len(X))[:, None]).any()


@pytest.mark.parametrize(
    "parameters, error",
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter.*Got 0"),
        ({"n_neighbors": 2.5}, "'n_neighbors' parameter.*Got 2.5"),
        ({"weights": "near"}, "weights"),
        ({"p": 0}, "'p'"),
        ({"metric": "taxicab"}, "metric"),
    ],
)
def test_bad_parameters(data, parameters, error):
    X, _, y, _ = data
    with pytest.raises((ValueError, TypeError), match=error):
        mercer.KNeighborsRegressor(**parameters).fit(X, y)


def test_more_neighbours_than_rows(data):
    X, queries, y, _ = data
    model = mercer.KNeighborsRegressor(301).fit(X, y)
    with pytest.raises(ValueError, match="n_samples_fit = 300"):
        model.predict(queries)


def test_model_files(data, tmp_path):
    X, queries, y, labels = data
    path = tmp_path / "m.mercer"
    for weights in ("uniform", "distance"):
        regressor = mercer.KNeighborsRegressor(3, weights=weights).fit(X, y)
        regressor.save(path)
        assert_close(mercer.load(path).predict(queries), regressor.predict(queries), 1e-12)
        classifier = mercer.KNeighborsClassifier(3, weights=weights).fit(X, labels)
        classifier.save(path)
        loaded = mercer.load(path)
        assert np.array_equal(loaded.classes_, classifier.classes_)
        assert np.array_equal(loaded.predict(queries), classifier.predict(queries))
        assert_close(loaded.predict_proba(queries), classifier.predict_proba(queries), 1e-12)
