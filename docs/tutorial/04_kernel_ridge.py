"""Kernel ridge regression.

Least squares with many features follows the noise. Ridge regression pays for large coefficients:

    minimise ½|Φw − y|² + (λ/2)|w|².

The gradient vanishes where (ΦᵀΦ + λI)w = Φᵀy, the *primal* system, one row and column per feature. Reading the same
equation as w = Φᵀ(y − Φw)/λ shows that w = Φᵀa for some a; putting that in gives the *dual* system

    (K + λI)a = y,        K = ΦΦᵀ,

one row and column per sample. The features have left it. λ is added to K as it is.
"""

import warnings

import numpy as np

from mercer import Kernel, KernelRidge

rng = np.random.default_rng(3)
n = 80
X = rng.uniform(-1, 1, (n, 2))
y = X[:, 0] ** 2 - X[:, 0] * X[:, 1] + 0.05 * rng.standard_normal(n)
Z = rng.uniform(-1, 1, (10, 2))
lam = 0.3


def features(X):
    """The weighted monomials of (⟨x,z⟩ + 1)² in two variables."""
    u, v, r = X[:, 0], X[:, 1], np.sqrt(2)
    return np.column_stack([np.ones(len(X)), r * u, r * v, u**2, v**2, r * u * v])


# Both systems give the same predictions.
Phi = features(X)
w = np.linalg.solve(Phi.T @ Phi + lam * np.eye(6), Phi.T @ y)
model = KernelRidge(kernel="(<x,z> + 1)^2", alpha=lam).fit(X, y)
assert np.allclose(model.predict(Z), features(Z) @ w)
assert np.allclose(Phi.T @ model.dual_coef_, w)
print(f"primal: {Phi.shape[1]} unknowns, dual: {n}, predictions equal to {np.abs(model.predict(Z) - features(Z) @ w).max():.0e}")

# Which one to solve is a question of cost: O(p³) for p features against O(n³) for n samples. Here the primal is
# cheaper. For the Gaussian kernel, whose features do not end, there is only the dual.
gaussian = KernelRidge(kernel="rbf(sigma=0.5)", alpha=lam).fit(X, y)
K = Kernel("rbf(sigma=0.5)")(X)
assert np.allclose((K + lam * np.eye(n)) @ gaussian.dual_coef_, y)

# The solution is a minimum: any other function Σᵢ aᵢk(xᵢ, ·) has a larger objective.


def objective(a):
    return 0.5 * ((K @ a - y) ** 2).sum() + 0.5 * lam * a @ K @ a


best = objective(gaussian.dual_coef_)
assert all(objective(gaussian.dual_coef_ + 0.01 * rng.standard_normal(n)) > best for _ in range(100))

# With λ = 0 the dual is Ka = y, which has a unique solution only if K is not singular. K = ΦΦᵀ with six features
# has rank six for any number of samples. mercer then gives a warning and the least-squares solution of least norm.
assert np.linalg.matrix_rank(Phi @ Phi.T) == 6
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    unpenalised = KernelRidge(kernel="(<x,z> + 1)^2", alpha=0).fit(X, y)
assert any("singular" in str(w.message) for w in heard)
assert np.allclose(unpenalised.predict(Z), features(Z) @ np.linalg.lstsq(Phi, y, rcond=None)[0])

# A constant. Far from the origin a penalised model pulls towards zero, because the constant is paid for like everything
# else. There are two ways out.
far = y + 50
plain = KernelRidge(kernel="rbf(sigma=0.5)", alpha=lam)
assert np.abs(plain.fit(X, far).predict(X) - far).mean() > 1
# "centred": an intercept that is not penalised. Adding 50 to the targets adds 50 to the predictions, exactly.
centred = KernelRidge(kernel="rbf(sigma=0.5)", alpha=lam, bias="centred")
assert np.allclose(centred.fit(X, far).predict(Z), centred.fit(X, y).predict(Z) + 50)
# It is ridge regression with the centred kernel HKH, H = I − 11ᵀ/n, which subtracts from every feature its mean.
H = np.eye(n) - np.ones((n, n)) / n
a = np.linalg.solve(H @ K @ H + lam * np.eye(n), H @ y)
assert np.allclose(centred.fit(X, y).dual_coef_, a)
assert np.isclose(a.sum(), 0)
# "column": centre X and y, and let the model keep a small penalised constant: the kernel becomes k + 1.
column = KernelRidge(kernel="rbf(sigma=0.5)", alpha=lam, bias="column").fit(X, far)
by_hand = KernelRidge(kernel="rbf(sigma=0.5) + 1", alpha=lam).fit(X - X.mean(axis=0), far - far.mean())
assert np.allclose(column.predict(Z), by_hand.predict(Z - X.mean(axis=0)) + far.mean())

# Several outputs share the matrix, and so its factorisation: (K + λI)A = Y is solved for all columns of Y at once.
Y = np.column_stack([y, np.sin(3 * X[:, 0]), X[:, 1] ** 3])
together = KernelRidge(kernel="rbf(sigma=0.5)", alpha=lam).fit(X, Y).predict(Z)
for column, target in enumerate(Y.T):
    alone = KernelRidge(kernel="rbf(sigma=0.5)", alpha=lam).fit(X, target).predict(Z)
    assert np.allclose(together[:, column], alone)

# Predicting m points costs O(mnd): every one of them meets every training point in every coordinate.
