"""Ridge regression where the kernel matrix is too large: random features, landmarks, conjugate gradients and a stream."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import Contest, Contestant, Disagreement, Study, Unavailable
from mercer import Kernel, KernelRidge, load
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

MERCER = Path(__file__).resolve().parents[2] / "target/release/mercer"

#: Name of each kind on the command line, and in the names of cases.
KINDS = {"fourier": "random features", "nystrom": "landmarks"}

#: Allowed difference of errors, since both sides draw different random features.
TOLERANCE = 0.02


def cases(settings):
    n = settings.size(100_000, 2_000)
    for kind, precision, bar in (("fourier", "f32", 4), ("fourier", "f64", 2.5), ("nystrom", "f32", 3), ("nystrom", "f64", 2)):
        size = settings.size(2_048, 128)
        name = f"{size} {KINDS[kind]} + ridge, {precision} n={n} d=28"

        def load_made(kind=kind, precision=precision, size=size, bar=bar):
            return features_contest(settings, kind, size, *made(n, 28, precision), gamma=1 / 56, alpha=1.0, bar=bar)

        yield Study("large", name, TOLERANCE, load_made)
    rows, size = settings.size(50_000, 2_000), settings.size(2_048, 128)
    yield Study(
        "large",
        f"{size} random features + ridge, ill-conditioned, f32 n={rows} d=27, λ=0.01",
        TOLERANCE,
        lambda rows=rows, size=size: features_contest(
            settings, "fourier", size, *correlated(rows), gamma=1 / 54, alpha=1e-2, bar=1
        ),
    )
    for name in ("nycflights13", "uci_protein", "kin40k_split"):
        for kind in KINDS:
            size = settings.size(2_048, 64)

            def load_real(name=name, kind=kind, size=size):
                arrays = standardised(settings, name)
                return features_contest(settings, kind, size, *arrays, gamma=1 / (2 * arrays[0].shape[1]), alpha=0.1)

            yield Study("large", f"{name}, {size} {KINDS[kind]} + ridge", TOLERANCE, load_real, slow=True)
    for kind, size in (("fourier", settings.size(8_192, 128)), ("nystrom", settings.size(5_000, 100))):
        yield Study(
            "large",
            f"mnist, one-hot ridge on {size} {KINDS[kind]}",
            # Another seed changes the number of errors, 240, by about ten.
            0.05,
            lambda kind=kind, size=size: mnist(settings, kind, size),
            slow=True,
        )
    for name in ("heaton_sat", "nycflights13"):
        for alpha in (1.0, 0.01):
            yield Study(
                "large",
                f"{name}, full ridge by conjugate gradients, λ={alpha:g}, residual 1e-3",
                TOLERANCE,
                lambda name=name, alpha=alpha: full(settings, name, alpha),
                slow=True,
            )
    rows = settings.size(10_000_000, 20_000)
    yield Study("large", f"stream of a CSV file, n={rows} d=20, fourier:1024", TOLERANCE, lambda rows=rows: stream(settings, rows), slow=True)


def made(n, d, precision):
    """Return training and test arrays of a smooth function of some of the columns."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((n + n // 5, d))
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3]) + 0.3 * X[:, 4:8].sum(axis=1) + 0.2 * rng.standard_normal(len(X))
    X = X.astype({"f32": np.float32, "f64": np.float64}[precision])
    return X[:n], y[:n], X[n:], y[n:]


