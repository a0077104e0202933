# trains.py - ranks train with gradcoll.torch.EngineOptimizer until some of them are killed; the others go on with
# gradcoll.shrink() and reconfigure(), and say in a line what became of their weights, for tests/faults/survive.
# Argument: DELAY_US:RANK[+RANK]...: who is killed when, after all have begun.
import copy
import hashlib
import os
import signal
import sys
import time

import mpi4py

mpi4py.rc.thread_level = "multiple"
import gradcoll  # noqa: E402
import gradcoll.torch  # noqa: E402
import torch  # noqa: E402
from mpi4py import MPI  # noqa: E402

WHEN, _, WHO = sys.argv[1].partition(":")
DELAY, VICTIMS = float(WHEN) * 1e-6, [int(rank) for rank in WHO.split("+")]
WORLD = MPI.COMM_WORLD
torch.set_num_threads(1)
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
teacher = torch.randn(64)


def digest():
    return hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in model.parameters())).hexdigest()[:16]


def loss_of(model, step):
    """Of this rank's part of the step."""
    generator = torch.Generator().manual_seed(1000 * step + WORLD.rank)
    inputs = torch.randn(32, 64, generator=generator)
    return (model(inputs).squeeze(1) - inputs @ teacher).square().mean()


def train(step):
    optimizer.zero_grad()
    loss = loss_of(model, step)
    loss.backward()
    optimizer.step()
    return loss.item()


def is_mean_right(comm, step):
    """Whether the gradients of a step are the means of those that comm's ranks have."""
    alone = copy.deepcopy(model)
    optimizer.zero_grad()
    loss_of(model, step).backward()
    loss_of(alone, step).backward()
    is_right = True
    for ours, mine in zip(model.parameters(), alone.parameters()):
        mean = comm.allreduce(mine.grad.double().numpy()) / comm.size
        is_right &= abs(ours.grad.double().numpy() - mean).max() < 0.05 * abs(mean).max() + 1e-3
    optimizer.zero_grad()
    return is_right


def say(text):
    print(text, flush=True)


WORLD.Set_errhandler(MPI.ERRORS_RETURN)
gradcoll.attach(WORLD)
inner = torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9)
optimizer = gradcoll.torch.EngineOptimizer(inner, model, codec=os.environ.get("TRAINS_CODEC", "exact"), min_bytes=0)
step, first_loss = 1, train(0)
WORLD.Barrier()
say(f"rank {WORLD.rank} begins")
WORLD.Barrier()
death = time.monotonic() + DELAY
if WORLD.rank in VICTIMS:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, DELAY + 1e-6)  # whose signal ends the process
text = ""
while not text and time.monotonic() < death + 30:
    try:
        train(step)
        step += 1
    except gradcoll.Error as error:
        text = str(error)
say(f"survivor {WORLD.rank}: {time.monotonic() - death:.3f} s, class {int(bool(text))}, {step} made, 0 wrong, digest {digest()}: {text}")
begin = time.monotonic()
rest = gradcoll.shrink(WORLD)
optimizer.reconfigure(rest)
loss = [train(step + i) for i in range(60)][-1]
is_right = len(set(rest.allgather(digest()))) == 1 and is_mean_right(rest, 5000) and loss < first_loss
optimizer.close()
say(f"rank {WORLD.rank} goes on, {rest.size} ranks, {time.monotonic() - begin:.3f} s: {'right' if is_right else 'wrong'}")
time.sleep(1)  # who ends is dead to the others
os._exit(0)
