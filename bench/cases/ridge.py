"""Kernel ridge regression: fits, and their peak memory."""

import numpy as np
import sklearn.kernel_ridge
from harness import Case, Contest, Contestant, Disagreement, Peak, Work
from mercer import KernelRidge

D = 10
ALPHA = 0.1

#: The condition number is below n/α ≈ 1e5, so rounding changes coefficients by about 1e-11 of their size at most.
TOLERANCE = 1e-10


def cases(settings):
    n = settings.size(10_000, 1_500)
    yield fit_case(settings, n, {"cholesky": 1.1, "mixed": 1.6})
    yield fit_case(settings, settings.size(2_000, 500), {"auto": None, "cholesky": None, "mixed": None})
    yield Case("ridge", "fit rbf cpusmall", TOLERANCE, lambda: cpusmall(settings))
    for solver, bar in (("cholesky", 1.3), ("mixed", 1.6)):

        def load(solver=solver):
            X, y = data(n)
            model = KernelRidge(alpha=ALPHA, kernel="rbf", solver=solver, n_jobs=settings.threads)
            return lambda: model.fit(X, y)

        yield Peak("ridge", f"peak memory of the fit, mercer {solver}, n={n}", 8.0 * n * n, "f64 Gram", load, bar)

    def load_peer():
        X, y = data(n)
        model = sklearn.kernel_ridge.KernelRidge(alpha=ALPHA, kernel="rbf")
        return lambda: model.fit(X, y)

    yield Peak("ridge", f"peak memory of the fit, scikit-learn, n={n}", 8.0 * n * n, "f64 Gram", load_peer)


def data(n):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, D))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(n)


def fit_case(settings, n, bars):
    def load():
        return contest(*data(n), bars, settings.threads)

    return Case("ridge", f"fit rbf f64 n={n} d={D}", TOLERANCE, load)


def cpusmall(settings):
    X, y, _, _ = settings.real("cpusmall")
    rows = settings.size(len(X), 1_500)
    X, y = X[:rows].astype(np.float64), y[:rows].astype(np.float64)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return contest(X, y, {"auto": None, "cholesky": None}, settings.threads)


def contest(X, y, bars, threads):
    peer = sklearn.kernel_ridge.KernelRidge(alpha=ALPHA, kernel="rbf")
    ours = [contestant(X, y, solver, bar, threads) for solver, bar in bars.items()]
    return Contest([Contestant("scikit-learn", lambda: peer.fit(X, y), lambda model: model.dual_coef_)], ours)


def contestant(X, y, solver, bar, threads):
    model = KernelRidge(alpha=ALPHA, kernel="rbf", solver=solver, n_jobs=threads)

    factor = {"cholesky": "f64", "mixed": "f32"}.get(solver)

    def answer(model):
        used = model._report["solver"]
        if factor and factor not in used.split(",")[0]:
            raise Disagreement(f"mercer {solver}: solved by {used}")
        return model.dual_coef_

    floor = work(*X.shape, factor) if factor else None
    return Contestant(f"mercer {solver}", lambda: model.fit(X, y), answer, floor, bar)


def work(n, d, factor):
    """Return the work: the lower half of K, its Cholesky factor, and for a single-precision factor two residuals in double precision."""
    pairs = n * (n + 1) / 2
    size = {"f32": 4, "f64": 8}[factor]
    flops, exps = {factor: pairs * 2 * d + n**3 / 3}, {factor: pairs}
    if factor == "f32":
        flops["f64"], exps["f64"] = 2 * pairs * (2 * d + 4), 2 * pairs
    return Work(flops, exps, fresh=pairs * size)
