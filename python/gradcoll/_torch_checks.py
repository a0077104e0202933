"""What everything in gradcoll.torch checks."""

import sys
from typing import Any, Mapping, Optional

import torch
import torch.distributed as dist
from mpi4py import MPI

from ._buffers import check_tensor
from ._errors import show


def agree(comm: MPI.Comm, failure: Optional[Exception], claim: Any) -> None:
    """Raises on every rank if one has failed, or if the ranks restore residuals of different gradients."""
    claims = comm.allgather((None if failure is None else f"{type(failure).__name__}: {failure}", claim))
    if failure is not None:
        raise failure
    for rank, (complaint, theirs) in enumerate(claims):
        if complaint is not None:
            raise ValueError(f"the saved state of rank {rank} cannot be restored: {complaint}")
        if theirs != claims[0][1]:
            raise ValueError(f"the saved states of ranks 0 and {rank} hold residuals of different gradients")


def check_alike(comm: MPI.Comm, facts: Mapping[str, Any]) -> None:
    """ValueError on all ranks that names the first fact that one of them has other than rank 0. Collective."""
    all_facts = comm.allgather({name: str(value) for name, value in facts.items()})
    for rank, theirs in enumerate(all_facts):
        for name in {**all_facts[0], **theirs}:
            first, other = (those.get(name, "not there") for those in (all_facts[0], theirs))
            if first != other:
                raise ValueError(f"{name} is {first} on rank 0 and {other} on rank {rank}; allowed is the same on all ranks")


def check_ranks(comm: MPI.Comm, process_group: Any) -> None:
    """The process group must number processes as the communicator does, if there is one. Collective."""
    if not (dist.is_available() and dist.is_initialized()):
        return
    mine = (comm.rank, comm.size)
    groups = (dist.get_rank(process_group), dist.get_world_size(process_group))
    if not comm.allreduce(mine == groups, MPI.LAND):
        raise ValueError(
            f"comm has this process as rank {mine[0]} of {mine[1]}, its process group as rank {groups[0]} of "
            f"{groups[1]}; allowed is that they agree on every rank (gradcoll.torch.init_process_group sees to it)"
        )


def is_one_host(comm: MPI.Comm) -> bool:
    """Whether all ranks share memory. Collective."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    alone = host.size == comm.size
    host.Free()
    return comm.allreduce(alone, MPI.LAND)


def check_model(model: torch.nn.Module) -> None:
    """TypeError for a model whose gradients are not whole on each rank."""
    sharded = getattr(sys.modules.get("torch.distributed.fsdp"), "FullyShardedDataParallel", ())
    if any(isinstance(part, sharded) for part in model.modules()):
        raise TypeError("model is sharded by FullyShardedDataParallel, which sums gradients itself; allowed are whole models")
    for name, parameter in model.named_parameters():
        check_tensor(f"parameter {name!r}", parameter)


def from_the_start(buffer: torch.Tensor) -> torch.Tensor:
    """A bucket's buffer as a hook's future may hold it: torch reads what it holds from the start of its storage."""
    check_tensor("the bucket's buffer", buffer)
    lies_so = buffer.is_contiguous() and buffer.storage_offset() == 0 and not buffer.is_neg()
    return buffer if lies_so else torch.empty(buffer.shape, dtype=buffer.dtype, device=buffer.device).copy_(buffer)


def whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {show(value)} ({type(value).__name__}); allowed are ints from 0")
    if value < 0:
        raise ValueError(f"{name} is {value}; allowed are ints from 0")
    return value
