"""The complete kernel matrix of n rows, as an array."""

import numpy as np
from harness import Case, Contest, Contestant, Work
from mercer import Kernel
from sklearn.metrics import pairwise

DTYPES = {"f32": np.float32, "f64": np.float64}

#: Kernel, precision, columns, bar, tolerance. Single precision: some units of 2⁻²⁴ times γ|x−z|² or the degree; double
#: precision: the same with 2⁻⁵³. Both sides round, in different orders.
CASES = [
    ("rbf", "f32", 16, 3.0, 2e-6),
    ("rbf", "f32", 128, 3.0, 2e-6),
    ("rbf", "f64", 16, 3.0, 1e-14),
    ("rbf", "f64", 128, 2.5, 1e-14),
    ("laplacian", "f64", 16, 4.0, 1e-14),
    ("laplacian", "f64", 128, 12.0, 1e-14),
    ("poly", "f32", 16, 3.0, 2e-6),
    ("poly", "f32", 128, 3.0, 2e-6),
    ("poly", "f64", 16, 3.0, 1e-14),
    ("poly", "f64", 128, 3.0, 1e-14),
]


def cases(settings):
    n = settings.size(8_000, 1_500)
    for kernel, precision, d, bar, tolerance in CASES:

        def load(kernel=kernel, precision=precision, d=d, bar=bar):
            return contest(kernel, precision, n, d, bar, settings.threads)

        yield Case("gram", f"{kernel} {precision} n={n} d={d}", tolerance, load)


def contest(kernel, precision, n, d, bar, threads):
    """Compare kernel matrices with γ = 1/d, scikit-learn's default, written out for both sides."""
    X = np.random.default_rng(0).standard_normal((n, d)).astype(DTYPES[precision])
    gamma = 1 / d
    function, parameters, text = {
        "rbf": (pairwise.rbf_kernel, {"gamma": gamma}, f"rbf(gamma={gamma})"),
        "laplacian": (pairwise.laplacian_kernel, {"gamma": gamma}, f"laplacian(gamma={gamma})"),
        "poly": (
            pairwise.polynomial_kernel,
            {"degree": 3, "gamma": gamma, "coef0": 1},
            f"poly(degree=3, gamma={gamma}, c=1)",
        ),
    }[kernel]
    peers = [Contestant("scikit-learn", lambda: function(X, **parameters))]
    if kernel == "laplacian":
        # laplacian_kernel runs on one thread; this is scikit-learn's way to give it more.
        both = {"metric": kernel, "n_jobs": threads, **parameters}
        peers.append(Contestant(f"scikit-learn, n_jobs={threads}", lambda: pairwise.pairwise_kernels(X, **both)))
    k = Kernel(text)
    ours = Contestant("mercer", lambda: k(X, n_jobs=threads), work=work(kernel, precision, n, d), bar=bar)
    return Contest(peers, [ours])


def work(kernel, precision, n, d):
    """Return the work: each pair computed once, each entry stored.

    A term of a dot product is a multiply-add: 2 flops. A term |xⱼ − zⱼ| is a subtraction and an addition, two
    instructions compared with one for a multiply-add, so it counts as 4 flops of a matrix product.
    """
    pairs = n * (n + 1) / 2
    return Work(
        flops={precision: pairs * d * (4 if kernel == "laplacian" else 2)},
        exps={} if kernel == "poly" else {precision: pairs},
        fresh=n * n * np.dtype(DTYPES[precision]).itemsize,
    )
