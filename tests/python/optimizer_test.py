# optimizer_test.py - EngineOptimizer: training without DistributedDataParallel.
import contextlib
import copy
import pickle
import unittest

from support import MPI, WORLD, gradcoll, is_same_on_all_ranks, main, numpy, torch_or_skip

torch = torch_or_skip()

import gradcoll.torch  # noqa: E402

WIDTH = 160
is_alone = WORLD.size == 1


def network(seed=5):
    torch.manual_seed(seed)
    layers = [torch.nn.Linear(WIDTH, WIDTH), torch.nn.BatchNorm1d(WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 3)]
    return torch.nn.Sequential(*layers)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def loss_of(model, number):
    generator = torch.Generator().manual_seed(100 * number + WORLD.rank)
    return model(torch.randn(8, WIDTH, generator=generator)).square().mean()


def average_gradients(model):
    for parameter in model.parameters():
        if parameter.grad is None:
            continue
        parameter.grad.copy_(torch.from_numpy(WORLD.allreduce(parameter.grad.double().numpy()) / WORLD.size))


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]).numpy()


class OtherRanks(unittest.TestCase):
    def test_fewer_ranks_go_on_and_a_new_one_comes(self):
        leaves = 0 < WORLD.rank == WORLD.size - 1
        rest = WORLD.Split(MPI.UNDEFINED if leaves else 0)

        def made(model):
            return model, gradcoll.torch.EngineOptimizer(sgd(model), model, codec="int8", min_bytes=0)

        model, optimizer = made(network())
        loss_of(model, 2).backward()  # a step that is given up
        if leaves:
            optimizer.reconfigure(MPI.COMM_SELF)
            optimizer.close()
            model, optimizer = made(network(seed=6))
        else:
            optimizer.reconfigure(rest)
            self.assertTrue(all(parameter.grad is None for parameter in model.parameters()))
            other = copy.deepcopy(model)
            loss_of(model, 3).backward()
            loss_of(other, 3).backward()
            for ours, mine in zip(model.parameters(), other.parameters()):
                mean = rest.allreduce(mine.grad.double().numpy()) / rest.size
                numpy.testing.assert_allclose(ours.grad.numpy(), mean, atol=0.1 * numpy.abs(mean).max() + 1e-3)
            optimizer.step()
            optimizer.reconfigure(WORLD)
        self.assertTrue(is_same_on_all_ranks(weights(model)))
        loss_of(model, 4).backward()
        self.assertTrue(all(is_same_on_all_ranks(each.grad.numpy()) for each in model.parameters()))
        self.assertEqual(optimizer.gradients.step, 3)
        optimizer.close()


