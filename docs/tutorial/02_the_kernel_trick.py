"""The kernel trick.

Many algorithms use the features only through inner products ⟨φ(x), φ(z)⟩. Where those have a short formula, the features
themselves are never needed. Such a formula is called a *kernel*: k(x, z) = ⟨φ(x), φ(z)⟩.
"""

from itertools import product
from math import factorial

import numpy as np

from mercer import Kernel

rng = np.random.default_rng(1)
d = 3
X, y = rng.uniform(-1, 1, (30, d)), rng.standard_normal(30)


def ordered_products(x):
    """All products of at most three coordinates, with each order of the factors as a separate feature."""
    features = [1.0]
    for degree in (1, 2, 3):
        features += [np.prod(factors) for factors in product(x, repeat=degree)]
    return np.array(features)


# There are 1 + d + d² + d³ of them, but the inner product of two such vectors is a polynomial in the single number
# t = ⟨x, z⟩: the terms of degree 2 sum to Σᵢⱼ xᵢxⱼzᵢzⱼ = t², those of degree 3 to t³.
Phi = np.array([ordered_products(x) for x in X])
assert Phi.shape[1] == 1 + d + d**2 + d**3
k = Kernel("1 + <x,z> + <x,z>^2 + <x,z>^3")
assert np.allclose(Phi @ Phi.T, k(X))
print(f"{Phi.shape[1]} features, one formula: {k}")

# The same kernel has a smaller feature map: each distinct monomial x^α of degree |α| once, weighted by the square root of
# the number of orders it can be written in, |α|!/α!.
exponents = [a for a in product(range(4), repeat=d) if sum(a) <= 3]


def weighted_monomials(x):
    orders = [factorial(sum(a)) / np.prod([factorial(i) for i in a]) for a in exponents]
    return np.sqrt(orders) * np.array([np.prod(x ** np.array(a)) for a in exponents])


small = np.array([weighted_monomials(x) for x in X])
assert small.shape[1] == 20 < Phi.shape[1] == 40
assert np.allclose(small @ small.T, k(X))

# (⟨x, z⟩ + c)^p is the sum over i of C(p, i) c^(p−i) ⟨x, z⟩^i: a kernel with all monomials up to degree p, where c sets
# how much the low degrees weigh.
c, p = 2.0, 3
t = X @ X.T
binomial = sum(factorial(p) / factorial(i) / factorial(p - i) * c ** (p - i) * t**i for i in range(p + 1))
assert np.allclose(Kernel(f"(<x,z> + {c})^{p}")(X), binomial)

# Gradient descent is one of the algorithms that need no features. With step α the least-mean-squares update is
#     θ := θ + α Φᵀ(y − Φθ).
# From θ = 0 on, θ is always a combination of the rows of Φ, θ = Φᵀβ, and the update of its coefficients is
#     β := β + α (y − Kβ),        K = ΦΦᵀ.
# The step must stay below 2/λmax(K), or the iteration diverges.
K = k(X)
step = 1.0 / np.linalg.eigvalsh(K)[-1]
theta, beta = np.zeros(Phi.shape[1]), np.zeros(len(X))
for _ in range(200):
    theta = theta + step * Phi.T @ (y - Phi @ theta)
    beta = beta + step * (y - K @ beta)
assert np.allclose(theta, Phi.T @ beta)

# One sweep over β costs O(n²), independent of the number of features: O(n) for each of its n entries.
# A prediction needs no θ either: θᵀφ(z) = Σᵢ βᵢ k(xᵢ, z).
Z = rng.uniform(-1, 1, (5, d))
with_features = np.array([ordered_products(z) for z in Z]) @ theta
with_kernel = k(Z, X) @ beta
assert np.allclose(with_features, with_kernel)

too_large = np.zeros(len(X))
for _ in range(200):
    too_large = too_large + 2.1 * step * (y - K @ too_large)
assert np.abs(too_large).max() > 1e3 * np.abs(beta).max()

# And the hundred million features of the last chapter? (⟨x, z⟩ + 1)^5 in a hundred variables takes a hundred
# multiplications and a power.
many = rng.standard_normal((500, 100)) / 10
assert Kernel("(<x,z> + 1)^5")(many).shape == (500, 500)
