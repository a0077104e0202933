"""Sums a numpy array over all ranks, exactly and with 2 of every 4 values sent.

    scripts/build release gradcoll
    export GRADCOLL_LIBRARY=build/release/src/api PYTHONPATH=python
    export GC_COMPRESS_IF=always     # all ranks are on one host, where a codec does not pay
    scripts/mpirun -n 4 /usr/bin/python3 examples/python/allreduce.py
"""

import sys

try:
    import numpy
    from mpi4py import MPI
except ImportError as missing:
    sys.exit(f"{missing}: install the Debian packages python3-mpi4py and python3-numpy")

import gradcoll

comm = MPI.COMM_WORLD
mine = numpy.random.default_rng(comm.rank).normal(size=1 << 20).astype("float32")

exact = gradcoll.allreduce(mine)
near = gradcoll.allreduce(mine, codec="2:4")

# With a residual, what is dropped in one call comes with the next.
total = numpy.zeros_like(exact)
gradcoll.set_codec(comm, "2:4")
with gradcoll.Residual(comm, mine) as residual:
    for _ in range(20):
        total += gradcoll.allreduce(mine, residual=residual)


def error(got):
    return numpy.linalg.norm(got - exact) / numpy.linalg.norm(exact)


if comm.rank == 0:
    print(gradcoll.tree())
    print(f"2:4, one call                      relative error {error(near):.3f}")
    print(f"2:4, mean of 20 calls, a residual  relative error {error(total / 20):.3f}")
    stats = gradcoll.stats()
    print(f"sent {stats.bytes_sent >> 20} MiB instead of {stats.bytes_sent_exact >> 20} MiB")
