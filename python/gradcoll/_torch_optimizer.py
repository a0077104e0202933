"""An optimizer whose gradients are summed over all ranks while the backward pass goes on."""

import contextlib
import inspect
import sys
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

import torch
from mpi4py import MPI

from ._buffers import check_tensor
from ._engine import Handle
from ._errors import Error, comm_or_world, show
from ._torch_checks import check_alike
from ._torch_engine import NamedGradients


class EngineOptimizer(torch.optim.Optimizer):
    """An optimizer whose step() uses gradients summed over all ranks, for programs without
    DistributedDataParallel. Each gradient is handed in when the backward pass has it, and is None until it is
    summed; backward() returns when all are. So what comes between backward() and step() (clipping, a GradScaler)
    sees the same sums on all ranks.

    optimizer: any of torch's, over parameters of the model. The other arguments are EngineState's.

    Making one, backward(), step(), synchronize(), reconfigure(), close() and gradients.load_state_dict() are
    collective. Parameters and buffers of the model become those of rank 0 at first. A parameter that had no gradient
    on a rank counts as zeros there; step(closure) goes by the average of the ranks' losses, and returns it. A rank
    without a backward pass calls synchronize() in its place, or only step() if the others do nothing in between.
    """

    def __init__(
        self, optimizer: torch.optim.Optimizer, model: torch.nn.Module, comm: Any = None, **arguments: Any
    ) -> None:
        _check(optimizer, model)
        self.__dict__["_inner"] = None  # until all of its own attributes are there, none is looked for inside
        self.gradients = NamedGradients(model, comm, **arguments)
        self._handles: Dict[torch.Tensor, Handle] = {}
        self._sums: Set[torch.Tensor] = set()  # parameters whose gradient is a sum already
        self._hands_in = True
        self._is_synchronized = False  # the sums of this step are there, and step() has not used them
        self._sees_end = False  # of the backward pass at work
        self._hooks: List[Any] = []
        self._model = model
        self._inner = optimizer
        for name, buffer in model.named_buffers():
            check_tensor(f"buffer {name!r}", buffer)
        self._meet(self.gradients.comm)
        self.gradients.attach()
        for parameter in filter(torch.is_floating_point, self._all()):
            self._hooks += _hooks_around_accumulation(parameter, self._begins, self._ready)

    # What frameworks read and set, such as param_groups and GradScaler's found_inf, is that of the optimizer inside. What
    # they replace, such as step, is this one's.
    def __getattr__(self, name: str) -> Any:
        if self.__dict__.get("_inner") is None:
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_own(name):
            object.__setattr__(self, name, value)
        else:
            setattr(self._inner, name, value)

    def __delattr__(self, name: str) -> None:
        if self._is_own(name):
            object.__delattr__(self, name)
        else:
            delattr(self._inner, name)

    def _is_own(self, name: str) -> bool:
        return self.__dict__.get("_inner") is None or name in self.__dict__ or hasattr(EngineOptimizer, name)

    def __repr__(self) -> str:
        return f"EngineOptimizer({self._inner!r})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "an EngineOptimizer is neither copied nor pickled: its engine belongs to this process; save its state_dict() "
            "and gradients.state_dict()"
        )

    def state_dict(self) -> Dict[str, Any]:
        """The optimizer's. What codecs dropped is in gradients.state_dict(), which every rank saves for itself."""
        return self._inner.state_dict()

    def load_state_dict(self, state_dict: Any) -> None:
        self._inner.load_state_dict(state_dict)

    def add_param_group(self, param_group: Any) -> None:
        raise NotImplementedError("parameters are added to the optimizer before it is given to EngineOptimizer")

    def zero_grad(self, *arguments: Any, **named: Any) -> None:
        if self._handles:
            raise RuntimeError(
                "gradients are being summed, because a backward pass has failed or is at work; call synchronize() before "
                "zero_grad()"
            )
        self._is_synchronized = False
        self._sums.clear()
        self._inner.zero_grad(*arguments, **named)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Backward passes inside add to the gradients of this rank alone; the next one outside hands in all."""
        before, self._hands_in = self._hands_in, False
        try:
            yield
        finally:
            self._hands_in = before

    def synchronize(self) -> None:
        """Waits until the gradients of this step are summed, as backward() does: for a rank without a backward pass."""
        if self._is_synchronized and not self._begins_anew():
            return
        self._hand_in_rest()
        handles, self._handles = self._handles, {}
        failure = None
        for parameter, handle in handles.items():
            try:
                parameter.grad = handle.wait()
            except Error as error:
                failure = failure or error
        if failure is not None:
            raise failure
        self.gradients.step += 1
        self._is_synchronized = True
        self._sums = set(handles)

    def step(self, closure: Optional[Callable[[], Any]] = None, **arguments: Any) -> Any:
        if closure is None:
            self._take_sums()
            return self._inner.step(**arguments)

        def synchronized() -> Any:
            with torch.enable_grad():
                loss = closure()
            self._take_sums()
            return self._average_of(loss)

        return self._inner.step(synchronized, **arguments)

    def reconfigure(self, comm: Any) -> None:
        """Goes on with the ranks of another communicator, such as shrink() makes once a rank has died. The step that
        failed is made again from its forward pass on: gradients are None. Parameters, buffers and the step become
        those of rank 0. Collective over `comm`; a new rank takes part by making its own."""
        handles, self._handles = self._handles, {}
        for handle in handles.values():
            with contextlib.suppress(Error):
                handle.wait()
        for parameter in self._all():
            parameter.grad = None
        self._sums.clear()
        self._is_synchronized = self._sees_end = False
        comm = comm_or_world(comm)
        self._meet(comm)
        self.gradients.reconfigure(comm)

    def _meet(self, comm: MPI.Comm) -> None:
        """All ranks have the same optimizer, and what rank 0 has."""
        names = [self.gradients.name_of(parameter) for parameter in self._all()]
        check_alike(comm, {f"{name!r} in the optimizer": "there" for name in names})
        _spread(self._model, comm)
        self.gradients.step = comm.bcast(self.gradients.step)

    def close(self) -> None:
        """The optimizer inside is as it was before, and the engine freed. Collective."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        handles, self._handles = self._handles, {}
        self.gradients.close()
        for parameter, handle in handles.items():
            parameter.grad = handle.out

    def _all(self) -> List[torch.Tensor]:
        return [each for group in self._inner.param_groups for each in group["params"]]

    def _summed(self) -> List[torch.Tensor]:
        return [each for each in self._all() if each.requires_grad]

    def _take_sums(self) -> None:
        """For a step of the optimizer inside."""
        if self._handles:
            warnings.warn(
                "gradcoll.torch.EngineOptimizer: step() came before the end of the backward pass was seen, because all "
                "gradients came from nested ones (reentrant checkpoints) and not all parameters had one; call "
                "synchronize() after backward(), or gradients that are read in between are not the sums",
                RuntimeWarning,
                stacklevel=3,
            )
        self.synchronize()
        self._is_synchronized = False

    def _average_of(self, loss: Any) -> Any:
        """Over ranks that have one: an optimizer that goes by it, as LBFGS does, decides alike on all of them."""
        mine = loss if isinstance(loss, torch.Tensor) and loss.numel() == 1 else None
        values = self.gradients.comm.allgather(None if mine is None else mine.item())
        known = [value for value in values if value is not None]
        return loss if mine is None else torch.full_like(mine.detach(), sum(known) / len(known))

    def _begins_anew(self) -> bool:
        """Whether the gradients of a step that was skipped have been cleared. The smallest tells it soonest."""
        return all(map(_is_cleared, sorted(self._summed(), key=torch.numel)))

    def _begins(self, parameter: torch.Tensor) -> None:
        """A backward pass is going to add to its gradient."""
        if parameter not in self._sums:
            return
        if not self._is_synchronized and self.gradients.average:
            return  # the average of averages and of what comes is right
        if not _is_cleared(parameter):
            when = "in this step" if self._is_synchronized else "in an earlier step, and would be once more"
            raise RuntimeError(
                f"the gradient of {self.gradients.name_of(parameter)!r} is summed already {when}; several backward passes a "
                "step need no_sync() around all but the last, and the next step zero_grad() first"
            )
        self._sums.discard(parameter)
        self._is_synchronized = False

    def _ready(self, parameter: torch.Tensor) -> None:
        """A backward pass has added to its gradient."""
        if not self._hands_in:
            return
        if parameter in self._handles:
            raise RuntimeError(
                f"the gradient of {self.gradients.name_of(parameter)!r} came twice in one backward pass; several of them "
                "need no_sync() around all but the last"
            )
        self._hand_in(parameter)
        if not self._sees_end:
            self._sees_end = True
            torch.autograd.Variable._execution_engine.queue_callback(self._backward_ends)

    def _backward_ends(self) -> None:
        """All that this rank has is handed in, for all optimizers, before any of them waits for other ranks."""
        self._sees_end = False
        if _is_nested() and len(self._handles) < len(self._summed()):
            return  # the pass around it may bring the others
        self._hand_in_rest()
        torch.autograd.Variable._execution_engine.queue_callback(self.synchronize)

    def _hand_in_rest(self) -> None:
        for parameter in self._summed():
            if parameter not in self._handles:
                self._begins(parameter)
                self._hand_in(parameter)

    def _hand_in(self, parameter: torch.Tensor) -> None:
        """Nobody sees the gradient before it is summed."""
        with torch.no_grad():
            gradient, parameter.grad = parameter.grad, None
            if gradient is None:
                dtype = self.gradients.gradient_type(self.gradients.name_of(parameter))
                gradient = torch.zeros(parameter.shape, dtype=dtype, device=parameter.device)
            check_tensor(f"the gradient of {self.gradients.name_of(parameter)!r}", gradient)
            self._handles[parameter] = self.gradients.hand_in(parameter, gradient.contiguous())


