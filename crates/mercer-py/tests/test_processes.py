"""Forks, workers, threads and Ctrl-C."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from mercer import Kernel, KernelRidge


def fitted_score(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.random((300, 5)), rng.random(300)
    return KernelRidge(kernel="rbf(sigma=1)").fit(X, y).score(X, y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_after_fork():
    expected = [fitted_score(seed) for seed in range(4)]  # the pool of this process runs before the fork
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(fitted_score, range(4)).get(timeout=60) == expected


def test_in_joblib_workers():
    expected = [fitted_score(seed) for seed in range(4)]
    assert joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(fitted_score)(s) for s in range(4)) == expected
    assert joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(fitted_score)(s) for s in range(4)) == expected


def share():
    from mercer import _work

    return _work.threads(None), _work.threads(3)


def test_workers_share_the_cores():
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(share)() for _ in range(2)) == [(1, 3), (1, 3)]
    assert share() == (None, 3)


def test_several_threads_at_once():
    rng = np.random.default_rng(0)
    X = rng.random((400, 6))
    model = KernelRidge(kernel="rbf").fit(X, X[:, 0])
    expected = model.predict(X)
    with ThreadPoolExecutor(8) as pool:
        for prediction in pool.map(lambda _: model.predict(X), range(32)):
            np.testing.assert_array_equal(prediction, expected)


def test_other_threads_run_meanwhile():
    """The lock of the interpreter is free while native code works."""
    X = np.random.default_rng(0).random((3000, 50))
    steps, done = 0, threading.Event()

    def count():
        nonlocal steps
        while not done.is_set():
            steps += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    before = steps
    Kernel("rbf(sigma=1) + laplacian(gamma=1)")(X)
    meanwhile = steps - before
    done.set()
    counter.join()
    # A call that held the lock would leave time for one step, before it or after it.
    assert meanwhile > 2


INTERRUPTED = textwrap.dedent(
    """
    import os, signal, sys, threading, time
    import numpy as np
    from mercer import Kernel, KernelRidge

    # A process started in the background ignores SIGINT unless it asks for it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    work, n, d, after = sys.argv[1], *map(float, sys.argv[2:])
    rng = np.random.default_rng(0)
    X, y = rng.random((int(n), int(d))), rng.random(int(n))
    model = KernelRidge(kernel="rbf").fit(X[:9], y[:9])
    model.X_fit_, model.dual_coef_ = X, y
    sent = []

    def interrupt():
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        while True:  # a fast machine would be done before the signal
            if work == "gram":
                # Much work for every entry, so that the time is not that of the memory the matrix needs.
                Kernel(" + ".join(f"exp(-|x-z|/{i})*cos({i}*<x,z>)" for i in range(1, 16)))(X)
            elif work == "fit":
                model.fit(X, y)
            else:
                model.predict(X)
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[0])
    """
)


@pytest.mark.parametrize(
    ("work", "n", "d", "after"),
    [("gram", 4000, 5, 0.3), ("predict", 20000, 50, 0.2), ("fit", 9000, 50, 0.2), ("fit", 9000, 50, 2.0)],
)
def test_ctrl_c_stops_the_work(work, n, d, after):
    waits = []
    for _ in range(5):  # a busy machine may delay some of them
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, work, str(n), str(d), str(after)],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        waits.append(float(done.stdout))
        if waits[-1] < 0.1:
            return
    pytest.fail(f"KeyboardInterrupt came after {waits} s")


def test_handlers_of_signals_run():
    """A handler that returns does not stop the work."""
    heard = []
    previous = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        X = np.random.default_rng(0).random((1500, 50))
        K = Kernel("matern(nu=1.7)")(X)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, previous)
    assert heard and K.shape == (1500, 1500)
