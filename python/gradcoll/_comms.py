"""What is chosen for a communicator, and what it tells: settings, statistics, tree."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
from typing import Any, Iterator, Mapping, Optional, Tuple

from mpi4py import MPI

from ._capi import TREE_FORMATS, Comm, GC_Stats, handle, lib
from ._errors import call, comm_or_world, show, text_argument


def version() -> Tuple[int, int, int]:
    """Of the library that is loaded."""
    numbers = (ctypes.c_int * 3)()
    places = [ctypes.cast(ctypes.addressof(numbers) + 4 * i, ctypes.POINTER(ctypes.c_int)) for i in range(3)]
    lib.GC_Get_version(*places)
    return numbers[0], numbers[1], numbers[2]


def attach(comm: Any = None) -> None:
    """Makes the communicator's state (tree, private duplicate) now, not in its first call, and measures a network of
    several hosts that nobody has told of. Collective."""
    comm = comm_or_world(comm)
    call(comm, lib.GC_Comm_attach, handle(comm))


def shrink(comm: Any) -> MPI.Intracomm:
    """A communicator of the ranks that live, with the settings of comm, of which a rank has died. Collective.

    All use of comm ends: what is left is to free what was made on it. Error if the MPI library has no ULFM.
    """
    comm = comm_or_world(comm)
    made = MPI.Intracomm()
    place = Comm.from_address(MPI._addressof(made))
    call(comm, lib.GC_Comm_shrink, handle(comm), ctypes.byref(place))
    return made


def set_codec(comm: Any, codec: str) -> None:
    """The codec of the communicator from now on: "exact", "2:4", "bf16", "int8", ... Collective.

    Sums of sizes outside gc_compress_bytes, other ops and integers stay exact.
    """
    comm = comm_or_world(comm)
    call(comm, lib.GC_Comm_set_codec, handle(comm), text_argument("codec", codec))


def settings_of(codec: Optional[str], options: Optional[Mapping[str, Any]]) -> Mapping[str, str]:
    """What a request or an engine asks for itself, by info key."""
    settings = {}
    if options is not None:
        if not isinstance(options, Mapping):
            raise TypeError(f"options is {show(options)} ({type(options).__name__}); allowed is a dict of settings")
        for key, value in options.items():
            text_argument("a key of options", key)
            text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
            settings[key] = text_argument(f"options[{key!r}]", text).decode()
    if codec is not None:
        if "gc_codec" in settings:
            raise ValueError("the codec is given twice: as codec and in options")
        settings["gc_codec"] = text_argument("codec", codec).decode()
    return settings


@contextlib.contextmanager
def info_with(settings: Mapping[str, str]) -> Iterator[Any]:
    """The C handle of an info object that holds them."""
    info = MPI.Info.Create()
    try:
        for key, value in settings.items():
            info.Set(key, value)
        yield handle(info)
    finally:
        info.Free()


def set_option(comm: Any, key: str, value: Any) -> None:
    """Any setting by its info key, such as ("gc_compress_bytes", "256K"). Collective."""
    comm = comm_or_world(comm)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    call(comm, lib.GC_Comm_set_option, handle(comm), text_argument("key", key), text_argument("value", text))


def get_option(comm: Any, key: str) -> str:
    """The value in force. Local."""
    comm = comm_or_world(comm)
    name = text_argument("key", key)
    length = ctypes.c_int()
    call(comm, lib.GC_Comm_get_option, handle(comm), name, None, 0, ctypes.byref(length))
    text = ctypes.create_string_buffer(length.value + 1)
    call(comm, lib.GC_Comm_get_option, handle(comm), name, text, len(text), None)
    return text.value.decode()


def set_step(comm: Any, step: int) -> None:
    """The step at which the communicator's schedule is. Local, but all ranks say the same."""
    comm = comm_or_world(comm)
    call(comm, lib.GC_Step, handle(comm), step_argument(step))


