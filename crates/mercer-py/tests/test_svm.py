"""Support vector machines: behaviour that scikit-learn's tests do not cover."""

import os
import pickle
import subprocess
import sys
import textwrap

import mercer
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.svm
from closeness import assert_close
from mercer import SVC, SVR, Kernel, NuSVC, NuSVR, OneClassSVM
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

ALL = [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(nu=0.2)]
BY_NAME = {"ids": lambda machine: type(machine).__name__}


def outputs(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] > 0.4).astype(int) + (X[:, 0] < -0.4) * 2
    return X, y, rng.normal(size=(25, 3))


@pytest.mark.parametrize("machine", ALL, **BY_NAME)
def test_parameters_match_scikit_learn(machine):
    theirs = getattr(sklearn.svm, type(machine).__name__)().get_params()
    ours = type(machine)().get_params()
    assert set(ours) == set(theirs) | {"n_jobs", "device"} | ({"approx"} if type(machine) is SVC else set())
    # scikit-learn 1.9 has a word for a parameter that nobody set.
    assert {name: ours[name] for name in theirs} == {**theirs, **({"probability": False} if "probability" in theirs else {})}


@pytest.mark.parametrize("machine", ALL, **BY_NAME)
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_attributes_match_scikit_learn(data, machine, kernel):
    X, y, Z = data
    parameters = {**machine.get_params(), "kernel": kernel, "tol": 1e-6}
    ours = clone(machine).set_params(**parameters).fit(X, y)
    theirs = getattr(sklearn.svm, type(machine).__name__)()
    theirs.set_params(**{name: parameters[name] for name in theirs.get_params() if name != "probability"}).fit(X, y)
    # Samples around 0 have many answers of one-class estimation where the kernel has few features.
    unique = kernel == "rbf" or not isinstance(machine, OneClassSVM)
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_", "_dual_coef_", "_intercept_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.dtype == other.dtype and mine.ndim == other.ndim, name
        assert mine.shape == other.shape or not unique, name
    if unique:
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        largest = max(1.0, np.abs(theirs.dual_coef_).max())
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-3, atol=1e-3 * largest)
    np.testing.assert_allclose(outputs(ours, Z), outputs(theirs, Z), rtol=1e-4, atol=1e-4)
    assert ours.shape_fit_ == theirs.shape_fit_ and ours.fit_status_ == 0 and ours._gamma == pytest.approx(theirs._gamma)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-4)
    public = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(vars(ours))


@pytest.mark.parametrize("machine", ALL, **BY_NAME)
def test_kernels_of_the_language(data, machine):
    X, y, Z = data
    named = clone(machine).set_params(kernel="rbf", gamma=0.5).fit(X, y)
    for kernel in ("rbf(sigma=1)", Kernel("rbf(gamma=0.5)"), "exp(-0.5*|x-z|^2)"):
        written = clone(machine).set_params(kernel=kernel).fit(X, y)
        np.testing.assert_allclose(outputs(written, Z), outputs(named, Z), rtol=1e-6, atol=1e-6)
    assert str(named.kernel_) == "rbf(gamma=0.5)"
    with pytest.raises(ValueError, match="gamma belong"):
        clone(machine).set_params(kernel="rbf(sigma=1)", gamma=2.0).fit(X, y)
    with pytest.raises(mercer._native.NotAKernel):
        clone(machine).set_params(kernel="<x,z> - 3*|x-z|^4").fit(X, y)


@pytest.mark.parametrize("machine", ALL, **BY_NAME)
def test_one_problem_in_every_form(data, machine):
    X, y, Z = data
    X, Z = np.round(X, 1), np.round(Z, 1)
    machine = clone(machine).set_params(kernel="rbf", gamma=0.5, tol=1e-7)
    expected = outputs(clone(machine).fit(X, y), Z)
    close = {"rtol": 1e-5, "atol": 1e-5}
    for form in (scipy.sparse.csr_array, scipy.sparse.csr_matrix, np.asfortranarray):
        np.testing.assert_allclose(outputs(clone(machine).fit(form(X), y), form(Z)), expected, **close)
    single = clone(machine).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(outputs(single, Z.astype(np.float32)), expected, rtol=1e-3, atol=1e-3)
    assert single.support_vectors_.dtype == np.float32
    sparse = clone(machine).fit(scipy.sparse.csr_array(X), y)
    assert scipy.sparse.issparse(sparse.support_vectors_) and scipy.sparse.issparse(sparse.dual_coef_)
    np.testing.assert_allclose(outputs(sparse, Z), expected, **close)
    k = Kernel("rbf(gamma=0.5)")
    given = clone(machine).set_params(kernel="precomputed", gamma="scale").fit(k(X), y)
    np.testing.assert_allclose(outputs(given, k(Z, X)), expected, **close)
    function = clone(machine).set_params(kernel=lambda A, B: k(A, B), gamma="scale").fit(X, y)
    np.testing.assert_allclose(outputs(function, Z), expected, **close)


