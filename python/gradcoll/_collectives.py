"""allreduce."""

from __future__ import annotations

from typing import Any, Optional, TypeVar

from mpi4py import MPI

from ._buffers import Buffer, buffer_of, fits, note_change, op_of, result_of
from ._capi import handle, lib
from ._comms import codec_for_a_while
from ._errors import call, comm_or_world, show, text_argument
from ._residual import Residual
from ._streams import lead

Array = TypeVar("Array")

EXACT = ("exact", "4:4", "off", "none")  # the names of the codec that loses nothing


def allreduce(
    array: Array,
    comm: Any = None,
    op: Any = "sum",
    out: Optional[Array] = None,
    codec: Optional[str] = None,
    residual: Optional[Residual] = None,
    tolerance: Optional[str] = None,
) -> Array:
    """The reduction of every rank's `array`, on every rank. Collective.

    array: a numpy array or a torch tensor, the same shape and type on all ranks; what is not
        contiguous is copied first. One on a device is summed there, behind the work of its current stream.
    comm: an mpi4py communicator; None is MPI.COMM_WORLD.
    op: "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor", or an mpi4py op.
    out: where the result goes, `array` itself for a reduction in place; None: a new array.
    codec: for this call alone; None is the communicator's. The plans of the communicator are made
        anew before and after, which takes longer than a small sum: for many calls use set_codec.
    residual: keeps what the codec dropped, and adds it in the next call with the same residual.
    tolerance: "abs=1e-4" or "range=1e-4", for this call alone, as costly as `codec`: no element of the
        result is further off, or off by more than that part of the range of all inputs. Without a
        codec it is kept by `bound`, between hosts.

    Returns `out`, or the new array. Errors: TypeError and ValueError naming the argument; Error.
    """
    comm = comm_or_world(comm)
    source = buffer_of("array", array, copy=True)
    target = result_of(array, source, out)
    op_handle = op_of(op, source)
    if residual is not None:
        _check_residual(residual, comm, source)
    arguments = (comm, source, target, op_handle, residual)
    if codec is None and tolerance is None:
        _reduce(*arguments)
    else:
        if codec is not None:
            check_codec(codec, source, op)
        if tolerance is not None:
            check_tolerance(tolerance, source, op)
        with codec_for_a_while(comm, codec, tolerance):
            _reduce(*arguments)
    note_change(out)
    return target.array if out is None else out


def check_codec(codec: Any, source: Buffer, op: Any) -> None:
    """A codec that was asked for and could not be used would be a surprise."""
    text_argument("codec", codec)
    if codec not in EXACT:
        _check_lossy("codec", codec, source, op)


def check_tolerance(tolerance: Any, source: Buffer, op: Any) -> None:
    text_argument("tolerance", tolerance)
    if tolerance != "per-hop":
        _check_lossy("tolerance", tolerance, source, op)


def _check_lossy(argument: str, value: str, source: Buffer, op: Any) -> None:
    if not source.is_floating:
        raise ValueError(
            f"{argument} is {value!r}, but array is of {source.type_name}; lossy codecs are for floating-point sums"
        )
    if op != "sum" and op != MPI.SUM:
        raise ValueError(f"{argument} is {value!r}, but op is {show(op)}; lossy codecs are for op='sum'")


def _check_residual(residual: Any, comm: MPI.Comm, source: Buffer) -> None:
    if not isinstance(residual, Residual):
        kind = type(residual).__name__
        raise TypeError(f"residual is {show(residual)} ({kind}); allowed is a gradcoll.Residual, or None")
    residual.check_open()
    if residual.comm != comm:
        raise ValueError("residual was made for another communicator than comm")
    if (residual.count, residual.type_name) != (source.count, source.type_name):
        raise ValueError(
            f"residual was made for {residual.count} values of {residual.type_name}, but array has {source.count} of "
            f"{source.type_name}"
        )


def _reduce(comm: MPI.Comm, source: Buffer, target: Buffer, op: Any, residual: Optional[Residual]) -> None:
    lead(source.array, target.array)
    arguments = (*fits(source, target), source.count, source.datatype, op, handle(comm))
    if residual is None:
        call(comm, lib.GC_Allreduce_c, *arguments)
    else:
        call(comm, lib.GC_Allreduce_residual, *arguments, residual.handle)
