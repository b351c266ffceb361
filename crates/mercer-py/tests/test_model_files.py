"""Model files: the estimators, `mercer.load` and the command line read and write the same ones."""

import json
import os
import pickle
import subprocess
from pathlib import Path

import mercer
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from closeness import assert_close
from sklearn.base import clone

REPOSITORY = Path(__file__).parents[3]
SCALED = {"standard": lambda X: (X - X.mean(axis=0)) / X.std(axis=0), "none": lambda X: X}


@pytest.fixture(scope="module")
def cli():
    """The command line, as `MERCER_CLI` says or as it was built last."""
    asked = os.environ.get("MERCER_CLI")
    built = [REPOSITORY / "target" / kind / "mercer" for kind in ("release", "debug")]
    program = asked or next((str(path) for path in built if path.exists()), None)
    if program is None:
        pytest.skip("the command line is not built")

    def call(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


@pytest.fixture
def data(rng):
    X, Z = rng.random((50, 3)), rng.random((20, 3))
    return X, X @ [1.0, 2.0, 3.0] + np.sin(X[:, 0]), Z


@pytest.mark.parametrize("bias", ["none", "centred", "column"])
def test_a_saved_estimator_predicts_the_same(data, tmp_path, bias):
    X, y, Z = data
    path = tmp_path / "model.mercer"
    for targets in [y, np.column_stack([y, -y])]:
        fitted = mercer.KernelRidge(kernel="rbf(sigma=auto)", bias=bias, alpha=0.01).fit(X, targets)
        fitted.save(path)
        model = mercer.load(path)
        assert_close(model.predict(Z), fitted.predict(Z), 1e-12)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(Z), model.predict(Z))
        model.save(tmp_path / "copy.mercer")
        assert (tmp_path / "copy.mercer").read_bytes() == path.read_bytes()
    assert model.n_features_in_ == 3 and model.info["method"] == "ridge" and model.info["settings"]["bias"] == bias
    assert "rbf" in repr(model) and "auto" not in str(model.kernel)


def test_the_same_fit_gives_the_same_bytes(data, tmp_path):
    X, y, _ = data
    for name in ("a", "b"):
        mercer.KernelRidge(kernel="rbf").fit(X, y).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_sparse_and_single_precision_models(data, tmp_path):
    X, y, Z = data
    for form in (scipy.sparse.csr_array, lambda A: A.astype(np.float32)):
        fitted = mercer.KernelRidge(kernel="rbf").fit(form(X), y)
        fitted.save(tmp_path / "m")
        prediction = mercer.load(tmp_path / "m").predict(form(Z))
        assert_close(prediction, fitted.predict(form(Z)), 1e-12)
        assert prediction.dtype == form(Z).dtype


def test_named_columns_are_kept(data, tmp_path):
    X, y, Z = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = mercer.KernelRidge(kernel="rbf").fit(frame, pd.Series(y, name="price"))
    fitted.save(tmp_path / "m")
    model = mercer.load(tmp_path / "m")
    assert model.feature_names_in_.tolist() == ["a", "b", "c"] and model.outputs == ["price"]
    shuffled = pd.DataFrame(Z, columns=["a", "b", "c"])[["c", "a", "b"]]
    np.testing.assert_allclose(model.predict(shuffled), model.predict(Z))
    with pytest.raises(ValueError, match=r"lacks columns.*'c'"):
        model.predict(shuffled[["a", "b"]])