class Training(unittest.TestCase):
    def compare(self, train, reference, steps=4, **arguments):
        """Both begin alike; one has an EngineOptimizer, the other averages gradients itself."""
        model, other = network(), network()
        optimizer, plain = gradcoll.torch.EngineOptimizer(sgd(model), model, **arguments), sgd(other)
        for number in range(steps):
            train(model, optimizer, number)
            reference(other, plain, number)
        self.assertTrue(is_same_on_all_ranks(weights(model)))
        numpy.testing.assert_allclose(weights(model), weights(other), rtol=1e-4, atol=1e-6)
        optimizer.close()

    def test_a_step_takes_the_average(self):
        def train(model, optimizer, number):
            optimizer.zero_grad()
            loss_of(model, number).backward()
            optimizer.step()

        def reference(model, optimizer, number):
            optimizer.zero_grad()
            loss_of(model, number).backward()
            average_gradients(model)
            optimizer.step()

        self.compare(train, reference)
        self.compare(train, reference, options={"gc_engine": "ring"})

    def test_several_backward_passes_a_step(self):
        def train(model, optimizer, number):
            optimizer.zero_grad()
            with optimizer.no_sync():
                loss_of(model, number).backward()
            loss_of(model, number + 50).backward()
            optimizer.step()

        def reference(model, optimizer, number):
            optimizer.zero_grad()
            loss_of(model, number).backward()
            loss_of(model, number + 50).backward()
            average_gradients(model)
            optimizer.step()

        self.compare(train, reference)

    def test_gradients_are_clipped_between_synchronize_and_step(self):
        def clip(model):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-2)

        def train(model, optimizer, number):
            optimizer.zero_grad()
            loss_of(model, number).backward()
            optimizer.synchronize()
            clip(model)
            optimizer.step()

        def reference(model, optimizer, number):
            optimizer.zero_grad()
            loss_of(model, number).backward()
            average_gradients(model)
            clip(model)
            optimizer.step()

        self.compare(train, reference)

    def test_closures_and_schedulers(self):
        def train(model, optimizer, number):
            scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 0.5)

            def closure():
                optimizer.zero_grad()
                loss = loss_of(model, number)
                loss.backward()
                return loss

            self.assertGreater(optimizer.step(closure).item(), 0)
            scheduler.step()
            self.assertEqual(optimizer.param_groups[0]["lr"], 0.025)
            optimizer.param_groups[0].pop("initial_lr")
            optimizer.param_groups[0]["lr"] = 0.05

        def reference(model, optimizer, number):
            optimizer.param_groups[0]["lr"] = 0.025
            optimizer.zero_grad()
            loss_of(model, number).backward()
            average_gradients(model)
            optimizer.step()

        self.compare(train, reference)

    def test_an_optimizer_that_goes_by_the_loss(self):
        def trained(losses_of, is_summed):
            model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1)).double()
            torch.manual_seed(4)
            for parameter in model.parameters():
                torch.nn.init.normal_(parameter)
            inner = torch.optim.LBFGS(model.parameters(), max_iter=6, line_search_fn="strong_wolfe")
            optimizer = gradcoll.torch.EngineOptimizer(inner, model) if is_summed else inner

            def closure():
                optimizer.zero_grad()
                loss = losses_of(model)
                loss.backward()
                return loss

            losses = [optimizer.step(closure).item() for _ in range(3)]
            if is_summed:
                optimizer.close()
            return weights(model), losses

        def loss(model, rank):  # very different ones
            x = torch.randn(20, 6, generator=torch.Generator().manual_seed(rank), dtype=torch.float64)
            return (model(x).squeeze() - 10.0**rank * x.sum(1).sin()).square().mean()

        got, losses = trained(lambda model: loss(model, WORLD.rank), True)
        dense = trained(lambda model: sum(loss(model, rank) for rank in range(WORLD.size)) / WORLD.size, False)
        self.assertTrue(is_same_on_all_ranks(got))
        numpy.testing.assert_allclose(got, dense[0], rtol=1e-5)
        numpy.testing.assert_allclose(losses, dense[1], rtol=1e-8)

    def test_a_parameter_without_a_gradient_on_some_ranks_counts_as_zeros(self):
        model = torch.nn.ModuleList([torch.nn.Linear(4, 1, bias=False) for _ in range(3)])
        optimizer = gradcoll.torch.EngineOptimizer(torch.optim.SGD(model.parameters(), lr=1), model)
        used = model[0] if WORLD.rank == 0 else model[1]
        used(torch.ones(1, 4)).sum().backward()
        optimizer.synchronize()
        got = [layer.weight.grad[0, 0].item() for layer in model]
        numpy.testing.assert_allclose(got, [1 / WORLD.size, 1 - 1 / WORLD.size, 0], atol=1e-6)
        optimizer.close()

    def test_all_begin_as_rank_0(self):
        model = network(seed=WORLD.rank)
        model[1].running_mean.fill_(float(WORLD.rank + 1))
        optimizer = gradcoll.torch.EngineOptimizer(sgd(model), model)
        numpy.testing.assert_array_equal(weights(model), weights(network(seed=0)))
        self.assertEqual(model[1].running_mean[0].item(), 1)
        optimizer.close()

    def test_codecs_with_feedback_go_on_after_a_restart(self):
        def made():
            model = network()
            arguments = {"codec": "2:4", "options": {"gc_compress_if": "always"}}
            return model, gradcoll.torch.EngineOptimizer(sgd(model), model, **arguments)

        def step(model, optimizer, number):
            optimizer.zero_grad()
            loss_of(model, number).backward()
            optimizer.step()

        model, optimizer = made()
        for number in range(3):
            step(model, optimizer, number)
        saved = optimizer.gradients.state_dict()
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        inside = optimizer.state_dict()
        self.assertEqual(set(saved["residuals"]), set() if is_alone else {"0.weight"})
        optimizer.close()
        again, restored = made()
        again.load_state_dict(kept)
        restored.load_state_dict(inside)
        restored.gradients.load_state_dict(saved)
        step(again, restored, 3)
        restored.close()

        whole, straight = made()
        for number in range(4):
            step(whole, straight, number)
        straight.close()
        numpy.testing.assert_array_equal(weights(again), weights(whole))


