"""What launchers say of the job, beside what MPI says: where they differ, ranks would sum alone without a word."""

from __future__ import annotations

import os
import sys
from typing import Iterator, Optional, Tuple

from mpi4py import MPI

_OF_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")  # set by MPI's own launchers


def _number(variable: str) -> Optional[int]:
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() else None


def _sizes_said() -> Iterator[Tuple[str, int]]:
    """How many processes the job has, by each of those who tell. A step of Slurm's may be the daemons of mpirun."""
    is_of_mpi = any(variable in os.environ for variable in _OF_MPI)
    for variable in ("WORLD_SIZE", *(_OF_MPI if is_of_mpi else ("SLURM_STEP_NUM_TASKS",))):
        number = _number(variable)
        if number is not None:
            yield f"{variable} is {number}", number
    dist = sys.modules.get("torch.distributed")
    if dist is not None and dist.is_available() and dist.is_initialized():
        yield f"torch's process group has {dist.get_world_size()}", dist.get_world_size()


def processes_said() -> int:
    """How many processes the job has: the most that MPI or a launcher tells of. Local."""
    of_mpi = MPI.COMM_WORLD.size if MPI.Is_initialized() and not MPI.Is_finalized() else 1
    return max([of_mpi, *(number for _, number in _sizes_said())])


def check_world() -> None:
    """RuntimeError if MPI.COMM_WORLD has one process, and a launcher has started more. Local."""
    if not MPI.Is_initialized() or MPI.Is_finalized() or MPI.COMM_WORLD.size > 1:
        return
    for said, number in _sizes_said():
        if number > 1:
            raise RuntimeError(
                f"MPI.COMM_WORLD has 1 process, but {said}: each process would sum alone. Start the program with the "
                f"launcher of mpi4py's MPI (mpirun -n {number} python ...). What is to sum alone takes "
                "comm=MPI.COMM_SELF"
            )


def check_ranks_of_launcher(comm: MPI.Comm) -> None:
    """RuntimeError on all ranks of `comm` if RANK and WORLD_SIZE, which torchrun sets, are not those of
    MPI.COMM_WORLD on one of them. Collective."""
    world = MPI.COMM_WORLD
    for rank, theirs in enumerate(comm.allgather(_differs("WORLD_SIZE", world.size) or _differs("RANK", world.rank))):
        if theirs:
            raise RuntimeError(
                f"{theirs} (rank {rank} of comm): the process group would not be that of the launcher. Start the program "
                "with mpirun alone, not with torchrun, or unset RANK and WORLD_SIZE where they mean something else"
            )


def _differs(variable: str, of_world: int) -> Optional[str]:
    number = _number(variable)
    if number is None or number == of_world or _number("WORLD_SIZE") is None:
        return None
    return f"{variable} is {number}, but that of MPI.COMM_WORLD is {of_world}"


def check_ranks_of_group(comm: MPI.Comm, rank: int, size: int) -> None:
    """RuntimeError on all ranks of `comm` if torch's default group numbers a process otherwise. Collective."""
    mine = None
    if (rank, size) != (comm.rank, comm.size):
        mine = (
            f"torch's process group has this process as rank {rank} of {size} (RANK, WORLD_SIZE), MPI as rank {comm.rank} "
            f"of {comm.size}"
        )
    for other, theirs in enumerate(comm.allgather(mine)):
        if theirs:
            raise RuntimeError(f"gradcoll: {theirs} (rank {other} of MPI). {_way_out(comm, size)}")


def _way_out(comm: MPI.Comm, size: int) -> str:
    library = MPI.Get_library_version().strip("\0 \n").splitlines()[0].split(",")[0]
    if comm.size > 1:
        return "Start with one launcher, and unset RANK and WORLD_SIZE where they mean something else"
    return (
        f"Start the program with the launcher of mpi4py's MPI ({library}): mpirun -n {size} python ...; torchrun alone can "
        "start MPICH and Intel MPI, if gradcoll or its backend is there before mpi4py.MPI is imported"
    )
