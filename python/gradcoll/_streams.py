"""Tensors on devices: where calls stand among the work that torch's streams have been given.

A call that takes device memory begins behind the stream that its communicator was told, or the default one, and has ended
there when it returns. CUDA is the device that torch and the library both know.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Set

from ._capi import lib
from ._errors import Error, _text_of


def _cuda() -> Any:
    return sys.modules["torch"].cuda


def is_on_device(array: Any) -> bool:
    """Whether it is a tensor that the CPU cannot read; of numpy's arrays none is."""
    device = getattr(array, "device", "cpu")  # numpy 2 has a text there
    return getattr(device, "type", "cpu") != "cpu"


def lead(*arrays: Any) -> None:
    """Makes the default stream of the arrays' device wait for the current one: calls on communicators that were told of no
    stream, and copies of engines, begin behind it. Local. Nothing for memory of the host."""
    for array in arrays:
        if is_on_device(array):
            current, default = _cuda().current_stream(array.device), _cuda().default_stream(array.device)
            if current != default:
                default.wait_stream(current)


class Order:
    """One call among the work of a device: behind what the caller's stream was given before the call, and before what a stream
    is given after join(). No thread waits for the device but the one that makes the call."""

    def __init__(self, device: Any, stream: Any, results: Sequence[Any]) -> None:
        cuda = _cuda()
        self._device, self._stream = device, stream
        self._before, self._after = cuda.Event(), cuda.Event()
        self._before.record(cuda.current_stream(device))
        for tensor in results:  # memory that is freed meanwhile is not given away before the call's work has ended
            tensor.record_stream(stream)

    def run(self, function: Callable[..., None], *arguments: Any) -> None:
        """Makes the call, with the group's stream as the current one."""
        with _cuda().stream(self._stream):
            self._stream.wait_event(self._before)
            try:
                function(*arguments)
            finally:
                self._after.record(self._stream)

    def join(self) -> None:
        """After run(): what the caller's current stream is given from now on begins behind the call."""
        _cuda().current_stream(self._device).wait_event(self._after)


class Streams:
    """Those of one communicator, one for each device, on which its calls do what they do there."""

    def __init__(self, comm_handle: Any, name: str) -> None:
        self._comm_handle, self._name = comm_handle, name
        self._streams: Dict[Any, Any] = {}  # by device
        self._followed: Any = None  # the device whose stream the communicator was told
        self._refused: Set[Any] = set()

    def order(self, results: List[Any], arguments: Sequence[Any]) -> Optional[Order]:
        """That of a call with these tensors; None for tensors of the host. Arguments that are no tensors do not matter."""
        if results and not is_on_device(results[0]):
            return None
        for tensor in (*results, *arguments):
            if is_on_device(tensor):
                return Order(tensor.device, self._of(tensor.device), [each for each in results if is_on_device(each)])
        return None

    def follow(self, device: Any) -> None:
        """Calls on the communicator begin behind the stream there. Collective at first. Errors: gradcoll.Error, which says why
        the library does not take memory of the device."""
        if self._followed != device:
            code = lib.GC_Comm_set_stream(self._comm_handle, self._of(device).cuda_stream)
            if code != 0:
                raise Error(code, _text_of(code))
            self._followed = device

    def may_follow(self, device: Any) -> bool:
        """Whether follow() was possible; where it is not, that is said once."""
        if device in self._refused:
            return False
        try:
            self.follow(device)
        except Error as error:
            self._refused.add(device)
            said = f"gradcoll: sums of group {self._name!r} go through copies in the host's memory: {error}"
            warnings.warn(said, RuntimeWarning, stacklevel=2)
            return False
        return True

    def _of(self, device: Any) -> Any:
        if device not in self._streams:
            self._streams[device] = _cuda().Stream(device)
        return self._streams[device]
