# support.py - what the tests of the Python package share: a main for ranks under mpirun, vectors, comparisons.
import hashlib
import os
import sys
import traceback
import unittest

# What the test needs and this machine lacks is a reason to skip it. CTest knows the word.
try:
    import mpi4py
    import numpy

    mpi4py.rc.thread_level = os.environ.get("GRADCOLL_TEST_THREAD_LEVEL", "multiple")
except ImportError as missing:
    print(f"SKIPPED: {missing} (Debian: python3-mpi4py, python3-numpy)")
    sys.exit(0)
try:
    import gradcoll  # noqa: F401
except ImportError as error:
    if "was built for" not in str(error):
        raise
    print(f"SKIPPED: {error}")
    sys.exit(0)
from mpi4py import MPI  # noqa: E402  (gradcoll starts MPI where torchrun has started the processes)

WORLD = MPI.COMM_WORLD
COMPRESSIBLE = 64 * 1024  # float32 values: above gc_compress_bytes and gc_tree_min_bytes


def torch_or_skip():
    try:
        import torch
    except ImportError as missing:
        print(f"SKIPPED: {missing} (Debian: python3-torch)")
        sys.exit(0)
    torch.set_num_threads(1)
    return torch


def backend_or_skip():
    """Ends the test where torch takes no backend that is made in Python, as 1.13 and 2.15 do and 2.6 does not."""
    torch = torch_or_skip()
    from gradcoll import _torch_world

    if not _torch_world._is_for_python:
        print(f"SKIPPED: torch {torch.__version__} takes no backend that is made in Python")
        sys.exit(0)
    return torch


def random_vector(count, dtype="float32", seed=1):
    """Another one on each rank, the same in each run."""
    return numpy.random.default_rng([seed, WORLD.rank]).normal(size=count).astype(dtype)


def is_same_on_all_ranks(array, comm=WORLD):
    digests = comm.allgather(hashlib.sha256(numpy.ascontiguousarray(array).tobytes()).digest())
    return len(set(digests)) == 1


def relative_error(got, expected):
    expected = numpy.asarray(expected, dtype="float64")
    return numpy.linalg.norm(numpy.asarray(got, dtype="float64") - expected) / numpy.linalg.norm(expected)


class _EndsAllRanks(unittest.TextTestResult):
    """A rank that fails would leave the others waiting for it."""

    def _end(self, test, error):
        print(f"rank {WORLD.rank}: {test} failed:", file=sys.stderr)
        traceback.print_exception(*error)
        sys.stderr.flush()
        WORLD.Abort(1)

    def addError(self, test, error):
        self._end(test, error)

    def addFailure(self, test, error):
        self._end(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self._end(subtest, error)


def main():
    stream = sys.stderr if WORLD.rank == 0 else open("/dev/null", "w")
    runner = unittest.TextTestRunner(stream=stream, verbosity=2, resultclass=_EndsAllRanks)
    program = unittest.main(module="__main__", testRunner=runner, exit=False)
    if program.result.testsRun == 0:
        sys.exit("no test was run")
