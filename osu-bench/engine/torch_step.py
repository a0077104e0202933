"""A PyTorch training step over DistributedDataParallel: gradients by Gloo, with its hooks, and by Gradcoll.

  times      all ways take turns in one job, some steps each; a step ends when the last rank has ended it
  accuracy   each way trains anew, seed by seed, for some epochs

The model is for Fashion-MNIST (Debian: dataset-fashion-mnist): a convolutional network with some large dense layers,
or the perceptron of examples/train_fashion, which learns in seconds.
Ranks are started by mpirun; the figures come as Markdown rows on rank 0. In a lab GLOO_SOCKET_IFNAME=eth0.
"""

import argparse
import gzip
import statistics
import sys
import time
from pathlib import Path

try:
    import numpy
    import torch
    from mpi4py import MPI
except ImportError as missing:
    sys.exit(f"{missing}: install the Debian packages python3-mpi4py, python3-numpy and python3-torch")

import gradcoll.torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

WORLD = MPI.COMM_WORLD


def options_for(codec):
    """What a codec is measured with: used whether it pays or not. Exact sums have nothing set."""
    return {} if codec == "exact" else {"gc_compress_if": "always"}


def perceptron():
    """That of examples/train_fashion."""
    nn = torch.nn
    return nn.Sequential(
        *[nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)]
    )


def convolutional():
    nn = torch.nn
    return nn.Sequential(
        *[nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)],
        *[nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()],
        *[nn.Linear(1568, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU()],
        *[nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)],
    )


MODELS = {"convolutional": convolutional, "perceptron": perceptron}


def by_engine(codec, **arguments):
    def register(model):
        state = gradcoll.torch.EngineState(model, codec=codec, options=options_for(codec), **arguments)
        model.register_comm_hook(state, gradcoll.torch.engine_hook)
        return state

    return register


def by_hook(codec):
    def register(model):
        state = gradcoll.torch.State(codec=codec, options=options_for(codec))
        model.register_comm_hook(state, gradcoll.torch.allreduce_hook)
        return state

    return register


def by_power_sgd(rank):
    def register(model):
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=rank, start_powerSGD_iter=10)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)

    return register


def nothing_hook(state: object, bucket: torch.distributed.GradBucket) -> torch.futures.Future[torch.Tensor]:
    future: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


NO_SUMS = "no sums"  # what a step takes at least
WAYS = {
    NO_SUMS: lambda model: model.register_comm_hook(None, nothing_hook),
    "Gloo": lambda model: None,
    "Gloo, fp16 hook": lambda model: model.register_comm_hook(None, default_hooks.fp16_compress_hook),
    "Gloo, bf16 hook": lambda model: model.register_comm_hook(None, default_hooks.bf16_compress_hook),
    "Gloo, PowerSGD rank 1": by_power_sgd(1),
    "Gloo, PowerSGD rank 4": by_power_sgd(4),
    "allreduce_hook, exact": by_hook("exact"),
    "engine_hook, exact": by_engine("exact"),
    "engine_hook, bf16": by_engine("bf16"),
    "engine_hook, int8, feedback": by_engine("int8"),
    "engine_hook, 2:4, feedback": by_engine("2:4"),
    "engine_hook, 2:4+int8, feedback": by_engine("2:4+int8"),
}


def one_bucket(model):
    """PowerSGD sums from callbacks, in threads of Gloo's: of several buckets in another order on each rank, which Gloo
    takes for one another."""
    before, torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = torch.distributed._DEFAULT_FIRST_BUCKET_BYTES, 2**30
    try:
        return DistributedDataParallel(model, bucket_cap_mb=1024)
    finally:
        torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = before


class Training:
    def __init__(self, way, seed, options):
        torch.manual_seed(seed)
        self.network = MODELS[options.model]()
        if "PowerSGD" in way:
            self.model = one_bucket(self.network)
        else:
            self.model = DistributedDataParallel(self.network, bucket_cap_mb=options.bucket_mb)
        self.state = WAYS[way](self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=options.rate, momentum=0.9)

    def step(self, images, labels):
        self.optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self.model(images), labels).backward()
        self.optimizer.step()

    def close(self):
        if self.state is not None:
            self.state.close()


def read(folder, name, header):
    try:
        with gzip.open(Path(folder) / name) as file:
            return numpy.frombuffer(file.read(), dtype="uint8", offset=header)
    except FileNotFoundError as missing:
        sys.exit(f"{missing}: install the Debian package dataset-fashion-mnist")


def load(folder, part):
    images = read(folder, f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28).astype("float32") / 255
    labels = read(folder, f"{part}-labels-idx1-ubyte.gz", 8).astype("int64")
    return torch.from_numpy(images), torch.from_numpy(labels)


