"""Fits to files that are read in chunks."""

import os
import subprocess
from pathlib import Path

import mercer
import numpy as np
import pytest
from mercer import SVC, KernelLogisticRegression, KernelRidge

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def table(tmp_path, rng):
    """Rows of two numbers and a word, and the file with them."""
    X = rng.uniform(-2, 2, (600, 2))
    words = np.array(["ash", "oak"])[(X[:, 0] > 0.3).astype(int)]
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + (words == "oak")
    path = tmp_path / "d.csv"
    rows = [f"{float(a)!r},{float(b)!r},{word},{float(t)!r}" for (a, b), word, t in zip(X, words, y)]
    path.write_text("\n".join(["a,b,kind,y", *rows]) + "\n")
    return path, X, words, y


def features(X, words):
    return np.column_stack([X, words == "ash", words == "oak"]).astype(float)


@pytest.mark.parametrize("approx", ["fourier:64", "nystrom:50"])
def test_it_is_the_fit_to_the_scaled_rows(table, approx):
    path, X, words, y = table
    ridge = KernelRidge(0.1, kernel="rbf(sigma=1)", approx=approx, bias="centred", random_state=3)
    model = ridge.fit_file(path, target="y", categorical=["kind"], holdout=0.25)
    assert not hasattr(ridge, "n_features_in_")
    assert list(model.feature_names_in_) == ["a", "b", "kind=ash", "kind=oak"] and model.outputs == ["y"]
    F = features(X, words)
    assert np.std(model.predict(F) - y) < 0.05
    report = model.info["report"]
    assert report["rows"] == 600 and 0 < report["sizes"][0]["rmse"] < 0.05 and report["kernel_error"] < 0.4
    assert report["held_out"]["rows"] == 150 and 0 < report["held_out"]["mae"] < report["held_out"]["rmse"] < 0.05
    if approx.startswith("fourier"):
        scaled = (F - F.mean(axis=0)) / F.std(axis=0)
        np.testing.assert_allclose(model.predict(F), ridge.fit(scaled, y).predict(scaled), rtol=1e-6, atol=1e-8)


def test_it_predicts_what_the_model_of_the_command_line_predicts(table, tmp_path):
    built = [REPOSITORY / "target" / kind / "mercer" for kind in ("release", "debug")]
    program = os.environ.get("MERCER_CLI") or next((path for path in built if path.exists()), None)
    if program is None:
        pytest.skip("the command line is not built")
    path, X, words, _ = table
    file = tmp_path / "m.mercer"
    command = ["fit", "ridge", path, "--target", "y", "--categorical", "kind", "--approx", "fourier:64", "--lambda", "0.1"]
    command += ["--kernel", "rbf(sigma=auto)", "--seed", "3", "--holdout", "0", "--quiet", "-o", file]
    subprocess.run([program, *map(str, command)], check=True)
    ridge = KernelRidge(0.1, kernel="rbf(sigma=auto)", approx="fourier:64", bias="centred", random_state=3)
    model = ridge.fit_file(path, target="y", categorical=["kind"], holdout=0)
    model.save(tmp_path / "ours.mercer")
    assert (tmp_path / "ours.mercer").read_bytes() == file.read_bytes()
    F = features(X, words)
    np.testing.assert_array_equal(mercer.load(file).predict(F), model.predict(F))


def test_unsupported_input_is_refused(table, tmp_path):
    path = table[0]
    formula = {"kernel": "rbf(sigma=1)", "approx": "fourier:64"}
    for settings, words in [
        ({"kernel": "rbf(sigma=1)"}, "needs approx"),
        ({**formula, "kernel": "rbf"}, "needs a formula"),
        ({**formula, "kernel": lambda x, z: 1.0}, "needs a formula"),
        ({**formula, "bias": "column"}, "bias='column'"),
    ]:
        with pytest.raises(ValueError, match=words):
            KernelRidge(**settings).fit_file(path, target="y", categorical=["kind"])
    ridge = KernelRidge(**formula)
    with pytest.raises(ValueError, match="kind"):
        ridge.fit_file(path, target="y")
    with pytest.raises(ValueError, match="there is no column|no such column|`z`"):
        ridge.fit_file(path, target="z", categorical=["kind"])
    with pytest.raises(ValueError, match="holdout"):
        ridge.fit_file(path, target="y", categorical=["kind"], holdout=1)
    with pytest.raises(OSError, match="missing.csv"):
        ridge.fit_file(tmp_path / "missing.csv", target="y")


@pytest.mark.parametrize(
    "classifier",
    [
        KernelLogisticRegression(C=10, kernel="rbf(sigma=1)", approx="fourier:64", class_weight="balanced", random_state=3),
        KernelLogisticRegression(kernel="rbf(sigma=1)", approx="fourier:64", class_weight={"oak": 3}, random_state=3),
        SVC(C=10, kernel="rbf(sigma=1)", approx="fourier:64", random_state=3),
    ],
)
def test_a_classifier_is_the_fit_to_the_scaled_rows(table, classifier):
    path, X, words, y = table
    model = classifier.fit_file(path, target="kind", holdout=0.25)
    assert list(model.feature_names_in_) == ["a", "b", "y"] and model.classes_.tolist() == ["ash", "oak"]
    F = np.column_stack([X, y])
    assert np.mean(model.predict(F) == words) > 0.97
    report = model.info["report"]
    assert report["held_out"]["rows"] == 150 and report["held_out"]["accuracy"] > 0.9
    scaled = (F - F.mean(axis=0)) / F.std(axis=0)
    expected = classifier.fit(scaled, words).decision_function(scaled)
    np.testing.assert_allclose(model.decision_function(F).ravel(), expected, rtol=1e-3, atol=1e-3)


def test_classifiers_refuse_what_they_do_not_support(table):
    path = table[0]
    formula = {"kernel": "rbf(sigma=1)", "approx": "fourier:64"}
    for classifier, words in [
        (SVC(kernel="rbf(sigma=1)"), "needs approx"),
        (SVC(**formula, probability=True), "probability=True"),
        (KernelLogisticRegression(**formula, solver="gd"), "solver='newton'"),
        (KernelLogisticRegression(approx="fourier:64"), "needs a formula"),
    ]:
        with pytest.raises(ValueError, match=words):
            classifier.fit_file(path, target="kind")
