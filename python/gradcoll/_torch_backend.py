"""The backend "gradcoll" of torch.distributed: a process group's calls over a communicator of MPI.

Reductions and gathers of equal parts are the library's own; the rest is MPI's. What is not contiguous is copied, and so is
what lies on a device, but for sums; what is added is added in the order that the library fixes, so all ranks get the same bits.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, List, Mapping, Optional, Sequence

import torch
from mpi4py import MPI
from torch._C import _distributed_c10d as c10d

from . import _torch_memory as memory
from ._capi import IN_PLACE, handle, lib
from ._comms import set_option
from ._errors import Error, _text_of
from ._streams import Streams, is_on_device
from ._torch_messages import Messages
from ._torch_works import BARRIER, Calls, Done, Together

NAME = "gradcoll"
_HAS_BACKENDS = hasattr(c10d, "Backend")
_Base: Any = c10d.Backend if _HAS_BACKENDS else c10d.ProcessGroup  # torch 1.13 has no other class to take
_HAS_ASYNC = hasattr(c10d.AllreduceOptions, "asyncOp")
_may_go_on: Callable[[Any], bool] = operator.attrgetter("asyncOp") if _HAS_ASYNC else lambda opts: True
_SUM = c10d.AllreduceOptions()
_NOW = c10d.AllreduceOptions()  # of calls that torch does not know, and that are waited for
if _HAS_ASYNC:
    _NOW.asyncOp = False
_GATHER = c10d.AllgatherOptions()
_SCATTERED = c10d.ReduceScatterOptions()
Tensors = List[torch.Tensor]


def _check(code: int) -> None:
    if code != MPI.SUCCESS:
        raise Error(code, _text_of(code))


def _one(tensors: Sequence[Any]) -> Any:
    if len(tensors) != 1:
        raise ValueError(f"gradcoll: {len(tensors)} tensors in one call; allowed is one for each process")
    return tensors[0]


class Backend(_Base):  # type: ignore[misc]
    """One process group. comm: a communicator of its own, whose ranks are the group's; freed by shutdown()."""

    def __init__(self, comm: MPI.Comm, store: Any, name: str, timeout: Any) -> None:
        _Base.__init__(self, comm.rank, comm.size)
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        comm.Set_name(f"torch {name}"[: MPI.MAX_OBJECT_NAME - 1])
        self.comm = comm
        self._duplicate: Optional[MPI.Comm] = None
        self._handle = handle(comm)
        self._streams = Streams(self._handle, name)
        self._rank, self._size = comm.rank, comm.size
        self._calls = Calls(store, name, comm.rank, comm.size, timeout.total_seconds())
        self._coalesced: Optional[List[Any]] = None
        self._has_left_a_barrier = False
        self._messages = Messages(comm)
        self._messages.limit = self._calls.limit
        if _HAS_BACKENDS:
            self._options = c10d.Backend.Options(NAME, timeout)

    # torch asks a backend for what follows.

    def getBackendName(self) -> str:
        return NAME

    @property
    def options(self) -> Any:
        return self._options

    @property
    def supports_splitting(self) -> bool:
        return True

    def _no(self) -> bool:
        """torch 2.15 asks a property that Python does not have of C++, which asks Python again, without end."""
        return False

    supports_coalescing = supports_shrinking = supports_reconfigure = supports_window = property(_no)
    _supports_time_estimate = property(_no)

    def eager_connect_single_device(self, device: Any = None) -> None:
        """Nothing: the communicator is there."""

    def perform_nocolor_split(self, device: Any = None) -> None:
        """Nothing: groups are made by their members alone."""

    def split(self, store: Any, ranks: Sequence[int], opts: Any) -> Optional["Backend"]:
        """The group of these ranks of this one; None for other ranks. Collective: all ranks split at once."""
        from ._torch_world import keep

        is_member = self._rank in ranks
        comm = self.comm.Split(min(ranks) if is_member else MPI.UNDEFINED, ranks.index(self._rank) if is_member else 0)
        if not is_member:
            return None
        return keep(Backend(comm, store, opts.group_name or f"{self._calls.name}/split", opts._timeout))

    def set_timeout(self, timeout: Any) -> None:
        self._calls.limit = self._messages.limit = timeout.total_seconds()

    def _get_sequence_number_for_group(self) -> int:
        return self._calls.count

    def _set_sequence_number_for_group(self) -> None:
        """Nothing: it counts from the group's first call."""

    def start_coalescing(self, device: Any = None) -> None:
        self._coalesced = []

    def end_coalescing(self, device: Any = None) -> Any:
        works, self._coalesced = self._coalesced, None
        return Together(works or [])

    def shutdown(self) -> None:
        """Waits for what is under way and frees the communicator. Collective."""
        comm, self.comm = self.comm, MPI.COMM_NULL
        if comm == MPI.COMM_NULL or MPI.Is_finalized():
            return
        if not self._calls.close(self._calls.limit):
            raise RuntimeError(f"gradcoll: group {self._calls.name!r} is destroyed while a call of it waits for others")
        self._messages.end()
        if self._duplicate is not None:
            self._duplicate.Free()
        if not self._has_left_a_barrier:  # which is under way for ever
            comm.Free()

    def abort(self) -> None:
        """What waits goes on waiting: MPI cannot end it. Later calls fail."""
        self._calls.failure = RuntimeError(f"gradcoll: group {self._calls.name!r} was aborted")

    def duplicate(self) -> MPI.Comm:
        """A communicator for others than torch, made at the first call. Collective."""
        if self._duplicate is None:
            self._do("comm_of", _NOW, [], self._make_duplicate).wait()
        assert self._duplicate is not None
        return self._duplicate

    def _make_duplicate(self) -> None:
        self._duplicate = self.comm.Dup()

    def configure(self, settings: Mapping[str, str]) -> None:
        """Sets the communicator's settings, by info key, behind the calls that were made before. Collective."""

        def set_all() -> None:
            for key, value in settings.items():
                set_option(self.comm, key, value)

        self._do("options", _NOW, [], set_all).wait()

    def _do(self, name: str, opts: Any, results: Tensors, function: Callable[..., None], *arguments: Any) -> Any:
        """The call, made here or by the group's thread."""
        order = self._streams.order(results, arguments)
        if order is not None:
            function, arguments = order.run, (function, *arguments)
        if _may_go_on(opts) or not self._calls.begin_here(name, opts):
            work: Any = self._calls.put(name, opts, lambda: function(*arguments), results, order)
        else:
            try:
                function(*arguments)
            finally:
                self._calls.end_here()
            if order is not None:
                order.join()
            work = Done(results)
        if self._coalesced is not None:
            self._coalesced.append(work)
        return work

    def do_beside(self, name: str, results: Tensors, function: Callable[[], None]) -> Any:
        """The Work of a call of others on the group, made by its thread."""
        return self._do(name, _GATHER, results, function)

    # Reductions follow: the library adds, also for a root alone.

    def allreduce(self, tensors: Tensors, opts: Any = _SUM) -> Any:
        tensor = _one(tensors)
        if tensor.layout != torch.strided:
            return self._do("all_reduce", opts, [tensor], self._sum_sparse, tensor, opts.reduceOp)
        reduction = memory.reduction_of(opts.reduceOp, tensor.dtype) if not tensor.is_complex() else None
        return self._do("all_reduce", opts, [tensor], self._sum, tensor, reduction, opts)

    allreduce_sparse = allreduce

    def _sum(self, tensor: torch.Tensor, reduction: Any, opts: Any) -> None:
        if reduction is None:  # complex, which torch's own functions make pairs of before
            tensor = torch.view_as_real(tensor)
            reduction = memory.reduction_of(opts.reduceOp, tensor.dtype)
        if memory.is_plain(tensor) and (not is_on_device(tensor) or self._streams.may_follow(tensor.device)):
            self._sum_plain(tensor, reduction)
            return
        plain = memory.readable(tensor)
        self._sum_plain(plain, reduction)
        memory.give_back(tensor, plain)

    def _sum_plain(self, tensor: torch.Tensor, reduction: memory.Reduction) -> None:
        count = tensor.numel()
        if count == 0:
            return
        if reduction.factor is not None:
            tensor.detach().mul_(reduction.factor)
        code = lib.GC_Allreduce_c(IN_PLACE, tensor.data_ptr(), count, reduction.datatype, reduction.op, self._handle)
        if code:
            _check(code)
        if reduction.is_average:
            tensor.detach().div_(self._size)

    def _sum_sparse(self, tensor: torch.Tensor, reduce_op: Any) -> None:
        reduction = memory.reduction_of(reduce_op, tensor.dtype)
        if reduction.op is not memory.SUM:
            raise ValueError(f"gradcoll: {reduce_op} of sparse tensors; allowed are SUM, AVG and PREMUL_SUM")
        memory.sum_sparse(tensor, self._gather_lengths, reduction.is_average, reduction.factor)

    def _gather_lengths(self, vector: torch.Tensor) -> Tensors:
        """The vectors of all ranks, of lengths that only their owners know."""
        lengths = memory.new(self._size, torch.int64)
        self.gather_into(lengths, memory.new(1, torch.int64).fill_(vector.numel()))
        parts = [memory.new(int(length), vector.dtype) for length in lengths]
        self._gather_parts(parts, memory.readable(vector))
        return parts

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = _SUM) -> Any:
        """One call for each dtype."""
        return self._do("all_reduce_coalesced", opts, list(tensors), self._sum_all, list(tensors), opts)

    def _sum_all(self, tensors: Tensors, opts: Any) -> None:
        reals = [memory.real(tensor) for tensor in tensors]
        for dtype in dict.fromkeys(tensor.dtype for tensor in reals):
            same = [tensor for tensor in reals if tensor.dtype == dtype]
            reduction = memory.reduction_of(opts.reduceOp, dtype)
            if len(same) == 1:
                self._sum(same[0], reduction, opts)
                continue
            vector = memory.flat(same)
            self._sum_plain(vector, reduction)
            memory.spread(vector, same)

    def reduce(self, tensors: Tensors, opts: Any) -> Any:
        tensor = _one(tensors)
        return self._do("reduce", opts, [tensor], self._reduce, tensor, opts)

    def _reduce(self, tensor: torch.Tensor, opts: Any) -> None:
        """All ranks get the sum, and all but the root drop it."""
        is_root = opts.rootRank == self._rank
        plain = memory.readable(memory.real(tensor))
        if not is_root and plain.data_ptr() == tensor.data_ptr():
            plain = plain.clone()
        self._sum_plain(plain, memory.reduction_of(opts.reduceOp, plain.dtype))
        if is_root:
            memory.give_back(memory.real(tensor), plain)

    def reduce_scatter_single(self, output: torch.Tensor, source: torch.Tensor, opts: Any = _SCATTERED) -> Any:
        return self._do("reduce_scatter", opts, [output], self._scatter_sum, output, source, opts.reduceOp)

    _reduce_scatter_base = reduce_scatter_single

    def _scatter_sum(self, output: torch.Tensor, source: torch.Tensor, reduce_op: Any) -> None:
        output, source = memory.real(output), memory.real(source)
        memory.check_alike([output, source], source.dtype)
        if source.numel() != self._size * output.numel():
            raise ValueError(
                f"gradcoll: reduce_scatter of {source.numel()} elements into {output.numel()}; allowed are {self._size} "
                "times as many, one part for each rank"
            )
        reduction = memory.reduction_of(reduce_op, source.dtype)
        plain, target = memory.readable(source), memory.writable(output)
        if reduction.factor is not None:
            plain = plain * reduction.factor
        if memory.overlap(target, plain):
            target = memory.new(output.shape, output.dtype)
        count, _ = memory.words(target.numel(), 1)
        if count > 0:
            arguments = (plain.data_ptr(), target.data_ptr(), count, reduction.datatype, reduction.op, self._handle)
            _check(lib.GC_Reduce_scatter_block(*arguments))
        if reduction.is_average:
            target.div_(self._size)
        memory.give_back(output, target)

    def reduce_scatter_single_coalesced(self, outputs: Tensors, sources: Tensors, opts: Any = _SCATTERED) -> Any:
        def all_of_them() -> None:
            for output, source in zip(outputs, sources):
                self._scatter_sum(output, source, opts.reduceOp)

        outputs, sources = list(outputs), list(sources)
        return self._do("reduce_scatter_coalesced", opts, outputs, all_of_them)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def reduce_scatter(self, outputs: Tensors, sources: List[Tensors], opts: Any = _SCATTERED) -> Any:
        output, parts = _one(outputs), list(_one(sources))
        return self._do("reduce_scatter", opts, [output], self._scatter_sum_list, output, parts, opts.reduceOp)

    def _scatter_sum_list(self, output: torch.Tensor, parts: Tensors, reduce_op: Any) -> None:
        self._check_parts("reduce_scatter", parts, self._rank, output)
        vector = memory.flat([memory.real(part) for part in parts])
        if len({part.numel() for part in parts}) == 1:
            self._scatter_sum(output, vector, reduce_op)
            return
        self._sum_plain(vector, memory.reduction_of(reduce_op, vector.dtype))
        target = memory.real(output)
        first = sum(memory.real(part).numel() for part in parts[: self._rank])
        target.detach().copy_(vector[first : first + target.numel()].view(target.shape))

    def _check_parts(self, name: str, parts: Tensors, mine: int, whole: torch.Tensor) -> None:
        if len(parts) != self._size:
            raise ValueError(f"gradcoll: {name} of {len(parts)} parts; allowed are {self._size}, one for each rank")
        memory.check_alike(parts, whole.dtype)
        if parts[mine].numel() != whole.numel():
            raise ValueError(
                f"gradcoll: {name} with a part of {parts[mine].numel()} elements for rank {mine}, whose tensor has "
                f"{whole.numel()}"
            )

    # Gathers follow: those of equal parts are the library's.

    def all_gather_single(self, output: torch.Tensor, source: torch.Tensor, opts: Any = _GATHER) -> Any:
        return self._do("all_gather", opts, [output], self.gather_into, output, source)

    _allgather_base = all_gather_single

    def gather_into(self, output: torch.Tensor, source: torch.Tensor) -> None:
        memory.check_alike([output, source], source.dtype)
        if output.numel() != self._size * source.numel():
            raise ValueError(
                f"gradcoll: all_gather of {source.numel()} elements into {output.numel()}; allowed are {self._size} "
                "times as many, one part for each rank"
            )
        plain, target = memory.readable(source), memory.writable(output)
        address, count, datatype = memory.unsigned(plain)
        if address == target.data_ptr() + self._rank * memory.bytes_of(plain):
            address = IN_PLACE  # type: ignore[assignment]
        elif memory.overlap(target, plain):
            plain = plain.clone()
            address = plain.data_ptr()
        if count > 0:
            _check(lib.GC_Allgather(address, count, datatype, target.data_ptr(), count, datatype, self._handle))
        memory.give_back(output, target)

    def all_gather_single_coalesced(self, outputs: Tensors, sources: Tensors, opts: Any = _GATHER) -> Any:
        def all_of_them() -> None:
            for output, source in zip(outputs, sources):
                self.gather_into(output, source)

        outputs, sources = list(outputs), list(sources)
        return self._do("all_gather_coalesced", opts, outputs, all_of_them)

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather(self, outputs: List[Tensors], sources: Tensors, opts: Any = _GATHER) -> Any:
        parts, source = list(_one(outputs)), _one(sources)
        return self._do("all_gather", opts, parts, self._gather_list, parts, source)

    def allgather_coalesced(self, outputs: List[Tensors], sources: Tensors, opts: Any = _GATHER) -> Any:
        """outputs: for each rank a list of what it sends, or for each tensor a list of what the ranks send."""
        sources = list(sources)
        lists = [list(parts) for parts in outputs]

        def all_of_them() -> None:
            for index, source in enumerate(sources):
                self._gather_list([of_rank[index] for of_rank in lists], source)

        return self._do("all_gather_coalesced", opts, [one for parts in lists for one in parts], all_of_them)

    def _gather_list(self, parts: Tensors, source: torch.Tensor) -> None:
        self._check_parts("all_gather", parts, self._rank, source)
        plain = memory.readable(source)
        if len({part.numel() for part in parts}) > 1:
            targets = [memory.writable(part) for part in parts]
            self._gather_parts(targets, plain)
            for part, target in zip(parts, targets):
                memory.give_back(part, target)
            return
        vector = memory.new(self._size * plain.numel(), plain.dtype)
        self.gather_into(vector, plain)
        memory.spread(vector, parts)

    def _gather_parts(self, parts: Tensors, source: torch.Tensor) -> None:
        """All contiguous. The lengths of parts may differ."""
        lengths = [part.numel() for part in parts]
        if sum(lengths) == 0:
            return
        vector = memory.new(sum(lengths), source.dtype)
        self.comm.Allgatherv(memory.memory_of(source), memory.memory_in_parts(vector, lengths))
        memory.spread(vector, parts)

    def gather(self, outputs: List[Tensors], sources: Tensors, opts: Any) -> Any:
        parts, source = (list(outputs[0]) if outputs else []), _one(sources)
        return self._do("gather", opts, parts, self._gather_at, parts, source, opts.rootRank)

    def _gather_at(self, parts: Tensors, source: torch.Tensor, root: int) -> None:
        plain = memory.readable(source)
        vector = memory.new(0, plain.dtype)
        if self._rank == root:
            self._check_parts("gather", parts, root, source)
            vector = memory.new(self._size * plain.numel(), plain.dtype)
        if plain.numel() > 0:
            self.comm.Gather(memory.memory_of(plain), memory.memory_of(vector, self._size) if self._rank == root else None, root)
        if self._rank == root:
            memory.spread(vector, parts)

    def gather_single(self, output: torch.Tensor, source: torch.Tensor, opts: Any) -> Any:
        is_root = self._rank == opts.rootRank
        parts = list(output.view(self._size, -1).unbind(0)) if is_root else []
        return self._do("gather", opts, [output], self._gather_at, parts, source, opts.rootRank)

    gather_into_tensor = gather_single

    # MPI itself does what follows.

    def broadcast(self, tensors: Tensors, opts: Any) -> Any:
        tensor = _one(tensors)
        return self._do("broadcast", opts, [tensor], self._broadcast, tensor, opts.rootRank)

    def _broadcast(self, tensor: torch.Tensor, root: int) -> None:
        plain = memory.readable(tensor)
        if plain.numel() > 0:
            self.comm.Bcast(memory.memory_of(plain), root)
        if self._rank != root:
            memory.give_back(tensor, plain)

    def scatter(self, outputs: Tensors, sources: List[Tensors], opts: Any) -> Any:
        output, parts = _one(outputs), (list(sources[0]) if sources else [])
        return self._do("scatter", opts, [output], self._scatter_from, output, parts, opts.rootRank)

    def _scatter_from(self, output: torch.Tensor, parts: Tensors, root: int) -> None:
        if self._rank == root:
            self._check_parts("scatter", parts, root, output)
        if output.numel() == 0:
            return
        target = memory.writable(output)
        vector = memory.flat(parts) if self._rank == root else target
        self.comm.Scatter(memory.memory_of(vector, self._size) if self._rank == root else None, memory.memory_of(target), root)
        memory.give_back(output, target)

    def all_to_all_single(
        self, output: torch.Tensor, source: torch.Tensor, output_sizes: Sequence[int], source_sizes: Sequence[int], opts: Any
    ) -> Any:
        """Sizes are rows of the first dimension; none: equal parts."""
        arguments = (output, source, list(output_sizes), list(source_sizes))
        return self._do("all_to_all", opts, [output], self._exchange, *arguments)

    alltoall_base = all_to_all_single

    def _exchange(self, output: torch.Tensor, source: torch.Tensor, output_sizes: List[int], source_sizes: List[int]) -> None:
        memory.check_alike([output, source], source.dtype)
        plain, target = memory.readable(source), memory.writable(output)
        if memory.overlap(target, plain):
            plain = plain.clone()
        lengths = [memory.lengths_of(tensor, sizes, self._size) for tensor, sizes in ((source, source_sizes), (output, output_sizes))]
        self.comm.Alltoallv(memory.memory_in_parts(plain, lengths[0]), memory.memory_in_parts(target, lengths[1]))
        memory.give_back(output, target)

    def alltoall(self, outputs: Tensors, sources: Tensors, opts: Any) -> Any:
        outputs, sources = list(outputs), list(sources)
        return self._do("all_to_all", opts, outputs, self._exchange_lists, outputs, sources)

    def _exchange_lists(self, outputs: Tensors, sources: Tensors) -> None:
        if len(outputs) != self._size or len(sources) != self._size:
            raise ValueError(f"gradcoll: all_to_all of lists of {len(sources)} and {len(outputs)}; allowed are {self._size}")
        memory.check_alike(sources + outputs, sources[0].dtype)
        lengths = [[part.numel() for part in parts] for parts in (sources, outputs)]
        vector, target = memory.flat(sources), memory.new(sum(lengths[1]), sources[0].dtype)
        self.comm.Alltoallv(memory.memory_in_parts(vector, lengths[0]), memory.memory_in_parts(target, lengths[1]))
        memory.spread(target, outputs)

    def barrier(self, opts: Any = c10d.BarrierOptions()) -> Any:
        return self._do(BARRIER, opts, [], self._barrier, opts)

    def _barrier(self, opts: Any) -> None:
        """Leaves MPI's barrier where ranks are late; the group is of no use then."""
        if not self._messages.barrier(limit := self._calls.limit_of(opts)):
            self._has_left_a_barrier = True
            raise self._calls.fail_late(BARRIER, limit)

    # Messages are MPI's, too.

    def send(self, tensors: Tensors, rank: int, tag: int = 0) -> Any:
        return self._message(self._messages.send(_one(tensors), rank, tag))

    def recv(self, tensors: Tensors, rank: int, tag: int = 0) -> Any:
        return self._message(self._messages.receive(_one(tensors), rank, tag))

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> Any:
        return self._message(self._messages.receive(_one(tensors), MPI.ANY_SOURCE, tag))

    def monitored_barrier(self, opts: Any, wait_all_ranks: bool = False) -> None:
        seconds = opts.timeout.total_seconds()
        self._messages.meet(seconds if seconds >= 0 else self._calls.limit, wait_all_ranks)

    def _message(self, request: Any) -> Any:
        if self._coalesced is not None:
            self._coalesced.append(request)
        return request
