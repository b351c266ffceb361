"""The machine: its description, its load, and its rates for the work that floors consist of."""

import datetime
import os
import platform
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def facts(threads):
    """Return processor, memory, versions, commit and date."""
    processor = _cpuinfo()
    flags = processor.get("flags", "").split()
    return {
        "cpu": processor.get("model name", platform.processor() or platform.machine()),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": threads,
        "flags": [flag for flag in ("avx2", "fma", "avx512f", "avx512dq", "avx512vl") if flag in flags],
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in ("mercer", "scikit-learn", "numpy", "scipy", "scikit-learn-intelex")},
        "blas": _blas(),
        "commit": _git("rev-parse", "HEAD"),
        "built_from": _built_from(),
        "stale": _stale(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _cpuinfo():
    try:
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _blas():
    from threadpoolctl import threadpool_info

    return sorted({f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["user_api"] == "blas"})


def _git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _built_from():
    path = ROOT / "target/bench-venv/mercer-commit"
    return path.read_text().strip() if path.exists() else None


def _stale():
    """Return whether the installed package differs from the code of the tree, so that bench/setup must run again."""
    built = _built_from()
    return built is None or _git("diff", "--quiet", built, "--", "crates", "Cargo.toml", "Cargo.lock") is None


class Bystanders:
    """Fraction of processor time used by other processes since creation; it should be near 0 during a measurement."""

    def __init__(self):
        self._before = self._clock()

    @staticmethod
    def _clock():
        try:
            fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        except OSError:
            return None
        ticks = [int(value) / os.sysconf("SC_CLK_TCK") for value in fields]
        idle = ticks[3] + ticks[4]
        mine = os.times()
        return sum(ticks), sum(ticks) - idle - mine.user - mine.system - mine.children_user - mine.children_system

    def share(self):
        """Return the fraction, or None if the system does not provide it."""
        now = self._clock()
        if now is None or self._before is None:
            return None
        total, others = now[0] - self._before[0], now[1] - self._before[1]
        return max(0.0, others / total) if total > 0 else 0.0


def calibrate(threads, quick=False):
    """Measure rates of the machine on `threads` threads with NumPy, best of several: the terms of every floor.

    Matrix products and exponentials are measured at their fastest: large square products, and exponentials of arrays
    that fit into the second-level cache.
    """
    tries = 2 if quick else 5
    rates = {}
    for name, dtype in (("f64", np.float64), ("f32", np.float32)):
        order = 1024 if quick else 2048
        a, b, out = (np.ones((order, order), dtype) for _ in range(3))
        rates[f"gemm {name} flop/s"] = 2 * order**3 / _best(tries, lambda a=a, b=b, out=out: np.matmul(a, b, out=out))
        rates[f"exp {name} /s"] = _exponentials(threads, dtype, tries)
    size = 2**26 if quick else 2**29
    resident = np.zeros(size // 8)
    fill = _in_parallel(threads, lambda part: part.fill(1.0))
    rates["stream B/s"] = size / _best(tries, lambda: fill(np.array_split(resident, threads)))
    del resident
    rates["first touch B/s"] = size / _best(tries, lambda: _touch(fill, np.empty(size // 8), threads))
    return rates


def _touch(fill, fresh, threads):
    fill(np.array_split(fresh, threads))
    return fresh


def _exponentials(threads, dtype, tries):
    count, calls = 2**18 // np.dtype(dtype).itemsize, 100
    parts = [(np.linspace(-20, 0, count, dtype=dtype), np.empty(count, dtype)) for _ in range(threads)]

    def repeat(part):
        for _ in range(calls):
            np.exp(part[0], out=part[1])

    exponentiate = _in_parallel(threads, repeat)
    return threads * count * calls / _best(tries, lambda: exponentiate(parts))


def _in_parallel(threads, work):
    pool = ThreadPoolExecutor(threads)
    return lambda parts: list(pool.map(work, parts))


def _best(tries, run):
    run()
    seconds = []
    for _ in range(tries):
        began = time.perf_counter()
        kept = run()
        seconds.append(time.perf_counter() - began)
        # Releasing memory is not part of the work.
        del kept
    return min(seconds)
