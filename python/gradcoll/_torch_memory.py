"""How the backend hands torch's tensors to MPI: datatypes, reductions, and memory that is contiguous."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.distributed as dist
from mpi4py import MPI

from . import _capi
from ._buffers import check_tensor
from ._streams import is_on_device

_INT_MAX = 2**31 - 1


def _types() -> Dict[torch.dtype, Any]:
    """MPI's handle of every dtype that can be added. Bools are bytes of 0 and 1."""
    table = {
        torch.float16: _capi.lib.GC_Type_float16(),
        torch.bfloat16: _capi.lib.GC_Type_bfloat16(),
        torch.float32: _capi.handle(MPI.FLOAT),
        torch.float64: _capi.handle(MPI.DOUBLE),
        torch.bool: _capi.handle(MPI.UINT8_T),
    }
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        if hasattr(torch, name):
            table[getattr(torch, name)] = _capi.handle(getattr(MPI, name.upper() + "_T"))
    return table


TYPES = _types()
_UNSIGNED = {1: MPI.UINT8_T, 2: MPI.UINT16_T, 4: MPI.UINT32_T, 8: MPI.UINT64_T}
_UNSIGNED_HANDLES = {size: _capi.handle(datatype) for size, datatype in _UNSIGNED.items()}


def _code_of(reduce_op: Any) -> int:
    """A ReduceOp has a factor beside its op; torch 1.13 has only such."""
    return int(getattr(reduce_op, "op", reduce_op))