class Gradients(unittest.TestCase):
    """What the backward pass leaves: the same sums on all ranks, whichever way it went."""

    def averages(self, model, numbers=(0,)):
        """Of a copy of this rank's gradients, by mpi4py."""
        other = copy.deepcopy(model)
        for parameter, trained in zip(other.parameters(), model.parameters()):
            parameter.grad = None
            parameter.requires_grad_(trained.requires_grad)
        for number in numbers:
            loss_of(other, number).backward()
        average_gradients(other)
        return [parameter.grad for parameter in other.parameters()]

    def check(self, model, expected):
        for parameter, wanted in zip(model.parameters(), expected):
            torch.testing.assert_close(parameter.grad, wanted, rtol=1e-4, atol=1e-6)
            if wanted is not None:
                self.assertTrue(is_same_on_all_ranks(parameter.grad.numpy()))

    def test_parameters_that_are_thawed_later(self):
        model = network()
        model[0].requires_grad_(False)
        optimizer = gradcoll.torch.EngineOptimizer(sgd(model), model)
        self.check_pass(model, optimizer)
        self.assertIsNone(model[0].weight.grad)
        model.requires_grad_(False)
        model[0].requires_grad_(True)
        self.check_pass(model, optimizer)
        optimizer.close()

    def check_pass(self, model, optimizer):
        model.zero_grad(set_to_none=True)
        expected = self.averages(model)
        loss_of(model, 0).backward()
        self.check(model, expected)
        optimizer.step()

    def test_two_optimizers_in_one_backward_pass(self):
        parts = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(2)])
        optimizers = [gradcoll.torch.EngineOptimizer(sgd(part), part) for part in parts]
        # On each rank another one comes first, and each lacks a gradient of the one that comes last.
        first, last = parts if WORLD.rank % 2 == 0 else reversed(parts)
        x = torch.full((2, 4), WORLD.rank + 1.0)
        (first(last.weight.sum() * x)).sum().backward()
        for part in parts:
            for parameter in part.parameters():
                self.assertTrue(is_same_on_all_ranks(parameter.grad.numpy()))
        for optimizer in optimizers:
            optimizer.close()

    def test_reentrant_checkpoints(self):
        from torch.utils.checkpoint import checkpoint

        model = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(4)])
        optimizer = gradcoll.torch.EngineOptimizer(sgd(model), model)
        for with_unused in [False, True]:
            for is_summed in [True, False]:
                optimizer.zero_grad()
                x = torch.full((2, 4), WORLD.rank + 1.0, requires_grad=True)
                with contextlib.nullcontext() if is_summed else optimizer.no_sync():
                    for layer in model[: 3 if with_unused else 4]:
                        x = checkpoint(layer, x, use_reentrant=True).tanh()
                    x.sum().backward()
                if not is_summed:
                    average_gradients(model)
                    torch.testing.assert_close(got[:3], [layer.weight.grad for layer in model][:3])
                    continue
                if with_unused:
                    with self.assertWarnsRegex(RuntimeWarning, "call synchronize"):
                        optimizer._take_sums()
                got = [layer.weight.grad.clone() for layer in model]
        optimizer.close()

    def test_a_rank_without_a_backward_pass(self):
        model = network()
        optimizer = gradcoll.torch.EngineOptimizer(sgd(model), model)
        if WORLD.rank > 0 or is_alone:
            loss_of(model, 0).backward()
        else:
            optimizer.synchronize()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        self.assertTrue(is_same_on_all_ranks(norm.numpy()))
        optimizer.step()
        self.assertTrue(is_same_on_all_ranks(weights(model)))
        optimizer.close()

    @unittest.skipUnless(hasattr(torch.nn.Parameter, "grad_dtype"), "torch without Parameter.grad_dtype")
    def test_gradients_of_another_type_than_their_parameter(self):
        model = torch.nn.Module()
        model.p = torch.nn.Parameter(torch.ones(20000, dtype=torch.bfloat16))
        model.p.grad_dtype = torch.float32
        optimizer = gradcoll.torch.EngineOptimizer(
            torch.optim.SGD(model.parameters(), lr=0.0), model, codec="int8", min_bytes=0
        )
        if WORLD.rank == 0:  # the others have zeros, of the same type
            (model.p.float() * torch.linspace(0, 1, 20000)).sum().backward()
        optimizer.step()
        saved = optimizer.gradients.state_dict()
        self.assertEqual(set(saved["residuals"]), set() if is_alone else {"p"})
        optimizer.gradients.load_state_dict(saved)
        self.assertEqual(optimizer.gradients.state_dict(), saved)
        optimizer.close()


