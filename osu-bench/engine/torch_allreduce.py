#!/usr/bin/env python3
"""all_reduce of torch.distributed over the backend gradcoll and over Gloo, by turns in one job.

usage: mpirun -n RANKS python3 osu-bench/engine/torch_allreduce.py [--rounds N] [--bytes N ...] [--dtype float32]

Each size is timed in rounds. In a round each backend makes a number of calls in a row, and who begins changes from
round to round. A time is that of the slowest rank. Rank 0 prints the median of rounds with quartiles, and the median of
the ratios of the two times of one round. "nothing" is a backend whose calls do nothing: what torch itself takes. "memory"
is what all ranks together take to read and write the vector once, each its own: no sum in place moves less.
"""

import argparse
import statistics
import time

import torch
import torch.distributed as dist
from mpi4py import MPI
from torch._C import _distributed_c10d as c10d

import gradcoll.torch


class Finished(c10d.Work):
    def wait(self, timeout=None):
        return True


class Nothing(c10d.Backend):
    def getBackendName(self):
        return "nothing"

    def allreduce(self, tensors, opts=None):
        return Finished()


SIZES_BYTES = [4, 64, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 32 << 20]
made = []  # torch alone does not keep a backend of Python


def make_nothing(opts, _):
    made.append(Nothing(opts.group_rank, opts.group_size))
    return made[-1]


def calls_of(size_bytes):
    return max(3, min(300, (8 << 20) // max(size_bytes, 1)))


def seconds_of(tensor, group, calls):
    """Of one call, on the slowest rank; without a group of its memory alone."""
    MPI.COMM_WORLD.Barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        if group is not None:
            dist.all_reduce(tensor, group=group)
        else:
            tensor.add_(0)
    return MPI.COMM_WORLD.allreduce((time.perf_counter() - begin) / calls, MPI.MAX)


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle * 1e6:10.1f} [{low * 1e6:.1f}, {high * 1e6:.1f}]"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bytes", type=int, nargs="*", default=SIZES_BYTES)
    parser.add_argument("--dtype", default="float32")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dtype = getattr(torch, arguments.dtype)
    gradcoll.torch.init_process_group(backend="gradcoll")
    dist.Backend.register_backend("nothing", make_nothing, extended_api=True, devices=["cpu"])
    groups = {name: dist.new_group(backend=name) for name in ("gradcoll", "gloo", "nothing")}
    groups["memory"] = None
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} ranks, {arguments.dtype}, torch {torch.__version__}; us, median [quartiles]")
    for size_bytes in arguments.bytes:
        tensor = torch.zeros(max(1, size_bytes // dtype.itemsize), dtype=dtype)
        times = {name: [] for name in groups}
        calls = calls_of(size_bytes)
        for name, group in groups.items():
            seconds_of(tensor, group, 30)  # the library tries its ways in its first calls
        for turn in range(arguments.rounds):
            for name in sorted(groups, reverse=turn % 2 == 1):
                times[name].append(seconds_of(tensor, groups[name], calls))
        if dist.get_rank() == 0:
            ratios = [gloo / ours for gloo, ours in zip(times["gloo"], times["gradcoll"])]
            columns = "  ".join(f"{name} {quartiles(times[name])}" for name in times)
            floor = statistics.median(of_memory / ours for of_memory, ours in zip(times["memory"], times["gradcoll"]))
            print(f"{size_bytes:10d} B  {columns}  gloo/gradcoll {statistics.median(ratios):.2f}  memory/gradcoll {floor:.2f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
