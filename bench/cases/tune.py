"""Choice of σ and λ of ridge regression with a Gaussian kernel, compared with a grid search, also on real data; `mercer tune logistic`
compared with `mercer tune svc`."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import sklearn.kernel_ridge
from harness import Contest, Contestant, Study
from mercer import KernelRidge, KernelRidgeCV
from sklearn.model_selection import GridSearchCV

#: Data sets of the last table, and the number of rows used for tuning: a grid search over all rows takes hours.
REAL = ("boston", "uci_concrete", "uci_airfoil", "uci_energy", "abalone", "cpusmall", "cadata", "kin40k_split")
TUNED_ON = 2_000

#: Data sets for tuning classifiers, and the number of rows used of each.
CLASSES = ("vowel", "german", "segment", "satimage", "spam", "svmguide1")
CLASSIFIED = 1_500

MERCER = Path(__file__).resolve().parents[2] / "target/release/mercer"


def cases(settings):
    for n, bar in ((2_000, 7), (5_000, 4)):
        rows = settings.size(n, 200)
        yield Study("tune", f"ridge n={rows} d=8, 10 σ × 20 λ", 0.01, lambda n=rows, bar=bar: made(n, bar, settings), slow=True)
    for name in REAL:
        yield Study("tune", f"ridge {name}, 8 σ × 8 λ", 0.01, lambda name=name: real(name, settings), slow=True)
    for name in CLASSES:
        yield Study("tune", f"logistic {name}, against svc", 1.0, lambda name=name: classes(name, settings), slow=True)


def made(n, bar, settings):
    """Search 10 widths from a tenth to ten times the distances, and 20 penalties over eight decades."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n + 2_000, 8))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.5 * np.cos(2 * X[:, 2]) + 0.2 * X[:, 3] + 0.1 * rng.standard_normal(len(X))
    sigmas = np.geomspace(0.5, 40, settings.size(10, 3))
    alphas = np.geomspace(1e-6, 1e2, settings.size(20, 4))
    return contest(X[:n], y[:n], X[:n], y[:n], X[n:], y[n:], 1 / (2 * sigmas**2), alphas, bar, settings.threads)


def real(name, settings):
    """Compare on standardised columns: both are tuned on the same rows, then fitted on all training rows."""
    X, y, X_test, y_test = (array.astype(np.float64) for array in settings.real(name))
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1
    X, X_test = (X - mean) / scale, (X_test - mean) / scale
    spread = y.std()
    y, y_test = (y - y.mean()) / spread, (y_test - y.mean()) / spread
    rows = np.random.RandomState(1).permutation(len(X))[: settings.size(TUNED_ON, 200)]
    sigmas = np.geomspace(0.3, 30, settings.size(8, 3)) * np.sqrt(X.shape[1] / 8)
    alphas = np.geomspace(1e-5, 1e2, settings.size(8, 3))
    return contest(X[rows], y[rows], X, y, X_test, y_test, 1 / (2 * sigmas**2), alphas, None, settings.threads, folds=True)


def contest(X, y, X_all, y_all, X_test, y_test, gammas, alphas, bar, threads, folds=False):
    def grid_search():
        grid = {"gamma": gammas, "alpha": alphas}
        model = sklearn.kernel_ridge.KernelRidge(kernel="rbf")
        search = GridSearchCV(model, grid, cv=5, n_jobs=threads, scoring="neg_mean_squared_error", refit=False)
        return search.fit(X, y).best_params_

    def tuned(cv):
        search = KernelRidgeCV(kernel="rbf", alphas=alphas, gammas=gammas, cv=cv, n_jobs=threads).fit(X, y)
        return {"gamma": search.gamma_, "alpha": search.alpha_}

    def quality(choice):
        # mercer scores both choices: OpenBLAS crashes in scikit-learn's fit of some of these sizes.
        model = KernelRidge(kernel="rbf", n_jobs=threads, **choice).fit(X_all, y_all)
        return {"test RMSE": np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))}

    return Contest(
        [Contestant("scikit-learn, GridSearchCV cv=5", grid_search, quality)],
        # With the peer's folds the choice is the same; leave-one-out chooses by another error, so either choice may be
        # better on a test set of a few hundred rows.
        [Contestant("mercer cv=5", lambda: tuned(5), quality)] * folds
        + [Contestant("mercer leave-one-out", lambda: tuned(None), quality, bar=bar, judged=not folds)],
    )


def classes(name, settings):
    """Compare both methods of the command line on the same widths, folds and penalties, C = 1/λ; at most three times the time of svc."""
    X, y, X_test, y_test = settings.real(name)
    X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
    rows = np.random.RandomState(0).permutation(len(X))[: settings.size(CLASSIFIED, 200)]
    folder = tempfile.TemporaryDirectory()
    data = Path(folder.name) / f"{name}.csv"
    header = ",".join([*(f"x{column}" for column in range(X.shape[1])), "y"])
    np.savetxt(data, np.column_stack([X[rows], y[rows]]), fmt=["%.9g"] * X.shape[1] + ["%d"], delimiter=",", header=header, comments="")

    def tune(method, *penalty):
        command = [MERCER, "tune", method, data, "--target", "y", "--kernel", "rbf(sigma=?)", *penalty, "--outer", "0.2"]
        command += ["-o", f"{folder.name}/{method}.mercer", "--threads", str(settings.threads), "--json"]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def quality(report):
        return {"held-out error": 1 - report["held_out"]["accuracy"]}

    return Contest(
        [Contestant("mercer tune svc", lambda: tune("svc", "--C", "?0.01..1000"), quality)],
        [Contestant("mercer tune logistic", lambda: tune("logistic", "--lambda", "?0.001..100"), quality, bar=1 / 3, judged=False)],
    )
