"""Estimators on dask collections: the answers of the estimators in memory, lazy predictions, and errors that name the partition."""

import copy
import json
import os
import pickle
import subprocess
import warnings

import mercer
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask_data import (  # noqa: F401
    CHUNK,
    KERNEL,
    PAIRS,
    ROWS,
    chunked,
    client,
    cluster,
    da,
    dask,
    data,
    dd,
    estimator,
    fitted,
    md,
    numbers,
    targets,
    two,
    two_workers,
)
from dask.distributed import Client
from mercer import _native
from sklearn import config_context
from sklearn.base import clone


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in PAIRS if kind not in ("support vectors", "Gaussian process")])
def test_answers_are_those_in_memory(two_workers, data, kind, weighted):
    # All rows are in the sample, so that landmarks and `auto` are the same.
    X, y, weights = data[0], targets(kind, data), data[3] if weighted else None
    model, expected = fitted(kind, data, weighted), estimator(kind, 1).fit(X, y, weights)
    for one, other in zip(numbers(model), numbers(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10 * np.abs(other).max())
    assert model.kernel_ == expected.kernel_ and model.approx_ == expected.approx_
    if hasattr(expected, "cv_results_"):
        assert (model.alpha_, model.gamma_) == (expected.alpha_, expected.gamma_)
        np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-10)


@pytest.mark.parametrize("labels", ["two", "three"])
def test_support_vectors_match_the_same_sums(two_workers, data, labels):
    X, y, weights = data[0], two(data[2]) if labels == "two" else data[2], data[3]
    model = md.SVC(kernel=KERNEL, approx="fourier:40", C=0.02, tol=0.2, random_state=3, class_weight="balanced")
    model.fit(*chunked(X, y, weights))
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    each = 0.02 * weights * (len(y) / (len(classes) * counts))[codes]
    job = {"threads": 1, "progress": None, "seed": 3}
    prepared = _native.prepare_features(model._kernel_settings(), X, len(X), job)
    (sums,) = _native.sum_features(prepared, X, np.empty((len(X), 0)), each, None, job)
    fit = _native.RemoteFit.classes(model._kernel_settings(), prepared, sums, len(X), len(classes), job)
    request = fit.next()
    while request is not None:
        request = fit.next(_native.sum_losses(prepared, X, codes.astype(np.uintp), each, request, job))
    parts, *_ = fit.result()
    np.testing.assert_allclose(parts["weights"], model._parts()["weights"], rtol=0, atol=1e-10 * np.abs(parts["weights"]).max())
    # The objective is within the tolerance of the minimum, which the solver in memory finds.
    exact = mercer.SVC(kernel=KERNEL, approx="fourier:40", C=0.02, tol=1e-6, random_state=3, class_weight="balanced").fit(X, y, weights)
    signs = np.where(codes == 1, 1, -1)[:, None] if len(classes) == 2 else np.where(codes[:, None] == np.arange(3), 1, -1)

    def objective(model):
        outputs = model.decision_function(X).reshape(len(X), -1)
        return each @ np.maximum(0, 1 - signs * outputs).sum(axis=1) + 0.5 * (model._parts()["weights"] ** 2).sum()

    assert objective(exact) <= objective(model) * (1 + 1e-6) and objective(model) <= objective(exact) * 1.25


def process_in_memory(X, y, weights=None, seed=3, **settings):
    """The numbers and facts of the library's own fit."""
    settings = {"method": "gp", "normalise": False, "noise": None, **settings}
    job = {"threads": 1, "progress": None, "seed": seed}
    parts, report, _ = _native.train(settings, X, y.reshape(len(y), -1), weights, [], job)
    return parts, {**json.loads(report["facts"]), "iterations": report["iterations"]}


