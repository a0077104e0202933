"""gloo_series.py BYTES CALLS: as call_series.c, by PyTorch's Gloo. Ranks are started by mpirun of Open MPI or MPICH; rank 0 listens
at MASTER_ADDR:MASTER_PORT. Prints rows on rank 0: call,ms."""
import os
import sys
import time

import torch
import torch.distributed as dist


def of_launcher(*names):
    return next(int(os.environ[name]) for name in names if name in os.environ)


def main():
    count, calls = int(sys.argv[1]) // 4, int(sys.argv[2])
    rank = of_launcher("OMPI_COMM_WORLD_RANK", "PMI_RANK")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=of_launcher("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"))
    vector = torch.zeros(count)
    took_ms = torch.zeros(calls, dtype=torch.float64)
    for call in range(calls):
        begin = time.perf_counter()
        dist.all_reduce(vector)
        took_ms[call] = 1e3 * (time.perf_counter() - begin)
    dist.all_reduce(took_ms, op=dist.ReduceOp.MAX)
    if rank == 0:
        for call, took in enumerate(took_ms.tolist(), 1):
            print(f"{call},{took:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
