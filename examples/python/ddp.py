"""Trains a classifier of Fashion-MNIST with DistributedDataParallel; gradients are summed over the tree.

    scripts/build release gradcoll
    export GRADCOLL_LIBRARY=build/release/src/api PYTHONPATH=python
    scripts/mpirun -n 2 /usr/bin/python3 examples/python/ddp.py --codec int8

Data: the Debian package dataset-fashion-mnist.
"""

import argparse
import gzip
import sys
from pathlib import Path

try:
    import numpy
    import torch
    from mpi4py import MPI
except ImportError as missing:
    sys.exit(f"{missing}: install the Debian packages python3-mpi4py, python3-numpy and python3-torch")

import gradcoll.torch


def read(folder, name, header):
    try:
        with gzip.open(Path(folder) / name) as file:
            return numpy.frombuffer(file.read(), dtype="uint8", offset=header)
    except FileNotFoundError as missing:
        sys.exit(f"{missing}: install the Debian package dataset-fashion-mnist")


def load(folder, part):
    images = read(folder, f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype("float32") / 255
    labels = read(folder, f"{part}-labels-idx1-ubyte.gz", 8).astype("int64")
    return torch.from_numpy(images), torch.from_numpy(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--codec", default="int8", help="exact, int8, bf16, 2:4, ... (int8)")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=64, help="samples a rank and step (64)")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    arguments = parser.parse_args()

    comm = MPI.COMM_WORLD
    torch.set_num_threads(1)
    torch.manual_seed(1)
    images, labels = load(arguments.data, "train")

    gradcoll.torch.init_process_group(comm)
    network = torch.nn.Sequential(
        torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    model = torch.nn.parallel.DistributedDataParallel(network)
    state = gradcoll.torch.State(comm, codec=arguments.codec, warmup_steps=arguments.steps // 20)
    model.register_comm_hook(state, gradcoll.torch.allreduce_hook)

    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(comm.rank)
    for _ in range(arguments.steps):
        batch = torch.randint(len(images), (arguments.batch,), generator=generator)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
        optimizer.step()

    if comm.rank == 0:
        images, labels = load(arguments.data, "t10k")
        with torch.no_grad():
            right = (network(images).argmax(1) == labels).float().mean().item()
        stats = gradcoll.stats(state.attach())
        sent, exact = stats.bytes_sent / 2**20, stats.bytes_sent_exact / 2**20
        print(f"{arguments.steps} steps, {comm.size} ranks, {arguments.codec}: {100 * right:.1f} % of the images right")
        print(f"rank 0 sent {sent:.0f} MiB of gradients, instead of {exact:.0f} MiB")
    state.close()
    torch.distributed.destroy_process_group()


main()
