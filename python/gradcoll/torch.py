"""Communication hooks for torch.nn.parallel.DistributedDataParallel, and an optimizer for programs without it.

    import torch, gradcoll.torch
    gradcoll.torch.init_process_group()                       # Gloo, over the ranks of MPI
    model = torch.nn.parallel.DistributedDataParallel(model)
    model.register_comm_hook(gradcoll.torch.State(codec="int8"), gradcoll.torch.allreduce_hook)

allreduce_hook sums one bucket of gradients after another over the tree, in a thread of its state beside
the backward pass. engine_hook hands every gradient to an engine, by its parameter's name:

    model.register_comm_hook(gradcoll.torch.EngineState(model), gradcoll.torch.engine_hook)

Process groups go on doing everything else. EngineOptimizer needs none. ShardedState is for models that fully_shard has
sharded.

The import also makes "gradcoll" a backend of torch.distributed: init_process_group("gradcoll") under torchrun, or
init_process_group(backend="gradcoll") of this module under mpirun.

LayerRecorder and Mover let what autograd saves leave the device and come back as a plan of
gradcoll move says.
"""

import socket
import warnings
import weakref
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import torch
import torch.distributed as dist
from mpi4py import MPI

from ._capi import handle
from ._collectives import EXACT, allreduce
from ._comms import attach, set_codec, set_option, set_step
from ._errors import Error, comm_or_world, show, text_argument
from ._launcher import check_ranks_of_launcher
from ._residual import Residual
from ._streams import Streams, is_on_device
from ._torch_alone import watch
from ._torch_checks import agree, check_alike, check_ranks, from_the_start, is_one_host, whole
from ._torch_engine import EngineState, engine_hook
from ._torch_fsdp import ShardedState
from ._torch_mover import LayerRecorder, Mover, MoverStats
from ._torch_optimizer import EngineOptimizer
from ._torch_works import Later
from ._torch_world import comm_of, options, register, use

__all__ = [
    "EngineOptimizer",
    "EngineState",
    "LayerRecorder",
    "Mover",
    "MoverStats",
    "ShardedState",
    "State",
    "allreduce_hook",
    "comm_of",
    "engine_hook",
    "init_process_group",
    "options",
]

register()
watch()


class _Layout(NamedTuple):
    """Which gradients lie where in a bucket: what was dropped there belongs nowhere else."""

    index: int
    count: int
    dtype: str
    shapes: Tuple[Tuple[int, ...], ...]


class _Kept(NamedTuple):
    residual: Residual
    layout: _Layout
    parameters: List["weakref.ref[torch.Tensor]"]  # shapes alone may be equal by chance

    def is_for(self, layout: _Layout, parameters: List[torch.Tensor]) -> bool:
        return self.layout == layout and all(ref() is mine for ref, mine in zip(self.parameters, parameters))


