#!/usr/bin/env python3
"""Training steps of a transformer with 10.9 M parameters, over Gloo and over the backend gradcoll, exact and compressed.

  times   all ways take turns in one job, some steps each; a step ends when the last rank has ended it
  loss    each way trains anew, seed by seed; the loss is that of held-back text at the end. A way is within seed noise if its
          mean loss is no further from that of Gloo's way than Gloo's losses spread (their standard deviation)

It learns the sources of Python's standard library, byte by byte. Ranks are started by mpirun, or by torchrun with MPICH;
rank 0 prints Markdown rows. Bytes are those that the network device of rank 0's host has sent (--device).
"""

import argparse
import statistics
import sysconfig
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.nn.parallel import DistributedDataParallel

import gradcoll.torch
from mpi4py import MPI
from torch_step import ways_of

HEADS, LENGTH, KINDS = 6, 64, 256


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm_in, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width)
        self.three, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        heads = [part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.three(self.norm_in(x)).chunk(3, -1)]
        x = x + self.out(scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm_out(x))))


class Transformer(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.embed, self.embed_place = nn.Embedding(KINDS, width), nn.Embedding(LENGTH, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, KINDS)

    def forward(self, text):
        x = self.embed(text) + self.embed_place.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def ddp(backend, state_of=None):
    """state_of: a state and a hook for a model, or None."""

    def prepare(network, groups, options):
        model = DistributedDataParallel(network, process_group=groups[backend])
        if state_of is None:
            return model, None
        state, hook = state_of(network, options)
        model.register_comm_hook(state, hook)
        return model, state

    return prepare


def fsdp(backend, **compressed):
    def prepare(network, groups, options):
        mesh = DeviceMesh.from_group(groups[backend], "cpu")
        for block in network.blocks:
            fully_shard(block, mesh=mesh)
        model = fully_shard(network, mesh=mesh)
        state = gradcoll.torch.ShardedState(model, options=options, **compressed) if compressed else None
        return model, state

    return prepare


def by_engine(codec):
    return lambda network, options: (gradcoll.torch.EngineState(network, codec=codec, options=options), gradcoll.torch.engine_hook)


def by_hook(codec):
    return lambda network, options: (gradcoll.torch.State(codec=codec, options=options), gradcoll.torch.allreduce_hook)


WAYS = {
    "no sums": lambda network, groups, options: (network, None),  # what a step takes without any: no way can be faster
    "DDP, Gloo": ddp("gloo"),
    "DDP, backend": ddp("gradcoll"),
    "DDP, engine_hook exact": ddp("gradcoll", by_engine("exact")),
    "DDP, engine_hook int8": ddp("gradcoll", by_engine("int8")),
    "DDP, allreduce_hook int8": ddp("gradcoll", by_hook("int8")),
    "FSDP2, Gloo": fsdp("gloo"),
    "FSDP2, backend": fsdp("gradcoll"),
    "FSDP2, int8": fsdp("gradcoll", codec="int8"),
    "FSDP2, int8, gathers bf16": fsdp("gradcoll", codec="int8", gather_codec="bf16"),
}


class Text:
    """Batches of a rank's own, and the same held-back ones for all."""

    def __init__(self):
        folder = Path(sysconfig.get_paths()["stdlib"])
        text = b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
        whole = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
        self.learnt, self.held_back = whole[: len(whole) * 19 // 20], whole[len(whole) * 19 // 20 :]

    def batch(self, source, size, held_back=False):
        text = self.held_back if held_back else self.learnt
        starts = torch.randint(len(text) - LENGTH, (size,), generator=source)
        rows = text[starts[:, None] + torch.arange(LENGTH + 1)]
        return rows[:, :-1], rows[:, 1:]


class Training:
    def __init__(self, way, groups, seed, options):
        torch.manual_seed(seed)
        self.way, self.batch = way, options.batch
        self.source = torch.Generator().manual_seed(1000 * seed + dist.get_rank())
        settings = {"gc_compress_if": "always"} if options.always else {}
        self.model, self.state = WAYS[way](Transformer(options.width, options.layers), groups, settings)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.rate)

    def step(self, text):
        words, nexts = text.batch(self.source, self.batch)
        self.optimizer.zero_grad()
        cross_entropy(self.model(words).flatten(0, 1), nexts.flatten()).backward()
        self.optimizer.step()

    def loss(self, text):
        with torch.no_grad():
            words, nexts = text.batch(torch.Generator().manual_seed(1), 64, held_back=True)
            return cross_entropy(self.model(words).flatten(0, 1), nexts.flatten()).item()

    def compressed_calls(self):
        """Of this rank, so that exact sums are not taken for compressed ones."""
        if self.state is None:
            return 0
        if isinstance(self.state, gradcoll.torch.State):
            return gradcoll.stats(self.state.attach()).calls_compressed
        own = self.state if isinstance(self.state, gradcoll.torch.ShardedState) else self.state.attach()
        return own.stats().calls_compressed

    def close(self):
        if self.state is not None:
            self.state.close()


def sent_bytes(device):
    """By the kernel's counter; 0 without such a device."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, figures = line.partition(":")
        if name.strip() == device:
            return int(figures.split()[8])
    return 0


def described(options):
    count = sum(parameter.numel() for parameter in Transformer(options.width, options.layers).parameters())
    return f"{count / 1e6:.1f} M parameters, {dist.get_world_size()} ranks, {options.batch} rows a rank"


def gloos(way):
    """The way that this one is held against."""
    return f"{way.split(',')[0]}, Gloo"


def times(ways, groups, text, options):
    trainings = {way: Training(way, groups, 1, options) for way in ways}
    taken = {way: [] for way in ways}
    sent = {way: 0 for way in ways}
    for turn in range(options.turns + 1):
        for way in ways if turn % 2 else reversed(ways):
            before = sent_bytes(options.device)
            for _ in range(options.steps if turn else options.warmup):
                MPI.COMM_WORLD.Barrier()
                begin = time.perf_counter()
                trainings[way].step(text)
                ms = MPI.COMM_WORLD.allreduce(1e3 * (time.perf_counter() - begin), MPI.MAX)
                if turn:
                    taken[way].append(ms)
            if turn:
                sent[way] += sent_bytes(options.device) - before
    if dist.get_rank() == 0:
        print(f"{described(options)}, torch {torch.__version__}")
        print("| way | ms a step | quartiles | of Gloo's | MB sent a step |\n|---|---|---|---|---|")
        for way, ms in taken.items():
            low, middle, high = statistics.quantiles(ms, n=4)
            gloo = taken.get(gloos(way))
            to_gloo = f"{middle / statistics.median(gloo):.2f}" if gloo else ""
            print(f"| {way} | {middle:.0f} | {low:.0f} to {high:.0f} | {to_gloo} | {sent[way] / len(ms) / 1e6:.1f} |", flush=True)
    for training in trainings.values():
        training.close()


def losses(ways, groups, text, options):
    if dist.get_rank() == 0:
        print(f"{described(options)}, {options.loss_steps} steps, {time.strftime('%H:%M')}")
        print(f"| way | losses, seeds 1 to {options.seeds} | mean | spread | off Gloo's | within seed noise | compressed sums of a run |")
        print("|---|---|---|---|---|---|---|", flush=True)
    every = {}
    for way in ways:
        found, compressed = [], 0
        for seed in range(1, options.seeds + 1):
            training = Training(way, groups, seed, options)
            for _ in range(options.loss_steps):
                training.step(text)
            found.append(training.loss(text))
            compressed = training.compressed_calls()
            training.close()
        every[way] = found
        if dist.get_rank() == 0:
            print(f"| {way} | {', '.join(f'{loss:.4f}' for loss in found)} | {judged(found, every.get(gloos(way)))} | {compressed} |", flush=True)


def judged(found, of_gloo):
    """Columns: mean, spread, how far the mean is off Gloo's, and whether Gloo's losses spread further than that."""
    own = f"{statistics.mean(found):.4f} | {statistics.stdev(found):.4f}"
    if of_gloo is None:
        return f"{own} | | "
    off = statistics.mean(found) - statistics.mean(of_gloo)
    return f"{own} | {off:+.4f} | {'yes' if abs(off) <= statistics.stdev(of_gloo) else 'no'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["times", "loss"])
    parser.add_argument("--only", help="ways, separated by semicolons: " + "; ".join(WAYS))
    parser.add_argument("--batch", type=int, default=2, help="rows of 64 bytes a rank and step (2)")
    parser.add_argument("--rate", type=float, default=3e-4, help="learning rate (3e-4)")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4, help="of each way in a turn (4)")
    parser.add_argument("--warmup", type=int, default=8, help="steps of each way that are not counted (8)")
    parser.add_argument("--loss-steps", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--width", type=int, default=384, help="of the transformer, a multiple of 6 (384)")
    parser.add_argument("--layers", type=int, default=6, help="of the transformer (6)")
    parser.add_argument("--always", action="store_true", help="codecs also where they do not pay (gc_compress_if=always)")
    parser.add_argument("--device", default="eth0", help="whose bytes are counted (eth0)")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error(f"--seeds is {options.seeds}; allowed are 2 and more: their losses show the noise")
    ways = ways_of(options.only, WAYS, parser)
    torch.set_num_threads(1)
    gradcoll.torch.init_process_group(backend="gradcoll")
    groups = {name: dist.new_group(backend=name) for name in ("gradcoll", "gloo")}
    {"times": times, "loss": losses}[options.what](ways, groups, Text(), options)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
