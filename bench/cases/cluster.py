"""Ridge regression on a Dask cluster of worker processes on this machine, from rows that are generated chunk by chunk."""

import os
from importlib import import_module
from pathlib import Path

import numpy as np
from harness import Contest, Contestant, Disagreement, Study, Unavailable
from mercer import KernelRidge

COLUMNS = 20

#: The models agree up to rounding.
TOLERANCE = 1e-6


def cases(settings):
    n, size = settings.size(2_000_000, 20_000), settings.size(2_048, 64)
    yield Study("cluster", f"dask, ridge, fourier:{size}, n={n}", TOLERANCE, lambda size=size: speed(settings, n, size), slow=True)
    few, many, size = settings.size(1_000_000, 20_000), settings.size(20_000_000, 100_000), settings.size(512, 64)
    name = f"dask, memory of a worker, fourier:{size}, n={few} to n={many}"
    yield Study("cluster", name, TOLERANCE, lambda: memory(settings, few, many, size), slow=True)


def block(number, rows):
    """Return the rows and targets of one chunk."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((rows, COLUMNS))
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3]) + 0.3 * X[:, 4:8].sum(axis=1) + 0.2 * rng.standard_normal(rows)
    return X, y


def part(number, rows, place):
    return block(number, rows)[place]


def collections(n, rows):
    """Return X and y as dask arrays of chunks that are generated on demand."""
    import dask.array as da
    from dask import delayed

    chunks = [delayed(part, pure=False)(number, rows, 0) for number in range(n // rows)]
    targets = [delayed(part, pure=False)(number, rows, 1) for number in range(n // rows)]
    X = da.concatenate([da.from_delayed(chunk, (rows, COLUMNS), dtype=np.float64) for chunk in chunks])
    return X, da.concatenate([da.from_delayed(target, (rows,), dtype=np.float64) for target in targets])


def client_of(workers):
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError as error:
        raise Unavailable("needs dask.distributed") from error
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0)
    client = Client(cluster, set_as_default=False)
    client.wait_for_workers(workers)
    # A worker imports mercer once, not in each fit.
    client.run(import_module, "mercer.dask._chunk")
    return client


def close(client):
    cluster = client.cluster
    client.close()
    cluster.close()


def settings_of(size):
    return {"alpha": 1.0, "kernel": "rbf(sigma=4)", "approx": f"fourier:{size}", "bias": "centred", "random_state": 0}


def rmse(model):
    X, y = block(10**6, 2_000)
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def speed(settings, n, size):
    """Compare one worker, two workers, and the same sums in memory with two threads; starting the workers is not timed."""
    import mercer.dask as md

    rows = settings.size(100_000, 2_000)
    one, two = client_of(1), client_of(2)
    parts = [block(number, rows) for number in range(n // rows)]
    X, y = np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    del parts

    def on(client):
        return lambda: md.KernelRidge(**settings_of(size), client=client).fit(*collections(n, rows))

    def in_memory():
        # The same sums as on the cluster: `fit` may use another algorithm if all features fit into memory.
        return KernelRidge(**settings_of(size), n_jobs=2).partial_fit(X, y)

    def answer(model):
        return {"test RMSE": rmse(model)}

    bars = {"1 worker of 1 thread": 1.8, "in memory, 2 threads": 1 / 1.15}
    return Contest(
        [Contestant("1 worker of 1 thread", on(one), answer), Contestant("in memory, 2 threads", in_memory, answer)],
        [Contestant("2 workers of 1 thread", on(two), answer, bar=bars)],
    )


def memory(settings, few, many, size):
    """Compare the peak memory of a worker for few and for many rows."""
    import mercer.dask as md

    rows = settings.size(50_000, 2_000)

    def fit(n):
        client = client_of(2)
        try:
            model = md.KernelRidge(**settings_of(size), client=client).fit(*collections(n, rows))
            return model, max(client.run(high_water).values())
        finally:
            close(client)

    def answer(result):
        model, peak = result
        if not np.isfinite(rmse(model)):
            raise Disagreement("the model does not predict")
        return {"peak of a worker in GB": peak}

    return Contest(
        [Contestant(f"n={few}", lambda: fit(few), answer)],
        [Contestant(f"n={many}", lambda: fit(many), answer)],
        allowed={"peak of a worker in GB": lambda peak: 1.15 * peak},
    )


def high_water():
    """Return the peak memory of this process so far in GB."""
    lines = Path(f"/proc/{os.getpid()}/status").read_text().splitlines()
    return max(int(line.split()[1]) * 1024 / 1e9 for line in lines if line.startswith("VmHWM"))
