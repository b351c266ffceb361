"""Passes over partitions: submitting tasks to Dask and waiting for their results."""

import threading
from concurrent.futures import CancelledError
from uuid import uuid4

import dask
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph
from distributed import Future, default_client

from mercer import _work
from mercer.dask import _chunk

__all__ = ["Cluster"]

#: Number of sums that one task adds up.
_FAN_IN = 4

#: Seconds between two checks of the connection.
_LOOK = 0.1

#: The topic on which tasks tell this process that they are done: the scheduler and the client keep every topic for good.
_TOPIC = f"mercer-{uuid4().hex}"

#: The partitions that are done of each pass whose progress is shown.
_DONE: dict[str, set[int]] = {}

#: What is sent to all workers goes through the scheduler, which keeps it: what a lost worker had can be computed again.
_LARGE = {"distributed.admin.large-graph-warning-threshold": "10GB"}


class Cluster:
    """A Dask client that makes passes over partitions.

    Every pass is one graph: a task for each partition and a tree of additions over their numbers, so that the order of the
    additions depends on the partitions alone.
    """

    def __init__(self, client=None, verbose=0):
        if client is None:
            try:
                client = default_client()
            except ValueError as error:
                raise ValueError(
                    "there is no Dask client: create one, as in dask.distributed.Client('tcp://scheduler:8786'), or give client=; "
                    "in a task, that of dask.distributed.worker_client()"
                ) from error
        if client.status in ("closing", "closed"):
            raise RuntimeError("the Dask client is closed: create another one")
        if getattr(client, "asynchronous", False):
            raise ValueError("an asynchronous Dask client is not supported: fit waits for its answer")
        self.client = client
        self.verbose = verbose
        self._kept = []

    def shared(self, value):
        """Return a value for the tasks of several passes as a future, which each worker fetches once."""
        with dask.config.set(_LARGE):
            future = self.client.submit(_chunk.kept, value, pure=False, key=_key("share"))
        self._kept.append(future)
        return future

    def sent(self, value):
        """Return a value for the tasks of one pass."""
        return delayed(value, name=_key("request"), traverse=False)

    def reduce(self, stage, function, partitions, merge):
        """Return ``function(partition, topic, *arguments)`` summed over all partitions by ``merge(*parts)``.

        ``partitions`` has the arguments of each partition; futures and delayed values among them, also in tuples, are computed
        first.
        """
        name, tasks, needed, parts = self._tasks(stage, function, partitions)
        level = 0
        while len(parts) > 1:
            groups = [parts[start : start + _FAN_IN] for start in range(0, len(parts), _FAN_IN)]
            parts = [group[0] if len(group) == 1 else f"{name}-add-{level}-{place}" for place, group in enumerate(groups)]
            tasks.update({key: (merge, *group) for key, group in zip(parts, groups, strict=True) if len(group) > 1})
            level += 1
        (future,) = self._run(stage, name, tasks, needed, parts, len(partitions))
        try:
            return self.result(future)
        finally:
            # The traceback of an error would keep the tasks on the cluster.
            future.release()

    def gather(self, stage, function, partitions, *functions):
        """Futures of each ``function(*parts)`` of all partitions, computed as in `reduce` and kept on the cluster."""
        name, tasks, needed, parts = self._tasks(stage, function, partitions)
        keys = [f"{name}-all-{place}" for place in range(len(functions))]
        tasks.update({key: (whole, *parts) for key, whole in zip(keys, functions, strict=True)})
        futures = self._run(stage, name, tasks, needed, keys, len(partitions))
        self._kept += futures
        return futures

    def release(self):
        """Lets go of everything that is kept on the cluster."""
        for future in self._kept:
            future.release()

    def result(self, future):
        """Return the value of a finished future."""
        failed = future.status == "error"
        try:
            return _chunk.aligned(future.result())
        except (CancelledError, OSError, TimeoutError) as error:
            if failed:  # by an error of its own
                raise
            raise self._lost() from error

    def _tasks(self, stage, function, partitions):
        """The name of a pass, its tasks by key, the delayed values that they need, and the keys of the partitions."""
        name, needed = _key(stage), {}
        topic = (_TOPIC, name) if self.verbose else None
        keys = [f"{name}-{place}" for place in range(len(partitions))]
        tasks = {
            key: (function, place, topic, *(_by_key(argument, needed) for argument in arguments))
            for place, (key, arguments) in enumerate(zip(keys, partitions, strict=True))
        }
        return name, tasks, list(needed.values()), keys

    def _run(self, stage, name, tasks, needed, keys, count):
        """Futures of some of the tasks, all of them done."""
        # One layer, whatever the number of partitions.
        graph, futures = HighLevelGraph.from_collections(name, tasks, dependencies=needed), []
        try:
            with dask.config.set(_LARGE):
                futures = self.client.compute([Delayed(key, graph, layer=name) for key in keys])
            self._watch(futures, stage, name, count)
        except BaseException:
            # An interrupt may come after the tasks were sent.
            if self.client.status == "running":
                for future in futures or [Future(key, self.client) for key in keys]:
                    future.cancel(force=True)
                    future.release()
            raise
        return futures

    def _watch(self, futures, stage, name, count):
        """Waits for futures."""
        bar = None
        if self.verbose:
            bar, _DONE[name] = _work._progress(), set()
            self.client.subscribe_topic(_TOPIC, _note)
        try:
            for future in futures:
                done = threading.Event()
                future.add_done_callback(lambda _, done=done: done.set())
                while not future.done():
                    if self.client.status != "running":
                        raise self._lost()
                    done.wait(_LOOK)
                    if bar is not None:
                        bar.show(stage, len(_DONE[name]), count)
                if future.status in ("cancelled", "lost"):
                    raise self._lost()
        finally:
            if bar is not None:
                bar.close()
                del _DONE[name]
                if not _DONE and self.client.status == "running":
                    self.client.unsubscribe_topic(_TOPIC)

    def _lost(self):
        address = getattr(self.client.scheduler, "address", None) or "its address"
        return RuntimeError(
            f"the work on the Dask cluster was lost: the scheduler at {address} has gone away, or the client was closed or "
            "restarted. Connect again and repeat the fit."
        )


def drive(fit, answer):
    """Answers what the solver of a `RemoteFit` asks for until it has a result."""
    try:
        request = fit.next()
        while request is not None:
            request = fit.next(answer(request))
        return fit.result()
    finally:
        # The traceback of an error would keep the solver waiting.
        del fit


def _by_key(argument, needed):
    """An argument as a task has it: delayed values by their keys. ``needed`` is given one value of each graph."""
    if isinstance(argument, tuple):
        return [_by_key(part, needed) for part in argument]
    if isinstance(argument, Delayed):
        needed[id(argument.dask)] = argument
        return argument.key
    return argument


def _note(event):
    _, (name, partition) = event
    _DONE.get(name, set()).add(partition)


def _key(stage):
    return f"mercer-{stage.replace(' ', '_')}-{uuid4().hex}"
