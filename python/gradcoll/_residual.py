"""Residuals: what one rank's encoders dropped for one array."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from mpi4py import MPI

from . import _capi
from ._buffers import Buffer, buffer_of
from ._capi import lib
from ._errors import call, comm_or_world, show


class Residual:
    """What the encoders of this rank dropped in earlier sums of one array, for error feedback.

    Made of zeros for arrays like `array` (its values do not matter) on `comm`. Collective; the other
    methods are local. To be freed before the communicator; a context manager does it.
    in_blocks: for reduce-scatters (GC_Reduce_scatter_block_residual) that leave each rank a block like `array`.
    """

    def __init__(self, comm: Any, array: Any, in_blocks: bool = False) -> None:
        self._handle: Optional[ctypes.c_void_p] = None
        self._owner: Any = None  # the request or engine that the residual belongs to
        self.comm = comm_or_world(comm)
        buffer = buffer_of("array", array, copy=True)
        self._describe(buffer, self.comm.Get_size() if in_blocks else 1)
        handle = _capi.Residual()
        arguments = (_capi.handle(self.comm), buffer.count, buffer.datatype, ctypes.byref(handle))
        call(self.comm, lib.GC_Residual_create_for_blocks if in_blocks else lib.GC_Residual_create, *arguments)
        self._handle = handle

    def _describe(self, buffer: Buffer, blocks: int = 1) -> None:
        self.count = buffer.count
        self._whole_count = buffer.count * blocks
        self.type_name = buffer.type_name

    @classmethod
    def of_owner(cls, owner: Any, comm: MPI.Comm, buffer: Buffer, handle: ctypes.c_void_p) -> "Residual":
        """That of a request or an engine, which frees it."""
        residual = cls.__new__(cls)
        residual._handle = handle
        residual._owner = owner
        residual.comm = comm
        residual._describe(buffer)
        return residual

    def check_open(self) -> None:
        if self._handle is None or (self._owner is not None and self._owner.is_freed):
            raise ValueError("residual has been freed")

    @property
    def handle(self) -> ctypes.c_void_p:
        self.check_open()
        assert self._handle is not None
        return self._handle

    @property
    def nbytes(self) -> int:
        """Bytes of what save() returns."""
        size = ctypes.c_size_t()
        call(self.comm, lib.GC_Residual_size, self.handle, ctypes.byref(size))
        return size.value

    def save(self) -> bytes:
        """A checkpoint, for load() on the same rank with the same tree."""
        out = ctypes.create_string_buffer(self.nbytes)
        call(self.comm, lib.GC_Residual_save, self.handle, out, len(out))
        return out.raw

    def load(self, checkpoint: bytes) -> None:
        """Restores a checkpoint; Error, naming what differs, if it is not one of this residual."""
        try:
            data = bytes(memoryview(checkpoint))
        except TypeError:
            raise TypeError(
                f"checkpoint is {show(checkpoint)} ({type(checkpoint).__name__}); allowed are bytes from save()"
            ) from None
        call(self.comm, lib.GC_Residual_load, self.handle, data, len(data))

    def hand_over(self, array: Any) -> None:
        """Adds what was dropped to `array`, this rank's next contribution, and goes back to zeros: to go on elsewhere.

        That is what is needed after shrink(), whose communicator has another tree. Of reduce-scatters it has all blocks.
        """
        buffer = buffer_of("array", array, copy=False)
        if (buffer.count, buffer.type_name) != (self._whole_count, self.type_name):
            raise ValueError(
                f"array has {buffer.count} elements of {buffer.type_name}; allowed are {self._whole_count} of {self.type_name}"
            )
        call(self.comm, lib.GC_Residual_hand_over, self.handle, ctypes.c_void_p(buffer.address))

    def scale(self, factor: float) -> None:
        """Multiplies what was dropped: after a change of learning rate or loss scale."""
        call(self.comm, lib.GC_Residual_scale, self.handle, float(factor))

    def reset(self) -> None:
        """Back to zeros."""
        call(self.comm, lib.GC_Residual_reset, self.handle)

    def free(self) -> None:
        """A freed residual can be freed again; one of a request or an engine is freed with it."""
        handle, self._handle = self._handle, None
        if handle is not None and self._owner is None:
            call(self.comm, lib.GC_Residual_free, ctypes.byref(handle))

    def __enter__(self) -> "Residual":
        return self

    def __exit__(self, *failure: Any) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None and MPI.Is_initialized() and not MPI.Is_finalized():
            self.free()
