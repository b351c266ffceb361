"""Gaussian processes against scikit-learn's, which compute the same numbers in other ways."""

import pickle
import warnings

import mercer
import numpy as np
import pytest
from mercer import _gp_kernels
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.gaussian_process.kernels import ConstantKernel as C

JOB = {"threads": None, "progress": None}

#: Kernels of one column, and of three.
ONE = [
    RBF(0.7),
    RBF(0.7, "fixed"),
    1.5 * RBF(0.7),
    C(2.0, "fixed") * RBF(1.3),
    Matern(0.8, nu=0.5),
    Matern(0.8, nu=1.5),
    Matern(0.8, nu=2.5),
    Matern(0.8, nu=np.inf),
    RationalQuadratic(0.9, 1.7),
    RationalQuadratic(0.9, 1.7, alpha_bounds="fixed"),
    ExpSineSquared(1.1, 2.3),
    ExpSineSquared(1.1, 2.3, periodicity_bounds="fixed"),
    2.0 * ExpSineSquared(1.1, 2.3) * RBF(3.0),
    DotProduct(0.6),
    DotProduct(0.6, "fixed"),
    DotProduct(0.6) ** 2,
    RBF(0.7) + WhiteKernel(0.2),
    RBF(0.7) + WhiteKernel(0.2, "fixed"),
    1.5 * RBF(0.7) + 0.3 * Matern(2.0, nu=1.5) + WhiteKernel(0.1),
    (RBF(0.7) + DotProduct(0.4)) * RationalQuadratic(1.0, 0.5),
    (RBF(0.7) + C(0.5)) ** 3,
    50.0 * RBF(5.0) + 2.0 * RBF(9.0) * ExpSineSquared(1.3, 1.0) + 0.6 * RationalQuadratic(1.2, 0.8) + WhiteKernel(0.03),
    C(0.3) + C(0.4),
    WhiteKernel(0.5),
    RBF(0.7) * WhiteKernel(0.5) + RBF(0.2),
]
SEVERAL = [
    RBF(1.4),
    RBF([1.4, 0.8, 2.2]),
    RBF([1.4, 0.8, 2.2], "fixed"),
    2.0 * RBF([1.4, 0.8, 2.2]) + WhiteKernel(0.1),
    Matern([1.4, 0.8, 2.2], nu=0.5),
    Matern([1.4, 0.8, 2.2], nu=1.5),
    Matern([1.4, 0.8, 2.2], nu=2.5),
    Matern([1.4, 0.8, 2.2], nu=np.inf),
    1.2 * Matern(1.1, nu=2.5) + DotProduct(1.0),
    RationalQuadratic(1.2, 0.6),
    DotProduct(0.9) + WhiteKernel(0.3),
    DotProduct(0.9) ** 2 + RBF([1.0, 2.0, 3.0]),
    (1.1 * RBF([1.4, 0.8, 2.2])) * (0.4 * Matern(2.0, nu=1.5)),
    (RBF([1.4, 0.8, 2.2]) + C(0.3)) ** 2,
    C(1.3) * (RBF(2.0) + RationalQuadratic(1.0, 2.0)) + WhiteKernel(0.05),
]
#: Kernels that compute their own matrices: they have no translation.
OWN = [
    (ExpSineSquared(1.1, 2.3) + WhiteKernel(6.0), 3),
    (PairwiseKernel(metric="laplacian") + RBF(1.0), 3),
]
#: scikit-learn takes differences where ν is not 1/2, 3/2, 5/2 or ∞, so that its gradient has few digits.
DIFFERENCES = [(Matern(0.8, nu=1.0), 1)]
ALL = [(kernel, 1) for kernel in ONE] + [(kernel, 3) for kernel in SEVERAL] + OWN


def data(columns, n=40, seed=0):
    rng = np.random.default_rng([seed, columns])
    X = rng.uniform(-2, 2, (n, columns))
    return X, np.sin(2 * X).sum(axis=1) + 0.1 * rng.standard_normal(n), rng.uniform(-2.5, 2.5, (15, columns))