@pytest.mark.parametrize("machine", ALL, **BY_NAME)
def test_threads_do_not_change_the_answer(rng, machine):
    X = rng.normal(size=(400, 5))
    y = rng.integers(0, 3, 400)
    one, many = (clone(machine).set_params(n_jobs=n).fit(X, y) for n in (1, 4))
    np.testing.assert_array_equal(one.dual_coef_, many.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, many.intercept_)
    np.testing.assert_array_equal(outputs(one, X), outputs(many, X))


@pytest.mark.parametrize("machine", ALL, **BY_NAME)
def test_pickled_and_copied(data, machine):
    X, y, Z = data
    fitted = clone(machine).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(Z), fitted.predict(Z))
    np.testing.assert_array_equal(outputs(again, Z), outputs(fitted, Z))


@pytest.mark.parametrize("machine", ALL, **BY_NAME)
@pytest.mark.parametrize("classes", [2, 3])
def test_saved_and_loaded(data, machine, classes, tmp_path):
    X, y, Z = data
    y = np.array(["low", "mid", "top"])[np.minimum(y, classes - 1)] if "SVC" in type(machine).__name__ else y
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = clone(machine).fit(frame, y)
    fitted.save(tmp_path / "m")
    model = mercer.load(tmp_path / "m")
    new = pd.DataFrame(Z, columns=["a", "b", "c"])
    assert model.info["method"] == fitted._method and model.feature_names_in_.tolist() == ["a", "b", "c"]
    if hasattr(fitted, "decision_function"):
        np.testing.assert_array_equal(model.predict(new), fitted.predict(new))
        np.testing.assert_allclose(model.decision_function(new), fitted.decision_function(new), rtol=1e-12, atol=1e-12)
    else:
        assert_close(model.predict(new), fitted.predict(new), 1e-12)
    clone(machine).fit(frame, y).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_probabilities(rng, tmp_path):
    X = rng.normal(size=(300, 2))
    for classes in (2, 3):
        # The probability of each class is known.
        logits = np.column_stack([np.zeros(300), 2 * X[:, 0], 2 * X[:, 1]])[:, :classes]
        true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        y = (rng.random((300, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(max=classes - 1)
        model = SVC(probability=True, kernel="linear", random_state=3).fit(X, y)
        p = model.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert np.abs(p - true).mean() < 0.08
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(p))
        assert model.probA_.shape == model.probB_.shape == (classes * (classes - 1) // 2,) and (model.probA_ < 0).all()
        again = SVC(probability=True, kernel="linear", random_state=3, n_jobs=1).fit(X, y)
        np.testing.assert_array_equal(again.predict_proba(X), p)
        model.save(tmp_path / "m")
        assert_close(mercer.load(tmp_path / "m").predict_proba(X), p, 1e-12)
    plain = SVC().fit(X, y)
    assert not hasattr(plain, "predict_proba") and plain.probA_.size == 0
    plain.save(tmp_path / "m")
    with pytest.raises(AttributeError, match="without probabilities"):
        mercer.load(tmp_path / "m").predict_proba(X)


def test_weights_count_rows(data):
    X, y, Z = data
    counts = np.arange(len(X)) % 3
    for machine in ALL:
        machine = clone(machine).set_params(kernel="rbf", gamma=0.5, tol=1e-9)
        weighted = clone(machine).fit(X, y, sample_weight=counts)
        repeated = clone(machine).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        np.testing.assert_allclose(outputs(weighted, Z), outputs(repeated, Z), rtol=1e-5, atol=1e-5)


def test_class_weights_multiply_c(data):
    X, y, Z = data
    each = {0: 2.0, 1: 0.5, 2: 1.0}
    by_class = SVC(class_weight=each, gamma=0.5, tol=1e-8).fit(X, y)
    by_row = SVC(gamma=0.5, tol=1e-8).fit(X, y, sample_weight=[each[label] for label in y])
    np.testing.assert_allclose(by_class.decision_function(Z), by_row.decision_function(Z), atol=1e-6)
    assert by_class.class_weight_.tolist() == [2.0, 0.5, 1.0]
    assert SVC(class_weight="balanced").fit(X, y).class_weight_ == pytest.approx(len(y) / (3 * np.bincount(y)))
    with pytest.raises(ValueError, match="not in class_weight"):
        SVC(class_weight={7: 2.0}).fit(X, y)


def test_infeasible_nu_names_the_largest(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="infeasible.*at most"):
        NuSVC(nu=0.9).fit(X, (np.arange(90) < 10).astype(int))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (SVC(C=0), r"'C' parameter of SVC must be a float in the range \(0.*, inf\]. Got 0"),
        (SVC(C="one"), "'C' parameter of SVC must be a float"),
        (SVC(tol=0), "'tol' parameter"),
        (SVC(max_iter=-2), "'max_iter' parameter"),
        (SVC(cache_size=0), "'cache_size' parameter"),
        (SVC(gamma=-1.0), "'gamma' parameter"),
        (SVC(decision_function_shape="all"), "'decision_function_shape' parameter"),
        (SVC(class_weight="even"), "'class_weight' parameter"),
        (NuSVC(nu=1.5), r"'nu' parameter of NuSVC must be a float in the range \(0.*, 1.*\]"),
        (SVR(epsilon=-0.1), "'epsilon' parameter"),
        (OneClassSVM(nu=0), "'nu' parameter of OneClassSVM"),
        (SVC(kernel=3), "'kernel' parameter of SVC"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value),
)
def test_parameters_out_of_range_are_refused(data, machine, message):
    X, y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        machine.fit(X, y)


def test_an_early_stop_is_reported(data):
    X, y, _ = data
    with pytest.warns(ConvergenceWarning, match="terminated early.*violated by"):
        model = SVC(C=100, max_iter=3).fit(X, y)
    assert model.fit_status_ == 1 and (model.n_iter_ <= 3).all()


def test_a_kernel_of_strings():
    words = ["aab", "ab", "bbb", "abbb", "aaa", "bba"]

    def shared(A, B):
        return np.array([[float(sum(a.count(c) * b.count(c) for c in "ab")) for b in B] for a in A])

    model = SVC(kernel=shared, C=10).fit(words, [0, 0, 1, 1, 0, 1])
    assert model.predict(["aaab", "babb"]).tolist() == [0, 1]


def test_many_classes_vote(rng):
    centres = rng.normal(size=(12, 4)) * 6
    y = rng.integers(0, 12, 600)
    X = centres[y] + rng.normal(size=(600, 4))
    ours, theirs = SVC(tol=1e-6).fit(X, y), sklearn.svm.SVC(tol=1e-6).fit(X, y)
    Z = rng.normal(size=(500, 4)) * 6
    assert (ours.predict(Z) == theirs.predict(Z)).mean() > 0.995
    np.testing.assert_allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-2)


def test_decisions_come_in_blocks(data, monkeypatch):
    from mercer import _svm_classifier

    X, y, Z = data
    model = SVC().fit(X, y)
    expected = model.predict(Z)
    monkeypatch.setattr(_svm_classifier, "_AT_ONCE", 3 * 7)
    np.testing.assert_array_equal(model.predict(Z), expected)


def test_in_scikit_learn_tools(data):
    X, y, _ = data
    assert cross_val_score(SVC(C=10), X, y, cv=3).mean() > 0.8
    K = Kernel("rbf(sigma=1)")(X)
    assert cross_val_score(SVC(kernel="precomputed", C=10), K, y, cv=3).mean() > 0.8


def test_progress_is_shown(data, capfd):
    X, y, _ = data
    SVC(verbose=True).fit(X, y)
    assert mercer.SVC(verbose=True).fit(X, y).fit_status_ == 0


INTERRUPTED = textwrap.dedent(
    """
    import os, signal, threading, time
    import numpy as np
    from mercer import SVC

    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20000, 20)), rng.integers(0, 2, 20000)
    sent = []

    def interrupt():
        time.sleep(1.0)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        SVC(C=1000).fit(X, y)
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[0])
    """
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals as on Unix")
def test_ctrl_c_stops_a_fit():
    waits = []
    for _ in range(5):  # a busy machine may delay some of them
        done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and done.stdout, done.stderr
        waits.append(float(done.stdout))
        if waits[-1] < 0.3:
            return
    pytest.fail(f"KeyboardInterrupt came after {waits} s")


def hinge_objective(model, map, X, y, C, class_index):
    """½‖v‖² + C Σ max(0, 1 − yf) of one machine on the features of `map`, v by least squares from its decisions."""
    phi = map.transform(X)
    f = model.decision_function(X)
    f, b = (f, model.intercept_[0]) if f.ndim == 1 else (f[:, class_index], model.intercept_[class_index])
    v = np.linalg.lstsq(phi, f - b, rcond=None)[0]
    signs = np.where(y == model.classes_[1 if len(model.classes_) == 2 else class_index], 1, -1)
    return 0.5 * v @ v + C * np.maximum(0, 1 - signs * f).sum()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("approx", ["fourier:64", "nystrom:40"])
def test_on_features_it_is_the_linear_machine_on_them(rng, approx, classes):
    X = rng.standard_normal((300, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (classes == 3) * (X[:, 1] + X[:, 2] ** 2 > 1)]
    model = SVC(C=2.0, kernel="rbf(sigma=2)", approx=approx, random_state=1).fit(X, y)
    if approx.startswith("fourier"):
        map = mercer.RandomFourierFeatures("rbf(sigma=2)", 64, random_state=1).fit(X)
    else:
        map = mercer.Nystroem("rbf(sigma=2)", landmarks=model.X_fit_).fit(X)
    assert model.approx_ == approx and not hasattr(model, "support_") and model.fit_status_ == 0
    for k in range(1 if classes == 2 else 3):
        signs = y == model.classes_[1 if classes == 2 else k]
        peer = sklearn.svm.SVC(C=2.0, kernel="linear", tol=1e-8).fit(map.transform(X), signs)
        best = 0.5 * np.sum(peer.coef_**2) + 2 * np.maximum(0, 1 - np.where(signs, 1, -1) * peer.decision_function(map.transform(X))).sum()
        found = hinge_objective(model, map, X, y, 2.0, k)
        assert best * (1 - 1e-6) <= found <= best * (1 + 2e-3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("approx", ["fourier:64", "nystrom:40"])
def test_a_machine_on_features_is_a_file_and_can_become_one_of_pairs(rng, tmp_path, approx):
    X = rng.standard_normal((200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 7, 3)
    model = SVC(kernel="rbf(sigma=1)", approx=approx, C=10).fit(X, y)
    assert model.score(X, y) > 0.9
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert_close(loaded.decision_function(X), model.decision_function(X), 1e-12)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.info["settings"]["approx"] == approx
    exact = clone(model).set_params(approx=None).fit(X, y)
    refitted = model.set_params(approx=None).fit(X, y)
    np.testing.assert_array_equal(refitted.decision_function(X), exact.decision_function(X))
    assert refitted.approx_ is None and not hasattr(refitted, "X_fit_")


def test_settings_that_features_do_not_support_are_reported():
    X, y = np.eye(4), [0, 1, 0, 1]
    for parameters, message in [
        ({"approx": "fourier"}, "'fourier:D'"),
        ({"approx": "fourier:4", "probability": True}, "probability"),
        ({"approx": "fourier:4", "decision_function_shape": "ovo"}, "ovo"),
        ({"approx": "nystrom:2", "kernel": lambda A, B: A @ B.T}, "Nystroem"),
    ]:
        with pytest.raises(ValueError, match=message):
            SVC(**parameters).fit(X, y)
    assert SVC(approx="auto").fit(X, y).approx_ is None
