"""Prediction: a cross kernel matrix times coefficients, without returning the matrix."""

import numpy as np
import sklearn.kernel_ridge
from harness import Case, Contest, Contestant, Work
from mercer import KernelRidge

D = 10


def cases(settings):
    rows, centres = settings.size((10_000, 10_000), (2_000, 2_000))
    yield case(settings, "f64", rows, centres, bar=3.0, tolerance=1e-12)
    yield case(settings, "f32", rows, centres, bar=None, tolerance=1e-5)
    # One row: the overhead of a call.
    yield case(settings, "f64", 1, 1_000, bar=None, tolerance=1e-12)


def case(settings, precision, rows, centres, bar, tolerance):
    def load():
        return contest(precision, rows, centres, bar, settings.threads)

    return Case("predict", f"rbf {precision} rows={rows} centres={centres} d={D}", tolerance, load)


def contest(precision, rows, centres, bar, threads):
    rng = np.random.default_rng(1)
    dtype = {"f32": np.float32, "f64": np.float64}[precision]
    X, Z = (rng.standard_normal((count, D)).astype(dtype) for count in (centres, rows))
    dual = rng.standard_normal(centres)
    peer = with_coefficients(sklearn.kernel_ridge.KernelRidge(kernel="rbf"), X, dual)
    model = with_coefficients(KernelRidge(kernel="rbf", n_jobs=threads), X, dual)
    pairs = rows * centres
    work = Work(flops={precision: pairs * (2 * D + 2)}, exps={precision: pairs}) if rows > 1 else None
    return Contest(
        [Contestant("scikit-learn", lambda: peer.predict(Z))],
        [Contestant("mercer", lambda: model.predict(Z), work=work, bar=bar)],
    )


def with_coefficients(model, X, dual):
    """Return a fitted model with these centres and coefficients, without the n³ cost of a fit."""
    few = min(len(X), 10)
    model.fit(X[:few], dual[:few])
    model.X_fit_, model.dual_coef_ = X, dual
    return model