class State:
    """How the hook sums, and what it keeps between steps.

    comm: an mpi4py communicator whose ranks are those of the model's process group; None is
        MPI.COMM_WORLD. The state works on a duplicate of its own, so that settings of `comm` stay.
    codec: "int8", "bf16", "2:4", ...; "exact" for none. With int8 the loss of three small
        networks stayed within 0.3 % of that with exact sums, with 2:4 it did not (docs/training.md).
    error_feedback: what a codec drops in one step is added in the next.
    min_bytes: smaller buckets are summed exactly.
    warmup_steps: exact sums in the first steps, when gradients are large and change quickly.
    average: divide by the number of ranks (before the sum, as DistributedDataParallel does).
    process_group: the model's, if it is not the default one.
    options: more settings of the duplicate by info key, such as {"gc_codec": "down=bf16"}.

    Construction is local. The first step, attach() and load_state_dict() are collective.
    """

    def __init__(
        self,
        comm: Any = None,
        codec: str = "int8",
        error_feedback: bool = True,
        min_bytes: int = 64 * 1024,
        warmup_steps: int = 0,
        average: bool = True,
        process_group: Any = None,
        options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        text_argument("codec", codec)
        self.comm = comm_or_world(comm)
        self.codec = codec
        self.error_feedback = bool(error_feedback)
        self.min_bytes = whole("min_bytes", min_bytes)
        self.warmup_steps = whole("warmup_steps", warmup_steps)
        self.average = bool(average)
        self.options = dict(options or {})
        self.process_group = process_group
        self.step = 0
        self._own: Optional[MPI.Comm] = None
        self._streams: Optional[Streams] = None  # behind which calls on `_own` begin
        self._later: Optional[Later] = None
        self._kept: Dict[int, _Kept] = {}
        self._restored: List[Tuple[_Layout, Residual]] = []
        self._unpickled: Optional[Dict[str, Any]] = None

    def attach(self) -> MPI.Comm:
        """The state's own communicator, made at the first call. Collective then."""
        if self._own is None:
            check_ranks(self.comm, self.process_group)
            check_alike(self.comm, {"average": self.average, "error_feedback": self.error_feedback})
            own = self.comm.Dup()
            try:
                self._choose_settings(own)
            except Exception:
                own.Free()
                raise
            self._own, self._streams = own, Streams(handle(own), own.name)
            if self._unpickled is not None:
                saved, self._unpickled = self._unpickled, None
                self.load_state_dict(saved)
        return self._own

    def close(self) -> None:
        """Frees residuals and communicator. Collective. The state can be used again."""
        later, self._later = self._later, None
        if later is not None:
            later.end()
        for residual in [kept.residual for kept in self._kept.values()] + [r for _, r in self._restored]:
            residual.free()
        self._kept, self._restored = {}, []
        own, self._own, self._streams = self._own, None, None
        if own is not None:
            own.Free()

    def scale_residuals(self, factor: float) -> None:
        """After a change of the loss scale by `factor`: what was dropped before was of the old one. Local."""
        for residual in [kept.residual for kept in self._kept.values()] + [r for _, r in self._restored]:
            residual.scale(factor)

    def state_dict(self) -> Dict[str, Any]:
        """What this rank needs to go on after a restart; every rank saves its own."""
        entries = [(kept.layout, kept.residual) for kept in self._kept.values()] + self._restored
        return {
            "step": self.step,
            "rank": self.comm.rank,
            "ranks": self.comm.size,
            "residuals": [{**layout._asdict(), "bytes": residual.save()} for layout, residual in entries],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Restores what state_dict() gave. Collective, and all ranks fail if one does.

        A residual is used again when a bucket with the same gradients comes by: buckets that
        DistributedDataParallel lays out anew after its first step begin with zeros."""
        own = self.attach()
        restored: List[Tuple[_Layout, Residual]] = []
        failure = None
        try:
            layouts = self._check_saved(saved)
        except (KeyError, TypeError, ValueError) as error:
            failure, layouts = error, []
        agree(own, failure, layouts)
        for layout, entry in zip(layouts, saved["residuals"]):
            residual = Residual(own, torch.empty(layout.count, dtype=getattr(torch, layout.dtype)))
            restored.append((layout, residual))
            try:
                residual.load(entry["bytes"])
            except (Error, KeyError, TypeError) as error:
                failure = failure or error
        try:
            agree(own, failure, layouts)
        except Exception:
            for _, residual in restored:
                residual.free()
            raise
        for kept in self._kept.values():
            kept.residual.free()
        self._kept, self._restored = {}, restored
        self.step = saved["step"]
        set_step(own, self.step)

    def sum_bucket(self, bucket: Any) -> "torch.futures.Future[torch.Tensor]":
        """Of the bucket's buffer, with its gradients summed (or averaged) over all ranks. Without MPI_THREAD_MULTIPLE it is
        complete."""
        self.attach()
        assert self._streams is not None
        if self._later is None:
            self._later = Later("gradcoll.allreduce_hook", is_beside=MPI.Query_thread() >= MPI.THREAD_MULTIPLE)
        gradients = from_the_start(bucket.buffer())
        arguments = (gradients, _layout_of(bucket, gradients), bucket.parameters(), bucket.is_last())
        return self._later.do(lambda: self._sum(*arguments), gradients, self._streams.order([gradients], ()))

    def _sum(self, gradients: torch.Tensor, layout: _Layout, parameters: List[torch.Tensor], is_last: bool) -> None:
        own = self.attach()
        if is_on_device(gradients):
            assert self._streams is not None
            self._streams.follow(gradients.device)
        if self.average:
            gradients.div_(own.size)
        allreduce(gradients, own, out=gradients, residual=self._residual_for(layout, parameters, gradients))
        if is_last:
            self.step += 1
            set_step(own, self.step)

    def __getstate__(self) -> Dict[str, Any]:
        """Communicators and process groups belong to one process: they are left out."""
        left_out = ("comm", "process_group", "_own", "_streams", "_later", "_kept", "_restored", "_unpickled")
        kept = {name: value for name, value in self.__dict__.items() if name not in left_out}
        is_world = self.comm == MPI.COMM_WORLD and self.process_group is None
        return {**kept, "saved": self._unpickled or self.state_dict(), "is_world": is_world}

    def __setstate__(self, pickled: Dict[str, Any]) -> None:
        """On MPI.COMM_WORLD; residuals are restored with the first step."""
        pickled = dict(pickled)
        saved, is_world = pickled.pop("saved"), pickled.pop("is_world")
        self.__init__()  # type: ignore[misc]
        self.__dict__.update(pickled)
        self._unpickled = saved
        if not is_world:
            warnings.warn(
                "gradcoll.torch.State: its communicator or process group was not pickled; set .comm and "
                ".process_group, or it uses MPI.COMM_WORLD and the default group",
                stacklevel=2,
            )

    def _choose_settings(self, own: MPI.Comm) -> None:
        attach(own)
        set_option(own, "gc_compress_bytes", self.min_bytes)
        if self.warmup_steps > 0:
            set_option(own, "gc_codec", f"0:exact,{self.warmup_steps}:{self.codec}")
        else:
            set_codec(own, self.codec)
        for key, value in self.options.items():
            set_option(own, key, value)
        set_step(own, self.step)

    def _residual_for(self, layout: _Layout, parameters: List[torch.Tensor], gradients: torch.Tensor) -> Optional[Residual]:
        """None where the sum is exact."""
        size_bytes = gradients.numel() * gradients.element_size()
        is_exact = self.codec in EXACT or self.step < self.warmup_steps or size_bytes < self.min_bytes
        if is_exact or not self.error_feedback:
            return None
        kept = self._kept.get(layout.index)
        if kept is not None and kept.is_for(layout, parameters):
            return kept.residual
        if kept is not None:
            kept.residual.free()
        residual = self._take_restored(layout) or Residual(self.attach(), gradients)
        self._kept[layout.index] = _Kept(residual, layout, [weakref.ref(parameter) for parameter in parameters])
        return residual

    def _take_restored(self, layout: _Layout) -> Optional[Residual]:
        for at, (restored, residual) in enumerate(self._restored):
            if restored == layout:
                del self._restored[at]
                return residual
        return None

    def _check_saved(self, saved: Mapping[str, Any]) -> List[_Layout]:
        for name, mine in (("rank", self.comm.rank), ("ranks", self.comm.size)):
            if saved[name] != mine:
                raise ValueError(f"the saved state's {name} is {show(saved[name])}; allowed is {mine}")
        whole("the saved state's step", saved["step"])
        layouts = []
        for entry in saved["residuals"]:
            shapes = tuple(tuple(shape) for shape in entry["shapes"])
            count = whole("the saved state's count", entry["count"])
            if not isinstance(getattr(torch, str(entry["dtype"]), None), torch.dtype):
                raise ValueError(f"the saved state's dtype is {show(entry['dtype'])}")
            layouts.append(_Layout(whole("the saved state's index", entry["index"]), count, entry["dtype"], shapes))
        return layouts


# DistributedDataParallel looks at these annotations, so that they are types and not strings.
def allreduce_hook(state: State, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """For DistributedDataParallel.register_comm_hook(State(...), allreduce_hook)."""
    if not isinstance(state, State):
        raise TypeError(f"state is {show(state)} ({type(state).__name__}); allowed is a gradcoll.torch.State")
    return state.sum_bucket(bucket)


def _open_store(*place: Any, **arguments: Any) -> dist.TCPStore:
    """A store by libuv, which torch takes by itself from 2.4 on, or, where it was built without that, as Debian's, the other one."""
    try:
        return dist.TCPStore(*place, **arguments)
    except RuntimeError as error:
        if "libuv" not in str(error):
            raise
        return dist.TCPStore(*place, **arguments, use_libuv=False)


def init_process_group(comm: Any = None, backend: str = "gloo", **arguments: Any) -> None:
    """torch.distributed.init_process_group with the ranks of `comm`. Collective.

    Rank 0 opens the store at a free port and tells the others through MPI: no launcher's variables
    are needed, and where torchrun's say something else it is an error. `arguments` go to torch.distributed.init_process_group."""
    comm = comm_or_world(comm)
    check_ranks_of_launcher(comm)
    host = "127.0.0.1" if is_one_host(comm) else socket.gethostname()
    store, port, failure = None, 0, None
    if comm.rank == 0:
        try:
            store = _open_store(host, 0, comm.size, True, wait_for_workers=False)
            port = store.port
        except (OSError, RuntimeError) as error:
            failure = str(error)
    host, port, failure = comm.bcast((host, port, failure))
    if failure is not None:
        raise RuntimeError(f"the store of the process group cannot be opened on rank 0: {failure}")
    if store is None:
        store = _open_store(host, port, comm.size, False)
    use(comm)
    dist.init_process_group(backend, store=store, rank=comm.rank, world_size=comm.size, **arguments)


def _layout_of(bucket: Any, gradients: torch.Tensor) -> _Layout:
    shapes = tuple(tuple(parameter.shape) for parameter in bucket.parameters())
    return _Layout(bucket.index(), gradients.numel(), str(gradients.dtype).replace("torch.", ""), shapes)
