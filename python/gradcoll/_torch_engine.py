"""PyTorch's gradients through an engine: summed by name while the backward pass goes on."""

from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

import torch
import torch.distributed as dist
from mpi4py import MPI

from ._buffers import check_tensor
from ._collectives import EXACT
from ._engine import Engine, Handle
from ._errors import Error, comm_or_world, show, text_argument
from ._residual import Residual
from ._torch_checks import agree, check_alike, check_model, check_ranks, from_the_start, whole
from ._torch_works import Later


class NamedGradients:
    """The gradients of one model in an engine, each under the name of its parameter. Arguments: EngineState's."""

    def __init__(
        self,
        model: torch.nn.Module,
        comm: Any = None,
        codec: str = "exact",
        error_feedback: bool = True,
        min_bytes: int = 64 * 1024,
        warmup_steps: int = 0,
        average: bool = True,
        options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"model is {show(model)} ({type(model).__name__}); allowed is a torch.nn.Module")
        if isinstance(model, torch.nn.parallel.DistributedDataParallel):
            model = model.module
        text_argument("codec", codec)
        self.comm = comm_or_world(comm)
        self.codec = codec
        self.error_feedback = bool(error_feedback)
        self.min_bytes = whole("min_bytes", min_bytes)
        self.warmup_steps = whole("warmup_steps", warmup_steps)
        self.average = bool(average)
        self.options = dict(options or {})
        self.step = 0
        check_model(model)
        self._parameters = dict(model.named_parameters())
        self._dtypes: Dict[str, torch.dtype] = {}  # of the gradients that were handed in or restored
        self._names = {parameter: name for name, parameter in self._parameters.items()}
        places = enumerate(reversed(list(self._parameters)))
        self._priorities = {name: place for place, name in places}
        self._engine: Optional[Engine] = None
        self._is_warming_up = False

    def attach(self) -> Engine:
        """The engine of this step, made at the first call and when warming up ends. Collective then."""
        if self._engine is not None and self._is_warming_up and self.step >= self.warmup_steps:
            self.close()
        if self._engine is None:
            self._check()
            self._is_warming_up = self.step < self.warmup_steps and self.codec not in EXACT
            codec = "exact" if self._is_warming_up else self.codec
            feedback = "on" if self.error_feedback else "off"
            chosen = {"gc_compress_bytes": self.min_bytes, "gc_feedback": feedback}
            self._engine = Engine(self.comm, codec, {**chosen, **self.options})
        return self._engine

    def _check(self) -> None:
        if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
            raise RuntimeError(
                "MPI was initialised without MPI_THREAD_MULTIPLE, so that an engine cannot sum beside the backward "
                "pass; mpi4py asks for it unless mpi4py.rc.thread_level says something else"
            )
        check_alike(self.comm, {"average": self.average, **{f"parameter {name!r}": "there" for name in self._parameters}})

    def name_of(self, parameter: torch.Tensor) -> str:
        if parameter not in self._names:
            raise ValueError(f"a parameter of shape {tuple(parameter.shape)} is not one of the model's")
        return self._names[parameter]

    def gradient_type(self, name: str) -> torch.dtype:
        """That of the parameter's gradient, which new versions of torch may have been told (parameter.grad_dtype)."""
        parameter = self._parameters[name]
        return self._dtypes.get(name) or getattr(parameter, "grad_dtype", None) or parameter.dtype

    def hand_in(self, parameter: torch.Tensor, gradient: torch.Tensor) -> Handle:
        """The sum comes in place. The gradient is contiguous."""
        name = self.name_of(parameter)
        check_tensor(f"the gradient of {name!r}", gradient)
        self._dtypes[name] = gradient.dtype
        if self.average:
            gradient.div_(self.comm.size)
        return self.attach().submit(name, gradient, out=gradient, priority=self._priorities[name])

    def reconfigure(self, comm: Any) -> None:
        """Goes on with the ranks of another communicator, such as shrink() makes, with what codecs have dropped;
        averages are over those. Collective over `comm`."""
        self.comm = comm_or_world(comm)
        if self._engine is not None:
            self._check()
            self._engine.reconfigure(self.comm)

    def close(self) -> None:
        """Frees the engine and what was dropped. Collective. It can be used again."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def residuals(self) -> Dict[str, Residual]:
        """By name, of this step's engine, of the gradients that are compressed. Collective if it is the first call."""
        engine = self.attach()
        found = {
            name: engine.residual(name, torch.empty(parameter.shape, dtype=self.gradient_type(name)))
            for name, parameter in self._parameters.items()
        }
        return {name: residual for name, residual in found.items() if residual is not None}

    def scale_residuals(self, factor: float) -> None:
        """After a change of the loss scale by `factor`: what was dropped before was of the old one."""
        for residual in self.residuals().values():
            residual.scale(factor)

    def state_dict(self) -> Dict[str, Any]:
        """What this rank needs to go on after a restart; every rank saves its own, between steps."""
        residuals = self.residuals()
        return {
            "step": self.step,
            "rank": self.comm.rank,
            "ranks": self.comm.size,
            "residuals": {name: residual.save() for name, residual in residuals.items()},
            "dtypes": {name: str(self.gradient_type(name)).replace("torch.", "") for name in residuals},
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Restores what state_dict() gave. Collective, and all ranks fail if one does; nothing is changed then."""
        failure: Optional[Exception] = None
        try:
            step, names = self._check_saved(saved)
        except (KeyError, TypeError, ValueError) as error:
            failure, step, names = error, 0, []
        agree(self.comm, failure, (step, names))
        before = self.state_dict()
        self.step = step
        try:
            self._load(saved)
        except (AttributeError, Error, KeyError, TypeError) as error:
            failure = error
        try:
            agree(self.comm, failure, names)
        except Exception:
            self.step = before["step"]
            self._load(before)
            raise

    def _load(self, state: Mapping[str, Any]) -> None:
        saved = state["residuals"]
        for name, dtype in state.get("dtypes", {}).items():  # which states of older versions lack
            self._dtypes[name] = getattr(torch, dtype)
        residuals = self.residuals()
        for name, residual in residuals.items():
            residual.load(saved[name]) if name in saved else residual.reset()
        for name in saved:
            if name not in residuals:
                raise KeyError(f"the gradient {name!r} is summed exactly, and has no residual")

    def _check_saved(self, saved: Mapping[str, Any]) -> Tuple[int, List[str]]:
        for name, mine in (("rank", self.comm.rank), ("ranks", self.comm.size)):
            if saved[name] != mine:
                raise ValueError(f"the saved state's {name} is {show(saved[name])}; allowed is {mine}")
        return whole("the saved state's step", saved["step"]), sorted(saved["residuals"])


class EngineState(NamedGradients):
    """How engine_hook sums, and what it keeps between steps.

    model: a module, or a DistributedDataParallel around it. Gradients go by the names of its parameters, and
        those that the next forward pass needs first go first.
    comm: an mpi4py communicator whose ranks are those of the model's process group; None is MPI.COMM_WORLD.
        The engine works on a duplicate of its own.
    codec: "2:4", "bf16", "int8", ...; "exact" for none.
    error_feedback: what a codec drops of a gradient in one step is added in the next.
    min_bytes: smaller gradients are summed exactly.
    warmup_steps: exact sums in the first steps, when gradients are large and change quickly.
    average: divide by the number of ranks, before the sum.
    options: more settings of the engine by info key, such as {"gc_engine": "ring"}.
    process_group: the model's, if it is not the default one.

    Construction is local. The first step, the one after warming up, attach(), close() and load_state_dict() are
    collective.
    """

    def __init__(
        self, model: torch.nn.Module, comm: Any = None, *, process_group: Any = None, **arguments: Any
    ) -> None:
        super().__init__(model, comm, **arguments)
        self.process_group = process_group
        self._waiter: Optional[Later] = None

    def _check(self) -> None:
        super()._check()
        check_ranks(self.comm, self.process_group)

    def sum_bucket(self, bucket: Any) -> "torch.futures.Future[torch.Tensor]":
        """Of the bucket's buffer, when all its gradients are summed (or averaged) over all ranks. Never waits for
        other ranks, but where attach() does."""
        flat = from_the_start(bucket.buffer())
        handles = [self.hand_in(parameter, piece) for parameter, piece in _pieces_of(bucket, flat)]
        if bucket.is_last():
            self.step += 1
        if self._waiter is None:
            self._waiter = Later("gradcoll.engine_hook", is_beside=True)
        return self._waiter.do(lambda: _wait_for(handles), flat)

    def reconfigure(self, comm: Any, process_group: Any = None) -> None:
        """Goes on with the ranks of another communicator, which are those of `process_group`. The model needs a
        DistributedDataParallel of that group, and the hook is registered there. Collective over `comm`."""
        self.process_group = process_group
        super().reconfigure(comm)

    def close(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            waiter.end()
        super().close()


# DistributedDataParallel looks at these annotations, so that they are types and not strings.
def engine_hook(state: EngineState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """For DistributedDataParallel.register_comm_hook(EngineState(model, ...), engine_hook)."""
    if not isinstance(state, EngineState):
        raise TypeError(f"state is {show(state)} ({type(state).__name__}); allowed is a gradcoll.torch.EngineState")
    return state.sum_bucket(bucket)


def _wait_for(handles: List[Handle]) -> None:
    """For all of them; raises the first failure."""
    failure = None
    for handle in handles:
        try:
            handle.wait()
        except Exception as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _pieces_of(bucket: Any, flat: torch.Tensor) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
    """Every parameter with its part of the buffer, where gradients lie one after the other."""
    first = 0
    for parameter, gradient in zip(bucket.parameters(), bucket.gradients()):
        yield parameter, flat[first : first + gradient.numel()]
        first += gradient.numel()
    if first != flat.numel():
        raise ValueError(f"the bucket's gradients have {first} elements, its buffer {flat.numel()}")
