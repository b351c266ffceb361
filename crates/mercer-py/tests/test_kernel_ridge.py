"""KernelRidge: against the normal equations, against scikit-learn's class, and on every form of input."""

import pickle
import warnings

import mercer
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.kernel_ridge
from closeness import assert_close
from mercer import Kernel, KernelRidge
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

NAMED = [
    {},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": 0},
    {"kernel": "poly", "degree": 2, "coef0": 0.5},
    {"kernel": "polynomial", "gamma": 2.0},
    {"kernel": "laplacian"},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": "cosine"},
    {"kernel": "chi2", "gamma": 1.0},
    {"kernel": "additive_chi2", "alpha": 100.0},
]


@pytest.fixture
def data(rng):
    X, Z = rng.random((60, 4)), rng.random((25, 4))
    y = np.sin(3 * X).sum(axis=1) + 0.1 * rng.standard_normal(60)
    return X, y, Z


@pytest.mark.parametrize("parameters", NAMED, ids=str)
def test_agrees_with_scikit_learn(data, parameters):
    X, y, Z = data
    peer = sklearn.kernel_ridge.KernelRidge(**{"alpha": 0.5, **parameters})
    ours = KernelRidge(**{"alpha": 0.5, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(X, y)
        ours.fit(X, y)
    np.testing.assert_allclose(ours.predict(Z), peer.predict(Z), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, rtol=1e-6, atol=1e-8)


def test_solves_the_normal_equations(data):
    X, y, _ = data
    k = Kernel("0.5*rbf(sigma=0.7) + (<x,z>+1)^3")
    model = KernelRidge(alpha=0.25, kernel=k).fit(X, y)
    np.testing.assert_allclose((k(X) + 0.25 * np.eye(60)) @ model.dual_coef_, y, atol=1e-9)
    assert model.kernel_ == k and model.intercept_ == 0


@pytest.mark.parametrize(("solver", "factor"), [("auto", "f64"), ("cholesky", "f64"), ("mixed", "f32")])
def test_every_solver_gives_the_double_precision_answer(data, solver, factor):
    X, y, _ = data
    model = KernelRidge(alpha=0.25, kernel="rbf(sigma=0.7)", solver=solver).fit(X, y)
    np.testing.assert_allclose((Kernel("rbf(sigma=0.7)")(X) + 0.25 * np.eye(60)) @ model.dual_coef_, y, atol=1e-12)
    assert factor in model._report["solver"]


def test_text_kernel_and_kernel_object_are_the_same(data):
    X, y, Z = data
    text = "0.5*rbf(sigma=2) + (<x,z>+1)^3"
    assert np.array_equal(
        KernelRidge(kernel=text).fit(X, y).predict(Z), KernelRidge(kernel=Kernel(text)).fit(X, y).predict(Z)
    )


def test_auto_is_resolved_and_repeatable(data):
    X, y, Z = data
    model = KernelRidge(kernel="rbf(gamma=auto)").fit(X, y)
    expected = KernelRidge(kernel="rbf", gamma=1 / (4 * X.var())).fit(X, y)
    assert_close(model.predict(Z), expected.predict(Z), 1e-9)
    assert "auto" not in str(model.kernel_)
    first, second = (KernelRidge(kernel="rbf(sigma=auto)").fit(X, y).kernel_ for _ in range(2))
    assert first == second


@pytest.mark.parametrize("parameters", [{"gamma": 0.5}, {"degree": 2}, {"coef0": 0.0}])
@pytest.mark.parametrize("kernel", ["rbf(sigma=1)", Kernel("linear")])
def test_formula_with_name_parameters_is_refused(data, kernel, parameters):
    X, y, _ = data
    with pytest.raises(ValueError, match=next(iter(parameters))):
        KernelRidge(kernel=kernel, **parameters).fit(X, y)


def test_centred_bias_is_an_unpenalised_intercept(data):
    X, y, Z = data
    model = KernelRidge(kernel="rbf(sigma=1)", alpha=0.5, bias="centred").fit(X, y)
    K = Kernel("rbf(sigma=1)")(X)
    bordered = np.block([[K + 0.5 * np.eye(60), np.ones((60, 1))], [np.ones((1, 60)), np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.append(y, 0.0))
    np.testing.assert_allclose(model.dual_coef_, solution[:-1], atol=1e-9)
    assert model.intercept_ == pytest.approx(solution[-1], abs=1e-9)
    # Moving the targets moves the predictions with them.
    moved = clone(model).fit(X, y + 100)
    assert_close(moved.predict(Z), model.predict(Z) + 100, 1e-9)
    precomputed = KernelRidge(kernel="precomputed", alpha=0.5, bias="centred").fit(K, y)
    np.testing.assert_allclose(precomputed.dual_coef_, model.dual_coef_, atol=1e-9)


def test_column_bias_centres_and_adds_a_constant(data):
    X, y, Z = data
    model = KernelRidge(kernel="rbf(sigma=1)", alpha=0.5, bias="column").fit(X, y)
    mean = X.mean(axis=0)
    expected = KernelRidge(kernel="rbf(sigma=1) + 1", alpha=0.5).fit(X - mean, y - y.mean())
    assert_close(model.predict(Z), expected.predict(Z - mean) + y.mean(), 1e-9)


def test_penalty_per_target(data):
    X, y, Z = data
    Y = np.column_stack([y, 2 * y, y**2])
    alpha = [0.1, 1.0, 0.1]
    together = KernelRidge(kernel="rbf", alpha=alpha).fit(X, Y).predict(Z)
    for column, a in enumerate(alpha):
        alone = KernelRidge(kernel="rbf", alpha=a).fit(X, Y[:, column]).predict(Z)
        assert_close(together[:, column], alone, 1e-8)


def test_weights_are_repetitions(data):
    X, y, Z = data
    weights = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weights)
    for bias in ["none", "centred", "column"]:
        model = KernelRidge(kernel="rbf(sigma=1)", bias=bias)
        weighted = clone(model).fit(X, y, sample_weight=weights)
        assert_close(
            weighted.predict(Z), clone(model).fit(X[repeated], y[repeated]).predict(Z), 1e-8
        )
    peer = sklearn.kernel_ridge.KernelRidge(kernel="rbf").fit(X, y, sample_weight=0.5)
    assert_close(
        KernelRidge(kernel="rbf").fit(X, y, sample_weight=0.5).predict(Z), peer.predict(Z), 1e-8
    )


def test_forms_of_input_do_not_matter(data):
    X, y, Z = data
    expected = KernelRidge(kernel="rbf").fit(X, y).predict(Z)
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in [np.asfortranarray(X), frozen, X.tolist(), scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X)]:
        assert_close(KernelRidge(kernel="rbf").fit(same, y).predict(Z), expected, 1e-9)


def test_single_precision_stays(data):
    X, y, Z = data
    model = KernelRidge(kernel="rbf").fit(X.astype(np.float32), y)
    assert model.X_fit_.dtype == np.float32
    prediction = model.predict(Z.astype(np.float32))
    assert prediction.dtype == np.float32
    np.testing.assert_allclose(prediction, KernelRidge(kernel="rbf").fit(X, y).predict(Z), rtol=1e-3)


def test_input_is_not_copied_and_sparse_stays_sparse(data):
    X, y, _ = data
    assert KernelRidge().fit(X, y).X_fit_ is X
    S = scipy.sparse.csr_array(X)
    fitted = KernelRidge().fit(S, y).X_fit_
    assert scipy.sparse.issparse(fitted) and np.shares_memory(fitted.data, S.data)


def test_wide_sparse_data_is_never_dense():
    # Dense, this would take 16 GB.
    X = scipy.sparse.csr_array(
        (np.ones(400), np.arange(400) * 24_989, np.arange(0, 401, 2)), shape=(200, 10_000_000)
    )
    y = np.arange(200.0)
    prediction = KernelRidge(kernel="linear", alpha=1e-9).fit(X, y).predict(X)
    np.testing.assert_allclose(prediction, y, atol=1e-6)


def test_named_columns(data):
    X, y, Z = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = KernelRidge(kernel="rbf").fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd") and model.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(Z, columns=list("abce")))


def product_of_rows(x, z, power=1):
    return float(np.dot(x, z)) ** power


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"kernel": product_of_rows}, "linear"),
        ({"kernel": product_of_rows, "kernel_params": {"power": 2}}, "<x,z>^2"),
        ({"kernel": pairwise.rbf_kernel, "kernel_params": {"gamma": 0.7}}, "rbf(gamma=0.7)"),
        ({"kernel": RBF(2.0)}, "rbf(sigma=2)"),
    ],
)
def test_callable_kernels(data, parameters, text):
    X, y, Z = data
    model = KernelRidge(**parameters).fit(X, y)
    assert_close(model.predict(Z), KernelRidge(kernel=text).fit(X, y).predict(Z), 1e-7)
    assert model.kernel_ is None


