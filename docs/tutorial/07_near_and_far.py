"""Near and far.

A Gaussian kernel says how near two points are. The plainest use of that is a weighted mean: what happened near x is what to
expect at x,

    f(x) = Σᵢ k(x, xᵢ) yᵢ / Σᵢ k(x, xᵢ),

the Nadaraya–Watson smoother. The k nearest neighbours do the same with weights of 1 and 0.
"""

import numpy as np

from mercer import Kernel, KernelRidge, KernelSmoother, KNeighborsClassifier, KNeighborsRegressor

rng = np.random.default_rng(7)
x = np.sort(rng.uniform(0, 6, 150))
X = x[:, None]
y = np.sin(x) + 0.3 * rng.standard_normal(150)
grid = np.linspace(0.5, 5.5, 200)[:, None]
truth = np.sin(grid[:, 0])

smoother = KernelSmoother("rbf(sigma=0.3)").fit(X, y)
weights = Kernel("rbf(sigma=0.3)")(grid, X)
assert np.allclose(smoother.predict(grid), weights @ y / weights.sum(axis=1))
neighbours = KNeighborsRegressor(n_neighbors=20).fit(X, y)
_, nearest = neighbours.kneighbors(grid)
assert np.allclose(neighbours.predict(grid), y[nearest].mean(axis=1))


def error(model):
    return float(np.sqrt(np.mean((model.predict(grid) - truth) ** 2)))


# Weights that fall off gently give a curve without steps; 0-or-1 weights jump each time a point enters or leaves.
jumps = [np.abs(np.diff(model.predict(grid))).max() for model in (smoother, neighbours)]
print(f"largest step along the curve: smoother {jumps[0]:.3f}, neighbours {jumps[1]:.3f}")
assert jumps[0] < jumps[1]
print(f"distance from the truth: smoother {error(smoother):.3f}, neighbours {error(neighbours):.3f}")
assert max(error(smoother), error(neighbours)) < 0.15

# Both are means, so neither leaves the range of the targets. Ridge regression has weights of both signs, so it can.
ridge = KernelRidge(kernel="rbf(sigma=0.5)", alpha=0.5, bias="centred").fit(X, y)
for model in (smoother, neighbours):
    assert y.min() <= model.predict(grid).min() and model.predict(grid).max() <= y.max()
assert error(ridge) < 0.15

# Far from every point all Gaussian weights are too small to be numbers. The limit of the weighted mean is the nearest
# point's target, and that is the prediction.
assert smoother.predict([[1e6]])[0] == y[-1]

# A narrow kernel is one nearest neighbour, a wide one the mean of everything; so are k = 1 and k = n.
narrow, wide = (KernelSmoother(f"rbf(sigma={s})").fit(X, y) for s in (1e-3, 1e3))
one, every = (KNeighborsRegressor(n_neighbors=k).fit(X, y) for k in (1, 150))
assert np.mean(np.abs(narrow.predict(grid) - one.predict(grid)) < 0.05) > 0.9
assert np.allclose(wide.predict(grid), y.mean(), atol=1e-3)
assert np.allclose(every.predict(grid), y.mean())

# A value in between is chosen by leave-one-out errors. A point's own target must not count in its own mean.
def left_out(sigma):
    weights = Kernel(f"rbf(sigma={sigma})")(X)
    np.fill_diagonal(weights, 0)
    return float(np.mean((weights @ y / weights.sum(axis=1) - y) ** 2))


sigmas = np.geomspace(0.1, 10, 30)
best = sigmas[np.argmin([left_out(s) for s in sigmas])]
print(f"chosen by leaving each point out: sigma = {best:.2f}")
assert 0.15 < best < 1

# Neighbours vote if the targets are names.
names = np.where(y > 0, "above", "below")
voted = KNeighborsClassifier(n_neighbors=15).fit(X, names).predict([[np.pi / 2], [3 * np.pi / 2]])
assert voted.tolist() == ["above", "below"]
