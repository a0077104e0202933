"""Persistent requests: a sum that is planned once and started at every step."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any, Mapping, Optional

from mpi4py import MPI

from . import _capi
from ._buffers import buffer_of, fits, note_change, op_of, result_of
from ._capi import lib
from ._collectives import check_codec
from ._comms import info_with, settings_of, step_argument
from ._errors import call, comm_or_world
from ._residual import Residual
from ._streams import lead


class Persistent:
    """A reduction of `array` into `out`, planned once and started many times (GC_Allreduce_init).

    array: read at every start; must be contiguous. out: `array` itself for a reduction in place; None: a
    new array, to be found as `.out`. codec, options ({"gc_feedback": "off", ...}): settings of
    this request alone. With a lossy codec error feedback is on, unless gc_feedback is "off".

    Making one is collective. Ranks start the requests of one communicator in the same order, and touch
    neither array between start() and wait(). Progress is made by test() and wait() only.
    """

    def __init__(
        self,
        array: Any,
        comm: Any = None,
        op: Any = "sum",
        out: Any = None,
        codec: Optional[str] = None,
        options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self._request: Optional[ctypes.c_void_p] = None
        self._started = False
        self.comm = comm_or_world(comm)
        self._source = buffer_of("array", array, copy=False)
        self._target = result_of(array, self._source, out)
        self.array = array
        self.out = self._target.array if out is None else out
        op_handle = op_of(op, self._source)
        if codec is not None:
            check_codec(codec, self._source, op)
        self._init(op_handle, settings_of(codec, options))

    def _init(self, op: Any, settings: Mapping[str, str]) -> None:
        request = _capi.Request()
        with info_with(settings) as info:
            call(
                self.comm,
                lib.GC_Allreduce_init,
                *fits(self._source, self._target),
                self._source.count,
                self._source.datatype,
                op,
                _capi.handle(self.comm),
                info,
                ctypes.byref(request),
            )
        self._request = request

    @property
    def is_freed(self) -> bool:
        return self._request is None

    def start(self) -> None:
        """Begins; never waits for other ranks."""
        request = self._pointer()
        lead(self._source.array, self._target.array)
        call(self.comm, lib.GC_Start, request)
        self._started = True

    def test(self) -> bool:
        """Makes progress; whether the reduction is complete (a request that is not started is)."""
        done = ctypes.c_int()
        call(self.comm, lib.GC_Test, self._pointer(), ctypes.byref(done))
        if self._started and done.value:
            self._started = False
            note_change(self.out)
        return bool(done.value)

    def wait(self) -> Any:
        """Completes the reduction and returns `out`."""
        self._started = False
        call(self.comm, lib.GC_Wait, self._pointer())
        note_change(self.out)
        return self.out

    def set_step(self, step: int) -> None:
        """The step of the schedule that the next start uses, for instance after a restart. Local."""
        call(self.comm, lib.GC_Request_set_step, self._handle(), step_argument(step))

    @property
    def residual(self) -> Optional[Residual]:
        """What the encoders dropped, to save, restore, scale or reset; None without error feedback."""
        handle = _capi.Residual()
        call(self.comm, lib.GC_Request_get_residual, self._handle(), ctypes.byref(handle))
        if not handle.value:
            return None
        return Residual.of_owner(self, self.comm, self._source, handle)

    def free(self) -> None:
        """Waits if started, and frees. A freed request can be freed again."""
        request, self._request = self._request, None
        self._started = False
        if request is not None:
            call(self.comm, lib.GC_Request_free, ctypes.byref(request))

    def _handle(self) -> ctypes.c_void_p:
        if self._request is None:
            raise ValueError("the request has been freed")
        return self._request

    def _pointer(self) -> Any:
        return ctypes.byref(self._handle())

    def __enter__(self) -> "Persistent":
        return self

    def __exit__(self, *failure: Any) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "_request", None) is None or MPI.Is_finalized():
            return
        if self._started:  # to wait here could wait for a rank that never starts
            _abandoned.append(self)
            warnings.warn("a gradcoll.Persistent was dropped between start() and wait()", ResourceWarning, stacklevel=2)
        else:
            self.free()


_abandoned: list = []  # their memory is still being read and written
