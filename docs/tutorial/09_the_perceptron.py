"""The perceptron.

Visit the rows one after the other. Where the decision f = Σⱼ aⱼ k(xⱼ, ·) has row i on the wrong side, add the row's own bump:
aᵢ ← aᵢ + yᵢ. Stop when a whole pass finds nothing wrong. If some function of length one keeps every row at least γ away from
its boundary, and no row is longer than R in the feature space, there are at most R²/γ² corrections, in any order of the rows.
"""

import numpy as np

from mercer import Kernel, KernelPerceptron, PolynomialFeatureMap

rng = np.random.default_rng(9)
angle, radius = rng.uniform(0, 2 * np.pi, 200), np.repeat([0.7, 1.6], 100) + rng.uniform(-0.3, 0.3, 200)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
y = np.repeat([-1, 1], 100)
order = rng.permutation(200)
X, y = X[order], y[order]
kernel = Kernel("(<x,z>+1)^2")

# The rule in six lines, and the same mistakes from the program.
K, a, mistakes = kernel(X), np.zeros(200), 0
before = -1
while mistakes != before:
    before = mistakes
    for i in range(200):
        if y[i] * (K[i] @ a) <= 0:
            a[i] += y[i]
            mistakes += 1
model = KernelPerceptron(kernel, shuffle=False, averaged=False, max_iter=10_000).fit(X, y)
assert model.n_mistakes_ == mistakes and np.array_equal(model.dual_coef_[:, 0], a)

# On the features it is the same algorithm: w = Σᵢ aᵢ φ(xᵢ).
phi = PolynomialFeatureMap(degree=2).fit_transform(X)
w = phi.T @ a
assert np.allclose(phi @ w, K @ a)

# The bound of Novikoff, with the margin of the function that was found.
margin = np.min(y * (K @ a)) / np.sqrt(a @ K @ a)
bound = K.diagonal().max() / margin**2
assert np.isclose(model.margin_, margin) and np.isclose(model.mistake_bound_, bound)
print(f"{mistakes} mistakes, margin {margin:.3f}, never more than {bound:.0f}")
assert mistakes <= bound

# If the classes overlap, training does not end: the last function depends on the last rows it saw. The mean of all functions
# along the way is more stable, and so is their vote.
labels = np.where(rng.uniform(size=200) < 0.15, -y, y)
new = rng.uniform(-2, 2, (4_000, 2))
truth = np.where(np.hypot(*new.T) > 1.15, 1, -1)


def scores(**form):
    return [KernelPerceptron("rbf(sigma=0.7)", random_state=s, max_iter=10, **form).fit(X, labels).score(new, truth) for s in range(8)]


last, averaged, voted = scores(averaged=False), scores(), scores(vote=True)
for name, found in {"last": last, "averaged": averaged, "voted": voted}.items():
    print(f"{name:>9}: {np.mean(found):.3f} right on new rows, {np.std(found):.3f} apart from order to order")
assert np.mean(averaged) > np.mean(last) and np.mean(voted) > np.mean(last)

# A stream has no second pass and no room for every mistake: a budget keeps the best few rows.
stream = KernelPerceptron("rbf(sigma=0.7)", budget=30)
for _ in range(20):
    batch = rng.uniform(-2, 2, (50, 2))
    stream.partial_fit(batch, np.where(np.hypot(*batch.T) > 1.15, 1, -1), classes=[-1, 1])
print(f"after 1,000 rows: {len(stream.X_fit_)} kept, {stream.score(new, truth):.3f} right")
assert len(stream.X_fit_) <= 30 and stream.score(new, truth) > 0.85
