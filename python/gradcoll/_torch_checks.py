"""What everything in gradcoll.torch checks."""

from typing import Any, Optional

import torch
import torch.distributed as dist
from mpi4py import MPI

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


def check_device(gradients: torch.Tensor) -> None:
    if gradients.device.type != "cpu":
        raise TypeError(
            f"gradients are on {gradients.device}; allowed is the CPU: this module hands over host memory only (GC_ calls "
            "of C also take device memory), and a copy through the host is not made unasked"
        )


def whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {show(value)} ({type(value).__name__}); allowed are ints from 0")
    if value < 0:
        raise ValueError(f"{name} is {value}; allowed are ints from 0")
    return value
