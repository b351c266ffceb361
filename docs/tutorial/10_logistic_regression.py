"""Logistic regression.

A decision says which class; a probability says how surely. With one logit f(x), p = 1/(1 + e^(−f)), minimise the sum of −log of
the probability of what happened, plus (λ/2)‖f‖². At the minimum every coefficient is a residual:

    λaᵢ = yᵢ − pᵢ.
"""

import numpy as np

from mercer import Kernel, KernelLogisticRegression

rng = np.random.default_rng(10)


def probability(x):
    return 1 / (1 + np.exp(-3 * np.sin(x)))


X = rng.uniform(-5, 5, (400, 1))
y = (rng.uniform(size=400) < probability(X[:, 0])).astype(int)
C = 1.0
model = KernelLogisticRegression(C=C, kernel="rbf(sigma=1)", tol=1e-10).fit(X, y)

# At the solution.
p = model.predict_proba(X)[:, 1]
assert np.allclose(model.dual_coef_[:, 0] / C, y - p, atol=1e-9)

# Newton's method: with W = p(1 − p), one step solves (K + λW⁻¹)a = f + W⁻¹(y − p), the intercept aside. It squares the error
# each time, so a few steps do.
print(f"{model.n_iter_} Newton steps")
assert model.n_iter_ <= 12

# Its probabilities are calibrated: among rows to which it gives 70%, about 70% are of the class.
new = rng.uniform(-5, 5, 4_000)
said = model.predict_proba(new[:, None])[:, 1]
print(f"mean distance from the true probability: {np.abs(said - probability(new)).mean():.3f}")
assert np.abs(said - probability(new)).mean() < 0.07
happened = rng.uniform(size=4_000) < probability(new)
for low in np.arange(0.1, 0.9, 0.2):
    here = (said >= low) & (said < low + 0.2)
    print(f"  said {said[here].mean():.2f}, happened {happened[here].mean():.2f}")
    assert abs(said[here].mean() - happened[here].mean()) < 0.12

# C sets the influence of the data: a small C gives 50% everywhere, a large C gives 0% or 100%.
sureness = [
    np.abs(KernelLogisticRegression(C=c, kernel="rbf(sigma=1)").fit(X, y).predict_proba(X)[:, 1] - 0.5).mean()
    for c in (1e-4, 1e-1, 1e2)
]
print("how far from even, by C:", np.round(sureness, 3))
assert sureness[0] < sureness[1] < sureness[2]

# Three classes have three logits, and the probabilities add up to one. A constant added to all of them changes nothing; the
# penalty on each makes the solution unique.
points = rng.standard_normal((300, 2))
kind = np.argmax(points @ np.array([[1.0, -0.5, -0.5], [0.0, 0.9, -0.9]]) + 0.3 * rng.standard_normal((300, 3)), axis=1)
three = KernelLogisticRegression(kernel=Kernel("linear") + Kernel("rbf(sigma=2)")).fit(points, kind)
shares = three.predict_proba(points)
assert np.allclose(shares.sum(axis=1), 1) and shares.shape == (300, 3)
assert np.allclose(three.dual_coef_.sum(axis=1), 0, atol=1e-5)
print(f"three classes: {three.score(points, kind):.3f} right")
