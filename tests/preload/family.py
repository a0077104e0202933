#!/usr/bin/python3
"""tests/preload/family.py FOLDER - the allreduce family from mpi4py: buffers and objects. Knows nothing of Gradcoll."""

import hashlib
import sys

import numpy
from mpi4py import MPI


class Witness:
    def __init__(self, folder):
        self.file = open(f"{folder}/rank.{MPI.COMM_WORLD.rank}", "w", encoding="ascii")

    def array(self, what, array):
        print(what, array.dtype, array.size, hashlib.sha256(array.tobytes()).hexdigest()[:16], file=self.file)

    def text(self, what, value):
        print(what, value, file=self.file)


def numbers(count, dtype, rank, seed):
    generator = numpy.random.default_rng([seed, rank])
    return generator.integers(-1000, 1000, count).astype(dtype)


def buffers(comm, witness, seed):
    for dtype in ("i", "l", "f", "d", "h", "D"):
        for count in (0, 1, 1000, 70000):
            given = numbers(count, dtype, comm.rank, seed)
            result = numpy.zeros_like(given)
            comm.Allreduce(given, result)
            witness.array("sum", result)
            comm.Allreduce(MPI.IN_PLACE, given)
            witness.array("in place", given)
            if dtype != "D":
                comm.Allreduce(given, result, op=MPI.MAX)
                witness.array("max", result)
            request = comm.Iallreduce(given, result)
            request.Wait()
            witness.array("nonblocking", result)


def several_nonblocking(comm, witness):
    given = [numbers(50000, "d", comm.rank, 100 + k) for k in range(4)]
    results = [numpy.zeros_like(one) for one in given]
    requests = [comm.Iallreduce(one, result) for one, result in zip(given, results)]
    witness.text("object between", comm.allreduce(comm.rank + 1))
    MPI.Request.Waitall(requests)
    for result in results:
        witness.array("waitall", result)


def blocks(comm, witness):
    for count in (10, 30000):
        given = numbers(count * comm.size, "d", comm.rank, 7)
        block = numpy.zeros(count)
        comm.Reduce_scatter_block(given, block)
        witness.array("block", block)
        counts = [count] * comm.size
        counts[0] += count // 2 if comm.size > 1 else 0
        counts[-1] -= count // 2 if comm.size > 1 else 0
        share = numpy.zeros(counts[comm.rank])
        comm.Reduce_scatter(given, share, recvcounts=counts)
        witness.array("share", share)
        everything = numpy.zeros(count * comm.size)
        comm.Allgather(block, everything)
        witness.array("gathered", everything)


def objects(comm, witness):
    witness.text("int", comm.allreduce(comm.rank + 1))
    witness.text("string", comm.allreduce(f"<{comm.rank}>", op=MPI.SUM))
    witness.text("list", comm.allreduce([comm.rank], op=MPI.SUM))
    witness.text("tuple", comm.allreduce((comm.rank * 7 % 5, comm.rank), op=MPI.MINLOC))
    witness.text("function", comm.allreduce({comm.rank}, op=lambda a, b: a | b))
    witness.array("array", comm.allreduce(numbers(40000, "d", comm.rank, 8)))
    witness.text("gathered", comm.allgather({"rank": comm.rank}))


def types_and_ops(comm, witness):
    pairs = numpy.zeros(100, dtype=[("value", "f8"), ("index", "i4"), ("gap", "i4")])
    pairs["value"] = numbers(100, "d", comm.rank, 9) % 3
    pairs["index"] = comm.rank
    best = numpy.zeros_like(pairs)
    comm.Allreduce([pairs, 100, MPI.DOUBLE_INT], [best, 100, MPI.DOUBLE_INT], op=MPI.MAXLOC)
    witness.array("maxloc values", best["value"].copy())
    witness.array("maxloc indices", best["index"].copy())

    def last_wins(given, into, _):
        left = numpy.frombuffer(given, "i4")
        right = numpy.frombuffer(into, "i4")
        right[right == 0] = left[right == 0]

    own = MPI.Op.Create(last_wins, commute=False)
    given = numbers(30000, "i4", comm.rank, 10)
    given[given % 2 == 0] = 0
    result = numpy.zeros_like(given)
    comm.Allreduce(given, result, op=own)
    witness.array("own op", result)
    own.Free()
    try:
        comm.Allreduce([given, MPI.FLOAT], [result, MPI.FLOAT], op=MPI.BAND)
    except MPI.Exception as error:
        witness.text("error", f"{error.Get_error_class()} {error.Get_error_string()}")


def main():
    witness = Witness(sys.argv[1])
    world = MPI.COMM_WORLD
    buffers(world, witness, 1)
    several_nonblocking(world, witness)
    blocks(world, witness)
    objects(world, witness)
    types_and_ops(world, witness)
    part = world.Split(world.rank % 2, -world.rank)
    buffers(part, witness, 2)
    part.Free()


main()
