# optimizer_test.py - EngineOptimizer: training without DistributedDataParallel.
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
        parameter.grad.copy_(torch.from_numpy(WORLD.allreduce(parameter.grad.double().numpy()) / WORLD.size))


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]).numpy()


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
        self.compare(train, reference, options={"gc_engine_strategy": "ring"})

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
        loss_of(self.model, 0).backward()
        with self.assertRaisesRegex(RuntimeError, r"call step\(\) or synchronize\(\) before zero_grad"):
            self.optimizer.zero_grad()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def test_arguments(self):
        with self.assertRaisesRegex(TypeError, "optimizer is 3"):
            gradcoll.torch.EngineOptimizer(3, self.model)
        with self.assertRaisesRegex(ValueError, r"shape \(160, 160\) is not one of the model's"):
            gradcoll.torch.EngineOptimizer(sgd(network()), self.model)
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
