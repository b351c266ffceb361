"""k nearest neighbours against scikit-learn's brute force."""

import numpy as np
import sklearn.neighbors
from harness import Case, Contest, Contestant, Work
from mercer import KNeighborsRegressor

K = 5


def cases(settings):
    n, m = settings.size(50_000, 2_000), settings.size(10_000, 500)
    for d, dtype, bar in ((16, np.float64, 1.0), (16, np.float32, 1.0), (3, np.float64, None), (64, np.float64, None)):
        name = f"{dtype.__name__.replace('float', 'f')} n={n} d={d} queries={m} k={K}"
        yield Case("neighbours", name, 0.0, lambda d=d, dtype=dtype, bar=bar: contest(n, m, d, dtype, bar, settings.threads))


def contest(n, m, d, dtype, bar, threads):
    rng = np.random.default_rng(4)
    X, queries = rng.standard_normal((n, d)).astype(dtype), rng.standard_normal((m, d)).astype(dtype)
    y = rng.standard_normal(n)
    peer = sklearn.neighbors.KNeighborsRegressor(K, algorithm="brute", n_jobs=threads).fit(X, y)
    ours = KNeighborsRegressor(K, n_jobs=threads).fit(X, y)
    precision = "f32" if dtype is np.float32 else "f64"
    floor = Work({precision: 2.0 * n * m * d})

    def neighbours(model):
        return lambda: model.kneighbors(queries, return_distance=False)

    return Contest([Contestant("scikit-learn", neighbours(peer))], [Contestant("mercer", neighbours(ours), work=floor, bar=bar)])