def step_argument(step: Any) -> int:
    if isinstance(step, bool) or not hasattr(step, "__index__"):
        raise TypeError(f"step is {show(step)} ({type(step).__name__}); allowed are ints from 0")
    if not 0 <= int(step) < 2**63:
        raise ValueError(f"step is {int(step)}; allowed are 0 to 2**63 - 1")
    return int(step)


@dataclasses.dataclass(frozen=True)
class Stats:
    """Of this rank, since the communicator was attached or its statistics were reset."""

    calls_tree: int  #: operations served, over the tree or through the shared memory of one host
    calls_compressed: int  #: of these, with a lossy codec
    calls_passed: int  #: operations given to the MPI library
    bytes_reduced: int  #: vector bytes of the operations that were served
    bytes_sent: int  #: what this rank sent for them: framed messages, or the vector in shared memory
    bytes_sent_exact: int  #: what it would have sent with the exact codec
    messages_sent: int
    seconds_total: float  #: inside the library's blocking calls, starts, tests and waits
    last_pass_reason: str  #: why the last call passed to the MPI library
    last_agents: str  #: what NIC agents did of the last call that was served, or why nothing


def stats(comm: Any = None) -> Stats:
    """The communicator's statistics. Local."""
    comm = comm_or_world(comm)
    out = GC_Stats()
    call(comm, lib.GC_Comm_get_stats, handle(comm), ctypes.byref(out))
    return stats_of(out)


def stats_of(read: GC_Stats) -> Stats:
    """As Python has them."""
    values = {name: getattr(read, name) for name, _ in GC_Stats._fields_}
    for name in ("last_pass_reason", "last_agents"):
        values[name] = (values[name] or b"").decode(errors="replace")
    return Stats(**values)


def reset_stats(comm: Any = None) -> None:
    """Counts from zero again. Local."""
    comm = comm_or_world(comm)
    call(comm, lib.GC_Comm_reset_stats, handle(comm))


def tree(comm: Any = None, format: str = "text") -> str:
    """The communicator's tree: "text", "json", "dot", "expression" (what GC_TOPOLOGY accepts)
    or "origin" (where it came from). Collective if the communicator is not attached yet."""
    comm = comm_or_world(comm)
    if format not in TREE_FORMATS:
        raise ValueError(f"format is {show(format)}; allowed are {', '.join(map(repr, TREE_FORMATS))}")
    number = TREE_FORMATS.index(format)
    size = ctypes.c_size_t()
    call(comm, lib.GC_Comm_get_tree, handle(comm), number, None, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    call(comm, lib.GC_Comm_get_tree, handle(comm), number, text, ctypes.byref(size))
    return text.value.decode()


_CodecAndTolerance = Tuple[str, str]  # gc_codec, gc_tolerance


class codec_for_a_while:
    """Sets the communicator's codec, its tolerance or both, and puts back what held before. Collective, unless they
    hold already."""

    def __init__(self, comm: MPI.Comm, codec: Optional[str], tolerance: Optional[str] = None) -> None:
        self._comm = comm
        self._before = (get_option(comm, "gc_codec"), get_option(comm, "gc_tolerance"))
        wanted = codec if codec is not None else "exact" if tolerance is not None else None
        self._wanted = (
            self._before[0] if wanted is None else wanted,
            self._before[1] if tolerance is None else tolerance,
        )

    def __enter__(self) -> None:
        try:
            self._go(self._before, self._wanted)
        except BaseException:
            self._go(None, self._before)
            raise

    def __exit__(self, *failure: Any) -> None:
        self._go(self._wanted, self._before)

    def _go(self, held: Optional[_CodecAndTolerance], wanted: _CodecAndTolerance) -> None:
        """A codec and a tolerance must fit at every moment, and exact fits all."""
        if held == wanted:
            return
        codec, tolerance = wanted
        if held is None or held[1] != tolerance:
            set_codec(self._comm, "exact")
            set_option(self._comm, "gc_tolerance", tolerance)
        set_option(self._comm, "gc_codec", codec)
