"""From torch's process groups to communicators of MPI: registration, and which processes a group has."""

from __future__ import annotations

import zlib
from typing import Any, List, Mapping, Optional

import torch
import torch.distributed as dist
from mpi4py import MPI
from torch._C import _distributed_c10d as c10d

from ._comms import attach, settings_of
from ._launcher import check_ranks_of_group
from ._torch_backend import NAME, Backend
from ._torch_works import end_with_the_program



def _takes_backends_of_python() -> bool:
    """torch 2.6 has the class, and lets only C++ make one; 1.13 has no such class."""
    if not hasattr(c10d, "Backend"):
        return True
    try:
        type("Probe", (c10d.Backend,), {"__init__": lambda self: c10d.Backend.__init__(self, 0, 1)})()
    except TypeError:
        return False
    return True


_is_for_python = _takes_backends_of_python()
_backends: List[Backend] = []  # torch alone does not keep a backend that Python has made
_next: Optional[MPI.Comm] = None  # for the default group that comes
_world: Optional[MPI.Comm] = None  # whose ranks are those of the default group that is there
_is_registered = False


def keep(backend: Backend) -> Backend:
    _backends[:] = [other for other in _backends if other.comm != MPI.COMM_NULL] + [backend]
    return backend


def register() -> None:
    """Makes "gradcoll" a name of torch.distributed. A second time it does nothing."""
    global _is_registered
    if _is_registered:
        return
    _is_registered = True
    arguments: Any = {} if not hasattr(dist.Backend, "default_device_backend_map") else {"devices": ["cpu", "cuda"]}
    dist.Backend.register_backend(NAME, _create, extended_api=True, **arguments)


def use(comm: MPI.Comm) -> None:
    """The next default group has the ranks of `comm`, and not those of MPI.COMM_WORLD."""
    global _next
    _next = comm


def _create(options: Any, _: Any = None) -> Backend:
    """What torch calls for a group, on its members. Collective among these."""
    if not _is_for_python:
        raise RuntimeError(
            f"gradcoll: torch {torch.__version__} takes no backend that is made in Python, as 2.15 does; the hooks of "
            "DistributedDataParallel and EngineOptimizer, over Gloo, do without (gradcoll.torch.init_process_group())"
        )
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise RuntimeError("gradcoll: the backend needs an MPI with MPI_THREAD_MULTIPLE, which mpi4py asks for by default")
    if not _backends:
        end_with_the_program()
    global _next, _world
    members = list(options.global_ranks_in_group)
    name = getattr(options, "group_id", "") or ("default" if not members else ",".join(map(str, members)))
    world = _world or MPI.COMM_WORLD
    if not members:
        world, _next = _next or MPI.COMM_WORLD, None
        check_ranks_of_group(world, options.group_rank, options.group_size)
        _world = world
        comm = world.Dup()
    else:
        group = world.Get_group().Incl(members)
        comm = world.Create_group(group, zlib.crc32(name.encode()) % 32768)
        group.Free()
    backend = keep(Backend(comm, options.store, name, options.timeout))
    if not members:  # Nothing is computed yet, which would disturb the measuring of the network.
        backend.do_beside("attach", [], lambda: attach(comm)).wait()
    return backend


def comm_of(group: Any = None) -> MPI.Comm:
    """A communicator with the ranks of a process group of the backend "gradcoll" (None: the default group), for what MPI can
    do beside torch, and for hooks. Made at the first call, which is collective, and freed with the group.

    Errors: ValueError for groups of other backends."""
    return backend_of(group).duplicate()


def options(group: Any = None, codec: Optional[str] = None, settings: Optional[Mapping[str, Any]] = None) -> None:
    """How the reductions of a process group of the backend "gradcoll" (None: the default group) travel from now on.
    Collective; it comes behind the calls that were made before.

    codec: "bf16", "int8", "2:4", ... for sums and averages of floating-point tensors that are long enough; "exact" for none.
        Nothing is kept of what a codec drops: that is what the hooks do. Gathers and broadcasts stay exact.
    settings: others by info key, such as {"gc_compress_bytes": "1M", "gc_tolerance": "abs=1e-4"}.

    Errors: ValueError for groups of other backends; gradcoll.Error for what the library refuses."""
    backend_of(group).configure(settings_of(codec, settings))


def backend_of(group: Any) -> Backend:
    group = group if group is not None else dist.distributed_c10d._get_default_group()
    for backend in _backends:
        if backend is group or _is_inside(backend, group):
            return backend
    raise ValueError(f"gradcoll: the process group is not of the backend {NAME!r}")


def _is_inside(backend: Backend, group: Any) -> bool:
    """Whether torch's process group hands the backend tensors of some device."""
    for device in ("cpu", "cuda") if hasattr(group, "_get_backend") else ():
        try:
            if group._get_backend(torch.device(device)) is backend:
                return True
        except RuntimeError:  # no backend for that device
            pass
    return False
