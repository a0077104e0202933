"""Saved tensors that follow a plan of gradcoll move: what autograd keeps of each layer leaves the
device and is back before its backward."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

import torch

from . import _mover
from ._buffers import check_tensor
from ._errors import show, text_argument

Region = Tuple[str, int]  # a layer's forward for a micro-batch: name, micro-batch


def _storage_of(tensor: torch.Tensor) -> Any:
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()


def _bytes_of(storage: Any) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(storage)


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether its storage and a view are all that it is."""
    if type(tensor) not in _plain_types or not tensor.is_cpu or tensor.layout is not torch.strided or tensor.is_nested:
        try:
            check_tensor("saved", tensor)
        except TypeError:
            return False
    return not (tensor.is_conj() or tensor.is_neg() or tensor._is_zerotensor() or tensor.is_quantized)


_plain_types = (torch.Tensor, torch.nn.Parameter)


class _View(NamedTuple):
    """How a saved tensor looks into its storage."""

    dtype: torch.dtype
    size: torch.Size
    stride: Tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, tensor: torch.Tensor) -> "_View":
        return cls(tensor.dtype, tensor.size(), tensor.stride(), tensor.storage_offset())

    def into(self, storage: Any) -> torch.Tensor:
        return torch.empty(0, dtype=self.dtype).set_(storage, self.offset, self.size, self.stride)


class _Packed(NamedTuple):
    """What autograd holds in place of a saved tensor that moves."""

    kept: int  # a number of the recorder's or the plan's tensor
    view: _View


class _Here(NamedTuple):
    """What autograd holds in place of a saved tensor that does not move."""

    kept: int
    tensor: torch.Tensor