@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_processes_match_the_same_sums(two_workers, data, weighted):
    X, y, weights = data[0], data[1], data[3].copy() if weighted else None
    if weighted:
        # Rows of weight 0 do not count.
        weights[20:30] = 0.0
    model = md.GaussianProcessRegressor("rbf(sigma=[?])", approx="nystrom:15", normalize_y=True, random_state=3)
    model.fit(*chunked(X, y), None if weights is None else chunked(weights)[0])
    # All rows are in the sample, so that the inducing points are the same, and so is the search up to rounding.
    parts, facts = process_in_memory(X, y, weights, kernel="rbf(sigma=[?])", inducing=15, normalise=True)
    np.testing.assert_array_equal(model.inducing_points_, parts["centres"])
    assert model.log_marginal_likelihood_value_ == pytest.approx(facts["log_likelihood"], rel=1e-8)
    # The bound is precise to about 1e-10 here, and its optimum is well determined.
    for found, wanted in zip(model.hyper_parameters_, facts["parameters"], strict=True):
        assert found["columns"] == wanted["columns"] and found["value"] == pytest.approx(wanted["value"], rel=1e-6)
    # With given hyper-parameters there is no search, and the rest is linear algebra.
    given = {"kernel": "1.5*rbf(sigma=1.2)", "noise": 0.05}
    fixed = md.GaussianProcessRegressor(given["kernel"], alpha=0.05, approx="nystrom:15", random_state=3)
    fixed.fit(*chunked(X, y), None if weights is None else chunked(weights)[0])
    parts, facts = process_in_memory(X, y, weights, inducing=15, **given)
    # The factor of the 15 points has a condition of about 1e6.
    assert fixed.log_marginal_likelihood_value_ == pytest.approx(facts["log_likelihood"], rel=1e-10)
    np.testing.assert_allclose(fixed._parts()["coefficients"], parts["coefficients"], rtol=0, atol=1e-9 * np.abs(parts["coefficients"]).max())