def works(way, options):
    """Whether this torch has it: its Gloo may lack a type. A rank that fails, fails before it has sent anything."""
    try:
        training = Training(way, 1, options)
        training.step(torch.zeros(1, 1, 28, 28), torch.zeros(1, dtype=torch.int64))
    except (RuntimeError, TypeError) as error:
        if WORLD.rank == 0:
            print(f"| {way} | not with torch {torch.__version__}: {str(error).splitlines()[0]} |")
        return False
    training.close()
    return True


def times(ways, options):
    data = load(options.data, "train")
    trainings = {way: Training(way, 1, options) for way in ways}
    taken = {way: [] for way in ways}
    worked = {way: [] for way in ways}  # by the processor, all threads of this rank
    generator = torch.Generator().manual_seed(WORLD.rank)
    for turn in range(options.turns + 1):
        for way, training in trainings.items():
            for _ in range(options.steps if turn else options.warmup):
                batch = torch.randint(len(data[0]), (options.batch,), generator=generator)
                images, labels = data[0][batch], data[1][batch]
                WORLD.Barrier()
                begin, begin_cpu = time.perf_counter(), time.process_time()
                training.step(images, labels)
                cpu_ms = 1e3 * (time.process_time() - begin_cpu)
                ms = WORLD.allreduce(1e3 * (time.perf_counter() - begin), MPI.MAX)
                if turn:
                    taken[way].append(ms)
                    worked[way].append(cpu_ms)
    if WORLD.rank == 0:
        count = sum(parameter.numel() for parameter in MODELS[options.model]().parameters())
        print(f"{4 * count / 2**20:.1f} MiB of gradients, {WORLD.size} ranks, {options.batch} pictures a rank and step")
        print("| way | ms a step | quartiles | of Gloo's | processor, ms |\n|---|---|---|---|---|")
        for way, ms in taken.items():
            low, middle, high = statistics.quantiles(ms, n=4)
            to_gloo = f"{middle / statistics.median(taken['Gloo']):.2f}" if "Gloo" in taken else ""
            print(f"| {way} | {middle:.1f} | {low:.1f} to {high:.1f} | {to_gloo} | {statistics.median(worked[way]):.1f} |")
    for training in trainings.values():
        training.close()


def right_of(network, data):
    with torch.no_grad():
        found = [network(images).argmax(1) for images in data[0].split(1000)]
    return 100 * (torch.cat(found) == data[1]).float().mean().item()


def accuracy(ways, options):
    data, held_out = load(options.data, "train"), load(options.data, "t10k")
    count = min(options.pictures, len(data[0]))
    a_rank = count // WORLD.size // options.batch * options.batch
    if WORLD.rank == 0:
        print(f"{options.epochs} epochs of {a_rank * WORLD.size} pictures, {options.batch} a rank and step")
        print(f"| way | % right, seeds 1 to {options.seeds} | median | spread |\n|---|---|---|---|", flush=True)
    for way in ways:
        found = []
        for seed in range(1, options.seeds + 1):
            training = Training(way, seed, options)
            for epoch in range(options.epochs):
                generator = torch.Generator().manual_seed(1000 * seed + epoch)
                order = torch.randperm(count, generator=generator)[WORLD.rank :: WORLD.size]
                for batch in order[:a_rank].split(options.batch):
                    training.step(data[0][batch], data[1][batch])
            if WORLD.rank == 0:
                found.append(right_of(training.network, held_out))
            WORLD.Barrier()
            training.close()
        if WORLD.rank == 0:
            each = ", ".join(f"{right:.2f}" for right in found)
            spread = max(found) - min(found)
            print(f"| {way} | {each} | {statistics.median(found):.2f} | {spread:.2f} |", flush=True)


def ways_of(only, known, parser):
    """The ways that --only names, or all that are known."""
    ways = only.split(";") if only else list(known)
    for way in ways:
        if way not in known:
            parser.error(f"--only: no way is called {way!r}; there are {'; '.join(known)}")
    return ways


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["times", "accuracy"])
    parser.add_argument("--only", help="ways, separated by semicolons: " + "; ".join(WAYS))
    parser.add_argument("--model", choices=list(MODELS), default="convolutional")
    parser.add_argument("--rate", type=float, default=0.02, help="learning rate (0.02)")
    parser.add_argument("--batch", type=int, default=64, help="pictures a rank and step (64)")
    parser.add_argument("--bucket-mb", type=float, default=25, help="of DistributedDataParallel (25, as torch has it)")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6, help="of each way in a turn (6)")
    parser.add_argument("--warmup", type=int, default=14, help="steps of each way that are not counted (14)")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=60000, help="of the training set, from the first on (all)")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    options = parser.parse_args()
    ways = ways_of(options.only, WAYS, parser)
    torch.set_num_threads(1)
    gradcoll.torch.init_process_group()
    ways = [way for way in ways if works(way, options) and (options.what == "times" or way != NO_SUMS)]
    {"times": times, "accuracy": accuracy}[options.what](ways, options)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
