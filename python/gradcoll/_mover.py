"""A plan of gradcoll move carried out from Python: tensors leave the device and come back while the program computes."""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from typing import Any, Iterator, List, NamedTuple, Optional

from mpi4py import MPI

from . import _capi
from ._capi import lib
from ._errors import Error, _text_of, call, comm_or_world, text_argument


_free = ctypes.CDLL(None).free
_free.restype, _free.argtypes = None, (ctypes.c_void_p,)


class MoverOperator(NamedTuple):
    """An operator of the plan, and when it ran in the last step: microseconds since the step began."""

    kind: str
    layer: str
    part: int
    micro_batch: int
    planned_begin_us: float
    planned_end_us: float
    measured_begin_us: float
    measured_end_us: float


class MoverTensor(NamedTuple):
    """A tensor of the plan: made by operator `first_use` and gone after `last_use`, unless it `stays`. Whether it
    `moves` is the plan's, and may change where plans are made again."""

    kind: str
    layer: str
    name: str
    micro_batch: int
    bytes: int
    stays: bool
    first_use: int
    last_use: int
    moves: bool


class MoverStats(NamedTuple):
    """Of the last step: GC_Mover_stats of gradcoll/mover.h."""

    steps: int
    moves: int
    moved_bytes: int
    moving_us: float
    overlap: float
    waits_for_tensors: int
    waits_for_memory: int
    waited_for_tensors_us: float
    waited_for_memory_us: float
    longest_wait_us: float
    longest_wait_of: int
    planned_step_us: float
    measured_step_us: float
    device_bytes: int
    peak_bytes: int
    pool_bytes: int
    replans: int
    drift: float


class Mover:
    """Carries a plan out for one device: its tensors have their memory from here, and move as the plan says.

    `plan` is a file that gradcoll move has written. Collective over `comm`: rank 0 reads the file. With `drift` above 0
    the step that follows one whose times were further off than that share of the planned ones is planned again with
    the measured times; step() is then collective. A context manager frees it, before the communicator. Each step:

    with mover.step():
        for n in range(mover.operator_count):
            with mover.operator(n):
                numpy.frombuffer(mover.data(tensor), dtype="f4")[:] = ...
    """

    def __init__(self, plan: str, comm: Any = None, pipeline_rank: int = 0, drift: float = 0.0) -> None:
        self._handle: Optional[ctypes.c_void_p] = None
        self._returns_errors = False
        self.comm = comm_or_world(comm)
        handle = _capi.Mover()
        path = text_argument("plan", plan)
        call(self.comm, lib.GC_Mover_create, _capi.handle(self.comm), path, pipeline_rank, ctypes.byref(handle))
        self._handle = handle
        try:
            self._describe()
            self.call(lib.GC_Mover_set_drift, drift)
        except BaseException:
            self.free()
            raise

    def _describe(self) -> None:
        operators, tensors = ctypes.c_int(), ctypes.c_int()
        self.call(lib.GC_Mover_count, ctypes.byref(operators), ctypes.byref(tensors))
        self.operator_count = operators.value
        self.tensors: List[MoverTensor] = [self.tensor_at(n) for n in range(tensors.value)]

    def call(self, function: Any, *arguments: Any) -> None:
        """One of the C calls on the mover."""
        if self._handle is None:
            raise ValueError("mover has been freed")
        call(self.comm, function, self._handle, *arguments)

    def begin_step(self) -> None:
        self.call(lib.GC_Mover_step_begin)
        handler = self.comm.Get_errhandler()
        self._returns_errors = handler == MPI.ERRORS_RETURN
        handler.Free()

    def end_step(self) -> None:
        self.call(lib.GC_Mover_step_end)

    def begin_operator(self, number: int) -> None:
        self._in_step(lib.GC_Mover_op_begin, number)

    def end_operator(self, number: int) -> None:
        self._in_step(lib.GC_Mover_op_end, number)

    def _in_step(self, function: Any, *arguments: Any) -> None:
        """A call in a step, which there are many of: the step's begin has looked at MPI and the communicator's error
        handler."""
        if not self._returns_errors or self._handle is None:
            return self.call(function, *arguments)
        code = function(self._handle, *arguments)
        if code != 0:
            raise Error(code, _text_of(code))

    def tensor_at(self, number: int) -> MoverTensor:
        tensor = _capi.GC_Mover_tensor()
        self.call(lib.GC_Mover_get_tensor, number, ctypes.byref(tensor))
        return MoverTensor(**_fields_of(tensor, stays=bool(tensor.stays), moves=bool(tensor.moves)))

    def operator_at(self, number: int) -> MoverOperator:
        operator = _capi.GC_Mover_operator()
        self.call(lib.GC_Mover_get_operator, number, ctypes.byref(operator))
        return MoverOperator(**_fields_of(operator))

    @property
    def operators(self) -> List[MoverOperator]:
        return [self.operator_at(n) for n in range(self.operator_count)]

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around all operators of a training step. After an exception in it the mover can only be freed."""
        self.begin_step()
        yield
        self.end_step()

    @contextlib.contextmanager
    def operator(self, number: int) -> Iterator[None]:
        """Around one operator, in the order of their numbers. Waits until its tensors are in the device."""
        self.begin_operator(number)
        yield
        self.end_operator(number)

    def data(self, tensor: int) -> memoryview:
        """The bytes of a tensor that the operator at work uses, writable; between steps those of one that stays.
        Not to be used after that: next time they may lie somewhere else."""
        data = ctypes.c_void_p()
        self._in_step(lib.GC_Mover_get_data, tensor, ctypes.byref(data))
        return memoryview((ctypes.c_ubyte * self.tensors[tensor].bytes).from_address(data.value or 0)).cast("B")

    def take(self, tensor: int) -> Any:
        """The bytes of a tensor while the last operator that uses it runs, as a buffer that has that memory from now
        on: they stay as long as somebody looks at them."""
        data = ctypes.c_void_p()
        self._in_step(lib.GC_Mover_take_data, tensor, ctypes.byref(data))
        buffer = (ctypes.c_ubyte * self.tensors[tensor].bytes).from_address(data.value or 0)
        weakref.finalize(buffer, _free, data.value).atexit = False
        return buffer

    @property
    def stats(self) -> MoverStats:
        stats = _capi.GC_Mover_stats()
        self.call(lib.GC_Mover_get_stats, ctypes.byref(stats))
        return MoverStats(**_fields_of(stats))

    def free(self) -> None:
        """Local. Twice is no error."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        call(self.comm, lib.GC_Mover_free, ctypes.byref(handle))

    def __enter__(self) -> "Mover":
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()


def _fields_of(structure: ctypes.Structure, **others: Any) -> Any:
    """Of a C structure by name, texts as str."""
    values = {name: getattr(structure, name) for name, _ in structure._fields_}
    return {**{name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}, **others}