class WhatFrameworksSet(unittest.TestCase):
    def setUp(self):
        self.model = network()
        self.inner = sgd(self.model)
        self.optimizer = gradcoll.torch.EngineOptimizer(self.inner, self.model)

    def tearDown(self):
        self.optimizer.close()

    def test_attributes_reach_the_optimizer_inside(self):
        self.optimizer.found_inf = torch.tensor(1.0)
        self.assertIs(self.inner.found_inf, self.optimizer.found_inf)
        del self.optimizer.found_inf
        self.assertFalse(hasattr(self.inner, "found_inf"))
        groups = list(self.inner.param_groups)
        self.optimizer.param_groups = groups
        self.optimizer.state = {}
        self.assertIs(self.inner.param_groups, groups)
        self.assertIs(self.inner.state, self.optimizer.state)

    def test_a_step_that_is_replaced_is_the_outer_one(self):
        steps, own = [], self.optimizer.step
        self.optimizer.step = lambda *arguments: (steps.append(1), own(*arguments))
        loss_of(self.model, 0).backward()
        self.optimizer.step()
        self.assertEqual(steps, [1])
        del self.optimizer.step
        self.optimizer.step()
        self.assertEqual(steps, [1])

    def test_a_class_made_of_it_and_another_keeps_what_is_its_own(self):
        class Around:  # as LightningOptimizer
            def __init__(self, optimizer):
                self._optimizer = optimizer
                self.__class__ = type("Around", (Around, type(optimizer)), {})

            def __getattr__(self, name):
                return getattr(self._optimizer, name)

        around = Around(self.optimizer)
        around.on_step = 3
        self.assertEqual(around.__dict__["on_step"], 3)
        self.assertFalse(hasattr(self.inner, "on_step"))
        self.assertIs(around.param_groups, self.inner.param_groups)

    @unittest.skipUnless(hasattr(torch.optim.Optimizer, "register_step_pre_hook"), "torch without hooks of steps")
    def test_hooks_of_steps_see_sums(self):
        seen = []
        self.optimizer.register_step_pre_hook(lambda *_: seen.append(self.model[0].weight.grad.clone()))
        loss_of(self.model, 0).backward()
        self.optimizer.step()
        self.assertEqual(len(seen), 1)
        self.assertTrue(is_same_on_all_ranks(seen[0].numpy()))


class OfOldScalers(torch.optim.SGD):
    """As optimizers of apex: not by attributes."""

    def step(self, closure=None, grad_scaler=None):
        raise AssertionError("never taken")