def _check(optimizer: Any, model: Any) -> None:
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(
            f"optimizer is {show(optimizer)} ({type(optimizer).__name__}); allowed is a torch.optim.Optimizer"
        )
    if "grad_scaler" in inspect.signature(optimizer.step).parameters:
        raise TypeError(
            f"optimizer is a {type(optimizer).__name__}, whose step() takes a grad_scaler that does not reach it through "
            "EngineOptimizer; allowed are those that take attributes, as torch's fused ones do"
        )
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        raise TypeError(
            "model is a DistributedDataParallel, which sums gradients itself; allowed are models without it (or "
            "engine_hook with it)"
        )


def _is_cleared(parameter: torch.Tensor) -> bool:
    return parameter.grad is None or not bool(parameter.grad.detach().any())


def _is_nested() -> bool:
    """Whether this runs inside a backward pass that another one has begun, as reentrant checkpoints do."""
    passes = (torch.autograd.backward.__code__, torch.autograd.grad.__code__)
    frame, count = sys._getframe(1), 0
    while frame is not None:
        count += frame.f_code in passes
        frame = frame.f_back  # type: ignore[assignment]
    return count > 1


def _hooks_around_accumulation(
    parameter: torch.Tensor, before: Callable[[torch.Tensor], None], after: Callable[[torch.Tensor], None]
) -> List[Any]:
    """Calls them before and after a backward pass adds to parameter.grad; also of one that is frozen now, and not later.
    What is returned is kept, and removed in the end."""
    was_frozen = not parameter.requires_grad
    parameter.requires_grad_(True)
    first = parameter.register_hook(lambda _: before(parameter))
    if hasattr(parameter, "register_post_accumulate_grad_hook"):  # since torch 2.1
        second = parameter.register_post_accumulate_grad_hook(after)
    else:
        second = _AccumulationHook(parameter, after)
    parameter.requires_grad_(not was_frozen)
    return [first, second]


class _AccumulationHook:
    def __init__(self, parameter: torch.Tensor, function: Callable[[torch.Tensor], None]) -> None:
        with torch.enable_grad():
            # The node that accumulates lives as long as somebody keeps it.
            self._node = parameter.view_as(parameter).grad_fn.next_functions[0][0]
        self._hook = self._node.register_hook(lambda *_: function(parameter))

    def remove(self) -> None:
        self._hook.remove()


def _spread(model: torch.nn.Module, comm: MPI.Comm) -> None:
    """The model's parameters and buffers become rank 0's."""
    named = [*model.named_parameters(), *model.named_buffers()]
    check_alike(comm, {f"the form of {name!r}": f"{list(each.shape)} {each.dtype}" for name, each in named})
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            values = tensor.detach().cpu().contiguous()
            comm.Bcast([values.view(-1).view(torch.uint8).numpy(), MPI.BYTE])
            if values.data_ptr() != tensor.data_ptr():
                tensor.copy_(values)
