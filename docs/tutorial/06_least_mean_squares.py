"""Least mean squares.

The oldest way to fit θᵀφ(x): look at the error of each row, and move θ a little towards less of it,

    θ := θ + α Σᵢ (yᵢ − θᵀφ(xᵢ)) φ(xᵢ).

Every step adds a multiple of each φ(xᵢ), so θ is always a combination of them, θ = Σᵢ βᵢ φ(xᵢ), and the step can be written
in β alone. φ then appears in inner products only, which the kernel computes:

    β := β + α (y − Kβ).
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import Kernel, KernelLMS, KernelRidge, PolynomialFeatureMap

warnings.simplefilter("ignore", ConvergenceWarning)  # stopping early is the point here

rng = np.random.default_rng(6)
X = rng.uniform(-1, 1, (30, 2))
y = X[:, 0] - 2 * X[:, 0] * X[:, 1] + 0.05 * rng.standard_normal(30)

# The two forms make the same steps. θ has as many entries as there are features, β as many as there are rows.
features = PolynomialFeatureMap(degree=2, c=1).fit(X)
phi = features.transform(X)
kernel = Kernel("(<x,z>+1)^2")
K = kernel(X)
assert np.allclose(phi @ phi.T, K)
step = 1 / np.linalg.eigvalsh(K)[-1]
theta, beta = np.zeros(phi.shape[1]), np.zeros(30)
for _ in range(50):
    theta = theta + step * phi.T @ (y - phi @ theta)
    beta = beta + step * (y - K @ beta)
    assert np.allclose(phi @ theta, K @ beta)

# KernelLMS makes these steps.
model = KernelLMS(kernel, step=step, max_iter=50, tol=0).fit(X, y)
assert np.allclose(model.dual_coef_, beta)
assert np.allclose(model.predict(X), phi @ theta)

# The step size is decisive. Along an eigenvector of K with eigenvalue λ the error is multiplied by 1 − αλ at each step,
# which shrinks it while α < 2/λ. If one eigenvalue is above 2/α, the fit diverges; `step="auto"` is 1/λmax.
automatic = KernelLMS(kernel, max_iter=50, tol=0).fit(X, y)
assert 0.5 * step < automatic.step_ <= 1.01 * step
try:
    KernelLMS(kernel, step=2.5 * step, max_iter=10_000).fit(X, y)
    raise AssertionError("a step of 2.5/λmax diverges")
except ValueError as explanation:
    print("a step that is too large:", explanation)

# After T steps the prediction is (I − (I − αK)ᵀ)y: large eigenvalues are fitted at once, small ones hardly ever. That is what
# a penalty does too, so stopping early is a kind of ridge regression.
values, vectors = np.linalg.eigh(K)
after = vectors @ ((1 - (1 - step * values) ** 50) * (vectors.T @ y))
assert np.allclose(model.predict(X), after)
ridge = KernelRidge(alpha=1 / (50 * step), kernel=kernel).fit(X, y)
assert np.abs(ridge.predict(X) - after).max() < 0.3 * np.abs(y).max()

# After many steps, on rows that K distinguishes, it is the interpolation to which ridge regression tends as λ goes to 0.
grid = np.arange(12.0)[:, None]
targets = rng.standard_normal(12)
narrow = Kernel("rbf(sigma=0.6)")
long_run = KernelLMS(narrow, max_iter=20_000, tol=1e-10).fit(grid, targets)
assert np.allclose(long_run.dual_coef_, np.linalg.solve(narrow(grid), targets), atol=1e-7)

# Two equal rows with different targets have no interpolation. Their βᵢ diverge from each other while the
# prediction stays at the mean: so the stopping rule uses the part that can still change, K(y − Kβ), and not β.
twice = np.repeat(grid, 2, axis=0)
conflicting = rng.standard_normal(24)
stopped = KernelLMS(narrow, max_iter=100_000, tol=1e-8).fit(twice, conflicting)
print(f"conflicting duplicates: stopped after {stopped.n_iter_} epochs")
assert stopped.n_iter_ < 100_000
assert np.allclose(stopped.predict(grid), conflicting.reshape(12, 2).mean(axis=1), atol=1e-4)
