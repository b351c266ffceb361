"""Choosing sigma.

With a Gaussian kernel a prediction is a sum of bumps, one on each training point:

    h(z) = Σᵢ aᵢ exp(−|xᵢ−z|²/(2σ²)).

σ is their width, and it decides what the model can say.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from mercer import Kernel, KernelRidge

rng = np.random.default_rng(4)
x = np.sort(rng.uniform(0, 6, 60))
X = x[:, None]
truth = np.sin(2 * x)
y = truth + 0.2 * rng.standard_normal(60)
grid = np.linspace(0.2, 5.8, 300)[:, None]


def fitted(sigma, alpha=0.05):
    return KernelRidge(kernel=f"rbf(sigma={sigma})", alpha=alpha).fit(X, y)


# The sum, written out.
model = fitted(0.5)
bumps = np.exp(-((grid - x) ** 2) / (2 * 0.5**2))
assert np.allclose(model.predict(grid), bumps @ model.dual_coef_)

# Narrow bumps touch no neighbour: K is close to the identity, the model repeats the training targets, noise and all, and
# knows nothing between them.
narrow = fitted(0.005)
assert np.abs(narrow.predict(X) - y).max() < 0.15
assert np.median(np.abs(narrow.predict(grid))) < 0.01
# Very wide bumps are nearly equal: K is close to the matrix of ones, and the model can only represent the mean.
wide = fitted(1000.0)
assert np.ptp(wide.predict(grid)) < 0.1
assert np.linalg.matrix_rank(Kernel("rbf(sigma=1000)")(X), tol=1e-3) == 1


def error(model):
    return np.sqrt(np.mean((model.predict(grid) - np.sin(2 * grid[:, 0])) ** 2))


print("distance from the truth:", {s: round(float(error(fitted(s))), 3) for s in (0.005, 0.5, 1000.0)})
assert error(fitted(0.5)) < 0.25 * min(error(narrow), error(wide))

# The training error cannot choose σ: it only falls as σ shrinks. The error on held-out points can.
sigmas = np.geomspace(0.01, 100, 25)
training = [np.mean((fitted(s).predict(X) - y) ** 2) for s in sigmas]
assert training[0] == min(training)
search = GridSearchCV(
    KernelRidge(),
    {"kernel": [f"rbf(sigma={s})" for s in sigmas], "alpha": [0.01, 0.05, 0.2, 1.0]},
    cv=KFold(5, shuffle=True, random_state=0),
    scoring="neg_mean_squared_error",
).fit(X, y)
print("chosen by validation:", search.best_params_, f"distance from the truth {error(search):.3f}")
chosen = float(search.best_params_["kernel"].removeprefix("rbf(sigma=").removesuffix(")"))
assert 0.05 < chosen < 5
assert error(search) < 1.5 * min(error(fitted(s, a)) for s in sigmas for a in (0.01, 0.05, 0.2, 1.0))

# The scale of the data matters as well. σ is a length, and a length means nothing until it is
# compared with others. `auto` starts from the median distance between the points, and follows when the unit changes.
metres = Kernel("rbf(sigma=auto)").resolve(X)
millimetres = Kernel("rbf(sigma=auto)").resolve(1000 * X)
assert np.allclose(metres(X), millimetres(1000 * X))
distances = np.abs(x[:, None] - x)[np.triu_indices(60, 1)]
one_apart = metres([[0.0]], [[1.0]])[0, 0]
assert np.isclose(one_apart, np.exp(-1 / (2 * np.median(distances) ** 2)), rtol=1e-2)
