"""Gaussian processes with one width per column: one likelihood with its gradient."""

import numpy as np
from harness import Case, Contest, Contestant, Work
from mercer import GaussianProcessRegressor
from sklearn import gaussian_process as peer
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

COLUMNS = 8
BAR = 5.0


def cases(settings):
    for full, quick in ((2_000, 500), (5_000, 1_000)):
        n = settings.size(full, quick)

        def load(n=n):
            return contest(n, settings.threads)

        # The likelihood and a gradient of ten entries: relative to the largest, n·eps times the condition of K + σ²I.
        yield Case("gp", f"likelihood + gradient n={n} d={COLUMNS}", 1e-8, load)


def contest(n, threads):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, COLUMNS))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)
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
