"""How the calls of a process group go on: in order, here or in the group's thread, and watched.

A call that need not return before it is done goes to a thread of its group. One that must is made on the caller's
thread, unless others of the group are still under way. Calls of several groups run beside one another.
"""

from __future__ import annotations

import atexit
import datetime
import queue
import sys
import threading
import time
import traceback
import weakref
from typing import Any, Callable, List, Optional, Sequence, Set, Tuple

import torch
from mpi4py import MPI
from torch._C import _distributed_c10d as c10d

from ._streams import Order, is_on_device

_POST_AFTER_SECONDS = 1.0  # a call that waits longer is shown to the other ranks
_DRAIN_SECONDS = 10.0
BARRIER = "barrier"  # the one call that ends by itself where ranks are late


def seconds_of(timeout: Optional[datetime.timedelta]) -> Optional[float]:
    """None for what torch's callers pass if they mean no limit of their own."""
    seconds = timeout.total_seconds() if timeout is not None else 0.0
    return seconds if seconds > 0 else None


class _Kept:
    """Works that somebody may yet wait for. torch 1.13 forgets the Python half of a Work that C++ has; later ones do not."""

    def __init__(self, is_needed: bool) -> None:
        self._is_needed = is_needed
        self._works: Set[Any] = set()

    def add(self, work: Any) -> None:
        if self._is_needed:
            self._works.add(work)

    def drop(self, work: Any) -> None:
        if self._is_needed:
            self._works.discard(work)


_kept = _Kept(not hasattr(c10d, "Backend"))


def future_for(results: Sequence[torch.Tensor]) -> Any:
    """One that may hold them: torch has to know the devices."""
    return torch.futures.Future(devices=list({tensor.device for tensor in results if is_on_device(tensor)}))


def future_of(results: List[torch.Tensor]) -> Any:
    future = future_for(results)
    future.set_result(results)
    return future


class Done(c10d.Work):
    """A call that was made on the caller's thread."""

    def __init__(self, results: List[torch.Tensor]) -> None:
        c10d.Work.__init__(self)
        self._results = results

    def wait(self, timeout: Any = None) -> bool:
        return True

    def result(self) -> List[torch.Tensor]:
        return self._results

    def get_future(self) -> Any:
        return future_of(self._results)


class Job(c10d.Work):
    """A call that waits for its turn, or runs, in the group's thread."""

    def __init__(
        self,
        calls: "Calls",
        name: str,
        number: int,
        limit: float,
        work: Callable[[], None],
        results: List[torch.Tensor],
        order: Optional[Order],
    ) -> None:
        c10d.Work.__init__(self)
        self.name, self.number, self.limit = name, number, limit
        self.work: Optional[Callable[[], None]] = work
        self._order = order
        self.failure: Optional[BaseException] = None
        self._calls = calls
        self._results = results
        self._mutex = threading.Lock()
        self._running = threading.Lock()  # held until the call has ended
        self._running.acquire()
        self._has_ended = False
        self._trigger: Any = None
        self._future: Any = None
        _kept.add(self)

    def wait(self, timeout: Any = None) -> bool:
        """Raises what the call has raised, or a RuntimeError that names the ranks that are late."""
        _kept.drop(self)
        limit = seconds_of(timeout)
        if self._running.acquire(timeout=-1 if limit is None else limit):
            self._running.release()
        else:
            raise RuntimeError(self._calls.lateness(self.name, self.number, limit or 0.0))
        self._join()
        return True

    def _join(self) -> None:
        """Once it has ended."""
        if self.failure is not None:
            raise self.failure
        if self._order is not None:
            self._order.join()

    def result(self) -> List[torch.Tensor]:
        """The tensors. torch 1.13's callers ask for them; later ones get a Work of torch's own, which has none."""
        self.wait()
        return self._results

    def get_future(self) -> Any:
        """A future of the tensors. A failure is raised by its value(), and by what reads it: DistributedDataParallel's backward()."""
        _kept.drop(self)
        with self._mutex:
            if self._future is None:
                self._trigger = future_for(self._results)
                self._future = self._trigger.then(self._value)
                if self._has_ended:
                    self._trigger.set_result(None)
            return self._future

    def _value(self, _: Any) -> List[torch.Tensor]:
        self._join()
        return self._results

    def end(self, failure: Optional[BaseException]) -> None:
        """By whoever is first: the thread, or the watch."""
        with self._mutex:
            if self._has_ended:
                return
            self._has_ended = True
            self.failure = failure
            self.work = None
            self._running.release()
            trigger = self._trigger
        if trigger is not None:
            trigger.set_result(None)


