"""Kernel logistic regression compared with one Cholesky factorisation, and with scikit-learn's classifiers on real data."""

import numpy as np
import scipy.linalg
from harness import Contest, Contestant, Study
from mercer import Kernel, KernelLogisticRegression
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

REAL = ("letter", "satimage", "usps", "spam", "dna", "pendigits")

#: Landmarks of the approximations.
SIZE = 2_000

#: The gradient at the solution relative to the initial one. The peer stops when no entry of its gradient, divided by the number of
#: rows, is above 1e-4; the objectives show which is closer to the minimum.
TOLERANCE = 1e-2


def cases(settings):
    n = settings.size(10_000, 1_000)
    yield Study("logistic", f"n={n} d=20, C=1, gradient 1e-6", 0.0, lambda: made(settings, n), slow=True)
    for name in REAL:
        yield Study("logistic", f"{name}, C=10", 0.0, lambda name=name: real(settings, name), slow=True)


def made(settings, n):
    """Allow 12 times the time of one factorisation of a matrix of that size."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n + 5_000, 20))
    chance = 1 / (1 + np.exp(-(2 * np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] ** 2 - 1)))
    y = (rng.random(len(X)) < chance).astype(int)
    X_test, y_test, X, y = X[n:], y[n:], X[:n], y[:n]
    matrix = np.asfortranarray(Kernel("rbf(gamma=0.05)")(X, n_jobs=settings.threads) + np.eye(n))
    model = KernelLogisticRegression(1.0, "rbf(gamma=0.05)", tol=1e-6, n_jobs=settings.threads)
    quality = judge(X_test, y_test)
    return Contest(
        [
            Contestant("one Cholesky (SciPy)", lambda: scipy.linalg.cholesky(matrix, lower=True, check_finite=False), lambda _: {}),
            nystroem(settings, X, y, quality, C=1.0, gamma=0.05),
        ],
        [Contestant("mercer", lambda: model.fit(X, y), lambda m: quality(m) | {"gradient": m._report["residual"]}, bar=1 / 12)],
    )


def real(settings, name):
    """Compare on standardised columns with γ = 1/d and C = 10 for all."""
    X, y, X_test, y_test = (array.astype(np.float64) for array in settings.real(name))
    rows = np.random.RandomState(2).permutation(len(X))[: settings.size(len(X), 400)]
    X, y = X[rows], y[rows]
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1
    X, X_test = (X - mean) / scale, (X_test - mean) / scale
    gamma = 1 / X.shape[1]
    svc = SVC(C=10, gamma=gamma)
    quality = judge(X_test, y_test)
    exact = KernelLogisticRegression(10.0, f"rbf(gamma={gamma})", n_jobs=settings.threads)
    few = KernelLogisticRegression(
        10.0, f"rbf(gamma={gamma})", approx=f"nystrom:{min(SIZE, len(X))}", tol=TOLERANCE, n_jobs=settings.threads
    )

    def of_features(fitted):
        return quality(fitted) | {"objective": objective(fitted, X, y)}

    return Contest(
        [
            Contestant("scikit-learn SVC", lambda: svc.fit(X, y), lambda m: {"test error": 1 - m.score(X_test, y_test)}),
            nystroem(settings, X, y, of_features, C=10.0, gamma=gamma),
        ],
        # The support vector machine has another loss: its errors are for comparison only.
        [
            Contestant("mercer", lambda: exact.fit(X, y), quality, judged=False),
            Contestant(f"mercer {few.approx}", lambda: few.fit(X, y), of_features, judged=False),
        ],
    )


def objective(fitted, X, y):
    """Return C·Σloss + ½‖w‖² over the training rows, divided by C·n; stopping early gives a larger value."""
    if hasattr(fitted, "steps"):
        C, squares = fitted[-1].C, np.sum(fitted[-1].coef_ ** 2)
    else:
        C, dual = fitted.C, fitted.dual_coef_
        squares = np.sum(dual * (fitted.kernel_(fitted.X_fit_) @ dual))
    return log_loss(y, fitted.predict_proba(X), labels=fitted.classes_) + squares / (2 * C * len(X))


def nystroem(settings, X, y, quality, C, gamma):
    size = min(SIZE, len(X))
    features = Nystroem(gamma=gamma, n_components=size, random_state=0, n_jobs=settings.threads)
    model = make_pipeline(features, LogisticRegression(C=C, max_iter=1_000))
    return Contestant(f"scikit-learn Nystroem({size}) + LogisticRegression", lambda: model.fit(X, y), quality)


def judge(X_test, y_test):
    def quality(fitted):
        p = fitted.predict_proba(X_test)
        wrong = float(np.mean(fitted.classes_[p.argmax(axis=1)] != y_test))
        return {"test error": wrong, "log-loss": log_loss(y_test, p, labels=fitted.classes_)}

    return quality
