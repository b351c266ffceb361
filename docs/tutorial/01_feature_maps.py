"""Feature maps.

A linear model predicts with θᵀx. That is a straight line, and few things in the world are. A *feature map* φ keeps the model
and changes its input: predict with θᵀφ(x) instead. The model is still linear in θ, so everything that is known about
fitting linear models still holds, but as a function of x it can be as crooked as φ is.
"""

from math import comb

import numpy as np

# A price that grows with the size of a flat, but not in proportion to it.
rng = np.random.default_rng(0)
size = rng.uniform(-1, 1, 40)
price = 1.0 + 0.5 * size - 2.0 * size**2 + 3.0 * size**3


def cubic(x):
    """φ: R → R⁴, the monomials up to degree 3."""
    return np.column_stack([np.ones_like(x), x, x**2, x**3])


# Least squares on (1, x) cannot follow the curve. Least squares on φ(x) finds the coefficients that generated it.
line = np.column_stack([np.ones_like(size), size])
theta_line = np.linalg.lstsq(line, price, rcond=None)[0]
theta = np.linalg.lstsq(cubic(size), price, rcond=None)[0]
error_of_line = np.abs(line @ theta_line - price).max()
error_of_cubic = np.abs(cubic(size) @ theta - price).max()
print(f"largest error: straight line {error_of_line:.2f}, cubic features {error_of_cubic:.1e}")
assert error_of_line > 0.3
assert np.allclose(theta, [1.0, 0.5, -2.0, 3.0])

# Features need not be powers. A ring of points around the others cannot be cut off by a line in the plane, but the one
# extra feature x₁² + x₂² puts the ring above and the rest below a threshold.
angle = rng.uniform(0, 2 * np.pi, 200)
radius = np.where(np.arange(200) < 100, rng.uniform(0.0, 0.8, 200), rng.uniform(1.2, 2.0, 200))
points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
inside = np.arange(200) < 100
lifted = (points**2).sum(axis=1)
assert lifted[inside].max() < 1 < lifted[~inside].min()

# The price of a rich feature map is its size. The monomials of degree at most p in d variables number C(d + p, p); that is
# how many coefficients θ has, and how much every step of a fit must touch.
for d, p in [(2, 3), (10, 3), (100, 3), (100, 5)]:
    print(f"{d:4} variables, degree {p}: {comb(d + p, p):>12,} monomials")
assert comb(100 + 5, 5) == 96_560_646

# Counting x₁x₂ and x₂x₁ apart would give 100⁵ = 10¹⁰ for the terms of degree 5 alone: a hundred times as many
# columns for the same functions.
assert 100**5 / comb(105, 5) > 100

# Close to a hundred million features for a hundred variables: with 8 bytes each, a thousand rows fill 700 GB. The next
# chapter computes with them anyway.
assert 1_000 * comb(105, 5) * 8 > 7e11