class Later:
    """Does one thing after another for a hook, and completes the futures of what it is done for.

    is_beside: in a thread beside the program; else at once, before do() returns."""

    def __init__(self, name: str, is_beside: bool) -> None:
        self._jobs: "queue.SimpleQueue[Optional[Callable[[], None]]]" = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True) if is_beside else None
        if self._thread is not None:
            self._thread.start()

    def do(self, work: Callable[[], None], result: torch.Tensor, order: Optional[Order] = None) -> Any:
        """A future of `result`. What `work` raises is the future's error, so that backward() raises it."""
        trigger = future_for([result])
        failures: List[BaseException] = []

        def job() -> None:
            try:
                work() if order is None else order.run(work)
            except BaseException as error:
                failures.append(error)
            trigger.set_result(None)

        def value(_: Any) -> torch.Tensor:
            if failures:
                raise failures[0]
            if order is not None:
                order.join()
            return result

        if self._thread is not None:
            self._jobs.put(job)
        else:
            job()
        return trigger.then(value)

    def end(self) -> None:
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()

    def _run(self) -> None:
        for job in iter(self._jobs.get, None):
            job()
            del job  # what it refers to


class Together(c10d.Work):
    """Several works as one."""

    def __init__(self, works: Sequence[Any]) -> None:
        c10d.Work.__init__(self)
        self._works = list(works)

    def wait(self, timeout: Any = None) -> bool:
        for work in self._works:
            work.wait(timeout)
        return True

    def get_future(self) -> Any:
        futures = [work.get_future() for work in self._works]
        return torch.futures.collect_all(futures).then(lambda all_: [one for done in all_.value() for one in done.value()])


class Calls:
    """The calls of one group, one at a time. Thread safe."""

    def __init__(self, store: Any, name: str, rank: int, size: int, limit: float) -> None:
        self.name, self.rank, self.size, self.limit = name, rank, size, limit
        self.count = 0  # of the calls that were begun: alike on all ranks
        self.running: Optional[Tuple[str, int, float, Optional[Job], Any]] = None  # name, number, since, job, options
        self.failure: Optional[BaseException] = None
        self._store = store
        self._posted = 0  # number of the call that others were told of
        self._mutex = threading.Lock()
        self._turn = threading.Lock()
        self._pending = 0
        self._jobs: "queue.SimpleQueue[Optional[Job]]" = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None
        self._ident = 0
        _watch.add(self)

    def begin_here(self, name: str, options: Any) -> bool:
        """Whether the caller's thread may go on now. Then it calls end_here()."""
        if self.failure is not None:
            raise self.failure
        with self._mutex:
            if self._pending and threading.get_ident() != self._ident or not self._turn.acquire(False):
                return False
            self.count += 1
            self.running = (name, self.count, time.monotonic(), None, options)
            return True

    def end_here(self) -> None:
        self.running = None
        self._turn.release()

    def limit_of(self, options: Any) -> float:
        return seconds_of(getattr(options, "timeout", None)) or self.limit

    def put(
        self, name: str, options: Any, work: Callable[[], None], results: List[torch.Tensor], order: Optional[Order] = None
    ) -> Job:
        """For the group's thread. The job keeps what `work` and `results` refer to.

        What that thread itself asks for, in a callback of a future, is done at once: so it comes behind the call whose
        future it was and before all that were put since, on every rank."""
        if self.failure is not None:
            raise self.failure
        with self._mutex:
            self.count += 1
            job = Job(self, name, self.count, self.limit_of(options), work, results, order)
            is_ours = threading.get_ident() == self._ident
            if not is_ours:
                self._pending += 1
                self._jobs.put(job)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name=f"gradcoll {self.name}", daemon=True)
                    self._thread.start()
        if is_ours:
            job.end(self._make(job))
        return job

    def _run(self) -> None:
        self._ident = threading.get_ident()
        for job in iter(self._jobs.get, None):
            job.end(self._make(job))
            with self._mutex:
                self._pending -= 1
            del job

    def _make(self, job: Job) -> Optional[BaseException]:
        """Makes the call; returns what it has raised."""
        with self._turn:
            self.running = (job.name, job.number, time.monotonic(), job, None)
            try:
                assert job.work is not None
                job.work()
            except BaseException as error:  # whoever waits for the job gets it
                return error
            finally:
                self.running = None
        return None

    def drain(self, seconds: float) -> bool:
        """Ends the thread after what it has to do. Whether it has ended."""
        thread = self._thread
        if thread is None:
            return True
        self._jobs.put(None)
        thread.join(seconds)
        return not thread.is_alive()

    def close(self, seconds: float) -> bool:
        _watch.remove(self)
        return self.drain(seconds)

    def look(self) -> None:
        """By the watch: shows a call that waits to the others, and ends one that has waited too long."""
        running = self.running
        if running is None or self.failure is not None:
            return
        name, number, since, job, options = running
        waited = time.monotonic() - since
        limit = job.limit if job is not None else self.limit_of(options)
        if waited > min(_POST_AFTER_SECONDS, limit / 4):
            self._post(number)
        if waited <= limit or self.running is not running or name == BARRIER:
            return
        text = self.lateness(name, number, limit)
        if self.running is not running:  # it has ended meanwhile
            return
        self.failure = RuntimeError(text)
        if job is not None:
            job.end(self.failure)
        else:
            _end_the_job(text)

    def fail_late(self, name: str, limit: float) -> BaseException:
        """By the thread that makes the call under way, which has left it: no later one can go on."""
        self.failure = RuntimeError(self.lateness(name, self.running[1] if self.running else self.count, limit))
        return self.failure

    def _post(self, number: int) -> None:
        if self._posted != number:
            self._posted = number
            self._store.add(f"waits/{number}/{self.rank}", 1)

    def lateness(self, name: str, number: int, limit: float) -> str:
        """Who has not come to the call. Ranks tell others that they wait, once they have waited for a while."""
        said = f"gradcoll: {name} (call {number} of group {self.name!r}) has reached its timeout of {limit:g} s: "
        try:
            self._post(number)
            time.sleep(min(1.0, limit / 4))
            late = [str(r) for r in range(self.size) if self._store.add(f"waits/{number}/{r}", 0) == 0]
        except (RuntimeError, OSError) as error:
            return f"{said}who is late cannot be told, as the store does not answer ({error})"
        if not late:
            return f"{said}all ranks have called it"
        return f"{said}rank{'s' * (len(late) > 1)} {', '.join(late)} of the group {'have' if len(late) > 1 else 'has'} not called it"


