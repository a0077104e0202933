"""Accelerate takes each process for the only one where there is no GPU, unless it is told cpu=True: that is said at the first step."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from typing import Any

try:
    from torch.optim.optimizer import register_optimizer_step_pre_hook as _register
except ImportError:  # before torch 2.0, which Accelerate needs
    _register = None  # type: ignore[assignment]

from ._launcher import processes_said


_is_watching = False
_has_looked = False


def watch() -> None:
    """Looks once, before the first step of any optimizer. Nothing is looked at in jobs of one process or without Accelerate."""
    global _is_watching
    if _is_watching or _register is None or processes_said() < 2 or importlib.util.find_spec("accelerate") is None:
        return
    _is_watching = True
    _register(_look)


def _look(*_: Any) -> None:
    """A hook of steps. It stays, as torch's own loop over hooks bears no removal."""
    global _has_looked
    if _has_looked:
        return
    _has_looked = True
    state = getattr(sys.modules.get("accelerate.state"), "PartialState", None)
    if state is None or state._shared_state.get("num_processes") != 1:
        return
    warnings.warn(
        f"gradcoll: the job has {processes_said()} processes, but Accelerate takes each for the only one: all train alone. Call "
        'gradcoll.torch.init_process_group(backend="gradcoll") and then Accelerator(cpu=True)',
        RuntimeWarning,
        stacklevel=2,
    )
