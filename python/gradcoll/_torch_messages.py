"""Messages from rank to rank of a process group: MPI's, waited for with a limit."""

from __future__ import annotations

import datetime
import threading
import time
from typing import Any, Callable, List, Optional

import torch
from mpi4py import MPI
from torch._C import _distributed_c10d as c10d

from . import _torch_memory as memory
from ._torch_works import future_for, future_of, seconds_of


def _pause(looks: int) -> int:
    """Between two looks at what is under way, the longer the more there were. Returns their number."""
    if looks >= 200:
        time.sleep(0.00005 if looks < 2000 else 0.001)
    return looks + 1


class Request(c10d.Work):
    """A message under way. `arrived` is called once it is there."""

    def __init__(self, request: MPI.Request, tensors: List[torch.Tensor], limit: float, arrived: Callable[[], None], what: str) -> None:
        c10d.Work.__init__(self)
        self._request = request
        self._tensors = tensors
        self._limit = limit
        self._arrived: Optional[Callable[[], None]] = arrived
        self._what = what
        self._is_receive = what.startswith("recv")
        self._mutex = threading.Lock()
        self._source = -1

    def is_complete(self) -> bool:
        with self._mutex:
            if self._arrived is None:
                return True
            status = MPI.Status()
            if not self._request.Test(status):
                return False
            self._source = status.Get_source()
            arrived, self._arrived = self._arrived, None
            arrived()
            return True

    def wait(self, timeout: Any = None) -> bool:
        limit = seconds_of(timeout) or self._limit
        begin, looks = time.monotonic(), 0
        while not self.is_complete():
            looks = _pause(looks)
            if time.monotonic() - begin > limit:
                raise RuntimeError(f"gradcoll: {self._what} has waited {limit:g} s, and is not done")
        return True

    def end(self) -> None:
        with self._mutex:
            is_open = self._arrived is not None
            if is_open and self._is_receive:
                self._arrived = None
                self._request.Cancel()
                self._request.Wait()
        if is_open and not self._is_receive:
            self.wait()

    def source_rank(self) -> int:
        return self._source

    def get_future(self) -> Any:
        if self.is_complete():
            return future_of(self._tensors)
        trigger = future_for(self._tensors)

        def value(_: Any) -> List[torch.Tensor]:
            self.wait()
            return self._tensors

        future = trigger.then(value)
        threading.Thread(target=lambda: trigger.set_result(None), daemon=True).start()
        return future


class Messages:
    """Those of one group, kept until they have arrived, also if nobody waits for them. Thread safe."""

    def __init__(self, comm: MPI.Comm) -> None:
        self.limit = 0.0  # seconds, for waits that have none of their own
        self._comm = comm
        self._under_way: List[Request] = []
        self._mutex = threading.Lock()

    def send(self, tensor: torch.Tensor, rank: int, tag: int) -> Request:
        plain = memory.readable(tensor)
        request = self._comm.Isend(memory.memory_of(plain), rank, tag)
        return self._keep(Request(request, [tensor, plain], self.limit, lambda: None, f"send to rank {rank}"))

    def receive(self, tensor: torch.Tensor, rank: int, tag: int) -> Request:
        plain = memory.writable(tensor)
        request = self._comm.Irecv(memory.memory_of(plain), rank, tag)
        who = "any rank" if rank == MPI.ANY_SOURCE else f"rank {rank}"
        return self._keep(Request(request, [tensor], self.limit, lambda: memory.give_back(tensor, plain), f"recv from {who}"))

    def barrier(self, limit: float) -> bool:
        """MPI's, which it leaves after `limit` seconds. Whether all ranks have come."""
        request, begin, looks = self._comm.Ibarrier(), time.monotonic(), 0
        while not request.Test():
            looks = _pause(looks)
            if time.monotonic() - begin > limit:
                return False
        return True

    def meet(self, limit: float, names_all: bool) -> None:
        """A barrier in which rank 0 hears of each rank. Raises a RuntimeError that names the first rank, or all, that do not
        come in time; the words are Gloo's."""
        tag, sign = self._comm.Get_attr(MPI.TAG_UB), torch.zeros(1, dtype=torch.uint8)
        if self._comm.rank == 0:
            self._meet_all(limit, names_all, tag, sign)
            return
        wait = datetime.timedelta(seconds=limit)
        try:
            self.send(sign, 0, tag).wait(wait)
            self.receive(sign, 0, tag).wait(2 * wait)
        except RuntimeError as error:
            raise RuntimeError(
                f"gradcoll: Rank {self._comm.rank} successfully reached monitoredBarrier, but received errors while waiting for "
                f"send/recv from rank 0: {error}"
            ) from error

    def _meet_all(self, limit: float, names_all: bool, tag: int, sign: torch.Tensor) -> None:
        if limit <= 0:
            raise RuntimeError("gradcoll: Rank 0 timed out in monitoredBarrier after 0 ms")
        arrivals = {rank: self.receive(sign.clone(), rank, tag) for rank in range(1, self._comm.size)}
        end = time.monotonic() + limit
        while True:
            late = [str(rank) for rank, arrival in arrivals.items() if not arrival.is_complete()]
            if not late:
                break
            if time.monotonic() > end:
                who = f"Ranks {', '.join(late)}" if names_all else f"Rank {late[0]}"
                raise RuntimeError(f"gradcoll: {who} failed to pass monitoredBarrier in {1000 * limit:g} ms")
            time.sleep(0.001)
        for rank in arrivals:
            self.send(sign, rank, tag).wait()

    def end(self) -> None:
        """Before the communicator is freed: what nobody has sent is given up, what is sent has to arrive."""
        for request in self._under_way:
            request.end()

    def _keep(self, request: Request) -> Request:
        with self._mutex:
            self._under_way = [other for other in self._under_way if not other.is_complete()] + [request]
        return request
