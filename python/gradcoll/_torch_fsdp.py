"""Models that fully_shard has sharded: gradients with a codec and error feedback, parameters rounded on the way."""

from __future__ import annotations

import fnmatch
import warnings
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.distributed as dist
from mpi4py import MPI

from . import _torch_memory as memory
from ._capi import handle, lib
from ._collectives import EXACT
from ._comms import Stats, attach, get_option, set_codec, set_option, stats
from ._errors import Error, call, show, text_argument
from ._residual import Residual
from ._streams import is_on_device
from ._torch_checks import agree, check_alike, is_one_host, whole
from ._torch_works import Done
from ._torch_world import backend_of, comm_of

EXEMPT = ("*embed*", "*wte*", "*wpe*")


class _Column(NamedTuple):
    """A parameter's part of what one rank holds, in the order in which FSDP lays them out."""

    name: str
    numel: int
    is_exempt: bool


class _Part:
    """The parameters that one call of fully_shard has put together."""

    def __init__(self, group: Any, columns: List[_Column]) -> None:
        self.group = group  # FSDP's
        self.columns = columns
        self.numel = sum(column.numel for column in columns)
        self.lossy, self.exact = self._spans(False), self._spans(True)
        self.names = [column.name for column in columns if not column.is_exempt]
        self.residual: Optional[Residual] = None
        self.steps = 0

    def _spans(self, exempt: bool) -> List[slice]:
        """Where the exempt columns lie in a row, or the others; neighbours are one."""
        spans: List[slice] = []
        first = 0
        for column in self.columns:
            end = first + column.numel
            if column.is_exempt == exempt and column.numel > 0:
                if spans and spans[-1].stop == first:
                    spans[-1] = slice(spans[-1].start, end)
                else:
                    spans.append(slice(first, end))
            first = end
        return spans

    def lossy_numel(self) -> int:
        return sum(span.stop - span.start for span in self.lossy)


