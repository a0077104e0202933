"""One rank of scripts/check torch-frameworks: trains a small network as a framework does it, and saves the parameters (rank 0).

usage: torch_frameworks_rank.py RECIPE BACKEND FILE
       torch_frameworks_rank.py --list
       torch_frameworks_rank.py --compare FILE FILE RANKS
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

import torch
import torch.distributed as dist

import gradcoll.torch
from mpi4py import MPI  # behind gradcoll, which starts MPI under torchrun

RANK, SIZE = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
STEPS = 4


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(7)
        self.embedding = torch.nn.Embedding(17, 32)
        self.first = torch.nn.Linear(32, 64)
        self.norm = torch.nn.LayerNorm(64)
        self.last = torch.nn.Linear(64, 5)

    def forward(self, words):
        return self.last(torch.relu(self.norm(self.first(self.embedding(words)))))


def batches():
    source = torch.Generator().manual_seed(100 + RANK)
    return [torch.randint(0, 17, (16,), generator=source) for _ in range(STEPS)]


def loss_of(output):
    return output.float().square().mean()


def accelerate(backend):
    """The group is made first; cpu=True makes Accelerate take it."""
    from accelerate import Accelerator

    gradcoll.torch.init_process_group(backend=backend)
    accelerator = Accelerator(cpu=True)
    assert (accelerator.num_processes, accelerator.process_index) == (SIZE, RANK), accelerator.state
    network = Network()
    model, optimizer = accelerator.prepare(network, torch.optim.AdamW(network.parameters(), lr=0.01))
    for words in batches():
        optimizer.zero_grad()
        accelerator.backward(loss_of(model(words)))
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    losses = accelerator.gather(torch.tensor([float(RANK)]))
    assert losses.tolist() == [float(rank) for rank in range(SIZE)], losses
    return accelerator.unwrap_model(model).state_dict()


def lightning(backend):
    """The strategy names the backend."""
    import logging

    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.strategies import DDPStrategy

    class Module(LightningModule):
        def __init__(self):
            super().__init__()
            self.network = Network()

        def training_step(self, words):
            loss = loss_of(self.network(words))
            self.log("loss", loss, sync_dist=True)
            return loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=0.01)

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    strategy = DDPStrategy(process_group_backend=backend)
    trainer = Trainer(accelerator="cpu", devices=SIZE, strategy=strategy, max_steps=STEPS, gradient_clip_val=1.0, logger=False,
                      enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, use_distributed_sampler=False)
    assert (trainer.world_size, trainer.global_rank) == (SIZE, RANK), (trainer.world_size, trainer.global_rank)
    module = Module()
    trainer.fit(module, torch.utils.data.DataLoader(batches(), batch_size=None))
    assert dist.get_backend() == backend, dist.get_backend()
    return module.network.state_dict()


def deepspeed(stage, dtype):
    """init_distributed() takes the backend's name."""

    def recipe(backend):
        import deepspeed

        # Else it compiles an extension first, which takes minutes, for calls of its own between processes of one host.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
        gradcoll.torch.init_process_group(backend=backend)
        deepspeed.init_distributed(dist_backend=backend)
        config = {
            "train_micro_batch_size_per_gpu": 16,
            "gradient_clipping": 1.0,
            "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0},
            "bf16": {"enabled": dtype == torch.bfloat16},
            "steps_per_print": 1000,
        }
        network = Network()
        optimizer = torch.optim.AdamW(network.parameters(), lr=0.01)
        model, *_ = deepspeed.initialize(model=network, optimizer=optimizer, config=config, dist_init_required=False)
        for words in batches():
            model.backward(loss_of(model(words)))
            model.step()
        parameters = list(network.parameters())
        with deepspeed.zero.GatheredParameters(parameters, enabled=stage == 3):
            return {name: value.detach().clone() for name, value in network.named_parameters()}

    return recipe


RECIPES = {"accelerate": accelerate, "lightning": lightning}
RECIPES.update({f"deepspeed-zero{stage}": deepspeed(stage, torch.float32) for stage in range(4)})
RECIPES.update({f"deepspeed-zero{stage}-bf16": deepspeed(stage, torch.bfloat16) for stage in (1, 2, 3)})


def compare(one, other, ranks):
    """Ends with a message about the first parameter that differs."""
    mine, theirs = torch.load(one), torch.load(other)
    for name, value in theirs.items():
        if not torch.isfinite(value).all() or mine[name].shape != value.shape:
            sys.exit(f"{name} is not finite, or of another shape")
        near = 0.0 if ranks <= 2 else 1e-2 if value.dtype == torch.bfloat16 else 1e-5
        difference = (mine[name].double() - value.double()).abs().max() / value.double().abs().max().clamp(min=1e-30)
        if not difference <= near:
            sys.exit(f"{name} differs by {difference:.1e} of the largest, allowed are {near:g}")


def train(recipe, backend, file):
    torch.set_num_threads(1)
    values = RECIPES[recipe](backend)
    sums = MPI.COMM_WORLD.allgather([float(value.double().sum()) for value in values.values()])
    assert all(theirs == sums[0] for theirs in sums), "ranks ended with different parameters"
    if RANK == 0:
        torch.save(values, file)
    MPI.COMM_WORLD.Barrier()
    if dist.is_initialized():
        dist.destroy_process_group()


def main():
    if sys.argv[1] == "--list":
        print("\n".join(RECIPES))
    elif sys.argv[1] == "--compare":
        compare(*sys.argv[2:4], int(sys.argv[4]))
    else:
        train(*sys.argv[1:])


if __name__ == "__main__":
    main()