def test_gaussian_processes_learn_on_a_sample_first(two_workers):
    rng = np.random.default_rng(5)
    X = rng.uniform(-3, 3, (2_000, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.standard_normal(len(X))
    model = md.GaussianProcessRegressor("?*rbf(sigma=[?])", approx="nystrom:30", random_state=0).fit(*chunked(X, y, rows=500))
    first = model._report["facts"]["learnt_first"]
    assert first["rows"] == 300 and first["steps"] >= 5
    # The same search in memory; it ends where a step gains less than 1e-7 of the likelihood, which is about 1,600.
    _, facts = process_in_memory(X, y, seed=0, kernel="?*rbf(sigma=[?])", inducing=30)
    assert facts["learnt_first"]["rows"] == 300
    assert model.log_marginal_likelihood_value_ == pytest.approx(facts["log_likelihood"], abs=0.01)
    assert model.noise_ == pytest.approx(0.01, rel=0.2)


def test_kernel_objects_are_translated(two_workers, data):
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, ExpSineSquared, WhiteKernel

    settings, rows = {"approx": "nystrom:15", "random_state": 3}, chunked(data[0], data[1])
    for kernel, text, noise in (
        (ConstantKernel(2.0, "fixed") * RBF([1.0, 2.0, 3.0], (0.5, 4.0)), "const(value=2)*rbf(sigma=[?0.5..4,?0.5..4,?0.5..4])", None),
        (RBF(1.0, (0.5, 4.0)) + WhiteKernel(0.1, "fixed"), "rbf(sigma=?0.5..4)", 0.1),
        (WhiteKernel() + DotProduct(1.0, (0.5, 2.0)), "linear + const(value=?0.25..4)", None),
    ):
        found = md.GaussianProcessRegressor(kernel, **settings).fit(*rows)
        expected = md.GaussianProcessRegressor(text, alpha=noise, **settings).fit(*rows)
        np.testing.assert_allclose(found.predict(data[0]), expected.predict(data[0]), rtol=0, atol=1e-6)
        assert found.noise_ == pytest.approx(expected.noise_, rel=1e-6)
    with pytest.raises(ValueError, match="not both"):
        md.GaussianProcessRegressor(RBF() + WhiteKernel(), alpha=0.1, **settings).fit(*rows)
    with pytest.raises(ValueError, match="has no translation"):
        md.GaussianProcessRegressor(ExpSineSquared(), **settings).fit(*rows)


def test_deviations_are_lazy_and_processes_are_files(two_workers, data, tmp_path):
    X, y = data[0], np.column_stack([data[1], data[0][:, 0]])
    rows = chunked(X)[0]
    settings = {"kernel": "rbf(sigma=1.5)", "alpha": 0.1, "approx": "nystrom:20", "random_state": 3}
    for targets in (y[:, 0], y):
        model = md.GaussianProcessRegressor(**settings).fit(*chunked(X, targets))
        here = model.predict(X, return_std=True)
        mean, std = model.predict(rows, return_std=True)
        assert isinstance(mean, da.Array) and mean.shape == std.shape == targets.shape
        # Products of other numbers of rows may be split elsewhere, so the last digits differ.
        for found, wanted in zip((*dask.compute(mean, std), model.predict(rows).compute()), (*here, here[0]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
        assert (here[1] > np.sqrt(0.1)).all()
        frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
        found = dask.compute(*model.predict(frame, return_std=True))
        for one, other in zip(found, here, strict=True):
            np.testing.assert_allclose(one.to_numpy(), other, rtol=0, atol=1e-12 * np.abs(other).max())
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(rows).compute(), model.predict(rows).compute())
    model = md.GaussianProcessRegressor(**settings).fit(*chunked(X, y[:, 0]))
    mean, std = model.predict(X, return_std=True)
    model.save(tmp_path / "m.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "m.mercer").predict(X), mean)
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "rows.csv", index=False)
    command = [os.environ.get("MERCER_CLI", "mercer"), "predict", tmp_path / "m.mercer", tmp_path / "rows.csv", "--std"]
    subprocess.run([*command, "-o", tmp_path / "out.csv"], check=True, capture_output=True)
    written = pd.read_csv(tmp_path / "out.csv")
    assert written["prediction"].tolist() == mean.tolist() and written["std"].tolist() == std.tolist()


def test_invalid_processes_are_refused(two_workers, data):
    X, y = chunked(data[0], data[1])
    for settings, message in (
        ({"approx": "fourier:20"}, "must be 'nystrom:M'"),
        ({"approx": "nystrom:351"}, "350"),
        ({"alpha": 0.0}, "alpha"),
        ({"kernel": "rbf(sigma=?) + noise(value=?)"}, "noise"),
    ):
        with pytest.raises(ValueError, match=message):
            md.GaussianProcessRegressor(**{"approx": "nystrom:20", **settings}).fit(X, y)
    with pytest.raises(mercer.NotAKernel, match="sigmoid"):
        md.GaussianProcessRegressor("?*sigmoid(gamma=1,c=-1)", approx="nystrom:20").fit(X, y)


def test_uninformative_targets_are_reported(two_workers, data):
    X, y = chunked(data[0], np.full(ROWS, 4.0))
    model = md.GaussianProcessRegressor(approx="nystrom:20", normalize_y=True, random_state=3)
    with pytest.warns(UserWarning, match="same in every row"):
        model.fit(X, y)
    np.testing.assert_allclose(model.predict(X).compute(), 4.0, rtol=1e-15)


def test_long_solves_reach_the_answers_in_memory(data):
    """Every iterative solver to a tolerance that users ask for; the workers are threads of this process, and the chunks are few."""
    X, y, labels, weights = data
    half = {"rows": 175}
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", set_as_default=False) as client:
        settings = {"kernel": KERNEL, "random_state": 3}
        logistic = {**settings, "approx": "nystrom:40", "C": 10.0, "tol": 1e-7, "max_iter": 1_000}
        model = md.KernelLogisticRegression(**logistic, client=client).fit(*chunked(X, labels, weights, **half))
        expected = mercer.KernelLogisticRegression(**logistic).fit(X, labels, weights)
        assert model.n_iter_ >= 10
        np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-4)
        full = {**settings, "alpha": 0.1}
        model = md.KernelRidge(**full, solver="cg", tol=1e-9, client=client).fit(*chunked(X, y, weights, **half))
        expected = mercer.KernelRidge(**full, solver="cholesky").fit(X, y, weights)
        # The eigenvalues of the system are between 0.1 and about 350.
        np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=0, atol=1e-5)
        svc = {**settings, "approx": "fourier:40", "C": 0.1}
        model = md.SVC(**svc, tol=1e-3, client=client).fit(*chunked(X, two(labels), **half))
        expected = mercer.SVC(**svc, tol=1e-6).fit(X, two(labels))
        signs = np.where(two(labels) == "other", 1, -1)

        def objective(model):
            hinge = np.maximum(0, 1 - signs * model.decision_function(X)).sum()
            return 0.1 * hinge + 0.5 * (model._parts()["weights"] ** 2).sum()

        assert objective(expected) * (1 - 1e-5) <= objective(model) <= objective(expected) * 1.01


def test_frames_and_files(two_workers, data, tmp_path):
    X, y, labels, weights = data
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(t=y, label=labels, w=weights, row=np.arange(ROWS))
    dd.from_pandas(table, npartitions=5).to_parquet(tmp_path / "rows")
    frame = dd.read_parquet(tmp_path / "rows")
    inputs, settings = frame[["a", "b", "c"]], {"kernel": KERNEL, "approx": "fourier:40", "random_state": 3}
    model = md.KernelRidge(0.5, **settings).fit(inputs, frame["t"], frame["w"])
    expected = mercer.KernelRidge(0.5, **settings).fit(table[["a", "b", "c"]], y, weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-10 * np.abs(expected.coef_).max())
    assert model.feature_names_in_.tolist() == ["a", "b", "c"] and model._words["outputs"] == ["t"]
    predicted = model.predict(inputs)
    assert isinstance(predicted, dd.Series)
    found = predicted.compute()
    np.testing.assert_allclose(found, expected.predict(table[["a", "b", "c"]]), rtol=1e-8, atol=1e-10)
    pd.testing.assert_index_equal(found.index, frame.index.compute())
    logistic = md.KernelLogisticRegression(0.1, tol=0.01, **settings).fit(inputs, frame["label"])
    shares = logistic.predict_proba(inputs)
    assert isinstance(shares, dd.DataFrame) and shares.compute().shape == (ROWS, 3)
    # A partition without rows counts for nothing.
    some = frame[frame["a"] > 0.5]
    few = md.KernelRidge(0.5, **settings).fit(some[["a", "b", "c"]], some["t"])
    assert few.n_samples_seen_ == int((table["a"] > 0.5).sum())
    none = frame[frame["row"] < 100]
    assert md.KernelRidge(0.5, **settings).fit(none[["a", "b", "c"]], none["t"]).n_samples_seen_ == 100
    assert len(model.predict(none[["a", "b", "c"]]).compute()) == 100


def test_sparse_rows_and_single_precision(two_workers, data):
    X, y = data[0] * (np.abs(data[0]) > 0.5), data[1]
    settings = {"kernel": KERNEL, "approx": "fourier:40", "random_state": 3}
    expected = mercer.KernelRidge(0.5, **settings).fit(X, y)
    rows, numbers = chunked(X, y)
    sparse = md.KernelRidge(0.5, **settings).fit(rows.map_blocks(scipy.sparse.csr_array), numbers)
    np.testing.assert_allclose(sparse.coef_, expected.coef_, rtol=0, atol=1e-10 * np.abs(expected.coef_).max())
    single = md.KernelRidge(0.5, **settings).fit(rows.astype(np.float32), numbers)
    assert single.predict(rows.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, expected.coef_, rtol=0, atol=1e-3 * np.abs(expected.coef_).max())


def test_predictions_are_lazy_and_models_are_files(two_workers, data, tmp_path):
    X, y, labels, _ = data
    rows = chunked(X)[0]
    for kind in ("ridge on random features", "logistic", "support vectors"):
        model = fitted(kind, data)
        predicted = model.predict(rows)
        assert isinstance(predicted, da.Array) and predicted.chunks == (rows.chunks[0],)
        here = model.predict(X)
        assert isinstance(here, np.ndarray)
        np.testing.assert_array_equal(predicted.compute(), here)
        decision = model.decision_function(rows) if hasattr(model, "classes_") else predicted
        assert decision.compute().shape == decision.shape
        path = tmp_path / "m.mercer"
        model.save(path)
        loaded = mercer.load(path)
        np.testing.assert_array_equal(loaded.predict(X), here)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(rows).compute(), here)
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "rows.csv", index=False)
    command = [os.environ.get("MERCER_CLI", "mercer"), "predict", path, tmp_path / "rows.csv", "-o", tmp_path / "out.csv"]
    subprocess.run(command, check=True, capture_output=True)
    assert pd.read_csv(tmp_path / "out.csv")["prediction"].tolist() == here.tolist()


