"""Starts MPI where torchrun has started the processes: one world instead of as many worlds of one.

MPICH, and what is made from it, ask a server of PMI-1 who the others are. Rank 0 starts one (_pmi.py), tells the others
by torch's store where it is, and every process connects to it and names the connection in PMI_FD, before MPI_Init.
Under a launcher of MPI's own nothing is done.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Mapping

_OF_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_OF_LAUNCHERS = ("PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "MPIEXEC_HOSTNAME")
_STARTED = "_GRADCOLL_MPI_STARTED"  # set for what this process starts, such as workers that load data: they are not its rank
_CONNECT_SECONDS = 60.0
_SPEAK_PMI = ("MPICH", "Intel(R) MPI", "MVAPICH")
_kept: Any = None  # the store, whose server may be in this process, and the server of PMI


def is_needed(environment: Mapping[str, str]) -> bool:
    """Whether torchrun, or what sets the same variables, has started several processes, and no launcher of MPI's."""
    if any(not environment.get(name) for name in _OF_TORCHRUN) or any(name in environment for name in (*_OF_LAUNCHERS, _STARTED)):
        return False
    size = environment["WORLD_SIZE"]
    return size.isdecimal() and int(size) > 1


def _mpi_of_mpi4py() -> Any:
    """The module mpi4py.MPI, which looks for an MPI library. ImportError if there is none."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # of an mpi4py that is linked with MPI, and of one that looks for it
        raise ImportError(
            f"gradcoll: mpi4py has found no MPI ({' '.join(str(error).split())}); pip install gradcoll[mpich] brings one"
        ) from None
    return MPI


def start_mpi() -> None:
    """Before anything imports mpi4py.MPI, which starts MPI. Where it is not needed it imports that, no more. Collective.

    With an MPI that does not speak PMI-1 each process gets a world of one, and whoever uses it an error that says so."""
    import mpi4py

    is_ours = "mpi4py.MPI" not in sys.modules and is_needed(os.environ) and mpi4py.rc.initialize  # else the program starts MPI itself
    if is_ours:
        mpi4py.rc.initialize = False
        mpi4py.rc.finalize = True
    MPI = _mpi_of_mpi4py()
    if not is_ours or MPI.Is_initialized():
        return
    levels = {"single": MPI.THREAD_SINGLE, "funneled": MPI.THREAD_FUNNELED, "serialized": MPI.THREAD_SERIALIZED}
    level = levels.get(mpi4py.rc.thread_level, MPI.THREAD_MULTIPLE) if mpi4py.rc.threads else MPI.THREAD_SINGLE
    if MPI.Get_library_version().startswith(_SPEAK_PMI):
        connection = _connect()
        os.environ.update(PMI_FD=str(connection.fileno()), PMI_RANK=os.environ["RANK"], PMI_SIZE=os.environ["WORLD_SIZE"])
        connection.detach()
        MPI.Init_thread(level)
        for name in ("PMI_FD", "PMI_RANK", "PMI_SIZE"):
            del os.environ[name]
    else:
        MPI.Init_thread(level)
    os.environ[_STARTED] = "1"


def _connect() -> socket.socket:
    """To the server that rank 0 starts."""
    global _kept
    import torch.distributed as dist

    store, rank, size = next(iter(dist.rendezvous("env://")))
    server = None
    if rank == 0:
        server, place = _serve(size)
        store.set("gradcoll/pmi", place)
    _kept = (store, server)
    deadline = time.monotonic() + _CONNECT_SECONDS
    while True:
        place = store.get("gradcoll/pmi").decode()
        try:
            return _connected(rank, place, max(1.0, deadline - time.monotonic()))
        except OSError as error:
            if time.monotonic() > deadline:
                raise RuntimeError(_unreachable(rank, place, error)) from None
            time.sleep(0.1)  # what torchrun starts anew finds the place of the server before in the store, until rank 0 has started one


def _connected(rank: int, place: str, seconds: float) -> socket.socket:
    """A connection that the server has taken. It blocks, as MPI expects it."""
    host, port, secret = place.split()
    connection = socket.create_connection((host, int(port)), timeout=seconds)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"{secret} {rank}\n".encode())
        if connection.recv(3) != b"ok\n":
            raise ConnectionRefusedError(f"it has refused rank {rank}")
        connection.settimeout(None)
    except OSError:
        connection.close()
        raise
    return connection


def _unreachable(rank: int, place: str, error: OSError) -> str:
    host, port, _ = place.split()
    return (
        f"gradcoll: rank {rank} on {socket.gethostname()} cannot reach the server of PMI that rank 0 has started at {host}:{port} "
        f"({error}), so that MPI cannot start. The host is MASTER_ADDR: give torchrun an address of rank 0's host that all hosts "
        "reach (--master-addr, --rdzv-endpoint), and let connections to its ports through. Or start with the MPI's own mpiexec"
    )


def _serve(size: int) -> Any:
    """The server's process, and what the others need to reach it."""
    is_one_host = os.environ.get("LOCAL_WORLD_SIZE") == str(size)
    address, host = ("127.0.0.1", "127.0.0.1") if is_one_host else ("", os.environ["MASTER_ADDR"])
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_pmi.py")), str(size), address]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    secret = secrets.token_hex(16)
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(f"{secret}\n".encode())
    server.stdin.flush()
    port = server.stdout.readline().decode().strip()
    if not port:
        raise RuntimeError("gradcoll: the server of PMI did not start")
    return server, f"{host} {port} {secret}"