class _Watch:
    """A thread that looks at all groups' calls now and then."""

    def __init__(self) -> None:
        self._groups: "weakref.WeakSet[Calls]" = weakref.WeakSet()
        self._mutex = threading.Lock()
        self._thread: Optional[threading.Thread] = None
        self._tick = 1.0

    def add(self, calls: Calls) -> None:
        with self._mutex:
            self._groups.add(calls)
            self._tick = min(self._tick, max(0.05, calls.limit / 8))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="gradcoll watch", daemon=True)
                self._thread.start()

    def remove(self, calls: Calls) -> None:
        with self._mutex:
            self._groups.discard(calls)

    def groups(self) -> List[Calls]:
        with self._mutex:
            return list(self._groups)

    def _run(self) -> None:
        while True:
            time.sleep(self._tick)
            for calls in self.groups():
                try:
                    calls.look()
                except Exception:  # the store of a job that ends
                    traceback.print_exc()
                    self.remove(calls)


_watch = _Watch()
_has_failed = False


def _end_the_job(text: str) -> None:
    """For a thread that is inside MPI, which nothing else can end."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
    MPI.COMM_WORLD.Abort(1)


def _at_exit() -> None:
    """A rank that ends with an error ends the job: the others would wait for it in MPI_Finalize."""
    if not MPI.Is_initialized() or MPI.Is_finalized():
        return
    groups = _watch.groups()
    if _has_failed and MPI.COMM_WORLD.size > 1:
        sys.stdout.flush()
        _end_the_job(f"gradcoll: rank {MPI.COMM_WORLD.rank} ends with an error, and the job with it")
    for calls in groups:
        if not calls.close(_DRAIN_SECONDS):
            _end_the_job(f"gradcoll: rank {MPI.COMM_WORLD.rank} ends while a call of group {calls.name!r} waits for others")


def end_with_the_program() -> None:
    """Once, when the first group is made."""
    previous = sys.excepthook

    def note(*failure: Any) -> None:
        global _has_failed
        _has_failed = True
        previous(*failure)

    sys.excepthook = note
    atexit.register(_at_exit)