def test_models_that_cannot_be_saved_are_reported(data, tmp_path):
    X, y, _ = data
    with pytest.raises(ValueError, match="'precomputed' cannot be saved"):
        mercer.KernelRidge(kernel="precomputed").fit(X @ X.T, y).save(tmp_path / "m")
    with pytest.raises(ValueError, match="callable.*cannot be saved"):
        mercer.KernelRidge(kernel=np.dot).fit(X, y).save(tmp_path / "m")
    with pytest.raises(Exception, match="not fitted"):
        mercer.KernelRidge().save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_files_that_cannot_be_loaded_are_reported(data, tmp_path):
    X, y, _ = data
    with pytest.raises(FileNotFoundError, match="absent"):
        mercer.load(tmp_path / "absent")
    mercer.KernelRidge().fit(X, y).save(tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    for damaged in [b"", b"not a model", whole[:-9], whole[:-1] + bytes([whole[-1] ^ 1])]:
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(ValueError, match="not a mercer model"):
            mercer.load(tmp_path / "damaged")
    with pytest.raises(ValueError, match="X has 2 features, but the model is expecting 3"):
        mercer.load(tmp_path / "m").predict(X[:, :2])
    with pytest.raises(OSError):
        mercer.KernelRidge().fit(X, y).save(tmp_path / "no" / "folder")


def test_the_command_line_predicts_with_a_python_model(cli, data, tmp_path):
    X, y, Z = data
    mercer.KernelRidge(kernel="rbf(sigma=1)", alpha=0.1).fit(X, y).save(tmp_path / "m.mercer")
    expected = mercer.load(tmp_path / "m.mercer").predict(Z)
    np.save(tmp_path / "z.npy", Z)
    np.savetxt(tmp_path / "plain.csv", Z, delimiter=",", fmt="%.17g")
    pd.DataFrame(Z, columns=["u", "v", "w"]).to_csv(tmp_path / "named.csv", index=False)
    for name in ("z.npy", "plain.csv", "named.csv"):
        cli("predict", tmp_path / "m.mercer", tmp_path / name, "-o", tmp_path / "out.csv", "--quiet")
        assert_close(pd.read_csv(tmp_path / "out.csv")["prediction"], expected, 1e-12)
    assert json.loads(cli("info", tmp_path / "m.mercer", "--json")) == mercer.load(tmp_path / "m.mercer").info


@pytest.mark.parametrize("scale", SCALED)
def test_python_predicts_with_a_model_of_the_command_line(cli, data, tmp_path, scale):
    X, y, Z = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    frame.to_csv(tmp_path / "train.csv", index=False)
    new = pd.DataFrame(Z, columns=["a", "b", "c"])
    new.to_csv(tmp_path / "new.csv", index=False)
    arguments = ["--target", "y", "--kernel", "rbf(sigma=1)", "--lambda", "0.1", "--scale", scale, "--quiet"]
    cli("fit", "ridge", tmp_path / "train.csv", "-o", tmp_path / "m.mercer", *arguments)
    cli("predict", tmp_path / "m.mercer", tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--quiet")
    model = mercer.load(tmp_path / "m.mercer")
    assert_close(model.predict(new), pd.read_csv(tmp_path / "out.csv")["prediction"], 1e-9)
    # The same fit by the estimator, on rows scaled by hand.
    scaled = SCALED[scale](np.vstack([X]))
    estimator = mercer.KernelRidge(kernel="rbf(sigma=1)", alpha=0.1, bias="centred").fit(scaled, y)
    assert_close(model.predict(X), estimator.predict(scaled), 1e-6)


@pytest.mark.parametrize("approx", ["fourier:64", "nystrom:20"])
@pytest.mark.parametrize("chunks", [1, 2])
def test_a_model_on_features_is_a_file(cli, data, tmp_path, approx, chunks):
    X, y, Z = data
    fitted = mercer.KernelRidge(0.1, kernel="matern(nu=2.5, length=1)", approx=approx, bias="centred")
    if chunks == 1:
        fitted.fit(X, y)
    else:
        fitted.partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    fitted.save(tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert_close(model.predict(Z), fitted.predict(Z), 1e-12)
    assert model.info["settings"]["approx"] == approx and model.info["report"]["rows"] == 50
    assert "matern" in str(model.kernel) and repr(model)
    np.save(tmp_path / "z.npy", Z)
    cli("predict", tmp_path / "m.mercer", tmp_path / "z.npy", "-o", tmp_path / "out.csv", "--quiet")
    assert_close(pd.read_csv(tmp_path / "out.csv")["prediction"], fitted.predict(Z), 1e-12)


@pytest.mark.parametrize("how", [["--approx", "fourier:64"], ["--approx", "nystrom:20"], ["--solver", "cg"]])
def test_the_command_line_fits_on_features_as_the_estimator(cli, data, tmp_path, how):
    X, y, Z = data
    np.savetxt(tmp_path / "train.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g", header="a,b,c,y", comments="")
    arguments = ["--target", "y", "--kernel", "rbf(sigma=1)", "--lambda", "0.1", "--scale", "none", "--seed", "3", "--quiet"]
    cli("fit", "ridge", tmp_path / "train.csv", "-o", tmp_path / "m.mercer", *arguments, *how)
    options = {how[0].removeprefix("--"): how[1]}
    fitted = mercer.KernelRidge(0.1, kernel="rbf(sigma=1)", bias="centred", random_state=3, tol=1e-8, **options).fit(X, y)
    rtol = 1e-2 if "nystrom:20" in how or "cg" in how else 1e-8
    assert_close(mercer.load(tmp_path / "m.mercer").predict(Z), fitted.predict(Z), rtol)


@pytest.mark.parametrize(
    ("estimator", "part", "damage"),
    [
        (mercer.KernelPerceptron(vote=True, max_iter=2), "steps", lambda steps: steps + [1e6, 0, 0, 0]),
        (mercer.KernelPerceptron(vote=True, max_iter=2), "steps", lambda steps: steps - [1e6, 0, 0, 0]),
        (mercer.KernelPerceptron(vote=True, max_iter=2), "steps", lambda steps: steps + [0, 5, 0, 0]),
        (mercer.KernelPerceptron(vote=True, max_iter=2), "steps", lambda steps: steps[:, :3].copy()),
        (mercer.KernelPerceptron(vote=True, max_iter=2), "voted_classes", lambda _: 0),
        (mercer.KernelRidge(kernel="rbf", approx="fourier:8"), "weights", lambda weights: weights[:3]),
        (mercer.KernelRidge(kernel="rbf", approx="fourier:8"), "feature_columns", lambda _: 3),
    ],
)
def test_a_damaged_pickle_raises_an_error(estimator, part, damage):
    X = np.random.default_rng(0).random((30, 2))
    fitted = clone(estimator).set_params(random_state=0).fit(X, X[:, 0] > 0.5)
    fitted._kept[part] = damage(fitted._kept[part])
    damaged = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError):
        damaged.predict(X)
