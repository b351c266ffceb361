"""Fixtures of the tests of `mercer.dask`, and estimators on dask collections with those in memory."""

import multiprocessing
import os

import mercer
import numpy as np
import pytest

# Workers are forked from a server that has loaded their modules once.
if hasattr(os, "fork"):
    os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"
# A worker that looks for one that was killed gives up after this time.
os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "10s"
dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402, F401
import mercer.dask as md  # noqa: E402
from dask.distributed import Client, LocalCluster  # noqa: E402

ROWS, CHUNK = 350, 50
KERNEL = "rbf(sigma=1.5)"


@pytest.fixture(scope="module")
def cluster():
    if hasattr(os, "fork"):
        multiprocessing.set_forkserver_preload(["distributed", "mercer.dask._chunk", "mercer.kernel_ridge", "pandas"])
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture
def two_workers(cluster, client):
    """A client of a cluster with two workers at least."""
    if len(workers_of(client)) < 2:
        cluster.scale(len(cluster.worker_spec) + 1)
        client.wait_for_workers(2, timeout=60)
    return client


def workers_of(client):
    """The addresses of the workers, as the scheduler knows them now."""
    return client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.workers))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((ROWS, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(ROWS)
    return X, y, np.array(["low", "mid", "high"])[np.digitize(y, [-0.5, 0.5])], rng.uniform(0.5, 2, ROWS)


def chunked(*arrays, rows=CHUNK):
    return [da.from_array(a, chunks=(rows, *a.shape[1:])) for a in arrays]


def two(labels):
    return np.where(labels == "low", "low", "other")


#: The estimators on the cluster with those in memory, and which targets they take: numbers, two classes or three.
PAIRS = {
    "ridge on random features": (md.KernelRidge, mercer.KernelRidge, "numbers", {"alpha": 0.5, "approx": "fourier:40", "bias": "centred"}),
    "ridge on landmarks": (md.KernelRidge, mercer.KernelRidge, "numbers", {"alpha": 0.5, "approx": "nystrom:30"}),
    "tuned ridge": (
        md.KernelRidgeCV,
        mercer.KernelRidgeCV,
        "numbers",
        {"alphas": [0.1, 1.0, 10.0], "kernel": "rbf(sigma=?{1,2})", "approx": "fourier:40"},
    ),
    "ridge by conjugate gradients": (md.KernelRidge, mercer.KernelRidge, "numbers", {"alpha": 5.0, "solver": "cg", "tol": 1e-12}),
    "logistic": (md.KernelLogisticRegression, mercer.KernelLogisticRegression, "three", {"approx": "nystrom:20", "C": 0.1, "tol": 1e-2}),
    "support vectors": (md.SVC, mercer.SVC, "two", {"approx": "fourier:40", "C": 0.01, "tol": 0.3}),
    # Gaussian processes on inducing points in memory are the command line's.
    "Gaussian process": (md.GaussianProcessRegressor, None, "numbers", {"kernel": "rbf(sigma=?)", "alpha": 0.1, "approx": "nystrom:20"}),
}


def estimator(kind, where=0):
    made, settings = PAIRS[kind][where], PAIRS[kind][3]
    return made(**{"kernel": KERNEL, **settings}, random_state=3)


def targets(kind, data):
    _, y, labels, _ = data
    return {"numbers": y, "three": labels, "two": two(labels)}[PAIRS[kind][2]]


def fitted(kind, data, weighted=True):
    """The estimator of a kind, fitted to the data in chunks."""
    X, y, w = chunked(data[0], targets(kind, data), data[3])
    return estimator(kind).fit(X, y, w if weighted else None)


def numbers(model):
    """All numbers of a model's predictor."""
    parts = model._parts()
    names = ("weights", "coefficients", "intercepts", "factor", "posterior_factor")
    return [np.asarray(parts[name]) for name in names if name in parts]


def assert_same(model, expected):
    found = numbers(model)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
