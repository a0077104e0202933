"""Arrays as the C API wants them: address, count, datatype, and checks of what cannot be passed."""

from __future__ import annotations

import sys
from typing import Any, Iterable, NamedTuple, Tuple

import numpy
from mpi4py import MPI

from . import _capi
from ._errors import show

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_ALLOWED_TYPES = "float16, bfloat16, float32, float64, and signed and unsigned integers of 8 to 64 bits"

_ARITHMETIC = ("sum", "prod", "min", "max")
_LOGICAL = ("land", "lor", "lxor")
_BITWISE = ("band", "bor", "bxor")
OPS = {name: getattr(MPI, name.upper()) for name in (*_ARITHMETIC, *_LOGICAL, *_BITWISE)}


class Buffer(NamedTuple):
    """A contiguous vector. `array` keeps the memory alive."""

    array: Any
    address: int
    count: int
    type_name: str

    @property
    def is_floating(self) -> bool:
        return self.type_name in _FLOATS

    @property
    def datatype(self) -> Any:
        """MPI's handle."""
        if self.type_name == "float16":
            return _capi.lib.GC_Type_float16()
        if self.type_name == "bfloat16":
            return _capi.lib.GC_Type_bfloat16()
        mpi_names = {"float32": "FLOAT", "float64": "DOUBLE"}
        return _capi.handle(getattr(MPI, mpi_names.get(self.type_name, self.type_name.upper() + "_T")))


def is_tensor(value: Any) -> bool:
    """Whether it is torch's; a program that has not imported torch has no tensors."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "Tensor") and isinstance(value, torch.Tensor)


def buffer_of(name: str, array: Any, copy: bool) -> Buffer:
    """The vector in `array`. `copy`: whether a contiguous copy will do where the array is not so."""
    if is_tensor(array):
        return _tensor_buffer(name, array, copy)
    if isinstance(array, numpy.ndarray):
        return _numpy_buffer(name, array, copy)
    raise TypeError(
        f"{name} is {show(array)} ({type(array).__name__}); allowed are numpy arrays and torch tensors"
    )


def result_of(array: Any, source: Buffer, out: Any) -> Buffer:
    """Where the result goes: `out`, checked against `array`, or a new array like it."""
    if out is None:
        out = source.array.new_empty(array.shape) if is_tensor(array) else numpy.empty(array.shape, source.array.dtype)
    elif is_tensor(out) != is_tensor(array):
        kinds = ("a torch tensor" if is_tensor(array) else "a numpy array", type(out).__name__)
        raise TypeError(f"array is {kinds[0]} and out is {kinds[1]}; allowed are two of the same kind")
    target = buffer_of("out", out, copy=False)
    if tuple(out.shape) != tuple(array.shape):
        raise ValueError(f"out has shape {tuple(out.shape)}; allowed is that of array, {tuple(array.shape)}")
    if target.type_name != source.type_name:
        raise TypeError(f"out is of {target.type_name}; allowed is the type of array, {source.type_name}")
    if isinstance(out, numpy.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only; allowed are writeable arrays")
    return target


def op_of(op: Any, source: Buffer) -> Any:
    """MPI's handle of an op by its name or of an mpi4py op."""
    if isinstance(op, MPI.Op):
        if op == MPI.OP_NULL:
            raise ValueError("op is MPI.OP_NULL")
        name = next((known for known, handle in OPS.items() if handle == op), None)
    elif isinstance(op, str):
        if op not in OPS:
            raise ValueError(f"op is {op!r}; allowed are {_quoted(OPS)} and mpi4py ops")
        name, op = op, OPS[op]
    else:
        raise TypeError(f"op is {show(op)} ({type(op).__name__}); allowed are {_quoted(OPS)} and mpi4py ops")
    if name is not None and source.is_floating and name not in _ARITHMETIC:
        raise ValueError(
            f"op is {name!r}, which is not defined for {source.type_name}; allowed are {_quoted(_ARITHMETIC)}"
        )
    return _capi.handle(op)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _checked_type(name: str, type_name: str) -> str:
    if type_name == "bool":
        raise TypeError(
            f"{name} is of bool, for which MPI has no arithmetic that all languages share; convert it, for instance "
            "to uint8 with op='lor' or op='land'"
        )
    if type_name not in _FLOATS and type_name not in _INTEGERS:
        raise TypeError(f"{name} is of {type_name}; allowed are {_ALLOWED_TYPES}")
    return type_name


