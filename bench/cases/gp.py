"""Gaussian processes with one width per column: one likelihood with its gradient, and a whole fit on inducing points."""

import tempfile
import time
from pathlib import Path

import numpy as np
from cases.large import MERCER, peak_of
from harness import Case, Contest, Contestant, Disagreement, Study, Unavailable, Work
from mercer import GaussianProcessRegressor, load
from sklearn import gaussian_process as peer
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

COLUMNS = 8
BAR = 5.0

#: What a fit on inducing points may take, of 100,000 rows.
MOST_SECONDS, MOST_GB = 180, 2

HEADER = ",".join([*(f"x{j}" for j in range(COLUMNS)), "y"])


def cases(settings):
    for full, quick in ((2_000, 500), (5_000, 1_000)):
        n = settings.size(full, quick)

        def load(n=n):
            return contest(n, settings.threads)

        # The likelihood and a gradient of ten entries: relative to the largest, n·eps times the condition of K + σ²I.
        yield Case("gp", f"likelihood + gradient n={n} d={COLUMNS}", 1e-8, load)
    n, points = settings.size(100_000, 2_000), settings.size(1_024, 32)
    name = f"fit gp --approx nystrom:{points}, n={n} d={COLUMNS}"
    yield Study("gp", name, 1e-3, lambda: inducing(settings, n, points), slow=True)


def made(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, COLUMNS))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def contest(n, threads):
    X, y = made(n)
    kernel = ConstantKernel(1.0) * RBF(np.full(COLUMNS, 2.0)) + WhiteKernel(0.1)
    fixed = {"kernel": kernel, "optimizer": None}
    theirs = peer.GaussianProcessRegressor(**fixed).fit(X, y)
    ours = GaussianProcessRegressor(**fixed, n_jobs=threads).fit(X, y)
    theta = theirs.kernel_.theta
    both = lambda model: model.log_marginal_likelihood(theta, eval_gradient=True, clone_kernel=False)
    answer = lambda found: np.concatenate(([found[0]], found[1]))
    return Contest(
        [Contestant("scikit-learn", lambda: both(theirs), answer)],
        [Contestant("mercer", lambda: both(ours), answer, work(n), BAR)],
    )


def work(n):
    """The lower half of K, its factor and its inverse, and the derivatives."""
    pairs = n * (n + 1) / 2
    return Work({"f64": n**3 / 3 + 2 * n**3 / 3 + pairs * COLUMNS * 6}, {"f64": 2 * pairs}, fresh=n * n * 16)


def inducing(settings, n, points):
    """The command line on all rows, with its fit for the held-out error, beside one on a tenth of them."""
    if not MERCER.exists():
        raise Unavailable(f"needs {MERCER}")
    folder = tempfile.TemporaryDirectory(prefix="mercer-gp-")
    X_test, y_test = made(2_000, seed=1)

    def fit(rows):
        path = Path(folder.name) / f"{rows}.csv"
        np.savetxt(path, np.column_stack(made(rows)), delimiter=",", fmt="%.8g", comments="", header=HEADER)
        model = path.with_suffix(".mercer")
        command = [MERCER, "fit", "gp", path, "--target", "y", "--approx", f"nystrom:{points}", "--quiet", "-o", model]
        command += ["--threads", settings.threads]

        def run():
            began, peak = time.perf_counter(), peak_of(command)
            return load(model), peak, time.perf_counter() - began, folder

        return run

    def answer(result):
        fitted, peak, seconds, _ = result
        if not settings.quick and (seconds >= MOST_SECONDS or peak >= MOST_GB):
            raise Disagreement(f"{seconds:.0f} s and {peak:.2f} GB, allowed {MOST_SECONDS} s and {MOST_GB} GB")
        error = float(np.sqrt(np.mean((fitted.predict(X_test) - y_test) ** 2)))
        return {"test RMSE": error, "peak GB": peak}

    return Contest(
        [Contestant(f"mercer on {n // 10} rows", fit(n // 10), answer)], [Contestant("mercer", fit(n), answer)]
    )
