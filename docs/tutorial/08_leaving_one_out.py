"""Leaving one out.

How good would the prediction at a row be, had the row not been there? Asking that of every row in turn takes n fits, or so it
seems. For ridge regression one will do: with C = (K + λI)⁻¹ and a = Cy, the residual at row i of the fit without row i is

    aᵢ / Cᵢᵢ.
"""

import time

import numpy as np

from mercer import Kernel, KernelRidge, KernelRidgeCV

rng = np.random.default_rng(8)
X = rng.standard_normal((120, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(120)
kernel, penalty = "rbf(sigma=1.5)", 0.1

# One fit instead of a hundred and twenty.
C = np.linalg.inv(Kernel(kernel)(X) + penalty * np.eye(120))
shortcut = (C @ y) / np.diag(C)
one_by_one = np.empty(120)
for i in range(120):
    others = np.arange(120) != i
    fitted = KernelRidge(kernel=kernel, alpha=penalty).fit(X[others], y[others])
    one_by_one[i] = y[i] - fitted.predict(X[[i]])[0]
assert np.allclose(shortcut, one_by_one, atol=1e-9)

# The training error cannot choose: a narrow kernel repeats every target and knows nothing else. The left-out error has a
# bottom: to its left the model follows the noise (variance), to its right it cannot follow the truth (bias).
sigmas = np.geomspace(0.1, 300, 15)
search = KernelRidgeCV("rbf", gammas=1 / (2 * sigmas**2), alphas=np.geomspace(1e-4, 1e2, 13)).fit(X, y)
errors = -search.cv_results_["mean_test_score"].reshape(15, 13)[:, 6]  # at the penalty 0.1
bottom = int(np.argmin(errors))
print("left-out error by sigma:", {round(float(s), 2): round(float(e), 3) for s, e in zip(sigmas, errors, strict=True)})
assert 0 < bottom < 14
assert errors[0] > 1.5 * errors[bottom] and errors[-1] > 1.5 * errors[bottom]
narrowest = KernelRidge(kernel=f"rbf(sigma={sigmas[0]})", alpha=1e-4).fit(X, y)
training = np.mean((narrowest.predict(X) - y) ** 2)
print(f"at the narrow end: training error {training:.1e}, left-out error {errors[0]:.2f}")
assert training < 1e-6 < errors[0]

# The choice also pays on new rows.
new = rng.standard_normal((2_000, 3))
truth = np.sin(new[:, 0]) + new[:, 1] * new[:, 2]


def error(model):
    return float(np.sqrt(np.mean((model.predict(new) - truth) ** 2)))


default = KernelRidge(kernel="rbf").fit(X, y)
print(f"distance from the truth: untuned {error(default):.3f}, tuned {error(search):.3f}")
assert error(search) < error(default)

# Every penalty comes from the same factorisation, so a path of them costs hardly more than one.
big = rng.standard_normal((600, 3))
targets = np.sin(big[:, 0]) + 0.1 * rng.standard_normal(600)


def seconds(alphas):
    began = time.perf_counter()
    KernelRidgeCV("rbf", gammas=[0.3], alphas=alphas).fit(big, targets)
    return time.perf_counter() - began


one, forty = (min(seconds(alphas) for _ in range(3)) for alphas in ([0.1], np.geomspace(1e-4, 1e2, 40)))
print(f"one penalty {1e3 * one:.0f} ms, forty penalties {1e3 * forty:.0f} ms")
