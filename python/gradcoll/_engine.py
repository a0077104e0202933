"""Engines: sums of named gradients that ranks hand in as they come, while the program goes on."""

from __future__ import annotations

import ctypes
import threading
import warnings
from typing import Any, Dict, Mapping, Optional

from mpi4py import MPI

from . import _capi
from ._buffers import Buffer, buffer_of, fits, note_change, op_of, result_of
from ._capi import lib
from ._comms import Stats, info_with, settings_of, stats_of
from ._errors import Error, call, comm_or_world, show, text_argument
from ._residual import Residual
from ._streams import lead


class Handle:
    """One gradient that was handed in. `out` holds the result when wait() returns or test() is true.

    A handle is used by one thread at a time; different handles by different threads.
    """

    def __init__(self, engine: "Engine", name: str, source: Buffer, target: Buffer, out: Any) -> None:
        self.name = name
        self.out = out
        self._engine: Optional[Engine] = engine
        self._buffers = (source, target)  # the library's until the sum is there
        self._handle = _capi.Handle()

    def wait(self) -> Any:
        """Completes the sum and returns `out`. What went wrong is raised once."""
        if self._engine is not None:
            self._end(lib.GC_Handle_wait, ctypes.byref(self._handle))
        return self.out

    def test(self) -> bool:
        """Whether the sum is complete; never waits."""
        if self._engine is not None:
            done = ctypes.c_int()
            self._end(lib.GC_Handle_test, ctypes.byref(self._handle), ctypes.byref(done))
        return self._engine is None

    def _end(self, function: Any, *arguments: Any) -> None:
        assert self._engine is not None
        engine = self._engine
        try:
            engine.call(function, *arguments)
        finally:
            if not self._handle.value:  # complete, well or not
                engine.forget(self)
                self._engine = None
                note_change(self.out)


