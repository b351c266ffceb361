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
def test_neighbours_match_scikit_learn(data, dtype, p, k):
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
def test_regression_matches_scikit_learn(data, weights, sparse):
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
def test_classification_matches_scikit_learn(data, weights):
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


def test_weights_of_tiny_distances_do_not_overflow(tmp_path):
    X = 1e-310 * np.array([[0.0], [4.0], [1e3]])
    regression = mercer.KNeighborsRegressor(2, weights="distance").fit(X, [1.0, 5.0, 0.0])
    classes = mercer.KNeighborsClassifier(2, weights="distance").fit(X, ["a", "b", "b"])
    # At distances of 1 and 3.
    assert_close(regression.predict(1e-310 * np.ones((1, 1))), [2.0], 1e-9)
    assert_close(classes.predict_proba(1e-310 * np.ones((1, 1))), [[0.75, 0.25]], 1e-9)
    regression.save(tmp_path / "m")
    assert_close(mercer.load(tmp_path / "m").predict(1e-310 * np.ones((1, 1))), [2.0], 1e-9)


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


METRICS = [
    {"metric": "chebyshev"},
    {"p": 3},
    {"p": 1.5},
    {"p": np.inf},
    {"metric": "minkowski", "p": 3, "metric_params": {"w": np.array([0.5, 2.0, 1.0, 3.0])}},
    {"metric": "canberra"},
    {"metric": "cosine"},
    {"metric": lambda x, z: np.abs(x - z).max()},
]


@pytest.mark.parametrize("parameters", METRICS, ids=str)
def test_more_distances_match_scikit_learn(data, parameters):
    X, queries, y, labels = data
    X, y, labels = X[:250], y[:250], labels[:250]  # without duplicates
    ours = mercer.KNeighborsRegressor(4, **parameters).fit(X, y)
    peer = sklearn.neighbors.KNeighborsRegressor(4, algorithm="brute", **parameters).fit(X, y)
    (distances, indices), (expected, places) = ours.kneighbors(queries), peer.kneighbors(queries)
    assert_close(distances, expected, 1e-12)
    assert np.array_equal(indices, places)
    assert_close(ours.predict(queries), peer.predict(queries), 1e-12)
    assert ours.effective_metric_ == peer.effective_metric_
    classifier = mercer.KNeighborsClassifier(4, weights="distance", **parameters).fit(X, labels)
    peer = sklearn.neighbors.KNeighborsClassifier(4, weights="distance", algorithm="brute", **parameters).fit(X, labels)
    assert_close(classifier.predict_proba(queries), peer.predict_proba(queries), 1e-9)


@pytest.mark.parametrize("parameters", [{"metric": "chebyshev"}, {"p": 3}, {"p": 1}, {}], ids=str)
def test_sparse_rows_and_files_of_more_distances(data, parameters, tmp_path):
    X, queries, y, _ = data
    dense = mercer.KNeighborsRegressor(4, **parameters).fit(X, y)
    sparse = mercer.KNeighborsRegressor(4, **parameters).fit(scipy.sparse.csr_array(X), y)
    assert_close(sparse.predict(scipy.sparse.csr_array(queries)), dense.predict(queries), 1e-13)
    dense.save(tmp_path / "m")
    assert_close(mercer.load(tmp_path / "m").predict(queries), dense.predict(queries), 1e-13)


def test_missing_values(data):
    X, queries, y, _ = data
    X, queries = X.copy(), queries.copy()
    for rows in (X, queries):
        rows[::3, 0] = np.nan
        rows[1::4, 2] = np.nan
    ours = mercer.KNeighborsRegressor(4, metric="nan_euclidean").fit(X, y)
    peer = sklearn.neighbors.KNeighborsRegressor(4, metric="nan_euclidean").fit(X, y)
    assert_close(ours.kneighbors(queries)[0], peer.kneighbors(queries)[0], 1e-9)
    assert_close(ours.predict(queries), peer.predict(queries), 1e-9)
    with pytest.raises(ValueError, match="NaN"):
        mercer.KNeighborsRegressor().fit(X, y)


def test_distances_that_are_given(data):
    X, queries, y, _ = data
    D, Q = (np.linalg.norm(rows[:, None] - X, axis=2) for rows in (X, queries))
    given = mercer.KNeighborsRegressor(4, metric="precomputed").fit(D, y)
    plain = mercer.KNeighborsRegressor(4).fit(X, y)
    assert_close(given.predict(Q), plain.predict(queries), 1e-12)
    assert np.array_equal(given.kneighbors(return_distance=False), plain.kneighbors(return_distance=False))
    graph = plain.kneighbors_graph(queries, 9, mode="distance")
    assert_close(given.predict(graph), plain.predict(queries), 1e-12)
    with pytest.raises(ValueError, match="4 neighbors are required"):
        given.predict(plain.kneighbors_graph(queries, 3, mode="distance"))
    with pytest.raises(ValueError, match="must be square"):
        given.fit(Q, y[: len(Q)])
    with pytest.raises(ValueError, match="cannot be saved"):
        given.fit(D, y).save("nowhere")


def test_neighbours_without_weight_are_an_error(data):
    X, queries, y, labels = data
    nothing = lambda distances: np.where(distances < np.inf, 0.0, 1.0)
    for model, targets in [
        (mercer.KNeighborsClassifier(weights=nothing), labels),
        (mercer.KNeighborsRegressor(weights=nothing), y),
    ]:
        with pytest.raises(ValueError, match="zero weights"):
            model.fit(X, targets).predict(queries)
