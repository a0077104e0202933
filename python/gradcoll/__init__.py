"""Gradcoll for Python: MPI allreduce over the tree of the machine, exact or compressed.

    import numpy, gradcoll
    total = gradcoll.allreduce(numpy.arange(4.0))      # the sum over MPI.COMM_WORLD

Arrays are numpy arrays or torch CPU tensors; communicators are mpi4py's, None stands for
MPI.COMM_WORLD. Calls are collective where MPI's are: all ranks make them, in the same order, with
the same settings. An Engine sums named gradients while the program goes on. A Mover carries a plan of
gradcoll move out. gradcoll.torch has
communication hooks for DistributedDataParallel and an optimizer for programs without it.

The shared library libgradcoll.so.0.1 is the file that the environment variable GRADCOLL_LIBRARY names, else the one
that was installed with this package, else what the dynamic loader finds. It must have been built
for the MPI library that mpi4py uses. What is wrong with that is an ImportError.

Errors: TypeError and ValueError for arguments that cannot be passed on, gradcoll.Error for what the
library or MPI refuses. During a call the communicator's error handler is MPI.ERRORS_RETURN, so
that a failure is an exception whatever the handler; afterwards it is what it was.
"""

from ._bootstrap import start_mpi

start_mpi()  # before anything imports mpi4py.MPI

from ._collectives import allreduce  # noqa: E402
from ._comms import (  # noqa: E402
    Stats,
    attach,
    get_option,
    reset_stats,
    set_codec,
    set_option,
    set_step,
    shrink,
    stats,
    tree,
    version,
)
from ._engine import Engine, Handle  # noqa: E402
from ._errors import Error  # noqa: E402
from ._mover import Mover, MoverOperator, MoverStats, MoverTensor  # noqa: E402
from ._persistent import Persistent  # noqa: E402
from ._residual import Residual  # noqa: E402
from ._version import __version__  # noqa: E402

__all__ = [
    "Engine",
    "Error",
    "Handle",
    "Mover",
    "MoverOperator",
    "MoverStats",
    "MoverTensor",
    "Persistent",
    "Residual",
    "Stats",
    "__version__",
    "allreduce",
    "attach",
    "get_option",
    "reset_stats",
    "set_codec",
    "set_option",
    "set_step",
    "shrink",
    "stats",
    "tree",
    "version",
]