def correlated(n):
    """Return rows whose 27 columns are functions of 6 numbers plus 1% noise: many eigenvalues of the features are far below λ, and many far above."""
    rng = np.random.default_rng(8)
    few = rng.standard_normal((n + n // 5, 6))
    X = np.tanh(few @ rng.standard_normal((6, 27))) + 0.01 * rng.standard_normal((len(few), 27))
    y = np.sin(few[:, 0]) * few[:, 1] + np.cos(few[:, 2] + few[:, 3]) + 0.2 * rng.standard_normal(len(few))
    X = X.astype(np.float32)
    return X[:n], y[:n], X[n:], y[n:]


def standardised(settings, name, rows=None, dtype=np.float32):
    """Return a real data set with columns and targets of mean 0 and variance 1."""
    X, y, X_test, y_test = (array.astype(np.float64) for array in settings.real(name))
    rows = settings.size(rows or len(X), 1_000)
    X, y, X_test, y_test = X[:rows], y[:rows], X_test[: settings.size(100_000, 300)], y_test[: settings.size(100_000, 300)]
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1
    level, spread = y.mean(), y.std()
    X, X_test = (((A - mean) / scale).astype(dtype) for A in (X, X_test))
    return X, (y - level) / spread, X_test, (y_test - level) / spread


def rmse(prediction, y):
    return float(np.sqrt(np.mean((np.asarray(prediction, dtype=np.float64) - y) ** 2)))


def pipeline(settings, kind, size, gamma, alpha):
    if kind == "fourier":
        features = RBFSampler(gamma=gamma, n_components=size, random_state=0)
    else:
        features = Nystroem(gamma=gamma, n_components=size, random_state=0, n_jobs=settings.threads)
    return make_pipeline(features, Ridge(alpha=alpha))


def ours(settings, kind, size, gamma, alpha):
    return KernelRidge(
        alpha, kernel=f"rbf(gamma={gamma})", approx=f"{kind}:{size}", bias="centred", n_jobs=settings.threads
    )


def features_contest(settings, kind, size, X, y, X_test, y_test, gamma, alpha, bar=None):
    peer = pipeline(settings, kind, size, gamma, alpha)
    model = ours(settings, kind, size, gamma, alpha)
    # Ridge keeps the precision of the rows only if the targets have it, too.
    narrow = y.astype(X.dtype)

    def quality(fitted):
        return {"test RMSE": rmse(fitted.predict(X_test), y_test)}

    return Contest(
        [Contestant("scikit-learn", lambda: peer.fit(X, narrow), quality)],
        [Contestant("mercer", lambda: model.fit(X, y), quality, bar=bar)],
    )


def mnist(settings, kind, size):
    X, y, X_test, y_test = settings.real("mnist")
    rows = settings.size(len(X), 1_000)
    X, y, X_test = (X[:rows] / 255).astype(np.float32), y[:rows].astype(int), (X_test / 255).astype(np.float32)
    onehot = np.eye(10, dtype=np.float32)[y]
    peer, model = pipeline(settings, kind, size, 0.02, 0.1), ours(settings, kind, size, 0.02, 0.1)

    def quality(fitted):
        return {"test error": float(np.mean(fitted.predict(X_test).argmax(axis=1) != y_test))}

    return Contest(
        [Contestant("scikit-learn", lambda: peer.fit(X, onehot), quality)],
        [Contestant("mercer", lambda: model.fit(X, onehot), quality)],
    )


def full(settings, name, alpha):
    """Compare all rows as centres with 5,000 landmarks. The residual is computed from blocks of the kernel matrix."""
    X, y, X_test, y_test = standardised(settings, name, 100_000 if name == "nycflights13" else None, np.float64)
    y = y - y.mean()
    kernel = Kernel("rbf(sigma=auto)").resolve(X)
    both = {"alpha": alpha, "kernel": kernel, "n_jobs": settings.threads}
    few = KernelRidge(**both, approx=f"nystrom:{settings.size(5_000, 100)}")
    model = KernelRidge(**both, solver="cg", tol=1e-3)

    def residual(fitted):
        left = y - alpha * fitted.dual_coef_
        for first in range(0, len(X), 1_000):
            left[first : first + 1_000] -= kernel(X[first : first + 1_000], X, n_jobs=settings.threads) @ fitted.dual_coef_
        return float(np.linalg.norm(left) / np.linalg.norm(y))

    def quality(fitted):
        return {
            "test RMSE": rmse(fitted.predict(X_test), y_test),
            "iterations": fitted.n_iter_,
            "residual": residual(fitted),
        }

    return Contest(
        [
            Contestant(
                f"mercer {few.approx}", lambda: few.fit(X, y), lambda fitted: {"test RMSE": rmse(fitted.predict(X_test), y_test)}
            )
        ],
        [Contestant("mercer", lambda: model.fit(X, y), quality)],
    )


def high_water(process):
    """Return the peak memory of a running process so far in GB. Figures after its end would include its parent's memory."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    return max((int(line.split()[1]) * 1024 / 1e9 for line in status.splitlines() if line.startswith("VmHWM")), default=0.0)


def peak_of(command):
    """Return the peak memory of a command in GB."""
    child = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE)
    peak = 0.0
    while child.poll() is None:
        peak = max(peak, high_water(child.pid))
        time.sleep(0.02)
    if child.returncode != 0:
        raise Disagreement(f"the command failed: {child.stderr.read().decode()[-500:]}")
    return peak


#: Rows that are written once and repeated; the time does not depend on their values.
BLOCK = 10_000


def stream(settings, rows):
    """Compare the command line on a file with the same fit on an array. A file of ten million rows has 2 GB."""
    if not MERCER.exists():
        raise Unavailable(f"needs {MERCER}")
    X, y, X_test, y_test = made(BLOCK, 20, "f32")
    folder = tempfile.TemporaryDirectory(prefix="mercer-stream-", dir=os.environ.get("TMPDIR", MERCER.parents[1]))
    path, model_path = Path(folder.name) / "rows.csv", Path(folder.name) / "m.mercer"
    names = ",".join([f"x{j}" for j in range(20)] + ["y"])
    text = "".join(",".join(f"{v:.6g}" for v in row) + "\n" for row in np.column_stack([X, y]))
    with path.open("w") as file:
        file.write(names + "\n")
        for _ in range(rows // BLOCK):
            file.write(text)
    repeated = (np.tile(X, (rows // BLOCK, 1)), np.tile(y, rows // BLOCK))
    model = KernelRidge(1.0, kernel="rbf(sigma=4)", approx="fourier:1024", bias="centred", n_jobs=settings.threads)
    command = [MERCER, "fit", "ridge", path, "--target", "y", "--kernel", "rbf(sigma=4)", "--approx", "fourier:1024"]
    command += ["--scale", "none", "--dtype", "f32", "--threads", str(settings.threads), "-o", model_path, "--quiet"]

    def streamed():
        peak = peak_of(command)
        return load(model_path), peak, folder

    def quality(result):
        fitted, peak, _ = result
        if not settings.quick and peak >= 1:
            raise Disagreement(f"the peak of memory is {peak:.2f} GB, allowed 1 GB")
        return {"test RMSE": rmse(fitted.predict(X_test), y_test), "peak GB": peak}

    return Contest(
        [Contestant("mercer in memory", lambda: model.fit(*repeated), lambda m: {"test RMSE": rmse(m.predict(X_test), y_test)})],
        [Contestant("mercer", streamed, quality, bar=2 / 3)],
    )