def test_lazy_predictions_name_what_is_wrong(two_workers, data):
    X, y = data[0].copy(), data[1]
    model = fitted("ridge on random features", data)
    with pytest.raises(ValueError, match="X has 2 features, but KernelRidge is expecting 3"):
        model.predict(chunked(X[:, :2])[0])
    X[220, 1] = np.nan
    with pytest.raises(ValueError, match=r"partition 4 \(counted from 0\): .*NaN"):
        model.predict(chunked(X)[0]).compute()
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=5)
    clean = dd.from_pandas(pd.DataFrame(data[0], columns=["a", "b", "c"]).assign(t=y), npartitions=5)
    model = md.KernelRidge(0.5, kernel=KERNEL, approx="fourier:40").fit(clean[["a", "b", "c"]], clean["t"])
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match=r"partition 3 \(counted from 0\): .*NaN"):
        model.predict(frame).compute()


def test_scores_of_chunks_of_unknown_sizes(two_workers, data):
    X, y, labels, weights = data
    kept = X[:, 0] > 0
    for kind, of in (("ridge on landmarks", y), ("logistic", labels)):
        model = fitted(kind, data)
        rows, there, w = chunked(X, of, weights)
        mask = rows[:, 0] > 0
        expected = model.score(X[kept], of[kept], weights[kept])
        assert model.score(rows[mask], there[mask], w[mask]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("approx", ["fourier:40", "nystrom:30"])
def test_later_rows_are_added_to_the_sums(two_workers, data, approx):
    X, y, _, weights = data
    settings = {"kernel": KERNEL, "approx": approx, "random_state": 3}
    model = md.KernelRidge(0.5, **settings).fit(*chunked(X[:250], y[:250], weights[:250]))
    model = pickle.loads(pickle.dumps(model))
    model.partial_fit(*chunked(X[250:300], y[250:300], weights[250:300])).partial_fit(X[300:], y[300:], weights[300:])
    assert model.n_samples_seen_ == ROWS
    expected = mercer.KernelRidge(0.5, **settings).partial_fit(X[:250], y[:250], weights[:250])
    expected.partial_fit(X[250:], y[250:], weights[250:])
    for one, other in zip(numbers(model), numbers(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10 * np.abs(other).max())
    with pytest.raises(ValueError, match="there are 2 features, but the earlier rows have 3"):
        model.partial_fit(*chunked(X[:, :2], y))
    # Names of columns must be those of the rows before.
    table = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]).assign(t=y), npartitions=2)
    named = md.KernelRidge(0.5, **settings).fit(table[["a", "b", "c"]], table["t"])
    with pytest.raises(ValueError, match="must be in the same order"):
        named.partial_fit(table[["b", "a", "c"]], table["t"])
    assert named.n_samples_seen_ == ROWS
    with pytest.raises(ValueError, match="begin anew"):
        model.set_params(bias="centred").partial_fit(*chunked(X, y))


