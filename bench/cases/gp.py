"""Gaussian processes with one width per column: one likelihood with its gradient, complete fits scored on held-out rows, and
kernels found by search."""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from cases.large import MERCER, peak_of
from harness import Case, Contest, Contestant, Disagreement, Study, Unavailable, Work
from mercer import GaussianProcessRegressor, load
from sklearn import gaussian_process as peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

COLUMNS = 8
BAR = 5.0

#: Complete fits: the maximum number of training rows, the required speed relative to scikit-learn, and whether it takes minutes.
REAL = {
    "boston": (5_000, None, False),
    "uci_energy": (5_000, None, False),
    "uci_concrete": (5_000, 8.0, False),
    "uci_airfoil": (5_000, 8.0, False),
    "kin40k_split": (5_000, None, True),
}

#: The smallest and the largest fraction of rows that may lie outside the 95% intervals.
OUTSIDE = 0.025, 0.08

#: Data sets for kernel search, shipped and real, and the maximum seconds of a search.
SHIPPED, SEARCHED, SEARCH_SECONDS = ("airline", "co2"), ("boston", "uci_concrete", "uci_energy"), 300
EXAMPLES = Path(__file__).resolve().parents[2] / "examples/data"

#: Limits of a fit to 100,000 rows on inducing points.
MOST_SECONDS, MOST_GB = 180, 2

HEADER = ",".join([*(f"x{j}" for j in range(COLUMNS)), "y"])


def cases(settings):
    for full, quick in ((2_000, 500), (5_000, 1_000)):
        n = settings.size(full, quick)

        def load(n=n):
            return contest(n, settings.threads)

        # The likelihood and a gradient of ten entries: relative to the largest, n·eps times the condition of K + σ²I.
        yield Case("gp", f"likelihood + gradient n={n} d={COLUMNS}", 1e-8, load)
    for name, (most, bar, slow) in REAL.items():
        load = lambda name=name, most=most, bar=bar: fits(name, settings.size(most, 100), bar, settings)
        yield Study("gp", f"fit {name}, one width per column", 0.0, load, slow=slow)
    for name in SHIPPED + SEARCHED:
        yield Study("gp", f"discover {name}", 0.0, lambda name=name: discovered(name, settings), slow=True)
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
    """Return the work: the lower half of K, its factor and its inverse, and the derivatives."""
    pairs = n * (n + 1) / 2
    return Work({"f64": n**3 / 3 + 2 * n**3 / 3 + pairs * COLUMNS * 6}, {"f64": 2 * pairs}, fresh=n * n * 16)


def fits(name, most, bar, settings):
    """Compare fits on standardised columns and targets, with the same kernel, bounds and start for both."""
    X, y, X_test, y_test = (array.astype(np.float64) for array in settings.real(name))
    rows = np.random.RandomState(1).permutation(len(X))[:most]
    X, y = X[rows], y[rows]
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1
    X, X_test = (X - mean) / scale, (X_test - mean) / scale
    centre, spread = y.mean(), y.std()
    y, y_test = (y - centre) / spread, (y_test - centre) / spread
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.ones(X.shape[1]), (1e-2, 1e4)) + WhiteKernel(0.1, (1e-7, 1e1))

    def fit(estimator, **more):
        with warnings.catch_warnings():
            # An irrelevant column has its width at the upper bound.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return estimator(kernel, **more).fit(X, y)

    def quality(model):
        return {"−log likelihood": -model.log_marginal_likelihood_value_} | density(model, X_test, y_test)

    return Contest(
        [Contestant("scikit-learn", lambda: fit(peer.GaussianProcessRegressor), quality)],
        [Contestant("mercer", lambda: fit(GaussianProcessRegressor, n_jobs=settings.threads), quality, bar=bar)],
        # Both stop within a relative 1e-8 or so of a maximum: a hundredth of a unit of the likelihood.
        {"−log likelihood": lambda value: value + 0.1, "NLPD": lambda value: value + 0.005, "beyond 2.5–8%": lambda _: 0.0},
    )


def density(model, X, y):
    """Return scores of a model's predictive distribution on held-out rows."""
    mean, std = model.predict(X, return_std=True)
    error = (y - mean) / std
    outside = np.mean(np.abs(error) > 1.959964)
    return {
        "NLPD": np.mean(0.5 * error**2 + np.log(std) + 0.5 * np.log(2 * np.pi)),
        "rows outside of 95%": outside,
        "beyond 2.5–8%": max(OUTSIDE[0] - outside, outside - OUTSIDE[1], 0.0),
    }


def discovered(name, settings):
    """Compare the command line's kernel search with its Gaussian with one width per column."""
    if not MERCER.exists():
        raise Unavailable(f"needs {MERCER}")
    if name in SHIPPED:
        table = np.loadtxt(EXAMPLES / f"{name}.csv", delimiter=",", skiprows=1)
        rows = np.random.RandomState(0).permutation(len(table))
        train, test = np.split(table[rows], [int(0.8 * len(table))])
    else:
        X, y, X_test, y_test = settings.real(name)
        train, test = np.column_stack([X, y]), np.column_stack([X_test, y_test])
    train, X, y = train[: settings.size(len(train), 60)], test[:, :-1].astype(np.float64), test[:, -1].astype(np.float64)
    folder = tempfile.TemporaryDirectory(prefix="mercer-discover-")
    path = Path(folder.name) / "train.csv"
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
    np.savetxt(path, train, delimiter=",", fmt="%.9g", comments="", header=header)

    def run(*command):
        model = path.with_suffix(".mercer")
        common = ["--target", "y", "--holdout", "0", "--quiet", "--threads", settings.threads, "-o", model]

        def answer():
            began = time.perf_counter()
            peak_of([MERCER, *command, path, *common])
            return load(model), time.perf_counter() - began, folder

        return answer

    def quality(result):
        model, seconds, _ = result
        if not settings.quick and seconds >= SEARCH_SECONDS:
            raise Disagreement(f"{seconds:.0f} s, allowed {SEARCH_SECONDS} s")
        return density(model, X, y)

    candidates = ("--candidates", str(settings.size(80, 5)))
    return Contest(
        [Contestant("mercer fit gp", run("fit", "gp"), quality)],
        [Contestant("mercer", run("discover", *candidates), quality)],
        {"NLPD": lambda value: value + 0.005},
    )


def inducing(settings, n, points):
    """Compare the command line on all rows, including its fit for the held-out error, with a fit to a tenth of them."""
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