def test_precomputed(data):
    X, y, Z = data
    k = Kernel("rbf(sigma=1)")
    K = k(X)
    kept = K.copy()
    model = KernelRidge(kernel="precomputed").fit(K, y)
    assert_close(model.predict(k(Z, X)), KernelRidge(kernel=k).fit(X, y).predict(Z), 1e-9)
    assert np.array_equal(K, kept)
    with pytest.raises(ValueError, match="square matrix"):
        KernelRidge(kernel="precomputed").fit(K[:, :5], y)


def test_singular_matrix_is_solved_and_told(data):
    X, y, Z = data
    X = np.vstack([X, X])
    y = np.append(y, y)
    with pytest.warns(UserWarning, match="Singular matrix.*least-squares"):
        model = KernelRidge(alpha=0).fit(X, y)
    theta = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(Z), Z @ theta, atol=1e-8)


def test_a_formula_that_is_not_a_kernel_is_refused(data):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"is not a kernel on.*precomputed"):
        KernelRidge(kernel="exp(|x-z|^2)").fit(X, y)
    # scikit-learn's kernel names are not checked, and neither is a matrix.
    K = Kernel("exp(|x-z|^2)")(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelRidge(kernel="precomputed").fit(K, y)
        np.testing.assert_allclose((K + np.eye(60)) @ model.dual_coef_, y, atol=1e-6)
        KernelRidge(kernel="sigmoid").fit(X, y)


def test_undecided_formula_is_reported(data):
    X, y, _ = data
    text = "exp(-|x-z|) - 1e-6*rbf(sigma=1)"  # positive semidefinite, by the tails of the spectra
    assert Kernel(text).check(dim=4).verdict == "undecided"
    with pytest.warns(UserWarning, match="undecided"):
        KernelRidge(kernel=text).fit(X, y)


def test_predictions_stay_in_the_domain_of_the_proof(data, tmp_path):
    X, y, Z = data
    model = KernelRidge(kernel="chi2(gamma=1)").fit(X, y)
    model.predict(Z)
    with pytest.raises(ValueError, match="row 0.*outside the domain"):
        model.predict(-Z)
    with pytest.raises(ValueError, match="row 0.*outside the domain"):
        pickle.loads(pickle.dumps(model)).predict(-Z)


def test_in_pipelines_searches_and_pickles(data):
    X, y, Z = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
        {"kernelridge__alpha": [0.01, 1.0], "kernelridge__kernel": ["linear", "rbf", Kernel("rbf(sigma=1)")]},
        cv=3,
    ).fit(X, y)
    best = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(best.predict(Z), search.predict(Z))
    assert search.best_score_ > 0.5
    K = Kernel("rbf(sigma=1)")(X)
    scores = cross_val_score(KernelRidge(kernel="precomputed"), K, y, cv=3)
    assert_close(scores, cross_val_score(KernelRidge(kernel="rbf(sigma=1)"), X, y, cv=3), 1e-6)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"alpha": -1.0}, ValueError, r"'alpha' parameter of KernelRidge.*Got -1.0"),
        ({"alpha": np.nan}, ValueError, "alpha"),
        ({"alpha": "1"}, TypeError, "alpha"),
        ({"alpha": [1.0, 2.0]}, ValueError, "do not correspond: 2 != 1"),
        ({"kernel": "rbf", "gamma": -1.0}, ValueError, "'gamma'"),
        ({"kernel": "poly", "degree": None}, TypeError, "'degree'"),
        ({"kernel": "rbf(sigm=1)"}, ValueError, "sigma"),
        ({"kernel": "rbf(sigma=?)"}, ValueError, "unknown value"),
        ({"kernel": "linear[7]"}, ValueError, "column 7"),
        ({"kernel": 3}, TypeError, "'kernel' parameter of KernelRidge"),
        ({"solver": "svd"}, ValueError, "'solver' parameter of KernelRidge must be a str among .*'cholesky'"),
        ({"bias": "yes"}, ValueError, "'bias'"),
        ({"approx": "landmarks:100"}, ValueError, "'approx'"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_bad_parameters_are_reported(data, parameters, error, message):
    X, y, _ = data
    with pytest.raises(error, match=message):
        KernelRidge(**parameters).fit(X, y)


def test_bad_data_is_reported(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="negative"):
        KernelRidge(kernel="chi2").fit(-X, y)
    with pytest.raises(ValueError, match="sample weight"):
        KernelRidge().fit(X, y, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="is not a kernel on.*undefined"):
        KernelRidge(kernel="log(<x,z> - 1000)").fit(X, y)


def test_progress_is_shown(data, capfd):
    X, y, _ = data
    rng = np.random.default_rng(0)
    KernelRidge(kernel="rbf", verbose=1).fit(rng.random((3000, 20)), rng.random(3000))
    assert "mercer" in capfd.readouterr().err


def test_callbacks_follow_the_fit(data):
    pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self):
            self.calls = []

        def setup(self, estimator, context):
            self.calls.append("setup")

        def on_fit_task_begin(self, estimator, context, *, X):
            self.calls.append(("begin", X.shape))

        def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
            self.calls.append(("end", fitted_estimator.score(X, y) > 0))

        def teardown(self, estimator, context):
            self.calls.append("teardown")

    X, y, _ = data
    recorder = Recorder()
    KernelRidge(kernel="rbf").set_callbacks(recorder).fit(X, y)
    assert recorder.calls == ["setup", ("begin", (60, 4)), ("end", True), "teardown"]


