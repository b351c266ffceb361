"""Overhead of the Python layer over the core, at a thousand rows."""

import time

import numpy as np
import pytest
from mercer import KernelRidge

#: Milliseconds of the calling thread per call. It waits while the core works, so this is the layer itself: validation, the
#: conversion of arguments, the start of the working thread. About 0.4 in a release
#: on a quiet machine of 2024, 2.2 in the build of the tests on a slow one.
BOUND = 10.0


def milliseconds(call, times=6):
    spent = []
    for _ in range(times):
        began = time.thread_time()
        call()
        spent.append(time.thread_time() - began)
    return 1e3 * min(spent)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.random((1000, 20)), rng.random(1000)


@pytest.mark.parametrize("kernel", ["rbf", "0.5*rbf(sigma=1) + linear"])
def test_fit_and_predict(data, kernel, record_property):
    X, y = data
    model = KernelRidge(kernel=kernel)
    fit = milliseconds(lambda: model.fit(X, y))
    predict = milliseconds(lambda: model.predict(X))
    record_property("fit_ms", fit)
    record_property("predict_ms", predict)
    assert fit < BOUND and predict < BOUND, f"fit {fit:.2f} ms, predict {predict:.2f} ms"