def test_defaults_of_kernels_look_at_all_rows(two_workers, data):
    X, _, labels, weights = data
    for made, there in ((md.KernelLogisticRegression, mercer.KernelLogisticRegression), (md.SVC, mercer.SVC)):
        settings = {"approx": "fourier:20", "random_state": 0, "tol": 0.3, "C": 0.01}
        model, expected = made(**settings).fit(*chunked(X, labels, weights)), there(**settings).fit(X, labels, weights)
        # γ is 1/(n_features · variance).
        found, wanted = (float(m.kernel_._native.text().split("=")[1].rstrip(")")) for m in (model, expected))
        assert found == pytest.approx(wanted, rel=1e-13)
    with pytest.raises(ValueError, match=r"partition 0 .*negative"):
        md.KernelRidge(kernel="chi2", approx="nystrom:20").fit(*chunked(X, data[1]))


@pytest.mark.parametrize("kind", PAIRS)
def test_errors_name_the_partition(two_workers, data, kind):
    y = targets(kind, data)
    broken = data[0].copy()
    broken[220, 1] = np.nan
    with pytest.raises(ValueError, match=r"partition 4 \(counted from 0\): X contains NaN"):
        estimator(kind).fit(*chunked(broken, y))
    wide = chunked(data[0])[0].map_blocks(
        lambda x, block_info=None: np.hstack([x, x]) if block_info[0]["chunk-location"][0] == 2 else x, dtype=float, meta=np.empty((0, 3))
    )
    with pytest.raises(ValueError, match=r"partition 2 \(counted from 0\): X has 6 columns, but the others have 3"):
        estimator(kind).fit(wide, chunked(y)[0])