@pytest.mark.parametrize("kernel", ["linear", "(<x,z>+1)^3", "1 + <x,z> + <x,z>^2"])
@pytest.mark.parametrize("bias", ["none", "centred", "column"])
def test_primal_and_dual_agree(rng, tmp_path, kernel, bias):
    X, y = rng.standard_normal((80, 3)), rng.standard_normal((80, 2))
    weights = rng.uniform(0.5, 2, 80)
    fits = [
        mercer.KernelRidge(alpha=[0.5, 2.0], kernel=mercer.Kernel(kernel), solver=solver, bias=bias).fit(X, y, weights)
        for solver in ("cholesky", "primal")
    ]
    for attribute in ("dual_coef_", "intercept_"):
        np.testing.assert_allclose(getattr(fits[1], attribute), getattr(fits[0], attribute), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fits[1].predict(X), fits[0].predict(X), rtol=1e-8, atol=1e-10)
    fits[1].save(tmp_path / "m.mercer")
    assert_close(mercer.load(tmp_path / "m.mercer").predict(X), fits[1].predict(X), 1e-12)


def test_auto_takes_the_primal_if_features_are_few(rng):
    X, y = rng.standard_normal((2_500, 3)), rng.standard_normal(2_500)
    auto = mercer.KernelRidge(kernel="linear").fit(X, y)
    assert "normal equations" in auto._report["solver"]
    dual = mercer.KernelRidge(kernel="linear", solver="cholesky").fit(X, y)
    np.testing.assert_allclose(auto.predict(X), dual.predict(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(auto.dual_coef_, dual.dual_coef_, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("parameters", [{"kernel": "rbf"}, {"kernel": "precomputed"}, {"kernel": "linear", "alpha": 0}])
def test_no_primal(rng, parameters):
    K = np.eye(5)
    with pytest.raises(ValueError, match="primal|features"):
        mercer.KernelRidge(solver="primal", **parameters).fit(K, rng.standard_normal(5))
