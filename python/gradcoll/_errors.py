"""From return codes to exceptions, and the checks of arguments that all calls share."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from mpi4py import MPI

from ._capi import MAX_ERROR_STRING, lib
from ._launcher import check_world


class Error(RuntimeError):
    """What the library or MPI refused. `code` is the MPI error code that the C call returned."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


def show(value: Any) -> str:
    """A value for a message: short, and never an array's contents."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else type(value).__name__


def comm_or_world(comm: Any) -> MPI.Comm:
    if comm is None:
        comm = MPI.COMM_WORLD
    if not isinstance(comm, MPI.Comm):
        raise TypeError(
            f"comm is {show(comm)} ({type(comm).__name__}); allowed are mpi4py communicators, and None for "
            "MPI.COMM_WORLD"
        )
    if comm == MPI.COMM_NULL:
        raise ValueError("comm is MPI.COMM_NULL: it has been freed, or this rank is not a member")
    if comm == MPI.COMM_WORLD:
        check_world()
    return comm


def text_argument(name: str, value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {show(value)} ({type(value).__name__}); allowed is a str")
    if "\0" in value:
        raise ValueError(f"{name} is {value!r}; a zero character is not allowed")
    return value.encode()


def call(comm: Optional[MPI.Comm], function: Any, *arguments: Any) -> None:
    """Calls a GC_ function whose failures go to the error handler of `comm` (None or a freed one: of
    MPI.COMM_WORLD), and raises them. The thread's other Python threads go on meanwhile."""
    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise Error(MPI.ERR_OTHER, f"{function.__name__}: called before MPI_Init or after MPI_Finalize")
    if comm is None or comm == MPI.COMM_NULL:
        comm = MPI.COMM_WORLD
    handler = comm.Get_errhandler()
    try:
        if handler == MPI.ERRORS_RETURN:
            code = function(*arguments)
        else:
            code = _call_with_errors_returned(comm, handler, function, arguments)
    finally:
        handler.Free()
    if code != MPI.SUCCESS:
        raise Error(code, _text_of(code))


def _call_with_errors_returned(comm: MPI.Comm, handler: MPI.Errhandler, function: Any, arguments: Any) -> int:
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        return function(*arguments)
    finally:
        if comm != MPI.COMM_NULL:
            comm.Set_errhandler(handler)


def _text_of(code: int) -> str:
    text = ctypes.create_string_buffer(MAX_ERROR_STRING)
    lib.GC_Error_string(code, text, None)
    return text.value.decode(errors="replace")