def close(found, expected, tolerance=1e-8):
    """Asserts equality within `tolerance` relative to the expected size."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0) <= tolerance * max(1, np.abs(expected).max(initial=0)), (found, expected)


def test_there_are_forty_kernels():
    assert len(ONE) + len(SEVERAL) >= 40


@pytest.mark.parametrize(("kernel", "columns"), ALL + DIFFERENCES, ids=str)
def test_translated_kernels_have_the_matrix_of_the_object(kernel, columns):
    X, _, Z = data(columns)
    prior = _gp_kernels.prior_of(kernel, columns)
    assert isinstance(prior, _gp_kernels.Object) == any(kernel is own for own, _ in OWN)
    for theta in (kernel.theta, kernel.theta + 0.3):
        at = kernel.clone_with_theta(theta)
        close(prior.matrix(theta, X, None, JOB), at(X), 1e-13)
        close(prior.matrix(theta, Z, X, JOB), at(Z, X), 1e-13)
        close(prior.diagonal(theta, X, JOB), at.diag(X), 1e-13)


@pytest.mark.parametrize(("kernel", "columns"), ALL, ids=str)
def test_likelihood_gradient_and_posterior_match_scikit_learn(kernel, columns):
    X, y, Z = data(columns)
    settings = {"alpha": 0.02, "optimizer": None}
    ours = mercer.GaussianProcessRegressor(kernel, **settings).fit(X, y)
    theirs = TheirRegressor(kernel, **settings).fit(X, y)
    close(ours.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_)
    for theta in (kernel.theta, kernel.theta - 0.4):
        for found, expected in zip(
            ours.log_marginal_likelihood(theta, eval_gradient=True),
            theirs.log_marginal_likelihood(theta, eval_gradient=True),
            strict=True,
        ):
            close(found, expected)
    for wanted in ({"return_std": True}, {"return_cov": True}):
        for found, expected in zip(ours.predict(Z, **wanted), theirs.predict(Z, **wanted), strict=True):
            close(found, expected)
    close(ours.predict(Z), theirs.predict(Z))
    close(np.tril(ours.L_), np.tril(theirs.L_))
    close(ours.alpha_, theirs.alpha_)


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("alpha", [0.05, "rows"])
def test_several_targets_noise_by_row_and_normalisation(normalize_y, alpha):
    X, y, Z = data(3)
    Y = np.stack([y, 3 * y**2 + 5], axis=1)
    alpha = np.linspace(0.01, 0.2, len(y)) if alpha == "rows" else alpha
    kernel = 1.0 * RBF([1.0, 1.0, 1.0])
    settings = {"alpha": alpha, "optimizer": None, "normalize_y": normalize_y}
    ours = mercer.GaussianProcessRegressor(kernel, **settings).fit(X, Y)
    theirs = TheirRegressor(kernel, **settings).fit(X, Y)
    theta = kernel.theta + 0.2
    for found, expected in zip(
        ours.log_marginal_likelihood(theta, True), theirs.log_marginal_likelihood(theta, True), strict=True
    ):
        close(found, expected)
    for wanted in ({"return_std": True}, {"return_cov": True}):
        for found, expected in zip(ours.predict(Z, **wanted), theirs.predict(Z, **wanted), strict=True):
            close(found, expected)
    close(ours.sample_y(Z, 3).shape, theirs.sample_y(Z, 3).shape, 0)


@pytest.mark.parametrize(("kernel", "columns"), [(ONE[18], 1), (SEVERAL[3], 3)], ids=str)
def test_fits_reach_the_likelihood_of_scikit_learn(kernel, columns):
    X, y, _ = data(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = mercer.GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0).fit(X, y)
        theirs = TheirRegressor(kernel, n_restarts_optimizer=2, random_state=0).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-4
    assert type(ours.kernel_) is type(kernel)
    assert ours.log_marginal_likelihood(ours.kernel_.theta) == pytest.approx(ours.log_marginal_likelihood_value_)


def test_a_text_learns_its_unknowns_and_keeps_its_numbers():
    X, y, Z = data(1)
    model = mercer.GaussianProcessRegressor("?*rbf(sigma=?) + noise(value=0.01)").fit(X, y)
    assert isinstance(model.kernel_, mercer.Kernel) and "noise(value=0.01)" in str(model.kernel_)
    assert model.kernel_.theta.shape == (2,) and model.kernel_.bounds.shape == (2, 2)
    theta = model.kernel_.theta
    theirs = TheirRegressor(C(np.exp(theta[0])) * RBF(np.exp(theta[1])) + WhiteKernel(0.01, "fixed"), optimizer=None)
    theirs.fit(X, y)
    close(model.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_)
    close(model.predict(Z, return_std=True)[1], theirs.predict(Z, return_std=True)[1])
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert np.abs(gradient).max() < 1e-2
    given = mercer.GaussianProcessRegressor(mercer.Kernel("rbf(sigma=0.7)"), alpha=0.1).fit(X, y)
    assert given.kernel_.n_dims == 0


def test_one_width_per_column_finds_the_column_that_matters():
    X, _, _ = data(3, n=80)
    model = mercer.GaussianProcessRegressor("?*rbf(sigma=[?])", alpha=1e-4).fit(X, np.sin(2 * X[:, 1]))
    assert model.kernel_.n_dims == 4
    widths = np.exp(model.kernel_.theta[1:])
    assert widths.argmin() == 1 and widths[1] < 0.3 * np.delete(widths, 1).min()


BINARY = [RBF(0.7), 2.0 * RBF(0.7), 5.0 * Matern(1.1, nu=1.5), RBF(0.5) + DotProduct(0.6), 3.0 * RationalQuadratic(0.9, 0.7)]


@pytest.mark.parametrize("kernel", BINARY, ids=str)
def test_two_classes_match_scikit_learn(kernel):
    X, y, Z = data(1)
    labels = np.where(y > 0.2, "up", "down")
    ours = mercer.GaussianProcessClassifier(kernel, optimizer=None).fit(X, labels)
    theirs = TheirClassifier(kernel, optimizer=None).fit(X, labels)
    close(ours.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_)
    # scikit-learn stops its search for the mode where the likelihood changes by 1e-10: the mode is then off by the root of that.
    for theta in (kernel.theta, kernel.theta + 0.4):
        value, gradient = ours.log_marginal_likelihood(theta, eval_gradient=True)
        expected, slope = theirs.log_marginal_likelihood(theta, eval_gradient=True)
        close(value, expected)
        close(gradient, slope, 1e-5)
    close(ours.latent_mean_and_variance(Z), theirs.latent_mean_and_variance(Z), 1e-5)
    close(ours.base_estimator_.pi_, theirs.base_estimator_.pi_, 1e-5)
    # scikit-learn approximates the integral by five error functions.
    close(ours.predict_proba(Z), theirs.predict_proba(Z), 3e-3)
    assert (ours.predict(Z) == theirs.predict(Z)).all()


def test_gradients_of_softmax_match_differences():
    X, y, _ = data(1)
    classes = np.digitize(y, [-0.5, 0.5])
    kernel = 2.0 * RBF(0.7)
    model = mercer.GaussianProcessClassifier(kernel, multi_class="softmax", optimizer=None).fit(X, classes)
    theta = kernel.theta + 0.1
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for place in range(2):
        step = np.zeros(2)
        step[place] = 1e-4
        ahead, behind = (model.log_marginal_likelihood(theta + s * step) for s in (1, -1))
        assert gradient[place] == pytest.approx((ahead - behind) / 2e-4, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one", "softmax"])
def test_several_classes(multi_class):
    X, y, Z = data(1, n=90)
    classes = np.digitize(y, [-0.5, 0.5])
    kernel = 1.0 * RBF(1.0)
    model = mercer.GaussianProcessClassifier(kernel, multi_class=multi_class).fit(X, classes)
    assert (model.predict(X) == classes).mean() > 0.9
    if multi_class == "one_vs_one":
        with pytest.raises(ValueError, match="does not support predicting probability"):
            model.predict_proba(Z)
        return
    p = model.predict_proba(Z)
    close(p.sum(axis=1), np.ones(len(Z)), 1e-9)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(Z)).all()
    if multi_class == "one_vs_rest":
        theirs = TheirClassifier(kernel).fit(X, classes)
        assert model.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-4
        assert isinstance(model.kernel_, CompoundKernel) and len(model.kernel_.theta) == 6
        close(p, theirs.predict_proba(Z), 2e-2)
    else:
        assert len(model.kernel_.theta) == 2


def test_models_are_copied_and_pickled():
    X, y, Z = data(1)
    for kernel in ("?*rbf(sigma=?)", 1.0 * RBF(1.0)):
        for model in (
            mercer.GaussianProcessRegressor(kernel, alpha=0.01).fit(X, y),
            mercer.GaussianProcessClassifier(kernel).fit(X, np.digitize(y, [-0.5, 0.5])),
        ):
            again = pickle.loads(pickle.dumps(model))
            assert (again.predict(Z) == model.predict(Z)).all()
            assert not hasattr(clone(model), "base_estimator_") and not hasattr(clone(model), "alpha_")


@pytest.mark.parametrize(
    "kernel", ["?*rbf(sigma=[?]) + noise(value=?)", 1.5 * RBF([0.7, 2.0, 3.0]) + WhiteKernel(0.1), Matern(0.8, nu=1.5)], ids=str
)
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("normalize_y", [False, True])
def test_model_files_predict_as_the_regressor(tmp_path, kernel, targets, normalize_y):
    X, y, Z = data(3)
    y = y if targets == 1 else np.column_stack([y, 5 + X[:, 0] ** 2])
    model = mercer.GaussianProcessRegressor(kernel, alpha=1e-6, normalize_y=normalize_y).fit(X, y)
    model.save(tmp_path / "m.mercer")
    found = mercer.load(tmp_path / "m.mercer")
    mean, std = model.predict(Z, return_std=True)
    again, deviations = found.predict(Z, return_std=True)
    close(again, mean, 1e-10)
    # The file's deviations are those of new targets: with `alpha`, which scikit-learn's leave out.
    scale = np.std(y, axis=0) if normalize_y else 1.0
    close(deviations, np.sqrt(std**2 + 1e-6 * scale**2), 1e-7)
    assert found.info["method"] == "gp" and found.outputs == [str(place) for place in range(targets)]
    found.save(tmp_path / "again.mercer")
    assert (tmp_path / "again.mercer").read_bytes() == (tmp_path / "m.mercer").read_bytes()


@pytest.mark.parametrize("kernel", ["?*rbf(sigma=?)", 2.0 * RBF(0.7)], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_model_files_predict_as_the_classifier(tmp_path, kernel, classes):
    X, y, Z = data(2)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [0.0, 1.0][: classes - 1])]
    model = mercer.GaussianProcessClassifier(kernel, multi_class="softmax").fit(X, labels)
    model.save(tmp_path / "m.mercer")
    found = mercer.load(tmp_path / "m.mercer")
    assert found.classes_.tolist() == model.classes_.tolist()
    assert found.predict(Z).tolist() == model.predict(Z).tolist()
    # Variances follow from the mode, which Newton's method has found to 1e-10 or so.
    close(found.predict_proba(Z), model.predict_proba(Z), 1e-6)
    with pytest.raises(ValueError, match="predict_proba"):
        found.predict(Z, return_std=True)


def test_model_files_that_cannot_be_written_say_why(tmp_path):
    X, y, _ = data(3)
    with pytest.raises(ValueError, match="has no translation"):
        mercer.GaussianProcessRegressor(OWN[0][0], optimizer=None).fit(X, y).save(tmp_path / "m.mercer")
    labels = np.digitize(y, [0.0, 1.0])
    with pytest.raises(ValueError, match="softmax"):
        mercer.GaussianProcessClassifier("rbf").fit(X, labels).save(tmp_path / "m.mercer")


def test_leaving_one_out_is_maximised_by_its_own_gradient():
    X, y, _ = data(1, n=25)
    kernel = "?*rbf(sigma=?) + noise(value=?)"
    model = mercer.GaussianProcessRegressor(kernel, alpha=0.0, objective="loo").fit(X, y)

    def density(theta):
        """Each target given the others, by the definition."""
        K = model.kernel_.clone_with_theta(theta)(X)
        total = 0.0
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            solved = np.linalg.solve(K[np.ix_(rest, rest)], K[rest, i])
            mean, variance = solved @ y[rest], K[i, i] - solved @ K[rest, i]
            total -= 0.5 * ((y[i] - mean) ** 2 / variance + np.log(2 * np.pi * variance))
        return total

    theta = model.kernel_.theta
    best = density(theta)
    for place in range(len(theta)):
        for step in (-0.05, 0.05):
            moved = theta.copy()
            moved[place] += step
            assert density(moved) < best + 1e-6
    likelihood = mercer.GaussianProcessRegressor(kernel, alpha=0.0).fit(X, y)
    assert likelihood.log_marginal_likelihood_value_ >= model.log_marginal_likelihood_value_
    assert best >= density(likelihood.kernel_.theta) - 1e-6


def test_uninformative_targets_and_contradictory_rows():
    X, y, Z = data(2, n=12)
    constant = mercer.GaussianProcessRegressor("rbf", alpha=1e-6, normalize_y=True).fit(X, np.full(12, 4.0))
    close(constant.predict(Z), np.full(len(Z), 4.0), 1e-12)
    one = mercer.GaussianProcessRegressor("rbf(sigma=1)", optimizer=None).fit(X[:1], y[:1])
    close(one.predict(X[:1]), y[:1], 1e-9)
    twice = np.repeat(X[:1], 2, axis=0)
    with pytest.raises(np.linalg.LinAlgError, match="alpha"):
        mercer.GaussianProcessRegressor("rbf", alpha=0.0).fit(twice, [0.0, 1.0])
    close(mercer.GaussianProcessRegressor("rbf", alpha=1.0).fit(twice, [0.0, 1.0]).predict(twice), [1 / 3, 1 / 3], 1e-12)
    with pytest.warns(ConvergenceWarning, match="lower bound"):
        mercer.GaussianProcessRegressor("rbf(sigma=?5..10)", alpha=1e-4).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        mercer.GaussianProcessRegressor("rbf").fit(X, np.where(np.arange(12) == 3, np.nan, y))


def test_threads_do_not_change_the_answer():
    X, y, Z = data(3, n=300)
    found = [
        mercer.GaussianProcessRegressor("?*rbf(sigma=[?])", alpha=0.01, n_jobs=jobs).fit(X, y).predict(Z, return_std=True)
        for jobs in (1, 2)
    ]
    assert (found[0][0] == found[1][0]).all() and (found[0][1] == found[1][1]).all()


def test_a_matrix_that_is_not_positive_definite_is_an_error():
    X = np.zeros((3, 1))
    with pytest.raises(np.linalg.LinAlgError, match="increasing the 'alpha'"):
        mercer.GaussianProcessRegressor("rbf(sigma=1)", alpha=0.0).fit(X, [0.0, 1.0, 2.0])


def test_bad_kernels_are_refused():
    X, y, _ = data(1)
    with pytest.raises(ValueError, match="kernel"):
        mercer.GaussianProcessRegressor(3).fit(X, y)
    with pytest.raises(ValueError, match="sigmaa"):
        mercer.GaussianProcessRegressor("rbf(sigmaa=1)").fit(X, y)
    with pytest.raises(ValueError, match="degree"):
        mercer.GaussianProcessRegressor("poly(degree=?)").fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        mercer.GaussianProcessRegressor().fit(np.full_like(X, np.nan), y)
    for estimator, targets in ((mercer.GaussianProcessRegressor, y), (mercer.GaussianProcessClassifier, y > 0)):
        with pytest.raises(mercer.NotAKernel, match=r"is not a kernel on .*1\.9.*, which holds the data.*x₁ = "):
            estimator("?*sigmoid(gamma=1,c=-1)").fit(X, targets)
    # A kernel where all coordinates are at least 0.
    mercer.GaussianProcessRegressor("?*chi2(gamma=?)", alpha=0.1).fit(np.abs(X), y)


@pytest.mark.parametrize("estimator", [mercer.GaussianProcessRegressor, mercer.GaussianProcessClassifier])
def test_a_model_file_has_the_domain_on_which_the_kernel_is_proven(estimator, tmp_path):
    X, y, _ = data(1)
    X = np.abs(X)
    options = {"alpha": 0.1} if estimator is mercer.GaussianProcessRegressor else {}
    estimator("?*chi2(gamma=?)", **options).fit(X, y if options else y > 0).save(tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    loaded.predict(X)
    with pytest.raises(ValueError, match="outside the domain"):
        loaded.predict(-X)
