"""How ranks sum the tensors of one step: with the library, in the way that a run has, or with torch's PowerSGD."""
import gradcoll
import torch
import torch.distributed as dist
from mpi4py import MPI
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powersgd

COMM = MPI.COMM_WORLD
FIRST_LOSS_SCALE = 2.0**10
OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9  # of DiLoCo (Douillard and others, 2023)


def is_exempt(name, parameter):
    """Norms and biases have one dimension."""
    return parameter.dim() < 2 or "embed" in name


class _Part:
    """Tensors that travel as one vector, on a communicator of their own."""

    def __init__(self, indices, codec, options, elements):
        self.indices = indices
        self.comm = COMM.Dup()
        gradcoll.attach(self.comm)
        for key, value in (("gc_compress_bytes", "0"), ("gc_compress_if", "always"), *options, ("gc_codec", codec)):
            gradcoll.set_option(self.comm, key, value)
        self.residual = gradcoll.Residual(self.comm, torch.empty(elements)) if elements else None

    def free(self):
        if self.residual is not None:
            self.residual.free()
        self.comm.Free()


class LibrarySum:
    """Averages lists of tensors in place. `watch` compares a sum with that of the MPI library itself."""

    def __init__(self, way, parameters, warmup_steps):
        self.way, self.warmup_steps, self.step = way, warmup_steps, 0
        is_kept_exact = [way.exempt and is_exempt(name, parameter) for name, parameter in parameters]
        lossy = [at for at, kept in enumerate(is_kept_exact) if not kept]
        others = [at for at, kept in enumerate(is_kept_exact) if kept]
        elements = sum(parameters[at][1].numel() for at in lossy) if way.feedback else 0
        self.lossy = _Part(lossy, way.codec, way.options, elements)
        self.exact = _Part(others, "exact", (), 0)
        self.errors, self.gains = [], []

    def average(self, tensors, watch=False):
        in_warmup = self.step < self.warmup_steps
        self.step += 1
        if in_warmup:
            self._average([tensors[at] for at in self.lossy.indices], self.exact, 1.0, False)
        else:
            self._average([tensors[at] for at in self.lossy.indices], self.lossy, self.way.scale, watch)
        if self.exact.indices:
            self._average([tensors[at] for at in self.exact.indices], self.exact, 1.0, False)

    def _average(self, tensors, part, scale, watch):
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors]).div_(COMM.size)
        plain = None
        if watch:
            plain = torch.empty_like(flat)
            COMM.Allreduce(flat.numpy(), plain.numpy())
        total = self._sum(flat, part).mul_(scale)
        if plain is not None:
            self.errors.append(float((total - plain).norm() / plain.norm()))
            self.gains.append(float(total @ plain / (plain @ plain)))
        for tensor, values in zip(tensors, total.split([tensor.numel() for tensor in tensors])):
            tensor.copy_(values.view_as(tensor))

    def _sum(self, flat, part):
        if not self.way.half:
            return gradcoll.allreduce(flat, part.comm, out=flat, residual=part.residual)
        halves = (flat * FIRST_LOSS_SCALE).half()
        return gradcoll.allreduce(halves, part.comm, out=halves).float() / FIRST_LOSS_SCALE

    def bytes_sent(self):
        """Returns what this rank has sent, and would have sent in exact sums of the same values in float32."""
        counts = [gradcoll.stats(part.comm) for part in (self.lossy, self.exact)]
        return sum(c.bytes_sent for c in counts), sum(c.bytes_sent_exact for c in counts) * (2 if self.way.half else 1)

    def free(self):
        self.lossy.free()
        self.exact.free()


class PowerSgd:
    """Torch's hook. It sums in the backward pass of DistributedDataParallel."""

    def __init__(self, way, model, warmup_steps):
        self.start = max(2, warmup_steps)
        self.steps = 0
        self.state = powersgd.PowerSGDState(None, way.powersgd_rank, start_powerSGD_iter=self.start, random_seed=0)
        self.model = torch.nn.parallel.DistributedDataParallel(model)
        self.model.register_comm_hook(self.state, powersgd.powerSGD_hook)
        self.elements = sum(parameter.numel() for parameter in model.parameters())
        self.errors, self.gains = [], []

    def average(self, tensors, watch=False):
        self.steps += 1

    def bytes_sent(self):
        """As the hook counts elements, and an allreduce that sends no element twice would send them."""
        _, before, after = self.state.compression_stats()
        exact = 4 * self.elements * 2 * (COMM.size - 1) // COMM.size
        warm = min(self.start, self.steps)
        return round(exact * (warm + (self.steps - warm) * after / max(1, before))), exact * self.steps

    def free(self):
        """The hook has no communicator."""


class OuterSteps:
    """Every so many steps ranks sum what their weights have changed, and take it for a gradient with Nesterov's momentum."""

    def __init__(self, parameters, sums, every):
        self.parameters, self.sums, self.every, self.steps = parameters, sums, every, 0
        self.start = [parameter.detach().clone() for parameter in parameters]
        self.momentum = [torch.zeros_like(parameter) for parameter in self.start]

    @torch.no_grad()
    def step(self, is_last):
        self.steps += 1
        if self.steps % self.every and not is_last:
            return
        changes = [start - parameter for start, parameter in zip(self.start, self.parameters)]
        self.sums.average(changes, watch=True)
        for start, change, momentum, parameter in zip(self.start, changes, self.momentum, self.parameters):
            momentum.mul_(OUTER_MOMENTUM).add_(change)
            start.sub_(OUTER_RATE * (change + OUTER_MOMENTUM * momentum))
            parameter.copy_(start)


def gloo():
    """DistributedDataParallel needs a group of torch."""
    if not dist.is_initialized():
        import gradcoll.torch

        gradcoll.torch.init_process_group()


def sums_of(way, model, steps):
    warmup_steps = round(way.warmup * steps)
    if way.powersgd_rank:
        gloo()
        return PowerSgd(way, model, warmup_steps)
    return LibrarySum(way, [(name, parameter.detach()) for name, parameter in model.named_parameters()], warmup_steps)


def bytes_beside_dense(sums, steps, way):
    """Returns bytes sent and those of dense sums in every step: local steps are compared with steps that sum."""
    sent, exact = sums.bytes_sent()
    calls = -(-steps // way.local_steps) if way.local_steps else steps
    return sent, round(exact * steps / calls)