class Engine:
    """Sums gradients by name, in whatever order each rank hands them in, beside the program (GC_Engine_create).

    comm: an mpi4py communicator; None is MPI.COMM_WORLD. The engine works on a duplicate of its own.
    codec, options ({"gc_engine": "ring", ...}): settings of this engine alone. With a lossy codec
    error feedback is on, by name, unless gc_feedback is "off".

    Making one and close() are collective. Where MPI was not initialised with MPI_THREAD_MULTIPLE (mpi4py
    asks for it), sums go on in submit(), wait(), test() and flush() only. A context manager: leaving it
    without an exception closes the engine; after one other ranks may never come to close theirs, so that
    it is left to MPI_Finalize.
    """

    def __init__(
        self, comm: Any = None, codec: Optional[str] = None, options: Optional[Mapping[str, Any]] = None
    ) -> None:
        self._engine: Optional[ctypes.c_void_p] = None
        self._pending: Dict[str, Handle] = {}
        self._lock = threading.Lock()
        settings = settings_of(codec, options)
        # With return codes from the start: several threads call, and none may change the handler meanwhile.
        self.comm = comm_or_world(comm).Dup()
        self.comm.Set_errhandler(MPI.ERRORS_RETURN)
        engine = _capi.Engine()
        try:
            with info_with(settings) as info:
                call(self.comm, lib.GC_Engine_create, _capi.handle(self.comm), info, ctypes.byref(engine))
        except Exception:
            self.comm.Free()
            raise
        self._engine = engine

    @property
    def is_freed(self) -> bool:
        return self._engine is None

    def submit(self, name: str, array: Any, op: Any = "sum", out: Any = None, priority: int = 0) -> Handle:
        """Hands in a gradient: the reduction of every rank's `array` is to come to `out`. Never waits for others.

        array: a numpy array or a torch tensor; what is not contiguous is copied first. Neither array nor
            out is touched until the handle is complete. From a device it is copied to the host now.
        out: `array` itself for a reduction in place; None: a new array, to be found as `.out` of the handle.
        priority: of what all ranks have handed in, the highest begins first.

        Errors: TypeError and ValueError naming the argument; Error, also for a name that is handed in. That
        ranks differ in shape or type comes out of wait() on all of them.
        """
        text = text_argument("name", name)
        source = buffer_of("array", array, copy=True)
        target = result_of(array, source, out)
        handle = Handle(self, name, source, target, target.array if out is None else out)
        addresses = fits(source, target)
        what = (source.count, source.datatype, op_of(op, source), _priority(priority))
        lead(source.array, target.array)
        with self._lock:
            self.call(lib.GC_Submit, self._open(), text, *addresses, *what, ctypes.byref(handle._handle))
            self._pending[name] = handle
        return handle

    def residual(self, name: str, array: Any) -> Optional[Residual]:
        """What was dropped of the gradient of that name and of `array`'s size and type, to save, restore, scale
        or reset while it is not handed in. None where its sums are exact. Local."""
        text = text_argument("name", name)
        buffer = buffer_of("array", array, copy=True)
        handle = _capi.Residual()
        arguments = (text, buffer.count, buffer.datatype, ctypes.byref(handle))
        self.call(lib.GC_Engine_get_residual, self._open(), *arguments)
        return Residual.of_owner(self, self.comm, buffer, handle) if handle.value else None

    def stats(self) -> Stats:
        """What this rank's sums have sent so far. Local."""
        read = _capi.GC_Stats()
        self.call(lib.GC_Engine_get_stats, self._open(), ctypes.byref(read))
        return stats_of(read)

    def flush(self) -> None:
        """Returns when all that this rank handed in before has ended; handles stay."""
        self.call(lib.GC_Engine_flush, self._open())

    def reconfigure(self, comm: Any) -> None:
        """Goes on with the ranks of another communicator, such as shrink() makes, with the same settings and
        counters, and with what codecs have dropped, by name. Collective over `comm`; a rank that has no engine yet
        takes part by making one with the same settings. Error, on all ranks, if one has a handle that is not
        complete."""
        engine = self._open()
        made = comm_or_world(comm).Dup()
        made.Set_errhandler(MPI.ERRORS_RETURN)
        call(made, lib.GC_Engine_reconfigure, engine, _capi.handle(made))
        before, self.comm = self.comm, made
        before.Free()

    def close(self) -> None:
        """Waits for what is handed in, and frees. Collective. A closed engine can be closed again. Errors: the
        first of the sums that nobody waited for; the engine is closed then, too."""
        if self._engine is None:
            return
        failure = None
        for handle in list(self._pending.values()):
            try:
                handle.wait()
            except Error as error:
                failure = failure or error
        engine, self._engine = self._engine, None
        self.call(lib.GC_Engine_free, ctypes.byref(engine))
        self.comm.Free()
        if failure is not None:
            raise failure

    def call(self, function: Any, *arguments: Any) -> None:
        call(self.comm, function, *arguments)

    def forget(self, handle: Handle) -> None:
        """A handle that is complete."""
        with self._lock:
            if self._pending.get(handle.name) is handle:
                del self._pending[handle.name]

    def _open(self) -> ctypes.c_void_p:
        if self._engine is None:
            raise ValueError("the engine has been closed")
        return self._engine

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            _abandoned.append(self)

    def __del__(self) -> None:
        if getattr(self, "_engine", None) is None or self in _abandoned or MPI.Is_finalized():
            return
        _abandoned.append(self)  # to close it could wait for a rank that never does
        warnings.warn("a gradcoll.Engine was dropped without close()", ResourceWarning, stacklevel=2)


_abandoned: list = []  # the memory of their gradients is still being read and written


def _priority(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"priority is {show(value)} ({type(value).__name__}); allowed are ints of 32 bits")
    if not -(2**31) <= value < 2**31:
        raise ValueError(f"priority is {value}; allowed are ints of 32 bits")
    return value