def test_columns_and_labels_of_each_partition_are_checked(two_workers, data):
    X, y, labels, _ = data
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    frame = dd.from_pandas(table.assign(t=y), npartitions=3)

    def swapped(part, partition_info=None):
        return part[["b", "a", "c"]] if partition_info["number"] == 1 else part

    swap = frame[["a", "b", "c"]].map_partitions(swapped, meta=table.iloc[:0], enforce_metadata=False)
    model = md.KernelRidge(kernel=KERNEL, approx="fourier:20")
    with pytest.raises(ValueError, match=r"partition 1 \(counted from 0\): X has the columns \['b', 'a', 'c'\]"):
        model.fit(swap, frame["t"])
    with pytest.raises(TypeError, match="dates or durations in column 'when'"):
        model.fit(dd.from_pandas(table.assign(when=pd.Timestamp(0)), npartitions=3), frame["t"])
    for missing in (None, pd.NA, np.nan):
        some = labels.astype(object)
        some[220] = missing
        with pytest.raises(ValueError, match=r"partition 4 \(counted from 0\): y contains missing labels"):
            md.SVC(kernel=KERNEL, approx="fourier:20").fit(*chunked(X, some))


def test_more_than_twenty_classes_are_classes(two_workers, data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = md.KernelLogisticRegression(kernel=KERNEL, approx="fourier:4", max_iter=1)
        model.fit(*chunked(data[0], np.arange(ROWS) % 26))
    assert len(model.classes_) == 26 and not [w for w in caught if "unique classes" in str(w.message)]


def test_the_seed_is_drawn_once(two_workers, data):
    settings = {"kernel": KERNEL, "approx": "fourier:40"}
    model = md.KernelRidge(0.5, **settings, random_state=np.random.RandomState(0)).fit(*chunked(data[0], data[1]))
    expected = mercer.KernelRidge(0.5, **settings, random_state=np.random.RandomState(0)).fit(data[0], data[1])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-10 * np.abs(expected.coef_).max())