_CODES = {name: _code_of(getattr(dist.ReduceOp, name)) for name in ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")}
_AVG = _code_of(dist.ReduceOp.AVG)
_PREMUL_SUM = _code_of(dist.ReduceOp.PREMUL_SUM)
_MPI_OPS = {"SUM": MPI.SUM, "PRODUCT": MPI.PROD, "MIN": MPI.MIN, "MAX": MPI.MAX, "BAND": MPI.BAND, "BOR": MPI.BOR, "BXOR": MPI.BXOR}
_OPS = {code: _capi.handle(_MPI_OPS[name]) for name, code in _CODES.items()}
SUM = _OPS[_CODES["SUM"]]
_ONLY_BITS = frozenset(_CODES[name] for name in ("BAND", "BOR", "BXOR"))
# Of 0 and 1 the sum is "or" and the product is "and".
_OPS_OF_BOOL = {**_OPS, _CODES["SUM"]: _OPS[_CODES["MAX"]], _CODES["PRODUCT"]: _OPS[_CODES["MIN"]]}
_NAMES = {**{code: name for name, code in _CODES.items()}, _AVG: "AVG", _PREMUL_SUM: "PREMUL_SUM"}


class Reduction(NamedTuple):
    """What MPI does with a dtype, and what is done before and after: PREMUL_SUM multiplies first, AVG divides last."""

    datatype: Any
    op: Any
    factor: Optional[Any] = None
    is_average: bool = False


_plain: Dict[Tuple[int, torch.dtype], Reduction] = {}  # those without a factor


def reduction_of(reduce_op: Any, dtype: torch.dtype) -> Reduction:
    """TypeError or ValueError for what has no meaning: all ranks get it, as all call with the same op and dtype."""
    code = _code_of(reduce_op)
    known = _plain.get((code, dtype))
    if known is not None:
        return known
    if dtype not in TYPES:
        raise TypeError(f"gradcoll: no reduction of {dtype}; it can be sent, gathered and broadcast")
    is_floating = dtype.is_floating_point
    if code in (_AVG, _PREMUL_SUM) and not is_floating:
        raise ValueError(f"gradcoll: ReduceOp.{_NAMES[code]} of {dtype}; allowed are floating-point types")
    if code in _ONLY_BITS and is_floating:
        raise ValueError(f"gradcoll: ReduceOp.{_NAMES[code]} of {dtype}; allowed are integers and bool")
    if code == _PREMUL_SUM:
        return Reduction(TYPES[dtype], SUM, _factor_of(reduce_op))
    if code != _AVG and code not in _OPS:
        raise ValueError(f"gradcoll: the reduction {reduce_op} is not known")
    ops = _OPS_OF_BOOL if dtype == torch.bool else _OPS
    reduction = Reduction(TYPES[dtype], SUM if code == _AVG else ops[code], None, code == _AVG)
    _plain[code, dtype] = reduction
    return reduction


def _factor_of(reduce_op: Any) -> Any:
    """A number, or a tensor of one value. torch 2.15 shows it; before, the op's pickle did."""
    return reduce_op.factor if hasattr(reduce_op, "factor") else reduce_op.__getstate__()[1]


def real(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as one of pairs of real numbers."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether its values lie in its memory, one after the other."""
    return tensor.is_contiguous() and not tensor.is_neg() and not tensor.is_conj()


def new(shape: Any, dtype: torch.dtype) -> torch.Tensor:
    """Memory of the host, whatever device torch was told to take by default."""
    return torch.empty(shape, dtype=dtype, device="cpu")


def readable(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or a copy of it that MPI can read: it is then there, also from a device."""
    check_tensor("a tensor of the call", tensor)
    tensor = tensor.detach()
    return tensor if is_plain(tensor) and not is_on_device(tensor) else new(tensor.shape, tensor.dtype).copy_(tensor)


def writable(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or memory of the host like it that give_back() copies into it."""
    check_tensor("a tensor of the call", tensor)
    tensor = tensor.detach()
    return tensor if is_plain(tensor) and not is_on_device(tensor) else new(tensor.shape, tensor.dtype)


def give_back(tensor: torch.Tensor, written: torch.Tensor) -> None:
    if written.data_ptr() != tensor.data_ptr() or not is_plain(tensor):
        tensor.detach().copy_(written.view(tensor.shape))


def bytes_of(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    first, second = one.data_ptr(), other.data_ptr()
    return first < second + bytes_of(other) and second < first + bytes_of(one)


def words(size_bytes: int, element_bytes: int) -> Tuple[int, int]:
    """Count and size of unsigned numbers that hold so many bytes of such elements. ValueError beyond MPI's int."""
    word = min(element_bytes, 8)
    count = size_bytes // word
    if count > _INT_MAX:
        raise ValueError(f"gradcoll: {count} elements for one rank; allowed are {_INT_MAX} in all calls but all_reduce")
    return count, word


def unsigned(tensor: torch.Tensor) -> Tuple[int, int, Any]:
    """Address, count and C datatype of a contiguous tensor that is moved and not added: integers are never encoded."""
    count, word = words(bytes_of(tensor), tensor.element_size())
    return tensor.data_ptr(), count, _UNSIGNED_HANDLES[word]


def memory_of(tensor: torch.Tensor, parts: int = 1) -> List[Any]:
    """A contiguous tensor of so many equal parts as mpi4py takes it. It does not keep the tensor."""
    count, word = words(bytes_of(tensor), tensor.element_size())
    return [MPI.memory.fromaddress(tensor.data_ptr(), bytes_of(tensor)), count // parts, _UNSIGNED[word]]


def memory_in_parts(tensor: torch.Tensor, elements: Sequence[int]) -> List[Any]:
    """A contiguous tensor of one part a rank, of so many elements each."""
    scale = max(1, tensor.element_size() // 8)
    buffer, _, datatype = memory_of(tensor)
    counts = [scale * count for count in elements]
    starts = [sum(counts[:rank]) for rank in range(len(counts))]
    return [buffer, (counts, starts), datatype]


def lengths_of(tensor: torch.Tensor, sizes: Sequence[int], ranks: int) -> List[int]:
    """Elements for each rank of what all ranks exchange. sizes: rows of the first dimension; none: equal parts."""
    rows = tensor.shape[0] if tensor.dim() > 0 else 1
    if not sizes:
        if rows % ranks != 0:
            raise ValueError(f"gradcoll: all_to_all of {rows} rows; allowed are multiples of {ranks}, the ranks")
        sizes = [rows // ranks] * ranks
    if len(sizes) != ranks or sum(sizes) != rows:
        raise ValueError(f"gradcoll: all_to_all of {rows} rows in parts {list(sizes)}; allowed are {ranks} parts of all rows")
    of_row = tensor.numel() // rows if rows > 0 else 0
    return [of_row * size for size in sizes]


def check_alike(tensors: Sequence[torch.Tensor], dtype: torch.dtype) -> None:
    for tensor in tensors:
        if tensor.dtype != dtype:
            raise TypeError(f"gradcoll: tensors of {dtype} and {tensor.dtype} in one call; allowed is one dtype")


def flat(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """All elements in one new vector."""
    return torch.cat([readable(tensor).reshape(-1) for tensor in tensors])


def spread(vector: torch.Tensor, tensors: Sequence[torch.Tensor]) -> None:
    """What flat() has put together goes back to where it was."""
    first = 0
    for tensor in tensors:
        tensor.detach().copy_(vector[first : first + tensor.numel()].view(tensor.shape))
        first += tensor.numel()


_UNCHECKED: Any = {"check_invariants": False} if hasattr(torch.sparse, "check_sparse_tensor_invariants") else {}


def sum_sparse(tensor: torch.Tensor, gather: Callable[[torch.Tensor], List[torch.Tensor]], is_average: bool, factor: Any) -> None:
    """The sum of sparse COO tensors of one shape. gather: the vectors of all ranks, whose lengths may differ."""
    if tensor.layout != torch.sparse_coo:
        raise TypeError(f"gradcoll: all_reduce of a tensor of layout {tensor.layout}; allowed are strided and sparse_coo")
    mine = tensor.detach().coalesce()
    values = mine.values() if factor is None else mine.values() * factor
    places, vectors = gather(mine.indices().reshape(-1)), gather(values.reshape(-1))
    indices = torch.cat([place.view(mine.sparse_dim(), -1) for place in places], dim=1)
    rows = torch.cat([vector.view(-1, *mine.values().shape[1:]) for vector in vectors])
    total = torch.sparse_coo_tensor(indices, rows, mine.shape, **_UNCHECKED).to(tensor.device).coalesce()
    with torch.no_grad():
        tensor.copy_(total / len(places) if is_average else total)  # its indices change, which a detached one would not show
