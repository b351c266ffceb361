"""Random features, against the kernels that they approximate and scikit-learn's sampler."""

import pickle

import mercer
import numpy as np
import pytest
import scipy.sparse
import sklearn.kernel_approximation

KERNELS = [
    "rbf(sigma=1.5)",
    "laplacian(gamma=0.2)",
    "matern(nu=2.5, length=2)",
    "rq(alpha=2, length=2)",
    "2*rbf(sigma=1) + 0.5",
    "rbf(sigma=2)*laplacian(gamma=0.1)",
]


def errors(text, count, X, **options):
    phi = mercer.RandomFourierFeatures(text, count, **options).fit_transform(X)
    return abs(phi @ phi.T - mercer.Kernel(text)(X))


@pytest.mark.parametrize("options", [{}, {"orthogonal": False}, {"qmc": True}, {"form": "shifted"}], ids=str)
@pytest.mark.parametrize("text", KERNELS)
def test_inner_products_are_near_the_kernel(rng, text, options):
    """The error of one inner product has a standard deviation of at most k(0)·√(2/D), so that of the mean is far less."""
    X = rng.standard_normal((30, 5))
    few, many = (errors(text, count, X, random_state=3, **options).mean() for count in (64, 4096))
    assert many < 0.03 and few > many


def test_orthogonal_directions_have_the_smaller_error(rng):
    X = rng.standard_normal((60, 8)) / 2
    error = {o: np.mean([errors("rbf(sigma=2)", 64, X, orthogonal=o, random_state=s).mean() for s in range(20)]) for o in (True, False)}
    assert error[True] < 0.9 * error[False]


def test_the_features_match_the_attributes(rng):
    X = rng.standard_normal((6, 3))
    pairs = mercer.RandomFourierFeatures("matern(nu=1.5)", 10).fit(X)
    assert pairs.random_weights_.shape == (3, 5) and pairs.random_offset_ is None
    phase = X @ pairs.random_weights_
    expected = np.hstack([pairs.amplitudes_ * np.cos(phase), pairs.amplitudes_ * np.sin(phase)])
    np.testing.assert_allclose(pairs.transform(X), expected, atol=1e-12)
    shifted = mercer.RandomFourierFeatures("matern(nu=1.5)", 10, form="shifted").fit(X)
    phase = X @ shifted.random_weights_ + shifted.random_offset_
    np.testing.assert_allclose(shifted.transform(X), shifted.amplitudes_ * np.cos(phase), atol=1e-12)


def test_an_odd_number_of_features_is_of_shifted_cosines(rng):
    X = rng.standard_normal((6, 3))
    odd = mercer.RandomFourierFeatures("rbf", 7).fit(X)
    assert odd.random_offset_.shape == (7,) and odd.transform(X).shape == (6, 7)


def test_the_same_seed_gives_the_same_features(rng):
    X = rng.standard_normal((30, 4))
    draw = lambda **how: mercer.RandomFourierFeatures("rbf(sigma=auto)", 20, **how).fit_transform(X)
    np.testing.assert_array_equal(draw(random_state=1), draw(random_state=1, n_jobs=1))
    assert abs(draw() - draw()).max() > 0.01
    assert abs(draw(random_state=1) - draw(random_state=2)).max() > 0.01
    state = np.random.RandomState(5)
    assert abs(draw(random_state=state) - draw(random_state=state)).max() > 0.01


@pytest.mark.parametrize(
    "transformer",
    [mercer.RandomFourierFeatures("rbf", 64, random_state=0), mercer.RBFSampler(gamma=0.3, n_components=64, random_state=0)],
    ids=lambda t: type(t).__name__,
)
def test_forms_of_the_rows(rng, transformer):
    X = rng.standard_normal((50, 6))
    X[X < 0] = 0
    expected = transformer.fit(X).transform(X)
    for form in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, np.asfortranarray, list):
        np.testing.assert_allclose(transformer.fit(form(X)).transform(form(X)), expected, atol=1e-12)
    single = transformer.fit(X.astype(np.float32)).transform(X.astype(np.float32))
    assert single.dtype == np.float32 and transformer.random_weights_.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=1e-5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(transformer)).transform(X), transformer.transform(X))
    frame = transformer.fit(X).set_output(transform="pandas").transform(X)
    prefix = type(transformer).__name__.lower()
    assert list(frame.columns) == [f"{prefix}{i}" for i in range(64)]
    transformer.set_output(transform="default")


@pytest.mark.parametrize("gamma", [0.0, 0.7, "scale"])
def test_the_sampler_matches_scikit_learn(rng, gamma):
    X = rng.standard_normal((40, 5))
    ours = mercer.RBFSampler(gamma=gamma, n_components=33, random_state=4).fit(X)
    peer = sklearn.kernel_approximation.RBFSampler(gamma=gamma, n_components=33, random_state=4).fit(X)
    np.testing.assert_allclose(ours.random_weights_, peer.random_weights_, rtol=1e-12)
    np.testing.assert_array_equal(ours.random_offset_, peer.random_offset_)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-12)
    assert mercer.RBFSampler(gamma=gamma).fit(X).random_weights_.shape == (5, 100)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_components": 0}, "n_components.*Got 0"),
        ({"n_components": 2.0}, "n_components.*Got 2.0"),
        ({"n_components": 7, "form": "pairs"}, "even"),
        ({"kernel": "linear"}, "linear|spectral"),
        ({"kernel": "poly"}, "spectral|<x,z>"),
        ({"kernel": "precomputed"}, "spectral density"),
        ({"kernel": "rbf(sigma=1) + matern(length=1) + laplacian(gamma=1)", "n_components": 4}, "4|2"),
        ({"form": "sines"}, "form"),
        ({"kernel": lambda x, z: 1.0}, "callable"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mercer.RandomFourierFeatures(**parameters).fit(np.eye(3))


@pytest.mark.parametrize("parameters", [{"gamma": -1}, {"gamma": "auto"}, {"n_components": 0}, {"gamma": None}])
def test_bad_parameters_of_the_sampler(parameters):
    with pytest.raises((ValueError, TypeError), match=next(iter(parameters))):
        mercer.RBFSampler(**parameters).fit(np.eye(3))


def test_features_are_not_a_model(tmp_path):
    with pytest.raises(ValueError, match="pickle"):
        mercer.RBFSampler().fit(np.eye(3)).save(tmp_path / "m")
