"""Threads and progress of native calls."""

import os
import sys
from contextlib import contextmanager

from mercer import _cuda_libraries, _native


def threads(n_jobs):
    """Return the number of threads for scikit-learn's ``n_jobs``; None is every core that this process may use."""
    if n_jobs is None:
        return _share_of_worker()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__"):
        raise TypeError(f"n_jobs must be None or an integer, got {n_jobs!r}")
    n_jobs = n_jobs.__index__()
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use None for all cores")
    return n_jobs if n_jobs > 0 else max(1, _native.available_threads() + 1 + n_jobs)


def _share_of_worker():
    """Return the number of threads for a joblib worker process, so that workers do not compete for cores."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is None or processes.parent_process() is None:
        return None
    share = os.environ.get("OMP_NUM_THREADS", "")
    return int(share) if share.isdecimal() and int(share) > 0 else None


@contextmanager
def job(n_jobs=None, verbose=0, seed=0, device="cpu"):
    """Yield the job that native calls take, with a progress bar if ``verbose`` is set."""
    if device not in (None, "cpu"):
        _cuda_libraries.preload()
    how = {"threads": threads(n_jobs), "progress": None, "seed": seed, "device": device}
    if not verbose:
        yield how
        return
    progress = _progress()
    try:
        yield {**how, "progress": progress.show}
    finally:
        progress.close()


def _progress():
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Bar(tqdm)


class _Bar:
    """Progress as one tqdm bar for each stage."""

    def __init__(self, tqdm):
        self._tqdm = tqdm
        self._bar = None
        self._stage = None

    def show(self, stage, done, total):
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total or None, desc=f"mercer: {stage}", leave=False)
        self._bar.n = min(done, total) if total else done
        self._bar.refresh()

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Lines:
    """Progress as a line on standard error for each tenth of a stage, used without tqdm."""

    def __init__(self):
        self._last = None

    def show(self, stage, done, total):
        tenth = 10 * done // total if total else 0
        if (stage, tenth) != self._last:
            self._last = (stage, tenth)
            print(f"mercer: {stage} {10 * tenth}%" if total else f"mercer: {stage}", file=sys.stderr)

    def close(self):
        pass