def _as_it_is(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


class _Layers:
    """What the recorder and the mover share: which storages autograd saves while a layer runs forward.

    The unit is a storage: views of one allocation leave and come back as one. Parameters stay, and so
    does what is smaller than `least` bytes, or saved outside of all layers.
    """

    def __init__(self, parameters: Iterable[torch.Tensor], least: int) -> None:
        self._own = {_storage_of(parameter).data_ptr() for parameter in parameters}
        self._least = least
        self._region: Optional[Region] = None
        # Of the layer at work: number, whether it stays where it is, and the tensor, which is held so that no other gets
        # its address meanwhile.
        self._seen: Dict[Tuple[int, int], Tuple[int, bool, torch.Tensor]] = {}

    @contextlib.contextmanager
    def layer(self, name: str, micro_batch: int = 0) -> Iterator[None]:
        """Around the forward of one layer. Layers do not nest."""
        text_argument("name", name)
        if self._region is not None:
            raise ValueError(f"layer {name} begins while {self._region[0]} runs; layers do not nest")
        self._begin_layer((name, micro_batch))
        self._region = (name, micro_batch)
        try:
            with torch.autograd.graph.saved_tensors_hooks(*self._hooks((name, micro_batch))):
                yield
        finally:
            self._region = None
            self._seen.clear()
        self._end_layer((name, micro_batch))

    def _hooks(self, region: Region) -> Tuple[Any, Any]:
        return self._pack, self._unpack

    def _pack(self, tensor: torch.Tensor) -> Any:
        if not _is_plain(tensor):
            return tensor
        storage = _storage_of(tensor)
        if storage.data_ptr() in self._own or storage.nbytes() < self._least:
            return tensor
        # A tensor that was changed in between is another one.
        key = (storage.data_ptr(), tensor._version)
        if key not in self._seen:
            kept = self._keep(storage)
            if kept is None:
                return tensor
            self._seen[key] = (*kept, tensor)
        number, is_here, _ = self._seen[key]
        return _Here(number, tensor) if is_here else _Packed(number, _View.of(tensor))

    def _unpack(self, packed: Any) -> torch.Tensor:
        if isinstance(packed, torch.Tensor):
            return packed
        if isinstance(packed, _Here):
            self._asks_for(packed.kept)
            return packed.tensor
        return packed.view.into(self._storage_back(packed.kept))

    # What differs.
    def _begin_layer(self, region: Region) -> None:
        raise NotImplementedError

    def _end_layer(self, region: Region) -> None:
        raise NotImplementedError

    def _keep(self, storage: Any) -> Optional[Tuple[int, bool]]:
        """A number for the storage, and whether its bytes stay where they are. None: it is left alone."""
        raise NotImplementedError

    def _asks_for(self, kept: int) -> None:
        """Called before backward uses what stayed where it was."""
        raise NotImplementedError

    def _storage_back(self, kept: int) -> Any:
        raise NotImplementedError


class LayerRecorder(_Layers):
    """Runs a step as it is, and writes down what gradcoll plan needs of it.

    with recorder.step():
        for name, layer in layers:
            with recorder.layer(name):
                x = layer(x)
        loss(x).backward()
    recorder.write("model.json")      # for gradcoll move --model

    A layer's backward lasts from its first saved tensor that autograd asks for to that of another layer.
    """

    def __init__(self, parameters: Iterable[torch.Tensor] = (), least: int = 1024) -> None:
        super().__init__(parameters, least)
        self._start_over()

    def _start_over(self) -> None:
        self._forward: Dict[str, float] = {}
        self._backward: Dict[str, float] = {}
        self._bytes: Dict[str, List[int]] = {}
        self._kept: List[str] = []  # the layer of each storage
        self._since = 0.0
        self._in_backward: Optional[str] = None

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around forward and backward of one micro-batch."""
        self._start_over()
        yield
        self._to_backward(None)
        self._kept.clear()

    def _begin_layer(self, region: Region) -> None:
        if region[0] in self._forward:
            raise ValueError(f"layer {region[0]} runs twice; each needs a name of its own")
        self._bytes[region[0]] = []
        self._since = time.perf_counter()

    def _end_layer(self, region: Region) -> None:
        self._forward[region[0]] = time.perf_counter() - self._since

    def _keep(self, storage: Any) -> Optional[Tuple[int, bool]]:
        assert self._region is not None
        self._bytes[self._region[0]].append(storage.nbytes())
        self._kept.append(self._region[0])
        return len(self._kept) - 1, True

    def _asks_for(self, kept: int) -> None:
        self._to_backward(self._kept[kept])

    def _to_backward(self, layer: Optional[str]) -> None:
        now = time.perf_counter()
        if self._in_backward is not None:
            self._backward[self._in_backward] = self._backward.get(self._in_backward, 0.0) + now - self._since
        self._in_backward, self._since = layer, now

    def model(self) -> Dict[str, Any]:
        """The layers of the last step in the form of docs/schemas/mover-model.json. A sample is the micro-batch
        that ran."""
        return {
            "name": "recorded",
            "layers": [
                {
                    "name": name,
                    "kept": [{"name": f"saved {n}", "bytes": size} for n, size in enumerate(self._bytes[name])],
                    "forward_us": 1e6 * seconds,
                    "backward_us": 1e6 * self._backward.get(name, 0.0),
                }
                for name, seconds in self._forward.items()
            ],
        }

    def write(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.model(), file, indent=1)


class MoverStats(NamedTuple):
    """Of the last step; GC_Mover_stats has more."""

    moves: int
    moved_bytes: int
    overlap: float
    waits: int
    peak_bytes: int
    # Of layers of which something moves: saved tensors that the plan has no tensor for, which stayed.
    unplanned_bytes: int
    replans: int


class Mover(_Layers):
    """Carries a plan out for one device: what autograd saves moves as the plan says. What does not move stays as it is.

    `plan` is a file that gradcoll move has written, of a model that LayerRecorder wrote. Collective over `comm`: rank
    0 reads the file. A context manager frees it. Each step:

    with mover.step():
        for name, layer in layers:
            with mover.layer(name, micro_batch):
                x = layer(x)
        loss(x).backward()

    With `drift` above 0 plans are made again, as by gradcoll.Mover. Operators of the plan begin and end with the layers'
    forwards, and in backward with the saved tensors that autograd asks for. Values are the same to the last bit. What
    the plan has no tensor of that size for stays as well.
    """

    def __init__(
        self,
        plan: str,
        comm: Any = None,
        pipeline_rank: int = 0,
        parameters: Iterable[torch.Tensor] = (),
        least: int = 1024,
        drift: float = 0.0,
    ) -> None:
        super().__init__(parameters, least)
        self._mover = _mover.Mover(plan, comm, pipeline_rank, drift)
        self.comm = self._mover.comm
        self._in_step = False
        self._next, self._runs = 0, False  # the operator at work, or that comes next
        self._unplanned = 0
        self._back: Dict[int, Any] = {}  # storages of the operator at work
        self._replans, self._drift = 0, drift  # those whose moves are known
        self._read_plan()

    def _read_plan(self) -> None:
        self._operators = self._mover.operator_count
        self._forwards: Dict[Region, int] = {}
        for n, op in enumerate(self._mover.operators):
            if op.kind == "forward":
                self._forwards.setdefault((op.layer, op.micro_batch), n)
        self._last_use: Dict[int, int] = {}
        self._sizes: Dict[int, int] = {}
        self._of_layer: Dict[int, List[int]] = {}  # forward operator: its tensors
        for n, tensor in enumerate(self._mover.tensors):
            if tensor.stays or tensor.first_use < 0:
                continue
            self._last_use[n], self._sizes[n] = tensor.last_use, tensor.bytes
            self._of_layer.setdefault(tensor.first_use, []).append(n)
        self._find_moves({n for n in self._last_use if self._mover.tensors[n].moves})

    def _find_moves(self, moves: Set[int]) -> None:
        self._moves = moves
        # Forward operators of layers of which nothing moves, with the operator of their backward if there is but one.
        self._still: Dict[int, int] = {}
        for op in self._forwards.values():
            tensors = self._of_layer.get(op, [])
            backwards = {self._last_use[tensor] for tensor in tensors}
            if len(backwards) == 1 and not moves.intersection(tensors):
                self._still[op] = backwards.pop()

    def _read_moves(self) -> None:
        """Asks again what moves, if there may be another plan."""
        if self._drift == 0:
            return
        replans = self._mover.stats.replans
        if replans != self._replans:
            self._find_moves({n for n in self._last_use if self._mover.tensor_at(n).moves})
            self._replans = replans

    def _hooks(self, region: Region) -> Tuple[Any, Any]:
        """Where nothing of a layer moves, autograd only tells when its backward begins."""
        backward = self._still.get(self._forwards[region])
        if backward is None:
            return self._pack, self._unpack

        def unpack(tensor: torch.Tensor) -> torch.Tensor:
            if self._next != backward or not self._runs:
                self._begin(backward)
            return tensor

        return _as_it_is, unpack

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around all micro-batches of a training step. After an exception in it the mover can only be freed."""
        self._mover.begin_step()
        self._read_moves()
        self._in_step, self._next, self._runs, self._unplanned = True, 0, False, 0
        yield
        self._advance(self._operators)
        self._mover.end_step()
        self._in_step = False

    def _advance(self, op: int) -> None:
        """Ends what runs, and runs those before `op`, which the program has nothing for."""
        if self._runs and self._next == op:
            return
        if self._next + self._runs > op:
            raise ValueError(
                f"operator {op} of the plan is over, {self._next} is at work: layers ran in another order than the plan's, "
                "or a backward ran twice"
            )
        while self._next < op or self._runs:
            if not self._runs:
                self._mover.begin_operator(self._next)
            self._back.clear()
            self._mover.end_operator(self._next)
            self._next, self._runs = self._next + 1, False

    def _begin(self, op: int) -> None:
        self._advance(op)
        if not self._runs:
            self._mover.begin_operator(op)
            self._runs = True

    def _begin_layer(self, region: Region) -> None:
        if not self._in_step:
            raise ValueError(f"layer {region[0]} runs outside of step()")
        if region not in self._forwards:
            raise ValueError(f"layer {show(region[0])}, micro-batch {region[1]}: the plan has none of that name")
        op = self._forwards[region]
        self._begin(op)
        self._free: Dict[int, List[int]] = {}
        for tensor in reversed(self._of_layer.get(op, [])) if op not in self._still else ():
            self._free.setdefault(self._sizes[tensor], []).append(tensor)

    def _end_layer(self, region: Region) -> None:
        self._advance(self._next + 1)

    def _memory(self, tensor: int) -> torch.Tensor:
        return torch.frombuffer(self._mover.data(tensor), dtype=torch.uint8)

    def _keep(self, storage: Any) -> Optional[Tuple[int, bool]]:
        free = self._free.get(storage.nbytes())
        if not free:
            self._unplanned += storage.nbytes()
            return None
        tensor = free.pop()
        if tensor not in self._moves:
            return tensor, True
        self._memory(tensor).copy_(_bytes_of(storage))
        return tensor, False

    def _asks_for(self, kept: int) -> None:
        self._begin(self._last_use[kept])

    def _storage_back(self, kept: int) -> Any:
        self._begin(self._last_use[kept])
        if kept not in self._back:
            # Gradients may look into it when its operator is over, so the memory goes with the storage.
            self._back[kept] = _storage_of(torch.frombuffer(self._mover.take(kept), dtype=torch.uint8))
        return self._back[kept]

    @property
    def stats(self) -> MoverStats:
        stats = self._mover.stats
        waits = stats.waits_for_tensors + stats.waits_for_memory
        return MoverStats(
            stats.moves, stats.moved_bytes, stats.overlap, waits, stats.peak_bytes, self._unplanned, stats.replans
        )

    def free(self) -> None:
        """Local; nothing may be saved in it any more. Twice is no error."""
        self._mover.free()

    def __enter__(self) -> "Mover":
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()