def _numpy_buffer(name: str, array: numpy.ndarray, copy: bool) -> Buffer:
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; fill it first")
    type_name = _checked_type(name, array.dtype.name)
    plain = _plain(array, type_name)
    if plain is not array and not copy:
        raise ValueError(f"{name} is not a C-contiguous, aligned array in native byte order; allowed here is only that")
    return Buffer(plain, plain.ctypes.data, plain.size, type_name)


def _plain(array: numpy.ndarray, type_name: str) -> numpy.ndarray:
    """`array` itself if the library can read it as it is, else a copy."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array
    native = array.dtype if type_name == "bfloat16" else array.dtype.newbyteorder("=")
    return numpy.array(array, dtype=native, order="C", copy=True, subok=False)


def check_tensor(name: str, tensor: Any) -> None:
    """Raises TypeError where a torch tensor's values are not what its own memory holds."""
    torch = sys.modules["torch"]
    kind = type(tensor)
    if kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise TypeError(
            f"{name} is a {kind.__module__}.{kind.__qualname__}, whose values are not what its memory holds; allowed are "
            f"plain torch tensors: {_way_to_plain(kind)}"
        )
    if tensor.device.type not in ("cpu", "cuda"):
        raise TypeError(f"{name} is on {tensor.device}; allowed are CPU and CUDA tensors: use its .cpu()")
    if tensor.layout != torch.strided or tensor.is_nested:
        layout = "that of a nested tensor" if tensor.is_nested else tensor.layout
        raise TypeError(
            f"{name} has layout {layout}; allowed are dense (strided) tensors: use its .to_dense(), for the gradient of an "
            "embedding sparse=False"
        )


def _way_to_plain(kind: type) -> str:
    if hasattr(kind, "to_local"):
        return "use its .to_local() for this rank's part, but the sum of parts is seldom what is meant"
    if kind.dequantize is not sys.modules["torch"].Tensor.dequantize:  # type: ignore[attr-defined]
        return "use its .dequantize()"
    return "convert it first"


def _tensor_buffer(name: str, tensor: Any, copy: bool) -> Buffer:
    torch = sys.modules["torch"]
    check_tensor(name, tensor)
    type_name = _checked_type(name, str(tensor.dtype).replace("torch.", ""))
    plain = tensor.detach()
    if not _is_plain_tensor(plain):
        if not copy:
            raise ValueError(f"{name} is not a contiguous tensor; allowed here is only that")
        plain = torch.empty(plain.shape, dtype=plain.dtype, device=plain.device).copy_(plain)
    if plain.numel() > 0 and plain.data_ptr() == 0:
        raise TypeError(f"{name} is a tensor without memory, as FSDP leaves parameters; allowed are those that have theirs")
    return Buffer(plain, plain.data_ptr(), plain.numel(), type_name)


def _is_plain_tensor(tensor: Any) -> bool:
    return tensor.is_contiguous() and not tensor.is_neg() and not tensor._is_zerotensor()


def note_change(out: Any) -> None:
    """That the library has written a tensor: autograd raises where it has saved what was there before."""
    if is_tensor(out) and not out.is_inference():
        out.detach().view(-1)[:0].zero_()  # no element, but a new version of the memory


def fits(source: Buffer, target: Buffer) -> Tuple[Any, int]:
    """The two addresses of the C call: MPI_IN_PLACE where both are the same memory."""
    if source.address == target.address and source.count > 0:
        return _capi.IN_PLACE, target.address
    return source.address, target.address
