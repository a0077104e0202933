# amp_test.py - EngineOptimizer under what stands between backward() and step(): a GradScaler, clipping, skipped steps. All
# ranks end with the bits of a dense reference, which is the sum of two ranks in any order.
import itertools
import unittest

from support import MPI, WORLD, gradcoll, is_same_on_all_ranks, main, torch_or_skip

torch = torch_or_skip()

import gradcoll.torch  # noqa: E402

WIDTH, STEPS, INFINITE = 64, 5, 2
has_scaler = hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler")


def network():
    torch.manual_seed(3)
    layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(4)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 3))


def loss_of(model, number, rank, has_inf):
    generator = torch.Generator().manual_seed(100 * number + rank)
    loss = model(torch.randn(8, WIDTH, generator=generator)).square().mean()
    return loss * float("inf") if has_inf and number == INFINITE and rank == WORLD.size - 1 else loss


class Scaler:
    """What torch.amp.GradScaler does with gradients, for a torch that has none for the CPU."""

    def __init__(self):
        self.factor = 1024.0
        self.skipped = 0
        self._is_finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        for gradient in gradients:
            gradient.mul_(1 / self.factor)
        self._is_finite = all(bool(torch.isfinite(gradient).all()) for gradient in gradients)

    def step(self, optimizer):
        if self._is_finite is None:
            self.unscale_(optimizer)
        if self._is_finite:
            optimizer.step()

    def update(self):
        if not self._is_finite:
            self.factor, self.skipped = self.factor / 2, self.skipped + 1
        self._is_finite = None


class TorchScaler:
    """torch's own, with the count of skipped steps."""

    def __init__(self):
        self.torchs = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1000)
        self.scale, self.unscale_, self.step = self.torchs.scale, self.torchs.unscale_, self.torchs.step
        self.skipped = 0

    def update(self):
        before = self.torchs.get_scale()
        self.torchs.update()
        self.skipped += self.torchs.get_scale() < before


def train(scaler, recipe, has_inf=False, is_summed=True, **arguments):
    """Parameters in the end, and how many steps were skipped."""
    model = network()
    inner = torch.optim.SGD(model.parameters(), lr=0.1, **arguments)
    optimizer = gradcoll.torch.EngineOptimizer(inner, model) if is_summed else inner
    for number in range(STEPS):
        optimizer.zero_grad()
        ranks = [WORLD.rank] if is_summed else range(WORLD.size)
        losses = [loss_of(model, number, rank, has_inf) / len(ranks) for rank in ranks]
        scaler.scale(sum(losses)).backward()
        if recipe == "synchronize" and is_summed:
            optimizer.synchronize()
        if recipe == "clip":
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        scaler.step(optimizer)
        scaler.update()
    if is_summed:
        optimizer.close()
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]), scaler.skipped


class Recipes(unittest.TestCase):
    def check(self, scaler, **arguments):
        for recipe, has_inf in itertools.product(["plain", "synchronize", "clip"], [False, True]):
            with self.subTest(recipe=recipe, has_inf=has_inf, **arguments):
                expected, expected_skips = train(scaler(), recipe, has_inf, is_summed=False, **arguments)
                got, skips = train(scaler(), recipe, has_inf, **arguments)
                self.assertEqual((skips, expected_skips), (int(has_inf), int(has_inf)))
                self.assertEqual(WORLD.allreduce(skips), WORLD.size * skips)
                self.assertTrue(is_same_on_all_ranks(got.numpy()))
                if WORLD.size <= 2:
                    self.assertTrue(torch.equal(got, expected))
                torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)

    def test_gradients_are_unscaled_checked_and_clipped(self):
        self.check(Scaler)

    @unittest.skipUnless(has_scaler, "torch without torch.amp.GradScaler")
    def test_torchs_scaler(self):
        self.check(TorchScaler)

    @unittest.skipUnless(has_scaler, "torch without torch.amp.GradScaler")
    def test_torchs_scaler_around_a_fused_optimizer(self):
        self.check(TorchScaler, fused=True)

    def test_an_infinity_is_seen_through_every_codec(self):
        for codec in ["exact", "bf16", "int8", "int4", "2:4"]:
            model = network()
            optimizer = gradcoll.torch.EngineOptimizer(
                torch.optim.SGD(model.parameters(), lr=0.1), model, codec=codec, min_bytes=0
            )
            for number in range(STEPS):
                optimizer.zero_grad()
                loss_of(model, number, WORLD.rank, has_inf=True).backward()
                is_finite = all(bool(torch.isfinite(parameter.grad).all()) for parameter in model.parameters())
                self.assertEqual(WORLD.allgather(is_finite), [number != INFINITE] * WORLD.size)
                if is_finite:
                    optimizer.step()
            optimizer.close()


class SkippedSteps(unittest.TestCase):
    """Gradients may be cleared by whom and how the program wants."""

    CLEAR = {
        "optimizer": lambda model, optimizer: optimizer.zero_grad(),
        "zeros": lambda model, optimizer: model.zero_grad(set_to_none=False),
        "none": lambda model, optimizer: model.zero_grad(set_to_none=True),
        "inner": lambda model, optimizer: optimizer._inner.zero_grad(),
        "self-made": lambda model, optimizer: [parameter.grad.zero_() for parameter in model.parameters() if parameter.grad is not None],
    }

    def trained(self, clear, average):
        model = network()
        optimizer = gradcoll.torch.EngineOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model, average=average)
        for number in range(STEPS):
            clear(model, optimizer)
            loss_of(model, number, WORLD.rank, has_inf=True).backward()
            if torch.isfinite(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)):
                optimizer.step()
        optimizer.close()
        return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])

    def test_after_them_gradients_are_cleared_in_any_way(self):
        for average in [True, False]:
            expected = self.trained(self.CLEAR["optimizer"], average)
            self.assertTrue(bool(torch.isfinite(expected).all()) and is_same_on_all_ranks(expected.numpy()))
            for how, clear in self.CLEAR.items():
                with self.subTest(how=how, average=average):
                    self.assertTrue(torch.equal(self.trained(clear, average), expected))

    def test_a_rank_without_a_backward_pass_after_one(self):
        model = network()
        optimizer = gradcoll.torch.EngineOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model)
        loss_of(model, 0, WORLD.rank, False).backward()
        model.zero_grad(set_to_none=True)
        if WORLD.rank == 0:
            loss_of(model, 1, 0, False).backward()
        optimizer.step()
        flat = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
        self.assertTrue(is_same_on_all_ranks(flat.numpy()))
        self.assertFalse(torch.equal(flat, torch.cat([p.detach().flatten() for p in network().parameters()])))
        optimizer.close()


if __name__ == "__main__":
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        print("SKIPPED: MPI without MPI_THREAD_MULTIPLE")
    else:
        main()