class Errors(unittest.TestCase):
    def setUp(self):
        self.model = network()
        self.optimizer = gradcoll.torch.EngineOptimizer(sgd(self.model), self.model)

    def tearDown(self):
        self.optimizer.close()

    def test_a_second_backward_pass(self):
        loss_of(self.model, 0).backward()
        with self.assertRaisesRegex(RuntimeError, "summed already in this step; several backward passes"):
            loss_of(self.model, 1).backward()
        self.optimizer.synchronize()

    def test_zero_grad_before_the_sums_are_there(self):
        model, raised = self.model, []

        def clear(_):
            with self.assertRaisesRegex(RuntimeError, r"call synchronize\(\) before zero_grad"):
                self.optimizer.zero_grad()
            raised.append(model[3].weight.grad)

        inputs = torch.ones(8, WIDTH, requires_grad=True)
        inputs.register_hook(clear)  # when the gradients of most parameters are being summed
        model(inputs).square().mean().backward()
        self.assertEqual(raised, [None])  # and none of them is to be seen
        self.optimizer.zero_grad()

    def test_a_sum_is_not_summed_again(self):
        model = network()
        optimizer = gradcoll.torch.EngineOptimizer(sgd(model), model, average=False)
        loss_of(model, 0).backward()
        before = model[0].weight.grad.clone()
        optimizer.synchronize()
        optimizer.synchronize()
        self.assertTrue(torch.equal(model[0].weight.grad, before))
        optimizer.step()
        with self.assertRaisesRegex(RuntimeError, "summed already in an earlier step"):
            loss_of(model, 1).backward()
        optimizer.zero_grad()
        loss_of(model, 1).backward()
        optimizer.close()

    def test_ranks_that_differ(self):
        if is_alone:
            return
        odd = WORLD.rank == WORLD.size - 1
        wide = torch.nn.Linear(3 + odd, 2)
        more = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(1 + odd)])
        short = torch.nn.Linear(2, 2)
        some = list(short.parameters())[: 2 - odd]
        where = f"on rank {WORLD.size - 1}; allowed is the same"
        for model, parameters, arguments, words in [
            (wide, wide.parameters(), {}, r"form of 'weight' is \[2, 3\] torch.float32 on rank 0 and \[2, 4\]"),
            (more, more.parameters(), {}, "'1.weight' in the optimizer is not there on rank 0 and there"),
            (short, some, {}, "'bias' in the optimizer is there on rank 0 and not there"),
            (short, short.parameters(), {"average": odd}, "average is False on rank 0 and True"),
        ]:
            with self.assertRaisesRegex(ValueError, f"{words}.* {where}"):
                gradcoll.torch.EngineOptimizer(torch.optim.SGD(parameters, lr=1), model, **arguments)

    def test_copies(self):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "neither copied nor pickled"):
                copied(self.optimizer)

    def test_arguments(self):
        with self.assertRaisesRegex(TypeError, "optimizer is 3"):
            gradcoll.torch.EngineOptimizer(3, self.model)
        with self.assertRaisesRegex(ValueError, r"shape \(160, 160\) is not one of the model's"):
            gradcoll.torch.EngineOptimizer(sgd(network()), self.model)
        with self.assertRaisesRegex(TypeError, "takes a grad_scaler"):
            gradcoll.torch.EngineOptimizer(OfOldScalers(self.model.parameters(), lr=1), self.model)
        with self.assertRaisesRegex(NotImplementedError, "before it is given to EngineOptimizer"):
            self.optimizer.add_param_group({"params": []})

    def test_a_closed_optimizer_is_as_it_was(self):
        self.optimizer.close()
        loss_of(self.model, 0).backward()
        loss_of(self.model, 0).backward()
        self.assertIn("SGD", repr(self.optimizer))


if __name__ == "__main__":
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        print("SKIPPED: MPI without MPI_THREAD_MULTIPLE")
    else:
        main()