class ShardedState:
    """How the gradients of a model that torch's fully_shard has sharded are summed, and what is kept between steps.

    model: the sharded model, whose process groups are of the backend "gradcoll". Each sharded part of it gets a
        reduce-scatter and an all-gather of this state.
    codec: "int8", "bf16", "2:4", ... for gradients; "exact" for none.
    gather_codec: "bf16" rounds float32 parameters on the way to the other ranks: each element to the nearest bfloat16, so by
        at most 2**-8 of its magnitude. All ranks compute with the same rounded values, and each keeps its own shard as it is.
    exempt: patterns (fnmatch) of names of parameters that stay exact. So do all that have less than two dimensions: biases
        and norms.
    error_feedback: what a codec drops of the gradients in one step is added in the next.
    min_bytes: parts of fewer bytes, on all ranks together, are summed and gathered exactly.
    warmup_steps: exact sums in the first steps of each part. Every reduction is a step.
    options: more settings of the communicators of its own by info key.

    Construction is local. The first step and load_state_dict() are collective. Errors: TypeError for a model that is not
    sharded by fully_shard; ValueError for process groups of other backends, at the first step.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        codec: str = "int8",
        gather_codec: str = "exact",
        exempt: Sequence[str] = EXEMPT,
        error_feedback: bool = True,
        min_bytes: int = 64 * 1024,
        warmup_steps: int = 0,
        options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        text_argument("codec", codec)
        text_argument("gather_codec", gather_codec)
        self.codec, self.gather_codec = codec, gather_codec
        self.exempt = [exempt] if isinstance(exempt, str) else list(exempt)
        self.error_feedback = bool(error_feedback)
        self.min_bytes = whole("min_bytes", min_bytes)
        self.warmup_steps = whole("warmup_steps", warmup_steps)
        self.options = dict(options or {})
        self._own: Dict[Tuple[Any, str], MPI.Comm] = {}  # by process group and codec
        self._paying: Dict[Any, bool] = {}  # by process group
        self._complaints: List[str] = []
        self._parts = list(self._take(model))

    def _take(self, model: torch.nn.Module) -> Iterator[_Part]:
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"model is {show(model)} ({type(model).__name__}); allowed is a torch.nn.Module")
        modules = [module for module in model.modules() if hasattr(module, "set_custom_reduce_scatter")]
        if not modules:
            raise TypeError("model has no part that fully_shard has sharded; allowed are models sharded by it (torch 2.9 and later)")
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        for module in modules:
            group = module._get_fsdp_state()._fsdp_param_group
            if group is None:  # a root whose parameters are all of parts inside it
                continue
            part = _Part(group, [self._column(parameter, names) for parameter in group.fsdp_params])
            module.set_custom_reduce_scatter(_ReduceScatter(self, part))
            module.set_custom_all_gather(_AllGather(self, part))
            yield part

    def _column(self, parameter: Any, names: Mapping[int, str]) -> _Column:
        name = names[id(parameter.sharded_param)]
        is_exempt = len(parameter._orig_size) < 2 or any(fnmatch.fnmatchcase(name, pattern) for pattern in self.exempt)
        return _Column(name, parameter.padded_sharded_param_size.numel(), is_exempt)

    # What FSDP calls follows.

    def reduce_scatter(self, part: _Part, output: torch.Tensor, source: torch.Tensor, group: Any, op: Any) -> None:
        part.steps += 1
        if not self._is_lossy(part, self.codec, source, group, part.steps > self.warmup_steps) or not self._pays(group):
            _scatter_sum(output, source, group, op)
            return
        own = self._comm(group, self.codec)
        rows = source.view(own.size, -1)
        vector = _packed(rows, part.lossy)
        reduction = memory.reduction_of(op, source.dtype)
        if reduction.factor is not None:
            vector = vector * reduction.factor
        mine = torch.empty(part.lossy_numel(), dtype=output.dtype)
        self._scatter_lossy_sum(part, own, mine, vector)
        if reduction.is_average:
            mine.div_(own.size)
        _unpack(mine.view(1, -1), part.lossy, output.view(1, -1))
        if part.exact:  # last, as it waits for a gather of the group that is under way
            mine = torch.empty(part.numel - part.lossy_numel(), dtype=output.dtype)
            _scatter_sum(mine, _packed(rows, part.exact).view(-1), group, op)
            _unpack(mine.view(1, -1), part.exact, output.view(1, -1))

    def _scatter_lossy_sum(self, part: _Part, own: MPI.Comm, mine: torch.Tensor, vector: torch.Tensor) -> None:
        count, _ = memory.words(mine.numel(), 1)
        arguments = (vector.data_ptr(), mine.data_ptr(), count, memory.TYPES[mine.dtype], memory.SUM, handle(own))
        if self.error_feedback:
            residual = self._residual_of(part, own, mine)
            call(own, lib.GC_Reduce_scatter_block_residual, *arguments, residual.handle)
        else:
            call(own, lib.GC_Reduce_scatter_block, *arguments)

    def all_gather(self, part: _Part, output: torch.Tensor, source: torch.Tensor, group: Any) -> Any:
        """Goes on beside the program, whose FSDP waits for a Work before it reads: so a part that is gathered before its turn
        comes while others are computed."""
        if not self._is_lossy(part, self.gather_codec, source, group, True):
            return dist.all_gather_into_tensor(output, source, group=group, async_op=True)
        backend, own = backend_of(group), self._comm(group, self.gather_codec)
        return backend.do_beside("all_gather", [output], lambda: self._gather_rounded(backend, own, part, output, source))

    def _gather_rounded(self, backend: Any, own: MPI.Comm, part: _Part, output: torch.Tensor, source: torch.Tensor) -> None:
        """In the group's thread."""
        rows = output.view(own.size, -1)
        if part.exact:
            mine = _packed(source.view(1, -1), part.exact).view(-1)
            all_of_it = torch.empty(own.size * mine.numel(), dtype=mine.dtype)
            backend.gather_into(all_of_it, mine)
        mine = _packed(source.view(1, -1), part.lossy).clone()
        target = torch.empty(own.size, mine.numel(), dtype=mine.dtype)
        what = (mine.numel(), memory.TYPES[mine.dtype])
        call(own, lib.GC_Allgather, mine.data_ptr(), *what, target.data_ptr(), *what, handle(own))
        _unpack(target, part.lossy, rows)
        if part.exact:
            _unpack(all_of_it.view(own.size, -1), part.exact, rows)

    def _is_lossy(self, part: _Part, codec: str, tensor: torch.Tensor, group: Any, is_time: bool) -> bool:
        """Whether the codec is asked of the library, by what all ranks know. What it is not asked for is said once."""
        if codec in EXACT or not is_time or not part.lossy:
            return False
        if is_on_device(tensor):
            return self._says(f"tensors on {tensor.device.type} are summed and gathered exactly: codecs of both are for memory of the host")
        elems = part.lossy_numel() * dist.get_world_size(group)
        if elems * tensor.element_size() < self.min_bytes:
            return False
        if not tensor.dtype.is_floating_point:
            return self._says(f"parameters that are gathered as {tensor.dtype} are not rounded: they have several types")
        if codec == "bf16" and tensor.element_size() < 4:
            return self._says(f"{codec!r} is for float32, and {tensor.dtype} travels as it is")
        rows = tensor.numel() // part.numel if part.numel else 0
        if rows not in (1, dist.get_world_size(group)) or rows * part.numel != tensor.numel():
            return self._says(f"a step that does not have all of {', '.join(part.names[:3])}, ... is exact (unused parameters)")
        return True

    def _pays(self, group: Any) -> bool:
        """Not on one host, through whose memory exact sums go. Collective at first."""
        if group not in self._paying:
            own = self._comm(group, self.codec)
            self._paying[group] = get_option(own, "gc_compress_if") == "always" or not is_one_host(own)
        return self._paying[group] or self._says(
            f"codec {self.codec!r} does not pay where all ranks of a group are on one host: its sums are exact "
            "(options={'gc_compress_if': 'always'} uses it)"
        )

    def _says(self, complaint: str) -> bool:
        if complaint not in self._complaints:
            self._complaints.append(complaint)
            warnings.warn(f"gradcoll.torch.ShardedState: {complaint}", RuntimeWarning, stacklevel=2)
        return False

    def _comm(self, group: Any, codec: str) -> MPI.Comm:
        """For the calls with this codec of one process group, made at the first. Collective then."""
        own = self._own.get((group, codec))
        if own is None:
            comm = comm_of(group)
            check_alike(comm, {"codec": codec, "error_feedback": self.error_feedback, "exempt": self.exempt})
            own = self._own[group, codec] = comm.Dup()
            attach(own)
            set_option(own, "gc_compress_bytes", self.min_bytes)
            set_codec(own, codec)
            for key, value in self.options.items():
                set_option(own, key, value)
        return own

    def _residual_of(self, part: _Part, own: MPI.Comm, mine: torch.Tensor) -> Residual:
        if part.residual is not None and part.residual.count != mine.numel():
            raise ValueError("the model's parts are not those that the state was made for")
        if part.residual is None:
            part.residual = Residual(own, mine, in_blocks=True)
        return part.residual

    # What the program calls follows.

    def stats(self) -> Stats:
        """What this rank's calls of the state have done so far: those that asked for a codec. Local."""
        every = [stats(own) for own in self._own.values()]
        texts = ("last_pass_reason", "last_agents")
        values = {name: sum(getattr(one, name) for one in every) for name in Stats.__dataclass_fields__ if name not in texts}
        values |= {name: getattr(every[-1], name) if every else "" for name in texts}
        return Stats(**values)

    def scale_residuals(self, factor: float) -> None:
        """After a change of the loss scale by `factor`: what was dropped before was of the old one. Local."""
        for part in self._parts:
            if part.residual is not None:
                part.residual.scale(factor)

    def state_dict(self) -> Dict[str, Any]:
        """What this rank needs to go on after a restart; every rank saves its own, between steps."""
        return {
            "rank": dist.get_rank(),
            "ranks": dist.get_world_size(),
            "parts": [{"names": part.names, "steps": part.steps, **_saved(part.residual)} for part in self._parts],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Restores what state_dict() gave, for the same model on the same ranks. Collective over the process groups of the
        parts, and all their ranks fail if one does."""
        failure: Optional[Exception] = None
        try:
            self._check_saved(saved)
        except (KeyError, TypeError, ValueError) as error:
            failure = error
        claims = [(entry["names"], entry["steps"], entry["count"]) for entry in saved["parts"]] if failure is None else []
        for comm in {id(comm): comm for comm in (comm_of(part.group._reduce_scatter_process_group) for part in self._parts)}.values():
            agree(comm, failure, claims)
        for part, entry in zip(self._parts, saved["parts"]):
            own = self._comm(part.group._reduce_scatter_process_group, self.codec)
            failure = None
            mine = torch.empty(entry["count"], dtype=getattr(torch, entry["dtype"] or "float32"))
            residual = Residual(own, mine, in_blocks=True) if entry["count"] else None
            try:
                if residual is not None:
                    residual.load(entry["bytes"])
            except (Error, TypeError) as error:
                failure = error
            agree(own, failure, entry["count"])
            if part.residual is not None:
                part.residual.free()
            part.residual, part.steps = residual, entry["steps"]

    def _check_saved(self, saved: Mapping[str, Any]) -> None:
        for name, mine in (("rank", dist.get_rank()), ("ranks", dist.get_world_size())):
            if saved[name] != mine:
                raise ValueError(f"the saved state's {name} is {show(saved[name])}; allowed is {mine}")
        names = [entry["names"] for entry in saved["parts"]]
        if names != [part.names for part in self._parts]:
            raise ValueError("the saved state is of another model, or of one that was sharded otherwise")
        for entry in saved["parts"]:
            whole("the saved state's steps", entry["steps"])
            if whole("the saved state's count", entry["count"]) and not isinstance(getattr(torch, entry["dtype"], None), torch.dtype):
                raise ValueError(f"the saved state's dtype is {show(entry['dtype'])}")

    def close(self) -> None:
        """Frees residuals and communicators. Collective; before the process groups are destroyed. It can be used again."""
        for part in self._parts:
            if part.residual is not None:
                part.residual.free()
            part.residual = None
        for own in self._own.values():
            own.Free()
        self._own, self._paying = {}, {}


class _Comm:
    """What FSDP calls for one part; it asks for memory first."""

    def __init__(self, state: ShardedState, part: _Part) -> None:
        self._state, self._part = state, part

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)


class _ReduceScatter(_Comm):
    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, op: Any, async_op: bool = False) -> Any:
        self._state.reduce_scatter(self._part, output_tensor, input_tensor, group, op)
        return Done([output_tensor]) if async_op else None


class _AllGather(_Comm):
    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, async_op: bool = False) -> Any:
        return self._state.all_gather(self._part, output_tensor, input_tensor, group)


def _scatter_sum(output: torch.Tensor, source: torch.Tensor, group: Any, op: Any) -> None:
    dist.reduce_scatter_tensor(output, source, op=op, group=group)


def _packed(rows: torch.Tensor, spans: List[slice]) -> torch.Tensor:
    """Those columns of all rows, contiguous; the rows themselves if these are all."""
    if len(spans) == 1 and spans[0] == slice(0, rows.shape[1]):
        return rows
    return torch.cat([rows[:, span] for span in spans], dim=1)


def _unpack(packed: torch.Tensor, spans: List[slice], rows: torch.Tensor) -> None:
    first = 0
    for span in spans:
        end = first + span.stop - span.start
        rows[:, span].copy_(packed[:, first:end])
        first = end


def _saved(residual: Optional[Residual]) -> Dict[str, Any]:
    if residual is None:
        return {"count": 0, "dtype": "", "bytes": b""}
    return {"count": residual.count, "dtype": residual.type_name, "bytes": residual.save()}
