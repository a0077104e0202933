"""One rank of scripts/measure training: trains with each way and seed that it is told, and rank 0 prints a row for each.

usage: rank.py MODEL SIZE [FIELD=NUMBER]... < RUNS, with a line "SEED WAY" for each run, read by rank 0

Fields are those of networks.Size. So rates are chosen: with exact sums, and a seed that no row has.
"""
import ctypes
import dataclasses
import json
import math
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch  # noqa: E402
from gradcoll import _capi  # noqa: E402
from mpi4py import MPI  # noqa: E402

from training_parts import networks, sums  # noqa: E402
from training_parts.ways import WAYS  # noqa: E402

COMM = MPI.COMM_WORLD
CURVE_POINTS = 20
WATCHED = 10  # sums of a run that are compared with those of MPI


def mine(batch):
    """A batch's share of this rank."""
    if isinstance(batch, tuple):
        return tuple(mine(part) for part in batch)
    return batch[COMM.rank :: COMM.size]


@torch.no_grad()
def test(task, model):
    """Returns the mean loss and the percentage of right answers. Ranks share the batches."""
    counts = torch.zeros(3, dtype=torch.float64)
    for number, (inputs, wanted) in enumerate(task.tests()):
        if number % COMM.size == COMM.rank:
            loss, right = task.loss(model, inputs, wanted)
            counts += torch.tensor([float(loss) * wanted.numel(), float(right), wanted.numel()], dtype=torch.float64)
    loss, right, all_of_them = COMM.allreduce(counts.numpy())
    return loss / all_of_them, 100 * right / all_of_them


def step(task, model, optimizer, inputs, wanted):
    loss, _ = task.loss(model, inputs, wanted)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    return float(loss.detach())


def train(task, way, seed):
    """Returns the model after all steps, its sums and the loss of each step."""
    torch.manual_seed(seed)
    model = task.model()
    parameters = list(model.parameters())
    optimizer, chance = task.optimizer(model), torch.Generator().manual_seed(seed)
    summed = sums.sums_of(way, model, task.size.steps)
    forward = summed.model if way.powersgd_rank else model
    outer = sums.OuterSteps(parameters, summed, way.local_steps) if way.local_steps else None
    losses = []
    for number in range(task.size.steps):
        for group in optimizer.param_groups:
            group["lr"] = networks.rate_at(number, task.size)
        losses.append(step(task, forward, optimizer, *mine(task.batch(chance))))
        if outer is None:
            summed.average([parameter.grad for parameter in parameters], number % max(1, task.size.steps // WATCHED) == 0)
        optimizer.step()
        if outer is not None:
            outer.step(is_last=number == task.size.steps - 1)
    return model, summed, COMM.allreduce(torch.tensor(losses, dtype=torch.float64).numpy()) / COMM.size


def curve_of(losses):
    """The mean loss of each twentieth of the steps."""
    parts = [part for part in torch.from_numpy(losses).tensor_split(CURVE_POINTS) if len(part)]
    return " ".join(f"{float(part.mean()):.5g}" for part in parts)


def mean(values):
    return sum(values) / len(values) if values else math.nan


def check_alike(model):
    """Ranks must end with the same bits."""
    flat = torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()]).numpy().tobytes()
    if any(other != flat for other in COMM.allgather(flat)):
        raise RuntimeError("ranks ended with different weights")


def row_of(task, way, seed):
    begin = time.monotonic()
    model, summed, losses = train(task, way, seed)
    check_alike(model)
    loss, right = test(task, model)
    sent, exact = sums.bytes_beside_dense(summed, task.size.steps, way)
    row = {"seed": seed, "steps": task.size.steps, "batch": task.size.batch, "loss": f"{loss:.6g}", "right_percent": f"{right:.4f}",
           "sent_bytes_a_rank": sent, "exact_bytes_a_rank": exact, "error_of_sums": f"{mean(summed.errors):.4g}",
           "gain_of_sums": f"{mean(summed.gains):.5g}", "seconds": f"{time.monotonic() - begin:.1f}", "curve": curve_of(losses)}
    summed.free()
    return row


def library():
    """Returns the commit that the library was built from."""
    build = _capi.GC_Build()
    _capi.lib.GC_Get_build(ctypes.byref(build))
    return build.revision.decode()


def main():
    model, size, *changed = sys.argv[1:]
    torch.set_num_threads(1)
    runs = COMM.bcast([line.rstrip("\n").split(" ", 1) for line in sys.stdin] if COMM.rank == 0 else None)
    kind = networks.TASKS[model]
    fields = {name: json.loads(number) for name, number in (word.split("=") for word in changed)}
    task = kind(dataclasses.replace(kind.SIZES[size], **fields))
    for seed, way in runs:
        row = row_of(task, WAYS[way], int(seed))
        if COMM.rank == 0:
            print(json.dumps({"way": way, "ranks": COMM.size, **row, "library": library(), "torch": torch.__version__,
                              "mpi": MPI.Get_library_version().split(",")[0]}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Exception:  # noqa: BLE001
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # MPI_Finalize would wait for the other ranks
