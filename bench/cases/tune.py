"""Choosing σ and λ of ridge regression with a Gaussian kernel: against a grid search, and on real data."""

import numpy as np
import sklearn.kernel_ridge
from harness import Contest, Contestant, Study
from mercer import KernelRidge, KernelRidgeCV
from sklearn.model_selection import GridSearchCV

#: Data sets of the last table, and how many of their rows are tuned on: a grid search over all takes hours.
REAL = ("boston", "uci_concrete", "uci_airfoil", "uci_energy", "abalone", "cpusmall", "cadata", "kin40k_split")
TUNED_ON = 2_000


def cases(settings):
    for n, bar in ((2_000, 7), (5_000, 4)):
        rows = settings.size(n, 200)
        yield Study("tune", f"ridge n={rows} d=8, 10 σ × 20 λ", 0.01, lambda n=rows, bar=bar: made(n, bar, settings), slow=True)
    for name in REAL:
        yield Study("tune", f"ridge {name}, 8 σ × 8 λ", 0.01, lambda name=name: real(name, settings), slow=True)


def made(n, bar, settings):
    """10 widths from a tenth of the distances to ten times them, 20 penalties over eight decades."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n + 2_000, 8))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.5 * np.cos(2 * X[:, 2]) + 0.2 * X[:, 3] + 0.1 * rng.standard_normal(len(X))
    sigmas = np.geomspace(0.5, 40, settings.size(10, 3))
    alphas = np.geomspace(1e-6, 1e2, settings.size(20, 4))
    return contest(X[:n], y[:n], X[:n], y[:n], X[n:], y[n:], 1 / (2 * sigmas**2), alphas, bar, settings.threads)


def real(name, settings):
    """Standardised columns; both are tuned on the same rows, then fitted on all of the training rows."""
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
        # One judge for both choices: OpenBLAS crashes in scikit-learn's fit of some of these sizes.
        model = KernelRidge(kernel="rbf", n_jobs=threads, **choice).fit(X_all, y_all)
        return {"test RMSE": np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))}

    return Contest(
        [Contestant("scikit-learn, GridSearchCV cv=5", grid_search, quality)],
        # With the peer's folds the choice is the peer's; leaving one out chooses by another error, so a test set of a few
        # hundred rows may like either choice better.
        [Contestant("mercer cv=5", lambda: tuned(5), quality)] * folds
        + [Contestant("mercer leave-one-out", lambda: tuned(None), quality, bar=bar, judged=not folds)],
    )
