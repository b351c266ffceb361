"""Kernels as objects: against scikit-learn's pairwise functions, closed forms and the laws of their algebra."""

import copy
import pickle

import mercer
import numpy as np
import pytest
import scipy.sparse
from closeness import assert_close
from mercer import Kernel
from sklearn.metrics import pairwise

PAIRWISE = [
    ("linear", pairwise.linear_kernel, {}),
    ("poly(degree=2, gamma=0.5, c=1.5)", pairwise.polynomial_kernel, {"degree": 2, "gamma": 0.5, "coef0": 1.5}),
    ("rbf(gamma=0.3)", pairwise.rbf_kernel, {"gamma": 0.3}),
    ("laplacian(gamma=0.3)", pairwise.laplacian_kernel, {"gamma": 0.3}),
    ("sigmoid(gamma=0.1, c=0.2)", pairwise.sigmoid_kernel, {"gamma": 0.1, "coef0": 0.2}),
    ("cosine", pairwise.cosine_similarity, {}),
    ("chi2(gamma=0.5)", pairwise.chi2_kernel, {"gamma": 0.5}),
]


@pytest.mark.parametrize(("text", "peer", "parameters"), PAIRWISE, ids=[p[0] for p in PAIRWISE])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_agrees_with_scikit_learn(rng, text, peer, parameters, dtype):
    X, Z = rng.random((37, 5)).astype(dtype), rng.random((23, 5)).astype(dtype)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    k = Kernel(text)
    for K, expected in [(k(X, Z), peer(X, Z, **parameters)), (k(X), peer(X, **parameters))]:
        assert K.dtype == dtype
        np.testing.assert_allclose(K, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("text", ["linear", "rbf(sigma=2)", "laplacian(gamma=0.5)", "<x,z>^2 + |x-z|"])
def test_sparse_rows_give_the_dense_matrix(rng, text):
    X = scipy.sparse.random_array((30, 40), density=0.2, rng=rng, format="csr")
    Z = scipy.sparse.random_array((20, 40), density=0.2, rng=rng, format="csc")
    k = Kernel(text)
    np.testing.assert_allclose(k(X, Z), k(X.toarray(), Z.toarray()), atol=1e-12)
    np.testing.assert_allclose(k(X), k(X.toarray()), atol=1e-12)
    assert k(X.astype(np.float32)).dtype == np.float32


def test_sparse_rows_need_not_be_canonical():
    indptr, indices, data = [0, 3, 4], [2, 0, 2], [1.0, 2.0, 3.0]
    X = scipy.sparse.csr_array((data + [5.0], indices + [1], indptr), shape=(2, 3))
    before = (X.indices.copy(), X.data.copy())
    np.testing.assert_allclose(Kernel("linear")(X), X.toarray() @ X.toarray().T)
    assert np.array_equal(before[0], X.indices) and np.array_equal(before[1], X.data)


def test_layouts_of_memory_do_not_matter(rng):
    X = rng.random((30, 6))
    expected = Kernel("rbf(sigma=1)")(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.zeros((30, 12))
    wide[:, ::2] = X
    shifted = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    shifted[:] = X
    for same in [np.asfortranarray(X), frozen, wide[:, ::2], shifted, X.tolist(), X.astype(">f8")]:
        np.testing.assert_array_equal(Kernel("rbf(sigma=1)")(same), expected)


def test_threads_do_not_change_the_answer(rng):
    X = rng.random((600, 9))
    k = Kernel("rbf(sigma=1) + laplacian(gamma=2)")
    for n_jobs in [1, 2, -1, -1000, np.int64(3)]:
        np.testing.assert_array_equal(k(X, n_jobs=n_jobs), k(X))


def test_distance_matches_the_feature_map(rng):
    X, Z = rng.standard_normal((20, 3)), rng.standard_normal((15, 3))
    np.testing.assert_allclose(Kernel("linear").distance(X, Z), pairwise.euclidean_distances(X, Z), atol=1e-7)
    # <x,z>^2 is the inner product of all products x_i x_j.
    features = [np.einsum("ni,nj->nij", A, A).reshape(len(A), -1) for A in (X, Z)]
    np.testing.assert_allclose(
        Kernel("<x,z>^2").distance(X, Z), pairwise.euclidean_distances(*features), atol=1e-6
    )
    assert (np.diag(Kernel("rbf(sigma=1)").distance(X)) == 0).all()
    assert Kernel("linear").distance(X.astype(np.float32)).dtype == np.float32


def test_diagonal(rng):
    X = rng.standard_normal((50, 3))
    k = Kernel("(<x,z> + 1)^2 + rbf(sigma=1)")
    np.testing.assert_allclose(k.diag(X), np.diag(k(X)), rtol=1e-14)


def test_algebra_matches_the_matrices(rng):
    X = rng.random((12, 3))
    a, b = Kernel("rbf(sigma=2)"), Kernel("linear")
    for combined, expected in [
        (a + b, a(X) + b(X)),
        (a * b, a(X) * b(X)),
        (a + 2, a(X) + 2),
        (2 + a, a(X) + 2),
        (np.float64(2) * b, 2 * b(X)),
        (b * np.int64(3), 3 * b(X)),
        (b**2, b(X) ** 2),
        (b**0.5, b(X) ** 0.5),
        (sum([a, b, b]), a(X) + 2 * b(X)),
        (-1.5 * b + a, a(X) - 1.5 * b(X)),
        (1e-7 * b, 1e-7 * b(X)),
    ]:
        assert_close(combined(X), expected, 1e-12)
        assert Kernel(str(combined)) == combined


def test_long_sums_stay_flat():
    k = sum(Kernel(f"rbf(sigma={i})") for i in range(1, 200))
    assert pickle.loads(pickle.dumps(k)) == k


@pytest.mark.parametrize("text", ["rbf(sigma=2)", "0.5*rbf(gamma=auto) + (<x,z> + 1)^3", "linear[0..3]*cosine[4]"])
def test_printing_pickling_copying_give_the_kernel_back(text):
    k = Kernel(text)
    for same in [eval(repr(k)), pickle.loads(pickle.dumps(k)), copy.copy(k), copy.deepcopy(k), Kernel(str(k)), Kernel(k)]:
        assert same == k and hash(same) == hash(k) and repr(same) == repr(k)
    assert k != Kernel("cosine") and k != text


def test_auto_becomes_a_number(rng):
    X = rng.standard_normal((40, 3))
    k = Kernel("rbf(gamma=auto)").resolve(X)
    (gamma,) = [1 / (3 * X.var())]
    assert_close(k(X), pairwise.rbf_kernel(X, gamma=gamma), 1e-9)
    assert k.resolve(X) is k


def test_check_reports_the_verdict():
    proven = Kernel("sin(<x,z>) + exp(<x,z>)").check()
    assert proven and proven.verdict == "proven" and proven.proof["rule"] and proven.refutation is None
    assert proven.dim == "any" and proven.domain == "all" and "proven" in repr(proven)
    refuted = Kernel("exp(|x-z|^2/2)").check(dim=1)
    assert not refuted and refuted.verdict == "refuted" and str(refuted)
    points, weights = np.array(refuted.refutation["points"]), np.array(refuted.refutation["weights"])
    K = Kernel("exp(|x-z|^2/2)")(points)
    assert weights @ K @ weights == pytest.approx(refuted.refutation["value"], rel=1e-6) and refuted.refutation["value"] < 0
    assert Kernel("chi2").check(domain="orthant") and not Kernel("chi2").check()
    assert Kernel("chi2").check(dim=2, domain="box:0..1")
    assert Kernel("1/(1-<x,z>)").check().verdict == "undefined"


def test_check_reports_findings_beyond_the_verdict():
    proven = Kernel("rbf(sigma=1)").check()
    assert proven.document["characteristic"]["value"] is True
    assert '"mercer certificate"' in proven.certificate
    refuted = Kernel("max(0,1-|x-z|)^2").check()
    assert refuted.document["largest_dim"]["proven_up_to"] == 3
    assert Kernel("-|x-z|").check().document["conditionally_positive_definite"]["order"] == 1
    assert Kernel("1/(1+cosh(|x-z|))").check().certificate is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Kernel("rbf(sigm=1)"), ValueError, "sigma"),
        (lambda: Kernel(3), TypeError, "text"),
        (lambda: Kernel("linear")([1.0, 2.0]), ValueError, "Expected 2D array, got 1D array"),
        (lambda: Kernel("linear")([[np.nan]]), ValueError, "NaN"),
        (lambda: Kernel("linear")([[1j]]), ValueError, "Complex"),
        (lambda: Kernel("linear")([["a"]]), ValueError, "could not convert"),
        (lambda: Kernel("linear")([[1.0]], [[1.0, 2.0]]), ValueError, "X has 1 columns, but Z has 2"),
        (lambda: Kernel("linear[3]")([[1.0]]), ValueError, "column 3"),
        (lambda: Kernel("rbf(sigma=auto)")([[1.0]]), ValueError, "auto"),
        (lambda: Kernel("rbf(sigma=?)").resolve([[1.0]]), ValueError, "unknown value"),
        (lambda: Kernel("linear").check(dim=0), ValueError, "dim is `0`"),
        (lambda: Kernel("linear").check(domain="cube"), ValueError, "domain is `cube`"),
        (lambda: Kernel("linear") + "rbf", TypeError, "unsupported operand"),
        (lambda: Kernel("linear") ** Kernel("linear"), TypeError, "unsupported operand"),
        (lambda: Kernel("linear") * float("inf"), ValueError, "finite"),
        (lambda: Kernel("linear")([[1.0]], n_jobs=0), ValueError, "n_jobs"),
        (lambda: Kernel("linear")([[1.0]], n_jobs="2"), TypeError, "n_jobs"),
    ],
)
def test_bad_input_is_reported(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_no_rows_and_no_columns():
    assert Kernel("linear")(np.empty((0, 3))).shape == (0, 0)
    assert Kernel("linear")(np.zeros((2, 3)), np.empty((0, 3))).shape == (2, 0)
    np.testing.assert_array_equal(Kernel("linear")(np.empty((2, 0))), np.zeros((2, 2)))


def test_hyper_parameters_by_name():
    k = Kernel("0.5*rbf(sigma=2) + matern(nu=1.5, length=[1,2])*rbf(gamma=auto) + rbf(sigma=?0.1..10) + poly(degree=2)")
    expected = {"sigma": 2.0, "nu": 1.5, "length": [1.0, 2.0], "gamma": "auto", "sigma_2": "?0.1..10"}
    found = k.get_params()
    assert expected.items() <= found.items() and found["degree"] == 2.0
    assert k.set_params() is k
    k.set_params(sigma=3, sigma_2=np.float32(0.5), length=np.array([4, 5]), gamma="?{1,2}")
    assert str(k).startswith("0.5*rbf(sigma=3) + matern(nu=1.5, length=[4, 5])*rbf(gamma=?{1, 2}) + rbf(sigma=0.5)")
    assert Kernel(str(k)).get_params() == k.get_params()
    assert Kernel("<x,z>^2 + linear").get_params() == {}
    with pytest.raises(ValueError, match="Invalid parameter 'width'.*'sigma'"):
        k.set_params(width=1)
    with pytest.raises(ValueError, match="sigma"):
        k.set_params(sigma=-1)
    with pytest.raises(TypeError, match="sigma is a number"):
        k.set_params(sigma=None)
    assert k.get_params()["sigma"] == 3.0


def test_hyper_parameters_are_searched(rng):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    X = rng.standard_normal((80, 2))
    y = np.sin(3 * X[:, 0])
    kernel = Kernel("rbf(sigma=100)")
    model = mercer.KernelRidge(0.01, kernel=kernel)
    search = GridSearchCV(model, {"kernel__sigma": [0.01, 0.5, 100.0]}).fit(X, y)
    assert search.best_params_ == {"kernel__sigma": 0.5} and str(search.best_estimator_.kernel_) == "rbf(sigma=0.5)"
    assert str(kernel) == "rbf(sigma=100)" and clone(model).kernel is not kernel
    assert model._repr_html_() and repr(search)
    # A fitted model keeps the kernel that it was fitted with.
    fitted = model.fit(X, y)
    kernel.set_params(sigma=1)
    assert str(fitted.kernel_) == "rbf(sigma=100)"


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, lambda A: A.astype(np.float32)])
def test_the_matrix_as_an_operator(rng, form):
    from scipy.sparse.linalg import LinearOperator, cg, eigsh

    X, Z = rng.standard_normal((70, 3)), rng.standard_normal((30, 3))
    k = Kernel("matern(nu=1.5, length=2) + linear")
    V, W = rng.standard_normal((30, 4)), rng.standard_normal((70, 4))
    full, tolerance = k(X, Z), 1e-5 if form(X).dtype == np.float32 else 1e-12
    K = k.operator(form(X), form(Z))
    assert isinstance(K, LinearOperator) and K.shape == (70, 30) and K.dtype == np.float64
    for found, expected in [
        (K @ V, full @ V),
        (K @ V[:, 0], full @ V[:, 0]),
        (K.T @ W, full.T @ W),
        (K.H @ W[:, 0], full.T @ W[:, 0]),
        (K.rmatvec(W[:, 0]), full.T @ W[:, 0]),
        (K @ (V[:, 0] + 1j * V[:, 1]), full @ (V[:, 0] + 1j * V[:, 1])),
    ]:
        np.testing.assert_allclose(found, expected, atol=30 * tolerance)
    own = k.operator(form(X))
    solution, status = cg(own + 0.5 * scipy.sparse.linalg.aslinearoperator(scipy.sparse.eye_array(70)), W[:, 0], rtol=1e-10)
    assert status == 0
    np.testing.assert_allclose(solution, np.linalg.solve(k(X) + 0.5 * np.eye(70), W[:, 0]), atol=1e4 * tolerance)
    assert eigsh(own, 1, return_eigenvectors=False)[0] == pytest.approx(np.linalg.eigvalsh(k(X))[-1], rel=1e3 * tolerance)
    with pytest.raises(ValueError, match="resolve"):
        Kernel("rbf(sigma=auto)").operator(X)
    with pytest.raises(ValueError, match="3 columns"):
        k.operator(X, Z[:, :2])