def test_defaults_fit_as_they_are(two_workers, data):
    X, y, labels, _ = data
    assert md.KernelRidgeCV(random_state=0).fit(*chunked(X, y)).score(*chunked(X, y)) > 0.9
    assert md.KernelLogisticRegression(random_state=0, tol=0.01).fit(*chunked(X, labels)).approx_ == f"nystrom:{ROWS}"
    # As many landmarks as rows are the kernel as it is.
    model = md.KernelRidge(0.5, kernel=KERNEL, device="auto", random_state=0).fit(*chunked(X, y))
    expected = mercer.KernelRidge(0.5, kernel=KERNEL).fit(X, y)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="compute on the CPU: device='cuda'"):
        model.set_params(device="cuda").fit(*chunked(X, y))


def test_what_does_not_fit_is_refused(two_workers, data):
    X, y, labels, weights = chunked(*data)
    model = md.KernelRidge(kernel=KERNEL, approx="fourier:20")
    with pytest.raises(TypeError, match="X must be a dask array or data frame"):
        model.fit(data[0], data[1])
    with pytest.raises(TypeError, match="y must be a dask"):
        model.fit(X, data[1])
    with pytest.raises(ValueError, match="X has 350 rows, but y has 50"):
        model.fit(X, y[:50])
    with pytest.raises(ValueError, match="partition 1 .*sample_weight contains negative"):
        model.fit(X, y, da.where(da.arange(ROWS, chunks=CHUNK) == 70, -1.0, weights))
    with pytest.raises(ValueError, match="all rows have a weight of 0"):
        model.fit(X, y, 0 * weights)
    with pytest.raises(ValueError, match="needs features of the kernel"):
        md.KernelRidge(kernel=KERNEL, approx=None).fit(X, y)
    with pytest.raises(ValueError, match="must be one of the language"):
        md.KernelRidge(kernel=np.dot).fit(X, y)
    with pytest.raises(ValueError, match="solver='cholesky' needs all rows"):
        md.KernelRidge(kernel=KERNEL, solver="cholesky").fit(X, y)
    with pytest.raises(ValueError, match="cv must be"):
        md.KernelRidgeCV(approx="fourier:20", cv="gcv").fit(X, y)
    with pytest.raises(ValueError, match="needs 2 rows or more in each fold"):
        md.KernelRidgeCV(approx="fourier:20", cv=200, scoring="r2").fit(X, y)
    with pytest.raises(ValueError, match="two classes or more"):
        md.SVC(approx="fourier:20").fit(X, da.zeros(ROWS, chunks=CHUNK, dtype=int))
    with pytest.raises(ValueError, match="Unknown label type"):
        md.SVC(approx="fourier:20").fit(X, y)
    with pytest.raises(ValueError, match="no row of class 'low'"):
        md.SVC(approx="fourier:20").fit(X, labels, da.where(labels == "low", 0.0, 1.0))
    with pytest.raises(ValueError, match="probability=True"):
        md.SVC(approx="fourier:20", probability=True).fit(X, labels)


def test_parameters(two_workers):
    model = md.KernelRidge(2.0, approx="fourier:10", client=two_workers)
    assert model.get_params()["client"] is two_workers and model.alpha == 2.0
    copied = clone(model)
    assert copied.client is two_workers and copied.approx == "fourier:10"
    assert copy.copy(model).client is two_workers
    assert pickle.loads(pickle.dumps(model)).client is None
    with config_context(enable_metadata_routing=True):
        routed = clone(model.set_fit_request(sample_weight=True)).get_metadata_routing()
    assert routed.fit.requests["sample_weight"] is True
    assert set(md.SVC().get_params()) == {*mercer.SVC().get_params(), "client"}
