"""Passes over partitions: submitting tasks to Dask and waiting for their results."""

import threading
from concurrent.futures import CancelledError
from uuid import uuid4

import dask
from dask import delayed
from distributed import Future, default_client

from mercer import _work
from mercer.dask import _chunk

__all__ = ["Cluster"]

#: Number of sums that one task adds up.
_FAN_IN = 4

#: Seconds between two checks of the connection.
_LOOK = 0.1

#: Values for all workers go through the scheduler, which keeps them, so that a lost worker's copy can be recomputed.
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
                    "there is no Dask client: create one, as in dask.distributed.Client('tcp://scheduler:8786'), or give client="
                ) from error
        if getattr(client, "asynchronous", False):
            raise ValueError("an asynchronous Dask client is not supported: fit waits for its answer")
        self.client = client
        self.verbose = verbose

    def shared(self, value):
        """Return a value for the tasks of several passes as a future, which each worker fetches once."""
        with dask.config.set(_LARGE):
            return self.client.submit(_chunk.kept, value, pure=False, key=_key("share"))

    def sent(self, value):
        """Return a value for the tasks of one pass."""
        return delayed(value, name=_key("request"), traverse=False)

    def reduce(self, stage, function, partitions, merge):
        """Return ``function(partition, topic, *arguments)`` summed over all partitions by ``merge(*parts)``.

        ``partitions`` has the arguments of each partition; futures and delayed values among them are computed first.
        """
        topic = f"mercer-{uuid4().hex}" if self.verbose else None
        name = _key(stage)
        parts = [
            delayed(function, pure=False)(place, topic, *arguments, dask_key_name=f"{name}-{place}")
            for place, arguments in enumerate(partitions)
        ]
        return self._wait(_tree(parts, merge, name), stage, topic, len(parts))

    def compute(self, stage, value):
        """Return a future of a delayed value, computed and kept on the cluster."""
        future = self._begin(value)
        self._watch(future, stage, None, 0)
        return future

    def result(self, future):
        """Return the value of a finished future."""
        failed = future.status == "error"
        try:
            return _chunk.aligned(future.result())
        except (CancelledError, OSError, TimeoutError) as error:
            if failed:  # by an error of its own
                raise
            raise self._lost() from error

    def _wait(self, root, stage, topic, count):
        future = self._begin(root)
        try:
            self._watch(future, stage, topic, count)
            return self.result(future)
        finally:
            # The traceback of an error would keep the tasks on the cluster.
            future.release()

    def _begin(self, value):
        try:
            with dask.config.set(_LARGE):
                return self.client.compute(value)
        except BaseException:
            # An interrupt may come after the tasks were sent.
            if self.client.status == "running":
                Future(value.key, self.client).cancel(force=True)
            raise

    def _watch(self, future, stage, topic, count):
        """Wait for a future; cancel it if the wait is interrupted."""
        done, seen, bar = threading.Event(), set(), None
        future.add_done_callback(lambda _: done.set())
        if topic is not None:
            bar = _work._progress()
            self.client.subscribe_topic(topic, lambda event: seen.add(event[1]))
        try:
            while not future.done():
                if self.client.status != "running":
                    raise self._lost()
                done.wait(_LOOK)
                if bar is not None:
                    bar.show(stage, len(seen), count)
            if future.status in ("cancelled", "lost"):
                raise self._lost()
        except BaseException:
            if self.client.status == "running":
                future.cancel(force=True)
            raise
        finally:
            if bar is not None:
                bar.close()
                if self.client.status == "running":
                    self.client.unsubscribe_topic(topic)

    def _lost(self):
        address = getattr(self.client.scheduler, "address", None) or "its address"
        return RuntimeError(
            f"the work on the Dask cluster was lost: the scheduler at {address} has gone away, or the client was closed or "
            "restarted. Connect again and repeat the fit."
        )


def drive(fit, answer):
    """Answer the requests of a `RemoteFit`'s solver until it has a result."""
    request = fit.next()
    while request is not None:
        request = fit.next(answer(request))
    return fit.result()


def _tree(parts, merge, name):
    level = 0
    while len(parts) > 1:
        groups = [parts[start : start + _FAN_IN] for start in range(0, len(parts), _FAN_IN)]
        parts = [
            group[0] if len(group) == 1 else delayed(merge, pure=False)(*group, dask_key_name=f"{name}-add-{level}-{place}")
            for place, group in enumerate(groups)
        ]
        level += 1
    return parts[0]


def _key(stage):
    return f"mercer-{stage.replace(' ', '_')}-{uuid4().hex}"


