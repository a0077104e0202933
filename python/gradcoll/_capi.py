"""The C API of include/gradcoll/*.h as ctypes sees it: one row a function, no logic."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_longlong, c_size_t, c_ulonglong, c_void_p
from typing import Any

from mpi4py import MPI

from ._library import check_built_for, load

# Pointers on Open MPI, ints on MPICH: all kinds of handles are alike.
_Handle: Any = c_void_p if MPI._sizeof(MPI.COMM_WORLD) == ctypes.sizeof(c_void_p) else c_int

Comm = _Handle
Datatype = _Handle
Info = _Handle
Op = _Handle
Count = c_longlong  # MPI_Count
Request = c_void_p  # GC_Request
Residual = c_void_p  # GC_Residual
Engine = c_void_p  # GC_Engine
Handle = c_void_p  # GC_Handle
Mover = c_void_p  # GC_Mover

MAX_ERROR_STRING = 1024
TREE_FORMATS = ("text", "json", "dot", "expression", "origin")  # the values of GC_Tree_format
IN_PLACE = c_void_p(int(MPI.IN_PLACE))


class GC_Stats(ctypes.Structure):
    _fields_ = [
        ("calls_tree", c_ulonglong),
        ("calls_compressed", c_ulonglong),
        ("calls_passed", c_ulonglong),
        ("bytes_reduced", c_ulonglong),
        ("bytes_sent", c_ulonglong),
        ("bytes_sent_exact", c_ulonglong),
        ("messages_sent", c_ulonglong),
        ("seconds_total", c_double),
        ("last_pass_reason", c_char_p),
        ("last_agents", c_char_p),
    ]


class GC_Build(ctypes.Structure):
    _fields_ = [
        ("version", c_char_p),
        ("revision", c_char_p),
        ("build_type", c_char_p),
        ("compiler", c_char_p),
        ("sanitizers", c_char_p),
        ("mpi_built", c_char_p),
        ("mpi_seen", c_char_p),
        ("mpi_text", c_char_p),
        ("mpi_matches", c_int),
        ("cpu_found", c_char_p),
        ("cpu_reduce", c_char_p),
        ("cpu_codecs", c_char_p),
        ("cuda_kernels", c_int),
    ]


class GC_Mover_operator(ctypes.Structure):
    _fields_ = [
        ("kind", c_char_p),
        ("layer", c_char_p),
        ("part", c_int),
        ("micro_batch", c_int),
        ("planned_begin_us", c_double),
        ("planned_end_us", c_double),
        ("measured_begin_us", c_double),
        ("measured_end_us", c_double),
    ]


class GC_Mover_tensor(ctypes.Structure):
    _fields_ = [
        ("kind", c_char_p),
        ("layer", c_char_p),
        ("name", c_char_p),
        ("micro_batch", c_int),
        ("bytes", Count),
        ("stays", c_int),
        ("first_use", c_int),
        ("last_use", c_int),
        ("moves", c_int),
    ]


class GC_Mover_stats(ctypes.Structure):
    _fields_ = [
        ("steps", Count),
        ("moves", Count),
        ("moved_bytes", Count),
        ("moving_us", c_double),
        ("overlap", c_double),
        ("waits_for_tensors", Count),
        ("waits_for_memory", Count),
        ("waited_for_tensors_us", c_double),
        ("waited_for_memory_us", c_double),
        ("longest_wait_us", c_double),
        ("longest_wait_of", c_int),
        ("planned_step_us", c_double),
        ("measured_step_us", c_double),
        ("device_bytes", Count),
        ("peak_bytes", Count),
        ("pool_bytes", Count),
        ("replans", Count),
        ("drift", c_double),
    ]


def handle(thing: Any) -> Any:
    """The C handle of an mpi4py object: what mpi4py 4 gives as a number, and 3 by its address."""
    if hasattr(MPI, "_handleof"):
        return _Handle(MPI._handleof(thing))
    return _Handle.from_address(MPI._addressof(thing))


# name: result, arguments
PROTOTYPES = {
    "GC_Get_version": (c_int, (POINTER(c_int), POINTER(c_int), POINTER(c_int))),
    "GC_Get_build": (c_int, (POINTER(GC_Build),)),
    "GC_Error_string": (c_int, (c_int, c_char_p, POINTER(c_int))),
    "GC_Type_float16": (Datatype, ()),
    "GC_Type_bfloat16": (Datatype, ()),
    "GC_Allreduce_c": (c_int, (c_void_p, c_void_p, Count, Datatype, Op, Comm)),
    "GC_Allreduce_residual": (c_int, (c_void_p, c_void_p, Count, Datatype, Op, Comm, Residual)),
    "GC_Reduce_scatter_block": (c_int, (c_void_p, c_void_p, c_int, Datatype, Op, Comm)),
    "GC_Reduce_scatter_block_residual": (c_int, (c_void_p, c_void_p, Count, Datatype, Op, Comm, Residual)),
    "GC_Allgather": (c_int, (c_void_p, c_int, Datatype, c_void_p, c_int, Datatype, Comm)),
    "GC_Residual_create": (c_int, (Comm, Count, Datatype, POINTER(Residual))),
    "GC_Residual_create_for_blocks": (c_int, (Comm, Count, Datatype, POINTER(Residual))),
    "GC_Residual_free": (c_int, (POINTER(Residual),)),
    "GC_Residual_scale": (c_int, (Residual, c_double)),
    "GC_Residual_reset": (c_int, (Residual,)),
    "GC_Residual_hand_over": (c_int, (Residual, c_void_p)),
    "GC_Residual_size": (c_int, (Residual, POINTER(c_size_t))),
    "GC_Residual_save": (c_int, (Residual, c_void_p, c_size_t)),
    "GC_Residual_load": (c_int, (Residual, c_void_p, c_size_t)),
    "GC_Allreduce_init": (
        c_int,
        (c_void_p, c_void_p, Count, Datatype, Op, Comm, Info, POINTER(Request)),
    ),
    "GC_Start": (c_int, (POINTER(Request),)),
    "GC_Test": (c_int, (POINTER(Request), POINTER(c_int))),
    "GC_Wait": (c_int, (POINTER(Request),)),
    "GC_Request_get_residual": (c_int, (Request, POINTER(Residual))),
    "GC_Request_set_step": (c_int, (Request, c_longlong)),
    "GC_Request_free": (c_int, (POINTER(Request),)),
    "GC_Engine_create": (c_int, (Comm, Info, POINTER(Engine))),
    "GC_Submit": (
        c_int,
        (Engine, c_char_p, c_void_p, c_void_p, Count, Datatype, Op, c_int, POINTER(Handle)),
    ),
    "GC_Engine_get_residual": (c_int, (Engine, c_char_p, Count, Datatype, POINTER(Residual))),
    "GC_Handle_wait": (c_int, (POINTER(Handle),)),
    "GC_Handle_test": (c_int, (POINTER(Handle), POINTER(c_int))),
    "GC_Engine_get_stats": (c_int, (Engine, POINTER(GC_Stats))),
    "GC_Engine_flush": (c_int, (Engine,)),
    "GC_Engine_reconfigure": (c_int, (Engine, Comm)),
    "GC_Engine_free": (c_int, (POINTER(Engine),)),
    "GC_Mover_create": (c_int, (Comm, c_char_p, c_int, POINTER(Mover))),
    "GC_Mover_create_on_device": (c_int, (Comm, c_char_p, c_int, c_void_p, POINTER(Mover))),
    "GC_Mover_count": (c_int, (Mover, POINTER(c_int), POINTER(c_int))),
    "GC_Mover_get_operator": (c_int, (Mover, c_int, POINTER(GC_Mover_operator))),
    "GC_Mover_get_tensor": (c_int, (Mover, c_int, POINTER(GC_Mover_tensor))),
    "GC_Mover_step_begin": (c_int, (Mover,)),
    "GC_Mover_set_drift": (c_int, (Mover, c_double)),
    "GC_Mover_op_begin": (c_int, (Mover, c_int)),
    "GC_Mover_op_end": (c_int, (Mover, c_int)),
    "GC_Mover_step_end": (c_int, (Mover,)),
    "GC_Mover_get_data": (c_int, (Mover, c_int, POINTER(c_void_p))),
    "GC_Mover_take_data": (c_int, (Mover, c_int, POINTER(c_void_p))),
    "GC_Mover_get_stats": (c_int, (Mover, POINTER(GC_Mover_stats))),
    "GC_Mover_free": (c_int, (POINTER(Mover),)),
    "GC_Comm_attach": (c_int, (Comm,)),
    "GC_Comm_shrink": (c_int, (Comm, POINTER(Comm))),
    "GC_Comm_set_codec": (c_int, (Comm, c_char_p)),
    "GC_Comm_set_stream": (c_int, (Comm, c_void_p)),
    "GC_Comm_set_option": (c_int, (Comm, c_char_p, c_char_p)),
    "GC_Comm_get_option": (c_int, (Comm, c_char_p, c_char_p, c_int, POINTER(c_int))),
    "GC_Step": (c_int, (Comm, c_longlong)),
    "GC_Comm_get_tree": (c_int, (Comm, c_int, c_char_p, POINTER(c_size_t))),
    "GC_Comm_get_stats": (c_int, (Comm, POINTER(GC_Stats))),
    "GC_Comm_reset_stats": (c_int, (Comm,)),
}


def _with_prototypes(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, arguments) in PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"gradcoll: {library._name} lacks {name}") from None
        function.restype = result
        function.argtypes = arguments
    return library


lib = _with_prototypes(load())
check_built_for(lib, GC_Build())
