"""The work of `mercer.dask` on a cluster: the same bits on any number of workers, lost workers, interrupts, sums and threads."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import mercer
import numpy as np
import pytest
from dask_data import (  # noqa: F401
    CHUNK,
    KERNEL,
    PAIRS,
    ROWS,
    assert_same,
    chunked,
    client,
    cluster,
    da,
    data,
    estimator,
    fitted,
    md,
    numbers,
    targets,
    two,
    two_workers,
    workers_of,
)
from dask.distributed import Client
from mercer import _native
from mercer.dask import _chunk
from mercer.dask._cluster import Cluster
from sklearn.base import clone
from sklearn.exceptions import NotFittedError


@pytest.fixture(scope="module")
def answers(client, data):
    """The numbers of each kind of model, from one worker."""
    assert len(workers_of(client)) == 1
    return {kind: numbers(fitted(kind, data)) for kind in PAIRS}


# The first test to run, as it starts with one worker.
def test_the_number_of_workers_does_not_matter(cluster, client, data, answers):
    for workers in (2, 5):
        cluster.scale(workers)
        client.wait_for_workers(workers, timeout=60)
        for kind in PAIRS:
            assert_same(fitted(kind, data), answers[kind])


@pytest.mark.parametrize("kind", PAIRS)
def test_a_worker_lost_in_the_middle_does_not_matter(two_workers, data, answers, kind, monkeypatch):
    client, watch, calls = two_workers, Cluster._watch, []

    def kill_in_the_middle(self, *arguments):
        calls.append(None)
        if len(calls) == 2:
            # The worker that holds most.
            holds = client.has_what()
            victim = max(holds, key=lambda worker: len(holds[worker]))
            os.kill(client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)
        return watch(self, *arguments)

    monkeypatch.setattr(Cluster, "_watch", kill_in_the_middle)
    assert_same(fitted(kind, data), answers[kind])
    assert len(calls) >= 2


def test_sums_are_added_four_at_a_time_in_one_layer(two_workers, data, monkeypatch):
    letters = [(letter,) for letter in "abcdefghi"]
    added = Cluster().reduce("letters", lambda place, topic, letter: letter, letters, lambda *parts: f"({''.join(parts)})")
    assert added == "((abcd)(efgh)i)"
    compute, layers = two_workers.compute, []

    def count(values):
        layers.append(len(values[0].dask.layers))
        return compute(values)

    monkeypatch.setattr(two_workers, "compute", count)
    for rows in (50, 10):
        md.KernelRidge(kernel=KERNEL, approx="fourier:20").fit(*chunked(data[0], data[1], rows=rows))
    assert len(layers) == 4 and layers[:2] == layers[2:]


def test_what_rows_and_targets_are_made_of_is_computed_once(two_workers, data, tmp_path):
    log = tmp_path / "runs"

    def source(x):
        with open(log, "a") as file:
            file.write("x")
        return np.random.default_rng().standard_normal(x.shape)

    def runs(fit):
        log.write_text("")
        fit()
        return len(log.read_text())

    table = da.zeros((ROWS, 4), chunks=(CHUNK, 4)).map_blocks(source, dtype=float, meta=np.empty((0, 0)))
    X, y, weights, partitions = table[:, :3], table[:, 0], da.fabs(table[:, 3]), ROWS // CHUNK
    model = md.KernelRidge(1e-6, kernel="linear", approx="nystrom:3", random_state=0)
    # Two passes.
    assert runs(lambda: model.fit(X, y, weights)) == 2 * partitions
    # Rows and targets of two draws would not have this relation.
    np.testing.assert_allclose(model.predict(data[0]), data[0][:, 0], rtol=0, atol=1e-6)
    assert runs(lambda: md.KernelRidge(5.0, kernel=KERNEL, solver="cg").fit(X, y)) == partitions


@pytest.mark.parametrize("kind", PAIRS)
def test_a_fit_that_fails_leaves_nothing(two_workers, data, kind, monkeypatch):
    model, rows = estimator(kind), chunked(data[0])[0]
    methods = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(model, name)]
    watch, calls = Cluster._watch, []

    def fail(self, *arguments):
        calls.append(None)
        if len(calls) == 2:
            raise RuntimeError("in the second pass")
        return watch(self, *arguments)

    before = dict(vars(model))
    with monkeypatch.context() as patch:
        patch.setattr(Cluster, "_watch", fail)
        with pytest.raises(RuntimeError, match="in the second pass"):
            model.fit(*chunked(data[0], targets(kind, data)))
    assert vars(model) == before
    for method in methods:
        for X in (rows, data[0]):
            with pytest.raises(NotFittedError):
                getattr(model, method)(X)
    # One that is fitted stays so.
    expected = numbers(model.fit(*chunked(data[0], targets(kind, data), data[3])))
    with pytest.raises(ValueError, match="X has no columns"):
        model.fit(rows[:, :0], chunked(targets(kind, data))[0])
    broken = da.where(da.arange(ROWS, chunks=CHUNK)[:, None] == 70, np.nan, rows)
    with pytest.raises(ValueError, match="partition 1 "):
        model.fit(broken, chunked(targets(kind, data))[0])
    assert_same(model, expected)


def test_an_interrupted_solver_lets_go_of_the_cluster(two_workers, data, monkeypatch):
    watch, calls, before = Cluster._watch, [], set(two_workers.futures)

    def interrupt(self, *arguments):
        calls.append(None)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return watch(self, *arguments)

    def left():
        solvers = names_of_threads().count("mercer") if sys.platform.startswith("linux") else 0
        return set(two_workers.futures) - before, solvers

    monkeypatch.setattr(Cluster, "_watch", interrupt)
    # What was raised, which is kept here, refers to the frames of the fit.
    with pytest.raises(KeyboardInterrupt) as raised:
        estimator("ridge by conjugate gradients").fit(*chunked(data[0], data[1]))
    assert raised.tb is not None
    for _ in range(200):
        if left() == (set(), 0):
            break
        time.sleep(0.1)
    assert left() == (set(), 0)


def names_of_threads():
    names = []
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(FileNotFoundError):  # ended meanwhile
            names.append(Path(f"/proc/self/task/{task}/comm").read_text().strip())
    return names


def threads_of_mercer(rows):
    _native.sum_features  # noqa: B018
    job = _chunk.job()
    drawn = mercer.RandomFourierFeatures(KERNEL, 16, random_state=0, n_jobs=job["threads"]).fit(rows)
    drawn.transform(rows)
    # A thread has its name only once it runs.
    for _ in range(100):
        named = {name for name in names_of_threads() if name.startswith("mercer-")}
        if len(named) >= job["threads"]:
            break
        time.sleep(0.1)
    return job["threads"], len(named)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
def test_workers_use_their_threads(data):
    with Client(n_workers=1, threads_per_worker=3, processes=True, dashboard_address=":0", set_as_default=False) as client:
        assert client.submit(threads_of_mercer, data[0]).result() == (3, 3)
        model = md.KernelRidge(0.5, kernel=KERNEL, approx="fourier:40", bias="centred", random_state=3, client=client)
        first = numbers(model.fit(*chunked(data[0], data[1])))
    # One pool for the client's solver and the tasks of a worker in the same process does not end in a deadlock.
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", set_as_default=False) as client:
        assert_same(clone(model).set_params(client=client, n_jobs=1).fit(*chunked(data[0], data[1])), first)
        svc = md.SVC(kernel=KERNEL, approx="fourier:40", C=0.01, tol=0.3, n_jobs=1, random_state=0, client=client)
        assert svc.fit(*chunked(data[0], two(data[2]))).fit_status_ == 0


def slowly(X):
    """X, of which every chunk takes a second."""

    def slow(x):
        # Pickled by value: a scheduler of another process does not find this file.
        import time

        time.sleep(1)
        return x

    return X.map_blocks(slow, dtype=float)


def after_the_start(monkeypatch, action):
    """Runs an action half a second after the first pass has begun."""
    watch, timers = Cluster._watch, []

    def act(self, *arguments):
        if not timers:
            timers.append(threading.Timer(0.5, action))
            timers[0].start()
        return watch(self, *arguments)

    monkeypatch.setattr(Cluster, "_watch", act)


def test_an_interrupt_cancels_the_work(two_workers, data, monkeypatch):
    client = two_workers
    X, y = chunked(data[0], data[1])

    def tasks():
        return client.run_on_scheduler(lambda dask_scheduler: {str(key) for key in dask_scheduler.tasks})

    before = tasks()
    after_the_start(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGINT))
    # A process started in the background ignores SIGINT unless it asks for it.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            md.KernelRidge(kernel=KERNEL, approx="fourier:20").fit(slowly(X), y)
    finally:
        signal.signal(signal.SIGINT, previous)
    # The scheduler hears of it a moment later; on a busy machine that took more than ten seconds.
    for _ in range(600):
        left = tasks() - before
        if not left:
            break
        time.sleep(0.1)
    assert not left


def test_progress(two_workers, data, capfd):
    md.KernelRidge(kernel=KERNEL, approx="fourier:20", verbose=1).fit(*chunked(data[0], data[1]))
    assert "mercer: sums" in capfd.readouterr().err
    md.KernelRidge(kernel=KERNEL, approx="fourier:20", verbose=1).fit(*chunked(data[0], data[1]))
    # The scheduler keeps topics for good: there is one for all fits.
    topics = two_workers.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler._broker._topics))
    assert len([topic for topic in topics if topic.startswith("mercer")]) == 1


def test_a_lost_scheduler_is_an_error(data, tmp_path, monkeypatch):
    file = tmp_path / "scheduler.json"
    python = [sys.executable, "-m"]
    common = ["--no-dashboard", "--scheduler-file", file]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *common], **quiet)
    worker = subprocess.Popen([*python, "distributed.cli.dask_worker", "--nthreads", "1", "--death-timeout", "60", *common], **quiet)
    try:
        with Client(scheduler_file=str(file), set_as_default=False, timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            X, y = chunked(data[0], data[1])
            model = md.KernelRidge(kernel=KERNEL, approx="fourier:20", client=client)
            after_the_start(monkeypatch, scheduler.kill)
            began = time.monotonic()
            with pytest.raises(RuntimeError, match="the work on the Dask cluster was lost"):
                model.fit(slowly(X), y)
            assert time.monotonic() - began < 30
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_no_client_is_an_error(data):
    code = "import dask.array as da, mercer.dask as md; x = da.ones((4, 2)); md.KernelRidge(approx='fourier:4').fit(x, x[:, 0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "there is no Dask client" in done.stderr and "worker_client" in done.stderr


def test_a_closed_client_is_an_error(cluster, data):
    with Client(cluster, set_as_default=False) as client:
        pass
    with pytest.raises(RuntimeError, match="the Dask client is closed"):
        md.KernelRidge(kernel=KERNEL, approx="fourier:20", client=client).fit(*chunked(data[0], data[1]))


def test_without_dask_the_import_names_the_package_to_install():
    code = "import sys; sys.modules['distributed'] = None; import mercer; mercer.KernelRidge; import mercer.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "pip install 'mercer[dask]'" in done.stderr
