"""Kernel values of scikit-learn: `pip install scikit-learn==1.9.1; python sklearn_kernels.py > sklearn_kernels.json`."""
import json, numpy as np, sklearn, sys
from sklearn.metrics import pairwise as p
from sklearn.gaussian_process import kernels as g
rng = np.random.default_rng(7)
X = np.round(rng.normal(size=(4, 3)), 3); Z = np.round(rng.normal(size=(3, 3)), 3)
A, B = np.abs(X), np.abs(Z); A[0, 1] = B[0, 1] = 0.0
X[3] = 0.0
cases = []
def case(text, values, x=X, z=Z):
    cases.append({"kernel": text, "points": "A, B" if x is A else "X, Z", "values": values.tolist()})
case("linear", p.linear_kernel(X, Z))
case("poly(degree=3, gamma=0.7, c=1.5)", p.polynomial_kernel(X, Z, degree=3, gamma=0.7, coef0=1.5))
case("poly(degree=2, gamma=1.3, c=-0.5)", p.polynomial_kernel(X, Z, degree=2, gamma=1.3, coef0=-0.5))
case("rbf(gamma=0.3)", p.rbf_kernel(X, Z, gamma=0.3))
case("rbf(sigma=1.7)", g.RBF(1.7)(X, Z))
case("rbf(sigma=[0.5, 1, 2])", g.RBF([0.5, 1, 2])(X, Z))
case("laplacian(gamma=0.4)", p.laplacian_kernel(X, Z, gamma=0.4))
case("sigmoid(gamma=0.2, c=-0.3)", p.sigmoid_kernel(X, Z, gamma=0.2, coef0=-0.3))
case("cosine", p.cosine_similarity(X, Z))
case("chi2(gamma=0.6)", p.chi2_kernel(A, B, gamma=0.6), A, B)
for nu in (0.5, 1.5, 2.5, 0.8, 3.5, 7.3):
    case(f"matern(nu={nu}, length=1.3)", g.Matern(1.3, nu=nu)(X, Z))
case("matern(nu=1.5, length=[0.5, 1, 2])", g.Matern([0.5, 1, 2], nu=1.5)(X, Z))
case("rq(alpha=0.7, length=1.3)", g.RationalQuadratic(1.3, 0.7)(X, Z))
# ExpSineSquared takes the Euclidean distance, the same as ours in one dimension only.
P = X[:, :1], Z[:, :1]
case("periodic(period=1.9, length=0.8)[0]", g.ExpSineSquared(0.8, 1.9)(*P))
json.dump({"made_by": f"scikit-learn {sklearn.__version__}: python sklearn_kernels.py > sklearn_kernels.json",
           "X": X.tolist(), "Z": Z.tolist(), "A": A.tolist(), "B": B.tolist(), "cases": cases}, sys.stdout, indent=1)
