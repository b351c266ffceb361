"""Support vectors.

Of all functions that separate two classes, take the one that stays farthest from the rows. Few of them touch it: the support
vectors. With C for what a row on the wrong side may cost, the problem is

    maximise  Σᵢ αᵢ − ½ Σᵢⱼ αᵢαⱼ yᵢyⱼ k(xᵢ, xⱼ)    over  0 ≤ αᵢ ≤ C,  Σᵢ αᵢyᵢ = 0,

and f(x) = Σᵢ αᵢyᵢ k(xᵢ, x) − ρ.
"""

import numpy as np

from mercer import SVC, SVCCV, SVR, Kernel, OneClassSVM

rng = np.random.default_rng(11)
X = rng.standard_normal((300, 2))
y = np.where(X[:, 1] > np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(300), 1, -1)
kernel, C = Kernel("rbf(sigma=1)"), 5.0
model = SVC(C=C, kernel=kernel, tol=1e-6).fit(X, y)

# Every row is of one of three kinds, which its αᵢ shows.
alpha = np.zeros(300)
alpha[model.support_] = np.abs(model.dual_coef_[0])
margin = y * model.decision_function(X)
assert np.all(margin[alpha == 0] >= 1 - 1e-5)  # beyond the margin: it may as well not be there
assert np.allclose(margin[(alpha > 1e-9) & (alpha < C - 1e-9)], 1, atol=1e-5)  # on it
assert np.all(margin[alpha >= C - 1e-9] <= 1 + 1e-5)  # within it, or on the wrong side
print(f"{len(model.support_)} of 300 rows are support vectors")

# Without the others the solution is the same.
few = SVC(C=C, kernel=kernel, tol=1e-6).fit(X[model.support_], y[model.support_])
assert np.allclose(few.decision_function(X), model.decision_function(X), atol=1e-3)

# How good is it? The dual objective is never above the primal one, and at the solution they are equal: the gap is a certificate.
K = kernel(X)
signed = alpha * y
dual = alpha.sum() - 0.5 * signed @ K @ signed
primal = 0.5 * signed @ K @ signed + C * np.maximum(0, 1 - margin).sum()
print(f"objective between {dual:.6f} and {primal:.6f}")
assert 0 <= primal - dual < 1e-3 * primal

# C and the width from five folds; every machine starts from the solution for the next smaller C.
search = SVCCV(Cs=[0.1, 1, 10, 100], gammas=[0.05, 0.5, 5]).fit(X, y)
new = rng.standard_normal((2_000, 2))
truth = np.where(new[:, 1] > np.sin(2 * new[:, 0]), 1, -1)
print(f"C = {search.C_}, gamma = {search.gamma_}: {search.score(new, truth):.3f} right on new rows")
assert search.score(new, truth) > 0.9

# Regression: errors up to epsilon do not count. Rows inside the tube are not support vectors.
x = np.sort(rng.uniform(0, 6, 200))[:, None]
wave = np.sin(x[:, 0]) + 0.1 * rng.standard_normal(200)
tubes = [SVR(C=10, epsilon=e, kernel="rbf(sigma=1)").fit(x, wave) for e in (0.02, 0.1, 0.3)]
print("support vectors by epsilon:", [len(t.support_) for t in tubes])
assert len(tubes[0].support_) > len(tubes[1].support_) > len(tubes[2].support_)
for tube in tubes:
    inside = np.setdiff1d(np.arange(200), tube.support_)
    assert np.all(np.abs(wave[inside] - tube.predict(x[inside])) <= tube.epsilon + 1e-2)

# One class: no labels, only the positions of rows. At most a fraction nu of them is left outside.
nu = 0.1
outline = OneClassSVM(nu=nu, kernel="rbf(sigma=1)", tol=1e-6).fit(X)
outside = np.mean(outline.decision_function(X) < -1e-6)
print(f"{outside:.1%} outside, {len(outline.support_) / 300:.1%} support vectors")
assert outside <= nu <= len(outline.support_) / 300
assert (outline.predict([[0.0, 0.0], [6.0, 6.0]]) == [1, -1]).all()
