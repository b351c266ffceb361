"""Estimates of `mercer plan` compared with measured times."""

import json
import subprocess
from pathlib import Path

import numpy as np
from harness import Estimate
from mercer import KernelRidge, KernelRidgeCV, KNeighborsRegressor

MERCER = Path(__file__).resolve().parents[2] / "target/release/mercer"
BAR = 2.0


def cases(settings):
    for n in (settings.size(2_000, 500), settings.size(10_000, 1_000)):
        for solver, way in (("cholesky", "dual-double"), ("mixed", "dual-mixed")):
            shape = ("ridge", "--shape", f"{n},10", "--kernel", "rbf(gamma=0.1)", "--lambda", "0.1")
            yield Estimate(
                "plan", f"ridge n={n} d=10, {solver}", seconds(settings, way, *shape), lambda n=n, s=solver: ridge(n, s, settings), BAR
            )
    tuned = settings.size(2_000, 300)
    shape = ("ridge", "--shape", f"{tuned},8", "--kernel", "rbf(sigma=?)", "--kernels", "5", "--lambdas", "20")
    name = f"tune n={tuned} d=8, 5 σ × 20 λ"
    yield Estimate("plan", name, seconds(settings, None, *shape), lambda: tune(tuned, settings), BAR)
    rows, queries = settings.size(50_000, 2_000), settings.size(10_000, 500)
    shape = ("knn", "--shape", f"{rows},16", "--queries", str(queries), "-k", "5")
    name = f"neighbours n={rows} d=16 queries={queries}"
    yield Estimate("plan", name, seconds(settings, None, *shape), lambda: knn(rows, queries, settings), BAR)


def seconds(settings, way, *arguments):
    """Return the estimate for one algorithm, or for the chosen one."""

    def estimate():
        command = [MERCER, "plan", *arguments, "--threads", str(settings.threads), "--json"]
        plan = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        candidates = [plan["chosen"], *plan["alternatives"]]
        candidate = next((c for c in candidates if way in (None, c["way"]["name"])), plan["chosen"])
        return sum(stage["seconds"] for stage in candidate["stages"])

    return estimate


def data(n, d):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, d))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(n)


def ridge(n, solver, settings):
    X, y = data(n, 10)
    model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.1, solver=solver, n_jobs=settings.threads)
    return lambda: model.fit(X, y)


def tune(n, settings):
    X, y = data(n, 8)
    sigmas = np.geomspace(0.5, 8, 5)
    alphas = np.geomspace(1e-6, 1e2, 20)
    return lambda: KernelRidgeCV("rbf", gammas=1 / (2 * sigmas**2), alphas=alphas, n_jobs=settings.threads).fit(X, y)


def knn(n, m, settings):
    X, y = data(n, 16)
    queries = data(m, 16)[0] + 0.01
    model = KNeighborsRegressor(5, n_jobs=settings.threads).fit(X, y)
    return lambda: model.predict(queries)
