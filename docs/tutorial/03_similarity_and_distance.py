"""Similarity and distance.

The *Gram matrix* K of some points holds k(xᵢ, xⱼ) for every pair. A large entry says that two points are alike in the eyes
of the kernel. It is a similarity, not a distance: it is largest, not zero, where a point meets itself. But it contains a
distance.
"""

import numpy as np

from mercer import Kernel

rng = np.random.default_rng(2)
X = rng.standard_normal((40, 3))

# For the Gaussian kernel exp(−|x−z|²/(2σ²)) every point has similarity 1 to itself and less to every other.
gaussian = Kernel("rbf(sigma=1)")
K = gaussian(X)
assert np.allclose(np.diag(K), 1) and (K - np.eye(40) < 1).all()
assert np.allclose(K, np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2))

# In feature space, |φ(x) − φ(z)|² = ⟨φ(x),φ(x)⟩ − 2⟨φ(x),φ(z)⟩ + ⟨φ(z),φ(z)⟩, and every term is a kernel value.
D = gaussian.distance(X)
assert np.allclose(D, np.sqrt(np.maximum(2 - 2 * K, 0)), atol=1e-7)
# It is a distance in the full sense: zero on the diagonal, symmetric, and no detour is shorter than the straight way.
assert (np.diag(D) == 0).all() and np.allclose(D, D.T)
assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-9).all()
# With the linear kernel it is the distance we know, and with the Gaussian it never exceeds √2.
assert np.allclose(Kernel("linear").distance(X[:1], X[1:2]), np.linalg.norm(X[0] - X[1]))
assert D.max() <= np.sqrt(2)
print(f"two points 1 apart are {gaussian.distance([[0.0]], [[1.0]])[0, 0]:.3f} apart in feature space")

# Which formulas are kernels? If K = ΦΦᵀ then cᵀKc = |Φᵀc|² ≥ 0 for every c: no Gram matrix of a kernel has a negative
# eigenvalue. This is also enough: a formula whose Gram matrices are all positive semidefinite has a feature map (Mercer 1909;
# Aronszajn 1950).


def smallest_eigenvalue(text, points=X):
    return np.linalg.eigvalsh(Kernel(text)(points))[0]


rounding = 1e-9
for text in ["linear", "(<x,z> + 1)^3", "rbf(sigma=1)", "laplacian(gamma=1)", "matern(nu=2.5)"]:
    assert smallest_eigenvalue(text) > -rounding * len(X)

# Sums and products of kernels are kernels, and so is a kernel times a positive number.
a, b = Kernel("rbf(sigma=1)"), Kernel("(<x,z> + 1)^2")
for combined in (a + b, a * b, 3 * a, b**2):
    assert smallest_eigenvalue(str(combined)) > -rounding * np.abs(combined(X)).max() * len(X)

# So every power series Σ aₖ⟨x,z⟩ᵏ with aₖ ≥ 0 is a kernel. Is sin⟨x,z⟩ + e^⟨x,z⟩ one? The sine alone is not: its series has
# negative coefficients, and the points show it.
assert smallest_eigenvalue("sin(<x,z>)") < -0.1
# But in the sum they meet the coefficients 1/k! of the exponential: for k = 1, 5, 9, … they add up to 2/k!, for
# k = 3, 7, … they cancel, and for even k only the exponential contributes. None is negative.
coefficients = [1 / np.prod(np.arange(1.0, i + 1)) + [0, 1, 0, -1][i % 4] / np.prod(np.arange(1.0, i + 1)) for i in range(12)]
assert min(coefficients) >= 0
assert smallest_eigenvalue("sin(<x,z>) + exp(<x,z>)", X / 2) > -rounding
# A matrix without negative eigenvalues is evidence about forty points. `check` looks for a proof about all of them.
print(Kernel("sin(<x,z>) + exp(<x,z>)").check())
assert Kernel("sin(<x,z>) + exp(<x,z>)").check().verdict == "proven"
assert Kernel("sin(<x,z>)").check().verdict == "refuted"

# The sign in the Gaussian matters. With a plus, two points are enough to refute it: their matrix [[1, s], [s, 1]] with
# s = e^(|x−z|²/2) > 1 has the eigenvalue 1 − s < 0.
two = np.array([[0.0], [1.0]])
assert np.isclose(smallest_eigenvalue("exp(|x-z|^2/2)", two), 1 - np.exp(0.5))
assert smallest_eigenvalue("exp(-|x-z|^2/2)", two) > 0
assert Kernel("exp(|x-z|^2/2)").check().verdict == "refuted" and Kernel("exp(-|x-z|^2/2)").check()
print("exp(+|x-z|²/2) is not a kernel: smallest eigenvalue", round(1 - np.exp(0.5), 3))
