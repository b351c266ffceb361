"""Support vectors.

Ridge regression spends a coefficient on every row. A support vector machine asks for less: rows on the right side of a margin
cost nothing, and what costs nothing gets no coefficient. Its decision is

    f(x) = Σᵢ aᵢ k(xᵢ, x) − ρ    with aᵢ = yᵢαᵢ, 0 ≤ αᵢ ≤ C,

and the rows with αᵢ > 0 are its support vectors.
"""

import numpy as np

from mercer import SVC, SVR, Kernel, OneClassSVM

rng = np.random.default_rng(9)
angle = rng.uniform(0, 2 * np.pi, 200)
radius = np.where(np.arange(200) % 2, 1.0, 2.2) + 0.25 * rng.standard_normal(200)
X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
y = np.where(np.arange(200) % 2, 1, -1)

# A ring inside a ring: no line tells them apart, a Gaussian kernel does.
line = SVC(kernel="linear", C=10).fit(X, y)
machine = SVC(kernel="rbf", gamma=1.0, C=10).fit(X, y)
print(f"right answers: linear {line.score(X, y):.2f}, Gaussian {machine.score(X, y):.2f}")
assert line.score(X, y) < 0.7 and machine.score(X, y) > 0.95

# The decision is the sum above, over the support vectors alone.
K = Kernel("rbf(gamma=1)")(X, X[machine.support_])
f = K @ machine.dual_coef_[0] + machine.intercept_[0]
assert np.allclose(f, machine.decision_function(X), atol=1e-9)
print(f"{len(machine.support_)} of {len(y)} rows are support vectors")
assert len(machine.support_) < 100

# Rows beyond the margin have no coefficient, rows on it one between 0 and C, rows inside of it or on the wrong side C itself:
# the optimality conditions, up to the tolerance that training stopped at.
alpha = np.zeros(len(y))
alpha[machine.support_] = np.abs(machine.dual_coef_[0])
margin = y * f
assert (margin[alpha == 0] > 1 - 2e-3).all()
assert (np.abs(margin[(alpha > 0) & (alpha < 10)] - 1) < 2e-3).all()
assert (margin[alpha == 10] < 1 + 2e-3).all()
assert abs(machine.dual_coef_.sum()) < 1e-6

# Rows without a coefficient could have stayed at home.
again = SVC(kernel="rbf", gamma=1.0, C=10).fit(X[machine.support_], y[machine.support_])
assert np.allclose(again.decision_function(X), machine.decision_function(X), atol=2e-2)

# A small C forgives: a wide margin with many rows inside. A large C insists: few support vectors, a narrow margin.
counts = [len(SVC(kernel="rbf", gamma=1.0, C=C).fit(X, y).support_) for C in (0.1, 1, 10, 100)]
print("support vectors for C = 0.1, 1, 10, 100:", counts)
assert counts == sorted(counts, reverse=True)

# The same idea for numbers: errors smaller than epsilon cost nothing. Rows inside of the tube have no coefficient.
t = np.sort(rng.uniform(0, 6, 120))[:, None]
z = np.sin(t[:, 0]) + 0.1 * rng.standard_normal(120)
curve = SVR(kernel="rbf", gamma=1.0, C=10, epsilon=0.2).fit(t, z)
outside = np.flatnonzero(np.abs(z - curve.predict(t)) > 0.2 + 1e-2)
print(f"{len(curve.support_)} of 120 rows carry the curve, {len(outside)} are outside of its tube")
assert set(outside) <= set(curve.support_) and len(curve.support_) < 40

# And for no target at all: where are rows like these? At most a fraction nu is left outside; those on the boundary are 0 up to
# the tolerance.
inner = X[y == 1]
region = OneClassSVM(kernel="rbf", gamma=1.0, nu=0.1).fit(inner)
left_out = np.mean(region.decision_function(inner) < -1e-2)
print(f"left outside: {left_out:.2f}")
assert 0 < left_out <= 0.1
assert region.predict([[5.0, 5.0]])[0] == -1 and region.predict([[1.0, 0.0]])[0] == 1
